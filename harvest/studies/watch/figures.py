"""An audit held against its baseline, for people and as JSON."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.watch.changes import ChangedTopic, ChangedTurn
from harvest.studies.watch.history import Look, LookFigure, moves
from harvest.studies.watch.watch import Watched, WatchedFigure, WatchedSystem
from harvest.studies.watch.words import (
    over_words,
    signed_value,
    system_sentence,
    value_text,
)
from harvest.tables.comparison_words import p_text
from harvest.terminal import printable
from recordings.files.times import stamp
from scoring.inference.drift import BUDGET, SAME_BUDGET
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.statistics.change_points import FEWEST
from topics.counting import pluralize

FORMAT = "harvest-watch/1"

_DIGITS = 12  # fewer than a float has, so that two machines print the same
_DISCOVERY = 0.1  # rate of false discoveries up to which q is printed
# Marks the interval of another estimand: of these very runs.
_THESE = "°"

_STYLES = {
    "changed": "red",
    "alarm": "red",
    "fell": "red",
    "rose": "red",
    "same": "green",
    "back": "green",
    "perhaps back": "yellow",
    "cannot tell": "yellow",
}


def watch_tables(found: Watched) -> Iterator[RenderableType]:
    """First one sentence for each system, then figures, then what changed."""
    for system in found.systems:
        yield Text(printable(system_sentence(system, found), line=True), style=f"bold {_STYLES[_worst(system)]}")
    for system in found.systems:
        if system.figures:
            yield _figures(system)
        yield from (Text(printable(over_words(one), line=True), style="dim") for one in system.figures if one.over)
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
    yield Text(_legend(found), style="dim")


def _legend(found: Watched) -> str:
    level = f"{100 * found.level:g}% interval of the difference"
    if len(found.baseline.runs) < FEWEST_RUNS:
        interval = (
            f"[low, high]{_THESE}: the {level} between these very runs, at their hours; that of the systems takes "
            f"{FEWEST_RUNS} blessed runs, which show how much audits differ by themselves, and so does same"
        )
    else:
        interval = (
            f"[low, high]: the {level}, by the trials of both sides and what audits differ by; same: within "
            f"±{100 * found.matters:g} points, wrong in at most {100 * SAME_BUDGET:g}% of runs, however often they are "
            "extended"
        )
    return (
        f"changed: an alarm over all looks (the chance of a false one in {pluralize(found.rules.looks, 'audit')} is at "
        f"most {100 * BUDGET:g}%) that another audit confirmed{_later(found.rules.apart)}; it lasts until two audits "
        "are back near the baseline; fell, rose: its interval lies beyond what matters, and one audit is not enough "
        f"for an alarm; {interval}; alarm: evidence as a share of what raises one; *: shown only, raises no alarm; q: "
        "among all figures that are only shown and have a q as small, the expected share that did not differ (none is "
        f"printed above {_DISCOVERY:g})"
    )


def _later(seconds: float) -> str:
    if seconds < 60:
        return ""
    return f", at least {seconds / 3600:.3g} h later" if seconds >= 3600 else f", at least {seconds / 60:.0f} min later"


def _worst(system: WatchedSystem) -> str:
    """The word of its gated figures that needs a person most."""
    words = [one.word for one in system.figures if one.gated]
    return min([*words, system.verdict], key=list(_STYLES).index) if words else system.verdict


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
        reached = max(one.levels) if one.gated else math.nan
        table.add_row(
            one.name if one.gated else f"{one.name}*",
            value_text(one.before, one.name),
            value_text(one.value, one.name),
            f"{signed_value(one.difference.value, one.name)}{_ends(one)}",
            str(one.n) if one.over is None else f"{one.n} of {one.over.n}",
            "" if math.isnan(reached) else f"{100 * reached:.0f}%",
            Text(one.word, style=_STYLES[one.word]) if one.gated else _found(one.q),
        )
    return table


def _ends(one: WatchedFigure) -> str:
    low, high = one.difference.shown
    mark = "" if one.difference.interval.printed else _THESE
    return f" [{signed_value(low, one.name)}, {signed_value(high, one.name)}]{mark}"


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


def audit_times(looks: Sequence[Look]) -> list[str]:
    """By which each look is known: its minute, or the name of its run where other looks began in that minute."""
    minutes = [look.at[:16].replace("T", " ") for look in looks]
    often = Counter(minutes)
    return [
        minute if often[minute] == 1 else printable(look.run, line=True)
        for minute, look in zip(minutes, looks, strict=True)
    ]


def history_tables(looks: Sequence[Look], system: str, figure: str) -> Iterator[RenderableType]:
    """The series of one figure, and where it moved to another level."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("audit", "valid"):
        table.add_column(heading, no_wrap=True)
    for heading in (figure, "difference: [low, high]"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    found, times = moves(looks, system, figure), audit_times(looks)
    for place, look in enumerate(looks):
        one = look.systems.get(system)
        if one is None:
            continue
        own = one.figures.get(figure)
        told = (
            ("could not be measured", "", "")
            if own is None
            else (
                value_text(own.value, figure),
                _interval(own, figure),
                Text(own.word or own.verdict, style=_STYLES.get(own.word or own.verdict, "")),
            )
        )
        if place in found:
            table.add_section()
        table.add_row(times[place], f"{one.valid} of {one.planned}", *told)
    yield table
    for place, moved in found.items():
        moment = times[place]
        before, after = value_text(moved.before, figure), value_text(moved.after, figure)
        yield Text(f"moved from {before} to {after} with the audit of {moment} (p {p_text(moved.p)})")
    if any(_THESE in str(cell) for cell in table.columns[3].cells):
        yield Text(f"{_THESE}: of these runs, since the baseline has fewer than {FEWEST_RUNS}", style="dim")
    known = sum(figure in look.systems[system].figures for look in looks if system in look.systems)
    if known < FEWEST:
        yield Text(f"change points are looked for among {FEWEST} audits or more, and here are {known}", style="dim")
    else:
        why = "found in looking back (permutation test at 5%), which raises no alarm"
        yield Text(why if found else f"no change point is {why}", style="dim")


def _interval(one: LookFigure, figure: str) -> str:
    if one.shown is None:
        return ""
    low, high = one.shown
    return f"[{signed_value(low, figure)}, {signed_value(high, figure)}]{_THESE if one.low is None else ''}"


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
        "word": one.word,
        "state": one.state.name if one.gated else None,
        "alarm": one.alarm,
        "changed_since": _time(one.state.since),
        "confirmed_at": _time(one.state.confirmed),
        "change": _json(one.state.change),
        "changes": one.state.times,
        "back_since": _time(one.state.back),
        "evidence_drop": _json(one.levels[0]),
        "evidence_rise": _json(one.levels[1]),
        "baseline": _json(one.before),
        "value": _json(one.value),
        "n": one.n,
        "difference": _json(one.difference.value),
        "low": _json(one.difference.low),
        "high": _json(one.difference.high),
        "no_interval_because": one.difference.note or None,
        "low_of_these_runs": _json(one.difference.these_low),
        "high_of_these_runs": _json(one.difference.these_high),
        "assumes": one.difference.assumes or None,
        "standard_error": _json(one.difference.error),
        "run_sd": _json(one.difference.runs),
        "p": _json(one.difference.p),
        "q": _json(one.q),
        "same_error_left": _json(one.difference.left - one.difference.spent),
        "topics_compared": one.over.topics if one.over else None,
        "value_of_all_topics": _json(one.over.value) if one.over else None,
        "n_of_all_topics": one.over.n if one.over else None,
        "baseline_of_all_topics": _json(one.over.before) if one.over else None,
        "trials_that_settle": one.settles.trials or None,
        "chance_that_they_settle": _json(one.settles.chance),
        "most_trials_tried": one.settles.most or None,
        "no_trials_settle_because": one.settles.hindrance or None,
    }


def _time(seconds: float) -> str | None:
    return stamp(datetime.fromtimestamp(seconds, UTC)) if math.isfinite(seconds) else None


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None
