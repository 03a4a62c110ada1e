"""A plan for a tail of a score, for programs: a JSON document, and its figures in the long form."""

import math
from collections.abc import Iterator
from typing import Any

from harvest.studies.plan.planning import WANTED
from harvest.studies.plan.tail_figures import tail_answer
from harvest.studies.plan.tail_planning import TailDesign, TailPlan
from harvest.tables.long_rows import LongRow
from recordings.log.provenance import software

FORMAT = "harvest-tail-power/1"

_DIGITS = 6  # a simulation is not known to more


def tail_plan_document(plan: TailPlan) -> dict[str, Any]:
    """The `harvest-tail-power/1` document: one row for each design and system. Undefined is null, with its note."""
    return {
        "format": FORMAT,
        "audit": plan.audit,
        "measure": plan.measure,
        "distance": _json(plan.distance),
        "estimand": "like-these",
        "wanted": WANTED,
        "values": {name: _json(value) for name, value in plan.values.items()},
        "own": {name: _json(value) for name, value in plan.own.items()},
        "least_topics": plan.least_topics,
        "answer": tail_answer(plan),
        "smallest": list(_rows(plan, plan.smallest)) if plan.smallest else None,
        "present": list(_rows(plan, plan.present)),
        "turns_at_most": plan.turns_at_most,
        "settings": plan.settings.as_json(),
        "seed": plan.seed,
        "notes": list(plan.notes),
        "sources": [dict(one) for one in plan.pilots],
        "software": software(),
        "rows": [row for design in plan.designs for row in _rows(plan, design)],
        "long": [one.as_json() for one in tail_plan_rows(plan)],
    }


def _rows(plan: TailPlan, design: TailDesign) -> Iterator[dict[str, Any]]:
    for system, power in design.powers.items():
        above, below = _bounds(plan)
        yield {
            "system": system or None,
            "topics": design.topics,
            "trials": design.trials,
            above: _json(power.below),
            below: _json(power.above),
            "power_error": _json(power.error),
            "width": _json(power.width),
            "covered": _json(power.covered),
            "with_interval": _json(power.with_interval),
            "studies": power.studies,
            "note": power.note or None,
            "turns": design.turns,
            "hours": _json(design.hours),
        }


def _bounds(plan: TailPlan) -> tuple[str, str]:
    """What is shown of a bound above the tail, by an interval wholly below it, and of one below."""
    return ("missed", "kept") if plan.worst == "low" else ("kept", "missed")


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None


def tail_plan_rows(plan: TailPlan) -> Iterator[LongRow]:
    """The figures of a plan in long form: of each design how often either bound is shown, with the error, the width of
    the interval, user turns, and hours. run: the pilot's."""
    above, below = _bounds(plan)
    for design in plan.designs:
        common: dict[str, Any] = {
            "study": "plan",
            "run": ", ".join(str(one["run"]) for one in plan.pilots),
            "measure": plan.measure,
            "topics": design.topics,
            "trials": design.trials,
            "detect": plan.distance,
        }
        for system, power in design.powers.items():
            own: dict[str, Any] = {**common, "system": system, "estimand": "like-these", "note": power.note}
            yield LongRow(**own, figure=f"bound above shown {above}", unit="share", estimate=power.below)
            yield LongRow(**own, figure=f"bound below shown {below}", unit="share", estimate=power.above)
            yield LongRow(**own, figure="error of the power", unit="share", estimate=power.error)
            yield LongRow(**own, figure="width of the interval", unit="value", estimate=power.width)
        yield LongRow(**common, figure="user turns", unit="count", estimate=float(design.turns))
        yield LongRow(**common, figure="hours", unit="hours", estimate=design.hours)
