"""What a command tells machines, besides its exit code: options, and where each form goes.

The verdict is what counts: where a form cannot be written or sent, that is said, and the exit code stays.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

import click

from harvest.notices.bulletin import Bulletin
from harvest.notices.github import LARGEST_SUMMARY, Disarmed, annotation_lines, summary
from harvest.notices.junit import junit
from harvest.notices.prometheus import metrics
from harvest.terminal import printable
from recordings.errors import in_words
from recordings.evidence import write_safely
from topics.errors import InputError, Place

__all__ = ["Channels", "notice_options"]

_FILE = click.Path(path_type=Path, dir_okay=False)
_SUMMARY = "GITHUB_STEP_SUMMARY"


def notice_options(command: Callable[..., int]) -> Callable[..., int]:
    """--junit, --prometheus, --webhook-env and --github, which the command gets as `channels`."""

    @functools.wraps(command)
    def guarded(
        *, junit: Path | None, prometheus: Path | None, webhook_env: str | None, github: bool, **own: Any
    ) -> int:
        channels = Channels(junit, prometheus, webhook_env, github)
        channels.check(as_json=own["as_json"])
        with channels.guarded():
            return command(channels=channels, **own)

    for option in (
        click.option("--github", is_flag=True, help="Print annotations and write a step summary for GitHub Actions."),
        click.option("--webhook-env", metavar="NAME", help="Send the figures to the address in this variable."),
        click.option("--prometheus", type=_FILE, metavar="FILE", help="Write metrics for the textfile collector."),
        click.option("--junit", type=_FILE, metavar="FILE", help="Write the verdicts as JUnit XML."),
    ):
        guarded = option(guarded)
    return guarded


@dataclass(frozen=True, slots=True)
class Channels:
    """What was asked for. told: the real standard output, on which annotations are printed."""

    junit: Path | None = None
    prometheus: Path | None = None
    webhook_env: str | None = None
    github: bool = False
    told: TextIO = field(default_factory=lambda: sys.stdout)

    @property
    def any(self) -> bool:
        return bool(self.junit or self.prometheus or self.webhook_env or self.github)

    def check(self, *, as_json: bool) -> None:
        """Refuse what could not be told, before anything is played. Raises InputError."""
        if self.github and as_json:
            raise InputError("--github and --json both print on standard output", advice="give one of them")
        for path in (self.junit, self.prometheus):
            if path is not None and not path.absolute().parent.is_dir():
                raise InputError("there is no such folder", place=Place(str(path.parent)), advice="make it first")
        if self.webhook_env is not None:
            from harvest.notices.webhook import address  # late: it brings HTTP, which most commands do not need

            address(self.webhook_env, os.environ)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Within, nothing that is printed can be a command to GitHub's runner."""
        with contextlib.ExitStack() as stack:
            if self.github:
                stack.enter_context(contextlib.redirect_stdout(cast(TextIO, Disarmed(sys.stdout))))
                stack.enter_context(contextlib.redirect_stderr(cast(TextIO, Disarmed(sys.stderr))))
            yield

    def tell(self, bulletin: Bulletin) -> None:
        """Write and send all that was asked for. What fails is said on standard error."""
        for path, form in ((self.junit, _junit), (self.prometheus, _metrics)):
            if path is not None:
                with _told(str(path)):
                    write_safely(path, form(bulletin, path))
        if self.github:
            with _told(_SUMMARY):
                _summarize(bulletin)
            for line in annotation_lines(bulletin):
                print(line, file=self.told)  # a command to the runner, which `guarded` would disarm
        if self.webhook_env is not None:
            from harvest.notices.webhook import address, send

            why = send(bulletin, address(self.webhook_env, os.environ))
            if why:
                click.echo(printable(f"webhook: not delivered ({why}); the verdict stands", line=True), err=True)


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        reason, advice = in_words(fault)
        said = f"error: {what} was not written: {reason}; the verdict stands. do: {advice}"
        click.echo(printable(said, line=True), err=True)


def _junit(bulletin: Bulletin, _: Path) -> bytes:
    return junit(bulletin)


def _metrics(bulletin: Bulletin, path: Path) -> bytes:
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return metrics(bulletin, before).encode()


def _summarize(bulletin: Bulletin) -> None:
    """Append to the summary of the step, in which earlier commands may have written."""
    named = os.environ.get(_SUMMARY)
    if not named:
        click.echo(f"{_SUMMARY} is not set, so no summary is written", err=True)
        return
    path = Path(named)
    taken = path.stat().st_size if path.exists() else 0
    with path.open("a", encoding="utf-8") as file:
        file.write(summary(bulletin, LARGEST_SUMMARY - taken))
