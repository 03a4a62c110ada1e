"""Every tool call is one call of its own, however a server counts, names and types them."""

from __future__ import annotations

from typing import Any

import pytest

from harvest.drivers.parts import Parts
from harvest.drivers.tool_calls import UNKNOWN_CALL
from protocols.answer import ToolCall

ROME, OSLO = '{"city": "Rome"}', '{"city": "Oslo"}'
TWO = [("book", ROME), ("pay", OSLO)]


def _calls(*pieces: Any, streamed: bool = True) -> list[tuple[str, str]]:
    """What comes of pieces of a stream, or of one list of whole calls; nothing of it is unknown."""
    found, notes = _read(*pieces, streamed=streamed)
    assert notes == ()
    return found


def _read(*pieces: Any, streamed: bool) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    parts = Parts(streamed=streamed)
    for piece in pieces:
        parts.add_calls(piece)
    answer, notes = parts.answer()
    return [(call.name, call.arguments) for call in answer.calls], notes


def _piece(arguments: str | None = None, name: str | None = None, **keys: Any) -> dict[str, Any]:
    given = {"name": name, "arguments": arguments}
    return {**keys, "function": {key: value for key, value in given.items() if value is not None}}


@pytest.mark.parametrize(
    "pieces",
    [
        [_piece(ROME, "book", index=3, id="x"), _piece(OSLO, "pay", index=3, id="y")],
        [_piece(ROME, "book", id="x"), _piece(OSLO, "pay", id="y")],
        [_piece("", "book", id="x"), _piece(ROME), _piece("", "pay", id="y"), _piece(OSLO)],
        [_piece("", "book", index=0, id="x"), _piece(ROME, index=0), _piece("", "pay", index=0, id="y"),
         _piece(OSLO, index=0)],
        [[_piece(ROME, "book", index=0, id="x"), _piece(OSLO, "pay", index=0, id="y")]],
        [_piece(ROME, "book", index=0), _piece(OSLO, "pay", index=0)],
        [_piece(ROME, "book", index=0, id=""), _piece(OSLO, "pay", index=0, id="")],
        [_piece(ROME, "book", index=0, id="x"), _piece(OSLO, "pay", index=0, id="x")],
        [_piece(ROME, "book", index=0, id="x"), _piece(OSLO, "pay", index=1, id="x")],
        [_piece(ROME, "book"), _piece(OSLO, "pay")],
        [[_piece("", "book"), _piece("", "pay")], [_piece(ROME[:5]), _piece(OSLO[:9])],
         [_piece(ROME[5:]), _piece(OSLO[9:])]],
        [[_piece("", "book", index=0), _piece("", "pay", index=1)], _piece(OSLO, index=1), _piece(ROME, index=0)],
        [{"function": {"name": "book", "arguments": {"city": "Rome"}}},
         {"function": {"name": "pay", "arguments": {"city": "Oslo"}}}],
        [{"type": "tool_use", "name": "book", "input": {}}, {"type": "input_json_delta", "partial_json": ROME},
         {"type": "tool_use", "name": "pay", "input": {}}, {"type": "input_json_delta", "partial_json": OSLO}],
    ],
)  # fmt: skip
def test_two_calls_are_two_in_any_numbering(pieces: list[Any]) -> None:
    assert _calls(*pieces) == TWO


@pytest.mark.parametrize("keys", [{"index": 0, "id": "x"}, {"index": 0}, {"id": "x"}])
@pytest.mark.parametrize(
    "calls",
    [
        [(ROME[:4], "book"), (ROME[4:], "book")],  # the name with every piece
        [("", "book"), (ROME[:4], None), (ROME[4:], "")],
        [("", "bo"), ("", "ok"), (ROME, None)],  # a name in pieces
        [("", "bo"), ("", "book"), (ROME, None)],
        [(ROME[:4], "book"), (ROME, "book")],  # all so far with every piece
        [(ROME, "book"), (ROME, None)],  # all again at the end
    ],
)
def test_a_repeated_part_of_a_call_belongs_to_the_same_call(
    calls: list[tuple[str, str | None]], keys: dict[str, Any]
) -> None:
    assert _calls(*(_piece(given, name, **keys) for given, name in calls)) == [("book", ROME)]


def test_an_id_for_every_piece_begins_no_call() -> None:
    first = _piece("", "book", index=0, id="a1")
    rest = [_piece(piece, index=0, id=f"a{number}") for number, piece in enumerate(ROME, 2)]
    assert _calls(first, *rest) == [("book", ROME)]


def test_two_equal_calls_are_two_unless_something_says_that_they_are_one() -> None:
    assert _calls(_piece(ROME, "book"), _piece(ROME, "book")) == [("book", ROME)] * 2
    assert _calls(_piece(None, "ping"), _piece(None, "ping")) == [("ping", "")] * 2
    whole = [_piece(ROME, "book", index=0), _piece(ROME, "book", index=0)]
    assert _calls(whole, streamed=False) == [("book", ROME)] * 2


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("item", "call"),
    [
        ({"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}, ("sql", "SELECT 1")),
        ({"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"}, ("sql", "SELECT 1")),
        ({"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "rye"}},
         ("web_search_call", '{"action": {"query": "rye"}}')),
        ({"type": "mcp", "mcp": {"name": "lend", "arguments": "{}", "server_label": "s"}}, ("lend", "{}")),
        ({"type": "browser", "browser": {"url": "x"}}, ("browser", '{"url": "x"}')),
        ({"type": "server_tool_use", "name": "web_search", "input": {"query": "rye"}},
         ("web_search", '{"query": "rye"}')),
        ({"toolUse": {"toolUseId": "t", "name": "book", "input": {"city": "Rome"}}}, ("book", ROME)),
        ({"functionCall": {"name": "book", "args": {"city": "Rome"}}}, ("book", ROME)),
        ({"executableCode": {"language": "PYTHON", "code": "1"}},
         ("executableCode", '{"language": "PYTHON", "code": "1"}')),
        ({"name": "book", "parameters": {"city": "Rome"}}, ("book", ROME)),
        ("book", ("book", "")),
    ],
)  # fmt: skip
def test_a_call_of_any_type_is_recorded(item: Any, call: tuple[str, str], streamed: bool) -> None:
    assert _calls([item], streamed=streamed) == [call]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("item", "calls"),
    [(7, []), ({"payload": {"x": 1}}, []), ({"function": {"arguments": ROME}}, [("", ROME)]), ([[1]], [])],
)
def test_a_call_of_an_unknown_shape_is_noted(item: Any, calls: list[Any], streamed: bool) -> None:
    assert _read([item], streamed=streamed) == (calls, (UNKNOWN_CALL,))


def test_a_text_among_the_calls_is_not_a_call() -> None:
    other = [{"type": "text", "text": "Yes."}, {"type": "message", "role": "assistant", "content": []}]
    assert _calls(*other, _piece(ROME, "book"), {"type": "text_delta", "text": "x"}) == [("book", ROME)]


def test_a_call_in_a_content_is_not_text() -> None:
    parts = Parts()
    parts.add_content([{"text": "Yes."}, {"type": "mcp_call", "name": "lend", "arguments": "{}"}])
    answer, _ = parts.answer()
    assert (answer.text, answer.calls) == ("Yes.", (ToolCall("lend", "{}"),))
