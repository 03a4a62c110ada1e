"""Thoughts that open a text are set apart, and marks further on are words like any other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.thoughts import split_thoughts


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        ("<think>\nhm\n</think>\n\nYes.", "hm", "Yes."),
        ("\n <THINK>hm</THINK>Yes.", "hm", "Yes."),
        ("<thinking>hm</thinking> Yes.", "hm", "Yes."),
        ("[THINK]hm[/THINK]Yes.", "hm", "Yes."),
        ("◁think▷hm◁/think▷Yes.", "hm", "Yes."),
        ("<reasoning>\na\n\nb\n</reasoning>\nYes.", "a\n\nb", "Yes."),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "hm", "Yes."),
        ("<think>a</think>\n<think>b</think>\nYes.", "a\n\nb", "Yes."),
        ("<think></think>\n\nYes.", "", "Yes."),
        ("<think>cut by the limit", "cut by the limit", ""),
        ('<think lang="en">hm</think>Yes.', "hm", "Yes."),
        ("<Reasoning effort='low' >hm</reasoning >\nYes.", "hm", "Yes."),
        ("<think/>\nYes.", "", "Yes."),
        ('<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\nYes.', "> hm", "Yes."),
        ("<thought>a <thought>b</thought> c <thought>d</thought></thought>Yes.",
         "a <thought>b</thought> c <thought>d</thought>", "Yes."),
        ("[THINK]a [THINK]b[/THINK] c[/THINK]Yes.", "a [THINK]b[/THINK] c", "Yes."),
        ('<think id="1">a <think id="2">b</think> c</think>Yes.', 'a <think id="2">b</think> c', "Yes."),
        ("<think>the mark `</think>` ends it</think>Yes.", "the mark `</think>` ends it", "Yes."),
        ("<think>I open with `<think>` here</think>Yes.", "I open with `<think>` here", "Yes."),
        ("<think>I write <think> first</think>Yes.", "I write <think> first", "Yes."),
        ("<think>only `</think>`Yes.", "only `", "`Yes."),
        ("<think>hm</think>\n\n    indented\n    twice", "hm", "    indented\n    twice"),
        ("<think>hm</think> \n \n\tindented", "hm", "\tindented"),
        ("hm\n</think>\n  - one\n  - two", "hm", "  - one\n  - two"),
        ("<think>hm</think>   Yes.", "hm", "Yes."),
        ("<think>hm</think>\n \n", "hm", ""),
        ("hm, they want a film\n</think>\n\nYes.", "hm, they want a film", "Yes."),
        ("hm\n</chain_of_thought>\nYes.", "hm", "Yes."),
        ("<nova_thinking>hm</nova_thinking>Yes.", "hm", "Yes."),
        ("<inner_monologue>a <think>b</think></inner_monologue>Yes.", "a <think>b</think>", "Yes."),
        ("&lt;thought&gt;hm&lt;/thought&gt;\nYes.", "hm", "Yes."),
        ("\ufeff[THINK]hm[/THINK]Yes.", "hm", "Yes."),
        ("<unused94>thought\nhm<unused95>Yes.", "hm", "Yes."),
        ("```reasoning\nhm\n```\n\nYes:\n\n```\ncode\n```", "hm", "Yes:\n\n```\ncode\n```"),
        ("<think>never write '</think>' here</think>Yes.", "never write '</think>' here", "Yes."),
        ("<scratchpad>hm</scratchpad>\n<response>\nYes.\n</response>\n", "hm", "Yes.\n"),
        ("<think>hm</think><answer>Yes.</answer> Or <answer>no</answer>", "hm",
         "<answer>Yes.</answer> Or <answer>no</answer>"),
        ("<think>hm</think><answer>Yes, cut by", "hm", "Yes, cut by"),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
         "hm", "Yes."),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>", "hm", "Yes."),
    ],
)  # fmt: skip
def test_reasoning_at_the_start_of_a_text_is_not_part_of_the_answer(text: str, thoughts: str, answer: str) -> None:
    found, begin, end = split_thoughts(text)
    assert (found, text[begin:end]) == (thoughts, answer)


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "",
        "A model writes <think>…</think> before it answers.",
        "It ends with `</think>` in the text.",
        "Use this:\n```\nhm\n</think>\n```\n",
        "<b>Yes</b>",
        "<thinker>Rodin</thinker>",
        "<details><summary>More</summary>Yes.</details>",
        '<thinker type="x">Rodin</thinker>',
        "<answer>Yes.</answer>",
        "<thinking-cap>Rodin</thinking-cap>",
        "Type &lt;think&gt; and then the answer.",
        "```python\nthink()\n```",
    ],
)
def test_marks_further_on_are_words(text: str) -> None:
    assert split_thoughts(text) == ("", 0, len(text))


@given(st.text(st.sampled_from("<think>/ \nab[THINK]"), max_size=60))
def test_the_remainder_is_the_end_of_the_text(text: str) -> None:
    thoughts, begin, end = split_thoughts(text)
    assert 0 <= begin <= end <= len(text)
    assert all(word in text for word in thoughts.split())


@pytest.mark.parametrize("more", [" " * 300_000 + "x", "\n" * 300_000, "<answer>" * 40_000, "<|end|> " * 40_000])
def test_a_long_answer_is_read_in_one_pass(more: str) -> None:
    """Hours, if each blank were a place to begin at."""
    thoughts, _, end = split_thoughts("<think>hm</think>Yes." + more)
    assert (thoughts, end > 20) == ("hm", True)
