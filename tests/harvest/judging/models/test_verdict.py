"""Replies of a judge: what is a verdict, and which fault everything else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.judging.models.questions import BETTER, FAULTS, classify_failure, read_better, read_score
from simulators.outside import Sample

SCALE = (0.0, 0.5, 1.0)


def reply(**keys: object) -> str:
    return json.dumps(keys)


@pytest.mark.parametrize("score", [0, 0.5, 1, 1.0, None, "unsure"])
def test_a_score_of_the_scale_is_a_verdict_with_its_reason(score: object) -> None:
    for finish in ("stop", "", "STOP", "end_turn"):
        found = read_score(Sample(reply(reason=" it is so ", score=score), finish), SCALE)
        assert (found.value, found.reason, found.fault) == (score, "it is so", "")


@pytest.mark.parametrize(
    ("finish", "fault"),
    [
        ("length", "overflowed"),
        ("max_tokens", "overflowed"),
        ("unfinished", "failed"),
        ("content_filter", "refused"),
        ("refusal", "refused"),
        ("SAFETY", "refused"),
        ("tool_calls", "failed"),
        ("error", "failed"),
        ("other-role", "failed"),
    ],
)
def test_the_end_of_a_reply_is_checked_before_its_words(finish: str, fault: str) -> None:
    whole = Sample(reply(reason="so", score=1), finish)
    assert read_score(whole, SCALE).fault == fault
    assert read_better(whole).fault == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "nonsense"),
        ("I'm sorry, but I can't help with that.", "nonsense"),
        ("Score: 1", "nonsense"),
        ('```json\n{"reason": "so", "score": 1}\n```', "nonsense"),
        ('{"reason": "so", "score": 1} and more', "nonsense"),
        ('{"reason": "so", "score": NaN}', "nonsense"),
        ('{"reason": "so", "score": 1, "score": 0}', "nonsense"),
        ("[" * 5000, "nonsense"),
        ("1", "out of schema"),
        ("null", "out of schema"),
        ('{"score": 1}', "out of schema"),
        ('{"reason": 3, "score": 1}', "out of schema"),
        ('{"reason": "so", "score": 1, "sure": true}', "out of schema"),
        ('{"reason": "so", "score": 0.7}', "out of schema"),
        ('{"reason": "so", "score": "1"}', "out of schema"),
        ('{"reason": "so", "score": true}', "out of schema"),
        ('{"reason": "so", "score": [1]}', "out of schema"),
        ('{"reason": "so", "score": 1' + "0" * 400 + "}", "out of schema"),
        ('{"reason": "so", "score": "n/a"}', "out of schema"),
    ],
)
def test_nothing_is_repaired(text: str, fault: str) -> None:
    found = read_score(Sample(text, "stop"), SCALE)
    assert (found.fault, found.value, found.reason) == (fault, None, "")


@pytest.mark.parametrize("better", BETTER)
def test_the_preference_is_one_of_four_words(better: str) -> None:
    assert read_better(Sample(reply(reason="so", better=better))).value == better
    for wrong in ("left", "First", None, 1, ["first"]):
        assert read_better(Sample(reply(reason="so", better=wrong))).fault == "out of schema"


@given(st.text(), st.text(max_size=12))
def test_any_text_is_a_verdict_or_one_of_the_faults(text: str, finish: str) -> None:
    for found in (read_score(Sample(text, finish), SCALE), read_better(Sample(text, finish))):
        assert found.fault in ("", *FAULTS)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda one: st.lists(one, max_size=3)))
def test_any_json_is_read_without_an_error_of_ours(score: object) -> None:
    found = read_score(Sample(json.dumps({"reason": "", "score": score})), SCALE)
    assert found.fault or score in (*SCALE, None, "unsure")


def test_a_failure_has_the_name_that_apis_use() -> None:
    assert classify_failure("status 400: context_length_exceeded: too long") == "overflowed"
    assert classify_failure("litellm.ContextWindowExceededError: too long") == "overflowed"
    assert classify_failure("status 400: content_filter") == "refused"
    assert classify_failure("connection refused") == "failed"
