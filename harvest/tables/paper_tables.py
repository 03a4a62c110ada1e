"""Rows as CSV for spreadsheets, and scores as a LaTeX table."""

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from scoring.table import ScoreRow, is_percentage
from topics.decimals import decimal

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")  # also the wide ones of East Asian keyboards


class Tabled(Protocol):
    """A row of a table; all rows of a table have the same keys."""

    def as_json(self) -> dict[str, object]: ...


def csv_rows(rows: Iterable[Tabled]) -> str:
    """Return rows as CSV with a heading, under the keys of JSON; undefined and inapplicable values are empty. A text
    that looks like a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heading: list[str] = []
    for row in rows:
        value = row.as_json()
        if not heading:
            heading = list(value)
            writer.writerow(heading)
        writer.writerow([_csv_cell(value[name]) for name in heading])
    return out.getvalue()


def _csv_cell(value: object) -> object:
    """Return a cell of CSV, with an apostrophe before text that a spreadsheet would run as a formula."""
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return "" if value is None else value


def latex_table(rows: Sequence[ScoreRow], systems: Sequence[str]) -> str:
    """Return a `tabular` with the rules of the package booktabs: a line for each measure, and for each system the
    value, its interval and its n. rows: overall rows, in the order of the lines. Comments below it name the methods of
    the intervals."""
    columns = [system for system in systems if any(row.system == system for row in rows)]
    cells = {(row.measure, row.turn, row.system): row for row in rows}
    lines = [
        r"\begin{tabular}{l" + "rlr" * len(columns) + "}",
        r"\toprule",
        "measure" + "".join(rf" & {latex_text(one)} & & $n$" for one in columns) + r" \\",
        r"\midrule",
    ]
    labels: dict[tuple[str, int | None], str] = {}
    for row in rows:
        labels.setdefault((row.measure, row.turn), row.label)
    for key, label in labels.items():
        parts = "".join(f" & {_latex_cells(cells.get((*key, one)))}" for one in columns)
        lines.append(f"{latex_text(label)}{parts} \\\\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    methods = dict.fromkeys(
        f"{100 * row.level:g}% {row.interval}, resampled: {row.resampled or 'nothing'}"
        for row in rows
        if row.level is not None and row.interval and not math.isnan(row.low)
    )
    lines += [f"% intervals: {' '.join(method.split())}" for method in methods]
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    """Return `text` on one line, escaped for LaTeX."""
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _SPECIAL[found[0]], " ".join(text.split()))


def _latex_cells(row: ScoreRow | None) -> str:
    if row is None:
        return " & & "
    interval = ""
    if not math.isnan(row.low):
        share = is_percentage(row.measure)
        ends = [decimal(100 * end, 1) if share else decimal(end, 4) for end in (row.low, row.high)]
        interval = f"[{', '.join(ends)}]"
    return f"{latex_text(row.shown(row.value))} & {interval} & {row.n}"
