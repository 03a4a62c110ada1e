"""A page made with a kit of chat components from npm, and the server of its origin, which asks the back end.

    python -m tests.servers.kit_chat BACK_END NAME FOLDER [PORT]

NAME: of a script in `chat_kits`. FOLDER: where the bundles are. What the page asks stands in chat_kits/answer.js.
"""

from __future__ import annotations

import contextlib
import json
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.servers.asking import BackEndError, asked, pieces
from tests.servers.bundles import bundled
from tests.servers.deep_chat import Server

__all__ = ["KITS", "kits"]

KITS = ("assistant-ui", "chatscope")
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Assistant</title><link rel="icon" href="data:,">
<style>html, body, #root { height: 100%; margin: 0; font-family: sans-serif }</style></head>
<body><div id="root"></div><script src="/chat.js"></script></body></html>
"""


def kits() -> Path:
    """The folder with one script for each kit."""
    here = Path(__file__).parent
    return bundled(here / "chat_kits", here / "chat_kits.npm.txt")


class Handler(BaseHTTPRequestHandler):
    back_end: str
    script: bytes
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == "/chat.js":
            self.answer(200, self.script, "text/javascript; charset=utf-8")
        else:
            self.answer(200, PAGE.encode(), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with contextlib.suppress(ConnectionError):
            try:
                if self.path == "/stream":
                    self.stream(body["session"], body["text"])
                else:
                    bubbles = asked(self.back_end, body["session"], body["text"])
                    self.answer(200, json.dumps(bubbles).encode(), "application/json")
            except BackEndError as fault:
                if fault.broken:
                    self.close_connection = True
                else:
                    self.answer(fault.status if fault.status != 200 else 500, str(fault).encode())

    def stream(self, session: str, text: str) -> None:
        coming = pieces(self.back_end, session, text)
        piece = next(coming, None)  # a status other than 200 goes through as it is
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while piece is not None:
                self.line({"text": piece.text, "new": piece.new_bubble})
                piece = next(coming, None)
        except BackEndError as fault:
            if fault.broken:
                raise
            self.line({"error": str(fault)})
        self.wfile.write(b"0\r\n\r\n")

    def line(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode() + b"\n"
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def answer(self, status: int, body: bytes, media_type: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Quiet."""


def main() -> None:
    Handler.back_end, Handler.script = sys.argv[1], (Path(sys.argv[3]) / f"{sys.argv[2]}.js").read_bytes()
    port = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    with Server(("127.0.0.1", port), Handler) as server, contextlib.suppress(KeyboardInterrupt):
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
