"""The server of the page, with the runs that it follows."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

from harvest.serving.server import make_links, serve
from harvest.viewing.application import ALLOWED, application
from harvest.viewing.following import Follower
from harvest.viewing.judging import JudgingPages
from harvest.viewing.listing import Listing

# The one who looks at the page: unlike judges, they need no name.
_READER = "reader"


async def view(folder: Path, listening: socket.socket, started: Callable[[str], None]) -> None:
    """Serve the page on the runs in `folder` until cancelled. `started` gets the link when the page can be opened."""
    follower, judging = Follower(Listing(folder)), JudgingPages()
    tokens, links = make_links([_READER], int(listening.getsockname()[1]))
    following = asyncio.create_task(follower.follow())
    serving = asyncio.create_task(
        serve(application(follower, judging), ALLOWED, listening, tokens, lambda: started(links[_READER]))
    )
    try:
        ended, _ = await asyncio.wait((following, serving), return_when=asyncio.FIRST_COMPLETED)
        for task in ended:  # only with a fault
            task.result()
    finally:
        for task in (following, serving):  # the news first: an open page would keep the server waiting
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await judging.close_all()
