"""A driver for chat systems on web pages, which uses a real browser as a person would.

The driver runs one browser at a time and gives each session its own context (cookies, storage and page). So the site
does not recognise a fresh session, and a continued session keeps its page. If a site forbids automation, Harvest does
not pretend to be human.
"""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, model_validator

from harvest.drivers.options import FromEnvironment, Proxy, Seconds, Text, resolve_text
from harvest.pages.browser.installed import find_browser
from harvest.pages.browser.login import read_secrets
from harvest.pages.browser.process import find_playwright_browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.pages.chats.chat import Chat, ChatAnswer, Manners
from harvest.pages.chats.completion import Patience
from harvest.pages.chats.experience import Experience
from harvest.pages.sites.site import Address, Site, load_site
from harvest.pages.witness.judgement import SiteKnowledge
from harvest.systems.driver import Capabilities, DriverError, Opening, Reply, Session, Surroundings
from harvest.systems.exposure import is_this_machine
from protocols.answer import Answer, Offer
from recordings.conversations.conversation import SystemTurn
from topics.document import StrictModel, form_validator, validation_error
from topics.errors import InputError
from topics.sent_files import SentFile

# Default seconds from one turn to the next; a site on this machine needs none.
PACE = 2.0

# Answers of a site with more time: links may come after the words. Only one conversation's end is waited for.
_TRIED_ANSWERS = 2

_GREETING_SECONDS = 10.0  # seconds for a page that speaks first to begin

_PROXIES = ("http", "https", "socks5")
_PROXY_FORMS = "http://host:port, https://host:port or socks5://host:port"
_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}")

EvidenceKind = Literal["screenshot", "reply", "page", "watch"]


def _is_proxy(address: str) -> bool:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in _PROXIES and bool(parts.hostname)


def _check_proxy(value: Text) -> Text:
    if isinstance(value, str) and not _is_proxy(value):
        raise validation_error(f"the value is not the URL of a proxy: write {_PROXY_FORMS}")
    return value


def _check_timezone(name: str) -> str:
    known = available_timezones()
    if known and name not in known:
        raise validation_error(f"{name!r} is not a time zone: write a name such as Asia/Tokyo")
    return name


def _check_locale(name: str) -> str:
    if not _LOCALE.fullmatch(name):
        raise validation_error(f"{name!r} is not a locale: write a code such as ja-JP")
    return name


def _check_line(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > 1000:
        raise validation_error("the value must be one line of text with at most 1,000 characters")
    return text


class Options(StrictModel):
    """Options of a chat on a web page."""

    url: Address | None = Field(None, description="the page; needed unless the site names it")
    site: str | Site | None = Field(
        None,
        description="a site file, or its fields inline: see [sites](sites.md); not given: the page is searched",
    )
    login: str | None = Field(
        None, description="the file in which `harvest pages login` kept a log-in; relative to the audit file"
    )
    headed: bool = Field(False, description="show the browser's window")
    proxy: Annotated[Proxy, AfterValidator(_check_proxy)] | None = Field(
        None, description="URL of a proxy for all pages, or `{env: NAME}`"
    )
    locale: Annotated[str, AfterValidator(_check_locale)] | None = Field(
        None, description="language and region that the browser requests, such as `ja-JP`"
    )
    timezone: Annotated[str, AfterValidator(_check_timezone)] | None = Field(
        None, description="time zone the page sees, such as `Asia/Tokyo`"
    )
    viewport: Annotated[
        str, form_validator(r"[1-9][0-9]{2,3}x[1-9][0-9]{2,3}", "WIDTHxHEIGHT, such as 1280x800, each 100 to 9999")
    ] = Field("1280x800", description="width and height of the page in CSS pixels")
    user_agent: Annotated[str, AfterValidator(_check_line)] | None = Field(
        None, description="user agent that the browser reports; by default its own"
    )
    timeout: Seconds = Field(
        240.0, description="seconds for a complete answer; what has arrived by then is kept as evidence"
    )
    open_timeout: Seconds = Field(60.0, description="seconds to load the page and find the text field")
    greets: bool = Field(
        False, description="the page speaks first: what it says and offers before the first turn is recorded"
    )
    evidence: tuple[EvidenceKind, ...] = Field(
        ("screenshot", "reply", "page", "watch"),
        description="evidence of each turn to keep: a picture, the HTML of the answer and the page, how it ended",
    )
    witness: bool = Field(True, description="also read each answer from what the page receives, and report differences")
    trace: Literal["never", "failure"] = Field(
        "never", description="`failure`: keep Playwright's trace of a conversation that fails"
    )

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if self.url is None and self.site is None:
            raise validation_error(
                "the option `url` is missing: give the address of the page, or a site file that has one"
            )
        return self


def browser_settings(options: Options, surroundings: Surroundings) -> BrowserSettings:
    """Return the settings of a browser and its identity, without the choice of browser, the log-in and the secrets.
    Raises InputError if the proxy's environment variable is not set or does not contain a proxy. The error does not
    repeat the value."""
    proxy = resolve_text(options.proxy, surroundings) if options.proxy is not None else None
    if proxy is not None and not _is_proxy(proxy):
        variable = options.proxy.env if isinstance(options.proxy, FromEnvironment) else ""
        raise InputError(
            f"system {surroundings.system!r}: the environment variable {variable} does not contain the URL of a proxy",
            allowed=_PROXY_FORMS,
            advice="within a user name or password, write %40 for @, %2F for /, %3A for : and the like",
        )
    width, _, height = options.viewport.partition("x")
    return BrowserSettings(
        headless=not options.headed,
        proxy=proxy,
        locale=options.locale,
        timezone=options.timezone,
        viewport=(int(width), int(height)),
        user_agent=options.user_agent,
        trace=options.trace == "failure",
    )


class BrowserDriver:
    """Driver that starts the browser for the first session, and again after the browser has died. `url` is the page to
    open."""

    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        self.options = options
        site = options.site or Site.model_validate({})
        if isinstance(site, str):
            site = load_site(surroundings.folder / site)
        url = options.url or site.url
        if url is None:
            raise InputError(f"system {surroundings.system!r}: neither its options nor its site file name a url")
        self.url, self._site = url, site
        found = find_browser(surroundings.environment, own=find_playwright_browser)
        login = None
        if options.login is not None:  # its secrets are registered before the settings ask for them
            login = surroundings.folder / options.login
            surroundings.secrets.update(read_secrets(login))
        self._settings = replace(
            browser_settings(options, surroundings),
            executable=found.path,
            storage_state=login,
            secrets=frozenset(surroundings.secrets),
            witness=options.witness,
        )
        quiet = {} if site.quiet is None else dict.fromkeys(("covered", "brief", "loose", "alone"), site.quiet)
        self._manners = Manners(
            patience=Patience(**quiet),
            evidence=frozenset(options.evidence),
            # A logged-in user finds the last conversation still open.
            afresh=options.login is not None or site.new_chat is not None,
            login=login,
            open_seconds=options.open_timeout,
            answer_seconds=options.timeout,
        )
        self._signed_in = login is not None
        self._experience = Experience(asks_on=True, speaks_alone=True)
        if site.quiet is None:  # the author of the option knows the site's polls and placeholders
            self._experience = Experience(untried=_TRIED_ANSWERS, unsettled=1)
        self._relay = BrowserRotation(self._settings, clock=surroundings.clock)
        self._met = SiteKnowledge()

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of a page, which is stateful because it keeps its conversation. The pace is the delay in
        the site file. If that file sets no delay, the pace is 0 for a site on this machine and `PACE` for any other
        site."""
        pace = self._site.delay
        if pace is None:
            pace = 0.0 if is_this_machine(urlsplit(self.url).hostname) else PACE
        visitor = "without a log-in each session is another visitor (option `login`, see `harvest pages login`)"
        return Capabilities(
            stateful=True,
            pace=pace,
            no_return="" if self._signed_in else visitor,
            tokens=False,
            presses=True,
            greets=self.options.greets,
            attaches=("*/*",),  # only the open page knows what it takes
        )

    async def open(self, opening: Opening) -> Session:
        """Open the page in a new context and wait until a turn can be typed. Raises DriverError if that fails."""
        window = await self._relay.open_window()
        chat = Chat(window, self._site, self._manners, self._experience, self._met)
        try:
            await chat.open(self.url)
            greeting = await chat.greeting(_GREETING_SECONDS) if self.options.greets else None
        except BaseException as fault:
            if isinstance(fault, DriverError):
                fault.exhibits += await chat.failure()
            await self._relay.leave(window)
            raise
        return _Session(self._relay, window, chat, greeting)

    async def close(self) -> None:
        await self._relay.close()


class _Session:
    def __init__(self, relay: BrowserRotation, window: Window, chat: Chat, greeting: Answer | None) -> None:
        self._relay, self._window, self._chat, self.greeting = relay, window, chat, greeting

    async def say(self, text: str) -> Reply:
        async with self._keep_evidence():
            return self._reply(await self._chat.say(text))

    async def press(self, offer: Offer) -> Reply:
        """Press the button in the last answer. Raises DriverError as `Chat.press` does."""
        async with self._keep_evidence():
            return self._reply(await self._chat.press(offer))

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        """Give the page the files and send the words with them. Raises DriverError as `Chat.say` does."""
        async with self._keep_evidence():
            return self._reply(await self._chat.say(text, files))

    async def settle(self) -> None:
        async with self._keep_evidence():
            await self._chat.settle()

    async def close(self) -> None:
        await self._relay.leave(self._window)

    @asynccontextmanager
    async def _keep_evidence(self) -> AsyncIterator[None]:
        try:
            yield
        except DriverError as fault:
            kept = {one.name for one in fault.exhibits}
            fault.exhibits += tuple(one for one in await self._chat.failure() if one.name not in kept)
            raise

    def _reply(self, said: ChatAnswer) -> Reply:
        turn = SystemTurn(
            said.answer,
            said.asked_at,
            said.first,
            said.last,
            finish=said.finish,
            ended=said.ended,
            sent_as=said.sent_as,
            notes=said.notes,
        )
        heard, self.greeting = self.greeting, None
        return Reply(turn.after_greeting(heard), said.exhibits)


def build(options: Options, surroundings: Surroundings) -> BrowserDriver:
    """Build the driver. Raises InputError if the browser, the site file or the log-in file does not exist."""
    return BrowserDriver(options, surroundings)


def further(options: Options, folder: Path) -> Iterator[Site]:
    """Yield the site file, which may name the page to open. Raises InputError if the file does not exist."""
    if isinstance(options.site, str):
        yield load_site(folder / options.site)


def files(options: Options, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the site file. The log-in file is left out, because renewing the log-in does not change the system."""
    if isinstance(options.site, str):
        yield options.site, folder / options.site
