"""Systems compared by standardised scores: the figures, the topics without any, and where there is no interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from scoring.comparison.compared_pairs import compare_pairs
from scoring.comparison.pairs import MeasureComparison
from scoring.comparison.standardised import Standardised, compare_standardised
from scoring.inference.aligned import align
from scoring.inference.interval import no_interval
from scoring.inference.paired import Estimand
from scoring.statistics.standardisation import Standard, standardise
from tests.support.kept_cells import keep_cells
from topics.arrays import Floats

NAMES = ("A", "B", "C", "D")

# Draws (topics, 4) scores.
Law = Callable[[np.random.Generator, int], Floats]


def plain(table: Floats, systems: Sequence[str] = NAMES, estimand: Estimand = "like-these") -> MeasureComparison:
    """The comparison of (topics, systems) scores, each with two equal trials."""
    cells = {
        name: {(f"T{row:02}", trial): (value, 1.0) for row, value in enumerate(table[:, at]) for trial in (1, 2)}
        for at, name in enumerate(NAMES)
        if name in systems
    }
    aligned = align([f"T{row:02}" for row in range(len(table))], systems, cells, pooled=False)
    rng = np.random.default_rng(1)
    return compare_pairs("M", None, aligned, rng, estimand=estimand, level=0.95, good="high", reach=math.inf)


def standardised(
    table: Floats,
    form: Standard = "std-AB",
    systems: Sequence[str] = ("A", "B"),
    reference: Sequence[str] = NAMES,
    of: MeasureComparison | None = None,
    **more: object,
) -> Standardised:
    scores = {
        name: {f"T{row:02}": float(value) for row, value in enumerate(table[:, at]) if value == value}
        for at, name in enumerate(NAMES)
    }
    return compare_standardised(
        of or plain(table, systems),
        scores,
        reference,
        np.random.default_rng(2),
        form=form,
        level=0.95,
        good="high",
        guard="unseen",
        **more,  # type: ignore[arg-type]
    )


def test_figures_and_differences_by_hand() -> None:
    """Mean 2 and sd √(2/3), then mean 30 and sd 1: A has z = √1.5 on both topics, and B has 0 and -√1.5."""
    table = np.array([[3.0, 2.0, 1.0, 2.0], [30 + math.sqrt(1.5), 30 - math.sqrt(1.5), 30, 30]])
    found = standardised(table).measure
    assert (found.measure, found.label, found.standardised, found.trials) == ("std-AB(M)", "std-AB(M)", True, (2, 2))
    far = 0.15 * math.sqrt(1.5)
    assert found.figures == pytest.approx({"A": 0.5 + far, "B": 0.5 - far / 2})
    (pair,) = found.pairs
    assert pair.value == pytest.approx(1.5 * far)
    assert (pair.wins, pair.ties, pair.losses) == (2, 0, 0)


def test_topics_of_any_scale_have_the_same_weight() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(20, 4))
    scaled = table * np.exp(3 * rng.normal(size=(20, 1))) + 100 * rng.random((20, 1))
    (one,), (other,) = standardised(table).measure.pairs, standardised(scaled).measure.pairs
    assert other.value == pytest.approx(one.value)
    assert [other.interval.low, other.interval.high] == pytest.approx([one.interval.low, one.interval.high])


def test_topics_without_a_standardised_score_are_left_out_and_counted() -> None:
    table = np.random.default_rng(4).random((12, 4))
    table[2:5] = 0.7
    table[6, 2:] = np.nan
    found = standardised(table)
    assert found.measure.left_out == ("T02", "T03", "T04", "T06")
    assert len(found.measure.topics) == 8
    assert found.note == (
        "std-AB(M): no value on 1 topic with scores of fewer than 3 systems of the reference and 3 topics on which all "
        "systems of the reference have the same score"
    )
    shares = standardised(table, "E-std")
    assert shares.measure.left_out == ("T06",)
    assert standardised(table[7:]).note == ""


def test_a_measure_without_a_top_has_an_interval_of_few_topics() -> None:
    """Of scores without an end it takes 30 topics; standardised ones lie within their range."""
    table = np.exp(np.random.default_rng(5).normal(size=(15, 4)))
    table[:, 0] *= 40
    (before,), (after,) = plain(table, ("A", "B")).pairs, standardised(table).measure.pairs
    assert (before.interval.is_defined, before.verdict) == (False, "cannot tell")
    assert (after.interval.is_defined, after.verdict) == (True, "better")
    assert -0.15 * 6**0.5 <= after.interval.low <= after.value <= after.interval.high <= 0.15 * 6**0.5
    (outside,) = standardised(table, reference=("B", "C", "D")).measure.pairs
    assert outside.interval.high - outside.interval.low > after.interval.high - after.interval.low
    assert not standardised(table, "z", reference=("B", "C", "D")).measure.pairs[0].interval.is_defined


def test_there_is_no_interval_if_none_would_be_valid() -> None:
    table = np.random.default_rng(6).random((40, 4))
    table[:, 0] += 0.6
    of = plain(table, ("A", "B"))
    (pair,) = of.pairs
    timed = replace(of, pairs=(replace(pair, interval=no_interval("alike in time"), p=math.nan),))
    cases = {
        "varies with the trials of the other systems": standardised(table, of=plain(table, ("A", "B"), "these")),
        "sessions of D go on from topic to topic": standardised(table, continued=("D", "E")),
        "attempts were lost": standardised(table, of=replace(of, pairs=(replace(pair, bounds=(-1.0, 1.0)),))),
        "alike in time": standardised(table, of=timed),
    }
    assert standardised(table).measure.pairs[0].verdict == "better"
    for why, found in cases.items():
        (one,) = found.measure.pairs
        assert why in one.interval.note
        assert (one.verdict, math.isnan(one.p), math.isnan(one.corrected)) == ("cannot tell", True, True)
        assert one.value == pytest.approx(standardised(table).measure.pairs[0].value)
        assert set(found.measure.letters.values()) == {"a"}


def lognormal_topics(rng: np.random.Generator, topics: int) -> Floats:
    """Levels of topics and the spread of systems are lognormal, and the first system fails on one topic in ten."""
    level, spread = np.exp(1.5 * rng.normal(size=(topics, 1))), np.exp(0.5 * rng.normal(size=(topics, 1)))
    table: Floats = level * np.exp(0.7 * rng.normal(size=(topics, 4)) * spread)
    table[:, 0] *= rng.random(topics) >= 0.1
    return table * [1.3, 1.0, 1.0, 0.8]


def useful_shares(rng: np.random.Generator, topics: int) -> Floats:
    """Useful answers of five trials; topics differ, and the first two systems are alike."""
    chances = np.clip(rng.beta(1.2, 0.8, (topics, 1)) + np.array([0.1, 0.1, 0.0, -0.2]), 0, 1)
    found: Floats = rng.binomial(5, chances) / 5
    return found


def coverage(law: Law, form: Standard, topics: int, studies: int) -> tuple[int, int]:
    """How many intervals hold the true difference, and in how many studies the systems are told apart."""
    rng = np.random.default_rng([3, topics])
    many = law(rng, 200_000)
    found = standardise(many, many, form)
    true = float(np.nanmean(found[:, 0] - found[:, 1]))
    pairs = [standardised(law(rng, topics), form).measure.pairs[0] for _ in range(studies)]
    return sum(pair.interval.contains(true) for pair in pairs), sum(pair.is_distinguished for pair in pairs)


@pytest.mark.parametrize(
    ("law", "topics", "form"), keep_cells([(lognormal_topics, 20, "E-std"), (useful_shares, 8, "std-AB")], 1)
)
def test_intervals_cover_and_similar_systems_are_not_told_apart(law: Law, topics: int, form: Standard) -> None:
    held, apart = coverage(law, form, topics, 60)
    assert held >= stats.binom.ppf(1e-4, 60, 0.93)
    assert law is lognormal_topics or apart <= stats.binom.ppf(1 - 1e-4, 60, 0.05)


@pytest.mark.soak
@pytest.mark.parametrize("form", ["std-AB", "std-CDF", "E-std"])
@pytest.mark.parametrize("law", [lognormal_topics, useful_shares])
@pytest.mark.parametrize("topics", [8, 20, 45])
def test_intervals_cover_in_many_studies(law: Law, topics: int, form: Standard) -> None:
    held, apart = coverage(law, form, topics, 150)
    print(f"{law.__name__}, {form}, {topics} topics: {held} of 150 cover, {apart} told apart")
    assert held >= stats.binom.ppf(1e-4, 150, 0.93)
    assert law is lognormal_topics or apart <= stats.binom.ppf(1 - 1e-4, 150, 0.05)
