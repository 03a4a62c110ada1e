"""A driver for any HTTP API. The audit describes how to send a user turn and where to find the reply in the
response."""

import asyncio
import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from harvest.drivers import template as templates
from harvest.drivers.described_reply import STREAM_HINT, DescribedReply
from harvest.drivers.event_stream import Events
from harvest.drivers.file_shapes import multipart, shaped_files
from harvest.drivers.history import History, Message, json_bytes
from harvest.drivers.http_options import Attach, Call, Options, Poll, Store, reply_description
from harvest.drivers.inbox import LATE_NOTE, Inbox, messages_exhibit
from harvest.drivers.options import Headers, certificate_files, resolve_text
from harvest.drivers.received import Received, excerpt
from harvest.drivers.reply_options import parse_kept
from harvest.drivers.reply_path import ReplyPath, kept_text, kept_values
from harvest.drivers.template import LiteralValue
from harvest.drivers.wire import CookieJar, Request, Wire
from harvest.systems.driver import Capabilities, Denied, DriverError, NotSent, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Answer, Offer
from recordings.conversations.conversation import SystemTurn
from recordings.log.own_loop import run_long_work
from topics.sent_files import SentFile


class RequestTemplate:
    """A request with placeholders. `shared` has default headers, which the template's own options override."""

    def __init__(self, call: Call | Poll | Options, shared: Headers, surroundings: Surroundings) -> None:
        self._method, self._url = call.method, call.url if isinstance(call.url, str) else ""
        self._part = call.part if isinstance(call, (Attach, Store)) else None
        self._query = templates.insert_secrets(call.query, surroundings)
        self._body = templates.insert_secrets(call.body, surroundings)
        self._form = templates.insert_secrets(call.form, surroundings)
        self._headers: dict[str, str | LiteralValue] = {
            name: value if isinstance(value, str) else LiteralValue(resolve_text(value, surroundings))
            for name, value in {**shared, **call.headers}.items()
        }

    def request(self, values: Mapping[str, object], address: str = "") -> Request:
        """Return the request with its placeholders replaced by `values`. Its URL is `address` unless that is "". A
        header with a value that is None is left out. Raises Unanswered: `bad-session` if a header cannot hold its
        value, `no-value` if the path of the URL has none."""
        for name in templates.placeholders(self._url.partition("?")[0]):
            if name != "session" and values[name] is None:
                raise Unanswered("no-value", f"no reply so far had a value for {{{{ {name} }}}} in {self._url}")
        url = address or templates.fill_url(self._url, values)
        url = templates.add_query(url, templates.fill(self._query, values))
        headers: dict[str, str] = {}
        for name, template in self._headers.items():
            if any(values[used] is None for used in templates.placeholders(template)):  # no session yet
                continue
            value = templates.fill(template, values)
            if not str(value).isascii() or not str(value).isprintable():
                raise Unanswered("bad-session", f"header {name} cannot hold {excerpt(repr(value), 60)}")
            headers[name] = str(value)
        content = None
        if self._form is not None and self._part is not None:
            headers["Content-Type"], content = multipart(
                templates.form_values(templates.fill(self._form, values)),
                self._part,
                cast("Sequence[SentFile]", values["files"]),
            )
        elif self._form is not None:
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            content = templates.encode_form(templates.fill(self._form, values)).encode()
        elif self._body is not None:
            headers.setdefault("Content-Type", "application/json")
            content = json_bytes(templates.fill(self._body, values))
        return Request(self._method, url, headers, content)


_CLOSE_SECONDS = 5.0  # the longest wait in seconds for the end of a session
_REFUSED = frozenset({"http-401", "http-403"})  # reasons of a refusal that new values may help against


class HttpDriver:
    """Driver for one API. Each session has its own cookies."""

    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        self.options, self.secrets, self.clock = options, surroundings.secrets, surroundings.clock

        def template(call: Call | Poll) -> RequestTemplate:
            return RequestTemplate(call, options.headers, surroundings)

        self.turn = RequestTemplate(options, {}, surroundings)
        self.openings = [(call, template(call)) for call in options.open]
        self.polling = template(options.poll) if options.poll is not None else None
        listen = options.poll.listen if options.poll is not None else None
        self.listening = template(listen) if listen is not None else None
        self.closing = template(options.close) if options.close is not None else None
        self.renewing = template(options.renew) if options.renew is not None else None
        self.pressing = template(options.press) if options.press is not None else None
        self.attaching = template(options.attach) if options.attach is not None else None
        store = options.attach.store if options.attach is not None else None
        self.storing = template(store) if store is not None else None
        self.message = templates.insert_secrets(options.message, surroundings)
        # The headers in the options may contain placeholders, so each request has its own.
        self.wire = Wire(options.model_copy(update={"headers": {}}), surroundings)
        self.description = reply_description(options)
        self.answered = False
        self._visitors: dict[tuple[str, str, int], str] = {}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            stateful=self.options.stateful,
            editable_history=self.options.sends_history,
            streaming=self.options.stream is not None,
            tokens=bool(self.options.tokens),
            greets=self.options.greets,
            presses=self.pressing is not None,
            attaches=self._attached_types,
        )

    @property
    def _attached_types(self) -> tuple[str, ...]:
        attach = self.options.attach
        return () if attach is None else tuple(attach.files) or ("*/*",)

    async def open(self, opening: Opening) -> "_Session":
        """Open a session. If the options have requests that open one, send them. Raises DriverError if that fails."""
        self.wire.ready()
        # A system may remember a visitor, so every attempt has a new one. Who comes back is the same.
        person = opening.system, opening.topic, opening.trial
        if not opening.before or person not in self._visitors:
            self._visitors[person] = str(uuid.uuid4())
        session = _Session(self, opening, self._visitors[person])
        await session.start()
        return session

    async def ask(
        self,
        caller: RequestTemplate,
        values: Mapping[str, object],
        jar: CookieJar,
        reply: Events | None = None,
        *,
        length: int = 0,
        address: str = "",
    ) -> Received:
        """Send a request and return the response if its status is that of a reply. `length` is the number of characters
        of the conversation in the request, and `address` replaces the URL of its template. Raises DriverError."""
        request = await run_long_work(length, lambda: caller.request(values, address))
        received = await self.wire.ask(request, jar=jar, events=reply)
        fault = received.refusal(answered=self.answered)
        if fault is not None:
            if 400 <= received.status < 500 and "stream" in fault.detail.lower():
                fault.detail += f"; {STREAM_HINT}"
            if received.status in (401, 403) and self.answered and self.options.secret_names:
                # What a session was given has expired; the next session is given another.
                fault = Unanswered(fault.reason, fault.detail, partial=fault.partial, exhibits=fault.exhibits)
            raise fault
        return received

    async def close(self) -> None:
        await self.wire.close()


class _Session:
    def __init__(self, driver: HttpDriver, opening: Opening, visitor: str) -> None:
        self._driver, self._history, self._jar = driver, History(opening.history), CookieJar()
        options = driver.options
        self._visitor, self._ids = visitor, uuid.uuid4()
        self._kept: dict[str, str | None] = dict.fromkeys(options.kept_names)
        self._kept["session"] = str(uuid.uuid4()) if options.session == "client" else options.first_session
        self._secret = options.secret_names
        self._late: list[object] = []
        self._stored: dict[str, Mapping[str, object]] = {}  # what the system calls files that it has, by their digests
        self.greeting: Answer | None = None
        self._closed = self._nameless = False
        self._inbox: Inbox | None = None
        if options.poll is not None:
            self._inbox = Inbox(
                options.poll, driver.description, self._poll, driver.clock, options.timeout, self._listen
            )

    async def start(self) -> None:
        """Send the requests that open the session, and wait for the greeting if the system greets."""
        driver, options, received = self._driver, self._driver.options, None
        path = ReplyPath.parse(str(options.session)) if options.session not in (None, "client") else None
        named = path is None or not driver.openings
        for call, template in driver.openings:
            received = await driver.ask(template, self._values(), self._jar)  # nothing has expired yet
            if call.keep:
                found = kept_values(parse_kept(call.keep), received.json())
                for name in call.keep:
                    if name not in found:
                        raise self._unnamed(received, f"has nothing at {call.keep[name][0]}")
                self._keep(found)
            if path is not None and (session := kept_text(path.find(received.json()))) is not None:
                self._kept["session"], named = session, True
        if received is not None and not named:
            raise self._unnamed(received, f"has no session id at {options.session}")
        if options.greets:
            try:
                self.greeting = (await self._greet(received)).answer
            except DriverError as fault:
                fault.detail = f"the greeting did not come: {fault.detail}"
                raise

    async def _greet(self, received: Received | None) -> SystemTurn:
        if self._inbox is not None:
            return (await self._inbox.fetch(None, self._values, self._keep))[0]
        assert received is not None
        return self._driver.description.read(received).turn

    def _unnamed(self, received: Received, what: str) -> DriverError:
        kind = Unanswered if self._driver.answered else Denied
        return received.fault(kind, "no-session", f"the answer to `open` {what}; it begins: {received.beginning}")

    async def say(self, text: str) -> Reply:
        return await self._take_turn(text, self._driver.turn, {})

    async def press(self, offer: Offer) -> Reply:
        """Press the offer as the option `press` says. Raises Unanswered (`bad-value`) if its value must be JSON and is
        not."""
        press = self._driver.options.press
        assert press is not None
        assert self._driver.pressing is not None
        values = templates.press_values(offer, (press.url, press.query, press.body, press.form))
        return await self._take_turn(offer.title, self._driver.pressing, values)

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        """Send the turn with files as the option `attach` says."""
        assert self._driver.attaching is not None
        return await self._take_turn(text, self._driver.attaching, {}, files)

    async def _take_turn(
        self, text: str, caller: RequestTemplate, more: Mapping[str, object], files: Sequence[SentFile] = ()
    ) -> Reply:
        if self._driver.options.stateful:
            reply = await self._ask_system(text, caller, more, files)
        else:
            reply = await self._history.ask(lambda: self._ask_system(text, caller, more, files))
        self._history.add(text, reply.turn.answer, files)
        return reply

    async def _ask_system(
        self, text: str, caller: RequestTemplate, more: Mapping[str, object], files: Sequence[SentFile]
    ) -> Reply:
        driver, options = self._driver, self._driver.options
        if self._nameless and not self._kept["session"]:
            raise Unanswered(
                "no-session",
                f"no reply so far had a session id at {options.session}; this turn would start another session",
            )
        if self._inbox is not None and len(self._history):
            self._late += await self._inbox.take_late(self._values, self._keep)
        if self._inbox is not None:
            self._inbox.listen()  # before the turn goes out: what answers it is announced from the beginning
        history, messages = self._history.messages(), self._history.messages(text, files)
        if files and options.attach is not None:
            await self._store(files)
            shapes = options.attach.files
            more = {**more, "files": shaped_files(files, shapes, self._stored) if shapes else files}
        values = {
            **self._values(),
            **more,
            "text": text,
            "history": self._shaped(history),
            "messages": self._shaped(messages),
        }
        # Without a declared end, a stream can be read only when all of it is there.
        live = DescribedReply(driver.description) if options.stream is not None else None
        length = sum(len(message["content"]) for message in messages) if options.sends_history else 0
        length += sum(one.size for one in files)
        received = await self._ask(caller, values, live, length=length)
        if self._inbox is None:
            read = partial(driver.description.read, received, live)
            described = await received.read_in_time(options.timeout, read)
            self._keep(described.kept)
            turn, exhibits = described.turn, received.exhibits
        else:
            turn, exhibits = await self._inbox.fetch(received, self._values, self._keep)
            if self._late:
                turn = replace(turn, notes=(*turn.notes, LATE_NOTE))
                exhibits = (*exhibits, messages_exhibit("late", self._late))
                self._late = []
        driver.answered = True
        self._nameless = options.stateful and options.session not in (None, "client")
        heard, self.greeting = self.greeting, None
        return Reply(turn.after_greeting(heard), exhibits)

    async def _store(self, files: Sequence[SentFile]) -> None:
        """Store the files that the system does not have yet, if the options say how. Raises DriverError, but never
        Unanswered: the turn itself is not sent yet."""
        attach, storing = self._driver.options.attach, self._driver.storing
        if attach is None or attach.store is None or storing is None:
            return
        store = attach.store
        for one in files:
            if one.sha256 in self._stored:
                continue
            try:
                received = await self._ask(storing, {**self._values(), "files": [one]}, length=one.size)
                kept = kept_values(parse_kept(store.keep), received.json())
                if missing := [name for name in store.keep if kept.get(name) is None]:
                    what = f"the answer to `store` has nothing at {store.keep[missing[0]][0]}"
                    raise received.fault(Denied, "no-value", f"{what}; it begins: {received.beginning}")
            except Unanswered as fault:
                fault.detail = f"{one.name} was not stored: {fault.detail}"
                raise NotSent(fault.reason, fault.detail, partial=fault.partial, exhibits=fault.exhibits) from None
            self._stored[one.sha256] = kept

    async def _poll(self, values: Mapping[str, object], address: str) -> Received:
        assert self._driver.polling is not None
        return await self._ask(self._driver.polling, values, address=address)

    async def _listen(self, events: Events) -> Received:
        assert self._driver.listening is not None
        return await self._driver.ask(self._driver.listening, self._values(), self._jar, events)

    async def _ask(
        self,
        caller: RequestTemplate,
        values: Mapping[str, object],
        reply: Events | None = None,
        **more: Any,
    ) -> Received:
        """Send a request as `HttpDriver.ask` does. If it is refused and the options say how, renew what the session was
        given, and send it once more."""
        driver, renew = self._driver, self._driver.options.renew
        try:
            return await driver.ask(caller, values, self._jar, reply, **more)
        except DriverError as fault:
            if renew is None or driver.renewing is None or fault.reason not in _REFUSED:
                raise
        renewed = await driver.ask(driver.renewing, self._values(), self._jar)
        self._keep(kept_values(parse_kept(renew.keep), renewed.json()))
        return await driver.ask(caller, {**values, **self._kept}, self._jar, reply, **more)

    def _values(self) -> Mapping[str, object]:
        """Return the values of the placeholders that every request may have."""
        turn = len(self._history) + 1
        return {**self._kept, "visitor": self._visitor, "turn": turn, "id": str(uuid.uuid5(self._ids, str(turn)))}

    def _shaped(self, messages: list[Message]) -> list[object]:
        options, shaped = self._driver.options, list[object]()
        names = {str(role): name for role, name in options.roles.items()}
        for place, one in enumerate(messages):
            role, shape, files = names.get(one["role"], one["role"]), self._driver.message, one.get("files", ())
            values = {"role": role, "text": one["content"], "id": str(uuid.uuid5(self._ids, f"said {place}"))}
            if files and options.attach is not None and options.attach.message is not None:
                shape = options.attach.message
                values["files"] = shaped_files(files, options.attach.files, self._stored)
            shaped.append({"role": role, "content": one["content"]} if shape is None else templates.fill(shape, values))
        return shaped

    def _keep(self, found: Mapping[str, str | None]) -> None:
        self._driver.secrets.update(value for name, value in found.items() if value and name in self._secret)
        self._kept |= found

    async def close(self) -> None:
        if self._inbox is not None:
            await self._inbox.close()
        if self._closed or self._driver.closing is None:
            return
        self._closed = True
        with contextlib.suppress(DriverError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._driver.ask(self._driver.closing, self._values(), self._jar)


def build(options: Options, surroundings: Surroundings) -> HttpDriver:
    """Build the driver. Raises InputError if an environment variable in the options is not set."""
    return HttpDriver(options, surroundings)


files = certificate_files
