"""How often the intervals that tables print hold the truth: worlds of topics × sizes × kinds of figures.

Every interval is the product's own. A cell is the share of intervals that hold the truth, of those that are printed.
`calibration_page.py` makes docs/calibration.md of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import TrialKey
from recordings.trees.builder import EXACT, TreeBuilder
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import Interval
from scoring.inference.tails import cvar, lower_quantile, pooled_tail
from scoring.measures.usefulness import Share, share
from scoring.settings import Resample
from scoring.stochastic.chain import chain
from scoring.stochastic.failures import rate_below, rate_of
from scoring.stochastic.transitions import transitions, unseen_paths
from tests.support.calibration_worlds import (
    SIZES,
    THRESHOLD,
    WORLDS,
    Played,
    World,
    answers,
    played,
    scores_of,
    truths,
    unseen_truth,
)

Floats = npt.NDArray[np.float64]
Size = tuple[int, int]

PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """printed: intervals, of `replications`. held: how many of them held the truth. width: mean over them."""

    kind: str
    world: str
    size: Size
    replications: int
    printed: int
    held: int
    width: float

    @property
    def coverage(self) -> float:
        return self.held / self.printed if self.printed else math.nan

    @property
    def shown(self) -> str:
        if not self.printed:
            return "none"
        some = "" if self.printed == self.replications else f" ({100 * self.printed / self.replications:.0f}%)"
        return f"{self.coverage:.3f}".removeprefix("0") + some


Pairs = Sequence[tuple[float, float]]
Figures = Mapping[str, tuple[Pairs, Floats]]
"""By kind: the ends of each replication, and the truth of each."""


def cells(world: World, size: Size, replications: int) -> list[Cell]:
    """Every kind in one world at one size."""
    found = []
    for group in GROUPS:
        for kind, (pairs, truth) in group(world, size, replications).items():
            ends = np.array(pairs, dtype=np.float64).reshape(-1, 2)
            there = ~np.isnan(ends[:, 0])
            ends, known = ends[there], truth[there]
            held = (ends[:, 0] <= known + 1e-12) & (known <= ends[:, 1] + 1e-12)
            width = float((ends[:, 1] - ends[:, 0]).mean()) if len(ends) else math.nan
            found.append(Cell(kind, world.name, size, len(truth), int(there.sum()), int(held.sum()), width))
    return found


@lru_cache(maxsize=1)
def simulated(world: World, size: Size, replications: int) -> tuple[Played, dict[str, Floats]]:
    """The conversations, and by figure (S,) what an interval is to hold."""
    here = played(world, np.random.default_rng([*size, len(world.name)]), (replications, *size))
    return here, truths(world, here)


def _pair(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def names_of(count: int) -> list[str]:
    return [f"T{number:02d}" for number in range(1, count + 1)]


def resampler_of(resample: Resample = "topics") -> Resampler:
    return Resampler(np.random.default_rng(0), resample=resample)


def _units(cells: Floats) -> tuple[Floats, str]:
    """(units, trials, S) of (S, topics, trials): topics, or the trials where there is one topic."""
    one = cells.shape[1] == 1
    return np.moveaxis(np.swapaxes(cells, 1, 2) if one else cells, 0, -1), "trial" if one else "topic"


def shares(world: World, size: Size, replications: int) -> Figures:
    here, truth = simulated(world, size, replications)
    one = size[0] == 1
    names, lost = names_of(size[1] if one else size[0]), np.zeros(size[::-1] if one else size, dtype=bool)
    resampler = resampler_of()

    def of(above: Floats, below: Floats, pooled: bool = False, drawn: Resampler | None = None) -> Share:
        sides = (above.T, below.T) if one else (above, below)
        unit = "trial" if one else "topic"
        return share(names, *sides, lost, level=0.95, pooled=pooled, resampler=drawn, unit=unit)

    found: dict[str, list[tuple[float, float]]] = {}
    for first, second, broke, score in zip(here.first, here.second, here.broke, here.score, strict=True):
        useful, after, whole = first.astype(float), second.astype(float), np.ones(size)
        labels = np.stack([np.where(first, 0, 1), np.where(broke, 2, np.where(second, 0, 1))], axis=2)
        topics = names_of(size[0])
        taken = {
            f"transition({source}, {name})": chain(labels, topics, step=2, only=(source, target))[0].share.interval
            for source, name, target in (("x", "o", "o"), ("o", "x", "x"), ("x", "end", "-"))
        }
        intervals = {
            "%useful S1": of(useful, whole).interval,
            "%useful S2": of(after, whole).interval,
            "ave%useful": of(useful + after, 2 * whole).interval,
            "%recovery": of((1 - useful) * after, 1 - useful, pooled=True).interval,
            "%useful S1, shares: bootstrap": of(useful, whole, drawn=None if one else resampler).interval,
            **taken,
            "P(breakdown)": rate_of(topics, broke.astype(float)).share.interval,
            f"P(GF, below={THRESHOLD})": rate_below(topics, score, THRESHOLD).share.interval,
        }
        for kind, interval in intervals.items():
            found.setdefault(kind, []).append(_pair(interval))
    known = (
        *("useful 1", "useful 2", "useful", "x to o", "useful 1"),
        *("insist to o", "o to x", "x to end", "broke", "below"),
    )
    return {kind: (pairs, truth[name]) for (kind, pairs), name in zip(found.items(), known, strict=True)}


def means(world: World, size: Size, replications: int) -> Figures:
    here, truth = simulated(world, size, replications)
    (scores, unit), (relevance, _) = _units(here.score), _units(here.relevance)
    names = names_of(len(scores))
    found: dict[str, tuple[Pairs, Floats]] = {}
    resampled: tuple[Resample, ...] = ("topics", "topics+trials", "bootstrap-t")
    for resample in resampled:
        drawn, said = resampler_of(resample), "" if resample == "topics" else f", resample: {resample}"
        bounded, topless = drawn.means(names, scores, unit=unit), drawn.means(names, relevance, top=math.inf, unit=unit)
        found[f"mean GF, SWAN{said}"] = [*map(_pair, bounded)], truth["score"]
        found[f"mean R{said}"] = [*map(_pair, topless)], truth["relevance"]
    return found


def readings(world: World, size: Size, replications: int) -> Figures:
    here, truth = simulated(world, size, replications)
    resampler = resampler_of()
    (above, unit), (below, _) = _units(here.earned), _units(here.nuggets)
    names = names_of(len(above))
    pooled = resampler.ratios(names, above, below, unit=unit)
    both = []
    for earned, nuggets, lost, rare in zip(here.earned, here.nuggets, here.lost, here.rare, strict=True):
        sides = (np.stack(pair, axis=-1) for pair in ((earned, lost), (nuggets, rare)))
        top, bottom = (np.swapaxes(side, 0, 1) if size[0] == 1 else side for side in sides)
        both.append(_pair(resampler.weighted_ratios(names, top, bottom, [1, 2], unit)))
    return {
        "pooled(WAN), pooled(GF)": ([*map(_pair, pooled)], truth["pooled"]),
        "pooled(SWAN)": (both, truth["both"]),
    }


def differences(world: World, size: Size, replications: int) -> Figures:
    here, truth = simulated(world, size, replications)
    resampler, names = resampler_of(), names_of(size[0])
    useful = here.other.astype(float) - here.first
    each = [np.moveaxis(cells.mean(axis=2), 0, -1)[:, None] for cells in (useful, here.gap)]
    found = [resampler.means(names, cells, bottom=-top, top=top) for cells, top in zip(each, (1.0, math.inf))]
    return {
        "difference of %useful": ([*map(_pair, found[0])], truth["other"]),
        "difference of R": ([*map(_pair, found[1])], truth["gap"]),
    }


def tails(world: World, size: Size, replications: int) -> Figures:
    here, _ = simulated(world, size, replications)
    long = scores_of(world, here)
    found: dict[str, tuple[Pairs, Floats]] = {}
    for name, values, scores, top in zip(("GF", "R"), (here.score, here.relevance), long, (1.0, math.inf)):
        for beta in (0.25, 0.1):
            rng = np.random.default_rng(0)
            tail = [pooled_tail(names_of(size[0]), one, beta, rng, replications=500, top=top) for one in values]
            for form, pairs, of in (
                ("Q", [_pair(one.quantile_interval) for one in tail], lower_quantile),
                ("CVaR", [_pair(one.cvar_interval) for one in tail], cvar),
            ):
                truth = np.broadcast_to(np.array([of(row, beta) for row in scores]), replications).copy()
                found[f"{form}({name}, beta={beta})"] = pairs, truth
    return found


def edges(world: World, size: Size, replications: int) -> Figures:
    here, truth = simulated(world, size, replications)
    known = {
        "tree edge S1 o": ("useful 1", ("ask", "o")),
        "tree edge o to x": ("o to x", ("ask", "o", "more", "x")),
        "tree stop after x": ("x to end", ("ask", "x")),
        "tree edge insist to o": ("insist to o", ("ask", "x", "insist", "o")),
    }
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in known}
    for first, second, broke in zip(here.first, here.second, here.broke, strict=True):
        tree = _tree(first, second, broke, size)
        taken = transitions(tree, topics=[int(trial.key.topic) for trial in tree.trials])
        for kind, (_, path) in known.items():
            node: int | None = 0
            for step, key in enumerate(path):
                node = None if node is None else tree.child(node, "user" if step % 2 == 0 else "system", key)
            if node is None:
                found[kind].append((math.nan, math.nan))
            elif "stop" in kind:
                found[kind].append((float(taken.stop_low[node]), float(taken.stop_high[node])))
            else:
                found[kind].append((float(taken.low[node]), float(taken.high[node])))
    return {kind: (found[kind], truth[name]) for kind, (name, _) in known.items()}


def _tree(first: Floats, second: Floats, broke: Floats, size: Size) -> ConversationTree:
    builder = TreeBuilder(EXACT)
    for topic in range(size[0]):
        for trial in range(size[1]):
            good = first[topic, trial]
            path = [("user", "ask", ""), ("system", "o" if good else "x", "")]
            if not broke[topic, trial]:
                path += [
                    ("user", "more" if good else "insist", ""),
                    ("system", "o" if second[topic, trial] else "x", ""),
                ]
            builder.add_path(path, trial=_key(topic, trial))
    return builder.tree()


def _key(topic: int, trial: int) -> FoldedTrial:
    return FoldedTrial(TrialKey("S", f"{topic:03d}", trial + 1), 1)


def unseen(world: World, size: Size, replications: int) -> Figures:
    rng = np.random.default_rng([*size, len(world.name), 1])
    given, common = answers(world, rng, (replications, *size))
    truth = unseen_truth(world, given, common)
    found = []
    for one in given:
        builder = TreeBuilder(EXACT)
        for topic in range(size[0]):
            for trial in range(size[1]):
                path = [("user", "ask", ""), ("system", str(one[topic, trial]), "")]
                builder.add_path(path, trial=_key(topic, trial))
        tree = builder.tree()
        mass = unseen_paths(tree, topics=[int(trial.key.topic) for trial in tree.trials])
        found.append((float(mass.low), float(mass.high)))
    return {"unseen mass": (found, truth)}


GROUPS: tuple[Callable[[World, Size, int], Figures], ...] = (
    shares,
    means,
    readings,
    differences,
    tails,
    edges,
    unseen,
)


def table(replications: int, processes: int = PROCESSES, sizes: Sequence[Size] = SIZES) -> list[Cell]:
    jobs = [(world.name, size, replications) for size in sizes for world in WORLDS]
    with ProcessPoolExecutor(processes) as pool:
        return [cell for found in pool.map(_job, jobs) for cell in found]


def _job(job: tuple[str, Size, int]) -> list[Cell]:
    name, size, replications = job
    found = cells(next(world for world in WORLDS if world.name == name), size, replications)
    least = min(found, key=lambda cell: cell.coverage if cell.printed else 1.0)
    print(f"{size[0]}×{size[1]}, {name}: at least {least.shown} ({least.kind})", file=sys.stderr, flush=True)
    return found
