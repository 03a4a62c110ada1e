"""The annotated transcript text, written: what `recordings.transcript` reads back exactly.

What comes back: identity, texts, states, labels, outcome, times of start and end, and the gold of URLs that stand in
the replies. What a transcript has no place for: times of turns, tokens, evidence, the reasons of routes, links whose
address does not stand in the text. A run folder keeps all of that; a transcript is for reading and annotating.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from os import PathLike
from urllib.parse import quote

from recordings.conversation import Conversation
from recordings.exports import write_export
from recordings.transcript import FORMAT, entity_key
from topics.gold import GoldTable, written_vector
from topics.links import find_urls
from topics.topic import TopicSet

__all__ = ["transcript_text", "write_transcript"]

_UNWRITABLE = re.compile("[\\0\ud800-\udfff]")  # what cannot stand in a text file in UTF-8
_LIKE_MARKUP = re.compile(r"[#\\]|wc\s*=", re.IGNORECASE)
_SAFE = "/:+,;@!$&'()*#-._~<>[]{}|^?"  # everything a person would like to read; not %, = or white space


def write_transcript(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    gold: GoldTable | None = None,
    topics: TopicSet | None = None,
) -> None:
    """Write `transcript_text` to `path`, whole or not at all. Raises as `write_export` does."""
    text = transcript_text(conversations, gold=gold, topics=topics)
    write_export(path, text.encode())


def transcript_text(
    conversations: Iterable[Conversation], *, gold: GoldTable | None = None, topics: TopicSet | None = None
) -> str:
    """The conversations as annotated text; gold: what annotations are written from, topics: to know the entities."""
    lines: list[str] = []
    for conversation in conversations:
        lines += _conversation(conversation, gold or GoldTable(), topics)
    return "\n".join(lines) + "\n"


def _conversation(conversation: Conversation, gold: GoldTable, topics: TopicSet | None) -> Iterator[str]:
    key, outcome = conversation.key, conversation.outcome
    pairs = {
        "system": key.system,
        "trial": str(key.trial),
        "attempt": str(conversation.attempt),
        "id": conversation.trial_id,
        "outcome": outcome.kind if outcome else "interrupted",
        "reason": outcome.reason if outcome else "",
        "detail": outcome.detail if outcome else "",
        "session": conversation.session,
        "place": str(conversation.place),
        "user": conversation.user,
        "worker": conversation.worker,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
        "states": " ".join(turn.state for turn in conversation.turns),
    }
    kept = " ".join(f"{name}={_quoted(value)}" for name, value in pairs.items() if value)
    yield f"###### {FORMAT} {kept}"
    yield f"##### {_quoted(key.topic)}"
    words = 0
    judged: set[str] = set()
    topic = next((one for one in topics.topics if one.id == key.topic), None) if topics else None
    for turn in conversation.turns:
        yield f"### U{turn.number}"
        yield from map(_escaped, turn.said.split("\n"))
        words += len(turn.said.split())
        if turn.reply is None:
            continue
        yield f"### S{turn.number}" + (f" {_quoted(turn.label)}" if turn.label else "")
        for line in turn.reply.answer.text.split("\n"):
            yield _escaped(line)
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
                    yield f"#{name}: {written_vector(vector)}" + (f" #{raw}" if raw else "")
            words += len(line.split())


def _escaped(line: str) -> str:
    if _UNWRITABLE.search(line):
        return "\\" + json.dumps(line)
    return f"\\{line}" if _LIKE_MARKUP.match(line) else line


def _quoted(text: str) -> str:
    return quote(text, safe=_SAFE, errors="surrogatepass")
