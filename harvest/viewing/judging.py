"""Judging pages that are opened from the view, each served by a `harvest judge page` of its own.

The command saves decisions in the run, and is stopped with the view. Its links are read from its output.
"""

import asyncio
import contextlib
import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from recordings.judged.judgments import read_layers
from scoring.swan.schema import load_schema, shipped_schemas
from topics.errors import HarvestError, InputError

# Seconds until the command must have printed its link, and must have ended.
_PATIENCE, _ENDING = 120.0, 5.0

# Lines of the command that are kept for a message.
_MOST_LINES = 20

_SCHEMA = re.compile(r"^format: *harvest-schema/", re.MULTILINE)
_LINK = re.compile(r"  .+  (http://127\.0\.0\.1:[0-9]+/#[A-Za-z0-9_-]+)")


# Files of a folder that may be schemas are looked at up to this number and size in bytes.
_MOST_FILES, _LARGEST = 50, 200_000


def offered_criteria(run: Path) -> dict[str, list[str]]:
    """Return the criteria by which people may judge a run, by schema: the schemas that come with Harvest, and the files
    beside the run. The schemas by which the run was judged come first, then the standard schema."""
    files = itertools.islice(sorted([*run.parent.glob("*.yaml"), *run.parent.glob("*.yml")]), _MOST_FILES)
    found: dict[str, list[str]] = {}
    for name in (load_schema().name, *shipped_schemas(), *map(str, filter(_is_schema, files))):
        with contextlib.suppress(InputError):  # it is named by the command that reads it
            found[name] = [one.name for one in load_schema(name) if one.may_score("human")]
    try:
        judged = {one.criterion for layer in read_layers(run) if layer.kind != "rule" for one in layer.judgments}
    except HarvestError:  # said by the page of the run
        judged = set()
    order = sorted(found, key=lambda name: -len(judged & {*found[name]}))
    return {name: found[name] for name in order if found[name]}


def _is_schema(file: Path) -> bool:
    try:
        return file.stat().st_size <= _LARGEST and _SCHEMA.search(file.read_text("utf-8")) is not None
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class JudgingPage:
    """A judging page that is open. `author` judges by `criterion` of `schema`, on `sample` rows, or on all if it is
    0."""

    author: str
    schema: str
    criterion: str
    sample: int
    link: str
    process: asyncio.subprocess.Process
    reading: asyncio.Task[None]


class JudgingPages:
    """The judging pages that are open, one for each run at most."""

    def __init__(self) -> None:
        self._pages: dict[str, JudgingPage] = {}
        self._opening = asyncio.Lock()

    def page(self, key: str) -> JudgingPage | None:
        """Return the page that is open for a run, or None."""
        found = self._pages.get(key)
        return found if found is not None and found.process.returncode is None else None

    async def open(self, key: str, run: Path, author: str, schema: str, criterion: str, sample: int) -> JudgingPage:
        """Open a page for one person, unless it is open. Raises InputError with the message of the command if it
        refuses, if the run has another page, and for a schema that is not offered."""
        if schema not in await asyncio.to_thread(offered_criteria, run):
            raise InputError(f"{schema!r} is not one of the schemas offered here")
        async with self._opening:
            found = self.page(key)
            wanted = (author, schema, criterion, sample)
            if found is not None and (found.author, found.schema, found.criterion, found.sample) == wanted:
                return found
            if found is not None:
                raise InputError(
                    f"{found.author} has a page open on {found.criterion}", advice="close this page before another"
                )
            given = [f"--author={author}", f"--schema={schema}", f"--criterion={criterion}"]
            given += [f"--sample={sample}"] if sample else []
            process = await asyncio.create_subprocess_exec(
                # -P: what lies in the working folder must not hide a package.
                *(sys.executable, "-P", "-m", "harvest", "judge", "page", *given, "--port=0", "--", str(run)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # ctrl-C is for the view, which ends the pages in order
            )
            try:
                async with asyncio.timeout(_PATIENCE):
                    link = await _read_link(process)
            except BaseException:
                await _end(process)
                raise
            reading = asyncio.create_task(_read_on(process))
            self._pages[key] = JudgingPage(author, schema, criterion, sample, link, process, reading)
            return self._pages[key]

    async def close(self, key: str) -> None:
        """Close the page of a run, if one is open."""
        found = self._pages.pop(key, None)
        if found is not None:
            await _end(found.process)
            found.reading.cancel()

    async def close_all(self) -> None:
        await asyncio.gather(*(self.close(key) for key in list(self._pages)))


async def _read_link(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    lines: list[str] = []
    while data := await process.stderr.readline():
        line = data.decode(errors="replace").rstrip("\n")
        if (found := _LINK.fullmatch(line)) is not None:
            return found[1]
        lines = [*lines, line][-_MOST_LINES:]
    raise InputError("\n".join(lines).removeprefix("error: ") or "harvest judge page ended without a word")


async def _read_on(process: asyncio.subprocess.Process) -> None:
    """Read what the command prints, so that it never waits."""
    assert process.stderr is not None
    while await process.stderr.read(2**12):
        pass


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _ENDING)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
