"""Cells in files, a line of JSON each: a whole count takes hours, so it is made in parts, and the page is made of them.

`PACKED` holds what earlier counts left, compressed."""

import json
import lzma
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.support.torture.cells import Cell, hidden_from
from tests.support.torture.world import WORLDS

PACKED = Path(__file__).with_name("cells.jsonl.xz")


def line(cell: Cell) -> str:
    """The line of one cell. Of widths, their median is kept."""
    own = vars(cell) | {
        "widths": [cell.width] if not math.isnan(cell.width) else [],
        "reasons": dict(cell.reasons.most_common(5)),
    }
    return json.dumps(own, ensure_ascii=False) + "\n"


def add(path: Path, cell: Cell) -> None:
    """Add one cell to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(line(cell))


def kept(path: Path | None, packed: Path | None = None) -> list[Cell]:
    """The cells of earlier counts (`packed`) and of a file, none of what is not there; of one that is there more than
    once, the last. Those of worlds that are no more are left out, and what is hidden is asked of the world again."""
    found: dict[tuple[str, str, tuple[int, ...]], Cell] = {}
    lines: list[str] = []
    if packed is not None and packed.exists():
        lines += lzma.decompress(packed.read_bytes()).decode().splitlines()
    if path is not None and path.exists():
        lines += path.read_text(encoding="utf-8").splitlines()
    for one in lines:
        own = json.loads(one)
        if own["world"] not in WORLDS:
            continue
        own["size"] = tuple(own["size"])
        own["reasons"] = Counter(own["reasons"])
        own["hidden"] = hidden_from(own["engine"], WORLDS[own["world"]], own["size"])
        cell = Cell(**own)
        found[cell.engine, cell.world, cell.size] = cell
    return list(found.values())


def pack(cells: Sequence[Cell], packed: Path) -> None:
    """Keep these cells for later counts."""
    packed.write_bytes(lzma.compress("".join(map(line, cells)).encode(), preset=9))
