"""A profile is a Markov chain or it is refused; the sentences of a parrot keep the lengths its truth relies on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import pytest

from harvest.parrot.parrot import UNKNOWN, VARIANTS, compose
from harvest.parrot.profiles import BEHAVIOURS, PROFILES, Behaviour, Profile, Row

STEADY = PROFILES["steady"]
SING = cast(Behaviour, "sing")
"""A behaviour that no parrot has."""


def chosen(choice: int, n: int) -> int:
    """Stands in for the parrot's draw: always the variant `choice`, around the end where there are fewer."""
    return choice % n


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_every_row_of_a_shipped_profile_sums_to_one(profile: Profile) -> None:
    rows = [profile.first, *profile.then.values(), *profile.told.values()]
    assert [sum(row.values()) for row in rows] == pytest.approx([1.0] * len(rows))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: replace(STEADY, first={"list": 0.9, "bare": 0.2}), r"first: the probabilities sum to 1\.1"),
        (lambda: replace(STEADY, first={"list": 1.5, "bare": -0.5}), r"first\.list: 1\.5 is not a probability"),
        (lambda: replace(STEADY, first={"list": float("nan")}), r"first\.list: nan is not a probability"),
        (lambda: replace(STEADY, first={SING: 1.0}), "first: 'sing' is not a behaviour; choose one of list, bare"),
        (lambda: replace(STEADY, first={}), "first: the probabilities sum to 0"),
        (lambda: replace(STEADY, then={SING: {"list": 1.0}}), "then: 'sing' is not a behaviour"),
        (lambda: replace(STEADY, then={"list": {"list": 0.5}}), r"then\.list: the probabilities sum to 0\.5"),
        (
            lambda: replace(STEADY, first={"refusal": 1.0}),
            "then: there is no row for 'refusal', which this chain can reach",
        ),
        (lambda: replace(STEADY, told={"list": {"silent": 1.0}}), "then: there is no row for 'silent'"),
        (lambda: replace(STEADY, entities=0), r"entities: 0 is not a number from 1 to 12"),
        (lambda: replace(STEADY, entities=13), "entities: 13"),
        (lambda: replace(STEADY, wrong=1.01), "wrong: 1.01 is not a probability"),
        (lambda: replace(STEADY, repeats=-0.1), "repeats: -0.1"),
        (lambda: replace(STEADY, carry=float("nan")), "carry: nan"),
        (lambda: replace(STEADY, delay=(0.2, 0.1)), r"delay: 0\.2 … 0\.1 is not a range"),
        (lambda: replace(STEADY, delay=(0.0, float("inf"))), "delay:"),
    ],
)
def test_an_invalid_chain_is_refused_with_the_name_of_its_row(change: Callable[[], Profile], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        change()


def test_a_row_that_cannot_be_reached_may_be_left_out() -> None:
    assert replace(STEADY, first={"list": 1.0}, then={"list": {"list": 1.0}}).reachable == ("list",)


def test_told_rows_are_used_only_when_the_user_says_adhere() -> None:
    profile = PROFILES["format-breaking"]
    assert profile.row("bare", "adhere") == {"list": 0.75, "bare": 0.25}
    assert profile.row("bare", "more") == {"list": 0.10, "bare": 0.90}
    assert profile.row("list", "adhere") == profile.then["list"]
    assert profile.row(None, "request") == profile.first


def test_a_carried_row_lies_between_the_first_row_and_the_row_of_the_last_behaviour() -> None:
    profile = PROFILES["erratic"]
    row = profile.carried("refusal")
    assert sum(row.values()) == pytest.approx(1)
    assert row["refusal"] == pytest.approx(0.4 * 0.08 + 0.6 * 0.80)
    assert replace(profile, carry=0.0).carried("refusal") == {**dict.fromkeys(BEHAVIOURS, 0.0), **profile.first}


@pytest.mark.parametrize("name", VARIANTS)
def test_all_variants_of_a_sentence_have_the_same_number_of_words(name: str) -> None:
    assert len({len(text.split()) for text in VARIANTS[name]}) == 1
    assert len(set(VARIANTS[name])) == len(VARIANTS[name]) >= 3


def test_every_variant_can_be_said() -> None:
    said = {
        piece
        for behaviour in BEHAVIOURS
        for heard in ("request", "more", "adhere")
        for lines in ([], ["Crimson Tidal Clock, https://www.imdb.com/title/tt0000001/"])
        for choice in range(4)
        for piece in compose(behaviour, heard, lines, partial(chosen, choice)).split("\n\n")
    }
    assert {text for variants in VARIANTS.values() for text in variants} <= said
    assert UNKNOWN not in said


def test_a_parrot_can_treat_users_differently_who_say_certain_words() -> None:
    profile = replace(
        STEADY,
        cued={"eighteen years": {"prose": 1.0}, "EIGHTEEN": {"silent": 1.0}},
        then={**STEADY.then, "silent": {"list": 1.0}},
    )
    assert profile.opening("I am Eighteen Years old. Please list …") == {"prose": 1.0}, "the first that fits"
    assert profile.opening("Eighteen, please") == {"silent": 1.0}
    assert profile.opening("Please list …") == STEADY.first
    assert profile.carried("list", {"silent": 1.0})["silent"] == 1 - profile.carry
    assert "silent" in profile.reachable
    refused: tuple[tuple[dict[str, Row], str], ...] = (
        ({" ": {"list": 1.0}}, "cued: empty text"),
        ({"a": {"list": 0.9}}, r"cued\.a: the probabilities sum to 0\.9"),
        ({"a": {"refusal": 1.0}}, "then: there is no row for 'refusal'"),
    )
    for cued, words in refused:
        with pytest.raises(ValueError, match=words):
            replace(STEADY, cued=cued)
