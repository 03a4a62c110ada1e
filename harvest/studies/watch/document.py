"""A watched audit as a study: verdicts and states in its JSON head, figures as long-form rows."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from harvest.studies.runs.sources import sources
from harvest.studies.watch.figures import verdict_lines, watch_tables
from harvest.studies.watch.harness import Harness
from harvest.studies.watch.watched import Watched, WatchedFigure, WatchedSystem
from harvest.studies.watch.words import stretch_words
from harvest.tables.long_rows import LongRow, unit_of
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from recordings.files.times import stamp
from recordings.log.run_folder import Run
from scoring.inference.topic_changes import METHOD as TOPIC_METHOD
from scoring.table import is_percentage

FORMAT = "harvest-watch/2"


def watch_form(
    found: Watched,
    run: Run,
    folder: str,
    harness: Harness | None = None,
    *,
    lead: Sequence[str] = (),
    explain: bool = True,
) -> StudyForm:
    """Return the printable form of an audit that was compared with its baseline. `folder` is the run's folder as
    the user wrote it. `harness` has the faults of the harness; None means that no placebo was played. The sentences
    of `lead` follow the verdicts. With `explain`, the words and columns of the tables are explained."""

    def tables(_: int) -> Iterator[RenderableType]:
        for sentence in () if harness is None else harness.sentences():
            yield Text(printable(f"harness: {sentence}", line=True), style="bold red")
        if harness is not None and not harness.is_sound:
            yield Text(
                "harness: so nothing is concluded about the systems, and this audit does not count; its figures:"
            )
        yield from verdict_lines(found, settling=not lead)
        yield from (Text(printable(sentence, line=True)) for sentence in lead)
        yield Text()
        yield from watch_tables(found, explain=explain)

    return StudyForm(
        head={
            "format": FORMAT,
            "verdict": found.verdict,
            "shadow": found.shadow,
            "look": found.look,
            "matters": found.smallest_effect,
            "level": found.level,
            "of": "these topics",
            "baseline": found.baseline.identity,
            "systems": [_system_head(one) for one in found.systems],
            "harness": None if harness is None else list(harness.sentences()),
            "run": folder,
        },
        rows=lambda: watch_rows(found, run.path.name),
        tables=tables,
        sources=sources([run]),
    )


def _system_head(one: WatchedSystem) -> dict[str, Any]:
    return {
        "system": one.name,
        "verdict": one.verdict,
        "incomparable": one.incomparable or None,
        "planned": one.planned,
        "valid": one.valid,
        "lost_topics": list(one.lost),
        "unasked_topics": list(one.unasked),
        "models_before": list(one.models[0]),
        "models": list(one.models[1]),
        "coverage_fell": one.coverage,
        "continued_sessions": one.continued,
        "alike_in_time": {"baseline": one.in_time[0] or None, "now": one.in_time[1] or None},
        "told_over": {
            "audits": one.stretch.audits,
            "since": one.stretch.since or None,
            "without_topics": one.stretch.left_out,
            "figure": one.stretch.figure,
            "topics": one.stretch.topics,
            "fell": one.stretch.fell,
            "rose": one.stretch.rose,
        },
        "figures": [_figure_head(figure) for figure in one.figures],
    }


def _figure_head(one: WatchedFigure) -> dict[str, Any]:
    return {
        "figure": one.name,
        "gated": one.gated,
        "verdict": one.verdict,
        "word": one.word,
        "state": one.state.name if one.gated else None,
        "alarm": one.alarm,
        "changed_since": _timestamp(one.state.since),
        "confirmed_at": _timestamp(one.state.confirmed),
        "changes": one.state.times,
        "back_since": _timestamp(one.state.back),
        "no_interval_because": one.difference.note or None,
        "assumes": one.difference.assumes or None,
        "no_trials_settle_because": one.settles.hindrance or None,
    }


def _timestamp(seconds: float) -> str | None:
    return stamp(datetime.fromtimestamp(seconds, UTC)) if math.isfinite(seconds) else None


def figure_cells(name: str) -> dict[str, Any]:
    """Return the `measure`, `turn` and `unit` cells of a watched figure such as `%useful S2`."""
    measure, _, turn = name.rpartition(" S")
    known = bool(measure) and turn.isdigit()
    measure = measure if known else name
    return {"measure": measure, "turn": int(turn) if known else None, "unit": unit_of(is_percentage(measure))}


def watch_rows(found: Watched, run: str) -> Iterator[LongRow]:
    """Yield the figures of each system, and then the topics and turns that changed."""
    for system in found.systems:
        common: dict[str, Any] = {"study": "watch", "run": run, "system": system.name}
        for one in system.figures:
            yield from _figure_rows({**common, **figure_cells(one.name)}, one, found.level)
        over = stretch_words(system.stretch)
        for topic in system.stretch.each:
            told = {**common, **figure_cells(system.stretch.figure), "topic": topic.topic}
            for when, mean, n in zip(("at the baseline", "now"), (topic.before, topic.now), topic.trials, strict=True):
                yield LongRow(**told, figure=when, estimate=mean, n=n)
            yield LongRow(
                **told,
                figure="difference of a topic",
                estimand="these",
                estimate=topic.value,
                low=topic.low,
                high=topic.high,
                level=found.level,
                interval=TOPIC_METHOD,
                note=f"{'stands out; ' if topic.stands_out else ''}{over}; intervals of all topics hold together",
            )
        for turn in system.turns:
            way = " → ".join((*turn.turns, turn.branch))
            for when, share, came in zip(("at the baseline", "now"), turn.portion, turn.came, strict=True):
                p = turn.p if when == "now" else math.nan
                yield LongRow(**common, figure=f"branch {when}", unit="share", node=way, estimate=share, n=came, p=p)


def _figure_rows(common: dict[str, Any], one: WatchedFigure, level: float) -> Iterator[LongRow]:
    difference, over, settles = one.difference, one.over, one.settles
    topics = over.topics if over else None
    plain = {**common, "unit": "value"}
    yield LongRow(**common, figure="now", estimate=one.value, topics=topics, n=one.n)
    yield LongRow(**common, figure="baseline", estimate=one.before, topics=topics)
    yield LongRow(
        **common,
        figure="difference",
        estimand="these",
        estimate=difference.value,
        low=difference.low,
        high=difference.high,
        level=level if difference.interval.is_defined else None,
        interval=difference.interval.method,
        p=difference.p,
        p_corrected=one.q,
        verdict=one.verdict,
        note=difference.note,
    )
    yield LongRow(
        **common,
        figure="difference between these runs",
        estimate=difference.value,
        low=difference.these_low,
        high=difference.these_high,
        level=level,
    )
    yield LongRow(**common, figure="standard error", estimate=difference.error)
    yield LongRow(**common, figure="standard deviation between runs", estimate=difference.runs)
    yield LongRow(**plain, figure="chance left of a wrong same", estimate=difference.left - difference.spent)
    if one.gated:
        yield LongRow(**plain, figure="evidence of a drop", estimate=one.levels[0])
        yield LongRow(**plain, figure="evidence of a rise", estimate=one.levels[1])
        yield LongRow(**common, figure="confirmed change", estimate=one.state.change)
    if over is not None:
        yield LongRow(**common, figure="now over all topics", estimate=over.value, topics=over.now, n=over.n)
        yield LongRow(**common, figure="baseline over all topics", estimate=over.before, topics=over.blessed)
    counted = {**common, "unit": "count"}
    if settles.trials:
        yield LongRow(**counted, figure="trials that would settle it", estimate=float(settles.trials))
    if settles.most:
        yield LongRow(**counted, figure="most trials tried", estimate=float(settles.most))
    if not math.isnan(settles.chance):
        yield LongRow(**plain, figure="chance that they settle it", estimate=settles.chance)
