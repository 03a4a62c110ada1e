"""Trees as indented text, with colours for a terminal."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.text import Text

from harvest.studies.trees.figures import TreeFigures
from harvest.studies.trees.words import legend, sentences
from harvest.tables.drawing.outline import OutlineLine, outline
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.trees.node_text import title
from recordings.trees.tree import ConversationTree

_LABELS = {USEFUL: "bold green", NOT_USEFUL: "bold yellow", "?": "bold magenta"}


def outlined_trees(trees: Sequence[TreeFigures], width: int, turns: int | None = None) -> Iterator[Text]:
    """Yield the lines of all trees, none of them wider than `width` if its words can be broken.

    turns: show only the first turns of conversations. What holds for all trees is said once, below the last of them.
    """
    for one in trees:
        for line in wrap(title(one.tree), width):
            yield _line(line, "bold")
        labelled = {key.speaker for key in one.tree.keys if key.name == "label"}
        lines = outline(
            one.tree, one.branches(), stops=one.stops(), ends=one.end_lines(), notes=one.unseen(), width=width
        )
        for part in lines:
            # A note belongs to the branches below its node.
            if turns is None or len(one.tree.path(part.node)) + (part.kind == "note") <= 2 * turns:
                yield _outline_line(part, one.tree, labelled)
        yield _line("")
        if turns is not None and any(len(one.tree.path(node)) > 2 * turns for node in range(len(one.tree))):
            yield from _wrapped([f"turns after turn {turns} are not shown"], width)
        yield from _wrapped(sentences(one), width)
        if len(trees) > 1:
            yield _line("")
    yield from _wrapped(legend(trees), width)


def wrap_sentences(sentences: Sequence[str], width: int) -> list[str]:
    """Break each sentence into lines, the second and later ones indented."""
    return [line for sentence in sentences for line in wrap(sentence, width, subsequent_indent="  ")]


def _wrapped(sentences: Sequence[str], width: int) -> Iterator[Text]:
    return (_line(line, "dim") for line in wrap_sentences(sentences, width))


def _line(words: str, style: str = "") -> Text:
    return Text(words, style=style, no_wrap=True)


def _outline_line(line: OutlineLine, tree: ConversationTree, labelled: set[str]) -> Text:
    """A line in colours, which only repeat its letters."""
    if line.kind != "turn":
        parts = [(line.rails, "dim"), (line.mark + line.words + line.figures, "dim")]
    else:
        speaker = tree.speaker(line.node)
        words = _LABELS.get(tree.symbol_at(line.node).key, "") if speaker in labelled else ""
        mark = "cyan" if speaker == "user" else "blue"
        parts = [(line.rails, "dim"), (line.mark, mark), (line.words, words), (line.figures, "")]
    return Text.assemble(*parts, no_wrap=True)
