"""The declarations of measures as printed tables, as JSON, and as the table in docs/measures.md.

`python -m harvest.studies.scores.measure_tables` prints the table for the page; a test compares it with the page.
"""

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from scoring.library import OF_CONVERSATIONS, OF_LISTS, OF_PREDICTORS, measures
from scoring.measure import Declaration, Of, Parameter
from scoring.notation import number_text
from scoring.settings import Settings

FORMAT = "harvest-measures/1"

_SECTIONS: Mapping[Of, str] = MappingProxyType(
    {
        "conversation": "of one conversation; over several, the mean",
        "trials": "of answers over trials",
        "measure": "over many conversations, of a measure M of one",
        "turn": "of one turn: rows of harvest score RUN --json",
        "nugget": "of one nugget: rows of harvest score RUN --json",
        "list": "of ranked lists: harvest metrics gfr",
        "predictor": "of predictors: harvest metrics breakdown eval, harvest metrics helpdesk eval",
    }
)
_NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "gold": "a gold table",
        "judgments": "scores of nuggets, by people, models or rules",
        "labels": "labels of answers, o or x",
        "qrels": "grades of documents (qrels)",
        "memberships": "groups of documents and gold shares",
        "annotations": "annotations of each dialogue by several people",
    }
)
_GOOD: Mapping[str, str] = MappingProxyType(
    {"high": "high is good", "low": "low is good", "neither": "neither high nor low is good"}
)


def every_measure() -> tuple[Declaration, ...]:
    """Return the measures of conversations, of lists and of predictors."""
    return (*measures(), *OF_LISTS, *OF_PREDICTORS)


def measure_list(declarations: Sequence[Declaration]) -> Iterator[RenderableType]:
    """Yield a table of measures for each kind of measured object, such as conversations or topics."""
    widest = max(len(one.name) for one in declarations)
    for of, title in _SECTIONS.items():
        own = [one for one in declarations if one.of == of]
        if own:
            table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
            table.add_column(no_wrap=True, min_width=widest)
            table.add_column(overflow="fold")
            for one in own:
                table.add_row(Text(one.name), Text(one.sentence))
            yield Text(title, style="bold")
            yield table
            yield Text()


def measure_kind(one: Declaration) -> str:
    """Return the kind of object that is measured, such as “of ranked lists”, to distinguish measures with the same
    name."""
    return re.split("[;:,]", _SECTIONS[one.of])[0]


def explain_measure(one: Declaration, *, shares_name: bool = False) -> Iterator[RenderableType]:
    """Yield the description of one measure: its meaning, formula and requirements, and how to request it. If it shares
    its name with another measure, the heading also names the kind of object."""
    yield Text(f"{one.name}{f' ({measure_kind(one)})' if shares_name else ''}: {one.sentence}", style="bold")
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for key, text in _measure_facts(one):
        table.add_row(key, Text(text))
    yield table


def _measure_facts(one: Declaration) -> Iterator[tuple[str, str]]:
    yield "value", _SECTIONS[one.of]
    yield "formula", one.formula
    yield "source", one.source
    yield "needs", "; ".join(_NEEDS[need] for need in one.needs) or "only the conversations"
    if one.arguments[1]:
        yield "written", ", ".join(one.forms)
    for parameter in one.parameters:
        default = _default_text(parameter)
        instead = f", or the setting {parameter.setting}" if parameter.setting else ""
        yield f"  {parameter.name}=", (parameter.meaning + (f" [{default}{instead}]" if default else ""))
    least, most = one.range
    good = "whether high or low is good depends on the request" if callable(one.good) else _GOOD[one.good]
    yield "range", f"from {least:g}" + (f" to {most:g}" if math.isfinite(most) else " up") + f"; {good}"
    yield "undefined", one.undefined
    many = "; over several, the conversations" if one.of == "conversation" and not one.counts else ""
    yield "n counts", one.n + many
    asked = one.of in ("conversation", "trials", "measure")
    yield "example", f"harvest score RUN --measure '{one.example}'" if asked else one.example


def _default_text(parameter: Parameter) -> str:
    found = getattr(Settings(), parameter.setting) if parameter.setting else parameter.default
    if found is None:
        return ""
    return number_text(found) if isinstance(found, (int, float)) else str(found)


def measures_document(declarations: Sequence[Declaration]) -> dict[str, object]:
    """Return the `harvest-measures/1` document, with null for an infinite end of a range."""
    return {
        "format": FORMAT,
        "measures": [
            {
                "name": one.name,
                "of": one.of,
                "sentence": one.sentence,
                "formula": one.formula,
                "source": one.source,
                "needs": list(one.needs),
                "written": list(one.forms),
                "parameters": [
                    {
                        "name": parameter.name,
                        "meaning": parameter.meaning,
                        "default": _default_text(parameter) or None,
                        "setting": parameter.setting or None,
                    }
                    for parameter in one.parameters
                ],
                "range": [end if math.isfinite(end) else None for end in one.range],
                "good": "depends" if callable(one.good) else one.good,
                "undefined": one.undefined,
                "n": one.n,
                "example": one.example,
                "percentage": one.percentage,
            }
            for one in declarations
        ],
    }


def markdown_table(declarations: Sequence[Declaration]) -> str:
    """Return a Markdown table with the syntax, meaning and formula of each measure that can be requested."""
    lines = [("written", "what it says", "formula", "source", "NaN where"), ("---",) * 5]
    for one in declarations:
        if one.of in ("conversation", "trials", "measure"):
            forms = dict.fromkeys((*one.forms, one.example))
            lines.append(
                (", ".join(f"`{form}`" for form in forms), one.sentence, one.formula, one.source, one.undefined)
            )
    return "".join(f"| {' | '.join(cell for cell in line)} |\n" for line in lines)


def main() -> None:
    sys.stdout.write(markdown_table(OF_CONVERSATIONS))


if __name__ == "__main__":
    main()
