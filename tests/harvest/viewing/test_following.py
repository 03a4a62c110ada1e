"""What a page is told of runs that begin, go on, end, are killed and resumed by real processes."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from harvest.viewing import following
from harvest.viewing.following import Follower
from harvest.viewing.listing import Listing
from tests.support.checkout import ROOT
from tests.support.viewed_folder import USEFUL, playing

SAMPLE = ROOT / "recordings" / "samples" / "run-1"
News = dict[str, Any]


class Page:
    """What a page knows after the news so far."""

    def __init__(self, news: AsyncIterator[News]) -> None:
        self._news = news
        self.runs: dict[str, News] = {}
        self.live: dict[str, News] = {}

    async def until(self, true: Callable[[], Any], seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not true():
                news = await anext(self._news)
                self.runs |= {one["path"]: one for one in news.get("runs", ())}
                paths = {one["key"]: path for path, one in self.runs.items()}
                self.live |= {paths[one["key"]]: one for one in news.get("live", ())}
                for key in news.get("gone", ()):
                    del self.runs[paths[key]]

    def counts(self, path: str) -> tuple[Any, ...]:
        found = self.runs[path]["counts"]
        return (found["done"], found["planned"], found["left"], found["invalid"])


@contextlib.asynccontextmanager
async def followed(folder: Path) -> AsyncIterator[tuple[Follower, Page]]:
    follower = Follower(Listing(folder))
    task = asyncio.create_task(follower.follow())
    try:
        yield follower, Page(follower.news())
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_run_is_followed_from_its_beginning_over_its_death_to_its_end(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    async with followed(folder) as (follower, page):
        run = folder / "sub" / "new"
        with playing(tmp_path / "bot", run, [USEFUL, USEFUL, "no", "break"]) as player:
            await page.until(lambda: "sub/new" in page.live)
            assert page.runs["sub/new"]["playing"]
            assert page.counts("sub/new") == (0, 6, 6, 0)
            assert page.live["sub/new"]["due"] is None
            player.allow(1)
            await page.until(lambda: [one[4] for one in page.live["sub/new"]["attempts"]] == [["o"]])
            player.allow(3)
            await page.until(
                lambda: (
                    [one[4:6] for one in page.live["sub/new"]["attempts"]] == [[["x"], ""], [["o", "o"], "completed"]]
                )
            )
            assert page.live["sub/new"]["systems"] == [["A", 6, 1, 0, [["o", 2], ["x", 1]]]]
            player.allow(4)
            await page.until(lambda: page.live["sub/new"]["failures"])
            assert page.live["sub/new"]["systems"] == [["A", 6, 1, 1, [["o", 2]]]]
            player.allow(5)
            await page.until(lambda: page.live["sub/new"]["attempts"][0][4] == ["o"])
            player.kill()
            await page.until(lambda: not page.runs["sub/new"]["playing"])
            assert page.counts("sub/new") == (1, 6, 5, 1)
            assert page.runs["sub/new"]["counts"]["labels"] == [["o", 2]]
        with playing(tmp_path / "bot", run, [USEFUL]) as player:
            await page.until(lambda: page.runs["sub/new"]["playing"])
            player.allow(100)
            await page.until(lambda: not page.runs["sub/new"]["playing"])
            assert player.process.wait() == 0
        assert page.counts("sub/new")[:3] == (6, 6, 0)
        found = await follower.details(str(page.runs["sub/new"]["key"]))
        assert found is not None
        assert [one[5] for one in found["attempts"]].count("") == 1, "the interrupted one"  # type: ignore[attr-defined]
        shutil.rmtree(run)
        await page.until(lambda: not page.runs)


async def test_a_resumed_run_among_many_is_noticed_while_another_is_played(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(following, "_FEWEST", 1)
    monkeypatch.setattr(following, "_MOST_RECENT", 2)
    monkeypatch.setattr(following, "_PAUSE", 0.01)
    folder = tmp_path / "all"
    with playing(tmp_path / "old", folder / "old", [USEFUL]) as player:
        while not any((folder / "old").glob("trials-*")):  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.05)
        player.kill()
    for name in "abcdef":
        shutil.copytree(SAMPLE, folder / name)
    async with followed(folder) as (_, page):
        with playing(tmp_path / "new", folder / "new", [USEFUL]) as other:
            other.allow(1)
            await page.until(lambda: page.live.get("new", {}).get("attempts"))
            assert not page.runs["old"]["playing"]
            with playing(tmp_path / "old", folder / "old", [USEFUL]) as player:
                player.allow(2)
                await page.until(lambda: page.runs["old"]["playing"])
                await page.until(lambda: page.live["old"]["systems"][0][2])
            await page.until(lambda: not page.runs["old"]["playing"])
            assert page.runs["new"]["playing"]


async def test_all_runs_are_counted_and_a_page_that_comes_later_is_told_everything(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(SAMPLE, tmp_path / name)
    async with followed(tmp_path) as (follower, page):
        await page.until(lambda: len(page.runs) == 2 and all(one["counts"] for one in page.runs.values()))
        assert page.counts("a") == page.counts("b")
        later = Page(follower.news())
        await later.until(lambda: later.runs)
        assert later.runs == page.runs


async def test_a_page_that_reads_no_news_is_disconnected(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(following, "_MOST_WAITING", 2)
    monkeypatch.setattr(following, "_BATCH", 1)
    for name in "abcdef":
        shutil.copytree(SAMPLE, tmp_path / name)
    async with followed(tmp_path) as (follower, page):
        idle = follower.news()
        await anext(idle)
        await page.until(lambda: len(page.runs) == 6 and all(one["counts"] for one in page.runs.values()))
        async with asyncio.timeout(10):
            left = [one async for one in idle]
        assert len(left) <= 2


async def test_nothing_is_read_while_no_page_is_open(tmp_path: Path, monkeypatch: Any) -> None:
    looked: list[str] = []

    def is_stale(_: Listing) -> bool:
        looked.append("")
        return False

    monkeypatch.setattr(Listing, "is_stale", is_stale)
    monkeypatch.setattr(following, "_PAUSE", 0.01)
    async with followed(tmp_path) as (follower, _):
        await asyncio.sleep(0.2)
        assert looked == []
        news = follower.news()
        await anext(news)
        while not looked:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        await news.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0.05)
        before = len(looked)
        await asyncio.sleep(0.2)
        assert len(looked) == before
