"""Every measure that can be asked for by its written form, and what it means under the settings of a scoring run.

    understood(term, settings, topics, schema)   what is to be computed; InputError that names the nearest measure

Measures of a conversation:  R(L=…) · GF, GF(SET, by=…), GF_rel …, GF_cum … · GFR(alpha=…), GFR_cum … ·
                             SWAN(weights=…) · WAN(Criterion, weights=…) · breakdown
Measures of trials:          %useful, %useful S1 · ave%useful · %recovery · transition(x, o) · persistence
Of many conversations:       Q(M, beta=…) · CVaR(M, beta=…) · min(M) · P(M, below=…) · P(breakdown) · pooled(M) ·
                             of_pooled(GF(SET))

A parameter that is not given has the value of the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from scoring.notation import Term, Value, number_text, parse
from scoring.settings import Settings
from scoring.stochastic.chain import TRANSITIONS
from scoring.swan.schema import Schema
from scoring.swan.scorers import SCORERS
from scoring.swan.weighting import Weighting, parse_weighting
from topics.errors import InputError
from topics.suggestions import nearest
from topics.topic import TopicSet

__all__ = ["BETA", "CHAINS", "FORMS", "NEED_GOLD", "SHARES", "Measure", "understood"]

SHARES = ("%useful", "ave%useful", "%recovery")
CHAINS = ("transition", "persistence")
"""Of the label chain of a system."""

NEED_GOLD = ("R", "GF", "GF_rel", "GF_cum", "GFR", "GFR_cum")
"""Undefined wherever nothing says what a good answer holds."""

END = "end"
"""How `-` is written within a measure: the conversation has ended."""

FORMS: Mapping[str, str] = MappingProxyType({"Q": "beta", "CVaR": "beta", "min": "", "P": "below"})
"""The worst-case forms, with the number each takes."""

BETA = 0.25
"""The worst quarter, where no beta is given."""

_OWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "R": ("L",),
        "GF": ("by", "irrelevant", "turn_weight"),
        "GF_rel": ("by", "irrelevant", "turn_weight"),
        "GF_cum": ("by", "irrelevant", "turn_weight"),
        "GFR": ("alpha", "L"),
        "GFR_cum": ("alpha", "L"),
        "SWAN": ("weights",),
        "WAN": ("weights",),
        "breakdown": (),
    }
)
_READINGS = ("pooled", "of_pooled")
_PARTS = MappingProxyType({"DistrSim": "system turn", "DistrSim_cum": "system turn", "pw": "nugget"})
"""What a figure is of that has no value over conversations, so that nothing could be asked for."""
_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "WAN": "WAN(Correctness)",
        "GF": "GF, or GF(SET) of one attribute set",
        "GF_rel": "GF_rel, or GF_rel(SET) of one attribute set",
        "GF_cum": "GF_cum, or GF_cum(SET) of one attribute set",
        "transition": "transition(x, o)",
        "Q": "Q(R, beta=0.25)",
        "CVaR": "CVaR(R, beta=0.25)",
        "min": "min(R)",
        "P": "P(R, below=0.1)",
        "pooled": "pooled(SWAN)",
        "of_pooled": "of_pooled(GF(SET))",
    }
)
_KNOWN = (*_OWN, *SHARES, *CHAINS, *FORMS, *_READINGS)
_SETTING = {"L": "patience", "by": "ordinal"}


@dataclass(frozen=True, slots=True)
class Measure:
    """What a term asks for. term: as it is printed. form: `Q`, `CVaR`, `min`, `P`, `pooled`, `of_pooled`, or "" for the
    mean over conversations. number: beta or the bound of a form; NaN where it takes none. within: by topic.

    base: the measure of one conversation (or a share) that it is taken of. figure: what `scoring.conversations` calls
    it under `settings`; "" for what has no figure there. weighting: of SWAN and WAN; None: the schema's.
    """

    term: Term
    base: Term
    settings: Settings
    form: str = ""
    number: float = float("nan")
    within: bool = False
    figure: str = ""
    weighting: Weighting | None = None

    @property
    def name(self) -> str:
        return str(self.term)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value there can be. A difference of two shares can be below 0."""
        return (-1.0, 1.0) if self.form == "persistence" else (0.0, 1.0)

    @property
    def turn(self) -> int | None:
        """The one system turn that is wanted, from 1; None for all of them, or where it is of none."""
        return self.term.turn

    @property
    def criterion(self) -> str:
        """Of a WAN; "" for anything else."""
        return str(self.base.arguments[0]) if self.base.name == "WAN" else ""

    @property
    def transition(self) -> tuple[str, ...]:
        """Where it leads from and to, `-` for the end; () for anything else."""
        if self.form != "transition":
            return ()
        return tuple("-" if str(value) == END else str(value) for value in self.base.arguments)

    @property
    def attribute(self) -> str:
        """The attribute set of a GF; "" for anything else."""
        inside = self.base.arguments
        return str(inside[0]) if self.base.name in ("GF", "GF_rel", "GF_cum") and inside else ""


def understood(term: Term, settings: Settings, topics: TopicSet, schema: Schema) -> tuple[Measure, ...]:
    """What a term asks for: one measure, or the three readings of GF where one of the last two is asked for.

    Raises InputError for what is no measure, for a parameter it does not take, and for values out of range.
    """
    if term.name in FORMS:
        return (_worst(term, settings, topics, schema),)
    if term.name in _READINGS:
        base = _inside(term, settings, topics, schema)
        _only(term, ())
        if base.base.name in ("SWAN", "WAN") and term.name == "pooled":
            return (replace(base, term=Term("pooled", (base.term,)), form="pooled"),)
        if base.base.name == "GF" and base.attribute:
            # What is pooled may look fair while nobody was treated fairly, so the readings come together.
            forms = [replace(base, term=Term(name, (base.term,)), form=name) for name in _READINGS]
            return (base, *forms)
        allowed = "pooled(SWAN), pooled(WAN(Correctness)), pooled(GF(SET)), of_pooled(GF(SET))"
        raise InputError(f"{term} is no reading of a measure", allowed=allowed)
    if term.name in CHAINS:
        return (_chain(term, settings),)
    return (_own(term, settings, topics, schema),)


def _chain(term: Term, settings: Settings) -> Measure:
    _only(term, ())
    _arguments(term, 2 if term.name == "transition" else 0)
    measure = Measure(term, term, settings, form=term.name)
    if term.name == "transition" and measure.transition not in TRANSITIONS:
        known = ", ".join(f"({source}, {END if target == '-' else target})" for source, target in TRANSITIONS)
        raise InputError(f"{term}: there is no such transition", allowed=known)
    return measure


def _own(term: Term, settings: Settings, topics: TopicSet, schema: Schema) -> Measure:
    if term.name in SHARES:
        _only(term, ("turn",) if term.name == "%useful" else ())
        _arguments(term, 0)
        if term.turn is None and term.get("turn") is not None:
            raise InputError(f"{term}: turn is the number of a system turn", allowed="a whole number from 1")
        return Measure(term, term, settings)
    if term.name in _PARTS:
        raise InputError(
            f"{term}: {term.name} is of a single {_PARTS[term.name]}, and has no value over conversations",
            advice="its rows are among those of `harvest score RUN --json`, where no --measure is asked for",
        )
    if term.name not in _OWN:
        meant = nearest(term.name, _KNOWN)
        asked = f": did you mean {meant}?" if meant else ""
        raise InputError(f"{term.name!r} is no measure{asked}", allowed=", ".join(_KNOWN))
    _only(term, _OWN[term.name])
    if term.name in ("SWAN", "WAN"):
        return _nuggets(term, settings, schema)
    changed = settings
    for name, value in term.parameters:
        try:
            changed = replace(changed, **{_SETTING.get(name, name): _setting(term, name, value)})
        except InputError as fault:
            what = fault.what.removeprefix(f"scoring setting {_SETTING.get(name, name)}: ")
            raise InputError(f"{term}: {name}: {what}", allowed=fault.allowed) from None
    if term.name in ("GF", "GF_rel", "GF_cum"):
        return _fairness(term, changed, topics)
    _arguments(term, 0)
    figure = f"{term.name}(alpha={number_text(changed.alpha)})" if term.name.startswith("GFR") else term.name
    return Measure(term, term, changed, figure=figure)


def _fairness(term: Term, settings: Settings, topics: TopicSet) -> Measure:
    """GF of one attribute set, or of all of a topic's."""
    _arguments(term, 0, 1)
    by = term.get("by")
    if not term.arguments:
        if str(by) == "JSD":
            raise InputError(f"{term}: by is the divergence of ordinal sets", allowed="RNOD, NMD")
        return Measure(term, term, settings, figure=term.name)
    name = str(term.arguments[0])
    attribute = topics.attributes.get(name)
    if attribute is None:
        raise InputError(f"{term}: there is no attribute set {name!r}", allowed=", ".join(topics.attributes) or "none")
    if attribute.scale == "nominal" and by is not None and str(by) != "JSD":
        raise InputError(f"{term}: the groups of {name} have no order", allowed="by=JSD")
    if attribute.scale == "ordinal" and str(by) == "JSD":
        raise InputError(f"{term}: the groups of {name} have an order, which JSD does not see", allowed="RNOD, NMD")
    return Measure(term, term, settings, figure=f"{term.name}({name})")


def _nuggets(term: Term, settings: Settings, schema: Schema) -> Measure:
    own = 1 if term.name == "WAN" else 0
    if all(str(value) in SCORERS.values() for value in term.arguments[own:]):
        # as tables print it: who scored it is found out, not asked for
        term = Term(term.name, term.arguments[:own], term.parameters)
    _arguments(term, own)
    if term.name == "WAN":
        inside = term.arguments[0]
        name = number_text(inside) if isinstance(inside, float) else str(inside)
        try:
            criterion = schema[name]
        except InputError as fault:
            known = ", ".join(one.name.replace(" ", "_") for one in schema)
            raise InputError(f"{term}: {fault.what}", allowed=known) from None
        if criterion.level == "set":
            raise InputError(
                f"{term}: {criterion.name} is scored once for all conversations of a topic, not in each",
                allowed=", ".join(one.name.replace(" ", "_") for one in schema if one.level != "set"),
                advice="it enters pooled(SWAN)",
            )
        term = Term("WAN", (Term(criterion.name.replace(" ", "_")),), term.parameters)
    weights = term.get("weights")
    if weights is None:
        return Measure(term, term, settings)
    try:
        weighting = parse_weighting(str(weights) if isinstance(weights, Term) else repr(weights))
    except ValueError as fault:
        raise InputError(f"{term}: {fault}") from None
    term = Term(term.name, term.arguments, (("weights", parse(str(weighting))),))
    return Measure(term, term, settings, weighting=weighting)


def _worst(term: Term, settings: Settings, topics: TopicSet, schema: Schema) -> Measure:
    base = _inside(term, settings, topics, schema)
    term = Term(term.name, (base.term,), term.parameters)
    key = FORMS[term.name]
    if term.name == "P" and base.base.name == "breakdown":
        _only(term, ())
        return replace(base, term=term, form="P", number=1.0)
    if base.base.name in ("breakdown", *SHARES):
        raise InputError(f"{term}: {base.term} has no better and worse conversations", advice="take it as it is")
    _only(term, {"beta": ("beta", "within"), "below": ("below",)}.get(key, ()))
    number = term.get(key) if key else float("nan")
    if number is None and key == "beta":
        number = BETA
        term = Term(term.name, term.arguments, (*term.parameters, (key, number)))
    if not isinstance(number, float):
        raise InputError(f"{term}: {key} is missing, or no number", allowed=f"{term.name}({base.term}, {key}=0.25)")
    if key == "beta" and not 0 < number <= 1:
        raise InputError(f"{term}: beta is the share of the worst conversations", allowed="above 0, at most 1")
    within = term.get("within")
    if within is not None and str(within) != "topics":
        raise InputError(f"{term}: within={within}", allowed="within=topics")
    return replace(base, term=term, form=term.name, number=number, within=within is not None)


def _inside(term: Term, settings: Settings, topics: TopicSet, schema: Schema) -> Measure:
    """What a form is taken of."""
    _arguments(term, 1)
    inside = term.arguments[0]
    if not isinstance(inside, Term) or inside.name in (*FORMS, *_READINGS, *CHAINS):
        known = [name for name in _OWN if name != "breakdown" or term.name == "P"]
        raise InputError(f"{term}: {term.name} is taken of a measure of single conversations", allowed=", ".join(known))
    return _own(inside, settings, topics, schema)


def _arguments(term: Term, least: int, most: int | None = None) -> None:
    most = least if most is None else most
    if not least <= len(term.arguments) <= most:
        wanted = {0: "nothing", 1: "one thing"}.get(most, f"{most} things")
        wanted = f"nothing, or {wanted}" if least < most else wanted
        stand = {0: "nothing stands", 1: "1 stands"}.get(len(term.arguments), f"{len(term.arguments)} stand")
        raise InputError(
            f"{term}: {term.name} is taken of {wanted}, and {stand} there",
            advice=f"write {_EXAMPLES.get(term.name, term.name)}",
        )


def _only(term: Term, allowed: tuple[str, ...]) -> None:
    for name, _ in term.parameters:
        if name not in allowed:
            raise InputError(f"{term}: {term.name} takes no {name}", allowed=", ".join(allowed) or "no parameters")


def _setting(term: Term, name: str, value: Value) -> Any:
    if name in ("L", "alpha"):
        if not isinstance(value, float):
            raise InputError(f"{value} is no number")
        return int(value) if name == "L" and value.is_integer() else value
    if name == "by" and str(value) == "JSD":
        return "RNOD"  # nominal sets have no choice; that of ordinal ones stays as it is by default
    return str(value)
