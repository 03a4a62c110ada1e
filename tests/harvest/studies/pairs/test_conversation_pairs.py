"""Pairs of conversations: which sides are meant, what is paired with what, and how often labels differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from harvest.studies.pairs.conversation_pairs import (
    LabelDifference,
    choose_sides,
    label_differences,
    pair_conversations,
)
from recordings.conversations.conversation import Conversation, Outcome
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import Run, read
from tests.support.scoring_examples import conversation
from topics.errors import InputError


def recorded(folder: Path, *conversations: Conversation) -> Run:
    systems = {one.key.system: {"name": one.key.system} for one in conversations}
    header = make_header(audit={"name": "t"}, protocol=None, topics=None, systems=systems)
    record(folder, list(conversations), header)
    return read(folder)


def trials(system: str, labels: Sequence[str], topic: str = "T1") -> list[Conversation]:
    return [
        conversation(*[("say", "reply")] * len(each), labels=each, system=system, trial=trial, topic=topic)
        for trial, each in enumerate(labels, start=1)
    ]


def test_a_system_of_several_runs_is_named_with_its_run(tmp_path: Path) -> None:
    runs = [
        recorded(tmp_path / "jan", *trials("mine", ["o"]), *trials("a, b", ["o"])),
        recorded(tmp_path / "feb", *trials("mine", ["x"])),
    ]
    left, right = choose_sides(runs, "mine@feb, mine@jan")
    assert (left.name, left.run, right.name, right.run) == ("mine@feb", runs[1], "mine@jan", runs[0])
    assert [side.name for side in choose_sides(runs, "a, b,mine@jan")] == ["a, b", "mine@jan"]
    assert choose_sides(runs, "a, b@jan,mine@jan")[0].name == "a, b"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mine", "--beside: 'mine' does not name two systems"),
        ("mine,", "--beside: 'mine,' does not name two systems"),
        ("mine,yours", "--beside: 'mine' is ambiguous, because several runs recorded it"),
        ("mine@jan,you", "--beside: no system of these runs is called 'you'"),
        ("yours,yours@feb", "--beside: the sides must differ, but both are 'yours'"),
    ],
)
def test_an_argument_that_does_not_name_two_sides_is_refused_with_the_known_names(
    tmp_path: Path, given: str, said: str
) -> None:
    runs = [
        recorded(tmp_path / "jan", *trials("mine", ["o"])),
        recorded(tmp_path / "feb", *trials("mine", ["x"]), *trials("yours", ["x"])),
    ]
    with pytest.raises(InputError) as fault:
        choose_sides(runs, given)
    assert str(fault.value).startswith(said)
    assert "mine@jan, mine@feb" in str(fault.value)


def test_pairs_share_a_topic_and_a_trial_and_differ_only_if_both_sides_have_a_label(tmp_path: Path) -> None:
    run = recorded(
        tmp_path / "run",
        *trials("A", ["oo", "x", "o?", "o"]),
        *trials("B", ["ox", "xo", "ox"]),
        conversation(("say", "gone"), system="B", topic="T1", trial=5, outcome=Outcome("invalid", "timeout")),
        *trials("B", ["x"], topic="T2"),
    )
    pairs = pair_conversations(*choose_sides([run], "A,B"))
    assert [(one.topic, one.trial, one.differing_turns) for one in pairs] == [
        ("T1", 1, (2,)),
        ("T1", 2, ()),
        ("T1", 3, ()),
        ("T1", 4, ()),
        ("T1", 5, ()),
        ("T2", 1, ()),
    ]
    assert [(one.left is None, one.right is None) for one in pairs[3:]] == [(False, True), (True, True), (True, False)]


def test_labels_that_differ_are_listed_next_to_those_that_differ_within_a_system(tmp_path: Path) -> None:
    run = recorded(
        tmp_path / "run",
        *trials("A", ["ox", "o", "x"]),
        *trials("B", ["xx", "x", "o"]),
        *trials("A", ["o"], topic="T2"),
        *trials("B", ["o"], topic="T2"),
    )
    first, second = label_differences(pair_conversations(*choose_sides([run], "A,B")))
    assert first == LabelDifference(1, 4, {("o", "x"): 2, ("x", "o"): 1}, (2 / 3, 2 / 3))
    assert (second.turn, second.n, second.by_labels) == (2, 1, {})
    assert all(map(math.isnan, second.within))  # one trial of each: nothing is known of chance
