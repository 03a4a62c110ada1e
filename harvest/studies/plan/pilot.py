"""The components of variance behind a plan, which come from a pilot run, from options or from assumptions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harvest.audits.audit import Audit
from harvest.studies.scores import trial_values
from harvest.studies.scores.lost_attempts import loss_words
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import Key
from scoring.inference.aligned import Cell, Trial
from scoring.inference.components import across_systems, upper_interaction, within_system
from scoring.inference.ratio_power import smoothed_shares
from scoring.measure import Declaration, Measure
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.notation import Term, parse
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.statistics.beta import beta_quantile
from scoring.statistics.outcomes import Components, Shape
from scoring.swan.schema import load_schema
from scoring.table import is_percentage
from topics.arrays import Floats
from topics.errors import InputError

# Share that passes, and the part of its variance between topics, recounted from tau-bench's released trajectories
# (sierra-research/tau-bench, issue 57).
MEAN, ICC = 0.6, 0.45

# Part of the variance between topics due to single systems. There is no source: name it wherever it is used.
INTERACTION = 0.25

_LEAST_SHARE, _LEAST_VALUE = 1e-5, 1e-9  # differences to plan for, of percentages and of other measures
_UPPER_LEVEL = 0.6  # level of the two-sided interval whose high end is the upper 80% limit
_QUANTILES = 99  # at which the chances of topics are tabulated
_LARGEST_PART = 0.995  # largest part between topics of the variance that a mean allows


def planned_measure(wanted: Term | None, settings: Settings, audit: Audit) -> tuple[Measure, Key]:
    """Return the measure to plan for, by default that of reports and re-audits, ave%useful. Raises InputError for a
    measure that has no value for a single trial, for a term that stands for several measures, and for a turn that the
    audit's protocol cannot reach."""
    term = wanted or parse(MEAN_USEFUL.name)
    found = trial_values.read_single(term, settings, audit.topics, load_schema(SHIPPED))
    one = found[0]
    if len(found) > 1:
        raise InputError(
            f"{term} stands for several measures, but a plan has only one",
            allowed=", ".join(str(each.base) for each in found),
        )
    if one.declaration is USEFUL:
        trial_values.refuse_turn(term, one.turn, max(audit.protocol.most_turns(topic) for topic in audit.topics.topics))
        return one, (USEFUL.name, one.turn or 1)
    return one, (one.declaration.name if one.declaration in trial_values.SHARES else str(one.base), None)


@dataclass(frozen=True, slots=True)
class Pilot:
    """Components of variance estimated from a pilot run.

    `mean` is the mean over topics and systems. `topic`, `both` and `trial` are the variances of topics, of systems
    × topics, and of trials. With one system, `both` is NaN and part of `topic`. `upper_interaction` is the upper
    80% limit of `both`. `systems` is the number of systems with a value. `coming` is the share of trials that need
    recovery, of shape (topics, systems); for measures except %recovery, it is None.
    """

    mean: float
    topic: float
    both: float
    trial: float
    upper_interaction: float
    systems: int
    notes: tuple[str, ...]
    coming: Floats | None = None


def read_pilot(material: Material, measure: Measure, key: Key, settings: Settings, place: str) -> Pilot:
    """Estimate the components of variance from a pilot. `place` is the run's path, for messages. Raises InputError
    if the pilot has too few topics, or too few trials of a topic, to separate variance between trials from
    variance between topics."""
    by_system, notes = pilot_cells(material, measure, key, settings)
    if not by_system:
        raise InputError(f"{place}: no trial has a value of {trial_values.key_name(key)}", advice="plan without --from")
    tables, recovery = list(by_system.values()), measure.declaration is RECOVERY
    pooled = measure.declaration.pooled
    mean = float(np.nanmean([np.nanmean(table if pooled else _topic_means(table)) for table in tables]))
    if pooled and not recovery:
        said = (
            "planned by the part of each trial in the error of the ratio; with few topics, compare's interval is wider"
        )
        notes = (*notes, f"{trial_values.key_name(key)} is a ratio of sums: {said}")
    coming = _recovery_shares(material, list(by_system), place) if recovery else None
    if len(tables) > 1:
        cells = np.stack(tables)
        split = across_systems(cells, level=_UPPER_LEVEL)
        _refuse_unsplit(split.trial.value, split.trial.interval.note, place, measure.declaration)
        topic, both, trial = (max(0.0, one.value) for one in (split.topic, split.both, split.trial))
        return Pilot(mean, topic, both, trial, upper_interaction(cells, level=_UPPER_LEVEL), len(tables), notes, coming)
    nested = within_system(tables[0], level=_UPPER_LEVEL)
    _refuse_unsplit(nested.trial.value, nested.trial.interval.note, place, measure.declaration)
    return Pilot(mean, max(0.0, nested.topic.value), math.nan, nested.trial.value, math.nan, 1, notes, coming)


def _recovery_shares(material: Material, systems: Sequence[str], where: str) -> Floats:
    """Return the share of trials that need recovery, of shape (topics, systems), over topics with at least 2 trials
    of every system."""
    key, topics = (RECOVERY.name, None), [topic.id for topic in material.topics.topics]
    needed, trials = np.zeros((2, len(topics), len(systems)))
    for column, system in enumerate(systems):
        for (topic, _), (_, over) in trial_values.share_values(system, material).get(key, {}).items():
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
    """Return, for each system with a value, its values of shape (topics, trials), with NaN for missing trials. Also
    returns notes, such as notes on lost trials."""
    played = {one.key.system for one in material.finished}
    systems = [name for name in material.systems if name in played]
    shares = measure.declaration in trial_values.SHARES
    scored, notes = trial_values.measure_values(systems, material, [] if shares else [measure], settings)
    values = {name: trial_values.share_values(name, material) if shares else scored[name] for name in systems}
    rows = {topic.id: row for row, topic in enumerate(material.topics.topics)}
    most = max((one.key.trial for one in material.finished), default=1)
    tables: dict[str, Floats] = {}
    for name in systems:
        cells = np.full((len(rows), most), np.nan)
        own = values[name].get(key, {})
        ratio, weight = _ratio_of_sums(own) if measure.declaration.pooled and not shares else (0.0, 0.0)
        for (topic, trial), (value, over) in own.items():
            if weight > 0 and not math.isnan(value):
                cells[rows[topic], trial - 1] = ratio + (value - ratio * over) / weight
            elif over > 0:
                cells[rows[topic], trial - 1] = value / over
        if not np.isnan(cells).all():
            tables[name] = cells
    lost = (
        f"{name}: {loss_words(name, material)}; trials that are whole may vary more or less"
        for name in tables
        if name in material.cut_short
    )
    return tables, (*notes, *lost)


def _ratio_of_sums(cells: Mapping[Trial, Cell]) -> tuple[float, float]:
    """Return the ratio R of the sums of (above, below), and the mean of below. A trial's part in the error of R is then
    that of R + (above - R · below) / mean of below, whose mean is R: a figure that can be planned as a mean."""
    above, below = np.array([cell for cell in cells.values() if not math.isnan(cell[0])]).reshape(-1, 2).T
    return (float(above.sum() / below.sum()), float(below.mean())) if below.sum() > 0 else (0.0, 0.0)


def _topic_means(cells: Floats) -> Floats:
    seen = ~np.isnan(cells)
    counts = seen.sum(axis=1)
    return np.where(counts, np.where(seen, cells, 0.0).sum(axis=1) / np.maximum(1, counts), np.nan)


def _value_text(value: float, key: Key) -> str:
    return f"{100 * value:g}%" if is_percentage(key[0]) else f"{value:g}"


def _size_text(value: float, key: Key) -> str:
    return f"{100 * value:.4g} points" if is_percentage(key[0]) else f"{value:.4g}"


def _shape(declaration: Declaration) -> Shape:
    if declaration is USEFUL or declaration is RECOVERY or declaration.event:
        return "yes or no"
    if declaration.pooled:  # planned by the parts of trials in its error, which have no bounds
        return "unbounded"
    low, high = declaration.range
    return "bounded" if math.isfinite(high - low) else "unbounded"


def _required_options(declaration: Declaration) -> tuple[str, ...]:
    if declaration is RECOVERY:
        return ("mean", "between", "failing")
    return ("mean", "between") if _shape(declaration) == "yes or no" else ("mean", "between", "within")


def _refuse_unsplit(trial: float, why: str, where: str, declaration: Declaration) -> None:
    if math.isnan(trial):
        *first, last = (f"--{name}" for name in _required_options(declaration))
        raise InputError(
            f"{where}: the variance cannot be split: {why}",
            advice="play a pilot with at least 2 topics and 2 trials, or leave out --from and state "
            f"{', '.join(first)} and {last}",
        )


def assumed_components(
    declaration: Declaration, key: Key, pilot: Pilot | None, stated: Mapping[str, float]
) -> tuple[Components, dict[str, str]]:
    """Return the components of variance, and the origin of each component: `pilot`, `stated`, `assumed` or
    `follows`. `stated` has `mean` and the standard deviations `between`, `interaction` and `within`, which
    replace estimates of the pilot. Raises InputError if the measure's variance is unknown, and for impossible
    values."""
    recovery, shape = declaration is RECOVERY, _shape(declaration)
    low, high = declaration.range if shape != "unbounded" else (-math.inf, math.inf)
    if shape == "yes or no" and "within" in stated:
        raise InputError(
            f"--within cannot be stated for {trial_values.key_name(key)}: trials pass or fail, so it follows from "
            "the mean and the variance between topics",
            advice="leave it out",
        )
    squares = {name: stated[name] ** 2 for name in ("between", "interaction", "within") if name in stated}
    if pilot is None and (recovery or shape != "yes or no"):
        missing = [f"--{name}" for name in _required_options(declaration) if name not in stated]
        if missing and declaration is not MEAN_USEFUL:  # for which tau-bench has data
            raise InputError(
                f"the variance of {trial_values.key_name(key)} is unknown",
                advice=f"give a pilot run with --from, or state {', '.join(missing)}",
            )
    sources: dict[str, str] = {}
    mean = stated.get("mean", pilot.mean if pilot else MEAN)
    sources["mean"] = _origin_words("mean" in stated, pilot)
    if not low < mean < high:
        raise InputError(
            f"{trial_values.key_name(key)}: the mean {_value_text(mean, key)} is not inside the range, so nothing "
            "could vary",
            allowed=f"more than {_value_text(low, key)} and less than {_value_text(high, key)}",
            advice="state another --mean, or give a pilot that varies",
        )
    room = (mean - low) * (high - mean) if shape != "unbounded" else math.nan
    # For one system, the variance between topics includes that of systems × topics.
    seen = pilot.topic + (0.0 if math.isnan(pilot.both) else pilot.both) if pilot else ICC * room
    between = squares.get("between", seen)
    sources["between"] = _origin_words("between" in stated, pilot)
    # A pilot of few topics can show no interaction by chance. Where a quarter of the spread between topics is of single
    # systems, 14 to 27% of pilots of 8 to 20 topics do so, and a plan by 0 promised .93 where .74 was found.
    split = pilot if pilot and not math.isnan(pilot.both) and "between" not in squares else None
    known = split if split and (split.both > 0 or between == 0) else None
    both = squares.get("interaction", known.both if known else INTERACTION * between)
    sources["interaction"] = _origin_words("interaction" in stated, known)
    within = squares.get("within", pilot.trial if pilot else room - between)
    sources["within"] = "follows" if shape == "yes or no" else _origin_words("within" in stated, pilot)
    if both > between:
        raise InputError(
            f"--interaction: {_size_text(math.sqrt(both), key)} is more than the spread between topics of one system",
            allowed=f"up to {_size_text(math.sqrt(between), key)}, a part of --between",
        )
    if pilot and shape == "yes or no" and "mean" not in stated and not recovery:
        # The mean, on the same side of one half, at which yes or no varies this much: for systems at different levels,
        # that is not their mean.
        away = math.sqrt(max(0.0, 0.25 - max(between / _LARGEST_PART, between + within)))
        mean = 0.5 + away if mean >= 0.5 else 0.5 - away
    most = (mean - low) * (high - mean) if shape != "unbounded" else math.inf
    if between >= most:
        what = "--between" if "between" in stated else trial_values.key_name(key)
        raise InputError(
            f"{what}: topics cannot spread by {_size_text(math.sqrt(between), key)} around a mean of "
            f"{_value_text(mean, key)}",
            allowed=f"less than {_size_text(math.sqrt(most), key)}",
            advice="state another --mean or --between, or give a pilot that varies less",
        )
    return Components(shape, mean, between - both, both, max(0.0, within), low, high), sources


def refuse_difference(components: Components, difference: float, key: Key) -> None:
    """Raise InputError for a difference that is too small to plan for or too large for the measure's range."""
    least = _LEAST_SHARE if is_percentage(key[0]) else _LEAST_VALUE
    if difference < least * (1 - 1e-9):  # as divided by 100
        raise InputError(
            f"--detect: {_size_text(difference, key)} is too small a difference to plan for",
            allowed=f"from {_size_text(least, key)}",
        )
    most = 2 * min(components.mean - components.low, components.high - components.mean)
    if components.shape != "unbounded" and difference >= most:
        raise InputError(
            f"--detect: two systems around a mean of {_value_text(components.mean, key)} cannot differ by "
            f"{_size_text(difference, key)}",
            allowed=f"less than {_size_text(most, key)}",
            advice="state a smaller --detect, or another --mean",
        )


def coming_shares(declaration: Declaration, pilot: Pilot | None, stated: Mapping[str, float]) -> Floats | None:
    """Return the share of trials that need recovery, of shape (topics, systems); None unless for %recovery.

    Without a pilot, the shares are drawn around `failing`, with the assumed part of the variance between topics.
    Raises InputError if `failing` is stated for another measure or with a pilot, if it is needed but not stated,
    and if it is not a percentage.
    """
    share = stated.get("failing")
    if declaration is not RECOVERY or pilot is not None:
        if share is not None:
            why = "the pilot shows it" if pilot else f"only {RECOVERY.name} is about conversations that failed first"
            raise InputError(f"--failing does not apply: {why}", advice="leave it out")
        return pilot.coming if pilot else None
    if share is None or not 0 < share <= 1:
        raise InputError("--failing must be a percentage of conversations", allowed="above 0, at most 100")
    if share == 1:
        return np.ones((1, 1))
    weight, places = 1 / ICC - 1, (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    return beta_quantile(places, share * weight, (1 - share) * weight)[:, None]


def _origin_words(stated: bool, pilot: Pilot | None) -> str:
    return "stated" if stated else "pilot" if pilot else "assumed"
