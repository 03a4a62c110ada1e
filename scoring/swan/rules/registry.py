"""The scoring rules by name, and how a schema file writes them: `label`, `brevity(words=250)`."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from scoring.swan.rules.adapted import Adapted
from scoring.swan.rules.agreeing_trials import AgreeingTrials
from scoring.swan.rules.asked_count import AskedCount
from scoring.swan.rules.asked_length import AskedLength
from scoring.swan.rules.breakdown import Breakdown
from scoring.swan.rules.brevity import Brevity
from scoring.swan.rules.contradiction import Contradiction
from scoring.swan.rules.copied import Copied
from scoring.swan.rules.equal_benefit import EqualBenefit
from scoring.swan.rules.fair_exposure import FairExposure
from scoring.swan.rules.gave_way import GaveWay
from scoring.swan.rules.hedging import Hedging
from scoring.swan.rules.invitation import Invitation
from scoring.swan.rules.label import Label
from scoring.swan.rules.padding import Padding
from scoring.swan.rules.recovery import Recovery
from scoring.swan.rules.remembered import Remembered
from scoring.swan.rules.repetition import Repetition
from scoring.swan.rules.rule import RuleScorer, SetRule
from scoring.swan.rules.same_information import SameInformation
from scoring.swan.rules.same_language import SameLanguage
from scoring.swan.rules.sourced import Sourced
from scoring.swan.rules.up_to_date import UpToDate

# Of nuggets and turns, or of sets.
Rule: TypeAlias = RuleScorer | SetRule

_Make = Callable[[str | None], Rule]


def _without(make: Callable[[], Rule]) -> tuple[str, _Make]:
    return "", lambda _: make()


# By name: the parameter it takes ("" for none), and what makes it.
RULES: Mapping[str, tuple[str, _Make]] = MappingProxyType(
    {
        "adapted": _without(Adapted),
        "agreeing_trials": _without(AgreeingTrials),
        "asked_count": _without(AskedCount),
        "asked_length": _without(AskedLength),
        "breakdown": _without(Breakdown),
        "brevity": ("words", lambda value: Brevity() if value is None else Brevity(int(value))),
        "contradiction": _without(Contradiction),
        "copied": _without(Copied),
        "equal_benefit": _without(EqualBenefit),
        "fair_exposure": _without(FairExposure),
        "gave_way": _without(GaveWay),
        "hedging": ("hedged", lambda value: Hedging() if value is None else Hedging(float(value))),
        "invitation": _without(Invitation),
        "label": _without(Label),
        "padding": _without(Padding),
        "recovery": ("sign", lambda value: Recovery() if value is None else Recovery(value)),
        "remembered": _without(Remembered),
        "repetition": _without(Repetition),
        "same_information": _without(SameInformation),
        "same_language": _without(SameLanguage),
        "sourced": _without(Sourced),
        "up_to_date": _without(UpToDate),
    }
)

_WRITTEN = re.compile(r"([a-z_]+)(?:\(([a-z_]+)=([\w.+-]+)\))?")


def parse_rule(text: str) -> Rule:
    """The rule that `text` names. Raises ValueError saying what there is."""
    match = _WRITTEN.fullmatch(text.strip())
    name, key, value = match.groups() if match else (text, None, None)
    if name not in RULES:
        raise ValueError(f"there is no rule {name!r}; there are {', '.join(RULES)}")
    parameter, make = RULES[name]
    if key is not None and key != parameter:
        takes = f"takes {parameter}" if parameter else "takes nothing"
        raise ValueError(f"the rule {name} {takes}, not {key}")
    try:
        return make(value)
    except ValueError as fault:
        reason = str(fault)
        if "invalid literal" in reason or "could not convert" in reason:
            reason = f"{value!r} is not a number {parameter} can be"
        raise ValueError(f"{text!r}: {reason}") from None
