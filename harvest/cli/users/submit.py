"""`harvest users submit`: play a campaign against the server of its track."""

import os
import shlex
from pathlib import Path

import click

from harvest.campaigns.campaign import Campaign, load_campaign
from harvest.cli.exposures import keys_in_clear_option, show_exposures
from harvest.cli.interruption import Interrupted, run_until_stopped
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.systems.driver import DriverError
from harvest.terminal import print_message, printable
from recordings.files.evidence import write_safely
from topics.counting import pluralize


@click.command(cls=ShortHelp)
@click.argument("campaign", type=PathArgument())
@click.option("--seed", "seeds", type=WholeNumberRange(0), multiple=True, help="Play only this seed [default: all].")
@click.option("--debug", is_flag=True, help="Use the track's requests for debugging, which are not evaluated.")
@click.option("--out", type=PathArgument(), metavar="FOLDER", help="Folder of the ledgers [default: runs/NAME].")
@keys_in_clear_option
def command(campaign: Path, seeds: tuple[int, ...], debug: bool, out: Path | None, keys_in_clear: bool) -> int:
    """Play a campaign: submit a simulated user, or a system, to a track such as TREC's.

    CAMPAIGN is a file (docs/campaigns.md). Each of its seeds is a run of the track with an id of its own. A run that
    was interrupted continues where it stopped, and nothing is said twice. A finished run is only compared with the
    track's record.
    """
    resolved = load_campaign(campaign, keys_in_clear=keys_in_clear)
    show_exposures(resolved.exposures, err=True)
    folder = out or Path("runs") / resolved.file.name
    codes = [_play(resolved, seed, folder, debug=debug) for seed in seeds or resolved.file.seeds]
    return max(codes)


def _play(campaign: Campaign, seed: int, folder: Path, *, debug: bool) -> int:
    run_id = campaign.run_id(seed)
    path = folder / f"{run_id}{'.debug' if debug else ''}.jsonl"
    shown = shlex.quote(os.path.relpath(path))

    def report(sentence: str) -> None:
        print_message(printable(f"{run_id}: {sentence}", line=True))

    async def play() -> int:
        with campaign.submission(seed, path, debug=debug, report=report) as submission:
            try:
                await submission.play()
                chain = submission.ledger.chain
                done = (
                    f"{pluralize(chain.number, 'conversation')}, {pluralize(len(chain.all_said), 'utterance')} of ours"
                )
                report(f"complete: {done}, in {shown}")
                try:
                    data, difference = await submission.check()
                except DriverError as fault:
                    report(f"the track gave no record of the run to compare with: {fault}")
                    return 0
                write_safely(path.with_suffix(".dump.jsonl"), data)
                report(difference or "the track's record has every utterance, each once")
                return 3 if difference else 0
            finally:
                await submission.side.close()
                await submission.server.close()

    try:
        code = run_until_stopped(play())
    except DriverError as fault:
        report(f"stopped: {fault}; the same command continues it")
        return 3
    except KeyboardInterrupt:
        raise Interrupted(f"\ninterrupted; everything said is in {shown}, and the same command continues it") from None
    click.echo(f"harvest data import {shown} --out {shlex.quote(os.path.relpath(folder / run_id))}")
    return code
