"""Printed lines, tables and JSON of user cards."""

import math
from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.validity.user_card import CardRate, SystemCard, UserCard, UserDifference
from harvest.studies.validity.user_differences import ADDED, KEPT, LEFT, LENGTH, ORDERS, REFUSED
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from recordings.files.json_text import Json
from scoring.inference.turn_events import Contrast
from simulators.llm.faults import FAULTS
from topics.counting import pluralize
from topics.decimals import decimal, percent

_CHANCE = 0.05  # probability of a false alarm


def card_lines(card: UserCard) -> Iterator[str]:
    """Yield a line for each system with a fault, a refused sample or an answer with orders."""
    for one in card.systems:
        said = list(_remarks(one))
        if said:
            yield f"{one.system}, users worded by a model: {'; '.join(said)}."


def _remarks(one: SystemCard) -> Iterator[str]:
    if one.faults:
        each = ", ".join(f"{name} x {rate.count:.0f}" for name, rate in one.faults.items())
        faulty = sum(rate.count for rate in one.faults.values())
        yield f"{faulty:.0f} of {pluralize(one.turns, 'turn')} with a fault ({each})"
        if one.effect.p <= _CHANCE:
            yield _effect_words(one.effect)
    refused, orders = one.rates[REFUSED], one.rates[ORDERS]
    if refused.count:
        each = ", ".join(f"{name} x {count}" for name, count in one.refused.items())
        yield f"{refused.count:.0f} of {pluralize(refused.n, 'sample')} refused ({each})"
    if orders.count:
        yield f"{orders.count:.0f} of {pluralize(orders.n, 'answer')} with orders to a model"
    kept = one.rates[KEPT]
    if one.faults and kept.n:
        added = one.rates[ADDED]
        more = f"; of their words {percent(added.value)} were added" if added.n else ""
        yield f"other turns keep {percent(kept.value)} of the words that were meant{more}"


def _effect_words(effect: Contrast) -> str:
    if math.isnan(effect.difference):
        return "whether faults helped it or hindered it cannot be said"
    verb = "helped" if effect.difference > 0 else "hindered"
    faulty, others = effect.n
    points = decimal(100 * effect.difference, 0, signed=True)
    return (
        f"faults {verb} it ({points} points of useful answers beside {others} other turns, p = {effect.p:.2g})"
        if effect.p <= _CHANCE
        else f"whether faults helped or hindered it is not found ({points} points, {faulty} and {others} turns)"
    )


def card_warnings(card: UserCard) -> Iterator[str]:
    """Yield a sentence for each system and rate whose differences prevent naming a winner."""
    others: dict[tuple[str, str], list[UserDifference]] = {}
    for one in card.withholding_differences:
        others.setdefault((one.system, one.rate), []).append(one)
    for first, *rest in others.values():
        more = f" (and so beside {pluralize(len(rest), 'other system')})" if rest else ""
        yield f"{first.sentence}{more}"


def card_tables(card: UserCard) -> Iterator[RenderableType]:
    """Yield every rate of every system with its n and interval, or nothing if no model words a user."""
    if not card.systems:
        return
    for one in card.systems:
        heading = Text(f"users worded by a model: {printable(one.system, line=True)}")
        table = figure_table(heading, ("[low, high]", "n"), min_width=19)
        for rate in (*FAULTS, KEPT, ADDED, LENGTH, LEFT, REFUSED, ORDERS):
            of, sign = (1, "") if rate == LENGTH else (100, "%")
            table.add_row(rate, _rate_words(one.rates[rate], of, sign), str(one.rates[rate].n))
        yield table
        if one.faults:
            yield Text(printable(f"{one.system}: {_effect_words(one.effect)}.", line=True))
        if one.unknown:
            turns = pluralize(one.unknown, "turn")
            yield Text(printable(f"{one.system}: the refused samples of {turns} are not recorded.", line=True))
    for different in card.differences:
        style = "yellow" if different.withholds_winner else ""
        yield Text(printable(f"{different.sentence}.", line=True), style=style)


def _rate_words(rate: CardRate, of: int, sign: str) -> str:
    if not rate.n:
        return "n/a"
    ends = f" [{of * rate.interval.low:.1f}, {of * rate.interval.high:.1f}]" if rate.interval.is_defined else ""
    return f"{of * rate.value:.1f}{sign}{ends}"


def card_document(card: UserCard) -> Mapping[str, Json] | None:
    """Return the `users` entry of `harvest-scores/1`, or None if no model words a user."""
    if not card.systems:
        return None
    return {
        "systems": [
            {
                "system": one.system,
                "turns": one.turns,
                "rates": [_rate(name, rate) for name, rate in one.rates.items()],
                "refused": dict(one.refused),
                "turns_without_record_of_refused": one.unknown,
                "useful_with_fault": {
                    "difference": _plain(one.effect.difference),
                    "p": _plain(one.effect.p),
                    "n": list(one.effect.n),
                },
            }
            for one in card.systems
        ],
        "differences": [
            {
                "system": one.system,
                "other": one.other,
                "rate": one.rate,
                "values": list(one.values),
                "n": list(one.n),
                "p": one.p,
                "withholds": one.withholds_winner,
            }
            for one in card.differences
        ],
    }


def _rate(name: str, rate: CardRate) -> dict[str, Json]:
    ends = (rate.interval.low, rate.interval.high) if rate.interval.is_defined else (math.nan, math.nan)
    return {
        "rate": name,
        "value": _plain(rate.value),
        "count": _plain(rate.count),
        "n": rate.n,
        "low": _plain(ends[0]),
        "high": _plain(ends[1]),
        "method": rate.interval.method,
        "note": rate.interval.note,
    }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
