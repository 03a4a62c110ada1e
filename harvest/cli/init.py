"""`harvest init`: write a commented audit, topic set and protocol to start from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harvest.audits.starter_files import starter_drivers, starter_files
from topics.errors import InputError

__all__ = ["command"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=".")
@click.option(
    "--driver",
    type=click.Choice(starter_drivers()),
    default="openai",
    show_default=True,
    help="How the system is reached.",
)
def command(folder: Path, driver: str) -> None:
    """Write an audit to start from: audit.yaml, topics.yaml and protocol.yaml, with comments.

    FOLDER is made if it does not exist. Nothing that is there is overwritten.
    """
    texts = starter_files(driver)
    present = [name for name in texts if (folder / name).exists()]
    if present:
        raise InputError(
            f"{folder}: {' and '.join(present)} {'exists' if len(present) == 1 else 'exist'} already",
            advice="name another folder; nothing was written",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(text)
    click.echo(f"wrote {', '.join(texts)} in {folder}", err=True)
    audit = shlex.quote(str(folder / "audit.yaml"))
    click.echo(f"edit them, then: harvest check {audit}", err=True)
