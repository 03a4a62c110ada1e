"""docs/simulators/validation.md: every table is what its benchmark prints, and the page keeps to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from harvest.cli.main import main
from harvest.cli.users import check, fit
from harvest.studies.users import played_users
from recordings.acts.dialogue import Dialogue
from scoring.simulation.act_model import acts_in
from scoring.simulation.realism import BEHAVIOUR
from simulators.hidden.fitting import Recipe, fit_hidden
from simulators.hidden.model import HiddenModel
from tests.benchmarks import simulation as simulation_bench
from tests.benchmarks.simulation import SIZES, TABLES, Rows, estimators, floors, realism, recovery, written
from tests.support.checkout import DOCS
from tests.support.simulated_dialogues import IARD

PAGE = DOCS / "simulators" / "validation.md"
TEXT = PAGE.read_text(encoding="utf-8")


LONG = ("recovery", "estimators", "floors", "realism")
"""Tables that take seconds: a part of each is held to the page below, all of them under the marker `soak`."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.soak] * (name in LONG)) for name in TABLES])
def test_every_table_is_what_the_script_prints(name: str) -> None:
    assert written(TABLES[name]()) in TEXT


@pytest.mark.parametrize("table", [recovery, estimators])
def test_the_column_of_fewest_transitions_is_what_the_script_prints(table: Callable[[Sequence[int]], Rows]) -> None:
    computed = table(SIZES[:1])
    assert [row[:2] for row in on_page(computed[0])] == [tuple(row) for row in computed]


def test_the_floor_of_the_smallest_groups_is_what_the_script_prints() -> None:
    assert written(floors([25])) in TEXT


def test_users_of_the_realism_table_are_those_of_the_script_and_verdicts_follow_from_its_bars() -> None:
    """In three of the thirty splits, too, the random user is beyond on every measure."""
    few = realism(splits=3)
    (heads, people, *users) = on_page(few[0])
    assert [row[0] for row in few] == [heads[0], people[0], *(row[0] for row in users)]
    bars = [float(re.findall(r"\d\.\d+", cell)[2]) for cell in people[1:]]
    for row in users:
        for cell, bar in zip(row[1:], bars, strict=True):
            median, verdict = cell.split()
            assert verdict == ("within" if float(median) <= bar else "**beyond**"), row
    assert all("beyond" in cell for row in (users[-1], few[-1]) for cell in row[1:])


def on_page(heads: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows of the table of the page whose heads begin with these, the heads first."""
    start = "| " + " | ".join(heads)
    (table,) = (block for block in TEXT.split("\n\n") if block.startswith(start))
    lines = table.splitlines()
    return [tuple(line.strip("| ").split(" | ")) for line in (lines[0], *lines[2:])]


def test_the_plot_is_what_the_script_draws() -> None:
    assert (PAGE.parent / "validation.svg").read_text(encoding="utf-8") == simulation_bench.picture()


def test_the_page_says_where_the_fitted_user_differs_from_people() -> None:
    (line,) = re.findall(r"^\| order 1 \| .*(?:within|beyond).*\|$", TEXT, re.MULTILINE)
    assert "beyond" in line
    assert "We could not reproduce" in TEXT


def test_the_command_prints_the_stop_models_of_the_page_and_no_name_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # These rows count no hidden states, whose best number takes longer to find than all the rest.
    monkeypatch.setattr(played_users, "learn_hidden", one_hidden_state_model)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        main(["users", "fit", str(IARD), "--folds", "2"])
    assert not left.value.code
    printed = capsys.readouterr().out
    assert "…" not in printed
    for model in ("geometric", "hazard"):
        (row,) = re.findall(rf"^\| {model} \| ([a-z]+ .*) \|$", TEXT, re.MULTILINE)
        line, *_ = [line for line in printed.splitlines() if line.strip().startswith(model)]  # then by its bits
        assert line.split()[1:] == [word for word in row.split() if word != "|"]


def one_hidden_state_model(dialogues: Sequence[Dialogue], **_: object) -> HiddenModel:
    """A model of one size from one start, fitted without a search."""
    smallest = Recipe(weights=(1.0, 0.0, 0.0))
    people = played_users.people_of(dialogues)
    return fit_hidden(people, acts_in(dialogues), smallest, np.random.default_rng(0), starts=1)


def test_every_measure_of_behaviour_is_explained() -> None:
    for name in BEHAVIOUR:
        assert f"| {name} |" in TEXT


def test_the_options_that_are_named_are_there() -> None:
    known = {option for module in (fit, check) for one in module.command.params for option in one.opts}
    for option in re.findall(r"simulate [^\n`]*?(--[a-z-]+)", TEXT):
        assert option in known, option
