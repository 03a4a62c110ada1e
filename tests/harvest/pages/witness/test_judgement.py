"""Over the turns of a run it is learnt where replies come on the wire, and page and wire are compared there."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harvest.pages.witness.account import Account, Text, make_account
from harvest.pages.witness.judgement import SiteKnowledge, Verdict, judge
from harvest.pages.witness.opening import open_content
from harvest.pages.witness.received import Message
from harvest.pages.witness.strands import EarlierTexts
from tests.support.planted import play
from tests.support.transports import TRANSPORTS, Transport

REPLIES = (
    "The museum opens at nine and closes at five.",
    "Trams leave from the old harbour every ten minutes.",
    "Tickets cost twelve crowns, children enter free.",
    "The garden is closed in winter, the café is not.",
    "Yes, dogs are welcome on the upper terrace.",
    "Ask at the desk for a map of the islands.",
)
SAID = "Tell me more, please"


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_every_transport_is_read_and_faults_of_the_page_are_seen(transport: Transport) -> None:
    clean = play(transport, "clean", 0.0)
    assert [one.word for one in judge([one.account for one in clean]).verdicts] == ["agrees"] * len(clean)
    for rate, share in ((0.3, 0.97), (1.0, 0.9)):
        turns = play(transport, rate, rate)
        words = [verdict.word for verdict in judge([one.account for one in turns]).verdicts]
        found = [word == "differs" for word, one in zip(words, turns) if one.fault]
        assert sum(found) >= share * len(found), [one.fault for word, one in zip(words, turns) if one.fault]
        assert [word for word, one in zip(words, turns) if not one.fault] == ["agrees"] * (len(turns) - len(found))


def told(pages: list[str], *wire: Sequence[object], said: str = SAID) -> list[Account]:
    """One conversation: in each turn the messages of a socket, and what was read on the page."""
    heard, met, found = EarlierTexts(), SiteKnowledge(), list[Account]()
    for number, (page, messages) in enumerate(zip(pages, wire)):
        received = [Message(number * 100 + 1.0, "a/ws", "socket", text_of(one)) for one in messages]
        turn = open_content(received, number * 100)
        found.append(make_account(turn, said, page, heard, met.known_keys))
        met.add_account(found[-1])
        heard.add(turn.leaves)
    return found


def text_of(value: object) -> str:
    return json.dumps(value)


def test_a_title_next_to_the_reply_is_not_a_fault_and_is_noted_once() -> None:
    wire: list[list[object]] = [
        [{"text": f"A talk about number {n}"}, {"text": reply}] for n, reply in enumerate(REPLIES)
    ]
    found = judge(told(list(REPLIES), *wire))
    assert [one.word for one in found.verdicts] == ["agrees"] * 6
    ((example, count),) = found.unread
    assert example.startswith("A talk about number")
    assert count == 6


def test_a_second_text_where_one_is_usual_is_an_unread_reply() -> None:
    wire: list[list[object]] = [[{"text": reply}] for reply in REPLIES]
    wire[3].append({"text": "And one more thing that nobody has shown so far."})
    found = judge(told(list(REPLIES), *wire))
    assert [one.word for one in found.verdicts] == ["agrees"] * 3 + ["differs"] + ["agrees"] * 2
    assert found.verdicts[3].wire == ("And one more thing that nobody has shown so far",)


@pytest.mark.parametrize(
    ("page", "wire"),
    [
        (lambda text: text.replace(" not", ""), lambda text: text),
        (lambda text: text, lambda text: text.replace(" ", " soon ", 1)),
        (lambda text: text.replace(" ", " Anna ", 1), lambda text: text),
    ],
    ids=["lost", "not shown", "added"],
)
def test_a_small_difference_in_the_middle_of_every_answer_is_reported(
    page: Callable[[str], str], wire: Callable[[str], str]
) -> None:
    replies = [f"{text[:-1]}, and that is not known." for text in REPLIES]
    found = judge(told([page(text) for text in replies], *[[{"text": wire(text)}] for text in replies]))
    assert {one.word for one in found.verdicts} == {"differs"}
    assert all(one.page or one.wire for one in found.verdicts)
    assert found.doubtful


def test_an_accepted_near_match_is_not_an_agreement() -> None:
    text = Text((("a/ws", ".text", "", "joined"),), 40, 1, 0.97, "near", wire=("not",), only_wire=3)
    turns = [Account(37, (text,)), Account(37, (replace(text, how="equal", wire=()),)), Account(37, (text,))]
    assert [one.word for one in judge(turns).verdicts] == ["differs", "agrees", "differs"]


def test_the_users_words_and_earlier_texts_are_not_the_reply() -> None:
    history: list[object] = []
    wire = []
    for reply in REPLIES:
        history += [{"text": SAID}, {"text": reply}]
        wire.append(list(history))
    assert [one.word for one in judge(told(list(REPLIES), *wire)).verdicts] == ["agrees"] * 6


def test_a_reply_equal_to_an_earlier_one_is_compared_like_any_other() -> None:
    pages = [*REPLIES[:4], REPLIES[0], REPLIES[0][:-10]]
    wire: list[list[object]] = [[{"text": reply}] for reply in (*REPLIES[:4], REPLIES[0], REPLIES[0])]
    words = [one.word for one in judge(told(pages, *wire)).verdicts]
    assert words == ["agrees"] * 5 + ["differs"]


def test_an_icons_name_read_as_the_answer_differs() -> None:
    pages = [*REPLIES[:4], "face", "face"]
    wire: list[list[object]] = [[{"text": reply}] for reply in REPLIES]
    found = judge(told(pages, *wire))
    assert [one.word for one in found.verdicts[4:]] == ["differs"] * 2


def test_two_turns_are_too_few_to_accuse_and_enough_to_confirm() -> None:
    wire: list[list[object]] = [[{"text": reply}] for reply in REPLIES[:2]]
    found = judge(told([REPLIES[0], REPLIES[1][:-8]], *wire))
    assert found.verdicts == (
        Verdict("agrees"),
        Verdict("silent", "the place of replies on the wire is unknown"),
    )


def test_silence_has_its_reason() -> None:
    (nothing,) = judge(told(["Hello"], [])).verdicts
    assert nothing == Verdict("silent", "nothing came over the wire that could be read")
    enciphered = Message(1.0, "a/ws", "socket", bytes((n * 73 + 199) % 256 | 0x80 for n in range(64)))
    (binary,) = judge([make_account(open_content([enciphered], 0.0), SAID, "Hello", EarlierTexts())]).verdicts
    assert binary == Verdict("silent", "the messages on the wire are binary or encrypted")


def test_a_half_understood_wire_accuses_nobody() -> None:
    """It lacks words that the page has, turn after turn: more likely it is misread than the page."""
    pages = [f"{reply} {reply[::-1]}" for reply in REPLIES]
    wire: list[list[object]] = [[{"text": f"{reply} {number}"}] for number, reply in enumerate(REPLIES)]
    words = {one.word for one in judge(told(pages, *wire)).verdicts}
    assert words == {"silent"}


def test_the_same_words_in_every_unreceived_answer_are_the_pages_own() -> None:
    pages = [f"{reply}\n\nAI-generated content may be incorrect." for reply in REPLIES]
    wire: list[list[object]] = [[{"text": reply}] for reply in REPLIES]
    found = judge(told(pages, *wire))
    assert {(one.word, one.page) for one in found.verdicts} == {("differs", ("AI-generated content may be incorrect",))}


def test_an_account_is_read_as_it_was_written() -> None:
    wire: list[list[object]] = [[{"text": reply}] for reply in REPLIES]
    for one in told([*REPLIES[:5], "cut"], *wire):
        assert Account.from_bytes(json.dumps(one.as_json()).encode()) == one
    for damaged in (b"", b"[]", b"{}", b'{"format": "harvest-wire/1"}', b'{"format": "harvest-wire/1", "texts": [1]}'):
        with pytest.raises(ValueError):
            Account.from_bytes(damaged)


def test_texts_unlike_the_page_are_not_recorded() -> None:
    (account,) = told(["The museum opens at nine."], [{"token": "s3cr3t-token-of-somebody-0123456789"}])
    assert "s3cr3t" not in str(account.as_json())


def test_keys_that_once_resembled_the_page_are_kept() -> None:
    met = SiteKnowledge()
    for account in told(list(REPLIES[:2]), *[[{"text": reply}] for reply in REPLIES[:2]]):
        met.add_account(account)
    assert ("a/ws", ".text", "", "joined") in met.known_keys
