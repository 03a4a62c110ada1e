"""The `http` driver: requests from a template, replies by a path, sessions by id or cookie."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.drivers.registry import build_driver
from harvest.drivers.reply_path import ReplyPath
from harvest.drivers.template import check_template, fill, fill_url, form_values
from harvest.systems.driver import Denied, Driver, DriverError, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Answer, Exchange
from tests.servers.local_http import Asked, LocalServer, Sessions, response, serving
from topics.errors import InputError
from topics.links import Link

SIMPLE = {"url": "http://127.0.0.1:1/", "body": {"q": "{{ text }}"}, "reply": "$.a"}


def _driver(**options: Any) -> Driver:
    around = Surroundings("api", Path(), environment={"KEY": "k-{{ text }}-value"})
    return build_driver("http", {"timeout": 10, **options}, around)


async def _ask(
    answer: str | bytes | Callable[[Asked], bytes], /, *turns: str, history: tuple[Exchange, ...] = (), **options: Any
) -> tuple[Reply, LocalServer]:
    """The reply to the last turn where each request is answered with `body`, and the server with the requests."""

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(asked) if callable(answer) else response("200 OK", answer))

    async with serving(answering) as server:
        given_options = {"url": server.url, "body": {"q": "{{ text }}"}, "reply": "$.a"}
        driver = _driver(**{**given_options, **_with_base(options, server.url)})
        try:
            session = await driver.open(Opening("api", "M002", 1, 1, history))
            for text in turns or ("hello",):
                reply = await session.say(text)
            await session.close()
        finally:
            await driver.close()
    return reply, server


def _with_base(value: Any, base: str) -> Any:
    if isinstance(value, str):
        return value.replace("{base}", base)
    if isinstance(value, dict):
        return {key: _with_base(inner, base) for key, inner in value.items()}
    return [_with_base(inner, base) for inner in value] if isinstance(value, list) else value


async def _fault(answer: str | bytes, /, **options: Any) -> DriverError:
    with pytest.raises(DriverError) as caught:
        await _ask(answer, **options)
    return caught.value


EVERYTHING = st.text(st.characters(exclude_categories=["Cs"]))


@settings(max_examples=200)
@given(EVERYTHING)
def test_nothing_a_user_says_can_leave_its_place_in_json(text: str) -> None:
    template = {"a": "{{ text }}", "b": ["before {{ text }} after"], "c": 1}
    filled = json.loads(json.dumps(fill(template, {"text": text})))
    assert filled == {"a": text, "b": [f"before {text} after"], "c": 1}


@settings(max_examples=200)
@given(EVERYTHING)
def test_nothing_a_user_says_can_leave_its_place_in_a_url_or_a_form(text: str) -> None:
    url = fill_url("http://h/say/{{ text }}/end?x={{ text }}", {"text": text})
    path, _, query = url.removeprefix("http://h/say/").partition("?")
    assert path.count("/") == 1
    assert parse_qs(query, keep_blank_values=True) == {"x": [text]}
    assert form_values(fill({"q": "{{ text }}"}, {"text": text})) == [("q", text)]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ name }}", "cannot be used here"),
        ("{{ text", "without a complete placeholder"),
        ("{{ text | upper }}", "without a complete placeholder"),
        ("{{}}", "cannot be used here"),
        ("said: {{ history }}", "must be the whole value"),
        ({"a": [{"b": "{{ topic }}"}]}, "cannot be used here"),
    ],
)
def test_templates_with_faults_are_refused(template: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check_template(template)


DATA = {"a": {"b": [{"t": "x"}, {"t": "y"}]}, "odd key": {"": 1}, "n": None, "list": [], "a.b": "dotted"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [DATA]),
        ("$.a.b[0].t", ["x"]),
        ("$.a.b[-1].t", ["y"]),
        ("$.a.b[*].t", ["x", "y"]),
        ("$.a.b[2].t", []),
        ("$.a.b[-3].t", []),
        ("$.a.missing", []),
        ("$.a.b.t", []),
        ("$.a[0]", []),
        ("$['odd key']['']", [1]),
        ('$["a.b"]', ["dotted"]),
        ("$.n", [None]),
        ("$.list[*]", []),
        ("$.a[*][*].t", ["x", "y"]),
        ("$.n.deeper", []),
        ("$.a.b[?@.t=='y'].t", ["y"]),
        ('$.a.b[?@.t != "x"].t', ["y"]),
        ("$.a.b[?@.t].t", ["x", "y"]),
        ("$.a.b[?!@.t].t", []),
        ("$[?@.b[0].t=='x'].b[1].t", ["y"]),
        ("$[?@['']==1]['']", [1]),
        ("$[?@['']==true]['']", []),
        ("$[?!@.b[0].t=='x']['']", [1]),
    ],
)
def test_a_path_finds_the_value_there(path: str, found: list[object]) -> None:
    assert ReplyPath.parse(path).find(DATA) == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a.b",
        "$a",
        "$.",
        "$..a",
        "$.a[",
        "$.a[x]",
        "$.a[1:2]",
        "$.a[?(@.b)]",
        "$.a[?@.b=]",
        "$.a[?@.b==x]",
        "$.a[?b]",
        "$['a]",
        "$.a b",
    ],
)
def test_an_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        ReplyPath.parse(path)


@settings(max_examples=100)
@given(st.lists(st.text(st.characters(exclude_characters="'"), max_size=5) | st.integers(-3, 3), max_size=5))
def test_a_path_reads_what_it_writes(steps: list[str | int]) -> None:
    text = "$" + "".join(f"[{step}]" if isinstance(step, int) else f"['{step}']" for step in steps)
    assert [step for _, step in ReplyPath.parse(text).steps] == steps


@pytest.mark.parametrize(
    ("body", "reply", "text"),
    [
        ('{"a": "x"}', "$.a", "x"),
        ('{"a": ""}', "$.a", ""),
        ('[{"text": "one"}, {"text": "two"}]', "$[*].text", "one\n\ntwo"),
        ("[]", "$[*].text", ""),
        ('"bare"', "$", "bare"),
        ("any {text at all", "text", "any {text at all"),
        ("", "text", ""),
        ('\ufeff{"a": "x"}', "$.a", "x"),
    ],
)
async def test_the_reply_is_where_the_path_says(body: str, reply: str, text: str) -> None:
    assert (await _ask(body, reply=reply))[0].turn.answer.text == text


async def test_a_declared_charset_is_honoured() -> None:
    body = response("200 OK", "café".encode("latin-1"), media_type="text/plain; charset=ISO-8859-1")
    assert (await _ask(lambda _: body, reply="text"))[0].turn.answer.text == "café"


@pytest.mark.parametrize(
    ("body", "reply", "text"),
    [
        ('{"a": null, "why": "stop"}', "$.a", ""),
        ('{"a": "", "why": null}', "$.a", ""),
        ('[{"text": "x"}, {"text": null}]', "$[*].text", "x"),
    ],
)
async def test_a_null_in_place_of_the_reply_is_an_empty_answer(body: str, reply: str, text: str) -> None:
    assert (await _ask(body, reply=reply, finish="$.why"))[0].turn.answer.text == text


@pytest.mark.parametrize("body", ['{"a": null}', '{"a": null, "why": null}', '{"a": null, "why": ""}'])
async def test_a_null_without_a_sign_of_its_end_is_unanswered(body: str) -> None:
    assert (await _fault(body, reply="$.a", finish="$.why")).reason == "no-text"


@pytest.mark.parametrize(
    ("body", "reply", "reason"),
    [
        ("{}", "$.a", "no-text"),
        ('{"a": null, "error": "upstream is down"}', "$.a", "system-error"),
        ('{"a": 3}', "$.a", "bad-type"),
        ('{"a": ["x"]}', "$.a", "bad-type"),
        ('[{"text": "x"}, {"text": 3}]', "$[*].text", "bad-type"),
        ("<html>", "$.a", "bad-json"),
        ('{"error": "upstream is down"}', "$.messages[*].text", "system-error"),
        ('{"messages": [], "error": {"code": 7}}', "$.messages[*].text", "system-error"),
        ('{"error": {"message": "upstream is down"}}', "$.a", "system-error"),
        (b"caf\xe9", "text", "not-utf8"),
    ],
)
async def test_a_missing_reply_is_unanswered_and_not_empty(body: str | bytes, reply: str, reason: str) -> None:
    fault = await _fault(body, reply=reply)
    assert (type(fault), fault.reason) == (Unanswered, reason)
    assert [exhibit.name for exhibit in fault.exhibits] == ["headers", "response"]


async def test_links_next_to_the_text_are_added_once() -> None:
    body = {
        "a": "See https://example.org/1.",
        "sources": [
            "https://example.org/1",
            "https://example.org/2",
            {"url": "https://example.org/3", "title": "Three"},
            {"href": "https://example.org/4"},
            {"title": "no address"},
            7,
        ],
    }
    reply, _ = await _ask(json.dumps(body), links="$.sources[*]")
    assert reply.turn.answer.links == (
        Link("https://example.org/1", "https://example.org/1"),
        Link("https://example.org/2", "https://example.org/2"),
        Link("Three", "https://example.org/3"),
        Link("https://example.org/4", "https://example.org/4"),
    )


@pytest.mark.parametrize(
    ("body", "ended"), [('{"a": "x", "end": true}', True), ('{"a": "x", "end": "yes"}', False), ('{"a": "x"}', False)]
)
async def test_a_system_may_close_the_conversation(body: str, ended: bool) -> None:
    assert (await _ask(body, ended="$.end"))[0].turn.ended is ended


async def test_a_form_a_query_and_headers_are_sent_with_secrets_unchanged() -> None:
    _, server = await _ask(
        '{"a": "x"}',
        "a&b=c é",
        body=None,
        form={"q": "{{ text }}", "n": 3, "none": None, "tag": ("x", "y"), "on": True},
        query={"key": {"env": "KEY"}, "turn": "{{ turn }}"},
        headers={"X-Key": {"env": "KEY", "prefix": "Token "}},
    )
    asked = server.asked[0]
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qs(asked.body.decode()) == {"q": ["a&b=c é"], "n": ["3"], "tag": ["x", "y"], "on": ["true"]}
    assert asked.query == {"key": ["k-{{ text }}-value"], "turn": ["1"]}
    assert asked.headers["x-key"] == "Token k-{{ text }}-value"


async def test_the_history_is_sent_as_messages() -> None:
    _, server = await _ask(
        '{"a": "yes"}',
        "one",
        "two",
        history=(Exchange("before", Answer("no")),),
        stateful=False,
        body={"past": "{{ history }}", "all": "{{ messages }}", "turn": "{{ turn }}", "q": "{{ text }}"},
    )
    past = [
        {"role": "user", "content": "before"},
        {"role": "assistant", "content": "no"},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "yes"},
    ]
    now = {"role": "user", "content": "two"}
    assert server.asked[1].json == {"past": past, "all": [*past, now], "turn": 3, "q": "two"}


async def test_a_lone_surrogate_is_kept_and_sent_back() -> None:
    """As text, history and session id; JSON escapes it, and a URL and a form carry the bytes it would have."""
    half = "half \ud83e"
    reply, server = await _ask(
        json.dumps({"a": half}),
        "one",
        "two",
        stateful=False,
        session="$.a",
        first_session="none",
        url="{base}/{{ session }}",
        query={"of": "{{ session }}"},
        body={"all": "{{ messages }}", "of": "{{ session }}"},
    )
    assert reply.turn.answer.text == half
    second = server.asked[1]
    assert second.body.isascii()
    assert (second.json["all"][1]["content"], second.json["of"]) == (half, half)
    assert second.target == "/half%20%ED%A0%BE?of=half+%ED%A0%BE"


async def test_a_session_is_opened_used_and_ended() -> None:
    sessions = Sessions()
    async with serving(sessions) as server:
        driver = _driver(
            url=f"{server.url}/say",
            headers={"X-Session": "{{ session }}", "X-Key": {"env": "KEY"}},
            body={"session": "{{ session }}", "text": "{{ text }}"},
            reply="$.reply.text",
            session="$.data.id",
            open={"url": f"{server.url}/start", "body": {"lang": "en"}},
            close={"url": f"{server.url}/end/{{{{ session }}}}", "method": "DELETE"},
        )
        session = await driver.open(Opening("api", "M002", 1, 1))
        assert (await session.say("turn")).turn.answer.text == "1"
        await session.close()
        await session.close()
        await driver.close()
    assert sessions.ended == ["s1"]
    assert [(asked.method, asked.target) for asked in server.asked] == [
        ("POST", "/start"),
        ("POST", "/say"),
        ("DELETE", "/end/s1"),
    ]
    start, say, _ = server.asked
    assert start.json == {"lang": "en"}
    assert "x-session" not in start.headers
    assert say.headers["x-session"] == "s1"
    assert all(asked.headers["x-key"] == "k-{{ text }}-value" for asked in server.asked)


async def test_a_session_may_be_named_by_the_first_reply() -> None:
    body = {"conversation": "{{ session }}", "q": "{{ text }}"}
    _, server = await _ask('{"a": "x", "id": 17}', "one", "two", body=body, session="$.id", first_session="")
    assert [asked.json["conversation"] for asked in server.asked] == ["", "17"]


async def test_a_turn_that_would_start_another_session_is_not_sent() -> None:
    body = {"conversation": "{{ session }}", "q": "{{ text }}"}
    for nothing in ("null", '""', "[]"):
        reply = f'{{"a": "x", "id": {nothing}}}'
        named: dict[str, Any] = {"body": body, "session": "$.id", "first_session": ""}
        assert (await _ask(reply, "one", **named))[0].turn.answer.text == "x"
        with pytest.raises(Unanswered, match="no-session"):
            await _ask(reply, "one", "two", **named)
        await _ask(reply, "one", "two", **{**named, "first_session": "always"})
        await _ask(reply, "one", "two", **named, stateful=False)


async def test_a_session_may_be_opened_in_steps_whose_values_later_requests_use() -> None:
    def answering(asked: Asked) -> bytes:
        body = {"/token": {"token": "t-0123456789", "for": 7}, "/room": {"room": {"id": "r/1"}}}.get(asked.path)
        return response("200 OK", json.dumps(body or {"a": "x", "next": f"n{len(asked.json['q'])}"}))

    _, server = await _ask(
        answering,
        "one",
        "three",
        open=[
            {"url": "{base}/token", "headers": {"X-Key": {"env": "KEY"}}, "keep": {"token": "$.token", "who": "$.for"}},
            {"url": "{base}/room", "body": {"of": "{{ who }}"}, "headers": {"Authorization": "Bearer {{ token }}"},
             "keep": {"room": ["$.id", "$.room.id"]}},
        ],
        url="{base}/rooms/{{ room }}/say",
        headers={"X-Of": "{{ who }}", "X-Next": "{{ following }}"},
        body={"q": "{{ text }}", "after": "{{ following }}"},
        keep={"following": "$.next"},
        close={"url": "{base}/rooms/{{ room }}", "method": "DELETE", "query": {"token": "{{ token }}"}},
    )  # fmt: skip
    token, room, first, second, end = server.asked
    assert (token.headers["x-key"], room.headers["authorization"]) == ("k-{{ text }}-value", "Bearer t-0123456789")
    assert room.json == {"of": "7"}
    assert (first.target, first.headers["x-of"], first.json) == ("/rooms/r%2F1/say", "7", {"q": "one", "after": None})
    assert "x-next" not in first.headers
    assert (second.headers["x-next"], second.json) == ("n3", {"q": "three", "after": "n3"})
    assert end.target == "/rooms/r%2F1?token=t-0123456789"


async def test_a_value_that_an_opening_does_not_give_is_denied_with_the_reply() -> None:
    fault = await _fault('{"error": "no room"}', open=[{"url": "{base}", "keep": {"room": "$.id"}}])
    assert (type(fault), fault.reason) == (Denied, "no-session")
    assert "has nothing at $.id" in fault.detail
    assert "no room" in fault.detail


async def test_a_value_is_forgotten_when_the_options_say_so() -> None:
    def answering(asked: Asked) -> bytes:
        return response("200 OK", json.dumps({"a": "x", **({"open": "t1"} if asked.json["q"] == "one" else {})}))

    for paths, last in ((["$.open", None], None), (["$.open"], "t1")):
        body = {"q": "{{ text }}", "task": "{{ task }}"}
        _, server = await _ask(answering, "one", "two", "three", body=body, keep={"task": paths})
        assert [asked.json["task"] for asked in server.asked] == [None, "t1", last]


async def test_a_request_without_a_value_for_its_address_is_not_sent() -> None:
    fault = await _fault('{"a": "x"}', url="{base}/{{ room }}", keep={"room": "$.id"})
    assert (type(fault), fault.reason) == (Unanswered, "no-value")


async def test_kept_values_that_are_secrets_are_redacted() -> None:
    secrets: set[str] = set()
    answer = json.dumps({"a": "x", "key": "key-0123", "token": "token-0123", "room": "room-0123"})

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response("200 OK", answer))

    async with serving(answering) as server:
        kept = {"key": "$.key", "token": "$.token", "room": "$.room"}
        options = {"open": {"url": server.url, "keep": kept}, "secret": "key", "close": None, "timeout": 10}
        options |= {"url": server.url, "body": {"q": "{{ text }}", "r": "{{ room }}", "k": "{{ key }}"}, "reply": "$.a"}
        options |= {"headers": {"Authorization": "Bearer {{ token }}"}}
        driver = build_driver("http", options, Surroundings("api", Path(), secrets=secrets))
        await (await driver.open(Opening("api", "M002", 1, 1))).say("hello")
        await driver.close()
    assert secrets == {"key-0123", "token-0123"}


async def test_a_token_that_expires_ends_its_session_and_not_the_run() -> None:
    tokens: list[str] = []

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/start":
            tokens.append(f"token-{len(tokens)}-0123456789")
            writer.write(response("200 OK", json.dumps({"token": tokens[-1]})))
        elif asked.headers["authorization"] == f"Bearer {tokens[-1]}" and asked.json["q"] != "late":
            writer.write(response("200 OK", '{"a": "x"}'))
        else:
            writer.write(response("401 Unauthorized", "{}"))

    async with serving(answering) as server:
        opened = {"url": f"{server.url}/start", "keep": {"token": "$.token"}}
        options = {"url": server.url, "body": {"q": "{{ text }}"}, "reply": "$.a", "open": opened}
        driver = _driver(**options, headers={"Authorization": "Bearer {{ token }}"})
        first = await driver.open(Opening("api", "M002", 1, 1))
        with pytest.raises(Denied, match="http-401"):
            await first.say("late")  # before any answer, the request itself may be wrong
        await first.say("one")
        with pytest.raises(Unanswered, match="http-401"):
            await first.say("late")
        assert (await (await driver.open(Opening("api", "M002", 1, 1))).say("one")).turn.answer.text == "x"
        await driver.close()


async def test_a_greeting_is_not_an_answer() -> None:
    def answering(asked: Asked) -> bytes:
        return response("200 OK", json.dumps({"a": "Welcome!" if asked.path == "/start" else "x"}))

    for greets in (True, False):
        reply, _ = await _ask(answering, "one", open={"url": "{base}/start"}, greets=greets)
        assert reply.turn.answer.text == "x"
        assert reply.turn.greeting == ("Welcome!" if greets else "")


async def test_a_history_takes_the_shape_that_the_options_give() -> None:
    part = {"role": "{{ role }}", "parts": [{"text": "{{ text }}"}], "id": "{{ id }}"}
    _, server = await _ask(
        '{"a": "yes"}',
        "one",
        "two",
        stateful=False,
        body={"contents": "{{ messages }}", "p": "{{ history }}"},
        message=part,
        roles={"assistant": "model"},
    )
    first, second = (asked.json["contents"] for asked in server.asked)
    assert [(one["role"], one["parts"]) for one in second] == [
        ("user", [{"text": "one"}]),
        ("model", [{"text": "yes"}]),
        ("user", [{"text": "two"}]),
    ]
    assert first[0] == second[0]
    assert len({one["id"] for one in second}) == 3
    assert server.asked[1].json["p"] == second[:2]
    plain, _ = await _ask('{"a": "yes"}', stateful=False, body={"m": "{{ messages }}"}, roles={"user": "human"})
    assert plain.turn.answer.text == "yes"


async def test_ids_are_new_for_each_turn_and_visitor_and_kept_while_a_turn_is_sent_again() -> None:
    asked: list[tuple[str, str]] = []

    async def answering(request: Asked, writer: asyncio.StreamWriter) -> None:
        asked.append((request.json["id"], request.json["who"]))
        busy = request.json["q"] == "two" and len(asked) == 2
        writer.write(response("429 Busy" if busy else "200 OK", '{"a": "x"}'))

    async with serving(answering) as server:
        body = {"q": "{{ text }}", "id": "{{ id }}", "who": "{{ visitor }}"}
        driver = _driver(url=server.url, body=body, reply="$.a")
        session = await driver.open(Opening("api", "M002", 1, 1))
        await driver.open(Opening("api, another group", "M002", 1, 1))
        await session.say("one")
        with pytest.raises(DriverError, match="429"):
            await session.say("two")
        await session.say("two")
        for opening in (
            Opening("api", "M002", 1, 2, before=2),  # the person comes back
            Opening("api", "M002", 1, 1),  # another attempt
            Opening("api", "M002", 2, 1),
        ):
            await (await driver.open(opening)).say("one")
        await driver.close()
    ids, visitors = zip(*asked, strict=True)
    assert ids[1] == ids[2]
    assert len(set(ids)) == len(ids) - 1
    assert visitors[0] == visitors[1] == visitors[2] == visitors[3]
    assert len(set(visitors)) == 3


@pytest.mark.parametrize("text", [".", "..", "a/../b", "..."])
async def test_dots_do_not_go_up_a_path(text: str) -> None:
    _, server = await _ask('{"a": "x"}', text, url="{base}/say/{{ text }}/now", body=None, method="POST")
    assert unquote(server.asked[0].target) == f"/say/{text}/now"


async def test_a_session_named_by_us_is_a_different_one_each_time() -> None:
    body = {"id": "{{ session }}", "q": "{{ text }}"}
    ids = [(await _ask('{"a": "x"}', body=body, session="client"))[1].asked[0].json["id"] for _ in range(2)]
    assert len(set(ids)) == 2
    assert all(len(one) == 36 for one in ids)


async def test_cookies_belong_to_one_session() -> None:
    def visits(asked: Asked) -> bytes:
        seen = int(asked.headers.get("cookie", "n=0").partition("=")[2])
        return response("200 OK", json.dumps({"a": str(seen)}), f"Set-Cookie: n={seen + 1}; Path=/")

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(visits(asked))

    async with serving(answering) as server:
        driver = _driver(url=server.url, body={"q": "{{ text }}"}, reply="$.a")
        first, second = [await driver.open(Opening("api", "M002", trial, 1)) for trial in (1, 2)]
        texts = [(await session.say("hi")).turn.answer.text for session in (first, first, second, first, second)]
        await driver.close()
    assert texts == ["0", "1", "0", "2", "1"]


async def test_cookies_beyond_ascii_are_sent_back_and_invalid_ones_are_not() -> None:
    name = "Jürgen".encode().decode("latin-1")  # as the server writes and reads it

    def answering(_: Asked) -> bytes:
        return response("200 OK", '{"a": "x"}', f"Set-Cookie: name={name}; Path=/", "Set-Cookie: odd=a\x01b; Path=/")

    _, server = await _ask(answering, "one", "two", body={"q": "{{ text }}"})
    assert [asked.headers.get("cookie") for asked in server.asked] == [None, f"name={name}"]


async def test_a_session_that_is_not_given_is_denied_with_the_reply() -> None:
    fault = await _fault(
        '{"error": "queue full"}',
        open={"url": "{base}"},
        session="$.id",
        body={"s": "{{ session }}", "q": "{{ text }}"},
    )
    assert (type(fault), fault.reason) == (Denied, "no-session")
    assert "queue full" in fault.detail


async def test_a_session_id_cannot_smuggle_a_header() -> None:
    fault = await _fault(
        '{"id": "x\\r\\nEvil: 1"}', open={"url": "{base}"}, session="$.id", headers={"X-S": "{{ session }}"}
    )
    assert (type(fault), fault.reason) == (Unanswered, "bad-session")


async def test_closing_never_raises_even_if_the_end_fails() -> None:
    async def failing(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response("500 Internal Server Error", ""))

    async with serving(failing) as server:
        driver = _driver(**{**SIMPLE, "close": {"url": server.url}})
        session = await driver.open(Opening("api", "M002", 1, 1))
        await session.close()
        await driver.close()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"body": {"q": "hello"}}, "no field sends the user turn"),
        ({"form": {"q": "{{ text }}"}}, "cannot have both body and form"),
        ({"method": "GET"}, "a GET request cannot have body or form"),
        ({"method": "FETCH"}, "GET"),
        ({"reply": "a.b"}, "not a path"),
        ({"reply": []}, "`reply` needs the path"),
        ({"reply": {"say": 3}}, "starts with"),
        ({"reply": {"say": "x"}}, "not a path"),
        ({"reply": {"say": "text", "bye": "$.a"}}, "cannot be combined"),
        ({"reply": ["$.a", "text"]}, "not a path"),
        ({"keep": {"Room": "$.a"}}, "cannot be called 'Room'"),
        ({"keep": {"text": "$.a"}}, "cannot be called 'text'"),
        ({"keep": {"room": "a"}}, "not a path"),
        ({"keep": {"room": [None, "$.a"]}}, "null can only be the last"),
        ({"secret": "room"}, "no `keep` keeps"),
        ({"message": {"t": "{{ turn }}"}}, "allowed: {{ role }}, {{ text }}, {{ id }}"),
        ({"roles": {"bot": "model"}}, "user"),
        ({"greets": True}, "`greets` needs"),
        ({"open": [{"url": "http://h/{{ b }}", "keep": {"a": "$.a"}}, {"url": "http://h/", "keep": {"b": "$.b"}}]},
         "{{ b }} cannot be used here"),
        ({"close": {"url": "http://h/{{ a }}"}}, "{{ a }} cannot be used here"),
        ({"headers": {"Authorization": "Bearer abc"}}, "carries a secret"),
        ({"headers": {"Authorization": "Bearer {{ token }}"}}, "{{ token }} cannot be used here"),
        ({"renew": {"url": "http://h/"}}, "`renew` needs `keep`"),
        ({"poll": {"url": "http://h/"}}, "`until` or `quiet`"),
        ({"poll": {"url": "http://h/", "until": "$.x"}, "stream": {"end": "x"}}, "cannot be used together"),
        ({"poll": {"url": "http://h/", "quiet": 1}}, "need `each`"),
        ({"poll": {"url": {"header": "Location"}, "each": "$[*]", "id": "$.i"}}, "`until` or `quiet`"),
        ({"poll": {"url": {"header": "Location"}, "each": "$[*]", "id": "$.i", "quiet": 1}, "greets": True},
         "`greets` needs an address"),
        ({"poll": {"url": "http://h/", "each": "$[*]", "id": "$.i", "quiet": 1}, "reply": "text"},
         "`reply` needs a path: `$`"),
        ({"poll": {"url": "http://h/", "quiet": 1, "each": "$[*]"}}, "again and again"),
        ({"poll": {"url": "http://h/{{ text }}", "until": "$.done"}}, "{{ text }} cannot be used here"),
        ({"poll": {"url": "http://h/", "quiet": 1, "each": "$[*]", "id": "$.i", "skip": {"$.a": "{{ x }}"}}},
         "{{ x }} cannot be used here"),
        ({"stream": {}}, "end"),
        ({"stream": {"end": "$a"}}, "not a path"),
        ({"stream": {"end": "bye", "fail": {"x": "y"}}}, "not a path"),
        ({"stream": {"end": "bye", "form": "sse"}}, "lines"),
        ({"refused": {"$.a": None}}, "the values of"),
        ({"refused": {"a": "x"}}, "not a path"),
        ({"links": "sources"}, "not a path"),
        ({"session": "cookie"}, "not a path"),
        ({"body": {"q": "{{ text }}", "s": "{{ session }}"}}, "{{ session }} needs the option"),
        ({"body": {"m": "{{ messages }}"}}, "stateful: false"),
        ({"body": {"q": "{{ test }}"}}, "cannot be used here"),
        ({"url": "http://{{ text }}/"}, "not in its host"),
        ({"headers": {"X": "{{ text }}"}}, "cannot be used here"),
        ({"open": {"url": "http://h/", "body": "{{ text }}"}}, "cannot be used here"),
        ({"open": {"urll": "http://h/"}}, "did you mean 'url'"),
        ({"body": {"q": "{{ text }}", "k": {"env": "NOT_SET"}}}, "NOT_SET"),
        ({"headers": {"Cookie": "a=b"}}, "carries a secret"),
    ],
)  # fmt: skip
def test_unusable_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        _driver(**{**SIMPLE, **options})


def test_the_capabilities_of_a_template_are_declared() -> None:
    assert _driver(**SIMPLE).capabilities.stateful
    assert not _driver(**SIMPLE).capabilities.editable_history
    free = _driver(**{**SIMPLE, "stateful": False, "body": {"m": "{{ messages }}"}}).capabilities
    assert (free.stateful, free.editable_history) == (False, True)
