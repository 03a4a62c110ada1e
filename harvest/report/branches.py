"""Conversation trees on a page, with the frequency of each turn and links to the conversations."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harvest.report.blocks import Block, details, picture, text
from harvest.report.finding import MOST_SYSTEMS
from harvest.report.flow import Flow, flow_chart
from harvest.report.grid import address
from harvest.studies.scores.gathered import Gathered, recorded_design
from harvest.studies.trees.figures import TreeFigures, tree_figures
from harvest.studies.trees.folded_trees import fold_trees
from harvest.studies.trees.words import legend, sentences
from harvest.tables.drawing.layout import ShownTree, select_branches
from harvest.tables.drawing.outline import endings, texts_note
from protocols.labels import MEANINGS
from recordings.trees.node_text import format_percent, node_title
from recordings.trees.node_text import tree_title as title_of
from topics.counting import pluralize
from topics.errors import InputError

_MOST_TREES, _MOST_NODES, _MOST_BRANCHES, _DEEPEST = 24, 300, 12, 24


@dataclass(frozen=True, slots=True)
class Branches:
    """The section of trees, and the data with which the page finds the conversations of a branch. `blocks` are the
    blocks of the section. `index` has two values for each tree shown: the node at which each conversation ends, and
    the size of the subtree of each node shown."""

    blocks: tuple[Block, ...]
    index: tuple[Mapping[str, Any], ...]


def branches(
    gathered: Gathered,
    places: Mapping[tuple[str, str, int], int],
    level: float,
    marked: Collection[tuple[str, ...]] = (),
) -> Branches:
    """Return the trees of all runs, merged as in `harvest tree`. `places` maps system, topic and trial to the
    position of a conversation in the index. `marked` are paths of turns at which two systems differ."""
    blocks: list[Block] = []
    index: list[Mapping[str, Any]] = []
    flows: list[Flow] = []
    beyond = 0
    for run, names in zip(gathered.runs, gathered.names, strict=True):
        try:
            trees, left = fold_trees(run)
        except InputError as refused:
            blocks.append(text(f"No tree: {refused.what}.", "dim"))
            continue
        blocks += [text(sentence, "dim") for sentence in left]
        for tree in trees:
            if len(index) >= _MOST_TREES:
                beyond += 1
                continue
            design = recorded_design(run, tree.scope.systems)
            figures = tree_figures(tree, level=level, design=design, protocol=run.header.protocol)
            chosen = select_branches(tree, most=_MOST_BRANCHES, nodes=_MOST_NODES)
            words = (figures.words(), figures.stop_words(), figures.unseen(), figures.ends())
            shown = _DrawnTree(figures, chosen, len(index), *words).as_block(names)
            blocks.append(details(f"Every turn of {shown['title']}", [{"tree": shown}]))
            of = ", ".join(names.get(name, name) for name in tree.scope.systems)
            flows.append(Flow(of or shown["title"], figures, chosen, len(index), marked))
            index.append(
                {
                    "ends": {
                        str(places[key]): end
                        for one, end in zip(tree.trials, tree.ends.tolist(), strict=True)
                        if (key := (names[one.key.system], one.key.topic, one.key.trial)) in places
                    },
                    "sizes": {str(node): int(tree.size[node]) for node in chosen.nodes},
                }
            )
    if beyond:
        blocks.append(text(f"{pluralize(beyond, 'further tree')}: harvest tree RUN prints them all.", "warn"))
    blocks += [text(sentence, "dim") for sentence in (legend([one.figures for one in flows]) if flows else ())]
    if 0 < len(flows) <= MOST_SYSTEMS:
        blocks.insert(0, picture(flow_chart(flows)))
    return Branches(tuple(blocks), tuple(index))


@dataclass(frozen=True, slots=True)
class _DrawnTree:
    figures: TreeFigures
    chosen: ShownTree
    number: int
    words: Sequence[tuple[str, str, str]]
    stops: Sequence[tuple[str, str, str]]
    unseen: Sequence[str]
    apart: Mapping[int, Sequence[tuple[str, tuple[str, str, str]]]]

    def as_block(self, names: Mapping[str, str]) -> dict[str, Any]:
        tree = self.figures.tree
        systems = ", ".join(names.get(name, name) for name in tree.scope.systems)
        title = title_of(tree)
        return {
            "title": title if systems == ", ".join(tree.scope.systems) else f"{systems}: {title}",
            "segments": [self.segment(branch, 1) for branch in self.chosen.branches[0]],
            "below": sentences(self.figures),
        }

    def segment(self, node: int, depth: int) -> dict[str, Any]:
        """Return a chain of turns without a branch, the conversations that end after the chain, and its branches."""
        tree, chosen = self.figures.tree, self.chosen
        chain = [node]
        while len(chosen.branches[chain[-1]]) == 1 and not tree.stops[chain[-1]] and chain[-1] not in chosen.folded:
            chain.append(chosen.branches[chain[-1]][0])
        last = chain[-1]
        deep = depth >= _DEEPEST and bool(chosen.branches[last])
        return {
            "turns": [self.turn(one) for one in chain],
            "ends": list(self.ends(last)),
            "branches": [] if deep else [self.segment(one, depth + 1) for one in chosen.branches[last]],
            "deeper": "It goes on, deeper than is shown here: harvest tree RUN prints it." if deep else "",
        }

    def turn(self, node: int) -> dict[str, Any]:
        tree = self.figures.tree
        symbol = tree.symbol_at(node)
        labelled = any(key.speaker == symbol.speaker and key.name == "label" for key in tree.keys)
        share, counts, interval = self.words[node]
        return {
            "speaker": symbol.speaker,
            "label": symbol.key if labelled else "",
            "words": MEANINGS.get(symbol.key, "not labelled") if labelled else node_title(tree, node),
            "note": texts_note(tree, node),
            "share": share,
            "counts": counts,
            "interval": interval,
            "portion": float(self.figures.found.probability[node]),
            "href": address(tree=self.number, node=node),
            "n": int(tree.visits[node]),
        }

    def ends(self, node: int) -> Iterator[dict[str, str]]:
        tree = self.figures.tree
        if tree.stops[node]:
            apart = self.apart.get(node) or [(endings(tree, node), self.stops[node])]
            for name, words in apart:
                said = " ".join(("■", name, *words))
                only = name if len(apart) > 1 else None
                yield {"text": said.strip(), "href": address(tree=self.number, node=node, end=1, outcome=only)}
        if self.unseen[node]:
            yield {"text": f"? {self.unseen[node]}", "href": ""}
        if node in self.chosen.folded:
            one = self.chosen.folded[node]
            share = format_percent(one.visits / int(tree.visits[node]))
            more = "other branch" if one.drawn else "branch"
            yield {"text": f"+ {pluralize(one.branches, more)}, together {share} ({one.visits:,})", "href": ""}
