"""SWAN read aloud: [SWAN] Eq. 1-3 (T. Sakai, arXiv 2305.08290) in loops over fractions.

It shares no code with `scoring`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Nugget:
    """u of U^c: WC of its last word, system nuggets before it, whether in the last system turn, and its score S^c."""

    position: int
    seen: int
    final: bool
    score: Fraction


Weight = Callable[[Nugget], Fraction]


def weight(text: str) -> Weight:
    """NW by its name: `uniform`, `linear(L=n)`, `last_turn`, `anchored(rate=r)`, or a product of these."""

    def single(part: str, nugget: Nugget) -> Fraction:
        name, _, rest = part.partition("(")
        number = rest.rstrip(")").partition("=")[2]
        if name == "linear":
            return max(Fraction(0), 1 - Fraction(nugget.position - 1, int(number or 1250)))
        if name == "last_turn":
            return Fraction(int(nugget.final))
        if name == "anchored":
            return Fraction(number or "0.9") ** nugget.seen
        return Fraction(1)

    def whole(nugget: Nugget) -> Fraction:
        found = Fraction(1)
        for part in text.split("*"):
            found *= single(part, nugget)
        return found

    return whole


def wan(nuggets: Sequence[Nugget], nw: Weight) -> Fraction | None:
    """Eq. 2, its U read as U^c; None where there is no weight to divide by."""
    bottom = sum((nw(one) for one in nuggets), Fraction(0))
    return sum((nw(one) * one.score for one in nuggets), Fraction(0)) / bottom if bottom else None


def swan(wans: Mapping[str, Fraction | None], cw: Mapping[str, Fraction]) -> Fraction | None:
    """Eq. 1 over the criteria whose WAN is defined."""
    bottom = sum((cw[name] for name, value in wans.items() if value is not None), Fraction(0))
    top = sum((cw[name] * value for name, value in wans.items() if value is not None), Fraction(0))
    return top / bottom if bottom else None


def expectation(values: Sequence[Fraction | None], chances: Sequence[Fraction]) -> Fraction | None:
    """Mean over the paths on which the value is defined, each with its probability."""
    pairs = [(value, chance) for value, chance in zip(values, chances, strict=True) if value is not None]
    mass = sum((chance for _, chance in pairs), Fraction(0))
    return sum((value * chance for value, chance in pairs), Fraction(0)) / mass if mass else None


def pooled(paths: Sequence[Sequence[Nugget]], chances: Sequence[Fraction], nw: Weight) -> Fraction | None:
    """[SWAN] §3, stochastic: the nuggets of all paths in one set, each weight times its path's probability."""
    bottom = sum((c * nw(one) for path, c in zip(paths, chances, strict=True) for one in path), Fraction(0))
    top = sum((c * nw(one) * one.score for path, c in zip(paths, chances, strict=True) for one in path), Fraction(0))
    return top / bottom if bottom else None


def fairness_score(similarities: Mapping[str, float], aw: Mapping[str, float]) -> float:
    """Eq. 3: the weighted mean of DistrSim over the attribute sets."""
    return sum(aw[name] * value for name, value in similarities.items()) / sum(aw[name] for name in similarities)
