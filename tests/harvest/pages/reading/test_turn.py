"""A turn is read from a page as a person would: the whole answer, its links, and nothing else."""

from __future__ import annotations

import re
import time
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.pages.reading.page import Node, letters, parse_page
from harvest.pages.reading.turn import Habits, ReadTurn, learn_habits, read_turn
from tests.support.snapshots import COMPOSER, snapshot
from topics.links import Link, links_in

SAID = "Which film is it?"

DEEP_CHAT = """
<deep-chat h-shadow="1" h-show="block"><div id="container"><div id="messages"><div>{turns}</div></div>
<div id="input"><div id="text-input" contenteditable="true" h-edit="1"/><div class="input-button" role="button"/></div>
</div></deep-chat>"""
DEEP_CHAT_TURN = """<div class="outer-message-container outer-container-role-{role}" {born}>
<div class="inner-message-container"><div class="message-bubble {role}-message text-message">{html}</div></div></div>"""

GRADIO = """
<main><div class="block"><div data-testid="status-tracker" class="wrap minimal">
<div class="progress-text meta-text" h-born="90" h-said="900">{progress}</div></div>
<div class="wrapper"><label class="float" h-show="block">Chatbot</label>
<div role="log" aria-label="chatbot conversation"><div class="message-wrap">{turns}</div></div></div></div>
<label h-show="block"><textarea placeholder="Type a message..." h-edit="1"/></label>
<footer><button>Use via API</button><a href="https://gradio.test/">Built with a tool</a></footer></main>"""
GRADIO_USER = """<div class="message-row bubble user-row" h-born="60"><div class="flex-wrap role">
<div class="user message"><div class="message"><div data-testid="user" aria-label="user's message: {said}">
<div class="message-content"><span class="md prose"><p>{said}</p></span></div></div></div></div></div></div>
<div class="message-buttons-right bubble" h-born="60"><button title="Copy message"><div/></button></div>"""
GRADIO_BOT = """<div class="message-row bubble bot-row" h-born="200"><div class="flex-wrap role">
<div class="bot message">{messages}</div></div></div>
<div class="message-buttons-left bubble" h-born="200"><button title="Retry"><div/></button></div>"""
GRADIO_MESSAGE = """<div class="message panel-full-width {mark}" h-born="200"><div data-testid="bot">
<div class="message-content"><span class="md prose">{html}</span></div></div></div>"""

CHAINLIT = """
<div id="root"><div class="group/sidebar-wrapper flex"><div id="header"><button>Readme</button></div>
<div class="flex overflow-y-auto"><div class="mx-auto">{turns}</div></div>
<div id="message-composer"><div id="chat-input" h-edit="1"/><button h-off="1"/></div></div></div>"""
CHAINLIT_USER = """<div data-step-type="user_message" class="step py-2" h-born="20"><div class="flex flex-col">
<button class="edit-message"><svg/></button><div class="px-5 bg-accent"><div class="message-content w-full">
<div class="prose"><div class="leading-7" role="article" h-space="pre">{said}</div></div></div></div>
</div></div>"""
CHAINLIT_BOT = """<div data-step-type="assistant_message" class="step py-2" h-born="400"><div class="ai-message flex">
<span class="inline-block"><img alt="Avatar for Assistant" src="https://chat.test/avatars/a" h-box="9,9,20,20"/></span>
<div class="flex flex-col"><div class="message-content w-full"><div class="prose">{html}</div></div>
<div class="-ml-1.5 flex"><button data-state="closed"><svg/></button></div></div></div></div>"""


def read(body: str, said: str = SAID, habits: Habits | None = None) -> ReadTurn:
    return read_turn(snapshot(body), said, habits=habits)


def test_an_answer_in_a_shadow_tree() -> None:
    def turn(role: str, html: str, born: int | None = None) -> str:
        return DEEP_CHAT_TURN.format(role=role, html=html, born="" if born is None else f'h-born="{born}"')

    turns = turn("ai", "<p>Hello!</p>") + turn("user", f"<p>{SAID}</p>", 5)
    assert read(DEEP_CHAT.format(turns=turns)).text == ""
    answer = (
        '<p>It is\n<a href="https://a.org/alien">Alien</a>:</p><ol>\n<li>good\n<ul>\n<li>old</li>\n</ul></li>\n</ol>'
    )
    turns += turn("ai", answer, 90) + turn("assistant", "<p>See https://a.org/x</p>", 300)
    found = read(DEEP_CHAT.format(turns=turns))
    assert found.text == "It is [Alien](https://a.org/alien):\n\n1. good\n   - old\n\nSee https://a.org/x"
    assert found.links == (Link("Alien", "https://a.org/alien"), Link("https://a.org/x", "https://a.org/x"))
    assert (found.how, found.left_out, len(found.bubbles), found.began) == ("echo", (), 2, 0.09)


def test_several_messages_and_a_clock_of_progress() -> None:
    user = GRADIO_USER.format(said=SAID)
    waiting = read(GRADIO.format(progress="processing | 0.1s", turns=user))
    assert (waiting.text, waiting.began) == ("", None)
    messages = GRADIO_MESSAGE.format(mark="", html="<p>One.</p>") + GRADIO_MESSAGE.format(
        mark="thought", html="<p>Two<br/>\nlines.</p>"
    )
    turns = user + GRADIO_BOT.format(messages=messages)
    found = read(GRADIO.format(progress="1.3s", turns=turns))
    assert found.text == "One.\n\nTwo\nlines."
    assert found.began == 0.2
    assert found.container is not None
    assert found.container.classes == ("message-wrap",)


def test_unmarked_paragraphs_and_code_with_a_bar() -> None:
    paragraph = (
        '<div class="leading-7 whitespace-pre-wrap" role="article" h-space="pre" h-box="0,{y},700,28">{text}</div>'
    )
    code = (
        '<div class="relative" h-box="0,120,700,90"><div class="flex items-center"><span class="text-sm">python</span>'
        '<button><svg/></button></div><pre h-space="pre"><code class="hljs language-python">'
        '<span class="hljs-keyword">if</span> x:\n    y\n</code></pre></div>'
    )
    html = (
        paragraph.format(y=40, text='One <span class="font-bold">two</span>\nthree.')
        + paragraph.format(y=84, text="Run this:")
        + code
        + paragraph.format(y=230, text="Done.")
    )
    found = read(CHAINLIT.format(turns=CHAINLIT_USER.format(said=SAID) + CHAINLIT_BOT.format(html=html)))
    assert found.text == "One **two**\nthree.\n\nRun this:\n\n```python\nif x:\n    y\n```\n\nDone."
    assert found.left_out == ("python",)


def test_the_text_is_empty_until_the_answer_begins() -> None:
    user = f'<div class="m"><div class="who">You</div><div class="what" h-born="5">{SAID}</div></div>'
    bot = '<div class="m" h-born="50"><div class="who">Zed</div><div class="time">12:03</div>{}</div>'
    begun = [read(user + bot.format(text) + COMPOSER) for text in ("", '<div class="what" h-born="900">It</div>')]
    assert [(turn.text, turn.began) for turn in begun] == [("", None), ("It", 0.9)]
    assert all(turn.container is not None and turn.bubbles for turn in begun)


def test_the_beginning_is_known_even_if_an_element_is_reused() -> None:
    body = f'<p h-born="5">{SAID}</p><div class="out" h-said="700">Alien.</div>{COMPOSER}'
    assert read(body).began == 0.7
    assert read_turn(snapshot(f"<p>{SAID}</p><p>Alien.</p>{COMPOSER}", asked=None), SAID).began == 0.0


@pytest.mark.parametrize(
    ("was", "began"), [("", 0.7), ("…", 0.7), ("Thinking…", 0.7), ("\u200b", 0.7), ("Off it goes", 0.005)]
)
def test_a_bubble_begins_with_its_first_word_whatever_was_there_before(was: str, began: float) -> None:
    words = f'<p h-born="5" h-said="950" h-first="700" h-was="{was}">Yes.</p>'
    user = f'<section h-born="5"><p h-born="5">{SAID}</p></section>'
    found = read(f'<main role="log">{user}<article h-born="5">{words}</article></main>{COMPOSER}')
    # Words in the place of others are as old as those: one state of the user's bubble follows another so.
    assert (found.text, (found.doubtful or found).began) == ("" if was.startswith("Off") else "Yes.", began)


def test_words_recreated_as_they_grow_began_when_their_bubble_was_first_filled() -> None:
    bubble = '<div class="bot" h-born="5" h-first="300" h-was=""><p h-born="950" h-said="950">It is so.</p></div>'
    assert read(f'<main><div class="user" h-born="5">{SAID}</div>{bubble}</main>{COMPOSER}').began == 0.3


def test_doubtful_text_is_not_an_answer_as_long_as_another_may_come() -> None:
    row = f'<section h-born="5"><div>{SAID}</div><div><span>Off it goes</span></div></section>'
    found = read(f'<main><div class="log">{row}</div>{COMPOSER}</main>')
    assert (found.text, found.links, found.began, found.left_out) == ("", (), None, ("Off it goes",))
    assert found.doubtful is not None
    assert (found.doubtful.text, found.doubtful.began, found.doubtful.left_out) == ("Off it goes", 0.005, ())


def test_the_end_has_the_pages_date() -> None:
    body = f'<p h-born="5">{SAID}</p><div h-born="90"><p>One.</p><p h-said="700">Two.</p></div>{COMPOSER}'
    found = read(body)
    assert (found.began, found.ended) == (0.09, 0.7)


def test_habits_are_learnt_turn_by_turn() -> None:
    turn = '<div class="q" h-born="{born}">{said}</div><div class="a" h-born="{later}">{text}</div>'
    page = snapshot(f"<main>{turn.format(born=5, said='one', later=90, text='First.')}</main>{COMPOSER}")
    habits = learn_habits(page, read_turn(page, "one"))
    assert habits.user == ("div.q", "main", "h-page")
    assert learn_habits(page, ReadTurn("x"), habits) == habits
    rising = snapshot(
        f'{COMPOSER}<main><p class="bot" h-born="90" h-box="0,750,9,9">First.</p>'
        '<p class="user" h-born="5" h-box="0,760,9,9">one</p></main>'
    )
    assert learn_habits(rising, read_turn(rising, "one")).rising


def test_reading_changes_nothing_and_is_the_same_each_time() -> None:
    page = snapshot(GRADIO.format(progress="", turns=GRADIO_USER.format(said=SAID) + GRADIO_BOT.format(messages="Hi.")))

    def shape(node: Node) -> object:
        return (node.tag, dict(node.attributes), [shape(c) if isinstance(c, Node) else c for c in node.children])

    before = shape(page.root)
    first, second = read_turn(page, SAID), read_turn(page, SAID)
    assert first.text == second.text == "Hi."
    assert first.bubbles == second.bubbles
    assert shape(page.root) == before


def test_the_selectors_of_a_site_are_used_for_replies_and_for_what_is_left_out() -> None:
    body = (
        f'<div><p h-site="user" h-born="5">{SAID}</p><p h-born="9">Guess!</p>'
        f'<div h-site="reply" h-born="90"><p>Alien.</p><p h-site="leave_out">Ad</p></div></div>{COMPOSER}'
    )
    found = read(body)
    assert (found.text, found.how, found.left_out) == ("Alien.", "site", ("Ad",))


def test_a_page_of_three_thousand_elements_is_read_at_once() -> None:
    turn = (
        '<div class="m user" {born}><p>question {n}</p></div><div class="m bot" {born}><b class="name">Zed</b>'
        + '<p>some <b>words</b> and <a href="https://a.org/x">a link</a></p>' * 20
        + "<ul>"
        + "<li>item</li>" * 20
        + "</ul><button>Copy</button></div>"
    )
    body = "".join(turn.format(n=n, born="") for n in range(35)) + turn.format(n=35, born='h-born="9"') + COMPOSER
    page = snapshot(body)
    assert sum(1 for _ in page.walk()) > 3000
    began = time.process_time()
    found = read_turn(page, "question 35")
    assert time.process_time() - began < 0.5  # it takes a fifteenth of that; what grows with the square takes more
    assert len(found.links) == 20
    assert found.left_out == ("Copy", "Zed")


def test_an_answer_of_very_many_elements_is_read_in_proportional_time() -> None:
    def seconds(count: int) -> float:
        words = "".join(f"<span>word{n} </span>" for n in range(count))
        page = snapshot(f'<p h-born="5">{SAID}</p><div h-born="9"><p>{words}</p></div>{COMPOSER}')
        began = time.process_time()
        assert read_turn(page, SAID).text.endswith(f"word{count - 1}")
        return time.process_time() - began

    seconds(100)
    assert seconds(8000) < 40 * max(seconds(1000), 0.005)


TAGS = [
    *("div", "p", "span", "b", "ul", "li", "table", "tr", "td", "pre", "code", "a", "h2", "details", "summary", "time"),
    *("button", "form", "nav", "blockquote", "ol", "dl", "dd", "br", "x-y"),
]
CLASSES = ["", "name", "message-time", "text", "avatar", "m user", "m bot", "code", "thinking", "katex"]
TEXTS = ["Bot", "12:04", "Alien", SAID, "Thinking…", "a | b", "x_y https://a.org/1", "\n  ", "·", "1/2", "Bot:", "漢字"]


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> str:
    if depth > 4 or draw(st.integers(0, 3)) == 0:
        return escape(draw(st.sampled_from(TEXTS)))
    tag = draw(st.sampled_from(TAGS))
    born = draw(st.sampled_from(["", ' h-born="5"', ' h-born="90"', ' h-said="99"', ' h-hide="1"', ' h-space="pre"']))
    name = draw(st.sampled_from(CLASSES))
    rest = ' href="https://a.org/x"' if tag == "a" else ""
    if tag == "br":
        return "<br/>"
    inner = "".join(draw(st.lists(trees(depth=depth + 1), max_size=4)))
    return f'<{tag} class="{name}"{born}{rest}>{inner}</{tag}>'


@given(st.lists(trees(), min_size=1, max_size=4), st.sampled_from([None, 2000.0]))
def test_no_page_raises_and_nothing_in_a_bubble_is_lost_or_read_twice(bodies: list[str], asked: float | None) -> None:
    page = snapshot("".join(bodies) + COMPOSER, asked=asked)
    found = read_turn(page, SAID)
    assert found.links == links_in(found.text)
    assert found.text == found.text.strip()
    assert not re.search(r"[ \t]+$", found.text, re.MULTILINE)
    assert not re.search("[\ufdd0-\ufdef]", found.text)
    assert (found.began is None) == (found.text == "")
    for word in ("alien", "bot", "1204", "漢字", "thinking", "xyhttpsaorg1"):
        there = sum(letters(bubble.text).count(word) for bubble in found.bubbles)
        text = letters(found.text)
        left = sum(letters(one).count(word) for one in found.left_out)
        assert text.count(word) <= there <= text.count(word) + left, word


@pytest.mark.parametrize("said", ["", "   ", "?", "a" * 5000, "[", "\\", "**"])
def test_any_text_of_the_user_is_searched_for(said: str) -> None:
    shown = escape(said)
    body = f'<div class="m" h-born="5">{shown}</div><div class="m" h-born="90">Alien.</div>{COMPOSER}'
    assert read(body, said).text.endswith("Alien.")


def test_a_kept_page_that_nests_deeper_than_the_eye_writes_is_refused() -> None:
    with pytest.raises(ValueError, match="300 deep"):
        parse_page("<h-page>" + "<div>" * 400 + "</div>" * 400 + "</h-page>")


@pytest.mark.parametrize("line", ["…", "Loading", "Thinking...", "Einen Moment…"])
def test_a_placeholder_is_an_answer_if_nothing_else_comes(line: str) -> None:
    def turn(reply: str, heard: float | None = 0.2) -> ReadTurn:
        body = f'<main><div class="m u" h-born="5">{SAID}</div>{reply}{COMPOSER}</main>'
        return read_turn(snapshot(body), SAID, heard=heard)

    late = turn(f'<div class="m b" h-born="300">{line}</div>')
    assert (late.text, late.wordless) == ("", False)
    assert late.doubtful is not None
    assert (late.doubtful.text, late.doubtful.announced) == (line, True)
    # It came before any byte did, a name or a state says that it waits, or it is not known when a byte came.
    for waiting in (
        turn(f'<div class="m b" h-born="100">{line}</div>'),
        turn(f'<div class="m b typing" h-born="300">{line}</div>'),
        turn(f'<div class="m b" h-born="300"><p aria-busy="true">{line}</p></div>'),
        turn(f'<div class="m b" h-born="300">{line}</div>', None),
        turn(f'<div class="m b" h-born="300">{line}</div>', float("inf")),
    ):
        assert (waiting.text, waiting.doubtful) == ("", None)
