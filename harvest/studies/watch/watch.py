"""Compare an audit with a blessed baseline: what changed, what stayed the same, and what is undecided.

Three things are reported separately for each system: its **figures** (gated ones may raise an alarm; others are only
shown), its **coverage** (trials without a valid answer, lost topics), and **what is not comparable** (another
protocol, topics, scoring or definition of the system).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.scores.lost_attempts import loss_words
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_figures import Figure, cut_reaches, figure_values, figures_of
from harvest.studies.validity.concentrations import changed_losses, loss_table
from harvest.studies.validity.user_card import changed_users
from harvest.studies.watch.baseline import BaselineFile, SystemBaseline, identities, models_of, refuse_other_audit, ways
from harvest.studies.watch.changes import ChangedTopic, ChangedTurn, changed_topics, changed_turns
from harvest.studies.watch.history import (
    MATTERS,
    Look,
    LookFigure,
    LookSystem,
    WatchRules,
    looks_before,
    own_look,
    state_after,
)
from recordings.files.times import moment
from recordings.log.run_folder import Run
from scoring.inference.drift import SAME_BUDGET, Baseline, Difference, difference
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.inference.settling import Settling, trials_to_settle
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import Judged, JudgingRules, Verdict, Word, judge, word_of
from scoring.notation import parse_all
from scoring.settings import Settings
from scoring.statistics.exchange import false_discovery
from scoring.statistics.stratified import compare_within
from topics.counting import pluralize
from topics.errors import Place

Floats = npt.NDArray[np.float64]

# Share of a baseline's conversations that failures of users may have cut short, as for `harvest bless`.
MOST_BLESSED = 0.05

# Runs that a baseline needs before its alarms count: fewer say too little of how much audits differ by themselves.
SHADOW = FEWEST_RUNS


@dataclass(frozen=True, slots=True)
class Over:
    """The topics behind a figure, if some have no value on both sides.

    topics: topics compared. now: topics with a value in this audit, over which `value` and `n` are computed. blessed:
    topics of the baseline, over which `before` is computed.
    """

    topics: int
    now: int
    value: float
    n: int
    blessed: int
    before: float


@dataclass(frozen=True, slots=True)
class WatchedFigure:
    """A figure of an audit beside its baseline.

    value, before: now and in the baseline, over these topics. n: trials now. levels: evidence for a drop and for a
    rise over all looks since it was last reset, as a share of the alarm threshold; NaN if not gated. verdict:
    `changed` only after an alarm that another audit confirmed, and if this audit's interval agrees. alarm: one was
    raised and is not confirmed. settles: how many more trials would settle an undecided figure. q: for a figure that
    is only shown, the false discovery rate at which its difference counts as found; otherwise NaN. evidence: of this
    audit.

    judged: for a gated figure, the audit and the state of the watch before and after it. over: None if the same
    topics have a value now and in the baseline. cut: how far below and above the value could be, given the
    conversations that failing users cut short.
    """

    name: str
    gated: bool
    value: float
    before: float
    n: int
    difference: Difference
    levels: tuple[float, float]
    verdict: Verdict
    alarm: bool
    settles: Settling
    q: float
    evidence: Floats | None
    judged: Judged | None = None
    matters: float = MATTERS
    over: Over | None = None
    cut: tuple[float, float] = (0.0, 0.0)

    @property
    def word(self) -> Word:
        """The verdict in one word."""
        before = WatchState() if self.judged is None else self.judged.before
        return word_of(self.verdict, before, self.state, self.difference, self.matters, alarm=self.alarm)

    @property
    def state(self) -> WatchState:
        """The state of the watch after this audit."""
        return WatchState() if self.judged is None else self.judged.state

    def noted(self) -> LookFigure:
        """Return the figure's part of a line in the history."""
        kept = None if self.evidence is None else (tuple(self.evidence[0].tolist()), tuple(self.evidence[1].tolist()))
        found, known = self.difference, self.difference.interval.printed
        return LookFigure(
            value=self.value,
            n=self.n,
            low=found.low if known else None,
            high=found.high if known else None,
            evidence=kept,
            verdict=self.verdict,
            alarm=self.alarm,
            word=self.word,
            these=None if known or math.isnan(found.these_low) else (found.these_low, found.these_high),
            difference=found.value,
            own=found.own,
            confirms=None if self.judged is None else self.judged.seen.confirms,
            waits=self.state.waits,
            left=found.left,
            spent=found.spent,
            cut=self.cut if any(self.cut) else None,
        )


@dataclass(frozen=True, slots=True)
class WatchedSystem:
    """A system of an audit beside its baseline.

    incomparable: why it cannot be compared; else "". planned, valid: trials now. lost: baseline topics that were
    asked and have no valid trial. unasked: baseline topics that were not asked. coverage: True if the share of valid
    trials fell significantly (p ≤ .01). continued: sessions continue from topic to topic, so trials are dependent.
    models: names of the models that answered, before and now; () if the system gave none.
    """

    name: str
    incomparable: str
    planned: int
    valid: int
    lost: tuple[str, ...]
    unasked: tuple[str, ...]
    coverage: bool
    figures: tuple[WatchedFigure, ...] = ()
    topics: tuple[ChangedTopic, ...] = ()
    turns: tuple[ChangedTurn, ...] = ()
    continued: bool = False
    models: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def measured(self) -> bool:
        """True if the system could be measured."""
        return bool(self.valid) and not self.incomparable

    @property
    def missing(self) -> bool:
        """True if a baseline topic without a valid trial leaves something undecided."""
        return bool(self.lost or self.unasked)

    @property
    def told(self) -> bool:
        """True if every topic and gated figure was decided."""
        return (
            self.measured
            and not self.missing
            and all(one.verdict != "cannot tell" for one in self.figures if one.gated)
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict over the gated figures."""
        found = {one.verdict for one in self.figures if one.gated}
        if "changed" in found:
            return "changed"
        return "same" if found == {"same"} and not self.missing and not self.incomparable else "cannot tell"


@dataclass(frozen=True, slots=True)
class Watched:
    """An audit compared with its baseline. shadow: alarms do not count yet. look: number of this audit since the
    baseline. noted: its line in the history.
    """

    baseline: BaselineFile
    shadow: bool
    look: int
    rules: WatchRules
    level: float
    systems: tuple[WatchedSystem, ...]
    noted: Look

    @property
    def matters(self) -> float:
        """The smallest difference that matters."""
        return self.rules.matters

    @property
    def measured(self) -> bool:
        """True if every system could be measured; one that could not is not called the same."""
        return bool(self.systems) and all(one.measured for one in self.systems)

    @property
    def verdict(self) -> Verdict:
        found = {one.verdict for one in self.systems}
        return "changed" if "changed" in found else "same" if found == {"same"} else "cannot tell"

    def code(self, *, strict: bool) -> int:
        """Return the exit code: 1 if something changed and alarms count; 3 if a system could not be measured or, with
        strict, something is undecided; otherwise 0.
        """
        if self.verdict == "changed" and not self.shadow:
            return 1
        return 3 if not self.measured or (strict and not all(one.told for one in self.systems)) else 0


def watch(
    run: Run | Gathered,
    baseline: BaselineFile,
    history: Sequence[Look] = (),
    *,
    rules: WatchRules | None = None,
    name: str = "",
    seed: int = 0,
) -> Watched:
    """Compare `run`, which may be gathered already, with the baseline.

    history: looks, of which those at this baseline before this run count, and the one at this run with fewer trials.
    rules: None for the defaults. name: of the run in the history. Raises InputError for a run of another audit.
    """
    rules = rules or WatchRules()
    gathered = gather_runs(run)
    (run,) = gathered.runs
    refuse_other_audit(run.header, baseline, Place(str(run.path)))
    material, settings = gathered.material, gathered.settings
    at = run.header.created_at
    past = looks_before(history, baseline.identity, at)
    audit = _Audit(run, baseline, material, settings, past, own_look(history, baseline.identity, at), rules, seed)
    found = {system: audit.system(system, before) for system, before in baseline.systems.items()}
    noted = {system: look for system, (_, look) in found.items()}
    line = Look(at=at, run=name or run.path.name, baseline=baseline.identity, systems=noted, rules=rules)
    shadow = not rules.enforce and len(baseline.runs) < SHADOW
    systems = tuple(one for one, _ in found.values())
    return Watched(baseline, shadow, len(past) + 1, rules, settings.level, systems, line)


@dataclass(frozen=True)
class _Audit:
    """An audit, its baseline and the rules by which they are compared."""

    run: Run
    baseline: BaselineFile
    material: Material
    settings: Settings
    past: tuple[Look, ...]
    own: Look | None
    rules: WatchRules
    seed: int

    @cached_property
    def otherwise(self) -> str:
        """Why nothing can be compared; "" if it can."""
        now = identities(self.run)
        changed = ["protocol"] * (now["protocol"] != self.baseline.protocol)
        changed += ["scoring"] * (self.settings.as_json() != self.baseline.scoring)
        return f"another {' and another '.join(changed)} than the baseline's" if changed else ""

    @cached_property
    def reworded(self) -> frozenset[str]:
        """Topics whose text differs from the baseline's."""
        now = identities(self.run)["topics"]
        assert isinstance(now, Mapping)
        return frozenset(topic for topic, own in self.baseline.topics.items() if now.get(topic, own) != own)

    @cached_property
    def figures(self) -> tuple[tuple[Figure, bool], ...]:
        """The figures of the baseline, gated ones first, and whether each is gated."""
        gated, ground = self.baseline.gated, (self.settings, self.material)
        terms = [term for name in gated for term in parse_all(name)]
        found = [(one, True) for one in figures_of(terms, *ground, gated=True) if one.name in gated]
        rest = [(one, False) for one in figures_of((), *ground, gated=False) if one.name not in gated]
        return (*found, *rest)

    def system(self, name: str, before: SystemBaseline) -> tuple[WatchedSystem, LookSystem]:
        """Return a system beside its baseline, and its part of the history."""
        own = [one for one in self.material.finished if one.key.system == name and one.key.topic not in self.reworded]
        planned, valid = sum(key.system == name for key in self.material.planned), len(own)
        missing = set(self.baseline.topics) - {one.key.topic for one in own}
        asked = {key.topic for key in self.material.planned if key.system == name}
        asked |= {one.key.topic for one in self.material.conversations if one.key.system == name}
        lost, unasked = tuple(sorted(missing & asked)), tuple(sorted(missing - asked))
        fell = _fell((before.valid, before.planned), (valid, planned))
        why = self._incomparable(name, before)
        if why or not own:
            return WatchedSystem(name, why, planned, valid, lost, unasked, fell), LookSystem(
                planned=planned, valid=valid
            )
        cut = cut_reaches(name, self.material, [one for one, _ in self.figures], self.settings)
        values = figure_values(name, self.material, [one for one, _ in self.figures], self.settings)
        watched: list[WatchedFigure] = []
        for figure, gated in self.figures:
            known = before.figures.get(figure.name)
            every = values[figure.name]
            cells = {topic: own for topic, own in every.items() if known and topic in known.topics}
            if known is not None and cells:
                one = self._figure(name, figure, known.of(list(cells)), list(cells.values()), gated=gated)
                if len(cells) < max(len(every), len(known.topics)):
                    one = replace(one, over=_over(cells, every, known.of(list(known.topics))))
                one = _widened(one, cut.get(figure.name, (0.0, 0.0)), self.rules.matters)
                watched.append(one)
        watched = _with_discoveries(watched)
        now = ways(own)
        told = (
            tuple(changed_topics(before.counted(), now)),
            tuple(changed_turns(before.counted(), now, self.settings.level, self.seed)),
        )
        noted = {one.name: one.noted() for one in watched}
        return (
            WatchedSystem(
                *(name, "", planned, valid, lost, unasked, fell, tuple(watched)),
                *told,
                self._is_continued(name),
                (before.models, models_of(own)),
            ),
            LookSystem(planned=planned, valid=valid, figures=noted),
        )

    def _is_continued(self, name: str) -> bool:
        definition = self.run.header.systems.get(name)
        return isinstance(definition, dict) and definition.get("session") == "continued"

    def _incomparable(self, name: str, before: SystemBaseline) -> str:
        if name not in self.material.systems:
            return "it is not in this audit"
        if before.identity and (self.run.header.hashes.get("systems") or {}).get(name) != before.identity:
            return "another definition of the system than the baseline's (driver or options)"
        if found := next((one for one in self.material.concentrations if one.system == name), None):
            return found.sentence
        return (
            self.otherwise
            or self._cut_short(name, before)
            or changed_losses(
                name, before.lost, loss_table(one for one in self.material.conversations if one.key.system == name)
            )
            or changed_users(name, before.users, self.material.fault_tables(name))
        )

    def _cut_short(self, name: str, before: SystemBaseline) -> str:
        """Why failing users leave nothing to conclude, in the baseline or now; else "". If they could move a figure
        by less than the smallest difference that matters, they raise no alarm and widen the interval.
        """
        if before.cut_short / before.valid > min(self.rules.matters, MOST_BLESSED):
            return (
                f"{before.cut_short} of {pluralize(before.valid, 'conversation')} of the baseline were cut short by a "
                "failure of the user, and what would have followed is unknown: remove the cause and bless other runs"
            )
        gated = [one for one, decides in self.figures if decides]
        reaches = cut_reaches(name, self.material, gated, self.settings)
        moved = max(reaches, key=lambda one: sum(reaches[one]), default="")
        if not moved or sum(reaches[moved]) <= self.rules.matters:
            return ""
        return (
            f"{loss_words(name, self.material)}, and what would have followed could move {moved} by "
            f"{100 * sum(reaches[moved]):.1f} points: remove the cause and play it again"
        )

    def _figure(
        self, system: str, figure: Figure, known: Baseline, cells: Sequence[Sequence[float]], *, gated: bool
    ) -> WatchedFigure:
        n = sum(map(len, cells))
        left = self._left(system, figure.name, n)
        rules = JudgingRules(
            matters=self.rules.matters,
            level=self.settings.level,
            looks=self.rules.looks,
            share=1 / sum(gated for _, gated in self.figures),
            apart=self.rules.apart,
        )
        judged = None
        if gated:
            state = state_after(self.past, system, figure.name, known, rules)
            judged = judge(state, known, cells, rules, at=moment(self.run.header.created_at), left=left)
            found = judged.difference
        else:
            found = difference(known, cells, matters=rules.matters, level=rules.level, left=left)
        verdict: Verdict = judged.verdict if judged is not None else "same" if found.same else "cannot tell"
        settles = (
            trials_to_settle(known, found, each=n / len(cells), matters=rules.matters)
            if verdict == "cannot tell"
            else Settling()
        )
        return WatchedFigure(
            name=figure.name,
            gated=gated,
            value=known.mean + found.value,
            before=known.mean,
            n=n,
            difference=found,
            levels=(math.nan, math.nan) if judged is None else judged.state.levels,
            verdict=verdict,
            alarm=judged is not None and judged.state.waits,
            settles=settles,
            q=math.nan,
            evidence=None if judged is None else judged.seen.evidence,
            judged=judged,
            matters=rules.matters,
        )

    def _left(self, system: str, figure: str, n: int) -> float:
        """The error budget of *same*: all of it, less what looks at this very run with fewer trials have used."""
        one = self.own.systems.get(system) if self.own is not None else None
        before = one.figures.get(figure) if one is not None else None
        return SAME_BUDGET if before is None else before.left_for(n)


def _over(cells: Mapping[str, Sequence[float]], every: Mapping[str, Sequence[float]], blessed: Baseline) -> Over:
    value = float(np.mean([np.mean(one) for one in every.values()]))
    return Over(len(cells), len(every), value, sum(map(len, every.values())), len(blessed.means), blessed.mean)


def _widened(one: WatchedFigure, cut: tuple[float, float], matters: float) -> WatchedFigure:
    """Widen the interval by what was cut short. cut: how far below and above the figure could be. A figure that is
    only shown loses its interval if that exceeds the smallest difference that matters.
    """
    down, up = cut
    found = one.difference
    if not down + up:
        return one
    one = replace(one, cut=cut)
    if down + up > matters and not one.gated:
        why = "conversations were cut short by failures of the user"
        no = math.nan
        found = replace(
            found, low=no, high=no, these_low=no, these_high=no, inner_low=no, inner_high=no, p=no, note=why
        )
        return replace(one, difference=replace(found, same=False), verdict="cannot tell", settles=Settling())
    found = replace(
        found,
        low=found.low - down,
        high=found.high + up,
        inner_low=found.inner_low - down,
        inner_high=found.inner_high + up,
        these_low=found.these_low - down,
        these_high=found.these_high + up,
    )
    found = replace(found, same=found.same and -matters < found.inner_low and found.inner_high < matters)
    verdict = "cannot tell" if one.verdict == "same" and not found.same else one.verdict
    judged = None if one.judged is None else replace(one.judged, difference=found)
    return replace(one, difference=found, verdict=verdict, judged=judged)


def _with_discoveries(watched: Sequence[WatchedFigure]) -> list[WatchedFigure]:
    """Add q over all figures that are only shown."""
    tested = [not one.gated and not math.isnan(one.difference.p) for one in watched]
    found = iter(false_discovery([one.difference.p for one, has in zip(watched, tested, strict=True) if has]))
    return [replace(one, q=next(found)) if has else one for one, has in zip(watched, tested, strict=True)]


def _fell(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return True if significantly fewer planned trials are valid: Fisher's exact test, one-sided, at 1%."""
    valid, planned = now
    if not planned or not before[1]:
        return False
    test = compare_within([valid], [planned], [valid + before[0]], [planned + before[1]])
    return bool(test.fewer <= 0.01)
