"""What a site sends after each reply, and never before its last word, tells the end of the next one."""

import json
import random

import pytest

from harvest.pages.witness.judgement import Endings, last_text
from harvest.pages.witness.opening import OpenedContent, Shape, open_content
from harvest.pages.witness.received import Message

TOKENS = [{"type": "token", "text": "Hello "}, {"type": "token", "text": "you"}]
END = {"type": "end", "id": 4711}
PLACE = {("a/ws", ".text")}


def turn(*messages: object) -> OpenedContent:
    return open_content(
        [Message(float(at), "a/ws", "socket", json.dumps(one)) for at, one in enumerate(messages, 1)], 0.0
    )


def learn(endings: Endings, *messages: object) -> None:
    one = turn(*messages)
    last = last_text(one.leaves, PLACE)
    assert last is not None
    endings.learn(one.shapes, last)


def forms(message: object) -> set[str]:
    return {shape.form for shape in turn(message).shapes}


def test_a_message_after_every_reply_is_a_sign_after_three_of_them() -> None:
    endings = Endings()
    for count in range(3):
        assert not endings.signs
        learn(endings, {"type": "start"}, *TOKENS, {"type": "end", "id": count})
    assert endings.signs == forms(END)


@pytest.mark.parametrize(("late", "turns"), [(0.02, 2), (0.2, 2), (0.3, 3), (0.9, 3), (1.1, 99)])
def test_a_message_right_after_every_reply_is_a_sign_after_two_of_them(late: float, turns: int) -> None:
    endings = Endings()
    for turn in range(1, 9):
        endings.learn([Shape(0.5, "text"), Shape(0.5 + late, "end")], 0.5)
        assert bool(endings.signs) == (turn >= turns)


def test_a_message_that_once_came_before_a_last_word_is_not_a_sign() -> None:
    endings = Endings()
    for _ in range(9):
        learn(endings, *TOKENS, END)
    learn(endings, TOKENS[0], END, TOKENS[1], END)
    assert not endings.signs


def test_an_irregular_or_disproved_message_is_not_a_sign() -> None:
    endings = Endings()
    for count in range(10):
        learn(endings, *TOKENS, END, *([{"type": "usage"}] if count % 2 else []))
    assert endings.signs == forms(END)
    endings.distrust(forms(END))
    assert not endings.signs


def test_the_sites_own_messages_are_hardly_ever_mistaken_for_a_sign() -> None:
    rng, taken, found = random.Random(5), 0, 0
    for _ in range(500):
        endings, every = Endings(), rng.choice([2.0, 5.0, 15.0, 25.0])
        phase, believed = rng.uniform(0, every), False
        for turn in range(20):
            sent = 30.0 * turn
            last = sent + rng.choice([0.3, 1.0, 4.0])
            beats = [at for beat in range(400) if sent <= (at := phase + every * beat) <= last + 4.6]
            shapes = [Shape(last, "text"), Shape(last + 0.02, "end"), *(Shape(at, "beat") for at in beats)]
            endings.learn(sorted(shapes, key=lambda shape: shape.at), last)
            believed = believed or "beat" in endings.signs
        taken, found = taken + believed, found + ("end" in endings.signs)
    assert found == 500
    assert taken <= 5
