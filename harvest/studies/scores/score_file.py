"""Write the `harvest-scores/1` document in pieces, because thirty rows for each conversation do not fit in memory."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from harvest.studies.runs.side_by_side import SideBySide
from harvest.studies.runs.sources import sources
from harvest.studies.scores.bounds import CheckedBound
from recordings.files.errors import StoreError
from recordings.files.evidence import remove_leftovers, write_safely
from recordings.files.json_text import Json, encode_document, encode_line
from recordings.log.header import software
from recordings.log.run_folder import Run
from scoring.notation import Term
from scoring.table import ScoreRow, ScoreTable

_ROWS_PER_PIECE = 500  # rows
_ENCODER = msgspec.json.Encoder()


def scores_document(
    table: ScoreTable,
    seed: int = 0,
    beside: SideBySide | None = None,
    selection: Mapping[str, object] | None = None,
    runs: Sequence[Run] = (),
    bounds: Sequence[CheckedBound] = (),
    asked: Mapping[str, Json] | None = None,
    users: Mapping[str, Json] | None = None,
) -> Iterator[bytes]:
    """Yield the encoded document in pieces, with one line for each row. `beside` has the differences between
    several runs, and `selection` the effect of lost attempts (see `harvest.studies.scores.selection`). `runs`
    are described as sources. `bounds` are the checked thresholds of the audit. `asked` has the requested
    measures, so that a reader can find missing rows. `users` is the card of users whose turns a model words."""
    rows = table.stream()
    head = table.head_json()
    tail = {
        "seed": seed,
        **({} if asked is None else {"asked": asked}),
        **({"sources": sources(runs), "software": software()} if runs else {}),
        **({} if beside is None else {"differences": [one.as_json() for one in beside.contrasts]}),
        **({"selection": selection} if selection else {}),
        **({"users": users} if users else {}),
        **({"thresholds": [one.as_json() for one in bounds]} if bounds else {}),
    }
    yield b"{\n" + b",\n".join(_encode_entry(*one) for one in head.items()) + b',\n  "rows": ['
    between = b"\n    "
    while some := list(islice(rows, _ROWS_PER_PIECE)):
        yield between + b",\n    ".join(map(_encode_row, some))
        between = b",\n    "
    yield b"\n  ],\n" + b",\n".join(_encode_entry(*one) for one in tail.items()) + b"\n}\n"


def _encode_entry(name: str, value: Json) -> bytes:
    return f'  "{name}": '.encode() + encode_document(value).rstrip().replace(b"\n", b"\n  ")


def _encode_row(row: ScoreRow) -> bytes:
    value = row.as_json()
    try:
        return _ENCODER.encode(value)
    except ValueError:  # a lone surrogate in a name
        return encode_line(value).rstrip()


def write_scores(
    folder: Path,
    table: ScoreTable,
    seed: int = 0,
    selection: Mapping[str, object] | None = None,
    *,
    measures: Sequence[Term] = (),
    names: Sequence[str] = (),
) -> Path:
    """Write `scores.json` into the run's folder, replacing any existing file. `measures` were requested in addition
    to the default measures. `names` are the names of the requested rows; () means all. Raises StoreError if the
    file cannot be written."""
    asked = {"measures": list(map(str, measures)), "names": list(names)}
    path = folder / "scores.json"
    remove_leftovers(folder, path.name)
    try:
        write_safely(path, scores_document(table, seed, selection=selection, asked=asked))
    except OSError as fault:
        raise StoreError(path, fault) from fault
    return path
