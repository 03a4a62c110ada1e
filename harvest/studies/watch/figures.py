"""Printed tables and sentences about an audit that was compared with its baseline."""

import math
from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.watch import words as watch_words
from harvest.studies.watch.watched import Watched, WatchedSystem
from harvest.tables.comparison_words import p_text
from harvest.tables.figure_table import Item
from harvest.terminal import printable
from scoring.inference.drift import BUDGET, SAME_BUDGET
from scoring.inference.run_effects import FEWEST_RUNS
from topics.counting import pluralize
from topics.decimals import percent

DISCOVERY = 0.1  # rate of false discoveries up to which q is printed
_MOST_ALIKE = 3  # topics that are named if none stands out
# Marks an interval for another estimand: between these very runs.
THESE_RUNS = "°"

STYLES = {
    "changed": "red",
    "alarm": "red",
    "fell": "red",
    "rose": "red",
    "same": "green",
    "back": "green",
    "perhaps back": "yellow",
    "cannot tell": "yellow",
}


def verdict_lines(found: Watched, *, settling: bool = True) -> Iterator[Text]:
    """Yield a sentence for each system, the most serious verdict first (see `watch_words.system_sentence`)."""
    serious = list(STYLES)
    worst = {
        # The verdict that most needs a person's attention.
        one.name: min([*(own.word for own in one.figures if own.gated), one.verdict], key=serious.index)
        for one in found.systems
    }
    for system in sorted(found.systems, key=lambda one: serious.index(worst[one.name])):
        sentence = printable(watch_words.system_sentence(system, found, settling=settling), line=True)
        yield Text(sentence, style=f"bold {STYLES[worst[system.name]]}")


def watch_tables(found: Watched, *, changes: bool = True, explain: bool = True) -> Iterator[RenderableType]:
    """Yield the figures of each system, warnings, and the topics and turns that changed (unless `changes` is false).
    With `explain`, the words and columns are explained at the end."""
    for system in found.systems:
        if system.figures:
            yield _figure_table(system)
        yield from (
            Text(printable(watch_words.topic_change_words(one), line=True), style="dim")
            for one in system.figures
            if one.over
        )
        for line in system_details(system) if changes else _system_warnings(system):
            item = line.plain.removeprefix("  ")
            yield line if item == line.plain else Item(item)
    runs = pluralize(len(found.baseline.runs), "run")
    yield Text(
        f"look {found.look} at a baseline of {runs}, blessed {found.baseline.blessed_at[:10]}; figures and intervals "
        "are of these topics",
        style="dim",
    )
    if found.shadow:
        yield Text(
            "shadow: the baseline has fewer than 4 runs, so how much audits differ by themselves is hardly known; "
            "verdicts change no exit code until it has, or with --enforce",
            style="yellow",
        )
    if explain:
        yield from (Item(line, "dim") for line in _legend(found))
    else:
        yield Text("--explain says what the words and columns mean", style="dim")


def _legend(found: Watched) -> Iterator[str]:
    """Yield what the words and the columns mean, each with an explanation."""
    level = f"{100 * found.level:g}% interval of the difference"
    if len(found.baseline.runs) < FEWEST_RUNS:
        interval = (
            f"[low, high]{THESE_RUNS}: the {level} between these very runs, at their hours; that of the systems takes "
            f"{FEWEST_RUNS} blessed runs, which show how much audits differ by themselves; so does same"
        )
    else:
        interval = (
            f"[low, high]: the {level}, by the trials of both sides and what audits differ by; same: within "
            f"±{100 * found.smallest_effect:g} points, wrong in at most {100 * SAME_BUDGET:g}% of runs, however often "
            "they are extended"
        )
    apart = found.rules.apart
    later = f", {watch_words.apart_words(apart)}" if apart >= 60 else ""
    yield (
        f"changed: an alarm over all looks (the chance of a false one in {pluralize(found.rules.looks, 'audit')} is at "
        f"most {100 * BUDGET:g}%) that another audit confirmed{later}; it lasts until two audits are back near the "
        "baseline"
    )
    yield "look: an audit that is held against the baseline; all looks at it share the chance of a false alarm"
    yield "alarm, as a verdict: an alarm that no other audit has confirmed yet"
    yield (
        "perhaps back: after a change, one audit is near the baseline, or beyond it on the good side; back: a second "
        "one is, at another hour"
    )
    yield (
        "fell, rose: its interval, or that of the last audits together, lies beyond what matters, which is not enough "
        "for an alarm"
    )
    yield interval
    yield "n: trials with a value; alarm, in percent: evidence as a share of what raises one"
    yield (
        "*: shown only, raises no alarm; q: the smallest false discovery rate, over all figures that are shown only, "
        f"at which this one counts as changed (Benjamini-Yekutieli; none is printed above {DISCOVERY:g})"
    )


def _figure_table(system: WatchedSystem) -> Table:
    valid = f"{system.name}, {pluralize(system.valid, 'valid trial')} of {system.planned}"
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,  # with edges, 80 columns are too few for "perhaps back"
        caption=Text(" "),  # an empty line
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=Text(printable(valid, line=True), no_wrap=True, overflow="ignore"),  # it may be wider than the table
        title_justify="left",
        title_style="bold",
    )
    table.add_column("figure", overflow="fold", min_width=10)
    for heading in ("baseline", "now", "difference [low, high]", "n", "alarm", "verdict"):
        table.add_column(Text(heading), justify="right", no_wrap=True)  # a text: brackets are no markup
    for one in system.figures:
        reached = max(one.levels) if one.gated else math.nan
        low, high = (watch_words.signed_value(end, one.name) for end in one.difference.printed_ends)
        mark = "" if one.difference.interval.is_defined else THESE_RUNS
        found = f"q {one.q:.3f}".replace("0.", ".", 1) if one.q <= DISCOVERY else ""
        table.add_row(
            one.name if one.gated else f"{one.name}*",
            watch_words.value_text(one.before, one.name),
            watch_words.value_text(one.value, one.name),
            f"{watch_words.signed_value(one.difference.value, one.name)} [{low}, {high}]{mark}",
            str(one.n) if one.over is None else f"{one.n} of {one.over.n}",
            # After a confirmed change the evidence starts from zero: 0% would deny the alarm.
            "" if math.isnan(reached) or (one.word == "changed" and not reached) else percent(reached),
            Text(one.word, style=STYLES[one.word]) if one.gated else found,
        )
    return table


def system_details(system: WatchedSystem) -> Iterator[Text]:
    """Yield lines about a system's coverage, the models it names, and the topics and turns that changed."""
    yield from _system_warnings(system)
    stretch = system.stretch
    if words := watch_words.topics_words(stretch, moved=system.has_moved):
        rest = "; these stand out (their intervals hold together):" if stretch.named else "; none stands out"
        rest += ", the largest being:" if stretch.shown and not stretch.named else ""
        yield Text(printable(f"  {words}{rest}", line=True))
    for topic in stretch.named or stretch.shown[:_MOST_ALIKE]:
        yield Text(printable(f"  {watch_words.topic_words(topic, stretch.figure)}", line=True))
    over = "" if stretch.audits < 2 else f" ({watch_words.stretch_words(stretch)})"
    for turn in system.turns:
        way = " → ".join((*turn.turns, turn.branch))
        then, today = map(percent, turn.portion)
        came = f"{today} of {turn.came[1]} that came there{over}, before {then} of {turn.came[0]}"
        said = f"{way}: {came}; p {p_text(turn.p)}"
        yield Text(printable(f"  {said}", line=True))


def _system_warnings(system: WatchedSystem) -> Iterator[Text]:
    if system.continued:
        yield Text(
            f"{system.name}: its sessions continue from topic to topic, so trials depend on each other: alarms "
            "and intervals treat them as independent, and may be too optimistic",
            style="yellow",
        )
    for sentence in watch_words.dependence_sentences(system.name, *system.in_time):
        yield Text(printable(sentence, line=True), style="yellow")
    was, now = system.models
    if was and now and was != now:
        yield Text(
            printable(f"{system.name}: answered as {' and '.join(now)}, before as {' and '.join(was)}", line=True),
            style="yellow",
        )
    if system.planned and not system.valid:
        yield Text(
            f"{system.name}: none of its {pluralize(system.planned, 'trial')} is valid: an outage, which says nothing "
            "about its answers",
            style="yellow",
        )
    elif system.coverage:
        yield Text(
            f"{system.name}: coverage fell: {system.valid} of {system.planned} trials are valid; whether that depends "
            "on the answers cannot be known",
            style="yellow",
        )
    if system.lost and system.valid:
        yield Text(f"{system.name}: no valid trial of {', '.join(system.lost)}", style="yellow")
    if system.unasked:
        yield Text(f"{system.name}: not asked: {', '.join(system.unasked)}", style="yellow")
