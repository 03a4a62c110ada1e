"""What the figures of a very large run cost: computed for the first time, and again when nothing has changed.

    python -m tests.benchmarks.million                          a million conversations: 5 GB of files, some minutes
    python -m tests.benchmarks.million --conversations 100000   fewer
    python -m tests.benchmarks.million --write                  writes its part of docs/performance.md
    python -m tests.benchmarks.million --keep FOLDER            keeps there what is made, and takes what is there

A run of 2,160 conversations of two embedded assistants is played, and written into a larger one as often as needed,
with other trial numbers and identities. So its texts recur, but each is read and measured as if it were new. Bounds are
those of a million conversations, in proportion for fewer. Seconds are of the processor, of a process of its own each,
imports included.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from recordings.files.json_text import encode_document
from tests.benchmarks.growth import AUDIT, busy
from tests.support.performance_page import HEADING, Bounded, machine, write_part

TRIALS, SYSTEMS, TOPICS = 24, 2, 45
HEAD = """## A million conversations

`harvest score` of one large run, from the start of the command. {count:,} conversations of at most two turns of two
systems on 45 topics, {size:.1f} GB of files; written by `python -m tests.benchmarks.million --write`. *Again* is the
same command when nothing has changed: the figures come from [`columns/`](recordings.md#columns) in the run's folder, as
do those of the other commands then."""
_NAMED = re.compile(rb'"id":"[0-9a-f]{8}')
_TRIAL = re.compile(rb'"trial":([0-9]+)')


def multiplied(small: Path, run: Path, times: int) -> None:
    """Write a run with the trials of `small` so many times."""
    run.mkdir()
    header = json.loads((small / "run.json").read_bytes())
    header["audit"]["trials"] = TRIALS * times
    header.pop("chain", None)
    (run / "run.json").write_bytes(encode_document(header))
    for layer in (small / "judgments").glob("*"):
        (run / "judgments").mkdir(exist_ok=True)
        (run / "judgments" / layer.name).write_bytes(layer.read_bytes())
    opening, _, lines = (small / "trials-000001.jsonl").read_bytes().partition(b"\n")
    opened = {name: value for name, value in json.loads(opening).items() if name != "chain"}
    with (run / "trials-000001.jsonl").open("wb") as file:
        file.write(json.dumps(opened, separators=(",", ":")).encode() + b"\n")
        day = date.fromisoformat(opened["at"][:10])
        for time in range(times):
            named = _NAMED.sub(b'"id":"%08x' % time, lines)
            # Another day each: trials with equal values at one time would be found to be alike in time, by many draws.
            then = (day + timedelta(days=time)).isoformat()
            named = named.replace(f'"at":"{day}T'.encode(), f'"at":"{then}T'.encode())
            file.write(_TRIAL.sub(partial(_moved, TRIALS * time), named))


def _moved(more: int, found: re.Match[bytes]) -> bytes:
    return b'"trial":%d' % (int(found[1]) + more)


def run_of(folder: Path, conversations: int) -> Path:
    small, run = folder / "small", folder / f"run-{conversations}"
    times = max(1, round(conversations / (TRIALS * SYSTEMS * TOPICS)))
    if not small.exists():
        (folder / "small.audit.yaml").write_text(AUDIT.format(trials=TRIALS), encoding="utf-8")
        command = [sys.executable, "-m", "harvest", "run", str(folder / "small.audit.yaml"), "--out", str(small)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not run.exists():
        multiplied(small, run, times)
    return run


def spent(name: str, run: Path) -> tuple[float, float]:
    """CPU seconds and peak MB of a command."""
    command = [sys.executable, "-m", "harvest", name, str(run)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def figures(folder: Path, conversations: int) -> tuple[int, float, list[Bounded]]:
    run, little = run_of(folder, conversations), run_of(folder, 10_800)
    count = round(conversations / (TRIALS * SYSTEMS * TOPICS)) * TRIALS * SYSTEMS * TOPICS
    for file in (file for one in (run, little) for file in (one / "columns").glob("*.npz")):
        file.unlink()
    few, least = spent("score", little)
    few_again, _ = spent("score", little)
    first, peak = spent("score", run)
    again, peak_again = spent("score", run)
    others = {name: spent(name, run) for name in ("tree", "compare", "variance")}
    growth = (peak - least) * 1e6 / (count - 10_800)
    share = count / 1e6
    size = sum(file.stat().st_size for file in run.glob("trials-*")) / 1e9
    return (
        count,
        size,
        [
            Bounded("first `score`, 10,800 conversations", few, 2.0, "s"),
            Bounded("again, 10,800 conversations", few_again, 0.6, "s"),
            Bounded(f"first `score`, {count:,} conversations", first, 150 * share, "s"),
            Bounded("peak memory of the first", peak, 800, "MB"),
            Bounded("growth of the peak", growth, 200, "bytes a conversation"),
            Bounded(f"again, {count:,} conversations", again, 5 * share, "s", f"peak {peak_again:,.0f} MB"),
            *(
                Bounded(f"`{name}` from columns", taken, most * share, "s", f"peak {high:,.0f} MB")
                for (name, (taken, high)), most in zip(others.items(), (1, 10, 10), strict=True)
            ),
        ],
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--conversations", type=int, default=1_000_000)
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what is made there")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="million-") as name:
        folder = given.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        loads = [os.getloadavg()[0]]
        count, size, rows = figures(folder, given.conversations)
        loads.append(os.getloadavg()[0])
    text = "\n".join(
        [
            HEAD.format(count=count, size=size),
            "",
            HEADING,
            *(one.row() for one in rows),
            "",
            f"On {machine()}, {busy(loads)}.",
        ]
    )
    print(text)
    if given.write:
        write_part("million", text)


if __name__ == "__main__":
    main()
