"""The figures of scored runs for people: systems side by side, each value with its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.terminal import shown
from scoring.table import ScoreRow, is_percentage
from topics.counting import counted

__all__ = ["figures", "interval_notes", "shown_with_interval"]

_NAME_WIDTH, _CELL_WIDTH, _VALUE_WIDTH = 22, 28, 22
_MEANINGS = {
    "R": "R: relevance",
    "GF": "GF: group fairness",
    "SWAN": "SWAN: mean of criteria",
    "WAN": "WAN: one criterion",
    "CVaR": "CVaR: mean of the worst",
    "Q": "Q: lower quantile",
    "P": "P: how often",
}
_FIRST = ("%useful", "ave%useful", "%recovery", "R", "GF", "GFR")


def figures(
    rows: Sequence[ScoreRow], systems: Sequence[str], *, width: int, every: bool = False, asked: bool = False
) -> Iterator[RenderableType]:
    """Tables of the overall rows (no single topic, type, trial or entity), as many systems a table as fit `width`.

    every: also the variants, GF by the other divergence and GF of cumulative distributions. asked: the rows are what
    somebody asked for by name: every one is shown, with the notes that explain it.
    """
    overall = [row for row in rows if row.topic is None and row.trial is None and row.topic_type is None]
    variants = {row.measure for row in overall if "_cum" in row.measure or "by=" in row.measure}
    every = every or asked
    if not every:
        overall = [row for row in overall if row.measure not in variants]
    overall.sort(key=_rank)
    scored = {row.system for row in overall}
    silent = [] if asked else _silent(overall)
    overall = [row for row in overall if row.turn not in silent]
    systems = [system for system in systems if system in scored]
    a_table = max(1, (width - _NAME_WIDTH) // _CELL_WIDTH)
    for start in range(0, len(systems), a_table):
        yield _table(overall, systems[start : start + a_table])
    yield Text(_legend(overall), style="dim")
    if silent:
        named = f"S{silent[0]}" if len(silent) == 1 else f"S{silent[0]} to S{silent[-1]}"
        yield Text(f"{named}: nobody was asked so many turns", style="dim")
    yield from interval_notes(overall)
    yield from _invalid(overall)
    if asked:
        for row in overall:
            said = "; ".join(part for part in row.note.split("; ") if not part.startswith("effective n"))
            if said:
                yield Text(f"{row.measure}, {shown(row.system, line=True)}: {said}", style="dim")
    if variants and not every:
        hidden = counted(len(variants), "variant")
        yield Text(f"not shown: {hidden} (by=NMD, GF_cum); score --all, or --json", style="dim")


def _silent(rows: Sequence[ScoreRow]) -> list[int]:
    """The turns after the last that anybody was asked, of which there is nothing to show."""
    turns = {row.turn for row in rows if row.turn is not None}
    last = max((row.turn for row in rows if row.turn is not None and row.n), default=1)
    return sorted(turn for turn in turns if turn > last)


def _legend(rows: Sequence[ScoreRow]) -> str:
    """What the names mean, and where 1 is good: it is of a score, and not of a failure."""
    names = {row.measure.split("(")[0] for row in rows}
    said = [text for name, text in _MEANINGS.items() if name in names]
    if any(row.turn for row in rows):
        said.insert(0, "S1, S2: system turns")
    failures = sorted({row.measure for row in rows if _of_failure(row.measure)})
    others = [row for row in rows if row.measure not in failures and row.measure != "persistence"]
    if others:
        said.append("from 0 to 1, 1 is good" + (", but for failures" if failures else ""))
    if failures:
        said.append(f"0 is good: {', '.join(failures)}")
    if "persistence" in names:
        said.append("persistence: from -1 to 1, above 0 where failures go on")
    return "; ".join(said)


def _of_failure(measure: str) -> bool:
    return measure.split("(")[0] in ("P", "breakdown") or (
        measure.startswith("transition(") and not measure.endswith(", o)")
    )


def _rank(row: ScoreRow) -> tuple[int, bool]:
    name = row.measure.split("(")[0]
    first = name == "GFR" or "(" not in row.measure
    return (_FIRST.index(name) if first and name in _FIRST else len(_FIRST), "_cum" in name)


def _table(rows: Sequence[ScoreRow], systems: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    # A long name is folded over several lines; it must not push the figures off the screen.
    table.add_column("measure", overflow="fold", min_width=_NAME_WIDTH - 4)
    for system in systems:
        heading = Text(shown(system, line=True), no_wrap=False, overflow="fold")
        table.add_column(heading, no_wrap=True, justify="right", max_width=_VALUE_WIDTH)
        table.add_column("n", no_wrap=True, justify="right", style="dim")
    cells = {(row.measure, row.turn, row.system): row for row in rows}
    for measure, turn in dict.fromkeys((row.measure, row.turn) for row in rows):
        line = [Text(f"{measure} S{turn}" if turn else measure)]
        for system in systems:
            row = cells.get((measure, turn, system))
            line += [Text(shown_with_interval(row) if row else ""), Text(str(row.n) if row else "")]
        table.add_row(*line)
    return table


def shown_with_interval(row: ScoreRow) -> str:
    """A value and its interval, `0.5000 [.4321, .5678]`, in the one form that every table has."""
    value = row.shown(row.value)
    if row.low != row.low:
        return value
    if is_percentage(row.measure):
        return f"{value} [{100 * row.low:.1f}, {100 * row.high:.1f}]"
    return f"{value} [{row.low:.4f}, {row.high:.4f}]".replace("[0.", "[.").replace(", 0.", ", .")


def interval_notes(rows: Sequence[ScoreRow]) -> Iterator[Text]:
    """How the intervals were made: a figure is not understood without what was resampled for it."""
    made: dict[tuple[str, str, float], dict[str, None]] = {}
    for row in rows:
        if row.low == row.low and row.interval and row.level is not None:
            resampled = row.resampled or "nothing"
            made.setdefault((row.interval, resampled, row.level), {})[row.measure.split("(")[0]] = None
    for (method, resampled, level), measures in made.items():
        what = f", resampled: {resampled}" if resampled != "nothing" else ""
        yield Text(f"[low, high]: {100 * level:g}% {method}{what} ({', '.join(measures)})", style="dim")


def _invalid(rows: Sequence[ScoreRow]) -> Iterator[Text]:
    """What invalid trials could change: the bounds of the shares, had they all failed or all gone well."""
    for row in rows:
        if row.invalid and row.measure == "ave%useful":
            yield Text(
                f"{shown(row.system, line=True)}: invalid trials, in no figure: {row.invalid}; ave%useful would be "
                f"{row.shown(row.worst)} had all of them been useless, {row.shown(row.best)} useful",
                style="yellow",
            )
