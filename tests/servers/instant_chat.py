"""Chat completions that cost next to nothing: a server for measuring what its clients cost.

    python -m tests.servers.instant_chat [--latency SECONDS] [--unlike]         prints its port; ends with its input

It reads no more of a request than it must and answers with bytes that were made beforehand; connections are kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from itertools import count

__all__ = ["REPLY", "Chat", "answer", "serve"]

REPLY = "\n".join(
    [
        "Here are some people whose work on this is well known, and pages that say more about each of them:",
        "",
        *(
            f"{number}. A researcher of the field, who has published on the question for {10 + number} years and leads "
            f"a group at a university: https://example.org/people/{number}"
            for number in range(1, 8)
        ),
        "",
        "Tell me if you would like more of them, or only those who work in a certain country.",
    ]
)
"""About 190 words, with links as they are asked for."""


def answer(number: int) -> bytes:
    """A whole response, headers and body. number: what its id ends with."""
    body = {
        "id": f"chatcmpl-{number:012d}",
        "object": "chat.completion",
        "created": 1767225600,
        "model": "instant",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 60, "completion_tokens": 250, "total_tokens": 310},
    }
    data = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data)


class Chat(asyncio.Protocol):
    """One connection. latency: seconds before a reply. unlike: give each reply an id of its own."""

    _numbers = count(1)
    _same = answer(0)

    def __init__(self, latency: float = 0.0, *, unlike: bool = False) -> None:
        self._latency, self._unlike = latency, unlike
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        head, end, body = self._read.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return
        self._read = b""
        reply = answer(next(self._numbers)) if self._unlike else self._same
        if self._latency:
            asyncio.get_running_loop().call_later(self._latency, self._transport.write, reply)
        else:
            self._transport.write(reply)


def _length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0]) if found else 0


async def serve(latency: float, *, unlike: bool) -> None:
    """Serves on a free port of this machine, which is printed, until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Chat(latency, unlike=unlike), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--latency", type=float, default=0.0)
    options.add_argument("--unlike", action="store_true")
    asked = options.parse_args()
    asyncio.run(serve(asked.latency, unlike=asked.unlike))


if __name__ == "__main__":
    main()
