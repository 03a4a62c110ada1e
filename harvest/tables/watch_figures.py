"""An audit held against its baseline, for people and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.watch import Watched, WatchedFigure, WatchedSystem
from harvest.studies.watch_changes import ChangedTopic, ChangedTurn
from harvest.studies.watch_history import Look, moves
from harvest.tables.comparison_words import p_text
from harvest.terminal import printable
from scoring.inference.drift import BUDGET
from scoring.inference.settling import Settling
from scoring.statistics.change_points import FEWEST, ChangePoint
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import change, decimal

__all__ = [
    "FORMAT",
    "figure_sentence",
    "history_tables",
    "settling_words",
    "system_details",
    "system_sentence",
    "watch_document",
    "watch_tables",
]

FORMAT = "harvest-watch/1"

_DIGITS = 12
_DISCOVERY = 0.1
_STYLES = {"changed": "red", "same": "green", "cannot tell": "yellow"}


def watch_tables(found: Watched) -> Iterator[RenderableType]:
    """First one sentence for each system, then figures, then what changed."""
    for system in found.systems:
        yield Text(printable(system_sentence(system, found), line=True), style=f"bold {_STYLES[system.verdict]}")
    for system in found.systems:
        if system.figures:
            yield _figures(system)
        yield from system_details(system)
    runs = pluralize(len(found.baseline.runs), "run")
    yield Text(
        f"look {found.look} at a baseline of {runs}, blessed {found.baseline.blessed_at[:10]}; figures and intervals "
        "are of these topics",
        style="dim",
    )
    if found.shadow:
        yield Text(
            "shadow: the baseline has fewer than 4 runs, so how much audits differ by themselves is hardly known; "
            "verdicts change no exit code until it has, or with --enforce",
            style="yellow",
        )
    yield Text(
        f"changed: an alarm over all looks (the chance of a false one in {pluralize(found.rules.looks, 'audit')} is at "
        f"most {100 * BUDGET:g}%) that another audit confirmed{_later(found.rules.apart)}; "
        f"[low, high]: the {100 * found.level:g}% interval of the difference; "
        f"same: the {100 * (2 * found.level - 1):g}% "
        f"interval lies within ±{100 * found.matters:g} points; alarm: evidence as a share of what raises one; "
        "*: shown only, raises no alarm; q: among all figures that are only shown and have a q as small, the expected "
        f"share that did not differ (none is printed above {_DISCOVERY:g})",
        style="dim",
    )


def _later(seconds: float) -> str:
    if seconds < 60:
        return ""
    return f", at least {seconds / 3600:.3g} h later" if seconds >= 3600 else f", at least {seconds / 60:.0f} min later"


def system_sentence(system: WatchedSystem, found: Watched) -> str:
    """What came out for a system: why nothing is said of it, or its gated figures."""
    if system.incomparable:
        return f"{system.name}: cannot tell: {system.incomparable}"
    if not system.valid:
        return f"{system.name}: could not be measured: none of {pluralize(system.planned, 'trial')} has a valid attempt"
    shown = {one.name for one in system.figures}
    said = [figure_sentence(one, found) for one in system.figures if one.gated]
    said += [f"{name} has no value, so nothing is said of it" for name in found.baseline.gated if name not in shown]
    return f"{system.name}: " + "; ".join(said)


def figure_sentence(one: WatchedFigure, found: Watched) -> str:
    """What came out for a gated figure."""
    moved = _signed(one.difference.value, one.name)
    if one.verdict == "changed":
        return f"{one.name} changed by {moved} since the baseline ({_value(one.before, one.name)})"
    if one.verdict == "same":
        return f"{one.name} is the same within {100 * found.matters:g} points"
    if one.alarm:
        return f"{one.name}: alarm ({moved}), to be confirmed by an audit at another hour"
    return f"{one.name}: cannot tell whether it changed ({moved}; {settling_words(one.settles)})"


def settling_words(one: Settling) -> str:
    """What more trials would bring, and what else would help where they promise nothing."""
    if one.trials:
        return f"{_trials(one.trials)} would settle it with a chance of {100 * one.chance:.0f}%"
    if one.hindrance == "settled":
        return "its interval lies beyond what matters already, and an alarm takes the evidence of further audits"
    if one.hindrance == "runs":
        return (
            "how many more trials would settle it cannot be told, since a baseline of so few runs hardly shows how "
            "much audits differ: bless more runs"
        )
    near = one.hindrance == "edge"
    why = "it may well lie at the edge of what matters" if near else "the baseline is not known well enough"
    instead = "another" if near else "a larger"
    other = "further audits add evidence" if near else "bless more runs"
    return (
        f"{why}: even {_trials(one.most)} would settle it with a chance of {100 * one.chance:.0f}%; "
        f"{other}, or let {instead} difference matter (--matters)"
    )


def _trials(number: int) -> str:
    return f"{number:,} more {'trial' if number == 1 else 'trials'} of each topic"


def _figures(system: WatchedSystem) -> Table:
    valid = f"{system.name}, {pluralize(system.valid, 'valid trial')} of {system.planned}"
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=Text(printable(valid, line=True)),
        title_justify="left",
        title_style="bold",
    )
    table.add_column("figure", overflow="fold", min_width=12)
    for heading in ("baseline", "now", "difference [low, high]", "n", "alarm", "verdict"):
        table.add_column(Text(heading), justify="right", no_wrap=True)  # a text: brackets are no markup
    for one in system.figures:
        between = f"[{_signed(one.difference.low, one.name)}, {_signed(one.difference.high, one.name)}]"
        reached = max(one.levels) if one.gated else math.nan
        table.add_row(
            one.name if one.gated else f"{one.name}*",
            _value(one.before, one.name),
            _value(one.value, one.name),
            f"{_signed(one.difference.value, one.name)} {between}",
            str(one.n),
            "" if math.isnan(reached) else f"{100 * reached:.0f}%",
            Text(one.verdict, style=_STYLES[one.verdict]) if one.gated else _found(one.q),
        )
    return table


def _found(q: float) -> str:
    return f"q {q:.3f}".replace("0.", ".", 1) if q <= _DISCOVERY else ""


def system_details(system: WatchedSystem) -> Iterator[Text]:
    """Lines on coverage, models, topics and turns that changed. Models are in the system's own words."""
    if system.continued:
        yield Text(
            f"{system.name}: its sessions go on from topic to topic, so trials depend on each other: alarms and "
            "intervals take them as independent, and may promise too much",
            style="yellow",
        )
    was, now = system.models
    if was and now and was != now:
        yield Text(
            printable(f"{system.name}: answered as {' and '.join(now)}, before as {' and '.join(was)}", line=True),
            style="yellow",
        )
    if system.coverage:
        yield Text(
            f"{system.name}: coverage fell: {system.valid} of {system.planned} trials are valid; whether that depends "
            "on the answers cannot be known",
            style="yellow",
        )
    if system.lost:
        yield Text(f"{system.name}: no valid trial of {', '.join(system.lost)}", style="yellow")
    if system.unasked:
        yield Text(f"{system.name}: not asked: {', '.join(system.unasked)}", style="yellow")
    for topic in system.topics:
        yield Text(printable(f"  {_topic(topic)}", line=True))
    for turn in system.turns:
        yield Text(printable(f"  {_turn(turn)}", line=True))


def _topic(one: ChangedTopic) -> str:
    (a, n), (b, m) = one.before, one.now
    return f"{one.topic}: first answers useful in {b} of {m}, before in {a} of {n}; p {p_text(one.p)}"


def _turn(one: ChangedTurn) -> str:
    way = " → ".join((*one.turns, one.branch))
    before, now = (f"{100 * share:.0f}%" for share in one.portion)
    return f"{way}: {now} of {one.came[1]} that came there, before {before} of {one.came[0]}; p {p_text(one.p)}"


def history_tables(looks: Sequence[Look], system: str, figure: str) -> Iterator[RenderableType]:
    """The series of one figure, and where it moved to another level."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("audit", "valid"):
        table.add_column(heading, no_wrap=True)
    for heading in (figure, "difference: [low, high]"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    found = moves(looks, system, figure)
    for place, look in enumerate(looks):
        one = look.systems.get(system)
        if one is None:
            continue
        own = one.figures.get(figure)
        told = (
            ("could not be measured", "", "")
            if own is None
            else (
                _value(own.value, figure),
                f"[{_signed(own.low, figure)}, {_signed(own.high, figure)}]",
                Text(own.verdict, style=_STYLES[own.verdict]),
            )
        )
        if place in found:
            table.add_section()
        table.add_row(look.at[:16].replace("T", " "), f"{one.valid} of {one.planned}", *told)
    yield table
    for place, moved in found.items():
        yield Text(_moved(looks[place], moved, figure))
    known = sum(figure in look.systems[system].figures for look in looks if system in look.systems)
    if known < FEWEST:
        yield Text(f"change points are looked for among {FEWEST} audits or more, and here are {known}", style="dim")
    else:
        why = "found in looking back (permutation test at 5%), which raises no alarm"
        yield Text(why if found else f"no change point is {why}", style="dim")


def _moved(look: Look, one: ChangePoint, figure: str) -> str:
    moment = look.at[:16].replace("T", " ")
    before, after = _value(one.before, figure), _value(one.after, figure)
    return f"moved from {before} to {after} with the audit of {moment} (p {p_text(one.p)})"


def watch_document(found: Watched) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "format": FORMAT,
        "verdict": found.verdict,
        "shadow": found.shadow,
        "look": found.look,
        "matters": found.matters,
        "level": found.level,
        "of": "these topics",
        "baseline": found.baseline.identity,
        "systems": [_system(one) for one in found.systems],
    }


def _system(one: WatchedSystem) -> dict[str, Any]:
    return {
        "system": one.name,
        "verdict": one.verdict,
        "incomparable": one.incomparable or None,
        "planned": one.planned,
        "valid": one.valid,
        "lost_topics": list(one.lost),
        "unasked_topics": list(one.unasked),
        "models_before": list(one.models[0]),
        "models": list(one.models[1]),
        "coverage_fell": one.coverage,
        "continued_sessions": one.continued,
        "figures": [_figure(figure) for figure in one.figures],
        "topics": [
            {"topic": topic.topic, "before": list(topic.before), "now": list(topic.now), "p": _json(topic.p)}
            for topic in one.topics
        ],
        "turns": [
            {
                "turns": list(turn.turns),
                "branch": turn.branch,
                "portion": [_json(share) for share in turn.portion],
                "came": list(turn.came),
                "p": _json(turn.p),
            }
            for turn in one.turns
        ],
    }


def _figure(one: WatchedFigure) -> dict[str, Any]:
    return {
        "figure": one.name,
        "gated": one.gated,
        "verdict": one.verdict,
        "alarm": one.alarm,
        "evidence_drop": _json(one.levels[0]),
        "evidence_rise": _json(one.levels[1]),
        "baseline": _json(one.before),
        "value": _json(one.value),
        "n": one.n,
        "difference": _json(one.difference.value),
        "low": _json(one.difference.low),
        "high": _json(one.difference.high),
        "standard_error": _json(one.difference.error),
        "run_sd": _json(one.difference.runs),
        "p": _json(one.difference.p),
        "q": _json(one.q),
        "trials_that_settle": one.settles.trials or None,
        "chance_that_they_settle": _json(one.settles.chance),
        "most_trials_tried": one.settles.most or None,
        "no_trials_settle_because": one.settles.hindrance or None,
    }


def _value(value: float, name: str) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{decimal(100 * value, 1)}%" if is_percentage(name.partition(" ")[0]) else decimal(value, 4)


def _signed(value: float, name: str) -> str:
    return change(value, share=is_percentage(name.partition(" ")[0]))


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None
