"""Awkward pages, each with one thing that makes a live chat hard to read, played through the driver with no site file.

All of them are played once, several at a time in one browser; then each is held to what its page says.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.browser import BrowserDriver
from harvest.drivers.registry import build_driver
from harvest.pages.browser.process import Browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.pages.chats.reread import read_again
from harvest.pages.reading.page import parse_page
from harvest.pages.reading.turn import Habits, read_turn
from harvest.systems.driver import Denied, DriverError, NotSent, Opening, Reply, Surroundings, Unanswered
from recordings.log.run_folder import read
from tests.servers.page_replies import ALONE, LAYOUTS, PAGES, reply_of
from tests.servers.short_answers import SHORT
from tests.support.browsing import settings
from tests.support.fonts import FONTS, with_fonts
from tests.support.interfaces import Pages, awkward_pages
from tests.support.kept_answers import keep_answers
from topics.errors import InputError

AT_ONCE = 8
"""Pages that are played at the same time: most of what they do is waiting."""

FRAMES = ("frame-same", "frame-other", "frame-nested", "widget", "new-window")
"""Pages in which the page `plain` is shown."""

FAULTS: Mapping[str, tuple[type[DriverError], str]] = {
    "error": (Unanswered, "error"),
    "rate-limit": (Unanswered, "rate-limit"),
    "silence": (Unanswered, "error"),
    "told": (Unanswered, "error"),
    "broken": (Unanswered, "error"),
    "lost": (Unanswered, "page-reloaded"),
    "stuck": (NotSent, "composer-gone"),
    "login": (Denied, "login"),
    "captcha": (Denied, "captcha"),
    "maintenance": (NotSent, "maintenance"),
    "not-sent": (Denied, "too-long-for-composer"),
    "twice": (Unanswered, "sent-twice"),
    "nothing": (Unanswered, "no-reply"),
}
"""What becomes of a turn that is no answer: the kind of fault and its reason."""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one turn."""

    outcome: Reply | DriverError

    def watch(self) -> dict[str, Any]:
        """How the end was told; {} where nothing was kept of it."""
        kept = [exhibit.data for exhibit in self.outcome.exhibits if exhibit.name == "watch"]
        return dict(json.loads(kept[0])) if kept else {}


def said(name: str, turn: int) -> str:
    """What is typed: more than any short box takes, and with marks that a page may render."""
    number = 1 if name == "lost-turn" else turn  # what was answered before must not be taken for the answer
    return f"Question {number} about {name}: what is **next**, and is `it` far?"


FEW_LAYOUTS = ("transcript",)
OTHER_LAYOUTS = tuple(f"layout-{name}" for name in LAYOUTS if name not in FEW_LAYOUTS)
"""Played under the marker `soak`."""
AKIN: Mapping[str, str] = {
    "accepted": "delivery",
    "acknowledged": "delivery",
    "animation": "ticker",
    "both-late": "drafts",
    "cards": "rich",
    "code": "code-editor",
    "bubbles": "same-container",
    "column-reverse": "newest-first",
    "connecting": "empty-disabled",
    "consent-banner": "widget",
    "cursor": "typewriter",
    "definitions": "layout-transcript",
    "download": "dialogs",
    "editor": "code-editor",
    "empty-named": "greeting",
    "enter-newline": "drafts",
    "enter-only": "drafts",
    "error-toast": "toast-notyf",
    "frame-other": "frame-nested",
    "frame-same": "frame-nested",
    "late-states": "delivery",
    "japanese": "plain",
    "launcher": "widget",
    "loaded-anew": "reloading",
    "login": "captcha",
    "long-page": "virtualised",
    "long-pause": "aria-busy",
    "long-polling": "event-source",
    "maintenance": "captcha",
    "modal": "widget",
    "name-first": "plain",
    "name-lines": "layout-transcript",
    "new-chat": "new-box",
    "own-states": "delivery",
    "polled-parts": "typewriter",
    "pop-up": "dialogs",
    "quoting": "parrot",
    "rate-limit": "error-bubble",
    "rebuilt": "virtualised",
    "receipts": "delivery",
    "redirecting": "reloading",
    "regenerated": "edits",
    "renamed": "plain",
    "right-to-left": "plain",
    "self-anchors": "rich",
    "shadow-open": "shadow-closed",
    "sidebar": "widget",
    "silent-error": "error-bubble",
    "stop-button": "aria-busy",
    "suggested-links": "rich",
    "suggestions": "rich",
    "swept": "lost-turn",
    "table-log": "layout-transcript",
    "thinking": "reasoning",
    "toast-sonner": "toast-notyf",
    "told-twice": "aria-busy",
    "toolbar": "rich",
    "two-chats": "new-box",
    "typed-log": "layout-transcript",
    "web-socket": "event-source",
    "words-faded-in": "typewriter",
}
"""Pages that are played under the marker `soak`, each with the one most like it, which is always played."""
MOST_PAGES = tuple(name for name in PAGES if name not in OTHER_LAYOUTS and name not in AKIN)

KEPT = (("page", "watch"), ("page",), ("reply", "watch"))
"""Exhibits of an answer, of which each group is enough to read it again."""


@pytest.fixture(scope="module")
def played() -> dict[str, list[Played]]:
    """Pages, by name, turn by turn."""
    with awkward_pages() as pages:
        return asyncio.run(play_all(pages, MOST_PAGES))


async def play_all(pages: Pages, names: Sequence[str]) -> dict[str, list[Played]]:
    """Play these pages, in windows of one browser: to start one for each would take most of the time."""
    browser = await Browser.launch(settings())
    places = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> list[Played]:
        async with places:
            return await play(browser, pages.url(name), [said(name, turn + 1) for turn in range(len(PAGES[name]))])

    try:
        return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))
    finally:
        await browser.close()


async def play(browser: Browser, url: str, turns: Sequence[str]) -> list[Played]:
    """What came of each turn on the page; of its opening, where it cannot be opened."""
    # A box that takes no text is waited for as long as an answer.
    seconds = 15.0 if url.endswith("stuck-composer") else 60.0
    driver = build_driver("browser", {"url": url, "timeout": seconds}, Surroundings("page", Path()))
    assert isinstance(driver, BrowserDriver)
    driver._relay = BrowserRotation(driver._settings, first=browser)
    outcomes: list[Played] = []
    try:
        session = await driver.open(Opening("page", "topic", 1, 1))
    except DriverError as fault:
        return [Played(fault)]
    try:
        for text in turns:
            try:
                outcomes.append(Played(await session.say(text)))
            except DriverError as fault:
                outcomes.append(Played(fault))
    finally:
        await session.close()
    return outcomes


@pytest.mark.parametrize("name", MOST_PAGES)
def test_page(played: Mapping[str, Sequence[Played]], name: str) -> None:
    """Each turn comes to what the page says, word for word and link by link."""
    outcomes = played[name]
    assert len(outcomes) == len(PAGES[name])
    for turn, (expected, came) in enumerate(zip(PAGES[name], outcomes, strict=True), 1):
        if expected == "answer":
            assert isinstance(came.outcome, Reply), (turn, came.outcome, came.watch())
            answer = came.outcome.turn.answer
            reply = reply_of("plain" if name in FRAMES else name, turn, said(name, turn))
            assert answer.text == reply.markdown, (turn, came.watch())
            assert [(link.text, link.href) for link in answer.links] == list(reply.links), turn
        else:
            kind, reason = FAULTS[expected]
            assert isinstance(came.outcome, kind), (turn, came.outcome)
            assert came.outcome.reason == reason, (turn, came.outcome)


def test_a_users_bubble_is_noted_if_its_lines_differ_from_the_turn(
    played: Mapping[str, Sequence[Played]],
) -> None:
    shown = {name: played[name][0].watch()["shown_as"] for name in ("plain", "user-markdown")}
    assert shown == {"plain": "", "user-markdown": said("user-markdown", 1).replace("**", "").replace("`", "")}


@pytest.mark.soak
@pytest.mark.parametrize("fonts", FONTS)
def test_every_page_is_read_the_same_with_any_fonts(fonts: str) -> None:
    with with_fonts(fonts), awkward_pages() as pages:
        others = asyncio.run(play_all(pages, tuple(PAGES)))
    for name in PAGES:
        test_page(others, name)


@pytest.mark.soak
def test_every_similar_page_is_read_and_read_again(tmp_path: Path) -> None:
    with awkward_pages() as pages:
        others = asyncio.run(play_all(pages, tuple(AKIN)))
    for name, like in AKIN.items():
        assert like in MOST_PAGES
        test_page(others, name)
    for number, exhibits in enumerate(KEPT):
        test_every_stored_answer_is_read_the_same(others, tmp_path / str(number), exhibits)


@pytest.mark.parametrize("exhibits", KEPT)
def test_every_stored_answer_is_read_the_same(
    played: Mapping[str, Sequence[Played]], tmp_path: Path, exhibits: tuple[str, ...]
) -> None:
    answered = {
        name: [(said(name, turn), one.outcome) for turn, one in enumerate(turns, 1) if isinstance(one.outcome, Reply)]
        for name, turns in played.items()
    }
    asyncio.run(keep_answers(tmp_path / "run", answered, exhibits=exhibits))
    again, _ = read_again(read(tmp_path / "run"))
    assert len(again) == sum(map(len, answered.values()))
    wrong = [(one.conversation.key.topic, one.turn.number, one.was.text, one.now, one.trouble) for one in again]
    assert [found for found, one in zip(wrong, again, strict=True) if one.now != one.was or one.refused] == []


@pytest.mark.soak
def test_every_layout_is_read_with_answers_of_any_kind_and_none() -> None:
    with awkward_pages() as pages:
        others = asyncio.run(play_all(pages, OTHER_LAYOUTS))
    for name in OTHER_LAYOUTS:
        test_page(others, name)
        test_a_bubble_without_words_is_not_an_answer(others, name.removeprefix("layout-"))
        for turn in (1, 3):
            test_a_short_answer_is_read_whatever_it_looks_like(others, name.removeprefix("layout-"), turn)


@pytest.mark.parametrize("turn", [1, 3])
@pytest.mark.parametrize("name", FEW_LAYOUTS)
def test_a_short_answer_is_read_whatever_it_looks_like(
    played: Mapping[str, Sequence[Played]], name: str, turn: int
) -> None:
    """The pages as they were kept, with another short answer in the place of the one that was given."""
    one = played[f"layout-{name}"][turn - 1]
    kept = {exhibit.name: exhibit.data.decode() for exhibit in one.outcome.exhibits if exhibit.name != "screenshot"}
    habits = Habits.from_json(one.watch()["habits"])
    wrong = {}
    for short in SHORT:
        page = parse_page(kept["page"].replace(ALONE, short))
        found = read_turn(page, said(f"layout-{name}", turn), habits=habits)
        if found.text != short:
            wrong[short] = found
    assert wrong == {}


@pytest.mark.parametrize("name", FEW_LAYOUTS)
def test_a_bubble_without_words_is_not_an_answer(played: Mapping[str, Sequence[Played]], name: str) -> None:
    """The name and the time that stand over an answer to come are none, nor where it never comes."""
    one = played[f"layout-{name}"][2]
    source = next(exhibit.data.decode() for exhibit in one.outcome.exhibits if exhibit.name == "page")
    found = read_turn(
        parse_page(source.replace(ALONE, "")), said(f"layout-{name}", 3), habits=Habits.from_json(one.watch()["habits"])
    )
    assert (found.text, found.doubtful) == ("", None)


async def test_a_site_file_whose_selector_matches_nothing_is_reported_as_wrong() -> None:
    """What a site names is used instead of searching: an answer found by another way would hide the mistake."""
    with awkward_pages() as pages:
        options = {"url": pages.url("plain"), "site": {"reply": ".no-such-bubble"}}
        driver = build_driver("browser", options, Surroundings("page", Path()))
        session = await driver.open(Opening("page", "topic", 1, 1))
        try:
            with pytest.raises(Unanswered, match=r"site-mismatch: the site's reply '\.no-such-bubble'"):
                await session.say("Question about the plain page?")
        finally:
            await session.close()
            await driver.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"proxy": "nonsense"}, "is not the URL of a proxy"),
        ({"proxy": "http://h:notaport"}, "is not the URL of a proxy"),
        ({"proxy": "http://user:word@h:1"}, "must not be written in a file"),
        ({"timezone": "Mars/Base"}, "'Mars/Base' is not a time zone"),
        ({"locale": "non sense"}, "'non sense' is not a locale"),
        ({"user_agent": "a\nb"}, "one line of text"),
        ({"url": "ftp://h/"}, "http:// or https://"),
    ],
)
def test_unusable_settings_are_refused_before_a_browser_is_started(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        build_driver("browser", {"url": "http://127.0.0.1/#/chat", **options}, Surroundings("page", Path()))
