"""Sentences about a single tree, and about all trees that are printed together."""

from collections.abc import Sequence

from harvest.studies.trees.figures import TreeFigures
from harvest.tables.drawing.tree_drawing import TreeDrawing
from recordings.trees.node_text import one_line, scope_phrases
from recordings.trees.tree import ConversationTree
from scoring.inference.interval import METHOD
from scoring.inference.proportions import FEW
from topics.counting import pluralize


def sentences(figures: TreeFigures) -> list[str]:
    """Describe a tree's score and the probability of conversations that no trial took."""
    return [
        *(figures.scores.sentences() if figures.scores is not None else ()),
        *filter(None, (figures.unseen_paths(),)),
    ]


def legend(figures: Sequence[TreeFigures]) -> list[str]:
    """Explain the figures of trees, and why turns were merged."""
    said = [
        f"U user, S system, ■ end; taken/came here, share and its {intervals(one)}"
        + (f"; then the mean {one.scores.measure} of the trials that have one{_partial_n([one])}" if one.scores else "")
        for one in figures
    ]
    said += [*_unseen_notes(figures), *_share_notes(figures)]
    if any(one.found.over_topics for one in figures):
        said.append(
            "intervals of shares differ slightly from those of harvest score: here the unseen topic counts as a whole "
            "topic, there as three quarters of one"
        )
    return list(dict.fromkeys(said))


def _partial_n(figures: Sequence[TreeFigures]) -> str:
    partial = any(any(one.scores.partial()) for one in figures if one.scores is not None)
    return ", and n, if not all of them have one" if partial else ""


def _unseen_notes(figures: Sequence[TreeFigures]) -> list[str]:
    shown = [one for one in figures if any(one.unseen())]
    if not shown:
        return []
    said = "another branch: unseen branches (Good-Turing)"
    if any(one.found.over_topics for one in shown):
        said += "; over several topics, what a trial of one more topic would do"
    return [f"{said}; shown only where trials diverged and may go another way; of one branch alone, see its interval"]


def intervals(figures: TreeFigures) -> str:
    """Describe a tree's intervals: their level, and their unit or method."""
    kind = "Wilson" if figures.found.interval == "wilson" else "Jeffreys"
    kind = "over topics" if figures.found.over_topics else f"{kind}; exact for fewer than {FEW} trials"
    return f"{100 * figures.found.level:g}% interval in percent ({kind})"


def _share_notes(figures: Sequence[TreeFigures]) -> list[str]:
    pooled = any(one.found.over_topics for one in figures)
    certain = any(1 in one.closed.values() for one in figures)
    said = "several topics are pooled, and trials of one topic are alike: the intervals hold for topics like these"
    return [
        *([f"{said} ({METHOD} topic)"] if pooled else []),
        *(["no interval: the protocol leaves no choice there"] if certain else []),
        *dict.fromkeys(one.note for one in figures if one.note),
        *(
            f"{key.speaker} turns are one branch by {key.name} ({key.version}): {key.reason}"
            for one in figures
            for key in one.tree.keys
        ),
    ]


def tree_drawings(
    figures: Sequence[TreeFigures], protocol: str = "", *, least: float = 0.0, most: int = 12
) -> tuple[list[TreeDrawing], list[str]]:
    """Return the trees to draw, and the legend of the picture. `protocol` is the protocol's name, or ""."""
    drawn = [_tree_drawing(one, protocol, least, most) for one in figures]
    said = [
        f"On an edge: the share of the trials that came here, taken/came here, and below it its {intervals(one)}"
        + ("." if one.found.over_topics else "; trials are independent.")
        for one in figures
    ]
    measures = dict.fromkeys(one.scores.measure for one in figures if one.scores is not None)
    said += [
        f"In a box: the mean {measure} of the trials that came this way and have one{_partial_n(figures)}."
        for measure in measures
    ]
    folded = any(plate.chosen.folded for plate in drawn)
    if folded:
        branches = pluralize(most, "branch")
        limits = [f"at most {branches} of a turn {'is' if most == 1 else 'are'} drawn, and 400 turns of a tree"]
        limits += [f"turns that less than {100 * least:g}% of a tree's trials came to are not"] if least else []
        said.append(f"Numbers after “+” are omitted branches: {'; '.join(limits)}; ends are always drawn.")
    shared = (f"{line[0].upper()}{line[1:]}." for line in (*_unseen_notes(figures), *_share_notes(figures)))
    return drawn, list(dict.fromkeys([*said, *shared]))


def _tree_drawing(one: TreeFigures, protocol: str, least: float, most: int) -> TreeDrawing:
    tree = one.tree
    named = (_list_names(tree.scope.systems, 3), _list_names(tree.scope.topics, 3))
    return TreeDrawing(
        tree,
        " · ".join(filter(None, named)) or "Trials of no named system",
        [_protocol_text(tree, protocol), *sentences(one)],
        one.words(),
        one.stop_words(),
        one.unseen(),
        one.notes(),
        least,
        most,
        one.ends(),
    )


def _list_names(names: Sequence[str], most: int) -> str:
    shown = ", ".join(map(one_line, names[:most]))
    return f"{shown}, … ({len(names)})" if len(names) > most else shown


def _protocol_text(tree: ConversationTree, protocol: str) -> str:
    hashes = ", ".join(one[:12] for one in tree.scope.protocols if one)
    known = " ".join(part for part in (one_line(protocol), f"({hashes})" if hashes else "") if part)
    parts = [f"protocol {known}" if known else "imported, no protocol", *scope_phrases(tree)]
    return " · ".join(parts)
