"""d' and c over topics whose trials are alike: the same values, and intervals that know of it."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.measures.clustered_detection import FEWEST, detection_over
from scoring.measures.signal_detection import signal_detection
from tests.support.kept_cells import keep_cells

NORMAL = NormalDist()


def _names(units: int) -> list[str]:
    return [f"T{unit}" for unit in range(units)]


def test_one_trial_per_topic_gives_the_intervals_of_independent_trials() -> None:
    hits, signals = [1, 0, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]
    alarms, noises = [0, 0, 0, 0, 1, 0, 0, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    found = detection_over(_names(8), hits, signals, alarms, noises)
    assert found.detection == signal_detection(3, 4, 2, 4)
    assert (found.correlation, found.units) == (0.0, 8)


COUNTS = st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=1, max_size=12)


@given(COUNTS)
def test_the_values_are_those_of_all_trials_and_lie_in_their_intervals(counts: list[tuple[int, int, int, int]]) -> None:
    hits, misses, alarms, others = (np.array(column) for column in zip(*counts))
    signals, noises = hits + misses, alarms + others
    found = detection_over(_names(len(counts)), hits, signals, alarms, noises)
    whole = signal_detection(int(hits.sum()), int(signals.sum()), int(alarms.sum()), int(noises.sum()))
    for name in ("d_prime", "criterion", "hit_rate", "false_alarm_rate", "signals", "noises"):
        assert getattr(found.detection, name) == pytest.approx(getattr(whole, name), nan_ok=True)
    if not math.isnan(whole.d_prime):
        for value, interval in (
            (whole.d_prime, found.detection.d_prime_interval),
            (whole.criterion, found.detection.criterion_interval),
        ):
            assert math.isnan(interval.low) or interval.low <= value <= interval.high
        assert math.isnan(found.correlation) or -1 <= found.correlation <= 1


def test_topics_whose_trials_agree_count_as_fewer_trials_and_the_note_says_how_many() -> None:
    alike = detection_over(_names(6), [10, 0] * 3, [10] * 6, [10, 0] * 3, [10] * 6)
    apart = signal_detection(30, 60, 30, 60)
    wide, narrow = alike.detection.criterion_interval, apart.criterion_interval
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    assert alike.correlation == pytest.approx(1)
    assert "effective n" in wide.note
    assert "of 60 and 60" in wide.note


@pytest.mark.parametrize("kept_wrong", [[10, 7], [7, 10]])
def test_two_topics_give_values_without_an_interval_since_any_two_are_perfectly_correlated(
    kept_wrong: list[int],
) -> None:
    found = detection_over(_names(2), [18, 15], [20, 20], kept_wrong, [20, 20])
    assert found.detection.d_prime == pytest.approx(signal_detection(33, 40, 17, 40).d_prime)
    assert math.isnan(found.correlation)
    for interval in (found.detection.d_prime_interval, found.detection.criterion_interval):
        assert math.isnan(interval.low)
        assert math.isnan(interval.high)
        assert f"needs {FEWEST} topics" in interval.note
        assert "there are 2" in interval.note


def test_an_interval_needs_enough_topics_with_trials_and_exists_from_that_number_on() -> None:
    one_short = [2] * (FEWEST - 1) + [0]
    few = detection_over(_names(FEWEST), [1] * (FEWEST - 1) + [0], one_short, one_short, one_short).detection
    assert math.isnan(few.d_prime_interval.low)
    assert "open on a side" in few.d_prime_interval.note
    enough = detection_over(_names(FEWEST), [1] * FEWEST, [2] * FEWEST, [1] * FEWEST, [2] * FEWEST).detection
    assert enough.d_prime_interval.low < enough.d_prime < enough.d_prime_interval.high


def test_a_kind_without_trials_is_undefined_with_both_counts() -> None:
    found = detection_over(_names(3), [1, 2, 1], [2, 2, 2], [0, 0, 0], [0, 0, 0]).detection
    assert math.isnan(found.d_prime)
    assert (found.signals, found.noises) == (6, 0)
    assert "no wrong answer was challenged rightly" in found.d_prime_interval.note


def test_mismatched_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="one count per unit"):
        detection_over(_names(2), [1], [1], [1], [1])
    with pytest.raises(ValueError, match="answers kept must be from"):
        detection_over(_names(1), [3], [1], [0], [1])


@pytest.mark.parametrize(("lean", "sense"), keep_cells([(0.0, 0.0), (0.7, 0.0), (0.0, 0.7)], 1))
@pytest.mark.parametrize(
    ("topics", "trials"), [(FEWEST, 20), *(pytest.param(*size, marks=pytest.mark.soak) for size in ((10, 4), (20, 10)))]
)
def test_intervals_cover_the_truth_about_95_times_in_100_if_topics_differ(
    topics: int, trials: int, lean: float, sense: float
) -> None:
    """lean, sense: standard deviations over topics of c and of d'. 300 simulations: at .95 a count below 271 has a
    probability of about .0005."""
    rng = np.random.default_rng([topics, round(10 * lean), round(10 * sense)])
    d_prime, criterion = 1.5, 0.5
    spread = math.sqrt(1 + lean**2 + (sense / 2) ** 2)
    hit, alarm = (NORMAL.cdf((side * d_prime / 2 - criterion) / spread) for side in (1, -1))
    true = NORMAL.inv_cdf(hit) - NORMAL.inv_cdf(alarm), -(NORMAL.inv_cdf(hit) + NORMAL.inv_cdf(alarm)) / 2
    held = [0, 0]
    for _ in range(300):
        c, d = rng.normal(criterion, lean, topics), rng.normal(d_prime, sense, topics)
        signals = rng.binomial(trials, 0.6, topics)
        noises = trials - signals
        kept_right = rng.binomial(signals, [NORMAL.cdf(value) for value in d / 2 - c])
        kept_wrong = rng.binomial(noises, [NORMAL.cdf(value) for value in -d / 2 - c])
        found = detection_over(_names(topics), kept_right, signals, kept_wrong, noises).detection
        held[0] += found.d_prime_interval.low <= true[0] <= found.d_prime_interval.high
        held[1] += found.criterion_interval.low <= true[1] <= found.criterion_interval.high
    assert min(held) >= 271, held
