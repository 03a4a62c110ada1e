"""Lines that a page puts among bubbles, or into them, are no part of an answer."""

from __future__ import annotations

import pytest

from harvest.pages.reading.phrases import is_origin_note
from harvest.pages.reading.turn import ReadTurn, read_turn
from tests.support.snapshots import COMPOSER, snapshot

SAID = "When does the kiln open to visitors?"
ANSWER = "At ten on Saturdays."


def read(inside: str, *, before: str = "", after: str = "", box: str = 'h-edge="1"') -> ReadTurn:
    body = (
        f'<main h-font="16" h-ink="rgb(0, 0, 0)"><div class="log">'
        f'<div class="msg mine" {box} h-born="5">{SAID}</div>{before}'
        f'<div class="msg theirs" {box} h-born="300">{inside}</div>{after}</div>{COMPOSER}</main>'
    )
    return read_turn(snapshot(body), SAID)


@pytest.mark.parametrize(
    "line",
    [
        '<div class="day" h-born="290">— Saturday, week 14 —</div>',
        '<div class="sys" h-born="310">This visit ends in 04:59</div>',
        '<div class="meta-line" h-born="310">Answered by kiln-2 in 1.2 s · 45 tokens</div>',
        '<div class="note" h-born="290">Case 4711 was opened</div>',
    ],
)
def test_a_line_of_the_log_next_to_the_bubble_is_not_part_of_the_answer(line: str) -> None:
    for turn in (read(ANSWER, before=line), read(ANSWER, after=line)):
        assert turn.text == ANSWER
    small = line.replace('class="', 'h-font="12" class="')
    assert read(ANSWER, before=small, box="").text == ANSWER


@pytest.mark.parametrize(
    "part",
    [
        '<div class="msg theirs" h-edge="1" h-born="290">Good day.</div>',
        '<div class="card" h-edge="1" h-born="290">Kiln Lane 4</div>',
        '<div class="line" h-born="290"><a href="https://a.org/kiln">The kiln</a></div>',
        '<div class="line" h-born="290"><img src="https://a.org/k.png" alt="The kiln" h-box="0,0,300,200"/></div>',
        f'<div class="line" h-born="290">{"Bring shoes that may get dirty, and a coat against the wind. " * 2}</div>',
    ],
)
def test_another_part_of_the_answer_is_read(part: str) -> None:
    assert read(ANSWER, before=part).text.endswith(ANSWER)
    assert read(ANSWER, before=part).text != ANSWER


def test_a_line_that_looks_like_the_bubbles_is_read() -> None:
    assert (
        read(ANSWER, before='<div class="x" h-born="290">On which day?</div>', box="").text
        == f"On which day?\n\n{ANSWER}"
    )


def test_notes_on_how_answers_were_made_are_left_out_of_later_ones_too() -> None:
    line = '<div class="x">Answered by kiln-2 in 1.{0} s · 4{0} tokens</div>'
    earlier = (
        f'<div class="msg mine">Hello</div><div class="msg theirs"><p>Good day to you all.</p>{line.format(1)}</div>'
    )
    reply = f'<div class="msg theirs" h-born="300"><p>{ANSWER}</p>{line.format(2)}</div>'
    log = f'<div class="log">{earlier}<div class="msg mine" h-born="5">{SAID}</div>{reply}</div>'
    assert read_turn(snapshot(f"<main>{log}{COMPOSER}</main>"), SAID).text == ANSWER


def test_an_advertisement_in_the_log_is_left_out() -> None:
    assert read(ANSWER, after='<div class="ad" h-edge="1" h-born="320">Clay by the ton.</div>').text == ANSWER


@pytest.mark.parametrize(
    "quote",
    [
        f"<blockquote>{SAID}</blockquote>",
        f'<div class="quoted"><b>You</b> {SAID}</div>',
        f'<div class="reply-to">{SAID[:20]}…</div>',
        f'<div h-font="12">{SAID}</div>',
    ],
)
def test_the_users_words_quoted_over_the_answer_are_not_the_answer(quote: str) -> None:
    turn = read(f"{quote}<p>{ANSWER}</p>")
    assert turn.text == ANSWER
    assert any(SAID[:20] in line for line in turn.left_out)


def test_an_answer_may_repeat_or_quote_and_may_be_only_a_quotation() -> None:
    assert read(f"<p>{SAID}</p><p>{ANSWER}</p>").text == f"{SAID}\n\n{ANSWER}"
    assert read(f"<blockquote>The kiln opens late.</blockquote><p>{ANSWER}</p>").text.startswith(
        "> The kiln opens late."
    )
    assert SAID in read(f"<blockquote>{SAID}</blockquote>").text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Answered by GPT-4 in 1.2 s", True),
        ("Generated in 850 ms · 45 tokens", True),
        ("1.4s | 120 tokens | 32 tok/s", True),
        ("kiln-2 · 1.4 s · 45 tokens", True),
        ("Took 3 seconds", True),
        ("Beantwortet von Uta in 2,5 Sekunden", True),
        ("3 s", False),
        ("45 tokens", False),
        ("It took 3 seconds.", False),
        ("The kiln, fired in 3 hours", False),
    ],
)
def test_notes_of_a_page_on_how_an_answer_was_made(line: str, told: bool) -> None:
    assert is_origin_note(line) == told
    assert read(f'<p>{ANSWER}</p><div class="x">{line}</div>').text == (ANSWER if told else f"{ANSWER}\n\n{line}")
