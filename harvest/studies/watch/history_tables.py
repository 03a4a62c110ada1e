"""The history of a watched audit as a study: its looks, and the series of each figure."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.watch.changes import Stretch, find_moves
from harvest.studies.watch.document import figure_cells
from harvest.studies.watch.figures import STYLES, THESE_RUNS
from harvest.studies.watch.history import History, Look, LookFigure, LookSystem
from harvest.studies.watch.history_chart import Point, audit_points, history_chart, value_axis
from harvest.studies.watch.watched import MOVED
from harvest.studies.watch.words import signed_value, topics_words, value_text
from harvest.tables.comparison_words import p_text
from harvest.tables.long_rows import LongRow
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.statistics.change_points import FEWEST
from topics.counting import pluralize

FORMAT = "harvest-history/2"

# Words on a figure that moved, or had moved.
MOVES = ("changed", "alarm", "fell", "rose", "perhaps back", "back")

# The width of the drawn column, in columns of the terminal.
_NARROWEST, _WIDEST = 12, 44


def history_form(history: History, series: Sequence[tuple[str, str]], last: int | None = None) -> StudyForm:
    """Return the printable form of a history. Only the systems and figures in `series` are printed and drawn, and of
    each the `last` audits are printed, or all."""

    def tables(width: int) -> Iterator[RenderableType]:
        for system, figure in series:
            yield Text(printable(f"{system}, {figure}", line=True), style="bold")
            yield from history_tables(history.looks, system, figure, width, last)

    return StudyForm(
        head={
            "format": FORMAT,
            "looks": [
                {**_look_head(one), "earlier": [*map(_look_head, history.earlier(one))]} for one in history.looks
            ],
        },
        rows=lambda: history_rows(history),
        tables=tables,
        chart=lambda: history_chart(history.looks, series),
    )


def _look_head(look: Look) -> dict[str, Any]:
    left_out = {"value", "n", "low", "high", "these", "difference", "own", "left", "spent", "cut", "topics"}
    figures: dict[str, Any] = {"systems": {"__all__": {"ways": True, "figures": {"__all__": left_out}}}}
    return {name: value for name, value in look.model_dump(mode="json", exclude=figures).items() if name != "format"}


def history_rows(history: History) -> Iterator[LongRow]:
    """Yield the figures of each look in order of time. If a run was judged again, the look that counts comes last."""
    for look in history.looks:
        for one in (*history.earlier(look), look):
            note = "" if one is look else "judged again since"
            for system, measured in one.systems.items():
                for name, figure in measured.figures.items():
                    common = {"study": "history", "run": one.run, "system": system, "note": note}
                    yield from _figure_rows({**common, **figure_cells(name)}, figure)


def _figure_rows(common: dict[str, Any], one: LookFigure) -> Iterator[LongRow]:
    def row(figure: str, estimate: float | None, **more: Any) -> Iterator[LongRow]:
        if estimate is not None:
            yield LongRow(**{**common, **more}, figure=figure, estimate=estimate)

    yield from row("value", one.value, n=one.n)
    if one.low is not None and one.high is not None:
        ends = {"low": one.low, "high": one.high}
        difference = float("nan") if one.difference is None else one.difference
        yield from row("difference", difference, **ends, verdict=one.verdict)
    else:
        yield from row("difference", one.difference, verdict=one.verdict)
    if one.these is not None:
        yield LongRow(**common, figure="difference between these runs", low=one.these[0], high=one.these[1])
    yield from row("variance of the value", one.own, unit="variance")
    yield from row("chance left of a wrong same", one.left, unit="value")
    yield from row("chance taken of a wrong same", one.spent, unit="value")
    if one.cut is not None:
        yield from row("cut short, below", one.cut[0])
        yield from row("cut short, above", one.cut[1])


def audit_times(looks: Sequence[Look]) -> list[str]:
    """Return a name for each look: its minute, with seconds if another look began in the same minute, or the name of
    its run if another began in the same second."""
    times = [look.at[:19].replace("T", " ") for look in looks]
    minutes, seconds = Counter(time[:16] for time in times), Counter(times)
    return [
        time[:16] if minutes[time[:16]] == 1 else time if seconds[time] == 1 else printable(look.run, line=True)
        for time, look in zip(times, looks, strict=True)
    ]


def new_baselines(looks: Sequence[Look], system: str) -> list[int]:
    """Return the places of the looks at a system that are the first against a new baseline."""
    places = [place for place, look in enumerate(looks) if system in look.systems]
    return [now for last, now in pairwise(places) if looks[last].baseline != looks[now].baseline]


def history_tables(
    looks: Sequence[Look], system: str, figure: str, width: int = 0, last: int | None = None
) -> Iterator[RenderableType]:
    """Yield the series of a figure in a table, and its change points. If the table leaves room in `width` columns, its
    last column draws each audit with its interval around the baseline; otherwise, a second table does. With `last`, the
    table has this number of audits; change points are those of all."""
    found, times = find_moves(looks, system, figure), audit_times(looks)
    shown = [(place, look.systems[system]) for place, look in enumerate(looks) if system in look.systems]
    before = 0 if last is None else max(0, len(shown) - last)
    shown, renewed = shown[before:], new_baselines(looks, system)
    if before:
        yield Text(f"{pluralize(before, 'earlier audit')}: --last with a larger number, or --csv", style="dim")
    lost = any(one.valid < one.planned for _, one in shown)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("audit", no_wrap=True)
    if lost:
        table.add_column("valid", no_wrap=True)
    for heading in (figure, "difference [low, high]"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    rows: list[list[str | Text]] = []
    for place, one in shown:
        own = one.figures.get(figure)
        interval = ""
        if own is not None and own.shown is not None:
            low, high = (signed_value(end, figure) for end in own.shown)
            moved_by = "" if own.difference is None else f"{signed_value(own.difference, figure)} "
            interval = f"{moved_by}[{low}, {high}]{THESE_RUNS if own.low is None else ''}"
        word = "not measured" if own is None else own.word or own.verdict
        told = ("", "") if own is None else (value_text(own.value, figure), interval)
        valid = [f"{one.valid} of {one.planned}"] if lost else []
        rows.append([times[place], *valid, *told, Text(word, style=STYLES.get(word, ""))])
    headings = [str(column.header) for column in table.columns]
    widths = [max(map(cell_len, map(str, column))) for column in zip(headings, *rows, strict=True)]
    room = min(_WIDEST, width - sum(one + 2 for one in widths) - 2)
    below = bool(width) and room < _NARROWEST
    room = min(_WIDEST, width - widths[0] - 6) if below else room
    strips = list(_strips(audit_points(looks, system, figure)[before:], room)) if room >= _NARROWEST else []
    if strips and not below:
        table.add_column(Text(strips[0]), no_wrap=True)
    for at, (place, _) in enumerate(shown):
        if place in found or place in renewed:
            table.add_section()
        table.add_row(*rows[at], *([strips[at + 1]] if strips and not below else []))
    yield table
    if strips and below:
        drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        drawn.add_column("audit", no_wrap=True)
        drawn.add_column(Text(strips[0]), no_wrap=True)
        for row, strip in zip(rows, strips[1:], strict=True):
            drawn.add_row(row[0], strip)
        yield drawn
    if strips:
        yield Text(f"●: {figure}, ─: its interval, │: the baseline, ░: ± what matters", style="dim")
    yield from _told_lines(shown, times, figure)
    for place in renewed:
        if before <= place:
            yield Text(f"new baseline with the audit of {times[place]}: differences above it are from another one")
    for place, moved in found.items():
        moment = times[place]
        earlier, after = value_text(moved.before, figure), value_text(moved.after, figure)
        yield Text(f"moved from {earlier} to {after} with the audit of {moment} (p {p_text(moved.p)})")
    if any(THESE_RUNS in str(cell) for row in rows for cell in row):
        yield Text(f"{THESE_RUNS}: of these runs, since the baseline has fewer than {FEWEST_RUNS}", style="dim")
    known = sum(figure in look.systems[system].figures for look in looks if system in look.systems)
    if known < FEWEST:
        yield Text(f"change points are looked for among {FEWEST} audits or more, and here are {known}", style="dim")
    else:
        why = "found in looking back (permutation test at 5%), which raises no alarm"
        moves = any(one.figures[figure].word in MOVES for _, one in shown if figure in one.figures)
        if not found and moves:
            yield Text(
                "the verdicts above stand by themselves: a second, cruder look, for one level before some audit and "
                "another after it (permutation test at 5%), misses a fall that was repaired or that began lately",
                style="dim",
            )
        else:
            yield Text(why if found else f"no change point is {why}", style="dim")


def _told_lines(shown: Sequence[tuple[int, LookSystem]], times: Sequence[str], figure: str) -> Iterator[Text]:
    """Yield the topics that the last audit with a change or an alarm named, and over which audits."""
    told = [(place, own) for place, one in shown if (own := one.figures.get(figure)) and own.told and own.word in MOVED]
    for place, own in told[-1:]:
        if own.told is None:
            continue
        topics = own.told
        stretch = Stretch(figure, topics.audits, topics.since, 0, topics.fell, topics.rose, topics.topics)
        if words := topics_words(stretch):
            ends = (
                f"{topic} {signed_value(value, figure)} [{signed_value(low, figure)}, {signed_value(high, figure)}]"
                for topic, (value, low, high) in topics.named.items()
            )
            named = f"; these stand out: {', '.join(ends)}" if topics.named else "; none stands out"
            yield Text(printable(f"audit of {times[place]}: {words}{named}", line=True))


def _strips(points: Sequence[Point], width: int) -> Iterator[str]:
    """Yield the ends of the axis, and then a line for each audit: its value (●), its interval (─), and the baseline (│)
    with what matters around it (░)."""
    axis = value_axis(points, 0, width - 1, 2)
    low, high = axis.label(axis.low), axis.label(axis.high)
    yield f"{low}{high.rjust(width - len(low))}"
    for one in points:
        cells = [" "] * width
        matters = 0.0 if math.isnan(one.matters) else one.matters
        for mark, start, end in (
            ("░", one.before - matters, one.before + matters),
            ("─", one.low, one.high),
            ("│", one.before, one.before),
            ("●", one.value, one.value),
        ):
            if not math.isnan(start + end):
                first, last = (round(axis.position(value)) for value in (start, end))
                cells[first : last + 1] = [mark] * (last + 1 - first)
        yield "".join(cells).rstrip()
