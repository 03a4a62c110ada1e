"""Reasons to leave out a line at the edge of a bubble, from its class names and its text."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from harvest.pages.reading import phrases
from harvest.pages.reading.alternatives import alternative_text, is_emoji
from harvest.pages.reading.bubble import (
    PROSE,
    SHORT_LINE,
    Edge,
    Example,
    Leaf,
    Siblings,
    closing_elements,
    ends_with_colon,
    is_alone_in_line,
    is_brief,
    is_citation,
    is_in_prose,
    read_look,
    visible_leaves,
)
from harvest.pages.reading.elements import hints, hints_last, is_editor, kind
from harvest.pages.reading.page import AT_ONCE, Node, collapse_spaces
from harvest.pages.reading.phrases import is_fine_print
from harvest.pages.reading.slot import likeness

_SMALL_PRINT_WORDS = frozenset({"disclaimer", "fineprint", "footer", "footnote", "legal", "notice", "warning"})
_SPEAKER_WORDS = frozenset({"agent", "author", "byline", "meta", "name", "sender", "speaker", "time", "timestamp"})
_SMALL_PRINT_TAGS = frozenset({"aside", "footer", "small"})


def find_small_print(
    bubble: Node, dropped: Collection[Node], known: Collection[Edge], siblings: Siblings, slot: Node | None = None
) -> Node | None:
    """Return the element at the end of a bubble with a sentence added by the page itself, or None.

    Known wordings, such as `AI-generated content may be incorrect`, are recognised if the element is set apart or is
    not a paragraph. Other wordings are recognised if earlier replies end with them and the element is set apart from
    the text. In a first reply an unknown sentence is read, because it may belong to the answer. `slot` is the element
    that contains the words, if known.
    """
    leaves = visible_leaves(bubble, dropped)
    for element in closing_elements(leaves, bubble):
        rest = [leaf for leaf in leaves if not leaf.parent.is_within(element)]
        beside = slot is not None and not (element.is_within(slot) or slot.is_within(element))
        told = beside and slot is not None and any(leaf.parent.is_within(slot) for leaf in rest)
        # Below just a name, the text is the answer, and the same answer may come twice.
        if not told and not any(_is_answer_text(leaf, bubble) for leaf in rest):
            return None
        text = element.text
        look, main = read_look(element), read_look(rest[-1].parent)
        named = bool(hints(element) & _SMALL_PRINT_WORDS) or element.tag in _SMALL_PRINT_TAGS
        apart = named or look.is_smaller_than(main) or look.is_fainter_than(main)
        plain = is_in_prose(element, bubble)
        if is_fine_print(text) and (apart or not plain) and not siblings.is_one_of_many(element):
            return element
        again = (f"end:{kind(element)}", text) in known and not is_brief(text) and not is_citation(element)
        again = again and (told or has_more_text(element, bubble, dropped))
        if again and not apart and not plain:
            # An element made like the one before it is the next paragraph of the text.
            beside_it = element.parent.elements if element.parent is not None else [element]
            at = beside_it.index(element)
            apart = at == 0 or kind(beside_it[at - 1]) != kind(element)
        if again and apart:
            return element
    return None


def has_more_text(element: Node, bubble: Node, dropped: Collection[Node]) -> bool:
    """Return True if the bubble has text outside the element that is more than names and times."""
    return any(
        not is_brief(leaf.text) for leaf in visible_leaves(bubble, dropped) if not leaf.parent.is_within(element)
    )


def _is_answer_text(leaf: Leaf, bubble: Node) -> bool:
    around = (one for one in leaf.parent.self_and_ancestors() if one is not bubble and one.is_within(bubble))
    return not is_brief(leaf.text) or (
        is_in_prose(leaf.parent, bubble) and not any(hints(one) & _SPEAKER_WORDS for one in around)
    )


MOST_NEAR = 8  # texts: an element with more of them is not decoration
_PARAGRAPHS = frozenset({"blockquote", "li", "ol", "p", "pre", "table", "ul"})
_LEAST_LIKENESS = 0.5  # least share of their names that two similar elements have in common
_CONTENT_CLASS = re.compile(r"(?:^|[-_])(?:text|content|body|prose|markdown|md)$|markdown|prose", re.IGNORECASE)
_STAMP_WORDS = frozenset(
    {
        *("author", "avatar", "byline", "date", "datetime", "meta", "metadata", "name", "nickname", "persona"),
        *("reaction", "reactions", "receipt", "sender", "speaker", "time", "timestamp", "username", "who"),
    }
)


class Reason(IntEnum):
    """The strength of a reason to leave out a line. Only a strong reason may leave the slot for the words empty."""

    NONE = 0
    FAINT = 1  # a time before all else, where a name is more usual
    WEAK = 2  # its text: an answer may say the same
    KNOWN = 3  # other replies say it in the same place
    STRONG = 4  # its name, or it is made like something next to the user's words


@dataclass(eq=False, slots=True)
class Reasons:
    """The evidence by which lines are weighed: the user's own bubble, the other replies, and the names on the page.
    `slots` maps each bubble to the element with its words, or to None if unknown. `example` is the user's bubble.
    `names`, `pressed` and `known` are as in `find_decorations`, with `pressed` in lower case. `dropped` holds
    elements already left out and is shared with the caller."""

    slots: Mapping[Node, Node | None]
    example: Example
    names: frozenset[str]
    pressed: frozenset[str]
    known: frozenset[Edge]
    dropped: set[Node] = field(default_factory=set)
    siblings: Siblings = field(default_factory=Siblings)

    def bubble_of(self, element: Node) -> Node:
        return next(one for one in self.slots if element.is_within(one))

    def is_name(self, text: str) -> bool:
        return (
            phrases.is_role(text)
            or phrases.is_label(text, self.names)
            or text.casefold() in self.pressed
            or phrases.is_named_time(text)
        )

    def weigh_edge(self, near: list[Leaf], bubble: Node, first: bool) -> list[tuple[Node, Reason]]:
        """Return the decorations at an edge of the bubble, with reasons, from the smallest to the largest. `near`
        holds the texts from that edge inwards."""
        found: list[tuple[Node, Reason]] = []
        prose = is_in_prose(near[0].parent, bubble)  # headings and paragraphs are part of the answer
        for element in near[0].parent.self_and_ancestors():
            inside = 0
            while inside < len(near) and inside < MOST_NEAR and near[inside].parent.is_within(element):
                inside += 1
            text = collapse_spaces(" ".join(inner.text for inner in (near[:inside] if first else near[:inside][::-1])))
            if inside == MOST_NEAR or len(text) > SHORT_LINE + 30 or not element.is_within(bubble):
                break
            if element is bubble and len(self.slots) == 1 and not self._is_like_decoration(element):
                break
            placed = bubble.tag in ("tr", "tbody") and element.tag in ("td", "tbody", "tr")
            stamped = bool(hints_last(element) & _STAMP_WORDS) or element.tag == "time"
            # Below the words, a class for names or data may be that of a source.
            stamped = stamped and (first or phrases.is_time(text) or not is_citation(element))
            # A page may make names like the words, in smaller letters.
            heads = first and inside < len(near) and self._is_small_heading(near[0], near[inside])
            said = bool(element.classes) and kind(element) in self.example.said and not heads
            reason = self._reason_by_name(element, text, stamped=stamped, prose=prose, said=said)
            prose = prose or (element.tag in PROSE and not placed) or is_editor(element)
            # The only text in an element for content is part of the answer, too.
            content = next((around for around in element.ancestors() if _is_content(around)), None)
            if content is not None and content.is_within(bubble):
                prose = prose or len(near) == inside or not near[inside].parent.is_within(content)
            parts = [leaf.text for leaf in near[:inside]]
            reason = max(
                reason, self._reason_by_text(element, text, parts, stamped=stamped, prose=prose, first=first, said=said)
            )
            named = self._names_speaker(element, text, bubble) if first and not prose else False
            if named or (heads and not prose and self._is_above_box(element, text, near[inside], bubble)):
                reason = max(reason, Reason.KNOWN)
            if reason is not Reason.NONE:
                found.append((element, reason))
        return found

    def _names_speaker(self, element: Node, text: str, bubble: Node) -> bool:
        """Return True for a short line that names the speaker. The evidence is a similar line in the user's bubble, or
        that the line appeared before the words."""
        slot = self.slots[bubble]
        if slot is None or element.is_within(slot) or slot.is_within(element) or not is_brief(text):
            return False
        if next(node for node in bubble.walk() if node is element or node is slot) is slot:
            return False
        words = visible_leaves(slot, self.dropped)
        if not words or self.example.tells_who:
            return True
        came, stood = _time_of(words[0]), [_time_of(leaf) for leaf in visible_leaves(element, ())]
        return came is not None and all(time is not None and came > time + AT_ONCE for time in stood)

    def _is_small_heading(self, line: Leaf, words: Leaf) -> bool:
        """Return True for a line in smaller letters than the following text, if that text is no smaller than the
        user's text."""
        if self.example.look is None:
            return False
        after = read_look(words.parent)
        return read_look(line.parent).is_smaller_than(after) and not after.is_smaller_than(self.example.look)

    def _is_above_box(self, element: Node, text: str, words: Leaf, bubble: Node) -> bool:
        """Return True if the line is above the box around the words, as a name is in the user's bubble."""
        around = words.parent.self_and_ancestors()
        boxes = [one for one in around if "h-edge" in one.attributes and one.is_within(bubble)]
        own = bool(boxes) and not any(element.is_within(box) for box in boxes)
        return own and self.example.boxed and is_brief(text)

    def _reason_by_name(self, element: Node, text: str, *, stamped: bool, prose: bool, said: bool) -> Reason:
        """Weigh the class names and the markup of an element. Class names for names and times count little if the
        element contains paragraphs. Set `prose` if the text at the edge is in prose within the element, and `said`
        if the element has the markup of an element around the user's text."""
        if said and not stamped:
            return Reason.NONE
        if len(text) <= SHORT_LINE and self._is_like_decoration(element):
            return Reason.STRONG
        if not stamped or not is_brief(text) or (_is_content(element) and element.tag != "time"):
            return Reason.NONE
        return Reason.WEAK if prose and any(inner.tag in _PARAGRAPHS for inner in element.walk()) else Reason.STRONG

    def _reason_by_text(
        self, element: Node, text: str, parts: Sequence[str], *, stamped: bool, prose: bool, first: bool, said: bool
    ) -> Reason:
        if alternative_text(element):
            shown = self.example.pictured or (kind(element), text) in self.known or phrases.is_label(text)
            shown = shown or self._is_beside_words(element)
            return Reason.STRONG if first and shown and not is_emoji(text) else Reason.NONE
        if not stamped and (_is_content(element) or said):
            return Reason.NONE
        known = (kind(element), text) in self.known and not prose and not self.siblings.is_among_prose(element)
        if known and not is_citation(element) and self._is_aside(element, text, first=first):
            return Reason.KNOWN
        if first and ends_with_colon(text) and element.tag in ("b", "strong", "span"):
            named = phrases.is_label(text, self.names) or (element.tag == self.example.named and is_brief(text))
            return Reason.STRONG if named else Reason.NONE
        alike = (likeness(element, one) >= _LEAST_LIKENESS for one in self.example.times)
        if element.classes and phrases.is_time(text) and any(alike):
            return Reason.STRONG
        if prose or not is_alone_in_line(element, self.dropped, self.siblings):
            return Reason.NONE
        if phrases.is_role(text) and first:
            return Reason.WEAK
        if self.siblings.is_one_of_many(element):
            return Reason.NONE
        if phrases.is_time(text) or (phrases.is_label(text, self.names) and (first or not phrases.is_role(text))):
            return Reason.FAINT if first and phrases.is_time(text) else Reason.WEAK
        if first and (text.casefold() in self.pressed or phrases.is_named_time(text)):
            return Reason.WEAK
        if not first and "h-click" in element.attributes and not any(inner.tag == "a" for inner in element.walk()):
            return Reason.WEAK  # a suggestion of what to say next
        return (
            Reason.WEAK
            if all(self._is_uninformative(part, element) for part in (text, *parts)[len(parts) > 1 :])
            else Reason.NONE
        )

    def _is_beside_words(self, picture: Node) -> bool:
        around, frame = self.bubble_of(picture), picture
        while _only_frames(around) and around is not picture:
            around = around.elements[0]
        while frame.parent is not None and frame.parent is not around and _only_frames(frame.parent):
            frame = frame.parent
        bare = around.has_text
        said = bare or around.tag == "p" or frame.tag in PROSE
        return frame.parent is around and not said and len(visible_leaves(around, ())) > 1

    def _is_aside(self, element: Node, text: str, *, first: bool) -> bool:
        """Return True if a line that other replies also have may be decoration. This holds for every line outside the
        slot for the words, and for a line inside the slot if it is neither a heading nor a sentence with which the
        system itself begins each reply."""
        bubble = self.bubble_of(element)
        slot = self.slots[bubble]
        others = [leaf for leaf in visible_leaves(bubble, self.dropped) if not leaf.parent.is_within(element)]
        if first and any(read_look(element).is_heading_over(read_look(leaf.parent)) for leaf in others[:1]):
            return False
        if slot is not None and not element.is_within(slot) and not slot.is_within(element):
            return True
        if not first:
            return slot is not None or is_brief(text) or has_more_text(element, bubble, self.dropped)
        return is_brief(text) and (
            phrases.is_label(text, self.names) or not ends_with_colon(text) or len(text.split()) <= 2
        )

    def _is_uninformative(self, text: str, element: Node) -> bool:
        return (
            phrases.is_status(text)
            or phrases.is_counter(text)
            or phrases.is_origin_note(text)
            or text in ("·", "•", "|", "–", "-", "✓", "✓✓", "✔")
            or (text != element.text and (phrases.is_time(text) or self.is_name(text)))
            or (text != element.text and text in {one.text for one in element.walk() if "h-click" in one.attributes})
        )

    def _is_like_decoration(self, element: Node) -> bool:
        if element.tag in ("td", "th") and element.parent is not None and element.parent.tag == "tr":
            cells = element.parent.elements
            place = cells.index(element)
            if (place, len(cells)) in self.example.cells:
                return True
        return bool(element.classes) and element.tag not in ("p", "li", "pre") and kind(element) in self.example.beside


def _only_frames(node: Node) -> bool:
    return len(node.elements) == 1 and not node.has_text


def _time_of(leaf: Leaf) -> float | None:
    said = leaf.parent.get("h-said")
    return float(said) if said else leaf.parent.birth_time


def _is_content(element: Node) -> bool:
    return any(_CONTENT_CLASS.search(name) for name in element.classes if ":" not in name and "[" not in name)
