"""The sections of a report, each made of a study that has a command of its own, in the words of that command."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harvest.report.blocks import WIDE, Block, as_blocks, details, picture, table, text
from harvest.report.grid import address
from harvest.report.pictures import distributions_chart, points_chart
from harvest.studies.compare.chart import comparison_chart
from harvest.studies.compare.comparison import Comparison
from harvest.studies.compare.figures import comparison_tables
from harvest.studies.runs.contrast import Contrast
from harvest.studies.scores.grid import last_turn_asked
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.selection import Selection
from harvest.studies.scores.selection_figures import selection_figures
from harvest.studies.validity.odd_languages import odd_languages
from harvest.studies.validity.user_card_figures import card_lines, card_warnings
from harvest.studies.variance.chart import variance_chart
from harvest.studies.variance.figures import variance_legend, variance_tables
from harvest.studies.variance.variance import VarianceStudy
from harvest.studies.watch.figures import watch_tables
from harvest.studies.watch.history import Look
from harvest.studies.watch.history_chart import history_chart
from harvest.studies.watch.history_tables import history_tables
from harvest.studies.watch.watch import Watched
from harvest.tables.figures import figures, ordered_rows, printed_rows
from recordings.conversations.conversation import INVALID
from scoring.columns import Columns
from scoring.measures.group_fairness import FAIRNESS
from scoring.measures.relevance import RELEVANCE
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.table import ScoreRow, ScoreTable
from topics.counting import pluralize

_MOST_INVALID = 200  # attempts that are listed
_MOST_POINTS = 2000  # of a scatter plot


def figure_blocks(
    material: Material, scores: ScoreTable, contrasts: Sequence[Contrast], lost: Selection
) -> Iterator[Block]:
    """The figures as `harvest score` prints them, every variant on demand, and what must be known beside them."""
    rows = printed_rows(scores.joint, every=False)
    bounded = {one.system for one in lost.bounds}
    for contrast in contrasts:
        yield text(f"The runs differ: {contrast.said}", "warn")
    yield from (text(sentence) for sentence in scores.coverage)
    last = last_turn_asked(material)
    yield from as_blocks(
        figures(rows, material.systems, width=WIDE, last=last, bounded=bounded), "Figures of each system"
    )
    yield from as_blocks(selection_figures(lost, rows), "Bounds, with lost attempts")
    yield from (text(one.sentence, "warn") for one in lost.concentrations)
    every = printed_rows(scores.joint, every=True)
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
        yield details("Each trial by itself", [_by_trial(rows, trials)])
    yield from (text(note, "dim") for note in scores.notes if note not in scores.coverage)
    yield from (text(line, "dim") for line in card_lines(material.user_card))
    yield from (text(line, "warn") for line in card_warnings(material.user_card))
    yield from (text(note, "dim") for note in odd_languages(material.finished))
    yield from (text(f"Damage: {sentence}", "warn") for sentence in material.damage)


def _by_trial(rows: Sequence[ScoreRow], trials: Sequence[ScoreRow]) -> Block:
    """The figures of the first trials of all topics, of the second ones, and so on. rows: those over all trials."""
    shown = {(row.measure, row.turn): row.label for row in ordered_rows(rows)}
    found = {(row.system, row.trial, row.measure, row.turn): row.shown(row.value) for row in trials}
    places = dict.fromkeys((system, trial) for system, trial, _, _ in found)
    kept = [key for key in shown if any((*place, *key) in found for place in places)]
    lines = [[system, str(trial), *(found.get((system, trial, *key), "") for key in kept)] for system, trial in places]
    return table(["system", "trial", *(shown[key] for key in kept)], lines, [False, True, *[True] * len(kept)])


def fairness_blocks(material: Material, scores: ScoreTable) -> Iterator[Block]:
    """R against GF, a point for each topic and system; nothing without gold."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in scores.single("topic"):
        if row.measure in (RELEVANCE.name, FAIRNESS.name):
            values.setdefault((row.system, row.topic or ""), {})[row.measure] = row.value
    points: dict[str, list[tuple[float, float]]] = {}
    rows = []
    for (system, topic), own in values.items():
        r, gf = own.get(RELEVANCE.name, float("nan")), own.get(FAIRNESS.name, float("nan"))
        if r == r and gf == gf:
            points.setdefault(system, []).append((r, gf))
            link = {"text": topic, "href": address(topic=topic, system=system)}
            rows.append([link, system, f"{r:.4f}", f"{gf:.4f}"])
    if not rows:
        return
    yield text(
        "Each point is a topic: the mean over its trials. To the right more that is relevant was named, and earlier; "
        "further up it was spread over groups as the target says.",
        "dim",
    )
    if len(rows) <= _MOST_POINTS:
        yield picture(points_chart(points, RELEVANCE.name, FAIRNESS.name))
    head = ["topic", "system", RELEVANCE.name, FAIRNESS.name]
    yield details("As a table", [table(head, rows, [False, False, True, True])])


def distribution_blocks(scores: ScoreTable, cells: Mapping[str, Sequence[float]]) -> Iterator[Block]:
    """How the values of single conversations are spread. cells: of ave%useful, by system."""
    values: dict[str, dict[str, list[float]]] = {}
    for system, each in cells.items():
        known = [value for value in each if value == value]
        if known:
            values.setdefault(MEAN_USEFUL.name, {})[system] = known
    shown = {row.measure for row in ordered_rows(printed_rows(scores.joint, every=False)) if "(" not in row.measure}
    for own in scores.each:
        for measure in _by_first_known(own, shown):
            found = own.values(measure)[1]
            values.setdefault(measure, {})[own.system] = found[~np.isnan(found)].tolist()
    if not values:
        return
    yield text("How the values of single conversations are spread: a mean alone hides whether all are alike.", "dim")
    yield picture(distributions_chart(values))


def _by_first_known(own: Columns, shown: Collection[str]) -> list[str]:
    """Those of the measures that have a value, in the order in which the conversations, one after the other, do."""
    first = [
        (int(column.at[known].min()), place, column.measure)
        for place, column in enumerate(own.columns)
        if column.measure in shown and (known := ~np.isnan(column.value)).any()
    ]
    return list(dict.fromkeys(measure for _, _, measure in sorted(first)))


def variance_blocks(study: VarianceStudy) -> Iterator[Block]:
    """As `harvest variance` says it."""
    yield from as_blocks((part for part in variance_tables(study)), "Where the spread comes from")
    yield picture(variance_chart(study))
    yield from (text(note, "dim") for note in study.notes)
    yield details("What the words mean", as_blocks(variance_legend(study)))


def compared_blocks(found: Comparison) -> Iterator[Block]:
    """As `harvest compare` says it."""
    yield from as_blocks(comparison_tables(found, width=WIDE, details=len(found.systems) == 2), "Systems compared")
    yield details("As a picture", [picture(comparison_chart(found, details=len(found.systems) == 2))])


def watched_blocks(found: Watched) -> list[Block]:
    """As `harvest reaudit` says it."""
    return as_blocks(watch_tables(found), "Held against the baseline")


def history_blocks(looks: Sequence[Look]) -> Iterator[Block]:
    """As `harvest history` says it, the figures that may raise alarms."""
    gated = dict.fromkeys(
        (system, name)
        for look in looks
        for system, one in look.systems.items()
        for name, own in one.figures.items()
        if own.evidence is not None
    )
    for system, name in gated:
        yield text(f"{system}, {name}", "strong")
        yield picture(history_chart(looks, [(system, name)]))
        yield from as_blocks(history_tables(looks, system, name), f"{name} of {system}, look by look")


def invalid_blocks(material: Material) -> Iterator[Block]:
    """What broke, how often, and where; nothing where nothing did."""
    broken = [one for one in material.conversations if one.outcome is None or one.outcome.kind == INVALID]
    if not broken:
        return
    counts = Counter((one.key.system, one.outcome.why if one.outcome else "interrupted") for one in broken)
    yield text(
        f"{pluralize(len(broken), 'attempt')} without a valid end, in no figure. Trials that have no valid attempt at "
        f"all: {len(material.invalid)}.",
        "warn" if material.invalid else "",
    )
    rows = [[system, reason, f"{count:,}"] for (system, reason), count in counts.most_common()]
    yield table(["system", "reason", "attempts"], rows, [False, False, True])
    listed = [
        [
            {
                "text": f"{one.key.topic}, trial {one.key.trial}, attempt {one.attempt}",
                "href": _to(one.key, one.attempt),
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


def _to(key: Any, attempt: int) -> str:
    return address(topic=key.topic, system=key.system, trial=key.trial, attempt=attempt)
