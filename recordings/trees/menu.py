"""A menu of buttons as a graph, folded from conversations in which a user only pressed them.

A page is the text and the offers of an answer. Pages that show the same are one page, whatever was pressed before, so a
menu that leads back to its beginning is finite. A press that led to several pages is random if it led to them after the
same pages and presses; otherwise its result depends on the path.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal

from protocols.answer import Answer, Offer
from protocols.presses import press_refusal
from recordings.conversations.conversation import Conversation

# What a page is known by: its text and offers, or its offers alone, for texts that hold times or names.
KnownBy = Literal["text", "offers"]
# How the page after a press is decided.
Kind = Literal["fixed", "random", "by the way"]

# The titles and pages before a press, from the opening on.
_Way = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its number, from 1 in the order of discovery. `depth` is the smallest number of presses that led to
    it. `ended` is True if the system closed the conversation with it. `offers` has the offers at its first appearance,
    since their values may differ in each conversation."""

    number: int
    text: str
    offers: tuple[Offer, ...]
    ended: bool
    depth: int


@dataclass(slots=True)
class Choice:
    """A press, or the opening words. `led` counts the pages that followed, by number."""

    led: Counter[int] = field(default_factory=Counter)
    _ways: defaultdict[_Way, set[int]] = field(default_factory=lambda: defaultdict(set))

    def add(self, way: _Way, page: int) -> None:
        self.led[page] += 1
        self._ways[way].add(page)

    @property
    def presses(self) -> int:
        return self.led.total()

    @property
    def kind(self) -> Kind:
        """The kind of the press: one page always followed, the next page was random, or it depended on earlier
        presses."""
        if len(self.led) < 2:
            return "fixed"
        return "random" if any(len(pages) > 1 for pages in self._ways.values()) else "by the way"


@dataclass(slots=True)
class Menu:
    """The graph of a menu. `by` says how a page is identified. `opening` has the pages that followed the opening words.
    `choices` has, by page and title, the presses that were made. `conversations` is the number of conversations in
    it."""

    by: KnownBy = "text"
    opening: Choice = field(default_factory=Choice)
    pages: list[Page] = field(default_factory=list)
    choices: dict[tuple[int, str], Choice] = field(default_factory=dict)
    conversations: int = 0
    _numbers: dict[object, int] = field(default_factory=dict)

    def add(self, turns: Iterable[tuple[str, Answer, bool]]) -> None:
        """Add a conversation: for each turn the title that was pressed (at first, the opening words), the answer, and
        whether the system closed the conversation with it."""
        self.conversations += 1
        way: _Way = ()
        here = 0
        for depth, (title, answer, ended) in enumerate(turns):
            choice = self.choices.setdefault((here, title), Choice()) if depth else self.opening
            here = self._place(answer, ended, depth)
            choice.add(way, here)
            way = (*way, title, here)

    def _place(self, answer: Answer, ended: bool, depth: int) -> int:
        """Return the number of the page, which is new if it shows something new."""
        shown = tuple((offer.title, offer.kind) for offer in answer.offers)
        key = (answer.text if self.by == "text" else "", shown, ended)
        number = self._numbers.setdefault(key, len(self.pages) + 1)
        if number > len(self.pages):
            self.pages.append(Page(number, answer.text, answer.offers, ended, depth))
        elif depth < self.page(number).depth:
            self.pages[number - 1] = replace(self.page(number), depth=depth)
        return number

    def page(self, number: int) -> Page:
        return self.pages[number - 1]

    def ways(self) -> Mapping[int, tuple[str, ...]]:
        """Return, for each page, the titles of a shortest path to it, and of several, the most probable. Nearer pages
        come first."""
        found: dict[int, tuple[float, tuple[str, ...]]] = {}
        layer = {page: (count / self.opening.presses, tuple[str, ...]()) for page, count in self.opening.led.items()}
        while layer:
            found |= layer
            reached: dict[int, tuple[float, tuple[str, ...]]] = {}
            for (page, title), choice in self.choices.items():
                if page not in layer:
                    continue
                chance, way = layer[page]
                for following, count in choice.led.items():
                    share = chance * count / choice.presses
                    if following not in found and share > reached.get(following, (0.0, ()))[0]:
                        reached[following] = (share, (*way, title))
            layer = reached
        return {page: way for page, (_, way) in found.items()}

    def next_way(self, *, depth: int, least: int, trials: int, allow: Collection[str] = ()) -> tuple[str, ...] | None:
        """Return the titles to press in the next conversation, or None if the menu is known.

        The opening, and every allowed press on a page fewer than `depth` presses away, are to be played `least` times,
        and `trials` times once they led to several pages. The nearest incomplete press comes first.
        """

        def lacks(choice: Choice | None) -> bool:
            return choice is None or choice.presses < (least if choice.kind == "fixed" else max(least, trials))

        if lacks(self.opening):
            return ()
        for number, way in self.ways().items():
            page = self.page(number)
            if len(way) >= depth or page.ended:
                continue
            for title in dict.fromkeys(offer.title for offer in page.offers if not press_refusal(offer, allow)):
                if lacks(self.choices.get((number, title))):
                    return (*way, title)
        return None


def fold_menu(conversations: Iterable[Conversation], *, opening: str, by: KnownBy = "text") -> Menu:
    """Merge the valid conversations that begin with the words `opening`; if it is "", merge those that begin by
    pressing a greeting's offer. In each, only the turns before the first turn without a press count."""
    menu = Menu(by)
    for one in conversations:
        if not one.valid or not one.turns:
            continue
        first, *later = one.turns
        heard = one.greeting if first.pressed is not None else None
        if heard is None if not opening else first.said != opening or first.pressed is not None:
            continue
        greeting = [] if opening or heard is None else [("", heard, False)]
        pressed = takewhile(lambda turn: turn.pressed is not None, later)
        menu.add(
            [*greeting]
            + [(turn.said, turn.reply.answer, turn.reply.ended) for turn in (first, *pressed) if turn.reply is not None]
        )
    return menu
