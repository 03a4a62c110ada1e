"""Builders of conversation trees.

- `TreeBuilder`: one pass over conversations; memory grows with the nodes and texts, and by 8 to 12 bytes a trial.
- `fold`: (n, T) paths that are already encoded, for millions of conversations.
- `merge_trees`: the tree of all trials of several trees.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import Conversation, Outcome, Turn
from recordings.conversations.endings import end_name
from recordings.events.attempts import Attempt
from recordings.trees.growth import Growth, UnsortedTree, assemble
from recordings.trees.tree import ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol
from topics.counting import pluralize


@dataclass(frozen=True, slots=True)
class MergeKey:
    """The key by which turns of one speaker are distinguished. `function` returns the key of a turn; for the system's
    side it is called only with turns that have a reply. `version` changes whenever `function` may return another key.
    `reason` is a clause on why turns with equal keys are one branch."""

    name: str
    version: str
    function: Callable[[Turn], str]
    reason: str

    def declare_key(self, speaker: str) -> DeclaredKey:
        return DeclaredKey(speaker, self.name, self.version, self.reason)


@dataclass(frozen=True, slots=True)
class Merging:
    """The merge keys of both speakers. `name` is the name of the pair (`exact`, `label`, `user=state, system=act`). If
    `pools`, trees of different topics may be merged, because no key depends on the topic."""

    name: str
    user: MergeKey
    system: MergeKey
    pools: bool = False

    @property
    def declared_keys(self) -> tuple[DeclaredKey, ...]:
        """The keys as declared in a tree, with the system's key first."""
        return self.system.declare_key("system"), self.user.declare_key("user")


def exact_form(text: str) -> str:
    """Return the exact normal form: Unicode NFC, with each run of white space (as in `str.split`) replaced by one
    space, and none at the ends. Case, punctuation, digits and markup are kept: `US` is not `us`, and addresses and
    their keys are case-sensitive. Two texts with equal forms show the same words to a reader."""
    return " ".join(unicodedata.normalize("NFC", text).split())


_SAME_WORDS = "the same words (NFC, white space collapsed, nothing else)"
EXACT_SAID = MergeKey("exact", "1", lambda turn: exact_form(turn.said), _SAME_WORDS)
EXACT_TEXT = MergeKey(
    "exact", "1", lambda turn: exact_form(turn.reply.answer.text) if turn.reply is not None else "", _SAME_WORDS
)
LABEL_KEY = MergeKey(
    "label",
    "1",
    lambda turn: turn.label or "?",
    "a rule gave the answers the same label (o useful, x not useful, ? none)",
)
STATE = MergeKey("state", "1", lambda turn: turn.state, "said in the same state of the protocol")

EXACT = Merging("exact", EXACT_SAID, EXACT_TEXT)
LABEL = Merging("label", STATE, LABEL_KEY, pools=True)


def combine_keys(user: MergeKey, system: MergeKey, *, pools: bool = False) -> Merging:
    """Combine the keys of the two speakers. If both keys have one name, that is also the name of the pair."""
    name = system.name if user.name == system.name else f"user={user.name}, system={system.name}"
    return Merging(name, user, system, pools)


def by_function(
    name: str, user: Callable[[Turn], str], system: Callable[[Turn], str], *, version: str, reason: str
) -> Merging:
    """Return merge keys that use the caller's functions, declared as `function(name)`."""
    written = f"function({name})"
    return Merging(written, MergeKey(written, version, user, reason), MergeKey(written, version, system, reason))


# Speaker, key, and the text as recorded (None if it is not kept).
PathTurn = tuple[str, str, str | None]


def path_of(conversation: Conversation, merging: Merging) -> tuple[PathTurn, ...]:
    """Return the turns of a conversation as the nodes of a path. A turn without a reply adds only the user's node."""
    path: list[PathTurn] = []
    for turn in conversation.turns:
        path.append(("user", merging.user.function(turn), turn.said))
        if turn.reply is not None:
            path.append(("system", merging.system.function(turn), turn.reply.answer.text))
    return tuple(path)


def _label_path(attempt: Attempt) -> Iterator[PathTurn]:
    for state, said, label, answer in attempt.spoken_turns:
        yield "user", state, said
        if answer is not None:
            yield "system", label or "?", answer


def _word_path(attempt: Attempt) -> Iterator[PathTurn]:
    for _, said, _, answer in attempt.spoken_turns:
        yield "user", exact_form(said), said
        if answer is not None:
            yield "system", exact_form(answer), answer


# The paths of attempts by the keys that only use what was said (`Attempt.spoken`).
SPOKEN: Mapping[Merging, Callable[[Attempt], Iterator[PathTurn]]] = {LABEL: _label_path, EXACT: _word_path}


class TreeBuilder:
    """Adds conversations to one tree, one after the other. `merging` decides which turns count as equal; by default,
    turns with exactly the same words are equal. `protocol` is the content hash of the protocol of the conversations (""
    for an import)."""

    def __init__(self, merging: Merging = EXACT, *, protocol: str = "") -> None:
        self.merging, self._protocol = merging, protocol
        self._growth = Growth(merging.name, merging.declared_keys)

    def add(self, conversation: Conversation) -> bool:
        """Add a conversation. Returns False for an invalid or interrupted conversation, which is only counted."""
        trial, outcome = FoldedTrial(conversation.key, conversation.attempt), conversation.outcome
        return self.add_trial(trial, outcome, lambda: path_of(conversation, self.merging))

    def add_attempt(self, attempt: Attempt) -> bool:
        """Add an attempt as `add` adds a conversation, but much faster for the keys in `SPOKEN`."""
        trial = FoldedTrial(attempt.started.key, attempt.started.attempt)
        path = SPOKEN.get(self.merging)
        if path is not None:
            return self.add_trial(trial, attempt.outcome, lambda: path(attempt))
        return self.add_trial(trial, attempt.outcome, lambda: path_of(attempt.conversation(), self.merging))

    def add_trial(self, trial: FoldedTrial, outcome: Outcome | None, path: Callable[[], Iterable[PathTurn]]) -> bool:
        """Add a trial, and count it in the tree's scope, as `add` does. `path` is called only for a valid trial."""
        growth = self._growth
        if outcome is None:
            growth.interrupted += 1
            return False
        if not outcome.valid:
            growth.invalid += 1
            return False
        growth.systems.add(trial.key.system)
        growth.topics.add(trial.key.topic)
        growth.protocols.add(self._protocol)
        self.add_path(path(), trial, end_name(outcome))
        return True

    def add_path(self, path: Iterable[PathTurn], trial: FoldedTrial | None = None, outcome: str = "") -> None:
        """Add a path named `trial`. `outcome` is "" if unknown. Raises ValueError if only some paths have a name."""
        self._growth.add(path, trial, outcome)

    def __repr__(self) -> str:
        return f"<TreeBuilder by {self.merging.name}: {pluralize(self._growth.folded, 'trial')}>"

    def tree(self) -> ConversationTree:
        """Return the current tree. Raises ValueError if the tree is empty or if a trial was added twice."""
        return self._growth.tree()


def merge_trees(trees: Sequence[ConversationTree]) -> ConversationTree:
    """Return the tree of all trials of `trees`, independent of their order and grouping. Raises ValueError if there are
    no trees, if the trees were merged by different keys, or if a trial is in two trees."""
    if not trees:
        raise ValueError("there are no trees to merge")
    first = trees[0]
    for other in trees[1:]:
        if (other.merge, other.keys) != (first.merge, first.keys):
            raise ValueError(f"trees merged by {first.merge!r} and by {other.merge!r} cannot be combined")
    growth = Growth(first.merge, first.keys)
    for tree in trees:
        growth.add_tree(tree)
    return growth.tree(sum((tree.scope for tree in trees), Scope()))


def fold(
    paths: npt.NDArray[np.integer],
    symbols: Sequence[Symbol],
    *,
    merge: str = "function(encoded)",
    keys: tuple[DeclaredKey, ...] = (),
    scope: Scope | None = None,
) -> ConversationTree:
    """Return the tree of encoded conversations. Its `ends` are in the order of the rows.

    `paths` is an (n, T) array of indices into `symbols`, in which each column is one turn of one speaker and -1 follows
    the end of a conversation. The columns are processed in one pass: the pairs (current node, symbol) are counted in a
    table, or sorted if the table would be large. Raises ValueError if n is 0, if an index is out of range, or if a turn
    follows a -1.
    """
    if paths.ndim != 2 or len(paths) == 0:
        raise ValueError(f"paths must have the shape (n, T) with n of at least 1, not {paths.shape}")
    n, width = paths.shape
    ends = np.zeros(n, dtype=np.int32)
    rows: npt.NDArray[np.intp] | None = None  # None while every conversation goes on
    at = np.zeros(n, dtype=np.int64)  # the node of each going conversation, counted within its level
    parents, turns = [np.array([-1], dtype=np.int32)], [np.array([-1], dtype=np.int32)]
    start, made, count = 0, 1, len(symbols)
    for column in range(width):
        taken = paths[:, column] if rows is None else paths[rows, column]
        if len(taken) and (taken.min() < -1 or taken.max() >= count):
            raise ValueError(f"column {column} of the paths contains an index that is not in -1 to {count - 1}")
        going = taken >= 0
        if not going.all():
            rows = np.flatnonzero(going) if rows is None else rows[going]
            at, taken = at[going], taken[going]
        if np.count_nonzero(paths[:, column] >= 0) != len(taken):
            raise ValueError(f"column {column} has a turn after the end (-1) of its conversation")
        if len(taken) == 0:
            continue
        found, at = _distinct(at * count + taken, (made - start) * count)
        parents.append((start + found // count).astype(np.int32))
        turns.append((found % count).astype(np.int32))
        start, made = made, made + len(found)
        if made > np.iinfo(np.int32).max:
            raise ValueError("the tree would have more than 2³¹ nodes; merge by a coarser key")
        if rows is None:
            ends[:] = start + at
        else:
            ends[rows] = start + at
    raw = UnsortedTree(
        merge, symbols, np.concatenate(parents), np.concatenate(turns), ends, keys=keys, scope=scope or Scope()
    )
    return assemble(raw)


def _distinct(values: npt.NDArray[np.int64], most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct values, ascending, and the index of each value among them. Values are below `most`."""
    if most > 4 * len(values) + 1024:
        return np.unique(values, return_inverse=True)
    there = np.zeros(most, dtype=bool)
    there[values] = True
    place = np.cumsum(there, dtype=np.int64) - 1
    return np.flatnonzero(there), place[values]
