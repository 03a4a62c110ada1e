"""Replies that come later: what is fetched again, what never is, and how long it is waited for."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.inbox import LATE_NOTE
from harvest.drivers.registry import build_driver
from harvest.drivers.rereading import read_reply
from harvest.systems.driver import Denied, DriverError, Opening, Reply, Surroundings, Unanswered
from harvest.systems.timing import SENDING
from tests.servers.local_http import Asked, LocalServer, response, serving

JOB: dict[str, Any] = {"keep": {"job": "$.id"}, "reply": "$.out"}


def _json(value: object, *headers: str, status: str = "200 OK") -> bytes:
    return response(status, json.dumps(value), *headers)


async def _say(
    answers: Iterator[bytes], poll: dict[str, Any], turns: int = 1, **options: Any
) -> tuple[list[Reply], LocalServer]:
    """The replies to `turns` turns, where each request gets the next of `answers`, and the server with the requests."""

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(next(answers).replace(b"PORT", asked.headers["host"].rpartition(":")[2].encode()))

    async with serving(answering) as server:
        given = {"url": f"{server.url}/say", "body": {"q": "{{ text }}"}, "reply": "$.text", "timeout": 5, **options}
        driver = build_driver(
            "http", {**given, "poll": {"url": f"{server.url}/look", "every": 0.01, **poll}}, Surroundings("s", Path())
        )
        try:
            session = await driver.open(Opening("s", "M002", 1, 1))
            replies = [await session.say(f"turn {number}") for number in range(turns)]
        finally:
            await driver.close()
    return replies, server


async def _fault(answers: Iterator[bytes], poll: dict[str, Any], **options: Any) -> DriverError:
    with pytest.raises(DriverError) as caught:
        await _say(answers, poll, **options)
    return caught.value


ACCEPTED, RUNNING = _json({"id": "j1"}, status="202 Accepted"), _json({"state": "running"})
DONE = _json({"state": "done", "out": "By the mill."})
UNTIL: dict[str, Any] = {"until": {"$.state": "done"}}


async def test_a_job_is_polled_until_it_is_done() -> None:
    times: list[float] = []
    report = SENDING.set(times.append)
    try:
        (reply,), server = await _say(iter([ACCEPTED, RUNNING, RUNNING, DONE]), UNTIL, **JOB)
    finally:
        SENDING.reset(report)
    assert reply.turn.answer.text == "By the mill."
    assert [asked.method for asked in server.asked] == ["POST", "GET", "GET", "GET"]
    assert len(times) == 2, "only the user turn counts for the pace: its request is made, and then sent"
    exhibits = {one.name: one.data for one in reply.exhibits}
    assert exhibits["response"] == b'{"state": "done", "out": "By the mill."}'
    looks = [json.loads(line) for line in exhibits["polls"].splitlines()]
    assert [(look["status"], "until" in look) for look in looks] == [(202, False), (200, True), (200, False)]
    again = read_reply(
        "http", {"url": "http://h/", "body": "{{ text }}", **JOB}, exhibits["response"], exhibits["headers"]
    )
    assert again == reply.turn.answer


async def test_an_answer_that_is_complete_at_once_is_not_fetched() -> None:
    (reply,), server = await _say(iter([DONE]), UNTIL, **JOB)
    assert (reply.turn.answer.text, len(server.asked)) == ("By the mill.", 1)
    assert [one.name for one in reply.exhibits] == ["headers", "response"]


LATER: dict[str, Any] = {"url": {"header": "Location"}}
AT_JOB = _json({"id": "j1"}, "Location: jobs/1?part=a#top", status="202 Accepted")


async def test_a_job_is_fetched_from_the_address_in_a_header() -> None:
    """RFC 9110, 10.2.2 and 15.3.3; Azure's REST guidelines, "Long-running operations": 202 until there is a result."""
    moved = _json({}, "location: /elsewhere/1", "Retry-After: 0", status="202 Accepted")
    first = [AT_JOB, _json({}, status="202 Accepted"), moved, DONE]
    second = [_json({}, "Location: //127.0.0.1:PORT/jobs/2", status="201 Created"), DONE]
    (reply, other), server = await _say(iter([*first, *second]), LATER, 2, reply="$.out")
    assert [reply.turn.answer.text, other.turn.answer.text] == ["By the mill."] * 2
    assert [asked.target for asked in server.asked] == [
        *("/say", "/jobs/1?part=a", "/jobs/1?part=a", "/elsewhere/1"),
        *("/say", "/jobs/2"),
    ]
    (reply,), server = await _say(iter([DONE]), LATER, reply="$.out")
    assert (reply.turn.answer.text, len(server.asked)) == ("By the mill.", 1)
    (reply,), server = await _say(iter([AT_JOB, RUNNING, DONE]), {**LATER, **UNTIL}, reply="$.out")
    assert (reply.turn.answer.text, len(server.asked)) == ("By the mill.", 3)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (ACCEPTED, Unanswered, 'no-value: the answer has no header Location, .*; it begins: .{"id": "j1"}'),
        (_json({}, "Location: mailto:desk", status="202 Accepted"), Unanswered, "no-value: the header Location holds"),
        (_json({}, "Location: http://me:pw@h/", status="202 Accepted"), Unanswered, "no-value: the header Location"),
        (_json({}, "Location: http://h.example/", status="202 Accepted"), Denied, "undeclared: h.example:80 is not a"),
    ],
)
async def test_an_unusable_address(answer: bytes, kind: type[DriverError], words: str) -> None:
    fault = await _fault(iter([answer]), LATER)
    assert type(fault) is kind
    assert re.match(words, str(fault))


@pytest.mark.parametrize("each", ["$.messages", "$.messages[*]", "$.more[*]"])
async def test_a_message_without_a_reply_is_not_an_empty_answer(each: str) -> None:
    listed = _json({"messages": ["By the mill."], "more": [None], "done": True})
    poll = {"each": each, "until": "$.done", "keep": {"mark": "$.mark"}, "quiet": 0.05}
    fault = await _fault(iter([ACCEPTED, listed]), poll)
    assert (type(fault), fault.reason) == (Unanswered, "bad-type")
    assert "a message is no object and has nothing at $.text: " in fault.detail


async def test_messages_may_be_texts() -> None:
    poll = {"each": "$.messages[*]", "id": "$", "quiet": 0.05}
    (reply,), _ = await _say(iter([ACCEPTED, *[_json({"messages": ["By the mill."]})] * 99]), poll, reply="$")
    assert reply.turn.answer.text == "By the mill."


@pytest.mark.parametrize(
    "receipt", [response("202 Accepted", "thanks", media_type="text/plain"), response("204 No Content", "")]
)
async def test_a_receipt_may_have_any_form_and_no_news_may_be_an_empty_answer(receipt: bytes) -> None:
    nothing = response("204 No Content", "")
    controls = response("200 OK", '{"state": "done", "out": "By the\tmill."}')
    (reply,), server = await _say(iter([receipt, nothing, nothing, controls]), UNTIL, reply="$.out", raw_controls=True)
    assert (reply.turn.answer.text, len(server.asked)) == ("By the\tmill.", 4)
    (reply,), server = await _say(iter([controls]), UNTIL, reply="$.out", raw_controls=True)
    assert (reply.turn.answer.text, len(server.asked)) == ("By the\tmill.", 1)


@pytest.mark.parametrize(
    "broken",
    [
        response("503 Service Unavailable", "no", "Retry-After: 0"),
        response("429 Too Many Requests", "no"),
        response("500 Internal Server Error", "no"),
        RUNNING[:-3],
        b"",
        b"garbage\r\n\r\n",
    ],
)
async def test_a_failed_poll_is_repeated_and_the_turn_is_not(broken: bytes) -> None:
    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answers.pop(0))
        if len(answers) in (2, 3):
            writer.close()

    answers = [ACCEPTED, broken, broken, RUNNING, DONE]
    async with serving(answering) as server:
        poll = {"url": f"{server.url}/look/{{{{ job }}}}", "every": 0.01, **UNTIL}
        options = {"url": server.url, "body": {"q": "{{ text }}"}, "timeout": 5, **JOB, "poll": poll}
        driver = build_driver("http", options, Surroundings("s", Path()))
        session = await driver.open(Opening("s", "M002", 1, 1))
        assert (await session.say("hello")).turn.answer.text == "By the mill."
        await driver.close()
    assert [asked.target for asked in server.asked] == ["/", *["/look/j1"] * 4]


@pytest.mark.parametrize(
    ("answers", "options", "kind", "reason"),
    [
        ([ACCEPTED, response("401 Unauthorized", "no")], {}, Denied, "http-401"),
        ([ACCEPTED, _json({"error": {"message": "gone"}})], {}, Unanswered, "system-error"),
        ([_json({"error": "no credit"})], {}, Unanswered, "system-error"),
        ([ACCEPTED, _json({"state": "failed"})], {"fail": {"$.state": "failed"}}, Unanswered, "system-error"),
        ([ACCEPTED, response("200 OK", "<html>")], {}, Unanswered, "bad-json"),
        ([ACCEPTED, _json({"state": "done"})], {}, Unanswered, "no-text"),
        ([ACCEPTED] + [RUNNING] * 99, {"timeout": 0.2}, Unanswered, "timeout"),
        ([ACCEPTED] + [response("502 Bad Gateway", "no")] * 5, {}, Unanswered, "http-502"),
        ([ACCEPTED] + [response("503 No", "no", "Retry-After: 0")] * 99, {"timeout": 0.2}, Unanswered, "http-503"),
        ([ACCEPTED] + [response("429 Busy", "no")] * 5, {}, Unanswered, "http-429"),
    ],
)
async def test_an_unanswered_turn_has_its_reason_and_all_messages(
    answers: list[bytes], options: dict[str, Any], kind: type[DriverError], reason: str
) -> None:
    fault = await _fault(iter(answers), UNTIL, **JOB, **options)
    assert (type(fault), fault.reason) == (kind, reason)
    assert fault.exhibits[-1].name == "polls"
    assert sum(exhibit.name == "response" for exhibit in fault.exhibits) == 1


async def test_a_job_without_a_name_is_not_mistaken_for_an_earlier_one() -> None:
    with pytest.raises(Unanswered, match=r"no-value: the answer has no value for \{\{ job \}\}"):
        await _say(
            iter([ACCEPTED, DONE, _json({"queued": True}), DONE]),
            {**UNTIL, "query": {"job": "{{ job }}"}},
            turns=2,
            **JOB,
        )


def _messages(*messages: tuple[str, str, str]) -> bytes:
    return _json({"m": [{"id": name, "by": by, "text": text} for name, by, text in messages]})


EACH: dict[str, Any] = {"each": "$.m[*]", "id": "$.id", "skip": {"$.by": "me"}, "quiet": 0.05}
OWN, BY, MILL = ("1", "me", "turn 0"), ("2", "bot", "By the mill."), ("3", "bot", "Or the weir.")
TWO = [OWN, BY, MILL]


@pytest.mark.parametrize("newest_first", [False, True])
async def test_messages_are_one_reply_until_it_is_quiet_and_are_read_once(newest_first: bool) -> None:
    turn = -1 if newest_first else 1
    late = [*TWO, ("4", "me", "turn 1"), ("5", "bot", "Again.")]
    second = [_messages(*late[::turn])] * 99
    answers = [_json({}), _messages(OWN), _messages(*TWO[:2][::turn]), *[_messages(*TWO[::turn])] * 3]

    def answering() -> Iterator[bytes]:
        yield from answers
        while True:
            yield _messages(*TWO[::turn]) if len(posts) < 2 else second.pop()

    posts: list[str] = []
    served = answering()

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.method == "POST":
            posts.append(asked.target)
            writer.write(next(served) if len(posts) == 1 else _json({}))
        else:
            writer.write(next(served))

    async with serving(serve) as server:
        poll = {"url": f"{server.url}/look", "every": 0.01, **EACH, "newest_first": newest_first}
        options = {"url": server.url, "body": {"q": "{{ text }}"}, "reply": "$.text", "poll": poll, "timeout": 5}
        driver = build_driver("http", options, Surroundings("s", Path()))
        session = await driver.open(Opening("s", "M002", 1, 1))
        first, after = [await session.say(text) for text in ("turn 0", "turn 1")]
        await driver.close()
    assert [first.turn.answer.text, after.turn.answer.text] == ["By the mill.\n\nOr the weir.", "Again."]
    assert [characters for _, characters in first.turn.pieces] == [12, 26]
    assert first.turn.first_seconds == first.turn.pieces[0][0]
    exhibits = {one.name: one.data for one in first.exhibits}
    assert list(exhibits) == ["headers", "response", "messages", "polls"]
    again = read_reply("http", {**options, "poll": {**poll}}, exhibits["messages"])
    assert again == first.turn.answer


async def test_a_late_message_is_not_mistaken_for_the_next_reply() -> None:
    late, other = ("4", "bot", "Sorry for the delay."), ("6", "bot", "Again.")
    said = [OWN, BY]

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.method == "POST" and len(said) > 2:
            said.extend([("5", "me", "turn 1"), other])
        writer.write(_messages(*said))

    async with serving(serve) as server:
        poll = {"url": f"{server.url}/look", "every": 0.01, **EACH}
        options = {"url": server.url, "body": {"q": "{{ text }}"}, "reply": "$.text", "poll": poll, "timeout": 5}
        driver = build_driver("http", options, Surroundings("s", Path()))
        session = await driver.open(Opening("s", "M002", 1, 1))
        first = await session.say("turn 0")
        said.append(late)
        second = await session.say("turn 1")
        await driver.close()
    assert [one.turn.answer.text for one in (first, second)] == ["By the mill.", "Again."]
    assert (first.turn.notes, second.turn.notes) == ((), (LATE_NOTE,))
    assert [json.loads(one.data)["text"] for one in second.exhibits if one.name == "late"] == ["Sorry for the delay."]


async def test_a_message_may_say_that_it_is_the_last_or_that_the_conversation_is_over() -> None:
    ends = [{"id": "2", "text": "By the mill.", "more": False}, {"id": "3", "text": "Or.", "over": True}]
    for last in ends:
        body = _json({"m": [{"id": "1", "text": "Well."}, last]})
        poll = {"each": "$.m[*]", "id": "$.id", "until": {"$.more": False}}
        (reply,), server = await _say(iter([_json({}), body]), poll, ended="$.over")
        assert reply.turn.answer.text == f"Well.\n\n{last['text']}"
        assert (reply.turn.ended, len(server.asked)) == ("over" in last, 2)


async def test_a_message_without_words_is_an_answer() -> None:
    body = _json({"m": [{"id": "1", "buttons": ["Yes"]}]})
    (reply,), _ = await _say(iter([_json({}), *[body] * 99]), EACH, reply="$.text", offers="$.buttons")
    assert (reply.turn.answer.text, [offer.title for offer in reply.turn.answer.offers]) == ("", ["Yes"])
    assert reply.turn.first_seconds is not None


async def test_an_inbox_is_not_quiet_while_nothing_can_be_received() -> None:
    unheard = [response("503 No", "no", "Retry-After: 0")] * 20
    answers = [_json({}), _messages(OWN, BY), *unheard, *[_messages(*TWO)] * 99]
    (reply,), _ = await _say(iter(answers), EACH)
    assert reply.turn.answer.text == "By the mill.\n\nOr the weir."


async def test_silence_is_not_an_answer() -> None:
    fault = await _fault(iter([_json({}), *[_messages(OWN)] * 99]), EACH, timeout=0.3)
    assert (type(fault), fault.reason) == (Unanswered, "timeout")


async def test_messages_without_an_id_are_identified_by_their_text() -> None:
    body = _json({"m": [{"by": "bot", "text": "By the mill."}, {"by": "bot", "text": "Or."}]})
    (reply,), _ = await _say(iter([_json({}), *[body] * 99]), EACH)
    assert reply.turn.answer.text == "By the mill.\n\nOr."


async def test_a_missing_greeting_is_a_fault_of_the_opening() -> None:
    fault = await _fault(iter([_messages()] * 99), EACH, greets=True, timeout=0.1)
    assert (type(fault), fault.reason) == (Unanswered, "timeout")
    assert fault.detail == "the greeting did not come: the reply was not complete after 0.1 s"


async def test_a_greeting_is_awaited_and_kept() -> None:
    hello = ("0", "bot", "Welcome!")
    answers = [_messages(), *[_messages(hello)] * 6]

    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.method == "POST":
            answers[:] = [_messages(hello, OWN, BY)]
            writer.write(_json({}))
        else:
            writer.write(answers.pop(0) if len(answers) > 1 else answers[0])

    async with serving(serve) as server:
        poll = {"url": f"{server.url}/look", "every": 0.01, **EACH}
        options = {"url": server.url, "body": {"q": "{{ text }}"}, "reply": "$.text", "poll": poll, "greets": True}
        driver = build_driver("http", {**options, "timeout": 5}, Surroundings("s", Path()))
        reply = await (await driver.open(Opening("s", "M002", 1, 1))).say("turn 0")
        await driver.close()
    assert reply.turn.answer.text == "By the mill."
    assert reply.turn.greeting == "Welcome!"
