"""All measures. A new measure is one line here, or an entry point of another distribution:

[project.entry-points."harvest.measures"]
Echo = "echo_measures.echo:ECHO"        # a Declaration of single conversations, by its own name
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType

from scoring.figure import Good
from scoring.forms.chains import EXCESS, PERSISTENCE, TRANSITION
from scoring.forms.readings import OF_POOLED, POOLED
from scoring.forms.worst import CVAR, MAXIMUM, MINIMUM, QUANTILE, RATE
from scoring.measure import Declaration, Measure, TermContext, read_plain_term, refuse_arguments
from scoring.measures import breakdown, group_fairness
from scoring.measures.achieved import ACHIEVED, CUMULATIVE_ACHIEVED
from scoring.measures.answer_rules import ASKED_LANGUAGE, EVASIONS, REFUSALS
from scoring.measures.as_list import AS_LIST
from scoring.measures.conversation_breakdown import BREAKDOWN
from scoring.measures.dialogue_quality import QUALITY
from scoring.measures.err import ERR
from scoring.measures.exposure import CUMULATIVE_EXPOSURE, EXPOSURE
from scoring.measures.f_measure import F_FLAT
from scoring.measures.gfr import LIST_FAIRNESS, LIST_SUMMARY
from scoring.measures.helpdesk_utility import UCH
from scoring.measures.irbu import IRBU
from scoring.measures.latency import LATENCY, TTFT
from scoring.measures.m_measure import M_MEASURE
from scoring.measures.nugget_detection import NUGGETS
from scoring.measures.nugget_recall import RECALL as RECALL_OF_NUGGETS
from scoring.measures.nugget_recall import WEIGHTED_RECALL
from scoring.measures.relevance import POSITION_WEIGHT, RELEVANCE
from scoring.measures.s_measure import S_FLAT, S_MEASURE
from scoring.measures.sources import CITATIONS, CITES, DOMAINS, SOURCED
from scoring.measures.swan import SWAN
from scoring.measures.t_measure import T_FLAT, T_MEASURE
from scoring.measures.tokens import COST, TOKENS_IN, TOKENS_OUT
from scoring.measures.u_measure import U_IA, U_MEASURE
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.measures.value_share import SHARE
from scoring.measures.wan import WAN
from scoring.measures.worst_sequence import WORST_SEQUENCE
from scoring.notation import Term, parse
from scoring.settings import Settings
from scoring.swan.schema import Schema
from topics.errors import InputError, nearest_name
from topics.plug_ins import find_plug_ins, load_entry
from topics.topic import TopicSet

# The group of entry points by which other distributions add measures of conversations.
GROUP = "harvest.measures"

# Harvest's own measures of conversations and of trials.
OF_CONVERSATIONS = (
    USEFUL,
    MEAN_USEFUL,
    RECOVERY,
    RELEVANCE,
    group_fairness.FAIRNESS,
    group_fairness.CUMULATIVE_FAIRNESS,
    group_fairness.FAIRNESS_WHERE_RELEVANT,
    group_fairness.SUMMARY,
    group_fairness.CUMULATIVE_SUMMARY,
    ACHIEVED,
    CUMULATIVE_ACHIEVED,
    SWAN,
    WAN,
    SHARE,
    WORST_SEQUENCE,
    U_MEASURE,
    U_IA,
    M_MEASURE,
    UCH,
    S_MEASURE,
    S_FLAT,
    T_MEASURE,
    T_FLAT,
    F_FLAT,
    RECALL_OF_NUGGETS,
    WEIGHTED_RECALL,
    AS_LIST,
    BREAKDOWN,
    REFUSALS,
    EVASIONS,
    ASKED_LANGUAGE,
    SOURCED,
    CITES,
    CITATIONS,
    DOMAINS,
    EXPOSURE,
    CUMULATIVE_EXPOSURE,
    TTFT,
    LATENCY,
    TOKENS_IN,
    TOKENS_OUT,
    COST,
    TRANSITION,
    PERSISTENCE,
    EXCESS,
    CVAR,
    QUANTILE,
    MINIMUM,
    MAXIMUM,
    RATE,
    POOLED,
    OF_POOLED,
    group_fairness.SIMILARITY,
    group_fairness.CUMULATIVE_SIMILARITY,
    POSITION_WEIGHT,
)

# Those of ranked lists, which `harvest metrics gfr` computes, in the order of its tables.
OF_LISTS = (ERR, IRBU, LIST_SUMMARY, LIST_FAIRNESS)

# Those of predictors, which `harvest metrics breakdown eval` and `harvest metrics helpdesk eval` compute.
OF_PREDICTORS = (
    breakdown.ACCURACY,
    breakdown.PRECISION,
    breakdown.RECALL,
    breakdown.F1,
    breakdown.DIVERGENCE,
    breakdown.SQUARED_ERROR,
    breakdown.ORDERED_DIVERGENCE,
    breakdown.LEVEL,
    *QUALITY,
    *NUGGETS,
)

_OWN: Mapping[str, Declaration] = MappingProxyType({one.name: one for one in OF_CONVERSATIONS})
_GIVEN: dict[str, Declaration] = {}


def make_known(declaration: Declaration) -> Term:
    """Make a measure of conversations known to this process, and return the term that asks for it.

    It can then be named wherever a measure is named, like a measure of an installed distribution, but is only computed
    on request. A measure that was given before under the same name is replaced, as when the cell of a notebook is run
    again. Raises InputError if the declaration is not valid, or if another measure has its name.
    """
    try:
        _check_declaration(declaration.name, declaration)
    except TypeError as error:
        raise InputError(f"the measure {declaration.name}: {error}") from None
    if declaration.name in _OWN or any(other.name == declaration.name for other in plug_ins()):
        raise InputError(f"there is a measure {declaration.name} already", advice="give yours another name")
    _GIVEN[declaration.name] = replace(declaration, shown="asked")
    return Term(declaration.name)


@cache
def plug_ins() -> tuple[Declaration, ...]:
    """Load the measures of other distributions. Raises InputError for an invalid measure or a name already in use."""
    allowed = "a scoring.Declaration of that name, of a conversation, with score"
    others = find_plug_ins(GROUP, "measures", _OWN)
    return tuple(
        load_entry(entry, "the measure", allowed, partial(_check_declaration, name)) for name, entry in others.items()
    )


def _check_declaration(name: str, one: Declaration) -> Declaration:
    if not isinstance(one, Declaration):
        raise TypeError(f"it must be a Declaration, not {type(one).__name__}")
    if one.name != name or one.of != "conversation" or one.score is None:
        raise TypeError(f"it must declare {name!r} of a conversation, with a score, not {one.name!r} of a {one.of}")
    least, most = one.range
    if not 0 <= least < most or (most > 1 and one.has_top):
        raise TypeError(
            f"its range must start at 0 and end at most at 1 (or higher if has_top=False), not {least:g} to {most:g}"
        )
    return one


def unasked_plug_ins() -> tuple[str, ...]:
    """Return the sorted names of plug-in measures that are computed by default. They determine the rows of a run."""
    return tuple(sorted(one.name for one in plug_ins() if one.shown != "asked"))


def measures() -> tuple[Declaration, ...]:
    """Return all measures of conversations: Harvest's own measures, then the measures of other distributions, and the
    measures that were registered in this process."""
    return (*OF_CONVERSATIONS, *plug_ins(), *_GIVEN.values())


def declared(name: str) -> Declaration | None:
    """Return the declaration of the measure at the beginning of a printed name, as GF in `GF(ATTRS, by=NMD)`, or
    None."""
    bare = name.partition("(")[0]
    own = _OWN.get(bare) or _GIVEN.get(bare)
    if own is not None:
        return own
    return next((one for one in plug_ins() if one.name == bare), None)


def range_of(name: str) -> tuple[float, float]:
    """Return the range of a measure by its printed name. A form that keeps the values of its inner measure has the
    range of the inner measure."""
    term, found = parse(name), declared(name)
    if found is None:
        return (0.0, 1.0)
    base = term.arguments[0] if found.of == "measure" and not found.event and term.arguments else None
    return range_of(str(base)) if isinstance(base, Term) else found.range


def good_end(term: Term) -> Good:
    """Return the good end of a measure's range, or "high" for an unknown name. Some forms have the inner measure's
    good end."""
    found = declared(term.name)
    base = term.arguments[0] if term.arguments else None
    inner = good_end(base) if isinstance(base, Term) else "high"
    return "high" if found is None else found.better(term, inner)


def single_measures() -> tuple[Declaration, ...]:
    """Return the measures of single conversations."""
    return tuple(one for one in measures() if one.of == "conversation")


def list_forms(declarations: Iterable[Declaration]) -> str:
    """List the written forms, for messages that state the allowed values."""
    return ", ".join(form for one in declarations for form in one.forms)


# Measures of these have no value over conversations, so they cannot be asked for.
_PARTS = {"turn": "system turn", "nugget": "nugget"}


def read_term(
    term: Term, settings: Settings, topics: TopicSet, schema: Schema | Callable[[], Schema]
) -> tuple[Measure, ...]:
    """Return the measures that a term names: a single measure, or all three readings of GF. `schema`, for measures of
    judgments, may be a function that loads the schema if needed. Raises InputError for an unknown measure or
    parameter and for values out of range."""
    declaration = find_declaration(term.name)
    if declaration.of in _PARTS:
        raise InputError(
            f"{term}: {term.name} is of a single {_PARTS[declaration.of]}, so it has no value over conversations",
            advice="its rows are among those of `harvest score RUN --json`, without --measure",
        )
    inner = partial(_read_inner_term, declaration=declaration, settings=settings, topics=topics, schema=schema)
    criteria = schema if callable(schema) else lambda: schema
    asking = TermContext(settings, topics, criteria, inner)
    return (declaration.read or read_plain_term)(declaration, term, asking)


def find_declaration(name: str) -> Declaration:
    """Return the measure of that name. Raises InputError, with the allowed names, for an unknown name."""
    known = {one.name: one for one in measures()}
    if name not in known:
        askable = [one.name for one in known.values() if one.of not in _PARTS]
        meant = nearest_name(name, askable)
        asked = f": did you mean {meant}?" if meant else ""
        raise InputError(f"{name!r} is not a measure{asked}", allowed=", ".join(askable))
    return known[name]


def _read_inner_term(
    term: Term, declaration: Declaration, settings: Settings, topics: TopicSet, schema: Schema | Callable[[], Schema]
) -> Measure:
    refuse_arguments(declaration, term)
    inside = term.arguments[0]
    found = find_declaration(inside.name) if isinstance(inside, Term) else None
    if not isinstance(inside, Term) or found is None or found.of == "measure" or found.rows is not None:
        known = [one.name for one in measures() if one.of == "conversation" and (declaration.event or not one.event)]
        raise InputError(
            f"{term}: {term.name} takes a measure of single conversations as its argument", allowed=", ".join(known)
        )
    named = read_term(inside, settings, topics, schema)
    if len(named) > 1:
        raise InputError(
            f"{term}: {inside} stands for several measures, but {declaration.name} takes only one",
            allowed=", ".join(one.name for one in named),
        )
    return named[0]
