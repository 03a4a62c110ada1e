"""Trials of a watch that are alike if they are near each other in time.

A watch takes the trials of an audit as independent, given the audit. Load, caches and a provider's switch between
models break this if they last for a part of an audit. If the blessed runs show it, all intervals are as much wider as
the mean of such trials varies more; a single audit hardly shows it, and only a warning is given.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_figures import Figure, figure_cells
from harvest.tables.comparison_words import p_text
from recordings.files.times import unix_seconds
from scoring.inference.in_time import time_dependence
from scoring.settings import Settings
from topics.decimals import decimal

# The largest p that is reported of blessed runs, which are tested once, and of an audit, one of many.
BLESSED_P = 0.01
AUDIT_P = 0.002

_Row = tuple[list[float], list[float]]


def dependence_in_time(
    system: str, materials: Sequence[Material], figures: Sequence[Figure], settings: Settings, *, p: float
) -> tuple[str, float]:
    """Return how trials of a system that are near each other in time are alike, such as "ave%useful, lag 1 0.35,
    p <.001", and the factor by which that increases the variance of a mean. Returns ("", 1.0) if the p of the clearest
    of `figures`, corrected for their number, is above `p`.

    Each topic of each run has its own mean, so a difference between topics or between runs is no dependence.
    """
    found = []
    for figure in figures:
        rows = [row for material in materials for row in _rows(system, material, figure, settings)]
        shape = len(rows), max((len(own) for own, _ in rows), default=0)
        values, times = np.full(shape, math.nan), np.full(shape, math.nan)
        for at, (own, began) in enumerate(rows):
            values[at, : len(own)], times[at, : len(own)] = own, began
        found.append((time_dependence(values, times), figure.name))
    if not found:
        return "", 1.0
    clearest, name = min(found, key=lambda one: one[0].p)
    corrected = len(found) * clearest.p
    if corrected > p:
        return "", 1.0
    return f"{name}, lag 1 {decimal(clearest.lag, 2)}, p {p_text(corrected)}", clearest.inflation


def _rows(system: str, material: Material, figure: Figure, settings: Settings) -> Iterator[_Row]:
    """Yield the values and the times in seconds of the trials of each topic; NaN for an unknown time."""
    began = {
        (one.key.topic, one.key.trial): at if math.isfinite(at := unix_seconds(one.started_at)) else math.nan
        for one in material.finished
        if one.key.system == system
    }
    rows: dict[str, _Row] = {}
    for trial, (above, below) in figure_cells(system, material, [figure], settings).get(figure.key, {}).items():
        if below > 0 and not math.isnan(above):
            values, times = rows.setdefault(trial[0], ([], []))
            values.append(above / below)
            times.append(began[trial])
    yield from rows.values()
