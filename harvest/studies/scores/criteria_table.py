"""The table of SWAN's criteria by systems: weights, values, and unscored criteria ([SWAN] Table 1, Eq. 1 and 2)."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from harvest.tables.figure_table import figure_table
from harvest.tables.figures import printed_rows
from harvest.terminal import printable
from scoring.forms.readings import POOLED
from scoring.measures.swan import SWAN
from scoring.measures.value_share import SHARE
from scoring.measures.wan import WAN
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.swan.schema import Criterion, Schema, load_schema
from scoring.table import ScoreRow
from topics.decimals import decimal

# Printed where a criterion has no score, which is neither good nor bad.
UNSCORED = "nobody scored this"
_NAMES, _CELL = 52, 36  # columns of the screen for the names and weights, and for a system


def criterion_terms(schema: Schema) -> tuple[Term, ...]:
    """Return the measures of the table: the pooled SWAN, and the pooled WAN of each criterion that has scores."""
    return (_pooled(Term(SWAN.name)), *(_term(one) for one in schema if not one.values))


def criteria_tables(
    rows: Sequence[ScoreRow], schema: Schema, systems: Sequence[str], *, width: int
) -> Iterator[RenderableType]:
    """Yield tables of the criteria, each with as many systems as fit `width`, and a legend. `rows` are the rows of the
    measures in `criterion_terms`.

    The criteria of the paper's Table 1 come first, all of them if the schema has any, and other criteria follow. A
    criterion that is not in the schema has no weight.
    """
    known = {(row.measure, row.system): row for row in printed_rows(rows, every=True)}
    own = {(one.number, one.name): one for one in schema if not one.values}
    paper = {(one.number, one.name): own.get((one.number, one.name)) for one in load_schema(SHIPPED)}
    paper = paper if any(paper.values()) else {}
    others = {key: one for key, one in own.items() if key not in paper}
    parts = (("Table 1 of [SWAN]", paper), ("beyond Table 1" if paper else schema.name, others))
    step = max(1, (width - _NAMES) // _CELL)
    for start in range(0, len(systems), step):
        shown = systems[start : start + step]
        headings = ("CW", "NW", *(printable(one, line=True) for one in shown))
        table = figure_table("criterion", headings, max_width=_NAMES // 2)
        for title, criteria in parts:
            if criteria:
                table.add_row(Text(title, style="bold"))
            for (number, name), one in sorted(criteria.items(), key=lambda each: each[0]):
                found = [known.get((str(_term(one)), system)) if one else None for system in shown]
                weights = (decimal(one.weight, 4).rstrip("0").rstrip("."), str(one.weighting)) if one else ("–", "–")
                table.add_row(Text(f"{number:>2} {name}"), *map(Text, (*weights, *map(_cell, found))))
        whole = [known.get((str(_pooled(Term(SWAN.name))), system)) for system in shown]
        table.add_row(Text(SWAN.name, style="bold"), *map(Text, ("", "", *map(_cell, whole))))
        yield table
    valued = [f"{SHARE.name}({one.written_name})" for one in schema if one.values]
    if valued:
        yield Text(f"criteria with values have no scores; their shares: {', '.join(valued)}", style="dim")
    yield Text(
        "value, n scored nuggets, turns or topics, and whose scores they are, over all conversations together "
        f"({SWAN.source} and 2); CW, NW: weight of the criterion, and of its nuggets; SWAN is over the criteria with a "
        "value and a weight above 0, so compare it only between systems that have the same ones",
        style="dim",
    )


def _pooled(term: Term) -> Term:
    return Term(POOLED.name, (term,))


def _term(one: Criterion) -> Term:
    return _pooled(Term(WAN.name, (Term(one.written_name),)))


def _cell(row: ScoreRow | None) -> str:
    if row is None or not row.n:
        return UNSCORED
    return f"{row.shown(row.value)} n={row.n} {row.scorers or ''}".rstrip()
