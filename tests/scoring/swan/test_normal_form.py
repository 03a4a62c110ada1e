"""Claims on one normal form: what counts as the same, and what two claims say of each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.rules.normal_form import claim_form, compare_claims, values_in


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("forty rooms", "40 rooms"),
        ("1,200 m", "1.2 km"),
        ("5 May 2024", "May 5th, 2024"),
        ("2024-05-05", "5 May 2024"),
        ("9 pm", "21:00"),
        ("3 million", "3000000"),
        ("40 %", "40 percent"),
    ],
)
def test_the_same_value_in_another_form_agrees(one: str, other: str) -> None:
    (a,), (b,) = values_in(one), values_in(other)
    assert a.agrees(b)
    assert b.agrees(a)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("The hotel has 40 rooms.", "The hotel has 38 rooms.", False),
        ("The hotel has about 40 rooms.", "The hotel has 38 rooms.", True),
        ("It can swim.", "It can't swim.", False),
        ("In 1990 it had 40 rooms.", "In 1995 it had 40 rooms.", None),
        ("In 1990 it had 40 rooms.", "In 1990 it had 42 rooms.", False),
        ("The hotel has 40 rooms.", "The hostel has 38 rooms.", None),
        ("The hotel has 40 rooms.", "If it grew, the hotel has 60 rooms.", None),
        ("", "", None),
    ],
)
def test_two_claims_agree_differ_or_cannot_be_compared(one: str, other: str, agree: bool | None) -> None:
    assert compare_claims(claim_form(one), claim_form(other)) is agree
    assert compare_claims(claim_form(other), claim_form(one)) is agree


@given(st.text(max_size=200))
def test_any_text_has_a_normal_form_and_no_claim_contradicts_itself(text: str) -> None:
    form = claim_form(text)
    assert len(form.values) == sum(word.startswith("#") for word in form.words)
    assert compare_claims(form, form) is not False
