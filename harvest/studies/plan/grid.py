"""Simulate a grid of study designs (topics × trials) under a power model.

A `PowerModel` returns what studies of one design would find. The grid chooses the designs, computes their costs,
and finds the cheapest design that suffices.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from harvest.audits.audit import Audit
from harvest.audits.system import System
from harvest.playing.plan import split_sessions
from harvest.studies.runs.sources import sources
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import SHARES, Key, share_values
from recordings.files.json_text import Json
from recordings.log.run_folder import Run
from scoring.measure import Measure
from scoring.settings import Settings, scoring_settings
from topics.counting import pluralize
from topics.errors import InputError, Place

# The wanted power: a true difference is found in four studies of five.
WANTED = 0.8

_MOST_TRIALS = 40_000  # of one design, over all topics: more takes minutes to simulate
_MULTIPLIERS = (0.5, 1, 2, 4)  # of the audit's own topics and trials: the grid

Mix = tuple[int, ...]  # trials of each topic
Simulated = TypeVar("Simulated")
Simulated_co = TypeVar("Simulated_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """The settings, the random seed and the pilot behind a plan. `pilots` describes the pilot run (see
    `harvest.studies.runs.sources`), and `material` is its content. Without a pilot, `pilots` is () and
    `material` None. `studies` is the number of studies simulated of each design; None means as many as the time
    allows."""

    settings: Settings
    seed: int
    pilots: tuple[Mapping[str, Json], ...] = ()
    material: Material | None = None
    studies: int | None = None

    @property
    def observed(self) -> tuple[float, float] | None:
        """The mean number of user turns of a pilot conversation, and the mean seconds of answering. Returns None
        without a pilot. The seconds are 0 if no times were recorded."""
        if self.material is None:
            return None
        spoken = [one for one in self.material.finished if one.turns]
        turns = sum(len(one.turns) for one in spoken)
        seconds = sum(turn.reply.seconds or 0.0 for one in spoken for turn in one.turns if turn.reply)
        return turns / len(spoken), seconds / len(spoken)


def planned_settings(audit: Audit, changes: Mapping[str, Any] | None) -> Settings:
    """Return the audit's scoring settings with `changes` from options."""
    with audit.document.add_place(("scoring",)):
        return scoring_settings(audit.scoring, audit.topics, audit.gold, dict(changes or {}))


def pilot_basis(
    settings: Settings, seed: int, run: Run, studies: int | None = None, *, asked: tuple[Measure, Key] | None = None
) -> tuple[Basis, Material]:
    """Return the basis of a plan with the pilot `run`, and the pilot's material. Raises InputError if the pilot
    lost trials depending on the system's answers, because the remaining answers do not vary like the answers of
    another run. If only the measure `asked` is planned, and no lost trial could have another value of it, as the
    first answer of conversations that were cut short later, the losses do not matter."""
    material = gather_runs(run).material
    for one in material.concentrations:
        if asked is None or _moved_by_losses(*asked, one.system, material):
            raise InputError(
                one.sentence,
                place=Place(str(run.path)),
                advice="play another pilot once the cause is removed, or plan without --from",
            )
    return Basis(settings, seed, tuple(sources([run])), material, studies), material


def _moved_by_losses(measure: Measure, key: Key, system: str, material: Material) -> bool:
    if measure.declaration not in SHARES:
        return True
    values = {name: share_values(name, material) for name in material.systems}
    topics = [topic.id for topic in material.topics.topics]
    return bool(lost_attempts(key, measure, system, values, material, topics).low)


class PowerModel(Protocol[Simulated_co]):
    """A model of studies whose topics and systems vary as stated, or like the topics and systems of a pilot."""

    @property
    def basis(self) -> Basis: ...

    def simulate(self, mix: Mix) -> Simulated_co:
        """Return what simulated studies find with the trials of each topic given by `mix`."""
        ...

    def landmarks(self, own: Mix) -> Sequence[Mix]:
        """Return designs of interest outside the grid, starting with the audit's design `own`."""
        ...


@dataclass(frozen=True, slots=True)
class Design(Generic[Simulated]):
    """A design with its simulated power and its costs. `mix` is the number of trials of each topic. `turns` is the
    number of user turns over all systems. `hours` is the duration at the audit's rates, or NaN if the duration
    of a turn is unknown."""

    mix: Mix
    power: Simulated
    turns: int
    hours: float

    @property
    def topics(self) -> int:
        return len(self.mix)

    @property
    def trials(self) -> int:
        """The number of trials of each topic, or its rounded mean if topics differ."""
        return mean_trials(self.mix)

    @property
    def is_uneven(self) -> bool:
        return len(set(self.mix)) > 1

    def __str__(self) -> str:
        each = pluralize(self.trials, "trial")
        if self.is_uneven:
            each = f"{min(self.mix)} to {max(self.mix)} trials ({sum(self.mix):,} of each system)"
        return f"{pluralize(self.topics, 'topic')} × {each}"


@dataclass(frozen=True, slots=True)
class Grid(Generic[Simulated]):
    """The simulated designs, ordered by topics and then by trials. `systems` is the number of systems in the audit,
    and `landmarks` are the model's designs of interest. `turns_at_most` is true if no pilot shows the usual
    number of turns; turns are then the maximum that the protocol allows."""

    audit: str
    systems: int
    designs: Sequence[Design[Simulated]]
    landmarks: Sequence[Design[Simulated]]
    turns_at_most: bool

    @property
    def current_design(self) -> Design[Simulated]:
        """The audit's own design."""
        return self.landmarks[0]

    def smallest_design(
        self, found: Callable[[Simulated], float], topics: int | None = None
    ) -> Design[Simulated] | None:
        """Return the design with the fewest turns that has the wanted power, or None. Among designs with equally
        few turns, the design with the most power is returned. `found` returns the power of a design. `topics`
        restricts the search to designs with this number of topics."""
        enough = [one for one in self.designs if found(one.power) >= WANTED and topics in (None, one.topics)]
        return min(enough, key=lambda one: (one.turns, -found(one.power), one.topics), default=None)


M = TypeVar("M", bound=PowerModel[Any])
M_co = TypeVar("M_co", bound=PowerModel[Any], covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Plan(Generic[M_co]):
    """A power model and the grid of designs that was simulated under it."""

    model: M_co
    grid: Grid[Any]


def plan_grid(audit: Audit, model: M, topics: Sequence[int] = (), trials: Sequence[int] = ()) -> Plan[M]:
    """Simulate every design of a grid. `topics` and `trials` are the numbers in the grid; () means half, once, twice
    and four times the audit's numbers. Raises InputError for a design that would take too long to simulate."""
    own = tuple(audit.trials_with(topic) for topic in audit.topics.topics)
    every_topics = sorted(set(topics)) or _multiples(len(own), 2)
    every_trials = sorted(set(trials)) or _multiples(mean_trials(own), 1)
    grid = [(n,) * t for t in every_topics for n in every_trials]
    landmarks = model.landmarks(own)
    every = dict.fromkeys([*grid, *landmarks])
    for mix in every:
        if sum(mix) > _MOST_TRIALS:
            raise InputError(
                f"a design of {len(mix)} topics × {mean_trials(mix)} trials is too large to simulate",
                allowed=f"up to {_MOST_TRIALS:,} trials in all",
                advice="give smaller numbers with --topics and --trials",
            )
    observed = model.basis.observed
    designs = {mix: Design(mix, model.simulate(mix), *_costs(audit, observed, mix)) for mix in every}
    own_designs, known = [designs[mix] for mix in grid], [designs[mix] for mix in landmarks]
    return Plan(model, Grid(audit.name, len(audit.systems), own_designs, known, observed is None))


def mean_trials(mix: Mix) -> int:
    return max(1, round(sum(mix) / len(mix)))


def even_mix(mix: Mix) -> Mix:
    """Return a design with the same number of topics, each with the mean number of trials."""
    return (mean_trials(mix),) * len(mix)


def doubled_mixes(mix: Mix) -> list[Mix]:
    """Return the design itself, the design with twice the topics, and the design with twice the trials of each
    topic."""
    return [mix, mix + mix, tuple(2 * trials for trials in mix)]


def _multiples(own: int, least: int) -> list[int]:
    return sorted({max(least, round(own * times)) for times in _MULTIPLIERS})


def _costs(audit: Audit, observed: tuple[float, float] | None, mix: Mix) -> tuple[int, float]:
    """Return the number of user turns over all systems, and the hours of the slowest system. Systems are played at
    the same time, but the groups of a system share its rate. Without a pilot, turns are the maximum that the
    protocol allows. Hours are NaN if the duration of a turn is unknown."""
    most = [audit.protocol.most_turns(topic) for topic in audit.topics.topics]
    turns = observed[0] if observed else sum(most) / len(most)
    groups = len(audit.played) // len(audit.systems)
    conversations, seconds = sum(mix) * groups, []
    for system in audit.systems:
        limits = system.limits
        at_once = limits.concurrency
        if system.session == "continued":
            at_once = min(at_once, _count_sessions(audit, system, mix) * groups)
        paced = limits.spacing * turns * conversations
        if observed:
            seconds.append(max(paced, observed[1] * conversations / at_once))
        else:
            seconds.append(paced or math.nan)
    return round(turns * sum(mix) * len(audit.played)), max(seconds) / 3600


def _count_sessions(audit: Audit, system: System, mix: Mix) -> int:
    """Return the number of a continued system's sessions with one group. A design with more topics than the audit has
    the audit's topics repeatedly."""
    topics = audit.topics.topics
    return sum(
        1
        for trial in range(max(mix))
        for _ in split_sessions(
            [(place, topics[place % len(topics)]) for place, trials in enumerate(mix) if trial < trials],
            system,
            audit.protocol,
        )
    )
