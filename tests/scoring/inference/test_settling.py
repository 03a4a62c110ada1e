"""How many more trials settle what an audit cannot tell: promised only where it can be kept, and else why not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from scoring.inference.drift import Baseline, Difference, difference
from scoring.inference.settling import MOST_TIMES, SURE, Settling, is_settled, trials_to_settle
from tests.support.watched_years import BLESSED, SETTLED_SPREADS, SIZES, Promised, settling


def known(count: int, topics: int = 45, runs: int = 8) -> Baseline:
    values = np.full(topics, 0.6)
    return Baseline(values, values * (1 - values), np.full(topics, float(count)), np.full(runs, 0.6))


def seen(baseline: Baseline, useful: int, trials: int, matters: float) -> tuple[Difference, Settling]:
    cells = [[1.0] * useful + [0.0] * (trials - useful)] * len(baseline.means)
    found = difference(baseline, cells, matters=matters, level=0.95)
    return found, trials_to_settle(baseline, found, each=trials, matters=matters)


def test_a_number_is_promised_if_its_chance_is_four_in_five() -> None:
    _, same = seen(known(4000, runs=30), 6, 10, 0.038)
    assert same.trials > 0
    assert SURE <= same.chance < 1
    assert (same.most, same.hindrance) == (320, "")
    _, wider = seen(known(4000, runs=30), 6, 10, 0.042)
    assert 0 < wider.trials <= same.trials, "the wider what does not matter, the fewer"


@pytest.mark.parametrize(
    ("count", "useful", "matters", "why"),
    [(2000, 5, 0.10, "edge"), (100, 6, 0.037, "baseline"), (2000, 1, 0.05, "settled")],
)
def test_without_a_promise_the_reason_is_given(count: int, useful: int, matters: float, why: str) -> None:
    found, said = seen(known(count), useful, 10, matters)
    assert (said.trials, said.hindrance, said.most) == (0, why, MOST_TIMES * 10)
    assert is_settled(found, matters) == (why == "settled")
    assert math.isnan(said.chance) == (why == "settled")
    assert not said.chance >= SURE


def test_a_baseline_of_few_runs_promises_nothing() -> None:
    _, said = seen(known(2000, runs=3), 6, 10, 0.036)
    assert (said.trials, said.hindrance) == (0, "runs")


def test_audits_that_differ_make_promises_rarer() -> None:
    calm = known(4000, runs=30)
    moving = Baseline(calm.means, calm.variances, calm.counts, 0.6 + 0.04 * np.array([1, -1] * 15))
    assert seen(calm, 6, 10, 0.042)[1].trials > 0
    assert seen(moving, 6, 10, 0.042)[1].hindrance == "baseline"


def test_a_look_that_used_its_whole_error_leaves_less_to_the_promised_trials() -> None:
    """The next look has what this one left of the chance of a wrong *same*, so its interval is wider."""
    baseline = known(4000, runs=30)
    found, said = seen(baseline, 6, 10, 0.042)
    spent = trials_to_settle(baseline, replace(found, spent=0.035), each=10, matters=0.042)
    assert found.spent < 0.01 < said.trials
    assert spent.trials == 0 or spent.trials > said.trials


def test_promises_are_kept() -> None:
    each = [settling(size, trials, 40, 0.05, 0.0, 220) for size, trials in ((45, 5), (15, 20))]
    assert sum(found.untold for found in each) > 50
    check(tuple(one for found in each for one in found.promises), 0.7)


def check(promises: tuple[Promised, ...], least: float) -> None:
    """Up to what one of a hundred simulations shows by chance."""
    assert len(promises) > 8
    kept, said = (float(np.mean(one)) for one in ([p.kept for p in promises], [p.chance for p in promises]))
    print(f"{len(promises)} promises, said {said:.3f}, kept {kept:.3f}")
    error = math.sqrt(least * (1 - least) / len(promises))
    assert said >= SURE
    assert kept >= least - 2.33 * error


@pytest.mark.soak
@pytest.mark.parametrize("spread", SETTLED_SPREADS)
def test_four_in_five_promises_are_kept_over_all_designs(spread: float) -> None:
    each = [settling(*size, *blessed, spread, 1100) for size in SIZES for blessed in BLESSED]
    check(tuple(one for found in each for one in found.promises), 0.8)
