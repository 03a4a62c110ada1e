"""docs/simulators/validation.md: every table is what its benchmark prints, and the page keeps to it."""

from __future__ import annotations

import re

import pytest

from harvest.cli.main import main
from harvest.cli.simulate import check_command, fit_command
from scoring.simulation.realism import BEHAVIOUR
from tests.benchmarks import simulation as simulation_bench
from tests.benchmarks.simulation import TABLES, written
from tests.support.checkout import DOCS
from tests.support.simulated_dialogues import IARD

PAGE = DOCS / "simulators" / "validation.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_what_the_script_prints(name: str) -> None:
    assert written(TABLES[name]()) in TEXT


def test_the_plot_is_what_the_script_draws() -> None:
    assert (PAGE.parent / "validation.svg").read_text(encoding="utf-8") == simulation_bench.picture()


def test_the_page_says_where_the_fitted_user_is_not_like_people() -> None:
    (line,) = re.findall(r"^\| order 1 \| .*(?:within|beyond).*\|$", TEXT, re.MULTILINE)
    assert "beyond" in line
    assert "We could not reproduce" in TEXT


def test_the_command_prints_the_stop_models_of_the_page_and_no_name_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        main(["simulate", "fit", str(IARD), "--folds", "2"])
    assert not left.value.code
    printed = capsys.readouterr().out
    assert "…" not in printed
    for model in ("geometric", "hazard"):
        (row,) = re.findall(rf"^\| {model} \| (.*) \|$", TEXT, re.MULTILINE)
        (line,) = [line for line in printed.splitlines() if line.strip().startswith(model)]
        assert line.split()[1:] == [word for word in row.split() if word != "|"]


def test_every_measure_of_behaviour_is_explained() -> None:
    for name in BEHAVIOUR:
        assert f"| {name} |" in TEXT


def test_the_options_that_are_named_are_there() -> None:
    known = {option for command in (fit_command, check_command) for one in command.params for option in one.opts}
    for option in re.findall(r"simulate [^\n`]*?(--[a-z-]+)", TEXT):
        assert option in known, option
