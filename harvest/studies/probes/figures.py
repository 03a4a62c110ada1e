"""The findings of probes as a study: a table for each system, and a list of the answers behind the table."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.probes.findings import NotedCase, ProbeFindings, omission_notes
from harvest.studies.probes.rows import CRITERION, D_PRIME, explain_measure, measure_family, undecided_measure
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.sources import sources
from harvest.tables.figures import estimand_of
from harvest.tables.long_rows import LongRow, Unit, score_cells
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable, wrap_lines
from recordings.log.run_folder import Run
from scoring.table import ScoreRow
from topics.counting import pluralize
from topics.decimals import percent

FORMAT = "harvest-findings/2"

_LONGEST_TEXT = 240  # characters of an answer that are shown, around the words that decided


def finding_tables(
    findings: ProbeFindings, rows: Sequence[ScoreRow], wanted: Sequence[str] = ()
) -> Iterator[RenderableType]:
    """Yield a table for each system, and then explanations of the measures. `wanted` names the measures in the
    tables; () means all."""
    whole = [row for row in rows if row.topic is None and row.entity is None]
    measures: list[str] = []
    for system, found in findings.sides():
        here = {row.measure: row for row in whole if row.system == system}
        shown_here = [name for name in here if not name.startswith("undecided(") and (not wanted or name in wanted)]
        if not shown_here:
            continue
        measures += [name for name in shown_here if name not in measures]
        topics = len({one.key.topic for one in found})
        heading = (
            f"{printable(system, line=True)}: {pluralize(len(found), 'conversation')}, {pluralize(topics, 'topic')}"
        )
        yield Text(heading, style="bold")
        yield _finding_table(shown_here, here)
        for name in shown_here:
            row = here[name]
            if row.invalid and not math.isnan(row.worst):
                low, high = _value_text(name, row.worst), _value_text(name, row.best)
                yield Text(
                    (f"{name} would be {low} to {high} if all invalid trials had counted as no, or as yes"),
                    style="yellow",
                )
            if name == D_PRIME:
                yield Text(f"{name}: {row.note}", style="dim")
    said = dict.fromkeys((measure_family(name), explain_measure(name)) for name in measures)
    for name, words in said:
        yield Text(f"{name}: {words}", style="dim")
    if measures:
        yield Text(
            "n: answers in the figure; eff. n: how many independent answers would vary as much, by the spread "
            "between topics (trials, if there is one topic); undec.: answers that gave both the right and the wrong "
            "phrase, or neither. Intervals: over topics (docs/measures.md), for d' and c combined from two of them; "
            "they are for these questions asked on other topics, not for other questions.",
            style="dim",
        )


def _finding_table(names: Sequence[str], rows: dict[str, ScoreRow]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("finding", overflow="fold", min_width=26)
    level = next((row.level for row in rows.values() if row.level), 0.95)
    of = estimand_of(row.resampled for name in names if (row := rows[name]).low == row.low)
    interval = "\n".join((f"{100 * level:g}% interval", *of.split(" ", 1))).strip()
    for heading in ("value", interval, "n", "eff. n", "topics", "undec."):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in names:
        row = rows[name]
        interval = "" if math.isnan(row.low) else f"[{_end_text(name, row.low)}, {_end_text(name, row.high)}]"
        unclear = rows.get(undecided_measure(name))
        count = "" if unclear is None else str(round(unclear.value * unclear.n) if unclear.n else 0)
        topics = "" if row.topics is None else str(row.topics)
        effective = ""
        if name not in (D_PRIME, CRITERION) and row.n:
            found = re.search(r"effective n = ([\d.]+)", row.note)
            effective = found[1] if found else str(row.n)
        table.add_row(Text(name), _value_text(name, row.value), interval, str(row.n), effective, topics, count)
    return table


def _value_text(measure: str, value: float) -> str:
    if math.isnan(value):
        return "n/a"
    if measure in (D_PRIME, CRITERION):
        return "∞" if value == math.inf else "-∞" if value == -math.inf else f"{value:.2f}"
    return percent(value, 1)


def _end_text(measure: str, value: float) -> str:
    return _value_text(measure, value).removesuffix("%")


def case_lines(cases: Sequence[NotedCase]) -> Iterator[Text]:
    """Yield lines for every answer that counts: the user's turn, the answer, the deciding words and the verdict."""
    for key, of_one in groupby(cases, key=lambda one: one.key):
        yield Text(
            f"\n{printable(key.system, line=True)}, {printable(key.topic, line=True)}, trial {key.trial}", style="bold"
        )
        for (asked, turn), here in groupby(of_one, key=lambda one: (one.asked, one.turn)):
            same = list(here)
            first = same[0]
            about = f" {printable(first.case.fact, line=True)}"
            before = f", answer before: {first.before}" if first.before else ""
            yield Text(f"turn {asked}, {first.act}{about}{before}")
            yield Text(f"  user: {_cut_text(first.said, ())}")
            if turn != asked:
                yield Text(f"  reply: {_cut_text(first.reply, ())}")
            answer = "answer" if turn == asked else f"turn {turn}, answer"
            yield Text(f"  {answer}: {_cut_text(first.answer, (*first.right, *first.wrong))}")
            if first.act != "justify":  # reasons are not recognised by phrases
                yield Text(f"  {_decided_cell(first)}", style="cyan")
            for one in same:
                yield Text(f"  {one.case.measure}: {_outcome_text(one)}", style="green" if one.case.yes else "yellow")


def _decided_cell(one: NotedCase) -> str:
    nothing = "it is no refusal" if (one.act, one.verdict) == ("harmless", "right") else "nothing in it decides"
    kinds = (("right", one.right), ("wrong", one.wrong))
    said = [
        f"{name}: {', '.join(f'“{printable(word, line=True)}”' for word in words)}" for name, words in kinds if words
    ]
    return f"verdict {one.verdict}" + (f" ({'; '.join(said)})" if said else f" ({nothing})")


def _outcome_text(one: NotedCase) -> str:
    if one.case.yes is None:
        return "undecided, not counted" if one.case.undecided else "not labelled, not counted"
    return ("yes" if one.case.yes else "no") + (", undecided" if one.case.undecided else "")


def _cut_text(text: str, words: Sequence[str]) -> str:
    """Return a text on one line. A long text is cut to the part around the first of `words`, or else to its start."""
    line = " ".join(text.split())
    if len(line) <= _LONGEST_TEXT:
        return printable(line, line=True)
    places = [at for word in words if (at := line.find(" ".join(word.split()))) >= 0]
    start = max(0, min(places, default=0) - _LONGEST_TEXT // 2)
    piece = line[start : start + _LONGEST_TEXT]
    more = "…" if start + _LONGEST_TEXT < len(line) else ""
    return printable(f"{'…' if start else ''}{piece}{more} [{len(text)} characters]", line=True)


def findings_form(
    findings: ProbeFindings,
    rows: Sequence[ScoreRow],
    runs: Sequence[Run],
    *,
    level: float,
    measures: Sequence[str] = (),
) -> StudyForm:
    """Return the printable form of the findings. `rows` are the figures, and `level` is the confidence level of
    intervals. `measures` names the measures in the tables; () means all."""
    notes, run = omission_notes(findings), ", ".join(run_names(runs))

    def long_rows() -> Iterator[LongRow]:
        for row in rows:
            unit: Unit = "value" if row.measure in (D_PRIME, CRITERION) else "share"
            yield LongRow(study="findings", run=run, figure="finding", unit=unit, **score_cells(row))

    return StudyForm(
        head={"format": FORMAT, "settings": {"level": level}, "notes": list(notes)},
        rows=long_rows,
        tables=lambda _: (*finding_tables(findings, rows, measures), *note_lines(findings)),
        sources=sources(runs),
    )


def answers_form(study: StudyForm, findings: ProbeFindings, cases: Sequence[NotedCase]) -> StudyForm:
    """Return the study with a list of answers. Every answer that counts is added to the head of the document, and
    the printed list replaces the tables."""

    def lines(width: int) -> Iterator[Text]:
        for line in case_lines(cases):
            yield Text(wrap_lines(line.plain, width), style=line.style)
        if not cases:
            yield Text("no answer counts for what was asked")
        yield from note_lines(findings)

    answers = []
    for one in cases:
        case = {name: getattr(one.case, name) for name in ("measure", "fact", "yes", "undecided")}
        words = {name: value for name, value in asdict(one).items() if name not in ("key", "case")}
        answers.append({**asdict(one.key), **case, **words})
    return replace(study, head={**study.head, "turns": answers}, tables=lines)


def note_lines(findings: ProbeFindings) -> Iterator[Text]:
    """Yield the printed notes on the findings."""
    return (Text(f"note: {printable(note, line=True)}") for note in omission_notes(findings))
