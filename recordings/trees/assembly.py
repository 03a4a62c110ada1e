"""From nodes in the order of their creation to a tree in its canonical order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recordings.trees.fingerprints import Fingerprints
from recordings.trees.preorder import canonical, depths, subtotals
from recordings.trees.tree import ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol


@dataclass(slots=True)
class Raw:
    """A tree under construction: node 0 is the root, parents come before their branches, symbols are in any order.

    parent, symbol: (N,) int32, -1 for the root. ends: (T,) int32. trials: () or T of them, in the order of `ends`.
    outcomes: names of ends, in any order. kinds: (T,) int32, the outcome of each trial, -1 if unknown, or none.
    endings: (2, E) int32, node and kind of ends that belong to no known trial. marks: (M,) fingerprints of texts, of
    the nodes in marked (M,) int32, in any order and possibly repeated.
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
    kinds: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    endings: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((2, 0), dtype=np.int32))
    marks: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    marked: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))


def assemble(raw: Raw) -> ConversationTree:
    """Return the tree. Raises ValueError for a repeated trial."""
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

    names = sorted((outcome, i) for i, outcome in enumerate(raw.outcomes))
    column = np.full(len(names) + 1, -1, dtype=np.int32)  # the last place is that of -1
    column[[i for _, i in names]] = np.arange(len(names))
    ends, trials = place[raw.ends], tuple(raw.trials)
    kinds = column[raw.kinds] if len(raw.kinds) else np.full(len(ends), -1, dtype=np.int32)
    known = kinds >= 0
    at = np.concatenate([place[raw.endings[0]], ends[known]]).astype(np.int64)
    cells = at * len(names) + np.concatenate([column[raw.endings[1]], kinds[known]])
    endings = np.bincount(cells, minlength=nodes * len(names)).reshape(nodes, len(names))
    if trials:
        # Comparing these takes a fifth of the time of comparing the trials themselves.
        names_of = [(trial.key.system, trial.key.topic, trial.key.trial, trial.attempt) for trial in trials]
        by_name = sorted(range(len(trials)), key=names_of.__getitem__)
        ends, kinds, trials = ends[by_name], kinds[by_name], tuple(trials[i] for i in by_name)
        twice = next((one for one, two in pairwise(trials) if one == two), None)
        if twice is not None:
            key = twice.key
            raise ValueError(f"{key.system}, {key.topic}, trial {key.trial}, attempt {twice.attempt} occurs twice")
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
        outcomes=tuple(outcome for outcome, _ in names),
        kinds=kinds,
        endings=endings,
        fingerprints=Fingerprints.grouped(place[raw.marked], raw.marks, nodes),
    )
