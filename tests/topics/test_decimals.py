"""Numbers for people: what rounds to zero has no sign, wherever numbers are written."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.table import shown_value
from tests.support.checkout import ROOT
from topics.decimals import decimal, format_change, percent, round_roughly, significant_digits

# A share as a percentage in a format of its own. The words and figures of a watch are not among them yet.
PERCENT_FORMAT = re.compile(r"\{[^{}\"]*100 \* [^{}\"]*:\.\df\}|\{[^{}]*:\.\d%\}")
SIGNED_FORMAT = re.compile(r"\{[^{}]*:\+z?[,.0-9]*[fg]?\}")


@pytest.mark.parametrize(
    ("value", "share", "said"),
    [
        (-1e-17, True, "0.0"),
        (1e-17, True, "0.0"),
        (-0.0004, True, "0.0"),
        (-0.0006, True, "-0.1"),
        (0.31, True, "+31.0"),
        (-0.00001, False, ".0000"),
        (-0.0123, False, "-.0123"),
        (0.5, False, "+.5000"),
        (10.5, False, "+10.5000"),
        (-20.25, False, "-20.2500"),
        (100.0, False, "+100.0000"),
        (math.nan, True, "n/a"),
        (math.nan, False, "n/a"),
    ],
)
def test_a_difference_is_written_with_its_sign_or_is_zero(value: float, share: bool, said: str) -> None:
    assert format_change(value, share=share) == said


@pytest.mark.parametrize(
    ("share", "digits", "said"),
    [
        (23 / 40, 0, "58%"),  # 100 * 23 / 40 is 57.5, and 100 * (23 / 40) is 57.49999999999999
        (9 / 40, 0, "22%"),
        (0.575, 1, "57.5%"),
        (0.12345, 2, "12.34%"),
        (0.12355, 2, "12.36%"),
        (-0.0001, 0, "0%"),
        (math.nan, 1, "n/a"),
    ],
)
def test_the_middle_between_two_percentages_is_rounded_to_the_even_one(share: float, digits: int, said: str) -> None:
    assert percent(share, digits) == said


@given(st.integers(1, 2000), st.integers(0, 2000), st.integers(0, 2))
def test_a_percentage_is_the_same_however_its_share_is_computed(n: int, k: int, digits: int) -> None:
    ways = (100 * (k / n), 100 * k / n, k / n * 100, 100 - 100 * (1 - k / n))
    assert len({decimal(way, digits) for way in ways}) == 1


def test_no_other_code_rounds_percentages() -> None:
    """Python writes 57% for 100 * 0.575, and 58% for 100 * 23 / 40."""
    found = [
        f"{path.relative_to(ROOT)}: {wrong[0]}"
        for folder in ("harvest", "scoring", "recordings", "simulators", "protocols", "topics")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for wrong in PERCENT_FORMAT.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@given(st.floats(-1e6, 1e6), st.integers(0, 6), st.booleans(), st.booleans())
def test_a_decimal_reads_back_as_the_rounded_value_and_zero_has_no_sign(
    value: float, digits: int, signed: bool, bare: bool
) -> None:
    text = decimal(value, digits, signed=signed, bare=bare)
    found = float(text)
    assert found == pytest.approx(value, abs=0.5000001 * 10**-digits)
    assert (text[0] in "+-") == (found < 0 or (signed and found > 0))
    assert not text.lstrip("+-").startswith("0.") or not bare


def test_significant_digits_and_values_of_measures_have_no_minus_zero() -> None:
    assert [significant_digits(one, 3, signed=True) for one in (-0.0, 0.0123, -1234.5)] == ["0", "+0.0123", "-1.23e+03"]
    assert [shown_value(name, -1e-9) for name in ("%useful", "R")] == ["0.0%", "0.0000"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0"), (1, "1"), (36.6, "37"), (99, "99"), (101, "100"), (117, "120"), (10_982, "11,000"), (17_866, "18,000")],
)
def test_an_estimate_from_an_estimate_has_two_digits(number: float, said: str) -> None:
    assert round_roughly(number) == said


def test_no_other_code_writes_signs_for_people() -> None:
    """A format of its own would write -0.0 again."""
    found = [
        f"{path.relative_to(ROOT)}: {wrong[0]}"
        for folder in ("harvest", "scoring", "recordings", "simulators", "protocols", "topics")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for wrong in SIGNED_FORMAT.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
