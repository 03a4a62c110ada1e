"""Statistics of the branches of a tree, as columns for files and as words for people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from harvest.studies.trees.tree_scores import TreeScores
from recordings.conversations.conversation import TrialKey
from recordings.trees.node_text import cut, one_line, percent
from recordings.trees.tree import ConversationTree
from scoring.inference.design import INDEPENDENT, Design, too_few_sessions
from scoring.inference.interval import too_few
from scoring.inference.unseen import Unseen
from scoring.stochastic.transitions import (
    EndShares,
    IntervalName,
    Transitions,
    end_shares,
    transitions,
    unseen_paths,
)

Words = tuple[str, str, str]

_LONGEST_END = 80  # columns: an import may give any reason


@dataclass(frozen=True, slots=True, eq=False)
class TreeFigures:
    """A tree with its transition probabilities.

    `paths` is the probability of conversations that no trial took; `scores` are those of the trials, if requested.
    `named` is how often each kind of end was seen, None unless the end of every trial is known. `note` describes
    dependence between the trials, because of which shares have no interval; "" without any.
    """

    tree: ConversationTree
    found: Transitions
    paths: Unseen
    scores: TreeScores | None = None
    named: EndShares | None = None
    note: str = ""

    def branches(self) -> tuple[str, ...]:
        """(N,) `12/20 60% [39, 78]`: the share of the branch into each node, and the mean score there."""
        tree, found = self.tree, self.found
        shares = self._shares(tree.visits, found.n, found.probability, found.low, found.high)
        return tuple(f"{share}{mean}" for share, mean in zip(shares, self._score_columns(), strict=True))

    def stops(self) -> tuple[str, ...]:
        """(N,) The share of conversations that end at each node, as in `branches`."""
        tree, found = self.tree, self.found
        shares = self._shares(tree.stops, tree.visits, found.stop, found.stop_low, found.stop_high)
        return tuple(f"{share}{' ' * len(mean)}" for share, mean in zip(shares, self._score_columns(), strict=True))

    def _score_columns(self) -> tuple[str, ...]:
        """(N,) ` .4721 n=75`: the mean score at each node in columns of equal width; "" without scores."""
        if self.scores is None:
            return ("",) * len(self.tree)
        columns = [column for column in (self.scores.means(), self.scores.partial()) if any(column)]
        rooms = [max(map(len, column)) for column in columns]
        return tuple(
            "".join(f" {text:>{room}}" for text, room in zip(texts, rooms, strict=True))
            for texts in zip(*columns, strict=True)
        )

    def words(self) -> tuple[tuple[str, str, str], ...]:
        """(N,) Share, `12/20` and interval of the branch into each node, as separate texts."""
        tree, found = self.tree, self.found
        return _share_words(tree.visits, found.n, found.probability, found.low, found.high)

    def stop_words(self) -> tuple[tuple[str, str, str], ...]:
        """(N,) Share, `12/20` and interval of ending at each node, as separate texts."""
        tree, found = self.tree, self.found
        return _share_words(tree.stops, tree.visits, found.stop, found.stop_low, found.stop_high)

    def _shares(self, k: Any, n: Any, share: Any, low: Any, high: Any) -> tuple[str, ...]:
        width = 2 * len(str(self.tree.n)) + 1
        found = []
        for count, total, value, bottom, top in zip(k, n, share, low, high):
            interval = f"[{100 * bottom:3.0f},{100 * top:4.0f}]" if not isnan(bottom) else ""
            found.append(f"{f'{count}/{total}':>{width}} {percent(value):>4} {interval}")
        return tuple(found)

    def captions(self) -> tuple[str, ...]:
        """(N,) Short labels for the edges of a diagram, with the mean score under its name."""
        measure = self.scores.measure if self.scores is not None else ""
        laid = (" ".join(one.split()) for one in self._score_columns())
        return tuple(
            f"{counts} {share} {interval}".rstrip() + (f", {measure} {mean}" if mean else "")
            for (share, counts, interval), mean in zip(self.words(), laid, strict=True)
        )

    def notes(self) -> tuple[str, ...]:
        """(N,) `mean .4721 n=75` for the box of a node; () without scores."""
        if self.scores is None:
            return ()
        pairs = zip(self.scores.means(), self.scores.partial(), strict=True)
        return tuple(f"{f'mean {mean}' if mean else 'no mean'} {n}".rstrip() for mean, n in pairs)

    def ends(self) -> dict[int, list[tuple[str, Words]]]:
        """Return the kinds of end at each node with share, `12/20` and interval; empty unless all ends are known."""
        found = dict[int, list[tuple[str, Words]]]()
        if self.named is not None:
            one = self.named
            words = _share_words(one.k, one.n, one.k / one.n, one.low, one.high)
            for node, name, own in zip(one.ends.node.tolist(), one.ends.name, words, strict=True):
                found.setdefault(node, []).append((cut(one_line(name), _LONGEST_END), own))
        return found

    def end_lines(self) -> dict[int, list[tuple[str, str]]]:
        """Return the kinds of end at each node, with figures in the form of `stops`."""
        found = dict[int, list[tuple[str, str]]]()
        if self.named is not None:
            one, blank = self.named, " " * max(map(len, self._score_columns()), default=0)
            shares = self._shares(one.k, one.n, one.k / one.n, one.low, one.high)
            for node, name, share in zip(one.ends.node.tolist(), one.ends.name, shares, strict=True):
                found.setdefault(node, []).append((cut(one_line(name), _LONGEST_END), f"{share}{blank}"))
        return found

    def unseen(self) -> tuple[str, ...]:
        """(N,) The estimated probability that the next trial does something new at a node, in words. Only nodes where
        trials diverged have one: those with several branches, or with one branch and an end. It is "" at other nodes
        (the interval of a single branch says as much), at leaves, and after a single trial."""
        mass = self.found.unseen
        said = []
        for node in range(len(self.tree)):
            branches, ended = int(self.found.branches[node]), int(self.tree.stops[node])
            tell = branches > 1 or (branches == 1 and ended > 0)
            said.append(_unseen_words(mass, node, "another branch", self.found.over_topics) if tell else "")
        return tuple(said)

    def unseen_paths(self) -> str:
        """Return the estimated probability of a new conversation, in words; "" if it is undefined."""
        return _unseen_words(self.paths, (), "another conversation", self.found.over_topics)

    def columns(self) -> dict[str, Sequence[object]]:
        """Return columns (N,) for the edges of a graph."""
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
) -> TreeFigures:
    """Return the figures of a tree. `design` says how its trials depend on each other. Raises InputError as
    `scoring.stochastic.transitions.transitions` does."""
    names = list(dict.fromkeys(one.key.topic for one in tree.trials))
    clusters, of = design.rows(names)
    place = dict(zip(names, of.tolist(), strict=True))
    topics = [place[one.key.topic] for one in tree.trials] or None
    sessions, note = None, ""
    if len(names) > 1 and len(clusters) == 1:
        note = f"no interval of a share: {too_few(1, 'cluster')}"
    elif len(names) > 1 and design.continued:
        numbers = {key: number for number, key in enumerate(dict.fromkeys(_session(one.key) for one in tree.trials))}
        sessions = [numbers[_session(one.key)] for one in tree.trials]
        why = too_few_sessions(len(numbers))
        note = f"no interval of a share: {why}" if why else "sessions go on from topic to topic, and are taken whole"
        sessions = None if why else sessions
    withheld = note.startswith("no interval")
    found = transitions(tree, level=level, interval=interval, topics=topics, sessions=sessions, withheld=withheld)
    paths = unseen_paths(tree, level=level, topics=topics)
    if note:  # Good-Turing assumes independent trials or topics
        found, paths = replace(found, unseen=found.unseen.withheld()), paths.withheld()
        note += "; how much is unseen is not estimated"
    ended = tree.end_names()
    named = end_shares(tree, ended, found, topics, sessions, withheld=withheld) if all(ended) else None
    return TreeFigures(tree, found, paths, scores, named, note)


def _session(key: TrialKey) -> tuple[str, int]:
    """The session of a trial; with continued sessions, the i-th trials of all topics are in the i-th."""
    return key.system, key.trial


def _share_words(k: Any, n: Any, share: Any, low: Any, high: Any) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (percent(value), f"{count}/{total}", "" if isnan(bottom) else f"[{100 * bottom:.0f}, {100 * top:.0f}]")
        for count, total, value, bottom, top in zip(k, n, share, low, high, strict=True)
    )


def _unseen_words(mass: Unseen, at: Any, what: str, over_topics: bool) -> str:
    estimate, low, high = (float(part[at]) for part in (mass.estimate, mass.low, mass.high))
    if isnan(estimate):
        return ""
    once, n = int(mass.once[at]), int(mass.n[at])
    counted = f"{once} of {n} in one topic alone" if over_topics else f"{once} seen once, n={n}"
    return f"{what}: about {percent(estimate)} [{100 * low:.0f}, {100 * high:.0f}] ({counted})"
