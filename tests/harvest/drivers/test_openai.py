"""Chat completions: what is sent, and what is read out of the many shapes that come back."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harvest.drivers.completions import SEVERAL_CHOICES, Completion
from harvest.drivers.parts import OTHER_ROLE, SPOKEN_TOO, UNKNOWN_PART, UNKNOWN_SOURCE
from harvest.drivers.registry import build_driver
from harvest.drivers.sources import OTHER_URLS
from harvest.drivers.stream_text import DOUBTED, REPEATED
from harvest.systems.driver import Denied, Driver, Opening, Reply, Surroundings, Unanswered
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer, Attachment, Exchange, ToolCall
from tests.servers.local_http import STREAM_HEAD, Asked, chunk, response, serving
from topics.errors import InputError

HISTORY = (Exchange("Hello", Answer("Hi there")),)


def _driver(url: str, **options: Any) -> Driver:
    around = Surroundings("model", Path(), environment={"TEST_KEY": "sk-secret-value", "LINES": "a\nb"})
    return build_driver("openai", {"base_url": url, "model": "m1", "timeout": 10, **options}, around)


async def _ask(body: bytes, *turns: str, history: tuple[Exchange, ...] = (), **options: Any) -> tuple[Reply, list[Any]]:
    """The reply to the last of `turns` where each request is answered with `body`, and the requests."""

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(body)
        if body.startswith(STREAM_HEAD):
            await writer.drain()
            writer.close()

    async with serving(answering) as server:
        driver = _driver(f"{server.url}/v1/", **options)
        session = await driver.open(Opening("model", "M002", 3, seed=77, history=history))
        try:
            for text in turns or ("hello",):
                reply = await session.say(text)
        finally:
            await driver.close()
    return reply, server.asked


def _whole(message: dict[str, Any], finish: str = "stop", **fields: Any) -> bytes:
    value = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **fields}
    return response("200 OK", json.dumps(value))


def _streamed(*events: bytes, done: bytes = b"data: [DONE]\n\n") -> bytes:
    return STREAM_HEAD + b"".join(events) + done


def _message(content: str | None, **fields: Any) -> bytes:
    """An event with a whole message."""
    message = {"content": content, **fields}
    return _event({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


FINE = _whole({"content": "fine"})


@pytest.mark.parametrize("stream", [False, True])
async def test_the_answering_model_is_recorded_with_its_fingerprint(stream: bool) -> None:
    named = {"model": "m1-2026-11\x1b", "system_fingerprint": "fp_7"}
    body = _whole({"content": "fine"}, **named)
    if stream:
        first = json.dumps({"choices": [{"index": 0, "delta": {"content": "fine"}}], **named}).encode()
        body = _streamed(b"data: " + first + b"\n\n", chunk(finish_reason="stop"))
    reply, _ = await _ask(body, stream=stream)
    assert reply.turn.model.startswith("m1-2026-11")
    assert reply.turn.model.endswith(" fp_7")
    for odd in ({}, {"model": 7}, {"model": None, "system_fingerprint": ["x"]}):
        assert (await _ask(_whole({"content": "fine"}, **odd)))[0].turn.model == ""


async def test_the_request_follows_the_options() -> None:
    _, (asked,) = await _ask(
        FINE,
        "Movies?",
        history=HISTORY,
        api_key_env="TEST_KEY",
        headers={"X-Title": "audit"},
        system_prompt="Be brief.",
        temperature=0,
        top_p=0.5,
        max_tokens=99,
        seed=5,
        extra={"reasoning": {"effort": "low"}, "stop": None},
    )
    assert (asked.method, asked.target) == ("POST", "/v1/chat/completions")
    assert asked.headers["authorization"] == "Bearer sk-secret-value"
    assert asked.headers["x-title"] == "audit"
    assert asked.json == {
        "model": "m1",
        "temperature": 0,
        "top_p": 0.5,
        "max_tokens": 99,
        "seed": 5,
        "reasoning": {"effort": "low"},
        "stop": None,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi there"},
            {"role": "user", "content": "Movies?"},
        ],
    }


async def test_options_that_are_not_given_are_not_sent() -> None:
    _, (asked,) = await _ask(FINE)
    assert asked.json == {"model": "m1", "messages": [{"role": "user", "content": "hello"}]}
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(("usage", "expected"), [(True, {"include_usage": True}), (False, None)])
async def test_a_stream_is_requested_with_token_counts_unless_refused(usage: bool, expected: object) -> None:
    body = _streamed(chunk(content="fine"))
    _, (asked,) = await _ask(body, stream=True, stream_usage=usage)
    assert asked.json["stream"] is True
    assert asked.json.get("stream_options") == expected


async def test_a_seed_for_each_trial_is_derived_and_stable() -> None:
    seeds = [(await _ask(FINE, seed="trial"))[1][0].json["seed"] for _ in range(2)]
    assert seeds[0] == seeds[1]
    assert 0 <= seeds[0] < 2**31


@pytest.mark.parametrize(
    ("message", "finish", "text"),
    [
        ({"content": "plain"}, "stop", "plain"),
        ({"content": ""}, "stop", ""),
        ({"content": None}, "stop", ""),
        ({"content": "cut o"}, "length", "cut o"),
        ({"content": None, "refusal": "I can't help with that."}, "stop", "I can't help with that."),
        ({"content": [{"type": "text", "text": "two "}, {"type": "text", "text": "parts"}]}, "stop", "two parts"),
        ({"content": [{"type": "image_url", "image_url": {}}, {"type": "output_text", "text": "x"}]}, "stop", "x"),
        ({"content": ["a", {"text": "b"}, {"type": "text", "text": None}]}, "stop", "ab"),
        ({"role": "assistant"}, "stop", ""),
        ({"content": None}, "length", ""),
        ({"content": ""}, "content_filter", ""),
        ({"content": None, "tool_calls": [{"function": {"name": "search"}}]}, "tool_calls", ""),
        ({"content": "seen", "reasoning_content": "not seen"}, "stop", "seen"),
    ],
)
async def test_the_text_of_a_complete_reply(message: dict[str, Any], finish: str, text: str) -> None:
    reply, _ = await _ask(_whole(message, finish))
    assert (reply.turn.answer.text, reply.turn.finish) == (text, finish)
    body = next(exhibit for exhibit in reply.exhibits if exhibit.name == "response")
    assert json.loads(body.data)["choices"][0]["message"] == message


async def test_nonsensical_token_counts_are_left_out() -> None:
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": None,
        "total_tokens": True,
        "completion_tokens_details": {"reasoning_tokens": 3},
        "prompt_tokens_details": {"cached_tokens": -1},
    }
    reply, _ = await _ask(_whole({"content": "x"}, usage=usage))
    assert dict(reply.turn.tokens) == {"prompt": 12, "reasoning": 3}


@pytest.mark.parametrize(
    ("events", "text", "finish"),
    [
        ([chunk(role="assistant", content=""), chunk(content="a"), chunk(finish_reason="stop")], "a", "stop"),
        ([chunk(content="cut"), chunk(finish_reason="length")], "cut", "length"),
        ([chunk(content="a", finish_reason="stop"), chunk(content="b", finish_reason="stop")], "ab", "stop"),
        ([chunk(content="x"), chunk(finish_reason="content_filter")], "x", "content_filter"),
        ([chunk(refusal="I can"), chunk(refusal="not."), chunk(finish_reason="stop")], "I cannot.", "stop"),
        ([chunk(content=[{"type": "text", "text": "part"}])], "part", ""),
        ([chunk(tool_calls=[{"index": 0}])], "", ""),
        ([b'data: {"choices": [{"index": 0, "finish_reason": null}]}\n\n', chunk(content="x")], "x", ""),
        ([chunk(tool_calls=[{"index": 0}]), chunk(finish_reason="tool_calls")], "", "tool_calls"),
        ([b": OPENROUTER PROCESSING\n\n", b":\n\n", chunk(content="x"), b"data:\n\n"], "x", ""),
        ([b"event: message\nid: 7\nretry: 10\n" + chunk(content="x")], "x", ""),
        ([chunk(content="x").replace(b"data: ", b"data:")], "x", ""),
        ([chunk(content="x").replace(b"\n", b"\r\n"), chunk(content="y").replace(b"\n", b"\r")], "xy", ""),
        ([b'data: {"choices": [{"index": 1, "delta": {"content": "other"}}]}\n\n', chunk(content="x")], "x", ""),
        ([b'data: {"choices": []}\n\n', b'data: {"object": "ping"}\n\n', chunk(content="x")], "x", ""),
        ([b'data: {"choices":\ndata: [{"delta": {"content": "two lines"}}]}\n\n'], "two lines", ""),
        ([b"\xef\xbb\xbf" + chunk(content="after a mark")], "after a mark", ""),
        ([chunk(content="line\u2028separator\x85 and \x0b tab")], "line\u2028separator\x85 and \x0b tab", ""),
        ([b'data: {"choices": [{"delta": {"content": "raw\xe2\x80\xa8end"}}]}\n\n'], "raw\u2028end", ""),
        ([chunk(content="ha"), chunk(content="ha", finish_reason="stop"), _message("haha")], "haha", "stop"),
        ([chunk(refusal="no"), _message(None, refusal="no")], "no", "stop"),
        ([chunk(content="all", finish_reason="stop"), _message("")], "all", "stop"),
        ([_message("ha"), _message("ha")], "haha", "stop"),
        ([chunk(content="all", finish_reason="stop"), _event({"message": "that was all"})], "all", "stop"),
    ],
)  # fmt: skip
async def test_the_text_of_a_stream(events: list[bytes], text: str, finish: str) -> None:
    reply, _ = await _ask(_streamed(*events), stream=True)
    assert (reply.turn.answer.text, reply.turn.finish) == (text, finish)


@pytest.mark.parametrize("done", [b"", b"data: [DONE]", b"data: [DONE]\n", b"data: [DONE]\r\n\r\n"])
async def test_a_stream_may_end_in_several_ways(done: bytes) -> None:
    reply, _ = await _ask(_streamed(chunk(content="all"), chunk(finish_reason="stop"), done=done), stream=True)
    assert reply.turn.answer.text == "all"


async def test_the_media_type_of_a_stream_may_be_written_in_any_case() -> None:
    body = _streamed(chunk(content="all"), chunk(finish_reason="stop"))

    async def handler(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(body.replace(b"text/event-stream", b"Text/Event-Stream; charset=UTF-8"))
        await writer.drain()
        writer.close()

    async with serving(handler) as server:
        driver = _driver(server.url, stream=True)
        session = await driver.open(Opening("model", "M002", 1, seed=1))
        assert (await session.say("hello")).turn.answer.text == "all"
        await driver.close()


@pytest.mark.parametrize(("ends", "connections"), [(True, 1), (False, 3)])
async def test_streamed_turns_share_a_connection_and_an_open_one_blocks_nothing(ends: bool, connections: int) -> None:
    from_ports = set()

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        from_ports.add(writer.get_extra_info("peername"))
        events = chunk(content="all") + chunk(finish_reason="stop") + b"data: [DONE]\n\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + f"{len(events):x}\r\n".encode() + events + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)  # the end of the stream comes in a packet of its own
        if not ends:
            await asyncio.sleep(100)
        writer.write(b"0\r\n\r\n")

    async with serving(handler) as server, asyncio.timeout(60):
        driver = _driver(server.url, stream=True, timeout=90)
        session = await driver.open(Opening("model", "M002", 1, seed=1))
        for _ in range(3):
            assert (await session.say("hello")).turn.answer.text == "all"
        await driver.close()
    assert len(from_ports) == connections


async def test_a_character_split_into_two_escapes_is_joined() -> None:
    halves = [b'data: {"choices": [{"delta": {"content": "\\ud83e"}}]}\n\n', chunk(content="\udd9c!")]
    reply, _ = await _ask(_streamed(*halves), stream=True)
    assert reply.turn.answer.text == "🦜!"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_lone_surrogate_is_kept_and_sent_back_escaped(stream: bool) -> None:
    message = {"content": "half: \ud83e"}
    body = _streamed(chunk(**message)) if stream else _whole(message)
    reply, asked = await _ask(body, "one", "two", stream=stream)
    assert reply.turn.answer.text == "half: \ud83e"
    assert b"half: \\ud83e" in asked[1].body
    assert asked[1].json["messages"][1]["content"] == "half: \ud83e"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"choices": [{}]}, "bad-completion"),
        ({"choices": [{"garbage": 1}]}, "bad-completion"),
        ({"choices": [{"message": "hello"}]}, "bad-completion"),
        ({"choices": ["hello"]}, "bad-completion"),
        ({"choices": {"message": {"content": "hello"}}}, "bad-completion"),
        ({"choices": [{"message": {"content": 42}, "finish_reason": "stop"}]}, "bad-completion"),
        ({"choices": [{"message": {"content": {"a": 1}}, "finish_reason": "stop"}]}, "bad-completion"),
        ({"choices": [{"message": {"content": [42]}, "finish_reason": "stop"}]}, "bad-completion"),
        ({"choices": [{"message": {"content": [{"text": 42}]}, "finish_reason": "stop"}]}, "bad-completion"),
        ({"choices": [{"message": {"refusal": 42}, "finish_reason": "stop"}]}, "bad-completion"),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": 42}]}, "bad-completion"),
        ({"choices": [{"message": {"content": None}}]}, "bad-completion"),
        ({"choices": [{"message": {}, "finish_reason": "error"}]}, "system-error"),
        ({"choices": [{"message": {"content": "x"}, "error": {"code": 502, "message": "down"}}]}, "system-error"),
    ],
)
async def test_a_body_that_is_not_a_completion_is_not_a_reply(body: object, reason: str) -> None:
    with pytest.raises(Unanswered) as caught:
        await _ask(response("200 OK", json.dumps(body)))
    assert caught.value.reason == reason
    kept = next(exhibit for exhibit in caught.value.exhibits if exhibit.name == "response")
    assert json.loads(kept.data) == body


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([_event({"choices": [{"delta": "hi"}]})], "bad-completion"),
        ([chunk(content=42)], "bad-completion"),
        ([_event({"choices": 42})], "bad-completion"),
        ([chunk(role="assistant")], "broken-stream"),
        ([chunk(role="assistant", content="")], "broken-stream"),
        ([_event({"choices": [{}]})], "broken-stream"),
        (
            [_event({"choices": [{"text": "of a completion without messages", "finish_reason": "stop"}]})],
            "bad-completion",
        ),
        ([chunk(content="some"), _message("something else")], "broken-stream"),
    ],
)
async def test_a_stream_that_is_not_a_completion_is_not_a_reply(events: list[bytes], reason: str) -> None:
    with pytest.raises(Unanswered) as caught:
        await _ask(_streamed(*events), stream=True)
    assert caught.value.reason == reason
    assert any(exhibit.name == "stream" and exhibit.data for exhibit in caught.value.exhibits)


@pytest.mark.parametrize(
    "last",
    [
        chunk(finish_reason="error"),
        chunk(finish_reason="abort", content=""),
        chunk(finish_reason="insufficient_system_resource"),
        chunk(finish_reason="network_error"),
        _event({"object": "error", "message": "the engine is dead", "code": 50001}),
        _event({"text": "**NETWORK ERROR**", "error_code": 50004}),
        _event({"message": "internal error", "type": "server_error"}),
        _event({"detail": "internal error"}),
        _event({"errors": [{"message": "internal error"}]}),
        b"event: error\ndata: down\n\n",
        b"event: error\n\n",
        _event({"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "down"}}]}),
        _event({"choices": [{"delta": {"content": ""}}], "error": {"code": 502, "message": "down"}}),
    ],
)
async def test_a_stream_that_ends_in_an_error_is_unanswered_with_its_part(last: bytes) -> None:
    with pytest.raises(Unanswered, match="system-error") as caught:
        await _ask(_streamed(chunk(content="half a "), chunk(content="rep"), last), stream=True)
    assert caught.value.partial == "half a rep"


@pytest.mark.parametrize("notice", [{"type": "ping", "message": "ok"}, {"detail": "the model is being loaded"}])
@pytest.mark.parametrize("finish", [(), (chunk(finish_reason="stop"),)])
async def test_a_notice_in_a_continuing_stream_is_not_an_error(
    notice: dict[str, Any], finish: tuple[bytes, ...]
) -> None:
    events = (_event(notice), chunk(content="a "), _event(notice), chunk(content="reply"), *finish)
    reply, _ = await _ask(_streamed(*events), stream=True)
    assert reply.turn.answer.text == "a reply"


async def test_a_server_may_stream_unasked_or_not_stream_on_request() -> None:
    unasked, _ = await _ask(_streamed(chunk(content="piece"), chunk(finish_reason="stop")))
    assert unasked.turn.answer.text == "piece"
    whole, _ = await _ask(FINE, stream=True)
    assert whole.turn.answer.text == "fine"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(TEXT, max_size=8),
    raw=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    cut=st.integers(1, 9),
)
def test_a_stream_reads_the_same_however_it_is_split(pieces: list[str], raw: bool, ends: str, cut: int) -> None:
    """Every number of bytes in a packet, through characters, line ends and events alike."""
    said = ""
    for piece in pieces:  # what begins with all that came before may be the whole said again, and is taken once
        assume(not said or not piece.startswith(said))
        said += piece
    events = [json.dumps({"choices": [{"delta": {"content": piece}}]}, ensure_ascii=not raw) for piece in pieces]
    body = "".join(
        f"data: {event}{ends}{ends}" for event in [*events, '{"choices": [{"delta": {}, "finish_reason": "stop"}]}']
    )
    data = body.encode()

    async def dripping(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked"))
        for start in range(0, len(data), cut):
            part = data[start : start + cut]
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        writer.write(b"0\r\n\r\n")

    async def read() -> str:
        async with serving(dripping) as server:
            driver = _driver(server.url, stream=True)
            turn = (await (await driver.open(Opening("model", "M002", 1, 1))).say("hello")).turn
            await driver.close()
        return turn.answer.text

    assert asyncio.run(read()) == "".join(pieces)


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "message", "delta", "content", "error", "usage", "index", "refusal", "text", "type"]
                )
                | st.text(max_size=3),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_text_or_unanswered(value: object) -> None:
    completion, reason = Completion(), ""
    try:
        completion.read_event("", json.dumps(value), Stopwatch())
        text = completion.answer()[0].text
    except Unanswered as fault:
        text, reason = completion.partial, fault.reason
    assert isinstance(text, str)
    assert reason in ("", "bad-json", "bad-completion", "system-error", "no-choices")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True}, "Ollama's native API"),
        ({"model": "m", "response": "Hi", "done": True}, "Ollama's native API"),
        ({"type": "message", "content": [{"type": "text", "text": "Hi"}]}, "Anthropic's Messages API"),
        ({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}, "Gemini's native API"),
        ({"object": "response", "output": []}, "OpenAI's Responses API"),
        ({"choices": []}, ""),
        ({"message": "Hi"}, ""),
    ],
)
def test_the_reply_of_another_api_is_named(body: dict[str, object], named: str) -> None:
    completion = Completion()
    completion.read_event("", json.dumps(body), Stopwatch())
    with pytest.raises(Unanswered) as fault:
        completion.answer()
    assert ("this looks like" in fault.value.detail, named in fault.value.detail) == (bool(named), True)


def test_a_pipe_as_certificate_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ca.pem")
    with pytest.raises(InputError, match=r"ca_file cannot be read as certificates: .*a pipe, not a file"):
        _driver("http://127.0.0.1:1", ca_file=str(tmp_path / "ca.pem"))


async def test_a_conversation_grows_by_its_answers() -> None:
    _, asked = await _ask(_whole({"content": None, "refusal": "No."}), "one", "two")
    assert asked[1].json["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "No."},
        {"role": "user", "content": "two"},
    ]


def test_missing_certificates_of_the_environment_are_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/at/all.pem")
    with pytest.raises(InputError, match="SSL_CERT_FILE"):
        _driver("http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"api_key_env": "NOT_SET"}, "NOT_SET"),
        ({"api_key_env": "LINES"}, "line break"),
        ({"api_key_env": "not a name"}, "not the name of an environment variable"),
        ({"api_key_env": "TEST_KEY", "headers": {"authorization": {"env": "TEST_KEY"}}}, "remove one of them"),
        ({"headers": {"Authorization": "Bearer sk-1"}}, r"write \{env: NAME\}"),
        ({"headers": {"X-Bad": "a\r\nInjected: 1"}}, "cannot be sent"),
        ({"headers": {"X Bad": "a"}}, "not the name of a header"),
        ({"base_url": "api.example.org"}, "not a URL"),
        ({"base_url": "https://ada:secret@example.org"}, "user name or a password"),
        ({"base_url": "http://example.org:notaport"}, "not a URL"),
        ({"base_url": "http://[::1"}, "not a URL"),
        ({"base_url": "ftp://example.org"}, "not a URL"),
        ({"extra": {"messages": []}}, "they are the conversation"),
        ({"extra": {"temperature": 1}}, "use the option 'temperature'"),
        ({"extra": {"n": 2}}, "one reply is one turn"),
        ({"temperature": -1}, "at least 0"),
        ({"timeout": 0}, "above 0"),
        ({"max_reply": 0}, "at least 1"),
        ({"modle": "x"}, "did you mean 'model'"),
        ({"proxy": "ftp://127.0.0.1:1"}, "proxy"),
        ({"proxy": "http://ada:secret@127.0.0.1:1"}, "must not be written in a file"),
        ({"ca_file": "missing.pem"}, "ca_file"),
        ({"ca_file": "a\0b"}, "ca_file cannot be read as certificates"),
        ({"proxy": "socks5://127.0.0.1:1"}, "proxy"),
    ],
)
def test_unusable_options_are_refused_before_anything_is_sent(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        _driver("http://127.0.0.1:1", **options)
    assert "sk-secret" not in str(caught.value)


SHOP, OTHER = "https://www.example.com/a", "https://www.example.com/b"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("message", "beside", "sources"),
    [
        ({}, {"citations": [SHOP, OTHER]}, [(SHOP, ""), (OTHER, "")]),
        ({"citations": [SHOP]}, {}, [(SHOP, "")]),
        ({}, {"citations": [SHOP], "search_results": [{"url": SHOP, "title": "A", "date": "2026"}]}, [(SHOP, "A")]),
        ({"annotations": [{"type": "url_citation", "url_citation": {"url": SHOP}}]}, {}, [(SHOP, "")]),
        ({"annotations": [{"type": "file_citation", "filename": "a.pdf", "file_id": "f"}]}, {}, [("", "a.pdf")]),
        ({"context": {"citations": [{"url": SHOP, "title": "A", "content": "x"}]}}, {}, [(SHOP, "A")]),
        ({}, {"sources": [{"source": {"name": "A", "url": SHOP}, "document": ["x"]}]}, [(SHOP, "A")]),
        ({}, {"odd": {"places": [{"href": SHOP}]}}, [(SHOP, "")]),
        ({}, {"citations": "none"}, [("", "none")]),
        (
            {"annotations": [{"type": "file", "file": {"hash": "x", "name": "b.pdf", "content": []}}]},
            {},
            [("", "b.pdf")],
        ),
        ({"annotations": [{"type": "file_path", "file_path": {"file_id": "f-1"}}]}, {}, [("", "f-1")]),
        ({}, {"sources": [{"metadata": {"source": "c.pdf", "page": 3}}]}, [("", "c.pdf")]),
        ({}, {"search_results": [{"url": SHOP, "source": "web"}]}, [(SHOP, "")]),
        ({"annotations": 7}, {"citations": [7, None, {}]}, []),
        ({}, {"web_search": [{"title": "A", "link": SHOP, "media": "news"}]}, [(SHOP, "A")]),
        (
            {"provider_specific_fields": {"citations": [[{"url": SHOP, "title": "A"}], [{"url": OTHER}]]}},
            {},
            [(SHOP, "A"), (OTHER, "")],
        ),
    ],
)
async def test_sources_next_to_the_text_are_sources_of_the_answer(
    message: dict[str, Any], beside: dict[str, Any], sources: list[tuple[str, str]], stream: bool
) -> None:
    body = _whole({"content": "It is here [1][2].", **message}, **beside)
    if stream:
        first = {"choices": [{"index": 0, "delta": {"content": "It is here [1][2]."}}], **beside}
        last = {"choices": [{"index": 0, "delta": message, "finish_reason": "stop"}], **beside}
        body = _streamed(_event(first), _event(last))
    reply, _ = await _ask(body, stream=stream, links=("$.odd.places",))
    answer = reply.turn.answer
    assert answer.text == "It is here [1][2]."
    assert [(source.href, source.title) for source in answer.sources] == sources
    assert [link.href for link in answer.links] == [href for href, _ in sources if href]
    assert reply.turn.notes == ()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("message", "note"),
    [
        ({"commentary": "Closed on all holidays."}, "the message holds words in `commentary`, which are"),
        ({"memo": "祝日はすべて閉まっています。"}, "the message holds words in `memo`, which are"),
        ({"annotations": [{"type": "region", "box": [1, 2]}]}, UNKNOWN_SOURCE),
        ({"content": ["Open at nine.", {"type": "aside", "text": "Closed on all holidays."}]}, UNKNOWN_PART),
    ],
)
async def test_unread_parts_of_a_message_are_noted(message: dict[str, Any], note: str, stream: bool) -> None:
    said = {"content": "Open at nine.", **message}
    body = _streamed(chunk(**said), chunk(finish_reason="stop")) if stream else _whole(said)
    reply, _ = await _ask(body, stream=stream)
    assert (reply.turn.answer.text, len(reply.turn.notes)) == ("Open at nine.", 1)
    assert reply.turn.notes[0].startswith(note)


async def test_names_and_repetitions_are_not_messages() -> None:
    beside = {
        "name": "the bot here",
        "signature": "QUJD+/==",
        "stop": "stop word",
        "plain": "Open at nine.",
        "hm": None,
    }
    reply, _ = await _ask(_whole({"content": "**Open at nine.**", **beside}))
    assert reply.turn.notes == ()


async def test_addresses_that_may_not_be_sources_are_noted() -> None:
    for beside, notes in (
        ({"odd": [{"to": SHOP}]}, (OTHER_URLS,)),
        ({"odd": [{"to": SHOP}], "citations": [SHOP]}, ()),
        ({"odd": [{"icon": SHOP}], "id": "x", "words": f"see {SHOP}"}, ()),
    ):
        reply, _ = await _ask(_whole({"content": "here", "reasoning_content": f"not {OTHER}"}, **beside))
        assert reply.turn.notes == notes


async def test_a_position_outside_the_text_counts_as_missing() -> None:
    said = "<think>hm</think>\n\nIt is here."
    places = [(19, 29, 0, 10), (18, 29, -1, -1), (22, 99, -1, -1), (5, 5, -1, -1), (True, 9, -1, -1)]
    for begin, end, *place in places:
        note = [{"type": "url_citation", "url": SHOP, "start_index": begin, "end_index": end}]
        reply, _ = await _ask(_whole({"content": said, "annotations": note}))
        (source,) = reply.turn.answer.sources
        assert [source.start, source.end] == place


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning_text": "hm"},
        {"thought": "hm"},
        {"thoughts": ["hm"]},
        {"thinking_content": "hm"},
        {"reasoning_summary": [{"type": "summary_text", "text": "hm"}]},
        {"content": [{"thought": "hm"}, {"type": "text", "text": "Yes."}]},
        {"content": [{"thought": "hm", "text": "Yes."}]},
        {"content": [{"type": "thought", "thought": "hm"}, {"text": "Yes."}]},
        {"content": [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x"}}}, {"text": "Yes."}]},
        {"thinking": "hm"},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "x"}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "Yes."},
            ]
        },
        {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, {"text": "Yes."}]},
        {"content": "<think>hm</think>Yes."},
    ],
)
async def test_reasoning_is_separate_wherever_it_is_and_is_not_sent_back(message: dict[str, Any]) -> None:
    reply, asked = await _ask(_whole({"content": "Yes.", **message}), "one", "two")
    assert (reply.turn.answer.text, reply.turn.answer.thoughts) == ("Yes.", "hm")
    assert asked[1].json["messages"][1] == {"role": "assistant", "content": "Yes."}


async def test_marks_of_reasoning_are_kept_if_the_audit_asks_for_it() -> None:
    reply, _ = await _ask(_whole({"content": "<think>hm</think>Yes."}), thoughts_apart=False)
    assert (reply.turn.answer.text, reply.turn.answer.thoughts) == ("<think>hm</think>Yes.", "")


async def test_reasoning_and_tool_calls_are_joined_from_their_pieces() -> None:
    call = [{"index": 0, "id": "c", "function": {"name": "search", "arguments": ""}}]
    rest = [[{"index": 0, "function": {"arguments": piece}}] for piece in ('{"q": ', '"film"}')]
    events = [chunk(reasoning_content=piece) for piece in ("First ", "this, ", "then that.")]
    events += [chunk(tool_calls=piece) for piece in (call, *rest)]
    reply, _ = await _ask(_streamed(*events, chunk(finish_reason="tool_calls")), stream=True)
    assert reply.turn.answer == Answer(
        "", thoughts="First this, then that.", calls=(ToolCall("search", '{"q": "film"}'),)
    )


@pytest.mark.parametrize("keys", [{"index": 0}, {}])
async def test_calls_with_different_ids_are_different_calls(keys: dict[str, Any]) -> None:
    book = [{**keys, "id": "a", "function": {"name": "book", "arguments": "{}"}}]
    query = [{**keys, "id": "b", "type": "custom", "custom": {"name": "sql", "input": "SELECT"}}]
    events = [chunk(tool_calls=one) for one in (book, query)]
    reply, _ = await _ask(_streamed(*events, chunk(finish_reason="tool_calls")), stream=True)
    assert reply.turn.answer.calls == (ToolCall("book", "{}"), ToolCall("sql", "SELECT"))
    reply, _ = await _ask(_whole({"content": "", "tool_calls": [*book, *query]}, "tool_calls"))
    assert reply.turn.answer.calls == (ToolCall("book", "{}"), ToolCall("sql", "SELECT"))


SAID = "Turn left at the bridge."


@pytest.mark.parametrize(
    ("message", "text", "notes"),
    [
        ({"content": None, "audio": {"id": "s1", "data": "UklG", "transcript": SAID}}, SAID, ()),
        ({"content": "", "audio": {"id": "s1", "transcript": SAID}}, SAID, ()),
        ({"content": SAID, "audio": {"id": "s1", "transcript": SAID}}, SAID, ()),
        (
            {"content": "See the map.", "audio": {"id": "s1", "transcript": SAID}},
            f"See the map.\n\n{SAID}",
            (SPOKEN_TOO,),
        ),
        ({"content": SAID, "audio": {"id": "s1", "data": "UklG"}}, SAID, ()),
        ({"content": [{"type": "output_audio", "id": "s1", "transcript": SAID}]}, SAID, ()),
        ({"content": [{"type": "audio", "audio": {"id": "s1", "transcript": SAID}}]}, SAID, ()),
    ],
)
async def test_the_transcript_of_speech_is_the_text(message: dict[str, Any], text: str, notes: tuple[str, ...]) -> None:
    reply, asked = await _ask(_whole(message), "one", "two")
    answer = reply.turn.answer
    assert (answer.text, reply.turn.notes) == (text, notes)
    assert [file.name for file in answer.attachments] == ["s1"]
    assert asked[1].json["messages"][1] == {"role": "assistant", "content": text}


async def test_a_sound_in_pieces_is_one_sound() -> None:
    pieces = [{"id": "s1"}, *({"transcript": piece} for piece in ("Turn ", "left ", "at the ", "bridge."))]
    events = [chunk(audio=piece) for piece in (*pieces, {"data": "UklG"}, {"data": "R0lG"}, {"id": "s1"})]
    reply, _ = await _ask(_streamed(*events, chunk(finish_reason="stop")), stream=True)
    assert reply.turn.answer == Answer(SAID, attachments=(Attachment("s1", "audio"),))
    assert reply.turn.pieces


CALLS = chunk(finish_reason="tool_calls", tool_calls=[{"index": 0, "id": "c", "function": {"name": "hours"}}])
FOUND = [chunk(role="tool", content='{"opens": '), chunk(content="9}")]
OPENS = [chunk(role="assistant", content="It opens "), chunk(content="at nine."), chunk(finish_reason="stop")]


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([*FOUND, *OPENS], "It opens at nine."),
        ([chunk(role="function", content="9"), *OPENS], "It opens at nine."),
        ([chunk(role="user", content="When?"), *OPENS], "It opens at nine."),
        ([chunk(role="assistant", content="I ask."), CALLS, *FOUND, *OPENS], "I ask.\n\nIt opens at nine."),
        ([*OPENS, chunk(role="tool", content="9")], "It opens at nine."),
        ([_message("It opens at nine."), *FOUND, chunk(role="assistant", finish_reason="stop")], "It opens at nine."),
    ],
)
async def test_text_of_another_role_in_a_stream_is_not_an_answer(events: list[bytes], text: str) -> None:
    reply, _ = await _ask(_streamed(*events), stream=True)
    assert (reply.turn.answer.text, reply.turn.finish) == (text, "stop")
    assert reply.turn.notes == (OTHER_ROLE,)


async def test_a_complete_message_of_a_tool_is_not_an_answer() -> None:
    reply, _ = await _ask(_whole({"role": "tool", "content": "9"}))
    assert (reply.turn.answer.text, reply.turn.notes) == ("", (OTHER_ROLE,))
    reply, _ = await _ask(_whole({"role": "model", "content": "At nine."}))
    assert (reply.turn.answer.text, reply.turn.notes) == ("At nine.", ())


GOOD = "Lund has two such shops: https://www.example.com/lund and one more."
PIECES = [chunk(content=word if place == 0 else f" {word}") for place, word in enumerate(GOOD.split(" "))]
STOP = chunk(finish_reason="stop")


def _named(name: str, *events: bytes) -> list[bytes]:
    return [event.replace(b'{"choices"', b'{"id": "' + name.encode() + b'", "choices"') for event in events]


@pytest.mark.parametrize(
    "events",
    [
        [*PIECES, chunk(content=GOOD), STOP],
        [*PIECES, chunk(content=GOOD, finish_reason="stop")],
        [*PIECES, STOP, chunk(content=GOOD)],
        [*PIECES, STOP, *PIECES],
        [*PIECES, chunk(content=f"{GOOD}\n"), STOP, _message(GOOD)],
        [*_named("a", *PIECES[:6], chunk(content=" ")), *_named("b", *PIECES), STOP],
        [*PIECES[:6], chunk(content=" "), chunk(role="assistant", content=""), *PIECES, STOP],
        [event for event in PIECES for _ in range(2)] + [STOP],
    ],
)
async def test_a_stream_that_repeats_itself_is_read_once_and_says_so(events: list[bytes]) -> None:
    reply, _ = await _ask(_streamed(*events), stream=True)
    assert reply.turn.answer.text.strip() == GOOD
    assert len(reply.turn.answer.links) == 1
    assert reply.turn.notes == (REPEATED,)


@pytest.mark.parametrize(
    "events",
    [
        [*_named("a", *PIECES), STOP],
        [chunk(role="assistant", **json.loads(event[6:])["choices"][0]["delta"]) for event in PIECES],
        [event for number, piece in enumerate(PIECES) for event in _named(str(number), piece)],
        [chunk(content=GOOD), chunk(content=" "), chunk(content=GOOD), STOP, _message(f"{GOOD} {GOOD}")],
    ],
)
async def test_a_stream_without_repetitions_is_unchanged(events: list[bytes]) -> None:
    reply, _ = await _ask(_streamed(*events), stream=True)
    assert reply.turn.answer.text in (GOOD, f"{GOOD} {GOOD}")
    assert reply.turn.notes == ()


VERSE = "Round the mill the river runs.\n"


@pytest.mark.parametrize(
    ("events", "text", "notes"),
    [
        ([STOP], VERSE * 2, (DOUBTED,)),
        ([STOP, _message(VERSE * 2)], VERSE * 2, ()),
        ([STOP, _message(VERSE)], VERSE, (REPEATED,)),
        ([STOP, chunk(content=VERSE)], VERSE, (REPEATED,)),
    ],
)
async def test_a_repeated_line_is_an_answer_unless_the_end_of_the_stream_decides_otherwise(
    events: list[bytes], text: str, notes: tuple[str, ...]
) -> None:
    reply, _ = await _ask(_streamed(chunk(content=VERSE), chunk(content=VERSE), *events), stream=True)
    assert (reply.turn.answer.text, reply.turn.notes) == (text, notes)


@pytest.mark.parametrize("events", [[*PIECES, STOP, chunk(content="And more.")], [*PIECES, STOP, _message("Another.")]])
async def test_different_words_after_the_end_are_a_broken_stream(events: list[bytes]) -> None:
    with pytest.raises(Unanswered, match="broken-stream"):
        await _ask(_streamed(*events), stream=True)


async def test_further_choices_are_noted() -> None:
    choices = [{"index": at, "message": {"content": str(at)}, "finish_reason": "stop"} for at in (0, 1)]
    reply, _ = await _ask(response("200 OK", json.dumps({"choices": choices})))
    assert (reply.turn.answer.text, reply.turn.notes) == ("0", (SEVERAL_CHOICES,))


@pytest.mark.parametrize(
    ("path", "body", "hinted"),
    [
        ("", "no such page", True),
        ("/openai/", "", True),
        ("/v1", "no such page", False),
        ("/api/v1beta/", "", False),
        ("", '{"error": {"code": "model_not_found", "message": "no such model"}}', False),
    ],
)
async def test_a_missing_address_is_answered_with_its_probable_correction(path: str, body: str, hinted: bool) -> None:
    async def missing(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response("404 Not Found", body))

    async with serving(missing) as server:
        driver = _driver(f"{server.url}{path}")
        session = await driver.open(Opening("model", "M002", 3, seed=77))
        with pytest.raises(Denied) as refused:
            await session.say("hello")
        await driver.close()
    assert ("most APIs need /v1" in str(refused.value)) == ("most APIs need /v1" in refused.value.detail) == hinted
