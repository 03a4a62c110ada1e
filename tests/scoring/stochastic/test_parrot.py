"""Trees of parrots against their known probabilities: edges lie in their intervals, scores agree with enumeration.

For each of 200 seeds a parrot is played 40 times on one topic, the trials are folded by label, and each edge has its
95% interval. How many of the 200 hold the truth lies in the central 99.9% region of Binomial(200, .95), 179 to 198.
`make test` plays the first 40 of the seeds, `make soak` all.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from harvest.parrot.parrot import Catalogue, Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation
from recordings.trees.builder import LABEL, TreeBuilder
from recordings.trees.tree import ConversationTree
from scoring.inference.proportions import wilson_ends
from scoring.inference.tails import cvar
from scoring.measures.usefulness import labels
from scoring.nuggets import position_weight
from scoring.stochastic.chain import chain, label_codes
from scoring.stochastic.decomposition import spread
from scoring.stochastic.expectation import mean, ratio
from scoring.stochastic.paths import enumerate_paths, stop_probabilities
from scoring.stochastic.transitions import transitions
from simulators.scripted import ScriptedUser
from tests.harvest.parrot.test_coverage import central_region
from tests.support.parrot_trees import USER, KnownTree, behaviour_path, known_tree, label_path
from tests.support.parrot_truth import PATIENCE, Path, paths, truth
from tests.support.rehearsal import rehearse
from topics.library import load_topics

Floats = npt.NDArray[np.float64]

TRIALS = 40
TOPICS = load_topics("fairweb-45")
PROTOCOL = load_protocol("fairweb-two-round")
TOPIC = TOPICS["M002"]


@cache
def catalogue() -> Catalogue:
    return load_catalogue("parrot", TOPICS)


@cache
def ways(profile: str) -> tuple[Path, ...]:
    return paths(PROFILES[profile], PROTOCOL, TOPIC, catalogue())


def played(profile: str, seed: int, trials: int = TRIALS) -> list[Conversation]:
    parrot = Parrot(catalogue(), PROFILES[profile])
    return list(rehearse(parrot, ScriptedUser(PROTOCOL), [TOPIC], trials=trials, seed=seed))


def folded(conversations: list[Conversation]) -> ConversationTree:
    builder = TreeBuilder(LABEL)
    for conversation in conversations:
        builder.add(conversation)
    return builder.tree()


def places(tree: ConversationTree) -> dict[tuple[str, ...], int]:
    """Node by the keys that lead to it, user turns written as the known tree has them."""
    found: dict[tuple[str, ...], int] = {}
    for node in range(len(tree)):
        way = tree.path(node)
        found[tuple(USER if tree.speaker(at) == "user" else tree.symbol_at(at).key for at in way)] = node
    return found


def ingredients(way: Path) -> tuple[float, float]:
    """Numerator and denominator of a turn-level criterion, useful or not, weighted linearly by the turn's last word."""
    weights = position_weight(way.turn_ends, PATIENCE)
    return float(sum(w for w, label in zip(weights, way.labels) if label == "o")), float(weights.sum())


@pytest.mark.parametrize("profile", PROFILES)
def test_the_known_tree_has_the_paths_of_the_truth(profile: str) -> None:
    for key in (label_path, behaviour_path):
        tree = known_tree(ways(profile), key)
        by_end: dict[int, float] = {}
        for end, weight in zip(tree.ends.tolist(), tree.weights.tolist(), strict=True):
            by_end[end] = by_end.get(end, 0.0) + weight
        found = enumerate_paths(tree.parent, tree.probability)
        assert dict(zip(found.ends.tolist(), found.weights.tolist(), strict=True)) == pytest.approx(by_end)


def test_the_probabilities_of_the_label_tree_are_those_of_the_profile() -> None:
    tree = known_tree(ways("erratic"))
    at = {prefix: node for node, prefix in enumerate(tree.prefixes)}
    assert tree.probability[at[USER, "o"]] == pytest.approx(0.62)
    assert stop_probabilities(tree.parent, tree.probability)[at[USER, "x"]] == pytest.approx(0.08 / 0.38)
    assert tree.probability[at[USER, "o", USER, "o"]] == pytest.approx(0.70)
    with pytest.raises(ValueError, match="no paths"):
        known_tree([])


@pytest.mark.parametrize(("seeds", "region"), [(40, (32, 40)), pytest.param(200, (179, 198), marks=pytest.mark.soak)])
@pytest.mark.parametrize("profile", ["erratic", pytest.param("format-breaking", marks=pytest.mark.soak)])
def test_edge_probabilities_lie_in_their_intervals_95_times_in_100(
    profile: str, seeds: int, region: tuple[int, int]
) -> None:
    known = known_tree(ways(profile))
    stops = stop_probabilities(known.parent, known.probability)
    held: dict[str, list[bool]] = {}
    for seed in range(seeds):
        tree = folded(played(profile, seed))
        found, at = transitions(tree), places(tree)
        for node, prefix in enumerate(known.prefixes):
            name = " ".join(prefix)
            if node and 0 < known.probability[node] < 1 and prefix[:-1] in at:
                if prefix in at:
                    low, high = found.low[at[prefix]], found.high[at[prefix]]
                else:  # a branch that no trial took
                    low, high = wilson_ends(0, tree.visits[at[prefix[:-1]]])
                held.setdefault(name, []).append(bool(low <= known.probability[node] <= high))
            if 0 < stops[node] < 1 and prefix in at:
                low, high = found.stop_low[at[prefix]], found.stop_high[at[prefix]]
                held.setdefault(f"{name}, stop", []).append(bool(low <= stops[node] <= high))
    assert len(held) >= 6
    assert central_region(seeds, 0.95, 0.999) == region
    for name, each in held.items():
        low, high = central_region(len(each), 0.95, 0.999)
        assert low <= sum(each) <= high, (name, sum(each), len(each))


@pytest.mark.parametrize(
    "profile", ["erratic", *(pytest.param(one, marks=pytest.mark.soak) for one in ("refusing", "format-breaking"))]
)
def test_monte_carlo_scores_agree_with_exact_enumeration(profile: str) -> None:
    every = ways(profile)
    weights = [way.probability for way in every]
    top, bottom = np.array([ingredients(way) for way in every]).T
    exact = ratio(top, bottom, weights)
    worst = cvar(top / bottom, 0.25, weights)
    # The trials: each conversation is the path that has its labels and word positions.
    conversations = played(profile, 4, trials=1000)
    by_path = {(way.labels, way.turn_ends): number for number, way in enumerate(every)}
    drawn = np.array([by_path[_place(one)] for one in conversations])
    found = ratio(top[drawn], bottom[drawn])
    each = top[drawn] / bottom[drawn]
    error = each.std(ddof=1) / math.sqrt(len(drawn))
    assert found.expected == pytest.approx(exact.expected, abs=4 * error)
    assert found.pooled == pytest.approx(exact.pooled, abs=4 * error)
    assert found.covariance == pytest.approx(found.pooled - found.expected, abs=1e-12)
    assert cvar(each, 0.25) == pytest.approx(worst, abs=8 * error)
    tree, known = folded(conversations), known_tree(every)
    value = np.array([way.labels.count("o") / len(way.labels) for way in every])
    order = [conversations.index(one) for one in sorted(conversations, key=lambda one: one.key)]
    by_turn = spread(tree.parent, tree.ends, value[drawn[order]])
    truly = spread(known.parent, known.ends, value, known.weights)
    assert by_turn.shares == pytest.approx(truly.shares, abs=0.08)


def _place(conversation: Conversation) -> tuple[tuple[str, ...], tuple[int, ...]]:
    words, ends = 0, []
    for exchange in conversation.exchanges:
        words += len(exchange.said.split()) + len(exchange.answer.text.split())
        ends.append(words)
    return labels(conversation, 2), tuple(ends)


def test_the_exact_expectation_of_r_by_paths_equals_the_truth() -> None:
    # R has a fixed normaliser, so the expectation over paths of each path's expected R is the truth of the profile.
    profile, shelf = PROFILES["erratic"], catalogue().shelves[TOPIC.id]
    gain = sum({0: 0.0, 1: 0.5, 2: 1.0}[entry.grade] for entry in shelf.entries) / len(shelf.entries)
    every = ways("erratic")
    by_path = [
        float(position_weight(way.positions, PATIENCE).sum()) * gain * 2 / (PATIENCE + 1) if way.positions else 0.0
        for way in every
    ]
    expected = mean(by_path, [way.probability for way in every])
    assert expected == pytest.approx(truth(profile, PROTOCOL, [TOPIC], catalogue()).relevance, rel=1e-12)


def test_the_chain_of_a_parrot_is_the_one_of_its_profile() -> None:
    rows = [labels(one, 2) for one in played("format-breaking", 9, trials=400)]
    found = {(each.source, each.target): each.share for each in chain(label_codes(rows)[None], [TOPIC.id])}
    for edge, true in {("start", "o"): 0.25, ("o", "o"): 0.55, ("x", "o"): 0.75, ("x", "-"): 0.0}.items():
        interval = found[edge].interval
        assert interval.low <= true <= interval.high, edge


def test_a_parrot_that_only_does_one_thing_has_one_path() -> None:
    tree: KnownTree = known_tree(ways("perfect"))
    assert len(enumerate_paths(tree.parent, tree.probability).ends) == 1
    top, bottom = ingredients(ways("perfect")[0])
    assert ratio([top], [bottom]).expected == 1.0
