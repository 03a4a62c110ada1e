"""`harvest judge preferences`: summarize people's choices in sheets of blind pairs."""

from pathlib import Path

import click

from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.study_output import Output, form_options
from harvest.judging.serving.blind_pairs import read_decided_pairs
from harvest.judging.sheets.pair_sheet import read_preferences
from harvest.studies.pairs.preference_figures import preference_form
from harvest.studies.pairs.preferences import preferences, read_key
from harvest.terminal import printable
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.regular_file import missing_advice


@click.command(cls=ShortHelp)
@click.argument("sheets", nargs=-1, required=True, metavar="SHEET...", type=PathArgument())
@click.option(
    "--key", "kept", required=True, metavar="FILE", type=PathArgument(), help="The key that was written with the sheet."
)
@click.option(
    "--level",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals; a p of at most 1 - level is significant.",
)
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of permutations.")
@form_options
def command(sheets: tuple[Path, ...], kept: Path, level: float, seed: int, output: Output) -> None:
    """Show which systems people prefer.

    SHEETs were written by `harvest judge pairs RUN --out`, and each was filled in by one person. A folder of judgments
    made with --serve can be given instead. The command shows how often each system is preferred to another, whether
    people agree, and whether the side on which a conversation was shown influenced them.
    """
    key = read_key(kept)
    for sheet in sheets:
        if not sheet.exists():
            raise InputError("no such file or folder", place=Place.of(sheet), advice=missing_advice(sheet))
    texts = {number: pair.text for number, pair in key.numbered().items()}
    filled = [
        read_decided_pairs(sheet, texts) if sheet.is_dir() else read_preferences(sheet, texts) for sheet in sheets
    ]
    said = [(one.pair, one.annotator, one.choice) for sheet in filled for one in sheet.preferences]
    for sheet, one in zip(sheets, filled, strict=True):
        if one.empty:
            without = f"{pluralize(one.empty, 'row')} without a preference skipped"
            click.echo(printable(f"{sheet}: {without}", line=True), err=True)
    output.show(preference_form(preferences(key, said, level=level, seed=seed)))
