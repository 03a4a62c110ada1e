"""A page with n8n's chat widget in front of the back end: `python -m tests.servers.n8n_chat BACK_END FOLDER [PORT]`.

GET / is a shop with the widget behind its own round button, GET /whole the widget as a whole page. FOLDER: the widget's
files. Turns go by POST, and answers come whole.
"""

from __future__ import annotations

import contextlib
import json
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.servers.asking import BackEndError, asked
from tests.servers.deep_chat import Server

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css"></head>
<body><h1>Our shop</h1><p>Boats, nets and knots.</p><script type="module">
import {createChat} from "/chat.bundle.es.js";
const webhookUrl = `${location.origin}/webhook`;
createChat({webhookUrl, mode: "MODE", showWelcomeScreen: false, loadPreviousSession: false});
</script></body></html>
"""
TYPES = {".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript"}


class Handler(BaseHTTPRequestHandler):
    back_end: str
    folder: Path
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        file = self.folder / Path(path).name
        if path in ("/", "/whole"):
            mode = "window" if path == "/" else "fullscreen"
            self.answer(200, PAGE.replace("MODE", mode).encode(), "text/html; charset=utf-8")
        elif file.suffix in TYPES and file.is_file():
            self.answer(200, file.read_bytes(), f"{TYPES[file.suffix]}; charset=utf-8")
        else:
            self.answer(404, b"not here")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with contextlib.suppress(ConnectionError):
            try:
                bubbles = asked(self.back_end, body["sessionId"], body["chatInput"])
            except BackEndError as fault:
                self.answer(fault.status if fault.status != 200 else 500, json.dumps({"message": str(fault)}).encode())
            else:
                self.answer(200, json.dumps({"output": "\n\n".join(bubbles)}).encode(), "application/json")

    def answer(self, status: int, body: bytes, media_type: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Quiet."""


def main() -> None:
    Handler.back_end, Handler.folder = sys.argv[1], Path(sys.argv[2])
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with Server(("127.0.0.1", port), Handler) as server, contextlib.suppress(KeyboardInterrupt):
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
