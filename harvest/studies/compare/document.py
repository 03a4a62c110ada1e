"""A comparison of systems for programs: a JSON document, and its figures in the long form of all studies."""

import math
from collections.abc import Iterator
from typing import Any

from harvest.studies.compare.comparison import Comparison
from harvest.studies.trees.parted_systems import PartedSystems
from harvest.studies.trees.parting_figures import parting_document
from harvest.tables.long_rows import LongRow, unit_of
from recordings.log.provenance import software
from scoring.comparison.result import MeasureComparison, Pair
from scoring.table import is_percentage

FORMAT = "harvest-comparison/1"

_DIGITS = 12  # fewer than a float has, so that two machines print the same


def comparison_document(found: Comparison) -> dict[str, Any]:
    """The `harvest-comparison/1` document: one row for each pair, measure and topic type. Undefined is null."""
    return {
        "format": FORMAT,
        "estimand": found.estimand,
        "guard": found.guard,
        "sources": [dict(one) for one in found.runs],
        "software": software(),
        "systems": list(found.systems),
        "settings": found.settings.as_json(),
        "seed": found.seed,
        "invalid": dict(found.invalid),
        "unplayed": dict(found.unplayed),
        "differences": [one.as_json() for one in found.contrasts],
        "notes": list(found.notes),
        "figures": [
            {**_key(one), "system": name, "value": _json(value), "letters": one.letters[name]}
            for one in found.measures
            for name, value in one.figures.items()
        ],
        "rows": [_row(one, pair) for one in found.measures for pair in one.pairs],
        "long": [one.as_json() for one in comparison_rows(found)],
        "parting": [parting_document(one) for one in found.parted],
    }


def _key(measure: MeasureComparison) -> dict[str, Any]:
    return {"measure": measure.measure, "turn": measure.turn, "topic_type": measure.topic_type}


def _row(measure: MeasureComparison, pair: Pair) -> dict[str, Any]:
    return {
        **_key(measure),
        "first": pair.first,
        "second": pair.second,
        "value": _json(pair.value),
        "low": _json(pair.interval.low),
        "high": _json(pair.interval.high),
        "interval": pair.interval.method or None,
        "note": pair.interval.note,
        "p": _json(pair.p),
        "p_corrected": _json(pair.corrected),
        "p_least": _json(pair.least),
        "p_interval": _json(pair.outside),
        "assumes": pair.interval.assumes,
        "why": pair.why,
        "bounds": None if pair.bounds is None else [_json(end) for end in pair.bounds],
        "typical": None
        if pair.typical is None
        else {"value": _json(pair.typical[0]), "low": _json(pair.typical[1].low), "high": _json(pair.typical[1].high)},
        "clusters": measure.clusters or None,
        "effect": _json(pair.effect),
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        "verdict": pair.verdict,
        "topics": len(measure.topics),
        "topics_left_out": list(measure.left_out),
        "trials_fewest": measure.trials[0],
        "trials_most": measure.trials[1],
        "sessions": min(
            (measure.sessions[name] for name in (pair.first, pair.second) if name in measure.sessions), default=None
        ),
        "topics_needed": _json(pair.needed.topics),
        "trials_needed": _json(pair.needed.trials),
        "drivers": [
            {"topic": one.topic, "share": _json(one.share), "without": _json(one.without)} for one in pair.drivers
        ],
    }


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None


def comparison_rows(found: Comparison, *, drivers: bool = True) -> Iterator[LongRow]:
    """The figures of a comparison in long form: of each measure those of systems, then of pairs, with each topic's part
    in a difference (the parts add up to it); last where conversations part. drivers: whether with parts of topics."""
    for one in found.measures:
        unit = unit_of(is_percentage(one.measure))
        for system, value in one.figures.items():
            said = f"letters: {one.letters[system]}" if len(found.systems) > 2 else ""
            yield LongRow(**_common(found, one, system), figure="system", unit=unit, estimate=value, note=said)
        for pair in one.pairs:
            yield from _pair_rows(found, one, pair, drivers)
    for parted in found.parted:
        yield from _parted_rows(found, parted)


def _runs(found: Comparison, *systems: str) -> str:
    """The names of the runs that recorded `systems`."""
    names = dict.fromkeys(str(found.recorded[name][0].resolve().name) for name in systems if name in found.recorded)
    return ", ".join(names)


def _common(found: Comparison, one: MeasureComparison, *systems: str) -> dict[str, Any]:
    return {
        "study": "compare",
        "run": _runs(found, *systems),
        "measure": one.measure,
        "turn": one.turn,
        "topic_type": one.topic_type or "",
        "system": systems[0],
        "other": systems[1] if len(systems) > 1 else "",
        "topics": len(one.topics),
        "trials": one.trials[1],
    }


def _pair_rows(found: Comparison, one: MeasureComparison, pair: Pair, drivers: bool) -> Iterator[LongRow]:
    unit, common = unit_of(is_percentage(one.measure)), _common(found, one, pair.first, pair.second)
    has_interval = not math.isnan(pair.interval.low)
    yield LongRow(
        **common,
        figure="difference",
        unit=unit,
        estimand=one.estimand,
        estimate=pair.value,
        low=pair.interval.low,
        high=pair.interval.high,
        level=found.settings.level if has_interval else None,
        interval=pair.interval.method,
        p=pair.p,
        p_corrected=pair.corrected,
        note="; ".join(filter(None, (pair.verdict, pair.interval.note or pair.why))),
    )
    if pair.typical is not None:
        middle, around = pair.typical
        yield LongRow(
            **common,
            figure="typical difference",
            unit=unit,
            estimand=one.estimand,
            estimate=middle,
            low=around.low,
            high=around.high,
            level=found.settings.level if around.printed else None,
            interval=around.method,
            note="median of the topics' differences, not their mean",
        )
    for name, end in zip(("lowest", "highest"), sorted(pair.bounds or ()), strict=False):
        said = "with what was lost at the ends of the measure"
        yield LongRow(**common, figure=f"{name} difference", unit=unit, estimate=end, note=said)
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
    for driver in pair.drivers if drivers else ():
        part = driver.share * pair.value
        yield LongRow(**common, figure="part in the difference", unit=unit, topic=driver.topic, estimate=part)


def _parted_rows(found: Comparison, one: PartedSystems) -> Iterator[LongRow]:
    common: dict[str, Any] = {
        "study": "compare",
        "run": _runs(found, one.first, one.second),
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
