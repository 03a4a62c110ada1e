"""`recovery`: whether a turn makes good for one that let the user down ([SWAN] §4.11)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.swan.rules.own_words import own_words
from scoring.swan.rules.rule import Sight, Verdict

__all__ = ["Recovery", "is_dissatisfied"]

_BAD = r"(?:wrong|incorrect|false|useless|nonsense|ridiculous|absurd|unhelpful|missing)"
_DISSATISFIED = re.compile(
    rf"\b(?:(?:that|this|it)(?:'s|s|\s+is|\s+was)?\s+(?:still\s+)?{_BAD}(?!\s+to\b)|(?:is|are)\s+(?:still\s+)?wrong\s*(?:$|\n)"
    r"|that(?:'s|\s+is|s)?\s+not\s+(?:right|true|correct)|not\s+what\s+i\s+(?:asked|meant|wanted|said)"
    r"|you(?:'re|\s+are)\s+(?:wrong|mistaken|not\s+(?:listening|helping|answering|making))"
    r"|you\s+(?:already\s+said|said\s+that|did(?:n't|\s+not)\s+(?:answer|understand))"
    r"|(?:doesn't|does\s+not|didn't|did\s+not|don't|do\s+not)\s+(?:make\s+(?:any\s+)?sense|answer|help|work)"
    r"|i\s+(?:don't|do\s+not)\s+understand\s+what\s+you|makes\s+no\s+sense|wrong\s+(?:answer|again)"
    r"|useless[.!]|nonsense[.!]|are\s+you\s+(?:kidding|serious)|i\s+(?:already|just)\s+(?:said|told|asked)"
    r"|what\s+are\s+you\s+talking\s+about|i\s+give\s+up|try\s+again|adhere\s+to\s+the\s+(?:output\s+)?format)"
    r"|^(?:no,?\s+)?i\s+said\b|\?{3,}",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(
    r"\b(?:translate|say|write|spell|type)\b[^:\n]{0,20}:[^\n]*|\bif\s+i\s+said[^,.?!\n]*", re.IGNORECASE
)


def is_dissatisfied(text: str) -> bool:
    """Whether a user turn says in so many words that the answer before it was bad. English; misses what is implied.
    Quoted words, and words to be translated or written, do not count."""
    return _DISSATISFIED.search(_NAMED.sub(" ", own_words(text))) is not None


@dataclass(frozen=True, slots=True)
class Recovery:
    """Whether a turn makes good for the one before it ([SWAN] §4.11). Silent on turns with nothing to recover from.

    sign=label: after a turn labelled `x`, 1 where this one is labelled `o`, 0 where `x`. sign=user: after a user
    turn that says it is dissatisfied, 1 where the user goes on and is content, 0 where the user goes on and is not, or
    stopped by choice; silent where the protocol ended the conversation.
    """

    sign: str = "label"
    level: ClassVar[Literal["turn"]] = "turn"
    version: ClassVar[str] = "2"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "has no item where the conversation broke down right after the bad turn, which %recovery counts as not "
        "recovered"
    )
    silence: ClassVar[str] = "nothing to recover from before the turn, or the conversation ended there"

    def __post_init__(self) -> None:
        if self.sign not in ("label", "user"):
            raise ValueError("sign is label or user")

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        found = self._by_label(sight) if self.sign == "label" else self._by_user(sight)
        for item in sight.items:
            if item.turn in found:
                yield Verdict(item, found[item.turn])

    def _by_label(self, sight: Sight) -> dict[int, float]:
        turns = sight.conversation.turns
        return {
            after.number: float(after.label == USEFUL)
            for before, after in pairwise(turns)
            if before.label == NOT_USEFUL and after.label in (USEFUL, NOT_USEFUL)
        }

    def _by_user(self, sight: Sight) -> dict[int, float]:
        turns, outcome = sight.conversation.turns, sight.conversation.outcome
        found: dict[int, float] = {}
        for i, turn in enumerate(turns):
            if not i or not is_dissatisfied(turn.said):
                continue
            if i + 1 < len(turns):
                found[turn.number] = float(not is_dissatisfied(turns[i + 1].said))
            elif outcome is not None and outcome.kind == "user-stopped":
                found[turn.number] = 0.0
        return found

    def __str__(self) -> str:
        return f"recovery(sign={self.sign})"
