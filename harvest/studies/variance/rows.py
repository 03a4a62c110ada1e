"""The JSON document, long-form rows and chart of a variance study.

Variance components in rows may be negative. The name of a figure of pass^k includes k.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.runs.sources import sources
from harvest.studies.scores.trial_values import Key, key_name
from harvest.studies.variance.figures import variance_legend, variance_tables
from harvest.studies.variance.variance import Figure, SystemVariance, VarianceStudy
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from harvest.tables.long_rows import LongRow, Unit, interval_cells, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from recordings.log.run_folder import Run
from scoring.inference.components import Component
from scoring.table import is_percentage
from topics.counting import pluralize

FORMAT = "harvest-variance/2"


def variance_form(study: VarianceStudy, runs: Sequence[Run], seed: int) -> StudyForm:
    """Return the printable form of a study of these runs."""
    return StudyForm(
        head={
            "format": FORMAT,
            "settings": study.settings.as_json(),
            "notes": list(study.notes),
            "differences": [one.as_json() for one in study.contrasts],
            "together": [
                {"measure": measure, "turn": turn, "facet": group.facet, "systems": list(group.names)}
                for (measure, turn), between in study.between.items()
                for group, _ in between
            ],
            "carried": [_carried_head(one) for each in study.each.values() for one in each if one.carried is not None],
            "seed": seed,
        },
        rows=lambda: variance_rows(study),
        tables=lambda _: _tables(study),
        sources=sources(runs),
        chart=lambda: variance_chart(study),
    )


def _tables(study: VarianceStudy) -> Iterator[RenderableType]:
    for contrast in study.contrasts:
        differ = "the runs differ" if len(contrast.by_run) > 1 else "the run differs within itself"
        yield Text(printable(f"{differ}: {contrast.said}", line=True), style="yellow")
    yield from variance_tables(study)
    yield from variance_legend(study)
    yield from (Text(f"note: {note}") for note in study.notes)


def _carried_head(one: SystemVariance) -> dict[str, Any]:
    found = one.carried
    assert found is not None
    how = {"exchanged": found.exchanged, "units": found.units, "fresh": found.fresh, "found": found.found}
    return {"measure": one.key[0], "turn": one.key[1], "system": one.system, **how}


def variance_rows(study: VarianceStudy) -> Iterator[LongRow]:
    """Yield each measure's figures by system, and then over each group of systems that differ in one facet."""
    for (measure, turn), systems in study.each.items():
        base = LongRow(study="variance", run="", figure="", unit="variance", measure=measure, turn=turn)
        for one in systems:
            own = replace(base, run=study.recorded.get(one.system, ""), system=one.system, estimand="like-these")
            yield from _system_rows(own, one, study.settings.level)
        for group, found in study.between[measure, turn]:
            together = replace(
                base,
                run=", ".join(dict.fromkeys(study.recorded.get(name, "") for name in group.names)),
                system=", ".join(group.names),
                estimand="like-these",
                topics=found.topics,
                trials=found.trials,
            )
            parts = {
                f"variance between {group.several}": found.system,
                "variance between topics": found.topic,
                f"variance of {group.facet} and topic": found.both,
                "variance between trials": found.trial,
            }
            for figure, part in parts.items():
                yield _component_row(together, figure, "variance", part, study.settings.level)
            if group.facet == "system":
                for kind, part in (("relative", found.relative), ("absolute", found.absolute)):
                    yield _component_row(together, f"{kind} reliability", "ratio", part, study.settings.level)


def _component_row(base: LongRow, figure: str, unit: Unit, one: Component, level: float) -> LongRow:
    return replace(base, figure=figure, unit=unit, estimate=one.value, **interval_cells(one.interval, level))


def _system_rows(base: LongRow, one: SystemVariance, level: float) -> Iterator[LongRow]:
    split, unit = one.split, unit_of(is_percentage(one.key[0]))
    counted = replace(base, topics=split.topics, trials=split.trials)
    yield _component_row(counted, "variance between topics", "variance", split.topic, level)
    yield _component_row(counted, "variance between trials of a topic", "variance", split.trial, level)
    yield _component_row(counted, "ICC(1)", "ratio", split.icc, level)
    shares: dict[str, Figure] = {
        "topics whose trials disagree": one.disagree,
        "pairs of trials that differ": one.pairs,
        **{f"pass^{k}": share for k, share in (one.passes or {}).items()},
    }
    for figure, share in shares.items():
        yield replace(
            base,
            figure=figure,
            unit="share",
            estimate=share.value,
            topics=share.topics,
            trials=share.trials,
            **interval_cells(share.interval, level),
        )
    whole = one.whole_trials
    trials = sum(count > 0 for count in whole.topics)
    over = replace(base, unit=unit, estimand="these", topics=max(whole.topics, default=0), trials=trials)
    yield replace(over, figure="spread of whole trials", estimate=whole.spread, p=whole.p)
    yield replace(over, figure="spread of whole trials by chance", estimate=whole.by_chance)
    if (found := one.carried) is None:
        return
    place = replace(base, unit=unit, topics=found.topics, trials=found.conversations, sessions=found.sessions)
    cells = interval_cells(found.interval, level)
    yield replace(place, figure="slope a place", estimate=found.slope, p=found.p, **cells)
    if found.fresh:
        cells = interval_cells(found.interval_lost, level)
        yield replace(place, figure="continued less fresh", estimate=found.lost, p=found.p_lost, **cells)


_WIDTH = 720.0  # in pixels
_HALF = 560.0  # two charts next to each other in a report


def variance_chart(study: VarianceStudy) -> str:
    """Return an SVG chart with a panel for each measure. A panel has the spreads of every system and of each group
    of systems that differ in one facet."""
    panels = list(_panels(study))
    inside = max(_WIDTH - 2 * MARGIN, *map(panel_width, panels))
    title = f"How much trials vary: {', '.join(study.systems)}"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    level = f"{100 * study.settings.level:g}%"
    about = (
        f"Standard deviations over {pluralize(study.topics, 'topic')}, with {level} intervals for topics like these; "
        f"{', '.join(study.runs)}"
    )
    more, down = paragraphs([about], inside, down + 2)
    elements += more
    for panel in panels:
        drawn, down = interval_panel(panel, inside, down + 14)
        elements += drawn
    facets = {group.facet: group.several for beside in study.between.values() for group, _ in beside}
    said = [
        "between topics: some topics are harder than others; between trials: one topic, asked again, gets another "
        "answer",
        *(f"{facet} × topic: {several} suit some topics more than others" for facet, several in facets.items()),
        *(one.said for one in study.contrasts),
        *(f"Note: {note}" for note in study.notes),
    ]
    more, down = paragraphs(said, inside, down + 4)
    each = "; ".join(map(_panel_words, panels))
    return page(title, f"Spreads with intervals. {each}", [*elements, *more], inside + 2 * MARGIN, down + MARGIN)


def measure_charts(study: VarianceStudy) -> Iterator[str]:
    """Yield an SVG chart for each measure, with what `variance_chart` draws of it."""
    for panel in _panels(study):
        inside = max(_HALF - 2 * MARGIN, panel_width(panel))
        drawn, down = interval_panel(panel, inside, MARGIN - 4)
        yield page(
            f"How much trials vary in {panel.title}", _panel_words(panel), drawn, inside + 2 * MARGIN, down + MARGIN
        )


def _panel_words(panel: IntervalPanel) -> str:
    return f"{panel.title}: " + ", ".join(f"{row.label} {row.said}".rstrip() for row in panel.rows)


def _panels(study: VarianceStudy) -> Iterator[IntervalPanel]:
    for key, systems in study.each.items():
        rows: list[IntervalRow] = []
        for one in systems:
            rows.append(IntervalRow(one.system, heading=True))
            rows += [_row("between topics", one.split.topic, key), _row("between trials", one.split.trial, key)]
        for group, found in study.between[key]:
            rows.append(IntervalRow(group.title, heading=True))
            rows += [
                _row(f"between {group.several}", found.system, key),
                _row("between topics", found.topic, key),
                _row(f"{group.facet} × topic", found.both, key),
                _row("between trials", found.trial, key),
            ]
        unit = "points" if is_percentage(key[0]) else key_name(key)
        yield IntervalPanel(key_name(key), f"standard deviation, in {unit}", rows)


def _row(label: str, one: Component, key: Key) -> IntervalRow:
    """Return a row with the square root of a variance component. A negative component is drawn as 0."""
    scale = 100.0 if is_percentage(key[0]) else 1.0
    value, low, high = (
        math.nan if math.isnan(part) else scale * math.sqrt(max(0.0, part))
        for part in (one.value, one.interval.low, one.interval.high)
    )
    if math.isnan(value):
        return IntervalRow(label, said=f"n/a: {one.interval.note}" if one.interval.note else "n/a")
    form = ".1f" if scale == 100 else ".4g"
    interval = "" if math.isnan(low) else f" [{low:{form}}, {high:{form}}]"
    return IntervalRow(label, value, low, high, f"{value:{form}}{interval}")
