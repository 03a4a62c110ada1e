"""Find the topics and turns that changed since a baseline, and the change points of a figure in a history."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harvest.studies.trees.folded_trees import merging_named
from harvest.studies.trees.parted_systems import cut_nodes, end_title, turn_name
from harvest.studies.watch.baseline import FigureBaseline
from harvest.studies.watch.history import Look, TopicMoments
from harvest.studies.watch.ways import MERGE, Turn, Ways
from recordings.conversations.conversation import TrialKey
from recordings.trees.builder import TreeBuilder
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.inference.topic_changes import AuditTopics, topic_changes
from scoring.statistics.change_points import ChangePoint, change_points
from scoring.stochastic.node_permutation import node_tests
from scoring.stochastic.parting import both_sides, split_divergence
from topics.errors import InputError
from topics.identity import generator

_DRAWS = 999  # with one more, for the data themselves, a round number: p in steps of .001
_MOST_CHANGES = 5  # turns that are described


@dataclass(frozen=True, slots=True)
class ChangedTopic:
    """A topic before and now: its means over `trials`, the difference, and its interval, which is simultaneous for all
    topics. `stands_out` is true if it changed, and not only as all topics did."""

    topic: str
    before: float
    now: float
    trials: tuple[int, int]
    value: float
    low: float
    high: float
    stands_out: bool = True


@dataclass(frozen=True, slots=True)
class Stretch:
    """The audits over which the topics and turns of a change are reported, and their results for a figure's topics.

    `audits` is their number, and `since` when the first of them began, as recorded. `left_out` counts audits whose
    lines have no topics, such as lines of earlier versions. `fell` and `rose` count the topics whose own interval
    excludes 0, of `topics`, and `each` has all of them, the largest change first.
    """

    figure: str = ""
    audits: int = 1
    since: str = ""
    left_out: int = 0
    fell: int = 0
    rose: int = 0
    topics: int = 0
    each: tuple[ChangedTopic, ...] = ()

    @property
    def named(self) -> tuple[ChangedTopic, ...]:
        """The topics that stand out."""
        return tuple(one for one in self.each if one.stands_out)

    @property
    def shown(self) -> tuple[ChangedTopic, ...]:
        """The topics to name: those that stand out or, if all changed alike, those whose own interval excludes 0."""
        return self.named or tuple(one for one in self.each if one.low > 0 or one.high < 0)


@dataclass(frozen=True, slots=True)
class ChangedTurn:
    """A turn after which conversations continue or end differently. `turns` is the path to this turn. `branch` is
    the branch that differs most, and `portion` has its share before and now. `came` is the number of trials that
    reached the turn before and now. `p` is corrected over all tested turns. `way` is the path and the branch as the
    baseline counts them."""

    turns: tuple[str, ...]
    branch: str
    portion: tuple[float, float]
    came: tuple[int, int]
    p: float
    way: tuple[Turn, ...] = ()


def tell_topics(
    stretch: Stretch, known: FigureBaseline, audits: Sequence[TopicMoments], level: float, seed: int
) -> Stretch:
    """Return the stretch with the pooled result of its `audits` for the topics of a figure."""
    asked = {topic for one in audits for topic in one}
    topics = [topic for topic in known.topics if topic in asked]
    if not topics:
        return stretch
    before = known.select_topics(topics)
    sides = [_audit_topics(one, topics) for one in audits]
    found = topic_changes(before, sides, generator(seed, "watched topics", stretch.figure), level=level)
    each = [
        ChangedTopic(
            topics[at],
            float(before.means[at]),
            float(found.means[at]),
            (int(before.counts[at]), int(found.counts[at])),
            float(found.values[at]),
            float(found.low[at]),
            float(found.high[at]),
            bool(found.are_named[at]),
        )
        for at in range(len(topics))
    ]
    return replace(
        stretch,
        fell=int(found.fell.sum()),
        rose=int(found.rose.sum()),
        topics=len(topics),
        each=tuple(sorted(each, key=lambda one: (-abs(one.value), one.topic))),
    )


def _audit_topics(one: TopicMoments, topics: Sequence[str]) -> AuditTopics:
    cells = [one.get(topic, (0, 0.0, None)) for topic in topics]
    return AuditTopics(
        np.array([float(count) for count, _, _ in cells]),
        np.array([mean for _, mean, _ in cells]),
        np.array([math.nan if variance is None else variance for _, _, variance in cells]),
    )


def changed_turns(before: Ways, now: Ways, level: float, seed: int) -> Iterator[ChangedTurn]:
    """Yield the turns after which conversations continue differently, starting with the most certain. Turns after
    which a failing user cut conversations short are omitted, because the continuation is unknown."""
    builder, how = TreeBuilder(merging_named(MERGE)), dict[FoldedTrial, str]()
    topics = before.keys() & now.keys()
    for name, side in (("before", before), ("now", now)):
        for topic in sorted(topics):
            number = 0
            for way, count in side[topic].items():
                path = [(speaker, key, None) for speaker, key in way if speaker != "end"]
                end = next((key for speaker, key in way if speaker == "end"), "")
                for _ in range(count):
                    number += 1
                    trial = FoldedTrial(TrialKey(name, topic, number))
                    builder.add_path(path, trial)
                    how[trial] = end
    if not topics:
        return
    tree = builder.tree()
    both = both_sides(tree, "before", "now", how)
    alpha = round(1 - level, 12)
    try:
        tests = node_tests(both, generator(seed, "watched turns"), draws=_DRAWS, level=alpha)
    except InputError:
        return
    found = split_divergence(both)
    cut = cut_nodes(tree, how, both.names)
    nodes = [
        node for node in range(len(tree)) if tests.p[node] <= alpha and found.branch[node] >= 0 and node not in cut
    ]
    for node in sorted(nodes, key=lambda one: -tests.z[one])[:_MOST_CHANGES]:
        branch = int(found.branch[node])
        portion, came = found.portion[:, node].tolist(), found.arrivals[:, node].tolist()
        title = end_title(found.end[node]) if branch == node else turn_name(tree, branch)
        turns = tuple(turn_name(tree, at) for at in tree.path(node))
        last: Turn = ("end", found.end[node]) if branch == node else _turn(tree, branch)
        way = (*(_turn(tree, at) for at in tree.path(node)), last)
        yield ChangedTurn(turns, title, (portion[0], portion[1]), (came[0], came[1]), float(tests.p[node]), way)


def _turn(tree: ConversationTree, node: int) -> Turn:
    symbol = tree.symbol_at(node)
    return symbol.speaker, symbol.key  # type: ignore[return-value]


def find_moves(looks: Sequence[Look], system: str, figure: str, seed: int = 0) -> dict[int, ChangePoint]:
    """Return the change points of a figure by the index of the first look at the new level. Looks without a
    measurement are skipped, as are changes that conversations cut short by failing users could have hidden or
    caused. Returns {} for fewer than `change_points.FEWEST` measurements."""
    places = [
        place
        for place, look in enumerate(looks)
        if system in look.systems
        and figure in look.systems[system].figures
        and math.isfinite(look.systems[system].figures[figure].value)
    ]
    seen = [looks[place].systems[system].figures[figure] for place in places]

    def find_changes(values: Sequence[float]) -> tuple[ChangePoint, ...]:
        return change_points(values, generator(seed, "change points", system, figure))

    moved = find_changes([one.value for one in seen])

    def reduced(point: ChangePoint) -> list[float]:
        """Return the values that make the change smallest, if cut conversations could have had other values."""
        rises, values = point.after > point.before, []
        for place, one in enumerate(seen):
            down, up = one.cut or (0.0, 0.0)
            values.append(one.value + up if (place < point.at) == rises else one.value - down)
        return values

    if any(one.cut for one in seen):
        ends = (0, *(one.at for one in moved), len(seen))
        moved = tuple(
            one
            for one, start, end in zip(moved, ends, ends[2:], strict=False)
            if any(
                start < other.at < end and (other.after > other.before) == (one.after > one.before)
                for other in find_changes(reduced(one))
            )
        )
    return {places[one.at]: one for one in moved}
