"""The o/x/- grid in the layout of Figures 2 to 4 of the GFRC paper: a row for each topic, a column for each turn.

`o` marks a useful answer, `x` a useless answer, `-` a turn after a breakdown, `·` a turn that was not asked because
the conversation had ended well, `?` an unlabelled answer, and `!` a trial without a valid attempt. Trials that were
not played are blank. As in the paper, %useful, ave%useful and %recovery of each column follow below. A grid that is
wider than the terminal continues in further tables: first with other trials, and then with other turns of a trial.
Turns that no conversation asked have no column.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, zip_longest

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from harvest.studies.scores.scorecard import Material
from harvest.terminal import printable
from protocols.labels import LABELS, MEANINGS, MISSING, NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.table import ScoreRow
from topics.topic import Topic

# The meaning of each mark.
MARKS: Mapping[str, str] = {
    **MEANINGS,
    MISSING: "broken down before",
    "·": "not asked",
    "?": "not labelled",
    "!": "no valid attempt",
}
_LONGEST = 12  # characters of a system's name over its columns
_CELL_WIDTH = 4  # characters of a turn's column: a blank and up to three digits of a percentage
_COLUMN_GAP = 2  # blanks between two columns
_LONGEST_ID = 24  # characters of a topic's id in one line; a longer one is folded
_STYLES = {
    USEFUL_LABEL: "green",
    NOT_USEFUL: "yellow",
    MISSING: "dim",
    "·": "dim",
    "?": "magenta",
    "!": "bold red",
}
_SAME_MARKS = re.compile(r"(\S)(?: *\1)*")  # repeated marks in one stretch, since colour does not show on blanks

# A system and the number of a trial.
Column = tuple[str, int]


def grids(material: Material, rows: Iterable[ScoreRow], *, width: int) -> list[Text]:
    """Return tables for every type of topic, in blocks of trials that fit `width` characters. `rows` are the scores
    printed below the columns. Returns [] if no trial was played."""
    topics = material.topics.topics
    turns = last_turn_asked(material)
    cells: dict[str, dict[Column, str]] = defaultdict(dict)  # the marks of each trial, by topic
    for key in material.invalid:
        cells[key.topic][key.system, key.trial] = "!" * material.turns[key.system, key.topic]
    for key, labels in material.labels.items():
        cells[key.topic][key.system, key.trial] = "".join(labels)
    place = {system: i for i, system in enumerate(material.systems)}
    played = {column for own in cells.values() for column in own}
    columns = sorted(played, key=lambda column: (place[column[0]], column[1]))
    if not columns:
        return []
    longest = max([len(MEAN_USEFUL.name), *(cell_len(printable(topic.id, line=True)) for topic in topics)])
    name_width = min(_LONGEST_ID, longest)
    room = width - name_width - 2  # the edge of the table, and a blank after the names
    several = {system for system, trial in columns if trial > 1}
    fitting = max(1, (room - _COLUMN_GAP) // _CELL_WIDTH)
    of_one = math.ceil(turns / math.ceil(turns / fitting))  # about the same number of turns in each table
    stretches = [range(first, min(first + of_one, turns + 1)) for first in range(1, turns + 1, of_one)]
    headings = {column: _heading(column, several, max(_LONGEST, _CELL_WIDTH * len(stretches[0]))) for column in columns}
    widths = (len(line) for heading in headings.values() for line in heading.splitlines())
    column_width = max([_CELL_WIDTH * len(stretches[0]), *widths]) + _COLUMN_GAP
    blocks = _blocks(columns, max(1, room // column_width))
    summaries: dict[tuple[str, str, str | None, int | None, int | None], float] = {
        (row.measure, row.system, row.topic_type, row.trial, row.turn): row.value
        for row in rows
        if row.topic is None and row.trial is not None
    }
    tables: list[Text] = []
    for type_name, members in topics_by_type(topics).items():
        for block in blocks:
            titles = {column: headings[column] for column in block}
            for stretch in stretches:
                tables.append(_table(type_name, members, titles, cells, summaries, stretch, last=turns))
    return tables


def topics_by_type(topics: Iterable[Topic]) -> dict[str, list[Topic]]:
    """Group topics by the name of their type. Types are in the order of their first topics. A grid has all topics
    of a type, even if types alternate in the file."""
    found: dict[str, list[Topic]] = {}
    for topic in topics:
        found.setdefault(topic.type.name, []).append(topic)
    return found


def legend(material: Material) -> str:
    """Explain the marks in the grids of `material`. `o` and `x` are always explained."""
    last = last_turn_asked(material)
    seen = set(LABELS).union(*(own[:last] for own in set(material.labels.values())), "!" if material.invalid else "")
    marks = [f"{mark} {said}" for mark, said in MARKS.items() if mark in seen]
    tried = material.labels.keys() | material.invalid
    several = {key.system for key in tried if key.trial > 1}
    system = next((system for system in material.systems if system in several), None)
    if system is not None:  # the first heading with a number is explained: `B2: trial 2 of B`
        trial = min(key.trial for key in tried if key.system == system)
        heading = _heading((system, trial), several, _LONGEST).replace("\n", " ")
        marks.insert(0, f"{heading}: trial {trial} of {printable(system, line=True)}")
    return "   ".join(marks)


def last_turn_asked(material: Material) -> int:
    """Return the number of the last turn, at least 1, that was or should have been asked in any conversation."""
    turns = max(material.turns.values(), default=1)
    ways = {own[:turns] for own in material.labels.values()}
    return max((turn for way in ways for turn, mark in enumerate(way, 1) if mark != "·"), default=1)


def _blocks(columns: Sequence[Column], most: int) -> list[Sequence[Column]]:
    """Split columns into blocks of at most `most` columns. The trials of a system stay together if they fit."""
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


def _heading(column: Column, several: set[str], longest: int) -> str:
    """Return a column's heading: `B2` for trial 2 of B, as in the paper, or the system's name if it has one trial.
    Long names are cut at the start, because versions and dates are at the end. A long name with a group of users
    or a run has two lines."""
    system, trial = column
    number = "" if system not in several else f"/{trial}" if system[-1].isdigit() else str(trial)
    name = printable(system, line=True)
    parts = [name]
    if len(name) + len(number) > longest and name.endswith("]") and " [" in name:
        of, _, group = name.rpartition(" [")
        parts = [of, f"[{group}"]
    elif len(name) + len(number) > longest and "@" in name:  # several runs: keep the system readable next to its run
        of, _, run = name.rpartition("@")
        parts = [of, f"@{run}"]
    rooms = [longest] * (len(parts) - 1) + [longest - len(number)]
    ends = (part if len(part) <= room else f"…{part[-room + 1 :]}" for part, room in zip(parts, rooms, strict=True))
    return "\n".join(ends) + number


def _table(
    type_name: str,
    topics: Sequence[Topic],
    columns: Mapping[Column, str],
    cells: Mapping[str, Mapping[Column, str]],
    summaries: Mapping[tuple[str, str, str | None, int | None, int | None], float],
    turns: range,
    *,
    last: int,
) -> Text:
    """Lay out one table for `turns`. Rich's tables would be too slow for cells of one character."""
    turn_names = _join_cells(f"S{turn}" for turn in turns)
    headings = [[*heading.splitlines(), turn_names] for heading in columns.values()]
    widths = [max(map(cell_len, lines)) for lines in headings]
    tallest = max(map(len, headings))
    levels = list(zip(*([""] * (tallest - len(lines)) + lines for lines in headings), strict=True))
    names = [printable(topic.id, line=True) for topic in topics]
    room = min(_LONGEST_ID, max(map(cell_len, (type_name, MEAN_USEFUL.name, *names))))
    table = Text("\n", no_wrap=True)

    def add(name: Sequence[str], marks: Iterable[Text]) -> None:
        for part, line in zip_longest(name, marks, fillvalue=""):
            table.append(f" {set_cell_size(part, room)}  ").append(line).append("\n")

    def add_figures(measure: str, *, by_turn: bool) -> None:
        found = []
        for system, trial in columns:
            wanted = turns if by_turn else (None,)
            values = [summaries.get((measure, system, type_name, trial, turn), float("nan")) for turn in wanted]
            found.append(_join_cells("n/a" if value != value else f"{100 * value:.0f}" for value in values))
        add([measure], [Text(_aligned_line(found, widths))])

    name = chop_cells(type_name, room)
    more = len(levels) - len(name)
    add([""] * more + name, [Text()] * -more + [Text(_aligned_line(lines, widths)) for lines in levels])
    table.stylize("bold")
    table.append(f" {'─' * (room + 2 + cell_len(_aligned_line(levels[-1], widths)))}\n")
    cut = slice(turns.start - 1, turns.stop - 1)
    for topic, said in zip(topics, names, strict=True):
        texts = [cells[topic.id].get(column, "").ljust(last)[cut] for column in columns]
        add(chop_cells(said, room), [_colour_line(_aligned_line(map(_join_cells, texts), widths))])
    table.append("\n")
    add_figures(USEFUL.name, by_turn=True)
    if last in turns:
        for one in (MEAN_USEFUL, RECOVERY):
            add_figures(one.name, by_turn=False)
    return table


def _join_cells(texts: Iterable[str]) -> str:
    return "".join([f"{text:>{_CELL_WIDTH}}" for text in texts])


def _aligned_line(texts: Iterable[str], widths: Iterable[int]) -> str:
    placed = [" " * (width - cell_len(text)) + text for text, width in zip(texts, widths, strict=True)]
    return (" " * _COLUMN_GAP).join(placed)


def _colour_line(line: str) -> Text:
    text = Text(line)
    for alike in _SAME_MARKS.finditer(line):
        text.stylize(_STYLES[alike[1]], *alike.span())
    return text
