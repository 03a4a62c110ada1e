"""What hangs together in a recording (clusters, sessions, time) in every figure that `score` and `tree` print of it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from harvest.studies.compare.comparison import compare_runs
from harvest.studies.scores.gathered import gather_runs, recorded_design
from harvest.studies.scores.scorecard import score_material
from harvest.studies.trees.figures import tree_figures
from harvest.studies.trees.folded_trees import fold_trees
from harvest.studies.trees.tree_scores import tree_scores, trial_values
from harvest.studies.trees.words import legend
from harvest.studies.variance.variance import study_variance
from protocols.library import load_protocol
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import Run, read
from scoring.notation import parse, parse_all
from scoring.table import ScoreRow, ScoreTable
from tests.support.command_line import harvest
from tests.support.scoring_examples import CHAT, conversation, movie, topic_set
from topics.topic import Topic

FORMS = "CVaR(SWAN), Q(SWAN), SWAN, P(SWAN, below=0.5), P(breakdown), transition(x, o), pooled(SWAN)"


def played(
    folder: Path,
    labels: Sequence[Sequence[str]],
    *,
    clusters: Sequence[str | None] | None = None,
    session: str = "fresh",
    hourly: bool = False,
    thresholds: Sequence[dict[str, object]] = (),
    requests: Sequence[str] = (),
    systems: Sequence[str] = ("A",),
) -> Run:
    """labels: of each topic, those of each trial. hourly: the trials of a topic an hour apart, in their order."""
    named = clusters or [None] * len(labels)
    words = requests or [f"question {row}" for row in range(len(labels))]
    topics = [Topic(f"C{row:02}", CHAT, words[row], cluster=cluster) for row, cluster in enumerate(named)]
    trials = max(map(len, labels))
    header = make_header(
        audit={"name": "t", "trials": trials, "thresholds": list(thresholds)},
        protocol=load_protocol("fairweb-two-round"),
        topics=topic_set(*topics),
        systems={name: {"name": name, "driver": "python", "session": session} for name in systems},
    )
    start = datetime(2026, 1, 1, tzinfo=UTC)
    record(
        folder,
        [
            replace(
                conversation(
                    *[("say", f"see {movie(turn)}") for turn in range(1, 3)],
                    labels=text,
                    topic=topics[row].id,
                    system=system,
                    trial=trial,
                ),
                started_at=(start + timedelta(hours=trial, seconds=row)).isoformat() if hourly else "",
            )
            for system in systems
            for row, own in enumerate(labels)
            for trial, text in enumerate(own, 1)
        ],
        header,
    )
    return read(folder)


def drawn(seed: int, topics: int, trials: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.3, 0.9, topics)
    return [["".join("o" if rng.random() < rate else "x" for _ in range(2)) for _ in range(trials)] for rate in rates]


def scored(run: Run, **settings: object) -> ScoreTable:
    return score_material(gather_runs(run).material, settings, measures=parse_all(FORMS))


def whole(table: ScoreTable) -> list[ScoreRow]:
    return [row for row in table.joint if row.topic_type is None and row.value == row.value]


def test_every_figure_over_topics_counts_a_cluster_once(tmp_path: Path) -> None:
    labels = drawn(1, 30, 3)
    alone = whole(scored(played(tmp_path / "one", labels)))
    together = whole(scored(played(tmp_path / "two", labels, clusters=[f"K{row // 3}" for row in range(30)])))
    assert [row.value for row in together] == [row.value for row in alone]
    pairs = [(one, other) for one, other in zip(alone, together, strict=True) if one.low == one.low]
    assert len({one.measure for one, _ in pairs}) >= 5
    for one, other in pairs:
        if math.isnan(other.low):  # ten clusters are too few for the worst quarter
            assert "10" in other.note, other.measure
            continue
        assert other.resampled in ("clusters", "nothing"), other.measure
        assert (other.low, other.high) != (one.low, one.high), other.measure


def test_topics_of_their_own_clusters_keep_every_figure(tmp_path: Path) -> None:
    labels = drawn(2, 12, 3)
    alone = scored(played(tmp_path / "one", labels))
    named = scored(played(tmp_path / "two", labels, clusters=[f"K{row}" for row in range(12)]))
    assert json.dumps(named.as_json()) == json.dumps(alone.as_json())


def test_every_figure_of_continued_sessions_is_refused_below_four_like_a_comparison(tmp_path: Path) -> None:
    table = scored(played(tmp_path / "run", drawn(3, 10, 3), session="continued"))
    for row in whole(table):
        assert math.isnan(row.low), row.measure
        if "persistence" not in row.measure:
            assert "3 sessions: too few to compare" in row.note, row.measure
    assert any("Sessions of A go on" in note for note in table.notes)


def test_the_sessions_of_one_trial_remain_one_unit_if_they_are_renewed(tmp_path: Path) -> None:
    """Every three topics: 24 sessions instead of six, and every figure and interval is that of six."""
    once = gather_runs(played(tmp_path / "run", drawn(5, 12, 6), session="continued")).material
    renewed = [
        replace(one, place=row % 3 + 1, session=f"{one.key.trial}/{row // 3}")
        for one in once.conversations
        for row in [int(one.key.topic[1:])]
    ]
    assert len({one.session for one in renewed}) == 24
    again = score_material(replace(once, conversations=tuple(renewed)), measures=parse_all(FORMS))
    assert any(row.low == row.low for row in whole(again))
    assert again.as_json() == score_material(once, measures=parse_all(FORMS)).as_json()


def test_every_figure_of_continued_sessions_resamples_whole_sessions(tmp_path: Path) -> None:
    labels = drawn(4, 20, 8)
    fresh = whole(scored(played(tmp_path / "one", labels)))
    on = whole(scored(played(tmp_path / "two", labels, session="continued")))
    assert [row.value for row in on] == [row.value for row in fresh]
    for one, other in zip(fresh, on, strict=True):
        if one.low != one.low or other.low != other.low:
            continue
        assert "sessions" in str(other.resampled), other.measure
        assert other.low <= one.low + 0.02 <= one.high <= other.high + 0.02, other.measure


@pytest.mark.parametrize(("failing", "unit"), [(range(3), "topic"), (range(20), "session")])
def test_recovery_needs_four_topics_and_sessions_with_a_failure(
    tmp_path: Path, failing: Sequence[int], unit: str
) -> None:
    few = range(8) if unit == "topic" else range(3)
    labels = [["xo" if row in failing and trial in few else "oo" for trial in range(8)] for row in range(20)]
    table = scored(played(tmp_path / "run", labels, session="continued"))
    row = next(row for row in whole(table) if row.measure == "%recovery")
    assert math.isnan(row.low)
    assert f"3 {unit}s with a first turn that failed" in row.note


def test_within_one_topic_nothing_changes_for_sessions(tmp_path: Path) -> None:
    labels = drawn(5, 6, 5)
    fresh, on = (
        [row for row in scored(played(tmp_path / session, labels, session=session)).rows if row.topic and not row.trial]
        for session in ("fresh", "continued")
    )
    assert [(row.low, row.high) for row in on if row.low == row.low] == [
        (row.low, row.high) for row in fresh if row.low == row.low
    ]


@pytest.mark.parametrize("session", ["fresh", "continued"])
def test_these_topics_have_intervals_over_their_trials(tmp_path: Path, session: str) -> None:
    run = played(tmp_path / "run", drawn(6, 12, 6), session=session)
    table = scored(run, estimand="these")
    unit = "trials of topics" if session == "fresh" else "sessions"
    printed = [row for row in whole(table) if row.low == row.low]
    known = {row.measure for row in printed}
    assert {"%useful", "ave%useful", "%recovery", "SWAN", "P(breakdown)", "transition(x, o)", "pooled(SWAN)"} <= known
    assert {row.resampled for row in printed} <= {unit, "nothing"}
    likes = {(row.measure, row.turn): row for row in whole(scored(run))}
    for row in printed:
        if row.measure in ("%useful", "ave%useful") and session == "fresh":
            other = likes[row.measure, row.turn]
            assert row.high - row.low < other.high - other.low
    tails = [row for row in whole(table) if row.measure.startswith(("CVaR", "Q"))]
    assert tails
    assert all(math.isnan(row.low) and "topics like these alone" in row.note for row in tails)


def test_a_threshold_may_ask_about_these_topics(tmp_path: Path) -> None:
    labels = [["oo"] * 5 for _ in range(8)]
    labels[3][2] = "xo"
    bound: dict[str, object] = {"measure": "%useful", "turn": 1, "at_least": 0.7}
    bounds = [bound, {**bound, "estimand": "these"}, {**bound, "judge": "estimate"}]
    played(tmp_path / "run", labels, thresholds=bounds)
    done = harvest("score", tmp_path / "run", "--json", "--strict")
    verdicts = json.loads(done.stdout)["thresholds"]
    assert [one["verdict"] for one in verdicts] == ["cannot tell", "kept", "kept"]
    assert verdicts[1]["low"] > 0.85
    assert verdicts[1]["estimand"] == "these"
    assert "for these topics" in done.stderr
    these = harvest("score", tmp_path / "run", "--json", "--estimand", "these")
    assert [one["verdict"] for one in json.loads(these.stdout)["thresholds"]] == ["kept", "kept", "kept"]


def test_trials_that_drift_are_named_and_widen_the_intervals_of_trials(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    drifting = [["oo" if trial + rng.normal() < 6 else "xx" for trial in range(12)] for _ in range(10)]
    shuffled = [list(rng.permutation(own)) for own in drifting]
    tables = [
        scored(played(tmp_path / str(at), labels, hourly=True), estimand="these")
        for at, labels in enumerate((drifting, shuffled))
    ]
    said = [[note for note in table.notes if "near each other in time" in note] for table in tables]
    assert len(said[0]) == 1
    assert "lag 1" in said[0][0]
    assert "fall in the course of the run" in said[0][0]
    assert said[1] == []
    wide, narrow = (next(row for row in whole(table) if row.measure == "ave%useful") for table in tables)
    assert wide.value == narrow.value
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    one, other = (next(row for row in table.single("topic") if row.measure == "ave%useful") for table in tables)
    assert one.value == other.value


def test_a_tree_has_the_units_of_its_scores(tmp_path: Path) -> None:
    labels = drawn(8, 24, 4)
    clusters = [f"K{row // 4}" for row in range(24)]
    runs = {
        "alone": played(tmp_path / "a", labels),
        "clusters": played(tmp_path / "b", labels, clusters=clusters),
        "sessions": played(tmp_path / "c", labels, session="continued"),
        "few": played(tmp_path / "d", [own[:3] for own in labels], session="continued"),
        "one": played(tmp_path / "e", labels, clusters=["K"] * 24),
    }
    found = {}
    for name, run in runs.items():
        (tree,) = fold_trees(run)[0]
        found[name] = tree_figures(tree, design=recorded_design(run, tree.scope.systems))
    width = {
        name: float(np.nanmean(one.found.high - one.found.low))
        for name, one in found.items()
        if name != "few" and name != "one"
    }
    assert width["alone"] < width["clusters"]
    assert width["alone"] < width["sessions"]
    np.testing.assert_array_equal(found["alone"].found.probability, found["clusters"].found.probability)
    for name, why in (("few", "3 sessions: too few to compare"), ("one", "one cluster")):
        assert np.isnan(found[name].found.high).all()
        assert np.isnan(found[name].found.stop_high).all()
        assert any(why in line for line in legend([found[name]]))
    assert any("taken whole" in line for line in legend([found["sessions"]]))
    for name in ("few", "one", "sessions"):  # Good-Turing takes its trials for independent
        assert np.isnan(found[name].found.unseen.estimate).all()
        assert not any(found[name].unseen())
        assert not any("another" in line for line in legend([found[name]]))
        assert any("how much is unseen is not estimated" in line for line in legend([found[name]]))
    assert not np.isnan(found["alone"].found.unseen.estimate).all()


def test_the_mean_of_a_tree_has_the_units_of_its_scores(tmp_path: Path) -> None:
    labels = drawn(9, 24, 4)
    widths = []
    for at, options in enumerate(({}, {"session": "continued"})):
        run = played(tmp_path / str(at), labels, **options)  # type: ignore[arg-type]
        (tree,) = fold_trees(run)[0]
        values = trial_values(gather_runs(run).material, parse("breakdown"))
        design = recorded_design(run, tree.scope.systems)
        values = {key: float(key.trial % 2) for key in values}
        interval = tree_scores(tree, parse("breakdown"), values, design=design).interval
        widths.append(interval.high - interval.low)
    assert widths[1] > 2 * widths[0]


@pytest.mark.parametrize("clusters", [None, ["K", "K", None, None]])
def test_nearly_equal_requests_are_named_unless_they_have_a_cluster(
    tmp_path: Path, clusters: Sequence[str | None] | None
) -> None:
    requests = ["Which films feature time travel?", "Which films feature time travel please?", "Rice?", "Moon?"]
    run = played(tmp_path / "run", drawn(10, 4, 2), requests=requests, clusters=clusters, systems=["A", "B"])
    for notes in (score_material(gather_runs(run).material).notes, compare_runs([run]).notes):
        said = [note for note in notes if "nearly the same" in note]
        assert len(said) == (0 if clusters else 1)
        assert all("C00, C01" in note for note in said)


def test_check_names_nearly_equal_requests(tmp_path: Path) -> None:
    (tmp_path / "topics.yaml").write_text(
        "format: harvest-topics/1\nname: t\ntypes: {page: {url: web-page, asks_for: title}}\ntopics:\n"
        "  - {id: T1, type: page, request: Which films feature time travel?}\n"
        "  - {id: T2, type: page, request: 'Which films feature time travel, please?'}\n"
        "  - {id: T3, type: page, request: How do I cook rice?}\n"
    )
    (tmp_path / "audit.yaml").write_text(
        "format: harvest-audit/1\nname: a\nprotocol: fairweb-two-round\ntopics: topics.yaml\ntrials: 1\n"
        "systems: [{name: A, driver: command, options: {argv: [cat, -u]}}]\n"
    )
    done = harvest("check", tmp_path / "audit.yaml")
    assert "T1, T2" in " ".join(done.stdout.split())
    assert json.loads(harvest("check", tmp_path / "audit.yaml", "--json").stdout)["nearly_same"] == [["T1", "T2"]]


@pytest.mark.parametrize("sizes", [(9, 1, 1, 1, 1, 1), (3, 3, 3, 3, 3)])
def test_the_rate_at_which_all_trials_pass_has_the_units_of_score_if_topics_are_in_clusters(
    tmp_path: Path, sizes: Sequence[int]
) -> None:
    named = [f"c{number}" for number, size in enumerate(sizes) for _ in range(size)]
    rng = np.random.default_rng(4)
    chances = rng.beta(1, 1, len(sizes))
    labels = [["oo" if rng.random() < chances[int(name[1:])] else "xx" for _ in range(3)] for name in named]

    def passed(clusters: Sequence[str] | None) -> tuple[float, float]:
        run = played(tmp_path / ("clusters" if clusters else "topics"), labels, clusters=clusters)
        found = study_variance([run], measures=[parse("%useful S1")], ks=[1])
        ((one,),) = found.each.values()
        assert one.split.icc.interval.is_defined == (clusters is None)
        assert ("cluster" in one.split.topic.interval.note) == (clusters is not None)
        passes = one.passes
        assert passes is not None
        (row,) = [
            row
            for row in score_material(gather_runs(run).material).rows
            if (row.measure, row.turn, row.trial, row.topic, row.topic_type) == ("%useful", 1, None, None, None)
        ]
        assert passes[1].value == pytest.approx(row.value)
        assert (passes[1].interval.low, passes[1].interval.high) == pytest.approx((row.low, row.high), abs=0.04)
        return passes[1].interval.low, passes[1].interval.high

    (low, high), (least, most) = passed(named), passed(None)
    assert high - low > most - least


@pytest.mark.parametrize("trials", [2, 6])
def test_no_spread_of_continued_sessions_has_an_interval(tmp_path: Path, trials: int) -> None:
    run = played(tmp_path / "run", drawn(6, 10, trials), session="continued", systems=("A", "B"))
    found = study_variance([run], measures=[parse("%useful S1")], ks=[1, 2])
    (each,), ((_, between),) = found.each.values(), *found.between.values()
    for one in each:
        figures = [*(one.passes or {}).values(), one.disagree, one.pairs]
        assert len(figures) == 4
        parts = [(part.value, part.interval) for part in (one.split.topic, one.split.trial, one.split.icc)]
        for value, interval in [*parts, *((part.value, part.interval) for part in figures)]:
            assert math.isnan(interval.low)
            assert "go on from topic to topic" in interval.note
            assert not math.isnan(value)
    assert math.isnan(between.trial.interval.low)
    assert "A, B go on" in between.trial.interval.note


@pytest.mark.parametrize("trials", [3, 6])
def test_continued_sessions_of_an_import_are_resampled_whole(tmp_path: Path, trials: int) -> None:
    """An imported run defines no sessions; the places of its conversations show them."""
    recorded = played(tmp_path / "recorded", drawn(9, 8, trials), session="continued", systems=("A", "B"))
    rows = [
        {
            "messages": [
                {"role": side, "content": f"{side} {turn}"} for turn in (1, 2) for side in ("user", "assistant")
            ],
            "metadata": {
                "system": one.key.system,
                "topic": one.key.topic,
                "trial": one.key.trial,
                "labels": [turn.label for turn in one.turns],
                "session": f"{one.key.system}-{one.key.trial}",
                "place": 1 + int(one.key.topic[1:]),
            },
        }
        for one in recorded.finished
    ]
    file, imported = tmp_path / "messages.jsonl", tmp_path / "imported"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = harvest("data", "import", "--format", "messages", file, "--out", imported)
    assert done.returncode == 0, done.stderr

    def figures(run: Run) -> list[tuple[float, float, float]]:
        found = compare_runs([run], measures=[parse("ave%useful")])
        ((pair,),) = (one.pairs for one in found.measures)
        shares = [
            (row.value, row.low, row.high)
            for row in score_material(gather_runs(run).material).rows
            if (row.measure, row.trial, row.topic, row.topic_type) == ("ave%useful", None, None, None)
        ]
        return [*shares, (pair.value, pair.interval.low, pair.interval.high)]

    made = figures(read(imported))
    assert len(made) == 3
    assert np.array(made) == pytest.approx(np.array(figures(recorded)), nan_ok=True)
    assert all(math.isnan(low) for _, low, _ in made) == (trials < 4), "three sessions are too few"
    assert recorded_design(read(imported), ["A"]).continued
