"""Network traffic while Harvest waits for an answer: requests in flight, failures, and web socket frames.

Pages send requests all the time: they poll, keep a stream of notifications open, and report what a person looks at.
Requests that were in flight when the turn was sent do not belong to the turn, and neither does a request that repeats
such a request (the next round of a long poll). A page that polls gets its answer in parts, so the end of a poll says
little about the end of the answer. The end of a stream, or of the request that sent the turn, says much.
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
_LOADING_KINDS = frozenset({"document", "script", "stylesheet", "fetch", "xhr"})
STREAMS = frozenset({"text/event-stream", "application/x-ndjson", "application/jsonl", "application/stream+json"})
_ABORTED = "net::ERR_ABORTED"
_SEND_SECONDS = 1.0  # seconds after pressing the button within which the turn itself is sent
_CHAIN_SECONDS = 0.3  # seconds from the end of a request to the beginning of its successor
_MOST_FAULTS = 100  # the newest are kept
_LONGEST_LAG = 10.0  # seconds: a later response waits for something, as a long poll does
_EVENT_DELAY = 0.25  # seconds by which the event of a frame may be late on a busy machine
_LONGEST_POLL_PAUSE = 20.0  # seconds from one round of a poll to the next
_POLL_ROUNDS = 3  # rounds that make a poll
_LATE_ROUND = 1.5  # times the longest pause of a poll after which it is another one
_REPLY_FACTOR = 1.25  # times the slowest response, within which a page's first message is answered …
_GREETING_FACTOR = 6  # … and times the slowest response, within which its opening messages are complete
_NEXT_MESSAGE_SECONDS = 0.25  # seconds after an answer within which the page sends its next message
_HANDSHAKE_SECONDS = 0.5  # seconds for a web socket to open, besides one and a half times the slowest response


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that is still in flight. `at` is the time of its start, in seconds since the mark."""

    method: str
    url: str
    kind: str
    at: float


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A request that began after the mark and failed. `status` is the HTTP status, 400 or more, or None if there was
    no response. In that case `what` gives the reason (`net::ERR_…`); otherwise `what` is ""."""

    method: str
    url: str
    kind: str
    status: int | None
    what: str
    at: float


@dataclass(slots=True)
class _OpenRequest:
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
    """The traffic of a page, collected from its events. Keys identify requests and are dropped when a request ends.

    - `marked`: when the turn was sent, by `clock`; all other times and counts start at this mark.
    - `frames`: number of web socket frames received. `last_frame` is the time of the last frame in seconds, and
      `framed` is the total size of the frames in bytes.
    - `received`: size in bytes of the complete bodies that probably contained the whole answer. The size is measured
      as transferred, so the bodies may be compressed.
    - `streamed`: whether one of these bodies was an event stream.
    - `closed`: number of closed web sockets.
    - `begun`: number of requests begun that may carry the answer.
    - `lag`: seconds until the slowest response so far began, at most 10.
    """

    clock: Clock = REAL_CLOCK
    marked: float = field(init=False)
    frames: int = 0
    last_frame: float | None = None
    framed: int = 0
    received: int = 0
    streamed: bool = False
    closed: int = 0
    begun: int = 0
    lag: float = 0.0
    _opening: dict[Hashable, float] = field(default_factory=dict)
    _open: dict[Hashable, _OpenRequest] = field(default_factory=dict)
    _background: set[tuple[str, str]] = field(default_factory=set)
    _faults: deque[FailedRequest] = field(default_factory=lambda: deque(maxlen=_MOST_FAULTS))
    _last_ended: float | None = None
    _pressed: float | None = None
    _heard: float | None = None
    _wall: float = 0.0
    _streaming: bool = False
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    _polls: set[tuple[str, str]] = field(default_factory=set)
    _polled: float | None = None
    _rounds: dict[tuple[str, str], deque[float]] = field(default_factory=dict)  # when the last rounds of each began
    _sent_by: set[tuple[str, str]] = field(default_factory=set)  # routes by which turns were sent
    _always: set[tuple[str, str]] = field(default_factory=set)  # routes that were polled before the turn, too
    _sockets: set[Hashable] = field(default_factory=set)
    _met: float = -math.inf  # when the last web socket was opened
    _used: float = -math.inf  # when a frame last went over one …
    _answered: bool = False  # … and whether the page received it

    def __post_init__(self) -> None:
        self.marked = self.clock.monotonic()

    def mark(self) -> None:
        self.marked = self.clock.monotonic()
        # A page that is still storing the last turn may send the next one to the same address: that is not a poll.
        self._background = {_route(request.method, request.url) for request in self._open.values()} - self._sent_by
        for request in self._open.values():
            request.background = True
        self._heard, self._wall = None, self.clock.now().timestamp()
        self._always = {route for route, began in self._rounds.items() if self._repeats(began)}
        self._streaming = any(one.status or one.kind == "eventsource" for one in self._open.values())
        self._asked.clear()
        self._faults.clear()
        self._last_ended, self._pressed, self._polled, self.begun = None, None, None, 0
        self.frames, self.last_frame, self.framed, self.received = 0, None, 0, 0
        self.streamed, self.closed = False, 0

    def note_press(self) -> None:
        """Note that the page has received the turn. On a busy machine this happens long after the mark."""
        self._pressed = self.clock.monotonic()

    def note_request(self, key: Hashable, method: str, url: str, kind: str) -> None:
        """Note a request. `kind` is Chromium's resource type, such as fetch, xhr, eventsource, document or ping."""
        route = _route(method, url)
        background = route in self._background
        if kind in CARRYING:
            self._asked[route] += 1
            if method == "GET":
                self._note_round(route)
            again = method == "GET" and self._asked[route] > 1
            if background or again:
                self._polled = self.clock.monotonic()
            if again and not background:
                self._polls.add(route)
        direct = kind in CARRYING and not background and self._is_direct(method, route, kind)
        self._open[key] = _OpenRequest(method, url, kind, self.clock.monotonic(), background, direct)
        if kind in CARRYING and not background:
            if direct and method != "GET" and not self.begun and self._pressed is not None:
                self._sent_by.add(route)
            self.begun += 1

    def _note_round(self, route: tuple[str, str]) -> None:
        began = self._rounds.setdefault(route, deque(maxlen=_POLL_ROUNDS))
        if route in self._always:
            longest = max(later - earlier for earlier, later in pairwise(began))
            if self.clock.monotonic() - began[-1] > _LATE_ROUND * longest + _EVENT_DELAY:
                self._always.discard(route)  # it ended with the last answer, and begins again with this turn
        began.append(self.clock.monotonic())

    def note_response(self, key: Hashable, status: int, media_type: str = "", at: float | None = None) -> None:
        """Note a response. `at` is the time of its first byte in epoch seconds of the browser, or None for now."""
        request = self._open.get(key)
        if request is None:
            return
        request.status = status
        if request.kind in CARRYING:
            now = self.clock.monotonic() - self.marked
            self._note_byte(now if at is None else min(now, at - self._wall))
            self.lag = max(self.lag, min(_LONGEST_LAG, self.clock.monotonic() - request.began))
        request.streams = media_type.partition(";")[0].strip().lower() in STREAMS
        if status >= 400:
            self._note_fault(request, status, "")

    def note_end(self, key: Hashable, failure: str = "") -> bool:
        """Note the end of a request. Returns True if the request probably carried the whole answer. `failure` is the
        reason for a failure, if there was one."""
        request = self._open.pop(key, None)
        if request is None:
            return False
        # A page hangs up after the last event of a stream: that is not a failure.
        if failure and not (request.status and failure == _ABORTED):
            self._note_fault(request, None, failure)
        carried = request.kind in CARRYING and not request.background and (request.direct or request.streams)
        if carried:
            self.streamed = self.streamed or request.streams
            self._last_ended = self.clock.monotonic()
        return carried

    def note_size(self, size: int, marked: float) -> None:
        """Note the body size of a request that ended. `marked` is the mark that was set when it ended."""
        if marked == self.marked:
            self.received += size

    def note_socket(self, key: Hashable) -> None:
        self._opening[key] = self._met = self.clock.monotonic()

    def note_frame(self, key: Hashable) -> None:
        """Note a frame in either direction. For a received frame call `note_received_frame` as well."""
        self._opening.pop(key, None)
        self._sockets.add(key)
        self._used, self._answered = self.clock.monotonic(), False

    def note_socket_end(self, key: Hashable) -> None:
        """Note that a web socket was closed by either side."""
        self._opening.pop(key, None)
        self._sockets.discard(key)
        self.closed += 1

    @property
    def is_connecting(self) -> bool:
        """True if a web socket may not be ready yet. A socket counts as ready once it has been used. While the page
        waits for the answer to the first message, the socket counts as connecting again, because some pages delay a
        person's actions until then and may send them in another order."""
        now, opens = self.clock.monotonic(), 1.5 * self.lag + _HANDSHAKE_SECONDS
        greets = now - self._used < (
            min(_NEXT_MESSAGE_SECONDS, self.lag) if self._answered else _REPLY_FACTOR * self.lag
        )
        return (greets and now - self._met < _GREETING_FACTOR * self.lag) or any(
            now - since < opens for since in self._opening.values()
        )

    def _note_byte(self, at: float) -> None:
        if self._heard is None or at < self._heard:
            self._heard = at

    @property
    def first_byte_seconds(self) -> float | None:
        """Seconds from the mark to the first byte that may belong to an answer, or slightly less. The value is
        infinite before that byte arrives. The value is None if an earlier stream was still open, because its bytes
        cannot be distinguished from the answer's bytes."""
        if self._streaming:
            return None
        return math.inf if self._heard is None else self._heard

    def note_received_frame(self, size: int) -> None:
        """Note a frame of `size` bytes received over a web socket."""
        self._note_byte(max(0.0, self.clock.monotonic() - self.marked - _EVENT_DELAY))
        self.frames += 1
        self.framed += size
        self._answered = True
        self.last_frame = self.clock.monotonic() - self.marked

    @property
    def is_listening(self) -> bool:
        """True if something may still arrive without a new request of this turn: over a web socket that was used, from
        a request that was open when the turn was sent, or from a poll whose last round was recent."""
        waits = any(one.background and one.kind in CARRYING for one in self._open.values())
        polled = self._polled is not None and self.clock.monotonic() - self._polled <= _LONGEST_POLL_PAUSE
        return bool(self._sockets) or waits or polled

    @property
    def has_socket(self) -> bool:
        """True if a web socket is open, used or not."""
        return bool(self._sockets or self._opening)

    @property
    def is_polling(self) -> bool:
        """True if the page began to poll after the turn was sent, perhaps for an answer that is still being made."""
        return any(
            began[0] >= self.marked and self._repeats(began)
            for route, began in self._rounds.items()
            if route not in self._always
        )

    def _repeats(self, began: deque[float]) -> bool:
        if len(began) < _POLL_ROUNDS:
            return False
        longest = max(later - earlier for earlier, later in pairwise(began))
        return longest <= _LONGEST_POLL_PAUSE and self.clock.monotonic() - began[-1] <= 2 * longest + _EVENT_DELAY

    @property
    def pending(self) -> tuple[PendingRequest, ...]:
        """The requests that may still carry the answer: they began after the mark and are not background requests."""
        return tuple(
            PendingRequest(one.method, one.url, one.kind, one.began - self.marked)
            for one in self._open.values()
            if one.kind in CARRYING and not one.background
        )

    @property
    def is_loading(self) -> bool:
        """True while a page, frame, script, stylesheet or data request begun after the mark is in flight."""
        return any(one.kind in _LOADING_KINDS and not one.background for one in self._open.values())

    @property
    def has_settled(self) -> bool:
        """True if everything requested after the mark has arrived. An event stream that has begun is ignored, because
        such a stream stays open as long as the page and does not deliver the page itself."""
        return not any(
            one.kind in CARRYING
            and not one.background
            and not (one.status and (one.streams or one.kind == "eventsource"))
            for one in self._open.values()
        )

    @property
    def last_ended(self) -> float | None:
        """Seconds from the mark to the end of the last request that probably carried the whole answer, or None."""
        return None if self._last_ended is None else self._last_ended - self.marked

    @property
    def faults(self) -> tuple[FailedRequest, ...]:
        """The last 100 requests since the mark that failed, oldest first, without background requests."""
        return tuple(self._faults)

    def _is_direct(self, method: str, route: tuple[str, str], kind: str) -> bool:
        if kind in ("document", "eventsource"):
            return True
        if route in self._polls:
            return False
        if not self.begun:
            return self._pressed is None or self.clock.monotonic() - self._pressed <= _SEND_SECONDS
        chained = self._last_ended is not None and self.clock.monotonic() - self._last_ended <= _CHAIN_SECONDS
        return method != "GET" and (chained or any(one.direct for one in self._open.values()))

    def _note_fault(self, request: _OpenRequest, status: int | None, what: str) -> None:
        if not request.background:
            at = self.clock.monotonic() - self.marked
            self._faults.append(FailedRequest(request.method, request.url, request.kind, status, what, at))


def _route(method: str, url: str) -> tuple[str, str]:
    """Return the part of an address that stays unchanged from one round of a poll to the next."""
    parts = urlsplit(url)
    return method, f"{parts.scheme}://{parts.netloc}{parts.path}"
