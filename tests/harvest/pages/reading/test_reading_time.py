"""Large pages are read in a time that grows as they do: each of these took minutes where every part was held against
every other."""

from __future__ import annotations

import time

import pytest

from harvest.pages.finding.blockers import find_refusal
from harvest.pages.reading.turn import learn_habits, read_turn
from tests.support.snapshots import COMPOSER, snapshot

MANY = 4000
BEGINS = '<div role="log"><div class="user" h-born="10">What is it?</div>'
LINK = '<a href="https://e.org/x">https://e.org/x</a> and '
ONE = '<div class="bot" h-born="500">'

PAGES = {  # what the log holds after the user's words, and what the answer says each time
    "an answer in many bubbles": (f"{ONE}It is a boat.</div>" * MANY, "It is a boat."),
    "bubbles in one line": ('<span h-born="500">It is a boat. </span>' * MANY, "It is a boat."),
    "bubbles that a site names": ('<div h-site="reply" h-born="500">It is a boat.</div>' * MANY, "It is a boat."),
    "many listings": (f"{ONE}{'<pre><code>a = 1</code></pre>' * MANY}</div>", "a = 1"),
    "listings between paragraphs": (
        f"{ONE}{'<p>Then one writes a line such as this one:</p><pre><code>a = 1</code></pre>' * MANY}</div>",
        "a = 1",
    ),
    "many links with their address": (
        f"{ONE}<p>{LINK * MANY}</p></div>",
        "https://e.org/x",
    ),
}


SOAKED = ("bubbles in one line", "many listings", "many links with their address")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in SOAKED else ()) for name in PAGES]
)
def test_a_page_of_thousands_of_similar_parts_takes_seconds(name: str) -> None:
    body, part = PAGES[name]
    page = snapshot(f"{BEGINS}{body}</div>{COMPOSER}")
    begun = time.process_time()
    turn = read_turn(page, "What is it?")
    learn_habits(page, turn)
    find_refusal(page, turn)
    spent = time.process_time() - begun
    assert turn.text.count(part) == MANY
    assert spent < 10
