"""Recorded answers that a page has changed afterwards: which changes count, and what is noted about them."""

from collections.abc import Iterator
from dataclasses import dataclass

from harvest.pages.browser.window import Window
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.second_witness import SecondWitness
from harvest.pages.chats.taken import ChangedAnswer, RecordedAnswer
from harvest.pages.reading.page import letters
from harvest.pages.reading.turn import ReadTurn
from harvest.systems.driver import Unanswered

_GUESS_FACTOR = 2.0  # times the quiet of a bubble that has gone: the time after which it is assumed to have gone
_WHOLE_LENGTH = 99  # most characters of an earlier text that the eye keeps whole
_LEAST_STAND_IN = 0.5  # seconds for which a text stays that is more than a step of painting
_MOST_VAIN_WAITS = 2  # answers that grew despite longer waits, after which growing is ignored

# Notes on an answer during which the one before it was seen to have changed.
MARKED_NOTE = "the page added words to the answer before it, or changed them, in the same way as in other answers"
CHANGED_NOTE = "the answer before it has changed on the page since, and is recorded as it was read"


@dataclass(frozen=True, slots=True)
class ChangedAnswers:
    """The changes of the answers in one conversation. `most` is the longest time without changes, in seconds, that
    Harvest may require of an answer."""

    window: Window
    experience: Experience
    witness: SecondWitness | None
    most: float

    def counts(self, taken: RecordedAnswer, later: ChangedAnswer) -> bool:
        """Return True if the change shows that the recorded answer was incomplete or wrong. Returns False for a page
        that changes its answers however long Harvest waits, for example whenever the next turn is sent."""
        if not (later.grown or later.replaced) or self.experience.in_vain >= _MOST_VAIN_WAITS:
            return False
        return not self.experience.is_habit(taken.turn.text, later, taken.quiet)

    def note(self, taken: RecordedAnswer, later: ChangedAnswer) -> tuple[str, ...]:
        """Add the changed answer to the window's events, and return the notes to record about it."""
        self.window.note(f"the answer to {taken.said[:60]!r} has since become {later.text[:1000]!r}")
        if self.experience.is_habit(taken.turn.text, later, taken.quiet):
            return (MARKED_NOTE,)
        if self.witness is not None:
            self.witness.note_replacement(later.text)
        return (CHANGED_NOTE,)

    def fault(self, taken: RecordedAnswer, later: ChangedAnswer) -> Unanswered:
        """Return the error for an answer that changed after it was recorded, and make Harvest wait longer for the next
        answers on this site."""
        since = self.window.clock.monotonic() - taken.at
        pause = min(since, _GUESS_FACTOR * taken.quiet) if later.ago is None else since - later.ago
        pause = max(taken.quiet, pause)
        self.experience.learn_change(taken.turn.text, later, pause, self.most, signed=taken.how != "quiet")
        what = "was replaced" if later.replaced else "continued"
        detail = f"the answer to {taken.said[:60]!r} {what} after {pause:.1f} s without a change"
        return Unanswered("went-on", detail, partial=later.text)


def find_stand_ins(turn: ReadTurn) -> Iterator[tuple[str, float]]:
    """Yield each text that the page showed before this answer where the answer is now, and for how many seconds."""
    said = letters(turn.text)
    for node in (one for bubble in turn.bubbles for one in bubble.walk()):
        was = node.get("h-was")
        if 0 < len(was) <= _WHOLE_LENGTH and letters(was) and letters(was) not in said:
            seconds = (float(node.get("h-first")) - (node.birth_time or 0.0)) / 1000
            if seconds >= _LEAST_STAND_IN:
                yield was, seconds
