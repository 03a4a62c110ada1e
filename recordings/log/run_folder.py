"""Reading of a run folder: every recorded attempt, and the errors in the files. Reading changes nothing and needs no
lock, so a run can be read while it is being written."""

import os
import shlex
import stat
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.events.attempts import Attempt, Attempts
from recordings.events.event_lines import FORMAT, check_format, decode
from recordings.events.events import Event, Failed
from recordings.events.typed_lines import decode_line, decode_lines
from recordings.files.digests import read_object
from recordings.files.errors import RunError
from recordings.files.json_text import BLOCK, Json, parse_row, read_blocks, read_unended
from recordings.files.stored_lines import files_of_lines, has_lines, read_lines, size_of_lines
from recordings.log.chain import closed_lines
from recordings.log.header import DISTRIBUTION, Header, read_header, topic_order
from topics.counting import plural, pluralize
from topics.errors import Place
from topics.html_table import html_table
from topics.regular_file import open_inside


@dataclass(frozen=True, repr=False)
class Run:
    """A run as read from its folder.

    `path` is the folder. `header` is the content of `run.json`: audit, systems, topics, protocol and seed. `attempts`
    are ordered by system, topic, trial and attempt; systems and topics are in the order of the header, with other names
    after them. `damage` describes incomplete last lines and unknown events in sentences; it is () for an intact run.
    """

    path: Path
    header: Header
    attempts: tuple[Attempt, ...]
    damage: tuple[str, ...]

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        """Every attempt as a conversation: valid, invalid and interrupted ones."""
        return tuple(attempt.conversation() for attempt in self.attempts)

    @cached_property
    def finished(self) -> tuple[Conversation, ...]:
        """The first valid attempt of each trial that has a valid attempt."""
        return first_valid(self.conversations)

    @cached_property
    def interrupted(self) -> tuple[Conversation, ...]:
        """Attempts without an end, because the writer was stopped or is still running."""
        return tuple(conversation for conversation in self.conversations if conversation.outcome is None)

    @property
    def failures(self) -> tuple[Failed, ...]:
        """Failures of connections to systems, in the order of the attempts."""
        return tuple(failure for attempt in self.attempts for failure in attempt.failures)

    def __repr__(self) -> str:
        counts = _count_attempts(self.attempts)
        return f"<Run {self.path.name}: {', '.join(pluralize(n, kind) for kind, n in counts.items())}>"

    def _repr_html_(self) -> str:
        by_system: dict[str, list[Attempt]] = {name: [] for name in self.header.systems}
        for attempt in self.attempts:
            by_system.setdefault(attempt.started.key.system, []).append(attempt)
        kinds = list(_count_attempts(self.attempts))
        counted = {name: _count_attempts(attempts) for name, attempts in by_system.items()}
        rows = ([name, *(str(counts.get(kind, 0)) for kind in kinds)] for name, counts in counted.items())
        return html_table(repr(self)[1:-1], ["system", *map(plural, kinds)], rows)


def _count_attempts(attempts: Sequence[Attempt]) -> Mapping[str, int]:
    """Count finished trials and their topics, and invalid and interrupted attempts if there are any."""
    finished = {attempt.started.key for attempt in attempts if attempt.valid}
    failed = Counter(
        "invalid attempt" if attempt.has_ended else "interrupted attempt" for attempt in attempts if not attempt.valid
    )
    return {"finished trial": len(finished), "topic": len({key.topic for key in finished}), **failed}


def first_valid(conversations: Iterable[Conversation]) -> tuple[Conversation, ...]:
    """Return the first valid attempt of each trial. The attempts of a trial must be in order."""
    found: dict[TrialKey, Conversation] = {}
    for conversation in conversations:
        if conversation.valid:
            found.setdefault(conversation.key, conversation)
    return tuple(found.values())


def is_run(path: str | PathLike[str]) -> bool:
    """Return True if `path` is a run folder of any version."""
    return (Path(path) / "run.json").is_file()


def enclosing_run(folder: Path) -> Path | None:
    """Return the run folder that is or contains `folder`, with links resolved, or None if there is no run."""
    whole = Path(os.path.realpath(folder))
    return next((one for one in (whole, *whole.parents) if os.path.lexists(one / "run.json")), None)


def read(
    path: str | PathLike[str],
    *,
    keep_rows: bool = False,
    turns_of: Container[str] | None = None,
    spoken: bool = False,
) -> Run:
    """Read the run in the folder `path`.

    With `keep_rows`, the lines of every attempt are kept for copying. `turns_of` saves memory if only outcomes are
    needed: it lists the systems whose ended attempts keep their turns and failures; None means all systems. `spoken`
    saves time and memory if only `Attempt.spoken` is needed; ended attempts then cannot become conversations. Raises
    RunError, with file and line, for every error except an incomplete last line: invalid lines, turns out of order,
    events of an attempt that was not started, an unknown version, a lost file of events or a lost end.
    """
    folder = Path(path)
    header = read_header(folder)
    attempts, damage = _StrictAttempts(folder, keep_rows=keep_rows, turns_of=turns_of, spoken=spoken), []
    for lost, what in lost_events(folder):
        attempts.handle_fault(RunError(what, place=Place(str(lost))), None)
    for file in event_files(folder):
        damage += read_events(file, attempts)
    return Run(folder, header, tuple(order_attempts(attempts.found.values(), header)), tuple(damage))


class _StrictAttempts(Attempts):
    """Accepts every line, or refuses the run with advice on how to save the readable attempts."""

    def __init__(self, run: Path, *, keep_rows: bool, turns_of: Container[str] | None, spoken: bool) -> None:
        super().__init__(keep_rows=keep_rows, turns_of=turns_of, spoken=spoken)
        self._run = run

    def handle_fault(self, fault: RunError, row: dict[str, Json] | None) -> None:
        if fault.advice:
            raise fault
        away = self._run / ".." if self._run.name in ("", "..") else self._run.parent
        out = away / f"{self._run.resolve().name}-salvaged"
        command = shlex.join(["harvest", "data", "merge", str(self._run), "--salvage", "--out", str(out)])
        raise RunError(
            fault.what,
            place=fault.place,
            allowed=fault.allowed,
            advice=f"{command}\n      saves every readable attempt in a new run; this run is not changed",
        )


# More bytes than the opening line of a file of events ever takes.
OPENING = 2**16


def event_files(run: Path) -> list[Path]:
    """Return the files of events in a run folder, in the order in which each worker began them. A compacted
    file only exists as a segment, which `recordings.files.stored_lines` reads."""
    return files_of_lines(run, "trials-*.jsonl")


def count_begun_files(run: Path) -> int:
    """Count the files of events that have more than their opening line; 0 means that nothing was recorded. Unreadable
    files are not counted, because they are reported when the run is read."""
    count = 0
    for file in event_files(run):
        with suppress(OSError):
            _, _, rest = read_lines(run, file.name, OPENING).partition(b"\n")
            count += bool(rest)
    return count


def event_file_sizes(run: str | PathLike[str]) -> dict[str, int]:
    """Return the size in bytes of each file of events in a run folder, by name. Files only grow, so equal sizes mean
    that nothing was recorded in between."""
    return {file.name: size_of_lines(file) for file in event_files(Path(run))}


def read_events(file: Path, attempts: Attempts, *, block_size: int = BLOCK, mend: bool = False) -> list[str]:
    """Add the events of a file to `attempts`, reading `block_size` bytes at a time; `mend` is as in `open_lines`. Lines
    that cannot be read are passed to `attempts`. Other errors are returned as sentences: an incomplete last line, an
    empty file, unknown events. Raises RunError if the file cannot be read, if its version is unknown, or if `attempts`
    raises it."""
    reading = _Reading(file.name.removeprefix("trials-").removesuffix(".jsonl"), attempts)
    name, first, whole, lines = str(file), True, True, 0
    closed = closed_lines(file)  # first: while it is not closed, a writer may add lines
    for number, ends, data in read_blocks(file, file.parent, size=block_size, mend=mend):
        block, whole, lines = data, bool(ends), number - 1 + ends
        if first:
            opening, end, block = data.partition(b"\n")
            reading.read_block(opening, Place(name, number), ended=bool(end), begins=True)
            first, number, ends = False, number + 1, ends - 1
        rows = None if attempts.keep_rows else decode_lines(block, ends)
        if rows is None:
            *ended, rest = block.split(b"\n")
            for at, line in enumerate(ended, number):
                reading.read_block(line, Place(name, at))
            if rest:
                reading.read_block(rest, Place(name, number), ended=False)
            continue
        at = 0
        while at < len(rows):
            after = attempts.add_lines(rows, at, reading.worker)
            if after == at:
                reading.add_event(rows[at].event(), Place(name, number + at))
                after += 1
            at = after
    damage = reading.damage
    lines += not whole and not damage  # only its end is missing
    if not first and closed is not None and lines < closed:
        gone, all_lines = pluralize(closed - lines, "line"), pluralize(closed, "line")
        what = f"its end is lost: it was closed with {all_lines}, as its chain says; missing: {gone}"
        attempts.handle_fault(RunError(what, place=Place(name, lines + 1)), None)
    if first:
        damage = [f"{file} is empty: its writer was stopped before its first line, or it was emptied"]
    damage += [
        f"{place}: events {kind!r} are not known here and were left out" for kind, place in reading.unknown.items()
    ]
    return damage


class _Reading:
    """Distributes the lines of one file to their attempts. `damage` has sentences on the damage so far. `unknown` has
    the kinds of unknown events, with the first place of each kind."""

    def __init__(self, worker: str, attempts: Attempts) -> None:
        self.worker, self._attempts = worker, attempts
        self.damage: list[str] = []
        self.unknown: dict[str, Place] = {}

    def read_block(self, data: bytes, place: Place, *, ended: bool = True, begins: bool = False) -> None:
        attempts = self._attempts
        event = decode_line(data) if ended and not begins and not attempts.keep_rows else None
        if event is not None:
            self.add_event(event, place)
            return
        row: dict[str, Json] | None = None
        try:
            if ended:
                row = parse_row(data, place)
            else:
                row, torn = read_unended(data, place)
                if row is None:
                    self.damage.append(torn)
                    return
            if begins:
                if row.get("event") == "opened":
                    check_format(row.get("format"), FORMAT, place)
                    attempts.begin_file(row, place)
                    return
                attempts.handle_fault(RunError("the file does not begin with an opened line", place=place), None)
            event = decode(row, place)
            if event is None:
                self.unknown.setdefault(str(row["event"]), place)
            else:
                attempts.add_event(event, row, self.worker, place)
        except RunError as fault:
            attempts.handle_fault(fault, row)

    def add_event(self, event: Event, place: Place) -> None:
        try:
            self._attempts.add_event(event, {}, self.worker, place)
        except RunError as fault:
            self._attempts.handle_fault(fault, None)


def order_attempts(attempts: Iterable[Attempt], header: Header) -> list[Attempt]:
    """Order attempts by system, topic, trial and attempt, as in `Run`."""
    systems = {name: i for i, name in enumerate(header.systems)}
    topics = topic_order(header)

    def rank(attempt: Attempt) -> tuple[object, ...]:
        key = attempt.started.key
        return (
            systems.get(key.system, len(systems)),
            key.system,
            topics.get(key.topic, len(topics)),
            key.topic,
            key.trial,
            attempt.started.attempt,
            attempt.started.trial_id,
        )

    return sorted(attempts, key=rank)


def harvest_versions(run: Run) -> tuple[str, ...]:
    """Return the sorted versions of Harvest that recorded `run`, or () if unknown, as for an import by hand. A merged
    run has the versions of its parts. A reread run has the versions that recorded the original."""
    source = run.header.source
    if isinstance(source, Mapping) and isinstance(source.get("recorded_with"), list):
        return tuple(sorted(map(str, source["recorded_with"])))
    said: list[object] = [run.header.software, *(_software_of(change) for change in run.header.changes)]
    if run.header.parts:
        said = [_software_of(part) for part in run.header.parts]
    for file in event_files(run.path):
        with suppress(OSError, RunError):  # damage is reported when the run is read
            first = read_lines(run.path, file.name, OPENING).partition(b"\n")[0]
            said.append(_software_of(parse_row(first, Place(str(file), 1))))
    found = {str(one.get(DISTRIBUTION, "")) for one in said if isinstance(one, Mapping)}
    return tuple(sorted(found - {""}))


def _software_of(value: object) -> object:
    return value.get("software") if isinstance(value, Mapping) else None


def lost_events(run: Path) -> Iterator[tuple[Path, str]]:
    """Yield each lost file of events in the run folder `run`, with a sentence on the loss."""
    with os.scandir(run) as inside:
        # Read the size after the chain: a writer may be running, and files only grow.
        names = sorted(entry.name for entry in inside if entry.name.startswith("trials-"))
    for name in names:
        file = run / name
        if file.suffix in (".chain", ".links"):
            events = file.with_suffix(".jsonl")
            if not has_lines(events):
                yield events, f"this file of events is missing, but its chain ({name}) is still here"
        elif file.suffix == ".jsonl" and _is_empty(file) and _had_lines(file, names) and _is_empty(file):
            yield file, "this file of events is empty, but a chain shows that it had lines"


def _is_empty(file: Path) -> bool:
    try:
        found = file.lstat()
    except OSError:  # reported when it is read
        return False
    return stat.S_ISREG(found.st_mode) and not found.st_size


def _had_lines(events: Path, names: list[str]) -> bool:
    if closed_lines(events) is not None:
        return True
    for name in names:
        if name.endswith((".chain", ".links")):
            try:
                with open_inside(events.parent, name) as file:
                    opening = read_object(file.readline()) or {}
            except OSError:
                continue
            before = opening.get("before")
            said = before.get(events.name) if isinstance(before, dict) else None
            if isinstance(said, dict) and said.get("bytes"):
                return True
    return False
