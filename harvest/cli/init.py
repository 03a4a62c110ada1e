"""`harvest init`: write a commented audit, topic set and protocol to start from."""

import contextlib
import shlex
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import click

from harvest.audits.audit_file import read_audit
from harvest.audits.exposures import read_exposures
from harvest.audits.starter_files import driver_summary, starter_drivers, starter_files
from harvest.cli.exposures import show_exposures
from harvest.terminal import prose_width, wrap_lines
from recordings.log.run_folder import enclosing_run
from topics.errors import InputError, Place


@click.command()
@click.argument("folder", default=".")
@click.option(
    "--driver",
    type=click.Choice(starter_drivers()),
    default="openai",
    show_default=True,
    metavar="NAME",
    help="How the system is reached: see --list.",
)
@click.option("--list", "listing", is_flag=True, help="List the drivers, and write nothing.")
def command(folder: str, driver: str, listing: bool) -> None:
    """Write an audit to start from: audit.yaml, topics.yaml and protocol.yaml, with comments.

    FOLDER is created if necessary. Existing files are not overwritten.
    """
    if listing:
        widest = max(map(len, starter_drivers()))
        for name in starter_drivers():
            click.echo(wrap_lines(f"{name:<{widest}}  {driver_summary(name)}", prose_width(), hang=widest + 2))
        return
    texts = starter_files(driver)
    write_files(_check_folder(folder), texts)
    click.echo(f"wrote {', '.join(texts)} in {folder}", err=True)
    written = str(Path(folder) / "audit.yaml")
    show_exposures(read_exposures(*read_audit(written)), err=True)
    audit = shlex.quote(f"./{written}" if written.startswith("-") else written)  # with a dash it would be an option
    click.echo(f"edit them, then: harvest check {audit}", err=True)


def _check_folder(name: str) -> Path:
    folder = Path(name)
    if not name.strip():
        raise InputError(f"{name!r} is not the name of a folder", allowed="the path of a folder, or . for this one")
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in name):
        what = f"the name {name!r} contains a control character or a byte that is not UTF-8"
        raise InputError(what, allowed="any other characters", advice="name another folder; nothing was written")
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file, not a folder", place=Place(name), advice="name another folder")
    run = enclosing_run(folder)
    if run is not None:
        what = f"this path is inside the run folder {run}, which may contain only files of the run"
        raise InputError(what, place=Place(name), advice="name another folder; nothing was written")
    return folder


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write all files or none. No file is replaced, even if another process writes to the folder at the same time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            "a file with this name exists already", place=Place(str(folder)), advice="name another folder"
        ) from None
    with contextlib.ExitStack() as written:
        for name, text in texts.items():
            try:
                file = (folder / name).open("x", encoding="utf-8")
            except FileExistsError:
                what, advice = f"{name} exists already", "name another folder; nothing was written"
                raise InputError(what, place=Place(str(folder)), advice=advice) from None
            written.callback((folder / name).unlink)
            with file:
                file.write(text)
        written.pop_all()
