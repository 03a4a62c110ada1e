"""`eval` of `harvest metrics breakdown` and `helpdesk`: submissions beside baselines, as a person calls them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from scoring.annotations.breakdown_files import AnnotatedTurn, read_breakdown_files
from scoring.annotations.breakdown_scores import BASELINES, breakdown_rows
from scoring.measures.nugget_detection import CUSTOMER_TYPES, HELPDESK_TYPES
from tests.support.checkout import DATA
from tests.support.command_line import harvest
from topics.errors import InputError

DEV = DATA / "dbdc3_en"
YI = DEV / "YI_100.json"
STC3 = DATA / "stc3" / "stc3_test_gold_counts.json"


def wide(*arguments: str | Path) -> CompletedProcess[str]:
    return harvest(*arguments, width=120)


def document(*arguments: str | Path) -> dict[str, Any]:
    done = wide(*arguments, "--replications", "200", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def value(rows: list[dict[str, Any]], system: str, measure: str, topic_type: str | None = None) -> float:
    wanted = ("score", system, measure, topic_type)
    (row,) = [r for r in rows if (r["figure"], r["system"], r["measure"], r["topic_type"]) == wanted]
    found: float = row["estimate"]
    return found


def gold_as_predictions(path: Path) -> str:
    lines = []
    for turn in read_breakdown_files([path]).gold:
        probabilities = [count / sum(turn.counts) for count in turn.counts]
        lines.append(json.dumps({"dialogue": turn.dialogue, "turn": turn.turn, "probabilities": probabilities}))
    return "\n".join(lines) + "\n"


def test_the_interval_of_a_share_of_breakdowns_ends_at_1() -> None:
    material = read_breakdown_files([YI])
    few = sorted({turn.dialogue for turn in material.gold})[:6]
    small = replace(material, gold=tuple(turn for turn in material.gold if turn.dialogue in few))
    shares = [row for row in breakdown_rows(small, replications=100) if row.measure[:2] in ("P(", "R(", "F1")]
    recall = [row for row in shares if (row.measure, row.system) == ("R(B)", "baseline: always X")]
    assert {row.value for row in recall} == {1.0}
    assert [row.high for row in recall] == [1.0] * len(recall)
    assert all(0 <= row.low <= row.high <= 1 for row in shares if not math.isnan(row.low))


def test_a_submission_is_shown_with_every_baseline_and_the_gold_itself_is_perfect(tmp_path: Path) -> None:
    (tmp_path / "perfect.jsonl").write_text(gold_as_predictions(YI), encoding="utf-8")
    found = document("metrics", "breakdown", "eval", YI, tmp_path / "perfect.jsonl")
    rows = found["long"]
    assert found["format"] == "harvest-breakdown-scores/2"
    assert list(dict.fromkeys(row["system"] for row in rows)) == ["perfect", *BASELINES, "annotators"]
    assert value(rows, "perfect", "accuracy") == value(rows, "perfect", "F1(PB+B)") == 1
    assert value(rows, "perfect", "JSD(O,T,X)") == value(rows, "perfect", "MSE(O+T,X)") == 0
    assert value(rows, "perfect", "rate(B)") == value(rows, "annotators", "rate(B)")
    assert value(rows, "baseline: always X", "F1(PB+B)") > 0.75
    assert value(rows, "baseline: uniform", "JSD(O,T,X)") == pytest.approx(0.0178, abs=5e-5)


def test_the_fixed_form_with_only_annotations_prints_the_baselines_overall_and_by_system() -> None:
    found = document("metrics", "breakdown", "eval", DEV)
    rows = found["long"]
    assert {row["system"] for row in rows} == {*BASELINES, "annotators"}
    assert {row["topic_type"] for row in rows} == {None, "CIC_115", "IRIS_100", "TKTK_100", "YI_100"}
    assert "no predictions were given" in found["notes"][0]
    for row in rows:
        if row["low"] is not None:
            assert row["low"] <= row["estimate"] <= row["high"]
            assert row["resampled"] == "dialogues"
        elif row["estimate"] is None:
            assert row["n"] == 0
    assert value(rows, "baseline: half the annotators", "JSD(O,T,X)") == pytest.approx(0.0536, abs=4e-4)


def test_the_table_for_people_names_baselines_measures_and_which_direction_is_good() -> None:
    done = wide("metrics", "breakdown", "eval", YI, "--replications", "200")
    assert done.returncode == 0
    for words in (*BASELINES, "F1(PB+B)", "JSD(O,T,X)", "0 is good", "1000 turns of 100 dialogues"):
        assert words in done.stdout


def test_all_prints_every_measure_and_each_system_separately() -> None:
    done = wide("metrics", "breakdown", "eval", YI, DEV / "IRIS_100.json", "--all", "--replications", "200")
    assert done.returncode == 0
    for words in (
        "dialogues of YI_100",
        "dialogues of IRIS_100",
        "MSE(O+T,X)",
        "n/a                           0",
        "rate(B)",
    ):
        assert words in done.stdout


def test_the_prior_can_come_from_training_files_and_never_from_the_evaluated_dialogues() -> None:
    found = document("metrics", "breakdown", "eval", YI, "--train", DEV / "IRIS_100.json")
    systems = {row["system"] for row in found["long"]}
    assert "baseline: prior" in systems
    assert "baseline: prior of the system" not in systems  # IRIS says nothing of YI
    done = wide("metrics", "breakdown", "eval", YI, "--train", YI)
    assert done.returncode == 2
    assert "must not be both in --train and among the dialogues to evaluate" in done.stderr


def test_a_prior_by_dialogue_is_the_mean_of_all_other_dialogues() -> None:
    material = read_breakdown_files([YI])
    gold = np.array([turn.counts for turn in material.gold]) / 30
    names = np.array([turn.dialogue for turn in material.gold])
    squares = [np.square(gold[names != name].mean(axis=0) - row).mean() for name, row in zip(names, gold, strict=True)]
    rows = breakdown_rows(material, replications=100)
    (row,) = [r for r in rows if (r.system, r.measure) == ("baseline: prior", "MSE(O,T,X)")]
    assert row.value == pytest.approx(float(np.mean(squares)), abs=1e-12)


def test_holding_out_systems_leaves_a_prior_only_of_the_other_systems() -> None:
    material = read_breakdown_files([YI, DEV / "IRIS_100.json"])
    rows = breakdown_rows(material, held_out="system", replications=100)
    assert "baseline: prior of the system" not in {row.system for row in rows}
    gold = np.array([turn.counts for turn in material.gold]) / 30
    yi = np.array([turn.system == "YI_100" for turn in material.gold])
    expected = np.square(gold[~yi].mean(axis=0) - gold[yi]).mean()
    (row,) = [r for r in rows if (r.system, r.measure, r.topic_type) == ("baseline: prior", "MSE(O,T,X)", "YI_100")]
    assert row.value == pytest.approx(float(expected), abs=1e-12)


def test_neither_another_run_nor_another_order_of_files_changes_a_figure_or_an_interval() -> None:
    one, two = ([YI, DEV / "IRIS_100.json"], [DEV / "IRIS_100.json", YI])
    first, again, turned = (
        [row.as_json() for row in breakdown_rows(read_breakdown_files(files), seed=3, replications=100)]
        for files in (one, one, two)
    )
    assert first == again == turned


def test_a_system_s_name_is_shown_as_it_is_and_cannot_style_the_table(tmp_path: Path) -> None:
    lines = [
        {"dialogue": f"d{i}", "turn": 0, "system": ["[/red]", "\x1b[31m"][i % 2], "counts": [i, 1, 1]} for i in range(6)
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = wide("metrics", "breakdown", "eval", tmp_path / "gold.jsonl", "--all")
    assert done.returncode == 0, done.stderr
    assert "dialogues of [/red]" in done.stdout
    assert "\x1b" not in done.stdout


def test_one_dialogue_has_values_without_intervals_and_no_prior_and_says_why() -> None:
    material = read_breakdown_files([YI])
    one = material.gold[0].dialogue
    turns = tuple(turn for turn in material.gold if turn.dialogue == one)
    rows = breakdown_rows(type(material)(turns, ()), replications=100)
    assert not {"baseline: prior", "baseline: prior of the system"} & {row.system for row in rows}
    (row,) = [r for r in rows if (r.system, r.measure) == ("baseline: uniform", "JSD(O,T,X)")]
    assert math.isnan(row.low)
    assert row.note.endswith("one dialogue: nothing to resample")


def test_turns_with_one_annotator_are_evaluated_without_the_halves() -> None:
    turns = tuple(AnnotatedTurn(f"d{i}", 0, "s", ((1, 0, 0), (0, 0, 1))[i % 2]) for i in range(4))
    material = type(read_breakdown_files([YI]))(turns, ())
    assert "baseline: half the annotators" not in {row.system for row in breakdown_rows(material, replications=100)}


def test_the_bootstrap_by_dialogue_covers_the_difference_between_dialogues() -> None:
    """Ten equal turns a dialogue: as wide as from one turn each, not narrower by the square root of ten."""
    rng = np.random.default_rng(4)
    says = rng.random(60) < 0.5

    def width(turns: int) -> float:
        gold = tuple(
            AnnotatedTurn(f"d{i}", turn, "s", (30, 0, 0) if says[i] else (0, 0, 30))
            for i in range(60)
            for turn in range(turns)
        )
        rows = breakdown_rows(type(read_breakdown_files([YI]))(gold, ()))
        (row,) = [r for r in rows if (r.system, r.measure) == ("baseline: always X", "accuracy")]
        return row.high - row.low

    assert width(10) == pytest.approx(width(1), rel=0.05)
    assert width(1) > 0.2


def test_a_submission_cannot_take_the_name_of_a_baseline(tmp_path: Path) -> None:
    path = tmp_path / "annotators.jsonl"
    path.write_text(gold_as_predictions(YI), encoding="utf-8")
    with pytest.raises(InputError, match="cannot be called 'annotators'"):
        breakdown_rows(read_breakdown_files([YI, path]), replications=100)


def test_a_bad_file_ends_with_2_one_message_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"dialogue": 3}', encoding="utf-8")
    for group in ("breakdown", "helpdesk"):
        done = wide("metrics", group, "eval", tmp_path / "a.json")
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert "a.json:1:1: the file has neither annotations nor predictions" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("group", "option"), [("breakdown", "--level"), ("helpdesk", "--level"), ("helpdesk", "--alpha")]
)
def test_nan_is_neither_a_level_nor_a_weight(group: str, option: str) -> None:
    done = wide("metrics", group, "eval", STC3 if group == "helpdesk" else YI, option, "nan")
    assert (done.returncode, "'nan' is not a number" in done.stderr) == (2, True)


def test_the_table_fits_80_columns_has_an_n_for_every_value_and_the_interval_of_every_other_table() -> None:
    arguments = ["metrics", "helpdesk", "eval", str(STC3), "--all", "--replications", "200"]
    done = harvest(*arguments, width=80)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    figures = [line for line in lines if line.startswith("   baseline: ")]
    assert len(figures) == 3 * (2 * 17 + 2)
    blocks = sum(len(one["turns"]) for one in json.loads(STC3.read_text(encoding="utf-8"))["dialogues"])
    form = re.compile(rf"   baseline: \w+ +(\d\.\d{{4}} \[\d?\.\d{{4}}, \d?\.\d{{4}}\]) +(390|{blocks})")
    assert [line for line in figures if not form.fullmatch(line)] == []
    assert any("resampled: dialogues" in line for line in lines)


def uniform_submission() -> list[dict[str, Any]]:
    gold = json.loads(STC3.read_text(encoding="utf-8"))
    types = {"customer": gold["customer_types"], "helpdesk": gold["helpdesk_types"]}
    return [
        {
            "id": dialogue["id"],
            "quality": {key: dict.fromkeys(gold["quality_scale"], 0.2) for key in "ASE"},
            "nugget": [
                {name: 1 / len(types[turn["sender"]]) for name in types[turn["sender"]]} for turn in dialogue["turns"]
            ],
        }
        for dialogue in gold["dialogues"]
    ]


def test_a_helpdesk_submission_that_is_uniform_equals_the_baseline_that_is_printed_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(uniform_submission()), encoding="utf-8")
    rows = document("metrics", "helpdesk", "eval", STC3, tmp_path / "mine.json")["long"]
    baselines = ["baseline: uniform", "baseline: prior", "baseline: majority"]
    assert list(dict.fromkeys(row["system"] for row in rows)) == ["mine", *baselines]
    for measure in ("NMD(A)", "RSNOD(S)", "SNOD(E)", "RNSS(nugget)", "-log2 JSD(nugget)"):
        assert value(rows, "mine", measure) == pytest.approx(value(rows, "baseline: uniform", measure), abs=1e-9)
        assert value(rows, "mine", measure) != value(rows, "baseline: prior", measure)


def test_a_submission_of_one_subtask_has_no_rows_of_the_other_and_alpha_is_in_the_name(tmp_path: Path) -> None:
    only = [{"id": entry["id"], "nugget": entry["nugget"]} for entry in uniform_submission()]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, only)), encoding="utf-8")
    rows = document("metrics", "helpdesk", "eval", STC3, tmp_path / "mine.jsonl", "--alpha", "0.8")["long"]
    mine = {row["measure"] for row in rows if row["system"] == "mine"}
    of_dialogues = {f"{extra}{name}(nugget, alpha=0.8)" for extra in ("", "-log2 ") for name in ("RNSS", "JSD")}
    assert mine == of_dialogues | {f"{name}(nugget, average=micro)" for name in ("RNSS", "JSD")}


def _nugget_row(side: str, first: float) -> dict[str, float]:
    """A row of predictions that gives the first type of a side this share, and the last type the rest."""
    types = {"customer": CUSTOMER_TYPES, "helpdesk": HELPDESK_TYPES}[side]
    return {**dict.fromkeys(types, 0.0), types[0]: first, types[-1]: 1 - first}


def test_the_micro_average_weighs_every_block_alike_by_hand(tmp_path: Path) -> None:
    """One annotator each. Dialogue d1 has four blocks, all predicted right but the last; d2 has one, predicted wrong.

    RNSS of a wrong certain prediction is 1, of .5 against 1 it is sqrt(((.5)² + (.5)²) / 2) = .5. Macro average: d1 has
    (0 + 0)/2 of the customer and (0 + .5)/2 of the helpdesk, .125; d2 has 1; their mean is .5625. Micro average:
    (0 + 0 + 0 + .5 + 1)/5 = .3.
    """
    sides = ("customer", "helpdesk", "customer", "helpdesk")
    first = {"customer": "CNUG0", "helpdesk": "HNUG"}
    gold = [
        {
            "id": name,
            "turns": [{"sender": side} for side in said],
            "annotations": [{"nugget": [first[side] for side in said], "quality": {}}],
        }
        for name, said in (("d1", sides), ("d2", sides[:1]))
    ]
    shares = {"d1": (1, 1, 1, 0.5), "d2": (0,)}
    mine = [
        {"id": name, "nugget": [_nugget_row(side, share) for side, share in zip(sides, given)]}
        for name, given in shares.items()
    ]
    (tmp_path / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    (tmp_path / "mine.json").write_text(json.dumps(mine), encoding="utf-8")
    rows = document("metrics", "helpdesk", "eval", tmp_path / "gold.json", tmp_path / "mine.json")["long"]
    assert value(rows, "mine", "RNSS(nugget)") == pytest.approx(0.5625, abs=1e-12)
    assert value(rows, "mine", "RNSS(nugget, average=micro)") == pytest.approx(0.3, abs=1e-12)
    (micro,) = (row for row in rows if (row["system"], row["measure"]) == ("mine", "RNSS(nugget, average=micro)"))
    assert micro["n"] == 5


def test_a_submission_may_count_annotators(tmp_path: Path) -> None:
    counted, shares = uniform_submission(), uniform_submission()
    for one in counted:
        one["quality"] = {key: dict.fromkeys(levels, 2) for key, levels in one["quality"].items()}  # (2, 2, 2, 2, 2)
        one["nugget"] = [dict.fromkeys(block, 3) for block in one["nugget"]]
    (tmp_path / "counted.json").write_text(json.dumps(counted), encoding="utf-8")
    (tmp_path / "shares.json").write_text(json.dumps(shares), encoding="utf-8")
    rows = document("metrics", "helpdesk", "eval", STC3, tmp_path / "counted.json", tmp_path / "shares.json")["long"]
    measures = {row["measure"] for row in rows}
    assert {"NMD(A)", "RNSS(nugget)"} <= measures
    for measure in measures:
        assert value(rows, "counted", measure) == pytest.approx(value(rows, "shares", measure), abs=1e-9)
    counted[0]["quality"]["A"] = dict.fromkeys(counted[0]["quality"]["A"], 3.0)  # as data frames write them
    (tmp_path / "frame.json").write_text(json.dumps(counted), encoding="utf-8")
    rows = document("metrics", "helpdesk", "eval", STC3, tmp_path / "frame.json", tmp_path / "shares.json")["long"]
    assert value(rows, "frame", "NMD(A)") == pytest.approx(value(rows, "shares", "NMD(A)"), abs=1e-9)
    counted[0]["quality"]["A"] = dict.fromkeys(counted[0]["quality"]["A"], 2.5)
    (tmp_path / "counted.json").write_text(json.dumps(counted), encoding="utf-8")
    done = wide("metrics", "helpdesk", "eval", STC3, tmp_path / "counted.json")
    assert done.returncode == 2
    assert "sum to 12.5" in done.stderr
    assert "whole numbers of annotators" in done.stderr


def test_the_helpdesk_table_prints_plain_means_and_minus_log2_only_when_asked() -> None:
    few, every = (wide("metrics", "helpdesk", "eval", STC3, "--replications", "200", *more) for more in ([], ["--all"]))
    assert few.returncode == every.returncode == 0
    assert "0.1855" in few.stdout
    assert "log2" not in few.stdout
    assert "-log2 NMD(A)" in every.stdout
    assert "2.4301" in every.stdout
