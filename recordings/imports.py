"""Conversations recorded elsewhere, put into a run folder of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from recordings.conversation import Conversation
from recordings.errors import RunError
from recordings.events import events_of
from recordings.header import Header, make_header
from recordings.json_text import Json
from recordings.lengths import MOST_TURNS
from recordings.provenance import Clock, utc_now
from recordings.run_folder import is_run, read
from recordings.store import RunWriter
from topics.errors import Place
from topics.topic import TopicSet, check_topic_id

__all__ = ["Imported", "import_header", "record"]


@dataclass(frozen=True, slots=True)
class Imported:
    """How many conversations were written, and how many stood there already, word for word."""

    written: int
    known: int


def import_header(
    conversations: Sequence[Conversation],
    topics: TopicSet | None,
    *,
    source: Json = None,
    most_turns: Mapping[tuple[str, str], int] | None = None,
    clock: Clock = utc_now,
) -> Header:
    """The header of a run of imported conversations: no protocol, and systems of which only the name is known.

    topics: only those that occur are kept, in the order of the set. most_turns: user turns that the protocol could take
    at most, by (system, topic), where the import knows. Raises InputError for an id that no topic can have: a run with
    it could never be read again.
    """
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
    clock: Clock = utc_now,
) -> Imported:
    """Write conversations into a new run folder, or add them to one that was made of imports.

    What stands there already, word for word, is left as it is. Raises RunError where another conversation stands
    under the same trial and attempt, or where the header differs (see `RunWriter.resume`). Not for use inside a
    running event loop.
    """
    return asyncio.run(_record(Path(run), tuple(conversations), header, tuple(secrets), clock))


async def _record(
    run: Path, conversations: Sequence[Conversation], header: Header, secrets: Sequence[str], clock: Clock
) -> Imported:
    recorded = {}
    if is_run(run):
        recorded = {(one.trial_id, one.attempt): one for one in read(run).conversations}
    async with RunWriter.open(run, header, secrets=secrets, clock=clock) as writer:
        written = 0
        for given in conversations:
            conversation: Conversation = writer.redacted(given)
            known = recorded.get((conversation.trial_id, conversation.attempt))
            if known is not None:
                worker = conversation.worker or known.worker
                if _as_known(known) != _as_known(conversation, known) or known.worker != worker:
                    key = conversation.key
                    raise RunError(
                        f"another conversation is recorded as {key.system}, {key.topic}, trial {key.trial}, "
                        f"attempt {conversation.attempt}",
                        place=Place(str(run)),
                        advice="import it under another system or trial, or into another folder",
                    )
                continue
            await writer.append(*events_of(conversation), sync=False)
            written += 1
    return Imported(written, len(conversations) - written)


def _as_known(conversation: Conversation, known: Conversation | None = None) -> Conversation:
    """What two imports of one file have in common: earlier versions did not count the turns that never came."""
    outcome = conversation.outcome
    if outcome is not None and known is not None and known.outcome is not None and known.outcome.missing is None:
        outcome = replace(outcome, missing=None)
    return replace(conversation, worker="", outcome=outcome)
