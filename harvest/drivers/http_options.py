"""The options of the driver `http`: how a user turn is sent, and where the reply is found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harvest.drivers import template as templates
from harvest.drivers.described_reply import PARTS, Described, StreamShape
from harvest.drivers.event_stream import JSON_LINES, SERVER_SENT_EVENTS
from harvest.drivers.options import SECRET_HEADERS, THOUGHTS_HELP, Headers, Seconds, Text, Url, WireOptions
from harvest.drivers.reply_path import (
    Condition,
    ConditionOption,
    EventPaths,
    PartPaths,
    Path,
    Paths,
    ReplyPath,
    TextPaths,
    as_tuple,
    check_path,
)
from harvest.drivers.template import Fields, Template
from topics.document import StrictModel, validation_error
from topics.yaml_values import Loc

_FORMS = {"events": SERVER_SENT_EVENTS, "lines": JSON_LINES}


_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _check_session(text: str) -> str:
    return text if text == "client" else check_path(text)


def _check_kept(kept: Mapping[str, object]) -> Mapping[str, object]:
    for name in kept:
        if not _NAME.fullmatch(name) or name in (*templates.PLACEHOLDERS, *templates.MESSAGE_PLACEHOLDERS):
            taken = ", ".join(dict.fromkeys((*templates.PLACEHOLDERS, *templates.MESSAGE_PLACEHOLDERS)))
            raise validation_error(
                f"a kept value cannot be called {name!r}", allowed=f"small letters, digits and _; not {taken}"
            )
    return kept


def _list_of_calls(value: object) -> object:
    return (value,) if isinstance(value, (Mapping, StrictModel)) else as_tuple(value)


def _check_kept_paths(paths: tuple[str | None, ...]) -> tuple[str | None, ...]:
    for path in paths:
        if path is None and paths[-1:] != (None,):
            raise validation_error("null can only be the last of the paths")
        if path is not None:
            check_path(path)
    return paths


# Values of a reply that later requests use, by name. A null after the paths forgets an earlier value.
Kept = Annotated[
    dict[str, Annotated[tuple[str | None, ...], AfterValidator(_check_kept_paths), BeforeValidator(as_tuple)]],
    AfterValidator(_check_kept),
]


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
    keep: Kept = Field({})


class Poll(Call):
    """The requests that fetch a reply which comes later. They may be repeated."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    each: Path | None = None
    id: Path | None = None
    skip: ConditionOption = ()
    newest_first: bool = False
    until: ConditionOption = ()
    quiet: Seconds | None = None
    every: Seconds = 1.0

    @model_validator(mode="after")
    def _check_poll(self) -> Self:
        if not self.until and self.quiet is None:
            raise validation_error("`poll` needs `until` or `quiet`, by which a reply is known to be complete")
        if self.each is None and (self.id is not None or self.skip or self.newest_first or self.quiet is not None):
            raise validation_error("`id`, `skip`, `newest_first` and `quiet` need `each`, the path of the messages")
        if self.each is not None and self.id is None and not self.keep:
            raise validation_error(
                "messages would be read again and again: give `id`, the path of a message's id, or `keep` a mark that "
                "the next request sends"
            )
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
    keep: Kept = Field({}, description="further values in replies that later requests use as placeholders, by name")
    secret: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        (),
        description="names of kept values to redact in the recording, besides those in headers such as `Authorization`",
    )
    message: Template = Field(None, description="shape of each of `{{ messages }}`, with {{ role }} and {{ text }}")
    roles: dict[Literal["user", "assistant"], str] = Field(
        {}, description="names of the roles, if they are not `user` and `assistant`"
    )
    poll: Poll | None = Field(
        None, description="requests that fetch a reply which comes later: url, each, id, skip, until, quiet, every, …"
    )
    open: Annotated[tuple[Call, ...], BeforeValidator(_list_of_calls)] = Field(
        (), description="a request that starts a session, or a list: url, method, query, body, form, headers, keep"
    )
    greets: bool = Field(
        False, description="the system speaks first: what it says before the first turn is kept as evidence"
    )
    close: Call | None = Field(None, description="a request that ends it")

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if not self.reply:
            raise validation_error("`reply` needs the path of the reply's text")
        self._check_placeholders()
        used = templates.placeholders((self.url, self.query, self.body, self.form, plain_headers(self.headers)))
        if not used & {"text", "messages"}:
            raise validation_error("no field sends the user turn: put {{ text }} into body, form, query or url")
        if self.stateful and used & {"history", "messages"}:
            raise validation_error("a system that gets the history must not keep state itself: set stateful: false")
        if self.greets and not (self.open or (self.poll is not None and self.poll.each is not None)):
            raise validation_error("`greets` needs `open` or `poll` with `each`: what the system says comes with them")
        if self.secret and (unknown := [name for name in self.secret if name not in self.kept_names]):
            raise validation_error(f"`secret` names {unknown[0]!r}, which no `keep` keeps")
        if self.message is not None:
            _check_template(self.message, templates.MESSAGE_PLACEHOLDERS)
        return self

    def _check_placeholders(self) -> None:
        kept = self.kept_names
        check_call(self, (*templates.PLACEHOLDERS, *kept))
        before: tuple[str, ...] = ("session", "visitor")
        for number, call in enumerate(self.open):
            check_call(call, before, at=("open", number))
            before = (*before, *call.keep)
        if self.poll is not None:
            check_call(self.poll, ("session", "visitor", "id", "turn", *kept), at=("poll",))
            if isinstance(self.poll.skip, dict):
                _check_template(list(self.poll.skip.values()), ("session", "visitor", *kept), at=("poll", "skip"))
        if self.close is not None:
            check_call(self.close, ("session", "visitor", *kept), at=("close",))
        sent = [(one.url, one.query, one.body, one.form, plain_headers(one.headers)) for one in self._calls]
        if "session" in templates.placeholders(sent) and self.session is None:
            raise validation_error("{{ session }} needs the option `session`, the path of the session id in a reply")

    @property
    def secret_names(self) -> frozenset[str]:
        """The names of kept values that are secrets: those of the option `secret`, and all in headers for secrets."""
        headers = [
            value for call in self._calls for name, value in call.headers.items() if name.lower() in SECRET_HEADERS
        ]
        return frozenset(self.secret) | templates.placeholders([one for one in headers if isinstance(one, str)])

    @property
    def kept_names(self) -> tuple[str, ...]:
        """The names of all values that are kept from replies, besides `session`."""
        return tuple(dict.fromkeys(name for call in self._calls for name in call.keep))

    @property
    def _calls(self) -> tuple[Call | Options, ...]:
        return self, *self.open, *(one for one in (self.poll, self.close) if one is not None)

    @property
    def sends_history(self) -> bool:
        return bool(templates.placeholders((self.query, self.body, self.form)) & {"history", "messages"})


def plain_headers(headers: Mapping[str, Text]) -> list[str]:
    return [value for value in headers.values() if isinstance(value, str)]


def check_call(call: Call | Options, allowed: tuple[str, ...], *, at: Loc = ()) -> None:
    """Refuse a request that cannot be sent, or has a placeholder that is not `allowed`. `at` is its place in the
    options."""
    if call.body is not None and call.form is not None:
        raise validation_error("a request cannot have both body and form: remove one of them", at=at)
    if call.method == "GET" and (call.body is not None or call.form is not None):
        raise validation_error("a GET request cannot have body or form: use query, or method: POST", at=at)
    _check_template(call.url, tuple(name for name in allowed if name not in ("history", "messages")), at=at)
    _check_template((call.query, call.body, call.form), allowed, at=at)
    # A text may hold what a header cannot.
    others = tuple(name for name in allowed if name not in ("text", "turn", "history", "messages"))
    _check_template(plain_headers(call.headers), others, at=at)


def _check_template(template: object, allowed: tuple[str, ...], *, at: Loc = ()) -> None:
    try:
        templates.check_template(template, allowed)
    except ValueError as fault:
        raise validation_error(str(fault), at=at) from None


def reply_description(options: Options) -> Described:
    """Return how the options say that a reply is read."""
    named_in_replies = options.session not in (None, "client") and not options.open
    kept = {**({"session": (str(options.session),)} if named_in_replies else {}), **options.keep}
    ended = options.ended if isinstance(options.ended, dict) else dict.fromkeys(options.ended, (True,))
    return Described(
        reply=PartPaths.parse(options.reply),
        join=options.join,
        parts={name: PartPaths.parse(getattr(options, name)) for name in PARTS},
        ended=Condition.parse(ended),
        refused=Condition.parse(options.refused),
        fail=Condition.parse(options.fail),
        kept=parse_kept(kept),
        thoughts_apart=options.thoughts_apart,
        raw_controls=options.raw_controls,
        stream=_stream_shape(options.stream) if options.stream is not None else None,
    )


def parse_kept(kept: Mapping[str, tuple[str | None, ...]]) -> Mapping[str, tuple[ReplyPath | None, ...]]:
    """Return the paths of kept values by name, ready to be used."""
    return {name: tuple(ReplyPath.parse(one) if one else None for one in paths) for name, paths in kept.items()}


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
