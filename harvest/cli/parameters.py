"""The parameters of commands: their types, checks of the path of an output file, and help that fits a screen.

`-h` and `--help` list the options of every day, and `-hh` lists all of them.
"""

import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from recordings.files.evidence import remove_leftovers
from topics.errors import InputError, Place

# Options that many commands share, and that few people need every day.
_SHARED = {
    *("--level", "--replications", "--seed", "--guard", "--schema", "--judges", "--judgments", "--nuggets", "--force"),
    "--sources",
    *("--csv", "--latex", "--long", "--prometheus", "--junit", "--webhook-env", "--github", "--keys-in-clear"),
}
_RELABEL = (
    "The labels are those of the recording; `harvest relabel RUN --protocol NAME|FILE` shows the labels and figures by "
    "another protocol."
)
WHOLE = "harvest.whole_help"
"""The key in the `meta` of a context under which True asks for the whole help."""

_EMPTY_PATH = "the path is empty (a variable of the shell may not be set)"
_ADDRESS_GIVEN = (
    "this is an address, but a path on this machine is needed: first fetch a run from a store with "
    "harvest data merge URL --out RUN"
)


class NumberRange(click.FloatRange):
    """A range of numbers that rejects infinities and NaN. Click itself accepts NaN."""

    name = "number"  # "float range" is no word for people

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        if math.isinf(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class WholeNumberRange(click.IntRange):
    """A range of integers, called "integer" in help texts."""

    name = "integer"


class PathArgument(click.Path):
    """A path that is neither an address nor empty. Click would read an empty path as the current folder. `kind` is
    the type of the values."""

    def __init__(self, kind: type = Path) -> None:
        super().__init__(path_type=kind)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if not str(value):
            self.fail(_EMPTY_PATH, param, ctx)
        if "://" in str(value):
            self.fail(_ADDRESS_GIVEN, param, ctx)  # do not repeat it: it may contain a password
        return super().convert(value, param, ctx)


class NameOrFile(click.types.StringParamType):
    """The name of a shipped file or the path of a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail(_EMPTY_PATH.replace("the path", "the name or path"), param, ctx)
        return super().convert(value, param, ctx)


def check_output_file(
    path: Path,
    *,
    replace: bool = False,
    ours: Callable[[bytes], bool] | None = None,
    other: str = "choose another name",
) -> None:
    """Raise InputError if no file can be written at `path`, or if an existing file there must not be replaced.

    An existing file may be replaced only if `replace` is true. If `ours` is given, the file must also be empty, or
    `ours` must accept its bytes as an earlier file of the same kind. `other` is the advice for a file that must be
    kept. Temporary files of earlier commands that were killed while they wrote there are removed.
    """
    place, folder = Place(str(path)), path.absolute().parent
    if not folder.is_dir():
        raise InputError("there is no such folder", place=Place(str(path.parent)), advice="create it first")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as fault:
        raise InputError(f"cannot be written: {fault.strerror}", place=place, advice=other) from None
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError("this is a folder, not a file", place=place, advice="choose the name of a file")
    if mode is not None and not replace:
        raise InputError("this file exists already", place=place, advice=other)
    if mode is not None and not stat.S_ISREG(mode):
        raise InputError("this is a device or pipe, not a file", place=place, advice="choose the name of a file")
    if mode is not None and ours is not None and not _is_replaceable(path, ours):
        raise InputError(
            "refusing to overwrite a file that Harvest did not write", place=place, advice="choose another name"
        )
    if not os.access(folder, os.W_OK | os.X_OK):  # the folder counts: files are replaced
        raise InputError(
            f"cannot be written: there is no write permission for the folder {path.parent}",
            place=place,
            advice=other,
        )
    remove_leftovers(folder, path.name)


def _is_replaceable(path: Path, ours: Callable[[bytes], bool]) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return not data or ours(data)


class ShortHelp(click.Command):
    """A command with a short help. Options that many commands share, and those in `rare`, are left out of it, as are
    the paragraphs of the description after the first `paragraphs`. The whole help has them under “More options”. Shared
    options in `common` are listed after all."""

    def __init__(self, *arguments: Any, rare: str = "", common: str = "", paragraphs: int = 99, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self.own_rare = set(rare.split())
        self._rare = (_SHARED | self.own_rare).difference(common.split())
        self._paragraphs = paragraphs

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as refused:
            # Figures are made from recorded labels. Another protocol gives other labels, which is one command for all.
            if refused.option_name == "--protocol" and any(one.name in ("run", "runs") for one in self.params):
                said = f"{refused.message.rstrip('.')}. {_RELABEL}"
                raise click.NoSuchOption(refused.option_name, said, refused.possibilities, ctx) from None
            raise

    def get_help_option(self, ctx: click.Context) -> click.Option:
        def show(context: click.Context, _: click.Parameter, times: int) -> None:
            if times and not context.resilient_parsing:
                context.meta[WHOLE] = times > 1
                click.echo(context.get_help(), color=context.color)
                context.exit()

        names, rare = self.get_help_option_names(ctx), sum(map(self._is_rare, self.params))
        more = f" -hh lists {rare} more options." if rare else ""
        return click.Option(
            names, count=True, is_eager=True, expose_value=False, callback=show, help=f"Show this message.{more}"
        )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        whole = self.help
        if whole is not None and not ctx.meta.get(WHOLE):
            self.help = "\n\n".join(whole.split("\n\n")[: self._paragraphs])
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None and isinstance(one, click.Option):
                parts[self._is_rare(one)].append(record)
        for heading, records in zip(("Options", "More options"), parts.values(), strict=True):
            if records and (heading == "Options" or ctx.meta.get(WHOLE)):
                with formatter.section(heading):
                    formatter.write_dl(records)

    def _is_rare(self, one: click.Parameter) -> bool:
        return not self._rare.isdisjoint(one.opts)
