"""The user's own words are found on the page, and what follows them is the answer, however the page is built."""

from __future__ import annotations

import pytest

from harvest.pages.reading.echo import trail
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import read_turn
from harvest.pages.reading.turn_place import Spot, find_spot
from tests.support.snapshots import COMPOSER, snapshot

SAID = "Which film is it?"


def spot(body: str, said: str = SAID, *, asked: float | None = 2000, rising: bool = False, **known: object) -> Spot:
    user = known.get("user", ())
    assert isinstance(user, tuple)
    return find_spot(PageText(snapshot(body, asked=asked)), said, user=user, rising=rising)


def bubbles(body: str, said: str = SAID, *, asked: float | None = 2000) -> list[str]:
    return [bubble.text for bubble in spot(body, said, asked=asked).bubbles]


def chat(*turns: tuple[str, str, int | None], after: str = COMPOSER) -> str:
    """Bubbles in a log: (who, text, when it came)."""
    log = "".join(
        f'<div class="bubble {who}"' + (f' h-born="{born}"' if born is not None else "") + f"><p>{text}</p></div>"
        for who, text, born in turns
    )
    return f'<main><div class="log">{log}</div>{after}</main>'


def test_the_answer_is_what_follows_the_users_words() -> None:
    found = spot(chat(("bot", "Hello!", None), ("user", SAID, 5), ("bot", "Alien.", 300)))
    assert [bubble.text for bubble in found.bubbles] == ["Alien."]
    assert found.how == "echo"
    assert found.echo is not None
    assert found.echo.text == SAID
    assert found.container is not None
    assert found.container.classes == ("log",)


def test_several_bubbles_are_one_answer() -> None:
    assert bubbles(chat(("user", SAID, 5), ("bot", "Alien.", 300), ("bot", "Or Aliens.", 900))) == [
        "Alien.",
        "Or Aliens.",
    ]


def test_without_an_answer_there_are_no_bubbles_but_the_place_where_they_will_come() -> None:
    found = spot(chat(("bot", "Hello!", None), ("user", SAID, 5)))
    assert found.bubbles == ()
    assert found.container is not None
    assert found.container.classes == ("log",)


def test_the_same_question_again_is_not_answered_by_the_old_answer() -> None:
    old = (("user", SAID, None), ("bot", "Old.", None))
    assert bubbles(chat(*old)) == []
    assert bubbles(chat(*old, ("user", SAID, 5))) == []
    assert bubbles(chat(*old, ("user", SAID, 5), ("bot", "New.", 300))) == ["New."]
    # In a document that was replaced nothing says what is new: the last one counts.
    assert bubbles(chat(*old, ("user", SAID, None), ("bot", "New.", None)), asked=None) == ["New."]


def test_a_bot_that_repeats_the_users_words_is_not_the_user() -> None:
    assert bubbles(chat(("user", SAID, 5), ("bot", SAID, 300))) == [SAID]
    quoting = chat(("user", SAID, 5), ("bot", f"You said: <em>{SAID}</em> Well.", 300))
    assert bubbles(quoting) == [f"You said: {SAID} Well."]
    assert bubbles(chat(("user", "yes", 5), ("bot", "yesterday, yes and no", 300)), "yes") == ["yesterday, yes and no"]


def test_the_users_words_in_lists_of_chats_titles_and_dialogs_are_ignored() -> None:
    log = chat(("user", SAID, 5), ("bot", "Alien.", 300))
    for elsewhere in (
        f'<nav><div h-born="2">{SAID}</div><div h-born="2">Older</div></nav>',
        f'<aside><p h-born="2">{SAID}</p><p h-born="2">Older</p></aside>',
        f'<div class="app-sidebar"><p h-born="2">{SAID}</p><p h-born="2">Older</p></div>',
        f'<div class="chats"><p h-born="2">{SAID}</p><p h-born="2">Older</p></div>',
        f'<ul><li h-born="2"><a href="https://chat.test/c/1">{SAID}</a></li><li h-born="2">Older</li></ul>',
        f'<header h-born="2"><p>{SAID}</p><p>x y</p></header>',
        f'<div role="dialog" h-born="2"><p>{SAID}</p><p>Delete this chat?</p></div>',
        f'<div role="alert" h-born="2"><p>{SAID}</p><p>was sent</p></div>',
        f'<p h-hide="1" h-born="2">{SAID}</p><p h-born="2">Older</p>',
    ):
        assert bubbles(f"{elsewhere}{log}") == ["Alien."], elsewhere
    assert bubbles(chat(after=f'<h1 h-born="1">{SAID}</h1>{log}')) == ["Alien."]


def test_the_window_of_a_chat_may_be_a_dialog_or_a_sidebar() -> None:
    log = chat(("user", SAID, 5), ("bot", "Alien.", 300), after="")
    for around in ('div role="dialog"', "aside", 'div class="chat-sidebar"'):
        end = around.split()[0]
        assert bubbles(f"<{around}>{log}{COMPOSER}</{end}>") == ["Alien."], around
    drawer = f'<div class="drawer"><div class="drawer-body">{log}</div><div class="drawer-foot">{COMPOSER}</div></div>'
    assert bubbles(drawer) == ["Alien."]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "Tell **three**\n\n- things\n- `now`",
            "<p>Tell <b>three</b></p><ul><li>things</li><li>now</li></ul>",
        ),
        ("1. One\n2. Two", "<ol><li>One</li><li>Two</li></ol>"),
        ("See [this](https://a.org/x_(y)) now", '<p>See <a href="https://a.org/x_(y)">this</a> now</p>'),
        ("See https://a.org/x", '<p>See <a href="https://a.org/x">https://a.org/x</a></p>'),
        ("What   is\nthis", "<p>What is this</p>"),
        ("Is <b>it</b> bold?", "<p>Is <b>it</b> bold?</p>"),
        ("Größe — “ÉTÉ”?", "<p>größe - &quot;été&quot;?</p>"),
        ("?", "<p>?</p>"),
        ("👍", "<p>👍</p>"),
        ("上海のホテル", "<p>上海のホテル</p>"),
        ("Hi", "<p>You: Hi</p>"),
        ("Hi", "<p>Hi <span>12:03 ✓✓</span></p>"),
        ("a long question about films " * 9, "<p>" + "a long question about films " * 4 + "…</p>"),
        ("a long question about films " * 9, "<p>" + "a long question about films " * 4 + "</p><i>Show more</i>"),
    ],
)
def test_the_users_words_are_found_as_the_page_shows_them(said: str, shown: str) -> None:
    log = f'<div class="u" h-born="5">{shown}</div><div class="b" h-born="300">Alien.</div>'
    found = spot(f'<div class="log">{log}</div>{COMPOSER}', said)
    assert [bubble.text for bubble in found.bubbles] == ["Alien."]
    assert found.how == "echo"


@pytest.mark.parametrize(
    "body",
    [
        # each in a wrapper of its own
        '<ul><li h-born="5"><div><span>{said}</span></div></li><li h-born="9"><div><div>Alien.</div></div></li></ul>',
        # both in one
        '<div class="turn" h-born="5"><div class="u">{said}</div><div class="b" h-born="90">Alien.</div></div>',
        '<section><div class="turn"><p>x</p><p>y</p></div><div class="turn" h-born="5"><p>{said}</p>'
        "<p>Alien.</p></div></section>",
        # with what else is in the user's bubble
        '<div><div class="m" h-born="5"><b>You</b><p>{said}</p><time>12:03</time><button>Edit</button></div>'
        '<div class="m" h-born="90">Alien.</div></div>',
        '<div><div class="m user" h-born="5"><p>{said}</p><p>Guest 42</p></div>'
        '<div class="m bot" h-born="90">Alien.</div></div>',
        # a layout of tables; lists of definitions
        '<table><tr h-born="5"><td>You</td><td>{said}</td></tr><tr h-born="90"><td>Alien.</td></tr></table>',
        '<dl><dt h-born="5">{said}</dt><dd h-born="90">Alien.</dd></dl>',
        # both came at once
        '<div h-born="5"><div>{said}</div><div>Alien.</div></div>',
        # one running text
        '<div h-said="90"><b>You:</b> x<br/><b>Bot:</b> y<br/><b h-born="5">You:</b> {said}<br h-born="5"/>'
        "Alien.</div>",
        '<pre h-said="90">&gt; x\ny\n&gt; {said}\nAlien.\n</pre>',
        '<div h-born="5">{said}<div h-born="90">Alien.</div></div>',
    ],
)
def test_pages_are_built_in_many_ways(body: str) -> None:
    assert bubbles(f"<main>{body.format(said=SAID)}{COMPOSER}</main>") == ["Alien."]


def test_a_turn_in_its_own_wrapper_continues_in_the_next_one() -> None:
    body = (
        f'<div><div class="turn" h-born="5"><p class="u">{SAID}</p><p class="b" h-born="400">One.</p></div>'
        '<div class="turn" h-born="900"><p class="b">Two.</p></div></div>'
    )
    assert bubbles(body + COMPOSER) == ["One.", "Two."]


@pytest.mark.parametrize(
    "beside",
    [
        '<footer h-born="350"><p>Bot can make mistakes.</p></footer>',
        '<p h-born="350">Bot can make mistakes. Check important info.</p>',
        '<div class="suggestions" h-born="350"><div>Tell me more</div></div>',
        '<div h-born="350"><div h-click="1">Tell me more</div><div h-click="1">Another</div></div>',
        '<div h-born="350"><button>Tell me more</button></div>',
        '<div h-born="350"><a role="button" href="https://chat.test/#">Tell me more</a></div>',
        '<div h-born="350"><a href="javascript:void(0)">Tell me more</a> <a href="#">Another</a></div>',
        "<p>It was here before.</p>",
        '<div h-born="350"><svg/></div>',
    ],
)
def test_text_under_the_answer_is_not_part_of_it(beside: str) -> None:
    log = '<div class="b" h-born="300">Alien.</div>'
    assert bubbles(f'<main><div class="u" h-born="5">{SAID}</div>{log}{beside}{COMPOSER}</main>') == ["Alien."]
    assert bubbles(f'<main><div><div class="u" h-born="5">{SAID}</div></div>{beside}{COMPOSER}</main>') == []


def test_newest_first_and_upside_down() -> None:
    newest = (
        f'{COMPOSER}<div><p class="b" h-born="300" h-box="0,750,90,20">Alien.</p>'
        f'<p class="u" h-born="5" h-box="0,780,90,20">{SAID}</p><p h-box="0,810,90,20">old</p></div>'
    )
    found = spot(newest)
    assert ([bubble.text for bubble in found.bubbles], found.rising) == (["Alien."], True)
    first = (
        f'<div><div class="m bot" h-born="300">Alien.</div><div class="m user" h-born="5">{SAID}</div></div>{COMPOSER}'
    )
    assert bubbles(first) == ["Alien."]
    reverse = (
        f'<div><p class="b" h-born="300" h-box="0,200,90,20">Alien.</p>'
        f'<p class="u" h-born="5" h-box="0,150,90,20">{SAID}</p><p h-box="0,100,90,20">old</p></div>{COMPOSER}'
    )
    found = spot(reverse)
    assert ([bubble.text for bubble in found.bubbles], found.rising) == (["Alien."], False)
    # All was made anew: only what earlier turns taught, or the composer above, tells the direction.
    user = f'<p class="u" h-born="300">{SAID}</p>'
    anew = f'<div><p class="b" h-born="300">A.</p>{user}<p class="b" h-born="300">B.</p></div>'
    assert [bubble.text for bubble in spot(anew + COMPOSER).bubbles] == ["B."]
    assert [bubble.text for bubble in spot(anew + COMPOSER, rising=True).bubbles] == ["A."]


def test_a_page_that_does_not_repeat_the_users_words() -> None:
    found = spot(f'<main><div class="log"><p>Hello!</p><p class="b" h-born="300">Alien.</p></div>{COMPOSER}</main>')
    assert ([bubble.text for bubble in found.bubbles], found.how, found.echo) == (["Alien."], "new", None)
    kept = spot(f'<main><div class="answer" h-said="300">Alien.</div>{COMPOSER}</main>')
    assert [bubble.text for bubble in kept.bubbles] == ["Alien."]
    assert spot(f"<main><p>Hello!</p>{COMPOSER}</main>").bubbles == ()
    assert spot(f"<main><p>Hello!</p>{COMPOSER}</main>", asked=None).bubbles == ()


def test_the_markup_of_earlier_echoes_decides_between_several() -> None:
    body = (
        f'<div><div class="quote"><p h-born="5">{SAID}</p></div><div class="m u"><p h-born="5">{SAID}</p></div>'
        f'<div class="m b" h-born="300"><p>Alien.</p></div></div>{COMPOSER}'
    )
    first = spot(chat(("user", "x", 5)).replace("bubble user", "m u"), "x")
    assert first.echo is not None
    known = trail(first.echo)
    assert known[1] == "div.m.u"
    page = snapshot(body)
    mine = next(node for node in page.walk() if node.get("class") == "m u").elements[0]
    assert find_spot(PageText(page), SAID, user=(*trail(mine),)).echo is mine
    assert find_spot(PageText(page), SAID).echo is not mine


def test_the_selectors_of_a_site_win() -> None:
    body = (
        f'<main><p h-site="user">{SAID}</p><p h-site="reply">Old.</p><p h-site="user" h-born="5">{SAID}</p>'
        f'<p h-born="9">Note</p><div h-site="reply" h-born="300">A<p h-site="reply">lien.</p></div>'
        f'<p h-site="reply" h-born="300" h-hide="1">no</p></main>{COMPOSER}'
    )
    found = spot(body)
    assert ([bubble.text for bubble in found.bubbles], found.how) == (["A lien."], "site")
    assert found.echo is not None
    assert found.echo.birth_time == 5
    both = f'<p h-site="reply" h-born="5">{SAID}</p><p h-site="reply" h-born="300">Alien.</p>{COMPOSER}'
    assert bubbles(both) == ["Alien."]
    silent = f'<p h-site="user" h-born="5">picture</p><p h-site="reply" h-born="300">Alien.</p>{COMPOSER}'
    assert bubbles(silent) == ["Alien."]
    assert bubbles(f'<p h-site="reply">Old.</p><p h-site="user" h-born="5">{SAID}</p>{COMPOSER}') == []


@pytest.mark.parametrize(
    "state", ["Sending…", "Delivered ✓✓", "Wird zugestellt", "Vu par Robin", "既読 12:05", "Прочитано"]
)
def test_the_progress_of_the_users_words_is_not_an_answer(state: str) -> None:
    row = f'<section h-born="5"><div>{SAID}</div><div h-said="400"><span>{state}</span></div></section>'
    assert bubbles(f'<main><div class="log">{row}</div>{COMPOSER}</main>') == []
    answer = '<article h-born="900"><p>Alien.</p></article>'
    assert bubbles(f'<main><div class="log">{row}{answer}</div>{COMPOSER}</main>') == ["Alien."]


def test_text_that_came_with_the_users_words_is_doubtful_until_something_else_comes() -> None:
    row = f'<section h-born="5"><div>{SAID}</div><div><span>Off it goes</span></div></section>'
    found = spot(f'<main><div class="log">{row}</div>{COMPOSER}</main>')
    assert ([bubble.text for bubble in found.bubbles], found.doubtful) == (["Off it goes"], True)
    assert found.container is not None
    assert found.container.classes == ("log",), "the answer may come anywhere in it"
    answer = '<article h-born="900"><p>Alien.</p></article>'
    found = spot(f'<main><div class="log">{row}{answer}</div>{COMPOSER}</main>')
    assert ([bubble.text for bubble in found.bubbles], found.doubtful) == (["Alien."], False)
    # A bubble made like the user's, in a list that was there: a bot in the page itself answers at once.
    found = spot(chat(("user", SAID, 5), ("bot", "Alien.", 6)))
    assert ([bubble.text for bubble in found.bubbles], found.doubtful) == (["Alien."], False)


EDITOR = (
    '<div class="cm-editor"><div class="cm-gutters"><div class="cm-gutterElement">1</div></div><div class="cm-content" '
    'role="textbox" h-edit="1"><div class="cm-line">x = 1</div><div class="cm-line">y</div></div></div>'
)


@pytest.mark.parametrize(
    "answer",
    [
        f"<p>Alien.</p>{EDITOR}",
        '<p>Alien.</p><textarea h-edit="1" h-value="Dear Ada,"/>',
        '<div h-edit="1" contenteditable="true"><p>Alien.</p></div>',
        '<p>Alien.</p><form><input type="email" h-edit="1"/><button>Go</button></form>',
    ],
)
@pytest.mark.parametrize("composer", [COMPOSER, COMPOSER.replace("h-edit", 'h-born="400" h-edit')])
def test_an_answer_may_contain_a_text_box(answer: str, composer: str) -> None:
    answer = answer.replace("h-edit", 'h-born="300" h-edit')
    log = f'<div class="m user" h-born="5">{SAID}</div><div class="m bot" h-born="300">{answer}</div>'
    beside = '<p h-born="310">2 of 20 messages used today</p>'
    found = spot(f'<main><div class="log">{log}</div>{beside}{composer}</main>')
    assert [bubble.classes for bubble in found.bubbles] == [("m", "bot")]


def test_the_box_that_was_typed_into_is_the_one_for_turns_even_if_answers_contain_others() -> None:
    typed = COMPOSER.replace("h-edit", 'h-typed="1" h-edit')
    old = f'<div class="m user">one</div><div class="m bot"><p>First.</p>{EDITOR}</div>'
    log = f'{old}<div class="m user" h-born="5">{SAID}</div><div class="m bot" h-born="300"><p>Alien.</p>{EDITOR}</div>'
    found = spot(f'<main><div class="log">{log}</div>{typed}</main>')
    assert [bubble.birth_time for bubble in found.bubbles] == [300]


def test_text_outside_the_conversation_is_not_an_answer() -> None:
    beside = '<p class="used" h-born="310">2 of 20 messages used today, more tomorrow</p>'
    old = '<div class="m user">one</div><div class="m bot">First.</div>'
    user = f'<div class="m user" h-born="5">{SAID}</div>'
    assert bubbles(f'<main><div class="log">{old}{user}</div>{beside}{COMPOSER}</main>') == []
    assert bubbles(f'<main><div role="log">{user}</div>{beside}{COMPOSER}</main>') == []


@pytest.mark.parametrize("answer", ["Yesterday", "12:30", "Sent", "Yes", "Me", "2 hours ago"])
@pytest.mark.parametrize("when", [8, 300])
def test_a_bubble_with_another_name_is_recognised_by_the_element_around_its_words(answer: str, when: int) -> None:
    inside = '<div class="content"><div class="body"><p>{}</p></div></div>'
    log = (
        f'<div class="log"><div class="asked" h-born="5">{inside.format(SAID)}</div>'
        f'<div class="told" h-born="{when}">{inside.format(answer)}</div></div>'
    )
    found = spot(f"<main>{log}{COMPOSER}</main>")
    assert ([bubble.text for bubble in found.bubbles], found.doubtful) == ([answer], False)


@pytest.mark.parametrize(
    "state",
    [
        '<div class="content"><div class="state">{}</div></div>',
        '<div class="body">{}</div>',
        '<div class="body"><div class="content">{}</div></div>',
    ],
)
def test_a_state_is_not_an_answer_because_its_markup_resembles_that_around_the_words(state: str) -> None:
    words = f'<div class="content"><div class="body"><p>{SAID}</p></div></div>'
    row = f'<div class="asked" h-born="5">{words}</div><div class="under" h-born="5">{state.format("12:30")}</div>'
    assert bubbles(f'<main><div class="log">{row}</div>{COMPOSER}</main>') == []


def test_words_in_several_paragraphs_are_the_users_even_if_an_answer_repeats_them_in_one() -> None:
    said = "Which film is it?\n\n- new\n- in colour"
    row = '<div class="row"><div class="message" h-born="{}"><div>{}</div></div></div>'
    body = "".join(
        [
            row.format(5, "<p>Which film is it?</p><ul><li>new</li><li>in colour</li></ul>"),
            row.format(300, "<p>You wrote: Which film is it? - new - in colour</p><p>Up.</p>"),
        ]
    )
    found = spot(f'<main><div class="log">{body}</div>{COMPOSER}</main>', said, user=("p", "div", "div.message"))
    assert [bubble.text for bubble in found.bubbles] == ["You wrote: Which film is it? - new - in colour Up."]


@pytest.mark.parametrize(
    ("window", "read"),
    [
        ('<dialog open="" h-born="300"><p>By the door.</p><button>Close</button></dialog>', "By the door."),
        ('<div role="dialog" h-born="300"><p>By the door.</p></div>', "By the door."),
        ('<div role="dialog" aria-modal="true" h-born="300"><p>By the door.</p></div>', ""),
        ('<div class="layer" h-born="300"><div role="dialog" h-born="300"><p>Rate us.</p></div></div>', ""),
    ],
)
def test_a_window_in_the_list_of_bubbles_is_a_bubble(window: str, read: str) -> None:
    said = "Where is the map?"
    log = f'<div class="log"><div class="m">Hello</div><div class="m me" h-born="5">{said}</div>{window}</div>'
    turn = read_turn(snapshot(f"<main>{log}{COMPOSER}</main>"), said)
    assert (turn.text, turn.answer.offers) == (read, ())
    # Beside the conversation it is none.
    bare = log.replace(window, "")
    assert read_turn(snapshot(f"<main>{bare}{window}{COMPOSER}</main>"), said).text == ""
