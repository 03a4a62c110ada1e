"""A process between Harvest and a program. When Harvest or the program ends, no process of the program is left
running.

    python -I -S supervisor.py CONTROL PROGRAM [ARGUMENT…]

CONTROL is the number of an inherited socket. The supervisor writes `started PID` or `failed ERRNO` to the socket, and
later `ended`. When it reads a `T`, it sends SIGTERM to the program's group. If the other side closes the socket, for
example because Harvest was killed, everything is killed. The supervisor ends as the program ended: with the same code,
or by the same signal.

On Linux the supervisor adopts the processes that the program's children leave behind, even in their own sessions, and
so finds all of them among its own children. On other systems it knows only the program's group.

The supervisor is a separate script with few imports, because every program waits for it to start. Importing pathlib and
contextlib would double the start-up time.
"""

# ruff: noqa: SIM105, PTH123, PTH208

import ctypes
import os
import resource
import select
import signal
import sys
import time

_SET_CHILD_SUBREAPER = 36  # of prctl(2)
_KILL_SECONDS = 5.0  # seconds: a process that survives this long waits for a dead disk, and would block us for ever
_PAUSE_SECONDS = 0.002  # seconds between two looks for children that have ended
# A service manager may send these to all processes at once; the other side decides what happens.
_HANDLED_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    """Run the program. Does not return."""
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    for one in (signal.SIGCHLD, *_HANDLED_SIGNALS):
        if signal.getsignal(one) is not signal.SIG_IGN:  # the program inherits ignored signals
            signal.signal(one, lambda number, frame: None)
    adopting = _adopt_orphans()
    program = _start_child(control, sys.argv[2:])
    status = _wait_for_program(program, control, woken)
    _kill_all(program, adopting)
    _write_report(control, "ended")
    code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program has left its own
    try:
        signal.signal(-code, signal.SIG_DFL)
    except OSError:  # SIGKILL cannot be handled
        pass
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


def _write_report(control: int, what: str) -> None:
    try:
        os.write(control, f"{what}\n".encode())
    except OSError:  # the other side is gone
        pass


def _adopt_orphans() -> bool:
    """Become the parent of orphaned descendants. Returns False if the operating system does not support that."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _start_child(control: int, argv: list[str]) -> int:
    try:
        program = os.posix_spawn(
            argv[0],
            argv,
            os.environ,
            setsid=True,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # which Python ignores
        )
    except OSError as fault:
        _write_report(control, f"failed {fault.errno}")
        os._exit(0)
    # Close our copies of its pipes, which would otherwise stay open after it has closed its own.
    nothing = os.open(os.devnull, os.O_RDWR)
    for one in range(3):
        os.dup2(nothing, one)
    _write_report(control, f"started {program}")
    return program


def _wait_for_program(program: int, control: int, woken: int) -> int | None:
    while True:
        while (found := _reap_child()) is not None:
            if found[0] == program:
                return found[1]
        ready, _, _ = select.select((control, woken), (), ())
        if woken in ready:
            os.read(woken, 512)
        if control in ready:
            try:
                asked = os.read(control, 64)
            except OSError:
                asked = b""
            if not asked:
                return None
            _send_signal(-program, signal.SIGTERM)


def _reap_child() -> tuple[int, int] | None:
    try:
        ended, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (ended, status) if ended else None


def _kill_all(program: int, adopting: bool) -> None:
    """Kill the processes that the program started, round by round, until none is left. In each round, the orphans of
    the previous round have become our children."""
    until = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < until:
        for one in _child_pids() if adopting else (-program,):
            _send_signal(one, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE_SECONDS)


def _send_signal(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        pass


def _child_pids() -> list[int]:
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", "rb") as file:
            return [int(one) for one in file.read().split()]
    except OSError:  # a kernel without that file
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent_pid(name) == own]


def _parent_pid(process: str) -> int:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name before it is in brackets and may contain any character.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


if __name__ == "__main__":
    main()
