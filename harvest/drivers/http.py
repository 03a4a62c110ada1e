"""A driver for any HTTP API. The audit describes how to send a user turn and where the response has the reply."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlencode

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harvest.drivers import described_reply
from harvest.drivers import template as templates
from harvest.drivers.described_reply import Described, Path, Paths, ReplyPath
from harvest.drivers.history import History, json_bytes
from harvest.drivers.options import THOUGHTS_HELP, Headers, Text, Url, WireOptions, certificate_files, resolve_text
from harvest.drivers.received import Received, excerpt
from harvest.drivers.template import Fields, LiteralValue, Template
from harvest.drivers.wire import CookieJar, Request, Wire
from harvest.systems.driver import Capabilities, Denied, DriverError, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Exchange
from recordings.log.long_work import run_long_work
from topics.document import StrictModel, validation_error

_CLOSE_SECONDS = 5.0  # the longest wait in seconds for the end of a session


def _text_or_path(text: str) -> str:
    return text if text == described_reply.WHOLE_BODY else described_reply.check_path(text)


def _check_session(text: str) -> str:
    return text if text == "client" else described_reply.check_path(text)


class Call(StrictModel):
    """Options of one request."""

    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    query: Fields = Field({})
    body: Template = None
    form: Fields | None = None
    headers: Headers = Field({})

    @model_validator(mode="after")
    def _check_request(self) -> Self:
        _check_call(self, ("session",))
        return self


class Options(WireOptions):
    """Options of an HTTP API. Placeholders in `url`, `query`, `body`, `form` and `headers` are filled in for each
    turn."""

    url: Url = Field(description="where a user turn is sent")
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field("POST", description="how")
    query: Fields = Field({}, description="fields of the query, added to the URL")
    body: Template = Field(None, description="a JSON value to send; strings in it may contain placeholders")
    form: Fields | None = Field(None, description="fields of a form to send instead of `body`")
    reply: Annotated[
        tuple[Annotated[str, AfterValidator(_text_or_path)], ...],
        Field(min_length=1),
        BeforeValidator(described_reply.as_tuple),
    ] = Field(
        description="path of the reply's text, such as `$.reply.text`, a list of paths, of which the first that "
        "matches is used, or `text` for the whole body"
    )
    join: str = Field("\n\n", description="separator between the texts of a `reply` with `[*]`")
    events: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(described_reply.as_tuple)] = (
        Field(
            (),
            description="names or types of the events of a stream that contain the reply; by default all that have it",
        )
    )
    links: Paths = Field(
        (), description="paths of links that are not in the text: URLs, or objects with `url` and `title`"
    )
    refusal: Paths = Field((), description="paths of the system's refusal, which is the reply if there is no text")
    thoughts: Paths = Field((), description="paths of the system's thoughts, which are not part of the reply")
    thoughts_apart: bool = Field(True, description=THOUGHTS_HELP)
    tools: Paths = Field((), description="paths of its tool calls: objects with a name and arguments")
    offers: Paths = Field((), description="paths of suggestions and buttons: texts, or objects with a title")
    attachments: Paths = Field((), description="paths of files and pictures: objects with `name`, `type`, `size`")
    finish: Paths = Field((), description="paths of the reason why the system stopped (`length`: cut by its own limit)")
    model: Paths = Field((), description="paths of the name of the model that answered")
    tokens: Paths = Field((), description="paths of its token counts: an object such as `$.usage`")
    ended: Path | None = Field(None, description="path of a value that is true if the system closed the conversation")
    stateful: bool = Field(
        True, description="true if the system remembers the conversation, false if all of it is sent"
    )
    session: Annotated[str, AfterValidator(_check_session)] | None = Field(
        None,
        description="the id for `{{ session }}`: `client` (we make one), or a path in the answer to `open`, or, "
        "without `open`, in each reply",
    )
    first_session: str | None = Field(None, description="the value of `{{ session }}` until a reply names one")
    open: Call | None = Field(
        None, description="a request that starts a session: url, method, query, body, form, headers"
    )
    close: Call | None = Field(None, description="a request that ends it")

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        _check_call(self, templates.PLACEHOLDERS)
        used = templates.placeholders((self.url, self.query, self.body, self.form, _plain_headers(self.headers)))
        if not used & {"text", "messages"}:
            raise validation_error("no field sends the user turn: put {{ text }} into body, form, query or url")
        calls = [call for call in (self.open, self.close) if call is not None]
        everywhere = used.union(
            *(templates.placeholders((c.url, c.query, c.body, c.form, _plain_headers(c.headers))) for c in calls)
        )
        if "session" in everywhere and self.session is None:
            raise validation_error("{{ session }} needs the option `session`, the path of the session id in a reply")
        if self.stateful and used & {"history", "messages"}:
            raise validation_error("a system that gets the history must not keep state itself: set stateful: false")
        return self

    @property
    def sends_history(self) -> bool:
        return bool(templates.placeholders((self.query, self.body, self.form)) & {"history", "messages"})


def _plain_headers(headers: Mapping[str, Text]) -> list[str]:
    return [value for value in headers.values() if isinstance(value, str)]


def _check_call(call: Call | Options, allowed: tuple[str, ...]) -> None:
    if call.body is not None and call.form is not None:
        raise validation_error("a request cannot have both body and form: remove one of them")
    if call.method == "GET" and (call.body is not None or call.form is not None):
        raise validation_error("a GET request cannot have body or form: use query, or method: POST")
    plain = tuple(name for name in allowed if name not in ("history", "messages"))
    try:
        templates.check_template(call.url, plain)
        templates.check_template((call.query, call.body, call.form), allowed)
        templates.check_template(_plain_headers(call.headers), ("session",))
    except ValueError as fault:
        raise validation_error(str(fault)) from None


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
        return Capabilities(stateful=self.options.stateful, editable_history=self.options.sends_history)

    async def open(self, opening: Opening) -> _Session:
        """Open a session. If the options have a request `open`, send it. Raises DriverError if that fails."""
        self.wire.ready()
        session, jar = self.options.first_session, CookieJar()
        if self.options.session == "client":
            session = str(uuid.uuid4())
        if self.opening is not None:
            received = await self.ask(self.opening, {"session": session}, jar)
            if self.options.session not in (None, "client"):
                session = described_reply.session_id(ReplyPath.parse(str(self.options.session)), received.json())
                if session is None:
                    detail = f"the answer to `open` has no session id at {self.options.session}"
                    raise received.fault(
                        Unanswered if self.answered else Denied,
                        "no-session",
                        f"{detail}; it begins: {received.beginning}",
                    )
        return _Session(self, session, jar, opening.history)

    async def ask(self, caller: _Requests, values: Mapping[str, object], jar: CookieJar) -> Received:
        # Characters of the conversation so far, if the request may contain it.
        messages = values.get("messages", ())
        request = await run_long_work(
            sum(len(message["content"]) for message in messages) if isinstance(messages, list) else 0,
            lambda: caller.request(values),
        )
        received = await self.wire.ask(request, jar=jar)
        fault = received.refusal(answered=self.answered)
        if fault is not None:
            if 400 <= received.status < 500 and "stream" in fault.detail.lower():
                fault.detail += f"; {described_reply.STREAM_HINT}"
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
        received = await driver.ask(driver.turn, values, self._jar)
        described = await run_long_work(len(received.body), lambda: driver.description.read(received))
        driver.answered = True
        self._id = described.session or self._id
        self._nameless = options.stateful and options.session not in (None, "client")
        return Reply(described.turn, received.exhibits)

    async def close(self) -> None:
        if self._closed or self._driver.closing is None:
            return
        self._closed = True
        with contextlib.suppress(DriverError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._driver.ask(self._driver.closing, {"session": self._id}, self._jar)


def reply_description(options: Options) -> Described:
    """Return the paths to the parts of a reply that the options give."""
    named_in_replies = options.session not in (None, "client") and options.open is None
    return Described(
        reply=options.reply,
        join=options.join,
        parts={name: tuple(map(ReplyPath.parse, getattr(options, name))) for name in described_reply.PARTS},
        ended=(ReplyPath.parse(options.ended),) if options.ended is not None else (),
        session=(ReplyPath.parse(str(options.session)),) if named_in_replies else (),
        thoughts_apart=options.thoughts_apart,
        events=options.events,
    )


def build(options: Options, surroundings: Surroundings) -> HttpDriver:
    """Build the driver. Raises InputError if an environment variable in the options is not set."""
    return HttpDriver(options, surroundings)


files = certificate_files
