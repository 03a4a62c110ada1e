"""`harvest menu`: the graphs of menus are recovered with their probabilities, and nothing forbidden is pressed."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from protocols.answer import Answer, Offer
from recordings.log.run_folder import read
from scoring.inference.proportions import wilson_ends
from simulators.promises import initial_state, next_action
from simulators.random import Options as RandomOptions
from simulators.random import build as build_random
from simulators.user import Observation, Scenario, Streams
from simulators.wrappers.pressing import Options, build
from tests.servers import menu_bots
from tests.servers.menu_bots import GRAPHS, edges, serving_menu
from tests.support.checkout import TESTS
from tests.support.command_line import harvest
from topics.library import load_topics

AUDIT = """\
format: harvest-audit/1
name: desk
topics: fairweb-45
only: [M002]
protocol: fairweb-two-round
trials: 1
systems:
"""
PYTHON: dict[str, Any] = {"name": "bot", "driver": "python"}
PYTHON |= {"options": {"function": "bot.py:session", "takes": "nothing", "presses": True}}
PROGRAM = """\
import json, sys
from tests.servers import menu_bots
bot = menu_bots.session("cyclic")
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(bot(asked["text"], asked.get("pressed"))), flush=True)
"""


def menu_audit(systems: list[dict[str, Any]]) -> str:
    return f"{AUDIT.rstrip()} {json.dumps(systems)}\n"


def audit(folder: Path, name: str) -> Path:
    menu_bots.RNG.seed(11)
    code = f"from tests.servers import menu_bots\ndef session(): return menu_bots.session({name!r})"
    (folder / "bot.py").write_text(code)
    (folder / "audit.yaml").write_text(menu_audit([PYTHON]))
    return folder


def walked(folder: Path, *options: object) -> dict[str, Any]:
    done = harvest("menu", "audit.yaml", "--out", "run", "--json", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def recovered(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, tuple[int, int]]]:
    """How often which text followed each press, and of how many presses."""
    texts = {page["page"]: page["text"] for page in document["pages"]}
    return {
        (page["text"], offer["title"]): {
            texts[one["page"]]: (one["count"], offer["choice"]["presses"]) for one in offer["choice"]["led"]
        }
        for page in document["pages"]
        for offer in page["offers"]
        if offer["choice"] is not None
    }


def assert_is_the_graph(document: dict[str, Any], name: str, *, whole: bool = True) -> None:
    found, truth = recovered(document), edges(GRAPHS[name])
    if not whole:
        truth = {edge: led for edge, led in truth.items() if edge in found}
    assert {edge: set(led) for edge, led in found.items()} == {edge: set(led) for edge, led in truth.items()}
    for edge, led in truth.items():
        for text, share in led.items():
            count, presses = found[edge][text]
            low, high = wilson_ends(count, presses, 0.999)
            assert low <= share <= high, (edge, text, count, presses)
    assert document["known"]


@pytest.mark.parametrize("name", ["random", "cyclic", "dead ends", "forbidden"])
def test_the_graph_of_a_menu_is_recovered(tmp_path: Path, name: str) -> None:
    menu_bots.HARMED.clear()
    document = walked(audit(tmp_path, name), "--least", 5, "--trials", 60, "--depth", 6)
    assert_is_the_graph(document, name)
    assert menu_bots.HARMED == []
    kinds = {offer["choice"]["kind"] for page in document["pages"] for offer in page["offers"] if offer["choice"]}
    assert kinds == ({"fixed", "random"} if name == "random" else {"fixed"})


def test_a_menu_behind_rasa_is_recovered(tmp_path: Path) -> None:
    with serving_menu("rasa") as (url, _):
        system = {"name": "bot", "driver": "rasa", "options": {"base_url": url}}
        (tmp_path / "audit.yaml").write_text(menu_audit([system]))
        assert_is_the_graph(walked(tmp_path, "--trials", 40, "--depth", 5), "rasa")


def greeting_system(url: str) -> dict[str, Any]:
    """A system that opens with its menu."""
    options = {"open": {"url": f"{url}/open", "body": {}}, "session": "$[0].recipient_id", "greets": True}
    options |= {"url": url, "body": {"sender": "{{ session }}", "message": "{{ text }}"}, "reply": "$[*].text"}
    options |= {"offers": "$[*].buttons[*]", "press": {"body": {"sender": "{{ session }}", "message": "{{ value }}"}}}
    return {"name": "bot", "driver": "http", "options": options}


@pytest.mark.parametrize("name", ["cyclic", "random"])
def test_a_menu_is_walked_from_the_buttons_of_a_greeting(tmp_path: Path, name: str) -> None:
    with serving_menu(name) as (url, _):
        (tmp_path / "audit.yaml").write_text(menu_audit([greeting_system(url)]))
        dry = harvest("menu", "audit.yaml", "--greeting", "--dry", "--out", "run", cwd=tmp_path)
        assert dry.returncode == 0, dry.stderr
        assert dry.stdout.count("would be pressed") == 2
        assert not (tmp_path / "run").exists()
        document = walked(tmp_path, "--greeting", "--depth", 6, "--trials", 40)
        assert_is_the_graph(document, name)
        first = read(tmp_path / "run").conversations[0].turns[0]
        assert first.pressed is not None
        assert first.reply is not None
        assert first.pressed in first.reply.greeting_offers
        assert walked(tmp_path, "--greeting", "--depth", 6, "--trials", 40) == document  # nothing is left to play


def test_a_walk_from_a_greeting_needs_one(tmp_path: Path) -> None:
    done = harvest("menu", "audit.yaml", "--greeting", cwd=audit(tmp_path, "cyclic"))
    assert done.returncode == 2
    assert "does not wait for a greeting" in done.stderr


def test_a_menu_of_a_program_is_recovered(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PROGRAM)
    options = {"argv": [sys.executable, "bot.py"], "mode": "json", "env": {"PYTHONPATH": str(TESTS.parent)}}
    (tmp_path / "audit.yaml").write_text(menu_audit([{"name": "bot", "driver": "command", "options": options}]))
    assert_is_the_graph(walked(tmp_path), "cyclic")


def test_a_walk_continues_where_it_ended_and_gives_the_same_result(tmp_path: Path) -> None:
    folder = audit(tmp_path, "cyclic")
    first = walked(folder, "--most", 4)
    assert (first["conversations"], first["known"]) == (4, False)
    half = walked(folder, "--most", 9)
    whole = walked(folder)
    assert half["conversations"] == 9
    assert whole["known"]
    assert_is_the_graph(whole, "cyclic")
    assert walked(folder) == whole  # nothing is left to play
    recorded = read(folder / "run").conversations
    assert len(recorded) == whole["conversations"]
    assert len({one.key.trial for one in recorded}) == len(recorded)


def test_a_dry_walk_presses_nothing_and_lists_the_buttons(tmp_path: Path) -> None:
    done = harvest("menu", "audit.yaml", "--out", "run", "--dry", cwd=audit(tmp_path, "forbidden"))
    assert done.returncode == 0
    assert "[Shoes] would be pressed\n" in done.stdout
    assert "[Delete my account] is not pressed: 'delete' names buying, booking, sending or deleting\n" in done.stdout
    assert "[Jetzt kaufen] is not pressed: 'kaufen' names" in done.stdout
    (one,) = read(tmp_path / "run").conversations
    assert [turn.pressed for turn in one.turns] == [None]


def test_allowed_buttons_are_pressed(tmp_path: Path) -> None:
    menu_bots.HARMED.clear()
    document = walked(audit(tmp_path, "forbidden"), "--allow", "buy NOW", "--least", 1)
    assert set(menu_bots.HARMED) == {"Buy now"}
    assert ("Shoes.", "Buy now") in recovered(document)


def test_a_menu_for_people_names_pages_shares_and_dead_ends(tmp_path: Path) -> None:
    folder = audit(tmp_path, "random")
    walked(folder, "--trials", 80)
    said = harvest("menu", "audit.yaml", "--out", "run", "--trials", 80, cwd=folder).stdout
    assert said.startswith("menu of bot: 7 pages, ")
    assert "   dead end: nothing is offered\n" in said
    assert "(at random, " in said


def test_a_system_without_buttons_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(menu_audit([{"name": "P", "driver": "parrot"}]))
    done = harvest("menu", "audit.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "the driver 'parrot' of the system 'P' cannot press buttons" in done.stderr


def test_no_forbidden_button_is_pressed_in_ten_thousand_turns() -> None:
    user = build(Options(most=10_000), build_random(RandomOptions(leave=0)))
    bots = [menu_bots.Bot(GRAPHS["forbidden"], menu_bots.RNG)]
    memory = initial_state(user, Scenario(load_topics("fairweb-45")["M002"]), Streams(1))
    seen, presses = None, 0
    for turn in range(1, 10_001):
        action, memory = next_action(user, memory, seen, Streams(3, (turn,)))
        pressed = action.pressed  # type: ignore[union-attr]
        presses += pressed is not None
        text, offers = bots[-1].answer(pressed.value if pressed else "hello")
        if not offers:
            bots.append(menu_bots.Bot(GRAPHS["forbidden"], menu_bots.RNG))
        seen = Observation(replace(Answer.of(text), offers=tuple(Offer(**offer) for offer in offers)))
    assert presses > 9_000
    assert [bot.harm for bot in bots if bot.harm] == []
