"""The formats that `harvest data import` reads. Each format is a function from a request to conversations:

    def read(request: Request) -> Found: ...

A built-in format also declares the options that have no effect on it. Plug-ins add formats as functions, with entry
points of the group `harvest.importers`: `name = "module:read"`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import TypeAlias

from recordings.conversations.conversation import Conversation
from recordings.formats.dbdc import TOPIC, Breakdown, Counts, read_dialogues
from recordings.formats.dialeval import read_helpdesk
from recordings.formats.messages import read_messages
from recordings.formats.shapes.library import SHAPES
from recordings.formats.shapes.shape import Shape, ShapeOptions
from recordings.formats.transcript import Transcript, read_transcript
from recordings.judged.judgments import Layer
from topics.errors import HarvestError, InputError, Place, suggestion
from topics.gold import GoldEntry, GoldTable, format_vector
from topics.library import load_topics
from topics.plug_ins import entry_source, find_plug_ins, load_entry
from topics.topic import Topic, TopicSet, TopicType

# The group of entry points by which plug-ins add formats.
GROUP = "harvest.importers"

# The name of a topic set that was made from the files.
IMPORTED_TOPICS = "imported"


@dataclass(frozen=True, slots=True)
class Request:
    """The input of an importer.

    There is at least one file. `system`, `trial` and `topic` apply to conversations without a system, trial or topic.
    If `system` is "", the name of the file is used; if `topic` is "", every conversation has a separate topic. `topics`
    is None if the topics are made from the files or if the format has its own topics. `counts` and `breakdown` matter
    if people annotated breakdowns: `counts` selects the annotation from which labels are made, and `breakdown` decides
    whether a possible breakdown counts. `recorded` has the conversations that are already in the run, for formats that
    continue their numbers. With `strict`, one unreadable conversation makes the import fail. `user` is the speaker who
    is the user, and `columns` the columns of a table by their meaning, for formats that declare these options.
    """

    files: tuple[Path, ...]
    system: str = ""
    trial: int = 1
    topics: TopicSet | None = None
    topic: str = ""
    counts: Counts = "workshop"
    breakdown: Breakdown = "B"
    recorded: tuple[Conversation, ...] = ()
    strict: bool = False
    user: str = ""
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def system_of(self, file: Path) -> str:
        return self.system or file.stem


@dataclass(frozen=True, slots=True)
class Found:
    """The content of the imported files.

    Each of the `conversations` has an `outcome`; a conversation without an outcome counts as interrupted and is in no
    figure. `topics` are the topics of the conversations. `most_turns` is the protocol's maximum number of user turns,
    by system and topic, if a file gives it. `gold` has the judgments in the files. `notes` are remarks on an entity, by
    (topic, entity). `warnings` are sentences for the user of the import. `layers` are further judgments that are kept
    with the run. `left_out` has the error of each conversation that could not be read. `roles` counts the messages in
    the files by role, if the format has messages.
    """

    conversations: tuple[Conversation, ...]
    topics: TopicSet
    most_turns: Mapping[tuple[str, str], int] = field(default_factory=lambda: MappingProxyType({}))
    gold: GoldTable = field(default_factory=GoldTable)
    notes: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    left_out: tuple[InputError, ...] = ()
    roles: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


ImportFunction: TypeAlias = Callable[[Request], Found]


@dataclass(frozen=True, slots=True)
class Importer:
    """A format that `harvest data import` reads.

    `read` makes conversations of files. `about` describes the content of the files for `harvest data import --help`;
    if it is "", the first line of the docstring of `read` is used. `unused` has advice for each option without effect
    (`trial` or `topic` of a `Request`). `annotated` is True if `counts` and `breakdown` have an effect. `options` names
    the rare options that have one (`user` or `columns` of a `Request`).
    """

    read: ImportFunction
    about: str = ""
    unused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    annotated: bool = False
    options: frozenset[str] = frozenset()

    @property
    def sentence(self) -> str:
        return self.about or (self.read.__doc__ or "").partition("\n")[0].rstrip(".")


def format_names() -> tuple[str, ...]:
    """Return the names of all formats; formats of plug-ins come last."""
    return (*IMPORTERS, *find_plug_ins(GROUP, "importers", IMPORTERS))


def find_importer(name: str) -> Importer:
    """Return the importer of a format. Raises InputError for an unknown name or a plug-in that cannot be loaded."""
    if name in IMPORTERS:
        return IMPORTERS[name]
    others = find_plug_ins(GROUP, "importers", IMPORTERS)
    if name not in others:
        raise InputError(
            f"there is no format {name!r}{suggestion(name, format_names())}", allowed=", ".join(format_names())
        )
    return load_entry(others[name], "the importer", _FUNCTION, partial(_load_importer, others[name]))


_FUNCTION = "a function from a recordings.formats.importers.Request to Found"


def _load_importer(entry: EntryPoint, read: ImportFunction) -> Importer:
    if not callable(read):
        raise TypeError("the entry point is not a function")

    def guarded(request: Request) -> Found:
        """Call the plug-in. The error names the plug-in, so that its faults are not ascribed to Harvest."""
        what = f"the importer {entry.name!r} of {entry_source(entry)}"
        try:
            found = read(request)
        except HarvestError:
            raise
        except Exception as fault:
            *_, last = extract_tb(fault.__traceback__)
            where = f"{last.filename}:{last.lineno}"
            said = f"{what} failed with {type(fault).__name__}: {fault} (at {where})"
            raise InputError(
                said, advice="it is a plug-in, not part of Harvest: correct it, or report the error to its author"
            ) from fault
        if not isinstance(found, Found):
            raise InputError(f"{what} returned {type(found).__name__}", allowed=_FUNCTION)
        return found

    return Importer(guarded)


def read_gfrc(request: Request) -> Found:
    """Annotated transcripts as in the GFRC paper."""
    topics = request.topics or load_topics("fairweb-45")
    read = [
        read_transcript(file, system=request.system_of(file), trial=request.trial, topics=topics)
        for file in request.files
    ]
    most_turns: dict[tuple[str, str], int] = {}
    for transcript in read:
        for about, most in transcript.most_turns.items():
            most_turns[about] = max(most, most_turns.get(about, 0))
    return Found(
        tuple(one for transcript in read for one in transcript.conversations),
        topics,
        most_turns,
        _unite_gold(request.files, read),
        {about: words for transcript in read for about, words in transcript.notes.items()},
        tuple(warning for transcript in read for warning in transcript.warnings),
    )


def read_messages_files(request: Request, shape: Shape | None = None) -> Found:
    """Files of JSON messages, as exported by chat programs or published in data sets."""
    read = read_messages(
        *request.files,
        system=request.system,
        topic=request.topic,
        topics=request.topics,
        recorded=request.recorded,
        strict=request.strict,
        shape=shape,
        options=ShapeOptions(request.user, request.columns, shape.beside(request.files) if shape is not None else {}),
    )
    topics = request.topics or make_topics(read.conversations)
    return Found(
        read.conversations,
        topics,
        read.most_turns,
        warnings=read.warnings,
        layers=read.layers,
        left_out=read.left_out,
        roles=read.roles,
    )


def read_cast2022(request: Request) -> Found:
    """The topic trees of TREC CAsT 2022: every path from the root to a leaf is a trial."""
    cast = import_module("recordings.trees.cast")  # late: brings numpy
    if len(request.files) > 1:  # paths of two files would get the same trial numbers
        what = f"trees must be imported one file at a time, but {len(request.files)} files were given"
        raise InputError(what, allowed="one file", advice="import each file with its own --system")
    conversations = cast.read_cast(request.files[0], system=request.system or cast.SYSTEM).conversations
    return Found(tuple(conversations), request.topics or make_topics(conversations))


def read_dbdc(request: Request) -> Found:
    """Dialogues of the Dialogue Breakdown Detection Challenges, labelled by their annotators."""
    topic = request.topic or TOPIC
    if request.topics is not None and topic not in {one.id for one in request.topics.topics}:
        raise InputError(
            f"topic {topic!r} is not in the topic set {request.topics.name!r}", advice="give a known topic with --topic"
        )
    found = read_dialogues(
        request.files, system=request.system, topic=topic, counts=request.counts, breakdown=request.breakdown
    )
    topics = request.topics or TopicSet(IMPORTED_TOPICS, (Topic(topic, TopicType("unknown"), topic),), {})
    return Found(found.conversations, topics, warnings=found.warnings, layers=found.layers)


def read_dialeval(request: Request) -> Found:
    """Helpdesk dialogues of STC-3 and DialEval, with the nugget types and qualities that their annotators gave."""
    found = read_helpdesk(request.files, system=request.system)
    topics = request.topics or make_topics(found.conversations)
    return Found(found.conversations, topics, warnings=found.warnings, layers=found.layers)


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {
        "gfrc": Importer(
            read_gfrc,
            "annotated transcripts as in the GFRC paper (##### M002, ### U1, ### S1 o, #L2, …)",
            {"topic": "each conversation names its topic (##### M002): leave out --topic"},
        ),
        "messages": Importer(
            read_messages_files,
            'conversations as JSON, one a line or all in a list: {"messages": [{"role": …, "content": …}, …]}; also '
            "ShareGPT, WildChat, LMSYS, and ChatGPT's conversations.json, of which every path is a trial",
            {
                "trial": 'leave out --trial, and write {"metadata": {"trial": 2}} on the line of a conversation; '
                "lines without one are numbered in their order"
            },
        ),
        "cast2022": Importer(
            read_cast2022,
            "the topic trees of TREC CAsT 2022, of which every path from the root to a leaf becomes a trial",
            {
                "trial": "every path is a trial of its own: leave out --trial",
                "topic": "each tree names its topic: leave out --topic",
            },
        ),
        "dbdc": Importer(
            read_dbdc,
            "dialogues whose breakdowns people annotated (DBDC), one topic for all, every dialogue a trial",
            {"trial": "dialogues are numbered in their order: leave out --trial"},
            annotated=True,
        ),
        "dialeval": Importer(
            read_dialeval,
            "helpdesk dialogues with what annotators said of turns and of the whole (STC-3, DialEval), every dialogue "
            "a topic",
            {
                "trial": "every dialogue is a topic of its own: leave out --trial",
                "topic": "every dialogue is a topic of its own: leave out --topic",
            },
        ),
        **{
            name: Importer(
                partial(read_messages_files, shape=shape),
                shape.about,
                {"trial": "conversations are numbered by their trials, or in their order: leave out --trial"},
                options=shape.options,
            )
            for name, shape in SHAPES.items()
        },
    }
)


def make_topics(conversations: Iterable[Conversation]) -> TopicSet:
    """Make a topic set for conversations without topics, from their topic names and first questions."""
    kind = TopicType("unknown")
    made: dict[str, Topic] = {}
    for conversation in conversations:
        first = conversation.turns[0].said if conversation.turns else ""
        made.setdefault(conversation.key.topic, Topic(conversation.key.topic, kind, first or conversation.key.topic))
    return TopicSet(IMPORTED_TOPICS, tuple(made.values()), {})


def _unite_gold(files: Iterable[Path], transcripts: Iterable[Transcript]) -> GoldTable:
    found: dict[tuple[str, str], tuple[GoldEntry, Path]] = {}
    for file, transcript in zip(files, transcripts, strict=True):
        for entry in transcript.gold:
            known, where = found.setdefault((entry.topic, entry.entity), (entry, file))
            if (known.grade, known.groups) != (entry.grade, entry.groups):
                raise InputError(
                    f"{entry.entity} is judged {_show_judgment(entry)} for topic {entry.topic}, and "
                    f"{_show_judgment(known)} in {where}",
                    place=Place(str(file)),
                    advice="make the two agree, or import the files into two runs",
                )
    return GoldTable(entry for entry, _ in found.values())


def _show_judgment(entry: GoldEntry) -> str:
    groups = ", ".join(f"{attribute} {format_vector(vector)}" for attribute, vector in entry.groups.items())
    return f"L{entry.grade}" + (f" ({groups})" if groups else "")
