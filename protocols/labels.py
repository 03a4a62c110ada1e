"""The labels of answers, defined once for files, recordings and legends.

Protocols may define labels besides `o` and `x`. Such labels are recorded, shown, and used to merge turns in trees,
but the answer counts as unlabelled in measures of usefulness and for simulated users.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

# The labels of answers, as written in protocols and recordings.
Label = Literal["o", "x"]

USEFUL: Final = "o"
NOT_USEFUL: Final = "x"
MEANINGS: Mapping[str, str] = MappingProxyType({"o": "useful", "x": "not useful"})

LABELS: tuple[Label, ...] = get_args(Label)

# No label: in figures, for a turn that a bad end prevented; for a user, for an answer that was not judged.
MISSING: Final = "-"

# The meaning of a label for usefulness; `-` has none.
Judged = Literal["o", "x", "-"]


def allowed_labels() -> str:
    """Return the labels that a file with turns may contain, formatted for messages."""
    return ", ".join((*(f"{label} ({MEANINGS[label]})" for label in LABELS), f"{MISSING} (no such turn)"))


def usefulness(label: str | None) -> Judged:
    """Return the label if it is `o` or `x`. Returns `-` for any other label and for None."""
    return USEFUL if label == USEFUL else NOT_USEFUL if label == NOT_USEFUL else MISSING
