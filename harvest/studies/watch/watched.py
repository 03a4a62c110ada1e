"""The result of comparing an audit with its baseline: verdicts on figures, on systems, and on the audit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from harvest.studies.watch import history
from harvest.studies.watch.baseline import BaselineFile
from harvest.studies.watch.changes import ChangedTopic, ChangedTurn, Stretch
from harvest.studies.watch.history import Look, LookFigure, ToldTopics, TopicMoments, WatchRules
from scoring.inference.drift import Difference
from scoring.inference.settling import Settling
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import Judged, Verdict, Word, audit_word
from scoring.measures.usefulness import MEAN_USEFUL
from topics.arrays import Floats


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """The topics behind a figure, if some topics have a value only now or only in the baseline. `topics` is the
    number of compared topics. `now` is the number of topics with a value now, which `value` and `n` include.
    `blessed` is the number of topics in the baseline, which `before` includes."""

    topics: int
    now: int
    value: float
    n: int
    blessed: int
    before: float


@dataclass(frozen=True, slots=True)
class WatchedFigure:
    """A figure of an audit compared with its baseline.

    `value` and `before` are over the compared topics; `n` is the number of trials now. `levels` is the evidence for
    a drop and for a rise, as a share of the alarm threshold, over all looks since the evidence was last reset; it
    is NaN if the figure is not gated. `verdict` is `changed` only if another audit confirmed an alarm, and this
    audit's interval agrees. `alarm` is true if an alarm was raised and is not yet confirmed. `settles` is how many
    more trials would decide an undecided figure. For a figure that is only shown, `q` is the false discovery rate
    at which its difference counts as found; otherwise, it is NaN. `evidence` is the evidence of this audit alone.

    For a gated figure, `judged` has the audit and the state of the watch before and after the audit. `over` is None
    if the same topics have a value now and in the baseline. `cut` is how far below and above the value could be,
    given the conversations that failing users cut short.
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
    matters: float = history.MATTERS
    over: TopicChanges | None = None
    cut: tuple[float, float] = (0.0, 0.0)

    @property
    def word(self) -> Word:
        """The verdict in one word."""
        before = WatchState() if self.judged is None else self.judged.before
        return audit_word(
            *(self.verdict, before, self.state, self.difference, self.matters),
            alarm=self.alarm,
            gathered=self.gathered[:3],
        )

    @property
    def gathered(self) -> tuple[float, float, float, int]:
        """The mean difference of the audits behind the evidence, both ends of its interval, and their number; NaN if
        there are fewer than two, or if conversations of this audit were cut short."""
        nothing = (math.nan, math.nan, math.nan, 0)
        return nothing if self.judged is None or any(self.cut) else self.judged.gathered

    @property
    def state(self) -> WatchState:
        """The state of the watch after this audit."""
        return WatchState() if self.judged is None else self.judged.state

    @property
    def waits_since(self) -> float:
        """The start of the audit that a later audit has to confirm: the audit with the alarm, or the first that was
        perhaps back; for a fall without an alarm, this audit."""
        if self.state.name == "perhaps back":
            return self.state.near
        this = math.nan if self.judged is None else self.judged.seen.at
        return this if math.isnan(self.state.raised) else self.state.raised

    def history_entry(self, topics: TopicMoments | None = None, stretch: Stretch | None = None) -> LookFigure:
        """Return the figure's part of a line in the history, with its `topics` in this audit and, for the figure whose
        topics were reported, the `stretch` of audits."""
        kept = None if self.evidence is None else (tuple(self.evidence[0].tolist()), tuple(self.evidence[1].tolist()))
        found, known = self.difference, self.difference.interval.is_defined
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
            waits=self.state.awaits_confirmation,
            left=found.left,
            spent=found.spent,
            cut=self.cut if any(self.cut) else None,
            topics=topics,
            told=None
            if stretch is None
            else ToldTopics(
                audits=stretch.audits,
                since=stretch.since,
                fell=stretch.fell,
                rose=stretch.rose,
                topics=stretch.topics,
                named={one.topic: (one.value, one.low, one.high) for one in stretch.named},
            ),
        )


# The words of a figure, the most serious first.
SERIOUS = ("changed", "alarm", "fell", "rose", "perhaps back", "cannot tell", "back", "same")
# Words that say or suspect a change.
MOVED = SERIOUS[:4]


def most_serious(figures: Sequence[WatchedFigure]) -> WatchedFigure | None:
    """Return the gated figure with the most serious word, the mean of usefulness if several have it, or None."""
    gated = (one for one in figures if one.gated)
    return min(gated, key=lambda one: (SERIOUS.index(one.word), one.name != MEAN_USEFUL.name), default=None)


@dataclass(frozen=True, slots=True)
class WatchedSystem:
    """A system of an audit compared with its baseline.

    `incomparable` explains why the system cannot be compared, or is "". `planned` and `valid` are numbers of trials
    now. `lost` has the baseline topics that were asked and have no valid trial, and `unasked` the baseline topics that
    were not asked. `coverage` is true if the share of valid trials fell significantly (p ≤ .01). `continued` is true if
    sessions continue from topic to topic, so that trials depend on each other. `models` are the names of the models
    that answered, before and now, or () if the system named no model. `in_time` says how trials near each other in
    time are alike, in the blessed runs and now (`harvest.studies.watch.dependence`). `stretch` has the audits over
    which topics and `turns` are reported, and the topics that stand out.
    """

    name: str
    incomparable: str
    planned: int
    valid: int
    lost: tuple[str, ...]
    unasked: tuple[str, ...]
    coverage: bool
    figures: tuple[WatchedFigure, ...] = ()
    stretch: Stretch = field(default_factory=Stretch)
    turns: tuple[ChangedTurn, ...] = ()
    continued: bool = False
    models: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    in_time: tuple[str, str] = ("", "")

    @property
    def topics(self) -> tuple[ChangedTopic, ...]:
        """The topics that changed, and not only as all topics did."""
        return self.stretch.named

    @property
    def has_moved(self) -> bool:
        """True if a gated figure says or suspects a change."""
        return any(one.word in MOVED for one in self.figures if one.gated)

    @property
    def is_measured(self) -> bool:
        """True if the system could be measured."""
        return bool(self.valid) and not self.incomparable

    @property
    def has_missing_topic(self) -> bool:
        """True if a topic of the baseline has no valid trial. The verdict is then undecided."""
        return bool(self.lost or self.unasked)

    @property
    def is_decided(self) -> bool:
        """True if every topic has a valid trial and every gated figure was decided."""
        return (
            self.is_measured
            and not self.has_missing_topic
            and all(one.verdict != "cannot tell" for one in self.figures if one.gated)
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict over the gated figures."""
        found = {one.verdict for one in self.figures if one.gated}
        if "changed" in found:
            return "changed"
        return "same" if found == {"same"} and not self.has_missing_topic and not self.incomparable else "cannot tell"


@dataclass(frozen=True, slots=True)
class Watched:
    """An audit compared with its baseline. With `shadow`, alarms do not count yet. `look` is the number of this
    audit, counted from the baseline, and `noted` is its line in the history."""

    baseline: BaselineFile
    shadow: bool
    look: int
    rules: WatchRules
    level: float
    systems: tuple[WatchedSystem, ...]
    noted: Look

    @property
    def smallest_effect(self) -> float:
        """The smallest difference that matters."""
        return self.rules.matters

    @property
    def is_measured(self) -> bool:
        """True if every system could be measured. A system that could not be measured never has the verdict `same`."""
        return bool(self.systems) and all(one.is_measured for one in self.systems)

    @property
    def verdict(self) -> Verdict:
        found = {one.verdict for one in self.systems}
        return "changed" if "changed" in found else "same" if found == {"same"} else "cannot tell"

    def exit_code(self, *, strict: bool) -> int:
        """Return the exit code: 1 if something changed and alarms count, and 3 if a system could not be measured
        or, with `strict`, something is undecided. Otherwise, returns 0."""
        if self.verdict == "changed" and not self.shadow:
            return 1
        return 3 if not self.is_measured or (strict and not all(one.is_decided for one in self.systems)) else 0
