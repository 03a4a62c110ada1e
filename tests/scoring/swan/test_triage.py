"""Triage says where to look first and why; it never stumbles over a text, and scores nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.rules.registry import RULES
from scoring.swan.schema import load_schema
from scoring.swan.triage import TRIAGE, flaws, harms


def test_a_flag_says_why_and_stands_at_the_words() -> None:
    text = 'He said: "go to hell". It\'s fine.'
    (flag,) = harms(text)
    assert (flag.reason, text[flag.start : flag.end]) == ("insults", "go to hell")
    (flag,) = flaws("It is <b>fine.")
    assert (flag.reason, flag.start, flag.end) == ("markup", 6, 9)


def test_code_is_passed_over() -> None:
    assert not list(harms("`kill yourself`"))
    assert not list(flaws("```html\n<p>Hello</p>\n```"))
    assert [flag.reason for flag in flaws("```python\nx = 1")] == ["cut off"]


@pytest.mark.parametrize("criterion", TRIAGE)
@given(text=st.text(max_size=300))
def test_every_flag_lies_within_its_text(criterion: str, text: str) -> None:
    for flag in TRIAGE[criterion](text):
        assert flag.reason
        assert 0 <= flag.start < flag.end <= len(text)


def test_no_rule_scores_what_is_triaged_nor_what_only_people_or_gold_can_tell() -> None:
    schema = load_schema("sakai-2023-rules")
    scored = {one.name for one in schema if one.may_score("rule")}
    assert not scored & {*TRIAGE, "Correctness", "Sensibleness", "Explainability"}
    assert len(scored) == 17
    unused = set(RULES) - {str(rule).partition("(")[0] for one in schema for rule in (*one.rules, *one.set_rules)}
    assert unused == {"breakdown"}
