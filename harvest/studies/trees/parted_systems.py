"""Where the conversations of two systems part, from recorded conversations: what `harvest compare` says of it."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from harvest.studies.trees.cores import cores
from harvest.studies.trees.merge_keys import merging_named
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import end_name, says_how
from recordings.trees.builder import PathTurn, TreeBuilder, path_of
from recordings.trees.keys import LABEL, Merging
from recordings.trees.node_text import node_title, one_line
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.statistics.same_source import SameSource, same_sources
from scoring.stochastic.node_permutation import DRAWS, NodeTests, WholeTest, node_p, whole_p
from scoring.stochastic.parting import BothSides, Pair, Parting, both_sides, pairs_behind, part
from topics.errors import InputError
from topics.identity import generator

# What an end is called if it is not known how conversations ended.
END = "■ end"

_ROUNDING = 1e-12  # of a divergence
_MOST_TEXTS = 10  # of a topic and a system: more would take seconds and tell little more


@dataclass(frozen=True, slots=True)
class PartingTurn:
    """A node at which two sides part, first and second. turns: the way there. branch: what differs most, an end as
    `■ breakdown` (`end_title`); named as in trees. came, took: trials. portion: of those that came, topics counting
    alike.

    share: of the whole difference. p: corrected for all nodes tested, NaN where not tested. pairs: what shows it.
    """

    turns: tuple[str, ...]
    branch: str
    came: tuple[int, int]
    took: tuple[int, int]
    portion: tuple[float, float]
    share: float
    p: float
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class PartedSystems:
    """Two systems, over the topics that both have. n: trials. divergence, by_chance: bits; p: of the whole.

    by_chance and every p are NaN where a side has sessions that go on from topic to topic; all but that of texts where
    the sides were played with other states.

    turns: those that have a share, named ones first and then by share. tested, out: nodes tested, and nodes that could
    not have been significant. refused: why there is no p of nodes; "". texts: of first answers, at
    most 10 of a topic and a side. tells_ends: whether ends of different kinds are different ways, because it is known
    of every conversation how it ended.
    """

    first: str
    second: str
    merge: str
    topics: int
    n: tuple[int, int]
    divergence: float
    by_chance: float
    p: float
    turns: tuple[PartingTurn, ...]
    tested: int
    out: int
    refused: str
    texts: SameSource
    tells_ends: bool = True


def parted_systems(
    conversations: Sequence[Conversation],
    systems: Sequence[str],
    *,
    merge: str = "label",
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
    continued: Collection[str] = (),
    states: Mapping[str, Collection[str]] | None = None,
) -> tuple[PartedSystems, ...]:
    """Each pair of `systems`, in their order.

    conversations: of each trial the first valid attempt, of these systems and others. merge: a key that holds for all
    topics. level: confidence; a p of at most 1 - level names a turn. seed: of the draws. continued: systems whose
    sessions go on from topic to topic: what they have a part in is described, and not tested. states: by system, those
    of the protocol that it was played with, where that is known: nor are the trees of two that have others.

    Raises InputError for a key that does not, and where two systems have no topic in common.
    """
    merging = merging_named(merge)
    own = [one for one in conversations if one.key.system in systems]
    if not merging.pools and len({one.key.topic for one in own}) > 1:
        raise InputError(
            f"by {merging.name} turns of different topics are never the same",
            allowed="label, or user=state,system=label",
            advice="compare a single topic, or merge by label",
        )
    builder = TreeBuilder(merging)
    for one in own:
        builder.add_trial(FoldedTrial(one.key, one.attempt), one.outcome, partial(_turns, one, merging))
    if not any(one.valid for one in own):
        raise InputError(f"none of {', '.join(map(repr, systems))} has a valid conversation")
    tree, told, how = builder.tree(), _first_answers(own), how_ended(own)
    sides = [both_sides(tree, *pair, how) for pair in combinations(systems, 2)]
    alpha = round(1 - level, 12)
    with cores() as pool:
        texts = pool.submit(_texts, told, systems, seed)
        tests = [pool.submit(_tests, both, alpha, seed, draws) for both in sides]
        found = [
            _part_both(both, one.result(), texts.result()[both.names], alpha)
            for both, one in zip(sides, tests, strict=True)
        ]
    if states:
        found = [_unlike(one) if _have_others(states, one.first, one.second) else one for one in found]
    return tuple(_without_tests(one) if {one.first, one.second} & {*continued} else one for one in found)


def _turns(conversation: Conversation, merging: Merging) -> Iterable[PathTurn]:
    """The way of a conversation, with its texts only where nodes are named by them."""
    path = path_of(conversation, merging)
    return ((speaker, key, None) for speaker, key, _ in path) if merging is LABEL else path


def _texts(
    told: Mapping[tuple[str, str], Sequence[str]], systems: Sequence[str], seed: int
) -> dict[tuple[str, str], SameSource]:
    """Of each pair whether first answers could come from one system. told: as `_first_answers` gives them."""
    topics = sorted({topic for _, topic in told})
    sides = [[told.get((name, topic), ()) for topic in topics] for name in systems]
    rngs = {
        pair: generator(seed, "same source", systems[pair[0]], systems[pair[1]])
        for pair in combinations(range(len(systems)), 2)
    }
    return {(systems[one], systems[two]): found for (one, two), found in same_sources(sides, rngs).items()}


def _have_others(states: Mapping[str, Collection[str]], one: str, other: str) -> bool:
    return one in states and other in states and set(states[one]) != set(states[other])


def _describe(found: PartedSystems, why: str) -> PartedSystems:
    """The shares of turns alone. why: what the tests of trees would take for a difference of the systems."""
    turns = [replace(turn, p=math.nan) for turn in sorted(found.turns, key=lambda turn: -turn.share)]
    return replace(found, by_chance=math.nan, p=math.nan, turns=tuple(turns), tested=0, out=0, refused=why)


def _unlike(found: PartedSystems) -> PartedSystems:
    """Without tests of trees: what first answers say is tested without them."""
    return _describe(found, "their protocols have other states, so that trees differ whatever the systems answer")


def _without_tests(found: PartedSystems) -> PartedSystems:
    """The description alone: every test here deals conversations of a topic anew, as if sessions did not bind them."""
    why = "sessions go on from topic to topic, so their conversations depend on each other"
    return _describe(replace(found, texts=replace(found.texts, p=math.nan)), why)


def _tests(both: BothSides, alpha: float, seed: int, draws: int) -> tuple[WholeTest, NodeTests, str]:
    """The tests of the whole and of the nodes, and why nodes are not tested."""
    names, merge = both.names, both.tree.merge
    whole = whole_p(both, generator(seed, "parting", merge, *names))
    try:
        return whole, node_p(both, generator(seed, "parting turns", merge, *names), draws=draws, level=alpha), ""
    except InputError as none:
        nothing = np.full(len(both.tree), np.nan)
        return whole, NodeTests(nothing, nothing, 0, 0, 0, draws), none.what


def _part_both(
    both: BothSides, tested: tuple[WholeTest, NodeTests, str], texts: SameSource, alpha: float
) -> PartedSystems:
    whole, tests, refused = tested
    found = part(both)
    return PartedSystems(
        *both.names,
        both.tree.merge,
        len(both.topics),
        found.n,
        found.divergence,
        whole.by_chance,
        whole.p,
        tuple(_turn(both, found, tests, node) for node in _order(found, tests, alpha)),
        tests.family,
        tests.out,
        refused,
        texts,
        both.tells_ends,
    )


def _order(found: Parting, tests: NodeTests, alpha: float) -> list[int]:
    """The nodes with a share: those with a p of at most alpha, the largest z first, then by share."""
    nodes = np.flatnonzero((found.term > _ROUNDING) & (found.branch >= 0)).tolist()
    named = sorted((node for node in nodes if tests.p[node] <= alpha), key=lambda node: -tests.z[node])
    return [*named, *sorted({*nodes} - {*named}, key=lambda node: (-found.term[node], node))]


def _turn(both: BothSides, found: Parting, tests: NodeTests, node: int) -> PartingTurn:
    branch, end = int(found.branch[node]), found.end[node]
    came, took = found.arrivals[:, node].tolist(), found.taken[:, node].tolist()
    portion = found.portion[:, node].tolist()
    return PartingTurn(
        tuple(turn_name(both.tree, turn) for turn in both.tree.path(node)),
        end_title(end) if branch == node else turn_name(both.tree, branch),
        (came[0], came[1]),
        (took[0], took[1]),
        (portion[0], portion[1]),
        float(found.share[node]),
        float(tests.p[node]),
        pairs_behind(both, node, branch, end),
    )


def how_ended(conversations: Iterable[Conversation]) -> dict[FoldedTrial, str]:
    """By trial, the name of its end; those of which the recording does not say how they ended are left out."""
    return {
        FoldedTrial(one.key, one.attempt): end_name(one.outcome)
        for one in conversations
        if one.outcome is not None and says_how(one.outcome)
    }


def end_title(name: str) -> str:
    """`■ breakdown`: what an end is called where ways are listed. name: of the end; "" where it is not known."""
    return f"{END[0]} {one_line(name)}" if name else END


def turn_name(tree: ConversationTree, node: int) -> str:
    """`U ask`, `S o`: who speaks at a node, and what it is called."""
    return f"{tree.speaker(node)[0].upper()} {node_title(tree, node)}"


def _first_answers(conversations: Sequence[Conversation]) -> dict[tuple[str, str], list[str]]:
    """By system and topic, the texts of first answers, in the order of the conversations; none where no answer of
    anybody has a word, as in data that are shared without texts."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in conversations:
        if one.turns and one.turns[0].reply is not None:
            told = found.setdefault((one.key.system, one.key.topic), [])
            if len(told) < _MOST_TEXTS:
                told.append(one.turns[0].reply.answer.text)
    return found if any(text.strip() for told in found.values() for text in told) else {}
