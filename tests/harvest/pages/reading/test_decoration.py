"""Names, times, buttons and states are left out of a reply; nothing that could be the answer is."""

from __future__ import annotations

import pytest

from harvest.pages.reading.page import markup, parse_page
from harvest.pages.reading.phrases import (
    is_counter,
    is_delivery,
    is_label,
    is_named_time,
    is_notice,
    is_placeholder,
    is_reasoning,
    is_role,
    is_status,
    is_time,
    remove_cursor,
)
from harvest.pages.reading.turn import NAME_NOTE, Habits, ReadTurn, learn_habits, read_bubbles, read_turn
from tests.support.snapshots import COMPOSER, snapshot

SAID = "Which film is it?"


def read(reply: str, user: str = "<p>{said}</p>", *, title: str = "A page", before: str = "") -> ReadTurn:
    """A reply's inner HTML, read beside the user's bubble."""
    body = (
        f'<main><div class="log">{before}<div class="message user" h-born="5">{user.format(said=SAID)}</div>'
        f'<div class="message bot" h-born="300">{reply}</div></div>{COMPOSER}</main>'
    )
    return read_turn(snapshot(body, title=title), SAID)


@pytest.mark.parametrize(
    "log",
    [
        '<table><tr h-born="5"><td>You</td><td>{said}</td><td>12:01</td></tr>'
        '<tr h-born="300"><td>Helpdesk</td><td><p>Up.</p></td><td>12:01</td></tr></table>',
        '<dl><dt h-born="5">Visitor</dt><dd h-born="5">{said}</dd><dt h-born="300">Helpdesk</dt>'
        '<dd h-born="300"><p>Up.</p></dd></dl>',
        '<div><div class="who" h-born="5">Visitor</div><div class="words" h-born="5">{said}</div>'
        '<div class="who" h-born="300">Helpdesk</div><div class="words" h-born="300"><p>Up.</p></div></div>',
    ],
)
def test_who_speaks_stands_where_it_does_beside_the_users_words(log: str) -> None:
    turn = read_turn(snapshot(f"<main>{log.format(said=SAID)}{COMPOSER}</main>"), SAID)
    assert (turn.text, "Helpdesk" in turn.left_out) == ("Up.", True)


def test_a_short_first_bubble_is_no_name_where_none_stands_before_the_users_words() -> None:
    log = (
        f'<dl><dd h-born="5">{SAID}</dd><dt h-born="300">Up</dt><dd h-born="300">A film of 2009.</dd></dl>'
        "<table><tr><td>Name</td><td>Year</td></tr></table>"
    )
    assert read_turn(snapshot(f"<main>{log}{COMPOSER}</main>"), SAID).text == "Up\n\nA film of 2009."


@pytest.mark.parametrize(
    "beside",
    [
        "<button>Copy</button>",
        '<div role="toolbar"><span>Good</span><span>Bad</span></div>',
        '<div role="button">Read aloud</div>',
        '<select h-value="GPT"/>',
        "<time>12:03</time>",
        '<div class="time">12:03 PM</div>',
        '<div class="msg-timestamp">just now</div>',
        "<div>12:03</div>",
        "<span>Yesterday at 3:15 PM</span>",
        "<small>vor 2 Minuten</small>",
        "<div>刚刚</div>",
        "<div>21 November 2026, 14:05</div>",
        '<div class="avatar">AB</div>',
        '<div class="message__author">Robin</div>',
        '<span class="senderName">Robin the Guide</span>',
        '<div class="meta"><b>Robin</b> <span>10:42</span></div>',
        "<div><span>Robin</span> · <span>AI Agent</span> · <span>2 min ago</span></div>",
        "<div>Bot</div>",
        "<h5 class='name'>ChatGPT said:</h5>",
        "<div><b>Assistant</b></div>",
        "<div>Copied!</div>",
        "<div>Seen ✓✓</div>",
        "<div>&lt; 2/3 &gt;</div>",
        '<div class="reactions">👍 2</div>',
        '<img src="https://a.org/bot.png" alt="Robin" h-box="0,0,32,32"/>',
        '<img src="https://a.org/bot.png" alt="Avatar of Robin" h-box="0,0,64,64"/>',
        '<span class="typing-dots">...</span>',
        '<details><summary>Thought for 5 s</summary><p h-hide="1">Hm.</p></details>',
        '<details open=""><summary>Reasoning</summary><p>Hm.</p></details>',
        '<div class="thought"><button>Show reasoning</button><p>Hm, let me see.</p></div>',
        '<p h-site="leave_out">Advertisement</p>',
    ],
)
def test_what_is_no_answer_is_left_out_before_and_after_it(beside: str) -> None:
    answer = "<p>It is <b>Alien</b>.</p><ul><li>1979</li></ul>"
    want = "It is **Alien**.\n\n- 1979"
    assert read(f"{beside}<div>{answer}</div>").text == want
    assert read(f'{beside}<div class="text">{answer}</div>').text == want
    if "Bot" not in beside and "Assistant" not in beside and "AI Agent" not in beside:
        assert read(f"<div>{answer}</div>{beside}").text == want


def test_what_was_left_out_is_told() -> None:
    assert read('<div class="name">Robin</div><p>Alien.</p><button>Copy</button>').left_out == ("Copy", "Robin")


@pytest.mark.parametrize(
    "answer",
    [
        "<p>12:04</p>",
        '<div class="text">12:04</div>',
        '<div class="message-content"><span>Today</span></div>',
        "<p>Bot</p>",
        "<p>Copy</p>",
        "<p>1/2</p>",
        "<p>You</p>",
        "<p>Yes</p>",
        "12:04",
        "Monday",
        "<p>Sure!</p><p>Alien.</p>",
        "<p>Today</p><ul><li>10:30</li><li>11:45</li></ul><p>Tomorrow</p>",
        "<div>Monday</div><div>Tuesday</div><div>Wednesday</div>",
        "<p>At <time>12:04</time> it starts</p>",
        "<p>Meet at</p><p>March 5</p>",
        "<h2>Answer</h2><p>Alien.</p>",
        "<h2>Today</h2><p>Alien.</p>",
        "<p><b>Note:</b> Alien.</p>",
        "<p><strong>Monday</strong> is best</p>",
        "<p>👍</p>",
        '<div class="has-avatar">Yes</div>',
        '<div class="thinking">Alien, perhaps</div>',
        '<details open=""><summary>More</summary><p>Alien.</p></details>',
        "<table><tr><th>Name</th><th>Time</th></tr><tr><td>Bot</td><td>12:04</td></tr></table>",
    ],
)
def test_what_could_be_the_answer_stays(answer: str) -> None:
    turn = read(answer)
    assert turn.left_out == ()
    assert turn.text


def test_the_users_bubble_shows_what_is_decoration() -> None:
    user = '<div class="x1">Sam</div><div class="x2">{said}</div><div class="x3">Berlin</div>'
    reply = '<div class="x1">Zed</div><div class="x2">{answer}</div><div class="x3">Remote</div>'
    assert read(reply.format(answer="Alien."), user).text == "Alien."
    assert read(reply.format(answer="Zed"), user).text == "Zed"
    assert read('<div class="x1">Zed</div>', user).text == ""
    assert read('<div class="x2">Remote</div>', user).text == "Remote"
    # A frame that both have says nothing.
    same = '<div class="row">Sam</div><div class="row">{said}</div>'
    assert read('<div class="row">Zed</div><div class="row">Alien.</div>', same).text == "Zed\nAlien."


def test_a_name_with_a_colon_is_left_out_where_the_user_has_one() -> None:
    assert read("<p><b>Zed:</b> Note: Alien.</p>", "<p><b>You:</b> {said}</p>").text == "Note: Alien."
    assert read("<p><b>Bot:</b> Alien.</p>").text == "Alien."
    assert read("<p>Bot: Alien.</p>", "<p>You: {said}</p>").text == "Alien."
    assert read("<p>Bot: Alien.</p>").text == "Bot: Alien."
    assert read("<p><b>Warning:</b> Alien.</p>").text == "**Warning:** Alien."


def test_the_name_of_the_page_is_a_name() -> None:
    name = "<div>Film Guide</div><div><p>Alien.</p></div>"
    assert read(name, title="Film Guide - Home").text == "Alien."
    assert read(name, before="<h1>Film Guide</h1>").text == "Alien."
    assert read(name).text == "Film Guide\n\nAlien."
    # A model that is chosen by a button; but a button may also offer what is then said.
    model = '<button>llama3:latest</button><div class="log2"/>'
    assert read("<div>llama3:latest</div><div><p>Alien.</p></div>", before=model).text == "Alien."
    assert read("<div>Yes</div>", before="<button>Yes</button>").text == "Yes"


def test_lines_that_stand_beside_every_reply_are_decoration() -> None:
    line = '<div class="k9">Zed from the film club</div><div class="k8"><p>{answer}</p></div>'
    greeting = f'<div class="message bot">{line.format(answer="Hello!")}</div>'
    assert read(line.format(answer="Alien."), before=greeting).text == "Alien."
    assert read(line.format(answer="Alien.")).text == "Zed from the film club\n\nAlien."
    # An answer that begins like the greeting is an answer.
    sure = '<div class="message bot"><p>Sure!</p><ul><li>Hello</li></ul></div>'
    assert read("<p>Sure!</p><ul><li>Alien</li></ul>", before=sure).text == "Sure!\n\n- Alien"
    same = '<div class="message bot"><div class="para">Sure!</div><ul><li>Hello</li></ul></div>'
    assert read('<div class="para">Sure!</div><ul><li>Alien</li></ul>', before=same).text == "Sure!\n\n- Alien"
    again = '<div class="message bot"><div class="k8">I do not know.</div></div>'
    assert read('<div class="k8">I do not know.</div>', before=again).text == "I do not know."


def test_habits_know_the_lines_of_replies_that_left_the_page() -> None:
    line = '<div class="k9">Zed from the film club</div><div class="k8"><p>{answer}</p></div>'
    body = (
        '<div class="log"><p class="m" h-born="5">{said}</p><div class="n" h-born="90">{reply}</div></div>' + COMPOSER
    )
    first = snapshot(body.format(said="one", reply=line.format(answer="First.")))
    habits = learn_habits(first, read_turn(first, "one"))
    second = snapshot(body.format(said="two", reply=line.format(answer="Second.")))
    assert read_turn(second, "two").text == "Zed from the film club\n\nSecond."
    assert read_turn(second, "two", habits=habits).text == "Second."
    assert Habits.from_json(habits.as_json()) == habits
    with pytest.raises(ValueError, match="the habits are invalid"):
        Habits.from_json({"user": 3})


def test_bars_over_code_are_left_out_and_name_the_language() -> None:
    bar = '<div class="flex"><span class="text-xs">python</span><button>Copy code</button></div>'
    code = '<pre><code class="{name}">x = 1\n</code></pre>'
    for block in (
        f'<div class="code-block">{bar}{code.format(name="language-python")}</div>',
        f'<div class="code-block">{bar}<div>{code.format(name="hljs")}</div></div>',
        f'<div class="x7">{bar}{code.format(name="")}</div>',
        f'<pre class="code">{bar}<div class="body"><code>x = 1\n</code></div></pre>',
    ):
        assert read(f"<p>Run:</p>{block}<p>Done.</p>").text == "Run:\n\n```python\nx = 1\n```\n\nDone.", block
    assert read("<p>python</p><pre><code>x = 1</code></pre>").text == "python\n\n```\nx = 1\n```"


@pytest.mark.parametrize(
    "waiting", ["Thinking…", "...", "Robin is typing", "●●●", "Searching the web…", "正在输入…", "▍"]
)
def test_what_stands_for_an_answer_to_come_is_none(waiting: str) -> None:
    assert read(f"<p>{waiting}</p>").text == ""
    assert read(f"<p>{waiting}</p>").left_out in ((waiting,), ())
    assert read(f'<p class="typing">{waiting}</p>').text == ""


def test_a_mark_for_what_is_being_written_is_no_text() -> None:
    assert read("<p>It is Al▌</p>").text == "It is Al"
    assert read('<p>It is Al<span class="cursor">▌</span></p>').text == "It is Al"


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        (
            is_time,
            "12:04|3:15 PM|15.30 Uhr|14h05|Today|Today at 3:15 PM|2 min ago|il y a 3 minutes|hace 2 horas|2분 전|3分前"
            "|5m ago|2025-11-21T12:04:33Z|Nov 21, 2026|21. November 2026|11/21/26|2026年11月21日|вчера|a minute ago",
            "12.5|5|may|March|Now or never|10:30 is fine|Sunday roast|1999|Today we look at films|12:3",
        ),
        (
            is_role,
            "Bot|ChatGPT said:|AI Assistant|You|Virtual agent:|助手|Du",
            "Robot|The bot is nice|Your|Answer|Assist",
        ),
        (is_label, "Bot · 12:04|Assistant • Just now|You, 3:15 PM", "The answer at 12:04|Bot fly"),
        (is_named_time, "Robin 10:42|Fin · AI Agent · 2m ago|Mary Jane, 3:15 PM", "We meet at 10:42|It is 12:04|a · b"),
        (is_status, "Copied!|Copy|Seen ✓|👍 Like|Show more", "Read more|Copy this to the file|Edit the film"),
        (
            is_delivery,
            "Sending…|Sent|Sent · 5:38 PM|Delivered ✓✓|Seen by Robin|Read 12:05 PM|Wird gesendet …|Gelesen um 12:30"
            "|Envoyé|Lu|Envoi en cours|Enviando...|Entregado|Visualizzato|Verzonden|送信中…|既読 12:30|已发送|전송 중"
            "|Отправляется|تم الإرسال",
            "Send it|Read the book|Read more|Seen and not heard|Vue.js|Received wisdom|Sent by mail in 1999",
        ),
        (is_counter, "1/2|< 3 / 4 >", "1/2 cup|a/b"),
        (
            is_placeholder,
            "Thinking…|Bot is typing|...|Loading|Please wait...|processing ¦ 1.1s|0.1s|Generating…|Zed schreibt …",
            "Thinking is good|Please wait|One moment, please|Loading zone|5s|…and then|I am typing this by hand",
        ),
        (is_reasoning, "Thought for 5 s|Show reasoning|已深度思考", "Thoughtful people|I thought so"),
        (is_notice, "Bot can make mistakes. Check important info.|Powered by Acme", "Everybody makes mistakes"),
    ],
)
def test_words_beside_answers_are_known_in_several_languages(kind: object, yes: str, no: str) -> None:
    assert callable(kind)
    assert [text for text in yes.split("|") if not kind(text.replace("¦", "|"))] == []
    assert [text for text in no.split("|") if kind(text)] == []


def test_a_cursor_is_cut_off_only_at_the_end() -> None:
    assert remove_cursor("a ▌ b ▌") == "a ▌ b"


@pytest.mark.parametrize("heading", ["<h2><b>Overview:</b></h2>", "<h1><span>Films:</span></h1>", "<h1>Bot</h1>"])
def test_the_first_heading_of_an_answer_is_no_name(heading: str) -> None:
    turn = read(f"{heading}<p>Alien.</p>")
    assert turn.left_out == ()
    assert turn.text.startswith("#")
    # Nor is what an answer before began with.
    before = f'<div class="message bot">{heading}<p>Hello.</p></div>'
    assert read(f"{heading}<p>Alien.</p>", before=before).text == turn.text


def test_what_a_picture_of_an_answer_shows_is_no_name() -> None:
    picture = '<img src="https://a.org/x.png" alt="Alien" h-box="0,0,300,200"/>'
    assert read(f"<div>Alien</div>{picture}").text == "Alien\n![Alien](https://a.org/x.png)"


ROW = '<div class="said"><span>{said}</span></div><div class="foot"><span>12:01</span></div>'


@pytest.mark.parametrize("answer", ["Yes", "Paris", "5", "12:30", "Today", "GPT-4", "Bot", "Copy", "Sent", "1/2"])
@pytest.mark.parametrize(
    "reply",
    [
        # A hint of a name or a time that belongs to a wrapper, or is a modifier of it.
        '<div class="msg msg--with-name msg--time"><div class="sender-name">Robin</div>'
        '<div class="said">{answer}</div></div>',
        '<div class="item has-author from-author"><div class="text-by-author">{answer}</div></div>',
        '<div class="head"><b class="name">Robin</b></div><div class="said"><span>{answer}</span></div>',
        # In the same line as a time.
        '<div class="said">{answer} <span class="time">12:31</span></div>',
        # In a paragraph of an element that is called after a time.
        '<div class="msg-date"><p>{answer}</p></div>',
    ],
)
def test_a_hint_holds_for_its_own_element_and_not_for_the_answer_in_it(reply: str, answer: str) -> None:
    turn = read(reply.format(answer=answer), ROW)
    turn = turn.doubtful or turn
    assert turn.text == answer


@pytest.mark.parametrize("answer", ["Yes", "12:30", "Bot", "Sent"])
def test_the_place_of_the_words_is_never_left_empty_for_what_they_say(answer: str) -> None:
    reply = '<div class="who">Zed</div>' + ROW.replace("{said}", "{answer}").replace("12:01", "12:31")
    user = f'<div class="who">Sam</div>{ROW}'
    before = f'<div class="message bot">{reply.format(answer=answer)}</div>'
    turn = read(reply.format(answer=answer), user, before=before)
    assert (turn.text, turn.left_out, turn.doubtful) == (answer, ("Zed", "12:31"), None)
    assert read(reply.format(answer=""), user, before=before).text == ""


def test_a_lone_time_or_name_is_an_answer_only_where_nothing_else_comes() -> None:
    for answer in ("12:30", "Assistant", "Delivered"):
        turn = read(f"<div><span>{answer}</span></div>")
        assert (turn.text, turn.began) == ("", None)
        assert turn.doubtful is not None
        assert (turn.doubtful.text, turn.doubtful.left_out, turn.doubtful.began) == (answer, (), 0.3)
    # A name and a time stand over an answer that never came.
    assert read("<div>Assistant</div><div>12:30</div>").doubtful is None
    # What every reply shows is none either.
    line = '<div class="k9">Zed from the film club</div>'
    before = f'<div class="message bot">{line}<div class="k8"><p>Hello!</p></div></div>'
    turn = read(line, before=before)
    assert (turn.text, turn.doubtful) == ("", None)


def test_the_name_over_an_answer_without_words_is_never_the_answer() -> None:
    for reply, before in (
        ("<div><span>llama3:latest</span></div><div></div>", "<button>llama3:latest</button>"),
        ("<div><span>llama3:latest</span></div>", "<button>llama3:latest</button>"),
        ("<div><b>Assistant</b></div><div><p></p></div>", ""),
    ):
        turn = read(reply, before=before)
        assert (turn.text, turn.doubtful) == ("", None)
    # A word that a button offers to say is one, and so is a name with nothing around it.
    assert read("<div>Yes</div><div></div>", before="<button>Yes</button>").text == "Yes"
    lone = read("<div>Assistant</div>").doubtful
    assert lone is not None
    assert lone.text == "Assistant"


def test_of_two_times_one_is_the_answer() -> None:
    assert read("<div>12:30</div><div>12:31</div>", ROW).text == "12:30"


def made_alike(name: str, answer: str, *, size: int = 13, boxed: bool = True) -> ReadTurn:
    """A name made as the user's words are, over the box of the words."""
    edge = ' h-edge="1"' if boxed else ""
    return read_turn(
        snapshot(
            f'<main><div class="log" h-font="16"><div class="row" h-born="5"><div class="box"{edge}>'
            f'<div class="line">{SAID}</div></div></div><div class="row" h-born="300"><div class="side">'
            f'<div class="line" h-font="{size}">{name}</div></div><div class="box"{edge}><x-md class="md">'
            f"<div>{answer}</div></x-md></div></div></div>{COMPOSER}</main>"
        ),
        SAID,
    )


@pytest.mark.parametrize("answer", ["Up.", "Assistant", "Yesterday", "12:30", "A film of 2009. It has balloons."])
@pytest.mark.parametrize("name", ["Assistant", "harbour-bot", "Mia of Ferries"])
def test_a_name_in_smaller_letters_over_the_box_of_the_words_is_left_out(name: str, answer: str) -> None:
    turn = made_alike(name, f"<p>{answer}</p>")
    assert (turn.text, turn.left_out) == (answer, (name,))


@pytest.mark.parametrize(("size", "boxed"), [(16, True), (20, True), (13, False)])
def test_an_unknown_line_that_is_not_smaller_or_has_no_box_under_it_is_the_answers(size: int, boxed: bool) -> None:
    assert made_alike("Two films", "<p>Up, and Soul.</p>", size=size, boxed=boxed).text == "Two films\n\nUp, and Soul."


@pytest.mark.parametrize("alone", ["Assistant", "Yesterday", "5 min"])
def test_a_lone_line_in_smaller_letters_is_the_answer(alone: str) -> None:
    body = (
        f'<main><div class="log" h-font="16"><div class="row user" h-born="5"><div class="line">{SAID}</div></div>'
        f'<div class="row bot" h-born="300"><div class="line" h-font="13">{alone}</div></div></div>{COMPOSER}</main>'
    )
    assert read_turn(snapshot(body), SAID).text == alone


def test_a_name_that_no_list_knows_is_known_by_where_the_user_is_named() -> None:
    user = "<div><span>You</span></div><div><span>{said}</span></div>"
    reply = "<div><span>Zed the guide</span></div><div><span>{answer}</span></div>"
    assert read(reply.format(answer="Alien"), user).text == "Alien"
    assert read(reply.format(answer="12:30"), user).text == "12:30"
    assert read(reply.format(answer=""), user).text == ""


@pytest.mark.parametrize("when", ["12:01", "12:02"])
@pytest.mark.parametrize("answer", ["1/2", "12:30", "Bot", "Copy", "Robin 10:42"])
def test_a_sentence_of_a_greeting_shows_where_the_words_stand(answer: str, when: str) -> None:
    reply = '<div class="k1">Kit from the shop</div><div class="k2">{said}</div><div class="k3">{when}</div>'
    greeting = reply.format(said="Hello! What would you like to know?", when="12:01")
    turn = read(reply.format(said=answer, when=when), before=f'<div class="message bot">{greeting}</div>')
    assert (turn.text, turn.left_out, turn.doubtful) == (answer, turn.left_out, None)
    assert set(turn.left_out) == {"Kit from the shop", when}
    # What every reply says under the words is not their place.
    asked = '<div class="k2">{said}</div><div class="k3">Did we help you with this?</div>'
    before = f'<div class="message bot">{asked.format(said="Hello! What would you like to know?")}</div>'
    assert read(asked.format(said=answer), before=before).text == answer


@pytest.mark.parametrize(
    "reply",
    [
        '<div class="head">Obi-Wan <time>12:01</time></div><div class="said">{said}</div><div class="foot">12:01</div>',
        '<div class="item"><span class="said">{said}</span><p class="foot">12:01</p></div>',
        '<div class="part"><div class="said">{said}</div><div class="foot"><b>Fin · AI · Just now</b></div></div>',
        '<div class="said"><p>12:01</p><p>{said}</p></div><div class="foot">12:01</div>',
    ],
)
def test_a_reply_that_is_kept_alone_is_read_as_it_was_on_its_page(reply: str) -> None:
    user = f'<div class="head">Anakin <time>12:00</time></div>{ROW}'.replace("{answer}", "{said}")
    before = f'<div class="message bot">{reply.format(said="Hello! What would you like to know?")}</div>'
    for answer in ("Lanternfish", "12:30", "Alien is a film."):
        turn = read(reply.format(said=answer), user, before=before)
        assert answer in turn.text
        kept = parse_page(markup(snapshot("<main></main>"), turn.bubbles, turn.decorations))
        assert read_bubbles(kept, left_out=turn.left_out).text == turn.text


def test_where_the_words_stood_in_replies_before_is_known() -> None:
    reply = '<div class="k9">Zed</div><div class="k8">{answer}</div>'
    body = (
        '<div class="log"><p class="m" h-born="5">{said}</p><div class="n" h-born="90">{reply}</div></div>' + COMPOSER
    )
    habits = Habits()
    answers = ("The harbour was built in 1891, and it has been in use ever since then.", "12:30", "12:30", "Yes", "Yes")
    for number, answer in enumerate(answers):
        page = snapshot(body.format(said=f"turn {number}", reply=reply.format(answer=answer)))
        turn = read_turn(page, f"turn {number}", habits=habits)
        assert turn.text.endswith(answer)
        assert number == 0 or turn.text == answer
        habits = learn_habits(page, turn, habits)
    assert Habits.from_json(habits.as_json()) == habits
    old = {key: value for key, value in habits.as_json().items() if key != "slots"}
    assert Habits.from_json(old).slots == ()


def turns(*replies: str) -> list[ReadTurn]:
    """Replies of one conversation, each read on a page of its own after those before it."""
    habits, found = Habits(), []
    for number, reply in enumerate(replies):
        said = f"turn {number}"
        page = snapshot(
            f'<main><div class="log"><div class="m" h-born="5"><p>{said}</p></div><div class="n" h-ink="rgb(0, 0, 0)" '
            f'h-font="16" h-born="90">{reply}</div></div>{COMPOSER}</main>'
        )
        found.append(read_turn(page, said, habits=habits))
        habits = learn_habits(page, found[-1], habits)
    return found


@pytest.mark.parametrize(
    "opening",
    [
        '<div class="hw"><h2><span class="k3z">Summary</span></h2></div>',
        '<h3 class="k3z">Summary</h3>',
        '<div class="hw"><div class="k3z" role="heading">Summary</div></div>',
        '<div class="hw"><p class="k3z"><b class="x">Summary</b></p></div>',
        '<div class="hw"><ul><li><span class="k3z">Summary</span></li></ul></div>',
        '<div class="hw"><pre><code class="k3z">Summary</code></pre></div>',
        '<div class="k3z" h-font="20">Summary</div>',
        '<div class="hw"><span class="k3z">Summary of what I found:</span></div>',
        '<div class="hw"><span class="k3z">Summary of it all!</span></div>',
        '<div class="hw"><table><tr><td><span class="k3z">Summary</span></td><td>1</td></tr></table></div>',
    ],
)
def test_what_opens_every_answer_is_said_in_every_answer(opening: str) -> None:
    for turn in turns(*(f'{opening}<div class="body"><p>Answer {n}.</p></div>' for n in range(3))):
        assert "Summary" in turn.text
        assert turn.left_out == ()


def test_a_heading_beside_the_place_of_the_words_is_said_each_time() -> None:
    long = "This is what there is to be said about it, and it is longer than any name would be."
    for turn in turns(*(f'<div class="h" h-font="20">Summary</div><div class="b">{long} {n}</div>' for n in range(3))):
        assert turn.text.startswith("Summary")


@pytest.mark.parametrize(
    "small",
    [
        "<small>{}</small>",
        '<div class="x1">{}</div>',
        '<div h-font="12">{}</div>',
        '<footer><p class="x1">{}</p></footer>',
        '<p class="ai-disclaimer">{}</p>',
        '<p h-ink="rgb(120, 120, 120)">{}</p>',
    ],
)
@pytest.mark.parametrize(
    "warning",
    [
        "AI-generated content may be incorrect.",
        "Die Antworten einer KI können fehlerhaft sein. Bitte prüfen.",
        "Les réponses peuvent être inexactes.",
        "This is not legal or medical advice.",
    ],
)
def test_a_warning_under_every_answer_is_not_the_answers(small: str, warning: str) -> None:
    for turn in turns(*(f"<p>Answer {n}.</p>{small.format(warning)}" for n in range(3))):
        assert turn.text.startswith("Answer")
        assert turn.left_out == (warning,)


@pytest.mark.parametrize(
    "small", ["<small>{}</small>", '<div class="x1">{}</div>', '<div h-font="12">{}</div>', '<p h-dim="0.5">{}</p>']
)
def test_a_sentence_under_every_answer_in_words_of_its_own_is_known_from_the_second_on(small: str) -> None:
    line = small.format("The Lund shops wish you a very good day.")
    found = turns(*(f"<p>Answer {n}.</p>{line}" for n in range(3)))
    assert "good day" in found[0].text
    assert [turn.text for turn in found[1:]] == ["Answer 1.", "Answer 2."]


LONG = "What the new rules on tenancy mean for you and for your landlord"


@pytest.mark.parametrize(
    "sources",
    [
        f'<div class="src" h-font="12"><a href="https://a.org/1">{LONG}</a></div>',
        f'<div class="src" h-font="12">Source: <a href="https://a.org/1">{LONG}</a></div>',
        f'<footer><a href="https://a.org/1">{LONG}</a>, <a href="https://b.org/2">Rents since 2015</a></footer>',
        '<a class="card" href="https://a.org/1"><div class="t">The new rules</div><div class="d">a.org</div></a>',
        '<div class="card"><a href="https://a.org/1"><b class="t">The new rules</b><i class="d">a.org</i></a></div>',
        f'<small><a href="https://a.org/1">{LONG}</a></small>',
        '<div class="meta"><a href="https://a.org/1">a.org</a></div>',
        '<div class="source-name"><a href="https://a.org/1">The rules</a></div>',
        '<div class="date"><a href="https://a.org/1">a.org, 3 May 2024</a></div>',
        '<div class="chips"><a class="c" href="https://a.org/1">a.org</a><a class="c" href="https://b.org">b</a></div>',
    ],
)
def test_a_source_that_several_answers_show_is_in_each_of_them(sources: str) -> None:
    first, *later = turns(*(f'<div class="text">It may rise by {n} per cent a year.</div>{sources}' for n in range(4)))
    assert first.links
    assert read(f"<p>It may.</p>{sources}", '<div class="name">You</div><p>{said}</p>').links == first.links
    for turn in later:
        assert turn.links == first.links
        assert turn.text.partition("\n")[2] == first.text.partition("\n")[2]
        assert turn.left_out == ()


def test_a_sentence_of_the_page_with_a_link_in_it_is_no_source() -> None:
    line = '<div class="x1">Before you decide on anything, please read <a href="https://a.org/1">our advice</a>.</div>'
    found = turns(*(f"<p>Answer {n}.</p>{line}" for n in range(3)))
    assert [turn.text for turn in found[1:]] == ["Answer 1.", "Answer 2."]


@pytest.mark.parametrize(
    "closing",
    [
        "<p>Is there anything else that I can do for you?</p>",
        "<ul><li>AI can make mistakes.</li></ul>",
        "<p>AI-generated content may be incorrect.</p>",
        '<h4 class="x">Ask me more about it.</h4>',
    ],
)
def test_a_paragraph_that_closes_every_answer_is_said_in_every_answer(closing: str) -> None:
    for turn in turns(*(f"<p>Answer {n}.</p>{closing}" for n in range(3))):
        assert turn.left_out == ()


def test_a_warning_that_is_the_answer_and_an_answer_given_twice_stay() -> None:
    for reply in (
        '<p class="agent-name">Zed</p><div class="x1"><div class="x2">Yes, of course.</div></div>',
        '<div class="name">Zed</div><div class="x">AI can make mistakes.</div>',
        '<div class="name">Zed</div><div class="x">I am sorry, I do not know anything about that.</div>',
        '<div class="x">I do not know.</div><div class="x">I am sorry, I do not know anything about that.</div>',
    ):
        for turn in turns(reply, reply, reply)[1:]:
            assert turn.text.endswith((" mistakes.", "about that.", "of course."))


def test_a_column_of_numbers_before_a_block_of_code_is_no_answer() -> None:
    code = "<pre><code>ls -l\npwd</code></pre>"
    assert read(f"<p>Run:</p><div><div>1<br/>2</div>{code}</div>").text == "Run:\n\n```\nls -l\npwd\n```"
    assert read(f"<p>Run:</p><div><div>1<br/>2<br/>3</div>{code}</div>").text.startswith("Run:\n\n1\n2\n3")


@pytest.mark.parametrize("made", ["who", "msg-sender", "persona"])
def test_what_is_called_who_speaks_is_left_out_of_the_first_answer(made: str) -> None:
    turn = read(f'<div class="{made}">Rosalind</div><div class="x1"><p>It is Up.</p></div>')
    assert (turn.text, turn.left_out, turn.notes) == ("It is Up.", ("Rosalind",), ())


def test_a_first_line_that_may_be_a_name_is_noted_until_another_reply_shows_it() -> None:
    reply = '<div class="x0">Rosalind</div><div class="x1"><p>It is {}.</p></div>'
    first = read(reply.format("Up"))
    assert (first.text, first.notes) == ("Rosalind\n\nIt is Up.", (NAME_NOTE,))
    habits = learn_habits(snapshot("<p/>"), first)
    user = f'<div class="message user" h-born="5"><p>{SAID}</p></div>'
    bot = f'<div class="message bot" h-born="300">{reply.format("Coco")}</div>'
    again = read_turn(snapshot(f"<main>{user}{bot}{COMPOSER}</main>"), SAID, habits=habits)
    assert (again.text, again.notes) == ("It is Coco.", ())
    for other in (
        "<p>Up</p><p>It is a film.</p>",
        '<div class="x0">It is this:</div><div class="x1">Up</div>',
        '<div class="x0" h-font="24">Rosalind</div><div class="x1" h-font="16">It is Up.</div>',
        '<div class="x0">Up</div>',
    ):
        assert NAME_NOTE not in read(other).notes
