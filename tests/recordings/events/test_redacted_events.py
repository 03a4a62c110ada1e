"""Every part of an answer is stored without the secrets, and sources keep their places in the text that is stored."""

from __future__ import annotations

import json

import pytest

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from recordings.conversations.conversation import SystemTurn
from recordings.events.events import Answered
from recordings.events.redacted_events import redacted_event
from recordings.secrets.redaction import Redactor

SECRET = "Kanarie-41!geel+zang"


def _stored(answer: Answer) -> tuple[Answer, str]:
    event, row = redacted_event(Answered("id", 1, 1, SystemTurn(answer)), Redactor([SECRET]))
    return event.reply.answer, json.dumps(row)


def test_no_part_contains_a_secret() -> None:
    answer = Answer(
        "Yes.",
        sources=(Source(f"https://example.org/{SECRET}", SECRET, text=f"as told: {SECRET}"),),
        thoughts=f"the key is {SECRET}",
        calls=(ToolCall(SECRET, f'{{"key": "{SECRET}"}}'),),
        offers=(Offer(SECRET, SECRET, SECRET),),
        attachments=(Attachment(SECRET, SECRET),),
    )
    stored, row = _stored(answer)
    assert SECRET not in row
    assert SECRET not in repr(stored)
    assert len(stored.sources) == len(stored.calls) == 1


@pytest.mark.parametrize(("words", "found"), [("before", True), ("behind", True), (SECRET, False), ("is it", True)])
def test_a_source_keeps_its_place_in_the_stored_text(words: str, found: bool) -> None:
    text = f"before, {SECRET} is it, behind"
    start = text.index(words)
    stored, _ = _stored(Answer(text, sources=(Source("", "a", start, start + len(words)), Source("", "b"))))
    placed, unplaced = stored.sources
    assert (stored.text[placed.start : placed.end] == words) is found
    assert found or (placed.start, placed.end) == (-1, -1)
    assert (unplaced.start, unplaced.end) == (-1, -1)
