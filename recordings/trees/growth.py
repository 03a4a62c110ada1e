"""The nodes of a tree to which trials are added, stored as arrays so that many millions fit into memory.

Turns are added in large batches and sorted, which saves a look-up for each turn. A node costs 32 bytes; as a Python
object, it would cost about 250 bytes.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recordings.trees.fingerprints import Fingerprints
from recordings.trees.preorder import canonical_positions, depths, levels, subtotals
from recordings.trees.tree import ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol


@dataclass(slots=True)
class UnsortedTree:
    """A tree under construction. Node 0 is the root, parents come before their branches, and symbols are in any order.

    `parent` and `symbol` are (N,) int32, with -1 for the root. `ends` is (T,) int32. `trials` is () or has T entries in
    the order of `ends`. `outcomes` has the names of ends in any order. `kinds` is empty or (T,) int32 with the outcome
    of each trial, -1 if unknown. `endings` is (2, E) int32 with the node and the kind of ends that belong to no known
    trial. `marks` (M,) has fingerprints of texts at the nodes in `marked` (M,) int32, in any order and possibly
    repeated.
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


def assemble(raw: UnsortedTree) -> ConversationTree:
    """Return the finished tree. Raises ValueError for a repeated trial."""
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
    place = canonical_positions(raw.parent, symbol, visits, depth)
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
        fingerprints=Fingerprints.from_pairs(place[raw.marked], raw.marks, nodes),
    )


_MOST_WAITING = 1 << 22  # turns that are kept until they are placed
_MOST_CACHED = 1 << 13  # different turns that are cached
_MISSING = -1  # in arrays of whole numbers, which have no None


class Growth:
    """A growing tree. `systems`, `topics`, `protocols`, `invalid` and `interrupted` describe its scope, which the
    caller keeps up to date. Nodes are numbered in the order of creation, from the root (0)."""

    def __init__(self, merge: str, keys: tuple[DeclaredKey, ...], waiting: int = _MOST_WAITING) -> None:
        self.merge, self.keys = merge, keys
        self.systems: set[str] = set()
        self.topics: set[str] = set()
        self.protocols: set[str] = set()
        self.invalid = self.interrupted = 0
        self.trials: list[FoldedTrial] = []
        self._seen: dict[tuple[str, str, str | None], tuple[int, int]] = {}  # turns that came before
        self._most = waiting
        self._symbols: dict[tuple[str, str], int] = {}
        self._texts: list[str] = []
        self._outcomes: dict[str, int] = {}
        # Waiting: the symbol and the fingerprint of each turn, the number of turns and the outcome of each trial.
        self._codes, self._prints = array("i"), array("q")
        self._lengths, self._kinds = array("i"), array("i")
        # Turns that have a node.
        self._parent, self._symbol = np.array([-1], dtype=np.int32), np.array([-1], dtype=np.int32)
        self._known = np.zeros(0, dtype=np.int64)  # parent and symbol of nodes in one number, sorted,
        self._numbers = np.zeros(0, dtype=np.int32)  # and the nodes that they belong to
        self._fresh: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]] = []
        self._made = 1
        self._marked, self._marks = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        self._ends: list[npt.NDArray[np.int32]] = []
        self._ended: list[npt.NDArray[np.int32]] = []
        self._endings = np.zeros((2, 0), dtype=np.int32)
        self.folded = 0

    def intern(self, speaker: str, key: str, text: str) -> int:
        """Return the number of a symbol. Of several texts, the first in code point order is kept."""
        number = self._symbols.setdefault((speaker, key), len(self._texts))
        if number == len(self._texts):
            self._texts.append(key if text == key else text)  # once in memory where they are the same
        elif text and (not self._texts[number] or text < self._texts[number]):
            self._texts[number] = key if text == key else text
        return number

    def add(self, path: Iterable[tuple[str, str, str | None]], trial: FoldedTrial | None, outcome: str) -> None:
        """Add a trial. Raises ValueError if only some trials have names."""
        if self.folded and (trial is not None) != bool(self.trials):
            raise ValueError("either all trials of a tree must have names, or none of them")
        before = len(self._codes)
        seen = self._seen
        if len(seen) > _MOST_CACHED:
            seen.clear()
        for turn in path:
            known = seen.get(turn)
            if known is None:
                speaker, key, text = turn
                known = self.intern(speaker, key, text or ""), _MISSING if text is None else _hash_text(text)
                seen[turn] = known
            self._codes.append(known[0])
            self._prints.append(known[1])
        self._lengths.append(len(self._codes) - before)
        self._kinds.append(self._outcomes.setdefault(outcome, len(self._outcomes)) if outcome else _MISSING)
        if trial is not None:
            self.trials.append(trial)
        self.folded += 1
        if len(self._codes) + len(self._lengths) >= self._most:
            self._place_turns()

    def add_tree(self, tree: ConversationTree) -> None:
        """Add all trials of another tree that was merged by the same keys."""
        self._place_turns()
        symbols = np.array([self.intern(one.speaker, one.key, one.text) for one in tree.symbols], dtype=np.int64)
        place = np.zeros(len(tree), dtype=np.int32)
        for level in levels(tree.depth):
            place[level] = self._number_nodes(place[tree.parent[level]], symbols[tree.symbol[level]])
        self._merge_fresh_nodes()
        self._add_fingerprints(place[tree.marks.nodes], tree.marks.marks)
        numbers = [self._outcomes.setdefault(one, len(self._outcomes)) for one in tree.outcomes]
        kinds = np.array([*numbers, _MISSING], dtype=np.int32)
        self._ends.append(place[tree.ends])
        self._ended.append(kinds[tree.kinds])
        # Older tree files have no end for each trial, but still the number of each.
        rest, known = tree.endings.copy(), tree.kinds != _MISSING
        np.subtract.at(rest, (tree.ends[known], tree.kinds[known]), 1)
        nodes, columns = np.nonzero(rest)
        loose = np.array([place[nodes], kinds[columns]], dtype=np.int32)
        self._endings = np.concatenate((self._endings, np.repeat(loose, rest[nodes, columns], axis=1)), axis=1)
        self.trials.extend(tree.trials)
        self.folded += tree.n
        if self.trials and len(self.trials) != self.folded:
            raise ValueError("either all trials of a tree must have names, or none of them")

    def tree(self, scope: Scope | None = None) -> ConversationTree:
        """Return the tree so far. Raises ValueError if the tree has no trial or a repeated trial."""
        if not self.folded:
            left = f"{self.invalid} invalid and {self.interrupted} interrupted attempts were left out"
            raise ValueError(f"a tree needs at least one complete trial; {left}")
        self._place_turns()
        systems, topics, protocols = (tuple(sorted(one)) for one in (self.systems, self.topics, self.protocols))
        return assemble(
            UnsortedTree(
                merge=self.merge,
                symbols=[Symbol(*pair, text) for pair, text in zip(self._symbols, self._texts, strict=True)],
                parent=self._parent,
                symbol=self._symbol,
                ends=np.concatenate(self._ends),
                trials=self.trials,
                keys=self.keys,
                scope=scope or Scope(systems, topics, protocols, self.invalid, self.interrupted),
                outcomes=tuple(self._outcomes),
                kinds=np.concatenate(self._ended),
                endings=self._endings,
                marks=self._marks,
                marked=self._marked,
            )
        )

    def _place_turns(self) -> None:
        if not self._lengths:
            return
        codes, prints = np.array(self._codes, dtype=np.int32), np.array(self._prints, dtype=np.int64)
        lengths, kinds = np.array(self._lengths, dtype=np.int32), np.array(self._kinds, dtype=np.int32)
        for waiting in (self._codes, self._prints, self._lengths, self._kinds):
            del waiting[:]
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        at, nodes = np.zeros(len(lengths), dtype=np.int32), np.zeros(len(codes), dtype=np.int32)
        rows = np.flatnonzero(lengths > 0)
        turn = 0
        while len(rows):
            here = starts[rows] + turn
            at[rows] = nodes[here] = self._number_nodes(at[rows], codes[here].astype(np.int64))
            turn += 1
            rows = rows[lengths[rows] > turn]
        self._merge_fresh_nodes()
        given = prints != _MISSING
        self._add_fingerprints(nodes[given], prints[given])
        self._ends.append(at)
        self._ended.append(kinds)

    def _number_nodes(self, parents: npt.NDArray[np.int32], symbols: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the nodes with these symbols below these parents, and create missing nodes. A parent may occur in only
        one call between two calls of `_merge_fresh_nodes`."""
        wanted, place = np.unique(parents.astype(np.int64) << 32 | symbols, return_inverse=True)
        numbers = np.full(len(wanted), _MISSING, dtype=np.int32)
        if len(self._known):
            near = np.minimum(np.searchsorted(self._known, wanted), len(self._known) - 1)
            there = self._known[near] == wanted
            numbers[there] = self._numbers[near[there]]
        new = numbers == _MISSING
        count = int(new.sum())
        if self._made + count > np.iinfo(np.int32).max:
            raise ValueError("the tree would have more than 2³¹ nodes; merge by a coarser key")
        numbers[new] = np.arange(self._made, self._made + count, dtype=np.int32)
        self._made += count
        self._fresh.append((wanted[new], numbers[new]))
        return numbers[place]

    def _merge_fresh_nodes(self) -> None:
        made = [one for one in self._fresh if len(one[0])]
        self._fresh = []
        if not made:
            return
        fresh, numbers = (np.concatenate(part) for part in zip(*made, strict=True))
        self._parent = np.concatenate((self._parent, (fresh >> 32).astype(np.int32)))
        self._symbol = np.concatenate((self._symbol, (fresh & 0xFFFFFFFF).astype(np.int32)))
        known, numbers = np.concatenate((self._known, fresh)), np.concatenate((self._numbers, numbers))
        order = np.argsort(known, kind="stable")
        self._known, self._numbers = known[order], numbers[order]

    def _add_fingerprints(self, nodes: npt.NDArray[np.int32], marks: npt.NDArray[np.int64]) -> None:
        if not len(nodes):
            return
        kept = Fingerprints.from_pairs(
            np.concatenate((self._marked, nodes)), np.concatenate((self._marks, marks)), self._made
        )
        self._marked, self._marks = kept.nodes, kept.marks


def _hash_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big")
