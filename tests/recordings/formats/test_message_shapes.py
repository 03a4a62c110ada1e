"""Conversations as other programs write them: whatever the shape of the file, the same turns are read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocols.answer import ToolCall
from recordings.formats.message_shapes import conversations_in, records_of
from recordings.formats.messages import Messages, read_messages
from topics.errors import InputError
from topics.json_file import json_values

OPENAI = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "A model."}]
SHAREGPT = [{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "A model."}]
SHAPES: dict[str, Any] = {
    "messages": {"messages": OPENAI},
    "conversation": {"conversation": OPENAI, "conversation_id": "c"},
    "conversations": {"id": "one", "conversations": SHAREGPT},
    "other names of roles": {"messages": [{"role": "Human", "content": "Who?"}, {"role": "AI", "content": "A model."}]},
    "messages alone": OPENAI,
    "typed parts": {
        "messages": [OPENAI[0], {"role": "assistant", "content": [{"type": "output_text", "text": "A model."}]}]
    },
}
WRITTEN: dict[str, Callable[[Any], str]] = {
    "lines": lambda rows: "\n".join(map(json.dumps, rows)) + "\n",
    "a list on one line": json.dumps,
    "a list over several lines": lambda rows: json.dumps(rows, indent=1),
    "a list in an object": lambda rows: json.dumps({"version": 2, "simulations": rows}, indent=1),
}


def said(found: Messages) -> list[list[tuple[str, str | None]]]:
    return [
        [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns]
        for one in found.conversations
    ]


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_read_however_it_is_written(tmp_path: Path, shape: str, how: str) -> None:
    rows = [SHAPES[shape], SHAPES["messages"]]
    (tmp_path / "x.json").write_text(WRITTEN[how](rows))
    found = read_messages(tmp_path / "x.json", topic="t")
    assert said(found) == [[("Who?", "A model.")]] * 2
    assert [one.key.trial for one in found.conversations] == [1, 2]


@pytest.mark.parametrize("shape", SHAPES)
def test_one_conversation_over_several_lines_is_read(tmp_path: Path, shape: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(SHAPES[shape], indent=2))
    assert said(read_messages(tmp_path / "x.json", topic="t")) == [[("Who?", "A model.")]]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda one: (
            st.lists(one)
            | st.dictionaries(
                st.sampled_from(["messages", "conversations", "mapping", "role", "from", "parent", "message", "x"]), one
            )
        ),
    )
)
@example({"mapping": {}, "messages": False})
@example({"mapping": {}, "messages": [{"role": "user", "content": "Who?"}]})
def test_no_json_breaks_the_reader(value: object) -> None:
    for at in json_values(json.dumps(value), "x.json", print):
        for one in conversations_in(at, []):
            with contextlib.suppress(InputError):
                assert all(isinstance(record.value["messages"], list) for record in records_of(one)[0])


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ('[\n {"messages": []},\n {"turns": []}\n]\n', "x.json:3:2", "the record has no 'messages'"),
        ('[\n {"messages": []},\n 3\n]\n', "x.json:3:2", "the record has no 'messages'"),
        ('{"messages": []}\n{"turns": []}\n', "x.json:2", "the record has no 'messages'"),
        (
            '[{"messages": [{"role": "narrator", "content": ""}]}]',
            "x.json:1:2",
            "message 1 has the unknown role 'narrator'",
        ),
    ],
)
def test_an_unreadable_record_is_named_with_its_place_and_left_out_unless_all_are_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_text(text)
    Path("good.json").write_text(json.dumps(SHAPES["messages"]))
    with pytest.raises(InputError) as refused:
        read_messages("x.json", "good.json", topic="t")
    assert str(refused.value).startswith(f"{place}: {what}")
    found = read_messages("x.json", "good.json", topic="t", strict=False)
    assert [str(fault).startswith(f"{place}: {what}") for fault in found.left_out] == [True]
    assert said(found)[-1] == [("Who?", "A model.")]


def test_a_line_that_is_not_json_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    good = json.dumps(SHAPES["messages"])
    for bad in ("{", '{"messages": [], "messages": []}', '{"messages": NaN}', "plain words"):
        for lines in ([bad, good], [good, bad], [good, bad, good], [bad, good, bad, good]):
            (tmp_path / "x.jsonl").write_text("\n".join(lines))
            found = read_messages(tmp_path / "x.jsonl", topic="t", strict=False)
            assert (len(found.conversations), len(found.left_out)) == (lines.count(good), lines.count(bad))


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('[\n  {"messages": [\n', "is truncated"),
        ('{\n "messages": []\n}\n{\n "messages": []\n}\n', "jq -c . FILE"),
        ("not JSON\nat all\n", "does not begin like JSON"),
    ],
)
def test_a_file_without_any_json_is_refused_with_advice(tmp_path: Path, text: str, advice: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError) as refused:
        read_messages(tmp_path / "x.json", topic="t", strict=False)
    assert advice in str(refused.value)


def node(parent: str | None, role: str = "", text: object = "", **message: object) -> dict[str, object]:
    if not role:
        return {"message": None, "parent": parent}
    content = {"content_type": "text", "parts": [text]}
    return {"message": {"author": {"role": role}, "content": content, **message}, "parent": parent}


def chat(**nodes: dict[str, object]) -> dict[str, object]:
    return {"title": "A", "create_time": 1700000000.5, "conversation_id": "c-1", "mapping": nodes}


BRANCHED = chat(
    r=node(None),
    u=node("r", "user", "When?"),
    a=node("u", "assistant", "At nine."),
    b=node("u", "assistant", "I do not know."),
    v=node("b", "user", "And today?"),
    w=node("v", "assistant", "At ten."),
)


def test_each_path_of_chatgpts_tree_is_a_trial_of_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text(json.dumps([BRANCHED]))
    found = read_messages(tmp_path / "conversations.json")
    assert said(found) == [[("When?", "At nine.")], [("When?", "I do not know."), ("And today?", "At ten.")]]
    assert [(one.key.topic, one.key.trial) for one in found.conversations] == [("c-1", 1), ("c-1", 2)]
    assert {one.started_at for one in found.conversations} == {"2023-11-14T22:13:20.500000+00:00"}
    assert any("title" in warning for warning in found.warnings)
    named = read_messages(tmp_path / "conversations.json", topic="hours", system="gpt")
    assert {(one.key.system, one.key.topic) for one in named.conversations} == {("gpt", "hours")}


def test_rows_of_data_sets_belong_to_the_model_that_they_name(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "When?", "language": "English", "timestamp": None, "turn_identifier": 1},
        {"role": "assistant", "content": "At nine.", "timestamp": "2023-04-09T00:02:53", "turn_identifier": 2},
    ]
    wild = {"conversation_hash": "cf1", "model": "gpt-x", "timestamp": "2023-04-09T00:02:53", "conversation": talk}
    lmsys = {"conversation_id": "c2", "model": "vicuna", "conversation": talk, "turn": 1, "language": "English"}
    plain = {"id": "c3", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]}
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (wild, lmsys, plain)))
    found = read_messages(tmp_path / "rows.jsonl")
    keys = [(one.key.system, one.key.topic) for one in found.conversations]
    assert keys == [("gpt-x", "cf1"), ("vicuna", "c2"), ("rows", "c3")]
    named = read_messages(tmp_path / "rows.jsonl", system="S", topic="T").conversations
    assert [(one.key.system, one.key.topic, one.key.trial) for one in named] == [("S", "T", i) for i in (1, 2, 3)]
    (unread,) = [warning for warning in found.warnings if "keys are unknown" in warning]
    assert "language" in unread
    assert "model" not in unread


def test_unseen_messages_are_not_turns_of_chatgpts_tree(tmp_path: Path) -> None:
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    code = {"content": {"content_type": "code", "text": "search()"}, "recipient": "browser"}
    thoughts = {"content": {"content_type": "thoughts", "thoughts": [{"summary": "Looking", "content": "A bridge?"}]}}
    picture = {
        "content": {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "This?"]}
    }
    tree = chat(
        s=node(None, "system", "Be kind."),
        h=node("s", "user", "About me", **hidden),
        u=node("h", "user", **picture),
        c=node("u", "assistant", **code),
        t=node("c", "tool", "found it"),
        n=node("t", "assistant", **thoughts),
        a=node("n", "assistant", "A red bridge.", metadata={"model_slug": "gpt-x"}),
    )
    (tmp_path / "x.json").write_text(json.dumps(tree))
    found = read_messages(tmp_path / "x.json")
    assert said(found) == [[("This?", "A red bridge.")]]
    (passed,) = [warning for warning in found.warnings if warning.startswith("left out, because")]
    for kind in ("parts image_asset_pointer: 1", "hidden messages: 1", "tool messages: 1"):
        assert kind in passed
    reply = found.conversations[0].turns[0].reply
    assert reply is not None
    assert (reply.answer.calls, reply.answer.thoughts) == ((ToolCall("browser", "search()"),), "A bridge?")
    assert reply.model == "gpt-x"


LINE = [node(None), *(node(str(i), "user" if i % 2 == 0 else "assistant", f"t{i}") for i in range(4))]
"""A conversation of two turns, t0 to t3, in the nodes 0 to 4; each names its parent and its child."""


def line_of_nodes() -> dict[str, dict[str, Any]]:
    return {str(i): {**one, "children": [str(i + 1)] if i < 4 else []} for i, one in enumerate(LINE)}


WHOLE = [("t0", "t1"), ("t2", "t3")]
DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "a node is gone": lambda nodes: nodes.pop("3"),
    "the first words are gone": lambda nodes: nodes.pop("1"),
    "the root is gone": lambda nodes: nodes.pop("0"),
    "the last answer is gone": lambda nodes: nodes.pop("4"),
    "a node has lost its message": lambda nodes: nodes["3"].update(message=None),
    "a message has lost its content and its author": lambda nodes: nodes["3"].update(message={}),
    "a message has lost its author": lambda nodes: nodes["3"].update(
        message={"content": {"content_type": "text", "parts": ["t2"]}}
    ),
    "a node has lost its parent": lambda nodes: (nodes.pop("3"), nodes["4"].update(parent=None)),
    "a circle": lambda nodes: nodes["1"].update(parent="4"),
    "a circle with a branch": lambda nodes: nodes["1"].update(parent="2"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_the_rest_of_a_damaged_tree_of_chatgpts_is_not_a_conversation(tmp_path: Path, how: str) -> None:
    damaged = line_of_nodes()
    DAMAGE[how](damaged)
    trees = [{**chat(**damaged), "conversation_id": "bad"}, chat(**line_of_nodes())]
    (tmp_path / "x.json").write_text(json.dumps(trees, indent=1))
    found = read_messages(tmp_path / "x.json", strict=False)
    assert said(found) == [WHOLE]
    (fault,) = found.left_out
    assert str(fault).startswith(f"{tmp_path / 'x.json'}:2:2: messages of a conversation are missing")
    assert "0 of its " in str(fault)
    with pytest.raises(InputError, match="messages of a conversation are missing"):
        read_messages(tmp_path / "x.json")


def test_a_missing_tip_of_a_tree_leaves_all_its_paths_in_doubt(tmp_path: Path) -> None:
    nodes = {**line_of_nodes(), "4": {**LINE[4], "children": []}}
    (tmp_path / "x.json").write_text(json.dumps([{**chat(**nodes), "current_node": "9"}, chat(**line_of_nodes())]))
    assert said(read_messages(tmp_path / "x.json", strict=False)) == [WHOLE]


def test_complete_paths_of_a_damaged_tree_are_read_and_the_others_counted(tmp_path: Path) -> None:
    nodes = line_of_nodes()
    nodes["2"]["children"] = ["3", "b", "x"]
    nodes |= {"b": node("2", "user", "other"), "c": node("b", "assistant", "yes"), "d": node("gone", "user", "lost")}
    (tmp_path / "x.json").write_text(json.dumps([chat(**nodes)]))
    found = read_messages(tmp_path / "x.json", strict=False)
    assert said(found) == [WHOLE, [("t0", "t1"), ("other", "yes")]]
    (fault,) = found.left_out
    assert "are missing (gone, x): 2 of its 3 paths are whole" in str(fault)
    nodes["2"]["children"].remove("x")
    del nodes["d"]
    for root in (None, ""):
        nodes["0"]["parent"] = root
        (tmp_path / "x.json").write_text(json.dumps([chat(**nodes)]))
        assert len(read_messages(tmp_path / "x.json").conversations) == 2


def test_a_hidden_message_is_counted_and_the_message_that_an_answer_follows_is_read(tmp_path: Path) -> None:
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    tree = chat(
        h=node(None, "user", "About me", **hidden),
        u=node("h", "user", "t0"),
        a=node("u", "assistant", "t1"),
        g=node("a", "assistant", "not shown", **hidden),
        v=node("g", "user", "t2", **hidden),
        b=node("v", "assistant", "t3"),
    )
    (tmp_path / "x.json").write_text(json.dumps(tree))
    found = read_messages(tmp_path / "x.json")
    assert said(found) == [WHOLE]
    assert any("hidden messages: 2" in warning for warning in found.warnings)
    assert any(warning.startswith("1 message that ChatGPT hid") for warning in found.warnings)


def test_a_conversation_of_more_turns_than_any_protocol_has_is_left_out(tmp_path: Path) -> None:
    long = json.dumps({"messages": OPENAI * 10_001})
    (tmp_path / "x.jsonl").write_text(f"{long}\n{json.dumps(SHAPES['messages'])}\n")
    found = read_messages(tmp_path / "x.jsonl", topic="t", strict=False)
    assert len(found.conversations) == 1
    assert "x.jsonl:1: the conversation has too many user turns: 10001" in str(found.left_out[0])


def test_the_places_of_many_faulty_elements_take_no_time(tmp_path: Path) -> None:
    """Each look for a line goes through the file, so only those that are printed have one."""
    (tmp_path / "x.json").write_text(json.dumps([{"turns": []}] * 5000 + [SHAPES["messages"]], indent=1))
    found = read_messages(tmp_path / "x.json", topic="t", strict=False)
    placed = [fault.place.line for fault in found.left_out if fault.place and fault.place.line]
    assert len(found.left_out) == 5000
    assert placed == [2 + 3 * i for i in range(len(placed))]
    assert len(placed) == 20


LISTS: dict[str, tuple[Any, int, str]] = {
    "two lists": ({"train": ["a", "b"], "test": ["c"]}, 3, ""),
    "a list and other things": ({"train": ["a"], "version": 2, "labels": [1], "none": []}, 1, "version, labels"),
    "lists in objects": ({"data": {"dev": ["a"], "by": "m"}, "test": ["b"]}, 2, "data.by"),
    "conversations by name": ({"one": "a", "more": {"two": "b", "three": "c"}}, 3, ""),
    "a list in which one is no conversation": ({"train": [None, "a"], "test": ["b"]}, 2, ""),
}


@pytest.mark.parametrize("how", LISTS)
def test_all_conversations_of_an_object_are_read_and_its_other_contents_are_named(tmp_path: Path, how: str) -> None:
    def made(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: made(one) for key, one in value.items()}
        if isinstance(value, list):
            return [made(one) for one in value]
        return {"messages": OPENAI} if value in ("a", "b", "c") else value

    value, count, unread = LISTS[how]
    (tmp_path / "x.json").write_text(json.dumps(made(value)))
    found = read_messages(tmp_path / "x.json", topic="t", strict=False)
    assert len(found.conversations) == count
    assert [warning.rpartition(": ")[2] for warning in found.warnings if "keys are unknown" in warning] == (
        [unread] if unread else []
    )
    assert len(found.left_out) == ("no conversation" in how)


ROW = json.dumps({"messages": [{"role": "user", "content": "MU"}, {"role": "assistant", "content": "a"}]})


@pytest.mark.parametrize("bad", [b"\xfc", b"\xed\xa0\xbd", b"\x00", b"\xe2\x82"], ids=repr)
@pytest.mark.parametrize("how", ["lines", "list", "indented"])
def test_a_bad_byte_leaves_out_the_conversation_around_it(tmp_path: Path, how: str, bad: bytes) -> None:
    rows = [json.loads(ROW), json.loads(ROW.replace("MU", "M@")), json.loads(ROW)]
    text = "\n".join(map(json.dumps, rows)) if how == "lines" else json.dumps(rows, indent=1 if "in" in how else None)
    (tmp_path / "x.jsonl").write_bytes(text.encode().replace(b"@", bad))
    found = read_messages(tmp_path / "x.jsonl", topic="t", strict=False)
    assert len(found.conversations) == 2
    (fault,) = found.left_out
    assert fault.place
    assert fault.place.line == {"lines": 2, "list": 1, "indented": 14}[how]
    assert "byte" in fault.what


def test_zeros_at_the_end_are_named_and_the_lines_before_them_read(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(f"{ROW}\n{ROW}\n".encode() + b"\0" * 40)
    found = read_messages(tmp_path / "x.jsonl", topic="t", strict=False)
    assert len(found.conversations) == 2
    (fault,) = found.left_out
    assert str(fault).startswith(f"{tmp_path}/x.jsonl:3:1: the file contains a NUL byte")


def test_text_entirely_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(f"{ROW}\n{ROW}\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"x\.jsonl:1:\d+: the file contains a NUL byte"):
        read_messages(tmp_path / "x.jsonl", topic="t", strict=False)
