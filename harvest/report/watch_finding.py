"""The finding about a run that was compared with a baseline, and about runs without any measured value."""

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harvest.report.finding import Finding, answer_place, join_names, safe_name, shown_path, trial_count, turns_words
from harvest.report.grid import address
from harvest.studies.scores.scorecard import Material
from harvest.studies.watch import words as watch_words
from harvest.studies.watch.history import APART, LOOKS, MATTERS, WatchRules
from harvest.studies.watch.watched import MOVED, Watched, WatchedFigure, WatchedSystem
from harvest.studies.watch.watched import most_serious as serious_figure
from recordings.conversations.conversation import INVALID
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.inference.settling import Settling
from scoring.measures.usefulness import MEAN_USEFUL
from topics.counting import pluralize
from topics.decimals import percent

_MOST = 3  # reasons, or systems, in a sentence
_LONGEST = 160  # characters of an answer that is quoted


def unmeasured_finding(material: Material, runs: Sequence[Path], *, baseline: bool) -> Finding:
    """Return the finding if no trial is valid. `baseline` is True if the run was to be compared with a baseline."""
    if not material.conversations:
        planned = f": {pluralize(len(material.planned), 'trial')} are planned" if material.planned else ""
        return Finding("nothing", f"No trial has been played yet, so there is nothing to report{planned}.")
    lost = pluralize(len(material.invalid), "trial")
    held = " So it cannot be said whether anything changed since the baseline." if baseline else ""
    # The reasons why attempts failed, the most frequent first, each with one example of a text.
    broken = [one for one in material.conversations if one.outcome is None or one.outcome.kind == INVALID]
    counts = Counter(one.outcome.why if one.outcome else "interrupted" for one in broken)
    said = {one.outcome.why: one.outcome.detail for one in reversed(broken) if one.outcome}
    parts = []
    for reason, count in counts.most_common(_MOST):
        words = safe_name(said.get(reason, ""))
        words = f" (“{words[:_LONGEST]}{'…' if len(words) > _LONGEST else ''}”)" if words else ""
        parts.append(f"{reason} in {pluralize(count, 'attempt')}{words}")
    return Finding(
        "nothing",
        f"Nothing could be measured: none of {lost} that were tried has a valid attempt.{held}",
        f"This says nothing about how good {join_names([safe_name(name) for name in _tried_systems(material)])} "
        f"{'is' if len(_tried_systems(material)) == 1 else 'are'}: no figure includes failures of infrastructure. "
        f"{pluralize(len(material.planned), 'trial')} planned, none valid.",
        f"{'; '.join(parts)}." if parts else "",
        "Remove the cause, then audit again: it plays a new dated run."
        if baseline
        else "Remove the cause, then give the command that played the run again: it tries what has no valid attempt.",
        "harvest show " + " ".join(shlex.quote(shown_path(run)) for run in runs[:1]) + " --all",
        "#invalid",
    )


def _tried_systems(material: Material) -> list[str]:
    return list(dict.fromkeys(one.key.system for one in material.conversations))


def watch_finding(
    found: Watched, material: Material, run: Path, audit: Sequence[str] = ("AUDIT",), base: str = "BASELINE"
) -> Finding:
    """Return the finding about the system with the most serious verdict. `audit` is the audit, and `base`
    the baseline's file, as commands name them."""
    if not found.systems:
        return Finding("cannot tell", "The baseline has no system of this run.", f"{trial_count(material)}.")
    first, figure = most_serious(found)
    others = [one for one in found.systems if one is not first]
    also = [f"{safe_name(one.name)}: {_WORDS[_system_word(one)]}" for one in others[:_MOST]]
    also += [f"{len(others) - _MOST} more systems below"] if len(others) > _MOST else []
    verdict = _system_word(first)
    drives = [*_driver_words(first, moved=verdict in MOVED), *([f"Also {', '.join(also)}."] if also else ())]
    again = _audit_command(audit, found.rules)
    bless = f"harvest watch bless RUN… --out {shlex.quote(base)} --replace"
    following, command, link = _next_step(verdict, first, figure, run, again, bless, found.rules.apart)
    return Finding(
        "nothing" if verdict == "not measured" else verdict,
        _finding_sentence(verdict, first, figure, found, turns_words(material, [first.name])),
        _scope_words(found, first, figure, material),
        " ".join(drives),
        following,
        command,
        link,
    )


def most_serious(found: Watched) -> tuple[WatchedSystem, WatchedFigure | None]:
    """Return the system with the most serious verdict, and the figure that caused the verdict."""
    words = list(_WORDS)
    first = min(found.systems, key=lambda system: words.index(_system_word(system)))
    return first, serious_figure(first.figures)


_WORDS = {
    "changed": "changed",
    "not measured": "could not be measured",
    "alarm": "alarm, not confirmed yet",
    "fell": "fell, no alarm yet",
    "rose": "rose, no alarm yet",
    "perhaps back": "perhaps back near the baseline",
    "cannot tell": "cannot tell",
    "back": "back near the baseline",
    "same": "the same",
}


def _system_word(system: WatchedSystem) -> str:
    if not system.is_measured:
        return "not measured"
    words = {one.word for one in system.figures if one.gated}
    worst = next((word for word in _WORDS if word in words), system.verdict)
    return "cannot tell" if worst == "same" and system.verdict != "same" else worst


def _finding_sentence(kind: str, system: WatchedSystem, one: WatchedFigure | None, found: Watched, turns: str) -> str:
    name = safe_name(system.name)
    if system.incomparable:
        return f"{name} could not be measured against the baseline: {system.incomparable}."
    if one is None or not system.valid:
        tried = pluralize(system.planned, "trial")
        return f"{name} could not be measured: none of {tried} has a valid attempt."
    value, before = watch_words.value_text(one.value, one.name), watch_words.value_text(one.before, one.name)
    over = "" if one.over is None else f" (over {pluralize(one.over.topics, 'topic')} with a value on both sides)"
    if one.name == MEAN_USEFUL.name:
        did = f"it answered usefully in {value} of {turns}, at the baseline in {before}{over}"
    else:
        did = f"it had {one.name} {value}, at the baseline {before}{over}"
    did += f", a difference of {watch_words.shift_words(one)}"
    since = (
        f" It had changed by {watch_words.had_changed_words(one)}."
        if one.state.is_changed and kind != "changed"
        else ""
    )
    if kind == "changed":
        together, change = "", one.difference.value
        if one.judged is not None and one.judged.rests_on_several:
            together = f" Together with the audits before it: {watch_words.changed_by_words(one)}."
            change = one.judged.together[0]
        return f"{name} has {_way(change)} since the baseline: {did}{watch_words.change_words(one, found)}.{together}"
    if kind == "alarm":
        if watch_words.is_shown_by_itself(one):
            way = _way(one.difference.value)
            return f"{name} has probably {way} since the baseline: {did}. Another audit has to confirm it."
        return (
            f"The audits of {name} until now raised an alarm, which this one by itself does not show: {did}. Another "
            "audit has to confirm it."
        )
    if kind in ("fell", "rose"):
        evidence = watch_words.evidence_words(one)
        if not one.difference.is_beyond(found.smallest_effect):
            way = _way(one.gathered[0])
            together = watch_words.gathered_words(one, of=False)
            return (
                f"{name} may have {way} since the baseline: {did}. The last {one.gathered[3]} audits together: "
                f"{together}, which is not enough for an alarm ({evidence})."
            )
        few = watch_words.too_little_words(one)
        return f"{name} may have {_way(one.difference.value)} since the baseline: {did}. {few[0].upper()}{few[1:]}."
    if kind == "perhaps back":
        near = watch_words.near_words(one, found.smallest_effect)
        return (
            f"{name} is perhaps {near}: {did}{watch_words.joined_words(one)}. Another audit has to confirm it.{since}"
        )
    if kind == "back":
        words = watch_words.past_change_words(one)
        near = watch_words.near_words(one, found.smallest_effect)
        return f"{name} is {near}: {did}{watch_words.joined_words(one)}. {words[0].upper()}{words[1:]}."
    repaired = f" It had changed, and is {back}." if (back := watch_words.back_words(one)) else ""
    if kind == "same":
        small = f"{100 * found.smallest_effect:g} points"
        return f"{name} is the same as at the baseline, within {small}: {did}.{repaired}"
    if passing := watch_words.passing_words(one):
        return f"Whether {name} changed since the baseline cannot be told: {did}. {passing[0].upper()}{passing[1:]}."
    if since:
        return f"Whether {name} is back at the baseline cannot be told: {did}.{since}"
    by = watch_words.open_question(one, found.smallest_effect)
    return f"Whether {name} {by} since the baseline cannot be told: {did}.{repaired}"


def _way(change: float) -> str:
    return "fallen" if change < 0 else "risen" if change > 0 else "changed"


def _scope_words(found: Watched, system: WatchedSystem, one: WatchedFigure | None, material: Material) -> str:
    runs = pluralize(len(found.baseline.runs), "run")
    interval = f"{100 * found.level:g}% interval for these topics; " if one is not None else ""
    if one is not None and not one.difference.interval.is_defined:
        interval = f"{100 * found.level:g}% interval for these topics, between these very runs; "
    shadow = (
        "; shadow: a baseline of fewer than 4 runs says little about how much audits differ by themselves"
        if found.shadow
        else ""
    )
    return (
        f"{interval}{trial_count(material)}; look {found.look} at a baseline of {runs}, blessed "
        f"{found.baseline.blessed_at[:10]}{shadow}."
    )


def _first_topics(topics: Sequence[str]) -> str:
    more = f" and {len(topics) - _MOST} more" if len(topics) > _MOST else ""
    return join_names([safe_name(topic) for topic in topics[:_MOST]]) + more


def _driver_words(system: WatchedSystem, *, moved: bool) -> list[str]:
    """Return sentences on what may explain the verdict. Topics and turns explain a change, so they are left out unless
    the system `moved`: a few conversations that went on otherwise are no reason why nothing is known."""
    parts = []
    was, now = system.models
    if was and now and was != now:
        parts.append(f"It answered as {safe_name(' and '.join(now))}, before as {safe_name(' and '.join(was))}.")
    if system.coverage:
        parts.append(f"Fewer trials are valid than at the baseline: {system.valid} of {system.planned}.")
    if system.lost:
        parts.append(f"Without a valid trial now: {_first_topics(system.lost)}.")
    if system.unasked:
        parts.append(f"Not asked now: {_first_topics(system.unasked)}.")
    if moved and (words := watch_words.topics_words(system.stretch, moved=True)):
        parts.append(safe_name(f"{words[0].upper()}{words[1:]}{watch_words.named_topics(system.stretch, _MOST)}."))
    if moved and system.turns:
        turn = system.turns[0]
        before, share = (percent(share) for share in turn.portion)
        # The share of several audits is not that of this one, which the headline may name.
        over = f" over these {system.stretch.audits} audits" if system.stretch.audits > 1 else ""
        place = answer_place(turn.turns, turn.branch)
        parts.append(f"Conversations part at {place} in {share}{over}, before in {before}.")
    return parts


def _audit_command(audit: Sequence[str], rules: WatchRules) -> str:
    words = ["harvest", "watch", "run", *audit]
    for option, value, usual in (
        ("--matters", rules.matters, MATTERS),
        ("--looks", rules.looks, LOOKS),
        ("--confirm-after", rules.apart, APART),
    ):
        words += [option, f"{value:g}"] if value != usual else []
    return shlex.join([*words, *(["--enforce"] if rules.enforce else [])])


def _next_step(
    kind: str, system: WatchedSystem, one: WatchedFigure | None, run: Path, again: str, bless: str, apart: float
) -> tuple[str, str, str]:
    shown = system.stretch.shown if system.topics or kind in MOVED else ()
    topic = shown[0].topic if shown else ""
    show = f"harvest show {shlex.quote(shown_path(run))} --system {shlex.quote(system.name)}"
    show += f" --topic {shlex.quote(topic)}" if topic else ""
    link = address(system=system.name, topic=topic or None)
    later = watch_words.later_audit(math.nan if one is None else one.waits_since, apart)
    if kind == "changed":
        return (
            f"Read the conversations that changed. If the change is wanted, bless {FEWEST_RUNS} runs or more of "
            f"different days since then, in one command, as the new baseline: {bless}. Its history begins anew.",
            show,
            link,
        )
    if kind == "alarm":
        return (
            f"Play the audit again within hours: {later} confirms the alarm, or does not. A week is too slow, as the "
            "cause may be gone by then. Meanwhile read what changed.",
            again,
            link,
        )
    if kind in ("fell", "rose"):
        return (
            f"Play the audit again within hours: an alarm needs the evidence of more than one audit, and only {later} "
            "can confirm it. A week is too slow, as a fall of three weeks may be over before it is confirmed.",
            again,
            link,
        )
    if kind == "perhaps back" or (kind == "cannot tell" and one is not None and one.state.is_changed):
        return (
            f"Play the audit again: if {later} is near the baseline, too, it is back.",
            again,
            "",
        )
    passing = kind == "cannot tell" and one is not None and watch_words.passing_words(one)
    if kind in ("same", "back") or passing:
        return "Nothing needs to be done: the next audit of the schedule looks again.", "", ""
    if system.incomparable:
        return (
            "Bless runs of the audit as it is now, and compare later ones with them.",
            bless,
            "",
        )
    if kind == "not measured":
        return (
            "Remove the cause, then play the audit again. This says nothing about how good it is.",
            f"harvest show {shlex.quote(shown_path(run))} --all",
            "#invalid",
        )
    settles, words = Settling(), "play the audit again"
    if one is not None and one.settles.most:
        settles, words = one.settles, watch_words.settling_words(one.settles, shown=watch_words.is_shown_on_a_side(one))
    extend = f"{again} --extend {settles.trials}" if settles.trials else ""
    return f"{words[0].upper()}{words[1:]}.", extend, ""
