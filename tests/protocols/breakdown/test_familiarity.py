"""Familiarity: which system a dialogue sounds like, how far it is, and what is believed of a system's level."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.breakdown.examples import AnnotatedDialogue, collect_examples
from protocols.breakdown.familiarity import Familiarity, Systems, fit_familiarity, fit_logistic, frequent_grams
from protocols.breakdown.features import FEATURES, Utterance
from protocols.breakdown.moments import COLUMNS, Moment, collect_moments, values_of

WORDS = FEATURES.index("words (log)")
SPREAD = np.where(np.arange(len(FEATURES)) == WORDS, 2.0, 0.0)
CENTRES = np.zeros((2, len(FEATURES)))
CENTRES[1, WORDS] = 10.0
# Ten dialogues of each system; "tea" is said in 6 of A and 2 of B, and by users in 1 of A and 3 of B.
SYSTEMS = Systems(("A", "B"), np.array([10.0, 10.0]), {"s:tea": (6, 2), "u:tea": (1, 3)}, CENTRES, SPREAD)


def moment(words: float, *grams: str) -> Moment:
    row = np.zeros((1, len(FEATURES)))
    row[0, WORDS] = words
    return Moment(row, (frozenset(grams),))


def test_likeness_is_the_softmax_of_the_evidence_of_known_words() -> None:
    # Mean rate .4; with two dialogues at that rate, A has 6.8/12 and B 2.8/12. Unknown words say nothing.
    likeness, inputs = SYSTEMS.compare([moment(0, "s:tea", "s:milk", "u:sugar")])
    a, b = log(6.8 / 12 / 0.4), log(2.8 / 12 / 0.4)
    assert likeness[0] == pytest.approx([exp(a) / (exp(a) + exp(b)), exp(b) / (exp(a) + exp(b))])
    assert inputs[0, 0] == 0  # no known word of the user


def test_the_evidence_of_several_words_is_divided_by_the_root_of_their_number() -> None:
    twice = Moment(np.zeros((2, len(FEATURES))), (frozenset({"s:tea"}), frozenset({"s:tea"})))
    likeness, _ = SYSTEMS.compare([twice])
    odds = sqrt(2) * (log(6.8) - log(2.8))  # two logs over the root of two
    assert likeness[0, 0] == pytest.approx(1 / (1 + exp(-odds)))


def test_the_inputs_are_the_users_evidence_for_the_likeliest_system_and_the_distance_to_the_nearest() -> None:
    # The system's words are for A by more than the user's are for B. 6 words: 3 spreads from A, 2 from B.
    _, inputs = SYSTEMS.compare([moment(6, "s:tea", "u:tea")])
    assert inputs[0] == pytest.approx([log((1 + 0.4) / 12 / 0.2), log(4)])
    _, far = SYSTEMS.compare([moment(1000)])
    assert far[0, 1] == pytest.approx(log(25))  # five spreads at most


def test_familiarity_is_a_logistic_function_of_the_inputs() -> None:
    known = Familiarity(SYSTEMS, np.zeros((2, 3)), np.ones(2), np.array([1.0, 2.0, -0.5]))
    _, found = known.measure([moment(6, "s:tea", "u:tea")])
    assert found[0] == pytest.approx(1 / (1 + exp(-(1 + 2 * log(1.4 / 12 / 0.2) - 0.5 * log(4)))))


@given(st.lists(st.sampled_from(["s:tea", "u:tea", "s:x", "u:y"])), st.floats(-1e6, 1e6))
def test_likeness_sums_to_one_and_familiarity_is_a_share(grams: list[str], words: float) -> None:
    known = Familiarity(SYSTEMS, np.zeros((2, 3)), np.ones(2), np.array([1.0, 2.0, -0.5]))
    likeness, found = known.measure([moment(words, *grams)])
    assert likeness.sum() == pytest.approx(1)
    assert 0 <= found[0] <= 1


def test_a_logistic_regression_on_one_split_gives_the_log_odds_of_both_sides() -> None:
    # 3 of 4 turns are familiar at 1, and 1 of 4 at 0: the log odds are log 3 and -log 3.
    inputs = np.array([[1.0]] * 4 + [[0.0]] * 4)
    found = fit_logistic(inputs, np.array([1, 1, 1, 0, 1, 0, 0, 0.0]), np.full(8, 1e4))
    assert found == pytest.approx([-log(3), 2 * log(3)], abs=1e-4)


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50), st.booleans()), min_size=2, max_size=12),
    st.floats(0.1, 1000),
)
def test_a_logistic_regression_ends_where_its_slope_is_zero(
    rows: list[tuple[float, float, bool]], weight: float
) -> None:
    inputs, wanted = np.array([row[:2] for row in rows]), np.array([float(row[2]) for row in rows])
    if len(set(wanted.tolist())) < 2:
        return  # the constant would have no bound
    found = fit_logistic(inputs, wanted, np.full(len(rows), weight))
    assert np.isfinite(found).all()
    p = 1 / (1 + np.exp(-np.clip(found[0] + inputs @ found[1:], -500, 500)))
    assert abs(weight * (wanted - p).sum()) < 1e-3 * weight * len(rows)  # the constant has no penalty


def dialogue(number: int, system: str, again: tuple[float, float, float] | None = None) -> AnnotatedDialogue:
    said = {"A": "I like tea and cake", "B": "The train leaves at nine o'clock sharp today", "C": "No. Why? Who?"}[
        system
    ]
    asked = {"A": "What do you drink", "B": "When is my train", "C": "Are you sure"}[system]
    turns = tuple(Utterance("S" if k % 2 else "U", said if k % 2 else f"{asked} {number % 3}") for k in range(6))
    gold = {1: (0.5, 0.3, 0.2), 3: (0.6, 0.2, 0.2), 5: (0.4, 0.4, 0.2)}
    return AnnotatedDialogue(
        f"{system}{number}", system, turns, gold, {} if again is None else dict.fromkeys(gold, again)
    )


@pytest.mark.parametrize(
    ("again", "belief"),
    [
        (None, 1.0),
        ((0.5, 0.3, 0.2), 1.0),
        # Levels (1/6, -1/30, -2/15) and (1/12, -1/60, -1/15): half as far, 2 · ½ / (1 + ¼).
        ((5 / 12, 19 / 60, 4 / 15), 0.8),
        ((1 / 3, 1 / 3, 1 / 3), 0.0),
        ((0.1, 0.3, 0.6), 0.0),  # the opposite direction
    ],
)
def test_a_level_is_trusted_as_far_as_a_second_annotation_repeats_it(
    again: tuple[float, float, float] | None, belief: float
) -> None:
    examples = collect_examples([dialogue(number, "A", again) for number in range(6)])
    found = fit_familiarity(examples, frequent_grams(examples), 6)
    assert found.levels[0] == pytest.approx([1 / 6, -1 / 30, -2 / 15], abs=1e-6)
    assert found.belief[0] == pytest.approx(belief, abs=1e-6)


def test_one_system_does_not_show_what_is_unfamiliar() -> None:
    examples = collect_examples([dialogue(number, "A") for number in range(6)])
    found = fit_familiarity(examples, frequent_grams(examples), 6)
    strange = collect_moments(dialogue(0, "B").turns, [1, 3, 5])
    assert found.measure(strange)[1].tolist() == [0.5] * 3


def test_dialogues_of_a_system_left_out_are_less_familiar_than_those_of_the_others() -> None:
    dialogues = [dialogue(number, system) for system in "ABC" for number in range(8)]
    examples = collect_examples(dialogues)
    for left_out in "ABC":
        mask = np.array([system != left_out for system in examples.systems])
        training = examples.select(mask)
        found = fit_familiarity(training, frequent_grams(training), 6)
        assert found.measure(examples.select(~mask).moments)[1].max() < 0.5 < found.measure(training.moments)[1].min()


def test_the_order_of_systems_and_their_names_do_not_matter() -> None:
    dialogues = [dialogue(number, system) for system in "AB" for number in range(8)]
    renamed = [replace(one, system={"A": "Z", "B": "B"}[one.system]) for one in dialogues]
    one, two = (
        fit_familiarity(examples, frequent_grams(examples), 6)
        for examples in (collect_examples(dialogues), collect_examples(renamed))
    )
    moments = collect_moments(dialogues[0].turns, [1, 3])
    assert one.measure(moments)[0] == pytest.approx(two.measure(moments)[0][:, ::-1])
    assert one.weights == pytest.approx(two.weights)


def test_a_moment_has_the_latest_system_turns_and_their_mean_features() -> None:
    turns = [Utterance("S" if k % 2 else "U", "word " * k) for k in range(60)]
    first, last = collect_moments(turns, [1, 59])
    assert len(first.grams) == 1
    assert len(last.grams) == 10
    (one, two) = values_of([first, last])
    assert len(one) == len(COLUMNS)
    assert one[: len(FEATURES)] == pytest.approx(one[len(FEATURES) :])
    assert two[WORDS] == pytest.approx(log(60))
    assert two[len(FEATURES) + WORDS] == pytest.approx(sum(log(k + 1) for k in range(41, 60, 2)) / 10)
    (again,) = collect_moments(turns[-40:], [39], passed=20)  # what the last 40 turns do not tell is not used
    assert np.array_equal(again.rows, last.rows)
    assert again.grams == last.grams
