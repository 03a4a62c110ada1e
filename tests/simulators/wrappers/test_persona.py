"""The persona user: matched users differ in the cue alone, and no persona is lost in silence."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.route import Say
from simulators import markov
from simulators.user import EnumerableUser, Observation, Scenario, Streams, User
from simulators.wrappers import paraphrasing, persona
from simulators.wrappers.persona import Group, Options, matched_scenarios
from tests.support.talking import SCENARIO, TOPIC, answer, conversation, draws_fit, texts, through_json
from topics.document import parse_document
from topics.errors import InputError

INNER = markov.build(markov.Options())
GROUPS = """
groups:
  teacher: {cue: "I am a {{ topic.fields.role }}."}
  student: {cue: "I am a student."}
  again: {same_as: student}
  nobody: {plain: true}
"""


def _built(text: str) -> Options:
    return parse_document(text, "options.yaml").validate_as(Options)


def _user(more: str = "", inner: User = INNER) -> User:
    return persona.build(_built(GROUPS + more), inner)


def _labels(seed: int) -> list[Observation]:
    return [answer(f"Answer {turn}", "ox"[(seed >> turn) % 2]) for turn in range(40)]


@given(st.integers(0, 2**32), st.integers(0, 2**30), st.sampled_from(["first", "every"]))
def test_matched_users_differ_only_in_the_cue_in_every_draw(seed: int, answers: int, where: str) -> None:
    user, seen = _user(f"where: {where}"), _labels(answers)
    told: dict[str, list[str]] = {}
    inner: dict[str, list[object]] = {}
    for group, scenario in matched_scenarios(SCENARIO, ["teacher", "student", "again", "nobody"]).items():
        streams = Streams(seed, (user.name, scenario.id, 1))
        found = conversation(user, scenario, streams, lambda turn: seen[turn])
        told[group], inner[group] = texts(found), [state.inner for _, state in found]
    plain = conversation(INNER, SCENARIO, Streams(seed, (user.name, SCENARIO.id, 1)), lambda turn: seen[turn])
    assert told["nobody"] == texts(plain)
    assert told["again"] == told["student"], "the null pair"
    assert all(states == inner["nobody"] for states in inner.values())
    for group, cue in (("teacher", "I am a teacher. "), ("student", "I am a student. ")):
        carrying = [
            f"{cue}{text}" if not text.startswith("stop: ") and (where == "every" or turn == 0) else text
            for turn, text in enumerate(told["nobody"])
        ]
        assert told[group] == carrying


def test_the_group_can_be_in_the_options_or_in_the_scenario() -> None:
    by_trait = matched_scenarios(SCENARIO, ["student"])["student"]
    assert (by_trait.id, by_trait.traits["group"]) == (SCENARIO.id, "student")
    assert _opening(_user(), by_trait) == _opening(_user("group: student"), SCENARIO)
    assert _opening(_user("group: student"), by_trait).startswith("I am a student. Please find")


def _opening(user: User, scenario: Scenario) -> str:
    action, _ = user.respond(user.start(scenario, Streams(1)), None, Streams(1).at(1))
    assert isinstance(action, Say)
    return action.text


@pytest.mark.parametrize(
    ("more", "traits", "words"),
    [
        ("", {}, "the user's group is unknown"),
        ("", {"group": "pupil"}, "no description of the group 'pupil'"),
        ("", {"group": 3}, "no description of the group 3"),
        ("group: student", {"group": "teacher"}, "give one of the two"),
    ],
)
def test_an_undeclared_group_is_an_error_at_the_start(more: str, traits: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        _user(more).start(Scenario(TOPIC, traits), Streams(1))


def test_the_fault_of_a_persona_dropped_because_its_placeholder_was_missing() -> None:
    """STYLE: a persona silently dropped because its placeholder was missing."""
    with pytest.raises(InputError, match=r"frame: the text must contain \{cue\} exactly once"):
        _built(GROUPS + 'frame: "{turn}"')
    with pytest.raises(InputError, match=r"frame: the text must contain \{turn\} exactly once"):
        _built(GROUPS + 'frame: "{cue}"')
    poor = Scenario(replace(TOPIC, fields={}), {"group": "teacher"})
    with pytest.raises(InputError, match="topic 'M002' has no field 'role'"):
        _user().start(poor, Streams(1))
    with pytest.raises(InputError, match="does not know the trait 'mood'"):
        _user().start(Scenario(TOPIC, {"group": "student", "mood": "sad"}), Streams(1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups: {}", "groups"),
        ("groups: {a: {cue: ' '}}", "this text is empty"),
        ("groups: {a: {}}", "give one of cue, same_as and plain"),
        ("groups: {a: {cue: x, plain: true}}", "give one of cue, same_as and plain"),
        ("groups: {a: {same_as: b}}", "same_as must name a group with its own cue"),
        ("groups: {a: {same_as: a}}", "same_as must name a group"),
        ("groups: {a: {cue: x}, b: {cue: x}}", "has the same cue as"),
        ("groups: {a: {cue: '{{ topic.nam }}'}}", "unknown variable 'topic.nam'"),
        ("{groups: {a: {cue: x}}, group: b}", "no group is called 'b'"),
        ("groups: {a: {cue: x}, A: {cue: y}}", "differ only in spaces and capitals"),
    ],
)
def test_options_that_would_lose_a_persona_are_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        _built(text)


def test_the_same_need_in_another_language_is_a_group_too() -> None:
    topic = replace(TOPIC, fields={"request_ja": "タイムトラベルの映画を教えてください。"})
    options = "groups: {ja: {plain: true, request: '{{ topic.fields.request_ja }}'}, en: {plain: true}}"
    user = persona.build(_built(options), INNER)
    assert _opening(user, Scenario(topic, {"group": "ja"})) == "タイムトラベルの映画を教えてください。"
    assert _opening(user, Scenario(topic, {"group": "en"})) == TOPIC.request
    with pytest.raises(InputError, match="has no field 'request_ja'"):
        user.start(Scenario(TOPIC, {"group": "ja"}), Streams(1))


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1, max_size=30).filter(str.strip))
def test_braces_in_a_turn_or_a_cue_are_said_as_they_are(request_: str, cue: str) -> None:
    topic = replace(TOPIC, request=request_, fields={"cue": cue})
    options = Options(groups={"a": Group(cue="{{ topic.fields.cue }}")}, group="a", frame="({cue}) {turn} {turns}")
    assert _opening(persona.build(options, INNER), Scenario(topic)) == f"({cue.strip()}) {request_.strip()} {{turns}}"


def test_a_draw_is_a_draw_from_the_distribution_and_the_memory_survives_json() -> None:
    user = _user("{group: student, where: every}".strip("{}").replace(", ", "\n"))
    assert isinstance(user, EnumerableUser)
    state, observation = through_json(user.start(SCENARIO, Streams(2))), None
    for label in ("o", "x", None):
        chances = draws_fit(user, state, observation, draws=300, tests=3)
        going = [chance for chance in chances if isinstance(chance.action, Say)]
        state, observation = through_json(going[0].state), answer(label=label)
    found = conversation(user, SCENARIO, Streams(4), lambda turn: answer(label="ox"[turn % 2]))
    assert found == conversation(
        user, SCENARIO, Streams(4), lambda turn: answer(label="ox"[turn % 2]), json_between=True
    )


def test_wrappers_can_wrap_wrappers() -> None:
    worded = paraphrasing.build(paraphrasing.Options(typos=1.0), INNER)
    user = _user("group: student", worded)
    assert _opening(user, SCENARIO).startswith("I am a student. Pl"[:17])
    both = paraphrasing.build(paraphrasing.Options(typos=1.0), _user("group: student"))
    assert not _opening(both, SCENARIO).startswith("I am a student. ")


def test_a_memory_of_another_user_is_refused() -> None:
    with pytest.raises(ValueError, match="not a memory of a persona user"):
        _user("group: student").respond(INNER.start(SCENARIO, Streams(1)), None, Streams(1))
