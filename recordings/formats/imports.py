"""Import of conversations that were recorded elsewhere into a run folder."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from protocols.answer import PARTS
from recordings.conversations.answer_parts import REPLY_KEYS
from recordings.conversations.conversation import INVALID, Conversation, Turn
from recordings.conversations.endings import KINDS, NO_REPLY, is_end_stated
from recordings.events.attempts import AttemptId
from recordings.events.events import events_of
from recordings.events.redacted_events import redacted_value
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.files.times import Now, unix_seconds, utc_now
from recordings.log.header import Header, make_header
from recordings.log.own_loop import run_to_end
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.log.turn_counts import MOST_TURNS
from recordings.secrets.redaction import Redactor
from topics.errors import InputError, Place, suggestion
from topics.topic import TopicSet, check_topic_id
from topics.unseen_characters import find_unseen


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """The number of conversations that were written, and of identical conversations that were already in the run."""

    written: int
    known: int


def import_header(
    conversations: Sequence[Conversation],
    topics: TopicSet | None,
    *,
    source: Json = None,
    most_turns: Mapping[tuple[str, str], int] | None = None,
    clock: Now = utc_now,
) -> Header:
    """Make the header of a run of imported conversations. It has the names of the systems and no protocol.

    Only the topics that occur are kept, in the order of the set. `most_turns` is the protocol's maximum number of user
    turns by (system, topic), if known. Raises InputError for system names that are not allowed, and for topic ids that
    are invalid and could not be read again.
    """
    for system in sorted({conversation.key.system for conversation in conversations}):
        check_system_name(system)
    names = {conversation.key.topic for conversation in conversations}
    kept = None
    if topics is not None:
        for name in sorted(names):
            check_topic_id(name)
        kept = topics.only(names)
    systems = {conversation.key.system: {"name": conversation.key.system} for conversation in conversations}
    audit: dict[str, Json] = {"name": "import", "topics": topics.name if topics else "", "trials": 0}
    if most_turns:
        by_system: dict[str, dict[str, int]] = {}
        for (system, topic), most in sorted(most_turns.items()):
            by_system.setdefault(system, {})[topic] = most
        audit[MOST_TURNS] = by_system
    return make_header(audit=audit, protocol=None, topics=kept, systems=systems, source=source, clock=clock)


def record(
    run: str | PathLike[str],
    conversations: Iterable[Conversation],
    header: Header,
    *,
    secrets: Iterable[str] = (),
    clock: Now = utc_now,
) -> ImportCounts:
    """Write conversations into a new run folder, or add them to a run of imports.

    A conversation that is already in the run in the same words is skipped, and repeated conversations are written once.
    Raises RunError, before anything is written, if a different conversation has the same trial and attempt, or if the
    header differs (see `RunWriter.resume`).
    """
    several = tuple(conversations)
    given: dict[AttemptId, Conversation] = {}
    for one in several:
        first = given.setdefault(_attempt_id(one), one)
        if first.key != one.key:
            raise RunError(
                f"two conversations have the same id {one.trial_id[:60]!r}: {_describe_trial(first)}, and "
                f"{_describe_trial(one)}",
                advice="give each conversation a different id, or remove the ids",
            )
        if first != one:
            raise RunError(
                f"two different conversations have the same name: {_describe_trial(one)}",
                advice="give them different trials or systems, in the files or with --trial or --system",
            )
    written = run_to_end(_record_new(Path(run), given, header, tuple(secrets), clock))
    return ImportCounts(written, len(several) - written)


async def _record_new(
    run: Path, given: Mapping[AttemptId, Conversation], header: Header, secrets: Sequence[str], clock: Now
) -> int:
    fresh = dict(given)

    def check(redactor: Redactor) -> None:
        recorded = {_attempt_id(one): one for one in read(run).conversations}
        numbered = {(one.key, one.attempt): one for one in recorded.values()}
        for name, one in given.items():
            known = recorded.get(name) or numbered.get((one.key, one.attempt))
            if known is None:
                continue
            clean = redacted_value(one, redactor)
            same = known.worker == (clean.worker or known.worker) and _comparable_part(known) == _comparable_part(
                clean, known
            )
            if known.trial_id != one.trial_id or not same:
                raise RunError(
                    f"a different conversation is already recorded as {_describe_trial(known)}",
                    place=Place(str(run)),
                    advice="import it under another system or trial, or into another folder",
                )
            del fresh[name]

    async with RunWriter.open(run, header, secrets=secrets, clock=clock, check=check) as writer:
        for conversation in fresh.values():
            await writer.append(*events_of(conversation), sync=False)
    return len(fresh)


def _attempt_id(conversation: Conversation) -> AttemptId:
    return conversation.trial_id, conversation.attempt


def _describe_trial(conversation: Conversation) -> str:
    key = conversation.key
    return f"{key.system}, {key.topic}, trial {key.trial}, attempt {conversation.attempt}"


def _comparable_part(conversation: Conversation, known: Conversation | None = None) -> Conversation:
    """Reduce an imported conversation to the fields that all versions of Harvest import alike. Earlier versions did not
    count missing turns, read a last user turn as a turn whose reply was lost, and left out what the system did besides
    speaking."""
    outcome = conversation.outcome
    if known is not None and len(known.turns) == len(conversation.turns):
        turns = zip(conversation.turns, known.turns, strict=True)
        conversation = replace(conversation, turns=tuple(_known_part(turn, before) for turn, before in turns))
    if outcome is not None and known is not None and known.outcome is not None:
        if known.outcome.missing is None:
            outcome = replace(outcome, missing=None)
        if known.outcome.reason == NO_REPLY and not is_end_stated(outcome):
            outcome = known.outcome
    return replace(conversation, worker="", outcome=outcome)


def _known_part(turn: Turn, known: Turn) -> Turn:
    """Return the turn without the parts of its reply that the recorded turn `known` lacks."""
    if turn.reply is None or known.reply is None or turn == known:
        return turn
    answer, recorded = turn.reply.answer, known.reply.answer
    answer = replace(answer, **{part: getattr(recorded, part) for part in PARTS if not getattr(recorded, part)})
    given = {key: getattr(known.reply, key) for key in REPLY_KEYS if not getattr(known.reply, key)}
    return replace(turn, reply=replace(turn.reply, answer=answer, **given))


# The outcome in files of a conversation that breaks off; it is recorded without one.
INTERRUPTED = "interrupted"

OUTCOMES = (*KINDS, INVALID, INTERRUPTED)

# The most user turns that a file may give or report missing: the limit of a protocol.
MOST_TURNS_ALLOWED = 10_000


def check_system_name(name: str) -> None:
    """Raise InputError for a name that an imported system may not have."""
    wrong = (
        "has an @, which would be read as SYSTEM@RUN"
        if "@" in name
        else "is a path"
        if {".", ".."} & set(re.split(r"[/\\]", name))
        else "is blank"
        if not name.strip()
        else "contains half a character (a lone surrogate)"
        if re.search("[\ud800-\udfff]", name)
        else ""
    )
    if wrong:
        raise InputError(
            f"{name!r} cannot be the name of a system: it {wrong}",
            allowed="any name without @ that is not a path",
            advice="rename it in the file, or give --system if the file names none",
        )


def describe_odd_names(systems: Iterable[str]) -> Iterator[str]:
    """Yield a sentence on each system name with surrounding white space or invisible characters, and a sentence on
    names that look the same, which are kept as separate systems."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(set(systems)):
        shown = name.translate({ord(one): f"<U+{ord(one):04X}>" for one in {*find_unseen(name), *"\t\n\r"}})
        if shown != name:
            yield f"the name of a system contains invisible characters: {shown[:100]}"
        elif name != name.strip():
            yield f"the name of a system begins or ends with white space: {name!r}"
        seen = name.translate(dict.fromkeys(map(ord, find_unseen(name)), ""))
        alike[" ".join(unicodedata.normalize("NFC", seen).split())].append(name)
    for several in alike.values():
        if len(several) > 1:
            codes = ", ".join(ascii(name)[:100] for name in several)
            yield f"names that look the same count as {len(several)} systems: {codes}"


def check_outcome(kind: str) -> None:
    """Raise InputError if no conversation can have the outcome `kind`."""
    if kind not in OUTCOMES:
        raise InputError(f"{kind!r} is not an outcome{suggestion(kind, OUTCOMES)}", allowed=", ".join(OUTCOMES))


def check_time(written: str) -> None:
    """Raise InputError if a text is not a time. "" is accepted as an unknown time."""
    if written and unix_seconds(written) == -math.inf:
        raise InputError(f"{written!r} is not a time", allowed="ISO 8601, such as 2026-01-31T12:00:00Z")
