"""Fingerprints of the different texts at the nodes of a tree: a small set of numbers for each of millions of nodes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

# Different texts of a node are counted up to here; the count 64 means 64 or more.
MOST_TEXTS = 64


class Fingerprints(Sequence[tuple[int, ...]]):
    """Rows of numbers, one row for each node. They equal any sequence of the same rows. `starts` is (N + 1,) int64 and
    `marks` (M,) int64; row v is marks[starts[v]:starts[v + 1]]. Tuples would take ten times the memory."""

    __slots__ = ("marks", "starts")

    def __init__(self, starts: npt.NDArray[np.int64], marks: npt.NDArray[np.int64]) -> None:
        self.starts, self.marks = starts, marks
        starts.setflags(write=False)
        marks.setflags(write=False)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int]]) -> "Fingerprints":
        kept = list(rows)
        starts = np.concatenate(([0], np.cumsum([len(row) for row in kept], dtype=np.int64)))
        return cls(starts.astype(np.int64), np.array([mark for row in kept for mark in row], dtype=np.int64))

    @classmethod
    def from_pairs(cls, nodes: npt.NDArray[np.int32], marks: npt.NDArray[np.int64], count: int) -> "Fingerprints":
        """Keep the `MOST_TEXTS` smallest different numbers of each of `count` nodes. The numbers `marks` (M,) belong to
        `nodes` (M,)."""
        order = np.lexsort((marks, nodes))
        nodes, marks = nodes[order], marks[order]
        kept = np.ones(len(nodes), dtype=bool)
        kept[1:] = (nodes[1:] != nodes[:-1]) | (marks[1:] != marks[:-1])
        nodes, marks = nodes[kept], marks[kept]
        starts = np.searchsorted(nodes, np.arange(count + 1))
        if len(nodes) and int(np.diff(starts).max()) > MOST_TEXTS:
            place = np.arange(len(nodes)) - starts[nodes]
            nodes, marks = nodes[place < MOST_TEXTS], marks[place < MOST_TEXTS]
            starts = np.searchsorted(nodes, np.arange(count + 1))
        return cls(starts.astype(np.int64), marks)

    @property
    def counts(self) -> npt.NDArray[np.int32]:
        """Number of fingerprints of each node, shape (N,)."""
        return np.diff(self.starts).astype(np.int32)

    @property
    def nodes(self) -> npt.NDArray[np.int32]:
        """Node to which each of `marks` belongs, shape (M,)."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, node: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[tuple[int, ...]]: ...
    def __getitem__(self, node: int | slice) -> tuple[int, ...] | Sequence[tuple[int, ...]]:
        if isinstance(node, slice):
            return tuple(self[one] for one in range(*node.indices(len(self))))
        one = range(len(self))[node]
        return tuple(self.marks[self.starts[one] : self.starts[one + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self[node] for node in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Fingerprints):
            return np.array_equal(self.starts, other.starts) and np.array_equal(self.marks, other.marks)
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Fingerprints of {len(self)} nodes, {len(self.marks)} in all"
