"""Tables of what users do next, and when they leave, by the turn as well as by context.

People leave more readily after some acts, and more readily late. Turns are grouped in stretches of at least 50
recorded decisions each (the last stretch has the rest), and acts are counted by stretch and context. A rare cell is
smoothed towards p(a | h), the row of its context over all turns, just as that row is smoothed towards shorter
contexts (Witten and Bell 1991; see `simulators.act_table`):

    p(a | stretch, h) = (n(stretch, h, a) + T·p(a | h)) / (n(stretch, h) + T),

where T is the number of different outcomes in the cell, including leaving. An empty cell thus equals the row over all
turns.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulators.act_table import ANY, START, STOP, UNKNOWN, ActSequence, Context

_LEAST_COUNT = 50  # decisions at a turn; fewer are grouped with those before

# A stretch: the first user turn after which it holds, and how often each act (or `stop`) followed, by context.
Stretch = tuple[int, Mapping[Context, Mapping[str, int]]]


@dataclass(frozen=True)
class TurnTable:
    """Counts by stretch. `order` is the number of acts in a context. The last stretch has no end. Raises ValueError
    unless the first stretch starts at turn 1 and the turns increase."""

    stretches: Sequence[Stretch]
    order: int = 1

    def __post_init__(self) -> None:
        turns = [turn for turn, _ in self.stretches]
        if not turns or turns != sorted({1, *turns}):
            raise ValueError("stretches: the first stretch must start at turn 1, and the turns must increase")

    def row(self, context: Sequence[str], answer: str, turn: int, base: Mapping[str, float]) -> dict[str, float]:
        """Return the probabilities after user turn `turn` (from 1) and the last acts `context`, oldest first. `base` is
        the row of this context over all turns, with the possible acts as keys."""
        place = bisect_right([first for first, _ in self.stretches], turn) - 1
        rows = self.stretches[place][1]
        acts = tuple([START, *context][-self.order :])
        counted = rows.get((acts, answer)) or rows.get((acts, ANY)) or {}
        n, kinds = sum(counted.values()), sum(1 for count in counted.values() if count)
        return {act: (counted.get(act, 0) + kinds * p) / (n + kinds) if n else p for act, p in base.items()}

    @property
    def departures(self) -> Iterator[tuple[int, int]]:
        """Return the number of departures and of decisions for each cell that has decisions."""
        for _, rows in self.stretches:
            for row in rows.values():
                if sum(row.values()):
                    yield row.get(STOP, 0), sum(row.values())

    @property
    def aic(self) -> float:
        """Return the AIC of leaving by cell, unsmoothed: 2·cells - 2·log-likelihood. Smaller is better for equal
        data."""
        cells = list(self.departures)
        found = sum(k * math.log(k / n) for left, n in cells for k in (left, n - left) if k)
        return 2 * len(cells) - 2 * found


def count_by_turn(sequences: Iterable[ActSequence], *, order: int = 1, least: int = _LEAST_COUNT) -> TurnTable | None:
    """Count the table of recorded users, with at least `least` decisions per stretch. Returns None if there is no
    decision after a first turn."""
    by_turn: dict[int, list[tuple[Context, str]]] = {}
    for one in sequences:
        before = [START]
        for turn, (act, answer) in enumerate(zip(one.acts, (*one.answers, UNKNOWN)), 1):
            before.append(act)
            following = one.acts[turn] if turn < len(one.acts) else STOP if one.ended else None
            if following is not None:
                context = tuple(before[-order:]), ANY if answer == UNKNOWN else answer
                by_turn.setdefault(turn, []).append((context, following))
    groups: list[tuple[int, list[tuple[Context, str]]]] = []
    for turn in sorted(by_turn):
        if not groups or len(groups[-1][1]) >= least:
            groups.append((turn, []))
        groups[-1][1].extend(by_turn[turn])
    if len(groups) > 1 and len(groups[-1][1]) < least:
        _, rest = groups.pop()
        groups[-1][1].extend(rest)
    if not groups:
        return None
    counted = []
    for turn, decisions in groups:
        rows: dict[Context, dict[str, int]] = {}
        for context, act in sorted(decisions):
            row = rows.setdefault(context, {})
            row[act] = row.get(act, 0) + 1
        counted.append((turn, rows))
    return TurnTable(counted, order)
