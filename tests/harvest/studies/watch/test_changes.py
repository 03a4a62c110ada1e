"""Which turn changed since a baseline: ends are ways on, unless the baseline was made before they were told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harvest.studies.watch.baseline import FigureBaseline, SystemBaseline
from harvest.studies.watch.changes import Stretch, changed_turns, tell_topics
from harvest.studies.watch.history import TopicMoments
from harvest.studies.watch.ways import KeptWays, Ways, joined_ways, ways
from harvest.studies.watch.words import topics_words
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
def test_conversations_that_end_differently_after_the_same_label_changed_there(
    before: Outcome, now: Outcome, named: tuple[str, str]
) -> None:
    (turn,) = changed_turns(ways(talked(before)), ways(talked(now)), 0.95, 0)
    assert turn.turns[-1] == "S x"
    assert turn.branch.removeprefix("■ ") in named
    assert (sorted(turn.portion), turn.came) == ([0, 1], (30, 30))
    assert turn.p <= 0.01
    assert not [*changed_turns(ways(talked(now)), ways(talked(now)), 0.95, 0)]


def moments(*means: float, trials: int = 24) -> TopicMoments:
    """Of each topic, so many trials of 0 or 1 with this mean."""
    return {
        f"T{place:02}": (trials, mean, mean * (1 - mean) * trials / (trials - 1)) for place, mean in enumerate(means)
    }


def test_topics_of_a_change_are_reported_over_all_audits_of_its_stretch_if_none_shows_them_alone() -> None:
    known = FigureBaseline(topics=moments(*[0.875] * 14), runs=(0.88, 0.87, 0.87, 0.88))
    fallen = moments(*[1 / 3] * 5, *[0.875] * 9, trials=6)
    one, three = (tell_topics(Stretch("ave%useful", audits), known, [fallen] * audits, 0.95, 0) for audits in (1, 3))
    assert (one.fell, one.named) == (0, ())
    assert (three.fell, three.rose, three.topics) == (5, 0, 14)
    assert [topic.topic for topic in three.named] == [f"T{place:02}" for place in range(5)]
    assert all(topic.high < 0 and topic.trials == (24, 18) for topic in three.named)
    assert topics_words(replace(three, since="1970-01-01T00:00:00.000Z")) == (
        "over the 3 audits since 1970-01-01 00:00, ave%useful fell on 5 of 14 topics by more than chance explains"
    )
    assert tell_topics(Stretch("ave%useful"), known, [{}], 0.95, 0) == Stretch("ave%useful")


def test_paths_of_audits_are_stored_in_a_line_and_joined() -> None:
    taken = ways(talked(Outcome("completed", "otherwise")))
    kept = KeptWays.model_validate(KeptWays.of(taken).model_dump())
    assert kept.counted() == taken
    assert sum(n for own in joined_ways([taken, kept.counted()]).values() for n in own.values()) == 60


@pytest.mark.parametrize("reason", ["no-words", "endpoint-failed", "user-fault"])
def test_a_turn_after_which_users_failed_is_not_a_change_of_the_system(reason: str) -> None:
    satisfied, failed = talked(Outcome("user-stopped", "satisfied")), talked(Outcome("user-stopped", reason))
    part = [bad if place % 2 else good for place, (good, bad) in enumerate(zip(satisfied, failed, strict=True))]
    for now in (failed, part):
        assert not [*changed_turns(ways(satisfied), ways(now), 0.95, 0)]
        assert not [*changed_turns(ways(now), ways(satisfied), 0.95, 0)]


def test_a_baseline_from_before_ends_were_distinguished_is_compared_by_its_turns() -> None:
    satisfied, broken = (ways(talked(one)) for one in (Outcome("user-stopped", "satisfied"), Outcome("breakdown", "r")))
    assert not [*changed_turns(without_ends(satisfied), broken, 0.95, 0)]
    useful = ways(talked(Outcome("completed", "r"), "o"))
    (turn,) = changed_turns(without_ends(useful), broken, 0.95, 0)
    assert turn.branch in ("S o", "S x")


def test_paths_with_their_ends_are_read_back_from_a_baseline_and_those_without_are_read() -> None:
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


def test_an_import_that_does_not_say_how_conversations_ended_has_paths_without_an_end() -> None:
    (way,) = ways(talked(Outcome("completed", "imported")))["T0"]
    assert [speaker for speaker, _ in way] == ["user", "system"]
