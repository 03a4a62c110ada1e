"""Options for the form in which a study is printed, and for its pictures."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import cleandoc
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click
from rich.text import Text

from harvest.cli.parameters import PathArgument, ShortHelp, check_output_file
from harvest.tables.plain_words import plain_words
from harvest.tables.study_form import FORMS, StudyForm
from harvest.terminal import people_console, printable
from recordings.files.evidence import write_safely
from recordings.log.run_folder import Run, read
from topics.errors import InputError

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PICTURE_SUFFIXES = (".svg", ".png")


@dataclass(frozen=True, slots=True)
class Output:
    """The form in which a study is printed. `form` is a name in `harvest.tables.study_form.FORMS`, or "" for tables.
    `figures` are the picture files to draw."""

    form: str = ""
    figures: tuple[Path, ...] = ()

    def show(self, study: StudyForm, *, beside: TextIO | None = None) -> None:
        """Print the study on standard output, then write its pictures. For any form except tables, the tables are
        printed on the stream `beside`, unless `beside` is None. Raises InputError if the browser fails, or if the
        study has no picture."""
        if not self.form or beside is not None:
            people = people_console(file=beside if self.form else None)
            said: list[str] = []
            for part in study.tables(people.width):
                whole = isinstance(part, str) or (isinstance(part, Text) and bool(part.no_wrap))
                people.print(part, soft_wrap=whole)
                said += [str(part)] if isinstance(part, str | Text) else []
            for words in plain_words(said):
                people.print(Text(words, style="dim"))
        if self.form:
            click.echo(FORMS[self.form].write(study), nl=False)
            if FORMS[self.form].needs:
                click.echo(FORMS[self.form].needs, err=True)
        if self.figures and study.chart is None:
            raise InputError("this study has no picture", advice="leave out --figure")
        if study.chart is not None:
            write_figures(self.figures, study.chart)


def output_options(command: _Command) -> _Command:
    """Add --figure and an option for each form of output to a command. The values are passed as `output`."""
    return figure_option(form_options(command))


def form_options(command: _Command) -> _Command:
    """Add an option for each form of output to a command. The values are passed as `output`, together with the files
    of `figure_option` if that option is added as well."""

    @wraps(command)
    def with_output(*arguments: Any, figures: tuple[Path, ...] = (), **others: Any) -> Any:
        forms = [name for name in FORMS if others.pop(f"as_{name}")]
        if forms == ["latex", "long"]:  # --latex --long: the long one of the two
            forms.remove("latex")
        check_output(figures, *(True for _ in forms))
        return command(*arguments, output=Output(forms[0] if forms else "", figures), **others)

    for name, form in reversed(list(FORMS.items())):
        with_output = click.option(f"--{name}", f"as_{name}", is_flag=True, help=form.words)(with_output)
    return with_output  # type: ignore[return-value]


def figure_option(command: _Command) -> _Command:
    return click.option(
        "--figure",
        "figures",
        multiple=True,
        metavar="FILE.svg|FILE.png",
        type=PathArgument(),
        help="Draw the study. A PNG needs a browser.",
    )(command)


def check_output(figures: Sequence[Path], *forms: bool) -> None:
    """Raise InputError for conflicting forms and for pictures that cannot be written. Call this before anything is
    computed. Each of the `forms` is True if that form was requested."""
    if sum(forms) > 1:
        *most, last = (f"--{name}" for name in FORMS)
        raise InputError(f"{', '.join(most)} and {last} cannot be used together", advice="give only one of them")
    if len({path.absolute() for path in figures}) < len(figures):
        raise InputError("--figure contains the same file twice", advice="choose different names")
    for path in figures:
        if path.suffix.lower() not in _PICTURE_SUFFIXES:
            raise InputError(f"--figure {path} has an unknown picture format", allowed="FILE.svg, FILE.png")
        check_output_file(path, other="choose another name, or remove it")
    if any(path.suffix.lower() == ".png" for path in figures):
        _find_browser()


def _find_browser() -> Path:
    from harvest.pages.browser.installed import find_browser
    from harvest.pages.browser.process import find_playwright_browser

    try:
        return find_browser(os.environ, own=find_playwright_browser).path
    except InputError as none:
        raise InputError(
            "a PNG needs a browser, but none was found",
            advice=f"write --figure FILE.svg, which needs no browser; or {none.advice}",
        ) from None


def write_figures(figures: Sequence[Path], draw: Callable[[], str]) -> None:
    """Write the picture that `draw` returns to each file. Raises InputError if the browser fails."""
    if not figures:
        return
    svg = draw()
    for path in figures:
        write_safely(path, svg.encode() if path.suffix.lower() == ".svg" else _render_png(svg))
        click.echo(printable(f"wrote {path}", line=True), err=True)


def _render_png(svg: str) -> bytes:
    from harvest.pages.browser.svg_picture import render_svg
    from harvest.systems.driver import DriverError

    try:
        return asyncio.run(render_svg(svg, _find_browser()))
    except DriverError as fault:
        raise InputError(
            f"the browser did not draw the picture: {fault}",
            advice="write --figure FILE.svg, which needs no browser; harvest doctor shows the cause",
        ) from None


def study_command(study: Callable[[Sequence[Run]], StudyForm]) -> click.Command:
    """Return the command `harvest NAME RUN…`, which prints a study of runs in any form. The help text is the
    docstring of `study`."""

    @click.command(cls=ShortHelp, help=cleandoc(study.__doc__ or ""))
    @click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
    @output_options
    def command(runs: tuple[Path, ...], output: Output) -> None:
        output.show(study([read(run) for run in runs]))

    return command
