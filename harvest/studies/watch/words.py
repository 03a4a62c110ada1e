"""Sentences about a watched figure, made from the state of its watch and this audit's interval."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime

from harvest.studies.watch.changes import ChangedTopic, Stretch
from harvest.studies.watch.watched import Watched, WatchedFigure, WatchedSystem
from recordings.files.times import stamp, unix_seconds
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.inference.settling import Settling
from scoring.inference.watched_audit import is_near_baseline
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal, format_change, percent

_MINUTE = len("2026-01-31T12:00")
_ONE_MINUTE = 60.0  # seconds


def system_sentence(system: WatchedSystem, found: Watched, *, settling: bool = True) -> str:
    """Describe the result for a system: its gated figures, or why there is no conclusion. `settling` is as in
    `figure_sentence`."""
    if system.incomparable:
        return f"{system.name}: could not be measured: {system.incomparable}"
    if not system.valid:
        return f"{system.name}: could not be measured: none of {pluralize(system.planned, 'trial')} has a valid attempt"
    shown = {one.name for one in system.figures}
    said = [figure_sentence(one, found, settling=settling) for one in system.figures if one.gated]
    said += [f"{name} has no value, so nothing is said of it" for name in found.baseline.gated if name not in shown]
    return f"{system.name}: " + "; ".join(said)


def figure_sentence(one: WatchedFigure, found: Watched, *, settling: bool = True) -> str:
    """Describe the result for a gated figure. With `settling`, the sentence on an undecided figure says what would
    decide it."""
    moved, name, state = shift_words(one), one.name, one.state
    base = value_text(one.before, name)
    if one.word == "changed":
        return f"{name} changed by {changed_by_words(one)} since the baseline ({base}){change_words(one, found)}"
    if one.word == "perhaps back":
        had = had_changed_words(one)
        return (
            f"{name} is perhaps {near_words(one, found.smallest_effect)} ({moved}{joined_words(one)}), "
            f"{confirming_words(one, found)}; it had changed by {had}"
        )
    if one.word == "back":
        near = near_words(one, found.smallest_effect)
        return f"{name} is {near} ({moved}{joined_words(one)}); {recovery_words(one)}"
    if state.is_changed:
        had = had_changed_words(one)
        return f"{name}: cannot tell whether it is back at the baseline ({moved}); it had changed by {had}"
    had = "it had been " if one.word in ("alarm", "fell", "rose") else ""
    since = f"; {had}{back}" if (back := back_words(one)) else ""
    if one.word == "same":
        return f"{name} is the same within {100 * found.smallest_effect:g} points{since}"
    if one.word == "alarm":
        if is_shown_by_itself(one):
            return f"{name}: alarm ({_moved_by_words(one)}), {confirming_words(one, found)}{since}"
        return (
            f"{name}: alarm over the audits until now ({evidence_words(one)}), {confirming_words(one, found)}; this "
            f"audit by itself does not show it ({moved}){since}"
        )
    if one.word in ("fell", "rose"):
        if not one.difference.is_beyond(found.smallest_effect):
            short = f"which is not enough for an alarm ({evidence_words(one)})"
            return f"{name} {one.word} by {gathered_words(one)}, this one by itself {moved}, {short}{since}"
        return f"{name} {_moved_by_words(one)}; {too_little_words(one)}{since}"
    if passing := passing_words(one):
        return f"{name}: {passing}{since}"
    _, low, high, audits = one.gathered
    if high < 0 or low > 0:
        moved += f"; the last {audits} audits together: {gathered_words(one, of=False)}, {evidence_words(one)}"
    more = f"; {settling_words(one.settles, shown=is_shown_on_a_side(one))}" if settling else ""
    return f"{name}: cannot tell whether it {open_question(one, found.smallest_effect)} ({moved}{more}){since}"


def near_words(one: WatchedFigure, smallest_effect: float) -> str:
    """Describe a figure whose change is over: it is back near the baseline or, if the interval of the audits that
    showed this excludes the baseline, on the other side."""
    value, low, high, audits = one.state.joined
    if not audits > 1:
        value, (low, high) = one.difference.value, one.difference.printed_ends
    if low > smallest_effect or high < -smallest_effect:
        was, now = ("below", "above") if value > 0 else ("above", "below")
        return f"no longer {was} the baseline, but {now} it"
    return "back near the baseline"


def open_question(one: WatchedFigure, smallest_effect: float) -> str:
    """Name the open question without contradicting the interval: if it excludes 0, the question is whether the change
    is large enough to matter."""
    much = f" by more than the {100 * smallest_effect:g} points that matter" if is_shown_on_a_side(one) else ""
    return f"changed{much}"


def is_shown_on_a_side(one: WatchedFigure) -> bool:
    """Return true if this audit's interval excludes 0."""
    low, high = one.difference.printed_ends
    return low > 0 or high < 0


def is_shown_by_itself(one: WatchedFigure) -> bool:
    """Return true if this audit's interval excludes 0 on the side of the alarm."""
    low, high = one.difference.printed_ends
    if one.judged is None:
        return is_shown_on_a_side(one)
    return low > 0 if one.state.side else high < 0


def too_little_words(one: WatchedFigure) -> str:
    """Say that this audit alone is not enough for an alarm, and what earlier audits add."""
    _, low, high, audits = one.gathered
    if high < 0 or low > 0:
        together = gathered_words(one, of=False)
        return f"the last {audits} audits together: {together}, not enough for an alarm ({evidence_words(one)})"
    return f"one audit is not enough for an alarm ({evidence_words(one)})"


def passing_words(one: WatchedFigure) -> str:
    """Describe an audit near the baseline after audits that showed a change, or after an alarm that nothing confirmed.
    Returns "" for any other audit."""
    if one.judged is None or one.alarm or one.state.is_changed:
        return ""
    raised, began = one.judged.before.raised, one.state.began
    value, low, high, audits = one.gathered
    shown = (high < 0 or low > 0) and is_near_baseline(one.difference, value, one.matters)
    if not shown and math.isnan(raised):
        return ""
    alarm = "" if math.isnan(raised) else f"the alarm of {moment_text(raised)} was not confirmed: "
    if not shown:
        near = "is near the baseline" if abs(one.difference.value) < one.matters else "does not show it"
        return f"{alarm}this audit {near} ({shift_words(one)})"
    way = "fallen" if value < 0 else "risen"
    return (
        f"{alarm}this audit is near the baseline ({shift_words(one)}); between {moment_text(began)} and now it may "
        f"have {way} and recovered (the last {audits} audits together: {gathered_words(one, of=False)}, "
        f"{evidence_words(one)})"
    )


def evidence_words(one: WatchedFigure) -> str:
    """Format the evidence as a share of the alarm threshold."""
    return f"evidence {percent(max(one.levels))}"


def shift_words(one: WatchedFigure) -> str:
    """Format the difference from the baseline with its interval, such as `-53.4 points [-61.0, -45.2]`."""
    return f"{signed_value(one.difference.value, one.name)}{_unit_suffix(one.name)}{interval_words(one)}"


def interval_words(one: WatchedFigure) -> str:
    """Format the interval, such as ` [-61.0, -45.2]`, and say if it is only between the recorded runs."""
    low, high = one.difference.printed_ends
    of = "" if one.difference.interval.is_defined else " between these runs"
    return "" if math.isnan(low) else f"{_ends_words(low, high, one.name)}{of}"


def joined_words(one: WatchedFigure) -> str:
    """Format the pooled difference of the audits that showed a figure to be back near the baseline, or return "" if
    one audit was enough. Several audits are pooled because one interval alone may include half of the change."""
    value, low, high, audits = one.state.joined
    if audits < 2:
        return ""
    shown = f"{signed_value(value, one.name)}{_unit_suffix(one.name)}{_ends_words(low, high, one.name)}"
    return f"; the last {audits} audits together: {shown}"


def gathered_words(one: WatchedFigure, *, of: bool = True) -> str:
    """Format the mean difference of the audits behind the evidence with its interval, and with `of` their number."""
    value, low, high, audits = one.gathered
    size = signed_value(abs(value) if of else value, one.name)
    shown = f"{size.removeprefix('+') if of else size}{_unit_suffix(one.name)}{_ends_words(low, high, one.name)}"
    return f"{shown} over the last {audits} audits" if of else shown


def _ends_words(low: float, high: float, name: str) -> str:
    return f" [{signed_value(low, name)}, {signed_value(high, name)}]"


def _moved_by_words(one: WatchedFigure) -> str:
    name, value = one.name, one.difference.value
    size = signed_value(abs(value), name).removeprefix("+")
    return f"{'fell' if value < 0 else 'rose'} by {size}{_unit_suffix(name)}{interval_words(one)}"


def changed_by_words(one: WatchedFigure) -> str:
    """Format the difference with the interval that excludes 0, from this audit or pooled with earlier audits."""
    if one.judged is None or not one.judged.rests_on_several:
        return shift_words(one)
    value, low, high, audits = one.judged.together
    mean = f"{signed_value(value, one.name)}{_unit_suffix(one.name)}{_ends_words(low, high, one.name)}"
    return f"{mean} over {pluralize(audits, 'audit')}, this one by itself {shift_words(one)},"


def change_words(one: WatchedFigure, found: Watched) -> str:
    """Say when the change was found, and whether there is another alarm. Returns "" if the state is unknown."""
    state = one.state
    if math.isnan(state.confirmed):
        return ""
    ordinal = {2: "second", 3: "third"}.get(state.times, f"{state.times}th")
    again = f", {ordinal} change" if state.times > 1 else ""
    waits = f"; alarm for a change further away, {confirming_words(one, found)}" if state.awaits_confirmation else ""
    return f"; alarm of {moment_text(state.since)}, confirmed {moment_text(state.confirmed)}{again}{waits}"


def had_changed_words(one: WatchedFigure) -> str:
    """Format the change that was confirmed before this audit, with the times of its alarm and its confirmation. It has
    no interval, because the audits from an alarm on are further away than others."""
    state = one.state
    found = f"alarm of {moment_text(state.since)}, confirmed {moment_text(state.confirmed)}"
    of = f", the mean of the {len(state.audits)} audits from its alarm on" if len(state.audits) > 1 else ""
    return f"{signed_value(state.change, one.name)}{_unit_suffix(one.name)}{of} ({found})"


def recovery_words(one: WatchedFigure) -> str:
    """Describe the past change of a figure that is back near the baseline, and how the watch continues."""
    again = "the watch begins again, with evidence at zero and the whole budget of false alarms"
    return f"{past_change_words(one)}; {again}"


def back_words(one: WatchedFigure) -> str:
    """Return since when a figure that had changed is back near the baseline, or "" if it is not."""
    return "" if math.isnan(one.state.back) else f"back near the baseline since {moment_text(one.state.back)}"


def past_change_words(one: WatchedFigure) -> str:
    """Describe the change that is over, for a figure that is back near the baseline."""
    return f"it had changed from {moment_text(one.state.ended)} to {moment_text(one.state.back)}, confirmed"


def topic_change_words(one: WatchedFigure) -> str:
    """Describe the topics behind a figure if topics have a value only now or only in the baseline, or return ""."""
    if one.over is None:
        return ""
    over = one.over
    both = f"{pluralize(over.topics, 'topic')} with a value both now and in every blessed run"
    now = f"over all {over.now} with one now it is {value_text(over.value, one.name)} (n {over.n})"
    before = f"at the baseline, over all its {over.blessed}, {value_text(over.before, one.name)}"
    return f"{one.name} is compared over {both}; {now}, {before}"


def stretch_words(stretch: Stretch) -> str:
    """Name the audits for which topics and turns are reported, such as `in this audit`."""
    over = (
        "in this audit"
        if stretch.audits < 2
        else f"over the {stretch.audits} audits since {moment_text(unix_seconds(stretch.since))}"
    )
    left = pluralize(stretch.left_out, "audit")
    return f"{over} ({left} of an earlier version without topics left out)" if stretch.left_out else over


def topics_words(stretch: Stretch, *, moved: bool = False) -> str:
    """Say on how many topics the figure fell or rose by more than chance explains. If none of them stands out, say
    first on how many it is lower or higher at all, so that a change of all topics alike is seen as one. Returns "" if
    no topic shows a change by itself, unless the figure `moved`."""
    counts = [(number, way) for number, way in ((stretch.fell, "fell"), (stretch.rose, "rose")) if number]
    of, chance = pluralize(stretch.topics, "topic"), "by more than chance explains"
    said = " and ".join(f"{way} on {number}" for number, way in counts)
    if not stretch.named and len(counts) < 2 <= len(stretch.each) and (counts or moved):
        lower, higher = (sum(sign * one.value > 0 for one in stretch.each) for sign in (-1, 1))
        many, way = (lower, "lower") if lower > higher else (higher, "higher")
        on = f"all {of}" if many == stretch.topics else f"{many} of {of}"
        own = f"{counts[0][0]} of them" if counts else "none"
        said = f"is {way} on {on}, on {'each' if counts and counts[0][0] == many else own}"
    elif counts:
        said = f"{said} of {of}"
    return f"{stretch_words(stretch)}, {stretch.figure} {said} {chance}" if said else ""


def named_topics(stretch: Stretch, most: int) -> str:
    """Name at most `most` topics behind a sentence of `topics_words`: those that stand out, or else the largest of
    those that changed by more than chance explains."""
    named = ", ".join(topic_words(one, stretch.figure) for one in stretch.shown[:most])
    left = len(stretch.shown) - most
    more = f"{', and ' if left > 0 else ''}{left} more" if left > 0 else ""
    if stretch.named:
        return f": {named}{more}"
    return f"; none stands out from the others{f', the largest being {named}' if named else ''}{more}"


def topic_words(one: ChangedTopic, figure: str) -> str:
    """Format a topic's change, such as `fees -40.1 points [-60.0, -21.3] (from 90.2% to 50.1%)`."""
    ends = _ends_words(one.low, one.high, figure)
    levels = f"from {value_text(one.before, figure)} to {value_text(one.now, figure)}"
    return f"{one.topic} {signed_value(one.value, figure)}{_unit_suffix(figure)}{ends} ({levels})"


def settling_words(one: Settling, *, shown: bool) -> str:
    """Say how many more trials would decide the figure, or what else would help. `shown` is whether the interval of its
    difference excludes 0: runs of a system that has changed must not be blessed then."""
    if one.trials:
        return f"{_more_trials(one.trials)} would settle it with a chance of {percent(one.chance)}"
    if one.hindrance == "settled":
        return "its interval lies beyond what matters already, and an alarm needs the evidence of further audits"
    if one.hindrance == "runs":
        return (
            "a baseline of so few runs does not show how much audits differ by themselves, so how many more trials "
            f"would settle it is unknown: bless {FEWEST_RUNS} runs or more in one command"
        )
    near = one.hindrance == "edge"
    why = "the difference may be as large as what matters" if near else "the baseline is not known well enough"
    instead = "a smaller or a larger" if near else "a larger"
    hardly = (
        f"{why}, so more trials will hardly settle this (a chance of {percent(one.chance)} with "
        f"{_more_trials(one.most)})"
    )
    if shown:
        return f"{hardly}; play the audit again, as each audit adds to the evidence"
    other = "further audits add evidence" if near else "bless more runs, together with these"
    return f"{hardly}; {other}, or let {instead} difference matter (--matters)"


def _more_trials(number: int) -> str:
    return f"{number:,} more {'trial' if number == 1 else 'trials'} of each topic"


def confirming_words(one: WatchedFigure, found: Watched) -> str:
    """Say which audit can confirm the result of this audit or of an earlier one, and whether this audit was too early
    for that."""
    first, apart, now = one.waits_since, found.rules.apart, unix_seconds(found.noted.at)
    soon = f" (this one is too soon after that of {moment_text(first)})" if first < now < first + apart else ""
    return f"to be confirmed by {later_audit(first, apart)}{soon}"


def later_audit(first: float, apart: float) -> str:
    """Name an audit at least `apart` seconds after the audit at `first`: `an audit from 2026-01-08 05:13 UTC on`."""
    if apart < _ONE_MINUTE or not math.isfinite(first):
        return "another audit"
    # The minute is rounded up: an audit within it could still be too soon.
    return f"an audit from {moment_text(math.ceil((first + apart) / _ONE_MINUTE) * _ONE_MINUTE)} UTC on"


def apart_words(seconds: float) -> str:
    """Return how long after an alarm an audit must be played to confirm it: `at least 1 h later`."""
    later = f"{seconds / 3600:.3g} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
    return f"at least {later} later"


def moment_text(seconds: float) -> str:
    """Format a time in UTC, such as `2026-01-08 04:12`, or return `an unknown time`."""
    if not math.isfinite(seconds):
        return "an unknown time"
    return stamp(datetime.fromtimestamp(seconds, UTC))[:_MINUTE].replace("T", " ")


def value_text(value: float, name: str) -> str:
    """Format a value of the figure `name`, such as `38.5%`, `0.0123` or `n/a`."""
    if math.isnan(value):
        return "n/a"
    return f"{decimal(100 * value, 1)}%" if is_percentage(name.partition(" ")[0]) else decimal(value, 4)


def signed_value(value: float, name: str) -> str:
    """Format a difference, in points for percentages, such as `-15.2` or `+.0010`."""
    return format_change(value, share=is_percentage(name.partition(" ")[0]))


def _unit_suffix(name: str) -> str:
    return " points" if is_percentage(name.partition(" ")[0]) else ""


def dependence_sentences(system: str, blessed: str, now: str) -> Iterator[str]:
    """Yield warnings that trials near each other in time are alike, where `blessed` and `now` say how, or are ""."""
    near = "that are near each other in time are alike"
    if blessed:
        yield (
            f"{system}: trials of the blessed runs {near} ({blessed}): intervals are wider for it, but alarms treat "
            "trials as independent, so more of them may be false"
        )
    elif now:
        yield (
            f"{system}: trials of this audit {near} ({now}), which the blessed runs did not show: alarms and intervals "
            "treat trials as independent, and may be too optimistic"
        )
