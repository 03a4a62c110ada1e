"""Patterns of a topic's own URL kinds cannot run away, whatever the URL."""

from __future__ import annotations

import pytest

from topics.attributes import AttributeSet
from topics.kinds import KINDS, UrlKind
from topics.patterns import check_matchable


@pytest.mark.parametrize("pattern", ["/(?P<id>(a+)+)!", "/(?:a|aa)*!", "/.*.*.*!", r"/(?P<id>a)\1", "/" + "a" * 500])
def test_a_pattern_that_could_run_away_is_not_a_kind(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"matching it may never end|too many ways|not allowed|longer than 500"):
        UrlKind("x", ("a.org",), path=pattern)
    with pytest.raises(ValueError, match=r"matching it may never end|too many ways|not allowed|longer than 500"):
        UrlKind("x", ("a.org",), path="/", query=pattern)


@pytest.mark.parametrize(
    "pattern", [r"/(?:abs|pdf)/(?P<id>[0-9]{4}\.[0-9]{5}).*", "/wiki/(?P<id>[^:/]+)/?", "/(?!x).+"]
)
def test_an_ordinary_pattern_is_accepted(pattern: str) -> None:
    assert check_matchable(pattern) == pattern


@pytest.mark.timeout(60)  # one that runs away never comes to its end
def test_the_slowest_allowed_pattern_finishes_on_the_longest_url() -> None:
    kind = UrlKind("x", ("a.org",), path="/(?P<id>.*).*!")
    assert kind.key("https://a.org/" + "a" * 2030) is None


def test_an_address_of_more_than_2048_characters_has_no_kind() -> None:
    start = "https://www.imdb.com/title/tt0088763/?x="
    assert KINDS["imdb-title"].key(start + "a" * (2048 - len(start))) == "https://www.imdb.com/title/tt0088763/"
    assert KINDS["imdb-title"].key(start + "a" * (2049 - len(start))) is None


def test_thirds_in_six_decimals_are_treated_as_thirds() -> None:
    thirds = AttributeSet("X", "nominal", ("a", "b", "c"), (0.333333, 0.333333, 0.333333))
    assert thirds.gold == pytest.approx((1 / 3,) * 3, abs=1e-15)
    assert thirds.membership("(.33333,.33333,.33333)") == pytest.approx((1 / 3,) * 3, abs=1e-15)
    with pytest.raises(ValueError, match=r"sum to 0\.9999"):
        AttributeSet("X", "nominal", ("a", "b", "c"), (0.3333, 0.3333, 0.3333))
    with pytest.raises(ValueError, match="must be finite"):
        AttributeSet("X", "nominal", ("a", "b"), (10**400, 0))
