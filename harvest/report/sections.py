"""The sections of a report, made by the studies of the commands with the same wording."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from harvest.report.blocks import WIDE, Block, as_blocks, details, picture, table, text
from harvest.report.forest import figure_forest
from harvest.report.grid import address
from harvest.studies.runs.readings import Contrast
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.grid import last_turn_asked
from harvest.studies.scores.report import selection_figures
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.selection import Selection
from harvest.studies.validity.odd_languages import odd_languages, unknown_languages
from harvest.studies.validity.user_card_figures import card_lines, card_warnings
from harvest.studies.variance.figures import variance_legend, variance_tables
from harvest.studies.variance.rows import measure_charts
from harvest.studies.variance.variance import VarianceStudy
from harvest.tables.drawing.histogram_chart import HistogramRow, histogram_panel
from harvest.tables.drawing.scatter_chart import ScatterSeries, scatter_panel
from harvest.tables.drawing.svg import MARGIN, page
from harvest.tables.figures import figures, ordered_rows, printed_rows
from recordings.conversations.conversation import INVALID
from scoring.measures.group_fairness import FAIRNESS
from scoring.measures.relevance import RELEVANCE
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.table import ScoreTable, is_percentage
from topics.counting import pluralize

# The heading of figures beside those of judgments.
NOT_JUDGED = "Labels of the protocol's rules, and other figures without judgments"
_MOST_INVALID = 200  # attempts that are listed
_MOST_POINTS = 2000  # of a scatter plot


def figure_blocks(
    material: Material,
    scores: ScoreTable,
    drawn: Sequence[str],
    contrasts: Sequence[Contrast],
    lost: Selection,
    leading: Leading,
) -> Iterator[Block]:
    """Yield the figures of `harvest score` as a forest plot and as a table, then a closed part with all variants, then
    notes. `drawn` are the systems in the order of drawing. If the report begins with judgments, so do the figures, and
    others have a plot of their own."""
    joint = lost.withhold_intervals(scores.joint)
    rows = printed_rows(joint, every=False)
    bounded = {one.system for one in lost.bounds}
    for contrast in contrasts:
        yield text(f"The runs differ: {contrast.said}", "warn")
    yield from (text(sentence) for sentence in scores.coverage)
    last = last_turn_asked(material)
    if leading.scorers:
        judged, others = ([row for row in rows if bool(row.scorers) == by] for by in (True, False))
        kinds = [("Figures by judgments", judged), (NOT_JUDGED, others)]
    else:
        kinds = [("Measures and systems", rows)]
    plots = []
    for caption, own in kinds:
        plot = list(figure_forest(own, drawn, lost.ranges, caption))
        plots += [text(caption, "heading"), *plot] if plot and leading.scorers else plot
    yield from plots
    printed = as_blocks(
        figures(rows, material.systems, width=WIDE, last=last, bounded=bounded), "Figures of each system"
    )
    yield from (part for part in printed if "table" not in part)
    tables = [part for part in printed if "table" in part]
    yield from [details("As a table, with n", tables)] if plots else tables
    yield from as_blocks(selection_figures(lost, rows), "Bounds, with lost attempts")
    yield from (text(one.sentence, "warn") for one in lost.concentrations)
    every = printed_rows(joint, every=True)
    if len(every) > len(rows):
        there = {(row.measure, row.turn) for row in rows}
        aside = [row for row in every if (row.measure, row.turn) not in there]
        shown = figures(
            aside,
            material.systems,
            width=WIDE,
            every=True,
            asked=[row.measure for row in ordered_rows(aside, every=True)],
        )
        yield details("Every variant", as_blocks(shown, "Variants of measures"))
    trials = [row for row in scores.single("trial") if row.topic_type is None]
    if trials:
        # The figures of the first trials of all topics, of the second ones, and so on.
        labels = {(row.measure, row.turn): row.label for row in ordered_rows(rows)}
        found = {(row.system, row.trial, row.measure, row.turn): row.shown(row.value) for row in trials}
        places = dict.fromkeys((system, trial) for system, trial, _, _ in found)
        kept = [key for key in labels if any((*place, *key) in found for place in places)]
        lines = [[system, str(n), *(found.get((system, n, *key), "") for key in kept)] for system, n in places]
        head = ["system", "trial", *(labels[key] for key in kept)]
        yield details("Each trial by itself", [table(head, lines, [False, True, *[True] * len(kept)])])
    yield from (text(note, "dim") for note in scores.notes if note not in scores.coverage)
    yield from (text(line, "dim") for line in card_lines(material.user_card))
    yield from (text(line, "warn") for line in card_warnings(material.user_card))
    yield from (text(note, "dim") for note in odd_languages(material.finished))
    yield from (text(note, "dim") for note in unknown_languages(material.finished))
    for sentence in material.damage:
        for folder in {*material.folders.values()}:  # a path of this machine means nothing to those who get the page
            sentence = sentence.replace(str(folder), folder.name)
        yield text(f"Damage: {sentence}", "warn")


def fairness_blocks(material: Material, scores: ScoreTable) -> Iterator[Block]:
    """Yield a chart of R against GF with a point for each topic and system. Yields nothing without a gold table."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in scores.single("topic"):
        if row.measure in (RELEVANCE.name, FAIRNESS.name):
            values.setdefault((row.system, row.topic or ""), {})[row.measure] = row.value
    points: dict[str, list[tuple[float, float]]] = {}
    about: dict[str, list[tuple[str, str]]] = {}
    rows = []
    for (system, topic), own in values.items():
        r, gf = own.get(RELEVANCE.name, float("nan")), own.get(FAIRNESS.name, float("nan"))
        if r == r and gf == gf:
            points.setdefault(system, []).append((r, gf))
            link = {"text": topic, "href": address(topic=topic, system=system)}
            title = f"{topic}, {system}: {RELEVANCE.name} {r:.4f}, {FAIRNESS.name} {gf:.4f}"
            about.setdefault(system, []).append((title, link["href"]))
            rows.append([link, system, f"{r:.4f}", f"{gf:.4f}"])
    if not rows:
        return
    yield text(
        "Each point is a topic: the mean over its trials. Points further right named more relevant entities, or "
        "named them earlier; points further up spread them over groups more as the target says.",
        "dim",
    )
    if len(rows) <= _MOST_POINTS:
        series = [ScatterSeries(name, own, about[name]) for name, own in points.items()]
        yield picture(points_chart(series, RELEVANCE.name, FAIRNESS.name))
    head = ["topic", "system", RELEVANCE.name, FAIRNESS.name]
    yield details("As a table", [table(head, rows, [False, False, True, True])])


def distribution_blocks(scores: ScoreTable, cells: Mapping[str, Sequence[float]], leading: Leading) -> Iterator[Block]:
    """Yield histograms of values over conversations, of the leading measure first. `cells` has the values of ave%useful
    for each system."""
    values: dict[str, dict[str, list[float]]] = {leading.measure: {}}
    for system, each in cells.items():
        known = [value for value in each if value == value]
        if known:
            values.setdefault(MEAN_USEFUL.name, {})[system] = known
    shown = {row.measure for row in ordered_rows(printed_rows(scores.joint, every=False)) if "(" not in row.measure}
    shown.add(leading.measure)
    for own in scores.each:
        # In the order in which the conversations, one after the other, have a value of them.
        first = [
            (int(column.at[has_value].min()), place, column.measure)
            for place, column in enumerate(own.columns)
            if column.measure in shown and (has_value := ~np.isnan(column.value)).any()
        ]
        for measure in dict.fromkeys(measure for _, _, measure in sorted(first)):
            value = own.values(measure)[1]
            values.setdefault(measure, {})[own.system] = value[~np.isnan(value)].tolist()
    values = {measure: systems for measure, systems in values.items() if systems}
    if not values:
        return
    yield text("How the values of single conversations are spread: a mean alone hides how much they differ.", "dim")
    yield {"pictures": [distribution_chart(measure, systems) for measure, systems in values.items()]}


def variance_blocks(study: VarianceStudy) -> Iterator[Block]:
    """Yield a chart for each measure and, closed, the tables of `harvest variance`."""
    yield {"pictures": list(measure_charts(study))}
    yield details("In words and figures", as_blocks(variance_tables(study), "Where the spread comes from"))
    yield from (text(note, "dim") for note in study.notes)
    yield from as_blocks(variance_legend(study))


def invalid_blocks(material: Material) -> Iterator[Block]:
    """Yield the failed attempts by reason, system and topic. Yields nothing if no attempt failed."""
    broken = [one for one in material.conversations if one.outcome is None or one.outcome.kind == INVALID]
    if not broken:
        return
    counts = Counter((one.key.system, one.outcome.why if one.outcome else "interrupted") for one in broken)
    yield text(
        f"{pluralize(len(broken), 'attempt')} without a valid end, not in any figure. Trials that have no valid "
        f"attempt at all: {len(material.invalid)}.",
    )
    rows = [[system, reason, f"{count:,}"] for (system, reason), count in counts.most_common()]
    yield table(["system", "reason", "attempts"], rows, [False, False, True])
    listed = [
        [
            {
                "text": f"{one.key.topic}, trial {one.key.trial}, attempt {one.attempt}",
                "href": address(topic=one.key.topic, system=one.key.system, trial=one.key.trial, attempt=one.attempt),
            },
            one.key.system,
            one.outcome.why if one.outcome else "interrupted",
            one.outcome.detail[:300] if one.outcome else "",
        ]
        for one in broken[:_MOST_INVALID]
    ]
    yield table(["trial", "system", "reason", "what was said"], listed)
    if len(broken) > _MOST_INVALID:
        yield text(f"{len(broken) - _MOST_INVALID:,} more: harvest show RUN --all lists every attempt.", "warn")


_WIDTH, _HALF = 760.0, 560.0  # in pixels: of a picture by itself, and of one of two beside each other
_BINS = 20  # of a histogram

_OWN_STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
_ROOT = re.compile(r'\A(<svg [^>]*?) style="[^"]*"')


def remove_style(svg: str) -> str:
    """Return a picture without its style sheet, because the page's policy allows only the style sheet of the page."""
    return _OWN_STYLE.sub("", _ROOT.sub(r"\1", svg, count=1), count=1).strip()


def points_chart(series: Sequence[ScatterSeries], x: str, y: str) -> str:
    """Draw a scatter chart with a point for each topic, which leads to its conversations."""
    elements, down = scatter_panel(series, x, y, _WIDTH - 2 * MARGIN, MARGIN - 8)
    counts = "; ".join(f"{one.name}: {len(one.points)} points" for one in series)
    return page(f"{x} against {y}", f"A point for each topic and system. {counts}", elements, _WIDTH, down + 8)


def distribution_chart(measure: str, systems: Mapping[str, Sequence[float]]) -> str:
    """Draw histograms of a measure. `systems` maps each system to the values of its conversations."""
    scale = 100.0 if is_percentage(measure) else 1.0
    every = [value for each in systems.values() for value in each]
    ends = (0.0, scale) if scale > 1 else (min(0.0, *every), _round_end(max(every)))
    rows = [_histogram_row(name, [scale * value for value in each], ends) for name, each in systems.items()]
    unit = "percent" if scale > 1 else measure
    drawn, down = histogram_panel(measure, f"{unit} of a conversation", rows, ends, _HALF - 2 * MARGIN, MARGIN - 10)
    said = "; ".join(f"{measure} of {row.label}: {row.said}" for row in rows)
    return page(f"{measure} over conversations", said, drawn, _HALF, down + 6)


def _round_end(most: float) -> float:
    if most <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(most))
    return next(size * step for step in (1, 2, 2.5, 5, 10) if size * step >= most * (1 - 1e-9))


def _histogram_row(name: str, values: Sequence[float], ends: tuple[float, float]) -> HistogramRow:
    low, high = ends
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, max(0, int((value - low) / (high - low) * _BINS)))] += 1
    ordered = sorted(values)
    quartiles = []
    for share in (0.25, 0.5, 0.75):
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        above = min(below + 1, len(ordered) - 1)
        quartiles.append(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
    low_quarter, middle, high_quarter = quartiles
    form = ".1f" if high == 100.0 else ".4f"
    said = f"median {middle:{form}} (line), half from {low_quarter:{form}} to {high_quarter:{form}}, n {len(values):,}"
    return HistogramRow(name, said, [count / len(values) for count in counts], middle)
