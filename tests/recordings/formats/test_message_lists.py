"""Records with several lists of messages: each conversation counts once and whole, or is left out and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recordings.conversations.conversation import Conversation
from recordings.formats.messages import Messages, read_messages
from topics.errors import InputError


def talk(*said: str) -> list[dict[str, str]]:
    """Messages in which the sides take turns; the user begins."""
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]


def sharegpt(*said: str) -> list[dict[str, str]]:
    return [{"from": ("human", "gpt")[i % 2], "value": text} for i, text in enumerate(said)]


def langchain(*said: str) -> list[dict[str, str]]:
    return [{"type": ("human", "ai")[i % 2], "content": text} for i, text in enumerate(said)]


def read(folder: Path, rows: list[Any], how: str = "lines") -> Messages:
    text = "\n".join(map(json.dumps, rows)) if how == "lines" else json.dumps(rows, indent=1)
    (folder / "x.json").write_text(text)
    return read_messages(folder / "x.json", topic="t", system="S", strict=False)


def said(one: Conversation) -> list[tuple[str, str | None]]:
    return [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns]


ANSWER = {"role": "assistant", "content": "a2"}
WHOLE: dict[str, Any] = {  # the conversation is q, a, q2, a2
    "LangSmith": {"inputs": {"messages": talk("q", "a", "q2")}, "outputs": {"messages": talk("q", "a", "q2", "a2")}},
    "LangChain's types": {
        "inputs": {"messages": langchain("q")},
        "outputs": {"messages": langchain("q", "a", "q2", "a2")},
    },
    "two notations": {"request": {"messages": talk("q", "a", "q2")}, "response": sharegpt("q", "a", "q2", "a2")},
    "lists alone": {"input": talk("q", "a", "q2"), "output": talk("q", "a", "q2", "a2")},
    "the last answer again": {"messages": talk("q", "a", "q2", "a2"), "output": {"choices": [{"message": ANSWER}]}},
    "its text again": {"messages": talk("q", "a", "q2", "a2"), "response": "a2"},
    "the prompt again": {"messages": talk("q", "a", "q2"), "full": {"messages": talk("q", "a", "q2", "a2")}},
    "its steps": {"steps": [{"messages": talk("q", "a")}, {"messages": talk("q", "a", "q2", "a2")}]},
    "in an envelope": {"trace": {"conversation": sharegpt("q", "a", "q2", "a2"), "model": "m"}},
    "empty beside full": {"messages": [], "conversations": sharegpt("q", "a", "q2", "a2")},
    "nothing beside full": {"messages": None, "conversation": talk("q", "a", "q2", "a2")},
    "an object beside full": {"messages": {}, "conversation": talk("q", "a", "q2", "a2")},
    "full beside empty": {"messages": talk("q", "a", "q2", "a2"), "conversations": []},
    "prompts beside full": {
        "messages": [{"role": "system", "content": "Be kind."}],
        "conversations": sharegpt("q", "a", "q2", "a2"),
    },
}


@pytest.mark.parametrize("how", ["lines", "list"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("shape", WHOLE)
def test_the_outermost_list_decides_which_records_are_one_conversation(
    tmp_path: Path, shape: str, count: int, how: str
) -> None:
    found = read(tmp_path, [{"id": f"r{i}", **WHOLE[shape]} for i in range(count)], how)
    assert [said(one) for one in found.conversations] == [[("q", "a"), ("q2", "a2")]] * count
    assert not found.left_out
    assert not [warning for warning in found.warnings if warning.endswith((": id", ", id")) or ": id," in warning]
    again = read(tmp_path, [{"id": "r0", **WHOLE[shape]}] * 2, how)  # known by the id of the record
    assert len(again.conversations) == 1


TORN: dict[str, Any] = {
    "Langfuse": {"input": {"messages": talk("q")}, "output": {"messages": [ANSWER]}},
    "an answer alone": {"input": {"messages": talk("q")}, "output": ANSWER},
    "an answer as text": {"messages": talk("q"), "response": "a"},
    "chat completions": {"messages": talk("q"), "choices": [{"index": 0, "message": ANSWER}]},
    "preferences": {"chosen": {"messages": talk("q", "a")}, "rejected": {"messages": talk("q", "b")}},
    "a prompt and preferences": {"prompt": talk("q"), "chosen": [ANSWER], "rejected": talk("q", "b")[1:]},
    "messages and preferences": {"messages": talk("q"), "chosen": talk("q", "a"), "rejected": talk("q", "b")},
    "fine-tuning by preferences": {
        "input": {"messages": talk("q"), "tools": []},
        "preferred_output": [ANSWER],
        "non_preferred_output": talk("q", "b")[1:],
    },
    "a pair of lists": {"conversation_a": talk("q", "a"), "conversation_b": talk("q", "b"), "winner": "a"},
    "a list of another name": {"messages": [], "turns": talk("q", "a")},
    "names of its own": {"mine": {"messages": talk("q", "a")}, "theirs": {"messages": talk("q", "b")}},
    "a prompt and several answers": {"prompt": talk("q"), "samples": [[ANSWER], talk("q", "b")[1:]]},
    "an input alone": {"request": {"messages": talk("q", "a", "q2")}},
    "columns": {"chosen": [talk("q", "a")], "rejected": [talk("q", "b")]},
}


@pytest.mark.parametrize("how", ["lines", "list"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("shape", TORN)
def test_parts_and_versions_of_a_conversation_are_left_out_and_named(
    tmp_path: Path, shape: str, count: int, how: str
) -> None:
    good = {"messages": talk("Hi", "Ho")}
    found = read(tmp_path, [good, *[{"id": f"r{i}", **TORN[shape]} for i in range(count)]], how)
    assert [said(one) for one in found.conversations] == [[("Hi", "Ho")]]
    assert len(found.left_out) == count
    for fault in found.left_out:
        assert fault.place
        assert fault.place.line > 1
        assert fault.allowed


@pytest.mark.parametrize("shape", TORN)
def test_a_file_of_one_record_in_parts_contains_no_conversation(tmp_path: Path, shape: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, [{"id": "r", **TORN[shape]}])


def test_two_lists_with_contents_are_reported(tmp_path: Path) -> None:
    found = read(tmp_path, [{"messages": talk("q", "a"), "conversations": sharegpt("other", "b")}])
    assert [said(one) for one in found.conversations] == [[("q", "a")]]
    assert [warning.endswith(": conversations") for warning in found.warnings] == [True]


def test_an_answer_repeated_outside_the_messages_is_not_another_one(tmp_path: Path) -> None:
    row = {"messages": talk("q", "a", "bye"), "output": {"choices": [{"message": talk("q", "a")[1]}], "text": "a"}}
    (one,) = read(tmp_path, [row]).conversations
    assert said(one) == [("q", "a"), ("bye", None)]


CONTAINERS: dict[str, tuple[Any, int]] = {
    "an empty list of messages": ({"conversations": [{"messages": talk("q", c)} for c in "ab"], "messages": []}, 2),
    "one deeper": ({"data": {"messages": [], "conversations": [talk("q", c) for c in "ab"]}}, 2),
    "a column of conversations": ({"messages": [talk("q", "a"), talk("q", "b"), talk("r", "c")]}, 3),
    "by name, of one question": ({"c1": {"messages": talk("q", "a")}, "c2": {"messages": talk("q", "b")}}, 2),
    "by name, in an object": (
        {"version": 3, "chats": {"c1": {"messages": talk("q", "a")}, "c2": {"conversation": talk("r", "b")}}},
        2,
    ),
    "a list beside its prompt of the system": (
        {"system": {"role": "system", "content": "Be kind."}, "samples": [talk("q", "a"), talk("q", "b")]},
        2,
    ),
}


@pytest.mark.parametrize("shape", CONTAINERS)
def test_conversations_of_an_object_are_separate(tmp_path: Path, shape: str) -> None:
    value, count = CONTAINERS[shape]
    (tmp_path / "x.json").write_text(json.dumps(value))
    found = read_messages(tmp_path / "x.json", topic="t", strict=False)
    assert (len(found.conversations), len(found.left_out)) == (count, 0)


def test_an_envelopes_facts_about_its_conversation_are_read_and_unread_ones_are_named(tmp_path: Path) -> None:
    row = {
        "metadata": {"trial": 4, "system": "B"},
        "trace": {"messages": talk("q", "a"), "metadata": {"labels": ["o"]}, "usage": 3},
        "cost": 1,
    }
    found = read(tmp_path, [row])
    (one,) = found.conversations
    assert (one.key.system, one.key.trial, one.turns[0].label) == ("B", 4, "o")
    assert [warning.rpartition(": ")[2] for warning in found.warnings] == ["cost, usage"]
