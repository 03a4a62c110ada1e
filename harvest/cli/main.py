"""The `harvest` command: the list of its commands, and the conversion of errors into messages and exit codes.

Exit codes: 0 the command is done; 1 a threshold of the audit was missed, or a label changed; 2 the command line or a
file is wrong; 3 too many trials are invalid; 70 Harvest itself has a bug; 130 the command was interrupted. Figures
and JSON go to standard output, and everything else to standard error.
"""

import contextlib
import errno
import gc
import importlib
import io
import os
import signal
import sys
import traceback
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import click
from click.shell_completion import CompletionItem, shell_complete

from harvest.cli import interruption
from harvest.cli.completion import VARIABLE
from harvest.notices.disarmed import escape_output
from harvest.terminal import printable
from recordings.files.errors import describe_fault
from topics.errors import HarvestError

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BUG_CODE = 70  # EX_SOFTWARE of sysexits.h: Python's own 1 would say that a threshold was missed


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry in the list of commands. Its module has a `command` or, for a study of recorded runs, a `study_form`."""

    module: str
    summary: str


# Summaries are repeated here so that `harvest --help` imports no command; a test compares them with the commands.
_GROUPS: Mapping[str, Mapping[str, _Entry]] = {
    "Most used": {
        "run": _Entry("harvest.cli.run", "Play an audit (or resume it), then score it."),
        "show": _Entry("harvest.cli.show", "List a run's trials, or print one conversation."),
        "score": _Entry("harvest.cli.score", "Score recorded runs, offline, as often as you like."),
    },
    "Play": {
        "init": _Entry("harvest.cli.init", "Write an audit to start from."),
        "check": _Entry("harvest.cli.check", "Validate an audit and print its plan, without sending anything."),
        "chat": _Entry("harvest.cli.chat", "Play the user yourself and record the conversation."),
    },
    "Look": {
        "report": _Entry("harvest.cli.report", "Write one HTML page about recorded runs."),
        "tree": _Entry("harvest.cli.tree", "Merge a run's repeated trials into conversation trees."),
        "relabel": _Entry("harvest.cli.relabel", "Label recorded answers again, and show what changes."),
        "reread": _Entry("harvest.cli.rereading", "Read stored pages again with today's code, and show what changed."),
    },
    "Score": {
        "measures": _Entry("harvest.cli.measures", "List all measures, or explain one."),
        "gfr": _Entry("harvest.cli.gfr", "Score ranked lists: ERR, iRBU, GF and GFR."),
        "breakdown": _Entry(
            "harvest.cli.breakdown", "Detect dialogue breakdown, and evaluate predictions of it (DBDC)."
        ),
        "helpdesk": _Entry("harvest.cli.helpdesk", "Predict quality and nuggets of helpdesk dialogues (STC-3)."),
        "structured": _Entry("harvest.cli.structured", "Evaluate structured answers by line (experimental)."),
    },
    "Watch": {
        "bless": _Entry("harvest.cli.bless", "Make recorded runs the baseline of later audits."),
        "reaudit": _Entry("harvest.cli.reaudit", "Play an audit again, and say whether it changed."),
        "schedule": _Entry("harvest.cli.schedule", "Print a schedule for cron, systemd or GitHub Actions."),
        "history": _Entry("harvest.cli.history", "Show the figures of a watched audit over time."),
        "attribute": _Entry("harvest.cli.attribute", "Attribute the difference between two runs to its causes."),
    },
    "Study": {
        "compare": _Entry("harvest.cli.compare", "Compare systems over common topics."),
        "variance": _Entry("harvest.cli.variance", "Show how much trials vary, and why."),
        "robustness": _Entry("harvest.cli.robustness", "Compare the arms of an audit with their control."),
        "plan": _Entry("harvest.cli.plan", "Plan how many topics and trials a comparison needs."),
        "simulate": _Entry("harvest.cli.simulate", "Fit simulated users to recordings, and check them."),
    },
    "Judge": {
        "annotate": _Entry(
            "harvest.cli.annotate",
            "Extract nuggets, score them by rules, and let people judge them.",
        ),
        "pool": _Entry("harvest.cli.pool", "List the items to judge in RUNs, each once."),
        "judge": _Entry("harvest.cli.judge", "Let a model judge nuggets, turns, conversations or blind pairs."),
        "nuggets": _Entry("harvest.cli.nuggets", "Show how many of the topics' nuggets the answers contain."),
        "preferences": _Entry("harvest.cli.preferences", "Show which systems people prefer."),
    },
    "Exchange": {
        "import": _Entry("harvest.cli.importing", "Make a run from annotated transcripts or messages files."),
        "export": _Entry("harvest.cli.exporting", "Write a run's conversations, or people's scores, for others."),
        "merge": _Entry("harvest.cli.merging", "Merge the runs of several machines into a new one."),
        "verify": _Entry("harvest.cli.verify", "Verify recorded runs and reports, offline."),
    },
    "Machine": {
        "doctor": _Entry("harvest.cli.doctor", "Check this machine and report what is missing."),
        "probe": _Entry("harvest.cli.probe", "Examine a chat page, send one message, and draft a site file."),
        "login": _Entry("harvest.cli.login", "Open a window to log in by hand, and store the log-in in a file."),
        "completion": _Entry("harvest.cli.completion", "Print a script that completes the command line in a shell."),
    },
}
COMMANDS = {name: entry for group in _GROUPS.values() for name, entry in group.items()}

_PIPE_COMMANDS = {"run", "reaudit", "chat", "probe", "login", "doctor"}
_READER_GONE = 128 + signal.SIGPIPE  # as shells report a program that SIGPIPE ended


class _LazyCommands(click.Group):
    """A group that imports a command only when that command is called, which keeps `--help` quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        module = importlib.import_module(entry.module)
        if hasattr(module, "study_form"):
            from harvest.cli.study_output import study_command  # late, as every command

            return study_command(module.study_form)
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if name not in COMMANDS and not name.startswith("-"):
            from topics.suggestions import suggestion  # late: only a typing error needs it

            context.fail(f"No such command {name!r}{suggestion(name, COMMANDS)}")
        return super().resolve_command(context, arguments)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands. Click's own method would import every command for its help text."""
        found = [
            CompletionItem(name, help=one.summary) for name, one in COMMANDS.items() if name.startswith(incomplete)
        ]
        options = click.Command.shell_complete(self, context, incomplete) if incomplete.startswith("-") else []
        return [*found, *options]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for group, entries in _GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(widest), entry.summary) for name, entry in entries.items()])


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        click.echo(f"harvest {version('conversation-harvest')}")
        context.exit()


@click.group(cls=_LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def _harvest() -> None:
    """Harvest conversations from chat systems, many times over, and score them.

    See it work:        harvest run demo --out demo-run

    Audit a system:     harvest init, edit audit.yaml, then check, run, show and score it.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit. A user's mistake is reported as one message without a traceback."""
    # Replace streams that were closed before we started: otherwise the next file that is opened would get the lowest
    # free number, and with it the output meant for the stream.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  # until the end
    for stream in (sys.stdout, sys.stderr):
        # A reply may contain text that the terminal cannot encode (a lone surrogate, or any Chinese if LANG is C).
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with escape_output(sys.argv[1:] if arguments is None else arguments, os.environ):
        _run_command(arguments)


def _compose(word: str) -> str:
    """Return a name in the normal form of recorded names, whatever form the keyboard gives. Paths stay as they are."""
    if word.isascii() or any(os.path.lexists(path) for path in (word, word.partition("=")[2])):
        return word
    return unicodedata.normalize("NFC", word)


def _run_command(arguments: list[str] | None) -> NoReturn:
    if VARIABLE in os.environ:
        sys.exit(shell_complete(_harvest, {}, "harvest", VARIABLE, os.environ[VARIABLE]))
    if arguments is None:
        interruption.handle_signals()
        # Recordings and topic sets are millions of values without cycles: looking for some all the time adds a quarter
        # to the time for reading them.
        gc.set_threshold(200_000, 50, 50)
        if not {*sys.argv[1:2]} & _PIPE_COMMANDS:
            # End quietly with the reader, as `| head` expects, unless a pipe may be a system's or a browser's.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        # Click's own `main` would turn a reader that goes away into an exit code.
        try:
            words = list(map(_compose, sys.argv[1:] if arguments is None else arguments))
            with _harvest.make_context("harvest", words) as context:
                code: object = _harvest.invoke(context)
        except click.exceptions.Exit as end:
            code = end.exit_code
    except click.ClickException as fault:
        _echo(fault.show)
        code = 2
    except (click.Abort, KeyboardInterrupt, EOFError):
        _echo("the command was interrupted; run it again")
        code = interruption.CODE
    except interruption.Interrupted as stop:
        _echo(str(stop))
        code = interruption.CODE
    except HarvestError as fault:
        _echo(f"error: {fault}")
        code = 2
    except BrokenPipeError:
        code = _READER_GONE
    except OSError as fault:
        reason, advice = describe_fault(fault)
        _echo(f"error: {os.fsdecode(fault.filename) if fault.filename else 'the output'}: {reason}\n  do: {advice}")
        code = 2
    except BaseException as fault:  # also SystemExit, which code that a command calls may raise
        if isinstance(fault.__context__, BrokenPipeError):  # raised by rich when the reader is gone
            code = _READER_GONE
        else:
            _echo(f"{traceback.format_exc()}error: this is a bug in Harvest; please report it with the traceback above")
            code = _BUG_CODE
    unwritten = _flush()
    if arguments is None:
        gc.freeze()  # no garbage collection at the end, which would go through everything
    sys.exit(code if isinstance(code, int) and code else unwritten)


def _flush() -> int:
    """Flush the output streams. Returns 2 if the disk is full, else 0. A closed stream is redirected to the null
    device, because flushing a closed stream at exit would change the exit code."""
    code = 0
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as fault:
            if isinstance(fault, OSError) and fault.errno in _DISK_FULL:
                _echo("error: the output: {}\n  do: {}".format(*describe_fault(fault)))
                code = 2
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def _echo(message: str | Callable[..., None]) -> None:
    """Print on standard error. A closed stream is ignored, because it must not affect the exit code."""
    with contextlib.suppress(OSError, ValueError):
        if isinstance(message, str):
            click.echo(printable(message), err=True)
        else:
            shown = io.StringIO()
            message(shown)
            click.echo(printable(shown.getvalue()), err=True, nl=False)
