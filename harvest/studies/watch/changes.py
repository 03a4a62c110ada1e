"""Find the topics and turns that changed since a baseline, and the change points of a figure in a history."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harvest.studies.trees.folded_trees import merging_named
from harvest.studies.trees.parted_systems import end_title
from harvest.studies.watch.baseline import MERGE, Turn, Ways
from harvest.studies.watch.history import Look
from protocols.labels import USEFUL
from recordings.conversations.conversation import TrialKey
from recordings.conversations.endings import CUT_ENDS
from recordings.trees.builder import TreeBuilder
from recordings.trees.node_text import node_title
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.statistics.change_points import ChangePoint, change_points
from scoring.statistics.exchange import holm_correction
from scoring.statistics.stratified import compare_within
from scoring.stochastic.node_permutation import node_tests
from scoring.stochastic.parting import both_sides, split_divergence
from topics.errors import InputError
from topics.identity import generator

_DRAWS = 999  # with one more, for the data themselves, a round number: p in steps of .001
_MOST_CHANGES = 5  # topics, or turns, that are described


@dataclass(frozen=True, slots=True)
class ChangedTopic:
    """A topic whose first answers became useful more or less often. `before` and `now` are (useful answers,
    trials). `p` is from Fisher's exact test, two-sided and corrected over all topics (Holm)."""

    topic: str
    before: tuple[int, int]
    now: tuple[int, int]
    p: float


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


def _useful_counts(taken: Mapping[tuple[Turn, ...], int]) -> tuple[int, int]:
    first = {way: next((key for speaker, key in way if speaker == "system"), "") for way in taken}
    return sum(n for way, n in taken.items() if first[way] == USEFUL), sum(taken.values())


@dataclass(frozen=True, slots=True)
class MovedTopics:
    """On how many topics first answers were useful `less` and `more` often than at the baseline, of how many asked at
    both times."""

    less: int = 0
    more: int = 0
    topics: int = 0

    @classmethod
    def between(cls, before: Ways, now: Ways) -> "MovedTopics":
        both = before.keys() & now.keys()
        counts = [(_useful_counts(before[topic]), _useful_counts(now[topic])) for topic in both]
        moves = [useful * of - was * trials for (was, of), (useful, trials) in counts]
        return cls(sum(one < 0 for one in moves), sum(one > 0 for one in moves), len(both))


def changed_topics(before: Ways, now: Ways) -> Iterator[ChangedTopic]:
    """Yield the topics whose first answers changed significantly, by ascending p."""
    found: list[ChangedTopic] = []
    for topic in sorted(before.keys() & now.keys()):
        (a, n), (b, m) = (_useful_counts(one[topic]) for one in (before, now))
        p = compare_within([b], [m], [a + b], [n + m]).p
        found.append(ChangedTopic(topic, (a, n), (b, m), 1.0 if math.isnan(p) else p))
    corrected = holm_correction([one.p for one in found])
    kept = [
        ChangedTopic(one.topic, one.before, one.now, p) for one, p in zip(found, corrected, strict=True) if p <= 0.05
    ]
    yield from sorted(kept, key=lambda one: (one.p, one.topic))[:_MOST_CHANGES]


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
    cut = {int(node) for node, trial in zip(tree.ends, tree.trials, strict=True) if how[trial] in CUT_ENDS}
    nodes = [
        node for node in range(len(tree)) if tests.p[node] <= alpha and found.branch[node] >= 0 and node not in cut
    ]
    for node in sorted(nodes, key=lambda one: -tests.z[one])[:_MOST_CHANGES]:
        branch = int(found.branch[node])
        portion, came = found.portion[:, node].tolist(), found.arrivals[:, node].tolist()
        title = end_title(found.end[node]) if branch == node else _node_name(tree, branch)
        turns = tuple(_node_name(tree, at) for at in tree.path(node))
        last: Turn = ("end", found.end[node]) if branch == node else _turn(tree, branch)
        way = (*(_turn(tree, at) for at in tree.path(node)), last)
        yield ChangedTurn(turns, title, (portion[0], portion[1]), (came[0], came[1]), float(tests.p[node]), way)


def _node_name(tree: ConversationTree, node: int) -> str:
    return f"{tree.speaker(node)[0].upper()} {node_title(tree, node)}"


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
