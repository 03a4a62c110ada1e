"""The branches of trees in the long form of all studies: of each turn how often it came next, and of each end."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from harvest.studies.trees.figures import TreeFigures
from harvest.tables.long_rows import LongRow
from recordings.trees.node_text import node_title
from recordings.trees.tree import ConversationTree
from scoring.inference.interval import METHOD

_END = "■ end"
_UNSEEN = "Good-Turing"


def tree_rows(run: str, trees: Sequence[TreeFigures]) -> Iterator[LongRow]:
    """In the order of the trees. Of a branch: the share of the trials that came to where it leaves, with its interval;
    trials: how many came. The mass of branches never seen, and the mean score where one was asked for, are rows, too.
    """
    for one in trees:
        yield from _rows(run, one)


def _rows(run: str, one: TreeFigures) -> Iterator[LongRow]:
    tree, found = one.tree, one.found
    common: dict[str, Any] = {
        "study": "tree",
        "run": run,
        "system": ", ".join(tree.scope.systems),
        "topic": tree.scope.topics[0] if len(tree.scope.topics) == 1 else "",
        "topics": len(tree.scope.topics),
        "estimand": "like-these" if found.over_topics else "these",
    }
    method = f"{METHOD} topic" if found.over_topics else found.interval
    ways = {node: " → ".join(_turn(tree, step) for step in tree.path(node)) for node in range(len(tree))}
    for node in range(len(tree)):
        if node:
            edge = float(found.probability[node]), float(found.low[node]), float(found.high[node])
            yield _share(common, "branch", ways[node], edge, found.n[node], found.level, method)
        if tree.stops[node]:
            way = " → ".join(filter(None, (ways[node], _END)))
            end = float(found.stop[node]), float(found.stop_low[node]), float(found.stop_high[node])
            yield _share(common, "end", way, end, tree.visits[node], found.level, method)
        if found.branches[node] > 1:
            mass = found.unseen
            unseen = float(mass.estimate[node]), float(mass.low[node]), float(mass.high[node])
            yield _share(common, "unseen branches", ways[node], unseen, mass.n[node], found.level, _UNSEEN)
    yield from _scores(common, one, ways)


def _turn(tree: ConversationTree, node: int) -> str:
    return f"{tree.speaker(node)[0].upper()} {node_title(tree, node)}"


def _share(
    common: dict[str, Any],
    figure: str,
    way: str,
    ends: tuple[float, float, float],
    n: Any,
    level: float,
    method: str,
) -> LongRow:
    """ends: the estimate, low and high."""
    estimate, low, high = ends
    known = not math.isnan(low)
    return LongRow(
        **common,
        figure=figure,
        unit="share",
        node=way,
        estimate=estimate,
        low=low,
        high=high,
        level=level if known else None,
        interval=method if known else "",
        trials=int(n),
    )


def _scores(common: dict[str, Any], one: TreeFigures, ways: dict[int, str]) -> Iterator[LongRow]:
    if one.scores is None:
        return
    means, counts = one.scores.parts.mean.tolist(), one.scores.counts.tolist()
    for node, (mean, count) in enumerate(zip(means, counts, strict=True)):
        yield LongRow(
            **{**common, "estimand": ""},
            figure="mean score",
            unit="value",
            measure=one.scores.measure,
            node=ways[node],
            estimate=mean,
            trials=count,
        )
