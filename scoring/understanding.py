"""How a written form is read against what a measure declares: its parameters, and what it is taken of."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from scoring.measure import Asking, Declaration, Measure
from scoring.notation import Term
from scoring.settings import Settings
from topics.errors import InputError


def plainly(declaration: Declaration, term: Term, asking: Asking) -> tuple[Measure, ...]:
    """What a term asks for of a measure whose parameters are settings or its own. Raises InputError."""
    refuse_parameters(term, [one.name for one in declaration.parameters])
    settings = under_parameters(declaration, term, asking.settings)
    refuse_arguments(declaration, term)
    return (Measure(term, term, settings, declaration),)


def under_parameters(declaration: Declaration, term: Term, settings: Settings) -> Settings:
    """The settings with the parameters of a term in their places. Raises InputError for a value out of range."""
    for name, value in term.parameters:
        declared = declaration.parameter(name)
        if declared is None:
            continue
        try:
            found: Any = declared.value(value)
            settings = replace(settings, **{declared.setting: found}) if declared.setting else settings
        except InputError as fault:
            what = fault.what.removeprefix(f"scoring setting {declared.setting}: ")
            raise InputError(f"{term}: {name}: {what}", allowed=fault.allowed) from None
    return settings


def refuse_parameters(term: Term, allowed: Collection[str]) -> None:
    """Raises InputError for a parameter that is not `allowed`."""
    for name, _ in term.parameters:
        if name not in allowed:
            raise InputError(f"{term}: {term.name} takes no {name}", allowed=", ".join(allowed) or "no parameters")


def refuse_arguments(declaration: Declaration, term: Term) -> None:
    """Raises InputError where a term is taken of more or fewer things than its measure is."""
    least, most = declaration.arguments
    if not least <= len(term.arguments) <= most:
        wanted = {0: "nothing", 1: "one thing"}.get(most, f"{most} things")
        wanted = f"nothing, or {wanted}" if least < most else wanted
        stand = {0: "nothing stands", 1: "1 stands"}.get(len(term.arguments), f"{len(term.arguments)} stand")
        raise InputError(
            f"{term}: {term.name} is taken of {wanted}, and {stand} there",
            advice=f"write {' or '.join(declaration.forms)}",
        )
