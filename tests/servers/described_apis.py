"""Small servers of chat APIs, each written from the specification that it names, which know what they answered.

The user's words decide what goes wrong: `busy` (429), `down` (500), `denied` (401), `cut` (the reply breaks off),
`fail` (the API reports an error of its own).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from protocols.answer import Answer, Offer, Source
from tests.servers.local_http import Asked, response

__all__ = ["A2A", "Botpress", "Dify", "DirectLine", "Flowise", "Gemini", "Jobs", "Ollama", "Truth"]

STATUSES = {"busy": "429 Too Many Requests", "down": "500 Internal Server Error", "denied": "401 Unauthorized"}


@dataclass(frozen=True)
class Truth:
    """What a server answered: the answer and what came with it."""

    answer: Answer
    finish: str = ""
    model: str = ""
    tokens: dict[str, int] = field(default_factory=dict)


class Api:
    """heard: the user's words by conversation, in order. truth: what was answered, by the user's words. given: all the
    texts that were answered. secrets: the tokens that were given. uses: how many requests each of them is good for, 0
    for any number. refused: how many requests were refused because of that."""

    lines = False

    def __init__(self) -> None:
        self.heard: dict[str, list[str]] = {}
        self.truth: dict[str, Truth] = {}
        self.given: list[str] = []
        self.secrets: set[str] = set()
        self.uses = self.refused = 0
        self.used: Counter[str] = Counter()

    def is_spent(self, token: str) -> bool:
        """Whether the token of a session has expired; it is used once more."""
        self.used[token] += 1
        spent = 0 < self.uses < self.used[token]
        self.refused += spent
        return spent

    def words(self, conversation: str, text: str) -> str:
        """Note that `text` was heard, and return what is answered to it."""
        self.heard.setdefault(conversation, []).append(text)
        said = f"{conversation}, {len(self.heard[conversation])}: you said “{text}”, twice twice.\n\nAnd more."
        self.given.append(said)
        return said

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
        assert {message["content"] for message in messages[1::2]} <= set(self.given)
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


class Gemini(Api):
    """POST models/MODEL:generateContent: the types of google-genai. The whole conversation is sent, in parts. A prompt
    that is `unsafe` is blocked without a candidate."""

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        contents = asked.json["contents"]
        assert {content["role"] for content in contents[1::2]} <= {"model"}
        assert {content["parts"][0]["text"] for content in contents[1::2]} <= {"", *self.given}
        last = contents[-1]["parts"][0]["text"]
        text = self.words(contents[0]["parts"][0]["text"].partition(" ")[0], last)
        counts = {"promptTokenCount": len(contents), "candidatesTokenCount": len(text)}
        body: dict[str, Any] = {"usageMetadata": counts, "modelVersion": "gemini-1"}
        tokens = {"prompt": len(contents), "completion": len(text)}
        if "unsafe" in last:
            body["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
            self.truth[last] = Truth(Answer("", refused=True), "", "gemini-1", tokens)
        else:
            parts = [{"text": "hm", "thought": True}, {"text": text}]
            chunks = [{"web": {"uri": "https://www.example.org/mill", "title": "Mill"}}]
            segment = {"partIndex": 1, "endIndex": len(text.encode()), "text": text}
            supports = [{"segment": segment, "groundingChunkIndices": [0]}]
            body["candidates"] = [
                {"content": {"role": "model", "parts": parts}, "finishReason": "STOP",
                 "groundingMetadata": {"groundingChunks": chunks, "groundingSupports": supports}}
            ]  # fmt: skip
            answer = Answer.of(text, sources=(Source("https://www.example.org/mill", "Mill", 0, len(text)),))
            self.truth[last] = Truth(replace(answer, thoughts="hm"), "STOP", "gemini-1", tokens)
        written = response("200 OK", json.dumps(body))
        writer.write(written[:-9] if "cut" in last else written)
        if "cut" in last:
            writer.close()


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


class Jobs(Api):
    """POST /jobs answers 202 (RFC 9110, 15.3.3) with an id; GET /jobs/ID says how far it is. The reply is in one of two
    fields. The first look at a job of `cut` breaks off, and a job of `fail` fails."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: dict[str, tuple[str, str, int]] = {}

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.method == "POST":
            text, job = asked.json["input"], f"j{len(self.jobs)}"
            said = self.words(asked.json["conversation"], text)
            self.jobs[job] = (text, said, 0)
            self.truth[text] = Truth(Answer(said))
            writer.write(response("202 Accepted", json.dumps({"id": job, "status": "queued"})))
            return
        job = asked.path.rpartition("/")[2]
        text, said, looks = self.jobs[job]
        self.jobs[job] = (text, said, looks + 1)
        status = "running" if looks < 2 or "never" in text else "failed" if "fail" in text else "done"
        output = {} if status != "done" else {"text": said} if len(text) % 2 else {"message": said}
        body = response("200 OK", json.dumps({"id": job, "status": status, "output": output, "message": "no credit"}))
        if "cut" in text and not looks:
            writer.write(body[:-9])
            writer.close()
        elif "slow" in text and looks == 1:
            writer.write(response("503 Service Unavailable", "", "Retry-After: 0"))
        else:
            writer.write(body)


WORKING: dict[str, Any] = {"status": {"state": "TASK_STATE_WORKING"}, "artifacts": []}


class A2A(Api):
    """JSON-RPC: a2a-protocol.org, specification 1.0, `SendMessage` with `returnImmediately`, then `GetTask`. A question
    leaves the task open, and the next message must name it."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, dict[str, Any]] = {}
        self.open: dict[str, str] = {}
        self.ids: list[str] = []

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert asked.headers["a2a-version"] == "1.0"
        call = asked.json
        if call["method"] == "GetTask":
            task = self.tasks[call["params"]["id"]]
            result: dict[str, Any] = task if task.setdefault("looks", 0) else {**task, **WORKING}
            task["looks"] += 1
        else:
            result = self._send(call["params"]["message"])
        if result.get("status", {}).get("state") == "none":
            found = {"error": {"code": -32001, "message": "no such task"}}
        else:
            found = {"result": {key: value for key, value in result.items() if key != "looks"}}
        writer.write(response("200 OK", json.dumps({"jsonrpc": "2.0", "id": call["id"], **found})))

    def _send(self, message: dict[str, Any]) -> dict[str, Any]:
        assert (message["role"], message["messageId"] in self.ids) == ("ROLE_USER", False)
        self.ids.append(message["messageId"])
        text = next(part["text"] for part in message["parts"] if "text" in part)
        context = self.conversation(message["contextId"])
        assert message["taskId"] == self.open.pop(context, None), "an open task is named, a closed one is not"
        said = self.words(context, text)
        self.truth[text] = Truth(Answer(said))
        if "fail" in text:
            return {"status": {"state": "none"}}
        if "short" in text:
            return {
                "message": {"messageId": "m", "role": "ROLE_AGENT", "contextId": context, "parts": [{"text": said}]}
            }
        task: dict[str, Any] = {"id": f"t{len(self.tasks)}", "contextId": context}
        if "unsafe" in text:
            self.open[context] = task["id"]
            status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"parts": [{"text": said}]}}
            self.tasks[task["id"]] = {**task, "status": status}
        else:
            status = {"state": "TASK_STATE_COMPLETED"}
            artifacts = [{"artifactId": "a", "parts": [{"text": said}]}]
            self.tasks[task["id"]] = {**task, "status": status, "artifacts": artifacts}
        return {"task": {**task, **WORKING}}


class DirectLine(Api):
    """Direct Line 3.0: MicrosoftDocs/bot-docs, articles/rest-api/bot-framework-rest-direct-line-3-0-*. A token, a
    conversation, activities after a watermark; the bot greets, and one's own message comes back. A client
    with the secret is given another token when it reconnects."""

    def __init__(self) -> None:
        super().__init__()
        self.activities: dict[str, list[dict[str, Any]]] = {}
        self.looks: dict[str, int] = {}
        self.tokens: dict[str, str] = {}

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        token, conversation = asked.headers["authorization"].removeprefix("Bearer "), asked.path.split("/")[-2]
        if asked.path.endswith("/tokens/generate"):
            assert token == "k-0123456789"
            writer.write(response("200 OK", json.dumps(self._issue(""))))
        elif asked.path.endswith("/conversations"):
            name = f"c{len(self.activities)}"
            assert self.tokens[token] == ""
            self.tokens[token] = name
            self.activities[name] = []
            self._say(name, "Welcome!")
            writer.write(response("201 Created", json.dumps({"conversationId": name, "expires_in": 1800})))
        elif conversation == "conversations":
            assert token == "k-0123456789"
            name = asked.path.rpartition("/")[2]
            assert name in self.activities
            writer.write(response("200 OK", json.dumps({"conversationId": name, **self._issue(name)})))
        else:
            assert self.tokens[token] == conversation
            if self.is_spent(token):
                error = {"code": "TokenExpired", "message": "Token has expired"}
                writer.write(response("403 Forbidden", json.dumps({"error": error})))
            elif asked.method == "POST":
                self._hear(conversation, asked.json)
                writer.write(response("200 OK", json.dumps({"id": f"{conversation}|1"})))
            else:
                self._list(conversation, token, int(asked.query.get("watermark", ["0"])[0]), writer)

    def _issue(self, conversation: str) -> dict[str, Any]:
        token = f"token-{len(self.tokens)}-0123456789"
        self.tokens[token] = conversation
        self.secrets.add(token)
        return {"token": token, "expires_in": 1800}

    def _hear(self, conversation: str, activity: dict[str, Any]) -> None:
        text = activity["text"]
        self._add(conversation, {**activity, "from": {"id": activity["from"]["id"]}})
        said, _, more = self.words(conversation, text).partition("\n\n")
        if "never" in text:
            return
        self._add(conversation, {"type": "typing", "from": {"id": "bot"}})
        self._say(conversation, said, inputHint="ignoringInput")
        actions = [{"type": "imBack", "title": "Yes", "value": "yes"}]
        hint = {} if "quiet" in text else {"inputHint": "expectingInput"}
        self._say(conversation, more, suggestedActions={"actions": actions}, **hint)
        offers = (Offer("Yes", "yes", "imBack"),)
        self.truth[text] = Truth(Answer(f"{said}\n\n{more}", offers=offers))

    def _say(self, conversation: str, text: str, **fields: Any) -> None:
        self._add(conversation, {"type": "message", "from": {"id": "bot"}, "text": text, **fields})

    def _add(self, conversation: str, activity: dict[str, Any]) -> None:
        self.activities[conversation].append(activity)

    def _list(self, conversation: str, key: str, mark: int, writer: asyncio.StreamWriter) -> None:
        looks = self.looks[conversation] = self.looks.get(conversation, 0) + 1
        every = self.activities[conversation]
        if "cut" in json.dumps(every[-5:]) and looks % 3 == 1:
            writer.write(response("502 Bad Gateway", "no"))
            return
        found = every[mark : mark + 2]  # not all at once
        after = str(mark + len(found)) if found else None
        writer.write(response("200 OK", json.dumps({"activities": found, "watermark": after, "seen": key})))


class Botpress(Api):
    """The Chat API: botpress/botpress, integrations/chat. A user's key, a conversation, a list of its messages, the
    newest first. Who listens gets `{}`, as the server that holds the stream is first told it, then an event for each
    message, one's own too; the bot answers later then. Each stream breaks off after 7 events."""

    EVENTS = 7

    def __init__(self) -> None:
        super().__init__()
        self.users = 0
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.listeners: dict[str, asyncio.Queue[dict[str, Any]]] = {}
        self.listened = 0

    async def listen(self, conversation: str, writer: asyncio.StreamWriter) -> None:
        self.listened += 1
        events = self.listeners[conversation] = asyncio.Queue()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{}")
        writer.write(b"event: message\ndata: ping\n\n")
        for _ in range(self.EVENTS):
            message = await events.get()
            signal = {"type": "message_created", "data": {**message, "isBot": message["userId"] == "bot"}}
            writer.write(f"event: message\ndata: {json.dumps(signal)}\n\n".encode())
        del self.listeners[conversation]
        writer.close()

    def say(self, conversation: str, who: str, text: str) -> None:
        number = len(self.messages[conversation])
        message = {"id": f"{conversation}-{number}", "userId": who, "payload": {"type": "text", "text": text}}
        self.messages[conversation].insert(0, message)
        if conversation in self.listeners:
            self.listeners[conversation].put_nowait(message)

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/users":
            self.users += 1
            body: dict[str, Any] = {"user": {"id": f"u{self.users}"}, "key": f"key-of-user-{self.users}-0123456789"}
        elif asked.path == "/conversations":
            name = f"c{len(self.messages)}"
            self.messages[name] = []
            body = {"conversation": {"id": name}}
        elif self.is_spent(asked.headers["x-user-key"]):
            error = {"code": 401, "type": "Unauthorized", "message": "The request requires authentication."}
            writer.write(response("401 Unauthorized", json.dumps(error)))
            return
        elif asked.method == "POST":
            conversation, text = asked.json["conversationId"], asked.json["payload"]["text"]
            user = asked.headers["x-user-key"].split("-")[3]
            said = self.words(conversation, text)
            self.say(conversation, f"u{user}", text)
            if conversation in self.listeners:
                asyncio.get_running_loop().call_later(0.02, self.say, conversation, "bot", said)
            else:
                self.say(conversation, "bot", said)
            self.truth[text] = Truth(Answer(said))
            body = {"message": {"id": "m"}}
        elif asked.path.endswith("/listen"):
            await self.listen(asked.path.split("/")[-2], writer)
            return
        else:
            self.secrets.add(asked.headers["x-user-key"])
            body = {"messages": self.messages[asked.path.split("/")[-2]], "meta": {"key": asked.headers["x-user-key"]}}
        writer.write(response("200 OK", json.dumps(body)))
