"""Reports of runs, made when somebody opens them, and kept until a run changes."""

import asyncio
import contextlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

from harvest.report.document import make_report
from harvest.report.page import Page, page
from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.blessed_run import find_blessed_run
from harvest.systems.timing import REAL_CLOCK
from harvest.viewing.listing import ListedRun, Listing
from recordings.files.times import stamp
from recordings.log.run_folder import event_file_sizes, read
from topics.errors import InputError
from topics.regular_file import list_entries, read_inside

# Reports that are kept.
_MOST_KEPT = 8

# The name of every report's page, without its suffix.
NAME = "report"

_Result = TypeVar("_Result")

PICTURE = r"evidence/[0-9a-f]{2}/[0-9a-f]{40}\.(?:png|jpg|webp)"
_KINDS = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


class Reports:
    """The reports of the runs in `listing`."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._kept: OrderedDict[tuple[str, ...], tuple[object, Page]] = OrderedDict()
        self._making = asyncio.Lock()

    async def make(self, keys: Sequence[str]) -> Page:
        """Return the report of one run, with the baseline and history if it was watched, or of several runs. Raises
        HarvestError if a run cannot be read, or if the runs cannot be compared."""
        runs = self._runs(keys)
        name = tuple(keys)
        async with self._making:  # one at a time: each takes a processor, and memory
            state = await asyncio.to_thread(self._state, runs)
            if name not in self._kept or self._kept[name][0] != state:
                self._kept[name] = (state, await in_background(lambda: self._make(runs)))
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(name)
            return self._kept[name][1]

    def file(self, keys: Sequence[str], name: str) -> str | None:
        """Return the text of a file of conversations of a report that was made, or None."""
        found = self._kept.get(tuple(keys))
        return found[1].files.get(name) if found else None

    def picture(self, keys: Sequence[str], path: str) -> tuple[bytes, str] | None:
        """Return a screenshot of one of the runs, or of a blessed run beside them, and its media type, or None. `path`
        is relative to the folder."""
        runs = self._runs(keys)
        beside = [one for one in self._listing.runs.values() if runs and path.startswith(f"{one.path}/")]
        for run in (*runs, *beside):
            name = path if run.path == "." else path.removeprefix(f"{run.path}/")
            if re.fullmatch(PICTURE, name):
                with contextlib.suppress(OSError):
                    return read_inside(self._listing.folder / run.path, name), _KINDS[name.rpartition(".")[2]]
        return None

    def _runs(self, keys: Sequence[str]) -> list[ListedRun]:
        runs = self._listing.runs
        return [runs[key] for key in keys if key in runs] if all(key in runs for key in keys) else []

    def _watch(self, run: ListedRun) -> tuple[Path, Path] | None:
        """Return the baseline and the history by which a run was judged, or None if they are not there any more."""
        found = self._listing.watched().get(run.key)
        if found is None or not found[0].baseline:
            return None
        history, look = found
        baseline = self._listing.folder / history.baseline
        with contextlib.suppress(InputError):
            if read_baseline(baseline).identity == look.baseline:
                return baseline, self._listing.folder / history.path
        return None

    def _state(self, runs: Sequence[ListedRun]) -> object:
        """Return a value that changes with everything of which a report is made."""
        found: list[object] = []
        for run in runs:
            folder = self._listing.folder / run.path
            files = [
                folder / "run.json",
                *list_entries(folder, "judgments", "*"),
                *list_entries(folder, "decisions", "*"),
            ]
            watch = self._watch(run) if len(runs) == 1 else None
            seen = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in (*files, *(watch or ()))]
            found.append((event_file_sizes(folder), seen))
        return found

    def _make(self, runs: Sequence[ListedRun]) -> Page:
        folder = self._listing.folder
        read_runs = [read(folder / run.path) for run in runs]
        watch = self._watch(runs[0]) if len(runs) == 1 else None
        command = ["harvest", "report", *(str(run.path) for run in read_runs), "--out", f"{NAME}.html"]
        if watch is not None:
            command += ["--baseline", str(watch[0]), "--history", str(watch[1])]
        report = make_report(
            read_runs,
            beside=folder,
            baseline=watch[0] if watch else None,
            history=watch[1] if watch else None,
            before=find_blessed_run(read_baseline(watch[0]), watch[0].parent, read_runs[0].path) if watch else None,
            made=stamp(REAL_CLOCK.now())[:19] + "Z",
            command=command,
        )
        return page(report, NAME)


def _seen(file: Path) -> tuple[str, int, int]:
    try:
        found = file.stat()
    except OSError:
        return str(file), 0, -1
    return str(file), found.st_mtime_ns, found.st_size


async def in_background(work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`, which may take minutes. Unlike `asyncio.to_thread`, its thread does not keep the
    program from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Result] = loop.create_future()

    def tell(result: _Result | None, fault: BaseException | None) -> None:
        if done.done():  # nobody waits for it any more
            return
        if fault is not None:
            done.set_exception(fault)
        else:
            done.set_result(cast(_Result, result))

    def run() -> None:
        result, fault = None, None
        try:
            result = work()
        except BaseException as found:
            fault = found
        with contextlib.suppress(RuntimeError):  # the program has ended
            loop.call_soon_threadsafe(tell, result, fault)

    threading.Thread(target=run, daemon=True).start()
    return await done
