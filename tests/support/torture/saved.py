"""Cells in a file, a line of JSON each: what takes an hour is counted in parts, and the page is made of them."""

import json
import math
from collections import Counter
from pathlib import Path

from tests.support.torture.cells import Cell, hidden_from
from tests.support.torture.world import WORLDS


def add(path: Path, cell: Cell) -> None:
    """Add one cell. Of widths, their median is kept."""
    own = vars(cell) | {
        "widths": [cell.width] if not math.isnan(cell.width) else [],
        "reasons": dict(cell.reasons.most_common(5)),
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(own, ensure_ascii=False) + "\n")


def kept(path: Path) -> list[Cell]:
    """The cells of a file, none if it is not there; of one that is there more than once, the last. What is hidden is
    asked of the world again."""
    found: dict[tuple[str, str, tuple[int, ...]], Cell] = {}
    for line in [] if not path.exists() else path.read_text(encoding="utf-8").splitlines():
        own = json.loads(line)
        own["size"] = tuple(own["size"])
        own["reasons"] = Counter(own["reasons"])
        own["hidden"] = hidden_from(own["engine"], WORLDS[own["world"]], own["size"])
        cell = Cell(**own)
        found[cell.engine, cell.world, cell.size] = cell
    return list(found.values())
