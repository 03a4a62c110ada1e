"""How much trials vary, from a run to what is printed: a bot that tires, one that does not, and the shipped demo."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from harvest.cli.main import main
from harvest.studies.variance.figures import sentences
from harvest.studies.variance.rows import variance_rows
from harvest.studies.variance.variance import Figure, SystemVariance, study_variance
from recordings.log.run_folder import read
from scoring.inference.components import within_system
from scoring.inference.instability import between_trials
from scoring.inference.interval import no_interval
from scoring.inference.spreads import Range
from scoring.notation import parse_all
from tests.support.study_rows import figures
from topics.errors import InputError

BOT = '''
def session():
    """Useful while it has heard little in its session."""
    heard = 0

    def answer(text):
        nonlocal heard
        heard += 1
        return "Primer" if heard <= 4 else "I'm sorry, but I can't help with that."

    return answer


def steady():
    return lambda text: "Primer"
'''
AUDIT = """\
format: harvest-audit/1
name: tired
topics: fairweb-45
only: [M001, M002, M003, M004, M005, M006, M007, M008]
protocol: seed-turns
trials: 5
systems:
"""
SYSTEM = "  - {{name: {0}, driver: python, session: {1}, options: {{function: 'bot.py:{2}', takes: nothing}}}}\n"


def played(folder: Path, systems: str) -> Path:
    (folder / "bot.py").write_text(BOT)
    (folder / "audit.yaml").write_text(AUDIT + systems)
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", str(folder / "audit.yaml"), "--out", str(folder / "run")])
    assert done.value.code == 0
    return folder / "run"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four systems: two that tire or would, each with fresh sessions and with continued ones."""
    names = (
        ("tires", "continued", "session"),
        ("tires fresh", "fresh", "session"),
        ("steady", "continued", "steady"),
        ("steady fresh", "fresh", "steady"),
    )
    return played(tmp_path_factory.mktemp("tired"), "".join(SYSTEM.format(*row) for row in names))


def test_an_invalid_kind_of_session_is_treated_as_the_usual_one(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    header = json.loads((copy / "run.json").read_text())
    header["systems"]["tires"]["session"] = "endless"
    (copy / "run.json").write_text(json.dumps(header))
    assert {one.fresh for each in study_variance([read(copy)]).each.values() for one in each} == {None, "steady fresh"}


def test_a_bot_that_tires_is_named_and_one_that_does_not_is_not(run: Path) -> None:
    study = study_variance([read(run)])
    (key,) = [key for key in study.each if key[0] == "%useful"]
    assert key == ("%useful", 1)
    found = {one.system: one for one in study.each[key]}
    tired, steady = found["tires"].carried, found["steady"].carried
    assert tired is not None
    assert steady is not None
    assert (found["tires"].fresh, found["steady"].fresh) == ("tires fresh", "steady fresh")
    assert (tired.found, steady.found) == (True, False)
    assert tired.lost == pytest.approx(-0.5)
    # Useful at places 1 to 4 of 8: the slope of the least squares line through them.
    assert tired.slope == pytest.approx(-8 / 42)
    assert (tired.exchanged, tired.units, tired.sessions, tired.conversations) == ("sessions", 10, 5, 40)
    assert (found["tires fresh"].carried, found["steady fresh"].carried) == (None, None)
    beside = {group.title: group.names for group, _ in study.between[key]}
    assert beside == {
        "2 systems together, continued": ("tires", "steady"),
        "2 systems together, fresh": ("tires fresh", "steady fresh"),
        "2 kinds of session together, tires": ("tires", "tires fresh"),
        "2 kinds of session together, steady": ("steady", "steady fresh"),
    }


def test_the_command_reports_it_first_and_in_words(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["variance", str(run), "--system", "tires", "-m", "%useful S1"])
    said = " ".join(capsys.readouterr().out.split())
    assert "It tires: the loss against fresh sessions changes by -19.05 points from one place in the session" in said
    assert "-50.0 points against fresh sessions on average" in said
    assert (
        "cannot be told (sessions of tires go on from topic to topic, so trials are not independent). "
        "Trials of a topic all agree here, so more topics would narrow the interval for topics like these. "
    ) in said
    assert "exchanging whole sessions with fresh trials" in said
    assert "together" not in said, "one system has nothing beside it"


def test_a_session_that_is_renewed_tires_less_and_a_trial_stays_one_unit(tmp_path: Path) -> None:
    """Sessions of six and of two topics: the bot fails on the fifth and the sixth topic, so on two of eight."""
    renewed = SYSTEM.format("tires", "continued, session_turns: 6", "session")
    folder = played(tmp_path, renewed + SYSTEM.format("tires fresh", "fresh", "session"))
    study = study_variance([read(folder)])
    (found,) = (one for one in study.each["%useful", 1] if one.system == "tires")
    assert found.carried is not None
    assert found.fresh == "tires fresh"
    assert found.carried.lost == pytest.approx(-2 / 8)
    assert (found.carried.places, found.carried.sessions, found.carried.conversations) == (6, 5, 40)
    assert "go on from topic to topic" in found.split.topic.interval.note


def test_sessions_of_several_lengths_have_one_fresh_twin(tmp_path: Path) -> None:
    """The bot fails on all but the first four topics of a session: on 4 of 8, on 2 of 8, and never."""
    names = (("whole", "continued"), ("six", "continued, session_turns: 6"), ("four", "continued, session_turns: 4"))
    systems = "".join(SYSTEM.format(name, session, "session") for name, session in (*names, ("alone", "fresh")))
    study = study_variance([read(played(tmp_path, systems))])
    key = ("%useful", 1)
    lost = {one.system: (one.fresh, one.carried.lost) for one in study.each[key] if one.carried is not None}
    assert {name: twin for name, (twin, _) in lost.items()} == dict.fromkeys(("whole", "six", "four"), "alone")
    assert [lost[name][1] for name in ("whole", "six", "four")] == pytest.approx([-4 / 8, -2 / 8, 0])
    ((group, _),) = study.between[key]
    assert (group.title, group.names) == ("4 kinds of session together", ("whole", "six", "four", "alone"))


def test_renewed_sessions_alone_have_no_twin(tmp_path: Path) -> None:
    systems = (SYSTEM.format(f"of {turns}", f"continued, session_turns: {turns}", "session") for turns in (4, 6))
    study = study_variance([read(played(tmp_path, "".join(systems)))])
    assert [one.fresh for one in study.each["%useful", 1]] == [None, None]
    assert [group.names for group, _ in study.between["%useful", 1]] == [("of 4", "of 6")]


def test_seconds_are_not_used_in_counts_that_chance_decides(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["variance", str(run), "--system", "steady", "-m", "latency"])
    said = capsys.readouterr().out.partition("topics like these: the")[0]
    assert "spread between trials" in said
    assert not re.search("disagree|differ|pass|place", said)


@pytest.mark.parametrize("order", ["as-written", "shuffled"])
def test_without_fresh_sessions_the_order_of_topics_may_be_the_reason(
    order: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = played(tmp_path, SYSTEM.format("tires", "continued", "session") + f"order: {order}\n")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["variance", str(folder), "-m", "%useful S1"])
    said = " ".join(capsys.readouterr().out.split())
    assert "It tires: the value changes by -" in said
    cautious = "All sessions had one order, so topics may simply grow harder or easier" in said
    assert cautious == (order == "as-written")
    exchanged = {"as-written": "the places of topics of one type", "shuffled": "the orders of sessions"}[order]
    assert f"p by exchanging {exchanged}" in said


def test_rows_have_the_same_form_and_name_their_subject(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["variance", str(run), "--json", "-k", "3", "-k", "9", "--level", "0.9"])
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "harvest-variance/2"
    rows = document["long"]
    assert {row["level"] for row in rows} == {0.9, None}
    assert {row["estimand"] for row in rows} == {"like-these", "these"}
    (three,) = figures(document, "pass^3", system="tires", turn=1)
    (nine,) = figures(document, "pass^9", system="tires", turn=1)
    assert (three["estimate"], three["topics"], three["trials"]) == (0.5, 8, 40)
    assert (nine["estimate"], nine["note"]) == (None, "no topic has 9 trials")
    assert all(row["topics"] for row in rows if row["estimate"] is not None)
    (how,) = (one for one in document["carried"] if (one["system"], one["turn"]) == ("tires", 1))
    assert (how["exchanged"], how["units"], how["fresh"], how["found"]) == ("sessions", 10, 40, True)
    assert {row["sessions"] for row in figures(document, "slope a place", system="tires")} == {5}
    assert ("system", ["tires", "steady"]) in [(one["facet"], one["systems"]) for one in document["together"]]


def test_the_same_run_and_seed_give_the_same_rows_also_for_a_system_alone(run: Path) -> None:
    whole = [row.as_json() for row in variance_rows(study_variance([read(run)]))]
    assert whole == [row.as_json() for row in variance_rows(study_variance([read(run)]))]
    alone = [row.as_json() for row in variance_rows(study_variance([read(run)], systems=["tires"]))]
    assert alone == [row for row in whole if row["system"] == "tires"]


def test_measures_are_those_of_single_trials_and_systems_those_of_the_run(run: Path) -> None:
    recorded = read(run)
    every = study_variance([recorded], measures=parse_all("%useful"))
    assert list(every.each) == [("%useful", 1)]
    for measure in ("%recovery", "CVaR(R)"):
        with pytest.raises(InputError, match="a single one has no value of it"):
            study_variance([recorded], measures=parse_all(measure))
    with pytest.raises(InputError, match="%useful S9: no conversation can have that many turns\n  allowed: S1 to S1"):
        study_variance([recorded], measures=parse_all("%useful S9"))
    with pytest.raises(InputError, match="no trial of a system 'tire' is valid"):
        study_variance([recorded], systems=["tire"])


def test_sentences_about_the_share_of_topics_follow_from_its_interval() -> None:
    """By hand: shares that leave no doubt, one that does, and one without an interval."""

    def said(cells: NDArray[np.float64], within: Range, measure: str) -> str:
        split = within_system(cells, level=0.95, within=within)
        none = Figure(math.nan, 0, 0, no_interval())
        trials = between_trials(cells, np.random.default_rng(0))
        one = SystemVariance("A", (measure, None), split, None, none, none, trials, None, None)
        return next(sentences(one, 0.95))

    rng, shares = np.random.default_rng(5), Range(0.0, 1.0)
    tossed = (rng.random((60, 8)) < 0.5).astype(np.float64)
    assert said(tossed, shares, "ave%useful").startswith("Most of the spread is between trials of one topic: ")
    settled = np.repeat((np.arange(60) % 2).astype(np.float64)[:, None], 8, axis=1)
    settled[0, 0] = 1 - settled[0, 0]
    assert said(settled, shares, "ave%useful").startswith("Most of the spread is between topics: ")
    # Mean .975 with one useless answer: all of the variance is between trials, and nobody knows what others would do.
    rare = np.ones((8, 5))
    rare[0, 0] = 0
    assert said(rare, shares, "ave%useful").startswith("Topics and trials of one topic both count, and which counts")
    seconds = said(rng.gamma(2, size=(8, 5)), Range(0.0, math.inf, has_top=False), "latency")
    assert "whether topics or trials bring most of it cannot be told (8 topics: where a measure has no top" in seconds
    assert "narrow the interval for topics like these by a share that cannot be told" in seconds


def test_absurdly_many_trials_are_refused_at_once(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["variance", str(run), "-k", "1000000000000000000000"])
    assert done.value.code == 2
    assert "1<=x<=10000" in capsys.readouterr().err


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(
    run: Path, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    with pytest.raises(SystemExit):
        main(["variance", str(run)])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert re.search(r"2 systems together, fresh, %useful S1\n  ", out)


def test_one_system_in_several_wordings_and_runs_has_its_spread_between_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bot.py").write_text(_READS)
    arms = "arms:\n  as written: {}\n  keywords: {wording: {keywords: 1}}\n"
    system = "  - {name: reads, driver: python, options: {function: 'bot.py:session', takes: nothing}}\n"
    (tmp_path / "audit.yaml").write_text(AUDIT + system + arms)
    for run in ("one", "two"):
        with pytest.raises(SystemExit):
            main(["run", "--no-report", str(tmp_path / "audit.yaml"), "--out", str(tmp_path / run)])
    runs = [read(tmp_path / name) for name in ("one", "two")]
    key = ("%useful", 1)
    found = {group.title: (group, split) for group, split in study_variance(runs).between[key]}
    assert list(found) == [
        f"2 {what}"
        for what in ("arms together, one", "arms together, two", "runs together, as written", "runs together, keywords")
    ]
    arms_apart, runs_apart = (found[title][1] for title in ("2 arms together, one", "2 runs together, keywords"))
    # Useful where it is asked in sentences, never where in keywords, and the same in both runs.
    assert arms_apart.system.value == pytest.approx(0.5)
    assert (runs_apart.system.value, runs_apart.topics) == (0, 8)
    (alone,) = study_variance(runs[:1]).between[key]
    assert alone[0].title == "2 arms together"
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["variance", str(tmp_path / "one"), "-m", "%useful S1"])
    said = " ".join(capsys.readouterr().out.split())
    # Eight topics do not exclude others that turn the arms round.
    assert "Which part of the spread is the largest cannot be told. Of the variance of single trials 100% is" in said
    assert re.search(r"spread between arms 70\.7 points \[[1-9][\d.]+, 70\.7\]", said)
    assert "arm × topic: arms that suit some topics more than others" in said


_READS = '''
def session():
    """Useful to whom asks in sentences."""
    return lambda text: "Primer" if text.endswith(".") else "I'm sorry, but I can't help with that."
'''


def test_systems_of_runs_with_different_numbers_of_trials_are_combined(tmp_path: Path) -> None:
    for name, trials in (("five", 5), ("three", 3)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(BOT)
        audit = AUDIT.replace("trials: 5", f"trials: {trials}") + SYSTEM.format(name, "fresh", "steady")
        (tmp_path / name / "audit.yaml").write_text(audit)
        with pytest.raises(SystemExit):
            main(["run", str(tmp_path / name / "audit.yaml"), "--out", str(tmp_path / name / "run"), "--no-report"])
    study = study_variance([read(tmp_path / name / "run") for name in ("five", "three")])
    ((group, found),) = study.between[("%useful", 1)]
    assert (group.names, found.topics) == (("five", "three"), 8)
    assert found.system.value == 0, "both always answer the same"
