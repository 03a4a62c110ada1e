"""The worlds in which the program is tried are what they say: their truths are those of what they draw."""

import math

import numpy as np
import pytest

from tests.support.kept_cells import keep_cells
from tests.support.torture.catalogue import chosen
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import WORLDS, World, world

ALL = chosen([])
STUDIES = 60


def size(of: World) -> tuple[int, int, int]:
    """Topics, trials and systems of a small study of the world."""
    few, many = of.systems
    trials = 1 if of.kind is Kind.JUDGES else max(of.least[1], 4)
    return max(of.least[0], 12), trials, max(few, min(2, many))


def test_equal_replications_are_equal_studies_and_the_next_one_differs() -> None:
    one = WORLDS["useful or not, Beta(2, 2)"]
    first, again, other = (one.study(1, number, 15, 5, 2).values for number in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("group", sorted({one.group for one in ALL}))
def test_every_world_draws_studies_of_the_requested_size(group: str) -> None:
    for one in (each for each in ALL if each.group == group):
        topics, trials, systems = size(one)
        study = one.study(3, 0, topics, trials, systems)
        assert study.values.shape == (systems, topics, trials), one.name
        assert study.means.shape == (systems, topics), one.name
        assert study.times is not None
        assert study.times.shape == study.values.shape, one.name
        assert np.isfinite(study.whole[np.isfinite(study.values)]).all(), one.name
        if one.kind not in (Kind.UNBOUNDED, Kind.WATCH):
            assert np.nanmin(study.values) >= 0, one.name
            assert np.nanmax(study.values) <= 1, one.name


def z(drawn: Floats, truth: Floats | float) -> float:
    """How many standard errors the mean over studies, the first axis, is away from the truth."""
    error = drawn.std(axis=0, ddof=1) / math.sqrt(len(drawn))
    return float(np.max(np.abs(drawn.mean(axis=0) - truth) / (error + 1e-9)))


LIGHT = [one for one in ALL if one.group != "heavy tails" and "Pareto" not in one.name and "1.5" not in one.name]


@pytest.mark.parametrize(
    "kind", keep_cells([Kind.SHARE, Kind.SCORE, Kind.UNBOUNDED, Kind.PREFERENCES, Kind.TURNS], 1, 3)
)
def test_the_true_mean_is_that_of_the_drawn_values(kind: Kind) -> None:
    """Heavy tails are left out: 60 studies do not show their means; their formulas are tested by themselves."""
    for one in (each for each in LIGHT if each.kind is kind):
        topics, trials, systems = size(one)
        studies = [one.study(4, number, topics, trials, systems) for number in range(STUDIES)]
        truth = one.truth("mean", studies[0])
        assert truth is not None
        whole = np.array([study.whole.mean(axis=(1, 2)) for study in studies])
        given = np.array([study.means.mean(axis=1) for study in studies])
        assert z(whole, truth) < 5.5, one.name
        assert z(whole - given, 0) < 5.5, one.name


def test_true_spreads_are_those_of_the_drawn_values() -> None:
    for one in (each for each in LIGHT if each.kind in (Kind.SHARE, Kind.SCORE)):
        topics, trials, systems = size(one)
        studies = [one.study(5, number, topics, trials, systems) for number in range(STUDIES)]
        if "within" not in studies[0].exact or studies[0].variances is None:
            continue
        mean, between = studies[0].exact["mean"], studies[0].exact["between"]
        seen = np.array([((study.means - mean[:, None]) ** 2).mean(axis=1) for study in studies])
        assert z(seen, between) < 6.5, one.name
        pure = np.array([study.whole.var(axis=2, ddof=1).mean(axis=1) for study in studies])
        assert z(pure, studies[0].exact["within"]) < 6.5, one.name


def test_true_ratios_are_those_of_the_drawn_values() -> None:
    for one in (each for each in ALL if each.kind is Kind.TURNS):
        studies = [one.study(6, number, 15, 5, 2) for number in range(STUDIES)]
        truth = one.truth("recovery", studies[0])
        assert truth is not None
        recovered = np.array([np.nansum(study.second, axis=(1, 2)) for study in studies if study.second is not None])
        failed = np.array([(study.values == 0).sum(axis=(1, 2)) for study in studies])
        assert z(recovered - truth * failed, 0) < 5, one.name


@pytest.mark.parametrize(
    ("name", "estimand", "expected"),
    [
        ("R, lognormal σ 1", "mean", 0.01),
        ("R, lognormal σ 1", "between", 1e-4 * math.expm1(1)),
        ("useful or not, 0.95 in 95%, 0.1 in 5%", "mean", 0.9075),
        ("useful or not, 0.95 in 95%, 0.1 in 5%", "pass 2", 0.95**3 + 0.05 * 0.01),
        ("useful or not, mean 0.85, ICC 0.2", "ICC", 0.2),
        ("useful or not, 0 in 50%, 1 in 50%", "quantile 0.25", 0.0),
        ("useful or not, 0 in 50%, 1 in 50%", "CVaR 0.25", 0.0),
        ("useful or not, 0 in 50%, 1 in 50%", "upper CVaR 0.8", 0.625),
        ("never recovers in 5% of topics, else in 0.6", "recovery", 0.57),
    ],
)
def test_truths_agree_with_hand_calculations(name: str, estimand: str, expected: float) -> None:
    one = WORLDS[name]
    truth = one.truth(estimand, one.study(7, 0, 15, 5, 1))
    assert truth is not None
    assert truth[0] == pytest.approx(expected, rel=0.01)


def test_an_infinite_variance_has_no_truth() -> None:
    one = WORLDS["R, Pareto 1.5"]
    study = one.study(8, 0, 15, 5, 1)
    assert one.truth("between", study) is None
    assert one.truth("ICC", study) is None
    assert one.truth("mean", study) is not None


def test_systems_declared_alike_have_one_mean_and_one_recovery() -> None:
    for one in ALL:
        if not one.alike or one.systems[1] < 2 or one.kind in (Kind.JUDGES, Kind.CORRECTED):
            continue
        topics, trials, _ = size(one)
        study = one.study(9, 0, topics, trials, 3 if one.systems[1] > 2 else 2)
        truth = study.exact.get("recovery" if one.kind is Kind.TURNS else "mean")
        if truth is not None:
            assert np.ptp(truth) < 1e-12, one.name


def test_two_worlds_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two worlds are called 'R, lognormal σ 1'"):

        @world("R, lognormal σ 1", "A second one.", Kind.UNBOUNDED, "heavy tails")
        def again(rng: np.random.Generator, topics: int, trials: int, systems: int) -> Study:
            raise NotImplementedError
