"""What a study of a large run costs: 45 topics × 50 trials × 4 systems, 9,000 conversations that were really played.

    python -m tests.benchmarks.studies                 plays the run first, a few minutes
    python -m tests.benchmarks.studies --run FOLDER    plays it there, or takes the one that is there
    python -m tests.benchmarks.studies --trials 5      a quick look

Seconds of the processor (user and system, of all threads) and of the clock, of a process each, in turns, so that a
drift of the machine hits all alike; medians. The ratio is to reading the run alone, made in the same turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]

ROUNDS = 3
SHARES = ("-m", "%useful", "-m", "ave%useful", "-m", "%recovery")
STUDIES: dict[str, tuple[str, ...]] = {
    "compare, shares": ("compare", *SHARES),
    "compare, usual measures with gold": ("compare",),
    "variance, shares": ("variance",),
    "variance, R and GF": ("variance", "-m", "R", "-m", "GF"),
}
READING = "from recordings.log.run_folder import read; import sys; len(read(sys.argv[1]).finished)"


def audit(trials: int) -> str:
    return f"""format: harvest-audit/1
name: large
topics: fairweb-45
protocol: fairweb-two-round
gold: parrot
trials: {trials}
seed: 1
systems:
  - {{name: A, driver: parrot, options: {{profile: steady}}, concurrency: 8}}
  - {{name: B, driver: parrot, options: {{profile: erratic}}, concurrency: 8}}
  - {{name: C, driver: parrot, options: {{profile: steady}}, concurrency: 8}}
  - {{name: D, driver: parrot, options: {{profile: erratic}}, concurrency: 8}}
"""


def played(run: Path, trials: int) -> Path:
    """The run in the folder `run`, played to its end."""
    file = run.with_name(f"{run.name}.yaml")
    file.write_text(audit(trials), encoding="utf-8")
    command = [sys.executable, "-m", "harvest", "run", str(file), "--out", str(run)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run


def spent(command: Sequence[str]) -> tuple[float, float]:
    """Seconds of the processor and of the clock of one process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime), took


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--run", type=Path)
    options.add_argument("--trials", type=int, default=50)
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = played(given.run or Path(folder) / "large", given.trials)
        harvest = [sys.executable, "-m", "harvest"]
        commands = {
            "reading alone": [sys.executable, "-c", READING, str(run)],
            **{name: [*harvest, words[0], str(run), *words[1:]] for name, words in STUDIES.items()},
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(given.rounds):
            for name, command in commands.items():
                times[name].append(spent(command))
    print(f"{4 * 45 * given.trials:,} conversations, {os.cpu_count()} cores")
    cpu, clock = ({name: statistics.median(one[at] for one in own) for name, own in times.items()} for at in (0, 1))
    print(f"{'':<36} {'CPU s':>7} {'clock s':>8} {'ratio of CPU to reading':>24}")
    for name in commands:
        print(f"{name:<36} {cpu[name]:>7.2f} {clock[name]:>8.2f} {cpu[name] / cpu['reading alone']:>24.1f}")


if __name__ == "__main__":
    main()
