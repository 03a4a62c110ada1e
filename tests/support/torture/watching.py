"""Engines of `harvest watch run`: an audit held against blessed runs."""

import math

import numpy as np

from harvest.studies.watch.dependence import BLESSED_P
from harvest.studies.watch.history import MATTERS
from scoring.inference.drift import Baseline, difference
from scoring.inference.in_time import time_dependence
from tests.support.torture.cells import Engine, Said, Size
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World

LEVEL = 0.95
SIZES: tuple[Size, ...] = tuple(
    (topics, trials, runs + 1) for topics, trials in ((8, 5), (15, 5), (45, 5)) for runs in (1, 2, 4, 8)
)
"""The systems of a study are its runs; the last one is the audit."""


def baseline_of(study: Study) -> tuple[Baseline, str]:
    """What `harvest watch bless` keeps of all runs but the last, and what it says of their times."""
    blessed = study.values[:-1]
    joined = np.swapaxes(blessed, 0, 1).reshape(blessed.shape[1], -1)
    counts = np.full(len(joined), float(joined.shape[1]))
    variances = joined.var(axis=1, ddof=1) if joined.shape[1] > 1 else np.full(len(joined), np.nan)
    said, inflation = "", 1.0
    if study.times is not None:
        trials = blessed.shape[-1]
        found = time_dependence(blessed.reshape(-1, trials), study.times[:-1].reshape(-1, trials))
        if found.p <= BLESSED_P:
            said, inflation = found.note or "trials are alike", found.inflation
    return Baseline(joined.mean(axis=1), variances, counts, blessed.mean(axis=(1, 2)), inflation), said


def changed(world: World, study: Study) -> list[Said]:
    """The difference of audit and baseline for these topics, over runs like these; the verdict is "same"."""
    truth = float(study.means[-1].mean() - study.means[0].mean())
    audit = [topic[~np.isnan(topic)] for topic in study.values[-1]]
    baseline, warning = baseline_of(study)
    found = difference(baseline, audit, matters=MATTERS, level=LEVEL)
    interval = found.interval
    low, high = (interval.low, interval.high) if interval.is_defined else (math.nan, math.nan)
    wrong = found.same and abs(truth) >= MATTERS - 1e-9
    return [Said(truth, low, high, warning if interval.is_defined else interval.note, math.nan, found.same, wrong)]


ENGINES = (Engine("reaudit, difference and same", frozenset({Kind.WATCH}), changed, SIZES),)
