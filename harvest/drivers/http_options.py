"""The options of the driver `http`: how a user turn is sent, and where the reply is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harvest.drivers import template as templates
from harvest.drivers.described_reply import PARTS, Described, StreamShape
from harvest.drivers.event_stream import JSON_LINES, SERVER_SENT_EVENTS
from harvest.drivers.options import THOUGHTS_HELP, Headers, Text, Url, WireOptions
from harvest.drivers.reply_path import (
    Condition,
    ConditionOption,
    EventPaths,
    PartPaths,
    Paths,
    ReplyPath,
    TextPaths,
    as_tuple,
    check_path,
)
from harvest.drivers.template import Fields, Template
from topics.document import StrictModel, validation_error

_FORMS = {"events": SERVER_SENT_EVENTS, "lines": JSON_LINES}


def _check_session(text: str) -> str:
    return text if text == "client" else check_path(text)


class Stream(StrictModel):
    """How a reply in a stream of events is read. The paths of the options are tried on each event."""

    end: Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(as_tuple)]
    name: Paths = ()
    replace: EventPaths = ()
    fail: EventPaths = ()
    messages: Paths = ()
    form: Literal["events", "lines"] | None = None

    @model_validator(mode="after")
    def _check_end(self) -> Self:
        for end in self.end:
            if end.startswith("$"):
                check_path(end)
        return self


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
        check_call(self, ("session",))
        return self


class Options(WireOptions):
    """Options of an HTTP API. Placeholders in `url`, `query`, `body`, `form` and `headers` are filled in for each
    turn."""

    url: Url = Field(description="where a user turn is sent")
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field("POST", description="how")
    query: Fields = Field({}, description="fields of the query, added to the URL")
    body: Template = Field(None, description="a JSON value to send; strings in it may contain placeholders")
    form: Fields | None = Field(None, description="fields of a form to send instead of `body`")
    reply: TextPaths = Field(
        description="path of the reply's text, such as `$.reply.text`, or `text` for the whole body"
    )
    join: str = Field("\n\n", description="separator between several texts or messages of one reply")
    stream: Stream | None = Field(
        None, description="how a stream of events is read: end, name, replace, fail, messages, form"
    )
    links: EventPaths = Field(
        (), description="paths of links that are not in the text: URLs, or objects with `url` and `title`"
    )
    refusal: EventPaths = Field((), description="paths of the system's refusal, which is the reply if there is no text")
    refused: ConditionOption = Field((), description="condition under which the reply is a refusal, whatever its text")
    thoughts: EventPaths = Field((), description="paths of the system's thoughts, which are not part of the reply")
    thoughts_apart: bool = Field(True, description=THOUGHTS_HELP)
    tools: EventPaths = Field((), description="paths of its tool calls: objects with a name and arguments")
    offers: EventPaths = Field((), description="paths of suggestions and buttons: texts, or objects with a title")
    attachments: EventPaths = Field((), description="paths of files and pictures: objects with `name`, `type`, `size`")
    finish: EventPaths = Field(
        (), description="paths of the reason why the system stopped (`length`: cut by its own limit)"
    )
    model: EventPaths = Field((), description="paths of the name of the model that answered")
    tokens: EventPaths = Field((), description="paths of its token counts: an object such as `$.usage`")
    ended: ConditionOption = Field(
        (), description="condition under which the system closed the conversation: a path of the value true, or values"
    )
    fail: ConditionOption = Field((), description="condition under which the reply is an error, whatever its status")
    raw_controls: bool = Field(
        False, description="accept line breaks and other control characters in JSON strings, which JSON forbids"
    )
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
        if not self.reply:
            raise validation_error("`reply` needs the path of the reply's text")
        check_call(self, templates.PLACEHOLDERS)
        used = templates.placeholders((self.url, self.query, self.body, self.form, plain_headers(self.headers)))
        if not used & {"text", "messages"}:
            raise validation_error("no field sends the user turn: put {{ text }} into body, form, query or url")
        calls = [call for call in (self.open, self.close) if call is not None]
        everywhere = used.union(
            *(templates.placeholders((c.url, c.query, c.body, c.form, plain_headers(c.headers))) for c in calls)
        )
        if "session" in everywhere and self.session is None:
            raise validation_error("{{ session }} needs the option `session`, the path of the session id in a reply")
        if self.stateful and used & {"history", "messages"}:
            raise validation_error("a system that gets the history must not keep state itself: set stateful: false")
        return self

    @property
    def sends_history(self) -> bool:
        return bool(templates.placeholders((self.query, self.body, self.form)) & {"history", "messages"})


def plain_headers(headers: Mapping[str, Text]) -> list[str]:
    return [value for value in headers.values() if isinstance(value, str)]


def check_call(call: Call | Options, allowed: tuple[str, ...]) -> None:
    """Refuse a request that cannot be sent, or has a placeholder that is not `allowed`."""
    if call.body is not None and call.form is not None:
        raise validation_error("a request cannot have both body and form: remove one of them")
    if call.method == "GET" and (call.body is not None or call.form is not None):
        raise validation_error("a GET request cannot have body or form: use query, or method: POST")
    plain = tuple(name for name in allowed if name not in ("history", "messages"))
    try:
        templates.check_template(call.url, plain)
        templates.check_template((call.query, call.body, call.form), allowed)
        templates.check_template(plain_headers(call.headers), ("session",))
    except ValueError as fault:
        raise validation_error(str(fault)) from None


def reply_description(options: Options) -> Described:
    """Return how the options say that a reply is read."""
    named_in_replies = options.session not in (None, "client") and options.open is None
    ended = options.ended if isinstance(options.ended, dict) else dict.fromkeys(options.ended, (True,))
    return Described(
        reply=PartPaths.parse(options.reply),
        join=options.join,
        parts={name: PartPaths.parse(getattr(options, name)) for name in PARTS},
        ended=Condition.parse(ended),
        refused=Condition.parse(options.refused),
        fail=Condition.parse(options.fail),
        kept={"session": (ReplyPath.parse(str(options.session)),)} if named_in_replies else {},
        thoughts_apart=options.thoughts_apart,
        raw_controls=options.raw_controls,
        stream=_stream_shape(options.stream) if options.stream is not None else None,
    )


def _stream_shape(stream: Stream) -> StreamShape:
    return StreamShape(
        ends=frozenset(end for end in stream.end if not end.startswith("$")),
        end=Condition.parse(tuple(end for end in stream.end if end.startswith("$"))),
        names=tuple(map(ReplyPath.parse, stream.name)),
        replace=PartPaths.parse(stream.replace),
        fail=PartPaths.parse(stream.fail),
        messages=tuple(map(ReplyPath.parse, stream.messages)),
        media_type=_FORMS[stream.form] if stream.form is not None else "",
    )
