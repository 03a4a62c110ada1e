"""The JSON document and the long-form rows of a comparison."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from harvest.studies.compare.chart import comparison_chart
from harvest.studies.compare.comparison import Comparison
from harvest.studies.compare.figures import comparison_tables
from harvest.studies.compare.paper import comparison_latex
from harvest.studies.trees.parted_systems import PartedSystems
from harvest.studies.trees.parting_figures import parting_document
from harvest.tables.long_rows import LongRow, bound_cells, interval_cells, unit_of
from harvest.tables.study_form import StudyForm
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.table import is_percentage

FORMAT = "harvest-comparison/2"

_TOPIC_FIGURES = ("part in the difference", "difference without the topic")


def comparison_form(found: Comparison, *, details: bool = False, every: bool = False) -> StudyForm:
    """Return the printable form. With `details`, tables also show which topics drive each difference, and with `every`,
    all pairs of many systems."""
    return StudyForm(
        head={
            "format": FORMAT,
            "estimand": found.estimand,
            "guard": found.guard,
            "systems": list(found.systems),
            **({"standardised": asdict(found.standardised)} if found.standardised else {}),
            **({"matters": found.matters} if not math.isnan(found.matters) else {}),
            "settings": found.settings.as_json(),
            "seed": found.seed,
            "invalid": dict(found.invalid),
            "unplayed": dict(found.unplayed),
            "differences": [one.as_json() for one in found.contrasts],
            "notes": list(found.notes),
        },
        rows=lambda: comparison_rows(found),
        tables=lambda width: comparison_tables(found, width=width, details=details, every=every),
        late=lambda: _all_pairs(found),
        sources=found.runs,
        chart=lambda: comparison_chart(found, details=details),
        paper=lambda: comparison_latex(found),
        details=_TOPIC_FIGURES,
    )


def _all_pairs(found: Comparison) -> dict[str, Any]:
    return {
        "measures": [
            {
                "measure": one.measure,
                "turn": one.turn,
                "topic_type": one.topic_type,
                "letters": dict(one.letters),
                "topics_left_out": list(one.left_out),
                "clusters": one.clusters or None,
                "trials_fewest": one.trials[0],
                "trials_most": one.trials[1],
                "pairs": [
                    {"first": pair.first, "second": pair.second, "why": pair.why, "assumes": pair.interval.assumes}
                    for pair in one.pairs
                ],
            }
            for one in found.measures
        ],
        "parting": [parting_document(one) for one in found.parted],
    }


def comparison_rows(found: Comparison) -> Iterator[LongRow]:
    """Yield each measure's figures and pairwise differences, their parts by topic, and then the diverging turns."""
    for one in found.measures:
        unit = unit_of(is_percentage(one.measure))
        for system, value in one.figures.items():
            said = f"letters: {one.letters[system]}" if one.letters[system] and len(found.systems) > 2 else ""
            yield LongRow(**_common_cells(found, one, system), figure="system", unit=unit, estimate=value, note=said)
        for pair in one.pairs:
            yield from _pair_rows(found, one, pair)
    for parted in found.parted:
        yield from _parted_rows(found, parted)


def _run_names(found: Comparison, *systems: str) -> str:
    if not found.recorded:  # runs over different topics, which have the same systems
        return ", ".join(str(one["run"]) for one in found.runs)
    names = dict.fromkeys(str(found.recorded[name][0].resolve().name) for name in systems if name in found.recorded)
    return ", ".join(names)


def _common_cells(found: Comparison, one: MeasureComparison, *systems: str) -> dict[str, Any]:
    return {
        "study": "compare",
        "run": _run_names(found, *systems),
        "measure": one.measure,
        "turn": one.turn,
        "topic_type": one.topic_type or "",
        "system": systems[0],
        "other": systems[1] if len(systems) > 1 else "",
        "topics": len(one.topics),
        "trials": one.trials[1],
    }


def _pair_rows(found: Comparison, one: MeasureComparison, pair: Pair) -> Iterator[LongRow]:
    unit, common = unit_of(is_percentage(one.measure)), _common_cells(found, one, pair.first, pair.second)
    level = found.settings.level
    yield LongRow(
        **common,
        figure="difference",
        unit=unit,
        estimand=one.estimand,
        estimate=pair.value,
        **{**interval_cells(pair.interval, level), "note": pair.interval.note or pair.why},
        p=pair.p,
        p_corrected=pair.corrected,
        p_interval=pair.outside,
        p_least=pair.least,
        **bound_cells(pair.bounds),
        verdict=found.verdict_of(one, pair),
        sessions=min((one.sessions[name] for name in (pair.first, pair.second) if name in one.sessions), default=None),
    )
    if pair.typical is not None:
        middle, around = pair.typical
        yield LongRow(
            **common,
            figure="typical difference",
            unit=unit,
            estimand=one.estimand,
            estimate=middle,
            **{**interval_cells(around, level), "note": "median of the topics' differences, not their mean"},
        )
    if pair.ratio is not None:
        around = pair.ratio.interval
        yield LongRow(
            **_common_cells(found, one, pair.ratio.above, pair.ratio.below),
            figure="ratio",
            unit="ratio",
            estimand=one.estimand,
            estimate=pair.ratio.value,
            **{**interval_cells(around, level), "high": around.high if math.isfinite(around.high) else math.nan},
        )
    over = f"over the {len(found.systems)} systems compared" if len(found.systems) > 2 else ""
    yield LongRow(**common, figure="effect size", unit="ratio", estimate=pair.effect, note=over)
    own = "by topics' own ratios, without those where a side has none" if one.pooled else ""
    for figure, count in (("topics won", pair.wins), ("topics tied", pair.ties), ("topics lost", pair.losses)):
        yield LongRow(**common, figure=figure, unit="count", estimate=float(count), note=own)
    needed = {"topics": pair.needed.topics, "trials of each topic": pair.needed.trials}
    for what, number in needed.items():
        if math.isfinite(number):
            settling = f"{what} that would settle it"
            rough = "an estimate from an estimate"
            yield LongRow(**common, figure=settling, unit="count", estimate=float(number), note=rough)
    for driver in pair.drivers:
        for figure, value in zip(_TOPIC_FIGURES, (driver.share * pair.value, driver.without), strict=True):
            yield LongRow(**common, figure=figure, unit=unit, topic=driver.topic, estimate=value)


def _parted_rows(found: Comparison, one: PartedSystems) -> Iterator[LongRow]:
    common: dict[str, Any] = {
        "study": "compare",
        "run": _run_names(found, one.first, one.second),
        "system": one.first,
        "other": one.second,
        "estimand": "these",
        "topics": one.topics,
    }
    conversations = f"over {sum(one.n)} conversations"
    yield LongRow(
        **common,
        figure="divergence of trees",
        unit="bits",
        estimate=one.divergence,
        p=one.p,
        note=f"{conversations}; by chance alone: {one.by_chance:.6g}"
        if one.by_chance == one.by_chance
        else f"{conversations}; {one.refused}",
    )
    for turn in one.turns:
        way = " → ".join((*turn.turns, turn.branch))
        part = turn.share * one.divergence
        yield LongRow(
            **common, figure="part in the divergence", unit="bits", node=way, estimate=part, p_corrected=turn.p
        )
    if one.texts.topics:
        yield LongRow(
            **{**common, "topics": one.texts.topics},
            figure="first answers of one system",
            unit="value",
            p=one.texts.p,
            note=f"over {one.texts.n} texts; a test without an estimate",
        )
