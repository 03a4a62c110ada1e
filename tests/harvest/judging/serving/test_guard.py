"""What the page's server refuses, over real connections: everything but the page's own requests, each with the status
that says why."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from harvest.serving import guard, server
from harvest.serving.guard import HEADERS, LARGEST_BODY
from recordings.judged.decisions import read_decisions
from recordings.log import journal
from tests.support.checkout import ROOT
from tests.support.judged_page import ServedPage, served

FOLLOWED = {
    "method": "GET",
    "Sec_Fetch_Site": "same-site",
    "Sec_Fetch_Mode": "navigate",
    "Sec_Fetch_Dest": "document",
}
"""A link on a page of another port was followed."""

DECISION = {"id": "0" * 16, "question": "?", "value": 1, "note": ""}


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServedPage]:
    """Nothing is decided on it."""
    run = Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path_factory.mktemp("page") / "run"))
    async with served(run, ["Fluency"]) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def own(tmp_path: Path) -> AsyncIterator[ServedPage]:
    """Of one test."""
    run = Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run"))
    async with served(run, ["Fluency"]) as found:
        yield found


async def asked(page: ServedPage, data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers by name in lower case, and body of the first answer to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
    try:
        writer.write(data)
        await writer.drain()
        async with asyncio.timeout(15):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(row.lower().split(": ", 1) for row in head[1:] if row)
            length = headers.get("content-length")
            body = await reader.readexactly(int(length)) if length else await reader.read()
        return int(head[0].split()[1]), headers, body
    finally:
        writer.close()


def request(
    page: ServedPage,
    method: str = "POST",
    path: str = "/api/answers",
    body: bytes = json.dumps(DECISION).encode(),
    without: tuple[str, ...] = (),
    extra: str = "",
    **different: str,
) -> bytes:
    """One that would be taken, but for what is different, left out or added."""
    headers: Mapping[str, str] = {
        "Host": f"127.0.0.1:{page.port}",
        "Origin": f"http://127.0.0.1:{page.port}",
        "Harvest-Token": page.tokens["anna"],
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Sec-Fetch-Site": "same-origin",
    }
    named = {name.replace("_", "-"): value for name, value in different.items()}
    told = {name: value for name, value in {**headers, **named}.items() if name not in without}
    lines = "".join(f"{name}: {value.format(port=page.port)}\r\n" for name, value in told.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}{extra.format(port=page.port)}\r\n".encode() + body


@pytest.mark.parametrize(
    ("status", "different"),
    [
        (401, {"without": ("Harvest-Token",)}),
        (401, {"Harvest_Token": "x" * 32}),
        (401, {"Harvest_Token": ""}),
        (401, {"without": ("Harvest-Token",), "method": "GET", "path": "/api/work"}),
        (401, {"without": ("Harvest-Token",), "extra": "Cookie: token=1\r\n"}),
        (421, {"Host": "evil.example"}),
        (421, {"Host": "evil.example:{port}"}),
        (421, {"Host": "127.0.0.1"}),
        (421, {"Host": "127.0.0.1:1"}),
        (421, {"Host": "127.0.0.1.evil.example:{port}"}),
        (421, {"Host": "evil.example", "method": "GET", "path": "/"}),
        (400, {"without": ("Host",)}),
        (400, {"extra": "Host: 127.0.0.1:{port}\r\n"}),
        (400, {"Host": "127.0.0.1:{port}/api/work?"}),
        (400, {"Host": "a@127.0.0.1:{port}"}),
        (403, {"Origin": "http://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://127.0.0.1:1"}),
        (403, {"Origin": "https://127.0.0.1:{port}"}),
        (403, {"without": ("Origin",)}),
        (403, {"extra": "Origin: http://127.0.0.1:{port}\r\n"}),
        (403, {"Origin": "http://evil.example", "Host": "127.0.0.1:{port}", "method": "GET", "path": "/api/work"}),
        (403, {"Sec_Fetch_Site": "cross-site"}),
        (403, {"Sec_Fetch_Site": "same-site"}),
        (403, {"Sec_Fetch_Site": "cross-site", "method": "GET", "path": "/page.js"}),
        (403, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "method": "GET", "path": "/"}),
        (403, {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors", "method": "GET", "path": "/"}),
        (403, {**FOLLOWED, "Sec_Fetch_Dest": "iframe", "path": "/"}),
        (403, {**FOLLOWED, "path": "/api/work"}),
        (415, {"Content_Type": "text/plain"}),
        (415, {"Content_Type": "application/x-www-form-urlencoded"}),
        (415, {"Content_Type": "multipart/form-data; boundary=x"}),
        (415, {"without": ("Content-Type",)}),
        (405, {"method": "PUT"}),
        (405, {"method": "DELETE"}),
        (405, {"method": "OPTIONS"}),
        (405, {"method": "GET"}),
        (405, {"path": "/"}),
        (405, {"path": "/api/work"}),
        (404, {"path": "/api/answers/"}),
        (404, {"path": "//api/answers"}),
        (404, {"path": "/../../etc/passwd"}),
        (404, {"path": "/%2e%2e/page.js"}),
        (404, {"method": "GET", "path": "/guard.py"}),
        (404, {"method": "GET", "path": "/api/questions/../work"}),
        (413, {"body": b" " * (LARGEST_BODY + 1)}),
        (413, {"body": b" " * 2**20}),
        (413, {"body": b"", "Content_Length": "9" * 15}),
        (400, {"body": b"{"}),
        (400, {"body": b"[]"}),
        (400, {"body": b"[" * 60_000}),
        (400, {"body": b"\xff\xfe"}),
        (400, {"body": b'{"id": 1}'}),
        (400, {"body": b'{"id": "0000000000000000", "undo": "short"}'}),
        (404, {"body": b'{"id": "0000000000000000", "undo": "1111111111111111"}'}),
        (404, {}),  # all is right but for the question
    ],
)
async def test_a_request_that_is_not_from_the_page_is_refused(
    page: ServedPage, status: int, different: dict[str, str]
) -> None:
    found, headers, body = await asked(page, request(page, **different))  # type: ignore[arg-type]  # of the table above
    assert found == status
    assert page.tokens["anna"].encode() not in body
    assert "set-cookie" not in headers
    assert "location" not in headers
    assert list((page.run / "decisions").glob("*.jsonl")) == []


async def test_a_body_in_chunks_is_bounded_too(page: ServedPage) -> None:
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    head = request(page, body=b"", without=("Content-Length",), extra="Transfer-Encoding: chunked\r\n")
    status, _, _ = await asked(page, head + chunk * 5)
    assert status == 413


async def test_a_body_that_never_ends_is_not_awaited(page: ServedPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.1)
    status, _, _ = await asked(page, request(page, body=b"{", Content_Length="1000"))
    assert status == 408


async def test_there_is_no_websocket(page: ServedPage) -> None:
    extra = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    extra += "Sec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n"
    for path in ("/", "/api/work", "/ws"):
        status, _, _ = await asked(page, request(page, "GET", path, b"", extra=extra, without=("Content-Length",)))
        assert status != 101


async def test_a_websocket_that_a_server_would_offer_is_closed_before_it_is_accepted() -> None:
    sent: list[dict[str, object]] = []

    async def nothing(*_: object) -> dict[str, object]:
        raise AssertionError("the application must not see it")

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message)

    stands = guard.Guard(nothing, guard.Addresses(1), {}, ())  # type: ignore[arg-type]  # is never called
    await stands({"type": "websocket", "path": "/api/work", "headers": []}, nothing, send)
    assert [one["type"] for one in sent] == ["websocket.close"]


@pytest.mark.parametrize(
    ("path", "kind"), [("/", "text/html"), ("/page.js", "text/javascript"), ("/page.css", "text/css")]
)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_the_page_is_served_under_each_of_its_names_and_reveals_nothing_about_the_run(
    page: ServedPage, path: str, kind: str, host: str
) -> None:
    data = f"GET {path} HTTP/1.1\r\nHost: {host}:{page.port}\r\nSec-Fetch-Site: none\r\n\r\n".encode()
    status, headers, body = await asked(page, data)
    assert (status, headers["content-type"]) == (200, f"{kind}; charset=utf-8")
    assert b"anna" not in body
    assert b"imdb" not in body.lower()


async def test_a_link_on_another_page_of_this_machine_leads_to_the_page(page: ServedPage) -> None:
    assert (await asked(page, request(page, path="/", body=b"", **FOLLOWED)))[0] == 200  # type: ignore[arg-type]


async def test_every_answer_has_headers_that_isolate_the_page(page: ServedPage) -> None:
    for data in (
        request(page, "GET", "/", b"", without=("Content-Length",)),
        request(page, "GET", "/api/work", b"", without=("Content-Length",)),
        request(page, "GET", "/nothing", b""),
        request(page, Host="evil.example"),
        request(page),
    ):
        _, headers, _ = await asked(page, data)
        for name, value in HEADERS:
            assert headers[name.decode()] == value.decode().lower()
        assert "server" not in headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]


async def test_no_judge_sees_another_judges_answers(own: ServedPage) -> None:
    _, _, told = await asked(own, request(own, "GET", "/api/work", b"", without=("Content-Length",)))
    question = json.loads(told)["questions"][0][0]
    body = json.dumps({"id": "1" * 16, "question": question, "value": 0.5, "note": "a word of anna"}).encode()
    assert (await asked(own, request(own, body=body)))[0] == 200
    status, _, told = await asked(
        own,
        request(own, "GET", "/api/work", b"", without=("Content-Length",), Harvest_Token=own.tokens["ben"]),
    )
    work = json.loads(told)
    assert (status, work["person"], work["states"], work["made"]) == (200, "ben", {}, [])
    assert b"a word of anna" not in told
    undo = json.dumps({"id": "2" * 16, "undo": "1" * 16}).encode()
    assert (await asked(own, request(own, body=undo, Harvest_Token=own.tokens["ben"])))[0] == 404


async def test_a_full_disk_is_reported_and_nothing_is_reported_as_saved(
    own: ServedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "fsync_file", full)
    _, _, told = await asked(own, request(own, "GET", "/api/work", b"", without=("Content-Length",)))
    question = json.loads(told)["questions"][0][0]
    body = json.dumps({"id": "1" * 16, "question": question, "value": 0.5, "note": ""}).encode()
    for _ in range(2):
        status, _, told = await asked(own, request(own, body=body))
        assert (status, b"No space left" in told, b"harvest" in told.lower()) == (507, True, False)
        assert str(own.run).encode() not in told
        assert b"decisions" not in told
    monkeypatch.undo()
    for _ in range(2):  # once there is room, without a restart; the second time it is known
        status, _, told = await asked(own, request(own, body=body))
        assert (status, json.loads(told)["progress"]["done"]) == (200, 1)
    assert [one.id for one in read_decisions(own.run).standing] == ["1" * 16]


async def half_requests(page: ServedPage, number: int, data: bytes) -> list[asyncio.StreamWriter]:
    opened = []
    for _ in range(number):
        _, writer = await asyncio.open_connection("127.0.0.1", page.port)
        writer.write(data)
        opened.append(writer)
    return opened


async def test_half_requests_block_nobody(page: ServedPage) -> None:
    opened = []
    for data in (b"GET / HTTP/1.1\r\nHost: 127", b"", b"P"):
        opened += await half_requests(page, 130, data)
        status, _, _ = await asked(page, request(page, "GET", "/api/work", b"", without=("Content-Length",)))
        assert status == 200
    for writer in opened:
        writer.close()


async def test_half_a_request_is_not_awaited_for_ever(page: ServedPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.TimedConnection, "head_seconds", 0.3)
    whole = request(page, "GET", "/api/work", b"", without=("Content-Length",))
    for before in (b"", whole):  # also after a whole one
        reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
        writer.write(before)
        if before:
            await reader.readuntil(b"\r\n\r\n")
        async with asyncio.timeout(10):
            for letter in whole[:-4].decode():  # a letter now and then moves the end no further
                if writer.is_closing() or reader.at_eof():
                    break
                writer.write(letter.encode())
                await asyncio.sleep(0.02)
            with contextlib.suppress(ConnectionError):
                while await reader.read(4096):
                    pass
        writer.close()
    assert (await asked(page, whole))[0] == 200
