"""The hand-made cases of tests/data/criteria, and how often the rules are right on them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any

import yaml

from recordings.conversations.conversation import Conversation, Outcome, Turn
from recordings.judged.judgments import Judgment, Layer, Target
from scoring.swan.assessment import Assessment, TopicData, assess
from scoring.swan.item import ScoredItem
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.ruled_sets import set_verdicts
from scoring.swan.schema import Schema, load_schema
from scoring.swan.triage import TRIAGE
from tests.support.checkout import DATA
from tests.support.scoring_examples import M002, conversation, movie
from topics.attributes import AttributeSet, uniform_shares
from topics.gold import GoldEntry, GoldTable

FOLDER = DATA / "criteria"
PARTS = ("tuned", "held_out")
CRITERIA = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
TRUTHS = ("bad", "good", "silent")
SETS = ("trials", "groups", "dates")
"""What stands in the place of `talk` where a case is about several conversations."""


@dataclass(frozen=True)
class Case:
    """One conversation and what is true of its last system turn. below: the score under which it counts as flagged."""

    criterion: str
    part: str
    truth: str
    talk: tuple[str, ...]
    below: float
    at: str = ""
    trap: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The last words of both sides, cut, or what stands in the place of a talk."""
        if not self.talk:
            several = next(self.more[key] for key in SETS if key in self.more)
            if isinstance(several, dict):
                several = {str(key): value for key, value in several.items()}
            found = " ".join(str(several).split())
            return found[:140].replace("|", "\\|") + ("…" if len(found) > 140 else "")
        said, answer = " ".join(self.talk[-2].split()), " ".join(self.talk[-1].split())
        words = f"{said[:60]}{'…' if len(said) > 60 else ''} / {answer[:70]}{'…' if len(answer) > 70 else ''}"
        return words.replace("|", "\\|").replace("<", "&lt;")


@dataclass(frozen=True)
class Found:
    """What the rules say of a case: `bad`, `good`, `silent`, or `elsewhere` where they flag another nugget alone."""

    case: Case
    verdict: str
    scored: tuple[ScoredItem, ...] = ()

    @property
    def right(self) -> bool:
        return self.verdict == self.case.truth


@cache
def cases(name: str) -> tuple[Case, ...]:
    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    found = []
    for part in PARTS:
        for row in document[part]:
            talk = list(map(str, row.get("talk", ())))
            if "words" in row:
                talk[-1] = prose(int(row["words"]))
            more = {key: value for key, value in row.items() if key not in ("is", "talk", "at", "trap", "words")}
            found.append(
                Case(
                    document["criterion"], part, row["is"], tuple(talk), float(document["below"]),
                    str(row.get("at", "")), str(row.get("trap", "")), more,
                )
            )  # fmt: skip
    return tuple(found)


def prose(words: int) -> str:
    """So many words in sentences of twelve, no sentence twice."""
    said = [f"The {number} of the words" if number % 12 == 0 else f"w{number}" for number in range(words)]
    flat = " ".join(said).split()[:words]
    return " ".join(word + ("." if place % 12 == 11 else "") for place, word in enumerate(flat))


@cache
def schema() -> Schema:
    return load_schema("sakai-2023-rules")


def assessed(case: Case) -> tuple[Conversation, Assessment]:
    """The case through the same door as a recorded conversation."""
    talked = case.talk
    if case.criterion == "Fair exposure":
        talked = tuple(re.sub(r"\{(\w\d)\}", lambda one: movie(FILMS[one[1]]), text) for text in talked)
    talk = conversation(
        *zip(talked[::2], talked[1::2], strict=True),
        labels=str(case.more.get("labels", "?" * (len(case.talk) // 2))),
        outcome=Outcome(str(case.more.get("ended", "completed"))),
    )
    if "then" in case.more:
        talk = replace(talk, turns=(*talk.turns, Turn(len(talk.turns) + 1, "ask", str(case.more["then"]))))
    judgments = Judgments()
    if case.criterion == "Modesty":  # every claim is taken to be false
        plain = assess(talk, schema())
        rows = [
            Judgment(Target(talk.trial_id, 1, one.turn, "system", one.start, one.end).about(), "Correctness", 0)
            for one in plain.items["Correctness"]
        ]
        judgments = Judgments.from_layers([Layer("human", "anna", judgments=tuple(rows))], schema(), Precedence())
    return talk, assess(talk, schema(), judgments, page_text() if case.criterion == "Fair exposure" else TopicData())


def together(case: Case) -> tuple[Conversation, ...]:
    """The conversations of a case about several: of trials, of groups, or of days."""
    if "trials" in case.more:
        return tuple(_talk(texts, trial=n) for n, texts in enumerate(case.more["trials"], 1))
    if "dates" in case.more:
        days = enumerate(case.more["dates"].items(), 1)
        return tuple(
            replace(_talk(text, trial=n), started_at=f"{day}T09:00:00Z" if day else "") for n, (day, text) in days
        )
    found = []
    for group, every in case.more["groups"].items():
        for n, one in enumerate(every, 1):
            labels = str(one) if case.criterion == "Fair treatment" else ""
            found.append(
                _talk(["reply"] * len(labels) if labels else one, trial=n, system=f"B1 [{group}]", labels=labels)
            )
    return tuple(found)


def _talk(texts: str | Sequence[str], *, trial: int, system: str = "B1", labels: str = "") -> Conversation:
    answers = [texts] if isinstance(texts, str) else texts
    return conversation(*(("ask", text) for text in answers), trial=trial, system=system, labels=labels)


def judge_together(case: Case) -> Found:
    talks = together(case)
    sight = TopicData().sight
    verdicts = set_verdicts(talks, schema(), lambda one: sight(one, None, None))
    found = verdicts.get((talks[0].key.system, talks[0].key.topic, case.criterion))
    return Found(case, "silent" if found is None else "bad" if found[0].value < case.below else "good")


FILMS = {f"{side}{n}": 10 * place + n for place, side in enumerate("NSXU", 1) for n in range(1, 6)}
SIDE = AttributeSet("SIDE", "nominal", ("north", "south"), uniform_shares(2))


def page_text() -> TopicData:
    """Northern and southern films that are relevant, some that are not, and some of unknown side."""
    shares = {"N": {"SIDE": (1.0, 0.0)}, "S": {"SIDE": (0.0, 1.0)}}
    gold = GoldTable(
        [
            GoldEntry(
                "M002", movie(number), 0 if name[0] == "X" else 2, name, MappingProxyType(shares.get(name[0], {}))
            )
            for name, number in FILMS.items()
        ]
    )
    return TopicData(replace(M002, type=replace(M002.type, attributes=("SIDE",))), gold, {"SIDE": SIDE})


def judge(case: Case) -> Found:
    """What the rules of the shipped schema say of the last system turn."""
    if not case.talk:
        return judge_together(case)
    if case.criterion in TRIAGE:
        return Found(case, "bad" if any(TRIAGE[case.criterion](case.talk[-1])) else "good")
    _, found = assessed(case)
    last, text = len(case.talk) // 2, case.talk[-1]
    scored = [one for one in found.scored[case.criterion] if one.item.turn == last]
    here = [one for one in scored if case.at in (text if one.item.start < 0 else text[one.item.start : one.item.end])]
    flagged = [one for one in here if one.value < case.below]
    if not flagged and case.truth == "bad" and any(one.value < case.below for one in scored):
        return Found(case, "elsewhere", tuple(scored))
    return Found(case, "bad" if flagged else "good" if here else "silent", tuple(scored))


@dataclass(frozen=True)
class Tally:
    """How often the rules are right. precision: NaN where nothing is flagged; recall: NaN where nothing is bad."""

    found: Sequence[Found]

    def count(self, truth: str, *verdicts: str) -> int:
        return sum(one.case.truth == truth and one.verdict in verdicts for one in self.found)

    @property
    def hits(self) -> int:
        return self.count("bad", "bad")

    @property
    def false(self) -> int:
        return self.count("good", "bad") + self.count("silent", "bad") + self.count("bad", "elsewhere")

    @property
    def bad(self) -> int:
        return sum(one.case.truth == "bad" for one in self.found)

    @property
    def right(self) -> int:
        return sum(one.right for one in self.found)

    @property
    def precision(self) -> float:
        return self.hits / (self.hits + self.false) if self.hits + self.false else math.nan

    @property
    def recall(self) -> float:
        return self.hits / self.bad if self.bad else math.nan


@cache
def judged(name: str) -> tuple[Found, ...]:
    return tuple(judge(case) for case in cases(name))


def tally(name: str, part: str) -> Tally:
    return Tally([one for one in judged(name) if one.case.part == part])
