"""`harvest users chat`: a person takes the user's side, and is recorded like any user; what was said is never lost."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harvest.voices.keyboard import Keyboard
from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.log.run_folder import read
from simulators.human import HumanUser
from simulators.outside import Message, Prompt, Sample, SampleNeeded, respond_with_words
from simulators.user import Observation, Scenario, State, Streams
from tests.support.command_line import harvest
from tests.support.processes import heeding_signals
from topics.topic import Topic, TopicType

AUDIT = """\
format: harvest-audit/1
name: talks
topics: fairweb-45
only: [M002, R001]
protocol: fairweb-two-round
trials: 1
systems:
  - {name: echo, driver: python, options: {function: "systems.py:echo"}}
  - {name: ending, driver: command, options: {argv: [python3, goodbye.py], mode: json}}
  - {name: broken, driver: python, options: {function: "systems.py:broken"}, attempts: 3}
"""
SYSTEMS = """\
def echo(turn):
    return "" if turn == "silence" else f"you said: {turn} \\x1b[2J"

def broken(turn):
    raise ConnectionError("down")
"""
GOODBYE = """\
import json
input()
print(json.dumps({"text": "goodbye", "ended": True}))
"""
PROMPT = Prompt("person", "say", (), ("u",), 1)
RNG = Streams(1, ("human", "M002", 1))
SCENARIO = Scenario(Topic("M002", TopicType("movie", "titles", None), "Films?"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    (tmp_path / "systems.py").write_text(SYSTEMS)
    (tmp_path / "goodbye.py").write_text(GOODBYE)
    return tmp_path


def chat(folder: Path, typed: str, *options: str, system: str = "echo") -> subprocess.CompletedProcess[str]:
    words = ("users", "chat", "audit.yaml", "--system", system, "--topic", "M002", *options)
    return harvest(*words, cwd=folder, standard_input=typed)


@contextmanager
def keyboard(typed: bytes, *, end: bool = True) -> Iterator[tuple[Keyboard, list[str], int]]:
    """A keyboard at which this was typed, what the person is told, and where more can be typed."""
    source, keys = os.pipe()
    os.write(keys, typed)
    told: list[str] = []
    try:
        if end:
            os.close(keys)
        yield Keyboard(source, told.append), told, keys
    finally:
        os.close(source)
        if not end:
            os.close(keys)


def test_typed_text_is_said_and_recorded_under_the_user_human(folder: Path) -> None:
    done = chat(folder, "Any films?\nOlder ones\n/stop\n")
    assert done.returncode == 0, done.stderr
    (one,) = read(folder / "runs" / "talks-chat").conversations
    assert (one.user, one.key.system, one.key.topic, one.key.trial) == ("human", "echo", "M002", 1)
    assert [turn.said for turn in one.turns] == ["Any films?", "Older ones"]
    assert [turn.reply.answer.text[:10] for turn in one.turns if turn.reply] == ["you said: ", "you said: "]
    assert one.outcome is not None
    assert (one.outcome.kind, one.outcome.reason) == ("user-stopped", "person-left")


def test_the_person_sees_the_need_and_the_answers_and_no_answer_can_steer_the_terminal(folder: Path) -> None:
    told = chat(folder, "Any films?\nsilence\n").stderr
    assert "Please list up sci-fi movies that feature time travel" in told
    assert "you said: Any films? ␛[2J" in told
    assert "\x1b[2J" not in told
    assert "the system sent no words" in told


def test_each_conversation_is_a_trial_of_its_own(folder: Path) -> None:
    for _ in range(2):
        assert chat(folder, "Any films?\n", "--out", "run").returncode == 0
    assert [one.key.trial for one in read(folder / "run").conversations] == [1, 2]
    again = chat(folder, "Any films?\n", "--out", "run", "--trial", "2")
    assert again.returncode == 2
    assert "is already recorded" in again.stderr


def test_a_run_of_a_protocol_and_a_run_of_a_person_are_never_mixed(folder: Path) -> None:
    assert chat(folder, "Any films?\n", "--out", "run").returncode == 0
    played = harvest("run", "audit.yaml", "--out", "run", cwd=folder)
    assert played.returncode == 2
    assert "recorded with no protocol (a person spoke), and now there is the protocol" in played.stderr
    harvest("run", "audit.yaml", "--out", "other", cwd=folder)
    refused = chat(folder, "Any films?\n", "--out", "other").stderr
    assert "and now there is no protocol (a person spoke)" in refused
    assert "do: " in refused
    assert len(refused.splitlines()) <= 4, "what matters, and no diff of two things that are not alike"


def test_if_the_system_ends_the_chat_the_person_sees_the_reason_and_is_not_asked_again(folder: Path) -> None:
    done = chat(folder, "Any films?\nAnd older?\n", "--out", "run", system="ending")
    assert done.returncode == 0, done.stderr
    assert "goodbye" in done.stderr
    assert "system-ended" in done.stderr
    (one,) = read(folder / "run").conversations
    assert one.outcome is not None
    assert one.outcome.kind == "system-ended"
    assert [turn.said for turn in one.turns] == ["Any films?"]


def test_a_system_that_fails_is_an_invalid_attempt_and_is_not_asked_again(folder: Path) -> None:
    done = chat(folder, "Any films?\nAnd older?\n", "--out", "run", system="broken")
    assert done.returncode == 3
    (one,) = read(folder / "run").conversations
    assert one.outcome is not None
    assert not one.valid
    assert [turn.said for turn in one.turns] == ["Any films?"]


@pytest.mark.parametrize(
    ("options", "fault"),
    [(("--system", "ehco"), "echo, ending, broken"), (("--topic", "M003"), "M003"), (("--trial", "0"), "--trial")],
)
def test_a_name_that_is_not_in_the_audit_is_refused_and_leaves_no_folder(
    options: tuple[str, ...], fault: str, folder: Path
) -> None:
    done = chat(folder, "Any films?\n", *options)
    assert done.returncode == 2
    assert fault in done.stderr
    assert not (folder / "runs").exists()


def test_with_several_systems_one_must_be_named(folder: Path) -> None:
    done = harvest("users", "chat", "audit.yaml", "--topic", "M002", cwd=folder)
    assert done.returncode == 2
    assert "choose one with --system" in done.stderr


@contextmanager
def terminal(folder: Path, columns: int = 0, term: str = "xterm") -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """`harvest users chat` at a terminal, and the side that types. columns: 0 for a terminal that does not say."""
    typing, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "harvest", "users", "chat", "audit.yaml", "--system=echo", "--topic=M002", "--out=run"],
        cwd=folder,
        stdin=screen,
        stdout=screen,
        stderr=screen,
        start_new_session=True,
        preexec_fn=heeding_signals,
        env={**os.environ, "TERM": term},
    )
    os.close(screen)
    try:
        yield typing, process
    finally:
        process.kill()
        process.wait()
        os.close(typing)


EDITING = b"\x1b[?2004h"
"""What the line editor sends a terminal once it reads every key: before, the terminal itself would take some."""


def shown_until(typing: int, *words: bytes) -> bytes:
    """What the terminal is sent until all these have come, in this order."""
    wanted = re.compile(b".*?".join(map(re.escape, words)), re.DOTALL)
    seen = b""
    while not wanted.search(seen):
        seen += os.read(typing, 4096)
    return seen


def test_ctrl_c_stops_at_once_and_keeps_every_answered_turn(folder: Path) -> None:
    with terminal(folder) as (typing, process):
        shown_until(typing, b"type your first turn")
        os.write(typing, b"Any films?\n")
        shown_until(typing, b"you said: Any films?")
        os.write(typing, b"half a line")
        process.send_signal(signal.SIGINT)
        shown_until(typing, b"interrupted")
        assert process.wait(30) == 130
    (one,) = read(folder / "run").conversations
    assert [turn.said for turn in one.turns] == ["Any films?"]
    assert one.turns[0].reply is not None
    assert one.outcome is None
    assert chat(folder, "Any films?\n", "--out", "run").returncode == 0
    assert [(one.key.trial, one.attempt) for one in read(folder / "run").conversations] == [(1, 1), (1, 2)]


def test_ctrl_c_before_the_first_turn_reports_that_nothing_was_recorded(folder: Path) -> None:
    with terminal(folder) as (typing, process):
        shown_until(typing, b"type your first turn")
        process.send_signal(signal.SIGINT)
        shown_until(typing, b"interrupted; nothing was recorded, and the same command starts again")
        assert process.wait(30) == 130


def test_no_word_is_broken_at_the_edge_of_the_terminal(folder: Path) -> None:
    said = "Any films of engineers who build something extraordinary in a garage and regret it thoroughly?"
    with terminal(folder, columns=80) as (typing, process):
        shown_until(typing, b"type your first turn")
        os.write(typing, said.encode() + b"\n")
        seen = shown_until(typing, b"thoroughly? ").partition(b"you said:")[2].decode()
        os.write(typing, b"/stop\n")
        process.wait(30)
    lines = ("you said:" + seen).split("\r\n")
    assert len(lines) > 1
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(lines).split()[2:16] == said.split()[:14]


def test_ctrl_d_on_an_empty_line_ends_as_a_user_ends(folder: Path) -> None:
    with terminal(folder) as (typing, process):
        shown_until(typing, b"type your first turn")
        os.write(typing, "映画は？\n".encode())
        shown_until(typing, "you said: 映画は？".encode())
        os.write(typing, b"\x04")
        shown_until(typing, b"person-left")
        assert process.wait(30) == 0
    (one,) = read(folder / "run").conversations
    assert [turn.said for turn in one.turns] == ["映画は？"]


TYPED = {
    b"\x1b[Aace\x1b[D\x1b[D\x7fb\x1b[F!\x00\r": "bce!",  # first: there is nothing said before that could come back
    b"\x1b[200~one\ntwo\rthree\x1b[201~\r": "one\ntwo\nthree",
    b"half\x04 a line\r": "half a line",
    b"caf\xc3\xa9 \xff\r": "café \ufffd",
    b"\x1b[200~a\x1b[31mb\x1b]0;c\x07d\x1b[201~\r": "abd",
}
"""What is said where these bytes are typed, in this order."""


@pytest.mark.parametrize("words", [900, pytest.param(1600, marks=pytest.mark.soak)])
def test_text_typed_at_a_terminal_is_one_complete_turn(folder: Path, words: int) -> None:
    turns = {**TYPED, b"word " * words + b"END\r": "word " * words + "END"}  # a line of a terminal ends at 4096
    with terminal(folder) as (typing, process):
        shown_until(typing, b"ends the conversation", EDITING)
        for typed in turns:
            for at in range(0, len(typed), 1000):
                os.write(typing, typed[at : at + 1000])
                time.sleep(0.02)
            shown_until(typing, b"you said: ", EDITING)
        os.write(typing, b"\x04")
        shown_until(typing, b"person-left")
        assert process.wait(30) == 0
    (one,) = read(folder / "run").conversations
    assert [turn.said for turn in one.turns] == list(turns.values())


def test_a_terminal_that_knows_no_sequences_receives_none(folder: Path) -> None:
    with terminal(folder, term="dumb") as (typing, process):
        seen = shown_until(typing, b"ends the conversation")
        os.write(typing, b"ab\x7fc\r")
        seen += shown_until(typing, b"you said: ac")
        os.write(typing, b"\x04")
        seen += shown_until(typing, b"person-left")
        assert process.wait(30) == 0
    assert b"\x1b" not in seen


def test_a_person_who_leaves_before_the_first_turn_is_not_recorded(folder: Path) -> None:
    done = chat(folder, "", "--out", "run")
    assert "nothing is recorded" in done.stderr
    assert read(folder / "run").conversations == ()


@pytest.mark.parametrize(
    ("typed", "sample"),
    [
        (b"one\ntwo\n", Sample("one")),
        (b"one\r\ntwo", Sample("one")),
        (b"\n  \none\n", Sample("one")),
        (b"one \\\ntwo\n", Sample("one \ntwo")),
        (b"//stop\n", Sample("/stop")),
        (b"/help\none\n", Sample("one")),
        (b"no line end", Sample("no line end")),
        (b"caf\xc3\xa9\n", Sample("café")),
        (b"\xff\n", Sample("\ufffd")),
        (b"/stop\n", Sample("", "stop")),
        (b" /stop \n", Sample("", "stop")),
        (b"", Sample("", "stop")),
        (b"\n\n", Sample("", "stop")),
    ],
)
async def test_a_line_is_a_turn(typed: bytes, sample: Sample) -> None:
    with keyboard(typed) as (keys, _, _):
        assert await keys.sample(PROMPT) == sample


async def test_text_typed_ahead_is_said_in_order() -> None:
    with keyboard(b"one\ntwo\nthree") as (keys, _, _):
        samples = [await keys.sample(PROMPT) for _ in range(4)]
    assert samples == [Sample("one"), Sample("two"), Sample("three"), Sample("", "stop")]


async def test_a_character_may_come_in_pieces() -> None:
    with keyboard(b"caf\xc3", end=False) as (keys, _, typing):
        waiting = asyncio.create_task(keys.sample(PROMPT))
        await asyncio.sleep(0.05)
        os.write(typing, b"\xa9\n")
        assert await asyncio.wait_for(waiting, 5) == Sample("café")


async def test_waiting_for_a_person_blocks_nothing_else_and_can_be_cancelled() -> None:
    with keyboard(b"", end=False) as (keys, _, _), pytest.raises(TimeoutError):
        await asyncio.wait_for(keys.sample(PROMPT), 0.05)


async def test_an_unknown_command_is_reported_and_not_said() -> None:
    with keyboard(b"/quit\none\n") as (keys, told, _):
        assert await keys.sample(Prompt("person", "say", (Message("user", "Hello"),), ("u",), 1)) == Sample("one")
    assert "Hello" in told
    assert any("/stop ends" in line for line in told)


class _Typed:
    """Says these, one after the other."""

    def __init__(self, *samples: Sample) -> None:
        self._samples = list(samples)

    async def sample(self, prompt: Prompt) -> Sample:
        return self._samples.pop(0)


async def test_a_person_is_a_user_like_any_other_to_everything_else() -> None:
    user, source = HumanUser(), _Typed(Sample("Any films?"), Sample("", "stop"))
    state: State = user.start(SCENARIO, RNG.at(0))
    with pytest.raises(SampleNeeded):
        user.respond(state, None, RNG.at(1))
    first, state, _ = await respond_with_words(user, state, None, RNG.at(1), source)
    last, state, _ = await respond_with_words(user, state, Observation(Answer("Primer")), RNG.at(2), source)
    assert (first, last) == (Say("Any films?", "say", 1), Stop("user-stopped", "person-left"))
    with pytest.raises(ValueError, match="over"):
        user.respond(state, Observation(Answer("Primer")), RNG.at(3))


async def test_a_person_who_says_nothing_says_nothing() -> None:
    user = HumanUser()
    with pytest.raises(ValueError, match="the turn has no words"):
        await respond_with_words(user, user.start(SCENARIO, RNG), None, RNG.at(1), _Typed(Sample(" \n")))
