"""Which software wrote a run: each process that opened it says so in the first line of its file."""

from collections.abc import Mapping
from contextlib import suppress

from recordings.files.errors import RunError
from recordings.files.json_text import row_of
from recordings.log.provenance import DISTRIBUTION
from recordings.log.run_folder import OPENING, Run, event_files
from topics.errors import Place
from topics.regular_file import read_inside


def harvest_versions(run: Run) -> tuple[str, ...]:
    """The versions of Harvest that recorded `run`, sorted; () where none is known, as of an import by hand.

    Of a merged run those of its parts; of one whose pages were read again those that recorded it, not the reader.
    """
    source = run.header.source
    if isinstance(source, Mapping) and isinstance(source.get("recorded_with"), list):
        return tuple(sorted(map(str, source["recorded_with"])))
    said: list[object] = [run.header.software, *(_of(change) for change in run.header.changes)]
    if run.header.parts:
        said = [_of(part) for part in run.header.parts]
    for file in event_files(run.path):
        with suppress(OSError, RunError):  # what is damaged is said where the run is read
            first = read_inside(run.path, file.name, OPENING).partition(b"\n")[0]
            said.append(_of(row_of(first, Place(str(file), 1))))
    found = {str(one.get(DISTRIBUTION, "")) for one in said if isinstance(one, Mapping)}
    return tuple(sorted(found - {""}))


def _of(value: object) -> object:
    return value.get("software") if isinstance(value, Mapping) else None
