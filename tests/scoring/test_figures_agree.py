"""One definition of each figure: of a trial, over trials, and after export and import."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.cli.main import main
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material, score_material
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.log.run_folder import read
from scoring.measures.usefulness import labels
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow, ScoreTable
from tests.support.scoring_examples import grid, grid_topics

COIN = """\
format: harvest-protocol/1
name: until-useful
version: 1
turn_limit: 10
rules:
  useful: {urls: {kind: asked, at_least: 1}}
  inadequate: {any: [{empty: {}}, {error_page: {}}, {refusal: {}}]}
start: ask
states:
  ask:
    say: |
      {{ topic.request }}
      Format: {{ topic.asks_for }}
    edges:
      - {if: useful, label: o, stop: completed}
      - {if: inadequate, label: x, stop: breakdown}
      - {otherwise: true, label: x, go: insist}
  insist:
    say: 'Adhere to the output format I specified: "Format: {{ topic.asks_for }}"'
    edges:
      - {if: useful, label: o, stop: completed}
      - {if: inadequate, label: x, stop: breakdown}
      - {otherwise: true, label: x, go: insist}
"""
AUDIT = """\
format: harvest-audit/1
name: coin
topics: fairweb-45
only: [M001, R001, Y001]
protocol: coin.yaml
gold: parrot
trials: 4
seed: 3
systems:
  - {name: A, driver: parrot, options: {profile: format-breaking}}
  - {name: B, driver: parrot, options: {profile: erratic}}
"""
MEASURES = (
    "%useful, ave%useful, %recovery, R, GF, GF_cum, GF(RATINGS), GF(RATINGS, by=NMD), GFR(alpha=0.5), SWAN, "
    "pooled(SWAN), WAN(Sufficiency), CVaR(R, beta=0.25), Q(GF, beta=0.25), min(R), P(R, below=0.004), P(breakdown), "
    "breakdown, pooled(GF(RATINGS)), persistence, transition(start, o), transition(x, o), transition(x, end)"
)


def harvest(*words: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coin")
    (folder / "coin.yaml").write_text(COIN)
    (folder / "audit.yaml").write_text(AUDIT)
    harvest("run", "--no-report", folder / "audit.yaml", "--out", folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def material(run: Path) -> Material:
    return gather_runs(read(run)).material


@pytest.fixture(scope="module")
def table(material: Material) -> ScoreTable:
    return scored(material)


def scored(material: Material) -> ScoreTable:
    measures = parse_all(MEASURES)
    return score_material(material, {"replications": 100}, measures=measures)


def over_trials(table: ScoreTable, measure: str) -> list[tuple[ScoreRow, list[ScoreRow]]]:
    """Each row over trials and several topics, with the rows of its trials."""
    rows = list(table.select(measure=measure, topic=None))
    return [
        (row, [one for one in rows if one.trial and (one.system, one.topic_type) == (row.system, row.topic_type)])
        for row in rows
        if row.trial is None
    ]


def test_a_breakdown_under_a_limit_of_ten_turns_counts_as_one_turn(material: Material) -> None:
    rows = {"".join(labels(one, 10)).rstrip("·") for one in material.finished}
    broken = {row for row in rows if row.endswith("-")}
    assert 0 < len(broken) < len(rows)
    assert max(map(len, broken)) < 10
    assert not any("--" in row for row in rows)


def test_a_figure_over_trials_is_the_mean_of_the_figures_of_its_trials(table: ScoreTable) -> None:
    for measure in ("ave%useful", "R", "GF", "SWAN", "breakdown"):
        pairs = over_trials(table, measure)
        assert len(pairs) == 8 if measure != "GF" else pairs
        for whole, trials in pairs:
            assert len(trials) == 4
            assert whole.value == pytest.approx(np.mean([one.value for one in trials]), abs=1e-12), measure
            by_topic = [
                row.value
                for row in table.select(measure=measure, system=whole.system, trial=None)
                if row.topic and whole.topic_type in (None, row.topic_type)
            ]
            assert whole.value == pytest.approx(np.mean(by_topic), abs=1e-12)


@pytest.mark.parametrize(
    ("form", "options"),
    [("gfrc", ()), ("messages", ("--topics", "fairweb-45", "--gold", "parrot"))],
)
def test_every_figure_is_the_same_after_export_and_import(
    form: str, options: Sequence[str], run: Path, material: Material, table: ScoreTable, tmp_path: Path
) -> None:
    harvest("data", "export", run, "--format", form, "--out", tmp_path / "file")
    harvest("data", "import", "--format", form, *options, "--out", tmp_path / "again", tmp_path / "file")
    again = gather_runs(read(tmp_path / "again")).material
    assert again.turns == material.turns
    assert [row.as_json() for row in scored(again).rows] == [row.as_json() for row in table.rows]
    harvest("data", "export", tmp_path / "again", "--format", form, "--out", tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "file").read_bytes()


def test_importing_two_systems_one_after_the_other_gives_the_run_of_both(
    run: Path, table: ScoreTable, tmp_path: Path
) -> None:
    for system in "BA":
        harvest("data", "export", run, "--format", "gfrc", "--system", system, "--out", tmp_path / system)
        harvest("data", "import", "--format", "gfrc", "--out", tmp_path / "again", tmp_path / system)
    again = gather_runs(read(tmp_path / "again")).material
    assert [row.as_json() for row in scored(again).rows] == [row.as_json() for row in table.rows]


# Every way a conversation of at most four turns can have gone.
ROWS = st.lists(st.sampled_from("ox"), min_size=1, max_size=4).map("".join)
ENDED = st.builds(lambda row, broke: f"{row}-" if broke and len(row) < 4 else row, ROWS, st.booleans())


def of_trials(trials: Sequence[Sequence[str]]) -> list[Conversation]:
    return [one for number, rows in enumerate(trials, 1) for one in grid(rows, trial=number)]


def averages(conversations: Sequence[Conversation], topics: int) -> dict[tuple[str | None, int | None], float]:
    rng = np.random.default_rng(0)
    table = score(conversations, grid_topics(topics), None, Settings(replications=100), rng)
    return {(row.topic, row.trial): row.value for row in table.select(measure="ave%useful")}


@given(st.lists(st.lists(ENDED, min_size=3, max_size=3), min_size=1, max_size=5))
def test_ave_useful_is_the_mean_over_conversations_at_every_level(trials: list[list[str]]) -> None:
    found = averages(of_trials(trials), 3)
    shares = np.array([[row.count("o") / len(row) for row in rows] for rows in trials])
    for number, rows in enumerate(shares, 1):
        assert found[None, number] == pytest.approx(rows.mean())
    for place in range(3):
        assert found[f"T{place + 1:02d}", None] == pytest.approx(shares[:, place].mean())
    assert found[None, None] == pytest.approx(shares.mean())


@given(ENDED, ROWS)
def test_the_charge_for_a_breakdown_does_not_depend_on_other_conversations(row: str, elsewhere: str) -> None:
    alone, beside = averages(grid([row]), 1), averages(grid([row, elsewhere]), 2)
    assert alone["T01", None] == beside["T01", None] == pytest.approx(row.count("o") / len(row))


def test_recovery_is_undefined_if_conversations_have_one_turn_by_design() -> None:
    lost = [TrialKey("G", "T06", 1)]
    table = score(
        grid(["x"] * 4 + ["o"]), grid_topics(6), None, Settings(), np.random.default_rng(0), turns=1, invalid=lost
    )
    for row in table.select(measure="%recovery"):
        assert math.isnan(row.value)
        assert math.isnan(row.worst)
        assert (row.n, row.topics or 0, row.interval) == (0, 0, None)


@pytest.mark.parametrize(
    ("failing", "interval"), [(1, None), (3, None), (4, "Gaffke-type interval with an unseen topic")]
)
def test_recovery_has_no_interval_on_fewer_than_four_topics_that_failed(failing: int, interval: str | None) -> None:
    rows = ["xo"] + ["xx"] * (failing - 1) + ["oo"] * 8
    table = score(grid(rows), grid_topics(len(rows)), None, Settings(), np.random.default_rng(0), turns=2)
    (row,) = table.select(measure="%recovery", topic=None, topic_type=None, trial=None)
    assert (row.value, row.n, row.interval) == (1 / failing, failing, interval)
    assert ("too few for an interval" in row.note) == (interval is None)
