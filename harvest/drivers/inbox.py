"""Replies that come later: the answers to further requests are read until the reply is complete.

The request with the user turn is never repeated. A request that fetches a reply may be repeated: after a temporary
failure, it is sent again until the time for the turn is over.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urldefrag, urljoin

from pydantic_core import PydanticCustomError

from harvest.drivers.described_reply import Described, DescribedReply
from harvest.drivers.event_stream import Events
from harvest.drivers.http_options import FromHeader, Poll
from harvest.drivers.listener import Listener
from harvest.drivers.received import Received, error_message, excerpt
from harvest.drivers.reply_options import parse_kept
from harvest.drivers.reply_path import Condition, ReplyPath, kept_text, kept_values
from harvest.drivers.template import fill, placeholders
from harvest.systems.driver import Denied, DriverError, Exhibit, NotSent, Unanswered
from harvest.systems.timing import SENDING, Clock, Stopwatch
from recordings.conversations.conversation import SystemTurn
from recordings.log.own_loop import run_long_work
from topics.target import parse_target

# The note on a turn before which the system said more.
LATE_NOTE = "the system said more after its last reply was taken to be complete; set `quiet` of `poll` higher"

# A request that fetches is given up if it fails this often in a row, unless the server asks to come back.
_MOST_FAILURES = 5
# Reasons of failures that the same request would meet again.
_ACCEPTED = 202  # the status of an answer that is only a receipt
_LASTING = frozenset({"bad-session", "no-value", "http-401", "http-403"})

Values = Callable[[], Mapping[str, object]]


@dataclass(slots=True)
class _Fetching:
    """What has arrived of one reply: `reply` has read the messages `taken`, the last of them at `taken_at`. `answers`
    are all answers, as evidence, and `last` is the answer that came last. `fault` is the latest failure, and `failures`
    counts those in a row."""

    reply: DescribedReply
    watch: Stopwatch
    taken: list[object] = field(default_factory=list)
    taken_at: float = 0.0
    answers: list[dict[str, object]] = field(default_factory=list)
    last: Received | None = None
    fault: DriverError | None = None
    failures: int = 0

    def note(self, received: Received, seconds: float) -> None:
        body = received.body.decode("utf-8", "replace")
        if self.answers and (self.answers[-1]["status"], self.answers[-1]["body"]) == (received.status, body):
            self.answers[-1]["until"] = seconds
        else:
            self.answers.append({"seconds": seconds, "status": received.status, "body": body})
        self.last, self.fault, self.failures = received, None, 0

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        return (messages_exhibit("polls", self.answers),) if self.answers else ()


class Inbox:
    """The place where the replies to one session arrive. `ask` sends a request that fetches, to an address if the last
    answer named one, `seconds` is the longest time for a reply, and `listen` reads a stream of announcements."""

    def __init__(
        self,
        poll: Poll,
        described: Described,
        ask: Callable[[Mapping[str, object], str], Awaitable[Received]],
        clock: Clock,
        seconds: float,
        listen: Callable[[Events], Awaitable[Received]],
    ) -> None:
        self._poll, self._described, self._ask, self._clock, self._seconds = poll, described, ask, clock, seconds
        self._each = ReplyPath.parse(poll.each) if poll.each is not None else None
        self._id = ReplyPath.parse(poll.id) if poll.id is not None else None
        self._until, self._kept = Condition.parse(poll.until), parse_kept(poll.keep)
        # What an earlier answer gave for these would fetch an earlier reply.
        used = placeholders((poll.url, poll.query, poll.body, poll.form))
        self._from_first = used & described.kept.keys() - {"session"}
        self._header = poll.url.header if isinstance(poll.url, FromHeader) else ""
        self._by_condition = self._each is not None or bool(self._until.terms)  # not by the status
        self._address = ""
        self._seen: set[str] = set()
        self._listen = listen
        self._listener: Listener | None = None

    def listen(self) -> None:
        """Begin to listen for announcements, if the options name a stream of them."""
        stream = self._poll.listen
        if stream is not None and self._listener is None:
            when, begins = Condition.parse(stream.when), Condition.parse(stream.begins)
            self._listener = Listener(self._listen, when, begins, self._clock, self._poll.every)

    async def close(self) -> None:
        if self._listener is not None:
            await self._listener.close()

    async def fetch(
        self, first: Received | None, values: Values, keep: Callable[[Mapping[str, str | None]], None]
    ) -> tuple[SystemTurn, tuple[Exhibit, ...]]:
        """Return the turn whose request was answered by `first`, and its evidence. Without `first`, wait for a message
        that the system sends unprompted. `values` gives the values of placeholders, and `keep` keeps values for later
        requests. Raises Unanswered or Denied."""
        watch = first.watch if first is not None else Stopwatch(self._clock)
        spent, watch.first_seconds, watch.seconds = watch.seconds or 0.0, None, None
        under_way = _Fetching(DescribedReply(self._described, "messages"), watch)
        begun = self._clock.monotonic() - spent
        self._address = ""
        report = SENDING.set(lambda at: None)  # only the user turn counts for the pace
        if self._listener is not None:
            self._listener.begun = watch.mark
        try:
            async with asyncio.timeout(max(0.0, self._seconds - spent)):
                await self._wait(under_way, first, values, keep, begun)
                assert under_way.last is not None
                size = max(len(under_way.last.body), under_way.reply.characters)
                return await run_long_work(size, partial(self._read, under_way, first))
        except TimeoutError:
            raise self._late(under_way) from under_way.fault
        except DriverError as fault:
            raise _with_answers(fault, under_way) from None
        finally:
            SENDING.reset(report)
            if self._listener is not None:
                self._listener.begun = lambda: None

    async def take_late(self, values: Values, keep: Callable[[Mapping[str, str | None]], None]) -> list[object]:
        """Return the messages that came after the last reply seemed complete. They must not become a part of the next
        reply. A request that fails is ignored."""
        if self._each is None or (self._header and not self._address):
            return []
        report = SENDING.set(lambda at: None)
        try:
            value = self._value(await self._ask(values(), self._address))
        except DriverError:
            return []
        finally:
            SENDING.reset(report)
        keep(kept_values(self._kept, value))
        return self._new_messages(value, values())

    async def _wait(
        self,
        under_way: _Fetching,
        first: Received | None,
        values: Values,
        keep: Callable[[Mapping[str, str | None]], None],
        begun: float,
    ) -> None:
        received, paths = first, self._described.kept
        while True:
            wait, listener = self._poll.every, self._listener
            if received is not None:
                under_way.note(received, round(self._clock.monotonic() - begun, 3))
                size, is_receipt = len(received.body), received is first
                named = self._read_address(received)
                value = await run_long_work(size, partial(self._value, received, receipt=is_receipt))
                found = kept_values(paths, value)
                keep(found)
                if await run_long_work(size, partial(self._complete, under_way, value, values())):
                    return
                if not (self._by_condition or received.status == _ACCEPTED or (is_receipt and named)):
                    return
                if self._header and not self._address:
                    detail = f"the answer has no header {self._header}, by which the reply could be fetched"
                    raise Unanswered("no-value", f"{detail}; it begins: {received.beginning}")
                if received is first and (missing := self._from_first - found.keys()):
                    detail = (
                        f"the answer has no value for {{{{ {min(missing)} }}}}, by which the reply could be fetched"
                    )
                    raise Unanswered("no-value", f"{detail}; it begins: {received.beginning}")
                if received.retry_after is not None:
                    wait, listener = max(wait, received.retry_after), None
                elif listener is not None:
                    wait = listener.patience
                if under_way.taken and self._poll.quiet is not None:  # known only where a request has just succeeded
                    left = under_way.taken_at + self._poll.quiet - self._clock.monotonic()
                    if left <= 0:
                        return
                    wait = min(wait, left)
            elif under_way.fault is not None:
                wait, listener = max(wait * 2**under_way.failures, under_way.fault.retry_after or 0.0), None
            if received is not None or under_way.fault is not None:
                await (self._clock.sleep(wait) if listener is None else listener.wait(wait))
            received, paths = None, self._kept
            try:
                received = await self._ask(values(), self._address)
            except Denied:
                raise
            except DriverError as fault:
                under_way.failures += fault.retry_after is None
                if fault.reason in _LASTING or under_way.failures == _MOST_FAILURES:
                    raise
                under_way.fault = fault

    def _read_address(self, received: Received) -> bool:
        """Keep the address of the next request, if the answer names it in a header; it may be relative to that of the
        answer. Raises Unanswered if it is not an address."""
        named = received.header(self._header.lower()) if self._header else ""
        if not named:
            return False
        address, _ = urldefrag(urljoin(received.url, named))
        try:
            parse_target(address, secret="")
        except PydanticCustomError as fault:
            raise Unanswered("no-value", f"the header {self._header} holds {excerpt(named)!r}: {fault}") from None
        self._address = address
        return True

    def _value(self, received: Received, *, receipt: bool = False) -> object:
        """Return the JSON value of an answer, or None if it is empty, or if it is a receipt in another form."""
        try:
            return received.json(raw_controls=self._described.raw_controls) if received.body.strip() else None
        except Unanswered:
            if receipt:
                return None
            raise

    def _complete(self, under_way: _Fetching, value: object, values: Mapping[str, object]) -> bool:
        """Read one answer. Returns True if the reply is complete."""
        self._described.check(value)
        if self._each is None and self._until.holds(value):
            return True
        if isinstance(value, Mapping) and value.get("error"):
            raise Unanswered("system-error", excerpt(error_message(value) or repr(value["error"])))
        if self._each is None:
            return False
        complete = False
        for message in self._new_messages(value, values):
            before = under_way.reply.characters
            under_way.reply.add_message(message)
            under_way.taken.append(message)
            under_way.taken_at = self._clock.monotonic()
            if under_way.reply.characters > before:
                under_way.watch.piece(under_way.reply.characters)
            else:
                under_way.watch.mark()
            complete = complete or self._until.holds(message) or under_way.reply.ended
        return complete

    def _new_messages(self, value: object, values: Mapping[str, object]) -> list[object]:
        """Return the messages of the system in an answer, oldest first, without those that were read before."""
        assert self._each is not None
        option, found = self._poll.skip, self._each.find(value)
        skip = Condition.parse(
            {path: tuple(fill(one, values) for one in wanted) for path, wanted in option.items()}
            if isinstance(option, dict)
            else option
        )
        new = []
        for message in reversed(found) if self._poll.newest_first else found:
            if self._id is not None:
                name = kept_text(self._id.find(message)) or json.dumps(message)
                if name in self._seen:
                    continue
                self._seen.add(name)
            if not skip.holds(message):
                new.append(message)
        return new

    def _read(self, under_way: _Fetching, first: Received | None) -> tuple[SystemTurn, tuple[Exhibit, ...]]:
        last = under_way.last
        assert last is not None
        polls = under_way.exhibits if last is not first else ()
        if self._each is None:
            under_way.watch.mark()
            turn = self._described.read(replace(last, watch=under_way.watch)).turn
            return turn, (*last.exhibits, *polls)
        turn = under_way.reply.turn(under_way.watch).turn
        asked = first.exhibits if first is not None else ()
        return turn, (*asked, messages_exhibit("messages", under_way.taken), *polls)

    def _late(self, under_way: _Fetching) -> DriverError:
        late, fault = f"the reply was not complete after {self._seconds:g} s", under_way.fault
        if fault is None:
            return _with_answers(Unanswered("timeout", late), under_way)
        detail = f"{late}; the last request failed: {fault.detail}"
        return _with_answers(Unanswered(fault.reason, detail, exhibits=fault.exhibits), under_way)


def _with_answers(fault: DriverError, under_way: _Fetching) -> DriverError:
    """Return the fault with all answers as evidence. The user turn was sent, whatever failed after it."""
    kind = Unanswered if isinstance(fault, NotSent) else type(fault)
    exhibits = fault.exhibits or (under_way.last.exhibits if under_way.last is not None else ())
    return kind(
        fault.reason,
        fault.detail,
        partial=under_way.reply.partial or fault.partial,
        exhibits=(*exhibits, *under_way.exhibits),
    )


def messages_exhibit(name: str, values: Sequence[object]) -> Exhibit:
    """Return the values as evidence, one on each line."""
    text = "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)
    return Exhibit(name, "application/x-ndjson", text.encode("utf-8", "surrogatepass"))
