"""The news of the page: the list of runs, and the progress of runs that are being played.

Everything is read from the files, about once a second, and only while somebody has the page open. A run is being
played if a process holds its lock.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from harvest.systems.timing import REAL_CLOCK, Clock
from harvest.viewing.listing import ListedHistory, ListedRun, Listing, look_verdict
from harvest.viewing.tally import CountedAttempt, SystemCounts, Tally
from recordings.conversations.endings import shown_end
from recordings.files.json_text import Json
from recordings.files.lock import is_locked
from recordings.log.header import read_header
from recordings.log.shard import planned_trials
from topics.errors import InputError

# Seconds between two looks at the files.
_PAUSE = 0.8

# Runs that are counted at a time, by a thread; then the list shows them.
_BATCH = 20

# Runs that changed last, and runs of the whole list, that are looked at each time: fewer while a run is being played,
# because to look at a hundred takes longer than to read and send its trials.
_MOST_RECENT = 50
_FEWEST = 10

# Of a run that is being played: the attempts and reasons that are told at a time. Of a history: the looks.
_MOST_ATTEMPTS, _MOST_REASONS, _MOST_LOOKS = 12, 5, 60

# Attempts that are listed when somebody opens a run.
_MOST_LISTED = 20_000

# News that may wait for one page. A page that reads none for so long is disconnected, and starts again.
_MOST_WAITING = 500

News = dict[str, Json]


@dataclass(frozen=True, slots=True)
class _Counted:
    """A run with its tally. `planned` has the number of planned trials by system."""

    tally: Tally
    planned: Mapping[str, int]
    fault: str = ""

    @property
    def left(self) -> dict[str, int]:
        """The number of planned trials without a valid attempt, by system that has any."""
        systems = self.tally.systems
        found = {
            name: planned - (systems[name].done if name in systems else 0) for name, planned in self.planned.items()
        }
        return {name: left for name, left in found.items() if left > 0}

    @property
    def due(self) -> float | None:
        """When the last system will have ended, in seconds since 1970, or None if that cannot be told yet."""
        systems = self.tally.systems
        ends = [systems[name].expected_end(left) if name in systems else math.nan for name, left in self.left.items()]
        return max(ends) if ends and not any(map(math.isnan, ends)) else None


class Follower:
    """Follows the runs in `listing` while `follow` runs. Each page that is open iterates over `news`."""

    def __init__(self, listing: Listing, clock: Clock = REAL_CLOCK) -> None:
        self.listing, self._clock = listing, clock
        self._rows: dict[str, News] = {}
        self._histories: list[Json] = []
        self._playing: dict[str, _Counted] = {}
        self._folders: dict[str, tuple[int, int]] = {}
        self._recent: list[str] = []
        self._unseen: dict[str, None] = {}  # runs in the list whose folders were not looked at yet
        self._looks = 0
        self._uncounted: dict[str, None] = {}
        self._pages: set[asyncio.Queue[News | None]] = set()
        self._open, self._listed, self._countable = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def news(self) -> AsyncIterator[News]:
        """Yield the whole list, and then its changes. Ends with `follow`."""
        await self._listed.wait()
        queue: asyncio.Queue[News | None] = asyncio.Queue(_MOST_WAITING)
        self._pages.add(queue)
        self._open.set()
        try:
            yield {
                "folder": self.listing.folder.resolve().name,
                "complete": self.listing.complete,
                "runs": list(self._rows.values()),
                "histories": self._histories,
                "live": [self._live(key, one) for key, one in self._playing.items()],
            }
            while queue in self._pages and (one := await queue.get()) is not None:
                yield one
        finally:
            self._pages.discard(queue)

    async def details(self, key: str) -> News | None:
        """Return the counts and all attempts of a run, the latest first, or None if there is no such run."""
        run, counted = self.listing.runs.get(key), self._playing.get(key)
        if run is None:
            return None
        if counted is None:
            counted = await asyncio.to_thread(_count_run, Tally(self.listing.folder / run.path))
            counted.tally.interrupt()
        tally = counted.tally
        every = [*tally.flight.values(), *reversed(tally.past)]
        return {
            **self._live(key, counted),
            "attempts": [_attempt(one) for one in every[:_MOST_LISTED]],
            "unlisted": max(0, len(every) - _MOST_LISTED),
            "unreadable": tally.unreadable,
        }

    async def follow(self) -> None:
        """Follow the runs until cancelled; then end the news of all pages."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._refresh()
                self._listed.set()
                tasks.create_task(self._count())
                tasks.create_task(self._look())
        finally:
            for queue in self._pages:
                if queue.full():
                    queue.get_nowait()
                queue.put_nowait(None)
            self._pages.clear()

    async def _look(self) -> None:
        while True:
            if not self._pages:
                self._open.clear()
                await self._open.wait()
            await self._look_at_all()
            await self._clock.sleep(_PAUSE)

    def _tell(self, news: News) -> None:
        for queue in list(self._pages):
            try:
                queue.put_nowait(news)
            except asyncio.QueueFull:
                self._pages.discard(queue)

    async def _refresh(self) -> None:
        listing = self.listing
        changed = await asyncio.to_thread(listing.refresh)
        watched = listing.watched()
        for key, one in listing.runs.items():
            verdict = look_verdict(watched[key][1]) if key in watched else ""
            if key in changed or self._rows[key]["verdict"] != verdict:
                self._rows[key] = {**_row(listing, one), "verdict": verdict}
                if key in self._playing:
                    self._rows[key] |= {"playing": True, **_counts(self._playing[key])}
                else:
                    self._unseen[key] = None
        gone = changed - listing.runs.keys()
        for key in gone:
            for known in (self._rows, self._playing, self._uncounted, self._folders, self._unseen):
                known.pop(key, None)
        paths = {(listing.name_of(one), one.created_at): one.path for one in listing.runs.values()}
        self._histories = [_history(one, paths) for one in listing.histories.values()]
        if changed:
            self._tell(
                {
                    "runs": [self._rows[key] for key in changed & self._rows.keys()],
                    "gone": list(gone),
                    "histories": self._histories,
                    "complete": listing.complete,
                }
            )

    async def _look_at_all(self) -> None:
        """Find out which runs began, went on or ended, and which are new."""
        listing = self.listing
        if listing.is_stale():
            await self._refresh()
        moved = False
        for key, seen in [(key, listing.stat_run(listing.runs[key])) for key in self._choose_runs()]:
            changed = key in self._unseen or self._folders.get(key) != seen
            if not changed and key not in self._playing:
                continue
            one = listing.runs[key]
            self._unseen.pop(key, None)
            self._folders[key] = seen
            moved |= changed
            if key in self._playing:
                if changed:  # its plan may have been extended
                    await self._begin(key, self._playing[key].tally)
                elif _read_on(self._playing[key].tally):
                    self._tell({"live": [self._live(key, self._playing[key])]})
                elif not is_locked(listing.folder / one.path):  # what grows is being played
                    self._end(key)
            elif is_locked(listing.folder / one.path):
                await self._begin(key, Tally(listing.folder / one.path))
            else:
                self._uncounted[key] = None
                self._countable.set()
        if moved:
            self._recent = nlargest(_MOST_RECENT, self._folders, key=self._folders.__getitem__)

    def _choose_runs(self) -> list[str]:
        """Return the runs to look at now: those that are being played, that are new, and in turn some that changed last
        and some of all. To look at a thousand each time would take most of the work."""
        runs = self.listing.runs
        chosen = dict.fromkeys((*self._playing, *self._unseen))
        some = _FEWEST if self._playing else _MOST_RECENT
        for keys in (self._recent, list(runs)):
            begin = self._looks * some % max(1, len(keys))
            chosen |= dict.fromkeys(keys[begin : begin + some])
        self._looks += 1
        return [key for key in chosen if key in runs]

    async def _begin(self, key: str, tally: Tally) -> None:
        counted = self._playing[key] = await asyncio.to_thread(_count_run, tally)
        self._rows[key] |= {"playing": True, **_counts(counted)}
        self._uncounted.pop(key, None)
        self._tell({"runs": [self._rows[key]], "live": [self._live(key, counted)]})

    def _end(self, key: str) -> None:
        counted = self._playing.pop(key)
        _read_on(counted.tally)
        counted.tally.interrupt()
        self._rows[key] |= {"playing": False, **_counts(counted)}
        self._tell({"live": [self._live(key, counted)], "runs": [self._rows[key]]})

    async def _count(self) -> None:
        """Count the trials of the runs in the list, the newest first."""
        while True:
            await self._countable.wait()
            await self._open.wait()
            newest = sorted(self._uncounted, key=lambda key: str(self._rows[key]["at"]), reverse=True)[:_BATCH]
            runs = [run for key in newest if (run := self.listing.runs.get(key)) is not None]
            for key in newest:
                del self._uncounted[key]
            if not self._uncounted:
                self._countable.clear()
            if runs:
                found = await asyncio.to_thread(_count_runs, self.listing, runs)
                told = []
                for run, counted in zip(runs, found, strict=True):
                    counted.tally.interrupt()
                    if run.key in self._rows and run.key not in self._playing:
                        self._rows[run.key] |= _counts(counted)
                        told.append(self._rows[run.key])
                self._tell({"runs": told})

    def _live(self, key: str, one: _Counted) -> News:
        tally = one.tally
        flight = list(tally.flight.values())[-_MOST_ATTEMPTS:]
        latest = tally.past[-max(1, _MOST_ATTEMPTS - len(flight)) :]
        return {
            "key": key,
            "systems": [
                [name, one.planned.get(name, 0), counts.done, counts.invalid, _labels(counts.labels)]
                for name, counts in ({name: SystemCounts() for name in one.planned} | tally.systems).items()
            ],
            "failures": tally.failures.most_common(_MOST_REASONS),
            "attempts": [_attempt(attempt) for attempt in (*flight, *reversed(latest))],
            "left": sum(one.left.values()),
            "due": one.due,
        }


def _read_on(tally: Tally) -> bool:
    try:
        return tally.read_on()
    except OSError:  # the run was moved or removed, which the next look at the list finds out
        return False


def _count_runs(listing: Listing, runs: Sequence[ListedRun]) -> list[_Counted]:
    return [_count_run(Tally(listing.folder / run.path)) for run in runs]


def _count_run(tally: Tally) -> _Counted:
    fault, planned = "", Counter[str]()
    _read_on(tally)
    try:
        planned.update(key.system for key in planned_trials(read_header(tally.folder)))
    except InputError as found:
        fault = found.what
    return _Counted(tally, planned, fault)


def _row(listing: Listing, run: ListedRun) -> News:
    return {
        "key": run.key,
        "path": run.path,
        "name": listing.name_of(run),
        "audit": run.audit,
        "at": run.created_at,
        "systems": list(run.systems),
        "topics": run.topics,
        "fault": run.fault,
        "playing": False,
        "counts": None,
    }


def _counts(one: _Counted) -> News:
    found = one.tally.systems.values()
    labels: Counter[str] = Counter()
    for counts in found:
        labels.update(counts.labels)
    return {
        "fault": one.fault,
        "counts": {
            "planned": sum(one.planned.values()),
            "left": sum(one.left.values()),
            "done": sum(counts.done for counts in found),
            "invalid": sum(counts.invalid for counts in found),
            "labels": _labels(labels),
        },
    }


def _labels(counts: Mapping[str, int]) -> list[Json]:
    return [[label, count] for label, count in counts.items() if count]


def _attempt(one: CountedAttempt) -> list[Json]:
    ended = shown_end(f"{one.outcome} ({one.reason})").removesuffix(f" ({one.reason})") if one.outcome else ""
    return [one.system, one.topic, one.trial, one.attempt, one.labels, ended, one.reason]


def _history(one: ListedHistory, runs: Mapping[tuple[str, str], str]) -> News:
    return {
        "key": one.key,
        "path": one.path,
        "fault": one.fault,
        "looks": [
            [look_verdict(look), look.at, look.run, runs.get((look.run, look.at))] for look in one.looks[-_MOST_LOOKS:]
        ],
        "earlier": max(0, len(one.looks) - _MOST_LOOKS),
    }
