"""Printed tables, JSON document and long-form rows of people's preferences."""

import math
from collections.abc import Iterator
from dataclasses import replace

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.judging.sheets.pair_sheet import UNCHECKED
from harvest.studies.pairs.preferences import PreferenceResult, PreferenceStudy, Side
from harvest.tables.comparison_words import p_text
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, interval_cells
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from scoring.inference.interval import Interval
from topics.counting import pluralize
from topics.decimals import decimal, percent

FORMAT = "harvest-preferences/2"
_DETAILS = (
    "preferred in a topic",
    "judgments for the first",
    "ties",
    "judgments against the first",
    "judgments unsure",
    "judgments of one pair that are the same",
    "Krippendorff's alpha",
)


def preference_tables(study: PreferenceStudy) -> Iterator[RenderableType]:
    """Yield a sentence for each pair of systems, the table of preferences, and notes on possible biases."""
    for one in study.systems:
        yield Text(_sentence(one, study.level), style="bold")
    yield _figures(study)
    yield Text(
        "preferred: how often the first of the two is preferred over the other (a tie counts half), the mean over "
        f"topics with a {100 * study.level:g}% interval for topics like these, which allows for one unlike them; p: "
        "that neither is, by exchanging the systems within topics, corrected over all pairs of systems (Holm); one is "
        "preferred if p is small and the interval excludes 50%; W/T/L: judgments",
        style="dim",
    )
    for one in study.systems:
        if one.clusters < one.topics:
            units = f"{pluralize(one.topics, 'topic')} in {pluralize(one.clusters, 'cluster')}"
            yield Text(f"{_pair_name(one)}: {units}, which are the units of interval and p", style="dim")
        if one.interval.note:
            yield Text(f"{_pair_name(one)}: no interval ({one.interval.note})", style="yellow")
    for side in study.sides:
        yield Text(_side_sentence(side))
    yield Text(_agreement_sentence(study))
    unsure = sum(one.unsure for one in study.systems)
    people = f"{len(study.people)} {'person' if len(study.people) == 1 else 'people'}"
    yield Text(
        f"{people}; {study.handed_out - study.unjudged} of "
        f"{pluralize(study.handed_out, 'pair')} judged; unsure {pluralize(unsure, 'time')}, which is in no figure",
        style="dim",
    )
    models = [name for name in study.people if name.endswith(UNCHECKED)]
    if models:
        named = ", ".join(printable(name, line=True) for name in models)
        yield Text(
            f"not of people: {named}. What a model prefers is checked by what people prefer of the same pairs: give"
            " their sheets too, and read the agreement",
            style="yellow",
        )


def _pair_name(one: PreferenceResult) -> str:
    return f"{printable(one.first, line=True)} and {printable(one.second, line=True)}"


def _sentence(one: PreferenceResult, level: float) -> str:
    if not one.judged:
        return f"{_pair_name(one)}: nobody judged."
    if not one.told:
        why = ""
        if one.p_corrected <= 1 - level and one.interval.is_defined:
            why = (
                ": p is small, but the interval contains 50%, since a topic unlike these could turn it; more "
                "topics would narrow it"
            )
        return f"{_pair_name(one)}: cannot tell which is preferred{why}."
    better = one.first if one.value > 0.5 else one.second
    share = max(one.value, 1 - one.value)
    return f"{_pair_name(one)}: {printable(better, line=True)} is preferred ({percent(share, 1)})."


def _figures(found: PreferenceStudy) -> Table:
    headings = ("preferred [low, high]\ntopics like these", "p", "W/T/L", "pairs", "topics")
    table = figure_table("systems", headings, min_width=12, max_width=30)
    for one in found.systems:
        table.add_row(
            Text(f"{printable(one.first, line=True)} over {printable(one.second, line=True)}"),
            Text(_share_words(one.value, one.interval)),
            p_text(one.p_corrected),
            f"{one.wins}/{one.ties}/{one.losses}",
            str(one.pairs),
            str(one.topics),
        )
    return table


def _share_words(value: float, interval: Interval) -> str:
    if math.isnan(value):
        return "n/a"
    ends = "" if math.isnan(interval.low) else f" [{decimal(100 * interval.low, 1)}, {decimal(100 * interval.high, 1)}]"
    return f"{percent(value, 1)}{ends}"


def _side_sentence(side: Side) -> str:
    if not side.decided:
        return "side: no judgment is decided"
    by = f" by {printable(side.who, line=True)}" if side.who else ""
    p = "" if math.isnan(side.p) else f" (p {p_text(side.p)})"
    decided = pluralize(side.decided, "decided judgment")
    return f"side: the left one was chosen{by} in {_share_words(side.share, side.interval)} of {decided}{p}"


def _agreement_sentence(found: PreferenceStudy) -> str:
    one = found.agreement
    if not one.things:
        return "agreement: no pair was judged by two people"
    own = one.interval
    ends = f" [{decimal(own.low, 2)}, {decimal(own.high, 2)}]" if own.is_defined else ""
    alpha = "n/a" if math.isnan(one.alpha) else f"{decimal(one.alpha, 2)}{ends}"
    return (
        f"agreement: {percent(one.equal)} of judgments of one pair are the same (n={one.things} pairs); "
        f"Krippendorff's alpha {alpha} (n={one.scored})"
    )


def preference_form(study: PreferenceStudy) -> StudyForm:
    return StudyForm(
        head={
            "format": FORMAT,
            "level": study.level,
            "seed": study.seed,
            "people": list(study.people),
            "pairs": {"handed_out": study.handed_out, "unjudged": study.unjudged},
            "clusters": [{"system": one.first, "other": one.second, "clusters": one.clusters} for one in study.systems],
        },
        rows=lambda: _rows(study),
        tables=lambda _: preference_tables(study),
        sources=study.key.runs,
        details=_DETAILS,
    )


def _rows(found: PreferenceStudy) -> Iterator[LongRow]:
    base = LongRow(
        study="preferences",
        run=", ".join(str(one.get("run", "")) for one in found.key.runs),
        figure="preferred",
        unit="share",
    )
    for one in found.systems:
        pair = replace(base, system=one.first, other=one.second)
        yield replace(
            pair,
            estimand="like-these",
            estimate=one.value,
            **interval_cells(one.interval, found.level),
            p=one.p,
            p_corrected=one.p_corrected,
            verdict=("better" if one.value > 0.5 else "worse") if one.told else "cannot tell",
            topics=one.topics,
            trials=one.pairs,
        )
        for topic, value in one.by_topic.items():
            yield replace(pair, figure=_DETAILS[0], topic=topic, estimate=value)
        for figure, count in zip(_DETAILS[1:5], (one.wins, one.ties, one.losses, one.unsure), strict=True):
            yield replace(pair, figure=figure, unit="count", estimate=float(count))
    for side in found.sides:
        yield replace(
            base,
            figure="left one preferred",
            estimate=side.share,
            **{
                **interval_cells(side.interval, found.level),
                "note": "; ".join(filter(None, (side.who, side.interval.note))),
            },
            p=side.p,
            trials=side.decided,
        )
    agreed = found.agreement
    over = replace(base, trials=agreed.things)
    yield replace(over, figure=_DETAILS[5], estimate=agreed.equal)
    alpha = interval_cells(agreed.interval, found.level)
    yield replace(over, figure=_DETAILS[6], unit="ratio", estimate=agreed.alpha, **alpha)
