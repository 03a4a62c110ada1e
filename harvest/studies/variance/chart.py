"""A chart of how much trials vary: spreads between topics, trials and systems, with their intervals."""

import math
from collections.abc import Iterator

from harvest.studies.scores.trial_values import Key, key_name
from harvest.studies.variance.variance import VarianceStudy
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from scoring.inference.components import Component
from scoring.table import is_percentage
from topics.counting import pluralize

_WIDTH = 720.0  # in pixels


def variance_chart(study: VarianceStudy) -> str:
    """Return an SVG file with a panel for each measure: the spreads of every system, and those over all systems."""
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
    each = (
        f"{panel.title}: " + ", ".join(f"{row.label} {row.said}".rstrip() for row in panel.rows) for panel in panels
    )
    return page(
        title, f"Spreads with intervals. {'; '.join(each)}", [*elements, *more], inside + 2 * MARGIN, down + MARGIN
    )


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
    """Return the row of a component's root; a negative component is drawn as 0."""
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
