"""Good-Turing's estimate of unseen mass: what it is, where its interval ends, and that it is calibrated."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.inference.proportions import wilson_ends
from scoring.inference.unseen import unseen_mass
from tests.benchmarks import unseen as unseen_bench
from tests.support.checkout import DOCS


def test_the_estimate_is_the_kinds_seen_once_over_the_trials() -> None:
    found = unseen_mass([3, 0, 1], [2, 0, 0], [20, 7, 1])
    assert found.estimate.tolist() == [0.15, 0.0, 1.0]


def test_the_upper_end_is_beyond_wilsons_even_without_kinds_seen_twice() -> None:
    for once, n in ((0, 1), (0, 59), (4, 20), (19, 20)):
        assert float(wilson_ends(once, n)[1]) < float(unseen_mass(once, 0, n).high) <= 1
    assert float(unseen_mass(20, 0, 20).high) == 1


def test_nothing_seen_once_does_not_mean_that_nothing_is_unseen() -> None:
    found = unseen_mass(0, 0, 10)
    assert float(found.low) == 0
    assert float(found.high) > 0.25


def test_up_to_three_kinds_seen_once_may_have_been_the_last_ones() -> None:
    assert unseen_mass([1, 2, 3], 0, 50).low.tolist() == [0, 0, 0]
    assert float(unseen_mass(12, 0, 50).low) > 0


def test_kinds_seen_twice_make_the_interval_wider() -> None:
    few, many = unseen_mass(15, 0, 50), unseen_mass(15, 10, 50)
    assert few.low > many.low
    assert few.high < many.high


def test_without_trials_nothing_is_known() -> None:
    found = unseen_mass(0, 0, 0)
    assert math.isnan(float(found.estimate))
    assert math.isnan(float(found.low))
    assert math.isnan(float(found.high))
    assert int(found.n) == 0


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.floats(0.5, 0.999))
def test_the_estimate_is_in_its_interval_and_the_interval_in_0_to_1(
    once: int, twice: int, more: int, level: float
) -> None:
    n = once + 2 * twice + 3 * more
    found = unseen_mass(once, twice, n, level)
    if n:
        assert 0 <= float(found.low) <= float(found.estimate) <= float(found.high) <= 1


@pytest.mark.parametrize(
    ("once", "twice", "n", "level"), [(-1, 0, 5, 0.95), (0, -1, 5, 0.95), (4, 1, 5, 0.95), (1, 0, 5, 1.0)]
)
def test_impossible_counts_are_refused(once: int, twice: int, n: int, level: float) -> None:
    with pytest.raises(ValueError):
        unseen_mass(once, twice, n, level)


@pytest.mark.parametrize("name", unseen_bench.WORLDS)
def test_estimates_are_calibrated(name: str) -> None:
    rng = np.random.default_rng(7)
    for n in (5, 20, 100):
        cell = unseen_bench.simulated(unseen_bench.WORLDS[name], n, 1500, rng)
        # It estimates what n - 1 trials leave unseen: too high by at most 1/n. The rest is the simulation's own error.
        assert -4 * 0.5 / math.sqrt(1500 * n) <= cell.estimate - cell.truth <= 1 / n + 4 * 0.5 / math.sqrt(1500 * n)
        assert cell.held >= 0.92, (n, cell)  # of 1,500 simulations


def test_the_plot_is_a_picture_with_every_world_in_it() -> None:
    text = (DOCS / "unseen.svg").read_text(encoding="utf-8")
    said = " ".join(ElementTree.fromstring(text).itertext())
    for name in unseen_bench.WORLDS:
        assert name in said


@pytest.mark.parametrize("name", ["unseen.svg", "trees.svg"])
def test_a_plot_has_colours_for_a_dark_page_and_keeps_within_its_frame(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    wide = float(root.attrib["viewBox"].split()[2])
    assert "prefers-color-scheme:dark" in text
    assert '"#ffffff"' not in text, "a white box stays white in the dark"
    for one in root.iter("{http://www.w3.org/2000/svg}text"):
        if one.get("text-anchor") is None and "transform" not in one.attrib:
            said = "".join(one.itertext())
            assert float(one.attrib["x"]) + 7.5 * len(said) <= wide, f"13 px letters: {said!r} is cut"


@pytest.mark.soak
def test_the_plot_and_the_table_in_the_docs_are_what_the_simulation_gives() -> None:
    cells = unseen_bench.table(4000)
    assert (DOCS / "unseen.svg").read_text(encoding="utf-8") == unseen_bench.picture(cells)
    assert unseen_bench.written(cells) in (DOCS / "stochastic.md").read_text(encoding="utf-8")
