"""A Dask cluster of real processes on this machine, and a chat API that counts what it is asked and by whom."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psutil
from distributed import Client, LocalCluster

from recordings.log.run_folder import Run
from tests.servers.threaded import QuietHandler, threaded
from tests.support.checkout import ROOT

__all__ = ["Cluster", "CountingApi", "cluster", "cluster_here", "content", "counting_api", "sends"]

_LEASE = {
    "DASK_DISTRIBUTED__SCHEDULER__LOCKS__LEASE_TIMEOUT": "2s",
    "DASK_DISTRIBUTED__SCHEDULER__LOCKS__LEASE_VALIDATION_INTERVAL": "500ms",
}


_LOGGED = {"DASK_DISTRIBUTED__WORKER__PRELOAD": "tests.support.sent_log", "PYTHONPATH": str(ROOT)}
_SENT = "sent.txt"


@dataclass
class CountingApi:
    """url: base_url of the driver `openai`, with `seed: trial`, which says what trial a request is of.

    asked: how often each turn was asked, by seed and number of messages. times: when requests came, by the monotonic
    clock. busy: the process that each request in flight comes from. hook: called with the number of a request and the
    process it comes from, before it is answered. refuse: gives the seconds of `Retry-After` of a 429 by the number of a
    request; None where it is answered. refused: when a 429 went out, by the monotonic clock.
    """

    url: str = ""
    asked: Counter[tuple[int, int]] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    busy: dict[int, int] = field(default_factory=dict)
    hook: Callable[[int, int], None] = lambda number, process: None
    refuse: Callable[[int], int | None] = lambda number: None
    refused: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def sends(folder: Path) -> list[float]:
    """When turns went out from the workers of all clusters in `folder`, in order, by the monotonic clock."""
    turns: dict[str, list[float]] = {}
    for line in (folder / _SENT).read_text().splitlines():
        gate, turn, at = line.split("\t")
        found = turns.setdefault(gate, [])
        if turn == "the same":
            found.pop()
        found.append(float(at))
    return sorted(at for found in turns.values() for at in found)


@cache
def _asking(port: int) -> int:
    """The process at the other end of a connection from this machine; 0 where it is gone."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(one.laddr.port == port for one in process.net_connections("tcp") if one.laddr):
                return int(process.pid)
    return 0


def content(run: Run) -> bytes:
    """Every finished conversation as it was recorded, less when it was, how long it took, who recorded it, and at
    which attempt."""
    left_out = {"at", "asked_at", "first_seconds", "seconds", "worker", "attempt", "goes_on_from", "session"}
    finished = {(one.trial_id, one.attempt) for one in run.finished}
    rows = [
        {key: value for key, value in row.items() if key not in left_out}
        for one in run.attempts
        if (one.started.trial_id, one.started.attempt) in finished
        for row in one.rows
    ]
    return "".join(sorted(json.dumps(row, sort_keys=True) + "\n" for row in rows)).encode()


@contextmanager
def counting_api() -> Iterator[CountingApi]:
    """Answers depend on what was said alone: every second trial is given no link first."""
    api = CountingApi()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            now = time.monotonic()
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seed, messages = asked["seed"], asked["messages"]
            process = _asking(self.client_address[1])  # a while, and only once for each connection
            with api.lock:
                api.times.append(now)
                api.asked[seed, len(messages)] += 1
                number = sum(api.asked.values())
                api.busy[number] = process
            api.hook(number, process)
            useful = seed % 2 or len(messages) > 1
            text = f"One of them is https://www.imdb.com/title/tt{seed:010}/" if useful else "Let me think about it."
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            body = json.dumps({"model": "counting", "choices": [choice]}).encode()
            wait = api.refuse(number)
            with suppress(OSError):  # it may have been killed
                # Without a date, so that evidence is the same in every run.
                self.send_response_only(200 if wait is None else 429)
                if wait is not None:
                    api.refused.append(time.monotonic())
                    self.send_header("Retry-After", str(wait))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            with api.lock:
                del api.busy[number]

    with threaded(Handler) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        api.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield api


@dataclass(frozen=True)
class Cluster:
    """address: of the scheduler. scheduler: its process."""

    address: str
    scheduler: subprocess.Popen[bytes]


@contextmanager
def cluster(folder: Path, workers: int = 2, apart: Sequence[Path] = ()) -> Iterator[Cluster]:
    """A scheduler and workers with a thread each, every one a process of its own that may be killed; a worker is
    started again by its nanny. apart: the folder in which each is started; those of the scheduler where it is not
    given."""
    file = folder / f"scheduler-{len(list(folder.glob('scheduler-*')))}.json"
    quiet: dict[str, Any] = {
        "env": {**os.environ, **_LEASE, **_LOGGED, "SENT_LOG": str(folder / _SENT)},
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    with ExitStack() as stack:
        started = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file)]
        scheduler = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *started], **quiet)
        stack.callback(_ended, scheduler)
        while not file.exists() or not file.read_text():
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = str(json.loads(file.read_text())["address"])
        for number in range(workers):
            own = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder / "dask")]
            command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *own]
            started_in = apart[number] if apart else None
            stack.callback(_ended, subprocess.Popen(command, **quiet, cwd=started_in))
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)
        yield Cluster(address, scheduler)


def cluster_here() -> Any:
    """A scheduler and a worker with two threads, all in this process."""
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": False}
    return LocalCluster("127.0.0.1", n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", **quiet)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """It and all that it started."""
    below: list[psutil.Process] = []
    with suppress(psutil.Error):
        below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for one in below:
        with suppress(psutil.Error):
            one.kill()
