"""Empty texts are answers, and a note counts them, where many of them would go unseen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.servers.local_http import Asked, response, serving
from tests.support.forked_commands import run_forked

AUDIT = """\
format: harvest-audit/1
name: silent
topics: fairweb-45
only: [M001, M002, M003]
protocol: fairweb-two-round
trials: 1
systems:
  - {{name: mine, driver: openai, options: {{base_url: "{url}", model: m}}}}
"""


async def _said(folder: Path, *arguments: str) -> str:
    done = await asyncio.to_thread(run_forked, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


async def test_null_contents_that_end_well_are_counted_at_the_end_of_a_run_and_in_score(tmp_path: Path) -> None:
    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        first = len(asked.json["messages"]) == 1
        message = {"content": None if first else "No idea."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        writer.write(response("200 OK", json.dumps({"choices": [choice]})))

    async with serving(handler) as server:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(url=server.url))
        told = await _said(tmp_path, "run", "audit.yaml", "--out", "run", "--no-report")
    note = "note: 3 empty replies, counted as answers (mine x 3)."
    assert note in told
    assert note in await _said(tmp_path, "score", "run")
    notes = json.loads(await _said(tmp_path, "score", "run", "--json"))["notes"]
    assert "3 empty replies, counted as answers (mine x 3)." in notes
