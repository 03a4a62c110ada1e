"""Printed tables of arms compared with their control."""

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.robustness.robustness import MeasureOverArms, Robustness
from harvest.tables.comparison_words import bounds_words, difference_words, found_word, p_text
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from scoring.inference.interval import METHOD
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, format_change, percent

_MOST_NAMES = 8  # in a sentence; the others are counted
_ROUNDING = 1e-12  # rounding: sums in another order must compare as equal on every machine
_LEGEND_OF_COMMON = (
    "in common: the arm and the control over matched trials alone, because one has no value in some trials "
    "of the other; the difference is between these figures"
)
_LEGEND = (
    "figure [low, high]: as harvest score has them, over all topics and trials of the arm, each by itself: do not read "
    "the worst arm from these, as it is the worst partly by chance",
    "difference: arm minus control over matched trials (same topic and trial); of percentages, in points; [low, high]: "
    "{level:g}% for topics like these, {interval}, each by itself",
    "p: {test}, corrected over all differences shown (Holm); found: p at most {alpha:g}, and the interval excludes 0 "
    "with the same correction; ?: too few {units} for any p that small{lost}",
    "worst arm: of those played, and not the worst there could be; its [low, high] is wider than that of its row: "
    "it allows for whichever arm turns out to be worst",
    "turned round: topics of which most first answers are useful on one side and useless on the other; by chance: how "
    "many would, if the arm were more trials of the control; of these topics",
)
_LEGEND_OF_SPREAD = (
    "spread over arms: standard deviation of what arms do to a mean over topics like these, chance taken off; its "
    "[low, high] starts at 0 where no arm is found to differ"
)
_LEGEND_OF_WORDS = "words changed: of openings, compared with those of the control"
_LEGEND_OF_USERS = (
    "turns, acts, ends: what users did in an arm with other users than the control's: user turns of a conversation; of "
    "all user turns; of all conversations"
)


def robustness_tables(found: Robustness) -> Iterator[RenderableType]:
    """Yield one system's tables: the arms for each measure, what users did, and what each arm changed."""
    for measure in found.measures:
        yield Text(printable(f"{found.system.name}, {measure.label}", line=True), style="bold")
        yield Text(printable(_sentence(measure), line=True))
        yield _arm_table(found, measure)
    if found.behaviour:
        table = figure_table("arm", ("turns",), min_width=12, max_width=26)
        table.add_column("acts", overflow="fold", ratio=1)
        table.add_column("ends", overflow="fold", ratio=1)
        for arm, one in found.behaviour.items():
            turns = "n/a" if math.isnan(one.turns) else decimal(one.turns, 1)
            table.add_row(printable(arm, line=True), turns, _named_shares(one.acts), _named_shares(one.ends))
        yield table
    yield _change_table(found)
    for warning in _warnings(found):
        yield Text(printable(warning, line=True), style="yellow")


def robustness_legend(found: Sequence[Robustness]) -> Iterator[Text]:
    """Yield explanations of the columns."""
    together = any(one.system.continued for one in found)
    measures = [measure for one in found for measure in one.measures]
    ratios = list(dict.fromkeys(one.label for one in measures if one.measure.declaration.pooled))
    test = "paired randomisation test over topics"
    if ratios:
        test = (
            f"{test} ({', '.join(ratios)}: that of its interval)" if len(ratios) < len(measures) else "its interval's"
        )
    withheld = (one.withheld for measure in measures for one in measure.differences.values())
    words = {
        "interval": "t, clustered by session and topic" if together else f"{METHOD} topic",
        "test": "t, clustered by session and topic" if together else test,
        "units": "sessions" if together else "topics",
        "lost": ", or none because of what was lost" if any(withheld) else "",
    }
    level = found[0].settings.level
    spread = any(not math.isnan(one.spread.value) for one in measures)
    more = [_LEGEND_OF_COMMON] if any(map(_has_common_figures, measures)) else []
    more += [_LEGEND_OF_WORDS] if any(map(_arms_with_words, found)) else []
    more += [_LEGEND_OF_USERS] if any(one.behaviour for one in found) else []
    for line in (*_LEGEND[:3], *((_LEGEND_OF_SPREAD,) if spread else ()), *_LEGEND[3:], *more):
        yield Text(line.format(level=100 * level, alpha=round(1 - level, 6), **words), style="dim")


def _sentence(measure: MeasureOverArms) -> str:
    share = is_percentage(measure.key[0])
    unit = " points" if share else ""
    told = {arm: one.value for arm, one in measure.differences.items() if one.beyond}
    said = [f"{arm} differs by {format_change(value, share=share)}{unit}" for arm, value in told.items()]
    parts = ["; ".join(said) or "cannot tell whether any arm differs from the control"]
    spread = measure.spread
    if not math.isnan(spread.value):
        sd = math.sqrt(max(0.0, spread.value))
        ends = [
            _size_text(math.sqrt(max(0.0, end)), share=share)
            for end in (spread.interval.low, spread.interval.high)
            if not math.isnan(spread.interval.low)
        ]
        interval, why = (f" [{', '.join(ends)}]", "") if ends else ("", f" (no interval: {spread.interval.note})")
        parts.append(f"spread over arms {_size_text(sd, share=share)}{interval}{unit}{why}")
    if measure.worst:
        apart, low, high = measure.apart, measure.interval.low, measure.interval.high
        named = f"worst arm: {measure.worst} ({_value_text(measure.figures[measure.worst], share=share)}"
        if measure.worst in measure.differences and measure.differs_from_printed(measure.worst):
            named += f", {_value_text(measure.differences[measure.worst].other, share=share)} in common"
        if not math.isnan(low):
            between = f"[{format_change(low, share=share)}, {format_change(high, share=share)}]"
            named += f"; {format_change(apart, share=share)} {between}{unit} from the control"
        parts.append(f"{named})")
    return "; ".join(parts)


def _arm_table(found: Robustness, measure: MeasureOverArms) -> Table:
    common = _has_common_figures(measure)
    headings = ["figure\n[low, high]", *(["in common\narm, control"] if common else ())]
    headings += ["difference [low, high]\ntopics like these", "pairs", "p", "found"]
    table = figure_table("arm", headings, min_width=12, max_width=26)
    share = is_percentage(measure.key[0])
    for arm in found.system.names:
        # with another column of figures, a line of 80 characters has no room for the interval beside its figure
        figure = _figure_text(measure, arm, "\n" if common else " ", share=share)
        name = printable(arm, line=True)
        one = measure.differences.get(arm)
        if one is None:
            table.add_row(name, figure, *([""] if common else ()), "control", "", "", "")
            continue
        said = found_word(one)
        both = [_value_text(value, share=share) for value in (one.other, one.base) if measure.differs_from_printed(arm)]
        beside = [", ".join(both)] if common else []
        table.add_row(name, figure, *beside, difference_words(one, share=share), str(one.n), p_text(one.adjusted), said)
    return table


def _figure_text(measure: MeasureOverArms, arm: str, blank: str, *, share: bool) -> str:
    interval = measure.intervals[arm]
    ends = ", ".join(_size_text(end, share=share) for end in (interval.low, interval.high))
    return f"{_value_text(measure.figures[arm], share=share)}{f'{blank}[{ends}]' if interval.is_defined else ''}"


def _has_common_figures(measure: MeasureOverArms) -> bool:
    return any(map(measure.differs_from_printed, measure.differences))


def _arms_with_words(found: Robustness) -> tuple[str, ...]:
    return tuple(arm for arm, changed in found.changed.items() if arm not in found.system.users or changed.other)


def _named_shares(shares: Mapping[str, float]) -> str:
    said = [f"{printable(name, line=True)} {percent(share)}" for name, share in shares.items()]
    rest = len(said) - _MOST_NAMES
    return ", ".join([*said[:_MOST_NAMES], *([f"{rest} more"] if rest > 0 else [])])


def _change_table(found: Robustness) -> Table:
    worded = _arms_with_words(found)
    headings = (*(("openings changed", "words changed") if worded else ()), "turned round", "by chance")
    table = figure_table("arm", headings, min_width=12, max_width=26)
    for arm, changed in found.changed.items():
        flips = found.flips[arm]
        words = (f"{changed.other} of {changed.openings}", percent(changed.words)) if arm in worded else ("", "")
        table.add_row(
            printable(arm, line=True),
            *(words if worded else ()),
            f"{len(flips.names)} of {flips.topics}",
            "n/a" if math.isnan(flips.by_chance) else f"{flips.by_chance:.1f}",
        )
    return table


def _warnings(found: Robustness) -> Iterator[str]:
    for arm, changed in found.changed.items():
        if arm in found.system.users:
            own, control = found.behaviour[arm], found.behaviour[found.system.control]
            if (own.turns, own.acts, own.ends) == (control.turns, control.acts, control.ends):
                yield f"{arm}: its users took as many turns, acted and left as the control's did"
        elif changed.openings and not changed.other:
            yield f"{arm}: no opening differs from the control's; it changes later turns alone, or nothing"
    for arm, flips in found.flips.items():
        if flips.names:
            rest = len(flips.names) - _MOST_NAMES
            more = f" and {rest} more" if rest > 0 else ""
            yield f"{arm}: turned round: {', '.join(flips.names[:_MOST_NAMES])}{more}"
    every = [one for measure in found.measures for one in measure.differences.values()]
    most, least = max((one.topics for one in every), default=0), max((one.least for one in every), default=0.0)
    units = "sessions" if found.system.continued else "topics"
    if most >= 2 and least * found.family > 1 - found.settings.level + _ROUNDING:
        yield (
            f"{most} {units} cannot give a p below {least:.2g}, which is not small enough for "
            f"{pluralize(found.family, 'comparison')}: play more, or fewer arms"
        )
    for measure in found.measures:
        for arm, one in measure.differences.items():
            if said := bounds_words(one, share=is_percentage(measure.key[0])):
                yield f"{measure.label}, {arm}: {said}"
    lost = {arm: count for arm, count in found.invalid.items() if count}
    if lost:
        each = ", ".join(f"{arm} {count}" for arm, count in lost.items())
        yield f"trials without a valid attempt, in no figure: {each}"


def _value_text(value: float, *, share: bool) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{decimal(100 * value, 1)}%" if share else decimal(value, 4)


def _size_text(value: float, *, share: bool) -> str:
    return decimal(100 * value, 1) if share else decimal(value, 4)
