"""What `harvest view` costs: a thousand runs listed in Chromium, and a run that is followed while it is played.

    python -m tests.benchmarks.view            a minute
    python -m tests.benchmarks.view --write    writes its part of docs/performance.md

Lateness is the time from the stamp of a trial's last line to its arrival on the page's stream. CPU is that of the view
while the run is played, beside that of the process that plays it, and beside that of the least a Python program can do
to follow it: a bare event loop that wakes as often, reads what was added to one file and writes one line to a socket.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import sync_playwright

from recordings.files.times import unix_seconds
from tests.support.browsing import settings
from tests.support.performance_page import HEADING, Bounded, write_part
from tests.support.viewed_folder import View, viewing

RUNS = 1000
DEMO = ["demo"]
SLOW = """format: harvest-audit/1
name: slow
topics: fairweb-45
protocol: fairweb-two-round
trials: 5
systems: [{name: A, driver: parrot, rate: 2/s}]
"""


def many(folder: Path, run: Path) -> None:
    """Copies of a run's header and of the first of its lines, with other times."""
    header = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (file,) = run.glob("trials-*.jsonl")
    lines = b"".join(file.read_bytes().splitlines(keepends=True)[:200])
    for number in range(RUNS):
        at = folder / f"{number % 10}" / f"run-{number}"
        at.mkdir(parents=True)
        header["created_at"] = f"2026-01-01T{number % 24:02}:{number % 60:02}:00.000000+00:00"
        (at / "run.json").write_text(json.dumps(header), encoding="utf-8")
        (at / file.name).write_bytes(lines)


def milliseconds_listed(folder: Path) -> float:
    """From the opening of the page to the last of its rows, of a view that was just started."""
    with viewing(folder) as view, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=settings().executable, args=["--no-sandbox"])
        window = browser.new_page()
        window.goto(view.link)
        while window.evaluate("document.querySelectorAll('#runs tbody tr').length") < RUNS:
            window.wait_for_timeout(20)
        found = float(window.evaluate("Number(document.documentElement.dataset.ready)"))
        browser.close()
    return found


@dataclass
class Listener:
    """Notes when each trial arrives on the stream of the page."""

    view: View
    arrived: dict[tuple[Any, ...], float] = field(default_factory=dict)
    uncounted: set[str] = field(default_factory=set)
    counted: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.view.port)
        connection.request("GET", "/api/news", headers={"Harvest-Token": self.view.token})
        with connection.getresponse() as stream:
            while line := stream.readline():
                now, news = time.time(), json.loads(line)
                for run in news.get("runs", ()):
                    (self.uncounted.discard if run["counts"] else self.uncounted.add)(run["key"])
                for live in news.get("live", ()):
                    for one in live["attempts"]:
                        if one[5]:
                            self.arrived.setdefault(tuple(one[:4]), now)
                if not self.uncounted:
                    self.counted.set()


def seconds_used(process: int) -> float:
    """CPU seconds of a process that keeps its threads. Those of psutil have steps of 10 ms, too many for the view."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(one.read_text().split()[0]) for one in threads) / 1e9


def followed(folder: Path, audit: list[str], seconds: float) -> tuple[float, float, float, list[float]]:
    """CPU of the view and of the player, seconds of the clock, and the lateness of each trial that was listed."""
    run = folder / "played"
    with viewing(folder) as view:
        listener = Listener(view)
        threading.Thread(target=listener.listen, daemon=True).start()
        listener.counted.wait()
        command = [sys.executable, "-m", "harvest", "run", *audit, "--out", str(run), "--no-report"]
        before, began = seconds_used(view.process.pid), time.monotonic()
        player = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        playing, spent = psutil.Process(player.pid), 0.0
        while player.poll() is None and time.monotonic() - began < seconds:
            spent = sum(playing.cpu_times()[:2]) or spent
            time.sleep(0.05)
        if player.poll() is None:
            player.send_signal(signal.SIGTERM)
        player.wait()
        time.sleep(1.5)
        lasted, taken = time.monotonic() - began, seconds_used(view.process.pid) - before
    started: dict[tuple[str, int], tuple[Any, ...]] = {}
    late: list[float] = []
    for file in run.glob("trials-*.jsonl"):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            known = (row.get("id"), row.get("attempt"))
            if row["event"] == "trial-started":
                started[known] = (row["system"], row["topic"], row["trial"], row["attempt"])
            elif row["event"] == "trial-ended" and started[known] in listener.arrived:
                late.append(listener.arrived[started[known]] - unix_seconds(row["at"]))
    shutil.rmtree(run)
    return taken, spent, lasted, late


def least_followed(file: Path, seconds: float) -> float:
    """CPU, per second, of a bare loop that does what cannot be left out while a file grows twice a second."""
    line = json.dumps({"event": "turn", "said": "x" * 500}) + "\n"
    grow = f"import time\nf = open({str(file)!r}, 'a', buffering=1)\nwhile True: f.write({line!r}); time.sleep(.5)"
    loop = f"""import asyncio, os, socket
async def follow():
    page, reader = socket.socketpair()
    with open({str(file)!r}, "rb") as file:
        size = 0
        while True:
            await asyncio.sleep(.8)
            if (now := os.stat(file.fileno()).st_size) > size:
                size = now
                page.send(file.read()[:400]); reader.recv(400)
asyncio.run(follow())"""
    file.touch()
    growing, following = (subprocess.Popen([sys.executable, "-c", code]) for code in (grow, loop))
    try:
        time.sleep(2)  # until it has started
        before, began = seconds_used(following.pid), time.monotonic()
        time.sleep(seconds)
        return (seconds_used(following.pid) - before) / (time.monotonic() - began)
    finally:
        for process in (growing, following):
            process.kill()
            process.wait()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "all"
        first = Path(home) / "first"
        command = [sys.executable, "-m", "harvest", "run", "demo", "--out", str(first), "--no-report"]
        subprocess.run(command, check=True, capture_output=True)
        many(folder, first)
        listed = statistics.median(milliseconds_listed(folder) for _ in range(3)) / 1000
        (Path(home) / "slow.yaml").write_text(SLOW, encoding="utf-8")
        quick = followed(folder, DEMO, 120)
        slow = followed(folder, [str(Path(home) / "slow.yaml")], 40)
        least = least_followed(Path(home) / "growing.jsonl", 20)
    rows = [
        Bounded(f"{RUNS:,} runs listed, from the opening of the page", listed, 1, "s", "a view that was just started"),
        Bounded("a trial on the page, after it is on disk", max(slow[3]), 1, "s", f"the latest of {len(slow[3])}"),
        Bounded("CPU of the view, at full speed", quick[0] / quick[1], 0.02, "×", f"the player's: {quick[1]:.1f} s"),
        Bounded(
            "CPU of the view, at 2 turns a second", slow[0] / slow[1], 0.02, "×", f"the player's is {slow[1]:.1f} s"
        ),
    ]
    table = "\n".join([HEADING, *(one.row() for one in rows)])
    text = f"""## A folder on one page

`harvest view` on {RUNS + 1:,} runs, {os.cpu_count()} cores; written by `python -m tests.benchmarks.view --write`.

{table}

At 2 turns a second the player needs {100 * slow[1] / slow[2]:.1f}% of a core, and the view, which looks at the files
every .8 s, {100 * slow[0] / slow[2]:.2f}%. A bare loop in Python that only wakes as often, reads what was added to one
file and writes a line to a socket needs {100 * least:.3f}%, which is {100 * least * slow[2] / slow[1]:.1f}% of the
player's: so little is done at this pace that a program that looks at all is not much below the bound."""
    print(text)
    if given.write:
        write_part("view", text)


if __name__ == "__main__":
    main()
