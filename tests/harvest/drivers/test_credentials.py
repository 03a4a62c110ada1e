"""Credentials that expire: each is renewed in time and once for all sessions, and no turn is lost or sent twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from harvest.cli.exposures import exposure_lines
from harvest.drivers import wire
from harvest.drivers.registry import build_driver, options_model
from harvest.systems.driver import Denied, Driver, DriverError, NotSent, Opening, Surroundings
from harvest.systems.exposure import Exposure
from harvest.systems.timing import REAL_CLOCK
from harvest.voices.endpoint import Endpoint, EndpointOptions
from recordings.log.run_folder import read
from simulators.outside import Message, Prompt
from tests.servers.guarded_chat import CLIENT, SECRET, GuardedChat
from tests.servers.local_http import Asked, LocalServer, completions, serving
from tests.support.forked_commands import ForkedCommand
from tests.support.stepping import Stepped
from topics.errors import InputError

ENVIRONMENT = {"DESK_SECRET": SECRET, "DESK_REFRESH": GuardedChat.refresh_token, "PATH": os.environ["PATH"]}


def as_read(value: Any) -> Any:
    """Lists as they come from a file, as tuples."""
    if isinstance(value, Mapping):
        return {key: as_read(one) for key, one in value.items()}
    return tuple(map(as_read, value)) if isinstance(value, (list, tuple)) else value


def options(url: str, **auth: Any) -> dict[str, Any]:
    given = {"token_url": f"{url}/token", "client_id": CLIENT, "client_secret": {"env": "DESK_SECRET"}}
    return {
        "url": f"{url}/chat",
        "body": {"session": "{{ session }}", "text": "{{ text }}"},
        "reply": "$.reply",
        "session": "client",
        "auth": as_read(auth if "command" in auth else {"oauth2": {**given, **auth}}),
    }


class Built:
    """A driver of a guarded chat. now: what its clock says, in seconds."""

    def __init__(self, server: LocalServer, folder: Path) -> None:
        self.server, self.folder, self.now = server, folder, 0.0
        self.secrets: set[str] = set()
        self.drivers: list[Driver] = []

    def build(self, *, more: Mapping[str, Any] = MappingProxyType({}), **auth: Any) -> Driver:
        clock = replace(REAL_CLOCK, monotonic=lambda: self.now)
        around = Surroundings("desk", self.folder, environment=ENVIRONMENT, secrets=self.secrets, clock=clock)
        self.drivers.append(build_driver("http", {**options(self.server.url, **auth), **more}, around))
        return self.drivers[-1]


@asynccontextmanager
async def guarded(chat: GuardedChat, folder: Path) -> AsyncIterator[Built]:
    async with serving(chat) as server:
        built = Built(server, folder)
        try:
            yield built
        finally:
            for driver in built.drivers:
                await driver.close()


async def say(driver: Driver, *texts: str) -> list[tuple[str, str]]:
    """The turns of one session."""
    session = await driver.open(Opening("desk", "M001", 1, 1))
    return [(text, (await session.say(text)).turn.answer.text) for text in texts]


TEN = tuple(f"turn {number}" for number in range(10))


@pytest.mark.parametrize("client_auth", ["basic", "body"])
async def test_tokens_that_are_withdrawn_early_cost_no_turn_of_two_sessions(tmp_path: Path, client_auth: str) -> None:
    chat = GuardedChat(uses=7)
    async with guarded(chat, tmp_path) as built:
        driver = built.build(client_auth=client_auth)
        turns = await asyncio.gather(say(driver, *TEN), say(driver, *TEN))
    assert sorted(turns) == sorted(chat.truth.values())
    assert len(chat.issued) == 3  # for 20 turns
    assert chat.refused > 0


async def test_sixteen_sessions_request_one_token(tmp_path: Path) -> None:
    chat = GuardedChat(pause=0.1)
    async with guarded(chat, tmp_path) as built:
        driver = built.build(scope="chat.write", fields={"audience": "desk"})
        await asyncio.gather(*(say(driver, "Films?") for _ in range(16)))
    assert len(chat.truth) == 16
    assert chat.forms == [{"grant_type": ["client_credentials"], "scope": ["chat.write"], "audience": ["desk"]}]


@pytest.mark.parametrize(
    ("expires_in", "last", "first"),
    [(3600, 3539, 3541), ("1200", 1139, 1141), (20, 14.9, 15.1), (None, 1e9, None), (10**400, 1e9, None)],
)
async def test_a_token_is_renewed_before_it_expires(
    tmp_path: Path, expires_in: object, last: float, first: float | None
) -> None:
    """A minute before, or a quarter of its life; without a word about its life, not before it is refused."""
    chat = GuardedChat(expires_in=expires_in)
    async with guarded(chat, tmp_path) as built:
        driver = built.build()
        await say(driver, "one")
        built.now = last
        await say(driver, "two")
        assert len(chat.issued) == 1
        if first is not None:
            built.now = first
            await say(driver, "three")
            assert len(chat.issued) == 2
    assert chat.refused == 0


async def test_the_clock_starts_when_the_token_is_requested(tmp_path: Path) -> None:
    chat = GuardedChat(expires_in=100)
    async with guarded(chat, tmp_path) as built:
        driver = built.build()
        built.now = 50
        await say(driver, "one")
        built.now = 50 + 74
        await say(driver, "two")
        assert len(chat.issued) == 1


async def test_a_token_that_is_always_refused_is_sent_twice_and_then_denied(tmp_path: Path) -> None:
    chat = GuardedChat()
    async with guarded(chat, tmp_path) as built:
        driver = built.build(token_url=f"{built.server.url}/token?elsewhere")
        chat.answers = [("200 OK", json.dumps({"access_token": f"foreign-{number}"})) for number in range(9)]
        with pytest.raises(Denied) as caught:
            await say(driver, "one")
    assert caught.value.reason == "http-401"
    assert chat.refused == 2
    assert len(chat.forms) == 2


FAULTS: tuple[tuple[str, str, type[DriverError], str, str], ...] = (
    ("400 Bad Request", '{"error": "invalid_scope"}', Denied, "invalid-scope", "refuses: 400 invalid_scope"),
    (
        "401 Unauthorized",
        '{"error": "invalid_client", "error_description": "no such client"}',
        Denied,
        "invalid-client",
        "refuses: 401 invalid_client: no such client",
    ),
    ("403 Forbidden", "<html>", Denied, "no-token", "the token server refuses: 403"),
    ("404 Not Found", "", Denied, "no-token", "the token server refuses: 404"),
    ("429 Too Many Requests", "", NotSent, "no-token", "the token server refuses: 429"),
    ("503 Service Unavailable", "later", NotSent, "no-token", "the token server refuses: 503"),
    ("400 Bad Request", '{"error": "temporarily_unavailable"}', Denied, "no-token", "400 temporarily_unavailable"),
    ("302 Found", "", Denied, "no-token", "the token server refuses: 302"),
    ("200 OK", "<html>log in</html>", Denied, "no-token", "is not JSON with an `access_token`"),
    ("200 OK", '{"access_token": ""}', Denied, "no-token", "is not JSON with an `access_token`"),
    ("200 OK", '{"access_token": "a b"}', Denied, "no-token", "is not JSON with an `access_token`"),
    ("200 OK", '{"access_token": "a\\nb"}', Denied, "no-token", "is not JSON with an `access_token`"),
    ("200 OK", '["access_token"]', Denied, "no-token", "is not JSON with an `access_token`"),
    ("200 OK", '{"error": "invalid_client"}', Denied, "invalid-client", "refuses: 200 invalid_client"),
    ("200 OK", '{"error": "slow_down", "access_token": null}', Denied, "no-token", "refuses: 200 slow_down"),
    ("200 OK", '{"access_token": "abc", "token_type": "DPoP"}', Denied, "no-token", "tokens of the type 'DPoP'"),
)


@pytest.mark.parametrize(("status", "body", "kind", "reason", "words"), FAULTS)
async def test_a_token_server_without_a_token(
    tmp_path: Path, status: str, body: str, kind: type[DriverError], reason: str, words: str
) -> None:
    chat = GuardedChat(answers=[(status, body)])
    async with guarded(chat, tmp_path) as built:
        driver = built.build()
        with pytest.raises(DriverError, match=words) as caught:
            await say(driver, "one")
        assert (type(caught.value), caught.value.reason) == (kind, reason)
        assert caught.value.exhibits == ()
        assert caught.value.retry_after == (7 if status.startswith(("429", "503")) else None)
        if kind is NotSent:
            assert await say(driver, "one") == next(iter(chat.truth.values()))
        else:  # it would come to the same, and is not asked again
            with pytest.raises(Denied, match=words):
                await say(driver, "two")
            assert len(chat.forms) == 1


async def test_a_token_whose_type_is_null_is_a_bearer_token(tmp_path: Path) -> None:
    chat = GuardedChat(answers=[("200 OK", '{"access_token": "abc", "token_type": null}')])
    async with guarded(chat, tmp_path) as built:
        assert await say(built.build(), "one") == next(iter(chat.truth.values()))
    assert (chat.refused, len(chat.forms)) == (1, 2)  # the server never issued "abc", so it was sent, and renewed


async def test_an_answer_without_a_token_in_between_is_retried(tmp_path: Path) -> None:
    chat = GuardedChat(uses=1)
    async with guarded(chat, tmp_path) as built:
        driver = built.build()
        await say(driver, "one")
        chat.answers = [("200 OK", "<html>maintenance</html>")]
        with pytest.raises(NotSent, match="not JSON"):
            await say(driver, "two")
        assert [text for text, _ in await say(driver, "three")] == ["three"]


async def test_a_token_server_that_is_down_or_slow_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = GuardedChat(pause=30)
    async with guarded(chat, tmp_path) as built:
        monkeypatch.setattr(wire, "_TOKEN_SECONDS", 0.2)
        here = built.server.url.removeprefix("http://")
        with pytest.raises(NotSent, match=rf"^no-token: the token server {here} gave no token: .* after 0\.2 s"):
            await say(built.build(), "one")
        monkeypatch.undo()
        with pytest.raises(NotSent, match=rf"^no-token: the token server {here} gave no token: .* after 0\.1 s"):
            await say(built.build(more={"timeout": 0.1}), "one")
        with pytest.raises(NotSent, match=rf"^no-token: the token server {here} gave no token: .* silent for 0\.1 s"):
            await say(built.build(more={"read_timeout": 0.1}), "one")
        with pytest.raises(
            NotSent,
            match=r"^no-token: the token server 127\.0\.0\.1:1 gave no token: no connection to 127\.0\.0\.1:1: ",
        ):
            await say(built.build(token_url="http://127.0.0.1:1/token"), "one")
    assert chat.truth == {}


async def test_a_session_that_is_abandoned_leaves_the_token_to_the_others(tmp_path: Path) -> None:
    chat = GuardedChat(pause=0.3)
    async with guarded(chat, tmp_path) as built:
        driver = built.build()
        first, second = (asyncio.create_task(say(driver, text)) for text in ("one", "two"))
        await asyncio.sleep(0.1)
        first.cancel()
        assert [text for text, _ in await second] == ["two"]
        assert first.cancelled()
    assert len(chat.issued) == 1


async def test_a_driver_is_closed_while_a_token_is_requested(tmp_path: Path) -> None:
    chat = GuardedChat(pause=30)
    async with guarded(chat, tmp_path) as built:
        driver = built.build()
        waiting = asyncio.create_task(say(driver, "one"))
        await asyncio.sleep(0.1)
        waiting.cancel()
        await asyncio.wait([waiting])
        await driver.close()
        assert [asked.path for asked in built.server.asked] == ["/token"]


async def test_a_token_replaces_the_key_of_a_recipe_and_of_an_endpoint(tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(request: Asked, writer: asyncio.StreamWriter) -> None:
        asked.append(request.headers.get("authorization", "") + request.headers.get("api-key", ""))
        await completions(request, writer)

    command = {"argv": (sys.executable, "-c", "print('printed-token')")}
    async with serving(answer) as server:
        given = {"base_url": f"{server.url}/v1", "auth": {"command": command}}
        around = Surroundings("desk", tmp_path, environment=ENVIRONMENT)
        driver = build_driver("azure", {**given, "deployment": "mine"}, around)
        assert (await say(driver, "echo: hello")) == [("echo: hello", "hello")]
        await driver.close()
        words = Endpoint("words", EndpointOptions.model_validate({**given, "model": "m"}), around)
        sample = await words.sample(Prompt("words", "ask", (Message("user", "echo: Films?"),), ("one",), seed=1))
        assert sample.text == "Films?"
        await words.close()
    assert asked == ["Bearer printed-token"] * 2


# Refresh tokens ------------------------------------------------------------------------------------------------


async def test_a_refresh_token_that_is_replaced_is_remembered_by_the_driver(tmp_path: Path) -> None:
    chat = GuardedChat(rotates=True, uses=1)
    async with guarded(chat, tmp_path) as built:
        await say(built.build(refresh_token={"env": "DESK_REFRESH"}), "one", "two", "three")
        assert {*chat.used_refresh_tokens, chat.refresh_token, *chat.issued} <= built.secrets
        assert len(chat.used_refresh_tokens) == 3
        with pytest.raises(Denied, match=r"invalid_grant.*refresh_token_file") as caught:
            await say(built.build(refresh_token={"env": "DESK_REFRESH"}), "four")
    assert caught.value.reason == "invalid-grant"


async def test_a_file_keeps_the_newest_refresh_token_for_other_commands(tmp_path: Path) -> None:
    chat = GuardedChat(rotates=True, uses=3)
    file = tmp_path / "desk.token"
    file.write_text(chat.refresh_token)
    file.chmod(0o600)
    async with guarded(chat, tmp_path) as built:
        one, other = (built.build(refresh_token_file="desk.token") for _ in range(2))
        # Two drivers, as in two commands, each with two sessions: each would lose the other's token without the file.
        await asyncio.gather(*(say(driver, *TEN) for driver in (one, other, one, other)))
    assert file.read_text().splitlines() == [*chat.used_refresh_tokens, chat.refresh_token]
    assert file.stat().st_mode & 0o777 == 0o600
    assert [len(turns) for turns in chat.truth.values()] == [10] * 4


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        (None, 0o600, "desk.token: the refresh token cannot be read: No such file"),
        ("token-1\n", 0o640, "desk.token: people other than its owner can read this refresh token"),
        ("\n", 0o600, "desk.token: the file is not a refresh token"),
        ("two words\n", 0o600, "desk.token: the file is not a refresh token"),
        ("tökén\n", 0o600, "desk.token: the file is not a refresh token"),
    ],
)
def test_a_file_without_a_refresh_token(tmp_path: Path, text: str | None, mode: int, words: str) -> None:
    if text is not None:
        (tmp_path / "desk.token").write_text(text)
        (tmp_path / "desk.token").chmod(mode)
    around = Surroundings("desk", tmp_path, environment=ENVIRONMENT)
    with pytest.raises(InputError, match=words):
        build_driver("http", options("http://127.0.0.1:1", refresh_token_file="desk.token"), around)


# Programs -------------------------------------------------------------------------------------------------------

PRINTING = """\
import json, os, sys, time
count = len(open("count").read()) if os.path.exists("count") else 0
open("count", "a").write("x")
PRINT
"""


def program(folder: Path, *lines: str) -> dict[str, Any]:
    (folder / "token.py").write_text(PRINTING.replace("PRINT", "\n".join(lines)))
    return {"argv": [sys.executable, "token.py"], "timeout": 30}


def started(folder: Path) -> int:
    return len((folder / "count").read_text())


async def test_a_program_prints_a_token_for_all_sessions_and_a_new_one_when_it_is_refused(tmp_path: Path) -> None:
    chat = GuardedChat(valid={"printed-token-0": 3, "printed-token-1": -1})
    async with guarded(chat, tmp_path) as built:
        command = program(tmp_path, "print(f'printed-token-{count}')")
        driver = built.build(command=command)
        await asyncio.gather(say(driver, *TEN), say(driver, *TEN))
        assert {"printed-token-0", "printed-token-1"} <= built.secrets
    assert started(tmp_path) == 2
    assert [len(turns) for turns in chat.truth.values()] == [10, 10]


@pytest.mark.parametrize(
    ("printed", "lifetime", "valid"),
    [
        ('{"access_token": "printed-token", "expires_in": 400}', None, 340),
        ('{"accessToken": "printed-token", "expiresOn": "2001-01-01 10:00:00.000000"}', 500, 440),  # az, local time
        ('{"token": "printed-token", "expiry": "2031-05-04T03:12:01Z"}', None, 540),
        ('{"token": "printed-token", "expires_on": 1935630721}', None, 540),
        ("  printed-token\\n\\n", 120, 90),
        ("printed-token", None, 1e9),
    ],
)
async def test_what_a_program_prints_about_the_life_of_its_token(
    tmp_path: Path, printed: str, lifetime: float | None, valid: float
) -> None:
    """The clock says 2031-05-04T03:02:01Z, which is 1935630121 seconds after 1970."""
    command = {**program(tmp_path, f"print('''{printed}''')"), **({"lifetime": lifetime} if lifetime else {})}
    stepped = Stepped()
    async with serving(GuardedChat(valid={"printed-token": -1})) as server:
        around = Surroundings("desk", tmp_path, environment=ENVIRONMENT, clock=stepped.clock)
        driver = build_driver("http", options(server.url, command=command), around)
        await say(driver, "one")
        stepped.seconds = valid - 1
        await say(driver, "two")
        assert started(tmp_path) == 1
        if valid < 1e9:
            stepped.seconds = valid + 1
            await say(driver, "three")
            assert started(tmp_path) == 2
        await driver.close()


@pytest.mark.parametrize(
    ("lines", "kind", "words"),
    [
        (("sys.exit('gcloud: please log in')",), Denied, "ended with the code 1: gcloud: please log in$"),
        (("print('one')", "print('two')"), Denied, r"did not print a token \(one token alone, or JSON with"),
        (("pass",), Denied, "did not print a token"),
        (('print(\'{"id": "x"}\')',), Denied, "did not print a token"),
        (("print('tök')",), Denied, "did not print a token"),
        (("print('x' * 3_000_000)",), Denied, "printed more than 1048576 bytes"),
        (("time.sleep(60)",), NotSent, "printed no token within 0.5 s and was killed"),
    ],
)
async def test_a_program_that_prints_no_token(
    tmp_path: Path, lines: tuple[str, ...], kind: type[DriverError], words: str
) -> None:
    async with guarded(GuardedChat(), tmp_path) as built:
        command = {**program(tmp_path, *lines), **({"timeout": 0.5} if "sleep" in lines[0] else {})}
        with pytest.raises(DriverError, match=words) as caught:
            await say(built.build(command=command), "one")
    assert (type(caught.value), caught.value.reason) == (kind, "no-token")


async def test_a_missing_program_is_denied(tmp_path: Path) -> None:
    async with guarded(GuardedChat(), tmp_path) as built:
        with pytest.raises(Denied, match="no-such-program is in no folder of PATH"):
            await say(built.build(command={"argv": ["no-such-program"]}), "one")


async def test_a_program_gets_its_own_variables_and_few_others(tmp_path: Path) -> None:
    chat = GuardedChat()
    async with guarded(chat, tmp_path) as built:
        command = program(tmp_path, "json.dump(dict(os.environ), open('environment', 'w'))", "print('abc')")
        driver = built.build(command={**command, "env": {"PROFILE": "audits", "KEY": {"env": "DESK_SECRET"}}})
        with pytest.raises(Denied):  # the token means nothing to the chat
            await say(driver, "one")
    environment = json.loads((tmp_path / "environment").read_text())
    assert environment["PROFILE"] == "audits"
    assert environment["KEY"] == SECRET
    assert "DESK_REFRESH" not in environment


# Options --------------------------------------------------------------------------------------------------------

OAUTH2: Mapping[str, Any] = {"token_url": "https://login.example/token", "client_id": "desk"}
WRONG: tuple[tuple[Any, str], ...] = (
    ({}, "give one of `oauth2`, `command`, `sigv4` and `client_cert`"),
    ({"oauth2": OAUTH2, "command": {"argv": ["x"]}}, "only one of `oauth2`, `command` and `sigv4` can be used"),
    ({"oauth": OAUTH2}, "unknown key 'oauth'"),
    ({"oauth2": {**OAUTH2, "client_secret": "s3cret-9174"}}, "this is a secret: write {env: NAME}"),
    ({"oauth2": {**OAUTH2, "fields": {"password": "s3cret-9174"}}}, "password is a secret: write {env: NAME}"),
    (
        {"oauth2": {**OAUTH2, "refresh_token": {"env": "A"}, "refresh_token_file": "x"}},
        "only one of `refresh_token` and `refresh_token_file` can be used",
    ),
    ({"oauth2": {"token_url": "login.example"}}, "not a URL that starts with http"),
    ({"oauth2": {**OAUTH2, "token_url": "https://me:pw@login.example/"}}, "must not contain a user name or a password"),
    (
        {"oauth2": {"token_url": OAUTH2["token_url"], "client_secret": {"env": "A"}}},
        "`client_secret` needs `client_id`",
    ),
    ({"command": {"argv": []}}, "needs at least 1 entry"),
    ({"command": {"argv": ["x"], "lifetime": 0}}, "must be above 0"),
    ({"sigv4": {"service": "lex", "region": "eu-west-1"}}, "give either `access_key` and `secret_key`, or `command`"),
    (
        {"sigv4": {"service": "s", "region": "r", "access_key": {"env": "A"}, "command": {"argv": ["x"]}}},
        "give either `access_key` and `secret_key`, or `command`",
    ),
    ({"oauth2": OAUTH2, "header": "X Token"}, "'X Token' is not the name of a header"),
    ({"oauth2": OAUTH2, "header": "X-Given"}, "`auth` sets the header x-given: remove it from `headers`"),
    ({"oauth2": OAUTH2, "prefix": "Tökén "}, "has characters that are not allowed here"),
)


@pytest.mark.parametrize(("auth", "words"), WRONG)
def test_unusable_options_are_refused(auth: Any, words: str) -> None:
    given = {"url": "https://desk.example/", "body": "{{ text }}", "reply": "text", "headers": {"X-Given": "1"}}
    with pytest.raises(InputError) as caught:
        build_driver("http", {**given, "auth": as_read(auth)}, Surroundings("desk", Path(), environment=ENVIRONMENT))
    assert words in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_key_and_a_token_in_the_same_header_are_refused() -> None:
    given = {"base_url": "https://a.example/v1", "model": "m", "api_key_env": "DESK_SECRET", "auth": {"oauth2": OAUTH2}}
    with pytest.raises(InputError, match="has both api_key_env and auth, which sets the header Authorization"):
        build_driver("openai", given, Surroundings("desk", Path(), environment=ENVIRONMENT))


def test_variables_and_servers_are_known_beforehand(tmp_path: Path) -> None:
    (tmp_path / "desk.token").write_text("token-1")
    model = options_model("http")
    given = {"url": "http://desk.example/", "body": "{{ text }}", "reply": "text"}

    def exposure(**auth: Any) -> Exposure:
        return Exposure.from_options("desk", model.model_validate({**given, "auth": as_read(auth)}))

    by_file = exposure(oauth2={**OAUTH2, "refresh_token_file": "desk.token"})
    assert set(by_file.origins) == {"http://desk.example", "https://login.example"}
    assert by_file.other_secrets == ("the content of desk.token",)
    assert "sends: the content of desk.token to https://login.example, http://desk.example" in exposure_lines([by_file])
    by_program = exposure(command={"argv": ["gcloud", "auth", "print-access-token"]})
    assert by_program.code == ("the program gcloud auth print-access-token",)
    assert by_program.other_secrets == ("the token that gcloud auth print-access-token prints",)
    assert by_program.in_clear == by_file.in_clear == ("http://desk.example",)


# Whole runs -----------------------------------------------------------------------------------------------------


def audit(folder: Path, url: str, trials: int, **auth: Any) -> Path:
    system = {"name": "desk", "driver": "http", "options": options(url, **auth), "concurrency": 2, "retries": 0}
    value = {
        "format": "harvest-audit/1",
        "name": "guarded",
        "topics": "fairweb-45",
        "only": ["M001", "M002"],
        "protocol": "fairweb-two-round",
        "trials": trials,
        "systems": [system],
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(value))
    return path


def kept_bytes(run: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in run.rglob("*") if path.is_file())


def start(folder: Path, run: str) -> ForkedCommand:
    """`harvest run audit.yaml`, in a process of its own: the server is in this one."""
    environment = {**os.environ, "DESK_SECRET": SECRET}
    words = ("run", "audit.yaml", "--out", run, "--no-report")
    return ForkedCommand(*words, cwd=folder, environment=environment)


@pytest.fixture
def rotating(tmp_path: Path) -> GuardedChat:
    chat = GuardedChat(rotates=True, uses=3)
    (tmp_path / "desk.token").write_text(chat.refresh_token)
    (tmp_path / "desk.token").chmod(0o600)
    return chat


async def test_no_token_is_in_a_recording_or_a_message(tmp_path: Path, rotating: GuardedChat) -> None:
    async with serving(rotating) as server:
        audit(tmp_path, server.url, 4, refresh_token_file="desk.token")
        played = start(tmp_path, "run")
        said = b"".join(await asyncio.to_thread(played.communicate))
        assert played.returncode == 0, said.decode()
        rotating.answers = [("200 OK", json.dumps({"access_token": f"useless-{n}-Vx9zPh2m"})) for n in range(9)]
        denied = start(tmp_path, "denied")
        said += b"".join(await asyncio.to_thread(denied.communicate))
    words = b" ".join(said.split())  # without the ends of lines
    assert b"http-401: 401 Unauthorized: the token [redacted:secret] is not valid" in words
    assert len(rotating.issued) > 4
    kept = kept_bytes(tmp_path / "run") + kept_bytes(tmp_path / "denied") + said
    for secret in (*rotating.issued, *rotating.used_refresh_tokens, rotating.refresh_token, SECRET, "Vx9zPh2m"):
        assert secret.encode() not in kept


async def test_a_run_that_is_killed_continues_with_the_newest_refresh_token(
    tmp_path: Path, rotating: GuardedChat
) -> None:
    rotating.forgives = True  # a kill may come between the server's answer and the file
    async with serving(rotating) as server:
        audit(tmp_path, server.url, 6, refresh_token_file="desk.token")
        for killed_at in (3, 8, 13):
            process = start(tmp_path, "run")
            while sum(map(len, rotating.truth.values())) < killed_at and process.poll() is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            _, messages = await asyncio.to_thread(process.communicate)
            assert process.returncode == -signal.SIGKILL, messages.decode()
        process = start(tmp_path, "run")
        _, messages = await asyncio.to_thread(process.communicate)
    assert process.returncode == 0, messages.decode()
    run = read(tmp_path / "run")
    assert len(run.finished) == 12
    truth = [tuple(said for said, _ in turns) for turns in rotating.truth.values()]
    played = [tuple(exchange.said for exchange in one.exchanges) for one in run.finished]
    assert not Counter(played) - Counter(truth)
    assert len(rotating.used_refresh_tokens) > 4
