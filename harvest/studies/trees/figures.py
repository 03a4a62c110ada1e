"""Statistics of the branches of a tree, as columns for files and as printed text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any

from harvest.studies.trees.tree_scores import TreeScores
from recordings.conversations.conversation import TrialKey
from recordings.conversations.endings import shown_end
from recordings.trees.node_text import format_percent, one_line, shorten
from recordings.trees.tree import ConversationTree
from scoring.inference.design import INDEPENDENT, Design, too_few_sessions_reason
from scoring.inference.interval import too_few_reason
from scoring.inference.unseen import UnseenMass
from scoring.stochastic.transitions import (
    EndShares,
    IntervalName,
    Transitions,
    end_shares,
    transitions,
    unseen_paths,
)
from topics.decimals import decimal

Words = tuple[str, str, str]

_LONGEST_END = 80  # columns: an import may give any reason


@dataclass(frozen=True, slots=True, eq=False)
class TreeFigures:
    """A tree with its transition probabilities. N is the number of its nodes. `paths` is the estimated probability of
    conversations that no trial took. `scores` are the scores of the trials, if requested. `named` has how often each
    kind of ending was seen, or None unless the ending of every trial is known. If trials depend on each other, `note`
    explains why shares have no interval or a special interval; otherwise, it is "". `closed` has the nodes after which
    trials took every way that the protocol allows, with the number of ways (see `closed_nodes`). After such a node, no
    text suggests another branch, and a branch that had to be taken has no interval."""

    tree: ConversationTree
    found: Transitions
    paths: UnseenMass
    scores: TreeScores | None = None
    named: EndShares | None = None
    note: str = ""
    closed: Mapping[int, int] = field(default_factory=dict)

    def branches(self) -> tuple[str, ...]:
        """Return, for each node, the share of the branch to the node, such as `12/20 60% [39, 78]`, and the mean
        score."""
        tree, found = self.tree, self.found
        low, high = self._without_certain(found.low, tree.parent), self._without_certain(found.high, tree.parent)
        shares = self._shares(tree.visits, found.n, found.probability, low, high)
        return tuple(f"{share}{mean}" for share, mean in zip(shares, self._score_columns(), strict=True))

    def stops(self) -> tuple[str, ...]:
        """Return, for each node, the share of conversations that end there, in the format of `branches`."""
        tree, found = self.tree, self.found
        nodes = range(len(tree))
        low, high = self._without_certain(found.stop_low, nodes), self._without_certain(found.stop_high, nodes)
        shares = self._shares(tree.stops, tree.visits, found.stop, low, high)
        return tuple(f"{share}{' ' * len(mean)}" for share, mean in zip(shares, self._score_columns(), strict=True))

    def _score_columns(self) -> tuple[str, ...]:
        """Return, for each node, its mean score such as ` .4721 n=75` in columns of equal width, or ""."""
        if self.scores is None:
            return ("",) * len(self.tree)
        columns = [column for column in (self.scores.means(), self.scores.partial()) if any(column)]
        rooms = [max(map(len, column)) for column in columns]
        return tuple(
            "".join(f" {text:>{room}}" for text, room in zip(texts, rooms, strict=True))
            for texts in zip(*columns, strict=True)
        )

    def words(self) -> tuple[tuple[str, str, str], ...]:
        """Return, for each node, the share, the counts `12/20` and the interval of the branch to the node."""
        tree, found = self.tree, self.found
        low, high = self._without_certain(found.low, tree.parent), self._without_certain(found.high, tree.parent)
        return _share_words(tree.visits, found.n, found.probability, low, high)

    def stop_words(self) -> tuple[tuple[str, str, str], ...]:
        """Return, for each node, the share, the counts `12/20` and the interval of conversations that end there."""
        tree, found = self.tree, self.found
        nodes = range(len(tree))
        low, high = self._without_certain(found.stop_low, nodes), self._without_certain(found.stop_high, nodes)
        return _share_words(tree.stops, tree.visits, found.stop, low, high)

    def _without_certain(self, ends: Any, nodes: Any) -> Any:
        """Replace the ends of intervals by NaN where the protocol allows one way only. `nodes` (N,) are the nodes at
        which the ways part."""
        return [nan if self.closed.get(int(node)) == 1 else end for node, end in zip(nodes, ends.tolist(), strict=True)]

    def _shares(self, k: Any, n: Any, share: Any, low: Any, high: Any) -> tuple[str, ...]:
        width = 2 * len(str(self.tree.n)) + 1
        none = " " * len("[  0, 100]") if self._has_intervals() else ""  # endings stand in the columns of the branches
        found = []
        for count, total, value, bottom, top in zip(k, n, share, low, high):
            interval = f"[{100 * bottom:3.0f},{100 * top:4.0f}]" if not isnan(bottom) else none
            found.append(f"{f'{count}/{total}':>{width}} {format_percent(value):>4} {interval}")
        return tuple(found)

    def _has_intervals(self) -> bool:
        found, nodes = self.found, range(len(self.tree))
        ends = [*self._without_certain(found.low, self.tree.parent), *self._without_certain(found.stop_low, nodes)]
        ends += self._without_certain(self.named.low, self.named.ends.node) if self.named is not None else []
        return not all(map(isnan, ends))

    def captions(self) -> tuple[str, ...]:
        """Return, for each node, a short label for the edge to the node in a diagram, with the mean score and
        measure."""
        measure = self.scores.measure if self.scores is not None else ""
        laid = (" ".join(one.split()) for one in self._score_columns())
        return tuple(
            f"{counts} {share} {interval}".rstrip() + (f", {measure} {mean}" if mean else "")
            for (share, counts, interval), mean in zip(self.words(), laid, strict=True)
        )

    def notes(self) -> tuple[str, ...]:
        """Return, for each node, its mean score such as `mean .4721 n=75` for its box in a diagram, or ()."""
        if self.scores is None:
            return ()
        pairs = zip(self.scores.means(), self.scores.partial(), strict=True)
        return tuple(f"{f'mean {mean}' if mean else 'no mean'} {n}".rstrip() for mean, n in pairs)

    def ends(self) -> dict[int, list[tuple[str, Words]]]:
        """Return the kinds of ending at each node, with their share, counts `12/20` and interval. Returns {} unless
        the ending of every trial is known."""
        found = dict[int, list[tuple[str, Words]]]()
        if self.named is not None:
            one = self.named
            nodes = one.ends.node
            low, high = self._without_certain(one.low, nodes), self._without_certain(one.high, nodes)
            words = _share_words(one.k, one.n, one.k / one.n, low, high)
            for node, name, own in zip(one.ends.node.tolist(), one.ends.name, words, strict=True):
                found.setdefault(node, []).append((shorten(one_line(shown_end(name)), _LONGEST_END), own))
        return found

    def end_lines(self) -> dict[int, list[tuple[str, str]]]:
        """Return the kinds of ending at each node, with their shares in the format of `stops`."""
        found = dict[int, list[tuple[str, str]]]()
        if self.named is not None:
            one, blank = self.named, " " * max(map(len, self._score_columns()), default=0)
            nodes = one.ends.node
            low, high = self._without_certain(one.low, nodes), self._without_certain(one.high, nodes)
            shares = self._shares(one.k, one.n, one.k / one.n, low, high)
            for node, name, share in zip(one.ends.node.tolist(), one.ends.name, shares, strict=True):
                found.setdefault(node, []).append((shorten(one_line(shown_end(name)), _LONGEST_END), f"{share}{blank}"))
        return found

    def unseen(self) -> tuple[str, ...]:
        """Return, for each node, the estimated probability that the next trial does something new there, as text.

        Only nodes at which trials diverged have an estimate: nodes with several branches, or with one branch and an
        ending. The text is "" at leaves, after a single trial, and at nodes with only one branch. For the latter,
        the interval of the branch gives the same information.
        """
        mass = self.found.unseen
        said = []
        for node in range(len(self.tree)):
            branches, ended = int(self.found.branches[node]), int(self.tree.stops[node])
            tell = node not in self.closed and (branches > 1 or (branches == 1 and ended > 0))
            said.append(_unseen_words(mass, node, "another branch", self.found.over_topics) if tell else "")
        return tuple(said)

    def unseen_paths(self) -> str:
        """Return the estimated probability of a new conversation as text, or "" if it is undefined or the protocol
        allows no other conversation."""
        if len(self.closed) == len(self.tree):
            return ""
        return _unseen_words(self.paths, (), "another conversation", self.found.over_topics)

    def columns(self) -> dict[str, Sequence[object]]:
        """Return columns for the edges of a graph, each with a value for every node."""
        found = self.found
        return {
            "low": found.low.tolist(),
            "high": found.high.tolist(),
            "reach": found.reach.tolist(),
            "stop": found.stop.tolist(),
            "stop_low": found.stop_low.tolist(),
            "stop_high": found.stop_high.tolist(),
            "unseen": found.unseen.estimate.tolist(),
            "unseen_low": found.unseen.low.tolist(),
            "unseen_high": found.unseen.high.tolist(),
            "unseen_n": found.unseen.n.tolist(),
            **(self.scores.columns() if self.scores is not None else {}),
        }


def tree_figures(
    tree: ConversationTree,
    *,
    level: float = 0.95,
    interval: IntervalName = "wilson",
    scores: TreeScores | None = None,
    design: Design = INDEPENDENT,
    protocol: object = None,
) -> TreeFigures:
    """Return the statistics of a tree. `design` describes how its trials depend on each other, and `protocol` is the
    protocol in the header of the run, if it is known. Raises InputError as
    `scoring.stochastic.transitions.transitions` does."""
    names = list(dict.fromkeys(one.key.topic for one in tree.trials))
    clusters, of = design.rows(names)
    place = dict(zip(names, of.tolist(), strict=True))
    topics = [place[one.key.topic] for one in tree.trials] or None
    sessions, note = None, ""
    if len(names) > 1 and len(clusters) == 1:
        note = f"no interval of a share: {too_few_reason(1, 'cluster')}"
    elif len(names) > 1 and design.continued:
        numbers = {key: number for number, key in enumerate(dict.fromkeys(_session(one.key) for one in tree.trials))}
        sessions = [numbers[_session(one.key)] for one in tree.trials]
        why = too_few_sessions_reason(len(numbers))
        note = f"no interval of a share: {why}" if why else "sessions go on from topic to topic, and are taken whole"
        sessions = None if why else sessions
    withheld = note.startswith("no interval")
    found = transitions(tree, level=level, interval=interval, topics=topics, sessions=sessions, withheld=withheld)
    paths = unseen_paths(tree, level=level, topics=topics)
    if note:  # Good-Turing assumes independent trials or topics
        found, paths = replace(found, unseen=found.unseen.withhold_estimate()), paths.withhold_estimate()
        note += "; how much is unseen is not estimated"
    ended = tree.end_names()
    named = end_shares(tree, ended, found, topics, sessions, withheld=withheld) if all(ended) else None
    return TreeFigures(tree, found, paths, scores, named, note, closed_nodes(tree, protocol))


def _session(key: TrialKey) -> tuple[str, int]:
    """Return the session of a trial. If sessions continue, session i has the i-th trial of every topic."""
    return key.system, key.trial


def _share_words(k: Any, n: Any, share: Any, low: Any, high: Any) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (
            format_percent(value),
            f"{count}/{total}",
            "" if isnan(bottom) else f"[{decimal(100 * bottom, 0)}, {decimal(100 * top, 0)}]",
        )
        for count, total, value, bottom, top in zip(k, n, share, low, high, strict=True)
    )


def _unseen_words(mass: UnseenMass, at: Any, what: str, over_topics: bool) -> str:
    estimate, low, high = (float(part[at]) for part in (mass.estimate, mass.low, mass.high))
    if isnan(estimate):
        return ""
    once, n = int(mass.once[at]), int(mass.n[at])
    counted = f"{once} of {n} in one topic alone" if over_topics else f"{once} seen once, n={n}"
    return f"{what}: about {format_percent(estimate)} [{decimal(100 * low, 0)}, {decimal(100 * high, 0)}] ({counted})"


_STOP = ""  # the way that ends the conversation


def closed_nodes(tree: ConversationTree, protocol: object) -> dict[int, int]:
    """Return, for each node after which trials took every way that the protocol allows, the number of these ways.

    `protocol` is the protocol of a run as its header records it. Only trees that merge user turns by state and answers
    by label have such nodes, and only states in which the protocol itself speaks. A node is left out if trials went a
    way that the protocol does not know, for example because the system ended the conversation.
    """
    states = protocol.get("states") if isinstance(protocol, dict) else None
    keys = {key.speaker: key.name for key in tree.keys}
    if not isinstance(protocol, dict) or not isinstance(states, dict) or keys != {"user": "state", "system": "label"}:
        return {}
    limit = protocol.get("turn_limit")
    found = {}
    for node in range(len(tree)):
        seen = {tree.symbol_at(child).key for child in tree.children(node)}
        seen |= {_STOP} if tree.stops[node] else set()
        if seen and seen == _ways(tree, node, protocol, states, limit if isinstance(limit, int) else None):
            found[node] = len(seen)
    return found


def _ways(
    tree: ConversationTree, node: int, protocol: Mapping[str, Any], states: Mapping[str, Any], limit: int | None
) -> set[str] | None:
    """Return the keys of the possible next turns, with `_STOP` for an end, or None if they are not known."""
    if node == 0:
        return _entered({str(protocol.get("start"))}, states)
    if tree.speaker(node) == "user":
        return {str(edge.get("label")) for edge in _edges(states, tree.symbol_at(node).key)} or None
    asked, label = int(tree.parent[node]), tree.symbol_at(node).key
    if tree.speaker(asked) != "user":
        return None
    if limit is not None and sum(tree.speaker(one) == "user" for one in tree.path(node)) == limit:
        return {_STOP}
    edges = [edge for edge in _edges(states, tree.symbol_at(asked).key) if edge.get("label") == label]
    targets = {str(edge["go"]) if "go" in edge else _STOP for edge in edges}
    return _entered(targets, states) if targets else None


def _entered(targets: set[str], states: Mapping[str, Any]) -> set[str] | None:
    """Return the targets, or None if the protocol does not speak in one of them itself."""
    scripted = all(isinstance(states.get(one), dict) and "say" in states[one] for one in targets - {_STOP})
    return targets if scripted else None


def _edges(states: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the edges of a state, or [] unless the last one takes every answer."""
    state = states.get(name)
    edges = state.get("edges") if isinstance(state, dict) else None
    known = isinstance(edges, list) and bool(edges) and isinstance(edges[-1], dict) and "otherwise" in edges[-1]
    return edges if known and edges is not None else []
