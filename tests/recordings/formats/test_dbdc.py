"""Dialogues of DBDC: who said what, how annotators' votes label a turn, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recordings.formats.dbdc import BREAKDOWNS, COUNTS, CRITERION, Counts, Dialogues, read_dialogues, spoken_dialogues
from recordings.judged.judgments import Target
from scoring.annotations.breakdown_files import read_breakdown_files
from scoring.measures.breakdown import likeliest_labels
from tests.support.checkout import DATA
from topics.errors import InputError

DBDC = DATA / "dbdc3_en"
FILES = sorted(DBDC.glob("*.json"))


def log(dialogue: str, *turns: tuple[str, str, str]) -> str:
    """The organisers' form, of (speaker, words, one letter for each annotator)."""
    return json.dumps(
        {
            "dialogue-id": dialogue,
            "turns": [
                {
                    "turn-index": place,
                    "speaker": speaker,
                    "utterance": words,
                    "annotations": [{"breakdown": letter} for letter in letters],
                }
                for place, (speaker, words, letters) in enumerate(turns)
            ],
        }
    )


def written(folder: Path, *texts: str) -> Dialogues:
    home = folder / "TALKER"
    home.mkdir(exist_ok=True)
    files = [home / f"{number}.log.json" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return read_dialogues(files)


def test_a_log_of_the_organisers(tmp_path: Path) -> None:
    opened = log(
        "d1", ("S", "Hello.", ""), ("U", "Hi.", ""), ("S", "Fish.", "XXO"), ("U", "What?", ""), ("S", "Yes.", "OXT")
    )
    last = log("d2", ("U", "Hi.", ""), ("S", "Hi!", "TTO"), ("U", "Bye.", ""))
    found = written(tmp_path, opened, last)
    first, second = found.conversations
    assert [(one.key.system, one.key.topic, one.key.trial, one.session) for one in found.conversations] == [
        ("TALKER", "dbdc", 1, "d1"),
        ("TALKER", "dbdc", 2, "d2"),
    ]
    assert [(turn.said, turn.reply and turn.reply.answer.text, turn.label) for turn in first.turns] == [
        ("Hi.", "Fish.", "x"),
        ("What?", "Yes.", "o"),  # a tie goes to O
    ]
    assert [(turn.said, turn.reply and turn.reply.answer.text, turn.label) for turn in second.turns] == [
        ("Hi.", "Hi!", "o"),
        ("Bye.", None, None),
    ]
    assert found.warnings == ("1 opening turn of systems, before the user said anything and not annotated, left out",)
    (layer,) = found.layers
    assert (layer.kind, layer.version, [one.criterion for one in layer.judgments]) == (
        "human",
        "workshop",
        [CRITERION] * 3,
    )
    assert [(Target.from_judgment(one), one.value) for one in layer.judgments] == [
        (Target(first.trial_id, 1, 1), {"O": 1, "T": 0, "X": 2}),
        (Target(first.trial_id, 1, 2), {"O": 1, "T": 1, "X": 1}),
        (Target(second.trial_id, 1, 1), {"O": 1, "T": 2, "X": 0}),
    ]


def test_an_annotated_opening_is_kept(tmp_path: Path) -> None:
    found = written(tmp_path, log("d1", ("S", "Hello.", "XX"), ("U", "Hi.", ""), ("S", "Yes.", "O")))
    assert [(turn.said, turn.label) for turn in found.conversations[0].turns] == [("", "x"), ("Hi.", "o")]
    assert found.warnings == ()


@pytest.mark.parametrize(("again", "counted"), [("null", None), ("[0, 0, 0]", None), ("[1, 0, 2]", (1, 0, 2))])
@pytest.mark.parametrize(("counts", "keys"), [("workshop", ("c", "cr")), ("revised", ("cr", "c"))])
def test_a_turn_annotated_only_once_is_read_with_that_annotation(
    tmp_path: Path, again: str, counted: tuple[int, ...] | None, counts: Counts, keys: tuple[str, str]
) -> None:
    turn = f'{{"i": 1, "s": "S", "u": "Hello.", "{keys[0]}": [3, 0, 1], "{keys[1]}": {again}}}'
    file = tmp_path / "dev.json"
    file.write_text(f'{{"dialogues": [{{"id": "d", "turns": [{turn}]}}]}}', encoding="utf-8")
    (dialogue,) = spoken_dialogues([file], counts=counts)
    assert [(turn.counts, turn.again) for turn in dialogue.turns] == [((3, 0, 1), counted)]
    assert [turn.label for one in read_dialogues([file], counts=counts).conversations for turn in one.turns] == ["o"]


@pytest.mark.parametrize("counts", COUNTS)
def test_labels_are_the_gold_labels_of_the_evaluation(counts: Counts) -> None:
    gold = read_breakdown_files([DBDC], counts=counts).gold
    meant = [int(likeliest_labels([one / sum(turn.counts) for one in turn.counts])) for turn in gold]
    for breakdown in BREAKDOWNS:
        failures = {"B": {2}, "PB+B": {1, 2}}[breakdown]
        found = read_dialogues(FILES, counts=counts, breakdown=breakdown)
        labels = [turn.label for one in found.conversations for turn in one.turns]
        assert labels == ["x" if label in failures else "o" for label in meant]
        (layer,) = found.layers
        assert [tuple(judged.value.values()) for judged in layer.judgments if isinstance(judged.value, dict)] == [
            turn.counts for turn in gold
        ]


def test_systems_and_dialogues_are_those_of_the_files() -> None:
    found = read_dialogues(FILES)
    gold = dict.fromkeys((turn.system, turn.dialogue) for turn in read_breakdown_files([DBDC]).gold)
    assert [(one.key.system, one.session) for one in found.conversations] == list(gold)
    assert {len(one.turns) for one in found.conversations} == {10}
    assert {one.key.system for one in read_dialogues(FILES, system="all").conversations} == {"all"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not a DBDC file"),
        ('{"dialogue-id": "d", "turns": []}', "the dialogue has no turns"),
        (log("d", ("U", "Hi", ""), ("S", "A", "O"), ("S", "B", "O")), "the system has two turns in a row"),
        (log("d", ("U", "Hi", ""), ("S", "A", "Q")), "'Q' is not a known value"),
        (
            '{"dialogues": [{"id": "d", "turns": [{"i": 1, "s": "S", "c": [0, 0, 0]}]}]}',
            "not the numbers of annotators",
        ),
        ('{"dialogues": [{"id": "d", "turns": [{"i": 1, "s": "S", "u": 3}]}]}', "the utterance is not text"),
    ],
)
def test_an_unreadable_file_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"0\.log\.json:1:\d+: ") as refused:
        written(tmp_path, text)
    assert said in str(refused.value)


def test_a_dialogue_is_not_read_twice(tmp_path: Path) -> None:
    one = log("d", ("U", "Hi", ""), ("S", "A", "O"))
    with pytest.raises(InputError, match="dialogue 'd' of TALKER is repeated"):
        written(tmp_path, one, one)
