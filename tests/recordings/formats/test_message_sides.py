"""Who said what in logs of assistants with tools: an answer is what the user reads, and nothing is lost unsaid."""

from __future__ import annotations

from typing import Any

import pytest

from protocols.answer import Attachment, ToolCall
from recordings.formats.message_sides import split_sides

ASK, TELL = {"role": "user", "content": "Rain?"}, {"role": "assistant", "content": "Yes."}
RAIN = ToolCall("weather", "{}")
BETWEEN: dict[str, tuple[list[dict[str, Any]], tuple[ToolCall, ...], str]] = {
    "OpenAI": (
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "weather", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "rain"},
        ],
        (RAIN,),
        "",
    ),
    "OpenAI, before": (
        [
            {"role": "assistant", "content": "", "function_call": {"name": "weather"}},
            {"role": "function", "name": "weather", "content": "rain"},
        ],
        (ToolCall("weather"),),
        "",
    ),
    "OpenAI's responses": (
        [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Clouds."}]},
            {"type": "function_call", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "output": "rain"},
        ],
        (RAIN,),
        "Clouds.",
    ),
    "Anthropic": (
        [
            {"role": "assistant", "content": [{"type": "tool_use", "name": "weather", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "rain"}]},
        ],
        (RAIN,),
        "",
    ),
    "Inspect": (
        [
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "Clouds."}],
                "tool_calls": [{"function": "weather", "arguments": {"at": "Kyōto"}}],
            },
            {"role": "tool", "function": "weather", "content": "rain"},
        ],
        (ToolCall("weather", '{"at": "Kyōto"}'),),
        "Clouds.",
    ),
    "ShareGPT": (
        [
            {"from": "function_call", "value": '{"name": "weather", "arguments": {}}'},
            {"from": "observation", "value": "rain"},
        ],
        (RAIN,),
        "",
    ),
    "reasoning": ([{"role": "assistant", "content": [{"type": "reasoning", "text": "Clouds."}]}], (), "Clouds."),
}


@pytest.mark.parametrize("program", BETWEEN)
def test_actions_of_a_system_besides_speaking_are_a_part_of_its_answer(program: str) -> None:
    between, calls, thoughts = BETWEEN[program]
    found = split_sides([ASK, *between, TELL])
    assert found.words == [("Rain?", "Yes.")]
    reply = found.turns[0].reply()
    assert reply is not None
    assert (reply.answer.calls, reply.answer.thoughts, reply.answer.text) == (calls, thoughts, "Yes.")
    results = sum("rain" in str(one) and one.get("role") != "assistant" for one in between)
    assert sum(found.passed.values()) == results
    assert found.last == "assistant"


def test_a_messages_facts_about_its_reply_are_kept() -> None:
    asked = {**ASK, "timestamp": "2026-03-01T10:00:00Z", "acts": ["ask", "greet"]}
    usage = {"prompt_tokens": 3, "output_tokens": 2, "cost": 0.1, "total_tokens": True}
    called = {"role": "assistant", "content": None, "tool_calls": [{"name": "w"}], "usage": usage}
    told = {
        **TELL,
        "model": "m-1",
        "finish_reason": "length",
        "usage": {"prompt_tokens": 4, "completion_tokens": 10**99},
    }
    (turn,) = split_sides([asked, called, told]).turns
    reply = turn.reply()
    assert reply is not None
    assert (turn.acts, reply.asked_at) == (["ask", "greet"], "2026-03-01T10:00:00Z")
    assert (reply.model, reply.finish, dict(reply.tokens)) == ("m-1", "length", {"prompt": 7, "completion": 2})


def test_a_refusal_is_marked_as_one() -> None:
    for refused in ({"content": None, "refusal": "No."}, {"content": [{"type": "refusal", "refusal": "No."}]}):
        (turn,) = split_sides([ASK, {"role": "assistant", **refused}]).turns
        reply = turn.reply()
        assert reply is not None
        assert (reply.answer.text, reply.answer.refused) == ("No.", True)


def test_steps_before_anybody_spoke_are_counted() -> None:
    assert split_sides([BETWEEN["OpenAI"][0][0], ASK, TELL]).passed == {"steps before the first turn": 1}


def test_text_next_to_other_content_is_kept() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    drawn = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    found = split_sides(
        [
            {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "A cat."}],
            },
            {"role": "user", "content": [picture]},
            {"role": "assistant", "content": ["Another cat.", drawn, {"type": "smell"}]},
        ]
    )
    assert found.words == [("What is this?", "A cat."), ("", "Another cat.")]
    assert dict(found.passed) == {"parts image_url": 2, "parts smell": 1}
    first, last = (turn.reply() for turn in found.turns)
    assert first is not None
    assert last is not None
    assert first.answer.thoughts == "Hm."
    assert last.answer.attachments == (Attachment("https://example.org/cat.png", "image"),)


def test_a_last_answer_without_text_is_not_an_end_by_the_user() -> None:
    assert split_sides([ASK, BETWEEN["OpenAI"][0][0]]).last == "assistant"
    assert split_sides([ASK, TELL, ASK]).last == "user"


def test_unread_keys_of_messages_are_named() -> None:
    found = split_sides([ASK, {**TELL, "weight": 0, "logprobs": None, "sources": ["a"]}])
    assert set(found.unread) == {"messages[].weight", "messages[].sources"}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["see picture", "and more"], "see picture\nand more"),
        (["a", "b"], "a\nb"),
        ([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}], "a\nb"),
        (["The grass is ", "green", " and the sky", " blue", "."], "The grass is green and the sky blue."),
        (["One\n", "two", "\nthree"], "One\ntwo\nthree"),
        (["今日は", "、晴れ"], "今日は、晴れ"),
        (["", "a", "", "b"], "a\nb"),
        ([], ""),
    ],
)
def test_parts_are_separate_texts_unless_they_continue_a_sentence(parts: list[Any], text: str) -> None:
    for role in ("user", "assistant"):
        (turn,) = split_sides([{"role": role, "content": parts}]).words
        assert text in turn
