"""The power to name a turn: the statistic and the level of the test itself, laws of topics, and promises that are kept.

The worlds of the long test draw topics in another way than the simulation does: log odds are normal, and topics that
are hard at one turn are hard at others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from recordings.trees.builder import fold
from recordings.trees.tree import ConversationTree, Symbol
from scoring.stochastic.node_permutation import node_tests
from scoring.stochastic.node_power import NodeModel, drawn_studies, largest_z, node_model, node_power
from scoring.stochastic.parting import BothSides, find_ends
from topics.errors import InputError

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

SYMBOLS = (Symbol("system", "o"), Symbol("system", "x"), Symbol("user", "insist"))
PATHS = np.array([[0, 0, -1], [0, 1, -1], [1, -1, -1], [1, 2, 0], [1, 2, 1]])
PLACES = {"o": 0, "oo": 1, "x insist": 2, "x insist o": 3}
"""Ways that may change: what is o first, o after o, goes on after x, is o then; places of their log odds."""
WHERE = {
    "o": ((0, 1), (0, 1, 2, 3, 4)),
    "oo": ((0,), (0, 1)),
    "x insist": ((3, 4), (2, 3, 4)),
    "x insist o": ((3,), (3, 4)),
}
"""Paths that take the way, and that come there."""
NAMES = {"o": "o first", "oo": "o after o", "x insist": "goes on after x", "x insist o": "o after x"}
USUAL, SPREAD = (0.4, 0.8, 1.4, 0.0), (1.5, 0.75, 0.5, 0.75)


def law(odds: Floats) -> Floats:
    """(..., 5) chances of the paths. odds: (..., 4)."""
    first, again, on, recovers = np.moveaxis(1 / (1 + np.exp(-odds)), -1, 0)
    x = (1 - first) * on
    paths = (first * again, first * (1 - again), (1 - first) * (1 - on), x * recovers, x * (1 - recovers))
    return np.stack(paths, axis=-1)


def folded(counts: Counts) -> tuple[ConversationTree, Counts, Counts, dict[str, int]]:
    """A tree, (C, N) trials that end and that pass at each node, and nodes by their way. counts: (C, 5) by path."""
    tree = fold(PATHS[np.repeat(np.arange(5), counts.sum(axis=0))], SYMBOLS)
    nodes = {" ".join(tree.symbol_at(at).key for at in tree.path(node)): node for node in range(len(tree))}
    nodes = {name.replace("o o", "oo"): node for name, node in nodes.items()}
    ended = np.zeros((len(counts), len(tree)), dtype=np.int64)
    for path, name in enumerate(("oo", "o x", "x", "x insist o", "x insist x")):
        if name in nodes:
            ended[:, nodes[name]] = counts[:, path]
    through = np.stack([ended[:, at : at + size].sum(axis=1) for at, size in enumerate(tree.size.tolist())], axis=1)
    return tree, ended, through, nodes


def modelled(counts: Counts, place: str, difference: float, system: Counts | None = None) -> NodeModel:
    tree, ended, through, nodes = folded(counts)
    branch = nodes[place]
    node, own = int(tree.parent[branch]), np.zeros(len(counts), dtype=np.int64) if system is None else system
    share = (through[:, branch] / through[:, 0]).sum() / (through[:, node] / through[:, 0]).sum()
    return node_model(tree, ended, through, own, node, branch, float(share + difference), np.random.default_rng(1))


def counts_of(topics: int, trials: int, seed: int = 1, alike: float = 5.0) -> Counts:
    """Answers o or x of single turns, with chances of topics that are Beta(.6·c, .4·c)."""
    rng = np.random.default_rng(seed)
    useful = rng.binomial(trials, rng.beta(0.6 * alike, 0.4 * alike, size=topics))
    return np.stack([useful, 0 * useful, trials - useful, 0 * useful, 0 * useful], axis=1)


@pytest.fixture(scope="module")
def model() -> NodeModel:
    rng = np.random.default_rng(3)
    odds = np.array(USUAL) + np.array(SPREAD) * rng.normal(size=(60, 4))
    return modelled(rng.multinomial(8, law(odds)), "oo", -0.2)


def test_the_statistic_is_that_of_the_test_and_a_node_is_named_if_it_exceeds_the_critical_value(
    model: NodeModel,
) -> None:
    node, named = int(model.nodes[model.way]), 0
    for one in drawn_studies(model, 12, 4, 30, np.random.default_rng(2)):
        tests = node_tests(one, np.random.default_rng(3), draws=199)
        (z,) = largest_z(one.through[None, :, :, node], one.way_counts[None][..., one.nodes == node])
        assert z == pytest.approx(tests.z[node])
        tested = np.flatnonzero(~np.isnan(tests.p))
        assert ((tests.z[tested] > tests.critical + 1e-9) == (tests.p[tested] <= 0.05)).all()
        named += bool(tests.p[node] <= 0.05)
    assert 0 < named < 30


def test_simulated_shares_are_the_pilots_on_one_side_and_changed_only_at_the_node_on_the_other(
    model: NodeModel,
) -> None:
    (study,) = drawn_studies(model, 40_000, 4, 1, np.random.default_rng(4))
    taken = study.way_counts.sum(axis=1)
    came = np.stack([np.bincount(model.nodes, side, len(model.tree)) for side in taken])[:, model.nodes]
    expected = np.tile(model.share, (2, 1))
    expected[1, model.way] = model.changed
    other = (model.nodes == model.nodes[model.way]) & (np.arange(len(model.ways)) != model.way)
    expected[1, other] = 1 - model.changed
    assert taken / came == pytest.approx(expected, abs=0.01)
    assert came[0, model.way] / study.trials[0].sum() == pytest.approx(model.share_of_visits, abs=0.01)


@pytest.mark.parametrize("alike", [1.0, 5.0, 40.0])
def test_the_concentration_of_topics_is_estimated(alike: float) -> None:
    found = modelled(counts_of(400, 8, alike=alike), "o", -0.1)
    assert found.spread == pytest.approx(np.sqrt(0.24 / (1 + alike)), abs=0.03)


def test_ends_of_two_kinds_are_simulated_like_two_branches() -> None:
    counts = counts_of(200, 6)[:, [0, 2]]
    tree = fold(np.full((int(counts.sum()), 1), 0), SYMBOLS)
    ends = find_ends(len(tree), tree.ends, ["breakdown"] * int(counts[:, 0].sum()) + ["left"] * int(counts[:, 1].sum()))
    through = np.repeat(counts.sum(axis=1), 2).reshape(-1, 2)
    ended = np.concatenate([np.zeros((200, 1), dtype=np.int64), counts], axis=1)
    own = np.zeros(200, dtype=np.int64)
    rng = np.random.default_rng
    found = node_model(tree, ended, through, own, 1, 1, 0.4, rng(1), ends=ends, end="breakdown")
    known = modelled(counts_of(200, 6), "o", 0.4 - float((counts[:, 0] / 6).mean()))
    assert found.titles[found.way] == "breakdown"
    assert (found.share[found.way], found.spread) == pytest.approx((known.share[known.way], known.spread))
    assert found.share_of_visits == 1
    powers = [node_power(one, 12, 6, rng(2), studies=200).found for one in (found, known)]
    assert powers[0] == pytest.approx(powers[1], abs=0.1)
    (study,) = drawn_studies(found, 20_000, 4, 1, rng(3))
    taken = study.way_counts.sum(axis=1)[:, [place for place, title in enumerate(study.titles) if title == "breakdown"]]
    assert (taken[:, 0] / 80_000).tolist() == pytest.approx([float(found.share[found.way]), 0.4], abs=0.01)
    with pytest.raises(ValueError, match="some trials at the node took it"):
        node_model(tree, ended, through, own, 1, 1, 0.4, rng(1), ends=ends, end="turn-limit")


def test_systems_at_different_levels_do_not_make_topics_differ() -> None:
    rng = np.random.default_rng(5)
    useful = np.concatenate([rng.binomial(10, 0.9, size=50), rng.binomial(10, 0.5, size=50)])
    counts = np.stack([useful, 0 * useful, 10 - useful, 0 * useful, 0 * useful], axis=1)
    alone = modelled(counts, "o", -0.1)
    told = modelled(counts, "o", -0.1, np.repeat([0, 1], 50))
    assert told.spread < 0.06 < alone.spread
    assert told.share[told.way] == alone.share[alone.way] == pytest.approx(0.7, abs=0.03)


def test_a_branch_that_all_took_is_refused() -> None:
    with pytest.raises(ValueError, match="the share of this way cannot change"):
        modelled(counts_of(5, 4), "oo", -0.1)


def test_single_trials_have_no_test_and_so_no_power(model: NodeModel) -> None:
    none = node_power(model, 45, 1, np.random.default_rng(1))
    assert np.isnan([none.found, none.found_error, none.critical]).all()
    assert none.come == pytest.approx(45 * model.share_of_visits)
    assert np.isnan(node_power(model, 1, 2, np.random.default_rng(1)).found), "no node could reach the level"


def test_a_level_that_the_draws_of_the_test_cannot_reach_is_refused(model: NodeModel) -> None:
    with pytest.raises(InputError, match="give no p below"):
        node_power(model, 10, 5, np.random.default_rng(1), alpha=1e-4)


def test_the_power_is_that_of_the_test(model: NodeModel) -> None:
    node, rng = int(model.nodes[model.way]), np.random.default_rng(7)
    promised = node_power(model, 15, 6, rng, studies=200)
    studies = drawn_studies(model, 15, 6, 200, rng)
    named = sum(bool(node_tests(one, rng, draws=99).p[node] <= 0.05) for one in studies)
    assert binom.ppf(0.001, 200, promised.found - 0.05) <= named <= binom.ppf(0.999, 200, promised.found + 0.05)
    assert node_power(model, 30, 6, rng, studies=100).found > promised.found + 0.1


class Promise(NamedTuple):
    """hard: correlation between how hard a topic is at one turn and at others."""

    topics: int
    trials: int
    place: str
    difference: float
    hard: float


PROMISES = [
    Promise(45, 5, "oo", -0.16, 0.0),
    Promise(15, 10, "oo", -0.22, 0.7),
    Promise(15, 20, "o", -0.10, 0.0),
    Promise(22, 2, "o", -0.25, 0.7),
    Promise(90, 5, "x insist o", 0.2, 0.7),
    Promise(45, 10, "x insist o", 0.15, 0.0),
    Promise(8, 10, "x insist", -0.3, 0.7),
    Promise(90, 3, "x insist", -0.2, 0.7),
]


def odds_of(topics: int, hard: float, rng: np.random.Generator) -> Floats:
    """(topics, 4) log odds."""
    each, common = rng.normal(size=(topics, 4)), rng.normal(size=(topics, 1))
    drawn: Floats = np.array(USUAL) + np.array(SPREAD) * (np.sqrt(hard) * common + np.sqrt(1 - hard) * each)
    return drawn


def share_of(odds: Floats, place: str) -> float:
    """Of those that come there, over all topics."""
    paths, (took, came) = law(odds).sum(axis=0), WHERE[place]
    return float(paths[list(took)].sum() / paths[list(came)].sum())


def shifted(odds: Floats, place: str, by: float) -> Floats:
    moved = odds.copy()
    moved[:, PLACES[place]] += by
    return moved


def true_shift(promise: Promise) -> float:
    """The change of log odds that makes the difference."""
    odds = odds_of(200_000, promise.hard, np.random.default_rng(6))
    wanted = share_of(odds, promise.place) + promise.difference
    low, high = -10.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        over = share_of(shifted(odds, promise.place, middle), promise.place) > wanted
        low, high = (low, middle) if over else (middle, high)
    return low


def found_by_the_test(promise: Promise, studies: int, rng: np.random.Generator) -> float:
    """The share of studies in which the turn is named."""
    shift, found = true_shift(promise), 0
    names = tuple(f"T{number:02d}" for number in range(promise.topics))
    for _ in range(studies):
        odds = odds_of(promise.topics, promise.hard, rng)
        sides = [rng.multinomial(promise.trials, law(own)) for own in (odds, shifted(odds, promise.place, shift))]
        tree, ended, through, nodes = folded(np.concatenate(sides))
        shape = (2, promise.topics, len(tree))
        both = BothSides(tree, ("0", "1"), names, ended.reshape(shape), through.reshape(shape))
        branch = nodes.get(promise.place)
        tests = node_tests(both, rng, draws=499)
        found += branch is not None and bool(tests.p[tree.parent[branch]] <= 0.05)
    return found / studies


def promised(promise: Promise, pilot: tuple[int, int], rng: np.random.Generator, runs: int = 1) -> float:
    """By a pilot of so many topics and trials, over several runs of the simulation."""
    counts = rng.multinomial(pilot[1], law(odds_of(pilot[0], promise.hard, rng)))
    model = modelled(counts, promise.place, promise.difference)
    return float(np.mean([node_power(model, promise.topics, promise.trials, rng).found for _ in range(runs)]))


@pytest.mark.soak
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_the_promise_of_a_large_pilot_is_kept_by_the_test(promise: Promise) -> None:
    rng = np.random.default_rng(11)
    given, studies = promised(promise, (1000, 10), rng, 4), 1000
    found = found_by_the_test(promise, studies, rng)
    small = [promised(promise, (45, 10), rng) for _ in range(20)]
    low, high = np.quantile(small, [0.1, 0.9])
    print(
        f"\n| {promise.topics} × {promise.trials} | {NAMES[promise.place]} | {100 * promise.difference:+.0f} "
        f"| {promise.hard:g} | {given:.3f} | {found:.3f} | {low:.2f} to {high:.2f} |"
    )
    error = 3 * np.sqrt(found * (1 - found) / studies)
    assert abs(found - given) <= 0.05 + error
