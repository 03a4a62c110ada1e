"""Profiles: a parrot's behaviour in its turns as a small Markov chain.

A behaviour is one of

    list      `entities` entries with URLs of the requested kind        (the FairWeb protocol labels it o)
    bare      `entities` titles in the requested order, without URLs    (x)
    prose     friendly sentences that name nothing                      (x)
    refusal   says that it will not help                                (x, and the conversation breaks down)
    silent    an empty answer                                           (x)

The labels are not defined here. The protocol decides them, and docs/parrot.md shows its decisions.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

Behaviour = Literal["list", "bare", "prose", "refusal", "silent"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

# The parrot's reading of a user turn: a known request, a wish for more, a reminder of the format, or none of these.
Heard = Literal["request", "more", "adhere", "unknown"]

# Probabilities in [0, 1] of the next behaviour; they sum to 1, and a behaviour left out has probability 0.
Row = Mapping[Behaviour, float]

_TOLERANCE = 1e-9  # rounding of a sum of probabilities


@dataclass(frozen=True, slots=True)
class Profile:
    """The Markov chain and the habits of one parrot. Raises ValueError, with the name of the row, for an invalid
    chain.

    - `first`: the probabilities of the behaviours on a fresh request.
    - `cued`: rows that replace `first` if the request contains certain words, in any case, so that a parrot can treat
      users with different wordings differently.
    - `then`: the probabilities of the next behaviour on the same topic, by the behaviour of the previous turn.
    - `told`: rows that replace rows of `then` if the user asks the parrot to adhere to the format.
    - `entities`: the number of entries in each list, from 1 to 12.
    - `wrong`: the probability that a listed entry has a URL of the requested kind that belongs to nothing in the
      catalogue, independently for each entry.
    - `repeats`: the probability that a listed entry, except the first of the conversation, is a copy of an earlier
      entry.
    - `carry`: for a session that continues with another topic, the probability that the fresh request is answered as a
      next turn (from the row `then` of the last behaviour) instead of from `first`.
    - `delay`: the range of seconds to wait before answering, drawn uniformly.
    """

    name: str
    about: str
    first: Row
    then: Mapping[Behaviour, Row]
    told: Mapping[Behaviour, Row] = field(default_factory=lambda: MappingProxyType({}))
    cued: Mapping[str, Row] = field(default_factory=lambda: MappingProxyType({}))
    entities: int = 5
    wrong: float = 0.0
    repeats: float = 0.0
    carry: float = 0.0
    delay: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        _check_row("first", self.first)
        for table, rows in (("then", self.then), ("told", self.told)):
            for behaviour, row in rows.items():
                if behaviour not in BEHAVIOURS:
                    raise ValueError(
                        f"{table}: {behaviour!r} is not a behaviour; choose one of {', '.join(BEHAVIOURS)}"
                    )
                _check_row(f"{table}.{behaviour}", row)
        for words, row in self.cued.items():
            if not words.strip():
                raise ValueError("cued: empty text would match every request")
            _check_row(f"cued.{words}", row)
        for behaviour in self.reachable:
            if behaviour not in self.then:
                raise ValueError(f"then: there is no row for {behaviour!r}, which this chain can reach")
        if not 1 <= self.entities <= 12:
            raise ValueError(f"entities: {self.entities} is not a number from 1 to 12")
        for name, value in (("wrong", self.wrong), ("repeats", self.repeats), ("carry", self.carry)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name}: {value} is not a probability in [0, 1]")
        low, high = self.delay
        if not (0 <= low <= high < math.inf):
            raise ValueError(f"delay: {low} … {high} is not a range of seconds in increasing order")

    @property
    def reachable(self) -> tuple[Behaviour, ...]:
        """The behaviours with a positive probability in some turn, in the order of `BEHAVIOURS`."""
        found: set[Behaviour] = set()
        open_rows: list[Row] = [self.first, *self.cued.values()]
        while open_rows:
            for behaviour, probability in open_rows.pop().items():
                if probability > 0 and behaviour not in found:
                    found.add(behaviour)
                    open_rows += [rows[behaviour] for rows in (self.then, self.told) if behaviour in rows]
        return tuple(behaviour for behaviour in BEHAVIOURS if behaviour in found)

    def row(self, before: Behaviour | None, heard: Heard) -> Row:
        """Return the probabilities of the behaviour in a turn. `before` is the behaviour of the previous turn (None on
        a new topic), and `heard` is the meaning of the user turn."""
        if before is None or heard == "request":
            return self.first
        if heard == "adhere" and before in self.told:
            return self.told[before]
        return self.then[before]

    def opening(self, text: str) -> Row:
        """Return the probabilities of the first behaviour on a fresh request. The result is the first row of `cued`
        whose words occur in `text`, or `first` if there is no such row."""
        folded = text.casefold()
        return next((row for words, row in self.cued.items() if words.casefold() in folded), self.first)

    def carried(self, before: Behaviour, first: Row | None = None) -> Row:
        """Return the probabilities of the first behaviour on a further topic, after the last behaviour `before` of the
        session. `first` is the row for the request; the default is the profile's `first`."""
        fresh, then = self.first if first is None else first, self.then[before]
        return {
            behaviour: (1 - self.carry) * fresh.get(behaviour, 0.0) + self.carry * then.get(behaviour, 0.0)
            for behaviour in BEHAVIOURS
        }


def _check_row(name: str, row: Row) -> None:
    for behaviour, probability in row.items():
        if behaviour not in BEHAVIOURS:
            raise ValueError(f"{name}: {behaviour!r} is not a behaviour; choose one of {', '.join(BEHAVIOURS)}")
        if not 0 <= probability <= 1:
            raise ValueError(f"{name}.{behaviour}: {probability} is not a probability in [0, 1]")
    total = math.fsum(row.values())
    if abs(total - 1) > _TOLERANCE:
        raise ValueError(f"{name}: the probabilities sum to {total:.10g}, not to 1")


_STEADY_FIRST: Row = {"list": 0.90, "bare": 0.07, "prose": 0.03}
_STEADY_THEN: Mapping[Behaviour, Row] = {
    "list": {"list": 0.92, "bare": 0.05, "prose": 0.03},
    "bare": {"list": 0.65, "bare": 0.25, "prose": 0.10},
    "prose": {"list": 0.65, "bare": 0.20, "prose": 0.15},
}

# The shipped profiles by name. docs/parrot.md prints the truth of each.
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Profile(
                "steady", "Useful nine times in ten, and mends itself two times in three.", _STEADY_FIRST, _STEADY_THEN
            ),
            Profile(
                "erratic",
                "As the pilot study saw: good or bad, and once inadequate it tends to stay so.",
                first={"list": 0.62, "bare": 0.18, "prose": 0.12, "refusal": 0.08},
                then={
                    "list": {"list": 0.70, "bare": 0.12, "prose": 0.12, "refusal": 0.06},
                    "bare": {"list": 0.20, "bare": 0.60, "prose": 0.15, "refusal": 0.05},
                    "prose": {"list": 0.10, "bare": 0.20, "prose": 0.55, "refusal": 0.15},
                    "refusal": {"prose": 0.20, "refusal": 0.80},
                },
                carry=0.6,
            ),
            Profile(
                "refusing",
                "Refuses more often than not, also after a good start.",
                first={"list": 0.30, "prose": 0.15, "refusal": 0.55},
                then={
                    "list": {"list": 0.50, "prose": 0.10, "refusal": 0.40},
                    "prose": {"list": 0.15, "prose": 0.45, "refusal": 0.40},
                    "refusal": {"list": 0.05, "prose": 0.15, "refusal": 0.80},
                },
                carry=0.3,
            ),
            Profile(
                "format-breaking",
                "Leaves the URLs out, and often corrects that when asked to adhere to the format.",
                first={"list": 0.25, "bare": 0.75},
                then={"list": {"list": 0.55, "bare": 0.45}, "bare": {"list": 0.10, "bare": 0.90}},
                told={"bare": {"list": 0.75, "bare": 0.25}},
            ),
            Profile(
                "hallucinating",
                "Looks useful nearly always, but three of four URLs lead to a wrong page of the right site.",
                first={"list": 0.95, "bare": 0.05},
                then={"list": {"list": 0.95, "bare": 0.05}, "bare": {"list": 0.60, "bare": 0.40}},
                wrong=0.75,
            ),
            Profile(
                "repeating",
                "The chain of steady, but about every third entry is one that it has named before.",
                _STEADY_FIRST,
                _STEADY_THEN,
                repeats=0.35,
            ),
            Profile(
                "slow",
                "The chain of steady, after a delay.",
                _STEADY_FIRST,
                _STEADY_THEN,
                delay=(0.2, 0.8),
            ),
            Profile(
                "perfect",
                "Always useful: every figure is known without a chain.",
                {"list": 1.0},
                {"list": {"list": 1.0}},
            ),
            Profile("silent", "Never says anything.", {"silent": 1.0}, {"silent": {"silent": 1.0}}),
        )
    }
)
