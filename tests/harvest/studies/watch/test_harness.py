"""A placebo tells faults of the harness from changes of a system: each kind is named, and a sound one is silent."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.parrot.placebo import placebo_answer
from harvest.studies.watch.harness import Harness, compare_with_placebo
from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import read
from topics.links import links_in
from topics.topic import Topic, TopicSet, TopicType

TOPICS = TopicSet("made-up", tuple(Topic(f"T{n}", TopicType("t"), f"thing {n}") for n in range(4)), {})


def _conversation(topic: str) -> Conversation:
    said = [f"Tell me of {topic}, please.", "And more?", "Thank you."]
    turns = []
    for number, text in enumerate(said, 1):
        wanted = placebo_answer(said[:number])
        turns.append(Turn(number, "ask", text, SystemTurn(Answer(wanted, links_in(wanted)))))
    return Conversation(TrialKey("page", topic, 1), topic, 1, tuple(turns), Outcome("completed"))


def _reading(change: Callable[[Answer, list[Answer]], Answer]) -> Callable[[Conversation, random.Random], Conversation]:
    """One answer of the conversation, read otherwise; `change` also gets those before it."""

    def spoil(one: Conversation, rng: random.Random) -> Conversation:
        at = rng.randrange(1, len(one.turns))
        before = [turn.reply.answer for turn in one.turns[:at] if turn.reply is not None]
        reply = one.turns[at].reply
        assert reply is not None
        turn = replace(one.turns[at], reply=replace(reply, answer=change(reply.answer, before)))
        return replace(one, turns=(*one.turns[:at], turn, *one.turns[at + 1 :]))

    return spoil


def _said(one: Conversation, rng: random.Random) -> Conversation:
    at = rng.randrange(len(one.turns))
    turn = replace(one.turns[at], said=one.turns[at].said.replace(",", ";") + "!")
    return replace(one, turns=(*one.turns[:at], turn, *one.turns[at + 1 :]))


FAULTS: dict[str, Callable[[Conversation, random.Random], Conversation]] = {
    "the end is cut": _reading(lambda answer, _: Answer(answer.text[: len(answer.text) // 2], answer.links)),
    "the beginning is cut": _reading(lambda answer, _: Answer(answer.text.partition("\n")[2], answer.links)),
    "links are lost": _reading(lambda answer, _: Answer(answer.text, answer.links[1:])),
    "links are read twice": _reading(lambda answer, _: Answer(answer.text, (*answer.links, answer.links[0]))),
    "decoration is read": _reading(lambda answer, _: Answer(f"Bot 12:03\n{answer.text}\nCopy", answer.links)),
    "the answer before is read again": _reading(lambda _, before: before[-1]),
    "nothing is read": _reading(lambda *_: Answer("", ())),
    "answers of other sessions are read": _reading(lambda *_: Answer(placebo_answer(["another session"]), ())),
    "a character is lost": _reading(lambda answer, _: Answer(answer.text.replace("N", "", 1), answer.links)),
    "other words are sent": _said,
    "no attempt is valid": lambda one, _: replace(one, outcome=Outcome("invalid", "timeout")),
    "a turn was sent that is not recorded": lambda one, _: replace(one, turns=one.turns[:-1]),
}


def _held(folder: Path, spoil: Callable[[Conversation, random.Random], Conversation] | None, seed: int) -> Harness:
    rng = random.Random(seed)
    each = [_conversation(topic.id) for topic in TOPICS.topics]
    heard = {one.trial_id: [turn.said for turn in one.turns] for one in each}
    if spoil is not None:
        at = rng.randrange(len(each))
        each[at] = spoil(each[at], rng)
    systems = {"page": {"name": "page", "driver": "browser"}}
    record(folder, each, make_header(audit={"name": "t"}, protocol=None, topics=TOPICS, systems=systems))
    return compare_with_placebo(read(folder), heard)


def test_a_sound_harness_has_no_faults(tmp_path: Path) -> None:
    found = _held(tmp_path / "run", None, 0)
    assert found.is_sound
    assert found.turns == 12


@pytest.mark.parametrize("fault", FAULTS)
def test_every_kind_of_fault_is_found_even_if_it_occurred_once(fault: str, tmp_path: Path) -> None:
    found = [_held(tmp_path / str(seed), FAULTS[fault], seed) for seed in range(3)]
    assert not any(one.is_sound for one in found)
    assert all("of 1" in sentence for one in found for sentence in one.sentences())


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=4))
def test_an_answer_follows_from_all_earlier_text_and_from_nothing_else(said: list[str]) -> None:
    assert placebo_answer(said) == placebo_answer([f" {text}\n" for text in said])
    assert placebo_answer([*said, "x"]) != placebo_answer([*said, "y"])
    assert len(links_in(placebo_answer(said))) == placebo_answer(said).count("https:")
