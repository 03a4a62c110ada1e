"""From nodes in the order in which they were made to a tree in its one order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recordings.trees.fingerprints import Fingerprints
from recordings.trees.preorder import canonical, depths, subtotals
from recordings.trees.tree import ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol

__all__ = ["Raw", "assemble"]


@dataclass(slots=True)
class Raw:
    """A tree as it is made: node 0 is the root, parents stand before their branches, symbols in any order.

    parent, symbol: (N,) int32, -1 for the root. ends: (T,) int32. trials: () or T of them, in the order of `ends`.
    outcomes: kinds, in any order; endings: (2, E) int32, node and kind of each trial that has one.
    marks: (M,) fingerprints of texts, of the nodes in marked (M,) int32, in any order and more than once.
    """

    merge: str
    symbols: Sequence[Symbol]
    parent: npt.NDArray[np.int32]
    symbol: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    trials: Sequence[FoldedTrial] = ()
    keys: tuple[DeclaredKey, ...] = ()
    scope: Scope = field(default_factory=Scope)
    outcomes: Sequence[str] = ()
    endings: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((2, 0), dtype=np.int32))
    marks: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    marked: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))


def assemble(raw: Raw) -> ConversationTree:
    """The tree. Raises ValueError where a trial comes twice."""
    nodes = len(raw.parent)
    order = sorted(range(len(raw.symbols)), key=lambda i: (raw.symbols[i].speaker, raw.symbols[i].key))
    used = np.zeros(len(raw.symbols) + 1, dtype=bool)
    used[raw.symbol] = True
    kept = [i for i in order if used[i]]
    rank = np.full(len(raw.symbols) + 1, -1, dtype=np.int32)
    rank[kept] = np.arange(len(kept), dtype=np.int32)
    symbol = rank[raw.symbol]  # the root's -1 takes the last place, which is -1

    stops = np.bincount(raw.ends, minlength=nodes).astype(np.int64)
    depth = depths(raw.parent)
    visits = subtotals(raw.parent, depth, stops)
    place = canonical(raw.parent, symbol, visits, depth)
    back = np.empty(nodes, dtype=np.int64)
    back[place] = np.arange(nodes)
    parent = np.where(raw.parent >= 0, place[raw.parent], np.int32(-1))[back].astype(np.int32)

    kinds = sorted((outcome, i) for i, outcome in enumerate(raw.outcomes))
    column = np.empty(len(kinds), dtype=np.int64)
    column[[i for _, i in kinds]] = np.arange(len(kinds))
    at, kind = raw.endings
    cells = place[at].astype(np.int64) * len(kinds) + column[kind]
    endings = np.bincount(cells, minlength=nodes * len(kinds)).reshape(nodes, len(kinds))
    ends, trials = place[raw.ends], tuple(raw.trials)
    if trials:
        by_name = sorted(range(len(trials)), key=lambda i: _name(trials[i]))
        ends, trials = ends[by_name], tuple(trials[i] for i in by_name)
        twice = next((one for one, two in pairwise(trials) if one == two), None)
        if twice is not None:
            key = twice.key
            raise ValueError(f"{key.system}, {key.topic}, trial {key.trial}, attempt {twice.attempt} comes twice")
    return ConversationTree(
        merge=raw.merge,
        symbols=tuple(raw.symbols[i] for i in kept),
        parent=parent,
        symbol=symbol[back],
        visits=visits[back],
        stops=stops[back],
        ends=ends,
        trials=trials,
        keys=raw.keys,
        scope=raw.scope,
        outcomes=tuple(outcome for outcome, _ in kinds),
        endings=endings,
        fingerprints=Fingerprints.grouped(place[raw.marked], raw.marks, nodes),
    )


def _name(trial: FoldedTrial) -> tuple[str, str, int, int]:
    """What trials are ordered by; comparing these takes a fifth of the time of comparing the trials themselves."""
    return trial.key.system, trial.key.topic, trial.key.trial, trial.attempt
