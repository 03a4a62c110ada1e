"""Replies of 8 MB, made to be slow to look at: CPU a turn, and the pace of a neighbour that shares the process.

A server in a process of its own answers every turn with one filler. The run beside it plays a neighbour with short
replies at 2 turns a second. `turn` is the CPU (all threads) of one hostile turn less that of a short one; `pace` is
what the neighbour got of its 2 turns a second while hostile replies came in.

    python -m tests.benchmarks.large_replies [FILLER …]
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from harvest.audits.audit import load_audit
from harvest.playing.attempt import Player
from harvest.playing.plan import Work, make_plan
from harvest.playing.play import SilentWatcher
from harvest.playing.runner import Runner
from recordings.conversations.conversation import Outcome
from recordings.log.store import RunWriter
from simulators.scripted import ScriptedUser
from tests.servers.local_http import Asked, response, serving
from tests.support.fillers import FILLERS, filled

SIZE = 8_000_000
TURNS = 2
PACE = 2.0
AUDIT = """\
format: harvest-audit/1
name: large replies
topics: fairweb-45
only: [{topics}]
protocol: fairweb-two-round
trials: {trials}
systems:
"""
SYSTEM = """\
  - name: {name}
    driver: openai
    {limits}
    options: {{base_url: '{url}/{path}', model: m, api_key_env: CANARY}}
"""


def serve(ends: Connection, filler: str, size: int) -> None:
    """Answers /short/… and /large/…; the JSON is made once."""
    body = {
        "short": json.dumps({"choices": [{"message": {"content": "Try https://www.imdb.com/title/tt0088763/"}}]}),
        "large": json.dumps({"choices": [{"message": {"content": filled(filler, size)}}]}, ensure_ascii=False),
    }
    for name in body:
        body[name] = body[name].replace("}}]}", '}, "finish_reason": "stop"}]}')
    sent = {name: response("200 OK", text) for name, text in body.items()}

    async def handle(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(sent[asked.path.split("/")[1]])
        await writer.drain()

    async def forever() -> None:
        async with serving(handle) as server:
            ends.send(server.url)
            await asyncio.to_thread(ends.recv)

    asyncio.run(forever())


@dataclass
class Watch(SilentWatcher):
    """When turns were asked, by system."""

    asked: dict[str, list[float]] = field(default_factory=dict)

    def turn_asked(self, work: Work) -> None:
        self.asked.setdefault(work.key.system, []).append(time.monotonic())

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        assert outcome.valid, outcome

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        raise AssertionError(reason)


async def play(audit_file: Path, run: Path) -> tuple[float, Watch]:
    """CPU seconds of playing, and what was asked when."""
    audit = load_audit(str(audit_file))
    watch = Watch()
    async with RunWriter.open(run, audit.header(), secrets=audit.secrets) as writer:
        player = Player(writer, ScriptedUser(audit.protocol, audit.users), audit.seed)
        before = time.process_time()
        async with audit.endpoints:
            await Runner(player, audit.played, audit.drivers, watch).play(make_plan(audit))
        return time.process_time() - before, watch


def measured(filler: str, folder: Path, size: int = SIZE) -> tuple[float, float]:
    """(CPU seconds a hostile turn, share of the neighbour's turns that it got)."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=serve, args=(theirs, filler, size), daemon=True)
    server.start()
    url = ours.recv()
    try:
        spent = {}
        for path in ("short", "large"):
            audit = folder / f"{path}.yaml"
            audit.write_text(
                AUDIT.format(topics="M001", trials=TURNS // 2)
                + SYSTEM.format(name="hostile", url=url, path=path, limits="rate: 1000/s")
            )
            spent[path], _ = asyncio.run(play(audit, folder / path))
        both = folder / "both.yaml"
        both.write_text(
            AUDIT.format(topics="M001, M002, M003", trials=2)
            + SYSTEM.format(name="hostile", url=url, path="large", limits="rate: 2/s")
            + SYSTEM.format(name="neighbour", url=url, path="short", limits=f"rate: {PACE:g}/s")
        )
        _, watch = asyncio.run(play(both, folder / "both"))
    finally:
        ours.send("enough")
        server.join(10)
    asked = watch.asked["neighbour"]
    return (spent["large"] - spent["short"]) / TURNS, (len(asked) - 1) / (asked[-1] - asked[0]) / PACE


def main(names: list[str]) -> None:
    import os

    os.environ["CANARY"] = "sk-canary-4f3e2d1c0b9a8f7e"
    print(f"{'filler':<28} {'turn, CPU s':>11} {'pace':>7}")
    for name in names or FILLERS:
        with tempfile.TemporaryDirectory() as folder:
            turn, pace = measured(FILLERS[name], Path(folder))
        print(f"{name:<28} {turn:>11.2f} {pace:>7.0%}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
