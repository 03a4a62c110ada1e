"""What a person sees at the end of `run` and `score`: the grid, the figures, notes, and what was written where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from harvest.figures import figures, shown_value
from harvest.grid import grids
from harvest.scorecard import most_turns, united_topics
from recordings.conversation import INVALID
from recordings.run_folder import Run
from scoring.table import ScoreTable

if TYPE_CHECKING:
    from harvest.audit import Threshold

__all__ = ["print_scored", "threshold_misses"]


def print_scored(
    console: Console, runs: Sequence[Run], table: ScoreTable, paths: Iterable[Path] = (), *, every: bool = False
) -> None:
    """Print grid, figures (every: also the variants), notes, damage and paths."""
    topics = united_topics(runs)
    turns = max(turns for run in runs for turns in most_turns(run, topics).values())
    conversations = [conversation for run in runs for conversation in run.conversations]
    for grid in grids(conversations, topics, table.rows, turns=turns, width=console.width):
        console.print(grid)
    console.print("[dim]o useful   x not useful   - no such turn   ! no valid attempt[/]")
    for figure in figures(table.rows, width=console.width, every=every):
        console.print(figure)
    console.print()
    for note in table.notes:
        console.print(f"note: {escape(note)}")
    for run in runs:
        for sentence in run.damage:
            console.print(f"[yellow]damage:[/] {escape(sentence)}")
        _print_invalid(console, run)
    for path in paths:
        console.print(f"wrote {path}", soft_wrap=True)


def _print_invalid(console: Console, run: Run) -> None:
    reasons: dict[str, int] = {}
    for conversation in run.conversations:
        if conversation.outcome is not None and conversation.outcome.kind == INVALID:
            name = f"{conversation.key.system}: {conversation.outcome.reason}"
            reasons[name] = reasons.get(name, 0) + 1
    for name, count in sorted(reasons.items()):
        console.print(f"[yellow]invalid attempts:[/] {escape(name)} x {count}")
    if run.interrupted:
        console.print(f"[yellow]interrupted attempts:[/] {len(run.interrupted)}")


def threshold_misses(thresholds: Sequence[Threshold], table: ScoreTable) -> list[str]:
    """A sentence for each bound that is not kept; a figure that is undefined or absent keeps no bound."""
    misses = []
    for bound in thresholds:
        rows = [
            row
            for row in table.rows
            if row.measure == bound.measure
            and (bound.system is None or row.system == bound.system)
            and (row.topic_type, row.turn) == (bound.topic_type, bound.turn)
            and row.topic is None
            and row.trial is None
        ]
        name = bound.measure + (f" of turn {bound.turn}" if bound.turn else "")
        if not rows:
            misses.append(f"{name}: there is no such figure")
        for row in rows:
            low = bound.at_least is not None and not row.value >= bound.at_least
            high = bound.at_most is not None and not row.value <= bound.at_most
            if low or high:
                wanted = f"at least {bound.at_least:g}" if low else f"at most {bound.at_most:g}"
                misses.append(f"{name}, {row.system}: {shown_value(row, row.value)}, wanted {wanted}")
    return misses
