"""What users do next, and when they leave, by how far the conversation has come as well as by what came before.

Both matter: people leave more readily after some acts, and more readily late. Turns are put
together in stretches, each of at least 50 recorded decisions (the last one takes what is left), and what followed is
counted by stretch and context. A cell seen seldom is smoothed towards the row of its context over all turns, p(a | h),
as that row is towards shorter contexts (Witten and Bell 1991; see `simulators.act_table`):

    p(a | stretch, h) = (n(stretch, h, a) + T·p(a | h)) / (n(stretch, h) + T),

T the different outcomes seen in the cell, leaving among them. So an empty cell is the row over all turns.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulators.act_table import ANY, START, STOP, UNKNOWN, ActSequence, Context

_ENOUGH = 50  # decisions at a turn; fewer are put together with those before

# The first user turn after which it holds, and how often each act (or `stop`) followed, by context.
Stretch = tuple[int, Mapping[Context, Mapping[str, int]]]


@dataclass(frozen=True)
class TurnTable:
    """stretches: their turns begin with 1 and rise; the last has no end. order: acts that the contexts look back on.
    Raises ValueError for anything else."""

    stretches: Sequence[Stretch]
    order: int = 1

    def __post_init__(self) -> None:
        turns = [turn for turn, _ in self.stretches]
        if not turns or turns != sorted({1, *turns}):
            raise ValueError("stretches: the first begins after turn 1, and their turns rise")

    def row(self, after: Sequence[str], answer: str, turn: int, base: Mapping[str, float]) -> dict[str, float]:
        """The probabilities after user turn `turn` (from 1). after: the last acts, oldest first. base: of this context
        over all turns; its acts are the possible ones."""
        place = bisect_right([first for first, _ in self.stretches], turn) - 1
        rows = self.stretches[place][1]
        acts = tuple([START, *after][-self.order :])
        counted = rows.get((acts, answer)) or rows.get((acts, ANY)) or {}
        n, kinds = sum(counted.values()), sum(1 for count in counted.values() if count)
        return {act: (counted.get(act, 0) + kinds * p) / (n + kinds) if n else p for act, p in base.items()}

    @property
    def leavings(self) -> Iterator[tuple[int, int]]:
        """How often users left, of how many decisions, in each cell that has any."""
        for _, rows in self.stretches:
            for row in rows.values():
                if sum(row.values()):
                    yield row.get(STOP, 0), sum(row.values())

    @property
    def aic(self) -> float:
        """AIC of the unsmoothed model of leaving by cell: 2·cells - 2·log-likelihood; smaller is better on the same
        decisions."""
        cells = list(self.leavings)
        found = sum(k * math.log(k / n) for left, n in cells for k in (left, n - left) if k)
        return 2 * len(cells) - 2 * found


def count_by_turn(sequences: Iterable[ActSequence], *, order: int = 1, least: int = _ENOUGH) -> TurnTable | None:
    """The table of recorded users; None where nobody was seen to decide after a first turn. least: decisions of a
    stretch, where there are as many."""
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
