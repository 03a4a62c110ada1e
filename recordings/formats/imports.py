"""Put conversations recorded elsewhere into a run folder."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import NO_REPLY, says_how
from recordings.events.attempts import AttemptId
from recordings.events.events import events_of
from recordings.events.redacted_events import redacted_value
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.files.times import Now, utc_now
from recordings.formats.imported_names import check_system_name
from recordings.formats.lengths import MOST_TURNS
from recordings.log.header import Header, make_header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.secrets.redaction import Redactor
from topics.errors import Place
from topics.topic import TopicSet, check_topic_id


@dataclass(frozen=True, slots=True)
class Imported:
    """How many conversations were written, and how many were already there, word for word."""

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
    """Make the header of a run of imported conversations: no protocol, and only the names of the systems.

    topics: only those that occur are kept, in the order of the set. most_turns: maximum user turns of the protocol, by
    (system, topic), if the import knows. Raises InputError for an invalid topic id, because a run with it could never
    be read again, and for an invalid system name.
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
) -> Imported:
    """Write conversations into a new run folder, or add them to one of imports.

    A conversation that is already there, word for word, is skipped, and one given twice is written once. Raises
    RunError if a different conversation is there, or is given, under the same trial and attempt, or if the header
    differs (see `RunWriter.resume`); no conversation is written then. Not for use inside a running event loop.
    """
    several = tuple(conversations)
    given: dict[AttemptId, Conversation] = {}
    for one in several:
        first = given.setdefault(_attempt_id(one), one)
        if first.key != one.key:
            raise RunError(
                f"the id {one.trial_id[:60]!r} is given to two conversations: {_describe_trial(first)}, and "
                f"{_describe_trial(one)}",
                advice="give each conversation an id of its own, or none",
            )
        if first != one:
            raise RunError(
                f"two conversations are given as {_describe_trial(one)}",
                advice="give each its own trial or system: in its file, or with --trial or --system, file by file",
            )
    written = asyncio.run(_record_new(Path(run), given, header, tuple(secrets), clock))
    return Imported(written, len(several) - written)


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
            same = known.worker == (clean.worker or known.worker) and _as_known(known) == _as_known(clean, known)
            if known.trial_id != one.trial_id or not same:
                raise RunError(
                    f"another conversation is recorded as {_describe_trial(known)}",
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


def _as_known(conversation: Conversation, known: Conversation | None = None) -> Conversation:
    """Reduce an import to what two imports of one file share: earlier versions did not count the turns that never
    came, and read a last user turn as one whose reply was lost."""
    outcome = conversation.outcome
    if outcome is not None and known is not None and known.outcome is not None:
        if known.outcome.missing is None:
            outcome = replace(outcome, missing=None)
        if known.outcome.reason == NO_REPLY and not says_how(outcome):
            outcome = known.outcome
    return replace(conversation, worker="", outcome=outcome)
