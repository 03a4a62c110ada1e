"""`harvest data export`: write a run's conversations or people's scores in the formats of other tools."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp, check_output_file
from harvest.terminal import print_message, printable
from protocols.answer import PARTS
from recordings.conversations.conversation import Conversation
from recordings.formats.exporters import EXPORTERS, Export, Exporter
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import read
from recordings.log.turn_counts import add_missing_turns, most_turns
from topics.counting import pluralize
from topics.errors import InputError, Place

_SCORES = "validation"


def _format_help() -> str:
    return "\n\n".join(
        (
            "Write a run's conversations, or people's scores, for others.",
            *(f"{name}: {one.about}." for name, one in EXPORTERS.items()),
            f"{_SCORES}: a CSV of people's scores, with the columns id, target and split.",
        )
    )


@click.command(cls=ShortHelp, rare="--criterion --team", paragraphs=1, help=_format_help())
@click.argument("run", type=PathArgument())
@click.option(
    "--format",
    "form",
    type=click.Choice([*EXPORTERS, _SCORES]),
    required=True,
    help="What to write [-hh describes them].",
)
@click.option(
    "--out", type=PathArgument(), required=True, metavar="FILE", help="The file to write; convokit, dbdc: the folder."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--all", "every", is_flag=True, help="All attempts, including invalid and interrupted ones.")
@click.option("--team", metavar="NAME", help="ikat, sim4ia: the team that submits the run.")
@click.option("--criterion", metavar="NAME", help="validation: the criterion whose scores are written.")
@click.option("--schema", type=NameOrFile(), metavar="NAME|FILE", help="validation: the criteria [sakai-2023].")
def command(
    run: Path,
    form: str,
    out: Path,
    force: bool,
    system: str | None,
    every: bool,
    team: str | None,
    criterion: str | None,
    schema: str | None,
) -> None:
    exporter = EXPORTERS.get(form)
    if form != _SCORES and (criterion or schema):
        raise InputError("--criterion and --schema can only be used with --format validation")
    if form == _SCORES and not criterion:
        raise InputError("--format validation needs a criterion", advice="give --criterion NAME")
    by_team = exporter is not None and exporter.by_team
    if by_team and not team:
        raise InputError(f"--format {form} needs the team that submits the run", advice="give --team NAME")
    if team and not by_team:
        names = ", ".join(name for name, one in EXPORTERS.items() if one.by_team)
        raise InputError(f"--team can only be used with --format {names}")
    folder = exporter is not None and exporter.folder
    if folder and force:
        raise InputError("--force cannot replace a folder", advice="choose the name of a new folder")
    if folder and out.exists():
        raise InputError("this folder exists already", place=Place(str(out)), advice="choose the name of a new folder")
    if not folder:
        check_output_file(out, replace=force, other="choose another name, or --force")
    recorded = read(run)
    chosen = [
        conversation
        for conversation in (recorded.conversations if every else recorded.finished)
        if system in (None, conversation.key.system)
    ]
    chosen = list(add_missing_turns(chosen, recorded.header))
    if exporter is not None:
        longest = most_turns(recorded.header, recorded.finished)
        notes = list(exporter.write(Export(run, recorded.header, tuple(chosen), longest, team or ""), out) or ())
    elif criterion:
        from harvest.judging.validation_rows import write_validation  # brings the criteria, needed only here
        from scoring.swan.judged import Judgments
        from scoring.swan.precedence import Precedence
        from scoring.swan.schema import load_schema

        criteria = load_schema(schema or "sakai-2023")
        judgments = Judgments.from_layers(read_layers(run), criteria, Precedence.from_options("human"))
        asked = criteria[criterion]
        if asked.values:
            raise InputError(f"{asked.name} has values instead of scores", advice="choose a criterion with scores")
        rows = write_validation(chosen, judgments, asked.name, out)
        print_message(f"{pluralize(rows, 'score')} by people written to {out}")
        return
    if exporter is not None and (without := _parts_left_out(exporter, chosen)):
        notes.insert(0, f"{form!r} cannot contain {without}; `messages` keeps them")
    for note in notes:
        print_message(printable(f"note: {note}", line=True))
    for sentence in recorded.damage:
        print_message(printable(f"damage: {sentence}", line=True))
    lost = {one.key for one in recorded.conversations if system in (None, one.key.system)} - {one.key for one in chosen}
    if lost:
        print_message(
            f"note: {pluralize(len(lost), 'trial')} without a valid attempt left out, so a run imported from this "
            "file has no bounds for them; --all writes every attempt"
        )
    print_message(f"{pluralize(len(chosen), 'conversation')} written to {out}")


def _parts_left_out(exporter: Exporter, chosen: Sequence[Conversation]) -> str:
    """Describe the parts of answers that a format cannot represent, with the number of answers for each part."""
    of = Counter(
        name
        for one in chosen
        for exchange in one.exchanges
        for name in PARTS
        if name not in exporter.kept and getattr(exchange.answer, name)
    )
    called = {"refused": "refusals", "refusal": "words of refusals"}
    return ", ".join(f"{called.get(name, name)} of {pluralize(of[name], 'answer')}" for name in of)
