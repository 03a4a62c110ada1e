"""Pressing what an answer offers, through each door: the system gets the value, the record has the title."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Pressing, Session, Surroundings, Unanswered
from protocols.answer import Offer
from tests.harvest.drivers.test_recipes import opened
from tests.servers.local_http import Asked, LocalServer, response, serving
from topics.errors import InputError

PROGRAM = """
import json, sys
for line in sys.stdin:
    got = json.loads(line)
    offers = [{"title": "Ä & B", "value": "/a", "kind": "button"}]
    print(json.dumps({"text": json.dumps(got), "offers": offers}), flush=True)
"""
FUNCTIONS = """
import json
def plain(text, pressed): return {"text": json.dumps([text, pressed]), "offers": [{"title": "A", "value": "/a"}]}
def past(text, history, pressed): return json.dumps([text, history, pressed])
def session():
    heard = []
    async def answer(text, pressed):
        heard.append((text, pressed))
        return json.dumps(heard)
    return answer
def old(text): return text
"""
A = {"title": "A", "value": "/a", "kind": "reply"}


async def pressed(session: Session, offer: Offer) -> Any:
    assert isinstance(session, Pressing)
    return (await session.press(offer)).turn


@pytest.mark.parametrize(
    ("recipe", "sent"),
    [("rasa", "/old"), ("botpress", "/old"), ("direct-line", "yes"), ("voiceflow", {"type": "/old"})],
)
async def test_a_recipe_sends_what_its_api_asks_for(recipe: str, sent: object) -> None:
    async with opened(recipe, False) as (driver, _, server):
        assert driver.capabilities.presses
        session = await driver.open(Opening("s", "M002", 1, 1))
        for n in range(1, 10):
            reply = await session.say(f"turn {n}")
        offers = reply.turn.answer.offers or (Offer("The old one", "/old"),)  # its bots show cards, not in turn 9
        await pressed(session, offers[0])
        assert json.dumps(sent) in [json.dumps(value) for one in server.asked for value in values(one)]


def values(asked: Asked) -> list[Any]:
    """Every value in the body of a request."""
    waiting, found = [json.loads(asked.body) if asked.body else None], []
    while waiting:
        value = waiting.pop()
        found.append(value)
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return found


async def described(server: LocalServer, **options: Any) -> Any:
    given = {"url": f"{server.url}/say", "body": {"q": "{{ text }}"}, "reply": "$.a", "offers": "$.o", **options}
    return build_driver("http", given, Surroundings("s", Path(), environment={"KEY": "k-123"}))


async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(response("200 OK", json.dumps({"a": f"{asked.method} {asked.target}", "o": [A]})))


async def test_http_sends_a_press_where_turns_go_unless_it_says_otherwise() -> None:
    async with serving(answering) as server:
        here = await described(server, press={"body": {"v": "{{ value }}", "t": "{{ title }}", "n": "{{ turn }}"}})
        session = await here.open(Opening("s", "M002", 1, 1))
        await session.say("hello")
        assert (await pressed(session, Offer('"A" {{ text }}', "/a\n{{ x }}"))).answer.text == "POST /say"
        assert server.asked[-1].json == {"v": "/a\n{{ x }}", "t": '"A" {{ text }}', "n": 2}
        there = await described(server, press={"url": f"{server.url}/b/{{{{ value }}}}", "method": "PUT", "body": {}})
        session = await there.open(Opening("s", "M002", 1, 1))
        assert (await pressed(session, Offer("A", "/a"))).answer.text == "PUT /b/%2Fa"
        await pressed(session, Offer("A"))
        assert server.asked[-1].target == "/b/A"  # an offer without a value sends its title
        await here.close()
        await there.close()


async def test_a_system_without_memory_is_sent_the_titles_that_were_pressed() -> None:
    async with serving(answering) as server:
        driver = await described(
            server,
            stateful=False,
            body={"m": "{{ messages }}"},
            press={"body": {"m": "{{ messages }}", "v": "{{ value }}"}},
        )
        session = await driver.open(Opening("s", "M002", 1, 1))
        await session.say("hello")
        await pressed(session, Offer("A", "/a"))
        await session.say("and?")
        assert server.asked[1].json["m"][-1] == {"role": "user", "content": "A"}
        assert [one["content"] for one in server.asked[2].json["m"]][::2] == ["hello", "A", "and?"]
        await driver.close()


async def test_a_value_that_must_be_json_and_is_not_fails_before_anything_is_sent() -> None:
    async with serving(answering) as server:
        driver = await described(server, press={"body": {"action": "{{ value_json }}"}})
        session = await driver.open(Opening("s", "M002", 1, 1))
        with pytest.raises(Unanswered, match="bad-value: the value of 'A' is not JSON: '/a'"):
            await pressed(session, Offer("A", "/a"))
        assert server.asked == []
        await driver.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"press": {"body": {"v": "{{ value }}"}}, "offers": []}, "`press` needs `offers`"),
        ({"press": {"body": {"v": "x"}}}, "`press` does not send what is pressed"),
        ({"press": {"body": {"v": "{{ valu }}"}}}, "{{ valu }} cannot be used here"),
        ({"body": {"q": "{{ text }}", "v": "{{ value }}"}}, "{{ value }} cannot be used here"),
        ({"press": {"headers": {"X": "{{ value }}"}, "body": {"v": "{{ value }}"}}}, "{{ value }} cannot be used here"),
    ],
)
def test_a_press_that_cannot_work_is_refused(options: dict[str, Any], said: str) -> None:
    given = {"url": "http://127.0.0.1/", "body": {"q": "{{ text }}"}, "reply": "$.a", "offers": "$.o", **options}
    with pytest.raises(InputError) as fault:
        build_driver("http", given, Surroundings("s", Path()))
    assert said in str(fault.value)


async def test_a_program_is_sent_the_title_with_the_offer_beside_it(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PROGRAM)
    options = {"argv": (sys.executable, "bot.py"), "mode": "json"}
    driver = build_driver("command", options, Surroundings("s", tmp_path))
    session = await driver.open(Opening("s", "M002", 1, 1))
    reply = await session.say("hello")
    assert json.loads(reply.turn.answer.text) == {"text": "hello"}
    (offer,) = reply.turn.answer.offers
    turn = await pressed(session, offer)
    assert json.loads(turn.answer.text) == {
        "text": "Ä & B",
        "pressed": {"title": "Ä & B", "value": "/a", "kind": "button"},
    }
    await driver.close()


@pytest.mark.parametrize(
    ("function", "takes", "heard"),
    [
        ("plain", "text", [["hello", None], ["A", A]]),
        ("past", "history", [["hello", [], None], None]),
        ("session", "nothing", [[["hello", None]], [["hello", None], ["A", A]]]),
    ],
)
async def test_a_function_takes_the_offer_as_its_last_argument(
    tmp_path: Path, function: str, takes: str, heard: list[Any]
) -> None:
    (tmp_path / "bot.py").write_text(FUNCTIONS)
    options = {"function": f"bot.py:{function}", "takes": takes, "presses": True}
    driver = build_driver("python", options, Surroundings("s", tmp_path))
    session = await driver.open(Opening("s", "M002", 1, 1))
    first = json.loads((await session.say("hello")).turn.answer.text)
    second = json.loads((await pressed(session, Offer("A", "/a"))).answer.text)
    assert [first, heard[1] and second] == heard
    if takes == "history":
        assert (second[0], second[2], len(second[1])) == ("A", A, 2)
    await driver.close()


def test_a_function_that_takes_no_offer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(FUNCTIONS)
    options = {"function": "bot.py:old", "presses": True}
    with pytest.raises(InputError, match=r"calls the function with \(text, pressed\)"):
        build_driver("python", options, Surroundings("s", tmp_path))
