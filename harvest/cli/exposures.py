"""What a file from elsewhere makes this machine do, as it is shown before any of it is done, and the option by which a
person allows what no file may."""

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import click

from harvest.audits.exposures import KEYS_IN_CLEAR
from harvest.systems.exposure import Exposure
from harvest.terminal import printable, prose_width, wrap_lines
from topics.addresses import canonical_host

keys_in_clear_option = click.option(
    KEYS_IN_CLEAR,
    is_flag=True,
    help="Send keys over plain http to other machines, too: anybody on the way can read them.",
)


def exposure_lines(exposures: Iterable[Exposure]) -> Iterator[str]:
    """One line each for the code that is run, the servers that are contacted, and the environment variables with who
    gets them; none where there is nothing of the kind. Systems are named where there are several."""
    every = tuple(exposures)

    def listed(verb: str, items: Iterable[tuple[str, Exposure]]) -> Iterator[str]:
        owners: dict[str, list[str]] = {}
        for item, one in items:
            owners.setdefault(item, []).append(one.who)
        if owners:
            named = len(every) > 1
            shown = (f"{item} ({', '.join(who)})" if named else item for item, who in owners.items())
            yield printable(f"{verb}: {'; '.join(shown)}", line=True)

    yield from listed("runs", ((item, one) for one in every for item in one.code))
    yield from listed("contacts", ((_shown_origin(item), one) for one in every for item in one.origins))
    yield from listed("through the proxy", ((_proxy(item), one) for one in every for item in one.proxies))
    yield from listed("sends", ((f"{name} to {_takers(one)}", one) for one in every for name in one.variables))


def _proxy(item: str) -> str:
    return f"in the environment variable {item[1:]}" if item.startswith("$") else item


def _takers(one: Exposure) -> str:
    """Who gets the values of its variables: servers, or else the code that is run with them."""
    return ", ".join(tuple(map(_shown_origin, one.origins)) or one.code) or "its driver"


def _shown_origin(origin: str) -> str:
    """With the name that is asked where the host is not in ASCII: it may look like another one."""
    return f"{origin} ({note})" if (note := host_note(origin)) else origin


def host_note(url: str) -> str:
    """What to say of a URL whose host has letters beyond ASCII, which may look like those of ASCII; "" of others."""
    host = urlsplit(url).hostname or ""
    if host.isascii():
        return ""
    asked = canonical_host(host)
    return f"not ASCII: {asked or 'no name that can be asked'}"


def show_exposures(exposures: Iterable[Exposure], *, err: bool = False) -> None:
    """Print them, on standard output or on standard error."""
    for line in exposure_lines(exposures):
        click.echo(wrap_lines(line, prose_width(), hang=4), err=err)
