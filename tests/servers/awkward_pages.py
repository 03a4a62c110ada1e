"""Serves the awkward chat pages beside this file (pages/), and the truth about what it said.

    PYTHONPATH=tests python -m tests.servers.awkward_pages [PORT]

GET /NAME is a page, for every name in `page_replies.PAGES`; GET /truth as of the scenario server. PORT 0 (the default):
any; it stands in the first line written. A second port, any, serves the same pages as another origin.
"""

from __future__ import annotations

import contextlib
import html
import json
import queue
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from tests.servers.page_parts import part
from tests.servers.page_replies import PAGES, PageReply, reply_of
from tests.servers.scenario import Server
from tests.servers.websocket import upgraded

FOLDER = Path(__file__).parent / "pages"
LOG = '<main><div class="log" role="log"></div></main>'
COMPOSER = (
    '<form><textarea class="box" aria-label="Message" placeholder="Message"></textarea><button>Send</button></form>'
)
FRAME = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="stylesheet" href="/style.css">
<link rel="icon" href="data:,"><script src="/chat.js"></script></head>
<body>
{body}</body></html>
"""
PIECE = 20
PACE = 0.015

Event = dict[str, Any]


class Turn:
    """One turn, and how its reply went."""

    def __init__(self, page: str, session: str, turn: int, text: str) -> None:
        self.page, self.session, self.turn, self.text = page, session, turn, text
        self.reply: PageReply = reply_of(page, turn, text)
        self.asked = time.time()
        self.pieces: list[tuple[float, int]] = []
        self.outcome = "complete" if self.reply.status == 200 else "error"

    def line(self) -> str:
        links = [{"text": text, "href": href} for text, href in self.reply.links]
        last = self.pieces[-1][0] if self.pieces else None
        return json.dumps(
            {
                **{name: getattr(self, name) for name in ("session", "turn", "text", "asked", "pieces", "outcome")},
                "kind": self.page,
                "way": "page",
                "token": "",
                "bubbles": self.reply.bubbles,
                "answer": self.reply.markdown,
                "links": links,
                "last": last,
                "ended": time.time(),
            }
        )


class State:
    """What all requests share. turns: of each session. mail: what waits for a session that polls or listens."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.turns: dict[str, list[Turn]] = defaultdict(list)
        self.truth: list[str] = []
        self.mail: dict[str, queue.Queue[Event]] = defaultdict(queue.Queue)

    def take(self, page: str, session: str, text: str) -> Turn:
        with self.lock:
            turn = Turn(page, session, len(self.turns[session]) + 1, text)
            self.turns[session].append(turn)
        return turn

    def deliver(self, turn: Turn, emit: Callable[[Event], object]) -> None:
        """Hand the reply over, piece by piece; a ConnectionError of `emit` ends it. What was said is truth then."""
        whole = sum(map(len, turn.reply.bubbles))
        sent, paused = 0, False
        try:
            time.sleep(turn.reply.first)
            for number, bubble in enumerate(turn.reply.bubbles):
                if number:
                    time.sleep(turn.reply.pause)
                for start in range(0, len(bubble), PIECE):
                    if sent >= whole // 2 and turn.reply.broken:
                        turn.outcome = "broken"
                        return
                    if sent >= whole // 2 and not paused and len(turn.reply.bubbles) == 1:
                        paused = True
                        time.sleep(turn.reply.pause)
                    emit({"bubble": number, "html": bubble[start : start + PIECE]})
                    sent += len(bubble[start : start + PIECE])
                    turn.pieces.append((time.time(), sent))
                    time.sleep(PACE)
        except ConnectionError:
            turn.outcome = "gone"
        finally:
            with self.lock:
                self.truth.append(turn.line())


class Handler(BaseHTTPRequestHandler):
    state: State
    others: ClassVar[dict[int, str]] = {}
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        way, _, page = parts.path.strip("/").partition("/")
        query = parse_qs(parts.query)
        session = query.get("session", [uuid.uuid4().hex])[0]
        with contextlib.suppress(ConnectionError):
            if way in PAGES:
                self.answer(200, self.page(way, session), "text/html; charset=utf-8")
            elif way in ("chat.js", "layouts.js", "style.css"):
                media_type = "text/css" if way == "style.css" else "text/javascript"
                self.answer(200, (FOLDER / way).read_text(encoding="utf-8"), f"{media_type}; charset=utf-8")
            elif way == "parts-of-others":
                media_type = "text/css" if page.endswith(".css") else "text/javascript"
                self.answer(200, (part(page) or b"").decode(), f"{media_type}; charset=utf-8")
            elif way == "truth":
                after = int(query.get("after", ["0"])[0])
                self.answer(200, "".join(f"{line}\n" for line in self.state.truth[after:]), "application/jsonl")
            elif way == "poll":
                self.poll(session)
            elif way == "parts":
                self.parts(session)
            elif way == "listen":
                self.listen(session)
            elif way == "events":
                self.events(session)
            elif way == "socket":
                self.socket(page, session)
            else:
                self.answer(404, "not here")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        way, _, page = self.path.strip("/").partition("/")
        with contextlib.suppress(ConnectionError):
            if way in ("reloading", "redirecting", "lost-turn"):
                form = parse_qs(body)
                session = form["session"][0]
                turn = self.state.take(way, session, form["text"][0])
                self.state.deliver(turn, lambda event: None)
                if way != "redirecting":
                    self.answer(200, self.page(way, session), "text/html; charset=utf-8")
                else:
                    self.answer(303, "", location=f"/{way}?session={session}")
                return
            asked = json.loads(body)
            turn = self.state.take(page, asked["session"], asked["text"])
            if turn.reply.status != 200:
                self.state.deliver(turn, lambda event: None)
                self.answer(turn.reply.status, turn.reply.bubbles[0])
            elif way == "stream":
                self.stream(turn)
            elif way == "say":
                self.state.deliver(turn, lambda event: None)
                self.answer(200, json.dumps({"bubbles": turn.reply.bubbles}), "application/json")
            else:
                threading.Thread(target=self.post, args=(turn,), daemon=True).start()
                self.answer(202, "")

    def page(self, name: str, session: str) -> str:
        with self.state.lock:
            turns = list(self.state.turns.get(session, ()))
        history = "".join(
            f'<div class="bubble user">{html.escape(turn.text)}</div><div class="bubble bot">{bubble}</div>\n'
            for turn in turns
            if PAGES[name][turn.turn - 1 : turn.turn] != ("lost",)
            for bubble in turn.reply.bubbles
        )
        body = (FOLDER / f"{'layout' if name.startswith('layout-') else name}.html").read_text(encoding="utf-8")
        filled = {
            "{{log}}": LOG,
            "{{composer}}": COMPOSER,
            "{{history}}": f'<main><div class="log">{history}</div></main>',
            "{{session}}": session,
            "{{other}}": self.others[self.connection.getsockname()[1]],
        }
        for mark, value in filled.items():
            body = body.replace(mark, value)
        return FRAME.format(title=f"Assistant ({name})", body=body)

    def stream(self, turn: Turn) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.state.deliver(turn, lambda event: self.chunk(json.dumps(event) + "\n"))
        if turn.outcome == "complete":
            self.chunk("")
        else:
            self.close_connection = True

    def post(self, turn: Turn) -> None:
        mail = self.state.mail[turn.session]
        self.state.deliver(turn, mail.put)
        mail.put({"done": True})

    def poll(self, session: str) -> None:
        bubbles: dict[int, str] = defaultdict(str)
        with contextlib.suppress(queue.Empty):
            while not (event := self.state.mail[session].get(timeout=20)).get("done"):
                bubbles[event["bubble"]] += event["html"]
        said = [{"bubbles": list(bubbles.values())}] if bubbles else []
        self.answer(200, json.dumps(said), "application/json")

    def parts(self, session: str) -> None:
        """What has come since the last time, without waiting for more."""
        events = []
        with contextlib.suppress(queue.Empty):
            while True:
                events.append(self.state.mail[session].get_nowait())
        self.answer(200, json.dumps(events), "application/json")

    def listen(self, session: str) -> None:
        socket = upgraded(self)
        with contextlib.suppress(queue.Empty):
            while True:
                socket.send(json.dumps(self.state.mail[session].get(timeout=60)))

    def events(self, session: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            try:
                self.chunk(f"data: {json.dumps(self.state.mail[session].get(timeout=5))}\n\n")
            except queue.Empty:
                self.chunk(": still here\n\n")

    def socket(self, page: str, session: str) -> None:
        socket = upgraded(self)
        while (message := socket.receive()) is not None:
            turn = self.state.take(page, session, json.loads(message)["text"])
            self.state.deliver(turn, lambda event: socket.send(json.dumps(event)))
            socket.send(json.dumps({"done": True}))

    def chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def answer(
        self, status: int, text: str, media_type: str = "text/plain; charset=utf-8", *, location: str = ""
    ) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Quiet."""


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    Handler.state = State()
    with Server(("127.0.0.1", port), Handler) as server, Server(("127.0.0.1", 0), Handler) as second:
        ports = (server.server_address[1], second.server_address[1])
        for one, another in (ports, ports[::-1]):
            Handler.others[one] = f"http://127.0.0.1:{another}"
        threading.Thread(target=second.serve_forever, daemon=True).start()
        print(ports[0], flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
