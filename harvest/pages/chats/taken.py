"""An answer that was considered complete only because it was quiet, and whether it went on.

Where a page shows no sign that more is coming, a system that stalls longer than we wait has its answer cut. What came
later still stands on the page, so the answer is read once more: before the next turn is typed, after that turn was
answered, and before the page closes.
"""

from __future__ import annotations

from dataclasses import dataclass

from harvest.pages.reading.page import Page, letters, markup, parse_page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import Habits, ReadTurn, read_bubbles, read_turn
from harvest.systems.driver import Unanswered

__all__ = ["Taken", "take"]


@dataclass(frozen=True, slots=True)
class Taken:
    """text: as it was recorded. quiet: the seconds it had stood still by then. bubbles: the eye's numbers of its
    elements; alone: what they say if nothing else is looked at. habits, before, heard: what it was read with.
    """

    said: str
    text: str
    quiet: float
    habits: Habits
    bubbles: tuple[int, ...]
    alone: str
    left_out: tuple[str, ...]
    before: PageText | None = None
    heard: float | None = None

    def check(self, page: Page) -> None:
        """On the page as it is before anything else is said. Raises Unanswered (`went-on`)."""
        self._compare(self.text, self._read(page).text)

    def _read(self, page: Page) -> ReadTurn:
        return read_turn(page, self.said, habits=self.habits, before=self.before, heard=self.heard)

    def check_later(self, page: Page) -> None:
        """The same on a page on which more was said since, if its elements are still there."""
        if self.bubbles and all(number in page.by_id for number in self.bubbles):
            self._compare(self.alone, _alone(page, self.bubbles, self.habits, self.left_out))

    def _compare(self, before: str, now: str) -> None:
        was, is_now = letters(before), letters(now)
        if len(is_now) > len(was) and is_now.startswith(was):
            detail = f"the answer to {self.said[:60]!r} continued after {self.quiet:.1f} s without a change"
            raise Unanswered("went-on", detail, partial=now)


def take(
    page: Page,
    turn: ReadTurn,
    said: str,
    quiet: float,
    habits: Habits,
    before: PageText | None = None,
    heard: float | None = None,
) -> Taken:
    """The answer as it was read from `page` just now."""
    bubbles = tuple(bubble.id for bubble in turn.bubbles)
    known = bubbles if all(number in page.by_id for number in bubbles) else ()
    alone = _alone(page, known, habits, turn.left_out) if known else ""
    return Taken(said, turn.text, quiet, habits, known, alone, turn.left_out, before, heard)


def _alone(page: Page, bubbles: tuple[int, ...], habits: Habits, left_out: tuple[str, ...]) -> str:
    kept = parse_page(markup(page, [page.by_id[number] for number in bubbles]))
    return read_bubbles(kept, habits=habits, left_out=left_out).text
