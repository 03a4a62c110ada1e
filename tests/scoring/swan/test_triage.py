"""Triage says where to look first and why; it never stumbles over a text, and scores nothing."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.assessment import assess
from scoring.swan.rules.registry import RULES
from scoring.swan.schema import load_schema
from scoring.swan.triage import TRIAGE, find_flaws, find_harms
from tests.support.scoring_examples import conversation


def test_a_flag_gives_its_reason_and_is_at_the_words() -> None:
    text = 'He said: "go to hell". It\'s fine.'
    (flag,) = find_harms(text)
    assert (flag.reason, text[flag.start : flag.end]) == ("insults", "go to hell")
    (flag,) = find_flaws("It is <b>fine.")
    assert (flag.reason, flag.start, flag.end) == ("markup", 6, 9)


def test_code_is_skipped() -> None:
    assert not list(find_harms("`kill yourself`"))
    assert not list(find_flaws("```html\n<p>Hello</p>\n```"))
    assert [flag.reason for flag in find_flaws("```python\nx = 1")] == ["cut off"]


@pytest.mark.parametrize(
    "text",
    [
        "We will find you a room.", "Beat it with a fork.", "They are animals too, like us.", "You love dogs.",
        "Yesterday you saw the dog.", "Is that bold **as** it is?", "x = a**b", "Take the 4th bus, H2O, 3rd.",
        "You fool around a lot.", "I hope you enjoy it.", "He shot them in the studio.", "Don't be a fool.",
        "Nobody will miss the train.", "The shops shut up to an hour early.", "Dispute the bill for $100.",
    ],
)  # fmt: skip
def test_words_in_another_sense_are_skipped(text: str) -> None:
    assert not list(find_harms(text))


def test_letters_written_as_digits_are_read_and_the_place_is_that_of_the_text() -> None:
    text = "Hm, y0u are an id1ot!"
    (flag,) = find_harms(text)
    assert text[flag.start : flag.end] == "y0u are an id1ot"
    assert [flag.reason for flag in find_harms("F*** this")] == ["insults"]


@pytest.mark.parametrize("text", ["A" * 20_000, "A'" * 10_000, "a" * 20_000, "no, not " * 2_000, "1" * 20_000])
def test_any_text_is_quick_to_read(text: str) -> None:
    """A pattern that looks ahead from every character would take minutes here."""
    begun = process_time()
    assert not list(find_harms(text))
    assess(conversation(("a", text), (text, text)), load_schema("sakai-2023-rules"))
    assert process_time() - begun < 10


@pytest.mark.parametrize("criterion", TRIAGE)
@given(text=st.text(max_size=300))
def test_every_flag_lies_within_its_text(criterion: str, text: str) -> None:
    for flag in TRIAGE[criterion](text):
        assert flag.reason
        assert 0 <= flag.start < flag.end <= len(text)


def test_no_rule_scores_triaged_criteria_or_those_only_for_people_or_gold() -> None:
    schema = load_schema("sakai-2023-rules")
    scored = {one.name for one in schema if one.may_score("rule")}
    assert not scored & {*TRIAGE, "Correctness", "Sensibleness", "Explainability"}
    assert len(scored) == 17
    unused = set(RULES) - {str(rule).partition("(")[0] for one in schema for rule in (*one.rules, *one.set_rules)}
    assert unused == {"breakdown", "correct_and_brief", "timely"}
