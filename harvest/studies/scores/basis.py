"""Everything that the numbers of a run rest on, and files in `columns/` that are used only while this is unchanged.

The folder is not evidence, no check of a run reads it, and it can be deleted at any time. Each of its files is written
at once or not at all. It is used only if everything behind its numbers is unchanged: all files of events to the last
byte, the header, judgments and decisions, the request, the code that computed the figures, and the file itself.
Otherwise the run is read, and the file written again.

Files of events are large, so their bytes are only hashed again if their times or places on the disk changed. A file
that was changed within the last seconds could change again without any sign, so its bytes are hashed then, too.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Self

from harvest.studies.scores.score_request import ScoreRequest
from recordings.files.digests import content_digest
from recordings.files.evidence import write_safely
from recordings.files.json_text import Json
from recordings.files.times import utc_now
from recordings.log.header import software
from scoring.settings import SETTINGS
from topics.identity import content_hash
from topics.plug_ins import installed_plug_ins
from topics.regular_file import open_inside

FORMAT = "harvest-columns/2"
FOLDER = "columns"

_SETTLED = 3.0  # seconds after which the times of a file show every later change
_PACKAGES = ("harvest", "recordings", "scoring", "protocols", "simulators", "topics")
_HASH = 16  # bytes of a hash, with which each file begins
_AT_ONCE = 1 << 20  # bytes


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
            "plug-ins": installed_plug_ins(),
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

    def head(self, run: Path, exact: str, told: Mapping[str, Json]) -> dict[str, Json] | None:
        """Return the head of a file that rests on this and says `told`, or None for a run that changed meanwhile.
        `exact` is the part of the basis that the file rests on. Raises OSError."""
        digests = self._digests_of(run)
        if event_stamps(run) != self.files:
            return None
        return {
            "exact": exact,
            "files": {file: [*stamp] for file, stamp in self.files.items()},
            "digests": {**digests},
            # Any later change of a file of events would change its status on the disk.
            "settled": all(stamp[3] / 1e9 < self.began - _SETTLED for stamp in self.files.values()),
            "told": dict(told),
        }

    def supports(self, run: Path, exact: str, head: Mapping[str, Any]) -> bool:
        """Return True if a file with this head rests on the same. Raises OSError, LookupError and TypeError."""
        if head["exact"] != exact:
            return False
        if head["files"] == self.files and head["settled"]:
            return True
        sizes = {name: stamp[0] for name, stamp in self.files.items()}
        if sizes != {name: stamp[0] for name, stamp in head["files"].items()}:
            return False
        return bool(self._digests_of(run) == head["digests"])

    def _digests_of(self, run: Path) -> dict[str, str]:
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


def write_hashed(run: Path, name: str, data: memoryview) -> None:
    """Write a file of `columns/`, after a hash of its content. Nothing is written if the folder is a link. Raises
    OSError."""
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    if not folder.is_symlink():
        pieces = (bytes(data[at : at + _AT_ONCE]) for at in range(0, len(data), _AT_ONCE))
        write_safely(folder / name, (hashlib.blake2b(data, digest_size=_HASH).digest(), *pieces))


@contextmanager
def open_hashed(run: Path, name: str) -> Iterator[BinaryIO]:
    """Open a file of `columns/` behind its hash. Raises OSError, HarvestError, and ValueError if the content has
    another hash."""
    with open_inside(run, f"{FOLDER}/{name}") as file:
        wanted, found = file.read(_HASH), hashlib.blake2b(digest_size=_HASH)
        while block := file.read(_AT_ONCE):
            found.update(block)
        if found.digest() != wanted:
            raise ValueError(f"{name} was changed")
        file.seek(_HASH)
        yield file
