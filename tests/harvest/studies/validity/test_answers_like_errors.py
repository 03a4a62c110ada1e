"""A note counts the answers read from pages that open with the words of an error: a person can tell what they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harvest.pages.finding.notices import opens_as_failure
from harvest.studies.scores.scorecard import Material, score_material
from tests.support.scoring_examples import CHAT, conversation
from topics.topic import Topic, TopicSet


def notes(answers: list[str], finish: str) -> tuple[str, ...]:
    """Of the scores of one conversation with these answers."""
    played = conversation(*(("And?", answer) for answer in answers), labels="o" * len(answers), topic="T1", system="A")
    turns = tuple(
        replace(turn, reply=replace(turn.reply, finish=finish)) for turn in played.turns if turn.reply is not None
    )
    held = Material(
        TopicSet("t", (Topic("T1", CHAT, "About T1?"),), {}),
        ("A",),
        (replace(played, turns=turns),),
        {("A", "T1"): len(answers)},
        frozenset({played.key}),
        None,
        {},
        (),
        (),
    )
    return score_material(held).notes


def test_answers_that_open_with_the_words_of_an_error_are_counted() -> None:
    answers = ["NetworkError when asking the model", "Oops! Something went wrong.", "Alien is a film of 1979."]
    told = [note for note in notes(answers, "signs") if "words of an error" in note]
    assert len(told) == 1
    assert told[0].startswith("2 answers opening with the words of an error (A x 2): ")
    assert "`blocked` in docs/sites.md" in told[0]
    assert [note for note in notes(answers[2:], "quiet") if "words of an error" in note] == []


def test_replies_from_an_api_are_not_pages_and_are_not_counted() -> None:
    assert [note for note in notes(["Error: out of memory"], "stop") if "words of an error" in note] == []


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("RateLimitError: too many requests", True),
        ("The request failed with status 500.", True),
        ("Es ist ein Fehler aufgetreten.", True),
        ("出错了，请稍后再试", True),
        ("I cannot help with that.", False),
        ("Terror films of 1979 are few.", False),
        ("The film is about a pilot who, after a long and quiet night alone on the bridge, makes an error.", False),
        ("", False),
    ],
)
def test_only_a_programs_own_words_at_the_beginning_count(text: str, opens: bool) -> None:
    assert opens_as_failure(text) is opens
