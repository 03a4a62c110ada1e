"""Figures of a run whose users were drawn from a population: overall, by member, and with other weights.

A lost trial also has a member. If one member lost trials more often than another, the mean over the remaining
trials is about another population. Each conversation is therefore weighted to represent the drawn trials of its
member:

  w = (v / share) · drawn / valid

`drawn` and `valid` are the numbers of the member's drawn and valid trials on this system, and `share` is its
declared share. `v` is the requested weight; for the population itself, `v` is the share. A figure is then unbiased
if, within a member, losses do not depend on the answers that would have followed. If members lost different or
large shares, the interval includes all values that the lost trials, and trials cut short by a failure of the user,
could have had.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harvest.studies.scores.arms import wanted_measures
from harvest.studies.scores.gathered import gather_runs, recorded_design
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Judges, Material
from harvest.studies.scores.trial_values import SHARES, Key, Values, key_name, measure_values, share_values
from harvest.studies.users.recorded_users import recorded_users
from recordings.conversations.endings import is_cut_short
from recordings.log.run_folder import Run
from scoring.inference.aligned import Cell, Trial
from scoring.inference.bootstrap import Resampler
from scoring.inference.foretold import WeightedMean, weighted_ratio
from scoring.inference.interval import no_interval
from scoring.inference.losses import WITHIN, End, SideWithLosses, needs_bounds
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.notation import Term
from scoring.settings import Settings, scoring_settings
from topics.errors import InputError, Place, suggestion
from topics.identity import generator

# Names of figures that are not of one member.
POPULATION, REWEIGHTED = "population", "re-weighted"


@dataclass(frozen=True, slots=True)
class DrawnTrials:
    """The trials of one member on one system. `share` is the declared share. `drawn` is the number of trials whose
    attempts have ended, and `valid` the number of drawn trials that figures include; all other drawn trials were
    lost. `cut` is the number of valid trials that a failure of the user cut short."""

    share: float
    drawn: int
    valid: int
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of one system. `of` is a member, `population` or `re-weighted`."""

    system: str
    of: str
    key: Key
    measure: Measure
    found: WeightedMean

    @property
    def label(self) -> str:
        return key_name(self.key)


@dataclass(frozen=True, slots=True)
class Populations:
    """The figures of a run with a population. `members` has each system's members in the audit's order. `weights`
    are the requested weights of another population, scaled to sum to 1, or None."""

    run: Run
    settings: Settings
    members: Mapping[str, Mapping[str, DrawnTrials]]
    figures: tuple[Figure, ...]
    weights: Mapping[str, float] | None
    material: Material
    notes: tuple[str, ...]


def recorded_shares(run: Run) -> dict[str, dict[str, float]]:
    """Return the share of each member in each system's population. Raises InputError if no system has a population."""
    found = {system: met.shares for system, met in recorded_users(run).met.items() if len(met.shares) > 1}
    if not found:
        raise InputError(
            "the users of this run were not drawn from a population",
            place=Place(str(run.path)),
            advice="add a `population` to its audit, or compare users played in arms with `harvest robustness`",
        )
    order = run.header.audit.get("population") if isinstance(run.header.audit, dict) else None
    places = {member: place for place, member in enumerate(order if isinstance(order, dict) else ())}
    return {
        system: dict(sorted(members.items(), key=lambda one: places.get(one[0], len(places))))
        for system, members in found.items()
    }


def population_figures(
    run: Run,
    *,
    measures: Sequence[Term] = (),
    weights: Mapping[str, float] | None = None,
    changes: Mapping[str, Any] | None = None,
    judges: Judges | None = None,
    seed: int = 0,
) -> Populations:
    """Compute the figures of every system of a run with a population.

    `measures` must have values for single conversations; () means ave%useful. `weights` has the weight of each member
    in another population, at least 0; members without a weight get 0. `changes` override the audit's scoring
    settings. `judges` selects whose judgments SWAN and WAN use. Raises InputError for a run without a population and
    for weights of an unknown member.
    """
    shares = recorded_shares(run)
    asked = None if weights is None else _check_weights(weights, shares)
    material = gather_runs(run).material
    settings = scoring_settings(material.scoring, material.topics, material.gold, changes or {})
    judges = judges or Judges()
    wanted = wanted_measures(measures or (Term(MEAN_USEFUL.name),), settings, material, judges)
    others = [measure for measure in wanted.values() if measure.declaration not in SHARES]
    computed, notes = measure_values(list(shares), material, others, settings, judges)
    resampler = Resampler(generator(seed, "population"), replications=settings.replications, level=settings.level)
    figures: list[Figure] = []
    members: dict[str, dict[str, DrawnTrials]] = {}
    for system, own in shares.items():
        drawing = resampler.with_design(recorded_design(run, [system]))
        values = {**share_values(system, material), **computed[system]}
        members[system], of_system = system_figures(system, own, material, wanted, values, drawing, asked)
        figures += of_system
    return Populations(run, settings, members, tuple(figures), asked, material, notes)


def system_figures(
    system: str,
    shares: Mapping[str, float],
    material: Material,
    measures: Mapping[Key, Measure],
    values: Values,
    resampler: Resampler,
    weights: Mapping[str, float] | None = None,
) -> tuple[dict[str, DrawnTrials], list[Figure]]:
    """Return the trial counts of one system's members, and its figures. The figures are of the population, of each
    member and, if `weights` (with sum 1) are given, of the population with these weights. `shares` has the
    declared share of each member; `values` are the system's cells."""
    of = {
        (one.key.topic, one.key.trial): one.member
        for one in material.conversations
        if one.key.system == system and one.outcome is not None
    }
    drawn = Counter(of.values())
    valid = Counter(one.member for one in material.finished if one.key.system == system)
    cut = Counter(one.member for one in material.finished if one.key.system == system and is_cut_short(one.outcome))
    members = {
        member: DrawnTrials(share, drawn[member], valid[member], cut[member]) for member, share in shares.items()
    }
    sides: dict[str, Mapping[str, float]] = {POPULATION: shares, **{member: {member: 1.0} for member in shares}}
    if weights is not None:
        sides[REWEIGHTED] = weights
    topics = [topic.id for topic in material.topics.topics]
    figures: list[Figure] = []
    for key, measure in measures.items():
        cells = values.get(key, {})
        lost = lost_attempts(key, measure, system, {system: values}, material, topics).losses_in_comparison(
            ""
        )  # compared with no other system
        for name, side in sides.items():
            found = _within_bounds(members, side, SideWithLosses(cells, lost), of, measure, resampler)
            figures.append(Figure(system, name, key, measure, found))
    return members, figures


def _check_weights(weights: Mapping[str, float], shares: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    known = dict.fromkeys(member for members in shares.values() for member in members)
    for name, weight in weights.items():
        if name not in known:
            raise InputError(
                f"the population has no member {name!r}{suggestion(name, known)}", allowed=", ".join(known)
            )
        if not 0 <= weight < math.inf:
            raise InputError(f"the weight of {name!r} cannot be {weight:g}", allowed="numbers of at least 0")
    largest = max(weights.values(), default=0.0)
    if not largest > 0:
        raise InputError("no member has a weight above 0", allowed=f"weights of {', '.join(known)}")
    scaled = {name: weights.get(name, 0.0) / largest for name in known}  # since the sum of large weights may overflow
    whole = math.fsum(scaled.values())
    return {name: weight / whole for name, weight in scaled.items()}


def _within_bounds(
    members: Mapping[str, DrawnTrials],
    side: Mapping[str, float],
    every: SideWithLosses,
    of: Mapping[Trial, str],
    measure: Measure,
    resampler: Resampler,
) -> WeightedMean:
    """Return a figure. If losses matter, its interval includes all values that lost trials could have had."""
    found = _weigh_members(members, side, every.cells, of, measure, resampler)
    apart = [_member_cells(every, of, member) for member, weight in side.items() if weight > 0]
    if math.isnan(found.value) or not needs_bounds(apart):
        return found
    whole = {name: replace(one, valid=one.drawn) for name, one in members.items()}
    ends = [_weigh_members(whole, side, every.cells_at(end), of, measure, resampler) for end in _ENDS]
    each = [one.interval for one in (found, *ends)]
    if unprinted := next((one for one in each if not one.is_defined), None):
        return replace(found, interval=unprinted)
    low, high = min(one.low for one in each), max(one.high for one in each)
    return replace(found, interval=replace(each[0], low=low, high=high, method=f"{each[0].method}, {WITHIN}"))


_ENDS: tuple[End, End] = ("low", "high")


def _member_cells(every: SideWithLosses, of: Mapping[Trial, str], member: str) -> SideWithLosses:
    cells, low, high = (
        {trial: cell for trial, cell in own.items() if of.get(trial) == member}
        for own in (every.cells, every.lost.low, every.lost.high)
    )
    return SideWithLosses(cells, replace(every.lost, low=low, high=high))


def _weigh_members(
    members: Mapping[str, DrawnTrials],
    side: Mapping[str, float],
    cells: Mapping[Trial, Cell],
    of: Mapping[Trial, str],
    measure: Measure,
    resampler: Resampler,
) -> WeightedMean:
    alone = len(side) == 1
    for member, weight in side.items():
        told = members[member]
        # A member never drawn is chance, as in any sample; a member that lost all its conversations is not.
        if weight > 0 and not told.valid and (alone or told.drawn or weight != told.share):
            why = f"all {told.drawn} trials of {member} were lost" if told.drawn else f"no trial met {member}"
            return WeightedMean(math.nan, no_interval(why), 0, 0.0, 0)
    factor = {
        member: weight / told.share * told.drawn / told.valid
        for member, weight in side.items()
        if (told := members[member]).valid
    }
    drawn = Counter(topic for topic, _ in of)
    rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    pooled = measure.declaration.pooled
    for trial, (value, over) in cells.items():
        weight = factor.get(of.get(trial, ""), 0.0)
        # In a mean over topics, each counts the same, however often it was played.
        cell = (value, over, weight) if pooled else (value, 1.0 if over else math.nan, weight / drawn[trial[0]])
        rows[trial[0]].append(cell)
    most = max(map(len, rows.values()), default=0)
    table = np.full((3, len(rows), most), np.nan)
    for place, own in enumerate(rows.values()):
        table[:, place, : len(own)] = np.array(own).T
    declared = measure.declaration
    bottom, top = declared.range
    above, below, weights = table
    far = top if declared.has_top else math.inf
    return weighted_ratio(list(rows), above, below, weights, resampler, bottom=bottom, top=far)
