"""The table of a comparison for a paper: a line for each measure and pair of systems, in LaTeX."""

import math
from collections.abc import Iterator

from harvest.studies.compare.comparison import Comparison
from harvest.studies.compare.figures import name_test, ratio_words
from harvest.tables.comparison_words import measure_name, p_text, signed
from harvest.tables.long_rows import TOPRULE, latex_text, source_comments
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.table import is_percentage, shown_value
from topics.counting import pluralize
from topics.decimals import decimal


def comparison_latex(found: Comparison) -> str:
    """Return a `table` with a caption that says of what the figures are. It needs the package booktabs, and XeLaTeX or
    LuaLaTeX if names are in other scripts than Latin."""
    two = len(found.systems) == 2
    names = [latex_text(name) for name in found.systems] if two else ["$A$", "$B$"]
    pair_heading = [] if two else ["$A$ and $B$"]
    ratios = any(pair.ratio is not None for one in found.measures for pair in one.pairs)
    headings = ["measure", *pair_heading, *names, f"{names[0]} $-$ {names[1]}", "interval", "$p$", "effect", "topics"]
    headings += ["ratio"] if ratios else []
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_caption(found)}}}",
        r"\begin{tabular}{" + "l" * (1 if two else 2) + "rrrlrrr" + ("l}" if ratios else "}"),
        TOPRULE,
        " & ".join(headings) + r" \\",
        r"\midrule",
        *_lines(found, two=two),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        *source_comments(found.runs),
    ]
    return "\n".join(lines) + "\n"


def _lines(found: Comparison, *, two: bool) -> Iterator[str]:
    for measure in found.measures:
        for at, pair in enumerate(measure.pairs):
            name = latex_text(measure_name(measure)) if at == 0 else ""
            systems = [] if two else [f"{latex_text(pair.first)}, {latex_text(pair.second)}"]
            yield " & ".join([name, *systems, *_cells(measure, pair)]) + r" \\"
        if not two and measure is not found.measures[-1]:
            yield r"\midrule"


def _cells(measure: MeasureComparison, pair: Pair) -> Iterator[str]:
    for system in (pair.first, pair.second):
        yield latex_text(shown_value(measure.measure, measure.figures[system]))
    yield _signs(signed(measure, pair.value))
    low, high = pair.interval.low, pair.interval.high
    yield "" if math.isnan(low) else _signs(f"[{signed(measure, low)}, {signed(measure, high)}]")
    yield p_text(pair.corrected).replace("<", "$<$")
    yield "n/a" if math.isnan(pair.effect) else decimal(pair.effect, 2)
    yield str(len(measure.topics))
    if (ratio := pair.ratio) is not None:
        yield latex_text(f"{ratio.above} / {ratio.below}: {ratio_words(ratio)}")


def _signs(text: str) -> str:
    return text.replace("-", "$-$").replace("+", "$+$")


def _caption(found: Comparison) -> str:
    """Return the sentences that a reader of the table needs: topics and trials, estimand, interval, p and effect."""
    most = max(found.measures, key=lambda one: (one.topic_type is None, len(one.topics), one.trials[0]))
    fewest, largest = most.trials
    trials = pluralize(largest, "trial") if fewest == largest else f"{fewest} to {largest} trials"
    method = next((one.interval.method for each in found.measures for one in each.pairs if one.interval.method), "")
    systems = latex_text(", ".join(found.systems[:-1]) + f" and {found.systems[-1]}")
    points = any(is_percentage(one.measure) for one in found.measures)
    sentences = [
        f"{systems} over {pluralize(len(most.topics), 'topic')} with {trials} of each.",
        f"Intervals ({latex_text(f'{100 * found.settings.level:g}%')}"
        + (f", {latex_text(method)}" if method else "")
        + f") and $p$ are for {ESTIMANDS[found.estimand]}.",
        *(["Differences of percentages are in points."] if points else []),
        *([f"{latex_text(found.standardised.sentence)}."] if found.standardised else []),
        f"$p$: {latex_text(name_test(found))}.",
        r"Effect: $|A - B| / \sqrt{V_{E2}}$, by the residual variance of a two-way analysis of variance.",
    ]
    return " ".join(sentences)
