"""How many topics and trials show a tail of a score: what `harvest plan --measure "CVaR(R)"` computes.

A tail has the interval of `harvest score` and, with a threshold of the audit, a bound that it is held to; systems are
not compared in it. Each design of a grid is simulated with this very interval: how wide it is, and how often it shows
on which side of a bound the tail lies.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harvest.audits.audit import Audit, place_errors
from harvest.studies.plan.costs import PlanCosts, observed_costs
from harvest.studies.plan.pilot import assumed_components, pilot_cells, pilot_material
from harvest.studies.plan.planning import WANTED, multiples, refuse_large
from harvest.studies.runs.sources import sources
from recordings.files.json_text import Json
from recordings.log.run_folder import Run
from scoring.catalogue import understand
from scoring.forms.worst import CVAR, QUANTILE, tail_kind, tail_words, worst_end
from scoring.inference.tail_power import NO_TOP, TailModel, TailPower, simulate_tail, stated_tail_model, tail_model
from scoring.inference.tails import Worst, tail_share, units_needed
from scoring.measure import Measure
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import Settings, scoring_settings
from scoring.swan.schema import load_schema
from topics.errors import InputError
from topics.identity import generator

_MOST = 0.5  # of the studies of a design, for anything to be said of a system


@dataclass(frozen=True, slots=True)
class TailDesign:
    """So many topics with so many trials of each. powers: by system. turns: user turns for all systems. hours: at the
    audit's rates; NaN where nothing is known of how long a turn takes."""

    topics: int
    trials: int
    powers: Mapping[str, TailPower]
    turns: int
    hours: float

    def least(self, take: Callable[[TailPower], float]) -> float:
        """Of the systems of which most studies have an interval; NaN where there is none."""
        return min((take(one) for one in self.shown), default=math.nan)

    @property
    def shown(self) -> list[TailPower]:
        """Of systems of which most studies have an interval."""
        return [one for one in self.powers.values() if one.with_interval >= _MOST]


@dataclass(frozen=True, slots=True)
class TailPlan:
    """What was planned.

    measure: the tail. distance: of the bounds from it, in the measure's own units. values: the tail by system of the
    pilot, or of the stated components under "". own: by system, how often a trial is like its topic (`TailModel`).
    worst: which end of the measure is the bad one. share: of all scores, that at the end that is asked for, in (0, 1].
    least_topics: fewer have no interval. designs: the grid, by topics and trials; present: the audit's own, with the
    mean of its trials. turns_at_most: turns are the most that the protocol takes. notes: on judgments.
    """

    audit: str
    measure: str
    distance: float
    values: Mapping[str, float]
    own: Mapping[str, float]
    settings: Settings
    worst: Worst
    share: float
    least_topics: int
    designs: Sequence[TailDesign]
    present: TailDesign
    turns_at_most: bool
    notes: Sequence[str]
    seed: int
    pilots: Sequence[Mapping[str, Json]] = ()

    @property
    def smallest(self) -> TailDesign | None:
        """The design of the grid with the fewest turns that has the wanted power for both bounds; of several, the one
        with the most."""
        enough = [one for one in self.designs if one.least(_of_both) >= WANTED]
        return min(enough, key=lambda one: (one.turns, -one.least(_of_both), one.topics), default=None)


def _of_both(power: TailPower) -> float:
    return min(power.below, power.above)


def is_tail(term: Term) -> bool:
    """Whether a tail is asked for."""
    return term.name in (CVAR.name, QUANTILE.name)


def plan_tail(
    audit: Audit,
    measure: Term,
    *,
    detect: float,
    run: Run | None = None,
    stated: Mapping[str, float] | None = None,
    topics: Sequence[int] = (),
    trials: Sequence[int] = (),
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> TailPlan:
    """detect: how far a bound lies from the tail, in the measure's units. run: a pilot, whose systems count alike.
    stated: `mean`, and the standard deviations `between` and `within` topics, without a pilot. topics, trials: of the
    grid; () takes half, once, twice and four times the audit's. seed: of the simulation.

    Raises InputError for a tail without an interval, and where nothing is known of how the worst scores lie.
    """
    with place_errors(audit.document, ("scoring",)):
        settings = scoring_settings(audit.scoring, audit.topics, audit.gold, dict(changes or {}))
    (tail,) = understand(measure, settings, audit.topics, load_schema(SHIPPED))
    if tail.within:
        raise InputError(
            f"{measure}: no interval covers the worst case within topics, so none can be planned",
            allowed="the worst of all topics and trials together: without within=topics",
        )
    if run is not None and stated:
        raise InputError(
            f"{', '.join(f'--{name}' for name in stated)} says nothing to a tail of a pilot, whose scores are taken as "
            "they are",
            advice="leave it out, or leave out --from",
        )
    models, costs, notes = _models(audit, tail, run, stated or {}, settings)
    top = max(model.top for model in models.values())
    needed = units_needed(tail_kind(tail), tail.number, worst=worst_end(tail), top=top)
    if math.isinf(needed):
        raise InputError(
            f"{measure}: no number of topics shows the greatest score there can be",
            advice="take beta=0.9, which one conversation of ten exceeds",
        )
    simulation = _Simulation(tail, detect, settings, models, PlanCosts(audit, costs), seed)
    own = [audit.trials_with(topic) for topic in audit.topics.topics]
    count, each = len(own), max(1, round(sum(own) / len(own)))
    grid = [
        (t, n) for t in sorted(set(topics)) or multiples(count, 2) for n in sorted(set(trials)) or multiples(each, 1)
    ]
    refuse_large([(n,) * t for t, n in (*grid, (count, each))])
    designs = {one: simulation.design(*one) for one in dict.fromkeys([*grid, (count, each)])}
    return TailPlan(
        audit=audit.name,
        measure=str(tail.term),
        distance=detect,
        values={name: model.value(tail_kind(tail), tail.number, worst_end(tail)) for name, model in models.items()},
        own={name: model.own for name, model in models.items()},
        settings=settings,
        worst=worst_end(tail),
        share=tail_share(tail_kind(tail), tail.number),
        least_topics=int(needed),
        designs=[designs[one] for one in grid],
        present=designs[count, each],
        turns_at_most=run is None,
        notes=notes,
        seed=seed,
        pilots=tuple(sources([run])) if run is not None else (),
    )


def _models(
    audit: Audit, tail: Measure, run: Run | None, stated: Mapping[str, float], settings: Settings
) -> tuple[dict[str, TailModel], tuple[float, float] | None, tuple[str, ...]]:
    """By system, what its topics and trials score; costs of a conversation; and notes."""
    (base,) = understand(tail.base, settings, audit.topics, load_schema(SHIPPED))
    key = (str(base.base), None)
    top = base.declaration.range[1] if base.declaration.has_top else math.inf
    if run is None:
        components, _ = assumed_components(base.declaration, key, None, stated)
        try:
            if not base.declaration.has_top:
                raise ValueError(NO_TOP)
            return {"": replace(stated_tail_model(components), top=top)}, None, ()
        except ValueError as fault:
            raise InputError(f"{key[0]}: {fault}", advice="give a pilot run with --from") from None
    material = pilot_material(run)
    cells, notes = pilot_cells(material, base, key, settings)
    if not cells:
        raise InputError(f"{run.path}: no trial has a value of {key[0]}", advice="choose another pilot")
    try:
        models = {name: tail_model(table, top) for name, table in cells.items()}
    except ValueError as fault:
        raise InputError(f"{run.path}: {fault}", advice="play a pilot with at least 2 topics and 2 trials") from None
    return models, observed_costs(material.finished), notes


@dataclass(frozen=True, slots=True)
class _Simulation:
    tail: Measure
    distance: float
    settings: Settings
    models: Mapping[str, TailModel]
    costs: PlanCosts
    seed: int

    def design(self, topics: int, trials: int) -> TailDesign:
        powers = {
            name: simulate_tail(
                model,
                tail_kind(self.tail),
                self.tail.number,
                self.distance,
                topics,
                trials,
                generator(self.seed, "tail power", name, topics, trials),
                level=self.settings.level,
                worst=worst_end(self.tail),
                called=tail_words(self.tail),
            )
            for name, model in self.models.items()
        }
        mix = (trials,) * topics
        return TailDesign(topics, trials, powers, self.costs.turns(mix), self.costs.hours(mix))
