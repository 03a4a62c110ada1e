"""How cost grows with a run, from a thousand turns upwards: to play, to record, to read back, to score, to recover.

    python -m tests.benchmarks.growth                     10³ and 10⁴ turns, a few minutes
    python -m tests.benchmarks.growth --largest 6         up to 10⁶ turns: an hour and more
    python -m tests.benchmarks.growth --write             writes its part of docs/performance.md, and its plot

Runs are those of two embedded assistants over 45 topics, with gold; whether a conversation has a second turn is up to
them, so a run has about as many turns as it is to have. Seconds are of the processor, of a process of its own each;
imports are left out, but for `harvest score`.

    play      conversations held and recorded durably, 8 at a time with each assistant
    record    their events written by 50 writers, each of which waits for the disk after every turn
    read      the files read back, every event checked
    score     `harvest score`, from the start of the command: every figure, interval and grid

Recovery is that of another run, which is killed (SIGKILL) while it plays its last trial of each topic: from the start
of the same command to its first request.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harvest.audits.audit import load_audit
from harvest.playing.play import play_audit
from recordings.events.events import Event, events_of
from recordings.log.header import read_header
from recordings.log.run_folder import read
from tests.benchmarks.recordings import appended
from tests.support.checkout import DOCS
from tests.support.performance_page import HEADING, Bounded, machine, write_part

STEPS = ("play", "record", "read", "score")
TOPICS, SYSTEMS = 45, 2
AUDIT = """format: harvest-audit/1
name: growth
topics: fairweb-45
protocol: fairweb-two-round
gold: parrot
trials: {trials}
seed: 1
systems:
  - {{name: A, driver: parrot, options: {{profile: steady}}, concurrency: 8}}
  - {{name: B, driver: parrot, options: {{profile: erratic}}, concurrency: 8}}
"""
KILLED = """format: harvest-audit/1
name: killed
topics: fairweb-45
protocol: fairweb-two-round
trials: {trials}
seed: 1
systems:
  - {{name: A, driver: python, options: {{function: "bot.py:reply"}}, concurrency: 8}}
"""
BOT = """import json, os, resource, signal, sys, time

asked = 0

def reply(text):
    global asked
    asked += 1
    if "RESUMED" in os.environ:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        with open(os.environ["RESUMED"], "w") as file:
            json.dump({"cpu": time.process_time(), "at": time.time(), "peak": peak}, file)
        os._exit(0)
    if asked > int(os.environ["KILLED_AFTER"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return "Let me think about that. " + "There is more of this kind. " * 20
"""
HEAD = """## How cost grows

Processor time a turn by the size of a run, of a process of its own each: a flat line is cost that grows in
proportion. *Play* is two embedded assistants, which answer at once and cost less than a server (above), 8
conversations at a time with each; *record*, 50 writers of their events, who wait for the disk after every turn;
*read*, the files read back, every event checked; *score*, `harvest score` from the start of the command. Reading and
scoring hold what was said in memory, in proportion to the run; playing does not.

Written by `python -m tests.benchmarks.growth --largest {largest} --write`; `--largest 6` goes up to a million turns.

![CPU a turn by the number of turns](growth.svg)

| turns | play ms | record ms | read ms | score ms | peak MB: play | read | score |
|---|---|---|---|---|---|---|---|"""
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def peak(who: int = resource.RUSAGE_SELF) -> float:
    """MB."""
    return resource.getrusage(who).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def played(folder: Path) -> dict[str, float]:
    audit, began = load_audit(str(folder / "growth.audit.yaml")), time.process_time()
    asyncio.run(play_audit(audit, folder / "run"))
    return {"cpu": time.process_time() - began, "peak": peak()}


def read_back(folder: Path) -> dict[str, float]:
    began = time.process_time()
    run = read(folder / "run")
    spent = time.process_time() - began
    return {"cpu": spent, "peak": peak(), "turns": sum(len(one.turns) for one in run.conversations)}


def recorded(folder: Path) -> dict[str, float]:
    waiting: list[Sequence[Event]] = [events_of(one) for one in read(folder / "run").conversations]
    header, count = read_header(folder / "run"), len(waiting)
    spent = appended(folder / "again", header, waiting)
    found = {"cpu": spent, "peak": peak()}
    assert len(read(folder / "again").attempts) == count
    return found


def scored(folder: Path) -> dict[str, float]:
    subprocess.run([sys.executable, "-m", "harvest", "score", str(folder / "run")], check=True, **QUIET)  # type: ignore[call-overload]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu": spent.ru_utime + spent.ru_stime, "peak": peak(resource.RUSAGE_CHILDREN)}


PARTS = {"play": played, "read": read_back, "record": recorded, "score": scored}


def measured(part: str, folder: Path) -> dict[str, float]:
    """What one part costs, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.growth", "--part", part, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def costs(power: int, folder: Path) -> dict[str, dict[str, float]]:
    """By part, for a run of about 10^power turns; and under `read`, how many it has."""
    folder.mkdir()
    trials = max(1, round(10**power / (TOPICS * SYSTEMS * 1.5)))
    (folder / "growth.audit.yaml").write_text(AUDIT.format(trials=trials), encoding="utf-8")
    found = {part: measured(part, folder) for part in PARTS}
    shutil.rmtree(folder)
    return found


def recovery(power: int, folder: Path) -> list[Bounded]:
    """Of a run that is killed after about 10^power turns: it is resumed to its first request."""
    folder.mkdir()
    trials = max(2, round(10**power / (TOPICS * 2)) + 1)
    turns = (trials - 1) * TOPICS * 2
    audit, told = folder / "killed.audit.yaml", folder / "resumed.json"
    audit.write_text(KILLED.format(trials=trials), encoding="utf-8")
    (folder / "bot.py").write_text(BOT, encoding="utf-8")
    command = [sys.executable, "-m", "harvest", "run", str(audit), "--out", str(folder / "run")]
    died = subprocess.run(command, check=False, env={**os.environ, "KILLED_AFTER": str(turns)}, **QUIET)  # type: ignore[call-overload]
    assert died.returncode == -signal.SIGKILL
    began = time.time()
    subprocess.run(command, check=False, env={**os.environ, "RESUMED": str(told)}, **QUIET)  # type: ignore[call-overload]
    found = json.loads(told.read_text(encoding="utf-8"))
    shutil.rmtree(folder)
    what = f"recovery of a run killed after {turns:,} turns, to its first request"
    bound = 1.0 * max(1.0, turns / 20_000)  # a second for 10,000 conversations of two turns
    note = f"{found['at'] - began:.2f} s on the clock, peak {found['peak'] / 1e6:.0f} MB"
    return [Bounded(what, found["cpu"], bound, "s", note)]


def row(found: Mapping[str, Mapping[str, float]]) -> str:
    turns = found["read"]["turns"]
    each = " | ".join(f"{1000 * found[part]['cpu'] / turns:.3f}" for part in STEPS)
    held = " | ".join(f"{found[part]['peak']:,.0f}" for part in ("play", "read", "score"))
    return f"| {turns:,.0f} | {each} | {held} |"


def picture(every: Sequence[Mapping[str, Mapping[str, float]]]) -> str:
    """Two plots side by side: of what takes milliseconds, and of what takes microseconds."""
    sys.path.insert(0, str(DOCS))
    from plot import Line, Plot, drawn  # type: ignore[import-not-found]

    def line(part: str, scale: float) -> object:
        points = [(math.log10(one["read"]["turns"]), scale * one[part]["cpu"] / one["read"]["turns"]) for one in every]
        return Line(part, points)

    def most(parts: Sequence[str], scale: float) -> float:
        """The top of an axis that begins at 0: costs that stay the same are to look like it."""
        top = max(scale * one[part]["cpu"] / one["read"]["turns"] for one in every for part in parts)
        step = 10.0 ** math.floor(math.log10(top))
        return math.ceil(top / step + 0.1) * step

    panels = [
        Plot(
            title,
            "turns of the run, as a power of ten",
            label,
            [line(part, scale) for part in parts],
            y=(0.0, most(parts, scale)),
        )
        for title, label, parts, scale in (
            ("Play and score", "ms of CPU a turn", ("play", "score"), 1e3),
            ("Record and read back", "µs of CPU a turn", ("record", "read"), 1e6),
        )
    ]
    return str(drawn(*panels))


def busy(loads: Sequence[float]) -> str:
    """How much else went on: with more than its cores to do, a machine takes more processor time for the same work."""
    return f"on which {min(loads):.1f} to {max(loads):.1f} processes were at work when the runs began"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--largest", type=int, default=4, metavar="POWER", help="of ten: 6 is a million turns")
    options.add_argument("--write", action="store_true")
    options.add_argument("--part", nargs=2, metavar=("PART", "FOLDER"), help="for itself")
    given = options.parse_args()
    gc.set_threshold(200_000, 50, 50)  # as `harvest` does
    if given.part:
        print(json.dumps(PARTS[given.part[0]](Path(given.part[1]))))
        return
    head = HEAD.format(largest=given.largest)
    rows, every, loads = [], [], []
    print(head)
    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        folder = Path(name)
        powers = range(3, given.largest + 1)
        for power in powers:
            loads.append(os.getloadavg()[0])
            every.append(costs(power, folder / f"run-{power}"))
            rows.append(row(every[-1]))
            print(rows[-1], flush=True)
        recovered = [one.row() for power in powers for one in recovery(power, folder / f"killed-{power}")]
    bounds = "\n".join([HEADING, *recovered])
    told = f"Recovery, in CPU seconds:\n\n{bounds}"
    print(f"\n{told}\n\n{machine()}")
    if given.write:
        (DOCS / "growth.svg").write_text(picture(every), encoding="utf-8")
        write_part("growth", "\n".join([head, *rows, "", told, "", f"On {machine()}, {busy(loads)}."]))


if __name__ == "__main__":
    main()
