"""The content that a page received: response bodies as they grew, and messages of sockets and event streams. The
recorder (`pages/browser/recorder.py`) creates these values. The rest of this package depends only on the values, so
that it can be tested without a browser."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

# A part of an address, or a key, that names a single conversation or message.
_IDENTIFIER = re.compile(r"[0-9a-f]{8,}|[0-9a-zA-Z_-]*\d[0-9a-zA-Z_-]{7,}|[0-9a-zA-Z_-]{20,}|\d+")


@dataclass(slots=True)
class Body:
    """The body of a response, or a part of it. `address` is a result of `general_address`. `media_type` is the media
    type as in HTTP, or "". `chunks` are pairs of arrival time (seconds by the recorder's clock) and bytes, in
    order. `ended` is the time when the body was complete, or None until then."""

    address: str
    media_type: str = ""
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message over a web socket (`channel` is `socket`) or of an event stream (`events`) with the event's `name`."""

    at: float
    address: str
    channel: str
    data: str | bytes
    name: str = ""


Received = Body | Message


def general_address(url: str) -> str:
    """Return host and path without query and credentials, with `*` for names of single conversations or messages."""
    parts = urlsplit(url)
    return generalize(f"{parts.hostname or ''}{parts.path}", "/")


def generalize(name: str, separator: str = ".") -> str:
    """Replace numbers and identifiers in a path by `*`, so that the path is identical in every turn."""
    return separator.join("*" if _IDENTIFIER.fullmatch(part) else part for part in name.split(separator))
