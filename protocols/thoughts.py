"""What a model thinks aloud at the beginning of its text, set apart from what it answers.

Servers that do not know a model's marks hand its thoughts on as a part of the text. Only what opens the text is taken
for thoughts: an answer may speak of such marks further on. A template can open the thoughts in the prompt, so that
only their end is in the reply; it is recognised where it stands on a line of its own.
"""

import re

_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "reason", "seed:think")
# Of DeepSeek, Qwen and their like; of prompts that ask for it; of Seed, Open WebUI, Magistral, Kimi, Sky-T1, Command
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

_OPENED = tuple((re.compile(rf"\s*{begin}", re.IGNORECASE), re.compile(end, re.IGNORECASE)) for begin, end in _MARKS)
_EITHER = tuple(re.compile(rf"(?P<begin>{begin})|{end}", re.IGNORECASE) for begin, end in _MARKS)
_EMPTY = re.compile(rf"\s*<(?:{'|'.join(_TAGS)})\s*/>", re.IGNORECASE)
_CLOSED_ALONE = re.compile(r"(?m)^[ \t]*(?:</think>|</thinking>|\[/THINK\]|◁/think▷)[ \t]*$")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)")


def split_thoughts(text: str) -> tuple[str, int]:
    """The thoughts that open a text, "" for none, and where the answer begins. Thoughts that never end are all there
    is: the answer then begins where the text ends."""
    thoughts: list[str] = []
    at = 0
    while (span := _leading(text, at)) is not None:
        begin, end, after = span
        thoughts.append(text[begin:end].strip())
        at = after
    if not thoughts and (closed := _CLOSED_ALONE.search(text)) and _FENCE.search(text, 0, closed.start()) is None:
        thoughts.append(text[: closed.start()].strip())
        at = closed.end()
    elif not thoughts:
        return "", 0
    # The answer begins with its first line that says something, with its indent if it is a line of its own.
    begin = at
    while at < len(text) and text[at].isspace():
        at += 1
        if text[at - 1] in "\n\r":
            begin = at
    own_line = at < len(text) and begin > 0 and text[begin - 1] in "\n\r"
    return "\n\n".join(filter(None, thoughts)), begin if own_line else at


def _leading(text: str, at: int) -> tuple[int, int, int] | None:
    """[begin, end) of the thoughts that open text[at:], and where what follows them begins."""
    empty = _EMPTY.match(text, at)
    if empty is not None:
        return empty.end(), empty.end(), empty.end()
    for (opened, closed), either in zip(_OPENED, _EITHER, strict=True):
        begin = opened.match(text, at)
        if begin is not None:
            end = _own_end(text, begin.end(), either) or closed.search(text, begin.end())
            return (begin.end(), end.start(), end.end()) if end else (begin.end(), len(text), len(text))
    return None


def _own_end(text: str, at: int, either: re.Pattern[str]) -> re.Match[str] | None:
    """The mark that closes what was opened before `at`, past the pairs within it; None if they do not come out even.
    A mark in backquotes is spoken of, and neither opens nor closes."""
    depth = 1
    for mark in either.finditer(text, at):
        if text[mark.start() - 1] == "`" and text[mark.end() : mark.end() + 1] == "`":
            continue
        depth += 1 if mark["begin"] is not None else -1
        if depth == 0:
            return mark
    return None
