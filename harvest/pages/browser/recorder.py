"""A recorder of the data that a page receives, for the second witness: growing response bodies and socket messages.

The recorder only listens. It keeps no header, cookie or query string, and nothing that the page sent. Content stays in
memory only until it has been compared, and never exceeds a few megabytes.

The source is the Chrome DevTools Protocol. If a response ends before its body can be requested as a stream, the whole
body is fetched. Workers and frames of other sites have their own sessions, and messages of these sessions arrive
wrapped in messages of the page's session.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol

from harvest.pages.witness.received import Body, Message, Received, general_address
from harvest.systems.timing import Clock

# Chromium's names of the kinds of resource that may bring a reply; requests of a worker may be `Other`. The
# messages of an EventSource are reported one by one.
_CARRYING = frozenset({"Fetch", "XHR", "Other"})
_NON_TEXT_TYPES = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript")
_MOST_BYTES = 8_000_000  # kept between two calls of `forget`; later ones are dropped
_LARGEST_BODY = 2_000_000  # bytes of one body
_MOST_MESSAGES = 50_000  # of web sockets and streams in one conversation
_SETTLE_SECONDS = 0.5  # seconds for bodies that are being fetched to arrive
_STEP = 0.02  # seconds
_NETWORK_OPTIONS = {"maxTotalBufferSize": _MOST_BYTES, "maxResourceBufferSize": _LARGEST_BODY}
_ATTACH_OPTIONS = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}
_TEXT, _BINARY = 1, 2  # opcodes of web sockets

Params = Mapping[str, Any]


class DevToolsSession(Protocol):
    """The part of a DevTools session that is used here."""

    def on(self, event: str, f: Callable[[Any], Any]) -> Any: ...
    def send(self, method: str, params: dict[str, Any] | None = None) -> Awaitable[Any]: ...


class Recorder:
    """The record of one page. `received` holds the content in the order of arrival. `capped` is True if some content
    was dropped because of the size limit. `later` is a function that runs work without waiting for it."""

    def __init__(self, clock: Clock, later: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self.clock, self.later = clock, later
        self.received: list[Received] = []
        self.capped = False
        self.fetching = 0
        self._size = 0

    async def attach(self, line: DevToolsSession) -> None:
        """Start listening to a page, a worker or a frame. Raises the errors of the DevTools session `line`."""
        listener = _Listener(self, line)
        for event, heard in listener.events.items():
            line.on(event, heard)
        await line.send("Network.enable", dict(_NETWORK_OPTIONS))
        await line.send("Target.setAutoAttach", dict(_ATTACH_OPTIONS))

    def keep(self, one: Received) -> None:
        if len(self.received) < _MOST_MESSAGES:
            self.received.append(one)
        else:
            self.capped = True

    def has_room(self, size: int, before: int = 0) -> bool:
        """Return True if `size` more bytes of a body may be kept, and count them. `before` bytes are kept already."""
        if self._size + size > _MOST_BYTES or before + size > _LARGEST_BODY:
            self.capped = True
            return False
        self._size += size
        return True

    def first_piece_at(self, since: float) -> float:
        """Return when the first content after `since` came, or infinity if none did."""
        times = (at for one in self.received for at in ([one.at] if isinstance(one, Message) else _chunk_times(one)))
        return min((at for at in times if at >= since), default=math.inf)

    async def settle(self) -> None:
        """Wait up to half a second for bodies that are being fetched."""
        until = self.clock.monotonic() + _SETTLE_SECONDS
        while self.fetching and self.clock.monotonic() < until:
            await self.clock.sleep(_STEP)

    def forget(self, before: float) -> None:
        """Drop the content received before the given time. An open stream is kept, but may lose older chunks."""
        kept: list[Received] = []
        for one in self.received:
            if isinstance(one, Message):
                if one.at >= before:
                    kept.append(one)
            elif one.ended is None or one.ended >= before:
                if one.ended is None and sum(len(data) for _, data in one.chunks) > _LARGEST_BODY // 2:
                    one.chunks = [(at, data) for at, data in one.chunks if at >= before]
                kept.append(one)
        self.received, self.capped = kept, False
        self._size = sum(
            len(one.data) if isinstance(one, Message) else sum(len(data) for _, data in one.chunks) for one in kept
        )


def _chunk_times(body: Body) -> list[float]:
    return [at for at, _ in body.chunks]


class _Listener:
    def __init__(self, recorder: Recorder, line: DevToolsSession) -> None:
        self._recorder, self._line = recorder, line
        self._bodies: dict[str, Body] = {}
        self._streamed: set[str] = set()
        self._fetched: set[str] = set()
        self._addresses: dict[str, str] = {}
        self._targets: dict[str, _WrappedSession] = {}
        self.events: dict[str, Callable[[Params], None]] = {
            "Network.requestWillBeSent": self._note_request,
            "Network.responseReceived": self._note_response,
            "Network.dataReceived": self._note_data,
            "Network.loadingFinished": self._note_finish,
            "Network.loadingFailed": self._note_failure,
            "Network.eventSourceMessageReceived": self._note_event,
            "Network.webSocketCreated": self._note_socket,
            "Network.webSocketFrameReceived": self._note_frame,
            "Target.attachedToTarget": self._note_attachment,
            "Target.receivedMessageFromTarget": self._note_message,
        }

    def _now(self) -> float:
        return self._recorder.clock.monotonic()

    def _note_request(self, told: Params) -> None:
        if told.get("type") == "EventSource":
            self._addresses[told["requestId"]] = general_address(told["request"]["url"])

    def _note_socket(self, told: Params) -> None:
        self._addresses[told["requestId"]] = general_address(told["url"])

    def _note_response(self, told: Params) -> None:
        response, request = told["response"], str(told["requestId"])
        media = f"{response.get('mimeType', '')}; charset={response.get('charset') or 'utf-8'}"
        if told.get("type") not in _CARRYING or response.get("status", 0) >= 400 or media.startswith(_NON_TEXT_TYPES):
            return
        body = Body(general_address(response["url"]), media)
        self._bodies[request] = body
        self._recorder.keep(body)
        self._recorder.fetching += 1
        self._recorder.later(self._stream(request, body))

    async def _stream(self, request: str, body: Body) -> None:
        try:
            try:
                told = await self._line.send("Network.streamResourceContent", {"requestId": request})
            except Exception:  # it has ended, or came from a cache: fetch it when it has ended
                if body.ended is not None:
                    await self._fetch(request, body)
                return
            if request not in self._fetched:
                # Pieces may have been reported before this answer; its content came before them.
                self._streamed.add(request)
                self._put_data(body, told.get("bufferedData", ""), first=True)
        finally:
            self._recorder.fetching -= 1

    async def _fetch(self, request: str, body: Body) -> None:
        """Fetch the whole body unless a stream has already delivered it, which happens on a busy machine."""
        with contextlib.suppress(Exception):  # the bodies of a page that has gone are lost
            told = await self._line.send("Network.getResponseBody", {"requestId": request})
            if body.chunks or request in self._fetched:
                return
            self._fetched.add(request)
            data = told.get("body", "")
            if told.get("base64Encoded"):
                self._put_data(body, data, first=True)
            elif self._recorder.has_room(len(data)):
                body.chunks.append((body.ended or self._now(), data.encode()))
                body.media_type = f"{body.media_type.partition(';')[0]}; charset=utf-8"

    def _note_data(self, told: Params) -> None:
        body = self._bodies.get(told["requestId"])
        if body is not None and told.get("data"):
            self._put_data(body, told["data"])

    def _put_data(self, body: Body, encoded: str, *, first: bool = False) -> None:
        try:
            data = base64.b64decode(encoded)
        except ValueError:
            return
        if data and self._recorder.has_room(len(data), sum(len(chunk) for _, chunk in body.chunks)):
            at = body.chunks[0][0] if first and body.chunks else min(self._now(), body.ended or self._now())
            body.chunks.insert(0 if first else len(body.chunks), (at, data))

    def _note_finish(self, told: Params) -> None:
        request = told["requestId"]
        body = self._bodies.pop(request, None)
        self._addresses.pop(request, None)
        if body is None:
            return
        body.ended = self._now()
        if request not in self._streamed:
            self._recorder.fetching += 1
            self._recorder.later(self._fetch_late(request, body))
        self._streamed.discard(request)

    async def _fetch_late(self, request: str, body: Body) -> None:
        try:
            await self._recorder.clock.sleep(_STEP)  # the answer to the request for the stream may be on its way
            if not body.chunks:
                await self._fetch(request, body)
        finally:
            self._recorder.fetching -= 1

    def _note_failure(self, told: Params) -> None:
        body = self._bodies.pop(told["requestId"], None)
        if body is not None:
            body.ended = self._now()

    def _note_event(self, told: Params) -> None:
        address = self._addresses.get(told["requestId"], "")
        self._keep_message(address, "events", told.get("data", ""), told.get("eventName", ""))

    def _note_frame(self, told: Params) -> None:
        frame = told["response"]
        data: str | bytes = frame.get("payloadData", "")
        if frame.get("opcode") == _BINARY:
            try:
                data = base64.b64decode(data)
            except ValueError:
                return
        if frame.get("opcode") in (_TEXT, _BINARY):
            self._keep_message(self._addresses.get(told["requestId"], ""), "socket", data)

    def _keep_message(self, address: str, channel: str, data: str | bytes, name: str = "") -> None:
        if self._recorder.has_room(len(data)):
            self._recorder.keep(Message(self._now(), address, channel, data, "" if name == "message" else name))

    def _note_attachment(self, told: Params) -> None:
        inner = _WrappedSession(self._line, told["sessionId"])
        self._targets[told["sessionId"]] = inner
        self._recorder.later(self._recorder.attach(inner))

    def _note_message(self, told: Params) -> None:
        inner = self._targets.get(told["sessionId"])
        if inner is not None:
            inner.handle_message(told["message"])


class _WrappedSession:
    def __init__(self, outer: DevToolsSession, session: str) -> None:
        self._outer, self._session = outer, session
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._heard: dict[str, Callable[[Any], Any]] = {}

    def on(self, event: str, f: Callable[[Any], Any]) -> None:
        self._heard[event] = f

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        message = json.dumps({"id": number, "method": method, "params": params or {}})
        try:
            await self._outer.send("Target.sendMessageToTarget", {"sessionId": self._session, "message": message})
            return await answer
        finally:
            self._waiting.pop(number, None)

    def handle_message(self, message: str) -> None:
        told = json.loads(message)
        answer = self._waiting.get(told.get("id", 0))
        if answer is not None and not answer.done():
            if "error" in told:
                answer.set_exception(RuntimeError(told["error"].get("message", "")))
            else:
                answer.set_result(told.get("result", {}))
        elif told.get("method") in self._heard:
            self._heard[told["method"]](told.get("params", {}))
