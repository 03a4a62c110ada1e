"""A chat on a live page: one user turn typed and sent, its answer waited for, read, and kept with its evidence."""

from dataclasses import dataclass, field
from pathlib import Path

from harvest.pages.browser.busy_signs import FIRM
from harvest.pages.browser.window import Window
from harvest.pages.chats.completion import Completion, Patience
from harvest.pages.chats.composer import still_holds, type_text
from harvest.pages.chats.evidence import Evidence
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.mismatch import find_mismatch
from harvest.pages.chats.opening import WALLS, Opening, covered_by
from harvest.pages.chats.place import Place, place_on
from harvest.pages.chats.second_witness import SecondWitness
from harvest.pages.chats.sending import Sent, send
from harvest.pages.chats.taken import Later, Taken
from harvest.pages.chats.waiting import Awaited, Waiting
from harvest.pages.finding.blocker import Blocker
from harvest.pages.finding.blockers import find_refusal
from harvest.pages.reading.altered import share_kept
from harvest.pages.reading.echo import trail
from harvest.pages.reading.outgoing import times_sent, words_sent
from harvest.pages.reading.page import Node, Page, collapse_spaces, letters
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.repetition import is_repeated
from harvest.pages.reading.turn import Habits, ReadTurn, learn
from harvest.pages.reading.typography import differences
from harvest.pages.sites.site import Site
from harvest.pages.witness.judgement import Acquaintance
from harvest.systems.driver import Denied, DriverError, Exhibit, NotSent, Unanswered
from protocols.answer import Answer
from recordings.files.times import stamp

_RECOVERY = 10.0  # seconds a composer gets to be ready again for the next turn
_UNNAMED = 1.0  # seconds after which what covers the composer and is small is no reason to wait
_BREATH = 0.5  # seconds after the last word from which on what comes has not broken it off
_SMALL = 0.3  # share of the window: what takes more is not typed beneath
_SETTLED = 1.5  # times what an answer without signs is given, for any last answer while a site is new
_GUESSED = 2.0  # times the quiet that a bubble had which has gone: after so long it is thought to have made way
_IN_VAIN = 2  # answers that grew however long they were given, after which that says nothing
_STEP = 0.1  # seconds
_XHTML = "application/xhtml+xml"
_DIFFERENT = 0.3  # share of the user's letters: where a page shows fewer, it shows something else

ALTERED = "the page shows the user's words in another form"
NEW = "the page does not show the user's words, so that all that came after them was read"
# Notes on an answer while which it was seen that the one before it had changed.
MARKED = "the page put words to the answer before it, or changed them, as it does in the same words to others"
LATER = "the answer before it has changed on the page since, and stands as it was read"
# The note on an answer that may be none.
LASTING = "it is word for word what the page has put up before and replaced by the answer later; here it stayed"
# Notes on how an answer was found.
_FOUND_AS = {"altered": (ALTERED,), "early": (ALTERED,), "new": (NEW,)}


@dataclass(frozen=True, slots=True)
class Manners:
    """How a page is dealt with.

    evidence: what is kept of each turn: `screenshot`, `reply` (the answer's HTML), `page` (the whole page's), `watch`
    (how its end was told). afresh: a new chat is begun on the page once it is open. login: the file with the log-in
    that the window was given. open_seconds, answer_seconds: the longest waits.
    """

    patience: Patience = field(default_factory=Patience)
    evidence: frozenset[str] = frozenset()
    afresh: bool = False
    login: Path | None = None
    open_seconds: float = 60.0
    answer_seconds: float = 240.0


@dataclass(frozen=True, slots=True)
class Said:
    """An answer. asked_at: UTC, ISO 8601. first, last: seconds from sending to its first and last word. finish: how its
    end was told, or `truncated` where the page holds back the rest of it. notes: as of `SystemTurn`.

    sent_as: the user's words as the page took them, "" where they went as they were said. notes: what a reader of the
    figures should know about how the answer was read.
    """

    answer: Answer
    asked_at: str
    first: float | None
    last: float | None
    finish: str
    ended: bool
    exhibits: tuple[Exhibit, ...]
    sent_as: str = ""
    notes: tuple[str, ...] = ()


class Chat:
    """One conversation in one window. experience: with this site, shared by its conversations, as is what is known of
    its wire (met)."""

    def __init__(
        self, window: Window, site: Site, manners: Manners, experience: Experience, met: Acquaintance | None = None
    ) -> None:
        self._window, self._site, self._manners, self._experience = window, site, manners, experience
        self._clock = window.clock
        self._completion = Completion(manners.patience, experience)
        self._habits = Habits()
        self._place: Place | None = None
        self._opening = Opening(window, site, manners.login, experience.launchers)
        self._evidence = Evidence(window, site, manners.evidence, experience, self._opening)
        self._witness = SecondWitness(window.recorder, met or Acquaintance()) if window.recorder is not None else None
        self._taken: Taken | None = None
        self._last: tuple[str, Page, ReadTurn] | None = None  # what was said last, the page before it, and the answer

    async def open(self, url: str) -> None:
        """Load the page and find one's way. Raises DriverError, each time by the name of what stood in the way."""
        status = await self._window.goto(url, self._manners.open_seconds)
        self._place = await self._opening.place(status, self._manners.open_seconds)
        if self._manners.afresh and await self._opening.new_chat():
            self._place = await self._opening.place(None, self._manners.open_seconds)

    @property
    def place(self) -> Place:
        """Where one types; once the page is open."""
        assert self._place is not None, "open first"
        return self._place

    @property
    def opening(self) -> Opening:
        """How the page was opened."""
        return self._opening

    async def say(self, text: str) -> Said:
        """Raises DriverError; its `partial` holds what there was of an answer, its exhibits the evidence."""
        before = self._taken
        told = await self._check_again()
        place = await self._ready()
        if self._witness is not None:
            self._witness.turn_begins()
        self._window.outbox.typing()
        await place.frame.arm(place.composer, place.send, self._site.selectors)
        typed = await type_text(place, text)
        if not place.send or place.guessed:
            # Some buttons show themselves, or can be pressed, only when there is something to send.
            place.find_button(await place.frame.look(self._site.selectors), self._site, typed=True)
        asked_at = stamp(self._clock.now())
        sent = await send(self._window, place, text, typed, self._manners.answer_seconds)
        self._completion.first = self._experience.try_out()
        waiting = Waiting(
            self._window,
            place,
            text,
            habits=self._habits,
            completion=self._completion,
            selectors=self._site.selectors,
            trouble=self._wall,
            picture=self._evidence.picture,
            **({} if self._witness is None else {"wire_ended": self._witness.ended_at}),
        )
        awaited = await waiting.answer(self._manners.answer_seconds)
        sent_as = self._sent_as(awaited, sent, text)
        later = before.later(awaited.page, awaited.turn.echo) if before is not None else None
        counts = before is not None and later is not None and self._counts(before, later)
        if before is not None and later is not None and not counts:
            told = self._note_changed(before, later)
        exhibits = await self._evidence.of_turn(awaited, text, sent, sent_as, self._habits)
        if self._witness is not None and awaited.verdict is not None:
            exhibits += (await self._witness.account(text, awaited.turn.text, self._window.traffic.marked),)
        try:
            await self._refuse(awaited, text, sent, waiting.before)
        except DriverError as fault:
            fault.partial, fault.exhibits = awaited.turn.text, exhibits
            raise
        if before is not None and later is not None and counts:
            raise self._went_on(before, later)
        self._window.outbox.rest()
        self._last = text, place.page, awaited.turn
        verdict = awaited.verdict
        assert verdict is not None
        self._taken = Taken(
            text,
            awaited.page,
            awaited.turn,
            self._habits,
            verdict.how,
            awaited.sample.quiet,
            awaited.changed_at,
            awaited.mutations,
            waiting.before,
            awaited.heard,
        )
        self._habits = learn(awaited.page, awaited.turn, self._habits)
        lasting = (LASTING,) if self._experience.stand_in_seconds(awaited.turn.text) is not None else ()
        return Said(
            answer=awaited.turn.answer,
            asked_at=asked_at,
            first=None if awaited.sample.began is None else min(awaited.sample.began, awaited.sample.last_change),
            last=awaited.sample.last_change,
            finish="truncated" if awaited.turn.rest else verdict.how,
            ended=any(node.visible for node in awaited.page.marked("ended")),
            exhibits=exhibits,
            sent_as=sent_as,
            notes=(*awaited.turn.notes, *_FOUND_AS.get(awaited.turn.how, ()), *lasting, *told),
        )

    async def settle(self) -> None:
        """At the end of a conversation: raises Unanswered where its last answer has gone on (`went-on`), or its last
        turn has come to stand there twice (`sent-twice`).

        An answer that was taken for whole by its quiet alone is given as long once more. So is, in the first
        conversations with a site, any other: links or another bubble may come seconds after its end.
        """
        taken, patience, known = self._taken, self._manners.patience, self._experience
        if taken is not None:
            longest = max(patience.alone, known.alone)
            if taken.how == "quiet":
                await self._clock.sleep(min(taken.quiet, longest))
            elif known.unsettled:
                known.unsettled -= 1  # at once, so that other windows are not held up
                await self._clock.sleep(max(0.0, _SETTLED * longest - (self._clock.monotonic() - taken.at)))
        try:
            await self._check_again()
            if self._last is not None:
                self._check_last(await self.place.frame.look(self._site.selectors))
        except DriverError as fault:
            if fault.reason in ("went-on", "sent-twice"):  # a page that is lost now was there for all that was recorded
                raise

    async def _check_again(self) -> tuple[str, ...]:
        """Read the last answer once more, if anything has changed on the page since it was read. Returns what is to be
        noted."""
        taken, self._taken = self._taken, None
        if taken is None or self._place is None:
            return ()
        seen = await self._place.frame.sample()
        if seen.asked is None or seen.mutations == taken.mutations:
            return ()  # another document has come, or nothing has
        page = await self._place.frame.look(self._site.selectors)
        self._check_last(page)  # what stands there twice has grown, too
        later = taken.again(page) if page.asked is not None else None
        if later is None:
            return ()
        if self._counts(taken, later):
            raise self._went_on(taken, later)
        return self._note_changed(taken, later)

    def _counts(self, taken: Taken, later: Later) -> bool:
        """Whether what an answer has become shows that it was none yet, or was cut. Not on a page where answers change
        however long they are given: it adds something to each when the next turn is sent, say."""
        known = self._experience
        if not (later.grown or later.replaced) or known.in_vain >= _IN_VAIN:
            return False
        return not known.is_habit(taken.turn.text, later, taken.quiet)

    def _note_changed(self, taken: Taken, later: Later) -> tuple[str, ...]:
        """Keep what an answer has become among the events; returns the note on it."""
        self._window.note(f"the answer to {taken.said[:60]!r} has since become {later.text[:1000]!r}")
        if self._experience.is_habit(taken.turn.text, later, taken.quiet):
            return (MARKED,)
        if self._witness is not None:
            self._witness.note_replacement(later.text)
        return (LATER,)

    def _went_on(self, taken: Taken, later: Later) -> Unanswered:
        """What is told of an answer that went on, or was replaced, after it was recorded; the next ones on this site
        are given longer."""
        since = self._clock.monotonic() - taken.at
        # Of a bubble that has gone nobody knows when it went.
        pause = min(since, _GUESSED * taken.quiet) if later.ago is None else since - later.ago
        pause = max(taken.quiet, pause)
        most, signed = self._manners.patience.most, taken.how != "quiet"
        self._experience.changed(taken.turn.text, later, pause, most, signed=signed)
        what = "was replaced" if later.replaced else "continued"
        detail = f"the answer to {taken.said[:60]!r} {what} after {pause:.1f} s without a change"
        return Unanswered("went-on", detail, partial=later.text)

    async def failure(self) -> tuple[Exhibit, ...]:
        """What can still be kept of a page on which something went wrong. Never raises."""
        return await self._evidence.of_failure(self._place.frame if self._place is not None else None)

    async def _ready(self) -> Place:
        """Where to type the next turn, with nothing over it. Raises NotSent where the page takes none."""
        assert self._place is not None, "open first"
        begun = self._clock.monotonic()
        self._opening.clear()
        while True:
            looks = await self._opening.looks()
            found = place_on(looks, self._site)
            covered = await self._opening.covered(found) if found is not None else None
            dismissed = (found is None or covered is not None) and await self._opening.dismissed(looks)
            waited = self._clock.monotonic() - begun
            known = covered_by(looks, self._site) if covered else None
            self._opening.raise_named(looks)
            if covered and waited > _UNNAMED:
                self._opening.raise_walls(looks, for_people=True)
            small = covered is not None and covered.share < _SMALL and not known  # a notice, or a button of the page's
            if found is not None and not dismissed and (not covered or (waited > _UNNAMED and small)):
                if found.frame is self._place.frame:
                    self._check_last(found.page)
                found.follow(self._place)
                self._place = found
                return found
            # A page may take no turn for a while after each answer, as long as its box is still there.
            if waited >= (self._manners.answer_seconds if self._place.resting(looks) else _RECOVERY):
                self._opening.raise_walls(looks)
                if covered is not None and covered.text and known is None:
                    raise NotSent("composer-covered", f"something lies over the box to type in: {covered.text[:200]!r}")
                raise known or NotSent("composer-gone", "the box to type in has gone, or no longer takes text")
            await self._clock.sleep(_STEP)

    def _check_last(self, page: Page) -> None:
        """Raises Unanswered where the page has come to show the last turn twice."""
        if self._last is not None:
            said, before, turn = self._last
            if is_repeated(before, page, said, turn):
                raise Unanswered(
                    "sent-twice", f"after the answer, the page shows the previous turn twice: {said[:80]!r}"
                )

    def _wall(self, page: Page, turn: ReadTurn) -> Blocker | None:
        """What says that this turn came to nothing."""
        traffic = self._window.traffic
        begun = traffic.begun if not traffic.frames else None  # a web socket may have carried the answer
        found = find_refusal(page, turn, site=self._site, faults=traffic.faults, begun=begun)
        return None if found is not None and self._came_after(found, turn) else found

    def _came_after(self, wall: Blocker, turn: ReadTurn) -> bool:
        """Whether what asks for a person came once the answer stood there whole: the request that had brought it was
        over, and nothing was written any more. Then it is in the way of the next turn, and no part of this one."""
        traffic, dates = self._window.traffic, _dates_of(wall.node)
        over = traffic.last_ended
        if WALLS.get(wall.kind) is not Denied or not turn.text or turn.ended is None or over is None or not dates:
            return False
        return not traffic.pending and min(dates) >= _BREATH + max(turn.ended, over)

    async def _refuse(self, awaited: Awaited, said: str, sent: Sent, before: PageText) -> None:
        """Raises Unanswered for what is no whole answer to one turn, whatever stands on the page; Denied where the page
        asks for a person."""
        turn, sample, why = awaited.turn, awaited.sample, awaited.why

        again = sent.presses > 1 or times_sent(self._window.outbox.messages, said) > 1
        if is_repeated(self.place.page, awaited.page, said, turn, again=again):
            raise Unanswered("sent-twice", f"the page shows this turn twice after {sent.by} was pressed")
        wall = self._wall(awaited.page, turn) or awaited.trouble
        if wall is not None:
            # A log-in or a captcha asks for a person, after a turn as before it.
            raise self._opening.wall(wall) if WALLS[wall.kind] is Denied else Unanswered(wall.kind, wall.excerpt)
        if self._words_left(said) is None and self._shows_other_words(turn, said):
            shown = collapse_spaces(turn.echo.text) if turn.echo is not None else ""
            detail = f"the page shows {shown[:80]!r} where the user's words should be, and nothing tells that they left"
            raise Unanswered("sent-otherwise", detail)
        lasted = self._completion.lasted(sample)
        stuck = awaited.verdict is not None and awaited.verdict.how == "stuck"
        whole = bool(FIRM & lasted.keys()) and not self._window.traffic.faults
        if stuck and not self._experience.believes(sample.now, whole=whole):
            why = "unfinished"
        if why in ("", "no-reply"):  # a page is not silent where the answer stands beside what the site names
            mismatch = find_mismatch(
                awaited.page,
                awaited.source,
                said,
                turn,
                self._site,
                self._habits,
                before,
                awaited.heard,
            )
            if mismatch:
                raise Unanswered("site-mismatch", mismatch)
        if why == "no-reply" and turn.echo is None and await self._stands(sent):
            why = "unconfirmed"
        if why:
            signs = ", ".join(sorted(sample.now))
            detail = {
                "timeout": f"no whole answer within {self._manners.answer_seconds:g} s",
                "no-reply": "no answer appeared, and nothing on the page shows that one is coming",
                "page-reloaded": "the page reloaded, and it no longer shows the turn with an answer",
                "unfinished": f"the text no longer changes, but the page still shows that more is coming ({signs}); if "
                "that was the whole answer, name in `busy` of a site file what is shown while an answer is written",
                "unconfirmed": f"after {sent.by} was pressed the page changed, and then nothing came: the turn is "
                "still in the box, and there is no way to tell whether it was taken",
            }[why]
            raise Unanswered(why, detail)
        began = sample.last_change if sample.began is None else sample.began
        self._experience.finished(
            sample.ended.keys() - sample.now,
            sample.came,
            lasted,
            began,
            self._completion.ran_until(sample),
            unclear=self._completion.unclear(sample) - lasted.keys(),
        )
        waited = sample.quiet >= self._manners.patience.stuck
        self._experience.asks_on = self._experience.asks_on or (sample.asking and waited)
        self._experience.stayed |= self._completion.outlasting(sample)
        self._experience.trails += self._completion.trailed(sample)
        self._experience.put_in(self._completion.put_in_after(sample), self._manners.patience.most)
        if not lasted:
            patience = self._manners.patience
            self._experience.paused(self._completion.paused(sample), patience.alone, patience.most)

    async def _stands(self, sent: Sent) -> bool:
        part = await self.place.frame.node(self.place.composer)
        return part is not None and still_holds(await part.value(), sent.typed.held)

    def _words_left(self, said: str) -> str | None:
        """The user's words as they left the page; None where that cannot be told."""
        return words_sent(self._window.outbox.bodies, said, known=letters(self.place.page.root.text))

    def _shows_other_words(self, turn: ReadTurn, said: str) -> bool:
        """Whether something else than was said stands where the user's words have stood in every earlier turn."""
        if turn.how != "altered" or turn.echo is None or not letters(turn.echo.text) or not self._habits.apart:
            return False  # signs alone may be a mask
        return trail(turn.echo) == self._habits.user and share_kept(said, turn.echo.lines) < _DIFFERENT

    def _sent_as(self, awaited: Awaited, sent: Sent, said: str) -> str:
        """The user's words as they left the page; where that cannot be told, as the page shows them, or as they stood
        in the box; "" where they are what was said, or are only masked in view."""
        words, turn = self._words_left(said), awaited.turn
        if words is None:
            words = sent.typed.text if sent.typed.differences else said
            if turn.how == "altered" and turn.echo is not None and _DIFFERENT <= share_kept(said, turn.echo.lines) < 1:
                words = turn.echo.lines
        return "" if differences(said, words) == () else words


def _dates_of(node: Node | None) -> list[float]:
    """Seconds after the last send at which it, or what is in it, came."""
    if node is None:
        return []
    dates = [one.get("h-born") for one in node.walk()]
    return [float(date) / 1000 for date in dates if date]
