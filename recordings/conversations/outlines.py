"""Conversations without their words, as columns, so that millions of them fit in memory.

Without words, many conversations are alike: the same states, labels and end. Each distinct one is kept once, as an
*outline*, and a conversation is then a row of numbers: its system, topic and trial, and its outline. What has to be
known about the words is found while they are there, as *traits*, and is part of the outline.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.files.times import unix_seconds
from topics.arrays import Counts, Floats

Codes = npt.NDArray[np.int32]

_WORDS_SIZE = 8  # bytes of a hash of words: a wrong match among a million conversations has a chance of 3e-8


class Kind(NamedTuple):
    """Conversations of one system on one topic that are alike. `example` is the first of them, `number` counts them.
    `trait` is what was asked about their words."""

    example: Conversation
    number: int
    trait: Any


def kinds(
    conversations: Iterable[Conversation], trait: str = "", find: Callable[[Conversation], Any] = lambda one: None
) -> Iterable[Kind]:
    """Return the kinds of conversations in order of their first one. Conversations that have their words are each a
    kind of their own, whose trait `find` returns; outlines have the traits that were found when they were made."""
    if isinstance(conversations, Outlines):
        return conversations.kinds(trait)
    return (Kind(one, 1, find(one)) for one in conversations)


def by_system(conversations: Iterable[Conversation]) -> Mapping[str, Sequence[Conversation]]:
    """Group conversations by system, in order of their first one."""
    if isinstance(conversations, Outlines):
        own = dict.fromkeys(one.example.key.system for one in conversations.kinds())
        return {name: conversations.of_system(name) for name in own}
    found: dict[str, list[Conversation]] = {}
    for one in conversations:
        found.setdefault(one.key.system, []).append(one)
    return found


def body_address(reply: SystemTurn) -> str:
    """Return the address of the stored body of a reply, streamed or not, or "" if none was stored."""
    return reply.evidence.get("response") or reply.evidence.get("stream") or ""


def words_hash(texts: Iterable[str]) -> int:
    """Return a hash of texts in order, which is never 0."""
    found = blake2b(digest_size=_WORDS_SIZE)
    for text in texts:
        found.update(text.encode("utf-8", "surrogatepass"))
        found.update(b"\xff")  # which occurs in no text
    return int.from_bytes(found.digest(), "little", signed=True) or 1


@dataclass(frozen=True)  # without slots, for cached properties
class Outlines(Sequence[Conversation]):
    """Conversations without their words. `systems` and `topics` are names. All arrays are (n,), in the order of a run:
    indices of system, topic and outline, numbers of trial and attempt, and the start in seconds since 1970 (NaN if
    unknown). `words` has a hash of all answers, or 0 without any words; its order means nothing. `examples` has each
    outline with its traits. `bodies` are the replies whose bodies are stored, in order."""

    systems: Sequence[str]
    topics: Sequence[str]
    examples: Sequence[tuple[Conversation, Mapping[str, Any]]]
    system: Codes
    topic: Codes
    trial: Codes
    attempt: Codes
    outline: Codes
    started: Floats
    words: Counts
    bodies: Bodies

    def __len__(self) -> int:
        return len(self.outline)

    @overload
    def __getitem__(self, at: int) -> Conversation: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Conversation]: ...
    def __getitem__(self, at: int | slice) -> Conversation | Sequence[Conversation]:
        if isinstance(at, slice):
            return self.select(np.arange(len(self))[at])
        example: Conversation = self.examples[self.outline[at]][0]
        return replace(example, key=self.key(at), attempt=int(self.attempt[at]))

    def key(self, at: int) -> TrialKey:
        return TrialKey(self.systems[self.system[at]], self.topics[self.topic[at]], int(self.trial[at]))

    @property
    def keys(self) -> Keys:
        return Keys(self)

    @cached_property
    def trials(self) -> TrialSet:
        """The trials of these conversations."""
        mixed = self.system.astype(np.int64) * max(1, len(self.topics)) + self.topic
        found, first = np.unique(mixed, return_index=True)
        parts = np.split(self.trial.astype(np.int64), first[1:]) if len(first) else []
        names = [(self.systems[one // len(self.topics)], self.topics[one % len(self.topics)]) for one in found.tolist()]
        return TrialSet({name: np.unique(own) for name, own in zip(names, parts, strict=True)})

    def select(self, rows: Counts) -> Outlines:
        """Return the conversations with these numbers, ascending."""
        names = ("system", "topic", "trial", "attempt", "outline", "started", "words")
        return replace(self, **{name: getattr(self, name)[rows] for name in names}, bodies=self.bodies.select(rows))

    @cached_property
    def valid_rows(self) -> Counts:
        """The numbers of the valid conversations."""
        good = np.array([example.valid for example, _ in self.examples], dtype=bool)
        return np.flatnonzero(good[self.outline])

    @cached_property
    def valid(self) -> Outlines:
        """The valid conversations, of which a trial has at most one."""
        return self if len(self.valid_rows) == len(self) else self.select(self.valid_rows)

    @cached_property
    def groups(self) -> tuple[Counts, Counts, Counts]:
        """The first conversation of each kind, the number of conversations of each kind, and (n,) the kind of each
        conversation. Kinds are in order of their first conversation."""
        size = max(1, len(self.examples))
        mixed = (self.system.astype(np.int64) * max(1, len(self.topics)) + self.topic) * size + self.outline
        _, first, inverse, counts = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return first[order], counts[order], rank[inverse]

    def kinds(self, trait: str = "") -> Sequence[Kind]:
        """Return the kinds of these conversations; see `kinds`."""
        first, counts, _ = self.groups
        rows = zip(first.tolist(), counts.tolist(), strict=True)
        return [Kind(self[at], count, self.examples[self.outline[at]][1].get(trait)) for at, count in rows]

    def different_words(self) -> list[tuple[int, int]]:
        """Return, for each topic, the number of conversations in which the system said something, and how many
        different things."""
        spoken = self.words != 0
        each = ((self.words[spoken & (self.topic == topic)]) for topic in np.unique(self.topic[spoken]).tolist())
        return [(len(own), len(np.unique(own))) for own in each]

    def of_system(self, name: str) -> Outlines:
        return self.select(np.flatnonzero(self.system == self.systems.index(name)))


@dataclass(frozen=True, slots=True)
class Keys(Sequence[TrialKey]):
    """The names of the trials of outlines, made when they are asked for."""

    of: Outlines

    def __len__(self) -> int:
        return len(self.of)

    @overload
    def __getitem__(self, at: int) -> TrialKey: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[TrialKey]: ...
    def __getitem__(self, at: int | slice) -> TrialKey | Sequence[TrialKey]:
        return [self.of.key(one) for one in range(*at.indices(len(self)))] if isinstance(at, slice) else self.of.key(at)


@dataclass(frozen=True, slots=True)
class Bodies:
    """Replies whose bodies are stored as evidence. All arrays are (n,): the number of the conversation, ascending, a
    hash of the reply's text, and the body's address."""

    row: Codes
    words: Counts
    address: npt.NDArray[np.bytes_]

    def groups(self) -> Iterator[list[tuple[int, str]]]:
        """Yield the conversations and addresses of replies with equal texts that are in two conversations or more."""
        order = np.argsort(self.words, kind="stable")
        ends = np.flatnonzero(np.diff(self.words[order])) + 1
        for group in np.split(order, ends):
            if len(group) > 1 and self.row[group[0]] != self.row[group[-1]]:
                yield list(zip(self.row[group].tolist(), map(bytes.decode, self.address[group].tolist()), strict=True))

    def select(self, rows: Counts) -> Bodies:
        kept = np.isin(self.row, rows)
        return Bodies(np.searchsorted(rows, self.row[kept]).astype(np.int32), self.words[kept], self.address[kept])


class Outlining:
    """Makes outlines of conversations that come one after the other, in any order. `traits` are functions that return
    what has to be known about the words of a conversation: values that recur."""

    def __init__(self, traits: Mapping[str, Callable[[Conversation], Hashable]]) -> None:
        self._traits = traits
        self._systems: dict[str, int] = {}
        self._topics: dict[str, int] = {}
        self._outlines: dict[Hashable, int] = {}
        self._examples: list[tuple[Conversation, Mapping[str, Any]]] = []
        self._numbers = {name: array("i") for name in ("system", "topic", "trial", "attempt", "outline")}
        self._started, self._words, self._ids = array("d"), array("q"), array("q")
        self._bodies = array("i"), array("q"), list[bytes]()

    def __len__(self) -> int:
        return len(self._started)

    def add(self, one: Conversation) -> None:
        key, texts = one.key, []
        for turn in one.turns:
            reply = turn.reply
            if reply is None:
                continue
            texts.append(reply.answer.text.strip())
            address = body_address(reply)
            if address:
                row, words, addresses = self._bodies
                row.append(len(self))
                words.append(words_hash((reply.answer.text,)))
                addresses.append(address.encode())
        numbers = (
            self._systems.setdefault(key.system, len(self._systems)),
            self._topics.setdefault(key.topic, len(self._topics)),
            key.trial,
            one.attempt,
            self._outline(one),
        )
        for column, number in zip(self._numbers.values(), numbers, strict=True):
            column.append(number)
        self._words.append(words_hash(texts) if any(texts) else 0)
        self._ids.append(hash((one.trial_id, one.attempt)))
        began = unix_seconds(one.started_at)
        self._started.append(began if math.isfinite(began) else math.nan)

    def _outline(self, one: Conversation) -> int:
        traits, end = tuple([find(one) for find in self._traits.values()]), one.outcome
        turns = [
            (
                *(turn.number, turn.state, turn.user, turn.act, turn.worded),
                None
                if turn.reply is None
                else (turn.reply.finish, turn.reply.model, turn.reply.notes, turn.reply.ended),
                None if turn.route is None else _route_key(turn.route),
            )
            for turn in one.turns
        ]
        ended = None if end is None else (end.kind, end.reason, "" if end.valid else end.detail, end.missing)
        key = (ended, one.place > 1, *turns, traits)
        found = self._outlines.get(key)
        if found is None:
            found = self._outlines[key] = len(self._examples)
            self._examples.append((_without_words(one), dict(zip(self._traits, traits, strict=True))))
        return found

    def outlines(self, systems: Sequence[str], topics: Mapping[str, int]) -> tuple[Outlines, Counts] | None:
        """Return the outlines in the order of a run with these systems and these ranks of topics, and (n,) the numbers
        of the conversations in that order, as they were added. Returns None if an attempt was added twice, or two valid
        attempts of one trial."""
        columns = {name: np.frombuffer(column, dtype=np.int32) for name, column in self._numbers.items()}
        names = sorted(self._systems, key=lambda one: (_place(systems, one), one))
        about = sorted(self._topics, key=lambda one: (topics.get(one, len(topics)), one))
        for what, given, ordered in (("system", self._systems, names), ("topic", self._topics, about)):
            places = np.empty(len(ordered), dtype=np.int32)
            places[[given[name] for name in ordered]] = np.arange(len(ordered), dtype=np.int32)
            columns[what] = places[columns[what]]
        by = [columns[name] for name in ("attempt", "trial", "topic", "system")]
        order = np.lexsort(by)
        good = np.array([example.valid for example, _ in self._examples], dtype=bool)
        same = np.ones(max(0, len(self) - 1), dtype=bool)
        for column in by[1:]:
            same &= np.diff(column[order]) == 0
        valid = good[columns["outline"]][order] if len(self) else np.zeros(0, dtype=bool)
        several = same & (np.diff(columns["attempt"][order]) == 0)
        if several.any() or len(np.unique(np.frombuffer(self._ids, dtype=np.int64))) < len(self):
            return None
        trials = np.concatenate([[0], np.cumsum(~same)]) if len(self) else np.zeros(0, dtype=np.int64)
        if len(self) and np.bincount(trials, weights=valid).max() > 1:
            return None
        row, words, addresses = self._bodies
        ranks = np.empty(len(self), dtype=np.int32)
        ranks[order] = np.arange(len(self), dtype=np.int32)
        moved = ranks[np.frombuffer(row, dtype=np.int32)]
        placed = np.argsort(moved, kind="stable")
        bodies = Bodies(
            moved[placed], np.frombuffer(words, dtype=np.int64)[placed], np.array(addresses, dtype="S")[placed]
        )
        found = Outlines(
            names,
            about,
            self._examples,
            **{name: column[order] for name, column in columns.items()},
            started=np.frombuffer(self._started)[order],
            words=np.frombuffer(self._words, dtype=np.int64)[order],
            bodies=bodies,
        )
        return found, order


def _place(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _route_key(route: Route) -> tuple[str, ...]:
    return route.state, route.label, route.rule, route.version, route.target


def _without_words(one: Conversation) -> Conversation:
    turns = tuple(
        Turn(
            turn.number,
            turn.state,
            "",
            None
            if turn.reply is None
            else SystemTurn(
                Answer(""),
                finish=turn.reply.finish,
                model=turn.reply.model,
                notes=turn.reply.notes,
                ended=turn.reply.ended,
            ),
            None if turn.route is None else replace(turn.route, evidence=()),
            turn.user,
            turn.act,
            turn.worded,
        )
        for turn in one.turns
    )
    end = one.outcome
    ended = None if end is None else Outcome(end.kind, end.reason, "" if end.valid else end.detail, end.missing)
    return Conversation(one.key, "", one.attempt, turns, ended, place=min(2, one.place))


class TrialSet(Set[TrialKey]):
    """A set of trials. `numbers` has the numbers of the trials of each system and topic, ascending, each once."""

    def __init__(self, numbers: Mapping[tuple[str, str], Counts]) -> None:
        self.numbers = {name: own for name, own in numbers.items() if len(own)}

    @classmethod
    def of(cls, keys: Iterable[TrialKey]) -> Self:
        if isinstance(keys, cls):
            return keys
        found: dict[tuple[str, str], array[int]] = {}
        for key in keys:
            found.setdefault((key.system, key.topic), array("q")).append(key.trial)
        return cls({name: np.unique(np.frombuffer(own, dtype=np.int64)) for name, own in found.items()})

    # Results of operators are plain sets: they are made of few trials.
    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return frozenset(it)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, TrialKey):
            return False
        own = self.numbers.get((key.system, key.topic))
        at = -1 if own is None else int(np.searchsorted(own, key.trial))
        return own is not None and at < len(own) and int(own[at]) == key.trial

    def __iter__(self) -> Iterator[TrialKey]:
        return (TrialKey(*name, trial) for name, own in self.numbers.items() for trial in own.tolist())

    def __len__(self) -> int:
        return sum(map(len, self.numbers.values()))

    @property
    def widest(self) -> int:
        """The number of different trial numbers."""
        return len(np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self.numbers.values()])))

    def without(self, *others: TrialSet) -> TrialSet:
        """Return the trials that are in none of the other sets."""
        left = {}
        for name, own in self.numbers.items():
            gone = [one.numbers[name] for one in others if name in one.numbers]
            left[name] = own[~np.isin(own, np.concatenate(gone))] if gone else own
        return TrialSet(left)

    def of_system(self, system: str) -> Counts:
        """Return the numbers that the system's trials have on any topic, ascending, each once."""
        own = [numbers for (name, _), numbers in self.numbers.items() if name == system]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *own]))
