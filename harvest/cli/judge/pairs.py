"""`harvest judge pairs`: write a sheet of blind pairs for people, and the key that names the systems."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from harvest.cli.judge.options import port_option, words_option
from harvest.cli.judge.serving import check_people, serve_questions
from harvest.cli.parameters import PathArgument, WholeNumberRange, check_output_file
from harvest.judging.sheets.pair_sheet import CHOICES, BlindPair, text_hash, transcript, write_pairs
from harvest.judging.sheets.sheet_file import LONGEST_CELL, sheet_ending
from harvest.studies.pairs.blind_pairs import DrawnPair, PairKey, draw_pairs, pair_key
from harvest.studies.pairs.conversation_pairs import Side, all_sides
from harvest.studies.pairs.preferences import read_key
from harvest.studies.runs.side_by_side import refuse_repeated_runs
from harvest.terminal import print_message, printable
from recordings.log.exports import write_export
from recordings.log.run_folder import Run, read
from topics.counting import pluralize
from topics.errors import InputError, Place

# Names of at most this many characters are ordinary words of some language.
_SHORT_NAME = 2


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--out",
    "sheet",
    required=True,
    type=PathArgument(),
    metavar="FILE",
    help="The .csv or .jsonl sheet.",
)
@click.option("--systems", metavar="A,B,...", help="Only these [all that were played].")
@click.option("--topic", "only", multiple=True, metavar="ID", help="Only this topic; may be repeated.")
@click.option("--sample", "most", type=WholeNumberRange(1), metavar="N", help="At most N pairs of each two systems.")
@click.option(
    "--seed",
    type=WholeNumberRange(0),
    default=0,
    show_default=True,
    help="Seed of the draw and of orders.",
)
@click.option("--serve", is_flag=True, help="Let people judge the pairs on a page of this machine.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="With --serve: who judges; may be repeated.")
@port_option
@words_option
def command(
    runs: tuple[Path, ...],
    sheet: Path,
    systems: str | None,
    only: tuple[str, ...],
    most: int | None,
    seed: int,
    serve: bool,
    authors: tuple[str, ...],
    port: int,
    words: str,
) -> None:
    """Let people compare conversations in blind pairs.

    Each row shows two systems' conversations on a topic side by side, without the names of the systems. A key file next
    to the sheet has the names. People fill in copies of the sheet or, with --serve, choose on a page.
    """
    if serve:
        _serve_pairs(runs, sheet, systems, only, most, seed, authors, port, words)
        return
    if authors:
        raise InputError("--author can only be used with --serve")
    sheet_ending(sheet)
    _refuse_existing(sheet, key_file(sheet))
    _write_sheet(sheet, _draw_pairs(runs, systems, only, most, seed), seed)


def _serve_pairs(
    runs: Sequence[Path],
    sheet: Path,
    systems: str | None,
    topics: Sequence[str],
    most: int | None,
    seed: int,
    people: Sequence[str],
    port: int,
    language: str,
) -> None:
    """Let people judge the pairs of a sheet on a local page. A missing sheet is written first, with its key."""
    people = check_people(people)
    from harvest.judging.serving.blind_pairs import decision_folder, pair_questions
    from harvest.judging.serving.desk import pair_choices
    from harvest.judging.serving.page_words import load_words

    told, folder, kept = load_words(language), decision_folder(sheet), key_file(sheet)
    drawn = _load_or_draw_pairs(runs, sheet, systems, topics, most, seed)
    folder.mkdir(exist_ok=True)
    sets = [one.header.topic_set() for one in drawn.recorded]
    known = {topic.id: topic for one in sets if one for topic in one.topics}
    asked, choices = pair_questions(drawn.blind, told.words), pair_choices(told.words)
    serve_questions(folder, asked, people, choices, known, told="", port=port, seed=seed, words=told)
    click.echo(f"then: harvest judge preferences {folder} --key {kept}", err=True)


def sheet_pairs(
    runs: Sequence[Path], sheet: Path, systems: str | None, topics: Sequence[str], most: int | None, seed: int
) -> list[BlindPair]:
    """Return the pairs of a sheet, and write the sheet with its key if there is no key yet. Raises InputError if the
    existing key lists other pairs than the arguments draw."""
    return _load_or_draw_pairs(runs, sheet, systems, topics, most, seed).blind


def _load_or_draw_pairs(
    runs: Sequence[Path], sheet: Path, systems: str | None, topics: Sequence[str], most: int | None, seed: int
) -> "_DrawnPairs":
    sheet_ending(sheet)
    drawn, kept = _draw_pairs(runs, systems, topics, most, seed), key_file(sheet)
    if kept.exists():
        if read_key(kept).pairs != _key_document(sheet, drawn, seed).pairs:
            raise InputError(
                "the pairs in this key differ from the pairs that these arguments draw",
                place=Place(str(kept)),
                advice="give the RUNs, --systems, --topic, --sample and --seed of the key, or another name",
            )
    else:
        _refuse_existing(sheet)
        _write_sheet(sheet, drawn, seed)
    return drawn


def _refuse_existing(*paths: Path) -> None:
    for path in paths:
        check_output_file(path)


def key_file(sheet: Path) -> Path:
    return sheet.with_suffix(".key.json")


@dataclass(frozen=True, slots=True)
class _DrawnPairs:
    recorded: Sequence[Run]
    sides: Sequence[Side]
    pairs: Sequence[DrawnPair]

    @property
    def blind(self) -> list[BlindPair]:
        return [BlindPair(i, one.topic, one.left[1], one.right[1]) for i, one in enumerate(self.pairs, 1)]


def _draw_pairs(
    runs: Sequence[Path], systems: str | None, topics: Sequence[str], most: int | None, seed: int
) -> _DrawnPairs:
    recorded = [read(run) for run in runs]
    refuse_repeated_runs(recorded)
    for sentence in dict.fromkeys(sentence for one in recorded for sentence in one.damage):
        print_message(printable(f"damage: {sentence}", line=True))
    names = [name.strip() for name in systems.split(",")] if systems is not None else []
    sides = all_sides(recorded, names)
    if len(sides) < 2:
        raise InputError(
            f"a pair needs two systems, but there are {len(sides)}",
            advice="give a run of several systems, or several runs",
        )
    known = {one.key.topic for run in recorded for one in run.finished}
    for topic in topics:
        if topic not in known:
            raise InputError(
                f"there is no finished conversation on the topic {topic!r}", allowed=", ".join(sorted(known))
            )
    return _DrawnPairs(recorded, sides, draw_pairs(sides, topics=topics, most=most, seed=seed))


def _key_document(sheet: Path, drawn: _DrawnPairs, seed: int) -> PairKey:
    texts = [text_hash(transcript(one.left), transcript(one.right)) for one in drawn.blind]
    return pair_key(sheet.name, drawn.sides, drawn.pairs, texts, seed)


def _write_sheet(sheet: Path, drawn: _DrawnPairs, seed: int) -> None:
    kept, blind, sides = key_file(sheet), drawn.blind, drawn.sides
    shown = [(transcript(one.left), transcript(one.right)) for one in blind]
    key = _key_document(sheet, drawn, seed)
    write_export(kept, key.text().encode())
    count = write_pairs(blind, sheet)
    telling = {side.system for side in sides if len(side.system) > _SHORT_NAME}
    names = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in telling]
    told = sum(any(name.search(text) for name in names for text in pair) for pair in shown)
    print_message(
        f"{count} pairs written to {sheet}: fill in 'preference' ({', '.join(CHOICES)}); a copy for each person"
    )
    print_message(f"the systems behind the pairs are in {kept}: hide it from those who judge")
    click.echo(f"then: harvest judge preferences SHEET... --key {kept}", err=True)
    if told:
        print_message(f"{told} of them name a system in their texts, so they are not blind")
    cut = sum(len(text) > LONGEST_CELL for pair in shown for text in pair)
    if cut and sheet_ending(sheet) != ".jsonl":
        print_message(
            f"{pluralize(cut, 'conversation')} longer than {LONGEST_CELL:,} characters: a spreadsheet will cut them; "
            "use a .jsonl sheet"
        )
