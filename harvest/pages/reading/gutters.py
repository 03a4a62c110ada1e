"""Line numbers, prompts and gutters of code, which are shown next to the code but are not part of it. Line numbers are
numbers that rise by one, whatever their markup: spans, table cells, a separate column or a separate `pre`."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from harvest.pages.reading.elements import is_control, kind
from harvest.pages.reading.page import Node

# Elements that are laid out as blocks in code but do not begin a line.
NO_LINES = frozenset({"code", "pre", "table", "tbody", "td", "th"})

_NAME = re.compile(
    r"(?:^|[-_\s])(?:ln|line-?no|line-?num(?:ber)?s?|lno|gutter|num-?line)(?:[-_\s]|$)|linenum", re.IGNORECASE
)
_COUNT = re.compile(r"\s*(?P<number>\d{1,6})\s*[.:|)│┃▏]?\s*")
_NUMBERS = re.compile(r"\s*\d{1,6}(?:\s+\d{1,6})*\s*")
_HIGHLIGHT_CLASS = re.compile(
    r"(?:^|\s)(?:hljs-|token\b|mi\b|mf\b|cm-)"
)  # classes that highlighters give to numbers in the code
_LEVELS_AROUND = 3  # levels around a `pre` in which its line numbers may be


def find_gutters(listing: Node, dropped: Collection[Node] = ()) -> set[Node]:
    """Return the elements in a code block that number its lines, or that cannot be selected although the code can."""
    kept = [part for part in listing.walk() if part is not listing and not part.hidden and part not in dropped]
    found = {part for part in kept if _NAME.search(part.get("class")) and _NUMBERS.fullmatch(_raw_text(part))}
    for part in kept:
        if part.parent is None or not (part.block or part.elements or "\n" in _raw_text(part)):
            continue
        # Numbers of several lines, one below the other, before everything else in the parent.
        telling = [one for one in part.parent.elements if one.text and not one.hidden]
        if len(telling) > 1 and telling[0] is part:
            numbers = part.text.split()
            if len(numbers) > 1 and _is_count(numbers):
                found.add(part)
    found.update(_leading_numbers(listing, {*dropped, *found}))
    muted = {part for part in kept if "h-mute" in part.attributes}
    if any(text.strip() for text, _ in _text_pieces(listing, {*dropped, *found, *muted})):
        found |= muted
    return found


def is_gutter_of_another(listing: Node) -> bool:
    """Return True if a `pre` contains only the line numbers of another code block next to it."""
    numbers = _raw_text(listing).split()
    codes = _neighbours(listing, before=False) if _is_count(numbers) else ()
    return any(_count_lines(code) == len(numbers) for code in codes)


def find_gutters_before(listing: Node) -> Iterator[Node]:
    """Yield elements before a code block that contain its line numbers."""
    for other in _neighbours(listing, before=True):
        if _is_count(other.text.split()) and len(other.text.split()) == _count_lines(listing):
            yield other


def _neighbours(listing: Node, *, before: bool) -> Iterator[Node]:
    """Yield the last content before a code block (with `before`), or otherwise the first code block after it. The
    nearest ancestor with such content decides."""
    inner = listing
    for around, _ in zip(listing.ancestors(), range(_LEVELS_AROUND), strict=False):
        at = around.children.index(inner)
        beside = reversed(around.children[:at]) if before else around.children[at + 1 :]
        elements = (one for one in beside if isinstance(one, Node))
        if before:
            found = next((one for one in elements if one.text), None)
        else:
            parts = (part for one in elements for part in one.walk())
            found = next((part for part in parts if part.tag in ("pre", "code") and part.text), None)
        if found is not None:
            yield found
            return
        inner = around


def _count_lines(listing: Node) -> int:
    return len(_raw_text(listing).rstrip("\n").split("\n"))


def _is_count(numbers: list[str]) -> bool:
    if not numbers or not all(re.fullmatch(r"\d{1,6}", one) for one in numbers):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(numbers))


def _leading_numbers(listing: Node, dropped: Collection[Node]) -> set[Node]:
    """Return the first element of each line if these elements hold the line numbers of all lines with text."""
    firsts: list[tuple[Node, int]] = []
    others = False  # True once a line has more than its number
    begins = True
    for text, part in _text_pieces(listing, dropped):
        if part is None:
            begins = True
            continue
        for place, line in enumerate(text.split("\n")):
            begins = begins or place > 0
            if not line.strip():
                continue
            if not begins:
                others = True
                continue
            told = _COUNT.fullmatch(line)
            if told is None or part is listing or part.tag == "code" or _raw_text(part).strip() != line.strip():
                return set()
            firsts.append((part, int(told["number"])))
            begins = False
    if not others or len({kind(part) for part, _ in firsts}) != 1 or _HIGHLIGHT_CLASS.search(firsts[0][0].get("class")):
        return set()
    if any(after != before + 1 for (_, before), (_, after) in pairwise(firsts)):
        return set()
    # A single line that begins with a number may be code.
    lone = firsts[0][0]
    return {part for part, _ in firsts} if len(firsts) > 1 or "h-mute" in lone.attributes else set()


def _text_pieces(listing: Node, dropped: Collection[Node]) -> Iterator[tuple[str, Node | None]]:
    stack: list[tuple[Node | str | None, Node | None]] = [(listing, None)]
    while stack:
        item, around = stack.pop()
        if item is None:
            yield "", None
        elif isinstance(item, str):
            yield item, around
        elif item.tag == "br":
            yield "", None
        elif (item is listing or not item.hidden) and item not in dropped and not is_control(item):
            block = item is not listing and item.block and item.tag not in NO_LINES
            if block:
                yield "", None
                stack.append((None, None))
            stack.extend((child, item) for child in reversed(item.children))


def _raw_text(node: Node) -> str:
    return "".join("\n" if part is None else text for text, part in _text_pieces(node, ()))
