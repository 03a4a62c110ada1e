"""What a decision of a user costs as its conversation grows: the work of a turn beside that of an early one.

    python -m tests.benchmarks.memories            a few seconds

Each row is one memory, gone on from again and again with the same answer and the same streams, so that only what the
memory holds differs. An answer has 120 words and five links. Times are of the processor, the best of five rounds.
"""

from __future__ import annotations

from time import process_time

from simulators.user import Streams, User
from tests.support.long_conversations import PATIENT, SEEN, built, memory_after, scripted

__all__ = ["main"]

AT = (2, 10, 50, 200)
ROUNDS = 5


def microseconds(user: User, exchanges: int, *, turns: int = 100) -> float:
    rng = Streams(1)
    memory = memory_after(user, exchanges, rng)
    best = float("inf")
    for _ in range(ROUNDS):
        began = process_time()
        for _ in range(turns):
            user.respond(memory, SEEN, rng)
        best = min(best, process_time() - began)
    return best / turns * 1e6


def main() -> None:
    users = {name: built(described) for name, described in PATIENT.items()}
    users["a protocol, random"] = scripted(PATIENT["random"])
    users["a protocol, agenda"] = scripted(PATIENT["agenda"])
    print(f"{'µs a turn at':20}", *(f"{n:>7}" for n in AT), f"{'last/first':>11}")
    for name, user in users.items():
        found = [microseconds(user, n) for n in AT]
        print(f"{name:20}", *(f"{one:7.0f}" for one in found), f"{found[-1] / found[0]:11.2f}")


if __name__ == "__main__":
    main()
