"""A system that does what it is told, so that every driver can be held to the same specification.

    echo: X      X                          recall    every user turn before this one, joined by |
    turn         the number of this turn    long N    N words
    links        one Markdown link, one bare URL      empty     nothing
    wait S       waits S seconds            fail      breaks, each kind of system in its own way

As a program: `echo.py lines | end | prompt | json | once`, on standard input and output. As a function: `answer`,
`answer_with_history` and `remembering`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence

LINKS = "See [the film](https://www.imdb.com/title/tt0088763/?ref=x) and https://example.org/a_(b)."


class WishedForError(Exception):
    """What `fail` asks for."""


def reply_to(text: str, before: Sequence[str]) -> str:
    """The reply to `text` after the user turns `before`; waiting is the caller's."""
    word, _, rest = text.partition(" ")
    if word == "echo:":
        return rest
    if word == "recall":
        return "|".join(before)
    if word == "turn":
        return str(len(before) + 1)
    if word == "long":
        return " ".join(["word"] * int(rest))
    if word == "links":
        return LINKS
    if word == "fail":
        raise WishedForError("as you wish")
    return ""


def pause_in(text: str) -> float:
    return float(text.removeprefix("wait ")) if text.startswith("wait ") else 0.0


def answer(text: str) -> str:
    time.sleep(pause_in(text))
    return reply_to(text, ())


async def answer_async(text: str) -> str:
    import asyncio  # as a program it is started for each session, and this takes two thirds of a start

    await asyncio.sleep(pause_in(text))
    return reply_to(text, ())


def answer_with_history(text: str, history: Sequence[dict[str, str]]) -> str:
    time.sleep(pause_in(text))
    return reply_to(text, [message["content"] for message in history if message["role"] == "user"])


def remembering() -> Callable[[str], str]:
    before: list[str] = []

    def remembered(text: str) -> str:
        time.sleep(pause_in(text))
        reply = reply_to(text, before)
        before.append(text)
        return reply

    return remembered


def _converse(mode: str) -> None:
    respond = remembering()
    if mode == "prompt":
        print("Welcome.\n> ", end="", flush=True)
    for line in sys.stdin:
        text = json.loads(line)["text"] if mode == "json" else line.rstrip("\n")
        reply = respond(text)
        if mode == "json":
            reply = json.dumps({"text": reply})
        print(reply, end={"end": "\n%%\n", "prompt": "\n> "}.get(mode, "\n"), flush=True)


def main() -> None:
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    mode = sys.argv[1]
    try:
        if mode == "once":
            asked = json.load(sys.stdin)
            sys.stdout.write(answer_with_history(asked["text"], asked["history"]))
        else:
            _converse(mode)
    except WishedForError as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
