"""Export of conversations as a corpus of ConvoKit: a folder with its five files.

`recordings.formats.shapes.convokit` reads it back. Each conversation begins with the utterance that has its id. Systems
are speakers by their names, marked as AI as in ConvoKit 5 (`is_ai`). What ConvoKit has no place for is in the metadata
`harvest` of a conversation.
"""

import json
import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from recordings.conversations.conversation import Conversation
from recordings.files.errors import StoreError
from recordings.files.json_text import Json, encode_document, encode_line
from recordings.files.times import unix_seconds
from recordings.formats.messages_export import conversation_metadata
from recordings.log.exports import write_export
from topics.errors import InputError, Place


def write_convokit(
    conversations: Iterable[Conversation],
    folder: str | PathLike[str],
    *,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the corpus to the new folder `folder`. `most_turns` is as in `write_messages`. Raises InputError if the
    folder exists, and the errors of `write_export`."""
    top, known = Path(folder), most_turns or {}
    if top.exists():
        raise InputError("this folder already exists", place=Place(str(top)), advice="give the name of a new folder")
    several = tuple(conversations)
    systems = {one.key.system for one in several}
    lines: list[bytes] = []
    speakers: dict[str, Json] = {}
    about: dict[str, Json] = {}
    for one in several:
        name = one.trial_id if one.attempt == 1 else f"{one.trial_id}/{one.attempt}"
        user = _user_name(one, systems)
        said = list(_utterances(one, name, user))
        if not said:
            continue  # a corpus has no conversation without words
        lines += map(encode_line, said)
        speakers |= {user: _entry({"is_ai": False}), one.key.system: _entry({"is_ai": True})}
        metadata = conversation_metadata(one, known.get((one.key.system, one.key.topic), 0))
        about[name] = _entry({"system": one.key.system, "topic": one.key.topic, "harvest": metadata})
    try:
        top.mkdir(parents=True)
    except OSError as fault:
        raise StoreError(top, fault) from fault
    write_export(top / "utterances.jsonl", b"".join(lines))
    for file, value in (
        ("speakers", speakers),
        ("conversations", about),
        ("corpus", {"has_ai": True}),
        ("index", _index(lines)),
    ):
        write_export(top / f"{file}.json", encode_document(value))


def _user_name(one: Conversation, systems: set[str]) -> str:
    name = one.member or "user"
    while name in systems:
        name += " (user)"
    return name


def _entry(meta: Mapping[str, Json]) -> Json:
    return {"meta": dict(meta), "vectors": []}


def _utterances(one: Conversation, name: str, user: str) -> Iterable[dict[str, Json]]:
    """Yield the utterances, each an answer to the one before."""
    last: str | None = None
    number = 0
    latest = _seconds(one.started_at)
    for turn in one.turns:
        asked_at = turn.reply.asked_at if turn.reply is not None else ""
        # ConvoKit sorts by time, which fails if only some utterances have one.
        began = latest if (at := _seconds(asked_at)) is None else at
        told: dict[str, str | None] = {"act": turn.act, "state": turn.state, "asked_at": asked_at}
        sides = [(user, turn.said, began, told)]
        if turn.reply is not None:
            ended = began + turn.reply.seconds if began is not None and turn.reply.seconds is not None else began
            given: dict[str, str | None] = {"label": turn.label, "model": turn.reply.model, "finish": turn.reply.finish}
            sides.append((one.key.system, turn.reply.answer.text, ended, given))
        for speaker, text, at, meta in sides:
            number += 1
            own = name if number == 1 else f"{name}#{number}"
            yield {
                "id": own,
                "conversation_id": name,
                "text": text,
                "speaker": speaker,
                "meta": {key: value for key, value in meta.items() if value},
                "reply-to": last,
                "timestamp": at,
                "vectors": [],
            }
            last, latest = own, at


def _seconds(time: str) -> float | None:
    found = unix_seconds(time) if time else -math.inf
    return found if math.isfinite(found) else None


def _index(lines: Iterable[bytes]) -> Json:
    """Return which metadata there is, with its types, as ConvoKit needs it to read the corpus."""
    text, yes = ["<class 'str'>"], ["<class 'bool'>"]
    keys = {key: text for line in lines for key in json.loads(line)["meta"]}
    return {
        "utterances-index": dict(sorted(keys.items())),
        "speakers-index": {"is_ai": yes},
        "conversations-index": {"system": text, "topic": text, "harvest": ["<class 'dict'>"]},
        "overall-index": {"has_ai": yes},
        "version": 1,
        "vectors": [],
    }
