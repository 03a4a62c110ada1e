"""Printed sentences, tables and long-form rows of runs whose answers were labelled again."""

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.relabel.paper import relabel_latex
from harvest.studies.relabel.relabelling import Course, Figure, LabelChange, Relabelled, Relabelling, envelope
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.sources import sources
from harvest.studies.scores.trial_values import Key, key_name
from harvest.tables.comparison_words import interval_words
from harvest.tables.figure_table import figure_table
from harvest.tables.figures import shown_with_interval
from harvest.tables.long_rows import LongRow, interval_cells, score_cells, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable, terminal_width, wrap_lines
from protocols.labels import NOT_USEFUL, USEFUL
from protocols.library import protocol_hash
from protocols.route_words import decision_words
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import format_change
from topics.shown_names import shorten

FORMAT = "harvest-relabel/1"

_MOST_LISTED = 10  # kinds of changes
_LONGEST_REASON = 200  # characters
_COURSES: dict[Course, str] = {
    "other end": "would have ended with another outcome",
    "shorter": "would have ended earlier, and {is_} known as far as {it} would have gone",
    "unknown": "would have continued differently",
}
_LEGEND = (
    "change: of these very answers, for which it is known {known}; of percentages in points; [low, high]: what to "
    "expect beyond them, the {level:g}% interval for {of}"
)
_BOUNDS = (
    "a value A to B: conversations would have continued differently, and nobody knows how; A counts each of their "
    "unknown turns as useless, B as useful, and the interval holds both"
)


def relabel_form(relabellings: Sequence[Relabelling], *, every: bool = False) -> StudyForm:
    """Return the printable form of several runs. With `every`, all changes are listed, and not only the first one of
    each kind."""
    names = run_names([one.run for one in relabellings])
    described = sources([one.run for one in relabellings])
    return StudyForm(
        head={"format": FORMAT, "runs": [_as_json(name, one) for name, one in zip(names, relabellings, strict=True)]},
        rows=lambda: (row for name, one in zip(names, relabellings, strict=True) for row in _rows(name, one)),
        tables=lambda _: (
            part for name, one in zip(names, relabellings, strict=True) for part in _tables(name, one, every)
        ),
        sources=described,
        paper=lambda: relabel_latex(names, relabellings, described),
    )


def _tables(name: str, one: Relabelling, every: bool) -> Iterator[RenderableType]:
    protocol = f"{one.protocol.name}, version {one.protocol.version}"
    yield Text(printable(f"{name}, with protocol {protocol}", line=True), style="bold")
    yield from map(Text, summary_lines(one))
    if one.figures:
        yield from _figure_parts(one)
    changed = [each for each in one.conversations if each.changes or each.course != "same"]
    for line in _every_line(one, changed) if every else _line_of_each_kind(one, changed):
        yield Text(wrap_lines(printable(line, line=True), terminal_width(sys.stdout), hang=4), no_wrap=True)
    if changed and not every:
        yield Text("--all lists every change", style="dim")
        yield Text(
            "to score or compare the old answers by this protocol, name it in an audit that replays them: driver: "
            f"replay, options: {{run: {printable(name, line=True)}}} (docs/protocols.md has an example)"
            + ("; what would have continued differently counts up to there" if one.count("unknown") else ""),
            style="dim",
        )


def summary_lines(relabelling: Relabelling) -> Iterator[str]:
    """Yield sentences that count the changed labels and the conversations that would have taken another course."""
    total = len(relabelling.conversations)
    changed = relabelling.kinds.total()
    kinds = ", ".join(f"{was or 'none'} → {now}: {count}" for (was, now), count in relabelling.kinds.most_common())
    verb = "changes" if changed == 1 else "change"
    given = sum(turn.label is not None for each in relabelling.conversations for turn in each.recorded.turns)
    left = given - relabelling.labels
    further = f"{pluralize(left, 'further label')} {'is' if left == 1 else 'are'}"
    rest = f"; {further} of later turns, which this protocol may not have asked" if left > 0 else ""
    yield f"{changed} of {pluralize(relabelling.labels, 'label')} {verb}{f' ({kinds})' if kinds else ''}{rest}."
    for course, words in _COURSES.items():
        several = relabelling.count(course)
        if several or course == "unknown":
            said = words.format(is_="is" if several == 1 else "are", it="it" if several == 1 else "they")
            yield f"{several} of {pluralize(total, 'conversation')} {said}."
    if relabelling.other_versions:
        verb = "was" if relabelling.other_versions == 1 else "were"
        decisions = f"{pluralize(relabelling.other_versions, 'decision')} that did not change {verb}"
        yield f"{decisions} recorded with other versions of the rules."
    if relabelling.same_version:
        version = f"the same version, {relabelling.protocol.version}"
        yield f"The recorded protocol is another one of {version}: raise it with every change."
    if not relabelling.bound:
        yield "No protocol was recorded, so whatever the users said counts as said by this one."


def _figure_parts(one: Relabelling) -> Iterator[RenderableType]:
    shown = {at: figure for at, figure in one.figures.items() if _has_value(figure) and not figure.is_same}
    same = sum(_has_value(figure) and figure.is_same for figure in one.figures.values())
    if shown:
        table = figure_table("system", ("before [low, high]", "after [low, high]", "change [low, high]"), max_width=26)
        for key in dict.fromkeys(key for _, key in shown):
            table.add_row(Text(key_name(key), style="bold"))
            for (system, of), figure in shown.items():
                if of == key:
                    table.add_row(Text(f"  {printable(system, line=True)}"), *map(Text, _cells(key, figure)))
        yield table
        kind = "these topics" if one.settings.estimand == "these" else "topics like these"
        exact = all(figure.is_known for figure in shown.values())
        known = "exactly" if exact else "exactly, or from A to B"
        yield Text(_LEGEND.format(level=100 * one.settings.level, of=kind, known=known), style="dim")
        if any(len(figure.after) > 1 for figure in shown.values()):
            yield Text(_BOUNDS, style="dim")
        yield from (Text(line, style="dim") for line in _change_notes(shown))
        if fallen := _fallen(one, shown):
            yield Text(fallen, style="dim")
        withheld = [f"{key_name(key)} of {system}" for (system, key), figure in shown.items() if not figure.after]
        if withheld:
            named = printable(", ".join(withheld), line=True)
            yield Text(f"withheld: {named}: conversations would have continued differently", style="yellow")
    if same:
        verb = "is" if same == 1 else "are"
        yield Text(f"{pluralize(same, 'figure')} {verb} the same before and after", style="dim")


def _change_notes(shown: Mapping[tuple[str, Key], Figure]) -> Iterator[str]:
    """Yield of which trials the changes of a turn are, where not all have it before and after, and why some changes
    have no interval."""
    fewer: dict[Key, list[str]] = {}
    for (system, key), figure in shown.items():
        least = min((one.n for one in figure.change), default=0)
        if figure.before is not None and key[1] is not None and least < figure.before.n:  # n of others is of turns
            fewer.setdefault(key, []).append(f"{printable(system, line=True)} {least} of {figure.before.n}")
    for key, systems in fewer.items():
        yield f"change of {key_name(key)}: of the trials that have it before and after: {', '.join(systems)}"
    for (system, key), figure in shown.items():
        if any(one.n for one in figure.change) and (note := figure.change_interval.note):
            # The two sides are one system, before and after.
            why = re.sub(r"the (first|second) system has", "before or after, it has", note)
            yield f"no interval: change of {key_name(key)} of {printable(system, line=True)} ({why})"


def _fallen(one: Relabelling, shown: Mapping[tuple[str, Key], Figure]) -> str:
    """Explain how a share can fall although all changed labels are better, or return "" if none does."""
    if set(one.kinds) != {(NOT_USEFUL, USEFUL)}:
        return ""
    fell = {at: figure for at, figure in shown.items() if min((end.value for end in figure.change), default=0.0) < 0}
    named = printable(", ".join(f"{key_name(key)} of {system}" for system, key in fell), line=True)
    if not fell:
        return ""
    if any(figure.is_known for figure in fell.values()):
        how = "a conversation with a better label has other turns: it ends elsewhere, or is asked fewer or later ones"
    else:
        how = "a conversation with a better label goes on otherwise, and A counts each of its unknown turns as useless"
    return f"{named} can fall although each changed label goes {NOT_USEFUL} → {USEFUL}: {how}"


def _has_value(figure: Figure) -> bool:
    rows = (*((figure.before,) if figure.before else ()), *figure.after)
    return any(not math.isnan(row.value) for row in rows)


def _cells(key: Key, figure: Figure) -> tuple[str, str, str]:
    share = is_percentage(key[0])
    before = shown_with_interval(figure.before) if figure.before else "n/a"
    if not figure.after:
        return before, "withheld", "withheld"
    row = envelope(figure.after)
    after = shown_with_interval(row)
    values = list(dict.fromkeys(format_change(one.value, share=share) for one in figure.change if one.n))
    if not figure.is_known:
        ends = [one.shown(one.value) for one in figure.after]
        after = " ".join(filter(None, (" to ".join(dict.fromkeys(ends)), after.partition(" ")[2])))
    change = f"{' to '.join(values)} {interval_words(figure.change_interval, share=share)}".strip()
    return before, after, change or "n/a"


def _every_line(one: Relabelling, changed: Sequence[Relabelled]) -> Iterator[str]:
    for each in changed:
        yield from (_change_line(one, each, change) for change in each.changes)
        if each.course != "same":
            yield _course_line(each)


def _line_of_each_kind(one: Relabelling, changed: Sequence[Relabelled]) -> Iterator[str]:
    """Yield the first change of each kind with the number of the others, the most frequent kind first. A list of the
    first changes would show one rule a hundred times, and hide the others."""
    kinds: dict[tuple[str, ...], list[tuple[Relabelled, LabelChange | None]]] = {}
    for each in changed:
        for change in each.changes:
            kind = (change.was, change.now, change.route.state, decision_words(change.route))
            kinds.setdefault(kind, []).append((each, change))
        if each.course != "same":
            last = each.known.turns[-1].route if each.known.turns else None
            kinds.setdefault((each.course, last.target if last else ""), []).append((each, None))
    found = sorted(kinds.values(), key=len, reverse=True)
    for (first, own), *more in found[:_MOST_LISTED]:
        line = _course_line(first) if own is None else _change_line(one, first, own)
        yield line + (f"; {len(more):,} more of this kind" if more else "")
    if len(found) > _MOST_LISTED:
        yield f"… and {pluralize(len(found) - _MOST_LISTED, 'more kind')}"


def _change_line(one: Relabelling, each: Relabelled, change: LabelChange) -> str:
    findings = "; ".join(f"{found.name}: {found.why}" for found in one.explain(each, change) if found.why)
    because = decision_words(change.route) + (f" ({shorten(findings, _LONGEST_REASON)})" if findings else "")
    return f"{_trial_name(each)}, turn {change.turn}: {change.was or 'no label'} → {change.now}, because {because}"


def _course_line(each: Relabelled) -> str:
    was, now = (one.outcome.kind if one.outcome else "interrupted" for one in (each.recorded, each.known))
    return f"{_trial_name(each)}: {each.because or f'would have ended as {now}, not {was}'}"


def _trial_name(each: Relabelled) -> str:
    key, attempt = each.recorded.key, each.recorded.attempt
    return f"{key.system} {key.topic} trial {key.trial}{f' attempt {attempt}' if attempt > 1 else ''}"


def _as_json(name: str, one: Relabelling) -> dict[str, Any]:
    return {
        "run": name,
        "protocol": {"name": one.protocol.name, "version": one.protocol.version, "hash": protocol_hash(one.protocol)},
        "protocol_recorded": one.bound,
        "conversations": len(one.conversations),
        "labels": one.labels,
        "labels_changed": one.kinds.total(),
        "kinds": [{"was": was or None, "now": now, "n": n} for (was, now), n in one.kinds.most_common()],
        "other_end": one.count("other end"),
        "shorter": one.count("shorter"),
        "gone_on_otherwise": one.count("unknown"),
        "decisions_by_other_rule_versions": one.other_versions,
        "changed": [
            _conversation_json(one, each) for each in one.conversations if each.changes or each.course != "same"
        ],
    }


def _conversation_json(one: Relabelling, each: Relabelled) -> dict[str, Any]:
    key = each.recorded.key
    ends = [side.outcome.kind if side.outcome else None for side in (each.recorded, each.known)]
    return {
        "system": key.system,
        "topic": key.topic,
        "trial": key.trial,
        "attempt": each.recorded.attempt,
        "course": each.course,
        "because": each.because or None,
        "outcome_was": ends[0],
        "outcome_now": None if each.course == "unknown" else ends[1],
        "labels": [
            {
                "turn": change.turn,
                "was": change.was or None,
                "now": change.now,
                "rule": change.route.rule,
                "target": change.route.target,
                "rules": [
                    {"name": found.name, "met": found.met, "why": found.why} for found in one.explain(each, change)
                ],
            }
            for change in each.changes
        ],
    }


def _rows(name: str, one: Relabelling) -> Iterator[LongRow]:
    """Yield each figure before and after, and its change."""
    for (system, key), figure in one.figures.items():
        base = LongRow(
            study="relabel",
            run=name,
            figure="before",
            unit=unit_of(is_percentage(key[0])),
            measure=key[0],
            turn=key[1],
            system=system,
            estimand=one.settings.estimand,
        )
        if figure.before is not None:
            yield replace(base, **score_cells(figure.before))
        cells = score_cells(envelope(figure.after)) if figure.after else {"note": figure.change_interval.note}
        ends = [row.value for row in figure.after]
        if len(ends) > 1:
            cells |= {"estimate": math.nan, "lowest": ends[0], "highest": ends[1], "note": _BOUNDS}
        yield replace(base, figure="after", **cells)
        values = [change.value for change in figure.change]
        yield replace(
            base,
            figure="change",
            estimate=values[0] if len(values) == 1 else math.nan,
            lowest=values[0] if len(values) > 1 else math.nan,
            highest=values[-1] if len(values) > 1 else math.nan,
            pairs=figure.change[0].n if figure.change else None,
            **interval_cells(figure.change_interval, one.settings.level),
        )
