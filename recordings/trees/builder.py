"""Folding trials into a tree: one after the other, all at once from encoded paths, and trees into one.

TreeBuilder     one pass over conversations; memory grows with nodes, and by 4 bytes a trial (and its name, if any)
fold            (n, T) paths that are encoded already, for millions of conversations
merged          the tree of all the trials that several trees were made of
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from recordings.conversation import Conversation
from recordings.trees.assembly import Raw, assembled
from recordings.trees.keys import EXACT, Merging
from recordings.trees.tree import MOST_TEXTS, ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol

__all__ = ["PathTurn", "TreeBuilder", "fold", "merged", "path_of"]

PathTurn = tuple[str, str, str | None]
"""Speaker, key, and the text as recorded (None where it is not kept)."""


def path_of(conversation: Conversation, merging: Merging) -> tuple[PathTurn, ...]:
    """The turns of a conversation as they stand in a tree. A turn without a reply is the user's alone."""
    path: list[PathTurn] = []
    for turn in conversation.turns:
        path.append(("user", merging.user.function(turn), turn.said))
        if turn.reply is not None:
            path.append(("system", merging.system.function(turn), turn.reply.answer.text))
    return tuple(path)


class TreeBuilder:
    """Folds conversations one after the other.

    protocol: content hash of the protocol they were played with ("" for an import).
    """

    def __init__(self, merging: Merging = EXACT, *, protocol: str = "") -> None:
        self.merging, self._protocol = merging, protocol
        self._growth = _Growth(merging.name, merging.declared)

    def add(self, conversation: Conversation) -> bool:
        """Fold a conversation in; False where it is invalid or interrupted, which is counted and never folded."""
        key, growth = conversation.key, self._growth
        growth.systems.add(key.system)
        growth.topics.add(key.topic)
        growth.protocols.add(self._protocol)
        if conversation.outcome is None:
            growth.interrupted += 1
            return False
        if not conversation.valid:
            growth.invalid += 1
            return False
        path = path_of(conversation, self.merging)
        self.add_path(path, FoldedTrial(key, conversation.attempt), conversation.outcome.kind)
        return True

    def add_path(self, path: Iterable[PathTurn], trial: FoldedTrial | None = None, outcome: str = "") -> None:
        """Fold a path in. trial: its name; either all paths have one or none has. outcome: "" where not known.

        Raises ValueError where some paths are named and some not.
        """
        growth = self._growth
        node = 0
        for speaker, key, text in path:
            node = growth.step(node, growth.intern(speaker, key, text or ""))
            if text is not None:
                growth.mark(node, text)
        growth.end(node, trial, outcome)

    def tree(self) -> ConversationTree:
        """The tree of what was folded so far. Raises ValueError where nothing was, or a trial was folded twice."""
        return self._growth.tree()


class _Growth:
    def __init__(self, merge: str, keys: tuple[DeclaredKey, ...]) -> None:
        self.merge, self.keys = merge, keys
        self.systems: set[str] = set()
        self.topics: set[str] = set()
        self.protocols: set[str] = set()
        self.invalid = self.interrupted = 0
        self.parent, self.symbol, self.ends = array("i", [-1]), array("i", [-1]), array("i")
        self.trials: list[FoldedTrial] = []
        self.endings: Counter[tuple[int, str]] = Counter()
        self._branches: dict[int, int] = {}  # by node and symbol in one number: half the memory of a pair
        self._symbols: dict[tuple[str, str], int] = {}
        self._texts: list[str] = []
        self._first = array("q", [-1])  # a node's first fingerprint: most nodes have one text, and need no set
        self._marks: dict[int, set[int]] = {}
        self._greatest: dict[int, int] = {}  # of a node that has all the fingerprints it may have

    def intern(self, speaker: str, key: str, text: str) -> int:
        number = self._symbols.setdefault((speaker, key), len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        elif text and (not self._texts[number] or text < self._texts[number]):
            self._texts[number] = text
        return number

    def step(self, node: int, symbol: int) -> int:
        branch = self._branches.setdefault(node << 32 | symbol, len(self.parent))
        if branch == len(self.parent):
            self.parent.append(node)
            self.symbol.append(symbol)
            self._first.append(-1)
        return branch

    def mark(self, node: int, text: str) -> None:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest()
        self.mark_all(node, (int.from_bytes(digest, "big"),))

    def mark_all(self, node: int, marks: Iterable[int]) -> None:
        greatest = self._greatest.get(node)
        for mark in marks:
            if greatest is not None and mark >= greatest:
                continue
            first = self._first[node]
            if first < 0:
                self._first[node] = mark
            if first in (-1, mark):
                continue
            kept = self._marks.setdefault(node, {first})
            kept.add(mark)
            if len(kept) > MOST_TEXTS:
                kept.remove(max(kept))
            if len(kept) == MOST_TEXTS:
                greatest = self._greatest[node] = max(kept)

    def end(self, node: int, trial: FoldedTrial | None, outcome: str) -> None:
        if self.ends and (trial is not None) != bool(self.trials):
            raise ValueError("either every trial of a tree has a name, or none has")
        self.ends.append(node)
        if trial is not None:
            self.trials.append(trial)
        if outcome:
            self.endings[node, outcome] += 1

    def tree(self) -> ConversationTree:
        if not self.ends:
            counted = f"{self.invalid} invalid and {self.interrupted} interrupted attempts were left out"
            raise ValueError(f"a tree needs at least one whole trial; {counted}")
        symbols = [Symbol(speaker, key, text) for (speaker, key), text in zip(self._symbols, self._texts)]
        return assembled(
            Raw(
                merge=self.merge,
                symbols=symbols,
                parent=np.array(self.parent, dtype=np.int32),
                symbol=np.array(self.symbol, dtype=np.int32),
                ends=np.array(self.ends, dtype=np.int32),
                trials=self.trials,
                keys=self.keys,
                scope=Scope(
                    tuple(sorted(self.systems)),
                    tuple(sorted(self.topics)),
                    tuple(sorted(self.protocols)),
                    self.invalid,
                    self.interrupted,
                ),
                endings=self.endings,
                fingerprints={
                    node: tuple(sorted(self._marks.get(node, (first,))))
                    for node, first in enumerate(self._first)
                    if first >= 0
                },
            )
        )


def merged(trees: Sequence[ConversationTree]) -> ConversationTree:
    """The tree of all trials of `trees`, the same in whatever order they come and are put together.

    Raises ValueError where there are none, they were merged by different keys, or a trial is in two of them.
    """
    if not trees:
        raise ValueError("no trees to merge")
    first = trees[0]
    for other in trees[1:]:
        if (other.merge, other.keys) != (first.merge, first.keys):
            raise ValueError(f"trees merged by {first.merge!r} and by {other.merge!r} cannot be one tree")
    growth = _Growth(first.merge, first.keys)
    ends: list[npt.NDArray[np.int32]] = []
    for tree in trees:
        symbols = [growth.intern(one.speaker, one.key, one.text) for one in tree.symbols]
        place = np.zeros(len(tree), dtype=np.int32)
        for node in range(1, len(tree)):
            place[node] = growth.step(int(place[tree.parent[node]]), symbols[tree.symbol[node]])
        for node in np.flatnonzero(tree.texts).tolist():
            growth.mark_all(int(place[node]), tree.fingerprints[node])
        for node, column in zip(*np.nonzero(tree.endings)):
            growth.endings[int(place[node]), tree.outcomes[column]] += int(tree.endings[node, column])
        ends.append(place[tree.ends])
        growth.trials.extend(tree.trials)
    if growth.trials and len(growth.trials) != sum(map(len, ends)):
        raise ValueError("either every trial of a tree has a name, or none has")
    growth.ends.frombytes(np.concatenate(ends).astype(np.intc).tobytes())
    return replace(growth.tree(), scope=sum((tree.scope for tree in trees), Scope()))


def fold(
    paths: npt.NDArray[np.integer],
    symbols: Sequence[Symbol],
    *,
    merge: str = "function(encoded)",
    keys: tuple[DeclaredKey, ...] = (),
    scope: Scope | None = None,
) -> ConversationTree:
    """The tree of conversations that are encoded already; its `ends` are in the order of the rows.

    paths: (n, T) indices into `symbols`, one turn of one speaker a column; -1 from where a conversation has ended.
    One pass over the columns: in each, the pairs (node so far, symbol) are counted where a table of them is small,
    and sorted where it is not. Raises ValueError where n is 0, an index is out of range, or a turn follows a -1.
    """
    if paths.ndim != 2 or len(paths) == 0:
        raise ValueError(f"paths must be (n, T) with n of at least 1, not {paths.shape}")
    n, width = paths.shape
    ends = np.zeros(n, dtype=np.int32)
    rows: npt.NDArray[np.intp] | None = None  # None while every conversation goes on
    at = np.zeros(n, dtype=np.int64)  # the node of each going conversation, counted within its level
    parents, turns = [np.array([-1], dtype=np.int32)], [np.array([-1], dtype=np.int32)]
    start, made, count = 0, 1, len(symbols)
    for column in range(width):
        taken = paths[:, column] if rows is None else paths[rows, column]
        if len(taken) and (taken.min() < -1 or taken.max() >= count):
            raise ValueError(f"paths must hold -1 … {count - 1}; column {column} does not")
        going = taken >= 0
        if not going.all():
            rows = np.flatnonzero(going) if rows is None else rows[going]
            at, taken = at[going], taken[going]
        if np.count_nonzero(paths[:, column] >= 0) != len(taken):
            raise ValueError(f"column {column} has a turn of a conversation that has ended (-1) before it")
        if len(taken) == 0:
            continue
        found, at = _distinct(at * count + taken, (made - start) * count)
        parents.append((start + found // count).astype(np.int32))
        turns.append((found % count).astype(np.int32))
        start, made = made, made + len(found)
        if made > np.iinfo(np.int32).max:
            raise ValueError("more nodes than a tree can hold (2³¹): merge by a coarser key")
        if rows is None:
            ends[:] = start + at
        else:
            ends[rows] = start + at
    raw = Raw(merge, symbols, np.concatenate(parents), np.concatenate(turns), ends, keys=keys, scope=scope or Scope())
    return assembled(raw)


def _distinct(values: npt.NDArray[np.int64], most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The different values, ascending, and the place of each of `values` among them. most: above every value."""
    if most > 4 * len(values) + 1024:
        return np.unique(values, return_inverse=True)
    there = np.zeros(most, dtype=bool)
    there[values] = True
    place = np.cumsum(there, dtype=np.int64) - 1
    return np.flatnonzero(there), place[values]
