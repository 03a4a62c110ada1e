"""The o/x/- grid, in the layout of Figures 2 to 4 of the GFRC paper: a row a topic, two columns a two-turn trial.

`o` useful, `x` not useful, `-` no such turn (the conversation broke down before it), `·` not asked (it had ended well
before), `?` an answer nobody labelled, `!` no valid attempt, blank not played. Under it, as in the paper, %useful,
ave%useful and %recovery of each column. What is wider than the terminal goes on in a further table: trials first, then
the turns of one trial. Turns that nobody was asked in any conversation have no column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.scorecard import Material
from harvest.terminal import printable
from protocols.labels import LABELS, MEANINGS, MISSING, NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from recordings.conversation import TrialKey
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.table import ScoreRow
from topics.topic import Topic

__all__ = ["MARKS", "grids", "last_turn_asked", "legend"]

MARKS: Mapping[str, str] = {
    **MEANINGS,
    MISSING: "broken down before",
    "·": "not asked",
    "?": "not labelled",
    "!": "no valid attempt",
}
"""What the marks of a turn say."""
_LONGEST = 12  # characters of a system's name over its columns
_CELL = 4  # characters of a turn's column: a blank and up to three digits of a percentage
_BETWEEN = 2  # blanks between two columns
_LONGEST_ID = 24  # characters of a topic's id in one line; a longer one is folded
_STYLES = {
    USEFUL_LABEL: "green",
    NOT_USEFUL: "yellow",
    MISSING: "dim",
    "·": "dim",
    "?": "magenta",
    "!": "bold red",
}
_ALIKE = re.compile(r"(\S)(?: *\1)*")  # marks that have one colour, because it shows not on blanks

Column = tuple[str, int]
"""A system and the number of a trial."""


def grids(material: Material, rows: Iterable[ScoreRow], *, width: int) -> list[RenderableType]:
    """Tables for every topic type, cut into blocks of trials that fit `width` characters; none where no trial was
    played.

    rows: the scores that stand under the columns.
    """
    topics = material.topics.topics
    turns = max(material.turns.values(), default=1)
    cells = _cells(material, turns)
    turns = _asked(cells, turns)
    place = {system: i for i, system in enumerate(material.systems)}
    columns = sorted({(key.system, key.trial) for key in cells}, key=lambda column: (place[column[0]], column[1]))
    if not columns:
        return []
    longest = max([len(MEAN_USEFUL.name), *(cell_len(printable(topic.id, line=True)) for topic in topics)])
    name_width = min(_LONGEST_ID, longest)
    room = width - name_width - 2  # the edge of the table, and a blank after the names
    several = {system for system, trial in columns if trial > 1}
    fitting = max(1, (room - _BETWEEN) // _CELL)
    of_one = math.ceil(turns / math.ceil(turns / fitting))  # turns of about as many in each table
    stretches = [range(first, min(first + of_one, turns + 1)) for first in range(1, turns + 1, of_one)]
    headings = {column: _heading(column, several, max(_LONGEST, _CELL * len(stretches[0]))) for column in columns}
    widths = (len(line) for heading in headings.values() for line in heading.splitlines())
    column_width = max([_CELL * len(stretches[0]), *widths]) + _BETWEEN
    blocks = _blocks(columns, max(1, room // column_width))
    even = longest <= name_width and column_width <= room
    summaries: dict[tuple[str, str, str | None, int | None, int | None], float] = {
        (row.measure, row.system, row.topic_type, row.trial, row.turn): row.value
        for row in rows
        if row.topic is None and row.trial is not None
    }
    tables: list[RenderableType] = []
    for type_name, group in groupby(topics, key=lambda topic: topic.type.name):
        members = list(group)
        for block in blocks:
            titles = {column: headings[column] for column in block}
            for stretch in stretches:
                tables.append(_table(type_name, members, titles, cells, summaries, stretch, last=turns, even=even))
    return tables


def legend(material: Material) -> str:
    """What the marks in the grids of `material` say, those that stand there and the two that always may."""
    cells = _cells(material, max(material.turns.values(), default=1))
    last = last_turn_asked(material)
    seen = set(LABELS).union(*(text[:last] for text in cells.values()))
    return "   ".join((*_example(material, cells), *(f"{mark} {said}" for mark, said in MARKS.items() if mark in seen)))


def _example(material: Material, cells: Mapping[TrialKey, str]) -> tuple[str, ...]:
    """What the heading of a column says, by the first that has a number: `B2: trial 2 of B`; none where no system has
    several trials."""
    several = {key.system for key in cells if key.trial > 1}
    for system in material.systems:
        if system in several:
            trial = min(key.trial for key in cells if key.system == system)
            heading = _heading((system, trial), several, _LONGEST).replace("\n", " ")
            return (f"{heading}: trial {trial} of {printable(system, line=True)}",)
    return ()


def last_turn_asked(material: Material) -> int:
    """The last turn that anybody was asked in `material`, or should have been; at least 1."""
    turns = max(material.turns.values(), default=1)
    return _asked(_cells(material, turns), turns)


def _blocks(columns: Sequence[Column], most: int) -> list[Sequence[Column]]:
    """Columns cut into blocks of at most `most`, the trials of a system together where they fit."""
    blocks: list[list[Column]] = [[]]
    for _, group in groupby(columns, key=lambda column: column[0]):
        trials = list(group)
        if blocks[-1] and len(blocks[-1]) + len(trials) > most:
            blocks.append([])
        for column in trials:
            if len(blocks[-1]) == most:
                blocks.append([])
            blocks[-1].append(column)
    return list(blocks)


def _cells(material: Material, turns: int) -> Mapping[TrialKey, str]:
    """Marks of each trial, blank where another system's protocol takes more turns."""
    cells = {key: ("!" * material.turns[key.system, key.topic]).ljust(turns) for key in material.invalid}
    return cells | {key: "".join(own).ljust(turns) for key, own in material.labels.items()}


def _asked(cells: Mapping[TrialKey, str], turns: int) -> int:
    return max((i + 1 for i in range(turns) for text in cells.values() if text[i] not in "·! "), default=1)


def _heading(column: Column, several: set[str], longest: int) -> str:
    """`B2` for the second trial of B, as in the paper; the bare name where there is only one trial. The end of a long
    name is kept, because that is where versions and dates stand; a long one with a group of users, or of a named run,
    takes two lines."""
    system, trial = column
    number = "" if system not in several else f"/{trial}" if system[-1].isdigit() else str(trial)
    name = printable(system, line=True)
    parts = [name]
    if len(name) + len(number) > longest and name.endswith("]") and " [" in name:
        of, _, group = name.rpartition(" [")
        parts = [of, f"[{group}"]
    elif len(name) + len(number) > longest and "@" in name:  # runs side by side: the system is not lost to its run
        of, _, run = name.rpartition("@")
        parts = [of, f"@{run}"]
    rooms = [longest] * (len(parts) - 1) + [longest - len(number)]
    return "\n".join(_end(part, room) for part, room in zip(parts, rooms, strict=True)) + number


def _end(name: str, room: int) -> str:
    return name if len(name) <= room else f"…{name[-room + 1 :]}"


def _table(
    type_name: str,
    topics: Sequence[Topic],
    columns: Mapping[Column, str],
    cells: Mapping[TrialKey, str],
    summaries: Mapping[tuple[str, str, str | None, int | None, int | None], float],
    turns: range,
    *,
    last: int,
    even: bool,
) -> Table:
    """Of these turns; what is of a whole trial stands under its last turn. even: each topic has one line.

    All trials are one column, and one row where lines are even: what Rich does for a cell takes longer than its marks.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(Text(type_name), overflow="fold", min_width=len(MEAN_USEFUL.name), max_width=_LONGEST_ID)
    turn_names = _cells_of(f"S{turn}" for turn in turns)
    headings = [[*heading.splitlines(), turn_names] for heading in columns.values()]
    widths = [max(map(cell_len, lines)) for lines in headings]
    tallest = max(map(len, headings))
    level = zip(*([""] * (tallest - len(lines)) + lines for lines in headings), strict=True)
    table.add_column(Text("\n".join(_line(lines, widths) for lines in level)), no_wrap=True)
    cut = slice(turns.start - 1, turns.stop - 1)
    rows: list[tuple[str, str]] = []
    for topic in topics:
        texts = [cells.get(TrialKey(system, topic.id, trial), " " * last) for system, trial in columns]
        rows.append((printable(topic.id, line=True), _line([_cells_of(text[cut]) for text in texts], widths)))
    if even:
        rows = [("\n".join(name for name, _ in rows), "\n".join(marks for _, marks in rows))]
    for name, marks in rows:
        table.add_row(Text(name), _coloured(marks))
    table.add_section()

    def percents(measure: str, *, by_turn: bool) -> Text:
        found = []
        for system, trial in columns:
            wanted = turns if by_turn else (None,)
            values = [summaries.get((measure, system, type_name, trial, turn), float("nan")) for turn in wanted]
            found.append(_cells_of(map(_percent, values)))
        return Text(_line(found, widths))

    table.add_row(Text(USEFUL.name), percents(USEFUL.name, by_turn=True))
    if last in turns:
        for one in (MEAN_USEFUL, RECOVERY):
            table.add_row(Text(one.name), percents(one.name, by_turn=False))
    return table


def _cells_of(texts: Iterable[str]) -> str:
    """What stands in the columns of turns, one beside the other."""
    return "".join([f"{text:>{_CELL}}" for text in texts])


def _line(texts: Iterable[str], widths: Iterable[int]) -> str:
    """Texts at the right of columns of these widths."""
    placed = [" " * (width - cell_len(text)) + text for text, width in zip(texts, widths, strict=True)]
    return (" " * _BETWEEN).join(placed)


def _coloured(line: str) -> Text:
    text = Text(line)
    for alike in _ALIKE.finditer(line):
        text.stylize(_STYLES[alike[1]], *alike.span())
    return text


def _percent(value: float) -> str:
    return "n/a" if value != value else f"{100 * value:.0f}"
