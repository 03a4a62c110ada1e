"""Scores of breakdown predictions, compared with baselines that do not look at the turn.

A submission is never scored alone. On turns that are mostly breakdowns, a predictor that always says X has a high
F1(PB+B), and the distance between two halves of the annotators shows how close to the gold a predictor can be expected
to come.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.annotations.breakdown_files import AnnotatedTurn, BreakdownMaterial
from scoring.annotations.held_out import mean_of_others
from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import no_interval
from scoring.measures.breakdown import Figure, annotator_halves, figures, label_shares, likeliest_labels, rate_figures
from scoring.table import ScoreRow
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import generator

HeldOut = Literal["dialogue", "system"]

# The name of the rows with the gold's own rates.
GOLD = "annotators"

_SPLITS = 20  # on 4,150 turns the distance of one deal varies by 2%, the mean of twenty by 0.4%

# The predictors that a submission is compared with, each with its description.
BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "baseline: uniform": "one third each; its label is O, because of the order in ties",
        "baseline: always X": "calls every turn a breakdown",
        "baseline: prior": "the mean distribution of the other dialogues (or systems), or of --train",
        "baseline: prior of the system": "the same, over dialogues of the turn's own system only",
        "baseline: half the annotators": (
            f"one half as predictor, the other half as gold; mean of {_SPLITS} random splits"
        ),
    }
)


@dataclass(frozen=True, eq=False)
class _Predictor:
    """A predictor's predictions and the gold for comparison. `predicted` and `gold` are (deals · turns, 3), and the
    labels are (deals · turns,). `deals` is how many times the turns are repeated, each time with a different gold.
    `note` states the basis of the predictor."""

    name: str
    predicted: Floats
    gold: Floats
    labels: npt.NDArray[np.int64]
    gold_labels: npt.NDArray[np.int64]
    note: str = ""
    deals: int = 1

    def figures(self, where: npt.NDArray[np.bool_]) -> tuple[Figure, ...]:
        """Return the measures over the turns in `where`, with the two parts of each ratio averaged over the deals."""
        deals, here = self.deals, np.tile(where, self.deals)
        found = figures(self.predicted[here], self.gold[here], self.labels[here], self.gold_labels[here])
        if deals == 1:
            return found
        return tuple(
            Figure(
                figure.measure,
                figure.of,
                figure.above.reshape(deals, -1).mean(axis=0),
                figure.below.reshape(deals, -1).mean(axis=0),
                round(figure.n / deals),
            )
            for figure in found
        )


def breakdown_rows(
    material: BreakdownMaterial,
    *,
    training: Sequence[AnnotatedTurn] = (),
    held_out: HeldOut = "dialogue",
    seed: int = 0,
    level: float = 0.95,
    replications: int = 2000,
) -> tuple[ScoreRow, ...]:
    """Return rows in long form: all measures of each submission and each baseline, over all turns and then by system.

    `system` of a row is the predictor, and `topic_type` is the system whose turns were predicted, or None for all
    systems. `training` turns are for the priors. If there are no such turns, the prior of a turn is the mean of all
    other dialogues or, with held_out="system", of all other systems; the baseline by system is then left out. n counts
    turns (labels for precision, recall and F1), topics counts dialogues, and intervals resample dialogues.
    """
    if not 0 < level < 1:
        raise InputError(f"{level} is not a confidence level", allowed="a number between 0 and 1")
    turns = sorted(material.gold, key=lambda turn: (turn.dialogue, turn.turn))  # independent of the order of files
    counts = np.array([turn.counts for turn in turns], dtype=np.int64)
    gold = label_shares(counts)
    taken = {submission.name for submission in material.submissions} & {GOLD, *BASELINES}
    if taken:
        raise InputError(f"a submission cannot be called {min(taken)!r}", advice="rename its file or folder")
    predictors = [
        _Predictor(
            submission.name,
            np.array([submission.turns[turn.dialogue, turn.turn].probabilities for turn in turns]),
            gold,
            np.array([submission.turns[turn.dialogue, turn.turn].label for turn in turns], dtype=np.int64),
            likeliest_labels(counts),
        )
        for submission in material.submissions
    ]
    predictors += _baselines(turns, counts, gold, training, held_out, seed)
    dialogues = [turn.dialogue for turn in turns]
    resampler = Resampler(generator(seed, "breakdown"), replications=replications, level=level)
    # All turns, then each system's if there are several.
    systems = sorted({turn.system for turn in turns})
    scopes: list[tuple[str | None, npt.NDArray[np.bool_]]] = [(None, np.ones(len(turns), dtype=bool))]
    if len(systems) > 1:
        scopes += [(system, np.array([turn.system == system for turn in turns])) for system in systems]
    rows: list[ScoreRow] = []
    for predictor in predictors:
        for system, where in scopes:
            found = predictor.figures(where)
            if predictor.name not in BASELINES:
                found += rate_figures(predictor.predicted[where])
            rows += _rows(found, predictor.name, system, where, dialogues, resampler, level, predictor.note)
    for system, where in scopes:
        rows += _rows(
            rate_figures(gold[where]), GOLD, system, where, dialogues, resampler, level, "the gold's own rates"
        )
    return tuple(rows)


def _baselines(
    turns: Sequence[AnnotatedTurn],
    counts: npt.NDArray[np.int64],
    gold: Floats,
    training: Sequence[AnnotatedTurn],
    held_out: HeldOut,
    seed: int,
) -> Iterator[_Predictor]:
    uniform, always, prior, own, halves = BASELINES
    true = likeliest_labels(counts)

    def constant(name: str, rows: Floats, note: str) -> _Predictor:
        return _Predictor(name, rows, gold, likeliest_labels(rows), true, note)

    yield constant(uniform, np.full(gold.shape, 1 / 3), BASELINES[uniform])
    yield constant(always, np.tile([0.0, 0.0, 1.0], (len(turns), 1)), BASELINES[always])
    systems = [turn.system for turn in turns]
    if training:
        learnt = label_shares([turn.counts for turn in training])
        yield constant(prior, np.tile(learnt.mean(axis=0), (len(turns), 1)), "the mean of the training files")
        of = {system: learnt[[turn.system == system for turn in training]] for system in set(systems)}
        if all(len(rows) for rows in of.values()):
            by_system = np.array([of[system].mean(axis=0) for system in systems])
            yield constant(own, by_system, "the mean of the same system in the training files")
    else:
        units = [turn.dialogue if held_out == "dialogue" else turn.system for turn in turns]
        others = mean_of_others(gold, units)
        if not np.isnan(others).any():
            yield constant(prior, others, f"the mean of the other {held_out}s")
        same = mean_of_others(gold, units, systems)
        if not np.isnan(same).any():
            yield constant(own, same, "the mean of the same system's other dialogues")
    if (counts.sum(axis=1) >= 2).all():
        first, second = annotator_halves(np.tile(counts, (_SPLITS, 1)), generator(seed, "breakdown", "halves"))
        yield _Predictor(
            halves, first, second, likeliest_labels(first), likeliest_labels(second), BASELINES[halves], _SPLITS
        )


def _rows(
    found: Sequence[Figure],
    name: str,
    system: str | None,
    where: npt.NDArray[np.bool_],
    dialogues: Sequence[str],
    resampler: Resampler,
    level: float,
    note: str,
) -> Iterator[ScoreRow]:
    here = [dialogue for dialogue, inside in zip(dialogues, where, strict=True) if inside]
    units = list(dict.fromkeys(here))
    place = {unit: number for number, unit in enumerate(units)}
    rows = np.array([place[dialogue] for dialogue in here], dtype=np.int64)
    if not found:
        return
    above, below = (
        np.stack([np.bincount(rows, weights=side, minlength=len(units)) for side in sides], axis=1)
        for sides in ([figure.above for figure in found], [figure.below for figure in found])
    )
    top = [1.0 if figure.of.has_top else math.inf for figure in found]
    intervals = resampler.ratios(units, above[:, None], below[:, None], top=top)
    for column, (figure, interval) in enumerate(zip(found, intervals, strict=True)):
        if interval.note:  # the units are dialogues
            interval = no_interval(interval.note.replace("topic", "dialogue"))
        yield ScoreRow(
            measure=figure.measure,
            system=name,
            topic=None,
            topic_type=system,
            trial=None,
            value=figure.value,
            n=figure.n,
            topics=int((below[:, column] > 0).sum()),
            low=interval.low,
            high=interval.high,
            level=None if math.isnan(interval.low) else level,
            interval=interval.method or None,
            resampled="dialogues" if interval.method else None,
            note="; ".join(part for part in (note, interval.note) if part),
        )
