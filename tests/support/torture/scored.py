"""Engines of `harvest score`: figures of one system, with the design that a run declares."""

import math

import numpy as np

from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design, Estimand
from scoring.inference.in_time import WIDENED_P, time_dependence
from scoring.inference.interval import Interval, no_interval
from scoring.measures.usefulness import FEWEST_FAILED, share
from tests.support.torture.cells import Engine, Said
from tests.support.torture.classical import ONE, student, topic_means
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World
from topics.counting import pluralize
from topics.identity import generator

LEVEL = 0.95
FIGURES = frozenset({Kind.SHARE, Kind.SCORE, Kind.UNBOUNDED, Kind.TURNS})
GROUPS = frozenset(
    {
        "independent",
        "high mean",
        "rare bad topics",
        "rare good topics",
        "few kinds of topics",
        "ties",
        "zero-inflated",
        "light tails",
        "heavy tails",
        "heavy trials",
        "trials of unequal spread",
        "clusters of topics",
        "sessions",
        "trials in time",
        "recovery",
        "copied trials",
        "one system at an end",
        "recovery at an end",
        "unequal numbers of trials",
    }
)
"""Without losses that depend on values, of which `score` prints what they leave open."""


def design_of(study: Study, system: int, estimand: Estimand) -> tuple[Design, str]:
    """What a run would declare and its times would show, and the sentence that is printed of them."""
    clusters = {} if study.clusters is None else {f"T{at:03d}": str(one) for at, one in enumerate(study.clusters)}
    found = None if study.times is None else time_dependence(study.values[system], study.times[system])
    inflation = found.inflation if found is not None and found.p <= WIDENED_P else 1.0
    design = Design(clusters, study.continued, estimand, inflation)
    return design, "" if found is None else found.note


def interval_of(study: Study, system: int, kind: Kind, design: Design, fewest: int = 0) -> Interval:
    """As it is printed of a measure with a value on `fewest` topics like these."""
    values = study.values[system]
    topics = [f"T{at:03d}" for at in range(len(values))]
    lost = np.isnan(values)
    if study.second is not None:
        failed = np.where(lost, np.nan, values == 0)
        recovered = np.where(failed == 1, study.second[system], np.where(lost, np.nan, 0.0))
        found = share(topics, recovered, failed, lost, level=LEVEL, pooled=True, design=design)
        if 0 < found.units < FEWEST_FAILED and found.interval.is_defined:
            return no_interval(f"{pluralize(found.units, 'topic')} with a first turn that failed, too few")
        return found.interval
    if kind is Kind.SHARE:
        below = np.where(lost, np.nan, 1.0)
        return share(topics, values, below, lost, level=LEVEL, pooled=False, design=design).interval
    resampler = Resampler(generator(0, "torture"), level=LEVEL).with_design(design)
    top = math.inf if kind is Kind.UNBOUNDED else 1.0
    return resampler.means(topics, values[..., None], top=top, fewest=fewest)[0]


def scored(world: World, study: Study, estimand: Estimand) -> list[Said]:
    """Every system's figure; the reference of a width is the t interval over topics."""
    pooled = study.second is not None
    name = ("recovery" if pooled else "mean") + (" of these" if estimand == "these" else "")
    truth, means, said = world.truth(name, study), topic_means(study), []
    for system in range(len(study.values)):
        design, warning = design_of(study, system, estimand)
        found = interval_of(study, system, world.kind, design, world.fewest)
        low, high = student(means[system])
        reference = high - low if estimand == "like-these" and not pooled else math.nan
        ends = (found.low, found.high) if found.is_defined else (math.nan, math.nan)
        true = math.nan if truth is None else float(truth[system])
        said.append(Said(true, *ends, warning if found.is_defined else found.note, reference))
    return said


def like_these(world: World, study: Study) -> list[Said]:
    """Of topics like these."""
    return scored(world, study, "like-these")


def these(world: World, study: Study) -> list[Said]:
    """Of these topics."""
    return scored(world, study, "these")


ENGINES = (
    Engine("score, topics like these", FIGURES, like_these, (*ONE, (1, 60, 1)), GROUPS),
    Engine("score, these topics", FIGURES, these, (*ONE, (1, 60, 1)), GROUPS),
)
