"""The formats that `harvest data export` writes, by name. A format that is also imported has the same name there."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from protocols.answer import PARTS
from recordings.conversations.conversation import Conversation
from recordings.formats.answers_export import write_answers
from recordings.formats.atif_export import write_trajectories
from recordings.formats.convokit_export import write_convokit
from recordings.formats.dbdc import annotator_counts, write_dialogues
from recordings.formats.dialoguekit_export import write_dialoguekit
from recordings.formats.ikat_export import write_ikat
from recordings.formats.messages_export import write_messages
from recordings.formats.sim4ia_export import write_sim4ia
from recordings.formats.spans_export import write_spans
from recordings.formats.table_export import cell_columns, write_table
from recordings.formats.transcript_export import write_transcript
from recordings.formats.usersim_export import write_usersim
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import read_layers
from recordings.log.header import Header


@dataclass(frozen=True, slots=True)
class Export:
    """What is written: `conversations` of the run in the folder `run`, and the run's `header`. `most_turns` is the
    protocol's maximum number of user turns by (system, topic). `team` is who submits, for formats of a track."""

    run: Path
    header: Header
    conversations: tuple[Conversation, ...]
    most_turns: Mapping[tuple[str, str], int]
    team: str = ""


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format. `write` writes the file, or the `folder`, and returns sentences for the user. `about` describes the
    format for `harvest data export --help`. `kept` are the parts of answers that the format can contain. `by_team` is
    True if the format names who submits."""

    write: Callable[[Export, Path], Iterable[str] | None]
    about: str
    kept: tuple[str, ...] = ()
    folder: bool = False
    by_team: bool = False


def _gfrc(export: Export, out: Path) -> None:
    gold, topics = read_gold_layers([export.run]), export.header.topic_set()
    write_transcript(export.conversations, out, gold=gold, topics=topics, most_turns=export.most_turns)


def _answers(export: Export, out: Path) -> None:
    topics = export.header.topic_set()
    write_answers(export.conversations, out, {one.id: one.request for one in topics.topics} if topics else None)


def _table(export: Export, out: Path) -> Iterable[str]:
    write_table(export.conversations, out, cell_columns(export.header))
    if silent := sum(not one.turns for one in export.conversations):
        yield f"conversations without a turn, which have no row: {silent}"


def _dialoguekit(export: Export, out: Path) -> None:
    layers = read_layers(export.run)
    write_dialoguekit(export.conversations, out, layers=layers, most_turns=export.most_turns)


def _dbdc(export: Export, out: Path) -> None:
    write_dialogues(export.conversations, out, annotator_counts(read_layers(export.run)))


EXPORTERS: Mapping[str, Exporter] = MappingProxyType(
    {
        "messages": Exporter(
            lambda export, out: write_messages(export.conversations, out, most_turns=export.most_turns),
            "a JSON object on each line, with messages as in OpenAI's API",
            PARTS,
        ),
        "table": Exporter(
            _table, "a row for each turn, as CSV, or as Parquet if the name of the file ends in .parquet", PARTS
        ),
        "gfrc": Exporter(_gfrc, "annotated transcripts as in the GFRC paper"),
        "dialoguekit": Exporter(
            _dialoguekit, "a list of dialogues of DialogueKit and UserSimCRS, with the acts of both sides", PARTS
        ),
        "atif": Exporter(
            lambda export, out: write_trajectories(export.conversations, out, most_turns=export.most_turns),
            "a trajectory of ATIF 1.6 on each line",
            PARTS,
        ),
        "convokit": Exporter(
            lambda export, out: write_convokit(export.conversations, out, most_turns=export.most_turns),
            "the folder of a ConvoKit corpus",
            PARTS,
            folder=True,
        ),
        "otlp": Exporter(
            lambda export, out: write_spans(export.conversations, out, most_turns=export.most_turns),
            "OpenTelemetry's GenAI spans as OTLP in JSON, a trace for each conversation on a line",
            PARTS,
        ),
        "answers": Exporter(_answers, "a record of the TREC RAG tracks on each line", ("sources",)),
        "ikat": Exporter(
            lambda export, out: write_ikat(export.conversations, out, export.team),
            "a run of TREC iKAT as of 2025, a turn on each line",
            ("sources",),
            by_team=True,
        ),
        "sim4ia": Exporter(
            lambda export, out: write_sim4ia(export.conversations, out, export.team),
            "the users' last words as candidates, in the form of Sim4IA's next-utterance task",
            PARTS,
            by_team=True,
        ),
        "usersim": Exporter(
            lambda export, out: write_usersim(export.conversations, out),
            "an utterance on each line, as in the dumps of TREC's User Simulation track",
            ("sources",),
        ),
        "dbdc": Exporter(
            _dbdc,
            "a folder of dialogues as in the Dialogue Breakdown Detection Challenges",
            folder=True,
        ),
    }
)
