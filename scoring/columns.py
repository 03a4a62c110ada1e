"""The figures of many conversations at once, with one column for each measure.

A measure is declared by a function of one conversation. A second function (`Declaration.columns`) may compute identical
figures for many conversations of one topic type together, many times faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import TrialKey
from scoring.figure import Figure
from scoring.named_entities import named_entities
from topics.arrays import Counts, Floats
from topics.gold import GoldEntry

if TYPE_CHECKING:  # it imports measures
    from scoring.material import Material


Flags = npt.NDArray[np.bool_]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one measure for the conversations with the numbers `at`. Fields with one entry per conversation
    are as in `Figure`. `n` is None for measures that do not count shares."""

    measure: str
    at: Counts
    value: Floats
    worst: Floats
    best: Floats
    unjudged: Counts
    unknown: Counts
    n: Counts | None = None

    def with_constants(self) -> Column:
        """Return the column with arrays of equal numbers replaced by one number, which applies to most arrays of most
        measures, and with counts of one byte each if they fit."""
        found = {name: getattr(self, name) for name in ("worst", "best")}
        counts = {name: _small(getattr(self, name)) for name in ("unjudged", "unknown")}
        return replace(self, **{name: _constant(one) for name, one in {**found, **counts}.items()})


def _small(counts: Counts) -> Any:
    few = not len(counts) or (int(counts.min()) >= 0 and int(counts.max()) <= np.iinfo(np.uint8).max)
    return counts.astype(np.uint8) if few and not is_constant(counts) else counts


def _constant(values: Any) -> Any:
    first = values[:1]
    if is_constant(values) or not len(first):
        return values
    same = np.isnan(values).all() if first[0] != first[0] else (values == first[0]).all()
    return np.broadcast_to(first[0], values.shape) if same else values


def is_constant(values: npt.NDArray[Any]) -> bool:
    """Return True if an array is known to contain the same number throughout."""
    return values.strides == (0,)


class Joined:
    """Columns of one measure after the other, joined from their parts. Arrays that measures share are joined once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], Any] = {}

    def column(self, parts: Sequence[Column]) -> Column:
        names = ("at", "value", "worst", "best", "unjudged", "unknown")
        arrays = {name: self._joined([getattr(one, name) for one in parts]) for name in names}
        n = None if all(one.n is None for one in parts) else np.concatenate([_counts_of(one) for one in parts])
        return Column(parts[0].measure, **arrays, n=n)

    def derived(self, values: Counts, make: Callable[[Counts], Counts]) -> Counts:
        """Return the result of `make` for an array, computed only once."""
        key = (id(values), -1)
        if key not in self._known:
            self._known[key] = values, make(values)
        made: Counts = self._known[key][1]
        return made

    def _joined(self, parts: Sequence[npt.NDArray[Any]]) -> Any:
        key = tuple(map(id, parts))
        if key not in self._known:
            # The parts are kept as well: another array could have the place in memory of one that is gone.
            self._known[key] = parts, _constant_or_whole(parts)
        return self._known[key][1]


def _counts_of(column: Column) -> Counts:
    return np.zeros(len(column.at), dtype=np.int64) if column.n is None else column.n


def _constant_or_whole(parts: Sequence[npt.NDArray[Any]]) -> Any:
    if all(map(is_constant, parts)) and len({str(one[0]) for one in parts}) == 1:
        return np.broadcast_to(parts[0][0], (sum(map(len, parts)),))
    return np.concatenate(parts)


def column_of(measure: str, figures: Sequence[tuple[int, Figure]]) -> Column:
    """Make a column of at least one figure of a single conversation, each with the number of its conversation."""
    value, worst, best = np.array([(one.value, one.worst, one.best) for _, one in figures]).T
    at, unjudged, unknown, n = np.array(
        [(at, one.unjudged, one.unknown, one.n) for at, one in figures], dtype=np.int64
    ).T
    return Column(measure, at, value, worst, best, unjudged, unknown, n)


def present_means(values: Floats) -> Floats:
    """Return the (parts,) means of (parts, units) values without NaN, or NaN if all values are NaN."""
    seen = ~np.isnan(values)
    means: Floats
    if values.size and seen.all() and values.flags.c_contiguous:
        means = values.mean(axis=1)
        return means
    counts = seen.sum(axis=1)
    means = np.full(len(values), math.nan)
    for count in np.unique(counts[counts > 0]).tolist():  # numpy adds equally many numbers in the same order
        alike = counts == count
        means[alike] = values[alike][seen[alike]].reshape(-1, count).mean(axis=1)
    return means


def means_over_topics(values: Floats) -> Floats:
    """Return the (parts,) means over topics of each topic's mean over its trials, without NaN cells. `values` are
    (parts, topics, trials). Trials must be contiguous in memory, because the order of a sum depends on that."""
    seen = ~np.isnan(values)
    if values.size and seen.all() and values.flags.c_contiguous:
        return present_means(values.sum(axis=2) / values.shape[2])
    counts = seen.sum(axis=2)
    sums = np.where(seen, values, 0.0).sum(axis=2)
    return present_means(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


# Indices that give (parts, topics, trials) of an array of topics and trials.
Grid = tuple[Counts, Counts]


class Mean(NamedTuple):
    """A mean over some topics and trials, with the data behind it."""

    value: float
    worst: float
    best: float
    n: int
    topics: int
    left_out: int
    unjudged: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Cells:
    """The figures of one measure by topic and trial, each (topics, trials), as in `Figure`."""

    values: Floats
    worst: Floats
    best: Floats
    unjudged: Counts
    unknown: Counts
    n: Counts

    @classmethod
    def spread(
        cls,
        shape: tuple[int, ...],
        places: Sequence[tuple[Counts, Counts]],
        parts: Sequence[Column],
        known: dict[tuple[int, ...], Any],
    ) -> Cells:
        """Return the values of `parts` at the `places` of their conversations. At other places, values are NaN and
        counts 0. `known` has arrays that measures share, and grows."""

        def whole(several: Sequence[npt.NDArray[Any]], nothing: Any) -> Any:
            key = tuple(map(id, several))
            if key not in known:
                same = all(is_constant(one) and np.array_equal(one[0], nothing, equal_nan=True) for one in several)
                kind = np.result_type(*several)
                found = np.broadcast_to(nothing, shape) if same else np.full(shape, nothing, dtype=kind)
                for place, one in zip(places, several, strict=True):
                    if not same:
                        found[place] = one
                known[key] = several, found  # both, since another array could get the place of one that is gone
            return known[key][1]

        zero = np.int64(0)
        sides = [[getattr(one, name) for one in parts] for name in ("value", "worst", "best")]
        counts = [[getattr(one, name) for one in parts] for name in ("unjudged", "unknown")]
        n = [np.broadcast_to(zero, len(one.at)) if one.n is None else one.n for one in parts]
        return cls(*(whole(one, np.float64(np.nan)) for one in sides), *(whole(one, zero) for one in (*counts, n)))

    def means(self, at: Grid, expected: npt.NDArray[np.bool_]) -> list[Mean]:
        """Return the mean of each part. `expected` (parts, topics, trials) is True if a trial should have a value."""
        values, worst, best = (np.ascontiguousarray(one[at]) for one in (self.values, self.worst, self.best))
        seen = ~np.isnan(values)
        n = seen.sum(axis=(1, 2))
        means = means_over_topics(values)
        alike = values.tobytes()  # most values are known, and then the worst and best are the same
        columns = (
            means,
            *(means if one.tobytes() == alike else means_over_topics(one) for one in (worst, best)),
            n,
            seen.any(axis=2).sum(axis=1),
            np.where(n > 0, (expected & ~seen).sum(axis=(1, 2)), 0),
            *(counts[at].sum(axis=(1, 2)) for counts in (self.unjudged, self.unknown)),
        )
        return list(map(Mean._make, zip(*(column.tolist() for column in columns), strict=True)))


@dataclass(frozen=True, slots=True)
class Conversations:
    """Conversations of one topic type with judged topics, under the same settings, and their relevant nuggets.

    `at` (n,) are the numbers of the conversations, `unjudged` (n,) the numbers of entities that are not in the gold
    table, and `limit` (n,) is L in the unit of each conversation. All other arrays are (nuggets,), in reading order:
    `of` is the index of the conversation, `turn` numbers all turns of all conversations, and `entry` is the index of
    the gold entry in `entries`. `made` are results of `once`.
    """

    grounds: Sequence[Material]
    at: Counts
    unjudged: Counts
    limit: Counts
    of: Counts
    turn: Counts
    position: Counts
    gain: Floats
    entry: Counts
    entries: Sequence[GoldEntry]
    made: dict[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def gather(cls, grounds: Sequence[Material], at: Sequence[int]) -> Conversations:
        """Gather at least one conversation. `at` are the numbers of the conversations."""
        gold, told = grounds[0].gold, ((one.conversation, one.topic) for one in grounds)
        assert gold is not None, "it is known what a good answer contains"
        named = named_entities(told, gold, grounds[0].attributes, grounds[0].settings)
        for ground, unjudged in zip(grounds, named.unjudged, strict=True):
            ground.once("unjudged", partial(int, unjudged))  # then nothing else needs its nuggets
        return cls(
            grounds,
            np.array(at, dtype=np.int64),
            np.array(named.unjudged, dtype=np.int64),
            np.array(named.limit, dtype=np.int64),
            np.repeat(np.arange(len(grounds)), np.diff(named.named)),
            np.array(named.turn, dtype=np.int64),
            np.array(named.position, dtype=np.int64),
            np.array(named.gain, dtype=np.float64),
            np.array(named.entry, dtype=np.int64),
            named.entries,
        )

    def __len__(self) -> int:
        return len(self.grounds)

    @property
    def counts(self) -> Counts:
        """The numbers of relevant nuggets, (n,)."""
        return np.bincount(self.of, minlength=len(self))

    def memberships(self, attribute: str) -> Floats:
        """Return (nuggets, groups) shares in an attribute set, which are uniform if the gold table gives no group."""
        size = len(self.grounds[0].attributes[attribute].groups)
        even = (1.0 / size,) * size
        every = [entry.groups.get(attribute, even) for entry in self.entries]
        return np.array(every, dtype=np.float64).reshape(-1, size)[self.entry]

    def has_unknown_group(self, attribute: str) -> npt.NDArray[np.bool_]:
        """Return (nuggets,) True if the gold table gives no group in an attribute set."""
        return np.array([attribute not in entry.groups for entry in self.entries], dtype=bool)[self.entry]

    def compute_once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return `make()`, computed at most once. `what` is the key of the result."""
        if what not in self.made:
            self.made[what] = make()
        found: T = self.made[what]
        return found

    def column(
        self, measure: str, value: Floats, worst: Floats | None = None, best: Floats | None = None, unknown: Any = 0
    ) -> Column:
        none = np.full(len(self), math.nan)
        counts = np.broadcast_to(np.asarray(unknown, dtype=np.int64), len(self))
        return Column(
            measure, self.at, value, none if worst is None else worst, none if best is None else best,
            self.unjudged, counts,
        )  # fmt: skip


@dataclass(frozen=True)  # without slots, so that derived values are cached
class Columns:
    """The figures of the n conversations of one system. `keys` (n,) identify the conversations, and `order` are the
    measures in the order of tables. `nuggets` returns the figures of a conversation's nuggets."""

    system: str
    keys: Sequence[TrialKey]
    columns: Sequence[Column]
    order: Sequence[str]
    nuggets: Callable[[int], Sequence[Figure]]

    @cached_property
    def parts(self) -> Mapping[str, Sequence[Column]]:
        """The columns of each measure, over different conversations."""
        found: dict[str, list[Column]] = {name: [] for name in self.order}
        for column in self.columns:
            found[column.measure].append(column)
        return found

    def values(self, measure: str) -> tuple[Counts, Floats]:
        """Return the numbers (found,), ascending, of the conversations that have the measure, and the values
        (found,)."""
        parts = self.parts.get(measure, ())
        at = np.concatenate([np.zeros(0, dtype=np.int64), *(one.at for one in parts)])
        value = np.concatenate([np.zeros(0), *(one.value for one in parts)])
        order = np.argsort(at)
        return at[order], value[order]

    def cells(self, measure: str, *, pooled: bool) -> tuple[Counts, Floats]:
        """Return the numbers (found,), ascending, of the conversations that have the measure, and the contribution of
        each, (found, 2), as in `Figure.cell`."""
        at, value = self.values(measure)
        if not pooled:
            return at, np.stack([value, np.ones(len(at))], axis=1)
        parts = self.parts.get(measure, ())
        n = np.concatenate([np.zeros(0), *(one.value * 0 if one.n is None else one.n for one in parts)])
        n = n[np.argsort(np.concatenate([np.zeros(0, dtype=np.int64), *(one.at for one in parts)]))]
        return at, np.stack([np.where(n > 0, value, 0.0) * n, n], axis=1)

    def select_measures(self, names: Collection[str]) -> Columns:
        """Return a copy with only the measures in `names`."""
        return replace(
            self,
            columns=[one for one in self.columns if one.measure in names],
            order=[name for name in self.order if name in names],
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """The labels of one system's answers, over topics, trials and turns.

    - `turns`: (topics,) the number of turns that each topic can have.
    - `useful`: (topics, trials, turns) 1.0 for a useful answer, 0.0 for a useless answer, and NaN if nothing was
      asked or labelled.
    - `failed`: (topics, trials) 1.0 if the first answer was not useful.
    - `recovered`: (topics, trials) 1.0 if the first answer was not useful but the second was.
    - `invalid`: (topics, trials) True if infrastructure failures ended every attempt of the trial.
    """

    turns: npt.NDArray[np.int64]
    useful: Floats
    recovered: Floats
    failed: Floats
    invalid: Flags

    @classmethod
    def empty(cls, turns: npt.NDArray[np.int64], trials: int) -> Answers:
        """Return answers for no conversations. `turns` is (topics,)."""
        shape = (len(turns), trials)
        useful = np.full((*shape, int(turns.max(initial=0))), np.nan)
        return cls(turns, useful, np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=bool))


@dataclass(frozen=True, slots=True)
class Tally:
    """A share as numerators and denominators, with the lost trials, for one turn (from 1) or for all turns (None).

    - `above`, `below`: (topics, trials) answers that count, and all answers. Missing trials are NaN.
    - `lost`: (topics, trials) trials that would have had the share and never became valid.
    - `whole`: (topics,) the largest number of answers lost with one trial.
    - `there`: (topics,) True for topics that can have the share.
    - `pooled`: True if the share is one ratio of sums, not a mean of shares.
    - `fewest`: the number of units that the interval needs, and a phrase for what the units must have.
    """

    measure: str
    turn: int | None
    above: Floats
    below: Floats
    lost: Flags
    whole: Floats
    there: Flags
    pooled: bool = False
    fewest: tuple[int, str] = (0, "")
