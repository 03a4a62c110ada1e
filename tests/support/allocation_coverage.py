"""Trials shared by a pilot: how often the intervals of the run that plays them hold the truth, and what they gain.

`python -m tests.support.allocation_coverage --write` counts it and writes the table into docs/planning.md.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.allocation import Chances, allocate
from scoring.inference.paired import compare_these
from tests.support.checkout import DOCS

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

PLACE = re.compile(r"(<!-- allocation -->\n).*?(<!-- end of allocation -->)", re.DOTALL)
_TOPICS = 45
_APART = 0.1
_RUNS = 4  # played for each pilot


@dataclass(frozen=True)
class Spent:
    """fresh: share of intervals that hold the truth, of new runs; kept: of those in the pilot's folder, whose trials
    count, too. n: of each. promised, gained: how much narrower the mean interval is than with equal trials."""

    fresh: float
    kept: float
    n: int
    promised: float
    gained: float


def chances(rng: np.random.Generator, mean: float, icc: float) -> Floats:
    """(topics, 2) of two systems that differ by 10 points."""
    sides = [mean + _APART / 2, mean - _APART / 2]
    if not icc:
        return np.broadcast_to(np.array(sides), (_TOPICS, 2))
    size, order = 1 / icc - 1, rng.permutation(_TOPICS)
    drawn = [np.sort(rng.beta(one * size, (1 - one) * size, _TOPICS)) for one in sides]
    return np.stack([drawn[0][order], drawn[1][order]], axis=1)


def spent(mean: float, icc: float, pilot: int, times: int, pilots: int) -> Spent:
    """Two systems, %useful of 45 topics. pilot: trials of each topic; the new run has `times` as many in all."""
    rng = np.random.default_rng([45, round(100 * mean), round(100 * icc), pilot, times])
    fresh, kept, promised, widths, plain = [], [], [], [], []
    for _ in range(pilots):
        truth = chances(rng, mean, icc)
        first = rng.random((_TOPICS, 2, pilot)) < truth[..., None]
        known = Chances.from_cells(np.moveaxis(first, 1, 0).astype(np.float64))
        found = allocate(known, _TOPICS * pilot * times, rng)
        promised.append((found.width, found.equal_width))
        seen, wanted = first.sum(axis=2), float((truth[:, 0] - truth[:, 1]).mean())
        for _ in range(_RUNS):
            held, width = _held(rng, truth, found.trials, np.zeros_like(seen), 0, wanted)
            fresh.append(held)
            widths.append(width)
            plain.append(_held(rng, truth, found.equal, np.zeros_like(seen), 0, wanted)[1])
        topped = np.maximum(0, found.trials - pilot)
        kept += [_held(rng, truth, topped, seen, pilot, wanted)[0] for _ in range(_RUNS)]
    own, other = np.nanmean(promised, axis=0)
    return Spent(
        float(np.mean(fresh)),
        float(np.mean(kept)),
        len(fresh),
        float(1 - own / other),
        float(1 - np.nanmean(widths) / np.nanmean(plain)),
    )


def _held(
    rng: np.random.Generator, truth: Floats, trials: Counts, seen: Counts, before: int, wanted: float
) -> tuple[bool, float]:
    """Whether the interval of `compare_these` holds the true difference, and its width. seen: of `before` trials."""
    counts = trials[:, None] + before
    means = (rng.binomial(trials[:, None], truth) + seen) / counts
    noise = means * (1 - means) / (counts - 1)
    one = compare_these(means[:, 0] - means[:, 1], noise, np.broadcast_to(counts, means.shape), level=0.95).interval
    return bool(one.low <= wanted <= one.high), one.high - one.low


def table(pilots: int) -> str:
    lines = [
        "| mean | ICC | pilot | new run | covered | covered if the pilot is kept | narrower, promised | found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for mean in (0.6, 0.8):
        for icc in (0.0, 0.45, 0.8):
            for pilot in (3, 5):
                for times in (2, 4):
                    one = spent(mean, icc, pilot, times, pilots)
                    shares = " | ".join(f"{share:.3f}".replace("0.", ".", 1) for share in (one.fresh, one.kept))
                    lines.append(
                        f"| {100 * mean:.0f}% | {icc:.2g} | 45 × {pilot} | 45 × {pilot * times} | {shares} | "
                        f"{100 * one.promised:.1f}% | {round(100 * one.gained, 1) + 0.0:.1f}% |"
                    )
                    print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pilots", type=int, default=600)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    counted = table(given.pilots)
    if given.write:
        page = DOCS / "planning.md"
        page.write_text(
            PLACE.sub(lambda at: at[1] + counted + at[2], page.read_text(encoding="utf-8")), encoding="utf-8"
        )
