"""Replies of APIs that the audit describes: several fields, parts, and streams of events."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.drivers.described_reply import PARTS, SEVERAL_EVENTS, UNMARKED_END
from harvest.drivers.event_stream import EventParser, StreamEvent
from harvest.drivers.http_options import Options, reply_description
from harvest.drivers.parts import OTHER_ROLE
from harvest.drivers.received import Received
from harvest.drivers.sources import OTHER_URLS
from harvest.drivers.stream_text import DOUBTED, REPEATED
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer, Source, ToolCall
from recordings.conversations.conversation import SystemTurn

FILM = "https://www.imdb.com/title/tt0088763/"


def _read(body: str, media_type: str = "application/json", *, length: bool = True, **options: Any) -> SystemTurn:
    asked = {"url": "http://127.0.0.1/x", "body": {"q": "{{ text }}"}, **options}
    headers = [("content-type", media_type)] + ([("content-length", str(len(body.encode())))] if length else [])
    received = Received("", 200, tuple(headers), body.encode(), Stopwatch())
    return reply_description(Options.model_validate_json(json.dumps(asked))).read(received).turn


def _sse(*values: object, name: str = "") -> str:
    head = f"event: {name}\n" if name else ""
    return "".join(f"{head}data: {json.dumps(value)}\n\n" for value in values)


WORDS = [{"event": "message", "answer": word, "conversation_id": "c7"} for word in ("Open ", "at ", "nine.")]
REPLACED = {"event": "message_replace", "answer": "Open at nine."}


@pytest.mark.parametrize(
    ("body", "media_type", "reply"),
    [
        (_sse({"event": "ping"}, *WORDS, {"event": "message_end"}), "text/event-stream", "$.answer"),
        (_sse(*WORDS) + "data: [DONE]\n\n", "text/event-stream; charset=utf-8", "$.answer"),
        (_sse(*WORDS).replace("\n", "\r\n"), "text/event-stream", "$.answer"),
        (_sse(*WORDS).rstrip("\n"), "text/event-stream", "$.answer"),
        (": hello\n\n" + _sse(*WORDS, name="message"), "text/event-stream", "$.answer"),
        ("".join(json.dumps(one) + "\n" for one in WORDS) + "\n", "application/x-ndjson", "$.answer"),
        (_sse(*WORDS, {"event": "message", "answer": "Open at nine."}), "text/event-stream", "$.answer"),
        (_sse({"answer": "Shut."}, REPLACED), "text/event-stream", "$.answer"),
        ("data: Open \n\ndata: at nine.\n\n", "text/event-stream", "text"),
        (_sse({"a": "Open "}, {"b": {"c": "at nine."}}), "text/event-stream", ["$.a", "$.b.c"]),
    ],
)  # fmt: skip
def test_a_stream_is_one_reply(body: str, media_type: str, reply: Any) -> None:
    turn = _read(body, media_type, reply=reply)
    if reply == "$.answer" and body.count("nine") > 1:
        # Fewer than twenty characters that come again may be the system's own.
        assert turn.answer.text == "Open at nine.Open at nine."
    else:
        assert turn.answer.text == "Open at nine."


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_sse({"answer": "Open"}, {"event": "error", "message": "busy"}), "system-error"),
        (_sse({"answer": "Open"}, {"error": {"message": "busy"}}), "system-error"),
        (_sse({"answer": "Open"}) + "event: error\ndata: busy\n\n", "system-error"),
        ("data: Open\n\n", "bad-json"),
        (_sse({"event": "ping"}), "no-text"),
        ("", "no-text"),
        (_sse({"answer": 3}), "bad-type"),
    ],
)
def test_a_stream_without_a_reply_is_unanswered(body: str, reason: str) -> None:
    with pytest.raises(Unanswered) as fault:
        _read(body, "text/event-stream", reply="$.answer")
    assert fault.value.reason == reason


@pytest.mark.parametrize(
    ("body", "form"), [("event: say\ndata: {}\n\n", "events"), (": hi\n\ndata: 1\n\n", "events"), ("{}\n{}\n", "lines")]
)
def test_a_stream_that_is_declared_as_something_else_is_named_with_the_option_that_reads_it(
    body: str, form: str
) -> None:
    with pytest.raises(Unanswered, match=rf"bad-json.*`stream: {{form: {form}, end: …}}` reads it"):
        _read(body, "text/plain", reply="$.answer")


def test_a_stream_that_could_be_truncated_unseen_says_so() -> None:
    assert _read(_sse(*WORDS), "text/event-stream", reply="$.answer", length=False).notes == (UNMARKED_END,)
    assert _read(_sse(*WORDS), "text/event-stream", reply="$.answer").notes == ()


def test_repeated_lines_are_an_answer() -> None:
    verse = "Round the mill the river runs."
    for body, media_type, reply in (
        (_sse(*[{"line": f"{verse}\n"}] * 3), "text/event-stream", "$.line"),
        (f"data: {verse}\n\n" * 3, "text/event-stream", "text"),
        (f'{{"line": "{verse}"}}\n' * 3, "application/x-ndjson", "$.line"),
    ):
        turn = _read(body, media_type, reply=reply)
        assert (turn.answer.text.replace("\n", ""), turn.notes) == (verse * 3, (DOUBTED,))


MILL, WEIR = "https://www.example.org/mill", "https://www.example.org/weir"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("body", "options", "notes"),
    [
        ({"papers": [{"at": MILL}]}, {}, (OTHER_URLS,)),
        ({"papers": [{"at": MILL}], "more": {"and": WEIR}}, {"links": "$.papers[*].at"}, (OTHER_URLS,)),
        ({"papers": [{"at": MILL}]}, {"links": "$.papers[*].at"}, ()),
        ({"papers": [{"at": "https:\\/\\/www.example.org"}]}, {}, ()),
        ({"logo": MILL, "_links": {"self": {"href": WEIR}}, "hint": f"see {MILL}"}, {}, ()),
        ({"files": [{"url": MILL}], "hm": WEIR}, {"attachments": "$.files", "thoughts": "$.hm"}, ()),
        ({"buttons": [{"title": "Map", "url": MILL}]}, {"offers": "$.buttons"}, ()),
    ],
)
def test_addresses_next_to_the_reply_are_noted(
    body: dict[str, Any], options: dict[str, Any], notes: tuple[str, ...], streamed: bool
) -> None:
    if streamed:
        turn = _read(
            _sse({"said": "By the "}, {"said": "mill.", **body}), "text/event-stream", reply="$.said", **options
        )
    else:
        turn = _read(json.dumps({"said": "By the mill.", **body}), reply="$.said", **options)
    assert (turn.answer.text, turn.notes) == ("By the mill.", notes)


def test_an_address_that_is_the_reply_is_not_another_address() -> None:
    assert _read(json.dumps({"said": MILL}), reply="$.said").notes == ()
    assert _read(f'{{"said": "x", "at": "{MILL}"}}'.replace("/", "\\/"), reply="$.said").notes == (OTHER_URLS,)


def _typed(*events: tuple[str, str]) -> list[dict[str, str]]:
    return [{"type": kind, "delta": delta} for kind, delta in events]


MIXED = _typed(
    ("reasoning-delta", "The user asks. "),
    ("text-delta", "By the "),
    ("tool-input-delta", '{"q": 1}'),
    ("text-delta", "mill."),
)


@pytest.mark.parametrize("events", [["text-delta"], ["text-delta", "refusal-delta"]])
def test_events_of_a_kind_are_chosen_by_name_or_type(events: list[str]) -> None:
    chosen = dict.fromkeys(events, "$.delta")
    named = "".join(f"event: {one['type']}\ndata: {json.dumps({'delta': one['delta']})}\n\n" for one in MIXED)
    for body in (_sse(*MIXED), named, _sse(*MIXED, name="message")):
        turn = _read(body, "text/event-stream", reply=chosen)
        assert (turn.answer.text, turn.notes) == ("By the mill.", ())
    plain = "event: say\ndata: By the mill.\n\nevent: bye\ndata: 7\n\n"
    assert _read(plain, "text/event-stream", reply={"say": "text"}).answer.text == "By the mill."
    assert _read('{"delta": "By the mill."}', reply=chosen).answer.text == "By the mill."


def test_other_parts_are_read_from_every_event() -> None:
    called = {"type": "function_call", "name": "q", "arguments": "{}"}
    whole = {"type": "finish", "calls": [{"type": "message", "content": []}, called]}
    turn = _read(_sse(*MIXED, whole), "text/event-stream", reply={"text-delta": "$.delta"}, tools="$.calls[*]")
    assert (turn.answer.text, turn.answer.calls, turn.notes) == ("By the mill.", (ToolCall("q", "{}"),), ())


def test_a_reply_in_events_of_several_kinds_is_noted() -> None:
    turn = _read(_sse(*MIXED), "text/event-stream", reply="$.delta")
    assert turn.notes == (SEVERAL_EVENTS,)
    quiet = _typed(("text-start", ""), ("text-delta", "By the mill."), ("text-end", ""))
    assert _read(_sse(*quiet), "text/event-stream", reply="$.delta").notes == ()


def test_missing_events_are_a_fault_that_lists_the_existing_ones() -> None:
    with pytest.raises(Unanswered, match=r"events called text; the stream has reasoning-delta, text-delta, tool"):
        _read(_sse(*MIXED), "text/event-stream", reply={"text": "$.delta"})


@pytest.mark.parametrize("verse", [["Round the mill.\n"] * 2, ["By ", "the ", "mill."], ["By the mill."]])
def test_a_last_event_of_its_own_kind_decides_the_text(verse: list[str]) -> None:
    said, whole = [("delta", line) for line in verse], "".join(verse)
    for last in (whole, f"{whole} "):
        turn = _read(_sse(*_typed(*said, ("done", last))), "text/event-stream", reply="$.delta")
        assert (turn.answer.text, turn.notes) == (whole, (REPEATED,))
    turn = _read(_sse(*_typed(*said, ("done", f"{whole} Now."))), "text/event-stream", reply="$.delta")
    assert SEVERAL_EVENTS in turn.notes
    assert turn.answer.text.endswith(f"{whole} Now.")


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (["By", "", "the", "  ", "mill"], "By\n\nthe\n\nmill"),
        (["", "By"], "By"),
        (["By", ""], "By"),
        (["", ""], ""),
        ([[{"text": "By"}], [{"text": ""}], [{"type": "reasoning", "summary": []}], [{"text": "mill"}]], "By\n\nmill"),
        (["By", None, "mill"], "By\n\nmill"),
    ],
)
def test_nothing_is_put_between_a_text_and_an_empty_one(texts: list[Any], joined: str) -> None:
    body = json.dumps({"said": [{"t": text} for text in texts]})
    assert _read(body, reply="$.said[*].t").answer.text == joined


def test_blanks_are_kept_where_texts_are_joined_without_a_separator() -> None:
    body = json.dumps({"said": ["By", " ", "the", "\n", "mill"]})
    assert _read(body, reply="$.said[*]", join="").answer.text == "By the\nmill"


@pytest.mark.parametrize(
    ("said", "reply", "text"),
    [
        ({"role": "assistant", "content": "By the mill."}, "$.said", "By the mill."),
        ({"role": "model", "parts": [{"text": "By the "}, {"text": "mill."}]}, "$.said", "By the mill."),
        ([{"type": "reasoning", "summary": []}, {"type": "message", "content": [{"text": "By the mill."}]}], "$.said",
         "By the mill."),
        ([{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "By the mill."}], "$.said[*]",
         "By the mill."),
        ({"text": ""}, "$.said", ""),
        ([], "$.said", ""),
    ],
)  # fmt: skip
def test_a_path_may_lead_to_a_whole_message(said: Any, reply: str, text: str) -> None:
    turn = _read(json.dumps({"said": said}), reply=reply)
    assert (turn.answer.text, turn.notes) == (text, (OTHER_ROLE,) if "user" in str(said) else ())


@pytest.mark.parametrize("said", [{"words": "By the mill."}, {"id": 7, "answer": {"text": "By the mill."}}])
def test_an_unreadable_object_is_not_an_empty_answer(said: dict[str, Any]) -> None:
    with pytest.raises(Unanswered, match=r"the value at \$.said is an object without text"):
        _read(json.dumps({"said": said}), reply="$.said")


REFUSES = {
    "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I cannot help with that request."}]}]
}


@pytest.mark.parametrize(
    "paths",
    [
        {"reply": "$.output[*].content"},
        {"reply": "$.output[*].content[*]"},
        {"reply": "$.output[*].content[*].text", "refusal": "$.output[*].content[*].refusal"},
        {"reply": ["$.output[*].content[*].text", "$.output[*].content[*].refusal"]},
    ],
)
def test_a_refusal_in_another_field_is_the_reply(paths: dict[str, Any]) -> None:
    answer = _read(json.dumps(REFUSES), **paths).answer
    assert answer.text == "I cannot help with that request."
    assert answer.refused is (not isinstance(paths["reply"], list))


def test_parts_of_other_apis_are_read_equally() -> None:
    anthropic = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "It is "},
        {"type": "text", "text": "Alpha", "citations": [{"url": FILM, "title": "A", "cited_text": "x"}]},
        {"type": "text", "text": "."},
        {"type": "tool_use", "name": "search", "input": {"q": "film"}},
    ]
    turn = _read(
        json.dumps(
            {"content": anthropic, "stop_reason": "max_tokens", "usage": {"input_tokens": 9, "output_tokens": 2}}
        ),
        reply="$.content",
        finish="$.stop_reason",
        tokens="$.usage",
    )
    whole = Answer.of("It is Alpha.", sources=(Source(FILM, "A", 6, 11),))
    assert turn.answer.text == whole.text
    assert (turn.answer.links, turn.answer.sources) == (whole.links, whole.sources)
    assert (turn.answer.thoughts, turn.answer.calls) == ("hm", (ToolCall("search", '{"q": "film"}'),))
    assert (turn.ending, dict(turn.tokens)) == ("cut", {"prompt": 9, "completion": 2})
    gemini = {
        "parts": [{"text": "hm", "thought": True}, {"text": "Yes."}],
        "chunks": [{"web": {"uri": FILM, "title": "A"}}],
    }
    answer = _read(json.dumps(gemini), reply="$.parts", links="$.chunks[*].web").answer
    assert (answer.text, answer.thoughts, answer.sources) == ("Yes.", "hm", (Source(FILM, "A"),))
    parts = [{"type": "text", "text": "Yes."}, {"type": "source-url", "sourceId": "1", "url": FILM, "title": "A"}]
    answer = _read(json.dumps({"parts": parts}), reply="$.parts").answer
    assert (answer.text, answer.sources) == ("Yes.", (Source(FILM, "A"),))


def _streamed(body: str, media_type: str = "text/event-stream", **options: Any) -> SystemTurn:
    return _read(body, media_type, **options)


SAID = _typed(("say", "By the "), ("say", "mill."))
WHOLE_SO_FAR = [{"type": "say", "so_far": text} for text in ("By", "By the", "By the mill.")]


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (_sse(*SAID, {"type": "bye"}), {"stream": {"end": "bye"}}),
        (_sse(*SAID) + "event: bye\n\n", {"stream": {"end": ["bye"]}}),
        (_sse(*SAID) + "data: [DONE]\n\n", {"stream": {"end": "[DONE]"}}),
        (_sse(*SAID, {"delta": "", "done": True}), {"stream": {"end": "$.done"}}),
        (_sse({"done": False}, *SAID, {"why": ["stop"]}), {"stream": {"end": ["$.done", "$.why"]}}),
        (_sse(*SAID, {"list": [{"end": "yes"}]}), {"stream": {"end": "$.list[?@.end=='yes']"}}),
        (_sse(*SAID, {"type": "bye"}, {"type": "say", "delta": " More."}), {"stream": {"end": "bye"}}),
        (_sse({"type": "say", "delta": "No. "}, {"type": "new", "all": "By the "}, SAID[1], {"type": "bye"}),
         {"stream": {"end": "bye", "replace": {"new": "$.all"}}}),
        (_sse(*WHOLE_SO_FAR, {"type": "bye"}), {"stream": {"end": "bye", "replace": "$.so_far"}}),
        (_sse({"kind": "say", "type": "x", "delta": "By the mill."}, {"kind": "bye"}),
         {"stream": {"end": "bye", "name": "$.kind"}, "reply": {"say": "$.delta"}}),
        ("event: say\ndata: By the \n\nevent: say\ndata: mill.\n\nevent: bye\ndata: {}\n\n",
         {"stream": {"end": "bye"}, "reply": "text"}),
        ("say: 1\n" + _sse(*SAID, {"type": "bye"}, name="message"),
         {"stream": {"end": "bye"}, "reply": {"say": "$.delta"}}),
    ],
)  # fmt: skip
def test_a_stream_ends_where_the_options_say(body: str, options: dict[str, Any]) -> None:
    turn = _streamed(body, **{"reply": "$.delta", **options})
    assert (turn.answer.text, turn.notes) == ("By the mill.", ())


@pytest.mark.parametrize(
    ("body", "options", "reason"),
    [
        (_sse(*SAID), {}, "broken-stream"),
        (_sse(*SAID) + "data: [DONE]\n\n", {}, "broken-stream"),
        (_sse(*SAID, {"type": "oops", "why": "no credit"}), {"fail": {"oops": "$.why"}}, "system-error"),
        (_sse(*SAID, {"why": {"code": 7}}), {"fail": "$.why"}, "system-error"),
        (_sse({"type": "bye"}), {}, "no-text"),
        (_sse(*SAID) + "data: ping\n\n", {}, "bad-json"),
    ],
)
def test_a_stream_that_ends_otherwise_is_unanswered(body: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unanswered) as caught:
        _streamed(body, reply="$.delta", stream={"end": "bye", **options})
    assert caught.value.reason == reason
    assert reason != "system-error" or ("no credit" in caught.value.detail) is (options["fail"] != "$.why")


def test_a_stream_without_words_is_an_empty_answer_if_it_gives_a_reason_for_its_end() -> None:
    for why, reason in (("stop", None), ("", "no-text")):
        body = _sse({"type": "bye", "why": why})
        if reason is None:
            assert _streamed(body, reply="$.delta", finish="$.why", stream={"end": "bye"}).answer.text == ""
        else:
            with pytest.raises(Unanswered, match=reason):
                _streamed(body, reply="$.delta", finish="$.why", stream={"end": "bye"})


def test_a_stream_may_declare_a_false_type() -> None:
    lines = "".join(f"{json.dumps(one)}\n" for one in (*SAID, {"type": "bye"}))
    turn = _read(lines, "text/plain", reply="$.delta", stream={"end": "bye", "form": "lines"})
    assert turn.answer.text == "By the mill."


def test_texts_of_different_messages_are_separate() -> None:
    said = [("a", ""), ("a", "By the "), ("a", "mill."), ("b", ""), ("b", "Or"), ("b", " by the weir."), ("c", " ")]
    events = [{"id": one, "delta": text} for one, text in said]
    for body in (_sse(*events, {"type": "bye"}), _sse({"type": "hello"}, *events, {"id": "d", "type": "bye"})):
        turn = _streamed(body, reply="$.delta", stream={"end": "bye", "messages": "$.id"})
        assert turn.answer.text.rstrip() == "By the mill.\n\nOr by the weir."


@pytest.mark.parametrize(
    ("condition", "body", "holds"),
    [
        ("$.no", {"no": "SAFETY"}, True),
        ("$.no", {"no": None}, False),
        ("$.no", {"no": ""}, False),
        ("$.no", {}, False),
        ({"$.no": "SAFETY"}, {"no": "OTHER"}, False),
        ({"$.no": ["SAFETY", "OTHER"]}, {"no": "OTHER"}, True),
        ({"$.no": 1}, {"no": True}, False),
        ({"$.no": True}, {"no": True}, True),
        (["$.no", "$.not"], {"not": 3}, True),
    ],
)
def test_a_refusal_may_be_marked_next_to_the_text(condition: Any, body: dict[str, Any], holds: bool) -> None:
    answer = _read(json.dumps({"said": "Well.", **body}), reply="$.said", refused=condition).answer
    assert (answer.text, answer.refused) == ("Well.", holds)
    if holds:
        answer = _read(json.dumps(body), reply="$.said", refused=condition).answer
        assert (answer.text, answer.refused) == ("", True)
        with pytest.raises(Unanswered, match="the system reports a failure"):
            _read(json.dumps({"said": "Well.", **body}), reply="$.said", fail=condition)


def test_control_characters_in_a_text_are_accepted_if_the_options_say_so() -> None:
    body = '{"said": "By the\n\tmill."}'
    with pytest.raises(Unanswered, match=r"Invalid control character.*raw_controls: true"):
        _read(body, reply="$.said")
    assert _read(body, reply="$.said", raw_controls=True).answer.text == "By the\n\tmill."
    lines = '{"said": "By the\tmill."}\n'
    with pytest.raises(Unanswered, match="raw_controls: true"):
        _read(lines, "application/x-ndjson", reply="$.said")
    assert _read(lines, "application/x-ndjson", reply="$.said", raw_controls=True).answer.text == "By the\tmill."


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "say", "bye"]), st.text(st.characters(exclude_characters="\r\n"), max_size=6))
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 200), max_size=12),
)
def test_a_stream_is_the_same_however_it_is_split(events: list[tuple[str, str]], end: str, cuts: list[int]) -> None:
    text = "".join(f"event: {name}{end}" * bool(name) + f"data: {data}{end}{end}" for name, data in events)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    parser = EventParser("text/event-stream")
    found = [one for begin, stop in pairwise(places) for one in parser.feed(text[begin:stop])]
    found += parser.feed("\n\n")
    assert found == [StreamEvent(name, data) for name, data in events if name or data.strip()]


KEYS = st.sampled_from(
    ["a", "type", "event", "text", "content", "role", "error", "url", "id", "title", "start", "name"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["", "say", "text"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
PATHS = st.sampled_from(["$", "$.a", "$.a[*]", "$[0].text", "$.content[-1]", "$[?@.type=='text']", "$.a[?!@.id].text"])
WAYS = PATHS | st.lists(PATHS, max_size=2) | st.dictionaries(st.sampled_from(["say", "text"]), PATHS, max_size=2)


@settings(max_examples=300, deadline=None)
@given(st.lists(VALUES, max_size=4), st.dictionaries(st.sampled_from(PARTS), WAYS, max_size=3), PATHS, WAYS, st.data())
def test_any_input_is_an_answer_or_a_fault(
    values: list[Any], parts: dict[str, Any], reply: str, ways: Any, data: st.DataObject
) -> None:
    ends: dict[str, Any] = {"stream": {"end": "$.id", "replace": ways, "fail": ways, "messages": reply}}
    options = {**parts, **data.draw(st.sampled_from([{}, ends])), "refused": reply, "keep": {"x": [reply, None]}}
    for body, media_type in (
        (json.dumps(values), "application/json"),
        (_sse(*values, name=data.draw(st.sampled_from(["", "say"]))), "text/event-stream"),
        ("".join(f"{json.dumps(value)}\n" for value in values), "application/x-ndjson"),
    ):
        with suppress(Unanswered):
            assert isinstance(_read(body, media_type, reply=reply, **options), SystemTurn)
