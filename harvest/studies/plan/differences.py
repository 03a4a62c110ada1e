"""Plan the topics and trials of a comparison: the power to find a difference of means.

The components of variance come from a pilot run, from options, or from named assumptions. For each design of a
grid, studies with the test of `harvest compare` are simulated under both estimands.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harvest.audits.audit import Audit
from harvest.studies.plan import grid as grids
from harvest.studies.plan import pilot as pilots
from harvest.studies.plan import words as plan_words
from harvest.studies.plan.grid import Basis, Design, Grid, Mix, Plan
from harvest.studies.plan.words import Words
from harvest.studies.scores.trial_values import Key, key_name
from harvest.tables.long_rows import unit_of
from harvest.terminal import printable
from recordings.log.run_folder import Run
from scoring.inference.differences import FEWEST_OPEN
from scoring.inference.needed import detectable_difference, smallest_sufficient
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.inference.power import Power, simulate_power
from scoring.inference.ratio_power import simulate_ratio_power
from scoring.notation import Term
from scoring.settings import Guard
from scoring.statistics.beta import normal_quantile
from scoring.statistics.exchange import fewest_units
from scoring.statistics.outcomes import Components
from scoring.table import is_percentage
from topics.arrays import Floats
from topics.counting import pluralize
from topics.decimals import decimal, percent
from topics.identity import generator

Powers = Mapping[Estimand, Power]

_STUDIES, _FEWEST_STUDIES = 1000, 250
_MOST_TRIALS = 4_000_000  # drawn for one design
_TAIL = 4.0  # standard deviations to the unseen topic if differences are normal
_LEAST_REPORTED = 0.005  # half a point of a share
_MOST_NEEDED = 100_000  # more than anybody plays
_ASSUMED = {
    "mean": f"{100 * pilots.MEAN:g}% pass, as in tau-bench",
    "between": f"topics have {100 * pilots.ICC:g}% of the variance (ICC, as in tau-bench)",
    "interaction": f"{100 * pilots.INTERACTION:g}% of what lies between topics is of single systems (no source)",
    "within": "trials have the rest of what the mean leaves room for",
}


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceModel:
    """A power model of a difference of means.

    `difference` is the difference to be detected, in the measure's own units. `pairs` is the number of pairs of
    systems that share alpha. `sources` has the origin of each component: `pilot`, `stated`, `assumed` or `follows`.
    `upper_interaction` is the upper 80% limit of the pilot's variance of systems × topics, or NaN. `coming` is the
    share of trials that need recovery, of shape (topics, systems); for measures except %recovery, it is None.
    """

    basis: Basis
    key: Key
    difference: float
    components: Components
    sources: Mapping[str, str]
    pairs: int
    upper_interaction: float
    notes: Sequence[str]
    coming: Floats | None
    reach: float
    guard: Guard
    details: Collection[str] = ()

    def landmarks(self, own: Mix) -> list[Mix]:
        return grids.doubled_mixes(own)

    def simulate(self, mix: Mix) -> Powers:
        return {estimand: self._power(self.components, mix, estimand) for estimand in ESTIMANDS}

    def _power(self, components: Components, mix: Mix, estimand: Estimand) -> Power:
        trials = mix[0] if len(set(mix)) == 1 else mix
        each = (trials,) if isinstance(trials, int) else mix
        simulate = partial(simulate_power, reach=self.reach, guard=self.guard)
        if self.coming is not None:  # ratios are bounded differently and have one kind of interval
            simulate = partial(simulate_ratio_power, coming=self.coming)
        return simulate(
            components,
            difference=self.difference,
            topics=len(mix),
            trials=trials,
            rng=generator(self.basis.seed, "power", estimand, len(mix), *each),
            estimand=estimand,
            level=self.basis.settings.level,
            alpha=self._alpha,
            studies=self.basis.studies
            or max(_FEWEST_STUDIES, min(_STUDIES, _MOST_TRIALS // (2 * len(mix) * max(mix)))),
        )

    @property
    def _alpha(self) -> float:
        return (1 - self.basis.settings.level) / self.pairs

    def cautious_power(self, mix: Mix) -> Power | None:
        """Return the power for topics like these if systems × topics varied by the pilot's upper 80% limit. Returns
        None if this limit is unknown or not larger than the estimate."""
        one, upper = self.components, self.upper_interaction
        if math.isnan(upper) or upper <= one.both:
            return None
        room = math.inf if one.shape == "unbounded" else 0.99 * one.room - one.topic
        changed = Components(one.shape, one.mean, one.topic, min(upper, room), one.trial, one.low, one.high)
        return self._power(changed, mix, "like-these")

    def extrapolate(self, own: Mix) -> Mapping[str, float]:
        """Extrapolate the numbers of topics and of trials that would have the wanted power. `topics` assumes the
        audit's number of trials, and `trials` assumes the audit's number of topics; both numbers are for topics
        like these. `trials_of_these` is the number of trials of each topic of the audit, for these topics only.
        Numbers that cannot be reached are infinite."""
        topics, both, within = len(own), self.components.both, self.components.within
        if self.coming is not None:
            # In a ratio, trials and topics count by how many of their turns enter it.
            share = float(self.coming.mean())
            both, within = both * (1 + float(self.coming.var()) / share**2), within / share
        each = within * sum(1 / trials for trials in own) / topics
        open_ended = self.guard == "unseen" and math.isinf(self.reach)
        fewest = max(fewest_units(self._alpha), FEWEST_OPEN if open_ended else 2)

        def is_enough(topics: float, variance: float) -> bool:
            deviation, far = math.sqrt(variance), 0.0
            if self.guard == "unseen":  # a measure without an end near its values is assumed normal
                far = self.difference + (self.reach if math.isfinite(self.reach) else _TAIL * deviation)
            return self.difference >= detectable_difference(topics, deviation, far, self._alpha)

        z = normal_quantile(1 - self._alpha / 2) + normal_quantile(grids.WANTED)
        return {
            "topics": max(fewest, smallest_sufficient(lambda number: is_enough(number, 2 * both + 2 * each))),
            "trials": smallest_sufficient(lambda number: is_enough(topics, 2 * both + 2 * within / number))
            if topics >= fewest
            else math.inf,
            "trials_of_these": max(2, math.ceil(z**2 * 2 * within / (topics * self.difference**2))),
        }

    def smallest(self, grid: Grid[Powers], estimand: Estimand) -> Design[Powers] | None:
        """Return the cheapest design with the wanted power, or None. For these topics only, designs must have the
        audit's number of topics if the grid has such designs."""
        own = estimand == "these" and any(one.topics == grid.current_design.topics for one in grid.designs)
        return grid.smallest_design(lambda power: power[estimand].found, grid.current_design.topics if own else None)

    @property
    def subject(self) -> Mapping[str, Any]:
        return {"measure": self.key[0], "turn": self.key[1], "detect": self.difference}

    def figures(self, design: Design[Powers]) -> Iterator[Mapping[str, Any]]:
        for estimand, power in design.power.items():
            for figure, unit, value in (
                ("power", "share", power.found),
                ("error of the power", "share", power.found_error),
                ("width of the interval", unit_of(self._percent), power.width),
                ("error of the width", unit_of(self._percent), power.width_error),
            ):
                yield {"figure": figure, "unit": unit, "estimand": estimand, "estimate": value}

    def head(self, grid: Grid[Powers]) -> dict[str, Any]:
        one, cautious = self.components, self.cautious_power(grid.current_design.mix)
        return {
            "measure": self.key[0],
            "turn": self.key[1],
            "difference": plan_words.simulated(self.difference),
            "pairs": self.pairs,
            "guard": self.guard,
            "components": {
                "mean": plan_words.simulated(one.mean),
                "topic": plan_words.simulated(one.topic),
                "system_topic": plan_words.simulated(one.both),
                "trial": plan_words.simulated(one.within),
                "sources": dict(self.sources),
                **({"failing": plan_words.simulated(float(self.coming.mean()))} if self.coming is not None else {}),
            },
            "beyond": {
                name: plan_words.simulated(value) for name, value in self.extrapolate(grid.current_design.mix).items()
            },
            "cautious": plan_words.simulated(cautious.found) if cautious else None,
        }

    def answer(self, grid: Grid[Powers]) -> str:
        now, topics, trials = (one.power["like-these"] for one in grid.landmarks)
        was = plan_words.in_percent(now.found)
        if now.found >= grids.WANTED:
            return (
                f"Topics or trials? Neither: {grid.current_design} finds {self.size} in {was} of studies, for topics "
                "like these."
            )
        return (
            f"Topics or trials? {plan_words.more_helpful(topics, trials).capitalize()}, if the finding is to hold for "
            f"topics like these: twice the topics would find {self.size} in {plan_words.in_percent(topics.found)} of "
            f"studies instead of {was}, twice the trials in {plan_words.in_percent(trials.found)}."
        )

    def _answer_for_these(self, grid: Grid[Powers]) -> str:
        """Answer the other question, about the audit's own topics, for which only more trials help."""
        now, _, trials = (one.power["these"] for one in grid.landmarks)
        if now.found >= grids.WANTED:
            return f"Neither, if it is to hold for these topics alone: found in {plan_words.in_percent(now.found)}."
        was = f" instead of {plan_words.in_percent(now.found)}" if now.found == now.found else ""
        return (
            "Trials, if it is to hold for these topics alone: twice as many would find it in "
            f"{plan_words.in_percent(trials.found)} of studies{was}."
        )

    def words(self, grid: Grid[Powers]) -> Words[Powers]:
        return Words(
            advice=list(self._advice(grid)),
            grounds=list(self._grounds()),
            tables=[
                (f"{words}: found, ± half the interval", partial(self._cell, estimand))
                for estimand, words in ESTIMANDS.items()
            ],
            legend=list(self._legend(grid)),
        )

    def _cell(self, estimand: Estimand, design: Design[Powers]) -> Any:
        one = design.power[estimand]
        return plan_words.share_cell(one.found, "" if math.isnan(one.width) else f" ±{self._bare(one.width / 2)}")

    def _advice(self, grid: Grid[Powers]) -> Iterator[str]:
        present = grid.current_design
        yield self._answer_for_these(grid)
        for estimand in ESTIMANDS:
            yield self._recommendation(grid, estimand)
        if self._percent and self.difference < 0.01:
            size = 100 * self.difference
            meant = plan_words.points(100 * size)
            yield f"--detect {size:g} is {plan_words.points(size)}; for {meant} give --detect {100 * size:g}."
        if present.is_uneven:  # which the grid of equal trials does not show
            said = "; ".join(f"{words}: {self._cell(estimand, present)}" for estimand, words in ESTIMANDS.items())
            yield (
                f"The audit as it stands, {present}: found, ± half the interval, {said}. Its trials were dealt to "
                "simulated topics at random; where topics that vary more have more of them, these topics do better."
            )
        if (cautious := self.cautious_power(present.mix)) is not None:
            yield (
                "The pilot's spreads are estimates: were systems × topics to vary by their upper 80% limit, "
                f"{present} would find it in {plan_words.in_percent(cautious.found)} of studies of topics like these."
            )

    def _recommendation(self, grid: Grid[Powers], estimand: Estimand) -> str:
        smallest, present = self.smallest(grid, estimand), grid.current_design
        start = ESTIMANDS[estimand][0].upper() + ESTIMANDS[estimand][1:]
        if smallest is not None:
            return f"{start}: " + plan_words.cheapest_design(
                grid, smallest, "finds it", plan_words.in_percent(smallest.power[estimand].found)
            )
        beyond, own = self.extrapolate(present.mix), pluralize(present.topics, "topic")
        if estimand == "these":
            return (
                f"{start}: no design below with {own} finds it in 4 studies of 5; about "
                f"{beyond['trials_of_these']:,.0f} trials of each would."
            )
        topics, trials, many = beyond["topics"], beyond["trials"], f"only more than {_MOST_NEEDED:,}"
        if trials < _MOST_NEEDED:
            by_trials = f"about {trials:,.0f} trials of {own} would, too"
        else:
            by_trials = f"{'no number of' if math.isinf(trials) else many} trials of {own} would"
        each = "such numbers of trials" if present.is_uneven else f"{pluralize(present.trials, 'trial')} of each"
        return (
            f"{start}: no design below finds it in 4 studies of 5; "
            f"{f'about {topics:,.0f}' if topics < _MOST_NEEDED else many} topics with {each} would; {by_trials}."
        )

    def _grounds(self) -> Iterator[str]:
        one, unit = self.components, " points" if self._percent else ""
        between, both, within = (
            f"{self._bare(math.sqrt(variance))}{unit}" for variance in (one.topic + one.both, one.both, one.within)
        )
        parts = {
            "mean": f"mean {percent(one.mean, 1)}" if self._percent else f"mean {one.mean:.4g}",
            "between": f"spread between topics of one system {between}",
            "interaction": f"of systems × topics {both}",
            "within": f"between trials {within}",
        }
        for source, words in (("pilot", "from the pilot"), ("stated", "as stated"), ("assumed", "ASSUMED")):
            if said := [parts[name] for name, own in self.sources.items() if own == source]:
                yield f"{words}: {', '.join(said)}"
        if assumed := [_ASSUMED[name] for name, own in self.sources.items() if own == "assumed"]:
            yield f"  that is: {'; '.join(assumed)}. Give --from RUN, or state them."
        if self.coming is not None:
            spread = "" if self.basis.pilots else ", ASSUMED to vary between topics as what passes does"
            yield (
                f"{percent(self.coming.mean(), 1)} of conversations need recovery{spread}; how many do varies between "
                "simulated studies, systems and topics, and topics without any drop out"
            )
        if self.sources["within"] == "follows":
            yield f"  between trials {within}, which follows from the mean: they are yes or no"

    def _legend(self, grid: Grid[Powers]) -> Iterator[str]:
        level = self.basis.settings.level
        errors = [own.found_error for one in grid.designs for own in one.power.values()]
        yield (
            f"found: share of simulated studies in which the test of `harvest compare` finds a true difference of "
            f"{self.size}{plan_words.error_words(errors)}; bold from {plan_words.in_percent(grids.WANTED)}; "
            f"interval: {100 * level:g}%, of the "
            "difference"
        )
        if self.pairs > 1:
            yield (
                f"{grid.systems} systems: each of {self.pairs} pairs is tested at {(1 - level):.3g} / "
                f"{self.pairs}, so that power is at least this"
            )
        if grid.systems == 1:
            yield plan_words.ONE_SYSTEM

    @property
    def size(self) -> str:
        """The difference to be detected, such as `5 points of %useful S1`."""
        size = plan_words.points(100 * self.difference) if self._percent else f"{self.difference:g}"
        return f"{size} of {printable(key_name(self.key), line=True)}"

    @property
    def _percent(self) -> bool:
        return is_percentage(self.key[0])

    def _bare(self, value: float) -> str:
        return decimal(100 * value, 1) if self._percent else f"{value:.4f}"


def plan_difference(
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
    studies: int | None = None,
) -> Plan[DifferenceModel]:
    """Plan a comparison of means.

    `detect` is the difference to detect, in points for percentages and otherwise in the measure's own units. `measure`
    is a measure of single conversations or a share of turns; None means ave%useful. `stated` replaces components of the
    pilot: `mean`, and the standard deviations of topics (`between`), of system × topic (`interaction`) and of trials of
    a topic (`within`). For percentages, they are in points. If %recovery is planned without a pilot, `failing` is the
    percentage of conversations that need recovery. `topics` and `trials` are the numbers in the grid; () means half,
    once, twice and four times the audit's numbers. `studies` is the number of studies simulated of each design; None
    means 250 to 1,000, as the size of the design allows.

    Raises InputError for a measure without values for topics and for impossible components.
    """
    settings = grids.planned_settings(audit, changes)
    asked, key = pilots.planned_measure(measure, settings, audit)
    declared, scale = asked.declaration, 100.0 if is_percentage(key[0]) else 1.0
    difference, given = detect / scale, {name: value / scale for name, value in (stated or {}).items()}
    basis, pilot = Basis(settings, seed, studies=studies), None
    if run is not None:
        basis, material = grids.pilot_basis(settings, seed, run, studies, asked=(asked, key))
        pilot = pilots.read_pilot(material, asked, key, settings, str(run.path))
    components, origins = pilots.assumed_components(declared, key, pilot, given)
    pilots.refuse_difference(components, difference, key)
    notes = pilot.notes if pilot else ()
    moved = pilot is not None and components.shape == "yes or no" and "mean" not in given
    if pilot and moved and abs(pilot.mean - components.mean) > _LEAST_REPORTED:
        simulated = f"Trials are simulated at {percent(components.mean, 1)}, where they vary as much as in the pilot"
        if pilot.systems == 1:
            said = f"the pilot's system averages {percent(pilot.mean, 1)}. {simulated}"
        else:
            said = f"the pilot's systems average {percent(pilot.mean, 1)}, but are at different levels. {simulated}"
        notes = (*notes, said)
    model = DifferenceModel(
        basis=basis,
        key=key,
        difference=difference,
        components=components,
        sources=origins,
        pairs=max(1, math.comb(len(audit.systems), 2)),
        upper_interaction=pilot.upper_interaction if pilot else math.nan,
        notes=notes,
        coming=pilots.coming_shares(declared, pilot, given),
        reach=declared.reach,
        guard=guard,
    )
    return grids.plan_grid(audit, model, topics, trials)
