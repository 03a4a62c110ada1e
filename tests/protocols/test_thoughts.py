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
    ],
)  # fmt: skip
def test_thoughts_that_open_a_text_are_no_part_of_the_answer(text: str, thoughts: str, answer: str) -> None:
    found, begin = split_thoughts(text)
    assert (found, text[begin:]) == (thoughts, answer)


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
    ],
)
def test_marks_further_on_are_words(text: str) -> None:
    assert split_thoughts(text) == ("", 0)


@given(st.text(st.sampled_from("<think>/ \nab[THINK]"), max_size=60))
def test_what_is_left_is_the_end_of_the_text(text: str) -> None:
    thoughts, begin = split_thoughts(text)
    assert 0 <= begin <= len(text)
    assert all(word in text for word in thoughts.split())
