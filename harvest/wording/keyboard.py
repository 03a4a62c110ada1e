"""A person at a terminal: their lines are the user's turns.

    /stop, or ctrl-D on an empty line    the conversation ends, as a user ends it
    //text                               says `/text`
    text\\                                goes on in the next line

Keys are waited for beside everything else, so that ctrl-C interrupts at once and a system may go on writing.
"""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable

from harvest.terminal import shown
from simulators.human import LEAVES
from simulators.outside import Prompt, Sample

__all__ = ["Keyboard"]

STOP = "/stop"
_CHUNK = 4096


class Keyboard:
    """source: the file descriptor to read. tell: shows one line to the person."""

    def __init__(self, source: int, tell: Callable[[str], None]) -> None:
        self._source, self._tell = source, tell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._typed, self._ended = "", False

    async def sample(self, prompt: Prompt) -> Sample:
        """The person's next turn, after the system's words were shown; `finish` is `stop` where they end it."""
        for message in prompt.messages:
            self._tell("")
            self._tell(shown(message.text) if message.text.strip() else "(the system sent no words)")
        self._tell("")
        while True:
            turn = await self._turn()
            if turn is None or turn.strip() == STOP:
                return Sample("", LEAVES)
            if turn.startswith("/") and not turn.startswith("//"):
                self._tell(f"no such command; {STOP} ends the conversation, // begins a turn with a slash")
            elif turn.strip():
                return Sample(turn.removeprefix("/") if turn.startswith("//") else turn, "")

    async def _turn(self) -> str | None:
        """One turn, or None at the end of what is typed."""
        lines: list[str] = []
        while True:
            line = await self._line()
            if line is None:
                return "\n".join(lines) if lines else None
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    async def _line(self) -> str | None:
        while "\n" not in self._typed and not self._ended:
            piece = await self._read()
            self._typed += self._decoder.decode(piece, final=not piece)
            self._ended = not piece
        if "\n" not in self._typed and not self._typed:
            # A terminal gives its end once for every ctrl-D, and may be read again.
            self._ended = False
            return None
        line, _, self._typed = self._typed.partition("\n")
        return line.removesuffix("\r")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[None] = loop.create_future()

        def ready() -> None:
            if not readable.done():
                readable.set_result(None)

        try:
            loop.add_reader(self._source, ready)
        except OSError:  # a plain file is always readable, and cannot be waited for
            return os.read(self._source, _CHUNK)
        try:
            await readable
            return os.read(self._source, _CHUNK)
        finally:
            loop.remove_reader(self._source)
