"""Public files are imported without a line of Python, and hold what a count by other means finds in them.

The counts read the files as plain JSON and use nothing of Harvest.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import read
from tests.support.checkout import DATA
from tests.support.command_line import harvest

FOLDER = DATA / "transcripts"
Side = tuple[str, str]


def _sharegpt() -> Iterator[list[Side]]:
    roles = {"human": "user", "gpt": "system"}
    for one in json.loads((FOLDER / "sharegpt_dummy_conversation.json").read_text()):
        yield [(roles[turn["from"]], turn["value"]) for turn in one["conversations"]]


def _dialoguekit() -> Iterator[list[Side]]:
    for one in json.loads((FOLDER / "dialoguekit_annotated_dialogues.json").read_text()):
        yield [
            ("user" if turn["participant"] == "USER" else "system", turn["utterance"]) for turn in one["conversation"]
        ]


def _sdialog() -> Iterator[list[Side]]:
    turns = json.loads((FOLDER / "sdialog_doctor_patient.json").read_text())["turns"]
    yield [("user" if turn["speaker"] == "Marie" else "system", turn["text"]) for turn in turns]


def _inspect() -> Iterator[list[Side]]:
    with zipfile.ZipFile(FOLDER / "inspect_popularity.eval") as log:
        for name in log.namelist():
            if name.startswith("samples/"):
                messages = json.loads(log.read(name))["messages"]
                sides = {"user": "user", "assistant": "system"}
                yield [(sides[one["role"]], one["content"]) for one in messages if one["role"] in sides]


def _atif() -> Iterator[list[Side]]:
    steps = json.loads((FOLDER / "atif_openhands_hello_world.trajectory.json").read_text())["steps"]
    agent = [step["message"] for step in steps if step["source"] == "agent"]
    yield [
        *(("user", step["message"]) for step in steps if step["source"] == "user"),
        ("system", "\n".join(agent)),  # steps in a row are one turn
    ]


def _ikat() -> Iterator[list[Side]]:
    turns = json.loads((FOLDER / "ikat_2023_sample_run.json").read_text())["turns"]
    best = [min(turn["responses"], key=lambda one: one["rank"])["text"] for turn in turns]
    yield [side for text in best for side in (("user", ""), ("system", text))]


def _iard() -> Iterator[list[Side]]:
    for one in json.loads((DATA / "iard" / "three_dialogues.json").read_text()).values():
        yield [
            ("user" if said["role"] == "seeker" else "system", said["utterance_text"])
            for said in one["dialogue_info"].values()
        ]


def _cast() -> Iterator[list[Side]]:
    name = "2022_evaluation_topics_flattened_duplicated_v1.0.json"
    for one in json.loads((DATA / "cast2022" / name).read_text()):
        sides: list[Side] = []
        for turn in one["turn"]:
            sides.append(("user", turn["utterance"]))
            sides += [("system", turn["response"])] if "response" in turn else []
        yield sides


COUNTS: dict[str, tuple[Path, Iterator[list[Side]]]] = {
    "messages": (FOLDER / "sharegpt_dummy_conversation.json", _sharegpt()),
    "dialoguekit": (FOLDER / "dialoguekit_annotated_dialogues.json", _dialoguekit()),
    "sdialog": (FOLDER / "sdialog_doctor_patient.json", _sdialog()),
    "inspect": (FOLDER / "inspect_popularity.eval", _inspect()),
    "atif": (FOLDER / "atif_openhands_hello_world.trajectory.json", _atif()),
    "ikat": (FOLDER / "ikat_2023_sample_run.json", _ikat()),
    "iard": (DATA / "iard" / "three_dialogues.json", _iard()),
    "trec-topics": (DATA / "cast2022" / "2022_evaluation_topics_flattened_duplicated_v1.0.json", _cast()),
}


def _sides(conversation: Conversation) -> list[Side]:
    found: list[Side] = []
    for turn in conversation.turns:
        found.append(("user", turn.said))
        found += [("system", turn.reply.answer.text)] if turn.reply else []
    return found


def _opened(sides: list[Side]) -> list[Side]:
    """The system's first words, before the user said anything, are a turn in which the user's text is empty."""
    return [("user", ""), *sides] if sides[0][0] == "system" else sides


@pytest.mark.parametrize("form", COUNTS)
def test_a_public_file_is_imported_as_counted(tmp_path: Path, form: str) -> None:
    file, counted = COUNTS[form]
    done = harvest("data", "import", str(file), "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    told = [_opened(sides) for sides in counted]
    run = read(tmp_path / "run")
    assert sorted(map(_sides, run.conversations)) == sorted(told)
    assert f"format: {form}, recognised" in done.stderr
    asked = sum(side == "user" for sides in told for side, _ in sides)
    answered = sum(side == "system" for sides in told for side, _ in sides)
    assert f"read: {len(told)} dialogue" in done.stderr
    assert f"{asked} turn" in done.stderr
    assert f"{answered} answer" in done.stderr
    again = harvest("data", "import", str(file), "--out", str(tmp_path / "run"))
    assert f"0 conversations written to {tmp_path / 'run'}, {len(told)} were there already" in again.stderr


def _acts_of(turns: list[dict[str, Any]], side: str) -> list[str]:
    return [
        "+".join(sorted({act["intent"] for act in turn["dialogue_acts"]}))
        for turn in turns
        if turn["participant"] == side
    ]


def test_acts_of_both_sides_are_those_of_the_file(tmp_path: Path) -> None:
    file = FOLDER / "dialoguekit_annotated_dialogues.json"
    assert harvest("data", "import", str(file), "--out", str(tmp_path / "run")).returncode == 0
    dialogues = json.loads(file.read_text())
    run = {one.key.topic: one for one in read(tmp_path / "run").conversations}
    (layer,) = read_layers(tmp_path / "run")
    for dialogue in dialogues:
        one = run[dialogue["conversation_id"]]
        assert [turn.act for turn in one.turns] == _acts_of(dialogue["conversation"], "USER")
        judged = [judged.value for judged in layer.judgments if judged.about["trial"] == one.trial_id]
        assert judged == _acts_of(dialogue["conversation"], "AGENT")
