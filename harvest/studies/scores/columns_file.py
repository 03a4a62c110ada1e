"""Files of `columns/` in a run's folder: arrays derived from the recording, which are used only as long as the
recording is unchanged.

The folder is not evidence, no check of a run reads it, and it can be deleted at any time. Each of its files is written
at once or not at all. It is used only if everything behind its numbers is unchanged: all files of events to the last
byte, the header, judgments and decisions, the request, the code that computed the figures, and the file itself.
Otherwise the run is read, and the file written again.

Files of events are large, so their bytes are only hashed again if their times or places on the disk changed. A file
that was changed within the last seconds could change again without any sign, so its bytes are hashed then, too.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from harvest.studies.scores.score_request import ScoreRequest
from recordings.files.digests import content_digest
from recordings.files.evidence import write_safely
from recordings.files.json_text import Json
from recordings.files.times import utc_now
from recordings.log.header import software
from scoring.settings import SETTINGS
from topics.errors import HarvestError
from topics.identity import content_hash
from topics.regular_file import open_inside

FORMAT = "harvest-columns/2"
FOLDER = "columns"

_SETTLED = 3.0  # seconds after which the times of a file show every later change
_PACKAGES = ("harvest", "recordings", "scoring", "protocols", "simulators", "topics")
_HASH = 16  # bytes of a hash, with which each file begins
_AT_ONCE = 1 << 20  # bytes
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Basis:
    """The files and settings behind the numbers. `values` identifies everything behind the values of conversations
    except the files of events, and `table` everything behind a table of figures over them. `files` has the status of
    each file of events and its chain on the disk. `began` is the time of this check, in seconds since 1970."""

    values: str
    table: str
    files: dict[str, list[int]]
    began: float
    _digests: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, run: Path, request: ScoreRequest, code: str | None = None) -> Self:
        """`code` identifies the modules that compute figures; None means those that are there. Raises OSError."""
        began = utc_now().timestamp()
        own = [run / "run.json", *sorted(run.glob("judgments/*")), *sorted(run.glob("decisions/*"))]
        given = [Path(name) for name in (request.gold, request.sources) if name is not None and Path(name).is_file()]
        exact: dict[str, Json] = {
            "format": FORMAT,
            "software": software(),
            "code": code_digest(Path(__file__).parents[3]) if code is None else code,
            "own": {str(file.relative_to(run)): content_digest(file) for file in own if file.is_file()},
            "given": [content_digest(file) for file in given],
        }
        settings = {
            name: value
            for name, value in sorted(request.settings.items())
            if value is not None and not SETTINGS[name].of_intervals
        }
        of_values = ascii(replace(request, measures=(), settings=settings, seed=0))
        return cls(
            content_hash("columns", {**exact, "request": of_values}),
            content_hash("columns", {**exact, "request": ascii(request)}),
            event_stamps(run),
            began,
        )

    def is_settled(self) -> bool:
        """Return true if any later change of a file of events would change its status on the disk."""
        return all(stamp[3] / 1e9 < self.began - _SETTLED for stamp in self.files.values())

    def digests(self, run: Path) -> dict[str, str]:
        """Return the hashes of the files of events, which are read once. Raises OSError."""
        if not self._digests:
            self._digests.update({name: content_digest(run / name) for name in self.files})
        return self._digests


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


def write_columns(
    run: Path, name: str, exact: str, basis: Basis, told: Mapping[str, Json], arrays: Mapping[str, Any]
) -> None:
    """Write arrays, and their description, to the file `name`. `exact` is the part of the basis that they rest on.
    Nothing is written for a run that changed meanwhile. Raises OSError."""
    digests = basis.digests(run)
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    if event_stamps(run) != basis.files or folder.is_symlink():
        return
    head: dict[str, Json] = {
        "exact": exact,
        "files": {file: [*stamp] for file, stamp in basis.files.items()},
        "digests": {**digests},
        "settled": basis.is_settled(),
        "told": dict(told),
    }
    data = io.BytesIO()
    data.write(bytes(_HASH))
    np.savez(data, **arrays, head=np.frombuffer(json.dumps(head, default=int).encode(), dtype=np.uint8))
    whole = data.getbuffer()
    whole[:_HASH] = hashlib.blake2b(whole[_HASH:], digest_size=_HASH).digest()
    write_safely(folder / name, (bytes(whole[at : at + _AT_ONCE]) for at in range(0, len(whole), _AT_ONCE)))


def read_columns(
    run: Path, name: str, exact: str, basis: Basis, make: Callable[[Mapping[str, Any], Mapping[str, Any]], _Read]
) -> _Read | None:
    """Return the result of `make` for the description and the arrays, which are loaded on demand; or None if the file
    is missing or out of date. `make` may raise ValueError, TypeError, LookupError or AttributeError."""
    try:
        with open_inside(run, f"{FOLDER}/{name}") as file:
            wanted, found = file.read(_HASH), hashlib.blake2b(digest_size=_HASH)
            while block := file.read(_AT_ONCE):
                found.update(block)
            if found.digest() != wanted:
                return None
            file.seek(_HASH)
            with np.load(file, allow_pickle=False) as arrays:
                head = json.loads(arrays["head"].tobytes())
                if head["exact"] != exact or not _are_same_files(run, basis, head):
                    return None
                return make(head["told"], arrays)
    except (OSError, HarvestError, ValueError, TypeError, LookupError, AttributeError, zipfile.BadZipFile):
        return None


def _are_same_files(run: Path, basis: Basis, head: Mapping[str, Any]) -> bool:
    if head["files"] == basis.files and head["settled"]:
        return True
    sizes = {name: stamp[0] for name, stamp in basis.files.items()}
    if sizes != {name: stamp[0] for name, stamp in head["files"].items()}:
        return False
    return bool(basis.digests(run) == head["digests"])
