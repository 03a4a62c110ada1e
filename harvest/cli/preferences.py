"""`harvest preferences`: what people chose in sheets of blind pairs."""

import json
from pathlib import Path

import click

from harvest.cli.number import NumberRange, WholeNumberRange
from harvest.cli.path import GivenPath
from harvest.judging.serving.blind_pairs import read_chosen
from harvest.judging.sheets.pair_sheet import read_preferences
from harvest.studies.pairs.preference_figures import preference_document, preference_rows, preference_tables
from harvest.studies.pairs.preferences import preferences, read_key
from harvest.tables.long_rows import long_latex
from harvest.tables.paper_tables import csv_rows
from harvest.terminal import people_console, printable
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.regular_file import missing_advice


@click.command()
@click.argument("sheets", nargs=-1, required=True, metavar="SHEET...", type=GivenPath())
@click.option("--key", "kept", required=True, metavar="FILE", type=GivenPath(), help="Written with it.")
@click.option(
    "--level",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals; a p of at most 1 - level tells systems apart.",
)
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Of permutations.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="Every figure as a row of CSV on standard output.")
@click.option("--latex", "as_latex", is_flag=True, help="A table of the figures in LaTeX on standard output.")
def command(
    sheets: tuple[Path, ...], kept: Path, level: float, seed: int, as_json: bool, as_csv: bool, as_latex: bool
) -> None:
    """Say which systems people prefer.

    SHEETs were written by `harvest annotate RUN --pairs` and filled in, one by each person; or the folder of what was
    judged with --serve. Shows how often each system
    is preferred over another, whether people agree, and whether the side that a conversation stood on led them.
    """
    if as_json + as_csv + as_latex > 1:
        raise InputError("--json, --csv and --latex exclude each other", advice="give one of them")
    key = read_key(kept)
    for sheet in sheets:
        if not sheet.exists():
            raise InputError("no such file or folder", place=Place.of(sheet), advice=missing_advice(sheet))
    texts = {number: pair.text for number, pair in key.numbered().items()}
    filled = [read_chosen(sheet, texts) if sheet.is_dir() else read_preferences(sheet, texts) for sheet in sheets]
    said = [(one.pair, one.annotator, one.choice) for sheet in filled for one in sheet.preferences]
    for sheet, one in zip(sheets, filled, strict=True):
        if one.empty:
            without = f"{pluralize(one.empty, 'row')} without a preference skipped"
            click.echo(printable(f"{sheet}: {without}", line=True), err=True)
    found = preferences(key, said, level=level, seed=seed)
    if as_json:
        click.echo(json.dumps(preference_document(found), ensure_ascii=False))
    elif as_csv:
        click.echo(csv_rows(preference_rows(found)), nl=False)
    elif as_latex:
        click.echo(long_latex(list(preference_rows(found)), found.key.runs), nl=False)
    else:
        people = people_console()
        for part in preference_tables(found):
            people.print(part)
