"""Engines of judgments: preferences of pairs, alpha, and a judge that people correct."""

import math

import numpy as np

from scoring.annotations.agreement import agreement
from scoring.inference.interval import Interval
from scoring.inference.prediction_powered import (
    FEWEST_OF_PEOPLE,
    ComparedItems,
    compare_with_half,
    corrected_mean,
    is_side_preferred,
)
from tests.support.torture.cells import Engine, Said, Size
from tests.support.torture.classical import student, topic_means
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World
from topics.identity import generator

LEVEL = 0.95
PREFERENCES: tuple[Size, ...] = ((8, 3, 1), (15, 1, 1), (15, 3, 1), (45, 1, 1), (45, 3, 1))
JUDGES: tuple[Size, ...] = tuple((units, 1, judges) for units in (15, 45, 200) for judges in (2, 3, 5))
CORRECTED: tuple[Size, ...] = ((8, 5, 2), (15, 5, 2), (45, 5, 2))


def said_of(interval: Interval, truth: float, reference: float = math.nan) -> Said:
    """A figure without a verdict."""
    low, high = (interval.low, interval.high) if interval.is_defined else (math.nan, math.nan)
    return Said(truth, low, high, "" if interval.is_defined else interval.note, reference)


def preferred(world: World, study: Study) -> list[Said]:
    """How far the first system is preferred, and whether one is called so."""
    truth = world.truth("mean", study)
    true = math.nan if truth is None else float(truth[0])
    means = topic_means(study)[0]
    clusters = None if study.clusters is None else study.clusters.tolist()
    found = compare_with_half(means, generator(0, "preferences"), level=LEVEL, clusters=clusters)
    low, high = student(means)
    said = said_of(found.interval, true, high - low)
    told = is_side_preferred(found.interval, found.p, level=LEVEL)
    wrong = told and (abs(true - 0.5) < 1e-9 or (found.value - 0.5) * (true - 0.5) < 0)
    return [Said(said.truth, said.low, said.high, said.reason, said.reference, told, wrong)]


def alpha(world: World, study: Study) -> list[Said]:
    """Krippendorff's alpha of all judges, one thing a unit."""
    (truth,) = study.exact.values()
    columns = study.values[..., 0].T
    found = agreement([[float(one) for one in column if not math.isnan(one)] for column in columns], level=LEVEL)
    return [said_of(found.interval, float(truth[0]))]


def corrected(world: World, study: Study) -> list[Said]:
    """What people would say of all, from what they say of some and the judge of all."""
    truth = world.truth("mean", study)
    true = math.nan if truth is None else float(truth[0])
    people, judge = study.values
    topics = [
        ComparedItems(own, said, np.ones(len(own)))
        for own, said in zip(judge, people, strict=True)
        if np.isfinite(said).any()
    ]
    if any(one.checked < FEWEST_OF_PEOPLE for one in topics):
        return [Said(true, reason="people judged fewer than two conversations of a topic")]
    return [said_of(corrected_mean(topics, level=LEVEL).interval, true)]


ENGINES = (
    Engine("preference", frozenset({Kind.PREFERENCES}), preferred, PREFERENCES),
    Engine("alpha", frozenset({Kind.JUDGES}), alpha, JUDGES),
    Engine("corrected judge", frozenset({Kind.CORRECTED}), corrected, CORRECTED),
)
