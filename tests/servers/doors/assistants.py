"""Servers that remember a conversation by an id."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any, ClassVar, cast

from tests.servers import described_apis
from tests.servers.described_apis import Api
from tests.servers.doors.door import KEY, Door, Said, bearer
from tests.servers.local_http import Asked, response


class Rasa(Door):
    """RasaHQ/rasa, rasa/core/channels/rest.py: a list of messages; an exception is answered with `[]` and 200."""

    recipe = "rasa"
    parts: ClassVar = frozenset({"offers"})

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert asked.path == "/webhooks/rest/webhook"
        return self.next_turn(asked.json["sender"], asked.json["message"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        buttons = [{"title": title, "payload": value} for title, value in one.offers]
        messages = [{"recipient_id": asked.json["sender"], "text": line} for line in one.text.split("\n\n")]
        return self.whole([*messages[:-1], {**messages[-1], **({"buttons": buttons} if buttons else {})}])

    def own_fault(self, asked: Asked) -> bytes:
        return self.whole([])


class Flowise(Door):
    """FlowiseAI/FlowiseDocs, using-flowise/prediction.md and streaming.md: `message:` lines are no field of SSE."""

    recipe = "flowise"
    parts: ClassVar = frozenset({"sources"})

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert asked.path == "/api/v1/prediction/00000000-0000-0000-0000-000000000000"
        return self.next_turn(asked.json["chatId"], asked.json["question"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        papers = [{"pageContent": "…", "metadata": {"source": url, "title": title}} for url, title in one.sources]
        if not asked.json.get("streaming"):
            return self.whole({"text": one.text, "chatId": asked.json["chatId"], "sourceDocuments": papers})
        events: list[dict[str, Any]] = [{"event": "start", "data": one.pieces[0]}]
        events += [{"event": "token", "data": piece} for piece in one.pieces]
        events += [{"event": "sourceDocuments", "data": papers}] if papers else []
        events += [{"event": "metadata", "data": {"chatId": asked.json["chatId"]}}]
        return self.stream(*events, {"event": "end", "data": "[DONE]"})

    def event(self, value: Any) -> bytes:
        return b"message:\n" + super().event(value)

    def own_fault(self, asked: Asked) -> bytes:
        error = {"event": "error", "data": "Error: buildChatflow - no such model"}
        return self.stream(error) if asked.json.get("streaming") else self.whole({"error": error["data"]})


class LangGraph(Door):
    """package langgraph-sdk 0.4.14: threads.create, runs.wait, runs.stream; a run that fails is 200 with `__error__`,
    or an event `error`. A stream has the state before and after each step, and what every model writes. As in
    langgraph-api 0.16.7, no event ends it."""

    recipe, model, key_header = "langgraph", "gpt-9", ("x-api-key", "")
    parts: ClassVar = frozenset({"calls", "end", "tokens"})
    ends: ClassVar = {"whole": "stop", "cut": "length"}

    def other(self, asked: Asked) -> bytes | None:
        if asked.method == "DELETE":
            return response("204 No Content", "")
        if asked.path == "/threads":
            self.counts[thread := f"thread-{len(self.counts)}"] = 0
            return self.whole({"thread_id": thread, "status": "idle", "values": None})
        return None

    def heard(self, asked: Asked) -> tuple[str, int]:
        _, threads, thread, runs, way = asked.path.split("/")
        assert (threads, runs, way in ("wait", "stream"), thread in self.counts) == ("threads", "runs", True, True)
        assert (way == "stream") == (asked.json.get("stream_mode") == ["messages-tuple", "values"])
        assert asked.json["assistant_id"] == "agent"
        (message,) = asked.json["input"]["messages"]
        return self.next_turn(thread, self.words(message))

    def shape(self, asked: Asked, one: Said) -> bytes:
        asked_before = [{"type": "human", "content": "…"}, {"type": "ai", "content": "Before."}]
        message = {
            "type": "ai",
            "content": [{"type": "text", "text": one.text}],
            "tool_calls": [{"name": name, "args": given, "id": "c"} for name, given in one.calls],
            "response_metadata": {"finish_reason": self.ends[one.end], "model_name": self.model},
            "usage_metadata": {"input_tokens": one.tokens[0], "output_tokens": one.tokens[1]},
        }
        state = {"messages": [*asked_before, message], "other": {"messages": []}}
        if not asked.path.endswith("/stream"):
            return self.whole(state)
        step = {"langgraph_node": "agent"}
        planned = {"type": "AIMessageChunk", "id": "p", "content": "Let me look. "}
        pieces = [{"type": "AIMessageChunk", "id": "a", "content": piece} for piece in one.pieces]
        return self.stream(
            {"metadata": {"run_id": "r", "attempt": 1}},
            {"values": {"messages": [*asked_before[:-1], {"type": "human", "content": "…"}]}},
            *({"messages": [chunk, step]} for chunk in (planned, *pieces, {**message, "id": "a"})),
            {"values": state},
        )

    def event(self, value: Any) -> bytes:
        ((name, data),) = value.items()
        return f"event: {name}\r\ndata: {json.dumps(data)}\r\n\r\n".encode()

    def own_fault(self, asked: Asked) -> bytes:
        error = {"error": "KeyError", "message": "'mill'"}
        return self.stream({"error": error}) if asked.path.endswith("/stream") else self.whole({"__error__": error})


class Dify(Door):
    """langgenius/dify-docs, en/api-reference/openapi_chat.json; an error comes as an event under 200."""

    recipe = "dify"
    parts: ClassVar = frozenset({"tokens"})
    stored = 0

    def other(self, asked: Asked) -> bytes | None:
        if asked.path != "/files/upload":
            return None
        bearer(asked)
        fields = {one.get_param("name", header="content-disposition"): one for one in asked.parts}
        assert fields.keys() == {"user", "file"}
        self.stored += 1
        mime_type, name = fields["file"].get_content_type(), fields["file"].get_filename()
        return self.whole({"id": f"file-{self.stored}", "name": name, "mime_type": mime_type}, "201 Created")

    def heard(self, asked: Asked) -> tuple[str, int]:
        bearer(asked)
        assert asked.path == "/chat-messages"
        return self.next_turn(self.conversation(asked), asked.json["query"])

    def conversation(self, asked: Asked) -> str:
        self.named = asked.json["conversation_id"] or f"c{len(self.counts)}"
        return self.named

    def shape(self, asked: Asked, one: Said) -> bytes:
        usage = {"prompt_tokens": one.tokens[0], "completion_tokens": one.tokens[1]}
        ids = {"conversation_id": self.named, "message_id": "m", "task_id": "t"}
        if asked.json["response_mode"] == "blocking":
            return self.whole({"event": "message", "answer": one.text, **ids, "metadata": {"usage": usage}})
        events = [{"event": "message", "answer": piece, **ids} for piece in one.pieces]
        return self.stream(
            {"event": "agent_thought", "thought": "", "tool": "", **ids},
            *events,
            {"event": "message_end", "metadata": {"usage": usage}, **ids},
        )

    def event(self, value: Any) -> bytes:
        return b"event: ping\n\n" + super().event(value)

    def own_fault(self, asked: Asked) -> bytes:
        error = {"event": "error", "status": 400, "code": "provider_quota_exceeded", "message": "No credits"}
        return self.stream(error) if asked.json["response_mode"] == "streaming" else self.whole(error, "400 Bad")


class Voiceflow(Door):
    """docs.voiceflow.com, reference, "Interact": a list of traces; strings may hold raw control characters."""

    recipe, key_header = "voiceflow", ("authorization", "")
    parts: ClassVar = frozenset({"offers"})

    def other(self, asked: Asked) -> bytes | None:
        assert asked.headers["authorization"] == KEY
        if asked.method == "DELETE":
            return self.whole({"deleted": True})
        if asked.json["action"] == {"type": "launch"}:
            self.counts[asked.path] = 0
            return self.whole([{"type": "text", "payload": {"message": "Welcome!"}}])
        return None

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert asked.headers["versionid"] == "production"
        action = asked.json["action"]
        assert asked.path in self.counts
        assert action["type"] == "text" or "payload" not in action  # a press
        return self.next_turn(asked.path, action.get("payload", action["type"]))

    def shape(self, asked: Asked, one: Said) -> bytes:
        texts = [{"type": "text", "payload": {"message": text}} for text in one.text.split("\n\n")]
        buttons = [{"name": title, "request": {"type": value}} for title, value in one.offers]
        choice = [{"type": "choice", "payload": {"buttons": buttons}}] if buttons else []
        traces: list[dict[str, Any]] = [{"type": "path", "payload": {"path": "reprompt"}}, *texts, *choice]
        return response("200 OK", json.dumps(traces, ensure_ascii=False).replace("\\n", "\n"))

    def truth(self, text: str, n: int) -> Said:
        told = super().truth(text, n)
        return replace(told, offers=tuple((title, json.dumps({"type": value})) for title, value in told.offers))

    def own_fault(self, asked: Asked) -> bytes:
        return self.whole({"code": 400, "status": "BAD_REQUEST", "data": "no such version"}, "400 Bad Request")


class VoiceflowV4(Voiceflow):
    """docs.voiceflow.com, api-reference, "Start session", "Interact (stream)", "Completion events": a key for each
    session; the stream begins with an empty line and ends with `end`; what a model writes comes in pieces. uses: how
    many turns each key is good for, 0 for any number. refused: how many turns were refused because of that."""

    recipe = "voiceflow-v4"
    uses = refused = 0

    def other(self, asked: Asked) -> bytes | None:
        if asked.path.endswith("/session"):
            assert asked.path == "/v4/project/6542f1c3a9d0e7b8c4f5a601/environment/main/session"
            assert asked.headers["authorization"] == KEY
            self.counts[key := f"session-key-{len(self.counts)}-0123456789"] = 0
            assert asked.json["userID"]
            return self.whole({"sessionKey": key})
        if asked.json["action"] == {"type": "launch"}:
            traces = [{"type": "text", "payload": {"message": "Welcome!"}}]
            return self.traces(asked, traces)
        if 0 < self.uses <= self.counts[asked.headers["authorization"]]:
            self.refused += 1
            return self.expired()
        return None

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert asked.headers["authorization"] in self.counts
        action = asked.json["action"]
        return self.next_turn(asked.headers["authorization"], action.get("payload", action["type"]))

    def traces(self, asked: Asked, traces: list[dict[str, Any]]) -> bytes:
        if asked.path == "/v4/interact":
            return response("200 OK", json.dumps({"traces": traces}, ensure_ascii=False).replace("\\n", "\n"))
        assert asked.path == "/v4/interact/stream"
        return self.stream(*(("trace", trace) for trace in traces), ("state", {"variables": {}}), ("end", {}))

    def shape(self, asked: Asked, one: Said) -> bytes:
        first, *others = one.text.split("\n\n")
        texts = [{"type": "text", "payload": {"message": text}} for text in others]
        if asked.json.get("config", {}).get("completionEvents"):
            states = [{"state": "content", "content": piece} for piece in replace(one, text=first).pieces]
            written = [{"state": "start"}, *states, {"state": "end"}]
            before = [{"type": "completion", "payload": payload} for payload in written]
        else:
            before = [{"type": "text", "payload": {"message": first}}]
        buttons = [{"name": title, "request": {"type": value}} for title, value in one.offers]
        choice = [{"type": "choice", "payload": {"buttons": buttons}}] if buttons else []
        return self.traces(asked, [{"type": "path", "payload": {"path": "reprompt"}}, *before, *texts, *choice])

    def event(self, value: Any) -> bytes:
        name, data = value
        return f"\nevent: {name}\nid: 1\ndata: {json.dumps(data)}\n\n".encode()


class Described(Door):
    """A door of tests/servers/described_apis.py, which remembers what it answered."""

    api: ClassVar[type[Api]]
    own = "down"

    def __init__(self) -> None:
        super().__init__()
        self.server = self.api()

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if b"fault: broken" in asked.body:
            writer.write(self.fail(asked, "broken"))
            await writer.drain()
            writer.close()
            return
        body = asked.body
        for wish, word in {"429": "busy", "503": "down", "401": "denied", "own": self.own}.items():
            body = body.replace(f"fault: {wish}".encode(), word.encode())
        await self.server(Asked(asked.method, asked.target, asked.headers, body), writer)

    def shape(self, asked: Asked, one: Said) -> bytes:
        return self.whole(one.text)

    def truth(self, text: str, n: int) -> Said:
        told = self.server.truth[text]
        return Said.of(told.answer, "", told.tokens)


class _StreamingA2A(described_apis.A2A):
    """SendStreamingMessage: a task, its artifact in pieces, and its last status."""

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.json["method"] != "SendStreamingMessage":
            await super().answer(asked, writer)
            return
        result = self._send(asked.json["params"]["message"])
        if "task" in result:
            ids = {"taskId": result["task"]["id"], "contextId": result["task"]["contextId"]}
            task = self.tasks[ids["taskId"]]
            events: list[dict[str, Any]] = [
                result,
                {"statusUpdate": {**ids, "status": {"state": "TASK_STATE_WORKING"}}},
            ]
            for artifact in task.get("artifacts", ()):
                for piece in Said(artifact["parts"][0]["text"]).pieces:
                    one = {"artifactId": artifact["artifactId"], "parts": [{"text": piece}]}
                    events.append({"artifactUpdate": {**ids, "artifact": one, "append": True}})
            events.append({"statusUpdate": {**ids, "status": task["status"]}})
        else:
            events = [result] if "message" in result else []
        head = {"jsonrpc": "2.0", "id": asked.json["id"]}
        answers = [{**head, "result": event} for event in events]
        await self.stream(writer, answers or [{**head, "error": {"code": -32001, "message": "no such task"}}])


class A2A(Described):
    recipe, api, own = "a2a", _StreamingA2A, "fail"


class _OlderA2A(_StreamingA2A):
    """a2a-protocol.org, specification 0.3: the same results with kinds, without wrappers, in other words."""

    METHODS: ClassVar = {
        "message/send": "SendMessage",
        "message/stream": "SendStreamingMessage",
        "tasks/get": "GetTask",
    }

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert "a2a-version" not in asked.headers
        call = json.loads(asked.body)
        call["method"] = self.METHODS[call["method"]]
        if "message" in call["params"]:
            message = call["params"]["message"]
            assert (message["kind"], message["role"], message["parts"][0]["kind"]) == ("message", "user", "text")
            message["role"] = "ROLE_USER"
        headers = {**asked.headers, "a2a-version": "1.0"}
        await super().answer(
            Asked(asked.method, asked.target, headers, json.dumps(call).encode()), cast(Any, _Older(writer))
        )


class _Older:
    """Writes what a server of 1.0 writes in the shape of 0.3."""

    KINDS: ClassVar = {"task": "task", "message": "message", "statusUpdate": "status-update"}
    KINDS |= {"artifactUpdate": "artifact-update"}

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.drain, self.close = writer.drain, writer.close

    def write(self, data: bytes) -> None:
        head, found, body = data.rpartition(b"data: ")
        if not found:
            head, found, body = data.partition(b"\r\n\r\n")
        if not body.strip():
            self.writer.write(data)
            return
        answer = json.loads(body)
        if "result" in answer:
            for name, kind in self.KINDS.items():
                if name in answer["result"]:
                    answer["result"] = {"kind": kind, **answer["result"][name]}
            answer["result"].setdefault("kind", "task")
            status = answer["result"].get("status", {})
            if status:
                status["state"] = status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
        text = json.dumps(answer)
        if found == b"data: ":
            self.writer.write(head + found + text.encode() + b"\n\n")
        else:
            self.writer.write(response("200 OK", text))


class A2A03(Described):
    recipe, api, own = "a2a-0.3", _OlderA2A, "fail"


class DirectLine(Described):
    recipe, api = "direct-line", described_apis.DirectLine


class _CopilotStudio(described_apis.DirectLine):
    """MicrosoftDocs, Copilot Studio, "Publish an agent to mobile or custom apps": a GET without a key gives a token."""

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.method == "GET" and asked.query == {"api-version": ["2022-03-01-preview"]}:
            assert asked.path == "/token_url"
            assert "authorization" not in asked.headers
            writer.write(response("200 OK", json.dumps({**self._issue(""), "conversationId": "unused"})))
        else:
            await super().answer(asked, writer)


class CopilotStudio(Described):
    recipe, api = "copilot-studio", _CopilotStudio


class Botpress(Described):
    recipe, api = "botpress", described_apis.Botpress
