"""The options of drivers for finding the parts of a reply in a body, in events or in frames."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harvest.drivers import template as templates
from harvest.drivers.described_reply import PARTS, Described, StreamShape
from harvest.drivers.event_stream import JSON_LINES, SERVER_SENT_EVENTS
from harvest.drivers.options import THOUGHTS_HELP, WireOptions
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
from topics.document import StrictModel, validation_error

_FORMS = {"events": SERVER_SENT_EVENTS, "lines": JSON_LINES}

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _check_kept(kept: Mapping[str, object]) -> Mapping[str, object]:
    known = dict.fromkeys((*templates.PLACEHOLDERS, *templates.MESSAGE_PLACEHOLDERS, templates.FILES))
    for name in kept:
        if not _NAME.fullmatch(name) or name in known:
            raise validation_error(
                f"a kept value cannot be called {name!r}",
                allowed=f"small letters, digits and _; not {', '.join(known)}",
            )
    return kept


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
    """The options for reading a reply from a stream of events. The paths of the options are tried on each event."""

    end: Annotated[Annotated[tuple[str, ...], Field(min_length=1)] | None, BeforeValidator(as_tuple)]
    name: Paths = ()
    replace: EventPaths = ()
    fail: EventPaths = ()
    messages: Paths = ()
    begin: ConditionOption = ()
    patch: EventPaths = ()
    form: Literal["events", "lines"] | None = None

    @model_validator(mode="after")
    def _check_end(self) -> Self:
        for end in self.end or ():
            if end.startswith("$"):
                check_path(end)
        return self


class ReplyOptions(WireOptions):
    """The options for finding the parts of a reply."""

    reply: TextPaths = Field(
        description="path of the reply's text, such as `$.reply.text`, or `text` for the whole body"
    )
    join: str = Field("\n\n", description="separator between several texts or messages of one reply")
    stream: Stream | None = Field(
        None, description="how a stream of events is read: end, name, replace, fail, messages, begin, patch, form"
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

    @model_validator(mode="after")
    def _check_reply(self) -> Self:
        if not self.reply:
            raise validation_error("`reply` needs the path of the reply's text")
        return self


def check_press(options: ReplyOptions, press: object) -> None:
    """Refuse the template `press` if it does not send the pressed button, or if replies have no buttons."""
    if not options.offers:
        raise validation_error("`press` needs `offers`, the paths of what can be pressed")
    if not templates.placeholders(press) & {"text", *templates.PRESS_PLACEHOLDERS}:
        raise validation_error("`press` does not send what is pressed: put {{ value }} into it")


def described_by(options: ReplyOptions, kept: Mapping[str, tuple[str | None, ...]]) -> Described:
    """Return the description of a reply in the options. `kept` has the paths of values that later requests use."""
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
        ends=frozenset(end for end in stream.end or () if not end.startswith("$")),
        end=Condition.parse(tuple(end for end in stream.end or () if end.startswith("$"))),
        names=tuple(map(ReplyPath.parse, stream.name)),
        replace=PartPaths.parse(stream.replace),
        fail=PartPaths.parse(stream.fail),
        messages=tuple(map(ReplyPath.parse, stream.messages)),
        begin=Condition.parse(stream.begin),
        patch=PartPaths.parse(stream.patch),
        media_type=_FORMS[stream.form] if stream.form is not None else "",
    )
