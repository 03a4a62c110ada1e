"""In which form a command prints a study, and the pictures that it writes."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from harvest.cli.output_file import check_output_file
from harvest.cli.path import GivenPath
from harvest.terminal import printable
from recordings.files.evidence import write_safely
from topics.errors import InputError

_Command = TypeVar("_Command", bound=Callable[..., Any])
_KINDS = (".svg", ".png")


def study_output(command: _Command) -> _Command:
    """--json, --csv, --latex and --figure."""
    for option in (
        figure_option,
        click.option("--latex", "as_latex", is_flag=True, help="A table of the figures in LaTeX on standard output."),
        click.option("--csv", "as_csv", is_flag=True, help="Every figure as a row of CSV on standard output."),
        click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output."),
    ):
        command = option(command)
    return command


def figure_option(command: _Command) -> _Command:
    return click.option(
        "--figure",
        "figures",
        multiple=True,
        metavar="FILE.svg|FILE.png",
        type=GivenPath(),
        help="Draw it. A PNG takes a browser.",
    )(command)


def check_output(figures: Sequence[Path], *forms: bool) -> None:
    """Refuse what cannot be printed or written, before anything is computed. forms: of output; at most one is true."""
    if sum(forms) > 1:
        raise InputError("--json, --csv and --latex exclude each other", advice="give one of them")
    if len({path.absolute() for path in figures}) < len(figures):
        raise InputError("--figure names one file twice", advice="choose two names")
    for path in figures:
        if path.suffix.lower() not in _KINDS:
            raise InputError(f"--figure {path}: not a kind of picture that is drawn", allowed="FILE.svg, FILE.png")
        check_output_file(path, other="take another name, or remove it")
    if any(path.suffix.lower() == ".png" for path in figures):
        _browser()


def _browser() -> Path:
    from harvest.pages.browser.installed import find_browser
    from harvest.pages.browser.window import own_browser

    try:
        return find_browser(os.environ, own=own_browser).path
    except InputError as none:
        raise InputError(
            "no browser was found, and a PNG is made by one",
            advice=f"write --figure FILE.svg, which takes none; or {none.advice}",
        ) from None


def write_figures(figures: Sequence[Path], draw: Callable[[], str]) -> None:
    """Write the picture that `draw` makes into each file. Raises InputError where the browser fails."""
    if not figures:
        return
    svg = draw()
    for path in figures:
        write_safely(path, svg.encode() if path.suffix.lower() == ".svg" else _png(svg))
        click.echo(printable(f"wrote {path}", line=True), err=True)


def _png(svg: str) -> bytes:
    from harvest.pages.browser.svg_picture import rendered
    from harvest.systems.driver import DriverError

    try:
        return asyncio.run(rendered(svg, _browser()))
    except DriverError as fault:
        raise InputError(
            f"the browser did not draw the picture: {fault}",
            advice="write --figure FILE.svg, which takes no browser; harvest doctor looks into it",
        ) from None
