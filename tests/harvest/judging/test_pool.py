"""What there is to judge, each thing once: nothing is lost or counted twice, and what was judged holds elsewhere."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from harvest.judging.pool import (
    SOURCE,
    PooledRun,
    PooledText,
    pooled_entities,
    pooled_words,
    single_spaced,
    spread_judgments,
)
from harvest.judging.sheets.asked_rows import assess_run
from recordings.files.json_text import Json
from recordings.judged.judgments import UNSURE, Judgment, Layer, Target, read_layers, write_layer
from recordings.log.run_folder import read
from scoring.swan.assessment import assess
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from tests.support.command_line import harvest
from tests.support.judged_page import asked_of
from tests.support.recorded_run import record
from tests.support.reported import copied_run

SCHEMA = load_schema()
CLAIM = "The film was made in 1985."
TIME = "2026-02-01T00:00:00+00:00"


def pool_of(*runs: Path) -> list[PooledRun]:
    return [PooledRun(run, read(run), assess_run(run, read(run), SCHEMA), read_layers(run)) for run in runs]


def words_of(*runs: Path, criterion: str = "Correctness") -> dict[str, PooledText]:
    return {one.text: one for one in pooled_words(pool_of(*runs), SCHEMA) if one.criterion == criterion}


def judge(
    run: Path,
    place: Target,
    value: Json,
    *,
    by: str = "anna",
    at: str = "2026-01-01T00:00:00+00:00",
    adjudicates: bool = False,
) -> None:
    judgment = Judgment(place.about(), "Correctness", value)
    write_layer(run, Layer("human", by, "g1", "sheet", at, (judgment,), adjudicates))


@pytest.fixture
async def months(tmp_path: Path) -> Sequence[Path]:
    """Two runs: the claim stands in three trials of the one, twice each, and in two trials of the other."""
    await record(tmp_path / "january", [f"echo: {CLAIM}", f"echo: Well.   {CLAIM}"], trials=3)
    await record(tmp_path / "february", [f"echo: {CLAIM}"], trials=2)
    return tmp_path / "january", tmp_path / "february"


def test_equal_words_are_one_item_wherever_they_occur(months: Sequence[Path]) -> None:
    found = words_of(*months)[CLAIM]
    assert [one.run for one in found.where] == [0] * 6 + [1] * 2
    assert (dict(found.said), found.covered, found.opinions) == ({}, frozenset(), {})
    assert {str(one) for one in found.where} == {f"echo M002 {trial}:{turn}" for trial in (1, 2, 3) for turn in (1, 2)}
    for one in found.where:
        turn = one.conversation.turns[one.turn - 1]
        assert turn.reply is not None
        assert single_spaced(turn.reply.answer.text[one.start : one.end]) == CLAIM


def test_nothing_is_lost_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    run = copied_run(tmp_path)
    every = pooled_words(pool_of(run), SCHEMA)
    assessed = assess_run(run, read(run), SCHEMA)
    for criterion in {one.criterion for one in every}:
        places = [place.target for one in every if one.criterion == criterion for place in one.where]
        items = sum(len(one.assessment.items[criterion]) for one in assessed)
        assert len(places) == len(set(places)) == items
        keys = [(one.topic, one.text) for one in every if one.criterion == criterion]
        assert len(keys) == len(set(keys))


def test_a_judgment_is_copied_to_where_the_same_person_judged_nothing(months: Sequence[Path]) -> None:
    january = months[0]
    places = [one.target for one in words_of(*months)[CLAIM].where]
    judge(january, places[0], 0.5)
    judge(january, places[1], UNSURE, at="2026-01-02T00:00:00+00:00")
    judge(january, places[2], None, by="ben")
    layers, differing = spread_judgments(words_of(*months).values(), TIME)
    assert differing == 0
    given = {(run, layer.author, layer.version, layer.source): layer for run in layers for layer in layers[run]}
    assert set(given) == {(run, person, "g1", SOURCE) for run in (0, 1) for person in ("anna", "ben")}
    anna, ben = given[0, "anna", "g1", SOURCE], given[0, "ben", "g1", SOURCE]
    assert [Target.from_judgment(one) for one in anna.judgments] == places[2:6]
    assert {one.value for one in anna.judgments} == {0.5}
    assert [Target.from_judgment(one) for one in ben.judgments] == [*places[:2], *places[3:6]]
    assert {one.value for one in ben.judgments} == {None}
    assert [Target.from_judgment(one) for one in given[1, "anna", "g1", SOURCE].judgments] == places[6:]


def test_contradictory_judgments_of_one_person_are_not_copied(months: Sequence[Path]) -> None:
    places = [one.target for one in words_of(*months)[CLAIM].where]
    judge(months[0], places[0], 1)
    judge(months[0], places[1], 0)
    assert spread_judgments(words_of(*months).values(), TIME) == ({}, 1)


def test_an_adjudication_is_copied_as_one_and_never_as_a_vote(months: Sequence[Path]) -> None:
    january, february = months
    place = words_of(january)[CLAIM].where[0].target
    for by, value, adjudicates in (("anna", 1, False), ("ben", 0.5, False), ("zoe", 0, True)):
        judge(january, place, value, by=by, adjudicates=adjudicates)
    done = harvest("judge", "pool", *months, "--spread")
    assert "zoe: 5 adjudications of the same words, written to" in done.stderr
    for judgments, value in (("distribution", 0.75), ("adjudicated", 0)):
        counted = Judgments.from_layers(read_layers(february), SCHEMA, Precedence((("human", ""),), folding=judgments))
        for one in read(february).finished:
            assert [scored.value for scored in assess(one, SCHEMA, counted).scored["Correctness"]] == [value]


def test_a_judgment_in_january_counts_in_february_and_is_given_once(months: Sequence[Path]) -> None:
    january, february = months
    judge(january, words_of(january)[CLAIM].where[0].target, 0.5)
    done = harvest("judge", "pool", *months, "--spread")
    assert done.returncode == 0, done.stderr
    assert "anna: 5 judgments of the same words, written to" in done.stderr
    told = json.loads(harvest("judge", "pool", *months, "--criterion", "correctness", "--json").stdout)
    counts = {(row["measure"], row["figure"]): row["estimate"] for row in told["long"]}
    kinds = ("things", "things judged", "occurrences", "occurrences judged")
    assert [counts["Correctness", kind] for kind in kinds] == [1, 1, 8, 8]
    assert [counts["entities (gold)", kind] for kind in kinds] == [0, 0, 0, 0]
    assert counts["entities (gold)", "share of things judged"] is None
    assert counts["entities (gold)", "share of occurrences judged"] is None
    judgments = Judgments.from_layers(read_layers(february), SCHEMA)
    for one in read(february).finished:
        assert [scored.value for scored in assess(one, SCHEMA, judgments).scored["Correctness"]] == [0.5]
    again = harvest("judge", "pool", *months, "--spread")
    assert "already" in again.stderr
    assert len(read_layers(january)) == 2


def test_a_changed_judgment_is_copied_again(months: Sequence[Path]) -> None:
    january, _ = months
    first = words_of(january)[CLAIM].where[0].target
    judge(january, first, 0.5)
    assert harvest("judge", "pool", *months, "--spread").returncode == 0
    judge(january, first, 1, at="2036-01-01T00:00:00+00:00")
    assert harvest("judge", "pool", *months, "--spread").returncode == 0
    for run in months:
        newest = [layer for layer in read_layers(run) if layer.source == SOURCE][-1]
        assert {one.value for one in newest.judgments} == {1}


def test_on_the_page_equal_words_are_asked_about_once(months: Sequence[Path]) -> None:
    node, once = (asked_of(months[0], ["Correctness"], same=same) for same in ("node", "words"))
    assert sorted(len(one.about) for one in node) == [3, 3]
    assert [len(one.about) for one in once] == [6]
    turns = asked_of(months[0], ["Fluency"], same="words")
    assert sorted(len(one.about) for one in turns) == [3, 3], "a whole turn is judged where it stands"


def test_the_list_says_where_each_item_occurs(months: Sequence[Path], tmp_path: Path) -> None:
    out = tmp_path / "list.csv"
    judge(months[0], words_of(*months)[CLAIM].where[0].target, None)
    assert harvest("judge", "pool", *months, "--criterion", "Correctness", "--out", out).returncode == 0
    with out.open(encoding="utf-8-sig", newline="") as file:
        (row,) = list(csv.DictReader(file))
    assert (row["topic"], row["criterion"], row["text"], row["judged"]) == ("M002", "Correctness", CLAIM, "anna: n/a")
    assert (row["times"], row["conversations"], row["systems"]) == ("8", "5", "1")
    first, second = (run.name for run in months)
    assert row["where"].startswith(f"{first} echo M002 1:1; {first} echo M002 1:2; {first} echo M002 2:1")
    assert f"; {second} echo M002 1:1" in row["where"]
    assert harvest("judge", "pool", months[0], "--criterion", "Correctness", "--out", out, "--force").returncode == 0
    assert "echo M002 1:1; echo" in out.read_text(encoding="utf-8-sig"), "of one run the name says nothing"
    refused = harvest("judge", "pool", *months, "--out", out)
    assert (refused.returncode, "exists already" in refused.stderr) == (2, True)


def test_entities_are_judged_once_in_a_gold_table(tmp_path: Path) -> None:
    run, gold = copied_run(tmp_path), tmp_path / "gold.csv"
    for file in (run / "judgments").glob("gold-*"):
        file.unlink()
    named = pooled_entities(pool_of(run))
    assert len(named) > 10
    assert not any(one.judged for one in named)
    assert harvest("judge", "pool", run, "--gold", gold).returncode == 0
    first = gold.read_text(encoding="utf-8")
    rows = list(csv.DictReader(first.splitlines()))
    assert [(row["topic"], row["entity"], row["grade"]) for row in rows] == [(one.topic, one.key, "") for one in named]
    again = harvest("judge", "pool", run, "--gold", gold)
    assert again.stderr.startswith("0 entities added")
    assert gold.read_text(encoding="utf-8") == first
    scored = harvest("score", run, "--gold", gold, "-m", "R", "--json", "--no-keep")
    whole = [one for one in json.loads(scored.stdout)["rows"] if one["topic"] is one["topic_type"] is None]
    assert whole
    assert {one["value"] for one in whole} == {None}, "of no topic is anything known"

    # Half of them are graded, and one row is taken away: the rows that stay are not touched.
    lines = first.splitlines(keepends=True)
    half = [line.replace(",,", ",L1,", 1) for line in lines[1 : len(lines) // 2]]
    gold.write_text("".join([lines[0], *half, *lines[len(half) + 1 : -1]]), encoding="utf-8")
    before = gold.read_text(encoding="utf-8")
    assert harvest("judge", "pool", run, "--gold", gold).stderr.startswith("1 entity added")
    assert gold.read_text(encoding="utf-8") == before + lines[-1]
    for end in ("\r\n", "\r"):  # what is added has the line ends of the table, also behind a last line without one
        for last in (end, ""):
            kept = before.replace("\n", end).removesuffix(end) + last
            gold.write_bytes(kept.encode())
            assert harvest("judge", "pool", run, "--gold", gold).stderr.startswith("1 entity added")
            assert gold.read_bytes().decode() == (before + lines[-1]).replace("\n", end)
    gold.write_text(before.replace(",", ";"), encoding="utf-16")  # as a spreadsheet saves it elsewhere
    assert harvest("judge", "pool", run, "--gold", gold).stderr.startswith("1 entity added")
    assert gold.read_text(encoding="utf-8") == (before + lines[-1]).replace(",", ";")
    told = json.loads(harvest("judge", "pool", run, "--gold", gold, "--json").stdout)
    counts = [row["estimate"] for row in told["long"] if row["measure"] == "entities (gold)"]
    assert counts[:2] == [len(named), len(half)]


def test_every_command_reads_a_table_made_by_the_pool_even_if_nothing_is_left_to_judge(tmp_path: Path) -> None:
    run, gold = copied_run(tmp_path), tmp_path / "gold.csv"  # whose gold judges every entity
    for words in (
        ("judge", "pool"),
        ("judge", "pool"),
        ("score", "--no-keep"),
    ):
        done = harvest(*words, run, "--gold", gold)
        assert done.returncode == 0, done.stderr
        assert len(gold.read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--force",), "--force can only be used with --out"),
        (("--criterion", "Corectness"), "Correctness"),
        (("--criterion", "Sufficiency"), "Sufficiency is of level turn, but only criteria of level nugget"),
        (("--criterion", "Adaptability"), "is of level set"),
        (("--out", "list.txt"), ".csv"),
        (("--gold", "gold.csv"), "--gold needs runs with topics"),
    ],
)
async def test_impossible_input_is_refused_in_one_message(words: Sequence[str], told: str, tmp_path: Path) -> None:
    await record(tmp_path / "run", [CLAIM], trials=1)
    done = harvest("judge", "pool", "run", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_run_given_twice_is_refused_even_as_a_copy(tmp_path: Path) -> None:
    run, copy = copied_run(tmp_path / "run"), tmp_path / "copy"
    shutil.copytree(run, copy)
    for again in (run, copy):
        refused = harvest("judge", "pool", run, again)
        assert (refused.returncode, "the same run is given twice" in refused.stderr) == (2, True)
