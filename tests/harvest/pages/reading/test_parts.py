"""What comes with the words: folded sources, thoughts, files, offers, and the rest that a page holds back."""

from __future__ import annotations

import pytest

from harvest.pages.chats.changed_answers import find_stand_ins
from harvest.pages.reading.page import markup, parse_page
from harvest.pages.reading.turn import FOLDED_NOTE, GOES_ON_NOTE, THOUGHT_NOTE, ReadTurn, read_bubbles, read_turn
from protocols.answer import Attachment, Offer, Source
from tests.support.snapshots import COMPOSER, snapshot
from topics.links import Link

SAID = "Which film is it?"
ANSWER = "It is Alien, of 1979, as far as I know."
SOURCES = (
    Source("https://a.org/1", "Guide", place="folded"),
    Source("https://a.org/2", "Map of it", place="folded"),
)
TWO = '<a href="https://a.org/1">Guide</a> <a href="https://a.org/2"><b>Map</b> of it</a>'


def read(reply: str, behind: str = "") -> ReadTurn:
    """A reply's inner HTML, read beside the user's bubble."""
    body = (
        f'<main><div class="log"><div class="message user" h-born="5"><p>{SAID}</p></div>'
        f'<div class="message bot" h-born="300">{reply}</div>{behind}</div>{COMPOSER}</main>'
    )
    return read_turn(snapshot(body), SAID)


def kept(turn: ReadTurn) -> ReadTurn:
    """The same from the bubbles that are kept alone."""
    return read_bubbles(parse_page(markup(snapshot(""), turn.bubbles, turn.decorations)), left_out=turn.left_out)


@pytest.mark.parametrize(
    "fold",
    [
        f'<details><summary>2 sources</summary><div h-hide="1">{TWO}</div></details>',
        f'<details class="refs"><summary>Quellen (2)</summary><ul h-hide="1"><li>{TWO}</li></ul></details>',
        f'<button aria-expanded="false" aria-controls="s">2 sources</button><ul id="s" h-hide="1"><li>{TWO}</li></ul>',
        f'<div aria-expanded="false" tabindex="0">Sources ▸</div><div h-hide="1">{TWO}</div>',
        f'<div><span h-click="1">+2</span></div><div h-hide="1"><p>{TWO}</p></div>',
        f'<div class="refs" h-hide="1">{TWO}</div>',
    ],
)
def test_links_in_a_fold_are_sources_and_its_heading_is_not_read(fold: str) -> None:
    for turn in (found := read(f"<p>{ANSWER}</p>{fold}"), kept(found)):
        assert turn.text == ANSWER
        assert turn.answer.sources == SOURCES
        assert turn.answer.links == (Link("Guide", "https://a.org/1"), Link("Map of it", "https://a.org/2"))


@pytest.mark.parametrize(
    "fold",
    [
        f'<details><summary>Thought for 3 s</summary><div h-hide="1"><p>Hm: {TWO}</p></div></details>',
        f'<details class="thinking"><summary>Searched</summary><p h-hide="1">Hm: {TWO}</p></details>',
        f'<button aria-expanded="false">Reasoning</button><div h-hide="1">Hm: {TWO}</div>',
        f'<div h-click="1">3 Sekunden nachgedacht ▸</div><div h-hide="1">Hm: {TWO}</div>',
        f'<details><summary>Thinking</summary><h-text h-hide="1">Hm: </h-text><p h-hide="1">{TWO}</p></details>',
    ],
)
def test_folded_reasoning_is_not_a_source(fold: str) -> None:
    for turn in (found := read(f"{fold}<p>{ANSWER}</p>"), kept(found)):
        assert (turn.text, turn.answer.links, turn.answer.sources) == (ANSWER, (), ())
        assert turn.answer.thoughts.startswith("Hm:")
        assert "[Guide](https://a.org/1)" in turn.answer.thoughts


def test_a_fold_that_holds_more_than_sources_is_noted() -> None:
    more = "There is a longer story to this, which I can tell where anybody would like to hear the whole of it."
    turn = read(f'<p>{ANSWER}</p><details><summary>How I know</summary><p h-hide="1">{more}</p></details>')
    assert (turn.text, turn.notes) == (f"{ANSWER}\n\nHow I know", (FOLDED_NOTE,))
    assert turn.left_out == (more,)


def test_the_lines_over_folds_are_read_and_folds_are_listed_in_order() -> None:
    fold = '<details><summary>{}</summary><div h-hide="1">{}</div></details>'
    hall = fold.format("Hall 1", '<ul><li>from two</li><li>dubbed, see <a href="https://a.org/1">this</a></li></ul>')
    cafe = fold.format("Café", "closed")
    for turn in (found := read(f"<p>Two places:</p>{hall}{cafe}"), kept(found)):
        assert turn.text == "Two places:\n\nHall 1\nCafé"
        assert turn.left_out == ("- from two\n- dubbed, see [this](https://a.org/1)", "closed")
    assert found.notes == (FOLDED_NOTE,)
    alone = read(cafe)
    assert (alone.text, alone.left_out, alone.notes) == ("Café", ("closed",), (FOLDED_NOTE,))


def test_unfolded_text_is_kept_and_menus_and_hints_are_not_sources() -> None:
    assert read(f"<p>{ANSWER}</p><details open=''><summary>Sources</summary><p>{TWO}</p></details>").links
    for other in (
        f'<button>Share</button><div h-hide="1">{TWO}</div>',
        f'<button aria-haspopup="menu">⋮</button><div role="menu" h-hide="1">{TWO}</div>',
        '<button aria-expanded="false">x</button><span h-hide="1" h-box="0,0,1,1">opens in a new window</span>',
    ):
        turn = read(f"<p>{ANSWER}</p>{other}")
        assert (turn.text, turn.answer.sources, turn.notes) == (ANSWER, (), ())


@pytest.mark.parametrize(
    "reply",
    [
        '<p>It is<s>…</s><span h-hide="1"> Alien, of 1979, as far as I know.</span><button>Read more</button></p>',
        f'<div>It is Alien,…</div><div h-hide="1">{ANSWER}</div><a href="#">Mehr anzeigen</a>',
        '<div><div h-cut="1"><p>It is Alien, of 1979, as far as I know.</p></div><button>Show more</button></div>',
    ],
)
def test_the_rest_of_a_text_that_is_on_the_page_is_read(reply: str) -> None:
    turn = read(reply)
    assert (turn.text.replace("\n", " "), turn.rest, turn.notes) == (ANSWER, "", ())


@pytest.mark.parametrize(
    ("control", "behind"),
    [
        ("<button>Continue generating</button>", ""),
        ('<div><span role="button">▶ Weiter generieren</span></div>', ""),
        ('<a href="#" h-click="1">Read more</a>', ""),
        ('<span h-click="1">展开全文</span>', ""),
        ("", '<div h-born="400"><button h-born="400">Continue generating</button></div>'),
        ("<button>Continue</button>", ""),
    ],
)
def test_an_answer_whose_rest_the_page_withholds_is_marked(control: str, behind: str) -> None:
    turn = read(f"<p>It is Alien, of</p>{control}", behind)
    assert (turn.text, turn.notes) == ("It is Alien, of", (GOES_ON_NOTE,))


@pytest.mark.parametrize(
    "control",
    [
        "<button>Continue</button>",
        '<button aria-label="More">⋮</button>',
        '<a href="https://a.org/x">Read more</a>',
        "<button>Continue shopping</button>",
        '<pre h-cut="1"><code>ls</code></pre><button>Show more</button>',
    ],
)
def test_a_button_that_withholds_nothing_marks_nothing(control: str) -> None:
    assert read(f"<p>{ANSWER}</p>{control}").rest == ""


def block(text: str, *, born: int, look: str = "", tag: str = "div") -> str:
    return f'<{tag} {look} h-born="{born}" h-said="{born}">{text}</{tag}>'


GREY = 'h-ink="rgb(136, 136, 136)"'
THOUGHT = "They ask for a film. I look at what I know and answer in short."
LATE = f'<div h-born="100"><p h-born="2900">{ANSWER}</p></div>'
PAGE = '<div h-ink="rgb(0, 0, 0)" h-font="16">{}</div>'


@pytest.mark.parametrize(
    "reply",
    [
        block("Thought for 3 seconds ⌄", born=2500) + block(THOUGHT, born=800, look=f'{GREY} h-edge="1"') + LATE,
        block("Thought for 3 seconds ⌄", born=2500) + block(THOUGHT, born=800, look=GREY) + LATE,
        block("Thought for 3 seconds ⌄", born=2500) + block(THOUGHT, born=800) + LATE,
        block("3 Sekunden nachgedacht", born=2500) + block(THOUGHT, born=800, look='h-font="13"') + LATE,
        "<button>Thought for 3 s</button>" + block(THOUGHT, born=800, look='h-edge="1"') + LATE,
        "<div>" + block("Thought for 3 s", born=2500) + block(THOUGHT, born=800) + "</div>" + LATE,
        block(THOUGHT, born=800, look=f'{GREY} h-edge="1"') + LATE,
        block(THOUGHT, born=800, look='h-dim="0.6"') + LATE,
        block(f"<em>{THOUGHT}</em>", born=800, look='h-font="12.8"') + LATE,
        '<div h-born="100" h-said="1900" h-edge="1">' + THOUGHT + "</div>" + LATE,
        '<div h-born="100" h-said="1900" h-font="13">' + THOUGHT + "</div>" + LATE,
        block(f"<p>{THOUGHT}</p><p>And so on.</p>", born=800, look=f'{GREY} h-edge="1"') + LATE,
    ],
)
def test_visible_reasoning_is_kept_apart(reply: str) -> None:
    for turn in (found := read(PAGE.format(reply)), kept(found)):
        assert turn.text == ANSWER
        assert turn.answer.thoughts.strip("*").startswith(THOUGHT)
        assert THOUGHT in " ".join(turn.left_out)
    assert found.notes == (THOUGHT_NOTE,)


@pytest.mark.parametrize(
    "reply",
    [
        block(THOUGHT, born=2900, look=f'{GREY} h-edge="1"') + LATE,  # all at once
        block(THOUGHT, born=800) + LATE,
        block(THOUGHT, born=800, look='h-edge="1"') + LATE,
        block(THOUGHT, born=800, look=f'{GREY} h-edge="1"', tag="blockquote") + LATE,
        block(THOUGHT, born=800, look='h-font="22"') + LATE,
        block(THOUGHT, born=3900, look=f'{GREY} h-edge="1"') + LATE,
        "<h2>Thinking</h2>" + block(THOUGHT, born=800) + LATE,
        "<p>Thinking about it:</p>" + block(THOUGHT, born=800, look=GREY, tag="p") + LATE,
        block(THOUGHT, born=800, look=f'{GREY} h-edge="1"'),
    ],
)
def test_a_first_paragraph_is_part_of_the_answer(reply: str) -> None:
    turn = read(PAGE.format(reply))
    assert THOUGHT in turn.text
    assert turn.answer.thoughts == ""


def test_while_only_reasoning_is_visible_there_is_no_answer() -> None:
    turn = read(PAGE.format(block("Thinking…", born=100) + block(THOUGHT, born=800, look=f'{GREY} h-edge="1"')))
    assert (turn.text, turn.answer.thoughts) == ("", THOUGHT)


def test_files_and_offers_are_parts_of_the_answer() -> None:
    turn = read(
        f'<p>{ANSWER}</p><a href="https://a.org/d/plan.pdf" download="">plan.pdf</a><button>Copy</button>'
        "<button>Table.xlsx 12 KB</button>",
        '<div class="suggestions" h-born="500"><button h-born="500">And the second film?</button><button>Share</button>'
        "</div>",
    )
    assert turn.text == f"{ANSWER}\n\n[plan.pdf](https://a.org/d/plan.pdf) [file: Table.xlsx]"
    assert turn.answer.attachments == (Attachment("plan.pdf", "pdf"), Attachment("Table.xlsx", "xlsx", 12000))
    assert turn.answer.offers == (Offer("And the second film?"),)


@pytest.mark.parametrize(
    "rating",
    [
        "<p>Hat dir diese Antwort weitergeholfen?</p><p><button>Ja</button><button>Nein</button></p>",
        "<span>Did this answer your question?</span> <i role='button'>Yes</i> <i role='button'>No</i>",
        "Was this response useful? <button>Very</button><button>Not at all</button>",
        "<div>Cette réponse vous a-t-elle été utile ?</div><div h-click='1'>Oui</div><div h-click='1'>Non</div>",
    ],
)
def test_a_question_about_the_answer_and_its_buttons_are_not_part_of_it(rating: str) -> None:
    for turn in (
        read(f"<p>{ANSWER}</p><div>{rating}</div>"),
        read(f"<p>{ANSWER}</p>", f"<div h-born='900'>{rating}</div>"),
    ):
        assert (turn.text, turn.answer.offers) == (ANSWER, ())


@pytest.mark.parametrize("style", ['h-font="11" h-ink="rgb(119, 119, 119)"', 'class="reactions"', ""])
def test_reactions_to_an_answer_are_not_part_of_it_and_do_not_make_it_reasoning(style: str) -> None:
    answer = f'<div class="b" h-edge="1"><p h-said="900">{ANSWER}</p></div>'
    for turn in (
        read(answer, f'<div h-born="2000" {style}><span>👍 2</span> <span>❤️ 1</span></div>'),
        read(f'{answer}<div h-born="2000" {style}>🎉 12</div>'),
    ):
        assert (turn.text, turn.answer.thoughts) == (ANSWER, "")


def test_an_earlier_text_in_the_place_of_the_answer_is_found() -> None:
    def waits(was: str, first: int) -> list[tuple[str, float]]:
        return list(find_stand_ins(read(f'<p h-born="200" h-first="{first}" h-was="{was}">{ANSWER}</p>')))

    assert waits("I will look into it", 4200) == [("I will look into it", 4.0)]
    assert waits("It is Alien", 4200) == waits("I will look into it", 300) == waits("", 4200) == []
    assert waits("Cut short " * 10, 4200) == []


def test_numbers_are_offers_unless_they_are_marks_in_the_words() -> None:
    marks = "<button h-raise='super'>1</button><sup><button>[2]</button></sup>"
    assert read(f"<p>{ANSWER}{marks}</p><p>There were <button>3</button> more.</p>").answer.offers == ()
    asks = read(f"<p>{ANSWER} How many seats?</p><div><button>1</button><button>2</button></div>")
    assert asks.answer.offers == (Offer("1"), Offer("2"))


def came(inner: str, *, born: int = 300) -> str:
    return inner.replace("@", f'h-born="{born}" h-box="20,200,90,30"')


@pytest.mark.parametrize(
    "menu",
    [
        '<div class="message bot" @><button @>Tickets</button><button @>Times</button></div>',
        '<div class="chips" @><button @>Tickets</button><button @>Times</button></div>',
        "<button @>Tickets</button><button @>Times</button>",
        '<div @><select h-value="Choose" h-options="Tickets&#10;Times" @/></div>',
        '<ul @><li role="button" @>Tickets</li><li role="button" @>Times</li></ul>',
        '<div @><div role="button" tabindex="0" @>Tickets</div><a role="button" href="#" @>Times</a></div>',
        '<div @><span h-click="1" @>Tickets</span><span h-click="1" @>Times</span></div>',
    ],
)
def test_an_answer_that_only_offers_choices_consists_of_its_offers(menu: str) -> None:
    def log(behind: str, heard: float | None = None) -> ReadTurn:
        user = f'<div class="message user" h-born="5"><p>{SAID}</p></div>'
        return read_turn(snapshot(f'<main><div class="log">{user}{behind}</div>{COMPOSER}</main>'), SAID, heard=heard)

    turn = log(came(menu))
    assert (turn.text, turn.doubtful, turn.wordless) == ("", None, True)
    assert [offer.title for offer in turn.answer.offers] == ["Tickets", "Times"]
    assert [offer.title for offer in kept(turn).answer.offers] == ["Tickets", "Times"]
    assert log(came(menu, born=21), heard=0.02).answer.offers == turn.answer.offers
    # What came with the user's words may be pressed to change them.
    assert log(came(menu, born=5)).answer.offers == log(came(menu, born=15), heard=0.02).answer.offers == ()
    assert log(came(menu) + came('<div class="message bot" @><p>Which?</p></div>', born=900)).text == "Which?"
