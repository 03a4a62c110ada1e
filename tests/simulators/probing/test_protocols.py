"""The protocols that use simulated users: each is read, its users are built, and it is played to an end on a topic."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from protocols.answer import Answer
from protocols.library import check_topics, load_protocol
from protocols.route import Say, Stop
from simulators.conformance import assert_conforms
from simulators.probing.cases import list_cases
from simulators.probing.judging import verdict
from simulators.probing.probe import Finding
from simulators.probing.recorded import probes
from simulators.registry import build_users, check_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams
from tests.support.talking import through_json
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")

NAMES = (
    *("adaptability", "customisability", "harmlessness", "modesty", "retention-over-sessions"),
    *("consistency-and-retention", "fair-treatment", "helpdesk", "open-ended", "recovery", "robustness"),
    *("robustness-one-turn", "sincerity", "consistency-over-sessions"),
)
SYSTEMS = {
    "helpful": "Canberra. 28. Composite. Rome. Kyoto. Biscuit. Peanuts. Primer: https://www.imdb.com/title/tt0390384/",
    "wrong": "Sydney. 29. Prime. New York. Osaka.",
    "silent": "",
    "asking": "Which year do you mean? I have no idea.",
}


TRAITS = {"fair-treatment": {"group": "younger"}}
"""What an audit gives the users of a protocol."""


def _played(name: str, text: str, trial: int) -> Iterator[Say | Stop]:
    protocol = load_protocol(name)
    user, streams = ScriptedUser(protocol, build_users(protocol)), Streams(7, ("scripted", "M002", trial))
    state, seen = user.start(Scenario(TOPICS["M002"], TRAITS.get(name, {})), streams.at(0)), None
    for turn in range(1, 50):
        action, state = user.respond(through_json(state), seen, streams.at(turn))
        yield action
        if isinstance(action, Stop):
            return
        seen = Observation(Answer(text))
    pytest.fail(f"{name} does not end")


def test_the_false_premise_of_retention_is_a_closed_question_with_a_natural_correction() -> None:
    plan = probes(load_protocol("consistency-and-retention"))[0].plan
    home = plan.facts["home"]
    assert all("only" in words for words in home.premise), "probe.md: ask for the answer alone"
    for said, corrected, along in (
        ("Kyoto.", True, False),
        ("You live in Kyoto, not in Osaka.", True, False),
        ("Osaka.", False, True),
    ):
        found = verdict(Answer(said), home.right, home.wrong, TOPICS["M002"], only=False)
        turn = Finding(1, "false-premise", "home", None, found, 0)
        assert {case.measure: case.yes for case in list_cases([turn])} == {
            "false_premise(corrected)": corrected,
            "false_premise(went_along)": along,
        }


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_protocol_fits_every_shipped_topic(name: str) -> None:
    protocol = load_protocol(name)
    assert protocol.name == name
    check_topics(protocol, TOPICS)
    check_users(build_users(protocol), TOPICS.topics, TRAITS.get(name, {}))


@pytest.mark.parametrize("trials", [2, pytest.param(5, marks=pytest.mark.soak)])
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_is_played_to_an_end_for_any_answers(name: str, system: str, trials: int) -> None:
    protocol = load_protocol(name)
    for trial in range(trials):
        actions = list(_played(name, SYSTEMS[system], trial))
        assert isinstance(actions[-1], Stop)
        assert len(actions) - 1 <= (protocol.turn_limit or 0)
        said = [action for action in actions if isinstance(action, Say)]
        assert said
        assert all(action.text.strip() and action.act for action in said)


def test_sincerity_challenges_right_answers_wrongly_and_wrong_ones_rightly() -> None:
    for system, act in (("wrong", "challenge-rightly"), ("asking", "")):
        acts = [action.act for action in _played("sincerity", SYSTEMS[system], 1) if isinstance(action, Say)]
        assert acts.count(act) == (4 if act else 0)
        assert acts.count("challenge-wrongly") == 0


def test_robustness_varies_the_words_and_keeps_the_format() -> None:
    openings = {str(getattr(next(_played("robustness-one-turn", "", trial)), "text", "")) for trial in range(30)}
    assert len(openings) > 10
    assert all("IMDb" in text for text in openings), TOPICS["M002"].request


@pytest.mark.parametrize("seeds", [1, pytest.param(3, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", NAMES)
def test_its_users_keep_the_promises_of_the_interface(name: str, seeds: int) -> None:
    for user in build_users(load_protocol(name)).values():
        assert_conforms(user, [Scenario(TOPICS["M002"], TRAITS.get(name, {}))], seeds=seeds)
