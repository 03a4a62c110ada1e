"""Questions on scales of three and of five levels in one evaluation, as in DCH-1 ([STC3] §2.4)."""

import json
import math
from pathlib import Path

import pytest

from scoring.annotations.helpdesk_files import read_helpdesk_files
from scoring.annotations.helpdesk_scores import baseline_notes, helpdesk_rows
from topics.errors import InputError

THREE, FIVE = ["1", "0", "-1"], ["2", "1", "0", "-1", "-2"]
SCALES = {"TS": THREE, "TA": THREE, "CS": FIVE, "HA": THREE, "CA": THREE}
QUALITY = {"TS": [3, 0, 0], "TA": [0, 1, 2], "CS": [0, 0, 3, 0, 0], "HA": [1, 1, 1], "CA": [0, 3, 0]}


def compact(names: list[str], scales: object = SCALES, quality: dict[str, list[int]] = QUALITY) -> str:
    turns = [{"sender": "customer", "n": [3, 0, 0, 0]}]
    dialogues = [{"id": name, "turns": turns, "quality": quality} for name in names]
    head = {"customer_types": ["CNUG0", "CNUG", "CNUG*", "CNaN"], "helpdesk_types": ["HNUG", "HNUG*", "HNaN"]}
    return json.dumps({**head, "quality_scale": scales, "dialogues": dialogues})


def official(name: str) -> dict[str, object]:
    """The same dialogue with the answers of each of the three annotators."""
    answers = {
        key: [level for level, count in zip(SCALES[key], counts, strict=True) for _ in range(count)]
        for key, counts in QUALITY.items()
    }
    annotations = [
        {"nugget": ["CNUG0"], "quality": {key: int(own[number]) for key, own in answers.items()}} for number in range(3)
    ]
    return {"id": name, "turns": [{"sender": "customer"}], "annotations": annotations}


def test_counts_and_answers_of_the_five_questions_of_dch_1_are_the_same_gold(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text(compact(["d"]), encoding="utf-8")
    (tmp_path / "answers.json").write_text(json.dumps([official("d")]), encoding="utf-8")
    (counted,) = read_helpdesk_files([tmp_path / "counts.json"]).gold
    (answered,) = read_helpdesk_files([tmp_path / "answers.json"]).gold
    assert counted == answered
    assert counted.levels["TA"] == ("1", "0", "-1")
    assert counted.levels["CS"] == ("2", "1", "0", "-1", "-2")
    assert counted.quality["TA"] == (0.0, 1 / 3, 2 / 3)


def test_both_scales_are_evaluated_side_by_side_each_with_its_own_number_of_levels(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text(compact(["d"]), encoding="utf-8")
    first = {key: {level: float(level == scale[0]) for level in scale} for key, scale in SCALES.items()}
    (tmp_path / "mine.json").write_text(json.dumps([{"id": "d", "quality": first}]), encoding="utf-8")
    material = read_helpdesk_files([tmp_path / "gold.json", tmp_path / "mine.json"])
    found = {row.measure: row.value for row in helpdesk_rows(material, replications=200) if row.system == "mine"}
    # TA: cumulated shares (1, 1) and (0, 1/3), over L - 1 = 2. Figure 2 of [STC3] prints NOD .8889 for this pair.
    assert found["NMD(TA)"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["RSNOD(TA)"] == pytest.approx(math.sqrt((1 + 16 / 9) / 2 / 2))
    # CS: cumulated shares (1, 1, 1, 1) and (0, 0, 1, 1), over L - 1 = 4; both OD are 2.
    assert found["NMD(CS)"] == pytest.approx(2 / 4)
    assert found["RSNOD(CS)"] == pytest.approx(math.sqrt(2 / 4))
    assert found["NMD(TS)"] == 0
    assert found["NMD(HA)"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found["NMD(CA)"] == pytest.approx(1 / 2)


def test_the_baselines_are_uniform_and_prior_over_the_levels_of_each_question(tmp_path: Path) -> None:
    other = {**QUALITY, "TA": [3, 0, 0]}
    (tmp_path / "one.json").write_text(compact(["d"]), encoding="utf-8")
    (tmp_path / "two.json").write_text(compact(["e"], quality=other), encoding="utf-8")
    rows = helpdesk_rows(read_helpdesk_files([tmp_path / "one.json", tmp_path / "two.json"]), replications=200)
    found = {(row.system, row.measure): row.value for row in rows}
    # Each dialogue is predicted with the other's shares of TA: (1, 0, 0) and (0, 1/3, 2/3).
    assert found["baseline: prior", "NMD(TA)"] == pytest.approx((1 + 2 / 3) / 2)
    # Uniform: cumulated (1/3, 2/3), against (0, 1/3) and (1, 1).
    assert found["baseline: uniform", "NMD(TA)"] == pytest.approx(((1 / 3 + 1 / 3) / 2 + (2 / 3 + 1 / 3) / 2) / 2)
    assert found["baseline: uniform", "NMD(CS)"] == pytest.approx((0.2 + 0.4 + 0.4 + 0.2) / 4)


def test_dialogues_whose_scales_of_one_question_differ_have_no_prior(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(compact(["d"]), encoding="utf-8")
    narrow = {**SCALES, "CS": THREE}
    (tmp_path / "two.json").write_text(compact(["e"], narrow, {**QUALITY, "CS": [0, 3, 0]}), encoding="utf-8")
    material = read_helpdesk_files([tmp_path / "one.json", tmp_path / "two.json"])
    assert {row.system for row in helpdesk_rows(material, replications=200)} == {"baseline: uniform"}
    assert baseline_notes(material.gold) == [
        "baseline: prior and baseline: majority are left out, because dialogues differ in the levels of CS"
    ]
    assert baseline_notes(material.gold[:1]) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            compact(["d"], {key: scale for key, scale in SCALES.items() if key != "CA"}),
            "gold.json:1:399: quality_scale has no levels of the question 'CA'\n  allowed: TS, TA, CS, HA",
        ),
        (compact(["d"], {**SCALES, "TS": ["1"]}), "gold.json:1:125: the list needs at least two names"),
        (compact(["d"], quality={**QUALITY, "CS": [3, 0, 0]}), "the list has 3 counts instead of 5"),
        (
            compact(["d"], ["2", "0", "1", "-1", "-2"]),
            "gold.json:1:118: the levels are not in order\n  allowed: for example 2, 1, 0, -1, -2",
        ),
        (compact(["d"], "five"), "gold.json:1:118: this is not a scale"),
        (
            json.dumps([official("d")]).replace('"TA": 0', '"TA": 2'),
            "2 is not a level\n  allowed: 1, 0, -1",
        ),
    ],
)
def test_a_scale_that_does_not_fit_gives_one_message(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "gold.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_helpdesk_files([tmp_path / "gold.json"])
    assert said in str(caught.value).replace(f"{tmp_path}/", "")
