"""The o/x/- grid at the end of `run` and `score`: what does not fit a line goes on below, and nothing is cut."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from harvest.report.grid import grid_blocks
from harvest.studies.scores.grid import grids, legend
from harvest.studies.scores.report import print_scores
from harvest.studies.scores.scorecard import Material, score_material
from recordings.conversations.conversation import Conversation, Outcome
from tests.support.scoring_examples import CHAT, conversation
from topics.topic import Topic, TopicSet, TopicType

WELL, BADLY = Outcome("user-stopped", "plan-done"), Outcome("breakdown", "useless")


def material(played: Sequence[Conversation], turns: int) -> Material:
    names = dict.fromkeys(one.key.topic for one in played)
    topics = TopicSet("t", tuple(Topic(name, CHAT, f"About {name}?") for name in names), {})
    systems = tuple(dict.fromkeys(one.key.system for one in played))
    most = dict.fromkeys(((system, name) for system in systems for name in names), turns)
    return Material(topics, systems, tuple(played), most, frozenset(one.key for one in played), None, {}, (), ())


def talk(labels: str, *, topic: str = "T1", system: str = "A", trial: int = 1, ended: Outcome = WELL) -> Conversation:
    said = [("say", "reply")] * len(labels)
    return conversation(*said, labels=labels, topic=topic, system=system, trial=trial, outcome=ended)


def printed(held: Material, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), record=True, force_terminal=True)
    for grid in grids(held, score_material(held).rows, width=width, each=True).tables:
        console.print(grid)
    return console.export_text().splitlines()


def turns_of(lines: Sequence[str]) -> list[int]:
    return [int(number) for line in lines for number in re.findall(r"\bS(\d+)\b", line)]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_thirty_turns_are_wrapped_and_never_cut(width: int) -> None:
    lines = printed(material([talk("ox" * 15), talk("xo" * 15, system="B")], 30), width)
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if "…" in line]
    assert sorted(turns_of(lines)) == sorted([*range(1, 31)] * 2)
    assert sum(line.count(" o") for line in lines if line.startswith(" T1")) == 30


def test_systems_of_one_long_run_are_distinguished() -> None:
    lines = printed(material([talk("ox", system=f"{name}@a-long-name-2026-11-01") for name in "AB"], 2), 80)
    assert any(line.split() == ["A", "B"] for line in lines)
    assert any(line.split() == ["…-2026-11-01", "…-2026-11-01"] for line in lines)


@given(
    turns=st.integers(1, 45),
    width=st.integers(40, 160),
    trials=st.integers(1, 4),
    systems=st.lists(st.sampled_from(["A", "assistant-2026-11-21", "B7"]), min_size=1, unique=True),
)
@example(turns=4, width=150, trials=4, systems=["A", "assistant-2026-11-21"])
def test_every_turn_of_every_trial_occurs_once_within_the_width(
    turns: int, width: int, trials: int, systems: list[str]
) -> None:
    played = [talk("o" * turns, system=system, trial=n) for system in systems for n in range(1, trials + 1)]
    lines = printed(material(played, turns), width)
    assert max(map(len, lines)) <= width
    assert sorted(turns_of(lines)) == sorted([*range(1, turns + 1)] * len(played))


def test_figures_of_a_whole_trial_occur_once_under_its_last_turn() -> None:
    lines = printed(material([talk("x" + "o" * 29)], 30), 80)
    assert len([line for line in lines if line.startswith(" ave%useful")]) == 1
    (recovery,) = (line for line in lines if line.startswith(" %recovery"))
    assert recovery.split()[1] == "100"
    assert len([line for line in lines if line.startswith(" %useful")]) == 2


def test_turns_that_nobody_was_asked_have_no_column_and_turns_lost_to_a_breakdown_have_one() -> None:
    left = material([talk("oo"), talk("oxo", trial=2)], 20)
    assert max(turns_of(printed(left, 80))) == 3
    assert "not asked" in legend(left)
    assert "not asked" not in legend(material([talk("oo"), talk("oo", trial=2)], 20))
    broken = material([talk("oo", ended=BADLY)], 20)
    assert max(turns_of(printed(broken, 80))) == 3


def test_a_mark_is_under_its_turn_if_another_system_takes_more_turns() -> None:
    held = material([talk("o"), talk("ox", system="B")], 2)
    held = replace(held, turns={("A", "T1"): 1, ("B", "T1"): 2})
    lines = printed(held, 80)
    turns = next(line for line in lines if "S1" in line)
    marks = next(line for line in lines if "T1" in line)
    starts = [found.end() for found in re.finditer(r"S\d", turns)]
    assert [marks[end - 1 : end] for end in starts] == ["o", " ", "o", "x"]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["oo", "ox", "xo", "xx"])), min_size=1, max_size=9))
@example([("a", "oo"), ("b", "xx"), ("a", "xx"), ("b", "oo"), ("a", "ox")])
def test_a_type_has_one_block_and_its_figures_summarise_the_marks_above_them(played: list[tuple[str, str]]) -> None:
    """However the types alternate in the file; the same in the report."""
    kinds = {name: TopicType(name) for name in "abc"}
    topics = [Topic(f"{kind}{number}", kinds[kind], "?") for number, (kind, _) in enumerate(played)]
    talks = [talk(labels, topic=topic.id) for topic, (_, labels) in zip(topics, played)]
    held = replace(material(talks, 2), topics=TopicSet("t", tuple(topics), {}))
    rows = score_material(held).rows
    text = "\n".join(printed(held, 80))
    assert text.count("\n %useful ") == len({kind for kind, _ in played})
    shown = {}
    for part in text.split("ave%useful")[:-1]:
        marks = re.findall(r"^ ([abc])\d+ +([ox]) +([ox])$", part, re.MULTILINE)
        (figures,) = re.findall(r"^ %useful +(\d+) +(\d+)", part, re.MULTILINE)
        kind = {one for one, *_ in marks}
        assert len(kind) == 1
        shown[kind.pop()] = ([labels for _, *labels in marks], [int(one) for one in figures])
    assert [*shown] == [*dict.fromkeys(kind for kind, _ in played)]
    for kind, (marks, figures) in shown.items():
        own = [labels for one, labels in played if one == kind]
        assert marks == [[*labels] for labels in own]
        assert figures == [round(100 * sum(labels[turn] == "o" for labels in own) / len(own)) for turn in (0, 1)]
    grids_of_report = [one for block in grid_blocks(held, rows) for one in block.get("grids", ())]
    assert [one["name"] for one in grids_of_report] == [*shown]
    assert [len(one["rows"]) for one in grids_of_report] == [len(marks) for marks, _ in shown.values()]
    for one in grids_of_report:
        assert [round(float(cell.rstrip("%"))) for cell in one["foot"][0]["cells"]] == shown[one["name"]][1]


def test_marks_have_their_colours() -> None:
    console = Console(width=80, file=(file := io.StringIO()), force_terminal=True, color_system="standard")
    for grid in grids(material([talk("oox"), talk("xo", trial=2)], 3), (), width=80).tables:
        console.print(grid)
    coloured = re.findall(r"\x1b\[3([23])m([ox ]+)\x1b", file.getvalue())
    assert [(colour, marks.split()) for colour, marks in coloured] == [
        ("2", ["o", "o"]),
        ("3", ["x", "x"]),
        ("2", ["o"]),
    ]


def test_a_long_name_of_a_topic_is_wrapped_too() -> None:
    name = "a-topic-whose-name-is-much-longer-than-a-column-" * 2
    lines = printed(material([talk("o" * 30, topic=name)], 30), 80)
    assert max(map(len, lines)) <= 80
    cells = "".join(line[:27].replace(" ", "") for line in lines[3:9])
    assert name in cells


@pytest.mark.parametrize("width", [60, 80])
def test_the_scores_of_a_long_conversation_fit_the_terminal(width: int) -> None:
    held = material([talk("oox", system=system, topic=topic) for system in "AB" for topic in ("T1", "T2")], 30)
    console = Console(width=width, file=io.StringIO(), record=True, force_terminal=True)
    print_scores(console, held, score_material(held))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "S4 to S30: no conversation had this many turns" in text
    assert "%useful S3" in text
    assert "%useful S4" not in text


def test_asked_turns_without_labels_are_not_called_unasked() -> None:
    held = material([talk("?o??")], 6)
    console = Console(width=80, file=io.StringIO(), record=True, force_terminal=True)
    print_scores(console, held, score_material(held))
    text = console.export_text()
    assert " ? " in text
    assert "S5 to S6: no conversation had this many turns" in text
    assert "S1, S3 to S4: no reply has a label" in text
    assert "%useful S3" in text
    assert "%useful S5" not in text


def test_the_legend_explains_a_heading_that_is_present() -> None:
    held = material([talk("oo"), talk("ox", trial=2)], 2)
    (heading,) = (part for part in legend(held).split("   ") if ": trial " in part)
    name, _, meaning = heading.partition(": ")
    assert meaning == f"trial 1 of {held.systems[0]}"
    console = Console(width=80, record=True, file=io.StringIO())
    for table in grids(held, (), width=80).tables:
        console.print(table)
    assert name in console.export_text()
    assert ": trial" not in legend(material([talk("oo")], 2)), "without numbers there is nothing to explain"


def joined(held: Material, width: int, console_width: int = 200) -> tuple[list[str], str]:
    """The lines of the grids with all trials of a topic in one cell, and their legend."""
    table = score_material(held)
    shown = grids(held, table.single("trial"), table.joint, width=width)
    console = Console(width=console_width, file=io.StringIO(), record=True, force_terminal=True)
    for grid in shown.tables:
        console.print(grid)
    return console.export_text().splitlines(), legend(held, shown)


def many(trials: int, ways: Sequence[str] = ("ox", "xo", "oo", "x-")) -> Material:
    """Two systems on two topics; which way a trial takes goes round, and the second topic begins one later."""
    return material(
        [
            talk(
                ways[(trial + shift) % len(ways)].rstrip("-"),
                topic=f"T{shift}",
                system=system,
                trial=trial,
                ended=WELL if "-" not in ways[(trial + shift) % len(ways)] else Outcome("breakdown", "two-useless", ""),
            )
            for system in "AB"
            for shift in (1, 2)
            for trial in range(1, trials + 1)
        ],
        2,
    )


def test_all_trials_are_in_one_block_of_a_type_if_their_columns_would_not_fit() -> None:
    held = many(7)
    lines, told = joined(held, 60)
    (first,) = (line.split() for line in lines if line.startswith(" T1"))
    (second,) = (line.split() for line in lines if line.startswith(" T2"))
    # Way i of trial t on T1 is (t + 1) % 4, and the marks of a turn stand in the order of the trials.
    ways = ("ox", "xo", "oo", "x-")
    assert first[1:] == ["".join(ways[(trial + 1) % 4][turn] for trial in range(1, 8)) for turn in (0, 1)] * 2
    assert second[1:] == ["".join(ways[(trial + 2) % 4][turn] for trial in range(1, 8)) for turn in (0, 1)] * 2
    useful = sum(cell.count("o") for cell in (first[1], second[1]))
    (figures,) = (line.split() for line in lines if line.startswith(" %useful"))
    assert figures[1] == f"{100 * useful / 14:.0f}"
    assert sum(line.startswith(" %useful") for line in lines) == 1
    assert told.startswith("ooxo: a mark for each trial of the topic   o useful")
    assert max(map(len, lines)) <= 60


def test_too_many_trials_are_counted() -> None:
    lines, told = joined(many(40), 60)
    (first,) = (line.split() for line in lines if line.startswith(" T1"))
    assert first[1:] == ["20/40", "20/40"] * 2
    assert told == "43/50: useful answers, of those that count"
    assert max(map(len, lines)) <= 60


def test_every_trial_has_its_column_if_they_fit_or_are_requested() -> None:
    assert any("A2" in line for line in joined(many(2), 80)[0])
    held = many(7)
    shown = grids(held, score_material(held).rows, width=60, each=True)
    assert len(shown.tables) > 1
    assert shown.cells == "trial"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("trials", [3, 12, 60])
def test_joined_cells_are_never_cut(width: int, trials: int) -> None:
    lines, _ = joined(many(trials), width)
    assert max(map(len, lines)) <= width
    cells = [cell for line in lines if line.startswith(" T") for cell in line.split()[1:]]
    assert sum(cell.count("o") for cell in cells if "/" not in cell) in (
        0,
        sum(sum(turn.label == "o" for turn in one.turns) for one in many(trials).finished),
    )
