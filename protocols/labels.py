"""The labels that an answer can get, each named once.

What a file may give, what is recorded and what a legend says about a label come from here. Protocols may give labels
other than `o` and `x`: these are recorded, shown, and used to merge turns in trees. Where usefulness is counted, and
for simulated users, such an answer counts as unlabelled.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

# What a rule says of an answer, as protocols and recordings write it.
Label = Literal["o", "x"]

USEFUL: Final = "o"
NOT_USEFUL: Final = "x"
MEANINGS: Mapping[str, str] = MappingProxyType({"o": "useful", "x": "not useful"})

LABELS: tuple[Label, ...] = get_args(Label)

# No label: for figures, that of a turn which a bad end prevented; for a user, of an answer nobody judged.
MISSING: Final = "-"

# What a label says about usefulness; `-`: nothing.
Judged = Literal["o", "x", "-"]


def allowed_labels() -> str:
    """The labels that a file with turns may give, for messages."""
    return ", ".join((*(f"{label} ({MEANINGS[label]})" for label in LABELS), f"{MISSING} (no such turn)"))


def usefulness(label: str | None) -> Judged:
    """What `label` says about usefulness; `-` for none, and for one that is neither useful nor not useful."""
    return USEFUL if label == USEFUL else NOT_USEFUL if label == NOT_USEFUL else MISSING
