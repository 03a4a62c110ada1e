"""Words and positions: `str.split()` over the whole conversation, user turns included."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.words import UnitChoice, passages, word_count

SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
TEXT = st.text(st.one_of(st.characters(), st.sampled_from(SPACES)), max_size=60)


def conversation(*texts: tuple[str, str | None]) -> Conversation:
    turns = tuple(
        Turn(number, "ask", said, None if text is None else SystemTurn(Answer(text)))
        for number, (said, text) in enumerate(texts, start=1)
    )
    return Conversation(TrialKey("s", "T1", 1), "id", 1, turns, Outcome("completed"))


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4), st.data())
def test_the_position_of_a_span_counts_the_words_of_the_joined_conversation(
    texts: list[tuple[str, str]], data: st.DataObject
) -> None:
    spoken = passages(conversation(*texts))
    number = data.draw(st.integers(0, len(spoken) - 1))
    ends = data.draw(st.lists(st.integers(0, len(spoken[number].text) + 1), max_size=5))
    before = "\n".join(passage.text for passage in spoken[:number])
    wanted = [max(1, word_count(f"{before}\n{spoken[number].text[:end]}")) for end in ends]
    assert spoken[number].positions(ends) == wanted


def test_user_turns_cost_words_and_the_last_word_of_a_span_counts() -> None:
    spoken = passages(conversation(("one two three", "four five"), ("six", "seven eight nine")))
    assert [(passage.speaker, passage.before, passage.words) for passage in spoken] == [
        ("user", 0, 3),
        ("system", 3, 2),
        ("user", 5, 1),
        ("system", 6, 3),
    ]
    last = spoken[-1]
    assert last.positions([1, 5, 6, 7, 11, 16]) == [7, 7, 7, 8, 8, 9]
    assert (last.first_position, last.last_position) == (7, 9)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4), st.sampled_from(["words", "characters", "by-script"]))
def test_without_the_words_of_the_user_positions_count_only_answers(
    texts: list[tuple[str, str]], unit: UnitChoice
) -> None:
    spoken = passages(conversation(*texts), unit, "left-out")
    alone = passages(conversation(*(("", text) for _, text in texts)), unit)
    for one, other in zip(spoken, alone, strict=True):
        ends = range(len(other.text) + 1)
        assert (one.before, one.words, one.positions(ends)) == (other.before, other.words, other.positions(ends))
    for user in spoken[::2]:
        assert set(user.positions(range(len(user.text) + 1))) == {max(1, user.before)}


def test_a_url_glued_to_a_word_has_the_position_of_that_word() -> None:
    text = "Tenet (2020)https://www.imdb.com/title/tt10375988/ and more"
    (_, reply) = passages(conversation(("go", text)))
    assert reply.positions([text.index(" and")]) == [3]


def test_a_turn_without_words_has_the_position_where_the_words_before_it_end() -> None:
    (user, reply) = passages(conversation(("", "")))
    assert (user.first_position, user.last_position, reply.last_position) == (1, 1, 1)
    (_, silent) = passages(conversation(("a b", " \n")))
    assert (silent.first_position, silent.last_position) == (2, 2)


def test_a_turn_that_was_not_answered_has_only_the_user_side() -> None:
    spoken = passages(conversation(("a", "b"), ("c", None)))
    assert [passage.speaker for passage in spoken] == ["user", "system", "user"]


@pytest.mark.parametrize("position", [0, -1])
def test_positions_never_fall_below_1(position: int) -> None:
    (_, reply) = passages(conversation(("", "x")))
    assert reply.positions([max(position, 0)]) == [1]
