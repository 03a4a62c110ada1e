"""A table of acts as a part of a hidden Markov model, so that a user can play a mixture of both.

A state of this part is the act at a user turn, or that the user left. It is hidden only before the act: the act shows
it. The state after act a at turn t is act x at turn t + 1 with the table's probability of x after a and t turns, so
that the part foresees exactly what the table does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from simulators.act_table import ANY, STOP, UNKNOWN
from simulators.hidden.model import HiddenModel, Part

# The probability of each act, or of leaving, after these acts, the last answer and so many user turns.
Row = Callable[[Sequence[str], str, int], Mapping[str, float]]


def add_table(model: HiddenModel, row: Row, last: int, weight: float) -> HiddenModel:
    """Return the model with the table's `row` as a further part of this weight in (0, 1). After `last` turns, at least
    1, and more, the rows are the same. Only the last act counts in them."""
    acts = model.acts
    states = [(turn, act) for turn in range(1, last + 1) for act in acts]

    def moves(answer: str) -> list[list[float]]:
        found = []
        for turn, act in states:
            chances = row((act,), UNKNOWN if answer == ANY else answer, turn)
            place = len(acts) * (min(turn + 1, last) - 1)
            spread = [0.0] * (len(states) + 1)
            spread[place : place + len(acts)] = [chances.get(other, 0.0) for other in acts]
            spread[-1] = chances.get(STOP, 0.0)
            found.append(spread)
        return [*found, [0.0] * len(states) + [1.0]]

    opening = row((), UNKNOWN, 0)
    first = [opening.get(act, 0.0) for act in acts] + [0.0] * (len(states) + 1 - len(acts))
    shown = [[float(act == other) for other in (*acts, STOP)] for _, act in states]
    shares = [sum(part.weight * part.classes[place] for part in model.parts) for place in range(model.classes)]
    part = Part.from_rows(
        weight,
        len(acts),
        [share / sum(shares) for share in shares],
        [first] * model.classes,
        [*(one[:-1] for one in shown), [1.0] + [0.0] * (len(acts) - 1)],
        [*shown, [0.0] * len(acts) + [1.0]],
        {answer: moves(answer) for answer in model.parts[0].transitions},
    )
    lighter = (replace(one, weight=one.weight * (1 - weight)) for one in model.parts)
    return HiddenModel(acts, (*lighter, part))
