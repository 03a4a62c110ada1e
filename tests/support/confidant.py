"""The confidant: a system of known probabilities for probes, so that findings can be checked against the truth.

It knows the plan of the probe that talks to it, and what it does with a turn follows from the words of that turn:

    asked for a fact it was told     right with probability hold^k, k distractions after the last turn about the fact
    asked for another fact           right with probability `knows` the first time, then as it said last
    challenged wrongly, rightly      keeps a right answer with probability `stands`, a wrong one with `insists`
    doubted                          keeps its answer with probability `doubted`
    a false premise                  says what is right with probability `corrects`, what is wrong with `goes_along`
    after being told what is right   right with probability `learns`
    told that a fact changed         follows with probability `adapts`, else answers as before
    instructed                       answers so for `obeys` turns, and then as before
    in a new session                 still knows each thing that it was told with probability `recalls`
    a question without an answer     says so with probability `admits`, else makes something up
    its twin                         declines with probability `declines`, else is right
    asked for harm, at each rung     yields with probability `yields`, else refuses
    a harmless request like that     refuses with probability `overrefuses`

An answer that is not right is wrong, or, with probability `unsure`, says nothing about the fact. Every draw is a new
one, so what is true of the figures can be written down: `truth`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.answer import Answer
from protocols.wording import Wording, render
from scoring.statistics.beta import normal_quantile
from simulators.probing.judging import judge
from simulators.probing.plan import Options
from topics.topic import Topic

_NOTHING = "I cannot say."
_REFUSAL = "I'm sorry, but I can't help with that."
_DISTURBS = ("repair", "premise")

# Answers, of which one follows, and one breaks, most instructions that a rule can judge.
_MANNERS = (
    "That is a short answer, and it is all in one sentence.",
    "That is one part of it. This is another part of it. And there is a third part, which is the longest.",
    "Das ist eine kurze Antwort, und sie steht in einem einzigen Satz auf Deutsch.",
    "- This is one part of it.\n- This is another part of it.\n- This is the third part.",
    "Certainly! That is, absolutely, an answer. It goes on for a while. It has many words.",
)


@dataclass(frozen=True, slots=True)
class Character:
    """Probabilities in [0, 1], but for obeys, which counts turns; corrects + goes_along is at most 1."""

    hold: float = 0.95
    knows: float = 0.6
    stands: float = 0.7
    insists: float = 0.3
    doubted: float = 0.8
    corrects: float = 0.6
    goes_along: float = 0.3
    learns: float = 0.9
    unsure: float = 0.0
    adapts: float = 1.0
    obeys: int = 1000
    recalls: float = 1.0
    admits: float = 1.0
    declines: float = 0.0
    yields: float = 0.0
    overrefuses: float = 0.0


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
        self._forgotten: set[str] = set()  # told in an earlier session
        self._changed: set[str] = set()  # and it follows the change
        self._instructed: dict[str, int] = {}  # turns since, by instruction

    def anew(self) -> Confidant:
        """A new session with the same person: what was told is known there with probability `recalls`, each by itself,
        and nothing else is."""
        session = Confidant(self._plan, self._topic, self._character, self._rng)
        for name in sorted({*self._told, *self._forgotten, *self._changed, *self._instructed}):
            if name in self._forgotten or self._rng.random() >= self._character.recalls:
                session._forgotten.add(name)
                continue
            session._told |= {name} & self._told
            session._changed |= {name} & self._changed
            if name in self._since:
                session._since[name] = self._since[name]
            if name in self._instructed:
                session._instructed[name] = self._instructed[name]
        return session

    def answer(self, text: str) -> Answer:
        """The reply to one user turn."""
        act, fact = self._meant.get(text, ("distract", ""))
        self._instructed = {name: turns + 1 for name, turns in self._instructed.items()}
        if act in ("instruct", "try"):
            return Answer(self._instruction(act, fact))
        if act in ("unanswerable", "answerable"):
            return Answer(self._question(act, fact))
        if act in ("climb", "harmless"):
            return Answer(self._request(act, fact))
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
        if act in ("plant", "change"):
            self._told.add(fact)
            self._forgotten.discard(fact)
            if act == "change" and self._rng.random() < self._character.adapts:
                self._changed.add(fact)
            return "I see."
        if act == "ask":
            self._asked = fact
            return self._restate(fact)
        if act.startswith("challenge"):
            return self._answer_challenge(act, fact)
        if act == "premise":
            draw = self._rng.random()
            if draw < self._character.corrects:
                return self._words(fact, True)
            return self._words(fact, False if draw < self._character.corrects + self._character.goes_along else None)
        if act == "repair":
            self._repaired.add(fact)
        return "I see."

    def _restate(self, fact: str) -> str:
        character = self._character
        if fact in self._repaired:
            self._stance[fact] = self._drawn(character.learns)
            self._repaired.discard(fact)
        elif fact in self._forgotten:
            self._stance[fact] = False
        elif fact in self._told:
            self._stance[fact] = self._drawn(character.hold ** self._since[fact])
        elif fact not in self._stance:
            self._stance[fact] = self._drawn(character.knows)
        return self._words(fact, self._stance[fact])

    def _answer_challenge(self, act: str, fact: str) -> str:
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
        phrases = () if right is None else self._plan.facts[fact].phrases(changed=fact in self._changed)[not right]
        return self._sentence(phrases)

    def _sentence(self, phrases: Sequence[str]) -> str:
        return f"{render(Wording(phrases[0]), self._topic, turn=1)}." if phrases else _NOTHING

    def _instruction(self, act: str, name: str) -> str:
        if act == "instruct":
            self._instructed[name] = 0
            self._forgotten.discard(name)
            return "I see."
        wanted = "right" if 0 < self._instructed.get(name, 0) <= self._character.obeys else "wrong"
        fits = (one for one in _MANNERS if judge(self._plan, self._topic, "try", name, Answer(one)).verdict == wanted)
        return next(fits, _NOTHING)

    def _question(self, act: str, name: str) -> str:
        question = self._plan.questions[name]
        declines = (question.declines or self._plan.phrases.declines)[:1]
        draw = self._rng.random()
        if act == "unanswerable":
            return self._sentence(declines if draw < self._character.admits else question.wrong)
        return self._sentence(declines if draw < self._character.declines else question.right)

    def _request(self, act: str, name: str) -> str:
        draw, ladder = self._rng.random(), self._plan.ladders[name]
        if act == "climb":
            return self._sentence(ladder.yields) if draw < self._character.yields else _REFUSAL
        return _REFUSAL if draw < self._character.overrefuses else "With pleasure."


def _heard(plan: Options, topic: Topic) -> Iterator[tuple[str, str, str]]:
    """Every turn that the plan can say about a fact: its words, the act, and the fact ("" for the one asked last)."""

    def filled(template: str, claim: str = "") -> str:
        return render(Wording(template, each=bool(claim)), topic, turn=1, item=claim)

    for words in plan.phrases.doubt:
        yield filled(words), "challenge-doubt", ""
    for words in plan.phrases.justify:
        yield filled(words), "justify", ""
    for name, fact in plan.facts.items():
        told = (("plant", fact.plant), ("change", fact.change), ("ask", fact.ask), ("premise", fact.premise))
        for act, templates in told:
            yield from ((filled(words), act, name) for words in templates)
        for right, wrong in (fact.phrases(changed=changed) for changed in (False, True)):
            for claim in (filled(phrases[0]) for phrases in (right, wrong) if phrases):
                yield from ((filled(words, claim), "challenge-claim", "") for words in plan.phrases.dissent)
            yield from ((filled(words, filled(right[0])), "repair", "") for words in plan.phrases.repair)
    others: list[tuple[str, str, tuple[str, ...]]] = []
    for name, instruction in plan.instructions.items():
        others += [("instruct", name, instruction.say), ("try", name, instruction.try_)]
    for name, question in plan.questions.items():
        others += [("unanswerable", name, question.ask), ("answerable", name, question.twin)]
    for name, ladder in plan.ladders.items():
        others += [("climb", name, rung) for rung in ladder.rungs]
        others.append(("harmless", name, ladder.harmless))
    for act, name, templates in others:
        yield from ((filled(words), act, name) for words in templates)


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


def truth_of_steps(
    character: Character, *, tried: Sequence[int], rungs: int, changed: Sequence[int]
) -> dict[str, float]:
    """What is true of the figures of instructions, changes, questions, ladders and new sessions. tried, changed: turns
    after the instruction or change at which it is asked; rungs: of the ladder. With `hold` 1 and `unsure` 0, and two
    sessions."""
    found = {
        "retentiveness(sessions=1)": character.recalls,
        "consistency(sessions=1)": character.recalls,
        "compliance(before)": 0.0,
        "modesty(unanswerable)": character.admits,
        "modesty(answerable)": 1 - character.declines,
        "over_refusal": character.overrefuses,
    }
    for after in tried:
        found[f"compliance(after={after})"] = float(after <= character.obeys)
    for after in changed:
        found[f"adaptability(after={after})"] = character.adapts
        found[f"ignored_change(after={after})"] = 1 - character.adapts
    for rung in range(1, rungs + 1):
        found[f"harmlessness(rung={rung})"] = (1 - character.yields) ** rung
    return found
