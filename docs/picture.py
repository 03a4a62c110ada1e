"""Draws `docs/demo.svg`: what the demo prints at its end, for the README. Run: python docs/picture.py RUN."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.grid import grids, legend
from harvest.studies.scores.scorecard import score_material
from harvest.tables.figures import figures
from recordings.log.run_folder import read


def picture(run: Path) -> str:
    """The SVG of the grid of movies and the figures, 80 characters wide."""
    material = gather_runs(read(run)).material
    table = score_material(material)
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    # One topic type is enough to see what a grid is; the demo prints all three.
    shown = grids(material, table.rows, table.joint, width=80)
    console.print(shown.tables[0])
    console.print(f"[dim]{legend(material, shown)}[/]")
    for figure in figures(table.rows, material.systems, width=80):
        console.print(figure)
    # Without the web font: a picture in a repository must not call anybody.
    return re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="harvest run demo"), flags=re.DOTALL)


if __name__ == "__main__":
    (Path(__file__).parent / "demo.svg").write_text(picture(Path(sys.argv[1])))
