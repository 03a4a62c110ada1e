"""The table of relabelled runs for a paper, in LaTeX: each figure before, after and its change, and their intervals.
Its caption says which labels the figures are of, and over which topics the intervals speak."""

import math
from collections.abc import Iterator, Mapping, Sequence

from harvest.studies.relabel.relabelling import Figure, Relabelling, envelope
from harvest.studies.scores.trial_values import Key, key_name
from harvest.tables.comparison_words import interval_words
from harvest.tables.figures import shown_with_interval
from harvest.tables.long_rows import LATEX_HEAD, TOPRULE, latex_signs, latex_text, source_comments
from recordings.files.json_text import Json
from scoring.inference.paired import ESTIMANDS
from scoring.table import ScoreRow, is_percentage, shown_range
from topics.counting import pluralize
from topics.decimals import format_change

_WIDEST_NAME = 20  # letters of a system's name, so that the table fits the width of article


def relabel_latex(
    names: Sequence[str], relabellings: Sequence[Relabelling], sources: Sequence[Mapping[str, Json]]
) -> str:
    """Return a `table` with a caption for each run, named by `names`, that has figures. It needs the package booktabs,
    and XeLaTeX or LuaLaTeX if names are in other scripts than Latin. Bounds are printed where only these are known."""
    lines = [LATEX_HEAD]
    for name, one in zip(names, relabellings, strict=True):
        if one.figures:
            lines += _table(name, one)
    return "\n".join([*lines, *source_comments(sources)]) + "\n"


def _table(name: str, one: Relabelling) -> Iterator[str]:
    widest = max(len(system) for system, _ in one.figures)
    yield r"\begin{table}"
    yield r"\centering\small\setlength{\tabcolsep}{3pt}"
    yield r"\setlength{\belowcaptionskip}{4pt}"  # the caption is above the table
    yield rf"\caption{{{_caption(name, one)}}}"
    wrapped = widest > _WIDEST_NAME
    yield r"\begin{tabular}{" + ("p{8em}" if wrapped else "l") + "rrr}"
    yield TOPRULE
    yield r"system & before & after & change \\"
    for key in dict.fromkeys(key for _, key in one.figures):
        yield r"\midrule"
        yield rf"\multicolumn{{4}}{{l}}{{{latex_text(key_name(key))}}} \\"
        for (system, of), figure in one.figures.items():
            if of == key:
                yield from _lines((r"\raggedright " if wrapped else "") + latex_text(system), key, figure)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _lines(system: str, key: Key, figure: Figure) -> Iterator[str]:
    """Yield the values of a figure, and below them their intervals, if it has any."""
    share = is_percentage(key[0])
    row = envelope(figure.after) if figure.after else None
    after = shown_range(key[0], tuple(one.value for one in figure.after)) if figure.after else "withheld"
    values = dict.fromkeys(format_change(one.value, share=share) for one in figure.change if one.n)
    change = " to ".join(values) or ("n/a" if figure.after else "withheld")
    before = figure.before.shown(figure.before.value) if figure.before else "n/a"
    yield " & ".join([system, latex_text(before), latex_text(after), latex_signs(change)]) + r" \\"
    ends = [_interval(figure.before), _interval(row), latex_signs(interval_words(figure.change_interval, share=share))]
    if any(ends):
        yield " & ".join(["", *ends]) + r" \\"


def _interval(row: ScoreRow | None) -> str:
    if row is None or math.isnan(row.low):
        return ""
    return latex_signs(shown_with_interval(row)[len(row.shown(row.value)) :].strip())


def _caption(name: str, one: Relabelling) -> str:
    """Return the sentences that a reader of the table needs: whose labels, what is known, and of what intervals are."""
    protocol = f"{one.protocol.name}, version {one.protocol.version}"
    changed, unknown = one.kinds.total(), one.count("unknown")
    methods = dict.fromkeys(each.interval for figure in one.figures.values() for each in figure.after if each.interval)
    method = f", {latex_text(next(iter(methods)))}" if methods else ""
    level = latex_text(f"{100 * one.settings.level:g}%")
    said = [
        f"Figures of {latex_text(name)} before and after its recorded answers were labelled again by the protocol "
        f"{latex_text(protocol)}: {changed} of {pluralize(one.labels, 'label')} changed.",
        f"Brackets: intervals ({level}{method}) for {ESTIMANDS[one.settings.estimand]}.",
        "Changes of percentages are in points." if any(is_percentage(key[0]) for _, key in one.figures) else "",
    ]
    if any(len(figure.after) > 1 for figure in one.figures.values()):
        said.append(
            f"$a$ to $b$: {unknown} of {pluralize(len(one.conversations), 'conversation')} would have continued "
            "differently, and their unknown turns count once as useless ($a$) and once as useful ($b$); the interval "
            "holds both."
        )
    if any(not figure.after for figure in one.figures.values()):
        said.append("Withheld: what would have been said instead is not known.")
    return " ".join(filter(None, said))
