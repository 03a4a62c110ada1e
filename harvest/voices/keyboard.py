r"""A person at a terminal who types the user's turns.

    /stop, or ctrl-D on an empty line    ends the conversation, as a user would end it
    //text                               says `/text`
    text\                                continues in the next line
    several lines, pasted                are one turn

At a terminal, keys are read one by one, because a terminal in line mode silently cuts each line at 4,095 characters.
Piped input is read line by line. Waiting for keys does not block anything else, so ctrl-C interrupts at once and a
system may go on writing.
"""

import asyncio
import codecs
import os
import re
import signal
import termios
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from harvest.terminal import printable
from simulators.human import ACT, LEAVES, SOURCE
from simulators.outside import Prompt, Sample

if TYPE_CHECKING:
    from prompt_toolkit.output import Output

_CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CTRL_D_HINT = "ctrl-D ends the conversation on an empty line only; enter the turn, or clear it by ctrl-U"


def remove_controls(text: str) -> str:
    """Return `text` without control characters and terminal sequences, except line breaks and tabs."""
    return _CONTROLS.sub("", text)


class LineEditor:
    """An editor of lines at `terminal`, a file descriptor open for reading and writing. `tell` shows one line."""

    def __init__(self, terminal: int, tell: Callable[[str], None]) -> None:
        # late: takes a tenth of a second, and only people who type need it
        from prompt_toolkit import PromptSession
        from prompt_toolkit.application import create_app_session, run_in_terminal
        from prompt_toolkit.data_structures import Size
        from prompt_toolkit.input.vt100 import Vt100Input
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
        from prompt_toolkit.output.plain_text import PlainTextOutput
        from prompt_toolkit.output.vt100 import Vt100_Output
        from prompt_toolkit.utils import is_dumb_terminal

        keys = KeyBindings()

        @keys.add("c-d")
        def _end(event: KeyPressEvent) -> None:
            if event.app.current_buffer.text:
                run_in_terminal(lambda: tell(_CTRL_D_HINT))
            else:
                event.app.exit(exception=EOFError)

        @keys.add("c-c")
        def _interrupt(event: KeyPressEvent) -> None:
            signal.raise_signal(signal.SIGINT)

        def size() -> Size:
            columns, rows = os.get_terminal_size(terminal)
            return Size(rows=rows or 24, columns=columns or 80)

        source = open(terminal, encoding="utf-8", closefd=False)  # noqa: SIM115
        screen = open(terminal, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        # A session object of the library, not its arguments: only that supports terminals without sequences.
        term = os.environ.get("TERM", "dumb")
        output = (
            PlainTextOutput(screen) if is_dumb_terminal(term) else Vt100_Output(screen, size, term, enable_cpr=False)
        )
        self._streams: tuple[Vt100Input, Output] = Vt100Input(source), output
        with create_app_session(*self._streams):
            self._session: PromptSession[str] = PromptSession(key_bindings=keys)

    async def line(self) -> str | None:
        """Return a line, or several lines that were pasted together. Returns None at the end of the input."""
        from prompt_toolkit.application import create_app_session

        try:
            with create_app_session(*self._streams):
                line = await self._session.prompt_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            return None
        # Bytes that are not UTF-8 come as lone surrogates, which cannot be sent to any system.
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip("\n")


STOP = "/stop"
_CHUNK_BYTES = 4096  # bytes


class Keyboard:
    """A source of a person's turns. `source` is the file descriptor to read, and `tell` shows one line. As a context
    manager, a Keyboard switches a terminal to single keys and restores it at the end."""

    def __init__(self, source: int, tell: Callable[[str], None]) -> None:
        self._source, self._tell = source, tell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._typed, self._ended = "", False
        self._held: Sample | None = None
        self._before: list[Any] | None = None
        self._editor: LineEditor | None = None

    def __enter__(self) -> "Keyboard":
        if os.isatty(self._source):
            self._before = termios.tcgetattr(self._source)
            mode = termios.tcgetattr(self._source)
            mode[0] &= ~(termios.ICRNL | termios.IXON)
            mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)  # ISIG stays: ctrl-C interrupts
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            mode[6][termios.VSUSP] = b"\0"  # a program that continues after a stop would find its terminal changed
            termios.tcsetattr(self._source, termios.TCSANOW, mode)
            self._editor = LineEditor(self._source, self._tell)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._editor = None
        if self._before is not None:
            termios.tcsetattr(self._source, termios.TCSANOW, self._before)

    async def has_begun(self) -> bool:
        """Return whether the person says anything at all. The first turn is kept for the first call of `sample`."""
        first = await self.sample(Prompt(SOURCE, ACT, (), (), 0))
        self._held = None if first.finish == LEAVES else first
        return self._held is not None

    async def sample(self, prompt: Prompt) -> Sample:
        """Show the system's text and return the person's next turn. `finish` is `stop` if the person stops."""
        if self._held is not None:
            held, self._held = self._held, None
            return held
        for message in prompt.messages:
            self._tell("")
            self._tell(printable(message.text) if message.text.strip() else "(the system sent no words)")
        self._tell("")
        while True:
            turn = await self._read_turn()
            if turn is None or turn.strip() == STOP:
                return Sample("", LEAVES)
            if turn.startswith("/") and not turn.startswith("//"):
                self._tell(f"no such command; {STOP} ends the conversation, // begins a turn with a slash")
            elif turn.strip():
                return Sample(turn.removeprefix("/") if turn.startswith("//") else turn, "")

    async def _read_turn(self) -> str | None:
        lines: list[str] = []
        while True:
            line = await self._read_line()
            if line is None:
                return "\n".join(lines) if lines else None
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    async def _read_line(self) -> str | None:
        if self._editor is not None:
            line = await self._editor.line()
            return None if line is None else self._remove_controls(line)
        while "\n" not in self._typed and not self._ended:
            piece = await self._read()
            self._typed += self._decoder.decode(piece, final=not piece)
            self._ended = not piece
        if "\n" not in self._typed and not self._typed:
            # A terminal reports its end once for every ctrl-D, and can be read again.
            self._ended = False
            return None
        line, _, self._typed = self._typed.partition("\n")
        return self._remove_controls(line.removesuffix("\r"))

    def _remove_controls(self, line: str) -> str:
        plain = remove_controls(line)
        if plain != line:
            self._tell("note: control characters were left out of this turn")
        return plain

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[None] = loop.create_future()

        def ready() -> None:
            if not readable.done():
                readable.set_result(None)

        try:
            loop.add_reader(self._source, ready)
        except OSError:  # a plain file is always readable, and cannot be waited for
            return os.read(self._source, _CHUNK_BYTES)
        try:
            await readable
            return os.read(self._source, _CHUNK_BYTES)
        except OSError:  # a terminal that was closed
            return b""
        finally:
            loop.remove_reader(self._source)
