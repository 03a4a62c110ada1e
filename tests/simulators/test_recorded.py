"""Recorded trees at play: as a system and as a user, as often as it was recorded, and nothing that was not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harvest.cli import main
from harvest.drivers.registry import build_driver
from harvest.drivers.replay_tree import BranchingReplay
from harvest.systems.driver import Opening, Session, Surroundings, Unanswered
from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import read
from recordings.trees.builder import TreeBuilder
from simulators.reasons import NO_BRANCH, RECORDED_END
from simulators.recorded import RecordedMemory, RecordedUser
from simulators.user import Observation, Scenario, State, Streams
from tests.support.talking import through_json
from tests.support.tree_examples import conversation, tree_of
from topics.errors import InputError
from topics.library import load_topics

RECORDED = [
    conversation([("list", "one"), ("more", "two")], 1),
    conversation([("list", "one"), ("more", "two")], 2),
    conversation([("list", "one"), ("more", "three")], 3),
    conversation([("list", "one"), ("thanks", None)], 4),
    conversation([("list", " sorry ")], 5, outcome="breakdown"),
]
TOPIC = next(topic for topic in load_topics("fairweb-45").topics if topic.id == "M002")


async def _open(recorded: Sequence[Conversation] = RECORDED, *, seed: int = 1, topic: str = "M002") -> Session:
    return await BranchingReplay({"M002": recorded}, {}, "the run").open(Opening("B1", topic, 1, seed))


@pytest.mark.parametrize(
    ("draws", "least", "most"), [(500, 370, 428), pytest.param(2000, 1540, 1658, marks=pytest.mark.soak)]
)
async def test_branches_come_as_often_as_they_were_recorded(draws: int, least: int, most: int) -> None:
    answers: Counter[str] = Counter()
    for seed in range(draws):
        answers[(await (await _open(seed=seed)).say("list")).turn.answer.text] += 1
    # The central 99.9 % of the binomial with probability 4/5.
    assert set(answers) == {"one", " sorry "}
    assert least <= answers["one"] <= most


async def test_a_later_branch_is_drawn_among_the_trials_that_reached_it() -> None:
    answers: Counter[str] = Counter()
    seed = 0
    while answers.total() < 600:
        seed += 1
        session = await _open(seed=seed)
        if (await session.say("list")).turn.answer.text == "one":
            answers[(await session.say(" more")).turn.answer.text] += 1
    # The central 99.9 % of the binomial with n = 600 and probability 2/3 is 362 … 437.
    assert set(answers) == {"two", "three"}
    assert 362 <= answers["two"] <= 437


async def test_the_same_seed_gives_the_same_conversation() -> None:
    for seed in range(20):
        first, second = await _open(seed=seed), await _open(RECORDED, seed=seed)
        assert await first.say("list") == await second.say("list")


async def test_the_recording_ends_if_nobody_said_this_and_says_what_was_said() -> None:
    session = await _open(RECORDED[:1])
    await session.say("list")
    with pytest.raises(Unanswered, match=r"turn 2: recorded after this conversation \(1 trial\): 'more'") as caught:
        await session.say("more, please")
    assert caught.value.reason == "diverged"
    assert (await session.say("more")).turn.answer.text == "two"
    with pytest.raises(Unanswered, match=r"turn 3: the recording ends here \(1 trial\)") as caught:
        await session.say("more")
    assert caught.value.reason == "diverged"


async def test_nearly_equal_words_are_not_equal() -> None:
    with pytest.raises(Unanswered, match="diverged"):
        await (await _open()).say("List")


async def test_a_turn_that_was_never_answered_gets_no_answer_now() -> None:
    session = await _open(RECORDED[3:4])
    await session.say("list")
    with pytest.raises(Unanswered, match="never answered in 1 of 1 trial") as caught:
        await session.say("thanks")
    assert caught.value.reason == "not-recorded"


async def test_an_unrecorded_topic_cannot_be_opened() -> None:
    with pytest.raises(Unanswered, match="has no complete conversation on topic M003") as caught:
        await _open(topic="M003")
    assert caught.value.reason == "not-recorded"


def test_an_audit_of_a_recorded_run_plays_more_trials_than_were_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: list[str]) -> Any:
        with pytest.raises(SystemExit) as done:
            main(arguments)
        assert done.value.code == 0, capsys.readouterr().err

    audit = {
        "format": "harvest-audit/1",
        "name": "first",
        "topics": "fairweb-45",
        "only": ["M001", "M002"],
        "protocol": "fairweb-two-round",
        "trials": 3,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}}],
    }
    (tmp_path / "first.yaml").write_text(json.dumps(audit))
    run(["run", str(tmp_path / "first.yaml"), "--out", str(tmp_path / "recorded")])
    audit |= {
        "name": "second",
        "trials": 20,
        "systems": [{"name": "A", "driver": "replay", "options": {"run": "recorded", "play": "branches"}}],
    }
    (tmp_path / "second.yaml").write_text(json.dumps(audit))
    run(["run", str(tmp_path / "second.yaml"), "--out", str(tmp_path / "played")])
    texts = {
        (one.key.topic, tuple((turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns))
        for one in read(tmp_path / "recorded").finished
    }
    played = read(tmp_path / "played").finished
    assert len(played) == 40
    for one in played:
        turns = tuple((turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns)
        assert (one.key.topic, turns) in texts


def test_options_of_the_driver_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="allowed: 'trials' or 'branches'"):
        build_driver("replay", {"run": "r", "play": "guesses"}, Surroundings("A", tmp_path))


def _played(user: RecordedUser, answers: Sequence[str], seed: int) -> tuple[list[str], Stop, State]:
    rng = Streams(seed, ("recorded", TOPIC.id, 1))
    action, memory = user.respond(user.start(Scenario(TOPIC), rng.at(0)), None, rng.at(1))
    said: list[str] = []
    given = iter(answers)
    while isinstance(action, Say):
        assert action.turn == len(said) + 1
        said.append(action.text)
        # A memory can be kept as JSON: a conversation can be gone on with in another process.
        seen = Observation(Answer(next(given)))
        action, memory = user.respond(through_json(memory), seen, rng.at(action.turn + 1))
    return said, action, memory


def test_a_recorded_user_says_words_as_often_as_they_were_said() -> None:
    user = RecordedUser({"M002": tree_of(RECORDED)})
    counted: Counter[tuple[str, ...]] = Counter()
    for seed in range(1000):
        said, stop, _ = _played(user, ["one", "two"], seed)
        counted[tuple(said)] += 1
        assert stop.outcome == "user-stopped"
        assert stop.reason == (RECORDED_END if said[-1] == "more" else NO_BRANCH)
    # 1,000 draws of 3/4: the central 99.9 % of the binomial is 704 … 794.
    assert set(counted) == {("list", "more"), ("list", "thanks")}
    assert 704 <= counted["list", "more"] <= 794


def test_a_recorded_user_ends_as_often_as_trials_ended_there() -> None:
    ended = [conversation([("list", "one")], trial) for trial in (1, 2, 3)]
    user = RecordedUser({"M002": tree_of([*ended, conversation([("list", "one"), ("more", "two")], 4)])})
    stopped = sum(len(_played(user, ["one", "two"], seed)[0]) == 1 for seed in range(1000))
    assert 704 <= stopped <= 794


def test_a_recorded_user_leaves_if_the_answer_is_in_no_branch() -> None:
    user = RecordedUser({"M002": tree_of(RECORDED)})
    said, stop, memory = _played(user, ["One"], 1)
    assert (said, stop) == (["list"], Stop("user-stopped", NO_BRANCH))
    with pytest.raises(ValueError, match="the conversation is over"):
        user.respond(memory, Observation(Answer("one")), Streams(1))


def test_a_recorded_user_can_use_another_key_of_the_answer() -> None:
    builder = TreeBuilder()
    builder.add_path([("user", "ask", "list"), ("system", "yes", "one"), ("user", "more", "go on")])
    user = RecordedUser({"M002": builder.tree()}, lambda answer: "yes" if answer.text else "no")
    assert _played(user, ["whatever", ""], 1)[0] == ["list", "go on"]


def test_a_recorded_user_refuses_unplayable_options() -> None:
    rng = Streams(1)
    user = RecordedUser({"M003": tree_of(RECORDED)})
    with pytest.raises(InputError, match="there is no recorded tree of topic 'M002'"):
        user.start(Scenario(TOPIC), rng)
    builder = TreeBuilder()
    builder.add_path([("system", "hello", "hello")])
    with pytest.raises(InputError, match="two system turns follow one another"):
        RecordedUser({"M002": builder.tree()})
    user = RecordedUser({"M002": tree_of(RECORDED)})
    start = user.start(Scenario(TOPIC), rng)
    with pytest.raises(ValueError, match="the conversation has not begun"):
        user.respond(start, Observation(Answer("one")), rng)
    _, memory = user.respond(start, None, rng)
    with pytest.raises(ValueError, match="an answer is needed to continue"):
        user.respond(memory, None, rng)
    with pytest.raises(ValueError, match="not a memory of a recorded user"):
        user.respond({"topic": "M009"}, None, rng)
    with pytest.raises(ValueError, match="for topic 'M009', which has no tree"):
        user.respond(RecordedMemory("M009"), None, rng)
