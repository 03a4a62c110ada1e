"""Plan the topics and trials for a tail of a score, such as CVaR(R).

`harvest score` gives a tail an interval and, if the audit sets a threshold, checks the interval against a bound.
Systems are not compared by their tails. For each design of a grid, studies are simulated to find the width of this
interval, and how often the interval shows on which side of a bound the tail lies.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from rich.text import Text

from harvest.audits.audit import Audit
from harvest.studies.plan import grid as grids
from harvest.studies.plan.grid import Basis, Design, Grid, Mix, Plan
from harvest.studies.plan.pilot import assumed_components, pilot_cells
from harvest.studies.plan.words import Words, cheapest_design, error_words, in_percent, share_cell, simulated
from harvest.terminal import printable
from recordings.log.run_folder import Run
from scoring.forms.worst import CVAR, QUANTILE, tail_kind, tail_names, worst_end
from scoring.inference.interval import FEWEST
from scoring.inference.tail_power import NO_TOP, TailModel, TailPower, simulate_tail, stated_tail_model, tail_model
from scoring.inference.tails import tail_share, units_needed
from scoring.library import read_term
from scoring.measure import Measure
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.swan.schema import load_schema
from topics.errors import InputError
from topics.identity import generator

TailPowers = Mapping[str, TailPower]  # by system

_LEAST_WITH_INTERVAL = 0.5  # share of a design's studies with an interval, below which a system is not reported
_BELOW: Callable[[TailPower], float] = attrgetter("below")
_ABOVE: Callable[[TailPower], float] = attrgetter("above")


@dataclass(frozen=True, slots=True, eq=False)
class TailsModel:
    """A power model of a tail. `distance` is the distance of the bounds from the tail, in the measure's own units.
    `systems` has a score model for each system of the pilot; without a pilot, there is one model under the key
    "". With fewer topics than `least_topics`, the tail has no interval."""

    basis: Basis
    tail: Measure
    distance: float
    systems: Mapping[str, TailModel]
    least_topics: int
    notes: Sequence[str]
    details: Collection[str] = ("intervals that contain the tail", "studies with an interval", "simulated studies")

    def landmarks(self, own: Mix) -> list[Mix]:
        return [grids.even_mix(own)]

    def simulate(self, mix: Mix) -> TailPowers:
        """Simulate studies in which every topic has the same number of trials."""
        topics, trials = len(mix), mix[0]
        return {
            name: simulate_tail(
                model,
                tail_kind(self.tail),
                self.tail.number,
                self.distance,
                topics,
                trials,
                generator(self.basis.seed, "tail power", name, topics, trials),
                level=self.basis.settings.level,
                worst=worst_end(self.tail),
                called=tail_names(self.tail),
            )
            for name, model in self.systems.items()
        }

    def smallest(self, grid: Grid[TailPowers]) -> Design[TailPowers] | None:
        """Return the cheapest design with the wanted power for both bounds, or None."""
        return grid.smallest_design(lambda powers: smallest_power(powers, lambda one: min(one.below, one.above)))

    @property
    def values(self) -> dict[str, float]:
        """The true tail of each system."""
        kind, number, worst = tail_kind(self.tail), self.tail.number, worst_end(self.tail)
        return {name: model.value(kind, number, worst) for name, model in self.systems.items()}

    @property
    def _name(self) -> str:
        return printable(str(self.tail.term), line=True)

    @property
    def _bound_words(self) -> tuple[str, str]:
        """The correct verdict, `kept` or `missed`, on a bound above the tail, and on a bound below the tail."""
        return ("missed", "kept") if worst_end(self.tail) == "low" else ("kept", "missed")

    @property
    def subject(self) -> Mapping[str, Any]:
        return {"measure": str(self.tail.term), "detect": self.distance}

    def figures(self, design: Design[TailPowers]) -> Iterator[Mapping[str, Any]]:
        above, below = self._bound_words
        for system, power in design.power.items():
            for figure, unit, value in (
                (f"bound above shown {above}", "share", power.below),
                (f"bound below shown {below}", "share", power.above),
                ("error of the power", "share", power.error),
                ("width of the interval", "value", power.width),
                ("intervals that contain the tail", "share", power.covered),
                ("studies with an interval", "share", power.with_interval),
                ("simulated studies", "count", float(power.studies)),
            ):
                yield {
                    "figure": figure,
                    "unit": unit,
                    "estimate": value,
                    "system": system,
                    "estimand": "like-these",
                    "note": power.note,
                }

    def head(self, grid: Grid[TailPowers]) -> dict[str, Any]:
        smallest = self.smallest(grid)
        return {
            "measure": str(self.tail.term),
            "distance": simulated(self.distance),
            "estimand": "like-these",
            "values": {name: simulated(value) for name, value in self.values.items()},
            "own": {name: simulated(model.own) for name, model in self.systems.items()},
            "least_topics": self.least_topics,
            "smallest": {"topics": smallest.topics, "trials": smallest.trials} if smallest else None,
        }

    def answer(self, grid: Grid[TailPowers]) -> str:
        """Return a sentence on what the audit's own design would show."""
        now = grid.current_design
        lower, higher = smallest_power(now.power, _BELOW), smallest_power(now.power, _ABOVE)
        if math.isnan(lower):
            return f"{now} give no interval of {self._name}: {next(iter(now.power.values())).note}."
        above, below = ("miss", "keep") if worst_end(self.tail) == "low" else ("keep", "miss")
        return (
            f"{now} would show {self._name} to {above} a bound {self.distance:g} above it in {in_percent(lower)} of "
            f"studies, and to {below} one {self.distance:g} below it in {in_percent(higher)}."
        )

    def words(self, grid: Grid[TailPowers]) -> Words[TailPowers]:
        above, below = self._bound_words
        advice = "No design below shows both in 4 studies of 5: topics help more than trials, or use a larger --detect."
        smallest = self.smallest(grid)
        if smallest is not None:
            shares = (in_percent(smallest_power(smallest.power, take)) for take in (_BELOW, _ABOVE))
            advice = cheapest_design(grid, smallest, "shows both", " and ".join(shares))
        return Words(
            advice=[advice],
            grounds=list(self._grounds(grid)),
            tables=[
                (f"bound {self.distance:g} above it: shown {above}", lambda one: _power_cell(one, _BELOW)),
                (f"bound {self.distance:g} below it: shown {below}", lambda one: _power_cell(one, _ABOVE)),
            ],
            legend=list(self._legend(grid)),
        )

    def _grounds(self, grid: Grid[TailPowers]) -> Iterator[str]:
        if not self.basis.pilots:
            yield f"as stated: {self._name} is {self.values['']:.4f}, if scores are beta distributed"
            return
        each = ", ".join(f"{printable(system, line=True)} {value:.4f}" for system, value in self.values.items())
        yield f"from the pilot: {self._name} of {each}"
        if len(self.systems) > 1:
            yield "each system is simulated, with bounds around its own; shown is the one of which least can be shown"
        for system, power in grid.current_design.power.items():
            if power.with_interval < _LEAST_WITH_INTERVAL and grid.current_design.topics >= self.least_topics:
                yield (
                    f"{printable(system, line=True)}: most studies have no interval of it ({power.note}); it is left "
                    "out where that is so"
                )

    def _legend(self, grid: Grid[TailPowers]) -> Iterator[str]:
        powers = [own for one in grid.designs for own in one.power.values()]
        yield (
            f"shown: share of simulated studies whose {100 * self.basis.settings.level:g}% interval of `harvest score` "
            "lies wholly on that side of the bound, as a threshold of the audit asks, ± half its width"
            f"{error_words([own.error for own in powers])}; bold from {in_percent(grids.WANTED)}"
        )
        yield "it speaks of topics like these, of one system: systems are not compared in tails"
        if any(one.topics < self.least_topics for one in grid.designs):
            few = self.least_topics < math.ceil(FEWEST / tail_share(tail_kind(self.tail), self.tail.number)) + 1
            why = (
                f"the worst share must contain {FEWEST} topics"
                if few
                else "a mean of the worst depends on a few topics"
            )
            yield f"no interval: {why}, so {self.least_topics} topics are the fewest; more trials do not replace them"
        some = [own.with_interval for own in powers if _LEAST_WITH_INTERVAL <= own.with_interval < 1]
        if some:
            least = in_percent(min(some))
            yield f"as few as {least} of the studies of a design have an interval; the others show nothing"


def _power_cell(design: Design[TailPowers], take: Callable[[TailPower], float]) -> Text:
    width = max((one.width for one in _with_intervals(design.power)), default=math.nan)
    return share_cell(smallest_power(design.power, take), f" ±{width / 2:.4f}", "no interval")


def _with_intervals(powers: TailPowers) -> list[TailPower]:
    return [one for one in powers.values() if one.with_interval >= _LEAST_WITH_INTERVAL]


def smallest_power(powers: TailPowers, take: Callable[[TailPower], float]) -> float:
    """Return the smallest value over systems that have an interval in most studies, or NaN if there are none."""
    return min((take(one) for one in _with_intervals(powers)), default=math.nan)


def is_tail(term: Term) -> bool:
    """Return true for CVaR and quantiles."""
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
) -> Plan[TailsModel]:
    """Plan a study of a tail.

    `detect` is the distance of a bound from the tail, in the measure's units. `run` is a pilot, whose systems are
    weighted equally. Without a pilot, `stated` has `mean` and the standard deviations `between` and `within`
    topics. `topics` and `trials` are the numbers in the grid; () means half, once, twice and four times the audit's
    numbers. Raises InputError for a tail that can have no interval, and if the distribution of the worst scores is
    unknown.
    """
    settings = grids.planned_settings(audit, changes)
    (tail,) = read_term(measure, settings, audit.topics, load_schema(SHIPPED))
    if tail.within:
        raise InputError(
            f"{measure}: no interval covers the worst case within topics, so it cannot be planned",
            allowed="the worst of all topics and trials together: without within=topics",
        )
    if run is not None and stated:
        raise InputError(
            f"{', '.join(f'--{name}' for name in stated)} cannot change the scores of a pilot, which define its tail",
            advice="leave it out, or leave out --from",
        )
    (base,) = read_term(tail.base, settings, audit.topics, load_schema(SHIPPED))
    basis, notes = Basis(settings, seed), tuple[str, ...]()
    top = base.declaration.range[1] if base.declaration.has_top else math.inf
    if run is None:
        systems = {"": _stated_system(base, stated or {})}
    else:
        basis, material = grids.pilot_basis(settings, seed, run)
        cells, notes = pilot_cells(material, base, (str(base.base), None), settings)
        if not cells:
            raise InputError(f"{run.path}: no trial has a value of {base.base}", advice="choose another pilot")
        try:
            systems = {name: tail_model(table, top) for name, table in cells.items()}
        except ValueError as fault:
            advice = "play a pilot with at least 2 topics and 2 trials"
            raise InputError(f"{run.path}: {fault}", advice=advice) from None
    needed = units_needed(tail_kind(tail), tail.number, worst=worst_end(tail), top=top)
    if math.isinf(needed):
        raise InputError(
            f"{measure}: no number of topics suffices to show the largest possible score",
            advice="use beta=0.9, which one conversation of ten exceeds",
        )
    return grids.plan_grid(audit, TailsModel(basis, tail, detect, systems, int(needed), notes), topics, trials)


def _stated_system(base: Measure, stated: Mapping[str, float]) -> TailModel:
    components, _ = assumed_components(base.declaration, (str(base.base), None), None, stated)
    try:
        if not base.declaration.has_top:
            raise ValueError(NO_TOP)
        return replace(stated_tail_model(components), top=base.declaration.range[1])
    except ValueError as fault:
        raise InputError(f"{base.base}: {fault}", advice="give a pilot run with --from") from None
