"""Probabilities of acts, estimated with back-off, and what they are worth on users they were not fitted on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.studies.users.fitted_users import fitted_options
from recordings.acts.dialogue import ActTurn, Dialogue
from scoring.simulation.act_model import (
    START,
    STOP,
    Decision,
    Fit,
    Smoothing,
    UniformModel,
    acts_in,
    assign_folds,
    closest_context,
    contexts,
    decision_bits,
    decisions_of,
    fit_acts,
    held_out_bits,
)
from simulators.act_table import ANY
from tests.support.simulated_dialogues import iard
from topics.errors import InputError

ACTS = ("a", "b", "c")


def dialogue(acts: str, *, answers: str = "", ended: bool = True, name: str = "1", person: str = "") -> Dialogue:
    seen = answers.ljust(len(acts), "-")
    turns = tuple(ActTurn(act, None if answer == "-" else answer) for act, answer in zip(acts, seen))
    return Dialogue(name, turns, ended, person)


@st.composite
def groups(draw: st.DrawFn) -> list[Dialogue]:
    """A few dialogues over three acts, with answers or without."""
    found = []
    for number in range(draw(st.integers(1, 6))):
        acts = draw(st.text("abc", min_size=1, max_size=6))
        answers = draw(st.text("ox-", min_size=len(acts), max_size=len(acts)))
        found.append(dialogue(acts, answers=answers, ended=draw(st.booleans()), name=str(number)))
    return found


settings = st.builds(Smoothing, st.sampled_from(["witten-bell", "additive"]), st.floats(0.01, 5))
histories = st.lists(st.sampled_from(ACTS), max_size=4).map(lambda acts: (START, *acts))


@given(groups(), st.integers(0, 2), st.booleans(), settings, histories, st.sampled_from(["o", "x", None]))
def test_probabilities_sum_to_one_and_nobody_leaves_before_the_first_turn(
    dialogues: list[Dialogue],
    order: int,
    looks: bool,
    smoothing: Smoothing,
    before: tuple[str, ...],
    answer: str | None,
) -> None:
    model = fit_acts(dialogues, acts=ACTS, order=order, given=looks, smoothing=smoothing)
    opening = before == (START,)
    found = model.probabilities(Decision(before, None if opening else answer, ""))
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert np.all(found[:-1] > 0)
    assert (found[-1] == 0) == opening or found[-1] > 0


@given(groups(), st.sampled_from([1, 2]), st.sampled_from(["nothing", "labels"]), settings, histories)
def test_the_checked_model_is_the_played_table(
    dialogues: list[Dialogue], order: int, answers: str, smoothing: Smoothing, before: tuple[str, ...]
) -> None:
    smoothing = Smoothing(smoothing.method, round(smoothing.weight, 3))
    looks = answers == "labels"
    acts = acts_in(dialogues)
    before = (START, *(act for act in before[1:] if act in acts))
    model = fit_acts(dialogues, order=order, given=looks, smoothing=smoothing)
    options = fitted_options(
        dialogues,
        order=2 if order == 2 else 1,
        answers="labels" if looks else "nothing",
        smoothing=smoothing,
    )
    known = ("o", "x") if looks else ()
    for answer in (*known, None):
        if len(before) > 1 or answer is None:
            played = options.table().row(before[1:], answer or "-")
            found = dict(zip(model.outcomes, model.probabilities(Decision(before, answer, ""))))
            assert {act: found[act] for act in played} == pytest.approx(played, abs=1e-12)


def test_witten_bell_mixes_a_row_with_the_next_as_printed() -> None:
    model = fit_acts([dialogue("aab", name="1"), dialogue("ab", name="2")])
    any_row = np.array([1, 2, 2]) / 5 * 5 / 8 + 3 / 8 / 3  # a, b, stop: five decisions that are no opening, T = 3
    after_a = (np.array([1, 2, 0]) + 2 * any_row) / 5
    assert model.outcomes == ("a", "b", STOP)
    assert model.probabilities(Decision((START, "a"), None, "")) == pytest.approx(after_a)


def test_additive_smoothing_adds_its_weight_to_each_count() -> None:
    model = fit_acts([dialogue("aab")], smoothing=Smoothing("additive", 0.5))
    assert model.probabilities(Decision((START, "a"), None, "")) == pytest.approx(np.array([1.5, 1.5, 0.5]) / 3.5)


def test_an_unseen_row_has_the_values_of_the_next() -> None:
    model = fit_acts([dialogue("aab")], acts=ACTS, order=2)
    unseen = model.probabilities(Decision((START, "b", "a"), None, ""))
    order_one = fit_acts([dialogue("aab")], acts=ACTS, order=1)
    assert unseen == pytest.approx(order_one.probabilities(Decision((START, "a"), None, "")))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("given", [False, True])
def test_the_closest_row_is_the_first_existing_one_of_those_for_a_decision(order: int, given: bool) -> None:
    decisions = [decision for one in iard()[:40] for decision in decisions_of(one)]
    assert any(len(decision.before) > 2 for decision in decisions)
    for decision in decisions:
        assert closest_context(decision, order, given) == contexts(decision, order, given)[0]


def test_a_missing_last_answer_does_not_reveal_the_end() -> None:
    """A log in which only last turns are unanswered: looking at answers must not make its ends certain."""
    log = [dialogue("ab", answers="o-", name=str(n)) for n in range(50)] + [
        dialogue("aba", answers="oo-", name=f"x{n}") for n in range(50)
    ]
    with_answers, without = fit_acts(log, given=True), fit_acts(log)
    last = Decision((START, "a", "b"), None, STOP)
    assert decision_bits(with_answers, last) == pytest.approx(decision_bits(without, last))


@pytest.mark.parametrize("name", ["start", "stop"])
def test_a_reserved_act_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="another name"):
        fit_acts([Dialogue("1", (ActTurn(name),), True)])


def test_the_uniform_floor_costs_the_log_of_the_number_of_outcomes() -> None:
    floor = UniformModel(ACTS)
    assert decision_bits(floor, Decision((START,), None, "a")) == pytest.approx(math.log2(3))
    assert decision_bits(floor, Decision((START, "a"), None, STOP)) == 2


def test_folds_keep_the_dialogues_of_one_person_together() -> None:
    dialogues = [dialogue("ab", name=str(n), person=str(n % 7)) for n in range(40)]
    folds = assign_folds(dialogues, 5, np.random.default_rng(1))
    for person in range(7):
        assert len({int(fold) for one, fold in zip(dialogues, folds) if one.person == str(person)}) == 1
    assert set(folds.tolist()) == set(range(5))


def test_every_decision_is_predicted_once_by_a_model_that_has_not_seen_its_person() -> None:
    dialogues = [dialogue("ab", name=str(n), person=str(n % 6)) for n in range(20)]
    seen: list[Decision] = []

    def watching(training: Sequence[Dialogue]) -> UniformModel:
        assert len({one.person for one in training}) < 6
        seen.extend(decision for one in training for decision in decisions_of(one))
        return UniformModel(("a", "b"))

    found = held_out_bits(dialogues, {"uniform": watching}, np.random.default_rng(1), folds=6)["uniform"]
    assert found.n == 60
    assert len(seen) == 5 * 60  # each person is left out of one of six folds
    assert found.units == 6
    assert found.perplexity == pytest.approx(2**found.bits)
    assert found.log_likelihood == pytest.approx(-found.bits * 60)


def test_a_model_of_what_users_really_do_beats_the_floor_and_one_of_noise_does_not() -> None:
    rng = np.random.default_rng(5)
    regular = [dialogue("abc" * int(rng.integers(1, 4)), name=str(n)) for n in range(60)]
    noise = [dialogue("".join(rng.choice(list("abc"), size=6)), name=str(n), ended=False) for n in range(60)]
    models: dict[str, Fit] = {"uniform": lambda _: UniformModel(ACTS), "order 1": lambda t: fit_acts(t, acts=ACTS)}
    good = held_out_bits(regular, models, rng)["order 1"]
    assert good.low > 1
    empty = held_out_bits(noise, models | {"order 2": lambda t: fit_acts(t, acts=ACTS, order=2)}, rng)
    assert empty["order 2"].bits >= empty["order 1"].bits  # what is fitted to noise costs


def test_a_model_that_excludes_an_observed_act_costs_without_bound() -> None:
    class Never(UniformModel):
        def probabilities(self, decision: Decision) -> npt.NDArray[np.float64]:
            return np.array([1.0, 0.0, 0.0])

    dialogues = [dialogue("ab", name=str(n)) for n in range(4)]
    models: dict[str, Fit] = {"uniform": lambda _: UniformModel(("a", "b")), "never": lambda _: Never(("a", "b"))}
    found = held_out_bits(dialogues, models, np.random.default_rng(1))
    assert math.isinf(found["never"].bits)
    assert math.isnan(found["never"].low)


def test_on_iard_the_fitted_user_beats_the_random_floor_and_a_model_of_acts_only_on_other_people() -> None:
    acts = acts_in(iard())
    found = held_out_bits(
        iard(),
        {
            "uniform": lambda _: UniformModel(acts),
            "acts alone": lambda training: fit_acts(training, acts=acts, order=0),
            "order 1": lambda training: fit_acts(training, acts=acts),
        },
        np.random.default_rng(1),
        folds=5,
    )
    assert found["order 1"].low > 1.1
    assert found["order 1"].low > found["acts alone"].high
    assert found["uniform"].n == sum(one.length + 1 for one in iard())


def test_a_fitted_row_without_a_known_answer_applies_to_all_answers() -> None:
    options = fitted_options(iard()[:40])
    assert {count.answer for count in options.counts} == {ANY}
    table = options.table()
    assert table.row(["OTH"], "o") == table.row(["OTH"], "x") == table.row(["OTH"])
