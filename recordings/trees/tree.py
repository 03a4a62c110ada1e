"""A conversation tree: trials merged into one branch as long as a declared key says that their turns are equal.

    ConversationTree    arrays in pre-order; node 0 is the root, before anything is said
    ├── symbols         the turns at the nodes: speaker, key, and one text as recorded
    ├── keys            the keys by which user and system turns were merged, and the reasons
    ├── scope           the systems, topics and protocols of the trials, and the number of trials left out
    └── trials, ends    the trials, and the node at which each trial ends

The probability of an edge is visits[child] / visits[parent], and the probability of stopping at a node is stops /
visits. `scoring.stochastic` computes intervals and unseen mass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import TrialKey
from recordings.trees.fingerprints import MOST_TEXTS, Fingerprints
from recordings.trees.preorder import depths, group_branches, is_out_of_order, subtree_sizes
from topics.counting import pluralize

SPEAKERS = ("system", "user")


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """The turn at a node. `speaker` is `user` or `system`. `key` is the value of the merge key (normal form, label,
    act, …). `text` is the first example in code point order, whatever the order of trials; "" if no text is kept."""

    speaker: str
    key: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class DeclaredKey:
    """The key by which the turns of one speaker were merged. `reason` says why turns with equal keys are one branch."""

    speaker: str
    name: str
    version: str
    reason: str


@dataclass(frozen=True, slots=True, order=True)
class FoldedTrial:
    """A trial in a tree, and the attempt that represents it."""

    key: TrialKey
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Scope:
    """The trials in a tree: sorted names of systems and topics, and content hashes of protocols ("" for an import).
    `invalid` and `interrupted` count conversations that were left out because the infrastructure failed or because the
    recording breaks off. `harvest tree` counts a trial without a valid attempt once, by its last attempt."""

    systems: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    invalid: int = 0
    interrupted: int = 0

    def __add__(self, other: "Scope") -> "Scope":
        return Scope(
            tuple(sorted({*self.systems, *other.systems})),
            tuple(sorted({*self.topics, *other.topics})),
            tuple(sorted({*self.protocols, *other.protocols})),
            self.invalid + other.invalid,
            self.interrupted + other.interrupted,
        )


@dataclass(frozen=True, eq=False, repr=False)
class ConversationTree:
    """A tree of N nodes in pre-order. Node 0 is the root, before anything is said. Every other node is one turn.

    - `merge`: the declared keys as one string, for example `exact` or `user=state, system=label`.
    - `symbols`: sorted by speaker and key; each symbol is used by at least one node.
    - `parent`: (N,) int32, -1 for the root, always smaller than the node's own index.
    - `symbol`: (N,) int32 index into `symbols`, -1 for the root.
    - `visits`: (N,) int64, the number of trials that pass through a node or end there.
    - `stops`: (N,) int64, the number of trials that end at a node; visits = stops + sum of the children's visits.
    - `ends`: (T,) int32, the node at which each trial ends.
    - `trials`: the T trials, sorted, or () if they have no names. Without names, `ends` is in the order in which the
      trials were given, and comparisons of trees ignore that order.
    - `outcomes`: the names of ends (`recordings.conversations.endings.end_name`), sorted.
    - `endings`: (N, len(outcomes)) int64, the number of trials that end at a node with each outcome. A row sums to
      `stops`, or to less if some outcomes are unknown.
    - `kinds`: (T,) int32 index into `outcomes` of each trial, in the order of `ends`; -1 if unknown. By default it is
      inferred for trials at nodes where all trials ended alike.
    - `fingerprints`: for each node, the `MOST_TEXTS` smallest fingerprints (48 bits) of the texts merged there; () if
      no text was given.

    Children are ordered by descending visits, then speaker, then key, so equal sets of trials give equal trees, in any
    order. Raises ValueError if the arrays do not form such a tree.
    """

    merge: str
    symbols: tuple[Symbol, ...]
    parent: npt.NDArray[np.int32]
    symbol: npt.NDArray[np.int32]
    visits: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int32]
    trials: tuple[FoldedTrial, ...] = ()
    keys: tuple[DeclaredKey, ...] = ()
    scope: Scope = field(default_factory=Scope)
    outcomes: tuple[str, ...] = ()
    endings: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    fingerprints: Sequence[tuple[int, ...]] = ()
    kinds: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def __post_init__(self) -> None:
        if not self.outcomes and not self.endings.size:
            object.__setattr__(self, "endings", np.zeros((len(self.parent), 0), dtype=np.int64))
        if not self.fingerprints:
            object.__setattr__(self, "fingerprints", ((),) * len(self.parent))
        if not isinstance(self.fingerprints, Fingerprints):
            object.__setattr__(self, "fingerprints", Fingerprints.from_rows(self.fingerprints))
        given = len(self.kinds) > 0
        if not given:
            object.__setattr__(self, "kinds", np.full(len(self.ends), -1, dtype=np.int32))
        fault = self._fault()
        if fault:
            raise ValueError(f"these arrays are not a conversation tree: {fault}")
        if not given and self.outcomes:
            alike = (self.endings == self.stops[:, None]) & (self.stops[:, None] > 0)
            sole = np.where(alike.any(axis=1), alike.argmax(axis=1), -1).astype(np.int32)
            object.__setattr__(self, "kinds", sole[self.ends])
        for name in ("parent", "symbol", "visits", "stops", "ends", "endings", "kinds"):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        """Return N, the number of nodes including the root."""
        return len(self.parent)

    def __repr__(self) -> str:
        turns = pluralize(len(self) - 1, "node")
        return f"<ConversationTree by {self.merge}: {pluralize(self.n, 'trial')}, {turns} after the root>"

    def __eq__(self, other: object) -> bool:
        """Compare keys, scope, nodes and trials. If the trials have no names, only their ends are compared."""
        if not isinstance(other, ConversationTree):
            return NotImplemented
        return (
            (self.merge, self.keys, self.scope, self.trials) == (other.merge, other.keys, other.scope, other.trials)
            and (self.symbols, self.outcomes) == (other.symbols, other.outcomes)
            and self.fingerprints == other.fingerprints
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("parent", "symbol", "visits", "stops", "endings")
            )
            and (not self.trials or (np.array_equal(self.ends, other.ends) and np.array_equal(self.kinds, other.kinds)))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        """Number of trials in the tree."""
        return int(self.visits[0])

    @cached_property
    def depth(self) -> npt.NDArray[np.int32]:
        """Number of turns from the root to each node, shape (N,)."""
        return depths(self.parent)

    @cached_property
    def size(self) -> npt.NDArray[np.int32]:
        """Number of nodes in each node's subtree, shape (N,). The subtree of v is v … v + size[v] - 1."""
        return subtree_sizes(self.parent, self.depth)

    @cached_property
    def _branches(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        return group_branches(self.parent)

    @cached_property
    def _by_end(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        order = np.argsort(self.ends, kind="stable")
        return order, self.ends[order]

    def children(self, node: int) -> tuple[int, ...]:
        """Return the branches of the node, with the most visited first."""
        branches, starts = self._branches
        return tuple(branches[starts[node] : starts[node + 1]].tolist())

    def speaker(self, node: int) -> str:
        """Return the speaker of the node, or "" for the root."""
        return self.symbols[int(self.symbol[node])].speaker if node else ""

    def symbol_at(self, node: int) -> Symbol:
        """Return the turn at the node. Raises ValueError for the root, which has no turn."""
        if node == 0:
            raise ValueError("the root has no turn")
        return self.symbols[int(self.symbol[node])]

    def child(self, node: int, speaker: str, key: str) -> int | None:
        """Return the branch with this speaker and key, or None if there is no such branch."""
        for branch in self.children(node):
            symbol = self.symbols[int(self.symbol[branch])]
            if (symbol.speaker, symbol.key) == (speaker, key):
                return branch
        return None

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the first turn to `node`, or () for the root."""
        found = []
        while node > 0:
            found.append(node)
            node = int(self.parent[node])
        return tuple(reversed(found))

    def end_names(self) -> list[str]:
        """Name of the end of each trial, in the order of `ends`, shape (T,); "" if unknown."""
        names = (*self.outcomes, "")
        return [names[kind] for kind in self.kinds.tolist()]

    def ending_at(self, node: int) -> npt.NDArray[np.int64]:
        """Return the indices of the trials that end at the node, in ascending order, shape (stops[node],)."""
        return self._ending_in(node, node + 1)

    def through(self, node: int) -> npt.NDArray[np.int64]:
        """Return the indices of the trials that reach the node, in ascending order, shape (visits[node],)."""
        return self._ending_in(node, node + int(self.size[node]))

    def _ending_in(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        order, ends = self._by_end
        first, last = np.searchsorted(ends, [start, stop])
        return np.sort(order[first:last])

    @cached_property
    def leaves(self) -> npt.NDArray[np.int64]:
        """Nodes without branches, in ascending order."""
        return np.flatnonzero(self.branches == 0)

    @cached_property
    def branching(self) -> npt.NDArray[np.int64]:
        """Nodes with more than one branch, in ascending order."""
        return np.flatnonzero(self.branches > 1)

    @cached_property
    def branches(self) -> npt.NDArray[np.int64]:
        """Number of branches of each node, shape (N,)."""
        return np.bincount(self.parent[1:], minlength=len(self))

    @property
    def marks(self) -> Fingerprints:
        """The `fingerprints` in the form in which they are stored."""
        assert isinstance(self.fingerprints, Fingerprints)
        return self.fingerprints

    @cached_property
    def texts(self) -> npt.NDArray[np.int32]:
        """Number of different texts merged at each node, at most 64, shape (N,); 0 if no text was given."""
        return self.marks.counts

    def merging(self, node: int) -> str:
        """Return why the turns at this node are one branch: the key, its reason, and the number of merged texts."""
        if node == 0:
            return "before anything is said"
        speaker, count = self.speaker(node), int(self.texts[node])
        declared = next((key for key in self.keys if key.speaker == speaker), None)
        named = f"{declared.name} ({declared.version}): {declared.reason}" if declared else self.merge
        more = " or more" if count == MOST_TEXTS else ""
        counted = "texts not kept" if count == 0 else f"{count}{more} different text{'s' if count != 1 else ''}"
        turns = int(self.visits[node])
        return f"{turns} turn{'s' if turns != 1 else ''}, {counted}, by {named}"

    def _disorder(self) -> str:
        if any(one >= two for one, two in zip(self.trials, self.trials[1:])):
            return "trials must be sorted, each once"
        named = [(one.speaker, one.key) for one in self.symbols]
        if named != sorted(named):
            return "symbols must be sorted by speaker and key"
        if is_out_of_order(self.parent, self.symbol, self.visits, self.depth):
            return "nodes must be in pre-order, branches by visits descending, then speaker, then key"
        return ""

    def _fault(self) -> str:
        nodes = len(self.parent)
        shapes: Sequence[tuple[str, Any, tuple[int, ...]]] = [
            ("parent", np.int32, (nodes,)),
            ("symbol", np.int32, (nodes,)),
            ("visits", np.int64, (nodes,)),
            ("stops", np.int64, (nodes,)),
            ("ends", np.int32, (len(self.ends),)),
            ("endings", np.int64, (nodes, len(self.outcomes))),
            ("kinds", np.int32, (len(self.ends),)),
        ]
        for name, kind, shape in shapes:
            array = getattr(self, name)
            if array.dtype != kind or array.shape != shape:
                return f"{name} is {array.dtype} {array.shape}, not {np.dtype(kind)} {shape}"
        if nodes == 0 or self.parent[0] != -1 or self.symbol[0] != -1:
            return "node 0 must be the root, with -1 for its parent and symbol"
        parents, symbols = self.parent[1:], self.symbol[1:]
        if np.any(parents < 0) or np.any(parents >= np.arange(1, nodes)):
            return "a node's parent must come before it"
        if np.any(symbols < 0) or np.any(symbols >= len(self.symbols)):
            return f"a symbol must be in 0 … {len(self.symbols) - 1}"
        if len({(one.speaker, one.key) for one in self.symbols}) != len(self.symbols):
            return "two symbols have the same speaker and key"
        if any(one.speaker not in SPEAKERS for one in self.symbols):
            return f"a speaker must be one of {', '.join(SPEAKERS)}"
        below = np.zeros(nodes, dtype=np.int64)
        np.add.at(below, parents, self.visits[1:])
        if np.any(self.stops < 0) or np.any(self.visits != self.stops + below):
            return "visits must be the sum of stops and the visits of the branches"
        if np.any(self.visits[1:] < 1):
            return "each node must be visited by a trial"
        if len(self.ends) and (self.ends.min() < 0 or self.ends.max() >= nodes):
            return "a trial ends at a node that does not exist"
        if not np.array_equal(np.bincount(self.ends, minlength=nodes), self.stops):
            return "stops must count the trials that end at a node"
        if self.trials and len(self.trials) != len(self.ends):
            return f"there are {len(self.trials)} trials but {len(self.ends)} ends"
        if np.any(self.endings < 0) or np.any(self.endings.sum(axis=1) > self.stops):
            return "endings must not exceed stops"
        if np.any(self.kinds < -1) or np.any(self.kinds >= len(self.outcomes)):
            return f"a kind of end must be in -1 … {len(self.outcomes) - 1}"
        known = self.kinds >= 0
        ended = np.zeros_like(self.endings)
        np.add.at(ended, (self.ends[known], self.kinds[known]), 1)
        if np.any(ended > self.endings):
            return "endings must count the trials of each kind that end at a node"
        if len(self.fingerprints) != nodes:
            return "fingerprints must be given for every node"
        return self._disorder()
