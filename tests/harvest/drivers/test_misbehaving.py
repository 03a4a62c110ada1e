"""A server that does everything wrong: each wrong is one typed error with what came back, within its time."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.received import why_not_json
from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, DriverError, NotSent, Opening, Surroundings, Unanswered
from harvest.systems.timing import MOST_PIECES
from tests.servers.faulty_chat import FAULTS as CATALOGUE
from tests.servers.faulty_chat import GOOD, PART, FaultyChat
from tests.servers.local_http import STREAM_HEAD, Asked, LocalServer, chunk, completions, response, serving
from tests.support.checkout import DATA

TIMEOUT = 0.6
"""Seconds for a turn in these tests; nothing may take much longer."""
LATE = [name for name, fault in CATALOGUE.items() if fault.late]


@dataclass
class Wrong:
    """A server, and drivers that ask it for a wrong."""

    server: LocalServer

    def driver(self, name: str, *, stream: bool = False, **options: Any) -> Driver:
        timeout = TIMEOUT if name in LATE else 60
        given = {"base_url": f"{self.server.url}/{name}", "model": "echo", "timeout": timeout, "stream": stream}
        return build_driver("openai", {**given, **options}, Surroundings("wrong", Path()))

    async def turn(self, name: str, **options: Any) -> Any:
        driver = self.driver(name, **options)
        try:
            session = await driver.open(Opening("wrong", "M002", 1, 1))
            return (await session.say("hello")).turn
        finally:
            await driver.close()
            await self.server.idle()

    async def fault(self, name: str, **options: Any) -> DriverError:
        with pytest.raises(DriverError) as caught:
            await self.turn(name, **options)
        assert len(str(caught.value)) < 500
        return caught.value


@pytest.fixture
async def wrong() -> AsyncIterator[Wrong]:
    async with serving(FaultyChat()) as server:
        yield Wrong(server)


FAULTS = [
    ("rate", NotSent, "http-429"),
    ("quota", Denied, "insufficient-quota"),
    ("error_500", Unanswered, "http-500"),
    ("error_503", Unanswered, "http-503"),
    ("conflict", Unanswered, "http-409"),
    ("no_key", Denied, "http-401"),
    ("no_access", Denied, "http-403"),
    ("no_page", Denied, "http-404"),
    ("no_model", Denied, "model-not-found"),
    ("bad_field", Denied, "http-400"),
    ("partial", Unanswered, "http-206"),
    ("garbage", Unanswered, "bad-protocol"),
    ("silence", Unanswered, "reset"),
    ("half_head", Unanswered, "reset"),
    ("reset_before", Unanswered, "reset"),
    ("reset_after", Unanswered, "broken-body"),
    ("never", Unanswered, "timeout"),
    ("drip", Unanswered, "timeout"),
    ("short", Unanswered, "broken-body"),
    ("long", Unanswered, "bad-json"),
    ("two_lengths", Unanswered, "bad-protocol"),
    ("bad_chunks", Unanswered, "broken-body"),
    ("half_chunks", Unanswered, "broken-body"),
    ("not_json", Unanswered, "bad-json"),
    ("half_json", Unanswered, "bad-json"),
    ("nan", Unanswered, "bad-completion"),
    ("deep", Unanswered, "bad-json"),
    ("number", Unanswered, "bad-json"),
    ("null", Unanswered, "bad-json"),
    ("empty_body", Unanswered, "bad-json"),
    ("not_utf8", Unanswered, "not-utf8"),
    ("no_charset", Unanswered, "unknown-charset"),
    ("odd_charset", Unanswered, "unknown-charset"),
    ("undefined_charset", Unanswered, "unknown-charset"),
    ("punycode_charset", Unanswered, "unknown-charset"),
    ("nul_charset", Unanswered, "unknown-charset"),
    ("utf16", Unanswered, "bad-encoding"),
    ("bad_gzip", Unanswered, "bad-encoding"),
    ("half_gzip", Unanswered, "bad-encoding"),
    ("bomb", Unanswered, "too-large"),
    ("bomb_in_bomb", Unanswered, "bad-encoding"),
    ("two_codings", Unanswered, "bad-encoding"),
    ("brotli", Unanswered, "bad-encoding"),
    ("fifty_megabytes", Unanswered, "too-large"),
    ("huge_header", Unanswered, "bad-protocol"),
    ("redirect_away", Denied, "redirect"),
    ("redirect_round", Denied, "redirect"),
    ("redirect_login", Denied, "redirect"),
    ("redirect_nowhere", Denied, "redirect"),
    ("no_choices", Unanswered, "no-choices"),
    ("error_object", Unanswered, "system-error"),
    ("half_stream", Unanswered, "broken-stream"),
    ("half_event", Unanswered, "broken-stream"),
    ("empty_stream", Unanswered, "broken-stream"),
    ("stream_reset", Unanswered, "broken-stream"),
    ("stream_drip", Unanswered, "timeout"),
    ("stream_without_end", Unanswered, "too-large"),
    ("line_without_end", Unanswered, "too-large"),
    ("stream_not_utf8", Unanswered, "not-utf8"),
    ("stream_not_json", Unanswered, "bad-json"),
    ("stream_error", Unanswered, "system-error"),
    ("stream_error_event", Unanswered, "system-error"),
    ("gave_up", Unanswered, "system-error"),
    ("stream_bare_error", Unanswered, "system-error"),
    ("done_only", Unanswered, "no-choices"),
    ("role_only", Unanswered, "broken-stream"),
    ("early_end", Unanswered, "broken-stream"),
    ("ends_reset", Unanswered, "broken-stream"),
    ("page_for_stream", Unanswered, "bad-json"),
    ("stream_as_json", Unanswered, "bad-json"),
]


@pytest.mark.parametrize(("name", "kind", "reason"), FAULTS, ids=[fault[0] for fault in FAULTS])
async def test_each_kind_of_misbehaviour_is_one_typed_error_in_time(
    wrong: Wrong, name: str, kind: type[DriverError], reason: str
) -> None:
    fault = await wrong.fault(name, stream=CATALOGUE[name].stream)
    assert (type(fault), fault.reason) == (kind, reason)
    assert name not in LATE or fault.detail == f"the reply was not complete after {TIMEOUT:g} s"
    kept = {exhibit.name for exhibit in fault.exhibits}
    if reason not in ("reset", "bad-protocol") and name != "never":
        assert "headers" in kept
        assert kept & {"response", "stream"}
    assert sum(len(exhibit.data) for exhibit in fault.exhibits) < 2 * 2**20


@pytest.mark.parametrize(
    "name",
    ["half_stream", "half_event", "stream_reset", "stream_drip", "stream_not_utf8", "stream_not_json", "stream_error"],
)
async def test_the_received_part_of_a_stream_is_kept(wrong: Wrong, name: str) -> None:
    fault = await wrong.fault(name, stream=True)
    assert fault.partial == "half a reply"
    stream = next(exhibit for exhibit in fault.exhibits if exhibit.name == "stream")
    assert stream.data.startswith(PART)


async def test_the_received_part_of_a_body_is_kept(wrong: Wrong) -> None:
    assert (await wrong.fault("short")).partial == GOOD
    assert (await wrong.fault("not_utf8")).partial == '{"choices": [{"message": {"content": "caf\ufffd"}}]}'


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("rate", None),
        ("rate_hour", 3600.0),
        ("rate_wait_ms", 0.25),
        ("rate_wait_nonsense", None),
        ("rate_wait_zone", None),
        ("rate_wait_year", None),
        ("rate_wait_digits", None),
        ("error_503", 3600.0),
    ],
)
async def test_the_wait_is_the_one_that_the_server_names(wrong: Wrong, name: str, seconds: float | None) -> None:
    assert (await wrong.fault(name)).retry_after == seconds


@pytest.mark.parametrize(("ahead", "least", "most"), [(60, 50, 60), (-60, 0, 0)])
async def test_the_wait_may_be_given_as_a_date(ahead: int, least: float, most: float) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)

    async def dated(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response("429 Too Many Requests", "", f"Retry-After: {moment}"))

    async with serving(dated) as server:
        fault = await Wrong(server).fault("rate")
    assert fault.retry_after is not None
    assert least <= fault.retry_after <= most


async def test_a_reply_that_said_it_was_complete_survives_a_stream_that_never_ends(wrong: Wrong) -> None:
    turn = await wrong.turn("whole_then_hangs", stream=True)
    assert (turn.answer.text, turn.finish) == ("half a reply", "stop")
    assert turn.pieces[-1][0] == turn.seconds, "it took as long as its last piece, and not until we hung up"


async def test_a_redirect_on_the_same_server_keeps_the_request(wrong: Wrong) -> None:
    turn = await wrong.turn("redirect_here")
    assert turn.answer.text == "fine"
    assert [asked.method for asked in wrong.server.asked] == ["POST", "POST"]
    assert wrong.server.asked[0].body == wrong.server.asked[1].body


async def test_a_filtered_prompt_is_a_reply_and_not_a_fault(wrong: Wrong) -> None:
    turn = await wrong.turn("filtered")
    assert (turn.answer.text, turn.finish) == ("", "content_filter")


async def test_a_bad_request_after_good_ones_is_the_conversations_fault() -> None:
    async def tires(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if len(asked.json["messages"]) > 3:
            writer.write(response("400 Bad Request", '{"error": {"code": "context_length_exceeded"}}'))
        else:
            await completions(asked, writer)

    async with serving(tires) as server:
        driver = Wrong(server).driver("v1")
        session = await driver.open(Opening("wrong", "M002", 1, 1))
        await session.say("turn")
        await session.say("turn")
        with pytest.raises(Unanswered, match="http-400"):
            await session.say("turn")
        await driver.close()


async def test_a_model_that_is_removed_is_denied_although_it_answered_before() -> None:
    async def leaves(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if len(asked.json["messages"]) > 1:
            writer.write(response("404 Not Found", '{"error": {"message": "gone"}}'))
        else:
            await completions(asked, writer)

    async with serving(leaves) as server:
        driver = Wrong(server).driver("v1")
        session = await driver.open(Opening("wrong", "M002", 1, 1))
        await session.say("turn")
        with pytest.raises(Denied, match="http-404"):
            await session.say("turn")
        await driver.close()


async def test_a_slow_start_is_awaited_but_silence_within_the_reply_is_bounded() -> None:
    async def pauses(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + PART)
        await writer.drain()
        await asyncio.sleep(3600)

    async with serving(pauses) as server:
        fault = await Wrong(server).fault("v1", stream=True, timeout=3600, read_timeout=0.3)
    assert (fault.reason, fault.partial) == ("timeout", "half a reply")
    assert fault.detail == "the server was silent for 0.3 s"


async def test_a_long_stream_keeps_a_bounded_number_of_time_stamps() -> None:
    count = 5000

    async def streams(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for _ in range(count):
            writer.write(chunk(content="é "))
        writer.write(b"data: [DONE]\n\n")

    async with serving(streams) as server:
        turn = await Wrong(server).turn("v1", stream=True, timeout=20)
    assert turn.answer.text == "é " * count
    assert MOST_PIECES / 2 <= len(turn.pieces) <= MOST_PIECES + 1
    assert turn.pieces[0][1] == 2
    assert turn.pieces[-1] == (turn.seconds, 2 * count)
    kept = [characters for _, characters in turn.pieces[:-1]]
    assert len({later - earlier for earlier, later in pairwise(kept)}) == 1, "evenly thinned"


async def test_a_name_that_does_not_exist_is_not_sent() -> None:
    fault = await Wrong(LocalServer("http://nowhere.invalid")).fault("v1", timeout=20)
    assert (type(fault), fault.reason) == (NotSent, "dns")


async def test_a_refused_connection_names_host_and_port() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # bound, and never listening: nothing else can answer there meanwhile
        address = f"127.0.0.1:{unheard.getsockname()[1]}"
        fault = await Wrong(LocalServer(f"http://{address}")).fault("v1")
    assert (type(fault), fault.reason) == (NotSent, "connect")
    assert fault.detail.startswith(f"no connection to {address}: ")


async def test_a_server_that_accepts_no_connection_is_not_sent() -> None:
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    waiting = []
    for _ in range(4):  # the queue of a listener that never accepts: once full, nobody is answered
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(full.getsockname())
        waiting.append(client)
    try:
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        fault = await Wrong(LocalServer(url)).fault("v1", timeout=3600, connect_timeout=0.3)
        assert (type(fault), fault.reason) == (NotSent, "connect")
        assert fault.detail == f"no connection to {url.removeprefix('http://')} within 0.3 s"
    finally:
        for each in (*waiting, full):
            each.close()


async def test_a_refusing_proxy_is_distinguished_from_the_system() -> None:
    async def proxy(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response("407 Proxy Authentication Required", ""))

    async with serving(proxy) as server:
        fault = await Wrong(LocalServer("https://system.invalid")).fault("v1", proxy=server.url)
        assert [asked.method for asked in server.asked] == ["CONNECT"]
    assert (type(fault), fault.reason) == (Denied, "proxy")


CERTIFICATE = DATA / "untrusted_certificate.pem"


async def test_an_untrusted_certificate_is_refused_and_a_named_one_is_trusted() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    async with serving(completions, context) as server:
        fault = await Wrong(server).fault("v1", timeout=20)
        assert (type(fault), fault.reason) == (Denied, "tls")
        assert server.asked == []
        turn = await Wrong(server).turn("v1", timeout=20, ca_file=str(CERTIFICATE))
        assert turn.answer.text == ""
        assert len(server.asked) == 1


async def test_cookies_and_credentials_of_the_environment_are_not_used(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    await wrong.turn("good")
    assert "authorization" not in wrong.server.asked[0].headers


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a":' * 50_000, "nested too deeply"),
        (f"[{'8' * 4_500}]", "a number has too many digits"),
        ("[1,", "Expecting value: line 1 column 4 (char 3)"),
    ],
)
def test_the_reason_why_a_text_is_not_json_names_no_limit_of_python(text: str, why: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as caught:
        json.loads(text)
    assert isinstance(caught.value, (ValueError, RecursionError))
    assert why_not_json(caught.value) == why
