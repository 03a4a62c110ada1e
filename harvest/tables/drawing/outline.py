"""A tree as lines of text, with turns on the left, figures on the right, and branches indented.

A turn is indented only if its parent branches, so that a conversation of fifty turns fits a terminal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recordings.conversations.endings import shown_end
from recordings.trees.fingerprints import MOST_TEXTS
from recordings.trees.node_text import column_width, node_title, one_line, shorten
from recordings.trees.tree import ConversationTree

_NARROWEST = 14  # columns for the turn, however deep its line is indented


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """One line of an outline. `node` is 0 for lines of the root, and `kind` is `turn`, `stop` or `note`. The parts of
    the line follow in order. `rails` are the tree lines to the left. `mark` is the speaker (`U `, `S `), `■ ` for an
    end or `? ` for a note. `words` are padded so that the figures are flush right."""

    node: int
    kind: str
    rails: str
    mark: str
    words: str
    figures: str

    def __str__(self) -> str:
        return (self.rails + self.mark + self.words + self.figures).rstrip()


def outline(
    tree: ConversationTree,
    figures: Sequence[str],
    *,
    stops: Sequence[str] = (),
    ends: Mapping[int, Sequence[tuple[str, str]]] | None = None,
    notes: Sequence[str] = (),
    width: int = 80,
) -> Iterator[OutlineLine]:
    """Yield the lines of a tree of N nodes in pre-order, each `width` columns wide.

    `figures` (N,) has the figures of each node's incoming edge. `stops` has the figures of the conversations that end
    at each node, by default their number. `notes` has a note on each node's branches, or "". For a node in `ends`,
    each kind of end has a separate line; any other node has one line for all ends.
    """
    apart = ends or {}
    own = (figure for lines in apart.values() for _, figure in lines)
    room = max((column_width(text) for text in (*figures, *stops, *own)), default=0)
    open_nodes: list[tuple[int, str, str]] = [(0, "", "")]
    while open_nodes:
        node, first, rest = open_nodes.pop()
        if node:
            side = "U " if tree.speaker(node) == "user" else "S "
            note = texts_note(tree, node)
            texts = f" ({note})" if note else ""
            yield _line(node, "turn", first, side, node_title(tree, node), figures[node], room, width, texts)
        ended = int(tree.stops[node])
        branches = tree.children(node)
        note = notes[node] if notes else ""
        stopped = apart.get(node) or [(endings(tree, node), stops[node] if stops else str(ended))] * bool(ended)
        parts = len(branches) + len(stopped)
        for place, (name, figure) in enumerate(stopped, 1):
            rails = _rails(rest, parts, last=not branches and place == len(stopped))[0]
            yield _line(node, "stop", rails, "■ ", name, figure, room, width)
        if note:
            yield _line(node, "note", rest + ("│ " if branches else ""), "? ", note, "", room, width)
        for place, branch in reversed(list(enumerate(branches))):
            open_nodes.append((branch, *_rails(rest, parts, last=place == len(branches) - 1)))


def _rails(rest: str, parts: int, *, last: bool) -> tuple[str, str]:
    if parts == 1:
        return rest, rest
    return (rest + "└ ", rest + "  ") if last else (rest + "├ ", rest + "│ ")


def _line(
    node: int, kind: str, rails: str, mark: str, words: str, figure: str, room: int, width: int, after: str = ""
) -> OutlineLine:
    most = max(width - room - 2 - column_width(mark) - _NARROWEST, 4)
    if column_width(rails) > most:  # too deep for the width: keep the lines nearest to the words
        rails = "…" + rails[-(most - 1) :]
    free = max(width - column_width(rails) - column_width(mark) - (room + 2 if figure else 0), 1)
    words = shorten(words, max(free - column_width(after), 1)) + after
    if figure:
        words += " " * (free - column_width(words)) + "  " + " " * (room - column_width(figure))
    return OutlineLine(node, kind, rails, mark, words, figure)


def texts_note(tree: ConversationTree, node: int) -> str:
    """Return the number of different texts that were merged into a node, in words. Returns "" for a single text."""
    count = int(tree.texts[node])
    return f"{count}{'+' if count == MOST_TEXTS else ''} texts" if count > 1 else ""


def endings(tree: ConversationTree, node: int) -> str:
    """Describe the outcomes of the conversations that end at a node."""
    counts = [
        (one_line(shown_end(name)), int(count)) for name, count in zip(tree.outcomes, tree.endings[node]) if count
    ]
    if len(counts) == 1 and counts[0][1] == int(tree.stops[node]):
        return counts[0][0]
    known = ", ".join(f"{name} {count}" for name, count in counts)
    return f"ended ({known})" if known else "ended"
