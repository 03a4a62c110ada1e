"""`harvest judge cited`: look up whether cited pages exist, and whether they contain the quoted text."""

from collections import Counter
from pathlib import Path

import click

from harvest.cli.judge.options import read_reporting_damage
from harvest.cli.parameters import NumberRange, PathArgument, WholeNumberRange
from harvest.judging.cited_pages import cited_addresses, look_up_layer, quotation_outcome, quotations
from harvest.judging.page_fetcher import FetchedPage, PageFetcher, look_at
from harvest.terminal import print_message
from recordings.files.times import stamp, utc_now
from recordings.judged.judgments import keep_layer
from recordings.log.own_loop import run_to_end
from topics.counting import pluralize
from topics.errors import InputError


@click.command()
@click.argument("run", type=PathArgument())
@click.option("--quotations", "quoted", is_flag=True, help="Also look for what answers quote in the pages they cite.")
@click.option("--kept", type=PathArgument(), metavar="FOLDER", help="Where pages are kept [RUN.pages].")
@click.option(
    "--pause", type=NumberRange(0, 3600), default=1.0, show_default=True, help="Seconds between requests to a host."
)
@click.option("--private", is_flag=True, help="Also ask hosts of this machine and its network.")
@click.option(
    "--most",
    type=WholeNumberRange(1),
    default=2000,
    show_default=True,
    help="Refuse to look up more addresses than this.",
)
def command(run: Path, quoted: bool, kept: Path | None, pause: float, private: bool, most: int) -> None:
    """Look up whether cited pages exist.

    This asks the servers of all addresses that answers cite, as robots.txt allows, one at a time from each host. The
    results are added to RUN as a layer of judgments with its date, and `harvest sources` then shows it. A page that
    blocks programs is not an invented page, and a page that is missing today may have existed.
    """
    recorded = read_reporting_damage(run)
    addresses = list(dict.fromkeys(url for one in recorded.finished for url in cited_addresses(one)))
    if len(addresses) > most:
        raise InputError(
            f"the answers cite {len(addresses)} addresses, more than --most {most}", advice="allow more with --most"
        )
    fetcher = PageFetcher(kept or Path(f"{run}.pages"), pause=pause, private=private)

    async def look() -> dict[str, FetchedPage]:
        try:
            return await look_at(addresses, fetcher.look)
        finally:
            await fetcher.close()

    pages = run_to_end(look())
    found = (
        {one: quotation_outcome(one, pages) for each in recorded.finished for one in quotations(each)} if quoted else {}
    )
    path = keep_layer(run, look_up_layer(pages, found, made_at=stamp(utc_now()), source="harvest judge cited"))
    counts = Counter(page.outcome for page in pages.values())
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("exists", "gone", "blocked", "unknown"))
    print_message(f"{pluralize(len(pages), 'address', 'addresses')}: {said}")
    if quoted:
        said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(Counter(found.values()).items()))
        print_message(f"{pluralize(len(found), 'quotation')}{f': {said}' if said else ''}")
    print_message(f"written to judgments/{path.name}" if path else "nothing new to write")
