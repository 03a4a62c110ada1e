"""Selectors for elements: what they are made of, and that a real browser finds by them what was meant."""

from __future__ import annotations

import time
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.finding.selectors import is_stable_class, is_stable_id, selector_for, selector_for_all
from harvest.pages.reading.page import Node, Page, parse_page
from harvest.pages.sites.site import checked_selector
from tests.support.browsing import pages, run

WIDGET = """<!doctype html><body>
<nav><button>Search</button><button id="radix-12" class="css-1x2y3z">Menu</button></nav>
<main class="sc-bdnxRM chat-pane"><div class="log svelte-1hguek3">
<div class="turn user"><p>Hi</p></div>
<div class="turn bot"><div class="md"><p>One</p></div><button>Copy</button></div>
<div class="turn user"><p>More</p></div>
<div class="turn bot last"><div class="md"><p>Two</p><p>Three</p></div>
<button>Copy</button></div>
</div><form><textarea aria-label="Ask &quot;Robin&quot;"></textarea>
<button class="flex p-4 hover:bg-red-100">Go</button></form></main>
<x-chat></x-chat><ul><li>a<li>b<li>c</ul>
<script></script><div></div><div><span>deep</span></div>
<script>
const root = document.querySelector("x-chat").attachShadow({mode: "open"});
root.innerHTML = `<section><div data-testid="box"></div><input name="q"><div><i></i><i></i></div></section>`;
</script>"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def seen(browser: Browser) -> tuple[Page, dict[str, list[int]]]:
    """The page, and for every selector that was made of it the numbers of what the browser finds by it."""
    async with pages({"/": WIDGET}) as server:
        window = await browser.open_window(BrowserSettings())
        await window.goto(server.url)
        frame = window.frames()[0]
        page = await frame.look()
        made = {f"n{node.id}": css for node in page.walk() if node.id and (css := selector_for(page, node))}
        again = await frame.look(made)
        assert await run(frame, "document.querySelectorAll('*').length") > 30
        await window.close()
    found: dict[str, list[int]] = {css: [] for css in made.values()}
    for node in again.walk():
        for name in node.get("h-site").split():
            found[made[name]].append(node.id)
    return page, found


def of(page: Page, tag: str, number: int = 0) -> Node:
    return [node for node in page.walk() if node.tag == tag][number]


def classed(page: Page, name: str) -> list[Node]:
    return [node for node in page.walk() if name in node.classes]


def test_every_selector_finds_its_element_and_nothing_else_in_the_browser_too(seen: Any) -> None:
    page, found = seen
    made = 0
    for node in page.walk():
        if node.id and (css := selector_for(page, node)):
            assert found[css] == [node.id], css
            made += 1
    assert made >= 30


def test_names_and_marks_come_before_classes_and_position(seen: Any) -> None:
    page, _ = seen
    assert selector_for(page, of(page, "textarea")) == 'textarea[aria-label="Ask \\"Robin\\""]'
    assert selector_for(page, of(page, "input")) == 'input[name="q"]'
    assert selector_for(page, of(page, "main")) == ".chat-pane"
    assert selector_for(page, of(page, "x-chat")) == "x-chat"
    box = next(node for node in page.walk() if node.get("data-testid"))
    assert selector_for(page, box) == '[data-testid="box"]'


def test_position_is_the_last_resort_and_generated_names_are_never_used(seen: Any) -> None:
    page, found = seen
    assert selector_for(page, of(page, "li", 1)) == "ul > li:nth-of-type(2)"
    for css in found:
        assert not any(
            made in css for made in ("css-1x2y3z", "svelte", "sc-bdnxRM", "radix", "hover", "p-4", "flex")
        ), css


def test_a_selector_does_not_cross_the_edge_of_a_shadow_root(seen: Any) -> None:
    page, _ = seen
    found = selector_for(page, of(page, "i", 1))
    assert found is not None
    assert "x-chat" not in found


def test_bubbles_are_selected_together_and_separately_from_the_users(seen: Any) -> None:
    page, _ = seen
    assert selector_for_all(page, classed(page, "bot")) == ".bot"
    assert selector_for_all(page, classed(page, "md")) == ".md"
    assert selector_for_all(page, classed(page, "turn")) == ".turn"
    assert selector_for_all(page, [classed(page, "bot")[0]]) is None  # the other one is made just the same
    assert selector_for_all(page, [classed(page, "bot")[1]], never=classed(page, "user")) == ".bot"
    assert selector_for_all(page, []) is None


def test_excluded_elements_and_their_surroundings_are_never_matched(seen: Any) -> None:
    page, _ = seen
    texts = [node for node in page.walk() if node.tag == "p"]
    assert selector_for_all(page, texts[1:2], never=texts[:1]) == ".md > p"


@pytest.mark.parametrize(
    "name",
    [
        "css-1x2y3z",
        "sc-bdnxRM",
        "svelte-1hguek3",
        "jss12",
        "makeStyles-root-3",
        "Message_bubble__x7Gh2",
        "_abc12_1",
        "x1lliihq",
        "e1abc",
        "h-9",
        "p-4",
        "flex",
        "inline-flex",
        "text-destructive",
        "rounded-full",
        "is-active",
        "disabled-button",
        "hidden",
        "12",
        "a:b",
        "tw-p-4",
        "group",
    ],
)
def test_a_generated_or_merely_decorative_class_is_not_stable(name: str) -> None:
    assert not is_stable_class(name)


@pytest.mark.parametrize(
    "name",
    [
        "chat-input",
        "message-bubble",
        "ai-message",
        "btn-primary",
        "messageBubble",
        "user-message-text",
        "markdown-body",
        "composer-btn",
        "ProseMirror",
        "role_user",
        "outer-message-container",
        "MuiButton-root",
        "bubble",
    ],
)
def test_a_descriptive_class_is_stable(name: str) -> None:
    assert is_stable_class(name)


def test_ids_with_counters_or_hashes_are_not_stable() -> None:
    assert is_stable_id("chat-input")
    assert not is_stable_id("message-17")
    assert not is_stable_id("radix-r7")
    assert not is_stable_id("a3f9b2c81d")


@st.composite
def trees(draw: st.DrawFn) -> Page:
    tags, names = (
        st.sampled_from(["div", "p", "button", "x-a"]),
        st.sampled_from(["", "bot", "user", "log bot", "css-1x2y3z"]),
    )

    def tree(depth: int) -> str:
        tag, name, label = draw(tags), draw(names), draw(st.sampled_from(["", "Send", 'a"b\\']))
        inner = "".join(tree(depth + 1) for _ in range(draw(st.integers(0, 3)))) if depth < 3 else ""
        quoted = label.replace('"', "&quot;")
        shadow = ' h-shadow="1"' if draw(st.booleans()) and inner else ""
        return f'<{tag} class="{name}" aria-label="{quoted}"{shadow}>{inner}</{tag}>'

    return parse_page(f'<h-page url="http://a/" width="1" height="1">{tree(0)}{tree(0)}</h-page>')


@settings(max_examples=60)
@given(page=trees())
def test_a_selector_is_valid_in_a_site_file_and_is_not_used_twice(page: Page) -> None:
    made = [css for node in page.walk() if node is not page.root and (css := selector_for(page, node))]
    assert len(made) == len(set(made))
    for css in made:
        assert checked_selector(css) == css


def test_a_large_page_takes_little_time() -> None:
    rows = "".join(f'<div class="row"><p class="bot">{n}</p><button>Copy</button></div>' for n in range(1500))
    page = parse_page(
        f'<h-page url="http://a/" width="1" height="1">{rows}<form><textarea/><button>Go</button></form></h-page>'
    )
    begun = time.process_time()
    assert selector_for(page, of(page, "textarea")) == "form textarea"
    assert selector_for_all(page, classed(page, "bot")) == ".bot"
    assert time.process_time() - begun < 2.0
