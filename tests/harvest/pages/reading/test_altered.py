"""The user's own words are known where the page shows them in another form, and are never read as the answer."""

from __future__ import annotations

import math
import unicodedata
from typing import Any, Literal

import pytest

from harvest.pages.reading.altered import likeness_to_said, share_kept
from harvest.pages.reading.page import letters
from harvest.pages.reading.turn import Habits, ReadTurn, learn_habits, read_turn
from tests.support.snapshots import COMPOSER, snapshot

SAID = "When do you open? This is question 11 of my list, see https://www.example.com/list for it."
OTHER = "Wann öffnen Sie? Das ist meine elfte Frage."
"""The same in other words, as a page that translates shows it."""


def read(*turn: str, said: str = SAID, **known: Any) -> ReadTurn:
    """turn: bubbles of the log. known: as of `read_turn`."""
    return read_turn(snapshot(f'<main><div class="log">{"".join(turn)}</div>{COMPOSER}</main>'), said, **known)


def user(text: str, born: float = 5, kind: str = "m user") -> str:
    return f'<div class="{kind}" h-born="{born}"><p>{text}</p></div>'


def bot(text: str = "At nine.", born: float = 400, kind: str = "m bot") -> str:
    return f'<div class="{kind}" h-born="{born}"><p>{text}</p></div>'


def habits() -> Habits:
    """What an earlier turn on such a page taught."""
    page = snapshot(f'<main><div class="log">{user("Hello")}{bot("Good day.")}</div>{COMPOSER}</main>')
    return learn_habits(page, read_turn(page, "Hello"))


@pytest.mark.parametrize(
    "shown",
    [
        "When do you open? This is question •• of my list, see https://www.example.com/list for it.",
        "When do you open? This is question XX of my list, see https://www.example.com/list for it.",
        "When do you **** This is ******** 11 of my list, see https://www.example.com/list for it.",
        "When do you open? This is question [number removed] of my list, see https://www.example.com/list for it.",
        "When do you o…",
        "When do you open? … for it.",
        "When do you open? This is question 11 of my list, see example.com for it.",
        "At what time do you open? This is query 11 of my list, see https://www.example.com/list for it.",
    ],
)
@pytest.mark.parametrize("kind", ["m user", "m bot"])
def test_the_users_words_in_another_form_are_not_read_as_the_answer(shown: str, kind: str) -> None:
    assert likeness_to_said(SAID, shown)
    found = read(user(shown, kind=kind), bot())
    assert (found.text, found.how) == ("At nine.", "altered")
    assert read(user(shown, kind=kind)).text == "", "and where nothing else has come there is no answer"
    together = read(user(shown, kind=kind), bot(born=5))
    assert together.text == "At nine.", "both may come in one stroke"


@pytest.mark.parametrize(
    "said",
    ["Cafe\u0301 in Lund?", "Ｃａｆé １１?", "ガイド 한국", "Straße ٣", "oﬃce"],
)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_words_in_another_form_of_unicode_are_the_same_words(
    said: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]
) -> None:
    shown = unicodedata.normalize(form, said)
    assert letters(shown) == letters(said)
    found = read(user(shown), bot(), said=said)
    assert (found.text, found.how) == ("At nine.", "echo")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Is it red or blue?", "Blue."),
        ("Do you open on Monday?", "On Monday."),
        ("hello", "Hello. How are you?"),
        ("Tell me about dogs", "Dogs are animals that people tell stories about."),
        ("When do you open?", "We open at nine and close at six."),
        ("yes", "•••"),
        ("Where?", "[1] On the map."),
    ],
)
def test_an_answer_that_contains_words_of_the_user_is_not_the_users(said: str, shown: str) -> None:
    assert likeness_to_said(said, shown) == 0
    assert share_kept(said, shown) <= 1


def test_an_answer_that_repeats_the_users_words_is_read_completely_if_their_own_bubble_masks_them() -> None:
    found = read(
        user("My number is ••••."), bot("You said:</p><p>My number is 4711.</p><p>Thanks."), said="My number is 4711."
    )
    assert found.text == "You said:\n\nMy number is 4711.\n\nThanks."


@pytest.mark.parametrize(
    "title", ["<h1{}>{}</h1>", '<div class="chat-title"{}>{}</div>', "<section{}><p>{}</p></section>"]
)
def test_the_title_of_a_conversation_is_not_the_users_words(title: str) -> None:
    named = title.format(' h-born="2"', f"{SAID[:30]}…")
    log = f'<div class="log">{user(SAID, born=60)}{bot()}</div>'
    found = read_turn(snapshot(f"<main>{named}{log}{COMPOSER}</main>"), SAID)
    assert (found.text, found.how) == ("At nine.", "echo")


def test_text_where_the_users_words_were_before_is_theirs_whatever_it_says() -> None:
    known = habits()
    assert known.apart
    found = read(user(OTHER), bot(), habits=known)
    assert (found.text, found.how) == ("At nine.", "altered")
    assert read(user(OTHER), habits=known).text == ""
    # Where both speakers' elements are made alike the place says nothing.
    page = snapshot(
        f'<main><div class="log">{user("Hello", kind="m")}{bot("Good day.", kind="m")}</div>{COMPOSER}</main>'
    )
    assert not learn_habits(page, read_turn(page, "Hello")).apart


@pytest.mark.parametrize("around", ["{}{}", '<div class="turn" h-born="5">{}{}</div>'])
def test_text_at_the_press_before_any_byte_is_not_an_answer(around: str) -> None:
    turn = around.format(user(OTHER, kind="m"), bot(kind="m"))
    assert (read(turn, heard=0.3).text, read(turn, heard=0.3).how) == ("At nine.", "early")
    alone = around.format(user(OTHER, kind="m"), "")
    assert read(alone, heard=math.inf).text == "", "nothing came back yet: the answer will come"
    assert read(alone, heard=0.3).text == ""
    # A page that asks nobody answers by itself, and one of which nothing is known may.
    assert read(alone).text == OTHER
    # What came after the first byte may be the answer of a page that never shows the user's words.
    assert read(user(OTHER, born=320, kind="m"), heard=0.3).text == OTHER


def test_early_text_teaches_nothing_about_the_place_of_the_users_words() -> None:
    page = snapshot(f'<main><div class="log">{user(OTHER)}{bot()}</div>{COMPOSER}</main>')
    assert learn_habits(page, read_turn(page, SAID, heard=0.3)).user == ()


def test_habits_of_old_recordings_are_read_and_new_ones_are_read_back() -> None:
    known = habits()
    assert Habits.from_json(known.as_json()) == known
    old = {key: value for key, value in known.as_json().items() if key != "apart"}
    assert not Habits.from_json(old).apart
