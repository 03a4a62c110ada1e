"""Printed tables and JSON rows of a run's figures with another user."""

import math
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.users.counterfactual import Counterfactual, FigureWithOther
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from scoring.inference.foretold import FEWEST_CONVERSATIONS
from scoring.inference.interval import FEWEST
from scoring.table import shown_value
from topics.decimals import percent

FORMAT = "harvest-counterfactual/1"
_DIGITS = 12  # fewer than a float has, so that all machines print the same
_LEGEND = (
    "played: the mean over topics, as it was played",
    "with {other} [low, high]: foretold from the same conversations, each with the probability that {other} takes its "
    "path, divided by that of the users it was drawn from; {level:g}% bounds that hold however heavy the weights are",
    "eff. n, eff. topics: how many conversations, and topics, of equal weight would say as much; nothing is foretold "
    "with fewer than {conversations} and {topics}",
    "seen: the mean weight, 100% but for chance; far below, the conversations that {other} would have most are lacking",
)


def counterfactual_tables(counterfactual: Counterfactual) -> Iterator[RenderableType]:
    """Yield one table over all systems, and the reason for each missing figure."""
    other = f"with {printable(counterfactual.other, line=True)} [low, high]"
    headings = ("played", other, "n", "eff. n", "eff. topics", "seen")
    table = figure_table("system", headings, min_width=10, max_width=26)
    for label in dict.fromkeys(one.label for one in counterfactual.figures):
        table.add_row(Text(label, style="bold"))
        for one in counterfactual.figures:
            if one.label == label:
                table.add_row(*map(Text, _cells(one)))
    yield table
    for one in counterfactual.figures:
        if not one.foretold.interval.is_defined:
            note = printable(one.foretold.interval.note, line=True)
            yield Text(f"{printable(one.system, line=True)}, {one.label}: not estimated: {note}", style="yellow")


def counterfactual_legend(counterfactual: Counterfactual) -> Iterator[Text]:
    """Yield explanations of the columns."""
    words = {
        "other": printable(counterfactual.other, line=True),
        "level": 100 * counterfactual.settings.level,
        "conversations": FEWEST_CONVERSATIONS,
        "topics": FEWEST,
    }
    for line in _LEGEND:
        yield Text(line.format(**words), style="dim")


def _cells(one: FigureWithOther) -> tuple[str, ...]:
    name, told = one.key[0], one.foretold
    figure = shown_value(name, told.value)
    if told.interval.is_defined:
        low, high = (shown_value(name, end) for end in (told.interval.low, told.interval.high))
        figure += f" [{low.removesuffix('%')}, {high.removesuffix('%')}]"
    numbers = [f"{number:.0f}" if number == number else "" for number in (told.effective, told.effective_units)]
    seen = percent(told.seen) if told.seen == told.seen else ""
    system = f"  {printable(one.system, line=True)}"
    return (system, shown_value(name, one.played), figure, str(told.n), *numbers, seen)


def counterfactual_rows(counterfactual: Counterfactual) -> Iterator[dict[str, Any]]:
    """Yield a row for each system and measure."""
    for one in counterfactual.figures:
        name, turn = one.key
        told, unseen = one.foretold, counterfactual.unseen.get(one.system)
        yield {
            "measure": name,
            "turn": turn,
            "system": one.system,
            "played_by": dict(counterfactual.users[one.system]),
            "other": counterfactual.other,
            "played": _number(one.played),
            "value": _number(told.value),
            "n": told.n,
            "effective_n": _number(told.effective),
            "effective_topics": _number(told.effective_units),
            "seen": _number(told.seen),
            "low": _number(told.interval.low),
            "high": _number(told.interval.high),
            "level": counterfactual.settings.level,
            "method": told.interval.method,
            "note": told.interval.note,
            "never_played": None
            if unseen is None
            else {"act": unseen.act, "probability": _number(unseen.probability), "where": unseen.where},
        }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, _DIGITS)
