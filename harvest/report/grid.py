"""A grid of labels by topic, system and turn, whose cells link to the conversations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from harvest.report.blocks import Block, table, text
from harvest.studies.scores.grid import MARKS, last_turn_asked, legend, topics_by_type
from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.answer_notes import AnswerNote, answer_notes
from harvest.terminal import printable
from protocols.labels import LABELS, MISSING
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.table import ScoreRow
from topics.counting import pluralize
from topics.topic import Topic

# The largest number of trials with a mark for each; more are counted.
_MOST_MARKS = 10
_MOST_TOPICS = 300  # a larger grid cannot be read, and is slow to open
_MOST_COLUMNS = 60  # of all systems together
_MOST_NOTES = 60  # footnotes; more are counted
_LONGEST_NOTE = 300  # characters

# The class by which the style sheet colours each mark, in the order in which a cell counts them.
MARK_CLASSES: Mapping[str, str] = {
    **{label: label for label in LABELS},
    MISSING: "none",
    "·": "none",
    "?": "open",
    "!": "lost",
}

# By system and topic, the number and the marks of each trial.
Cells = Mapping[tuple[str, str], list[tuple[int, str]]]
# By system, topic, trial and turn, the numbers of the footnotes to an answer.
Numbers = Mapping[tuple[str, str, int, int], list[int]]


def address(**parts: object) -> str:
    """Return the link within a report to the conversations that match all parts. Parts that are None are ignored."""
    return "#" + "&".join(f"{name}={quote(str(value), safe='')}" for name, value in parts.items() if value is not None)


def grid_blocks(material: Material, rows: Sequence[ScoreRow]) -> Iterator[Block]:
    """Yield a grid for each type of topics. If no answer has a label, yield a sentence instead."""
    if not any(turn.label for one in material.finished for turn in one.turns):
        yield text("No answer of these runs has a label, so there is nothing to mark.", "dim")
        return
    last = last_turn_asked(material)
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for key in material.invalid:
        lost = "!" * material.turns.get((key.system, key.topic), 1)
        found.setdefault((key.system, key.topic), []).append((key.trial, lost.ljust(last)))
    for key, own in material.labels.items():
        found.setdefault((key.system, key.topic), []).append((key.trial, "".join(own).ljust(last)))
    cells = {where: sorted(trials) for where, trials in found.items()}
    systems = [name for name in material.systems if any(system == name for system, _ in cells)]
    turns = range(1, max(1, min(last, _MOST_COLUMNS // max(1, len(systems)))) + 1)
    played = [topic for topic in material.topics.topics if any((name, topic.id) in cells for name in systems)]
    values = {(row.measure, row.system, row.topic_type, row.turn): row for row in rows if row.trial is None}
    shown = [topic for own in topics_by_type(played[:_MOST_TOPICS]).values() for topic in own]
    notes = _number_notes(answer_notes(material.finished, material.topics, material.layers), shown, systems, turns)
    numbers: dict[tuple[str, str, int, int], list[int]] = {}
    for number, noted in enumerate(list(notes.values())[:_MOST_NOTES], 1):
        for note in noted:
            numbers.setdefault((note.key.system, note.key.topic, note.key.trial, note.turn), []).append(number)
    marks = ", ".join(part for part in legend(material).split("   ") if ": trial " not in part)
    most = max(map(len, cells.values()), default=0)
    if most > _MOST_MARKS:
        yield text(f"{marks}. Each cell counts the {pluralize(most, 'trial')} of a topic, and opens them.", "key")
    else:
        yield text(f"{marks}. Each mark is a trial, in their order; a cell opens its conversations.", "key")
    types = topics_by_type(played[:_MOST_TOPICS])
    yield {"grids": [_type_grid(name, own, systems, turns, cells, values, numbers) for name, own in types.items()]}
    if notes:
        yield _footnotes(notes)
    if len(notes) > _MOST_NOTES:
        yield text(f"{len(notes) - _MOST_NOTES:,} further footnotes are not in the grid.", "warn")
    if len(played) > _MOST_TOPICS:
        yield text(f"{len(played) - _MOST_TOPICS:,} further topics: choose one under “Conversations”.", "warn")
    if last > turns[-1]:
        yield text(f"Turns after S{turns[-1]} of {last} are not in the grid; conversations below are whole.", "warn")


def _type_grid(
    name: str,
    topics: Sequence[Topic],
    systems: Sequence[str],
    turns: range,
    cells: Cells,
    values: Mapping[tuple[str, str, str | None, int | None], ScoreRow],
    numbers: Numbers,
) -> dict[str, Any]:
    rows = [
        {
            "topic": {"text": topic.id, "href": address(topic=topic.id)},
            "cells": [
                _grid_cell(cells.get((system, topic.id), []), topic.id, system, turn, numbers)
                for system in systems
                for turn in turns
            ],
        }
        for topic in topics
    ]
    return {
        "name": name,
        "systems": list(systems),
        "turns": list(turns),
        "rows": rows,
        "foot": _foot_rows(name, systems, turns, values),
    }


def _grid_cell(
    trials: Sequence[tuple[int, str]], topic: str, system: str, turn: int, numbers: Numbers
) -> dict[str, Any]:
    """Return a cell with a mark for each trial, or with the count of each mark if there are many trials. Footnotes
    follow the mark of their trial, or all counts."""
    marks = [one[turn - 1] for _, one in trials]
    notes = [numbers.get((system, topic, trial, turn), []) for trial, _ in trials]
    counts = Counter(mark for mark in marks if mark != " ")
    if not counts:
        return {"marks": []}
    each: list[tuple[str, int | str]] = [(mark, "") for mark in marks]
    if len(marks) > _MOST_MARKS:
        order = list(MARK_CLASSES)
        by_order = sorted(counts, key=lambda mark: order.index(mark) if mark in order else len(order))
        each = [(mark, counts[mark]) for mark in by_order]
        notes = [*[[]] * (len(each) - 1), sorted({number for own in notes for number in own})]
    said = ", ".join(f"{count} {MARKS.get(mark, mark)}" for mark, count in counts.items())
    noted = sorted({number for own in notes for number in own})
    if noted:
        said += f"; {'footnote' if len(noted) == 1 else 'footnotes'} {', '.join(map(str, noted))}"
    return {
        "href": address(topic=topic, system=system, turn=turn),
        "label": f"{topic}, {system}, S{turn}: {said}",
        "marks": each,
        **({"notes": [" ".join(f"*{number}" for number in own) for own in notes]} if noted else {}),
    }


def _number_notes(
    notes: Iterable[AnswerNote], topics: Sequence[Topic], systems: Sequence[str], turns: range
) -> dict[str, list[AnswerNote]]:
    """Return the notes to answers in the grid by their words, in the order in which a reader meets them."""
    rows = {topic.id: place for place, topic in enumerate(topics)}
    columns = {system: place for place, system in enumerate(systems)}
    found: dict[str, list[AnswerNote]] = {}
    there = [one for one in notes if one.key.topic in rows and one.key.system in columns and one.turn in turns]
    there.sort(key=lambda one: (rows[one.key.topic], columns[one.key.system], one.turn, one.key.trial))
    for one in dict.fromkeys(there):  # several judgments of one answer may have the same note
        found.setdefault(one.words, []).append(one)
    return found


def _footnotes(notes: Mapping[str, Sequence[AnswerNote]]) -> Block:
    rows = []
    for number, (words, own) in enumerate(list(notes.items())[:_MOST_NOTES], 1):
        # Words of a system: a lone surrogate could not be written into the page.
        first, said = own[0], printable(words.encode("utf-8", "replace").decode(), line=True)
        where = f"{first.key.topic}, {first.key.system}, S{first.turn}, trial {first.key.trial}"
        href = address(topic=first.key.topic, system=first.key.system, turn=first.turn)
        cut = said if len(said) <= _LONGEST_NOTE else f"{said[:_LONGEST_NOTE]}…"
        rows.append([f"*{number}", cut, str(len(own)), {"text": where, "href": href}])
    return table(["mark", "footnote", "answers", "first"], rows, [False, False, True, False], "Footnotes of the grid")


def _foot_rows(
    name: str,
    systems: Sequence[str],
    turns: range,
    values: Mapping[tuple[str, str, str | None, int | None], ScoreRow],
) -> list[dict[str, Any]]:
    def value_text(measure: str, system: str, turn: int | None) -> str:
        row = values.get((measure, system, name, turn))
        return "" if row is None else row.shown(row.value)

    lines = [
        {
            "name": USEFUL.name,
            "span": 1,
            "cells": [value_text(USEFUL.name, one, turn) for one in systems for turn in turns],
        }
    ]
    for measure in (MEAN_USEFUL.name, RECOVERY.name):
        each = [value_text(measure, one, None) for one in systems]
        lines.append({"name": measure, "span": len(turns), "cells": each})
    return lines
