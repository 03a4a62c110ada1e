"""How quickly trials are folded into a tree, beside the plainest formulations of the same grouping.

    python -m tests.benchmarks.trees                    10,000 and 100,000 conversations
    python -m tests.benchmarks.trees --largest 1000000 --streamed 1000000 --plot docs/trees.svg
                                                   the table and the plot of docs/trees.md

A conversation is 10 user turns and 10 answers, so 20 turns; answers are o or x with a chance that depends on the last
one, and conversations end early now and then. Two worlds: `labels`, where a turn is one of two symbols, and `texts`,
where an answer is one of 200 with Zipf-like frequencies, so that most paths are seen once and the tree is nearly as
large as its trials.

    fold          the product, on encoded paths: nodes, counts, canonical order, every check
    builder       the product, one conversation after the other, for `--streamed` conversations at most
    recordings    the product, `TreeBuilder.add` on conversations as they are recorded, with texts of 120 characters,
                  names of trials and outcomes, for `--streamed` conversations at most
    numpy rows    np.unique(paths[:, :t], axis=0, return_inverse=True, return_counts=True) for every t
    polars        group_by(first t columns).len() for every t, where polars is installed

The last two give counts of prefixes and nothing else: no tree, no order, no ends, nothing to look a trial up in. Each
measurement runs in a process of its own, which also tells its memory. `work` is processor time, of all threads: what
else runs on the machine changes it less than the clock. Rates, ratios, µs a conversation and the plot are of work, and
all of one run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.trees.builder import PathTurn, TreeBuilder, fold
from recordings.trees.tree import Symbol

TURNS = 10
SEED = 20231212
Paths = npt.NDArray[np.int32]


def world(name: str, n: int) -> tuple[Paths, list[Symbol]]:
    """(n, 20) encoded paths, user and system in turn, and their symbols."""
    rng = np.random.default_rng([SEED, n])
    paths = np.full((n, 2 * TURNS), -1, dtype=np.int32)
    users = [Symbol("user", "more"), Symbol("user", "insist")]
    if name == "labels":
        answers = [Symbol("system", "o"), Symbol("system", "x")]
    else:
        answers = [Symbol("system", f"answer {i}") for i in range(200)]
    failed = np.zeros(n, dtype=bool)
    going = np.ones(n, dtype=bool)
    for turn in range(TURNS):
        paths[going, 2 * turn] = failed[going]
        if name == "labels":
            found = rng.random(n) < np.where(failed, 0.6, 0.2)
        else:
            found = (200 * rng.random(n) ** 3).astype(np.int32)
        paths[going, 2 * turn + 1] = 2 + found[going]
        failed = found > 0
        going &= rng.random(n) > 0.02
    return paths, users + answers


def by_fold(paths: Paths, symbols: list[Symbol]) -> tuple[int, int]:
    return len(fold(paths, symbols)), int(np.count_nonzero(paths >= 0))


def by_builder(paths: Paths, symbols: list[Symbol]) -> tuple[int, int]:
    builder = TreeBuilder()
    turns: list[PathTurn] = [(one.speaker, one.key, None) for one in symbols]
    counted = 0
    for row in paths:
        path = [turns[code] for code in row.tolist() if code >= 0]
        builder.add_path(path)
        counted += len(path)
    return len(builder.tree()), counted


def by_recordings(paths: Paths, symbols: list[Symbol]) -> tuple[int, int]:
    """Each conversation is made when it is asked for, as from a file, so the work of making it is in the figure."""
    builder = TreeBuilder()
    texts = [f"{one.key} {'and so on ' * 12}"[:120].rstrip() for one in symbols]
    counted = 0
    for trial, row in enumerate(paths, 1):
        codes = [code for code in row.tolist() if code >= 0]
        counted += len(codes)
        turns = tuple(
            Turn(i // 2 + 1, "", "".join(texts[codes[i]]), SystemTurn(Answer("".join(texts[codes[i + 1]]))))
            for i in range(0, len(codes), 2)
        )
        builder.add(Conversation(TrialKey("S", "T", trial), "", 1, turns, Outcome("completed")))
    return len(builder.tree()), counted


def by_numpy(paths: Paths, symbols: list[Symbol]) -> tuple[int, int]:
    nodes = 1
    for width in range(1, paths.shape[1] + 1):
        prefixes = paths[paths[:, width - 1] >= 0, :width]
        found, _, _ = np.unique(prefixes, axis=0, return_inverse=True, return_counts=True)
        nodes += len(found)
    return nodes, int(np.count_nonzero(paths >= 0))


def by_polars(paths: Paths, symbols: list[Symbol]) -> tuple[int, int]:
    import polars  # type: ignore[import-not-found,unused-ignore]

    frame = polars.DataFrame({f"t{i}": paths[:, i] for i in range(paths.shape[1])})
    nodes = 1
    for width in range(1, paths.shape[1] + 1):
        going = frame.filter(polars.col(f"t{width - 1}") >= 0)
        nodes += len(going.group_by([f"t{i}" for i in range(width)]).len())
    return nodes, int(np.count_nonzero(paths >= 0))


WAYS: dict[str, Callable[[Paths, list[Symbol]], tuple[int, int]]] = {
    "fold": by_fold,
    "builder": by_builder,
    "recordings": by_recordings,
    "numpy rows": by_numpy,
    "polars": by_polars,
}


def measured(way: str, name: str, n: int) -> dict[str, float]:
    """In this process: seconds on the clock and of processor time, turns a second of the latter, nodes, and the most
    memory that was held (bytes)."""
    paths, symbols = world(name, n)
    WAYS[way](paths[:100], symbols)  # imports and first calls are nobody's turns
    start, worked = time.perf_counter(), time.process_time()
    nodes, turns = WAYS[way](paths, symbols)
    seconds, work = time.perf_counter() - start, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"seconds": seconds, "work": work, "rate": turns / work, "nodes": nodes, "peak": peak, "turns": turns}


def apart(way: str, name: str, n: int) -> dict[str, Any]:
    """The same in a process of its own."""
    arguments = [sys.executable, __file__, "--one", way, name, str(n)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=os.environ)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


_STYLE = (
    "<style>.paper{fill:#ffffff}text{fill:#1a1a1a}.axis{stroke:#333333}.hair{stroke:#999999}.note{fill:#555555}"
    "@media screen and (prefers-color-scheme:dark){"
    ".paper{fill:#0d1117}text{fill:#e6e6e6}.axis{stroke:#9a9a9a}.hair{stroke:#6e7681}.note{fill:#9da7b1}}</style>"
)
_COLOURS = {
    "fold": "#1b6ca8",
    "builder": "#c2571a",
    "recordings": "#8a4fa3",
    "numpy rows": "#777777",
    "polars": "#5b8c3a",
}
_LEFT, _TOP, _SIDE, _GAP = 70, 40, 300, 110


def plot(rows: Sequence[Mapping[str, Any]]) -> str:
    """An SVG of seconds of work over conversations, both logarithmic: linear cost has the slope of the dashes.

    rows: each with `world`, `way`, `n` and `seconds`.
    """
    low, high = (round(log10(edge(float(row["n"]) for row in rows))) for edge in (min, max))
    seconds = [float(row["seconds"]) for row in rows]
    bottom, top = floor(log10(min(seconds))), ceil(log10(max(seconds)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * _SIDE + _LEFT + _GAP + 50} {_SIDE + _TOP + 80}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Processor seconds to fold conversations into a tree</title>",
        _STYLE,
        '<rect width="100%" height="100%" class="paper"/>',
    ]
    for place, name in enumerate(dict.fromkeys(row["world"] for row in rows)):
        left = _LEFT + place * (_SIDE + _GAP)

        def at(n: float, took: float, left: int = left) -> tuple[float, float]:
            x = left + _SIDE * (log10(n) - low) / max(high - low, 1)
            return round(x, 1), round(_TOP + _SIDE * (top - log10(took)) / (top - bottom), 1)

        lines.append(f'<rect x="{left}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" class="axis"/>')
        lines.append(f'<text x="{left + _SIDE / 2}" y="{_TOP - 12}" text-anchor="middle">world: {escape(name)}</text>')
        for power in range(low, high + 1):
            x, _ = at(10**power, 10**bottom)
            lines.append(f'<text x="{x}" y="{_TOP + _SIDE + 20}" text-anchor="middle">{10**power:,}</text>')
        for power in range(bottom, top + 1):
            _, y = at(10**low, 10**power)
            lines.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{10.0**power:g} s</text>')
        for start in range(bottom - (high - low), top):
            (x1, y1), (x2, y2) = at(10**low, 10.0**start), at(10**high, 10.0 ** (start + high - low))
            lines.append(
                f'<svg x="{left}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"><line x1="{x1 - left}" y1="{y1 - _TOP}" '
                f'x2="{x2 - left}" y2="{y2 - _TOP}" class="hair" stroke-dasharray="4 4"/></svg>'
            )
        for way, colour in _COLOURS.items():
            found = [at(row["n"], row["seconds"]) for row in rows if (row["world"], row["way"]) == (name, way)]
            points = " ".join(f"{x},{y}" for x, y in found)
            lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            lines += [f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>' for x, y in found]
    for place, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        x, y = _LEFT + 120 * place, _TOP + _SIDE + 56
        lines.append(f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{_COLOURS[way]}"/>')
        lines.append(f'<text x="{x + 12}" y="{y}">{way}</text>')
    lines.append(f'<text x="{_LEFT + 500}" y="{_TOP + _SIDE + 56}">conversations; dashes: linear</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--streamed", type=int, default=100_000)
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--one", nargs=3, metavar=("WAY", "WORLD", "N"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        way, name, n = arguments.one
        print(json.dumps(measured(way, name, int(n))))
        return
    sizes = [n for n in (10_000, 100_000, 1_000_000) if n <= arguments.largest]
    ways = [way for way in WAYS if way != "polars" or importlib.util.find_spec("polars")]
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load {load:.1f} at the start, numpy {np.__version__}\n")
    print("| world | conversations | way | nodes | clock | work | turns/s | beside fold | µs each | peak memory |")
    print("|---" * 10 + "|")
    rows: list[dict[str, Any]] = []
    for name in ("labels", "texts"):
        for n in sizes:
            folded = 0.0
            for way in ways:
                if way in ("builder", "recordings") and n > arguments.streamed:
                    continue
                found = apart(way, name, n)
                folded = found["rate"] if way == "fold" else folded
                work, rate = found["work"], found["rate"]
                rows.append({"world": name, "way": way, "n": n, "seconds": work})
                print(
                    f"| {name} | {n:,} | {way} | {found['nodes']:,} | {found['seconds']:.2f} s | {work:.2f} s "
                    f"| {rate:,.0f} | {folded / rate:.1f}× | {1e6 * work / n:.1f} | {found['peak'] / 1e9:.2f} GB |",
                    flush=True,
                )
    if arguments.plot:
        Path(arguments.plot).write_text(plot(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
