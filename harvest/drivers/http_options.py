"""The options of the driver `http`: how to send a user turn, and where to find the reply."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harvest.drivers import template as templates
from harvest.drivers.described_reply import Described
from harvest.drivers.file_shapes import FILE_PLACEHOLDERS
from harvest.drivers.options import SECRET_HEADERS, Headers, Seconds, Text, Url, check_header_name
from harvest.drivers.reply_options import Kept, ReplyOptions, check_press, described_by
from harvest.drivers.reply_path import ConditionOption, Path, as_tuple, check_path
from harvest.drivers.template import Fields, Query, Template
from topics.document import StrictModel, form_validator, validation_error
from topics.yaml_values import Loc


def _check_session(text: str) -> str:
    return text if text == "client" else check_path(text)


def _list_of_calls(value: object) -> object:
    return (value,) if isinstance(value, (Mapping, StrictModel)) else as_tuple(value)


class _Call(StrictModel):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    query: Query = Field({})
    body: Template = None
    form: Fields | None = None
    headers: Headers = Field({})
    keep: Kept = Field({})


class Call(_Call):
    """Options of one request."""

    url: Url


class FromHeader(StrictModel):
    """An address from the header `header` of the previous answer."""

    header: Annotated[str, AfterValidator(check_header_name)]


class Listen(Call):
    """The request whose answer is a stream of events that announces messages. It is open as long as a session."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    when: ConditionOption = ()
    begins: ConditionOption = ()


class Poll(_Call):
    """The requests that fetch a reply that comes later. They may be repeated. If an answer names their address in a
    header and no option says when the reply is complete, it is complete when the status is not 202."""

    url: Url | FromHeader
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    each: Path | None = None
    id: Path | None = None
    skip: ConditionOption = ()
    newest_first: bool = False
    until: ConditionOption = ()
    quiet: Seconds | None = None
    every: Seconds = 1.0
    listen: Listen | None = None

    @model_validator(mode="after")
    def _check_poll(self) -> Self:
        if not self.until and self.quiet is None and (isinstance(self.url, str) or self.each is not None):
            raise validation_error("`poll` needs `until` or `quiet`, by which a reply is known to be complete")
        if self.each is None and (self.id is not None or self.skip or self.newest_first or self.quiet is not None):
            raise validation_error("`id`, `skip`, `newest_first` and `quiet` need `each`, the path of the messages")
        if self.listen is not None and (self.each is None or self.listen.keep):
            raise validation_error("`listen` needs `each`, the path of the messages to fetch, and cannot `keep` values")
        if self.each is not None and self.id is None and not self.keep:
            raise validation_error(
                "messages would be read again and again: give `id`, the path of a message's id, or `keep` a mark that "
                "the next request sends"
            )
        return self


class Store(Call):
    """The request that stores one file before the turn, as `part` of a form. The shapes of files use what it keeps."""

    part: str

    @model_validator(mode="after")
    def _check_store(self) -> Self:
        if self.form is None or not self.keep:
            raise validation_error(
                "`store` needs `form`, if only {}, and `keep`, the path of what names the stored file"
            )
        return self


class Attach(Call):
    """The request of a user turn with files."""

    files: dict[Annotated[str, form_validator(r"[a-z*]+/[a-z0-9.+*-]+", "media types, such as image/*")], Template] = (
        Field({})
    )
    message: Template = None
    part: str | None = None
    store: Store | None = None

    @model_validator(mode="after")
    def _check_attach(self) -> Self:
        if bool(self.files) == (self.part is not None):
            raise validation_error("`attach` needs `files`, the shapes of files, or `part`, their name in a form")
        if self.part is not None and self.form is None:
            raise validation_error("files in a `part` need a `form`")
        if self.store is not None and not self.files:
            raise validation_error("`store` needs `files`, the shapes of stored files")
        stored = tuple(self.store.keep) if self.store is not None else ()
        for shape in self.files.values():
            _check_template(shape, (*FILE_PLACEHOLDERS, *stored))
        if self.message is not None:
            _check_template(self.message, (*templates.MESSAGE_PLACEHOLDERS, templates.FILES))
        sent = templates.placeholders((self.query, self.body, self.form))
        if self.files and templates.FILES not in sent | templates.placeholders(self.message):
            raise validation_error("`attach` does not send the files: put {{ files }} into its body or `message`")
        return self


class Options(ReplyOptions):
    """Options of an HTTP API. Placeholders in `url`, `query`, `body`, `form` and `headers` are filled in for each
    turn."""

    url: Url = Field(description="where a user turn is sent")
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field("POST", description="how")
    query: Query = Field({}, description="fields of the query, added to the URL")
    body: Template = Field(None, description="a JSON value to send; strings in it may contain placeholders")
    form: Fields | None = Field(None, description="fields of a form to send instead of `body`")
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
        None,
        description="requests that fetch a reply which comes later: url, each, id, skip, until, quiet, listen, …",
    )
    press: Call | None = Field(
        None,
        description="what is sent when a user presses an offer: url, method, query, body, form, headers; `url` and "
        "`method` are those of a turn unless given; also with {{ title }}, {{ value }} and {{ value_json }}",
    )
    attach: Attach | None = Field(
        None,
        description="what is sent for a turn with files: files (their shapes by media type), message (the shape of a "
        "message with files), part (their name in a form), store (a request that stores each before), url, method, "
        "query, body, form, headers; all as for a turn unless given, with {{ files }}",
    )
    open: Annotated[tuple[Call, ...], BeforeValidator(_list_of_calls)] = Field(
        (), description="a request that starts a session, or a list: url, method, query, body, form, headers, keep"
    )
    renew: Call | None = Field(
        None,
        description="a request that gets a session new values if the system refuses (401, 403) those it was given: "
        "url, …, keep; what was refused is then sent once more",
    )
    greets: bool = Field(
        False, description="the system speaks first: what it says before the first turn is recorded as its greeting"
    )
    close: Call | None = Field(None, description="a request that ends it")

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        self._check_placeholders()
        used = templates.placeholders((self.url, self.query, self.body, self.form, plain_headers(self.headers)))
        if not used & {"text", "messages"}:
            raise validation_error("no field sends the user turn: put {{ text }} into body, form, query or url")
        if self.stateful and used & {"history", "messages"}:
            raise validation_error("a system that gets the history must not keep state itself: set stateful: false")
        if self.greets and not (self.open or (self.poll is not None and self.poll.each is not None)):
            raise validation_error("`greets` needs `open` or `poll` with `each`: what the system says comes with them")
        if self.greets and self.poll is not None and isinstance(self.poll.url, FromHeader):
            raise validation_error("`greets` needs an address in `poll`: no answer has named one before the first turn")
        if self.poll is not None and self.poll.each is not None and self.reply == ("text",):
            raise validation_error("`each` finds messages, so `reply` needs a path: `$`, if they are texts")
        if self.poll is not None and self.stream is not None:
            raise validation_error("`poll` and `stream` cannot be used together")
        if self.secret and (unknown := [name for name in self.secret if name not in self.kept_names]):
            raise validation_error(f"`secret` names {unknown[0]!r}, which no `keep` keeps")
        if self.message is not None:
            _check_template(self.message, templates.MESSAGE_PLACEHOLDERS)
        return self

    @model_validator(mode="before")
    @classmethod
    def _complete_calls(cls, given: Any) -> Any:
        """Let requests of other kinds of turns be like that of a turn, as far as they do not say otherwise."""
        if not isinstance(given, Mapping):
            return given
        made = {**given}
        for name, keys in (("press", ("url", "method")), ("attach", ("url", "method", "query", "headers"))):
            if isinstance(call := given.get(name), Mapping):
                content = () if name == "press" or {"body", "form"} & set(call) else ("body", "form")
                made[name] = {**{key: given[key] for key in (*keys, *content) if key in given}, **call}
        return made

    def _check_placeholders(self) -> None:
        kept = self.kept_names
        check_call(self, (*templates.PLACEHOLDERS, *kept))
        before: tuple[str, ...] = ("session", "visitor")
        for number, call in enumerate(self.open):
            check_call(call, before, at=("open", number))
            before = (*before, *call.keep)
        if self.poll is not None:
            check_call(self.poll, ("session", "visitor", "id", "turn", *kept), at=("poll",))
            if self.poll.listen is not None:
                check_call(self.poll.listen, ("session", "visitor", *kept), at=("poll", "listen"))
            if isinstance(self.poll.skip, dict):
                _check_template(list(self.poll.skip.values()), ("session", "visitor", *kept), at=("poll", "skip"))
        if self.press is not None:
            check_call(self.press, (*templates.PLACEHOLDERS, *templates.PRESS_PLACEHOLDERS, *kept), at=("press",))
            check_press(self, (self.press.url, self.press.query, self.press.body, self.press.form))
        if self.attach is not None:
            check_call(self.attach, (*templates.PLACEHOLDERS, templates.FILES, *kept), at=("attach",))
            if self.attach.store is not None:
                check_call(self.attach.store, ("session", "visitor", "id", "turn", *kept), at=("attach", "store"))
            if not templates.placeholders((self.attach.query, self.attach.body, self.attach.form)) & {
                "text",
                "messages",
            }:
                raise validation_error("`attach` does not send the words: put {{ text }} into its body or form")
        if self.renew is not None:
            check_call(self.renew, ("session", "visitor", *kept), at=("renew",))
            if not self.renew.keep:
                raise validation_error("`renew` needs `keep`, the paths of the new values")
        if self.close is not None:
            check_call(self.close, ("session", "visitor", *kept), at=("close",))
        sent = [(one.url, one.query, one.body, one.form, plain_headers(one.headers)) for one in self._calls]
        if "session" in templates.placeholders(sent) and self.session is None:
            raise validation_error("{{ session }} needs the option `session`, the path of the session id in a reply")

    @property
    def secret_names(self) -> frozenset[str]:
        """The names of kept values that are secrets: the names in the option `secret`, and all names in headers for
        secrets."""
        headers = [
            value for call in self._calls for name, value in call.headers.items() if name.lower() in SECRET_HEADERS
        ]
        return frozenset(self.secret) | templates.placeholders([one for one in headers if isinstance(one, str)])

    @property
    def kept_names(self) -> tuple[str, ...]:
        """The names of all values that are kept from replies, besides `session`."""
        return tuple(dict.fromkeys(name for call in self._calls for name in call.keep))

    @property
    def _calls(self) -> "tuple[Call | Poll | Options, ...]":
        listen = self.poll.listen if self.poll is not None else None
        others = (self.poll, listen, self.press, self.attach, self.renew, self.close)
        return self, *self.open, *(one for one in others if one is not None)

    @property
    def sends_history(self) -> bool:
        return bool(templates.placeholders((self.query, self.body, self.form)) & {"history", "messages"})


def plain_headers(headers: Mapping[str, Text]) -> list[str]:
    return [value for value in headers.values() if isinstance(value, str)]


def check_call(call: Call | Poll | Options, allowed: tuple[str, ...], *, at: Loc = ()) -> None:
    """Refuse a request that cannot be sent, or has a placeholder that is not `allowed`. `at` is its place in the
    options."""
    if call.body is not None and call.form is not None:
        raise validation_error("a request cannot have both body and form: remove one of them", at=at)
    if call.method == "GET" and (call.body is not None or call.form is not None):
        raise validation_error("a GET request cannot have body or form: use query, or method: POST", at=at)
    _check_template(
        call.url, tuple(name for name in allowed if name not in ("history", "messages", templates.FILES)), at=at
    )
    _check_template((call.query, call.body, call.form), allowed, at=at)
    # A text may hold what a header cannot.
    texts = ("text", "turn", "history", "messages", templates.FILES, *templates.PRESS_PLACEHOLDERS)
    others = tuple(name for name in allowed if name not in texts)
    _check_template(plain_headers(call.headers), others, at=at)


def _check_template(template: object, allowed: tuple[str, ...], *, at: Loc = ()) -> None:
    try:
        templates.check_template(template, allowed)
    except ValueError as fault:
        raise validation_error(str(fault), at=at) from None


def reply_description(options: Options) -> Described:
    """Return the description of a reply in the options."""
    named_in_replies = options.session not in (None, "client") and not options.open
    return described_by(options, {**({"session": (str(options.session),)} if named_in_replies else {}), **options.keep})
