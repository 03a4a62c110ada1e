"""Conversion of the visible text of a part of a page to Markdown. Text is not escaped, except for `|` in tables, so
that the raw Markdown shown by some interfaces is returned unchanged. White space that the page does not show is
dropped, and so are soft hyphens, zero-width spaces and word joiners, which only allow line breaks. Direction marks and
joiners in emoji are kept."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from harvest.pages.reading.alternatives import add_spaces, alternative_text
from harvest.pages.reading.elements import CONTROLS, hints, is_control
from harvest.pages.reading.figures import figure_markdown, is_figure, is_file_button, is_icon, offered_file
from harvest.pages.reading.formula import formula_text, is_formula, raised_text
from harvest.pages.reading.gutters import is_gutter_of_another
from harvest.pages.reading.listing import find_language, is_listing, listing_text
from harvest.pages.reading.page import Node
from harvest.pages.reading.spans import BREAK, Marks, emphasise, finish_line, visible_text, write_code, write_link
from harvest.pages.reading.tables import table_lines

_DEEPEST = 100  # levels of elements: Python's stack is limited, and no answer is deeper
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"dir", "menu", "ol", "ul"})
_SPACED_TAGS = frozenset({"blockquote", "dl", "figure", "hr", "p", "pre", "table", *_HEADINGS, *_LISTS})
_MARKS = {
    **dict.fromkeys(("strong", "b"), Marks.STRONG),
    **dict.fromkeys(("em", "i", "cite", "dfn"), Marks.EMPHASIS),
    **dict.fromkeys(("del", "s", "strike"), Marks.DELETED),
}
_STYLE_CLASSES = {
    **dict.fromkeys(("font-bold", "font-semibold", "fw-bold", "bold"), Marks.STRONG),
    **dict.fromkeys(("italic", "fst-italic", "font-italic"), Marks.EMPHASIS),
    **dict.fromkeys(("line-through", "strikethrough"), Marks.DELETED),
}
_PROSE_TAGS = frozenset({"a", "br", *_MARKS})
_PART_TAGS = frozenset({"dd", "dt", "li", "summary", "tbody", "td", "th", "tr"})
_DIRECTIONS = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # marks of writing direction
_LEAST_GAP = 3  # CSS pixels between two elements that a person sees as a space
_PARAGRAPH_GAP = 8.0  # CSS pixels between two lines that make them paragraphs
_TEXTLESS_TAGS = CONTROLS | {"svg", "progress", "hr", "rp"}
_FIGURES = frozenset({"audio", "canvas", "img", "svg", "video"})
_ANCHOR_SIGNS = frozenset({"", "#", "¶", "§", "🔗", "⚓", "↩", "↩︎", "link", "permalink", "anchor"})


class Block(NamedTuple):
    """Lines of Markdown from the source element `node`. `spaced` is True if blank lines surround the lines."""

    text: str
    spaced: bool
    node: Node | None = None

    def is_far_above(self, lower: "Block") -> bool:
        """Return True if the page leaves as much space between the two blocks as between paragraphs."""
        mine, other = (one.node.box if one.node is not None else None for one in (self, lower))
        return mine is not None and other is not None and other.y - mine.bottom >= _PARAGRAPH_GAP


def markdown(
    node: Node,
    dropped: Collection[Node] = (),
    url: str = "",
    *,
    unfolded: Collection[Node] = (),
    wordless: bool = False,
) -> str:
    """Return the visible text of `node` as Markdown without the elements in `dropped`, or "" if no text is visible.
    `url` is the page's address, for recognising links within the page. `unfolded` lists hidden elements to read
    nevertheless. Set `wordless` if the answer has only figures."""
    return _Writer(dropped, url, unfolded, wordless).write_document(node)


class _Writer:
    def __init__(self, dropped: Collection[Node], url: str, unfolded: Collection[Node], wordless: bool) -> None:
        self._dropped, self._unfolded, self._wordless = frozenset(dropped), frozenset(unfolded), wordless
        self._url = url.partition("#")[0]
        self._holds_block: dict[Node, bool] = {}

    def write_document(self, node: Node) -> str:
        if self._is_left_out(node):
            return ""
        self._find_blocks(node)
        if node.tag in _PART_TAGS or _is_prose(node):
            return _join_blocks(self.flow(node.children, node, 0))
        if node.tag == "a" or not node.block:
            return _join_blocks(self.flow([node], node.parent or node, 0))
        only = self._innermost(node)
        if _is_prose(only):
            return _join_blocks(self.flow(only.children, only, 0))
        return _join_blocks(self.block(node, 0))

    def _innermost(self, node: Node) -> Node:
        while True:
            seen = [child for child in node.children if not isinstance(child, str) or child.strip()]
            kept = [child for child in seen if isinstance(child, str) or not self._is_left_out(child)]
            if len(kept) != 1 or isinstance(kept[0], str):
                return node
            node = kept[0]

    def flow(self, children: Iterable[Node | str], around: Node, depth: int) -> Iterator[Block]:
        run: list[Node | str] = []
        for child in children:
            if isinstance(child, str) or not self._starts_block(child):
                run.append(child)
                continue
            yield from self.paragraph(run, around, depth)
            run = []
            if not self._is_left_out(child):
                yield from self.block(child, depth + 1)
        yield from self.paragraph(run, around, depth)

    def paragraph(self, run: list[Node | str], around: Node, depth: int) -> Iterator[Block]:
        text = finish_line(self.line(run, around, depth)) if run else ""
        if text.strip(_DIRECTIONS):
            kept = [item for item in run if not isinstance(item, str) or item.strip()]
            lone = kept[0] if len(kept) == 1 and isinstance(kept[0], Node) else None
            yield Block(text, False, around if len(run) == len(around.children) else lone)

    def block(self, node: Node, depth: int) -> Iterator[Block]:
        if self._is_left_out(node) or depth > _DEEPEST:
            if depth > _DEEPEST and not self._is_left_out(node):
                yield from self.paragraph([node.text], node, depth)
            return

        def write_cell(cell: Node) -> str:
            return _join_blocks(self.flow(cell.children, cell, depth + 1), tight=True)

        tag = node.tag
        level = _HEADINGS.get(tag, 0)
        if not level and node.get("role") == "heading":
            level = min(max(_whole_number(node.get("aria-level"), 2), 1), 6)
        if tag == "hr":
            yield Block("---", True, node)
        elif level:
            text = finish_line(self.line(node.children, node, depth)).replace("\n", " ")
            if text:
                yield Block(f"{'#' * level} {text}", True, node)
        elif tag == "textarea":  # a draft: its lines unchanged
            yield Block(finish_line(visible_text(node.get("h-value"), "pre")), True, node)
        elif is_listing(node):
            yield from self._listing(node)
        elif tag in _LISTS and not node.has_text:
            yield from self._list(node, depth)
        elif tag == "li":
            yield from self._items([node], lambda _: "- ", depth)
        elif tag == "blockquote":
            text = _join_blocks(self.flow(node.children, node, depth))
            if text:
                yield Block("\n".join(f"> {line}".rstrip() for line in text.split("\n")), True, node)
        elif tag == "table" and (lines := table_lines(node, self._dropped, write_cell)):
            captions = [child for child in node.elements if child.tag == "caption"]
            yield from (Block(text, True) for text, _, _ in self.flow(captions, node, depth))
            yield Block("\n".join(lines), True, node)
        elif tag == "dl" and _defines(node):
            yield from self._definitions(node, depth)
        elif is_formula(node):
            yield Block(finish_line(self._formula(node)), True, node)
        elif tag == "p":
            yield from (Block(text, True, node) for text, _, _ in self.flow(node.children, node, depth))
        else:
            blocks = list(self.flow(node.children, node, depth))
            if not blocks and tag == "div" and any(child.tag == "br" for child in node.elements):
                yield Block("", False, node)  # an empty line of an editor
            yield from blocks

    def _listing(self, node: Node) -> Iterator[Block]:
        code = listing_text(node, self._dropped)
        if code.strip() and not is_gutter_of_another(node):
            longest = max((len(ticks) for ticks in re.findall(r"`{3,}", code)), default=2)
            fence = "`" * (longest + 1)
            yield Block(f"{fence}{find_language(node)}\n{code}\n{fence}", True, node)

    def _list(self, node: Node, depth: int) -> Iterator[Block]:
        if node.tag != "ol" and not all("h-count" in child.attributes for child in node.elements if child.tag == "li"):
            yield from self._items(node.elements, lambda _: "- ", depth, node)
            return
        items = [child for child in node.elements if child.tag == "li"]
        step = -1 if "reversed" in node.attributes else 1
        number = _whole_number(node.get("start"), len(items) if step < 0 else 1)
        numbers: dict[Node, int] = {}
        for item in items:
            number = _whole_number(item.get("value"), number)
            numbers[item] = number
            number += step
        yield from self._items(node.elements, lambda item: f"{numbers.get(item, number)}. ", depth, node)

    def _items(
        self, nodes: list[Node], marker: Callable[[Node], str], depth: int, around: Node | None = None
    ) -> Iterator[Block]:
        lines: list[str] = []
        loose = any(child.tag == "p" and not self._is_left_out(child) for item in nodes for child in item.elements)
        indent = "  "
        for item in nodes:
            if self._is_left_out(item):
                continue
            nested = item.tag in _LISTS
            blocks = list(self.block(item, depth + 1) if nested else self.flow(item.children, item, depth + 1))
            text = _join_blocks(blocks, tight=not loose)
            if nested and text and lines:
                lines[-1] += "\n" + _indent(text, indent)
            elif text:
                sign = marker(item)
                indent = " " * len(sign)
                lines.append(sign + _indent(text, indent).lstrip(" "))
        if lines:
            yield Block(("\n\n" if loose else "\n").join(lines), True, around)

    def _definitions(self, node: Node, depth: int) -> Iterator[Block]:
        lines: list[str] = []
        parts = [inner for child in node.elements for inner in ([child] if child.tag != "div" else child.elements)]
        for part in parts:
            text = _join_blocks(self.flow(part.children, part, depth + 1)) if not self._is_left_out(part) else ""
            if text and part.tag == "dd":
                lines.append(": " + _indent(text, "  ").lstrip(" "))
            elif text:
                lines.append(("\n" if lines else "") + text)
        if lines:
            yield Block("\n".join(lines), True, node)

    def line(
        self, children: Iterable[Node | str], around: Node, depth: int, marks: frozenset[str] = frozenset()
    ) -> str:
        """Return the children as one line in the form that `finish_line` expects."""
        pieces: list[str] = []
        before: Node | None = None
        spread = False  # True if the page sets words apart by their places
        for child in children:
            if isinstance(child, str):
                if before is not None and before.tag == "br":
                    child = child.removeprefix("\n")  # renderers add a line break in the source, too
                if child:
                    pieces.append(visible_text(child, _space_style(around)))
                    before = None
            elif not self._is_left_out(child):
                if before is not None:
                    spread = _lie_apart(before, child, spread)
                    pieces.append(_gap_between(before, child) or " " * spread)
                pieces.append(self.inline(child, depth + 1, marks))
                before = child
        return "".join(pieces)

    def inline(self, node: Node, depth: int, marks: frozenset[str]) -> str:
        if depth > _DEEPEST:
            return visible_text(node.text, "")
        tag = node.tag
        if tag == "br":
            return BREAK
        if words := alternative_text(node):
            return add_spaces(node, words)
        if tag in _FIGURES or is_figure(node):
            return figure_markdown(node, wordless=self._wordless)
        if tag == "input" and node.get("type") == "checkbox":
            return "[x] " if "checked" in node.attributes else "[ ] "
        if is_file_button(node) and (file := offered_file(node)) is not None:
            return f" [file: {file.name}] "
        if (tag in _TEXTLESS_TAGS and "h-frame" not in node.attributes) or tag == "wbr":
            return ""
        if is_formula(node):
            return self._formula(node)
        if tag in ("code", "tt", "samp"):
            return write_code(listing_text(node, self._dropped), _space_style(node) == "pre")
        if tag == "a" and "href" in node.attributes:
            return self._link(node, depth, marks)
        mark = _MARKS.get(tag, "")
        if tag == "span" and node.classes:
            mark = next((_STYLE_CLASSES[name] for name in node.classes if name in _STYLE_CLASSES), "")
        inner = self.line(node.children, node, depth, marks | {mark} if mark else marks)
        if tag in ("sup", "sub") or node.get("h-raise"):
            return raised_text(node, inner)
        if node.block:
            inner = f" {inner} "
        if mark and mark not in marks:
            return emphasise(inner, mark)
        return {"q": f"“{inner}”", "rt": f"({inner})"}.get(tag, inner)

    def _link(self, node: Node, depth: int, marks: frozenset[str]) -> str:
        href = node.get("href")
        label = self.line(node.children, node, depth, marks)
        within = href.startswith("#") or (self._url != "" and href.partition("#")[0] == self._url and "#" in href)
        if within:
            # A sign at a heading or a footnote that links to itself.
            plain = finish_line(label)
            if plain.lower() in _ANCHOR_SIGNS:
                return ""
            return f"[{plain}]" if plain.isdigit() else label
        return write_link(label, href, node.get("aria-label") or node.get("title"))

    def _formula(self, node: Node) -> str:
        tex = next((inner for inner in node.walk() if inner.tag == "annotation"), None)
        source = "".join(child for child in tex.children if isinstance(child, str)) if tex is not None else ""
        source = source.strip() or formula_text(node) or node.text or node.get("aria-label")
        if tex is None or not source:
            return visible_text(source, "")
        display = "katex-display" in node.classes or any("katex-display" in inner.classes for inner in node.ancestors())
        mark = "$$" if display or node.get("display") in ("block", "true") else "$"
        return f"{mark}{visible_text(source, 'pre')}{mark}"

    def _is_left_out(self, node: Node) -> bool:
        if (
            node in self._dropped
            or (is_icon(node) and not alternative_text(node))
            or (node.hidden and node not in self._unfolded)
        ):
            return True
        if not is_control(node) or node.get("type") == "checkbox":
            return False
        return not (is_figure(node) or is_file_button(node))

    def _starts_block(self, node: Node) -> bool:
        """Return True for a block, and for an element that contains a block and is not part of a line."""
        if node.tag == "br" or node.tag in _FIGURES or is_figure(node) or is_control(node) or is_formula(node):
            return is_formula(node) and ("katex-display" in node.classes or node.get("display") in ("block", "true"))
        if node.tag == "a":
            return False
        return node.block or node.tag == "textarea" or self._holds_block.get(node, False)

    def _find_blocks(self, root: Node) -> None:
        for node in list(root.walk())[::-1]:
            self._holds_block[node] = any(
                ((inner.block or inner.tag == "textarea") and not self._is_left_out(inner))
                or (inner.tag != "a" and self._holds_block[inner])
                for inner in node.elements
            )


def _join_blocks(blocks: Iterable[Block], *, tight: bool = False) -> str:
    pieces: list[str] = []
    before: Block | None = None
    for block in blocks:
        if before is not None:
            apart = (before.spaced or block.spaced or before.is_far_above(block)) and not tight
            pieces.append("\n\n" if apart else "\n")
        pieces.append(block.text)
        before = block
    text = re.sub(r"[ \t]+(?=\n)", "", "".join(pieces))
    return text.strip("\n").rstrip()


def _lie_apart(left: Node, right: Node, wrapped: bool) -> bool:
    """Return True if a page that moves its words one by one shows a space between these two elements. If they lie on
    two lines, `wrapped` decides."""
    if left.box is None or right.box is None or {left.tag, right.tag} & {"br", "sub", "sup"}:
        return False
    if min(left.box.bottom, right.box.bottom) - max(left.box.y, right.box.y) < 1:
        return wrapped and right.box.y > left.box.y
    return max(right.box.x - left.box.right, left.box.x - right.box.right) >= _LEAST_GAP


def _gap_between(left: Node, right: Node) -> str:
    if left.tag == "br" or right.tag == "br":
        return ""
    links = left.tag == right.tag == "a"
    if left.box is None or right.box is None:
        return " " if links else ""
    below = right.box.y >= left.box.bottom - 1
    if links:
        return BREAK if below and left.block and right.block else " "
    return " " if below and (left.tag in ("div", "a") or right.tag in ("div", "a")) else ""


def _space_style(node: Node) -> str:
    """Return how white space in an element is shown: `pre`, `line`, or ""."""
    while True:
        kind = node.get("h-space")
        if kind or node.parent is None:
            return "" if kind == "normal" else kind
        if node.tag == "pre":
            return "pre"
        node = node.parent


def _defines(node: Node) -> bool:
    frames = [child for child in node.elements if child.tag == "div"]
    if any(around.has_text for around in (node, *frames)):
        return False
    parts = [part for part in node.elements if part.tag != "div"] + [part for one in frames for part in one.elements]
    return all(part.tag in ("dd", "dt") for part in parts)


def _is_prose(node: Node) -> bool:
    """Return True for a `pre` with plain text instead of code, which names no language and has no elements but links
    and emphasis."""
    if node.tag != "pre" or find_language(node) or "code" in hints(node):
        return False
    return all(inner.tag in _PROSE_TAGS and not inner.classes for inner in node.walk() if inner is not node)


def _whole_number(text: str, otherwise: int) -> int:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else otherwise


def _indent(text: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in text.split("\n"))
