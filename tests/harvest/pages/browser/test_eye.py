"""The eye on real pages in a real browser: what it writes down."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
import pytest_asyncio

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.reading.page import BLOCKS, Page, collapse_spaces, parse_page
from harvest.systems.driver import Denied
from tests.support.browsing import look, named, pages, run, showing, tagged

pytestmark = pytest.mark.asyncio(loop_scope="session")


NESTED = """
<x-outer><b slot=name>Ada</b><i>unslotted</i></x-outer>
<script>
customElements.define("x-inner", class extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({mode: "closed"});
    root.innerHTML = "<p id=deep>said <slot>nothing</slot></p><input id=q>";
  }
});
customElements.define("x-outer", class extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({mode: "open"});
    root.innerHTML = "<h2>Chat with <slot name=name></slot></h2><x-inner>something</x-inner><x-inner></x-inner>";
  }
});
</script>"""


async def test_open_and_closed_shadow_roots_are_in_their_place_and_slots_are_filled(browser: Browser) -> None:
    async with showing(browser, NESTED) as window:
        page = await look(window)
    outer = tagged(page, "x-outer")
    assert outer.text == "Chat with Ada said something said nothing"
    assert [node.get("h-shadow") for node in page.walk() if node.tag.startswith("x-")] == ["1", "1", "1"]
    assert "unslotted" not in page.root.text


async def test_an_element_in_a_closed_shadow_root_is_typed_into_and_clicked(browser: Browser) -> None:
    async with showing(browser, NESTED) as window:
        frame = window.frames()[0]
        box = next(node for node in (await frame.look()).walk() if node.get("id") == "q")
        part = await frame.node(box.id)
        assert part is not None
        await part.fill("first")
        await part.type(" and more")
        await part.click()
        assert await part.value() == "first and more"
        assert not await part.cover()
        assert next(node for node in (await frame.look()).walk() if node.get("id") == "q").get("h-value") == (
            "first and more"
        )


async def test_a_declarative_closed_root_is_seen_where_its_element_is_defined(
    browser: Browser,
) -> None:
    html = """<x-card><template shadowrootmode=closed><p>in the card</p></template></x-card><script>
    customElements.define("x-card", class extends HTMLElement { constructor() { super(); this.attachInternals(); } });
    </script>"""
    async with showing(browser, html) as window:
        assert tagged(await look(window), "x-card").text == "in the card"


HIDDEN = {
    "display": '<p id=x style="display:none">x</p>',
    "attribute": "<p id=x hidden>x</p>",
    "visibility": '<p id=x style="visibility:hidden">x</p>',
    "opacity": '<p id=x style="opacity:0">x</p>',
    "one pixel": '<p id=x style="position:absolute;width:1px;height:1px;overflow:hidden;margin:-1px">x</p>',
    "clip": '<p id=x style="position:absolute;width:1px;height:1px;clip:rect(0,0,0,0)">x</p>',
    "no height": '<div id=x style="height:0;overflow:hidden"><p>x</p></div>',
    "to the left": '<p id=x style="position:absolute;left:-9999px">x</p>',
    "closed drawer": '<div id=x style="position:fixed;left:0;width:9em;height:9em;transform:translateX(-100%)">x</div>',
    "closed details": "<details><summary>s</summary><p id=x>x</p></details>",
    "until found": "<p id=x hidden=until-found>x</p>",
}
SHOWN = {
    "scrolled away": '<div style="height:5000px"></div><p id=x>x</p>',
    "scrolled up": '<div style="height:100px;overflow:auto;display:flex;flex-direction:column-reverse">'
    '<div style="height:4000px;flex:none"></div><p id=x>x</p></div>',
    "open details": "<details open><summary>s</summary><p id=x>x</p></details>",
    "summary": "<details><summary id=x>x</summary><p>y</p></details>",
    "contents": '<div id=x style="display:contents">x</div>',
    "fading in": "<style>@keyframes in{from{opacity:0}to{opacity:1}}</style>"
    '<p id=x style="animation:in 5s steps(2, jump-none) both">x</p>',
    "visible in hidden": '<div style="visibility:hidden">no<p id=x style="visibility:visible">x</p></div>',
    "fixed in no room": '<div style="height:0;overflow:hidden"><p id=x style="position:fixed;bottom:0">x</p></div>',
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def seen(browser: Browser) -> Mapping[str, Page]:
    """Each of these pages, one after another in one window: a new one takes longer than all that is done with it."""
    found = {}
    names = [*HIDDEN, *SHOWN]
    content = {f"/{number}": f"<!doctype html><body>{html}" for number, html in enumerate({**HIDDEN, **SHOWN}.values())}
    async with pages(content) as server:
        window = await browser.open_window(BrowserSettings())
        for name, path in zip(names, content, strict=True):
            await window.goto(server.url.rstrip("/") + path)
            found[name] = await look(window)
        await window.close()
    return found


@pytest.mark.parametrize("name", HIDDEN)
async def test_invisible_elements_are_hidden(seen: Mapping[str, Page], name: str) -> None:
    assert not named(seen[name], "x").visible


@pytest.mark.parametrize("name", SHOWN)
async def test_visible_elements_are_not_hidden(seen: Mapping[str, Page], name: str) -> None:
    page = seen[name]
    assert named(page, "x").visible
    assert named(page, "x").text == "x"
    assert "no" not in page.root.text.split()


async def test_frames_of_the_same_and_another_origin_have_their_own_eyes_and_places(browser: Browser) -> None:
    inner = "<!doctype html><body><textarea id=q></textarea>"
    async with showing(browser, inner) as elsewhere:
        away = elsewhere.url.replace("127.0.0.1", "localhost")
        html = (
            f"<iframe srcdoc='{inner}' style='position:absolute;left:50px;top:60px;border:3px solid'></iframe>"
            f"<iframe src='{away}' style='position:absolute;left:500px;top:300px;border:7px solid'></iframe>"
            f"<iframe src='{away}' style='display:none'></iframe>"
        )
        async with showing(browser, html) as window:
            boxes = []
            for frame in window.frames():
                boxes.append(await frame.box())
                if frame.is_main or boxes[-1] is None:
                    continue
                part = await frame.node(named(await frame.look(), "q").id)
                assert part is not None
                await part.fill(f"in {frame.url}")
                assert named(await frame.look(), "q").get("h-value") == f"in {frame.url}"
                inside, seen = await part.box(), named(await frame.look(), "q").box
                assert inside is not None
                assert seen is not None
                assert (inside.x, inside.y) == pytest.approx((boxes[-1].x + seen.x, boxes[-1].y + seen.y), abs=1)
            places = [(box.x, box.y) if box else None for box in boxes]
            assert places == [(0, 0), (53, 63), (507, 307), None]


async def test_descriptive_attributes_are_kept_and_others_are_not(browser: Browser) -> None:
    html = """<a id=x class="a  b" href="../up?q=1&r=2" onclick="x()" style="color:red" data-testid=t data-blob="%s"
      data-author=bot aria-label='Say "hi" &amp; go' @click=1 :class=2>go</a>
      <img src="data:image/png;base64,AA" alt=dot><img src=/p.png>
      <input type=password value=secret><input type=hidden value=token>
      <input type=checkbox checked>
      <select><option>one<option selected>two</select><ol start=3><li value=7>x</ol><o:p>office</o:p>
      <button disabled>b</button><div contenteditable=true>typed</div><a href="javascript:go()">j</a>""" % ("z" * 500)
    async with showing(browser, html) as window:
        source = await window.frames()[0].source()
        page = parse_page(source)
        url = window.url
    link = named(page, "x")
    assert link.get("href") == f"{url}up?q=1&r=2"
    assert link.get("aria-label") == 'Say "hi" & go'
    kept = {key for key in link.attributes if not key.startswith("h-")}
    assert kept == {"id", "class", "href", "data-testid", "data-author", "aria-label"}
    assert "secret" not in source
    assert "token" not in source
    assert [node.get("src") for node in page.walk() if node.tag == "img"] == ["data:image/png", f"{url}p.png"]
    assert tagged(page, "select").get("h-value") == "two"
    assert (tagged(page, "ol").get("start"), tagged(page, "li").get("value")) == ("3", "7")
    assert tagged(page, "button").get("h-off") == "1"
    assert [node.text for node in page.walk() if node.get("h-edit") and node.tag == "div"] == ["typed"]
    assert tagged(page, "x-o-p").text == "office"


async def test_any_text_is_recorded_and_characters_forbidden_in_xml_are_replaced(browser: Browser) -> None:
    texts = [
        "a\x00b\x08\x1f",
        "\ud83d\ude00 ok",
        "\ud83d",
        "x\udc00y",
        "]]> & <b> \"'",
        "\ufffe\uffff",
        "e\u0301 \u202eabc",
        "日本語 עברית",
    ]
    async with showing(browser, "<pre id=x></pre>") as window:
        frame = window.frames()[0]
        for text in texts:
            # Lone surrogates cannot travel to the browser otherwise.
            data = text.encode("utf-16-le", "surrogatepass")
            units = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
            script = """units => { const element = document.getElementById("x");
              element.textContent = element.title = String.fromCharCode(...units); }"""
            await run(frame, script, units)
            expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            for wrong in "\x00\x08\x1f\ufffe\uffff":
                expected = expected.replace(wrong, "\ufffd")
            node = named(await frame.look(), "x")
            assert "".join(child for child in node.children if isinstance(child, str)) == expected
            assert node.get("title") == expected


async def test_visible_white_space_is_kept_unchanged(browser: Browser) -> None:
    html = "<pre id=x>a\n  b\r\n\tc</pre><p id=y style='white-space:pre-wrap'>1\n 2</p><p id=z>a\n b</p>"
    async with showing(browser, html) as window:
        page = await look(window)
    assert (named(page, "x").children, named(page, "x").get("h-space")) == (["a\n  b\n\tc"], "pre")
    assert (named(page, "y").children, named(page, "y").get("h-space")) == (["1\n 2"], "pre")
    assert named(page, "z").get("h-space") == ""


async def test_words_and_numbers_that_only_a_style_adds_are_written(browser: Browser) -> None:
    html = r"""<style>#a::before {content: 'We open "late"'; } #b::after {content: attr(data-said);}
    #c::before {content: "Desk says: "} #d::before {content: "\\2014  \\e001 "} #e::before {content: "十時に開く"}
    ol, .s {list-style: none; counter-reset: n} .s li::before {counter-increment: n; content: counter(n) ". "}
    </style><p id=a></p><p id=b data-said="until two"><!-- --> </p><p id=c>now</p><i id=d></i><p id=e></p>
    <ul class=s><li id=f>x</li></ul><ul style='list-style: decimal'><li id=g>x</li></ul><ul><li id=h>x</li></ul>"""
    async with showing(browser, html) as window:
        page = await look(window)
    assert [named(page, name).text for name in "abcde"] == ['We open "late"', "until two", "now", "", "十時に開く"]
    assert [named(page, name).get("h-count") for name in "fgh"] == ["1", "1", ""]


async def test_blocks_are_told_apart_from_words_as_the_browser_lays_them_out(browser: Browser) -> None:
    html = """<span id=a style='display:block'>x</span><div id=b style='display:inline'>y</div><b id=c>z</b>
    <x-y id=d>w</x-y>"""
    async with showing(browser, html) as window:
        page = await look(window)
        frame = window.frames()[0]
        tags = sorted(BLOCKS - {"h-page", "legend", "option", "optgroup", "summary", "body", "html"})
        await run(frame, "tags => tags.forEach(t => document.body.append(document.createElement(t)))", tags)
        laid_out = {node.tag: node for node in (await frame.look()).walk()}
    assert [named(page, name).block for name in "abcd"] == [True, False, False, False]
    closed = {"dialog"}  # shown only when open
    assert {tag: laid_out[tag].get("h-show") for tag in tags if tag not in closed} == {
        tag: "" for tag in tags if tag not in closed
    }


async def test_formulas_keep_their_tex_and_drawings_their_names(browser: Browser) -> None:
    html = """<math id=a><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics>
    </math>
    <math id=b display=block><mi>y</mi><mo>+</mo><mfrac linethickness=0><mn>1</mn><mphantom/></mfrac></math>
    <svg id=c width=9 height=9><title>Stop</title><use href="#i-stop"/>
    <text>drawn</text></svg>"""
    async with showing(browser, html) as window:
        page = await look(window)
    assert tagged(page, "annotation").children == ["x^2"]
    assert named(page, "a").text == ""
    assert named(page, "b").text == "y+1"
    assert [node.tag for node in named(page, "b").elements] == ["mi", "mo", "mfrac"]
    assert named(page, "b").get("display") == "block"
    assert (named(page, "c").get("title"), named(page, "c").get("data-use"), named(page, "c").children) == (
        "Stop",
        "#i-stop",
        [],
    )


async def test_selectors_of_a_site_are_matched_in_every_root_and_a_wrong_one_is_named(browser: Browser) -> None:
    async with showing(browser, NESTED) as window:
        page = await look(window, {"reply": "p", "box": "input, textarea", "none": ""})
        assert [node.get("id") for node in page.marked("reply")] == ["deep", "deep"]
        assert [node.tag for node in page.marked("box")] == ["input", "input"]
        with pytest.raises(Denied, match=r"bad-selector: reply: 'p\[\[' is not a CSS selector"):
            await look(window, {"reply": "p[["})
        with pytest.raises(Denied, match="bad-selector: busy"):
            await window.frames()[0].arm(0, 0, {"busy": ")("})


async def test_pages_that_hide_or_replace_browser_functions_are_still_seen(browser: Browser) -> None:
    html = """<form id=f><input name=children><input name=attributes><input name=id><input name=parentNode>
    <input name=firstChild><input name=getAttribute><p>in the form</p></form><p id=p>text</p><script>
    for (const name of ["getAttribute", "querySelectorAll", "matches", "getBoundingClientRect", "checkVisibility"])
      Element.prototype[name] = () => { throw new Error("mine"); };
    Element.prototype.attachShadow = function () { return null; };
    Object.defineProperty(Node.prototype, "textContent", {get() { return "mine"; }});
    window.MutationObserver = window.WeakRef = window.getComputedStyle = undefined;
    window.setInterval = performance.now = () => { throw new Error("mine"); };
    </script>"""
    async with showing(browser, html) as window:
        frame = window.frames()[0]
        page = await frame.look()
        assert tagged(page, "form").text == "in the form"
        await frame.arm(0)
        await frame.mark_sent()
        await run(frame, "() => document.getElementById('p').append(' and more')")
        assert (await frame.sample()).changes == 1


async def test_observation_leaves_no_trace_in_the_page(browser: Browser) -> None:
    async with showing(browser, NESTED + "<textarea id=t></textarea><button>Stop</button>") as window:
        frame = window.frames()[0]
        before = await run(frame, "() => [document.documentElement.outerHTML, Object.keys(window).length]")
        page = await frame.look({"x": "p"})
        await frame.arm(named(page, "t").id)
        await frame.mark_sent()
        await frame.watch([named(page, "t").id])
        await frame.sample()
        await frame.look()
        assert await run(frame, "() => [document.documentElement.outerHTML, Object.keys(window).length]") == before


async def test_numbers_belong_to_their_elements_for_life(browser: Browser) -> None:
    async with showing(browser, "<p id=a>a</p><p id=b>b</p>") as window:
        frame = window.frames()[0]
        first = await frame.look()
        await run(
            frame,
            "() => { document.body.append(document.getElementById('a')); document.getElementById('b').remove(); }",
        )
        second = await frame.look()
        assert named(second, "a").id == named(first, "a").id
        assert named(first, "b").id not in second.by_id
        assert await frame.node(999_999) is None


async def test_a_page_may_nest_deeper_than_the_stack_of_python(browser: Browser) -> None:
    async with showing(browser, "") as window:
        frame = window.frames()[0]
        script = """() => { let at = document.body;
          for (let i = 0; i < 2500; i++) at = at.appendChild(document.createElement("div"));
          at.textContent = "deep"; }"""
        await run(frame, script)
        page = await frame.look()
        assert [
            child for node in page.walk() for child in node.children if isinstance(child, str) and child.strip()
        ] == ["deep"]


async def test_a_page_of_twenty_thousand_elements_is_recorded_completely(browser: Browser) -> None:
    async with showing(browser, "<main></main>") as window:
        frame = window.frames()[0]
        script = """() => { const row = (i) => `<div class="row r${i}"><p>Text <b>number</b> ${i} with
            <a href="/l${i}">link</a></p><span hidden>h</span></div>`;
          document.querySelector("main").innerHTML = Array.from({length: 4000}, (_, i) => row(i)).join(""); }"""
        await run(frame, script)
        page = await frame.look()
    assert len(page.by_id) > 20_000


async def test_the_recorded_text_of_a_page_is_what_the_browser_calls_its_text(browser: Browser) -> None:
    html = """<h1>Title</h1><p>One <b>two</b><i>three</i> four<br>five</p><ul><li>a<li>b</ul>
    <table><tr><td>c<td>d</table>
    <pre>x
      y</pre><p hidden>no</p><div>last<span style="display:none">no</span></div>"""
    async with showing(browser, html) as window:
        frame = window.frames()[0]
        page = await frame.look()
        shown = await run(frame, "() => document.body.innerText")
    assert page.root.text == collapse_spaces(shown.replace("\n", " "))


async def test_an_empty_element_with_nested_shadow_roots_is_recorded(browser: Browser) -> None:
    html = """<div id=hung style="width: 0; height: 0; overflow: hidden"></div><script>
      const root = document.getElementById("hung").attachShadow({mode: "open"});
      root.innerHTML = "<p>inside</p>";
      root.firstChild.insertAdjacentHTML("beforebegin", "<div id=deep></div>");
      root.getElementById("deep").attachShadow({mode: "closed"}).innerHTML = "<b>deep</b>";
    </script>"""
    async with showing(browser, html) as window:
        page = await window.frames()[0].look()
        assert named(page, "hung").hidden
        assert page.root.text == ""


async def test_absurdly_deep_nesting_is_recorded_as_text(browser: Browser) -> None:
    """Reading takes time that grows with the depth; a thousand nested elements must not hold up a run."""
    async with showing(browser, "<div>" + "<span>" * 400 + "deep words" + "</span>" * 400 + "</div>") as window:
        page = await look(window)
    assert "deep words" in page.root.text
    assert max(sum(1 for _ in node.ancestors()) for node in page.walk()) <= 201


async def test_the_style_of_letters_is_recorded_where_it_differs_from_its_surroundings(browser: Browser) -> None:
    html = """<body style="font: 16px serif; color: rgb(0, 0, 0)"><div id=plain><p id=inner>x</p></div>
    <p id=grey style="color: rgb(136, 136, 136); font-size: 12px">x</p><p id=faint style="opacity: .5">x</p>
    <p id=line style="border-left: 2px solid red">x</p><p id=ground style="background: yellow">x</p>
    <p id=slant style="font-style: italic">x</p><pre>a<span id=mute style="user-select: none">1</span></pre>
    <p>10<span id=raised style="vertical-align: super">3</span></p>
    <b id=icon style="font-family: 'Material Symbols Outlined', sans-serif">face</b>
    <div id=cut style="height: 20px; overflow: hidden"><p>x</p><p>y</p><p>z</p></div>"""
    async with showing(browser, html) as window:
        page = await look(window)
    kept = ("h-font", "h-ink", "h-dim", "h-edge", "h-slant", "h-mute", "h-raise", "h-icon", "h-cut")
    told = {
        node.get("id"): {name: node.get(name) for name in kept if name in node.attributes}
        for node in page.walk()
        if node.get("id")
    }
    assert told == {
        "plain": {},
        "inner": {},
        "grey": {"h-font": "12", "h-ink": "rgb(136, 136, 136)"},
        "faint": {"h-dim": "0.5"},
        "line": {"h-edge": "1"},
        "ground": {"h-edge": "1"},
        "slant": {"h-slant": "1"},
        "mute": {"h-mute": "1"},
        "raised": {"h-raise": "super"},
        "icon": {"h-icon": "1"},
        "cut": {"h-cut": "1"},
    }


async def test_words_of_drawings_sources_of_sounds_and_bare_text_in_folds_are_recorded(
    browser: Browser,
) -> None:
    html = """<svg id=chart width=300 height=200><text>Mon</text><text>Tue</text><text>Mon</text></svg>
    <canvas id=plot>Sales by day</canvas><audio id=voice controls><source src=/a.mp3></audio>
    <img id=inside src="data:image/png;base64,AAAA"><details id=fold><summary>More</summary>bare <b>it</b></details>"""
    async with showing(browser, html) as window:
        page = await look(window)
        url = window.url
    assert named(page, "chart").get("h-drawn") == "Mon, Tue"
    assert named(page, "plot").get("h-drawn") == "Sales by day"
    assert named(page, "voice").get("src") == f"{url}a.mp3"
    assert named(page, "inside").get("src") == "data:image/png"
    assert [(one.tag, one.hidden) for one in named(page, "fold").elements] == [
        ("summary", False),
        ("h-text", True),
        ("b", True),
    ]


@pytest.mark.parametrize("sandbox", ["", "sandbox=allow-scripts"])
async def test_a_frame_added_since_the_send_contains_its_text(browser: Browser, sandbox: str) -> None:
    html = """<iframe id=old srcdoc="<p>An advertisement</p>"></iframe><textarea></textarea><main></main>"""
    async with showing(browser, html) as window:
        frame = window.frames()[0]
        await frame.arm(tagged(await frame.look(), "textarea").id)
        await frame.mark_sent()
        content = f"<iframe id=new {sandbox} srcdoc='<h3>Hours</h3><p>Nine to <b>six</b></p>'></iframe>"
        await run(frame, "(html) => { document.querySelector('main').innerHTML = html; }", content)
        for _ in range(50):
            page = await frame.look()
            if "h-frame" in named(page, "new").attributes and named(page, "new").text:
                break
            await asyncio.sleep(0.1)
        await frame.mark_sent()  # the next turn
        later = await frame.look()
    assert named(page, "new").text == named(later, "new").text == "Hours Nine to six"
    assert named(later, "old").children == []
    assert {node.id for node in named(page, "new").walk()} == {0, named(page, "new").id}
    assert named(page, "old").children == []


OUT_OF_VIEW = """<textarea id=near></textarea><div style="position:relative;width:200px;height:60px"><textarea id=under>
</textarea><div style="position:absolute;inset:0;background:#eee">over it</div></div>
<iframe srcdoc="<div style='height:950px'></div><textarea id=framed></textarea>" style="display:block;height:1050px">
</iframe><textarea id=far></textarea>"""


async def test_only_a_box_of_the_page_itself_that_is_in_view_and_not_covered_needs_no_scrolling(
    browser: Browser,
) -> None:
    async with showing(browser, OUT_OF_VIEW) as window:
        found = {
            node.get("id"): await frame.is_reachable(node.id)
            for frame in window.frames()
            for node in (await frame.look()).walk()
            if node.tag == "textarea"
        }
        gone = await window.frames()[0].is_reachable(10**6)
    assert found == {"near": True, "under": False, "far": False, "framed": False}
    assert not gone
