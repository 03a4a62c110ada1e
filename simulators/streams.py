"""Random streams of a user: one for each kind of decision at each turn, derived from names alone.

    rng = Streams(seed, ("agenda", "M002", 3))          simulator, scenario, trial
    here = rng.at(4)                                     the user turn about to be taken
    here("act").choice(…)                                one stream for the act, another for its wording

A draw does not depend on the order of work, on concurrency, or on decisions drawn before. A conversation that is
forked at a turn continues with its own streams if the fork has its own name (`at("fork", 7)`). Two users that differ
only in a cue draw the same numbers from the same names.

A user that wraps another passes it `rng.inside("reformulating")`, named after its own kind, and draws its own numbers
from `rng.own("reformulating", …)`. The wrapped user draws what it would draw on its own. Only if a kind wraps its own
kind does the inner user draw from streams of other names; otherwise both would use the same number for two decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from topics.identity import generator

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, slots=True)
class Streams:
    """Reproducible random streams: equal arguments give equal numbers on every machine.

    Call it with the name of a decision, such as `rng("stop")`, to get a numpy Generator.

    - `seed`: the seed of the audit.
    - `names`: what the streams are for, from the general to the specific.
    - `holders`: the kinds of the users that wrap the one who draws, the outermost first.
    - `tries`: the number of times the trial was lost before. A user draws the same numbers in every attempt; words
      from outside are requested with new seeds (`simulators.outside`).
    """

    seed: int
    names: tuple[str | int, ...] = ()
    holders: tuple[str, ...] = ()
    tries: int = 0

    def at(self, *names: str | int) -> Streams:
        """Return the streams for a part, such as a turn, a fork or a part of a user."""
        return replace(self, names=(*self.names, *names))

    def inside(self, kind: str) -> Streams:
        """Return the streams for the user that a user of this kind wraps."""
        return replace(self, holders=(*self.holders, kind))

    def own(self, kind: str, purpose: str) -> str:
        """Return the name of a wrapper's own stream: `purpose`, with the depth if others of its kind wrap it."""
        depth = self.holders.count(kind)
        return f"{purpose}/{kind}/{depth}" if depth else purpose

    def pick(self, purpose: str, shares: Sequence[float]) -> int:
        """Draw an index into `shares`, which sum to 1."""
        number = float(self(purpose).random())
        for place, share in enumerate(shares):
            if number < share:
                return place
            number -= share
        return len(shares) - 1

    def __call__(self, purpose: str) -> numpy.random.Generator:
        """Return the stream of one kind of decision from its beginning. A second call gives the same numbers again."""
        return generator(self.seed, *self.names, purpose)
