"""Printed tables and long-form rows of an attribution."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harvest.studies.attribute.attribution import LOSS_REASON, AttributedSystem, AttributionStudy
from harvest.studies.runs.sources import sources
from harvest.studies.scores.trial_values import Key, key_name
from harvest.tables.figure_table import figure_table
from harvest.tables.long_rows import LongRow, interval_cells, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from recordings.log.run_folder import Run
from scoring.inference.attribution import SOURCES, Attribution
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, significant_digits

FORMAT = "harvest-attribution/2"

_CHANGE_WORDS = {
    "system": "the same words got other answers",
    "users": "other words were said",
    "rules": "the same answers got other labels",
    "reading": "pages were read otherwise than today",
    "topics": "topics came, went or were reworded",
}
_OWNER_WORDS = {
    "system": "the system's",
    "users": "the users'",
    "rules": "the rules'",
    "reading": "the reading of pages",
    "topics": "the topics'",
}
_LEGEND = (
    "shares add up to the difference; [low, high]: {level:g}% interval for topics like these",
    "both runs are labelled by both protocols, as read today from pages that were kept; the system's share is what is "
    "left where users, rules, reading and topics are the same",
)


def attribution_tables(study: AttributionStudy) -> Iterator[RenderableType]:
    """Yield a sentence and a table of shares for each system and measure, and then effects outside all shares."""
    for system in study.systems:
        for key, one in system.each.items():
            yield Text(printable(f"{system.system}, {key_name(key)}", line=True), style="bold")
            yield Padding(Text(_sentence(one, key)), (0, 0, 0, 2))
            if one.topics:
                yield _share_table(one, key)
        for line in _effects_outside_shares(study, system):
            yield Text(printable(f"{system.system}: {line}", line=True), style="yellow")


def attribution_legend(study: AttributionStudy) -> Iterator[Text]:
    for line in _LEGEND:
        yield Text(line.format(level=100 * study.settings.level), style="dim")


def _sentence(one: Attribution, key: Key) -> str:
    moved = (
        f"From {_number_text(one.before, key)} to {_number_text(one.after, key)}: {_signed_text(one.difference, key)}"
    )
    if not one.topics:
        return f"{moved}. Nothing of it can be told apart: no topic is in both runs with a value."
    told = [source for source in SOURCES if one.intervals[source].low > 0 or one.intervals[source].high < 0]
    if not one.largest_source:
        return f"{moved}. Nothing changed."
    if one.largest_source in told:
        share = _signed_text(one.shares[one.largest_source], key)
        others = [
            f"{_signed_text(one.shares[source], key)} {_OWNER_WORDS[source]}"
            for source in told
            if source != one.largest_source
        ]
        return (
            f"{moved}. {share} of it is {_OWNER_WORDS[one.largest_source]}{', ' + ', '.join(others) if others else ''}."
        )
    if one.largest_source == "topics":
        return f"{moved}. The largest part comes of topics that are not in both runs; no other differs from chance."
    return f"{moved}. No part of it can be told from {'what was lost' if _is_lost(one) else 'chance'}."


def _is_lost(one: Attribution) -> bool:
    return any(interval.note == LOSS_REASON for interval in one.intervals.values())


def _share_table(one: Attribution, key: Key) -> Table:
    table = figure_table("share of", ())
    for heading in ("value [low, high]\ntopics like these", "because"):
        table.add_column(Text(heading), overflow="fold")
    for source in SOURCES:
        share = one.shares[source]
        table.add_row(
            source, _with_interval(one, source, key), _CHANGE_WORDS[source] if share and not _is_lost(one) else ""
        )
    table.add_row(
        Text("together", style="bold"), _signed_text(one.difference, key), f"{pluralize(one.topics, 'topic')} in both"
    )
    return table


def _with_interval(one: Attribution, source: str, key: Key) -> str:
    value, interval = one.shares[source], one.intervals[source]
    if not value:
        return "none"
    if math.isnan(interval.low):
        return _signed_text(value, key)
    low, high = (_number_text(end, key, "+") for end in (interval.low, interval.high))
    return f"{_signed_text(value, key)} [{low}, {high}]"


def _effects_outside_shares(study: AttributionStudy, system: AttributedSystem) -> Iterator[str]:
    was, now = system.coverage
    if (was.planned - was.valid, was.lost) != (now.planned - now.valid, now.lost):
        lost = f", {pluralize(now.lost, 'topic')} without one" if now.lost else ""
        yield (
            f"coverage: {was.valid} of {pluralize(was.planned, 'trial')} were valid, now {now.valid} of "
            f"{now.planned}{lost}; trials without a valid answer are in no figure"
        )
    if system.cut_short:
        before, after = (said or "nothing was lost" for said in system.cut_short)
        yield (
            f"{before}, now {after}: what would have followed is not known and could be the difference, so no share is "
            "told from chance; remove the cause and make a new run"
        )
    if study.harness:
        said = ", ".join(f"{name} {was or 'none'}, now {now or 'none'}" for name, (was, now) in study.harness.items())
        yield f"the harness changed: {said}"
    for run, reading in zip(study.runs, system.reading, strict=True):
        if reading.read and reading.unread:
            yield (
                f"{pluralize(reading.unread, 'answer')} of {run} cannot be read again; were they read badly, it counts "
                "as the system's"
            )
    unmatched = max((one.unmatched for one in system.each.values()), default=0)
    if system.other_users and unmatched:
        yield (
            f"users changed, and in {pluralize(unmatched, 'topic')} they never said the same words: what the system "
            "would have answered to the earlier ones is not known, and all of it counts as the users'"
        )


def attribution_form(study: AttributionStudy, runs: Sequence[Run]) -> StudyForm:
    """Return the printable form of the study of two `runs`."""
    return StudyForm(
        head={
            "format": FORMAT,
            "settings": study.settings.as_json(),
            "differences": [one.as_json() for one in study.contrasts],
            "harness": {name: list(pair) for name, pair in study.harness.items()},
            "coverage": {
                one.system: [{"planned": side.planned, "valid": side.valid, "lost": side.lost} for side in one.coverage]
                for one in study.systems
            },
        },
        rows=lambda: attribution_rows(study),
        tables=lambda _: _tables(study),
        sources=sources(runs),
    )


def _tables(study: AttributionStudy) -> Iterator[RenderableType]:
    for contrast in study.contrasts:
        yield Text(printable(f"the runs differ: {contrast.said}", line=True), style="yellow")
    yield from attribution_tables(study)
    yield from attribution_legend(study)


def attribution_rows(study: AttributionStudy) -> Iterator[LongRow]:
    """Yield the figure before, the figure after, their difference, and the shares, which add up to the difference."""
    for system in study.systems:
        for (measure, turn), one in system.each.items():
            base = LongRow(
                study="attribution",
                run=", ".join(study.runs),
                figure="before",
                unit=unit_of(is_percentage(measure)),
                measure=measure,
                turn=turn,
                system=system.system,
                estimand="these",
                estimate=one.before,
                topics=one.topics,
            )
            yield base
            yield replace(base, figure="after", estimate=one.after)
            yield replace(base, figure="difference", estimate=one.difference)
            for source in SOURCES:
                interval = one.intervals[source]
                yield replace(
                    base,
                    figure=f"share of {source}",
                    estimand="like-these" if interval.is_defined else "these",
                    estimate=one.shares[source],
                    **interval_cells(interval, study.settings.level),
                )


def _signed_text(value: float, key: Key) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{_number_text(value, key, '+')}{' points' if is_percentage(key[0]) else ''}"


def _number_text(value: float, key: Key, sign: str = "") -> str:
    if math.isnan(value):
        return "n/a"
    if not is_percentage(key[0]):
        return significant_digits(value, 3, signed=bool(sign))
    return decimal(100 * value, 1, signed=bool(sign)) + ("" if sign else "%")
