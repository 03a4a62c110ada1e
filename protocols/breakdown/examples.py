"""Annotated dialogues, and their turns as examples to train a breakdown detector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from protocols.breakdown.features import Utterance
from protocols.breakdown.moments import Moment, collect_moments
from topics.arrays import Floats

Shares = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class AnnotatedDialogue:
    """An annotated dialogue with the `turns` of both sides. `gold` maps the index of a turn to the shares of
    annotators who chose O, T and X. `again` has the shares of other annotators, if turns were annotated twice."""

    name: str
    system: str
    turns: tuple[Utterance, ...]
    gold: Mapping[int, Shares]
    again: Mapping[int, Shares] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Examples:
    """Annotated turns as n rows: n moments, gold shares (n, 3), shares of the other annotators (n, 3; NaN if there are
    none), and the n names of dialogues and systems."""

    moments: tuple[Moment, ...]
    gold: Floats
    again: Floats
    dialogues: tuple[str, ...]
    systems: tuple[str, ...]

    def select(self, mask: npt.NDArray[np.bool_]) -> "Examples":
        some = np.flatnonzero(mask)
        return Examples(
            tuple(self.moments[k] for k in some),
            self.gold[mask],
            self.again[mask],
            tuple(self.dialogues[k] for k in some),
            tuple(self.systems[k] for k in some),
        )


def collect_examples(dialogues: Sequence[AnnotatedDialogue]) -> Examples:
    """Return the annotated turns of all dialogues, sorted by name so that the order of files does not matter."""
    ordered = sorted(dialogues, key=lambda dialogue: dialogue.name)
    places = [(dialogue, at) for dialogue in ordered for at in sorted(dialogue.gold)]
    unknown = (np.nan, np.nan, np.nan)
    return Examples(
        tuple(moment for dialogue in ordered for moment in collect_moments(dialogue.turns, sorted(dialogue.gold))),
        np.array([dialogue.gold[at] for dialogue, at in places], dtype=np.float64).reshape(-1, 3),
        np.array([dialogue.again.get(at, unknown) for dialogue, at in places], dtype=np.float64).reshape(-1, 3),
        tuple(dialogue.name for dialogue, _ in places),
        tuple(dialogue.system for dialogue, _ in places),
    )
