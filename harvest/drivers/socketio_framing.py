"""Socket.IO over a WebSocket: Engine.IO 4 and Socket.IO protocol 5, without HTTP polling, binary events and namespaces.

Source: socketio/socket.io, `docs/engine.io-protocol/v4-current.md` and `docs/socket.io-protocol/v5-current.md`. A
packet begins with a digit for each of the two protocols.
"""

import json
from urllib.parse import urlsplit

from harvest.drivers.received import excerpt
from harvest.drivers.socket_wire import Closed, Frame, Socket
from harvest.systems.driver import DriverError, Unanswered

_OPEN, _CLOSE, _PING, _PONG, _NOOP = "0", "1", "2", "3", "6"
_CONNECT, _DISCONNECT, _EVENT, _ACK, _CONNECT_ERROR = "40", "41", "42", "43", "44"


def socketio_url(url: str) -> str:
    """Return the address with the path and the query of Socket.IO added where they are missing."""
    parts = urlsplit(url)
    path = parts.path if parts.path.strip("/") else "/socket.io/"
    query = parts.query if "EIO=" in parts.query else "&".join(filter(None, (parts.query, "EIO=4&transport=websocket")))
    return parts._replace(path=path, query=query).geturl()


class SocketIO:
    """A socket whose messages are events. Each sent message is a JSON list: the name of the event, then its data."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    async def join(self, auth: object, refused: type[DriverError]) -> None:
        """Join the server. `auth` has the data that the server may require, or None. Raises `refused` if it refuses,
        and Unanswered."""
        await self._expect(_OPEN, refused)
        await self._socket.send(_CONNECT + ("" if auth is None else json.dumps(auth)))
        await self._expect(_CONNECT, refused)

    async def _expect(self, packet: str, refused: type[DriverError]) -> None:
        found = await self._receive_packet()
        if isinstance(found, Closed):
            raise Unanswered("reset", f"the server closed the connection: {found}")
        if found.text.startswith(_CONNECT_ERROR):
            raise refused("system-error", f"the server refuses the connection: {excerpt(found.text[2:])}")
        if not found.text.startswith(packet):
            raise Unanswered("bad-protocol", f"the data received is not a Socket.IO packet: {excerpt(found.text)!r}")

    async def send(self, text: str) -> None:
        await self._socket.send(_EVENT + text)

    async def receive(self) -> Frame | Closed:
        """Return the next event, whose data are JSON, or the end. Raises Unanswered for a packet that is not one."""
        while True:
            found = await self._receive_packet()
            if isinstance(found, Closed):
                return found
            if found.text.startswith((_CLOSE, _DISCONNECT)):
                return Closed(1000, "the server disconnected")
            if found.text.startswith((_NOOP, _ACK)):
                continue
            try:
                name, *data = json.loads(found.text.removeprefix(_EVENT))
                if not found.text.startswith(f"{_EVENT}[") or not isinstance(name, str):
                    raise TypeError
            except (ValueError, TypeError, RecursionError):
                detail = f"a packet is not an event of Socket.IO as text: {excerpt(found.text)!r}"
                raise Unanswered("bad-protocol", detail) from None
            return Frame(json.dumps(data[0] if len(data) == 1 else data, ensure_ascii=False), found.at, name)

    async def _receive_packet(self) -> Frame | Closed:
        while True:
            found = await self._socket.receive()
            if isinstance(found, Closed) or not found.text.startswith(_PING):
                return found
            await self._socket.send(_PONG)

    async def close(self) -> None:
        await self._socket.close()
