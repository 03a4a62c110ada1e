"""Options for scoring settings, which are generated from their declarations so that all commands use the same names,
ranges and defaults. A further option sets the guard of intervals in some studies."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from harvest.cli.parameters import NameOrFile, NumberRange, WholeNumberRange
from scoring.notation import Term, parse_all
from scoring.settings import SETTINGS, Choice, Guard, NumbersByGrade, NumbersByName, Setting
from topics.errors import suggestion
from topics.source_table import SourceTable


def _load_sources(context: click.Context, option: click.Parameter, name: str | None) -> SourceTable | None:
    from topics.source_file import load_sources  # late: few calls give a table

    return None if name is None else load_sources(name)


sources_option = click.option(
    "--sources",
    type=NameOrFile(),
    metavar="FILE",
    callback=_load_sources,
    help="Table of sources to use instead of the run's own.",
)

_Command = TypeVar("_Command", bound=Callable[..., object])


class _Choice(click.Choice[str]):
    """A choice that also accepts former values without showing them. For a misspelt value, it suggests a similar
    value."""

    def __init__(self, kind: Choice) -> None:
        super().__init__(kind.words)
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return str(super().convert(self._kind.earlier.get(value, value), param, ctx))
        except click.BadParameter as fault:
            words = fault.message.removesuffix(".")
            self.fail(f"{words}{suggestion(str(value), self._kind.words)}", param, ctx)


def _read_pairs(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, float] | None:
    found: dict[str, float] = {}
    for value in values:
        name, _, number = value.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not NAME=NUMBER") from None
    return found or None


def _declared_option(declared: Setting, words: str, *, audited: bool) -> Callable[[_Command], _Command]:
    if isinstance(declared.kind, (NumbersByName, NumbersByGrade)):
        return click.option(
            declared.option,
            declared.name,
            multiple=True,
            callback=_read_pairs,
            metavar=declared.metavar or None,
            help=f"{words}.",
        )
    kind: click.ParamType[Any]
    if isinstance(declared.kind, Choice):
        kind = _Choice(declared.kind)
    elif declared.kind.whole:
        kind = WholeNumberRange(int(declared.kind.least), int(declared.kind.most))
    else:
        kind = NumberRange(declared.kind.least, declared.kind.most)
    return click.option(
        declared.option,
        declared.name,
        type=kind,
        default=None if audited else declared.default,
        show_default=not audited,
        metavar=declared.metavar or None,
        help=f"{words} [{declared.default}]." if audited else f"{words}.",
    )


def measures_option(words: str) -> Callable[[_Command], _Command]:
    """Add the repeatable option --measure, with the help text `words`. The command receives the values as
    `measures`."""

    def read(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[Term, ...]:
        return tuple(dict.fromkeys(term for text in texts for term in parse_all(text)))

    return click.option("--measure", "-m", "measures", multiple=True, metavar="MEASURE", callback=read, help=words)


def setting_options(*names: str, **words: str) -> Callable[[_Command], _Command]:
    """Add an option for each of the named settings, or for all settings if none is named. The value of an option that
    is not given is None, so that the audit's setting or the default applies. `words` maps names to help texts."""

    def with_options(command: _Command) -> _Command:
        for name in reversed(names or tuple(SETTINGS)):
            declared = SETTINGS[name]
            command = _declared_option(declared, words.get(name, declared.help), audited=True)(command)
        return command

    return with_options


def setting_option(name: str) -> Callable[[_Command], _Command]:
    """Add an option for a setting to a command without an audit. Its default is the setting's default."""
    return _declared_option(SETTINGS[name], SETTINGS[name].help, audited=False)


def resampling_options(*, seed: str = "Seed of the bootstrap.") -> Callable[[_Command], _Command]:
    """Add --level, --replications and --seed to a command without an audit. `seed` is the help text of --seed."""

    def with_options(command: _Command) -> _Command:
        command = click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help=seed)(command)
        return setting_option("level")(setting_option("replications")(command))

    return with_options


guard_option = click.option(
    "--guard",
    type=click.Choice(list(get_args(Guard))),
    default="unseen",
    show_default=True,
    help="Intervals for topics like these: with an unseen kind of topic, or (none) t, for nearly normal differences.",
)
