"""An answer that was considered complete, and its later changes. Even after a clear end of an answer, a page may add
links, another bubble, or the rest of a text that stalled for longer than Harvest waits. While the answer is still
on the page, Harvest reads it again: before the next turn is typed, after that turn was answered, and before the
page closes."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from harvest.pages.reading.elements import signature
from harvest.pages.reading.page import Node, Page, letters, markup, parse_page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import Habits, ReadTurn, read_bubbles, read_turn

_WORDS = re.compile(r"\w+")
_DATE_ATTRIBUTES = ("h-born", "h-said")
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_BEGINNING_LENGTH = 40  # letters by which a bubble is recognised if the page has rebuilt it


@dataclass(frozen=True, slots=True)
class Change:
    """The words that an answer has lost and the words that it has gained, each in order."""

    lost: tuple[str, ...] = ()
    came: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """A changed answer. `text` is the answer as it is read now. `grown` is True if the earlier text is complete and
    more text was added. `replaced` is True if words were exchanged for other words, or a whole bubble has gone.
    `ago` is the least number of seconds since the last piece came, or None if the page has no dates."""

    text: str
    grown: bool
    ago: float | None
    replaced: bool = False
    change: Change = field(default_factory=Change)


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer as it was read from `page` with the given habits. `how` is the kind of sign that showed its end.
    `quiet` is the number of seconds without a change before the reading. `at` is the time of the last change, by the
    clock of the waiting program, and `mutations` the number of changes of any kind until then. `before` and `heard` are
    the other arguments of the reading."""

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

    def read_again(self, page: Page) -> ChangedAnswer | None:
        """Read the answer again before another turn is sent. Returns None if the answer is unchanged."""
        turn = read_turn(page, self.said, habits=self.habits, before=self.before, heard=self.heard)
        gone = self._find_gone(page)
        text = (turn.doubtful or turn).text
        if not text and gone:
            return self._later_without(gone, text)
        # If the text of its elements is unchanged, only the reading differs.
        still = [bubble for bubble in self.turn.bubbles if bubble.id in page.by_id]
        same = len(still) == len(self.turn.bubbles) and _appearance(still) == _appearance(
            page.by_id[one.id] for one in still
        )
        return _compare(self.turn.text, text, page, turn.bubbles, replaceable=not same)

    def read_later(self, page: Page, echo: Node | None = None) -> ChangedAnswer | None:
        """Read the answer again on a page that also shows a later turn, at `echo`. Returns None if the answer is
        unchanged, or if its elements were rebuilt or have left the page together with the user's text."""
        numbers = [bubble.id for bubble in self.turn.bubbles]
        if not numbers or not all(number in self.page.by_id for number in numbers):
            return None
        before = [self.page.by_id[number] for number in numbers]
        left = [page.by_id[number] for number in numbers if number in page.by_id and page.by_id[number].visible]
        if gone := self._find_gone(page, echo):
            return self._later_without(gone, self._read_alone(page, left) if left else "")
        if not all(number in page.by_id for number in numbers):
            return None
        now = [page.by_id[number] for number in numbers]
        now += self._came_before(echo, now)
        if _appearance(before) == _appearance(now):
            return None  # reading them would cost more
        return _compare(self._read_alone(self.page, before), self._read_alone(page, now), page, now)

    def _find_gone(self, page: Page, until: Node | None = None) -> list[Node]:
        """Return bubbles of the answer that have disappeared although the user's text before them has not moved. Two
        harmless cases are excluded: a list that shows only its last rows drops the user's text first, and a page
        that rebuilds its bubbles still has the same text before the next turn (`until`)."""
        echo = self.turn.echo
        stands = None if echo is None else page.by_id.get(echo.id)
        if echo is None or stands is None or not stands.visible or letters(stands.text) != letters(echo.text):
            return []
        answer, shown = letters(self.turn.text), letters(_text_between(page, stands, until))
        gone = []
        for bubble in self.turn.bubbles:
            begins = letters(bubble.text)[:_BEGINNING_LENGTH]
            part = bool(begins) and begins in answer and bubble not in self.turn.decorations
            # A bubble that is only hidden may have been folded.
            if part and bubble.id and bubble.id not in page.by_id and begins not in shown:
                gone.append(bubble)
        return gone

    @staticmethod
    def _later_without(gone: Iterable[Node], text: str) -> ChangedAnswer:
        """Return the answer after losing the bubbles `gone`. `text` remains; the time of the change is unknown."""
        lost = tuple(word for bubble in gone for word in _split_words(bubble.text))
        return ChangedAnswer(text, False, None, True, Change(lost))

    def _came_before(self, echo: Node | None, bubbles: list[Node]) -> list[Node]:
        around = bubbles[-1].parent
        if echo is None or around is None:
            return []
        after = around.elements[around.elements.index(bubbles[-1]) + 1 :]
        ends = next((place for place, node in enumerate(after) if echo.is_within(node)), 0)
        # A name above the words of either speaker does not count as a bubble; it may look like one.
        made = {signature(bubble) for bubble in self.turn.bubbles if bubble not in self.turn.decorations}
        made -= {signature(node) for node in after[ends : ends + 1]}
        return [
            node
            for node in after[:ends]
            if node.id not in self.page.by_id and node.visible and node.text and signature(node) in made
        ]

    def _read_alone(self, page: Page, bubbles: Iterable[Node]) -> str:
        kept = parse_page(markup(page, bubbles))
        return read_bubbles(kept, habits=self.habits, left_out=self.turn.left_out).text


def has_grown(before: str, now: str) -> bool:
    """Return True if `now` has all words of `before`, in order, and also additional text at its end, in between, or as
    a link."""
    was, is_now = letters(before), letters(now)
    if len(is_now) <= len(was):
        return False
    rest = iter(_WORDS.findall(now.casefold()))
    return is_now.startswith(was) or all(word in rest for word in _WORDS.findall(before.casefold()))


def _text_between(page: Page, start: Node, end: Node | None) -> str:
    found: list[str] = []
    around = {one for edge in (start, end) if edge is not None for one in edge.ancestors()}
    covered: Node | None = None  # the element whose whole text was added last
    begun = False
    for node in page.walk():
        if node is end:
            break
        begun = begun or node is start
        if not begun or node.is_within(start) or node in around or (covered is not None and node.is_within(covered)):
            continue
        covered = node
        if node.visible:
            found.append(node.text)
    return " ".join(found)


def change_between(before: str, now: str) -> Change:
    """Return the words that each text has more often than the other, without the targets of links."""
    was, is_now = _split_words(before), _split_words(now)
    return Change(_surplus_words(was, Counter(is_now)), _surplus_words(is_now, Counter(was)))


def _surplus_words(words: Iterable[str], other: Counter[str]) -> tuple[str, ...]:
    found = []
    for word in words:
        if other[word] > 0:
            other[word] -= 1
        else:
            found.append(word)
    return tuple(found)


def _split_words(text: str) -> list[str]:
    return _WORDS.findall(_LINK_TARGET.sub("]", text).casefold())


def _compare(
    before: str, now: str, page: Page, bubbles: Iterable[Node], *, replaceable: bool = True
) -> ChangedAnswer | None:
    """Return the change from `before` to `now`, or None if they are equal. Set `replaceable` if differing words were
    changed on the page itself and not only read differently."""
    if letters(before) == letters(now) or not now:
        return None  # if nothing is read any more, the page has moved on
    dates = [
        float(node.get(date)) for one in bubbles for node in one.walk() for date in _DATE_ATTRIBUTES if node.get(date)
    ]
    # Elements without a date were there when the last turn was sent.
    ago = None if page.asked is None else (page.asked - max(dates, default=0.0)) / 1000
    grown, change = has_grown(before, now), change_between(before, now)
    replaced = replaceable and not grown and bool(change.lost and change.came)
    return ChangedAnswer(now, grown, ago, replaced, change)


def _appearance(bubbles: Iterable[Node]) -> list[tuple[str, list[str]]]:
    return [(one.text, [node.get("href") for node in one.walk() if node.tag == "a"]) for one in bubbles]
