"""Which turn changed since a baseline: ends are ways on, unless the baseline was made before they were told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harvest.studies.watch.baseline import SystemBaseline, Ways, ways
from harvest.studies.watch.changes import MovedTopics, changed_turns
from recordings.conversations.conversation import Conversation, Outcome
from tests.support.tree_examples import conversation


def talked(outcome: Outcome, label: str = "x") -> list[Conversation]:
    return [
        replace(conversation([("said", "heard")], trial, topic=f"T{topic}", labels=label), outcome=outcome)
        for topic in range(6)
        for trial in range(1, 6)
    ]


def without_ends(taken: Ways) -> Ways:
    """As baselines were before: ways that say nothing of their ends."""
    return {topic: {way[:-1]: count for way, count in own.items()} for topic, own in taken.items()}


@pytest.mark.parametrize(
    ("before", "now", "named"),
    [
        (Outcome("user-stopped", "satisfied"), Outcome("breakdown", "rule"), ("breakdown", "user-stopped (satisfied)")),
        (
            Outcome("user-stopped", "satisfied"),
            Outcome("user-stopped", "frustrated"),
            ("user-stopped (frustrated)", "user-stopped (satisfied)"),
        ),
        (Outcome("completed", "otherwise"), Outcome("turn-limit", "1"), ("completed", "turn-limit")),
    ],
)
def test_conversations_that_end_otherwise_after_the_same_label_changed_there(
    before: Outcome, now: Outcome, named: tuple[str, str]
) -> None:
    (turn,) = changed_turns(ways(talked(before)), ways(talked(now)), 0.95, 0)
    assert turn.turns[-1] == "S x"
    assert turn.branch.removeprefix("■ ") in named
    assert (sorted(turn.portion), turn.came) == ([0, 1], (30, 30))
    assert turn.p <= 0.01
    assert not [*changed_turns(ways(talked(now)), ways(talked(now)), 0.95, 0)]


def test_topics_are_counted_by_the_way_that_their_first_answers_moved() -> None:
    def taken(*useful: int) -> Ways:
        """Of each topic, so many of ten first answers are useful."""
        return {
            f"T{place}": {(("user", "ask"), ("system", "o")): number, (("user", "ask"), ("system", "x")): 10 - number}
            for place, number in enumerate(useful)
        }

    assert MovedTopics.between(taken(9, 8, 7, 5), taken(8, 1, 7, 6)) == MovedTopics(less=2, more=1, topics=4)
    assert MovedTopics.between(taken(9), {}) == MovedTopics()


@pytest.mark.parametrize("reason", ["no-words", "endpoint-failed", "user-fault"])
def test_a_turn_after_which_users_failed_is_no_change_of_the_system(reason: str) -> None:
    satisfied, failed = talked(Outcome("user-stopped", "satisfied")), talked(Outcome("user-stopped", reason))
    part = [bad if place % 2 else good for place, (good, bad) in enumerate(zip(satisfied, failed, strict=True))]
    for now in (failed, part):
        assert not [*changed_turns(ways(satisfied), ways(now), 0.95, 0)]
        assert not [*changed_turns(ways(now), ways(satisfied), 0.95, 0)]


def test_a_baseline_from_before_ends_were_told_apart_is_compared_by_its_turns() -> None:
    satisfied, broken = (ways(talked(one)) for one in (Outcome("user-stopped", "satisfied"), Outcome("breakdown", "r")))
    assert not [*changed_turns(without_ends(satisfied), broken, 0.95, 0)]
    useful = ways(talked(Outcome("completed", "r"), "o"))
    (turn,) = changed_turns(without_ends(useful), broken, 0.95, 0)
    assert turn.branch in ("S o", "S x")


def test_ways_with_their_ends_come_back_from_a_baseline_and_those_without_are_read() -> None:
    taken = ways(talked(Outcome("user-stopped", "satisfied")))
    for known in (taken, without_ends(taken)):
        kept = SystemBaseline(
            identity="",
            planned=30,
            valid=30,
            figures={},
            ways={topic: tuple(own.items()) for topic, own in known.items()},
        )
        assert kept.counted() == known
    (way,) = taken["T0"]
    assert way[-1] == ("end", "user-stopped (satisfied)")


def test_an_import_that_does_not_say_how_conversations_ended_has_ways_without_an_end() -> None:
    (way,) = ways(talked(Outcome("completed", "imported")))["T0"]
    assert [speaker for speaker, _ in way] == ["user", "system"]
