"""The text of a page as one string of letters, and the parts of the text that appeared since the send. Every element
corresponds to a range of that string. So a sentence is found however the page divides it into elements, and the
length of an element's text is the length of its range."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from harvest.pages.reading.alternatives import alternative_text
from harvest.pages.reading.elements import (
    begins_without_words,
    composers_on,
    hints,
    is_control,
    is_written,
    leads_elsewhere,
)
from harvest.pages.reading.figures import is_figure, is_file_button, is_icon, may_stand_alone
from harvest.pages.reading.page import Node, Page, collapse_spaces, letters
from harvest.pages.reading.phrases import is_label, is_named_time, is_placeholder, is_status, is_time

_WORDS = re.compile(r"[^\W_]+")
_VISIBLE_CHARACTER = re.compile(r"[^\s\ue000-\uf8ff]")  # the private letters are drawings of icon fonts
_LARGEST_FACE = 160.0  # CSS pixels
_ZONE_TAGS = frozenset({"nav", "aside", "dialog"})
_ZONE_ROLES = frozenset(
    {
        *("alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog"),
        *("navigation", "search", "status", "tree"),
    }
)
_BUBBLE_ROLES = frozenset({"alert", "complementary", "status"})
_ZONE_WORDS = frozenset(
    {
        *("breadcrumb", "breadcrumbs", "drawer", "notification", "sidebar", "sidenav", "snackbar"),
        *("toast", "toaster", "toasts", "tooltip"),
    }
)
_ITEM_TAGS = frozenset({"article", "li", "main", "section"})


class Span(NamedTuple):
    """The ranges of an element in the page: its letters [start, end) and its visible characters [begun, done)."""

    start: int
    end: int
    begun: int
    done: int

    @property
    def signs(self) -> int:
        """The number of visible characters except white space."""
        return self.done - self.begun


class PageText:
    """The visible text of a page without navigation, sidebars, dialogs, composer and buttons. `before` is the page's
    text when the turn was typed, if known."""

    def __init__(self, page: Page, before: "PageText | None" = None) -> None:
        self.page, self.before = page, before
        self.spans: dict[Node, Span] = {}
        self.births: dict[Node, float] = {}
        self.figures: set[Node] = set()  # pictures, drawings, sounds, files
        self.words: set[Node] = set()  # small pictures that replace words
        self.pieces: list[tuple[int, Node, int]] = []
        self.starts: set[int] = set()
        self.ends: set[int] = set()
        self.composers: list[Node] = composers_on(page)
        self._around_composer = {around for node in self.composers for around in node.self_and_ancestors()}
        self._breaks: list[int] = [0]
        self._fresh: list[int] = []
        self._letters: list[str] = []
        self._count = self._signs = 0
        self._faces: dict[tuple[str, str], bool] = {}
        self._pictures: dict[tuple[str, str], list[Node]] = {}
        for node in page.walk():
            if node.tag == "img" and node.get("src"):
                self._pictures.setdefault(_picture_key(node), []).append(node)
        self._lay_out()
        self.letters = "".join(self._letters)

    @property
    def has_times(self) -> bool:
        """True if the page records the times of changes since the send."""
        return self.page.asked is not None

    def signs(self, node: Node) -> int:
        """Return the number of visible characters in an element that belong to the conversation."""
        span = self.spans.get(node)
        return span.signs if span else 0

    def is_fresh(self, node: Node) -> bool:
        """Return True if an element has text that appeared since the send."""
        span = self.spans.get(node)
        return span is not None and bisect_left(self._fresh, span.begun) < bisect_left(self._fresh, span.done)

    def first_words(self, top: Node, skip: Collection[Node] = frozenset()) -> Iterator[tuple[Node, float | None]]:
        """Yield the elements in `top` that have text or a figure of their own, each with the time of its first words.

        Times are in milliseconds after the send. None means that the time is unknown or before the send. Elements in
        `skip` are not searched. A bubble may have been present, empty or with a placeholder, long before its words.
        Words that replaced other words keep the earlier time, because the states of one message follow each other.
        """
        stack: list[tuple[Node, bool, float | None]] = [(top, False, None)]
        while stack:
            node, known, since = stack.pop()
            if node.hidden or node in skip:
                continue
            born = self.births.get(node, node.birth_time)
            if not known and "h-first" in node.attributes:
                known, since = True, float(node.get("h-first"))
                since = since if born is None or begins_without_words(node) else born
            if is_figure(node) or node in self.words or node.has_text:
                yield node, since if known else born
            stack.extend((inner, known, since) for inner in node.elements)

    def line(self, start: int, end: int) -> tuple[int, int]:
        """Return the character range of the line or lines that contain characters [start, end)."""
        first = self._breaks[bisect_right(self._breaks, start) - 1]
        after = bisect_left(self._breaks, end)
        return first, self._breaks[after] if after < len(self._breaks) else self._count

    def smallest_element(self, start: int, end: int) -> Node:
        """Return the innermost element with all letters [start, end)."""
        index = bisect_right(self.pieces, start, key=lambda piece: piece[0]) - 1
        node = self.pieces[index][1]
        while not (self.spans[node].start <= start and end <= self.spans[node].end) and node.parent is not None:
            node = node.parent
        return node

    def letter_end(self, end: int) -> tuple[Node, int, int]:
        """Return the position after the letters up to `end`: an element, the index of a child, and the index of a
        character in that child."""
        index = bisect_left(self.pieces, end, key=lambda piece: piece[0]) - 1
        begins, node, child = self.pieces[index]
        text = node.children[child]
        at = 0
        if isinstance(text, str):
            for word in _WORDS.finditer(text):
                length = len(letters(word[0]))
                at = word.end() if begins + length <= end else word.start() + (end - begins)
                begins += length
                if begins >= end:
                    break
        return node, child, at

    @cached_property
    def lines(self) -> dict[Node, str]:
        """The blocks with text directly or in inline elements, in page order, each with that text."""
        found: dict[Node, str] = {}
        for _, node, child in self.pieces:
            text = node.children[child]
            block = next((around for around in node.self_and_ancestors() if around.block), node)
            found[block] = found.get(block, "") + (text if isinstance(text, str) else "")
        return found

    @cached_property
    def line_counts(self) -> Counter[str]:
        """The number of occurrences of each line, without times, names and states, which every rendering changes."""
        return Counter(line for text in self.lines.values() if (line := _line_key(text)))

    @cached_property
    def _new_lines(self) -> Counter[str]:
        return Counter(_line_key(text) for block, text in self.lines.items() if self.is_fresh(block))

    @cached_property
    def _gone_lines(self) -> Counter[str]:
        there = self.page.by_id
        before = self.before.lines if self.before is not None else {}
        return Counter(_line_key(text) for block, text in before.items() if block.id not in there)

    def is_rerendered(self, node: Node) -> bool:
        """Return True if each line of the element was in another element that has gone, so that the page only rendered
        the line again."""
        told = [line for inner in node.walk() if inner in self.lines and (line := _line_key(self.lines[inner]))]
        return bool(told) and all(0 < self._new_lines[line] <= self._gone_lines[line] for line in told)

    @cached_property
    def keeps_all_text(self) -> bool:
        """True if all earlier text of the page is still on the page."""
        return self.before is not None and self.before.line_counts <= self.line_counts

    def text_time(self, node: Node) -> float | None:
        """Return the milliseconds from the send to the element's own text, or None if the text is older."""
        times = [self.births[node]] if node in self.births else []
        return max([*times, float(node.get("h-said"))] if node.get("h-said") else times, default=None)

    def _lay_out(self) -> None:
        stack: list[tuple[Node, int, float | None, tuple[int, int] | None]] = [(self.page.root, 0, None, None)]
        while stack:
            node, child, born, begun = stack.pop()
            if begun is None:
                figure = not node.hidden and self._is_figure(node)
                word = not figure and not node.hidden and alternative_text(node) != ""
                if node.hidden or (not figure and not word and self._is_apart(node)):
                    continue
                begun = (self._count, self._signs)
                if node.block or node.tag == "br":
                    self._break_line()
                own = node.birth_time
                born = own if own is not None else born
                if born is not None:
                    self.births[node] = born
                if figure:
                    self.figures.add(node)
                elif word:
                    self.words.add(node)
            if node in self.figures or node in self.words:
                self._signs += 1
                self._fresh.extend([begun[1]] if born is not None else [])
                child = len(node.children)
            elif node.tag == "textarea" and "h-value" in node.attributes:
                self._signs += len(_VISIBLE_CHARACTER.findall(node.get("h-value")))
                self._fresh.extend([begun[1]] if born is not None else [])
            while child < len(node.children):
                inner = node.children[child]
                child += 1
                if isinstance(inner, Node):
                    stack.append((node, child, born, begun))
                    stack.append((inner, 0, born, None))
                    break
                self._add_text(node, child - 1, inner, born is not None or "h-said" in node.attributes)
            else:
                self.spans[node] = Span(begun[0], self._count, begun[1], self._signs)
                if node.block:
                    self._break_line()

    def _add_text(self, node: Node, child: int, text: str, fresh: bool) -> None:
        begin = self._signs
        self._signs += len(_VISIBLE_CHARACTER.findall(text))
        if self._signs == begin:
            if "\n" in text and node.get("h-space") in ("pre", "line"):
                self._break_line()
            return
        if fresh:
            self._fresh.append(begin)
        kept = node.get("h-space") in ("pre", "line") or node.tag == "pre"
        self.pieces.append((self._count, node, child))
        reached = 0
        for word in _WORDS.finditer(text):
            if kept and "\n" in text[reached : word.start()]:
                self._break_line()
            reached = word.end()
            folded = letters(word[0])
            self.starts.add(self._count)
            self._letters.append(folded)
            self._count += len(folded)
            self.ends.add(self._count)
        if kept and "\n" in text[reached:]:
            self._break_line()

    def _break_line(self) -> None:
        if self._breaks[-1] != self._count:
            self._breaks.append(self._count)

    def _is_figure(self, node: Node) -> bool:
        if not may_stand_alone(node):
            return is_file_button(node)
        box = node.box
        # A small picture that is repeated next to words is the face of a speaker; with nothing next to it, it is the
        # answer, and with another link it is another answer.
        small = box is not None and max(box.width, box.height) <= _LARGEST_FACE
        shown = _picture_key(node)
        if not small or len(self._pictures.get(shown, ())) <= 1 or node.get("src").startswith("data:"):
            return True
        if shown not in self._faces:
            pictures = self._pictures[shown]
            held = Counter(around for picture in pictures for around in picture.ancestors())
            # The outermost element around each picture without any of the others.
            rows = ([one, *takewhile(lambda around: held[around] == 1, one.ancestors())][-1] for one in pictures)
            self._faces[shown] = any(map(_has_words, rows))
        return not self._faces[shown]

    def _is_apart(self, node: Node) -> bool:
        if is_icon(node) or is_control(node) or node in self.composers:
            return True
        if "h-edit" in node.attributes and not is_written(node):
            return True
        if node in self._around_composer:
            return False
        role = node.get("role")
        if node.tag in _ZONE_TAGS or role in _ZONE_ROLES:
            # The window of a chat may itself be called a dialog, and a bubble an alert. Without any composer on the
            # page (it may be put away while a bot writes) the dialog may be that window.
            window = node.tag in ("aside", "dialog") or role in ("dialog", "complementary")
            return not (
                (window and (not self.composers or self._is_among_bubbles(node)))
                or (role in _BUBBLE_ROLES and _in_log(node))
                or _holds_log(node)
            )
        if node.get("aria-live") and "notification" in node.get("aria-label").lower():
            return not _in_log(node) and not _holds_log(node)  # the place of toasts, whatever its name
        words = hints(node) & _ZONE_WORDS
        if words:
            # A chat in a sidebar has a `sidebar-body` next to its `sidebar-footer` with the composer.
            shared = any(words & hints(other) for other in node.ancestors() if other in self._around_composer)
            return not shared and not _holds_log(node)
        if node.tag in ("header", "footer"):
            return not _in_log(node) and not any(around.tag in _ITEM_TAGS for around in node.ancestors())
        return False

    def _is_among_bubbles(self, window: Node) -> bool:
        """Return True if a dialog is one of several elements with words, like a bubble, and leaves the page usable."""
        around = window.parent
        if window.get("aria-modal") == "true" or around is None or around in self._around_composer:
            return False
        others = [one for one in around.elements if one.tag != "dialog" and one.get("role") not in _ZONE_ROLES]
        listed = any(_has_words(one) for one in others if one is not window and not one.hidden and not is_control(one))
        return listed and around.tag not in ("body", "h-page")


def _picture_key(picture: Node) -> tuple[str, str]:
    link = next((around for around in picture.ancestors() if around.tag == "a"), None)
    return picture.get("src"), link.get("href") if link is not None and leads_elsewhere(link) else ""


def _has_words(node: Node) -> bool:
    return any(any(map(str.isalnum, text)) for text in node.texts(lambda one: one.hidden or is_control(one)))


def _line_key(line: str) -> str:
    plain = collapse_spaces(line)
    beside = is_time(plain) or is_named_time(plain) or is_label(plain) or is_status(plain) or is_placeholder(plain)
    return "" if beside else letters(plain) or plain


def _in_log(node: Node) -> bool:
    return any(around.get("role") in ("log", "article") for around in node.ancestors())


def _holds_log(node: Node) -> bool:
    return any(inner.get("role") in ("log", "feed") for inner in node.walk())
