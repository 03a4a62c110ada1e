"""Options that report verdicts to other programs: JUnit XML, metrics, a webhook and GitHub annotations.

If a report cannot be written or sent, a message says so, but the verdict still determines the exit code.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

import click

from harvest.cli.parameters import PathArgument, check_output_file
from harvest.notices.bulletin import Bulletin
from harvest.notices.disarmed import EscapingStream, underlying_stream
from harvest.notices.github import LARGEST_SUMMARY, annotation_lines, summary
from harvest.notices.junit import is_junit, junit
from harvest.notices.prometheus import is_metrics, metrics
from harvest.terminal import printable
from recordings.files.errors import StoreError, describe_fault
from recordings.files.shared_file import shared_file
from topics.errors import InputError


@dataclass(frozen=True, slots=True)
class _FileReport:
    """A report that is written to a file. `make` returns the report's bytes, given a bulletin and the content of the
    earlier file. `ours` returns True for the bytes of an earlier report, which may be replaced. `said` is the help
    text of the option."""

    make: Callable[[Bulletin, str], bytes]
    ours: Callable[[bytes], bool]
    said: str


# Forms that are files, by option.
_FILES: Mapping[str, _FileReport] = {
    "junit": _FileReport(lambda told, _: junit(told), is_junit, "Write the verdicts as JUnit XML."),
    "prometheus": _FileReport(
        lambda told, before: metrics(told, before).encode(), is_metrics, "Write metrics for the textfile collector."
    ),
}

_SUMMARY = "GITHUB_STEP_SUMMARY"


def notice_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --junit, --prometheus, --webhook-env and --github to a command. Their values are passed as `channels`."""

    @functools.wraps(command)
    def guarded(*, webhook_env: str | None, github: bool, **own: Any) -> int:
        files = {name: path for name in _FILES if (path := own.pop(name)) is not None}
        channels = Channels(files, webhook_env, github)
        channels.check(own["output"].form if "output" in own else "json" if own["as_json"] else "")
        with channels.escape_commands():
            return command(channels=channels, **own)

    kind = PathArgument()
    for option in (
        click.option("--github", is_flag=True, help="Print annotations and write a step summary for GitHub Actions."),
        click.option("--webhook-env", metavar="NAME", help="Send the figures to the address in this variable."),
        *(click.option(f"--{name}", type=kind, metavar="FILE", help=form.said) for name, form in _FILES.items()),
    ):
        guarded = option(guarded)
    return guarded


@dataclass(frozen=True, slots=True)
class Channels:
    """The requested reports. `files` maps the name of a report to the file to write. `told` is the original standard
    output, on which annotations for GitHub are printed."""

    files: Mapping[str, Path] = field(default_factory=dict)
    webhook_env: str | None = None
    github: bool = False
    told: TextIO = field(default_factory=lambda: underlying_stream(sys.stdout))

    @property
    def has_requests(self) -> bool:
        return bool(self.files or self.webhook_env or self.github)

    def check(self, form: str) -> None:
        """Raise InputError for a report that could not be written or sent. Call this before anything is played.
        `form` is the form of the figures on standard output, or "" for tables."""
        if self.github and form:
            raise InputError(f"--github and --{form} both print to standard output", advice="give one of them")
        if len({path.absolute() for path in self.files.values()}) < len(self.files):
            raise InputError("two reports would be written to one file", advice="choose two names")
        for name, path in self.files.items():
            check_output_file(path, replace=True, ours=_FILES[name].ours)
        if self.webhook_env is not None:
            from harvest.notices.webhook import address  # late: it brings HTTP, which most commands do not need

            address(self.webhook_env, os.environ)

    @contextlib.contextmanager
    def escape_commands(self) -> Iterator[None]:
        """Within the block, disarm printed text that GitHub's runner would execute as a command."""
        with contextlib.ExitStack() as stack:
            if self.github:
                stack.enter_context(contextlib.redirect_stdout(cast(TextIO, EscapingStream(sys.stdout))))
                stack.enter_context(contextlib.redirect_stderr(cast(TextIO, EscapingStream(sys.stderr))))
            yield

    def send_reports(self, bulletin: Bulletin) -> None:
        """Write and send all requested reports. Failures are only printed on standard error."""
        for name, path in self.files.items():
            with _report_failures(str(path)):
                check_output_file(path, replace=True, ours=_FILES[name].ours)  # there may be another file by now
                with shared_file(path) as file:  # another audit may use the same file
                    file.replace(_FILES[name].make(bulletin, file.data.decode(errors="replace")))
        if self.github:
            with _report_failures(_SUMMARY):
                _append_summary(bulletin)
            for line in annotation_lines(bulletin):
                print(line, file=self.told)  # a command to the runner, which `escape_commands` would escape
        if self.webhook_env is not None:
            from harvest.notices.webhook import address, send

            why = send(bulletin, address(self.webhook_env, os.environ))
            if why:
                click.echo(printable(f"webhook: not delivered ({why}); the verdict stands", line=True), err=True)


@contextlib.contextmanager
def _report_failures(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, StoreError, InputError) as fault:
        known = fault.fault if isinstance(fault, StoreError) else fault
        reason, advice = describe_fault(known) if isinstance(known, OSError) else (known.what, known.advice)
        said = f"error: {what} was not written: {reason}; the verdict stands. do: {advice}"
        click.echo(printable(said, line=True), err=True)


def _append_summary(bulletin: Bulletin) -> None:
    named = os.environ.get(_SUMMARY)
    if not named:
        click.echo(f"{_SUMMARY} is not set, so no summary is written", err=True)
        return
    path = Path(named)
    taken = path.stat().st_size if path.exists() else 0
    with path.open("a", encoding="utf-8") as file:
        file.write(summary(bulletin, LARGEST_SUMMARY - taken))
