"""Web pages, fetched politely: only as robots.txt allows, one at a time from each host, with pauses. Fetched pages are
stored.

An address that a system made up may lead anywhere, also into the network of this machine. So only hosts with public
addresses are asked, unless `private` allows others; and only GET requests are sent, without cookies or keys.
"""

import asyncio
import hashlib
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from harvest.drivers.options import WireOptions
from harvest.drivers.received import Received
from harvest.drivers.wire import Request, Wire
from harvest.systems.driver import DriverError, Surroundings
from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.files.evidence import write_safely
from recordings.files.times import stamp

AGENT = "conversation-harvest"
_MOST_HOPS = 5  # redirects
_MOST_TEXT = 1_000_000  # characters of a page that are kept
_AT_ONCE = 4  # hosts
_PAUSE = 1.0  # seconds between two requests to a host
_GONE = frozenset({404, 410})
_BLOCKED = frozenset({401, 402, 403, 407, 429, 451})


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The result of fetching an address.

    `outcome` is `exists` (a page came), `gone` (the server says that there is no page, or there is no such host),
    `blocked` (robots.txt, a log-in or a limit keeps programs away, which says nothing about the page), or `unknown` (a
    fault, or an address that may not be requested). `why` is a short reason, `text` the words of the page, `at` the
    time.
    """

    url: str
    outcome: str
    why: str
    at: str
    text: str = ""


# Looks at an address. Never raises.
Fetch = Callable[[str], Awaitable[FetchedPage]]


@dataclass
class PageFetcher:
    """Fetches pages politely, and stores the results in `folder`, so that no page is fetched twice.

    `pause` is the number of seconds between two requests to a host; a longer Crawl-delay of its robots.txt counts.
    `private` allows hosts of this machine and of its network.
    """

    folder: Path
    pause: float = _PAUSE
    private: bool = False
    clock: Clock = REAL_CLOCK
    _wire: Wire | None = None
    _robots: dict[str, RobotFileParser | str] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)

    async def look(self, url: str) -> FetchedPage:
        """Return the stored result for an address, or fetch it now. Never raises."""
        file = self.folder / f"{hashlib.blake2b(url.encode(), digest_size=16).hexdigest()}.json"
        try:
            return FetchedPage(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            pass
        found = await self._fetch(url)
        if found.outcome != "unknown":  # a fault may be over next time
            self.folder.mkdir(parents=True, exist_ok=True)
            write_safely(file, json.dumps(asdict(found), ensure_ascii=False).encode("utf-8", "replace"))
        return found

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()

    async def _fetch(self, url: str) -> FetchedPage:
        at = stamp(self.clock.now())
        where = url
        try:
            for _ in range(_MOST_HOPS + 1):
                refused = await self._refusal(where)
                if refused is not None:
                    return replace(refused, url=url, at=at)
                received = await self._ask(where)
                location = received.header("location") if 300 <= received.status < 400 else ""
                if not location:
                    return self._judge(url, at, received)
                where = urljoin(where, location)
        except DriverError as fault:
            return FetchedPage(url, "gone" if fault.reason == "dns" else "unknown", fault.reason, at)
        except (ValueError, OSError) as fault:
            return FetchedPage(url, "unknown", type(fault).__name__, at)
        return FetchedPage(url, "unknown", f"more than {_MOST_HOPS} redirects", at)

    async def _refusal(self, url: str) -> FetchedPage | None:
        """Return why an address is not asked for, or None if it may be."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return FetchedPage(url, "unknown", "no web address", "")
        try:
            found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, None, type=socket.SOCK_STREAM)
        except OSError:
            return FetchedPage(url, "gone", "no such host", "")
        if not self.private and not all(ipaddress.ip_address(one[4][0]).is_global for one in found):
            return FetchedPage(url, "unknown", "not a public host", "")
        robots = await self._rules(f"{parts.scheme}://{parts.netloc}")
        if isinstance(robots, str):
            return FetchedPage(url, "unknown", robots, "")
        return None if robots.can_fetch(AGENT, url) else FetchedPage(url, "blocked", "robots.txt", "")

    async def _rules(self, origin: str) -> RobotFileParser | str:
        """Return the rules of a host's robots.txt, or why they are not known: its pages are then not asked for."""
        if origin not in self._robots:
            rules = RobotFileParser()
            try:
                received = await self._ask(f"{origin}/robots.txt")
                if received.status in (401, 403):
                    rules.disallow_all = True  # type: ignore[attr-defined]
                elif received.status >= 500:
                    self._robots[origin] = f"robots.txt: {received.status}"
                    return self._robots[origin]
                else:
                    there = received.status == 200
                    rules.parse(received.body.decode("utf-8", "replace").splitlines() if there else [])
            except DriverError as fault:
                self._robots[origin] = fault.reason
                return self._robots[origin]
            self._robots[origin] = rules
        return self._robots[origin]

    async def _ask(self, url: str) -> Received:
        """Send one request, after the pause of its host."""
        parts = urlsplit(url)
        host, rules = parts.netloc, self._robots.get(f"{parts.scheme}://{parts.netloc}")
        delay = rules.crawl_delay(AGENT) if isinstance(rules, RobotFileParser) else None
        wait = self._last.get(host, -1e9) + max(self.pause, float(delay or 0)) - self.clock.monotonic()
        if wait > 0:
            await self.clock.sleep(wait)
        if self._wire is None:
            limits = WireOptions.model_validate({"timeout": 30.0, "connect_timeout": 10.0, "max_reply": 4 * 2**20})
            self._wire = Wire(limits, Surroundings("look-up", self.folder))
        try:
            return await self._wire.ask(Request("GET", url, {"User-Agent": AGENT}))
        finally:
            self._last[host] = self.clock.monotonic()

    def _judge(self, url: str, at: str, received: Received) -> FetchedPage:
        status = received.status
        if status in _GONE:
            return FetchedPage(url, "gone", str(status), at)
        if status in _BLOCKED:
            return FetchedPage(url, "blocked", str(status), at)
        if not 200 <= status < 300:
            return FetchedPage(url, "unknown", str(status), at)
        text = received.body.decode(received.charset or "utf-8", "replace") if _is_text(received) else ""
        words = page_words(text) if "html" in received.media_type else text
        return FetchedPage(url, "exists", str(status), at, words[:_MOST_TEXT])


async def look_at(urls: Iterable[str], fetch: Fetch) -> dict[str, FetchedPage]:
    """Fetch every address once: the addresses of one host one after the other, and several hosts at a time."""
    by_host: dict[str, list[str]] = {}
    for url in dict.fromkeys(urls):
        by_host.setdefault(urlsplit(url).netloc, []).append(url)
    found: dict[str, FetchedPage] = {}
    gate = asyncio.Semaphore(_AT_ONCE)

    async def of_host(own: list[str]) -> None:
        async with gate:
            for url in own:
                found[url] = await fetch(url)

    async with asyncio.TaskGroup() as group:
        for own in by_host.values():
            group.create_task(of_host(own))
    return found


def _is_text(received: Received) -> bool:
    return received.media_type.startswith("text/") or received.media_type.endswith(("html+xml", "xml", "json"))


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "template", "noscript")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= self._hidden > 0 and tag in ("script", "style", "template", "noscript")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def page_words(html: str) -> str:
    """Return the words of a page, without scripts and styles."""
    reader = _Words()
    reader.feed(html)
    reader.close()
    return " ".join(" ".join(reader.parts).split())
