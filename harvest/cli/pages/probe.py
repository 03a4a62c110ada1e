"""`harvest pages probe`: examine a chat page, send one harmless message, and draft a site file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harvest.cli.interruption import run_until_stopped
from harvest.cli.parameters import NumberRange, PathArgument, check_output_file
from harvest.terminal import people_console, printable, wrap_lines
from topics.decimals import percent
from topics.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from harvest.pages.chats.findings import Finding
    from harvest.pages.chats.probe import ProbeResult


@click.command()
@click.argument("url", metavar="URL")
@click.option("--out", metavar="SITE.yaml", type=PathArgument(), help="Write the draft here.")
@click.option(
    "--screenshot",
    metavar="FILE.png",
    type=PathArgument(),
    help="Write a screenshot with the parts outlined.",
)
@click.option("--message", metavar="TEXT", default="Hello", show_default=True, help="The message to send, once.")
@click.option("--login", metavar="FILE", type=PathArgument(), help="A log-in stored by `harvest pages login`.")
@click.option("--timeout", metavar="SECONDS", type=NumberRange(1, 3600), default=120.0, show_default=True)
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
    """Examine a chat page, send one message, and draft a site file.

    You must have the right to audit the page. Without --out and --json, the draft is written to standard output.
    """
    _check_arguments(url, message, out, screenshot, login)
    found = run_until_stopped(probe_page(url, message, login, timeout, headed))
    useful = any(one.field in ("composer", "fill") for one in found.findings)
    written: list[Path] = []
    refusals: list[OSError] = []
    draft = found.draft.encode(errors="backslashreplace") if useful else None
    for path, content in ((out, draft), (screenshot, found.picture)):
        if path is None or content is None:
            continue
        try:
            path.write_bytes(content)
            written.append(path)
        except OSError as fault:
            refusals.append(fault)
    # The page was asked once; its answer must not be lost because a file cannot be written.
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    elif useful and out not in written:
        click.echo(found.draft, nl=False)
    _print_findings(found, useful)
    if out in written:
        click.echo(f"draft written: {out}\n  use it: options: {{site: {out.name}}}", err=True)
    if screenshot is not None and found.picture is None:
        click.echo("no picture could be taken", err=True)
    elif screenshot in written:
        click.echo(f"picture written: {screenshot}", err=True)
    for refusal in refusals:
        click.echo(f"error: {refusal.filename}: {refusal.strerror}", err=True)
    return 2 if refusals or found.fault is not None else 0


def _check_arguments(url: str, message: str, out: Path | None, screenshot: Path | None, login: Path | None) -> None:
    from harvest.pages.browser.login import read_secrets
    from harvest.pages.sites.site import site_of

    try:
        site_of({"url": url})
    except InputError as fault:
        raise InputError(
            fault.what.removeprefix("url: "), advice="give the whole URL, such as https://chat.example.org/"
        ) from None
    if not message.strip():
        raise InputError("--message is empty", advice="give a harmless message, such as Hello")
    if out is not None and out == screenshot:
        raise InputError(f"--out and --screenshot both name {out}", advice="choose different files")
    for path in (out, screenshot):
        if path is not None:
            check_output_file(path, other="choose another name, or remove it")
    if login is not None:
        read_secrets(login)


async def probe_page(url: str, message: str, login: Path | None, seconds: float, headed: bool) -> ProbeResult:
    from harvest.pages.browser.installed import find_browser
    from harvest.pages.browser.process import Browser, find_playwright_browser
    from harvest.pages.browser.settings import BrowserSettings
    from harvest.pages.chats.chat import Manners
    from harvest.pages.chats.probe import probe
    from harvest.systems.delivery import convert_unexpected

    found = find_browser(os.environ, own=find_playwright_browser)
    click.echo(f"starting {found.path.name} …", err=True)
    settings = BrowserSettings(executable=found.path, headless=not headed, storage_state=login)

    def show(line: str) -> None:
        click.echo(printable(line, line=True), err=True)

    browser = await Browser.launch(settings)
    try:
        with convert_unexpected():
            manners = Manners(open_seconds=60.0, answer_seconds=seconds)
            return await probe(browser, settings, url, message, manners, tell=show)
    finally:
        await browser.close()


def _print_findings(found: ProbeResult, useful: bool) -> None:
    """Print the findings on standard error. `useful` is True if the draft names fields to type in or to fill in."""
    from rich.text import Text

    console = people_console(stderr=True)
    for line in found.pressed:
        console.print(Text(printable(line)))
    if found.findings:
        console.print(Text("\nWhat was found, how sure it is, and by which signs:\n"))
        console.print(_findings_table(found.findings))
        console.print()
    if found.said is not None:
        last = f"{found.said.last:.1f} s" if found.said.last is not None else "?"
        answer = " ".join(printable(found.said.answer.text).split())
        answer = answer if len(answer) <= 200 else answer[:199] + "…"
        told = f"answer, whole after {last} (told by {found.said.finish}):\n  {answer}"
        console.print(Text(wrap_lines(told, console.width)))
    if found.fault is not None:
        console.print(Text(f"no answer: {printable(str(found.fault))}"))
    elif not found.tried:
        console.print(Text("the draft could not open the page again: check it before you use it"))
    if not useful:
        lost = found.fault is not None and found.fault.reason == "page-unreachable"
        why = "the page could not be opened" if lost else "the box to type in was not found"
        console.print(Text(f"there is no draft, because {why}"))


def _findings_table(findings: Sequence[Finding]) -> Table:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    for one in findings:
        if one.value is None:
            value = Text("nothing that could be written as a site file", style="italic")
        else:
            value = Text(printable(one.value, line=True), style="bold" if one.used else "")
        table.add_row(one.field, percent(one.sure), value)
        signs = one.why[:3] if one.used or one.value is None else ("only a comment in the draft", *one.why[:3])
        for sign in signs:
            table.add_row("", "", Padding(Text(printable(sign, line=True), style="dim"), (0, 0, 0, 2)))
    return table
