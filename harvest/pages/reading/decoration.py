"""What stands in a bubble beside the answer: buttons, names, times, avatars, states.

The user's own bubble shows it best: whatever is in it beside the words that were sent is decoration, and so is what is
made alike in the reply. What could be the answer stays: a line is left out only at the edge of a bubble, in an element
of its own, and for a reason.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice, pairwise

from harvest.pages.reading.alternatives import alternative_of, is_emoji
from harvest.pages.reading.boxes import is_editor
from harvest.pages.reading.bubble import (
    PROSE,
    SHORT,
    Edge,
    Example,
    Leaf,
    Siblings,
    alone_in_line,
    ends_open,
    in_prose,
    in_sentence,
    is_brief,
    leaves_of,
)
from harvest.pages.reading.figures import is_face, is_figure, is_file_button
from harvest.pages.reading.folds import NOTES, Fold, find_folds, is_notes, is_pressed
from harvest.pages.reading.gutters import gutters_beside
from harvest.pages.reading.listing import bar_of, is_listing
from harvest.pages.reading.looks import look_of
from harvest.pages.reading.page import AT_ONCE, Node, collapse_spaces
from harvest.pages.reading.page_text import hints, hints_last, is_control, is_vote, kind
from harvest.pages.reading.phrases import (
    asks_for_more,
    is_account,
    is_counter,
    is_label,
    is_named_time,
    is_placeholder,
    is_reasoning,
    is_role,
    is_status,
    is_time,
    unfolds,
)
from harvest.pages.reading.reasoning import find_reasoning
from harvest.pages.reading.slot import likeness, slot_in
from harvest.pages.reading.small_print import find_small_print, says_more

_NEAR = 8  # texts: an element with more of them is no decoration
_PARAGRAPHS = frozenset({"blockquote", "li", "ol", "p", "pre", "table", "ul"})
_ALIKE = 0.5  # share of what two elements are called that they have in common
_INITIALS = 3  # characters that may stand in place of a picture
_STAMPS = frozenset(
    {
        *(
            "author",
            "avatar",
            "byline",
            "date",
            "datetime",
            "meta",
            "metadata",
            "name",
            "nickname",
            "persona",
            "reaction",
        ),
        *("reactions", "receipt", "sender", "speaker", "time", "timestamp", "username", "who"),
    }
)
_CONTENT = re.compile(r"(?:^|[-_])(?:text|content|body|prose|markdown|md)$|markdown|prose", re.IGNORECASE)
_PLACES = frozenset({"article", "div", "p", "section"})
_DRAWN = frozenset({"canvas", "hr", "img", "input", "progress", "svg", "video"})
_WAITING = frozenset({"caret", "cursor", "dots", "loader", "loading", "spinner", "typing"})


class _Reason(IntEnum):
    """Only a strong one leaves the place of the words empty."""

    NONE = 0
    FAINT = 1  # a time that stands before all else, where names rather stand
    WEAK = 2  # what it says: an answer may say the same
    KNOWN = 3  # what other replies say in the same place
    STRONG = 4  # what the page calls it, or that it is made like what stands beside the user's words


@dataclass(slots=True)
class Decorations:
    """nodes: what is left out of the reply, each with all in it. texts: what they say, in the order they were found.

    doubtful: those of the nodes that are the answer where nothing else comes; none where anything is left. thoughts:
    those that hold what the system thought. in_view: whether any of these was told by its place and look alone. folds:
    what is folded away in the bubbles.
    """

    nodes: set[Node] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    doubtful: frozenset[Node] = frozenset()
    thoughts: tuple[Node, ...] = ()
    in_view: bool = False
    folds: tuple[Fold, ...] = ()

    @property
    def unfolded(self) -> set[Node]:
        """What is hidden and read all the same: the rest of the text."""
        return {one for fold in self.folds if fold.kind == "rest" for one in fold.body}


def find_decorations(
    bubbles: Sequence[Node],
    *,
    echo: Node | None = None,
    user: Node | None = None,
    names: Collection[str] = (),
    pressed: Collection[str] = (),
    known: Collection[Edge] = (),
    slots: Collection[str] = (),
) -> Decorations:
    """What in the bubbles of one turn is not a part of the answer.

    echo, user: the user's words, and the bubble they stand in. names: what the page calls who speaks. pressed: what
    its buttons say, as the name of a model that is chosen there. known: edges of other replies of this conversation.
    slots: how the elements are made that held the words of those.
    """
    places = {bubble: slot_in(bubble, echo, user, slots) for bubble in bubbles}
    search = _Search(places, Example(echo, user), frozenset(names), frozenset(pressed), frozenset(known))
    for bubble in bubbles:
        search.plain(bubble)
    folds = tuple(fold for bubble in bubbles for fold in find_folds(bubble, search.dropped))
    for fold in folds:
        search.take_fold(fold)
    search.take_reasoning()
    for bubble in bubbles:
        search.take_small_print(bubble)
        search.edges(bubble)
        if search.announces(bubble):
            search.drop(bubble)
    search.spare()
    return Decorations(
        search.dropped,
        [text for text in search.texts.values() if text],
        search.doubtful(),
        tuple(search.thoughts),
        search.in_view,
        folds,
    )


class _Search:
    def __init__(
        self,
        slots: Mapping[Node, Node | None],
        example: Example,
        names: frozenset[str],
        pressed: frozenset[str],
        known: frozenset[Edge],
    ) -> None:
        self.bubbles, self.slots = tuple(slots), slots
        self.example, self.names, self.known = example, names, known
        self.pressed = {text.casefold() for text in pressed}
        self.dropped: set[Node] = set()
        self.texts: dict[Node, str] = {}
        self.reasons: dict[Node, _Reason] = {}
        self.timed: set[tuple[Node, bool]] = set()  # ends of bubbles at which a time was left out
        self.thoughts: list[Node] = []
        self.in_view = False
        self.siblings = Siblings()
        self.next = dict(pairwise(self.bubbles))

    def plain(self, bubble: Node) -> None:
        """Buttons, times, avatars, notes of reasoning, bars of code: decoration wherever it stands."""
        stack = [bubble]
        while stack:
            node = stack.pop()
            if node.hidden or (node.tag == "input" and node.get("type") == "checkbox"):
                continue
            if self._is_plain(node, bubble):
                self.drop(node)
                continue
            if self._is_thoughts(node, bubble):
                self.thoughts.append(node)
                self.drop(node)
                continue
            if is_listing(node):
                # Nothing but these: names of colours in code are made like anything.
                for part in (
                    *bar_of(node),
                    *gutters_beside(node),
                    *(inner for inner in node.walk() if is_control(inner)),
                ):
                    if part.within(bubble) and part not in self.dropped:
                        self.drop(part)
                continue
            stack.extend(reversed(node.elements))

    def _is_plain(self, node: Node, bubble: Node) -> bool:
        if "leave_out" in node.get("h-site").split() or (is_control(node) and not is_file_button(node)):
            return not is_figure(node)
        if is_pressed(node) and (unfolds(node.text) or asks_for_more(node.text)):
            return True
        if node.tag == "time":
            return not in_sentence(node)
        if (node.tag == "img" and is_face(node) and not alternative_of(node)) or (node is not bubble and is_vote(node)):
            return True
        words = hints(node)
        if words & _WAITING:
            text = node.text
            return bool(text) and node is not bubble and is_placeholder(text)
        return bool(hints_last(node) & {"avatar", "initials"}) and node is not bubble and len(node.text) <= _INITIALS

    def _is_thoughts(self, node: Node, bubble: Node) -> bool:
        if node.tag == "details":
            return is_notes(node)
        if not hints(node) & NOTES or node is bubble:
            return False
        # Some name so what is no note at all; a note can be opened and shut.
        return any(is_control(inner) and is_reasoning(inner.text) for inner in node.walk())

    def take_fold(self, fold: Fold) -> None:
        """Leave out what unfolds it, and what stands in the place of what is read instead."""
        if fold.heads_text:
            return
        titles = (
            [fold.title] if fold.title is not None and alone_in_line(fold.title, self.dropped, self.siblings) else []
        )
        for node in (*titles, *fold.doubled):
            if node not in self.dropped and not is_control(node):
                self.drop(node)

    def take_reasoning(self) -> None:
        """Leave out what was thought in view, with the line over it."""
        found = find_reasoning(self.bubbles, self.dropped)
        if found is None:
            return
        self.in_view = True
        self.thoughts += found.nodes
        for node in (found.title, *found.nodes):
            if node is not None:
                self.drop(node)

    def take_small_print(self, bubble: Node) -> None:
        """Leave out the sentence that the page writes under every answer."""
        found = find_small_print(bubble, self.dropped, self.known, self.siblings, self.slots[bubble])
        if found is not None:
            self.drop(found)

    def _bubble_of(self, element: Node) -> Node:
        return next(one for one in self.bubbles if element.within(one))

    def edges(self, bubble: Node) -> None:
        """Names, times and states before and after what is said; those that are surest first, from either end."""
        leaves = deque(leaves_of(bubble, self.dropped))
        least = _Reason.STRONG
        while leaves and least is not _Reason.NONE:
            if self._peel(leaves, bubble, True, least) | self._peel(leaves, bubble, False, least):
                least = _Reason.STRONG
            else:
                least = _Reason(least - 1)

    def _peel(self, leaves: deque[Leaf], bubble: Node, first: bool, least: _Reason) -> bool:
        """Whether something was dropped at that end. least: the reason it takes."""
        if not leaves:
            return False
        near = list(islice(leaves if first else reversed(leaves), _NEAR + 1))
        for element, reason in reversed(self._line(near, bubble, first)):
            inside = sum(1 for leaf in near if leaf.parent.within(element))
            rest = islice(leaves if first else reversed(leaves), inside, None)
            if reason < least or (reason < _Reason.STRONG and self._empties(near[:inside], rest, self.slots[bubble])):
                continue
            if is_time(element.text):
                if reason <= _Reason.WEAK and (bubble, first) in self.timed:
                    continue  # one tells when it was said; the next may be the answer
                self.timed.add((bubble, first))
            self.drop(element)
            self.reasons[element] = reason
            for _ in range(inside):
                (leaves.popleft if first else leaves.pop)()
            return True
        return False

    def _empties(self, gone: Sequence[Leaf], rest: Iterable[Leaf], slot: Node | None) -> bool:
        """Whether the place of the words holds something, and nothing more once that is gone."""
        if slot is None or not any(leaf.parent.within(slot) for leaf in gone):
            return False
        return not any(leaf.parent.within(slot) for leaf in rest)

    def spare(self) -> None:
        """Give back a lone word that a button says as well, and that is no model's name: buttons offer what to say."""
        weak = [node for node, reason in self.reasons.items() if reason <= _Reason.WEAK]
        if len(weak) == 1 and not self._left() and self._is_offer(weak[0].text):
            self.dropped.discard(weak[0])
            self.texts.pop(weak[0])

    def _left(self) -> bool:
        return any(leaves_of(bubble, self.dropped) for bubble in self.bubbles)

    def _is_offer(self, text: str) -> bool:
        plain = text.casefold() in self.pressed and not re.search(r"[\d:/@_]", text)
        return plain and not (is_role(text) or is_time(text) or is_status(text))

    def doubtful(self) -> frozenset[Node]:
        """What is given back where nothing comes that is more likely the answer. Never what other replies show, too,
        nor anything where the place of the words is there and empty."""
        if self._left() or any(slot is not None for slot in self.slots.values()):
            return frozenset()
        order = {node: number for number, node in enumerate(node for one in self.bubbles for node in one.walk())}
        weak = sorted((one for one, why in self.reasons.items() if why <= _Reason.WEAK), key=order.__getitem__)
        times = [node for node in weak if is_time(node.text)]
        names = [node for node in weak if node not in times and self._names(node.text)]
        rest = [node for node in weak if node not in times and node not in names and "h-click" not in node.attributes]
        if rest or any(map(self._heads_nothing, names)):
            return frozenset(rest)
        if len(weak) < 2:
            return frozenset(weak)
        return frozenset(times[:1] if not names else names[-1:] if not times else ())

    def _heads_nothing(self, name: Node) -> bool:
        """Whether a name stands over an answer without words: of a model that a button chooses, or before an element
        with nothing in it."""
        if name.text.casefold() in self.pressed and not self._is_offer(name.text):
            return True
        bubble = self._bubble_of(name)
        inside = list(bubble.walk())
        after = inside[inside.index(name) + sum(1 for _ in name.walk()) :]
        return any(
            one.tag in _PLACES and not any(part.text or part.tag in _DRAWN for part in one.walk()) for one in after
        )

    def _names(self, text: str) -> bool:
        return is_role(text) or is_label(text, self.names) or text.casefold() in self.pressed or is_named_time(text)

    def drop(self, node: Node) -> None:
        if node in self.dropped:
            return
        self.texts[node] = " ".join(leaf.text for leaf in leaves_of(node, self.dropped, controls=True))
        self.dropped.add(node)

    def _line(self, near: list[Leaf], bubble: Node, first: bool) -> list[tuple[Node, _Reason]]:
        """The elements with a text at their edge that are decoration, from small to large. near: the texts from that
        edge on."""
        found: list[tuple[Node, _Reason]] = []
        prose = in_prose(near[0].parent, bubble)  # what stands in a heading or a paragraph is said
        for element in near[0].parent.self_and_ancestors():
            inside = 0
            while inside < len(near) and inside < _NEAR and near[inside].parent.within(element):
                inside += 1
            text = collapse_spaces(" ".join(inner.text for inner in (near[:inside] if first else near[:inside][::-1])))
            if inside == _NEAR or len(text) > SHORT + 30 or not element.within(bubble):
                break
            if element is bubble and len(self.bubbles) == 1 and not self._alike(element):
                break
            placed = bubble.tag in ("tr", "tbody") and element.tag in ("td", "tbody", "tr")
            stamped = bool(hints_last(element) & _STAMPS) or element.tag == "time"
            # A page may make names as it makes what is said, in smaller letters.
            heads = first and inside < len(near) and self._heads(near[0], near[inside])
            said = bool(element.classes) and kind(element) in self.example.said and not heads
            reason = self._reason_by_name(element, text, stamped=stamped, prose=prose, said=said)
            prose = prose or (element.tag in PROSE and not placed) or is_editor(element)
            prose = prose or _is_all_of_content(element, near, inside, bubble)
            parts = [leaf.text for leaf in near[:inside]]
            reason = max(
                reason, self._reason(element, text, parts, stamped=stamped, prose=prose, first=first, said=said)
            )
            named = self._announces_words(element, text, bubble) if first and not prose else False
            if named or (heads and not prose and self._heads_box(element, text, near[inside], bubble)):
                reason = max(reason, _Reason.KNOWN)
            if reason is not _Reason.NONE:
                found.append((element, reason))
        return found

    def _announces_words(self, element: Node, text: str, bubble: Node) -> bool:
        """A short line before the place of the words: where the user's bubble says there who speaks, or where it stood
        there when the first of the words came."""
        slot = self.slots[bubble]
        if slot is None or element.within(slot) or slot.within(element) or not is_brief(text):
            return False
        if next(node for node in bubble.walk() if node is element or node is slot) is slot:
            return False
        words = leaves_of(slot, self.dropped)
        if not words or self.example.tells_who:
            return True
        came, stood = _came(words[0]), [_came(leaf) for leaf in leaves_of(element, ())]
        return came is not None and all(time is not None and came > time + AT_ONCE for time in stood)

    def _heads(self, line: Leaf, words: Leaf) -> bool:
        """Whether a line is in smaller letters than what follows, which has those of the user's words at least."""
        if self.example.look is None:
            return False
        after = look_of(words.parent)
        return look_of(line.parent).is_smaller_than(after) and not after.is_smaller_than(self.example.look)

    def _heads_box(self, element: Node, text: str, words: Leaf, bubble: Node) -> bool:
        """Whether such a line stands above the box of the words, where the user's words have one, too: a name that
        nothing else tells to be one."""
        around = words.parent.self_and_ancestors()
        boxes = [one for one in around if "h-edge" in one.attributes and one.within(bubble)]
        own = bool(boxes) and not any(element.within(box) for box in boxes)
        return own and self.example.boxed and is_brief(text)

    def _reason_by_name(self, element: Node, text: str, *, stamped: bool, prose: bool, said: bool) -> _Reason:
        """By what the page calls it, or how it is made. A name holds for its own element, not where prose stands in it.

        prose: the text at the edge stands in prose within it. said: it is made like what holds the user's words.
        """
        if said and not stamped:
            return _Reason.NONE
        if len(text) <= SHORT and self._alike(element):
            return _Reason.STRONG
        if not stamped or not is_brief(text) or (_is_content(element) and element.tag != "time"):
            return _Reason.NONE
        return _Reason.WEAK if prose and any(inner.tag in _PARAGRAPHS for inner in element.walk()) else _Reason.STRONG

    def _reason(
        self, element: Node, text: str, parts: Sequence[str], *, stamped: bool, prose: bool, first: bool, said: bool
    ) -> _Reason:
        """By what it says. parts: its texts."""
        if alternative_of(element):
            shown = self.example.pictured or (kind(element), text) in self.known or is_label(text)
            shown = shown or self._heads_words(element)
            return _Reason.STRONG if first and shown and not is_emoji(text) else _Reason.NONE
        if not stamped and (_is_content(element) or said):
            return _Reason.NONE
        known = (kind(element), text) in self.known and not prose and not self.siblings.among_prose(element)
        if known and self._is_aside(element, text, first=first):
            return _Reason.KNOWN
        if first and ends_open(text) and element.tag in ("b", "strong", "span"):
            named = is_label(text, self.names) or (element.tag == self.example.named and is_brief(text))
            return _Reason.STRONG if named else _Reason.NONE
        if element.classes and is_time(text) and any(likeness(element, one) >= _ALIKE for one in self.example.times):
            return _Reason.STRONG
        if prose or not alone_in_line(element, self.dropped, self.siblings):
            return _Reason.NONE
        if is_role(text) and first:
            return _Reason.WEAK
        if self.siblings.one_of_many(element):
            return _Reason.NONE
        if is_time(text) or (is_label(text, self.names) and (first or not is_role(text))):
            return _Reason.FAINT if first and is_time(text) else _Reason.WEAK
        if first and (text.casefold() in self.pressed or is_named_time(text)):
            return _Reason.WEAK
        if not first and "h-click" in element.attributes and not any(inner.tag == "a" for inner in element.walk()):
            return _Reason.WEAK  # what one might say next
        return (
            _Reason.WEAK
            if all(self._says_nothing(part, element) for part in (text, *parts)[len(parts) > 1 :])
            else _Reason.NONE
        )

    def _heads_words(self, picture: Node) -> bool:
        """Whether it stands by itself in the bubble, and the words in an element of their own beside it."""
        around, frame = self._bubble_of(picture), picture
        while _only_frames(around) and around is not picture:
            around = around.elements[0]
        while frame.parent is not None and frame.parent is not around and _only_frames(frame.parent):
            frame = frame.parent
        bare = any(isinstance(child, str) and child.strip() for child in around.children)
        said = bare or around.tag == "p" or frame.tag in PROSE
        return frame.parent is around and not said and len(leaves_of(around, ())) > 1

    def _is_aside(self, element: Node, text: str, *, first: bool) -> bool:
        """Whether a line that other replies show too may stand beside the words: outside of their place, or where no
        heading and no sentence would be lost that the system itself begins with each time."""
        bubble = self._bubble_of(element)
        slot = self.slots[bubble]
        others = [leaf for leaf in leaves_of(bubble, self.dropped) if not leaf.parent.within(element)]
        if first and any(look_of(element).heads(look_of(leaf.parent)) for leaf in others[:1]):
            return False
        if slot is not None and not element.within(slot) and not slot.within(element):
            return True
        if not first:
            return slot is not None or is_brief(text) or says_more(element, bubble, self.dropped)
        return is_brief(text) and (is_label(text, self.names) or not ends_open(text) or len(text.split()) <= 2)

    def _says_nothing(self, text: str, element: Node) -> bool:
        """A name, a time, a state, a sign between two of them."""
        return (
            is_status(text)
            or is_counter(text)
            or is_account(text)
            or text in ("·", "•", "|", "–", "-", "✓", "✓✓", "✔")
            or (text != element.text and (is_time(text) or self._names(text) or text in self._pressable(element)))
        )

    def _pressable(self, element: Node) -> set[str]:
        return {inner.text for inner in element.walk() if "h-click" in inner.attributes}

    def _alike(self, element: Node) -> bool:
        """Made like what stands beside the user's words."""
        if element.tag in ("td", "th") and element.parent is not None and element.parent.tag == "tr":
            cells = element.parent.elements
            place = cells.index(element)
            if (place, len(cells)) in self.example.cells:
                return True
        return bool(element.classes) and element.tag not in ("p", "li", "pre") and kind(element) in self.example.beside

    def announces(self, bubble: Node) -> bool:
        """A line of its own that says who speaks next, as one does before the user's words."""
        after = self.next.get(bubble)
        made = bool(self.example.before) and kind(bubble) == self.example.before
        return made and after is not None and kind(after) == self.example.user and is_brief(bubble.text)


def _only_frames(node: Node) -> bool:
    return len(node.elements) == 1 and not any(isinstance(child, str) and child.strip() for child in node.children)


def _is_all_of_content(element: Node, near: list[Leaf], count: int, bubble: Node) -> bool:
    """Whether an element for what is said holds just this: the first `count` of the texts from the edge on."""
    content = next((around for around in element.ancestors() if _is_content(around)), None)
    if content is None or not content.within(bubble):
        return False
    return len(near) == count or not near[count].parent.within(content)


def _came(leaf: Leaf) -> float | None:
    said = leaf.parent.get("h-said")
    return float(said) if said else leaf.parent.born


def _is_content(element: Node) -> bool:
    return any(_CONTENT.search(name) for name in element.classes if ":" not in name and "[" not in name)
