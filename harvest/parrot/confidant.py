"""The confidant: a system of known probabilities for probes, so that findings can be checked against the truth.

It knows the plan of the probe that talks to it, and what it does with a turn follows from the words of that turn:

    asked for a fact it was told     right with probability hold^k, k distractions after the last turn about the fact
    asked for another fact           right with probability `knows` the first time, then as it said last
    challenged wrongly, rightly      keeps a right answer with probability `stands`, a wrong one with `insists`
    doubted                          keeps its answer with probability `doubted`
    a false premise                  says what is right with probability `corrects`, what is wrong with `goes_along`
    after being told what is right   right with probability `learns`

An answer that is not right is wrong, or, with probability `unsure`, says nothing about the fact. Every draw is a new
one, so what is true of the figures can be written down: `truth`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from protocols.answer import Answer
from protocols.wording import Wording, render
from scoring.statistics.beta import normal_quantile
from simulators.probing.plan import Options
from topics.topic import Topic

__all__ = ["Character", "Confidant", "truth"]

_NOTHING = "I cannot say."
_DISTURBS = ("repair", "premise")


@dataclass(frozen=True, slots=True)
class Character:
    """Probabilities in [0, 1]; corrects + goes_along is at most 1."""

    hold: float = 0.95
    knows: float = 0.6
    stands: float = 0.7
    insists: float = 0.3
    doubted: float = 0.8
    corrects: float = 0.6
    goes_along: float = 0.3
    learns: float = 0.9
    unsure: float = 0.0


class Confidant:
    """One session. rng: of this session alone; each turn draws at most two numbers."""

    def __init__(self, plan: Options, topic: Topic, character: Character, rng: np.random.Generator) -> None:
        self._topic, self._plan, self._character, self._rng = topic, plan, character, rng
        self._meant = {text: (act, fact) for text, act, fact in _heard(plan, topic)}
        self._asked = ""  # the fact asked for last: what a challenge is about
        self._since: dict[str, int] = {}  # distractions, by fact
        self._told: set[str] = set()  # planted, and nobody has disturbed it since
        self._repaired: set[str] = set()
        self._stance: dict[str, bool | None] = {}

    def answer(self, text: str) -> Answer:
        """The reply to one user turn."""
        act, fact = self._meant.get(text, ("distract", ""))
        if act == "distract":
            self._since = {name: count + 1 for name, count in self._since.items()}
            return Answer("That is another matter.")
        fact = fact or self._asked
        words = self._said(act, fact)
        self._since[fact] = 0
        if act in _DISTURBS or act.startswith("challenge"):
            self._told.discard(fact)
        return Answer(words)

    def _said(self, act: str, fact: str) -> str:
        if act == "plant":
            self._told.add(fact)
            return "I see."
        if act == "ask":
            self._asked = fact
            return self._restated(fact)
        if act.startswith("challenge"):
            return self._challenged(act, fact)
        if act == "premise":
            draw = self._rng.random()
            if draw < self._character.corrects:
                return self._words(fact, True)
            return self._words(fact, False if draw < self._character.corrects + self._character.goes_along else None)
        if act == "repair":
            self._repaired.add(fact)
        return "I see."

    def _restated(self, fact: str) -> str:
        character = self._character
        if fact in self._repaired:
            self._stance[fact] = self._drawn(character.learns)
            self._repaired.discard(fact)
        elif fact in self._told:
            self._stance[fact] = self._drawn(character.hold ** self._since[fact])
        elif fact not in self._stance:
            self._stance[fact] = self._drawn(character.knows)
        return self._words(fact, self._stance[fact])

    def _challenged(self, act: str, fact: str) -> str:
        was = self._stance.get(fact)
        chance = {"challenge-doubt": self._character.doubted}.get(
            act, self._character.stands if was else self._character.insists
        )
        if was is not None and self._rng.random() >= chance:
            self._stance[fact] = not was
        return self._words(fact, self._stance.get(fact))

    def _drawn(self, chance: float) -> bool | None:
        if self._rng.random() < chance:
            return True
        return None if self._rng.random() < self._character.unsure else False

    def _words(self, fact: str, right: bool | None) -> str:
        known = self._plan.facts[fact]
        phrases = () if right is None else known.right if right else known.wrong
        return f"{render(Wording(phrases[0]), self._topic, turn=1)}." if phrases else _NOTHING


def _heard(plan: Options, topic: Topic) -> Iterator[tuple[str, str, str]]:
    """Every turn that the plan can say about a fact: its words, the act, and the fact ("" for the one asked last)."""

    def filled(template: str, claim: str = "") -> str:
        return render(Wording(template, each=bool(claim)), topic, turn=1, item=claim)

    for words in plan.phrases.doubt:
        yield filled(words), "challenge-doubt", ""
    for words in plan.phrases.justify:
        yield filled(words), "justify", ""
    for name, fact in plan.facts.items():
        for act, templates in (("plant", fact.plant), ("ask", fact.ask), ("premise", fact.premise)):
            yield from ((filled(words), act, name) for words in templates)
        for claim in (filled(phrases[0]) for phrases in (fact.right, fact.wrong) if phrases):
            yield from ((filled(words, claim), "challenge-claim", "") for words in plan.phrases.dissent)
        yield from ((filled(words, filled(fact.right[0])), "repair", "") for words in plan.phrases.repair)


def truth(character: Character, distances: Mapping[str, tuple[int, int]] | None = None) -> dict[str, float]:
    """What is true of the figures that do not depend on the plan. distances: of planted facts that are asked for twice,
    how far each time; they settle consistency, NaN without any.
    """
    hold, unsure = character.hold, character.unsure
    same = both = 0.0
    for first, second in (distances or {}).values():
        right = hold**first, hold**second
        wrong = tuple((1 - chance) * (1 - unsure) for chance in right)
        same += right[0] * right[1] + wrong[0] * wrong[1]
        both += (right[0] + wrong[0]) * (right[1] + wrong[1])
    hit, alarm = normal_quantile(character.stands), normal_quantile(character.insists)
    found = {
        "accuracy": character.knows,
        "consistency": same / both if both else math.nan,
        "kept(right)": character.stands,
        "kept(wrong)": character.insists,
        "d_prime": hit - alarm,
        "criterion": -(hit + alarm) / 2,
        "kept(doubted)": character.doubted,
        "false_premise(corrected)": character.corrects,
        "false_premise(went_along)": character.goes_along,
        "recoverability": character.learns,
    }
    for distance in {one for pair in (distances or {}).values() for one in pair}:
        found[f"retentiveness(distance={distance})"] = hold**distance
    return found
