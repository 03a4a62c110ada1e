"""Trials proposed for each topic, for programs: a JSON document, and its figures in the long form of all studies."""

import math
from collections.abc import Iterator
from typing import Any

from harvest.studies.plan.allocation import Spending
from harvest.tables.long_rows import LongRow, unit_of
from recordings.log.provenance import software
from scoring.table import is_percentage

FORMAT = "harvest-allocation/1"

_DIGITS = 6  # a simulation is not known to more


def spending_document(one: Spending) -> dict[str, Any]:
    """The `harvest-allocation/1` document: one row for each topic. Undefined is null."""
    found = one.found
    return {
        "format": FORMAT,
        "audit": one.audit,
        "measure": one.key[0],
        "turn": one.key[1],
        "estimand": "these",
        "systems": list(one.systems),
        "total": one.total,
        "trials": one.usual,
        "trials_of": {each.topic: each.trials for each in one.topics if each.trials != one.usual},
        "floor": found.floor,
        "width": _json(found.width),
        "equal_width": _json(found.equal_width),
        "continued_width": _json(one.continued_width),
        "narrower": {"mean": _json(found.narrower), "low": _json(found.low), "high": _json(found.high)},
        "unseen": _json(one.unseen),
        "rows": [
            {
                "topic": each.topic,
                "trials": each.trials,
                "pilot": each.pilot,
                "spread": _json(each.spread),
                "unseen": _json(each.unseen),
                "unseen_low": _json(each.unseen_low),
                "unseen_high": _json(each.unseen_high),
                "stop": each.stop,
            }
            for each in one.topics
        ],
        "settings": one.settings.as_json(),
        "seed": one.seed,
        "notes": list(one.notes),
        "sources": [dict(each) for each in one.pilots],
        "software": software(),
        "long": [each.as_json() for each in spending_rows(one)],
    }


def _json(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None


def spending_rows(one: Spending) -> Iterator[LongRow]:
    """The proposal in long form: widths over all topics, then for each topic its trials, its spread, and how likely its
    next trial goes a new way."""
    name, turn = one.key
    common: dict[str, Any] = {
        "study": "plan",
        "run": ", ".join(str(each["run"]) for each in one.pilots),
        "measure": name,
        "turn": turn,
    }
    unit, found = unit_of(is_percentage(name)), one.found
    whole: dict[str, Any] = {**common, "topics": len(one.topics), "estimand": "these"}
    for figure, width in (
        ("width of the interval", found.width),
        ("width of the interval with equal trials", found.equal_width),
        ("width of the interval with the pilot continued", one.continued_width),
    ):
        yield LongRow(**whole, figure=figure, unit=unit, estimate=width)
    yield LongRow(
        **whole, figure="narrower by", unit="share", estimate=found.narrower, low=found.low, high=found.high,
        level=0.9, interval="range of 9 in 10 simulated studies",
    )  # fmt: skip
    for each in one.topics:
        own: dict[str, Any] = {**common, "topic": each.topic}
        yield LongRow(**own, figure="trials proposed", unit="count", estimate=float(each.trials), trials=each.trials)
        yield LongRow(**own, figure="spread of trials, foretold", unit=unit, estimate=each.spread, trials=each.pilot)
        yield LongRow(
            **own,
            figure="chance of a way not seen",
            unit="share",
            estimate=each.unseen,
            low=each.unseen_low,
            high=each.unseen_high,
            level=one.settings.level,
            interval="Good-Turing" if each.pilot else "",
            trials=each.pilot,
            note="stop" if each.stop else "",
        )
