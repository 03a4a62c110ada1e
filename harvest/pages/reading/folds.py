"""Collapsed parts of a bubble and their buttons: sources under `2 sources`, thoughts, the rest of a long text. The
user has not read these parts, but the page contains them. Their links count as links of the answer, thoughts in
them count as thoughts, and the text behind `Read more` belongs to the answer."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from harvest.pages.reading.elements import hints, is_control, leads_elsewhere, leads_outward
from harvest.pages.reading.page import Node, collapse_spaces, letters
from harvest.pages.reading.phrases import (
    is_rating_question,
    is_reasoning,
    is_status,
    is_thought_title,
    is_unfold_button,
)

# Words in the names of elements with a model's reasoning.
THOUGHT_WORDS = frozenset({"reasoning", "thinking", "thought", "thoughts"})

_LEVELS_AROUND = 3  # levels around a hidden element at which its title may be
_LONGEST_RATING = 120  # characters of a question and the buttons that answer it
_SENTENCE_LENGTH = 80  # characters: descriptions of sources are shorter
_SOURCES = re.compile(
    r"[\W\d_]*(?:(?:show|view|see|all|cited)\s)?(?:sources?|references?|citations?|cited|further\sreading|links|quellen?|belege"
    r"|literatur|nachweise|références|fuentes?|referencias|fonti?|riferimenti|fontes?|referências|bronnen|źródła"
    r"|источники|来源|參考|参考|引用|出典|출처)?[\W\d_]*",
    re.IGNORECASE,
)
_MENU_ROLES = frozenset({"listbox", "menu", "tooltip"})
_ONLY_DOTS = re.compile(r"[\s.…]*")


@dataclass(frozen=True, slots=True)
class Fold:
    """Hidden elements and the button that shows them. `kind` is `thoughts`, `rest` (the rest of the text) or `folded`.
    `body` holds the hidden elements, and `title` is the button. `doubled` holds the visible elements that show the
    beginning of the rest, if the hidden text repeats that beginning."""

    kind: str
    body: tuple[Node, ...]
    title: Node | None = None
    doubled: tuple[Node, ...] = ()

    @property
    def has_more_text(self) -> bool:
        """True if the fold contains more than sources: a sentence next to its links, or text of the answer."""
        return self.has_text_title or self._unlinked_length() > (_SENTENCE_LENGTH if self._body_links() else 0)

    @property
    def has_text_title(self) -> bool:
        """True if the title is a visible line of the answer, not only a word such as `Sources` above some links."""
        if self.kind != "folded" or self.title is None or self.title.tag != "summary" or not self.title.text:
            return False
        if not self._body_links():
            return True
        mostly_links = self._unlinked_length() <= len(" ".join(map(raw_text, self.body))) / 2
        return not mostly_links and _SOURCES.fullmatch(self.title.text) is None

    def _body_links(self) -> list[Node]:
        return [link for one in self.body for link in outward_links(one)]

    def _unlinked_length(self) -> int:
        words = " ".join(map(raw_text, self.body))
        return len(words) - len(" ".join(map(raw_text, self._body_links())))


def find_folds(bubble: Node, dropped: Collection[Node]) -> list[Fold]:
    """Find the folds in a bubble, in page order. `dropped` are elements that are not part of the answer."""
    found: dict[Node, list[Node]] = {}
    loose: list[Node] = []
    for hidden in find_hidden(bubble, dropped):
        dot = hidden.box is not None and hidden.box.width <= 1 and hidden.box.height <= 1
        if dot or not raw_text(hidden):
            continue  # text reduced to a dot is only for screen readers
        title = _find_title(hidden, bubble)
        (found.setdefault(title, []) if title is not None else loose).append(hidden)
    folds = (_make_fold(bubble, title, body) for title, body in found.items())
    alone = (Fold("folded", (one,)) for one in loose if outward_links(one) and one.get("role") not in _MENU_ROLES)
    return [*(fold for fold in folds if fold is not None), *alone]


def find_hidden(node: Node, dropped: Collection[Node] = ()) -> Iterator[Node]:
    """Yield the outermost hidden elements in an element, except hidden elements of buttons."""
    stack = list(reversed(node.elements))
    while stack:
        one = stack.pop()
        if one in dropped or is_control(one):
            continue
        if one.hidden:
            yield one
        else:
            stack.extend(reversed(one.elements))


def raw_text(node: Node) -> str:
    """Return the text of an element, visible or not."""
    return " ".join("".join(node.texts(lambda one: one.tag == "annotation")).split())


def outward_links(node: Node) -> list[Node]:
    """Return the links in an element that lead to a web address."""
    return list(filter(leads_outward, node.walk()))


def is_notes(details: Node) -> bool:
    """Return True if a `details` element contains a model's notes to itself, open or not."""
    summary = next((child.text for child in details.elements if child.tag == "summary"), "")
    return is_reasoning(summary) or is_thought_title(summary) or bool(hints(details) & THOUGHT_WORDS)


def announces_sources(text: str) -> bool:
    """Return True for a line that announces sources: `Sources`, `Quellen (2)`."""
    return any(map(str.isalpha, text)) and _SOURCES.fullmatch(text) is not None


def _find_title(hidden: Node, bubble: Node) -> Node | None:
    names = {one.get("id") for one in hidden.walk() if one.get("id")}
    for one in bubble.walk() if names else ():
        if one.get("aria-expanded") == "false" and names & set(one.get("aria-controls").split()):
            return one
    inner = hidden
    for around in islice(hidden.ancestors(), _LEVELS_AROUND):
        if around.tag == "details":
            return next((child for child in around.elements if child.tag == "summary"), around)
        at = around.elements.index(inner)
        beside = (*reversed(around.elements[:at]), *around.elements[at + 1 :])
        for other in beside:
            pressed = next((one for one in other.walk() if is_pressable(one) and not one.hidden), None)
            if pressed is not None:
                return pressed
        if around is bubble:
            break
        inner = around
    return None


def is_pressable(node: Node) -> bool:
    """Return True if pressing the element changes the page and does not lead to another page."""
    if leads_elsewhere(node):
        return False
    shown = node.tag == "a" and "href" in node.attributes
    return is_control(node) or shown or "h-click" in node.attributes or bool(node.get("aria-expanded"))


def _make_fold(bubble: Node, title: Node, body: list[Node]) -> Fold | None:
    said = title.text or title.get("aria-label")
    summary = title.tag == "summary" or title.get("aria-expanded") == "false"
    if (
        is_thought_title(said)
        or (summary and is_reasoning(said))
        or any(hints(one) & THOUGHT_WORDS for one in (*body, title))
    ):
        return Fold("thoughts", tuple(body), title)
    if is_unfold_button(said):
        # In place of the rest the page shows how it begins, or dots.
        whole = letters(" ".join(map(raw_text, body)))
        doubled = [
            other
            for one in body
            for other in (one.parent.elements if one.parent is not None else ())
            if (shown := other.text) and not (other.hidden or other is bubble or is_control(other))
            if _ONLY_DOTS.fullmatch(shown)
            or (len(letters(shown)) > 3 and whole.startswith(letters(shown.rstrip(" .…"))))
        ]
        return Fold("rest", tuple(body), title, tuple(doubled))
    if is_status(said) or any(one.get("role") in _MENU_ROLES for one in body) or title.get("aria-haspopup"):
        return None
    if summary or any(map(outward_links, body)):
        return Fold("folded", tuple(body), title)
    return None


def asks_for_rating(node: Node) -> bool:
    """Return True if an element asks whether the answer was any good, has buttons to say so, and says nothing else."""
    if len(node.text) > _LONGEST_RATING or not any(map(is_pressable, node.walk())):
        return False
    return is_rating_question(collapse_spaces(" ".join(node.texts(lambda one: one.hidden or is_pressable(one)))))
