"""The eye's observations of a turn at one moment: how long its text has been quiet, and which busy signs there are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sign:
    """seen: it was there since the send. now: it is there. last: seconds since it was last there. first: seconds from
    the send until it first was. None if it never was."""

    seen: bool
    now: bool
    last: float | None
    first: float | None = None


@dataclass(frozen=True, slots=True)
class TurnSigns:
    """Times are in seconds.

    asked: since the send; None if this document saw none (a new one was loaded, or nothing was sent). quiet: since the
    text last changed, or since the send if it never did. rewritten: since the same text was last written anew; None if
    it never was. changes: how often the text changed. pauses: (length, start after the send) of the longest gaps
    between changes and of the last ones. signs: by their names in `busy_signs`, without `network`. stale: a watched
    element has left the page. mutations: changes of any kind. stalls: (length, start after the send) of the longest
    times in which the page could not run, as measured by a timer in it.
    """

    asked: float | None
    quiet: float = 0.0
    rewritten: float | None = None
    changes: int = 0
    pauses: tuple[tuple[float, float], ...] = ()
    signs: Mapping[str, Sign] = field(default_factory=dict)
    stale: bool = False
    mutations: int = 0
    stalls: tuple[tuple[float, float], ...] = ()


def turn_signs(sample: Mapping[str, Any]) -> TurnSigns:
    """Convert the result of eye.sample(), which is in milliseconds."""
    if sample.get("asked") is None:
        return TurnSigns(None)
    return TurnSigns(
        asked=sample["asked"] / 1000,
        quiet=sample["quiet"] / 1000,
        rewritten=_seconds(sample["rewritten"]),
        changes=sample["changes"],
        pauses=tuple((length / 1000, began / 1000) for length, began in sample["pauses"]),
        signs={
            name: Sign(sign["seen"], sign["now"], _seconds(sign["last"]), _seconds(sign["first"]))
            for name, sign in sample["signals"].items()
        },
        stale=sample["stale"],
        mutations=sample["mutations"],
        stalls=tuple((length / 1000, began / 1000) for length, began in sample["stalls"]),
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
