"""How many topics and trials a comparison needs: what `harvest plan` computes.

Components of variance come from a pilot run, from what the user states, or from assumptions that are named. Each design
of a grid is then simulated with the test of `harvest compare`, for both estimands.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from harvest.audits.audit import Audit, place_errors
from harvest.studies.plan.costs import PlanCosts
from harvest.studies.plan.pilot import Pilot, assumed_components, coming_shares, read_pilot, refuse_difference
from harvest.studies.plan.planned_measure import planned_measure
from harvest.studies.runs.sources import sources
from harvest.studies.scores.trial_values import Key
from recordings.files.json_text import Json
from recordings.log.run_folder import Run
from scoring.inference.differences import FEWEST_OPEN
from scoring.inference.needed import first_enough, taken_up
from scoring.inference.paired import ESTIMANDS, Estimand, Guard
from scoring.inference.power import Power, simulate_power
from scoring.inference.ratio_power import simulate_ratio_power
from scoring.notation import Term
from scoring.settings import Settings, scoring_settings
from scoring.statistics.beta import normal_quantile
from scoring.statistics.exchange import fewest_units
from scoring.statistics.outcomes import Components
from scoring.table import is_percentage
from topics.errors import InputError
from topics.identity import generator

Floats = npt.NDArray[np.float64]

# The power that a design is asked for: a true difference is found in four studies of five.
WANTED = 0.8

_STUDIES, _FEWEST_STUDIES = 1000, 250
_MOST_TRIALS = 4_000_000  # drawn for one design
_LARGEST = 10_000_000  # topics × trials × studies
_TIMES = (0.5, 1, 2, 4)  # of the audit's own topics and trials: the grid
_TAIL = 4.0  # deviations: where the unseen topic lies if differences are normal
_NOTABLE = 0.005  # half a point of a share


@dataclass(frozen=True, slots=True)
class Design:
    """So many topics with so many trials of each. power: by estimand. turns: user turns for all systems. hours: at the
    audit's rates; NaN where nothing is known of how long a turn takes. mix: trials of each topic, where they differ;
    trials is then their mean, rounded."""

    topics: int
    trials: int
    power: Mapping[Estimand, Power]
    turns: int
    hours: float
    mix: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """What was planned.

    key: the measure. difference: to be detected, in the measure's own units. pairs: of systems, among which alpha is
    shared out. designs: the grid, by topics and trials; present: the audit's own, more_topics and more_trials: with
    twice as many of either. cautious: power of the present design for topics like these, were systems × topics to vary
    by the upper 80% limit of the pilot; None without one. turns_at_most: turns are the most that the protocol takes, no
    pilot having shown how many there are. sources: of each component in words. beyond: topics, with the audit's trials,
    and trials, of the audit's topics, with which the formulas give the wanted power. pilots: the run that components
    come from (`harvest.studies.runs.sources`), () without one.
    """

    audit: str
    key: Key
    difference: float
    components: Components
    sources: Mapping[str, str]
    settings: Settings
    systems: int
    pairs: int
    designs: Sequence[Design]
    present: Design
    more_topics: Design
    more_trials: Design
    cautious: Power | None
    turns_at_most: bool
    beyond: Mapping[str, float]
    notes: Sequence[str]
    seed: int
    pilots: Sequence[Mapping[str, Json]] = ()
    coming: float = math.nan
    guard: Guard = "unseen"

    def smallest(self, estimand: Estimand) -> Design | None:
        """The design of the grid with the fewest turns that has the wanted power, and of several with as few the one
        with the most power; for these topics, of those with the audit's own topics, where the grid has any."""
        own = [one for one in self.designs if one.topics == self.present.topics]
        known = own if estimand == "these" and own else self.designs
        enough = [one for one in known if one.power[estimand].found >= WANTED]
        return min(enough, key=lambda one: (one.turns, -one.power[estimand].found, one.topics), default=None)


def plan_study(
    audit: Audit,
    *,
    detect: float,
    measure: Term | None = None,
    run: Run | None = None,
    stated: Mapping[str, float] | None = None,
    topics: Sequence[int] = (),
    trials: Sequence[int] = (),
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
    guard: Guard = "unseen",
) -> Study:
    """detect: in points for percentages, else in the measure's own units. measure: of single conversations, or a share
    of turns; None takes %useful of the first turn. run: a pilot. stated: `mean`, and the standard deviations `between`
    topics, of system × topic (`interaction`) and `within` topics, in points for percentages; they replace what a pilot
    says; of %recovery without a pilot also `failing`, the percentage of trials that need it. topics, trials: of the
    grid; () takes half, once, twice and four times the audit's. seed: of the simulation. guard: of the intervals for
    topics like these.

    Raises InputError for a measure that topics have no value of, and for components that cannot be.
    """
    with place_errors(audit.document, ("scoring",)):
        settings = scoring_settings(audit.scoring, audit.topics, audit.gold, dict(changes or {}))
    asked, key = planned_measure(measure, settings, audit)
    scale = 100.0 if is_percentage(key[0]) else 1.0
    difference, given = detect / scale, {name: value / scale for name, value in (stated or {}).items()}
    pilot = read_pilot(run, asked, key, settings) if run is not None else None
    components, origins = assumed_components(asked.declaration, key, pilot, given)
    refuse_difference(components, difference, key)
    coming = coming_shares(asked.declaration, pilot, given)
    declared = asked.declaration
    reach = declared.range[1] - declared.range[0] if declared.has_top else math.inf
    simulation = _Simulation(audit, components, difference, settings, pilot, seed, coming, reach, guard)
    own = tuple(audit.trials_with(topic) for topic in audit.topics.topics)
    every_topics = sorted(set(topics)) or multiples(len(own), 2)
    every_trials = sorted(set(trials)) or multiples(_mean(own), 1)
    grid = [(n,) * t for t in every_topics for n in every_trials]
    others = [own, own + own, tuple(2 * n for n in own)]
    refuse_large([*grid, *others])
    designs = {mix: simulation.design(mix) for mix in dict.fromkeys([*grid, *others])}
    return Study(
        audit=audit.name,
        key=key,
        difference=difference,
        components=components,
        sources=origins,
        settings=settings,
        systems=len(audit.systems),
        pairs=simulation.pairs,
        designs=[designs[mix] for mix in grid],
        present=designs[others[0]],
        more_topics=designs[others[1]],
        more_trials=designs[others[2]],
        cautious=simulation.cautious(),
        turns_at_most=pilot is None,
        beyond=simulation.beyond(),
        notes=(*pilot.notes, *_moved_notes(pilot, components, stated or {})) if pilot else (),
        seed=seed,
        pilots=tuple(sources([run])) if run is not None else (),
        coming=float(coming.mean()) if coming is not None else math.nan,
        guard=guard,
    )


def _moved_notes(pilot: Pilot, components: Components, stated: Mapping[str, float]) -> Iterator[str]:
    if components.shape == "yes or no" and "mean" not in stated and abs(pilot.mean - components.mean) > _NOTABLE:
        level = f"at {100 * components.mean:.1f}%, which is simulated"
        if pilot.systems == 1:
            own = f"{100 * pilot.mean:.1f}%"
            yield f"the pilot's system averages {own}; its trials vary as much as those of one {level}"
        else:
            yield (
                f"the pilot's systems average {100 * pilot.mean:.1f}%, but at different levels; trials vary as much as "
                f"theirs {level}"
            )


def multiples(own: int, least: int) -> list[int]:
    """Numbers to try: half, once, twice and four times the audit's own, each at least `least`."""
    return sorted({max(least, round(own * times)) for times in _TIMES})


def _mean(mix: Sequence[int]) -> int:
    return max(1, round(sum(mix) / len(mix)))


def refuse_large(designs: Sequence[tuple[int, ...]]) -> None:
    """Raises InputError where a design takes too long. designs: trials of each topic."""
    for mix in designs:
        if sum(mix) * _FEWEST_STUDIES > _LARGEST:
            raise InputError(
                f"a design of {len(mix)} topics × {_mean(mix)} trials is too large to simulate",
                allowed=f"up to {_LARGEST // _FEWEST_STUDIES:,} trials in all",
                advice="give smaller numbers with --topics and --trials",
            )


@dataclass(frozen=True, slots=True)
class _Simulation:
    audit: Audit
    components: Components
    difference: float
    settings: Settings
    pilot: Pilot | None
    seed: int
    coming: Floats | None = None
    reach: float = 1.0
    guard: Guard = "unseen"

    @property
    def pairs(self) -> int:
        return max(1, math.comb(len(self.audit.systems), 2))

    @property
    def _alpha(self) -> float:
        return (1 - self.settings.level) / self.pairs

    def design(self, mix: tuple[int, ...]) -> Design:
        """mix: trials of each topic."""
        power = {estimand: self._power(self.components, mix, estimand) for estimand in ESTIMANDS}
        costs = PlanCosts(self.audit, (self.pilot.turns, self.pilot.seconds) if self.pilot else None)
        uneven = mix if len(set(mix)) > 1 else ()
        return Design(len(mix), _mean(mix), power, costs.turns(mix), costs.hours(mix), uneven)

    def cautious(self) -> Power | None:
        upper = self.pilot.upper_interaction if self.pilot else math.nan
        if math.isnan(upper) or upper <= self.components.both:
            return None
        one = self.components
        room = math.inf if one.shape == "unbounded" else 0.99 * one.room - one.topic
        changed = Components(one.shape, one.mean, one.topic, min(upper, room), one.trial, one.low, one.high)
        return self._power(changed, self._own, "like-these")

    @property
    def _own(self) -> tuple[int, ...]:
        return tuple(self.audit.trials_with(topic) for topic in self.audit.topics.topics)

    def beyond(self) -> Mapping[str, float]:
        """By formulas: topics with the audit's trials, and trials of the audit's topics, for either estimand."""
        topics, both, within = len(self._own), *self._spreads
        each = within * sum(1 / trials for trials in self._own) / topics
        size = self.difference**2
        z = normal_quantile(1 - self._alpha / 2) + normal_quantile(WANTED)
        trials_of_these = math.ceil(z**2 * 2 * within / (topics * size))
        return {
            "topics": max(self._fewest, first_enough(lambda number: self._enough(number, 2 * both + 2 * each))),
            "trials": math.inf
            if topics < self._fewest
            else first_enough(lambda number: self._enough(topics, 2 * both + 2 * within / number)),
            "trials_of_these": max(2, trials_of_these),
        }

    @property
    def _fewest(self) -> float:
        return max(fewest_units(self._alpha), FEWEST_OPEN if self.guard == "unseen" and math.isinf(self.reach) else 2)

    def _enough(self, topics: float, variance: float) -> bool:
        """Whether so many topics whose differences have this variance show the difference in four studies of five."""
        deviation = math.sqrt(variance)
        far = 0.0
        if self.guard == "unseen":  # beyond a measure without an end near its values: of normal differences
            far = self.difference + (self.reach if math.isfinite(self.reach) else _TAIL * deviation)
        return self.difference >= taken_up(topics, deviation, far, self._alpha)

    @property
    def _spreads(self) -> tuple[float, float]:
        """Variances of system × topic and of trials, as they enter a difference. Of a ratio a trial tells as much as
        comes into it, and topics count by how much of them does."""
        one = self.components
        if self.coming is None:
            return one.both, one.within
        share = float(self.coming.mean())
        return one.both * (1 + float(self.coming.var()) / share**2), one.within / share

    def _power(self, components: Components, mix: tuple[int, ...], estimand: Estimand) -> Power:
        trials = mix[0] if len(set(mix)) == 1 else mix
        each = (trials,) if isinstance(trials, int) else mix
        simulate = simulate_power if self.coming is None else partial(_simulate_ratio, self.coming)
        return simulate(
            components,
            self.difference,
            len(mix),
            trials,
            generator(self.seed, "power", estimand, len(mix), *each),
            estimand=estimand,
            level=self.settings.level,
            alpha=self._alpha,
            studies=max(_FEWEST_STUDIES, min(_STUDIES, _MOST_TRIALS // (2 * len(mix) * max(mix)))),
            reach=self.reach,
            guard=self.guard,
        )


def _simulate_ratio(
    coming: Floats, components: Components, *design: Any, reach: float, guard: Guard, **how: Any
) -> Power:
    """Ratios have ends of their own, and one kind of interval."""
    return simulate_ratio_power(components, coming, *design, **how)
