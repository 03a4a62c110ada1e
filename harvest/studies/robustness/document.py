"""How robust systems are, as JSON and in the long form of all studies."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from harvest.studies.robustness.factor_figures import factor_rows, long_factor_rows
from harvest.studies.robustness.factors import FactorStudy
from harvest.studies.robustness.figures import FORMAT, robustness_rows
from harvest.studies.robustness.ranking_by_user import RankedPair
from harvest.studies.robustness.ranking_figures import long_ranking_rows, ranking_rows
from harvest.studies.robustness.robustness import MeasureOverArms, Robustness
from harvest.tables.long_rows import LongRow, unit_of
from recordings.log.provenance import software
from scoring.table import is_percentage


def robustness_document(
    found: Sequence[Robustness],
    ranked: Sequence[RankedPair],
    factors: FactorStudy | None,
    seed: int,
    unranked: Sequence[str] = (),
) -> dict[str, Any]:
    """A JSON value: of one run, its systems in order, then every two of them. unranked: why there is nothing of the
    pairs that are not ranked."""
    return {
        "format": FORMAT,
        "settings": found[0].settings.as_json(),
        "notes": list(dict.fromkeys(note for one in found for note in one.notes)),
        "rows": [row for one in found for row in robustness_rows(one)],
        "rankings": list(ranking_rows(ranked)),
        **({"unranked": list(unranked)} if unranked else {}),
        **({"factors": list(factor_rows(factors))} if factors is not None else {}),
        "long": [row.as_json() for row in long_robustness_rows(found, ranked, factors)],
        "seed": seed,
        "sources": [dict(one) for one in found[0].sources],
        "software": software(),
    }


def long_robustness_rows(
    found: Sequence[Robustness], ranked: Sequence[RankedPair], factors: FactorStudy | None = None
) -> Iterator[LongRow]:
    """Of each measure the mean of each arm and its difference from the control, and how far arms spread; then what an
    arm really changed. `system` is the arm, as `system, arm`; `other` the control, or last the other system."""
    for one in found:
        for measure in one.measures:
            yield from _of_measure(one, measure)
        yield from _of_arms(one)
    yield from long_ranking_rows(ranked, str(found[0].sources[0]["run"]), found[0].trials)
    yield from long_factor_rows(factors, str(found[0].sources[0]["run"]), found[0].trials)


def _arm_name(found: Robustness, arm: str) -> str:
    return f"{found.system.name}, {arm}"


def _common(found: Robustness) -> dict[str, Any]:
    return {"study": "robustness", "run": str(found.sources[0]["run"]), "trials": found.trials}


def _of_measure(found: Robustness, measure: MeasureOverArms) -> Iterator[LongRow]:
    name, turn = measure.key
    common = {**_common(found), "measure": name, "turn": turn}
    unit = unit_of(is_percentage(name))
    for arm, value in measure.figures.items():
        worst = "worst arm" if arm == measure.worst else ""
        system = _arm_name(found, arm)
        topics = measure.topics[arm]
        yield LongRow(**common, figure="arm", unit=unit, system=system, estimate=value, topics=topics, note=worst)
    for arm, one in measure.differences.items():
        if measure.elsewhere(arm):
            named, control = _arm_name(found, arm), _arm_name(found, found.system.control)
            within = {**common, "unit": unit, "topics": one.topics}
            yield LongRow(**within, figure="arm, in common", system=named, other=control, estimate=one.other)
            yield LongRow(**within, figure="control, in common", system=control, other=named, estimate=one.base)
        has_interval = not math.isnan(one.interval.low)
        yield LongRow(
            **common,
            figure="difference from control",
            unit=unit,
            system=_arm_name(found, arm),
            other=_arm_name(found, found.system.control),
            estimand="like-these",
            estimate=one.value,
            low=one.interval.low,
            high=one.interval.high,
            level=found.settings.level if has_interval else None,
            interval=one.interval.method,
            p=one.p,
            p_corrected=one.adjusted,
            topics=one.topics,
            note=one.interval.note,
        )
    spread = measure.spread
    yield LongRow(
        **common,
        figure="variance between arms",
        unit="variance",
        system=found.system.name,
        estimand="like-these",
        estimate=spread.value,
        low=spread.interval.low,
        high=spread.interval.high,
        level=None if math.isnan(spread.interval.low) else found.settings.level,
        interval=spread.interval.method,
        topics=max(measure.topics.values(), default=0),
        note=spread.interval.note,
    )


def _of_arms(found: Robustness) -> Iterator[LongRow]:
    for arm, changed in found.changed.items():
        flips = found.flips[arm]
        common = {**_common(found), "system": _arm_name(found, arm), "other": _arm_name(found, found.system.control)}
        share = changed.other / changed.openings if changed.openings else math.nan
        yield LongRow(**common, figure="openings changed", unit="share", estimate=share)
        yield LongRow(**common, figure="words changed", unit="share", estimate=changed.words)
        by_chance = "" if math.isnan(flips.by_chance) else f"by chance: {flips.by_chance:.1f}"
        yield LongRow(
            **common,
            figure="topics turned round",
            unit="count",
            estimand="these",
            estimate=float(len(flips.names)),
            topics=flips.topics,
            note=by_chance,
        )
    for arm, one in found.behaviour.items():
        common = {**_common(found), "system": _arm_name(found, arm)}
        yield LongRow(**common, figure="user turns", unit="count", estimate=one.turns)
        for figure, shares in (("act", one.acts), ("end", one.ends)):
            for name, share in shares.items():
                yield LongRow(**common, figure=figure, unit="share", estimate=share, note=name)
