"""Servers that keep nothing, and are sent the whole conversation with every turn."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from typing import Any, ClassVar

from tests.servers.doors.door import KEY, STREAM_HEAD, Door, Said, bearer
from tests.servers.local_http import Asked, response


class Anthropic(Door):
    """package anthropic 2.14.0: types/message.py, types/raw_message_stream_event.py."""

    recipe, model, key_header = "anthropic", "claude-9", ("x-api-key", "")
    parts: ClassVar = frozenset({"sources", "thoughts", "calls", "end", "tokens"})
    ends: ClassVar = {"whole": "end_turn", "cut": "max_tokens"}

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert (asked.path, asked.headers["x-api-key"]) == ("/messages", KEY)
        assert asked.headers["anthropic-version"] == "2023-06-01"
        assert asked.json["max_tokens"] > 0
        return self.told_before(asked.json["messages"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        cited = [{"type": "web_search_result_location", "url": url, "title": title} for url, title in one.sources]
        usage = {"input_tokens": one.tokens[0], "output_tokens": one.tokens[1]}
        blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": one.thoughts, "signature": "x"}]
        blocks = blocks if one.thoughts else []
        blocks += [{"type": "text", "text": one.text, "citations": cited or None}]
        blocks += [{"type": "tool_use", "id": "t1", "name": name, "input": given} for name, given in one.calls]
        ended = {"stop_reason": self.ends[one.end], "stop_sequence": None}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": self.model}
        if not asked.json.get("stream"):
            return self.whole({**head, "content": blocks, **ended, "usage": usage})
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**head, "content": [], "usage": {**usage, "output_tokens": 1}}}
        ]
        for at, block in enumerate(blocks):
            deltas: list[dict[str, Any]] = []
            empty = dict(block)
            if block["type"] == "text":
                empty["text"], empty["citations"] = "", None
                deltas += [{"type": "text_delta", "text": piece} for piece in one.pieces]
                deltas += [{"type": "citations_delta", "citation": citation} for citation in cited]
            elif block["type"] == "thinking":
                empty["thinking"] = empty["signature"] = ""
                deltas += [{"type": "thinking_delta", "thinking": one.thoughts}]
                deltas += [{"type": "signature_delta", "signature": "x"}]
            else:
                empty["input"], whole = {}, json.dumps(block["input"])
                deltas += [{"type": "input_json_delta", "partial_json": part} for part in ("", whole[:7], whole[7:])]
            events.append({"type": "content_block_start", "index": at, "content_block": empty})
            events += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
            events += [{"type": "content_block_stop", "index": at}, {"type": "ping"}]
        events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": one.tokens[1]}})
        return self.stream(*events, {"type": "message_stop"})

    def event(self, value: Any) -> bytes:
        return b"event: " + str(value["type"]).encode() + b"\n" + super().event(value)

    def own_fault(self, asked: Asked) -> bytes:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return self.stream(error) if asked.json.get("stream") else self.whole(error, "529 Overloaded")

    def expired(self) -> bytes:
        error = {"type": "authentication_error", "message": "invalid x-api-key"}
        return self.whole({"type": "error", "error": error}, "401 Unauthorized")


class Responses(Door):
    """package openai 3.57.0: types/responses/response.py, response_stream_event.py."""

    recipe, model = "openai-responses", "gpt-9"
    parts: ClassVar = frozenset({"sources", "thoughts", "calls", "refusal", "end", "tokens"})
    ends: ClassVar = {"whole": "completed", "cut": "max_output_tokens"}

    def heard(self, asked: Asked) -> tuple[str, int]:
        bearer(asked)
        assert (asked.path, asked.json["store"]) == ("/responses", False)
        return self.told_before(asked.json["input"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        notes = [
            {"type": "url_citation", "url": url, "title": title, "start_index": 4 + at, "end_index": 9 + at}
            for at, (url, title) in enumerate(one.sources)
        ]
        content = [{"type": "output_text", "text": one.text, "annotations": notes}] if one.text else []
        content += [{"type": "refusal", "refusal": one.refusal}] if one.refusal else []
        summary = [{"type": "summary_text", "text": one.thoughts}]
        output: list[dict[str, Any]] = [{"type": "reasoning", "id": "r", "summary": summary if one.thoughts else []}]
        output += [{"type": "message", "role": "assistant", "status": "completed", "content": content}]
        output += [
            {"type": "function_call", "call_id": "c", "name": name, "arguments": json.dumps(given)}
            for name, given in one.calls
        ]
        cut = one.end == "cut"
        made = {
            "id": "resp_1",
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": self.ends["cut"]} if cut else None,
            "error": None,
            "model": self.model,
            "output": output,
            "usage": {"input_tokens": one.tokens[0], "output_tokens": one.tokens[1]},
        }
        if not asked.json.get("stream"):
            return self.whole(made)
        begun = {**made, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
        deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in one.pieces]
        deltas += [{"type": "response.refusal.delta", "delta": one.refusal}] if one.refusal else []
        deltas += [{"type": "response.function_call_arguments.delta", "delta": json.dumps(d)} for _, d in one.calls]
        deltas += [{"type": "response.output_text.done", "text": one.text}]
        last = {"type": f"response.{made['status']}", "response": made}
        return self.stream({"type": "response.created", "response": begun}, *deltas, last)

    def event(self, value: Any) -> bytes:
        return b"event: " + str(value["type"]).encode() + b"\n" + super().event(value)

    def own_fault(self, asked: Asked) -> bytes:
        error = {"code": "server_error", "message": "The model gave up"}
        made = {"id": "r", "status": "failed", "error": error, "output": [], "model": self.model}
        failed = {"type": "response.failed", "response": made}
        return self.stream(failed) if asked.json.get("stream") else self.whole(made)


class Completions(Door):
    """package openai 3.57.0, types/chat; package perplexityai 0.46.1, types/stream_chunk.py for what is beside."""

    recipe, model, last = "perplexity", "sonar", b"data: [DONE]\n\n"
    parts: ClassVar = frozenset({"sources", "end", "tokens"})
    ends: ClassVar = {"whole": "stop", "cut": "length"}

    def heard(self, asked: Asked) -> tuple[str, int]:
        bearer(asked)
        assert asked.path == "/chat/completions"
        return self.told_before(asked.json["messages"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        beside = {
            "model": self.model,
            "usage": {"prompt_tokens": one.tokens[0], "completion_tokens": one.tokens[1]},
            "citations": [url for url, _ in one.sources],
            "search_results": [{"url": url, "title": title} for url, title in one.sources],
        }
        beside = beside if one.sources else {key: beside[key] for key in ("model", "usage")}
        message = {"role": "assistant", "content": one.text}
        if not asked.json.get("stream"):
            return self.whole({**beside, "choices": [{"message": message, "finish_reason": self.ends[one.end]}]})
        events = [{**beside, "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in one.pieces]
        last = {"index": 0, "delta": {}, "message": message, "finish_reason": self.ends[one.end]}
        return self.stream(*events, {**beside, "choices": [last]})

    def own_fault(self, asked: Asked) -> bytes:
        error = {"error": {"message": "The model gave up", "type": "server_error"}}
        return self.stream(error) if asked.json.get("stream") else self.whole(error)


class Azure(Completions):
    """package openai 3.57.0, lib/azure.py: the key goes in a header of its own; the path v1 takes no api-version."""

    recipe, model, key_header = "azure", "gpt-9", ("api-key", "")
    parts: ClassVar = frozenset({"end", "tokens"})

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert (asked.path, asked.headers["api-key"]) == ("/chat/completions", KEY)
        assert asked.json["model"] == "my-gpt"
        return self.told_before(asked.json["messages"])


class Ollama(Door):
    """package ollama 0.6.3, ollama/_types.py; a stream ends in an empty line, and may hold a line with an error."""

    recipe, model, lines, last = "ollama", "llama3.2:3b", True, b"\n"
    parts: ClassVar = frozenset({"thoughts", "calls", "end", "tokens"})
    ends: ClassVar = {"whole": "stop", "cut": "length"}

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert asked.path == "/api/chat"
        return self.told_before(asked.json["messages"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        calls = [{"function": {"name": name, "arguments": given}} for name, given in one.calls]
        parts: dict[str, Any] = {"thinking": one.thoughts} if one.thoughts else {}
        parts |= {"tool_calls": calls} if calls else {}
        ended = {"done": True, "done_reason": self.ends[one.end]}
        ended |= {"prompt_eval_count": one.tokens[0], "eval_count": one.tokens[1]}
        if not asked.json["stream"]:
            return self.whole({"model": self.model, "message": {"content": one.text, **parts}, **ended})
        first = {"model": self.model, "message": {"content": "", **parts}, "done": False}
        pieces = [{"model": self.model, "message": {"content": one}, "done": False} for one in one.pieces]
        return self.stream(first, *pieces, {"model": self.model, "message": {"content": ""}, **ended})

    def own_fault(self, asked: Asked) -> bytes:
        error = {"error": "model runner has stopped"}
        return self.stream({"message": {"content": "It "}}, error) if asked.json["stream"] else self.whole(error)


class Gemini(Door):
    """package google-genai 3.6.1, google/genai/types.py: thoughts are parts, a block has no candidate."""

    recipe, model, key_header = "gemini", "gemini-9", ("x-goog-api-key", "")
    parts: ClassVar = frozenset({"sources", "thoughts", "calls", "end", "tokens", "block"})
    ends: ClassVar = {"whole": "STOP", "cut": "MAX_TOKENS"}
    path = "/models/gemini-2.5-flash"

    def heard(self, asked: Asked) -> tuple[str, int]:
        assert asked.headers["x-goog-api-key"] == KEY
        return self.in_parts(asked, asked.json["contents"], "model")

    def in_parts(self, asked: Asked, contents: list[dict[str, Any]], role: str) -> tuple[str, int]:
        ways = (":generateContent", ":streamGenerateContent", "", "-stream")
        assert asked.path in [f"{self.path}{way}" for way in ways]
        return self.told_before(contents, role)

    def words(self, message: dict[str, Any]) -> str:
        return str(next(part["text"] for part in message.get("parts") or message["content"] if "text" in part))

    def shape(self, asked: Asked, one: Said) -> bytes:
        counts = {"promptTokenCount": one.tokens[0], "candidatesTokenCount": one.tokens[1]}
        beside = {"modelVersion": self.model, "usageMetadata": counts}
        parts: list[dict[str, Any]] = [{"text": one.thoughts, "thought": True}] if one.thoughts else []
        parts += [{"functionCall": {"name": name, "args": given}} for name, given in one.calls]
        chunks = [{"web": {"uri": url, "title": title}} for url, title in one.sources]
        last: dict[str, Any] = {"finishReason": self.ends[one.end]}
        last |= {"groundingMetadata": {"groundingChunks": chunks}} if chunks else {}
        if one.blocked:
            blocked = {"promptFeedback": {"blockReason": "SAFETY"}, **beside}
            return self.stream(blocked) if "alt" in asked.query else self.whole(blocked)
        if "alt" not in asked.query:
            content = {"role": "model", "parts": [*parts, {"text": one.text}]}
            return self.whole({"candidates": [{"content": content, **last}], **beside})
        pieces = [*parts, *({"text": piece} for piece in one.pieces)]
        events: list[dict[str, Any]] = [{"content": {"role": "model", "parts": [piece]}} for piece in pieces]
        events[-1] |= last
        return self.stream(*({"candidates": [event], **beside} for event in events))

    def own_fault(self, asked: Asked) -> bytes:
        return self.whole({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}, "503 Busy")

    def expired(self) -> bytes:
        error = {"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED"}
        return self.whole({"error": error}, "401 Unauthorized")


class Vertex(Gemini):
    """package google-genai 3.6.1, google/genai/models.py: another path, and a token of Google Cloud."""

    recipe, path = "vertex", "/publishers/google/models/gemini-2.5-flash"
    key_header = Door.key_header

    def heard(self, asked: Asked) -> tuple[str, int]:
        bearer(asked)
        return self.in_parts(asked, asked.json["contents"], "model")


def amazon_frame(name: str, value: Any, kind: str = "event") -> bytes:
    """A frame of application/vnd.amazon.eventstream."""
    headers = {":message-type": kind, f":{kind}-type": name, ":content-type": "application/json"}
    head = b"".join(
        struct.pack(">B", len(k)) + k.encode() + struct.pack(">BH", 7, len(v)) + v.encode() for k, v in headers.items()
    )
    payload = json.dumps(value).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    frame = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return frame + struct.pack(">I", crc32(frame))


class Bedrock(Gemini):
    """package botocore 1.44.8, data/bedrock-runtime/2023-09-30/service-2.json: Converse."""

    recipe, model, path = "bedrock", "", "/model/amazon.nova-lite-v1%3A0/converse"
    key_header, signed = Door.key_header, True
    parts: ClassVar = frozenset({"thoughts", "calls", "end", "tokens"})
    ends: ClassVar = {"whole": "end_turn", "cut": "max_tokens"}

    def heard(self, asked: Asked) -> tuple[str, int]:
        bearer(asked)
        return self.in_parts(asked, asked.json["messages"], "assistant")

    def shape(self, asked: Asked, one: Said) -> bytes:
        content: list[dict[str, Any]] = [{"text": one.text}]
        if one.thoughts:
            content.insert(0, {"reasoningContent": {"reasoningText": {"text": one.thoughts, "signature": "x"}}})
        content += [{"toolUse": {"toolUseId": "t", "name": name, "input": given}} for name, given in one.calls]
        usage = {"inputTokens": one.tokens[0], "outputTokens": one.tokens[1]}
        message = {"role": "assistant", "content": content}
        if not asked.path.endswith("-stream"):
            return self.whole({"output": {"message": message}, "stopReason": self.ends[one.end], "usage": usage})
        deltas: list[dict[str, Any]] = [{"reasoningContent": {"text": one.thoughts}}] if one.thoughts else []
        deltas += [{"text": piece} for piece in one.pieces]
        events: list[tuple[str, Any]] = [("messageStart", {"role": "assistant"})]
        events += [("contentBlockDelta", {"delta": delta, "contentBlockIndex": 0, "p": "abc"}) for delta in deltas]
        for name, given in one.calls:
            events.append(("contentBlockStart", {"start": {"toolUse": {"toolUseId": "t", "name": name}}}))
            events.append(("contentBlockDelta", {"delta": {"toolUse": {"input": json.dumps(given)}}}))
        events.append(("messageStop", {"stopReason": self.ends[one.end]}))
        return self.stream(*events, ("metadata", {"usage": usage}))

    def stream(self, *events: Any) -> bytes:
        whole = b"".join(amazon_frame(name, value) for name, value in events)
        pieces = [whole[at : at + 37] for at in range(0, len(whole), 37)]
        chunks = [b"%x\r\n%s\r\n" % (len(one), one) for one in pieces]
        return STREAM_HEAD % b"application/vnd.amazon.eventstream" + b"".join(chunks) + b"0\r\n\r\n"

    def expired(self) -> bytes:
        """AWS, "Common errors": ExpiredTokenException."""
        body = json.dumps({"message": "The security token included in the request is expired"})
        return response("403 Forbidden", body, "x-amzn-ErrorType: ExpiredTokenException")


class AgUi(Door):
    """package ag-ui-protocol 1.0.0, ag_ui/core/events.py: a run may have several messages; it ends in RUN_FINISHED."""

    recipe, model = "ag-ui", "m9"
    parts: ClassVar = frozenset({"thoughts", "calls", "tokens"})

    def heard(self, asked: Asked) -> tuple[str, int]:
        value = asked.json
        assert (asked.path, asked.headers["accept"]) == ("/", "text/event-stream")
        assert len({value["threadId"], value["runId"], *(one["id"] for one in value["messages"])}) == (
            len(value["messages"]) + 2
        )
        return self.told_before(value["messages"])

    def shape(self, asked: Asked, one: Said) -> bytes:
        ids = {"threadId": asked.json["threadId"], "runId": asked.json["runId"]}
        events: list[dict[str, Any]] = [{"type": "RUN_STARTED", **ids}]
        if one.thoughts:
            events.append({"type": "REASONING_MESSAGE_CONTENT", "messageId": "r", "delta": one.thoughts})
        for name, given in one.calls:
            begun = {"toolCallId": "c", "toolCallName": name, "parentMessageId": "p"}
            whole = json.dumps(given)
            events.append({"type": "TOOL_CALL_START", **begun})
            events += [{"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": part} for part in (whole[:5], whole[5:])]
            events.append({"type": "TOOL_CALL_END", "toolCallId": "c"})
        for place, text in enumerate(one.text.split("\n\n")):
            message = {"messageId": f"m{place}"}
            events.append({"type": "TEXT_MESSAGE_START", "role": "assistant", **message})
            pieces = [{"type": "TEXT_MESSAGE_CONTENT", "delta": piece, **message} for piece in Said(text).pieces]
            events += [*pieces, {"type": "TEXT_MESSAGE_END", **message}]
        usage = {"model": self.model, "inputTokens": one.tokens[0], "outputTokens": one.tokens[1]}
        return self.stream(*events, {"type": "RUN_FINISHED", **ids, "outcome": {"type": "success"}, "usage": [usage]})

    def own_fault(self, asked: Asked) -> bytes:
        return self.stream({"type": "RUN_STARTED"}, {"type": "RUN_ERROR", "message": "The model gave up", "code": "x"})
