"""What listening to the wire costs: processor seconds a turn with the second witness and without.

    python -m tests.benchmarks.witness                          eight turns each way, three pairs, on pages with sockets
    python -m tests.benchmarks.witness nicegui --pairs 6

Counted are this process, the driver of the browser and the browser, during the turns of a conversation; the page's own
server is not. The conversations of a pair are held one after the other, so that a change of the machine's load hits
both alike. The first conversation is not counted. Some replies are long and come in small pieces: on a socket each is a
message, on some pages with all the text so far.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

import psutil

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Surroundings
from tests.support.interface_count import SELECTORS
from tests.support.interfaces import Interface, interface

TALKATIVE = ("nicegui", "shiny", "panel", "chainlit", "deep-chat")
WISHES = ("prose", "table", "short count=12", "prose pace=0.005 piece=3", "lists", "quick", "code", "long chars=3000")


def spent() -> float:
    """Processor seconds so far of this process and of what it has started for the browser."""
    found = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            if process.pid == os.getpid() or any(name in process.name() for name in ("node", "chrom", "headless")):
                times = process.cpu_times()
                found += times.user + times.system
        except psutil.Error:
            continue  # it has ended in the meantime
    return found


async def a_turn(page: Interface, *, witness: bool, label: str) -> float:
    """Processor seconds, on average over a conversation."""
    driver = build_driver("browser", {"url": page.url, "witness": witness}, Surroundings(page.name, Path()))
    try:
        session = await driver.open(Opening("page", "M001", 1, 1))
        await session.say(f"scenario quick n=0 of {label}")
        before = spent()
        for number, wish in enumerate(WISHES, 1):
            await session.say(f"scenario {wish} n={number} of {label}")
        took = spent() - before
        await session.close()
        return took / len(WISHES)
    finally:
        await driver.close()


async def ratios(page: Interface, pairs: int) -> tuple[list[float], list[float]]:
    """Seconds a turn with the witness, and without, of each pair."""
    await a_turn(page, witness=True, label="warm")
    listened: list[float] = []
    alone: list[float] = []
    for pair in range(pairs):
        for witness in (True, False) if pair % 2 else (False, True):
            took = await a_turn(page, witness=witness, label=f"{pair}{witness}")
            (listened if witness else alone).append(took)
    return listened, alone


def rows(names: list[str], pairs: int) -> Iterator[str]:
    for name in names:
        with interface(name) as page:
            listened, alone = asyncio.run(ratios(page, pairs))
        more = [one / other - 1 for one, other in zip(listened, alone, strict=True)]
        spread = f"{min(more):+.0%} to {max(more):+.0%}"
        middle = f"{statistics.median(listened):.2f} | {statistics.median(alone):.2f} | {statistics.median(more):+.0%}"
        yield f"| {name} | {middle} | {spread} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interfaces", nargs="*", choices=[[], *SELECTORS], help=f"which ({', '.join(TALKATIVE)})")
    parser.add_argument("--pairs", type=int, default=3, help="of conversations (3)")
    arguments = parser.parse_args()
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("| interface | s a turn with it | without | more: median | pairs |\n|---|---|---|---|---|", flush=True)
    for row in rows(arguments.interfaces or list(TALKATIVE), arguments.pairs):
        print(row, flush=True)


if __name__ == "__main__":
    main()
