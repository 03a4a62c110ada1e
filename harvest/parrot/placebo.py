"""A placebo: a system with known answers, so that any difference in the recording is a fault of the harness.

The placebo serves a chat page and an OpenAI-compatible API on this machine, so it is read by the same browser, wire
and recording as a system under audit. An answer depends only on the user's turns in the session. The answer is a list
of addresses between two lines, with a code that no other answer has.
"""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from topics.identity import content_hash

# The drivers that a placebo can be read through.
DRIVERS = ("browser", "openai")

_LARGEST_REQUEST = 2**20  # bytes of a request

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Placebo</title>
<style>
  .log { height: 420px; overflow: auto; } .turn { white-space: pre-wrap; margin: 8px; } .user { text-align: right; }
</style>
<main>
  <div class="log" role="log"></div>
  <form><textarea aria-label="Your message" rows="2" cols="60"></textarea><button>Send</button></form>
</main>
<script>
const session = Math.random().toString(36).slice(2) + Date.now(), log = document.querySelector(".log");
const box = document.querySelector("textarea"), button = document.querySelector("button");
function bubble(kind) {
  const turn = document.createElement("div");
  turn.className = `turn ${kind}`;
  log.append(turn);
  return turn;
}
async function submit() {
  const text = box.value.trim();
  if (!text || button.disabled) return;
  box.value = "";
  button.disabled = true;
  bubble("user").textContent = text;
  const reply = await fetch("/say", {method: "POST", body: JSON.stringify({session, text})});
  const lines = (await reply.json()).text.split("\\n"), turn = bubble("bot");
  for (const [at, line] of lines.entries()) {
    if (at) turn.append("\\n");
    const [before, address] = line.split(/(?=https:)/);
    turn.append(before);
    if (address) turn.append(Object.assign(document.createElement("a"), {href: address, textContent: address}));
    await new Promise((done) => setTimeout(done, 30));
  }
  button.disabled = false;
}
document.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
</script>
</html>
"""


def placebo_answer(said: Sequence[str]) -> str:
    """Return the answer to the last of a session's user turns. White space around and between words has no effect on
    the answer, because a page may change white space."""
    code = content_hash("placebo", [" ".join(text.split()) for text in said])
    items = 1 + int(code[:4], 16) % 5
    lines = [
        f"{number}. Number {code[number : number + 6]}: https://example.org/{code[:8]}/{number}"
        for number in range(1, items + 1)
    ]
    return "\n".join([f"Answer {code[:8]} to turn {len(said)}:", *lines, f"That was answer {code[:8]}."])


class Placebo:
    """A running placebo. `url` is its address, and `heard` has the user turns of each session of the page, in order. A
    request to the API contains all turns, so the API records none."""

    def __init__(self) -> None:
        self.url = ""
        self.heard: defaultdict[str, list[str]] = defaultdict(list)

    def say(self, session: str, text: str) -> str:
        """Return the answer to one turn on the page."""
        self.heard[session].append(text)
        return placebo_answer(self.heard[session])


@contextmanager
def placebo_server() -> Iterator[Placebo]:
    """Serve a placebo on 127.0.0.1 for the duration of the block."""
    placebo = Placebo()

    class Handler(_Handler):
        served = placebo

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        placebo.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield placebo
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    served: Placebo
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/":
            self._send(200, "text/html; charset=utf-8", _PAGE.encode())
        else:
            self._send(404, "text/plain", b"")

    def do_POST(self) -> None:
        try:
            size = int(self.headers.get("Content-Length") or 0)
            asked = json.loads(self.rfile.read(size) if 0 <= size <= _LARGEST_REQUEST else b"")
            if self.path == "/say":
                body = {"text": self.served.say(str(asked["session"]), str(asked["text"]))}
            elif self.path == "/v1/chat/completions":
                said = [str(one["content"]) for one in asked["messages"] if one["role"] == "user"]
                if asked.get("stream"):
                    self._stream(placebo_answer(said))
                    return
                body = _completion({"message": {"role": "assistant", "content": placebo_answer(said)}})
            else:
                self._send(404, "text/plain", b"")
                return
        except (ValueError, LookupError, TypeError, AttributeError):
            self._send(400, "text/plain", b"")
            return
        self._send(200, "application/json", json.dumps(body).encode())

    def _stream(self, text: str) -> None:
        pieces: list[dict[str, Any]] = [
            {"delta": {"content": line}, "finish_reason": None} for line in text.splitlines(keepends=True)
        ]
        events = [_completion(piece) for piece in (*pieces, {"delta": {}, "finish_reason": "stop"})]
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        self._send(200, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

    def _send(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _completion(choice: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": "placebo", "choices": [{"index": 0, "finish_reason": "stop", **choice}]}
