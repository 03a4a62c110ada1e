"""The bounds of an audit: what can be bound, in what range, and what a figure is called that keeps one."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from harvest.audits.scoring_section import Threshold
from harvest.cli.main import main
from harvest.studies.scores.bounds import CheckedBound, Verdict, checked_bounds, exit_code
from recordings.conversations.conversation import TrialKey
from recordings.log.chain import chain_file
from scoring.inference.unseen_topic import answer_ends
from scoring.notation import parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow, ScoreTable
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
    assert (code, told.count("threshold kept")) == (0, len(measures)), told
    code, told = command(capsys, "score", tmp_path / "run")
    assert (code, told.count("threshold kept")) == (0, len(measures)), told


def test_a_bound_that_is_missed_says_what_was_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit(tmp_path, "measure: CVaR(R), at_least: 0.9, judge: estimate")
    code, told = command(capsys, "run", path, "--out", tmp_path / "run")
    assert code == 1
    assert "threshold missed: CVaR(R), A: 0.00" in told
    assert "wanted at least 0.9" in told


def row(value: float, low: float, high: float) -> ScoreRow:
    return ScoreRow("%useful", "A", None, None, None, value, 45, turn=1, topics=45, low=low, high=high)


@pytest.mark.parametrize(
    ("limit", "interval", "estimate"),
    [
        ({"at_least": 0.7}, "cannot tell", "kept"),  # 70.0% [49.9, 84.5] passed for certain where only points counted
        ({"at_least": 0.5}, "cannot tell", "kept"),
        ({"at_least": 0.49}, "kept", "kept"),
        ({"at_least": 0.85}, "missed", "missed"),
        ({"at_most": 0.7}, "cannot tell", "kept"),
        ({"at_most": 0.85}, "kept", "kept"),
        ({"at_most": 0.49}, "missed", "missed"),
        ({"at_least": 0.0}, "kept", "kept"),
        ({"at_most": 1.0}, "kept", "kept"),
    ],
)
def test_a_bound_is_of_the_interval_unless_the_estimate_is_asked_for(
    limit: dict[str, float], interval: str, estimate: str
) -> None:
    topics, table = topic_set(Topic("T1", CHAT, "list")), ScoreTable((row(0.7, 0.499, 0.845),), Settings())
    for judge, wanted in (("interval", interval), ("estimate", estimate), (None, interval)):
        bound = Threshold.model_validate({"measure": "%useful S1", **limit, "judge": judge})
        (found,) = checked_bounds([bound], table, topics)
        assert found.verdict == wanted


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (row(math.nan, math.nan, math.nan), "it is undefined"),
        (row(0.7, math.nan, math.nan), "it has no interval"),
    ],
)
def test_what_could_not_be_measured_keeps_and_misses_nothing(figure: ScoreRow, why: str) -> None:
    bound = Threshold(measure="%useful S1", at_least=0.6)
    table, topics = ScoreTable((figure,), Settings()), topic_set(Topic("T1", CHAT, "list"))
    (found,) = checked_bounds([bound], table, topics)
    assert found.verdict == "not measured"
    assert why in found.why
    assert exit_code([found], strict=False) == 3


def test_a_system_at_the_bound_is_seldom_said_to_miss_it() -> None:
    """Where only the estimate counted, the bound was missed half the time, at any number of topics."""
    rng = np.random.default_rng(4)
    bound = Threshold(measure="%useful S1", at_least=0.6)

    @cache  # 400 draws have few values, and the verdict is a matter of the value alone
    def verdict_of(useful: int) -> Verdict:
        low, high = answer_ends(float(useful), 45.0, 0.95)
        figure = row(useful / 45, low, high)
        (found,) = checked_bounds([bound], ScoreTable((figure,), Settings()), topic_set(Topic("T1", CHAT, "list")))
        return found.verdict

    verdicts = Counter(verdict_of(int(rng.binomial(45, 0.6))) for _ in range(400))
    assert verdicts["missed"] + verdicts["kept"] <= 400 * 0.05 + 4 * (400 * 0.05 * 0.95) ** 0.5


def test_exit_codes_tell_missed_from_not_measured_and_from_undecided() -> None:
    def of(*verdicts: Verdict) -> list[CheckedBound]:
        return [CheckedBound(Threshold(measure="R", at_least=0.1), None, verdict) for verdict in verdicts]

    assert exit_code(of("kept"), strict=True) == 0
    assert exit_code(of("kept", "cannot tell"), strict=False) == 0
    assert exit_code(of("kept", "cannot tell"), strict=True) == 3
    assert exit_code(of("not measured", "missed"), strict=False) == 1
    assert exit_code(of("not measured", "kept"), strict=False) == 3


def test_json_has_a_verdict_for_each_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audit(tmp_path, 'measure: "%useful S1", at_least: 0.2', "measure: ave%useful, at_most: 0.9")
    with pytest.raises(SystemExit):
        main(["run", "--no-report", str(path), "--out", str(tmp_path / "run"), "--json", "--strict"])
    given = json.loads(capsys.readouterr().out)["thresholds"]
    assert [(one["measure"], one["system"], one["verdict"] in ("kept", "cannot tell")) for one in given] == [
        ("%useful S1", "A", True),
        ("ave%useful", "A", True),
    ]
    assert all(one["low"] <= one["value"] <= one["high"] and one["n"] > 0 for one in given)


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
    path = audit(
        tmp_path,
        'measure: "%useful S1", at_most: 0, judge: estimate',
        'measure: "%useful", turn: 1, at_most: 0, judge: estimate',
    )
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
        ('measure: "%useful S1", turn: 2, at_least: 0', "%useful S1 has another turn than `turn`, 2"),
        ('measure: "%useful", at_least: 0', "%useful needs a turn"),
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
    chain_file(events).unlink()  # of a writer that was stopped, it would not be closed
    code, told = command(capsys, "score", tmp_path / "run")
    assert code == 3
    assert "threshold not measured: CVaR(R, beta=1, within=topics), A: n/a, wanted at least 0" in told
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
