"""What a site sends after each reply, and never before its last word, tells the end of the next one."""

import json

from harvest.pages.witness.ending import Endings, last_text
from harvest.pages.witness.opening import Opened, opened
from harvest.pages.witness.received import Message

TOKENS = [{"type": "token", "text": "Hello "}, {"type": "token", "text": "you"}]
END = {"type": "end", "id": 4711}
PLACE = {("a/ws", ".text")}


def turn(*messages: object) -> Opened:
    return opened([Message(float(at), "a/ws", "socket", json.dumps(one)) for at, one in enumerate(messages, 1)], 0.0)


def learn(endings: Endings, *messages: object) -> None:
    one = turn(*messages)
    last = last_text(one.leaves, PLACE)
    assert last is not None
    endings.learn(one.shapes, last)


def forms(message: object) -> set[str]:
    return {shape.form for shape in turn(message).shapes}


def test_what_follows_every_reply_is_a_sign_after_four_of_them() -> None:
    endings = Endings()
    for count in range(4):
        assert not endings.signs
        learn(endings, {"type": "start"}, *TOKENS, {"type": "end", "id": count})
    assert endings.signs == forms(END)


def test_what_came_before_a_last_word_once_is_none() -> None:
    endings = Endings()
    for _ in range(9):
        learn(endings, *TOKENS, END)
    learn(endings, TOKENS[0], END, TOKENS[1], END)
    assert not endings.signs


def test_what_follows_only_some_replies_and_what_proved_wrong_is_none() -> None:
    endings = Endings()
    for count in range(10):
        learn(endings, *TOKENS, END, *([{"type": "usage"}] if count % 2 else []))
    assert endings.signs == forms(END)
    endings.distrust(forms(END))
    assert not endings.signs
