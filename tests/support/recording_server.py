"""A server on 127.0.0.1, in a thread, that keeps every request whole, so that what is sent to whom can be looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from tests.servers.threaded import QuietHandler, threaded

__all__ = ["Recorder", "recording"]

_ANSWER = "Here is one: https://www.imdb.com/title/tt9000000001/"


@dataclass
class Recorder:
    """port: it listens there. requests: the Host that was asked for, and all that came."""

    port: int = 0
    requests: list[tuple[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sent(self, values: Mapping[str, str]) -> set[tuple[str, str]]:
        """The names of `values` whose value came, with the origin that each was sent to."""
        return {
            (name, f"http://{host}") for host, text in self.requests for name, value in values.items() if value in text
        }

    @property
    def hosts(self) -> set[str]:
        return {f"http://{host}" for host, _ in self.requests}


@contextmanager
def recording(words: str = _ANSWER) -> Iterator[Recorder]:
    """words: what it answers, as chat completions, and as `reply` and `id` of an API."""
    recorder = Recorder()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            whole = f"{self.path}\n{self.headers}\n{body}"
            recorder.requests.append((self.headers["Host"], f"{whole}\n{unquote_plus(whole)}"))
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}
            said = json.dumps({"choices": [choice], "reply": words, "id": "s1"}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_DELETE(self) -> None:
            self._answer()

    with threaded(Handler) as server:
        recorder.port = server.server_port
        yield recorder
