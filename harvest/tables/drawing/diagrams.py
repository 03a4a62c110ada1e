"""Trees as DOT (Graphviz) and Mermaid text. Text from systems is escaped and cannot be more than part of a label."""

from collections.abc import Sequence

from harvest.tables.drawing.outline import endings, texts_note
from recordings.trees.graph import node_name
from recordings.trees.node_text import node_title, one_line, shorten, tree_title
from recordings.trees.tree import ConversationTree

# Columns of a label; longer ones end in an ellipsis.
WIDTH = 48

_SIDES = {"": "", "user": "U ", "system": "S "}


def dot(
    trees: Sequence[ConversationTree],
    captions: Sequence[Sequence[str]] = (),
    *,
    said: Sequence[Sequence[str]] = (),
    notes: Sequence[Sequence[str]] = (),
    legend: Sequence[str] = (),
    width: int = WIDTH,
) -> str:
    """Return the trees as a digraph of Graphviz. For each tree, `captions` has the labels of the edges into its N
    nodes, by default visits/visits of the parent. `said` has the sentences below the title of each tree. For each
    tree, `notes` has N lines to add to the texts of nodes, or "". `legend` has the sentences below all trees."""
    lines = ["digraph harvest {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines += [f"  labelloc=b; label={_quote(*map(one_line, legend))};"] if legend else []
    for i, tree in enumerate(trees):
        lines += [f"  subgraph cluster_{i} {{", f"    labelloc=t; label={_quote(*_heading(tree, said, i))};"]
        for node in range(len(tree)):
            shape = ", shape=ellipse" if tree.speaker(node) == "user" else ""
            lines.append(f"    {node_name(i, node)} [label={_quote(*_label(tree, node, width, notes, i))}{shape}];")
        for node in range(1, len(tree)):
            edge = f"{node_name(i, int(tree.parent[node]))} -> {node_name(i, node)}"
            lines.append(f"    {edge} [label={_quote(_caption(tree, node, captions, i))}];")
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(
    trees: Sequence[ConversationTree],
    captions: Sequence[Sequence[str]] = (),
    *,
    said: Sequence[Sequence[str]] = (),
    notes: Sequence[Sequence[str]] = (),
    legend: Sequence[str] = (),
    width: int = WIDTH,
) -> str:
    """Return the trees as a Mermaid flowchart, given the arguments of `dot`. All characters except letters, digits
    and simple punctuation are escaped, as in #34;."""
    lines = ["flowchart TD"]
    for i, tree in enumerate(trees):
        lines.append(f'  subgraph t{i} ["{_lines(_heading(tree, said, i))}"]')
        for node in range(len(tree)):
            left, right = ("([", "])") if tree.speaker(node) == "user" else ("[", "]")
            lines.append(f'    {node_name(i, node)}{left}"{_lines(_label(tree, node, width, notes, i))}"{right}')
        for node in range(1, len(tree)):
            edge = f'-->|"{_code_text(_caption(tree, node, captions, i))}"|'
            lines.append(f"    {node_name(i, int(tree.parent[node]))} {edge} {node_name(i, node)}")
        lines.append("  end")
    lines += [f'  legend["{_lines([one_line(one) for one in legend])}"]'] if legend else []
    return "\n".join(lines) + "\n"


def _label(tree: ConversationTree, node: int, width: int, notes: Sequence[Sequence[str]] = (), i: int = 0) -> list[str]:
    ended = f" ■ {endings(tree, node)} {int(tree.stops[node])}" if tree.stops[node] else ""
    texts = f" ({found})" if node and (found := texts_note(tree, node)) else ""
    note = notes[i][node] if notes else ""
    words = shorten(_SIDES[tree.speaker(node)] + node_title(tree, node), width)
    return [words + texts + ended, *([f"? {one_line(note)}"] if note else [])]


def _heading(tree: ConversationTree, said: Sequence[Sequence[str]], i: int) -> list[str]:
    return [tree_title(tree), *(map(one_line, said[i]) if said else ())]


def _caption(tree: ConversationTree, node: int, captions: Sequence[Sequence[str]], i: int) -> str:
    return captions[i][node] if captions else f"{tree.visits[node]}/{tree.visits[tree.parent[node]]}"


def _quote(*lines: str) -> str:
    r"""Quote lines as one string of DOT.

    Backslashes begin escapes (\N, \G, \n) and are doubled. Ampersands are escaped, because Graphviz would turn `&lt;`
    into `<`.
    """
    coded = (line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(coded) + '"'


_PLAIN = frozenset(" .,:/+-…■·–")


def _lines(said: Sequence[str]) -> str:
    return "<br/>".join(map(_code_text, said))


def _code_text(text: str) -> str:
    """Escape text for a quoted Mermaid label, so that the label contains no quotes, markup, links or directives."""
    return "".join(one if one.isalnum() or one in _PLAIN else f"#{ord(one)};" for one in text)
