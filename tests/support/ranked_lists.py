"""NTCIREVAL's small example (tests/data/gfr_reference.json) written out as the files that its tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.checkout import DATA

REFERENCE: dict[str, Any] = json.loads((DATA / "gfr_reference.json").read_text(encoding="utf-8"))


def write_example(folder: Path) -> None:
    """small.qrels, small.SET.gmemb, SET.golddistr, and the runs first and second."""
    lines = [
        f"{topic} {name} L{grade}" for topic, judged in REFERENCE["grades"].items() for name, grade in judged.items()
    ]
    _write(folder / "small.qrels", lines)
    for name, one in REFERENCE["sets"].items():
        rows = (" ".join([one["topic"], document, *map(str, row)]) for document, row in one["memberships"].items())
        _write(folder / f"small.{name}.gmemb", list(rows))
        _write(folder / f"{name}.golddistr", [str(share) for share in one["gold"]])
    for run, topics in REFERENCE["lists"].items():
        ranked = [
            f"{topic} 0 {document} {rank} {100 - rank} {run}"
            for topic, documents in topics.items()
            for rank, document in enumerate(documents, 1)
        ]
        _write(folder / run, [f"<SYSDESC>the {run} run</SYSDESC>", *ranked])


def example_options(folder: Path) -> list[str]:
    """The options of `harvest metrics gfr` for the files of `write_example`, several files after one option."""
    sets = list(REFERENCE["sets"])
    return [
        *("--qrels", str(folder / "small.qrels")),
        *("--membership", *(str(folder / f"small.{name}.gmemb") for name in sets)),
        *("--gold", *(str(folder / f"{name}.golddistr") for name in sets)),
        *("--run", str(folder / "first"), str(folder / "second")),
    ]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
