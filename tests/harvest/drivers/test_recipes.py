"""Recipes against small servers of their APIs: the record is what the server said, part by part."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from harvest.audits.starter_files import starter_system
from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import build_driver, options_model, recipe_names
from harvest.drivers.rereading import read_reply
from harvest.systems.driver import Denied, Driver, NotSent, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Answer, Exchange
from recordings.conversations.conversation import SystemTurn
from recordings.log.run_folder import read
from tests.servers.doors import DOORS, KEY, Door, Said
from tests.servers.local_http import Asked, LocalServer, serving
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand

CASES = [(name, False) for name in DOORS] + [
    (name, True) for name in DOORS if "stream" in options_model(name).model_fields
]

# APIs that give each session a token of its own.
OF_THE_SESSION = ("botpress", "copilot-studio", "direct-line", "voiceflow-v4")


def documented_options(name: str, url: str, **more: Any) -> dict[str, Any]:
    """The options that docs/doors.md shows for the recipe, with another address."""
    (system,) = yaml.safe_load(starter_system(name))
    described = read_recipe(name).options
    shorter = {key: value for key, value in {"quiet": 0.2, "every": 0.05}.items() if key in described}
    addresses = {key: f"{url}/{key}" for key, option in described.items() if option.type == "url"} | {"base_url": url}
    return {**system["options"], **addresses, "timeout": 10, **shorter, **more}


class _Environment(dict[str, str]):
    def get(self, name: str, default: Any = None) -> Any:
        return KEY


@asynccontextmanager
async def opened(name: str, streamed: bool, **options: Any) -> AsyncIterator[tuple[Driver, Door, LocalServer]]:
    door = DOORS[name]()
    async with serving(door) as server:
        given = documented_options(name, server.url, **({"stream": True} if streamed else {}), **options)
        driver = build_driver(name, given, Surroundings("s", Path(), environment=_Environment()))
        try:
            yield driver, door, server
        finally:
            await driver.close()


def truth_in(turn: SystemTurn) -> Said:
    """The turn as recorded, in the form in which the server means it."""
    return Said.of(turn.answer, turn.finish, turn.tokens)


async def conversation(driver: Driver, trial: int, turns: int) -> list[tuple[str, Reply]]:
    session = await driver.open(Opening("s", "M002", trial, trial))
    replies = []
    for n in range(1, turns + 1):
        text = f'Trial {trial}, "turn" {n}: {{{{ text }}}} \\ 東京?'
        replies.append((text, await session.say(text)))
    await session.close()
    await session.close()
    return replies


@pytest.mark.parametrize(("name", "streamed"), CASES)
async def test_ten_turns_of_two_concurrent_sessions_are_recorded_as_they_were_said(name: str, streamed: bool) -> None:
    async with opened(name, streamed) as (driver, door, _):
        every = await asyncio.gather(*(conversation(driver, trial, 10) for trial in (1, 2)))
    for replies in every:
        for n, (text, reply) in enumerate(replies, 1):
            assert truth_in(reply.turn) == door.truth(text, n)
            assert reply.turn.model == door.model
            assert reply.turn.notes == ()
            assert {one.name for one in reply.exhibits} > {"headers"}


@pytest.mark.parametrize(("name", "streamed"), CASES)
@pytest.mark.parametrize(
    ("wish", "kind", "reasons"),
    [
        ("429", NotSent, {"http-429"}),
        ("401", Denied, {"http-401"}),
        ("503", Unanswered, {"http-503", "http-500"}),
        ("own", Unanswered, {"system-error", "http-529", "http-400", "http-500", "http-503", "no-text"}),
        ("broken", Unanswered, {"broken-body", "bad-json", "broken-stream"}),
    ],
)
async def test_a_failure_of_each_kind_is_reported_as_that_kind(
    name: str, streamed: bool, wish: str, kind: type[Exception], reasons: set[str]
) -> None:
    async with opened(name, streamed) as (driver, door, _):
        session = await driver.open(Opening("s", "M002", 1, 1))
        first = await session.say("Hello")
        assert truth_in(first.turn) == door.truth("Hello", 1)
        if (name, wish) == ("rasa", "own"):  # it looks like an empty answer, and counts as one
            assert (await session.say("fault: own")).turn.answer.text == ""
            return
        if wish == "401" and name in OF_THE_SESSION:  # its token may have expired
            kind = Unanswered
        with pytest.raises(kind) as caught:
            await session.say(f"fault: {wish}")
        assert caught.value.reason in reasons  # type: ignore[attr-defined]
        assert KEY not in str(caught.value)
        await session.close()


@pytest.mark.parametrize("name", DOORS)
async def test_a_history_is_sent_if_the_system_keeps_none(name: str) -> None:
    async with opened(name, False) as (driver, door, _):
        capable = driver.capabilities
        assert capable.editable_history is not capable.stateful
        if capable.editable_history:
            before = door.truth("Before", 1)
            history = (Exchange("Before", Answer(before.text)),)
            session = await driver.open(Opening("s", "M002", 1, 1, history=history))
            assert truth_in((await session.say("Now")).turn) == door.truth("Now", 2)


def test_every_recipe_has_a_server_and_names_its_source() -> None:
    assert set(DOORS) == set(recipe_names())
    for name in recipe_names():
        recipe = read_recipe(name)
        assert recipe.file.source
        assert all(option.about for option in recipe.options.values())
        assert all(option.example is not None for option in recipe.options.values() if option.is_required)


WORDS = {topic: [f"{topic}, turn {n}?" for n in range(1, 11)] for topic in ("Mills", "Halls")}
TOPICS = {
    "format": "harvest-topics/1",
    "name": "ten",
    "types": {"page": {"asks_for": "title, URL", "url": "web-page"}},
    "topics": [{"id": topic, "type": "page", "request": "Which?", "turns": turns} for topic, turns in WORDS.items()],
}


async def test_killed_and_resumed_runs_contain_every_turn_of_every_api_once(tmp_path: Path) -> None:
    doors = {f"{name}{'-streamed' * streamed}": DOORS[name]() for name, streamed in CASES}
    requests, moments = 0, [40, 150]
    process: ForkedCommand | None = None

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        if process is not None and moments and requests >= moments[0]:
            moments.pop(0)
            process.kill()
        name, _, rest = asked.target[1:].partition("/")
        await doors[name](Asked(asked.method, f"/{rest}", asked.headers, asked.body), writer)

    async with serving(answering) as server:
        systems = [
            {
                "name": key,
                "driver": name,
                "options": documented_options(name, f"{server.url}/{key}", **({"stream": True} if streamed else {})),
                "concurrency": 2,
            }
            for key, (name, streamed) in zip(doors, CASES, strict=True)
        ]
        audit = {"format": "harvest-audit/1", "name": "doors", "topics": "topics.yaml", "protocol": "seed-turns"}
        (tmp_path / "topics.yaml").write_text(yaml.safe_dump(TOPICS, allow_unicode=True))
        (tmp_path / "audit.yaml").write_text(yaml.safe_dump({**audit, "trials": 1, "systems": systems}))
        options = [option for name in DOORS for option in read_recipe(name).options.values()]
        keys = {option.default: KEY for option in options if option.type == "variable" and option.default}
        command = ("run", "audit.yaml", "--out", "run", "--no-report", "--json")
        for killed in (True, True, False):
            process = ForkedCommand(*command, cwd=tmp_path, environment={**os.environ, **keys})
            _, errors = await asyncio.to_thread(process.communicate, 100)
            assert process.returncode == (-9 if killed else 0), errors.decode()[-2000:]
    run = read(tmp_path / "run")
    assert len(run.interrupted) > 0
    assert sorted(one.key.system for one in run.finished) == sorted([*doors, *doors])
    for conversation in run.finished:
        door = doors[conversation.key.system]
        assert [(turn.said, truth_in(turn.reply)) for turn in conversation.turns if turn.reply] == [
            (text, door.truth(text, n)) for n, text in enumerate(WORDS[conversation.key.topic], 1)
        ]
    again = json.loads(harvest("pages", "read-again", tmp_path / "run", "--json").stdout)
    assert again["read"] >= len(doors) * 20
    assert (again["changed"], again["unreadable"]) == (0, 0)
    everything = b"".join(file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file())
    assert KEY.encode() not in everything


@pytest.mark.parametrize(
    ("payload", "text", "offered"),
    [
        ({"type": "markdown", "markdown": "**Open.**"}, "**Open.**", []),
        ({"type": "choice", "text": "Which?", "options": [{"label": "A", "value": "a"}]}, "Which?", [("A", "a")]),
        ({"type": "bloc", "items": [{"type": "text", "text": "At"}, {"type": "text", "text": "9."}]}, "At\n\n9.", []),
        (
            {
                "type": "carousel",
                "items": [
                    {"title": one, "actions": [{"action": "say", "label": f"See {one}", "value": one}]}
                    for one in ("Mill", "Hall")
                ],
            },
            "Mill\n\nHall",
            [("See Mill", "Mill"), ("See Hall", "Hall")],
        ),
    ],
)
def test_messages_of_botpress_are_read_by_their_kind(
    payload: dict[str, Any], text: str, offered: list[tuple[str, str]]
) -> None:
    """botpress/botpress, packages/chat-api/src/models/message.ts."""
    options = documented_options("botpress", "http://127.0.0.1")
    kept = json.dumps({"id": "m", "userId": "bot", "payload": payload}).encode()
    answer = read_reply("botpress", options, kept)
    assert answer.text == text
    assert [(offer.title, offer.value) for offer in answer.offers] == offered
