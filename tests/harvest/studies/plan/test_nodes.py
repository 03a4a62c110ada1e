"""A plan for one turn: what the pilot says of it, the change that is to be found, and paths that say nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harvest.audits.audit import load_audit
from harvest.cli.main import main
from harvest.studies.plan.figures import plan_form, plan_rows, plan_tables
from harvest.studies.plan.grid import Plan
from harvest.studies.plan.nodes import BranchModel, plan_node
from harvest.studies.trees.parted_systems import parted_systems
from recordings.conversations.conversation import Outcome
from recordings.log.run_folder import read
from topics.errors import InputError

AUDIT = (
    "format: harvest-audit/1\nname: small\ntopics: fairweb-45\nonly: [M001, M002, M003, R001, R002, R003, Y001, Y002]\n"
    "protocol: fairweb-two-round\ntrials: 6\nsystems:\n"
    "  - {name: A, driver: parrot, options: {profile: steady}, rate: 100/s}\n"
    "  - {name: B, driver: parrot, options: {profile: erratic}, rate: 100/s}\n"
)
FIRST, AGAIN = "U ask → S o", "U ask → S o → U more → S o"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pilot")
    (path / "audit.yaml").write_text(AUDIT)
    with pytest.raises(SystemExit):
        main(["run", "--no-report", str(path / "audit.yaml"), "--out", str(path / "run")])
    return path


def planned(folder: Path, path: str = FIRST, **more: Any) -> Plan[BranchModel]:
    """Few studies are simulated unless it is asked for a power."""
    given = {"detect": 20, "topics": (8,), "trials": (6,), "studies": 100, **more}
    return plan_node(load_audit(str(folder / "audit.yaml")), read(folder / "run"), path, **given)


@pytest.fixture(scope="module")
def plan(folder: Path) -> Plan[BranchModel]:
    return planned(folder, topics=(8, 16), trials=(1, 6))


def test_shares_and_counts_are_those_that_compare_prints(folder: Path, plan: Plan[BranchModel]) -> None:
    run = read(folder / "run")
    (parted,) = parted_systems(run.finished, ["A", "B"])
    turn = next(one for one in parted.turns if (*one.turns, one.branch)[-2:] == ("U ask", "S o") or one.branch == "S x")
    assert (plan.model.came, plan.model.came_topics) == (96, 8)
    shares = turn.portion if turn.branch == "S o" else tuple(1 - one for one in turn.portion)
    assert tuple(plan.model.by_system.values()) == pytest.approx(shares)
    assert plan.model.share == pytest.approx(sum(shares) / 2)
    assert plan.model.share - plan.model.changed == pytest.approx(0.2)


def test_trials_that_reach_the_turn_and_power_grow_with_the_design(plan: Plan[BranchModel]) -> None:
    designs = {(one.topics, one.trials): one for one in plan.grid.designs}
    small, large = designs[8, 6], designs[16, 6]
    assert small.power.come == 48
    assert large.power.come == 2 * small.power.come
    assert large.turns == pytest.approx(2 * small.turns, abs=1)
    assert large.power.found > small.power.found
    assert large.hours > 0
    assert math.isnan(plan.grid.designs[0].power.found), "of single trials there is no test"


def test_a_turn_that_fewer_reach_needs_more_trials(folder: Path, plan: Plan[BranchModel]) -> None:
    later = planned(folder, AGAIN.replace("→", "->"))
    assert later.model.path == ("U ask", "S o", "U more", "S o")
    assert later.model.came == plan.model.took
    assert later.grid.current_design.power.come == pytest.approx(plan.grid.current_design.power.come * plan.model.share)


def test_a_rare_branch_is_chosen_more_often_and_stopping_is_a_branch(folder: Path) -> None:
    rare = planned(folder, "U ask → S x → end", topics=(4,))
    assert rare.model.path[-1] == "■ breakdown"
    assert rare.model.changed - rare.model.share == pytest.approx(0.2)
    assert planned(folder, "U ask → S x → ■ breakdown", topics=(4,)).grid.designs == rare.grid.designs


def test_ends_of_two_kinds_after_one_turn_are_two_branches_of_a_plan(folder: Path) -> None:
    run, told = read(folder / "run"), "U ask → S o → U more → S o"
    whole = planned(folder, f"{told.removesuffix(' → S o')} → S o")
    satisfied = Outcome("user-stopped", "satisfied")
    played = [
        replace(one, outcome=satisfied)
        if one.outcome is not None and one.outcome.kind == "completed" and one.key.trial % 2
        else one
        for one in run.conversations
    ]
    vars(run)["conversations"] = tuple(played)  # every second user of those who stayed to the end says why
    audit = load_audit(str(folder / "audit.yaml"))
    shares = []
    for end in ("■ completed", "■ user-stopped (satisfied)"):
        plan = plan_node(audit, run, f"{told} → {end}", detect=20, topics=(8,), trials=(6,), studies=100)
        assert plan.model.path[-1] == end
        assert plan.model.came == whole.model.took
        shares.append(plan.model.share)
        assert 0 <= plan.grid.current_design.power.found <= 1
    assert sum(shares) == pytest.approx(1)
    assert min(shares) > 0.2
    with pytest.raises(InputError, match="is ambiguous, as conversations end in 2 ways") as refused:
        plan_node(audit, run, f"{told} → end", detect=20)
    refused.match(r"■ completed \(\d+\), ■ user-stopped \(satisfied\) \(\d+\)")


def test_if_no_design_is_enough_the_answer_says_so_and_how_many_topics_would_be(folder: Path) -> None:
    found = planned(folder, studies=400)
    assert found.model.smallest(found.grid) is None
    assert "; no design below names it in 4 studies of 5." in found.model.answer(found.grid)
    beyond = found.model.extrapolate(found.grid)
    assert beyond is not None
    topics, trials = beyond
    (enough,) = planned(folder, topics=(topics,), trials=(trials,), studies=400).grid.designs
    assert 0.7 < enough.power.found < 0.92


def test_the_output_contains_everything_that_a_reader_needs(plan: Plan[BranchModel]) -> None:
    shown = StringIO()
    people = Console(width=80, file=shown)
    for part in plan_tables(plan):
        people.print(part)
    said = " ".join(shown.getvalue().split())
    for wanted in (
        "no test",
        "trials of one system that come there",
        "user turns",
        "96 trials of 8 topics",
        "note: in",
    ):
        assert wanted in said
    document = plan_form(plan).document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert sum(row["figure"] == "power" for row in document["long"]) == 4
    assert {row.node for row in plan_rows(plan)} == {FIRST}


@pytest.mark.parametrize(
    ("path", "more", "why", "allowed"),
    [
        ("U ask → S z", {}, "none of 96 conversations that reached U ask continued with 'S z'", r"S o \(\d+\), S x"),
        ("U hello", {}, "none of 96 conversations that reached the start", r"U ask \(96\)"),
        ("U ask → end → S o", {}, "continued with 'end'", "S o"),
        ("U ask", {}, "all 96 conversations that reached the start continued with U ask", r"from U ask \(96 came\)"),
        ("U ask → ", {}, "a turn without a name", None),
        (" ", {}, "--node is empty", None),
        (FIRST, {"detect": 90}, "go beyond 0 or 100%", r"less than \d\d\.\d points"),
        (FIRST, {"changes": {"level": 0.9999}}, "cannot give a p of 0.0001", "up to 0.9998"),
        (FIRST, {"topics": (5000,), "trials": (50,)}, "too large to simulate", None),
    ],
)
def test_an_impossible_plan_is_refused_with_the_reason(
    folder: Path, path: str, more: dict[str, Any], why: str, allowed: str | None
) -> None:
    with pytest.raises(InputError, match=why) as refused:
        planned(folder, path, **more)
    if allowed is not None:
        refused.match(allowed)


def test_continued_sessions_and_pilots_of_single_trials_are_refused(folder: Path, tmp_path: Path) -> None:
    text = AUDIT.replace("rate: 100/s}", "session: continued}")
    (tmp_path / "audit.yaml").write_text(text)
    with pytest.raises(InputError, match="does not test turns"):
        plan_node(load_audit(str(tmp_path / "audit.yaml")), read(folder / "run"), FIRST, detect=20)
    (tmp_path / "single.yaml").write_text(AUDIT.replace("trials: 6", "trials: 1"))
    with pytest.raises(SystemExit):
        main(["run", "--no-report", str(tmp_path / "single.yaml"), "--out", str(tmp_path / "run")])
    with pytest.raises(InputError, match="cannot be separated from the variance between trials"):
        plan_node(load_audit(str(tmp_path / "single.yaml")), read(tmp_path / "run"), FIRST, detect=20)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "--node needs a pilot"),
        (("--from", "RUN", "--measure", "R", "--mean", "50"), "--measure, --mean have no effect on --node"),
        (("--from", "RUN", "--figure", "plan.svg"), "--figure has no effect on --node"),
    ],
)
def test_the_command_refuses_options_that_do_not_apply_to_a_turn(
    folder: Path, options: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(folder / "run") if word == "RUN" else word for word in options]
    with pytest.raises(SystemExit) as done:
        main(["plan", str(folder / "audit.yaml"), "--node", FIRST, "--detect", "5", *words])
    assert done.value.code == 2
    assert why in capsys.readouterr().err
