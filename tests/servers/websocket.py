"""The server's side of a WebSocket, for text messages: all that the pages of the tests need of RFC 6455."""

from __future__ import annotations

import base64
import hashlib
import struct
from http.server import BaseHTTPRequestHandler
from threading import Lock

__all__ = ["WebSocket", "upgraded"]

_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class WebSocket:
    """One connection; `send` may be called from several threads."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._read, self._write = handler.rfile, handler.wfile
        self._sending = Lock()

    def receive(self) -> str | None:
        """The next text; None once the other side has closed."""
        message = b""
        while True:
            head = self._read.read(2)
            if len(head) < 2:
                return None
            size = head[1] & 0x7F
            if size > 125:
                size = int.from_bytes(self._read.read(2 if size == 126 else 8))
            mask = self._read.read(4)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self._read.read(size)))
            kind = head[0] & 0x0F
            if kind == _CLOSE:
                self._frame(_CLOSE, data[:2])
                return None
            if kind == _PING:
                self._frame(_PONG, data)
            elif kind != _PONG:
                message += data
                if head[0] & 0x80:
                    return message.decode()

    def send(self, text: str) -> None:
        self._frame(_TEXT, text.encode())

    def _frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = bytes((0x80 | kind, size))
        elif size < 65_536:
            head = bytes((0x80 | kind, 126)) + struct.pack("!H", size)
        else:
            head = bytes((0x80 | kind, 127)) + struct.pack("!Q", size)
        with self._sending:
            self._write.write(head + data)


def upgraded(handler: BaseHTTPRequestHandler) -> WebSocket:
    """Answer the request that asks for a WebSocket."""
    key = handler.headers["Sec-WebSocket-Key"].encode()
    handler.send_response(101)
    handler.send_header("Upgrade", "websocket")
    handler.send_header("Connection", "Upgrade")
    handler.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key + _SUFFIX).digest()).decode())
    handler.end_headers()
    handler.close_connection = True
    return WebSocket(handler)
