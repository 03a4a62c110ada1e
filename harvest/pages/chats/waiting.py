"""Waiting from the sending of a user turn until its answer is complete: sampling the page, finding the turn, and
reading. The eye notes every change from before the send, so no change between two samples is missed. Once the turn
is found, only its surroundings are watched, so that a clock elsewhere on the page is ignored."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from harvest.pages.browser.busy_signs import FIRM, NETWORK, WIRE
from harvest.pages.browser.frame import TurnSigns
from harvest.pages.browser.window import Window
from harvest.pages.chats.completion import Completion, Sample, Verdict
from harvest.pages.chats.place import Place
from harvest.pages.chats.second_witness import SecondWitness
from harvest.pages.finding.blocker import Blocker
from harvest.pages.reading.elements import begins_without_words
from harvest.pages.reading.figures import has_words
from harvest.pages.reading.page import Page, letters, parse_page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import Habits, ReadTurn, read_turn
from harvest.systems.driver import Unanswered

_STEP = 0.1  # seconds between samples …
_SHORTEST_STEP = 0.02  # … and if the answer may be complete before the next one
_READ_AHEAD = 0.12  # seconds before the answer may be complete at which the page is read
_MOST_DOCUMENTS = 5  # that may load one right after the other
_DOUBT_SECONDS = 4.0  # seconds of quiet after which a page that still seems to work is searched for an error
_FILLED_SECONDS = 1.5  # seconds of quiet after which a short text from a request is not a state of the user's bubble
_PREMATURE_SECONDS = 1.5  # seconds after the send within which figures before the user's words are not an answer
_CONTENT_DELAY = 1.0  # seconds from a response to its content after which only the content is from the system
_AT_ONCE = 30.0  # milliseconds within which two changes are simultaneous
_CARRIED_SHARE = 0.25  # bytes received for each byte of the answer that make it plausible that they carried it


@dataclass(frozen=True, slots=True)
class AwaitedAnswer:
    """The result of waiting. `source` is the page as the eye wrote it, for evidence.

    - `verdict`: how the answer ended, or None if the turn was given up. The text of an ended answer is empty if a
      bubble came and stayed without words.
    - `why`: why the turn was given up: `timeout`, `no-reply` (nothing came), `page-reloaded` (nothing came after
      another document was loaded) or `fault` (the page shows that the turn failed).
    - `sample`: the last sample.
    - `heard`: seconds from the send to the first byte that came back, as used in reading, or None if unknown.
    - `changed_at`: when the text last changed, by the window's clock; `mutations` counts the changes of any kind until
      then.
    - `picture`: a screenshot of the page since the last change, if one was taken.
    - `trouble`: the sign that the turn failed, even if it has disappeared since, or None if there was an answer.
    """

    source: str
    page: Page
    turn: ReadTurn
    verdict: Verdict | None
    why: str
    sample: Sample
    trouble: Blocker | None
    heard: float | None = None
    changed_at: float = 0.0
    mutations: int = -1
    picture: bytes | None = None


@dataclass(frozen=True, slots=True)
class _PageReading:
    """A reading of the page. The reading and its picture are valid while `mutations` stays the same."""

    source: str
    page: Page
    turn: ReadTurn
    mutations: int = -1
    picture: bytes | None = None


class Waiting:
    """A wait for the answer to one turn on one page. `before` is the page's text when the turn was typed."""

    def __init__(
        self,
        window: Window,
        place: Place,
        said: str,
        *,
        habits: Habits,
        completion: Completion,
        selectors: Mapping[str, str],
        trouble: Callable[[Page, ReadTurn], Blocker | None],
        picture: Callable[[], Awaitable[bytes | None]],
        witness: SecondWitness | None = None,
    ) -> None:
        """Store the arguments. `picture` returns a screenshot, or None if no screenshot is wanted."""
        self._window, self._place, self._said, self._clock = window, place, said, window.clock
        self._habits, self._completion, self._selectors = habits, completion, selectors
        self._find_trouble, self._asked_after, self._witness = trouble, 0.0, witness
        self._picture = picture
        self._trouble: Blocker | None = None
        self.before = PageText(place.page)
        self._began: float | None = None
        self._container = 0
        self._bubbles: frozenset[int] = frozenset()  # those in which the answer was first read
        self._since: float | None = None  # when the answer was found outside the watched element
        self._bytes = 0
        self._looked_at = (-1, 0, True)
        self._ahead: _PageReading | None = None
        self._echoed = False  # whether the user's words have been seen on the page
        self._doubtful: ReadTurn | None = None  # what was read last, if it may not be an answer
        self._lost = False  # whether the page was replaced by one without them
        self._sent = -math.inf  # when the page counts its turn as sent, by this program's clock, or a little before
        self._own_until = 0.0  # until when the text is the page's own
        self._shift = 0.0  # seconds from the sending to the loading of the document with the answer

    async def answer(self, seconds: float) -> AwaitedAnswer:
        """Wait at most `seconds` for the complete answer. Raises DriverError if the page or the browser is lost."""
        until = self._clock.monotonic() + seconds
        while True:
            seen = await self._sample_signs()
            stands = (seen.mutations, len(self._window.traffic.faults), self._since_sending() < _PREMATURE_SECONDS)
            if (self._began is None or seen.stale) and stands != self._looked_at:
                self._looked_at = stands
                await self._look()
                seen = await self._sample_signs()
            sample = self._sample(seen)
            verdict = self._completion.judge(sample)
            left, seen_at = self._completion.remaining_quiet(sample), self._clock.monotonic()
            ahead = self._ahead if self._ahead is not None and self._ahead.mutations == seen.mutations else None
            failed = self._lost or self._trouble is not None
            silent = self._began is None and self._is_silent(sample, failed)
            filled = self._began is None and self._is_filled(sample)
            late = self._clock.monotonic() >= until
            since = self._since
            if verdict or silent or filled or late:
                if verdict and ahead is not None and not late:
                    look, now = ahead, seen
                else:
                    look, now = await self._look(), await self._sample_signs()
                turn = look.turn
                went_on = now.changes != seen.changes
                if (silent or filled) and not failed and turn.doubtful is not None:
                    # Nothing else will come.
                    turn, verdict = turn.doubtful, Verdict("quiet" if silent else "signs", sample.quiet)
                    self._began = turn.began
                empty = silent and not failed and self._is_empty(turn, sample)
                if empty:
                    verdict = Verdict("signs", sample.quiet)
                if not turn.text:
                    self._began = None  # the text has gone again
                same = self._since == since  # the quiet was that of this text
                done = verdict is not None and (bool(turn.text) or empty) and not went_on and same
                if done and not empty and not sample.unheard and self._is_own_text(turn, sample):
                    self._own_until = sample.last_change + _AT_ONCE / 1000
                    done = False
                if done and self._is_stand_in(turn, sample):
                    # The answer is still to come. Until something changes, this reading is valid.
                    done = False
                    self._ahead = replace(look, turn=turn, mutations=now.mutations, picture=None)
                if late or done or (silent and not turn.text):
                    silence = "page-reloaded" if self._shift or self._lost else "no-reply"
                    nothing = not turn.text and self._completion.is_silent(sample, failed=failed)
                    why = "" if done else "timeout" if late and not nothing else silence
                    trouble = None if turn.text else self._trouble
                    sample = self._date_sample(self._sample(seen), turn)
                    changed_at = self._clock.monotonic() - (now.asked or 0.0) + self._shift + sample.last_change
                    return AwaitedAnswer(
                        look.source,
                        look.page,
                        turn,
                        verdict if done else None,
                        why,
                        sample,
                        trouble,
                        self._first_byte,
                        changed_at,
                        now.mutations,
                        look.picture,
                    )
            elif sample.quiet >= _DOUBT_SECONDS and sample.at - self._asked_after >= _DOUBT_SECONDS:
                # Some pages show an error and then seem to work for ever.
                self._asked_after = sample.at
                look = await self._look()
                found = self._find_trouble(look.page, look.turn)
                if found is not None:
                    return AwaitedAnswer(
                        look.source, look.page, look.turn, None, "fault", sample, found, self._first_byte
                    )
            elif left is not None and left <= _READ_AHEAD and ahead is None:
                # Reading takes its time, and the quiet goes on meanwhile.
                look, picture = await asyncio.gather(self._look(), self._picture())
                self._ahead = replace(look, mutations=seen.mutations, picture=picture)
            rest = _STEP if left is None else left - (self._clock.monotonic() - seen_at)
            await self._clock.sleep(min(_STEP, max(_SHORTEST_STEP, rest)))

    def _is_stand_in(self, turn: ReadTurn, sample: Sample) -> bool:
        """Return True if a text with these words once counted as a complete answer and was replaced by the page."""
        seconds = self._completion.known.stand_in_seconds(turn.text)
        return seconds is not None and sample.quiet < seconds

    def _is_own_text(self, turn: ReadTurn, sample: Sample) -> bool:
        """Return True for a text that the page showed as soon as the turn was sent, if nothing like it was received and
        an answer may still come over an open connection."""
        if self._witness is None or self._completion.known.speaks_alone or sample.last_change > _PREMATURE_SECONDS:
            return False
        traffic = self._window.traffic
        if not (traffic.is_listening or traffic.has_socket):
            return False
        return not self._witness.may_have_brought(self._said, turn.text, traffic.marked)

    def _is_empty(self, turn: ReadTurn, sample: Sample) -> bool:
        """Return True for an answer without words: a bubble came, and every sign that an answer is being written has
        ended. If a web socket was closed, the answer may have been lost with it, and the result is False."""
        return turn.wordless and bool(FIRM & sample.ended.keys()) and not self._window.traffic.closed

    def _is_silent(self, sample: Sample, failed: bool) -> bool:
        """Return True if no answer will come. While the page listens for an answer, an answer may still come, however
        late. A text that may be the answer ends the wait even if the page listens for more, unless the text itself
        announces more."""
        if not self._completion.is_silent(sample, failed=failed):
            return False
        spoken = self._doubtful is not None and not self._doubtful.announced
        return failed or spoken or not self._window.traffic.is_listening

    def _is_filled(self, sample: Sample) -> bool:
        """Return True if a text that looks like a status in the user's bubble is the answer after all. Such a text
        must have come after that bubble, or together with its request into an element that was added empty. Nothing
        else may be able to bring an answer."""
        turn = self._doubtful
        if turn is None or turn.began is None or turn.announced or sample.quiet < _FILLED_SECONDS:
            return False
        if self._window.traffic.is_listening:
            return False
        echoed = turn.echo.birth_time if turn.echo is not None else None
        after = echoed is not None and 1000 * turn.began > echoed + _AT_ONCE
        if not after and not any(begins_without_words(node) for bubble in turn.bubbles for node in bubble.walk()):
            return False
        verdict = self._completion.judge(replace(sample, began=turn.began))
        return verdict is not None and NETWORK in self._completion.lasting_signs(replace(sample, began=turn.began))

    async def _sample_signs(self) -> TurnSigns:
        for _ in range(_MOST_DOCUMENTS):
            asked_at = self._clock.monotonic()
            seen = await self._place.frame.sample()
            if seen.asked is not None:
                if not self._shift:
                    self._sent = max(self._sent, asked_at - seen.asked)
                pauses, stalls = (
                    tuple((length, since + self._shift) for length, since in gaps)
                    for gaps in (seen.pauses, seen.stalls)
                )
                return replace(seen, asked=seen.asked + self._shift, pauses=pauses, stalls=stalls)
            # Another document came: the answer is in it, or will be.
            await self._place.frame.follow(self._selectors)
            self._shift = self._since_sending()
            self._began, self._container, self._looked_at = None, 0, (-1, 0, True)
            self._bubbles, self._since, self._ahead = frozenset(), None, None
        raise Unanswered("page-reloaded", "the page kept reloading while Harvest waited for the answer")

    async def _look(self) -> _PageReading:
        source = await self._place.frame.source(self._selectors)
        page = parse_page(source)
        turn = read_turn(page, self._said, habits=self._habits, before=self.before, heard=self._first_byte)
        self._echoed = self._echoed or turn.echo is not None
        self._lost = not self._is_repeated(page) if self._shift else self._is_cleared_away(page, turn)
        if self._lost or self._is_premature(turn):
            turn = ReadTurn("")
        self._doubtful = turn.doubtful
        self._bytes = len((turn.doubtful or turn).text.encode())
        moved = self._has_moved(page, turn)
        if turn.text and (self._began is None or moved):
            self._began = self._since_sending() if self._shift else turn.began
            self._bubbles = frozenset(bubble.id for bubble in turn.bubbles if bubble.id)
        if moved:
            self._since = self._since_sending()
        if not turn.text:
            self._trouble = self._find_trouble(page, turn) or self._trouble
        container = turn.container.id if turn.container is not None else 0
        if container and container != self._container:
            self._container = container
            await self._place.frame.watch([container])
        return _PageReading(source, page, turn)

    def _is_premature(self, turn: ReadTurn) -> bool:
        """Return True for an answer without words that is read before the user's own text appears, such as a progress
        bar with its seconds or buttons shown from the first turn on. If the user's text never appears, such an
        answer counts after 1.5 seconds."""
        early = turn.echo is None and self._since_sending() < _PREMATURE_SECONDS
        return early and bool(turn.text) and not has_words(turn.text)

    def _has_moved(self, page: Page, turn: ReadTurn) -> bool:
        """Return True if the answer is outside the watched part of the page, or next to the text that was first read
        as the answer, such as a status in the user's bubble. The time without changes measured so far then does not
        apply to this answer."""
        if not turn.text or turn.container is None:
            return False
        watched = page.by_id.get(self._container)
        if watched is not None and not turn.container.is_within(watched):
            return True
        still = [page.by_id[number] for number in self._bubbles if number in page.by_id and self._began is not None]
        return any(
            one.visible
            and one.text
            and not any(one.is_within(bubble) or bubble.is_within(one) for bubble in turn.bubbles)
            for one in still
        )

    def _date_sample(self, sample: Sample, turn: ReadTurn) -> Sample:
        if self._since is None or turn.ended is None or sample.last_change > self._since or self._shift:
            return sample
        return replace(sample, quiet=sample.at - min(turn.ended, sample.at))

    @property
    def _first_byte(self) -> float | None:
        """Seconds from the send to the first byte that came back. The value is None if the page has sent nothing,
        because such a page may answer by itself at the press. Some servers begin their response at once and its content
        long after that: then the content counts."""
        traffic, recorder = self._window.traffic, self._window.recorder
        heard = traffic.first_byte_seconds if self._window.outbox.has_sent_turn() else None
        if heard is None or recorder is None or traffic.frames:
            return heard
        content = recorder.first_piece_at(traffic.marked) - traffic.marked
        return content if math.isfinite(content) and content - heard >= _CONTENT_DELAY else heard

    def _since_sending(self) -> float:
        return self._clock.monotonic() - self._start_time

    @property
    def _start_time(self) -> float:
        """The time from which the page counts seconds. On a busy machine, the call to the page may return later."""
        return (
            min(self._sent, self._window.traffic.marked) if math.isfinite(self._sent) else self._window.traffic.marked
        )

    def _is_repeated(self, page: Page) -> bool:
        """Return True if the newly loaded document contains the user's text once more than the page did before the
        send. Without this test an earlier answer to the same text would count as the new answer."""
        said = letters(self._said)
        before, now = (letters(one.root.text).count(said) for one in (self._place.page, page))
        return now > before or not before

    def _is_cleared_away(self, page: Page, turn: ReadTurn) -> bool:
        """Return True if the conversation has disappeared from the page together with the box to type in, so that new
        text is not an answer. If the user's text was never seen on the page, all earlier text must have disappeared
        as well."""
        before = self._place.page
        gone = turn.echo is None and self._place.composer not in page.by_id
        if not gone or any("h-edit" in node.attributes for node in page.walk()):
            return False
        if self._echoed:
            return True
        composer = before.by_id.get(self._place.composer)
        around = {composer, *(composer.ancestors() if composer is not None else ())}
        held = [node.id for node in before.walk() if node.id and node.visible and node.text and node not in around]
        return bool(held) and page.by_id.keys().isdisjoint(held)

    def _sample(self, seen: TurnSigns) -> Sample:
        at = seen.asked or 0.0
        now = {name for name, sign in seen.signs.items() if sign.now}
        ended = {name: at - sign.last for name, sign in seen.signs.items() if sign.last is not None and not sign.now}
        came = {name: sign.first + self._shift for name, sign in seen.signs.items() if sign.first is not None}
        traffic = self._window.traffic
        if traffic.pending:
            now.add(NETWORK)
        if traffic.last_ended is not None and self._has_carrier():
            ended[NETWORK] = (
                traffic.last_ended + traffic.marked - self._start_time
            )  # the request of the text, though others may be under way
        wire_ended = self._witness.ended_at() if self._witness is not None else None
        if wire_ended is not None:
            ended[WIRE] = wire_ended - self._start_time
        quiet = seen.quiet if self._since is None else min(seen.quiet, max(0.0, at - self._since))
        return Sample(
            at,
            quiet,
            self._began,
            seen.pauses,
            frozenset(now),
            ended,
            seen.rewritten,
            came,
            seen.stalls,
            traffic.is_polling,
            max(self._own_until, (self._first_byte or 0.0) if traffic.is_listening else 0.0),
        )

    def _has_carrier(self) -> bool:
        """Return True if the requests that ended may have brought the answer. A request that received next to nothing
        has only delivered the turn, and the answer comes another way."""
        traffic = self._window.traffic
        return traffic.streamed or traffic.received >= max(traffic.framed, _CARRIED_SHARE * self._bytes)
