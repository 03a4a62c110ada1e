"""A turn went out twice only if the page shows two of the user's bubbles, whatever the answer says."""

from __future__ import annotations

import pytest

from harvest.pages.reading.outgoing import count_times_sent
from harvest.pages.reading.repetition import is_repeated
from harvest.pages.reading.turn import read_turn
from tests.support.snapshots import COMPOSER, snapshot

SAID = "hello"
BEFORE = snapshot(f'<main><div class="log"></div>{COMPOSER}</main>')


def repeated(*lines: tuple[str, str, float], again: bool = False, said: str = SAID) -> bool:
    """lines: (class, html, when it came)."""
    log = "".join(
        f'<div h-id="{10 + number}" class="{made}" h-born="{born}"><p h-id="{50 + number}">{html}</p></div>'
        for number, (made, html, born) in enumerate(lines)
    )
    page = snapshot(f'<main><div class="log">{log}</div>{COMPOSER}</main>')
    return is_repeated(BEFORE, page, said, read_turn(page, said), again=again)


@pytest.mark.parametrize(
    "answer",
    [
        "Hello. How are you?",
        "hello",
        "Hello!",
        "hello</p><p>What can I do for you?",
        "Hello, hello",
        "You said: hello",
    ],
)
@pytest.mark.parametrize("made", ["entry", "entry bot"])
def test_an_answer_that_repeats_the_users_words_is_an_answer(answer: str, made: str) -> None:
    user = "entry" if made == "entry" else "entry user"
    assert not repeated((user, SAID, 5), (made, answer, 400))
    assert not repeated((user, SAID, 5), (made, answer, 400), (made, "And what then?", 900))


def test_two_bubbles_of_the_user_mean_that_the_turn_was_sent_twice() -> None:
    assert repeated(("user", SAID, 5), ("user", SAID, 6), ("bot", "Good day.", 400))
    assert repeated(("user", SAID, 5), ("user", SAID, 900), ("bot", "Good day.", 1400))
    assert repeated(("user", f"{SAID} 12:01", 5), ("user", f"{SAID} 12:02", 900), ("bot", "Good day.", 1400))
    assert repeated(("entry", SAID, 5), ("entry", SAID, 6), ("entry", "Good day.", 400)), "in one stroke"
    alike = (("entry", SAID, 5), ("entry", SAID, 900), ("entry", "Good day.", 1400))
    assert not repeated(*alike), "it may be the answer's first bubble"
    assert repeated(*alike, again=True), "unless it is known to have gone out twice"


def test_repeated_sends_of_a_turn_are_counted_among_similar_messages() -> None:
    body = '{"id": 17, "text": "hello"}'
    assert count_times_sent([("POST /say", body)], SAID) == 1
    assert count_times_sent([("POST /say", body), ("POST /say", body.replace("17", "18"))], SAID) == 2
    assert count_times_sent([("POST /say", body), ("POST /title", body)], SAID) == 1, "the second asks for a title"
    history = '{"messages": ["hello", "%s", "tool"]}' % ("Let me look. " * 20)
    assert count_times_sent([("POST /say", body), ("POST /say", history)], SAID) == 1, (
        "the second goes on with the first"
    )
    assert count_times_sent([("POST /say", "c2VjcmV0")], SAID) == 0
