"""Faults of simulators like ours, where a model words the user: each of them a test of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from protocols.answer import Answer
from protocols.route import Say
from simulators.agenda import Options as AgendaOptions
from simulators.agenda import build as build_agenda
from simulators.llm.user import Options, build
from simulators.outside import SampleNeeded, SuppliedUser
from simulators.user import Observation, Scenario, Streams
from tests.harvest.voices.test_endpoint import PROTOCOL, audit_file, completion, conversation, played, saying
from tests.servers.local_http import response, serving
from tests.support.enumerable_users import MOVIES
from tests.support.forked_commands import run_forked
from tests.support.scripted_words import Words, talk
from topics.errors import InputError

RNG = Streams(5, ("llm",))
GOAL = {"requests": ["Which films feature time travel?", "Who directed the oldest?"], "constraints": {}}
SCENARIO = Scenario(MOVIES, {"goal": GOAL})
PLAIN = Options.model_validate({})
USELESS = Observation(Answer("Bananas."), "x")


async def test_an_exception_never_becomes_an_apology_that_is_sent_as_the_users_words(tmp_path: Path) -> None:
    """TREC and UserSimCRS users catch what their model raises, and say that they are sorry."""
    failing = saying(completion("any films on time travel?"), response("500 Internal Server Error", "sorry"))
    one, _ = await conversation(tmp_path, failing)
    assert one.outcome is not None
    assert [turn.said for turn in one.turns] == ["any films on time travel?", "Which of them are the oldest?"]
    assert one.turns[1].worded == "policy: endpoint-failed"


def test_an_apology_made_by_a_model_is_not_sent_either() -> None:
    words = Words("I apologize for the inconvenience. Any films?", "Sorry, I meant films.", "any films?")
    (action,), _ = talk(SuppliedUser(build(PLAIN, build_agenda(AgendaOptions())), words), SCENARIO, [], RNG)
    assert action == Say("any films?", "ask", 1)


def test_a_persona_is_never_dropped_because_its_placeholder_is_missing(tmp_path: Path) -> None:
    options = Options.model_validate({"persona": "A fan of {{ topic.fields.decade }} films."})
    with pytest.raises(InputError, match="decade"):
        build(options, build_agenda(AgendaOptions())).start(SCENARIO, RNG)
    users = {"visitor": {**PROTOCOL["users"]["visitor"], "persona": "A {{ topic.fields.job }}."}}  # type: ignore[index]
    with pytest.raises(InputError, match="job"):
        load_audit(str(audit_file(tmp_path, "http://127.0.0.1:9/v1", protocol={**PROTOCOL, "users": users})))


async def test_a_fixed_seed_reaches_the_model_too(tmp_path: Path) -> None:
    async def seeds(folder: Path) -> list[int]:
        handler = saying(completion("As an AI, no."), completion("any films?"), completion("the oldest ones?"))
        _, server = await conversation(folder, handler)
        return [asked.json["seed"] for asked in server.asked]

    first, second = await seeds(tmp_path / "one"), await seeds(tmp_path / "two")
    assert first == second
    assert len(set(first)) == 3


def test_a_question_is_not_deleted_because_its_words_were_requested_twice() -> None:
    """The user is asked again once the words are there; its agenda goes on once, and only with an answer."""
    user = build(PLAIN, build_agenda(AgendaOptions.model_validate({"stop": None, "initiative": 0.0})))
    state = user.start(SCENARIO, RNG.at(0))
    for _ in range(3):
        with pytest.raises(SampleNeeded):
            user.respond(state, None, RNG.at(1))
    words = Words("any films?", "I asked about films.")
    worded = SuppliedUser(user, words)
    _, state = worded.respond(state, None, RNG.at(1))
    action, _ = worded.respond(state, USELESS, RNG.at(2))
    assert isinstance(action, Say)
    assert action.state == "insist"
    assert "Which films feature time travel?" in words.prompts[-1].messages[0].text


async def test_ten_repeats_ask_the_model_ten_times_with_ten_seeds(tmp_path: Path) -> None:
    """A cache under the prompt would make ten repeats one."""
    async with serving(saying(completion("any films?"))) as server:
        run, _ = await played(load_audit(str(audit_file(tmp_path, server.url, trials=10))), tmp_path / "run")
    openings = [asked for asked in server.asked if len(asked.json["messages"]) == 2]
    assert len(run.conversations) == len(openings) == 10
    assert len({asked.json["seed"] for asked in openings}) == 10


def test_the_first_turn_is_not_repeated_for_ever() -> None:
    words = Words("any films?")
    inner = build_agenda(AgendaOptions.model_validate({"stop": None, "patience": 100}))
    user = SuppliedUser(build(PLAIN, inner), words)
    actions, _ = talk(user, SCENARIO, [USELESS] * 5, RNG)
    assert [one.text for one in actions if isinstance(one, Say)].count("any films?") == 1
    assert [one.worded for one in actions if isinstance(one, Say)] == ["", *["policy: repeats-itself 4"] * 5]


async def test_the_models_failure_does_not_count_as_the_systems(tmp_path: Path) -> None:
    denied = response("401 Unauthorized", '{"error": {"message": "no such key"}}')
    async with serving(saying(denied)) as server:
        run, left = await played(load_audit(str(audit_file(tmp_path, server.url, trials=12))), tmp_path / "run")
    outcomes = [one.outcome for one in run.conversations]
    assert all(outcome is not None and not outcome.valid for outcome in outcomes)
    assert all(outcome is not None and "endpoint 'words'" in outcome.detail for outcome in outcomes)
    assert not any("it refuses" in reason for reason in left)


def test_a_run_whose_endpoint_is_dead_does_not_end_with_exit_code_0(tmp_path: Path) -> None:
    path = audit_file(tmp_path, "http://127.0.0.1:9/v1")
    done = run_forked("run", path, "--out", tmp_path / "run", "--json")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)
    assert "endpoint-failed" in done.stderr


async def test_the_words_of_the_system_are_not_said_as_the_users_own(tmp_path: Path) -> None:
    answer = "Primer is a film of the year 2004 about two engineers who find time travel by accident."
    words = Words("any films?", answer, f"You said: {answer}", "and the oldest?")
    inner = build_agenda(AgendaOptions.model_validate({"stop": None}))
    actions, _ = talk(SuppliedUser(build(PLAIN, inner), words), SCENARIO, [Observation(Answer(answer), "o")], RNG)
    assert [action.text for action in actions if isinstance(action, Say)] == ["any films?", "and the oldest?"]


def test_the_model_is_shown_nothing_hidden_from_its_user() -> None:
    """Gold and attributes stand beside topics; a model that is shown them would ask for the right answers."""
    words = Words("any films?", "who made the first?")
    inner = build_agenda(AgendaOptions.model_validate({"stop": None}))
    talk(SuppliedUser(build(PLAIN, inner), words), SCENARIO, [Observation(Answer("Primer"), "o")], RNG)
    shown = " ".join(message.text for prompt in words.prompts for message in prompt.messages)
    for hidden in (str(MOVIES.type.attributes), "useful", "label", MOVIES.id):
        assert not hidden or hidden not in shown, hidden
