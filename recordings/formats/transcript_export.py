"""Writer of annotated transcripts, which `recordings.formats.transcript` reads back exactly.

A transcript contains the identity of each conversation, its texts, links, states, labels, speakers, outcome, start and
end times, and the gold of the topics. These give every figure that needs no judgments by people or models. A transcript
is for reading and annotating, so it leaves out judgments, the times of turns, tokens, evidence, and the reasons of
routes. The run folder contains all of these.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.formats.transcript import FORMAT
from recordings.formats.transcript_annotations import entity_key
from recordings.formats.transcript_heading import heading_line, judged_line, percent_encode
from recordings.log.exports import write_export
from topics.gold import GoldTable, format_vector
from topics.links import find_urls
from topics.topic import TopicSet

_UNWRITABLE = re.compile("[\\0\ud800-\udfff]")  # not allowed in a text file in UTF-8
_LIKE_MARKUP = re.compile(r"[#\\]|wc\s*=", re.IGNORECASE)


def write_transcript(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    gold: GoldTable | None = None,
    topics: TopicSet | None = None,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the result of `transcript_text` to `path`, completely or not at all. Raises as `write_export` does."""
    text = transcript_text(conversations, gold=gold, topics=topics, most_turns=most_turns)
    write_export(path, text.encode())


def transcript_text(
    conversations: Iterable[Conversation],
    *,
    gold: GoldTable | None = None,
    topics: TopicSet | None = None,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> str:
    """Return the conversations as annotated text. The annotations come from `gold`; entities that no reply mentions are
    listed at the end. `topics` identify entities. `most_turns` has the maximum of user turns by (system, topic)."""
    known, table = most_turns or {}, gold or GoldTable()
    lines: list[str] = []
    about: dict[str, set[str]] = {}
    for conversation in conversations:
        key = conversation.key
        annotated: set[str] = set()
        lines.append(heading_line(conversation, FORMAT, known.get((key.system, key.topic), 0)))
        lines += _conversation(conversation, table, topics, annotated)
        about.setdefault(key.topic, set()).update(annotated)
    for topic, mentioned in about.items():
        lines += [judged_line(entry) for entry in table.entries(topic) if entry.entity not in mentioned]
    return "\n".join(lines) + "\n"


def _conversation(
    conversation: Conversation, gold: GoldTable, topics: TopicSet | None, judged: set[str]
) -> Iterator[str]:
    key = conversation.key
    yield f"##### {percent_encode(key.topic)}"
    words = 0
    topic = next((one for one in topics.topics if one.id == key.topic), None) if topics else None
    for turn in conversation.turns:
        yield f"### U{turn.number}"
        yield from map(_escape_line, turn.said.split("\n"))
        words += len(turn.said.split())
        if turn.reply is None:
            continue
        yield f"### S{turn.number}" + (f" {percent_encode(turn.label)}" if turn.label else "")
        for line in turn.reply.answer.text.split("\n"):
            yield _escape_line(line)
            mentions = find_urls(line)
            for mention in mentions:
                entity = entity_key(topic, mention.href)
                entry = gold.get(key.topic, entity)
                if entry is None or entity in judged:
                    continue
                judged.add(entity)
                if len(mentions) > 1:
                    yield f"#URL: {mention.href}"
                yield f"#L{entry.grade}"
                yield f"wc= {words + len(line[: mention.end].split())}"
                for name, vector in entry.groups.items():
                    raw = entry.raw.get(name, "")
                    yield f"#{name}: {format_vector(vector)}" + (f" #{raw}" if raw else "")
            words += len(line.split())


def _escape_line(line: str) -> str:
    if _UNWRITABLE.search(line):
        return "\\" + json.dumps(line)
    return f"\\{line}" if _LIKE_MARKUP.match(line) else line
