"""How long a call to a page may take, on a clock that is stepped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from harvest.pages.browser.call_guard import CallGuard, ignore_errors
from harvest.systems.driver import Unanswered
from tests.support.stepping import Stepped


class TargetClosedError(Exception):
    """As Playwright names what comes of a call to a page that has gone."""


def guarded(work: Callable[[CallGuard], Coroutine[Any, Any, Any]]) -> tuple[float, str]:
    """(seconds, reason) after which a call is given up."""
    stepped = Stepped()

    async def call() -> None:
        await work(CallGuard(lambda: True, Exception))

    with pytest.raises(Unanswered) as fault:
        stepped.run(call())
    return stepped.seconds, fault.value.reason


async def silent(seconds: float = 3600.0) -> None:
    await asyncio.sleep(seconds)


def test_a_page_without_activity_for_a_minute_has_hung_and_is_not_asked_again() -> None:
    assert guarded(lambda guard: guard.run(silent())) == (60, "page-hung")

    async def twice(guard: CallGuard) -> None:
        with pytest.raises(Unanswered, match="page-hung"):
            await guard.run(silent())
        await guard.run(silent())

    assert guarded(twice) == (60, "page-hung")


def test_a_page_that_reacts_within_its_time_has_not_hung() -> None:
    async def call() -> int:
        async def slow() -> int:
            await silent(59)
            return 7

        return await CallGuard(lambda: True, Exception).run(slow())

    assert Stepped().run(call()) == 7


def test_the_silence_of_a_frame_is_not_that_of_its_page() -> None:
    async def frame_then_page(guard: CallGuard) -> None:
        with pytest.raises(Unanswered, match="frame-silent: a frame of the page did not respond within 10 s"):
            await guard.run(silent(), 10, apart=True)
        assert guard.gone is None
        await guard.run(silent(), 60)

    assert guarded(frame_then_page) == (70, "page-hung")


def test_a_closing_page_ends_a_call_at_once() -> None:
    async def crashes(guard: CallGuard) -> None:
        asyncio.get_running_loop().call_later(3, guard.note_end, "page-crashed")
        await guard.run(silent(), 60)

    assert guarded(crashes) == (3, "page-crashed")


@pytest.mark.parametrize(("news", "seconds", "reason"), [(0.5, 0.5, "page-closed"), (2.0, 1.0, "browser-gone")])
def test_the_news_of_a_closed_page_may_come_a_second_after_the_error_it_causes(
    news: float, seconds: float, reason: str
) -> None:
    async def closed() -> None:
        raise TargetClosedError

    async def ends(guard: CallGuard) -> None:
        asyncio.get_running_loop().call_later(news, guard.note_end, "page-closed")
        await guard.run(closed(), 60)

    assert guarded(ends) == (seconds, reason)


def test_cleaning_up_is_abandoned_after_five_seconds() -> None:
    stepped = Stepped()
    stepped.run(ignore_errors(silent()))
    assert stepped.seconds == 5
