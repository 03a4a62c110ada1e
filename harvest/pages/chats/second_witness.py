"""The messages received during each turn of one conversation, for `pages/witness` to judge after the run."""

import json
import math

from harvest.pages.browser.recorder import Recorder
from harvest.pages.witness.account import Account, make_account
from harvest.pages.witness.judgement import PROMPT_SECONDS, SiteKnowledge, last_text
from harvest.pages.witness.opening import Leaf, OpenedContent, open_content
from harvest.pages.witness.received import Message
from harvest.pages.witness.strands import EarlierTexts
from harvest.systems.driver import Exhibit

EXHIBIT = "wire"


class SecondWitness:
    """The witness of one conversation. `met` is the shared knowledge about the site's messages."""

    def __init__(self, recorder: Recorder, met: SiteKnowledge) -> None:
        self._recorder, self._met = recorder, met
        self._heard = EarlierTexts()
        self._said, self._answer = "", ""
        self._since = self._read_at = -math.inf
        self._leaves: list[Leaf] = []
        self._places: frozenset[tuple[str, str]] = frozenset()  # where replies came
        self._before: Account | None = None
        self._last: Account | None = None
        self._late = ""  # the text now shown instead of the last answer, if it came over the wire
        self._began = self._looked = 0  # where this turn begins, and up to where an end was searched
        self._signs: frozenset[str] = frozenset()  # the signs of an end that were searched for
        self._whole_at = math.inf  # when the last piece of the last reply came
        self._ended: tuple[float, str] | None = None

    def begin_turn(self) -> None:
        """Begin the next turn. Everything received so far belongs to earlier turns."""
        received = self._recorder.received
        later = open_content(received, self._read_at)
        self._before = None
        if self._answer and (later.leaves or self._late):
            whole = open_content(received, self._since)
            self._before = make_account(whole, self._said, self._answer, self._heard, self._met.known_keys)
            self._before = self._before.add_late_text(self._late)
        self._late = ""
        self._heard.add([*self._leaves, *later.leaves])
        # A sign that comes while no answer is being written does not mark its end.
        self._met.endings.distrust({one.form for one in later.shapes if one.at > self._whole_at + PROMPT_SECONDS})
        if self._ended is not None and last_text(later.leaves, self._places) is not None:
            self._met.endings.distrust([self._ended[1]])
        self._recorder.forget(self._recorder.clock.monotonic())
        self._began = self._looked = len(self._recorder.received)
        self._ended, self._whole_at = None, math.inf

    def note_replacement(self, text: str) -> None:
        """Note that the page now shows this text instead of the last answer. Call this method before `begin_turn`, or
        before `account` of the turn after that answer."""
        came = open_content(self._recorder.received, self._read_at)
        account = make_account(came, self._said, text, self._heard, self._met.known_keys)
        if any(one.is_right for one in account.texts):
            self._late = text

    def ended_at(self) -> float | None:
        """Return when the site signalled over a socket or an event stream that the reply is complete, by the
        recorder's clock. Returns None if there was no known signal."""
        signs = self._met.endings.signs
        if signs != self._signs:  # another conversation has learnt signs that this turn may have had already
            self._signs, self._looked, self._ended = signs, self._began, None
        fresh = self._recorder.received[self._looked :] if signs else []
        self._looked = len(self._recorder.received)
        for one in fresh:
            if isinstance(one, Message):
                turn = open_content([one], one.at)
                told = next((shape.form for shape in turn.shapes if shape.form in signs), None)
                if told is not None:
                    self._ended = one.at, told
                elif last_text(turn.leaves, self._places) is not None:
                    self._ended = None  # it went on
        return self._ended[0] if self._ended is not None else None

    def may_have_brought(self, said: str, text: str, since: float) -> bool:
        """Return False if nothing received in this turn is like a text of the page, so that the page made the text
        itself. `since` is when the turn was sent."""
        came = open_content(self._recorder.received, since)
        if self._recorder.fetching or self._recorder.capped or came.unread:
            return True
        return any(one.like > 0 for one in make_account(came, said, text, self._heard, self._met.known_keys).texts)

    async def account(self, said: str, answer: str, since: float) -> Exhibit:
        """Record the messages of this turn together with the answer. `since` is when the turn was sent."""
        await self._recorder.settle()
        self._said, self._answer, self._since = said, answer, since
        self._read_at = self._recorder.clock.monotonic()
        turn = open_content(self._recorder.received, since)
        self._leaves = turn.leaves
        turn.capped = turn.capped or self._recorder.capped
        account = make_account(turn, said, answer, self._heard, self._met.known_keys)
        self._met.add_account(account)
        self._learn_end(turn, account)
        before = self._before or (self._last if self._late else None)
        kept = account.add_earlier(before.add_late_text(self._late) if before is not None and self._late else before)
        self._last, self._late = account, ""
        return Exhibit(EXHIBIT, "application/json", json.dumps(kept.as_json(), ensure_ascii=False).encode())

    def _learn_end(self, turn: OpenedContent, account: Account) -> None:
        found = next((text for text in account.texts if text.is_right and not text.old), None)
        if found is None:
            return
        self._places = frozenset((key[0], key[1]) for key in found.keys)
        last = last_text(turn.leaves, self._places)
        if last is not None:
            self._whole_at = last
            self._met.endings.learn(turn.shapes, last)
