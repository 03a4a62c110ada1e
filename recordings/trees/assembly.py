"""From nodes in the order in which they were made to a tree in its one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recordings.trees.preorder import canonical, depths, subtotals
from recordings.trees.tree import ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol

__all__ = ["Raw", "assembled"]


@dataclass(slots=True)
class Raw:
    """A tree as it is made: node 0 is the root, parents stand before their branches, symbols in any order.

    parent, symbol: (N,) int32, -1 for the root. ends: (T,) int32. trials: () or T of them, in the order of `ends`.
    endings: how many trials ended at a node with an outcome. fingerprints: of the texts at a node.
    """

    merge: str
    symbols: Sequence[Symbol]
    parent: npt.NDArray[np.int32]
    symbol: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    trials: Sequence[FoldedTrial] = ()
    keys: tuple[DeclaredKey, ...] = ()
    scope: Scope = field(default_factory=Scope)
    endings: Mapping[tuple[int, str], int] = field(default_factory=dict)
    fingerprints: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def assembled(raw: Raw) -> ConversationTree:
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

    outcomes = tuple(sorted({outcome for _, outcome in raw.endings}))
    column = {outcome: i for i, outcome in enumerate(outcomes)}
    endings = np.zeros((nodes, len(outcomes)), dtype=np.int64)
    for (node, outcome), count in raw.endings.items():
        endings[place[node], column[outcome]] = count
    fingerprints: tuple[tuple[int, ...], ...] = ()
    if raw.fingerprints:
        fingerprints = tuple(raw.fingerprints.get(node, ()) for node in back.tolist())

    ends, trials = place[raw.ends], tuple(raw.trials)
    if trials:
        by_name = sorted(range(len(trials)), key=trials.__getitem__)
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
        outcomes=outcomes,
        endings=endings,
        fingerprints=fingerprints,
    )
