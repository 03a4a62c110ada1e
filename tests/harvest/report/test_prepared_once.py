"""A report reads, gathers and folds each of its runs once, however many sections and studies it shows."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harvest.cli import report as command
from harvest.report import branches
from harvest.studies.runs import side_by_side
from harvest.studies.scores import gathered
from tests.support.command_line import harvest
from tests.support.reported import copied_run, small_run

STEPS = ("read", "read_layers", "models_of", "fold_trees")

Calls = Counter[tuple[str, Path]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """How often each run was read, gathered and folded, by what was done and its folder."""
    found: Calls = Counter()

    def count(module: Any, name: str, run_of: Callable[[Any], Path]) -> None:
        real = getattr(module, name)

        def counted(first: Any, *others: Any, **named: Any) -> Any:
            found[name, run_of(first)] += 1
            return real(first, *others, **named)

        monkeypatch.setattr(module, name, counted)

    count(command, "read", lambda path: path)
    for module in (gathered, side_by_side):
        count(module, "read_layers", lambda path: path)
    count(gathered, "models_of", lambda run: run.path)
    count(branches, "fold_trees", lambda run: run.path)
    return found


def sections(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    return {name for name in ("compared", "watched", "trees", "variance") if f'<section id="{name}"' in text}


def test_a_report_of_two_runs_prepares_each_once(tmp_path: Path, calls: Calls) -> None:
    first, second = (small_run(tmp_path / name) for name in ("jan", "feb"))
    calls.clear()  # playing and blessing gather, too
    command.write_report((first, second), tmp_path / "page.html", [])
    assert sections(tmp_path / "page.html") == {"compared", "trees", "variance"}
    assert calls == {(step, run): 1 for step in STEPS for run in (first, second)}


def test_a_report_against_a_baseline_prepares_each_run_once(tmp_path: Path, calls: Calls) -> None:
    run = copied_run(tmp_path)
    assert harvest("watch", "bless", run, "--out", tmp_path / "baseline.json", "--by", "me").returncode == 0
    calls.clear()  # playing and blessing gather, too
    command.write_report((run,), tmp_path / "page.html", [], baseline=tmp_path / "baseline.json")
    assert sections(tmp_path / "page.html") == {"compared", "watched", "trees", "variance"}
    assert calls == {(step, run): 1 for step in STEPS}
