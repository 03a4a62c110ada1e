"""The description of one web chat in the format harvest-site/1: facts that Harvest cannot find by itself or need not
search for. Every fact is optional. docs/sites.md explains every field, and a test compares that page with this
file."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from os import PathLike
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harvest.systems.exposure import Target
from topics.document import Document, StrictModel, parse_document, read_document, validation_error
from topics.errors import InputError
from topics.patterns import check_searchable
from topics.target import parse_target

FORMAT = "harvest-site/1"

Kind = Literal["consent", "login", "captcha", "rate-limit", "error", "maintenance"]
KINDS: tuple[str, ...] = ("consent", "login", "captcha", "rate-limit", "error", "maintenance")

_KEY = re.compile(r"(?:(?:control|ctrl|meta|cmd|shift|alt)\+)*(?:enter|return)", re.IGNORECASE)
_KEY_NAMES = {"ctrl": "Control", "cmd": "Meta", "return": "Enter"}
_LONGEST_TEXT = 300  # characters of a wording
_FORMAT = f"`{FORMAT}`; may be omitted inline in an audit"
_NAME = "a name for people to read; may be omitted inline in an audit"


def _check_css(css: str) -> str:
    try:
        return checked_selector(css)
    except ValueError as fault:
        raise validation_error(str(fault)) from None


def _check_send(value: str) -> str:
    return value.strip() if _KEY.fullmatch(value.strip()) else _check_css(value)


def _check_words(text: str) -> str:
    if not text.strip():
        raise validation_error("the text must not be empty: it would match everywhere")
    if len(text) > 1 and text.startswith("/") and text.endswith("/"):
        try:
            check_searchable(text[1:-1])
        except ValueError as fault:
            raise validation_error(f"the pattern {text} {fault}") from None
    elif len(text) > _LONGEST_TEXT:
        raise validation_error(f"the text is longer than {_LONGEST_TEXT} characters; a few words are enough")
    return text


def _check_address(url: str) -> str:
    parse_target(url, secret="log in by hand with `harvest pages login`")
    return Target(url)


def _check_name(name: str) -> str:
    if not name.strip() or name != name.strip() or re.search(r"[\x00-\x1f\x7f]", name):
        raise validation_error("a name must be one line of text without surrounding spaces")
    return name


Css = Annotated[str, AfterValidator(_check_css)]
Send = Annotated[str, AfterValidator(_check_send)]
SearchText = Annotated[str, AfterValidator(_check_words)]
Name = Annotated[str, Field(max_length=200), AfterValidator(_check_name)]
FieldValue = Literal[True] | Annotated[str, Field(max_length=_LONGEST_TEXT)]
Address = Annotated[str, AfterValidator(_check_address)]


class Block(StrictModel):
    """A sign that the chat is blocked or that a turn has failed."""

    kind: Kind = Field(description="what it is; it becomes the recorded reason")
    selector: Css | None = Field(None, description="an element that is shown only in that case")
    text: SearchText | None = Field(
        None, description="words in that element, or a pattern `/…/`; without `selector`: anywhere on the page"
    )

    @model_validator(mode="after")
    def _tells_something(self) -> Self:
        if self.selector is None and self.text is None:
            raise validation_error(
                "a selector or a text is required, because otherwise every page would count as blocked"
            )
        return self

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """The pattern to search for in a text with collapsed white space, or None if any text matches."""
        if self.text is None:
            return None
        if len(self.text) > 1 and self.text.startswith("/") and self.text.endswith("/"):
            return re.compile(self.text[1:-1], re.IGNORECASE)
        return re.compile(re.escape(" ".join(self.text.split())), re.IGNORECASE)


class Site(StrictModel):
    """A web chat, as described in a site file or inline in an audit."""

    format: Literal["harvest-site/1"] | None = Field(None, description=_FORMAT)
    name: Name | None = Field(None, description=_NAME)
    about: str = Field("", description="a note for readers; Harvest does not use it")
    url: Address | None = Field(None, description="the page to open; an audit's own `url` takes precedence")
    frame: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        None, description="part of the URL of the iframe the chat is in; not given: every frame is searched"
    )
    open: tuple[Css, ...] = Field(
        (), max_length=20, description="clicked one after the other once the page has loaded: a launcher, “Start”"
    )
    fill: dict[Css, FieldValue] = Field(
        {},
        max_length=20,
        description="what to write into fields before the chat, by their selectors; `true` ticks a box",
    )
    new_chat: Css | None = Field(
        None, description="clicked to begin another conversation on the same page; not given: the page is opened again"
    )
    dismiss: tuple[Css, ...] = Field(
        (),
        max_length=20,
        description="clicked when shown while the page opens, or lying over the box later: the “Reject” of a banner",
    )
    composer: Css | None = Field(None, description="the box to type in")
    send: Send | None = Field(None, description="the button that sends; or the key that does: `enter`, `control+enter`")
    attach: Css | None = Field(None, description="the field that takes files, or the button that lets one choose them")
    attached: Css | None = Field(None, description="shown before a turn is sent for each file that the page has taken")
    user: Css | None = Field(None, description="each of the user's own bubbles")
    reply: Css | None = Field(None, description="each of the system's bubbles (or only its text)")
    leave_out: Css | None = Field(
        None, description="elements inside a reply that are not part of it: names, times, buttons"
    )
    sources: Css | None = Field(
        None, description="where a page shows the sources of its last reply outside of the chat: a panel of links"
    )
    busy: Css | None = Field(None, description="shown as long as a reply is still being written")
    ready: Css | None = Field(None, description="must be shown before anything is typed")
    ended: Css | None = Field(None, description="shown once the system has closed the conversation")
    blocked: tuple[Block, ...] = Field((), max_length=50, description="what blocks the chat, see below")
    quiet: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] | None = Field(
        None, description="seconds without a change after which a reply is complete; not given: learnt from the reply"
    )
    delay: Annotated[float, Field(ge=0, le=86400, allow_inf_nan=False)] | None = Field(
        None, description="seconds from the start of one user turn to the next, if the audit gives no `delay`"
    )

    @model_validator(mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        if isinstance(value, dict):
            value = {
                key: (part,) if key in ("open", "dismiss") and isinstance(part, str) else part
                for key, part in value.items()
            }
        return value

    @cached_property
    def selectors(self) -> dict[str, str]:
        """CSS selectors by the names with which the eye marks their matches. The name is the name of the field. In a
        list, `-1`, `-2` and so on are appended."""
        found = {name: css for name in _SINGLE_FIELDS if (css := getattr(self, name)) is not None}
        if self.send is not None and self.send_key is None:
            found["send"] = self.send
        for name, several in (("open", self.open), ("dismiss", self.dismiss)):
            found.update({f"{name}-{number}": css for number, css in enumerate(several, 1)})
        found.update({f"fill-{number}": css for number, css in enumerate(self.fill, 1)})
        for number, block in enumerate(self.blocked, 1):
            if block.selector is not None:
                found[f"blocked-{number}"] = block.selector
        return found

    @cached_property
    def send_key(self) -> str | None:
        """The key that sends, in Playwright's notation (`Control+Enter`), or None if the site names no key."""
        if self.send is None or not _KEY.fullmatch(self.send):
            return None
        return "+".join(_KEY_NAMES.get(part, part.capitalize()) for part in self.send.lower().split("+"))

    def each_block(self) -> Iterator[tuple[str, Block]]:
        """Yield every entry of `blocked` with its name in `selectors`."""
        for number, block in enumerate(self.blocked, 1):
            yield f"blocked-{number}", block


_SINGLE_FIELDS = (
    *("new_chat", "composer", "attach", "attached", "user", "reply", "leave_out", "sources", "busy", "ready", "ended"),
)


class SiteFile(Site):
    """A site in a separate file, which must have the fields `format` and `name`."""

    format: Literal["harvest-site/1"] = Field(description=_FORMAT)
    name: Name = Field(description=_NAME)


def encode_site(site: Site) -> dict[str, Any]:
    """Return the given fields as JSON values, in order. An equal site can be read from the result."""
    return site.model_dump(mode="json", exclude_defaults=True)


_LONGEST_SELECTOR = 1000  # characters
_BRACKETS = {"(": ")", "[": "]"}
_FOREIGN_SYNTAX = (
    (re.compile(r"^\s*(?:xpath=|\.{0,2}//?\w)"), "is XPath, not CSS"),
    (
        re.compile(r"^\s*(?:text|css|role|id|data-testid|data-test|internal:\w+)\s*="),
        "is a Playwright selector, not CSS",
    ),
    (re.compile(r">>"), "is a Playwright selector (`>>`), not CSS"),
    (re.compile(r"^\s*get_?by", re.IGNORECASE), "is a call of a Playwright method, not CSS"),
    (
        re.compile(r":(?:has-text|text|text-is|visible|nth-match|near|right-of|left-of|above|below)\b"),
        "uses a pseudo-class of Playwright, not of CSS",
    ),
    (
        re.compile(r":(?:contains|eq|gt|lt|first|last|even|odd|parent|button|input|selected|hidden)(?![\w-])"),
        "uses a pseudo-class of jQuery, not of CSS",
    ),
    (re.compile(r"::"), "names a pseudo-element (`::`), which is not an element of the page"),
    (re.compile(r"[{};]"), "is a style rule or a part of one, not a selector"),
    (re.compile(r"<"), "is HTML, not CSS"),
)


# Only a browser knows for certain whether a selector is valid; obvious mistakes are refused before one starts.
def checked_selector(css: str) -> str:
    """Return `css` without surrounding white space. Raises ValueError if the text cannot be a selector."""
    text, subject = css.strip(), f"the selector {css!r}"
    if not text:
        raise ValueError(f"{subject} is empty")
    if len(text) > _LONGEST_SELECTOR:
        raise ValueError(f"{subject} is longer than {_LONGEST_SELECTOR} characters")
    bare = _blank_strings(text)
    for pattern, what in _FOREIGN_SYNTAX:
        if pattern.search(bare):
            raise ValueError(f"{subject} {what}")
    waiting: list[str] = []
    for sign in bare:
        if sign in _BRACKETS:
            waiting.append(_BRACKETS[sign])
        elif sign in _BRACKETS.values() and (not waiting or waiting.pop() != sign):
            raise ValueError(f"{subject} has an unmatched {sign}")
    if waiting:
        raise ValueError(f"{subject} is missing a {waiting[-1]}")
    for part in _split_at_commas(bare):
        if not part.strip():
            raise ValueError(f"{subject} has an empty part before or after a comma")
        if re.match(r"\s*[+~>]", part) or re.search(r"[+~>]\s*$", part):
            raise ValueError(f"{subject} begins or ends with `>`, `+` or `~`")
        if re.search(r"[>+~]\s*[>+~]", part):
            raise ValueError(f"{subject} has two of > + ~ in a row")
    outside = re.sub(r"\[[^\]]*\]", "[]", bare)  # without the content of square brackets
    wrong = re.search(r"[.#](?![\w\\-]|[^\x00-\x7f])|(?<![:\w]):(?![\w:-])|:\s|:$", outside)
    if wrong:
        raise ValueError(f"{subject} has a {wrong[0].strip()!r} without a name after it")
    if re.search(r"(?<!\\)[#.][0-9]", outside):
        raise ValueError(
            f'{subject} contains a name that begins with a digit; write [id="1…"] or [class~="1…"] instead'
        )
    return text


def _blank_strings(text: str) -> str:
    """Replace all quoted text and escaped characters by `x`. Raises ValueError if a quotation is not closed."""
    out, quote, at = [], "", 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            out.append("x")
            at += 2
            continue
        if quote:
            out.append(sign if sign == quote else "x")
            quote = "" if sign == quote else quote
        else:
            out.append(sign)
            quote = sign if sign in "\"'" else ""
        at += 1
    if quote:
        raise ValueError(f"the selector {text!r} has a {quote} without a closing {quote}")
    return "".join(out)


def _split_at_commas(text: str) -> list[str]:
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in _BRACKETS) - (sign in _BRACKETS.values())
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def load_site(path: str | PathLike[str]) -> SiteFile:
    """Read a site file. Raises InputError with file:line:column."""
    return _read_site(read_document(path))


def parse_site(text: str, path: str = "site") -> SiteFile:
    """Parse the text of a site file. `path` is the name of the file in error messages. Raises InputError."""
    return _read_site(parse_document(text, path))


def site_of(value: Mapping[str, object], path: str = "site") -> Site:
    """Return the site described inline or encoded by `encode_site`. Errors call it `path`. Raises InputError."""
    model = SiteFile if "format" in value else Site
    return Document(path, _freeze(value), {}, {}).validate_as(model)


def _read_site(document: Document) -> SiteFile:
    if not isinstance(document.value, dict):
        raise document.error(
            (), "a site file must be a mapping (key: value)", advice="begin it with: format: harvest-site/1"
        )
    given = document.value.get("format")
    if isinstance(given, str) and given.startswith("harvest-") and not given.startswith("harvest-site/"):
        raise document.error(("format",), f"this is not a site file: its format is {given}", allowed="harvest-site/1")
    try:
        return document.validate_as(SiteFile)
    except InputError as fault:
        if given is None and fault.what.startswith("missing key 'format'"):
            raise InputError(fault.what, place=fault.place, advice="add it: format: harvest-site/1") from None
        raise


def _freeze(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _freeze(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(part) for part in value)
    return value
