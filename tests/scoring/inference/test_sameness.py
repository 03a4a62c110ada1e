"""So many topics, or trials, show two systems to be the same within a margin: counted in studies of that size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scoring.inference.paired import compare_like_these, compare_these
from scoring.inference.sameness import Sameness, sameness
from scoring.settings import Guard
from topics.arrays import Floats
from topics.identity import generator

TRIALS = 5
MARGIN = 0.08
STUDIES = 60  # so that a share of .8 has a standard error of .05


def draw(topics: int, trials: int, shift: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Answers of two systems, (topics, trials) each: topics differ, and one system is better by `shift` everywhere."""
    means = rng.uniform(0.75, 0.95, topics)[:, None]
    first, second = (rng.random((topics, trials)) < mean for mean in (means + shift, means))
    return first.astype(np.float64), second.astype(np.float64)


def differences(topics: int, trials: int, shift: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The differences of topics, (T,), and the variance of each side's mean, (T, 2)."""
    sides = draw(topics, trials, shift, rng)
    return sides[0].mean(axis=1) - sides[1].mean(axis=1), np.stack(
        [one.var(axis=1, ddof=1) for one in sides], 1
    ) / trials


def pilot(shift: float, estimand: str, guard: Guard) -> Sameness:
    each, noise = differences(4000, TRIALS, shift, generator(0, "pilot", str(shift)))
    found = sameness(
        each,
        noise,
        np.full(noise.shape, TRIALS),
        alpha=0.05,
        estimand=estimand,  # type: ignore[arg-type]
        reach=1.0,
        guard=guard,
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("shift", "guard"),
    [
        (0.0, "unseen"),
        (0.02, "none"),
        pytest.param(0.02, "unseen", marks=pytest.mark.soak),
        pytest.param(0.0, "none", marks=pytest.mark.soak),
    ],
)
def test_so_many_topics_show_it_in_four_studies_of_five(shift: float, guard: Guard) -> None:
    topics = int(pilot(shift, "like-these", guard).needed(MARGIN).topics)

    def share(number: int) -> float:
        shown = 0
        for study in range(STUDIES):
            rng = generator(study, "studies", str(shift), guard)
            each, _ = differences(number, TRIALS, shift, rng)
            found = compare_like_these(each, rng, level=0.95, reach=1.0, guard=guard).interval
            shown += max(abs(found.low), abs(found.high)) <= MARGIN
        return shown / STUDIES

    assert share(topics) == pytest.approx(0.8, abs=0.15), topics
    assert share(topics // 2) < 0.5


def test_so_many_trials_of_these_topics_show_it_in_four_studies_of_five() -> None:
    whole = pilot(0.0, "these", "unseen")
    few = Sameness(0.0, 40, TRIALS, whole.deviation, whole.within, whole.far, 0.05, "these")
    trials = int(few.needed(0.05).trials)
    shown = 0
    for study in range(STUDIES):
        rng = generator(study, "studies of these")
        each, noise = differences(40, trials, 0.0, rng)
        found = compare_these(each, noise, np.full(noise.shape, trials), level=0.95).interval
        shown += max(abs(found.low), abs(found.high)) <= 0.05
    assert shown / STUDIES == pytest.approx(0.8, abs=0.15), trials
    assert math.isnan(few.needed(0.05).topics)


def test_what_is_not_smaller_than_the_margin_is_never_shown_to_be_and_what_is_unknown_is_not_said() -> None:
    assert pilot(0.02, "like-these", "unseen").needed(0.017).topics == math.inf
    nothing = {"alpha": 0.05, "estimand": "like-these", "reach": 1.0, "guard": "unseen"}
    assert sameness([0.1], [[0.1, 0.1]], [[5, 5]], **nothing) is None  # type: ignore[arg-type]
    assert sameness([0.1, math.nan], [[0.1, 0.1]] * 2, [[5, 5]] * 2, **nothing) is None  # type: ignore[arg-type]
    assert sameness([0.1, 0.2], [[0.1, 0.1]] * 2, [[5, 5]] * 2, **{**nothing, "reach": math.inf}) is None  # type: ignore[arg-type]
    equal = sameness([0.0] * 50, np.zeros((50, 2)), np.full((50, 2), 5), **nothing)  # type: ignore[arg-type]
    assert equal is not None
    assert 50 < equal.needed(0.05).topics < 200, "topics that never differed say nothing of one that was not asked"
