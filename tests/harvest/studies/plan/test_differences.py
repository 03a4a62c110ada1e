"""A plan: what it assumes, what a pilot and the user say instead, what designs cost, and what cannot be planned."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.padding import Padding

from harvest.audits.audit import load_audit
from harvest.cli.main import main
from harvest.studies.plan.differences import DifferenceModel, plan_difference
from harvest.studies.plan.figures import plan_form, plan_tables
from harvest.studies.plan.grid import Plan
from harvest.studies.plan.pilot import Pilot, assumed_components
from harvest.studies.variance.variance import study_variance
from recordings.log.run_folder import read
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import parse
from topics.errors import InputError

AUDIT = (
    "format: harvest-audit/1\nname: small\ntopics: fairweb-45\nonly: [M001, M002, R001, R002, Y001, Y002]\n"
    "protocol: fairweb-two-round\ntrials: 4\nsystems:\n"
)
STATED = {"measure": parse("R"), "stated": {"mean": 0.5, "between": 0.1, "within": 0.1}}
SYSTEM = "  - {name: NAME, driver: parrot, options: {profile: PROFILE}, rate: RATE}\n"


def written(folder: Path, *systems: tuple[str, str, str]) -> str:
    path = folder / "audit.yaml"
    lines = [SYSTEM.replace("NAME", a).replace("PROFILE", b).replace("RATE", c) for a, b, c in systems]
    path.write_text(AUDIT + "".join(lines))
    return str(path)


@pytest.fixture
def audit(tmp_path: Path) -> str:
    return written(tmp_path, ("A", "steady", "30/min"), ("B", "erratic", "60/min"))


def planned(audit: str, **more: Any) -> Plan[DifferenceModel]:
    """Few studies are simulated unless it is asked for a power or for the time it takes: the usual thousand of each
    design take nearly all the time of a test."""
    given = {"detect": 20, "topics": (8,), "trials": (2,), "studies": 100, **more}
    return plan_difference(load_audit(audit), **given)


def advice(found: Plan[DifferenceModel]) -> list[str]:
    """The lines after the answer."""
    return [str(part.renderable) for part in plan_tables(found) if isinstance(part, Padding)]


def test_without_a_pilot_everything_is_assumed_and_the_output_says_so(audit: str) -> None:
    found = planned(audit)
    assert found.model.key == ("ave%useful", None), "that of reports and of re-audits"
    assert set(found.model.sources.values()) == {"assumed"}
    assert set(planned(audit, measure=parse("%useful S1")).model.sources.values()) == {"assumed", "follows"}
    one = found.model.components
    assert (one.mean, one.topic + one.both, one.within) == pytest.approx((0.6, 0.108, 0.132))
    assert one.both == pytest.approx(0.027)
    assert found.model.cautious_power(found.grid.current_design.mix) is None


def test_turns_are_the_largest_possible_number_and_hours_those_of_the_slowest_rate(audit: str) -> None:
    design = planned(audit).grid.designs[0]
    assert design.turns == 8 * 2 * 2 * 2, "topics, trials, systems, and two turns of the protocol"
    assert design.hours == pytest.approx(8 * 2 * 2 * 2 / 3600), "a turn of A every two seconds, B at the same time"


@pytest.mark.parametrize(
    ("session", "at_once"),
    [("fresh", 8), ("continued", 2), ("continued, session_turns: 4", 6), ("continued, session_turns: 2", 8)],
)
def test_renewed_sessions_are_played_concurrently(tmp_path: Path, pilot: Path, session: str, at_once: int) -> None:
    """Two trials of six topics with two turns each: sessions of two topics are three in a trial, of one topic six."""
    path = tmp_path / "audit.yaml"
    system = f"  - {{name: A, driver: parrot, session: {session}, concurrency: 8}}\n"
    path.write_text(AUDIT + system + "  - {name: B, driver: parrot, concurrency: 1000}\n")
    found = planned(str(path), run=read(pilot), topics=(6, 12))
    assert found.model.basis.observed is not None
    seconds = found.model.basis.observed[1]
    assert [design.hours for design in found.grid.designs] == pytest.approx(
        [
            topics * 2 * seconds / min(8, at_once * topics / 6 if "turns" in session else at_once) / 3600
            for topics in (6, 12)
        ]
    )


def test_the_audits_own_numbers_of_trials_are_planned_with(audit: str) -> None:
    Path(audit).write_text(Path(audit).read_text() + "trials_of: {M001: 12, R002: 2}\n")
    found = planned(audit)
    present, more_topics, more_trials = found.grid.landmarks
    assert present.mix == (12, 4, 4, 2, 4, 4)
    assert (more_topics.mix, more_trials.mix) == (present.mix * 2, (24, 8, 8, 4, 8, 8))
    assert present.turns == 30 * 2 * 2, "trials of all topics, systems, and two turns of the protocol"
    shown = StringIO()
    people = Console(width=80, file=shown)
    for part in plan_tables(found):
        people.print(part)
    said = " ".join(shown.getvalue().split())
    assert "The audit as it stands, 6 topics × 2 to 12 trials (30 of each system): found" in said
    document = plan_form(found).document()["present"]
    assert (document["trials"], document["fewest"], document["most"]) == (30, 2, 12)
    power = next(row for row in document["figures"] if (row["figure"], row["estimand"]) == ("power", "these"))
    assert power["estimate"] == present.power["these"].found
    (own,) = planned(audit, topics=(6,), trials=(5,)).grid.designs
    assert not own.is_uneven
    assert own.power["these"].width < present.power["these"].width


def answered(plan: Plan[DifferenceModel]) -> str:
    return plan.model.answer(plan.grid)


def beyond(plan: Plan[DifferenceModel]) -> Mapping[str, float]:
    return plan.model.extrapolate(plan.grid.current_design.mix)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pilot")
    with pytest.raises(SystemExit):
        main(
            ["run", written(folder, ("A", "erratic", "100/s"), ("B", "erratic", "100/s")), "--out", str(folder / "run")]
        )
    return folder / "run"


def test_stated_values_take_precedence_over_those_of_a_pilot(audit: str, pilot: Path) -> None:
    run = read(pilot)
    found = planned(audit, run=run)
    assert set(found.model.sources.values()) == {"pilot"}
    assert found.grid.current_design.topics == 6
    assert 1 < found.grid.designs[0].turns / (8 * 2 * 2) <= 2, "as many as the pilot's conversations had"
    stated = planned(audit, run=run, stated={"mean": 50, "between": 30, "interaction": 10})
    one = stated.model.components
    assert (one.mean, one.topic + one.both, one.both) == pytest.approx((0.5, 0.09, 0.01))
    assert [stated.model.sources[name] for name in ("mean", "between", "interaction")] == ["stated"] * 3


def test_components_are_those_of_the_pilots_variance(audit: str, pilot: Path) -> None:
    found = planned(audit, run=read(pilot), measure=parse("ave%useful"))
    study = study_variance([read(pilot)], measures=[parse("ave%useful")])
    ((_, split),) = study.between["ave%useful", None]
    one = found.model.components
    wanted = [max(0.0, part.value) for part in (split.topic, split.both, split.trial)]
    assert (one.topic, one.both, one.trial) == pytest.approx(wanted)
    assert found.model.sources["within"] == "pilot"


def test_a_pilot_of_one_system_leaves_the_interaction_assumed(tmp_path: Path) -> None:
    audit = written(tmp_path, ("A", "erratic", "100/s"))
    with pytest.raises(SystemExit):
        main(["run", "--no-report", audit, "--out", str(tmp_path / "run")])
    found = planned(audit, run=read(tmp_path / "run"))
    assert (found.model.sources["between"], found.model.sources["interaction"]) == ("pilot", "assumed")
    one = found.model.components
    assert one.both == pytest.approx((one.topic + one.both) / 4)


@pytest.mark.parametrize(
    ("topic", "both", "part", "source"),
    [
        (0.08, 0.02, 0.02, "pilot"),
        (0.1, 0.0, 0.025, "assumed"),
        (0.0, 0.0, 0.0, "pilot"),
        (0.1, math.nan, 0.025, "assumed"),
    ],
)
def test_systems_that_agree_on_every_topic_of_a_pilot_leave_the_interaction_assumed(
    topic: float, both: float, part: float, source: str
) -> None:
    pilot = Pilot(0.6, topic, both, 0.14, math.nan, 2, ())
    found, sources = assumed_components(MEAN_USEFUL, (MEAN_USEFUL.name, None), pilot, {})
    assert found.both == pytest.approx(part)
    assert sources["interaction"] == source
    assert found.topic + found.both == pytest.approx(topic + (0.0 if math.isnan(both) else both))


def test_a_pilot_of_one_topic_is_refused_and_only_possible_options_are_advised(tmp_path: Path) -> None:
    audit = Path(written(tmp_path, ("A", "erratic", "100/s")))
    audit.write_text(audit.read_text().replace("M001, M002, R001, R002, Y001, Y002", "M001"))
    with pytest.raises(SystemExit):
        main(["run", "--no-report", str(audit), "--out", str(tmp_path / "run")])
    one = read(tmp_path / "run")
    audit.write_text(audit.read_text().replace("[M001]", "[M001, M002]"))
    for measure, advised in (
        ("%useful S1", ("mean", "between")),
        ("ave%useful", ("mean", "between", "within")),
        ("%recovery", ("mean", "between", "failing")),
    ):
        with pytest.raises(InputError) as refused:
            planned(str(audit), run=one, measure=parse(measure))
        told = str(refused.value).partition("leave out --from and state ")[2]
        assert told == f"{', '.join(f'--{name}' for name in advised[:-1])} and --{advised[-1]}"
        planned(str(audit), measure=parse(measure), stated=dict.fromkeys(advised, 30.0))


def test_more_systems_share_the_error_rate(audit: str, tmp_path: Path) -> None:
    two = planned(audit, topics=(12,), trials=(8,))
    three = written(tmp_path, ("A", "steady", "1/s"), ("B", "erratic", "1/s"), ("C", "erratic", "1/s"))
    assert (two.model.pairs, planned(three).model.pairs) == (1, 3)
    many = planned(three, topics=(12,), trials=(8,))
    for estimand in ("like-these", "these"):
        assert many.grid.designs[0].power[estimand].found < two.grid.designs[0].power[estimand].found


def test_the_first_line_is_about_topics_like_these_and_the_second_about_these_topics(audit: str) -> None:
    found = planned(audit, stated={"between": 40, "interaction": 39})
    assert answered(found).startswith("Topics or trials? Topics, if the finding is to hold for topics like these: ")
    assert "these topics alone" not in answered(found)
    assert advice(found)[0].startswith("Trials, if it is to hold for these topics alone: twice as many would find it")
    every = planned(audit, detect=80, stated={"mean": 50, "between": 1})
    assert answered(every).startswith("Topics or trials? Neither: 6 topics × 4 trials finds 80 points of ave%useful in")
    assert advice(every)[0].startswith("Neither, if it is to hold for these topics alone: found in ")


def test_the_more_powerful_of_two_designs_with_the_same_cost_is_named(audit: str) -> None:
    study = planned(audit, detect=16, topics=(40, 80), trials=(5, 10))
    powers = {str(one): one.power["like-these"].found for one in study.grid.designs if one.turns == 1600}
    assert 0.8 < powers["40 topics × 10 trials"] < powers["80 topics × 5 trials"]
    named = study.model.smallest(study.grid, "like-these")
    assert named is not None
    assert (named.topics, named.trials) == (80, 5)
    said = " ".join(advice(study))
    assert "80 topics × 5 trials is the cheapest" in said
    assert "1,600 user turns" in said


def test_a_difference_of_many_standard_deviations_is_planned_as_fast_as_any(audit: str) -> None:
    spreads = {"mean": 50, "between": 0.5, "interaction": 0.01, "within": 0.01}
    began = time.process_time()
    found = planned(audit, measure=parse("ave%useful"), detect=90, stated=spreads, studies=None)
    assert found.model.difference / math.sqrt(2 * (found.model.components.both + found.model.components.within)) > 1000
    assert found.grid.current_design.power["like-these"].found == 1
    assert beyond(found)["topics"] <= 8
    assert beyond(found)["trials"] == 1
    assert time.process_time() - began < 10


def test_four_systems_on_45_topics_with_50_trials_are_planned_within_20_seconds(tmp_path: Path) -> None:
    text = Path(written(tmp_path, *((name, "steady", "30/min") for name in "ABCD"))).read_text()
    large = tmp_path / "large.yaml"
    large.write_text(re.sub("only: .*\n", "", text).replace("trials: 4", "trials: 50"))
    began = time.process_time()
    found = plan_difference(load_audit(str(large)), detect=5)
    assert time.process_time() - began < 20
    assert (found.grid.current_design.topics, found.grid.current_design.trials, found.model.pairs) == (45, 50, 6)
    assert len(found.grid.designs) == 16


def test_recovery_is_planned_with_the_number_of_conversations_it_needs(audit: str, pilot: Path) -> None:
    asked = {"detect": 5, "measure": parse("%recovery"), "topics": (20,), "trials": (10,)}
    found = planned(audit, run=read(pilot), **asked)
    assert found.model.coming is not None
    share = float(found.model.coming.mean())
    assert 0.2 < share < 0.7, "of the erratic parrot"
    assert found.model.components.shape == "yes or no"
    (design,) = found.grid.designs
    assert 0 < design.power["these"].width < 1
    assert plan_form(found).head["components"]["failing"] == pytest.approx(share, abs=1e-6)
    with pytest.raises(InputError, match="--failing does not apply: the pilot shows it"):
        planned(audit, run=read(pilot), stated={"failing": 40.0}, **asked)
    stated = {"mean": 50.0, "between": 10.0}
    many, few = (planned(audit, stated={**stated, "failing": one}, **asked) for one in (80.0, 10.0))
    for estimand in ("like-these", "these"):
        assert many.grid.designs[0].power[estimand].width < few.grid.designs[0].power[estimand].width
    assert beyond(many)["topics"] < beyond(few)["topics"]
    shown = StringIO()
    for part in plan_tables(few):
        Console(width=200, file=shown).print(part)
    assert "10.0% of conversations need recovery, ASSUMED to vary between topics" in shown.getvalue()


def test_the_document_has_a_row_for_each_design_and_estimand(audit: str) -> None:
    document = plan_form(planned(audit, topics=(8, 12), trials=(1, 3))).document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    rows = {(row["figure"], row["estimand"], row["topics"], row["trials"]): row["estimate"] for row in document["long"]}
    assert sum(figure == "power" for figure, *_ in rows) == 8
    assert rows["power", "these", 8, 1] is None
    width = "width of the interval"
    assert rows[width, "like-these", 12, 3] < rows[width, "like-these", 8, 1]


def test_a_share_that_is_mistaken_for_points_is_reported_and_an_impossible_number_of_topics_is_never(
    audit: str,
) -> None:
    study = planned(audit, detect=0.05, topics=(4,), trials=(1,))
    said = " ".join(advice(study))
    assert "--detect 0.05 is 0.05 points; for 5 points give --detect 5." in said
    assert "only more than 100,000 topics" in said


@pytest.mark.parametrize("more", [{"detect": 0.001}, {"detect": 1e-9, **STATED}])
def test_the_smallest_detectable_difference_is_planned(audit: str, more: dict[str, Any]) -> None:
    assert beyond(planned(audit, **more))["trials_of_these"] > 1_000_000


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"measure": parse("%recovery")}, r"is unknown(?s:.*)--from, or state --mean, --between, --failing"),
        (
            {"measure": parse("%recovery"), "stated": {"mean": 50.0, "between": 10.0, "failing": 0.0}},
            "must be a percentage",
        ),
        ({"stated": {"failing": 30.0}}, "--failing does not apply: only %recovery"),
        ({"measure": parse("min(R)")}, "a single one has no value of it"),
        ({"measure": parse("%useful S3")}, "%useful S3: no conversation can have that many turns\n  allowed: S1 to S2"),
        ({"measure": parse("R")}, "the variance of R is unknown"),
        ({"measure": parse("%useful S1"), "stated": {"within": 30.0}}, "--within cannot be stated for %useful S1"),
        ({"stated": {"between": 10.0, "interaction": 20.0}}, "more than the spread between topics"),
        ({"stated": {"between": 60.0}}, "--between: topics cannot spread by 60 points around a mean of 60%"),
        ({"stated": {"mean": 120.0}}, "mean 120% is not inside the range(?s:.*)more than 0% and less than 100%"),
        ({"detect": 90}, "--detect: two systems around a mean of 60% cannot differ by 90 points"),
        ({"detect": 1e-200}, "1e-200 points is too small a difference to plan for\n  allowed: from 0.001 points"),
        ({"detect": 1e-200, **STATED}, "1e-200 is too small a difference to plan for\n  allowed: from 1e-09"),
        ({"topics": (5000,), "trials": (50,)}, "too large to simulate"),
    ],
)
def test_an_impossible_plan_is_refused_with_the_reason(audit: str, more: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        planned(audit, **more)


def test_the_command_refuses_invalid_numbers_of_topics(audit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["plan", audit, "--detect", "5", "--topics", "15,x"])
    assert done.value.code == 2
    assert "whole numbers from 4" in capsys.readouterr().err
