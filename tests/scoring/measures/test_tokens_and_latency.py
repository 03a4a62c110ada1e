"""What a conversation takes: seconds until answers begin and are whole, tokens, and their price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recordings.conversations.conversation import Conversation
from scoring.conversations import figure
from scoring.figure import Figure
from scoring.library import read_term
from scoring.measures.latency import load_notes
from scoring.notation import parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from scoring.table import ScoreRow
from tests.support.scoring_examples import M002, conversation, seen, topic_set
from topics.errors import InputError
from topics.topic import Topic

PRICES = {"input_prices": {"B1": 0.5}, "output_prices": {"B1": 2.0}}


def talk(*replies: Mapping[str, Any] | None) -> Conversation:
    """A conversation whose replies have these times and counts; None: not answered."""
    whole = conversation(*(("Which film?", "This one.") for _ in replies), topic="M002")
    turns = (
        replace(turn, reply=None if own is None or turn.reply is None else replace(turn.reply, **own))
        for turn, own in zip(whole.turns, replies, strict=True)
    )
    return replace(whole, key=replace(whole.key, system="B1"), turns=tuple(turns))


def of(text: str, one: Conversation, **settings: Any) -> Figure:
    (measure,) = read_term(parse(text), Settings(**settings), topic_set(M002), load_schema("sakai-2023"))
    found = figure(seen(one, M002, None).under(measure.settings), measure)
    assert found is not None
    return found


def test_times_are_means_over_the_answered_turns_with_known_times() -> None:
    one = talk({"first_seconds": 0.5, "seconds": 2.0}, {"first_seconds": None, "seconds": 4.0}, None, {})
    assert (of("TTFT", one).value, of("TTFT", one).n) == (0.5, 1)
    assert (of("latency", one).value, of("latency", one).n) == (3.0, 2)


def test_tokens_are_the_sum_over_all_answered_turns_or_undefined() -> None:
    counted = [{"tokens": {"prompt": 100, "completion": 20}}, {"tokens": {"prompt": 150, "completion": 0}}]
    one = talk(*counted, None)
    assert (of("tokens_in", one).value, of("tokens_in", one).n) == (250, 2)
    assert (of("tokens_out", one).value, of("tokens_out", one).n) == (20, 2)
    assert of("cost", one, **PRICES).value == pytest.approx((250 * 0.5 + 20 * 2.0) / 1_000_000)
    assert of("cost", one, **PRICES).n == 2
    for name in ("tokens_in", "tokens_out", "cost"):  # one turn without a count, and the sum would be too small
        without = of(name, talk(*counted, {}), **PRICES)
        assert math.isnan(without.value)
        assert without.n == 0


def test_a_system_without_a_price_has_no_cost_and_says_so() -> None:
    one = talk({"tokens": {"prompt": 100, "completion": 20}})
    for settings in ({}, {"input_prices": {"B1": 0.5}}, {"input_prices": {"A": 1}, "output_prices": {"A": 1}}):
        found = of("cost", one, **settings)
        assert (math.isnan(found.value), found.note) == (True, "no price is given for B1")


@pytest.mark.parametrize("name", ["TTFT", "latency", "tokens_in", "tokens_out", "cost"])
def test_without_an_answer_there_is_no_figure(name: str) -> None:
    found = of(name, talk(None), **PRICES)
    assert (math.isnan(found.value), found.n) == (True, 0)


def test_the_number_of_concurrent_turns_is_reported_if_times_are_scored() -> None:
    def at(began: int, seconds: float | None) -> Conversation:
        stamp = f"2026-11-26T10:{began // 60:02}:{began % 60:02}.000000+00:00"
        return talk({"asked_at": stamp, "seconds": seconds})

    alone = [at(second, 1.0) for second in range(40)]
    assert list(load_notes(alone)) == []
    three = [at(second, 2.5) for second in range(40)]  # the first two of 40 are the beginning
    (said,) = load_notes([*three, at(30, None), talk(None)])
    assert said == "B1: 3 turns under way at a time, for 90% of them; how long one takes depends on that."
    slower = [at(40 + second, 5.5) for second in range(40)]
    (said,) = load_notes([*slower, *three])
    assert said.startswith("B1: 3 to 6 turns under way")
    for name, told in (("latency", True), ("TTFT", True), ("tokens_in", False)):
        table = score(three[:1], topic_set(M002), None, Settings(), np.random.default_rng(1), measures=[parse(name)])
        assert not any("under way" in note for note in table.notes), "one turn alone"
        many = [replace(one, key=replace(one.key, trial=n)) for n, one in enumerate(three, 1)]
        table = score(many, topic_set(M002), None, Settings(), np.random.default_rng(1), measures=[parse(name)])
        assert any("under way" in note for note in table.notes) == told


def timed(topics: int, trials: int = 1, slow: float = 30.0) -> tuple[list[Conversation], list[Topic]]:
    """Conversations of so many topics, the first of them slow; the others take 2 seconds and a little more each."""
    asked = [replace(M002, id=f"T{number:03}") for number in range(topics)]
    talks = []
    for number, topic in enumerate(asked):
        for trial in range(1, trials + 1):
            one = talk({"seconds": slow if number == 0 else 2.0 + 0.01 * number + 0.001 * trial})
            talks.append(replace(one, key=replace(one.key, topic=topic.id, trial=trial)))
    return talks, asked


def worst(text: str, topics: int, trials: int = 1) -> ScoreRow:
    talks, asked = timed(topics, trials)
    table = score(talks, topic_set(*asked), None, Settings(), np.random.default_rng(1), measures=[parse(text)])
    (row,) = [row for row in table.rows if row.measure == text and row.topic is None and row.topic_type is None]
    return row


def test_the_worst_case_of_latency_is_the_mean_of_the_slowest() -> None:
    row = worst("CVaR(latency, beta=0.25)", 8)
    assert row.value == pytest.approx((30 + 2.071 * 1) / 2)
    assert row.note == (
        "the mean of the slowest 25%; the slowest 25% must hold at least 4 topics, so an interval needs 150 topics "
        "(here 8)"
    )


def test_the_slow_end_of_a_quantile_is_guarded_and_named() -> None:
    few = worst("Q(latency, beta=0.95)", 10)
    assert few.note == (
        "the slowest 5% lie above it; the slowest 5% must hold at least 4 topics, so an interval needs 80 topics "
        "(here 10)"
    )
    assert (math.isnan(few.low), few.value) == (True, 30.0)
    many = worst("Q(latency, beta=0.95)", 80)
    assert (many.note, many.low < many.value < many.high) == ("the slowest 5% lie above it", True)
    assert worst("Q(latency, beta=0.05)", 80).note == "the fastest 5% do not exceed it"


@pytest.mark.parametrize("base", ["latency", "TTFT", "tokens_in", "tokens_out", "cost"])
def test_the_advice_of_a_refusal_is_not_refused(base: str) -> None:
    with pytest.raises(InputError) as refused:
        read_term(parse(f"min({base})"), Settings(), topic_set(M002), load_schema("sakai-2023"))
    assert f"max({base}), the worst value that was observed" in str(refused.value)
    for text in (f"max({base})", f"CVaR({base}, beta=0.1)", f"Q({base}, beta=0.9)"):
        assert read_term(parse(text), Settings(), topic_set(M002), load_schema("sakai-2023"))


def test_the_worst_observed_latency_is_the_greatest() -> None:
    row = worst("max(latency)", 5)
    assert (row.value, row.note) == (30.0, "the largest that was observed; another trial can be worse")


def test_within_one_topic_the_slowest_of_its_trials_are_guarded_too() -> None:
    row = worst("Q(latency, beta=0.9)", 1, trials=30)
    assert row.note.endswith("the slowest 10% must hold at least 4 trials, so an interval needs 40 trials (here 30)")
