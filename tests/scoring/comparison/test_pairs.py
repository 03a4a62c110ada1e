"""Systems compared over common topics: what is aligned, what is said of each pair, and what it rests on."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from scoring.comparison.compared_pairs import compare_pairs
from scoring.comparison.pairs import MeasureComparison
from scoring.figure import Good
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.losses import fill_losses
from scoring.inference.needed import needed
from scoring.inference.paired import Estimand, compare_like_these
from tests.support.compared_worlds import allowed_errors, drawn_shares, lost_whole

Floats = npt.NDArray[np.float64]


def means(**systems: dict[str, list[float]]) -> dict[str, dict[Trial, Cell]]:
    """The cells of systems, from their values by topic."""
    return {
        system: {(topic, trial): (value, 1.0) for topic, each in own.items() for trial, value in enumerate(each, 1)}
        for system, own in systems.items()
    }


def compared(aligned: Aligned, good: Good = "high", estimand: Estimand = "like-these") -> MeasureComparison:
    rng = np.random.default_rng(1)
    return compare_pairs("M", None, aligned, rng, estimand=estimand, level=0.95, good=good, reach=1.0)


def without_topic(found: Aligned, topic: int) -> float:
    """The difference of the first two systems without a topic, by its definition."""
    rest = np.delete(np.arange(len(found.topics)), topic)
    with np.errstate(invalid="ignore"):
        one, other = (found.above[rest].sum(axis=0) / found.below[rest].sum(axis=0))[:2]
    assert np.array_equal(found.figures_without_each_topic()[topic, :2], [one, other], equal_nan=True)
    return float(one - other)


def test_every_topic_counts_equally_and_only_topics_that_all_systems_have_count() -> None:
    cells = means(
        A={"T1": [1, 0], "T2": [1, 1, 1, 0], "T3": [1], "T4": [math.nan]}, B={"T1": [0], "T2": [0, 1], "T4": [1]}
    )
    found = align(["T1", "T2", "T3", "T4"], ["A", "B"], cells, pooled=False)
    assert (found.topics, found.left_out) == (("T1", "T2"), ("T3", "T4"))
    assert found.figures.tolist() == [(0.5 + 0.75) / 2, (0 + 0.5) / 2]
    assert found.trials.tolist() == [[2, 1], [4, 2]]
    assert found.noise[1, 1] == np.var([0, 1], ddof=1) / 2
    assert math.isnan(found.noise[0, 1])
    assert without_topic(found, 0) == 0.25


def test_a_ratio_of_sums_weights_topics_by_their_share_of_it() -> None:
    cells: dict[str, dict[Trial, Cell]] = {
        "A": {("T1", 1): (1, 1), ("T1", 2): (0, 1), ("T2", 1): (1, 1), ("T2", 2): (0, 0), ("T3", 1): (0, 0)},
        "B": {("T1", 1): (0, 1), ("T1", 2): (0, 1), ("T2", 1): (0, 0), ("T2", 2): (0, 0), ("T3", 1): (0, 0)},
    }
    found = align(["T1", "T2", "T3"], ["A", "B"], cells, pooled=True)
    assert found.topics == ("T1", "T2"), "on T3 no first turn failed"
    assert found.figures.tolist() == [2 / 3, 0]
    assert found.values.mean(axis=0) == pytest.approx(found.figures)
    assert math.isnan(without_topic(found, 0)), "then B has no failed first turn"
    (pair,) = compared(found).pairs
    assert (pair.wins, pair.ties, pair.losses) == (1, 0, 0), "T2 has no figure of B"


@pytest.mark.parametrize("estimand", ["like-these", "these"])
def test_a_system_that_never_fails_has_no_recovery_and_the_others_are_compared(estimand: Estimand) -> None:
    """Without a failed first turn there is nothing to divide by: warnings are errors here."""
    rng, topics = np.random.default_rng(2), [f"T{row}" for row in range(6)]
    cells: dict[str, dict[Trial, Cell]] = {
        system: {(topic, trial): (float(rng.random() < rate), 1.0) for topic in topics for trial in (1, 2, 3)}
        for system, rate in (("B", 0.9), ("C", 0.2))
    }
    cells["A"] = {(topic, trial): (0.0, 0.0) for topic in topics for trial in (1, 2, 3)}
    found = compared(align(topics, ["A", "B", "C"], cells, pooled=True), estimand=estimand)
    assert math.isnan(found.figures["A"])
    assert [pair.verdict for pair in found.pairs] == ["no value", "no value", "better"]


def test_the_noise_of_a_ratio_is_its_variation_from_trial_to_trial() -> None:
    rng, drawn = np.random.default_rng(3), []
    for _ in range(400):
        failed = rng.random((3, 20)) < 0.6
        cells = {
            "A": {
                (f"T{row}", trial): (float(failed[row, trial] and rng.random() < 0.4), float(failed[row, trial]))
                for row in range(3)
                for trial in range(20)
            }
        }
        found = align(["T0", "T1", "T2"], ["A"], cells, pooled=True)
        drawn.append((found.figures[0], found.noise.sum() / 9))
    figures, variances = np.array(drawn).T
    assert np.mean(variances) == pytest.approx(np.var(figures, ddof=1), rel=0.25)


def test_the_better_system_is_named_by_the_good_end_of_the_measure() -> None:
    topics = [f"T{number}" for number in range(8)]
    cells = means(
        A={topic: [0.92 + 0.01 * i] for i, topic in enumerate(topics)}, B={topic: [0.0, 0.02] for topic in topics}
    )
    found = align(topics, ["A", "B"], cells, pooled=False)
    (high,), (low,), (neither,) = (compared(found, good).pairs for good in ("high", "low", "neither"))
    assert (high.verdict, low.verdict, neither.verdict) == ("better", "worse", "higher")
    assert (high.wins, low.wins, low.losses) == (8, 0, 8)
    assert compared(found).letters == {"A": "a", "B": "b"}
    assert compared(found, "low").letters == {"A": "b", "B": "a"}
    assert high.p == high.corrected == 2 / 2**8
    assert sum(one.share for one in high.drivers) == pytest.approx(1)
    assert high.drivers[0].topic == "T7"
    assert high.drivers[0].without == pytest.approx(without_topic(found, 7))
    (these,) = compared(found, estimand="these").pairs
    assert these.verdict == "cannot tell"
    assert "one trial only" in these.interval.note
    assert math.isnan(these.corrected)


def test_too_few_topics_for_any_p_are_reported() -> None:
    cells = means(A={f"T{i}": [1.0] for i in range(4)}, B={f"T{i}": [0.0] for i in range(4)})
    (pair,) = compared(align([f"T{i}" for i in range(4)], ["A", "B"], cells, pooled=False)).pairs
    assert (pair.verdict, pair.least, pair.corrected) == ("too few", 0.125, 0.125)
    (nothing,) = compared(align([], ["A", "B"], {}, pooled=False)).pairs
    assert (nothing.verdict, nothing.drivers) == ("no value", ())
    assert compared(align([], ["A", "B", "C"], {}, pooled=False)).letters == {"A": "", "B": "", "C": ""}


def test_similar_systems_share_letters_and_three_are_corrected_over_pairs() -> None:
    rng = np.random.default_rng(5)
    topics = [f"T{number}" for number in range(20)]
    own = {
        system: {topic: list(rng.random(4) * 0.2 + level) for topic in topics}
        for system, level in (("A", 0.2), ("B", 0.2), ("C", 0.7))
    }
    aligned = align(topics, ["A", "B", "C"], means(**own), pooled=False)
    for estimand in ("like-these", "these"):
        found = compared(aligned, estimand=estimand)
        assert found.letters["A"] == found.letters["B"] == "b"
        assert found.letters["C"] == "a"
        assert all(pair.corrected >= pair.p - 0.02 for pair in found.pairs)
        assert [pair.verdict for pair in found.pairs] == ["cannot tell", "worse", "worse"]


def errors_of_a_ratio(replications: int, topics: int, failed: tuple[float, ...]) -> int:
    """How often systems that recover alike are told apart. failed: how often the first turn of each fails."""
    rng, wrong = np.random.default_rng(7), 0
    names = [f"T{row}" for row in range(topics)]
    for _ in range(replications):
        recovering = drawn_shares(rng, topics, 0.45, mean=0.4)
        cells: dict[str, dict[Trial, Cell]] = {}
        for system, rate in enumerate(failed):
            first = rng.random((topics, 5)) < rate
            second = first & (rng.random((topics, 5)) < recovering[:, None])
            cells[f"S{system}"] = {
                (name, trial): (float(second[row, trial]), float(first[row, trial]))
                for row, name in enumerate(names)
                for trial in range(5)
            }
        found = compared(align(names, list(cells), cells, pooled=True))
        wrong += any(pair.is_distinguished for pair in found.pairs)
    return wrong


def test_systems_with_equal_recovery_are_seldom_told_apart_however_often_they_fail() -> None:
    assert errors_of_a_ratio(40, 15, (0.8, 0.2, 0.5)) <= allowed_errors(40, 0.05)


@pytest.mark.soak
@pytest.mark.parametrize("topics", [15, 45])
@pytest.mark.parametrize("failed", [(0.5, 0.5, 0.5), (0.8, 0.15, 0.5)])
def test_the_family_error_of_a_ratio(topics: int, failed: tuple[float, ...]) -> None:
    wrong = errors_of_a_ratio(1000, topics, failed)
    print(f"{topics} topics, first turns that fail {failed}: {wrong / 1000}")
    # Sides are exchanged as if alike systems were alike in all; these fail differently often, which costs half a point.
    assert wrong <= allowed_errors(1000, 0.06, 0.01)


@pytest.mark.parametrize("studies", [100, pytest.param(300, marks=pytest.mark.soak)])
def test_the_predicted_number_of_topics_or_trials_settles_a_difference_in_four_studies_of_five(
    studies: int,
) -> None:
    def answers(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Floats]:
        """(topics, 2) means and the variances of these: systems that differ by 6 points, and by topic."""
        base = 0.2 + 0.6 * drawn_shares(rng, topics, 0.45)
        chances = np.clip(base[:, None] + rng.normal([0.03, -0.03], 0.05, (topics, 2)), 0, 1)
        useful = rng.binomial(trials, chances) / trials
        return useful, useful * (1 - useful) / (trials - 1)

    def power(topics: int, trials: int) -> float:
        rng, found = np.random.default_rng(3), 0
        for _ in range(studies):
            each = answers(rng, topics, trials)[0] @ [1, -1]
            found += compare_like_these(each, rng, level=0.95, reach=1.0).interval.low > 0
        return found / studies

    means_, noise = answers(np.random.default_rng(1), 300_000, 5)
    of_topics = needed(means_ @ [1, -1], noise, np.full(noise.shape, 5), alpha=0.05, estimand="like-these", reach=1.0)
    assert power(int(of_topics.topics), 5) == pytest.approx(0.8, abs=0.08)
    # Eighty topics that have just the variances of the many.
    scores = stats.norm.ppf((np.arange(80) + 0.5) / 80)
    differences = means_ @ [1, -1]
    each = differences.mean() + differences.std() * scores / scores.std(ddof=1)
    of_trials = needed(
        each, np.tile(noise.mean(axis=0), (80, 1)), np.full((80, 2), 5), alpha=0.05, estimand="like-these", reach=1.0
    )
    assert power(80, int(of_trials.trials)) == pytest.approx(0.8, abs=0.08)


def lost_one_sidedly(share: float) -> MeasureComparison:
    """Systems alike, of which the second loses this share of its failures, as it does in every larger study."""
    rng = np.random.default_rng(5)
    topics = [f"T{number:02d}" for number in range(30)]
    cells: dict[str, dict[Trial, Cell]] = {"A": {}, "B": {}}
    gone: dict[str, int] = {}
    for topic in topics:
        for trial in range(1, 6):
            cells["A"][topic, trial] = (float(rng.random() < 0.6), 1.0)
            useful = rng.random() < 0.6
            if useful or rng.random() >= share:
                cells["B"][topic, trial] = (float(useful), 1.0)
            else:
                gone[topic] = gone.get(topic, 0) + 1
    lost = {"A": lost_whole({}, (0.0, 1.0), (1.0, 1.0)), "B": lost_whole(gone, (0.0, 1.0), (1.0, 1.0))}

    def extreme(low: str, high: str) -> Aligned:
        ends = {
            low: fill_losses(cells[low], lost[low], high=False),
            high: fill_losses(cells[high], lost[high], high=True),
        }
        return align(topics, ["A", "B"], {**cells, **ends}, pooled=False)

    return compare_pairs(
        "M",
        None,
        align(topics, ["A", "B"], cells, pooled=False),
        np.random.default_rng(1),
        estimand="like-these",
        level=0.95,
        good="high",
        reach=1.0,
        lost=lost,
        extreme=extreme,
    )


def test_no_number_of_topics_is_predicted_to_settle_what_losses_leave_open() -> None:
    (pair,) = lost_one_sidedly(0.5).pairs
    assert pair.verdict == "cannot tell"
    assert pair.bounds is not None
    assert np.isnan([pair.needed.topics, pair.needed.trials]).all()
    (whole,) = lost_one_sidedly(0.0).pairs
    assert whole.bounds is None
    assert whole.needed.topics > 30


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_no_number_is_predicted_to_settle_a_ratio_without_an_interval(failing: int) -> None:
    topics = [f"T{number:02d}" for number in range(20)]
    useful: Cell = (0.0, 0.0)
    seldom = {(topic, 1): (1.0, 1.0) if at < failing else useful for at, topic in enumerate(topics)}
    often = {(topic, 1): (float(at % 3 == 0), 1.0) for at, topic in enumerate(topics)}
    (pair,) = compared(align(topics, ["A", "B"], {"A": seldom, "B": often}, pooled=True)).pairs
    assert (pair.verdict, pair.interval.is_defined) == ("cannot tell", False)
    assert np.isnan([pair.needed.topics, pair.needed.trials]).all()


@pytest.mark.parametrize("failed", [2, 3])
def test_a_number_that_was_played_in_vain_is_not_predicted_to_settle_it(failed: int) -> None:
    """The failures of A are too few for its interval, though what they vary by alone would be settled by one trial."""
    rng = np.random.default_rng(failed)
    keys = [(f"T{at:02d}", trial) for at in range(20) for trial in range(1, 5)]
    seldom: dict[Trial, Cell] = {key: (1.0, 1.0) if at < failed else (0.0, 0.0) for at, key in enumerate(keys[::9])}
    useful: dict[Trial, Cell] = dict.fromkeys(keys, (0.0, 0.0))
    often: dict[Trial, Cell] = {key: (float(rng.random() < 0.4), 1.0) for key in keys[::2]}
    found = align(
        [f"T{at:02d}" for at in range(20)], ["A", "B"], {"A": useful | seldom, "B": useful | often}, pooled=True
    )
    (pair,) = compared(found, estimand="these").pairs
    assert (pair.verdict, pair.interval.is_defined) == ("cannot tell", True)
    assert not pair.needed.trials <= 4
