"""The eye on real pages in a real browser: what it notices while an answer is being written."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from harvest.pages.browser.frame import Frame, TurnSigns
from harvest.pages.browser.process import Browser
from harvest.pages.browser.window import Window
from tests.support.browsing import named, run, showing

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = """<style>@keyframes turn { to { rotate: 1turn } } .turning { animation: turn 1s infinite }</style>
<nav id=nav>chats</nav><main id=log></main><div id=status></div>
<textarea id=box></textarea><button id=send>Send</button>"""
ADD = "html => document.getElementById('status').innerHTML = html"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def plain(browser: Browser) -> AsyncIterator[Window]:
    """One window for the tests that only put something into it: a new one takes half a second."""
    async with showing(browser, PAGE) as window:
        yield window


async def sent(window: Window, site: dict[str, str] | None = None) -> Frame:
    """The frame, armed, with the turn sent."""
    frame = window.frames()[0]
    page = await frame.look()
    await frame.arm(named(page, "box").id, named(page, "send").id, site)
    await frame.mark_sent()
    return frame


def now(glance: TurnSigns) -> set[str]:
    return {name for name, sign in glance.signs.items() if sign.now}


def seen(glance: TurnSigns) -> set[str]:
    return {name for name, sign in glance.signs.items() if sign.seen}


SIGNS = {
    "a button that says stop": ("stop", "<button>Stop</button>"),
    "a label": ("stop", '<button aria-label="Stop generating"><svg width=9 height=9></svg></button>'),
    "a test id": ("stop", '<button data-testid="stop-button"><svg width=9 height=9></svg></button>'),
    "a title": ("stop", '<div role=button title="Cancel response">x</div>'),
    "another element's words": ("stop", "<b id=w>Stop</b><button aria-labelledby=w><i>■</i></button>"),
    "a picture's name": ("stop", '<button><svg data-icon="stop" width=9 height=9></svg></button>'),
    "a class": ("stop", '<button class="stop-button lg"><svg width=9 height=9></svg></button>'),
    "German": ("stop", "<button>Generierung stoppen</button>"),
    "French": ("stop", "<button>Arrêter la génération</button>"),
    "Spanish": ("stop", "<button>Detener</button>"),
    "Japanese": ("stop", "<button>生成を停止</button>"),
    "Chinese": ("stop", "<button>停止生成</button>"),
    "Korean": ("stop", "<button>응답 중지</button>"),
    "Russian": ("stop", "<button>Остановить генерацию</button>"),
    "Arabic": ("stop", "<button>إيقاف</button>"),
    "busy": ("busy", "<div aria-busy=true>writing</div>"),
    "a progress bar": ("progress", "<progress></progress>"),
    "the role of one": ("progress", "<div role=progressbar>…</div>"),
    "an animation": ("animation", "<div class=turning>o</div>"),
    "typing": ("hint", '<div class="chat-typing-indicator">...</div>'),
    "camels": ("hint", '<div class="botIsTyping">•••</div>'),
    "dots": ("hint", '<span class="dots">•••</span>'),
    "a skeleton": ("hint", '<div data-testid="message-skeleton">&nbsp;</div>'),
    "thinking": ("hint", '<div aria-label="Thinking">…</div>'),
    "an indicator with words": ("hint", '<p class="desk typing-indicator">Anna is looking up the tickets for you</p>'),
    "another": ("hint", '<p data-testid="thinking-animation">We are reading the timetable of the ferry now</p>'),
    "a cursor": ("hint", '<span class="stream-cursor">▌</span>'),
}
NO_SIGNS = {
    "hidden": '<button style="display:none">Stop</button><div class=typing hidden>…</div>',
    "other stops": "<button>Stop recording</button><button title='Stop sharing'>x</button><button>Bus stop</button>",
    "other cancels": "<button>Cancel</button>",
    "links": '<a class="cursor-pointer" href="#">x</a><p class="text-ellipsis data-[loading]:hidden">y</p>',
    "menus": '<button class="dots-menu"><svg class="three-dots" width=9 height=9></svg></button>',
    "words": '<p class="loading">A whole sentence that somebody wrote as an answer.</p>',
    "words that are typed": '<p class="typing-text">A whole sentence that somebody wrote as an answer.</p>',
    "a state of a class": '<p class="x:typing-indicator">A whole sentence that somebody wrote as an answer.</p>',
    "an animation that ends": "<style>#a{animation:turn 9s 2}</style><p id=a>x</p>",
    "not busy": "<div aria-busy=false>x</div>",
}


@pytest.mark.parametrize("name", SIGNS)
async def test_a_sign_is_present_after_it_appears_and_counts_as_seen_once_it_has_gone(plain: Window, name: str) -> None:
    sign, html = SIGNS[name]
    await run(plain.frames()[0], ADD, "")
    frame = await sent(plain)
    await run(frame, ADD, html)
    assert now(await frame.sample()) == {sign}
    await run(frame, ADD, "")
    after = await frame.sample()
    last = after.signs[sign].last
    assert now(after) == set()
    assert seen(after) == {sign}
    assert last is not None
    assert 0 <= last < 2


@pytest.mark.parametrize("name", NO_SIGNS)
async def test_things_that_only_look_like_a_sign_are_not_signs(plain: Window, name: str) -> None:
    await run(plain.frames()[0], ADD, "")
    frame = await sent(plain)
    await run(frame, ADD, NO_SIGNS[name])
    assert seen(await frame.sample()) == set()


@pytest.mark.parametrize("name", SIGNS)
async def test_a_sign_from_before_the_turn_does_not_count_even_if_it_is_recreated(plain: Window, name: str) -> None:
    sign, html = SIGNS[name]
    await run(plain.frames()[0], ADD, html)
    frame = await sent(plain)
    assert sign not in now(await frame.sample())
    await run(frame, ADD, "")
    await run(frame, ADD, html)
    assert sign not in seen(await frame.sample())


SPINNER = '<div class="spinner turning" style="width:20px;height:20px;margin-left:100px"></div>'
CUT_AWAY = {
    "no width": '<div style="width:0;overflow:hidden">{}</div>',
    "no height": '<section style="max-height:0;overflow:clip"><div>{}</div></section>',
    "a row of a grid": '<div style="display:grid;grid-template-rows:0fr">'
    '<div style="overflow:hidden;min-height:0">{}</div></div>',
    "a strip of icons": '<div style="width:48px;overflow:hidden"><div style="width:300px">{}</div></div>',
    "a list in it": '<div style="width:0;overflow:hidden"><div style="height:50px;overflow:auto">{}</div></div>',
    "a drawer beside the window": '<div style="position:fixed;width:300px;left:0;transform:translateX(-100%)">{}</div>',
}
NOT_CUT_AWAY = {
    "only scrolled away": '<div style="height:50px;overflow:auto"><p style="height:400px"></p>{}</div>',
    "scrolled away in a page that does not scroll": "<style>html,body{{height:100%;overflow:hidden}}</style>"
    '<div style="height:50px;overflow:auto"><p style="height:2000px"></p>{}</div>',
    "fixed to the window": '<div style="width:0;overflow:hidden"><div style="position:fixed;top:9px">{}</div></div>',
    "hung on something further out": '<div style="position:relative"><div style="height:0;overflow:hidden">'
    '<div style="position:absolute;top:9px">{}</div></div></div>',
    "moved out of its frame and back": "<style>@keyframes glide {{ from {{ translate: -300px }} }}</style>"
    '<div style="width:200px;overflow:hidden"><div class="shimmer" style="animation:glide 9s infinite">_</div></div>',
    "around it is inline": '<span style="overflow:hidden">{}</span>',
}


@pytest.mark.parametrize("name", [*CUT_AWAY, *NOT_CUT_AWAY])
async def test_a_sign_that_its_surroundings_clip_does_not_count(plain: Window, name: str) -> None:
    await run(plain.frames()[0], ADD, "")
    frame = await sent(plain)
    await run(frame, ADD, {**CUT_AWAY, **NOT_CUT_AWAY}[name].format(SPINNER))
    assert now(await frame.sample()) == (set() if name in CUT_AWAY else {"animation", "hint"})


PANES = """<style>@keyframes turn { to { rotate: 1turn } } .turning { animation: turn 1s infinite }</style>
<nav id=nav></nav><div id=app><aside id=side></aside><div id=pane><header id=head></header><main id=log></main>
<div id=status></div><form><textarea id=box></textarea><button id=send>Send</button></form></div></div>
<div id=far></div>"""


@pytest.mark.parametrize(
    ("place", "counts"),
    [
        ("log", True),
        ("side", False),
        *(pytest.param(place, True, marks=pytest.mark.soak) for place in ("status", "head")),
        *(pytest.param(place, False, marks=pytest.mark.soak) for place in ("nav", "far")),
    ],
)
async def test_once_the_turn_is_found_loose_signs_count_only_near_it(
    browser: Browser, place: str, counts: bool
) -> None:
    async with showing(browser, PANES) as window:
        frame = await sent(window)
        add = "html => document.getElementById('{}').insertAdjacentHTML('beforeend', html)"
        await run(frame, add.format("log"), "<p>Half</p>")
        await run(frame, add.format(place), SPINNER)
        assert now(await frame.sample()) == {"animation", "hint"}, "as long as the turn is not found"
        await frame.watch([named(await frame.look(), "log").id])
        loose = await frame.sample()
        assert now(loose) == ({"animation", "hint"} if counts else set())
        assert seen(loose) == now(loose), "what was never about the turn has not ended either"
        await run(frame, add.format(place), "<button>Stop</button>")
        assert "stop" in now(await frame.sample())


async def test_a_busy_moment_of_thirty_milliseconds_is_seen_without_polling(browser: Browser) -> None:
    script = """() => { const status = document.getElementById("status"), send = document.getElementById("send");
      setTimeout(() => { status.innerHTML = "<button>Stop</button><p class=typing>…</p>"; send.disabled = true; }, 5);
      setTimeout(() => { status.innerHTML = ""; send.disabled = false;
                         document.getElementById("log").innerHTML = "<p>quick</p>"; }, 35); }"""
    for _ in range(5):
        async with showing(browser, PAGE) as window:
            frame = await sent(window)
            await run(frame, script)
            await asyncio.sleep(0.4)
            glance = await frame.sample()
            assert {"stop", "hint"} <= seen(glance)
            assert now(glance) == set()
            assert glance.changes >= 1


async def test_a_send_button_that_turns_into_a_stop_button_and_back_is_a_sign(browser: Browser) -> None:
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        await run(frame, "() => { const b = document.getElementById('send'); b.firstChild.data = 'Stop'; }")
        assert now(await frame.sample()) == {"stop"}
        await run(frame, "() => { const b = document.getElementById('send'); b.firstChild.data = 'Send'; }")
        assert now(await frame.sample()) == set()


async def test_a_hidden_indicator_that_is_shown_is_a_sign(browser: Browser) -> None:
    async with showing(browser, PAGE + "<div id=t class=typing hidden>…</div>") as window:
        frame = await sent(window)
        await run(frame, "() => { document.getElementById('t').hidden = false; }")
        assert now(await frame.sample()) == {"hint"}
        await run(frame, "() => { document.getElementById('t').style.visibility = 'hidden'; }")
        assert now(await frame.sample()) == set()


async def test_a_disabled_composer_and_button_are_signs_even_if_they_are_recreated(
    browser: Browser,
) -> None:
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        await run(frame, "() => { box.disabled = send.disabled = true; }")
        assert now(await frame.sample()) == {"composer", "send"}
        await run(frame, "() => { for (const one of [box, send]) { one.disabled = false; one.outerHTML += ''; } }")
        await asyncio.sleep(0.4)
        assert now(await frame.sample()) == set()
        await run(frame, "() => { box.readOnly = true; send.remove(); }")
        await asyncio.sleep(0.4)
        assert now(await frame.sample()) == {"composer", "send"}


async def test_a_button_that_is_disabled_whenever_the_box_is_empty_is_no_evidence(browser: Browser) -> None:
    async with showing(browser, PAGE.replace("<button id=send>", "<button id=send disabled>")) as window:
        frame = window.frames()[0]
        page = await frame.look()
        await frame.arm(named(page, "box").id, named(page, "send").id)
        await run(frame, "() => { box.value = 'x'; send.disabled = false; }")
        await frame.mark_sent()
        await run(frame, "() => { box.value = ''; send.disabled = true; }")
        assert seen(await frame.sample()) == set()


async def test_the_site_defines_what_busy_means(browser: Browser) -> None:
    async with showing(browser, PAGE) as window:
        frame = await sent(window, {"busy": "#status > em, #never", "reply": "p"})
        await run(frame, ADD, "<em>hm</em>")
        assert now(await frame.sample()) == {"site"}
        await run(frame, ADD, "<em hidden>hm</em>")
        assert now(await frame.sample()) == set()


async def test_signs_in_shadow_roots_that_come_with_the_answer_are_seen(browser: Browser) -> None:
    script = """() => { const host = document.createElement("div"); document.getElementById("log").append(host);
      const root = host.attachShadow({mode: "closed"});
      root.innerHTML = "<style>@keyframes b { to { opacity: .5 } } i { animation: b 1s infinite }</style>";
      root.innerHTML += "<i>o</i><button>Stop</button>";
      window.later = () => root.append("word"); window.done = () => { root.innerHTML = "<p>done</p>"; }; }"""
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        await run(frame, script)
        first = await frame.sample()
        assert now(first) == {"stop", "animation"}
        await run(frame, "() => window.later()")
        assert (await frame.sample()).changes == first.changes + 1
        await run(frame, "() => window.done()")
        assert now(await frame.sample()) == set()


COUNTED = {
    "a word": "log.append('word')",
    "a letter in a text": "log.firstChild.data += 'd'",
    "a number that grows": "log.querySelector('b').firstChild.data = '42'",
    "another text in place": "log.innerHTML = '<b>5</b> other'",
    "a text that goes": "log.innerHTML = ''",
}
NOT_COUNTED = {
    "a clock": "log.querySelector('time').firstChild.data = '12:01:10'",
    "a while ago": "log.querySelector('small').textContent = '10 s ago'",
    "the same again": "log.innerHTML = log.innerHTML",
    "all but the clock": "log.innerHTML = log.innerHTML.replace('12:00:09', '12:00:10').replace('9 s', '10 s')",
    "the navigation": "nav.append('new chat')",
    "the box": "box.append('typed'); box.value = 'x'",
    "a button": "send.append(' it')",
    "hidden text": "const p = document.createElement('p'); p.hidden = true; p.append('x'); log.append(p)",
    "what is said to screen readers": "log.querySelector('.heard').textContent = 'Loading'",
    "the end of it": "log.querySelector('.heard').textContent = ''",
    "what is said within it": "log.querySelector('.heard').innerHTML = '<p><b>Loading</b></p>'",
    "a style": "log.style.color = 'red'",
    "in and out": "const p = document.createElement('p'); p.append('x'); log.append(p); p.remove()",
}
HEARD = "position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0,0,0,0);white-space:nowrap"
TEXT = (
    "wor<b>4</b> <time>12:00:09</time> <small>9 s ago</small><div class=heard role=status aria-live=polite "
    f"style='{HEARD}'>Sent</div>"
)


@pytest.mark.parametrize("name", COUNTED)
async def test_a_change_of_the_text_counts(plain: Window, name: str) -> None:
    await run(plain.frames()[0], "text => { log.innerHTML = text; log.style = ''; }", TEXT)
    frame = await sent(plain)
    await run(frame, f"() => {{ {COUNTED[name]} }}")
    glance = await frame.sample()
    assert glance.changes == 1
    assert glance.quiet < 1


@pytest.mark.parametrize("name", NOT_COUNTED)
async def test_other_changes_do_not_count(plain: Window, name: str) -> None:
    await run(plain.frames()[0], "text => { log.innerHTML = text; log.style = ''; }", TEXT)
    frame = await sent(plain)
    await run(frame, f"() => {{ {NOT_COUNTED[name]} }}")
    glance = await frame.sample()
    assert glance.changes == 0
    assert glance.quiet == pytest.approx(glance.asked, abs=0.01)


async def test_existing_words_shown_one_by_one_are_changes(browser: Browser) -> None:
    script = """() => { log.innerHTML = "<p>" + "<span class=off>word </span>".repeat(5) + "</p>"; let at = 0;
      const shown = setInterval(() => { const next = log.querySelectorAll(".off")[0];
        if (next) next.className = "on"; else clearInterval(shown); }, 60); }"""
    async with showing(browser, "<style>.off { opacity: 0 }</style>" + PAGE) as window:
        frame = await sent(window)
        await run(frame, script)
        await asyncio.sleep(0.8)
        assert (await frame.sample()).changes >= 6


async def test_a_chat_that_lives_in_an_aside_with_its_composer_is_watched(browser: Browser) -> None:
    html = f"<aside><header id=h>Bot</header>{PAGE}</aside>"
    async with showing(browser, html) as window:
        frame = await sent(window)
        await run(frame, "() => { log.append('word'); }")
        assert (await frame.sample()).changes == 1
        await run(frame, "() => { h.append('!'); }")
        assert (await frame.sample()).changes == 1


async def test_once_a_part_is_watched_only_text_in_it_counts_until_it_leaves_the_page(browser: Browser) -> None:
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        await run(frame, "() => { log.innerHTML = '<div id=turn><header>Bot</header></div>'; }")
        await frame.watch([named(await frame.look(), "turn").id])
        base = (await frame.sample()).changes
        await run(frame, "() => { log.append('elsewhere'); }")
        assert (await frame.sample()).changes == base
        await run(frame, "() => { turn.append('here'); turn.firstChild.append('too'); }")
        glance = await frame.sample()
        assert (glance.changes, glance.stale) == (base + 1, False)
        await run(frame, "() => { turn.remove(); }")
        await run(frame, "() => { log.append('anew'); }")
        glance = await frame.sample()
        assert glance.stale
        assert glance.changes > base + 1


async def test_an_element_replaced_while_its_text_grows_counts_each_time(browser: Browser) -> None:
    # Both in one breath: the text grows, and then a copy takes its place.
    script = """() => { const old = log.firstChild; old.append('word '); old.replaceWith(old.cloneNode(true)); }"""
    async with showing(browser, PAGE.replace("<main id=log>", "<main id=log><p>x</p>")) as window:
        frame = await sent(window)
        for count in range(1, 4):
            await run(frame, script)
            assert (await frame.sample()).changes == count


async def test_the_longest_pauses_and_all_of_the_latest_ones_are_kept(browser: Browser) -> None:
    script = """async () => { const wait = (ms) => new Promise((done) => setTimeout(done, ms));
      await wait(300); log.append("a"); await wait(400);
      for (let i = 0; i < 60; i++) { log.append("b"); await wait(12); } }"""
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        await run(frame, script)
        glance = await frame.sample()
    assert glance.changes == 61
    assert 20 < len(glance.pauses) <= 40
    first, second = sorted(glance.pauses, reverse=True)[:2]
    assert {round(first[0], 1), round(second[0], 1)} <= {0.3, 0.4, 0.5}
    last = glance.pauses[-20:]
    for (length, began), (_, next_began) in itertools.pairwise(last):
        assert began + length == pytest.approx(next_began, abs=0.003)


async def test_the_time_when_an_element_first_got_words_and_its_previous_text_are_noted(browser: Browser) -> None:
    html = "<p id=kept>old</p><p id=blank></p>"
    async with showing(browser, PAGE.replace("<main id=log>", f"<main id=log>{html}")) as window:
        frame = await sent(window)
        await run(
            frame,
            """() => { const html = "<p><i id=slot></i></p><p id=whole>x</p><p id=dots>…</p><p id=state>Sending</p>";
              log.insertAdjacentHTML("beforeend", html); whole.append("y"); }""",
        )
        await asyncio.sleep(0.1)
        await run(
            frame,
            """() => { slot.append("one"); dots.firstChild.data = "two"; state.innerHTML = "<b>Sent</b>";
              whole.append("z"); blank.textContent = "three"; kept.append(" and new"); }""",
        )
        await asyncio.sleep(0.1)
        await run(frame, """() => { slot.append(" and more"); dots.textContent = "four"; }""")
        page = await frame.look()
        dots, state, blank, kept = (named(page, name) for name in ("dots", "state", "blank", "kept"))
        filled = named(page, "slot")
        assert (filled.get("h-was"), dots.get("h-was"), state.get("h-was"), blank.get("h-was")) == (
            "",
            "…",
            "Sending",
            "",
        )
        first = [float(one.get("h-first")) for one in (filled, dots, state, blank)]
        assert len(set(first)) == 1
        assert dots.birth_time is not None
        assert dots.birth_time + 90 < first[0] < float(filled.get("h-said"))
        # Those had words from the first on.
        assert all("h-first" not in one.attributes for one in (kept, named(page, "whole"), named(page, "log")))


async def test_elements_added_after_the_send_are_new_and_moved_ones_are_old(browser: Browser) -> None:
    async with showing(browser, PAGE.replace("<main id=log>", "<main id=log><p id=old>old</p>")) as window:
        frame = await sent(window)
        script = """() => { const d = document.createElement("div"); d.innerHTML = "<p id=in>new</p>";
          log.append(d); d.append(old); }"""
        await run(frame, script)
        await asyncio.sleep(0.2)
        script = """() => { const p = document.createElement("p"); p.id = "later"; p.append("x");
          old.append(p); old.firstChild.data = "said"; }"""
        await run(frame, script)
        page = await frame.look()
        moved, inside, later = named(page, "old"), named(page, "in"), named(page, "later")
        assert moved.birth_time is None
        assert moved.get("h-said") != ""
        assert inside.birth_time is not None
        assert inside.parent is not None
        assert inside.parent.birth_time == inside.birth_time
        assert later.birth_time is not None
        assert later.birth_time > inside.birth_time + 150
        assert page.asked is not None
        assert page.asked >= later.birth_time
        await frame.arm(0)
        await frame.mark_sent()
        assert [node for node in (await frame.look()).walk() if node.birth_time is not None] == []


async def test_a_new_document_knows_nothing_about_a_turn(browser: Browser) -> None:
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        assert (await frame.sample()).asked is not None
        await window.goto(window.url)
        assert (await frame.sample()).asked is None
        assert (await frame.look()).asked is None
        await frame.watch([1])
        await frame.mark_sent()
        assert (await frame.sample()).asked is not None


STREAM = """async (whole) => { const p = document.createElement("p"); log.append(p); const cost = performance.now();
  for (let at = 0; at < 20000; at += 100) { const text = "Lorem ipsum ".repeat(9).slice(0, 100);
    if (whole) p.innerHTML = "<b>x</b> " + (p.textContent + text); else p.append(text);
    await new Promise((done) => setTimeout(done, 20)); }
  return performance.now() - cost; }"""


@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.soak)])
async def test_a_long_answer_in_two_hundred_pieces_costs_little(browser: Browser, whole: bool) -> None:
    async with showing(browser, PAGE) as window:
        frame = await sent(window)
        session = await window._context.new_cdp_session(window._page)
        await session.send("Performance.enable")

        async def busy() -> float:
            metrics = (await session.send("Performance.getMetrics"))["metrics"]
            return float(next(one["value"] for one in metrics if one["name"] == "ScriptDuration"))

        before = await busy()
        streamed = await run(frame, STREAM, whole)
        spent = await busy() - before
        glance = await frame.sample()
        assert glance.changes == 200
        print(f"200 pieces in {streamed:.0f} ms, whole={whole}: scripts ran {spent * 1000:.0f} ms")
        assert spent < 0.25 * streamed / 1000


async def test_rewritten_text_is_not_a_change_but_is_reported(plain: Window) -> None:
    frame = await sent(plain)
    await run(frame, "() => { document.getElementById('log').innerHTML = '<p>Up to here</p>'; }")
    first = await frame.sample()
    assert (first.changes, first.rewritten) == (1, None)
    await run(frame, "() => { document.getElementById('log').innerHTML = '<p>Up to <a href=x></a>here</p>'; }")
    await run(frame, "() => { document.getElementById('log').innerHTML = '<p>Up to here</p>'; }")
    await run(frame, "() => { const log = document.getElementById('log'); log.innerHTML = log.innerHTML; }")
    await run(frame, "() => { const nav = document.getElementById('nav'); nav.innerHTML = nav.innerHTML; }")
    second = await frame.sample()
    assert second.rewritten is not None
    assert second.rewritten < second.asked  # type: ignore[operator]
    await run(frame, "() => { document.getElementById('log').innerHTML = ''; }")


async def test_a_turn_is_followed_into_another_document(browser: Browser) -> None:
    async with showing(browser, PAGE + "<button>Stop</button><i class=turning>o</i>") as window:
        frame = window.frames()[0]
        await frame.follow()
        glance = await frame.sample()
        assert glance.asked is not None
        assert (glance.changes, now(glance)) == (0, {"stop"}), "what tells of writing counts, an ornament does not"
        await run(frame, "() => { document.getElementById('log').textContent = 'An answer'; }")
        assert (await frame.sample()).changes == 1
        page = await frame.look()
        assert page.asked is None
        assert not any(node.birth_time is not None or "h-said" in node.attributes for node in page.walk())
        # The next turn is one of this document again.
        again = await sent(window)
        assert (await again.look()).asked is not None
