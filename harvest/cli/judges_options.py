"""The options `--schema`, `--judges`, `--judgments` and `--nuggets`, which select judgments for SWAN and WAN."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harvest.cli.parameters import NameOrFile
from scoring.notation import Term
from topics.errors import InputError

if TYPE_CHECKING:  # a table that was kept is printed without any measure
    from harvest.studies.scores.scorecard import Judges

_Command = TypeVar("_Command", bound=Callable[..., Any])


def judgment_options(command: _Command) -> _Command:
    """Add the four options to a command. Their values are passed to the command unchanged."""
    for option in (
        click.option(
            "--nuggets",
            metavar="NAME",
            help="Nuggets that SWAN scores: rules, sentences, lines, turns, or the name of a layer [rules].",
        ),
        click.option(
            "--judgments",
            "folding",
            metavar="HOW|NAME",
            help="How several judgments of one thing become one: distribution, mean, majority, adjudicated, or whose"
            " alone counts [distribution].",
        ),
        click.option(
            "--judges", metavar="KINDS", help="Whose judgments SWAN uses, in order of precedence [human,rule]."
        ),
        click.option("--schema", type=NameOrFile(), metavar="NAME|FILE", help="Criteria for SWAN [sakai-2023]."),
    ):
        command = option(command)
    return command


def judges_options(command: _Command) -> _Command:
    """Add the four options to a command. Their values are passed to the command as one argument `judges`."""

    @judgment_options
    @wraps(command)
    def with_judges(
        *arguments: Any,
        schema: str | None,
        judges: str | None,
        folding: str | None,
        nuggets: str | None,
        **others: Any,
    ) -> Any:
        from harvest.studies.scores.scorecard import Judges
        from scoring.swan.precedence import Precedence
        from scoring.swan.schema import load_schema

        precedence = Precedence.from_options(judges, nuggets, folding)
        if precedence.uses("model"):
            raise InputError(
                "--judges contains model, but this command does not check a model's judgments",
                allowed="human, rule",
                advice="use `harvest score RUN --judges model`, which checks a model's figure by people's",
            )
        chosen = Judges(load_schema(schema) if schema else None, precedence)
        return command(*arguments, judges=chosen, **others)

    return with_judges  # type: ignore[return-value]


def check_judges(judges: Judges, measures: Collection[Term]) -> None:
    """Raise InputError if an option would have no effect because no measure needs judgments."""
    from harvest.studies.scores.scorecard import Judges
    from scoring.library import declared

    known = [one for term in measures if (one := declared(term.name)) is not None]
    if judges == Judges() or any("judgments" in one.needs for one in known):
        return
    raise InputError(
        "--schema, --judges, --judgments and --nuggets only affect measures of judgments, such as SWAN and share_of",
        advice="add such a measure: --measure SWAN, or --measure 'WAN(Correctness)'",
    )
