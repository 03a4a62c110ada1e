"""Reader of the annotated transcripts of the GFRC paper (Figure 5).

    ##### M002                        a topic; a conversation begins
    ### U1                            user turn 1; the lines below it are what was said
    ### S1 o                          system turn 1 and its label (o, x, or - for a turn that never came)
    Back to the Future (1985): https://www.imdb.com/title/tt0088763/
    #L2                               the last URL before this line is highly relevant; a note may follow
    wc= 35                            the URL ends with word 35 of the conversation: a check of the file
    #RATINGS: (0,0,0,1) #1.3M         the URL's membership in the groups of an attribute set, and the raw value

Annotations follow the line that they describe, in any order, and are not part of the conversation. A file has one
conversation for each topic. The system and the trial come from the caller, or from a line that Harvest writes:

    ###### harvest-transcript/1 system=B1 trial=1 …

Below such a line, texts are read back exactly: a text line that begins like an annotation is preceded by a backslash,
and a line that UTF-8 cannot represent is written as a JSON string after a backslash. `#URL: …` names the URL that the
following annotations describe, if it is not the last URL before them.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from urllib.parse import unquote

from protocols.labels import LABELS, MISSING, allowed_labels
from recordings.conversations.conversation import Conversation
from recordings.formats.imports import check_outcome, check_system_name, check_time
from recordings.formats.transcript_annotations import Annotations, attribute_set
from recordings.formats.transcript_heading import EMPTY_HEADING, parse_heading
from recordings.formats.transcript_turns import Draft, assemble, topic_names
from recordings.log.header import trial_identity
from topics.errors import InputError, Place
from topics.gold import GoldEntry, GoldTable
from topics.regular_file import read_bytes
from topics.text_file import decode
from topics.topic import Topic, TopicSet

FORMAT = "harvest-transcript/1"

_OWN_LINE = re.compile(r"###### ?(.*)")
_TOPIC = re.compile(r"#####(?!#)\s*(.*)")
_TURN = re.compile(r"###(?!#)\s*([US])\s*(\d{1,6})(?:\s+(\S+))?")


@dataclass(frozen=True, slots=True)
class Transcript:
    """The content of a transcript file. `gold` has the judged entities. `notes` are the annotator's remarks by (topic,
    entity). `warnings` describe inconsistencies, with file:line. `most_turns` is the protocol's maximum number of user
    turns by (system, topic), if the file gives it."""

    conversations: tuple[Conversation, ...]
    gold: GoldTable
    notes: Mapping[tuple[str, str], str]
    warnings: tuple[str, ...]
    most_turns: Mapping[tuple[str, str], int] = field(default_factory=dict)


def read_transcript(
    path: str | PathLike[str], *, system: str = "", trial: int = 1, topics: TopicSet | None = None
) -> Transcript:
    """Read the conversations and judgments in the file at `path`. Raises InputError with file:line:column.

    `system` and `trial` apply to conversations without a line from Harvest. `topics` gives the names of the topics, the
    way to identify entities, and the number of groups in each attribute set. Without `topics`, entities are identified
    by canonical URLs.
    """
    text = decode(read_bytes(path), fspath(path), "a transcript")
    return parse_transcript(text, fspath(path), system=system, trial=trial, topics=topics)


def parse_transcript(
    text: str, path: str, *, system: str = "", trial: int = 1, topics: TopicSet | None = None
) -> Transcript:
    """Parse the text of a transcript as `read_transcript` does. `path` names the text in messages."""
    text = text.removeprefix("\ufeff")
    if "\n" not in text and "\r" in text:
        text = text.replace("\r", "\n")
    reader = _Reader(path, system, trial, topics)
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        reader.read_line(line, number)
    return reader.finished()


# The allowed values of a line from Harvest, by name.
_CHECKS: Mapping[str, Callable[[str], None]] = {
    "system": check_system_name,
    "outcome": check_outcome,
    "started_at": check_time,
    "ended_at": check_time,
}


class _Reader:
    def __init__(self, path: str, system: str, trial: int, topics: TopicSet | None) -> None:
        self.path, self.system, self.trial, self.topics = path, system, trial, topics
        self.drafts: list[Draft] = []
        self.draft: Draft | None = None
        self.heading = EMPTY_HEADING
        self.most_turns: dict[tuple[str, str], int] = {}
        self.further: list[GoldEntry] = []  # judged, and in no reply
        self.exact = False
        self.returns = False  # our own file went through an editor that ends lines with CR LF
        self.line = 0
        self.words = 0  # of the conversation so far
        self.annotations = Annotations(path, topics)

    def read_line(self, raw: str, number: int) -> None:
        self.line = number
        line = raw.removesuffix("\r") if self.returns or not self.exact else raw
        marked = line.rstrip(" \t\r")
        if found := _OWN_LINE.fullmatch(marked):
            self._own_line(found[1], raw.endswith("\r"))
        elif found := _TOPIC.fullmatch(marked):
            self._topic(found[1])
        elif found := _TURN.fullmatch(marked):
            self._turn(found[1], int(found[2]), found[3] or "")
        else:
            said = self.draft.open_turn if self.draft else None
            if not (said and said.speaker == "S" and self._annotation(marked, said.lines)):
                self._text(line)

    def error(self, what: str, *, column: int = 1, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=Place(self.path, self.line, column), allowed=allowed, advice=advice)

    def _annotation(self, line: str, lines: list[str]) -> bool:
        return self.annotations.read_annotation(line, self.line, lines, self.words, exact=self.exact)

    def _own_line(self, words: str, returns: bool) -> None:
        self._close()
        first, *rest = words.split(" ") if words else [""]
        pairs = rest
        if "=" in first or not first:
            pairs, self.exact = [first, *rest] if first else rest, False
        else:
            name, _, version = first.partition("/")
            if name != FORMAT.partition("/")[0] or version.partition(".")[0] != FORMAT.partition("/")[2]:
                raise self.error(f"this version of a transcript is unknown: {first!r}", column=8, allowed=FORMAT)
            self.exact, self.returns = True, returns
        try:
            self.heading = parse_heading(filter(None, pairs))
            for name, check in _CHECKS.items():
                if name in self.heading.own:
                    check(self.heading.own[name])
        except ValueError as fault:
            raise self.error(str(fault), column=8) from None
        except InputError as fault:
            raise self.error(fault.what, column=8, allowed=fault.allowed, advice=fault.advice) from None
        if self.heading.judged is not None:
            self._continue_entry(self.heading.judged)

    def _continue_entry(self, entry: GoldEntry) -> None:
        if self.topics is not None:
            self._find_topic(entry.topic)
            for name, vector in entry.groups.items():
                attribute_set(self.topics, name, len(vector), Place(self.path, self.line, 8))
        self.further.append(entry)

    def _find_topic(self, name: str) -> Topic:
        assert self.topics is not None
        topic = next((one for one in self.topics.topics if one.id == name), None)
        if topic is None:
            raise self.error(
                f"topic {name!r} is not in the topic set {self.topics.name!r}",
                column=7,
                allowed=topic_names(self.topics),
                advice="if this is text of a reply, remove its first #",
            )
        return topic

    def _topic(self, name: str) -> None:
        self._close()
        name = unquote(name, errors="surrogatepass") if self.exact else name
        if not name:
            raise self.error("the topic has no name", allowed="##### M002")
        topic = None if self.topics is None else self._find_topic(name)
        system = self.heading.own.get("system") or self.system
        if not system:
            raise self.error(
                "the transcript does not name its system", advice="give its name (--system), or ###### system=B1"
            )
        trial = self.heading.number("trial", self.trial)
        identity = trial_identity(None, topic or name, {"name": system}, trial)
        self.draft = Draft(system, name, trial, identity, self.heading, self.exact, self.line, topic)
        if most := self.heading.number("most_turns", 0):
            self.most_turns[system, name] = max(most, self.most_turns.get((system, name), 0))
        self.words = 0

    def _close(self) -> None:
        if self.draft is None:
            return
        conversation = (self.draft.system, self.draft.topic_id, self.draft.trial, self.draft.attempt)
        for other in self.drafts:
            if (other.system, other.topic_id, other.trial, other.attempt) == conversation:
                what = f"topic {self.draft.topic_id} is repeated (first in line {other.line})"
                advice = "put ###### system=… trial=… before each conversation, or use one file per trial"
                raise InputError(what, place=Place(self.path, self.draft.line, 1), advice=advice)
        self.drafts.append(self.draft)
        self.draft = None

    def _turn(self, speaker: str, number: int, label: str) -> None:
        if self.draft is None:
            raise self.error("the turn is before the first topic", allowed="##### M002")
        fault = self.draft.fault(speaker, number)
        if fault:
            raise self.error(fault)
        label = unquote(label, errors="surrogatepass") if self.exact else label.lower()
        if label and speaker == "U":
            raise self.error(f"a user turn has no label ({label!r})", allowed=f"### U{number}")
        if label and label not in (*LABELS, MISSING):
            raise self.error(f"{label!r} is not a label", allowed=allowed_labels())
        self.annotations.begin_turn(self.draft.topic_id, self.draft.topic)
        self.draft.begin(speaker, number, label, self.line)

    def _text(self, line: str) -> None:
        if self.draft is None or self.draft.open_turn is None:
            if line.strip():
                where = "the first topic" if self.draft is None else "the first turn"
                raise self.error(f"there is text before {where}", allowed="##### M002, then ### U1")
            return
        if self.exact and line.startswith("\\"):
            line = self._unescape_line(line)
        self.draft.open_turn.lines.append(line)
        self.annotations.note_url(self.draft.open_turn.lines, self.words)
        self.words += len(line.split())

    def _unescape_line(self, line: str) -> str:
        if not line.startswith('\\"'):
            return line[1:]
        try:
            text = json.loads(line[1:])
        except ValueError as fault:
            raise self.error(f"the text after the backslash is not a JSON string: {fault}", column=2) from None
        return str(text)

    def finished(self) -> Transcript:
        self._close()
        if not self.drafts:
            raise InputError("this file contains no conversation", place=Place(self.path, 1, 1), allowed="##### M002")
        gold, notes = self.annotations.gold(self.further)
        warnings = [*self.annotations.warnings]
        conversations: list[Conversation] = []
        for draft in self.drafts:
            conversation, found = assemble(draft, self.path)
            conversations.append(conversation)
            warnings += found
        return Transcript(tuple(conversations), gold, notes, tuple(warnings), self.most_turns)
