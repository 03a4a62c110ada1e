"""The `harvest` command: its start and end, and the conversion of errors into messages and exit codes.

Exit codes: 0 the command is done; 1 a threshold of the audit was missed, or a label changed; 2 the command line or a
file is wrong; 3 too many trials are invalid; 70 Harvest itself has a bug; 130 the command was interrupted. Figures
and JSON go to standard output, and everything else to standard error.
"""

import contextlib
import errno
import gc
import io
import os
import signal
import sys
import traceback
import unicodedata
from collections.abc import Callable
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from harvest.cli import interruption
from harvest.cli.commands import SECTIONS, CommandGroup
from harvest.cli.completion import VARIABLE
from harvest.notices.disarmed import escape_output
from harvest.terminal import printable
from recordings.files.errors import describe_fault
from topics.errors import HarvestError

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BUG_CODE = 70  # EX_SOFTWARE of sysexits.h: Python's own 1 would say that a threshold was missed
_PIPE_COMMANDS = {"run", "watch run", "users chat", "pages probe", "pages login", "doctor"}
_READER_GONE = 128 + signal.SIGPIPE  # as shells report a program that SIGPIPE ended


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        click.echo(f"harvest {version('conversation-harvest')}")
        context.exit()


@click.group(
    cls=CommandGroup,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
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
        if not {sys.argv[1] if sys.argv[1:] else "", " ".join(sys.argv[1:3])} & _PIPE_COMMANDS:
            # End quietly with the reader, as `| head` expects, unless a pipe may be a system's or a browser's.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    named = False
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
        _echo_fault(fault)
        named = not fault.filename  # what could not be written is still in the stream, and fails again below
        code = 2
    except BaseException as fault:  # also SystemExit, which code that a command calls may raise
        if isinstance(fault.__context__, BrokenPipeError):  # raised by rich when the reader is gone
            code = _READER_GONE
        else:
            _echo(f"{traceback.format_exc()}error: this is a bug in Harvest; please report it with the traceback above")
            code = _BUG_CODE
    unwritten = _flush()
    if unwritten is not None and not named:
        _echo_fault(unwritten)
    if arguments is None:
        gc.freeze()  # no garbage collection at the end, which would go through everything
    sys.exit(code if isinstance(code, int) and code else 2 if unwritten else 0)


def _flush() -> OSError | None:
    """Flush the output streams, and return the error if the disk is full. A closed stream is redirected to the null
    device, because flushing a closed stream at exit would change the exit code."""
    full = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as fault:
            if isinstance(fault, OSError) and fault.errno in _DISK_FULL:
                full = fault
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return full


def _echo_fault(fault: OSError) -> None:
    reason, advice = describe_fault(fault)
    _echo(f"error: {os.fsdecode(fault.filename) if fault.filename else 'the output'}: {reason}\n  do: {advice}")


def _echo(message: str | Callable[..., None]) -> None:
    """Print on standard error. A closed stream is ignored, because it must not affect the exit code."""
    with contextlib.suppress(OSError, ValueError):
        if isinstance(message, str):
            click.echo(printable(message), err=True)
        else:
            shown = io.StringIO()
            message(shown)
            click.echo(printable(shown.getvalue()), err=True, nl=False)
