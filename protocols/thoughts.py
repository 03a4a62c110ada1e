"""Separation of a model's thoughts from its answer. The thoughts are at the beginning of the model's text.

Servers that do not know a model's tags pass its thoughts on as part of the text. Only tags at the beginning count,
because an answer may mention such tags later. If a prompt template opens the thoughts, the reply has only the closing
tag, which is recognised if it is on a line of its own.
"""

import re

_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "reason", "seed:think")
# Used by DeepSeek, Qwen and similar models; by prompts; by Seed, Open WebUI, Magistral, Kimi, Sky-T1, Command
# A and gpt-oss.
_MARKS = (
    *((rf"<{tag}(?:\s[^<>]*)?(?<!/)>", rf"</{tag}\s*>") for tag in _TAGS),
    (r"<details\s[^<>]*type=[\"']?reasoning\b[^<>]*>(?:\s*<summary>[^<]*</summary>)?", r"</details>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|channel\|>analysis<\|message\|>", r"<\|end\|>(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"),
)

_OPENING_TAGS = tuple(
    (re.compile(rf"\s*{begin}", re.IGNORECASE), re.compile(end, re.IGNORECASE)) for begin, end in _MARKS
)
_OPEN_OR_CLOSE = tuple(re.compile(rf"(?P<begin>{begin})|{end}", re.IGNORECASE) for begin, end in _MARKS)
_EMPTY = re.compile(rf"\s*<(?:{'|'.join(_TAGS)})\s*/>", re.IGNORECASE)
_CLOSED_ALONE = re.compile(r"(?m)^[ \t]*(?:</think>|</thinking>|\[/THINK\]|◁/think▷)[ \t]*$")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)")


def split_thoughts(text: str) -> tuple[str, int]:
    """Return the thoughts at the beginning of a text, or "", and the index at which the answer begins. If the
    thoughts never end, this index is the end of the text."""
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
        return "", 0
    # The answer begins with its first visible line, with the indent if it is a line of its own.
    begin = at
    while at < len(text) and text[at].isspace():
        at += 1
        if text[at - 1] in "\n\r":
            begin = at
    own_line = at < len(text) and begin > 0 and text[begin - 1] in "\n\r"
    return "\n\n".join(filter(None, thoughts)), begin if own_line else at


def _leading_span(text: str, at: int) -> tuple[int, int, int] | None:
    empty = _EMPTY.match(text, at)
    if empty is not None:
        return empty.end(), empty.end(), empty.end()
    for (opened, closed), either in zip(_OPENING_TAGS, _OPEN_OR_CLOSE, strict=True):
        begin = opened.match(text, at)
        if begin is not None:
            end = _closing_tag(text, begin.end(), either) or closed.search(text, begin.end())
            return (begin.end(), end.start(), end.end()) if end else (begin.end(), len(text), len(text))
    return None


def _closing_tag(text: str, at: int, either: re.Pattern[str]) -> re.Match[str] | None:
    """Return the tag that closes the thoughts opened before `at`, skipping nested pairs, or None if tags are
    unbalanced. A tag in backquotes is only mentioned, and neither opens nor closes thoughts."""
    depth = 1
    for mark in either.finditer(text, at):
        if text[mark.start() - 1] == "`" and text[mark.end() : mark.end() + 1] == "`":
            continue
        depth += 1 if mark["begin"] is not None else -1
        if depth == 0:
            return mark
    return None
