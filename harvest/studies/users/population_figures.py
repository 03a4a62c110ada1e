"""Printed tables and JSON rows of a population's figures."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.scores.lost_attempts import loss_notes
from harvest.studies.users.populations import POPULATION, REWEIGHTED, DrawnTrials, Figure, Populations
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable, wrap_lines
from scoring.inference.interval import METHOD
from scoring.inference.losses import WITHIN
from scoring.measures.usefulness import RECOVERY
from scoring.table import shown_value
from topics.decimals import percent

FORMAT = "harvest-population/1"
_DIGITS = 12  # fewer than a float has, so that all machines print the same
_WIDEST_NAME = 26
_LEGEND = (
    "share: declared, of the population; drawn, lost: trials that met this user, and those of them without a valid "
    "attempt",
    "{figure}; a conversation stands for all drawn trials of its user, so that a user of whom more was lost does not "
    "count less",
    "[low, high]: {level:g}% {method} topic, as of a ratio of sums",
    "n: conversations that count; eff. n: how many of equal weight would say as much",
)


def population_tables(populations: Populations) -> Iterator[RenderableType]:
    """Yield the heading, the table and the warnings of each system."""
    for system, members in populations.members.items():
        yield Text(printable(system, line=True), style="bold")
        cut = any(one.cut for one in members.values())
        headings = ("share", "drawn", "lost", *(["cut short"] if cut else []), "figure [low, high]", "n", "eff. n")
        table = figure_table("user", headings, min_width=12, max_width=_WIDEST_NAME)
        own = [one for one in populations.figures if one.system == system]
        for label in dict.fromkeys(one.label for one in own):
            table.add_row(Text(label, style="bold"))
            for one in own:
                if one.label == label:
                    table.add_row(*map(Text, _cells(one, members, populations.weights, cut=cut)))
        yield table
        for one in own:
            if not one.found.interval.is_defined:
                yield Text(f"{one.of}, {one.label}: no interval: {one.found.interval.note}", style="yellow")
        if any(one.found.interval.method.endswith(WITHIN) for one in own):
            for note in loss_notes([system], populations.material):
                yield Text(printable(note, line=True), style="yellow")
        if warning := _unequal_loss_warning(system, members):
            yield Text(warning, style="yellow")


def population_legend(populations: Populations) -> Iterator[Text]:
    """Yield explanations of the columns."""
    labels = dict.fromkeys(one.label for one in populations.figures)
    ratios = [label for label in labels if label == RECOVERY.name]
    means = ["each topic counts the same"] if len(labels) > len(ratios) else []
    words = "; ".join([*means, *(f"of {label} one ratio of sums over topics and trials" for label in ratios)])
    for line in _LEGEND:
        said = line.format(level=100 * populations.settings.level, method=METHOD, figure=f"figure: {words}")
        yield Text(said, style="dim")


def _cells(
    one: Figure, members: Mapping[str, DrawnTrials], weights: Mapping[str, float] | None, *, cut: bool
) -> tuple[str, ...]:
    name = printable(one.of, line=True)
    chosen = [members[one.of]] if one.of in members else list(members.values())
    told = [str(sum(each.drawn for each in chosen)), str(sum(each.drawn - each.valid for each in chosen))]
    told += [str(sum(each.cut for each in chosen))] if cut else []
    share = percent(members[one.of].share, 1) if one.of in members else ""
    if one.of == REWEIGHTED and weights:
        name += ": " + ", ".join(f"{member} {percent(weight)}" for member, weight in weights.items())
    figure = shown_value(one.key[0], one.found.value)
    if one.found.interval.is_defined:
        low, high = (shown_value(one.key[0], end) for end in (one.found.interval.low, one.found.interval.high))
        figure += f" [{low.removesuffix('%')}, {high.removesuffix('%')}]"
    effective = f"{one.found.effective:.0f}" if one.found.n else ""
    return (wrap_lines(f"  {name}", _WIDEST_NAME, hang=2), share, *told, figure, str(one.found.n), effective)


def _unequal_loss_warning(system: str, members: Mapping[str, DrawnTrials]) -> str:
    rates = {name: 1 - one.valid / one.drawn for name, one in members.items() if one.drawn}
    if not rates or max(rates.values()) - min(rates.values()) < 1e-9:
        return ""
    each = ", ".join(f"{name} {members[name].drawn - members[name].valid} of {members[name].drawn}" for name in rates)
    return (
        f"Trials of {system} were lost unequally by user ({each}): `harvest score` prints the mean over those that are "
        f"left; the figure of the population here does not."
    )


def population_rows(populations: Populations) -> Iterator[dict[str, Any]]:
    """Yield a row for each figure. `of` is `population`, `re-weighted` or the name of a member."""
    for one in populations.figures:
        members = populations.members[one.system]
        name, turn = one.key
        chosen = [members[one.of]] if one.of in members else list(members.values())
        weights = populations.weights if one.of == REWEIGHTED else None
        shares = {member: each.share for member, each in members.items()} if one.of == POPULATION else weights
        yield {
            "measure": name,
            "turn": turn,
            "system": one.system,
            "of": one.of,
            "weights": shares if shares is not None else {one.of: 1.0},
            "drawn": sum(each.drawn for each in chosen),
            "lost": sum(each.drawn - each.valid for each in chosen),
            "cut_short": sum(each.cut for each in chosen),
            "value": _number(one.found.value),
            "n": one.found.n,
            "effective_n": _number(one.found.effective),
            "topics": one.found.topics,
            "low": _number(one.found.interval.low),
            "high": _number(one.found.interval.high),
            "level": populations.settings.level,
            "method": one.found.interval.method,
            "note": one.found.interval.note,
        }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, _DIGITS)
