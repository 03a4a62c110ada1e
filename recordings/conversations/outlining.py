"""Outlines are made of conversations that arrive one at a time, so that their words need not stay in memory."""

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, Turn
from recordings.conversations.outlines import Bodies, Outlines, body_address, words_hash
from recordings.files.times import unix_seconds
from topics.arrays import Counts


class Outlining:
    """Makes outlines of conversations that arrive one at a time, in any order. `traits` are functions that return the
    needed facts about the words of a conversation, as values that recur."""

    def __init__(self, traits: Mapping[str, Callable[[Conversation], Hashable]]) -> None:
        self._traits = traits
        self._systems: dict[str, int] = {}
        self._topics: dict[str, int] = {}
        self._outlines: dict[Hashable, int] = {}
        self._examples: list[tuple[Conversation, Mapping[str, Any]]] = []
        self._numbers = {name: array("i") for name in ("system", "topic", "trial", "attempt", "outline")}
        self._started, self._words, self._ids = array("d"), array("q"), array("q")
        self._bodies = array("i"), array("q"), list[bytes]()
        self._lengths = array("i")

    def __len__(self) -> int:
        return len(self._started)

    def add(self, one: Conversation) -> None:
        key, texts = one.key, []
        for turn in one.turns:
            reply = turn.reply
            if reply is None:
                continue
            texts.append(reply.answer.text.strip())
            self._lengths.append(len(reply.answer.text))
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
                None
                if (route := turn.route) is None
                else (route.state, route.label, route.rule, route.version, route.target),
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
        listed = {name: place for place, name in enumerate(systems)}
        names = sorted(self._systems, key=lambda one: (listed.get(one, len(listed)), one))
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
            lengths=np.frombuffer(self._lengths, dtype=np.int32),
        )
        # The lengths are as conversations were added, and the outlines are in another order.
        added = replace(found, outline=columns["outline"])
        return replace(found, lengths=added.lengths[added.replies_at(order)]), order


def with_others(whole: Outlines, others: Iterable[Conversation]) -> Outlines:
    """Return the outlines combined with the outlines of further conversations, which must be of other trials, but of
    known systems and topics. No stored bodies are among them."""
    outlining = Outlining({})
    for number, one in enumerate(others):
        outlining.add(replace(one, trial_id=str(number)))  # outlines have none
    ranks = {name: rank for rank, name in enumerate(whole.topics)}
    found = outlining.outlines(whole.systems, ranks)
    assert found is not None, "each other conversation is of a trial of its own"
    more, _ = found
    mapped = replace(
        more,
        system=np.array([whole.systems.index(one) for one in more.systems], dtype=np.int32)[more.system],
        topic=np.array([ranks[one] for one in more.topics], dtype=np.int32)[more.topic],
        outline=more.outline + np.int32(len(whole.examples)),
    )
    names = ("system", "topic", "trial", "attempt", "outline", "started", "words", "lengths")
    columns: dict[str, Any] = {name: np.concatenate([getattr(whole, name), getattr(mapped, name)]) for name in names}
    none = whole.bodies.select(np.zeros(0, dtype=np.int64))
    both = replace(whole, examples=[*whole.examples, *more.examples], bodies=none, **columns)
    return both.select(np.lexsort([both.attempt, both.trial, both.topic, both.system]))


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
