"""Outlines and figures of a large run, kept in `columns/` of its folder, so that they are computed once.

The folder is derived from the recording: it is no evidence, no check of a run looks at it, and it can be deleted at any
time. Its one file is written at once or not at all. It is only believed if everything that the figures rest on is as it
was: all files of events to the last byte, the header, judgments and decisions, the request, the code that computed the
figures, and the file itself. Otherwise the run is read, and the file written again.

Files of events are large, so their bytes are only hashed again if their times or places on the disk changed. A file
that was changed within the last seconds could change again without any sign, so its bytes are hashed then, too.
"""

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from harvest.studies.runs.outlined_run import KeptTable, OutlinedRun
from harvest.studies.scores.score_request import ScoreRequest
from recordings.conversations.outline_rows import outline_arrays, outline_json, read_outlines
from recordings.files.digests import content_digest
from recordings.files.evidence import write_safely
from recordings.files.json_text import Json
from recordings.files.times import utc_now
from recordings.log.header import software
from recordings.log.store import read_header
from scoring.table import ScoreRow, ScoreTable
from topics.errors import HarvestError
from topics.identity import content_hash
from topics.regular_file import open_inside

FORMAT = "harvest-columns/1"
FOLDER = "columns"

# Smaller runs are read as quickly as their columns.
FEWEST = 2000  # conversations

_SETTLED = 3.0  # seconds after which the times of a file show every later change
_PACKAGES = ("harvest", "recordings", "scoring", "protocols", "simulators", "topics")
_FLOATS = tuple(field.name for field in fields(ScoreRow) if "float" in str(field.type))
_OTHERS = tuple(field.name for field in fields(ScoreRow) if field.name not in _FLOATS)


@dataclass(frozen=True, slots=True)
class Basis:
    """What figures rest on. `exact` is compared as it is. `files` has the files of events and their chains: what the
    disk says about each of them. `began` is when this was found out, in seconds since 1970."""

    exact: str
    files: dict[str, list[int]]
    began: float

    @classmethod
    def of(cls, run: Path, request: ScoreRequest, code: str | None = None) -> Self:
        """`code` identifies the modules that compute figures; None means those that are there. Raises OSError."""
        began = utc_now().timestamp()
        own = [run / "run.json", *sorted(run.glob("judgments/*")), *sorted(run.glob("decisions/*"))]
        given = [Path(name) for name in (request.gold, request.sources) if name is not None and Path(name).is_file()]
        exact = {
            "format": FORMAT,
            "software": software(),
            "code": code_digest(Path(__file__).parents[3]) if code is None else code,
            "request": ascii(request),
            "own": {str(file.relative_to(run)): content_digest(file) for file in own if file.is_file()},
            "given": [content_digest(file) for file in given],
        }
        return cls(content_hash("columns", exact), event_stamps(run), began)

    def is_settled(self) -> bool:
        """Return true if any later change of a file of events would show in what the disk says about it."""
        return all(stamp[3] / 1e9 < self.began - _SETTLED for stamp in self.files.values())


def event_stamps(run: Path) -> dict[str, list[int]]:
    """Return size, number and times of each file of events and each chain of a run. Raises OSError."""
    with os.scandir(run) as inside:
        told = {entry.name: entry.stat(follow_symlinks=False) for entry in inside if entry.name.startswith("trials-")}
    return {name: [of.st_size, of.st_ino, of.st_mtime_ns, of.st_ctime_ns] for name, of in sorted(told.items())}


@cache
def code_digest(root: Path) -> str:
    """Return a hash of the names, sizes and times of all modules below a folder that compute figures."""
    found = hashlib.blake2b(digest_size=16)
    waiting = [root / name for name in _PACKAGES]
    while waiting:
        with os.scandir(waiting.pop()) as inside:
            for entry in sorted(inside, key=lambda one: one.name):
                if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    waiting.append(Path(entry.path))
                elif not entry.name.startswith(".") and entry.is_file():
                    told = entry.stat()
                    found.update(f"{entry.path} {told.st_size} {told.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def keep_columns(run: OutlinedRun, basis: Basis, table: ScoreTable) -> None:
    """Write the columns of a run that was read since `basis` was found out. Nothing is written for a small run, for one
    that changed meanwhile, and where nothing can be written."""
    if len(run.outlines) < FEWEST:
        return
    with suppress(OSError):
        digests = {name: content_digest(run.path / name) for name in basis.files}
        if event_stamps(run.path) != basis.files:
            return
        head: dict[str, Json] = {
            "exact": basis.exact,
            "files": {name: [*stamp] for name, stamp in basis.files.items()},
            "digests": digests,
            "settled": basis.is_settled(),
            "damage": list(run.damage),
            "outlines": outline_json(run.outlines),
            "table": _table_json(table),
        }
        numbers = {"floats": np.array([[getattr(row, name) for name in _FLOATS] for row in table.joint], dtype=object)}
        floats = np.array(
            [[math.nan if value is None else value for value in row] for row in numbers["floats"].tolist()],
            dtype=np.float64,
        )
        arrays = {**outline_arrays(run.outlines), "floats": floats.reshape(-1, len(_FLOATS))}
        arrays["none"] = np.array([[value is None for value in row] for row in numbers["floats"].tolist()], dtype=bool)
        arrays["head"] = np.frombuffer(json.dumps(head, default=int).encode(), dtype=np.uint8)
        folder = run.path / FOLDER
        folder.mkdir(exist_ok=True)
        if folder.is_symlink():
            return
        data = io.BytesIO()
        np.savez(data, **arrays)
        whole = data.getvalue()
        write_safely(folder / "scores.npz", hashlib.blake2b(whole, digest_size=16).digest() + whole)


def _table_json(table: ScoreTable) -> dict[str, Json]:
    return {
        "settings": repr(table.settings),
        "notes": list(table.notes),
        "coverage": list(table.coverage),
        "rows": [[getattr(row, name) for name in _OTHERS] for row in table.joint],
    }


def kept_columns(path: Path, basis: Basis, again: Callable[[], ScoreTable]) -> OutlinedRun | None:
    """Return the run with its outlines and figures as they were kept, or None if there are none that can be believed.
    `again` computes the whole table anew."""
    try:
        with open_inside(path, f"{FOLDER}/scores.npz") as file:
            data = file.read()
        if hashlib.blake2b(data[16:], digest_size=16).digest() != data[:16]:
            return None
        with np.load(io.BytesIO(data[16:]), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        head = json.loads(arrays["head"].tobytes())
        if head["exact"] != basis.exact or not _same_files(path, basis, head):
            return None
        outlines = read_outlines(head["outlines"], arrays)
        told = head["table"]
        rows = tuple(_read_rows(told["rows"], arrays["floats"], arrays["none"]))
        table = KeptTable(rows, told["settings"], tuple(told["notes"]), tuple(told["coverage"]), again)
        return OutlinedRun(path, read_header(path), (), tuple(head["damage"]), outlines, None, table)
    except (OSError, HarvestError, ValueError, TypeError, LookupError, AttributeError, zipfile.BadZipFile):
        return None


def _same_files(path: Path, basis: Basis, head: Mapping[str, Any]) -> bool:
    if head["files"] == basis.files and head["settled"]:
        return True
    sizes = {name: stamp[0] for name, stamp in basis.files.items()}
    if sizes != {name: stamp[0] for name, stamp in head["files"].items()}:
        return False
    return all(content_digest(path / name) == head["digests"][name] for name in sizes)


def _read_rows(rows: Sequence[Sequence[Any]], floats: Any, none: Any) -> Iterator[ScoreRow]:
    for others, numbers, empty in zip(rows, floats.tolist(), none.tolist(), strict=True):
        known: dict[str, Any] = dict(zip(_OTHERS, others, strict=True))
        for name, number, gone in zip(_FLOATS, numbers, empty, strict=True):
            known[name] = None if gone else math.nan if number != number else number
        yield ScoreRow(**known)
