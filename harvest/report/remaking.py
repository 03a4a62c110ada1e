"""Verification of a report: it is made again from its recordings, offline, and every byte is compared."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from harvest.report.document import make_report
from harvest.report.page import page
from recordings.checking.chain_check import recording_hash
from recordings.files.errors import describe_fault
from recordings.log.header import software
from recordings.log.run_folder import is_run, read
from scoring.library import unasked_plug_ins
from topics.errors import InputError, Place
from topics.regular_file import missing_advice, read_regular

_ORIGIN_SCRIPT = re.compile(r'<script type="application/json" id="from">(.*?)</script>', re.DOTALL)
_CHUNKS = re.compile(r"\d{4,}\.js")
_SHOWN_BYTES = 60  # bytes of a line that differs
_REPORT_ADVICE = "name a run folder, or a page written by harvest report RUN… --out FILE.html"
_MOST = 20  # the number of lines to name
# Of a run that is looked for in a text: two characters, and a letter among them. Figures and systems are 9 or A.
_NAME = re.compile(r"(?=.*[^\W\d_])..")


@dataclass(frozen=True, slots=True)
class Origin:
    """The sources of a report, as recorded in the page.

    `runs` are the folders of the runs, and `named` their paths when the report was made. `gone` are folders that no
    longer exist, and `changed` are folders with a changed recording. `others` describes differences in the versions
    of software. `measures` is a sentence about measures that installed packages have added or removed since, or "".
    `said` is the recorded JSON value.
    """

    runs: tuple[Path, ...]
    named: tuple[str, ...]
    gone: tuple[Path, ...]
    changed: tuple[Path, ...]
    others: tuple[str, ...]
    measures: str
    said: Mapping[str, Any]


def origin(report: Path) -> Origin:
    """Read the sources of a report. Raises InputError for a file that is not a report, and for a report of an earlier
    version that does not record its sources."""
    try:
        html = read_regular(report).decode("utf-8")
    except OSError as fault:
        advice = missing_advice(report) if isinstance(fault, FileNotFoundError) else _REPORT_ADVICE
        raise InputError(
            f"cannot be read: {describe_fault(fault)[0]}", place=Place(str(report)), advice=advice
        ) from None
    except ValueError:
        raise InputError("a report must be UTF-8 text", place=Place(str(report)), advice=_REPORT_ADVICE) from None
    found = _ORIGIN_SCRIPT.search(html)
    try:
        said = json.loads(found[1]) if found else {"runs": ()}
        runs = [_locate_run(report, one) for one in said["runs"]]
        then, others_then = dict(said.get("software") or {}), set(said.get("measures") or ())
    except (ValueError, KeyError, TypeError):
        runs = []
    if not runs:
        raise InputError(
            "this report does not record the runs from which it was made",
            place=Place(str(report)),
            advice=_REPORT_ADVICE,
        )
    gone = tuple(path for path, _, _ in runs if not is_run(path))
    changed = tuple(path for path, _, known in runs if path not in gone and recording_hash(path) != known)
    # A report shows the measures that installed packages add, so without the same ones it cannot be made again.
    others_now = set(unasked_plug_ins())
    parts = [
        f"{how} {', '.join(sorted(names))}"
        for how, names in (
            ("now there is also", others_now - others_then),
            ("now there is no", others_then - others_now),
        )
        if names
    ]
    measures = f"made with other measures of installed packages: {'; '.join(parts)}" if parts else ""
    now = software()
    others = tuple(f"{name} {then.get(name)} then, {now.get(name)} now" for name in now if now[name] != then.get(name))
    paths, names = tuple(path for path, *_ in runs), tuple(name for _, name, _ in runs)
    return Origin(paths, names, gone, changed, others, measures, said)


def _locate_run(report: Path, one: Mapping[str, Any]) -> tuple[Path, str, str]:
    """Return the current path of a run, its recorded path and its recorded hash. The path relative to the page is
    preferred, because the page and its runs are usually moved or copied together. If that path has no run, only the
    page was moved, and the run is at its recorded path."""
    named, known = str(one["named"]), str(one["recording"])
    beside, there = Path(os.path.normpath(Path.cwd() / report.parent / one["path"])), Path(named)
    if is_run(there) and (not is_run(beside) or there.samefile(beside)):
        return there, named, known
    return beside, named, known


def report_differences(report: Path, known: Origin) -> Iterator[str]:
    """Make the report again, and yield a sentence for each difference in the page or its files."""
    said = known.said
    schema = said.get("schema")
    if schema and (report.parent / schema).is_file():  # else the name of a schema that is shipped
        schema = str(report.parent / schema)
    before = _locate_run(report, said["before"]) if said.get("before") else None
    again = make_report(
        [read(path) for path in known.runs],
        beside=report.parent,
        baseline=report.parent / said["baseline"] if said.get("baseline") else None,
        history=report.parent / said["history"] if said.get("history") else None,
        before=before[0] if before else None,
        matters=said["matters"],
        seed=said["seed"],
        schema=schema,
        judges=said.get("judges"),
        folding=said.get("judgments"),
        sources=report.parent / said["sources"] if said.get("sources") else None,
        made=said["made"],
        command=said["command"],
    )
    made = page(again, report.stem)
    named = [*zip(known.named, known.runs, strict=True), *([(before[1], before[0])] if before else ())]
    moved = [(name, str(path)) for name, path in named if name != str(path)]
    yield from _line_differences(report.name, report.read_bytes(), made.html.encode(), moved)
    for name, text in made.files.items():
        file = report.parent / name
        if not file.is_file():
            yield f"{name}: gone"
        else:
            yield from _line_differences(name, file.read_bytes(), text.encode(), moved)
    beside = report.with_name(f"{report.stem}-files")
    for file in sorted(beside.glob("*.js")) if beside.is_dir() else ():
        if _CHUNKS.fullmatch(file.name) and f"{beside.name}/{file.name}" not in made.files:
            yield f"{beside.name}/{file.name}: it does not belong to this report"


def _line_differences(name: str, there: bytes, made: bytes, moved: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each line that differs between two texts. `moved` has pairs of the old and new path of a
    run. A new path is not a difference, unless a folder's name is so short that it may occur by chance."""
    for place, (was, now) in enumerate(moved):
        if was == now:
            continue
        if not all(_NAME.search(Path(path).name) for path in (was, now)):
            yield (
                f"{name}: the run {was!r} is called {now!r} now, and so short a name may mean something else: "
                "what it is compared with is not known until the folder has its name again"
            )
            continue
        mark = f"(run {place})".encode()
        there, made = _mask_names(mark, (was, now), there), _mask_names(mark, (was, now), made)
    if there == made:
        return
    count = 0
    for number, (one, other) in enumerate(zip_longest(there.split(b"\n"), made.split(b"\n")), 1):
        if one == other:
            continue
        count += 1
        if count <= _MOST:
            if one is None or other is None:
                words = "this line is missing" if one is None else "this line does not belong here"
            else:
                pairs = enumerate(zip(one, other, strict=False))
                start = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
                begin = max(0, start - 20)
                parts = (text[begin : start + _SHOWN_BYTES].decode("utf-8", "replace") for text in (one, other))
                words = "column {}: {!r}, and the recordings give {!r}".format(start + 1, *parts)
            yield f"{name}:{number}: {words}"
    if count > _MOST:
        yield f"{name}: {count - _MOST} more lines"


def _mask_names(mark: bytes, names: Sequence[str], text: bytes) -> bytes:
    """Replace the paths of a run and the names of its folders with `mark` wherever they are whole words."""
    # Paths go first, because they end in that part.
    for path in sorted({*names, *(Path(name).name for name in names)} - {""}, key=len, reverse=True):
        text = re.sub(rb"(?<![\w.-])" + re.escape(path.encode()) + rb"(?![\w-]|\.\d)", lambda _: mark, text)
    return text
