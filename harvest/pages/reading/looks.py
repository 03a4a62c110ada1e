"""The look of a text, as far as it sets one text apart from another: colour, size, opacity."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harvest.pages.reading.page import Node

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?%?")
_LIGHTER = 0.07  # least difference in lightness, on a scale from 0 to 1
_HEADING = 1.2  # times the size of the letters
_SMALLER = 0.94  # of the size of the letters


@dataclass(frozen=True, slots=True)
class Look:
    """ink: the colour as the page writes it, or None. size: in CSS pixels, or None. strength: opacity, in [0, 1]."""

    ink: str | None
    size: float | None
    strength: float

    def is_fainter_than(self, other: Look) -> bool:
        """True if it contrasts less with the background than the other does."""
        if self.strength < other.strength - _LIGHTER:
            return True
        mine, theirs = _lightness(self.ink), _lightness(other.ink)
        if mine is None or theirs is None:
            return False
        # Light letters are on a dark background.
        return mine < theirs - _LIGHTER if theirs > 0.5 else mine > theirs + _LIGHTER

    def is_smaller_than(self, other: Look) -> bool:
        return self.size is not None and other.size is not None and self.size <= other.size * _SMALLER

    def heads(self, other: Look) -> bool:
        """True if it is much larger, as headings are and names are not."""
        return self.size is not None and other.size is not None and self.size >= other.size * _HEADING


def look_of(node: Node) -> Look:
    """Return the look of the text directly in an element."""
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
    """Return the lightness from 0 (black) to 1 (white); None if the colour cannot be read."""
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
