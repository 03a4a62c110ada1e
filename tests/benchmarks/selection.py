"""How often losses are said to concentrate in a state where they do not, and how often where they do.

    python -m tests.benchmarks.selection [--simulations N]

The two-round protocol: `ask`, then `more` after a useful answer, `insist` after another, unless it breaks down. A lost
trial is tried again, three times at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from harvest.studies.validity.concentrations import concentrations
from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn

Lost = Callable[[int, str], bool]
"""Whether a turn is lost: by the number of its topic, and the state it is in."""
Faults = Callable[[np.random.Generator, int], Lost]

SIZES = ((3, 3), (15, 5), (45, 5))
MOST = 3


def evenly(share: float) -> Faults:
    return lambda rng, topics: lambda topic, state: rng.random() < share


def by_topic(rng: np.random.Generator, topics: int) -> Lost:
    shares = rng.beta(0.3, 2.7, topics)
    return lambda topic, state: rng.random() < shares[topic]


def outages(rng: np.random.Generator, topics: int) -> Lost:
    left = 0

    def lost(topic: int, state: str) -> bool:
        nonlocal left
        if not left and rng.random() < 0.02:
            left = int(rng.integers(2, 12))
        left = max(0, left - 1)
        return left > 0

    return lost


def in_state(share: float, elsewhere: float = 0.02) -> Faults:
    return lambda rng, topics: lambda topic, state: rng.random() < (share if state == "insist" else elsewhere)


FALSE: dict[str, Faults] = {
    "2% of turns lost": evenly(0.02),
    "10% of turns lost": evenly(0.1),
    "30% of turns lost": evenly(0.3),
    "lost by topic, 10% on average": by_topic,
    "outages of 2 to 11 turns": outages,
}
TRUE: dict[str, Faults] = {
    "`insist` always lost": in_state(1.0),
    "`insist` lost half the time": in_state(0.5),
    "`insist` lost one time in five": in_state(0.2),
}


def turn(number: int, state: str, label: str | None, target: str = "") -> Turn:
    """A user turn and its answer; without one where there is no label. target: the state that it leads to."""
    if label is None:
        return Turn(number, state, "")
    return Turn(number, state, "", SystemTurn(Answer("")), Route(number, state, label, "", "", (), target))


def played(rng: np.random.Generator, faults: Faults, topics: int, trials: int) -> list[Conversation]:
    """A run: topics differ in how often they are answered usefully."""
    lost, useful = faults(rng, topics), rng.beta(2, 2, topics)
    found = []
    for topic in range(topics):
        for trial in range(1, trials + 1):
            for attempt in range(1, MOST + 1):
                turns: list[Turn] = []
                state, valid = "ask", True
                while state and valid:
                    valid = not lost(topic, state)
                    draw = rng.random()
                    label = "o" if draw < useful[topic] else "x"
                    turns.append(turn(len(turns) + 1, state, label if valid else None))
                    broken = label == "x" and rng.random() < 0.2
                    state = "" if state != "ask" or broken else "more" if label == "o" else "insist"
                outcome = Outcome("completed") if valid else Outcome("invalid", "not-typed")
                found.append(Conversation(TrialKey("S", f"T{topic}", trial), "", attempt, tuple(turns), outcome))
                if valid:
                    break
    return found


def told(faults: Faults, size: tuple[int, int], simulations: int, state: str = "", seed: int = 1) -> float:
    """The share of runs in which a state is named (state: that one alone)."""
    rng = np.random.default_rng(seed)
    runs = (concentrations(played(rng, faults, *size)) for _ in range(simulations))
    return sum(any(state in ("", one.state) for one in found) for found in runs) / simulations


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=2000)
    simulations = parser.parse_args().simulations
    print("| world | " + " | ".join(f"{topics}×{trials}" for topics, trials in SIZES) + " |")
    print("|---" * (len(SIZES) + 1) + "|")
    for name, faults in {**FALSE, **TRUE}.items():
        state = "insist" if name in TRUE else ""
        shares = [told(faults, size, simulations, state) for size in SIZES]
        print(f"| {name} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
