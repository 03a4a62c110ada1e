"""Notes below the tables of a comparison: why pairs are undecided, what would decide them, and what drives them."""

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.compare.comparison import Comparison
from harvest.tables.comparison_words import MOST_PLAYABLE, is_known, measure_name, p_text, same_size_words, signed
from harvest.tables.figure_table import Item
from harvest.terminal import printable
from scoring.comparison.pairs import Driver, MeasureComparison, Pair
from scoring.library import find_declaration
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import parse
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import percent, round_roughly

_MOST_DRIVERS = 3  # topics named on each side
_MOST_LINES = 8  # topics named in a note


def further_notes(found: Comparison, *, details: bool) -> Iterator[RenderableType]:
    """Yield what keeps pairs from being decided, how much data would decide them and, with `details`, which topics
    drive the differences."""
    yield from _too_few_notes(found)
    yield from _explain_undecided(found)
    yield from _needed_notes(found)
    yield from _driver_notes(found, details=details)


def _too_few_notes(found: Comparison) -> Iterator[Text]:
    few: dict[tuple[int, float], list[tuple[str, str]]] = {}
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


def _without_interval(found: Comparison) -> dict[str, list[tuple[str, str]]]:
    """Return the names of pairs without an interval and p, by the reason."""
    names: dict[str, list[tuple[str, str]]] = {}
    for one in found.measures:
        for pair in one.pairs:
            unknown = found.estimand == "these" and pair.verdict != "no value" and math.isnan(pair.corrected)
            if pair.interval.note and (unknown or {pair.first, pair.second} & one.sessions.keys()):
                names.setdefault(pair.interval.note, []).append(_name_pair(one, pair, found))
    return names


def undecided_reasons(found: Comparison) -> Iterator[Text]:
    """Yield why pairs are undecided although their p or figures suggest a difference."""
    said: dict[tuple[str, str], list[tuple[str, str]]] = {}
    without = _without_interval(found)
    for measure in found.measures:
        for pair in measure.pairs:
            if pair.why and pair.why not in without:
                marked = pair.corrected == pair.corrected  # then its row has an asterisk
                begin, whatever = ("*: ", ", whatever p") if marked else ("", "")
                said.setdefault((begin, f"cannot tell{whatever}: {pair.why}"), []).append(
                    _name_pair(measure, pair, found)
                )
    for (begin, why), names in said.items():
        yield Text(f"{begin}{_first_names(names)}: {why}", style="yellow")
    yield from _mean_notes(found)


def _mean_notes(found: Comparison) -> Iterator[Text]:
    """Yield why a pair may differ in turns and be withheld in their mean, which looks like a contradiction."""
    means = [one for one in found.measures if one.measure == MEAN_USEFUL.name and one.topic_type is None]
    turns = [one for one in found.measures if one.measure == USEFUL.name and one.topic_type is None]
    for mean in means:
        for place, pair in enumerate(mean.pairs):
            told = [one.label for one in turns if len(one.pairs) > place and one.pairs[place].is_distinguished]
            if told and pair.why and not pair.is_distinguished:
                yield Text(
                    f"{' and '.join(told)} can be told although {mean.label}, their mean, cannot: each measure is "
                    "checked by itself for what is in the way of an answer, and only the mean did not pass",
                    style="yellow",
                )


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
                    f"{_first_names([_name_pair(measure, pair, found)])}: {' and '.join(lost)}; with all of them at "
                    f"one end of the measure or the other, the difference is between {low} and {high}",
                    style="yellow",
                )
            if pair.typical is not None:
                middle, around = pair.typical
                ends = f" [{signed(measure, around.low)}, {signed(measure, around.high)}]" if around.is_defined else ""
                yield Text(
                    f"{_first_names([_name_pair(measure, pair, found)])}: instead of a mean, the median of the topics' "
                    "differences is "
                    f"{signed(measure, middle)}{ends}"
                )


def _first_names(names: Sequence[tuple[str, str]]) -> str:
    """Name the first pairs, each measure once: `R, A − B, A − C; GF, A − B`; `R, GF` if there is one pair alone."""
    by_measure: dict[str, list[str]] = {}
    for measure, pair in names[:_MOST_LINES]:
        by_measure.setdefault(measure, []).append(pair)
    told = [", ".join(filter(None, (measure, *pairs))) for measure, pairs in by_measure.items()]
    rest = len(names) - _MOST_LINES
    return ("; " if any(pair for _, pair in names) else ", ").join(told) + (f" and {rest} more" if rest > 0 else "")


def _name_pair(measure: MeasureComparison, pair: Pair, found: Comparison) -> tuple[str, str]:
    """Return the name of a measure, and that of a pair, or "" if there is one pair alone."""
    return measure_name(measure), _pair_name(pair) if len(found.systems) > 2 else ""


def _needed_notes(found: Comparison) -> Iterator[RenderableType]:
    """Yield how much data would decide each undecided pair if its true difference equalled the observed difference."""
    lines = [
        f"{measure_name(measure)}, {printable(pair.first, line=True)} − {printable(pair.second, line=True)}: {said}"
        for measure in found.measures
        for pair in measure.pairs
        if found.verdict_of(measure, pair) in ("cannot tell", "too few")
        and (said := _needed_words(measure, pair, found))
    ]
    if lines:
        yield Text("\nTo settle what cannot be told (in 4 studies of 5, if differences are as large as observed):")
    yield from (Item(line) for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield Text(f"  and {pluralize(len(lines) - _MOST_LINES, 'more pair')}: --json has them all")


def _needed_words(measure: MeasureComparison, pair: Pair, found: Comparison) -> str:
    topics, trials = pair.needed.topics, pair.needed.trials
    if is_percentage(measure.measure) and abs(pair.value) < found.matters:
        now = measure.trials[1] if found.estimand == "these" else len(measure.topics)
        if same := same_size_words(pair, found.estimand, found.matters, now):
            return same
    if found.estimand == "these":
        if math.isnan(trials):
            return ""
        return (
            "no number of trials" if trials > MOST_PLAYABLE else f"roughly {round_roughly(trials)} trials of each topic"
        )
    if math.isnan(topics):
        return ""
    if topics > MOST_PLAYABLE:
        more = (
            ", and --matters SHARE says how many would show that they are the same" if math.isnan(found.matters) else ""
        )
        return f"no number of topics would show a difference: the systems hardly differ{more}"
    of_trials = (
        ""
        if math.isnan(trials)
        else "; more trials of these topics would not do"
        if trials > MOST_PLAYABLE
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
            if details and pair.drivers and is_known(pair):
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
        f"{printable(one.topic, line=True)} {percent(one.share)}" for one in most if 100 * one.share >= 0.5
    )
    against = " (other topics go the other way)" if sum(one.share for one in most) > 1 else ""
    return f"driven by {said} of it{against}; {signed(measure, most[0].without)} without {_topic_names(most[:1])}"


def _topic_names(drivers: Sequence[Driver]) -> str:
    return ", ".join(printable(one.topic, line=True) for one in drivers)


def _pair_name(pair: Pair) -> str:
    return f"{printable(pair.first, line=True)} − {printable(pair.second, line=True)}"


def omission_notes(found: Comparison) -> Iterator[Text]:
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
    partly = [
        one.label
        for one in found.measures
        if one.left_out
        and one.topic_type is None
        and not one.standardised
        and "judgments" in find_declaration(parse(one.measure).name).needs
    ]
    if partly:
        yield Text(
            f"{', '.join(partly)}: only topics in which answers of every system were judged can be compared; to judge "
            "all answers of the same topics, draw them with --topics N instead of --sample N (judge page, judge sheet)"
        )
    yield from (Text(f"note: {note}") for note in found.notes)
