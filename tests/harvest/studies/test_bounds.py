"""The bounds of an audit: what can be bound, in what range, and what a figure is called that keeps one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harvest.cli.main import main
from recordings.conversation import TrialKey
from scoring.notation import parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow
from tests.support.scoring_examples import CHAT, conversation, topic_set
from topics.errors import InputError
from topics.topic import Topic

AUDIT = """\
format: harvest-audit/1
name: bound
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
gold: parrot
trials: {trials}
seed: 1
systems: [{{name: A, driver: parrot, options: {{profile: steady}}}}]
thresholds:
"""


def command(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    """Exit code, and all that was said."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert isinstance(ended.value.code, int)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return ended.value.code, printed.out + printed.err


def audit(folder: Path, *thresholds: str, trials: int = 2) -> Path:
    path = folder / "audit.yaml"
    path.write_text(AUDIT.format(trials=trials) + "".join(f"  - {{{bound}}}\n" for bound in thresholds))
    return path


def test_a_measure_may_be_bound_in_any_way_it_may_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measures = [
        "CVaR(R)",
        "WAN(conciseness)",
        '"SWAN(weights=linear)"',
        "pooled(GF(RATINGS))",
        '"of_pooled(GF(ORIGIN))"',
    ]
    path = audit(tmp_path, *(f"measure: {measure}, at_least: 0" for measure in measures))
    code, told = command(capsys, "run", path, "--out", tmp_path / "run")
    assert (code, "threshold missed" in told) == (0, False), told
    code, told = command(capsys, "score", tmp_path / "run")
    assert (code, "threshold missed" in told) == (0, False), told


def test_a_bound_that_is_missed_says_what_was_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit(tmp_path, "measure: CVaR(R), at_least: 0.9")
    code, told = command(capsys, "run", path, "--out", tmp_path / "run")
    assert code == 1
    assert "threshold missed: CVaR(R), A: 0.00" in told
    assert "wanted at least 0.9" in told


@pytest.mark.parametrize(
    ("bound", "allowed"),
    [
        ("measure: persistence, at_most: -1.5", "-1 to 1"),
        ("measure: persistence, at_most: 2", "-1 to 1"),
        ("measure: R, at_least: -0.1", "0 to 1"),
        ("measure: ave%useful, at_least: 80", "0 to 1"),
        ("measure: P(breakdown), at_most: 1.01", "0 to 1"),
    ],
)
def test_a_bound_outside_the_range_of_its_measure_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bound: str, allowed: str
) -> None:
    code, told = command(capsys, "check", audit(tmp_path, bound))
    assert code == 2
    assert "audit.yaml:11:" in told
    assert f"allowed: {allowed}" in told


def test_a_turn_may_be_bound_as_tables_print_it_or_by_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ("%useful S1, A: ", "%useful of turn 1, A: ")
    path = audit(tmp_path, 'measure: "%useful S1", at_most: 0', 'measure: "%useful", turn: 1, at_most: 0')
    code, said = command(capsys, "run", path, "--out", tmp_path / "run")
    assert code == 1
    assert all(f"threshold missed: {one}" in said for one in told)
    code, said = command(capsys, "score", tmp_path / "run", "-m", "R")
    assert code == 1
    assert all(f"threshold missed: {one}" in said for one in told)
    assert " %useful S1 " not in said  # a bound needs a figure that nobody asked to see


@pytest.mark.parametrize(
    ("bound", "what"),
    [
        ('measure: "%useful S3", at_least: 0', "the protocol has no turn 3\n  allowed: 1 to 2"),
        ('measure: "%useful", turn: 3, at_least: 0', "the protocol has no turn 3"),
        ('measure: "%useful S1", turn: 2, at_least: 0', "%useful S1 names another turn than 2"),
        ('measure: "%useful", at_least: 0', "%useful is of a turn"),
        ("measure: R, turn: 1, at_least: 0", "R does not apply to a single turn"),
    ],
)
def test_a_bound_of_a_turn_that_cannot_be_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bound: str, what: str
) -> None:
    code, told = command(capsys, "check", audit(tmp_path, bound))
    assert (code, what in told) == (2, True), told


@pytest.mark.parametrize("measure", ["R", "CVaR(R)", "GF(RATINGS)", "GFR", "pooled(GF(RATINGS))"])
def test_what_needs_gold_cannot_be_bound_in_an_audit_without_it_and_nothing_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], measure: str
) -> None:
    path = audit(tmp_path, f"measure: {measure}, at_least: 0")
    path.write_text(path.read_text().replace("gold: parrot\n", ""))
    for words in (("check", path), ("run", path, "--out", tmp_path / "run")):
        code, told = command(capsys, *words)
        assert code == 2
        assert f"{measure} needs a gold table and the audit has none" in told
    assert not (tmp_path / "run").exists()


def test_persistence_may_be_bound_below_nought(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = command(capsys, "check", audit(tmp_path, "measure: persistence, at_most: -0.1"))
    assert code == 0, told


def test_a_worst_case_within_topics_cannot_be_bound_in_an_audit_of_too_few_trials(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = 'measure: "CVaR(R, beta=0.5, within=topics)", at_least: 0'
    code, told = command(capsys, "check", audit(tmp_path, bound, trials=19))
    assert code == 2
    assert "audit.yaml:11:" in told
    assert "CVaR(R, beta=0.5, within=topics) needs 20 trials of each topic, and the audit plays 19" in told
    assert "play 20 trials, or leave out within=topics" in told
    code, told = command(capsys, "check", audit(tmp_path, bound, trials=20))
    assert code == 0, told


def test_a_run_that_lost_trials_of_such_a_bound_still_has_its_other_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = 'measure: "CVaR(R, beta=1, within=topics)", at_least: 0'
    path = audit(tmp_path, bound, trials=10)
    assert command(capsys, "run", path, "--out", tmp_path / "run")[0] == 0
    (events,) = (tmp_path / "run").glob("trials-*.jsonl")
    rows = events.read_text().splitlines(keepends=True)
    ended = [row for row in rows if json.loads(row)["event"] == "trial-ended"]
    events.write_text("".join(row for row in rows if row != ended[-1]))
    code, told = command(capsys, "score", tmp_path / "run")
    assert code == 1
    assert "threshold missed: CVaR(R, beta=1, within=topics), A: n/a, wanted at least 0" in told
    assert "%useful" in told


def test_what_was_never_to_have_enough_trials_is_refused_and_what_lost_some_has_no_value() -> None:
    topics = topic_set(*(Topic(name, CHAT, "list") for name in ("T1", "T2")))
    talks = [
        conversation(("list", "a clock"), topic=topic, trial=trial, system="A")
        for topic in ("T1", "T2")
        for trial in range(1, 11)
        if (topic, trial) != ("T2", 4)
    ]

    def whole(measure: str) -> ScoreRow:
        asked, lost = [parse(measure)], [TrialKey("A", "T2", 4)]
        rng = np.random.default_rng(0)
        table = score(talks, topics, None, Settings(), rng, invalid=lost, measures=asked, only=True)
        (row,) = table.select(topic=None, topic_type=None, trial=None)
        return row

    row = whole("CVaR(WAN(Conciseness), beta=1, within=topics)")
    assert np.isnan(row.value)
    assert row.n == 0
    assert "topic 'T2' has 9 trials with a score" in row.note
    assert "play 1 more, ask for the plain mean of the measure, or" in row.note
    with pytest.raises(InputError, match="at least 20 trials"):
        whole("CVaR(WAN(Conciseness), beta=0.5, within=topics)")
