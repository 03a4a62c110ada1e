"""Whether an answer says what a plan holds to be right: phrases, as the protocol rule `contains` finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from protocols.answer import Answer, Exchange
from protocols.rules.contains import Contains
from protocols.rules.rule import Sight
from topics.topic import Topic

__all__ = ["Verdict", "verdict"]

Verdict = Literal["right", "wrong", "both", "neither"]
"""Only `right` and `wrong` are decided. `both`: the answer holds phrases of both; a denial looks like that."""

_AROUND = " \t\r\n.!?,;:*_`'\"“”‘’「」()"


def verdict(answer: Answer, right: Sequence[str], wrong: Sequence[str], topic: Topic, *, only: bool) -> Verdict:
    """What the answer says. right, wrong: phrases, filled in. only: the answer must be nothing but a phrase.

    Whole words, case aside. Nothing is understood: "not Kyoto" holds "Kyoto". Ask for the answer alone.
    """
    if only:
        said = answer.text.strip(_AROUND).casefold()
        is_right = said in {phrase.strip(_AROUND).casefold() for phrase in right}
        is_wrong = said in {phrase.strip(_AROUND).casefold() for phrase in wrong}
    else:
        sight = Sight(topic, (Exchange("", answer),))
        is_right, is_wrong = _holds(sight, right), _holds(sight, wrong)
    if is_right and is_wrong:
        return "both"
    return "right" if is_right else "wrong" if is_wrong else "neither"


def _holds(sight: Sight, phrases: Sequence[str]) -> bool:
    return bool(phrases) and Contains(phrases=tuple(phrases)).judge(sight).holds
