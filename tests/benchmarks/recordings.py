"""What recordings of many conversations cost: to be scored, resumed, written, read back and folded into a tree.

    python -m tests.benchmarks.recordings                      a few minutes; 10,000 conversations, 100,000 for the tree
    python -m tests.benchmarks.recordings --largest 1000000    the tree of a million, from 8 GB of files
    python -m tests.benchmarks.recordings --write              writes its part of docs/performance.md
    python -m tests.benchmarks.recordings --keep FOLDER        keeps there what is played, and takes what is there

Each figure stands beside the bound it is held to. Seconds are of the processor, of a process of its own each, imports
included unless it says otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harvest.studies.trees.folded_trees import fold_trees
from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.events.event_lines import encode
from recordings.events.events import Event, events_of
from recordings.files.json_text import encode_document, encode_line
from recordings.log.header import Header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from tests.support.performance_page import HEADING, Bounded, machine, write_part

CONVERSATIONS = 10_080
TURNS = 10

AUDIT = """format: harvest-audit/1
name: large
topics: fairweb-45
protocol: fairweb-two-round
gold: parrot
trials: {trials}
seed: 1
systems:
  - {{name: A, driver: parrot, options: {{profile: steady}}, concurrency: 8}}
  - {{name: B, driver: parrot, options: {{profile: erratic}}, concurrency: 8}}
"""
TRIALS = CONVERSATIONS // 90

HEAD = """## Recordings

Processor seconds, of a process of its own each; written by `python -m tests.benchmarks.recordings --write`. The run
that is scored has 45 topics, two systems and gold; all that `score` prints is computed: grids, figures and their
intervals, but not those of single topics and trials, which `--json` has."""
TOLD = """What misses its bound: of the time of `score`, a third goes into the figures of single conversations, most of
it into finding links, a quarter each into starting and into reading the run, and a seventh into printing the grids. Of
the time of appending, a quarter goes into rows and JSON, a tenth each into the look for secrets and the hash chain,
and most of the rest into handing on events one by one. Of the time of a tree, a quarter goes into reading every field
of every line, a third into putting attempts together, and most of the rest into folding them; no more is kept of them
in memory than what was spoken."""


def run_of(folder: Path) -> Path:
    """The run of `CONVERSATIONS` in `folder`, played to its end."""
    run, audit = folder / "large", folder / "large.audit.yaml"
    audit.write_text(AUDIT.format(trials=TRIALS), encoding="utf-8")
    command = [sys.executable, "-m", "harvest", "run", str(audit), "--out", str(run)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run


def score_figures(run: Path) -> list[Bounded]:
    """`harvest score` of the whole run, figures and grid printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "harvest", "score", str(run)], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return [Bounded(f"`harvest score`, {CONVERSATIONS:,} conversations", spent, 2.0, "s"), ended(run)]


def ended(run: Path) -> Bounded:
    """The end of `harvest run`, where the run is read, scored, and every figure kept as a row of `scores.json`."""
    audit = run.parent / "large.audit.yaml"
    audit.write_text(AUDIT.format(trials=TRIALS), encoding="utf-8")
    command = [sys.executable, "-m", "harvest", "run", str(audit), "--out", str(run)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    spent, written = used.ru_utime + used.ru_stime, (run / "scores.json").stat().st_size
    what = f"end of a run of {CONVERSATIONS:,} conversations, every figure kept: peak memory"
    return Bounded(what, peak / 1e6, 500, "MB", f"{spent:.1f} s; {written / 1e6:,.0f} MB of rows")


BOT = """import json, os, resource, sys, threading, time

def reply(text):
    if "RESUMED" in os.environ:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        mine = f"{os.environ['RESUMED']}.{threading.get_ident()}"  # several are asked at once
        with open(mine, "w") as file:
            json.dump({"cpu": time.process_time(), "peak": peak}, file)
        os.replace(mine, os.environ["RESUMED"])
        os._exit(0)
    return "Here are some: https://www.imdb.com/title/tt0000001/ and more to come " + "of this kind " * 40
"""


def resume_figures(folder: Path) -> list[Bounded]:
    """From the start of `harvest run` on a run that lacks one trial of each topic, to its first request."""
    audit, run, told = folder / "resumed.audit.yaml", folder / "resumed", folder / "resumed.json"
    (folder / "bot.py").write_text(BOT, encoding="utf-8")
    trials = CONVERSATIONS // 45
    systems = "systems:\n  - {name: A, driver: python, options: {function: 'bot.py:reply'}, concurrency: 8}\n"
    text = AUDIT.format(trials=trials).partition("systems:")[0].replace("gold: parrot\n", "") + systems
    audit.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "harvest", "run", str(audit), "--out", str(run)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if not run.exists():
        subprocess.run(command, check=True, **quiet)  # type: ignore[call-overload]
    environment = {**os.environ, "RESUMED": str(told)}
    began = time.perf_counter()
    subprocess.run([*command, "--trials", str(trials + 1)], check=False, env=environment, **quiet)  # type: ignore[call-overload]
    clock = time.perf_counter() - began
    found = json.loads(told.read_text(encoding="utf-8"))
    what = f"resume of {trials * 45:,} conversations, to the first request"
    return [
        Bounded(what, found["cpu"], 1.0, "s", f"{clock:.2f} s on the clock"),
        Bounded(f"{what}: peak memory", found["peak"] / 1e6, 150, "MB"),
    ]


def conversations(count: int) -> Iterator[tuple[Event, ...]]:
    """The events of conversations of `TURNS` turns, as they are recorded."""
    at = "2026-01-01T00:00:00.000000+00:00"
    turns = tuple(
        Turn(
            number,
            "ask" if number == 1 else "more",
            f"Can you name some more of them, for the {number}. time?",
            SystemTurn(Answer(f"Here is what I know of it, in {number} parts: " + "and so on " * 8), at, 0.1, 0.2),
            Route(number, "ask", "o" if number % 3 else "x", "urls", "urls/1", (), "more"),
        )
        for number in range(1, TURNS + 1)
    )
    for trial in range(1, count + 1):
        key = TrialKey("S", "T", trial)
        yield events_of(Conversation(key, f"{trial:032x}", 1, turns, Outcome("completed"), "S/1", 1, started_at=at))


def _header() -> Header:
    return Header({"name": "large"}, None, None, {"S": {"driver": "echo"}}, 1, {})


def appended(run: Path, header: Header, waiting: list[Sequence[Event]]) -> float:
    """CPU seconds for a new run of these conversations, by 50 writers who each wait for the disk after every turn."""

    async def written() -> float:
        async with RunWriter.create(run, header) as writer:

            async def work() -> None:
                while waiting:
                    events = waiting.pop()
                    for start in range(0, len(events), 3):
                        await writer.append(*events[start : start + 3], sync=True)

            began = time.process_time()
            await asyncio.gather(*(work() for _ in range(50)))
        return time.process_time() - began

    return asyncio.run(written())


def journal_figures(folder: Path, count: int = 5_000) -> list[Bounded]:
    """Events appended, then read back."""
    run = folder / "appended"
    waiting: list[Sequence[Event]] = list(conversations(count))
    records = sum(map(len, waiting))
    spent = appended(run, _header(), waiting)
    began = time.process_time()
    assert len(read(run).attempts) == count
    reading = time.process_time() - began
    return [
        Bounded(
            "append, 50 writers, fsync shared", records / spent, 250_000, "records/s", "redacted, encoded, chained"
        ),
        Bounded("read back, every event checked", records / reading, 300_000, "records/s"),
    ]


def tree_figures(folder: Path, count: int) -> list[Bounded]:
    """From the files of a run to its tree by label; the bound is 15 µs a conversation."""
    run = folder / f"tree-{count}"
    if not run.exists():
        run.mkdir()
        header = _header()
        (run / "run.json").write_bytes(encode_document(header.as_json()))
        one = b"".join(encode_line(encode(event)) for event in next(conversations(1)))
        name = f"{1:032x}".encode()
        opening = encode_line({"event": "opened", "format": "harvest-events/1", "worker": "000001", "pid": 1, "at": ""})
        with (run / "trials-000001.jsonl").open("wb") as file:
            file.write(opening)
            for trial in range(1, count + 1):
                this = one.replace(name, f"{trial:032x}".encode())
                file.write(this.replace(b'"trial":1', b'"trial":%d' % trial))
    command = [sys.executable, "-m", "tests.benchmarks.recordings", "--fold", str(run)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["n"] == count
    what = f"{count:,} conversations × {TURNS} turns from their files into a tree by label"
    return [Bounded(what, found["cpu"], 15e-6 * count, "s", f"peak {found['peak'] / 1e6:,.0f} MB")]


def folded(run: Path) -> dict[str, float]:
    began = time.process_time()
    trees, _ = fold_trees(read(run, spoken=True), merge="label")
    spent = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"n": trees[0].n, "cpu": spent, "peak": peak}


def figures(folder: Path, largest: int) -> Iterator[Bounded]:
    parts: list[Callable[[], list[Bounded]]] = [
        lambda: score_figures(folder / "large" if (folder / "large").exists() else run_of(folder)),
        lambda: resume_figures(folder),
        lambda: journal_figures(folder),
        lambda: tree_figures(folder, largest),
    ]
    for part in parts:
        yield from part()
    shutil.rmtree(folder / "appended")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--largest", type=int, default=100_000)
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what is played and written there")
    options.add_argument("--write", action="store_true")
    options.add_argument("--fold", type=Path, metavar="RUN", help="for itself")
    given = options.parse_args()
    gc.set_threshold(200_000, 50, 50)  # as `harvest` does
    if given.fold:
        print(json.dumps(folded(given.fold)))
        return
    with tempfile.TemporaryDirectory(prefix="recordings-") as name:
        folder = given.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        rows = [HEADING]
        print("\n".join(rows))
        for figure in figures(folder, given.largest):
            rows.append(figure.row())
            print(rows[-1], flush=True)
    if given.write:
        write_part("recordings", "\n".join([HEAD, "", *rows, "", TOLD]))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
