"""How far apart two groups of dialogues are in what users do: distributions of acts, and of what follows what."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recordings.acts.dialogue import Dialogue
from scoring.divergences import jsd
from scoring.simulation.act_model import Context, Predictor, contexts
from scoring.simulation.decisions import decisions_of


def act_divergence(real: Sequence[Dialogue], simulated: Sequence[Dialogue]) -> float:
    """Jensen-Shannon divergence of the acts of all user turns, in bits, in [0, 1]. NaN where a side has no turn.

    0 also where both sides together have only one act.
    """
    sides = [Counter(turn.act for one in side for turn in one.turns) for side in (real, simulated)]
    return _rows_apart(*sides)


@dataclass(frozen=True, slots=True)
class TransitionDivergence:
    """value: in bits, in [0, 1], NaN where a side has no decision. rows: that occur on either side. alone: the weight
    of those that occur on one side only, each of which counts as 1 bit."""

    value: float
    rows: int
    alone: float


def transition_divergence(
    real: Sequence[Dialogue], simulated: Sequence[Dialogue], *, order: int = 1, given: bool = False
) -> TransitionDivergence:
    """Weighted transition divergence: the mean over rows of the Jensen-Shannon divergence of what follows, in bits.

    A row is what came before a decision (the last `order` acts; with `given`, also the last answer), and what follows
    is an act or STOP. A row weighs the mean of its shares of the decisions of both sides. Counts are taken as they are,
    without smoothing: small samples diverge by chance, which is what the split-half floor is for.
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, not {order}")
    sides = [_rows(side, order, given) for side in (real, simulated)]
    totals = [sum(row.total() for row in side.values()) for side in sides]
    if not all(totals):
        return TransitionDivergence(math.nan, 0, math.nan)
    value = alone = 0.0
    names = sides[0].keys() | sides[1].keys()
    for name in sorted(names, key=repr):
        first, second = (side.get(name, Counter[str]()) for side in sides)
        weight = (first.total() / totals[0] + second.total() / totals[1]) / 2
        if not first or not second:
            alone, value = alone + weight, value + weight
        else:
            value += weight * _rows_apart(first, second)
    return TransitionDivergence(min(value, 1.0), len(names), min(alone, 1.0))


def matrix_divergence(known: Predictor, dialogues: Sequence[Dialogue], *, order: int = 1) -> float:
    """How far recorded decisions are from a known transition matrix: the mean over rows of the Jensen-Shannon
    divergence, in bits, between the recorded shares and the probabilities of `known`, each row weighted by how often it
    was seen.

    In [0, 1]; NaN without a decision. For recovery tests: simulate from `known`, then see how far off the shares are.
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, not {order}")
    before = {
        contexts(decision, order, False)[0]: decision for dialogue in dialogues for decision in decisions_of(dialogue)
    }
    rows = _rows(dialogues, order, False)
    total = sum(row.total() for row in rows.values())
    if not total:
        return math.nan
    value = 0.0
    for name, row in rows.items():
        shares = np.array([row[act] for act in known.outcomes]) / row.total()
        value += row.total() / total * float(jsd(shares, known.probabilities(before[name])))
    return min(value, 1.0)


def _rows(dialogues: Sequence[Dialogue], order: int, given: bool) -> dict[Context, Counter[str]]:
    found: dict[Context, Counter[str]] = {}
    for dialogue in dialogues:
        for decision in decisions_of(dialogue):
            found.setdefault(contexts(decision, order, given)[0], Counter())[decision.act] += 1
    return found


def _rows_apart(first: Counter[str], second: Counter[str]) -> float:
    if not first or not second:
        return math.nan
    names = ["", *sorted(first.keys() | second.keys())]  # one that is never there: jsd wants two groups
    p, q = (np.array([side[name] for name in names]) / side.total() for side in (first, second))
    return float(jsd(p, q))
