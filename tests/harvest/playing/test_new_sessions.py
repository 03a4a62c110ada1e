"""A user that comes back: the same person, in a session of the system in which nothing was said yet."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

import pytest

from harvest.playing.play import play
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import read
from tests.support.chat_api import chat_api
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand, run_forked

# Remembers a person over sessions in a file, and says how much it has heard in this one.
BOT = """\
import json, os, sys, time
from pathlib import Path

PERSON = Path("person.txt")


def reply(text, heard):
    with open("log", "a") as log:
        print(json.dumps([heard, text]), file=log, flush=True)
    while text.startswith("Which") and heard and Path("wait").exists():
        time.sleep(0.02)
    if text.startswith("I live"):
        PERSON.write_text("Kyoto")
    known = PERSON.read_text() if PERSON.exists() else "Osaka"
    return f"{known}. Heard before: {heard}."


def of_history(text, history=()):
    return reply(text, len(history) // 2)


def session():
    said = []

    def say(text):
        said.append(text)
        return reply(text, len(said) - 1)

    return say


if __name__ == "__main__":
    for heard, line in enumerate(sys.stdin):
        print(reply(line.strip(), heard), flush=True)
"""
PROTOCOL = """\
format: harvest-protocol/1
name: coming-back
version: 1
users:
  friend:
    simulator: probe
    facts:
      home:
        plant: ["I live in Kyoto."]
        ask: ["Which city do I live in?"]
        right: [Kyoto]
        wrong: [Osaka]
    distractors: ["What is a haiku?"]
    steps: [{plant: home}, {distract: 1}, {session: new}, {ask: home}, {ask: home}]
start: talk
states:
  talk:
    user: friend
    edges: [{otherwise: true, label: o, go: talk}]
turn_limit: 9
"""
AUDIT = """\
format: harvest-audit/1
name: coming-back
topics: fairweb-45
only: [M001]
protocol: protocol.yaml
trials: 1
systems:
  - {name: mine, SYSTEM}
"""
PROGRAM = json.dumps([sys.executable, "bot.py"])
SYSTEMS = {
    "a function of the history": 'driver: python, options: {function: "bot.py:of_history", takes: history}',
    "a function that makes sessions": 'driver: python, options: {function: "bot.py:session", takes: nothing}',
    "a program": f"driver: command, options: {{argv: {PROGRAM}}}",
}


def _folder(folder: Path, system: str) -> Path:
    (folder / "bot.py").write_text(BOT)
    (folder / "protocol.yaml").write_text(PROTOCOL)
    (folder / "audit.yaml").write_text(AUDIT.replace("SYSTEM", system))
    return folder / "audit.yaml"


def _answers(one: Conversation) -> list[str]:
    return [turn.reply.answer.text for turn in one.turns if turn.reply]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_new_session_has_no_history_but_the_same_person(
    tmp_path: Path, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = play(_folder(tmp_path, SYSTEMS[system]), tmp_path / "run")
    (one,) = run.finished
    assert [turn.act for turn in one.turns] == ["plant", "distract", "ask", "ask-again"]
    assert [text[-2] for text in _answers(one)] == ["0", "1", "0", "1"], "heard in this session"
    assert _answers(one)[2].startswith("Kyoto"), "the system knows the person"
    assert [turn.session for turn in one.turns] == ["", "", "mine/1/M001/1/2", ""]
    assert (one.session, one.place) == ("mine/1/M001/1", 1)

    shown = harvest("show", "run", "--all", cwd=tmp_path, width=120).stdout
    assert shown.index("the user comes back in a new session") > shown.index("What is a haiku?")
    found = json.loads(harvest("users", "findings", "run", "--json", cwd=tmp_path).stdout)
    whole = {row["measure"]: row["estimate"] for row in found["long"] if row["topic"] is None and row["entity"] is None}
    assert whole["retentiveness(sessions=1)"] == 1
    assert "retentiveness(distance=1)" not in whole


def test_a_chat_completion_api_is_told_nothing_about_the_earlier_session(tmp_path: Path) -> None:
    heard: list[list[str]] = []

    def answer(turns: list[str]) -> tuple[str, str]:
        heard.append(turns)
        return ("Kyoto." if "I live in Kyoto." in turns else "Osaka."), "m"

    with chat_api(answer) as port:
        options = f"driver: openai, options: {{base_url: 'http://127.0.0.1:{port}/v1', model: m}}"
        (one,) = play(_folder(tmp_path, options), tmp_path / "run").finished
    asked = "Which city do I live in?"
    assert heard == [["I live in Kyoto."], ["I live in Kyoto.", "What is a haiku?"], [asked], [asked, asked]]
    assert _answers(one)[2:] == ["Osaka.", "Osaka."]


def test_a_recording_is_replayed_with_its_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (one,) = play(_folder(tmp_path, SYSTEMS["a program"]), tmp_path / "run").finished
    audit = _folder(tmp_path, "driver: replay, options: {run: run}")
    (again,) = play(audit, tmp_path / "again").finished
    assert _answers(again) == _answers(one)
    assert [turn.session for turn in again.turns] == [turn.session for turn in one.turns]


def test_a_killed_conversation_continues_in_its_session(tmp_path: Path) -> None:
    _folder(tmp_path, SYSTEMS["a function of the history"])
    (tmp_path / "wait").touch()
    command = ("run", "audit.yaml", "--out", "run", "--json")
    process = ForkedCommand(*command, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "log").exists() or len((tmp_path / "log").read_text().splitlines()) < 4:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (tmp_path / "wait").unlink()
    done = run_forked(*command, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    (one,) = read(tmp_path / "run").finished
    assert [text[-2] for text in _answers(one)] == ["0", "1", "0", "1"]
    asked = [tuple(json.loads(line)) for line in (tmp_path / "log").read_text().splitlines()]
    assert [heard for heard, _ in asked] == [0, 1, 0, 1, 1], "only the turn that was under way is asked again"
    assert [turn.session for turn in one.turns] == ["", "", "mine/1/M001/2/2", ""]
