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
from harvest.systems.driver import Denied, Opening, Surroundings, Unanswered
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
                asyncio.get_running_loop().call_later(0.02, self.tell, part, listener)
        else:
            writer.write(response("200 OK", json.dumps({"messages": self.messages})))

    def tell(self, part: str, listener: asyncio.StreamWriter) -> None:
        self.messages.append({"id": str(len(self.messages)), "text": part})
        self.announce(self, listener)


def announced(desk: Desk, listener: asyncio.StreamWriter) -> None:
    listener.write(b'data: {"new": true}\n\n')


async def converse(
    handler: Callable[[Asked, asyncio.StreamWriter], Any], turns: int = 1, **listen: Any
) -> tuple[list[str], LocalServer]:
    """The texts of the replies. Without an announcement, messages would be looked for after `timeout` alone."""
    async with serving(handler) as server:
        poll = {"url": f"{server.url}/look", "each": "$.messages[*]", "id": "$.id", "quiet": 0.3, "every": 30}
        poll["listen"] = {"url": f"{server.url}/listen", **listen}
        options = {"url": f"{server.url}/say", "body": {"q": "{{ text }}"}, "reply": "$.text", "timeout": 3}
        driver = build_driver("http", {**options, "poll": poll}, Surroundings("s", Path()))
        try:
            session = await driver.open(Opening("s", "M002", 1, 1))
            texts = [(await session.say(f"turn {n}")).turn.answer.text for n in range(turns)]
            await session.close()
            await driver.close()
            await server.idle()  # the stream is closed with the session
        finally:
            await driver.close()
    return texts, server


async def test_messages_are_fetched_when_they_are_announced() -> None:
    texts, server = await converse(Desk(announced), 3)
    assert texts == ["By the mill.\n\nIt is open."] * 3
    assert [asked.path for asked in server.asked].count("/listen") == 1


async def test_events_that_announce_nothing_fetch_nothing() -> None:
    with pytest.raises(Unanswered) as caught:
        await converse(Desk(announced), when="$.old")
    assert caught.value.reason == "timeout"


async def test_a_stream_that_breaks_off_loses_no_message() -> None:
    def broken(desk: Desk, listener: asyncio.StreamWriter) -> None:
        listener.close()

    assert (await converse(Desk(broken)))[0] == ["By the mill.\n\nIt is open."]


async def test_a_stream_that_is_refused_is_a_fault_of_the_options() -> None:
    async def refusing(asked: Asked, writer: asyncio.StreamWriter) -> None:
        gone = asked.path == "/listen"
        writer.write(response("404 Not Found" if gone else "200 OK", "{}"))

    with pytest.raises(Denied) as caught:
        await converse(refusing)
    assert re.match("http-404: the stream of announcements cannot be opened: ", str(caught.value))
