"""Plain second formulations of the measures, written from the papers alone: loops and fractions, no arrays.

They share no code with `scoring` and are slow on purpose: each function is its equation read aloud. Sums and products
are exact where the arguments are fractions; only logarithms, roots and powers of a decimal leave them.

[GFRC] T. Sakai, EVIA 2023. [STC3] T. Sakai, EVIA 2017. [GFR] Sakai, Kim and Kang, TOIS 2023. [DBDC3] Higashinaka et
al., DSTC6 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Distribution = Sequence[Fraction]
Divergence = Callable[[Distribution, Distribution], float]


# --- divergences -----------------------------------------------------------------------------------------------------


def jsd(p: Distribution, q: Distribution) -> float:
    """[STC3] Eq. 4-5, log base 2, 0·log 0 = 0."""
    total = 0.0
    for one, other in ((p, q), (q, p)):
        for a, b in zip(one, other, strict=True):
            if a > 0:
                total += float(a) * math.log2(a / ((a + b) / 2))
    return total / 2


def nmd(p: Distribution, q: Distribution) -> float:
    """Normalised match distance: how far the cumulated sums are apart, over C - 1."""
    total = apart = Fraction(0)
    for a, b in zip(p, q, strict=True):
        apart += a - b
        total += abs(apart)
    return float(total / (len(p) - 1))


def _od(p: Distribution, q: Distribution) -> Fraction:
    """[STC3] Eq. 7: for each bin the gold gives any weight, the other bins' squared errors by their distance."""
    support = [i for i in range(len(q)) if q[i] > 0]
    total = Fraction(0)
    for i in support:
        for j in range(len(q)):
            if j != i:
                total += abs(i - j) * (p[j] - q[j]) ** 2
    return total / len(support)


def rnod(p: Distribution, q: Distribution) -> float:
    """[STC3] Eq. 9, its root."""
    return math.sqrt(_od(p, q) / (len(p) - 1))


def snod(p: Distribution, q: Distribution) -> float:
    """[STC3] Eq. 8 and 10."""
    return float((_od(p, q) + _od(q, p)) / 2 / (len(p) - 1))


def rsnod(p: Distribution, q: Distribution) -> float:
    return math.sqrt(snod(p, q))


def rnss(p: Distribution, q: Distribution) -> float:
    """[STC3] Eq. 2-3."""
    return math.sqrt(sum(((a - b) ** 2 for a, b in zip(p, q, strict=True)), Fraction(0)) / 2)


DIVERGENCES: Mapping[str, Divergence] = {"JSD": jsd, "NMD": nmd, "RNOD": rnod, "RSNOD": rsnod, "RNSS": rnss}


# --- a conversation: R, GF, GFR(C) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entity:
    """A relevant nugget as the paper sees one: which turn, which word, what gain, which groups."""

    turn: int
    position: int
    gain: Fraction
    groups: Mapping[str, Distribution]


def pw(position: int, patience: int) -> Fraction:
    """[GFRC] Eq. 6."""
    return max(Fraction(0), 1 - Fraction(position - 1, patience))


def relevance(entities: Iterable[Entity], patience: int) -> Fraction:
    """[GFRC] Eq. 3 with the normaliser of Eq. 7 as the sum it stands for."""
    normaliser = sum((1 - Fraction(word - 1, patience) for word in range(1, patience + 1)), Fraction(0))
    return sum((pw(one.position, patience) * one.gain for one in entities), Fraction(0)) / normaliser


def _mean_distribution(rows: Sequence[Distribution]) -> list[Fraction]:
    return [sum((row[i] for row in rows), Fraction(0)) / len(rows) for i in range(len(rows[0]))]


def group_fairness(
    entities: Sequence[Entity],
    first_words: Mapping[int, int],
    name: str,
    gold: Distribution,
    by: str,
    *,
    cumulative: bool = False,
    irrelevant: str = "ignore",
    turn_weight: str = "one",
    patience: int = 1250,
) -> float:
    """[GFRC] Eq. 4 for one attribute set, which is Eq. 10 under the plain settings; 0 where no turn counts.

    first_words: position of the first word of each system turn, for the weight of a turn that holds nothing relevant.
    """
    top = bottom = 0.0
    for turn in sorted(first_words):
        here = [one for one in entities if one.turn == turn]
        counted = [one for one in entities if one.turn <= turn] if cumulative else here
        if here:
            achieved: Distribution = _mean_distribution([one.groups[name] for one in counted])
            weight = max(pw(one.position, patience) for one in here)
        elif irrelevant == "uniform":
            achieved = [Fraction(1, len(gold))] * len(gold)
            weight = pw(first_words[turn], patience)
        else:
            continue
        if turn_weight == "one":
            weight = Fraction(1)
        top += float(weight) * (1 - DIVERGENCES[by](achieved, gold))
        bottom += float(weight)
    return top / bottom if bottom else 0.0


def gfr(relevant: float, fairness: Mapping[str, float], alpha: float, weights: Mapping[str, float]) -> float:
    """[GFRC] Eq. 5 over Eq. 9 (whose 1/m is 1/M), sets weighted."""
    total = sum(weights.get(name, 1.0) for name in fairness)
    return alpha * relevant + (1 - alpha) * sum(weights.get(name, 1.0) * fairness[name] for name in fairness) / total


# --- ranked lists: ERR, iRBU, GF, GFR --------------------------------------------------------------------------------


def decay(gains: Sequence[Fraction], highest: Fraction) -> list[Fraction]:
    """[GFR]: who stops at rank k was not stopped before."""
    found = []
    for k in range(len(gains)):
        share = gains[k] / (highest + 1)
        for j in range(k):
            share *= 1 - gains[j] / (highest + 1)
        found.append(share)
    return found


def err(gains: Sequence[Fraction], highest: Fraction) -> Fraction:
    return sum((share / (k + 1) for k, share in enumerate(decay(gains, highest))), Fraction(0))


def irbu(gains: Sequence[Fraction], highest: Fraction, persistence: Fraction = Fraction(99, 100)) -> Fraction:
    return sum((share * persistence ** (k + 1) for k, share in enumerate(decay(gains, highest))), Fraction(0))


def list_fairness(
    gains: Sequence[Fraction], rows: Sequence[Distribution], gold: Distribution, highest: Fraction, by: str
) -> float:
    """[GFRC] Eq. 1's second term for one set: all the top k documents, relevant or not."""
    shares = decay(gains, highest)
    return sum(
        float(shares[k]) * (1 - DIVERGENCES[by](_mean_distribution(rows[: k + 1]), gold)) for k in range(len(rows))
    )


# --- texts: S, T, F, recall, U, U-IA, M ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gold:
    """A gold nugget of a text: its weight, the length of its vital string, and where it is met first, if it is."""

    weight: Fraction
    length: int
    offset: int | None


def s_measure(nuggets: Sequence[Gold], patience: int) -> float:
    """S over the pseudo-minimal output: all vital strings in a row, heaviest first, of equal weight shortest first."""
    worth = sum((one.weight * max(0, patience - one.offset) for one in nuggets if one.offset is not None), Fraction(0))
    best, end = Fraction(0), 0
    for one in sorted(nuggets, key=lambda nugget: (-nugget.weight, nugget.length)):
        end += one.length
        best += one.weight * max(0, patience - end)
    return float(worth / best) if best else math.nan


def t_measure(nuggets: Sequence[Gold], text_length: int) -> float:
    return sum(one.length for one in nuggets if one.offset is not None) / text_length if text_length else math.nan


def f_flat(s: float, t: float, beta: float) -> float:
    if s == 0 or t == 0:
        return 0.0
    return (1 + beta**2) * s * t / (s + beta**2 * t)


def w_recall(nuggets: Sequence[Gold]) -> float:
    whole = sum((one.weight for one in nuggets), Fraction(0))
    return float(sum((o.weight for o in nuggets if o.offset is not None), Fraction(0)) / whole) if whole else math.nan


def u_measure(gains: Sequence[Fraction], positions: Sequence[int], patience: int, normaliser: Fraction) -> Fraction:
    """[GFRC] Eq. 2's discount over a trailtext."""
    worth = (
        gain * max(Fraction(0), 1 - Fraction(place, patience)) for gain, place in zip(gains, positions, strict=True)
    )
    return sum(worth, Fraction(0)) / normaliser


@dataclass(frozen=True)
class Stretch:
    length: int
    nugget: str | None = None
    link: str | None = None


def positions_read(
    first: Sequence[Stretch], second: Mapping[str, Sequence[Stretch]], intent: str | None
) -> dict[str, int]:
    """What a user with this intent has read when each nugget is first known: to the link, behind it, then on."""
    words, followed = 0, False
    found: dict[str, int] = {}
    for piece in first:
        words += piece.length
        if piece.nugget is not None:
            found.setdefault(piece.nugget, words)
        if piece.link is not None and piece.link == intent and not followed:
            followed = True
            for inner in second[piece.link]:
                words += inner.length
                if inner.nugget is not None:
                    found.setdefault(inner.nugget, words)
    return found


# --- STC-3 and DBDC --------------------------------------------------------------------------------------------------


def nugget_dialogue(
    customer: Sequence[tuple[Distribution, Distribution]],
    helpdesk: Sequence[tuple[Distribution, Distribution]],
    by: str,
    alpha: float = 0.5,
) -> float:
    """[STC3] Eq. 11-12: (predicted, gold) of each block of each side."""
    sides = [[DIVERGENCES[by](p, q) for p, q in side] for side in (customer, helpdesk)]
    means = [sum(side) / len(side) if side else None for side in sides]
    if means[0] is None:
        return math.nan if means[1] is None else means[1]
    if means[1] is None:
        return means[0]
    return alpha * means[0] + (1 - alpha) * means[1]


def _binned(row: Distribution, grouping: str) -> list[Fraction]:
    o, t, x = row
    return {"O,T,X": [o, t, x], "O,T+X": [o, t + x], "O+T,X": [o + t, x]}[grouping]


def label(row: Distribution) -> int:
    """The most frequent label; ties go to O before T before X."""
    best = 0
    for i in (1, 2):
        if row[i] > row[best]:
            best = i
    return best


def breakdown_figures(predicted: Sequence[Distribution], gold: Sequence[Distribution]) -> dict[str, float]:
    """[DBDC3]: accuracy, precision, recall, F1, JSD and MSE over all turns; NaN for a ratio of nothing. SNOD is that of
    [STC3] Eq. 10 for the three labels."""

    def ratio(top: float, bottom: float) -> float:
        return top / bottom if bottom else math.nan

    turns = len(gold)
    says, is_so = [label(row) for row in predicted], [label(row) for row in gold]
    found = {"accuracy": ratio(sum(a == b for a, b in zip(says, is_so, strict=True)), turns)}
    for name, bad in (("B", {2}), ("PB+B", {1, 2})):
        hits = sum(a in bad and b in bad for a, b in zip(says, is_so, strict=True))
        called, there = sum(a in bad for a in says), sum(b in bad for b in is_so)
        found[f"P({name})"] = ratio(hits, called)
        found[f"R({name})"] = ratio(hits, there)
        found[f"F1({name})"] = ratio(2 * hits, called + there)
    for grouping in ("O,T,X", "O,T+X", "O+T,X"):
        pairs = [(_binned(p, grouping), _binned(q, grouping)) for p, q in zip(predicted, gold, strict=True)]
        found[f"JSD({grouping})"] = ratio(sum(jsd(p, q) for p, q in pairs), turns)
        squares = [sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) / len(p) for p, q in pairs]
        found[f"MSE({grouping})"] = ratio(float(sum(squares)), turns)
    found["SNOD(O,T,X)"] = ratio(sum(snod(p, q) for p, q in zip(predicted, gold, strict=True)), turns)
    return found
