"""`invitation`: Engagingness as asking or offering something at the end, against a dead end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from scoring.swan.nugget import Nugget
from scoring.swan.rules.own_words import own_words
from scoring.swan.rules.rule import Sight, Verdict

__all__ = ["Invitation"]

_INVITES = frozenset(
    {
        "OFFER",
        "OPEN-QUESTION",
        "WH-QUESTION",
        "YES-NO-QUESTION",
        "TAG-QUESTION",
        "DECLARATIVE-YES-NO-QUESTION",
        "CONVENTIONAL-OPENING",
    }
)
_ENDS = frozenset({"REJECT", "HEDGE", "APOLOGY", "CONVENTIONAL-CLOSING"})
_BARE = frozenset({"ACKNOWLEDGE", "AGREEMENT", "OTHER"})


@dataclass(frozen=True, slots=True)
class Invitation:
    """1 for a turn that ends in a question or an offer to the user; 0 for one that is empty, a refusal, a `don't know`
    or a farewell alone, or a bare acknowledgement of a turn that was no question. Silent on the rest.
    """

    level: ClassVar[Literal["turn"]] = "turn"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "sees an invitation or a dead end by the acts of English words; blind to whether the turn is interesting"
    )
    silence: ClassVar[str] = "the turn neither ends in a question or offer nor is a dead end"

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        own: dict[int, list[Nugget]] = {}
        for one in sight.nuggets:
            if one.speaker == "system" and one.type != "E":
                own.setdefault(one.turn, []).append(one)
        for item in sight.items:
            here = own.get(item.turn, [])
            if not sight.text(item).strip():
                yield Verdict(item, 0.0, "nothing is said")
            elif here and _invites(here[-1]):
                yield Verdict(item, 1.0, f"ends in {here[-1].act.lower()}", (here[-1].span,))
            elif here and all(one.act in _ENDS for one in here):
                yield Verdict(item, 0.0, "ends the matter", tuple(one.span for one in here))
            elif here and all(one.act in _BARE for one in here) and "?" not in sight.said(item.turn):
                yield Verdict(item, 0.0, "a bare acknowledgement", tuple(one.span for one in here))

    def __str__(self) -> str:
        return "invitation"


def _invites(last: Nugget) -> bool:
    asks = last.act in _INVITES or last.rule == "question-mark"
    return asks and bool(own_words(last.text).strip(" ?!."))
