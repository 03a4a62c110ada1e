"""Attribute sets: values as pages give them become membership vectors, or are refused with a reason."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.attributes import REGIONS, AttributeSet, countries, normalise_shares, uniform_shares
from topics.library import load_topics
from topics.quantities import read_quantity

SETS = load_topics("fairweb-45").attributes
RATINGS, ORIGIN, HINDEX, PRONOUN, SUBSCS = (SETS[n] for n in ("RATINGS", "ORIGIN", "HINDEX", "PRONOUN", "SUBSCS"))
THIRD = 1 / 3


def group(attribute: AttributeSet, raw: str) -> int:
    """The one group, from 1, that `raw` belongs to."""
    vector = attribute.membership(raw)
    assert sorted(vector) == [0.0] * (len(vector) - 1) + [1.0]
    return vector.index(1.0) + 1


# ------------------------------------------------------------------------- GFRC paper, Figure 5


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        *(("1.3M", 4), ("898K", 3), ("661K", 3), ("2M", 4), ("43K", 3)),
        *(("634K", 3), ("508K", 3), ("592K", 3), ("711K", 3), ("294K", 3)),
    ],
)
def test_ratings_of_figure_5(raw: str, expected: int) -> None:
    assert group(RATINGS, raw) == expected


@pytest.mark.parametrize(
    ("raw", "vector"),
    [
        ("United States", (0, 1, 0, 0, 0, 0, 0, 0)),
        ("United Kingdom,United States", (0, 0.5, 0, 0, 0, 0.5, 0, 0)),
        ("United States,United Kingdom,Canada", (0, 2 / 3, 0, 0, 0, 1 / 3, 0, 0)),
        ("United States; United Kingdom; Canada", (0, 2 / 3, 0, 0, 0, 1 / 3, 0, 0)),
        ("United States,Canada", (0, 1, 0, 0, 0, 0, 0, 0)),
        ("United States,China", (0, 0.5, 0, 0.5, 0, 0, 0, 0)),
        ("Australia,United States", (0, 0.5, 0, 0, 0, 0, 0, 0.5)),
    ],
)
def test_origins_of_figure_5_as_countries_and_as_printed_vectors(raw: str, vector: tuple[float, ...]) -> None:
    assert ORIGIN.membership(raw) == vector
    printed = "(" + ",".join(str(Fraction(share).limit_denominator(9)) for share in vector) + ")"
    assert ORIGIN.membership(printed) == vector


def test_the_gold_of_origin_is_that_of_the_fairweb_task() -> None:
    # NTCIR-17 FairWeb-1, ORIGIN gold distribution, printed with nine digits
    printed = (0.244725738, 0.111814346, 0.008438819, 0.154008439, 0.099156118, 0.200421941, 0.080168776, 0.101265823)
    assert ORIGIN.groups == REGIONS
    assert ORIGIN.gold == pytest.approx(printed, abs=1e-9)


def test_the_other_golds_are_uniform_and_the_bounds_those_of_the_task() -> None:
    assert RATINGS.gold == HINDEX.gold == SUBSCS.gold == (0.25,) * 4
    assert PRONOUN.gold == (THIRD, THIRD, THIRD)
    assert RATINGS.bounds == SUBSCS.bounds == (100, 10_000, 1_000_000)
    assert HINDEX.bounds == (10, 30, 50)
    assert RATINGS.groups == ("x < 100", "100 <= x < 10K", "10K <= x < 1M", "1M <= x")
    assert [s.scale for s in (RATINGS, ORIGIN, HINDEX, PRONOUN, SUBSCS)] == [
        *("ordinal", "nominal", "ordinal", "nominal", "ordinal")
    ]


# ------------------------------------------------------------------------- ordinal sets


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        *(
            ("0", 1),
            ("99", 1),
            ("99.9", 1),
            ("100", 2),
            ("9999", 2),
            ("9,999", 2),
            ("10000", 3),
            ("10K", 3),
            ("10k", 3),
        ),
        *(("999K", 3), ("999,999", 3), ("1M", 4), ("1000K", 4), ("1,000,000", 4), ("2B", 4), ("1.3 million", 4)),
        *(("12.5 thousand", 3), ("1 300 000", 4), ("1\u202f300\u202f000", 4), ("1'300'000", 4), ("1.300.000", 4)),
        *(("1,234", 2), ("12,34,567", 4), ("1,234.5", 2), ("1.234,5", 2), ("1,3M", 4), ("1.234K", 2), ("+5", 1)),
        *(
            ("under 100", 1),
            ("<100", 1),
            ("less than 100", 1),
            ("up to 99", 1),
            ("1M+", 4),
            ("over 1M", 4),
            (">= 1M", 4),
        ),
        *(
            ("1M or more", 4),
            ("10K-20K", 3),
            ("between 100 and 200", 2),
            ("100 – 9K", 2),
            ("x < 100", 1),
            ("1M <= X", 4),
        ),
    ],
)
def test_unambiguous_values_are_understood(raw: str, expected: int) -> None:
    assert group(RATINGS, raw) == expected
    assert group(RATINGS, f"  {raw} ") == expected


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("", "the value is missing"),
        ("many", "'many' is not a number"),
        ("1.3X", "is not a number"),
        ("1e5", "is not a number"),
        ("nan", "is not a number"),
        ("inf", "is not a number"),
        ("1.3M ratings", "is not a number"),
        ("K", "is not a number"),
        ("٣", "is not a number"),
        ("1.234", "'1.234' could mean 'x < 100' or '100 <= x < 10K'"),
        ("1,234K", "'1,234K' could mean '100 <= x < 10K' or '1M <= x'"),
        ("under 101", "could mean 'x < 100' or '100 <= x < 10K'"),
        ("up to 100", "could mean"),
        ("over 10K", "could mean '10K <= x < 1M' or '1M <= x'"),
        ("10K-2M", "could mean"),
        ("20K-10K", "does not begin with the smaller number"),
        ("1,23,45", "not grouped correctly"),
        ("1.2.3", "not grouped"),
        ("1,,000", "not grouped"),
        ("9" * 200, "too long"),
    ],
)
def test_other_values_are_refused_with_a_reason(raw: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        RATINGS.membership(raw)


def test_a_reading_that_leads_to_the_same_group_is_enough() -> None:
    assert group(HINDEX, "1.234M") == 4
    wide = AttributeSet("X", "ordinal", ("low", "high"), uniform_shares(2), (10_000,))
    assert group(wide, "1.234") == 1  # one and a bit, or 1,234: both are low


@given(st.floats(0, 1e9), st.sampled_from([RATINGS, HINDEX]))
def test_bounds_are_the_first_numbers_of_their_groups(x: float, attribute: AttributeSet) -> None:
    expected = sum(bound <= x for bound in attribute.bounds) + 1
    assert group(attribute, format(x, "f") if x % 1 else str(int(x))) == expected


@given(st.integers(0, 10**12))
def test_a_whole_number_reads_the_same_however_it_is_grouped(n: int) -> None:
    readings = {
        read_quantity(text) for text in (str(n), f"{n:,}", f"{n:,}".replace(",", " "), f"{n:,}".replace(",", "'"))
    }
    assert len(readings) == 1
    (only,) = readings.pop()
    assert only.low == only.high == n


@given(st.text(max_size=30))
def test_any_text_is_a_vector_or_a_reason(raw: str) -> None:
    for attribute in SETS.values():
        try:
            vector = attribute.membership(raw)
        except ValueError:
            continue
        assert len(vector) == len(attribute.groups)
        assert min(vector) >= 0
        assert math.isclose(sum(vector), 1, abs_tol=1e-12)


# ------------------------------------------------------------------------- vectors


@pytest.mark.parametrize(
    ("raw", "vector"),
    [
        ("(0,0,0,1)", (0, 0, 0, 1)),
        ("( 0 , 1/2, 0.5 , .0 )", (0, 0.5, 0.5, 0)),
        ("(1/3,1/3,1/3,0)", (THIRD, THIRD, THIRD, 0)),
        ("(0.333333,0.333333,0.333333,0)", (THIRD, THIRD, THIRD, 0)),  # FairWeb's own files sum to .999999
    ],
)
def test_a_vector_is_taken_in_exact_fractions(raw: str, vector: tuple[float, ...]) -> None:
    assert RATINGS.membership(raw) == vector


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("(0,0,1)", "RATINGS has 4 groups, but '(0,0,1)' has 3 shares"),
        ("(0,0,0,0)", "must sum to 1, but they sum to 0"),
        ("(1,1,0,0)", "must sum to 1, but they sum to 2"),
        ("(0.33,0.33,0.33,0)", "must sum to 1, but they sum to 0.99"),
        ("(2,-1,0,0)", "'-1' in"),
        ("(1/0,0,0,0)", "divides by zero"),
        ("(0,0,0,1", "does not end with )"),
        ("(0,0,,1)", "'' in"),
        ("(0,0,0,1e0)", "'1e0' in"),
        ("(nan,0,0,1)", "'nan' in"),
        ("(1" + "0" * 5000 + ",0,0,0)", "is not a share"),
    ],
)
def test_an_invalid_vector_is_refused(raw: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        RATINGS.membership(raw)


# ------------------------------------------------------------------------- nominal sets


def test_names_of_groups_are_accepted_in_any_case() -> None:
    assert PRONOUN.membership("She") == (0, 1, 0)
    assert PRONOUN.membership(" OTHER ") == (0, 0, 1)
    assert PRONOUN.membership("he; she") == (0.5, 0.5, 0)
    assert ORIGIN.membership("middle  east") == (0, 0, 0, 0, 0, 0, 1, 0)
    with pytest.raises(ValueError, match="'they' is not a group of PRONOUN; allowed: he, she, other"):
        PRONOUN.membership("they")


@pytest.mark.parametrize(
    ("raw", "shares"),
    [
        ("Korea, Republic of", {"Asia": 1}),
        ("Korea, Republic of, Canada", {"Asia": 0.5, "America": 0.5}),
        ("Canada,Korea, Republic of", {"Asia": 0.5, "America": 0.5}),
        ("France; Congo, Democratic Republic of the; Cuba", {"Europe": THIRD, "Africa": THIRD, "Caribbean": THIRD}),
        ("Bosnia and Herzegovina, Trinidad & Tobago", {"Europe": 0.5, "Caribbean": 0.5}),
        ("USA; United States; US", {"America": 1}),
        ("United States; United States; France", {"America": 0.5, "Europe": 0.5}),
        ("Russia", {"Europe": 0.5, "Asia": 0.5}),
        ("Russia; France", {"Europe": 0.75, "Asia": 0.25}),
        ("Egypt; Türkiye", {"Africa": 0.25, "Middle East": 0.5, "Europe": 0.25}),
        ("France;", {"Europe": 1}),
        ("FRA; jp", {"Europe": 0.5, "Asia": 0.5}),
        ("Côte d’Ivoire; cote d'ivoire", {"Africa": 1}),
        ("Antarctica", {"Antarctica": 1}),
        ("Europe; Japan", {"Europe": 0.5, "Asia": 0.5}),
    ],
)
def test_countries_share_equally_and_count_once(raw: str, shares: dict[str, float]) -> None:
    assert ORIGIN.membership(raw) == tuple(shares.get(region, 0.0) for region in REGIONS)


def test_an_unknown_country_is_refused_with_similar_names() -> None:
    with pytest.raises(ValueError, match="'Untied States' is not a known country or region; near: United States"):
        ORIGIN.membership("France; Untied States")
    with pytest.raises(ValueError, match="contains no name"):
        ORIGIN.membership(" ; ")


def test_a_list_of_two_countries_is_not_the_one_country_that_their_names_once_formed() -> None:
    assert ORIGIN.membership("Jamaica, Austria, Hungary") == ORIGIN.membership("Jamaica; Austria; Hungary")
    assert ORIGIN.membership("Austria-Hungary") == ORIGIN.membership("Austria")


@given(st.lists(st.sampled_from(countries()), min_size=1, max_size=6, unique_by=lambda c: c.name))
def test_any_list_of_countries_has_exact_shares(listed: list[object]) -> None:
    names = [entry.name for entry in listed]  # type: ignore[attr-defined]
    vector = ORIGIN.membership("; ".join(names))
    assert vector == ORIGIN.membership(", ".join(names))
    assert math.isclose(math.fsum(vector), 1, abs_tol=1e-12)
    assert {Fraction(share).limit_denominator(12).denominator for share in vector} <= {1, 2, 3, 4, 5, 6, 8, 10, 12}


# ------------------------------------------------------------------------- the sets themselves


def test_counts_become_shares() -> None:
    assert normalise_shares({"a": 3, "B": 1}, ("a", "b", "c")) == (0.75, 0.25, 0)
    for counts, says in (
        ({"z": 1}, "'z' is not a group"),
        ({"a": -1, "b": 2}, "the count of a must be finite and not negative, but is -1"),
        ({"a": math.inf}, "must be finite"),
        ({"a": 0, "b": 0}, "at least one count must be positive"),
        ({}, "at least one count must be positive"),
    ):
        with pytest.raises(ValueError, match=says):
            normalise_shares(counts, ("a", "b"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"groups": ("a",), "gold": (1.0,)}, "at least two groups"),
        ({"groups": ("a", "A"), "gold": (0.5, 0.5), "bounds": (1,)}, "names of the groups must differ"),
        ({"groups": ("a", " "), "gold": (0.5, 0.5), "bounds": (1,)}, "none may be empty"),
        ({"gold": (0.5, 0.5)}, "gold must have a share for each of 4 groups, but has 2"),
        ({"gold": (0.5, 0.5, 0.5, 0.5)}, "must sum to 1, but they sum to 2"),
        ({"gold": (1.5, -0.5, 0, 0)}, "negative"),
        ({"gold": (math.nan, 0, 0, 1)}, "the shares of gold must be finite"),
        ({"bounds": (1, 2)}, "4 groups need 3 bounds, but there are 2"),
        ({"bounds": (1, 3, 2)}, "rise"),
        ({"bounds": (1, 1, 2)}, "rise"),
        ({"bounds": (1, 2, math.inf)}, "finite"),
        ({"scale": "cardinal"}, "scale must be ordinal or nominal"),
        ({"scale": "nominal"}, "only an ordinal set has bounds"),
        ({"bounds": (), "mapping": "regions"}, "only a nominal set has a mapping"),
        ({"bounds": (), "mapping": "planets"}, "unknown mapping 'planets'"),
        ({"scale": "nominal", "bounds": (), "mapping": "regions"}, "the mapping names groups that do not exist"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        replace(RATINGS, **change)


def test_an_ordinal_set_without_bounds_accepts_names() -> None:
    quality = AttributeSet("QUALITY", "ordinal", ("-2", "-1", "0", "1", "2"), uniform_shares(5))
    assert quality.membership("-1") == (0, 1, 0, 0, 0)
    with pytest.raises(ValueError, match="'3' is not a group"):
        quality.membership("3")
