"""A small picture that is a word is read as one; a face and an ornament are not."""

from __future__ import annotations

import pytest

from harvest.pages.reading.markdown import markdown
from harvest.pages.reading.turn import ReadTurn, learn_habits, read_turn
from tests.support.snapshots import COMPOSER, element, snapshot

SAID = "Is there a ferry today?"
SMALL = 'src="https://a.org/i.svg" h-box="40,200,18,18"'


def read(reply: str, *, user: str = "", before: str = "") -> ReadTurn:
    body = (
        f'<main><div class="log">{before}<div class="row me" h-born="5" h-box="0,10,900,40">{user}'
        f'<div class="words" h-born="5" h-box="500,10,300,40">{SAID}</div></div>'
        f'<div class="row" h-born="300">{reply}</div></div>{COMPOSER}</main>'
    )
    return read_turn(snapshot(body), SAID)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f'<p>Sails <img class="emoji" alt="⛵" {SMALL}/> at ten</p>', "Sails ⛵ at ten"),
        (f'<p>Sails<img class="twemoji icon" alt="🚢" {SMALL}/><img alt="🌊" {SMALL}/>.</p>', "Sails🚢🌊."),
        (f'<ul><li>Car deck: <img alt="full" {SMALL}/></li></ul>', "- Car deck: full"),
        (f'<ul><li><img alt="yes" {SMALL}/></li><li><img alt="no" {SMALL}/></li></ul>', "- yes\n- no"),
        (f'<p><img alt="Warning" class="icon" {SMALL}/>Rough sea</p>', "Warning Rough sea"),
        (
            '<p>Comfort: <span role="img" aria-label="2 of 4 anchors"><svg h-box="1,1,60,16"/></span></p>',
            "Comfort: 2 of 4 anchors",
        ),
        ('<p>Lift: <svg role="img" title="in service" h-box="1,1,16,16"/></p>', "Lift: in service"),
        ('<p>Lift: <i class="material-icons" role="img" aria-label="in service">check</i></p>', "Lift: in service"),
        ('<p>Berth <svg h-drawn="B7" h-box="1,1,24,16"/> today</p>', "Berth B7 today"),
        ('<p>Lift: <svg title="Stop" h-box="1,1,16,16"/> soon</p>', "Lift: soon"),
        (f'<p>Lift: <img alt="" {SMALL}/> soon</p>', "Lift: soon"),
        (f'<p>Lift: <img alt="swirl" role="presentation" {SMALL}/> soon</p>', "Lift: soon"),
        (f'<p>Lift: <span aria-hidden="true"><img alt="swirl" {SMALL}/></span> soon</p>', "Lift: soon"),
        (f'<p>Lift: <img alt="Loading…" {SMALL}/> soon</p>', "Lift: soon"),
        (
            f'<p><a href="https://a.org/x"><img alt="Harbour" {SMALL}/> The Harbour</a> says so</p>',
            "[The Harbour](https://a.org/x) says so",
        ),
        (
            f'<p><a href="https://a.org/x"><img alt="Timetable" {SMALL}/></a> helps</p>',
            "[Timetable](https://a.org/x) helps",
        ),
        (f'<p>One <button><img alt="Copy" {SMALL}/></button> two</p>', "One two"),
    ],
)
def test_a_small_picture_in_the_words_is_read_by_its_label(body: str, text: str) -> None:
    assert markdown(element(body)) == text
    assert read(f'<div class="b">{body}</div>').text == text


@pytest.mark.parametrize(
    "around", ["{}", '<div class="b">{}</div>', "<p>{}</p>", '<div class="b"><span>{}</span></div>']
)
def test_an_emoji_drawn_as_a_picture_is_a_whole_answer(around: str) -> None:
    picture = f'<img class="emoji" alt="🚫" {SMALL}/>'
    turn = read(around.format(picture))
    assert (turn.text, turn.answer.attachments) == ("🚫", ())
    assert read(around.format(picture * 2)).text == "🚫🚫"


FACES = [
    f'<div class="side" h-show="block"><img alt="Captain Brook" {SMALL}/></div>',
    f'<img alt="Captain Brook" h-show="block" {SMALL}/>',
    f'<div class="avatar"><img alt="🤖" {SMALL}/></div>',
    '<svg role="img" aria-label="Assistant" h-show="block" h-box="1,1,24,24"/>',
    f'<img alt="Assistant" {SMALL}/>',
]


@pytest.mark.parametrize("face", FACES)
def test_the_face_of_a_speaker_is_not_a_word(face: str) -> None:
    assert read(f'{face}<div class="b"><p>Yes, at noon.</p></div>').text == "Yes, at noon."
    assert (read(face).text, read(face).doubtful) == ("", None)


def test_a_named_picture_that_opens_the_users_bubble_too_is_a_face() -> None:
    face = '<img alt="{}" src="https://a.org/{}.svg" h-box="0,0,18,18"/>'
    turn = read(f"{face.format('Brook', 1)} Yes, at noon.", user=f"<span>{face.format('Robin', 2)} Robin</span>")
    assert turn.text == "Yes, at noon."


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ('<img alt="Brook" {0}/><span>At noon.</span>', "At noon."),
        ('<span><img alt="Brook" {0}/></span> <span>At <b>noon</b>.</span>', "At **noon**."),
        ('<img alt="Warning" {0}/> <b>Fog</b> at noon.', "Warning **Fog** at noon."),
        ('<p><img alt="Warning" {0}/> <b>Fog</b></p>', "Warning **Fog**"),
        ('<img alt="🌊" {0}/><span>At noon.</span>', "🌊At noon."),
    ],
)
def test_a_picture_next_to_the_element_with_the_words_is_a_face(inside: str, text: str) -> None:
    reply = f'<ul><li h-born="300">{inside.format(SMALL)}</li></ul>'
    body = f'<main><ul><li h-born="5">{SAID}</li></ul>{reply}{COMPOSER}</main>'
    assert read_turn(snapshot(body), SAID).text.removeprefix("- ") == text


def test_a_named_picture_that_opened_an_earlier_reply_is_a_face_and_an_emoji_is_not() -> None:
    face = f'<img alt="Brook" {SMALL}/>'
    first = read(f"<span>{face} Yes, at noon.</span>")
    habits = learn_habits(snapshot("<p/>"), first)
    reply = f'<div class="row" h-born="300"><span>{face} No.</span></div>'
    again = f'<main><div class="row" h-born="5">{SAID}</div>{reply}{COMPOSER}</main>'
    assert read_turn(snapshot(again), SAID, habits=habits).text == "No."
    smiling = again.replace("Brook", "🙂")
    habits = learn_habits(snapshot("<p/>"), read_turn(snapshot(smiling), SAID))
    assert read_turn(snapshot(smiling), SAID, habits=habits).text == "🙂 No."
