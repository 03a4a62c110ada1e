"""What it costs to begin: CPU of `harvest --help` and of importing each package, beside a bare interpreter.

    python -m tests.benchmarks.start            all of it
    python -m tests.benchmarks.start --write    writes its part of docs/performance.md: commands beside their bounds

Ratios of medians, made in one run; a process each, in turn, so that a drift of the machine hits all alike. A run is
ended when its first request arrives.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.performance_page import HEADING, Bounded, write_part

PACKAGES = ("topics", "protocols", "recordings", "simulators", "scoring", "harvest")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import click": [sys.executable, "-c", "import click"],
    "harvest --help": [sys.executable, "-m", "harvest", "--help"],
    "harvest --version": [sys.executable, "-m", "harvest", "--version"],
    **{f"import {name}": [sys.executable, "-c", f"import {name}"] for name in PACKAGES},
    **{f"from {name} import *": [sys.executable, "-c", f"from {name} import *"] for name in PACKAGES},
}
RUNS = 15
AUDIT = """format: harvest-audit/1
name: start
topics: fairweb-45
protocol: fairweb-two-round
trials: 1
seed: 1
systems:
  - {{name: A, driver: {driver}, options: {options}}}
"""
BOUNDS = {"harvest --help": 0.10, "harvest check": 0.3, "harvest run": 0.5}


def environment() -> Mapping[str, str]:
    """Bytecode may be kept, and certificates are those of the machine."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def cpu_seconds(command: list[str], listening: socket.socket | None = None) -> float:
    """User and system time of one process, until it ends or calls at `listening`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment()) as process:
        if listening is not None:
            listening.accept()[0].close()
            process.kill()
    if listening is None and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def bounded() -> list[Bounded]:
    """The commands that have a bound."""
    with tempfile.TemporaryDirectory(prefix="start-") as name, socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        folder = Path(name)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        audit = folder / "start.audit.yaml"
        options = f'{{base_url: "{url}", model: m}}'
        audit.write_text(AUDIT.format(driver="openai", options=options), encoding="utf-8")
        harvest = [sys.executable, "-m", "harvest"]
        found: dict[str, list[float]] = {name: [] for name in BOUNDS}
        for number in range(RUNS):
            found["harvest --help"].append(cpu_seconds([*harvest, "--help"]))
            found["harvest check"].append(cpu_seconds([*harvest, "check", str(audit)]))
            out = str(folder / f"run-{number}")
            found["harvest run"].append(cpu_seconds([*harvest, "run", str(audit), "--out", out], listening))
    notes = {"harvest run": "driver `openai`, to the first request"}
    return [
        Bounded(f"`{name}`", statistics.median(spent), BOUNDS[name], "s", notes.get(name, ""))
        for name, spent in found.items()
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true")
    write = options.parse_args().write
    table = "\n".join([HEADING, *(one.row() for one in bounded())])
    print(table)
    if write:
        write_part("start", f"## Start\n\nCPU, imports included, the median of {RUNS}.\n\n{table}")
        return
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            times[name].append(cpu_seconds(command))
    bare = statistics.median(times["python -c pass"])
    print(f"{'command':<26} {'CPU s, median':>14} {'min':>7} {'max':>7} {'ratio to bare python':>21}")
    for name, spent in times.items():
        median = statistics.median(spent)
        print(f"{name:<26} {median:>14.3f} {min(spent):>7.3f} {max(spent):>7.3f} {median / bare:>21.1f}")


if __name__ == "__main__":
    main()
