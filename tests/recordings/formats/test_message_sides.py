"""Who said what in logs of assistants with tools: an answer is what the user reads, and nothing is lost unsaid."""

from __future__ import annotations

from typing import Any

import pytest

from recordings.formats.message_sides import split_sides

ASK, TELL = {"role": "user", "content": "Rain?"}, {"role": "assistant", "content": "Yes."}
BETWEEN: dict[str, list[dict[str, Any]]] = {
    "OpenAI": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "weather"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "rain"},
    ],
    "OpenAI, before": [
        {"role": "assistant", "content": "", "function_call": {"name": "weather"}},
        {"role": "function", "name": "weather", "content": "rain"},
    ],
    "OpenAI's responses": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "output": "rain"},
    ],
    "Anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "name": "weather"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "rain"}]},
    ],
    "ShareGPT": [{"from": "function_call", "value": "{}"}, {"from": "observation", "value": "rain"}],
    "reasoning": [{"role": "assistant", "content": [{"type": "reasoning", "text": "Clouds."}]}],
}


@pytest.mark.parametrize("program", BETWEEN)
def test_what_a_system_says_to_its_tools_is_passed_over_and_counted(program: str) -> None:
    between = BETWEEN[program]
    found = split_sides([ASK, *between, TELL])
    assert found.turns == [("Rain?", "Yes.")]
    assert sum(found.passed.values()) == len(between)
    assert (found.last, found.unread) == ("assistant", {})


def test_text_beside_what_is_no_text_is_kept() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    found = split_sides(
        [
            {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "A cat."}],
            },
            {"role": "user", "content": [picture]},
            {"role": "assistant", "content": "Another cat."},
        ]
    )
    assert found.turns == [("What is this?", "A cat."), ("", "Another cat.")]
    assert dict(found.passed) == {"parts image_url": 2, "parts thinking": 1}


def test_a_last_answer_without_text_is_not_an_end_by_the_user() -> None:
    assert split_sides([ASK, BETWEEN["OpenAI"][0]]).last == "assistant"
    assert split_sides([ASK, TELL, ASK]).last == "user"


def test_keys_of_messages_that_nothing_reads_are_named() -> None:
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
def test_parts_are_texts_of_their_own_unless_they_go_on_with_a_sentence(parts: list[Any], text: str) -> None:
    for role in ("user", "assistant"):
        (turn,) = split_sides([{"role": role, "content": parts}]).turns
        assert text in turn
