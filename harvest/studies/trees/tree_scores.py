"""Scores of a tree's trials: the mean on each branch, and the part of the variance that each turn determines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.scores.trial_values import read_single
from recordings.conversations.conversation import TrialKey
from recordings.trees.preorder import depths
from recordings.trees.tree import ConversationTree
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import INDEPENDENT, Design
from scoring.inference.interval import Interval
from scoring.library import declared, list_forms, single_measures
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.stochastic.decomposition import Contributions, Spread, contributions, spread
from scoring.stochastic.paths import sum_below
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema, load_schema
from scoring.swan.scorers import CORRECTED, UNCHECKED
from topics.counting import pluralize
from topics.decimals import percent
from topics.errors import InputError
from topics.gold import GoldTable
from topics.identity import generator


@dataclass(frozen=True, slots=True, eq=False)
class TreeScores:
    """The scores of a tree's trials. `n` of the `trials` have a value. `counts`, of shape (N,), has the number of
    trials with a value that pass through each node. `parts` are the contributions of the nodes, and `over` is
    the variance that each turn determines. `interval` is the interval of the mean over all trials, from
    resampling topics or, if there is only one topic, trials."""

    measure: str
    n: int
    trials: int
    parts: Contributions
    over: Spread
    counts: npt.NDArray[np.int64]
    tree: ConversationTree
    interval: Interval
    level: float

    def means(self) -> tuple[str, ...]:
        """Return, for each node, the mean score of the trials that pass through it, or "" if no trial has a value."""
        return tuple("" if math.isnan(mean) else f"{mean:.4f}".removeprefix("0") for mean in self.parts.mean.tolist())

    def partial(self) -> tuple[str, ...]:
        """Return, for each node, `n=75`, the number of trials behind the mean, or "" if every trial has a value."""
        pairs = zip(self.counts.tolist(), self.tree.visits.tolist(), strict=True)
        return tuple(f"n={count}" if count != visits else "" for count, visits in pairs)

    def columns(self) -> dict[str, Sequence[object]]:
        """Return columns for the edges of a graph, with NaN if no trial with a value passes through a node."""
        parts = self.parts
        return {
            "score_n": self.counts.tolist(),
            "score_mean": parts.mean.tolist(),
            "score_contribution": parts.contribution.tolist(),
            "score_effect": parts.effect.tolist(),
        }

    def sentences(self) -> tuple[str, ...]:
        """Describe the score and its variance."""
        if not self.n:
            return (f"{self.measure}: none of {pluralize(self.trials, 'trial')} has a value",)
        left = self.trials - self.n
        first = f"{self.measure}: mean {float(self.parts.mean[0]):.4f}{self._interval()}"
        first += f"; {left} {'have' if left != 1 else 'has'} none" if left else ""
        if math.isnan(self.over.total):
            return (f"{first}; its spread cannot be estimated from one value",)
        if self.over.total == 0:
            return (f"{first}; all trials have the same value",)
        said = [f"{first}; standard deviation {math.sqrt(self.over.total):.4f}"]
        if self.over.undecided >= self.over.total:
            return (*said, "the turn that determines its variance is undecided: no two trials took the same path")
        turns = [f"{share} by {turn}" for turn, share in self._settling_turns()]
        rest = min(self.over.rest / self.over.total, 1.0)  # an estimate can be beyond, by chance
        if rest >= 0.005:
            turns.append(f"{percent(rest)} not determined by the path")
        if self.over.undecided > 0:
            turns.append(
                f"{percent(self.over.undecided / self.over.total)} is undecided: no two trials took the same path"
            )
        said.append(f"of its variance: {', '.join(turns)} ({self.over.estimate} estimate)")
        return tuple(said)

    def _interval(self) -> str:
        """Return text such as ` [.4321, .5678] over 75 trials (95% …)`, or the reason for having no interval."""
        found, over = self.interval, f"over {pluralize(self.n, 'trial')}"
        if math.isnan(found.low):
            return f" {over} (no interval: {found.note.removeprefix('no interval: ')})"
        ends = ", ".join(f"{end:.4f}".removeprefix("0") for end in (found.low, found.high))
        return f" [{ends}] {over} ({100 * self.level:g}% {found.method})"

    def _settling_turns(self) -> list[tuple[str, str]]:
        """Return the turns, such as `U1` or `S1`, that determine part of the variance, each with its share."""
        depth = depths(self.tree.parent)
        counts = {"user": 0, "system": 0}
        found = []
        for at, share in enumerate(self.over.shares.tolist(), 1):
            speaker = self.tree.speaker(int(np.flatnonzero(depth == at)[0]))
            counts[speaker] += 1
            if share >= 0.005:  # an estimate can be below 0, by chance
                found.append((f"{speaker[0].upper()}{counts[speaker]}", percent(share)))
        return found


def tree_scores(
    tree: ConversationTree,
    measure: Term,
    values: Mapping[TrialKey, float],
    *,
    level: float = 0.95,
    design: Design = INDEPENDENT,
) -> TreeScores:
    """Attach scores to a tree. `values` has a score for each trial. Trials without a value, or with NaN, are left
    out and counted. `level` is the confidence level of the mean's interval, and `design` describes how the
    trials depend on each other."""
    known = [values.get(trial.key, math.nan) for trial in tree.trials]
    kept = [place for place, value in enumerate(known) if not math.isnan(value)]
    ends, given = tree.ends[kept], [known[place] for place in kept]
    parts, over = contributions(tree.parent, ends, given), spread(tree.parent, ends, given)
    counts = sum_below(tree.parent, np.bincount(ends, minlength=len(tree))).astype(np.int64)
    interval = _interval([tree.trials[place].key for place in kept], given, measure, level, design)
    return TreeScores(str(measure), len(kept), len(known), parts, over, counts, tree, interval, level)


def _interval(
    trials: Sequence[TrialKey], values: Sequence[float], measure: Term, level: float, design: Design
) -> Interval:
    """Return the interval of the mean over trials, a ratio of sums over topics. Topics with more trials weigh more."""
    topics = list(dict.fromkeys(key.topic for key in trials))
    unit = "topic" if len(topics) != 1 else "trial"
    names = topics if unit == "topic" else [str(key.trial) for key in trials]
    place = {name: row for row, name in enumerate(names)}
    rows = [place[key.topic if unit == "topic" else str(key.trial)] for key in trials]
    above, below = (np.bincount(rows, weights=part, minlength=len(names)) for part in (values, np.ones(len(rows))))
    resampler = Resampler(generator(0, "tree", str(measure)), level=level)
    of = declared(measure.name)
    top = 1.0 if of is None or of.has_top else math.inf
    fewest = 0 if of is None else of.fewest_topics
    if unit == "topic" and not design.has_independent_topics(topics):
        columns = {number: at for at, number in enumerate(sorted({key.trial for key in trials}))}
        cells = np.full((len(names), len(columns), 1), np.nan)
        for row, key, value in zip(rows, trials, values, strict=True):
            cells[row, columns[key.trial]] = value
        counted = np.where(np.isnan(cells), np.nan, 1.0)
        return resampler.with_design(design).ratios(names, cells, counted, top=top, fewest=fewest)[0]
    return resampler.ratios(names, above[:, None, None], below[:, None, None], top=top, fewest=fewest, unit=unit)[0]


@dataclass(frozen=True, slots=True)
class TrialScores:
    """The values of a measure by trial, NaN if undefined. `notes` are sentences about whose judgments were used."""

    values: Mapping[TrialKey, float]
    notes: tuple[str, ...] = ()


def trial_values(
    material: Material, measure: Term, *, gold: GoldTable | None = None, judges: Precedence | None = None
) -> Mapping[TrialKey, float]:
    """Return the values of a measure by trial, as in `trial_scores`."""
    return trial_scores(material, measure, gold=gold, judges=judges).values


def trial_scores(
    material: Material,
    measure: Term,
    *,
    gold: GoldTable | None = None,
    schema: Schema | None = None,
    judges: Precedence | None = None,
) -> TrialScores:
    """Score each conversation by a measure. `gold` replaces the run's gold table, and `schema` the shipped schema of
    SWAN; `judges` selects whose judgments and nuggets count. Raises InputError if the measure has no value for a
    single conversation, or if no conversation of the run has a value."""
    schema = schema or load_schema(SHIPPED)
    asked = read_single(measure, Settings(), material.topics, schema, ())
    one = asked[0].declaration
    if len(asked) != 1:
        raise InputError(
            f"{measure} stands for several measures, but a branch has one score",
            allowed=", ".join(str(each.base) for each in asked),
        )
    if material.gold is None and gold is None and "gold" in one.needs:
        raise InputError(
            f"{measure} has no value here: the run has no gold table",
            allowed=f"measures without gold: {list_forms(one for one in single_measures() if 'gold' not in one.needs)}",
            advice="name a gold table: --gold NAME or --gold FILE.csv",
        )
    table = score_material(
        material, {"replications": 100}, gold=gold, measures=[measure], only=True, schema=schema, judges=judges
    )
    rows = [row for row in table.rows if row.topic is not None and row.trial is not None and row.turn is None]
    values = {TrialKey(row.system, str(row.topic), int(row.trial or 0)): row.value for row in rows}
    if all(math.isnan(value) for value in values.values()):
        raise InputError(
            f"{measure} has no value in any conversation of this run"
            + (", which has no gold table" if material.gold is None and gold is None else ""),
            advice=f"see what the measure needs: harvest score RUN --measure '{measure}'",
        )
    of_systems = (row for row in table.rows if row.scorers and row.topic is None and row.trial is None)
    # The scores of branches are those of single trials, which are not corrected.
    raw = (replace(row, scorers=str(row.scorers).replace(CORRECTED, UNCHECKED)) for row in of_systems)
    named = dict.fromkeys(f"{row.system}: {row.label}" for row in raw)
    return TrialScores(values, (*named, *table.coverage))
