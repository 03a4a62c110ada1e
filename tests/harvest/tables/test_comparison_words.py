"""How a difference is printed if what is left of lost trials is none of the possible differences."""

import math
from dataclasses import replace

from harvest.tables.comparison_words import difference_text, drawn_ends, figure_text, is_known
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.interval import Interval
from scoring.inference.needed import NeededSize


def pair(value: float, bounds: tuple[float, float] | None) -> tuple[MeasureComparison, Pair]:
    found = Interval(-0.44, 0.2, "a method", "topics")
    size = NeededSize(math.nan, math.nan)
    one = Pair("A", "B", value, found, 0.4, 0.4, math.nan, 1.0, 3, 7, 2, (), size, "cannot tell", bounds=bounds)
    return MeasureComparison("ave%useful", None, None, "like-these", {}, (), (), (5, 5), (one,), {}), one


def test_a_difference_outside_its_bounds_is_replaced_by_them_in_either_direction() -> None:
    measure, one = pair(0.009, (-0.058, -0.233))
    assert not is_known(one)
    assert difference_text(measure, one) == "-23.3 to -5.8"
    assert difference_text(measure, one, turned=True) == "+5.8 to +23.3"


def test_for_a_selection_only_the_bounds_of_the_difference_and_of_the_figures_are_printed() -> None:
    measure, one = pair(0.0, (-0.042, 0.236))
    one = replace(one, selected=True)
    measure = replace(measure, figures={"A": 0.847, "B": 0.847}, ranges={"B": (0.611, 0.847)})
    assert (figure_text(measure, "A"), figure_text(measure, "B")) == ("84.7%", "61.1% to 84.7%")
    assert difference_text(measure, one) == "-4.2 to +23.6"
    nowhere = (math.nan,) * 2
    value, *ends = drawn_ends(one, (0.0, *nowhere), turned=True)
    assert math.isnan(value), "the eye would read a point in the middle as: the same"
    assert ends == [-0.236, 0.042]
    assert drawn_ends(replace(one, selected=False), (0.0, -0.1, 0.1), turned=False) == (0.0, -0.1, 0.1)


def test_a_difference_within_its_bounds_or_at_their_end_or_without_any_is_printed() -> None:
    for bounds in ((-0.058, 0.1), (0.009 + 1e-12, 0.3), None):
        measure, one = pair(0.009, bounds)
        assert difference_text(measure, one) == "+0.9"
        assert difference_text(measure, one, turned=True) == "-0.9"
    assert difference_text(*pair(math.nan, None)) == "n/a"
