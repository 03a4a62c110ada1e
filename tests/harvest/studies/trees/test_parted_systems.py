"""Where two systems part, from conversations: two parrots of which one fails more, and their words."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from harvest.parrot.parrot import Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from harvest.studies.trees.parted_systems import end_title, parted_systems
from harvest.studies.trees.parting_figures import parting_lines
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation, Outcome
from simulators.scripted import ScriptedUser
from tests.support.rehearsal import rehearse
from tests.support.tree_examples import conversation
from topics.errors import InputError
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")


@cache
def played(profile: str, name: str, seed: int = 1) -> tuple[Conversation, ...]:
    parrot = Parrot(load_catalogue("parrot", TOPICS), PROFILES[profile])
    user = ScriptedUser(load_protocol("fairweb-two-round"))
    return tuple(rehearse(parrot, user, TOPICS.topics[:10], trials=6, seed=seed, system=name))


def test_turns_that_tell_two_parrots_apart_come_first_with_the_conversations_that_show_it() -> None:
    (found,) = parted_systems([*played("steady", "A"), *played("erratic", "B")], ["A", "B"], draws=999)
    named = [turn.p <= 0.05 for turn in found.turns]
    assert named == sorted(named, reverse=True)
    first = next(turn for turn in found.turns if turn.turns == ("U ask",))
    assert (first.branch, first.came) == ("S o", (60, 60))
    assert first.p == pytest.approx(0.001)
    assert first.portion[0] > 0.8 > 0.7 > first.portion[1]
    assert first.took == tuple(round(60 * portion) for portion in first.portion)
    assert sum(turn.share for turn in found.turns) == pytest.approx(1, abs=1e-9)
    assert found.p == pytest.approx(0.0005)
    assert found.by_chance < found.divergence / 2
    assert (found.n, found.topics, found.refused) == ((60, 60), 10, "")
    labels = {
        (one.key.system, one.key.topic, one.key.trial): one.turns[0].label
        for one in (*played("steady", "A"), *played("erratic", "B"))
    }
    for pair in first.pairs:
        assert labels["A", pair.topic, pair.first] == "o"
        assert labels["B", pair.topic, pair.second] == "x"
    assert found.texts.p < 0.05
    assert found.texts.n == 120


def test_the_first_pairs_are_the_same_alone_as_among_all() -> None:
    three = [*played("steady", "A"), *played("erratic", "B"), *played("steady", "C", seed=2)]
    every = parted_systems(three, ["A", "B", "C"], draws=99)
    assert [(one.first, one.second) for one in every] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert repr(parted_systems(three, ["A", "B", "C"], draws=99, most=2)) == repr(every[:2])


def test_a_parrot_and_itself_do_not_part() -> None:
    (found,) = parted_systems([*played("steady", "A"), *played("steady", "B", seed=2)], ["A", "B"], draws=999)
    assert min(found.p, found.texts.p) > 0.05
    assert all(math.isnan(turn.p) or turn.p > 0.05 for turn in found.turns)


def test_trees_of_protocols_with_other_states_are_described_and_not_tested() -> None:
    both, names = [*played("steady", "A"), *played("erratic", "B")], ["A", "B"]
    (tested,) = parted_systems(both, names, draws=99)
    (found,) = parted_systems(both, names, draws=99, states={"A": ["ask", "more"], "B": ["talk"]})
    assert "their protocols have other states" in found.refused
    assert all(math.isnan(p) for p in (found.p, found.by_chance, *(turn.p for turn in found.turns)))
    assert (found.divergence, found.n, found.texts) == (tested.divergence, tested.n, tested.texts)
    for states in ({"A": ["ask", "more"], "B": ["more", "ask"]}, {"A": ["ask"]}):  # an import need not know its own
        assert repr(parted_systems(both, names, draws=99, states=states)) == repr((tested,))


def test_one_trial_per_topic_gives_shares_and_the_reason_for_the_missing_p() -> None:
    some = [one for one in (*played("steady", "A"), *played("erratic", "B")) if one.key.trial == 1]
    (found,) = parted_systems(some, ["A", "B"], draws=99)
    assert "one trial on either side" in found.refused
    assert sum(turn.share for turn in found.turns) == pytest.approx(1, abs=1e-9)
    assert all(math.isnan(turn.p) for turn in found.turns)
    assert math.isnan(found.texts.p)


def test_a_key_that_keeps_topics_apart_and_systems_without_conversations_are_refused() -> None:
    both = [*played("steady", "A"), *played("erratic", "B")]
    with pytest.raises(InputError, match="turns of different topics then always differ"):
        parted_systems(both, ["A", "B"], merge="entities")
    with pytest.raises(InputError, match="nearly every path has one trial"):
        parted_systems([one for one in both if one.key.topic == "M002"], ["A", "B"], merge="exact")
    with pytest.raises(InputError, match="valid conversation"):
        parted_systems(both, ["C", "D"])
    with pytest.raises(InputError, match="no topic in common"):
        parted_systems([*played("steady", "A"), conversation([("a", "b")], system="D", topic="other")], ["A", "D"])


def test_equal_recordings_do_not_part() -> None:
    one = played("steady", "A")
    twin = [replace(each, key=replace(each.key, system="B")) for each in one]
    (found,) = parted_systems([*one, *twin], ["A", "B"], draws=99)
    assert (found.divergence, found.turns, found.p) == (0, (), 1)


def left(system: str, outcome: Outcome, trials: int = 5, topics: int = 12) -> list[Conversation]:
    """Conversations whose labels are all alike, x, and that end after it in one way."""
    return [
        replace(
            conversation([("said", "heard")], trial, system=system, topic=f"T{topic:02d}", labels="x"), outcome=outcome
        )
        for topic in range(topics)
        for trial in range(1, trials + 1)
    ]


@pytest.mark.parametrize(
    ("one", "other", "branches"),
    [
        (
            Outcome("user-stopped", "patience"),
            Outcome("breakdown", "unusable"),
            {"■ breakdown", "■ user-stopped (patience)"},
        ),
        (
            Outcome("user-stopped", "satisfied"),
            Outcome("user-stopped", "frustrated"),
            {"■ user-stopped (satisfied)", "■ user-stopped (frustrated)"},
        ),
        (Outcome("turn-limit", "1 user turns"), Outcome("completed", "otherwise"), {"■ turn-limit", "■ completed"}),
        (Outcome("no-match", "no edge"), Outcome("system-ended", "system-ended"), {"■ no-match", "■ system-ended"}),
    ],
)
def test_systems_that_end_differently_after_the_same_label_part_there(
    one: Outcome, other: Outcome, branches: set[str]
) -> None:
    (found,) = parted_systems([*left("A", one), *left("B", other)], ["A", "B"], draws=999)
    (turn,) = found.turns
    assert found.divergence == pytest.approx(1)
    assert found.p == pytest.approx(0.0005)
    assert turn.turns[-1] == "S x"
    assert (turn.share, turn.p) == pytest.approx((1, 0.001))
    assert turn.branch in branches
    assert sorted(turn.portion) == [0, 1]
    assert len(turn.pairs) == 3
    said = " ".join(parting_lines(found, {name: (Path("run"), name) for name in "AB"}))
    assert f"S x → {turn.branch}" in said
    assert "nowhere" not in said


@pytest.mark.parametrize("reason", ["diverged", "endpoint-failed"])
def test_a_turn_where_conversations_were_cut_short_is_not_a_place_where_systems_part(reason: str) -> None:
    """Where a replay has no answer, or a user fails, nobody knows how the conversation would have gone on."""
    whole, cut = left("A", Outcome("completed", "otherwise")), left("B", Outcome("user-stopped", reason))
    other = left("C", Outcome("breakdown", "unusable"))
    found, known, _ = parted_systems([*whole, *cut, *other], ["A", "B", "C"], draws=99, most=3)
    assert (found.turns, found.divergence, found.tested) == ((), 0, 0)
    assert math.isnan(found.p)
    assert math.isnan(found.by_chance)
    said = " ".join(parting_lines(found, {name: (Path("run"), name) for name in "AB"}))
    assert "nowhere that is known: over 12 topics" in said
    how = "where the recording has no answer" if reason == "diverged" else "by a failure of the user"
    assert f"60 conversations were cut short {how}, so how they would have gone on is not known" in said
    assert known.divergence == pytest.approx(1), "what another system lost changes no other pair"


def test_before_the_turn_at_which_conversations_were_cut_short_systems_part_as_before() -> None:
    def labelled(system: str, label: str, last: Outcome) -> list[Conversation]:
        return [
            replace(conversation([("a", "b")], n, system=system, topic=f"T{topic:02d}", labels=label), outcome=last)
            for topic in range(6)
            for n in range(1, 6)
        ]

    whole = labelled("A", "o", Outcome("completed", "otherwise"))
    (found,) = parted_systems([*whole, *labelled("B", "x", Outcome("user-stopped", "diverged"))], ["A", "B"], draws=999)
    (turn,) = found.turns
    assert (turn.branch, turn.share, turn.portion) in [("S o", 1, (1, 0)), ("S x", 1, (0, 1))]
    assert turn.p == pytest.approx(0.001)
    assert found.divergence == pytest.approx(1)
    assert found.tested == 1


def test_no_end_that_was_cut_short_is_attributed_to_the_user() -> None:
    assert end_title("user-stopped (diverged)") == "■ cut short (diverged)"
    assert end_title("user-stopped (no-words)") == "■ cut short (no-words)"
    assert end_title("user-stopped (satisfied)") == "■ user-stopped (satisfied)"
    assert (end_title("breakdown"), end_title("")) == ("■ breakdown", "■ end")


def test_reasons_given_by_a_protocol_are_not_ends_of_their_own() -> None:
    """They name the rule and the state that led to the end, which the turns say as well."""
    one, other = (left(name, Outcome("breakdown", reason)) for name, reason in (("A", "rule a"), ("B", "rule b")))
    (found,) = parted_systems([*one, *other], ["A", "B"], draws=99)
    assert (found.divergence, found.turns, found.p) == (0, (), 1)


def test_a_lost_or_broken_conversation_is_not_an_end_and_unknown_ends_are_not_distinguished() -> None:
    alike, broken = left("A", Outcome("user-stopped", "satisfied")), left("B", Outcome("user-stopped", "satisfied"))
    lost = [replace(one, key=replace(one.key, trial=9), outcome=Outcome("invalid", "timeout")) for one in broken]
    cut = [replace(one, key=replace(one.key, trial=10), outcome=None) for one in broken]
    (found,) = parted_systems([*alike, *broken, *lost, *cut], ["A", "B"], draws=99)
    assert (found.divergence, found.n, found.tells_ends) == (0, (60, 60), True)
    (imported,) = parted_systems([*alike, *left("B", Outcome("completed", "imported"))], ["A", "B"], draws=99)
    assert (imported.divergence, imported.tells_ends) == (0, False)
