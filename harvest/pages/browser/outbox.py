"""What a page sends out around a user turn: requests with what they carry, frames over web sockets, new sockets.

That a turn has left is often to be seen nowhere else: many pages show it only once the server has taken it. But a page
also sends much by itself: it keeps connections alive, tells that somebody is typing, saves drafts. So what goes out
while nobody types is known again, and so is what goes out while the turn is typed.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from harvest.pages.browser.traffic import CARRYING

_DIGITS = re.compile(r"\d+")
_BEAT = 300  # characters: what is longer keeps no connection alive
_HEAD = 2000  # characters by which messages of one kind are known
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MOST = 50  # messages kept of one turn
_LONGEST = 1_000_000  # bytes or characters kept of one message


@dataclass(slots=True)
class Outbox:
    """Fed with what leaves the page. bodies: what was carried since the mark, the first 50 messages."""

    bodies: list[str | bytes] = field(default_factory=list)
    _phase: str = "rest"
    _beats: set[str] = field(default_factory=set)
    _typed: set[str] = field(default_factory=set)
    _left: list[str] = field(default_factory=list)

    def rest(self) -> None:
        """The turn is over: what goes out from now on is the page's own."""
        self._phase = "rest"

    def typing(self) -> None:
        """A turn is about to be typed."""
        self._phase = "typing"
        self._typed.clear()

    def mark(self) -> None:
        """The turn is sent now."""
        self._phase = "sent"
        self._left.clear()
        self.bodies.clear()

    def request(self, method: str, url: str, kind: str, body: bytes | None) -> None:
        """kind: as Chromium names it. Pictures, scripts, styles and beacons carry no turn."""
        if kind not in CARRYING:
            return
        asked = f"{method} {_route(url)}?{','.join(sorted(name for name, _ in parse_qsl(urlsplit(url).query)))}"
        if method == "GET" and kind != "document":
            # What a page asks for again and again brings nothing away.
            if self._phase == "rest":
                self._beats.add(asked)
            if asked in self._beats:
                return
        self._sent(asked, body if body is not None else unquote_plus(url))  # a turn may go out in the address itself

    def socket(self, url: str) -> None:
        """A web socket is being opened."""
        self._sent(f"socket {_route(url)}", "")

    def frame(self, url: str, data: str | bytes) -> None:
        """A frame went out over a web socket."""
        beat = f"{_route(url)} {data!r}"
        if self._phase == "rest":
            if len(data) <= _BEAT:
                self._beats.add(beat)
        elif beat not in self._beats:
            self._sent(f"frame {_route(url)} {_shape(data)}", data)

    def left(self, *, beyond_typing: bool = False) -> bool:
        """Whether anything has left since the mark that may have carried the turn.

        beyond_typing: apart from what is like what went out while it was typed.
        """
        return any(not (beyond_typing and kind in self._typed) for kind in self._left)

    @property
    def messages(self) -> tuple[tuple[str, str | bytes], ...]:
        """(kind, body) of what was carried since the mark."""
        return tuple(zip(self._left, self.bodies, strict=True))

    def _sent(self, kind: str, body: str | bytes) -> None:
        if self._phase == "typing":
            self._typed.add(kind)
        elif self._phase == "sent" and len(self._left) < _MOST:
            self._left.append(kind)
            self.bodies.append(body[:_LONGEST])


def _shape(data: str | bytes) -> str:
    """What is the same of frames of one kind, whatever they count and whatever text they hold."""
    if isinstance(data, bytes):
        return repr(data[:_HEAD])
    plain = _STRING.sub(lambda found: '""' if re.search(r"[\s\\]", found[0]) else found[0], data[:_HEAD])
    return _DIGITS.sub("0", plain)


def _route(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
