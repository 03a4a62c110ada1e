"""Printed tables of a comparison."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harvest.studies.compare.comparison import MOST_PAIRS, Comparison
from harvest.studies.compare.paper import count_compared, name_test, ratio_words
from harvest.studies.trees.parting_figures import COMMAND, INDENT, parting_lines
from harvest.tables.comparison_words import better_system, difference_text, is_possible, measure_name, p_text, signed
from harvest.tables.figure_table import figure_table, name_lines
from harvest.terminal import printable
from scoring.comparison.pairs import Driver, MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, round_roughly

_NAME_WIDTH, _FIGURE_WIDTH, _COLUMN = 24, 14, 14
_MOST_DRIVERS = 3  # topics named on each side
_MOST_LINES = 8  # topics named in a note
_MOST_NEEDED = 100_000  # more than anybody plays


def comparison_tables(
    found: Comparison, *, width: int, details: bool = False, parting: bool = True, every: bool = False
) -> Iterator[RenderableType]:
    """Yield a sentence for each pair, a table of figures, a table of differences, and notes. With `details`, a note
    names the topics that drive each difference, and with `parting`, notes say where conversations part. Of more than
    `MOST_PAIRS` pairs, those of the best system are shown, or with `every`, all."""
    pairs = math.comb(len(found.systems), 2)
    if pairs > MOST_PAIRS and not every and found.measures:
        best = found.best_system
        found = found.with_pairs_of(best)
        yield Text(
            f"{pairs:,} pairs; shown are those of {printable(best, line=True)}; for others: --systems, or --all-pairs",
            style="dim",
        )
    for pair in found.measures[0].pairs if found.measures else ():
        yield _sentence(found, pair.first, pair.second)
    yield Text(_scope_sentence(found), style="dim")
    if found.contrasts:
        differ = (
            "the runs differ"
            if any(len(one.by_run) > 1 for one in found.contrasts)
            else "the run differs within itself"
        )
        yield Text(f"{differ}; keep this in mind:", style="yellow")
        yield from (Padding(Text(f"- {printable(one.said, line=True)}"), (0, 0, 0, 2)) for one in found.contrasts)
    yield from _figures(found, width)
    headings = (f"difference [low, high]\n{ESTIMANDS[found.estimand]}", "p", "effect", "W/T/L", "better")
    table = figure_table("measure", headings, min_width=14, max_width=_NAME_WIDTH)
    for measure in found.measures:
        table.add_row(Text(measure_name(measure), style="bold"))
        for one in measure.pairs:
            table.add_row(*map(Text, _pair_cells(measure, one)))
    yield table
    yield from _undecided_reasons(found)
    for line in _legend(found):
        yield Text(line, style="dim")
    yield from _ratio_table(found)
    yield from _too_few_notes(found)
    yield from _explain_undecided(found)
    yield from _needed_notes(found)
    yield from _driver_notes(found, details=details)
    for parted in found.parted if parting else ():
        yield Text()
        for line in parting_lines(parted, found.recorded, found.settings.level):
            if line.startswith(COMMAND):  # unbroken, so that it can be copied
                yield Text(line, no_wrap=True, style="dim")
            else:
                after = INDENT if line.startswith(" ") else ""
                yield from map(Text, wrap(line, max(width, 40), subsequent_indent=after))
    if parting and found.parted and (others := math.comb(len(found.systems), 2) - len(found.parted)):
        yield Text(f"\nWhere {others:,} other pairs part: --systems with two of them, or --parted", style="dim")
    yield from _omission_notes(found)


def _sentence(found: Comparison, first: str, second: str) -> Text:
    one, other = printable(first, line=True), printable(second, line=True)
    verdicts = {
        "better": f"{one} is better in",
        "worse": f"{other} is better in",
        "higher": f"{one} is higher in",
        "lower": f"{other} is higher in",
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
                label += f" (by {100 * size:.1f} points)" if is_percentage(measure.measure) else f" (by {size:.4f})"
            words = f"{verdicts[pair.verdict]} {{}}"
            if measure.label in on_these:
                topics, like = ("this topic", "it") if len(measure.topics) == 1 else ("these topics", "them")
                words = f"on {topics} alone, {words}, and for others like {like} it cannot be told"
            place = 2 if not pair.is_distinguished else 1 if measure.label in on_these else 0
            said[place].setdefault(words, []).append(label)
    start = Text(f"{one} and {other}: ", style="bold")
    parts = [words.replace("{}", _list_names(names)) for each in said for words, names in each.items()]
    return start + Text(f"{'; '.join(parts)}.")


def _list_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _scope_sentence(found: Comparison) -> str:
    topics, trials = count_compared(found)
    others = "other topics of this kind" if found.estimand == "like-these" else "more trials of these topics"
    alone = " For these topics alone: --estimand these." if found.on_these else ""
    return f"Over {pluralize(topics, 'common topic')} with {trials} of each. Would it hold for {others}?{alone}"


def _figures(found: Comparison, width: int) -> Iterator[Table]:
    a_table = max(1, (width - _NAME_WIDTH) // _FIGURE_WIDTH)
    for start in range(0, len(found.systems), a_table):
        table = figure_table("measure", (), min_width=14, max_width=_NAME_WIDTH)
        shown = found.systems[start : start + a_table]
        for system in shown:
            table.add_column(Text(name_lines(system, _COLUMN)), justify="right", no_wrap=True)
        table.add_column("topics", justify="right", style="dim")
        for measure in found.measures:
            cells = []
            for system in shown:
                value = measure.figures[system]
                percent = is_percentage(measure.measure)
                cell = "n/a" if math.isnan(value) else f"{decimal(100 * value, 1)}%" if percent else decimal(value, 4)
                cells.append(cell + (f" {measure.letters[system]:2}" if len(found.systems) > 2 else ""))
            # These topics may differ from those behind the figure of `score`, which the same page can show.
            common = ", in common" if measure.left_out and measure.topics else ""
            table.add_row(Text(f"{measure_name(measure)}{common}"), *map(Text, cells), str(len(measure.topics)))
        yield table


def _pair_cells(measure: MeasureComparison, pair: Pair) -> tuple[str, ...]:
    name = textwrap.indent(name_lines(f"{pair.first} − {pair.second}", _NAME_WIDTH - 6), "  ")
    if pair.verdict == "no value":
        return name, "n/a"
    value, interval = difference_text(measure, pair), pair.interval
    if interval.low == interval.low:
        value += f" [{signed(measure, interval.low)}, {signed(measure, interval.high)}]"
    counts = f"{pair.wins}/{pair.ties}/{pair.losses}"
    # A small p beside "?" has its reason in a note.
    return (
        name,
        value,
        p_text(pair.corrected),
        decimal(pair.effect, 2),
        counts,
        name_lines(better_system(pair, most=80), _COLUMN) + "*" * bool(pair.why and pair.corrected == pair.corrected),
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
    yield f"p: {name_test(found)}{measures}; better: if p is at most {alpha}{also}; ?: cannot tell"
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


def _too_few_notes(found: Comparison) -> Iterator[Text]:
    few: dict[tuple[int, float], list[str]] = {}
    for one in found.measures:
        for pair in one.pairs:
            if pair.verdict == "too few" and pair.least == pair.least:
                few.setdefault((len(one.topics), pair.least), []).append(_name_pair(one, pair, found))
    if found.estimand == "like-these" and any(len(one.topics) == 1 for one in found.measures):
        yield Text(
            "with one topic, use --estimand these, which compares its conversations as independent ones",
            style="yellow",
        )
    for note, names in _without_interval(found).items():
        whose = "" if len(names) == sum(len(one.pairs) for one in found.measures) else f"{_first_names(names)}: "
        yield Text(f"{whose}no interval and no p: {note}", style="yellow")
    for (topics, least), names in few.items():
        said = f"{pluralize(topics, 'topic')} give no p below {p_text(least)}, however large the difference"
        yield Text(f"{_first_names(names)}: {said}", style="yellow")


def _without_interval(found: Comparison) -> dict[str, list[str]]:
    """Return the names of pairs without an interval and p, by the reason."""
    names: dict[str, list[str]] = {}
    for one in found.measures:
        for pair in one.pairs:
            unknown = found.estimand == "these" and pair.verdict != "no value" and math.isnan(pair.corrected)
            if pair.interval.note and (unknown or {pair.first, pair.second} & one.sessions.keys()):
                names.setdefault(pair.interval.note, []).append(_name_pair(one, pair, found))
    return names


def _undecided_reasons(found: Comparison) -> Iterator[Text]:
    """Yield why pairs are undecided although their p or figures suggest a difference."""
    said: dict[str, list[str]] = {}
    without = _without_interval(found)
    for measure in found.measures:
        for pair in measure.pairs:
            if pair.why and pair.why not in without:
                said.setdefault(pair.why, []).append(_name_pair(measure, pair, found))
    for why, names in said.items():
        yield Text(f"*: {_first_names(names)}: cannot tell, whatever p: {why}", style="yellow")


def _explain_undecided(found: Comparison) -> Iterator[Text]:
    """Yield notes on losses, and on typical differences."""
    for measure in found.measures:
        for system, note in measure.in_time.items():
            yield Text(f"{measure_name(measure)}, {printable(system, line=True)}: {note}", style="yellow")
        for pair in measure.pairs:
            if pair.bounds is not None:
                low, high = (signed(measure, end) for end in sorted(pair.bounds))
                sides = {pair.first, pair.second}
                lost = [
                    *(["trials were lost by what had been answered"] if sides & found.selected else []),
                    *(["users said something else to one system"] if sides & found.unlike else []),
                ] or ["the systems lost different shares of their attempts, or many"]
                yield Text(
                    f"{_name_pair(measure, pair, found)}: {' and '.join(lost)}; with all of them at one end of the "
                    f"measure or the other, the difference is between {low} and {high}",
                    style="yellow",
                )
            if pair.typical is not None:
                middle, around = pair.typical
                ends = f" [{signed(measure, around.low)}, {signed(measure, around.high)}]" if around.is_defined else ""
                yield Text(
                    f"{_name_pair(measure, pair, found)}: instead of a mean, the median of the topics' differences is "
                    f"{signed(measure, middle)}{ends}"
                )


def _first_names(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_LINES
    return ", ".join(names[:_MOST_LINES]) + (f" and {rest} more" if rest > 0 else "")


def _name_pair(measure: MeasureComparison, pair: Pair, found: Comparison) -> str:
    return measure_name(measure) + (f", {_pair_name(pair)}" if len(found.systems) > 2 else "")


def _needed_notes(found: Comparison) -> Iterator[RenderableType]:
    """Yield how much data would decide each undecided pair if its true difference equalled the observed difference."""
    lines = [
        f"{measure_name(measure)}, {printable(pair.first, line=True)} − {printable(pair.second, line=True)}: {said}"
        for measure in found.measures
        for pair in measure.pairs
        if not pair.is_distinguished and pair.verdict != "no value" and (said := _needed_words(pair, found))
    ]
    if lines:
        yield Text("\nTo settle what cannot be told (in 4 studies of 5, if differences are as large as observed):")
    yield from (Padding(Text(f"- {line}"), (0, 0, 0, 2)) for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield Text(f"  and {pluralize(len(lines) - _MOST_LINES, 'more pair')}: --json has them all")


def _needed_words(pair: Pair, found: Comparison) -> str:
    topics, trials = pair.needed.topics, pair.needed.trials
    if found.estimand == "these":
        if math.isnan(trials):
            return ""
        return (
            "no number of trials" if trials > _MOST_NEEDED else f"roughly {round_roughly(trials)} trials of each topic"
        )
    if math.isnan(topics):
        return ""
    if topics > _MOST_NEEDED:
        return "no number of topics: the systems hardly differ"
    of_trials = (
        ""
        if math.isnan(trials)
        else "; more trials of these topics would not do"
        if trials > _MOST_NEEDED
        else f", or roughly {round_roughly(trials)} trials of each topic"
    )
    return f"roughly {round_roughly(topics)} topics like these{of_trials}"


def _driver_notes(found: Comparison, *, details: bool) -> Iterator[Text]:
    """Yield the differences that hinge on one topic and, with `details`, the topics that drive each difference."""
    for measure in found.measures:
        for pair in measure.pairs:
            turned = [one for one in pair.drivers if one.without * pair.value <= 0]
            if turned and len(pair.drivers) > 1 and pair.is_distinguished:
                topic = printable(turned[0].topic, line=True)
                yield Text(f"{measure_name(measure)}, {_pair_name(pair)}: rests on topic {topic} alone", style="yellow")
            if details and pair.drivers and is_possible(pair):
                yield Text(f"{measure_name(measure)}, {_pair_name(pair)}: {_driver_words(measure, pair)}")


def _driver_words(measure: MeasureComparison, pair: Pair) -> str:
    most = pair.drivers[:_MOST_DRIVERS]
    if most[0].share > 1:  # a part larger than the whole is hard to interpret
        last = pair.drivers[: -_MOST_DRIVERS - 1 : -1]
        one, other = (most, last) if pair.value > 0 else (last, most)
        return (
            f"topics cancel out; highest for {printable(pair.first, line=True)}: {_topic_names(one)}; for "
            f"{printable(pair.second, line=True)}: {_topic_names(other)}"
        )
    said = ", ".join(  # a part that is printed as 0% drives nothing
        f"{printable(one.topic, line=True)} {100 * one.share:.0f}%" for one in most if 100 * one.share >= 0.5
    )
    against = " (other topics go the other way)" if sum(one.share for one in most) > 1 else ""
    return f"driven by {said} of it{against}; {signed(measure, most[0].without)} without {_topic_names(most[:1])}"


def _topic_names(drivers: Sequence[Driver]) -> str:
    return ", ".join(printable(one.topic, line=True) for one in drivers)


def _pair_name(pair: Pair) -> str:
    return f"{printable(pair.first, line=True)} − {printable(pair.second, line=True)}"


def _omission_notes(found: Comparison) -> Iterator[Text]:
    for what, counts in (
        ("invalid trials, in no figure", found.invalid),
        ("planned trials not played, in no figure", found.unplayed),
    ):
        said = ", ".join(f"{printable(name, line=True)} {count}" for name, count in counts.items() if count)
        if said:
            yield Text(f"{what}: {said}", style="yellow")
    by_count: dict[int, list[str]] = {}
    for one in found.measures:
        if one.left_out and one.topic_type is None:
            by_count.setdefault(len(one.left_out), []).append(one.label)
    for count, names in by_count.items():
        yield Text(f"{pluralize(count, 'topic')} without a value of some system, left out: {', '.join(names)}")
    yield from (Text(f"note: {note}") for note in found.notes)
