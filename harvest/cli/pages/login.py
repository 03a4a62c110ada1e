"""`harvest pages login`: open a window in which a person logs in, and store the session in a file."""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from harvest.cli.interruption import run_until_stopped
from harvest.cli.parameters import PathArgument
from harvest.drivers.browser import Options, browser_settings
from harvest.pages.browser.installed import find_browser
from harvest.pages.browser.login import keep_login, log_in, read_secrets
from harvest.pages.browser.process import Browser, find_playwright_browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.sites.site import load_site
from harvest.systems.driver import Surroundings
from harvest.terminal import print_message
from topics.document import Document
from topics.errors import InputError, Place
from topics.yaml_values import Loc

_LOAD_TIMEOUT = 120.0  # seconds, since a person can see the cause of a delay


@click.command()
@click.argument("site", metavar="SITE_OR_URL")
@click.option("--out", type=PathArgument(), metavar="FILE", help="The file to write [default: NAME.login.json].")
@click.option("--proxy", metavar="URL|env:NAME", help="The driver's option of this name.")
@click.option("--locale", metavar="TAG", help="The driver's option `locale`, such as ja-JP.")
@click.option("--timezone", metavar="NAME", help="The driver's option `timezone`, such as Asia/Tokyo.")
@click.option("--viewport", default="1280x800", show_default=True, help="The driver's option of this name.")
@click.option("--user-agent", metavar="TEXT", help="The driver's option of this name.")
def command(
    site: str,
    out: Path | None,
    **options: str | None,
) -> None:
    """Open a window to log in by hand, and store the log-in in a file.

    SITE_OR_URL is the page's address, or a site file that contains the address. Log in as usual, then press Enter in
    the terminal or close the window. Cookies and storage are written to FILE (mode 600), for the option `login` of
    the browser driver. If FILE already contains a log-in, that log-in is loaded and renewed.

    Give the same options as the audit, because some sites tie a log-in to them.
    """
    url, name = site, ""
    if not re.match(r"https?://", site):
        if "://" in site or not Path(site).exists():
            raise InputError(f"{site!r} is neither a URL nor a file", allowed="https://…, or a site file")
        described = load_site(site)
        if described.url is None:
            raise InputError("the site file has no `url`", place=Place(site), advice="give the page's address instead")
        url, name = described.url, Path(site).stem
    checked = _driver_options(url, options)
    name = name or urlsplit(url).hostname or ""
    given = browser_settings(checked, Surroundings(name, Path()))
    target = out or Path(f"{name}.login.json")
    known = _check_target(target)
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise InputError(
            "this machine has no screen on which to open a window",
            advice="log in on a machine with a screen and copy the file here (chmod 600), or connect with ssh -X",
        )
    settings = replace(
        given,
        executable=find_browser(os.environ, own=find_playwright_browser).path,
        headless=False,
        by_hand=True,
        storage_state=target if known else None,
    )
    state = run_until_stopped(wait_for_login(settings, url, _wait_for_enter))
    cookies, origins = state["cookies"], [one for one in state["origins"] if one.get("localStorage")]
    if not cookies and not any(one.get("localStorage") or one.get("indexedDB") for one in state["origins"]):
        raise InputError("the page stored neither cookies nor data, so there is no log-in to keep")
    keep_login(target, state)
    told = f"kept {len(cookies)} cookies and the storage of {len(origins)} sites in {target}, which only you can read"
    print_message(told)
    print_message("anyone who has this file is logged in as you: keep it out of git, and delete it when you are done")
    click.echo(f"in the audit: options: {{…, login: {target.name}}}", err=True)


async def wait_for_login(
    settings: BrowserSettings, url: str, done: Callable[[], Coroutine[Any, Any, None]]
) -> dict[str, Any]:
    """Return the browser's cookies and storage once the person has finished. Raises DriverError."""
    browser = await Browser.launch(settings)
    try:
        window = await browser.open_window(settings)
        await window.goto(url, _LOAD_TIMEOUT)
        print_message(f"log in at {url} in the window, then press Enter here, or close the window")
        return await log_in(window, done)
    finally:
        await browser.close()


async def _wait_for_enter() -> None:
    loop, pressed = asyncio.get_running_loop(), asyncio.Event()
    keyboard = sys.stdin.fileno()

    def readable() -> None:
        typed = os.read(keyboard, 4096)
        if b"\n" in typed:
            pressed.set()
        elif not typed:
            loop.remove_reader(keyboard)

    with contextlib.suppress(OSError):  # a plain file cannot be waited for
        loop.add_reader(keyboard, readable)
    try:
        await pressed.wait()
    finally:
        loop.remove_reader(keyboard)


def _driver_options(url: str, given: dict[str, str | None]) -> Options:
    value: dict[str, object] = {"url": url, **{name: text for name, text in given.items() if text is not None}}
    proxy = given.get("proxy")
    if proxy is not None and proxy.startswith("env:"):
        value["proxy"] = {"env": proxy.removeprefix("env:")}
    marks: dict[Loc, tuple[int, int]] = {(name,): (1, 1) for name in value}  # so that an error names its option
    marks["proxy", "env"] = (1, 1)
    try:
        return Document("", value, marks, marks).validate_as(Options)
    except InputError as fault:
        raise InputError(fault.what, allowed=fault.allowed, advice=fault.advice) from None


def _check_target(target: Path) -> bool:
    """Return True if the file already contains a log-in. Raises InputError if no log-in may be stored there."""
    folder = Path(os.path.realpath(target)).parent
    run = next((one for one in (folder, *folder.parents) if (one / "run.json").exists()), None)
    if run is not None:
        advice = "choose another path with --out, as a log-in must never be part of a recording"
        raise InputError(
            f"a log-in must not be stored inside the run folder {run}", place=Place(str(target)), advice=advice
        )
    if not target.exists():
        return False
    try:
        read_secrets(target)
    except InputError as fault:
        advice = fault.advice if fault.advice and "chmod" in fault.advice else "choose another file with --out"
        raise InputError(fault.what, place=fault.place, advice=advice) from None
    return True
