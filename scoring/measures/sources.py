"""Measures of the sources that answers cite: the share of answers that cite a source, and its share of all citations.

A site is named by its host, or host and beginning of a path, with all its subdomains: `%citations(bbc.co.uk/news)`. A
group is named by a column of the table of sources and a cell: `%citations(kind, broadcaster)`; `unknown` is the group
of sources that are not in the table. A column alone stands for all its groups, except `official`, which stands for
`(official, yes)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from scoring.cited import CitedSource
from scoring.figure import Figure
from scoring.inference.interval import FEWEST_WITHOUT_END
from scoring.measure import (
    Declaration,
    Measure,
    Parameter,
    TermContext,
    read_plain_term,
    refuse_arguments,
    refuse_parameters,
)
from scoring.notation import Term
from topics.addresses import address
from topics.errors import InputError, suggestion
from topics.source_table import DOMAIN, OFFICIAL, UNKNOWN, SourceTable, fold_name

if TYPE_CHECKING:
    from scoring.material import Material


def read_column(term: Term, table: SourceTable) -> str:
    """Return the column of the table that is the term's first argument. Raises InputError for an unknown column."""
    written = str(term.arguments[0].name if isinstance(term.arguments[0], Term) else term.arguments[0])
    found = _find(written, table.columns)
    if found is not None:
        return found
    if not table.entries:
        what, advice = "there is no table of sources", "give one: --sources FILE, or `sources:` in the audit"
        raise InputError(f"{term}: {what}", advice=advice)
    meant = suggestion(written, table.columns)
    raise InputError(f"{term}: the table has no column {written!r}{meant}", allowed=", ".join(table.columns))


def _find(written: str, known: Sequence[str]) -> str | None:
    """Return the known name, which may be written in other capitals and with _ for a blank."""
    return {fold_name(name): name for name in known}.get(fold_name(written))


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    refuse_parameters(term, [one.name for one in declaration.parameters])
    refuse_arguments(declaration, term)
    table = asking.topics.sources
    names = [one.name if isinstance(one, Term) else str(one) for one in term.arguments]
    if not names:
        wanted: list[tuple[str, ...]] = [()]
    elif len(names) == 1 and _find(names[0], [*table.columns, OFFICIAL]) == OFFICIAL:
        wanted = [(read_column(term, table), "yes")]
    elif len(names) == 1 and ("." in names[0] or "/" in names[0]):
        wanted = [(_read_site(term, names[0]),)]
    elif names[0] == DOMAIN:
        wanted = [(_read_site(term, names[-1]),)]
    else:
        column = read_column(term, table)
        groups = (*table.groups(column), UNKNOWN)
        if len(names) == 1:
            wanted = [(column, group) for group in groups]
        else:
            group = _find(names[1], groups)
            if group is None:
                what = f"{term}: no row has the {column} {names[1]!r}{suggestion(names[1], groups)}"
                raise InputError(what, allowed=", ".join(groups))
            wanted = [(column, group)]
    terms = [Term(term.name, tuple(map(Term, one)), term.parameters) for one in wanted]
    return tuple(measure for one in terms for measure in read_plain_term(declaration, one, asking))


def _read_site(term: Term, written: str) -> str:
    parts = address(f"https://{written}") if "." in written else None
    if parts is None or parts.query:
        raise InputError(f"{term}: {written!r} is not a site", allowed="a host such as bbc.co.uk, or bbc.co.uk/news")
    return parts.host.removeprefix("www.") + parts.path.rstrip("/")


def _test(arguments: Sequence[str]) -> Callable[[CitedSource], bool]:
    """Return what tells whether a source is meant."""
    if not arguments:
        return lambda source: True
    if len(arguments) == 1:
        host, slash, path = arguments[0].partition("/")

        def is_on_site(source: CitedSource) -> bool:
            page = source.page
            if page is None or not f".{page.host}".endswith(f".{host}"):
                return False
            return f"{page.path}/".startswith(f"/{path}/") if slash else True

        return is_on_site
    column, group = arguments
    return lambda source: source.group(column) == ("" if group == UNKNOWN else group)


def _by_answer(material: Material, measure: Measure) -> dict[int, list[CitedSource]]:
    """Return the sources of each answer, or of the answer of the turn that the measure asks for."""
    found: dict[int, list[CitedSource]] = {
        turn.number: []
        for turn in material.conversation.turns
        if turn.reply is not None and measure.turn in (None, turn.number)
    }
    for source in material.cited:
        if source.turn in found:
            found[source.turn].append(source)
    return found


def _arguments(measure: Measure) -> tuple[str, ...]:
    return tuple(one.name for one in measure.base.arguments if isinstance(one, Term))


def _is_unknown(arguments: Sequence[str], source: CitedSource) -> bool:
    """Return True if it is unknown whether the source is meant."""
    if not arguments or arguments[-1] == UNKNOWN:
        return False
    return not source.group(arguments[0] if len(arguments) == 2 else DOMAIN)


def _figure(measure: Measure, shown: Sequence[tuple[bool, bool]], note: str) -> Figure:
    """Return the share of things that are meant, from (is meant, may be meant). The bounds are those over all groups of
    the unknown ones."""
    n, meant = len(shown), sum(one for one, _ in shown)
    unknown = sum(perhaps and not one for one, perhaps in shown)
    if not n:
        return Figure(measure.name, math.nan, 0, note=note)
    return Figure(measure.name, meant / n, n, unknown=unknown, worst=meant / n, best=(meant + unknown) / n)


def _score_answers(material: Material, measure: Measure) -> Figure:
    arguments = _arguments(measure)
    test = _test(arguments)
    shown = [
        (any(map(test, sources)), any(_is_unknown(arguments, source) for source in sources))
        for sources in _by_answer(material, measure).values()
    ]
    return _figure(measure, shown, "there is no answer")


def _score_conversation(material: Material, measure: Measure) -> Figure:
    found = _score_answers(material, measure)
    if not found.n:
        return found
    ends = (float(end > 0) for end in (found.value, found.worst, found.best))
    value, worst, best = ends
    return Figure(measure.name, value, found.n, unknown=found.unknown, worst=worst, best=best)


def _score_citations(material: Material, measure: Measure) -> Figure:
    arguments = _arguments(measure)
    test = _test(arguments)
    every = [source for sources in _by_answer(material, measure).values() for source in sources]
    return _figure(measure, [(test(one), _is_unknown(arguments, one)) for one in every], "no answer shows a source")


def _score_domains(material: Material, measure: Measure) -> Figure:
    answers = _by_answer(material, measure)
    if not answers:
        return Figure(measure.name, math.nan, 0, note="there is no answer")
    several = [{source.domain for source in sources} - {""} for sources in answers.values()]
    unknown = sum(not source.domain for sources in answers.values() for source in sources)
    return Figure(measure.name, sum(map(len, several)) / len(several), len(several), unknown=unknown)


_TURN = Parameter("turn", "number of a system turn, written S1; without it, all turns of a conversation")
_CONTENTS = ("(bbc.co.uk)", "(kind, broadcaster)", "(official)")

_of_sources = partial(
    Declaration,
    of="conversation",
    source="this project; docs/sources.md",
    parameters=(_TURN,),
    good="neither",
    percentage=True,
    read=_read_term,
)
SOURCED = _of_sources(
    name="%sourced",
    sentence="How often an answer shows a source, or a source of one site or group.",
    formula="answers of the conversation that show one / its answers; over several, the mean",
    undefined="the conversation has no answer",
    example="%sourced(bbc.co.uk)",
    n="answers",
    arguments=(0, 2),
    written=("%sourced", *(f"%sourced{one}" for one in _CONTENTS)),
    called=("fewest", "most"),
    counts="shares",
    score=_score_answers,
)
CITES = _of_sources(
    name="cites",
    sentence="How often a conversation shows a source at all, or a source of one site or group.",
    formula="1 if an answer of the conversation shows one, 0 otherwise; over several, the share of conversations",
    undefined="the conversation has no answer",
    example="cites(bbc.co.uk)",
    n="answers",
    arguments=(0, 2),
    written=("cites", *(f"cites{one}" for one in _CONTENTS)),
    event=True,
    score=_score_conversation,
)
CITATIONS = _of_sources(
    name="%citations",
    sentence="The share of citations that goes to one site or group.",
    formula="citations of it / citations, a source counting once in an answer; over several, one ratio of sums",
    undefined="no answer shows a source",
    example="%citations(bbc.co.uk)",
    n="citations",
    arguments=(1, 2),
    written=tuple(f"%citations{one}" for one in _CONTENTS),
    called=("fewest", "most"),
    counts="sums",
    score=_score_citations,
)
DOMAINS = _of_sources(
    name="domains",
    sentence="How many different sites an answer shows.",
    formula="registrable domains of an answer's sources, each once, averaged over the conversation's answers",
    undefined="the conversation has no answer",
    example="domains",
    n="answers",
    range=(0.0, math.inf),
    has_top=False,
    fewest_topics=FEWEST_WITHOUT_END,
    percentage=False,
    called=("fewest", "most"),
    read=None,
    score=_score_domains,
)
