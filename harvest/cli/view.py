"""`harvest view`: serve a local page on the runs in a folder until the command is stopped."""

from pathlib import Path

import click

from harvest.cli.installation import require_page_packages
from harvest.cli.interruption import run_until_stopped
from harvest.cli.parameters import PathArgument, WholeNumberRange
from harvest.terminal import printable
from topics.errors import InputError, Place

PORT = 8478


@click.command()
@click.argument("folder", type=PathArgument(), default=".")
@click.option("--port", type=WholeNumberRange(0, 65535), default=PORT, show_default=True, metavar="N", help="Its port.")
def command(folder: Path, port: int) -> None:
    """Watch and read the runs in a folder on a local page.

    The page lists the runs in FOLDER [the current one] and its subfolders. It shows the trials of runs that are being
    played as they end, and opens reports, comparisons, conversations and histories of watched audits. Only this machine
    can open it. Nothing in the runs is changed.
    """
    if not folder.is_dir():
        what = "this is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(what, place=Place(str(folder)), advice="give the folder in which your runs are")
    require_page_packages("harvest view")
    from harvest.serving.server import bind
    from harvest.viewing.viewer import view  # late: brings the studies

    listening = bind(port)

    def started(link: str) -> None:
        click.echo(f"{printable(str(folder), line=True)} is shown at\n  {link}", err=True)
        click.echo("this machine alone can open it. ctrl-C ends the page", err=True)

    try:
        run_until_stopped(view(folder, listening, started))
    except KeyboardInterrupt:
        pass  # the normal end
    finally:
        listening.close()
