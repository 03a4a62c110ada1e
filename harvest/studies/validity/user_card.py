"""A user card for each system: the behaviour of users whose turns a model words.

If a user speaks differently to two systems, the systems were not asked the same. Systems are therefore compared in
each rate of the card, within topic, turn and act (`harvest.studies.validity.user_differences`). If a rate differs,
no study names a winner, because answers from the first such turn on could have been different
(`harvest.studies.scores.lost_attempts`). Differences in refused samples, and in answers with orders to a model,
have no such effect: refused samples were never said, and an order that was not followed changed no turn.

Trials of a topic with the same text throughout count as one trial, because repetitions add no evidence.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from harvest.studies.validity import user_differences
from harvest.studies.validity.worded_turns import WordedTurn
from protocols.labels import USEFUL
from recordings.conversations.conversation import Conversation, TrialKey
from scoring.inference import turn_events
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.inference.interval import Interval, no_interval
from scoring.inference.turn_events import Contrast, EventTable, TurnCase
from scoring.statistics.exchange import holm_correction
from simulators.llm.faults import FAULTS
from topics.decimals import decimal, percent
from topics.identity import generator

# Rates whose difference does not prevent a verdict.
_HARMLESS = (user_differences.REFUSED, user_differences.ORDERS)


@dataclass(frozen=True, slots=True)
class CardRate:
    """A mean over `n` turns or, for refused samples, over `n` samples. `count` is the number of occurrences, or NaN
    if the mean is of shares or numbers. `value` is NaN if `n` is 0."""

    value: float
    count: float
    n: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class SystemCard:
    """The user card of one system.

    `turns` is the number of turns that a model was to word, and `unknown` the number of such turns without a record
    of refused samples. `rates` are keyed by fault, and by the names in `user_differences`. `refused` counts refused
    samples by reason. `effect` is how much more often turns with a fault got a useful answer than turns without a
    fault, compared within topic and turn number. Faults helped the system if `effect` is above 0, and hindered the
    system if it is below 0.
    """

    system: str
    turns: int
    rates: Mapping[str, CardRate]
    refused: Mapping[str, int]
    unknown: int
    effect: Contrast

    @property
    def faults(self) -> Mapping[str, CardRate]:
        """The rates of the faults that occurred."""
        return {name: self.rates[name] for name in FAULTS if self.rates[name].count}


_RATE_NAMES = {user_differences.LEFT: "users who left after the same answers, by their labels,"}


@dataclass(frozen=True, slots=True)
class UserDifference:
    """A significant difference of a rate between two systems. `system` is the system whose user is further from the
    intended behaviour. `values` has the rate of this system, then the rate of the second system. `p` is
    corrected over all rates of this pair of systems."""

    system: str
    other: str
    rate: str
    values: tuple[float, float]
    n: tuple[int, int]
    p: float

    @property
    def withholds_winner(self) -> bool:
        """True if no winner may be named between the two systems."""
        return self.rate not in _HARMLESS

    @property
    def sentence(self) -> str:
        what = FAULTS.get(self.rate, "")
        named = f"the fault {self.rate!r} ({what})" if what else _RATE_NAMES.get(self.rate, self.rate)
        shares = " and ".join(
            f"{value:.1f} in {n} turns" if self.rate == user_differences.LENGTH else f"{percent(value)} of {n}"
            for value, n in zip(self.values, self.n, strict=True)
        )
        then = (
            "so the two were not asked the same, and a difference of their figures may be the user's: use the bounds"
            if self.withholds_winner
            else "which by itself changed nothing that was said"
        )
        return (
            f"{self.system} and {self.other} met unlike users: {named} in {shares}, within topic, turn and act "
            f"(p = {self.p:.1g}), {then}"
        )


@dataclass(frozen=True, slots=True)
class UserCard:
    """The cards of all systems and their differences. `suspect` has the first affected turn by system and trial."""

    systems: tuple[SystemCard, ...] = ()
    differences: tuple[UserDifference, ...] = ()
    suspect: Mapping[str, Mapping[TrialKey, int]] = field(default_factory=dict)

    @property
    def withholding_differences(self) -> tuple[UserDifference, ...]:
        return tuple(one for one in self.differences if one.withholds_winner)


def user_card(
    turns: Sequence[WordedTurn],
    conversations: Sequence[Conversation],
    topics: Sequence[str],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> UserCard:
    """Return the card of these turns of `conversations`. `topics` are in the order of the topic set."""
    by_system: dict[str, list[WordedTurn]] = defaultdict(list)
    for one in turns:
        by_system[one.key.system].append(one)
    clusters = clusters or {}
    resampler = Resampler(generator(0, "user card"), level=level).with_design(Design(clusters))
    cards = tuple(_card(name, own, topics, resampler, clusters) for name, own in by_system.items())
    different = _distinct_trials(conversations)
    told = {name: [one for one in own if one.key in different] for name, own in by_system.items()}
    differences = tuple(found for pair in combinations(cards, 2) for found in _differences(*pair, told, clusters))
    return UserCard(cards, differences, _suspect_turns(differences, by_system))


# The baseline's table for faults that did not occur.
ALL_TURNS = "turns"
# Rate of false alarms about changed users for each look at a system. There are many looks.
_EACH_LOOK = 0.01


def fault_tables(turns: Sequence[WordedTurn], conversations: Sequence[Conversation]) -> dict[str, EventTable]:
    """Count the first occurrences of each fault in one system's conversations, by topic and by turn number and act.
    The table under `ALL_TURNS` counts all turns. Returns {} if no model words a user."""
    different = _distinct_trials(conversations)
    told = [one for one in turns if one.key in different]
    there = [ALL_TURNS, *(name for name in FAULTS if any(one.fault == name for one in told))]
    return {name: user_differences.fault_table(told, name) for name in there} if told else {}


def joined_tables(
    tables: Sequence[Mapping[str, EventTable]],
) -> dict[str, dict[str, dict[str, tuple[int, int]]]]:
    """Add the fault tables of several runs. Returns {} if one run has none."""
    if not all(tables):
        return {}
    names = dict.fromkeys(name for one in tables for name in one)
    return {name: turn_events.join_events(one.get(name, one[ALL_TURNS]) for one in tables) for name in names}


def changed_users(system: str, before: Mapping[str, EventTable], now: Mapping[str, EventTable]) -> str:
    """Return a sentence about a fault whose frequency changed, or "" if none is found or no table is known."""
    if not before or not now:
        return ""
    names = [name for name in FAULTS if name in before or name in now]
    tests = [
        turn_events.compare_events(
            now.get(name, now[ALL_TURNS]),
            before.get(name, before.get(ALL_TURNS, {})),
            generator(0, "user card", "baseline", system, name),
        )
        for name in names
    ]
    for name, one, p in zip(names, tests, holm_correction([one.p for one in tests]), strict=True):
        if p <= _EACH_LOOK:
            more = "more" if one.difference > 0 else "less"
            return (
                f"its users say something else than those of the baseline: the fault {name!r} ({FAULTS[name]}) is "
                f"{more} frequent by {decimal(100 * abs(one.difference), 0)} points of turns, within topic, turn and "
                f"act (p = {p:.1g}, {one.n[0]} and {one.n[1]} turns), so a difference may be theirs"
            )
    return ""


def _distinct_trials(conversations: Sequence[Conversation]) -> frozenset[TrialKey]:
    """Return the trials that do not repeat, word for word, another trial of the same topic and system."""
    first: dict[tuple[object, ...], TrialKey] = {}
    for one in conversations:
        said = tuple((exchange.said, exchange.answer.text) for exchange in one.exchanges)
        first.setdefault((one.key.system, one.key.topic, said), one.key)
    return frozenset(first.values())


def _card(
    system: str,
    turns: Sequence[WordedTurn],
    topics: Sequence[str],
    resampler: Resampler,
    clusters: Mapping[str, str],
) -> SystemCard:
    rates = {name: [(one, float(one.fault == name), 1.0) for one in turns] for name in FAULTS}
    rates[user_differences.ORDERS] = [(one, float(one.orders), 1.0) for one in turns]
    known = [(one, float(sum(one.refused.values()))) for one in turns if one.refused is not None]
    rates[user_differences.REFUSED] = [(one, refused, refused + (one.fault != _OWN_WORDS)) for one, refused in known]
    rates[user_differences.LEFT] = [(one, float(one.left), 1.0) for one in turns if one.left is not None]
    found = {name: _rate(cells, topics, resampler) for name, cells in rates.items()}
    plain = [one for one in turns if not one.fault]
    means = {
        user_differences.KEPT: [(one, one.kept, 1.0) for one in plain if not math.isnan(one.kept)],
        user_differences.ADDED: [(one, one.added, 1.0) for one in plain if not math.isnan(one.added)],
        user_differences.LENGTH: [(one, float(one.words), 1.0) for one in plain],
    }
    for name, cells in means.items():
        top = math.inf if name == user_differences.LENGTH else 1.0
        found[name] = replace(_rate(cells, topics, resampler, top), count=math.nan)
    refused: Counter[str] = Counter()
    for one in turns:
        refused.update(one.refused or {})
    return SystemCard(
        system,
        len(turns),
        found,
        dict(refused.most_common()),
        len(turns) - len(known),
        turn_events.effect_of_events(
            (
                TurnCase(one.key.topic, one.key, str(one.number), bool(one.fault), one.label == USEFUL)
                for one in turns
                if one.label is not None
            ),
            generator(0, "user card", "effect", system),
            clusters=clusters,
        ),
    )


_OWN_WORDS = next(iter(FAULTS))  # then every sample was refused


def _rate(
    cells: Sequence[tuple[WordedTurn, float, float]], topics: Sequence[str], resampler: Resampler, top: float = 1.0
) -> CardRate:
    """Return a ratio of sums over turns. `cells` are (turn, numerator, denominator). `top` is the largest value."""
    n = round(math.fsum(below for _, _, below in cells))
    if not n:
        return CardRate(math.nan, 0, 0, no_interval("no turn"))
    trials = sorted({one.key.trial for one, _, _ in cells})
    rows = {topic: row for row, topic in enumerate(topics)}
    sums = np.zeros((2, len(topics), len(trials)))
    for one, *parts in cells:
        sums[:, rows[one.key.topic], trials.index(one.key.trial)] += parts
    above, below = np.where(sums[1] > 0, sums, np.nan)
    count = math.fsum(part for _, part, _ in cells)
    (interval,) = resampler.ratios(topics, above[..., None], below[..., None], top=top)
    return CardRate(count / n, count, n, interval)


def _differences(
    one: SystemCard, two: SystemCard, turns: Mapping[str, Sequence[WordedTurn]], clusters: Mapping[str, str]
) -> Iterator[UserDifference]:
    pair = one.system, two.system
    for name, p in user_differences.differing_rates(turns[one.system], turns[two.system], clusters, *pair):
        worse = max((one, two), key=lambda card: _distance_from_intended(card, turns[card.system], name))
        rest = two if worse is one else one
        rates = worse.rates[name], rest.rates[name]
        yield UserDifference(
            worse.system, rest.system, name, (rates[0].value, rates[1].value), (rates[0].n, rates[1].n), p
        )


def _distance_from_intended(card: SystemCard, turns: Sequence[WordedTurn], rate: str) -> float:
    if rate == user_differences.LENGTH:
        return abs(math.fsum(turn.length for turn in turns if not turn.fault)) / max(
            1, sum(not turn.fault for turn in turns)
        )
    value = card.rates[rate].value
    return 0.0 if math.isnan(value) else value * (-1 if rate == user_differences.KEPT else 1)


def _suspect_turns(
    differences: Sequence[UserDifference], turns: Mapping[str, Sequence[WordedTurn]]
) -> Mapping[str, Mapping[TrialKey, int]]:
    found: dict[str, dict[TrialKey, int]] = {}
    for one in differences:
        if one.withholds_winner:
            own = found.setdefault(one.system, {})
            for key, number in user_differences.first_suspect_turns(
                turns[one.system], turns[one.other], one.rate
            ).items():
                own[key] = min(number, own.get(key, number))
    return found
