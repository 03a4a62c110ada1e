"""Topic set size design against SciPy, and its numbers of topics as the fewest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f, ncf, nct, t

from tests.support.sample_size import (
    anova_power,
    expected_width,
    paired_t_power,
    topics_for_anova,
    topics_for_paired_t,
    topics_for_width,
)


@pytest.mark.parametrize(("topics", "effect"), [(2, 1.0), (15, 0.3), (45, 0.5), (400, 0.2), (4000, 0.5)])
def test_power_is_that_of_the_noncentral_distributions(topics: int, effect: float) -> None:
    far, centre = t.ppf(0.975, topics - 1), effect * math.sqrt(topics)
    wanted = nct.sf(far, topics - 1, centre) + nct.cdf(-far, topics - 1, centre)
    assert paired_t_power(topics, effect, alpha=0.05) == pytest.approx(wanted, abs=1e-8)
    for systems in (2, 4, 10):
        degrees = systems - 1, systems * (topics - 1)
        wanted = ncf.sf(f.ppf(0.95, *degrees), *degrees, topics * effect**2 / 2)
        assert anova_power(topics, systems, effect, alpha=0.05) == pytest.approx(wanted, abs=1e-8)


def test_without_an_effect_power_is_alpha() -> None:
    assert paired_t_power(20, 0.0, alpha=0.05) == pytest.approx(0.05)
    assert anova_power(20, 3, 0.0, alpha=0.01) == pytest.approx(0.01)


def test_the_expected_width_is_that_of_intervals_of_normal_values() -> None:
    drawn = np.random.default_rng(1).normal(0, 0.3, (20_000, 8)).std(axis=1, ddof=1)
    seen = 2 * 2.364624 * drawn / math.sqrt(8)
    assert expected_width(8, 0.3, level=0.95) == pytest.approx(seen.mean(), abs=5 * seen.std() / math.sqrt(20_000))


@settings(max_examples=12, deadline=None)
@given(st.floats(0.2, 2), st.sampled_from([0.5, 0.8, 0.95]), st.integers(2, 8))
def test_numbers_of_topics_are_the_fewest_that_do(effect: float, power: float, systems: int) -> None:
    topics = topics_for_paired_t(effect, alpha=0.05, power=power)
    assert paired_t_power(int(topics), effect, alpha=0.05) >= power
    assert topics == 2 or paired_t_power(int(topics) - 1, effect, alpha=0.05) < power
    topics = topics_for_anova(systems, effect, alpha=0.05, power=power)
    assert anova_power(int(topics), systems, effect, alpha=0.05) >= power
    assert topics == 2 or anova_power(int(topics) - 1, systems, effect, alpha=0.05) < power
    topics = topics_for_width(1.0, effect, level=0.95)
    assert expected_width(int(topics), 1.0, level=0.95) <= effect
    assert topics == 2 or expected_width(int(topics) - 1, 1.0, level=0.95) > effect


def test_an_impossible_number_is_infinite_and_an_impossible_design_is_refused() -> None:
    assert topics_for_paired_t(0.0, alpha=0.05, power=0.8) == math.inf
    with pytest.raises(ValueError, match="at least two"):
        paired_t_power(1, 0.5, alpha=0.05)
    with pytest.raises(ValueError, match="at least two"):
        expected_width(5, 1, level=1.0)
    with pytest.raises(ValueError, match="at least two"):
        anova_power(5, 1, 1, alpha=0.05)
