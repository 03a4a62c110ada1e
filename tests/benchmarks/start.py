"""What it costs to begin: CPU of `harvest --help` and of importing each package, beside a bare interpreter.

Ratios of medians, made in one run; a process each, in turn, so that a drift of the machine hits all alike.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

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


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main() -> None:
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
