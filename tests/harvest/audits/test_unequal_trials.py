"""Topics that are played different numbers of times: what is played, resumed and extended, and that topics still count
alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.playing.plan import make_plan
from harvest.studies.runs.readings import recorded_audit
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from topics.errors import InputError

AUDIT = (
    "format: harvest-audit/1\nname: uneven\ntopics: fairweb-45\nonly: [M001, R001, Y001]\n"
    "protocol: fairweb-two-round\ntrials: 2\nTRIALS_OF"
    "systems:\n  - {name: A, driver: parrot, options: {profile: erratic}}\n"
    "  - {name: B, driver: parrot, options: {profile: steady}}\n"
)
OWN = "trials_of: {R001: 5, Y001: 1}\n"
WANTED = {"M001": 2, "R001": 5, "Y001": 1}


def written(folder: Path, own: str = OWN, more: str = "") -> str:
    path = folder / "audit.yaml"
    path.write_text(AUDIT.replace("TRIALS_OF", own) + more)
    return str(path)


def played(run: Path) -> Counter[tuple[str, str]]:
    return Counter((one.key.system, one.key.topic) for one in read(run).finished)


def test_each_topic_is_played_its_own_number_of_times_also_when_resumed_and_extended(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert harvest("run", written(tmp_path, ""), "--out", run).returncode == 0
    done = harvest("run", written(tmp_path), "--out", run)
    assert done.returncode == 0, done.stderr
    assert played(run) == {(s, t): max(2, n) for s in "AB" for t, n in WANTED.items()}, "what was played stays"
    plan = make_plan(load_audit(written(tmp_path)), read(run).conversations)
    assert (plan.planned, plan.recorded, plan.to_play) == (16, 16, 0)
    fresh = tmp_path / "fresh"
    assert harvest("run", written(tmp_path), "--out", fresh).returncode == 0
    assert played(fresh) == {(s, t): n for s in "AB" for t, n in WANTED.items()}
    assert recorded_audit(read(fresh))["trials_of"] == {"R001": 5, "Y001": 1}


def test_check_shows_the_numbers_and_leaving_topics_out_drops_theirs(tmp_path: Path) -> None:
    audit = written(tmp_path)
    said = harvest("check", audit)
    assert "trials of each: 1 to 5" in said.stdout
    assert "trials: 16 planned, 0 recorded, 16 to play" in said.stdout
    assert json.loads(harvest("check", audit, "--json").stdout)["trials_of"] == {"R001": 5, "Y001": 1}
    assert load_audit(audit, only=("M001",)).trial_range == (2, 2)
    assert load_audit(audit, trials=3).trial_range == (3, 3), "--trials is of every topic"


def test_a_figure_is_the_mean_of_topic_means(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert harvest("run", written(tmp_path), "--out", run).returncode == 0
    rows = json.loads(harvest("score", run, "--json").stdout)["rows"]
    for system in "AB":
        for measure, turn in (("%useful", 1), ("ave%useful", None)):
            own = [r for r in rows if (r["system"], r["measure"], r["turn"]) == (system, measure, turn)]
            each = [r["value"] for r in own if r["topic"] is not None]
            (whole,) = [
                r["value"] for r in own if r["topic"] is None and r["topic_type"] is None and r["trial"] is None
            ]
            assert len(each) == 3
            assert whole == pytest.approx(sum(each) / 3)


def test_an_unknown_topic_and_a_number_of_zero_are_refused_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="X999") as unknown:
        load_audit(written(tmp_path, "trials_of: {X999: 3}\n"))
    assert unknown.value.place is not None
    assert unknown.value.place.line == 7
    with pytest.raises(
        InputError, match="topic 'M003' is not played, so it cannot have a number of trials"
    ) as left_out:
        load_audit(written(tmp_path, "trials_of: {M003: 3}\n"))
    assert left_out.value.place is not None
    assert left_out.value.place.line == 7
    with pytest.raises(InputError) as none:
        load_audit(written(tmp_path, "trials_of: {M001: 0}\n"))
    assert none.value.place is not None
    assert none.value.place.line == 7
