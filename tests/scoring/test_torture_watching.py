"""What `harvest watch run` says in the worlds of the torture suite."""

import numpy as np

from tests.support.torture import catalogue, watching
from tests.support.torture.cells import counted
from tests.support.torture.world import WORLDS

(ENGINE,) = watching.ENGINES
assert catalogue.MODULES


def test_the_blessed_runs_are_the_baseline_and_the_last_one_is_the_audit() -> None:
    study = WORLDS["watch, τ 0.3 of each run: level 0.6, change ×.75"].study(1, 0, 8, 5, 5)
    found, _ = watching.baseline_of(study)
    assert len(found.runs) == 4
    assert set(found.counts) == {20.0}
    assert np.isclose(found.mean, study.values[:4].mean())


def test_a_changed_audit_is_covered_and_seldom_called_the_same() -> None:
    for name in ("watch, τ 0.3 of each run: level 0.9, change ×.67", "watch at the margin, τ 0.15: 0.03 lower"):
        cell = counted(ENGINE, WORLDS[name], (15, 5, 5), 150)
        assert cell.printed
        assert not cell.too_low
        assert not cell.too_wrong


def test_one_blessed_run_gives_no_interval_of_audits() -> None:
    cell = counted(ENGINE, WORLDS["watch, τ 0.0 of each run: level 0.95, change none"], (15, 5, 2), 20)
    assert not cell.printed
    assert cell.decided == 0


def test_trials_that_are_alike_in_time_widen_the_interval_with_a_warning() -> None:
    """Before, it covered .917 at 45 × 5 with eight blessed runs, and said nothing."""
    cell = counted(ENGINE, WORLDS["watch, τ 0.15 trials AR(1): level 0.6, change none"], (45, 5, 9), 60)
    assert cell.warned >= 0.9 * cell.printed > 0
    assert cell.coverage > 0.95
