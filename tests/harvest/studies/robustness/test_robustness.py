"""Arms beside their control: an arm that breaks the system is found, one that changes nothing is not."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from harvest.audits.audit import load_audit
from harvest.playing.play import play
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.robustness.ranking_by_user import ranking_by_user
from harvest.studies.robustness.robustness import Robustness, robustness
from harvest.studies.scores.arms import armed_systems, gather_arms
from recordings.log.run_folder import Run
from scoring.inference.components import across_systems
from scoring.inference.spreads import Range
from scoring.notation import parse
from tests.harvest.audits.test_arms import audit_file
from tests.support.command_line import harvest
from tests.support.study_rows import figures
from topics.errors import InputError

ARMS = {"as written": {}, "same": {"wording": {"typos": 0}}, "keywords": {"wording": {"keywords": 1}}}
TOPICS = [f"{kind}{number:03d}" for kind in "MR" for number in range(1, 6)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("robust")
    one = [{"name": "A", "driver": "parrot"}]
    return play(load_audit(audit_file(folder, arms=ARMS, only=TOPICS, systems=one)), folder / "run")


@pytest.fixture(scope="module")
def found(run: Run) -> Robustness:
    (one,) = robustness(gather_arms(run, measures=[parse("ave%useful"), parse("%useful S1")]))
    return one


def test_the_arm_that_breaks_the_system_is_found_and_the_worst(found: Robustness) -> None:
    measure = found.measures[0]
    assert (measure.label, measure.topics["keywords"], measure.worst) == ("ave%useful", 10, "keywords")
    own = measure.differences["keywords"]
    assert measure.apart == own.value
    assert measure.interval.low < own.interval.low < own.interval.high < measure.interval.high
    broken, same = measure.differences["keywords"], measure.differences["same"]
    assert broken.beyond
    assert broken.interval.low < broken.value < broken.interval.high < 0
    assert not same.beyond
    assert same.n == broken.n == 30
    assert measure.spread.value > 0.1
    assert found.family == 4


def test_a_spread_over_arms_excludes_0_only_if_an_arm_is_found(found: Robustness, tmp_path: Path) -> None:
    """One sentence must not say that no arm can be told from the control and that arms lie apart."""
    for measure in found.measures:
        assert any(one.beyond for one in measure.differences.values())
    assert found.measures[0].spread.interval.low > 0
    # Six topics cannot give a p that is small enough for four comparisons, however far the arms lie apart.
    one = [{"name": "A", "driver": "parrot"}]
    played = play(load_audit(audit_file(tmp_path, arms=ARMS, only=TOPICS[:6], systems=one)), tmp_path / "run")
    (few,) = robustness(gather_arms(played, measures=[parse("ave%useful"), parse("%useful S1")]))
    for measure in few.measures:
        assert not any(one.beyond for one in measure.differences.values())
        assert measure.spread.value > 0.1
        assert measure.spread.interval.low == 0
    shown = " ".join(harvest("robustness", played.path).stdout.split())
    assert "cannot tell whether any arm differs from the control; spread over arms" in shown
    assert re.search(r"spread over arms [\d.]+ \[0\.0, ", shown)


def test_one_difference_has_one_interval_and_one_sign_in_compare_and_here(run: Run, found: Robustness) -> None:
    compared = compare_runs([run], measures=[parse("ave%useful")])
    (measure,) = compared.measures
    assert compared.systems[-1] == "A [as written]", "the control comes last"
    for arm in ("keywords", "same"):
        own = found.measures[0].differences[arm]
        (pair,) = [one for one in measure.pairs if (one.first, one.second) == (f"A [{arm}]", "A [as written]")]
        assert (pair.value, pair.interval) == (own.value, own.interval)


def test_actual_changes_and_flips_are_reported(found: Robustness) -> None:
    assert found.changed["same"].other == 0
    assert found.changed["same"].words == 0
    assert found.changed["keywords"].other == found.changed["keywords"].openings == 30
    assert 0.1 < found.changed["keywords"].words < 1
    assert len(found.flips["keywords"].names) > len(found.flips["same"].names)
    assert len(found.flips["keywords"].names) > 2 * found.flips["keywords"].by_chance


def test_the_rows_contain_every_figure_and_the_page_fits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(harvest("robustness", run.path, "--json").stdout)
    assert document["format"] == "harvest-robustness/2"
    told = {(row["system"], row["figure"]) for row in document["long"]}
    assert ("A, keywords", "difference from control") in told
    assert ("A, keywords", "topics turned round") in told
    assert ("A, same", "words changed") in told
    assert ("A", "variance between arms") in told
    (system,) = (one for one in document["systems"] if one["system"] == "A")
    assert {one["arm"] for one in system["worst"]} == {"keywords"}
    (turned,) = figures(document, "topics turned round", system="A, keywords")
    assert turned["estimate"] == len(system["turned_round"]["keywords"])
    monkeypatch.setenv("COLUMNS", "80")
    shown = harvest("robustness", run.path)
    assert shown.returncode == 0
    assert "keywords differs by -" in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())


def test_an_impossible_comparison_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="that many turns"):
        robustness(gather_arms(run, measures=[parse("%useful S9")]))
    with pytest.raises(InputError, match="many conversations at once"):
        robustness(gather_arms(run, measures=[parse("CVaR(R)")]))
    other = play(load_audit(audit_file(tmp_path, arms=None)), tmp_path / "run")
    with pytest.raises(InputError, match="not played in arms"):
        armed_systems(other)


def test_csv_latex_and_a_figure_contain_the_same_as_json(run: Run, tmp_path: Path) -> None:
    known = json.loads(harvest("robustness", run.path, "--json").stdout)["long"]
    table = list(csv.DictReader(io.StringIO(harvest("robustness", run.path, "--csv").stdout)))
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in known] == table
    (broken,) = [row for row in table if (row["figure"], row["system"]) == ("difference from control", "A, keywords")]
    assert (broken["other"], broken["estimand"], broken["study"]) == ("A, as written", "like-these", "robustness")
    assert float(broken["low"]) < float(broken["estimate"]) < float(broken["high"]) < 0
    assert r"\begin{tabular}" in harvest("robustness", run.path, "--latex").stdout
    done = harvest("robustness", run.path, "--figure", tmp_path / "arms.svg")
    assert done.returncode == 0, done.stderr
    svg = (tmp_path / "arms.svg").read_text(encoding="utf-8")
    texts = [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "keywords − as written" in texts


def test_which_system_is_better_may_depend_on_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One system answers whole sentences only, the other keywords only."""
    good = "'https://www.imdb.com/title/tt0088763/ https://dblp.org/pid/65/9612 https://www.youtube.com/watch?v=dQw4w9WgXcQ'"
    (tmp_path / "bots.py").write_text(
        f"def whole(text): return {good} if 'Please' in text else 'What?'\n"
        f"def terse(text): return {good} if 'Please' not in text else 'What?'\n"
    )
    bots = [
        {"name": name, "driver": "python", "options": {"function": f"bots.py:{function}"}}
        for name, function in (("A", "whole"), ("B", "terse"), ("C", "whole"))
    ]
    arms = {name: ARMS[name] for name in ("as written", "keywords")}
    topics = [f"{kind}{number:03d}" for kind in "MY" for number in range(1, 11)]
    run = play(load_audit(audit_file(tmp_path, arms=arms, only=topics, systems=bots)), tmp_path / "run")
    one, same, other = ranking_by_user(gather_arms(run, measures=[parse("%useful S1")]))
    assert (one.found.first, one.found.second, same.found.second, other.found.first) == ("A", "B", "C", "B")
    assert (one.dependence, one.first, one.second) == ("which", ("as written",), ("keywords",))
    assert (other.dependence, other.first, other.second) == ("which", ("keywords",), ("as written",))
    assert (same.dependence, same.better_in_every_arm) == ("", "")
    assert one.found.interactions["keywords"].value == pytest.approx(-2.0)
    monkeypatch.setenv("COLUMNS", "80")
    shown = harvest("robustness", run.path, "-m", "%useful S1").stdout
    assert all(len(line) <= 80 for line in shown.splitlines())
    flat = " ".join(shown.split())
    assert "which is better depends on the user: as written (by 100.0 points [" in flat
    assert "prefers A and keywords (by 100.0 points [" in flat
    assert "order of the systems beside that in the control, tau-b: keywords -1.00" in flat
    document = json.loads(harvest("robustness", run.path, "-m", "%useful S1", "--json").stdout)
    (told,) = (one for one in document["rankings"] if one["other"] == "B")
    assert (told["depends"], told["prefer_system"], told["prefer_other"]) == ("which", ["as written"], ["keywords"])
    rows = list(csv.DictReader(io.StringIO(harvest("robustness", run.path, "--csv").stdout)))
    assert {row["figure"] for row in rows} >= {
        "difference between systems",
        "difference between systems, against the control",
    }


def test_arms_of_users_show_turns_acts_and_ends_instead_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient, hasty = {"simulator": "random", "leave": 0.1}, {"simulator": "random", "leave": 0.6}
    arms = {
        "patient": {"users": {"visitor": patient}},
        "hasty": {"users": {"visitor": hasty}},
        "typos": {"users": {"visitor": patient}, "wording": {"typos": 0.2}},
    }
    one = [{"name": "A", "driver": "parrot"}]
    audit = audit_file(tmp_path, arms=arms, systems=one, protocol="open-ended", only=TOPICS, trials=4)
    played = play(load_audit(audit), tmp_path / "run")
    (found,) = robustness(gather_arms(played))
    assert found.system.users == {"hasty"}
    assert set(found.behaviour) == {"patient", "hasty"}
    for arm, own in found.behaviour.items():
        spoken = [one for one in played.finished if one.key.system == f"A [{arm}]"]
        assert own.conversations == len(spoken) == 40
        assert own.turns == pytest.approx(sum(len(one.turns) for one in spoken) / 40)
        assert sum(own.acts.values()) == pytest.approx(1)
        assert sum(own.ends.values()) == pytest.approx(1)
    assert found.behaviour["hasty"].turns < 0.6 * found.behaviour["patient"].turns
    monkeypatch.setenv("COLUMNS", "80")
    shown = harvest("robustness", played.path).stdout
    assert all(len(line) <= 80 for line in shown.splitlines())
    lines = [line.split() for line in shown[shown.index("openings changed") :].splitlines()]
    (hasty_row,) = [line for line in lines if line[:1] == ["hasty"]]
    (typos_row,) = [line for line in lines if line[:1] == ["typos"]]
    assert hasty_row[1:4] == [str(len(found.flips["hasty"].names)), "of", "10"], "no words to count"
    assert typos_row[2:4] == ["of", "40"]
    assert re.search(r"arm +turns +acts +ends", shown)
    scored = harvest("score", played.path).stdout
    assert "note: Users left after" in scored, "what no figure charges is said beside the figures"
    document = json.loads(harvest("robustness", played.path, "--json").stdout)
    told = {(row["system"], row["figure"], row["note"]): row["estimate"] for row in document["long"]}
    assert told["A, hasty", "user turns", None] == pytest.approx(found.behaviour["hasty"].turns)
    assert told["A, hasty", "end", "user-stopped (left)"] == pytest.approx(
        found.behaviour["hasty"].ends["user-stopped (left)"]
    )


def test_no_spread_of_shares_exceeds_the_possible_maximum() -> None:
    rng = np.random.default_rng(3)
    for arms in range(2, 7):
        most = 0.25 * arms / (arms - 1) * (1 - (arms % 2) / arms**2)
        for topics in (5, 6, 8, 20):
            for share in (0.02, 0.5):
                drawn = (rng.random((arms, topics, 3)) < share).astype(float)
                apart = np.repeat((np.arange(arms) % 2.0)[:, None, None], topics, axis=1).repeat(3, axis=2)
                for table in (drawn, apart, np.abs(apart - drawn)):
                    spread = across_systems(table, level=0.95, within=Range(0.0, 1.0)).system
                    assert not spread.value > most + 1e-12
                    assert not spread.interval.high > most + 1e-12
