"""The agenda user: says what its goal holds, answers questions first, and drops nothing before it was answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Say, Stop
from simulators import random
from simulators.agenda import ACTS, AgendaUser, Options, build
from simulators.conformance import assert_conforms
from simulators.memory import decode_memory, encode_memory
from simulators.stopping.hazard import Geometric
from simulators.user import Chance, Observation, Scenario, State, Streams
from tests.support.enumerable_users import ANSWERS, MOVIES, drawn_like_promised, said, walk
from topics.document import parse_document
from topics.errors import InputError

RNG = Streams(5)
GOAL = {
    "requests": ["Which films feature time travel?", "Who directed the oldest?"],
    "constraints": {"year": "They should be from 2004.", "genre": "I like comedies."},
}
SCENARIO = Scenario(MOVIES, {"goal": GOAL})
USEFUL, USELESS = Observation(Answer("Primer, Looper"), "o"), Observation(Answer("Bananas."), "x")
REFUSED = Observation(Answer("I’m sorry, but I can’t help with that."))
WHICH_YEAR = Observation(Answer("Sure! Which year should they be from?"))
WHICH_ACTOR = Observation(Answer("Who should be the actor?"))


def quiet(**options: object) -> AgendaUser:
    """A user without a stop model, with one wording for each act."""
    bare = ("no-preference", "unsure")
    words = {act: ("{{ item }}",) for act in ACTS if act not in bare} | dict.fromkeys(bare, ("Any.",))
    return build(Options.model_validate({"stop": None, "words": words, **options}))


def after(user: AgendaUser, *observations: Observation, scenario: Scenario = SCENARIO) -> State:
    """The memory with these answers, the last of them not yet responded to; fails if the user leaves before."""
    state = user.respond(user.start(scenario, RNG), None, RNG.at(1))[1]
    for turn, observation in enumerate(observations, 2):
        action, state = user.respond(state, observation, RNG.at(turn))
        assert isinstance(action, Say)
    return state


def ways(chances: tuple[Chance, ...]) -> Mapping[tuple[str, str], float]:
    """Probability by act and text, or by the reason for leaving."""
    found: dict[tuple[str, str], float] = {}
    for chance in chances:
        action = chance.action
        key = (action.state, action.text) if isinstance(action, Say) else ("", action.reason)
        found[key] = found.get(key, 0.0) + chance.probability
    return found


def test_every_node_keeps_its_promises() -> None:
    user = build(Options(cooperativeness=0.7, patience=1))
    seen = walk(user, SCENARIO, (*ANSWERS, WHICH_ACTOR), depth=3)
    of_facts = {"unsure", "revise"}  # which this goal has none of
    assert set(seen) == {*ACTS, "patience", "frustrated", "goal-reached", "satisfied"} - of_facts


def test_an_agenda_user_keeps_the_promises_of_the_interface() -> None:
    assert_conforms(build(Options(cooperativeness=0.7)), [SCENARIO, Scenario(MOVIES)])


@given(
    initiative=st.sampled_from([0.0, 0.3, 1.0]),
    cooperativeness=st.sampled_from([0.0, 0.6, 1.0]),
    patience=st.integers(0, 2),
    hazard=st.sampled_from([None, 0.0, 0.5, 1.0]),
    requests=st.integers(1, 2),
    constraints=st.integers(0, 2),
)
@settings(max_examples=12, deadline=None)
def test_any_parameters_give_distributions(
    initiative: float, cooperativeness: float, patience: int, hazard: float | None, requests: int, constraints: int
) -> None:
    options = Options(
        initiative=initiative,
        cooperativeness=cooperativeness,
        patience=patience,
        stop=None if hazard is None else Geometric(p=hazard),
    )
    goal = {
        "requests": ["Which films?", "Who directed it?"][:requests],
        "constraints": dict([("year", "From 2004."), ("genre", "A comedy.")][:constraints]),
    }
    walk(build(options), Scenario(MOVIES, {"goal": goal}), (USEFUL, USELESS, WHICH_YEAR, WHICH_ACTOR), depth=3)


def test_draws_follow_the_promised_distribution() -> None:
    user = build(Options(cooperativeness=0.6))
    state = user.start(SCENARIO, RNG)
    drawn_like_promised(user, state, None, tests=6)
    opened = after(user)
    for observation in (USEFUL, USELESS, REFUSED, WHICH_YEAR, WHICH_ACTOR):
        drawn_like_promised(user, opened, observation, tests=6)


def test_initiative_decides_how_much_is_said_at_once() -> None:
    opening = ways(quiet(initiative=0.25).distribution(quiet().start(SCENARIO, RNG), None))
    first, (year, genre) = "Which films feature time travel?", GOAL["constraints"].values()  # type: ignore[attr-defined]
    assert opening == pytest.approx(
        {("ask", first): 0.75, ("ask", f"{first} {year}"): 0.1875, ("ask", f"{first} {year} {genre}"): 0.0625}
    )


def test_a_question_is_not_dropped_before_it_was_answered() -> None:
    user = quiet(initiative=0.0, patience=9)
    state = user.respond(user.start(SCENARIO, RNG), None, RNG.at(1))[1]
    # Useless answers, refusals and questions of the system leave the question on top of the stack.
    for turn, observation in enumerate([USELESS, REFUSED, WHICH_YEAR, Observation(Answer("")), WHICH_ACTOR], 2):
        action, state = user.respond(state, observation, RNG.at(turn))
        assert isinstance(action, Say)
        assert state.stack == (
            ("request", "Who directed the oldest?"),
            ("request", "Which films feature time travel?"),
        )
    action, state = user.respond(state, USEFUL, RNG.at(9))
    assert isinstance(action, Say)
    assert (action.state, action.text) == ("ask", "Who directed the oldest?")
    assert state.stack == (("request", "Who directed the oldest?"),), "the second waits for its own answer"
    action, state = user.respond(state, USEFUL, RNG.at(10))
    assert action == Stop("user-stopped", "goal-reached")


def test_a_question_of_the_system_is_answered_before_the_agenda_goes_on() -> None:
    user = quiet(initiative=0.0)
    opened = after(user)
    assert ways(user.distribution(opened, WHICH_YEAR)) == {("inform", "They should be from 2004."): 1.0}
    assert ways(user.distribution(opened, WHICH_ACTOR)) == {("no-preference", "Any."): 1.0}
    informed = user.respond(opened, WHICH_YEAR, RNG.at(2))[1]
    assert informed.said == ("year",)
    assert ways(user.distribution(informed, USELESS)) == {("insist", "Which films feature time travel?"): 1.0}


def test_a_question_is_also_recognised_by_the_words_of_the_wanted_item() -> None:
    asked = Observation(Answer("Do you prefer comedies or dramas?"))
    user = quiet(initiative=0.0)
    assert ways(user.distribution(after(user), asked)) == {("inform", "I like comedies."): 1.0}


def test_an_uncooperative_user_ignores_the_question_and_repeats_its_own() -> None:
    user = quiet(initiative=0.0, cooperativeness=0.25)
    found = user.distribution(after(user), WHICH_YEAR)
    own = ("insist", "Which films feature time travel?")
    assert ways(found) == pytest.approx({("inform", "They should be from 2004."): 0.25, own: 0.75})
    passed = next(
        chance.state for chance in found if isinstance(chance.action, Say) and chance.action.state == "insist"
    )
    assert (passed.passed_over, passed.said) == (1, ())


@pytest.mark.parametrize("label", ["o", "x", None])
def test_a_question_is_answered_whatever_its_label(label: str | None) -> None:
    user = quiet(initiative=0.0)
    labelled = Observation(WHICH_YEAR.answer, label)
    assert ways(user.distribution(after(user), labelled)) == {("inform", "They should be from 2004."): 1.0}
    offered = Observation(Answer("Primer is one. Would you like me to list more?"), "o")
    assert ways(user.distribution(after(user), offered)) == {("ask", "Who directed the oldest?"): 1.0}


def test_a_question_that_names_no_constraint_gets_the_fallback() -> None:
    user = quiet(initiative=0.0, fallback="About {{ topic.fields.facet }}.", cooperativeness=0.75)
    found = ways(user.distribution(after(user), WHICH_ACTOR))
    assert found == pytest.approx(
        {
            ("inform", "About low-budget independent productions."): 0.75,
            ("insist", "Which films feature time travel?"): 0.25,
        }
    )
    assert ways(user.distribution(after(user), WHICH_YEAR))["inform", "They should be from 2004."] == pytest.approx(
        0.75
    )
    with pytest.raises(InputError, match="the fallback: topic 'M002' has no field 'colour'"):
        quiet(fallback="{{ topic.fields.colour }}").start(SCENARIO, RNG)


def test_unsaid_constraints_are_said_by_initiative_after_useless_and_useful_answers() -> None:
    user = quiet(initiative=0.5)
    nothing_said = next(
        chance.state
        for chance in user.distribution(user.start(SCENARIO, RNG), None)
        if isinstance(chance.action, Say) and chance.action.text == "Which films feature time travel?"
    )
    year, genre = ("refine", "They should be from 2004."), ("refine", "I like comedies.")
    assert ways(user.distribution(nothing_said, USELESS)) == pytest.approx(
        {year: 0.5, ("insist", "Which films feature time travel?"): 0.5}
    )
    assert ways(user.distribution(nothing_said, USEFUL)) == pytest.approx(
        {year: 0.5, genre: 0.25, ("ask", "Who directed the oldest?"): 0.25}
    )
    refined = next(chance.state for chance in user.distribution(nothing_said, USEFUL) if chance.state.said)
    assert refined.stack == (("request", "Who directed the oldest?"), ("refined", year[1])), "it waits for an answer"


def test_at_the_end_of_its_goal_it_leaves_or_adds_unsaid_constraints() -> None:
    scenario = Scenario(MOVIES, {"goal": {"requests": ["Which films?"], "constraints": {"year": "From 2004."}}})
    user = quiet(initiative=0.4)
    state = user.start(scenario, RNG)
    bare = next(
        c.state for c in user.distribution(state, None) if isinstance(c.action, Say) and c.action.text == "Which films?"
    )
    assert ways(user.distribution(bare, USEFUL)) == pytest.approx(
        {("refine", "From 2004."): 0.4, ("", "goal-reached"): 0.6}
    )


def test_patience_ends_with_a_reason() -> None:
    user = quiet(initiative=0.0, patience=1)
    assert said(user, SCENARIO, [USELESS, USELESS]) == ["ask", "insist", "frustrated"]
    assert said(user, SCENARIO, [USELESS, WHICH_YEAR]) == ["ask", "insist", "patience"]
    assert said(user, SCENARIO, [USELESS, USEFUL, USELESS, USELESS]) == ["ask", "insist", "ask", "insist", "frustrated"]


def test_questions_can_be_counted_separately_from_useless_answers() -> None:
    user = quiet(initiative=0.0, patience=1, questions=2)
    asking = [WHICH_YEAR, USELESS, WHICH_ACTOR]
    assert said(user, SCENARIO, [*asking, USELESS]) == ["ask", "inform", "insist", "no-preference", "frustrated"]
    assert said(user, SCENARIO, [*asking, WHICH_YEAR]) == ["ask", "inform", "insist", "no-preference", "patience"]
    answered = said(user, SCENARIO, [*asking, USEFUL, WHICH_ACTOR, WHICH_ACTOR])
    assert answered[-3:] == ["ask", "no-preference", "no-preference"]


def test_coverage_is_the_share_of_requests_that_were_answered() -> None:
    assert after(quiet(initiative=0.0), USELESS, USEFUL).experience.coverage == (0.0, 0.5)


def test_the_goal_comes_from_the_trait_the_options_or_the_request() -> None:
    options = parse_document(
        "{requests: ['{{ topic.request }}', 'Why?'], constraints: {year: 'From {{ topic.fields.year }}.'}}", "f"
    ).validate_as(Options)
    state = build(options).start(Scenario(MOVIES), RNG)
    assert state.stack == (("request", "Why?"), ("request", MOVIES.request))
    assert state.constraints == (("year", "From 2004."),)
    assert build(Options()).start(Scenario(MOVIES), RNG).stack == (("request", MOVIES.request),)


@pytest.mark.parametrize(
    "goal",
    [
        None,
        {"requests": ["Which films?"], "constraints": {" ": "From 2004."}},
        "films",
        {},
        {"requests": []},
        {"requests": [""]},
        {"requests": ["a"], "constraints": ["b"]},
        {"requests": ["a"], "constraints": {"year": " "}},
        {"requests": ["a"], "wishes": []},
    ],
)
def test_an_invalid_goal_is_refused(goal: object) -> None:
    scenario = Scenario(MOVIES, {"goal": goal} if goal is not None else {"gaol": {}})
    with pytest.raises(InputError, match=r"does not have the form of a goal|did you mean 'goal'"):
        build(Options()).start(scenario, RNG)


def test_a_constraint_that_the_topic_cannot_fill_is_refused() -> None:
    user = build(Options(constraints={"genre": "{{ topic.fields.genre }}"}))
    with pytest.raises(InputError, match="constraint 'genre': topic 'M002' has no field 'genre'"):
        user.start(Scenario(MOVIES), RNG)


def test_an_invalid_memory_is_refused() -> None:
    user = quiet()
    kept = encode_memory(user.start(SCENARIO, RNG))
    for broken in ({**kept, "stack": [["request"]]}, {key: kept[key] for key in ("harvest-memory", "topic", "turn")}):
        with pytest.raises(ValueError, match="not a saved memory: agenda"):
            decode_memory(broken)
    for other in (kept, {}, random.build(random.Options()).start(Scenario(MOVIES), RNG)):
        with pytest.raises(ValueError, match="not a memory of an agenda user"):
            user.respond(other, None, RNG)


FACTS: Mapping[str, Any] = {
    "requests": ("My line is down. What should I do?", "When will it work again?"),
    "constraints": {"time": "It must be before noon."},
    "facts": {"account_number": "It is 4711.", "address": "I live in Elm Street."},
    "unknown": ("order_number",),
    "initiative": 0.0,
}


@pytest.mark.parametrize(
    ("question", "act", "words"),
    [
        ("Could you tell me your account number?", "inform", "It is 4711."),
        ("What is your address, please?", "inform", "I live in Elm Street."),
        ("What is your order number?", "unsure", "Any."),
        ("At what time should somebody come?", "inform", "It must be before noon."),
        ("Which colour does the lamp have?", "no-preference", "Any."),
    ],
)
def test_a_known_fact_is_given_when_requested_and_an_unknown_one_is_denied(question: str, act: str, words: str) -> None:
    user = quiet(**FACTS)
    state = user.respond(user.start(Scenario(MOVIES), RNG), None, RNG.at(1))[1]
    assert ways(user.distribution(state, Observation(Answer(question)))) == {(act, words): 1.0}


def test_facts_are_never_given_unasked() -> None:
    user, seen, spoken = quiet(**{**FACTS, "initiative": 1.0}), None, []
    state: State = user.start(Scenario(MOVIES), RNG)
    for turn in range(1, 4):
        action, state = user.respond(state, seen, RNG.at(turn))
        spoken.append(action.text if isinstance(action, Say) else action.reason)
        seen = USEFUL
    assert spoken == [f"{FACTS['requests'][0]} It must be before noon.", FACTS["requests"][1], "goal-reached"]


CHANGES = (
    {"turn": 2, "slot": "time", "say": "I am out in the morning, so after noon.", "becomes": "It must be after noon."},
    {"turn": 3, "slot": "address", "say": "I have moved to Oak Street.", "becomes": "I live in Oak Street."},
    {"turn": 4, "slot": "account_number", "say": "I have lost my papers."},
    {"turn": 5, "slot": "time", "say": "Any time will do now."},
    {"turn": 6, "slot": "price", "say": "And it must be cheap.", "becomes": "It must be cheap."},
)
SLOTS = ("time", "address", "account number", "price", "order number")
ASKED = tuple(Observation(Answer(f"Which {slot} is it?")) for slot in SLOTS)


def _told(user: AgendaUser, changes: int) -> list[tuple[str, str]]:
    """What is said to each question after so many changes, and that draws nothing."""
    state = user.respond(user.start(Scenario(MOVIES), RNG), None, RNG.at(1))[1]
    for turn in range(2, 2 + changes):
        chances = user.distribution(state, USEFUL)
        ((act, words),) = ways(chances)
        assert (act, words) == ("revise", CHANGES[turn - 2]["say"])
        state = chances[0].state
    return [next(iter(ways(user.distribution(state, question)))) for question in ASKED]


def test_a_need_is_replaced_dropped_and_added_to_at_its_turns() -> None:
    none, unsure = ("no-preference", "Any."), ("unsure", "Any.")
    early, late = ("inform", "It must be before noon."), ("inform", "It must be after noon.")
    elm, oak = ("inform", "I live in Elm Street."), ("inform", "I live in Oak Street.")
    number, cheap = ("inform", "It is 4711."), ("inform", "It must be cheap.")
    told = {
        0: [early, elm, number, none, unsure],
        1: [late, elm, number, none, unsure],
        2: [late, oak, number, none, unsure],
        3: [late, oak, unsure, none, unsure],
        4: [none, oak, unsure, none, unsure],
        5: [none, oak, unsure, cheap, unsure],
    }
    for changes, expected in told.items():
        later = tuple({**one, "turn": 50 + n} for n, one in enumerate(CHANGES[changes:]))
        user = quiet(**FACTS, changes=(*CHANGES[:changes], *later), patience=9)
        assert _told(user, changes) == expected, changes


def test_no_goal_is_reached_before_everything_has_changed() -> None:
    late = quiet(
        requests=("Help me.",), changes=({"turn": 9, "slot": "price", "say": "Cheaply.", "becomes": "Cheap."},)
    )
    state = late.respond(late.start(Scenario(MOVIES), RNG), None, RNG.at(1))[1]
    chances = late.distribution(state, USEFUL)
    assert ways(chances) == {("revise", "Cheaply."): 1.0}
    assert ways(late.distribution(chances[0].state, USELESS)) == {("insist", "Cheaply."): 1.0}, "it waits for an answer"
    assert ways(late.distribution(chances[0].state, USEFUL)) == {("", "goal-reached"): 1.0}


def test_a_user_of_facts_and_changes_keeps_every_promise_and_its_draws_are_those_it_lists() -> None:
    facts = {**FACTS, "initiative": 0.5, "cooperativeness": 0.7, "changes": CHANGES[1:2]}
    user = build(Options.model_validate(facts))
    assert_conforms(user, [Scenario(MOVIES)])
    seen = walk(user, Scenario(MOVIES), (*ANSWERS[:3], *ASKED[1:3]), depth=3)
    assert {"revise", "inform", "ask", "refine"} <= set(seen)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"facts": {"year": "a"}, "constraints": {"year": "b"}}, "the slot 'year' is given twice"),
        ({"facts": {"year": "a"}, "unknown": ("year",)}, "the slot 'year' is given twice"),
        ({"constraints": {"year": "a", "": "b"}}, "constraints: a slot has no name"),
        ({"facts": {" ": "a"}}, "facts: a slot has no name"),
        ({"unknown": ("year", "")}, "unknown: a slot has no name"),
        ({"changes": ({"turn": 3, "slot": "year", "say": "Never mind."},)}, "there is no 'year' to drop"),
        ({"changes": ({"turn": 1, "slot": "year", "say": "a", "becomes": "b"},)}, "at least 2"),
        (
            {"changes": tuple({"turn": 3, "slot": "year", "say": "a", "becomes": "b"} for _ in range(2))},
            "each change must be at a later turn",
        ),
    ],
)
def test_facts_and_changes_that_make_no_goal_are_refused(options: Mapping[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_document(json.dumps(options), "user.yaml").validate_as(Options)


def test_a_goal_of_a_scenario_may_have_facts() -> None:
    goal = {"requests": ["Help me."], "facts": {"year": "It is of 2004."}, "unknown": ["genre"]}
    user, scenario = quiet(), Scenario(MOVIES, {"goal": goal})
    state = user.respond(user.start(scenario, RNG), None, RNG.at(1))[1]
    assert ways(user.distribution(state, WHICH_YEAR)) == {("inform", "It is of 2004."): 1.0}
    with pytest.raises(InputError, match="does not have the form of a goal"):
        user.start(Scenario(MOVIES, {"goal": {**goal, "facts": ["x"]}}), RNG)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("{constraints: {year: a}, facts: {year: b}}", 40),
        ("{changes: [{turn: 3, slot: yaer, say: x}], constraints: {year: a}}", 28),
        ("{changes: [{turn: 4, slot: a, say: x, becomes: y}, {turn: 4, slot: b, say: x, becomes: y}]}", 59),
    ],
)
def test_a_fault_of_a_slot_points_at_it_and_gives_advice(text: str, column: int) -> None:
    with pytest.raises(InputError) as refused:
        parse_document(text, "o.yaml").validate_as(Options)
    assert refused.value.place is not None
    assert refused.value.place.column == column
    assert refused.value.allowed
    assert refused.value.advice
