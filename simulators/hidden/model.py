"""Hidden Markov models of what users do, with the belief about hidden states as a user's memory.

The hidden state of a user determines the next act, or that the user leaves. Then the state changes, depending on the
last answer if answers are used:

    p(act | belief) = Σ_s belief(s) · emission(s, act)
    belief(s | act) ∝ belief(s) · emission(s, act)                  after the act
    belief(s')      = Σ_s belief(s | act) · transition(s, s')       after the answer

The first act has separate emissions, because nobody leaves before it. People may belong to classes, which stay the
same in all their dialogues: a class determines the initial state of a dialogue. With enough states each class can
have separate states, so any mixture of hidden Markov models can be expressed in this form.

A model has one or more parts, of different sizes or fitted from different starts. The part that a person follows is
also unknown, so the belief covers the states of all parts together.

Source: L. R. Rabiner, Proc. IEEE 77, 1989 (eq. 19-20: the forward variable, here normalised); Y. Bengio, P. Frasconi,
NIPS 7, 1995 (transitions that depend on an input). Arithmetic is plain Python in a fixed order, so that beliefs are
equal to the last bit on every machine.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simulators.act_table import ANY, STOP

# Probabilities of the states of all parts; they sum to 1.
Belief = tuple[float, ...]

Row = tuple[float, ...]

_SUM_TOLERANCE = 1e-3  # files hold rounded numbers


@dataclass(frozen=True, slots=True)
class Part:
    """One hidden Markov model with C classes, S states and V acts. Every row sums to 1.

    - `weight`: the probability of the part.
    - `classes`: (C,) share of people in each class.
    - `initial`: (C, S) probability of each initial state.
    - `opening`: (S, V) probability of each first act.
    - `emissions`: (S, V + 1) probability of each later act, with leaving last.
    - `transitions`: (S, S) for each answer, with `*` for any other or unknown answer.
    """

    weight: float
    classes: Row
    initial: tuple[Row, ...]
    opening: tuple[Row, ...]
    emissions: tuple[Row, ...]
    transitions: Mapping[str, tuple[Row, ...]]

    @classmethod
    def from_rows(
        cls,
        weight: float,
        acts: int,
        classes: Sequence[float],
        initial: Sequence[Sequence[float]],
        opening: Sequence[Sequence[float]],
        emissions: Sequence[Sequence[float]],
        transitions: Mapping[str, Sequence[Sequence[float]]],
    ) -> "Part":
        """Return a part with normalised rows for V = `acts` acts. Raises ValueError for tables of the wrong size, and
        for rows whose sum differs from 1 by more than .001."""
        states = len(emissions)
        if not states:
            raise ValueError("emissions: at least one state is needed")
        if ANY not in transitions:
            raise ValueError(f"transitions: the rows for any answer ({ANY!r}) are missing")
        if not 0 < weight <= 1:
            raise ValueError(f"weight must be above 0 and at most 1, not {weight:g}")
        return cls(
            weight,
            _check_table("classes", [classes], 1, len(initial))[0],
            _check_table("initial", initial, len(classes), states),
            _check_table("opening", opening, states, acts),
            _check_table("emissions", emissions, states, acts + 1),
            {
                answer: _check_table(f"transitions ({answer})", rows, states, states)
                for answer, rows in transitions.items()
            },
        )

    @property
    def states(self) -> int:
        return len(self.emissions)


@dataclass(frozen=True)
class HiddenModel:
    """A model with V named acts (without `stop`) and at least one part. Raises ValueError unless all parts have the
    same number of classes."""

    acts: tuple[str, ...]
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts: at least one part is needed")
        if len({len(part.classes) for part in self.parts}) > 1:
            raise ValueError("parts: all parts must have the same number of classes")

    @property
    def classes(self) -> int:
        return len(self.parts[0].classes)

    def initial_belief(self, latent_class: int | None = None) -> Belief:
        """Return the belief before the first act. `latent_class` starts at 1 and is None for an unknown person. Parts
        in which all classes begin alike say nothing about a class, and do not count for its people."""
        found: list[float] = []
        told = latent_class is not None and any(len(set(part.initial)) > 1 for part in self.parts)
        for part in self.parts:
            weights, weight = part.classes, part.weight
            if latent_class is not None:
                weights = tuple(float(place == latent_class) for place in range(1, len(part.classes) + 1))
            if told and len(set(part.initial)) == 1:
                weight = 0.0
            found.extend(weight * value for value in _product(weights, part.initial))
        return _normalise(found)

    def row(self, belief: Belief, *, opening: bool) -> dict[str, float]:
        total = [0.0] * (len(self.acts) + (not opening))
        for part, own in self._split(belief):
            for place, value in enumerate(_product(own, part.opening if opening else part.emissions)):
                total[place] += value
        return dict(zip(self.acts if opening else (*self.acts, STOP), _normalise(total), strict=True))

    def update_by_act(self, belief: Belief, act: str, *, opening: bool) -> Belief:
        """Return the belief after the user's `act`. Raises ValueError for an act with probability 0."""
        place = self.acts.index(act)
        found: list[float] = []
        for part, own in self._split(belief):
            rows = part.opening if opening else part.emissions
            found.extend(value * row[place] for value, row in zip(own, rows, strict=True))
        if not sum(found) > 0:
            raise ValueError(f"the act {act!r} is impossible here")
        return _normalise(found)

    def update_by_answer(self, belief: Belief, answer: str) -> Belief:
        """Return the belief after the answer, before the next decision."""
        found: list[float] = []
        for part, own in self._split(belief):
            found.extend(_product(own, part.transitions.get(answer, part.transitions[ANY])))
        return _normalise(found)

    def _split(self, belief: Belief) -> Iterable[tuple[Part, Belief]]:
        place = 0
        for part in self.parts:
            yield part, belief[place : place + part.states]
            place += part.states


def _product(weights: Sequence[float], rows: Sequence[Row]) -> list[float]:
    """Return weights · rows, summed in the order of the rows: another order could change the last bit."""
    found = [0.0] * len(rows[0])
    for weight, row in zip(weights, rows, strict=True):
        if weight:
            for place, value in enumerate(row):
                found[place] += weight * value
    return found


def _normalise(values: Sequence[float]) -> Belief:
    total = sum(values)
    return tuple(value / total for value in values)


def _check_table(name: str, rows: Sequence[Sequence[float]], height: int, width: int) -> tuple[Row, ...]:
    if len(rows) != height or any(len(row) != width for row in rows):
        raise ValueError(f"{name}: the table must have {height} × {width} numbers")
    for number, row in enumerate(rows, 1):
        if min(row) < 0 or not abs(sum(row) - 1) <= _SUM_TOLERANCE:
            raise ValueError(f"{name}, row {number}: the probabilities must sum to 1 (here: {sum(row):g})")
    return tuple(_normalise(row) for row in rows)
