"""What large sets cost: many systems compared, many topics checked, a long history of a watch.

    python -m tests.benchmarks.sizes                 plays a run of 50 systems first, some minutes
    python -m tests.benchmarks.sizes --keep FOLDER   keeps there what is made, and takes what is there
    python -m tests.benchmarks.sizes --write         writes its part of docs/performance.md

Each figure stands beside the bound it is held to. Seconds are of the processor, of a process of its own each, imports
included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harvest.studies.watch.history import Look, LookFigure, LookSystem, WatchRules
from tests.benchmarks.growth import busy
from tests.support.performance_page import HEADING, Bounded, machine, write_part

SYSTEMS, TRIALS, TOPICS, LOOKS = 50, 3, 150_000, 10_000
HEAD = """# Many systems, many topics, many looks

Processor seconds, of a process of its own each, imports included; written by `python -m tests.benchmarks.sizes
--write`. `compare` prints the pairs of the best of the systems. What decides about a pair is computed for all pairs,
and the rest, such as intervals, for those that are printed. `--json`, which has all pairs, takes several times as
long."""
AUDIT = """format: harvest-audit/1
name: large
topics: {topics}
protocol: {protocol}
trials: {trials}
seed: 1
systems:
"""


def spent(*words: str) -> tuple[float, float]:
    """CPU seconds and the peak, in MB, of a `harvest` command."""
    ran = subprocess.Popen([sys.executable, "-m", "harvest", *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(status)
    assert ran.returncode == 0, words
    return used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def compared(folder: Path) -> Iterator[Bounded]:
    run, audit = folder / "systems", folder / "systems.yaml"
    systems = (
        f"  - {{name: S{number}, driver: parrot, options: {{profile: {('steady', 'erratic')[number % 2]}}}}}\n"
        for number in range(SYSTEMS)
    )
    head = AUDIT.format(topics="fairweb-45", protocol="fairweb-two-round", trials=TRIALS)
    audit.write_text(head + "".join(systems), encoding="utf-8")
    if not run.exists():
        spent("run", str(audit), "--out", str(run))
    seconds, peak = spent("compare", str(run))
    what = f"`harvest compare` of {SYSTEMS} systems over 45 topics × {TRIALS}"
    yield Bounded(what, seconds, 5, "s", f"{SYSTEMS * (SYSTEMS - 1) // 2:,} pairs; peak {peak:,.0f} MB")


def checked(folder: Path) -> Iterator[Bounded]:
    drawn = random.Random(1)
    syllables = [one + other for one in "bcdfghjklmnprstvw" for other in "aeiou"]
    words = ["".join(drawn.choices(syllables, k=drawn.randint(2, 4))) for _ in range(6000)]
    often = [1 / (place + 3) for place in range(len(words))]  # as in texts
    asked = [f"What is {' '.join(drawn.choices(words, often, k=5))}?" for _ in range(TOPICS)]
    head = "format: harvest-topics/1\nname: large\ntypes: {question: {}}\ntopics:\n"
    lines = (f"  - {{id: T{number}, type: question, request: {text}}}\n" for number, text in enumerate(asked))
    (folder / "topics.yaml").write_text(head + "".join(lines), encoding="utf-8")
    rows = (f"T{number},{text}\n" for number, text in enumerate(asked))
    (folder / "questions.csv").write_text("id,question\n" + "".join(rows), encoding="utf-8")
    system = "  - {name: A, driver: openai, options: {base_url: 'http://127.0.0.1:9/v1', model: m}}\n"
    for name in ("topics.yaml", "questions.csv"):
        audit = folder / f"{name}.audit.yaml"
        audit.write_text(AUDIT.format(topics=name, protocol="seed-turns", trials=1) + system, encoding="utf-8")
        seconds, peak = spent("check", str(audit))
        what = f"`harvest check` of {TOPICS:,} topics, `{name}`"
        yield Bounded(what, seconds, 8, "s")
        yield Bounded(f"{what}: peak memory", peak, 400, "MB")


def watched(folder: Path) -> Iterator[Bounded]:
    path, drawn = folder / "watched.history.jsonl", random.Random(1)
    began = datetime(2000, 1, 1, tzinfo=UTC)

    def figure(*, gated: bool) -> LookFigure:
        value = drawn.gauss(0.85, 0.02)
        evidence = tuple(tuple(drawn.gauss(-0.5, 0.2) for _ in range(7)) for _ in range(2)) if gated else None
        known: dict[str, object] = {
            "difference": value - 0.85,
            "own": 0.0004,
            "left": 0.05,
            "spent": 0.03,
            "evidence": evidence,
        }
        known |= {"confirms": (False, False), "waits": False} if gated else {}
        ends = {"low": value - 0.9, "high": value - 0.8}
        return LookFigure.model_validate(
            {"value": value, "n": 225, "verdict": "cannot tell", "word": "cannot tell", **ends, **known}
        )

    with path.open("w", encoding="utf-8") as file:
        for number in range(LOOKS):
            figures = {"ave%useful": figure(gated=True), "%useful S1": figure(gated=False)}
            look = Look(
                at=(began + timedelta(hours=20 * number)).isoformat(),
                run=f"run-{number}",
                baseline="b" * 32,
                systems={"A": LookSystem(planned=225, valid=225, figures=figures)},
                rules=WatchRules(),
            )
            look = look.model_copy(update={"hash": look.identity})
            file.write(json.dumps(look.model_dump(mode="json"), separators=(",", ":")) + "\n")
    start, _ = spent("--help")
    seconds, peak = spent("watch", "history", str(path))
    what = f"`harvest watch history` of {LOOKS:,} looks, beyond the start"
    yield Bounded(what, seconds - start, 2, "s", f"peak {peak:,.0f} MB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what is made there")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    rows, loads = [HEADING], [os.getloadavg()[0]]
    print(HEADING)
    with tempfile.TemporaryDirectory(prefix="sizes-") as name:
        folder = given.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        for part in (checked, watched, compared):
            for figure in part(folder):
                rows.append(figure.row())
                loads.append(os.getloadavg()[0])
                print(rows[-1], flush=True)
    on = f"On {machine()}, {busy(loads)}."
    if given.write:
        write_part("sizes", "\n".join([HEAD, "", *rows, "", on]))
    print(f"\n{on}")


if __name__ == "__main__":
    main()
