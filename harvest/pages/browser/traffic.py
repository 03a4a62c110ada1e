"""What goes over the wire while an answer is awaited: requests still in flight, faults, frames of web sockets.

Pages talk all the time: they poll, keep a stream of notices open, report what a person looks at. What was under way
when the turn was sent is not a part of it, nor is a request that repeats one of these (the next round of a long poll).
A page that asks again and again whether there is anything new gets an answer in parts: that such a request has ended
says nothing, while the end of the one by which the turn went out, or of a stream, says much.
"""

import math
from collections import Counter, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import urlsplit

from harvest.systems.timing import REAL_CLOCK, Clock

# Kinds of request that may carry an answer; pictures, scripts, styles and beacons do not.
CARRYING = frozenset({"fetch", "xhr", "eventsource", "document"})
_LOADED = frozenset({"document", "script", "stylesheet", "fetch", "xhr"})
STREAMS = frozenset({"text/event-stream", "application/x-ndjson", "application/jsonl", "application/stream+json"})
_HUNG_UP = "net::ERR_ABORTED"
_PROMPT = 1.0  # seconds after the pressing of what sends it within which the turn itself goes out
_CHAINED = 0.3  # seconds from the end of a request to the beginning of the one that follows from it
_MOST_FAULTS = 100  # the newest are kept
_SLOWEST = 10.0  # seconds: what answers later than that waits for something, as a long poll does
_TOLD = 0.25  # seconds by which the word of a frame may be late on a busy machine
_POLLED = 20.0  # seconds from one round of a poll to the next
_RHYTHM = 3  # rounds that make a poll
_REPLIED = 1.25  # times the slowest response took, within which what a page sends on opening is answered …
_GREETINGS = 6  # … and within so many times it has said all that it has to say then
_ANOTHER = 0.25  # seconds after an answer within which the page says the next thing
_HANDSHAKE = 0.5  # seconds that a web socket gets to be open, besides half as much again as the slowest response took


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. at: seconds since the mark. background: it was under way at the mark, or repeats one that was."""

    method: str
    url: str
    kind: str
    at: float
    background: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A request that began after the mark and came to nothing.

    status: of HTTP, 400 or more; None: there was no response. what: why there was none (`net::ERR_…`), or "".
    """

    method: str
    url: str
    kind: str
    status: int | None
    what: str
    at: float


@dataclass(slots=True)
class _Open:
    method: str
    url: str
    kind: str
    began: float
    background: bool
    direct: bool
    status: int = 0
    streams: bool = False


@dataclass(slots=True)
class Traffic:
    """Fed with events as they come; keys tell requests apart and are forgotten when a request ends.

    marked: when the turn was sent, by `clock`. Since then: frames: how many came over web sockets; last_frame: when
    the last one did, in seconds after the mark; framed: bytes of them; received: bytes of the bodies of responses that
    are likely to have carried the whole answer and are complete (as they came, so perhaps compressed); streamed: one of
    them was a stream of events; closed: how many web sockets have gone. lag: seconds that the slowest response so far
    took to begin, 10 at most.
    """

    clock: Clock = REAL_CLOCK
    marked: float = field(init=False)
    frames: int = 0
    last_frame: float | None = None
    framed: int = 0
    received: int = 0
    streamed: bool = False
    closed: int = 0
    lag: float = 0.0
    _opening: dict[Hashable, float] = field(default_factory=dict)
    _open: dict[Hashable, _Open] = field(default_factory=dict)
    _background: set[tuple[str, str]] = field(default_factory=set)
    _faults: deque[Fault] = field(default_factory=lambda: deque(maxlen=_MOST_FAULTS))
    _last_ended: float | None = None
    _pressed: float | None = None
    _begun: int = 0
    _heard: float | None = None
    _wall: float = 0.0
    _streaming: bool = False
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    _polls: set[tuple[str, str]] = field(default_factory=set)
    _polled: float | None = None
    _rounds: dict[tuple[str, str], deque[float]] = field(default_factory=dict)  # when the last of each began
    _sent_by: set[tuple[str, str]] = field(default_factory=set)  # by which turns went out
    _always: set[tuple[str, str]] = field(default_factory=set)  # what was asked again and again before the turn, too
    _sockets: set[Hashable] = field(default_factory=set)
    _met: float = -math.inf  # when the last web socket was opened
    _used: float = -math.inf  # when something last went over one …
    _answered: bool = False  # … and whether that came to the page

    def __post_init__(self) -> None:
        self.marked = self.clock.monotonic()

    def mark(self) -> None:
        """The turn is sent now."""
        self.marked = self.clock.monotonic()
        # A page that still keeps its books of the last turn sends the next one by the same address: that is no poll.
        self._background = {_route(request.method, request.url) for request in self._open.values()} - self._sent_by
        for request in self._open.values():
            request.background = True
        self._heard, self._wall = None, self.clock.now().timestamp()
        self._always = {route for route, began in self._rounds.items() if self._repeats(began)}
        self._streaming = any(one.status or one.kind == "eventsource" for one in self._open.values())
        self._asked.clear()
        self._faults.clear()
        self._last_ended, self._pressed, self._polled, self._begun = None, None, None, 0
        self.frames, self.last_frame, self.framed, self.received = 0, None, 0, 0
        self.streamed, self.closed = False, 0

    def pressed(self) -> None:
        """The page has been given the turn: on a busy machine long after the mark."""
        self._pressed = self.clock.monotonic()

    def began(self, key: Hashable, method: str, url: str, kind: str) -> None:
        """kind: as Chromium names it: fetch, xhr, eventsource, document, image, script, ping, …"""
        route = _route(method, url)
        background = route in self._background
        if kind in CARRYING:
            self._asked[route] += 1
            if method == "GET":
                self._rounds.setdefault(route, deque(maxlen=_RHYTHM)).append(self.clock.monotonic())
            again = method == "GET" and self._asked[route] > 1
            if background or again:
                self._polled = self.clock.monotonic()
            if again and not background:
                self._polls.add(route)
        direct = kind in CARRYING and not background and self._direct(method, route, kind)
        self._open[key] = _Open(method, url, kind, self.clock.monotonic(), background, direct)
        if kind in CARRYING and not background:
            if direct and method != "GET" and not self._begun and self._pressed is not None:
                self._sent_by.add(route)
            self._begun += 1

    def responded(self, key: Hashable, status: int, media_type: str = "", at: float | None = None) -> None:
        """at: when its first byte came, in seconds of the epoch by the browser's own clock; None: about now."""
        request = self._open.get(key)
        if request is None:
            return
        request.status = status
        if request.kind in CARRYING:
            now = self.clock.monotonic() - self.marked
            self._hear(now if at is None else min(now, at - self._wall))
            self.lag = max(self.lag, min(_SLOWEST, self.clock.monotonic() - request.began))
        request.streams = media_type.partition(";")[0].strip().lower() in STREAMS
        if status >= 400:
            self._fault(request, status, "")

    def ended(self, key: Hashable, failure: str = "") -> bool:
        """Whether it is likely to have carried the whole answer. failure: why it came to nothing, or ""."""
        request = self._open.pop(key, None)
        if request is None:
            return False
        # A page that has read the last event of a stream hangs up: that is no fault.
        if failure and not (request.status and failure == _HUNG_UP):
            self._fault(request, None, failure)
        carried = request.kind in CARRYING and not request.background and (request.direct or request.streams)
        if carried:
            self.streamed = self.streamed or request.streams
            self._last_ended = self.clock.monotonic()
        return carried

    def weighed(self, size: int, marked: float) -> None:
        """The body of a request that ended had so many bytes. marked: the mark at which it ended."""
        if marked == self.marked:
            self.received += size

    def opened_socket(self, key: Hashable) -> None:
        """A web socket is being opened."""
        self._opening[key] = self._met = self.clock.monotonic()

    def used_socket(self, key: Hashable) -> None:
        """A frame went over it, in either direction. `received_frame` says of those that came."""
        self._opening.pop(key, None)
        self._sockets.add(key)
        self._used, self._answered = self.clock.monotonic(), False

    def closed_socket(self, key: Hashable) -> None:
        """It has gone, whoever closed it."""
        self._opening.pop(key, None)
        self._sockets.discard(key)
        self.closed += 1

    @property
    def connecting(self) -> bool:
        """Whether a web socket may still be on its way to be open: nothing says so before it is used. Nor is it while
        the page waits for the answer to what it has said over it first: some keep back until then what a person does,
        and may send it in another order."""
        now, opens = self.clock.monotonic(), 1.5 * self.lag + _HANDSHAKE
        greets = now - self._used < (min(_ANOTHER, self.lag) if self._answered else _REPLIED * self.lag)
        return (greets and now - self._met < _GREETINGS * self.lag) or any(
            now - since < opens for since in self._opening.values()
        )

    def _hear(self, at: float) -> None:
        if self._heard is None or at < self._heard:
            self._heard = at

    @property
    def heard(self) -> float | None:
        """Seconds after the mark at which the first byte came that may belong to an answer, or a little before;
        infinity as long as none has. None: that cannot be told, since a stream was open that began before."""
        if self._streaming:
            return None
        return math.inf if self._heard is None else self._heard

    def received_frame(self, size: int) -> None:
        """A frame of so many bytes came over a web socket."""
        self._hear(max(0.0, self.clock.monotonic() - self.marked - _TOLD))
        self.frames += 1
        self.framed += size
        self._answered = True
        self.last_frame = self.clock.monotonic() - self.marked

    @property
    def listening(self) -> bool:
        """Whether something may still come that no request of this turn asks for: over a web socket that was used, by a
        request that was open when the turn was sent, or by a poll whose last round is not long ago."""
        waits = any(one.background and one.kind in CARRYING for one in self._open.values())
        polled = self._polled is not None and self.clock.monotonic() - self._polled <= _POLLED
        return bool(self._sockets) or waits or polled

    @property
    def asking(self) -> bool:
        """Whether the page asks again and again for something, and did not before the turn was sent: it may be for an
        answer that is still being made."""
        return any(
            began[0] >= self.marked and self._repeats(began)
            for route, began in self._rounds.items()
            if route not in self._always
        )

    def _repeats(self, began: deque[float]) -> bool:
        """Whether these rounds are enough for a poll, and another may be due."""
        if len(began) < _RHYTHM:
            return False
        longest = max(later - earlier for earlier, later in pairwise(began))
        return longest <= _POLLED and self.clock.monotonic() - began[-1] <= 2 * longest + _TOLD

    @property
    def pending(self) -> tuple[Asked, ...]:
        """What may still carry the answer: requests that began after the mark and are not background."""
        return tuple(
            Asked(one.method, one.url, one.kind, one.began - self.marked)
            for one in self._open.values()
            if one.kind in CARRYING and not one.background
        )

    @property
    def loading(self) -> bool:
        """Whether a page, a frame, a script, a style or data asked for after the mark is still under way."""
        return any(one.kind in _LOADED and not one.background for one in self._open.values())

    @property
    def settled(self) -> bool:
        """True if nothing that was asked for after the mark is still on its way. A stream of events that has begun
        stays open for as long as the page does, and brings no part of the page."""
        return not any(
            one.kind in CARRYING
            and not one.background
            and not (one.status and (one.streams or one.kind == "eventsource"))
            for one in self._open.values()
        )

    @property
    def begun(self) -> int:
        """How many requests that may carry the answer began since the mark."""
        return self._begun

    @property
    def last_ended(self) -> float | None:
        """Seconds after the mark at which the last of those ended that are likely to have carried the whole answer;
        None: none has."""
        return None if self._last_ended is None else self._last_ended - self.marked

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Requests since the mark that came to nothing, oldest first, the last 100; background ones are not among
        them."""
        return tuple(self._faults)

    def _direct(self, method: str, route: tuple[str, str], kind: str) -> bool:
        """Whether the turn goes out by it, or it follows from such a request without a break."""
        if kind in ("document", "eventsource"):
            return True
        if route in self._polls:
            return False
        if not self._begun:
            return self._pressed is None or self.clock.monotonic() - self._pressed <= _PROMPT
        chained = self._last_ended is not None and self.clock.monotonic() - self._last_ended <= _CHAINED
        return method != "GET" and (chained or any(one.direct for one in self._open.values()))

    def _fault(self, request: _Open, status: int | None, what: str) -> None:
        if not request.background:
            at = self.clock.monotonic() - self.marked
            self._faults.append(Fault(request.method, request.url, request.kind, status, what, at))


def _route(method: str, url: str) -> tuple[str, str]:
    """What stays the same from one round of a poll to the next."""
    parts = urlsplit(url)
    return method, f"{parts.scheme}://{parts.netloc}{parts.path}"
