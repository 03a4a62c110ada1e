"""A `harvest` for shells that need not start Python and import the program: for pages with dozens of commands.

`python -m tests.support.forked_harvest ADDRESS` imports the commands once and forks at each call of the program that
`command_at` writes. The fork has the caller's streams, folder and environment, and ends with the caller. That
the command starts by itself is proven elsewhere: tests/harvest/test_wheel.py.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from harvest.cli.commands import COMMANDS
from tests.support.checkout import ROOT

# Python without site packages: to start it takes a fiftieth of what the program takes.
CALLER = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(line, [len(told).to_bytes(4, "big")], [0, 1, 2])
    line.sendall(told)
    sys.exit(int(line.recv(8) or b"70"))
"""


@contextlib.contextmanager
def command_at(folder: Path) -> Iterator[Path]:
    """A folder for PATH that holds `harvest`; it answers as long as the `with`."""
    address, program = folder / "line", folder / "harvest"
    program.write_text(CALLER.format(python=sys.executable, address=str(address)), encoding="utf-8")
    program.chmod(0o700)
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, str(address)], cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield folder
    finally:
        server.kill()
        server.communicate()


def _serve(address: str) -> None:
    for entry in COMMANDS.values():
        if entry.module:
            importlib.import_module(entry.module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while True:
            line, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(line)
            line.close()


def _answer(line: socket.socket) -> None:
    from harvest.cli.main import main

    size, streams, _, _ = socket.recv_fds(line, 4, 3)
    told = b""
    while len(told) < int.from_bytes(size, "big"):
        told += line.recv(1 << 16)
    words, folder, environment = json.loads(told)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, (stream, name) in enumerate(zip(streams, ("stdin", "stdout", "stderr"), strict=True)):
        os.dup2(stream, number)
        os.close(stream)
        setattr(sys, name, os.fdopen(number, "w" if number else "r", 1, "utf-8", closefd=False))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["harvest", *words]
    threading.Thread(target=_end_with_caller, args=(line,), daemon=True).start()
    code: object = 70
    try:
        main()
    except SystemExit as end:
        code = end.code
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the caller ends once it has the code
        with contextlib.suppress(OSError):
            line.sendall(str(code or 0).encode())
        os._exit(0)


def _end_with_caller(line: socket.socket) -> None:
    if not line.recv(1):
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    _serve(sys.argv[1])
