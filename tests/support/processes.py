"""What a process has started, as the machine sees it: to kill a browser, and to see that nothing is left behind."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["Process", "below", "browsers_of", "children", "gone", "heeding_signals", "memory"]


@dataclass(frozen=True, slots=True)
class Process:
    """command: its name. dead: a zombie."""

    id: int
    parent: int
    command: str
    dead: bool


def _listed() -> list[Process]:
    every = psutil.process_iter(["pid", "ppid", "name", "status"])
    rows = (one.info for one in every)
    return [Process(row["pid"], row["ppid"], row["name"], row["status"] == psutil.STATUS_ZOMBIE) for row in rows]


def heeding_signals() -> None:
    """For `preexec_fn`: the process heeds the signals that the tests may have been started to ignore, and would hand on
    to it: SIGHUP under nohup, SIGINT where a shell has put them into the background."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def children() -> set[int]:
    """Processes that this one has started itself, zombies included."""
    return {one.id for one in _listed() if one.parent == os.getpid()}


def below(ancestor: int) -> list[Process]:
    """Every living process that it started, or that those started, itself not among them."""
    every = _listed()
    known, found = {ancestor}, []
    while new := [one for one in every if one.parent in known and one.id not in known]:
        known |= {one.id for one in new}
        found += new
    return [one for one in found if not one.dead]


def browsers_of(ancestor: int) -> list[int]:
    """The main process of each browser that it runs."""
    family = below(ancestor)
    browsers = {one.id for one in family if "chrom" in one.command.lower()}
    return [one.id for one in family if one.id in browsers and one.parent not in browsers]


def gone(ids: list[int], seconds: float = 15.0) -> list[int]:
    """Those of these processes that are still there after so long; none is what one hopes for."""
    deadline = time.monotonic() + seconds
    while True:
        there = {one.id for one in _listed() if not one.dead}
        left = [one for one in ids if one in there]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def memory(ancestor: int) -> tuple[float, float]:
    """MB in real memory: its own, and of all below it. Shared pages count in shares (PSS), so that a sum means
    something."""
    return _proportional(ancestor), sum(_proportional(one.id) for one in below(ancestor))


def _proportional(id_: int) -> float:
    try:
        lines = Path(f"/proc/{id_}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
