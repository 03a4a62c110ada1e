"""What went wrong in houses like ours, as far as it concerns users: one test for each, named after it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simulators.registry as registry
from harvest.audits.system import System
from harvest.cli import main
from harvest.parrot.parrot import Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from harvest.playing.attempt import Player
from harvest.playing.plan import Plan, Sitting, Work
from harvest.playing.runner import Runner
from harvest.systems.limits import Limits
from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.conversations.conversation import INVALID, TrialKey
from recordings.conversations.endings import missing_turns
from recordings.log.header import make_header, trial_identity
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from simulators.conformance import ANSWERS
from simulators.reasons import ENDPOINT_FAILED
from simulators.registry import build_user
from simulators.user import Observation, Scenario, State, Streams, User
from tests.harvest.playing.test_policies import PROTOCOL, TOPICS, Quiet, Scripted
from tests.support.checkout import ROOT
from tests.support.rehearsal import rehearse
from topics.document import Document
from topics.errors import InputError
from topics.library import load_topics

FAIRWEB = load_topics("fairweb-45")
TOPIC = FAIRWEB["M002"]
SCENARIO = Scenario(TOPIC)
APOLOGIES = ("sorry", "apolog", "error", "traceback", "unable", "cannot help")
POLICIES: dict[str, dict[str, object]] = {
    "random": {"acts": {"ask": 1, "more": 2, "insist": 1, "detail": 1}},
    "markov": {},
    "agenda": {"requests": ("{{ topic.request }}", "Which is the best one?")},
    "clarification": {"facet": "Japanese animation"},
    "subtopic": {"subtopics": ("robots", "time machines")},
}


def built(name: str, **options: object) -> User:
    return build_user(Document("p.yaml", {"simulator": name, **(options or POLICIES.get(name, {}))}, {}, {}))


def talk(user: User, seed: int, answers: Sequence[Observation] = ANSWERS, most: int = 12) -> list[Say | Stop]:
    rng, system = Streams(seed, (user.name, "M002", 1)), random.Random(seed)
    action, state = user.respond(user.start(SCENARIO, rng.at(0)), None, rng.at(1))
    done: list[Say | Stop] = [action]
    while isinstance(action, Say) and len(done) < most:
        action, state = user.respond(state, system.choice(answers), rng.at(len(done) + 1))
        done.append(action)
    return done


@dataclass
class Failing:
    """Fails in one way at its second turn."""

    how: str
    name: str = "failing"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        if self.how == "start":
            raise KeyError("persona")
        return {"turn": 0}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        turn = int(str(state["turn"])) + 1
        if turn == 1:
            return Say("A question.", "ask", 1), {"turn": 1}
        match self.how:
            case "raise":
                raise RuntimeError("the simulator's endpoint fell over, and its key is here")
            case "empty":
                return Say("  ", "ask", turn), {"turn": turn}
            case "endpoint":
                return Stop("user-stopped", ENDPOINT_FAILED), state
        raise AssertionError(self.how)


@dataclass
class Polite(Scripted):
    """A system that keeps what it was told."""

    heard: list[str] = field(default_factory=list)


async def play(folder: Path, user: User) -> tuple[Run, Quiet, list[str]]:
    driver = Scripted(lambda opening, turn, text: "An answer.")
    bounds = Limits(retry_wait=0.0, turn_timeout=5.0, attempts=1)
    system = System("S", "scripted", {}, "fresh", bounds, ())
    header = make_header(audit={}, protocol=PROTOCOL, topics=TOPICS, systems={"S": system.definition()}, seed=1)
    works = [
        Work(TrialKey("S", topic.id, 1), topic, trial_identity(PROTOCOL, topic, system.definition(), 1))
        for topic in TOPICS.topics
    ]
    watcher = Quiet()
    async with RunWriter.open(folder, header) as writer:
        runner = Runner(Player(writer, user, seed=1), (system,), {"S": driver}, watcher)
        await runner.play(Plan({"S": tuple(Sitting((work,)) for work in works)}, 0, 0, 0, 0))
    return read(folder), watcher, driver.said


@pytest.mark.parametrize(
    ("how", "reason"),
    [("raise", "user-fault"), ("empty", "user-fault"), ("start", "user-fault"), ("endpoint", ENDPOINT_FAILED)],
)
async def test_an_exception_in_a_simulator_is_never_sent_as_the_users_words(
    tmp_path: Path, how: str, reason: str
) -> None:
    run, watcher, said = await play(tmp_path / "run", Failing(how))
    assert set(said) <= {"A question."}
    assert {one.outcome.reason for one in run.conversations if one.outcome} == {reason}
    assert all(missing_turns(one) == 0 for one in run.conversations), "a fault of ours is not counted as the system's"
    kind = INVALID if how == "start" else "user-stopped"  # what was answered before counts
    assert [outcome.kind for _, outcome, _ in watcher.outcomes] == [kind] * 3
    assert run.damage == ()


@dataclass
class Broken:
    """A user whose second turn is whatever it was given; what no user may do."""

    returned: object
    name: str = "broken"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {"turn": 0}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> Any:
        return (Say("A question.", "ask", 1), {"turn": 1}) if observation is None else self.returned


@pytest.mark.parametrize(
    ("returned", "promise"),
    [
        ((Say("More.", 5, 2), {}), "action"),  # type: ignore[arg-type]
        ((Say(3, "ask", 2), {}), "action"),  # type: ignore[arg-type]
        ((Say(None, "ask", 2), {}), "action"),  # type: ignore[arg-type]
        ((Say("More.", "ask", 2, user="u", act=object()), {}), "action"),  # type: ignore[arg-type]
        ((Say("half \ud800", "ask", 2), {}), "action"),
        ((Stop("user-stopped", 7), {}), "action"),  # type: ignore[arg-type]
        ((Say("More.", "ask", 99), {}), "turns"),
        ((Say("More.", "ask", 2), {"at": math.nan}), "json"),
        ((Say("More.", "ask", 2), ["no mapping"]), "json"),
        ("More.", "action"),
        (None, "action"),
    ],
)
async def test_a_forbidden_action_of_a_user_ends_the_conversation_and_the_run_can_be_read(
    tmp_path: Path, returned: object, promise: str
) -> None:
    run, watcher, said = await play(tmp_path / "run", Broken(returned))
    assert set(said) == {"A question."}
    assert [outcome.kind for _, outcome, _ in watcher.outcomes] == ["user-stopped"] * 3
    ends = [one.outcome for one in run.conversations if one.outcome]
    assert {end.reason for end in ends} == {"user-fault"}
    assert all(f"breaks the promise {promise!r}" in end.detail for end in ends)
    assert run.damage == ()


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_ever_apologises_or_answers_an_error_with_an_error(name: str) -> None:
    broken = (
        *ANSWERS,
        Observation(Answer("Traceback (most recent call last): ValueError"), "x"),
        Observation(Answer("Sorry, something went wrong on our side."), "x"),
    )
    said = [
        action.text.lower()
        for seed in range(60)
        for action in talk(built(name), seed, broken)
        if isinstance(action, Say)
    ]
    assert said
    assert not [text for text in said if any(word in text for word in APOLOGIES)]


def test_a_persona_whose_placeholder_is_missing_is_not_dropped_silently() -> None:
    over = {"simulator": "random"}
    groups = {"a": {"cue": "I live in {{ topic.fields.town }}."}, "b": {"cue": "I am a student."}}
    townless = built("persona", groups=groups, group="a", over=over)
    with pytest.raises(InputError, match="town"):
        townless.start(SCENARIO, Streams(1))
    with pytest.raises(InputError, match=r"must contain \{cue\} exactly once"):
        built("persona", groups=groups, group="b", frame="{turn}", over=over)
    with pytest.raises(InputError, match="does not know the trait 'persona'"):
        built("random").start(Scenario(TOPIC, {"persona": "a teacher"}), Streams(1))


@pytest.mark.parametrize("name", POLICIES)
def test_a_fixed_seed_fixes_every_generator(name: str) -> None:
    """What other generators were used for between two decisions changes nothing."""
    plain = [talk(built(name), seed) for seed in range(10)]
    random.seed(1)
    np.random.seed(1)
    random.random()
    assert [talk(built(name), seed) for seed in range(10)] == plain
    assert len({str(one) for one in plain}) > 1


def test_a_fixed_seed_holds_in_another_process_too() -> None:
    """Sets and hashes of text come in another order in every process, unless nobody draws in that order."""
    code = "from tests.simulators import test_peer_faults as t; print(t.digest())"
    found = {f"{digest()}\n"}
    for seed in ("0", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def digest() -> str:
    said = [[str(action) for action in talk(built(name), seed)] for name in POLICIES for seed in range(5)]
    return hashlib.blake2b(repr(said).encode()).hexdigest()


async def test_a_system_cannot_cause_a_repeated_question(tmp_path: Path) -> None:
    """Refusals, errors in words and silence are answers: each turn is sent once, and each trial is played once."""
    texts = ("I'm sorry, I can't help with that.", "Error 500: internal server error", "", "Please try again later.")
    driver = Scripted(lambda opening, turn, text: texts[turn % len(texts)])
    system = System("S", "scripted", {}, "fresh", Limits(retry_wait=0.0, retries=5, attempts=5), ())
    header = make_header(audit={}, protocol=PROTOCOL, topics=TOPICS, systems={"S": system.definition()}, seed=1)
    works = [
        Work(TrialKey("S", topic.id, trial), topic, trial_identity(PROTOCOL, topic, system.definition(), trial))
        for topic in TOPICS.topics
        for trial in range(1, 6)
    ]
    user = built("random", acts={"more": 1, "insist": 1}, leave=0.2, most=8)
    async with RunWriter.open(tmp_path / "run", header) as writer:
        runner = Runner(Player(writer, user, seed=1), (system,), {"S": driver}, Quiet())
        await runner.play(Plan({"S": tuple(Sitting((work,)) for work in works)}, 0, 0, 0, 0))
    run = read(tmp_path / "run")
    assert len(run.conversations) == len(works)
    assert {one.attempt for one in run.conversations} == {1}
    assert all(one.valid for one in run.conversations)
    assert len(driver.said) == sum(len(one.turns) for one in run.conversations)


def test_an_agenda_does_not_delete_a_question_before_it_was_answered() -> None:
    user = built(
        "agenda",
        requests=("Which films are there?", "Which is the best one?"),
        initiative=0.0,
        cooperativeness=1.0,
        patience=5,
        stop=None,
    )
    rng = Streams(1, ("agenda", "M002", 1))
    action, state = user.respond(user.start(SCENARIO, rng.at(0)), None, rng.at(1))
    assert isinstance(action, Say)
    assert "Which films are there?" in action.text
    asked_back, useless = Observation(Answer("Which year do you mean?"), "x"), Observation(Answer("Hm."), "x")
    for turn, seen in enumerate((asked_back, useless, useless), 2):
        action, state = user.respond(state, seen, rng.at(turn))
        assert isinstance(action, Say)
        assert "Which is the best one?" not in action.text, "the first question still waits"
    assert "Which films are there?" in action.text
    action, _ = user.respond(state, Observation(Answer("Primer and Looper."), "o"), rng.at(5))
    assert isinstance(action, Say)
    assert "Which is the best one?" in action.text


@pytest.mark.parametrize("name", POLICIES)
def test_ten_repeats_are_not_one(name: str) -> None:
    user = built(name)
    talks = set()
    for trial in range(10):
        rng = Streams(1, (user.name, "M002", trial))
        state, seen, said = user.start(SCENARIO, rng.at(0)), None, []
        for turn in range(1, 8):
            action, state = user.respond(state, seen, rng.at(turn))
            said.append(str(action))
            if isinstance(action, Stop):
                break
            seen = ANSWERS[turn % len(ANSWERS)]
        talks.add(tuple(said))
    assert len(talks) > 1


def test_a_multi_turn_user_does_not_repeat_its_first_turn_for_ever() -> None:
    catalogue = load_catalogue("parrot", FAIRWEB.only(("M002",)))
    played = rehearse(
        Parrot(catalogue, PROFILES["erratic"]),
        built("random", acts={"more": 1, "detail": 1}, leave=0.1),
        [TOPIC],
        trials=30,
        seed=1,
    )
    for one in played:
        assert [turn.number for turn in one.turns] == list(range(1, len(one.turns) + 1))
        assert len(one.turns) < 12 or len({turn.said for turn in one.turns}) > 1


@pytest.mark.parametrize("name", ["os:system", "simulators.random:build", "harvest.cli:main"])
def test_nothing_is_looked_up_by_a_dotted_name_from_a_file(name: str) -> None:
    with pytest.raises(InputError, match="there is no simulator"):
        built(name, options=1)


def test_a_users_file_is_found_beside_the_protocol_and_not_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    document = Document(str(tmp_path / "study" / "p.yaml"), {"simulator": "fitted", "file": "seekers.yaml"}, {}, {})
    with pytest.raises(InputError, match=r"study/seekers\.yaml"):
        build_user(document)


def test_a_run_in_which_the_user_failed_does_not_exit_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    protocol = {
        "format": "harvest-protocol/1",
        "name": "p",
        "version": 1,
        "turn_limit": 4,
        "users": {"one": {"simulator": "random"}},
        "start": "talk",
        "states": {"talk": {"user": "one", "edges": [{"otherwise": True, "label": "x", "go": "talk"}]}},
    }
    audit = {
        "format": "harvest-audit/1",
        "name": "a",
        "topics": "fairweb-45",
        "only": ["M002"],
        "protocol": "p.yaml",
        "trials": 1,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}, "attempts": 1}],
    }
    (tmp_path / "p.yaml").write_text(json.dumps(protocol))
    (tmp_path / "a.yaml").write_text(json.dumps(audit))
    monkeypatch.setattr(registry, "build_user", lambda document: Failing("raise"))
    with pytest.raises(SystemExit) as done:
        main(["run", str(tmp_path / "a.yaml"), "--out", str(tmp_path / "run")])
    assert done.value.code == 3, capsys.readouterr().err
