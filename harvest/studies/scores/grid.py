"""The o/x/- grid in the layout of Figures 2 to 4 of the GFRC paper: a row for each topic, a column for each turn.

`o` marks a useful answer, `x` a useless answer, `-` a turn after a breakdown, `·` a turn that was not asked because
the conversation had ended well, `?` an unlabelled answer, and `!` a trial without a valid attempt. Trials that were
not played are blank. As in the paper, %useful, ave%useful and %recovery of each column follow below. Turns that no
conversation asked have no column.

If the columns of all trials are wider than the terminal, a column has a turn of a system, with the marks of all its
trials in a row: `ooxo-`. If they are too many for that, too, the cell counts the useful answers among those that count:
`43/50`. Only then, or if each trial is wanted, a grid continues in further tables.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, zip_longest
from typing import Literal

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from harvest.studies.scores.scorecard import Material
from harvest.terminal import printable
from protocols.labels import LABELS, MEANINGS, MISSING, NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.table import ScoreRow
from topics.decimals import decimal
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
_SAME_MARKS = re.compile(r"([^\s0-9/])(?: *\1)*")  # repeated marks in one stretch, since colour does not show on blanks

# A system and the number of a trial.
Column = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Grids:
    """Tables for every type of topic. `cells` is the content of a cell: the mark of one trial, the marks of all trials
    of a topic, or their count."""

    tables: Sequence[Text] = ()
    cells: Literal["trial", "trials", "count"] = "trial"


def grids(
    material: Material, rows: Iterable[ScoreRow], joint: Sequence[ScoreRow] = (), *, width: int, each: bool = False
) -> Grids:
    """Return tables for every type of topic that fit `width` characters. With `each`, every trial has a column of its
    own, even if that takes several tables. `rows` are the scores of single trials, and `joint` those over all trials;
    they are printed below the columns. If no trial was played, there is no table."""
    topics = material.topics.topics
    turns = last_turn_asked(material)
    tried = material.tried
    columns = [(system, trial) for system in material.systems for trial in tried.of_system(system).tolist()]
    if not columns:
        return Grids()
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
    if len(blocks) > 1 and several and not each:
        return _joined_grids(material, columns, joint, room=room, turns=turns)
    cells = _marks_of_trials(material)
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
    return Grids(tables)


def _marks_of_trials(material: Material) -> Mapping[str, Mapping[Column, str]]:
    """Return the marks of each trial, by topic."""
    cells: dict[str, dict[Column, str]] = defaultdict(dict)
    for key in material.invalid:
        cells[key.topic][key.system, key.trial] = "!" * material.turns[key.system, key.topic]
    for key, labels in material.labels.items():
        cells[key.topic][key.system, key.trial] = "".join(labels)
    return cells


def _counted_marks(material: Material, turns: int) -> Mapping[tuple[str, str], list[str]]:
    """Return, by topic and system, how many answers of each turn are useful, of those that count: `43/50`."""
    counts: dict[tuple[str, str], list[list[int]]] = {}
    for topic in material.topics.topics:
        for system in material.systems:
            counts[topic.id, system] = [[0, 0] for _ in range(turns)]
    for key, labels, count in material.ways:
        for of_turn, mark in zip(counts[key.topic, key.system], labels):
            of_turn[0] += count * (mark == USEFUL_LABEL)
            of_turn[1] += count * (mark in (USEFUL_LABEL, NOT_USEFUL, MISSING))
    return {name: [f"{useful}/{every}" for useful, every in own] for name, own in counts.items()}


def _joined_grids(
    material: Material,
    columns: Sequence[Column],
    rows: Iterable[ScoreRow],
    *,
    room: int,
    turns: int,
) -> Grids:
    """Return tables with a column for each turn of a system, which has the marks of all its trials in a row."""
    trials = {system: [trial for _, trial in own] for system, own in groupby(columns, key=lambda column: column[0])}
    most = max(map(len, trials.values()))
    counted = (most + 1) * turns > room - _COLUMN_GAP
    cell = max(_CELL_WIDTH, len(f"{most}/{most}") + 1 if counted else most + 1)
    fitting = max(1, (room - _COLUMN_GAP) // cell)
    of_one = math.ceil(turns / math.ceil(turns / fitting))
    stretches = [range(first, min(first + of_one, turns + 1)) for first in range(1, turns + 1, of_one)]
    wide = max(_LONGEST, cell * of_one)
    headings = {(system, 0): _heading((system, 0), set(), wide) for system in trials}
    widths = (len(line) for heading in headings.values() for line in heading.splitlines())
    at_once = max(1, room // (max([cell * of_one, *widths]) + _COLUMN_GAP))
    summaries: dict[tuple[str, str, str | None, int | None, int | None], float] = {
        (row.measure, row.system, row.topic_type, 0, row.turn): row.value
        for row in rows
        if row.topic is None and row.trial is None
    }

    cells = {} if counted else _marks_of_trials(material)
    marks = _counted_marks(material, turns) if counted else {}

    def joined(topic: str, system: str) -> list[str]:
        if counted:
            return marks[topic, system]
        own = [cells[topic].get((system, trial), "").ljust(turns) for trial in trials[system]]
        return ["".join(of_turn).rstrip().ljust(most) for of_turn in zip(*own, strict=True)]

    by_topic = {
        topic.id: {(system, 0): joined(topic.id, system) for system in trials} for topic in material.topics.topics
    }
    tables = [
        _table(type_name, members, titles, by_topic, summaries, stretch, last=turns, cell=cell)
        for type_name, members in topics_by_type(material.topics.topics).items()
        for titles in ({one: headings[one] for one in block} for block in _blocks(list(headings), at_once))
        for stretch in stretches
    ]
    return Grids(tables, "count" if counted else "trials")


def topics_by_type(topics: Iterable[Topic]) -> dict[str, list[Topic]]:
    """Group topics by the name of their type. Types are in the order of their first topics. A grid has all topics
    of a type, even if types alternate in the file."""
    found: dict[str, list[Topic]] = {}
    for topic in topics:
        found.setdefault(topic.type.name, []).append(topic)
    return found


def legend(material: Material, shown: Grids = Grids()) -> str:
    """Explain the marks in the grids of `material`. `o` and `x` are always explained."""
    last, invalid = last_turn_asked(material), material.invalid
    seen = set(LABELS).union(*(own[:last] for _, own, _ in material.ways), "!" if invalid else "")
    if shown.cells == "count":
        return "43/50: useful answers, of those that count"
    marks = [f"{mark} {said}" for mark, said in MARKS.items() if mark in seen]
    if shown.cells == "trials":
        return "   ".join(["ooxo: a mark for each trial of the topic", *marks])
    trials = {system: material.tried.of_system(system).tolist() for system in material.systems}
    several = {system for system, own in trials.items() if own and own[-1] > 1}
    system = next((system for system in material.systems if system in several), None)
    if system is not None:  # the first heading with a number is explained: `B2: trial 2 of B`
        trial = trials[system][0]
        heading = _heading((system, trial), several, _LONGEST).replace("\n", " ")
        marks.insert(0, f"{heading}: trial {trial} of {printable(system, line=True)}")
    return "   ".join(marks)


def last_turn_asked(material: Material) -> int:
    """Return the number of the last turn, at least 1, that was or should have been asked in any conversation."""
    turns = max(material.turns.values(), default=1)
    ways = {own[:turns] for _, own, _ in material.ways}
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
    cells: Mapping[str, Mapping[Column, Sequence[str]]],
    summaries: Mapping[tuple[str, str, str | None, int | None, int | None], float],
    turns: range,
    *,
    last: int,
    cell: int = _CELL_WIDTH,
) -> Text:
    """Lay out one table for `turns`. `cells` has the text of each turn, by topic and column, and `cell` is their width.
    Rich's tables would be too slow for cells of one character."""
    join = partial(_join_cells, width=cell)
    turn_names = join(f"S{turn}" for turn in turns)
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
            found.append(join("n/a" if value != value else decimal(100 * value, 0) for value in values))
        add([measure], [Text(_aligned_line(found, widths))])

    name = chop_cells(type_name, room)
    more = len(levels) - len(name)
    add([""] * more + name, [Text()] * -more + [Text(_aligned_line(lines, widths)) for lines in levels])
    table.stylize("bold")
    table.append(f" {'─' * (room + 2 + cell_len(_aligned_line(levels[-1], widths)))}\n")
    cut = slice(turns.start - 1, turns.stop - 1)
    for topic, said in zip(topics, names, strict=True):
        texts = [[*cells[topic.id].get(column, ""), *[""] * last][cut] for column in columns]
        add(chop_cells(said, room), [_colour_line(_aligned_line(map(join, texts), widths))])
    table.append("\n")
    add_figures(USEFUL.name, by_turn=True)
    if last in turns:
        for one in (MEAN_USEFUL, RECOVERY):
            add_figures(one.name, by_turn=False)
    return table


def _join_cells(texts: Iterable[str], *, width: int) -> str:
    return "".join([f"{text:>{width}}" for text in texts])


def _aligned_line(texts: Iterable[str], widths: Iterable[int]) -> str:
    placed = [" " * (width - cell_len(text)) + text for text, width in zip(texts, widths, strict=True)]
    return (" " * _COLUMN_GAP).join(placed)


def _colour_line(line: str) -> Text:
    text = Text(line)
    for alike in _SAME_MARKS.finditer(line):
        text.stylize(_STYLES[alike[1]], *alike.span())
    return text
