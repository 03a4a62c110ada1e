"""Every fault of a server and of the way to it, in one run: what is recorded, what is sent again, what the person sees.

Each case holds its row of docs/faults.md. None is ever an answer that is not useful.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import Run, read
from tests.servers.faulty_chat import FAULTS, Fault, FaultyChat
from tests.servers.local_http import response, serving
from tests.support.checkout import DATA
from tests.support.fault_page import Row, code, hold
from tests.support.forked_commands import run_forked

MEMORY = "-kept"
"""At the end of the name of a system that remembers."""
LARGEST = 100_000
"""Bytes of a reply that is sent to a system that remembers, too."""
LATE = 12.0
"""Seconds until a reply that never ends is given up."""
ANSWERS = {
    *("good", "rate_once", "error_500_once", "reset_once", "filtered", "redirect_here", "reset_behind", "text_type"),
    *("no_type", "null_content", "nul", "surrogate", "ten_megabytes_allowed", "no_done", "no_finish", "no_blank_line"),
    *("stream_reset_once", "end_then_reset", "whole_then_hangs", "slow_whole", "swapped", "doubled", "doubled_stream"),
    *("json_for_stream", "gzip_members", "message_at_end"),
}
"""After these faults there is a whole reply. Of all others nothing is ever taken for one."""
WAYS = {
    "refused": "no server listens there",
    "no_name": "the host name does not exist",
    "tls_unknown": "a certificate of an unknown authority",
    "tls_name": "a certificate for another name",
    "tls_none": "HTTPS asked of a server that speaks plain HTTP",
}
CERTIFICATE = DATA / "untrusted_certificate.pem"


@dataclass(frozen=True)
class Played:
    """What the run came to, of which this process was the server. asked: requests by the name of the system."""

    run: Run
    rows: list[dict[str, Any]]
    messages: list[str]
    asked: dict[str, int]

    def conversation(self, system: str) -> Conversation:
        """Its first trial; where that fails, there is no second."""
        found = [one for one in self.run.conversations if one.key.system == system]
        assert len(found) == 2 if system in ANSWERS else 1
        return found[0]

    def said_of(self, system: str) -> list[str]:
        named = [line for line in self.messages if line.startswith((f"{system}: ", f"{system} "))]
        return [line.removeprefix(f"{system}: ") for line in named]


@asynccontextmanager
async def ways() -> AsyncIterator[dict[str, dict[str, Any]]]:
    """Options of the driver `openai` for each of `WAYS`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response("400 Bad Request", ""))
        writer.close()

    listening = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with serving(FaultyChat(), context) as secure, listening:
        with socket.socket() as unheard:
            unheard.bind(("127.0.0.1", 0))  # bound, and never listening
            other_name = f"https://localhost:{secure.url.rpartition(':')[2]}"
            yield {
                "refused": {"base_url": f"http://127.0.0.1:{unheard.getsockname()[1]}"},
                "no_name": {"base_url": "http://nowhere.invalid"},
                "tls_unknown": {"base_url": f"{secure.url}/good"},
                "tls_name": {"base_url": f"{other_name}/good", "ca_file": str(CERTIFICATE)},
                "tls_none": {"base_url": f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}"},
            }
        assert secure.asked == []


def systems(name: str, fault: Fault, url: str) -> list[dict[str, Any]]:
    reached = limits(name, fault)
    plain = {"base_url": f"{url}/{name}", "model": "m", "stream": fault.stream, **reached}
    found: list[dict[str, Any]] = [{"name": name, "driver": "openai", "options": plain}]
    if remembered(fault):
        path = "$.choices[0].message.content"
        asked = {"url": f"{url}/{name}{MEMORY}/", "body": {"text": "{{ text }}"}, "reply": path, **reached}
        found.append({"name": f"{name}{MEMORY}", "driver": "http", "options": asked})
    return found


def limits(name: str, fault: Fault) -> dict[str, float]:
    """Long enough for a busy machine to connect, and to send what there is to send, among all the others.

    What waits only for silence counts from the last piece, so a late start does not use up its limit.
    """
    given = {"timeout": 300.0, "connect_timeout": 300.0}
    if fault.late and name in ANSWERS:
        given["read_timeout"] = LATE
    elif fault.late:
        given |= {"timeout": LATE, "connect_timeout": LATE}
    return given | ({"max_reply": fault.most} if fault.most else {})


def remembered(fault: Fault) -> bool:
    """Whether a system that remembers meets it, too."""
    return not fault.stream and (not isinstance(fault.sends, bytes) or len(fault.sends) < LARGEST) and not fault.most


async def play(folder: Path) -> Played:
    chat = FaultyChat()
    async with serving(chat) as server, ways() as reached:
        listed = [system for name, fault in FAULTS.items() for system in systems(name, fault, server.url)]
        listed += [{"name": n, "driver": "openai", "options": {"model": "m", **of}} for n, of in reached.items()]
        common = {"retries": 1, "retry_wait": 0.01, "attempts": 1, "give_up_after": 1}
        audit = {
            "format": "harvest-audit/1",
            "name": "faults",
            "topics": "fairweb-45",
            "only": ["M001"],
            "protocol": "fairweb-two-round",
            "trials": 2,
            "systems": [{**system, **common} for system in listed],
        }
        (folder / "audit.yaml").write_text(yaml.safe_dump(audit))
        words, environment = ("run", "audit.yaml", "--out", "run", "--json"), {**os.environ, "COLUMNS": "100000"}
        done = await asyncio.to_thread(run_forked, *words, cwd=folder, environment=environment)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    said = without_details(done.stderr).splitlines()
    return Played(read(folder / "run"), json.loads(done.stdout)["rows"], said, dict(chat.asked))


def without_details(text: str) -> str:
    """Without what differs from time to time, or from machine to machine."""
    text = re.sub(r"(127\.0\.0\.1'?(?::|, )|localhost:)\d+", r"\1PORT", text)
    return re.sub(r"(the host's name cannot be found: ).*?(?=\)?(;|$))", r"\1…", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return asyncio.run(play(tmp_path_factory.mktemp("faults")))


@pytest.mark.parametrize("name", [name for name in FAULTS if name in ANSWERS and name != "good"])
def test_a_fault_with_an_answer(played: Played, name: str) -> None:
    conversation = played.conversation(name)
    assert conversation.outcome is not None
    assert conversation.outcome.valid
    reply = conversation.turns[0].reply
    assert reply is not None
    text = reply.answer.text
    told = "an empty answer" if not text else f"an answer of {len(text):,} characters"
    recorded = f"the answer {code(json.dumps(text)[1:-1])}" if 0 < len(text) < 60 else told
    assert played.said_of(name) == []
    again = "yes" if reply.sends == 2 else "–"
    hold(Row(FAULTS[name].says, recorded, again, "–", f"`test_a_fault_with_an_answer[{name}]`"), "Replies that count")


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in ANSWERS])
def test_a_fault_of_a_server(played: Played, name: str) -> None:
    recorded, seen, denied = invalid(played, name)
    asked = played.asked[name]
    if denied:
        assert asked == 1 or name == "redirect_round", "it asks for itself"
        again = "no: denied"
    elif remembered(FAULTS[name]):
        pair = asked, played.asked[f"{name}{MEMORY}"]
        again = {(1, 1): "no", (2, 2): "yes", (2, 1): "without memory"}[pair]
    else:
        again = {2: "without memory"}[asked]
    hold(Row(FAULTS[name].says, recorded, again, seen, f"`test_a_fault_of_a_server[{name}]`"), "Servers")


@pytest.mark.parametrize("name", WAYS)
def test_a_fault_on_the_way(played: Played, name: str) -> None:
    recorded, seen, denied = invalid(played, name)
    assert recorded.endswith("nothing came")
    again = "no: denied" if denied else "yes"
    hold(Row(WAYS[name], recorded, again, seen, f"`test_a_fault_on_the_way[{name}]`"), "Connections")


def invalid(played: Played, name: str) -> tuple[str, str, bool]:
    """What is recorded and seen of an invalid attempt, and whether the system is left alone because it denies."""
    conversation = played.conversation(name)
    assert [(turn.reply, turn.label) for turn in conversation.turns] == [(None, None)], "an answer was made of it"
    assert conversation.outcome is not None
    assert conversation.outcome.kind == "invalid"
    (failure,) = [one for one in played.run.failures if one.trial_id == conversation.trial_id]
    why = without_details(f"{failure.reason}: {failure.detail}")
    seen, left, *figures = [line for line in played.said_of(name) if "Harvest waits until" not in line]
    assert seen == f"an attempt failed: {why}"
    denied = left == f"{name} is not contacted again: it refuses every request ({why}); trials left: 1"
    in_a_row = f"{name} is not contacted again: 1 invalid attempt in a row (the last: {failure.reason}); trials left: 1"
    hours = (
        f"{name} is not contacted again: it asks for a pause of 3600 s (Retry-After), and Harvest waits for at "
        "most 240 s (busy_timeout); trials left: 1"
    )
    assert denied or left in (in_a_row, hours)
    assert all(line.startswith("invalid trials, not in any figure: 1;") for line in figures)
    counted = [row for row in played.rows if row["system"] == name and row["measure"] == "%useful"]
    assert {(row["value"], row["n"]) for row in counted} <= {(None, 0)}, "it is in no figure"
    kept = ", ".join(sorted(failure.evidence)) or "nothing came"
    return f"invalid, {code(failure.reason)}; {kept}", code(seen), denied


def test_only_a_complete_reply_is_labelled(played: Played) -> None:
    assert {one.label(1) for one in played.run.finished if one.key.system == "good"} == {"x"}, "it has no URL"
    named = {one.key.system.removesuffix(MEMORY) for one in played.run.finished}
    assert named == ANSWERS
    half = [failure for failure in played.run.failures if failure.partial.startswith("half a reply")]
    assert len(half) >= 7, "what did come back is kept"
