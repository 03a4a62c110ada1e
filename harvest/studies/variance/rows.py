"""How much trials vary, in long form: one figure a row, variances with their sign."""

import math
from collections.abc import Iterator
from typing import Any

from harvest.studies.scores.trial_values import Key
from harvest.studies.variance.facets import Group
from harvest.studies.variance.variance import Figure, SystemVariance, VarianceStudy
from harvest.tables.long_rows import LongRow, Unit
from scoring.inference.components import Component, Crossed
from scoring.inference.interval import Interval, no_interval
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.table import is_percentage

FORMAT = "harvest-variance/1"

_DIGITS = 12  # fewer than a float has, so that two machines print the same
_LIKE = "topics like these"


def variance_rows(study: VarianceStudy) -> Iterator[dict[str, Any]]:
    """Every row has the same keys; undefined numbers are null. `of` says what the interval speaks of."""
    for key, systems in study.each.items():
        for one in systems:
            yield from _of_system(one, study.settings.level)
        for group, found in study.between[key]:
            yield from _of_group(group, found, key, study.settings.level)


def _of_system(one: SystemVariance, level: float) -> Iterator[dict[str, Any]]:
    split, key, name = one.split, one.key, one.system
    counts = {"topics": split.topics, "trials": split.trials}
    parts = {"variance between topics": split.topic, "variance between trials of a topic": split.trial}
    for figure, component in {**parts, "ICC(1)": split.icc}.items():
        yield _of_component(key, name, figure, component, level, counts)
    for figure, share in (("topics whose trials disagree", one.disagree), ("pairs of trials that differ", one.pairs)):
        yield _of_figure(key, name, figure, share, level)
    for k, share in (one.passes or {}).items():
        yield {**_of_figure(key, name, "pass^k", share, level), "k": k}
    whole = one.whole_trials
    trials = sum(count > 0 for count in whole.topics)
    over = {"topics": max(whole.topics, default=0), "trials": trials, "of": "these topics"}
    yield _row(key, name, "spread of whole trials", whole.spread, no_interval(), level, p=_plain(whole.p), **over)
    yield _row(key, name, "spread of whole trials by chance", whole.by_chance, no_interval(), level, **over)
    if one.carried is None:
        return
    found = one.carried
    counts = {"topics": found.topics, "trials": found.conversations, "sessions": found.sessions, "fresh": found.fresh}
    how = {"exchanged": found.exchanged, "units": found.units, "found": found.found}
    yield _row(key, name, "slope a place", found.slope, found.interval, level, p=_plain(found.p), **counts, **how)
    if found.fresh:
        p = _plain(found.p_lost)
        yield _row(key, name, "continued less fresh", found.lost, found.interval_lost, level, p=p, **counts, **how)


def _of_group(group: Group, found: Crossed, key: Key, level: float) -> Iterator[dict[str, Any]]:
    counts = {"systems": found.systems, "topics": found.topics, "trials": found.trials}
    parts = {
        f"variance between {group.several}": found.system,
        "variance between topics": found.topic,
        f"variance of {group.facet} and topic": found.both,
        "variance between trials": found.trial,
    }
    if group.facet == "system":
        parts |= {"relative reliability": found.relative, "absolute reliability": found.absolute}
    for figure, component in parts.items():
        of = {"facet": group.facet, "together": list(group.names)}
        yield _of_component(key, None, figure, component, level, counts) | of


def _of_component(
    key: Key, name: str | None, figure: str, one: Component, level: float, counts: dict[str, int]
) -> dict[str, Any]:
    return _row(key, name, figure, one.value, one.interval, level, **counts)


def _of_figure(key: Key, name: str, figure: str, one: Figure, level: float) -> dict[str, Any]:
    return _row(key, name, figure, one.value, one.interval, level, topics=one.topics, trials=one.trials, systems=1)


def _row(
    key: Key, system: str | None, figure: str, value: float, interval: Interval, level: float, **more: object
) -> dict[str, Any]:
    measure, turn = key
    known = not math.isnan(interval.low)
    return {
        "measure": measure,
        "turn": turn,
        "system": system,
        "figure": figure,
        "k": None,
        "value": _plain(value),
        "low": _plain(interval.low),
        "high": _plain(interval.high),
        "level": level if known else None,
        "interval": interval.method or None,
        "resampled": interval.resampled or None,
        "of": _LIKE,
        "systems": 1,
        "topics": 0,
        "trials": 0,
        "sessions": None,
        "fresh": None,
        "p": None,
        "exchanged": None,
        "units": None,
        "found": None,
        "facet": None,
        "together": None,
        "note": interval.note,
        **more,
    }


def _plain(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None


def long_variance_rows(study: VarianceStudy) -> Iterator[LongRow]:
    """The same in the long form of all studies; pass^k has its k in its name."""
    speaks: dict[str, Estimand] = {words: estimand for estimand, words in ESTIMANDS.items()}
    for row in variance_rows(study):
        of = row["system"]
        yield LongRow(
            study="variance",
            run=", ".join(dict.fromkeys(study.recorded.get(name, "") for name in row["together"] or [of])),
            figure=f"pass^{row['k']}" if row["k"] is not None else row["figure"],
            unit=_unit(row["figure"], row["measure"]),
            measure=row["measure"],
            turn=row["turn"],
            system=", ".join(row["together"] or [of]),
            estimand=speaks[row["of"]],
            estimate=_number(row["value"]),
            low=_number(row["low"]),
            high=_number(row["high"]),
            level=row["level"],
            interval=row["interval"] or "",
            p=_number(row["p"]),
            topics=row["topics"],
            trials=row["trials"],
            note=row["note"],
        )


def _unit(figure: str, measure: str) -> Unit:
    if figure.startswith("variance"):
        return "variance"
    if figure == "ICC(1)" or figure.endswith("reliability"):
        return "ratio"
    if figure in ("topics whose trials disagree", "pairs of trials that differ", "pass^k"):
        return "share"
    return "share" if is_percentage(measure) else "value"


def _number(value: float | None) -> float:
    return math.nan if value is None else value
