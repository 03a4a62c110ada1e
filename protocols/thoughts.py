"""What a model thinks aloud at the beginning of its text, set apart from what it answers.

Servers that do not know a model's marks hand its thoughts on as a part of the text. Only what opens the text is taken
for thoughts: an answer may speak of such marks further on. A template can open the thoughts in the prompt, so that
only their end is in the reply; it is recognised where it stands on a line of its own.
"""

import re

# Of DeepSeek, Qwen and their like; of prompts that ask for it; of Seed, Magistral, Kimi, Sky-T1, Command A and
# gpt-oss.
_MARKS = (
    (r"<think>", r"</think>"),
    (r"<thinking>", r"</thinking>"),
    (r"<thought>", r"</thought>"),
    (r"<thoughts>", r"</thoughts>"),
    (r"<reasoning>", r"</reasoning>"),
    (r"<reason>", r"</reason>"),
    (r"<seed:think>", r"</seed:think>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|channel\|>analysis<\|message\|>", r"<\|end\|>(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"),
)

_OPENED = tuple((re.compile(rf"\s*{begin}", re.IGNORECASE), re.compile(end, re.IGNORECASE)) for begin, end in _MARKS)
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
    while at < len(text) and text[at].isspace():
        at += 1
    return "\n\n".join(filter(None, thoughts)), at


def _leading(text: str, at: int) -> tuple[int, int, int] | None:
    """[begin, end) of the thoughts that open text[at:], and where what follows them begins."""
    for opened, closed in _OPENED:
        begin = opened.match(text, at)
        if begin is not None:
            end = closed.search(text, begin.end())
            return (begin.end(), end.start(), end.end()) if end else (begin.end(), len(text), len(text))
    return None
