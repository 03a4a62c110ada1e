"""Printed tables and long-form rows of rankings of systems by user."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.robustness.ranking_by_user import RankedPair
from harvest.studies.robustness.robustness import Robustness
from harvest.tables.comparison_words import difference_words, found_word, interval_words, p_text
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, difference_cells, unit_of
from harvest.terminal import printable
from scoring.inference.matched import Difference
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.simulation.reliability import kendall_tau
from scoring.table import is_percentage
from topics.decimals import decimal, format_change

_MOST_ARMS = 3  # named in a sentence


def ranking_sentence(one: RankedPair) -> str:
    """Say whether the user decides which of two systems is better, or by how much."""
    first, second = one.found.first, one.found.second
    better = "is higher" if one.good == "neither" else "is better"
    if one.dependence == "which":
        most = " and ".join(
            f"{', '.join(f'{arm} ({_size_words(one, arm)})' for arm in arms[:_MOST_ARMS])}"
            f"{f' and {len(arms) - _MOST_ARMS} more' if len(arms) > _MOST_ARMS else ''} "
            f"{'prefers' if len(arms) == 1 else 'prefer'} {system}"
            for system, arms in ((first, one.first), (second, one.second))
        )
        return f"which {better} depends on the user: {most} ({ESTIMANDS[one.estimand]})"
    if one.dependence == "how much":
        share, apart = is_percentage(one.key[0]), one.found.interactions
        told = [
            f"by {format_change(own.value, share=share)} {interval_words(own.interval, share=share)} in {arm}"
            for arm, own in apart.items()
            if own.beyond
        ]
        return f"how far apart they are depends on the user: {first} − {second} differs {'; '.join(told)}"
    if one.better_in_every_arm:
        return f"{one.better_in_every_arm} {better} in every arm (topics like these)"
    if all(math.isnan(own.p) for own in one.found.apart.values()):
        return "nothing can be said of how they differ from user to user"
    return f"cannot tell whether it depends on the user which {better}"


def ranking_tables(
    pairs: Sequence[RankedPair], found: Sequence[Robustness], unranked: Sequence[str] = ()
) -> Iterator[RenderableType]:
    """Yield a sentence and a table of arms for every pair and measure. For three or more systems, the agreement
    between rankings follows. `unranked` explains omitted pairs."""
    for one in pairs:
        head = f"{one.found.first} − {one.found.second} by arm, {one.label}"
        yield Text(printable(head, line=True), style="bold")
        yield Text(printable(ranking_sentence(one), line=True), style="yellow" if one.dependence == "which" else "")
        yield _arm_table(one)
    for why in unranked:
        yield Text(printable(f"nothing by arm of {why}", line=True), style="yellow")
    for label, taus in _agreements(found).items():
        told = ", ".join(f"{arm} {'n/a' if math.isnan(tau) else decimal(tau, 2)}" for arm, tau in taus.items())
        yield Text(printable(f"{label}: order of the systems beside that in the control, tau-b: {told}", line=True))


def ranking_legend(pairs: Sequence[RankedPair]) -> Iterator[Text]:
    """Yield an explanation of the columns, or nothing if there is no pair."""
    if not pairs:
        return
    one = pairs[0]
    yield Text(
        f"by arm: one system minus the other over matched trials of the arm, [low, high]: {100 * one.level:g}%, each "
        "by itself; against the control: how much further apart than there, over topics like these, p corrected over "
        "all arms, pairs and measures (Holm); which is better depends on the user: one is better in some arm and the "
        "other in another, each with a chance of error, over "
        f"{'all pairs' if one.pairs > 1 else 'the arms'}, of at most {round(1 - one.level, 6):g}",
        style="dim",
    )


def _arm_table(one: RankedPair) -> Table:
    share = is_percentage(one.key[0])
    headings = ("apart [low, high]\ntopics like these", "against the\ncontrol", "p", "found")
    table = figure_table("arm", headings, min_width=8, max_width=22)
    for arm, apart in one.found.apart.items():
        beside = one.found.interactions.get(arm)
        row = [printable(arm, line=True), difference_words(apart, share=share)]
        if arm == one.found.control:
            row += ["control", "", ""]
        elif beside is None:
            row += ["n/a", "", ""]
        else:
            row += [difference_words(beside, share=share), p_text(beside.adjusted), found_word(beside)]
        table.add_row(*row)
    return table


def _agreements(found: Sequence[Robustness]) -> dict[str, dict[str, float]]:
    """Return Kendall's tau-b between the order of systems in each arm and in the control, by measure. Returns {}
    for fewer than three systems and for systems with different arms."""
    if len(found) < 3 or any(one.system.names.keys() != found[0].system.names.keys() for one in found):
        return {}
    agreements: dict[str, dict[str, float]] = {}
    for place, measure in enumerate(found[0].measures):
        control, *arms = found[0].system.names
        figures = {arm: [one.measures[place].figures[arm] for one in found] for arm in (control, *arms)}
        agreements[measure.label] = {arm: kendall_tau(figures[control], figures[arm]) for arm in arms}
    return agreements


def _size_words(one: RankedPair, arm: str) -> str:
    share = is_percentage(one.key[0])
    each = one.found.apart if one.estimand == "like-these" else one.found.these
    own, unit = each[arm], " points" if share else ""
    value = decimal(abs(100 * own.value), 1) if share else decimal(abs(own.value), 4)
    ends = sorted((abs(own.interval.low), abs(own.interval.high)))
    low, high = (decimal(100 * end, 1) if share else decimal(end, 4) for end in ends)
    return f"by {value}{unit} [{low}, {high}]"


def ranking_entries(pairs: Sequence[RankedPair]) -> Iterator[dict[str, Any]]:
    """Yield the JSON entries of each pair that are not figures: how the ranking depends on the user, and which
    system each arm prefers."""
    for one in pairs:
        yield {
            "system": one.found.first,
            "other": one.found.second,
            "measure": one.key[0],
            "turn": one.key[1],
            "depends": one.dependence or None,
            "estimand": one.estimand,
            "prefer_system": list(one.first),
            "prefer_other": list(one.second),
            "sentence": ranking_sentence(one),
        }


def ranking_rows(pairs: Sequence[RankedPair], run: str, trials: int) -> Iterator[LongRow]:
    """Yield the difference between systems in each arm, for both estimands, and its distance from the control."""
    for one in pairs:
        name, turn = one.key
        common: dict[str, Any] = {"study": "robustness", "run": run, "trials": trials, "measure": name, "turn": turn}
        kinds: tuple[tuple[str, Estimand, Mapping[str, Difference]], ...] = (
            ("difference between systems", "like-these", one.found.apart),
            ("difference between systems", "these", one.found.these),
            ("difference between systems, against the control", "like-these", one.found.interactions),
        )
        for figure, estimand, each in kinds:
            for arm, own in each.items():
                yield LongRow(
                    **common,
                    figure=figure,
                    unit=unit_of(is_percentage(name)),
                    system=f"{one.found.first}, {arm}",
                    other=f"{one.found.second}, {arm}",
                    **{**difference_cells(own, one.level), "estimand": estimand},
                )
