"""Run a command that ends when whoever started it ends: `leash.py COMMAND…`, with a pipe as standard input.

A test run that is killed closes no servers; but its end of the pipe closes by itself, and then the command and all it
started are ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main() -> None:
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)

    def hold() -> None:
        while os.read(0, 64):
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)

    threading.Thread(target=hold, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(command.pid, signal.SIGKILL))
    sys.exit(command.wait())


if __name__ == "__main__":
    main()
