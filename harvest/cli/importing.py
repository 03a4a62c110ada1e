"""`harvest import`: make a run from annotated transcripts or messages files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from recordings.conversation import Conversation
from recordings.gold_layers import keep_gold, read_gold_layers
from recordings.imports import import_header, record
from recordings.lengths import told_most_turns
from recordings.messages import Messages, read_messages
from recordings.run_folder import is_run
from recordings.store import read_header
from recordings.transcript import Transcript, read_transcript
from topics.counting import counted
from topics.errors import InputError, Place
from topics.gold import GoldEntry, GoldTable
from topics.library import load_gold, load_topics
from topics.topic import Topic, TopicSet, TopicType

__all__ = ["command"]


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["gfrc", "messages", "cast2022"]), required=True, help="What the files are."
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="RUN", help="The run folder to write.")
@click.option("--system", help="System of conversations that do not name theirs [the file's name without ending].")
@click.option("--trial", type=click.IntRange(1), default=1, show_default=True, help="Trial of transcripts without one.")
@click.option("--topics", metavar="NAME|FILE", help="Their topics [gfrc: fairweb-45; else: made from the files].")
@click.option("--topic", metavar="ID", help="Topic of messages that do not name theirs.")
@click.option("--gold", metavar="NAME|FILE.csv", help="Keep this gold table in the run too.")
def command(
    form: str,
    files: tuple[Path, ...],
    out: Path,
    system: str | None,
    trial: int,
    topics: str | None,
    topic: str | None,
    gold: str | None,
) -> None:
    """Make a run from annotated transcripts or messages files.

    `gfrc` files hold annotated transcripts as in the GFRC paper (##### M002, ### U1, ### S1 o, #L2, …); `messages`
    files hold a JSON object with "messages" on each line; `cast2022` files hold the topic trees of TREC CAsT 2022, of
    which every path from the root to a leaf becomes a trial.
    """
    if form == "gfrc":
        topic_set = load_topics(topics or "fairweb-45")
        transcripts = [
            read_transcript(file, system=system or file.stem, trial=trial, topics=topic_set) for file in files
        ]
        conversations = [one for transcript in transcripts for one in transcript.conversations]
        most_turns = _longest(transcripts)
        judged = _united(files, transcripts)
        notes = {about: words for transcript in transcripts for about, words in transcript.notes.items()}
        for warning in (warning for transcript in transcripts for warning in transcript.warnings):
            click.echo(f"warning: {warning}", err=True)
    elif form == "cast2022":
        from recordings.trees.cast import SYSTEM, read_cast  # late: brings numpy

        _refuse_two_trees(files)
        conversations = [one for file in files for one in read_cast(file, system=system or SYSTEM).conversations]
        topic_set = load_topics(topics) if topics else _made(conversations)
        most_turns, judged, notes = {}, GoldTable(), {}
    else:
        given = load_topics(topics) if topics else None
        read = [read_messages(file, system=system or file.stem, topic=topic or "", topics=given) for file in files]
        conversations = [one for messages in read for one in messages.conversations]
        topic_set = given or _made(conversations)
        most_turns, judged, notes = _longest(read), GoldTable(), {}
    if is_run(out):
        most_turns = {**told_most_turns(read_header(out)), **most_turns}
    source = {"format": form, "files": [file.name for file in files]}
    header = import_header(conversations, topic_set, source=source, most_turns=most_turns)
    imported = record(out, conversations, header)
    if len(judged):
        keep_gold(out, judged, source=", ".join(file.name for file in files), author="annotator", notes=notes)
    if gold is not None:
        keep_gold(out, load_gold(gold, topic_set), source=gold)
    known = f", {imported.known} stood there already" if imported.known else ""
    written = counted(imported.written, "conversation")
    entities = counted(len(read_gold_layers([out], topic_set)), "judged entity")
    click.echo(f"{written} written to {out}{known}; {entities}", err=True)


def _longest(files: Iterable[Transcript | Messages]) -> dict[tuple[str, str], int]:
    """User turns that the protocol could take at most, by (system, topic), where any of the files says so."""
    found: dict[tuple[str, str], int] = {}
    for file in files:
        for about, most in file.most_turns.items():
            found[about] = max(most, found.get(about, 0))
    return found


def _refuse_two_trees(files: tuple[Path, ...]) -> None:
    """Paths of two files would get the same trial numbers."""
    if len(files) > 1:
        raise InputError(
            f"{len(files)} files of trees were given", allowed="one", advice="import each with its --system"
        )


def _united(files: Iterable[Path], transcripts: Iterable[Transcript]) -> GoldTable:
    """The judgments of all files; two files that disagree on an entity are refused, because one must be wrong."""
    found: dict[tuple[str, str], tuple[GoldEntry, Path]] = {}
    for file, transcript in zip(files, transcripts, strict=True):
        for entry in transcript.gold:
            known, where = found.setdefault((entry.topic, entry.entity), (entry, file))
            if (known.grade, known.groups) != (entry.grade, entry.groups):
                raise InputError(
                    f"{entry.entity} is judged L{entry.grade} {dict(entry.groups)} for topic {entry.topic}, and "
                    f"L{known.grade} {dict(known.groups)} in {where}",
                    place=Place(str(file)),
                    advice="make the two agree, or import the files into two runs",
                )
    return GoldTable(entry for entry, _ in found.values())


def _made(conversations: Iterable[Conversation]) -> TopicSet:
    """Topics for conversations that came without a topic set: their names, and what was asked first."""
    kind = TopicType("unknown")
    made: dict[str, Topic] = {}
    for conversation in conversations:
        first = conversation.turns[0].said if conversation.turns else ""
        made.setdefault(conversation.key.topic, Topic(conversation.key.topic, kind, first or conversation.key.topic))
    return TopicSet("imported", tuple(made.values()), {})
