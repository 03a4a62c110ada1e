"""What becomes of answers of every kind on every chat interface of the tests, with nothing but its address.

    python -m tests.benchmarks.interfaces                      12 answers on each
    python -m tests.benchmarks.interfaces --answers 60 --lag   also with everything 4 s late, each way
    python -m tests.benchmarks.interfaces --answers 40 --hand  four windows, beside a loop by hand that knows the page

Waits are from the last character leaving the back end to the next turn being possible, over short answers, without the
lag. By hand an answer is finished once it has not changed for half a second, and it is seen when that began: what the
page itself takes to show the last character is in every wait. The ratio is of turns a minute, over answers without
longer pauses.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Iterator

from tests.support.interface_count import HEAD, SELECTORS, Count, by_hand, count, turns
from tests.support.interfaces import interface

LAG = 4.0
WINDOWS = 4


def counts(name: str, answers: int, *, lag: bool, hand: bool) -> Iterator[tuple[str, Count]]:
    """How each was played, and what came of it."""
    with interface(name) as page:
        if hand:
            halves = [turns(name, answers, label, pauses=False) for label in ("one", "two")]
            by_itself = asyncio.run(count(page, halves[0], windows=WINDOWS))
            known = asyncio.run(count(page, halves[1], by_hand, windows=WINDOWS))
            yield f"ratio {known.seconds / by_itself.seconds:.2f}", by_itself
            yield "by hand", known
        else:
            yield "", asyncio.run(count(page, turns(name, answers)))
        if lag:
            yield "", asyncio.run(count(page, turns(name, answers, "late"), windows=WINDOWS, lag=LAG))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interfaces", nargs="*", choices=[[], *SELECTORS], help="which (all)")
    parser.add_argument("--answers", type=int, default=12, help="on each interface (12)")
    parser.add_argument("--lag", action="store_true", help=f"also {LAG:.0f} s late, each way")
    parser.add_argument("--hand", action="store_true", help="in four windows, beside a loop by hand")
    arguments = parser.parse_args()
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print(f"| {' | '.join(HEAD)} |  |\n" + "|---" * (len(HEAD) + 1) + "|", flush=True)
    complaints: list[str] = []
    for name in arguments.interfaces or SELECTORS:
        for way, found in counts(name, arguments.answers, lag=arguments.lag, hand=arguments.hand):
            print(f"| {' | '.join((*found.cells(), way))} |", flush=True)
            complaints += [f"{name} {way} {found.lag:.0f} s late: {one}" for one in found.complaints()]
    print("\n".join(["", *complaints]))


if __name__ == "__main__":
    main()
