"""Helpdesk dialogues of STC-3 and DialEval: who said what, and what each annotator gave to which turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from recordings.formats.dialeval import NUGGET_CRITERIA, NUGGET_TYPES, QUALITIES, Helpdesk, read_helpdesk
from recordings.judged.judgments import Target
from scoring.measures.nugget_detection import CUSTOMER_TYPES, HELPDESK_TYPES
from scoring.swan.schema import load_schema
from topics.errors import InputError

C, H = "customer", "helpdesk"
DEAD = [(C, "My phone is dead."), (H, "Hold the button for 10 s."), (C, "It works.")]
TWO = [
    {"nugget": ["CNUG0", "HNUG*", "CNUG*"], "quality": {"A": 2, "E": "-1", "S": 0}},
    {"nugget": ["CNUG0", "HNUG", "CNaN"], "quality": {"A": 1}},
]


def dialogue(
    turns: Sequence[tuple[str, str]] = DEAD, annotations: Sequence[Mapping[str, object]] = TWO, name: object = "417"
) -> dict[str, object]:
    said = [{"sender": sender, "utterances": text.split("|")} for sender, text in turns]
    return {"id": name, "turns": said, "annotations": list(annotations)}


def taken(folder: Path, *dialogues: object) -> Helpdesk:
    file = folder / "desk.json"
    file.write_text(json.dumps(list(dialogues)), encoding="utf-8")
    return read_helpdesk([file])


def test_a_block_is_a_turn_and_each_dialogue_is_a_topic_of_its_own(tmp_path: Path) -> None:
    opened = dialogue([(H, "Welcome.|How can we help?"), (C, "Hi.")], [], 12)
    first, second = taken(tmp_path, dialogue(), opened).conversations
    assert [(one.key.system, one.key.topic, one.key.trial) for one in (first, second)] == [
        ("desk", "417", 1),
        ("desk", "12", 1),
    ]
    told = [[(turn.said, turn.reply and turn.reply.answer.text) for turn in one.turns] for one in (first, second)]
    assert told == [
        [("My phone is dead.", "Hold the button for 10 s."), ("It works.", None)],
        [("", "Welcome.\nHow can we help?"), ("Hi.", None)],
    ]


def test_each_annotator_gives_a_type_to_every_block_and_a_score_to_the_dialogue(tmp_path: Path) -> None:
    found = taken(tmp_path, dialogue())
    trial = found.conversations[0].trial_id
    first, second = found.layers
    assert [(one.kind, one.author) for one in found.layers] == [("human", "annotator 01"), ("human", "annotator 02")]
    assert [(Target.from_judgment(one), one.criterion, one.value) for one in first.judgments[:3]] == [
        (Target(trial, 1, 1, "user"), "Customer nugget", "CNUG0"),
        (Target(trial, 1, 1), "Helpdesk nugget", "HNUG*"),
        (Target(trial, 1, 2, "user"), "Customer nugget", "CNUG*"),
    ]
    assert [(one.criterion, one.value) for one in first.judgments[3:]] == [
        ("Accomplishment", 1.0),
        ("Effectiveness", 0.25),
        ("Satisfaction", 0.5),
    ]
    assert [one.value for one in second.judgments] == ["CNUG0", "HNUG", "CNaN", 0.75]


def test_its_criteria_and_types_are_those_of_the_schemas_and_of_the_evaluation() -> None:
    nuggets, quality = load_schema("dialeval-nuggets"), load_schema("dialeval-quality")
    assert [one.name for one in nuggets] == list(NUGGET_CRITERIA.values())
    assert {one.name for one in quality} == set(QUALITIES.values())
    assert NUGGET_TYPES == {C: CUSTOMER_TYPES, H: HELPDESK_TYPES}
    for side, name in NUGGET_CRITERIA.items():
        assert set(nuggets[name].value_names) == set(NUGGET_TYPES[side])


def test_a_question_that_dialeval_does_not_have_is_left_out_and_reported(tmp_path: Path) -> None:
    found = taken(tmp_path, dialogue(annotations=[{"quality": {"A": 0, "Z": 1}}]))
    assert [one.criterion for layer in found.layers for one in layer.judgments] == ["Accomplishment"]
    assert found.warnings == ("1 judgment by the question 'Z', which DialEval does not have, left out",)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (dialogue([*DEAD, (C, "Thanks.")], []), "the customer has two turns in a row"),
        (dialogue([("agent", "Hi.")], []), "'agent' is not a known value"),
        (dialogue([], []), "the dialogue has no turns"),
        (dialogue(annotations=[{"nugget": ["CNUG0", "HNUG"]}]), "2 types, but the dialogue has 3 turns"),
        (dialogue(annotations=[{"nugget": ["CNUG0", "CNUG", "CNaN"]}]), "'CNUG' is not a known value"),
        (dialogue(annotations=[{"nugget": ["CNUG0"]}]), "the list has 1 type, but the dialogue has 3 turns"),
        (dialogue(annotations=[{"nuggets": ["CNUG0", "HNUG", "CNaN"]}]), "'nuggets': did you mean 'nugget'"),
        ({"id": "1", "turns": dialogue()["turns"], "anotations": []}, "'anotations': did you mean 'annotations'"),
        (dialogue(annotations=[{"quality": {"A": "x" * 900}}]), f"'{'x' * 39} is not a level"),
        (dialogue(annotations=[{"quality": {"A": 3}}]), "3 is not a level"),
        (dialogue(annotations=[{"quality": {"A": True}}]), "True is not a level"),
        (dialogue(name="a/b"), "cannot be the id of a topic"),
        ({"id": "1", "nugget": []}, "not a DialEval dialogue"),
    ],
)
def test_a_fault_of_a_file_is_reported_with_its_place(tmp_path: Path, wrong: object, what: str) -> None:
    with pytest.raises(InputError, match=what) as raised:
        taken(tmp_path, wrong)
    assert str(raised.value).startswith(f"{tmp_path / 'desk.json'}:1:")


def test_a_repeated_dialogue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is repeated"):
        taken(tmp_path, dialogue(), dialogue())
