"""An answer that was considered complete, and what became of it afterwards.

Whatever told its end, a page may put something in later: links, another bubble, the rest of a text that stalled
for longer than we wait. It still stands on the page, so the answer is read once more: before the next turn is typed,
after that turn was answered, and before the page closes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harvest.pages.reading.page import Node, Page, letters, markup, parse_page
from harvest.pages.reading.page_text import PageText, signature
from harvest.pages.reading.turn import Habits, ReadTurn, read_bubbles, read_turn

_WORDS = re.compile(r"\w+")
_DATES = ("h-born", "h-said")


@dataclass(frozen=True, slots=True)
class Later:
    """What an answer has become. text: as it is read now. grown: all that was said before is still said, and more.

    ago: seconds before the page was read at which the last piece of it came, at least; None: the page has no dates.
    """

    text: str
    grown: bool
    ago: float | None


@dataclass(frozen=True, slots=True)
class Taken:
    """An answer as it was read from `page` with these habits. how: what told its end. quiet: the seconds it had stood
    still by then; at: when it last changed, by the clock of whoever waits. mutations: changes of any kind on the page
    until then. before, heard: what it was read with, too.
    """

    said: str
    page: Page
    turn: ReadTurn
    habits: Habits
    how: str = "quiet"
    quiet: float = 0.0
    at: float = 0.0
    mutations: int = -1
    before: PageText | None = None
    heard: float | None = None

    def again(self, page: Page) -> Later | None:
        """What it has become on the page as it is before anything else is said; None: it is the same."""
        turn = read_turn(page, self.said, habits=self.habits, before=self.before, heard=self.heard)
        return _compare(self.turn.text, (turn.doubtful or turn).text, page, turn.bubbles)

    def later(self, page: Page, echo: Node | None = None) -> Later | None:
        """The same on a page on which more was said since, at `echo`; None, too, where its elements are gone."""
        numbers = [bubble.id for bubble in self.turn.bubbles]
        if not numbers or not all(number in page.by_id and number in self.page.by_id for number in numbers):
            return None
        before, now = ([one.by_id[number] for number in numbers] for one in (self.page, page))
        now += self._came_before(echo, now)
        if _looks(before) == _looks(now):
            return None  # to read them costs more
        return _compare(self._alone(self.page, before), self._alone(page, now), page, now)

    def _came_before(self, echo: Node | None, bubbles: list[Node]) -> list[Node]:
        """Bubbles made like those of the answer that came after them, and before anything else was said."""
        around = bubbles[-1].parent
        if echo is None or around is None:
            return []
        after = around.elements[around.elements.index(bubbles[-1]) + 1 :]
        ends = next((place for place, node in enumerate(after) if echo.within(node)), 0)
        # A name that stands over the words of either speaker is no bubble, and where both are made alike it may be one.
        made = {signature(bubble) for bubble in self.turn.bubbles if bubble not in self.turn.decorations}
        made -= {signature(node) for node in after[ends : ends + 1]}
        return [
            node
            for node in after[:ends]
            if node.id not in self.page.by_id and node.visible and node.text and signature(node) in made
        ]

    def _alone(self, page: Page, bubbles: Iterable[Node]) -> str:
        """What these say if nothing else is looked at."""
        kept = parse_page(markup(page, bubbles))
        return read_bubbles(kept, habits=self.habits, left_out=self.turn.left_out).text


def has_grown(before: str, now: str) -> bool:
    """Whether `now` still says all that `before` does, in its order, and more: at its end, in between, or as a link."""
    was, is_now = letters(before), letters(now)
    if len(is_now) <= len(was):
        return False
    rest = iter(_WORDS.findall(now.casefold()))
    return is_now.startswith(was) or all(word in rest for word in _WORDS.findall(before.casefold()))


def _compare(before: str, now: str, page: Page, bubbles: Iterable[Node]) -> Later | None:
    if letters(before) == letters(now) or not now:
        return None  # where nothing is read any more, the page has moved on
    dates = [float(node.get(date)) for one in bubbles for node in one.walk() for date in _DATES if node.get(date)]
    # What the page does not date was there when the last turn was sent.
    ago = None if page.asked is None else (page.asked - max(dates, default=0.0)) / 1000
    return Later(now, has_grown(before, now), ago)


def _looks(bubbles: Iterable[Node]) -> list[tuple[str, list[str]]]:
    return [(one.text, [node.get("href") for node in one.walk() if node.tag == "a"]) for one in bubbles]
