"""A bound that a figure of an audit must keep."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from topics.document import Document, Loc, StrictModel
from topics.topic import TopicSet

__all__ = ["Threshold", "check_threshold"]

_SHARES = ("%useful", "ave%useful", "%recovery")
_PLAIN = (*_SHARES, "R", "GF", "GF_cum")
_OF_SET = re.compile(r"(?:GF|GF_cum)\((?P<name>[^,()]+)(?:, by=(?:NMD|RNOD|JSD))?\)")
_SUMMARY = re.compile(r"(?:GFR|GFR_cum)\(alpha=[0-9.]+\)")


class Threshold(StrictModel):
    """`{measure: "%useful", system: B, turn: 1, at_least: 0.8}`: every figure that fits keeps the bound."""

    measure: str
    system: str | None = None
    topic_type: str | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    at_least: float | None = None
    at_most: float | None = None


def check_threshold(threshold: Threshold, document: Document, loc: Loc, systems: list[str], topics: TopicSet) -> None:
    """Raises InputError, with its place, for a bound that no figure of the audit could ever meet or miss."""
    if (threshold.at_least is None) == (threshold.at_most is None):
        raise document.error(loc, "a threshold has exactly one bound", allowed="at_least, at_most")
    found = _OF_SET.fullmatch(threshold.measure)
    if not (
        threshold.measure in _PLAIN
        or _SUMMARY.fullmatch(threshold.measure)
        or (found and found["name"] in topics.attributes)
    ):
        sets = ", ".join(f"GF({name})" for name in topics.attributes)
        raise document.error(
            (*loc, "measure"),
            f"there is no figure {threshold.measure!r}",
            allowed=f"{', '.join(_PLAIN)}, GFR(alpha=0.5){', ' + sets if sets else ''}, as the tables print them",
        )
    if threshold.measure == "%useful" and threshold.turn is None:
        raise document.error(loc, "%useful is of a turn", advice="add turn: 1, or bound ave%useful")
    if threshold.measure != "%useful" and threshold.turn is not None:
        raise document.error((*loc, "turn"), f"{threshold.measure} is of no single turn", advice="remove it")
    for key in ("at_least", "at_most"):
        bound = getattr(threshold, key)
        if bound is not None and not 0 <= bound <= 1:
            raise document.error(
                (*loc, key), f"{bound:g} is no value of {threshold.measure}", allowed="0 to 1 (80% is 0.8)"
            )
    if threshold.system is not None and threshold.system not in systems:
        raise document.error((*loc, "system"), f"no system is called {threshold.system!r}", allowed=", ".join(systems))
    types = list(dict.fromkeys(topic.type.name for topic in topics.topics))
    if threshold.topic_type is not None and threshold.topic_type not in types:
        raise document.error(
            (*loc, "topic_type"), f"no topic is of type {threshold.topic_type!r}", allowed=", ".join(types)
        )
