"""Draws `docs/demo.svg`: what the demo prints at its end, for the README. Run: python docs/picture.py RUN."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from harvest.figures import figures
from harvest.grid import grids
from harvest.scorecard import most_turns, score_run
from recordings.run_folder import read


def main() -> None:
    run = read(Path(sys.argv[1]))
    topics = run.header.topic_set()
    assert topics is not None
    table = score_run([run])
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    turns = max(most_turns(run, topics).values())
    systems = sorted(run.header.systems)
    # One topic type is enough to see what a grid is; the demo prints all three.
    console.print(grids(run.conversations, topics, table.rows, turns=turns, width=80)[len(systems) - 1])
    console.print("[dim]o useful   x not useful   - no such turn   ! no valid attempt[/]")
    for figure in figures(table.rows, width=80):
        console.print(figure)
    # Without the web font: a picture in a repository must not call anybody.
    svg = re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="harvest run demo"), flags=re.DOTALL)
    (Path(__file__).parent / "demo.svg").write_text(svg)


if __name__ == "__main__":
    main()
