"""Announcements: what is fetched when something is announced, and what happens if nothing is."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Opening, Reply, Surroundings, Unanswered
from tests.servers.local_http import Asked, LocalServer, response, serving

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Desk:
    """A server that answers each turn with two messages, and announces each as `announce` says."""

    def __init__(self, announce: Callable[[Desk, asyncio.StreamWriter], None]) -> None:
        self.announce, self.listener = announce, asyncio.Future[asyncio.StreamWriter]()
        self.messages: list[dict[str, Any]] = []

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/listen":
            writer.write(STREAM + b"data: ping\n\n")
            self.listener.set_result(writer)
            await asyncio.Event().wait()
        elif asked.path == "/say":
            writer.write(response("202 Accepted", "{}"))
            listener = await self.listener
            for part in ("By the mill.", "It is open."):
                asyncio.get_running_loop().call_later(0.05, self.tell, part, listener)
        else:
            writer.write(response("200 OK", json.dumps({"messages": self.messages})))

    def tell(self, part: str, listener: asyncio.StreamWriter) -> None:
        self.messages.append({"id": str(len(self.messages)), "text": part})
        self.announce(self, listener)


def announced(desk: Desk, listener: asyncio.StreamWriter) -> None:
    listener.write(b'data: {"new": true}\n\n')


async def converse(
    handler: Callable[[Asked, asyncio.StreamWriter], Any], turns: int = 1, **listen: Any
) -> tuple[list[Reply], LocalServer]:
    """The replies. Without an announcement, messages would be looked for after `timeout` alone."""
    async with serving(handler) as server:
        poll = {"url": f"{server.url}/look", "each": "$.messages[*]", "id": "$.id", "quiet": 0.3, "every": 30}
        poll["listen"] = {"url": f"{server.url}/listen", **listen}
        options = {"url": f"{server.url}/say", "body": {"q": "{{ text }}"}, "reply": "$.text", "timeout": 3}
        driver = build_driver("http", {**options, "poll": poll}, Surroundings("s", Path()))
        try:
            session = await driver.open(Opening("s", "M002", 1, 1))
            replies = [await session.say(f"turn {n}") for n in range(turns)]
            await session.close()
            await driver.close()
            await server.idle()  # the stream is closed with the session
        finally:
            await driver.close()
    return replies, server


def texts(replies: list[Reply]) -> list[str]:
    return [reply.turn.answer.text for reply in replies]


async def test_messages_are_fetched_when_they_are_announced() -> None:
    replies, server = await converse(Desk(announced), 3)
    assert texts(replies) == ["By the mill.\n\nIt is open."] * 3
    assert [asked.path for asked in server.asked].count("/listen") == 1


async def test_an_event_may_show_when_a_reply_begins() -> None:
    """As Botpress streams text before it is a message."""
    fetched = 0

    class Streaming(Desk):
        async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
            nonlocal fetched
            if asked.path == "/say":
                listener = await self.listener
                asyncio.get_running_loop().call_later(0.01, listener.write, b'data: {"delta": "By"}\n\n' * 5)
            fetched += asked.path == "/look"
            await super().__call__(asked, writer)

    (reply,), _ = await converse(Streaming(announced), begins="$.delta")
    assert texts([reply]) == ["By the mill.\n\nIt is open."]
    assert reply.turn.first_seconds is not None
    assert reply.turn.first_seconds < reply.turn.pieces[0][0]
    assert fetched <= 5  # for the receipt, two messages and the silence after them, and not for each piece


async def test_events_that_announce_nothing_fetch_nothing() -> None:
    with pytest.raises(Unanswered) as caught:
        await converse(Desk(announced), when="$.old")
    assert caught.value.reason == "timeout"


async def test_a_stream_that_breaks_off_loses_no_message() -> None:
    def broken(desk: Desk, listener: asyncio.StreamWriter) -> None:
        listener.close()

    assert texts((await converse(Desk(broken)))[0]) == ["By the mill.\n\nIt is open."]


async def test_a_stream_that_is_refused_is_a_fault_of_the_options() -> None:
    async def refusing(asked: Asked, writer: asyncio.StreamWriter) -> None:
        gone = asked.path == "/listen"
        writer.write(response("404 Not Found" if gone else "200 OK", "{}"))

    with pytest.raises(Denied) as caught:
        await converse(refusing)
    assert re.match("http-404: the stream of announcements cannot be opened: ", str(caught.value))
