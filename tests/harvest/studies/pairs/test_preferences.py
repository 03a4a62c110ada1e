"""Blind pairs: drawn fairly, told apart by their key alone, read back as preferences that hold what they promise."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner
from rich.console import Console

from harvest.cli.judge.pairs import command as write_sheet
from harvest.cli.judge.preferences import command as prefer
from harvest.studies.pairs.blind_pairs import KeptPair, PairKey, draw_pairs
from harvest.studies.pairs.conversation_pairs import all_sides
from harvest.studies.pairs.preference_figures import preference_tables
from harvest.studies.pairs.preferences import GivenJudgment, PreferenceStudy, preferences, read_key
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import read
from tests.support.rare_worlds import PREFERRED, preferred_system
from tests.support.scoring_examples import conversation
from tests.support.study_rows import figures
from topics.errors import InputError

TOPICS, TRIALS = 9, 4
NAMES = ("mine-2", "yours", "theirs")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs") / "run"
    played = [
        conversation(
            (f"Tell me of topic {topic}.", f"=Answer {trial} of {name} {{topic {topic}}}"),
            labels="o",
            system=name,
            trial=trial,
            topic=f"T{topic}",
        )
        for name in NAMES
        for topic in range(1, TOPICS + 1)
        for trial in range(1, TRIALS + 1)
    ]
    header = make_header(audit={"name": "t"}, protocol=None, topics=None, systems={n: {"name": n} for n in NAMES})
    record(folder, played, header)
    return folder


def written(run: Path, folder: Path, *options: str) -> tuple[Path, Path]:
    sheet = folder / "sheet.csv"
    done = CliRunner().invoke(write_sheet, [str(run), "--out", str(sheet), *options])
    assert done.exit_code == 0, done.exception
    return sheet, folder / "sheet.key.json"


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(sheet: Path, name: str, rows: Sequence[dict[str, str]]) -> Path:
    path = sheet.with_name(name)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_every_pair_is_drawn_once_with_each_system_on_the_left_in_half_and_is_reproducible(run: Path) -> None:
    sides = all_sides([read(run)])
    drawn = draw_pairs(sides, seed=5)
    assert drawn == draw_pairs(sides, seed=5)
    assert drawn != draw_pairs(sides, seed=6)
    assert len({(one.topic, one.trial, frozenset((one.left[0].name, one.right[0].name))) for one in drawn}) == len(
        drawn
    )
    assert len(drawn) == 3 * TOPICS * TRIALS
    for first, second in (("mine-2", "yours"), ("mine-2", "theirs"), ("yours", "theirs")):
        left = [one.left[0].name for one in drawn if {one.left[0].name, one.right[0].name} == {first, second}]
        assert left.count(first) == left.count(second) == TOPICS * TRIALS / 2
    few = draw_pairs(sides[:2], most=TOPICS + 2, seed=5)
    each = [sum(one.topic == f"T{topic}" for one in few) for topic in range(1, TOPICS + 1)]
    assert sorted(each) == [1] * (TOPICS - 2) + [2, 2]


def test_a_sheet_names_no_system_and_texts_that_begin_like_formulas_are_kept_apart(run: Path, tmp_path: Path) -> None:
    sheet, key = written(run, tmp_path, "--systems", "mine-2,yours")
    for row in rows_of(sheet):
        assert set(row) == {"pair", "topic", "left", "right", "preference", "note", "annotator"}
        assert row["left"].startswith("USER: Tell me of topic")
    assert [pair.left for pair in read_key(key).pairs.values()].count("mine-2") == TOPICS * TRIALS / 2
    again = CliRunner().invoke(write_sheet, [str(run), "--out", str(sheet)])
    assert isinstance(again.exception, InputError)
    assert "exists already" in str(again.exception)


def test_a_missing_sheet_or_folder_is_reported(run: Path, tmp_path: Path) -> None:
    _, key = written(run, tmp_path)
    for name in ("pairs.judged", "pears.csv"):
        done = CliRunner().invoke(prefer, [str(tmp_path / name), "--key", str(key)])
        assert f"{name}: no such file or folder" in str(done.exception)


def test_the_choices_of_two_people_become_preferences(run: Path, tmp_path: Path) -> None:
    sheet, key = written(run, tmp_path, "--systems", "mine-2,yours")
    pairs = read_key(key).numbered()
    anna, ben = [], []
    for row in rows_of(sheet):
        better = "left" if pairs[int(row["pair"])].left == "mine-2" else "right"
        anna.append({**row, "preference": better})
        ben.append({**row, "preference": better if row["topic"] != "T1" else "tie", "annotator": "Ben"})
    ben[0]["preference"], ben[1]["preference"] = "unsure", ""
    filled = [fill(sheet, "anna.csv", anna), fill(sheet, "ben.csv", ben)]
    done = CliRunner().invoke(prefer, [*map(str, filled), "--key", str(key), "--json"])
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    assert found["people"] == ["Ben", "anna"]
    (one,) = figures(found, "preferred")
    assert (one["system"], one["other"], one["topics"], one["trials"]) == ("mine-2", "yours", TOPICS, TOPICS * TRIALS)
    by_topic = {row["topic"]: row["estimate"] for row in figures(found, "preferred in a topic")}
    assert all(value == 1 for topic, value in by_topic.items() if topic != "T1")
    assert 0.7 <= by_topic["T1"] < 0.9
    assert one["estimate"] == pytest.approx(sum(by_topic.values()) / TOPICS)
    assert one["p"] == pytest.approx(2 / 2**TOPICS)
    assert [row["estimate"] for row in figures(found, "judgments unsure")] == [1]
    assert one["verdict"] == "better"
    people = CliRunner().invoke(prefer, [*map(str, filled), "--key", str(key)], env={"COLUMNS": "80"})
    assert "mine-2 and yours: mine-2 is preferred (9" in people.stdout
    assert max(map(len, people.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"preference": "mine"}, "is not a choice"),
        ({"pair": "99"}, "pair 99 is not in the key"),
        ({"right": "USER: something else"}, "these are not the conversations of pair"),
        ({"pair": "one"}, "is not a whole number"),
    ],
)
def test_a_fault_in_a_sheet_is_reported_with_its_place(
    run: Path, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    sheet, key = written(run, tmp_path, "--systems", "mine-2,yours", "--sample", "4")
    rows = [{**row, "preference": "left"} for row in rows_of(sheet)]
    rows[1] |= change
    done = CliRunner().invoke(prefer, [str(fill(sheet, "bad.csv", rows)), "--key", str(key)])
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)
    assert "bad.csv:" in str(done.exception)


def test_one_person_judges_a_pair_once(run: Path, tmp_path: Path) -> None:
    sheet, key = written(run, tmp_path, "--systems", "mine-2,yours", "--sample", "4")
    filled = fill(sheet, "anna.csv", [{**row, "preference": "left"} for row in rows_of(sheet)])
    done = CliRunner().invoke(prefer, [str(filled), str(filled), "--key", str(key)])
    assert "anna judged pair 1 in two sheets" in str(done.exception)
    wrong = CliRunner().invoke(prefer, [str(filled), "--key", str(filled)])
    assert isinstance(wrong.exception, InputError)


def told(
    rng: np.random.Generator, topics: int, trials: int, share: float, spread: float, left: float
) -> list[GivenJudgment]:
    """Judgments of one person over pairs of a key as `key_of` makes it: a topic's chance is spread about `share`."""
    found = []
    chances = np.clip(rng.normal(share, spread, topics), 0, 1)
    for number in range(1, topics * trials + 1):
        for_first = rng.random() < chances[(number - 1) // trials]
        side = "left" if for_first == (number % 2 == 0) else "right"
        found.append((number, "anna", "left" if rng.random() < left else side))
    return found


def key_of(topics: int, trials: int) -> PairKey:
    pairs = {
        str(number): KeptPair(
            topic=f"T{(number - 1) // trials}",
            trial=1,
            left="A" if number % 2 == 0 else "B",
            right="B" if number % 2 == 0 else "A",
            text="",
        )
        for number in range(1, topics * trials + 1)
    }
    return PairKey(format="harvest-pairs/1", sheet="s", seed=0, systems=("A", "B"), runs=(), pairs=pairs)


@pytest.mark.parametrize(
    ("draws", "fewest", "most", "led"),
    [(150, 130, 20, 8), pytest.param(400, 360, 37, 20, marks=pytest.mark.soak)],
)
def test_intervals_cover_the_truth_and_alarms_are_rare(draws: int, fewest: int, most: int, led: int) -> None:
    """fewest: intervals that hold, of so many draws. most: alarms. Beyond either lies one such test in 7,000 at 95%
    (binomial). led: studies in which a side is preferred, of which one may be missed."""
    rng, key = np.random.default_rng(3), key_of(20, 4)
    held = alarms = sided = 0
    for _ in range(draws):
        study = preferences(key, told(rng, 20, 4, 0.5, 0.2, 0.0))
        one, side = study.systems[0], study.sides[0]
        held += one.interval.low <= 0.5 <= one.interval.high
        alarms += one.p_corrected <= 0.05
        sided += side.p <= 0.05
    assert held >= fewest
    assert alarms <= most
    assert sided <= most
    found = sum(preferences(key, told(rng, 20, 4, 0.5, 0.0, 0.6)).sides[0].p <= 0.05 for _ in range(led))
    assert found >= led - 1


def said_of(values: npt.NDArray[np.float64]) -> list[GivenJudgment]:
    """Judgments of one person that are these values; (topics, trials), of the first system."""
    found = []
    for number, value in enumerate(values.ravel().tolist(), 1):
        choice = "tie" if value == 0.5 else "left" if (value == 1) == (number % 2 == 0) else "right"
        found.append((number, "anna", choice))
    return found


CELLS = [(world, size) for world in PREFERRED for size in ((4, 2), (8, 2), (15, 2), (15, 8), (60, 1), (60, 4))]
QUICK = {
    ("wins, loses 1 in 20", (15, 2)),
    ("neither, mostly ties", (8, 2)),
    ("a little better, loses 1 in 20", (15, 8)),
}


@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.soak, id=str(one)) for one in CELLS]
)
@pytest.mark.parametrize("cluster", [1, pytest.param(5, marks=pytest.mark.soak)])
def test_preferences_that_few_topics_can_turn_cover_the_truth_and_name_no_wrong_winner(
    case: tuple[str, tuple[int, int]], cluster: int
) -> None:
    (world, (topics, trials)), rng = case, np.random.default_rng(5)
    topics *= cluster
    key, studies, printed, held, wrong = key_of(topics, trials), 60 if case in QUICK else 500, 0, 0, 0
    for _ in range(studies):
        values, clusters, truth = preferred_system(rng, topics, trials, world=world, cluster=cluster)
        named = {f"T{topic}": str(one) for topic, one in enumerate(clusters)}
        (one,) = preferences(key, said_of(values), clusters=named).systems
        printed += one.interval.is_defined
        held += one.interval.contains(truth)
        wrong += one.told and (truth == 0.5 or (one.value > 0.5) != (truth > 0.5))
    assert printed == studies
    noise = math.sqrt(0.05 * 0.95 / studies)
    assert held / studies >= 0.93 - (3 if case in QUICK else 1) * noise
    assert wrong / studies <= 0.06 + (3 if case in QUICK else 0) * noise


def test_a_small_p_is_not_a_verdict_if_an_unusual_topic_could_turn_it() -> None:
    """Each of 12 topics prefers A by a hair: p is 1/2048, and one topic that prefers B wholly would turn it."""
    values = np.full((12, 40), 0.5)
    values[:, :2] = 1.0
    (one,) = preferences(key_of(12, 40), said_of(values)).systems
    assert one.p_corrected == pytest.approx(2 / 2**12)
    assert one.interval.contains(0.5)
    assert not one.told
    shown = words(preferences(key_of(12, 40), said_of(values)))
    assert "A and B: cannot tell which is preferred: p is small, but the interval contains 50%" in shown
    decided = preferences(key_of(12, 40), said_of(np.ones((12, 40))))
    assert decided.systems[0].told
    assert "A and B: A is preferred (100.0%)" in words(decided)


def test_topics_of_one_cluster_are_one_unit() -> None:
    values = np.ones((12, 2))
    clusters = {f"T{topic}": f"c{topic // 4}" for topic in range(12)}
    (alone,) = preferences(key_of(12, 2), said_of(values)).systems
    (one,) = preferences(key_of(12, 2), said_of(values), clusters=clusters).systems
    assert (alone.told, alone.clusters, one.told, one.clusters) == (True, 12, False, 3)
    assert (one.value, one.p) == (alone.value, 2 / 2**3)
    assert one.interval.note == "3 clusters: too few to resample"
    key = key_of(12, 2).model_copy(update={"clusters": clusters})
    assert preferences(key, said_of(values)).systems[0] == one, "the key names them"
    assert "12 topics in 3 clusters, which are the units of interval and p" in words(preferences(key, said_of(values)))


def words(study: PreferenceStudy) -> str:
    console = Console(width=400, record=True, file=io.StringIO())
    for part in preference_tables(study):
        console.print(part)
    return console.export_text()


def test_without_judgments_nothing_is_claimed() -> None:
    study = preferences(key_of(3, 2), [])
    assert math.isnan(study.systems[0].value)
    assert math.isnan(study.systems[0].p_corrected)
    assert math.isnan(study.sides[0].share)
    assert study.unjudged == 6
