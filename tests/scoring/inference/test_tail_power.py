"""Simulated intervals of tails: those that scores get, and promises that are kept."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from scoring.inference.tail_power import simulate_tail, stated_tail_model, tail_model
from scoring.inference.tails import TailKind, cvar, lower_quantile, pooled_tail
from scoring.statistics.outcomes import Components

Floats = npt.NDArray[np.float64]


def drawn(topics: int, trials: int, rng: np.random.Generator) -> Floats:
    """(topics, trials) scores that no simulation draws: log odds of two kinds of topics, and normal ones of trials."""
    kind = rng.random((topics, 1)) < 0.3
    odds = np.where(kind, -1.2, 0.8) + rng.normal(0, 0.4, (topics, 1)) + rng.normal(0, 0.7, (topics, trials))
    return np.asarray(1 / (1 + np.exp(-odds)))


def test_scores_of_simulated_studies_are_those_of_the_pilot_and_topics_spread_like_its_own() -> None:
    rng = np.random.default_rng(1)
    pilot = drawn(300, 3, rng)
    model = tail_model(pilot, 1.0)
    study = model.draw(4000, 5, rng)
    for beta in (0.1, 0.25, 1.0):
        assert cvar(study.ravel(), beta) == pytest.approx(model.value("cvar", beta), abs=0.015)
    assert model.value("quantile", 0.25) == lower_quantile(pilot.ravel(), 0.25)
    endless = drawn(4000, 200, rng).mean(axis=1).var()
    apart = study.mean(axis=1).var() - study.var(axis=1, ddof=1).mean() / 5
    assert apart == pytest.approx(endless, rel=0.12)
    assert pilot.mean(axis=1).var() > 1.1 * endless, "a pilot of three trials shows more"


def test_gaps_of_a_pilot_are_not_scores_and_one_topic_shows_nothing() -> None:
    model = tail_model([[0.5, math.nan], [0.2, 0.4], [math.nan, math.nan], [0.1, 0.3]], 1.0)
    assert sorted(len(one) for one in model.scores) == [1, 2, 2]
    with pytest.raises(ValueError, match="at least 2 topics need 2 trials"):
        tail_model([[0.5, 0.6], [0.2, math.nan]], 1.0)


@pytest.mark.parametrize("kind", ["cvar", "quantile"])
def test_stated_components_are_those_of_the_model(kind: TailKind) -> None:
    one = Components("bounded", 0.6, 0.03, 0.01, 0.05)
    flat, weights = stated_tail_model(one).weighted_scores
    mean = float(np.average(flat, weights=weights))
    assert mean == pytest.approx(0.6, abs=0.003)
    assert float(np.average((flat - mean) ** 2, weights=weights)) == pytest.approx(0.09, rel=0.04)
    same = stated_tail_model(Components("bounded", 0.6, 0.0, 0.0, 0.0))
    assert same.value(kind, 0.2) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="no known top"):
        stated_tail_model(Components("unbounded", 0.6, 0.03, 0.01, 0.05))


def test_too_few_topics_have_no_interval_for_any_number_of_trials() -> None:
    model = tail_model(drawn(30, 5, np.random.default_rng(2)), 1.0)
    none = simulate_tail(model, "cvar", 0.25, 0.1, 15, 50, np.random.default_rng(3), level=0.95, studies=5)
    assert (math.isnan(none.below), none.with_interval) == (True, 0.0)
    assert none.note == ("the worst 25% must hold at least 4 topics, so an interval needs 16 topics (here 15)")
    some = simulate_tail(model, "cvar", 0.25, 0.1, 16, 5, np.random.default_rng(3), level=0.95, studies=5)
    assert some.with_interval == 1.0


def check_promise(
    kind: TailKind, beta: float, distance: float, size: tuple[int, int], pilot: int, studies: int
) -> None:
    """Against intervals as `harvest score` makes them, of 2,000 replications, of topics drawn in another way."""
    rng = np.random.default_rng(5)
    many = drawn(20_000, 20, rng).ravel()
    truth = cvar(many, beta) if kind == "cvar" else lower_quantile(many, beta)
    below = above = 0
    widths = []
    names = [str(number) for number in range(size[0])]
    for _ in range(studies):
        tail = pooled_tail(names, drawn(*size, rng), beta, rng)
        interval = tail.cvar_interval if kind == "cvar" else tail.quantile_interval
        below += interval.high < truth + distance
        above += interval.low > truth - distance
        widths.append(interval.high - interval.low)
    model = tail_model(drawn(pilot, 10, rng), 1.0)
    said = simulate_tail(model, kind, beta, distance, *size, rng, level=0.95, studies=2 * studies)
    print(
        f"{kind} {beta:g}, {distance:g}, {size[0]} × {size[1]}: missed {said.below:.3f}, found {below / studies:.3f}; "
        f"kept {said.above:.3f}, found {above / studies:.3f}; width {said.width:.3f}, {np.nanmean(widths):.3f}"
    )
    for promised, found in ((said.below, below), (said.above, above)):
        error = 3 * said.error
        least, most = max(0.0, promised - 0.05 - error), min(1.0, promised + 0.05 + error)
        assert binom.ppf(1e-4, studies, least) <= found <= binom.ppf(1 - 1e-4, studies, most)
    error = float(np.nanstd(widths)) / math.sqrt(studies)
    assert said.width == pytest.approx(np.nanmean(widths), abs=0.06 * said.width + 4 * error)


def test_power_and_width_agree_with_the_interval_of_scores() -> None:
    check_promise("cvar", 0.25, 0.1, (30, 4), 2000, 100)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "beta", "distance", "size"),
    [
        ("cvar", 0.25, 0.08, (20, 5)),
        ("cvar", 0.25, 0.06, (45, 5)),
        ("cvar", 0.25, 0.06, (45, 15)),
        ("cvar", 0.5, 0.06, (45, 5)),
        ("cvar", 0.1, 0.05, (60, 5)),
        ("quantile", 0.25, 0.1, (45, 5)),
        ("quantile", 0.5, 0.1, (30, 3)),
        ("quantile", 0.1, 0.05, (90, 2)),
    ],
)
def test_power_and_width_agree_over_eight_designs(
    kind: TailKind, beta: float, distance: float, size: tuple[int, int]
) -> None:
    check_promise(kind, beta, distance, size, 20_000, 400)  # a smaller pilot is in doubt itself
