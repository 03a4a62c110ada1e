"""Code on a page: its exact text, its language, and the bar above it with the language and a Copy button."""

import re
from collections.abc import Collection, Iterator
from itertools import chain, islice

from harvest.pages.reading.elements import INVISIBLE, editor_text, hints, is_control, is_editor
from harvest.pages.reading.gutters import NO_LINES, find_gutters
from harvest.pages.reading.page import Node
from harvest.pages.reading.phrases import is_status

_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush)[-:_](?P<name>[\w+#.-]+)")
_NAME = re.compile(r"[A-Za-z][\w+#.-]{0,20}")
_NO_LANGUAGE = frozenset(
    {"block", "code", "copyable", "hljs", "inline", "nohighlight", "none", "plaintext", "shiki", "text"}
)
_WORD = re.compile(r"\S+")
_LONGEST_BAR = 40  # characters
_CODE_HINTS = frozenset(
    {"code", "codeblock", "copy", "highlight", "hljs", "listing", "pre", "prism", "shiki", "snippet"}
)


def is_listing(node: Node) -> bool:
    """Return True for a block of code: `pre`, a `code` element laid out as a block, an editor, or a table with a row
    for each line."""
    if node.tag == "pre" or is_editor(node):
        return True
    if node.tag == "table":
        return _has_lines_of_code(node)
    return node.tag == "code" and node.block and node.get("h-space") == "pre"


def _has_lines_of_code(table: Node) -> bool:
    rows = [row for row in table.walk() if row.tag == "tr" and not row.hidden]
    for row in rows:
        cells = [cell for cell in row.elements if cell.tag == "td" and not cell.hidden]
        if len(cells) < 2 or len(cells) != len(row.elements):
            return False
        if any(cell.text and not (cell.text.isdecimal() or "h-mute" in cell.attributes) for cell in cells[:-1]):
            return False
        inner = cells[-1].elements
        only = inner[0] if len(inner) == 1 and not cells[-1].has_text else cells[-1]
        if not (only.tag == "pre" or "pre" in (only.get("h-space"), cells[-1].get("h-space"))):
            return False
    return bool(rows)


def listing_text(node: Node, dropped: Collection[Node] = ()) -> str:
    """Return the exact code, line by line, without line numbers, buttons and the final line break."""
    if is_editor(node):
        return editor_text(node).rstrip("\n")
    pieces: list[str] = []
    gutters = find_gutters(node, dropped)
    stack: list[Node | str | int] = [node]
    after_line = False
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            # A line break between two elements that are lines already is not shown.
            if not (after_line and item.isspace()):
                pieces.append(item)
            after_line = False
        elif isinstance(item, int):
            if len(pieces) == item or not pieces[-1].endswith("\n"):
                pieces.append("\n")
            after_line = True
        elif (item is not node and item.hidden) or item in dropped or item in gutters or is_control(item):
            continue
        elif item.tag == "br":
            pieces.append("\n")
        else:
            if item is not node and item.block and item.tag not in NO_LINES:
                if pieces and not pieces[-1].endswith("\n"):
                    pieces.append("\n")
                stack.append(len(pieces))
                after_line = False
            stack.extend(reversed(item.children))
    return re.sub(r"[ \t]*\n\Z", "", "".join(pieces).translate(INVISIBLE))


def find_language(node: Node) -> str:
    """Return the language of a code block from its classes or the bar above the block, or "" if it is unknown."""
    # Highlighters put a frame between both; in an editor an inner element may name the language.
    inner = [child for child in node.walk() if child is not node and (child.tag == "code" or is_editor(node))]
    around = []
    for other in islice(node.ancestors(), 2):
        if hints(other) & (_CODE_HINTS | {"language", "lang"}):
            editors = (one for one in other.walk() if is_editor(one))
            plain = (one for one in other.walk() if one.tag == "pre" and not any(map(is_editor, one.ancestors())))
            if len(list(islice(chain(editors, plain), 2))) == 1:
                around.append(other)
    for candidate in (*inner, node, *around):
        for attribute in ("data-language", "data-lang"):
            if _NAME.fullmatch(candidate.get(attribute)):
                return candidate.get(attribute)
        for name in candidate.classes:
            told = _LANGUAGE.fullmatch(name)
            if told and told["name"] not in _NO_LANGUAGE:
                return told["name"]
        if "hljs" in candidate.classes:
            others = [name for name in candidate.classes if name not in _NO_LANGUAGE and _NAME.fullmatch(name)]
            if len(others) == 1 and "-" not in others[0]:
                return others[0]
    for bar in find_bars(node):
        words = " ".join(_visible_words(bar)).strip()
        if _NAME.fullmatch(words) and words.lower() not in _NO_LANGUAGE and not is_status(words):
            return words.lower()
    return ""


def find_bars(node: Node) -> list[Node]:
    """Return the other elements in the frame of a code block: the name of the language, and the texts of buttons."""
    inner = node
    codes = [part for part in node.walk() if part.tag == "code"]
    bars = [part for part in node.elements if node.tag == "pre" and len(codes) == 1 and not codes[0].is_within(part)]
    for around in node.ancestors():
        others: list[Node] = []
        for child in around.children:
            if isinstance(child, str):
                if child.strip():
                    return bars
            elif child is not inner and next(_visible_words(child), ""):
                # Stop at the first that is not a bar: a reply may have thousands of listings as siblings.
                if child.tag == "p" or not _is_bar(child, node):
                    return bars
                others.append(child)
        if others and not (hints(around) & _CODE_HINTS or any(map(_has_button, others))):
            break
        bars.extend(others)
        inner = around
    return bars


def _is_bar(node: Node, listing: Node) -> bool:
    words = " ".join(islice(_visible_words(node), _LONGEST_BAR + 1))
    if len(words) > _LONGEST_BAR:
        return False
    classes = (name for inner in (listing, *listing.elements) for name in inner.classes)
    named = _LANGUAGE.fullmatch(next((name for name in classes if "-" in name), ""))
    return (
        is_status(words)
        or (named is not None and words.lower() == named["name"].lower())
        or (len(words.split()) <= 2 and _has_button(node))
        or (
            _NAME.fullmatch(words) is not None
            and bool(hints(node) & {"lang", "language", "header", "title", "toolbar"})
        )
    )


def _has_button(node: Node) -> bool:
    beside = node.parent.elements if node.parent is not None else []
    return any(is_control(inner) for inner in node.walk()) or any(is_control(other) for other in beside)


def _visible_words(node: Node) -> Iterator[str]:
    for text in node.texts(lambda one: one.hidden or is_control(one)):
        yield from (word[0] for word in _WORD.finditer(text))
