"""The runs and histories in a folder and its subfolders.

The list is made from the headers of the runs alone, so a thousand runs are listed at once. Every run and every history
has a key: a random word that stands for its path in addresses and cannot be guessed.
"""

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harvest.studies.watch.history import Look, whole_history
from recordings.events.event_lines import check_format
from recordings.files.errors import RunError
from recordings.log.header import FORMAT, read_header
from topics.errors import HarvestError, Place
from topics.regular_file import read_inside

# Levels of subfolders in which runs are looked for, and the most folders that are looked into.
_DEEPEST = 6
_MOST_FOLDERS = 20_000

_HISTORY, _BASELINE = ".history.jsonl", ".baseline.json"

# What a look found, the most serious first.
VERDICTS = (
    "changed",
    "could not be measured",
    "alarm",
    "fell",
    "rose",
    "perhaps back",
    "cannot tell",
    "back",
    "same",
)


_NOTHING = (0, -1)


class _Hashes(Struct):
    topics: dict[str, str] = {}


class _Facts(Struct):
    """The part of `run.json` that a list shows."""

    format: Any = None
    created_at: str = ""
    audit: Any = None
    systems: dict[str, msgspec.Raw] = {}
    hashes: _Hashes = msgspec.field(default_factory=_Hashes)


_FACTS = msgspec.json.Decoder(_Facts)


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in the list. `path` is relative to the folder, and "." for the folder itself. `fault` says why the header
    cannot be read, or is ""."""

    key: str
    path: str
    audit: str = ""
    created_at: str = ""
    systems: tuple[str, ...] = ()
    topics: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ListedHistory:
    """A history in the list, with its looks in order of time. `baseline` is the path of the baseline beside it, or ""
    if there is none. `fault` says why the history cannot be read, or is ""."""

    key: str
    path: str
    baseline: str = ""
    looks: Sequence[Look] = ()
    fault: str = ""


@dataclass(slots=True)
class Listing:
    """The runs and histories below `folder`. Links are not followed. `complete` is false if there are more folders than
    are looked into."""

    folder: Path
    runs: dict[str, ListedRun] = field(default_factory=dict)
    histories: dict[str, ListedHistory] = field(default_factory=dict)
    complete: bool = True
    _keys: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)  # by file: when it was changed, and its size
    _folders: dict[str, tuple[int, int]] = field(default_factory=dict)  # the same of folders that are not runs

    def refresh(self) -> set[str]:
        """Look for new, changed and removed runs and histories, and return their keys."""
        before, there = self._seen, dict[str, tuple[int, int]]()
        self._folders = {}
        for path, names in self._walk():
            for name in names:
                at = f"{path}/{name}" if path else name
                if (seen := self._stat(at)) != _NOTHING:
                    there[at] = seen
        self._seen = there
        changed = {at for at in before.keys() | there.keys() if before.get(at) != there.get(at)}
        for at in changed:
            key = self._key(at)
            self.runs.pop(key, None)
            self.histories.pop(key, None)
            if at in there and at.endswith(_HISTORY):
                self.histories[key] = self._history(key, at)
            elif at in there:
                self.runs[key] = self._run(key, at.removesuffix("run.json").rstrip("/") or ".")
        return set(map(self._key, changed))

    def is_stale(self) -> bool:
        """Return whether a run or a history was added to a known folder or removed from it, or a history has grown.
        This is much quicker than `refresh`."""
        return any(self._stat(path) != seen for path, seen in self._folders.items()) or any(
            self._stat(one.path) != self._seen[one.path] for one in self.histories.values()
        )

    def stat_run(self, run: ListedRun) -> tuple[int, int]:
        """Return when the folder of a run was changed, and its size. Both change when a process begins to write."""
        return self._stat(run.path)

    def _stat(self, at: str) -> tuple[int, int]:
        try:
            # A path would take longer to make than to look at, and there are thousands.
            found = os.stat(f"{self.folder}/{at}", follow_symlinks=not at)  # noqa: PTH116
        except OSError:
            return _NOTHING
        return found.st_mtime_ns, found.st_size

    def _walk(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each folder that has a run or histories, relative to `self.folder`, with the names of their files."""
        left = [("", 0)]
        looked = 0
        self.complete = True
        while left:
            path, depth = left.pop()
            looked += 1
            if looked > _MOST_FOLDERS:
                self.complete = False
                return
            if (f"{path}/run.json" if path else "run.json") in self._seen:  # what else is in a run does not matter
                yield path, ["run.json"]
                continue
            inside: list[tuple[str, int]] = []
            names: list[str] = []
            seen = self._stat(path)
            try:
                with os.scandir(f"{self.folder}/{path}") as entries:
                    for entry in entries:
                        if entry.name == "run.json":
                            names = ["run.json"]
                            break
                        if entry.name.endswith(_HISTORY):
                            names.append(entry.name)
                        elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                            inside.append((f"{path}/{entry.name}" if path else entry.name, depth + 1))
            except OSError:
                continue
            if names != ["run.json"]:
                self._folders[path] = seen
                left += inside if depth < _DEEPEST else ()
            if names:
                yield path, names

    def _run(self, key: str, path: str) -> ListedRun:
        folder = self.folder / path
        try:
            facts = _FACTS.decode(read_inside(folder, "run.json"))
            check_format(facts.format, FORMAT, Place("run.json"))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RunError):
            try:
                read_header(folder)
                fault = "run.json cannot be listed"
            except RunError as found:
                fault = found.what
            return ListedRun(key, path, fault=fault)
        name = facts.audit.get("name") if isinstance(facts.audit, dict) else None
        return ListedRun(
            key, path, str(name or ""), facts.created_at, tuple(facts.systems), topics=len(facts.hashes.topics)
        )

    def _history(self, key: str, path: str) -> ListedHistory:
        baseline = path.removesuffix(_HISTORY) + _BASELINE
        baseline = baseline if (self.folder / baseline).is_file() else ""
        try:
            return ListedHistory(key, path, baseline, whole_history(self.folder / path).looks)
        except HarvestError as fault:
            return ListedHistory(key, path, baseline, fault=str(fault).splitlines()[0])

    def _key(self, path: str) -> str:
        return self._keys.setdefault(path, secrets.token_hex(16))

    def watched(self) -> Mapping[str, tuple[ListedHistory, Look]]:
        """Return the history and the look of each run that was judged, by the run's key."""
        looks = {
            (Path(look.run).name, look.at): (history, look)
            for history in self.histories.values()
            for look in history.looks
        }
        if not looks:
            return {}
        names = {one.key: (self.name_of(one), one.created_at) for one in self.runs.values()}
        return {key: looks[name] for key, name in names.items() if name in looks}

    def name_of(self, run: ListedRun) -> str:
        """Return the name of a run's folder."""
        return self.folder.resolve().name if run.path == "." else run.path.rpartition("/")[2]


def look_verdict(look: Look) -> str:
    """Return the most serious verdict on the gated figures of a look, one of `VERDICTS`."""
    words = {one.word or one.verdict for one in look.figures if one.evidence is not None}
    if any(not one.figures for one in look.systems.values()):
        words.add("could not be measured")
    return next((word for word in VERDICTS if word in words), "could not be measured")
