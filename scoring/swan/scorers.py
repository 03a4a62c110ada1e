"""The kinds of sources behind a SWAN or WAN: people, models or rules.

A SWAN by rules alone does not measure truth or harm, and a WAN by several kinds mixes judges.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

UNCHECKED = "unchecked"
# Follows `models` in a measure's name, because no figure of a model is shown without it: corrected by people's
# judgments of some of the same things, or not (`scoring.swan.checking`).
CORRECTED = "corrected"

# The name of each kind of source in a measure's name, in the order in which they are written.
SCORERS: Mapping[str, str] = MappingProxyType({"human": "people", "model": "models", "rule": "rules"})

# System, topic, topic type and trial of a figure; None: over all of them.
Part = tuple[str, str | None, str | None, int | None]


@dataclass(slots=True)
class Scorers:
    """The kinds of sources that scored conversations, for each criterion ("" for SWAN) and each part of the results."""

    kinds: dict[tuple[str, Part], set[str]] = field(default_factory=dict)

    def add(
        self, criterion: str, system: str, topic: str, topic_type: str, trial: int | None, kinds: Iterable[str]
    ) -> None:
        """Add the kinds of sources of one trial, or of all trials of the topic if `trial` is None."""
        found = set(kinds)
        for part in product((topic, None), (topic_type, None), {trial, None}):
            self.kinds.setdefault((criterion, (system, *part)), set()).update(found)

    def scorer_names(self, criterion: str, part: Part) -> str | None:
        """Return the scorers of a part, as in `people, rules` or `models, unchecked`, or None if nothing was scored."""
        kinds = self.kinds.get((criterion, part), set())
        names = [name for kind, name in SCORERS.items() if kind in kinds]
        return ", ".join([*names, UNCHECKED] if "model" in kinds else names) or None
