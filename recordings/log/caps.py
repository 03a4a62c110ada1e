"""Caps: the limits of a run, the amounts that its requests used, and the progress of the run.

A run with a cap is played in rounds: each topic once with each system. Cutting a run anywhere would bias its figures,
because conversations that go wrong are longer, so that more of them would be cut. So a round begins only if its reserve
is left, and the reserve depends on earlier rounds alone. A round that uses more than its reserve and more than is left
is stopped, and is in no figure.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from recordings.conversations.conversation import TrialKey
from recordings.events.attempts import Attempt
from recordings.files.json_text import Json
from recordings.log.header import Header
from recordings.log.shard import Shard, planned_trials, shard_of
from topics.counting import pluralize

# The reserve of a round, as a multiple of the dearest other round.
RESERVE = 1.2

_TOKENS_PER_PRICE = 1_000_000
_ROUNDING = 1e-9  # of a cap: sums of prices are not exact


class Door(NamedTuple):
    """A recipient of requests: a system under audit, or an endpoint that words a user's turns."""

    name: str
    is_system: bool = True


class Amounts(NamedTuple):
    """The amounts that requests used: `cost` in the currency of the prices, `tokens` read and written, and `turns` sent
    to systems. Amounts without a cap are 0."""

    cost: float = 0.0
    tokens: float = 0.0
    turns: float = 0.0

    def plus(self, other: Amounts, times: float = 1) -> Amounts:
        return Amounts(*(one + times * two for one, two in zip(self, other)))

    def at_least(self, other: Amounts) -> Amounts:
        """Return the larger amount of each kind."""
        return Amounts(*map(max, self, other))


@dataclass(frozen=True, slots=True)
class Price:
    """A price: of a million tokens that are read and written, or of each request (`turn`)."""

    input: float | None = None
    output: float | None = None
    turn: float | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits of a run, by the kinds of `Amounts`; a kind without a cap is absent. `prices` has the prices of
    systems and endpoints by name, and has all of them if the cost has a cap."""

    most: Mapping[str, float]
    prices: Mapping[str, Price] = field(default_factory=dict)

    def divide_among(self, machines: int) -> Caps:
        """Return the caps of one of several machines. Together, the machines keep the caps."""
        return replace(self, most={kind: most / machines for kind, most in self.most.items()})

    def as_json(self) -> dict[str, Any]:
        prices = {
            name: {key: value for key in Price.__slots__ if (value := getattr(price, key)) is not None}
            for name, price in self.prices.items()
        }
        return {"most": dict(self.most), **({"prices": prices} if prices else {})}

    @classmethod
    def of_audit(cls, audit: Json) -> Caps | None:
        """Return the caps of a recorded audit, or None. A shard has its share of them."""
        found = audit.get("caps") if isinstance(audit, dict) else None
        if not isinstance(found, dict):
            return None
        most, prices = found.get("most") or {}, found.get("prices") or {}
        caps = cls(
            {kind: most[kind] for kind in Amounts._fields if kind in most},
            {name: Price(*map(price.get, Price.__slots__)) for name, price in prices.items()},
        )
        shard = shard_of(audit)
        return caps.divide_among(shard.of) if shard else caps

    def amounts(self, door: Door, tokens: Mapping[str, int] | None) -> Amounts | None:
        """Return the amounts that a request used, or None if the counts of tokens that a cap needs are missing."""
        least = self.least(door)
        tokens = tokens or {}
        read, written = tokens.get("prompt"), tokens.get("completion")
        both = None if read is None or written is None else read + written
        if "tokens" in self.most:
            every = tokens.get("total") if both is None else both
            if every is None:
                return None
            least = least._replace(tokens=every)
        price = self.prices.get(door.name)
        if "cost" in self.most and price is not None and price.input is not None and price.output is not None:
            if read is None or written is None:
                return None
            cost = (read * price.input + written * price.output) / _TOKENS_PER_PRICE
            least = least._replace(cost=least.cost + cost)
        return least

    def least(self, door: Door) -> Amounts:
        """Return the amounts that a request uses regardless of its outcome."""
        price = self.prices.get(door.name)
        cost = (price.turn or 0.0) if price is not None and "cost" in self.most else 0.0
        return Amounts(cost=cost, turns=float(door.is_system and "turns" in self.most))

    def needs_counts(self, door: Door) -> bool:
        """Return True if the caps can only be enforced if each reply has counts of tokens."""
        return self.amounts(door, None) is None

    def allow(self, amounts: Amounts) -> bool:
        return all(getattr(amounts, kind) <= most * (1 + _ROUNDING) for kind, most in self.most.items())

    def describe(self, amounts: Amounts) -> str:
        """Return the used part of each cap: `cost 4.71 of 5, turns 380 of 400`."""
        return ", ".join(f"{kind} {getattr(amounts, kind):.6g} of {most:.6g}" for kind, most in self.most.items())


class Ledger:
    """The amounts that the requests of a run used, by rounds. A request without counts is pending, was lost or failed;
    it counts as much as the most expensive request to the same door."""

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self._known: defaultdict[int, Amounts] = defaultdict(Amounts)
        self._open: defaultdict[int, Counter[Door]] = defaultdict(Counter)
        self._known_in_all, self._open_in_all = Amounts(), Counter[Door]()
        self._dearest: dict[Door, Amounts] = {}

    def send(self, number: int, door: Door) -> None:
        """Note that a request goes out in round `number`."""
        self._open[number][door] += 1
        self._open_in_all[door] += 1

    def settle(self, number: int, door: Door, tokens: Mapping[str, int] | None, *, received: bool = True) -> None:
        """Note the outcome of a request. A request that never arrived took nothing."""
        amounts = self.caps.amounts(door, tokens)
        if received and amounts is None:
            return
        self._open[number][door] -= 1
        self._open_in_all[door] -= 1
        if received and amounts is not None:
            self._known[number] = self._known[number].plus(amounts)
            self._known_in_all = self._known_in_all.plus(amounts)
            self._dearest[door] = amounts.at_least(self._dearest.get(door, Amounts()))

    def knows(self, door: Door) -> bool:
        """Return True if some reply from `door` had counts."""
        return door in self._dearest

    def expected(self, door: Door) -> Amounts:
        """Return the largest amounts that the next request is expected to use."""
        return self._dearest.get(door, Amounts()).at_least(self.caps.least(door))

    def round(self, number: int) -> Amounts:
        """Return the amounts that a round has used so far."""
        return self._total(self._known.get(number, Amounts()), self._open.get(number, Counter()))

    @property
    def spent(self) -> Amounts:
        return self._total(self._known_in_all, self._open_in_all)

    def _total(self, known: Amounts, open_: Counter[Door]) -> Amounts:
        for door, count in open_.items():
            known = known.plus(self.expected(door), count)
        return known

    def may_send(self, door: Door) -> bool:
        """Return True if another request is expected to stay within the caps."""
        return self.caps.allow(self.spent.plus(self.expected(door)))

    def reserve(self, number: int) -> Amounts:
        """Return the amounts that must be left for round `number`: a multiple of the most expensive other round."""
        dearest = Amounts()
        for other in {*self._known, *self._open} - {number}:
            dearest = dearest.at_least(self.round(other))
        return Amounts().plus(dearest, RESERVE)

    def may_begin(self, number: int) -> bool:
        """Return True if round `number` may begin, or continue if it was interrupted."""
        outside = self.spent.plus(self.round(number), -1)
        return self.caps.allow(outside.plus(self.reserve(number)))

    @property
    def doors(self) -> set[Door]:
        return set(self._open_in_all)


def round_of(trial: int, shard: Shard | None) -> int:
    """Return the round of trial number `trial`. A shard has one of as many consecutive trials of a topic as there are
    shards, so each of its rounds has each topic once, too."""
    return (trial - 1) // (shard.of if shard else 1) + 1


def read_ledger(caps: Caps, header: Header, attempts: Iterable[Attempt], shard: Shard | None) -> Ledger:
    """Return the amounts that the recorded requests used. Attempts that were played without a cap count with their
    turns and tokens; the use of their endpoints is not recorded."""
    ledger = Ledger(caps)
    heard: set[tuple[str, int, str]] = set()
    for attempt in attempts:
        key = attempt.started.key
        number, system = round_of(key.trial, shard), header.systems.get(key.system)
        asked = str(system.get("system", key.system)) if isinstance(system, dict) else key.system
        for to, tokens in attempt.requests or _unmetered_requests(attempt, heard):
            door = Door(to, is_system=False) if to else Door(asked)
            ledger.send(number, door)
            if tokens is not None:
                ledger.settle(number, door, tokens)
    return ledger


def is_uncounted(attempt: Attempt) -> bool:
    """Return True if an attempt was played without a cap."""
    return not attempt.requests and attempt.last_turn is not None


def _unmetered_requests(
    attempt: Attempt, heard: set[tuple[str, int, str]]
) -> Iterator[tuple[str, Mapping[str, int] | None]]:
    for turn in attempt.conversation().turns:
        if turn.reply is None:
            yield "", None
            continue
        # An attempt that goes on from an interrupted one begins with its answers.
        told = attempt.started.trial_id, turn.number, turn.reply.asked_at
        if told not in heard or not turn.reply.asked_at:
            yield from [("", None)] * (turn.reply.sends - 1)
            yield "", turn.reply.tokens
        heard.add(told)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a run with a cap got. `whole` is the number of rounds that were played, of `planned`. `broken` is the
    round that was broken off, or 0, and `left_out` has its finished trials. `unplayed` has the planned trials of all
    rounds that the cap prevented. `stopped` is True if the cap prevented any. `shard` is the shard that it is about."""

    caps: Caps
    ledger: Ledger
    planned: int
    whole: int
    broken: int = 0
    stopped: bool = False
    left_out: frozenset[TrialKey] = frozenset()
    unplayed: frozenset[TrialKey] = frozenset()
    shard: Shard | None = None

    @property
    def progress(self) -> str:
        """The number of rounds that were played, and the amounts that they used."""
        spent = self.caps.describe(self.ledger.spent)
        return f"{self._of_shard}{self.whole} of {pluralize(self.planned, 'round')} played: {spent}"

    def __str__(self) -> str:
        """A sentence on what the cap prevented, or ""."""
        if not self.stopped:
            return ""
        spent = self.caps.describe(self.ledger.spent)
        after = f"{self._of_shard}stopped after {self.whole} of {pluralize(self.planned, 'round')} by its cap ({spent})"
        if not self.broken:
            reserve = self.ledger.reserve(self.whole + 1)
            least = {kind: getattr(reserve, kind) for kind in self.caps.most}
            least |= {
                kind: math.ceil(least[kind] * (1 - _ROUNDING)) for kind in least.keys() - {"cost"}
            }  # counts are whole numbers
            each = ", ".join(f"{kind} {amount:.6g}" for kind, amount in least.items())
            return f"{after}; another round is played only if this is left for it: {each}"
        return f"{after}; {_broken_off(f'round {self.broken} was', (self,))}"

    @property
    def _of_shard(self) -> str:
        return f"{self.shard}: " if self.shard else ""


def stop_sentences(found: Sequence[Standing]) -> tuple[str, ...]:
    """Return sentences on the trials that the caps of a run prevented, or () if they prevented none. All shards of a
    merged run are in one sentence."""
    stopped = [one for one in found if one.stopped]
    if len(found) < 2 or not stopped:
        return tuple(map(str, stopped))
    spent, most = Amounts(), Counter[str]()
    for one in found:
        spent = spent.plus(one.ledger.spent)
        most.update(one.caps.most)
    rounds = f"{sum(one.whole for one in found)} of {sum(one.planned for one in found)} rounds"
    told = (
        f"{len(stopped)} of {len(found)} shards stopped by their parts of the cap, after {rounds} of theirs "
        f"({Caps(most).describe(spent)})"
    )
    broken = sum(bool(one.broken) for one in found)
    rounds = "1 round was" if broken == 1 else f"{broken} rounds were"
    return (f"{told}; {_broken_off(rounds, found)}" if broken else told,)


def prevented_trials(found: Iterable[Standing]) -> frozenset[TrialKey]:
    """Return the planned trials that the caps of a run prevented, and the trials of rounds that were stopped. They are
    in no figure, and are not missing either."""
    return frozenset(key for one in found for key in one.unplayed)


def _broken_off(rounds: str, found: Sequence[Standing]) -> str:
    trials = pluralize(sum(len(one.left_out) for one in found), "finished trial")
    return (
        f"{rounds} broken off, and {trials} of {'it' if len(found) == 1 else 'these'} left out of all figures, because "
        "those that were cut are the longer ones"
    )


def standings(header: Header, attempts: Iterable[Attempt]) -> tuple[Standing, ...]:
    """Return the progress of a run: one value for a run with a cap, one for each shard of a merged run, and none for a
    run without a cap."""
    parts = [part["audit"] for part in header.parts if isinstance(part, dict)] if not header.changes else []
    divided = [audit for audit in parts if shard_of(audit)]
    attempts = tuple(attempts)
    # Of two copies of one shard, the one that was played further has the larger cap.
    latest = {shard_of(audit): caps for audit in divided or [header.audit] if (caps := Caps.of_audit(audit))}
    found = []
    for shard, caps in latest.items():
        own = _trials_by_round(header, shard)
        of = {key for keys in own.values() for key in keys}
        found.append(_standing(caps, header, [one for one in attempts if one.started.key in of], own, shard))
    return tuple(found)


def _trials_by_round(header: Header, shard: Shard | None) -> dict[int, set[TrialKey]]:
    found: defaultdict[int, set[TrialKey]] = defaultdict(set)
    audit: dict[str, Json] = header.audit if isinstance(header.audit, dict) else {}
    whole = replace(header, audit={**audit, "shard": shard.as_json() if shard else None})
    for key in planned_trials(whole):
        found[round_of(key.trial, shard)].add(key)
    return found


def _standing(
    caps: Caps,
    header: Header,
    attempts: list[Attempt],
    trials: Mapping[int, set[TrialKey]],
    shard: Shard | None,
) -> Standing:
    ledger = read_ledger(caps, header, attempts, shard)
    ended = {one.started.key: one.has_ended for one in sorted(attempts, key=lambda one: one.started.attempt)}
    last = max((round_of(key.trial, shard) for key in ended), default=0)
    planned = max(trials, default=0)
    # A request that is refused leaves an interrupted attempt. A trial that no attempt was made at is of a system that
    # was given up.
    interrupted = any(not ended.get(key, True) for key in trials.get(last, ()))
    broken = last if interrupted and not all(map(ledger.may_send, ledger.doors)) else 0
    stopped = bool(broken) or (not interrupted and last < planned and not ledger.may_begin(last + 1))
    rest = {key for number, keys in trials.items() if number > last for key in keys} if stopped else set()
    cut = trials[broken] if broken else set()
    left_out = frozenset(cut & {one.started.key for one in attempts if one.valid})
    whole = last - interrupted
    return Standing(caps, ledger, planned, whole, broken, stopped, left_out, frozenset(rest | cut), shard)
