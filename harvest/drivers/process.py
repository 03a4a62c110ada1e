"""A child process with bounded output and time, which is ended together with all its descendants.

A separate process, `supervisor`, runs between Harvest and the program and knows every process that the program
started. The supervisor kills these processes on request, when the program ends, and when Harvest ends, even by
SIGKILL. It signals no other process.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from harvest.drivers import supervisor
from harvest.systems.driver import Denied, Unanswered

_PASSED_NAMES = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SYSTEMROOT")
_MOST_STDERR = 64 * 1024
_FIRST_WORD = re.compile(rb"\A\S*")
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_KILL_SECONDS = 5.0  # seconds until a killed program must be gone
_GRACE_SECONDS = 1.0  # seconds for each polite step before the next, harsher one


def program_environment(given: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program: what it is `given`, and the few variables that it inherits from `ours`."""
    passed = {name: ours[name] for name in _PASSED_NAMES if name in ours}
    # Without a locale, many programs fall back to ASCII.
    locale = {} if {"LANG", "LC_ALL", "LC_CTYPE"} & passed.keys() else {"LANG": "C.UTF-8"}
    return {**passed, **locale, **given}


def find_program(name: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Return the path of the program `name`: in `folder` if the name is a path, else on PATH. Raises Denied."""
    path = str(folder / name) if "/" in name else name
    found = shutil.which(path, path=environment.get("PATH"))
    if found is None:
        where = "is not an executable file" if "/" in name else "is in no folder of PATH"
        raise Denied(
            "no-program", f"{path} {where}: install it, make it executable (`chmod +x`), or give its path in argv"
        )
    return found


class Program(asyncio.SubprocessProtocol):
    """A running program. `output` has the bytes that have not been read yet. `closed` is True once no more output can
    follow."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._transport: asyncio.SubprocessTransport | None = None
        self._control: socket.socket | None = None
        self._group, self._reported = 0, b""
        self._stderr = bytearray()
        self._stderr_cut = False
        self._changed = asyncio.Event()
        self._gone = asyncio.Event()
        self.output = bytearray()
        self.closed = False

    @classmethod
    async def start(cls, argv: Sequence[str], folder: Path, environment: Mapping[str, str], most: int) -> "Program":
        """Start `argv` in `folder`; `argv[0]` is a path. `most` is the largest number of bytes of output to keep.
        Raises Denied (`cannot-start`)."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        command = (sys.executable, "-I", "-S", supervisor.__file__, str(theirs.fileno()), *argv)
        try:
            with theirs:
                transport, program = await loop.subprocess_exec(
                    lambda: cls(most),
                    *command,
                    cwd=folder,
                    env=dict(environment),
                    start_new_session=True,
                    pass_fds=(theirs.fileno(),),
                )
        except BaseException as fault:
            ours.close()
            if isinstance(fault, (OSError, ValueError)):
                raise Denied("cannot-start", f"{argv[0]} cannot be started: {fault}") from None
            raise
        program._transport, program._control = transport, ours
        try:
            await program._wait_for_start(argv[0])
        except BaseException:
            await program.kill()
            raise
        return program

    async def _wait_for_start(self, name: str) -> None:
        assert self._control is not None
        self._reported = await asyncio.get_running_loop().sock_recv(self._control, 64)
        said = self._reported.split()
        if said[:1] != [b"started"]:
            why = os.strerror(int(said[1])) if said else "the process that was to start it has ended"
            raise Denied("cannot-start", f"{name} cannot be started: {why}")
        self._group = int(said[1])
        if self._gone.is_set():
            self._clean_up()

    # Called by the event loop -------------------------------------------------------------------------------

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._stderr += data
            if len(self._stderr) > _MOST_STDERR:  # the last words explain why it ended
                del self._stderr[:-_MOST_STDERR]
                self._stderr_cut = True
            return
        self.output += data
        if len(self.output) > self._most:
            self._pause_reading(True)
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self.closed = True
            self._changed.set()

    def process_exited(self) -> None:
        self._gone.set()
        self._changed.set()
        if self._reported:  # else it is still being waited for
            self._clean_up()

    # Called by a session ------------------------------------------------------------------------------------

    @property
    def exit_code(self) -> int | None:
        """The exit code: None while the program runs, or the negative number of the signal that ended it."""
        return self._transport.get_returncode() if self._transport is not None else None

    def pop_stderr(self) -> bytes:
        """Return the last 64 KiB, at most, that the program wrote to standard error since the last call."""
        taken = bytes(self._stderr)
        if self._stderr_cut:  # not within a word: the end of a secret would not be known for one
            taken = _FIRST_WORD.sub(b"", taken, count=1)
        self._stderr.clear()
        self._stderr_cut = False
        return taken

    def pop_output(self, length: int) -> bytes:
        """Remove the first `length` bytes from the output and return them."""
        taken = bytes(self.output[:length])
        del self.output[:length]
        self._pause_reading(False)
        return taken

    def write(self, data: bytes, *, last: bool = False) -> None:
        """Write to standard input, and close it if `last` is set. Data for a program that has ended is lost."""
        pipe = self._pipe(_STDIN)
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)
            if last:
                pipe.close()

    async def wait_for(self, ready: Callable[[], bool]) -> bool:
        """Wait until `ready()` is true (returns True) or the output is closed (returns False). Raises Unanswered
        (`too-large`) if the output grows beyond its limit."""
        while True:
            if ready():
                return True
            if len(self.output) > self._most:
                raise Unanswered("too-large", f"the program wrote more than {self._most} bytes (max_reply)")
            if self.closed:
                return False
            self._changed.clear()
            await self._changed.wait()

    async def wait_until_ended(self) -> None:
        """Wait until the program has ended."""
        await self._gone.wait()

    async def close(self) -> None:
        """End the program: close its input, then send SIGTERM, then kill it. Never raises, and may be called twice."""
        transport = self._transport
        if transport is None:
            return
        try:
            if not self._gone.is_set():
                stdin = self._pipe(_STDIN)
                if stdin is not None:
                    stdin.close()
                if not await self._wait_until_gone(_GRACE_SECONDS):
                    self._terminate()
                    await self._wait_until_gone(_GRACE_SECONDS)
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Kill the program and all processes that it started."""
        if self._control is not None and not self._gone.is_set():
            self._control.shutdown(socket.SHUT_WR)  # the supervisor reads that as our end
        if self._transport is not None:
            # SIGKILL cannot be refused, and without the wait a zombie stays; a dead disk may block it for ever.
            await asyncio.shield(self._wait_until_gone(_KILL_SECONDS))
            if not self._gone.is_set():
                self._transport.kill()
            self._transport.close()
        self._clean_up()

    async def _wait_until_gone(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._gone.wait()
        return self._gone.is_set()

    def _terminate(self) -> None:
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.send(b"T")

    def _clean_up(self) -> None:
        """Clean up after the supervisor has ended. If another process killed the supervisor, kill the program's
        process group."""
        if self._control is None:
            return
        with contextlib.suppress(OSError):
            self._reported += self._control.recv(64)
        self._control.close()
        self._control = None
        if self._group and b"ended" not in self._reported:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGKILL)

    def _pipe(self, fd: int) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(fd) if self._transport is not None else None
        return cast(asyncio.WriteTransport, pipe) if pipe is not None else None

    def _pause_reading(self, pause: bool) -> None:
        pipe = self._transport.get_pipe_transport(_STDOUT) if self._transport is not None else None
        if pipe is None or pipe.is_closing():
            return
        reading = cast(asyncio.ReadTransport, pipe)
        if pause:
            reading.pause_reading()
        elif len(self.output) <= self._most:
            reading.resume_reading()
