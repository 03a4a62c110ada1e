"""A plan for one turn of the conversation tree, for programs: a JSON document, and its figures in the long form."""

import math
from collections.abc import Iterator
from typing import Any

from harvest.studies.plan.node_figures import node_answer, node_path
from harvest.studies.plan.node_planning import NodeDesign, NodePlan
from harvest.studies.plan.planning import WANTED
from harvest.tables.long_rows import LongRow
from recordings.log.provenance import software

FORMAT = "harvest-node-power/1"

_DIGITS = 6  # a simulation is not known to more


def node_plan_document(plan: NodePlan) -> dict[str, Any]:
    """The `harvest-node-power/1` document: one row for each design. Undefined is null."""
    return {
        "format": FORMAT,
        "audit": plan.audit,
        "node": list(plan.path),
        "estimand": "these",
        "systems": plan.systems,
        "wanted": WANTED,
        "pilot": {
            "share": _json(plan.share),
            "spread": _json(plan.spread),
            "came": plan.came,
            "took": plan.took,
            "topics": plan.came_topics,
            "by_system": {name: _json(share) for name, share in plan.by_system.items()},
        },
        "changed": _json(plan.changed),
        "difference": _json(abs(plan.share - plan.changed)),
        "answer": node_answer(plan),
        "smallest": _row(plan.smallest) if plan.smallest else None,
        "beyond": {"topics": plan.beyond[0], "trials": plan.beyond[1]} if plan.beyond else None,
        "present": _row(plan.present),
        "more_topics": _row(plan.more_topics),
        "more_trials": _row(plan.more_trials),
        "settings": plan.settings.as_json(),
        "seed": plan.seed,
        "sources": [dict(one) for one in plan.pilots],
        "software": software(),
        "rows": [_row(design) for design in plan.designs],
        "long": [one.as_json() for one in node_plan_rows(plan)],
    }


def _row(design: NodeDesign) -> dict[str, Any]:
    return {
        "topics": design.topics,
        "trials": design.trials,
        "power": _json(design.power.found),
        "power_error": _json(design.power.found_error),
        "come": _json(design.power.come),
        "critical": _json(design.power.critical),
        "turns": design.turns,
        "hours": _json(design.hours),
    }


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None


def node_plan_rows(plan: NodePlan) -> Iterator[LongRow]:
    """The figures of a plan in long form: of each design power with its error, trials of a system that come to the
    turn, user turns, and hours. run: the pilot's."""
    for design in plan.designs:
        common: dict[str, Any] = {
            "study": "plan",
            "run": ", ".join(str(one["run"]) for one in plan.pilots),
            "node": node_path(plan),
            "topics": design.topics,
            "trials": design.trials,
            "detect": abs(plan.share - plan.changed),
        }
        power = design.power
        yield LongRow(**common, figure="power", unit="share", estimand="these", estimate=power.found)
        yield LongRow(**common, figure="error of the power", unit="share", estimand="these", estimate=power.found_error)
        yield LongRow(**common, figure="trials that come there", unit="count", estimate=power.come)
        yield LongRow(**common, figure="user turns", unit="count", estimate=float(design.turns))
        yield LongRow(**common, figure="hours", unit="hours", estimate=design.hours)
