"""What a comparison is planned with: components of variance from a pilot run, as stated, or assumed by name."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harvest.studies.plan.costs import observed_costs
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.lost_attempts import loss_words
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import SHARES, Key, Values, key_name, measure_values, share_values
from recordings.log.run_folder import Run
from scoring.inference.components import across_systems, upper_interaction, within_system
from scoring.inference.ratio_power import smoothed_shares
from scoring.measure import Declaration, Measure
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.settings import Settings
from scoring.statistics.beta import beta_quantile
from scoring.statistics.outcomes import Components, Shape
from scoring.table import is_percentage
from topics.errors import InputError, Place

Floats = npt.NDArray[np.float64]

# Share that passes, and of its variance the part between topics: recounts of tau-bench's released trajectories
# (sierra-research/tau-bench, issue 57).
MEAN, ICC = 0.6, 0.45

# Part of the variance between topics that is of single systems. No source: name it wherever it is used.
INTERACTION = 0.25

_LEAST_SHARE, _LEAST_VALUE = 1e-5, 1e-9  # differences to plan for, of percentages and of other measures
_UPPER = 0.6  # level of the two-sided interval whose high end is the upper 80% limit
_PLACES = 99  # at which chances of topics are tabled
_FULLEST = 0.995  # of the room that a mean leaves, at most so much is between topics


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a run says. mean: over topics and systems. topic, both, trial: variances; both is NaN of one system, and
    topic then holds it, too. upper_interaction: upper 80% limit of both. turns, seconds: of a conversation on average,
    seconds 0 where no time is recorded. systems, topics: with a value. coming: of %recovery, (topics, systems) how
    often trials of a topic need it; None of other measures."""

    mean: float
    topic: float
    both: float
    trial: float
    upper_interaction: float
    turns: float
    seconds: float
    systems: int
    topics: int
    notes: tuple[str, ...]
    coming: Floats | None = None


def pilot_material(run: Run) -> Material:
    """The conversations of a pilot. Raises InputError where whether a trial was lost depended on what a system had
    answered: what is left is a choice among its answers, and varies as no other run would."""
    material = gather_runs(run).material
    if material.concentrations:
        raise InputError(
            material.concentrations[0].sentence,
            place=Place(str(run.path)),
            advice="play another pilot once the cause is removed, or plan without --from",
        )
    return material


def read_pilot(run: Run, measure: Measure, key: Key, settings: Settings) -> Pilot:
    """Raises InputError where the run cannot tell trials from topics: too few topics, or one trial of each."""
    material = pilot_material(run)
    by_system, notes = pilot_cells(material, measure, key, settings)
    if not by_system:
        raise InputError(f"{run.path}: no trial has a value of {key_name(key)}", advice="plan without --from")
    tables = list(by_system.values())
    cells = np.stack(tables)
    pooled = measure.declaration is RECOVERY
    own = [np.nanmean(table if pooled else _means(table)) for table in tables]
    where, mean = str(run.path), float(np.nanmean(own))
    coming = _coming(material, list(by_system), where) if pooled else None
    topics = int((~np.isnan(cells)).any(axis=(0, 2)).sum())
    common = (*observed_costs(material.finished), len(tables), topics, notes)
    if len(tables) > 1:
        split = across_systems(cells, level=_UPPER)
        _refuse_unsplit(split.trial.value, split.trial.interval.note, where, measure.declaration)
        topic, both, trial = (max(0.0, one.value) for one in (split.topic, split.both, split.trial))
        return Pilot(mean, topic, both, trial, upper_interaction(cells, level=_UPPER), *common, coming)
    nested = within_system(tables[0], level=_UPPER)
    _refuse_unsplit(nested.trial.value, nested.trial.interval.note, where, measure.declaration)
    return Pilot(mean, max(0.0, nested.topic.value), math.nan, nested.trial.value, math.nan, *common, coming)


def _coming(material: Material, systems: Sequence[str], where: str) -> Floats:
    """(topics, systems) how often trials of a topic need recovery, of topics with two trials or more of each system."""
    key, topics = (RECOVERY.name, None), [topic.id for topic in material.topics.topics]
    needed, trials = np.zeros((2, len(topics), len(systems)))
    for column, system in enumerate(systems):
        for (topic, _), (_, over) in share_values(system, material).get(key, {}).items():
            if not math.isnan(over):
                needed[topics.index(topic), column] += over
                trials[topics.index(topic), column] += 1
    several = (trials > 1).all(axis=1)
    if several.sum() < 2:
        _refuse_unsplit(math.nan, "fewer than 2 topics have 2 trials of each system", where, RECOVERY)
    return smoothed_shares(needed[several], trials[several])


def pilot_cells(
    material: Material, measure: Measure, key: Key, settings: Settings
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """By system, (topics, trials) values of a measure, NaN where there is none, and notes, also on what was lost;
    without systems that have no value at all."""
    played = {one.key.system for one in material.finished}
    systems = [name for name in material.systems if name in played]
    shares = measure.declaration in SHARES
    scored, notes = measure_values(systems, material, [] if shares else [measure], settings)
    values = {name: share_values(name, material) if shares else scored[name] for name in systems}
    tables = {name: _table(values[name], key, material) for name in systems}
    kept = {name: table for name, table in tables.items() if not np.isnan(table).all()}
    lost = (
        f"{name}: {loss_words(name, material)}; trials that are whole may vary more or less"
        for name in kept
        if name in material.cut_short
    )
    return kept, (*notes, *lost)


def _table(values: Values, key: Key, material: Material) -> Floats:
    """(topics, trials), NaN where there is no value."""
    rows = {topic.id: row for row, topic in enumerate(material.topics.topics)}
    own = values.get(key, {})
    most = max((one.key.trial for one in material.finished), default=1)
    cells = np.full((len(rows), most), np.nan)
    for (topic, trial), (value, over) in own.items():
        if over > 0:
            cells[rows[topic], trial - 1] = value
    return cells


def _means(cells: Floats) -> Floats:
    seen = ~np.isnan(cells)
    counts = seen.sum(axis=1)
    return np.where(counts, np.where(seen, cells, 0.0).sum(axis=1) / np.maximum(1, counts), np.nan)


def _figure(value: float, key: Key) -> str:
    return f"{100 * value:g}%" if is_percentage(key[0]) else f"{value:g}"


def _size(value: float, key: Key) -> str:
    return f"{100 * value:.4g} points" if is_percentage(key[0]) else f"{value:.4g}"


def _shape(declaration: Declaration) -> Shape:
    if declaration is USEFUL or declaration is RECOVERY or declaration.event:
        return "yes or no"
    low, high = declaration.range
    return "bounded" if math.isfinite(high - low) else "unbounded"


def _to_state(declaration: Declaration) -> tuple[str, ...]:
    """What stands for a pilot. Of what is yes or no, the spread within topics follows."""
    if declaration is RECOVERY:
        return ("mean", "between", "failing")
    return ("mean", "between") if _shape(declaration) == "yes or no" else ("mean", "between", "within")


def _refuse_unsplit(trial: float, why: str, where: str, declaration: Declaration) -> None:
    if math.isnan(trial):
        *first, last = (f"--{name}" for name in _to_state(declaration))
        raise InputError(
            f"{where}: the variance cannot be split: {why}",
            advice="play a pilot with at least 2 topics and 2 trials, or leave out --from and state "
            f"{', '.join(first)} and {last}",
        )


def assumed_components(
    declaration: Declaration, key: Key, pilot: Pilot | None, stated: Mapping[str, float]
) -> tuple[Components, dict[str, str]]:
    """Components, and where each comes from, in words.

    stated: `mean`, and standard deviations `between`, `interaction` and `within`; what is stated goes before the pilot.
    Raises InputError for a measure of which nothing is known, and for what cannot be.
    """
    pooled, shape = declaration is RECOVERY, _shape(declaration)
    low, high = declaration.range if shape != "unbounded" else (-math.inf, math.inf)
    if shape == "yes or no" and "within" in stated:
        raise InputError(
            f"--within cannot be stated for {key_name(key)}: trials are yes or no, so it follows from the mean "
            "and from what lies between topics",
            advice="leave it out",
        )
    squares = {name: stated[name] ** 2 for name in ("between", "interaction", "within") if name in stated}
    if pilot is None and (pooled or shape != "yes or no"):
        missing = [f"--{name}" for name in _to_state(declaration) if name not in stated]
        if missing and declaration is not MEAN_USEFUL:  # of which tau-bench says something
            raise InputError(
                f"nothing is known of how {key_name(key)} varies",
                advice=f"give a pilot run with --from, or state {', '.join(missing)}",
            )
    sources: dict[str, str] = {}
    mean = stated.get("mean", pilot.mean if pilot else MEAN)
    sources["mean"] = _source("mean" in stated, pilot)
    if not low < mean < high:
        raise InputError(
            f"{key_name(key)}: the mean {_figure(mean, key)} is not inside the range, so nothing could vary",
            allowed=f"more than {_figure(low, key)} and less than {_figure(high, key)}",
            advice="state another --mean, or give a pilot that varies",
        )
    room = (mean - low) * (high - mean) if shape != "unbounded" else math.nan
    between = squares.get("between", pilot.topic + _or_zero(pilot.both) if pilot else ICC * room)
    sources["between"] = _source("between" in stated, pilot)
    if "interaction" in squares:
        both = squares["interaction"]
    elif pilot and not math.isnan(pilot.both) and "between" not in squares:
        both = pilot.both
    else:
        both = INTERACTION * between
    known = pilot is not None and not math.isnan(pilot.both) and "between" not in squares
    sources["interaction"] = _source("interaction" in stated, pilot if known else None)
    within = squares.get("within", pilot.trial if pilot else room - between)
    sources["within"] = "follows" if shape == "yes or no" else _source("within" in stated, pilot)
    if both > between:
        raise InputError(
            f"--interaction: {_size(math.sqrt(both), key)} is more than lies between the topics of one system",
            allowed=f"up to {_size(math.sqrt(between), key)}, a part of --between",
        )
    if pilot and shape == "yes or no" and "mean" not in stated and not pooled:
        mean = _mean_with(mean, max(between / _FULLEST, between + within))
    most = (mean - low) * (high - mean) if shape != "unbounded" else math.inf
    if between >= most:
        what = "--between" if "between" in stated else key_name(key)
        raise InputError(
            f"{what}: topics cannot spread by {_size(math.sqrt(between), key)} around a mean of {_figure(mean, key)}",
            allowed=f"less than {_size(math.sqrt(most), key)}",
            advice="state another --mean or --between, or give a pilot that varies less",
        )
    return Components(shape, mean, between - both, both, max(0.0, within), low, high), sources


def refuse_difference(components: Components, difference: float, key: Key) -> None:
    """Raises InputError where the range of the measure has no room for two systems that differ so much, and for a
    difference that no number of trials would find."""
    least = _LEAST_SHARE if is_percentage(key[0]) else _LEAST_VALUE
    if difference < least * (1 - 1e-9):  # as divided by 100
        raise InputError(
            f"--detect: {_size(difference, key)} is too small a difference to plan for",
            allowed=f"from {_size(least, key)}",
        )
    most = 2 * min(components.mean - components.low, components.high - components.mean)
    if components.shape != "unbounded" and difference >= most:
        raise InputError(
            f"--detect: two systems around a mean of {_figure(components.mean, key)} cannot differ by "
            f"{_size(difference, key)}",
            allowed=f"less than {_size(most, key)}",
            advice="state a smaller --detect, or another --mean",
        )


def coming_shares(declaration: Declaration, pilot: Pilot | None, stated: Mapping[str, float]) -> Floats | None:
    """Of %recovery, (topics, systems) how often trials need it: the pilot's, or stated as `failing`, spread over topics
    as what passes is; None of other measures. Raises InputError where it is stated for nothing, or cannot be."""
    share = stated.get("failing")
    if declaration is not RECOVERY or pilot is not None:
        if share is not None:
            why = "the pilot shows it" if pilot else f"only {RECOVERY.name} is of conversations that failed first"
            raise InputError(f"--failing says nothing here: {why}", advice="leave it out")
        return pilot.coming if pilot else None
    if share is None or not 0 < share <= 1:
        raise InputError("--failing is a percentage of conversations", allowed="above 0, at most 100")
    if share == 1:
        return np.ones((1, 1))
    weight, places = 1 / ICC - 1, (np.arange(_PLACES) + 0.5) / _PLACES
    return beta_quantile(places, share * weight, (1 - share) * weight)[:, None]


def _mean_with(mean: float, variance: float) -> float:
    """The mean, on the same side of one half, at which yes or no varies so much: of systems at different levels, that
    is not their mean."""
    away = math.sqrt(max(0.0, 0.25 - variance))
    return 0.5 + away if mean >= 0.5 else 0.5 - away


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _source(stated: bool, pilot: Pilot | None) -> str:
    return "stated" if stated else "pilot" if pilot else "assumed"
