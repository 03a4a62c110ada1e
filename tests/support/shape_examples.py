"""Small files in the shapes of other programs, written by hand after their specifications, with what is in them."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from typing import Any

Words = list[tuple[str, str | None]]


@dataclass(frozen=True)
class Example:
    """A file with a hand count. Each of `told` is (system, topic, trial, words, kind of outcome). `acts` are those of
    all user turns, and `judged` the (criterion, value) of all judgments."""

    data: bytes
    told: list[tuple[str, str, int, Words, str]]
    acts: list[str] = field(default_factory=list)
    judged: list[tuple[str, Any]] = field(default_factory=list)


def dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _lines(*values: object) -> bytes:
    return b"".join(dumped(value) + b"\n" for value in values)


def said(role: str, content: object, **more: object) -> dict[str, object]:
    return {"role": role, "content": content, **more}


CALL = {"id": "c1", "type": "function", "function": "opening_hours", "arguments": {"day": "Mon"}}
INSPECT_LOG = {"version": 2, "eval": {"model": "openai/m-1", "task": "desk"}, "plan": {}}
INSPECT_SAMPLES: list[dict[str, Any]] = [
    {
        "id": "hours",
        "epoch": 1,
        "messages": [
            said("system", "Be brief."),
            said("user", "attachment://a1"),
            said("assistant", "", tool_calls=[CALL]),
            said("tool", "9-17", tool_call_id="c1", function="opening_hours"),
            said("assistant", [{"type": "reasoning", "reasoning": "Easy."}, {"type": "text", "text": "At nine."}]),
        ],
        "attachments": {"a1": "When do you open?"},
        "output": {"choices": [{"stop_reason": "stop"}], "usage": {"input_tokens": 12, "output_tokens": 3}},
        "scores": {"match": {"value": "C", "explanation": "as expected"}},
    },
    {"id": "hours", "epoch": 2, "messages": [said("user", "When?"), said("assistant", "No idea.")]},
    {"id": 7, "epoch": 1, "messages": [said("user", "Why?")], "error": {"message": "connection lost"}},
    {
        "id": 8,
        "epoch": 1,
        "messages": [said("user", "And?"), said("assistant", "Or.")],
        "limit": {"type": "message", "limit": 2},
    },
]
_INSPECT_TOLD: list[tuple[str, str, int, Words, str]] = [
    ("openai/m-1", "hours", 1, [("When do you open?", "At nine.")], "completed"),
    ("openai/m-1", "hours", 2, [("When?", "No idea.")], "completed"),
    ("openai/m-1", "7", 1, [("Why?", None)], "invalid"),
    ("openai/m-1", "8", 1, [("And?", "Or.")], "turn-limit"),
]


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return held.getvalue()


TAU2 = {
    "info": {"agent_info": {"llm": "m-2"}},
    "simulations": [
        {
            "id": "x",
            "task_id": "1",
            "trial": 0,
            "termination_reason": "user_stop",
            "reward_info": {"reward": 1.0},
            "start_time": "2026-03-01T10:00:00",
            "messages": [
                said("assistant", "How can I help?"),
                said("user", "Refund my order."),
                said("assistant", None, tool_calls=[{"id": "t", "name": "refund", "arguments": {"order": 4}}]),
                {"role": "tool", "id": "t", "content": "done", "requestor": "assistant"},
                said("assistant", "Done."),
                said("user", "Thanks! ###STOP###"),
            ],
        },
        {
            "task_id": "1",
            "trial": 1,
            "termination_reason": "max_steps",
            "messages": [said("user", "Refund."), said("assistant", "Which order?"), said("user", "###STOP###")],
        },
        {
            "task_id": "2",
            "trial": 0,
            "termination_reason": "infrastructure_error",
            "messages": [said("user", "Hello?"), said("assistant", "Hi.")],
        },
    ],
}
ATIF = {
    "schema_version": "ATIF-v1.6",
    "session_id": "s1",
    "agent": {"name": "B1", "version": "1", "model_name": "m-3"},
    "steps": [
        {"step_id": 1, "source": "system", "message": "Be kind."},
        {"step_id": 2, "source": "user", "message": "Is it open?", "timestamp": "2026-03-01T10:00:00Z"},
        {
            "step_id": 3,
            "source": "agent",
            "message": "",
            "reasoning_content": "Look it up.",
            "tool_calls": [{"tool_call_id": "c", "function_name": "hours", "arguments": {"day": 1}}],
            "observation": {"results": [{"source_call_id": "c", "content": "yes"}]},
            "metrics": {"prompt_tokens": 5, "completion_tokens": 2},
        },
        {"step_id": 4, "source": "agent", "message": "Yes.", "metrics": {"prompt_tokens": 9, "completion_tokens": 1}},
    ],
}
DIALOGUEKIT = [
    {
        "conversation ID": '"39GH"',
        "agent": {"id": "MovieBot", "type": "AGENT"},
        "user": {"id": "T3", "type": "USER"},
        "conversation": [
            {"participant": "AGENT", "utterance": "Hello.", "dialogue_acts": [{"intent": "WELCOME"}]},
            {
                "participant": "USER",
                "utterance": "action please",
                "dialogue_acts": [
                    {"intent": "DISCLOSE", "slot_values": [["GENRE", "action"]]},
                    {"intent": "ASK", "slot_values": []},
                ],
            },
            {"participant": "AGENT", "utterance": "Die Hard?", "intent": "REVEAL", "satisfaction": 4},
        ],
    }
]
SDIALOG = {
    "id": "d-1",
    "model": {"name": "m-4"},
    "turns": [
        {"speaker": "Ann", "text": "My head hurts."},
        {"speaker": "Dr. Bo", "text": "Since when?"},
        {"speaker": "Ann", "text": "Monday."},
    ],
    "events": [{"agent": "Ann", "action": "utter"}, {"agent": "Ann", "action": "think"}],
}
CONVOKIT: list[dict[str, object]] = [
    {"id": "u1", "speaker": "a", "conversation_id": "u1", "reply_to": None, "text": "Anyone?", "timestamp": 1700000000},
    {"id": "u2", "speaker": "b", "conversation_id": "u1", "reply_to": "u1", "text": "Me.", "timestamp": 1700000060},
    {"id": "u3", "speaker": "b", "conversation_id": "u1", "reply_to": "u1", "text": "Or me.", "timestamp": 1700000090},
    {"id": "u4", "speaker": "a", "conversation_id": "u1", "reply_to": "u3", "text": "Thanks.", "timestamp": 1700000100},
]
IARD = {
    "474": {
        "accepted_recommendation": [3],
        "dialogue_info": {
            "R1": {
                "role": "recommender",
                "utterance_text": "Hello!",
                "top-level intent/action": ["OTH"],
                "sub-intent/action": ["OTH"],
            },
            "S2": {
                "role": "seeker",
                "utterance_text": "A thriller?",
                "top-level intent/action": ["OTH", "AskForRec", "AddDetails"],
                "sub-intent/action": ["OTH", "IQU"],
            },
            "R3": {
                "role": "recommender",
                "utterance_text": "Heat.",
                "top-level intent/action": ["Recommend"],
                "sub-intent/action": ["REC-S"],
            },
        },
    }
}
TOPICS = [
    {
        "number": "9-1",
        "title": "Phones",
        "turns": [
            {"turn_id": 1, "utterance": "Which phone?", "response": "Any.", "response_provenance": ["doc-1:0"]},
            {"turn_id": 2, "utterance": "Why?"},
        ],
    }
]
IKAT_2023 = {
    "run_name": "our-run",
    "run_type": "automatic",
    "turns": [
        {
            "turn_id": "9-1_2",
            "responses": [{"rank": 2, "text": "Perhaps."}, {"rank": 1, "text": "Because."}],
        },
        {
            "turn_id": "9-1_1",
            "responses": [
                {
                    "rank": 1,
                    "text": "This one.",
                    "passage_provenance": [
                        {"id": "doc-1:0", "text": "A phone.", "used": True},
                        {"id": "doc-2:0", "used": False},
                    ],
                }
            ],
        },
    ],
}
IKAT_2025 = [
    {
        "metadata": {"team_id": "t", "run_id": "r25", "run_type": "automatic"},
        "turn_id": f"1-1_{turn}",
        "references": {"doc-3:1": 0.9},
        "responses": [{"text": "One.", "citations": {"doc-3:1": 1}}, {"text": f"Two of {turn}.", "citations": {}}],
    }
    for turn in (1, 2)
]
RAG = {
    "run_id": "B1/1",
    "topic_id": 31,
    "topic": "Why do leaves fall?",
    "references": ["https://example.org/a", "doc-9"],
    "answer": [{"text": "They age.", "citations": [0]}, {"text": "It is cold.", "citations": [0, 1]}],
}


def _attribute(key: str, value: object) -> dict[str, object]:
    return {"key": key, "value": {"stringValue" if isinstance(value, str) else "intValue": value}}


def _span(start: int, given: list[object], answered: list[object], **more: object) -> dict[str, object]:
    about = {
        "gen_ai.conversation.id": "c-1",
        "gen_ai.request.model": "m-5",
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps(answered),
        **more,
    }
    return {
        "traceId": "t1",
        "startTimeUnixNano": str(start),
        "attributes": [_attribute(key, value) for key, value in about.items()],
    }


def _part(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


_CALLED = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "hours", "arguments": {"day": 2}}]}
_RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "9-17"}]}
OTLP = {
    "resourceSpans": [
        {
            "resource": {"attributes": []},
            "scopeSpans": [
                {
                    "spans": [
                        _span(
                            3_000_000_000,
                            [
                                _part("user", "Hi"),
                                _part("assistant", "Hello."),
                                _part("user", "Open?"),
                                _CALLED,
                                _RESULT,
                            ],
                            [_part("assistant", "At nine.")],
                            **{"gen_ai.usage.input_tokens": 8},
                        ),
                        _span(
                            2_000_000_000,
                            [_part("user", "Hi"), _part("assistant", "Hello."), _part("user", "Open?")],
                            [_CALLED],
                        ),
                        _span(1_000_000_000, [_part("user", "Hi")], [_part("assistant", "Hello.")]),
                        {"traceId": "t1", "name": "a tool", "attributes": [_attribute("gen_ai.tool.name", "hours")]},
                    ]
                }
            ],
        }
    ]
}
LANGFUSE = [
    {
        "id": "t2",
        "session_id": "s",
        "timestamp": "2026-03-01T10:01:00Z",
        "input": {
            "messages": [
                said("system", "Be kind."),
                said("user", "Hi"),
                said("assistant", "Hello."),
                said("user", "When?"),
            ]
        },
        "output": said("assistant", "At nine."),
    },
    {
        "id": "t1",
        "session_id": "s",
        "timestamp": "2026-03-01T10:00:00Z",
        "input": {"messages": [said("system", "Be kind."), said("user", "Hi")]},
        "output": "Hello.",
        "model": "m-6",
    },
    {"id": "t3", "session_id": "other", "timestamp": "2026-03-01T11:00:00Z", "input": "Bye", "output": "Bye."},
]
_LEDGER = {"event": "opened", "format": "harvest-campaign-ledger/1", "run_id": "team-1", "at": "2026-03-01T10:00:00Z"}


def _sending(text: str, conversation: str = "c1", **more: object) -> dict[str, object]:
    at = "2026-03-01T10:00:01Z"
    return {"event": "sending", "call": "say", "conversation": conversation, "text": text, "at": at, **more}


def _received(text: str | None, conversation: str = "c1", **more: object) -> dict[str, object]:
    plain = {"begins": False, "ended": False, "complete": False, "body": {}, "at": "2026-03-01T10:00:02Z"}
    return {"event": "received", "conversation": conversation, "text": text, **plain, **more}


LEDGER: list[dict[str, object]] = [
    {**_LEDGER, "side": "user", "system": "track"},
    {"event": "sending", "call": "start"},
    _received("Hello.", begins=True),
    _sending("Hi", topic="g1", act="ask", state="talk"),
    {"event": "failed", "reason": "timeout"},
    {"event": "again"},
    _received("Yes.", body={"utterance": {"sources": [{"id": "s", "title": "A", "url": "https://a.example"}]}}),
    _sending("Bye.", topic="g1", label="o", outcome="user-stopped", reason="satisfied"),
    _received(None, "c2", begins=True),
    _sending("Why?", "c2", topic="g2", act="ask", state="talk"),
    _received(None, complete=True),
    _sending("What was never answered was never part of it."),
]
LEDGER_OF_A_SYSTEM: list[dict[str, object]] = [
    {**_LEDGER, "side": "agent", "system": "mine"},
    {"event": "sending", "call": "start"},
    _received("Show me.", "1-1", begins=True),
    _sending("This.", "1-1"),
    _received("Thanks.", "1-1", ended=True, complete=True),
]


def _utterance(who: str, text: str, *, final: bool = False) -> dict[str, object]:
    known = {"sources": [], "annotations": {}, "timestamp": "2026-03-01T10:00:00"}
    return {"conversation_id": "c1", "participant_id": who, "text": text, "is_final": final, **known}


USERSIM = [
    _utterance("agent", "Hello."),
    _utterance("user", "Hi"),
    _utterance("agent", "Yes."),
    _utterance("user", "Bye.", final=True),
]
# TREC-UserSim/trec-usersim-baseline, README.md, "Task 1", with other words.
TASK_1_SAID: list[tuple[str, str, dict[str, object]]] = [
    ("user", "Any dialogues?", {}),
    ("agent", "Two sets.", {"helpful": False, "dataset_quality": "Unlikely to be useful", "feedback": ""}),
    ("user", "With goals?", {}),
    ("agent", "One more.", {"helpful": True, "dataset_quality": "Some promising datasets", "feedback": "Better."}),
]


def _history(name: str, length: int) -> dict[str, object]:
    known = {
        "conversation_id": "of-people",
        "sources": [],
        "is_final": False,
        "timestamp": "2026-06-17T05:06:57.999383",
    }
    said = [{**known, "participant_name": who, "text": text, "annotations": one} for who, text, one in TASK_1_SAID]
    goal = {"context": "We study talk.", "topic": "dialogues", "discipline": "Social Sciences"}
    return {"conversation_id": name, "scenario": {"goal": goal, "persona": {}}, "chat_messages": said[:length]}


TABLE = """System;Topic;Trial;Turn;Question;Answer;Answered;Label;Date
B1;hours;1;2.0;On Sunday?;;;x;2026-03-01T10:01:00Z
B1;hours;1;1;When do you open?;"At nine;
or ten.";;o;2026-03-01T10:00:00Z
;;;;;;;;
B1;hours;2;1;When?;;no;;2026-03-01T10:02:00Z
"""


def _node(parent: str | None, role: str, text: str, **message: object) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **message}}


CHATGPT = {
    "conversation_id": "c",
    "create_time": 1700000000.5,
    "current_node": "b",
    "mapping": {
        "a": _node(None, "user", "Hi"),
        "b": _node("a", "assistant", "Hello.", recipient="all", metadata={"model_slug": "m"}),
        "c": _node("a", "assistant", "Hey."),
    },
}
MESSAGES = {
    "messages": [
        said("user", "Hi"),
        said(
            "assistant",
            [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hello."}],
            tool_calls=[{"function": {"name": "f", "arguments": "{}"}}],
        ),
    ],
    "metadata": {"labels": ["o"], "id": "x"},
}

EXAMPLES: dict[str, Example] = {
    "inspect": Example(dumped({**INSPECT_LOG, "samples": INSPECT_SAMPLES}), _INSPECT_TOLD, judged=[("match", "C")]),
    "inspect, archived": Example(
        archive(
            {
                "header.json": dumped(INSPECT_LOG),
                "summaries.json": b"[]",
                **{f"samples/{at}_epoch_1.json": dumped(one) for at, one in enumerate(INSPECT_SAMPLES)},
            }
        ),
        _INSPECT_TOLD,
        judged=[("match", "C")],
    ),
    "tau2": Example(
        dumped(TAU2),
        [
            (
                "m-2",
                "1",
                1,
                [("", "How can I help?"), ("Refund my order.", "Done."), ("Thanks!", None)],
                "user-stopped",
            ),
            ("m-2", "1", 2, [("Refund.", "Which order?")], "turn-limit"),
            ("m-2", "2", 1, [("Hello?", "Hi.")], "invalid"),
        ],
        judged=[("reward", 1.0)],
    ),
    "atif": Example(dumped(ATIF), [("B1", "s1", 1, [("Is it open?", "Yes.")], "completed")]),
    "dialoguekit": Example(
        dumped(DIALOGUEKIT),
        [("MovieBot", "39GH-dd41867e", 1, [("", "Hello."), ("action please", "Die Hard?")], "completed")],
        acts=["", "ASK+DISCLOSE"],
        judged=[("act", "WELCOME"), ("act", "REVEAL"), ("satisfaction", 4)],
    ),
    "sdialog": Example(
        dumped(SDIALOG), [("m-4", "d-1", 1, [("My head hurts.", "Since when?"), ("Monday.", None)], "user-stopped")]
    ),
    "convokit": Example(
        _lines(*CONVOKIT),
        [
            ("file", "u1", 1, [("Anyone?", "Me.")], "completed"),
            ("file", "u1", 2, [("Anyone?", "Or me."), ("Thanks.", None)], "user-stopped"),
        ],
    ),
    "iard": Example(
        dumped(IARD),
        [("file", "474", 1, [("", "Hello!"), ("A thriller?", "Heat.")], "completed")],
        acts=["", "AddDetails+AskForRec"],
        judged=[
            ("accepted", 1),
            ("sub-act", "OTH"),
            ("act", "OTH"),
            ("sub-act", "IQU"),
            ("sub-act", "REC-S"),
            ("act", "Recommend"),
        ],
    ),
    "trec-topics": Example(
        dumped(TOPICS), [("canonical", "9-1", 1, [("Which phone?", "Any."), ("Why?", None)], "user-stopped")]
    ),
    "ikat": Example(dumped(IKAT_2023), [("our-run", "9-1", 1, [("", "This one."), ("", "Because.")], "completed")]),
    "ikat, of 2025": Example(
        _lines(*IKAT_2025), [("r25", "1-1", 1, [("", "One. Two of 1."), ("", "One. Two of 2.")], "completed")]
    ),
    "rag": Example(_lines(RAG), [("B1/1", "31", 1, [("Why do leaves fall?", "They age. It is cold.")], "completed")]),
    "otlp": Example(dumped(OTLP), [("m-5", "c-1", 1, [("Hi", "Hello."), ("Open?", "At nine.")], "completed")]),
    "langfuse": Example(
        dumped(LANGFUSE),
        [
            ("m-6", "s", 1, [("Hi", "Hello."), ("When?", "At nine.")], "completed"),
            ("file", "other", 1, [("Bye", "Bye.")], "completed"),
        ],
    ),
    "table, in JSON": Example(
        _lines({"prompt": "When?", "completion": "At nine.", "topic": "hours", "trial": 1}),
        [("file", "hours", 1, [("When?", "At nine.")], "completed")],
    ),
    "campaign": Example(
        _lines(*LEDGER),
        [
            ("track", "g1", 1, [("", "Hello."), ("Hi", "Yes."), ("Bye.", None)], "user-stopped"),
            ("track", "g2", 1, [("Why?", None)], "turn-limit"),
        ],
        acts=["", "ask", "", "ask"],
    ),
    "campaign, of a system": Example(
        _lines(*LEDGER_OF_A_SYSTEM), [("mine", "1-1", 1, [("Show me.", "This."), ("Thanks.", None)], "user-stopped")]
    ),
    "usersim": Example(
        _lines(*USERSIM), [("file", "c1", 1, [("", "Hello."), ("Hi", "Yes."), ("Bye.", None)], "user-stopped")]
    ),
    "usersim, histories of task 1": Example(
        _lines(_history("h1", 2), _history("h2", 4)),
        [("file", "dialogues", 1, [("Any dialogues?", "Two sets."), ("With goals?", "One more.")], "interrupted")],
        judged=[
            *(("helpful", 0), ("dataset_quality", "Unlikely to be useful")),
            *(("helpful", 1), ("dataset_quality", "Some promising datasets"), ("feedback", "Better.")),
        ],
    ),
    "table": Example(
        TABLE.encode(),
        [
            ("B1", "hours", 1, [("When do you open?", "At nine;\nor ten."), ("On Sunday?", "")], "completed"),
            ("B1", "hours", 2, [("When?", None)], "invalid"),
        ],
    ),
}
"""By format, with a word on the variant after a comma."""


def form_of(name: str) -> str:
    return name.partition(",")[0]
