"""How many topics and trials name a turn at which two systems differ: what `harvest plan --node` computes.

The pilot's conversations are folded as `harvest compare` folds them, by label. What topics are like at each turn comes
from them; the share of one branch is then changed, and each design of a grid is simulated with the test of turns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harvest.audits.audit import Audit, place_errors
from harvest.studies.plan.costs import PlanCosts, observed_costs
from harvest.studies.plan.node_paths import find_way
from harvest.studies.plan.pilot import pilot_material
from harvest.studies.plan.planning import WANTED, multiples, refuse_large
from harvest.studies.runs.sources import sources
from harvest.studies.trees.merge_keys import merging_named
from harvest.studies.trees.parted_systems import how_ended, turn_name
from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json
from recordings.log.run_folder import Run
from recordings.trees.builder import TreeBuilder
from recordings.trees.tree import ConversationTree
from scoring.settings import Settings, scoring_settings
from scoring.statistics.beta import normal_quantile
from scoring.stochastic.by_topic import by_topic
from scoring.stochastic.ends import Ends, ends_of
from scoring.stochastic.node_permutation import DRAWS
from scoring.stochastic.node_power import NodeModel, NodePower, node_model, node_power
from topics.errors import InputError
from topics.identity import generator

Counts = npt.NDArray[np.int64]

_MERGE = "label"  # that of `harvest compare`
_STUDIES, _FEWEST_STUDIES = 1000, 250
_MOST_TOPICS = 400_000  # simulated for one design
_LEAST, _MOST = 0.1, 0.995  # powers from which other numbers of topics follow


@dataclass(frozen=True, slots=True)
class NodeDesign:
    """So many topics with so many trials of each. turns: user turns for all systems. hours: at the audit's rates; NaN
    where nothing is known of how long a turn takes."""

    topics: int
    trials: int
    power: NodePower
    turns: int
    hours: float


@dataclass(frozen=True, slots=True)
class NodePlan:
    """What was planned.

    path: the turns to the node, then the branch, named as in trees. share: of the branch among those that come there,
    topics and systems of the pilot counting alike, and that of one side; changed: that of the other. spread: its
    standard deviation between topics. by_system: the pilot's shares, NaN where no trial came. came, took: its trials.
    came_topics: of which any trial came.

    systems: of the audit. designs: the grid, by topics and trials; present: the audit's own, with the mean of its
    trials; more_topics, more_trials: with twice as many of either. beyond: topics, and trials of each, with which the
    test would have the wanted power, where no design has; None where that cannot be told.
    """

    audit: str
    path: tuple[str, ...]
    share: float
    changed: float
    spread: float
    by_system: Mapping[str, float]
    came: int
    took: int
    came_topics: int
    settings: Settings
    systems: int
    designs: Sequence[NodeDesign]
    present: NodeDesign
    more_topics: NodeDesign
    more_trials: NodeDesign
    beyond: tuple[int, int] | None
    seed: int
    pilots: Sequence[Mapping[str, Json]]

    @property
    def smallest(self) -> NodeDesign | None:
        """The design of the grid with the fewest turns that has the wanted power; of several, the one with the most."""
        enough = [one for one in self.designs if one.power.found >= WANTED]
        return min(enough, key=lambda one: (one.turns, -one.power.found, one.topics), default=None)


def plan_node(
    audit: Audit,
    run: Run,
    path: str,
    *,
    detect: float,
    topics: Sequence[int] = (),
    trials: Sequence[int] = (),
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> NodePlan:
    """How often `harvest compare` names a turn at which one branch is taken more often by one of two systems.

    run: the pilot. path: turns as `harvest compare` prints them; the last is the branch, `end` for stopping. detect: by
    how many points its share differs: one system has the pilot's, the other less of it where that is over one half,
    else more. topics, trials: of the grid; () takes half, once, twice and four times the audit's. seed: of the
    simulation.

    Raises InputError for a path that the pilot does not show, or a branch that all take; for a difference beyond 0 or
    100%; where the pilot cannot tell trials from topics; and where conversations of a system depend on each other.
    """
    with place_errors(audit.document, ("scoring",)):
        settings = scoring_settings(audit.scoring, audit.topics, audit.gold, dict(changes or {}))
    alpha = round(1 - settings.level, 12)
    _refuse_untested(audit, alpha)
    finished = [one for one in pilot_material(run).finished if one.turns]
    pilot = _fold_pilot(finished, run)
    node, way = find_way(pilot.tree, pilot.ends, path)
    stops = way.branch == node
    took = pilot.ended[:, pilot.ends.find(node, way.end)] if stops else pilot.through[:, way.branch]
    share = pilot.share(took, node)
    changed = _other_share(share, detect / 100, path)
    model = node_model(
        *(pilot.tree, pilot.ended, pilot.through, pilot.system, node, way.branch, changed),
        generator(seed, "node model"),
        ends=pilot.ends,
        end=way.end,
    )
    simulation = _Simulation(model, PlanCosts(audit, observed_costs(finished)), alpha, seed)
    own = [audit.trials_with(topic) for topic in audit.topics.topics]
    count, each = len(own), max(1, round(sum(own) / len(own)))
    grid = [
        (t, n) for t in sorted(set(topics)) or multiples(count, 2) for n in sorted(set(trials)) or multiples(each, 1)
    ]
    others = [(count, each), (2 * count, each), (count, 2 * each)]
    refuse_large([(n,) * t for t, n in (*grid, *others)])
    designs = {one: simulation.design(*one) for one in dict.fromkeys([*grid, *others])}
    return NodePlan(
        audit=audit.name,
        path=(*(turn_name(pilot.tree, turn) for turn in pilot.tree.path(node)), way.title),
        share=share,
        changed=changed,
        spread=model.spread,
        by_system={name: pilot.share(took, node, at) for at, name in enumerate(pilot.systems)},
        came=int(pilot.through[:, node].sum()),
        took=int(took.sum()),
        came_topics=len(set(pilot.topic[pilot.through[:, node] > 0].tolist())),
        settings=settings,
        systems=len(audit.systems),
        designs=[designs[one] for one in grid],
        present=designs[others[0]],
        more_topics=designs[others[1]],
        more_trials=designs[others[2]],
        beyond=_beyond([designs[one] for one in grid]),
        seed=seed,
        pilots=tuple(sources([run])),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pilot:
    """Trials in one tree, a row for each topic with each system that has any. system, topic: (C,) places in names.
    through: (C, N) trials by node; ended: (C, E) by end."""

    tree: ConversationTree
    systems: tuple[str, ...]
    system: Counts
    topic: Counts
    through: Counts
    ended: Counts
    ends: Ends

    def share(self, took: Counts, node: int, system: int | None = None) -> float:
        """Of those that came to a node, topics counting alike; NaN where none came."""
        rows = slice(None) if system is None else self.system == system
        trials = self.through[rows, 0]
        came = float((self.through[rows, node] / trials).sum())
        return float((took[rows] / trials).sum()) / came if came else math.nan


def _fold_pilot(finished: Sequence[Conversation], run: Run) -> _Pilot:
    if not any(turn.label for one in finished for turn in one.turns):
        raise InputError(
            f"{run.path}: no answer has a label, and conversations are folded by labels",
            advice="play the pilot with a protocol that labels answers",
        )
    builder = TreeBuilder(merging_named(_MERGE))
    for one in finished:
        builder.add(one)
    tree = builder.tree()
    systems, topics = sorted({one.key.system for one in tree.trials}), sorted({one.key.topic for one in tree.trials})
    cells = [systems.index(one.key.system) * len(topics) + topics.index(one.key.topic) for one in tree.trials]
    used, row = np.unique(np.array(cells), return_inverse=True)
    how = how_ended(finished)
    ends = ends_of(len(tree), tree.ends, [how.get(one, "") for one in tree.trials])
    through, ended = by_topic(tree.size, tree.ends, row).T, ends.count(row, len(used))
    system, topic = np.divmod(used, len(topics))
    several = np.bincount(system[through[:, 0] > 1], minlength=len(systems))
    if several.max() < 2:
        raise InputError(
            f"{run.path}: what lies between topics cannot be told from what lies between trials",
            allowed="at least 2 topics with 2 trials each with one system",
            advice="play a pilot with more topics and trials",
        )
    return _Pilot(tree, tuple(systems), system, topic, through, ended, ends)


def _refuse_untested(audit: Audit, alpha: float) -> None:
    """What `harvest compare` does not test cannot be named."""
    if alpha * (DRAWS + 1) < 1:
        raise InputError(
            f"--level: harvest compare tests turns by {DRAWS} draws, which give no p of {alpha:g}",
            allowed=f"up to {1 - 1 / (DRAWS + 1):g}",
        )
    continued = [system.name for system in audit.systems if system.session == "continued"]
    if continued:
        raise InputError(
            f"sessions of {', '.join(continued)} go on from topic to topic, so harvest compare does not test turns",
            advice="plan %useful instead, without --node; or play with session: fresh",
        )


def _other_share(share: float, difference: float, path: str) -> float:
    """The share on the other side."""
    changed = share - difference if share > 0.5 else share + difference
    if not 0 < changed < 1:
        raise InputError(
            f"--detect: {100 * share:.1f}% take {path}; {100 * difference:g} points from there go beyond 0 or 100%",
            allowed=f"less than {100 * max(share, 1 - share):.1f} points",
        )
    return changed


@dataclass(frozen=True, slots=True)
class _Simulation:
    model: NodeModel
    costs: PlanCosts
    alpha: float
    seed: int

    def design(self, topics: int, trials: int) -> NodeDesign:
        power = node_power(
            self.model,
            topics,
            trials,
            generator(self.seed, "node power", topics, trials),
            alpha=self.alpha,
            studies=max(_FEWEST_STUDIES, min(_STUDIES, _MOST_TOPICS // topics)),
        )
        mix = (trials,) * topics
        return NodeDesign(topics, trials, power, self.costs.turns(mix), self.costs.hours(mix))


def _beyond(designs: Sequence[NodeDesign]) -> tuple[int, int] | None:
    """Topics, and trials of each, with the wanted power: z grows with the root of the number of topics."""
    known = [one for one in designs if _LEAST <= one.power.found <= _MOST]
    best = max(known, key=lambda one: one.power.found, default=None)
    if best is None:
        return None
    needed = (best.power.critical + normal_quantile(WANTED)) / (best.power.critical + normal_quantile(best.power.found))
    return math.ceil(best.topics * needed**2), best.trials
