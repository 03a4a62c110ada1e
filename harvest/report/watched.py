"""The sections of a watched audit: how its figures differ from the baseline, and the series of its audits."""

import math
from collections.abc import Iterator, Sequence

from harvest.report.bars import Bar, difference_scale
from harvest.report.blessed import Blessed
from harvest.report.blocks import Block, as_blocks, details, picture, table, text
from harvest.report.finding import answer_place, safe_name
from harvest.report.forest import forest
from harvest.report.grid import address
from harvest.studies.watch.figures import DISCOVERY, THESE_RUNS, verdict_lines, watch_tables
from harvest.studies.watch.history import Look
from harvest.studies.watch.history_chart import history_chart
from harvest.studies.watch.history_tables import history_tables
from harvest.studies.watch.watched import Watched, WatchedFigure, WatchedSystem
from harvest.studies.watch.words import signed_value, stretch_words, topics_words, value_text
from harvest.tables.comparison_words import p_text
from recordings.files.times import unix_seconds
from scoring.table import is_percentage
from topics.decimals import percent

_MOST_ALIKE = 5  # topics that are listed if none stands out


def watched_blocks(found: Watched, blessed: Blessed | None = None) -> Iterator[Block]:
    """Yield the figures of `harvest watch run`: for each system the differences from the baseline, then its changes,
    with links to conversations beside those of the `blessed` run if there is one."""
    if len(found.systems) > 1:  # else the finding at the top of the report says the same
        yield {"list": [line.plain for line in verdict_lines(found)], "tone": ""}
    parts = as_blocks(watch_tables(found, changes=False), "Held against the baseline")
    for system in found.systems:
        if system.figures:
            yield text(safe_name(system.name), "heading")
            yield _difference_forest(system, found.smallest_effect)
        yield from _changes(system, blessed)
    rest = [part for part in parts if "table" not in part]
    yield from (part for part in rest if part["tone"] != "warn")
    if warnings := [part["text"] for part in rest if part["tone"] == "warn"]:
        yield {"list": warnings, "tone": "warn"}  # of all systems, so not between their pictures
    yield details("As a table", [part for part in parts if "table" in part])


def _changes(system: WatchedSystem, blessed: Blessed | None) -> Iterator[Block]:
    """Yield the topics and the turns that changed, each with a link to its conversations."""
    name, right = safe_name(system.name), [False, True, True, True, False]
    rows: list[Sequence[object]] = []
    figure, alike = system.stretch.figure, not system.topics
    for one in system.stretch.shown[: _MOST_ALIKE if alike else None]:
        now, before = value_text(one.now, figure), value_text(one.before, figure)
        difference = _words((one.value, one.low, one.high), figure, known=True)
        both = blessed.topic_link(system.name, one) if blessed else ""
        own = address(system=system.name, topic=one.topic)
        link = {"text": "before and now", "href": both} if both else {"text": "read them", "href": own}
        rows.append([safe_name(one.topic), before, now, difference, link])
    if words := topics_words(system.stretch, moved=system.has_moved):
        none = "; none stands out from the others" if alike else ""
        yield text(f"{safe_name(words[0].upper() + words[1:])}{none}.")
    if rows:
        now = "now" if system.stretch.audits < 2 else f"in {system.stretch.audits} audits"
        head = ["topic", "baseline", now, "difference [low, high]", "conversations"]
        those = "with the largest changes" if alike else "that stand out"
        yield table(head, rows, right, f"Topics of {name} {those}, {stretch_words(system.stretch)}")
    rows = []
    for turn in system.turns:
        before, now = (f"{percent(share)} of {came}" for share, came in zip(turn.portion, turn.came, strict=True))
        both = blessed.turn_link(system.name, turn, system.topics) if blessed else ""
        place = answer_place(turn.turns, turn.branch).removesuffix(":")
        rows.append([place, now, before, p_text(turn.p), {"text": "before and now", "href": both} if both else ""])
    if not any(row[-1] for row in rows):
        rows = [row[:-1] for row in rows]
    if rows:
        now = "share now" if system.stretch.audits < 2 else f"share in {system.stretch.audits} audits"
        head = ["turn", now, "at the baseline", "p", "conversations"][: len(rows[0])]
        title = f"Turns at which conversations of {name} go on otherwise, {stretch_words(system.stretch)}"
        yield table(head, rows, right[: len(rows[0])], title)


def _difference_forest(system: WatchedSystem, matters: float) -> Block:
    shares = [one for one in system.figures if is_percentage(one.name.partition(" ")[0])]
    groups = [shares, *([one] for one in system.figures if one not in shares)]
    bars: list[Bar] = []
    for own in groups:
        share = own is shares
        values = [value for one in own for value in (one.difference.value, *one.difference.printed_ends)]
        scale = difference_scale([*values, *([matters] if share else [])], share=share)
        for one in own:
            ends = (one.difference.value, *one.difference.printed_ends)
            more = (
                value_text(one.before, one.name),
                value_text(one.value, one.name),
                one.word if one.gated else _shown_only(one),
            )
            bars.append(
                scale.difference(
                    one.name,
                    _words(ends, one.name, known=one.difference.interval.is_defined),
                    ends,
                    matters if share else math.nan,
                    filled=one.gated,
                    more=more,
                )
            )
    return forest(bars, f"{safe_name(system.name)} since the baseline", ("", "change", "baseline", "now", "verdict"))


def _shown_only(one: WatchedFigure) -> str:
    """Return the cell of a figure that raises no alarm, as the table of the command has it."""
    return f"shown only, q {p_text(one.q)}" if one.q <= DISCOVERY else "shown only"


def history_blocks(looks: Sequence[Look]) -> Iterator[Block]:
    """Yield the series of `harvest watch history` for figures that can raise alarms: a chart of the audits, change
    points, and the values on demand."""
    gated = dict.fromkeys(
        (system, name)
        for look in looks
        for system, one in look.systems.items()
        for name, own in one.figures.items()
        if own.evidence is not None
    )
    for system, name in gated:
        parts = as_blocks(history_tables(looks, system, name), f"{name} of {system}, audit by audit")
        if all(math.isfinite(unix_seconds(look.at)) for look in looks):  # or else they have no place in a chart
            yield picture(history_chart(looks, [(system, name)]))
        yield from (part for part in parts if "table" not in part)
        yield details(f"Values of {safe_name(system)}, audit by audit", [part for part in parts if "table" in part])


def _words(values: tuple[float, float, float], name: str, *, known: bool) -> str:
    """Format a difference and its interval, with a mark if the interval is only between the recorded runs."""
    value, low, high = values
    said = "" if math.isnan(value) else signed_value(value, name)
    ends = "" if math.isnan(low) else f"[{signed_value(low, name)}, {signed_value(high, name)}]"
    return f"{said} {ends}{'' if known or not ends else THESE_RUNS}".strip()
