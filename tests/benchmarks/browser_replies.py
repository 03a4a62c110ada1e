"""How sure the end of an answer is: replies of every kind on real chat pages, beside the truth of their back end.

    python -m tests.benchmarks.browser_replies                  a quick look, 12 replies on each interface
    python -m tests.benchmarks.browser_replies --replies 200    the table of docs/browser.md
    python -m tests.benchmarks.browser_replies gradio --contexts 1

Waits are from the last character leaving the back end to the answer being handed over, evidence included. They depend
on how busy the machine is; whatever is cut, added or named wrong is a fault on any.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections import Counter

from tests.support.interfaces import NAMES, interface
from tests.support.wishing import FAULTS, Came, play, quantile, wishes

HEAD = ("interface", "answers", "cut", "noise lines", "other differences", "extra wait: median", "90%", "longest")
FAULT_HEAD = ("errors and breaks", "of these taken for an answer", "named right")


def row(name: str, came: list[Came]) -> tuple[list[str], list[str]]:
    """The cells of one interface, and a sentence for each fault of the reading."""
    wanted = [one for one in came if one.wish not in FAULTS]
    broken = [one for one in came if one.wish in FAULTS]
    complaints = []
    for one in wanted:
        try:
            one.differences()
        except AssertionError as fault:
            complaints.append(f"{name}: {one.said}: {str(fault)[:600]}")
    complaints += [f"{name}: {one.said}: {one.fault or 'taken for an answer'}" for one in broken if not one.named_right]
    answered = [one for one in wanted if one.reply is not None]
    waits = [one.extra_wait for one in answered]
    cells = [
        name,
        f"{len(answered)} of {len(wanted)}",
        str(sum(one.cut for one in answered)),
        str(sum(len(one.noise) for one in answered)),
        str(sum(1 for one in complaints if "texts differ" in one or "instead of" in one)),
        *(f"{quantile(waits, share):.2f} s" for share in (0.5, 0.9, 1.0)),
        str(len(broken)),
        str(sum(one.reply is not None for one in broken)),
        str(sum(one.named_right for one in broken)),
    ]
    return cells, complaints


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interfaces", nargs="*", choices=[[], *NAMES], help="which (all)")
    parser.add_argument("--replies", type=int, default=12, help="on each interface (12)")
    parser.add_argument("--contexts", type=int, default=2, help="conversations at a time (2)")
    arguments = parser.parse_args()
    print(f"{arguments.replies} replies on each, {arguments.contexts} conversations at a time; load before: ", end="")
    print(f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n", flush=True)
    head = (*HEAD, *FAULT_HEAD)
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|", flush=True)
    complaints: list[str] = []
    finishes: Counter[str] = Counter()
    for name in arguments.interfaces or NAMES:
        with interface(name) as page:
            came = asyncio.run(play(page, wishes(arguments.replies), contexts=arguments.contexts))
        cells, said = row(name, came)
        print(f"| {' | '.join(cells)} |", flush=True)
        complaints += said
        finishes.update(f"{name} {one.reply.turn.finish}" for one in came if one.reply is not None)
    print("\nHow the end was told: " + ", ".join(f"{name} {count}" for name, count in sorted(finishes.items())))
    if complaints:
        sys.exit("\n".join(["", *complaints]))


if __name__ == "__main__":
    main()
