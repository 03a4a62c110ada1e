"""Show the effects of a file on this machine in advance, and let people allow keys to be sent in clear text."""

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
    help="Also send keys over plain http to other machines, where anybody on the way can read them.",
)


def exposure_lines(exposures: Iterable[Exposure]) -> Iterator[str]:
    """Yield lines that list the code to run, the servers to contact, the proxies, and the variables with their
    recipients. If there are several exposures, the lines name the system of each item."""
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
    yield from listed("contacts", ((_origin_with_note(item), one) for one in every for item in one.origins))
    proxies = (
        (f"in the environment variable {item[1:]}" if item.startswith("$") else item, one)
        for one in every
        for item in one.proxies
    )
    yield from listed("through the proxy", proxies)
    # Servers get the values of variables, or else the code that is run with them.
    takers = ((one, ", ".join(tuple(map(_origin_with_note, one.origins)) or one.code) or "its driver") for one in every)
    sent = ((f"{what} to {to}", one) for one, to in takers for what in (*one.variables, *one.other_secrets))
    yield from listed("sends", sent)


def _origin_with_note(origin: str) -> str:
    return f"{origin} ({note})" if (note := host_note(origin)) else origin


def host_note(url: str) -> str:
    """Return a note with the ASCII form of a URL's host, which may resemble another host. Returns "" for an ASCII
    host."""
    host = urlsplit(url).hostname or ""
    if host.isascii():
        return ""
    asked = canonical_host(host)
    return f"not ASCII: {asked or 'no name that can be asked'}"


def show_exposures(exposures: Iterable[Exposure], *, err: bool = False) -> None:
    """Print the lines of `exposure_lines` on standard error if `err` is true, else on standard output."""
    for line in exposure_lines(exposures):
        click.echo(wrap_lines(line, prose_width(), hang=4), err=err)
