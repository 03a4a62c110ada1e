"""Conversations without their words, as columns, so that millions of them fit in memory.

Without words, many conversations are alike: the same states, labels and end. Each distinct one is kept once, as an
*outline*, and a conversation is then a row of numbers: its system, topic and trial, and its outline. Facts about the
words that are needed later, the *traits*, are computed while the words are in memory, and are part of the outline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import Conversation, SystemTurn, TrialKey
from recordings.conversations.trial_sets import TrialSet
from topics.arrays import Counts, Floats

Codes = npt.NDArray[np.int32]

_WORDS_SIZE = 8  # bytes of a hash of words: a wrong match among a million conversations has a chance of 3e-8


class Kind(NamedTuple):
    """Conversations of one system on one topic that are alike. `example` is the first of them, `number` counts them.
    `trait` is the requested fact about their words."""

    example: Conversation
    number: int
    trait: Any


def kinds(
    conversations: Iterable[Conversation], trait: str = "", find: Callable[[Conversation], Any] = lambda one: None
) -> Iterable[Kind]:
    """Return the kinds of conversations in order of their first one. Each conversation with words is a separate kind,
    whose trait `find` returns; outlines have the traits that were computed when they were made."""
    if isinstance(conversations, Outlines):
        return conversations.kinds(trait)
    return (Kind(one, 1, find(one)) for one in conversations)


def examples(conversations: Iterable[Conversation]) -> Iterable[tuple[TrialKey, int, Conversation]]:
    """Return the trial and the attempt of each conversation, with a conversation of the same outline; this is the
    conversation itself if its words are in memory. This is quicker than building every conversation from its
    outline."""
    if isinstance(conversations, Outlines):
        alike = [conversations.examples[outline][0] for outline in conversations.outline.tolist()]
        return zip(conversations.keys, conversations.attempt.tolist(), alike, strict=True)
    return ((one.key, one.attempt, one) for one in conversations)


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
    outline with its traits. `bodies` are the replies whose bodies are stored, in order. `lengths` (replies,) are the
    characters of all replies, in order."""

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
    lengths: Codes

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

    def __iter__(self) -> Iterator[Conversation]:
        for key, attempt, alike in examples(self):
            yield replace(alike, key=key, attempt=attempt)

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

    def are_of(self, trials: TrialSet) -> npt.NDArray[np.bool_]:
        """Return (n,) True for conversations of the given trials."""
        found = np.zeros(len(self), dtype=bool)
        for (system, topic), numbers in trials.numbers.items():
            if system in self.systems and topic in self.topics:
                own = (self.system == self.systems.index(system)) & (self.topic == self.topics.index(topic))
                found |= own & np.isin(self.trial, numbers)
        return found

    def select(self, rows: Counts) -> Outlines:
        """Return the conversations with the given numbers, ascending."""
        names = ("system", "topic", "trial", "attempt", "outline", "started", "words")
        own = {name: getattr(self, name)[rows] for name in names}
        return replace(self, **own, bodies=self.bodies.select(rows), lengths=self.lengths[self.replies_at(rows)])

    @cached_property
    def _replies(self) -> tuple[Counts, Counts]:
        """The number of replies of each conversation, and the place of its first one."""
        of = [sum(turn.reply is not None for turn in example.turns) for example, _ in self.examples]
        counts = np.array(of, dtype=np.int64)[self.outline]
        return counts, np.cumsum(counts) - counts

    def replies_at(self, rows: Counts) -> Counts:
        """Return the places of all replies of these conversations."""
        counts, first = (one[rows] for one in self._replies)
        places: Counts = np.arange(int(counts.sum())) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        return places

    def reply_lengths(self, rows: Counts) -> Codes:
        """Return the characters (rows, replies) of the replies of conversations with equally many of them."""
        return self.lengths[self.replies_at(rows)].reshape(len(rows), -1)

    def rows_of(self, is_meant: Callable[[Conversation], bool]) -> Counts:
        """Return the numbers of the selected conversations."""
        meant = np.array([is_meant(example) for example, _ in self.examples], dtype=bool)
        return np.flatnonzero(meant[self.outline])

    @cached_property
    def trial_numbers(self) -> Counts:
        """The numbers (n,) of the trials of these conversations, from 0 in order."""
        new = np.zeros(len(self), dtype=bool)
        for column in (self.system, self.topic, self.trial):
            new[1:] |= np.diff(column) != 0
        found: Counts = np.cumsum(new)
        return found

    @cached_property
    def valid_rows(self) -> Counts:
        """The numbers of the valid conversations."""
        return self.rows_of(lambda one: one.valid)

    @cached_property
    def invalid(self) -> Outlines:
        """All conversations that are not valid, including interrupted conversations."""
        return self.select(self.rows_of(lambda one: not one.valid))

    @cached_property
    def valid(self) -> Outlines:
        """The valid conversations, at most one for each trial."""
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
        return [Kind(one, count, traits.get(trait)) for one, count, traits in self._kinds]

    @cached_property
    def _kinds(self) -> list[tuple[Conversation, int, Mapping[str, Any]]]:
        first, counts, _ = self.groups
        outlines = self.outline[first].tolist()
        rows = zip(first.tolist(), counts.tolist(), outlines, strict=True)
        return [(self[at], count, self.examples[outline][1]) for at, count, outline in rows]

    def different_words(self) -> list[tuple[int, int]]:
        """Return, for each topic, the number of conversations in which the system said something, and the number of
        different texts."""
        spoken = self.words != 0
        each = ((self.words[spoken & (self.topic == topic)]) for topic in np.unique(self.topic[spoken]).tolist())
        return [(len(own), len(np.unique(own))) for own in each]

    def rows_of_system(self, name: str) -> Counts:
        """Return the numbers of the conversations of a system, which may have none."""
        return np.flatnonzero(self.system == (self.systems.index(name) if name in self.systems else -1))

    def of_system(self, name: str) -> Outlines:
        return self.select(self.rows_of_system(name))


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

    def __iter__(self) -> Iterator[TrialKey]:  # a number of an array takes as long to look up as a name to make
        of = self.of
        systems, topics = map(of.systems.__getitem__, of.system.tolist()), map(of.topics.__getitem__, of.topic.tolist())
        return map(TrialKey, systems, topics, of.trial.tolist())


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

    def singles(self) -> Iterator[str]:
        """Yield the addresses of replies whose text no other reply has."""
        _, first, counts = np.unique(self.words, return_index=True, return_counts=True)
        return map(bytes.decode, self.address[first[counts == 1]].tolist())

    def select(self, rows: Counts) -> Bodies:
        kept = np.isin(self.row, rows)
        return Bodies(np.searchsorted(rows, self.row[kept]).astype(np.int32), self.words[kept], self.address[kept])
