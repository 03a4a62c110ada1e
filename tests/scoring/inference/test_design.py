"""What hangs together in a figure: clusters of topics, sessions that go on, and trials of these topics."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from scoring.inference.bootstrap import Resampler
from scoring.inference.design import INDEPENDENT, Design, combine_intervals, too_few_sessions_reason
from scoring.inference.interval import Interval, no_interval
from scoring.measures.usefulness import Share, share
from scoring.stochastic.failures import rate_of
from tests.support.dependence_worlds import Played, clustered, in_sessions
from tests.support.kept_cells import keep_cells

Floats = npt.NDArray[np.float64]


def names(count: int) -> list[str]:
    return [f"T{number}" for number in range(count)]


def of(values: Floats, design: Design, *, below: Floats | None = None, pooled: bool = False) -> Share:
    bottom = np.where(np.isnan(values), np.nan, 1.0) if below is None else below
    lost = np.zeros(values.shape, dtype=bool)
    return share(names(len(values)), values, bottom, lost, level=0.95, pooled=pooled, design=design)


def mean(values: Floats, design: Design) -> Interval:
    drawn = Resampler(np.random.default_rng(0), replications=800).with_design(design)
    return drawn.means(names(len(values)), values[:, :, None])[0]


def held(here: Played, design: Design, truth: Floats | float) -> float:
    """The least coverage of printed intervals, of shares and of means."""
    known = np.broadcast_to(truth, len(here.values))
    shares = [of(values, design).interval for values in here.values]
    drawn = Resampler(np.random.default_rng(0), replications=600).with_design(design)
    means = drawn.means(names(here.values.shape[1]), np.moveaxis(here.values, 0, -1))
    each = [
        [one.contains(true) for one, true in zip(own, known, strict=True) if one.is_defined] for own in (shares, means)
    ]
    return float(min(np.mean(one) for one in each))


def as_design(clusters: tuple[int, ...]) -> Design:
    return Design(clusters={f"T{row}": f"C{number}" for row, number in enumerate(clusters)})


@pytest.mark.parametrize(
    ("topics", "trials", "sizes"),
    keep_cells([(45, 5, (5,)), (200, 1, (5,)), (45, 2, (1, 1, 2, 5)), (45, 5, (2, 10))], 2),
)
@pytest.mark.parametrize("rare", [False, True])
def test_intervals_are_valid_under_clusters_where_intervals_of_topics_are_not(
    topics: int, trials: int, sizes: tuple[int, ...], rare: bool
) -> None:
    rng = np.random.default_rng([topics, trials])
    law = (lambda drawn, shape: np.where(drawn.random(shape) < 0.1, 0.1, 0.95)) if rare else None
    here = clustered(rng, (120, topics, trials), sizes=sizes, law=law)
    assert held(here, as_design(here.clusters), here.like_these) >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 120)
    assert held(here, INDEPENDENT, here.like_these) < 0.93


@pytest.mark.parametrize(("topics", "sessions"), keep_cells([(8, 4), (45, 5), (15, 10)], 0))
@pytest.mark.parametrize(("spread", "broken"), [(0.15, 0.0), (0.3, 0.0), (0.05, 0.2)])
def test_intervals_are_valid_for_sessions_with_a_state(
    topics: int, sessions: int, spread: float, broken: float
) -> None:
    rng = np.random.default_rng([topics, sessions])
    here = in_sessions(rng, (120, topics, sessions), spread=spread, broken=broken)
    limit = 0.93 - 2 * math.sqrt(0.93 * 0.07 / 120)
    assert held(here, Design(continued=True), here.like_these) >= limit
    assert held(here, Design(continued=True, estimand="these"), here.these) >= limit


def test_clusters_of_one_topic_each_change_nothing() -> None:
    values = (np.random.default_rng(1).random((12, 3)) < 0.7).astype(float)
    alone = as_design(tuple(range(12)))
    assert of(values, alone) == of(values, INDEPENDENT)
    assert mean(values, alone) == mean(values, INDEPENDENT)


def test_topics_of_a_cluster_count_once_and_the_value_is_unchanged() -> None:
    rng = np.random.default_rng(2)
    rates = rng.beta(1.2, 0.8, 9)
    values = (rng.random((45, 5)) < np.repeat(rates, 5)[:, None]).astype(float)
    alone, together = of(values, INDEPENDENT), of(values, as_design(tuple(np.repeat(range(9), 5).tolist())))
    assert together.value == alone.value
    assert (together.topics, together.units, alone.units) == (45, 9, 45)
    assert together.interval.resampled == "clusters"
    assert together.interval.high - together.interval.low > 1.5 * (alone.interval.high - alone.interval.low)


def test_the_interval_of_clusters_is_that_of_their_sums() -> None:
    """Three topics of a cluster are a unit with three quarters, and so on: a ratio of sums over units."""
    values = np.array([[1, 1], [1, 0], [0, 0], [1, 1], [1, 1], [1, 0]], dtype=float)
    found = of(values, as_design((0, 0, 1, 2, 3, 4))).interval
    above, below = np.array([[1.5], [0.0], [1.0], [1.0], [0.5]]), np.array([[2.0], [1.0], [1.0], [1.0], [1.0]])
    lost = np.zeros((5, 1), dtype=bool)
    whole = share(names(5), above, below, lost, level=0.95, pooled=True).interval
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), abs=0.02)


def test_one_cluster_says_nothing_about_others() -> None:
    found = of(np.ones((5, 3)), as_design((0,) * 5)).interval
    assert not found.is_defined
    assert "one cluster" in found.note
    assert "3 clusters: too few" in mean(np.random.default_rng(0).random((6, 2)), as_design((0, 0, 1, 1, 2, 2))).note


@pytest.mark.parametrize("sessions", [1, 3])
@pytest.mark.parametrize("estimand", ["like-these", "these"])
def test_fewer_than_four_sessions_are_refused_with_the_message_of_a_comparison(sessions: int, estimand: str) -> None:
    design = Design(continued=True, estimand=estimand)  # type: ignore[arg-type]
    values = (np.random.default_rng(3).random((10, sessions)) < 0.7).astype(float)
    why = too_few_sessions_reason(sessions)
    assert why
    assert of(values, design).interval.note == why
    assert of(values, design, pooled=True).interval.note == why
    assert mean(values, design).note == why


def test_within_one_topic_sessions_are_independent() -> None:
    values = (np.random.default_rng(4).random((1, 20)) < 0.7).astype(float)
    lost = np.zeros((20, 1), dtype=bool)
    plain, goes_on = (
        share(names(20), values.T, np.ones((20, 1)), lost, level=0.95, pooled=False, unit="trial", design=design)
        for design in (INDEPENDENT, Design(continued=True))
    )
    assert plain == goes_on


def test_distances_over_topics_and_sessions_are_squared_and_added() -> None:
    found = combine_intervals(
        0.5, Interval(0.2, 0.9, "m topic", "topics"), Interval(0.1, 0.8, "m session", "sessions"), bottom=0
    )
    assert (found.low, found.high) == pytest.approx((0.0, 1.0))
    assert found.resampled == "topics+sessions"
    refused = no_interval("no")
    assert combine_intervals(0.5, refused, found) is refused


def test_a_rate_without_any_event_has_the_interval_of_clusters() -> None:
    nothing = np.zeros((10, 3))
    alone, together = (
        rate_of(names(10), nothing, design=one) for one in (INDEPENDENT, as_design((0,) * 5 + tuple(range(1, 6))))
    )
    assert (alone.units, together.units) == (10, 6)
    assert together.highest > alone.highest
    assert "6 clusters" in together.note
    assert "never seen" in rate_of(names(10), np.zeros((10, 5)), design=Design(continued=True)).note
