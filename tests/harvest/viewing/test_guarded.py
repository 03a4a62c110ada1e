"""What the view refuses, over real connections: everything but the page's own requests. And what it never changes."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from harvest.serving.guard import HEADERS
from harvest.serving.server import bind
from harvest.viewing.viewer import view
from tests.support.checkout import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")
SAMPLE = ROOT / "recordings" / "samples" / "run-1"
NONE = "0" * 32


@dataclass
class Served:
    folder: Path
    port: int
    token: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    folder = tmp_path_factory.mktemp("viewed")
    shutil.copytree(SAMPLE, folder / "run one")
    (folder / "secret.txt").write_text("the secret")
    listening = bind(0)
    port = int(listening.getsockname()[1])
    links: asyncio.Queue[str] = asyncio.Queue()
    task = asyncio.create_task(view(folder, listening, links.put_nowait))
    try:
        yield Served(folder, port, (await asyncio.wait_for(links.get(), 20)).partition("#")[2])
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        listening.close()


async def asked(
    served: Served, path: str, method: str = "GET", without: tuple[str, ...] = (), **different: str
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers by name in lower case, and body, or its first part, of the answer. different: headers."""
    headers = {
        "Host": f"127.0.0.1:{served.port}",
        "Harvest-Token": served.token,
        "Sec-Fetch-Site": "same-origin",
        **{name.replace("_", "-"): value.format(port=served.port) for name, value in different.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if name not in without)
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        writer.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode())
        async with asyncio.timeout(20):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            found = dict(row.lower().split(": ", 1) for row in head[1:] if row)
            if "content-length" in found:
                body = await reader.readexactly(int(found["content-length"]))
            else:
                body = await reader.readexactly(int(await reader.readline(), 16))
        return int(head[0].split()[1]), found, body
    finally:
        writer.close()


async def key_of(served: Served) -> str:
    _, _, body = await asked(served, "/api/news")
    return str(json.loads(body)["runs"][0]["key"])


API = ("/api/news", f"/api/runs/{NONE}", f"/api/runs/{NONE}/conversation", f"/api/histories/{NONE}")
JUDGING, JUDGE = f"/api/runs/{NONE}/judging", f"/api/runs/{NONE}/judge"
OWN = "http://127.0.0.1:{port}"
REPORTS = (f"/reports/{NONE}/report.html", f"/reports/{NONE}/report-files/0000.js")
PICTURE = f"/reports/{NONE}/run/evidence/00/{'0' * 40}.png"
SOME = ("/", "/api/news", REPORTS[0])
HOSTS = ("evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}")
ORIGINS = ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}")
METHODS = ("POST", "PUT", "DELETE", "OPTIONS")
TRAVERSALS = (
    "/secret.txt",
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "//etc/passwd",
    "/etc/passwd",
    "/view.py",
    "/page.html",
    "/style.css",
    "/report.css/",
    "/api",
    "/api/",
    "/api/news/",
    "/api/runs",
    "/api/runs/",
    "/api/runs/../news",
    f"/api/runs/{NONE}/",
    f"/api/runs/{NONE[1:]}",
    f"/api/runs/{NONE}0",
    f"/api/runs/{NONE.replace('0', 'A')}",
    f"/api/runs/{NONE}/conversation/",
    f"/api/runs/{NONE}%2fconversation",
    "/api/histories/",
    "/reports/",
    "/reports/report.html",
    f"/reports/{NONE}",
    f"/reports/{NONE}/",
    f"/reports/{NONE}/run.json",
    f"/reports/{NONE}/trials-000001.jsonl",
    f"/reports/{NONE}/../../secret.txt",
    f"/reports/{NONE}/report-files/../../secret.txt",
    f"/reports/{NONE}/report-files/0000.html",
    f"/reports/{NONE}/report-files/%2e%2e%2f0000.js",
    f"/reports/{NONE}+/report.html",
    f"/reports/{'+'.join([NONE] * 9)}/report.html",
    f"/reports/{NONE}/evidence/00/{'0' * 40}.html",
    f"/reports/{NONE}/evidence/00/{'0' * 39}.png",
    f"/reports/{NONE}/evidence/000/{'0' * 40}.png",
    f"/reports/{NONE}/evidence/00/{'0' * 40}.svg",
)


@pytest.mark.parametrize(
    ("status", "path", "different"),
    [
        *((404, path, {}) for path in TRAVERSALS),
        *((401, path, {"without": ("Harvest-Token",)}) for path in API),
        *((401, path, {"Harvest_Token": token}) for path in API for token in ("", "x" * 32)),
        (401, "/api/news", {"without": ("Harvest-Token",), "Cookie": "token=1"}),
        (401, "/api/news?token=1", {"without": ("Harvest-Token",)}),
        *((404, path, {}) for path in (*API[1:], *REPORTS, PICTURE)),
        (401, JUDGING, {"without": ("Harvest-Token",)}),
        (403, JUDGE, {"method": "POST"}),
        (403, JUDGE, {"method": "POST", "Origin": "http://evil.example"}),
        (401, JUDGE, {"method": "POST", "Origin": OWN, "without": ("Harvest-Token",)}),
        (405, JUDGE, {}),
        (415, JUDGE, {"method": "POST", "Origin": OWN}),
        (415, JUDGE, {"method": "POST", "Origin": OWN, "Content_Type": "text/plain"}),
        (400, JUDGE, {"method": "POST", "Origin": OWN, "Content_Type": "application/json"}),
        *((421, path, {"Host": host}) for path in SOME for host in HOSTS),
        *((400, path, {"Host": "a@127.0.0.1:{port}"}) for path in SOME),
        *((403, path, {"Origin": origin}) for path in SOME for origin in ORIGINS),
        *((403, path, {"Sec_Fetch_Site": site}) for path in (*SOME, PICTURE) for site in ("cross-site", "same-site")),
        *((403, path, {"method": "POST"}) for path in ("/", *API, *REPORTS)),
        *((405, path, {"method": method, "Origin": "http://127.0.0.1:{port}"}) for path in SOME for method in METHODS),
    ],
)
async def test_a_request_that_is_not_of_the_page_is_refused(
    served: Served, status: int, path: str, different: dict[str, str]
) -> None:
    found, headers, body = await asked(served, path, **different)  # type: ignore[arg-type]  # of the table above
    assert found == status
    assert served.token.encode() not in body
    assert b"the secret" not in body
    assert not {"set-cookie", "location", "server", "access-control-allow-origin"} & set(headers)
    for name, value in HEADERS:
        if name != b"content-security-policy":
            assert headers[name.decode()] == value.decode().lower()
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_files_of_a_run_are_not_served_even_to_somebody_who_knows_its_key(served: Served) -> None:
    key = await key_of(served)
    for path in (
        "run.json",
        "trials-000001.jsonl",
        "../secret.txt",
        "run%20one/run.json",
        "run%20one/evidence/00/x.png",
    ):
        status, _, body = await asked(served, f"/reports/{key}/{path}")
        assert (status, b"the secret" in body) == (404, False)


@pytest.mark.parametrize(
    "query", ["", "system=A", "system=A&topic=T&trial=x", "system=A&topic=T&trial=-1", "trial=" + "9" * 40]
)
async def test_a_missing_conversation_is_reported_as_gone(served: Served, query: str) -> None:
    status, _, body = await asked(served, f"/api/runs/{await key_of(served)}/conversation?{query}")
    assert (status, json.loads(body)) == (404, {"error": "this conversation is not there any more"})


async def test_there_is_no_websocket(served: Served) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "MTIzNDU2Nzg5MDEyMzQ1Ng==",
    }
    for path in ("/", "/api/news"):
        status, _, _ = await asked(served, path, **upgrade)  # type: ignore[arg-type]
        assert status == 200, "as if nobody had asked for one"


async def test_the_page_reveals_nothing_about_the_runs_and_loads_only_its_own_files(served: Served) -> None:
    own = [f"/{file.name}" for file in (ROOT / "harvest" / "viewing" / "page").iterdir() if file.suffix != ".html"]
    assert len(own) > 5
    for path in ("/", "/report.css", "/reading.js", *own):
        status, headers, body = await asked(served, path, without=("Harvest-Token",))
        assert (status, b"run one" in body) == (200, False)
        assert "unsafe" not in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]


async def test_everything_is_read_and_nothing_in_the_folder_is_changed(served: Served) -> None:
    def state() -> dict[str, tuple[str, int]]:
        files = [file for file in served.folder.rglob("*") if file.is_file()]
        return {str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in files}

    before = state()
    key = await key_of(served)
    status, headers, body = await asked(served, f"/reports/{key}/report.html", without=("Harvest-Token",))
    assert (status, headers["content-type"], b"Harvest report" in body) == (200, "text/html; charset=utf-8", True)
    _, _, told = await asked(served, f"/api/runs/{key}")
    system, topic, trial, attempt = json.loads(told)["attempts"][0][:4]
    query = f"system={system}&topic={topic}&trial={trial}&attempt={attempt}"
    status, _, told = await asked(served, f"/api/runs/{key}/conversation?{query}")
    assert (status, json.loads(told)["attempt"]) == (200, attempt)
    assert state() == before
