"""Printed tables of a comparison."""

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.compare.comparison import MOST_PAIRS, Comparison
from harvest.studies.compare.notes import further_notes, omission_notes, undecided_reasons
from harvest.studies.compare.paper import count_compared, name_test, ratio_words
from harvest.studies.trees.parting_figures import COMMAND, INDENT, parting_lines
from harvest.tables.comparison_words import (
    better_system,
    difference_text,
    figure_text,
    mark_noted,
    measure_name,
    p_text,
    signed,
)
from harvest.tables.figure_table import Item, figure_table, name_lines
from harvest.terminal import printable
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal

_P_VALUE = re.compile(r"\bp (?=[<.\d])")
_NAME_WIDTH, _FIGURE_WIDTH, _RANGE_WIDTH, _COLUMN = 24, 14, 18, 14


def comparison_tables(
    found: Comparison, *, width: int, details: bool = False, parting: bool = True, every: bool = False
) -> Iterator[RenderableType]:
    """Yield a sentence for each pair, a table of figures, a table of differences, and notes. With `details`, a note
    names the topics that drive each difference, and with `parting`, notes say where conversations part. If there are
    more than `MOST_PAIRS` pairs, only the pairs of the best system are shown, or all with `every`."""
    pairs = math.comb(len(found.systems), 2)
    if pairs > MOST_PAIRS and not every and found.measures:
        best = found.best_system
        found = found.with_pairs_of(best)
        yield Text(
            f"{pairs:,} pairs; shown are the {len(found.systems) - 1} of {printable(best, line=True)}, which is best "
            f"in {measure_name(found.measures[0])}; for others: --systems, or --all-pairs",
            style="dim",
        )
    yield from _sentences(found)
    yield Text(_scope_sentence(found), style="dim")
    if found.contrasts:
        differ = (
            "the runs differ"
            if any(len(one.by_run) > 1 for one in found.contrasts)
            else "the run differs within itself"
        )
        yield Text(f"{differ}; keep this in mind:", style="yellow")
        yield from (Item(printable(one.said, line=True)) for one in found.contrasts)
    yield from _figures(found, width)
    headings = (f"difference [low, high]\n{ESTIMANDS[found.estimand]}", "p", "effect", "W/T/L", "better")
    table = figure_table("measure", headings, min_width=14, max_width=_NAME_WIDTH)
    for measure in found.measures:
        table.add_row(Text(measure_name(measure), style="bold"))
        for one in measure.pairs:
            table.add_row(*map(Text, _pair_cells(measure, one, found.verdict_of(measure, one))))
    yield table
    yield from undecided_reasons(found)
    for line in _legend(found):
        yield Text(line, style="dim")
    yield from _ratio_table(found)
    yield from further_notes(found, details=details)
    for parted in found.parted if parting else ():
        yield Text()
        for line in parting_lines(parted, found.recorded, found.settings.level):
            if line.startswith(COMMAND):  # unbroken, so that it can be copied
                yield Text(line, no_wrap=True, style="dim")
            else:
                after = INDENT if line.startswith(" ") else ""
                joined = _P_VALUE.sub("p\xa0", line)  # a p and its number stay on one line
                lines = wrap(joined, max(width, 40), subsequent_indent=after)
                yield from (Text(one.replace("\xa0", " ")) for one in lines)
    if parting and found.parted and (others := math.comb(len(found.systems), 2) - len(found.parted)):
        yield Text(f"\nWhere {others:,} other pairs part: --systems with two of them, or --parted", style="dim")
    yield from omission_notes(found)


def _sentences(found: Comparison) -> Iterator[Text]:
    """Yield what is found of each pair. Pairs of which the same is said are in one sentence."""
    pairs_of: dict[str, list[Pair]] = {}
    for pair in found.measures[0].pairs if found.measures else ():
        pairs_of.setdefault(_pair_words(found, pair.first, pair.second), []).append(pair)
    for words, pairs in pairs_of.items():
        if len(pairs) > 1 and len(pairs) == math.comb(len(found.systems), 2):
            names = f"Each two of {_list_names([printable(one, line=True) for one in found.systems])}"
        else:
            names = ", ".join(
                f"{printable(one.first, line=True)} and {printable(one.second, line=True)}" for one in pairs
            )
        yield Text(f"{names}: ", style="bold") + Text(f"{words}.")


def _pair_words(found: Comparison, first: str, second: str) -> str:
    one, other = printable(first, line=True), printable(second, line=True)
    verdicts = {
        "better": f"{one} is better in",
        "worse": f"{other} is better in",
        "higher": f"{one} is higher in",
        "lower": f"{other} is higher in",
        "same": f"the same within {100 * found.matters:g} points in",
        "cannot tell": "cannot tell in",
        "too few": "too few topics to tell in",
        "no value": "nothing to compare in",
    }
    on_these = {measure.label: measure.pairs[0] for measure in found.on_these}
    # Measures by what is said of them: of other topics too, of these topics alone, and of neither.
    said: tuple[dict[str, list[str]], ...] = ({}, {}, {})
    for measure in found.measures:
        if measure.topic_type is None and not measure.standardised:
            pair = next(pair for pair in measure.pairs if (pair.first, pair.second) == (first, second))
            pair = on_these.get(measure.label, pair)
            label = measure.label
            if pair.is_distinguished:
                size = abs(pair.value)
                label += (
                    f" (by {decimal(100 * size, 1)} points)" if is_percentage(measure.measure) else f" (by {size:.4f})"
                )
            words = f"{verdicts[found.verdict_of(measure, pair)]} {{}}"
            if measure.label in on_these:
                topics, like = ("this topic", "it") if len(measure.topics) == 1 else ("these topics", "them")
                words = f"on {topics} alone, {words}, and for others like {like} it cannot be told"
            place = 2 if not pair.is_distinguished else 1 if measure.label in on_these else 0
            said[place].setdefault(words, []).append(label)
    return "; ".join(words.replace("{}", _list_names(names)) for each in said for words, names in each.items())


def _list_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _scope_sentence(found: Comparison) -> str:
    topics, trials = count_compared(found)
    others = "other topics of this kind" if found.estimand == "like-these" else "more trials of these topics"
    alone = " For these topics alone: --estimand these." if found.on_these else ""
    return f"Over {pluralize(topics, 'common topic')} with {trials} of each. Would it hold for {others}?{alone}"


def _figures(found: Comparison, width: int) -> Iterator[Table]:
    ranges = any(one.ranges for one in found.measures)
    a_table = max(1, (width - _NAME_WIDTH) // (_RANGE_WIDTH if ranges else _FIGURE_WIDTH))
    for start in range(0, len(found.systems), a_table):
        table = figure_table("measure", (), min_width=14, max_width=_NAME_WIDTH)
        shown = found.systems[start : start + a_table]
        for system in shown:
            table.add_column(Text(name_lines(system, _COLUMN)), justify="right", no_wrap=True)
        table.add_column("topics", justify="right", style="dim")
        for measure in found.measures:
            cells = []
            for system in shown:
                letters = f" {measure.letters[system]:2}" if len(found.systems) > 2 else ""
                cells.append(figure_text(measure, system) + letters)
            # These topics may differ from those behind the figure of `score`, which the same page can show.
            common = ", in common" if measure.left_out and measure.topics else ""
            table.add_row(Text(f"{measure_name(measure)}{common}"), *map(Text, cells), str(len(measure.topics)))
        yield table


def _pair_cells(measure: MeasureComparison, pair: Pair, verdict: str) -> tuple[str, ...]:
    own = [name_lines(one, _NAME_WIDTH - 6) for one in (f"{pair.first} −", pair.second)]
    name = textwrap.indent((" " if len(" ".join(own)) <= _NAME_WIDTH - 4 else "\n").join(own), "  ")
    if pair.verdict == "no value":
        return name, "n/a"
    value, interval = difference_text(measure, pair), pair.interval
    if interval.low == interval.low:
        value += f" [{signed(measure, interval.low)}, {signed(measure, interval.high)}]"
    counts = f"{pair.wins}/{pair.ties}/{pair.losses}"
    better = better_system(pair, most=80, same=verdict == "same")
    return (
        name,
        value,
        p_text(pair.corrected),
        decimal(pair.effect, 2),
        counts,
        name_lines(better, _COLUMN) + mark_noted(pair),
    )


def _ratio_table(found: Comparison) -> Iterator[RenderableType]:
    """Yield a table of the lower figure of each pair in percent of the higher one, and why intervals are missing."""
    table = figure_table("measure", ("ratio [low, high]",), min_width=14)
    reasons: dict[str, list[str]] = {}
    for measure in found.measures:
        ratios = [one.ratio for one in measure.pairs if one.ratio is not None]
        if ratios:
            table.add_row(Text(measure_name(measure), style="bold"))
        for one in ratios:
            name = f"{printable(one.above, line=True)} / {printable(one.below, line=True)}"
            table.add_row(*map(Text, (f"  {name}", ratio_words(one))))
            if one.interval.note:
                said = measure_name(measure) + (f", {name}" if len(found.systems) > 2 else "")
                reasons.setdefault(one.interval.note, []).append(said)
    if table.row_count:
        yield Text()
        yield table
        yield Text(
            "ratio: the lower figure in percent of the higher one; [low, high]: every r for which the first figure "
            "minus r times the second may be 0 (Fieller)",
            style="dim",
        )
    yield from (Text(f"ratio of {_list_names(names)}: {why}", style="yellow") for why, names in reasons.items())


def _legend(found: Comparison) -> Iterator[str]:
    level = f"{100 * found.settings.level:g}%"
    alpha = f"{1 - found.settings.level:.4g}"
    several = len(found.systems) > 2
    if several:
        yield "letters: systems that share one cannot be distinguished"
    if found.standardised is not None:
        yield printable(found.standardised.sentence, line=True)
    made = next((pair.interval.method for one in found.measures for pair in one.pairs if pair.interval.method), "")
    if made:
        points = any(is_percentage(one.measure) for one in found.measures)
        yield ("difference: of percentages, in points; " if points else "") + (
            f"[low, high]: {level} for {ESTIMANDS[found.estimand]}, {made}" + (", each by itself" if several else "")
        )
    if assumed := _assumptions(found):
        yield f"assumed: {'; '.join(assumed)}"
    many = sum(one.topic_type is None for one in found.measures)
    measures = f"; not corrected over the {many} measures" if many > 1 else ""
    also = " and the interval excludes 0" + (" at the level for all pairs" if several else "")
    same = f"; same: [low, high] is within ±{100 * found.matters:g} points" if found.matters == found.matters else ""
    yield f"p: {name_test(found)}{measures}; better: if p is at most {alpha}{also}{same}; ?: cannot tell"
    shown = f" over the {len(found.systems)} systems shown" if several else ""
    yield f"effect: difference / √(residual variance{shown}); W/T/L: topics won, tied and lost by the first system"
    pooled = dict.fromkeys(one.label for one in found.measures if one.pooled)
    if pooled:
        yield (
            f"{_list_names([*pooled])}: a ratio of sums over topics and trials; its W/T/L is of topics' own ratios, "
            "without those where a side has none"
        )


def _assumptions(found: Comparison) -> list[str]:
    """Return the assumptions of the intervals. If an assumption applies only to some measures, these are named."""
    by_part: dict[str, dict[str, None]] = {}
    for one in found.measures:
        for pair in one.pairs:
            for part in filter(None, pair.interval.assumes.split("; ")):
                by_part.setdefault(part, {})[one.label] = None
    every = {label for labels in by_part.values() for label in labels}
    return [part if labels.keys() == every else f"{part} ({', '.join(labels)})" for part, labels in by_part.items()]
