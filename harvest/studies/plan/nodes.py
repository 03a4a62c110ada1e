"""Plan the topics and trials that identify a turn at which two systems differ: the power for one branch of a tree.

The pilot's conversations are merged into a tree by label, as in `harvest compare`. The tree shows how each topic
behaves at each turn. Two systems with different shares of one branch are then simulated for each design of a grid,
and the test of turns is applied.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from rich.text import Text

from harvest.audits.audit import Audit
from harvest.studies.plan import grid as grids
from harvest.studies.plan import words
from harvest.studies.plan.grid import Basis, Design, Grid, Mix, Plan
from harvest.studies.plan.node_paths import ARROW, find_way
from harvest.studies.plan.words import Words
from harvest.studies.trees.folded_trees import merging_named
from harvest.studies.trees.parted_systems import ending_names, turn_name
from harvest.terminal import printable
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import Run
from recordings.trees.builder import TreeBuilder
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.statistics.beta import normal_quantile
from scoring.stochastic.node_permutation import DRAWS
from scoring.stochastic.node_power import MOST_TESTED, NodeModel, NodePower, node_model, node_power
from scoring.stochastic.parting import Ends, find_ends, visits_by_topic
from topics.arrays import Counts
from topics.counting import pluralize
from topics.decimals import decimal, percent
from topics.errors import InputError
from topics.identity import generator

_MERGE = "label"  # that of `harvest compare`
_STUDIES, _FEWEST_STUDIES = 1000, 250
_MOST_TOPICS = 400_000  # simulated for one design
_LEAST, _MOST = 0.1, 0.995  # powers from which other numbers of topics are extrapolated


@dataclass(frozen=True, slots=True, eq=False)
class BranchModel:
    """A power model of one branch in a conversation tree.

    `path` has the turns to the node and then the branch, named as in printed trees. `share` is the share of trials
    at the node that take the branch, with the pilot's topics and systems weighted equally. One simulated system
    takes the branch with `share`, and the second system with `changed`. `by_system` has the share of each pilot
    system, or NaN if none of its trials reached the node. `came` is the number of trials that reached the node, and
    `took` the number of trials that took the branch. `came_topics` is the number of topics with a trial that
    reached the node.
    """

    basis: Basis
    nodes: NodeModel
    path: tuple[str, ...]
    share: float
    changed: float
    by_system: Mapping[str, float]
    came: int
    took: int
    came_topics: int
    details: Collection[str] = ("z that is needed",)

    def landmarks(self, own: Mix) -> list[Mix]:
        return grids.doubled_mixes(grids.even_mix(own))

    def simulate(self, mix: Mix) -> NodePower:
        """Simulate studies in which every topic has the same number of trials."""
        topics, trials, studies = len(mix), mix[0], self.basis.studies
        return node_power(
            self.nodes,
            topics,
            trials,
            generator(self.basis.seed, "node power", topics, trials),
            alpha=round(1 - self.basis.settings.level, 12),
            studies=studies or max(_FEWEST_STUDIES, min(_STUDIES, _MOST_TOPICS // topics)),
            tested=MOST_TESTED if studies is None else studies // 4,
        )

    def smallest(self, grid: Grid[NodePower]) -> Design[NodePower] | None:
        return grid.smallest_design(lambda power: power.found)

    def extrapolate(self, grid: Grid[NodePower]) -> tuple[int, int] | None:
        """Extrapolate a number of topics, and a number of trials of each topic, with the wanted power. z is assumed
        to grow with the square root of the number of topics. Returns None if no design of the grid allows this
        extrapolation."""
        known = [one for one in grid.designs if _LEAST <= one.power.found <= _MOST]
        best = max(known, key=lambda one: one.power.found, default=None)
        if best is None:
            return None
        critical, found = best.power.critical, best.power.found
        needed = (critical + normal_quantile(grids.WANTED)) / (critical + normal_quantile(found))
        return math.ceil(best.topics * needed**2), best.trials

    @property
    def notes(self) -> Sequence[str]:
        if len(self.by_system) < 2:
            return ()
        each = ", ".join(
            f"{printable(name, line=True)} {words.in_percent(one)}" for name, one in self.by_system.items()
        )
        return (f"in the pilot, {each}; their mean is simulated",)

    @property
    def title(self) -> str:
        """The printed path, such as `U ask → S o`."""
        return printable(ARROW.join(self.path), line=True)

    @property
    def subject(self) -> Mapping[str, Any]:
        return {"node": self.title, "detect": abs(self.share - self.changed)}

    def figures(self, design: Design[NodePower]) -> Iterator[Mapping[str, Any]]:
        power = design.power
        yield {"figure": "power", "unit": "share", "estimand": "these", "estimate": power.found}
        yield {"figure": "error of the power", "unit": "share", "estimand": "these", "estimate": power.found_error}
        yield {"figure": "trials that come there", "unit": "count", "estimate": power.come}
        yield {"figure": "z that is needed", "unit": "value", "estimate": power.critical}

    def head(self, grid: Grid[NodePower]) -> dict[str, Any]:
        smallest, beyond = self.smallest(grid), self.extrapolate(grid)
        return {
            "node": list(self.path),
            "estimand": "these",
            "pilot": {
                "share": words.simulated(self.share),
                "spread": words.simulated(self.nodes.spread),
                "came": self.came,
                "took": self.took,
                "topics": self.came_topics,
                "by_system": {name: words.simulated(share) for name, share in self.by_system.items()},
            },
            "changed": words.simulated(self.changed),
            "difference": words.simulated(abs(self.share - self.changed)),
            "smallest": {"topics": smallest.topics, "trials": smallest.trials} if smallest else None,
            "beyond": {"topics": beyond[0], "trials": beyond[1]} if beyond else None,
        }

    def answer(self, grid: Grid[NodePower]) -> str:
        """Return a sentence on whether topics or trials help more, and whether any design of the grid suffices."""
        now, topics, trials = (one.power for one in grid.landmarks)
        if now.found >= grids.WANTED:
            said = f"Neither: {grid.current_design} names {self.title} in {words.in_percent(now.found)} of studies"
        else:
            said = (
                f"{words.more_helpful(topics, trials).capitalize()}: twice the topics would name {self.title} in "
                f"{words.in_percent(topics.found)} of studies instead of {words.in_percent(now.found)}, "
                f"twice the trials in "
                f"{words.in_percent(trials.found)}"
            )
        enough = "" if self.smallest(grid) else "; no design below names it in 4 studies of 5"
        return f"Topics or trials? {said}{enough}."

    def words(self, grid: Grid[NodePower]) -> Words[NodePower]:
        smallest, beyond = self.smallest(grid), self.extrapolate(grid)
        if smallest is not None:
            advice = words.cheapest_design(grid, smallest, "names it", words.in_percent(smallest.power.found))
        elif beyond is None:
            advice = "Too few conversations come there in these designs to say how many would do."
        else:
            advice = f"About {beyond[0]:,} topics with {pluralize(beyond[1], 'trial')} of each would."
        difference = words.points(round(100 * abs(self.share - self.changed), 6))
        errors = [one.power.found_error for one in grid.designs]
        legend = [
            "named: share of simulated studies in which `harvest compare` names this turn, with p at most "
            f"{1 - self.basis.settings.level:.3g} corrected over all turns tested{words.error_words(errors)}; "
            "bold from "
            f"{words.in_percent(grids.WANTED)}",
            "it speaks of the topics that are played; they are simulated to vary as the pilot's do",
        ]
        if any(map(math.isnan, errors)):
            legend.append(
                "no test: a topic needs several trials, and a turn conversations that could make p small enough"
            )
        return Words(
            advice=[advice],
            grounds=[
                f"from the pilot: of {pluralize(self.came, 'trial')} of {pluralize(self.came_topics, 'topic')} that "
                f"came there, {self.took} took {printable(self.path[-1], line=True)}; topics counting alike, "
                f"{percent(self.share, 1)}, with a spread between topics of {decimal(100 * self.nodes.spread, 1)} "
                "points",
                f"to be found: {percent(self.changed, 1)} with one system and {percent(self.share, 1)} with the other, "
                f"a difference of {difference}",
            ],
            tables=[
                ("named", lambda one: words.share_cell(one.power.found)),
                ("trials of one system that come there", lambda one: Text(f"{one.power.come:,.0f}")),
            ],
            legend=[*legend, *([words.ONE_SYSTEM] if grid.systems == 1 else [])],
        )


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
    studies: int | None = None,
) -> Plan[BranchModel]:
    """Plan a study in which `harvest compare` finds the turn where one system takes a branch more often.

    `run` is the pilot. `path` has turns as `harvest compare` prints them; its last turn is the branch, or `end` for
    conversations that stop. `detect` is the difference between the two systems' shares of the branch, in points.
    The first system has the pilot's share. The second system has a smaller share if the pilot's share is above one
    half, and otherwise a larger share. `topics` and `trials` are the numbers in the grid; () means half, once,
    twice and four times the audit's numbers. `studies` is the number of studies simulated of each design; None
    means 250 to 1,000, as the number of topics allows.

    Raises InputError for a path that is not in the pilot, for a branch that all trials take, for a share outside 0
    to 100%, if the pilot cannot separate variance between trials from variance between topics, and if sessions
    continue.
    """
    settings = grids.planned_settings(audit, changes)
    alpha = round(1 - settings.level, 12)
    # `harvest compare` names only turns that it tests.
    if alpha * (DRAWS + 1) < 1:
        raise InputError(
            f"--level: harvest compare tests turns with {DRAWS} draws, which cannot give a p of {alpha:g}",
            allowed=f"up to {1 - 1 / (DRAWS + 1):g}",
        )
    continued = [system.name for system in audit.systems if system.session == "continued"]
    if continued:
        raise InputError(
            f"sessions of {', '.join(continued)} continue from topic to topic, so harvest compare does not test turns",
            advice="plan %useful instead, without --node; or play with session: fresh",
        )
    basis, material = grids.pilot_basis(settings, seed, run, studies)
    pilot = _Pilot.merge_trials([one for one in material.finished if one.turns], run)
    node, way = find_way(pilot.tree, pilot.ends, path)
    stops = way.branch == node
    took = pilot.ended[:, pilot.ends.find(node, way.end)] if stops else pilot.through[:, way.branch]
    share, difference = pilot.share(took, node), detect / 100
    changed = share - difference if share > 0.5 else share + difference
    if not 0 < changed < 1:
        raise InputError(
            f"--detect: {percent(share, 1)} take {path}, and {100 * difference:g} points more or fewer would "
            "go beyond 0 or 100%",
            allowed=f"less than {decimal(100 * max(share, 1 - share), 1)} points",
        )
    nodes = node_model(
        *(pilot.tree, pilot.ended, pilot.through, pilot.system, node, way.branch, changed),
        generator(seed, "node model"),
        ends=pilot.ends,
        end=way.end,
    )
    model = BranchModel(
        basis=basis,
        nodes=nodes,
        path=(*(turn_name(pilot.tree, turn) for turn in pilot.tree.path(node)), way.title),
        share=share,
        changed=changed,
        by_system={name: pilot.share(took, node, at) for at, name in enumerate(pilot.systems)},
        came=int(pilot.through[:, node].sum()),
        took=int(took.sum()),
        came_topics=len(set(pilot.topic[pilot.through[:, node] > 0].tolist())),
    )
    return grids.plan_grid(audit, model, topics, trials)


@dataclass(frozen=True, slots=True, eq=False)
class _Pilot:
    """The pilot's trials in one tree, with a row for each combination of topic and system that has trials. `system`
    and `topic` have indices, of shape (C,). `through` counts trials by node, of shape (C, N). `ended` counts
    trials by ending, of shape (C, E)."""

    tree: ConversationTree
    systems: tuple[str, ...]
    system: Counts
    topic: Counts
    through: Counts
    ended: Counts
    ends: Ends

    def share(self, took: Counts, node: int, system: int | None = None) -> float:
        """Return the share of trials at a node that `took` a branch, with topics weighted equally; NaN without
        trials."""
        rows = slice(None) if system is None else self.system == system
        trials = self.through[rows, 0]
        came = float((self.through[rows, node] / trials).sum())
        return float((took[rows] / trials).sum()) / came if came else math.nan

    @classmethod
    def merge_trials(cls, finished: Sequence[Conversation], run: Run) -> Self:
        """Merge the pilot's trials into a tree. Raises InputError if no answer has a label, and if no system has
        two topics with several trials."""
        if not any(turn.label for one in finished for turn in one.turns):
            raise InputError(
                f"{run.path}: no answer has a label by which conversations could be merged",
                advice="play the pilot with a protocol that labels answers",
            )
        builder = TreeBuilder(merging_named(_MERGE))
        for one in finished:
            builder.add(one)
        tree = builder.tree()
        systems = sorted({one.key.system for one in tree.trials})
        topics = sorted({one.key.topic for one in tree.trials})
        cells = [systems.index(one.key.system) * len(topics) + topics.index(one.key.topic) for one in tree.trials]
        used, row = np.unique(np.array(cells), return_inverse=True)
        how = ending_names((FoldedTrial(one.key, one.attempt), one) for one in finished)
        ends = find_ends(len(tree), tree.ends, [how.get(one, "") for one in tree.trials])
        through, ended = visits_by_topic(tree.size, tree.ends, row).T, ends.count(row, len(used))
        system, topic = np.divmod(used, len(topics))
        several = np.bincount(system[through[:, 0] > 1], minlength=len(systems))
        if several.max() < 2:
            raise InputError(
                f"{run.path}: the variance between topics cannot be separated from the variance between trials",
                allowed="at least 2 topics with 2 trials each of one system",
                advice="play a pilot with more topics and trials",
            )
        return cls(tree, tuple(systems), system, topic, through, ended, ends)
