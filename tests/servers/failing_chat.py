"""Chat completions of which one request in so many fails, in every way that is over soon, and that logs the truth.

    python -m tests.servers.failing_chat LOG [--share 0.05] [--seed 1]      prints its port; ends with its input

POST …/chat/completions answers whole or streamed, as asked; a body with `session` is a conversation that is remembered.
An answer ends in a token of its own. LOG gets a line for each request, before anything is sent: time, what identifies
the trial (path, seed, first words), the token, how it fails ("" where it does not), and the tokens of the answers that
the client already has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.servers.faulty_chat import FAULTS
from tests.servers.local_http import Asked, chunk, response, serving

__all__ = ["CUT", "STREAMED", "TOKEN", "WHOLE", "FailingChat"]

TOKEN = re.compile(r"token-[0-9a-f]{8}\.$")
CUT = "cut"
"""The reply itself, cut at any byte."""
SOON = {
    *("rate", "rate_wait_ms", "error_500", "garbage", "silence", "half_head", "reset_before", "reset_after", "never"),
    *("short", "long", "bad_chunks", "half_chunks", "empty_body", "not_json", "web_page", "half_json", "null"),
    *("no_choices", "unfinished", "error_object", "not_utf8", "bad_gzip", "two_lengths"),
}
WHOLE = sorted(SOON)
STREAMED = sorted(
    {name for name, fault in FAULTS.items() if fault.stream and not fault.most}
    & {
        *("half_stream", "half_event", "empty_stream", "done_only", "role_only", "stream_reset", "ends_reset"),
        *("stream_not_utf8", "stream_not_json", "stream_error", "stream_error_event", "early_end", "page_for_stream"),
    }
)


class FailingChat:
    """log: a file descriptor, opened to append. share: of requests that fail."""

    def __init__(self, log: int, share: float, seed: int) -> None:
        self._log, self._share = log, share
        self._chances = random.Random(seed)
        self._number = 0
        self._sessions: defaultdict[str, list[str]] = defaultdict(list)

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        body = asked.json
        self._number += 1
        token = f"token-{self._number:08x}."
        if "session" in body:
            before, first = self._sessions[body["session"]], body["session"]
        else:
            before = [found[0] for one in body["messages"][1::2] if (found := TOKEN.search(one["content"]))]
            first = body["messages"][0]["content"]
        fault = self._fault(bool(body.get("stream")))
        trial = [asked.path, body.get("seed"), first]
        line = {"at": time.time(), "trial": trial, "token": token, "fault": fault, "before": list(before)}
        os.write(self._log, json.dumps(line).encode() + b"\n")
        text = f"Here is one: https://www.imdb.com/title/tt{self._number:07d}/ (of {len(before) + 1}) {token}"
        reply = _streamed(text) if body.get("stream") else _whole(text)
        if "session" in body and not fault.startswith("rate"):  # what was never taken is sent again
            before.append(token)
        if not fault:
            writer.write(reply)
            return
        if fault == CUT:
            writer.write(reply[: self._chances.randrange(len(reply))])
        elif isinstance(sends := FAULTS[fault].sends, bytes):
            writer.write(sends)
        else:
            await sends(writer)
        await writer.drain()
        writer.close()

    def _fault(self, stream: bool) -> str:
        if self._chances.random() >= self._share:
            return ""
        named = self._chances.choice(WHOLE + STREAMED if stream else WHOLE)
        return CUT if self._chances.random() < 0.3 else named


def _whole(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return response("200 OK", json.dumps({"choices": [choice]}))


def _streamed(text: str) -> bytes:
    pieces = [chunk(role="assistant", content="")]
    pieces += [chunk(content=text[start : start + 30]) for start in range(0, len(text), 30)]
    pieces += [chunk(finish_reason="stop"), b"data: [DONE]\n\n"]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces) + b"0\r\n\r\n"


async def serve(log: Path, share: float, seed: int) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    async with serving(FailingChat(descriptor, share, seed)) as server:
        print(server.url.rpartition(":")[2], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("log", type=Path)
    options.add_argument("--share", type=float, default=0.05)
    options.add_argument("--seed", type=int, default=1)
    given: Any = options.parse_args()
    asyncio.run(serve(given.log, given.share, given.seed))


if __name__ == "__main__":
    main()
