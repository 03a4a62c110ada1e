"""Export of answers for retrieval tracks and nugget tools: JSONL with one record for each conversation.

    {"run_id": "B1/1", "topic_id": "M002", "topic": "…", "references": ["https://…"], "response_length": 31,
     "answer": [{"text": "…", "citations": [0]}]}

This is the format of TREC's RAG tracks, which `nuggetizer` reads. `run_id` is SYSTEM/TRIAL. `answer` has the text of
each system turn, and `citations` has the indices (from 0) of its sources in `references`. Each source is listed once,
by its address or, if there is no address, by its title. `response_length` is the number of words separated by white
space.
"""

from collections.abc import Iterable, Mapping
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json, encode_line
from recordings.log.exports import write_export


def write_answers(
    conversations: Iterable[Conversation], path: str | PathLike[str], requests: Mapping[str, str] | None = None
) -> None:
    """Write the conversations to `path`, completely or not at all. `requests` has the user's request by topic; the
    user's first turn replaces a missing request. Raises the errors of `write_export`."""
    lines = []
    for one in conversations:
        answers = [exchange.answer for exchange in one.exchanges]
        places: dict[str, int] = {}
        answer: list[Json] = []
        for each in answers:
            sources = dict.fromkeys(filter(None, (source.href or source.title for source in each.sources)))
            answer.append({"text": each.text, "citations": [places.setdefault(name, len(places)) for name in sources]})
        row: dict[str, Json] = {
            "run_id": f"{one.key.system}/{one.key.trial}",
            "topic_id": one.key.topic,
            "topic": (requests or {}).get(one.key.topic) or (one.turns[0].said if one.turns else ""),
            "references": list(places),
            "response_length": sum(len(each.text.split()) for each in answers),
            "answer": answer,
        }
        lines.append(encode_line(row))
    write_export(path, b"".join(lines))
