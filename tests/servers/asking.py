"""How the chat interfaces of the tests ask the back end: the same for each, with nothing but the standard library, as
each interface lives in an environment of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

__all__ = ["BackEndError", "Piece", "asked", "pieces", "pieces_beside", "with_files"]


def with_files(text: str, files: Iterable[bytes]) -> str:
    """A turn as the back end is told of it: its words, and the beginning of the digest of each of its files."""
    return " ".join([text, *(f"[{hashlib.sha256(data).hexdigest()[:8]}]" for data in files)])


class BackEndError(Exception):
    """The back end reported an error, or its reply broke off. status: of the HTTP response, 200 within a stream."""

    def __init__(self, message: str, status: int = 200, broken: bool = False) -> None:
        super().__init__(message)
        self.status, self.broken = status, broken


@dataclass(frozen=True, slots=True)
class Piece:
    """Text to add to the newest bubble; new_bubble: it opens a further one first."""

    text: str
    new_bubble: bool = False


def pieces(back_end: str, session: str, text: str) -> Iterator[Piece]:
    """The reply in pieces, each when it comes. Raises BackEndError."""
    connection, response = _post(back_end, "/stream", session, text)
    try:
        new_bubble = False
        while line := response.readline():
            data = line.decode().strip().removeprefix("data: ")
            if data == "[DONE]":
                return
            if not data:
                continue
            event = json.loads(data)
            if "error" in event:
                raise BackEndError(str(event["error"]))
            if "text" in event:
                yield Piece(event["text"], new_bubble)
            new_bubble = bool(event.get("bubble"))
        raise BackEndError("the reply broke off", broken=True)
    except (http.client.HTTPException, OSError) as fault:
        raise BackEndError("the reply broke off", broken=True) from fault
    finally:
        connection.close()


async def pieces_beside(back_end: str, session: str, text: str) -> AsyncIterator[Piece]:
    """The same for a server with an event loop, which goes on while the back end is waited for. Raises BackEndError."""
    coming = pieces(back_end, session, text)
    while (piece := await asyncio.to_thread(next, coming, None)) is not None:
        yield piece


def asked(back_end: str, session: str, text: str) -> list[str]:
    """The whole reply, one text for each bubble. Raises BackEndError."""
    connection, response = _post(back_end, "/say", session, text)
    try:
        answer: dict[str, Any] = json.loads(response.read())
    except (http.client.HTTPException, OSError, ValueError) as fault:
        raise BackEndError("the reply broke off", broken=True) from fault
    finally:
        connection.close()
    return [str(bubble) for bubble in answer["bubbles"]]


def _post(
    back_end: str, path: str, session: str, text: str
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(urlsplit(back_end).netloc, timeout=120)
    try:
        connection.request("POST", path, json.dumps({"session": session, "text": text}).encode())
        response = connection.getresponse()
    except (http.client.HTTPException, OSError) as fault:
        connection.close()
        raise BackEndError(f"the back end is not there: {fault}", 502) from fault
    if response.status != 200:
        message = response.read().decode(errors="replace").strip()
        connection.close()
        raise BackEndError(message, response.status)
    return connection, response
