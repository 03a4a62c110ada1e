"""The trees of a run as a study: their structure, long-form rows and printed outline."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.sources import sources
from harvest.studies.trees.figures import TreeFigures
from harvest.studies.trees.tree_scores import TreeScores
from harvest.studies.trees.words import legend, sentences
from harvest.tables.drawing.outline import OutlineLine, outline
from harvest.tables.long_rows import LongRow, interval_cells
from harvest.tables.study_form import StudyForm
from harvest.terminal import wrap_lines
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.log.run_folder import Run
from recordings.trees.document import STUDY_FORMAT, tree_as_json
from recordings.trees.node_text import node_title, tree_title
from recordings.trees.tree import ConversationTree
from scoring.inference.interval import METHOD

_END = "■ end"
_UNSEEN = "Good-Turing"

# Figures of every node, omitted from tables in papers.
_REACH, _NO_END, _ONE_BRANCH = "trials that came here", "end not taken", "unseen branches beside one"
_CONVERSATIONS, _SCORED, _EFFECT = "unseen conversations", "scored trials", "effect on the mean score"
_CONTRIBUTION, _SPREAD, _SETTLED = "part of the mean score", "variance of the score", "variance settled by a turn"
_REST, _UNDECIDED, _WHOLE = "variance not settled", "variance undecided", "mean score of all trials"
DETAILS = (
    *(_REACH, _NO_END, _ONE_BRANCH, _CONVERSATIONS, _SCORED, _EFFECT),
    *(_CONTRIBUTION, _SPREAD, _SETTLED, _REST, _UNDECIDED, _WHOLE),
)


def tree_form(run: Run, trees: Sequence[TreeFigures], *, width: int, turns: int | None = None) -> StudyForm:
    """Return the printable form of a run's trees, for a page of `width` columns. `turns` is the number of printed
    turns; None means all."""
    return StudyForm(
        head={"format": STUDY_FORMAT, "run": str(run.path), "trees": [_tree_head(one) for one in trees]},
        rows=lambda: tree_rows(run_names([run])[0], trees),
        tables=lambda _: outlined_trees(trees, width, turns),
        sources=sources([run]),
        details=DETAILS,
    )


def _tree_head(one: TreeFigures) -> dict[str, Any]:
    """Return the structure of a tree as JSON that can be read back. Each node has the path by which rows name it."""
    value, ways, over_topics = tree_as_json(one.tree), _node_paths(one.tree), one.found.over_topics
    for node, way in zip(value["nodes"], ways, strict=True):
        node["way"] = way
    value["statistics"] = {
        "level": one.found.level,
        "interval": f"{METHOD} topic" if over_topics else one.found.interval,
        "unit": "topics" if over_topics else "trials",
    }
    if one.scores is not None:
        value["scores"] = {"measure": one.scores.measure, "estimate": one.scores.over.estimate}
    return value


def tree_rows(run: str, trees: Sequence[TreeFigures]) -> Iterator[LongRow]:
    """Yield the figures of each tree, node by node in pre-order. A branch has its share of the `trials` that
    reached the node before it, with an interval. The probability of unseen branches follows. If a score was
    requested, its means and its variance follow, too."""
    for one in trees:
        yield from _rows_of_tree(run, one)


def _rows_of_tree(run: str, one: TreeFigures) -> Iterator[LongRow]:
    tree, found, mass = one.tree, one.found, one.found.unseen
    common: dict[str, Any] = {
        "study": "tree",
        "run": run,
        "system": ", ".join(tree.scope.systems),
        "topic": tree.scope.topics[0] if len(tree.scope.topics) == 1 else "",
        "topics": len(tree.scope.topics),
        "estimand": "like-these" if found.over_topics else "these",
    }
    method = f"{METHOD} topic" if found.over_topics else found.interval

    def share(figure: str, way: str, estimate: Any, ends: tuple[Any, Any], n: Any, method: str = method) -> LongRow:
        known = not math.isnan(ends[0])
        return LongRow(
            **common,
            figure=figure,
            unit="share",
            node=way,
            estimate=float(estimate),
            low=float(ends[0]),
            high=float(ends[1]),
            level=found.level if known else None,
            interval=method if known else "",
            trials=int(n),
        )

    ways = _node_paths(tree)
    for node, way in enumerate(ways):
        if node:
            ends = found.low[node], found.high[node]
            yield share("branch", way, found.probability[node], ends, found.n[node])
        stopped = " → ".join(filter(None, (way, _END)))
        ends = found.stop_low[node], found.stop_high[node]
        yield share("end" if tree.stops[node] else _NO_END, stopped, found.stop[node], ends, tree.visits[node])
        if not math.isnan(mass.estimate[node]) or found.branches[node] > 1:
            figure = "unseen branches" if found.branches[node] > 1 else _ONE_BRANCH
            yield share(figure, way, mass.estimate[node], (mass.low[node], mass.high[node]), mass.n[node], _UNSEEN)
        yield share(_REACH, way, found.reach[node], (math.nan, math.nan), tree.n)
    whole = one.paths
    yield share(_CONVERSATIONS, "", whole.estimate.item(), (whole.low.item(), whole.high.item()), whole.n, _UNSEEN)
    if one.scores is not None:
        yield from _score_rows({**common, "measure": one.scores.measure}, one.scores, ways)


def _node_paths(tree: ConversationTree) -> list[str]:
    return [
        " → ".join(f"{tree.speaker(step)[0].upper()} {node_title(tree, step)}" for step in tree.path(node))
        for node in range(len(tree))
    ]


def _score_rows(common: dict[str, Any], scores: TreeScores, ways: Sequence[str]) -> Iterator[LongRow]:
    parts, over = scores.parts, scores.over
    counted = {**common, "estimand": ""}
    for node, way in enumerate(ways):
        here: dict[str, Any] = {**counted, "node": way, "trials": int(scores.counts[node])}
        yield LongRow(**here, figure="mean score", unit="value", estimate=float(parts.mean[node]))
        yield LongRow(**here, figure=_SCORED, unit="share", estimate=float(parts.mass[node]))
        yield LongRow(**here, figure=_CONTRIBUTION, unit="value", estimate=float(parts.contribution[node]))
        yield LongRow(**here, figure=_EFFECT, unit="value", estimate=float(parts.effect[node]))
    counted["trials"] = scores.n
    mean, cells = float(parts.mean[0]), interval_cells(scores.interval, scores.level)
    yield LongRow(**{**common, "trials": scores.n}, figure=_WHOLE, unit="value", estimate=mean, **cells)
    yield LongRow(**counted, figure=_SPREAD, unit="variance", estimate=over.total)
    for turn, settled in enumerate(over.settled.tolist(), 1):
        yield LongRow(**counted, figure=_SETTLED, unit="variance", turn=turn, estimate=settled)
    yield LongRow(**counted, figure=_REST, unit="variance", estimate=over.rest)
    yield LongRow(**counted, figure=_UNDECIDED, unit="variance", estimate=over.undecided)


_LABELS = {USEFUL: "bold green", NOT_USEFUL: "bold yellow", "?": "bold magenta"}


def outlined_trees(trees: Sequence[TreeFigures], width: int, turns: int | None = None) -> Iterator[Text]:
    """Yield the printed lines of all trees, no wider than `width` unless a single word is. Only the first `turns`
    of conversations are printed; None means all. Notes about all trees come last."""
    for one in trees:
        for line in wrap_lines(tree_title(one.tree), width).split("\n"):
            yield _text_line(line, "bold")
        labelled = {key.speaker for key in one.tree.keys if key.name == "label"}
        lines = outline(
            one.tree, one.branches(), stops=one.stops(), ends=one.end_lines(), notes=one.unseen(), width=width
        )
        for part in lines:
            # A note belongs to the branches below its node.
            if turns is None or len(one.tree.path(part.node)) + (part.kind == "note") <= 2 * turns:
                yield _outline_line(part, one.tree, labelled)
        yield _text_line("")
        if turns is not None and any(len(one.tree.path(node)) > 2 * turns for node in range(len(one.tree))):
            yield from _wrapped_lines([f"turns after turn {turns} are not shown"], width)
        yield from _wrapped_lines(sentences(one), width)
        if len(trees) > 1:
            yield _text_line("")
    yield from _wrapped_lines(legend(trees), width)


def wrap_sentences(sentences: Sequence[str], width: int) -> list[str]:
    """Break each sentence into lines, and indent all but the first line."""
    return [line for sentence in sentences for line in wrap_lines(sentence, width, hang=2).split("\n")]


def _wrapped_lines(sentences: Sequence[str], width: int) -> Iterator[Text]:
    return (_text_line(line, "dim") for line in wrap_sentences(sentences, width))


def _text_line(words: str, style: str = "") -> Text:
    return Text(words, style=style, no_wrap=True)


def _outline_line(line: OutlineLine, tree: ConversationTree, labelled: set[str]) -> Text:
    if line.kind != "turn":
        parts = [(line.rails, "dim"), (line.mark + line.words + line.figures, "dim")]
    else:
        speaker = tree.speaker(line.node)
        words = _LABELS.get(tree.symbol_at(line.node).key, "") if speaker in labelled else ""
        mark = "cyan" if speaker == "user" else "blue"
        parts = [(line.rails, "dim"), (line.mark, mark), (line.words, words), (line.figures, "")]
    return Text.assemble(*parts, no_wrap=True)
