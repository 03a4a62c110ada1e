"""Scoring rules by name, and their notation in schema files: `label`, `brevity(words=250)`."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from scoring.swan.rules.asked_count import ASKED_COUNT
from scoring.swan.rules.asked_length import ASKED_LENGTH
from scoring.swan.rules.breakdown import BREAKDOWN
from scoring.swan.rules.brevity import brevity_rule, correct_and_brief_rule
from scoring.swan.rules.contradiction import CONTRADICTION
from scoring.swan.rules.copied import COPIED, copied_rule
from scoring.swan.rules.fair_exposure import FAIR_EXPOSURE, fair_exposure_rule
from scoring.swan.rules.gave_way import GAVE_WAY
from scoring.swan.rules.hedging import hedging_rule
from scoring.swan.rules.invitation import INVITATION
from scoring.swan.rules.label import LABEL
from scoring.swan.rules.padding import PADDING
from scoring.swan.rules.recovery import recovery_rule
from scoring.swan.rules.remembered import REMEMBERED
from scoring.swan.rules.repetition import REPETITION
from scoring.swan.rules.rule import Rule, SetRule
from scoring.swan.rules.same_language import SAME_LANGUAGE
from scoring.swan.rules.set_rules import ADAPTED, AGREEING_TRIALS, EQUAL_BENEFIT, SAME_INFORMATION
from scoring.swan.rules.sourced import sourced_rule
from scoring.swan.rules.timely import TIMELY, timely_rule
from scoring.swan.rules.up_to_date import UP_TO_DATE

# By name, with the default of its parameter.
RULES: Mapping[str, Rule | SetRule] = MappingProxyType(
    {
        one.name.partition("(")[0]: one
        for one in (
            ADAPTED,
            AGREEING_TRIALS,
            ASKED_COUNT,
            ASKED_LENGTH,
            BREAKDOWN,
            brevity_rule(),
            CONTRADICTION,
            COPIED,
            correct_and_brief_rule(),
            EQUAL_BENEFIT,
            FAIR_EXPOSURE,
            GAVE_WAY,
            hedging_rule(),
            INVITATION,
            LABEL,
            PADDING,
            recovery_rule(),
            REMEMBERED,
            REPETITION,
            SAME_INFORMATION,
            SAME_LANGUAGE,
            sourced_rule(),
            TIMELY,
            UP_TO_DATE,
        )
    }
)

# By name of a rule with a parameter: the parameter, and the function that makes the rule.
_PARAMETERS: Mapping[str, tuple[str, Callable[[str], Rule | SetRule]]] = MappingProxyType(
    {
        "brevity": ("words", lambda value: brevity_rule(int(value))),
        "copied": ("field", copied_rule),
        "correct_and_brief": ("words", lambda value: correct_and_brief_rule(int(value))),
        "fair_exposure": ("of", fair_exposure_rule),
        "hedging": ("hedged", lambda value: hedging_rule(float(value))),
        "recovery": ("sign", recovery_rule),
        "timely": ("days", lambda value: timely_rule(int(value))),
    }
)

_NOTATION = re.compile(r"([a-z_]+)(?:\(([a-z_]+)=([\w.+-]+)\))?")


def parse_rule(text: str) -> Rule | SetRule:
    """Parse the notation of a rule. Raises ValueError, with the list of rules, for an unknown name or a wrong
    parameter."""
    match = _NOTATION.fullmatch(text.strip())
    name, key, value = match.groups() if match else (text, None, None)
    if name not in RULES:
        if (known := re.match("[a-z_]*", text)[0]) in RULES:  # type: ignore[index]
            takes = f"{known}({_PARAMETERS[known][0]}=VALUE)" if known in _PARAMETERS else known
            raise ValueError(f"{text!r} is not a form of the rule {known}; write {takes}")
        raise ValueError(f"there is no rule {name!r}; the rules are {', '.join(RULES)}")
    if value is None:
        return RULES[name]
    if name not in _PARAMETERS or key != _PARAMETERS[name][0]:
        takes = f"has the parameter {_PARAMETERS[name][0]}" if name in _PARAMETERS else "has no parameters"
        raise ValueError(f"the rule {name} {takes}, not {key}")
    parameter, make = _PARAMETERS[name]
    try:
        return make(value)
    except ValueError as fault:
        reason = str(fault)
        for sign, kind in (("invalid literal", "a whole number"), ("could not convert", "a number")):
            if sign in reason:
                reason = f"`{parameter}` must be {kind}, not {value!r}"
        raise ValueError(f"{text!r}: {reason}") from None
