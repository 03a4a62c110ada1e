"""Whether the order of systems depends on the user, for people and as rows: the last part of `harvest robustness`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.robustness.ranking_by_user import RankedPair
from harvest.studies.robustness.robustness import Robustness
from harvest.tables.comparison_words import p_text
from harvest.tables.long_rows import LongRow, unit_of
from harvest.terminal import printable
from scoring.inference.matched import Difference
from scoring.simulation.reliability import kendall_tau
from scoring.table import is_percentage
from topics.decimals import change, decimal

_DIGITS = 12  # fewer than a float has, so that two machines print the same
_MOST_ARMS = 3  # named in a sentence
_OF = {"like-these": "topics like these", "these": "these topics"}


def ranking_sentence(one: RankedPair) -> str:
    """Whether which of two systems is better depends on the user, or by how much."""
    first, second = one.found.first, one.found.second
    better = "is higher" if one.good == "neither" else "is better"
    if one.depends == "which":
        most = " and ".join(
            f"{', '.join(f'{arm} ({_size(one, arm)})' for arm in arms[:_MOST_ARMS])}"
            f"{f' and {len(arms) - _MOST_ARMS} more' if len(arms) > _MOST_ARMS else ''} "
            f"{'prefers' if len(arms) == 1 else 'prefer'} {system}"
            for system, arms in ((first, one.first), (second, one.second))
        )
        return f"which {better} depends on the user: {most} ({_OF[one.estimand]})"
    if one.depends == "how much":
        share, apart = is_percentage(one.key[0]), one.found.interactions
        told = [
            f"by {change(own.value, share=share)} {_interval(own, share=share)} in {arm}"
            for arm, own in apart.items()
            if own.beyond
        ]
        return f"how far apart they are depends on the user: {first} − {second} differs {'; '.join(told)}"
    if one.everywhere:
        return f"{one.everywhere} {better} in every arm (topics like these)"
    if all(math.isnan(own.p) for own in one.found.apart.values()):
        return "nothing can be said of how they differ from user to user"
    return f"cannot tell whether it depends on the user which {better}"


def ranking_tables(
    pairs: Sequence[RankedPair], found: Sequence[Robustness], unranked: Sequence[str] = ()
) -> Iterator[RenderableType]:
    """Of every two systems in every measure a sentence and the arms, and how far orders of three or more agree.
    unranked: why there is nothing of other pairs."""
    for one in pairs:
        head = f"{one.found.first} − {one.found.second} by arm, {one.label}"
        yield Text(printable(head, line=True), style="bold")
        yield Text(printable(ranking_sentence(one), line=True), style="yellow" if one.depends == "which" else "")
        yield _arms(one)
    for why in unranked:
        yield Text(printable(f"nothing by arm of {why}", line=True), style="yellow")
    for label, taus in _agreements(found).items():
        told = ", ".join(f"{arm} {'n/a' if math.isnan(tau) else decimal(tau, 2)}" for arm, tau in taus.items())
        yield Text(printable(f"{label}: order of the systems beside that in the control, tau-b: {told}", line=True))


def ranking_legend(pairs: Sequence[RankedPair]) -> Iterator[Text]:
    """What the columns mean; nothing without two systems."""
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


def _arms(one: RankedPair) -> Table:
    share = is_percentage(one.key[0])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("arm", overflow="fold", min_width=8, max_width=22)
    for heading in ("apart [low, high]\ntopics like these", "against the\ncontrol", "p", "found"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for arm, apart in one.found.apart.items():
        beside = one.found.interactions.get(arm)
        row = [printable(arm, line=True), _difference(apart, share=share)]
        if arm == one.found.control:
            row += ["control", "", ""]
        elif beside is None:
            row += ["n/a", "", ""]
        else:
            said = {True: "yes", False: "no", None: "?"}[beside.beyond] if beside.n else "n/a"
            row += [_difference(beside, share=share), p_text(beside.adjusted), said]
        table.add_row(*row)
    return table


def _agreements(found: Sequence[Robustness]) -> dict[str, dict[str, float]]:
    """By measure and arm, how far the order of three or more systems agrees with that in the control."""
    if len(found) < 3 or any(one.system.names.keys() != found[0].system.names.keys() for one in found):
        return {}
    agreements: dict[str, dict[str, float]] = {}
    for place, measure in enumerate(found[0].measures):
        control, *arms = found[0].system.names
        figures = {arm: [one.measures[place].figures[arm] for one in found] for arm in (control, *arms)}
        agreements[measure.label] = {arm: kendall_tau(figures[control], figures[arm]) for arm in arms}
    return agreements


def _size(one: RankedPair, arm: str) -> str:
    share = is_percentage(one.key[0])
    each = one.found.apart if one.estimand == "like-these" else one.found.these
    own, unit = each[arm], " points" if share else ""
    value = decimal(abs(100 * own.value), 1) if share else decimal(abs(own.value), 4)
    ends = sorted((abs(own.interval.low), abs(own.interval.high)))
    low, high = (decimal(100 * end, 1) if share else decimal(end, 4) for end in ends)
    return f"by {value}{unit} [{low}, {high}]"


def _difference(one: Difference, *, share: bool) -> str:
    if not one.n:
        return "n/a"
    value = change(one.value, share=share)
    return f"{value} {_interval(one, share=share)}".rstrip()


def _interval(one: Difference, *, share: bool) -> str:
    if math.isnan(one.interval.low):
        return ""
    return f"[{change(one.interval.low, share=share)}, {change(one.interval.high, share=share)}]"


def ranking_rows(pairs: Sequence[RankedPair]) -> Iterator[dict[str, Any]]:
    """One row for each figure of a pair; undefined numbers are null. `of` says what the interval speaks of."""
    for one in pairs:
        base = {"system": one.found.first, "other": one.found.second, "measure": one.key[0], "turn": one.key[1]}
        for of, each in (("topics like these", one.found.apart), ("these topics", one.found.these)):
            for arm, own in each.items():
                yield {**base, "arm": arm, "figure": "difference between systems", "of": of, **_values(own, one.level)}
        for arm, own in one.found.interactions.items():
            tested = {"p_corrected": _json(own.adjusted), "found": own.beyond}
            figure = {"figure": "difference between systems, against the control", "of": "topics like these"}
            yield {**base, "arm": arm, **figure, **_values(own, one.level), **tested}
        prefers: Mapping[str, Any] = {"prefer_system": list(one.first), "prefer_other": list(one.second)}
        what = {"figure": "depends on the user", "value": one.depends or None, "of": _OF[one.estimand]}
        yield {**base, "arm": None, **what, **prefers, "sentence": ranking_sentence(one)}


def _values(one: Difference, level: float) -> dict[str, Any]:
    return {
        "value": _json(one.value),
        "low": _json(one.interval.low),
        "high": _json(one.interval.high),
        "level": level if one.interval.method else None,
        "interval": one.interval.method or None,
        "pairs": one.n,
        "topics": one.topics,
        "p": _json(one.p),
        "note": one.interval.note,
    }


def long_ranking_rows(pairs: Sequence[RankedPair], run: str, trials: int) -> Iterator[LongRow]:
    """Differences between systems by arm, and against the control."""
    for one in pairs:
        name, turn = one.key
        common: dict[str, Any] = {"study": "robustness", "run": run, "trials": trials, "measure": name, "turn": turn}
        for figure, each in (
            ("difference between systems", one.found.apart),
            ("difference between systems, against the control", one.found.interactions),
        ):
            for arm, own in each.items():
                yield LongRow(
                    **common,
                    figure=figure,
                    unit=unit_of(is_percentage(name)),
                    system=f"{one.found.first}, {arm}",
                    other=f"{one.found.second}, {arm}",
                    estimand="like-these",
                    estimate=own.value,
                    low=own.interval.low,
                    high=own.interval.high,
                    level=None if math.isnan(own.interval.low) else one.level,
                    interval=own.interval.method,
                    p=own.p,
                    p_corrected=own.adjusted,
                    topics=own.topics,
                    note=own.interval.note,
                )


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None
