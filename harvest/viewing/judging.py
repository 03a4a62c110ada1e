"""Judging pages that are opened from the view, each served by a `harvest judge page` of its own.

The command saves decisions in the run, and is stopped with the view. Its links are read from what it prints.
"""

import asyncio
import contextlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from scoring.swan.schema import load_schema
from topics.errors import InputError

# Seconds until the command must have printed its link, and must have ended.
_PATIENCE, _ENDING = 120.0, 5.0

# Lines of the command that are kept for a message.
_MOST_LINES = 20

_LINK = re.compile(r"  .+  (http://127\.0\.0\.1:[0-9]+/#[A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class JudgingPage:
    """A judging page that is open. `author` judges by `criterion`, on `sample` rows, or on all if it is 0."""

    author: str
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

    @staticmethod
    def criteria() -> list[str]:
        """Return the names of the criteria by which people may judge."""
        return [one.name for one in load_schema("sakai-2023") if one.may_score("human")]

    def page(self, key: str) -> JudgingPage | None:
        """Return the page that is open for a run, or None."""
        found = self._pages.get(key)
        return found if found is not None and found.process.returncode is None else None

    async def open(self, key: str, run: Path, author: str, criterion: str, sample: int) -> JudgingPage:
        """Open a page for one person, unless it is open. Raises InputError with the message of the command if it
        refuses, and if the run has another page."""
        async with self._opening:
            found = self.page(key)
            if found is not None and (found.author, found.criterion, found.sample) == (author, criterion, sample):
                return found
            if found is not None:
                raise InputError(
                    f"{found.author} has a page open on {found.criterion}", advice="close this page before another"
                )
            given = [f"--author={author}", f"--criterion={criterion}", *([f"--sample={sample}"] if sample else [])]
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
            self._pages[key] = JudgingPage(author, criterion, sample, link, process, reading)
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
