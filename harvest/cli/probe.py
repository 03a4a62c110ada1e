"""`harvest probe`: look at a chat page, say one harmless thing, and draft a site file."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harvest.terminal import shown
from topics.errors import InputError

if TYPE_CHECKING:
    from harvest.chats.probe import Probed

__all__ = ["command"]


@click.command()
@click.argument("url", metavar="URL")
@click.option("--out", metavar="SITE.yaml", type=click.Path(path_type=Path), help="Write the draft here.")
@click.option("--screenshot", metavar="FILE.png", type=click.Path(path_type=Path), help="A picture, parts outlined.")
@click.option("--message", metavar="TEXT", default="Hello", show_default=True, help="What is said, once.")
@click.option("--login", metavar="FILE", type=click.Path(path_type=Path), help="A log-in that `harvest login` kept.")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(1, 3600), default=120.0, show_default=True)
@click.option("--headed", is_flag=True, help="Show the browser's window.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    url: str,
    out: Path | None,
    screenshot: Path | None,
    message: str,
    login: Path | None,
    timeout: float,
    headed: bool,
    as_json: bool,
) -> int:
    """Look at a chat page, say one thing, draft a site file.

    You must have the right to audit the page. Without --out and --json the draft goes to standard output.
    """
    _check(url, message, out, screenshot, login)
    found = asyncio.run(_probed(url, message, login, timeout, headed))
    useful = any(one.field == "composer" for one in found.findings)
    try:
        if out is not None and useful:
            out.write_text(found.draft, encoding="utf-8")
        if screenshot is not None and found.picture is not None:
            screenshot.write_bytes(found.picture)
    except OSError:
        # The page was asked once; what came of it must not be lost with a file that cannot be written.
        click.echo(found.draft, nl=False)
        raise
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    elif out is None and useful:
        click.echo(found.draft, nl=False)
    _tell(found, out if useful else None, screenshot)
    return 0 if found.fault is None else 2


def _check(url: str, message: str, out: Path | None, screenshot: Path | None, login: Path | None) -> None:
    from harvest.browser.login import secrets_of
    from harvest.sites.description import site_of

    try:
        site_of({"url": url})
    except InputError as fault:
        raise InputError(
            fault.what.removeprefix("url: "), advice="write the whole address, such as https://chat.example.org/"
        ) from None
    if not message.strip():
        raise InputError("--message is empty", advice="say something harmless, such as Hello")
    for path in (out, screenshot):
        if path is not None and path.exists():
            raise InputError(f"{path} is there already", advice="choose another name, or remove it")
        if path is not None and not path.parent.is_dir():
            raise InputError(f"{path.parent} is no folder", advice="make it first")
    if login is not None:
        secrets_of(login)


async def _probed(url: str, message: str, login: Path | None, seconds: float, headed: bool) -> Probed:
    from harvest.browser.installed import find_browser
    from harvest.browser.settings import BrowserSettings
    from harvest.browser.window import Browser, own_browser
    from harvest.chats.chat import Manners
    from harvest.chats.probe import probe
    from harvest.delivery import unforeseen

    found = find_browser(os.environ, own=own_browser)
    click.echo(f"opening {url} in {found.path.name}, saying {message!r}, waiting for the answer …", err=True)
    settings = BrowserSettings(executable=found.path, headless=not headed, storage_state=login)
    browser = await Browser.launch(settings)
    try:
        with unforeseen():
            return await probe(browser, settings, url, message, Manners(open_seconds=60.0, answer_seconds=seconds))
    finally:
        await browser.close()


def _tell(found: Probed, out: Path | None, screenshot: Path | None) -> None:
    """For people, on standard error."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    for line in found.pressed:
        console.print(Text(shown(line)))
    table = Table(box=None, pad_edge=False)
    for column in ("field", "sure", "found", "by"):
        table.add_column(column, overflow="fold", justify="right" if column == "sure" else "left")
    for one in found.findings:
        value = one.value if one.value is not None else "–"
        value = shown(value if one.used else f"({value})")
        signs = "; ".join(one.why[:3])
        table.add_row(one.field, f"{100 * one.sure:.0f}%", Text(value), Text(shown(signs)))
    if found.findings:
        console.print(table)
    if found.said is not None:
        last = f"{found.said.last:.1f} s" if found.said.last is not None else "?"
        console.print(
            Text(f"answer, whole after {last} (told by {found.said.finish}):\n  {_short(found.said.answer.text)}")
        )
    if found.fault is not None:
        console.print(Text(f"no answer: {shown(str(found.fault))}"))
        if out is None:
            console.print(Text("no draft was written: the box to type in was not found"))
    elif not found.tried:
        console.print(Text("the draft did not open the page once more: look at it before you use it"))
    if out is not None:
        console.print(Text(f"draft written: {out}\n  use it: options: {{site: {out.name}}}"))
    if screenshot is not None:
        console.print(Text(f"picture written: {screenshot}" if found.picture else "no picture could be taken"))


def _short(text: str) -> str:
    line = " ".join(shown(text).split())
    return line if len(line) <= 200 else line[:199] + "…"
