"""The ends of the conversations in a tree: each way of ending after a node is a separate end.

A breakdown and a satisfied user look alike in a tree of turns, since nothing follows either of them. To a reader they
are different outcomes, so all comparisons of how conversations go on (`scoring.stochastic.parting`) treat them as
different ways on (T. Sakai, GFRC, 2023, section 7, and SWAN, 2023, section 3, draw them as such).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """E ends, by node and then by name; a node at which no trial ends has one without a name.

    node: (E,) of each end. name: (E,) the way of ending, "" if unknown. at: (n,) the end of each trial, -1 for one
    that does not count; (0,) if trials are only counted.
    """

    node: Indices
    name: tuple[str, ...]
    at: Indices

    def count(self, column: npt.ArrayLike, columns: int) -> Counts:
        """(columns, E) how many trials come to each end. column: (n,) of each trial, from 0."""
        found = np.zeros((columns, len(self.node)), dtype=np.int64)
        np.add.at(found, (np.asarray(column, dtype=np.intp), self.at), 1)
        return found

    def find(self, node: int, name: str = "") -> int:
        """The end of this name at a node. Raises ValueError if the node has no such end."""
        first, last = np.searchsorted(self.node, [node, node + 1]).tolist()
        return self.name.index(name, first, last)


def plain_ends(size: int) -> Ends:
    """One end without a name at each of `size` nodes, for trials that are only counted."""
    return Ends(np.arange(size, dtype=np.intp), ("",) * size, np.zeros(0, dtype=np.intp))


def ends_of(size: int, nodes: npt.ArrayLike, names: Sequence[str] = ()) -> Ends:
    """The ends of trials in a tree of `size` nodes, from (n,) nodes and (n,) names of how they ended.

    Without names, or with a single "", every node has one end: ends are distinguished for all trials or none.
    """
    places = np.asarray(nodes, dtype=np.intp)
    if not names or "" in names:
        return Ends(np.arange(size, dtype=np.intp), ("",) * size, places)
    kinds = ["", *sorted({*names})]
    rank = {name: number for number, name in enumerate(kinds)}
    trials = places * len(kinds) + np.array([rank[name] for name in names], dtype=np.intp)
    bare = np.setdiff1d(np.arange(size, dtype=np.intp), places) * len(kinds)
    every = np.unique(np.concatenate([trials, bare]))
    node, kind = np.divmod(every, len(kinds))
    return Ends(node, tuple(kinds[number] for number in kind.tolist()), np.searchsorted(every, trials))
