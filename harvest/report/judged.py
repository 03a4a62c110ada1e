"""The section of judgments: a heat map of topics and criteria, and the lowest scores of single items."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harvest.judging.sheets.annotators import adjudicated_by, agreement_words, agreements
from harvest.report.blocks import Block, details, table, text
from harvest.report.finding import join_names
from harvest.report.grid import address
from harvest.studies.compare.comparison import Comparison, compare_runs
from harvest.studies.scores.assessed import Assessed, Leading, WeighedScore
from harvest.studies.scores.gathered import Gathered
from harvest.studies.scores.scorecard import Judges, Material
from harvest.tables.figures import shown_with_interval
from harvest.terminal import printable
from recordings.conversations.conversation import Conversation
from scoring.asked import NO_COMPARISON
from scoring.measures.swan import SWAN
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.swan.precedence import Precedence
from scoring.swan.scorers import SCORERS
from scoring.table import ScoreRow, ScoreTable
from topics.counting import pluralize
from topics.errors import InputError

_MOST_TOPICS, _LOWEST, _LONGEST = 300, 20, 160
_STEPS, _MOST_SAID = 5, 3

RULE_LABELS = "the labels of the protocol's rules"
# By section, whose labels are drawn where people or models judged, too.
_LABELS: Mapping[str, str] = {
    "grid": f"The marks are {RULE_LABELS}, not judgments.",
    "trees": f"Answers are named by {RULE_LABELS}, not by judgments.",
    "spread": f"Shares of useful turns are by {RULE_LABELS}; SWAN and WAN are by judgments.",
    "variance": f"Shares of useful turns are by {RULE_LABELS}, not by judgments.",
}


def judged_blocks(assessed: Assessed | str | None, material: Material, scores: ScoreTable) -> Iterator[Block]:
    """Yield a heat map for each system, then the lowest scores. Yields nothing if nothing was judged."""
    if assessed is None:
        return
    if isinstance(assessed, str):
        yield text(f"The judgments cannot be scored: {assessed}", "warn")
        return
    several = f"{SWAN.name} and the" if len(assessed.criteria) > 1 else "The"
    yield text(
        f"{several} weighted mean score of each criterion, by topic: from 0 to 1, 1 is good. A cell opens "
        "its conversations, and each of those shows the score, the judge and the weight of every nugget and turn.",
        "dim",
    )
    yield from (text(line) for line in _agreement_lines(assessed, material))
    found = {(row.system, row.topic or "", row.measure): row for row in scores.single("topic") if row.turn is None}
    for system in dict.fromkeys(system for system, _, _ in assessed.each):
        yield {"heat": _heat_map(system, assessed, material, found)}
    lowest = sorted(
        (
            (key, one)
            for key in assessed.each
            for one in assessed.weighed_scores(key)
            if one.weight > 0 and one.scored.value < 1
        ),
        key=lambda entry: (entry[1].scored.value, -entry[1].weight),
    )[:_LOWEST]
    if lowest:
        spoken = {(one.key.system, one.key.topic, one.key.trial): one for one in material.finished}
        rows = []
        for key, one in lowest:
            system, topic, trial = key
            href = address(topic=topic, system=system, trial=trial)
            numbers = [f"{one.scored.value:.2f}", f"{one.weight:.2f}"]
            link = {"text": f"{system} · {topic} · trial {trial}", "href": href}
            rows.append([link, one.criterion, *numbers, judged_words(one, spoken[key]), _voter_names(one)])
        head = ["conversation", "criterion", "score", "weight", "what", "by"]
        right = [False, False, True, True, False, False]
        yield details(f"The {len(rows)} lowest scores", [table(head, rows, right, "What scored lowest")])


def _agreement_lines(assessed: Assessed, material: Material) -> Iterator[str]:
    """Yield how far people agree on each criterion, and who decided where they did not."""
    people = [layer for layer in material.layers if layer.kind == "human"]
    decided = adjudicated_by(people, assessed.criteria)
    for one in agreements(people, assessed.criteria):
        names = join_names([printable(name, line=True) for name in one.people])
        said = f"Agreement of {names} in {one.criterion}: {agreement_words(one).replace('  ', ', ')}"
        said += " (alpha: Krippendorff's; 1 is full agreement, 0 chance)"
        by = [f"{count} by {printable(name, line=True)}" for name, count in decided.pop(one.criterion, {}).items()]
        yield f"{said}. Decided where they differed: {join_names(by)}." if by else f"{said}."


def leading_measure(assessed: Assessed | str | None, rows: Sequence[ScoreRow], coverage: Sequence[str] = ()) -> Leading:
    """Return the measure of the judgments for a report that begins with them: SWAN, or if its values cannot be
    compared, the WAN of one criterion: of those that people or models scored, the one with the most values. If nothing
    was judged, the report begins with the labels of the protocol's rules."""
    if not isinstance(assessed, Assessed):
        return Leading()
    own: dict[str, list[ScoreRow]] = {}
    for row in rows:
        if row.scorers and not row.topic_type and row.turn is None:
            own.setdefault(row.measure, []).append(row)

    def whose(name: str) -> str:
        return " and ".join(dict.fromkeys(", ".join(row.scorers or "" for row in own[name]).split(", ")))

    def by_most(name: str) -> tuple[bool, int]:
        return whose(name) == SCORERS["rule"], -sum(row.n for row in own[name])

    criteria = [str(term) for name, term in assessed.terms.items() if name and str(term) in own]
    first = str(assessed.main_term)
    names = sorted(criteria, key=by_most) if _not_compared(coverage) or first not in own else [first]
    return Leading(names[0], whose(names[0])) if names else Leading()


def _not_compared(coverage: Sequence[str]) -> bool:
    return any(NO_COMPARISON in said for said in coverage)


def with_judged(found: Comparison, gathered: Gathered, assessed: Assessed, leading: Leading) -> Comparison:
    """Return a comparison that also has a measure of the judgments that the figures use: the leading one first, or if
    the report begins with labels, SWAN last."""
    judges = Judges(assessed.schema, assessed.judges or Precedence())
    named = {str(term): term for term in assessed.terms.values()}
    term = named.get(leading.measure, assessed.main_term)
    try:
        judged = compare_runs(
            gathered, measures=[term], estimand=found.estimand, seed=found.seed, judges=judges, most_parted=0
        )
    except InputError as refused:
        return replace(found, notes=(*found.notes, f"{term} is not compared: {refused.what}."))
    measures = (*judged.measures, *found.measures) if leading.scorers else (*found.measures, *judged.measures)
    return replace(found, measures=measures, on_these=(*found.on_these, *judged.on_these))


def add_labels(section: str, blocks: Iterable[Block], judged: Assessed | str | None) -> list[Block]:
    """Return the blocks of a section. If something was judged, pictures of the rules' labels are named as theirs."""
    given = list(blocks)
    noted = section in _LABELS and isinstance(judged, Assessed) and any("text" not in one for one in given)
    return [text(_LABELS[section], "key"), *given] if noted else given


def judged_sentence(
    assessed: Assessed | str | None,
    rows: Sequence[ScoreRow],
    coverage: Sequence[str],
    leading: Leading,
    *,
    asked: bool,
) -> str:
    """Return the result of the judgments in one sentence, or "" if nothing was judged or the SWAN values cannot be
    compared. `rows` are scores over all trials, and `coverage` is `ScoreTable.coverage`. If the report begins with
    the judgments, return what the labels of the protocol's rules say instead, and if it was `asked` to and cannot,
    the reason."""
    if asked and not leading.scorers:
        cannot = "the judgments cannot be scored (“Judged by criteria” says why)"
        why = cannot if isinstance(assessed, str) else "no judgment by these criteria and judges is recorded"
        return f"These figures are by {RULE_LABELS}: {why}."
    if not isinstance(assessed, Assessed) or (_not_compared(coverage) and not leading.scorers):
        return ""
    whole = {
        (row.system, row.measure): row for row in rows if not row.topic and not row.topic_type and row.turn is None
    }
    systems = list(dict.fromkeys(system for system, _, _ in assessed.each))

    def shown(measure: str) -> str:
        said = [
            f"{printable(system, line=True)} {shown_with_interval(row)}"
            if len(systems) > 1
            else shown_with_interval(row)
            for system in systems
            if (row := whole.get((system, measure))) is not None and not math.isnan(row.value)
        ]
        return join_names(said[:_MOST_SAID]) if said else ""

    if leading.scorers:
        labels = shown(MEAN_USEFUL.name)
        sentences = [f"By {RULE_LABELS}, {MEAN_USEFUL.name} is {labels}."] if labels else []
        if leading.measure != str(assessed.main_term):
            reason = f"Values of {assessed.main_term} cannot be compared (“Figures” says why)"
            sentences.insert(0, f"{reason}, so this page begins with one criterion.")
        return " ".join(sentences)
    name = str(assessed.main_term)
    if not (said := shown(name)):
        return ""
    found = f"According to the judgments, {name} is {said}."
    terms = {name: str(term) for name, term in assessed.terms.items()}
    values = {name: whole[systems[0], terms[name]].value for name in assessed.criteria} if len(systems) == 1 else {}
    lowest = sorted((value, name) for name, value in values.items() if value == value)[:_MOST_SAID]
    if len(lowest) > 1:
        found += f" Lowest are {join_names([f'{name} ({value:.2f})' for value, name in lowest])}."
    return found


def _heat_map(
    system: str, assessed: Assessed, material: Material, found: Mapping[tuple[str, str, str], ScoreRow]
) -> dict[str, Any]:
    measures = {str(term): name or SWAN.name for name, term in assessed.terms.items()}
    played = {topic for name, topic, _ in assessed.each if name == system}
    topics = [topic.id for topic in material.topics.topics if topic.id in played][:_MOST_TOPICS]
    return {
        "system": system,
        "columns": list(measures.values()),
        "rows": [
            {
                "topic": topic,
                "href": address(system=system, topic=topic),
                "cells": [_heat_cell(found.get((system, topic, measure))) for measure in measures],
            }
            for topic in topics
        ],
        "more": len(played) - len(topics),
    }


def _heat_cell(row: ScoreRow | None) -> dict[str, Any]:
    if row is None or math.isnan(row.value):
        return {"shown": "–", "step": None, "said": "not scored"}
    step = min(_STEPS - 1, int(row.value * _STEPS))
    return {"shown": f"{row.value:.2f}", "step": step, "said": f"{row.value:.4f}, {pluralize(row.n, 'conversation')}"}


def judged_words(one: WeighedScore, spoken: Conversation) -> str:
    """Return the text of the nugget that was judged, or the name of the turn."""
    item = one.scored.item
    turn = next((turn for turn in spoken.turns if turn.number == item.turn), None)
    if turn is None:
        return "the whole conversation"
    side = turn.said if item.speaker == "user" else turn.reply.answer.text if turn.reply is not None else ""
    name = f"{item.speaker[:1].upper()}{item.turn}"
    if item.start < 0:
        return f"{name}, the whole turn"
    words = printable(side[item.start : item.end], line=True)
    return f"{name} “{words[:_LONGEST]}{'…' if len(words) > _LONGEST else ''}”"


def _voter_names(one: WeighedScore) -> str:
    return ", ".join(dict.fromkeys(map(str, one.scored.voters)))


def judged_items(assessed: Assessed, key: tuple[str, str, int], spoken: Conversation) -> dict[int, list[str]]:
    """Return lines about the judgments of a conversation, by turn. Turn 0 is the whole conversation."""
    found: dict[int, list[str]] = {}
    for one in assessed.weighed_scores(key) if key in assessed.each else ():
        words = f"{one.criterion} {one.scored.value:.2f} × {one.weight:.2f}: {judged_words(one, spoken)}"
        words += f", by {_voter_names(one)}"
        words += "; others differ" if one.scored.disputed else ""
        words += f"; {one.scored.note}" if one.scored.note else ""
        found.setdefault(one.scored.item.turn, []).append(words)
    return found
