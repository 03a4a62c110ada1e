"""`harvest annotate --pairs`: a sheet of blind pairs for people, and its key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from harvest.judging.sheets.pair_sheet import CHOICES, BlindPair, text_hash, transcript, write_pairs
from harvest.judging.sheets.sheet_file import LONGEST_CELL, sheet_ending
from harvest.studies.blind_pairs import draw_pairs, pair_key
from harvest.studies.conversation_pairs import all_sides
from harvest.studies.scorecard import refuse_twice
from recordings.exports import write_export
from recordings.run_folder import read
from topics.counting import pluralize
from topics.errors import InputError, Place

__all__ = ["write_blind_pairs"]

_SHORT = 2
"""A name of so many characters is an ordinary word of some language."""


def write_blind_pairs(
    runs: Sequence[Path], sheet: Path, systems: str | None, topics: Sequence[str], most: int | None, seed: int
) -> None:
    """A sheet of blind pairs, and its key beside it. most: of each two systems."""
    sheet_ending(sheet)
    kept = sheet.with_suffix(".key.json")
    for path in (sheet, kept):
        if path.exists():
            raise InputError("this file exists already", place=Place(str(path)), advice="take another name")
    recorded = [read(run) for run in runs]
    refuse_twice(recorded)
    for sentence in dict.fromkeys(sentence for one in recorded for sentence in one.damage):
        click.echo(f"damage: {sentence}", err=True)
    names = [name.strip() for name in systems.split(",")] if systems is not None else []
    sides = all_sides(recorded, names)
    if len(sides) < 2:
        raise InputError(
            f"a pair takes two systems, and here is {len(sides)}",
            advice="give a run of several systems, or several runs",
        )
    known = {one.key.topic for run in recorded for one in run.finished}
    for topic in topics:
        if topic not in known:
            raise InputError(
                f"no finished conversation here is on the topic {topic!r}", allowed=", ".join(sorted(known))
            )
    drawn = draw_pairs(sides, topics=topics, most=most, seed=seed)
    blind = [BlindPair(i, one.topic, one.left[1], one.right[1]) for i, one in enumerate(drawn, 1)]
    shown = [(transcript(one.left), transcript(one.right)) for one in blind]
    key = pair_key(sheet.name, sides, drawn, [text_hash(*texts) for texts in shown], seed)
    write_export(kept, key.text().encode())
    count = write_pairs(blind, sheet)
    telling = {side.system for side in sides if len(side.system) > _SHORT}
    told = sum(any(_named(name, text) for name in telling for text in pair) for pair in shown)
    click.echo(
        f"{count} pairs written to {sheet}: fill in 'preference' ({', '.join(CHOICES)}); a copy for each person",
        err=True,
    )
    click.echo(f"which system stands where is in {kept}: keep it from those who judge", err=True)
    click.echo(f"then: harvest preferences SHEET... --key {kept}", err=True)
    if told:
        click.echo(f"{told} of them name a system in their texts, so they are not blind", err=True)
    cut = sum(len(text) > LONGEST_CELL for pair in shown for text in pair)
    if cut and sheet_ending(sheet) == ".csv":
        click.echo(
            f"{pluralize(cut, 'conversation')} longer than {LONGEST_CELL:,} characters: a spreadsheet will cut them; "
            "take a .jsonl sheet",
            err=True,
        )


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
