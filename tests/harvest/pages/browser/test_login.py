"""Log-ins made by hand: how they are kept, that they work, and that nothing of them gets into a recording.

A window that shows itself needs a screen; what happens in it does not: these tests use the same windows without one,
and close them as a person would.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import stat
import sys
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harvest.cli.main import main
from harvest.cli.pages.login import wait_for_login
from harvest.drivers.browser import Options
from harvest.pages.browser.login import keep_login, log_in, read_secrets
from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.systems.driver import DriverError, Unanswered
from recordings.log.run_folder import read
from tests.servers.local_http import Asked, LocalServer, response
from tests.support.browsing import browsing, pages, run, settings, until
from tests.support.forked_commands import ForkedCommand
from topics.document import parse_document
from topics.errors import InputError

COOKIE, TOKEN, NESTED, POPPED = (f"canary-{name}-7d1f4e29b6" for name in ("cookie", "token", "nested", "popped"))
CANARIES = (COOKIE, TOKEN, NESTED)

DOOR = f"""<!doctype html><title>Door</title><body><a href="/partner" target="_blank">Log in with a partner</a>
<button>Log in</button><script>
document.querySelector("button").onclick = () => {{
  document.cookie = "session={COOKIE}; path=/";
  localStorage.setItem("token", "{TOKEN}");
  localStorage.setItem("profile", JSON.stringify({{user: {{key: "{NESTED}"}}, theme: "dark"}}));
}}
</script>"""
PARTNER = f"""<!doctype html><title>Partner</title><script>localStorage.setItem("partner", "{POPPED}")</script>"""
CHAT = """<!doctype html><title>Chat</title><body><main role="log"></main>
<form><textarea aria-label="Message"></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
function add(kind, text) {
  const bubble = document.createElement("div");
  bubble.className = kind;
  bubble.textContent = text;
  log.append(bubble);
}
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  const said = box.value;
  box.value = "";
  add("user", said);
  const token = localStorage.getItem("token"), profile = localStorage.getItem("profile");
  const answer = await fetch("/say", {method: "POST", body: said, headers: {authorization: "Bearer " + token}});
  const text = await answer.text();
  if (!answer.ok) { add("bot error", text); return; }
  add("bot", `Known by ${document.cookie} and ${token} and ${profile}. ${text}`);
};
</script>"""


async def door(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Lets nobody in without the cookie; says what it was sent. A user turn with `fail` comes to an error."""
    cookie = asked.headers.get("cookie", "")
    known = f"session={COOKIE}" in cookie
    if asked.path == "/chat":
        writer.write(response("200 OK", CHAT, media_type="text/html") if known else response("401 Unauthorized", "?"))
    elif b"fail" in asked.body:
        writer.write(response("500 Internal Server Error", f"It broke for {cookie}."))
    else:
        writer.write(response("200 OK", f"You wrote: {asked.body.decode()} with {cookie}."))


@asynccontextmanager
async def served() -> AsyncIterator[LocalServer]:
    async with pages({"/": DOOR, "/partner": PARTNER}, door) as server:
        yield server


async def never() -> None:
    await asyncio.Event().wait()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as started:
        yield started


@asynccontextmanager
async def at_the_door(browser: Browser) -> AsyncIterator[Window]:
    async with served() as server:
        window = await browser.open_window(BrowserSettings(by_hand=True))
        await window.goto(server.url)
        try:
            yield window
        finally:
            await window.close()


async def person_logs_in(window: Window) -> None:
    await run(window.frames()[0], "document.querySelector('button').click()")


def held(state: dict[str, Any]) -> set[str]:
    values = {str(cookie["value"]) for cookie in state["cookies"]}
    return values | {str(item["value"]) for origin in state["origins"] for item in origin["localStorage"]}


@pytest.mark.asyncio(loop_scope="module")
async def test_the_log_in_is_the_browsers_state_when_enter_is_pressed(browser: Browser) -> None:
    async with at_the_door(browser) as window:
        enter = asyncio.Event()

        async def pressed() -> None:
            await enter.wait()

        waiting = asyncio.create_task(log_in(window, pressed))
        await person_logs_in(window)
        await asyncio.sleep(0.3)
        assert not waiting.done(), "nobody has said that the log-in is done"
        enter.set()
        assert {COOKIE, TOKEN} <= held(await waiting)


@pytest.mark.asyncio(loop_scope="module")
async def test_closing_the_window_counts_as_enter(browser: Browser) -> None:
    async with at_the_door(browser) as window:
        waiting = asyncio.create_task(log_in(window, never))
        await person_logs_in(window)
        await window._page.close()
        assert {COOKIE, TOKEN} <= held(await asyncio.wait_for(waiting, 20))


@pytest.mark.asyncio(loop_scope="module")
async def test_a_partners_window_stays_open_and_its_data_is_kept(browser: Browser) -> None:
    async with at_the_door(browser) as window:
        await run(window.frames()[0], "document.querySelector('a').click()")
        await until(lambda: len(window._context.pages) == 2)
        await asyncio.sleep(0.5)
        assert len(window._context.pages) == 2

        async def done() -> None:
            """At once."""

        async with asyncio.timeout(10):
            while POPPED not in held(await log_in(window, done)):  # noqa: ASYNC110 - the partner's page tells nobody
                await asyncio.sleep(0.1)


async def test_a_browser_that_ends_reports_that_nothing_was_kept() -> None:
    async with browsing() as own, at_the_door(own) as window:
        waiting = asyncio.create_task(log_in(window, never))
        await asyncio.sleep(0.2)
        await window._browser.close()
        with pytest.raises(Unanswered, match="before the log-in could be saved"):
            await asyncio.wait_for(waiting, 20)


async def test_a_browser_found_dead_on_use_reports_the_same() -> None:
    class Closed:
        gone = "page-closed"

        async def state(self) -> dict[str, Any]:
            raise Unanswered("browser-gone", "the browser has ended")

    with pytest.raises(Unanswered, match="before the log-in could be saved"):
        await log_in(Closed(), never)


async def test_everything_between_the_command_and_the_screen() -> None:
    async with served() as server:

        async def done() -> None:
            """A log-in that was made at once."""

        state = await wait_for_login(settings(), server.url, done)
    assert state["cookies"] == []


async def test_a_page_that_does_not_load_is_an_error() -> None:
    with pytest.raises(DriverError, match="page-"):
        await wait_for_login(settings(), "http://127.0.0.1:9/", never)


def state_with(value: str) -> dict[str, Any]:
    return {
        "cookies": [{"name": "sid", "value": value, "domain": "127.0.0.1", "path": "/"}],
        "origins": [{"origin": "http://127.0.0.1:80", "localStorage": [{"name": "token", "value": TOKEN}]}],
    }


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "site.login.json"
    old = os.umask(0)
    try:
        keep_login(path, state_with(COOKIE))
        path.with_name(".site.login.json.1-1.tmp").write_text(COOKIE)  # of a command that was killed
        keep_login(path, state_with(COOKIE))
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_secrets(path) == {COOKIE, TOKEN}
    assert [file.name for file in path.parent.iterdir()] == [path.name], "no draft may be left"


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    keep_login(tmp_path / "login.json", state_with(COOKIE))
    (tmp_path / "login.json").chmod(0o640)
    with pytest.raises(InputError, match="people other than its owner"):
        read_secrets(tmp_path / "login.json")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"cookies": 1, "origins": []}', "[" * 100_000, '{"cookies": [{}]}']
)
def test_an_invalid_log_in_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "login.json").touch(mode=0o600)
    (tmp_path / "login.json").write_text(content)
    with pytest.raises(InputError, match="not a log-in"):
        read_secrets(tmp_path / "login.json")


def test_keys_are_secrets_but_settings_and_addresses_are_not(tmp_path: Path) -> None:
    stored = {
        "token": TOKEN,
        "profile": json.dumps(
            {"deep": [{"key": NESTED}], "home": "https://example.org/start", "says": "good morning all"}
        ),
        "last": "https://example.org/films/alien",
        "greeting": "What can I do for you?",
        "theme": "dark",
    }
    items = [{"name": name, "value": value} for name, value in stored.items()]
    packed = {"name": "auth", "value": f"%7B%22key%22%3A%22{POPPED}%22%7D"}
    state = {"cookies": [packed], "origins": [{"origin": "https://example.org", "localStorage": items}]}
    keep_login(tmp_path / "login.json", state)
    # The whole profile is not text that an answer could hold, unless it holds the keys.
    found = {one for one in read_secrets(tmp_path / "login.json") if not one.startswith("{")}
    assert found == {TOKEN, NESTED, POPPED, str(packed["value"])}


AUDIT = """\
format: harvest-audit/1
name: behind the door
topics: fairweb-45
only: [M001]
protocol: say.yaml
trials: 1
systems:
  - name: chat
    driver: browser
    attempts: 1
    options: {url: "URL/chat", login: door.login.json, trace: failure, timeout: 30}
"""
PROTOCOL = """\
format: harvest-protocol/1
name: say
version: 1
turn_limit: 2
rules: {broken: {empty: {}}}
start: one
states:
  one: {say: "Who am I to you?", edges: [{if: broken, label: x, stop: breakdown}, {otherwise: true, label: o, go: two}]}
  two: {say: "Now fail please.", edges: [{otherwise: true, label: o, stop: completed}]}
"""


@pytest.mark.asyncio(loop_scope="module")
async def test_no_part_of_a_log_in_reaches_a_recording(browser: Browser, tmp_path: Path) -> None:
    """The page says its cookie, its token and its profile in every answer; the server says the cookie in its error."""
    async with served() as server:
        window = await browser.open_window(BrowserSettings(by_hand=True))
        await window.goto(server.url)
        await person_logs_in(window)
        keep_login(tmp_path / "door.login.json", await window.state())
        await window.close()
        (tmp_path / "audit.yaml").write_text(AUDIT.replace("URL", server.url))
        (tmp_path / "say.yaml").write_text(PROTOCOL)
        process = ForkedCommand("run", "audit.yaml", "--out", "run", "--json", cwd=tmp_path)
        out, err = await asyncio.to_thread(process.communicate, 120)
    assert process.returncode == 3, err.decode()

    recorded = read(tmp_path / "run")
    (conversation,) = recorded.conversations
    first, second = conversation.turns
    assert first.reply is not None, "the log-in must have worked"
    assert first.reply.answer.text.startswith("Known by session=[redacted:")
    assert second.reply is None
    (failure,) = recorded.failures
    assert failure.reason == "error"
    assert failure.evidence.keys() >= {"screenshot", "page", "trace"}
    assert "[redacted:" in failure.detail + failure.partial

    looked_at = 0
    for place, data in [("stdout", out), ("stderr", err), *_everything(tmp_path / "run")]:
        looked_at += 1
        for canary in CANARIES:
            assert canary.encode() not in data, place
    assert looked_at > 20, "the trace must have been opened"


def _everything(folder: Path) -> list[tuple[str, bytes]]:
    """Every file, and every file in an archive. Pictures too: what a picture shows is not looked for."""
    found = []
    for file in folder.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            found.append((str(file), gzip.decompress(data) if file.suffix == ".gz" else data))
            if zipfile.is_zipfile(io.BytesIO(data)):
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    found += [(f"{file}:{name}", archive.read(name)) for name in archive.namelist()]
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["pages", "login", *arguments])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_without_a_screen_there_is_one_clear_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    err = refused(capsys, "https://example.org/", "--out", str(tmp_path / "login.json"))
    assert err.startswith("error: this machine has no screen on which to open a window\n")


def test_a_log_in_is_never_stored_in_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run" / "evidence").mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    target = tmp_path / "run" / "evidence" / "login.json"
    assert "inside the run folder" in refused(capsys, "https://example.org/", "--out", str(target))


def test_another_file_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "thesis.txt"
    target.write_text("years of work")
    target.chmod(0o600)
    err = refused(capsys, "https://example.org/", "--out", str(target))
    assert "not a log-in" in err
    assert "choose another file" in err
    assert target.read_text() == "years of work"


def test_a_value_that_is_neither_an_address_nor_a_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "neither a URL nor a file" in refused(capsys, "example.org")
    assert "neither a URL nor a file" in refused(capsys, "ftp://example.org/")
    assert "environment variable" in refused(capsys, "https://a.example/", "--proxy", "http://me:secret@proxy:3128")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("proxy", "nonsense"),
        ("proxy", "http://h:99999"),
        ("proxy", f"http://me:{COOKIE}@proxy:notaport"),
        ("locale", "non sense"),
        ("timezone", "Mars/Base"),
        ("viewport", "12x8"),
        ("viewport", "wide"),
        ("user_agent", "a\nb"),
        ("user_agent", " "),
    ],
)
def test_an_option_is_refused_with_the_message_of_the_driver(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(json.dumps({"url": "https://a.example/", option: value}), "audit").validate_as(Options)
    said = refused(capsys, "https://a.example/", f"--{option.replace('_', '-')}", value)
    assert said.startswith(f"error: {option}: ")
    assert caught.value.what in said
    assert COOKIE not in said


def test_a_proxy_in_the_environment_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROXY", f"http://me:{COOKIE}@proxy:notaport")
    said = refused(capsys, "https://a.example/", "--proxy", "env:PROXY")
    assert "PROXY does not contain the URL of a proxy" in said
    assert COOKIE not in said
    assert "NO_SUCH_PROXY, which is not set" in refused(capsys, "https://a.example/", "--proxy", "env:NO_SUCH_PROXY")


def test_an_address_with_a_password_is_refused_and_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    for address in (f"https://me:{COOKIE}@a.example/", f"https://me:{COOKIE}@/", f"https://me:{COOKIE}@a:notaport/"):
        assert COOKIE not in refused(capsys, address)


def test_accepted_options_reach_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[BrowserSettings] = []

    async def seen(given: BrowserSettings, url: str, done: object) -> dict[str, Any]:
        made.append(given)
        return state_with(COOKIE)

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("PROXY", f"http://me:{TOKEN}@proxy:1")
    monkeypatch.setattr("harvest.cli.pages.login.wait_for_login", seen)
    options = ("--proxy", "env:PROXY", "--locale", "ja-JP", "--timezone", "Asia/Tokyo", "--viewport", "900x700")
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "pages",
                "login",
                "https://a.example/",
                *("--out", str(tmp_path / "l.json")),
                *options,
                "--user-agent=Own/1",
            ]
        )
    assert ended.value.code == 0
    (given,) = made
    assert (given.proxy, given.locale, given.timezone) == (f"http://me:{TOKEN}@proxy:1", "ja-JP", "Asia/Tokyo")
    assert (given.viewport, given.user_agent, given.headless, given.by_hand) == ((900, 700), "Own/1", False, True)
    assert TOKEN not in "".join(capsys.readouterr())
