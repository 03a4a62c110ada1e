"""Estimate a run's figures with another user from its recordings alone. No system is contacted.

Each conversation has a weight: the probability that the other user takes its path, divided by the probability for
the users that were played. The probability of a path is the probability of every decision of the user, including
leaving, given the answers. For users without a model, these probabilities are known exactly
(`simulators.path_probability`). If users were drawn from a population, the divisor is the joint probability over
all members, which keeps weights low.

If the other user may do something that the played users never do, no recording shows what would follow. The act is
then named, and nothing is estimated. `scoring.inference.foretold` computes the interval and decides whether the
weights suffice.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harvest.audits.groups import traits_of
from harvest.studies.scores.arms import wanted_measures
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Judges, Material
from harvest.studies.scores.trial_values import SHARES, Key, Values, key_name, measure_values, share_values
from harvest.studies.users.recorded_users import RecordedUsers, UsersOfSystem, recorded_users
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import cut_words, is_cut_short
from recordings.log.run_folder import Run
from scoring.inference.aligned import Cell, Trial, cluster_numbers
from scoring.inference.foretold import PredictedMean, predict_mean
from scoring.inference.interval import Interval, no_interval
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.notation import Term
from scoring.settings import Settings, scoring_settings
from simulators.path_probability import LEAVES, Decision, PathFollower
from simulators.user import EnumerableUser, Observation, Scenario, Streams
from topics.errors import InputError
from topics.topic import Topic

# Smaller probabilities count as 0: they are rounding errors and not acts.
_LEAST_PROBABILITY = 1e-9

# Random streams are named after the user that plays protocols.
PLAYED_BY = "scripted"


@dataclass(frozen=True, slots=True)
class Unseen:
    """An act of the other user that the played users never do. `where` names a conversation and a turn."""

    act: str
    probability: float
    where: str


@dataclass(frozen=True, slots=True)
class WeightedPath:
    """A conversation under the other user. `weight` is at least 0. `unseen` is the likeliest act that the played
    users never do, or None. `cut` is true if the user failed, so that its last decision is unknown."""

    weight: float
    unseen: Unseen | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FigureWithOther:
    """One measure of one system with the other user. `played` is the mean as played, or NaN without a value.
    `foretold` is the estimate. If the estimate is undefined, the note of its interval explains why."""

    system: str
    key: Key
    measure: Measure
    played: float
    foretold: PredictedMean

    @property
    def label(self) -> str:
        return key_name(self.key)


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A run's figures with another user. `users` has, for each system, the shares of the users that the system met.
    `unseen` has, for some systems, an act of the other user that was never played."""

    run: Run
    other: str
    settings: Settings
    users: Mapping[str, Mapping[str, float]]
    figures: tuple[FigureWithOther, ...]
    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def counterfactual(
    run: Run,
    other: str,
    *,
    measures: Sequence[Term] = (),
    changes: Mapping[str, Any] | None = None,
    judges: Judges | None = None,
) -> Counterfactual:
    """Estimate the figures that every system of the run would have with the user `other`.

    `other` is a member of the run's population, an arm of the run, or a YAML file of users. `measures` must have a
    bounded range and a value for every conversation; () means ave%useful. Raises InputError for an unknown user,
    for a user that cannot list its choices, for unsuitable measures, and for conversations that the recorded users
    cannot have had.
    """
    users = recorded_users(run)
    name, target = users.find(other)
    material = gather_runs(run).material
    settings = scoring_settings(material.scoring, material.topics, material.gold, changes or {})
    judges = judges or Judges()
    wanted = wanted_measures(measures or (Term(MEAN_USEFUL.name),), settings, material, judges)
    for measure in wanted.values():
        _refuse_measure(measure)
    others = [measure for measure in wanted.values() if measure.declaration not in SHARES]
    computed, notes = measure_values(list(users.met), material, others, settings, judges)
    continued = material.continued
    figures: list[FigureWithOther] = []
    unseen: dict[str, Unseen] = {}
    for system, met in users.met.items():
        values: Values = {**share_values(system, material), **computed[system]}
        why = "sessions go on from topic to topic: what one user said reaches later ones" if system in continued else ""
        paths = {} if why else dict(_paths(system, users, met, target, material))
        if seen := max(
            (one.unseen for one in paths.values() if one.unseen), key=lambda one: one.probability, default=None
        ):
            unseen[system] = seen
            why = f"{name} may do what was never played: {seen.act}, P = {seen.probability:.3g} in {seen.where}"
        for key, measure in wanted.items():
            cells = values.get(key, {})
            lacks = "no gold table" if material.gold is None and "gold" in measure.declaration.needs else ""
            figures.append(_estimate_figure(system, key, measure, cells, paths, lacks or why, material, settings))
    met_by = {system: met.shares for system, met in users.met.items()}
    cut = (
        f"{system}: {reasons.total()} conversations were {cut_words(reasons)}: what would have followed "
        "is not known, so intervals hold any value of them."
        for system, reasons in material.cut_short.items()
        if system in met_by
    )
    return Counterfactual(run, name, settings, met_by, tuple(figures), unseen, (*notes, *cut))


def _refuse_measure(measure: Measure) -> None:
    declared = measure.declaration
    allowed = f"{USEFUL.name} S1, and measures that every conversation has, such as {MEAN_USEFUL.name}"
    if declared is RECOVERY or (declared is USEFUL and measure.turn != 1):
        raise InputError(
            f"{measure.name} counts only conversations that reached the turn, and which ones do depends on the user",
            allowed=allowed,
            advice=f"ask for {MEAN_USEFUL.name}, or play the other user: harvest run",
        )
    if not all(map(math.isfinite, declared.range)):
        raise InputError(
            f"{measure.name} has no largest value, so its value in unplayed conversations is unbounded",
            allowed=f"measures with a smallest and a largest value, such as {MEAN_USEFUL.name}",
            advice="play the other user: harvest run",
        )


def _paths(
    system: str, users: RecordedUsers, met: UsersOfSystem, target: EnumerableUser, material: Material
) -> Iterator[tuple[Trial, WeightedPath]]:
    topics = {topic.id: topic for topic in material.topics.topics}
    ended = [one for one in material.conversations if one.key.system == system and one.outcome is not None]
    drawn = Counter({(one.key.topic, one.key.trial): one.member for one in ended}.values())
    finished = [one for one in material.finished if one.key.system == system]
    valid = Counter(one.member for one in finished)
    played = [users.build(name) for name in met.shares]
    # Users who lost more are underrepresented in what is left.
    left = [
        share * (valid[name] / drawn[name] if drawn[name] else 1.0) if len(met.shares) > 1 else share
        for name, share in met.shares.items()
    ]
    shares = [share / math.fsum(left) for share in left] if math.fsum(left) else left
    seed = users.run.header.seed
    for one in finished:
        yield (
            (one.key.topic, one.key.trial),
            follow_path(one, topics[one.key.topic], played, shares, target, seed=seed, traits=traits_of(met.group)),
        )


def follow_path(
    conversation: Conversation,
    topic: Topic,
    played: Sequence[EnumerableUser],
    shares: Sequence[float],
    target: EnumerableUser,
    *,
    seed: int,
    traits: Mapping[str, object],
) -> WeightedPath:
    """Compare how likely `target` and the played users are to take the path of a conversation. `seed` is the seed
    of the run. Raises InputError if none of the played users can have taken the path."""
    rng = Streams(seed, (PLAYED_BY, conversation.key.topic, conversation.key.trial))
    scenario = Scenario(topic, traits, conversation.greeting)
    ours = PathFollower(played, shares, scenario, rng)
    theirs = PathFollower((target,), (1.0,), scenario, rng)
    weight, unseen = 1.0, None
    for number, decision in enumerate(_decisions(conversation), 1):
        chances, after, _ = ours.outcomes(decision.seen)
        found, then, names = theirs.outcomes(decision.seen)
        key = decision.key
        if chances.get(key, 0.0) <= 0:
            raise _impossible_path(conversation, number, decision)
        for way, chance in found.items():
            likely = weight * chance
            if (
                chance > _LEAST_PROBABILITY
                and chances.get(way, 0.0) <= 0
                and (unseen is None or likely > unseen.probability)
            ):
                where = f"{conversation.key.topic}, trial {conversation.key.trial}, user turn {number}"
                unseen = Unseen(names[way], min(likely, 1.0), where)
        weight *= found.get(key, 0.0) / chances[key]
        if not weight:
            break
        ours.follow(key, after)
        theirs.follow(key, then)
    return WeightedPath(weight, unseen, is_cut_short(conversation.outcome))


def _decisions(one: Conversation) -> Iterator[Decision]:
    seen: Observation | None = None
    for turn in one.turns:
        yield Decision(seen, turn.said, act=turn.act or turn.state, back=bool(turn.session))
        if turn.reply is None:
            return
        seen = Observation(turn.reply.answer)
    outcome = one.outcome
    # If the system ended it, or the user failed, there is no decision after the last answer.
    if outcome is not None and outcome.kind != "system-ended" and not is_cut_short(outcome):
        yield Decision(seen, None, outcome.kind, outcome.reason)


def _impossible_path(one: Conversation, number: int, decision: Decision) -> InputError:
    did = "left" if decision.outcome == LEAVES else f"ended ({decision.outcome})" if decision.said is None else "spoke"
    return InputError(
        f"{one.key.system}, {one.key.topic}, trial {one.key.trial}: at turn {number} the user {did} "
        f"({decision.act}), which no user of this run could have done",
        advice="rules or users may have changed since: `harvest relabel` shows whether rules have",
    )


def _estimate_figure(
    system: str,
    key: Key,
    measure: Measure,
    cells: Mapping[Trial, Cell],
    paths: Mapping[Trial, WeightedPath],
    why: str,
    material: Material,
    settings: Settings,
) -> FigureWithOther:
    least, most = measure.declaration.range
    topics = [topic.id for topic in material.topics.topics]
    rows: dict[str, list[tuple[float, float]]] = {topic: [] for topic in topics}
    given: dict[str, list[float]] = {topic: [] for topic in topics}
    for (topic, trial), path in paths.items():
        value, over = cells.get((topic, trial), (math.nan, 0.0))
        known = over > 0 and not path.cut and not math.isnan(value)
        rows[topic].append(((value - least) / (most - least) if known else math.nan, path.weight))
    for (topic, _), (value, over) in cells.items():
        if over > 0 and not math.isnan(value):
            given[topic].append(value)
    means = [float(np.mean(each)) for each in given.values() if each]
    played = float(np.mean(means)) if means else math.nan
    if why:
        nothing = PredictedMean(math.nan, no_interval(why), sum(map(len, given.values())), math.nan, math.nan, math.nan)
        return FigureWithOther(system, key, measure, played, nothing)
    rows = {topic: own for topic, own in rows.items() if own}
    width = max(map(len, rows.values()), default=0)
    table = np.full((2, len(rows), width), np.nan)
    for place, own in enumerate(rows.values()):
        table[:, place, : len(own)] = np.array(own).T
    numbers = cluster_numbers(list(rows), material.topics.clusters)
    found = predict_mean(
        table[0], table[1], level=settings.level, clusters=None if numbers is None else numbers.tolist()
    )
    return FigureWithOther(system, key, measure, played, _to_scale(found, least, most))


def _to_scale(found: PredictedMean, least: float, most: float) -> PredictedMean:
    if (least, most) == (0, 1):
        return found
    one, size = found.interval, most - least
    interval = Interval(
        least + size * one.low, least + size * one.high, one.method, one.resampled, one.note, one.assumes
    )
    return PredictedMean(
        least + size * found.value, interval, found.n, found.effective, found.effective_units, found.seen
    )
