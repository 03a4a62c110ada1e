"""Streams and bodies of many vendors, read by the paths that their users would write, each as one whole answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harvest.drivers.completions import Completion
from harvest.drivers.http_options import Options, reply_description
from harvest.drivers.received import Received
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer, Attachment, Source, ToolCall

PAGE = "https://www.example.org/mill"
TEXT = "By the mill."
HALVES = ("By the ", "mill.")
ASK, ASKED = ToolCall("find", '{"q": 1}'), '{"q": 1}'


@dataclass(frozen=True)
class Vendor:
    """What it sends, how an audit would describe that, and what it says."""

    events: list[Any]
    options: dict[str, Any]
    answer: Answer
    tokens: dict[str, int] = field(default_factory=dict)
    lines: bool = False
    notes: tuple[str, ...] = ()


def _said(**parts: Any) -> Answer:
    return replace(Answer.of(TEXT, sources=parts.pop("sources", ())), **parts)


def _block(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"content_block_{kind}", "index": 0, **fields}


VENDORS = {
    "Anthropic": Vendor(
        [
            {"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 9, "output_tokens": 1}}},
            _block("delta", delta={"type": "thinking_delta", "thinking": "hm"}),
            _block("delta", delta={"type": "signature_delta", "signature": "x"}),
            _block("start", content_block={"type": "text", "text": ""}),
            *(_block("delta", delta={"type": "text_delta", "text": half}) for half in HALVES),
            _block("delta", delta={"type": "citations_delta", "citation": {"url": PAGE, "title": "Mill"}}),
            _block("start", content_block={"type": "tool_use", "id": "t", "name": "find", "input": {}}),
            *(_block("delta", delta={"type": "input_json_delta", "partial_json": piece}) for piece in ("", ASKED)),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}},
        ],
        {
            "reply": "$.delta.text",
            "thoughts": "$.delta.thinking",
            "tools": ["$.content_block", "$.delta"],
            "links": "$.delta.citation",
            "tokens": ["$.usage", "$.message.usage"],
        },
        _said(thoughts="hm", calls=(ASK,), sources=(Source(PAGE, "Mill"),)),
        {"prompt": 9, "completion": 20},
    ),
    "Anthropic, by its parts": Vendor(
        [
            {"type": "message_start", "message": {"model": "c", "content": []}},
            _block("start", content_block={"type": "thinking", "thinking": "", "signature": ""}),
            _block("delta", delta={"type": "thinking_delta", "thinking": "hm"}),
            _block("delta", delta={"type": "signature_delta", "signature": "x"}),
            _block("start", content_block={"type": "text", "text": ""}),
            *(_block("delta", delta={"type": "text_delta", "text": half}) for half in HALVES),
            _block("delta", delta={"type": "citations_delta", "citation": {"url": PAGE, "title": "Mill"}}),
            _block("start", content_block={"type": "tool_use", "id": "t", "name": "find", "input": {}}),
            *(_block("delta", delta={"type": "input_json_delta", "partial_json": piece}) for piece in ("", ASKED)),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        ],
        {"reply": ["$.content_block", "$.delta"]},
        _said(thoughts="hm", calls=(ASK,), sources=(Source(PAGE, "Mill"),)),
    ),
    "Bedrock": Vendor(
        [
            {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "hm"}}}},
            *({"contentBlockDelta": {"delta": {"text": half}}} for half in HALVES),
            {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t", "name": "find"}}}},
            {"contentBlockDelta": {"delta": {"toolUse": {"input": ASKED}}}},
            {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 4}}},
        ],
        {
            "reply": "$.contentBlockDelta.delta.text",
            "thoughts": "$.contentBlockDelta.delta.reasoningContent",
            "tools": ["$.contentBlockStart.start", "$.contentBlockDelta.delta"],
            "tokens": "$.metadata.usage",
        },
        _said(thoughts="hm", calls=(ASK,)),
        {"prompt": 3, "completion": 4},
        lines=True,
    ),
    "Gemini": Vendor(
        [
            {"parts": [{"text": "hm", "thought": True}, {"text": HALVES[0]}]},
            {"parts": [{"functionCall": {"name": "find", "args": {"q": 1}}}] * 2},
            {"parts": [{"text": HALVES[1]}, {"fileData": {"mimeType": "text/csv", "fileUri": "gs://a/b.csv"}}]},
        ],
        {"reply": "$.parts"},
        _said(thoughts="hm", calls=(ASK, ASK), attachments=(Attachment("gs://a/b.csv", "text/csv"),)),
    ),
    "Ollama": Vendor(
        [
            {"message": {"content": "", "thinking": "hm"}},
            *({"message": {"content": half}} for half in HALVES),
            {"message": {"content": "", "tool_calls": [{"function": {"name": "find", "arguments": {"q": 1}}}]}},
            {"message": {"content": "", "tool_calls": [{"function": {"name": "find", "arguments": {"q": 1}}}]}},
            {"done": True, "prompt_eval_count": 3, "eval_count": 4},
        ],
        {
            "reply": "$.message.content",
            "thoughts": "$.message.thinking",
            "tools": "$.message.tool_calls",
            "tokens": "$",
        },
        _said(thoughts="hm", calls=(ASK, ASK)),
        {"prompt": 3, "completion": 4},
        lines=True,
    ),
    "Cohere": Vendor(
        [
            {"type": "tool-call-start", "delta": {"calls": {"id": "x", "function": {"name": "find", "arguments": ""}}}},
            {"type": "tool-call-delta", "delta": {"calls": {"function": {"arguments": ASKED[:3]}}}},
            {"type": "tool-call-delta", "delta": {"calls": {"function": {"arguments": ASKED[3:]}}}},
            {"type": "content-start", "delta": {"content": {"type": "text", "text": ""}}},
            *({"type": "content-delta", "delta": {"content": {"text": half}}} for half in HALVES),
        ],
        {"reply": "$.delta.content", "tools": "$.delta.calls"},
        _said(calls=(ASK,)),
    ),
    "Responses": Vendor(
        [
            {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
            {"type": "response.function_call_arguments.delta", "delta": ASKED},
            *({"type": "response.output_text.delta", "delta": half} for half in HALVES),
            {"type": "response.output_text.done", "text": TEXT},
            {
                "type": "response.completed",
                "response": {
                    "output": [
                        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                        {"type": "function_call", "name": "find", "arguments": ASKED},
                        {"type": "message", "content": [{"type": "output_text", "text": TEXT}]},
                    ]
                },
            },
        ],
        {
            "reply": {"response.output_text.delta": "$.delta"},
            "thoughts": "$.response.output[*].summary",
            "tools": "$.response.output[*]",
        },
        _said(thoughts="hm", calls=(ASK,)),
    ),
    "Assistants": Vendor(
        [
            {"delta": {"content": [{"type": "text", "text": {"value": HALVES[0]}}]}},
            {
                "delta": {
                    "content": [
                        {
                            "type": "text",
                            "text": {
                                "value": HALVES[1],
                                "annotations": [
                                    {"start_index": 7, "end_index": 11, "file_citation": {"file_id": "f-1"}}
                                ],
                            },
                        }
                    ]
                }
            },
        ],
        {"reply": "$.delta.content"},
        _said(sources=(Source("", "f-1", 7, 11),)),
    ),
    "Dify": Vendor(
        [
            {"event": "agent_thought", "thought": "hm", "tool": "find"},
            *({"event": "agent_message", "answer": half} for half in HALVES),
            {"event": "message_end", "metadata": {"retriever_resources": [{"document_name": "mill.pdf"}]}},
        ],
        {
            "reply": "$.answer",
            "thoughts": "$.thought",
            "tools": "$.tool",
            "links": "$.metadata.retriever_resources",
        },
        _said(thoughts="hm", calls=(ToolCall("find"),), sources=(Source("", "mill.pdf"),)),
    ),
    "Flowise": Vendor(
        [{"event": "token", "data": half} for half in HALVES]
        + [{"event": "metadata", "data": {"chatId": "c"}}, {"event": "end", "data": "[DONE]"}],
        {"reply": {"token": "$.data"}},
        _said(),
    ),
    "AI SDK": Vendor(
        [
            {"type": "reasoning-delta", "delta": "hm"},
            *({"type": "text-delta", "delta": half} for half in HALVES),
            {"type": "finish"},
        ],
        {"reply": {"text-delta": ["$.delta"]}},
        _said(),
    ),
}


@pytest.mark.parametrize("name", VENDORS)
def test_a_stream_of_any_vendor_is_its_answer(name: str) -> None:
    vendor = VENDORS[name]
    media_type = "application/x-ndjson" if vendor.lines else "text/event-stream"
    begin, end = ("", "\n") if vendor.lines else ("data: ", "\n\n")
    body = "".join(f"{begin}{json.dumps(event)}{end}" for event in vendor.events)
    headers = (("content-type", media_type), ("content-length", "1"))
    asked = {"url": "http://127.0.0.1/x", "body": {"q": "{{ text }}"}, **vendor.options}
    options = Options.model_validate_json(json.dumps(asked))
    turn = reply_description(options).read(Received("", 200, headers, body.encode(), Stopwatch())).turn
    assert (turn.answer, dict(turn.tokens), turn.notes) == (vendor.answer, vendor.tokens, ())


def _completed(*deltas: dict[str, Any], **last: Any) -> tuple[Answer, tuple[str, ...], dict[str, int]]:
    completion = Completion()
    choices = [{"delta": delta} for delta in deltas] + [{"delta": {}, "finish_reason": "stop", **last}]
    for choice in choices:
        completion.read_event("", json.dumps({"choices": [{"index": 0, **choice}]}), Stopwatch())
    answer, notes = completion.answer()
    return answer, notes, dict(completion.tokens)


def test_reasoning_and_references_in_the_parts_of_pieces_are_not_text() -> None:
    contents: list[Any] = [[{"type": "thinking", "thinking": [{"type": "text", "text": one}]}] for one in "hm"]
    contents += [HALVES[0], [{"type": "reference", "reference_ids": [0]}], HALVES[1]]
    pieces = [{"content": content} for content in contents]
    assert _completed(*pieces) == (_said(thoughts="hm"), (), {})


def test_tools_that_a_server_ran_itself_are_calls() -> None:
    asked = {"index": 0, "id": "c", "function": {"name": "find", "arguments": ASKED}}
    ran = {"index": 0, "type": "search", "arguments": ASKED}
    pieces: list[dict[str, Any]] = [{"content": TEXT, "tool_calls": [asked]}, {"executed_tools": [ran]}]
    pieces.append({"executed_tools": [{**ran, "output": "Mill"}]})
    assert _completed(*pieces) == (_said(calls=(ASK, ToolCall("search", ASKED))), (), {})


def test_pieces_of_calls_with_their_own_types_are_joined() -> None:
    pieces = [
        {"tool_calls": [{"index": 0, "id": "k", "type": "code_interpreter", "code_interpreter": {"input": piece}}]}
        for piece in ("print", "(1)")
    ]
    assert _completed(*pieces)[0].calls == (ToolCall("code_interpreter", "print(1)"),)


def test_counts_within_a_choice_are_counts() -> None:
    assert _completed({"content": TEXT}, usage={"prompt_tokens": 1})[2] == {"prompt": 1}
