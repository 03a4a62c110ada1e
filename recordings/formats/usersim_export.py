"""Export of conversations as TREC's User Simulation track has them: an utterance on each line, as in the dump of a run.

    {"conversation_id": "c1", "participant_name": "user", "text": "Hi", "sources": [], "is_final": false, …}

`recordings.formats.shapes.campaign` reads it. `is_final` marks the last utterance of the side that ended it.

Source: TREC-UserSim/trec-usersim-baseline, README.md and simulator/src/api_client.py.
"""

from collections.abc import Iterable, Iterator
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json, encode_line
from recordings.log.exports import write_export

_ENDED_BY = {"user-stopped": "user", "system-ended": "agent"}


def write_usersim(conversations: Iterable[Conversation], path: str | PathLike[str]) -> None:
    """Write the utterances to `path`, completely or not at all. Raises the errors of `write_export`."""
    write_export(path, b"".join(encode_line(row) for one in conversations for row in _rows(one)))


def _rows(one: Conversation) -> Iterator[Json]:
    name = one.trial_id if one.attempt == 1 else f"{one.trial_id}/{one.attempt}"
    said: list[dict[str, Json]] = []
    for turn in one.turns:
        at = turn.reply.asked_at if turn.reply is not None else ""
        if turn.said or turn.reply is None:
            said.append({"participant": "user", "text": turn.said, "sources": [], "timestamp": at})
        if turn.reply is not None:
            sources: list[Json] = [
                {"id": source.href or source.title, "title": source.title, "url": source.href or None}
                for source in turn.reply.answer.sources
            ]
            said.append({"participant": "agent", "text": turn.reply.answer.text, "sources": sources, "timestamp": at})
    ended_by = _ENDED_BY.get(one.outcome.kind if one.outcome is not None else "", "")
    for place, row in enumerate(said, 1):
        who = row.pop("participant")
        last = place == len(said) and who == ended_by
        yield {
            "conversation_id": name,
            "participant_id": who,
            "participant_name": who,
            **row,
            "annotations": {},
            "is_final": last,
        }
