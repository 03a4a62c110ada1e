"""The figures of all studies in one long form, as CSV and LaTeX.

Each row is a figure, and the columns are the same for every study, so that rows of different studies fit in one data
frame and one LaTeX table. Values are unformatted: shares are from 0 to 1, and variances keep their sign.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

from recordings.files.json_text import Json, json_number
from scoring.inference.interval import Interval
from scoring.inference.matched import Difference
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.table import ScoreRow, is_percentage
from topics.decimals import decimal

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
TOPRULE = r"\toprule  % needs \usepackage{booktabs}"  # LaTeX shows this line where the package is missing
# The first line of each table, since who pastes a table reads that line; also said beside it, see `LATEX_NEEDS`.
LATEX_HEAD = r"% Needs \usepackage{booktabs} in the preamble."
LATEX_NEEDS = r"the table needs \usepackage{booktabs} in the preamble; names in other scripts than Latin need XeLaTeX"
_DIFFERENCE = re.compile(r"\b(difference|change)\b")  # in the name of a figure
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")  # also the wide ones of East Asian keyboards


class Tabled(Protocol):
    """A row of a table. All rows of a table have the same keys."""

    def as_json(self) -> dict[str, object]: ...


def csv_rows(rows: Iterable[Tabled]) -> str:
    """Return rows as CSV. The header has the keys of `as_json`. Undefined and inapplicable values are empty, and text
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
    """Return a cell of CSV. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return "" if value is None else value


def latex_table(rows: Sequence[ScoreRow], systems: Sequence[str]) -> str:
    """Return a `tabular` with the rules of the package booktabs. The table has a line for each measure, with the
    value, interval and n of each system. `rows` are overall rows, in the order of the lines. Comments below the table
    name the methods of the intervals."""
    columns = [system for system in systems if any(row.system == system for row in rows)]
    cells = {(row.measure, row.turn, row.system): row for row in rows}
    lines = [
        LATEX_HEAD,
        r"\begin{tabular}{l" + "rlr" * len(columns) + "}",
        TOPRULE,
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


def latex_signs(text: str) -> str:
    """Return figures, escaped for LaTeX, whose signs are those of math mode."""
    return latex_text(text).replace("-", "$-$").replace("+", "$+$")


def _latex_cells(row: ScoreRow | None) -> str:
    if row is None:
        return " & & "
    interval = ""
    if not math.isnan(row.low):
        share = is_percentage(row.measure)
        ends = [decimal(100 * end, 1) if share else decimal(end, 4) for end in (row.low, row.high)]
        interval = f"[{', '.join(ends)}]"
    return f"{latex_text(row.shown(row.value))} & {interval} & {row.n}"


# share: from 0 to 1 (or a difference of two), percent for people; value: in the measure's own units; variance: their
# square; ratio: of variances; bits: of a divergence.
Unit = Literal["share", "value", "variance", "ratio", "count", "hours", "bits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRow:
    """One figure of a study. A cell that does not apply is empty, and an undefined number is NaN.

    - `study`: the name of the study, such as `compare`.
    - `run`: the names of the runs behind the figure, separated by commas.
    - `figure`: the kind of figure, such as `difference`.
    - `system`, `other`: the systems; a difference is `system` minus `other`, and a ratio `system` by `other`.
    - `node`: the path to a turn of a tree.
    - `entity`: a fact or an entity within a topic.
    - `estimand`: the topics about which the estimate, its interval and p generalize; "" for counts.
    - `interval`, `resampled`: the method of the interval, and the resampled units.
    - `p`, `p_corrected`: the uncorrected p-value, and p corrected for all pairs of a measure, or for all turns
      tested.
    - `p_interval`: the smallest error probability, corrected like p, at which the interval excludes 0.
    - `p_least`: the smallest p-value that is possible with this number of units.
    - `lowest`, `highest`: bounds of the estimate over all possible results of lost trials; NaN if no loss matters.
    - `verdict`: the result of the test; "" if nothing was tested.
    - `topics`, `trials`: the number of topics, and of trials of each topic; planned numbers in a plan.
    - `pairs`, `sessions`: the number of matched trials, and of sessions that run through all topics.
    - `n`: the number of units behind the estimate, such as answers.
    - `invalid`: the number of trials that failed for reasons of infrastructure.
    - `detect`: in a plan, the true difference to detect.
    - `note`: any further caveat.
    """

    study: str
    run: str
    figure: str
    unit: Unit
    measure: str = ""
    turn: int | None = None
    topic_type: str = ""
    topic: str = ""
    system: str = ""
    other: str = ""
    node: str = ""
    entity: str = ""
    estimand: Estimand | Literal[""] = ""
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float | None = None
    interval: str = ""
    resampled: str = ""
    p: float = math.nan
    p_corrected: float = math.nan
    p_interval: float = math.nan
    p_least: float = math.nan
    lowest: float = math.nan
    highest: float = math.nan
    verdict: str = ""
    topics: int | None = None
    trials: int | None = None
    pairs: int | None = None
    sessions: int | None = None
    n: int | None = None
    invalid: int | None = None
    detect: float = math.nan
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Return a JSON object with every key. Undefined and inapplicable values are null."""
        return {name: _json_value(getattr(self, name)) for name in _NAMES}


_NAMES = tuple(entry.name for entry in fields(LongRow))


def _json_value(value: object) -> object:
    if isinstance(value, float):  # or one of numpy's
        return json_number(value)
    return None if value == "" else value


def unit_of(percentage: bool) -> Unit:
    """Return the unit of a measure's values."""
    return "share" if percentage else "value"


def score_cells(row: ScoreRow) -> dict[str, Any]:
    """Return the cells for a row of scores. `worst` and `best` become `lowest` and `highest`."""
    return {
        "measure": row.measure,
        "turn": row.turn,
        "topic_type": row.topic_type or "",
        "topic": row.topic or "",
        "system": row.system,
        "entity": row.entity or "",
        "estimate": row.value,
        "low": row.low,
        "high": row.high,
        "level": row.level,
        "interval": row.interval or "",
        "resampled": row.resampled or "",
        "lowest": row.worst,
        "highest": row.best,
        "topics": row.topics,
        "n": row.n,
        "invalid": row.invalid,
        "note": row.note,
    }


def interval_cells(interval: Interval, level: float) -> dict[str, Any]:
    """Return the cells for an interval: its ends, level, method, resampled units and note."""
    return {
        "low": interval.low,
        "high": interval.high,
        "level": level if interval.is_defined else None,
        "interval": interval.method,
        "resampled": interval.resampled,
        "note": interval.note,
    }


def bound_cells(bounds: tuple[float, float] | None) -> dict[str, Any]:
    """Return the cells `lowest` and `highest`, or no cells if no loss matters."""
    return dict(zip(("lowest", "highest"), sorted(bounds or ()), strict=False))


def difference_cells(difference: Difference, level: float) -> dict[str, Any]:
    """Return the cells for a difference over matched trials: the estimate, its interval, p, bounds, verdict and counts.
    The verdict is `found`, `not found` or `cannot tell`, or "" if the difference was not tested."""
    tested = difference.n > 0 and not math.isnan(difference.adjusted)
    return {
        "estimand": "like-these",
        "estimate": difference.value,
        **interval_cells(difference.interval, level),
        "p": difference.p,
        "p_corrected": difference.adjusted,
        "p_interval": difference.outside,
        "p_least": difference.least,
        **bound_cells(difference.bounds),
        "verdict": _VERDICTS[difference.beyond] if tested or difference.beyond is not None else "",
        "topics": difference.topics,
        "pairs": difference.n,
        "sessions": difference.sessions or None,
        "note": difference.interval.note or difference.withheld,
    }


_VERDICTS = {True: "found", False: "not found", None: "cannot tell"}


def long_latex(rows: Sequence[LongRow], sources: Sequence[Mapping[str, Json]] = ()) -> str:
    """Return a `tabular` with the rules of the package booktabs. The table has a line for each row, and a rule
    between measures. Empty columns are left out. Comments below the table name the methods of the intervals, and the
    runs with their dates and the hashes of their protocols and topics."""
    columns = [(heading, cell) for heading, cell in _COLUMNS if any(cell(row) for row in rows)]
    lines = [
        LATEX_HEAD,
        r"\begin{tabular}{" + "".join("r" if heading in _RIGHT_ALIGNED else "l" for heading, _ in columns) + "}",
        TOPRULE,
        " & ".join(heading for heading, _ in columns) + r" \\",
        r"\midrule",
    ]
    last: tuple[object, ...] | None = None
    for row in rows:
        key = (row.measure, row.turn, row.topic_type, row.topic if row.study == "tree" else "")
        if last is not None and key != last:
            lines.append(r"\midrule")
        last = key
        lines.append(" & ".join(cell(row) for _, cell in columns) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    methods = dict.fromkeys(
        f"{100 * row.level:g}% {row.interval}"
        for row in rows
        if row.level is not None and row.interval and not math.isnan(row.low)
    )
    lines += [f"% intervals: {' '.join(method.split())}" for method in methods]
    return "\n".join([*lines, *source_comments(sources)]) + "\n"


def source_comments(sources: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Yield a comment of LaTeX for each run, with its date and the hashes of its protocol and topics."""
    for one in sources:
        said = ", ".join(f"{name} {one[name]}" for name in ("created_at", "protocol", "topics") if one.get(name))
        yield f"% run {' '.join(str(one.get('run')).split())}: {said}"


class _Cells:
    @staticmethod
    def measure(row: LongRow) -> str:
        turn = f" S{row.turn}" if row.turn else ""
        kind = f" [{row.topic_type}]" if row.topic_type else ""
        return latex_text(f"{row.measure}{turn}{kind}")

    @staticmethod
    def system(row: LongRow) -> str:
        sign = "/" if row.figure == "ratio" else "$-$"
        return latex_text(row.system) + (f" {sign} {latex_text(row.other)}" if row.other else "")

    @staticmethod
    def replace_signs(words: str) -> str:
        """Replace signs that plain LaTeX cannot print by commands of math mode. Further signs need XeLaTeX or
        LuaLaTeX."""
        text = latex_text(words)
        for sign, command in (("→", r"$\rightarrow$"), ("×", r"$\times$"), ("■", r"$\bullet$")):
            text = text.replace(sign, command)
        return text

    @staticmethod
    def detectable(row: LongRow) -> str:
        if math.isnan(row.detect):
            return ""
        points = row.node or is_percentage(row.measure)  # a turn's branches have shares
        return f"{round(100 * row.detect, 9):g} points" if points else f"{row.detect:g}"

    @staticmethod
    def number(row: LongRow, value: float) -> str:
        if math.isnan(value):
            return ""
        digits, scale = {"share": (1, 100), "count": (0, 1), "hours": (1, 1), "ratio": (2, 1)}.get(row.unit, (4, 1))
        text = decimal(value * scale, digits)
        return f"${text}$" if text.startswith("-") else text

    @classmethod
    def estimate(cls, row: LongRow) -> str:
        ends = [row.estimate] if not math.isnan(row.estimate) else [row.lowest, row.highest]
        value = " to ".join(dict.fromkeys(filter(None, (cls.number(row, end) for end in ends))))
        if not value or row.unit != "share":
            return value or "n/a"
        points = row.other or _DIFFERENCE.search(row.figure)
        return f"{value} points" if points else value.replace(" to ", r"\% to ") + r"\%"

    @classmethod
    def interval(cls, row: LongRow) -> str:
        return "" if math.isnan(row.low) else f"[{cls.number(row, row.low)}, {cls.number(row, row.high)}]"

    @staticmethod
    def p(row: LongRow) -> str:
        p = row.p if math.isnan(row.p_corrected) else row.p_corrected
        return "" if math.isnan(p) else "$<$.001" if p < 0.001 else f"{p:.3f}".replace("0.", ".", 1)


_COLUMNS = (
    ("measure", _Cells.measure),
    ("system", _Cells.system),
    ("topic", lambda row: latex_text(row.topic)),
    ("turn", lambda row: _Cells.replace_signs(row.node)),
    ("of", lambda row: latex_text(row.entity)),
    ("to be found", _Cells.detectable),
    ("figure", lambda row: _Cells.replace_signs(row.figure)),
    ("speaks of", lambda row: ESTIMANDS[row.estimand] if row.estimand else ""),
    ("estimate", _Cells.estimate),
    ("interval", _Cells.interval),
    ("$p$", _Cells.p),
    ("topics", lambda row: "" if row.topics is None else str(row.topics)),
    ("trials", lambda row: "" if row.trials is None else str(row.trials)),
)
_RIGHT_ALIGNED = ("to be found", "estimate", "$p$", "topics", "trials")
