"""What a notebook prints of the public objects: one line that names them, never their arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import harvest
import recordings
import scoring
import topics

OBJECTS = {
    "a tree": ("tree", "<ConversationTree by exact: 450 trials, "),
    "a growing tree": ("builder", "<TreeBuilder by exact: 450 trials>"),
    "a set of topics": ("topics", "<TopicSet fairweb-45: 45 topics>"),
    "a gold table": ("gold", "<GoldTable: "),
    "a protocol": ("protocol", "<Protocol fairweb-two-round 1: 3 states, 2 rules>"),
    "a schema": ("schema", "<Schema sakai-2023: 21 criteria>"),
    "one measure of a comparison": ("measure", "<MeasureComparison in %useful S1: 1 pair over 45 topics>"),
    "a turn": ("turn", "<Turn 1: 'Please list up animated movies"),
    "a turn without an answer": ("unanswered", "<Turn 1: 'Please list up animated movies"),
}


@pytest.fixture(scope="module")
def shown(demo: Path) -> dict[str, object]:
    run = recordings.read(demo)
    builder = recordings.TreeBuilder()
    for one in run.finished:
        builder.add(one)
    found = run.header.topic_set()
    assert found is not None
    turn = run.finished[0].turns[0]
    return {
        "tree": builder.tree(),
        "builder": builder,
        "topics": found,
        "gold": topics.load_gold("parrot", found),
        "protocol": run.header.played_protocol(),
        "schema": scoring.load_schema(),
        "measure": harvest.compare_runs([run]).measures[0],
        "turn": turn,
        "unanswered": replace(turn, reply=None),
    }


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_printed_in_one_short_line(name: str, shown: dict[str, object]) -> None:
    which, begins = OBJECTS[name]
    text = repr(shown[which])
    assert text.startswith(begins)
    assert text.endswith(">")
    assert len(text) < 140
    assert "\n" not in text
