"""Do two systems differ at a node: exact laws, and how often a node is named wrongly or rightly.

Errors lie below the 99.9% point of the binomial of their number at 5%; `make soak` has a thousand of each, and the
table of docs/stochastic.md the same worlds.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from recordings.trees.builder import fold
from recordings.trees.tree import Symbol
from scoring.stochastic.node_permutation import node_tests, whole_tree_test
from scoring.stochastic.parting import BothSides
from tests.benchmarks.parting import APART, PLANTED, SAME, World, errors, findings
from topics.errors import InputError

SYMBOLS = (Symbol("system", "o"), Symbol("system", "x"), Symbol("system", "?"))


def answers(*topics: tuple[str, str]) -> BothSides:
    """Of each topic the single answers of either side, as letters o, x and ?."""
    rows = [(letter, side, topic) for topic, pair in enumerate(topics) for side in (0, 1) for letter in pair[side]]
    paths = np.array([["ox?".index(letter)] for letter, _, _ in rows])
    names = tuple(f"T{number}" for number in range(len(topics)))
    return BothSides.count_trials(fold(paths, SYMBOLS), [row[1] for row in rows], [row[2] for row in rows], names)


def test_for_one_topic_and_two_branches_p_is_that_of_the_hypergeometric_law() -> None:
    both = answers(("o" * 8 + "x" * 2, "o" * 3 + "x" * 7))
    law = stats.hypergeom(20, 11, 10)
    likely = sum(law.pmf(count) for count in range(11) if abs(count - 5.5) >= 2.5)
    tests = node_tests(both, np.random.default_rng(1), draws=19_999)
    assert tests.p[0] == pytest.approx(likely, abs=0.01)
    assert tests.z[0] == pytest.approx(2.5 / np.sqrt(10 * 10 * 11 * 9 / (20**2 * 19)))
    assert (tests.family, tests.out, tests.topics) == (1, 0, 1)
    # Whole conversations are single answers here, and both statistics order tables alike.
    assert whole_tree_test(both, np.random.default_rng(2), draws=19_999).p == pytest.approx(likely, abs=0.01)


@pytest.mark.parametrize("ends", [("breakdown", "user-stopped"), ("user-stopped (satisfied)", "turn-limit")])
def test_ends_of_two_kinds_are_tested_like_two_branches(ends: tuple[str, str]) -> None:
    """The same counts, once as two answers and once as two ends after one answer."""
    letters = (("o" * 8 + "x" * 2, "o" * 3 + "x" * 7), ("oox", "oxx"))
    rows = [(letter, side, topic) for topic, pair in enumerate(letters) for side in (0, 1) for letter in pair[side]]
    how = [ends["ox".index(letter)] for letter, _, _ in rows]
    tree = fold(np.full((len(rows), 1), 1), SYMBOLS)
    sides, topics = [row[1] for row in rows], [row[2] for row in rows]
    both = BothSides.count_trials(tree, sides, topics, ("T0", "T1"), how=how)
    branched = answers(*letters)
    tests, known = (node_tests(one, np.random.default_rng(1), draws=19_999) for one in (both, branched))
    assert tests.z[1] == pytest.approx(known.z[0])
    assert tests.p[1] == pytest.approx(known.p[0], abs=0.01)
    assert (tests.family, tests.out) == (known.family, known.out) == (1, 0)
    whole, other = (whole_tree_test(one, np.random.default_rng(2), draws=9_999) for one in (both, branched))
    assert (whole.p, whole.by_chance) == pytest.approx((other.p, other.by_chance), abs=0.01)
    alike = BothSides.count_trials(tree, sides, topics, ("T0", "T1"), how=["breakdown"] * len(rows))
    assert whole_tree_test(alike, np.random.default_rng(2)).p == 1


def test_an_easy_and_a_hard_topic_make_no_difference() -> None:
    apart = answers(("o" * 36 + "x" * 4, "o" * 9 + "x"), ("o" + "x" * 9, "o" * 4 + "x" * 36))
    together = answers(("o" * 37 + "x" * 13, "o" * 13 + "x" * 37))
    tests = node_tests(apart, np.random.default_rng(1), draws=199)
    assert (tests.z[0], tests.p[0]) == pytest.approx((0, 1))
    assert node_tests(together, np.random.default_rng(1), draws=199).p[0] < 0.01


@pytest.mark.parametrize(
    "topics", [(("oox", "xx?"),), (("oo", "xx"), ("ooxo", "xxx")), (("o" * 4, "x" * 4), ("ox", "?o"), ("o?", "xx"))]
)
def test_few_permutations_are_all_used_and_the_seed_does_not_matter(topics: tuple[tuple[str, str], ...]) -> None:
    both = answers(*topics)
    seen = [node_tests(both, np.random.default_rng(seed), draws=19, level=0.5) for seed in range(4)]
    whole = [whole_tree_test(both, np.random.default_rng(seed), draws=19) for seed in range(4)]
    assert len({one.p[0] for one in seen}) == 1
    assert len({(one.p, one.by_chance) for one in whole}) == 1
    # By hand: every choice of which trials are of the second side.
    deals = []
    for one, other in topics:
        letters = one + other
        deals.append([tuple(letters[at] for at in taken) for taken in combinations(range(len(letters)), len(other))])
    counted = [[sum(deal.count(letter) for deal in chosen) for letter in "ox?"] for chosen in product(*deals)]
    expected = np.mean(counted, axis=0)
    spread = np.zeros(3)
    for one, other in topics:
        m, ways = len(one + other), np.array([(one + other).count(way) for way in "ox?"])
        spread += len(one) * len(other) * ways * (m - ways) / (m**2 * (m - 1))
    some = spread > 0
    z = (np.abs(np.array(counted) - expected)[:, some] / np.sqrt(spread[some])).max(axis=1)
    mine = np.array([sum(other.count(way) for _, other in topics) for way in "ox?"])
    observed = (np.abs(mine - expected)[some] / np.sqrt(spread[some])).max()
    assert seen[0].z[0] == pytest.approx(observed)
    assert seen[0].p[0] == pytest.approx((z >= observed - 1e-9).mean())


@pytest.mark.parametrize("topics", [(("oo", "xx"), ("o", "x")), (("ooo", "xxx"),), (("oo", "xx?"),)])
def test_a_node_that_no_permutation_can_make_significant_is_not_tested_for_any_seed(
    topics: tuple[tuple[str, str], ...],
) -> None:
    for seed in range(40):
        tests = node_tests(answers(*topics), np.random.default_rng(seed), draws=19)
        assert (tests.family, tests.out) == (0, 1)
        assert np.isnan(tests.p[0])


def test_few_and_many_permutations_give_the_same_p_up_to_the_error_of_draws() -> None:
    both = answers(("ooooxx", "xxxxxo"), ("ooo", "oxx"))
    exact, all_deals = node_tests(both, np.random.default_rng(1)), whole_tree_test(both, np.random.default_rng(1))
    drawn = node_tests(both, np.random.default_rng(1), enumerated=0)
    some = whole_tree_test(both, np.random.default_rng(1), enumerated=0)
    assert drawn.p[0] == pytest.approx(exact.p[0], abs=0.02)
    assert some.p == pytest.approx(all_deals.p, abs=0.03)
    assert some.by_chance == pytest.approx(all_deals.by_chance, abs=0.01)


def test_the_same_seed_gives_the_same_p() -> None:
    both = answers(("ooxo", "xxox"), ("ooo?", "x?xx"))
    one, other = (node_tests(both, np.random.default_rng(3), draws=199) for _ in range(2))
    np.testing.assert_array_equal(one.p, other.p)


def test_nodes_that_cannot_reach_the_level_leave_the_family_at_no_cost_to_others() -> None:
    """After o the sides differ. Only four came to x, two of either, so a third of their tables is as extreme as can be;
    and of 24 first answers only four are x, so that no table of these is rare enough either."""
    letters = {"oo": 9, "ox": 1, "xo": 2, "xx": 0}, {"oo": 1, "ox": 9, "xo": 0, "xx": 2}
    rows = [(path, side) for side in (0, 1) for path, count in letters[side].items() for _ in range(count)]
    paths = np.array([["ox".index(letter) for letter in path] for path, _ in rows])
    tree = fold(paths, SYMBOLS[:2])
    both = BothSides.count_trials(tree, [side for _, side in rows], [0] * len(rows), ("T0",))
    tests = node_tests(both, np.random.default_rng(1))
    useful, failed = (tree.child(0, "system", key) or 0 for key in "ox")
    assert (tests.family, tests.out) == (1, 2)
    assert np.isnan(tests.p[[0, failed]]).all()
    assert tests.z[failed] == pytest.approx(np.sqrt(3))
    alone = node_tests(answers(("o" * 9 + "x", "o" + "x" * 9)), np.random.default_rng(1))
    assert tests.p[useful] == pytest.approx(alone.p[0], abs=0.002)


def test_sides_that_never_met_at_a_node_have_no_p() -> None:
    tests = node_tests(answers(("ooxx", "ox"), ("oo", "oo")), np.random.default_rng(1), draws=19)
    assert tests.z[0] == 0
    none = node_tests(answers(("oo", "oo"), ("x", "xx")), np.random.default_rng(1), draws=19)
    assert np.isnan(none.z).all()
    assert none.family == none.out == 0
    assert whole_tree_test(answers(("oo", "oo")), np.random.default_rng(1)).p == 1


def test_one_trial_per_topic_on_either_side_is_refused_and_such_a_topic_is_left_out() -> None:
    with pytest.raises(InputError, match="one trial on either side"):
        node_tests(answers(("o", "x"), ("x", "x")), np.random.default_rng(1))
    assert node_tests(answers(("o", "x"), ("oooo", "xxxx")), np.random.default_rng(1)).topics == 1
    assert node_tests(answers(("oo", "x")), np.random.default_rng(1)).topics == 1


@pytest.mark.parametrize(("draws", "level"), [(0, 0.05), (18, 0.05), (999, 0.0), (99, 0.001)])
def test_too_few_draws_for_the_level_are_refused(draws: int, level: float) -> None:
    with pytest.raises(InputError, match="give no p below"):
        node_tests(answers(("oo", "xx")), np.random.default_rng(1), draws=draws, level=level)


def too_many(count: float, simulations: int, share: float = 0.05) -> bool:
    """More than the binomial law of that share gives in 999 of 1000."""
    return bool(round(count * simulations) > stats.binom.ppf(0.999, simulations, share))


@pytest.mark.parametrize("world", [SAME[1], SAME[2], APART[1]], ids=lambda world: world.name)
def test_nodes_are_hardly_ever_named_wrongly(world: World) -> None:
    found = errors(world, 40, otherwise=False)
    assert not too_many(found.nodes, 40)
    if world in SAME:
        assert not too_many(found.whole, 40)


def test_a_planted_node_is_named_first() -> None:
    _, first = findings(PLANTED[2], 20)
    assert not too_many(1 - first, 20, 0.1)


@pytest.mark.soak
@pytest.mark.parametrize("world", [*SAME, *APART], ids=lambda world: world.name)
def test_in_a_thousand_runs_at_most_one_in_twenty_names_a_node_wrongly(world: World) -> None:
    found = errors(world, 1000, otherwise=False)
    assert not too_many(found.nodes, 1000)
    if world in SAME:
        assert not too_many(found.whole, 1000)
        # What the draws say of chance is what sides that do not differ have.
        assert found.by_chance == pytest.approx(found.divergence, rel=0.1)


@pytest.mark.soak
@pytest.mark.parametrize("world", PLANTED[:3], ids=lambda world: world.name)
def test_a_planted_node_is_named_first_in_nine_of_ten_runs(world: World) -> None:
    assert findings(world, 300)[1] >= 0.9
