"""Small servers of chat APIs, each written from the specification that it names, which know what they answered.

The user's words decide what goes wrong: `busy` (429), `down` (500), `denied` (401), `cut` (the reply breaks off),
`fail` (the API reports an error of its own).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from protocols.answer import Answer, Source
from tests.servers.local_http import Asked, response

__all__ = ["Dify", "Flowise", "Ollama", "Truth"]

STATUSES = {"busy": "429 Too Many Requests", "down": "500 Internal Server Error", "denied": "401 Unauthorized"}


@dataclass(frozen=True)
class Truth:
    """What a server answered: the answer and what came with it."""

    answer: Answer
    finish: str = ""
    model: str = ""
    tokens: dict[str, int] = field(default_factory=dict)


class Api:
    """heard: the user's words by conversation, in order. truth: what was answered, by the user's words."""

    lines = False

    def __init__(self) -> None:
        self.heard: dict[str, list[str]] = {}
        self.truth: dict[str, Truth] = {}

    def words(self, conversation: str, text: str) -> str:
        """Note that `text` was heard, and return what is answered to it."""
        self.heard.setdefault(conversation, []).append(text)
        return f"{conversation}, {len(self.heard[conversation])}: you said “{text}”, twice twice.\n\nAnd more."

    def conversation(self, named: object) -> str:
        return str(named) if named else f"c{len(self.heard) + 1}"

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        for word, status in STATUSES.items():
            if word.encode() in asked.body:
                writer.write(response(status, '{"message": "no"}', "Retry-After: 3"))
                return
        await self.answer(asked, writer)

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def stream(self, writer: asyncio.StreamWriter, events: Iterable[Any], *, cut: bool = False) -> None:
        """Write the events one by one; half of them if the stream is cut."""
        kind = "application/x-ndjson" if self.lines else "text/event-stream"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
        written = [self.written(event) for event in events]
        for event in written[: len(written) // 2] if cut else written:
            writer.write(event.encode())
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    def written(self, event: Any) -> str:
        if isinstance(event, str):
            return event
        return f"{json.dumps(event)}\n" if self.lines else f"data: {json.dumps(event)}\n\n"


def pieces(text: str, size: int = 9) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class Dify(Api):
    """POST /v1/chat-messages, streamed: langgenius/dify-docs, en/api-reference/openapi_chat.json. The server names a
    conversation that is not named."""

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        query = asked.json["query"]
        conversation = self.conversation(asked.json["conversation_id"])
        text = self.words(conversation, query)
        same = {"conversation_id": conversation, "message_id": "m", "task_id": "t"}
        usage = {"prompt_tokens": 9, "completion_tokens": len(text), "total_tokens": 9 + len(text)}
        names = ("agent_message", "message")[len(query) % 2]
        events: list[Any] = ["event: ping\n\n", {"event": "agent_thought", "thought": "hm", "tool": "", **same}]
        if "unsafe" in query:
            events += [{"event": names, "answer": "Something else.", **same}]
            events += [{"event": "message_replace", "answer": text, **same}]
        else:
            events += [{"event": names, "answer": piece, **same} for piece in pieces(text)]
        if "fail" in query:
            events += [{"event": "error", "status": 400, "code": "invalid_param", "message": "the app is gone", **same}]
        resources = [{"position": 1, "document_name": "mill.pdf", "content": "By the mill."}]
        metadata = {"usage": usage, "retriever_resources": resources}
        events += ["event: ping\n\n", {"event": "message_end", "metadata": metadata, **same}]
        answer = Answer(text, sources=(Source("", "mill.pdf"),), thoughts="hm")
        counts = {"prompt": 9, "completion": len(text), "total": 9 + len(text)}
        self.truth[query] = Truth(answer, tokens=counts)
        await self.stream(writer, events, cut="cut" in query)


class Ollama(Api):
    """POST /api/chat, streamed: ollama/ollama, docs/api.md. It remembers nothing, and sends a JSON value a line."""

    lines = True

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        messages = asked.json["messages"]
        last = messages[-1]["content"]
        conversation = messages[0]["content"].partition(" ")[0]  # there is no id
        text = self.words(conversation, last)
        said = [message["content"] for message in messages if message["role"] == "user"]
        assert said == self.heard[conversation], "the whole conversation is sent"
        same = {"model": "m1", "created_at": "2026-01-01T00:00:00Z", "done": False}
        events: list[Any] = [{**same, "message": {"role": "assistant", "content": "", "thinking": "hm"}}]
        events += [{**same, "message": {"role": "assistant", "content": piece}} for piece in pieces(text)]
        if "fail" in last:
            events += [{"error": "the model has gone"}]
        counts = {"prompt_eval_count": len(said), "eval_count": len(text)}
        empty = {"role": "assistant", "content": ""}
        events += [{**same, "message": empty, "done": True, "done_reason": "stop", **counts}, "\n"]
        tokens = {"prompt": len(said), "completion": len(text)}
        self.truth[last] = Truth(Answer(text, thoughts="hm"), "stop", "m1", tokens)
        await self.stream(writer, events, cut="cut" in last)


class Flowise(Api):
    """POST /api/v1/prediction/ID with `streaming`: the Flowise documentation, "Prediction". The client names the
    session; the sources come in an event of their own."""

    def written(self, event: Any) -> str:
        return f"message:\ndata:{json.dumps(event)}\n\n"

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        question, session = asked.json["question"], asked.json["overrideConfig"]["sessionId"]
        text = self.words(session, question)
        document = {"pageContent": "By the mill.", "metadata": {"source": "https://www.example.org/mill"}}
        events: list[Any] = [
            {"event": "start", "data": ""},
            *({"event": "token", "data": piece} for piece in pieces(text)),
        ]
        events += [{"event": "error", "data": "no credit"}] if "fail" in question else []
        events += [
            {"event": "sourceDocuments", "data": [document]},
            {"event": "metadata", "data": {"chatId": "x", "sessionId": session}},
            {"event": "end", "data": "[DONE]"},
        ]
        source = Source("https://www.example.org/mill")
        self.truth[question] = Truth(Answer.of(text, sources=(source,)))
        await self.stream(writer, events, cut="cut" in question)
