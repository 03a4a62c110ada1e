"""What is known of each branch of a tree, as columns for files and as words for people."""

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
    """A tree and its transitions; paths: the mass of whole conversations that no trial took. scores: laid over it.
    named: how often each way of ending was seen; None where it is not known of every trial how it ended. note: what
    hangs together in it, and why shares have no interval, if so."""

    tree: ConversationTree
    found: Transitions
    paths: Unseen
    scores: TreeScores | None = None
    named: EndShares | None = None
    note: str = ""

    def branches(self) -> tuple[str, ...]:
        """(N,) `12/20  60% [39, 78]` of the branch that leads to a node, and the mean score there."""
        tree, found = self.tree, self.found
        shares = self._shares(tree.visits, found.n, found.probability, found.low, found.high)
        return tuple(f"{share}{mean}" for share, mean in zip(shares, self._laid(), strict=True))

    def stops(self) -> tuple[str, ...]:
        """(N,) the same of ending at a node."""
        tree, found = self.tree, self.found
        shares = self._shares(tree.stops, tree.visits, found.stop, found.stop_low, found.stop_high)
        return tuple(f"{share}{' ' * len(mean)}" for share, mean in zip(shares, self._laid(), strict=True))

    def _laid(self) -> tuple[str, ...]:
        """(N,) ` .4721 n=75`: the mean score at a node as columns, all of one width; "" without a score."""
        if self.scores is None:
            return ("",) * len(self.tree)
        columns = [column for column in (self.scores.means(), self.scores.partial()) if any(column)]
        rooms = [max(map(len, column)) for column in columns]
        return tuple(
            "".join(f" {text:>{room}}" for text, room in zip(texts, rooms, strict=True))
            for texts in zip(*columns, strict=True)
        )

    def words(self) -> tuple[tuple[str, str, str], ...]:
        """(N,) share, `12/20` and interval of the branch that leads to a node, apart."""
        tree, found = self.tree, self.found
        return _apart(tree.visits, found.n, found.probability, found.low, found.high)

    def stop_words(self) -> tuple[tuple[str, str, str], ...]:
        """(N,) the same of ending at a node."""
        tree, found = self.tree, self.found
        return _apart(tree.stops, tree.visits, found.stop, found.stop_low, found.stop_high)

    def _shares(self, k: Any, n: Any, share: Any, low: Any, high: Any) -> tuple[str, ...]:
        width = 2 * len(str(self.tree.n)) + 1
        return tuple(
            f"{f'{count}/{total}':>{width}} {percent(value):>4} {_interval(bottom, top)}"
            for count, total, value, bottom, top in zip(k, n, share, low, high)
        )

    def captions(self) -> tuple[str, ...]:
        """(N,) short words for the edges of a diagram; a score by its name."""
        measure = self.scores.measure if self.scores is not None else ""
        laid = (" ".join(one.split()) for one in self._laid())
        return tuple(
            f"{counts} {share} {interval}".rstrip() + (f", {measure} {mean}" if mean else "")
            for (share, counts, interval), mean in zip(self.words(), laid, strict=True)
        )

    def notes(self) -> tuple[str, ...]:
        """(N,) `mean .4721 n=75` for a box; "" where there is nothing to say, () without a score."""
        if self.scores is None:
            return ()
        pairs = zip(self.scores.means(), self.scores.partial(), strict=True)
        return tuple(f"{f'mean {mean}' if mean else 'no mean'} {n}".rstrip() for mean, n in pairs)

    def ends(self) -> dict[int, list[tuple[str, Words]]]:
        """By node, the name of each way in which conversations end there, with its share, `12/20` and interval apart;
        empty where it is not known of every trial how it ended."""
        found = dict[int, list[tuple[str, Words]]]()
        if self.named is not None:
            one = self.named
            words = _apart(one.k, one.n, one.k / one.n, one.low, one.high)
            for node, name, own in zip(one.ends.node.tolist(), one.ends.name, words, strict=True):
                found.setdefault(node, []).append((cut(one_line(name), _LONGEST_END), own))
        return found

    def end_lines(self) -> dict[int, list[tuple[str, str]]]:
        """The same, each with its figures as `stops` writes them."""
        found = dict[int, list[tuple[str, str]]]()
        if self.named is not None:
            one, blank = self.named, " " * max(map(len, self._laid()), default=0)
            shares = self._shares(one.k, one.n, one.k / one.n, one.low, one.high)
            for node, name, share in zip(one.ends.node.tolist(), one.ends.name, shares, strict=True):
                found.setdefault(node, []).append((cut(one_line(name), _LONGEST_END), f"{share}{blank}"))
        return found

    def unseen(self) -> tuple[str, ...]:
        """(N,) what the next trial may do there that none did, where trials parted: where they took several branches,
        or some ended and others went on. "" where all took one branch, whose interval says as much; at a leaf; and
        after a single trial, from which nothing follows."""
        mass = self.found.unseen
        said = []
        for node in range(len(self.tree)):
            branches, ended = int(self.found.branches[node]), int(self.tree.stops[node])
            tell = branches > 1 or (branches == 1 and ended > 0)
            said.append(_unseen_words(mass, node, "another branch", self.found.over_topics) if tell else "")
        return tuple(said)

    def unseen_paths(self) -> str:
        """The same for whole conversations."""
        return _unseen_words(self.paths, (), "another conversation", self.found.over_topics)

    def columns(self) -> dict[str, Sequence[object]]:
        """Columns (N,) for the edges of a graph."""
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
    """The figures of a tree. design: what hangs together in its trials. Raises InputError as
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
    if note:  # Good-Turing takes trials, or topics, for independent
        found, paths = replace(found, unseen=found.unseen.withheld()), paths.withheld()
        note += "; how much is unseen is not estimated"
    ended = tree.end_names()
    named = end_shares(tree, ended, found, topics, sessions, withheld=withheld) if all(ended) else None
    return TreeFigures(tree, found, paths, scores, named, note)


def _session(key: TrialKey) -> tuple[str, int]:
    """The session of a trial where they go on from topic to topic: the i-th trial of each topic is of the i-th."""
    return key.system, key.trial


def _apart(k: Any, n: Any, share: Any, low: Any, high: Any) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (percent(value), f"{count}/{total}", "" if isnan(bottom) else f"[{100 * bottom:.0f}, {100 * top:.0f}]")
        for count, total, value, bottom, top in zip(k, n, share, low, high, strict=True)
    )


def _interval(low: float, high: float) -> str:
    return f"[{100 * low:3.0f},{100 * high:4.0f}]" if not isnan(low) else ""


def _unseen_words(mass: Unseen, at: Any, what: str, over_topics: bool) -> str:
    estimate, low, high = (float(part[at]) for part in (mass.estimate, mass.low, mass.high))
    if isnan(estimate):
        return ""
    once, n = int(mass.once[at]), int(mass.n[at])
    counted = f"{once} of {n} in one topic alone" if over_topics else f"{once} seen once, n={n}"
    return f"{what}: about {percent(estimate)} [{100 * low:.0f}, {100 * high:.0f}] ({counted})"
