"""Systems that fail in every way, in one audit: each failure is a recorded invalid attempt, none is ever an `x`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from recordings.run_folder import read
from tests.harvest.drivers.test_misbehaving import misbehave
from tests.servers.local_http import serving

FAULTS = {
    "rate": "http-429",
    "error_500": "http-500",
    "never": "timeout",
    "drip": "timeout",
    "half_json": "bad-json",
    "not_json": "bad-json",
    "not_utf8": "not-utf8",
    "silence": "reset",
    "short": "broken-body",
    "fifty_megabytes": "too-large",
    "no_choices": "no-choices",
    "no_key": "http-401",
}
STREAMED = {
    "half_stream": "broken-stream",
    "half_event": "broken-stream",
    "stream_not_utf8": "not-utf8",
    "stream_error": "system-error",
}
HEAD = """\
format: harvest-audit/1
name: bad systems
topics: fairweb-45
only: [M001, R001]
protocol: fairweb-two-round
gold: parrot
trials: 1
systems:
"""


def system(name: str, url: str, *, stream: bool) -> str:
    timeout = 1.0 if FAULTS.get(name) == "timeout" else 30.0  # what ends by another fault may be slow to come to it
    return (
        f"  - name: {name}\n    driver: openai\n    retries: 1\n    retry_wait: 0.01\n    attempts: 2\n"
        f"    options: {{base_url: '{url}/{name}', model: m, stream: {str(stream).lower()}, timeout: {timeout}}}\n"
    )


async def test_every_failure_of_a_system_is_an_invalid_attempt_and_the_healthy_system_is_scored(tmp_path: Path) -> None:
    async with serving(misbehave) as server:
        audit = HEAD + system("good", server.url, stream=False)
        audit += "".join(system(name, server.url, stream=name in STREAMED) for name in (*FAULTS, *STREAMED))
        (tmp_path / "audit.yaml").write_text(audit)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "harvest", "run", "audit.yaml", "--out", "run", "--json"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(100):
                output, messages = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
    assert process.returncode == 3, messages.decode()
    assert b"Traceback" not in messages

    run = read(tmp_path / "run")
    assert {conversation.key.system for conversation in run.finished} == {"good"}
    assert all(conversation.label(1) == "x" for conversation in run.finished), "a whole answer without a URL is an x"
    reasons: dict[str, set[str]] = {}
    for conversation in run.conversations:
        assert conversation.outcome is not None
        if conversation.key.system != "good":
            assert conversation.outcome.kind == "invalid"
            assert [turn.label for turn in conversation.turns] == [None]
            reasons.setdefault(conversation.key.system, set()).add(conversation.outcome.reason)
    assert reasons == {name: {reason} for name, reason in (FAULTS | STREAMED).items()}

    rows = json.loads(output)["rows"]
    useful = {
        row["system"]: row for row in rows if row["measure"] == "%useful" and row["turn"] == 1 and not row["trial"]
    }
    useful = {row["system"]: row for row in useful.values() if row["topic_type"] is None and row["topic"] is None}
    assert useful["good"]["value"] == 0.0
    for name in FAULTS:
        if name != "no_key":  # left alone at its first request: the second topic was not played
            assert (useful[name]["value"], useful[name]["n"], useful[name]["invalid"]) == (None, 0, 2)
    half = [failure for failure in run.failures if failure.partial.startswith("half a reply")]
    assert len(half) >= 4, "what did come back is kept"
