"""JSON patches: each operation of RFC 6902, and what cannot be applied."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.drivers.described_reply import DescribedReply
from harvest.drivers.http_options import Options, reply_description
from harvest.drivers.json_patch import PatchError, apply_patch, is_patch
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch


def _op(kind: str, path: str, *value: object, **others: object) -> dict[str, object]:
    return {"op": kind, "path": path, **({"value": value[0]} if value else {}), **others}


MILL = {"mill": {"at": ["river", "weir"]}, "a/b": 1, "m~n": None}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([_op("add", "/wheel", 8)], {**MILL, "wheel": 8}),
        ([_op("add", "/mill/at/1", "bridge")], {**MILL, "mill": {"at": ["river", "bridge", "weir"]}}),
        ([_op("add", "/mill/at/-", "bridge")], {**MILL, "mill": {"at": ["river", "weir", "bridge"]}}),
        ([_op("add", "/mill/at/2", "bridge")], {**MILL, "mill": {"at": ["river", "weir", "bridge"]}}),
        ([_op("add", "/mill", [1])], {**MILL, "mill": [1]}),
        ([_op("replace", "/mill/at/0", "sea")], {**MILL, "mill": {"at": ["sea", "weir"]}}),
        ([_op("replace", "/a~1b", 2), _op("remove", "/m~0n")], {"mill": MILL["mill"], "a/b": 2}),
        ([_op("remove", "/mill/at/0")], {**MILL, "mill": {"at": ["weir"]}}),
        ([_op("move", "/mill/at/1", **{"from": "/mill/at/0"})], {**MILL, "mill": {"at": ["weir", "river"]}}),
        ([_op("copy", "/was", **{"from": "/mill/at"}), _op("remove", "/was/0")], {**MILL, "was": ["weir"]}),
        ([_op("test", "/mill/at/1", "weir"), _op("test", "/m~0n", None), _op("test", "", MILL)], MILL),
        ([_op("replace", "", "all")], "all"),
        ([_op("remove", "")], None),
        ([], MILL),
    ],
)
def test_operations_change_the_document(operations: list[Any], expected: object) -> None:
    assert apply_patch(copy.deepcopy(MILL), operations) == expected


@pytest.mark.parametrize(
    "operation",
    [
        _op("replace", "/none", 1),
        _op("remove", "/mill/at/2"),
        _op("add", "/mill/at/3", 1),
        _op("add", "/mill/at/01", 1),
        _op("add", "/mill/at/x", 1),
        _op("replace", "/mill/at/-", 1),
        _op("add", "/none/deeper", 1),
        _op("add", "/a~1b/deeper", 1),
        _op("add", "mill", 1),
        _op("add", "/x"),
        _op("move", "/x", **{"from": "/none"}),
        _op("move", "/x"),
        _op("test", "/a~1b", True),
        _op("grow", "/x", 1),
        "add",
        {"op": "add", "path": 3, "value": 1},
    ],
)
def test_an_impossible_operation_is_refused_with_its_description(operation: Any) -> None:
    with pytest.raises(PatchError) as caught:
        apply_patch(copy.deepcopy(MILL), [operation])
    assert json.dumps(operation)[:9] in str(caught.value)


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=3), st.text(max_size=4), st.integers())
def test_an_added_value_can_be_removed(document: dict[str, int], key: str, value: int) -> None:
    before = {one: number for one, number in document.items() if one != key}
    pointer = "/" + key.replace("~", "~0").replace("/", "~1")
    patch: list[Any] = [_op("add", pointer, value), _op("test", pointer, value), _op("remove", pointer)]
    assert apply_patch(copy.deepcopy(document), patch) == before
    assert is_patch(patch)


def _turn(events: list[dict[str, Any]], **stream: Any) -> Any:
    options = Options.model_validate(
        {
            "url": "http://127.0.0.1/",
            "body": {"q": "{{ text }}"},
            "reply": {"say": "$.text", "document": "$.answer"},
            "links": "$.sources[*]",
            "stream": {"end": "bye", "patch": {"snapshot": "$.all", "delta": "$.ops"}, **stream},
        }
    )
    reply, watch = DescribedReply(reply_description(options)), Stopwatch()
    for event in events:
        reply.read_event("", json.dumps(event), watch)
    return reply.turn(watch).turn


GROWS: list[dict[str, Any]] = [
    {"type": "snapshot", "all": {"answer": "", "sources": []}},
    {"type": "delta", "ops": [_op("replace", "/answer", "By the")]},
    {
        "type": "delta",
        "ops": [_op("replace", "/answer", "By the mill."), _op("add", "/sources/-", "https://h.example/")],
    },
    {"type": "bye"},
]


def test_the_document_of_a_stream_is_read_when_it_is_complete() -> None:
    turn = _turn(GROWS)
    assert (turn.answer.text, [source.href for source in turn.answer.sources]) == (
        "By the mill.",
        ["https://h.example/"],
    )
    assert turn.first_seconds is not None
    from_nothing = {"type": "delta", "ops": [_op("add", "/answer", "By the mill.")]}
    assert _turn([from_nothing, {"type": "bye"}]).answer.text == "By the mill."
    assert _turn([{"type": "say", "text": "By the mill."}, {"type": "bye"}]).answer.text == "By the mill."


def test_a_patch_that_fails_is_a_fault() -> None:
    with pytest.raises(Unanswered, match="bad-patch"):
        _turn([GROWS[0], {"type": "delta", "ops": [_op("remove", "/none")]}, {"type": "bye"}])


def test_an_intermediate_state_is_neither_an_answer_nor_a_failure() -> None:
    options = Options.model_validate(
        {
            "url": "http://127.0.0.1/",
            "body": {"q": "{{ text }}"},
            "reply": {"piece": "$.text"},
            "tools": "$.said[-1].calls",
            "fail": {"$.said[-1].by": "user"},
            "stream": {"end": None, "patch": {"state": "$"}, "replace": {"document": "$.said[-1].text"}},
        }
    )
    asked = {"type": "state", "said": [{"by": "user", "text": "Where?"}]}
    answer = {"by": "bot", "text": "By the mill.", "calls": [{"name": "find", "args": {}}]}
    reply = DescribedReply(reply_description(options))
    for event in (asked, {"type": "piece", "text": "By the"}, {**asked, "said": [*asked["said"], answer]}):
        assert not reply.read_event("", json.dumps(event))
    turn = reply.turn(Stopwatch()).turn
    assert (turn.answer.text, len(turn.answer.calls)) == ("By the mill.", 1)
    unanswered = DescribedReply(reply_description(options))
    unanswered.read_event("", json.dumps(asked))
    with pytest.raises(Unanswered, match="system-error"):
        unanswered.turn(Stopwatch())
