"""The annotated transcript text of the GFRC paper (Figure 5), read.

    ##### M002                        a topic; a conversation begins
    ### U1                            user turn 1; the lines below it are what was said
    ### S1 o                          system turn 1 and its label (o, x, or - for a turn that never came)
    Back to the Future (1985): https://www.imdb.com/title/tt0088763/
    #L2                               the last URL before this line is highly relevant; a note may follow
    wc= 35                            its last word is the 35th of the conversation: a check of the file
    #RATINGS: (0,0,0,1) #1.3M         its membership in the groups of an attribute set, and what it was read from

Annotations stand below the line they are about, in any order, and are no part of what was exchanged. A file holds
one conversation for each topic; which system and which trial come from the caller, or from a line that we write:

    ###### harvest-transcript/1 system=B1 trial=1 …

Under such a line texts come back exactly: a text line that begins like an annotation has a backslash before it,
and one that UTF-8 cannot hold stands as a JSON string behind a backslash. `#URL: …` names the URL that the
annotations below it are about, where that is not the last one before them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike, fspath
from urllib.parse import unquote

from protocols.labels import LABELS, MISSING, allowed_labels
from recordings.conversation import Conversation
from recordings.header import trial_identity
from recordings.transcript_heading import NOTHING, parse_heading
from recordings.transcript_turns import Draft, assemble, topic_names
from topics.attributes import AttributeSet
from topics.errors import InputError, Place
from topics.gold import GoldEntry, GoldTable
from topics.links import canonical_url, find_urls
from topics.regular_file import read_bytes
from topics.text_file import decode
from topics.topic import Topic, TopicSet

__all__ = ["FORMAT", "Transcript", "entity_key", "parse_transcript", "read_transcript"]

FORMAT = "harvest-transcript/1"

_OWN = re.compile(r"###### ?(.*)")
_TOPIC = re.compile(r"#####(?!#)\s*(.*)")
_TURN = re.compile(r"###(?!#)\s*([US])\s*(\d{1,6})(?:\s+(\S+))?")
_GRADE = re.compile(r"#L(\d)(?=[\s#]|$)\s*(.*)")
_LIKE_GRADE = re.compile(r"#[Ll](?:(?:[a-zOX]|\s?[+-]?\d[\d.,]*)(?=[\s#]|$).*|\s*(?:#.*)?)")
_LIKE_ANNOTATION = re.compile(r"#|wc\s*=", re.IGNORECASE)
_VECTOR = re.compile(r"#([A-Za-z][\w-]*)\s*:\s*\(([^()]*)\)\s*(?:#\s*(.*))?")
_COUNT = re.compile(r"wc\s*=\s*(\d{1,9})", re.IGNORECASE)
_URL = re.compile(r"#URL:\s*(\S+)")
_SHARE = re.compile(r"\d{1,9}(?:/\d{1,9}|\.\d{0,40})?|\.\d{1,40}")
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a file holds. gold: the judged entities. notes: the annotator's words by (topic, entity).
    warnings: what was understood but does not agree, each with file:line. most_turns: user turns that the protocol
    could take at most, by (system, topic), where the file says so.
    """

    conversations: tuple[Conversation, ...]
    gold: GoldTable
    notes: Mapping[tuple[str, str], str]
    warnings: tuple[str, ...]
    most_turns: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(slots=True)
class _Judged:
    """Annotations of one URL, as they are collected."""

    href: str
    title: str
    position: int
    place: Place
    grade: int | None = None
    groups: dict[str, tuple[float, ...]] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_transcript(
    path: str | PathLike[str], *, system: str = "", trial: int = 1, topics: TopicSet | None = None
) -> Transcript:
    """The conversations and judgments in the file at `path`.

    system, trial: of conversations without a line of ours. topics: what the topics' names mean, how entities are
    identified and how many groups an attribute set has; without it URLs stand for entities in their canonical form.
    Raises InputError with file:line:column.
    """
    text = decode(read_bytes(path), fspath(path), "a transcript")
    return parse_transcript(text, fspath(path), system=system, trial=trial, topics=topics)


def parse_transcript(
    text: str, path: str, *, system: str = "", trial: int = 1, topics: TopicSet | None = None
) -> Transcript:
    """The same for a text; `path` names it in messages."""
    reader = _Reader(path, system, trial, topics)
    for number, line in enumerate(_lines(text), 1):
        reader.take(line, number)
    return reader.finished()


def entity_key(topic: Topic | None, href: str) -> str:
    """What names the entity behind a URL: its key where it is of the kind the topic asks for, else the URL."""
    kind = topic.type.url if topic else None
    return (kind.key(href) if kind else None) or canonical_url(href)


def _lines(text: str) -> list[str]:
    """Lines as the file has them; only what every line ends with is taken off."""
    text = text.removeprefix("\ufeff")
    if "\n" not in text and "\r" in text:
        text = text.replace("\r", "\n")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


class _Reader:
    def __init__(self, path: str, system: str, trial: int, topics: TopicSet | None) -> None:
        self.path, self.system, self.trial, self.topics = path, system, trial, topics
        self.drafts: list[Draft] = []
        self.draft: Draft | None = None
        self.heading = NOTHING
        self.most_turns: dict[tuple[str, str], int] = {}
        self.further: list[GoldEntry] = []  # judged, and in no reply
        self.exact = False
        self.returns = False  # our own file went through an editor that ends lines with CR LF
        self.line = 0
        self.words = 0  # of the conversation, without the turn at hand
        self.turn_words = 0
        self.mention: tuple[str, str, int] | None = None  # href, title, position of its last word
        self.judged: dict[tuple[str, str], _Judged] = {}
        self.current: _Judged | None = None
        self.warnings: list[str] = []

    def take(self, raw: str, number: int) -> None:
        self.line = number
        line = raw.removesuffix("\r") if self.returns or not self.exact else raw
        marked = line.rstrip(" \t\r")
        if found := _OWN.fullmatch(marked):
            self._own_line(found[1], raw.endswith("\r"))
        elif found := _TOPIC.fullmatch(marked):
            self._topic(found[1])
        elif found := _TURN.fullmatch(marked):
            self._turn(found[1], int(found[2]), found[3] or "")
        elif not (self.draft and self.draft.open and self.draft.open.speaker == "S"):
            self._text(line)
        elif not self._annotation(marked):
            self._refuse_misspelt(marked)
            self._text(line)

    def error(self, what: str, *, column: int = 1, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=Place(self.path, self.line, column), allowed=allowed, advice=advice)

    def _own_line(self, words: str, returns: bool) -> None:
        self._close()
        first, *rest = words.split(" ") if words else [""]
        pairs = rest
        if "=" in first or not first:
            pairs, self.exact = [first, *rest] if first else rest, False
        else:
            name, _, version = first.partition("/")
            if name != FORMAT.partition("/")[0] or version.partition(".")[0] != FORMAT.partition("/")[2]:
                raise self.error(f"a transcript of version {first!r} is not known here", column=8, allowed=FORMAT)
            self.exact, self.returns = True, returns
        try:
            self.heading = parse_heading(filter(None, pairs))
        except ValueError as fault:
            raise self.error(str(fault), column=8) from None
        if self.heading.judged is not None:
            self._further(self.heading.judged)

    def _further(self, entry: GoldEntry) -> None:
        """Gold that no reply mentions."""
        if self.topics is not None:
            self._known(entry.topic)
            for name, vector in entry.groups.items():
                self._attribute(name, len(vector), 8)
        self.further.append(entry)

    def _known(self, name: str) -> Topic:
        assert self.topics is not None
        topic = next((one for one in self.topics.topics if one.id == name), None)
        if topic is None:
            raise self.error(
                f"topic {name!r} is not in the topic set {self.topics.name!r}",
                column=7,
                allowed=topic_names(self.topics),
                advice="if this is text of a reply, take out its first #",
            )
        return topic

    def _attribute(self, name: str, size: int, column: int) -> AttributeSet:
        """The attribute set of a vector. column: of its shares."""
        assert self.topics is not None
        known = self.topics.attributes.get(name)
        if known is None:
            names = ", ".join(self.topics.attributes)
            raise self.error(f"no attribute set is called {name!r}", column=2, allowed=names)
        if len(known.groups) != size:
            what = f"{name} has {len(known.groups)} groups, and {size} shares stand here"
            raise self.error(what, column=column, allowed=", ".join(known.groups))
        return known

    def _topic(self, name: str) -> None:
        self._close()
        name = unquote(name, errors="surrogatepass") if self.exact else name
        if not name:
            raise self.error("a topic without a name", allowed="##### M002")
        topic = None if self.topics is None else self._known(name)
        system = self.heading.own.get("system") or self.system
        if not system:
            raise self.error("nobody says which system this is", advice="give its name (--system), or ###### system=B1")
        trial = self.heading.number("trial", self.trial)
        identity = trial_identity(None, topic or name, {"name": system}, trial)
        self.draft = Draft(system, name, trial, identity, self.heading, self.exact, self.line, topic)
        if most := self.heading.number("most_turns", 0):
            self.most_turns[system, name] = max(most, self.most_turns.get((system, name), 0))
        self.words = self.turn_words = 0
        self.mention = self.current = None

    def _close(self) -> None:
        if self.draft is None:
            return
        conversation = (self.draft.system, self.draft.topic_id, self.draft.trial, self.draft.attempt)
        for other in self.drafts:
            if (other.system, other.topic_id, other.trial, other.attempt) == conversation:
                what = f"topic {self.draft.topic_id} comes a second time (first in line {other.line})"
                advice = "put ###### system=… trial=… before each conversation, or use one file per trial"
                raise InputError(what, place=Place(self.path, self.draft.line, 1), advice=advice)
        self.drafts.append(self.draft)
        self.draft = None

    def _turn(self, speaker: str, number: int, label: str) -> None:
        if self.draft is None:
            raise self.error("a turn before the first topic", allowed="##### M002")
        fault = self.draft.fault(speaker, number)
        if fault:
            raise self.error(fault)
        label = unquote(label, errors="surrogatepass") if self.exact else label.lower()
        if label and speaker == "U":
            raise self.error(f"a user turn has no label ({label!r})", allowed=f"### U{number}")
        if label and not self.exact and label not in (*LABELS, MISSING):
            raise self.error(f"label {label!r}", allowed=allowed_labels())
        self.words += self.turn_words
        self.turn_words = 0
        self.mention = self.current = None
        self.draft.begin(speaker, number, label, self.line)

    def _text(self, line: str) -> None:
        if self.draft is None or self.draft.open is None:
            if line.strip():
                where = "the first topic" if self.draft is None else "the first turn"
                raise self.error(f"text before {where}", allowed="##### M002, then ### U1")
            return
        if self.exact and line.startswith("\\"):
            line = self._unescaped(line)
        self.draft.open.lines.append(line)
        for mention in find_urls(line):
            position = self.words + self.turn_words + len(line[: mention.end].split())
            self.mention = (mention.href, _title(line[: mention.start], self.draft.open.lines), position)
            self.current = None
        self.turn_words += len(line.split())

    def _unescaped(self, line: str) -> str:
        if not line.startswith('\\"'):
            return line[1:]
        try:
            text = json.loads(line[1:])
        except ValueError as fault:
            raise self.error(f"not a JSON string behind the backslash: {fault}", column=2) from None
        return str(text)

    def _annotation(self, line: str) -> bool:
        if found := _GRADE.fullmatch(line):
            judged = self._about()
            grade = int(found[1])
            if judged.grade not in (None, grade):
                raise self.error(f"{judged.href} has grade L{judged.grade} already (see {judged.place})")
            judged.grade = grade
            note = found[2].lstrip("# ").strip()
            if note and note not in judged.notes:
                judged.notes.append(note)
        elif found := _VECTOR.fullmatch(line):
            self._vector(found, self._about())
        elif found := _COUNT.fullmatch(line):
            judged = self._about()
            if judged.position != int(found[1]):
                place = Place(self.path, self.line)
                what = f"wc= {found[1]}, but the last word of {judged.href} is word {judged.position}"
                self.warnings.append(f"{place}: {what} of the conversation")
        elif self.exact and (found := _URL.fullmatch(line)):
            self._point_at(found[1])
        else:
            return False
        return True

    def _refuse_misspelt(self, line: str) -> None:
        """A grade that is none would be text: its words would be counted, and its URL would have no grade."""
        if _LIKE_GRADE.fullmatch(line):
            way_out = "put a backslash before it" if self.exact else "take out its #"
            allowed, advice = "#L0 to #L9; a note may follow", f"if this is text of a reply, {way_out}"
            raise self.error(f"{line[:40]!r} is no grade", column=2, allowed=allowed, advice=advice)
        if self.exact and _LIKE_ANNOTATION.match(line):
            allowed = "#L2, wc= 35, #RATINGS: (0,0,0,1), #URL: https://…"
            advice = "if this is text of a reply, put a backslash before it"
            raise self.error(f"{line[:40]!r} is not an annotation", allowed=allowed, advice=advice)

    def _about(self) -> _Judged:
        """What the annotation at hand is about: the last URL before it."""
        if self.mention is None:
            raise self.error("an annotation with no URL before it in this turn", advice="put it below the URL's line")
        assert self.draft is not None
        href, title, position = self.mention
        key = (self.draft.topic_id, entity_key(self.draft.topic, href))
        if self.current is None:
            known = self.judged.setdefault(key, _Judged(href, title, position, Place(self.path, self.line)))
            known.position = position
            self.current = known
        return self.current

    def _point_at(self, href: str) -> None:
        """The annotations that follow are about this URL: the first such one in the nearest line above."""
        assert self.draft is not None
        assert self.draft.open is not None
        lines = self.draft.open.lines
        before = self.words + self.turn_words
        for i in range(len(lines) - 1, -1, -1):
            before -= len(lines[i].split())
            for mention in find_urls(lines[i]):
                if mention.href == href:
                    position = before + len(lines[i][: mention.end].split())
                    self.mention = (href, _title(lines[i][: mention.start], lines[: i + 1]), position)
                    self.current = None
                    return
        raise self.error(f"{href} does not stand before this line in this turn", column=7)

    def _vector(self, found: re.Match[str], judged: _Judged) -> None:
        name, raw = found[1], (found[3] or "").strip()
        parts = re.finditer(r"[^,]+|(?<=,)(?=,|$)|^$", found[2])
        shares = tuple(self._share(part[0].strip(), found.start(2) + part.start() + 1) for part in parts)
        if abs(sum(shares, Fraction(0)) - 1) > Fraction(1, 10**6):
            raise self.error(f"the shares of {name} sum to {float(sum(shares)):g}, not to 1", column=found.start(2) + 1)
        vector = tuple(float(share) for share in shares)
        if self.topics is not None:
            known = self._attribute(name, len(vector), found.start(2) + 1)
            if raw and _means(known, raw, vector):
                judged.raw[name] = raw
        if judged.groups.get(name, vector) != vector:
            raise self.error(f"{judged.href} has other shares of {name} already (see {judged.place})")
        judged.groups[name] = vector
        note = f"{name}: {raw}"
        if raw and note not in judged.notes:
            judged.notes.append(note)

    def _share(self, text: str, column: int) -> Fraction:
        if _SHARE.fullmatch(text):
            try:
                return Fraction(text)
            except ZeroDivisionError:
                pass
        raise self.error(f"{text!r} is not a share", column=column, allowed="0, 1, 1/2, 0.25")

    def finished(self) -> Transcript:
        self._close()
        if not self.drafts:
            raise InputError("no conversation in this file", place=Place(self.path, 1, 1), allowed="##### M002")
        entries: list[GoldEntry] = []
        notes: dict[tuple[str, str], str] = {}
        for (topic_id, entity), judged in self.judged.items():
            if judged.grade is None:
                self.warnings.append(
                    f"{judged.place}: {judged.href} has annotations but no grade (#L0 to #L9): left out"
                )
                continue
            entries.append(GoldEntry(topic_id, entity, judged.grade, judged.title, judged.groups, judged.raw))
            if judged.notes:
                notes[topic_id, entity] = "; ".join(judged.notes)
        annotated = {(entry.topic, entry.entity) for entry in entries}
        entries += [entry for entry in self.further if (entry.topic, entry.entity) not in annotated]
        conversations: list[Conversation] = []
        for draft in self.drafts:
            conversation, warnings = assemble(draft, self.path)
            conversations.append(conversation)
            self.warnings += warnings
        return Transcript(tuple(conversations), GoldTable(entries), notes, tuple(self.warnings), self.most_turns)


def _means(known: AttributeSet, raw: str, vector: tuple[float, ...]) -> bool:
    """Whether our own reading of a raw value is the annotator's, so that a gold table may be written from it."""
    try:
        return known.membership(raw) == vector
    except ValueError:
        return False


def _title(before: str, lines: list[str]) -> str:
    """What an entity is called: the words before its URL on the line, or the line above; "" if there are none."""
    words = find_urls(before)
    text = before[words[-1].end :] if words else before
    if not text.strip(" \t-–:*•|[](<") and lines[:-1]:
        text = lines[-2]
    return _BULLET.sub("", text).strip(' \t-–:*•|[](<>"“”')[:200]
