"""An answer may be a picture, a drawing, a sound or a file; faces, icons and votes are no part of any."""

from __future__ import annotations

import pytest

from harvest.pages.reading.turn import ReadTurn, read_turn
from protocols.answer import Attachment
from tests.support.snapshots import COMPOSER, snapshot

SAID = "Show me a bridge"
AT = "https://a.org/"
PICTURE = 'h-box="40,200,300,200"'


def read(reply: str, *, row: str = "", also: str = "") -> ReadTurn:
    body = (
        f'<main><div class="log"><div class="row me" h-born="5" h-box="0,10,900,40">'
        f'<div class="words" h-born="5" h-box="500,10,300,40">{SAID}</div>{row}</div>'
        f'<div class="row" h-born="300"><div class="b">{reply}</div></div>{also}</div>{COMPOSER}</main>'
    )
    return read_turn(snapshot(body), SAID)


@pytest.mark.parametrize(
    ("figure", "text", "name", "kind"),
    [
        (f'<img src="data:image/svg+xml" alt="A red bridge" {PICTURE}/>', "![A red bridge]()", "A red bridge", "image"),
        (f'<img src="data:image/png" {PICTURE}/>', "[picture]", "data:image/png", "image"),
        (f'<img src="{AT}b.png" alt="" {PICTURE}/>', f"![]({AT}b.png)", f"{AT}b.png", "image"),
        (f'<div h-click="1"><img src="blob:" alt="Bridge" {PICTURE}/></div>', "![Bridge]()", "Bridge", "image"),
        (f'<canvas aria-label="Visitors" {PICTURE}/>', "[drawing: Visitors]", "Visitors", "drawing"),
        (f'<svg title="Sales" h-drawn="Mon, 12" {PICTURE}/>', "[drawing: Sales: Mon, 12]", "Sales", "drawing"),
        (f'<div role="img" aria-label="Bridge" {PICTURE}/>', "![Bridge]()", "Bridge", "image"),
        (f"<canvas {PICTURE}/>", "[drawing]", "", "drawing"),
        ('<canvas aria-label="By month" h-box="40,200,240,48"/>', "[drawing: By month]", "By month", "drawing"),
        ('<svg h-drawn="Mon, 12" h-box="40,200,90,44"/>', "[drawing: Mon, 12]", "Mon, 12", "drawing"),
        (f'<audio src="{AT}b.mp3" h-box="40,200,300,40"/>', "[audio]", f"{AT}b.mp3", "audio"),
        (f'<video src="{AT}b.mp4" title="It" {PICTURE}/>', "[video: It]", f"{AT}b.mp4", "video"),
        ("<button>Bridge plan.pdf<span>1.2 MB</span></button>", "[file: Bridge plan.pdf]", "Bridge plan.pdf", "pdf"),
    ],
)
def test_an_answer_without_words_is_an_answer(figure: str, text: str, name: str, kind: str) -> None:
    for reply in (figure, f"<div class='card'><span>{figure}</span></div>", f"{figure}<div class='bar'>👍 👎</div>"):
        turn = read(reply)
        assert turn.text.split("\n")[0] == text
        assert [(one.name, one.type) for one in turn.answer.attachments] == [(name, kind)]


def test_a_figure_within_an_answer_leaves_a_trace_and_a_voice_beside_words_does_not() -> None:
    turn = read(f'<p>Here it is.</p><canvas aria-label="Visitors" {PICTURE}/><p>So far.</p>')
    assert turn.text == "Here it is.\n\n[drawing: Visitors]\n\nSo far."
    voiced = read('<p>Here it is.</p><audio src="https://a.org/a.mp3" h-box="0,0,300,40"/>')
    assert voiced.text == "Here it is."
    assert voiced.answer.attachments == (Attachment("https://a.org/a.mp3", "audio"),)


@pytest.mark.parametrize(
    "figure",
    [
        '<img src="https://a.org/me.png" h-box="0,0,32,32"/>',
        '<img src="https://a.org/me.png" h-box="0,0,48,48"/>',
        '<img class="avatar" src="https://a.org/me.png" h-box="0,0,96,96"/>',
        '<img alt="Avatar of Zed" src="https://a.org/me.png" h-box="0,0,96,96"/>',
        '<div class="bot-avatar"><img src="https://a.org/me.png" h-box="0,0,96,96"/></div>',
        '<svg class="icon" h-box="0,0,24,24"/>',
        '<svg aria-label="Loading…" h-box="0,0,400,120"/>',
        '<svg aria-label="Bot" h-box="0,0,48,48"/>',
        '<canvas h-box="0,0,240,48"/>',
        '<div class="skeleton"><svg h-box="0,0,400,120"/></div>',
        '<canvas class="typing" h-box="0,0,80,80"/>',
        "<div>👍 👎</div>",
        '<div class="feedback"><span>👍</span></div>',
        '<span h-icon="1" aria-hidden="true">face</span>',
        '<i class="material-icons">face</i>',
        "<i>\ue001</i>",
        "<button>Download</button>",
    ],
)
def test_faces_icons_and_votes_are_not_an_answer(figure: str) -> None:
    turn = read(figure)
    assert (turn.text, turn.doubtful) == ("", None)
    assert read(f"{figure}<p>A bridge.</p>").text == "A bridge."


def test_the_same_small_picture_on_every_row_is_a_face() -> None:
    face = '<img src="https://a.org/me.png" h-box="0,0,96,96"/>'
    assert read(face, row=face).text == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{}", "{}"),
        ('<a href="https://a.org/1">{}</a>', '<a href="https://a.org/2">{}</a>'),
        ('<a href="https://a.org/1">{}</a><p>A bridge.</p>', '<a href="https://a.org/2">{}</a>'),
        ("{}<button>Cross 1</button>", "{}<button>Cross 2</button>"),
    ],
)
def test_the_same_small_picture_alone_or_with_another_link_is_another_answer(first: str, second: str) -> None:
    picture = '<img src="https://a.org/b.png" alt="" h-box="40,200,110,90"/>'
    turns = [("Hello", "", first.format(picture), ""), (SAID, 'h-born="5"', second.format(picture), 'h-born="300"')]
    rows = "".join(
        f'<div class="row me" {user}>{said}</div><div class="row" {born}><div class="b" {born}>{reply}</div></div>'
        for said, user, reply, born in turns
    )
    turn = read_turn(snapshot(f'<main><div class="log">{rows}</div>{COMPOSER}</main>'), SAID)
    assert "![](https://a.org/b.png)" in turn.text
    assert ("https://a.org/2" in turn.text) == ("/2" in second)
    assert [offer.title for offer in turn.answer.offers] == (["Cross 2"] if "Cross" in second else [])


@pytest.mark.parametrize(
    "face",
    [
        '<span aria-hidden="true" h-born="5" h-box="820,15,24,24">face</span>',
        '<div h-born="5" h-box="820,15,40,24">Robin</div>',
        '<div h-born="5" h-box="820,15,40,24">✓</div>',
    ],
)
def test_elements_in_the_users_row_that_came_with_it_are_not_an_answer(face: str) -> None:
    silent = read("", row=face)
    assert (silent.text, silent.doubtful) == ("", None)
    assert read("<p>A bridge.</p>", row=face).text == "A bridge."


def test_a_short_answer_that_appears_later_in_the_users_row_is_read() -> None:
    turn = read("", row='<div h-born="5" h-said="900" h-box="820,15,40,24">Yes</div>')
    assert (turn.doubtful or turn).text == "Yes"
