"""Stop models: probabilities, reasons that sum to them, and options that say the same when read back."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer
from simulators.memory import decode_memory, encode_memory, memory_kind
from simulators.reasons import MEANING
from simulators.stopping.hazard import ORIGIN, Geometric, Hazard, TwoAlpha
from simulators.stopping.library import (
    NAMES,
    Combined,
    Frustration,
    PatienceBudget,
    RateOfGain,
    Satiation,
    StopOption,
    as_options,
    stop_model,
)
from simulators.stopping.model import Experience, initial_experience, update_experience
from simulators.user import Observation
from topics.document import StrictModel, parse_document
from topics.errors import InputError

SEEN = Observation(Answer("some words"))


@memory_kind("test-stopping")
@dataclass(frozen=True, slots=True)
class Kept:
    experience: Experience


def lived(labels: str, coverage: list[float] | None = None, words: int = 10) -> Experience:
    """The memory of a conversation with these labels."""
    memory = initial_experience()
    shares = coverage or [0.0] * len(labels)
    for label, share in zip(labels, shares):
        memory = update_experience(memory, Observation(Answer("w " * words), None if label == "-" else label), share)
    return memory


share = st.floats(0, 1)
simple: st.SearchStrategy[StopOption] = st.one_of(
    st.builds(Geometric, p=share),
    st.builds(TwoAlpha, useful=share, useless=share, unjudged=share),
    st.builds(Frustration, after=st.floats(0.5, 9), in_a_row=st.booleans(), width=st.floats(0, 3)),
    st.builds(Satiation, after=st.floats(0.5, 9), width=st.floats(0, 3)),
    st.builds(PatienceBudget, turns=st.integers(1, 20), words=st.none() | st.integers(1, 500)),
    st.builds(Hazard, constant=st.floats(-900, 900), turn=st.floats(-5, 5), coverage=st.floats(-5, 5)),
    st.builds(RateOfGain, elsewhere=st.floats(0, 5), width=st.floats(0, 3), window=st.integers(1, 5), least=st.just(1)),
)
models = st.one_of(simple, st.lists(simple, min_size=1, max_size=4).map(lambda parts: Combined(parts=tuple(parts))))
turns = st.lists(st.tuples(st.sampled_from("ox-"), share, st.integers(0, 300)), min_size=1, max_size=12)


@given(model=models, conversation=turns)
def test_hazards_are_probabilities_and_their_reasons_sum_to_them(
    model: StopOption, conversation: list[tuple[str, float, int]]
) -> None:
    memory = initial_experience()
    for label, covered, words in conversation:
        observation = Observation(Answer("w " * words), None if label == "-" else label)
        memory = update_experience(memory, observation, covered)
        hazard, exits = model.hazard(memory, observation), model.exits(memory, observation)
        assert 0 <= hazard <= 1
        assert sum(part for _, part in exits) == pytest.approx(hazard, abs=1e-12)
        assert all(part >= 0 and reason in MEANING for reason, part in exits)
        kept = Kept(memory)
        back = decode_memory(json.loads(json.dumps(encode_memory(kept))))
        assert back == kept
        assert model.hazard(back.experience, observation) == hazard


@given(model=models)
def test_a_stop_model_reads_back_from_the_options_it_writes(model: StopOption) -> None:
    assert stop_model(json.loads(json.dumps(as_options(model)))) == model


def test_a_file_names_its_stop_model() -> None:
    class Holder(StrictModel):
        stop: StopOption | None = None

    def read(text: str) -> Any:
        return parse_document(text, "user.yaml").validate_as(Holder).stop

    assert read("stop: {model: hazard, turn: 0.2}") == Hazard(constant=-2.72, turn=0.2, coverage=1.78)
    parts = "{model: frustration, after: 2}, {model: geometric, p: 0.1}"
    combined = read(f"stop: {{model: combined, parts: [{parts}]}}")
    assert [part.model for part in combined.parts] == ["frustration", "geometric"]
    assert read("stop: null") is None
    for text, words in {
        "stop: {model: hazrd}": "1:7: stop: 'hazrd' is not a stop model: did you mean 'hazard'?",
        "stop: {turn: 1}": "a stop model is {model: NAME, …}\n  allowed: combined, frustration",
        "stop: {model: geometric, q: 1}": "user.yaml:1:26: unknown key 'q'",
        "stop: {model: geometric, p: 2}": "user.yaml:1:29: p: must be at most 1",
        "stop: {model: patience}": "give a budget of patience turns, words or both",
        "stop: {model: hazard, turn: .inf}": "turn: must be a number",
    }.items():
        with pytest.raises(InputError) as fault:
            read(text)
        assert words in str(fault.value)


def test_every_name_is_a_stop_model() -> None:
    needed: dict[str, dict[str, object]] = {"combined": {"parts": [{"model": "geometric"}]}, "patience": {"turns": 3}}
    for name in NAMES:
        assert stop_model({"model": name, **needed.get(name, {})}).model == name


def test_the_shipped_hazard_is_that_of_the_log_and_says_so() -> None:
    # Coefficients as published with the log: logit -2.72 + 0.110·turn + 1.78·coverage.
    odds = math.exp(-2.72 + 0.110 * 3 + 1.78 * 0.5)
    assert Hazard().hazard(lived("oxo", [0, 0.5, 0.5]), SEEN) == pytest.approx(odds / (1 + odds))
    assert "not to conversations with your users" in ORIGIN
    assert "They describe that log, not your users" in " ".join(str(Hazard.__doc__).split())


def test_geometric_patience_ignores_everything() -> None:
    assert {Geometric(p=0.3).hazard(lived(labels), SEEN) for labels in ("o", "xx", "-o-")} == {0.3}


def test_two_alpha_only_looks_at_the_last_answer() -> None:
    model = TwoAlpha(useful=0.9, useless=0.5, unjudged=0.25)
    assert model.hazard(lived("xxo"), SEEN) == pytest.approx(0.1)
    assert model.hazard(lived("oox"), SEEN) == pytest.approx(0.5)
    assert dict(model.exits(lived("o-"), SEEN)) == pytest.approx({"satisfied": 0.025, "frustrated": 0.375})


def test_frustration_counts_useless_answers_in_all_or_in_a_row() -> None:
    assert [Frustration(after=2).hazard(lived(labels), SEEN) for labels in ("x", "xox", "oo", "-")] == [0, 1, 0, 0]
    row = Frustration(after=2, in_a_row=True)
    assert [row.hazard(lived(labels), SEEN) for labels in ("xox", "oxx", "xx-", "xxo")] == [0, 1, 0, 0]
    soft = Frustration(after=2, width=1)
    assert [soft.hazard(lived("x" * n), SEEN) for n in (1, 2, 3)] == pytest.approx([0.26894, 0.5, 0.73106], abs=1e-5)


def test_satiation_counts_useful_answers() -> None:
    assert [Satiation(after=2).hazard(lived(labels), SEEN) for labels in ("o", "oxo", "xx")] == [0, 1, 0]


def test_a_budget_of_patience_counts_turns_and_words() -> None:
    assert [PatienceBudget(turns=3).hazard(lived("o" * n), SEEN) for n in (2, 3, 4)] == [0, 1, 1]
    words = PatienceBudget(words=25)
    assert [words.hazard(lived("o" * n, words=10), SEEN) for n in (2, 3)] == [0, 1]


def test_combined_leaves_when_the_first_of_its_parts_does() -> None:
    model = Combined(parts=(TwoAlpha(useful=0.5, useless=0.5), Geometric(p=0.2)))
    assert model.hazard(lived("o"), SEEN) == pytest.approx(1 - 0.5 * 0.8)
    assert dict(model.exits(lived("o"), SEEN)) == pytest.approx({"satisfied": 0.5, "frustrated": 0, "patience": 0.1})


def test_foraging_leaves_when_the_rate_of_gain_falls_to_that_available_elsewhere() -> None:
    # A turn takes 0.5 minutes: 15 s, and 25 words at 100 words a minute.
    model = RateOfGain(elsewhere=0.3, window=2, seconds=15, reading=100, least=1)
    rich = lived("oo", [0.2, 0.5], words=25)
    assert model.rate(rich) == pytest.approx(0.5)
    assert model.hazard(rich, SEEN) == 0
    poor = lived("ooxx", [0.2, 0.5, 0.5, 0.6], words=25)
    assert model.rate(poor) == pytest.approx(0.1)
    assert model.hazard(poor, SEEN) == 1
    assert model.exits(poor, SEEN) == (("satisfied", 1.0),)
    assert model.exits(lived("x", words=25), SEEN) == (("frustrated", 1.0),)
    assert RateOfGain(least=2).hazard(lived("x"), SEEN) == 0


@pytest.mark.parametrize(
    "memory",
    [{}, {"labels": ["o"], "coverage": [], "words": [1]}, {"labels": ["q"], "coverage": [0], "words": [1]}],
)
def test_an_invalid_memory_is_refused(memory: object) -> None:
    with pytest.raises(ValueError, match=r"not a saved memory|must have the same length"):
        decode_memory({**encode_memory(Kept(initial_experience())), "experience": memory})


def test_an_invalid_share_and_an_unknown_label_are_refused() -> None:
    with pytest.raises(ValueError, match="coverage must be in"):
        update_experience(initial_experience(), SEEN, 1.5)
    with pytest.raises(ValueError, match="label"):
        update_experience(initial_experience(), Observation(Answer(""), "useful"), 0)
