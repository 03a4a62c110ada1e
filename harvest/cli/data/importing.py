"""`harvest data import`: make a run from annotated transcripts or from files of messages."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp, WholeNumberRange
from harvest.terminal import print_message, printable
from recordings.conversations.conversation import LARGEST_NUMBER
from recordings.conversations.endings import describe_inferred_ends
from recordings.files.times import stamp, utc_now
from recordings.formats.dbdc import BREAKDOWNS, COUNTS, Breakdown, Counts
from recordings.formats.importers import IMPORTED_TOPICS, IMPORTERS, Found, Request, find_importer, format_names
from recordings.formats.imports import describe_odd_names, import_header, record
from recordings.formats.recognition import recognise_format
from recordings.formats.shapes.audit_table import COLUMNS
from recordings.formats.shapes.convokit import UTTERANCES
from recordings.judged.gold_layers import keep_gold, read_gold_layers
from recordings.judged.judgments import keep_layer
from recordings.log.header import read_header
from recordings.log.run_folder import is_run, read
from recordings.log.turn_counts import stated_most_turns
from topics.counting import pluralize
from topics.document import StrictModel, read_document
from topics.errors import InputError, Place, suggestion
from topics.gold import GoldEntry, GoldTable
from topics.library import load_gold, load_topics
from topics.topic import TopicSet

# The number of left-out conversations to name; the others are only counted.
_MOST_LISTED = 10


class _Mapping(StrictModel):
    """A file for `--map`: the columns of a table by their meaning."""

    map: dict[str, str]


def _format_help() -> str:
    """Describe the formats. Formats of other packages are only named, because `--help` must not run their code."""
    others = [name for name in format_names() if name not in IMPORTERS]
    return "\n\n".join(
        (
            "Make a run from files of conversations, whose format is recognised.",
            *(f"{name}: {one.sentence}." for name, one in IMPORTERS.items()),
            *([f"From other packages: {', '.join(others)}."] if others else []),
            "A conversation that cannot be read is left out and named, and the exit code is then 3.",
        )
    )


@click.command(cls=ShortHelp, rare="--trial --counts --breakdown --map --user", paragraphs=1, help=_format_help())
@click.option(
    "--format", "form", type=click.Choice(format_names()), metavar="NAME", help="Format of the files [recognised]."
)
@click.argument("files", nargs=-1, required=True, type=PathArgument())
@click.option("--out", type=PathArgument(), required=True, metavar="RUN", help="The run folder to write.")
@click.option("--system", help="System of conversations without one [their model, or the file's name].")
@click.option("--trial", type=WholeNumberRange(1, LARGEST_NUMBER), help="Trial of transcripts without one [1].")
@click.option(
    "--topics",
    type=NameOrFile(),
    metavar="NAME|FILE",
    help="Their topics [gfrc: fairweb-45; else: made from the files].",
)
@click.option("--topic", metavar="ID", help="Topic of conversations without one [their ids; dbdc: dbdc].")
@click.option("--counts", type=click.Choice(COUNTS), help="dbdc: which annotation labels turns [workshop].")
@click.option(
    "--breakdown",
    type=click.Choice(BREAKDOWNS),
    help="dbdc: x if most annotators say breakdown, or also if they say possible breakdown [B].",
)
@click.option(
    "--user",
    metavar="NAME",
    help="sdialog, convokit: the speaker who is the user [the first]; convokit: also KEY=VALUE of their metadata.",
)
@click.option(
    "--map",
    "columns",
    type=NameOrFile(),
    multiple=True,
    metavar="MEANING=COLUMN|FILE.yaml",
    help="table: columns of other names.",
)
@click.option("--gold", type=NameOrFile(), metavar="NAME|FILE.csv", help="Also store this gold table in the run.")
@click.option("--strict", is_flag=True, help="Write nothing if one conversation cannot be read.")
def command(
    form: str | None,
    files: tuple[Path, ...],
    out: Path,
    system: str | None,
    trial: int | None,
    topics: str | None,
    topic: str | None,
    counts: Counts | None,
    breakdown: Breakdown | None,
    user: str | None,
    columns: tuple[str, ...],
    gold: str | None,
    strict: bool,
) -> int:
    # The folder of a ConvoKit corpus has its utterances in one file.
    files = tuple(next((own for name in UTTERANCES if (own := file / name).is_file()), file) for file in files)
    if form is None and columns:
        form = "table"
    elif form is None:
        found_form = recognise_format(files)
        form = found_form or "messages"
        how = "recognised by what the files hold" if found_form else "because no format is recognised"
        print_message(f"format: {form}, {how} (--format names another)")
    chosen = find_importer(form)
    for option, advice in chosen.unused.items():
        if {"trial": trial, "topic": topic}[option] is not None:
            raise InputError(f"--{option} has no effect on files of the format {form}", advice=advice)
    for option, given in {"counts": counts, "breakdown": breakdown}.items():
        if given is not None and not chosen.annotated:
            what = f"--{option} has no effect on files of the format {form}"
            raise InputError(what, advice=f"leave out --{option}, which is for dbdc")
    for name, field, said in (("--user", "user", user), ("--map", "columns", columns)):
        if said and field not in chosen.options:
            known = ", ".join(other for other, one in IMPORTERS.items() if field in one.options)
            what = f"{name} has no effect on files of the format {form}"
            raise InputError(what, advice=f"leave out {name}, which is for {known}")
    known_topics = load_topics(topics) if topics else None
    request = Request(
        files,
        system or "",
        trial or 1,
        known_topics,
        topic or "",
        counts or "workshop",
        breakdown or "B",
        read(out).conversations if is_run(out) else (),
        strict,
        user or "",
        _columns(columns),
    )
    found = chosen.read(request)
    if not (found.conversations or found.left_out):
        what = "this file contains" if len(files) == 1 else f"these {len(files)} files contain"
        raise InputError(f"{what} no conversation", place=Place.of(files[0]))
    table = (
        None if gold is None else _read_gold(gold, found.topics)
    )  # now, so that a run is written completely or not at all
    names = describe_odd_names(one.key.system for one in (*request.recorded, *found.conversations))
    for warning in (*found.warnings, *names, *_grades_without_gain(found.gold), *_grades_without_gain(table or ())):
        print_message(printable(f"warning: {warning}", line=True))
    most_turns = dict(found.most_turns)
    if is_run(out):
        most_turns = {**stated_most_turns(read_header(out)), **most_turns}
        read_gold_layers([out], found.topics)  # a layer that cannot be read stops the import before it writes
    source = {"format": form, "files": [file.name for file in files]}
    header = import_header(found.conversations, found.topics, source=source, most_turns=most_turns)
    imported = record(out, found.conversations, header)
    for layer in found.layers:
        keep_layer(out, replace(layer, made_at=stamp(utc_now())))
    if len(found.gold):
        files_named = ", ".join(file.name for file in files)
        keep_gold(out, found.gold, source=files_named, author="annotator", notes=found.notes)
    if gold is not None and table is not None:
        keep_gold(out, table, source=gold)
    known = f", {imported.known} were there already" if imported.known else ""
    left_out = f", {len(found.left_out)} left out" if found.left_out else ""
    written = pluralize(imported.written, "conversation")
    entities = pluralize(len(read_gold_layers([out], found.topics)), "judged entity")
    for fault in found.left_out[:_MOST_LISTED]:
        print_message(printable(f"left out: {fault}"))
    if len(found.left_out) > _MOST_LISTED:
        print_message(f"left out: {len(found.left_out) - _MOST_LISTED} more")
    print_message(_count_contents(found))
    if ends := describe_inferred_ends(found.conversations):
        print_message(ends)
    click.echo(f"{written} written to {out}{known}{left_out}; {entities}", err=True)
    return 3 if found.left_out else 0


def _columns(given: tuple[str, ...]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    pairs: list[str] = []
    for one in given:
        if "=" not in one and one.endswith((".yaml", ".yml")):
            mapping = read_document(one).validate_as(_Mapping).map
            pairs += [f"{meaning}={column}" for meaning, column in mapping.items()]
        else:
            pairs.append(one)
    for pair in pairs:
        meaning, equals, column = pair.partition("=")
        if not equals or meaning not in COLUMNS or not column:
            what = f"--map {pair!r} is not MEANING=COLUMN" + suggestion(meaning, COLUMNS)
            raise InputError(what, allowed=", ".join(COLUMNS), advice="such as --map prompt=Question")
        if meaning in found:
            raise InputError(f"--map names two columns for {meaning}", advice="name one")
        if same := next((one for one, other in found.items() if other.casefold() == column.casefold()), ""):
            raise InputError(
                f"--map names the column {column!r} for {same} and for {meaning}", advice="name one of them"
            )
        found[meaning] = column
    return found


def _count_contents(found: Found) -> str:
    """Return a sentence with the numbers of dialogues, turns, messages, acts, labels and judgments that were read."""
    turns = [turn for one in found.conversations for turn in one.turns]
    counts = {
        "answer": sum(turn.reply is not None for turn in turns),
        "act": sum(bool(turn.act) for turn in turns),
        "label": sum(bool(turn.label) for turn in turns),
        "judgment": sum(len(layer.judgments) for layer in found.layers),
    }
    told = ", ".join(pluralize(count, what) for what, count in counts.items() if count or what == "answer")
    roles = ", ".join(f"{role} {count}" for role, count in found.roles.items() if count)
    dialogues = pluralize(len(found.conversations), "dialogue")
    return f"read: {dialogues}, {pluralize(len(turns), 'turn')}, {told}" + (f"; messages: {roles}" if roles else "")


def _read_gold(name: str, topics: TopicSet) -> GoldTable:
    try:
        return load_gold(name, topics)
    except InputError as fault:
        if topics.name != IMPORTED_TOPICS:
            raise
        advice = "a gold table is about the topics of a set: name the set with --topics, such as fairweb-45"
        raise InputError(fault.what, place=fault.place, allowed=fault.allowed, advice=advice) from None


def _grades_without_gain(gold: Iterable[GoldEntry]) -> Iterator[str]:
    first = {entry.grade: entry for entry in reversed(tuple(gold))}
    if not first:
        return
    from scoring.settings import Settings  # late: most imports have no gold

    gains = Settings().gains
    for grade in sorted(first.keys() - gains.keys()):
        at = f"{first[grade].place}: " if first[grade].place else ""
        yield f"{at}grade L{grade} has no gain: correct it, or score with --gain L{grade}=GAIN"
