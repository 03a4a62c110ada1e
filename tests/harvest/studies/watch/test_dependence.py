"""Trials of a watch that are near each other in time may be alike, which its intervals cannot know."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.trial_figures import figure_values, figures_of
from harvest.studies.watch.dependence import dependence_in_time
from harvest.tables.comparison_words import p_text
from recordings.log.run_folder import read
from scoring.inference.in_time import time_dependence
from scoring.notation import parse_all
from tests.support.command_line import harvest
from tests.support.watched_bot import WATCHED, becomes, watch

STRETCHES = """\
import json, pathlib
STATE = pathlib.Path(__file__).with_name("state.json")
def answer(text, seed=0):
    state = json.loads(STATE.read_text())
    state["n"] += 1
    STATE.write_text(json.dumps(state))
    return "See https://www.imdb.com/title/tt0390384/" if state["n"] // 18 % 2 == 0 else "no"
"""
LARGE = WATCHED.replace("[M001,", "[M009, M010, M011, M012, M013, M014, M015, M001,")


@pytest.fixture
def in_stretches(tmp_path: Path) -> Path:
    """A watch of a bot whose answers are useless for some time and then useful for some time."""
    watch(tmp_path, LARGE)
    (tmp_path / "bot.py").write_text(STRETCHES)
    return tmp_path


def test_blessing_and_audits_warn_of_trials_that_are_alike_in_time(in_stretches: Path) -> None:
    for name in ("one", "two"):
        assert harvest("run", "audit.yaml", "--out", name, cwd=in_stretches).returncode == 0
    done = harvest("watch", "bless", "one", "two", "--out", "audit.baseline.json", "--by", "me", cwd=in_stretches)
    said = " ".join(done.stderr.split())
    assert "bot: trials of the blessed runs that are near each other in time are alike (ave%useful, lag 1 0." in said
    assert "p <.001): intervals are wider for it, but alarms treat trials as independent" in said
    (kept,) = json.loads((in_stretches / "audit.baseline.json").read_text())["systems"].values()
    assert all(figure["inflation"] > 1.5 for figure in kept["figures"].values())

    done = harvest("watch", "run", "audit.yaml", "--json", cwd=in_stretches)
    said = " ".join(done.stderr.split())
    assert said.count("that are near each other in time are alike") == 1
    (system,) = json.loads(done.stdout)["systems"]
    assert all(told.startswith("ave%useful, lag 1 ") for told in system["alike_in_time"].values())


def test_independent_trials_raise_no_warning(tmp_path: Path) -> None:
    watch(tmp_path, LARGE)
    becomes(tmp_path, useful=60)
    assert harvest("run", "audit.yaml", "--out", "one", cwd=tmp_path).returncode == 0
    done = harvest("watch", "bless", "one", "--out", "audit.baseline.json", "--by", "me", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "near each other in time" not in done.stderr
    kept = (tmp_path / "audit.baseline.json").read_text()
    assert "in_time" not in kept, "older versions can read the file, too"
    assert "inflation" not in kept

    (tmp_path / "bot.py").write_text(STRETCHES)
    done = harvest("watch", "run", "audit.yaml", cwd=tmp_path)
    assert "bot: trials of this audit that are near each other" in " ".join(done.stdout.split())


def test_trials_without_times_are_compared_only_within_their_topic(in_stretches: Path) -> None:
    """Imported runs may have no times, and the order of their topics says nothing."""
    assert harvest("run", "audit.yaml", "--out", "one", cwd=in_stretches).returncode == 0
    gathered = gather_runs([read(in_stretches / "one")])
    (figure,) = figures_of(parse_all("ave%useful"), gathered.settings, gathered.material, gated=True)
    timeless = replace(
        gathered.material, conversations=[replace(one, started_at="") for one in gathered.material.conversations]
    )
    of_topics = figure_values("bot", timeless, [figure], gathered.settings)[figure.name].values()
    within = time_dependence(np.array(list(of_topics)))
    found, inflation = dependence_in_time("bot", [timeless], [figure], gathered.settings, p=1)
    assert found == f"ave%useful, lag 1 {within.lag:.2f}, p {p_text(within.p)}"
    assert inflation == within.inflation
