"""Compare an audit with a blessed baseline: what changed, what stayed the same, and what is undecided.

Three results are reported separately for each system: its **figures** (only gated figures may raise an alarm), its
**coverage** (trials without a valid answer, lost topics), and **what is not comparable** (a different protocol,
topics, scoring or definition of the system).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.scores.lost_attempts import loss_words
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_figures import Figure, cut_reaches, figure_values, figures_of
from harvest.studies.validity.concentrations import changed_losses, loss_table
from harvest.studies.validity.user_card import changed_users
from harvest.studies.watch import history as past_looks
from harvest.studies.watch.baseline import BaselineFile, SystemBaseline, identities, models_of, refuse_other_audit
from harvest.studies.watch.changes import Stretch, changed_turns, tell_topics
from harvest.studies.watch.dependence import AUDIT_P, dependence_in_time
from harvest.studies.watch.history import Look, LookSystem, TopicMoments, WatchRules
from harvest.studies.watch.watched import MOVED, TopicChanges, Watched, WatchedFigure, WatchedSystem, most_serious
from harvest.studies.watch.ways import KeptWays, Ways, joined_ways, ways
from recordings.files.times import unix_seconds
from recordings.log.run_folder import Run
from scoring.inference.drift import SAME_BUDGET, Baseline, difference
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.inference.settling import Settling, trials_to_settle
from scoring.inference.watched_audit import JudgingRules, Verdict, judge
from scoring.notation import parse_all
from scoring.settings import Settings
from scoring.statistics.exchange import benjamini_yekutieli
from scoring.statistics.stratified import compare_within
from topics.counting import pluralize
from topics.decimals import decimal
from topics.errors import Place

# Share of a baseline's conversations that failures of users may have cut short, as for `harvest watch bless`.
MOST_BLESSED = 0.05

# Runs that a baseline needs before its alarms count: fewer show too little of how much audits differ by chance.
SHADOW = FEWEST_RUNS


def watch(
    run: Run | Gathered,
    baseline: BaselineFile,
    history: Sequence[Look] = (),
    *,
    rules: WatchRules | None = None,
    name: str = "",
    seed: int = 0,
) -> Watched:
    """Compare `run` with the baseline. Two kinds of look in `history` count: looks against this baseline before
    this run, and an earlier look at this run with fewer trials. `rules` None means the default rules. `name` is
    the name of the run in the history. Raises InputError for a run of another audit."""
    rules = rules or WatchRules()
    gathered = gather_runs(run)
    (run,) = gathered.runs
    refuse_other_audit(run.header, baseline, Place(str(run.path)))
    material, settings = gathered.material, gathered.settings
    at = run.header.created_at
    past = past_looks.looks_before(history, baseline.identity, at)
    audit = _Audit(
        run, baseline, material, settings, past, past_looks.own_look(history, baseline.identity, at), rules, seed
    )
    found = {system: audit.compare_system(system, before) for system, before in baseline.systems.items()}
    noted = {system: look for system, (_, look) in found.items()}
    line = Look(at=at, run=name or run.path.name, baseline=baseline.identity, systems=noted, rules=rules)
    shadow = not rules.enforce and len(baseline.runs) < SHADOW
    systems = tuple(one for one, _ in found.values())
    return Watched(baseline, shadow, len(past) + 1, rules, settings.level, systems, line)


def confirmable_from(looks: Sequence[Look], baseline: BaselineFile, rules: WatchRules) -> float:
    """Return the time in seconds from which an audit can confirm the open alarm, or the fall without an alarm, of the
    last measured look; NaN if nothing waits. All `looks` must be against this baseline."""
    last = past_looks.last_measured(looks)
    level = Settings.of(baseline.scoring, {}).level
    judging = JudgingRules(rules.matters, level, rules.looks, 1 / len(baseline.gated), rules.apart)
    first = math.nan
    for system, seen in ({} if last is None else last.systems).items():
        for name, one in seen.figures.items():
            if last is None or not one.needs_audit:
                continue
            known = baseline.systems[system].figures[name]
            state = past_looks.state_after(looks, system, name, known.select_topics(list(known.topics)), judging)
            # A fall without an alarm is as new as the audit that shows it.
            since = unix_seconds(last.at) if math.isnan(state.raised) else state.raised
            first = since if math.isnan(first) else min(first, since)
    return first + rules.apart


@dataclass(frozen=True)
class _Audit:
    run: Run
    baseline: BaselineFile
    material: Material
    settings: Settings
    past: tuple[Look, ...]
    own: Look | None
    rules: WatchRules
    seed: int

    @cached_property
    def difference_reason(self) -> str:
        """The reason why nothing can be compared, or ""."""
        now = identities(self.run)
        changed = ["protocol"] * (now["protocol"] != self.baseline.protocol)
        recorded = {"user_words": Settings().user_words, **self.baseline.scoring}  # older baselines lack this setting
        changed += ["scoring"] * (self.settings.as_json() != recorded)
        return f"another {' and another '.join(changed)} than the baseline's" if changed else ""

    @cached_property
    def reworded(self) -> frozenset[str]:
        """Topics whose text differs from the baseline's."""
        now = identities(self.run)["topics"]
        assert isinstance(now, Mapping)
        return frozenset(topic for topic, own in self.baseline.topics.items() if now.get(topic, own) != own)

    @cached_property
    def figures(self) -> tuple[tuple[Figure, bool], ...]:
        """The figures of the baseline, each with whether it is gated. Gated figures come first."""
        gated, ground = self.baseline.gated, (self.settings, self.material)
        terms = [term for name in gated for term in parse_all(name)]
        found = [(one, True) for one in figures_of(terms, *ground, gated=True) if one.name in gated]
        rest = [(one, False) for one in figures_of((), *ground, gated=False) if one.name not in gated]
        return (*found, *rest)

    def compare_system(self, name: str, before: SystemBaseline) -> tuple[WatchedSystem, LookSystem]:
        """Return a system compared with its baseline, and its part of the history."""
        own = [one for one in self.material.finished if one.key.system == name and one.key.topic not in self.reworded]
        planned, valid = sum(key.system == name for key in self.material.planned), len(own)
        missing = set(self.baseline.topics) - {one.key.topic for one in own}
        asked = {key.topic for key in self.material.planned if key.system == name}
        asked |= {one.key.topic for one in self.material.conversations if one.key.system == name}
        lost, unasked = tuple(sorted(missing & asked)), tuple(sorted(missing - asked))
        fell = _coverage_fell((before.valid, before.planned), (valid, planned))
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
                one = self._figure(name, figure, known.select_topics(list(cells)), list(cells.values()), gated=gated)
                if len(cells) < max(len(every), len(known.topics)):
                    blessed = known.select_topics(list(known.topics))
                    value = float(np.mean([np.mean(trials) for trials in every.values()]))
                    counts = (len(cells), len(every), value, sum(map(len, every.values())))
                    one = replace(one, over=TopicChanges(*counts, len(blessed.means), blessed.mean))
                one = _widen_interval(one, cut.get(figure.name, (0.0, 0.0)), self.rules.matters)
                watched.append(one)
        watched = _add_discoveries(watched)
        now = ways(own)
        decisive = [one for one, decides in self.figures if decides]
        moments = {
            one.name: {
                topic: (len(cells), float(np.mean(cells)), float(np.var(cells, ddof=1)) if len(cells) > 1 else None)
                for topic, cells in values[one.name].items()
                if topic in before.figures[one.name].topics
            }
            for one in watched
            if one.gated
        }
        stretch, taken = self._tell_stretch(name, before, watched, moments, now)
        turns = tuple(changed_turns(before.counted(), taken, self.settings.level, self.seed))
        noted = {
            one.name: one.history_entry(moments.get(one.name), stretch if one.name == stretch.figure else None)
            for one in watched
        }
        return (
            WatchedSystem(
                *(name, "", planned, valid, lost, unasked, fell, tuple(watched)),
                *(stretch, turns, self._is_continued(name)),
                (before.models, models_of(own)),
                (before.in_time, dependence_in_time(name, [self.material], decisive, self.settings, p=AUDIT_P)[0]),
            ),
            LookSystem(planned=planned, valid=valid, figures=noted, ways=KeptWays.of(now)),
        )

    def _tell_stretch(
        self,
        name: str,
        before: SystemBaseline,
        watched: Sequence[WatchedFigure],
        moments: Mapping[str, TopicMoments],
        now: Ways,
    ) -> tuple[Stretch, Ways]:
        """Return the audits over which topics and turns are told, with the topics of the figure with the most serious
        verdict, and the ways of all these audits together.

        Where a change or an alarm stands, they are the audits since its evidence began. Otherwise, it is this audit."""
        figure = most_serious(watched)
        begin = self.run.header.created_at
        at = unix_seconds(begin)
        if figure is None:
            return Stretch(since=begin), now
        state = figure.state
        since = state.since if state.times > 1 or math.isnan(state.began) else state.began
        behind: list[LookSystem] = []
        left_out = 0
        for look in self.past if figure.word in MOVED and since < at else ():
            one = look.systems.get(name)
            if one is None or unix_seconds(look.at) < since or figure.name not in one.figures:
                continue
            if one.figures[figure.name].topics is None or one.ways is None:
                left_out += 1
                continue
            begin = min(begin, look.at, key=unix_seconds)
            behind.append(one)
        stretch = Stretch(figure.name, len(behind) + 1, begin, left_out)
        each = [*(one.figures[figure.name].topics or {} for one in behind), moments[figure.name]]
        known = before.figures[figure.name]
        stretch = tell_topics(stretch, known, each, self.settings.level, self.seed)
        return stretch, joined_ways([*(one.ways.counted() for one in behind if one.ways is not None), now])

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
            self.difference_reason
            or self._cut_short(name, before)
            or changed_losses(
                name, before.lost, loss_table(one for one in self.material.conversations if one.key.system == name)
            )
            or changed_users(name, before.users, self.material.fault_tables(name))
        )

    def _cut_short(self, name: str, before: SystemBaseline) -> str:
        """Return why too many conversations were cut short by failing users, in the baseline or now, or "".
        Conversations that could change a figure by less than the smallest difference that matters only widen its
        interval."""
        if before.cut_short / before.valid > min(self.rules.matters, MOST_BLESSED):
            return (
                f"{before.cut_short} of {pluralize(before.valid, 'conversation')} of the baseline were cut short by a "
                "failure of the user, and their continuation is unknown: remove the cause and bless other runs"
            )
        gated = [one for one, decides in self.figures if decides]
        reaches = cut_reaches(name, self.material, gated, self.settings)
        moved = max(reaches, key=lambda one: sum(reaches[one]), default="")
        if not moved or sum(reaches[moved]) <= self.rules.matters:
            return ""
        return (
            f"{loss_words(name, self.material)}, and what would have followed could move {moved} by "
            f"{decimal(100 * sum(reaches[moved]), 1)} points: remove the cause and play it again"
        )

    def _figure(
        self, system: str, figure: Figure, known: Baseline, cells: Sequence[Sequence[float]], *, gated: bool
    ) -> WatchedFigure:
        n = sum(map(len, cells))
        left = self._error_budget(system, figure.name, n)
        rules = JudgingRules(
            matters=self.rules.matters,
            level=self.settings.level,
            looks=self.rules.looks,
            share=1 / sum(gated for _, gated in self.figures),
            apart=self.rules.apart,
        )
        judged = None
        if gated:
            state = past_looks.state_after(self.past, system, figure.name, known, rules)
            judged = judge(state, known, cells, rules, at=unix_seconds(self.run.header.created_at), left=left)
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
            alarm=judged is not None and judged.state.awaits_confirmation,
            settles=settles,
            q=math.nan,
            evidence=None if judged is None else judged.seen.evidence,
            judged=judged,
            matters=rules.matters,
        )

    def _error_budget(self, system: str, figure: str, n: int) -> float:
        """Return the remaining error budget of *same*, after earlier looks at this run with fewer trials."""
        one = self.own.systems.get(system) if self.own is not None else None
        before = one.figures.get(figure) if one is not None else None
        return SAME_BUDGET if before is None else before.remaining_budget(n)


def _widen_interval(one: WatchedFigure, cut: tuple[float, float], matters: float) -> WatchedFigure:
    """Widen the interval by `cut`, which is how far below and above the figure could be without losses. A figure
    that is not gated loses its interval if this range exceeds the smallest difference that matters."""
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


def _add_discoveries(watched: Sequence[WatchedFigure]) -> list[WatchedFigure]:
    tested = [not one.gated and not math.isnan(one.difference.p) for one in watched]
    found = iter(benjamini_yekutieli([one.difference.p for one, has in zip(watched, tested, strict=True) if has]))
    return [replace(one, q=next(found)) if has else one for one, has in zip(watched, tested, strict=True)]


def _coverage_fell(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return true if significantly fewer planned trials are valid (Fisher's exact test, one-sided, at 1%)."""
    valid, planned = now
    if not planned or not before[1]:
        return False
    test = compare_within([valid], [planned], [valid + before[0]], [planned + before[1]])
    return bool(test.fewer <= 0.01)
