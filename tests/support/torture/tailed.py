"""Engines of quantiles and of means of the worst conversations, over all topics and trials together."""

import math
from collections.abc import Callable

from scoring.inference.tails import Worst, pooled_tail
from tests.support.torture.cells import Engine, Said, Size
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World
from topics.identity import generator

LEVEL = 0.95
SIZES: tuple[Size, ...] = ((15, 5, 1), (45, 1, 1), (45, 5, 1), (200, 1, 1))
GROUPS = frozenset(
    {
        "independent",
        "high mean",
        "rare bad topics",
        "few kinds of topics",
        "ties",
        "zero-inflated",
        "light tails",
        "heavy tails",
        "heavy trials",
    }
)


def tail(estimand: str) -> Callable[[World, Study], list[Said]]:
    """`quantile β`, `CVaR β` (of the lowest) or `upper CVaR β` of each system."""
    name, _, number = estimand.rpartition(" ")
    beta = float(number)
    worst: Worst = "high" if name.startswith("upper") else "low"

    def says(world: World, study: Study) -> list[Said]:
        truth = world.truth(estimand, study)
        top = math.inf if world.kind is Kind.UNBOUNDED else 1.0
        said = []
        for system, values in enumerate(study.values):
            topics = [f"T{at:03d}" for at in range(len(values))]
            rng = generator(0, "torture")
            found = pooled_tail(topics, values, beta, rng, level=LEVEL, replications=1000, top=top, worst=worst)
            interval = found.quantile_interval if name == "quantile" else found.cvar_interval
            low, high = (interval.low, interval.high) if interval.is_defined else (math.nan, math.nan)
            true = math.nan if truth is None else float(truth[system])
            said.append(Said(true, low, high, "" if interval.is_defined else interval.note))
        return said

    return says


BOTH = frozenset({Kind.SCORE, Kind.UNBOUNDED})
ENGINES = (
    Engine("10% quantile", BOTH, tail("quantile 0.1"), SIZES, GROUPS),
    Engine("90% quantile", BOTH, tail("quantile 0.9"), SIZES, GROUPS),
    Engine("mean of the worst 10% (low)", BOTH, tail("CVaR 0.1"), SIZES, GROUPS),
    Engine("mean of the worst 10% (high)", BOTH, tail("upper CVaR 0.1"), SIZES, GROUPS),
)
