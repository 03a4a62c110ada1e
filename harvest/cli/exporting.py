"""`harvest export`: write a run's conversations as transcripts or messages."""

from __future__ import annotations

from pathlib import Path

import click

from recordings.gold_layers import read_gold_layers
from recordings.lengths import most_turns, with_missing_turns
from recordings.messages import write_messages
from recordings.run_folder import read
from recordings.transcript_export import write_transcript
from topics.counting import pluralize
from topics.errors import InputError, Place

__all__ = ["command"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["gfrc", "messages"]), required=True, help="What to write.")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The file to write.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--all", "every", is_flag=True, help="All attempts, including invalid and interrupted ones.")
def command(run: Path, form: str, out: Path, force: bool, system: str | None, every: bool) -> None:
    """Write a run's conversations as transcripts or messages.

    `gfrc` writes annotated transcripts as in the GFRC paper, `messages` a JSON object on each line.
    """
    if out.exists() and not force:
        raise InputError("this file exists already", place=Place(str(out)), advice="take another name, or --force")
    recorded = read(run)
    chosen = [
        conversation
        for conversation in (recorded.conversations if every else recorded.finished)
        if system in (None, conversation.key.system)
    ]
    chosen = list(with_missing_turns(chosen, recorded.header))
    longest = most_turns(recorded.header, recorded.finished)
    if form == "gfrc":
        gold, topics = read_gold_layers([run]), recorded.header.topic_set()
        write_transcript(chosen, out, gold=gold, topics=topics, most_turns=longest)
    else:
        write_messages(chosen, out, most_turns=longest)
    for sentence in recorded.damage:
        click.echo(f"damage: {sentence}", err=True)
    lost = {one.key for one in recorded.conversations if system in (None, one.key.system)} - {one.key for one in chosen}
    if lost:
        click.echo(
            f"note: {pluralize(len(lost), 'trial')} without a valid attempt left out, so what is imported from this "
            "file has no bounds for them; --all writes every attempt",
            err=True,
        )
    click.echo(f"{pluralize(len(chosen), 'conversation')} written to {out}", err=True)
