"""A chat on a live page: sending one user turn, awaiting and reading its answer, and keeping the evidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harvest.pages.browser.busy_signs import FIRM
from harvest.pages.browser.window import Window
from harvest.pages.chats.changed_answers import ChangedAnswers, find_stand_ins
from harvest.pages.chats.completion import Completion, Patience
from harvest.pages.chats.composer import still_contains, type_text
from harvest.pages.chats.evidence import Evidence
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.mismatch import find_mismatch
from harvest.pages.chats.opening import WALLS, Opening, cover_error
from harvest.pages.chats.place import Place, find_place
from harvest.pages.chats.second_witness import SecondWitness
from harvest.pages.chats.sending import (
    SentTurn,
    find_sent_words,
    find_words_left,
    press_offer,
    send,
    shows_other_words,
)
from harvest.pages.chats.taken import RecordedAnswer
from harvest.pages.chats.upload import Upload
from harvest.pages.chats.waiting import AwaitedAnswer, Waiting
from harvest.pages.finding.blocker import Blocker
from harvest.pages.finding.blockers import find_refusal
from harvest.pages.finding.greeting import read_greeting
from harvest.pages.reading.outgoing import count_times_sent
from harvest.pages.reading.page import Node, Page, collapse_spaces
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.repetition import is_repeated
from harvest.pages.reading.turn import Habits, ReadTurn, learn_habits
from harvest.pages.sites.site import Site
from harvest.pages.witness.judgement import SiteKnowledge
from harvest.systems.driver import Denied, DriverError, Exhibit, NotSent, Unanswered
from protocols.answer import Answer, Offer
from recordings.files.times import stamp
from topics.sent_files import SentFile

_RECOVERY_SECONDS = 10.0  # seconds for a composer to be ready again for the next turn
_SMALL_COVER_SECONDS = 1.0  # seconds after which a small cover over the composer does not delay a turn
_AFTER_ANSWER = 0.5  # seconds after the last word from which a new wall did not interrupt the answer
_SMALL_COVER_SHARE = 0.3  # share of the window; nothing is typed beneath a larger cover
_SETTLE_FACTOR = 1.5  # times the wait of an answer without signs, for any last answer while a site is new
_STEP = 0.1  # seconds
_GREETING_STEP = 0.6  # seconds in which a complete greeting does not change

ALTERED_NOTE = "the page shows the user's words in another form"
NEW_TEXT_NOTE = "the page does not show the user's words, so all text that came after the sending was read"
# The note on a text that may not be an answer.
LASTING_NOTE = "the page has shown the same words before and replaced them by the answer later; here they stayed"
# Notes on how an answer was found.
_FOUND_AS = {"altered": (ALTERED_NOTE,), "early": (ALTERED_NOTE,), "new": (NEW_TEXT_NOTE,)}


@dataclass(frozen=True, slots=True)
class Manners:
    """Settings for the conversation with a page.

    - `evidence`: the evidence to keep of each turn: `screenshot`, `reply` (the HTML of the answer), `page` (the HTML
      of the whole page) or `watch` (how the end of the answer was recognised).
    - `afresh`: whether to begin a new chat once the page is open.
    - `login`: the file with the log-in that the window was given.
    - `open_seconds`, `answer_seconds`: the longest waits for the page to open and for an answer.
    """

    patience: Patience = field(default_factory=Patience)
    evidence: frozenset[str] = frozenset()
    afresh: bool = False
    login: Path | None = None
    open_seconds: float = 60.0
    answer_seconds: float = 240.0


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """An answer to one user turn.

    - `asked_at`: when the turn was sent, in UTC as ISO 8601.
    - `first`, `last`: seconds from the send to the first and the last word.
    - `finish`: how the end of the answer was recognised, or `truncated` if the page does not show the whole answer.
    - `sent_as`: the user's text as the page sent it, or "" if the text was unchanged.
    - `notes`: remarks for readers of the results on how the answer was read, as in `SystemTurn`.
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
    """A conversation in one window. All conversations with the site share `experience` (about its pages) and `met`
    (about its messages)."""

    def __init__(
        self, window: Window, site: Site, manners: Manners, experience: Experience, met: SiteKnowledge | None = None
    ) -> None:
        self._window, self._site, self._manners, self._experience = window, site, manners, experience
        self._clock = window.clock
        self._completion = Completion(manners.patience, experience)
        self._habits = Habits()
        self._place: Place | None = None
        self._opening = Opening(window, site, manners.login, experience.launchers)
        self._evidence = Evidence(window, site, manners.evidence, experience, self._opening)
        self._witness = SecondWitness(window.recorder, met or SiteKnowledge()) if window.recorder is not None else None
        self._changed = ChangedAnswers(window, experience, self._witness, manners.patience.most)
        self._taken: RecordedAnswer | None = None
        self._last: tuple[str, Page, ReadTurn] | None = None  # what was said last, the page before it, and the answer
        self._offered: tuple[tuple[Offer, Node], ...] = ()  # what it offers, with its buttons

    async def open(self, url: str) -> None:
        """Load the page and find where to type. Raises a DriverError named after the obstacle if that fails."""
        status = await self._window.goto(url, self._manners.open_seconds)
        self._place = await self._opening.place(status, self._manners.open_seconds)
        if self._manners.afresh and await self._opening.new_chat():
            self._place = await self._opening.place(None, self._manners.open_seconds)

    async def greeting(self, seconds: float) -> Answer | None:
        """Return the greeting and the offers of the page before the first turn, or None if there is no greeting within
        `seconds`."""
        until, before = self._clock.monotonic() + seconds, None
        while True:
            page = await self.place.frame.look(self._site.selectors)
            composer = page.by_id.get(self.place.composer)
            heard, self._offered = read_greeting(page, composer) if composer is not None else (None, ())
            if (heard is not None and heard == before) or self._clock.monotonic() >= until:
                return heard
            before = heard
            await self._clock.sleep(_GREETING_STEP)

    @property
    def place(self) -> Place:
        """The place to type in, available once the page is open."""
        assert self._place is not None, "open first"
        return self._place

    @property
    def opening(self) -> Opening:
        return self._opening

    async def say(self, text: str, files: Sequence[SentFile] = ()) -> ChatAnswer:
        """Send `text`, with files as `Upload.add` does, and return the answer. Raises DriverError with the partial
        answer, if any, and the evidence."""
        try:
            return await self._take_turn(text, None, files)
        except NotSent as fault:
            if not files:
                raise
            # The box may hold the files already, and would get them twice.
            raise Unanswered(fault.reason, fault.detail, partial=fault.partial, exhibits=fault.exhibits) from None

    async def press(self, offer: Offer) -> ChatAnswer:
        """Press an offer of the last answer, and return the answer to the press. Raises DriverError as `say` does, and
        Unanswered (`button-form`) for a button that sends a form."""
        # The value may be new since the answer was read.
        button = next((node for one, node in self._offered if one.title == offer.title), None)
        if button is None:
            raise Unanswered("button-gone", f"the last answer on the page does not offer {offer.title[:80]!r}")
        if button.get("type") in ("", "submit") and any(one.tag == "form" for one in button.ancestors()):
            raise Unanswered("button-form", f"the button {offer.title[:80]!r} submits a form, so it was not pressed")
        return await self._take_turn(offer.title, button)

    async def _take_turn(self, text: str, button: Node | None, files: Sequence[SentFile] = ()) -> ChatAnswer:
        before = self._taken
        told = await self._check_again()
        place = await self._await_place()
        if files:
            await Upload(self._window, place, self._site, self._manners.answer_seconds).add(files)
            place = (await self._await_place()).with_files(place)
            self._habits = replace(self._habits, files=(*self._habits.files, *(one.name for one in files)))
        if self._witness is not None:
            self._witness.begin_turn()
        self._window.outbox.start_typing()
        await place.frame.arm(place.composer, place.send, self._site.selectors, filled=place.filled)
        if button is not None:
            asked_at = stamp(self._clock.now())
            sent = await press_offer(self._window, place, button, text)
        else:
            typed = await type_text(place, text)
            if not place.send or place.guessed:
                # Some buttons appear, or are enabled, only when there is something to send.
                place.find_button(await place.frame.look(self._site.selectors), self._site, typed=True)
            asked_at = stamp(self._clock.now())
            sent = await send(self._window, place, text, typed, self._manners.answer_seconds)
        self._completion.first = self._experience.use_extra_time()
        waiting = Waiting(
            self._window,
            place,
            text,
            habits=self._habits,
            completion=self._completion,
            selectors=self._site.selectors,
            trouble=self._find_wall,
            picture=self._evidence.picture,
            witness=self._witness,
        )
        awaited = await waiting.answer(self._manners.answer_seconds)
        sent_as = find_sent_words(self._window, place, sent, text, awaited.turn) if button is None else ""
        later = before.read_later(awaited.page, awaited.turn.echo) if before is not None else None
        counts = before is not None and later is not None and self._changed.counts(before, later)
        if before is not None and later is not None and not counts:
            told = self._changed.note(before, later)
        exhibits = await self._evidence.of_turn(awaited, text, sent, sent_as, self._habits)
        if self._witness is not None and awaited.verdict is not None:
            exhibits += (await self._witness.account(text, awaited.turn.text, self._window.traffic.marked),)
        try:
            await self._refuse(awaited, text, sent, waiting.before)
        except DriverError as fault:
            fault.partial, fault.exhibits = awaited.turn.text, exhibits
            raise
        if before is not None and later is not None and counts:
            raise self._changed.fault(before, later)
        self._window.outbox.end_turn()
        self._last = text, place.page, awaited.turn
        self._offered = tuple(zip(awaited.turn.beside.offers, awaited.turn.buttons, strict=True))
        verdict = awaited.verdict
        assert verdict is not None
        self._taken = RecordedAnswer(
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
        self._habits = learn_habits(awaited.page, awaited.turn, self._habits)
        for said, seconds in find_stand_ins(awaited.turn):
            self._experience.learn_stand_in(said, seconds)
        lasting = (LASTING_NOTE,) if self._experience.stand_in_seconds(awaited.turn.text) is not None else ()
        return ChatAnswer(
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
        """End the conversation. Raises Unanswered if the last answer has continued since (`went-on`), or if the page
        now shows the last turn twice (`sent-twice`). If only a quiet period showed the end of the last answer,
        Harvest waits for another such period. In the first conversations with a site, Harvest also waits after an
        answer that ended with a sign, because links or another bubble may arrive seconds later."""
        taken, patience, known = self._taken, self._manners.patience, self._experience
        if taken is not None:
            longest = max(patience.alone, known.alone)
            if taken.how == "quiet":
                await self._clock.sleep(min(taken.quiet, longest))
            elif known.unsettled:
                known.unsettled -= 1  # at once, so that other windows are not delayed
                await self._clock.sleep(max(0.0, _SETTLE_FACTOR * longest - (self._clock.monotonic() - taken.at)))
        try:
            await self._check_again()
            if self._last is not None:
                self._check_last(await self.place.frame.look(self._site.selectors))
        except DriverError as fault:
            if fault.reason in ("went-on", "sent-twice"):  # losing the page now affects nothing recorded
                raise

    async def _check_again(self) -> tuple[str, ...]:
        """Read the last answer again if anything on the page has changed since, and return the notes to record."""
        taken, self._taken = self._taken, None
        if taken is None or self._place is None:
            return ()
        seen = await self._place.frame.sample()
        if seen.asked is None or seen.mutations == taken.mutations:
            return ()  # another document has come, or nothing has
        page = await self._place.frame.look(self._site.selectors)
        self._check_last(page)  # a turn shown twice looks grown, too
        later = taken.read_again(page) if page.asked is not None else None
        if later is None:
            return ()
        if self._changed.counts(taken, later):
            raise self._changed.fault(taken, later)
        return self._changed.note(taken, later)

    async def failure(self) -> tuple[Exhibit, ...]:
        """Return the evidence that can still be kept of a page after a failure. Never raises."""
        return await self._evidence.of_failure(self._place.frame if self._place is not None else None)

    async def _await_place(self) -> Place:
        """Wait until the next turn can be typed and nothing covers the box. Returns the place to type in. Raises
        NotSent if the page accepts no turn."""
        assert self._place is not None, "open first"
        begun = self._clock.monotonic()
        self._opening.clear()
        while True:
            looks = await self._opening.view_frames()
            found = find_place(looks, self._site)
            covered = await self._opening.find_cover(found) if found is not None else None
            dismissed = (found is None or covered is not None) and await self._opening.dismiss(looks)
            waited = self._clock.monotonic() - begun
            known = cover_error(looks, self._site) if covered else None
            self._opening.raise_named(looks)
            if covered and waited > _SMALL_COVER_SECONDS:
                self._opening.raise_walls(looks, for_people=True)
            # A small cover is a notice, or a button of the page.
            small = covered is not None and covered.share < _SMALL_COVER_SHARE and not known
            if found is not None and not dismissed and (not covered or (waited > _SMALL_COVER_SECONDS and small)):
                if found.frame is self._place.frame:
                    self._check_last(found.page)
                found.adopt(self._place)
                self._place = found
                return found
            # A page may disable its box for a while after each answer.
            if waited >= (self._manners.answer_seconds if self._place.is_resting(looks) else _RECOVERY_SECONDS):
                self._opening.raise_walls(looks)
                if covered is not None and covered.text and known is None:
                    raise NotSent("composer-covered", f"something covers the box to type in: {covered.text[:200]!r}")
                raise known or NotSent("composer-gone", "the box to type in has gone, or no longer accepts text")
            await self._clock.sleep(_STEP)

    def _check_last(self, page: Page) -> None:
        if self._last is not None:
            said, before, turn = self._last
            if is_repeated(before, page, said, turn):
                raise Unanswered(
                    "sent-twice", f"after the answer, the page shows the previous turn twice: {said[:80]!r}"
                )

    def _find_wall(self, page: Page, turn: ReadTurn) -> Blocker | None:
        traffic = self._window.traffic
        begun = traffic.begun if not traffic.frames else None  # a web socket may have carried the answer
        found = find_refusal(page, turn, site=self._site, faults=traffic.faults, begun=begun)
        return None if found is not None and self._came_after(found, turn) else found

    def _came_after(self, wall: Blocker, turn: ReadTurn) -> bool:
        """Return True if a wall that only a person can pass appeared after the answer was complete. Such a wall blocks
        only the next turn."""
        traffic, over = self._window.traffic, self._window.traffic.last_ended
        dates = [one.get("h-born") for one in wall.node.walk()] if wall.node is not None else []
        came = min((float(date) / 1000 for date in dates if date), default=-math.inf)  # seconds after the last send
        if WALLS.get(wall.kind) is not Denied or not turn.text or turn.ended is None or over is None:
            return False
        return not traffic.pending and came >= _AFTER_ANSWER + max(turn.ended, over)

    async def _refuse(self, awaited: AwaitedAnswer, said: str, sent: SentTurn, before: PageText) -> None:
        """Raise Unanswered unless the page shows one complete answer to one turn. Raises Denied if the page asks for a
        person."""
        turn, sample, why = awaited.turn, awaited.sample, awaited.why

        again = sent.presses > 1 or count_times_sent(self._window.outbox.messages, said) > 1
        if is_repeated(self.place.page, awaited.page, said, turn, again=again):
            raise Unanswered("sent-twice", f"the page shows this turn twice after {sent.by} was pressed")
        wall = self._find_wall(awaited.page, turn) or awaited.trouble
        if wall is not None:
            # A log-in or a captcha asks for a person, after a turn as before it.
            raise self._opening.wall_error(wall) if WALLS[wall.kind] is Denied else Unanswered(wall.kind, wall.excerpt)
        if find_words_left(self._window, self.place, said) is None and shows_other_words(turn, said, self._habits):
            shown = collapse_spaces(turn.echo.text) if turn.echo is not None else ""
            detail = f"the page shows {shown[:80]!r} instead of the user's words, and nothing shows that they were sent"
            raise Unanswered("sent-otherwise", detail)
        lasted = self._completion.lasting_signs(sample)
        stuck = awaited.verdict is not None and awaited.verdict.how == "stuck"
        whole = bool(FIRM & lasted.keys()) and not self._window.traffic.faults
        if stuck and not self._experience.trusts_signs(self._completion.lingering_signs(sample), whole=whole):
            why = "unfinished"
        if why in ("", "no-reply"):  # a page whose answer the site's selectors miss is not silent
            mismatch = find_mismatch(
                awaited.page, awaited.source, said, turn, self._site, self._habits, before, awaited.heard
            )
            if mismatch:
                raise Unanswered("site-mismatch", mismatch)
        if why == "no-reply" and turn.echo is None and await self._is_still_typed(sent):
            why = "unconfirmed"
        if why:
            signs = ", ".join(sorted(sample.now))
            detail = {
                "timeout": f"no complete answer came within {self._manners.answer_seconds:g} s",
                "no-reply": "no answer appeared, and nothing on the page shows that one is coming",
                "page-reloaded": "the page reloaded, and it no longer shows the turn with an answer",
                "unfinished": f"the text no longer changes, but the page still shows that more is coming ({signs}); if "
                "that was the whole answer, name in `busy` of a site file what is shown while an answer is written",
                "unconfirmed": f"after {sent.by} was pressed the page changed, and then nothing came: the turn is "
                "still in the box, and nothing shows whether it was accepted",
            }[why]
            raise Unanswered(why, detail)
        self._completion.learn(sample)

    async def _is_still_typed(self, sent: SentTurn) -> bool:
        text = await self.place.frame.typed_text(self.place.composer)
        return text is not None and still_contains(text, sent.typed.held)
