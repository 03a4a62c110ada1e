"""The possible decisions and their keys."""

from collections.abc import Sequence
from dataclasses import dataclass

from recordings.files.json_text import Json
from recordings.judged.judgments import UNSURE

_WORDS = {0.0: "no", 0.5: "partly", 1.0: "yes"}
_CANNOT_TELL = "unsure – I cannot tell"
_ABSENT = "n/a – it does not apply here"


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible decision.

    key: a digit, or U. value: the value of the judgment. words: the text on the page.
    """

    key: str
    value: Json
    words: str


def scale_choices(scale: Sequence[float]) -> tuple[Choice, ...]:
    """Return the choices of a scale: at most nine scores from 0 to 1 in rising order."""
    scores = (
        Choice(str(key), value, f"{value:g} – {_WORDS[value]}" if value in _WORDS else f"{value:g}")
        for key, value in enumerate(map(float, scale), 1)
    )
    return (*scores, Choice("0", None, _ABSENT), Choice("U", UNSURE, _CANNOT_TELL))


def value_choices(values: Sequence[tuple[str, str]]) -> tuple[Choice, ...]:
    """Return the choices of at most nine values, each with its meaning."""
    named = (
        Choice(str(key), name, f"{name} – {meaning}" if meaning else name)
        for key, (name, meaning) in enumerate(values, 1)
    )
    return (*named, Choice("0", None, _ABSENT), Choice("U", UNSURE, _CANNOT_TELL))


# The values are those of a sheet of pairs.
PAIR_CHOICES = (
    Choice("1", "left", "left – the left one is better"),
    Choice("2", "tie", "tie – neither is better"),
    Choice("3", "right", "right – the right one is better"),
    Choice("U", UNSURE, _CANNOT_TELL),
)
