"""What connections promise beyond what one request shows: nothing is sent twice, and no dead connection is used."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harvest.drivers.options import WireOptions
from harvest.drivers.received import Received
from harvest.drivers.wire import Request, Wire
from harvest.systems.driver import Denied, DriverError, NotSent, Surroundings, Unanswered
from harvest.systems.timing import Stopwatch
from recordings.log.own_loop import LONG
from tests.servers.local_http import Asked, serving

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
FINE = HEAD + b"Content-Length: 4\r\n\r\nfine"


@asynccontextmanager
async def wired(**options: object) -> AsyncIterator[Wire]:
    wire = Wire(WireOptions.model_validate({"timeout": 5, **options}), Surroundings("one", Path()))
    try:
        yield wire
    finally:
        await wire.close()


async def fault(wire: Wire, request: Request) -> DriverError:
    with pytest.raises(DriverError) as caught:
        await wire.ask(request)
    return caught.value


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
async def test_a_turn_lost_on_a_kept_connection_is_not_sent_again(method: str) -> None:
    async def once(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if len(server.asked) == 1:
            writer.write(FINE)
        else:
            writer.close()

    async with serving(once) as server, wired() as wire:
        await wire.ask(Request("POST", server.url))
        lost = await fault(wire, Request(method, server.url))
        assert (type(lost), lost.reason) == (Unanswered, "reset")
        assert len(server.asked) == 2


@pytest.mark.parametrize("size", [0, 1, 2**20, 2**20 + 1, 12 * 2**20])
async def test_a_request_of_any_size_is_sent_unchanged(size: int) -> None:
    async def fine(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(FINE)

    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    async with serving(fine) as server, wired(timeout=60) as wire:
        assert (await wire.ask(Request("POST", server.url, content=content))).body == b"fine"
    (asked,) = server.asked
    assert asked.body == content
    assert asked.headers.get("content-length") == str(size)
    assert "transfer-encoding" not in asked.headers


async def test_turns_share_a_connection() -> None:
    peers = []

    async def fine(asked: Asked, writer: asyncio.StreamWriter) -> None:
        peers.append(writer.get_extra_info("peername"))
        writer.write(FINE)

    async with serving(fine) as server, wired() as wire:
        for _ in range(3):
            assert (await wire.ask(Request("POST", server.url, {}, b"{}"))).body == b"fine"
    assert len(peers) == 3
    assert len(set(peers)) == 1


async def test_a_connection_that_was_closed_while_idle_loses_no_turn() -> None:
    writers = []

    async def fine(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        writer.write(FINE)

    async with serving(fine) as server, wired() as wire:
        for number in range(3):
            assert (await wire.ask(Request("POST", server.url))).body == b"fine"
            assert len(server.asked) == number + 1
            writers[-1].close()
            # The loop is busy meanwhile: the good-bye has arrived, and nobody has read it.
            writers[-1].transport.abort()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            time.sleep(0.02)  # noqa: ASYNC251


async def test_a_chunk_that_is_wrong_in_a_later_packet_breaks_the_reply_at_once() -> None:
    async def wrong(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.write(b"zz\r\nnonsense\r\n")
        await writer.drain()
        await asyncio.sleep(5)

    async with serving(wrong) as server, wired() as wire:
        async with asyncio.timeout(2):
            broken = await fault(wire, Request("POST", server.url))
        assert (type(broken), broken.reason) == (Unanswered, "broken-body")
        assert broken.partial == "half"


@pytest.mark.parametrize("cut", range(1, len(HEAD) + 24, 7))
async def test_a_head_is_read_however_it_is_split_and_whatever_precedes_it(cut: int) -> None:
    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        whole = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + FINE
        writer.write(whole[:cut])
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(whole[cut:])

    async with serving(slow) as server, wired() as wire:
        received = await wire.ask(Request("POST", server.url))
        assert (received.status, received.body) == (200, b"fine")


async def test_urls_and_headers_are_sent_as_they_are_given() -> None:
    async def fine(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(FINE)

    async with serving(fine) as server, wired(headers={"X-One": "1"}) as wire:
        await wire.ask(Request("POST", f"{server.url}/a%2Fb/%7Ec?q=%20+&q=%C3%A9", {"X-Two": "2"}, b"body"))
    (asked,) = server.asked
    assert asked.target == "/a%2Fb/%7Ec?q=%20+&q=%C3%A9"
    assert asked.headers["accept-encoding"] == "identity"
    assert (asked.headers["x-one"], asked.headers["x-two"]) == ("1", "2")
    assert "content-type" not in asked.headers


async def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password none\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))

    async def fine(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(FINE)

    async with serving(fine) as server, wired() as wire:
        assert (await wire.ask(Request("POST", server.url))).body == b"fine"
    assert "authorization" not in server.asked[0].headers


async def test_a_named_proxy_is_used_with_its_name_and_password(monkeypatch: pytest.MonkeyPatch) -> None:
    async def proxied(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(FINE)

    async with serving(proxied) as proxy:
        monkeypatch.setenv("A_PROXY", proxy.url.replace("http://", "http://ada:word@"))
        async with wired(proxy={"env": "A_PROXY"}) as wire:
            for _ in range(2):
                assert (await wire.ask(Request("POST", "http://system.invalid/chat"))).body == b"fine"
    assert [asked.target for asked in proxy.asked] == ["http://system.invalid/chat"] * 2
    assert [asked.headers["proxy-authorization"] for asked in proxy.asked] == ["Basic YWRhOndvcmQ="] * 2


@pytest.mark.parametrize(("status", "kind"), [("407 Who are you", Denied), ("502 Bad Gateway", NotSent)])
async def test_a_proxy_that_opens_no_tunnel_has_received_no_turn(
    monkeypatch: pytest.MonkeyPatch, status: str, kind: type[DriverError]
) -> None:
    async def refusing(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())

    async with serving(refusing) as proxy:
        monkeypatch.setenv("A_PROXY", proxy.url.replace("http://", "http://ada:word@"))
        async with wired(proxy={"env": "A_PROXY"}) as wire:
            refused = await fault(wire, Request("POST", "https://system.invalid/chat", {"X-Key": "of the system"}))
    assert (type(refused), refused.reason) == (kind, "proxy")
    (asked,) = proxy.asked
    assert (asked.method, asked.target) == ("CONNECT", "system.invalid:443")
    assert asked.headers["proxy-authorization"] == "Basic YWRhOndvcmQ="
    assert "x-key" not in asked.headers


def test_an_audit_that_is_only_checked_needs_no_connections() -> None:
    code = (
        "import sys; from pathlib import Path; from harvest.drivers.registry import build_driver; "
        "from harvest.systems.driver import Surroundings; "
        "build_driver('openai', {'base_url': 'http://127.0.0.1:1', 'model': 'm'}, Surroundings('one', Path())); "
        "sys.exit('aiohttp' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ), timeout=60)


async def test_a_header_of_the_audit_replaces_ours_in_any_case() -> None:
    async def fine(asked: Asked, writer: asyncio.StreamWriter) -> None:
        names.extend(asked.headers)
        writer.write(FINE)

    names: list[str] = []
    async with serving(fine) as server, wired(headers={"user-agent": "mine", "ACCEPT": "text/plain"}) as wire:
        await wire.ask(Request("POST", server.url))
    assert (server.asked[0].headers["user-agent"], server.asked[0].headers["accept"]) == ("mine", "text/plain")
    assert sorted(names) == ["accept", "accept-encoding", "connection", "content-length", "host", "user-agent"]


@pytest.mark.parametrize("headers", [(), (("A", '"\\é\x7f'),), (("A", "1"), ("B", "2"), ("B", ""))])
def test_the_exhibit_of_a_head_has_unchanged_json(headers: tuple[tuple[str, str], ...]) -> None:
    received = Received('http://a/é"', 200, headers, b"", Stopwatch())
    head = {"url": received.url, "status": 200, "headers": [list(pair) for pair in headers]}
    assert received.exhibits[0].data == json.dumps(head, ensure_ascii=False, indent=1).encode()


async def test_reading_a_reply_counts_in_the_time_for_its_turn() -> None:
    received = Received("http://h/", 200, (), b" " * LONG, Stopwatch())
    received.watch.mark()
    assert await received.read_in_time(60, lambda: "read") == "read"
    with pytest.raises(Unanswered, match="could not be read within the time") as caught:
        await received.read_in_time(0.05, lambda: time.sleep(0.3))
    assert caught.value.reason == "timeout"
    assert [exhibit.name for exhibit in caught.value.exhibits] == ["headers", "response"]
