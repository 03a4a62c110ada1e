"""A chat API like OpenAI's on 127.0.0.1, in a thread, so that programs in other processes can be audited."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tests.servers.threaded import QuietHandler, threaded

__all__ = ["Answerer", "chat_api"]

Answerer = Callable[[list[str]], tuple[str, str]]
"""From the user's turns so far to the answer and the name of the model that gave it."""


@contextmanager
def chat_api(
    answer: Answerer,
    port: int = 0,
    status: Callable[[], int] = lambda: 200,
    usage: Mapping[str, int] | None = None,
) -> Iterator[int]:
    """Yields the port it listens on, for as long as the context lasts; base_url is http://127.0.0.1:PORT/v1. status: of
    the reply to a request. usage: the tokens that each reply says it took."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, model = answer([one["content"] for one in asked["messages"] if one["role"] == "user"])
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            used = {"usage": dict(usage)} if usage else {}
            body = json.dumps({"model": model, "choices": [choice], **used}).encode()
            self.send_response(status())
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with threaded(Handler, port) as server:
        yield server.server_port
