"""Every reply a parrot can give gets from the real protocol the label its behaviour stands for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from harvest.parrot.parrot import UNKNOWN, VARIANTS, Parrot, compose, entry_line, load_catalogue
from harvest.parrot.profiles import BEHAVIOURS, PROFILES, Behaviour, Heard
from protocols.answer import Answer, Exchange
from protocols.interpreter import advance, begin
from protocols.library import load_protocol
from protocols.route import Say, Stop
from simulators.scripted import ScriptedUser
from tests.support.rehearsal import rehearse
from topics.library import load_topics
from topics.links import links_in
from topics.topic import Topic

LABELS: dict[Behaviour, str] = {"list": "o", "bare": "x", "prose": "x", "refusal": "x", "silent": "x"}
BREAKDOWNS = {"refusal", "silent"}
"""What ends the conversation when it is the first answer: docs/parrot.md says so."""

PROTOCOL = load_protocol("fairweb-two-round")
TOPICS = load_topics("fairweb-45").topics
CATALOGUE = load_catalogue()
MOST = max(len(variants) for variants in VARIANTS.values())


def chosen(choice: int, n: int) -> int:
    """Stands in for the parrot's draw: always the variant `choice`, around the end where there are fewer."""
    return choice % n


def texts(behaviour: Behaviour, heard: Heard, topic: Topic, turn: int) -> Iterator[str]:
    """The reply in all its variants, with true and with wrong URLs."""
    entries = CATALOGUE.shelves[topic.id].entries[5 * (turn - 1) : 5 * turn]
    for choice in range(MOST):
        for wrong in (False, True):
            if behaviour == "list":
                lines = [entry_line(entry.title, entry.wrong_url if wrong else entry.url) for entry in entries]
            else:
                lines = [entry.title for entry in entries]
            yield compose(behaviour, heard, lines, partial(chosen, choice))


def answer(text: str) -> Answer:
    return Answer(text, links_in(text))


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_first_replies_get_the_intended_label_on_every_topic(behaviour: Behaviour) -> None:
    for topic in TOPICS:
        action, position = begin(PROTOCOL, topic)
        assert isinstance(action, Say)
        for text in texts(behaviour, "request", topic, 1):
            following, _ = advance(PROTOCOL, topic, position, (Exchange(action.text, answer(text)),))
            assert following.route is not None
            assert following.route.label == LABELS[behaviour], text
            broken = isinstance(following, Stop) and following.outcome == "breakdown"
            assert broken == (behaviour in BREAKDOWNS), text


@pytest.mark.parametrize("first", [name for name in BEHAVIOURS if name not in BREAKDOWNS])
@pytest.mark.parametrize("second", BEHAVIOURS)
def test_second_replies_get_the_intended_label_after_any_first_one(first: Behaviour, second: Behaviour) -> None:
    for topic in TOPICS:
        action, position = begin(PROTOCOL, topic)
        assert isinstance(action, Say)
        opening = Exchange(action.text, answer(next(texts(first, "request", topic, 1))))
        action, position = advance(PROTOCOL, topic, position, (opening,))
        assert isinstance(action, Say)
        heard: Heard = "more" if first == "list" else "adhere"
        for text in texts(second, heard, topic, 2):
            last, _ = advance(PROTOCOL, topic, position, (opening, Exchange(action.text, answer(text))))
            assert isinstance(last, Stop)
            assert last.outcome == "completed"
            assert last.route is not None
            assert last.route.label == LABELS[second], text


@pytest.mark.parametrize("name", PROFILES)
def test_every_reply_of_a_played_audit_gets_the_label_the_session_meant(name: str) -> None:
    meant: list[str] = []

    class Listening(Parrot):
        def session(self, *args, **options):  # type: ignore[no-untyped-def]
            found = super().session(*args, **options)
            say = found.answer

            def heard(text: str) -> Answer:
                said = say(text)
                assert found.behaviour is not None
                meant.append(LABELS[found.behaviour])
                return said

            found.answer = heard  # type: ignore[method-assign]
            return found

    parrot = Listening(CATALOGUE, PROFILES[name])
    conversations = list(rehearse(parrot, ScriptedUser(PROTOCOL), TOPICS, trials=3, seed=17))
    assert [turn.label for conversation in conversations for turn in conversation.turns] == meant
    for conversation in conversations:
        for turn in conversation.turns:
            assert turn.reply is not None
            assert turn.reply.answer.links == links_in(turn.reply.answer.text)


def test_the_user_s_words_are_those_of_the_protocol() -> None:
    parrot = Parrot(CATALOGUE, PROFILES["erratic"])
    for conversation in rehearse(parrot, ScriptedUser(PROTOCOL), TOPICS, trials=2, seed=4):
        topic = next(topic for topic in TOPICS if topic.id == conversation.key.topic)
        action, position = begin(PROTOCOL, topic)
        for number, turn in enumerate(conversation.turns, start=1):
            assert isinstance(action, Say)
            assert turn.said == action.text
            action, position = advance(PROTOCOL, topic, position, conversation.exchanges[:number])


def test_not_knowing_is_x_and_not_a_breakdown() -> None:
    for topic in TOPICS:
        action, position = begin(PROTOCOL, topic)
        assert isinstance(action, Say)
        following, _ = advance(PROTOCOL, topic, position, (Exchange(action.text, Answer(UNKNOWN)),))
        assert isinstance(following, Say)
        assert following.route is not None
        assert following.route.label == "x"
    for text in VARIANTS["exhausted"]:
        topic = TOPICS[0]
        action, position = begin(PROTOCOL, topic)
        assert isinstance(action, Say)
        following, _ = advance(PROTOCOL, topic, position, (Exchange(action.text, Answer(text)),))
        assert isinstance(following, Say)
        assert following.route is not None
        assert following.route.label == "x"
