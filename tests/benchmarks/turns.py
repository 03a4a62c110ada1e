"""What a turn costs: `harvest run`, which records durably, beside loops of aiohttp and httpx that record nothing.

    python -m tests.benchmarks.turns                   about a minute
    python -m tests.benchmarks.turns --write           writes docs/performance.md
    python -m tests.benchmarks.turns --inspect         beside Inspect AI, and nothing else; also with --write
    python -m tests.benchmarks.turns --profile 10      what costs most at concurrency 10, by cProfile

All talk to one server, which costs them nothing: it is a process of its own, and only its clients are counted. Each
plays 45 topics × 2 turns × trials of chat completions, the second turn with the first one before it. A client is a
process of its own, too; it counts from its first request to its last, threads and writing included, imports left out.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.servers.instant_chat import REPLY
from tests.support.inspect_page import inspect_part
from tests.support.performance_page import BOUNDS, machine, write_part

TOPICS, TURNS = 45, 2
CONCURRENCIES = (1, 10, 50)
LATENCY = 0.05
WORKERS = 2
ASK, MORE = "Name some researchers of this field.\nFormat: name, URL", "Can you name a few more?"

Post = Callable[[dict[str, object]], Awaitable[str]]


@dataclass(frozen=True)
class Cost:
    """cpu, wall: seconds for all turns. peak: MB of the process. payload, journal, evidence: bytes of what was said, of
    the files of events, and of the evidence."""

    turns: int
    cpu: float
    wall: float
    peak: float
    payload: int = 0
    journal: int = 0
    evidence: int = 0

    @property
    def per_turn(self) -> float:
        """Milliseconds of CPU."""
        return 1000 * self.cpu / self.turns

    @property
    def pace(self) -> float:
        """Turns a second."""
        return self.turns / self.wall


async def _bare(post: Post, concurrency: int, trials: int) -> int:
    waiting = deque(range(TOPICS * trials))
    turns = 0

    async def work() -> None:
        nonlocal turns
        while waiting:
            waiting.popleft()
            messages: list[dict[str, str]] = []
            for said in (ASK, MORE):
                messages.append({"role": "user", "content": said})
                answered = await post({"model": "instant", "messages": messages})
                messages.append({"role": "assistant", "content": answered})
                turns += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())
    return turns


async def _aiohttp(url: str, concurrency: int, trials: int) -> int:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def post(body: dict[str, object]) -> str:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                return str((await response.json())["choices"][0]["message"]["content"])

        return await _bare(post, concurrency, trials)


async def _httpx(url: str, concurrency: int, trials: int) -> int:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=60) as client:

        async def post(body: dict[str, object]) -> str:
            response = await client.post(f"{url}/chat/completions", json=body)
            return str(response.json()["choices"][0]["message"]["content"])

        return await _bare(post, concurrency, trials)


AUDIT = """format: harvest-audit/1
name: turns
topics: fairweb-45
protocol: fairweb-two-round
trials: {trials}
seed: 1
systems:
  - name: instant
    driver: openai
    options: {{base_url: "{url}", model: instant}}
    concurrency: {concurrency}
"""


def _played(url: str, concurrency: int, trials: int, folder: Path, profile: cProfile.Profile | None = None) -> Cost:
    import harvest.drivers.transport  # noqa: F401 - before the first request, as all other imports
    from harvest.audits.audit import load_audit
    from harvest.playing.play import play_audit

    audit = folder / "turns.audit.yaml"
    audit.write_text(AUDIT.format(url=url, concurrency=concurrency, trials=trials), encoding="utf-8")
    loaded, run = load_audit(str(audit)), folder / "run"

    async def measured() -> Cost:
        if profile is not None:
            profile.enable()
        return await _measured(lambda: _plain(play_audit(loaded, run)), TOPICS * TURNS * trials)

    found = asyncio.run(measured())
    if profile is not None:
        profile.disable()
    lines = [json.loads(line) for file in run.glob("trials-*.jsonl") for line in file.open(encoding="utf-8")]
    said = [row["text"] for row in lines if row["event"] == "asked"]
    assert len(said) == found.turns == sum(row["event"] == "turn" for row in lines), "a turn is missing"
    return Cost(
        **{
            **asdict(found),
            "payload": sum(len(text.encode()) for text in said) + found.turns * len(REPLY.encode()),
            "journal": sum(file.stat().st_size for file in run.glob("trials-*")),
            "evidence": sum(file.stat().st_size for file in run.glob("evidence/*/*")),
        }
    )


async def _plain(played: Awaitable[object]) -> int:
    await played
    return 0


async def _measured(play: Callable[[], Awaitable[int]], turns: int) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    played = await play()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    assert played in (0, turns), f"{played} turns, not {turns}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Cost(turns, cpu, wall, peak)


LOOPS = {"aiohttp": _aiohttp, "httpx": _httpx}


def client(name: str, url: str, concurrency: int, trials: int) -> Cost:
    """What one client costs, in this process."""
    if name == "harvest":
        with tempfile.TemporaryDirectory(prefix="turns-") as folder:
            return _played(url, concurrency, trials, Path(folder))
    loop = LOOPS[name]

    async def warm() -> Cost:
        await loop(url, 1, 1)  # imports, and what is made once
        return await _measured(lambda: loop(url, concurrency, trials), TOPICS * TURNS * trials)

    return asyncio.run(warm())


def apart(name: str, url: str, concurrency: int, trials: int) -> Cost:
    """What one client costs, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.turns", "--client", name, url, str(concurrency), str(trials)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    return Cost(**json.loads(ran.stdout.splitlines()[-1]))


@contextmanager
def server(*options: str) -> Iterator[str]:
    """The address of a server of chat completions, while it runs."""
    command = [sys.executable, "-m", "tests.servers.instant_chat", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.stdin.close()


def cpu_table(trials: int) -> tuple[list[str], list[Cost]]:
    """CPU a turn and turns a second of all clients, beside each other; and those of Harvest."""
    rows = [
        "| concurrency | aiohttp ms | httpx ms | harvest ms | × aiohttp | × httpx | harvest turns/s |",
        "|---|---|---|---|---|---|---|",
    ]
    own = []
    with server() as url:
        for concurrency in CONCURRENCIES:
            costs = {name: apart(name, url, concurrency, trials) for name in (*LOOPS, "harvest")}
            bare, plain, found = (costs[name] for name in (*LOOPS, "harvest"))
            own.append(found)
            rows.append(
                f"| {concurrency} | {bare.per_turn:.2f} | {plain.per_turn:.2f} | {found.per_turn:.2f} | "
                f"{found.per_turn / bare.per_turn:.1f} | {found.per_turn / plain.per_turn:.1f} | {found.pace:.0f} |"
            )
    with server("--unlike") as url:
        found = apart("harvest", url, 10, trials)
        rows.append(f"| 10, no two replies alike | | | {found.per_turn:.2f} | | | {found.pace:.0f} |")
    return rows, own


def in_processes(url: str, concurrency: int, trials: int, workers: int) -> float:
    """Seconds from the first request to the last reply of `harvest run --workers`."""
    from recordings.files.times import unix_seconds
    from recordings.log.run_folder import read

    with tempfile.TemporaryDirectory(prefix="turns-") as name:
        folder = Path(name)
        audit = AUDIT.format(url=url, concurrency=concurrency, trials=trials)
        (folder / "turns.audit.yaml").write_text(audit, encoding="utf-8")
        command = [sys.executable, "-m", "harvest", "run", str(folder / "turns.audit.yaml"), "--no-report"]
        command += ["--workers", str(workers), "--out", str(folder / "run")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        replies = [turn.reply for one in read(folder / "run").finished for turn in one.turns if turn.reply is not None]
    assert len(replies) == TOPICS * TURNS * trials, "a turn is missing"
    sent = [unix_seconds(reply.asked_at) for reply in replies]
    return max(at + (reply.seconds or 0.0) for at, reply in zip(sent, replies, strict=True)) - min(sent)


def latency_table(trials: int) -> list[str]:
    """How long a run takes beside the ideal, in which nothing takes time but the system."""
    rows = [
        f"| concurrency | turns | ideal s | harvest s | × ideal | `--workers {WORKERS}` s | × ideal |",
        "|---|---|---|---|---|---|---|",
    ]
    with server("--latency", str(LATENCY)) as url:
        for concurrency, count in ((10, trials), (50, 2 * trials)):
            found = apart("harvest", url, concurrency, count)
            ideal = found.turns * LATENCY / concurrency
            shared = in_processes(url, concurrency, count, WORKERS)
            rows.append(
                f"| {concurrency} | {found.turns} | {ideal:.2f} | {found.wall:.2f} | {found.wall / ideal:.2f} | "
                f"{shared:.2f} | {shared / ideal:.2f} |"
            )
    return rows


def memory_table(sizes: tuple[int, ...]) -> list[str]:
    rows = ["| trials | turns | peak MB | journal ÷ payload |", "|---|---|---|---|"]
    with server() as url:
        for trials in sizes:
            found = apart("harvest", url, 10, trials)
            rows.append(f"| {trials} | {found.turns} | {found.peak:.0f} | {found.journal / found.payload:.2f} |")
    return rows


def fsync_milliseconds() -> float:
    """How long it takes to make 2 kB safe in the folder that runs are played into: the median of 200."""
    spent = []
    with tempfile.TemporaryFile(prefix="turns-") as file:
        for _ in range(200):
            file.write(bytes(2000))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            spent.append(time.perf_counter() - began)
    return 1000 * sorted(spent)[100]


def page(trials: int, largest: int) -> str:
    """docs/performance.md."""
    cpu, own = cpu_table(trials)
    latency, memory = latency_table(trials), memory_table((10, largest))
    change = own[-1].pace / own[1].pace - 1
    rows = {
        "cpu": "\n".join(cpu),
        "latency": "\n".join(latency),
        "memory": "\n".join(memory),
    }
    return f"""# What a turn costs

`harvest run` records every turn durably before it asks for the next. This page says what that costs beside the
plainest loops that play the same conversations and record nothing. It is written by

```
python -m tests.benchmarks.turns --write
```

on {machine()}.
Other machines have other milliseconds; the ratios come from one run, and vary by a tenth or so with the machine's load.

**Setting.** One server of chat completions without latency, in a process of its own that is not counted; replies of
{len(REPLY.split())} words. Each client plays 45 topics × 2 turns × {trials} trials in a process of its own, the second
turn with the first one before it, and keeps its connections. Counted is CPU of the whole process from the first
request to the last: threads, recording, redaction, evidence and fsync included, imports left out.

{BOUNDS}

## CPU a turn

{rows["cpu"]}

At concurrency 50 Harvest plays {change:+.0%} turns a second against concurrency 10. Where no two replies are alike,
each leaves an exhibit of its own to be made safe on the disk, as with most real systems.

## A system that takes {1000 * LATENCY:.0f} ms

{rows["latency"]}

The ideal is turns × latency ÷ concurrency. All replies take equally long, so sessions move in step, and each round
lasts longer by the CPU of all its turns. A session also waits for an fsync after each turn and after each conversation;
one takes {fsync_milliseconds():.1f} ms here while nothing else is going on. With `--workers {WORKERS}` the time runs
from the first request of both processes to their last reply.

## Memory and disk

{rows["memory"]}

At concurrency 10, without the scores at the end (*end of a run* [below](#recordings)). The journal is all of
`trials-*`, hash chain included; the payload is what was said on both sides, as UTF-8.
"""


def profiled(concurrency: int, trials: int) -> None:
    """Prints what costs most in the process of Harvest."""
    with server() as url, tempfile.TemporaryDirectory(prefix="turns-") as folder:
        profile = cProfile.Profile()
        _played(url, concurrency, trials, Path(folder), profile)
    pstats.Stats(profile).sort_stats("tottime").print_stats(45)
    pstats.Stats(profile).sort_stats("cumtime").print_stats(70)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=20)
    options.add_argument("--largest", type=int, default=200, help="trials of the run whose memory is measured")
    options.add_argument("--write", action="store_true")
    options.add_argument("--inspect", action="store_true")
    options.add_argument("--profile", type=int, metavar="CONCURRENCY")
    options.add_argument("--client", nargs=4, metavar=("NAME", "URL", "CONCURRENCY", "TRIALS"), help="for itself")
    asked = options.parse_args()
    if asked.client:
        name, url, concurrency, trials = asked.client
        print(json.dumps(asdict(client(name, url, int(concurrency), int(trials)))))
        return
    if asked.profile:
        profiled(asked.profile, asked.trials)
        return
    if asked.inspect:
        with server() as url:
            told = inspect_part(
                url,
                (10, 50),
                asked.trials,
                lambda concurrency: apart("harvest", url, concurrency, asked.trials).per_turn,
            )
        print(told)
        if asked.write:
            write_part("inspect", told)
        return
    told = page(asked.trials, asked.largest)
    print(told)
    if asked.write:
        write_part("turns", told)


if __name__ == "__main__":
    main()
