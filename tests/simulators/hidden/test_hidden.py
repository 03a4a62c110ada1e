"""Hidden states are learnt, kept in a file and played: what was planted is found, and what is drawn is listed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harvest.studies.users.played_users import (
    BOTH,
    DEFAULT,
    FEWEST,
    HIDDEN,
    PERSON_KNOWN,
    candidates,
    fit_hidden_user,
    learn_hidden,
    people_of,
    played_bits,
    with_table,
)
from protocols.route import Say, Stop
from recordings.acts.dialogue import ActTurn, Dialogue
from recordings.acts.reading import read_dialogues
from simulators import fitted
from simulators.act_table import ActSequence
from simulators.conformance import assert_conforms
from simulators.enumeration import Response, expand
from simulators.fitted import HiddenFile, read_user
from simulators.hidden.fitting import Recipe, choose_recipe, fit_hidden, log_likelihoods
from simulators.hidden.model import HiddenModel
from simulators.hidden.user import HiddenUser, build, model_options
from simulators.moves import PlanningUser
from simulators.registry import build_user
from simulators.user import EnumerableUser, Scenario, State, Streams
from tests.support.enumerable_users import ANSWERS, MOVIES, walk
from tests.support.simulated_dialogues import SIM4IA, fitted_markov, iard
from topics.document import parse_document
from topics.errors import InputError

SCENARIO = Scenario(MOVIES)


def two_classes(persons: int, rng: np.random.Generator, *, dialogues: int = 3) -> list[Dialogue]:
    """Half of the people leave at .1 after each turn, half at .6, in all their dialogues."""
    found = []
    for person in range(persons):
        leaving = (0.1, 0.6)[person % 2]
        for number in range(dialogues):
            turns = tuple(ActTurn("ask") for _ in range(int(rng.geometric(leaving))))
            found.append(Dialogue(f"{person}-{number}", turns, True, person=f"{person:03}"))
    return found


def moody(number: int, rng: np.random.Generator) -> list[Dialogue]:
    """Two states, calm and cross, which nobody sees: a refusal makes cross for good, and who is cross insists or
    leaves."""
    found = []
    for name in range(number):
        cross, turns = False, [ActTurn("ask", "x" if rng.random() < 0.4 else "o")]
        while True:
            cross = cross or turns[-1].answer == "x"
            act = rng.choice(["ask", "insist", "stop"], p=[0.3, 0.4, 0.3] if cross else [0.9, 0.02, 0.08])
            if act == "stop":
                break
            turns.append(ActTurn(str(act), "x" if rng.random() < 0.4 else "o"))
        found.append(Dialogue(str(name), tuple(turns), True))
    return found


@pytest.fixture(scope="module")
def hidden_user() -> HiddenUser:
    options = model_options(learn_hidden(moody(150, np.random.default_rng(2)), answers="labels"))
    words = {"ask": ("{{ topic.request }}", "What is there?"), "insist": ("Again, please.",)}
    return build(options.model_copy(update={"words": words}))


def test_two_planted_classes_are_found_and_predicted_from_a_persons_dialogues_together() -> None:
    """The share is of leaving or staying: .569 bits together, .594 each alone and .600 by turn and act when this was
    written (in another such world .584, .618 and .623 were found by another program)."""
    rng = np.random.default_rng(1)
    people = two_classes(200, rng)
    model = learn_hidden(people)
    assert model.classes >= 2
    leaving = []
    for latent_class in (1, model.classes):
        belief = model.update_by_act(model.initial_belief(latent_class), "ask", opening=True)
        leaving.append(model.row(model.update_by_answer(belief, "-"), opening=False)["stop"])
    assert leaving == [pytest.approx(0.6, abs=0.06), pytest.approx(0.1, abs=0.04)]
    others = two_classes(200, rng)
    decisions = sum(one.length + 1 for one in others) - len(others)  # the opening is always the same act
    known = [_bits(model, others, together) / decisions for together in (True, False)]
    default = played_bits(fitted_markov(people, stop=DEFAULT), others) / decisions
    assert known[0] < 0.60
    assert known[0] < known[1] - 0.02 < default - 0.015


def _bits(model: HiddenModel, dialogues: list[Dialogue], together: bool) -> float:
    return -float(log_likelihoods(model, people_of(dialogues), together=together).sum()) / math.log(2)


@pytest.mark.parametrize("folds", [2, pytest.param(4, marks=pytest.mark.soak)])
def test_people_of_one_kind_get_no_useful_second_class(folds: int) -> None:
    rng = np.random.default_rng(3)
    same = two_classes(120, rng)
    order = rng.permutation(len(same))
    shuffled = [replace(same[place], person=str(n % 120)) for n, place in enumerate(order)]
    found = candidates(shuffled, folds=folds)
    gain = found.held_out[HIDDEN].bits - found.held_out[PERSON_KNOWN].bits
    assert abs(gain) < 0.01, "who comes again tells nothing here"


@pytest.mark.parametrize("folds", [2, pytest.param(4, marks=pytest.mark.soak)])
def test_a_state_that_follows_an_answer_is_learnt(folds: int) -> None:
    people, others = (moody(600, np.random.default_rng(seed)) for seed in (4, 5))
    found = candidates([*people, *others][:400], answers="labels", folds=folds)
    assert found.chosen == HIDDEN
    assert found.held_out[HIDDEN].low > 0
    model = learn_hidden(people, answers="labels")
    belief = model.update_by_act(model.initial_belief(), "ask", opening=True)
    for answer, staying in (("o", 0.9), ("x", 0.3)):
        assert model.row(model.update_by_answer(belief, answer), opening=False)["ask"] == pytest.approx(
            staying, abs=0.06
        )


def test_the_played_user_has_the_fitted_likelihood(hidden_user: HiddenUser) -> None:
    others = moody(40, np.random.default_rng(8))
    people = people_of(others, "labels")
    exact = -float(log_likelihoods(hidden_user.model, people, together=False).sum()) / math.log(2)
    assert played_bits(hidden_user, others, "labels") == pytest.approx(exact, rel=1e-9)


def test_a_hidden_state_user_keeps_every_promise(hidden_user: HiddenUser) -> None:
    assert_conforms(hidden_user, [SCENARIO])
    assert set(walk(hidden_user, SCENARIO, depth=3)) == {"ask", "insist", "left"}


def test_following_an_act_sums_the_outcomes_with_this_act(hidden_user: HiddenUser) -> None:
    users = [hidden_user, *(build_user(parse_document(one, "visitor.yaml")) for one in VISITORS.values())]
    planning = [user for user in users if isinstance(user, PlanningUser)]
    assert len(planning) >= 4
    for user in planning:
        state, seen = user.start(SCENARIO, Streams(0).at(0)), None
        for answer in (ANSWERS[0], ANSWERS[3], ANSWERS[0]):
            chances: dict[str | None, float] = {"never said": 0.0}
            first: dict[str | None, State] = {}
            for one in user.distribution(state, seen):
                act = one.action.state if isinstance(one.action, Say) else None
                chances[act] = chances.get(act, 0.0) + one.probability
                first.setdefault(act, one.state)
            followed = {act: user.follow(state, seen, act) for act in chances}
            assert {act: chance for act, (chance, _) in followed.items()} == pytest.approx(chances, abs=1e-12)
            said = max(first.keys() - {None}, key=lambda act: chances[act], default=None)
            if said is None:
                break
            assert followed[said][1] == first[said]
            state, seen = first[said], answer


VISITORS = {
    "random": "{simulator: random}",
    "markov": "{simulator: markov}",
    "agenda": "{simulator: agenda, requests: ['{{ topic.request }}', 'And comedies?']}",
    "subtopic": "{simulator: subtopic, subtopics: ['{{ topic.request }}', 'Which are comedies?', 'Which are old?']}",
    "clarification": "{simulator: clarification, facet: recent ones}",
    "reformulating": "{simulator: reformulating, over: {simulator: random}}",
    "paraphrasing": "{simulator: paraphrasing, typos: 0.02, over: {simulator: random}}",
    "persona": "{simulator: persona, group: old, groups: {old: {cue: I am old.}}, over: {simulator: markov}}",
}


@pytest.mark.parametrize(
    ("name", "draws"),
    [
        ("hidden", 1_000),
        ("persona", 1_000),
        *(pytest.param(one, 10_000, marks=pytest.mark.soak) for one in ("hidden", *VISITORS)),
    ],
)
def test_enumeration_equals_many_draws(name: str, draws: int, hidden_user: HiddenUser) -> None:
    user = hidden_user if name == "hidden" else build_user(parse_document(VISITORS[name], "visitor.yaml"))
    assert isinstance(user, EnumerableUser)
    answers = [(0.55, ANSWERS[0]), (0.25, ANSWERS[3]), (0.2, ANSWERS[6])]
    turns = 3
    tree = expand(
        user,
        SCENARIO,
        lambda exchanges, said: [Response(p, one.answer, one.label) for p, one in answers],
        most_turns=turns,
        most_nodes=2_000_000,
    )
    exact: dict[tuple[str, ...], float] = {}
    for path in tree.paths:
        way = (*(turn.state for turn in path.turns), path.reason)
        exact[way] = exact.get(way, 0.0) + path.probability
    assert math.fsum(exact.values()) == pytest.approx(1, abs=1e-12)
    drawn: Counter[tuple[str, ...]] = Counter()
    system = np.random.default_rng(5)
    for trial in range(draws):
        rng = Streams(11, (name, SCENARIO.id, trial))
        state, seen = user.start(SCENARIO, Streams(0).at(0)), None
        done: list[str] = []
        while True:
            action, state = user.respond(state, seen, rng.at(len(done) + 1))
            if not isinstance(action, Say) or len(done) == turns:
                done.append("" if isinstance(action, Say) else action.reason)
                break
            done.append(action.state)
            seen = answers[int(system.choice(3, p=[p for p, _ in answers]))][1]
        drawn[tuple(done)] += 1
    assert not set(drawn) - set(exact), "nothing is drawn outside the tree"
    common = [way for way in exact if draws * exact[way] >= 5]
    rest = [way for way in exact if draws * exact[way] < 5]
    seen_, due = [drawn[way] for way in common], [draws * exact[way] for way in common]
    if rest:
        seen_, due = [*seen_, sum(drawn[way] for way in rest)], [*due, draws * sum(exact[way] for way in rest)]
    assert len(seen_) > 2
    assert stats.chisquare(seen_, np.array(due) * sum(seen_) / sum(due)).pvalue > 0.001 / len(VISITORS)


@pytest.mark.parametrize("persons", [6, pytest.param(12, marks=pytest.mark.soak)])
def test_a_fit_is_the_same_again_and_does_not_depend_on_the_order_of_people(persons: int) -> None:
    people = two_classes(persons, np.random.default_rng(6))
    first, again, turned = (learn_hidden(some, seed=4) for some in (people, people, people[::-1]))
    assert first == again
    assert first.initial_belief() == pytest.approx(turned.initial_belief(), rel=1e-6)
    assert learn_hidden(people, seed=5) != first


def test_an_act_unseen_in_training_keeps_a_probability() -> None:
    model = fit_hidden(
        [(ActSequence(("a", "b"), ("-", "-")),)] * 4, ("a", "b", "c"), Recipe(), np.random.default_rng(1)
    )
    row = model.row(
        model.update_by_answer(model.update_by_act(model.initial_belief(), "a", opening=True), "-"), opening=False
    )
    assert 0 < row["c"] < row["b"]
    assert sum(row.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "people",
    [
        [(ActSequence(("a",), ("-",)),)],
        [(ActSequence(("a",), (), False),), (ActSequence(("a",), (), False),)],
        [(ActSequence(("a",) * 200, ("o",) * 200),), (ActSequence(("b",), ("x",)), ActSequence(("a",), ("-",), False))],
    ],
)
def test_very_few_people_are_fitted_nevertheless(people: list[tuple[ActSequence, ...]]) -> None:
    rng = np.random.default_rng(1)
    model = fit_hidden(people, ("a", "b"), choose_recipe(people, ("a", "b"), rng), rng)
    assert np.isfinite(log_likelihoods(model, people)).all()


def test_a_file_with_hidden_states_is_read_back_and_played_whole_and_by_class(tmp_path: Path) -> None:
    held = fit_hidden_user(two_classes(60, np.random.default_rng(7)), name="visitors", files=["log.jsonl"])
    path = tmp_path / "visitors.yaml"
    path.write_text(held.text(), encoding="utf-8")
    assert read_user(path) == held
    assert held.options.model().classes >= 2
    leaving = []
    for latent_class in (None, 1, held.options.model().classes):
        given = {"file": str(path), "words": {"ask": ("{{ topic.request }}",)}, "latent_class": latent_class}
        user = fitted.build(fitted.Options.model_validate(given))
        assert user.name == "visitors"
        state = user.start(SCENARIO, Streams(1))
        (first,) = user.distribution(state, None)
        leaving.append(
            sum(one.probability for one in user.distribution(first.state, ANSWERS[0]) if isinstance(one.action, Stop))
        )
    assert leaving[2] < 0.25 < leaving[0] < 0.45 < leaving[1]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"latent_class": 9}, "latent_class: there is no class 9"),
        ({"stop": {"model": "geometric", "p": 0.3}}, "cannot have a stop model"),
        ({"words": {}}, "the act 'b' of the user with hidden states has no words"),
        ({"words": {"b": ("b",), "c": ("c",)}}, "the act 'c' has words but is not in the table"),
    ],
)
def test_options_unfit_for_hidden_states_are_refused(tmp_path: Path, options: dict[str, object], fault: str) -> None:
    people = [Dialogue(str(n), (ActTurn("b"),), True) for n in range(4)]
    path = tmp_path / "u.yaml"
    path.write_text(fit_hidden_user(people, name="u").text(), encoding="utf-8")
    given = {"file": str(path), "words": {"b": ("b",)}, **options}
    with pytest.raises(InputError, match=fault):
        fitted.build(fitted.Options.model_validate(given))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("classes: [1.0]", "classes: [0.5]", "the probabilities must sum to 1"),
        ("classes: [1.0]", "classes: [0.5, 0.5]", "classes: the table must have 1 × 1 numbers"),
        ("weight: 0", "weight: 1", "weight"),
        ("answer: '*'", "answer: o", "the rows for any answer"),
        ("acts: [b]", "acts: [stop]", "no act may be called 'start' or 'stop'"),
        ("acts: [b]", "acts: [b, c]", "opening: the table must have 4 × 2 numbers"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = fit_hidden_user([Dialogue(str(n), (ActTurn("b"),), True) for n in range(4)], name="u").text()
    assert old in text
    path = tmp_path / "u.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=fault):
        read_user(path)


@pytest.mark.soak
def test_people_of_iard_are_predicted_better_than_by_the_default() -> None:
    """Five folds: golden from this code; findings measured .073 [.049, .099] with another program (8 states, 10
    folds)."""
    found = candidates(iard(), folds=5)
    assert found.chosen == HIDDEN
    best = found.held_out[HIDDEN]
    assert (best.units, best.n) == (156, 2597)
    assert best.gain >= 0.05
    assert best.low > 0
    assert found.held_out[DEFAULT].bits < min(found.held_out[name].bits for name in ("table", "geometric", "hazard"))


@pytest.mark.parametrize("folds", [5, pytest.param(10, marks=pytest.mark.soak)])
def test_thirty_five_searchers_are_clearly_better_predicted_only_with_the_table(folds: int) -> None:
    """Hidden states alone gain more, but some people lose much by them: 10 folds have .077 [-.003, .161] alone and .068
    [.017, .127] with the table."""
    found = candidates(read_dialogues(SIM4IA).kept, folds=folds)
    alone, both = found.held_out[HIDDEN], found.held_out[BOTH]
    assert alone.gain >= 0.05
    assert both.gain >= 0.05
    assert both.low > max(0.0, alone.low)
    assert found.chosen == (BOTH if alone.low <= 0 else HIDDEN)
    assert "cannot be fitted" in found.left_out["geometric"]


def test_a_table_within_hidden_states_predicts_like_the_table(hidden_user: HiddenUser) -> None:
    people, others = moody(150, np.random.default_rng(2)), moody(30, np.random.default_rng(9))
    both = with_table(hidden_user.model, people, answers="labels", smoothing=None)
    table = HiddenModel(both.acts, (replace(both.parts[-1], weight=1.0),))
    default = fitted_markov(people, stop=DEFAULT, answers="labels")
    played = HiddenUser(both, hidden_user.phrasebook)
    for one in others:
        bits = [
            played_bits(default, [one], "labels"),
            _likelihood(table, one),
            _likelihood(hidden_user.model, one),
            _likelihood(both, one),
            played_bits(played, [one], "labels"),
        ]
        assert bits[1] == pytest.approx(bits[0], rel=1e-9)
        assert bits[3] == pytest.approx(-math.log2((2 ** -bits[1] + 2 ** -bits[2]) / 2), rel=1e-6), (
            "weights are rounded"
        )
        assert bits[4] == pytest.approx(bits[3], rel=1e-9)
    assert_conforms(played, [SCENARIO])


def test_people_of_one_class_do_not_act_by_the_table_of_all() -> None:
    people = two_classes(60, np.random.default_rng(1))
    model = learn_hidden(people)
    both = with_table(model, people, answers="nothing", smoothing=None)
    if model.classes > 1:
        rows = [
            one.row(one.update_by_act(one.initial_belief(1), "ask", opening=True), opening=False)
            for one in (model, both)
        ]
        assert rows[1] == pytest.approx(rows[0])


def _likelihood(model: HiddenModel, one: Dialogue) -> float:
    return -float(log_likelihoods(model, people_of([one], "labels"), together=False).sum()) / math.log(2)


def test_with_few_people_the_default_is_played() -> None:
    found = candidates(moody(FEWEST - 1, np.random.default_rng(1)), answers="labels", folds=3)
    assert found.chosen == DEFAULT
    assert found.held_out[HIDDEN].units == FEWEST - 1
    assert candidates(moody(1, np.random.default_rng(1))).held_out == {}


def test_another_kind_of_file_keeps_its_kind(tmp_path: Path) -> None:
    assert isinstance(fit_hidden_user(two_classes(4, np.random.default_rng(1)), name="u"), HiddenFile)
