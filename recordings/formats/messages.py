"""Conversations as OpenAI-style messages: JSONL with one conversation in each line.

    {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}],
     "metadata": {"system": "B1", "topic": "M002", "trial": 1, "labels": ["o"], "outcome": "completed"}}

Texts, links, labels and outcomes are read back exactly, so every figure that needs no judgments by people or models is
kept. Files of other programs may have other shapes (`recordings.formats.message_shapes`) and messages without text
(`recordings.formats.message_sides`). A greeting before the first user turn is read as a turn whose user text is empty.
Several messages of one side in a row are joined by a line break. Everything that is left out is counted and reported.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, SystemTurn, TrialKey, Turn
from recordings.events.event_lines import restore_reply
from recordings.files.times import Now, normalise_time, utc_now
from recordings.formats.chatgpt import HIDDEN_KEPT
from recordings.formats.import_growth import Draft, IdentifiedBy, Identity
from recordings.formats.import_numbers import number_drafts
from recordings.formats.imports import MOST_TURNS_ALLOWED, check_system_name
from recordings.formats.message_metadata import Metadata
from recordings.formats.message_shapes import Record, conversations_in, is_conversation, record_place, records_of
from recordings.formats.message_sides import Sides, split_sides
from recordings.formats.parquet_rows import PARQUET_MARK, parquet_rows
from recordings.formats.salvaged_text import SalvagedText
from recordings.formats.shapes.shape import MOST_PLACED, Shape, ShapeOptions, topic_name
from recordings.formats.transcript_turns import imported_route, state_name, topic_names
from recordings.judged.judgments import Judgment, Layer, Target
from recordings.log.header import trial_identity
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.json_value import JsonValue
from topics.regular_file import read_blocks, read_bytes
from topics.topic import TopicSet, check_topic_id


@dataclass(frozen=True, slots=True)
class Messages:
    """The content of the imported files. `prompts` has the system prompts by (system, topic, trial). `most_turns` is
    the protocol's maximum number of user turns by (system, topic), if a file gives it. `warnings` are sentences for the
    user of the import. `left_out` has the error of each conversation that could not be read. `roles` counts the
    messages in the files by role. `layers` are the judgments in the files, by author."""

    conversations: tuple[Conversation, ...]
    prompts: Mapping[TrialKey, tuple[str, ...]]
    most_turns: Mapping[tuple[str, str], int]
    warnings: tuple[str, ...] = ()
    left_out: tuple[InputError, ...] = ()
    roles: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    layers: tuple[Layer, ...] = ()


def read_messages(
    *files: str | PathLike[str],
    system: str = "",
    topic: str = "",
    topics: TopicSet | None = None,
    recorded: Sequence[Conversation] = (),
    strict: bool = True,
    clock: Now = utc_now,
    shape: Shape | None = None,
    options: ShapeOptions | None = None,
) -> Messages:
    """Read the conversations in the files.

    `system` and `topic` apply to conversations whose metadata does not name a system or topic. If `system` is "", the
    model beside the conversation is used, or else the name of the file. If `topic` is "", a conversation that names no
    topic is a topic of its own, by its id.
    `topics` are the allowed topics. `recorded` are the conversations already in the run (see
    `recordings.formats.import_numbers`). `clock` gives the current time, to detect times in the future. `shape` is the
    shape of the files, read with `options`; None stands for messages in any notation. Raises InputError, with
    file:line, if no conversation can be read or, with `strict`, for the first unreadable conversation.
    """
    left_out: list[InputError] = []

    def refuse(fault: InputError) -> None:
        if strict:
            raise fault
        left_out.append(fault)

    reading = _Reading(topic, topics, refuse, clock())
    asked = options or ShapeOptions()
    read = [
        reading.records(file, system) if shape is None else reading.shaped_records(file, system, shape, asked)
        for file in files
    ]
    reading.count_from_zero(read)
    drafts = [draft for one in read for draft in reading.drafts(one)]
    numbered = number_drafts(drafts, recorded, refuse)
    if left_out and not numbered.drafts:
        raise left_out[0]
    if not drafts:
        raise InputError("this file contains no conversation", place=Place.of(files[0], 1))
    found = [draft.conversation for draft in numbered.drafts]
    prompts = reading.prompts
    return Messages(
        tuple(found),
        {one.key: prompts[one.trial_id, one.attempt] for one in found if (one.trial_id, one.attempt) in prompts},
        reading.most_turns,
        (*reading.describe_unread(), *numbered.told),
        tuple(left_out),
        reading.roles,
        _layers(numbered.drafts, ", ".join(Path(file).name for file in files)),
    )


def _layers(drafts: Iterable[Draft], source: str) -> tuple[Layer, ...]:
    """Return the judgments in the files as layers. Of several judgments of one thing, the last one counts."""
    found: dict[tuple[str, str], dict[tuple[Target, str], Judgment]] = {}
    for draft in drafts:
        one = draft.conversation
        for judged in draft.judged:
            target = Target(one.trial_id, one.attempt, judged.turn, judged.speaker)
            judgment = Judgment(target.about(), judged.criterion, judged.value, judged.note)
            found.setdefault((judged.kind, judged.author), {})[target, judged.criterion] = judgment
    return tuple(
        Layer(kind, author, "", source, judgments=tuple(judged.values())) for (kind, author), judged in found.items()
    )


@dataclass(slots=True)
class _File:
    name: str
    system: str
    digest: str
    read: list[tuple[Record, Metadata]] = field(default_factory=list)
    from_zero: bool = False

    def add_records(self, records: Iterable[Record]) -> None:
        self.read += [(replace(one, at=one.at.without_value()), Metadata.from_line(one.value)) for one in records]

    @property
    def numbered(self) -> set[object]:
        several = (told for _, told in self.read if told.values.get("trial") is not None)
        return {str(told.values.get("system") or self.system_of(told)) for told in several}

    def system_of(self, told: Metadata) -> str:
        """Return the system of a conversation whose metadata does not name one."""
        return self.system or told.model or Path(self.name).stem


class _Reading:
    def __init__(
        self, topic: str, topics: TopicSet | None, refuse: Callable[[InputError], None], now: datetime
    ) -> None:
        self.now = now
        self.doubts: dict[str, list[Record]] = {}
        self.topic, self.topics, self.refuse = topic, topics, refuse
        self.known = {} if topics is None else {one.id: one for one in topics.topics}
        self.identity = Identity()
        self.prompts: dict[tuple[str, int], tuple[str, ...]] = {}
        self.most_turns: dict[tuple[str, str], int] = {}
        self.passed: Counter[str] = Counter()
        self.unread: dict[tuple[str, str], None] = {}
        self.from_zero: list[str] = []
        self.refused = 0
        self.roles: Counter[str] = Counter()
        self.own_topics = 0
        self.assumed: Counter[str] = Counter()

    def describe_unread(self) -> Iterator[str]:
        for name in dict.fromkeys(name for name, _ in self.unread):
            keys = ", ".join(key for at, key in self.unread if at == name)
            yield f"{name}: these keys are unknown, so their values are not recorded: {keys}"
        if count := self.passed.pop(HIDDEN_KEPT, 0):
            what = f"{pluralize(count, 'message')} that ChatGPT hid in the user's place"
            yield f"{what}, followed by an answer: read as the user's"
        if counted := [f"{what}: {count}" for what, count in sorted(self.passed.items()) if count]:
            yield f"left out, because it is not text of the conversation: {', '.join(counted)}"
        yield from self.from_zero
        if self.own_topics:
            what = f"{pluralize(self.own_topics, 'conversation')} without a topic"
            yield f"{what}: its id is its topic, but with --topic NAME all are trials of that one"
        for assumed, count in self.assumed.items():
            yield f"{assumed}: {pluralize(count, 'conversation')}"
        for doubt, records in self.doubts.items():
            first = f"the first at {record_place(records[0].at)}"
            yield f"odd, but kept as in the file: {doubt}: {pluralize(len(records), 'conversation')} ({first})"

    def records(self, file: str | PathLike[str], system: str) -> _File:
        data = read_bytes(file)
        found = _File(fspath(file), system, hashlib.blake2b(data, digest_size=16).hexdigest())
        unread: list[str] = []
        values: Iterator[JsonValue]
        if data.startswith(PARQUET_MARK):
            check, values = _accept, parquet_rows(data, found.name)
        else:
            text = SalvagedText.decode(data, found.name, "JSON")
            check, values = text.check, text.values(self.refuse, is_conversation)
        del data  # a large file would be in memory twice
        first = list(islice(values, 2))  # as many as say whether it is the only one
        for value in chain(first, values):
            for at in conversations_in(value, unread, alone=len(first) == 1):
                try:
                    check(at)
                    records, fault = records_of(at)
                    found.add_records(records)
                    if fault is not None:
                        raise fault
                except InputError as fault:
                    self._refuse_record(Record({}, at), fault)
        self.unread.update(dict.fromkeys((found.name, key) for key in unread))
        return found

    def shaped_records(self, file: str | PathLike[str], system: str, shape: Shape, options: ShapeOptions) -> _File:
        digest = hashlib.blake2b(digest_size=16)
        for block in read_blocks(file):
            digest.update(block)
        found = _File(fspath(file), system, digest.hexdigest())
        values = shape.stream(found.name, self.refuse)
        if values is None:
            values = shape.values(read_bytes(file), found.name, self.refuse)
        for group in shape.group(values, options):
            if self.refused > MOST_PLACED:
                group = [one.without_columns() for one in group]
            try:
                found.add_records(shape.read(group, options))
            except InputError as fault:
                self._refuse_record(Record({}, group[0]), fault)
            except RecursionError:
                self._refuse_record(Record({}, group[0]), InputError("lists or objects are nested too deeply"))
        return found

    def count_from_zero(self, files: Sequence[_File]) -> None:
        """Mark the files whose trial numbers begin at 0, and all files that number trials of the same systems, because
        a log may continue in the next file."""
        for file in files:
            file.from_zero = any(told.values.get("trial") == 0 for _, told in file.read)
        counting = [file for file in files if file.from_zero]
        self.from_zero += [f"{file.name}: trials are counted from 0 here, so 1 is added to each" for file in counting]
        for file in counting:  # grows while it is gone through
            for other in files:
                if not other.from_zero and other.numbered and file.numbered & other.numbered:
                    other.from_zero = True
                    counting.append(other)
                    about = f"as in {file.name}, which holds trials of the same system"
                    self.from_zero.append(f"{other.name}: trials are counted from 0, {about}, so 1 is added to each")

    def drafts(self, file: _File) -> Sequence[Draft]:
        first, found = 0 if file.from_zero else 1, []
        for place in range(1, len(file.read) + 1):
            record, told = file.read[place - 1]
            bare = record.without_value()
            file.read[place - 1] = (bare, Metadata({}))  # which is not needed any more
            try:
                found.append(
                    self._draft(
                        record, bare, told, told.text("system") or file.system_of(told), first, f"{file.digest}:{place}"
                    )
                )
            except InputError as fault:
                self._refuse_record(record, fault)
            else:
                self.unread.update(dict.fromkeys((file.name, key) for key in told.ignored))
        return found

    def _refuse_record(self, record: Record, fault: InputError) -> None:
        self.refused += 1
        if fault.place and fault.place.line:
            self.refuse(fault)
        elif self.refused > MOST_PLACED:
            at = Place(record.at.path, 0 if record.at.loc else record.at.line)
            self.refuse(InputError(fault.what, place=at, allowed=fault.allowed, advice=fault.advice))
        else:
            self.refuse(record.add_place(fault))

    def _draft(self, record: Record, bare: Record, told: Metadata, system: str, first: int, place: str) -> Draft:
        topic = told.text("topic") or self.topic or record.topic
        if not topic and told.name:
            topic = topic_name(told.name)
            self.own_topics += 1
        if not topic:
            raise InputError("no topic is given", advice="give --topic, or metadata.topic")
        told.checked(check_system_name, system)
        if self.topics is None:
            told.checked(check_topic_id, topic)
        elif topic not in self.known:
            what = f"topic {topic!r} is not in the topic set {self.topics.name!r}"
            raise InputError(what, allowed=topic_names(self.topics))
        sides = split_sides(record.value["messages"])
        self.roles += sides.roles
        if len(sides.turns) > MOST_TURNS_ALLOWED:
            what = f"the conversation has too many user turns: {len(sides.turns)}"
            raise InputError(what, allowed=f"at most {MOST_TURNS_ALLOWED}", advice="split it into conversations")
        given = told.values.get("trial") is not None
        trial = told.count("trial", 1, least=first) + 1 - first if given else 0
        own, began = told.text("id"), told.time("started_at") or told.began
        known: IdentifiedBy = "number" if given else "id" if told.name else "time" if began else "file"
        name = {"id": told.name, "time": normalise_time(began)}.get(known, "")
        if given:
            identity = own or trial_identity(None, self.known.get(topic, topic), {"name": system}, trial)
        elif known == "file":
            identity = self.identity(system, topic, "file", place)
        else:
            identity = self.identity(system, topic, known, name, words=sides.words)
        conversation = _conversation(
            TrialKey(system, topic, trial), identity, told, sides, began, Place(record.at.path)
        )
        self.passed += sides.passed + record.passed
        self.assumed.update([record.assumed] if record.assumed else [])
        answers = sum(turn.answer is not None for turn in sides.turns)
        for doubt in (
            *told.doubts(told.labels(len(sides.turns), answers), answers),
            *told.doubtful_times(began, conversation.ended_at, self.now),
            *told.doubtful_numbers(),
        ):
            self.doubts.setdefault(doubt, []).append(bare)
        if sides.prompts:
            self.prompts[identity, conversation.attempt] = tuple(sides.prompts)
        if most := told.most_turns:
            self.most_turns[system, topic] = max(most, self.most_turns.get((system, topic), 0))
        self.unread.update(dict.fromkeys((record.at.path, key) for key in sides.unread))
        judged = [one for one in (*record.judged, *sides.judged) if one.value not in (math.inf, -math.inf)]
        if infinite := len(record.judged) + len(sides.judged) - len(judged):  # as 1e999 is read
            self.passed["judgments that are no finite number"] += infinite
        return Draft(conversation, known, bare, name, judged)


def _accept(value: JsonValue) -> None: ...


def _conversation(key: TrialKey, identity: str, told: Metadata, sides: Sides, began: str, place: Place) -> Conversation:
    said = sides.turns
    answers = sum(turn.answer is not None for turn in said)
    labels, states = told.labels(len(said), answers), told.turn_texts("states", len(said))
    speakers = [told.turn_texts(key, len(said)) for key in ("users", "acts", "worded", "sessions")]
    links, parts, choices = told.links(len(said), answers), told.parts(len(said)), told.choices(len(said), place)
    pressed, attached = told.pressed(len(said), place), told.attached(len(said), place)
    outcome = told.outcome(len(said), answers, labels, sides.last)
    if outcome is not None:
        outcome = replace(outcome, choice=told.end_choice(place))
    turns = []
    for at, spoken in enumerate(said, 1):
        state = state_name(states, at)
        label = labels[at - 1] if at <= len(labels) else ""
        last = f"stop:{outcome.kind if outcome else 'interrupted'}"
        target = last if at == len(said) else state_name(states, at + 1)
        found = links[at - 1] if at <= len(links) else None
        reply = spoken.reply()
        if reply is not None:
            own = parts[at - 1] if at <= len(parts) else None
            if found is not None:
                reply = replace(reply, answer=replace(reply.answer, links=found, links_left_out=0))
            elif own and spoken.steps.sources:
                reply = SystemTurn(Answer.of(reply.answer.text))
            if own:  # as a recording has it, so it counts rather than the messages
                reply = restore_reply(reply, own, place)
        routed = reply is not None and label not in ("", "-")
        route = imported_route(at, state, label, target) if routed else None
        user, act, worded, session = ("".join(one[at - 1 : at]) for one in speakers)
        act = act or "+".join(sorted(set(spoken.acts)))
        choice = choices[at - 1] if choices else None
        press = pressed[at - 1] if pressed else None
        files = attached[at - 1] if attached else ()
        turns.append(Turn(at, state, spoken.said, reply, route, user, act, worded, choice, session, press, files))
    return Conversation(
        key=key,
        trial_id=identity,
        attempt=told.count("attempt", 1),
        turns=tuple(turns),
        outcome=outcome,
        session=told.text("session"),
        place=told.count("place", 1),
        user=told.text("user", "imported"),
        worker=told.text("worker"),
        member=told.text("member"),
        started_at=began,
        ended_at=told.time("ended_at"),
    )
