"""A page with deep-chat, and the server of the same origin it talks to, which asks the back end.

    PYTHONPATH=tests python -m tests.servers.deep_chat BACK_END BUNDLE [PORT]

/ streams (server-sent events), /plain takes each reply whole, /socket speaks over a WebSocket; `?names` adds names
and avatars, `?greeting` a message before the first turn, `?starters` one with buttons, and `/plain?files` a button for
files. The chat lives in an open shadow root. Every load of a page
is a session of its own.
"""

from __future__ import annotations

import contextlib
import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.asking import BackEndError, asked, pieces, with_files
from tests.servers.local_http import Asked
from tests.servers.websocket import WebSocket, upgraded

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Assistant</title><script type="module" src="/deepChat.bundle.js"></script></head>
<body style="font-family: sans-serif">
<h1>Ask our assistant</h1>
<deep-chat id="chat" style="width: 700px; height: 560px; border: 1px solid #bbb"></deep-chat>
<script>
const session = "SESSION", mode = location.pathname.slice(1) || "stream", wanted = new URLSearchParams(location.search);
const chat = document.getElementById("chat");
const connect = {additionalBodyProps: {session}};
if (mode === "socket") {
  connect.url = `ws://${location.host}/chat/socket?session=${session}`;
  connect.websocket = true;
  connect.stream = {simulation: "END-OF-BUBBLE"};
} else {
  connect.url = `/chat/${mode}`;
  connect.method = "POST";
  connect.stream = mode === "stream";
}
customElements.whenDefined("deep-chat").then(() => {  // earlier, properties would hide those of the element
  if (wanted.has("names")) { chat.names = true; chat.avatars = true; }
  if (wanted.has("greeting")) chat.introMessage = {text: "Hello! What can I do for you?"};
  const starter = (text) => `<button class="deep-chat-button deep-chat-suggestion-button">${text}</button>`;
  const starters = ["What is on?", "Where are you?"].map(starter).join(" ");
  if (wanted.has("starters")) chat.introMessage = {html: `<p>Hello! Choose one, or write.</p>${starters}`};
  if (wanted.has("files")) chat.mixedFiles = true;
  chat.connect = connect;
});
</script>
</body>
</html>
"""


class Handler(BaseHTTPRequestHandler):
    back_end: str
    bundle: bytes
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path in ("/", "/plain", "/socket"):
            self.answer(200, PAGE.replace("SESSION", uuid.uuid4().hex).encode(), "text/html; charset=utf-8")
        elif path == "/deepChat.bundle.js":
            self.answer(200, self.bundle, "text/javascript; charset=utf-8")
        elif path == "/chat/socket":
            self.socket(upgraded(self), parse_qs(urlsplit(self.path).query)["session"][0])
        else:
            self.answer(404, b"not here")

    def do_POST(self) -> None:
        sent, kind = self.rfile.read(int(self.headers["Content-Length"])), self.headers["Content-Type"]
        if kind.startswith("multipart/"):
            parts = Asked("POST", self.path, {"content-type": kind}, sent).parts
            given = [
                (one.get_param("name", header="content-disposition"), one.get_payload(decode=True)) for one in parts
            ]
            fields = {name: data for name, data in given if isinstance(data, bytes)}
            files = [data for name, data in given if name == "files" and isinstance(data, bytes)]
            text = json.loads(fields["message1"])["text"] if "message1" in fields else ""
            session, text = fields["session"].decode(), with_files(text, files)
        else:
            body = json.loads(sent)
            session, text = body["session"], body["messages"][-1]["text"]
        with contextlib.suppress(ConnectionError):
            try:
                (self.stream if self.path == "/chat/stream" else self.plain)(session, text)
            except BackEndError as fault:
                if fault.broken:
                    self.close_connection = True
                else:
                    self.answer(fault.status, json.dumps({"error": str(fault)}).encode(), "application/json")

    def plain(self, session: str, text: str) -> None:
        bubbles = [{"text": bubble} for bubble in asked(self.back_end, session, text)] or [{"text": ""}]
        self.answer(200, json.dumps(bubbles).encode(), "application/json")

    def stream(self, session: str, text: str) -> None:
        coming = pieces(self.back_end, session, text)
        try:
            first = next(coming, None)  # a status other than 200 goes through as it is
        except BackEndError as fault:
            if fault.status != 200:
                raise
            first = None
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        bubble = 0
        try:
            while first is not None:
                bubble += first.new_bubble
                # deep-chat begins a further bubble in a stream where the role changes.
                self.event({"text": first.text, "role": ("ai", "assistant")[bubble % 2]})
                first = next(coming, None)
        except BackEndError as fault:
            if fault.broken:
                raise
            self.event({"error": str(fault)})
        self.wfile.write(b"0\r\n\r\n")

    def socket(self, socket: WebSocket, session: str) -> None:
        with contextlib.suppress(ConnectionError):
            while (message := socket.receive()) is not None:
                body = json.loads(message)
                body = json.loads(body) if isinstance(body, str) else body
                try:
                    for piece in pieces(self.back_end, session, body["messages"][-1]["text"]):
                        if piece.new_bubble:
                            socket.send(json.dumps({"text": "END-OF-BUBBLE"}))
                        socket.send(json.dumps({"text": piece.text}))
                except BackEndError as fault:
                    if fault.broken:
                        return
                    socket.send(json.dumps({"error": str(fault)}))
                else:
                    socket.send(json.dumps({"text": "END-OF-BUBBLE"}))

    def event(self, value: dict[str, Any]) -> None:
        data = b"data: " + json.dumps(value).encode() + b"\n\n"
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def answer(self, status: int, body: bytes, media_type: str = "text/plain") -> None:
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
    Handler.back_end, Handler.bundle = sys.argv[1], Path(sys.argv[2]).read_bytes()
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with Server(("127.0.0.1", port), Handler) as server, contextlib.suppress(KeyboardInterrupt):
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
