"""A driver for chats over a WebSocket. The audit describes what to send, and where to find the reply in messages.

Each session has its own connection. The messages of a server belong to no request, so the options say how a reply ends:
by an event, by silence, or, without either, with the first message. Messages that come unasked are kept as evidence of
the next turn.
"""

import asyncio
import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harvest.drivers import template as templates
from harvest.drivers.described_reply import DescribedReply
from harvest.drivers.history import json_bytes
from harvest.drivers.options import Seconds, certificate_files, check_socket_url, is_token
from harvest.drivers.received import excerpt
from harvest.drivers.reply_options import Kept, ReplyOptions, check_press, described_by
from harvest.drivers.reply_path import Condition, ConditionOption, as_tuple, kept_values
from harvest.drivers.socket_wire import Closed, Frame, Socket, SocketWire
from harvest.drivers.socketio_framing import SocketIO, socketio_url
from harvest.drivers.template import Query, Template
from harvest.systems.driver import Capabilities, Denied, Exhibit, Opening, Reply, Surroundings, Unanswered
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer, Offer
from recordings.conversations.conversation import SystemTurn
from recordings.log.own_loop import run_long_work
from topics.document import validation_error

# The note on a turn before which messages came that belong to no reply.
UNASKED = "messages came that no turn had asked for: they are in the evidence and not in the reply"

_IN_GOOD_ORDER = frozenset({1000, 1001})  # statuses of a close in good order
_PLACEHOLDERS = ("text", "turn", "id", "visitor")


def _as_messages(value: object) -> object:
    return as_tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _check_protocols(names: tuple[str, ...]) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if not is_token(name) or name in names[:place]:
            raise validation_error(
                f"{name!r} is not the name of a subprotocol, or is named twice",
                allowed="letters, digits and signs such as - . _",
            )
    return names


class Options(ReplyOptions):
    """Options of a chat over a WebSocket."""

    url: Annotated[str, AfterValidator(check_socket_url)] = Field(
        description="the server: `wss://…`, or `ws://…`; placeholders as in `send`, without `{{ text }}`"
    )
    query: Query = Field({}, description="fields of the query, added to the URL; with `{env: NAME}` for a key")
    send: Template = Field(
        description="the message of a user turn: a JSON value, or a text, with `{{ text }}`; also `{{ turn }}`, "
        "`{{ id }}` (of the turn), `{{ visitor }}` (of the session), and the names in `keep`"
    )
    press: Template = Field(
        None,
        description="the message that presses an offer, with the placeholders of `send`, and `{{ title }}`, "
        "`{{ value }}` or `{{ value_json }}`",
    )
    connect: Annotated[tuple[Template, ...], BeforeValidator(_as_messages)] = Field(
        (),
        description="messages to send as soon as there is a connection: one, or a list. With `socketio`, a mapping is "
        "the data that the server wants first",
    )
    keep: Kept = Field({}, description="values in messages to send later, by name; a turn waits for those it needs")
    secret: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        (), description="names of kept values to redact in the recording"
    )
    quiet: Seconds | None = Field(
        None, description="seconds of silence, after a part of the reply, that end it, if the server names no end"
    )
    skip: ConditionOption = Field((), description="condition of messages that belong to no reply, such as `typing`")
    greets: bool = Field(
        False, description="the system speaks first: what it says before the first turn is recorded as its greeting"
    )
    protocols: Annotated[tuple[str, ...], AfterValidator(_check_protocols), BeforeValidator(as_tuple)] = Field(
        (), description="names of subprotocols to offer"
    )
    framing: Literal["plain", "socketio"] = Field(
        "plain",
        description="`socketio`: messages are events of Socket.IO, sent as a list of name and data",
    )
    ping: Seconds | None = Field(
        None, description="seconds between pings; a server that leaves one unanswered for half as long is gone"
    )

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if self.stream is not None and (self.quiet is not None or self.stream.form is not None):
            raise validation_error("`stream` needs only `end` here, and cannot be used with `quiet`")
        kept = tuple(self.keep)
        for name in self.secret:
            if name not in kept:
                raise validation_error(f"`secret` names {name!r}, which `keep` does not keep")
        try:
            templates.check_template(self.send, (*_PLACEHOLDERS, *kept))
            templates.check_template(self.press, (*_PLACEHOLDERS, *templates.PRESS_PLACEHOLDERS, *kept))
            templates.check_template((self.url, self.query, self.connect), ("visitor",))
        except ValueError as fault:
            raise validation_error(str(fault)) from None
        if "text" not in templates.placeholders(self.send):
            raise validation_error("no message sends the user turn: put {{ text }} into `send`")
        for name, message in (("send", self.send), ("press", self.press)):
            if self.framing == "socketio" and not isinstance(message, (list, type(None))):
                raise validation_error(f"with `framing: socketio`, `{name}` is a list: the event's name, then its data")
        if self.press is not None:
            check_press(self, self.press)
        return self


class WebSocketDriver:
    """Driver for one chat. Each session has its own connection."""

    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        self.options, self.secrets, self.clock = options, surroundings.secrets, surroundings.clock
        self.sent = templates.insert_secrets(options.send, surroundings)
        self.query = templates.insert_secrets(options.query, surroundings)
        self.pressing = templates.insert_secrets(options.press, surroundings)
        self.connecting = [templates.insert_secrets(one, surroundings) for one in options.connect]
        self.wire = SocketWire(options, surroundings)
        self.description = described_by(options, options.keep)
        self.skipped = Condition.parse(options.skip)
        self.answered = False
        self._visitors: dict[tuple[str, str, int], str] = {}

    @property
    def capabilities(self) -> Capabilities:
        options = self.options
        return Capabilities(
            stateful=True,
            streaming=options.stream is not None,
            greets=options.greets,
            presses=options.press is not None,
        )

    async def open(self, opening: Opening) -> "_Session":
        """Connect, send the opening messages, and wait for the greeting, if there is one. Raises DriverError."""
        person = opening.system, opening.topic, opening.trial
        if not opening.before or person not in self._visitors:
            self._visitors[person] = str(uuid.uuid4())
        visitor = self._visitors[person]
        options = self.options
        url = templates.add_query(
            templates.fill_url(options.url, {"visitor": visitor}), templates.fill(self.query, {"visitor": visitor})
        )
        url = socketio_url(url) if options.framing == "socketio" else url
        socket = await self.wire.connect(url, protocols=options.protocols, ping=options.ping, answered=self.answered)
        session = _Session(self, socket if options.framing == "plain" else SocketIO(socket), visitor)
        try:
            await session.start()
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        await self.wire.close()


class _Session:
    def __init__(self, driver: WebSocketDriver, socket: Socket | SocketIO, visitor: str) -> None:
        self._driver, self._socket, self._visitor = driver, socket, visitor
        self._turn, self._ids = 0, uuid.uuid4()
        self._kept: dict[str, str | None] = dict.fromkeys(driver.options.keep)
        self._arrived: asyncio.Queue[Frame | Closed | Unanswered] = asyncio.Queue()
        self.greeting: Answer | None = None
        self._reading: asyncio.Task[None] | None = None

    async def _read(self) -> None:
        """Take messages as they come, also between turns: only so are pings answered."""
        while True:
            try:
                found: Frame | Closed | Unanswered = await self._socket.receive()
            except Unanswered as fault:
                found = fault
            self._arrived.put_nowait(found)
            if not isinstance(found, Frame):
                return

    async def start(self) -> None:
        """Send what is to be sent first, and wait for the greeting and for values that turns need."""
        driver, seconds, frames = self._driver, self._driver.options.timeout, list[Frame]()
        kind = Unanswered if driver.answered else Denied
        try:
            async with asyncio.timeout(seconds):
                await self._join()
        except TimeoutError:
            raise kind("timeout", f"the server did not let us in within {seconds:g} s") from None
        if driver.options.greets:
            try:
                self.greeting = (await self._receive_reply(Stopwatch(driver.clock), [])).turn.answer
            except Unanswered as fault:
                fault.detail = f"the greeting did not come: {fault.detail}"
                raise
        try:
            async with asyncio.timeout(seconds):
                while self._missing_values():
                    self._take_between(await self._arrived.get(), frames)
        except TimeoutError:
            missing = " and ".join(f"{{{{ {name} }}}}" for name in self._missing_values())
            detail = f"no message had a value for {missing} within {seconds:g} s"
            raise kind("no-value", detail, exhibits=_exhibits("frames", frames)) from None

    async def _join(self) -> None:
        first = [templates.fill(template, {"visitor": self._visitor}) for template in self._driver.connecting]
        if isinstance(self._socket, SocketIO):
            auth = next((one for one in first if isinstance(one, Mapping)), None)
            await self._socket.join(auth, Unanswered if self._driver.answered else Denied)
            first = [one for one in first if one is not auth]
        self._reading = asyncio.create_task(self._read())
        for one in first:
            await self._socket.send(_message(one))

    async def say(self, text: str) -> Reply:
        return await self._take_turn(text, self._driver.sent, {})

    async def press(self, offer: Offer) -> Reply:
        """Press the offer as the option `press` says. Raises Unanswered (`bad-value`) if its value must be JSON and is
        not."""
        pressing = self._driver.pressing
        return await self._take_turn(offer.title, pressing, templates.press_values(offer, pressing))

    async def _take_turn(self, text: str, template: object, more: Mapping[str, object]) -> Reply:
        driver, unasked = self._driver, list[Frame]()
        while not self._arrived.empty():
            self._take_between(self._arrived.get_nowait(), unasked)
        self._turn += 1
        name = str(uuid.uuid5(self._ids, str(self._turn)))
        values = {**self._kept, **more, "text": text, "turn": self._turn, "id": name, "visitor": self._visitor}
        message = await run_long_work(len(text), lambda: _message(templates.fill(template, values)))
        watch = Stopwatch(driver.clock)
        await self._socket.send(message)
        reply = await self._receive_reply(watch, unasked)
        driver.answered = True
        heard, self.greeting = self.greeting, None
        return replace(reply, turn=reply.turn.after_greeting(heard))

    async def _receive_reply(self, watch: Stopwatch, unasked: list[Frame]) -> Reply:
        """Return what comes now, until it is complete. Raises Unanswered with what came as evidence."""
        options, frames, ended = self._driver.options, list[Frame](), False
        reply = DescribedReply(self._driver.description, "events" if options.stream is not None else "messages")
        try:
            try:
                async with asyncio.timeout(options.timeout):
                    ended = await self._read_reply(reply, watch, frames)
                    described = await run_long_work(reply.characters, lambda: reply.turn(watch))
            except TimeoutError:
                detail = f"the reply was not complete after {options.timeout:g} s"
                if frames and not reply.has_begun:
                    detail += f"; what came holds no part of a reply: {excerpt(frames[-1].text)}"
                raise Unanswered("timeout", detail) from None
        except Unanswered as fault:
            exhibits = (*_exhibits("frames", frames), *_exhibits("unasked", unasked))
            raise Unanswered(fault.reason, fault.detail, partial=reply.partial, exhibits=exhibits) from None
        self._keep(described.kept)
        notes = (*described.turn.notes, UNASKED) if unasked and self._turn > 1 else described.turn.notes
        turn = replace(described.turn, notes=notes, ended=described.turn.ended or ended)
        return Reply(turn, (*_exhibits("frames", frames), *_exhibits("unasked", unasked)))

    async def _read_reply(self, reply: DescribedReply, watch: Stopwatch, frames: list[Frame]) -> bool:
        """Read messages until the reply is complete. Returns True if the server has then closed the connection."""
        options = self._driver.options
        while True:
            try:
                async with asyncio.timeout(options.quiet if reply.has_begun else None):
                    found = await self._arrived.get()
            except TimeoutError:  # of silence: the reply's own is outside
                return False
            if isinstance(found, Unanswered):
                raise found
            if isinstance(found, Closed):
                self._arrived.put_nowait(found)
                if reply.has_begun and options.quiet is not None and found.code in _IN_GOOD_ORDER:
                    return True
                reason, what = ("broken-stream", "in the middle of") if reply.has_begun else ("reset", "before")
                raise Unanswered(reason, f"the server closed the connection {what} the reply: {found}")
            frames.append(found)
            if sum(len(one.text) for one in frames) > options.max_reply:
                raise Unanswered("too-large", f"the reply is longer than {options.max_reply} bytes (max_reply)")
            if self._driver.skipped.holds(_json_or_none(found.text)):
                continue
            read = partial(reply.read_event, found.name, found.text, watch)
            if await run_long_work(len(found.text), read) or (options.stream is None and options.quiet is None):
                return False

    def _take_between(self, found: Frame | Closed | Unanswered, frames: list[Frame]) -> None:
        """Take what came when nothing had been asked. Raises Unanswered for an error, or the end of the connection."""
        if isinstance(found, Unanswered):
            raise found
        if isinstance(found, Closed):
            self._arrived.put_nowait(found)
            raise Unanswered(
                "reset", f"the server closed the connection: {found}", exhibits=_exhibits("frames", frames)
            )
        frames.append(found)
        value = _json_or_none(found.text)
        self._driver.description.check(value)
        self._keep(kept_values(self._driver.description.kept, value))

    def _missing_values(self) -> list[str]:
        used = templates.placeholders(self._driver.sent)
        return [name for name, value in self._kept.items() if value is None and name in used]

    def _keep(self, found: Mapping[str, str | None]) -> None:
        secret = self._driver.options.secret
        self._driver.secrets.update(value for name, value in found.items() if value and name in secret)
        self._kept |= found

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._socket.close()


def read_frames(options: Options, kept: bytes) -> SystemTurn:
    """Read the reply in the messages of a turn, as they were kept. Raises Unanswered if they are not a whole reply."""
    reply = DescribedReply(described_by(options, options.keep), "messages" if options.stream is None else "events")
    skipped = Condition.parse(options.skip)
    for frame in map(json.loads, filter(None, kept.split(b"\n"))):
        if not skipped.holds(_json_or_none(frame["text"])) and reply.read_event(frame.get("event", ""), frame["text"]):
            break
    return reply.turn(Stopwatch()).turn


def _message(value: object) -> str:
    return value if isinstance(value, str) else json_bytes(value).decode()


def _json_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _exhibits(name: str, frames: list[Frame]) -> tuple[Exhibit, ...]:
    named = ({"event": one.name} if one.name else {} for one in frames)
    lines = (
        json.dumps({"seconds": round(one.at - frames[0].at, 3), **name, "text": one.text}, ensure_ascii=False)
        for name, one in zip(named, frames, strict=True)
    )
    data = "".join(f"{line}\n" for line in lines)
    return (Exhibit(name, "application/x-ndjson", data.encode()),) if frames else ()


def build(options: Options, surroundings: Surroundings) -> WebSocketDriver:
    """Build the driver. Raises InputError if an environment variable in the options is not set."""
    return WebSocketDriver(options, surroundings)


files = certificate_files
