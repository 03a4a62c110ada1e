"""Chats over sockets, on servers nobody here wrote: `websockets`, and `python-socketio` with the events of Rasa."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harvest.drivers.registry import build_driver
from harvest.drivers.rereading import read_reply
from harvest.drivers.websocket import UNASKED
from harvest.systems.driver import Denied, Driver, DriverError, Opening, Pressing, Reply, Surroundings, Unanswered
from harvest.systems.exposure import Exposure
from protocols.answer import Offer
from recordings.log.run_folder import read
from tests.harvest.cli.test_menu import assert_is_the_graph, menu_audit, recovered, walked
from tests.servers.environment import python_environment
from tests.servers.leashed import leashed
from tests.servers.local_http import Asked, serving
from tests.support.checkout import TESTS
from tests.support.forked_commands import ForkedCommand
from topics.errors import InputError

KEY = "dk2-Gj8tRb4nWy6cVs1q"


@dataclass
class Chats:
    """plain, socketio: the addresses of the servers. log: what they said, line by line."""

    plain: str
    socketio: str
    log: Path

    def truth(self, way: str) -> dict[str, list[tuple[str, str]]]:
        """What was sent and said, by session."""
        found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for line in self.log.read_text().splitlines():
            name, session, said, reply = json.loads(line)
            if name == way:
                found[session].append((said, reply))
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chats]:
    log = tmp_path_factory.mktemp("sockets") / "log"
    python = str(python_environment("sockets") / "bin" / "python")
    program = [python, str(TESTS / "servers" / "socket_chat.py"), str(log)]
    with leashed(program, environment={**os.environ, "PYTHONPATH": str(TESTS.parent)}) as running:
        plain, other = running.first_line().split()
        yield Chats(f"ws://127.0.0.1:{plain}", f"ws://127.0.0.1:{other}", log)


@pytest.fixture
def chats(server: Chats) -> Chats:
    server.log.write_text("")
    return server


PLAIN: dict[str, Any] = {"send": "{{ text }}", "reply": "text"}
ONE: dict[str, Any] = {"send": {"text": "{{ text }}", "visitor": "{{ visitor }}"}, "reply": "$.text"}
STREAM: dict[str, Any] = {
    **ONE,
    "reply": {"token": ("$.t",)},
    "stream": {"end": "done", "fail": {"error": ("$.why",)}},
    "tokens": "$.usage",
    "links": "$.sources[*]",
}
PIECES: dict[str, Any] = {**ONE, "quiet": 0.4, "join": "", "skip": {"$.type": ("typing",)}}
TOKEN: dict[str, Any] = {
    "connect": {"name": "audit"},
    "send": {"text": "{{ text }}", "token": "{{ token }}", "visitor": "{{ visitor }}"},
    "keep": {"token": "$.token"},
    "secret": "token",
    "reply": "$.text",
}
RASA: dict[str, Any] = {
    "framing": "socketio",
    "connect": (("session_request", {"session_id": "{{ visitor }}"}),),
    "send": ("user_uttered", {"message": "{{ text }}", "session_id": "{{ visitor }}"}),
    "reply": {"bot_uttered": ("$.text",)},
    "offers": {"bot_uttered": ("$.quick_replies[*]",)},
    "quiet": 0.4,
}


class Built:
    """A driver, and the secrets that it has registered."""

    def __init__(self, url: str, folder: Path, **options: Any) -> None:
        self.secrets: set[str] = set()
        around = Surroundings("socket", folder, environment={"DESK_KEY": KEY}, secrets=self.secrets)
        self.driver: Driver = build_driver("websocket", {"url": url, "timeout": 20.0, **options}, around)

    async def say(self, *texts: str, trial: int = 1) -> list[Reply]:
        session = await self.driver.open(Opening("socket", "M001", trial, 1))
        try:
            return [await session.say(text) for text in texts]
        finally:
            await session.close()

    async def fault(self, *texts: str) -> DriverError:
        with pytest.raises(DriverError) as caught:
            await self.say(*texts)
        await self.driver.close()
        return caught.value


TEN = tuple(f"turn {number} – é東" for number in range(10))
WAYS = [
    *(("stream", STREAM), ("pieces", PIECES), ("one", ONE), ("token", TOKEN), ("greeting", {**ONE, "greets": True})),
    ("socketio", RASA),
]


@pytest.mark.parametrize(("way", "options"), WAYS, ids=[way for way, _ in WAYS])
async def test_ten_turns_of_two_sessions_are_the_servers_replies(
    chats: Chats, tmp_path: Path, way: str, options: dict[str, Any]
) -> None:
    built = Built(chats.socketio if way == "socketio" else f"{chats.plain}/{way}", tmp_path, **options)
    sessions = await asyncio.gather(built.say(*TEN), built.say(*TEN, trial=2))
    await built.driver.close()
    said = [[(text, reply.turn.answer.text) for text, reply in zip(TEN, replies)] for replies in sessions]
    assert sorted(said) == sorted(chats.truth(way).values())
    assert len(said) == 2
    for reply in (reply for replies in sessions for reply in replies):
        (kept,) = [exhibit.data for exhibit in reply.exhibits if exhibit.name == "frames"]
        assert read_reply("websocket", {"url": "wss://a.example/", **options}, kept) == reply.turn.answer
    for turn in (reply.turn for replies in sessions for reply in replies):
        assert turn.notes == ()
        assert turn.first_seconds is not None
        assert turn.seconds is not None
        assert 0 < turn.first_seconds <= turn.seconds < 20
        if way == "stream":
            assert dict(turn.tokens) == {"prompt": 3, "completion": 7}
            assert [link.href for link in turn.answer.links] == ["https://a.example/"]
            assert len(turn.pieces) > 3
        if way == "socketio":
            assert [offer.title for offer in turn.answer.offers] == ["More"]
    assert sessions[0][0].turn.greeting == ("Welcome!" if way == "greeting" else "")
    assert sessions[0][1].turn.greeting == ""


MENU: dict[str, Any] = {
    "send": {"text": "{{ text }}"},
    "reply": "$.text",
    "offers": "$.buttons",
    "press": {"press": "{{ value }}", "n": "{{ turn }}"},
}
RASA_MENU = {**RASA, "press": ("user_uttered", {"message": "{{ value }}", "session_id": "{{ visitor }}"}), "quiet": 0.1}


@pytest.mark.parametrize("way", ["plain", "socketio"])
def test_a_menu_is_walked_over_a_socket(chats: Chats, tmp_path: Path, way: str) -> None:
    options = {"url": f"{chats.plain}/menu", **MENU} if way == "plain" else {"url": chats.socketio, **RASA_MENU}
    system = {"name": "bot", "driver": "websocket", "options": json.loads(json.dumps(options))}
    (tmp_path / "audit.yaml").write_text(menu_audit([system]))
    few = () if way == "plain" else ("--depth", 1)  # each turn ends by silence
    document = walked(tmp_path, "--say", "menu", *few)
    assert_is_the_graph(document, "random" if way == "plain" else "cyclic", whole=way == "plain")
    assert len(recovered(document)) == (7 if way == "plain" else 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"press": {"v": "x"}}, "`press` does not send what is pressed"),
        ({"press": {"v": "{{ valu }}"}}, "{{ valu }} cannot be used here"),
        ({"press": {"v": "{{ value }}"}, "offers": ()}, "`press` needs `offers`"),
        ({"press": {"v": "{{ value }}"}, "framing": "socketio", "send": ["a", "{{ text }}"]}, "`press` is a list"),
    ],
)
def test_a_press_that_cannot_work_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        Built("wss://a.example/", Path(), **{**MENU, **options})


async def test_an_invalid_value_that_must_be_json_is_not_sent(chats: Chats, tmp_path: Path) -> None:
    built = Built(f"{chats.plain}/menu", tmp_path, **{**MENU, "press": {"press": "{{ value_json }}"}})
    session = await built.driver.open(Opening("socket", "M001", 1, 1))
    assert isinstance(session, Pressing)
    with pytest.raises(Unanswered, match="bad-value"):
        await session.press(Offer("A", "/a"))
    await session.close()
    await built.driver.close()


async def test_texts_without_json(chats: Chats, tmp_path: Path) -> None:
    built = Built(f"{chats.plain}/plain", tmp_path, **PLAIN)
    replies = await built.say("hello", '{"a": 1}')
    await built.driver.close()
    assert [reply.turn.answer.text.partition(" —")[0] for reply in replies] == ["1: hello", '2: {"a": 1}']


FAULTS: tuple[tuple[str, dict[str, Any], str, type[DriverError], str, str], ...] = (
    ("stream", STREAM, "break", Unanswered, "broken-stream", "in the middle of the reply: 1011 out of order"),
    ("stream", STREAM, "vanish", Unanswered, "broken-stream", "in the middle of the reply: it broke off"),
    ("stream", STREAM, "fail", Unanswered, "system-error", "the stream reports an error: the model is gone"),
    ("stream", {**STREAM, "timeout": 0.5}, "hang", Unanswered, "timeout", "not complete after 0.5 s"),
    ("stream", {**STREAM, "max_reply": 99}, "x" * 200, Unanswered, "too-large", "longer than 99 bytes"),
    ("large", {**ONE, "max_reply": 5000}, "6000", Unanswered, "too-large", "longer than 5000 bytes"),
    ("binary", ONE, "broken", Unanswered, "not-utf8", "a message is not UTF-8"),
    ("plain", {**ONE, "send": "{{ text }}"}, "x", Unanswered, "bad-json", "an event is not JSON"),
    ("one", {**ONE, "reply": "$.words"}, "x", Unanswered, "no-text", "nothing at $.words"),
    ("refused", {**ONE, "greets": True}, "x", Unanswered, "system-error", "no such room"),
    (
        "one",
        {**TOKEN, "connect": (), "timeout": 0.5},
        "x",
        Denied,
        "no-value",
        "no message had a value for {{ token }}",
    ),
    (
        "one",
        {**ONE, "greets": True, "timeout": 0.5},
        "x",
        Unanswered,
        "timeout",
        "the greeting did not come: the reply was",
    ),
    ("nowhere", ONE, "x", Denied, "http-404", "404 Not Found"),
    ("busy", ONE, "x", Unanswered, "http-503", "503 Service Unavailable"),
    ("elsewhere", ONE, "x", Denied, "redirect", "redirects to http://127.0.0.1:1/"),
    ("page", ONE, "x", Denied, "bad-protocol", "does not open a WebSocket: it answers 200"),
    ("guarded", ONE, "x", Denied, "http-401", "401 Unauthorized"),
    ("socketio", RASA, "leave", Unanswered, "reset", "before the reply: 1000 the server disconnected"),
    ("socketio", {**RASA, "connect": {"key": "wrong"}}, "x", Denied, "system-error", "rejected by server"),
    ("one", {**RASA, "timeout": 2.0}, "x", Denied, "timeout", "the server did not let us in within 2 s"),
    ("refused", RASA, "x", Unanswered, "bad-protocol", "the data received is not a Socket.IO packet"),
)


@pytest.mark.parametrize(("way", "options", "text", "kind", "reason", "words"), FAULTS)
async def test_faults_of_a_connection(
    chats: Chats,
    tmp_path: Path,
    way: str,
    options: dict[str, Any],
    text: str,
    kind: type[DriverError],
    reason: str,
    words: str,
) -> None:
    url = chats.socketio if way == "socketio" else f"{chats.plain}/{way}"
    fault = await Built(url, tmp_path, **options).fault(text)
    assert (type(fault), fault.reason) == (kind, reason)
    assert words in fault.detail
    if way == "stream" and reason != "too-large":
        assert fault.partial.startswith(f"1: {text} "[:9])
        assert [exhibit.name for exhibit in fault.exhibits] == ["frames"]


@pytest.mark.parametrize("url", ["ws://127.0.0.1:1/", "ws://nowhere.invalid/", "wss://127.0.0.1:1/"])
async def test_a_server_that_cannot_be_reached(tmp_path: Path, url: str) -> None:
    fault = await Built(url, tmp_path, **ONE).fault("x")
    assert (type(fault).__name__, fault.reason) == ("NotSent", "dns" if "invalid" in url else "connect")


async def test_a_server_that_does_not_speak_http(tmp_path: Path) -> None:
    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")

    async with serving(answering) as server:
        built = Built(server.url.replace("http", "ws"), tmp_path, **ONE, query={"key": {"env": "DESK_KEY"}, "v": "1&2"})
        fault = await built.fault("x")
        (asked,) = server.asked
    assert (type(fault), fault.reason) == (Denied, "bad-protocol")
    assert re.search(r"what 127\.0\.0\.1:\d+ answers is not HTTP: Bad status line", fault.detail)
    assert asked.query == {"key": [KEY], "v": ["1&2"]}
    assert built.secrets == {KEY}


async def test_a_connection_that_is_closed_between_turns_is_not_opened_again(chats: Chats, tmp_path: Path) -> None:
    built = Built(f"{chats.plain}/closing", tmp_path, **ONE)
    session = await built.driver.open(Opening("socket", "M001", 1, 1))
    await session.say("one")
    await asyncio.sleep(0.2)
    with pytest.raises(Unanswered, match=r"^reset: the server closed the connection: 1001 restarting$"):
        await session.say("two")
    await session.close()
    await built.driver.close()
    assert [[said for said, _ in turns] for turns in chats.truth("closing").values()] == [["one"]]


async def test_silence_and_a_close_in_good_order_end_a_conversation(chats: Chats, tmp_path: Path) -> None:
    built = Built(f"{chats.plain}/pieces", tmp_path, **PIECES)
    replies = await built.say("hello", "bye")
    await built.driver.close()
    assert [reply.turn.ended for reply in replies] == [False, True]


async def test_an_unasked_message_is_evidence_of_the_next_turn(chats: Chats, tmp_path: Path) -> None:
    built = Built(f"{chats.plain}/unasked", tmp_path, **ONE)
    session = await built.driver.open(Opening("socket", "M001", 1, 1))
    replies = []
    for text in ("one", "two"):
        replies.append(await session.say(text))
        await asyncio.sleep(0.2)
    await session.close()
    await built.driver.close()
    assert [reply.turn.notes for reply in replies] == [(), (UNASKED,)]
    assert ["Sundays" in reply.turn.answer.text for reply in replies] == [False, False]
    (unasked,) = [exhibit.data for exhibit in replies[1].exhibits if exhibit.name == "unasked"]
    assert b"open on Sundays" in unasked


async def test_an_idle_connection_answers_pings(chats: Chats, tmp_path: Path) -> None:
    """websockets pings every 0.2 s and closes after 20 s without an answer, python-socketio every 0.3 s."""
    for url, options in ((f"{chats.plain}/one", {**ONE, "ping": 0.2}), (chats.socketio, RASA)):
        built = Built(url, tmp_path, **options)
        session = await built.driver.open(Opening("socket", "M001", 1, 1))
        await session.say("one")
        await asyncio.sleep(1.0)
        assert (await session.say("two")).turn.answer.text.startswith("2: two")
        await session.close()
        await built.driver.close()


async def test_a_value_that_is_kept_as_a_secret_is_registered(chats: Chats, tmp_path: Path) -> None:
    built = Built(f"{chats.plain}/token", tmp_path, **TOKEN)
    await built.say("hello")
    await built.driver.close()
    assert built.secrets == {"tk-audit-9xLp5vHs7dKf"}


async def test_a_refused_token_is_renewed_before_the_connection_is_opened(chats: Chats, tmp_path: Path) -> None:
    (tmp_path / "token.py").write_text(
        "import os\n"
        "known = os.path.exists('asked')\n"
        "open('asked', 'a').write('x')\n"
        f"print('{KEY}' if known else 'an-old-token')\n"
    )
    auth = {"command": {"argv": (sys.executable, "token.py")}}
    built = Built(f"{chats.plain}/guarded", tmp_path, **ONE, auth=auth)
    await asyncio.gather(built.say(*TEN), built.say(*TEN, trial=2))
    await built.driver.close()
    assert (tmp_path / "asked").read_text() == "xx"
    assert {"an-old-token", KEY} <= built.secrets
    headers = {"Authorization": {"env": "DESK_KEY", "prefix": "Bearer "}}
    other = Built(f"{chats.plain}/guarded", tmp_path, **ONE, headers=headers)
    await other.say("hello")
    await other.driver.close()


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({**ONE, "url": "https://a.example/"}, "not a URL that starts with ws:// or wss://"),
    ({**ONE, "url": "ws://me:pw@a.example/"}, "a URL must not contain a user name or a password"),
    ({**ONE, "send": {"text": "hello"}}, "no message sends the user turn: put {{ text }} into `send`"),
    ({**ONE, "send": "{{ text }} {{ token }}"}, "{{ token }} cannot be used here"),
    ({**ONE, "connect": "{{ text }}"}, "{{ text }} cannot be used here"),
    ({**STREAM, "quiet": 1.0}, "cannot be used with `quiet`"),
    ({**ONE, "protocols": ("chat", "chat v2")}, "'chat v2' is not the name of a subprotocol"),
    ({**ONE, "protocols": ("chat", "chat")}, "'chat' is not the name of a subprotocol, or is named twice"),
    ({**ONE, "query": {"who": "{{ text }}"}}, "{{ text }} cannot be used here"),
    ({**ONE, "secret": "token"}, "`secret` names 'token', which `keep` does not keep"),
    ({**ONE, "framing": "socketio"}, "`send` is a list: the event's name, then its data"),
)


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_unusable_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        build_driver("websocket", {"url": "wss://a.example/", **options}, Surroundings("socket", Path()))
    assert words in str(caught.value)


def test_no_key_goes_over_ws_to_another_machine() -> None:
    from harvest.drivers.websocket import Options

    headers = {"Authorization": {"env": "DESK_KEY"}}
    options = Options.model_validate({"url": "ws://a.example/", **ONE, "headers": headers})
    exposure = Exposure.from_options("socket", options)
    assert exposure.origins == exposure.in_clear == ("ws://a.example",)


async def test_an_undeclared_server_is_not_reached(tmp_path: Path) -> None:
    from harvest.drivers.options import WireOptions
    from harvest.drivers.socket_wire import SocketWire

    around = Surroundings("socket", tmp_path, exposure=Exposure("socket", targets=("wss://a.example/",)))
    wire = SocketWire(WireOptions.model_validate({}), around)
    with pytest.raises(Denied, match="undeclared"):
        await wire.connect("wss://b.example/")
    await wire.close()


# Whole runs -----------------------------------------------------------------------------------------------------


async def test_a_killed_run_continues_and_records_the_servers_replies(chats: Chats, tmp_path: Path) -> None:
    options = {
        **{key: value for key, value in STREAM.items() if key != "reply"},
        "reply": {"token": "$.t"},
        "stream": {"end": "done"},
        "url": f"{chats.plain}/stream",
    }
    value = {
        "format": "harvest-audit/1",
        "name": "socket",
        "topics": "fairweb-45",
        "only": ["M001", "M002"],
        "protocol": "fairweb-two-round",
        "trials": 6,
        "systems": [{"name": "socket", "driver": "websocket", "options": options, "concurrency": 2}],
    }
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(value))

    def start() -> ForkedCommand:
        return ForkedCommand("run", "audit.yaml", "--out", "run", "--no-report", cwd=tmp_path)

    for killed_at in (3, 8, 13):
        process = start()
        while sum(map(len, chats.truth("stream").values())) < killed_at and process.poll() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        _, messages = await asyncio.to_thread(process.communicate)
        assert process.returncode == -signal.SIGKILL, messages.decode()
    process = start()
    _, messages = await asyncio.to_thread(process.communicate)
    assert process.returncode == 0, messages.decode()
    run = read(tmp_path / "run")
    assert len(run.finished) == 12
    played = [tuple((one.said, one.answer.text) for one in found.exchanges) for found in run.finished]
    assert not Counter(played) - Counter(map(tuple, chats.truth("stream").values()))
