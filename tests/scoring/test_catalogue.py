"""Measures asked for by name: what was printed can be asked for again, and the forms are what they say."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material, score_material
from recordings.log.run_folder import read
from scoring.inference.tails import cvar, lower_quantile
from scoring.library import OF_CONVERSATIONS, read_term
from scoring.notation import parse, parse_all
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from scoring.table import ScoreRow, ScoreTable
from tests.support.checkout import DOCS
from tests.support.command_line import harvest
from topics.errors import InputError
from topics.library import load_topics

TOPICS = ",".join(f"{kind}{number:03}" for kind in "MRY" for number in range(1, 5))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("catalogue") / "run"
    done = harvest("run", "demo", "--trials", "2", "--topics", TOPICS, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def material(run: Path) -> Material:
    return gather_runs(read(run)).material


def scored(material: Material, text: str) -> ScoreTable:
    return score_material(material, {"replications": 200}, measures=parse_all(text), only=True)


def whole(table: ScoreTable, measure: str, system: str) -> ScoreRow:
    rows = table.select(measure=measure, system=system, topic=None, topic_type=None, trial=None)
    (found,) = (row for row in rows if row.turn in (None, 1))
    return found


def values(table: ScoreTable, measure: str, system: str) -> list[float]:
    rows = table.select(measure=measure, system=system)
    return [row.value for row in rows if row.trial is not None and row.topic is not None]


def test_every_printed_measure_can_be_requested_and_is_the_same(material: Material) -> None:
    default = score_material(material, {"replications": 200})
    names = sorted({row.measure for row in default.rows if row.turn is None or row.measure == "%useful"})
    assert {"R", "GF", "GF(RATINGS, by=NMD)", "GFR(alpha=0.5)", "%useful", "ave%useful", "%recovery"} <= set(names)
    for name in names:
        assert str(parse(name)) == name
    asked = scored(material, ", ".join(names))
    assert [row.as_json() for row in asked.rows] == [row.as_json() for row in default.rows if row.measure in names]


def test_a_form_is_requested_by_its_name(material: Material) -> None:
    text = "CVaR(R), Q(GF, beta=.1), min(R), P(R, below=.001), P(breakdown), pooled(GF(RATINGS)), SWAN, pooled(SWAN)"
    first = scored(material, text)
    names = list(dict.fromkeys(row.measure for row in first.rows))
    assert "CVaR(R, beta=0.25)" in names
    assert "of_pooled(GF(RATINGS))" in names
    again = scored(material, ", ".join(names))
    assert sorted(map(str, again.rows)) == sorted(map(str, first.rows))


def test_a_parameter_in_the_name_is_the_setting_of_that_name(material: Material) -> None:
    short = score_material(material, {"replications": 200, "patience": 600})
    long = scored(material, "R(L=600)")
    for system in material.systems:
        mine = whole(long, "R(L=600)", system)
        assert replace(mine, measure="R").as_json() == whole(short, "R", system).as_json()
    nmd = score_material(material, {"replications": 200, "ordinal": "NMD", "irrelevant": "uniform"})
    name = "GF(RATINGS, by=NMD, irrelevant=uniform)"
    table = scored(material, name)
    for system in material.systems:
        assert whole(table, name, system).value == whole(nmd, "GF(RATINGS)", system).value


def test_the_worst_case_is_that_of_all_conversations_of_the_system(material: Material) -> None:
    table = scored(material, "R, CVaR(R, beta=0.1), Q(R, beta=0.1), min(R), P(R, below=0.004), CVaR(R, beta=1)")
    for system in material.systems:
        each = values(table, "R", system)
        assert whole(table, "CVaR(R, beta=0.1)", system).value == pytest.approx(cvar(each, 0.1))
        assert whole(table, "CVaR(R, beta=1)", system).value == pytest.approx(np.mean(each))
        assert whole(table, "Q(R, beta=0.1)", system).value == lower_quantile(each, 0.1)
        assert whole(table, "min(R)", system).value == min(each)
        assert math.isnan(whole(table, "min(R)", system).low)
        low = whole(table, "P(R, below=0.004)", system)
        assert low.value == pytest.approx(np.mean(np.array(each) < 0.004))
        assert low.low <= low.value <= low.high


def test_a_worst_case_within_topics_is_refused_for_few_trials(material: Material) -> None:
    with pytest.raises(InputError, match="at least 40 trials with a score of each topic"):
        scored(material, "CVaR(R, within=topics)")


def test_breakdowns_follow_the_end_of_the_protocol(material: Material) -> None:
    table = scored(material, "P(breakdown)")
    for system in material.systems:
        own = [one for one in material.finished if one.key.system == system]
        share = sum(one.outcome is not None and one.outcome.kind == "breakdown" for one in own) / len(own)
        row = whole(table, "P(breakdown)", system)
        assert row.value == pytest.approx(share)
        assert ("never seen; the interval is that of 12 topics" in row.note) == (share == 0)
        assert (row.interval == "Clopper-Pearson, exact") == (share == 0)


def test_breakdown_and_its_rate_are_one_figure_with_one_interval(material: Material) -> None:
    table = scored(material, "breakdown, P(breakdown)")
    rates = list(table.select(measure="P(breakdown)"))
    assert len(rates) >= 4 * len(material.systems)
    for rate in rates:
        (same,) = table.select(
            measure="breakdown", system=rate.system, topic=None, topic_type=rate.topic_type, trial=None
        )
        assert replace(same, measure=rate.measure, turn=None).as_json() == rate.as_json()


def test_fairness_of_the_pooled_distribution_never_comes_alone(material: Material) -> None:
    table = scored(material, "of_pooled(GF(RATINGS))")
    names = {row.measure for row in table.rows}
    assert names == {"GF(RATINGS)", "pooled(GF(RATINGS))", "of_pooled(GF(RATINGS))"}
    for system in material.systems:
        readings = [whole(table, name, system).value for name in sorted(names)]
        assert all(0 <= value <= 1 for value in readings)
        assert len({round(value, 6) for value in readings}) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"ordinal": "NMD", "gains": {"L1": 0.0}},
        *(pytest.param(one, marks=pytest.mark.soak) for one in ({}, {"ordinal": "NMD"}, {"gains": {"L1": 0.0}})),
    ],
)
def test_scores_of_rules_follow_the_settings_even_if_they_were_annotated(
    run: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    copy = tmp_path / "annotated"
    shutil.copytree(run, copy)
    done = harvest("judge", "rules", str(copy))
    assert done.returncode == 0, done.stderr
    before, after = gather_runs(read(run)).material, gather_runs(read(copy)).material
    assert after.layers
    settings = {"replications": 100, **changes}
    one, other = (
        score_material(each, settings, measures=parse_all("SWAN, WAN(Fair_exposure)"), only=True)
        for each in (before, after)
    )
    assert [row.as_json() for row in one.rows] == [row.as_json() for row in other.rows]


def test_two_weightings_that_differ_are_written_differently(material: Material) -> None:
    names = {row.measure for row in scored(material, "SWAN(weights=anchored(rate=0.99999951)), SWAN").rows}
    assert names == {"SWAN(weights=anchored(rate=0.99999951))", "SWAN"}


def test_swan_is_the_mean_per_session_and_pooled_swan_gives_long_ones_more_weight(material: Material) -> None:
    table = scored(material, "SWAN, pooled(SWAN), WAN(Recoverability), pooled(WAN(Recoverability))")
    for system in material.systems:
        each = [value for value in values(table, "SWAN", system) if not math.isnan(value)]
        assert whole(table, "SWAN", system).value == pytest.approx(np.mean(each))
        assert whole(table, "SWAN", system).n == len(each)
        pooled = whole(table, "pooled(SWAN)", system)
        assert pooled.n > len(each)
        assert pooled.low < pooled.value < pooled.high
        part, rest = (whole(table, name, system) for name in ("WAN(Recoverability)", "pooled(WAN(Recoverability))"))
        assert rest.low <= rest.value <= rest.high
        assert part.n <= rest.n


def test_every_score_of_swan_names_its_scorer(material: Material) -> None:
    rows = [row for row in scored(material, "SWAN").rows if row.trial is not None and row.topic is not None]
    assert rows
    assert all("rule" in row.note for row in rows if row.n)
    assert all(row.note == "no criterion is scored" for row in rows if not row.n)


def test_the_order_of_the_requested_measures_changes_no_value(material: Material) -> None:
    one, other = "CVaR(R), P(breakdown), SWAN", "SWAN, P(breakdown), CVaR(R)"

    def key(row: ScoreRow) -> tuple[str, ...]:
        return tuple(map(str, (row.measure, row.system, row.topic, row.topic_type, row.trial)))

    def rows(text: str) -> Sequence[dict[str, object]]:
        return [row.as_json() for row in sorted(scored(material, text).rows, key=key)]

    assert rows(one) == rows(other)


def test_transitions_are_usefulness_and_recovery_seen_turn_by_turn(material: Material) -> None:
    pairs = ("start, o", "start, x", "start, end", "o, o", "o, x", "o, end", "x, o", "x, x", "x, end")
    table = scored(material, ", ".join(["%useful, %recovery, persistence", *(f"transition({pair})" for pair in pairs)]))
    for system in material.systems:
        share = {pair: whole(table, f"transition({pair})", system).value for pair in pairs}
        assert share["start, o"] == whole(table, "%useful", system).value
        onward = 1 - share["x, end"]
        assert onward * share["x, o"] == pytest.approx(whole(table, "%recovery", system).value)
        for source in ("start", "o", "x"):
            assert share[f"{source}, o"] + share[f"{source}, x"] == pytest.approx(1)
        goes_on = whole(table, "persistence", system)
        assert goes_on.value == pytest.approx((1 - share["x, o"]) - (1 - share["o, o"]))
        assert "association within conversations, given topic and turn: p=" in goes_on.note


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("transition(x)", "takes 2 arguments, not 1"),
        ("transition(end, o)", "is not a transition"),
        ("CVaR(persistence)", "single conversations"),
        ("Coverage", "'Coverage' is not a measure"),
        ("swan", "did you mean SWAN?"),
        ("pw", "pw is of a single nugget, so it has no value over conversations"),
        ("DistrSim(RATINGS)", "its rows are among those of `harvest score RUN --json`"),
        ("DistrSim_cum(RATINGS)", "is of a single system turn"),
        ("R S1", "R has no parameter turn"),
        ("ave%useful S1", "ave%useful has no parameter turn"),
        ("%useful(turn=1.5)", "`turn` must be the number of a system turn"),
        ("GF(RATING)", "there is no attribute set 'RATING'"),
        ("GF(RATINGS, by=JSD)", "`by` cannot be JSD, because the groups of RATINGS have an order"),
        ("GF(ORIGIN, by=NMD)", "`by` must be JSD, because the groups of ORIGIN have no order"),
        ("GF(by=JSD)", "`by` cannot be JSD, because JSD is not for ordinal sets"),
        ("GF(RATINGS, by=XYZ)", "is not allowed"),
        ("GF(RATINGS, ORIGIN)", "takes at most 1 argument, not 2"),
        ("R(l=10)", "R has no parameter l"),
        ("R(L=0)", "is not allowed"),
        ("R(L=1.5)", "is not allowed"),
        ("R(L=many)", "many is not a number"),
        ("R(RATINGS)", "takes 0 arguments, not 1"),
        ("GFR(alpha=2)", "is not allowed"),
        ("%useful(R)", "takes 0 arguments, not 1"),
        ("CVaR", "takes 1 argument, not 0"),
        ("min(tokens_out)", "the smallest value of tokens_out is the best value"),
        ("max(R)", "the greatest value of R is the best value"),
        ("CVaR(R, beta=0)", "beta is not a share of conversations"),
        ("CVaR(R, beta=RATINGS)", "beta is missing or not a number"),
        ("CVaR(R, within=trials)", "within=trials"),
        ("CVaR(CVaR(R))", "single conversations"),
        ("CVaR(%useful)", "does not rank single conversations"),
        ("min(R, beta=.1)", "min has no parameter beta"),
        ("min(R, within=topics)", "min has no parameter within"),
        ("SWAN(weights=linear(L=1.5))", "L must be a whole number of words"),
        ("WAN(99)", "no criterion called '99'"),
        ("P(R)", "below is missing"),
        ("P(R, below=1, within=topics)", "P has no parameter within"),
        ("pooled(R)", "is not a pooled reading"),
        ("of_pooled(GF)", "is not a pooled reading"),
        ("of_pooled(SWAN)", "is not a pooled reading"),
        ("SWAN(weights=heavy)", "is not a weighting"),
        ("SWAN(turn_scores=last_nugget)", "last_nugget is not a form of turn-level scores"),
        ("WAN(Correctness, turn_scores=first_nugget)", "Correctness does not score system turns"),
        ("SWAN(weights=3)", "is not a weighting"),
        ("WAN", "takes 1 argument, not 0"),
        ("WAN(Correctnes)", "did you mean 'Correctness'?"),
        ("WAN(Robustness_to_input_variations)", "only one score for all conversations"),
    ],
)
def test_an_impossible_measure_is_refused_with_the_possible_ones(material: Material, text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_term(parse(text), Settings(), material.topics, load_schema("sakai-2023"))
    assert what in str(caught.value)


def test_the_command_accepts_measures_and_prints_only_those(run: Path) -> None:
    done = harvest("score", str(run), "-m", "CVaR(R), SWAN", "-m", "%recovery", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["measure"] for row in rows} == {"CVaR(R, beta=0.25)", "SWAN", "%recovery"}
    shown = harvest("score", str(run), "-m", "CVaR(R)")
    assert "CVaR(R, beta=0.25)" in shown.stdout
    assert "%useful" not in shown.stdout


def test_a_turn_of_useful_is_requested_as_it_is_printed(material: Material) -> None:
    every, first = scored(material, "%useful"), scored(material, "R, %useful S1")
    assert {row.turn for row in every.rows} == {1, 2}
    assert [row for row in first.rows if row.measure == "%useful"] == [row for row in every.rows if row.turn == 1]
    with pytest.raises(InputError, match="%useful S3: no conversation can have that many turns"):
        scored(material, "%useful S3")


def test_names_in_a_table_are_complete_and_in_the_requested_order(run: Path) -> None:
    wanted = ["pooled(WAN(Sufficiency, rules))", "GF(RATINGS, turn_weight=largest-pw)", "R", "%useful S2", "%useful S1"]
    done = harvest("score", run, "-m", ", ".join(wanted), width=80)
    lines = done.stdout.splitlines()
    places = [next(i for i, line in enumerate(lines) if line.startswith(f" {name} ")) for name in wanted]
    assert places == sorted(places)
    assert max(map(len, lines)) <= 80


def test_the_method_of_an_interval_is_printed_once_for_each_name(run: Path) -> None:
    done = harvest("score", str(run), "-m", "P(breakdown), %useful, R")
    made = " ".join(done.stdout.split()).split("[low, high]: ")[1:]
    assert "Clopper-Pearson, exact (P(breakdown) of A)" in made[0]
    assert "Gaffke-type interval with an unseen topic, resampled: topics (P(breakdown) of B, %useful, R)" in made[1]
    assert len(made) == 2


def test_a_mean_says_how_many_conversations_have_no_value(material: Material) -> None:
    row = whole(scored(material, "WAN(Fair_exposure)"), "WAN(Fair_exposure)", "B")
    missing = len([one for one in material.finished if one.key.system == "B"]) - row.n
    assert missing > 1
    assert row.note == f"{missing} conversations without a value, left out"


def test_the_tables_of_80_columns_contain_every_figure_in_full_and_say_where_0_is_good(run: Path) -> None:
    wanted = "R, GF(RATINGS, turn_weight=largest-pw), SWAN(weights=linear(L=1250)), P(breakdown), persistence, min(R)"
    done = harvest("score", run, "-m", wanted, width=80)
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(done.stdout.split())
    assert "1 is good, except for failures; 0 is good: P(breakdown)" in words
    assert "association within conversations, given topic and turn: p=" in words
    assert "another trial can be worse" in words
    assert "SWAN of A covers Sufficiency, Conciseness" in words


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["-m", " "], "--measure is empty"),
        (["-m", "GF(RATINGS"], "measure:1:11: ',' or ')' is missing"),
        (["-m", "Precision"], "'Precision' is not a measure"),
        (["--schema", "sakai-2023"], "--schema and --judges only affect SWAN"),
        (["-m", "SWAN", "--schema", "sakai-1923"], "sakai-1923"),
        (["-m", "SWAN", "--judges", "human:zoe"], "there are no judgments by human 'zoe'"),
        (["-m", "WAN(Fluent)"], "Fair_exposure"),
        (["-m", "SWAN", "--judges", "robot"], "'robot' is not a kind of judgment"),
    ],
)
def test_the_command_refuses_an_unknown_measure(run: Path, arguments: list[str], what: str) -> None:
    done = harvest("score", str(run), *arguments)
    assert done.returncode == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_names_every_measure_and_form() -> None:
    page = (DOCS / "measures.md").read_text(encoding="utf-8")
    for name in (one.name for one in OF_CONVERSATIONS):
        assert f"`{name}" in page, name
    forms = {one.name for one in OF_CONVERSATIONS if one.of == "measure"}
    written = [text for line in page.splitlines() if line.startswith("| `") for text in line.split("|")[1].split("`")]
    topics = load_topics("fairweb-45")
    known = 0
    for text in written:
        if text.partition("(")[0] in {*forms, "SWAN", "WAN", "GFR"}:
            shown = text.replace("SET", "RATINGS").replace("(M,", "(R,").replace("(M)", "(R)")
            known += len(read_term(parse(shown), Settings(), topics, load_schema("sakai-2023")))
    assert known >= 12
