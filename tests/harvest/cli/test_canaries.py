"""Secrets given in every way, echoed by systems in every way: none of them stands in anything that is written.

Everything is a real run over real sockets; what is searched is every file that a command left behind, and every word
that it printed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.recordings.secrets.test_redaction import encodings, leaks
from tests.servers.local_http import STREAM_HEAD, Asked, chunk, response, serving
from tests.support.command_line import harvest
from tests.support.listening import listening

CANARIES = {
    "CANARY_KEY": "kq7-Wv3xZr0pLm82TnYbHs5d",
    "CANARY_HEADER": "hd4/Jc9+Qe6uXa1fRk7oGi2w==",
    "CANARY_COOKIE": "ck5_Bn2vDt8yMz3sPj6qLe0h",
    "CANARY_QUERY": "qy8 Fw1&Uo4?Sa7=Ix0%Kc5z",
    "CANARY_BODY": 'bd6"Gp3\\Ny9<Vr2>Tl5\u00fcOe8m',
    "CANARY_FORM": "fm1~Zh7*Lq4!Ck0'Jd3$Wu9p",
    "CANARY_PROXY": "px2.Ea6-Rb9_Sf3.Mt0-Hv8c",
    "CANARY_PROGRAM": "pg9Xi4Ow7Qn1Ty6Dl3Az0Bk5",
    "CANARY_WORDS": "wd3-Uc8rGe5hPo2kJm7vFy1n",
    "CANARY_NUGGETS": "ng0-Ls6tKb3wRa9xCq4zVd7j",
}
"""By the environment variable that holds it."""
ELSEWHERE = ("CANARY_WORDS", "CANARY_NUGGETS")
"""Those of endpoints that other commands ask."""
KEYS = [secret for name, secret in CANARIES.items() if name not in ELSEWHERE]


def every_form(*secrets: str) -> str:
    return " ".join(form for secret in secrets for form in encodings(secret).values())


EVERYTHING = every_form(*KEYS)
CALM = ("answer", "links", "fields", "stream", "body", "form", "proxy", "program")
"""Systems that always answer: only such a run can be a baseline. They are given every secret that is echoed."""
LEFT = 12
"""Characters that no cut may leave of a secret."""
PAD = "The request was refused because of its key, which is not one of ours; see the pages about keys. " * 4


def answered(text: str, **fields: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return response("200 OK", json.dumps({"choices": [choice], **fields}))


def streamed(text: str, size: int, *, whole: bool = True) -> bytes:
    pieces = [chunk(content=text[start : start + size]) for start in range(0, len(text), size)]
    return STREAM_HEAD + b"".join(pieces) + (chunk(finish_reason="stop") + b"data: [DONE]\n\n" if whole else b"")


def cut(secret: str, most: int, left: int) -> str:
    """A text of which an excerpt of so many characters ends `left` characters into the secret."""
    return (PAD * 3)[: most - left].rstrip().ljust(most - left, ".") + secret + " is not known"


def safe(secret: str) -> str:
    """As it may stand in a header."""
    return secret if secret.isascii() else quote(secret)


def echoes() -> dict[str, bytes]:
    """Ways in which a server can give back what it was sent, by the path that asks for them."""
    keys = KEYS
    line = " ".join(map(safe, keys))
    found = {
        "answer": answered(EVERYTHING),
        "links": answered(" ".join(f"[{key}](https://h.example/?x={quote(key)})" for key in keys)),
        "fields": answered("fine", model=keys[0], id=keys[1], system_fingerprint=keys[2], usage={keys[3]: 1}),
        "stream": streamed(EVERYTHING, 7),
        "stream-letters": streamed(" ".join(keys), 1),
        "stream-broken": streamed(EVERYTHING, 11, whole=False),
        "error-500": response("500 Internal Server Error", line + EVERYTHING, media_type="text/plain"),
        "error-json": response("400 Bad Request", json.dumps({"error": {"code": keys[0], "message": EVERYTHING}})),
        "error-object": response("200 OK", json.dumps({"error": {"message": line}})),
        "denied": response("401 Unauthorized", json.dumps({"error": {"message": f"no such key: {keys[0]}"}})),
        "not-json": response("200 OK", f"<html>{EVERYTHING}</html>"),
        "not-utf8": response("200 OK", EVERYTHING.encode() + b"\xff"),
        "charset": response("200 OK", "x", media_type=f"application/json; charset={keys[0]}"),
        "coding": response("200 OK", "x", f"Content-Encoding: {keys[0]}"),
        "headers": response("503 Service Unavailable", "", f"X-Echo: {line}", f"Set-Cookie: a={keys[2]}"),
        "redirect": response("302 Found", "", f"Location: https://other.example/?k={quote(keys[3])}&l={keys[0]}"),
        "not-http": f"{line}\r\n\r\n".encode("latin-1", "replace"),
        "finish": response(
            "200 OK", json.dumps({"choices": [{"message": {"content": "fine"}, "finish_reason": keys[0]}]})
        ),
    }
    for name in ELSEWHERE:
        found[name] = response("401 No", f"{CANARIES[name]} {every_form(CANARIES[name])}")
    for number, key in enumerate(keys[:3]):
        found[f"cut-{number}"] = response("500 Oops", cut(key, 199, 15), media_type="text/plain")
    found["cut-json"] = response("200 OK", cut(keys[0], 199, 15))
    found["cut-stream"] = STREAM_HEAD + b"data: " + cut(keys[0], 199, 15).encode() + b"\n\n"
    found["cut-choice"] = response("200 OK", json.dumps({"choices": [cut(keys[0], 77, 15)]}))
    return found


ECHOES = echoes()


@contextlib.contextmanager
def gossip() -> Iterator[tuple[str, list[Asked]]]:
    """A server that tells all it knows; its address, and what it was asked."""
    ready, over = threading.Event(), threading.Event()
    told: list[Any] = []

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked.target.split("?")[0].removeprefix("http://").split("/")[1]
        writer.write(ECHOES.get(name, ECHOES["answer"]))
        await writer.drain()
        writer.close()

    async def serve() -> None:
        async with serving(handler) as server:
            told.extend((server.url, server.asked))
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait(30)
    try:
        yield told[0], told[1]
    finally:
        over.set()
        thread.join()


PROGRAM = """\
import os, sys
for line in sys.stdin:
    print(os.environ["TOKEN"], file=sys.stderr, flush=True)
    print("I know", os.environ["TOKEN"], flush=True)
"""
BOT = """\
import os
def answer(text):
    raise ValueError("no access with " + os.environ["CANARY_KEY"])
"""
WORDED = """\
format: harvest-protocol/1
name: worded
version: 1
turn_limit: 2
users:
  visitor:
    simulator: llm
    over: {simulator: agenda, patience: 2}
start: visit
states:
  visit:
    user: visitor
    edges:
      - {otherwise: true, label: o, go: visit}
"""


def write_audit(folder: Path, url: str) -> None:
    systems: list[dict[str, Any]] = []
    for name in (name for name in ECHOES if name not in ELSEWHERE):
        options = {"base_url": f"{url}/{name}", "model": "m", "api_key_env": "CANARY_KEY", "timeout": 20.0}
        systems.append({"name": name, "driver": "openai", "options": {**options, "stream": "stream" in name}})
    asked = {
        "url": f"{url}/answer/",
        "headers": {
            "X-Token": {"env": "CANARY_HEADER", "prefix": "Token "},
            "Cookie": {"env": "CANARY_COOKIE", "prefix": "sid="},
        },
        "query": {"k": {"env": "CANARY_QUERY"}},
        "reply": "$.choices[0].message.content",
    }
    systems += [
        {"name": "body", "driver": "http", "options": {**asked, "body": ["{{ text }}", {"env": "CANARY_BODY"}]}},
        {
            "name": "form",
            "driver": "http",
            "options": {**asked, "form": {"t": "{{ text }}", "s": {"env": "CANARY_FORM"}}},
        },
        {
            "name": "proxy",
            "driver": "openai",
            "options": {"base_url": "http://h.example/answer", "model": "m", "proxy": {"env": "PROXY"}},
        },
        {
            "name": "program",
            "driver": "command",
            "options": {"argv": [sys.executable, "program.py"], "env": {"TOKEN": {"env": "CANARY_PROGRAM"}}},
        },
        {"name": "function", "driver": "python", "options": {"function": "bot.py:answer"}},
    ]
    audit: dict[str, Any] = {
        "format": "harvest-audit/1",
        "name": "canaries",
        "topics": "fairweb-45",
        "only": ["M001"],
        "protocol": "fairweb-two-round",
        "gold": "parrot",
        "trials": 1,
        "max_invalid": 1,
        "systems": [{**one, "retries": 0, "attempts": 1} for one in systems],
        "thresholds": [{"measure": "%useful S1", "at_least": 0.0}],
    }
    (folder / "audit.yaml").write_text(json.dumps(audit))
    calm = {**audit, "name": "calm", "systems": [one for one in audit["systems"] if one["name"] in CALM]}
    (folder / "calm.yaml").write_text(json.dumps(calm))
    (folder / "program.py").write_text(PROGRAM)
    (folder / "bot.py").write_text(BOT)
    (folder / "worded.yaml").write_text(WORDED)
    worded = {
        **{key: audit[key] for key in ("format", "topics", "only", "trials", "max_invalid")},
        "name": "worded",
        "protocol": "worded.yaml",
        "endpoints": {"words": {"base_url": f"{url}/CANARY_WORDS", "model": "m", "api_key_env": "CANARY_WORDS"}},
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "steady"}, "retries": 0, "attempts": 1}],
    }
    (folder / "worded-audit.yaml").write_text(json.dumps(worded))
    endpoint = {"base_url": f"{url}/CANARY_NUGGETS", "model": "m", "api_key_env": "CANARY_NUGGETS"}
    (folder / "nuggets.yaml").write_text(
        json.dumps({"format": "harvest-endpoints/1", "endpoints": {"nuggets": endpoint}})
    )


COMMANDS = """\
check audit.yaml
run audit.yaml --out run --junit run.xml --prometheus run.prom --webhook-env HOOK --github
run audit.yaml --out run --json
run worded-audit.yaml --out worded
score run --all --json
score run --csv
score run --latex
show run --all
show run --json
show run --system answer --topic M001 --trial 1
show run --system cut-0 --topic M001 --trial 1
show worded --all
tree run --system answer --merge exact --format json
tree run --system answer --merge exact --format svg
compare run --json
variance run --json
report run --out report.html
data export run --format messages --out messages --all
data export run --format gfrc --out transcripts --all
judge sheet run --export sheet.csv --criterion Fluency
judge extract run --with nuggets.yaml
relabel run --json
run calm.yaml --out calm
watch bless calm --out baseline.json -m ave%useful
run calm.yaml --out calmer
watch run calm.yaml --baseline baseline.json --run calmer --json
watch history baseline.history.jsonl
data merge run --out merged
data verify run --json
""".splitlines()


@dataclass(frozen=True)
class Written:
    """By where it stands, a command or a file: what was printed, sent to the hook, or written. sent: to systems."""

    places: dict[str, bytes]
    sent: bytes


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("canaries")
    places: dict[str, bytes] = {}
    with pytest.MonkeyPatch.context() as patch, gossip() as (url, asked), listening(f"/services/{KEYS[0]}") as hook:
        for name, secret in CANARIES.items():
            patch.setenv(name, secret)
        patch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
        patch.setenv("PROXY", url.replace("://", f"://user:{CANARIES['CANARY_PROXY']}@"))
        patch.setenv("HOOK", hook.url)
        write_audit(folder, url)
        for line in COMMANDS:
            done = harvest(*line.split(), cwd=folder, width=5000)
            assert done.returncode in (0, 1, 3), done.stderr
            assert "Traceback" not in done.stderr
            places[line] = (done.stdout + done.stderr).encode("utf-8", "surrogatepass")
        places |= {f"hook {number}": body for number, body in enumerate(hook.sent)}
    places |= {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    given = "\n".join(repr((one.target, one.headers)) + one.body.decode("utf-8", "replace") for one in asked)
    return Written(places, given.encode())


@pytest.mark.parametrize("name", CANARIES)
def test_no_secret_is_in_any_output(written: Written, name: str) -> None:
    secret = CANARIES[name]
    pieces = {secret[start : start + LEFT].encode() for start in range(len(secret) - LEFT + 1)}
    for place, data in written.places.items():
        assert not leaks(data, secret), place
        assert not [piece for piece in pieces if piece in data], f"{place}: a part of it, as a cut text leaves it"


def test_the_search_covers_everything_that_is_kept(written: Written) -> None:
    assert len(written.places) > 50
    assert {"run.xml", "run.prom", "summary.md", "report.html", "sheet.csv", "baseline.json", "hook 0"} <= set(
        written.places
    )
    marked = [place for place, data in written.places.items() if b"[redacted:secret]" in data]
    assert len(marked) > 25
    assert any(place.startswith("run/evidence/") for place in marked)
    assert any(place.startswith("run/trials-") for place in marked)
    assert any(place.startswith("run audit.yaml") for place in marked)


def test_every_secret_was_really_sent_or_echoed(written: Written) -> None:
    echoed = "".join(reply.decode("utf-8", "replace") for reply in ECHOES.values()).encode()
    for name, secret in CANARIES.items():
        assert leaks(echoed, secret), name
        if name not in ("CANARY_BODY", "CANARY_PROXY", "CANARY_PROGRAM"):
            assert leaks(written.sent, secret), name
