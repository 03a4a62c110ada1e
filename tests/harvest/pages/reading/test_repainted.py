"""What stood on the page before a turn was sent is not its answer, however the page has painted it anew."""

from __future__ import annotations

import pytest

from harvest.pages.reading.page import Page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import read_turn
from tests.support.snapshots import COMPOSER, snapshot

SAID = "And a map?"
TALK = ("Hello", "Good day. 12:01", "When do you open?", "At nine.")
"""What was said before, by turns."""


def page(
    *lines: str, born: float | None = None, first: int = 1, log: str = "log", above: str = "", after: str = COMPOSER
) -> Page:
    """Lines by turns of the user's and the bot's, in elements numbered from `first` that came at `born`."""
    came = "" if born is None else f' h-born="{born}"'
    said = "".join(
        f'<div h-id="{first + number}" class="m {"bot" if number % 2 else "user"}"{came}>{line}</div>'
        for number, line in enumerate(lines)
    )
    return snapshot(f'<main>{above}<div class="{log}" h-id="900">{said}</div>{after}</main>')


BEFORE = PageText(page(*TALK))


def text(now: Page, said: str = SAID, before: PageText = BEFORE) -> str:
    return read_turn(now, said, before=before).text


@pytest.mark.parametrize("composer", ["below", "above"])
def test_an_unanswered_turn_gets_nothing_from_the_conversation_before_it(composer: str) -> None:
    where = {"above": COMPOSER, "after": ""} if composer == "above" else {}
    anew = page(*TALK, SAID, born=200, first=20, **where)
    assert text(anew) == ""
    assert (
        text(page(*TALK[:1], TALK[1].replace("12:01", "1 min ago"), *TALK[2:], SAID, born=200, first=20, **where)) == ""
    )
    assert text(page(*TALK, SAID, "By the door.", born=200, first=20)) == "By the door."


def test_only_the_newest_answer_repeated_after_a_byte_may_be_the_answer() -> None:
    def shown(said: str, number: int, born: str = "") -> Page:
        paragraphs = "".join(f"<p>{line}</p>" for line in said.split("|"))
        answer = f'<section h-id="{number}"{born}>{paragraphs}</section>'
        return snapshot(f'<main><h1>Museum</h1><div class="pane" h-id="900">{answer}</div>{COMPOSER}</main>')

    for said in ("Closed on Mondays.", "Closed on Mondays.|Open else."):
        before = PageText(shown(said, 4))
        again = shown(said, 9, ' h-born="400"')
        turn = read_turn(again, SAID, before=before, heard=0.3)
        assert turn.text == "", "the page may yet say something else"
        assert turn.doubtful is not None
        assert turn.doubtful.text == said.replace("|", "\n\n")
        # At the press, or where nothing has come back, nothing has been answered.
        for unheard in (shown(said, 9, ' h-born="100"'), shown(said, 4)):
            assert read_turn(unheard, SAID, before=before, heard=0.3).doubtful is None
        for heard in (None, float("inf")):
            assert read_turn(again, SAID, before=before, heard=heard).doubtful is None
    # A list of answers that is painted anew has not grown.
    anew = read_turn(page(*TALK, born=200, first=20), "4711?", before=BEFORE, heard=0.1)
    assert (anew.text, anew.doubtful) == ("", None)


def test_only_the_users_old_words_redrawn_do_not_turn_the_page_upside_down() -> None:
    seg = '<div class="seg"{}><div class="sent"><p h-id="{}" h-born="210">{}</p></div><div class="got">{}</div></div>'
    one, two = seg.format("", 40, "Hello", '<p h-id="4">Hi.</p>'), seg.format(' h-born="5"', 41, SAID, "")
    for before in (BEFORE, None):
        found = read_turn(snapshot(f'<main><div class="log">{one}{two}</div>{COMPOSER}</main>'), SAID, before=before)
        assert (found.text, found.rising) == ("", False)


def test_redrawn_text_is_not_an_answer_if_the_page_does_not_show_the_users_words() -> None:
    assert text(page(*TALK, born=200, first=20), "4711?") == ""
    new = page(*TALK, "By the door.", born=200, first=20)
    assert text(new, "4711?") == "By the door."


def test_the_same_question_on_a_page_that_redraws_everything_gets_its_own_answer() -> None:
    again = page(*TALK, "Hello", "Good day again.", born=200, first=20)
    assert text(again, "Hello") == "Good day again."
    assert text(page(*TALK, "Hello", born=200, first=20), "Hello") == ""


def test_an_answer_may_equal_an_earlier_one() -> None:
    once = PageText(page("Yes?", "Yes."))
    assert text(page("Yes?", "Yes.", "Sure?", "Yes.", born=200, first=20), "Sure?", once) == "Yes."
    # A page that shows the last exchange alone, and one with a single place for all its answers.
    assert text(page("Sure?", "Yes.", born=200, first=20), "Sure?", once) == "Yes."
    place = '<div h-id="7" class="answer"{}>Yes.</div>'
    kept = PageText(snapshot(f"<main>{place.format('')}{COMPOSER}</main>"))
    written = place.format(' h-said="300"')
    assert text(snapshot(f"<main>{written}{COMPOSER}</main>"), "Sure?", kept) == "Yes."
    # One that grew meanwhile is still there.
    grown = '<div class="m bot" h-id="2" h-said="100">Yes. Surely.</div>'
    turn = '<div class="m user" h-id="3" h-born="5">Sure?</div><div class="m bot" h-id="4" h-born="90">Yes.</div>'
    now = snapshot(
        f'<main><div class="log" h-id="900"><div class="m user" h-id="1">Yes?</div>{grown}{turn}</div>{COMPOSER}</main>'
    )
    assert text(now, "Sure?", once) == "Yes."


def test_the_newest_turn_may_still_be_on_top() -> None:
    now = page("By the door.", SAID, born=300, first=20)
    lines = list(now.root.elements[0].elements[0].elements)
    lines[1].attributes["h-born"] = "5"
    older = snapshot(
        f'<main>{COMPOSER}<div class="log" h-id="900"><div class="m user" h-id="1">Yes?</div></div></main>'
    )
    log = now.root.elements[0].elements[0]
    log.children += older.root.elements[0].elements[-1].elements
    for node in log.elements:
        node.parent = log
    found = read_turn(now, SAID, before=PageText(older))
    assert (found.text, found.rising) == ("By the door.", True)
