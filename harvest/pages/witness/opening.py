"""Extraction of the texts in the received content, however they were packed. The code does not depend on a particular
API. A message is opened as far as possible: transport prefixes (`42[…]`, `a[…]`, `)]}'`), events, lines of JSON,
values preceded by their size, and text that is again JSON or base64. The results are leaves: one string each, with
its path and the names next to it."""

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from harvest.pages.witness.binary import TextOrMessage, decode_base64, read_values
from harvest.pages.witness.received import Body, Message, Received, generalize
from harvest.pages.witness.text_values import (
    NOTHING,
    parse_events,
    parse_json,
    parse_json_lines,
    strip_guard,
    text_values,
)

# The most leaves that are opened of one turn; later messages are not read.
MOST_LEAVES = 60_000

# Keys with the kind of a text as their value.
_NAMING_KEY = re.compile(
    r"(?:.*[_.-])?(?:type|role|event|kind|op|action|method|channel|topic|author|sender|from|who|side|speaker|status|object)"
    r"|o|t|(?:is|from)[_A-Z]?(?:user|bot|me|human|ai|assistant|partial|final|typing)\w*",
    re.IGNORECASE,
)
# Keys with the text's place in a document of the page; deltas omit it if it has not changed.
_ROUTE_KEYS = frozenset({"p", "path"})
_NUMBER_KEYS = frozenset({"id", "message_id", "messageId", "uuid", "index", "item_id", "messageID", "_id", "key"})
_OFFSET_KEYS = frozenset({"start", "from", "offset", "pos", "position", "at"})
_WORD = re.compile(r"[A-Za-z][\w.:/-]{0,39}")
_DEEPEST = 40  # values nested in values
_MOST_REOPENINGS = 3  # most times that a text is opened again as JSON or base64
_PLAIN_SHARE = 0.5  # least share of characters in JSON for a body of JSON lines


@dataclass(frozen=True, slots=True)
class Leaf:
    """A string that was received. `at` is the time of arrival, and `path` the exact path in the message. `names` gives
    the kinds that the message assigns to the string. `number` is the id of the message or object around the string.
    `place` is the offset in the earlier text from which the string replaces everything, or None. `request` is the
    number of the response body, or 0 for all socket messages."""

    at: float
    address: str
    path: str
    names: tuple[str, ...]
    number: str
    text: str
    place: int | None = None
    request: int = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of one message without its texts. The end of a response counts as a message."""

    at: float
    form: str


@dataclass(slots=True)
class OpenedContent:
    """The opened content. `leaves` holds the strings in the order of arrival. `shapes` holds the shape of each
    message, for learning end signals. `size` is the number of bytes, and `unread` the number of bytes in messages
    without text. `capped` is True if some content was too much to open."""

    leaves: list[Leaf]
    shapes: list[Shape]
    size: int = 0
    unread: int = 0
    capped: bool = False


def open_content(received: Iterable[Received], since: float) -> OpenedContent:
    """Return the texts that came after `since`, by the recorder's clock. Only the later pieces of an older body are
    returned."""
    found = OpenedContent([], [])
    parts: list[tuple[float, int, Message | _Part]] = []
    for number, one in enumerate(received):
        if isinstance(one, Message):
            if one.at >= since:
                parts.append((one.at, number, one))
                found.size += len(one.data)
        else:
            later = sum(len(data) for at, data in one.chunks if at >= since)
            ended = one.ended is not None and one.ended >= since
            if ended and one.ended is not None:
                found.shapes.append(Shape(one.ended, f"{one.address} ended"))
            if later or ended:
                found.size += later
                parts += ((part.at, number, part) for part in _body_parts(one, number + 1) if part.at >= since)
    parts.sort(key=lambda part: part[0])
    routes: dict[str, str] = {}
    for _, _, part in parts:
        if len(found.leaves) >= MOST_LEAVES:
            found.capped = True
            break
        if isinstance(part, _Part):
            values: Sequence[object] = part.values
        else:
            values = read_values(part.data) if isinstance(part.data, bytes) else text_values(part.data)
        name = part.name
        before = len(found.leaves)
        walker = _Walker(part.at, part.address, part.request if isinstance(part, _Part) else 0, routes, found.leaves)
        for value in values:
            walker.walk(value, _Position("", (name,) if name else ()))
            found.shapes.append(Shape(part.at, f"{part.address} {name} {_message_form(value)}"))
        if len(found.leaves) == before and isinstance(part, Message):
            found.unread += len(part.data)
        elif isinstance(part, _Part) and not part.values:
            found.unread += part.size
    found.shapes.sort(key=lambda shape: shape.at)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    at: float
    address: str
    name: str
    values: tuple[object, ...]
    request: int
    size: int


def _body_parts(body: Body, request: int) -> Iterator[_Part]:
    data = b"".join(chunk for _, chunk in body.chunks)
    times = _Times(body)
    if not data:
        return

    def part(end: int, values: Iterable[object], name: str = "", size: int = 0) -> _Part:
        return _Part(times.time_of(end), body.address, name, tuple(values), request, size)

    text = _decode_body(data, body.media_type)
    if text is None:
        yield part(len(data), read_values(data), size=len(data))
        return
    media = body.media_type.partition(";")[0].strip().lower()
    if media == "application/grpc-web-text" or (encoded := decode_base64(text.strip())) is not None:
        encoded = encoded if media != "application/grpc-web-text" else decode_base64(text.strip())
        yield part(len(data), read_values(encoded) if encoded else (), size=len(data))
        return
    if media == "text/event-stream" or re.match(r"(?:(?:event|id|retry|:)[^\n]*\n)*data:", text):
        yield from (part(end, values, name) for end, name, values in parse_events(text))
        return
    whole = parse_json(strip_guard(text))
    if whole is not NOTHING:
        yield part(len(data), (whole,))
        return
    lines = list(parse_json_lines(text))
    covered = sum(size for _, _, _, size in lines)
    if lines and covered >= _PLAIN_SHARE * len(text.strip()):
        yield from (part(end, values, name) for end, name, values, _ in lines)
        return
    # Running text, or HTML: one leaf, as far as it has come.
    yield part(len(data), (text,))


def _decode_body(data: bytes, media_type: str) -> str | None:
    """Return the text of a body, or None if the bytes are not text. The last character may be incomplete."""
    charset = re.search(r"charset=[\"']?([\w-]+)", media_type)
    for name in (charset[1] if charset else "utf-8", "utf-8"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(data)
        except (LookupError, ValueError):
            continue
        return None if "\x00" in text else text.removeprefix("\ufeff")
    return None


class _Times:
    """The arrival times of the characters of a body, by offset. The sizes of chunks locate a part precisely enough."""

    def __init__(self, body: Body) -> None:
        self._ends: list[tuple[int, float]] = []
        size = 0
        for at, data in body.chunks:
            size += len(data.decode(errors="ignore")) if data else 0
            self._ends.append((size, at))

    def time_of(self, place: int) -> float:
        chunk = bisect_left(self._ends, place, key=lambda end: end[0])
        return self._ends[min(chunk, len(self._ends) - 1)][1]


class _Position(NamedTuple):
    """A position in a message. `depth` is the number of levels above it, and `again` the number of times that a text
    around it was opened. The other fields are as in `Leaf`."""

    path: str
    names: tuple[str, ...]
    number: str = ""
    place: int | None = None
    depth: int = 0
    again: int = 0

    def inside(self, step: str, **changes: Any) -> "_Position":
        return self._replace(path=self.path + step, depth=self.depth + 1, **changes)


class _Walker:
    """A collector of the leaves of a value. `routes` holds the last path in the page's document, by address."""

    def __init__(self, at: float, address: str, request: int, routes: dict[str, str], into: list[Leaf]) -> None:
        self._at, self._address, self._request, self._routes, self._into = at, address, request, routes, into

    def walk(self, value: object, at: _Position) -> None:
        if len(self._into) >= MOST_LEAVES or at.depth > _DEEPEST:
            return
        if isinstance(value, TextOrMessage):
            self.walk(value.text, at.inside(""))
            self.walk(value.inner, at.inside(""))
        elif isinstance(value, str):
            self._walk_text(value, at)
        elif isinstance(value, Mapping):
            self._walk_mapping(value, at)
        elif _is_map(value):
            self._walk_mapping(dict(cast(Sequence[tuple[object, object]], value)), at)
        elif isinstance(value, (list, tuple)):
            # ["name", value, …] is what sockets and diffs write instead of {"name": value}. A pair of two strings may
            # also be two texts, so its first one is read, too.
            first = value[0] if value else None
            rest = value[1:]
            named = isinstance(first, str) and bool(_WORD.fullmatch(first))
            named = named and (len(rest) == 1 or any(not isinstance(part, str) for part in rest))
            for position, part in enumerate(value):
                if not named:
                    self.walk(part, at.inside(f".{position}"))
                elif position or (len(rest) == 1 and isinstance(rest[0], str)):
                    self.walk(part, at.inside(f":{position}", names=(*at.names, str(first))))

    def _walk_mapping(self, value: Mapping[object, object], at: _Position) -> None:
        fresh: list[str] = []
        number = at.number
        place: int | None = None
        route = ""
        texts = False
        for key, part in value.items():
            name = str(key)
            if isinstance(part, bool):
                if _NAMING_KEY.fullmatch(name):
                    fresh.append(f"{name}={part}")
            elif isinstance(part, int) and name in _OFFSET_KEYS:
                place = part if part >= 0 else None
            elif name in _NUMBER_KEYS and isinstance(part, (str, int)):
                number = f"{number}/{part}"
            elif isinstance(part, Mapping) and len(part) == 1 and _NUMBER_KEYS & part.keys():
                number = f"{number}/{next(iter(part.values()))}"  # the subject, by its number
            elif isinstance(part, str) and name in _ROUTE_KEYS and part:
                route = part
            elif isinstance(part, str) and _NAMING_KEY.fullmatch(name) and (not part or _WORD.fullmatch(part)):
                fresh.append(f"{name}={part}")
            else:
                texts = texts or isinstance(part, str)
        if route:
            self._routes[f"{self._address} {at.path}"] = route
        elif texts:
            # A piece without a place goes where the last one went.
            route = self._routes.get(f"{self._address} {at.path}", "")
        if route:
            fresh = [one for one in fresh if not one.startswith(("o=", "op="))] + [f"path={generalize(route, '/')}"]
            number = f"{number}/{route}"
        names = tuple(dict.fromkeys((*at.names, *fresh)))
        for key, part in value.items():
            name = str(key)
            if isinstance(part, str) and (name in _ROUTE_KEYS or name in _NUMBER_KEYS or f"{name}={part}" in fresh):
                continue
            self.walk(part, at.inside(f".{name}", names=names, number=number, place=place))

    def _walk_text(self, text: str, at: _Position) -> None:
        if not text:
            return
        if at.again < _MOST_REOPENINGS:
            inner = parse_json(text) if text[:1] in "{[" and text.rstrip()[-1:] in "}]" else NOTHING
            if inner is not NOTHING and isinstance(inner, (dict, list)) and inner:
                self.walk(inner, at.inside("~", again=at.again + 1))
                return
            encoded = decode_base64(text) if len(text) >= 16 else None
            values: Sequence[object] = []
            if encoded is not None:
                try:
                    plain = encoded.decode()
                except UnicodeDecodeError:
                    plain = ""
                values = text_values(plain) if plain and "\x00" not in plain else read_values(encoded)
            if any(not isinstance(value, str) for value in values):  # text may continue in the next piece: see strands
                for value in values:
                    self.walk(value, at.inside("~", again=at.again + 1))
                return
        leaf = Leaf(self._at, self._address, at.path, at.names, at.number, text, at.place, self._request)
        self._into.append(leaf)


def _is_map(value: object) -> bool:
    """Return True for a map written as a list of pairs. The names must differ, and at least one value must not be a
    string. Otherwise a list of (speaker, text) pairs would count as a map."""
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        return False
    names = {pair[0] for pair in value if isinstance(pair, (list, tuple)) and len(pair) == 2 and type(pair[0]) is str}
    named = len(names) == len(value) and all(map(_WORD.fullmatch, names))
    return named and any(not isinstance(pair[1], str) for pair in value)


def _message_form(value: object, depth: int = 0) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, str):
        return value if _WORD.fullmatch(value) or value == "[DONE]" else "…"
    if isinstance(value, Mapping):
        if depth > 4:
            return "{…}"
        # A word is part of the form only if it names something; otherwise it may be a piece of the reply.
        inner = (
            f"{generalize(str(key))}:"
            + ("…" if isinstance(part, str) and not _NAMING_KEY.fullmatch(str(key)) else _message_form(part, depth + 1))
            for key, part in list(value.items())[:20]
        )
        return "{" + ",".join(inner) + "}"
    if isinstance(value, (list, tuple)):
        inner = (
            "…" if at and isinstance(part, str) else _message_form(part, depth + 1) for at, part in enumerate(value[:6])
        )
        return "[…]" if depth > 4 else f"[{','.join(inner)}]"
    return "0"
