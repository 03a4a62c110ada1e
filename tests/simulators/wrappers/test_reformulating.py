"""The reformulating user: a table decides whether a need is put again, and how."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.library import load_protocol
from protocols.route import Say, Stop
from simulators import markov
from simulators.reasons import FRUSTRATED, MEANING, PATIENCE, SATISFIED
from simulators.registry import build_users
from simulators.user import EnumerableUser, Observation, Scenario, State, Streams, User
from simulators.wrappers import reformulating
from simulators.wrappers.reformulating import ACTS, ILLUSTRATIVE, REFORMULATIONS, Options
from tests.support.talking import SCENARIO, TOPIC, answer, conversation, draws_fit, texts, through_json
from topics.document import parse_document
from topics.errors import InputError
from topics.library import load_topics

INNER = markov.build(markov.Options())
LISTS = """
constraints: ["Only films before {{ topic.fields.year | default('2000') }}.", "Only films from Japan."]
changes: ["What about books?"]
"""


def _built(text: str) -> Options:
    return parse_document(text, "options.yaml").validate_as(Options)


def _user(text: str) -> EnumerableUser:
    user = reformulating.build(_built(text), INNER)
    assert isinstance(user, EnumerableUser)
    return user


def _always(act: str, **more: str) -> EnumerableUser:
    rows = f"{{o: {{{act}: 1.0}}, x: {{{act}: 1.0}}, '-': {{{act}: 1.0}}}}"
    others = "".join(f"\n{key}: {value}" for key, value in more.items())
    return _user(f"table: {rows}\norigin: a test{others}\n{LISTS}")


def _opened(user: User, scenario: Scenario = SCENARIO) -> tuple[Say, State]:
    action, state = user.respond(user.start(scenario, Streams(1)), None, Streams(1).at(1))
    assert isinstance(action, Say)
    return action, state


def _second(act: str, **more: str) -> set[str]:
    user = _always(act, **more)
    _, state = _opened(user)
    return {
        chance.action.text if isinstance(chance.action, Say) else f"stop: {chance.action.reason}"
        for chance in user.distribution(state, answer(label="x"))
    }


def test_the_shipped_table_is_marked_illustrative_and_asks_again_as_often_as_was_observed() -> None:
    assert ILLUSTRATIVE.origin.startswith("illustrative")
    again = {"repeat", "rephrase", "simplify", "refine", "restart"}
    for label, share in (("x", 0.34), ("o", 0.12)):  # MEASURES §12: re-query of the same subtopic
        assert sum(p for act, p in ILLUSTRATIVE.rows[label].items() if act in again) == pytest.approx(share)
    for row in ILLUSTRATIVE.rows.values():
        assert sum(row.values()) == pytest.approx(1)
        assert set(row) <= set(ACTS)


def test_each_act_does_what_it_says() -> None:
    request = TOPIC.request
    assert _second("repeat") == {request}
    films = request.replace("find", "look up").replace("best", "top").replace("movies", "films")
    films = films.replace("I want", "I would like")
    assert _second("rephrase") == {
        f"In other words: {films}",
        f"Let me put it differently. {films}",
        f"What I mean is this: {films}",
    }
    short = "find best sci-fi movies time travel 2004 want least three without sequels"
    assert _second("simplify") == {short, f"In short: {short}"}
    assert _second("refine") == {"Only films before 2000.", "Only films from Japan."}
    assert _second("change") == {"What about books?"}
    assert _second("stop") == {"stop: frustrated"}


def test_restart_repeats_the_opening_and_restores_the_inner_user() -> None:
    user = _user(
        "table: {o: {go-on: 1.0}, x: {restart: 1.0}, '-': {go-on: 1.0}}\norigin: a test\n"
    )  # after o the inner user goes on, after x it all begins again
    _, opened = _opened(user)
    state: State = opened
    for draw in range(50):
        action, state = user.respond(opened, answer(label="o"), Streams(draw).at(2))
        if isinstance(action, Say):
            break
    assert state.inner != opened.inner
    action, state = user.respond(state, answer(label="x"), Streams(1).at(3))
    assert isinstance(action, Say)
    assert (action.state, action.turn) == ("restart", 3)
    assert action.text.endswith(TOPIC.request)
    assert state.inner == opened.inner


def test_restarting_right_after_the_opening_is_impossible_and_the_user_continues() -> None:
    user, seen = _always("restart"), answer(label="x")
    _, state = _opened(user)
    _, within = _opened(INNER)
    assert state.inner == within
    assert {repr(chance.action) for chance in user.distribution(state, seen)} == {
        repr(chance.action) for chance in INNER.distribution(within, seen)
    }


def test_constraints_and_other_needs_are_said_once_and_then_the_user_continues() -> None:
    user = _always("refine", most="50")
    for seed in range(10):
        found = conversation(user, SCENARIO, Streams(seed), lambda _: answer(label="x"), limit=6)
        said = texts(found)
        assert set(said[1:3]) == {"Only films before 2000.", "Only films from Japan."}
        assert not {"Only films before 2000.", "Only films from Japan."} & set(said[3:])


def test_after_the_maximum_of_reformulations_in_a_row_the_user_continues() -> None:
    user = _always("repeat", most="2")
    acts = [
        action.state if isinstance(action, Say) else "stop"
        for action, _ in conversation(user, SCENARIO, Streams(3), lambda _: answer(label="x"), limit=12)
    ]
    assert acts[:3] == ["ask", "repeat", "repeat"]
    assert acts[3] not in REFORMULATIONS


def test_the_reason_of_a_stop_follows_from_the_last_answer() -> None:
    user = _always("stop")
    _, state = _opened(user)
    for label, reason in (("o", SATISFIED), ("x", FRUSTRATED), (None, PATIENCE)):
        action, after = user.respond(state, answer(label=label), Streams(1).at(2))
        assert action == Stop("user-stopped", reason)
        assert reason in MEANING
        with pytest.raises(ValueError, match="over"):
            user.respond(after, answer(), Streams(1).at(3))


def test_a_row_for_an_act_replaces_the_table() -> None:
    user = _user(
        "{table: {o: {repeat: 1.0}, x: {repeat: 1.0}, '-': {repeat: 1.0}}, origin: a test, "
        "after: {repeat: {x: {stop: 1.0}}}}"
    )
    said = texts(conversation(user, SCENARIO, Streams(1), lambda _: answer(label="x")))
    assert said == [TOPIC.request, TOPIC.request, "stop: frustrated"]
    assert _user("{most: 2}").table.origin == ILLUSTRATIVE.origin  # type: ignore[attr-defined]


@given(st.integers(0, 2**32), st.lists(st.sampled_from(["o", "x", None]), min_size=12, max_size=12))
def test_chances_sum_to_1_at_every_turn_contain_the_draw_and_memories_survive_json(
    seed: int, labels: list[str | None]
) -> None:
    user, streams = _user(LISTS), Streams(seed)
    state: State = user.start(SCENARIO, streams.at(0))
    observation: Observation | None = None
    for turn in range(1, 12):
        chances = user.distribution(state, observation)
        assert sum(chance.probability for chance in chances) == pytest.approx(1)
        drawn = user.respond(state, observation, streams.at(turn))
        assert drawn == user.respond(through_json(state), observation, streams.at(turn))
        assert drawn in [(chance.action, chance.state) for chance in chances]
        action, state = drawn
        if isinstance(action, Stop):
            break
        assert action.turn == turn
        observation = answer(label=labels[turn])


@pytest.mark.parametrize("label", ["x", *(pytest.param(label, marks=pytest.mark.soak) for label in ("o", None))])
def test_a_draw_is_a_draw_from_the_distribution(label: str | None) -> None:
    user = _user(LISTS)
    _, state = _opened(user)
    draws_fit(user, state, answer(label=label), tests=3)


def test_a_user_that_always_continues_equals_the_wrapped_user_in_every_draw() -> None:
    user = _always("go-on")
    for trial in range(20):
        streams = Streams(trial)
        found = conversation(user, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]))
        plain = conversation(INNER, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]))
        assert [(action, state.inner) for action, state in found] == plain


def test_the_acts_come_as_often_as_the_table_says() -> None:
    user = _user(LISTS)
    _, state = _opened(user)
    acts = Counter(
        action.state if isinstance(action, Say) else "stop"
        for action, _ in (user.respond(state, answer(label="x"), Streams(draw)) for draw in range(700))
    )
    row = {act: p for act, p in ILLUSTRATIVE.rows["x"].items() if act != "restart"}
    for act in ("rephrase", "simplify", "refine", "change", "repeat"):
        share = row[act] / sum(row.values())
        assert abs(acts[act] / 700 - share) < 4 * (share * (1 - share) / 700) ** 0.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{table: {o: {stop: 1.0}}, origin: x}", "table: the rows for x, - are missing"),
        ("{table: {o: {stop: 0.5}, x: {stop: 1.0}, '-': {stop: 1.0}}, origin: x}", "table.o: the row sums to 0.5"),
        (
            "{table: {o: {stop: 1.0}, x: {stop: 1.0}, '-': {stop: 1.0}}}",
            "origin: the source of the table is missing",
        ),
        ("{origin: fitted}", "can only be given with a table"),
        ("{constraints: ['']}", "constraints: this text is empty"),
        ("{constraints: ['{{ item }}']}", "unknown variable 'item'"),
        ("{phrases: {rephrase: ['Again, please.']}}", "would be lost without {{ item }}"),
        ("{most: 0}", "at least 1"),
    ],
)
def test_misleading_tables_and_words_are_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        _built(text)


def test_a_topic_without_a_word_for_a_constraint_is_refused_at_the_start() -> None:
    user = _user('constraints: ["From {{ topic.fields.year }}."]')
    with pytest.raises(InputError, match="has no field 'year'"):
        user.start(SCENARIO, Streams(1))


def test_a_call_out_of_turn_is_an_error_of_the_caller() -> None:
    user = _user(LISTS)
    state = user.start(SCENARIO, Streams(1))
    with pytest.raises(ValueError, match="has not begun"):
        user.respond(state, answer(), Streams(1))
    with pytest.raises(ValueError, match="an answer is needed"):
        user.respond(_opened(user)[1], None, Streams(1))
    with pytest.raises(ValueError, match="not a memory of a reformulating user"):
        user.respond(INNER.start(SCENARIO, Streams(1)), None, Streams(1))


@given(seed=st.integers(0, 500))
def test_only_a_repetition_repeats_the_last_words(seed: int) -> None:
    """To simplify twice would be to repeat, and be counted as another act."""
    rows = "{repeat: 0.2, rephrase: 0.3, simplify: 0.3, restart: 0.2}"
    user = _user(f"table: {{o: {rows}, x: {rows}, '-': {rows}}}\norigin: a test\nmost: 8")
    rng = Streams(seed)
    action, state = user.respond(user.start(SCENARIO, rng), None, rng.at(1))
    for turn in range(2, 8):
        assert isinstance(action, Say)
        before = action.text
        action, state = user.respond(state, answer(label="x"), rng.at(turn))
        assert isinstance(action, Say)
        assert (action.text == before) == (action.state == "repeat")


def test_if_an_act_has_no_other_words_left_its_chance_goes_to_the_others() -> None:
    """One way to simplify: after it was said, `simplify` is no choice until something else was."""
    rows = "{simplify: 0.5, stop: 0.5}"
    phrases = "{simplify: ['{{ item }}']}"
    user = _user(f"table: {{o: {rows}, x: {rows}, '-': {rows}}}\norigin: a test\nphrases: {phrases}")
    _, state = _opened(user)
    first = user.distribution(state, answer(label="x"))
    assert sorted(chance.probability for chance in first) == [0.5, 0.5]
    (said,) = (chance for chance in first if isinstance(chance.action, Say))
    (then,) = user.distribution(said.state, answer(label="x"))
    assert isinstance(then.action, Stop)
    assert then.probability == 1


def test_the_recovery_protocol_asks_for_its_url_from_the_first_turn_on() -> None:
    """`o` needs one: a first answer without it must not be the user's doing."""
    protocol = load_protocol("recovery")
    for topic in load_topics("fairweb-45").topics:
        user = build_users(protocol)["seeker"]
        rng = Streams(3, (topic.id,))
        action, state = user.respond(user.start(Scenario(topic), rng.at(0)), None, rng.at(1))
        said = []
        for turn in range(2, 6):
            if isinstance(action, Say):
                said.append(action.text)
                action, state = user.respond(state, answer(label="x"), rng.at(turn))
            else:
                break
        assert said[0] == f"{topic.request}\nFormat: {topic.asks_for}"
        for text in said:
            assert topic.asks_for in text, text
            assert text.count(topic.asks_for) == 1, text
