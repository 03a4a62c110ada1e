"""Files of annotated dialogues and of predictions: what is read, and what is said of a bad one, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoring.annotations.breakdown_files import BreakdownMaterial, read_breakdown_files
from scoring.annotations.helpdesk_files import HelpdeskMaterial, read_helpdesk_files
from tests.support.checkout import DATA
from topics.errors import InputError

COMPACT = '{"subset": "S", "dialogues": [{"id": "d1", "turns": [{"i": 1, "s": "S", "c": [3, 1, 1], "cr": [1, 1, 3]}]}]}'
LOG = """{"dialogue-id": "d1", "turns": [
  {"turn-index": 0, "speaker": "U", "annotations": []},
  {"turn-index": 1, "speaker": "S", "annotations": [{"breakdown": "O"}, {"breakdown": "X"}, {"breakdown": "O"}]}
]}"""
LABELS = """{"dialogue-id": "d1", "turns": [
  {"turn-index": 0, "labels": [{"breakdown": "O", "prob-O": 1, "prob-T": 0, "prob-X": 0}]},
  {"turn-index": 1, "labels": [{"breakdown": "X", "prob-O": 0.5, "prob-T": 0.25, "prob-X": 0.25}]}
]}"""
LINE = '{"dialogue": "d1", "turn": 1, "system": "S", "counts": [3, 1, 1]}'
GUESS = '{"dialogue": "d1", "turn": 1, "probabilities": [0.25, 0.5, 0.25]}'


def breakdown(folder: Path, **files: str) -> BreakdownMaterial:
    return read_breakdown_files(written(folder, files))


def helpdesk(folder: Path, **files: str) -> HelpdeskMaterial:
    return read_helpdesk_files(written(folder, files))


def written(folder: Path, files: dict[str, str]) -> list[Path]:
    paths = []
    for name, text in files.items():
        paths.append(folder / name.replace("__", "."))
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def test_the_development_data_has_4150_turns_of_415_dialogues_of_four_systems() -> None:
    gold = read_breakdown_files([DATA / "dbdc3_en"]).gold
    assert len(gold) == 4150
    assert len({turn.dialogue for turn in gold}) == 415
    assert sorted({turn.system for turn in gold}) == ["CIC_115", "IRIS_100", "TKTK_100", "YI_100"]
    assert {sum(turn.counts) for turn in gold} == {30}


def test_the_revised_annotation_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    (path,) = written(tmp_path, {"a__json": COMPACT})
    assert read_breakdown_files([path]).gold[0].counts == (3, 1, 1)
    assert read_breakdown_files([path], counts="revised").gold[0].counts == (1, 1, 3)


def test_official_logs_and_labels_are_distinguished_and_the_submitted_label_is_kept(tmp_path: Path) -> None:
    (tmp_path / "IRIS").mkdir()
    logs = written(tmp_path / "IRIS", {"d1__log__json": LOG})
    labels = written(tmp_path, {"d1__labels__json": LABELS})
    material = read_breakdown_files([*labels, *logs])
    (turn,) = material.gold
    assert (turn.dialogue, turn.turn, turn.system, turn.counts) == ("d1", 1, "IRIS", (2, 0, 1))
    (submission,) = material.submissions
    assert submission.name == "submission"
    assert submission.turns["d1", 1].label == 2  # X, though O is more probable
    assert material.notes == ("'submission': 1 predictions of turns that nobody annotated are left out",)


def test_a_folder_of_label_files_is_one_submission_named_after_it(tmp_path: Path) -> None:
    (tmp_path / "run1" / "en").mkdir(parents=True)
    written(tmp_path / "run1" / "en", {"d1__labels__json": LABELS})
    (gold,) = written(tmp_path, {"gold__json": COMPACT})
    (submission,) = read_breakdown_files([gold, tmp_path / "run1"]).submissions
    assert submission.name == "run1"


def test_lines_may_contain_both_annotations_and_predictions_and_the_label_is_the_argmax(tmp_path: Path) -> None:
    both = json.dumps({**json.loads(LINE), **json.loads(GUESS)})
    material = breakdown(tmp_path, mine__jsonl=both + "\n\n")
    (submission,) = material.submissions
    assert (submission.name, submission.turns["d1", 1].label) == ("mine", 1)
    assert material.gold[0].counts == (3, 1, 1)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a__json": '{"dialogues": [}'}, "a.json:1:16: not valid JSON"),
        ({"a__jsonl": LINE + "\n" + LINE[:-1]}, "a.jsonl:2:65: not valid JSON"),
        ({"a__json": COMPACT.replace("[3, 1, 1]", "[3, 1]")}, "a.json:1:78: the list has 2 numbers instead of three"),
        (
            {"a__json": COMPACT.replace("[3, 1, 1]", "[3, -1, 1]")},
            "a.json:1:82: this must be a count, not the number -1",
        ),
        ({"a__json": COMPACT.replace("[3, 1, 1]", "[0, 0, 0]")}, "a.json:1:78: nobody annotated this turn"),
        ({"a__json": COMPACT.replace('"d1"', "7")}, "a.json:1:38: this must be text, not the number 7"),
        ({"a__json": COMPACT.replace('"i": 1, ', "")}, "a.json:1:54: the object has no 'i'"),
        ({"a__json": '{"id": 1,\n "id": 2}'}, "a.json:2:2: the key 'id' appears twice in one object"),
        ({"a__json": "[\n  3]"}, "a.json:2:3: the file has neither annotations nor predictions"),
        ({"a__json": '{"a": 1}'}, "a.json:1:1: the file has neither annotations nor predictions"),
        ({"a__json": LOG.replace('"X"', '"B"')}, "a.json:3:87: 'B' is not a known value"),
        ({"a__json": COMPACT, "b__json": COMPACT}, "b.json:1:78: turn 1 of dialogue 'd1' is annotated twice"),
        (
            {"a__jsonl": LINE, "b__jsonl": GUESS + "\n" + GUESS},
            "b.jsonl:2:1: turn 1 of dialogue 'd1' is predicted twice",
        ),
        (
            {"a__jsonl": LINE, "b__jsonl": GUESS.replace("0.5", "0.6")},
            "b.jsonl:1:48: the probabilities of O, T and X sum",
        ),
        (
            {"a__jsonl": LINE, "b__jsonl": GUESS.replace("0.5", "NaN")},
            "b.jsonl:1:55: not valid JSON: NaN is not a JSON number",
        ),
        ({"a__jsonl": LINE, "b__jsonl": GUESS.replace("0.5", "1e999")}, "b.jsonl:1:55: a weight must be finite"),
        ({"a__jsonl": LINE, "b__jsonl": GUESS.replace("0.5", "true")}, "b.jsonl:1:55: this must be a number, not true"),
        ({"a__jsonl": LINE, "b__jsonl": GUESS.replace('"turn": 1', '"turn": 2')}, "predicts 0 of 1 annotated turns"),
        ({"b__jsonl": GUESS}, "no annotated turn in"),
        ({"a__jsonl": "\n"}, "a.jsonl: the file is empty"),
        ({"a__json": "[" * 100_000}, "a.json:1: not valid JSON"),
        ({"a__json": "9" * 5000}, "a.json:1: not valid JSON: a number has too many digits"),
        (
            {"a__json": LINE + "\n" + LINE},
            "a.json:2:1: not valid JSON: Extra data\n  do: give a file of one JSON value a line",
        ),
        (
            {"a__jsonl": LINE.replace("counts", "count") + "\n" + LINE},
            "a.jsonl:1:1: the file has neither annotations nor predictions",
        ),
        (
            {"a__jsonl": json.dumps({**json.loads(LINE), "probabilites": [1, 0, 0]})},
            "unknown key 'probabilites': did you mean 'probabilities'?",
        ),
        ({"a__jsonl": LINE, "b__json": "[]"}, "b.json:1:1: the list is empty"),
        ({"a__jsonl": json.dumps({**json.loads(LINE), "label": "o"})}, "'o' is not a known value"),
        (
            {"a__jsonl": "\n".join(json.dumps({**json.loads(LINE), "turn": n, "system": f"s{n}"}) for n in (1, 3))},
            "a.jsonl:2:1: dialogue 'd1' is of the system 's3' here, and of 's1' before",
        ),
        ({"a__json": "[" * 900 + "]" * 900}, "a.json:1:2: the file has neither annotations nor predictions"),
        (
            {"a__json": COMPACT, "b__json": LABELS.replace(', "prob-X": 0.25', "")},
            "b.json:3:32: the object has no 'prob-X'",
        ),
        (
            {"a__json": COMPACT, "b__json": LABELS.replace('"prob-X": 0}]', '"prob-X": 0}, {}]')},
            "b.json:2:31: the turn has 2 labels",
        ),
    ],
)
def test_a_bad_breakdown_file_is_reported_by_file_line_and_column(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        breakdown(tmp_path, **files)
    assert said in str(caught.value).replace(f"{tmp_path}/", "")


def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(InputError, match="larger than 256 MiB"):
        read_breakdown_files([tmp_path / "a.jsonl"])


def test_missing_files_binary_files_and_empty_folders_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_breakdown_files([tmp_path / "none.json"])
    with pytest.raises(InputError, match=r"the folder contains no \*\.json"):
        read_breakdown_files([tmp_path])
    (tmp_path / "a.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match=r"a\.json:1:8: the byte 0xff is not UTF-8"):
        read_breakdown_files([tmp_path / "a.json"])


GOLD = """{"customer_types": ["CNUG0", "CNUG", "CNUG*", "CNaN"], "helpdesk_types": ["HNUG", "HNUG*", "HNaN"],
"quality_scale": ["2", "1", "0", "-1", "-2"], "dialogues": [
{"id": "d", "turns": [{"sender": "customer", "n": [1, 0, 0, 1]}, {"sender": "helpdesk", "n": [2, 0, 0]}],
 "quality": {"A": [1, 1, 0, 0, 0]}}]}"""
OFFICIAL = """[{"id": "d", "turns": [{"sender": "customer"}, {"sender": "helpdesk"}], "annotations": [
  {"nugget": ["CNUG0", "HNUG"], "quality": {"A": 2}},
  {"nugget": ["CNaN", "HNUG"], "quality": {"A": "1"}}]}]"""
ESTIMATE = """[{"id": "d",
"quality": {"A": {"2": 0.5, "1": 0.5, "0": 0, "-1": 0, "-2": 0}},
"nugget": [{"CNUG0": 0.5, "CNUG": 0, "CNUG*": 0, "CNaN": 0.5}, {"HNUG": 1, "HNUG*": 0, "HNaN": 0}]}]"""


def test_annotations_and_their_counts_are_the_same_gold(tmp_path: Path) -> None:
    (compact,) = helpdesk(tmp_path, a__json=GOLD).gold
    (official,) = helpdesk(tmp_path, b__json=OFFICIAL).gold
    assert compact == official
    assert compact.nuggets == ((0.5, 0.0, 0.0, 0.5), (1.0, 0.0, 0.0))
    assert compact.quality == {"A": (0.5, 0.5, 0.0, 0.0, 0.0)}


def test_an_official_submission_is_read_and_may_leave_out_a_subtask(tmp_path: Path) -> None:
    (submission,) = helpdesk(tmp_path, gold__json=GOLD, mine__json=ESTIMATE).submissions
    assert submission.name == "mine"
    assert submission.nuggets
    assert submission.quality
    assert submission.estimates["d"].nuggets == ((0.5, 0.0, 0.0, 0.5), (1.0, 0.0, 0.0))
    only = json.dumps([{key: value for key, value in json.loads(ESTIMATE)[0].items() if key != "nugget"}])
    (submission,) = helpdesk(tmp_path, gold__json=GOLD, mine__json=only).submissions
    assert not submission.nuggets
    assert submission.estimates["d"].nuggets is None


def test_a_part_that_only_some_dialogues_of_a_submission_have_is_missed(tmp_path: Path) -> None:
    gold = GOLD.replace('{"id": "d"', '{"id": "d2", "turns": []}, {"id": "d"')
    estimates = [*json.loads(ESTIMATE), {"id": "d2", "quality": {}}]
    with pytest.raises(InputError, match=r"mine\.json:1:\d+: the object has no 'nugget'"):
        helpdesk(tmp_path, gold__json=gold, mine__json=json.dumps(estimates))


def test_predictions_for_a_question_without_answers_are_left_out_and_reported(tmp_path: Path) -> None:
    more = ESTIMATE.replace('"quality": {', '"quality": {"B": {"2": 1}, ')
    material = helpdesk(tmp_path, gold__json=GOLD, mine__json=more)
    assert material.notes == ("'mine': predictions for the question 'B', which nobody answered, are left out",)
    assert list(material.submissions[0].estimates["d"].quality or ()) == ["A"]


@pytest.mark.parametrize(
    ("gold", "estimate", "said"),
    [
        (GOLD.replace("[2, 0, 0]", "[2, 0]"), ESTIMATE, "gold.json:3:94: the list has 2 counts instead of 3"),
        (GOLD.replace("[2, 0, 0]", "[0, 0, 0]"), ESTIMATE, "gold.json:3:94: nobody annotated this"),
        (GOLD.replace('"helpdesk", "n"', '"bot", "n"'), ESTIMATE, "gold.json:3:77: 'bot' is not a known value"),
        (
            OFFICIAL.replace('"HNUG"], "quality": {"A": 2}', '"HNOG"], "quality": {"A": 2}'),
            ESTIMATE,
            "gold.json:2:24: 'HNOG'",
        ),
        (OFFICIAL.replace('{"A": 2}', '{"A": 3}'), ESTIMATE, "gold.json:2:50: 3 is not a level"),
        (
            OFFICIAL.replace('["CNUG0", "HNUG"]', '["CNUG0"]'),
            ESTIMATE,
            "gold.json:2:14: the list has 1 block, but the dialogue has 2",
        ),
        (GOLD, ESTIMATE.replace('"1": 0.5', '"1": 0.4'), "mine.json:2:18: the probabilities sum to 0.9"),
        (GOLD, ESTIMATE.replace('"1": 0.5', '"one": 0.5'), "mine.json:2:36: 'one' is not a known name"),
        (GOLD, ESTIMATE.replace('"1": 0.5, ', ""), "mine.json:2:18: the object has no '1'"),
        (GOLD, ESTIMATE.replace('"CNUG": 0,', ""), "mine.json:3:12: the object has no 'CNUG'"),
        (
            GOLD,
            ESTIMATE.replace('"2": 0.5, "1": 0.5', '"2": 1e308, "1": 1e308'),
            "mine.json:2:18: the probabilities sum to",
        ),
        (GOLD, ESTIMATE.replace('"nugget"', '"nuggets"'), "unknown key 'nuggets': did you mean 'nugget'?"),
        (GOLD, "[]", "mine.json:1:1: the list is empty"),
        (GOLD.replace('"quality": {', '"qualities": {'), ESTIMATE, "unknown key 'qualities': did you mean 'quality'?"),
        (OFFICIAL.replace('{"A": 2}', '{"A": true}'), ESTIMATE, "gold.json:2:50: this must be text, not true"),
        (
            OFFICIAL.replace('{"A": 2}', '{"A": "' + 500 * "x" + '"}'),
            ESTIMATE,
            "gold.json:2:50: '" + 40 * "x" + "' is not a known value",
        ),
        (
            GOLD,
            ESTIMATE.replace(', {"HNUG": 1, "HNUG*": 0, "HNaN": 0}', ""),
            "mine.json:3:11: the list has 1 block, but the dialogue",
        ),
        (GOLD, ESTIMATE.replace('"A"', '"S"'), "mine.json:2:12: the object has no 'A'"),
        (GOLD, ESTIMATE.replace('"d"', '"e"'), "predicts 0 of 1 annotated dialogues"),
        (GOLD, "[" + ESTIMATE[1:-1] + "," + ESTIMATE[1:], "mine.json:3:108: dialogue 'd' is predicted twice"),
        (
            GOLD,
            "[" + ESTIMATE[1:-1] + ', {"id": "e"}]',
            "mine.json:3:102: the file has neither annotations nor predictions",
        ),
        (ESTIMATE, ESTIMATE, "two submissions|no annotated dialogue"),
        (GOLD.replace('"A": [', '"nugget": ['), ESTIMATE, "gold.json:4:13: 'nugget' cannot be the name of a question"),
        (GOLD.replace('"A": [', '"A)\\u001b[31m": ['), ESTIMATE, "cannot be the name of a question"),
        (GOLD.replace('"A": [', '"": ['), ESTIMATE, "gold.json:4:13: '' cannot be the name of a question"),
        (
            OFFICIAL.replace('{"A": 2}', '{"a b": 2}'),
            ESTIMATE,
            "gold.json:2:52: 'a b' cannot be the name of a question",
        ),
    ],
)
def test_a_bad_helpdesk_file_is_reported_by_file_line_and_column(
    tmp_path: Path, gold: str, estimate: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        helpdesk(tmp_path, gold__json=gold, mine__json=estimate)
    message = str(caught.value).replace(f"{tmp_path}/", "")
    assert any(part in message for part in said.split("|")), message
