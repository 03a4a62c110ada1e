"""The browser of the tests that need no other than any."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from harvest.pages.browser.process import Browser
from tests.support.browsing import browsing


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Started once a process: to start one for each file takes longer than most of what is done in it."""
    async with browsing() as started:
        yield started
