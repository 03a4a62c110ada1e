"""A plan of a comparison for programs: a JSON document, and its figures in the long form of all studies."""

import math
from collections.abc import Iterator
from typing import Any

from harvest.studies.plan.figures import answer
from harvest.studies.plan.planning import WANTED, Design, Study
from harvest.tables.long_rows import LongRow, unit_of
from recordings.log.provenance import software
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.table import is_percentage

FORMAT = "harvest-power/1"

_DIGITS = 6  # a simulation is not known to more


def plan_document(study: Study) -> dict[str, Any]:
    """The `harvest-power/1` document: one row for each estimand and design. Undefined and infinite are null."""
    one = study.components
    return {
        "format": FORMAT,
        "audit": study.audit,
        "measure": study.key[0],
        "turn": study.key[1],
        "difference": _json(study.difference),
        "systems": study.systems,
        "pairs": study.pairs,
        "wanted": WANTED,
        "guard": study.guard,
        "components": {
            "mean": _json(one.mean),
            "topic": _json(one.topic),
            "system_topic": _json(one.both),
            "trial": _json(one.within),
            "sources": dict(study.sources),
            **({"failing": _json(study.coming)} if not math.isnan(study.coming) else {}),
        },
        "answer": answer(study),
        "present": _own_design(study.present),
        "beyond": {name: _json(value) for name, value in study.beyond.items()},
        "cautious": _json(study.cautious.found) if study.cautious else None,
        "turns_at_most": study.turns_at_most,
        "settings": study.settings.as_json(),
        "seed": study.seed,
        "notes": list(study.notes),
        "sources": [dict(one) for one in study.pilots],
        "software": software(),
        "rows": [_row(design, estimand) for design in study.designs for estimand in ESTIMANDS],
        "long": [one.as_json() for one in plan_rows(study)],
    }


def _own_design(one: Design) -> dict[str, Any]:
    """The audit's own design. trials: of each system, over all topics; fewest, most: of a topic."""
    each = one.mix or (one.trials,) * one.topics
    return {
        "topics": one.topics,
        "trials": sum(each),
        "fewest": min(each),
        "most": max(each),
        "turns": one.turns,
        "power": {estimand: _json(one.power[estimand].found) for estimand in ESTIMANDS},
        "width": {estimand: _json(one.power[estimand].width) for estimand in ESTIMANDS},
    }


def _row(design: Design, estimand: Estimand) -> dict[str, Any]:
    power = design.power[estimand]
    return {
        "estimand": estimand,
        "topics": design.topics,
        "trials": design.trials,
        "power": _json(power.found),
        "power_error": _json(power.found_error),
        "width": _json(power.width),
        "width_error": _json(power.width_error),
        "turns": design.turns,
        "hours": _json(design.hours),
    }


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None


def plan_rows(study: Study) -> Iterator[LongRow]:
    """The figures of a plan in long form: of each design and estimand power and the width of the interval, with their
    errors of simulation; of each design user turns, and hours where they are known. run: the pilot's."""
    name, turn = study.key
    for design in study.designs:
        common: dict[str, Any] = {
            "study": "plan",
            "run": ", ".join(str(one["run"]) for one in study.pilots),
            "measure": name,
            "turn": turn,
            "topics": design.topics,
            "trials": design.trials,
            "detect": study.difference,
        }
        for estimand in ESTIMANDS:
            power, unit = design.power[estimand], unit_of(is_percentage(name))
            yield LongRow(**common, figure="power", unit="share", estimand=estimand, estimate=power.found)
            yield LongRow(
                **common, figure="error of the power", unit="share", estimand=estimand, estimate=power.found_error
            )
            yield LongRow(**common, figure="width of the interval", unit=unit, estimand=estimand, estimate=power.width)
            yield LongRow(
                **common, figure="error of the width", unit=unit, estimand=estimand, estimate=power.width_error
            )
        at_most = "at most" if study.turns_at_most else ""
        yield LongRow(**common, figure="user turns", unit="count", estimate=float(design.turns), note=at_most)
        yield LongRow(**common, figure="hours", unit="hours", estimate=design.hours, note=at_most)
