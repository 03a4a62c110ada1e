"""ALICE, a classic dialogue engine with 98,256 categories (python-aiml), as a program and as a web service.

    alice.py lines          one line in, one line out
    alice.py http PORT      POST /say {"session", "text"} -> {"answer"}; GET /chat?text=… with a cookie for a
                            session -> plain text; GET /ready. PORT 0: any; the port stands in the first line written

Loading takes about a second. Sessions are kept apart by the engine itself.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import uuid
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiml


def load() -> Any:
    kernel = aiml.Kernel()
    kernel.verbose(False)
    folder = Path(aiml.__file__).parent / "botdata" / "alice"
    gc.disable()  # none of her categories is garbage, and looking through them takes half the time
    for file in sorted(folder.glob("*.aiml")):
        kernel.learn(str(file))
    gc.freeze()
    gc.enable()
    kernel.setBotPredicate("name", "ALICE")
    random.seed(1)
    return kernel


class Handler(BaseHTTPRequestHandler):
    kernel: Any
    one_at_a_time = Lock()
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        session = cookies["visitor"].value if "visitor" in cookies else uuid.uuid4().hex
        text = parse_qs(parts.query).get("text", [""])[0]
        answer = "ready" if parts.path == "/ready" else self.respond(text, session)
        self.send("text/plain; charset=iso-8859-1", answer.encode("latin-1"), f"visitor={session}; Path=/; HttpOnly")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.respond(asked["text"], asked["session"])
        self.send("application/json", json.dumps({"answer": answer}).encode(), "")

    def respond(self, text: str, session: str) -> str:
        with self.one_at_a_time:
            return str(self.kernel.respond(text, session))

    def send(self, media_type: str, body: bytes, cookie: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Quiet."""


def main() -> None:
    kernel = load()
    if sys.argv[1] == "lines":
        for line in sys.stdin:
            print(" ".join(kernel.respond(line.strip(), "visitor").split()), flush=True)
        return
    Handler.kernel = kernel
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler) as server:
        server.daemon_threads = True
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
