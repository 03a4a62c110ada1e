"""A site's `reply` and `user` are held to every turn, and pages that they fit are left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.drivers.registry import build_driver
from harvest.pages.chats.mismatch import find_mismatch
from harvest.pages.reading.page import parse_page
from harvest.pages.reading.turn import Habits, read_turn
from harvest.pages.sites.site import Site
from harvest.systems.driver import Opening, Surroundings, Unanswered
from tests.servers.page_replies import reply_of
from tests.support.interfaces import awkward_pages
from tests.support.snapshots import COMPOSER

SAID = "Name a film, please"
OLD = '<p h-site="user">Hello there</p><p h-site="reply">Good day to you.</p>'


def mismatch(body: str, *, asked: str = ' asked="2000"') -> str:
    source = (
        f'<h-page url="https://chat.test/" title="A page" width="1280" height="800"{asked}>{body}{COMPOSER}</h-page>'
    )
    page = parse_page(source)
    site = Site.model_validate({"user": ".user", "reply": ".bot"})
    return find_mismatch(page, source, SAID, read_turn(page, SAID), site, Habits())


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(f'<p h-site="user" h-born="5">{SAID}</p><p h-site="reply" h-born="90">Alien.</p>', id="plain"),
        pytest.param(
            f'<div h-site="user"><p h-born="5">{SAID}</p></div><p h-site="reply" h-born="90">Alien.</p>', id="recycled"
        ),
        pytest.param('<p h-site="user" h-born="5">A picture</p><p h-site="reply" h-born="90">Alien.</p>', id="picture"),
        pytest.param('<p h-site="reply" h-born="90">Alien.</p>', id="the user's words are not shown"),
        pytest.param(f'<p h-site="reply" h-born="90">You said: {SAID}. Alien.</p>', id="only the answer repeats them"),
    ],
)
def test_a_turn_that_the_site_fits_is_accepted(turn: str) -> None:
    assert mismatch(f"<main>{OLD}{turn}</main>") == ""


@pytest.mark.parametrize(
    ("turn", "selector"),
    [
        (f'<p h-site="user" h-born="5">{SAID}</p><p h-born="90">Alien.</p>', "reply"),
        (f'<p h-born="5">{SAID}</p><p h-site="reply" h-born="90">Alien.</p>', "user"),
    ],
)
def test_a_selector_that_only_fits_an_earlier_turn_is_named(turn: str, selector: str) -> None:
    assert mismatch(f"<main>{OLD}{turn}</main>").startswith(f"the site's {selector} '.")


def test_a_reply_that_only_matches_invisible_elements_is_named() -> None:
    template = '<p h-site="reply" h-hide="1">Sample</p>'
    turn = f'<p h-site="user" h-born="5">{SAID}</p><p h-born="90">Alien.</p>'
    assert "the site's reply '.bot'" in mismatch(f"{template}<main>{turn}</main>")


def test_a_silent_page_is_not_blamed_on_the_site() -> None:
    assert mismatch(f'<main>{OLD}<p h-site="user" h-born="5">{SAID}</p></main>') == ""


def test_a_reloaded_page_is_not_blamed_for_its_new_elements() -> None:
    turn = f'<p>{SAID}</p><p h-site="reply">Alien.</p>'
    assert mismatch(f"<main>{OLD}{turn}</main>", asked="") == ""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with awkward_pages() as pages:
        yield pages.url("renamed")


@pytest.mark.parametrize(
    "site",
    [
        {"reply": ".bot"},
        pytest.param({"user": ".user", "reply": ".bot, .theirs"}, marks=pytest.mark.soak),
        pytest.param({"user": ".user"}, marks=pytest.mark.soak),
    ],
)
async def test_a_page_whose_bubbles_are_renamed_in_between_is_refused_at_that_turn(
    url: str, site: dict[str, str]
) -> None:
    said = ("Question one about the page?", "Question two about the page?")
    driver = build_driver("browser", {"url": url, "site": site}, Surroundings("page", Path()))
    session = await driver.open(Opening("page", "topic", 1, 1))
    try:
        first = await session.say(said[0])
        assert first.turn.answer.text == reply_of("renamed", 1, said[0]).markdown
        with pytest.raises(Unanswered, match=r"site-mismatch: the site's .* matches nothing of this turn"):
            await session.say(said[1])
    finally:
        await session.close()
        await driver.close()


async def test_a_page_whose_bubbles_are_all_named_is_read_to_the_end(url: str) -> None:
    site = {"user": ".user, .mine", "reply": ".bot, .theirs"}
    driver = build_driver("browser", {"url": url, "site": site}, Surroundings("page", Path()))
    session = await driver.open(Opening("page", "topic", 1, 1))
    try:
        for turn, text in enumerate(("Question one, then?", "Question two, then?"), 1):
            assert (await session.say(text)).turn.answer.text == reply_of("renamed", turn, text).markdown
    finally:
        await session.close()
        await driver.close()
