"""A driver for any HTTP API. The audit describes how to send a user turn and where the response has the reply."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Mapping
from urllib.parse import urlencode

from harvest.drivers import template as templates
from harvest.drivers.described_reply import STREAM_HINT, DescribedReply, kept_text
from harvest.drivers.history import History, json_bytes
from harvest.drivers.http_options import Call, Options, reply_description
from harvest.drivers.options import Headers, certificate_files, resolve_text
from harvest.drivers.received import Received, excerpt
from harvest.drivers.reply_path import ReplyPath
from harvest.drivers.template import LiteralValue
from harvest.drivers.wire import CookieJar, Request, Wire
from harvest.systems.driver import Capabilities, Denied, DriverError, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Exchange
from recordings.log.long_work import run_long_work

_CLOSE_SECONDS = 5.0  # the longest wait in seconds for the end of a session


class _Requests:
    def __init__(self, call: Call | Options, shared: Headers, surroundings: Surroundings) -> None:
        self._method, self._url = call.method, call.url
        self._query = templates.insert_secrets(call.query, surroundings)
        self._body = templates.insert_secrets(call.body, surroundings)
        self._form = templates.insert_secrets(call.form, surroundings)
        self._headers: dict[str, str | LiteralValue] = {
            name: value if isinstance(value, str) else LiteralValue(resolve_text(value, surroundings))
            for name, value in {**shared, **call.headers}.items()
        }

    def request(self, values: Mapping[str, object]) -> Request:
        url = templates.fill_url(self._url, values)
        query = _encode_form(templates.fill(self._query, values))
        if query:
            url += ("&" if "?" in url else "?") + query
        headers: dict[str, str] = {}
        for name, template in self._headers.items():
            value = templates.fill(template, values)
            if value is None:  # no session yet
                continue
            if not str(value).isascii() or not str(value).isprintable():
                raise Unanswered("bad-session", f"header {name} cannot hold {excerpt(repr(value), 60)}")
            headers[name] = str(value)
        content = None
        if self._form is not None:
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            content = _encode_form(templates.fill(self._form, values)).encode()
        elif self._body is not None:
            headers.setdefault("Content-Type", "application/json")
            content = json_bytes(templates.fill(self._body, values))
        return Request(self._method, url, headers, content)


def _encode_form(filled: Mapping[str, object]) -> str:
    # A reply that is sent back may contain a lone surrogate.
    return urlencode(templates.form_values(filled), errors="surrogatepass")


class HttpDriver:
    """Driver for one API. Each session has its own cookies."""

    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        self.options = options
        self.turn = _Requests(options, {}, surroundings)
        self.opening = _Requests(options.open, options.headers, surroundings) if options.open is not None else None
        self.closing = _Requests(options.close, options.headers, surroundings) if options.close is not None else None
        # The headers in the options may contain placeholders, so each request has its own.
        self.wire = Wire(options.model_copy(update={"headers": {}}), surroundings)
        self.description = reply_description(options)
        self.answered = False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            stateful=self.options.stateful,
            editable_history=self.options.sends_history,
            streaming=self.options.stream is not None,
        )

    async def open(self, opening: Opening) -> _Session:
        """Open a session. If the options have a request `open`, send it. Raises DriverError if that fails."""
        self.wire.ready()
        session, jar = self.options.first_session, CookieJar()
        if self.options.session == "client":
            session = str(uuid.uuid4())
        if self.opening is not None:
            received = await self.ask(self.opening, {"session": session}, jar)
            if self.options.session not in (None, "client"):
                session = kept_text(ReplyPath.parse(str(self.options.session)).find(received.json()))
                if session is None:
                    detail = f"the answer to `open` has no session id at {self.options.session}"
                    raise received.fault(
                        Unanswered if self.answered else Denied,
                        "no-session",
                        f"{detail}; it begins: {received.beginning}",
                    )
        return _Session(self, session, jar, opening.history)

    async def ask(
        self, caller: _Requests, values: Mapping[str, object], jar: CookieJar, reply: DescribedReply | None = None
    ) -> Received:
        # Characters of the conversation so far, if the request may contain it.
        messages = values.get("messages", ())
        request = await run_long_work(
            sum(len(message["content"]) for message in messages) if isinstance(messages, list) else 0,
            lambda: caller.request(values),
        )
        received = await self.wire.ask(request, jar=jar, events=reply)
        fault = received.refusal(answered=self.answered)
        if fault is not None:
            if 400 <= received.status < 500 and "stream" in fault.detail.lower():
                fault.detail += f"; {STREAM_HINT}"
            raise fault
        return received

    async def close(self) -> None:
        await self.wire.close()


class _Session:
    def __init__(self, driver: HttpDriver, session: str | None, jar: CookieJar, history: tuple[Exchange, ...]) -> None:
        self._driver, self._id, self._jar, self._history = driver, session, jar, History(history)
        self._closed = self._nameless = False

    async def say(self, text: str) -> Reply:
        if self._driver.options.stateful:
            reply = await self._ask_system(text)
        else:
            reply = await self._history.ask(lambda: self._ask_system(text))
        self._history.add(text, reply.turn.answer)
        return reply

    async def _ask_system(self, text: str) -> Reply:
        driver, options = self._driver, self._driver.options
        if self._nameless and not self._id:
            raise Unanswered(
                "no-session",
                f"no reply so far had a session id at {options.session}; this turn would start another session",
            )
        values = {
            "text": text,
            "session": self._id,
            "turn": len(self._history) + 1,
            "history": self._history.messages(),
            "messages": self._history.messages(text),
        }
        # Without a declared end, a stream can be read only when all of it is there.
        live = DescribedReply(driver.description) if options.stream is not None else None
        received = await driver.ask(driver.turn, values, self._jar, live)
        described = await run_long_work(len(received.body), lambda: driver.description.read(received, live))
        driver.answered = True
        self._id = described.kept.get("session") or self._id
        self._nameless = options.stateful and options.session not in (None, "client")
        return Reply(described.turn, received.exhibits)

    async def close(self) -> None:
        if self._closed or self._driver.closing is None:
            return
        self._closed = True
        with contextlib.suppress(DriverError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._driver.ask(self._driver.closing, {"session": self._id}, self._jar)


def build(options: Options, surroundings: Surroundings) -> HttpDriver:
    """Build the driver. Raises InputError if an environment variable in the options is not set."""
    return HttpDriver(options, surroundings)


files = certificate_files
