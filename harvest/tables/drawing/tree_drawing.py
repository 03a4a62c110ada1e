"""The drawing of a single tree: boxes, edges, ends of conversations, and folded branches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harvest.tables.drawing.colours import paint_attributes
from harvest.tables.drawing.layout import ShownTree, row_positions, select_branches
from harvest.tables.drawing.outline import endings, texts_note
from harvest.tables.drawing.svg import break_lines, escape_text, text_width
from protocols.labels import MEANINGS, NOT_USEFUL, USEFUL
from recordings.trees.node_text import format_percent, node_title
from recordings.trees.tree import ConversationTree
from topics.counting import plural

MARGIN = 18.0  # in pixels
_CURVE, _AIR = 28.0, 9.0  # pixels: where an edge bends; around a text
_LABEL, _FIGURE, _SMALL = 13.0, 12.0, 10.5  # sizes of letters
_LINE, _BETWEEN, _ROW = 16.0, 16.0, 44.0  # heights: of a line in a box; between boxes; of the lowest row
_WIDEST = 12.0  # of an edge that every trial takes
_LABELS = (230.0, 190.0, 160.0, 135.0, 115.0)  # widths of a box in pixels, tried until the tree fits
_LINES = 3  # of a node's words

# Labels of an edge: the share, counts beside it, and the interval below.
Words = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TreeDrawing:
    """A tree of N nodes and its labels.

    `branches` has N labels of the edges into nodes, and `stops` N labels of the conversations that end at the nodes.
    `notes` has N notes below turns. `unseen` has N notes on branches that no trial took, or "". `least` and `most`
    select the branches to draw (`layout.select_branches`). `ends` maps a node to the kinds of its ends and their
    labels, which are drawn separately; any other node has one end.
    """

    tree: ConversationTree
    title: str
    caption: Sequence[str]
    branches: Sequence[Words]
    stops: Sequence[Words]
    unseen: Sequence[str]
    notes: Sequence[str] = ()
    least: float = 0.0
    most: int = 12
    ends: Mapping[int, Sequence[tuple[str, Words]]] = field(default_factory=dict)
    chosen: ShownTree = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", select_branches(self.tree, least=self.least, most=self.most))


@dataclass(frozen=True, slots=True)
class _Box:
    lines: tuple[str, ...]
    note: str
    mark: str

    @property
    def width(self) -> float:
        widest = max((text_width(line, _LABEL) for line in self.lines), default=0.0) + (17 if self.mark else 0)
        return max(widest, text_width(self.note, _SMALL), 10.0) + 2 * _AIR

    @property
    def height(self) -> float:
        return 10 + _LINE * len(self.lines) + (13 if self.note else 0)


_MARKS = {
    USEFUL: ("useful", MEANINGS[USEFUL]),
    NOT_USEFUL: ("useless", MEANINGS[NOT_USEFUL]),
    "?": ("", "not classified"),
}


def text(x: float, y: float, what: str, size: float, ink: str, *, bold: bool = False, anchor: str = "") -> str:
    """Return a line of text whose direction does not affect the text around it."""
    more = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" {paint_attributes(ink)}{more} unicode-bidi="isolate">'
        f"{escape_text(what)}</text>"
    )


def draw_tree(plate: TreeDrawing, wide: float) -> tuple[tuple[str, ...], float, float]:
    """Draw a tree from (0, 0). Returns its elements, width and height. `wide` is the desired width in pixels."""
    for most in _LABELS:
        drawing = _Drawing(plate, most)
        if drawing.width <= wide:
            break
    return tuple(drawing.elements()), drawing.width, drawing.height


class _Drawing:
    def __init__(self, plate: TreeDrawing, most: float) -> None:
        self.plate, self.tree, self.chosen = plate, plate.tree, plate.chosen
        tree, chosen = self.tree, self.chosen
        self.boxes = {node: self._box(node, most) for node in chosen.nodes if node}
        self.further = {node: self._lower_rows(node) for node in chosen.nodes}
        self.middles, self.rows, height = row_positions(
            chosen,
            lambda node: max(self.boxes[node].height + _BETWEEN, _ROW) if node else _ROW,
            lambda node: [row for _, row, _ in self.further[node]],
        )
        deepest = max(int(tree.depth[node]) for node in chosen.nodes)
        gaps, widths = [0.0] * (deepest + 2), [0.0] * (deepest + 1)
        self.root = f"{tree.n:,} trial{'s' if tree.n != 1 else ''}"
        widths[0] = text_width(self.root, _FIGURE) * 1.12
        for node in chosen.nodes:
            depth = int(tree.depth[node])
            if node:
                widths[depth] = max(widths[depth], self.boxes[node].width)
                gaps[depth] = max(gaps[depth], _caption_width(plate.branches[node]))
            for _, _, end in self.further[node]:
                if end is not None:
                    gaps[depth + 1] = max(gaps[depth + 1], _caption_width(end[1]))
        self.left, self.widths, self.gaps = [0.0], widths, gaps
        for depth in range(1, deepest + 1):
            self.left.append(self.left[-1] + widths[depth - 1] + _CURVE + gaps[depth] + 9)
        self.width = max(self._right_edge(node) for node in chosen.nodes)
        self.head = 22.0
        self.height = height + self.head

    def _box(self, node: int, most: float) -> _Box:
        symbol, tree = self.tree.symbol_at(node), self.tree
        labelled = any(key.speaker == symbol.speaker and key.name == "label" for key in tree.keys)
        mark, words = _MARKS.get(symbol.key, ("", "")) if labelled else ("", "")
        lines = (words,) if words else break_lines(node_title(tree, node), most, _LABEL, _LINES)
        notes = [texts_note(tree, node), self.plate.notes[node].strip() if self.plate.notes else ""]
        return _Box(lines, " · ".join(note for note in notes if note), mark)

    def _stop_words(self, node: int) -> Sequence[tuple[str, Words]]:
        if not self.tree.stops[node]:
            return ()
        return self.plate.ends.get(node) or [(endings(self.tree, node), self.plate.stops[node])]

    def _has_lone_end(self, node: int) -> bool:
        return not self.tree.branches[node] and len(self._stop_words(node)) == 1

    def _lower_rows(self, node: int) -> list[tuple[str, float, tuple[str, Words] | None]]:
        rows: list[tuple[str, float, tuple[str, Words] | None]] = []
        if not self._has_lone_end(node):
            rows += [("stop", _ROW, end) for end in self._stop_words(node)]
        if node in self.chosen.folded:
            rows.append(("folded", 28.0, None))
        if self.plate.unseen[node]:
            rows.append(("unseen", 24.0, None))
        return rows

    def _x(self, node: int) -> float:
        return self.left[int(self.tree.depth[node])]

    def _edge_of(self, node: int) -> float:
        return self._x(node) + self.widths[int(self.tree.depth[node])] + (0 if node else 4)

    def _bend_x(self, node: int) -> float:
        """Return the x coordinate at which all edges of a column bend, so that no edge crosses a row."""
        depth = int(self.tree.depth[node])
        return self.left[depth] + self.widths[depth] + _CURVE

    def _right_edge(self, node: int) -> float:
        found = [self._edge_of(node)]
        if self._has_lone_end(node):
            ((name, words),) = self._stop_words(node)
            found.append(self._edge_of(node) + 32 + max(text_width(name, _FIGURE), text_width(_row(words), _SMALL)))
        for kind, _, end in self.further[node]:
            start = self._bend_x(node)
            if end is not None:
                depth = int(self.tree.depth[node])
                found.append(start + self.gaps[depth + 1] + 30 + text_width(end[0], _FIGURE))
            elif kind == "folded":
                found.append(start + 6 + text_width(self._fold_words(node), 11.5))
            else:
                found.append(start + 6 + text_width(_short_label(self.plate.unseen[node]), _SMALL))
        return max(found)

    def _fold_words(self, node: int) -> str:
        one = self.chosen.folded[node]
        visits, share = one.visits, format_percent(one.visits / int(self.tree.visits[node]))
        what, together = plural("other" if one.drawn else "branch"), " together"
        if one.branches == 1:
            what, together = "other" if one.drawn else "branch", ""
        return f"+ {one.branches:,} {what},{together} {share} {visits:,}/{int(self.tree.visits[node]):,}"

    def elements(self) -> list[str]:
        found = []
        for depth in range(1, len(self.left)):
            here = [node for node in self.chosen.nodes if self.tree.depth[node] == depth]
            sides = {self.tree.speaker(node) for node in here}
            side = sides.pop()[0].upper() if len(sides) == 1 else "turn "
            number = (depth + 1) // 2 if side != "turn " else depth
            found.append(text(self.left[depth] + _AIR, 10, f"{side}{number}", 11, "dim", bold=True))
        found.append(f'<g transform="translate(0 {self.head:g})">')
        # Edges first, so that text is drawn over an edge that comes near it.
        for node in self.chosen.nodes:
            found += self._edges(node)
        found.append(text(0, self.middles[0] + 4, self.root, _FIGURE, "ink", bold=True))
        for node in self.chosen.nodes:
            found += self._draw_box(node) if node else []
            found += self._ends(node)
        return [*found, "</g>"]

    def _edge_width(self, visits: int) -> float:
        return max(_WIDEST * visits / self.tree.n, 1.2)

    def _edges(self, node: int) -> list[str]:
        tree = self.tree
        hung = [
            (self.middles[one], self._x(one), self._edge_width(int(tree.visits[one])), "edge")
            for one in self.chosen.branches[node]
        ]
        for (kind, _, ended), row in zip(self.further[node], self.rows[node], strict=True):
            if ended is not None:
                depth = int(tree.depth[node])
                hung.append(
                    (
                        row,
                        self._bend_x(node) + self.gaps[depth + 1] + 9,
                        self._edge_width(_trial_count(ended[1])),
                        "edge",
                    )
                )
            elif kind == "folded":
                hung.append((row, self._bend_x(node), self._edge_width(self.chosen.folded[node].visits), "edge"))
            else:
                hung.append((row, self._bend_x(node), 1.5, "unseen"))
        start, bend = self._edge_of(node), self._bend_x(node)
        y = self.middles[node] - sum(thick for _, _, thick, kind in hung if kind == "edge") / 2
        found = []
        for row, end, thick, kind in hung:
            begin = y + thick / 2 if kind == "edge" else min(y, self.middles[node] + 6)
            y += thick if kind == "edge" else 0
            half = (start + bend) / 2
            way = f"M{start:.1f} {begin:.1f}C{half:.1f} {begin:.1f} {half:.1f} {row:.1f} {bend:.1f} {row:.1f}H{end:.1f}"
            found.append(f'<path d="{way}" {paint_attributes(kind, thick)}/>')
        return found

    def _draw_box(self, node: int) -> list[str]:
        tree, box, x, y = self.tree, self.boxes[node], self._x(node), self.middles[node]
        width = self.widths[int(tree.depth[node])]
        user = tree.speaker(node) == "user"
        top, paint = y - box.height / 2, "user" if user else box.mark or "system"
        shape = f'rx="{min(box.height / 2, 15):g}"' if user else 'rx="2"'
        symbol = tree.symbol_at(node)
        full = symbol.text or symbol.key or "∅"
        found = [
            f"<g><title>{escape_text(full)} — {escape_text(tree.merging(node))}</title>",
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{box.height:.1f}" {shape} '
            f"{paint_attributes(paint)}/>",
        ]
        left = x + _AIR
        if box.mark:
            middle = top + 5 + _LINE / 2
            drawn = (
                f'<circle cx="{left + 5.5:.1f}" cy="{middle:.1f}" r="5" '
                if box.mark == "useful"
                else f'<path d="M{left + 1:.1f} {middle - 4.5:.1f}l9 9m0 -9l-9 9" '
            )
            found.append(f"{drawn}{paint_attributes(f'{box.mark}-mark')}/>")
            left += 17
        for place, line in enumerate(box.lines):
            found.append(_box_line(left, top + 5 + _LINE * place, x + width - left - 2, line))
        if box.note:
            found.append(text(x + _AIR, top + box.height - 6, box.note, _SMALL, "dim"))
        thick = self._edge_width(int(tree.visits[node]))
        return [
            *found,
            "</g>",
            *_captions(self._bend_x(int(tree.parent[node])) + 6, y, thick, self.plate.branches[node]),
        ]

    def _ends(self, node: int) -> list[str]:
        tree, y = self.tree, self.middles[node]
        found = []
        if self._has_lone_end(node):
            ((name, words),) = self._stop_words(node)
            x = self._edge_of(node)
            found.append(
                f'<path d="M{x:.1f} {y:.1f}h16" {paint_attributes("edge", self._edge_width(int(tree.stops[node])))}/>'
            )
            found.append(f'<rect x="{x + 16:.1f}" y="{y - 5:.1f}" width="10" height="10" {paint_attributes("end")}/>')
            found.append(text(x + 32, y - 1, name, _FIGURE, "ink"))
            found.append(text(x + 32, y + 12, _row(words), _SMALL, "dim"))
        for (kind, _, end), row in zip(self.further[node], self.rows[node], strict=True):
            x = self._bend_x(node)
            if end is not None:
                name, words = end
                found += _captions(x + 6, row, self._edge_width(_trial_count(words)), words)
                x += self.gaps[int(tree.depth[node]) + 1] + 9
                found.append(f'<rect x="{x:.1f}" y="{row - 5:.1f}" width="10" height="10" {paint_attributes("end")}/>')
                found.append(text(x + 16, row + 4, name, _FIGURE, "ink"))
            elif kind == "folded":
                found.append(text(x + 6, row + 4, self._fold_words(node), 11.5, "ink"))
            else:
                line = text(x + 6, row + 4, _short_label(self.plate.unseen[node]), _SMALL, "dim")
                found.append(f"<g><title>{escape_text(self.plate.unseen[node])}</title>{line}</g>")
        return found


def _box_line(x: float, y: float, width: float, line: str) -> str:
    """Return a line of text in a box. Characters of unknown width and height are clipped to the box."""
    if line.isascii():
        return text(x, y + 12, line, _LABEL, "ink")
    held = text(0, 12, line, _LABEL, "ink")
    return f'<svg x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_LINE:g}" overflow="hidden">{held}</svg>'


def _caption_width(words: Words) -> float:
    share, counts, interval = words
    return max(text_width(share, _FIGURE) * 1.12 + 5 + text_width(counts, _SMALL), text_width(interval, _SMALL)) + 6


def _captions(x: float, y: float, thick: float, words: Words) -> list[str]:
    share, counts, interval = words
    above, below = y - thick / 2 - 4, y + thick / 2 + 11
    return [
        text(x, above, share, _FIGURE, "ink", bold=True),
        text(x + text_width(share, _FIGURE) * 1.12 + 5, above, counts, _SMALL, "dim"),
        *([text(x, below, interval, _SMALL, "dim")] if interval else []),
    ]


def _trial_count(words: Words) -> int:
    return int(words[1].partition("/")[0])


def _row(words: Words) -> str:
    return " ".join(part for part in words if part)


def _short_label(note: str) -> str:
    return note.partition(" (")[0]
