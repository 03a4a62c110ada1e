"""Trees as DOT (Graphviz) and Mermaid text. Whatever a system wrote stays a label and can be nothing else."""

from collections.abc import Sequence

from harvest.tables.drawing.outline import endings, texts_note
from recordings.trees.graph import node_name
from recordings.trees.node_text import cut, node_title, one_line, title
from recordings.trees.tree import ConversationTree

# Columns of a label; what is longer ends in an ellipsis.
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
    """A digraph. captions: for each tree (N,) texts that stand at the edges to its nodes; else visits/visits. said: for
    each tree sentences that stand below its title. notes: for each tree (N,) what stands below the words of a node, ""
    for nothing. legend: sentences that stand once, below all."""
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
    """A flowchart. captions, said, notes, legend: as for `dot`. All but letters, digits and plain marks is written by
    code (#34;)."""
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
    words = cut(_SIDES[tree.speaker(node)] + node_title(tree, node), width)
    return [words + texts + ended, *([f"? {one_line(note)}"] if note else [])]


def _heading(tree: ConversationTree, said: Sequence[Sequence[str]], i: int) -> list[str]:
    return [title(tree), *(map(one_line, said[i]) if said else ())]


def _caption(tree: ConversationTree, node: int, captions: Sequence[Sequence[str]], i: int) -> str:
    return captions[i][node] if captions else f"{tree.visits[node]}/{tree.visits[tree.parent[node]]}"


def _quote(*lines: str) -> str:
    """A quoted string of DOT. A backslash is doubled: a single one would begin an escape (\\N, \\G, \\n). An ampersand
    is written by its code: Graphviz reads entities in labels, and would take `&lt;` for `<`."""
    coded = (line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(coded) + '"'


_PLAIN = frozenset(" .,:/+-…■·–")


def _lines(said: Sequence[str]) -> str:
    return "<br/>".join(map(_code_text, said))


def _code_text(text: str) -> str:
    """Text inside the quotes of a Mermaid label. Codes keep quotes, markup, links and directives from being any."""
    return "".join(one if one.isalnum() or one in _PLAIN else f"#{ord(one)};" for one in text)
