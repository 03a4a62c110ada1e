"""What every driver must do, and does: one specification, every driver and each of its modes.

Most are held to it with `echo`, a system that does what it is told. The parrot and a recording say what they say,
so they take part wherever the specification does not depend on the words.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.browser import BrowserDriver
from harvest.drivers.registry import DRIVERS, build_driver
from harvest.pages.browser.call_guard import CallGuard
from harvest.pages.browser.process import Browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.systems.driver import Driver, DriverError, NotSent, Opening, Surroundings, Unanswered
from harvest.systems.timing import Clock
from protocols.answer import Answer, Exchange
from tests.servers import echo
from tests.servers.echo_page import EchoPage
from tests.servers.echo_socket import echoing_socket
from tests.servers.local_http import Jobs, LocalServer, Sessions, completions, serving
from tests.support.browsing import until
from tests.support.checkout import DOCS
from tests.support.processes import children
from tests.support.recorded_run import record
from tests.support.stepping import BEGINNING, Leaping
from topics.library import load_topics
from topics.links import Link

pytestmark = pytest.mark.asyncio(loop_scope="session")

ECHO = str(Path(echo.__file__))
TOPICS = load_topics("fairweb-45")
TURNS = ("echo: one", "echo: two")
"""What the parrot and the recording are asked where others are asked to echo."""


@dataclass
class Case:
    """A driver as configured: options, and the server it needs. obeys: does what `echo` is told. heavy: a session
    costs so much that fewer are opened, and what happens in it takes its time. mute: an empty reply cannot be told
    from none."""

    driver: str
    options: dict[str, Any]
    server: Callable[[], AbstractAsyncContextManager[LocalServer]] | None = None
    obeys: bool = True
    remembers: bool = True
    heavy: bool = False
    mute: bool = False


def _command(speaks: str, **options: Any) -> Case:
    return Case("command", {"argv": (sys.executable, ECHO, speaks), **options})


SESSIONS = {
    "url": "{base}/say",
    "body": {"session": "{{ session }}", "text": "{{ text }}"},
    "reply": "$.reply.text",
    "session": "$.data.id",
    "open": {"url": "{base}/start"},
    "close": {"url": "{base}/end/{{ session }}", "method": "DELETE"},
}
COMPLETIONS_BY_HTTP = {
    "url": "{base}/v1",
    "body": {"messages": "{{ messages }}"},
    "reply": "$.choices[0].message.content",
    "stateful": False,
}
STREAMED_BY_HTTP = {
    **COMPLETIONS_BY_HTTP,
    "body": {"messages": "{{ messages }}", "stream": True},
    "reply": "$.choices[0].delta.content",
    "finish": "$.choices[0].finish_reason",
    "stream": {"end": "[DONE]"},
}
JOBS = {
    **SESSIONS,
    "keep": {"job": "$.job"},
    "poll": {"url": "{base}/job/{{ job }}", "until": "$.reply", "every": 0.01},
}

SOCKET = {
    "url": "{base}/",
    "send": {"text": "{{ text }}"},
    "reply": {"piece": ("$.text",)},
    "stream": {"end": "end"},
}

CASES: dict[str, Case] = {
    # A page that shows nothing has not answered, whatever its server meant.
    "browser-page": Case("browser", {"url": "{base}/"}, lambda: serving(EchoPage()), heavy=True, mute=True),
    "command-lines": _command("lines"),
    "command-end": _command("end", end="%%"),
    "command-prompt": _command("prompt", prompt="> "),
    "command-json": _command("json", mode="json"),
    "command-once": _command("once", mode="once"),
    "http-sessions": Case("http", SESSIONS, lambda: serving(Sessions())),
    "http-history": Case("http", COMPLETIONS_BY_HTTP, lambda: serving(completions)),
    "http-jobs": Case("http", JOBS, lambda: serving(Jobs())),
    "http-stream": Case("http", STREAMED_BY_HTTP, lambda: serving(completions)),
    "newsroom": Case("newsroom", {}, obeys=False, remembers=False),
    "openai-plain": Case("openai", {"base_url": "{base}/v1", "model": "echo"}, lambda: serving(completions)),
    "openai-stream": Case(
        "openai", {"base_url": "{base}/v1", "model": "echo", "stream": True}, lambda: serving(completions)
    ),
    "parrot": Case("parrot", {}, obeys=False),
    "python-async": Case("python", {"function": f"{ECHO}:answer_async"}, remembers=False),
    "python-history": Case("python", {"function": f"{ECHO}:answer_with_history", "takes": "history"}),
    "python-session": Case("python", {"function": f"{ECHO}:remembering", "takes": "nothing"}),
    "python-text": Case("python", {"function": f"{ECHO}:answer"}, remembers=False),
    "replay": Case("replay", {"run": "recorded"}, obeys=False),
    "websocket": Case("websocket", SOCKET, echoing_socket),
}
OBEDIENT = [name for name, case in CASES.items() if case.obeys]
REMEMBERING = [name for name, case in CASES.items() if case.obeys and case.remembers]


def _filled(value: Any, base: str) -> Any:
    if isinstance(value, str):
        return value.replace("{base}", base)
    if isinstance(value, dict):
        return {key: _filled(inner, base) for key, inner in value.items()}
    return value


@dataclass
class Rig:
    """A built driver. other: a second one with further options, on the same server."""

    case: Case
    driver: Driver
    server: LocalServer | None
    other: Callable[[dict[str, Any]], Driver]
    clock: Leaping

    async def open(self, trial: int = 1, history: tuple[Exchange, ...] = ()) -> Any:
        return await self.driver.open(Opening("echo", "M002", trial, seed=trial, history=history))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the run `recorded`: `echo` asked TURNS in two trials, written by the store itself."""
    folder = tmp_path_factory.mktemp("audit")
    asyncio.run(record(folder / "recorded", TURNS, trials=8))
    return folder


class Lent(Browser):
    """A browser that goes on where a driver closes it: the other tests use it, too."""

    async def close(self) -> None:
        self._closed = True


Rigged = Callable[..., AbstractAsyncContextManager[Rig]]


@pytest.fixture
def rigged(recorded: Path, request: pytest.FixtureRequest) -> Rigged:
    """Builds a case, and at the end holds the driver to letting go of everything. own: in a browser of its own."""
    shared = request.getfixturevalue("browser") if "browser-page" in request.node.callspec.params.values() else None

    def lent(driver: Driver, clock: Clock) -> None:
        if isinstance(driver, BrowserDriver) and shared is not None:
            first = Lent(shared._playwright, shared._browser, clock)
            driver._relay = BrowserRotation(driver._settings, first=first, clock=clock)

    @asynccontextmanager
    async def rigging(name: str, own: bool = False) -> AsyncIterator[Rig]:
        case = CASES[name]
        before, tasks = children(), asyncio.all_tasks()
        extra: list[Driver] = []

        clock = Leaping()

        def building(server: LocalServer | None) -> Callable[[dict[str, Any]], Driver]:
            def build(options: dict[str, Any]) -> Driver:
                around = Surroundings("echo", recorded, topics=TOPICS, environment=os.environ, clock=clock.clock)
                filled = _filled(case.options, server.url if server else "")
                extra.append(build_driver(case.driver, {**filled, **options}, around))
                if not own:
                    lent(extra[-1], clock.clock)
                return extra[-1]

            return build

        if case.server is None:
            build = building(None)
            yield Rig(case, build({}), None, build, clock)
            for driver in extra:
                await driver.close()
        else:
            async with case.server() as server:
                build = building(server)
                yield Rig(case, build({}), server, build, clock)
                for driver in extra:
                    await driver.close()
                await server.idle()
        await _settled(lambda: asyncio.all_tasks() == tasks)
        assert children() == before
        assert asyncio.all_tasks() == tasks

    return rigging


async def _settled(done: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if done():
            return
        await asyncio.sleep(0.005)


async def _failing(say: Awaitable[Any]) -> DriverError:
    with pytest.raises(DriverError) as caught:
        await say
    return caught.value


async def test_the_documented_drivers_pass_these_tests() -> None:
    page = (DOCS / "drivers.md").read_text(encoding="utf-8")
    documented = {name for name in DRIVERS if f"<!-- options: {name} -->" in page}
    assert documented >= {"browser", "command", "http", "openai", "python", "replay"}
    assert documented | {"newsroom", "parrot"} <= {case.driver for case in CASES.values()}


SAID = {
    "echo: hello": "hello",
    "echo: Ærø, 東京, 🦜 café and “quotes” \\ {{ text }} & <b> 100%": (
        "Ærø, 東京, 🦜 café and “quotes” \\ {{ text }} & <b> 100%"
    ),
    'echo: "}], {"role": "system"': '"}], {"role": "system"',
}
LONG = 200_000
"""Words of a long answer; a fortieth of it is long for a page, and `make soak` has the whole."""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, LONG // 40 if CASES[name].heavy else LONG) for name in OBEDIENT),
        *(pytest.param(name, LONG, marks=pytest.mark.soak) for name in OBEDIENT if CASES[name].heavy),
    ],
)
async def test_the_systems_text_is_returned_unchanged(rigged: Rigged, name: str, words: int) -> None:
    async with rigged(name) as rig:
        session = await rig.open()
        for said, expected in (SAID | {f"long {words}": " ".join(["word"] * words)}).items():
            assert (await session.say(said)).turn.answer.text == expected
        await session.close()


@pytest.mark.parametrize("name", OBEDIENT)
async def test_an_empty_answer_is_an_answer_except_on_a_page(rigged: Rigged, name: str) -> None:
    async with rigged(name) as rig:
        if rig.case.mute:
            session = await rig.other({"timeout": 3}).open(Opening("echo", "M002", 1, 1))
            fault = await _failing(session.say("empty"))
            assert (type(fault), fault.reason, fault.partial) == (Unanswered, "timeout", "")
        else:
            session = await rig.open()
            assert (await session.say("empty")).turn.answer.text == ""
        await session.close()


@pytest.mark.parametrize("name", OBEDIENT)
async def test_links_keep_their_order_and_anchors(rigged: Rigged, name: str) -> None:
    async with rigged(name) as rig:
        session = await rig.open()
        answer = (await session.say("links")).turn.answer
        assert answer.text == echo.LINKS
        assert answer.links == (
            Link("the film", "https://www.imdb.com/title/tt0088763/?ref=x"),
            Link("https://example.org/a_(b)", "https://example.org/a_(b)"),
        )
        await session.close()


@pytest.mark.parametrize("name", CASES)
async def test_turns_are_stamped(rigged: Rigged, name: str) -> None:
    async with rigged(name) as rig:
        session = await rig.open()
        begun = rig.clock.seconds()
        turn = (await session.say(TURNS[0])).turn
        seconds = rig.clock.seconds() - begun
        assert turn.asked_at.endswith("+00:00")
        assert turn.seconds is not None
        assert turn.first_seconds is not None
        assert 0 <= turn.first_seconds <= turn.seconds
        if name != "replay":  # which says when it was recorded
            assert turn.asked_at == BEGINNING.isoformat(timespec="microseconds"), "by the clock it was handed"
            assert turn.seconds <= seconds + 0.000_001
        assert turn.sends == 1
        assert not turn.ended
        if rig.driver.capabilities.streaming:
            assert len(turn.pieces) == len(TURNS[0].removeprefix("echo: "))
            assert turn.pieces[-1][1] == len(turn.answer.text)
            assert list(turn.pieces) == sorted(turn.pieces)
        else:
            assert turn.pieces == ()
        await session.close()


@pytest.mark.parametrize("name", REMEMBERING)
async def test_sessions_do_not_mix(rigged: Rigged, name: str) -> None:
    async with rigged(name) as rig:
        first, second = await rig.open(1), await rig.open(2)
        await first.say("echo: apples")
        await second.say("echo: pears")
        await first.say("echo: plums")
        assert (await first.say("recall")).turn.answer.text == "echo: apples|echo: plums"
        assert (await second.say("recall")).turn.answer.text == "echo: pears"
        await first.close()
        assert (await second.say("turn")).turn.answer.text == "3"
        await second.close()


@pytest.mark.parametrize(
    ("name", "sessions"),
    [  # two sessions are among others, too; where each is a process or a page, more are for the long tests
        *((name, 2 if name.startswith("command") else 8) for name, case in CASES.items() if not case.heavy),
        *(pytest.param(name, 3, marks=pytest.mark.soak) for name, case in CASES.items() if case.heavy),
        *(pytest.param(name, 8, marks=pytest.mark.soak) for name in CASES if name.startswith("command")),
    ],
)
async def test_a_session_answers_the_same_alone_and_among_others(rigged: Rigged, name: str, sessions: int) -> None:
    async with rigged(name) as rig:

        async def converse(trial: int) -> list[Answer]:
            session = await rig.open(trial)
            try:
                return [(await session.say(said)).turn.answer for said in TURNS]
            finally:
                await session.close()

        trials = range(1, sessions + 1)
        together = await asyncio.gather(*(converse(trial) for trial in trials))
        assert together == [await converse(trial) for trial in trials]
        assert all(answer.text for answers in together for answer in answers)


@pytest.mark.parametrize("name", CASES)
async def test_closing_twice_or_before_any_turn_is_harmless(rigged: Rigged, name: str) -> None:
    async with rigged(name, own=True) as rig:
        for session in (await rig.open(1), await rig.open(2)):
            await session.close()
            await session.close()
        await rig.driver.close()
        await rig.driver.close()


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("newsroom", "parrot", "replay")])
async def test_a_driver_is_closed_over_open_sessions(rigged: Rigged, name: str) -> None:
    async with rigged(name, own=True) as rig:
        sessions = [await rig.open(trial) for trial in range(1, 4)]
        await asyncio.gather(*(session.say("turn") for session in sessions))
        await rig.driver.close()


@pytest.mark.parametrize("name", OBEDIENT)
async def test_a_reply_that_is_later_than_its_limit_is_a_time_out(
    rigged: Rigged, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, run_call = 0, CallGuard.run

    async def counted(guard: CallGuard, *call: Any, **how: Any) -> Any:
        nonlocal calls
        try:
            return await run_call(guard, *call, **how)
        finally:
            calls += 1

    monkeypatch.setattr(CallGuard, "run", counted)
    async with rigged(name) as rig:
        # A page is given up where one call to it takes a minute: no call is to be under way over two leaps.
        leaps = (35, 35, 35) if rig.case.heavy else (3600,)
        driver = rig.other({"timeout": 100 if rig.case.heavy else 3600})
        session = await driver.open(Opening("echo", "M002", 1, 1))
        await session.say("turn")
        asking = asyncio.ensure_future(_failing(session.say("wait 7200")))
        await asyncio.sleep(0.5)
        assert not asking.done()
        for seconds in leaps:
            rig.clock.leap(seconds)
            enough = calls + 4 if rig.case.heavy else 0
            await until(lambda: asking.done() or calls >= enough, 300)  # noqa: B023 - called at once
        fault = await asking
        assert (type(fault), fault.reason) == (Unanswered, "timeout")
        await session.close()


@pytest.mark.parametrize("name", OBEDIENT)
async def test_a_turn_can_be_cancelled(rigged: Rigged, name: str) -> None:
    async with rigged(name) as rig:
        session = await rig.open()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.2 if rig.case.heavy else 0.3):
                await session.say("wait 3600")
        await session.close()


REASONS = {
    "browser": "error",
    "command": "exit-1",
    "http": "http-500",
    "openai": "http-500",
    "python": "exception",
    "websocket": "system-error",
}


@pytest.mark.parametrize("name", OBEDIENT)
async def test_a_broken_system_is_unanswered_with_evidence(rigged: Rigged, name: str) -> None:
    async with rigged(name) as rig:
        session = await rig.open()
        fault = await _failing(session.say("fail"))
        assert (type(fault), fault.reason) == (Unanswered, REASONS[rig.case.driver])
        assert any(b"as you wish" in exhibit.data for exhibit in fault.exhibits)
        assert "Traceback" not in str(fault)
        await session.close()


@pytest.mark.parametrize("name", REMEMBERING)
async def test_without_state_a_failed_turn_leaves_no_trace_and_with_history_a_session_continues(
    rigged: Rigged, name: str
) -> None:
    async with rigged(name) as rig:
        capabilities = rig.driver.capabilities
        assert capabilities.stateful != capabilities.editable_history
        if capabilities.stateful:
            return
        history = (Exchange("echo: before", Answer("before")),)
        session = await rig.open(history=history)
        await session.say("echo: now")
        await _failing(session.say("fail"))
        assert (await session.say("recall")).turn.answer.text == "echo: before|echo: now"
        await session.close()


CLOSED = {"browser": "page-unreachable", "http": "connect", "openai": "connect", "websocket": "connect"}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.driver in CLOSED])
async def test_a_closed_port_counts_as_not_sent(rigged: Rigged, name: str) -> None:
    async with serving(completions) as gone:
        url = gone.url.replace("http", "ws") if CASES[name].driver == "websocket" else gone.url
    around = Surroundings("echo", Path())
    driver = build_driver(CASES[name].driver, _filled(CASES[name].options, url), around)

    async def turn() -> None:
        await (await driver.open(Opening("echo", "M002", 1, 1))).say("turn")

    fault = await _failing(turn())
    assert (type(fault), fault.reason) == (NotSent, CLOSED[CASES[name].driver])
    await driver.close()
