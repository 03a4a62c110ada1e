"""Printed tables of a variance study."""

import math
from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harvest.studies.scores.trial_values import Key, key_name
from harvest.studies.variance.facets import Group
from harvest.studies.variance.variance import Figure, SystemVariance, VarianceStudy
from harvest.tables.comparison_words import p_text
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from scoring.inference.carry_over import CarryOver
from scoring.inference.components import Component, Crossed, share_of_spread
from scoring.inference.interval import Interval
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, percent

_FACTOR = 4  # multiple of the trials or topics whose effect is stated
_TEST_NAMES = {
    "sessions": "exchanging whole sessions with fresh trials",
    "orders": "exchanging the orders of sessions",
    "topics": "exchanging the places of topics of one type",
}
_LEGEND = (
    "topics like these: the topics are a sample, and other ones might have been asked; these topics: only trials vary",
    "spread: standard deviation, in points for percentages; ICC(1): share of the variance of single trials that lies "
    "between topics",
    "topics that disagree: share of topics whose trials differ, which grows with the number of trials; pairs that "
    "differ: share of pairs of a topic's trials, which does not",
    "pass^k: chance that k trials of a topic are all useful, C(c, k)/C(n, k), mean over topics",
    "spread of whole trials: of the means of first, second, … trials; by chance: that of independent trials",
    "[low, high]: {level:g}% interval for topics like these: topics get random weights, and a topic that was not asked "
    "joins them; of slopes, t clustered by session and topic",
    "p: of permutation tests, not corrected for the number of measures and systems",
)
_SYSTEM_LEGEND = (
    "Eρ²: how well means over as many topics and trials tell these systems apart, from 0 to 1; Φ: how well they give "
    "the level of each",
)
_FACET_LEGEND = (
    "spread between {several}: of the means of one system, chance taken off; {facet} × topic: {several} that suit some "
    "topics more than others"
)
_Row = tuple[str, str, str]


def variance_tables(study: VarianceStudy) -> Iterator[RenderableType]:
    """Yield sentences and a table for each measure and system, and then for each group of systems."""
    for key, systems in study.each.items():
        for one in systems:
            yield Text(printable(f"{one.system}, {key_name(key)}", line=True), style="bold")
            for sentence in sentences(one, study.settings.level):
                yield Padding(Text(sentence), (0, 0, 0, 2))
            yield _table(_rows(one))
        for group, crossed in study.between[key]:
            yield Text(printable(f"{group.title}, {key_name(key)}", line=True), style="bold")
            yield Padding(Text(_between_sentence(crossed, group)), (0, 0, 0, 2))
            if not math.isnan(crossed.trial.value):
                yield _table(_between_rows(crossed, key, group))


def variance_legend(study: VarianceStudy) -> Iterator[Text]:
    """Yield explanations of the columns and of the sentences."""
    facets = {group.facet: group.several for between in study.between.values() for group, _ in between}
    lines = [*_LEGEND]
    for facet, several in facets.items():
        lines += _SYSTEM_LEGEND if facet == "system" else [_FACET_LEGEND.format(facet=facet, several=several)]
    carried = {one.carried.exchanged: one.carried for each in study.each.values() for one in each if one.carried}
    for exchanged, found in carried.items():
        of = "of the difference from fresh conversations; p" if found.fresh else "p"
        lines.append(f"slope per place: from one place in a session to the next; {of} by {_TEST_NAMES[exchanged]}")
    for line in lines:
        yield Text(line.format(level=100 * study.settings.level), style="dim")


def _table(rows: Iterable[_Row]) -> Table:
    table = figure_table("figure", ())
    for heading in ("value [low, high]\ntopics like these", "over"):
        table.add_column(Text(heading), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def sentences(variance: SystemVariance, level: float) -> Iterator[str]:
    """Yield the sentences above a system's table. They say where most of the variation is and what more trials
    would bring, as far as the intervals allow. Further sentences say how often trials disagree, and whether
    trial numbers or positions in a session matter."""
    split = variance.split
    if not split.topics:
        yield "No trial has a value."
        return
    if math.isnan(split.topic.value):
        yield f"The spread cannot be split: {split.topic.interval.note}."
    elif math.isnan(split.icc.value):
        yield "Nothing varies: every trial of every topic has the same value."
    else:
        yield f"{_main_component(split.icc)}{_advice_on_trials(variance)}"
    if _can_agree(variance) and not math.isnan(variance.disagree.value):
        yield (
            f"Trials disagree on {percent(variance.disagree.value)} of topics; two trials of a topic differ "
            f"{percent(variance.pairs.value)} of the time."
        )
    whole = variance.whole_trials
    if whole.p <= 1 - level:
        yield (
            f"Whole trials lie apart: their means spread by {_with_unit(whole.spread, variance.key)}, where "
            f"independent trials would by {_with_unit(whole.by_chance, variance.key)} (p {p_text(whole.p)})."
        )
    if variance.carried is not None:
        yield _carried_sentence(variance, variance.carried)


def _can_agree(one: SystemVariance) -> bool:
    """Return true if two trials can have equal values by more than chance. Measures such as seconds always differ."""
    return is_percentage(one.key[0])


def _main_component(icc: Component) -> str:
    low, high, share = icc.interval.low, icc.interval.high, max(0.0, icc.value)
    if math.isnan(low):
        return (
            f"Of the variance of single trials {percent(share)} is between these topics; whether topics or trials "
            f"bring most of it cannot be told ({icc.interval.note})."
        )
    if low > 0.5:
        return (
            f"Most of the spread is between topics: {_range_text(share, low, high)} of the variance of single trials."
        )
    if high < 0.5:
        said = _range_text(1 - share, 1 - high, 1 - low)
        return f"Most of the spread is between trials of one topic: {said} of the variance of single trials."
    return (
        "Topics and trials of one topic both count, and which counts more cannot be told: topics have "
        f"{_range_text(share, low, high)} of the variance of single trials."
    )


def _range_text(value: float, low: float, high: float) -> str:
    return f"{percent(value)} [{decimal(100 * low, 0)}, {decimal(100 * high, 0)}]"


def _advice_on_trials(one: SystemVariance) -> str:
    like, these = one.split.narrowing_shares(_FACTOR)
    least, most = one.split.narrowing_ends(_FACTOR)
    if math.isnan(like):
        said = " Trials of a topic all agree here, so more topics would narrow the interval for topics like these"
        return f"{said}, and {_FACTOR} times the trials by at most {percent(most)}." if most == most else f"{said}."
    half = "half" if math.isclose(these, 0.5) else percent(these)
    by = f"by {_range_text(like, least, most)}" if most == most else "by a share that cannot be told"
    return (
        f" {_FACTOR} times the trials would narrow the interval for topics like these {by}, for these topics by {half}."
    )


def _carried_sentence(one: SystemVariance, found: CarryOver) -> str:
    what = "the loss against fresh sessions" if found.fresh else "the value"
    slope = f"{_signed_text(found.slope, one.key, 2)} from one place in the session to the next"
    lost = f", {_signed_text(found.lost, one.key)} against fresh sessions on average" if found.fresh else ""
    if found.found is None:
        return f"Whether answers depend on the place in the session cannot be told here; slope {slope}{lost}."
    smallest = min(p for p in (found.p, found.p_lost) if not math.isnan(p))
    if not found.found:
        return f"No carry-over in continued sessions was found: {slope}{lost} (p {p_text(smallest)})."
    verdict = "It tires" if found.slope < 0 else "It gains"
    if found.fresh and not found.p <= found.p_lost:
        verdict = "It loses in continued sessions" if found.lost < 0 else "It gains in continued sessions"
    caution = "" if found.exchanged != "topics" or found.fresh else _ORDER_NOTE
    return f"{verdict}: {what} changes by {slope}{lost} (p {p_text(smallest)}).{caution}"


_ORDER_NOTE = (
    " All sessions had one order, so topics may simply grow harder or easier: play `order: shuffled`, or the same "
    "system with fresh sessions too."
)


def _rows(one: SystemVariance) -> Iterator[_Row]:
    split, key = one.split, one.key
    over = f"{pluralize(split.topics, 'topic')}, {pluralize(split.trials, 'trial')}"
    if not math.isnan(split.topic.value):
        yield "spread between topics", _spread_words(split.topic, key), over
        yield "spread between trials", _spread_words(split.trial, key), over
        yield "ICC(1)", _ratio_text(split.icc), over
    if _can_agree(one) and not math.isnan(one.disagree.value):
        yield "topics that disagree", *_figure_cells(one.disagree)
        yield "pairs that differ", *_figure_cells(one.pairs)
    for k, figure in (one.passes or {}).items():
        yield f"pass^{k}", *_figure_cells(figure)
    whole = one.whole_trials
    if not math.isnan(whole.p):
        trials = sum(count > 0 for count in whole.topics)
        said = f"{_with_unit(whole.spread, key)}, by chance {_number_text(whole.by_chance, key)}; p {p_text(whole.p)}"
        yield "spread of whole trials", said, f"{pluralize(trials, 'trial')} of {pluralize(max(whole.topics), 'topic')}"
    if (found := one.carried) is not None:
        over = f"{pluralize(found.sessions, 'session')}, {pluralize(found.conversations, 'conversation')}"
        p = "" if math.isnan(found.p) else f"; p {p_text(found.p)}"
        yield "slope per place", f"{_with_interval(found.slope, found.interval, key, digits=2)}{p}", over
        if found.fresh:
            p = "" if math.isnan(found.p_lost) else f"; p {p_text(found.p_lost)}"
            lost = f"{_with_interval(found.lost, found.interval_lost, key)}{p}"
            yield "continued less fresh", lost, f"{over}, {found.fresh} fresh"


def _between_sentence(found: Crossed, group: Group) -> str:
    if math.isnan(found.trial.value):
        return f"The spread cannot be split: {found.trial.interval.note}."
    components = {
        f"between {group.several}": found.system,
        "between topics": found.topic,
        f"of {group.several} that suit some topics more than others": found.both,
        "between trials": found.trial,
    }
    parts = {name: max(0.0, one.value) for name, one in components.items()}
    whole = math.fsum(parts.values())
    if not whole > 0:
        return f"Nothing varies: every trial of every topic and {group.facet} has the same value."
    largest = max(parts, key=lambda name: parts[name])
    others = ", ".join(f"{percent(value / whole)} {name}" for name, value in parts.items() if name != largest)
    low, high = share_of_spread(components[largest], [one for name, one in components.items() if name != largest])
    if not low > 0.5:
        return (
            "Which part of the spread is the largest cannot be told. Of the variance of single trials "
            f"{percent(parts[largest] / whole)} is {largest}, {others}."
        )
    said = _range_text(parts[largest] / whole, low, high)
    return f"Most of the spread is {largest}: {said} of the variance of single trials; {others}."


def _between_rows(found: Crossed, key: Key, group: Group) -> Iterator[_Row]:
    over = f"{found.systems} {group.several}, {pluralize(found.topics, 'topic')}, {pluralize(found.trials, 'trial')}"
    yield f"spread between {group.several}", _spread_words(found.system, key), over
    yield "spread between topics", _spread_words(found.topic, key), over
    yield f"spread of {group.facet} × topic", _spread_words(found.both, key), over
    yield "spread between trials", _spread_words(found.trial, key), over
    if group.facet == "system":
        yield "Eρ²", _ratio_text(found.relative), over
        yield "Φ", _ratio_text(found.absolute), over


def _spread_words(one: Component, key: Key) -> str:
    size = math.sqrt(max(0.0, one.value))
    if math.isnan(one.interval.low):
        return _with_unit(size, key)
    low, high = (_number_text(math.sqrt(end), key) for end in (one.interval.low, one.interval.high))
    return f"{_with_unit(size, key)} [{low}, {high}]"


def _ratio_text(one: Component) -> str:
    if math.isnan(one.value):
        return f"n/a: {one.interval.note}"
    value = f"{max(0.0, one.value):.2f}"
    return value if math.isnan(one.interval.low) else f"{value} [{one.interval.low:.2f}, {one.interval.high:.2f}]"


def _figure_cells(one: Figure) -> tuple[str, str]:
    if math.isnan(one.value):
        return f"n/a: {one.interval.note}", ""
    value = percent(one.value, 1)
    if not math.isnan(one.interval.low):
        value += f" [{decimal(100 * one.interval.low, 1)}, {decimal(100 * one.interval.high, 1)}]"
    return value, f"{pluralize(one.topics, 'topic')}, {pluralize(one.trials, 'trial')}"


def _with_interval(value: float, interval: Interval, key: Key, digits: int = 1) -> str:
    if math.isnan(interval.low):
        return _signed_text(value, key, digits)
    low, high = (_number_text(end, key, "+", digits) for end in (interval.low, interval.high))
    return f"{_signed_text(value, key, digits)} [{low}, {high}]"


def _with_unit(value: float, key: Key) -> str:
    return f"{_number_text(value, key)}{' points' if is_percentage(key[0]) else ''}"


def _signed_text(value: float, key: Key, digits: int = 1) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{_number_text(value, key, '+', digits)}{' points' if is_percentage(key[0]) else ''}"


def _number_text(value: float, key: Key, sign: str = "", digits: int = 1) -> str:
    return decimal(100 * value, digits, signed=bool(sign)) if is_percentage(key[0]) else f"{value:{sign}.3g}"
