"""Lines that are typed at a terminal and edited as shells edit them: prompt_toolkit's keys, and what a turn needs.

    Enter                                the line is said; a paste keeps its line breaks, and is one turn
    ctrl-D                               the end, where the line is empty
    ctrl-C                               interrupts

The terminal is never asked where its cursor stands: one that does not answer would have the answer waited for.
"""

import os
import re
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.output import Output

_CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_REFUSED = "ctrl-D ends the conversation on an empty line only; enter the turn, or clear it by ctrl-U"


def without_controls(text: str) -> str:
    """`text` without control characters and what steers a terminal; line breaks and tabs stay."""
    return _CONTROLS.sub("", text)


class LineEditor:
    """terminal: its file descriptor, open for reading and writing. tell: shows one line to the person."""

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
                run_in_terminal(lambda: tell(_REFUSED))
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
        # A session of the library's own, not its arguments: only then does it spare terminals that know no sequences.
        term = os.environ.get("TERM", "dumb")
        output = (
            PlainTextOutput(screen) if is_dumb_terminal(term) else Vt100_Output(screen, size, term, enable_cpr=False)
        )
        self._streams: tuple[Vt100Input, Output] = Vt100Input(source), output
        with create_app_session(*self._streams):
            self._session: PromptSession[str] = PromptSession(key_bindings=keys)

    async def line(self) -> str | None:
        """A line, or several that were pasted together; None at the end."""
        from prompt_toolkit.application import create_app_session

        try:
            with create_app_session(*self._streams):
                line = await self._session.prompt_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            return None
        # Bytes that are not UTF-8 come as halves of surrogate pairs, which no system can be sent.
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip("\n")
