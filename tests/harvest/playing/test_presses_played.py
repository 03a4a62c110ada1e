"""Presses in a whole audit: recorded, continued, replayed, exported, and never of what may not be pressed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.playing.play import play
from harvest.studies.relabel.rerouting import decided_path
from protocols.answer import Answer, Offer
from protocols.library import load_protocol
from protocols.route import Say, Stop
from recordings.conversations.conversation import Conversation
from recordings.formats.messages import read_messages
from recordings.formats.messages_export import write_messages
from recordings.log.run_folder import Run
from simulators.memory import decode_memory, encode_memory
from simulators.promises import BrokenPromise, initial_state, next_action
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, State, Streams
from tests.harvest.cli.test_menu import greeting_system
from tests.servers.menu_bots import GRAPHS, serving_menu
from topics.errors import InputError

SECRET = "sk-proj-" + "a1B2c3D4e5F6" * 3
BOT = f'''
import json
PAGES = {{
    "": ("Welcome.", ["Rooms", "Hours", "Delete everything"]),
    "/rooms": ("Two rooms.", ["Small", "Book now", "Site"]),
    "/small": ("Small it is.", ["Rooms"]),
    "/hours": ("From nine.", []),
}}
def answer(text, pressed):
    """A menu that trusts whatever it is sent, and writes down presses."""
    with open(__file__ + ".log", "a") as log:
        log.write(json.dumps(pressed) + "\\n")
    token = "{SECRET}"
    value = pressed["value"].partition("?")[0] if pressed else ""
    told, titles = PAGES[value]
    offers = [{{"title": one, "value": f"/{{one.lower().replace(' ', '-')}}?{{token}}"}} for one in titles]
    return {{"text": told, "offers": [{{**one, "kind": "link"}} if one["title"] == "Site" else one for one in offers]}}
'''
PROTOCOL = """\
format: harvest-protocol/1
name: menu
version: 1
turn_limit: 5
start: ask
states:
  ask:
    say: "{{ topic.request }}"
    edges: [{otherwise: true, label: o, go: rooms}]
  rooms:
    press: /room/
    absent: {stop: breakdown}
    edges:
      - {if: {parts: {of: offers, like: [small]}}, label: o, go: small}
      - {otherwise: true, label: x, stop: breakdown}
  small:
    press: Small
    absent: {stop: breakdown}
    edges: [{otherwise: true, label: o, go: site}]
  site:
    press: Site
    absent: {stop: completed}
    edges: [{otherwise: true, label: x, stop: breakdown}]
"""
WANDER = """\
format: harvest-protocol/1
name: wander
version: 1
turn_limit: 8
users: {visitor: {simulator: pressing, over: {simulator: random, leave: 0}}}
start: ask
states:
  ask:
    user: visitor
    edges: [{otherwise: true, label: o, go: ask}]
"""
AUDIT = """\
format: harvest-audit/1
name: menus
topics: fairweb-45
only: [M002]
protocol: menu.yaml
trials: 2
systems:
  - {name: bot, driver: python, options: {function: "bot.py:answer", presses: true}}
"""


def written(folder: Path, protocol: str = PROTOCOL, audit: str = AUDIT) -> Path:
    (folder / "bot.py").write_text(BOT)
    (folder / "menu.yaml").write_text(protocol)
    (folder / "audit.yaml").write_text(audit)
    return folder / "audit.yaml"


def presses(one: Conversation) -> list[str]:
    return [turn.pressed.title for turn in one.turns if turn.pressed is not None]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return play(written(tmp_path), tmp_path / "run")


def test_a_press_is_recorded_with_its_title_and_its_value(run: Run) -> None:
    for one in run.finished:
        assert [turn.said for turn in one.turns][1:] == ["Rooms", "Small"]
        assert presses(one) == ["Rooms", "Small"]
        assert one.turns[1].pressed in one.turns[0].reply.answer.offers  # type: ignore[union-attr]
        assert (one.outcome and one.outcome.kind, one.turns[-1].label) == ("completed", "o")


def test_the_system_gets_the_value_that_the_recording_redacts(run: Run, tmp_path: Path) -> None:
    said = (tmp_path / "bot.py.log").read_text()
    assert said.count(SECRET) == 4
    recorded = "".join(path.read_text() for path in (tmp_path / "run").glob("trials-*.jsonl"))
    assert SECRET not in recorded
    assert recorded.count('"pressed"') == 4


def test_a_run_with_presses_is_replayed(run: Run, tmp_path: Path) -> None:
    again = AUDIT.partition("  - {")[0] + "  - {name: bot, driver: replay, options: {run: run}}\n"
    replayed = play(written(tmp_path, audit=again), tmp_path / "again")
    assert [presses(one) for one in replayed.finished] == [presses(one) for one in run.finished]


def test_a_run_with_presses_survives_the_message_format(run: Run, tmp_path: Path) -> None:
    write_messages(run.finished, tmp_path / "m.jsonl")
    assert json.loads((tmp_path / "m.jsonl").read_text().splitlines()[0])["metadata"]["pressed"][0] is None
    found = read_messages(tmp_path / "m.jsonl")
    assert [[(turn.said, turn.pressed) for turn in one.turns] for one in found.conversations] == [
        [(turn.said, turn.pressed) for turn in one.turns] for one in run.finished
    ]


def test_show_prints_what_was_pressed(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path / "run"), "--topic", "M002", "--trial", "1"])
    assert "pressed: Rooms -> /rooms" in capsys.readouterr().out


def test_a_simulated_user_presses_only_what_it_may(tmp_path: Path) -> None:
    audit = written(tmp_path, WANDER, AUDIT.replace("trials: 2", "trials: 60"))
    run = play(audit, tmp_path / "run")
    found = [title for one in run.finished for title in presses(one)]
    assert set(found) == {"Rooms", "Hours", "Small"}
    assert len(found) > 100
    assert all(one.valid for one in run.finished)


def test_an_audit_is_refused_if_its_system_cannot_be_pressed(tmp_path: Path) -> None:
    audit = written(tmp_path, audit=AUDIT.replace(", presses: true", "").replace("bot.py:answer", "bot.py:plain"))
    (tmp_path / "bot.py").write_text("def plain(text): return text")
    with pytest.raises(InputError, match="needs presses, which the driver 'python' does not support"):
        load_audit(str(audit))


GREETED = PROTOCOL.replace("start: ask", "greeted: true\nstart: first").replace(
    "states:\n",
    "states:\n  first: {press: Rooms, absent: {go: ask}, edges: [{otherwise: true, label: o, go: small}]}\n",
)
GREETING_BOT = {
    "home": ("Hello.", {"Rooms": {"rooms": 1}, "Hours": {"hours": 1}}),
    "rooms": ("Two rooms.", {"Small": {"small": 1}}),
    "small": ("Small it is.", {}),
    "hours": ("From nine.", {}),
}


GREETING_PROGRAM = """\
import json, sys
PAGES = {"": ("Hello.", ["Rooms", "Hours"]), "/Rooms": ("Two rooms.", ["Small"]), "/Small": ("Small it is.", [])}
def told(value):
    text, titles = PAGES[value]
    return {"text": text, "offers": [{"title": one, "value": f"/{one}", "kind": "reply"} for one in titles]}
def session():
    return told(""), lambda text, pressed: told(pressed["value"])
if __name__ == "__main__":
    print(json.dumps(told("")), flush=True)
    for line in sys.stdin:
        print(json.dumps(told(json.loads(line)["pressed"]["value"])), flush=True)
"""


@pytest.mark.parametrize("driver", ["http", "command", "python"])
def test_the_button_of_a_greeting_is_pressed_recorded_and_played_again(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(GRAPHS, "greeting", GREETING_BOT)
    (tmp_path / "menu.py").write_text(GREETING_PROGRAM)
    options: dict[str, Any] = {
        "command": {"argv": [sys.executable, "menu.py"], "mode": "json", "greeting": True},
        "python": {"function": "menu.py:session", "takes": "nothing", "presses": True, "greets": True},
    }
    with serving_menu("greeting") as (url, _):
        system = (
            {"name": "bot", "driver": driver, "options": options[driver]} if driver in options else greeting_system(url)
        )
        systems = json.dumps([system])
        audit = written(tmp_path, GREETED, f"{AUDIT.partition('systems:')[0]}systems: {systems}\n")
        run = play(audit, tmp_path / "run")
    for one in run.finished:
        assert presses(one) == ["Rooms", "Small"]
        assert one.greeting == Answer("Hello.", offers=(Offer("Rooms", "/Rooms", "reply"), Offer("Hours", "/Hours")))
    again = AUDIT.partition("  - {")[0] + "  - {name: bot, driver: replay, options: {run: run}}\n"
    replayed = play(written(tmp_path, GREETED, again), tmp_path / "again")
    assert [(presses(one), one.greeting) for one in replayed.finished] == [
        (presses(one), one.greeting) for one in run.finished
    ]
    protocol = load_protocol(tmp_path / "menu.yaml")
    topics = run.header.topic_set()
    assert topics is not None
    for one in run.finished:
        path = decided_path(protocol, topics[one.key.topic], one)
        assert (path.because, path.parted, len(path.routes)) == ("", 0, 2)
    write_messages(run.finished, tmp_path / "m.jsonl")
    assert [one.greeting for one in read_messages(tmp_path / "m.jsonl").conversations] == [
        one.greeting for one in run.finished
    ]
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path / "run"), "--topic", "M002", "--trial", "1"])
    assert "offered: Hours -> /Hours" in capsys.readouterr().out


def test_a_protocol_that_waits_for_a_greeting_needs_a_system_that_greets(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs greets, which the driver 'python' does not support"):
        load_audit(str(written(tmp_path, GREETED)))


GREETED_WANDER = """\
format: harvest-protocol/1
name: wander
version: 1
turn_limit: 6
greeted: true
users:
  visitor:
    simulator: pressing
    share: 0.7
    over: {simulator: random, leave: 0.2}
  other: {simulator: pressing, over: {simulator: random, leave: 0}}
start: first
states:
  first:
    user: visitor
    edges: [{if: {parts: {of: offers, like: [small]}}, label: o, go: then}, {otherwise: true, label: x, go: first}]
  then:
    user: other
    edges: [{otherwise: true, label: o, go: then}]
"""


def test_a_simulated_user_presses_a_greetings_buttons_at_the_declared_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GRAPHS, "greeting", GREETING_BOT)
    with serving_menu("greeting") as (url, _):
        settings = AUDIT.partition("systems:")[0].replace("trials: 2", "trials: 60")
        audit = written(tmp_path, GREETED_WANDER, f"{settings}systems: {json.dumps([greeting_system(url)])}\n")
        run = play(audit, tmp_path / "run")
    assert all(one.valid for one in run.finished)
    first = Counter(one.turns[0].pressed.title if one.turns[0].pressed else "" for one in run.finished)
    assert set(first) == {"Rooms", "Hours", ""}
    for title, share in (("Rooms", 0.35), ("Hours", 0.35), ("", 0.3)):
        assert stats.binomtest(first[title], 60, share).pvalue > 1e-3
    assert all(one.greeting is not None and len(one.greeting.offers) == 2 for one in run.finished)
    protocol = load_protocol(tmp_path / "menu.yaml")
    topic = run.header.topic_set()["M002"]  # type: ignore[index]
    user = ScriptedUser(protocol, build_users(protocol))
    greeting = run.finished[0].greeting
    opening = initial_state(user, Scenario(topic, greeting=greeting), Streams(1))
    chances = user.distribution(opening, None)
    said = Counter[str]()
    for chance in chances:
        assert isinstance(chance.action, Say)
        said[chance.action.pressed.title if chance.action.pressed else ""] += chance.probability  # type: ignore[assignment]
    assert said == pytest.approx({"Rooms": 0.35, "Hours": 0.35, "": 0.3})
    assert all(decode_memory(encode_memory(chance.state)) == chance.state for chance in chances)
    # Who speaks later opens by words, whatever a greeting offered.
    for one in run.finished:
        later = [turn for turn in one.turns if turn.state == "then"]
        assert not later or later[0].pressed is None


def test_a_persona_around_it_hears_the_greeting_and_says_its_cue_with_the_first_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GRAPHS, "greeting", GREETING_BOT)
    pressing = "{simulator: pressing, most: 1, over: {simulator: random, leave: 0}}"
    persona = f"{{simulator: persona, group: old, groups: {{old: {{cue: I am old.}}}}, over: {pressing}}}"
    protocol = WANDER.replace("{simulator: pressing, over: {simulator: random, leave: 0}}", persona)
    with serving_menu("greeting") as (url, _):
        systems = f"systems: {json.dumps([greeting_system(url)])}\n"
        audit = written(
            tmp_path,
            protocol.replace("start: ask", "greeted: true\nstart: ask"),
            f"{AUDIT.partition('systems:')[0]}{systems}",
        )
        run = play(audit, tmp_path / "run")
    for one in run.finished:
        assert one.valid
        assert presses(one) == [one.turns[0].said]
        assert [turn.said.startswith("I am old. ") for turn in one.turns[:3]] == [False, True, False]


class Forger:
    """A user whose author did not read the rules."""

    name = "forger"

    def __init__(self, pressed: Offer) -> None:
        self.pressed = pressed

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        return Say(self.pressed.title, "press", 2, pressed=self.pressed), {}


@pytest.mark.parametrize(
    ("pressed", "why"),
    [(Offer("Go", "/x"), "the last answer does not offer that"), (Offer("Pay now", "/p"), "'pay' names buying")],
)
def test_a_custom_user_cannot_press_a_forbidden_button(pressed: Offer, why: str) -> None:
    seen = Observation(replace(Answer.of("Hi"), offers=(Offer("Go"), Offer("Pay now", "/p"))))
    with pytest.raises(BrokenPromise, match=why):
        next_action(Forger(pressed), {}, seen, Streams(1))
    assert next_action(Forger(Offer("Go")), {}, seen, Streams(1))[0] == Say("Go", "press", 2, pressed=Offer("Go"))
