"""A recorded run as a system: the same questions get the same answers, and nothing else gets any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.drivers.replay import Options, ReplayDriver
from harvest.systems.driver import Driver, Opening, Surroundings, Unanswered
from recordings.conversations.conversation import Conversation, Outcome, TrialKey, Turn
from recordings.log.chain import chain_file
from recordings.log.run_folder import read
from tests.support.recorded_run import record
from topics.errors import InputError

TURNS = ("echo: one ☕", "echo: two", "links")


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await record(tmp_path / "recorded", TURNS, trials=3, invalid=3)
    return tmp_path


def _driver(folder: Path, audited: str = "echo", /, **options: Any) -> Driver:
    return build_driver("replay", {"run": "recorded", **options}, Surroundings(audited, folder))


async def test_every_turn_is_replayed_as_it_was_recorded(folder: Path) -> None:
    recorded = read(folder / "recorded").finished[0]
    session = await _driver(folder).open(Opening("echo", "M002", 1, 1))
    replies = [(await session.say(text)).turn for text in TURNS]
    assert replies == [turn.reply for turn in recorded.turns]
    assert replies[0].asked_at.endswith("+00:00")


async def test_another_question_diverges_and_says_where(folder: Path) -> None:
    session = await _driver(folder).open(Opening("echo", "M002", 1, 1))
    await session.say(TURNS[0])
    with pytest.raises(
        Unanswered, match="turn 2 differs from character 8 on: recorded 'echo: two', now 'echo: three'"
    ) as caught:
        await session.say("echo: three")
    assert caught.value.reason == "diverged"
    assert (await session.say(TURNS[1])).turn.answer.text == "two"


@pytest.mark.parametrize("text", ["echo: tw", "echo: two ", "Echo: two", ""])
async def test_the_text_must_be_the_same_to_the_last_character(folder: Path, text: str) -> None:
    session = await _driver(folder).open(Opening("echo", "M002", 1, 1))
    await session.say(TURNS[0])
    with pytest.raises(Unanswered, match="diverged"):
        await session.say(text)


async def test_a_turn_beyond_the_recording_diverges(folder: Path) -> None:
    session = await _driver(folder).open(Opening("echo", "M002", 2, 1))
    for text in TURNS:
        await session.say(text)
    with pytest.raises(Unanswered, match="the recording has 3 turns"):
        await session.say("more?")


async def test_a_turn_that_was_never_answered_gets_no_answer_now() -> None:
    key = TrialKey("echo", "M002", 1)
    recorded = Conversation(key, "id", 1, (Turn(1, "asking", "Hello?"),), Outcome("breakdown"))
    session = await ReplayDriver(Options.model_validate({"run": "imported"}), {key: recorded}).open(
        Opening("echo", "M002", 1, 1)
    )
    with pytest.raises(Unanswered, match="not-recorded: turn 1 was asked in the recording but never answered"):
        await session.say("Hello?")


@pytest.mark.parametrize(("topic", "trial"), [("M003", 1), ("M002", 4), ("M002", 3)])
async def test_a_missing_or_invalid_trial_is_not_recorded(folder: Path, topic: str, trial: int) -> None:
    with pytest.raises(Unanswered, match="not-recorded"):
        await _driver(folder).open(Opening("echo", topic, trial, 1))


async def test_names_may_differ(folder: Path) -> None:
    driver = _driver(folder, "last month", system="echo", topics={"T1": "M002"})
    session = await driver.open(Opening("last month", "T1", 1, 1))
    assert (await session.say(TURNS[0])).turn.answer.text == "one ☕"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"run": "missing"}, "there is no folder"),
        ({"run": "."}, "run.json"),
        ({"system": "other"}, "no complete conversation with a system 'other'"),
        ({"topics": {"T1": "M009"}}, "has no topic 'M009'"),
    ],
)
def test_a_run_that_cannot_be_played_is_refused(folder: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _driver(folder, **options)


async def test_an_interrupted_recording_plays_nothing(folder: Path) -> None:
    file = next((folder / "recorded").glob("trials-*.jsonl"))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if '"ended"' in line or "trial-ended" in line]
    file.write_text("".join(lines[: ends[0]]), encoding="utf-8")
    chain_file(file).unlink()  # of a writer that was stopped, it would not be closed
    with pytest.raises(InputError, match="no complete conversation"):
        _driver(folder)
