"""Separation of a model's thoughts from its answer. The thoughts are at the beginning of the model's text.

Servers that do not know a model's tags pass its thoughts on as part of the text. Only tags at the beginning count,
because an answer may mention such tags later. If a prompt template opens the thoughts, the reply has only the closing
tag, which is recognised if it is on a line of its own.
"""

import re
from typing import NamedTuple

# Used by DeepSeek, Qwen and similar models; by prompts; by Seed, LongCat and others that put their name before it.
_STEM = r"(?:think|thinking|thoughts?|reasoning|reason|scratch_?pad|(?:inner_)?monologue|chain_of_thought)"
_NAME = rf"(?:[a-z]+[:_-]|ant)?{_STEM}(?:_process)?"
_TAG = re.compile(rf"[\s\ufeff]*(?:<|&lt;)(?P<name>{_NAME})(?:\s[^<>]*?)?(?<!/)(?:>|&gt;)", re.IGNORECASE)
# Used by Open WebUI, prompts, Magistral, Kimi, Sky-T1, Command A, gpt-oss, Gemma and Pangu.
_MARKS = (
    (r"<details\s[^<>]*type=[\"']?reasoning\b[^<>]*>(?:\s*<summary>[^<]*</summary>)?", r"</details>"),
    (r"```[ \t]*(?:think(?:ing)?|thoughts?|reasoning)[ \t]*\n", r"(?m:^)```[ \t]*(?m:$)"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|channel\|>analysis<\|message\|>", r"<\|end\|>(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"),
    (r"<unused94>(?:thought\n)?", r"<unused95>"),
    (r"\[unused16\]", r"\[unused17\]"),
)
# What the same models and prompts put around the answer that follows, and at its end.
_ANSWER = re.compile(
    r"<(?P<name>answer|final_answer|response|output)>|<\|(?:begin_of_solution|START_RESPONSE)\|>", re.IGNORECASE
)
_ANSWER_END = re.compile(r"<\|(?:end_of_solution|END_RESPONSE|return|end|im_end)\|>\Z", re.IGNORECASE)
_LONGEST_END = 20  # characters of a mark at the end

_OPENING_MARKS = tuple((re.compile(rf"[\s\ufeff]*{begin}", re.IGNORECASE), begin, end) for begin, end in _MARKS)
_EMPTY = re.compile(rf"\s*<{_NAME}\s*/>", re.IGNORECASE)
_CLOSED_ALONE = re.compile(rf"(?m)^[ \t]*(?:</{_NAME}>|\[/THINK\]|◁/think▷)[ \t]*$")
_QUOTES = "`\"'“”‘’„«»"
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)")


class Split(NamedTuple):
    """The thoughts at the beginning of a text, or "", and the places at which the answer begins and ends."""

    thoughts: str
    begin: int
    end: int


def split_thoughts(text: str) -> Split:
    """Find the thoughts at the beginning of a text. If they never end, the answer is empty and begins at the end of the
    text. Marks around an answer are not part of it if marked thoughts precede it."""
    thoughts: list[str] = []
    at = 0
    while (span := _leading_span(text, at)) is not None:
        begin, end, after = span
        thoughts.append(text[begin:end].strip())
        at = after
    if not thoughts and (closed := _CLOSED_ALONE.search(text)) and _FENCE.search(text, 0, closed.start()) is None:
        thoughts.append(text[: closed.start()].strip())
        at = closed.end()
    elif not thoughts:
        return Split("", 0, len(text))
    at, end = _inside_answer_marks(text, at)
    # The answer begins with its first visible line, with the indent if it is a line of its own.
    begin = at
    while at < end and text[at].isspace():
        at += 1
        if text[at - 1] in "\n\r":
            begin = at
    own_line = at < end and begin > 0 and text[begin - 1] in "\n\r"
    return Split("\n\n".join(filter(None, thoughts)), begin if own_line else at, end)


def _inside_answer_marks(text: str, at: int) -> tuple[int, int]:
    """Return where the answer that follows thoughts begins and ends, without marks around all of it."""
    end = len(text)
    said = len(text.rstrip())
    if (last := _ANSWER_END.search(text, max(at, said - _LONGEST_END), said)) is not None:
        end = len(text[: last.start()].rstrip())
    begin = at
    while begin < end and text[begin].isspace():
        begin += 1
    opened = _ANSWER.match(text, begin, end)
    if opened is None:
        return at, end
    if opened["name"] is None:
        return opened.end(), end
    closing = f"</{opened['name']}>".lower()
    inner = text[opened.end() : end].rstrip()
    closings = inner.lower().count(closing)
    if closings == 0:  # cut by a limit
        return opened.end(), end
    whole = closings == 1 and inner.lower().endswith(closing)
    return (opened.end(), opened.end() + len(inner) - len(closing)) if whole else (at, end)


def _leading_span(text: str, at: int) -> tuple[int, int, int] | None:
    empty = _EMPTY.match(text, at)
    if empty is not None:
        return empty.end(), empty.end(), empty.end()
    opening = _opening_mark(text, at)
    if opening is None:
        return None
    begin, opened, closed = opening
    either = re.compile(rf"(?P<begin>{opened})|{closed}", re.IGNORECASE)
    end = _closing_tag(text, begin.end(), either) or re.compile(closed, re.IGNORECASE).search(text, begin.end())
    return (begin.end(), end.start(), end.end()) if end else (begin.end(), len(text), len(text))


def _opening_mark(text: str, at: int) -> tuple[re.Match[str], str, str] | None:
    """Return the mark that opens thoughts here, and patterns of marks that open and close the same kind of thoughts."""
    tag = _TAG.match(text, at)
    if tag is not None:
        name = re.escape(tag["name"])
        return tag, rf"(?:<|&lt;){name}(?:\s[^<>]*?)?(?<!/)(?:>|&gt;)", rf"(?:<|&lt;)/{name}\s*(?:>|&gt;)"
    for mark, opened, closed in _OPENING_MARKS:
        if (begin := mark.match(text, at)) is not None:
            return begin, opened, closed
    return None


def _closing_tag(text: str, at: int, either: re.Pattern[str]) -> re.Match[str] | None:
    """Return the tag that closes the thoughts opened before `at`, skipping nested pairs, or None if tags are
    unbalanced. A tag in quotes is only mentioned, and neither opens nor closes thoughts."""
    depth = 1
    for mark in either.finditer(text, at):
        if text[mark.start() - 1] in _QUOTES and text[mark.end() : mark.end() + 1] in tuple(_QUOTES):
            continue
        depth += 1 if mark["begin"] is not None else -1
        if depth == 0:
            return mark
    return None
