"""The messages that a page sends around a user turn: requests with their bodies, web socket frames, and new sockets.

A message is often the only sign that a turn has left, because many pages show the turn only once the server has
accepted it. But a page also sends many messages by itself: it keeps connections alive, reports that somebody is
typing, and saves drafts. So Harvest remembers the kinds of messages sent while nobody types, or while the turn is
being typed, and recognises them later.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from harvest.pages.browser.traffic import CARRYING

_DIGITS = re.compile(r"\d+")
_LONGEST_HEARTBEAT = 300  # characters: a longer message does not only keep a connection alive
_COMPARED_LENGTH = 2000  # characters by which messages of one kind are recognised
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MOST_MESSAGES = 50  # messages kept of one turn
_LONGEST_BODY = 1_000_000  # bytes or characters kept of one message


@dataclass(slots=True)
class Outbox:
    """The messages that leave the page. `bodies` holds the contents of the first 50 messages since the mark."""

    bodies: list[str | bytes] = field(default_factory=list)
    _phase: str = "rest"
    _beats: set[str] = field(default_factory=set)
    _typed: set[str] = field(default_factory=set)
    _left: list[str] = field(default_factory=list)

    def end_turn(self) -> None:
        """End the turn. Messages sent from now on count as the page's own."""
        self._phase = "rest"

    def start_typing(self) -> None:
        self._phase = "typing"
        self._typed.clear()

    def mark(self) -> None:
        self._phase = "sent"
        self._left.clear()
        self.bodies.clear()

    def note_request(self, method: str, url: str, kind: str, body: bytes | None) -> None:
        """Note a request. `kind` is Chromium's resource type; pictures, scripts, styles and beacons are ignored because
        they never carry a turn."""
        if kind not in CARRYING:
            return
        asked = f"{method} {_route(url)}?{','.join(sorted(name for name, _ in parse_qsl(urlsplit(url).query)))}"
        if method == "GET" and kind != "document":
            # Requests that a page repeats again and again send nothing.
            if self._phase == "rest":
                self._beats.add(asked)
            if asked in self._beats:
                return
        self._note_sent(asked, body if body is not None else unquote_plus(url))  # the address may contain the turn

    def note_socket(self, url: str) -> None:
        self._note_sent(f"socket {_route(url)}", "")

    def note_frame(self, url: str, data: str | bytes) -> None:
        beat = f"{_route(url)} {data!r}"
        if self._phase == "rest":
            if len(data) <= _LONGEST_HEARTBEAT:
                self._beats.add(beat)
        elif beat not in self._beats:
            # Frames of one kind are the same except for the numbers and texts in them.
            if isinstance(data, bytes):
                shape = repr(data[:_COMPARED_LENGTH])
            else:
                shape = _STRING.sub(
                    lambda found: '""' if re.search(r"[\s\\]", found[0]) else found[0], data[:_COMPARED_LENGTH]
                )
                shape = _DIGITS.sub("0", shape)
            self._note_sent(f"frame {_route(url)} {shape}", data)

    def has_sent_turn(self, *, beyond_typing: bool = False) -> bool:
        """Return True if a message that may have carried the turn has left since the mark. With `beyond_typing`, kinds
        of messages that were also sent while the turn was being typed are ignored."""
        return any(not (beyond_typing and kind in self._typed) for kind in self._left)

    @property
    def messages(self) -> tuple[tuple[str, str | bytes], ...]:
        """The (kind, body) pairs of the messages sent since the mark."""
        return tuple(zip(self._left, self.bodies, strict=True))

    def _note_sent(self, kind: str, body: str | bytes) -> None:
        if self._phase == "typing":
            self._typed.add(kind)
        elif self._phase == "sent" and len(self._left) < _MOST_MESSAGES:
            self._left.append(kind)
            self.bodies.append(body[:_LONGEST_BODY])


def _route(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
