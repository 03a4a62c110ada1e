"""How the letters of a text are drawn, as far as that sets one text apart from another: colour, size, see-through."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harvest.pages.reading.page import Node

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?%?")
_LIGHTER = 0.07  # of the way from black to white
_HEADING = 1.2  # times the size of the letters
_SMALLER = 0.94  # of the size of the letters


@dataclass(frozen=True, slots=True)
class Look:
    """ink: the colour as the page writes it; size: CSS pixels; strength: how opaque it is, in [0, 1]. None: unknown."""

    ink: str | None
    size: float | None
    strength: float

    def is_fainter_than(self, other: Look) -> bool:
        """Whether it stands out less from its ground than the other does from the same ground."""
        if self.strength < other.strength - _LIGHTER:
            return True
        mine, theirs = _lightness(self.ink), _lightness(other.ink)
        if mine is None or theirs is None:
            return False
        # Letters that are light themselves stand on a dark ground.
        return mine < theirs - _LIGHTER if theirs > 0.5 else mine > theirs + _LIGHTER

    def is_smaller_than(self, other: Look) -> bool:
        return self.size is not None and other.size is not None and self.size <= other.size * _SMALLER

    def heads(self, other: Look) -> bool:
        """Whether it is as much larger as headings are, and names are not."""
        return self.size is not None and other.size is not None and self.size >= other.size * _HEADING


def look_of(node: Node) -> Look:
    """The look of the text directly in an element."""
    ink, size, strength = None, None, 1.0
    for around in node.self_and_ancestors():
        ink = ink or around.get("h-ink") or None
        size = size if size is not None or not around.get("h-font") else float(around.get("h-font"))
        strength *= float(around.get("h-dim") or 1)
    parts = _NUMBERS.findall(ink.partition("(")[2]) if ink else []
    if ink and ("/" in ink or (ink.startswith("rgba") and len(parts) == 4)):
        strength *= float(parts[-1].rstrip("%")) / (100 if parts[-1].endswith("%") else 1)
    return Look(ink, size, strength)


def _lightness(ink: str | None) -> float | None:
    """From 0, black, to 1, white."""
    parts = _NUMBERS.findall(ink.partition("(")[2]) if ink else []
    if not ink or len(parts) < 3:
        return None
    first = [float(part.rstrip("%")) for part in parts[:3]]
    match ink.partition("(")[0]:
        case "rgb" | "rgba":
            red, green, blue = (value / 255 for value in first)
        case "color":
            red, green, blue = first
        case "oklch" | "oklab":
            return first[0]
        case "lab" | "lch":
            return first[0] / 100
        case _:
            return None
    return 0.3 * red + 0.59 * green + 0.11 * blue
