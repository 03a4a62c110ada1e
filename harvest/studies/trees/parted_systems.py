"""Find the turns at which the recorded conversations of two systems diverge."""

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice

import numpy as np

from harvest.studies.runs.first_answers import FirstAnswers
from harvest.studies.trees.folded_trees import merging_named
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import CUT_ENDS, cut_words, end_name, is_cut_short, is_end_stated, shown_end
from recordings.conversations.outlines import examples
from recordings.trees.builder import LABEL, Merging, PathTurn, TreeBuilder, path_of
from recordings.trees.node_text import node_title, one_line
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.statistics.same_source import SameSource, same_sources
from scoring.stochastic.node_permutation import DRAWS, NodeTests, WholeTest, node_tests, whole_tree_test
from scoring.stochastic.parting import BothSides, DivergenceParts, Pair, both_sides, pairs_behind, split_divergence
from topics.counting import pluralize
from topics.errors import InputError
from topics.identity import generator

# Name of an end if it is unknown how conversations ended.
END = "■ end"

_ROUNDING = 1e-12  # of a divergence


@dataclass(frozen=True, slots=True)
class PartingTurn:
    """A node of the tree at which two systems diverge. Pairs of values have the first system first.

    `turns` is the path to the node. `branch` is the branch, or the ending such as `■ breakdown`, that differs most.
    `came` is the number of trials that reached the node, and `took` the number of trials that took the branch;
    `portion` is their ratio, with topics weighted equally. `share` is the node's part of the whole divergence. `p`
    is corrected over all tested nodes, or NaN if this node was not tested. `pairs` are pairs of trials that show
    the difference.
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
    """The divergence of two systems over their common topics.

    `n` is the number of trials on each side. `divergence` and `by_chance` are in bits, and `p` tests the whole
    divergence. If a side has sessions that continue from topic to topic, `by_chance` and every p are NaN. If the sides
    were played with different protocol states, `by_chance` and every p except the p of `texts` are NaN. If
    conversations were cut short, `cut` says how many. The nodes where they were cut are left out of `divergence`,
    `turns` and the tests, since it is unknown how these conversations would have continued, and `by_chance` and `p` are
    NaN. `turns` are the nodes with a share: first the significant nodes, then the other nodes by share. `tested` is the
    number of tested nodes, and `out` the number of nodes that could not have become significant. `refused` explains why
    nodes have no p, or is "". `texts` is the test of first answers; at most 10 answers are used for each topic and
    side. If the ending of every conversation is known, kinds of ending count as different paths, and `tells_ends` is
    true.
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
    cut: str = ""


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
    most: int | None = None,
    answers: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> tuple[PartedSystems, ...]:
    """Compare each pair of `systems`, in their order, or the first `most` pairs.

    `conversations` are the first valid attempts of trials, possibly also of other systems. `merge` is a merge key that
    pools topics. A p of at most 1 - `level` is significant. `continued` has the systems whose sessions continue from
    topic to topic; their pairs are described but not tested. `states` has the protocol states that each system was
    played with, if known; pairs with different states are not tested either. `answers` has the first answers (see
    `FirstAnswers`) of conversations without words. Raises InputError for a key that does not pool topics, and for a
    pair without a common topic.
    """
    merging = merging_named(merge)
    own = [(FoldedTrial(key, attempt), one) for key, attempt, one in examples(conversations) if key.system in systems]
    if not merging.pools and len({trial.key.topic for trial, _ in own}) > 1:
        raise InputError(
            f"topics cannot be merged by {merging.name}, because turns of different topics then always differ",
            allowed="label, or user=state,system=label",
            advice="compare a single topic, or merge by label",
        )
    builder = TreeBuilder(merging)
    for trial, one in own:
        builder.add_trial(trial, one.outcome, partial(_path_turns, one, merging))
    if not any(one.valid for _, one in own):
        raise InputError(f"none of {', '.join(map(repr, systems))} has a valid conversation")
    if answers is None:
        first = FirstAnswers()
        for _, one in own:
            first.add(one)
        answers = first.texts
    told = {name: texts for name, texts in answers.items() if name[0] in systems}
    if not any(text.strip() for texts in told.values() for text in texts):
        told = {}
    tree, how = builder.tree(), ending_names(own)
    pairs = list(islice(combinations(systems, 2), most))
    sides = [both_sides(tree, *pair, how) for pair in pairs]
    alpha = round(1 - level, 12)
    with cores() as pool:
        texts = pool.submit(_test_texts, told, pairs, seed)
        cuts = [cut_nodes(tree, how, both.names) for both in sides]
        tests = [pool.submit(_test_trees, *one, alpha, seed, draws) for one in zip(sides, cuts, strict=True)]
        found = [
            _describe_divergence(both, cut, one.result(), texts.result()[both.names], alpha)
            for both, cut, one in zip(sides, cuts, tests, strict=True)
        ]
    for place, pair in enumerate(found):
        names = {pair.first, pair.second}
        if cuts[place]:
            found[place] = pair = replace(
                pair, cut=_cut_sentence([one for trial, one in own if trial.key.system in names])
            )
        if states and names <= states.keys() and {*states[pair.first]} != {*states[pair.second]}:
            why = "their protocols have other states, so that trees differ whatever the systems answer"
            found[place] = pair = _remove_tests(pair, why)
        if names & {*continued}:
            # Each test reassigns the conversations of a topic at random, as if sessions did not link them.
            why = "sessions go on from topic to topic, so their conversations depend on each other"
            found[place] = _remove_tests(replace(pair, texts=replace(pair.texts, p=math.nan)), why)
    return tuple(found)


def _path_turns(conversation: Conversation, merging: Merging) -> Iterable[PathTurn]:
    """Return the path of a conversation. Texts are included only if they are the names of nodes."""
    path = path_of(conversation, merging)
    return ((speaker, key, None) for speaker, key, _ in path) if merging is LABEL else path


def _test_texts(
    told: Mapping[tuple[str, str], Sequence[str]], pairs: Sequence[tuple[str, str]], seed: int
) -> dict[tuple[str, str], SameSource]:
    topics = sorted({topic for _, topic in told})
    places = {name: place for place, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
    sides = [[told.get((name, topic), ()) for topic in topics] for name in places]
    rngs = {(places[one], places[other]): generator(seed, "same source", one, other) for one, other in pairs}
    return dict(zip(pairs, same_sources(sides, rngs).values(), strict=True))


def _remove_tests(found: PartedSystems, why: str) -> PartedSystems:
    """Remove the tests, which would be misleading. `why` is the reason."""
    turns = [replace(turn, p=math.nan) for turn in sorted(found.turns, key=lambda turn: -turn.share)]
    return replace(found, by_chance=math.nan, p=math.nan, turns=tuple(turns), tested=0, out=0, refused=why)


def cut_nodes(tree: ConversationTree, endings: Mapping[FoldedTrial, str], systems: Collection[str]) -> Set[int]:
    """Return the nodes at which conversations of `systems` were cut short, so that their next step is unknown."""
    return {
        int(node)
        for node, trial in zip(tree.ends, tree.trials, strict=True)
        if trial.key.system in systems and endings.get(trial) in CUT_ENDS
    }


def _cut_sentence(conversations: Iterable[Conversation]) -> str:
    reasons = [one.outcome.reason for one in conversations if one.outcome is not None and is_cut_short(one.outcome)]
    return (
        f"{pluralize(len(reasons), 'conversation')} {'was' if len(reasons) == 1 else 'were'} {cut_words(reasons)}, so "
        "how they would have gone on is not known: the turns at which this happened are left out"
    )


def _test_trees(
    both: BothSides, cut: Set[int], alpha: float, seed: int, draws: int
) -> tuple[WholeTest, NodeTests, str]:
    names, merge = both.names, both.tree.merge
    whole = WholeTest(math.nan, math.nan) if cut else whole_tree_test(both, generator(seed, "parting", merge, *names))
    rng = generator(seed, "parting turns", merge, *names)
    try:
        return whole, node_tests(both, rng, draws=draws, level=alpha, excluded=cut), ""
    except InputError as none:
        nothing = np.full(len(both.tree), np.nan)
        return whole, NodeTests(nothing, nothing, 0, 0, 0, draws), none.what


def _describe_divergence(
    both: BothSides, cut: Set[int], tested: tuple[WholeTest, NodeTests, str], texts: SameSource, alpha: float
) -> PartedSystems:
    whole, tests, refused = tested
    found = split_divergence(both)
    if cut:
        term = np.where(np.isin(np.arange(len(both.tree)), [*cut]), 0.0, found.term)
        left = float(term.sum())
        found = replace(found, divergence=left, term=term, share=term / left if left > _ROUNDING else term)
    # Nodes with a share: significant ones by descending z, then the others by share.
    nodes = np.flatnonzero((found.term > _ROUNDING) & (found.branch >= 0)).tolist()
    named = sorted((node for node in nodes if tests.p[node] <= alpha), key=lambda node: -tests.z[node])
    others = sorted({*nodes} - {*named}, key=lambda node: (-found.term[node], node))
    return PartedSystems(
        *both.names,
        both.tree.merge,
        len(both.topics),
        found.n,
        found.divergence,
        whole.by_chance,
        whole.p,
        tuple(_parting_turn(both, found, tests, node) for node in (*named, *others)),
        tests.family,
        tests.out,
        refused,
        texts,
        both.distinguishes_ends,
    )


def _parting_turn(both: BothSides, found: DivergenceParts, tests: NodeTests, node: int) -> PartingTurn:
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


def ending_names(conversations: Iterable[tuple[FoldedTrial, Conversation]]) -> dict[FoldedTrial, str]:
    """Return the name of the ending of each trial, without trials whose ending is unknown."""
    return {
        trial: end_name(one.outcome)
        for trial, one in conversations
        if one.outcome is not None and is_end_stated(one.outcome)
    }


def end_title(name: str) -> str:
    """Return the title of an ending in a printed path, such as `■ breakdown`. `name` is "" for an unknown ending."""
    return f"{END[0]} {one_line(shown_end(name))}" if name else END


def turn_name(tree: ConversationTree, node: int) -> str:
    """Return the speaker and the title of a node, such as `U ask` or `S o`."""
    return f"{tree.speaker(node)[0].upper()} {node_title(tree, node)}"


_MOST = 4  # each draw uses some tens of megabytes


@contextmanager
def cores() -> Iterator[ThreadPoolExecutor]:
    """Return an executor with a thread for each core, for numpy code, which releases the global interpreter lock.
    Each task must bring its own random generator, so that results do not depend on the order of completion. If
    the block ends early, tasks that have not begun are cancelled."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pool = ThreadPoolExecutor(min(known or 1, _MOST), thread_name_prefix="cores")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
