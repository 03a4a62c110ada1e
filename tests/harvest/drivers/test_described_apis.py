"""APIs of others, described in an audit: ten turns in two sessions at a time, and an error of each class."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, DriverError, NotSent, Opening, Surroundings, Unanswered
from recordings.log.run_folder import read
from tests.servers.described_apis import A2A, Api, Botpress, Dify, DirectLine, Flowise, Gemini, Jobs, Ollama, Truth
from tests.servers.local_http import LocalServer, serving
from tests.support.checkout import DOCS
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand
from topics.document import parse_document


@dataclass(frozen=True)
class Case:
    """An API and its options as an audit gives them. faults: its own errors, or None where the reply comes anyway."""

    server: type[Api]
    options: str
    streams: bool = False
    faults: Mapping[str, tuple[type[DriverError], str] | None] = field(default_factory=dict)


def _documented(name: str) -> str:
    """The options of the system of this name in docs/drivers.md, whose server is here."""
    page = (DOCS / "drivers.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"```yaml\n  - name: {name}\n    driver: http\n    options:\n(.*?)```", page, re.DOTALL)
    return re.sub(r"https://[^/\s\"]+", "{base}", found)


# A token of the session is refused, which says nothing of the next; and the API has no error of its own.
GIVEN_TOKEN: dict[str, Any] = {"denied": (Unanswered, "http-401"), "cut": None, "fail": None}
CASES = {
    "Dify": Case(Dify, _documented("dify"), True),
    "Gemini": Case(Gemini, _documented("gemini"), faults={"cut": (Unanswered, "broken-body"), "fail": None}),
    "Jobs": Case(Jobs, _documented("research"), faults={"cut": None, "slow": None}),
    "Direct Line": Case(DirectLine, _documented("direct line"), faults=GIVEN_TOKEN),
    "Ollama": Case(
        Ollama,
        """
        url: {base}/api/chat
        body: {model: m1, messages: "{{ messages }}"}
        stateful: false
        reply: $.message.content
        thoughts: $.message.thinking
        finish: $.done_reason
        model: $.model
        tokens: $
        stream: {end: $.done}
        """,
        True,
    ),
    "Flowise": Case(
        Flowise,
        """
        url: {base}/api/v1/prediction/flow
        body: {question: "{{ text }}", streaming: true, overrideConfig: {sessionId: "{{ session }}"}}
        session: client
        reply: {token: $.data}
        links: {sourceDocuments: $.data}
        stream: {end: end, fail: {error: $.data}}
        """,
        True,
    ),
    "A2A": Case(
        A2A,
        """
        url: {base}/
        headers: {A2A-Version: "1.0"}
        body:
          jsonrpc: "2.0"
          id: "{{ id }}"
          method: SendMessage
          params:
            configuration: {returnImmediately: true}
            message:
              messageId: "{{ id }}"
              role: ROLE_USER
              contextId: "{{ context }}"
              taskId: "{{ open_task }}"
              parts: [{text: "{{ text }}"}]
        keep:
          task: $.result.task.id
          context: [$.result.task.contextId, $.result.message.contextId]
          open_task: ["$.result[?@.status.state=='TASK_STATE_INPUT_REQUIRED'].id", null]
        poll:
          url: {base}/
          method: POST
          body: {jsonrpc: "2.0", id: "{{ id }}", method: GetTask, params: {id: "{{ task }}"}}
          keep: {open_task: ["$[?@.status.state=='TASK_STATE_INPUT_REQUIRED'].id", null]}
          until:
            $.result.status.state: [TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED]
            $.result.message.role: ROLE_AGENT
        reply:
          - $.result.artifacts[*].parts[*].text
          - $.result.status.message.parts[*].text
          - $.result.message.parts[*].text
        """,
        faults={"cut": None, "slow": None},
    ),
    "Botpress": Case(
        Botpress,
        """
        open:
          - {url: "{base}/users", body: {}, keep: {user: $.user.id, key: $.key}}
          - url: "{base}/conversations"
            body: {}
            headers: {x-user-key: "{{ key }}"}
            keep: {conversation: $.conversation.id}
        secret: key
        url: "{base}/messages"
        headers: {x-user-key: "{{ key }}"}
        body: {conversationId: "{{ conversation }}", payload: {type: text, text: "{{ text }}"}}
        poll:
          url: "{base}/conversations/{{ conversation }}/messages"
          each: $.messages[*]
          id: $.id
          newest_first: true
          skip: {$.userId: "{{ user }}"}
          quiet: 0.03
        reply: $.payload.text
        """,
        faults=GIVEN_TOKEN,
    ),
}


PLAY = {3: "unsafe ", 5: "quiet ", 7: "short ", 8: "slow "}
"""Words in the turn of this number that make the servers answer in another way."""


def _options(name: str, base: str) -> dict[str, Any]:
    options: Any = parse_document(CASES[name].options.replace("{base}", base), "options").value
    if "poll" in options:
        options["poll"]["every"] = 0.01
        if "each" in options["poll"]:
            options["poll"]["quiet"] = min(0.2, options["poll"]["quiet"])
    return {"timeout": 20, **options}


KEYS = dict.fromkeys(("DIFY_KEY", "DIRECT_LINE_SECRET", "GEMINI_KEY"), "k-0123456789")


@asynccontextmanager
async def _driving(name: str) -> AsyncIterator[tuple[Api, Driver, LocalServer]]:
    api = CASES[name].server()
    async with serving(api) as server:
        driver = build_driver("http", _options(name, server.url), Surroundings(name, Path(), environment=KEYS))
        try:
            yield api, driver, server
        finally:
            await driver.close()


@pytest.mark.parametrize("name", CASES)
async def test_ten_turns_of_two_sessions_are_recorded_as_they_were_answered(name: str) -> None:
    async with _driving(name) as (api, driver, _):

        async def talk(person: str) -> list[tuple[str, Truth]]:
            found = []
            session = await driver.open(Opening(name, "M002", 1, 1))
            for number in range(10):
                text = f"{person} says {PLAY.get(number, '')}{number}"
                turn = (await session.say(text)).turn
                found.append((text, Truth(turn.answer, turn.finish, turn.model, dict(turn.tokens))))
                assert turn.notes == ()
                assert 0 < (turn.first_seconds or 0) <= (turn.seconds or 0)
                if CASES[name].streams:
                    assert len(turn.pieces) > 1
                    assert turn.first_seconds == turn.pieces[0][0]
            await session.close()
            return found

        people = await asyncio.gather(talk("Ann"), talk("Bo"))
        for found in people:
            for text, recorded in found:
                assert recorded == api.truth[text]
        assert sorted(api.heard.values()) == sorted([text for text, _ in found] for found in people)


FAULTS: dict[str, tuple[type[DriverError], str]] = {
    "busy": (NotSent, "http-429"),
    "down": (Unanswered, "http-500"),
    "denied": (Denied, "http-401"),
    "cut": (Unanswered, "broken-stream"),
    "fail": (Unanswered, "system-error"),
}


@pytest.mark.parametrize("words", FAULTS)
@pytest.mark.parametrize("name", CASES)
async def test_each_class_of_error_is_distinguished_from_an_answer(name: str, words: str) -> None:
    case, text = CASES[name], f"this is {words}"
    async with _driving(name) as (api, driver, server):
        session = await driver.open(Opening(name, "M002", 1, 1))
        before = (await session.say("first")).turn.answer.text
        assert "you said “first”" in before
        expected = case.faults.get(words, FAULTS[words])
        if expected is None:
            assert (await session.say(text)).turn.answer == api.truth[text].answer
        else:
            with pytest.raises(expected[0]) as caught:
                await session.say(text)
            assert caught.value.reason == expected[1]
            names = {exhibit.name for exhibit in caught.value.exhibits}
            assert names - {"polls"} in ({"headers", "stream"}, {"headers", "response"})
            if words in ("cut", "fail") and case.streams:
                said = api.truth[text].answer.text
                assert caught.value.partial == (said if words == "fail" else said[: len(caught.value.partial)]) != ""
        assert sum(text.encode() in asked.body for asked in server.asked) == 1, "a turn is sent once"


AUDIT = {
    "format": "harvest-audit/1",
    "name": "killed",
    "topics": "fairweb-45",
    "only": ["M001", "M002", "M003", "M004"],
    "protocol": "fairweb-two-round",
    "trials": 2,
}


IN_SHORT = ("Direct Line", "Jobs")
OFTEN = [name if name in IN_SHORT else pytest.param(name, marks=pytest.mark.soak) for name in CASES]


@pytest.mark.parametrize("name", OFTEN)
async def test_after_a_kill_every_turn_is_the_servers_answer_and_none_was_said_twice(name: str, tmp_path: Path) -> None:
    api = CASES[name].server()

    async def run(kill_after: int) -> int:
        command = ("run", "audit.yaml", "--out", "run", "--no-report")
        process = ForkedCommand(*command, cwd=tmp_path, environment={**os.environ, **KEYS})
        while process.returncode is None and len(api.given) < kill_after:  # noqa: ASYNC110 - servers tell nobody
            await asyncio.sleep(0.002)
        process.kill()
        await asyncio.to_thread(process.communicate)
        return process.wait()

    async with serving(api) as server:
        system = {"name": "api", "driver": "http", "options": _options(name, server.url), "concurrency": 2}
        (tmp_path / "audit.yaml").write_text(json.dumps({**AUDIT, "systems": [system]}))
        assert [await run(5), await run(9)] == [-signal.SIGKILL] * 2
        assert await run(10**6) == 0
    recorded = read(tmp_path / "run")
    assert len(recorded.finished) == 8
    answers = [exchange.answer.text for one in recorded.conversations for exchange in one.exchanges]
    assert set(answers) <= {"", *api.given}
    if name not in ("Gemini", "Ollama"):  # which remember nothing, so that a conversation goes on in another attempt
        assert len(answers) == len(set(answers))
        assert all(len(said) == len(set(said)) for said in api.heard.values())
    if name == "Direct Line":
        greetings = [[turn.reply.greeting for turn in one.turns if turn.reply] for one in recorded.finished]
        assert all(said == ["Welcome!"] + [""] * (len(said) - 1) for said in greetings)
        shown = harvest("show", "run", "--topic", "M001", "--trial", 1, "--text", cwd=tmp_path).stdout
        assert "the system spoke first:\nWelcome!\n" in shown
    told = json.loads(harvest("pages", "read-again", "run", "--json", cwd=tmp_path).stdout)
    assert (told["read"], told["changed"], told["unreadable"]) == (len(answers), 0, 0), "the evidence holds the answers"
    written = b"".join(file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file())
    assert [secret for secret in api.secrets if secret.encode() in written] == []
    assert len(api.secrets) > 1 or name not in ("Direct Line", "Botpress")
