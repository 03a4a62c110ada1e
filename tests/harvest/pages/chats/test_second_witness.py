"""What the wire says of the turns of a conversation: an account of each, what came late, and where a reply ends."""

import json
from collections.abc import Coroutine
from typing import Any

import pytest

from harvest.pages.browser.busy_signs import WIRE
from harvest.pages.browser.recorder import Recorder
from harvest.pages.chats.completion import Completion, Sample
from harvest.pages.chats.second_witness import SecondWitness
from harvest.pages.witness.account import Account
from harvest.pages.witness.judgement import SiteKnowledge, judge
from harvest.pages.witness.received import Message
from tests.support.stepping import Stepped

REPLIES = ("The museum opens at nine.", "Trams leave every ten minutes.", "Tickets cost twelve crowns.")


class Conversation:
    """With a site that sends its replies over a socket, in pieces, and says when they are whole."""

    def __init__(self, met: SiteKnowledge) -> None:
        self.clock = Stepped(100.0)
        self.recorder = Recorder(self.clock.clock, self._never)
        self.witness = SecondWitness(self.recorder, met)

    @staticmethod
    def _never(work: Coroutine[Any, Any, None]) -> None:
        raise AssertionError("nothing is fetched over a socket")

    def receive(self, **message: object) -> None:
        self.clock.seconds += 0.1
        self.recorder.keep(Message(self.clock.seconds, "a/ws", "socket", json.dumps(message)))

    async def turn(self, reply: str, *, read: str = "") -> Account:
        self.clock.seconds += 1
        self.witness.begin_turn()
        sent = self.clock.seconds
        for word in reply.split(" "):
            assert self.witness.ended_at() is None
            self.receive(type="token", text=f"{word} ")
        self.receive(type="done")
        kept = await self.witness.account("And?", read or reply, sent)
        return Account.from_bytes(kept.data)


async def test_an_account_of_each_turn_is_kept_and_late_content_is_in_the_next() -> None:
    conversation = Conversation(SiteKnowledge())
    accounts = [await conversation.turn(reply) for reply in REPLIES]
    assert [one.before for one in accounts] == [None] * 3
    conversation.receive(type="token", text="Children enter free of charge.")
    accounts.append(await conversation.turn("You are welcome."))
    late = accounts[3].before
    assert late is not None
    verdict = judge([*accounts[:2], late, accounts[3]]).verdicts[2]
    assert (verdict.word, verdict.wire) == ("differs", ("Children enter free of charge",))


async def test_messages_without_a_text_of_the_reply_are_not_late_content() -> None:
    conversation = Conversation(SiteKnowledge())
    await conversation.turn(REPLIES[0])
    conversation.receive(ping=3)
    assert (await conversation.turn(REPLIES[1])).before is None


@pytest.mark.parametrize("during", [False, True], ids=["before the next turn", "while it is answered"])
@pytest.mark.parametrize("came", [True, False])
async def test_a_first_text_does_not_agree_once_another_text_replaces_it(during: bool, came: bool) -> None:
    conversation = Conversation(SiteKnowledge())
    accounts = [await conversation.turn(reply) for reply in (*REPLIES[:2], "I shall ask the keeper.")]
    now = "The keeper says that it is in the cellar."

    def late() -> None:
        if came:
            conversation.receive(type="note", note=now)
        conversation.witness.note_replacement(now)

    if not during:
        late()
    conversation.clock.seconds += 1
    conversation.witness.begin_turn()
    sent = conversation.clock.seconds
    if during:
        late()
    conversation.receive(type="token", text=REPLIES[2])
    kept = await conversation.witness.account("And?", REPLIES[2], sent)
    account = Account.from_bytes(kept.data)
    before = account.before or accounts[2]
    verdicts = judge([*accounts[:2], before, account]).verdicts
    assert [one.word for one in verdicts] == ["agrees", "agrees", "differs" if came else "agrees", "agrees"]
    assert verdicts[2].wire == ((now,) if came else ())


async def taught(met: SiteKnowledge) -> None:
    for _ in range(2):
        conversation = Conversation(met)
        for reply in REPLIES[:2]:
            await conversation.turn(reply)


async def test_an_end_signal_is_recognised_even_if_learnt_only_later() -> None:
    met = SiteKnowledge()
    conversation = Conversation(met)
    await conversation.turn(REPLIES[0])
    ended = conversation.clock.seconds
    assert conversation.witness.ended_at() is None
    await taught(met)
    assert conversation.witness.ended_at() == ended


async def test_messages_without_an_answer_show_no_end() -> None:
    met = SiteKnowledge()
    await taught(met)
    conversation = Conversation(met)
    await conversation.turn(REPLIES[0])
    conversation.clock.seconds += 3
    conversation.receive(type="done")
    await conversation.turn(REPLIES[1])
    assert conversation.witness.ended_at() is None


async def test_an_end_learnt_from_other_conversations_is_trusted_until_it_proves_wrong() -> None:
    met = SiteKnowledge()
    await taught(met)
    conversation = Conversation(met)
    await conversation.turn(REPLIES[0])
    assert conversation.witness.ended_at() == conversation.clock.seconds
    conversation.receive(type="token", text="And one more thing.")
    await conversation.turn(REPLIES[1])
    assert conversation.witness.ended_at() is None


def test_an_end_shown_by_the_wire_needs_a_second_of_quiet() -> None:
    assert Completion().judge(Sample(5.0, 0.9, 1.0, ended={WIRE: 4.2})) is None
    verdict = Completion().judge(Sample(5.2, 1.1, 1.0, ended={WIRE: 4.2}))
    assert verdict is not None
    assert (verdict.how, verdict.asked_for) == ("signs", 1.0)
    assert Completion().judge(Sample(9.0, 1.1, 1.0, ended={WIRE: 4.2}, pauses=((3.0, 4.9),))) is None
