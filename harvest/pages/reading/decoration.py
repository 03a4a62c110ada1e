"""Content of a bubble other than the answer: buttons, names, times, avatars, states. The user's own bubble is the best
evidence: all content of that bubble except the sent text is decoration, and so are elements of the same kind in the
reply. Text that could be the answer is kept. A line is left out only at the edge of a bubble, in an element of its
own, and for a reason."""

import re
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from harvest.pages.reading import phrases
from harvest.pages.reading.alternatives import alternative_text
from harvest.pages.reading.bubble import (
    Edge,
    Example,
    Leaf,
    is_alone_in_line,
    is_brief,
    is_in_sentence,
    visible_leaves,
)
from harvest.pages.reading.elements import hints, hints_last, is_control, is_vote, kind
from harvest.pages.reading.figures import is_face, is_figure, is_file_button
from harvest.pages.reading.folds import THOUGHT_WORDS, Fold, asks_for_rating, find_folds, is_notes, is_pressable
from harvest.pages.reading.gutters import find_gutters_before
from harvest.pages.reading.listing import find_bars, is_listing
from harvest.pages.reading.page import Node
from harvest.pages.reading.reasoning import find_reasoning
from harvest.pages.reading.reasons import MOST_NEAR, Reason, Reasons, find_small_print
from harvest.pages.reading.slot import find_slot

_LONGEST_INITIALS = 3  # most characters that may replace a picture
_PLACES = frozenset({"article", "div", "p", "section"})
_DRAWN_TAGS = frozenset({"canvas", "hr", "img", "input", "progress", "svg", "video"})
_WAITING_WORDS = frozenset({"caret", "cursor", "dots", "loader", "loading", "spinner", "typing"})


@dataclass(slots=True)
class Decorations:
    """The elements to leave out of a reply. `nodes` holds these elements, each with all its content, and `texts` their
    texts in the order in which they were found. `doubtful` holds the nodes that are the answer if no other text
    comes, and `thoughts` the nodes with the system's reasoning. `in_view` is True if some reasoning was recognised
    by its position and look alone. `folds` holds the collapsed parts of the bubbles."""

    nodes: set[Node] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    doubtful: frozenset[Node] = frozenset()
    thoughts: tuple[Node, ...] = ()
    in_view: bool = False
    folds: tuple[Fold, ...] = ()

    @property
    def unfolded(self) -> set[Node]:
        """The hidden elements to read nevertheless, because they contain the rest of the text."""
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
    """Find everything in the bubbles of one turn that is not part of the answer. `echo` is the element with the user's
    text, and `user` is the user's bubble. `names` are the names that the page gives to speakers, and `pressed` the
    texts of its buttons, such as the name of a model to choose. `known` holds edges of other replies in this
    conversation, and `slots` the kinds of the elements that contained the text of those replies."""
    places = {bubble: find_slot(bubble, echo, user, slots) for bubble in bubbles}
    buttons = frozenset(text.casefold() for text in pressed)
    search = _DecorationSearch(Reasons(places, Example(echo, user), frozenset(names), buttons, frozenset(known)))
    for bubble in bubbles:
        search.drop_plain(bubble)
    folds = tuple(fold for bubble in bubbles for fold in find_folds(bubble, search.dropped))
    for fold in folds:
        search.drop_fold(fold)
    search.drop_reasoning()
    for bubble in bubbles:
        search.drop_small_print(bubble)
        search.drop_edges(bubble)
        if search.announces_speaker(bubble):
            search.drop(bubble)
    search.restore_offer()
    return Decorations(
        search.dropped,
        [text for text in search.texts.values() if text],
        search.doubtful(),
        tuple(search.thoughts),
        search.in_view,
        folds,
    )


class _DecorationSearch:
    def __init__(self, reasons: Reasons) -> None:
        self.reasons, self.slots, self.bubbles = reasons, reasons.slots, tuple(reasons.slots)
        self.dropped = reasons.dropped
        self.texts: dict[Node, str] = {}
        self.given: dict[Node, Reason] = {}
        self.timed: set[tuple[Node, bool]] = set()  # ends of bubbles at which a time was left out
        self.thoughts: list[Node] = []
        self.in_view = False
        self.next = dict(pairwise(self.bubbles))

    def drop_plain(self, bubble: Node) -> None:
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
                # Only these: highlighted words in code may look like any element.
                for part in (*find_bars(node), *find_gutters_before(node), *filter(is_control, node.walk())):
                    if part.is_within(bubble):
                        self.drop(part)
                continue
            stack.extend(reversed(node.elements))

    def _is_plain(self, node: Node, bubble: Node) -> bool:
        if "leave_out" in node.get("h-site").split() or (is_control(node) and not is_file_button(node)):
            return not is_figure(node)
        if is_pressable(node) and (phrases.is_unfold_button(node.text) or phrases.is_continue_button(node.text)):
            return True
        part = node is not bubble or bubble is not self.bubbles[0]
        if part and (asks_for_rating(node) or is_vote(node)):
            return True
        if node.tag == "time":
            return not is_in_sentence(node)
        if node.tag == "img" and is_face(node) and not alternative_text(node):
            return True
        words = hints(node)
        if words & _WAITING_WORDS:
            text = node.text
            return bool(text) and node is not bubble and phrases.is_placeholder(text)
        return (
            bool(hints_last(node) & {"avatar", "initials"})
            and node is not bubble
            and len(node.text) <= _LONGEST_INITIALS
        )

    def _is_thoughts(self, node: Node, bubble: Node) -> bool:
        if node.tag == "details":
            return is_notes(node)
        if not hints(node) & THOUGHT_WORDS or node is bubble:
            return False
        # Some pages use these names for other things; a note can be opened and closed.
        return any(is_control(inner) and phrases.is_reasoning(inner.text) for inner in node.walk())

    def drop_fold(self, fold: Fold) -> None:
        if fold.has_text_title:
            return
        title = fold.title
        if title is not None and not is_alone_in_line(title, self.dropped, self.reasons.siblings):
            title = None
        for node in (title, *fold.doubled):
            if node is not None and not is_control(node):
                self.drop(node)

    def drop_reasoning(self) -> None:
        found = find_reasoning(self.bubbles, self.dropped)
        if found is None:
            return
        self.in_view = True
        self.thoughts += found.nodes
        for node in (found.title, *found.nodes):
            if node is not None:
                self.drop(node)

    def drop_small_print(self, bubble: Node) -> None:
        found = find_small_print(bubble, self.dropped, self.reasons.known, self.reasons.siblings, self.slots[bubble])
        if found is not None:
            self.drop(found)

    def drop_edges(self, bubble: Node) -> None:
        leaves = deque(visible_leaves(bubble, self.dropped))
        least = Reason.STRONG
        while leaves and least is not Reason.NONE:
            if self._drop_line(leaves, bubble, True, least) | self._drop_line(leaves, bubble, False, least):
                least = Reason.STRONG
            else:
                least = Reason(least - 1)

    def _drop_line(self, leaves: deque[Leaf], bubble: Node, first: bool, least: Reason) -> bool:
        if not leaves:
            return False
        near = list(islice(leaves if first else reversed(leaves), MOST_NEAR + 1))
        for element, reason in reversed(self.reasons.weigh_edge(near, bubble, first)):
            inside = sum(1 for leaf in near if leaf.parent.is_within(element))
            rest = islice(leaves if first else reversed(leaves), inside, None)
            if reason < least:
                continue
            if reason < Reason.STRONG and self._would_empty_slot(near[:inside], rest, self.slots[bubble]):
                continue
            if phrases.is_time(element.text):
                if reason <= Reason.WEAK and (bubble, first) in self.timed:
                    continue  # the first is the time of the reply; the next may be the answer
                self.timed.add((bubble, first))
            self.drop(element)
            self.given[element] = reason
            for _ in range(inside):
                (leaves.popleft if first else leaves.pop)()
            return True
        return False

    def _would_empty_slot(self, gone: Sequence[Leaf], rest: Iterable[Leaf], slot: Node | None) -> bool:
        """Return True if dropping `gone` would empty the slot for the words, which has text now."""
        if slot is None or not any(leaf.parent.is_within(slot) for leaf in gone):
            return False
        return not any(leaf.parent.is_within(slot) for leaf in rest)

    def restore_offer(self) -> None:
        """Restore a dropped word on a button if it is the only text, because buttons offer replies. The name of a
        model stays dropped."""
        weak = [node for node, reason in self.given.items() if reason <= Reason.WEAK]
        if len(weak) == 1 and not self._has_text_left() and self._is_offer(weak[0].text):
            self.dropped.discard(weak[0])
            self.texts.pop(weak[0])

    def _has_text_left(self) -> bool:
        return any(visible_leaves(bubble, self.dropped) for bubble in self.bubbles)

    def _is_offer(self, text: str) -> bool:
        plain = text.casefold() in self.reasons.pressed and not re.search(r"[\d:/@_]", text)
        return plain and not (phrases.is_role(text) or phrases.is_time(text) or phrases.is_status(text))

    def doubtful(self) -> frozenset[Node]:
        """Return the dropped elements that are the answer if nothing else comes. The result is empty if the answer has
        other text, or if the slot for the words is known and empty."""
        if self._has_text_left() or any(slot is not None for slot in self.slots.values()):
            return frozenset()
        order = {node: number for number, node in enumerate(node for one in self.bubbles for node in one.walk())}
        weak = sorted((one for one, why in self.given.items() if why <= Reason.WEAK), key=order.__getitem__)
        times = [node for node in weak if phrases.is_time(node.text)]
        names = [node for node in weak if node not in times and self.reasons.is_name(node.text)]
        rest = [node for node in weak if node not in times and node not in names and "h-click" not in node.attributes]
        if rest or any(map(self._heads_nothing, names)):
            return frozenset(rest)
        if len(weak) < 2:
            return frozenset(weak)
        return frozenset(times[:1] if not names else names[-1:] if not times else ())

    def _heads_nothing(self, name: Node) -> bool:
        """Return True for a name above an answer without words: the name of a model chosen by a button, or a name
        before an empty element."""
        if name.text.casefold() in self.reasons.pressed and not self._is_offer(name.text):
            return True
        bubble = self.reasons.bubble_of(name)
        inside = list(bubble.walk())
        after = inside[inside.index(name) + sum(1 for _ in name.walk()) :]
        return any(
            one.tag in _PLACES and not any(part.text or part.tag in _DRAWN_TAGS for part in one.walk()) for one in after
        )

    def drop(self, node: Node) -> None:
        if node in self.dropped:
            return
        self.texts[node] = " ".join(leaf.text for leaf in visible_leaves(node, self.dropped, controls=True))
        self.dropped.add(node)

    def announces_speaker(self, bubble: Node) -> bool:
        """Return True for a separate line that names the next speaker, like the line before the user's text."""
        after = self.next.get(bubble)
        example = self.reasons.example
        made = bool(example.before) and kind(bubble) == example.before
        return made and after is not None and kind(after) == example.user and is_brief(bubble.text)
