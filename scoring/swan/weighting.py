"""Nugget weightings NW: the weight of an item by its place in its conversation ([SWAN] §3).

Each weighting is a frozen value. `weights(places)` returns a non-negative (n,) array and weighs each item
independently, so the order of items has no effect. `parse_weighting` reads the text given by `str(…)`.

    uniform                 1: a conversation is a bag of nuggets
    linear(L=1250)          max(0, 1 - (WC - 1)/L): the weight falls with every word (S-measure, [GFRC] Eq. 6)
    linear(L=1250, Lc=800)  with Lc as L in characters; 1000 by default ([GFRC] §2.2, Eq. 2)
    last_turn               1 in the conversation's final system turn, 0 before it: the recency effect
    anchored(rate=0.9)      rate ** (nuggets seen so far): the first nuggets set the anchor
    effort(rate=0.9, F=1, O=1)  rate ** (F·claims + O·acts of the user so far): what costs the user effort is worth less
    linear(L=1250)*last_turn    the product of several weightings
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from scoring.notation import number_text
from scoring.nuggets import position_weight
from topics.arrays import Floats

# L in characters: two minutes of reading Japanese ([GFRC] §2.2).
CHARACTERS = 1000
_MOST_COST = 1e6


class Item(Protocol):
    """The attributes of a scored nugget or turn that a weighting can use."""

    @property
    def position(self) -> int:
        """The position of the last word in the conversation, as the word count WC from 1, or of the last character."""
        ...

    @property
    def characters(self) -> bool:
        """True if the conversation is measured in characters, as in scripts without blanks between words."""
        ...

    @property
    def seen(self) -> int:
        """The number of earlier system nuggets of types F and O in the conversation."""
        ...

    @property
    def final(self) -> bool:
        """True if the item is in the conversation's final system turn."""
        ...

    @property
    def claims(self) -> int:
        """The number of user nuggets of type F up to the item's turn."""
        ...

    @property
    def acts(self) -> int:
        """The number of user nuggets of type O up to the item's turn."""
        ...


@dataclass(frozen=True, slots=True)
class Places:
    """Columns of shape (n,) with the attributes of n items (see `Item`) from any conversations, in any order.
    `characters` is None if all items count words, and `claims` and `acts` are None if all are 0."""

    position: Floats
    seen: Floats
    final: npt.NDArray[np.bool_]
    characters: npt.NDArray[np.bool_] | None = None
    claims: Floats | None = None
    acts: Floats | None = None

    @classmethod
    def from_items(cls, items: Sequence[Item]) -> "Places":
        return cls(
            np.array([one.position for one in items], dtype=np.float64),
            np.array([one.seen for one in items], dtype=np.float64),
            np.array([one.final for one in items], dtype=np.bool_),
            np.array([one.characters for one in items], dtype=np.bool_),
            np.array([one.claims for one in items], dtype=np.float64),
            np.array([one.acts for one in items], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, part: slice) -> "Places":
        characters = None if self.characters is None else self.characters[part]
        claims, acts = (None if one is None else one[part] for one in (self.claims, self.acts))
        return Places(self.position[part], self.seen[part], self.final[part], characters, claims, acts)


class Weighting(Protocol):
    """Interface of weightings NW, which give each item a non-negative weight."""

    def weights(self, places: Places) -> Floats:
        """Return (n,) weights in [0, 1] for n items."""
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """A weighting that gives every item the weight 1."""

    def weights(self, places: Places) -> Floats:
        return np.ones(len(places))

    def __str__(self) -> str:
        return "uniform"


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighting of 1 for the conversation's first word, falling by 1/L with every word to 0 from word L + 1 on. `L`
    is the largest number of words that a user reads, at least 1. `Lc` replaces `L` if a conversation is measured in
    characters."""

    L: int = 1250
    Lc: int = CHARACTERS

    def __post_init__(self) -> None:
        if self.L < 1:
            raise ValueError(f"L must be at least 1 word, not {self.L}")
        if self.Lc < 1:
            raise ValueError(f"Lc must be at least 1 character, not {self.Lc}")

    def weights(self, places: Places) -> Floats:
        if places.characters is None or not places.characters.any():
            return position_weight(places.position, self.L)
        return position_weight(places.position, np.where(places.characters, self.Lc, self.L))

    def __str__(self) -> str:
        return f"linear(L={self.L})" if self.Lc == CHARACTERS else f"linear(L={self.L}, Lc={self.Lc})"


@dataclass(frozen=True, slots=True)
class LastTurn:
    """A weighting of 1 in the final system turn of the conversation, and 0 in all other turns."""

    def weights(self, places: Places) -> Floats:
        return places.final.astype(np.float64)

    def __str__(self) -> str:
        return "last_turn"


@dataclass(frozen=True, slots=True)
class Anchored:
    """A weighting of rate ** k, where k is the number of system nuggets seen before. The first nugget weighs 1.

    The `rate` is in (0, 1]; a rate of 1 gives `uniform`. The paper leaves the function open ([SWAN] §3: nuggets seen
    so far can affect the weight of the current nugget); this is the simplest function of their number alone.
    """

    rate: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate must be above 0 and at most 1, not {self.rate:g}")

    def weights(self, places: Places) -> Floats:
        powers: Floats = self.rate**places.seen
        return powers

    def __str__(self) -> str:
        return f"anchored(rate={number_text(self.rate)})"


@dataclass(frozen=True, slots=True)
class Effort:
    """A weighting of rate ** (F·f + O·o), in which f is the number of claims (nuggets of type F) and o the number of
    dialogue acts (type O) of the user so far, including the user turn that the item answers. The more the user has to
    say before an answer, the less the answer is worth.

    The `rate` is in (0, 1]. `F` and `O` are the cost of one nugget of each type, from 0 to 1,000,000. An item weighs 1
    if the user has said nothing that costs; a rate of 1, or costs of 0, give `uniform`. The paper names the number and
    type of user nuggets and leaves the function open ([SWAN] §2 (b)); this one does for the user's nuggets what
    `anchored` does for the system's.
    """

    rate: float = 0.9
    F: float = 1.0
    O: float = 1.0  # noqa: E741  the paper's letter

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate must be above 0 and at most 1, not {self.rate:g}")
        for name, cost in (("F", self.F), ("O", self.O)):
            if not 0 <= cost <= _MOST_COST:
                raise ValueError(f"{name} must be a number from 0 to {_MOST_COST:g}, not {cost:g}")

    def weights(self, places: Places) -> Floats:
        cost = np.zeros(len(places))
        for price, counts in ((self.F, places.claims), (self.O, places.acts)):
            if counts is not None:
                cost = cost + price * counts
        powers: Floats = self.rate**cost
        return powers

    def __str__(self) -> str:
        costs = [f", {name}={number_text(cost)}" for name, cost in (("F", self.F), ("O", self.O)) if cost != 1]
        return f"effort(rate={number_text(self.rate)}{''.join(costs)})"


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two or more weightings."""

    factors: tuple[Weighting, ...]
    fewest: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if len(self.factors) < self.fewest:
            raise ValueError("a product needs at least two factors")

    def weights(self, places: Places) -> Floats:
        found = np.ones(len(places))
        for factor in self.factors:
            found = found * factor.weights(places)
        return found

    def __str__(self) -> str:
        return "*".join(map(str, self.factors))


_FACTOR = re.compile(r"\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*")
_PARAMETER = re.compile(r"\s*([A-Za-z]+)\s*=\s*([0-9.eE+-]+)\s*")
_ALLOWED = "uniform, linear(L=1250), last_turn, anchored(rate=0.9), effort(rate=0.9), or several with * between them"


def parse_weighting(text: str) -> Weighting:
    """Parse a weighting. Raises ValueError with the allowed weightings."""
    factors = [_parse_factor(part, text) for part in text.split("*")]
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _parse_factor(part: str, whole: str) -> Weighting:
    match = _FACTOR.fullmatch(part)
    name, inside = match.groups() if match else ("", None)
    parts = [_PARAMETER.fullmatch(one) for one in inside.split(",")] if inside and inside.strip() else []
    given = {one[1]: one[2] for one in parts if one}
    if len(given) < len(parts):
        name = ""
    try:
        if name in ("uniform", "last_turn") and not given:
            return Uniform() if name == "uniform" else LastTurn()
        if name == "linear" and given.keys() <= {"L", "Lc"}:
            for key, value in given.items():
                if not re.fullmatch("[0-9]{1,9}", value):
                    unit = "words" if key == "L" else "characters"
                    raise ValueError(f"{key} must be a whole number of {unit} from 1 to 999999999")
            return Linear(**{key: int(value) for key, value in given.items()})
        if name == "anchored" and given.keys() <= {"rate"}:
            return Anchored(**{key: float(value) for key, value in given.items()})
        if name == "effort" and given.keys() <= {"rate", "F", "O"}:
            return Effort(**{key: float(value) for key, value in given.items()})
    except ValueError as fault:
        reason = (
            str(fault)
            if "invalid literal" not in str(fault) and "convert" not in str(fault)
            else "its parameter is not a number"
        )
        raise ValueError(f"{whole!r} is not a weighting: {reason}; allowed: {_ALLOWED}") from None
    raise ValueError(f"{whole!r} is not a weighting; allowed: {_ALLOWED}")
