"""The oracles give what their papers print, what SciPy and statsmodels give, or what can be worked out by hand."""

import itertools
import math
import random

import pytest
from scipy import stats

from tests.support.oracles import (
    agreement,
    components,
    corrected,
    designs,
    families,
    losses,
    means,
    shares,
    tails,
    watches,
)

SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Shrout & Fleiss, Psychological Bulletin 86, 1979, Table 2: six targets, four judges."""
KRIPPENDORFF = [
    [1, 1, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [5, 5, 5],
    [1, 1],
    [3],
]
"""Krippendorff 2011, section C: four observers, twelve units."""


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (7, 15), (39, 40), (40, 40)])
def test_intervals_of_a_share_are_scipys(k: int, n: int) -> None:
    test = stats.binomtest(k, n)
    assert shares.clopper_pearson(k, n) == pytest.approx(tuple(test.proportion_ci(method="exact")), abs=1e-9)
    assert shares.wilson(k, n) == pytest.approx(tuple(test.proportion_ci(method="wilson")), abs=1e-9)


def test_59_clean_trials_exclude_a_failure_rate_of_five_percent_and_58_do_not() -> None:
    assert shares.no_failure_in(59) < 0.05 < shares.no_failure_in(58)
    assert shares.clopper_pearson(0, 59, 0.9)[1] == pytest.approx(shares.no_failure_in(59))


def test_newcombes_first_example() -> None:
    """56/70 − 48/80 (Newcombe 1998, Table II (a), method 10)."""
    assert shares.newcombe(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_the_ratio_of_two_means_with_a_certain_bottom_is_that_of_the_upper_interval() -> None:
    assert shares.ratio(2.0, (1.5, 3.0), 4.0, (4.0, 4.0)) == pytest.approx((1.5 / 4, 3.0 / 4))


@pytest.mark.parametrize("table", [(1, 0, 15, 15), (3, 1, 1, 3), (8, 2, 1, 9), (0, 5, 0, 7)])
def test_fishers_p_is_scipys(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    assert shares.fisher(a, b, c, d) == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue)


def test_one_recovery_of_one_against_half_of_thirty_shows_nothing() -> None:
    assert shares.fisher(1, 0, 15, 15) == pytest.approx(1.0)


def test_a_clustered_share_without_a_design_effect_is_clopper_pearsons() -> None:
    assert shares.korn_graubard(0.3, 0.3 * 0.7 / 40, 40, 39) == pytest.approx(shares.clopper_pearson(12, 40))
    assert shares.korn_graubard(0.0, 0.0, 40, 7) == pytest.approx(shares.clopper_pearson(0, 40))
    low, high = shares.korn_graubard(0.3, 3 * 0.3 * 0.7 / 40, 40, 7)
    assert low < shares.clopper_pearson(12, 40)[0] < shares.clopper_pearson(12, 40)[1] < high


def test_welchs_interval_is_scipys() -> None:
    one, other = [3.1, 2.7, 4.0, 3.3], [1.0, 9.0, 4.4, 7.2, 5.5, 0.3]
    given = stats.ttest_ind(one, other, equal_var=False)
    low, high, degrees = means.welch(one, other)
    assert degrees == pytest.approx(given.df)
    assert (low, high) == pytest.approx(tuple(given.confidence_interval()))


def test_students_interval_is_scipys() -> None:
    values = [0.2, 0.4, 0.9, -0.1, 0.3]
    given = stats.ttest_1samp(values, 0).confidence_interval()
    assert means.student(values) == pytest.approx((given.low, given.high))


def test_gaffkes_limit_of_all_zeros_is_the_exact_one_of_no_failure() -> None:
    assert means.gaffke([0.0] * 7, 1.0, 0.975) == pytest.approx(shares.clopper_pearson(0, 7)[1], abs=1e-6)


def test_gaffkes_limits_are_the_quantiles_of_their_definition() -> None:
    values, rng = [0.9, 0.3, 0.55, 0.8, 1.0], random.Random(5)
    drawn = []
    for _ in range(40_000):
        weights = [rng.expovariate(1) for _ in range(6)]
        drawn.append(sum(w * v for w, v in zip(weights, [*values, 1.0])) / sum(weights))
    assert means.gaffke(values, 1.0, 0.975) == pytest.approx(sorted(drawn)[39_000], abs=0.004)
    low, high = means.gaffke_both(values, (0.0, 1.0))
    assert 0 < low < 0.71 < high < 1


def test_equivalence_is_shown_exactly_if_the_90_percent_interval_is_within_the_margin() -> None:
    values = [0.01, -0.02, 0.03, 0.0, 0.02, -0.01]
    for margin in (0.01, 0.02, 0.03):
        low, high = means.student(values, 0.9)
        assert (means.equivalent(values, margin) <= 0.05) == (-margin < low and high < margin)


def test_sign_flips_of_five_equal_differences_have_a_p_of_two_in_thirty_two() -> None:
    assert means.sign_flips([1.0, 2.0, 0.5, 1.0, 3.0]) == pytest.approx(2 / 32)


def test_fiellers_interval_of_a_ratio_with_a_certain_bottom_is_students() -> None:
    tops = [1.0, 2.0, 1.5, 1.7]
    low, high = means.student(tops)
    assert means.fieller(tops, [2.0] * 4) == pytest.approx((low / 2, high / 2))


def test_randomised_tukey_of_two_systems_is_the_test_of_sign_flips() -> None:
    matrix = [[0.9, 0.4], [0.7, 0.6], [0.8, 0.85], [0.5, 0.1], [0.6, 0.3]]
    flips = means.sign_flips([row[0] - row[1] for row in matrix])
    assert families.randomised_tukey(matrix)[0, 1] == pytest.approx(flips)


MATRIX = [[0.9, 0.4, 0.5], [0.7, 0.6, 0.1], [0.8, 0.85, 0.3], [0.5, 0.1, 0.2], [0.6, 0.3, 0.4]]


def test_closed_testing_of_three_systems_is_the_larger_of_the_pairs_and_the_familys_p() -> None:
    plain = families.randomised_tukey(MATRIX)
    closed = families.closed_tukey(MATRIX, lambda blocks: [1 / len(blocks)] * len(blocks))
    for one, other in itertools.combinations(range(3), 2):
        alone = families.randomised_tukey([[row[one], row[other]] for row in MATRIX])[0, 1]
        assert closed[one, other] == pytest.approx(max(alone, min(plain.values())))


def test_there_are_fifteen_partitions_of_four() -> None:
    assert len(list(families.partitions((0, 1, 2, 3)))) == 15


def test_sakais_effect_size_uses_the_residual_variance_of_all_systems() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rows = [(t, s, MATRIX[t][s]) for t in range(5) for s in range(3)]
    table = anova_lm(ols("y ~ C(t) + C(s)", pd.DataFrame(rows, columns=["t", "s", "y"])).fit())
    residual = float(table.loc["Residual", "mean_sq"])
    assert families.residual_variance(MATRIX) == pytest.approx(residual)
    first, second = families.column_means(MATRIX)[:2]
    assert families.effect_size(MATRIX, 0, 1) == pytest.approx((first - second) / math.sqrt(residual))


def test_holms_p_of_three() -> None:
    assert families.holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


def test_shrout_and_fleiss_example() -> None:
    found = components.one_way(SHROUT)
    assert (found.mean_square_between, found.mean_square_within) == pytest.approx((11.24, 6.26), abs=0.005)
    assert found.icc == pytest.approx(0.17, abs=0.005)
    assert found.icc_interval() == pytest.approx((-0.133, 0.723), abs=0.001)


def test_components_of_a_table_are_statsmodels_mean_squares_solved() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = random.Random(3)
    table = [[[rng.random() + s * 0.3 + t * 0.1 for _ in range(3)] for t in range(4)] for s in range(3)]
    rows = [(s, t, y) for s in range(3) for t in range(4) for y in table[s][t]]
    square = anova_lm(ols("y ~ C(s) * C(t)", pd.DataFrame(rows, columns=["s", "t", "y"])).fit())["mean_sq"]
    both, trial = float(square["C(s):C(t)"]), float(square["Residual"])
    found = components.two_way(table)
    assert found.trial == pytest.approx(trial)
    assert found.interaction == pytest.approx((both - trial) / 3)
    assert found.system == pytest.approx((float(square["C(s)"]) - both) / 12)
    assert found.topic == pytest.approx((float(square["C(t)"]) - both) / 9)


def test_pass_hat_k_is_the_share_of_draws_that_are_all_good() -> None:
    rows = [[1, 1, 0, 1, 0], [1, 1, 1, 1, 1]]
    assert components.passes(rows, 2) == pytest.approx((3 / 10 + 1) / 2)
    assert math.isnan(components.passes(rows, 6))


def test_the_tail_counts_a_part_of_the_mass_at_its_quantile() -> None:
    values = [0.0, 0.2, 0.4, 0.6, 0.8]
    assert tails.quantile(values, 0.25) == 0.2
    assert tails.lower_tail(values, 0.25) == pytest.approx((0.0 * 0.2 + 0.2 * 0.05) / 0.25)
    assert tails.upper_tail(values, 0.4) == pytest.approx(0.7)
    assert tails.lower_tail(values, 1.0) == pytest.approx(0.4)


def test_ten_values_have_no_limit_above_their_095_quantile() -> None:
    assert tails.order_statistics(10, 0.95)[1] == 11
    assert tails.order_statistics(10, 0.5) == (2, 9)


def test_krippendorffs_example() -> None:
    units = [[float(value) for value in unit] for unit in KRIPPENDORFF]
    assert agreement.alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert agreement.alpha(units, agreement.ordinal(units)) == pytest.approx(0.815, abs=5e-4)
    assert agreement.alpha(units, agreement.interval) == pytest.approx(0.849, abs=5e-4)
    assert math.isnan(agreement.alpha([[1.0, 1.0], [1.0, 1.0]]))


def test_clusters_that_are_equal_throughout_count_once() -> None:
    alone = [0.0, 1.0, 1.0, 0.0, 1.0]
    fives = [value for value in alone for _ in range(5)]
    labels = [number for number in range(5) for _ in range(5)]
    assert designs.clustered(fives, labels) == pytest.approx(designs.clustered(alone, range(5)))
    assert designs.clustered(fives, labels) == pytest.approx(
        designs.design_effect(5, 1) * designs.clustered(fives, range(25))
    )


def test_if_one_of_two_clusterings_is_trivial_the_other_decides() -> None:
    values, pairs = [0.0, 1.0, 0.5, 0.25, 0.0, 1.0], [0, 0, 1, 1, 2, 2]
    assert designs.two_way_clustered(values, pairs, range(6)) == pytest.approx(designs.clustered(values, pairs))


def test_kishs_effective_size_of_equal_weights_is_their_number() -> None:
    assert designs.effective_size([0.2] * 5) == pytest.approx(5)
    assert designs.effective_size([1, 1, 0, 0]) == pytest.approx(2)


def test_the_variance_of_a_ratio_with_equal_bottoms_is_that_of_a_mean() -> None:
    tops = [1.0, 3.0, 2.0, 2.0]
    assert designs.ratio_variance(tops, [4.0] * 4) == pytest.approx(means.variance(tops) / 4 / 16)


def test_the_inflation_of_an_ar_1_tends_to_one_plus_phi_over_one_minus_phi() -> None:
    assert designs.inflation(1, 0.8) == 1
    assert designs.inflation(100_000, 0.8) == pytest.approx(9, rel=1e-3)
    assert designs.lag_one([1.0, -1.0] * 50) == pytest.approx(-0.99)


def test_bounds_of_lost_trials() -> None:
    one, other = [1.0, 0.0, math.nan, 1.0], [1.0, 1.0, 0.0, 0.0]
    assert losses.bounds(one, (0.0, 1.0)) == pytest.approx((0.5, 0.75))
    assert losses.difference_bounds(one, other, (0.0, 1.0)) == pytest.approx((0.0, 0.25))


def test_imbens_and_manskis_interval_is_the_usual_one_without_loss_and_one_sided_with_much_loss() -> None:
    assert losses.imbens_manski((0.5, 0.1), (0.5, 0.1)) == pytest.approx((0.5 - 0.196, 0.5 + 0.196), abs=1e-4)
    low, high = losses.imbens_manski((0.2, 0.01), (0.8, 0.01))
    assert (low, high) == pytest.approx((0.2 - 0.01645, 0.8 + 0.01645), abs=1e-4)


def test_the_e_detector_is_the_recursion_w_becomes_e_times_w_plus_one() -> None:
    looks = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    sums = watches.e_detector(looks, 0.7, [0.2, 0.9])
    for stake in (0.2, 0.9):
        w = 0.0
        for look in looks:
            w = watches.e_value(look, 0.7, stake) * (w + 1)
        assert watches.e_detector(looks, 0.7, [stake])[-1] == pytest.approx(w)
    assert len(sums) == 3


def test_each_side_of_an_audit_has_its_own_variance() -> None:
    """figures.md, F2, one topic: 27 of 40 against 152 of 160 has a standard error of .076."""
    baseline, audit = [[1.0] * 152 + [0.0] * 8], [[1.0] * 27 + [0.0] * 13]
    low, high = watches.topics_difference(baseline, audit)
    assert (low + high) / 2 == pytest.approx(0.675 - 0.95)
    assert (high - low) / 2 == pytest.approx(2 * 0.0768, rel=0.03)
    assert watches.run_difference([0.9, 0.8, 0.7], 0.8)[1] == pytest.approx(4.303 * 0.1 * math.sqrt(4 / 3), rel=1e-3)


def test_a_judge_that_is_always_right_is_worth_as_many_labels_as_it_gives() -> None:
    rng = random.Random(8)
    people = [float(rng.random() < 0.6) for _ in range(200)]
    alone = [float(rng.random() < 0.6) for _ in range(2_000)]
    weight = corrected.best_weight(people, people, alone)
    assert weight == pytest.approx(1 / (1 + 200 / 2_000), rel=0.05)
    assert corrected.estimate(people, people, alone, 1.0) == pytest.approx(means.mean(alone))
    assert corrected.error(people, people, alone, 1.0) == pytest.approx(math.sqrt(means.variance(alone) / 2_000))
    assert corrected.estimate(people, people, alone, 0.0) == pytest.approx(means.mean(people))
