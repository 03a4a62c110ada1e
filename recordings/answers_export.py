"""Answers as retrieval tracks and nugget tools take them: JSONL, a record for each conversation.

    {"run_id": "B1/1", "topic_id": "M002", "topic": "…", "references": [], "response_length": 31,
     "answer": [{"text": "…", "citations": []}]}

`run_id` is SYSTEM/TRIAL; `answer` holds the text of each system turn. `response_length` counts words at white space. It
is the form of TREC's RAG tracks, which `nuggetizer` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike

from recordings.conversation import Conversation
from recordings.exports import write_export
from recordings.json_text import Json, line

__all__ = ["write_answers"]


def write_answers(
    conversations: Iterable[Conversation], path: str | PathLike[str], requests: Mapping[str, str] | None = None
) -> None:
    """Write the conversations to `path`, whole or not at all. requests: by topic, what the user wants; where one is
    missing, the first words of the user stand for it. Raises as `write_export` does."""
    write_export(path, b"".join(_record(one, requests or {}) for one in conversations))


def _record(one: Conversation, requests: Mapping[str, str]) -> bytes:
    texts = [turn.reply.answer.text for turn in one.turns if turn.reply is not None]
    answer: list[Json] = [{"text": text, "citations": []} for text in texts]
    first = one.turns[0].said if one.turns else ""
    return line(
        {
            "run_id": f"{one.key.system}/{one.key.trial}",
            "topic_id": one.key.topic,
            "topic": requests.get(one.key.topic) or first,
            "references": [],
            "response_length": sum(len(text.split()) for text in texts),
            "answer": answer,
        }
    )
