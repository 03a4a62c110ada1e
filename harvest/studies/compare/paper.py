"""The table of a comparison for a paper, in LaTeX: a line for each measure and pair of systems. Its caption says over
which topics the figures are, and names the test."""

import math
from collections.abc import Iterator, Sequence

from harvest.studies.compare.comparison import Comparison
from harvest.tables.comparison_words import difference_text, figure_text, is_known, measure_name, p_text, signed
from harvest.tables.long_rows import LATEX_HEAD, TOPRULE, latex_signs, latex_text, source_comments
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.inference.ratios import Ratio
from scoring.statistics.tukey import MOST_CLOSED
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal


def comparison_latex(found: Comparison) -> str:
    """Return a `table` with a caption that describes the figures. It needs the package booktabs, and XeLaTeX or
    LuaLaTeX if names are in other scripts than Latin."""
    two = len(found.systems) == 2
    names = [latex_text(name) for name in found.systems] if two else ["$A$", "$B$"]
    pair_heading = [] if two else ["$A$ and $B$"]
    ratios = any(pair.ratio is not None for one in found.measures for pair in one.pairs)
    headings = ["measure", *pair_heading, *names, f"{names[0]} $-$ {names[1]}", "interval", "$p$", "effect", "topics"]
    headings += ["ratio"] if ratios else []
    lines = [
        LATEX_HEAD,
        r"\begin{table}",
        r"\centering\small\setlength{\tabcolsep}{3pt}",  # so that two systems fit the width of article
        r"\setlength{\belowcaptionskip}{4pt}",  # the caption is above the table
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
            common = "$^*$" if measure.left_out and measure.topics else ""
            name = f"{latex_text(measure_name(measure))}{common}" if at == 0 else ""
            systems = [] if two else [f"{latex_text(pair.first)}, {latex_text(pair.second)}"]
            yield from _stacked(
                [name, *systems, *_cells(measure, pair)], values=slice(1 + len(systems), 4 + len(systems))
            )
        if not two and measure is not found.measures[-1]:
            yield r"\midrule"


def _stacked(cells: Sequence[str], values: slice) -> Iterator[str]:
    """Yield a line of the table, and below it the upper ends of the `values` of which only bounds are known: side by
    side they would be wider than a page."""
    ends = [cell.partition(" to ") for cell in cells[values]]
    yield " & ".join([*cells[: values.start], *(low for low, _, _ in ends), *cells[values.stop :]]) + r" \\"
    if any(high for _, _, high in ends):
        upper = [f"to {high}" if high else "" for _, _, high in ends]
        yield " & ".join(["" for _ in cells[: values.start]] + upper + ["" for _ in cells[values.stop :]]) + r" \\"


def _cells(measure: MeasureComparison, pair: Pair) -> Iterator[str]:
    for system in (pair.first, pair.second):
        yield latex_text(figure_text(measure, system))
    yield latex_signs(difference_text(measure, pair))
    low, high = pair.interval.low, pair.interval.high
    yield "" if math.isnan(low) else latex_signs(f"[{signed(measure, low)}, {signed(measure, high)}]")
    yield p_text(pair.corrected).replace("<", "$<$")
    yield "n/a" if math.isnan(pair.effect) else decimal(pair.effect, 2)
    yield str(len(measure.topics))
    if (ratio := pair.ratio) is not None:
        yield latex_text(f"{ratio.above} / {ratio.below}: {ratio_words(ratio)}")


def _caption(found: Comparison) -> str:
    """Return the sentences that a reader of the table needs: topics and trials, estimand, interval, p and effect."""
    topics, trials = count_compared(found)
    method = next((one.interval.method for each in found.measures for one in each.pairs if one.interval.method), "")
    systems = latex_text(", ".join(found.systems[:-1]) + f" and {found.systems[-1]}")
    points = any(is_percentage(one.measure) for one in found.measures)
    shared = any(one.left_out and one.topics for one in found.measures)
    bounds = any(not is_known(pair) for one in found.measures for pair in one.pairs) or any(
        low < high for one in found.measures for low, high in one.ranges.values()
    )
    missing: dict[str, list[str]] = {}  # why, and of which measures
    for measure in found.measures:
        for why in dict.fromkeys(pair.interval.note for pair in measure.pairs if math.isnan(pair.interval.low)):
            missing.setdefault(why or "it is undefined", []).append(measure_name(measure))
    held: dict[str, list[str]] = {}  # why a small p is no difference, and of which measures
    for measure in found.measures:
        for why in dict.fromkeys(pair.why for pair in measure.pairs if pair.why and not math.isnan(pair.interval.low)):
            held.setdefault(why, []).append(measure_name(measure))
    sentences = [
        f"{systems} over {pluralize(topics, 'topic')} with {trials} of each.",
        f"Intervals ({latex_text(f'{100 * found.settings.level:g}%')}"
        + (f", {latex_text(method)}" if method else "")
        + f") and $p$ are for {ESTIMANDS[found.estimand]}.",
        *(["Differences of percentages are in points."] if points else []),
        *([f"{latex_text(found.standardised.sentence)}."] if found.standardised else []),
        f"$p$: {latex_text(name_test(found))}.",
        r"Effect: the difference, divided by the root of the residual variance $V_{E2}$ of a two-way analysis of "
        "variance (topics and systems).",
        *(
            f"Whatever $p$, nothing is found in {latex_text(', '.join(names))}: {latex_text(why)}."
            for why, names in held.items()
        ),
        *(["$a$ to $b$: what the trials that were lost leave possible."] if bounds else []),
        *(["$^*$: over the topics for which each system has a value."] if shared else []),
        *(f"No interval for {latex_text(', '.join(names))}: {latex_text(why)}." for why, names in missing.items()),
    ]
    return " ".join(sentences)


def count_compared(found: Comparison) -> tuple[int, str]:
    """Return the number of topics behind the figures, and the trials of each in words."""
    most_known = max(found.measures, key=lambda one: (one.topic_type is None, len(one.topics), one.trials[0]))
    fewest, most = most_known.trials
    return len(most_known.topics), pluralize(most, "trial") if fewest == most else f"{fewest} to {most} trials"


def name_test(found: Comparison) -> str:
    """Return the name of the test behind the p values, and how they are corrected."""
    several = len(found.systems) > 2
    by_ratio = next((one.label for one in found.measures if one.pooled), "")
    together = {name for one in found.measures for name in one.sessions}
    corrected = ", corrected over pairs (Holm)" if several else ""
    if together:
        units = "session" if found.estimand == "these" else "topic and session"
        fresh = len(found.systems) - len(together)
        others = " of pairs with a continued session" if fresh > 1 else ""
        return f"t test clustered by {units}{others}{corrected}"
    if found.estimand == "these":
        own = f" ({by_ratio}, of few turns: that of its interval)" if by_ratio else ""
        return f"t test over trials within topics{own}{corrected}"
    units = "clusters of topics" if any(one.clusters for one in found.measures) else "topics"
    holm = ", corrected by Holm" if several else ""
    ratio = f" ({by_ratio}: that of its interval{holm})" if by_ratio else ""
    if not several:
        return f"paired randomisation test over {units}{ratio}"
    if len(found.systems) > MOST_CLOSED:
        return f"randomised Tukey HSD over all pairs{ratio}"
    return (
        f"closed randomised Tukey HSD over all pairs{ratio}: two systems differ if every hypothesis that they are "
        f"alike is rejected (up to {MOST_CLOSED} systems; not the p of the plain test)"
    )


def ratio_words(one: Ratio) -> str:
    """Format a ratio with its interval, as in `63.7% [55.4%, 72.6%]`. An undefined ratio is `n/a`."""
    if math.isnan(one.value):
        return "n/a"
    low, high = one.interval.low, one.interval.high
    last = "…)" if math.isinf(high) else f"{decimal(100 * high, 1)}%]"
    return f"{decimal(100 * one.value, 1)}%" + (f" [{decimal(100 * low, 1)}%, {last}" if low == low else "")
