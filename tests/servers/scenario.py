"""A chat system that does what its users wish and writes down the truth: what it said, and when each piece left.

    PYTHONPATH=tests python -m tests.servers.scenario [PORT] [scenario|alice]

POST /say {"session", "text"}     -> {"answer": Markdown, "bubbles": [Markdown, …]}, once the whole reply is there
POST /stream {"session", "text"}  -> server-sent events: {"text": piece}, {"bubble": true} before a further bubble,
                                     {"error": text}, and [DONE] last; without [DONE] the reply is not whole
GET /truth[?after=N]              -> one JSON object per line for each turn that has ended, from the N-th on
GET /ready                        -> ready

PORT 0 (the default): any; it stands in the first line written. What a turn can wish for stands in `wishes`; other
turns get a `listing`. With `alice` every turn is answered by ALICE instead, cut into the same pieces. Neither depends
on anything but the turns of the session, so the same conversation gets the same replies over every way in.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.listings import listing
from tests.servers.wished_replies import bubbles_for
from tests.servers.wishes import Wish, wish_in
from topics.links import links_in

BETWEEN_BUBBLES = "\n\n"


@dataclass
class Turn:
    """One reply as it was meant, and as it went. pieces: (time.time(), characters sent so far), the last is the end of
    the text. outcome: complete, error, broken (the connection was closed on purpose), gone (by the other side)."""

    session: str
    turn: int
    text: str
    kind: str
    way: str
    token: str
    wish: Wish
    bubbles: tuple[str, ...]
    asked: float
    pieces: list[tuple[float, int]] = field(default_factory=list)
    outcome: str = "complete"

    @property
    def answer(self) -> str:
        return BETWEEN_BUBBLES.join(self.bubbles)

    def sent(self, characters: int) -> None:
        before = self.pieces[-1][1] if self.pieces else 0
        self.pieces.append((time.time(), before + characters))

    def line(self) -> str:
        links = [{"text": link.text, "href": link.href} for link in links_in(self.answer)]
        last = self.pieces[-1][0] if self.pieces else None
        kept = ("session", "turn", "text", "kind", "way", "token", "bubbles", "asked", "pieces", "outcome")
        values = {name: getattr(self, name) for name in kept}
        return json.dumps({**values, "answer": self.answer, "links": links, "last": last, "ended": time.time()})


class System:
    """The sessions, what was said in each, and the truth about every turn that has ended."""

    def __init__(self, alice: Any = None) -> None:
        self.alice = alice
        self.one_at_a_time = Lock()
        self.turns: dict[str, list[str]] = defaultdict(list)
        self.truth: list[str] = []

    def take(self, session: str, text: str, way: str) -> Turn:
        asked = time.time()
        with self.one_at_a_time:
            self.turns[session].append(text)
            turns = list(self.turns[session])
            wish = None if self.alice else wish_in(text)
            # A wish for the same thing twice gets two tokens; a list must be the same in every session.
            mark = "\x00".join([*turns, session] if wish else turns)
            token = hashlib.sha256(mark.encode("utf-8", "replace")).hexdigest()[:8]
            if wish:
                bubbles = bubbles_for(wish, text, token)
            elif self.alice:
                random.seed(token)  # the engine chooses among its phrases by the module's generator
                bubbles = (str(self.alice.respond(text, session)),)
            else:
                bubbles = (listing(turns, token),)
        kind = wish.kind if wish else "alice" if self.alice else "listing"
        wish = wish or Wish(kind, first=0.05, pace=0.002, piece=24)
        return Turn(session, len(turns), text, kind, way, token, wish, tuple(b for b in bubbles if b), asked)

    def over(self, turn: Turn) -> None:
        line = turn.line()
        with self.one_at_a_time:
            self.truth.append(line)


class Handler(BaseHTTPRequestHandler):
    system: System
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/truth":
            after = int(parse_qs(parts.query).get("after", ["0"])[0])
            self.answer(200, "".join(f"{line}\n" for line in self.system.truth[after:]), "application/jsonl")
        else:
            self.answer(200 if parts.path == "/ready" else 404, "ready\n" if parts.path == "/ready" else "not here\n")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            turn = self.system.take(str(asked["session"]), str(asked["text"]), self.path.strip("/"))
        except ValueError as unknown:
            self.answer(400, f"{unknown}\n")
            return
        try:
            (self.stream if self.path == "/stream" else self.say)(turn)
        except ConnectionError:
            turn.outcome = "gone" if turn.outcome == "complete" else turn.outcome
            self.close_connection = True
        finally:
            self.system.over(turn)

    def say(self, turn: Turn) -> None:
        wish = turn.wish
        time.sleep(wish.first + wish.pause * wish.pauses)
        if turn.kind == "error" or wish.error:
            self.fail(turn)
            return
        body = json.dumps({"answer": turn.answer, "bubbles": turn.bubbles}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if wish.broken:
            self.wfile.write(body[: len(body) // 2])
            turn.sent(len(turn.answer) // 2)
            self.hang_up(turn)
        else:
            self.wfile.write(body)
            turn.sent(len(turn.answer))

    def stream(self, turn: Turn) -> None:
        wish = turn.wish
        if turn.kind == "error":
            time.sleep(wish.first)
            self.fail(turn)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        time.sleep(wish.first)
        whole, sent = sum(map(len, turn.bubbles)), 0
        stops = [whole * (i + 1) // (wish.pauses + 1) for i in range(wish.pauses if wish.pause else 0)]
        for number, bubble in enumerate(turn.bubbles):
            if number:
                time.sleep(wish.pause if turn.kind == "bubbles" else 0)
                self.event({"bubble": True})
            for start in range(0, len(bubble), wish.piece):
                if (wish.broken or wish.error) and sent >= whole // 2:
                    self.give_up(turn)
                    return
                while stops and sent >= stops[0] and turn.kind != "bubbles":
                    del stops[0]
                    time.sleep(wish.pause)
                piece = bubble[start : start + wish.piece]
                self.event({"text": piece})
                sent += len(piece)
                turn.sent(len(piece))
                time.sleep(wish.pace)
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def give_up(self, turn: Turn) -> None:
        if turn.wish.broken:
            self.hang_up(turn)
            return
        turn.outcome = "error"
        self.event({"error": "The model is not available at the moment."})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def hang_up(self, turn: Turn) -> None:
        turn.outcome = "broken"
        self.close_connection = True

    def fail(self, turn: Turn) -> None:
        turn.outcome = "error"
        self.answer(turn.wish.status, "The model is not available at the moment.\n")

    def event(self, value: dict[str, Any]) -> None:
        self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def answer(self, status: int, text: str, media_type: str = "text/plain; charset=utf-8") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    kernel = None
    if sys.argv[2:] == ["alice"]:
        from tests.servers.alice import load

        kernel = load()
    Handler.system = System(kernel)
    with Server(("127.0.0.1", port), Handler) as server, contextlib.suppress(KeyboardInterrupt):
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
