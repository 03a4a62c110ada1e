"""Plain second formulations of the statistics, written from their definitions: enumeration, bisection, loops.

They share no code with `scoring`, and only suit small data.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from statistics import NormalDist

from scipy import integrate, special

NORMAL = NormalDist()


def bisected(above: Callable[[float], bool], low: float, high: float) -> float:
    """The point from which on `above` is true."""
    for _ in range(60):
        middle = (low + high) / 2
        if above(middle):
            high = middle
        else:
            low = middle
    return (low + high) / 2


# --- proportions -----------------------------------------------------------------------------------------------------


def wilson(k: float, n: float, level: float) -> tuple[float, float]:
    """The rates p that a score test of k of n does not reject: |k/n - p| <= z·sqrt(p(1 - p)/n)."""
    z = NORMAL.inv_cdf((1 + level) / 2)
    share = k / n

    def within(p: float) -> bool:
        return abs(share - p) <= z * math.sqrt(p * (1 - p) / n)

    low = 0.0 if share == 0 else bisected(within, 0.0, share)
    high = 1.0 if share == 1 else bisected(lambda p: not within(p), share, 1.0)
    return low, high


def beta_probability(x: float, a: float, b: float) -> float:
    """P(Beta(a, b) <= x) for a, b >= 1/2, by Simpson's rule after x = sin² of an angle, which leaves no pole."""

    def integral(angle: float, parts: int = 400) -> float:
        def inner(at: float) -> float:
            return math.sin(at) ** (2 * a - 1) * math.cos(at) ** (2 * b - 1) if at > 0 else float(a == 0.5)

        step = angle / parts
        return step / 3 * sum(inner(i * step) * (1 if i in (0, parts) else 4 if i % 2 else 2) for i in range(parts + 1))

    return integral(math.asin(math.sqrt(x))) / integral(math.pi / 2)


def jeffreys(k: int, n: int, level: float) -> tuple[float, float]:
    """The middle of Beta(k + 1/2, n - k + 1/2), closed at 0 for k = 0 and at 1 for k = n."""
    tail = (1 - level) / 2

    def quantile(share: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            if beta_probability(middle, k + 0.5, n - k + 0.5) < share:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    return (0.0 if k == 0 else quantile(tail)), (1.0 if k == n else quantile(1 - tail))


@cache
def student_quantile(probability: float, degrees: int) -> float:
    """Of Student's t, through the beta distribution of d/(d + t²)."""

    def beyond(t: float) -> bool:
        return 1 - beta_probability(degrees / (degrees + t * t), degrees / 2, 0.5) / 2 >= probability

    return bisected(beyond, 0.0, 700.0)


# --- unseen mass -----------------------------------------------------------------------------------------------------


def exact(successes: float, n: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval from the binomial law itself: the rates that neither tail excludes."""
    tail, k, whole = (1 - level) / 2, round(successes), round(n)

    def chance(counts: range, rate: float) -> float:
        return math.fsum(math.comb(whole, i) * rate**i * (1 - rate) ** (whole - i) for i in counts)

    low = bisected(lambda rate: chance(range(k, whole + 1), rate) > tail, 0.0, 1.0) if k else 0.0
    high = bisected(lambda rate: chance(range(k + 1), rate) < tail, 0.0, 1.0) if k < whole else 1.0
    return low, high


def good_turing(seen: Sequence[str], level: float) -> tuple[float, float, float]:
    """Estimate and interval from the kinds themselves: f1/n; Esty's variance (u(1 - u) + 2·f2/n)/n in Wilson's form,
    with f2 one higher than it is, and half a trial further out."""
    n = len(seen)
    often = Counter(Counter(seen).values())
    share = often[1] / n
    z, pairs = NORMAL.inv_cdf((1 + level) / 2), often[2] + 1

    def within(u: float) -> bool:
        return abs(share - u) <= z * math.sqrt((u * (1 - u) + 2 * pairs / n) / n)

    high = 1.0 if within(1.0) else bisected(lambda u: not within(u), share, 1.0)
    score = 0.0 if within(0.0) else bisected(within, 0.0, share)
    plain = share - z * math.sqrt((share * (1 - share) + 2 * pairs / n) / n)
    return share, max(0.0, min(score, plain) - 0.5 / n), min(1.0, high + 0.5 / n)


# --- the worst case --------------------------------------------------------------------------------------------------


def quantile(values: Sequence[Fraction], weights: Sequence[Fraction], beta: Fraction) -> Fraction:
    """The least x with P(value <= x) >= beta."""
    whole = sum(weights)
    for x in sorted(values):
        if sum(w for v, w in zip(values, weights, strict=True) if v <= x) >= beta * whole:
            return x
    raise ValueError("beta is above 1")


def cvar(values: Sequence[Fraction], weights: Sequence[Fraction], beta: Fraction) -> Fraction:
    """Mean of the worst beta of the mass, by pouring mass in from the worst value on."""
    missing = beta * sum(weights)
    wanted, total = missing, Fraction(0)
    for value, weight in sorted(zip(values, weights, strict=True)):
        taken = min(weight, missing)
        total += taken * value
        missing -= taken
    return total / wanted


# --- does a failure lead to the next? --------------------------------------------------------------------------------


def _strata(rows: Sequence[Sequence[str]], topics: Sequence[str]) -> list[list[tuple[bool, bool]]]:
    """(failed now, fails next) of each conversation, by topic and turn, where the next turn was asked."""
    found: dict[tuple[str, int], list[tuple[bool, bool]]] = defaultdict(list)
    for topic, row in zip(topics, rows, strict=True):
        for turn in range(len(row) - 1):
            now, then = row[turn], row[turn + 1]
            if now in "ox" and then in "ox":
                found[topic, turn].append((now == "x", then == "x"))
    return list(found.values())


def persistence(rows: Sequence[Sequence[str]], topics: Sequence[str]) -> tuple[float, float, float]:
    """(more, fewer, two-sided) p-values: every way of dealing the next labels anew within topic and turn, one by one.

    rows: labels of each conversation. Within a stratum each choice of which cases fail next is equally likely.
    """
    ways: list[list[int]] = []
    observed = 0
    for cases in _strata(rows, topics):
        failed = [now for now, _ in cases]
        observed += sum(now and then for now, then in cases)
        outcomes = sum(then for _, then in cases)
        ways.append([sum(failed[i] for i in chosen) for chosen in combinations(range(len(cases)), outcomes)])
    counts: Counter[int] = Counter(sum(together) for together in product(*ways))
    whole = sum(counts.values())
    more = Fraction(sum(n for value, n in counts.items() if value >= observed), whole)
    fewer = Fraction(sum(n for value, n in counts.items() if value <= observed), whole)
    both = Fraction(sum(n for n in counts.values() if n <= counts[observed]), whole)
    return float(more), float(fewer), float(both)


def mantel_haenszel(rows: Sequence[Sequence[str]], topics: Sequence[str]) -> tuple[float, float]:
    """Pooled risk difference and odds ratio over topic and turn; NaN for 0/0."""
    top = bottom = odds = against = Fraction(0)
    for cases in _strata(rows, topics):
        n = len(cases)
        exposed = sum(now for now, _ in cases)
        if exposed in (0, n):
            continue
        a = sum(now and then for now, then in cases)
        c = sum(not now and then for now, then in cases)
        b, d = exposed - a, n - exposed - c
        top += Fraction(a * (n - exposed) - c * exposed, n)
        bottom += Fraction(exposed * (n - exposed), n)
        odds += Fraction(a * d, n)
        against += Fraction(b * c, n)
    ratio = float(odds / against) if against else (math.inf if odds else math.nan)
    return (float(top / bottom) if bottom else math.nan), ratio


# --- bootstrap -------------------------------------------------------------------------------------------------------


def one_answer_a_topic(useful: int, answers: int, level: float) -> tuple[float, float]:
    """Quantiles of Beta(k, n - k + 3/4) and Beta(k + 3/4, n - k), and no more than if nothing at all had gone wrong."""
    tail, z = (1 - level) / 2, NORMAL.inv_cdf((1 + level) / 2)
    low = float(special.betaincinv(useful, answers - useful + 0.75, tail)) if useful else 0.0
    high = float(special.betaincinv(useful + 0.75, answers - useful, 1 - tail)) if useful < answers else 1.0
    most = min(tail ** (1 / answers), answers / (answers + z * z))
    return min(low, most), max(high, 1 - most)


def with_an_unseen_topic(
    above: Sequence[float], below: Sequence[float], end: float, at: float, unseen: float = 0.75
) -> float:
    """P(the weighted ratio <= at), with weights Dirichlet(1, …, 1, unseen), the last of a topic whose ratio is `end`
    and whose denominator is the largest of the others.

    By Imhof's inversion: the ratio is at most `at` where a sum of gamma variables, each times above - at·below, is at
    most 0, and P(sum <= 0) = 1/2 - 1/pi ∫ sin(Σ k·atan(u·d)) / (u·Π(1 + u²d²)^(k/2)) du.
    """
    shapes = [1.0] * len(above) + [unseen]
    scales = [a - at * b for a, b in zip(above, below, strict=True)] + [(end - at) * max(below)]
    most = max(map(abs, scales))

    def integrand(u: float) -> float:
        angle = sum(k * math.atan(u * d / most) for k, d in zip(shapes, scales, strict=True))
        size = sum(k / 2 * math.log1p((u * d / most) ** 2) for k, d in zip(shapes, scales, strict=True))
        return math.sin(angle) / u * math.exp(-size)

    return 0.5 - float(integrate.quad(integrand, 1e-12, math.inf, limit=500)[0]) / math.pi


# --- trees of known probabilities ------------------------------------------------------------------------------------


def paths(parent: Sequence[int], probability: Sequence[Fraction]) -> Iterator[tuple[int, list[int], Fraction]]:
    """(end, nodes from the root, P(path)) of every way of positive probability, by recursion."""

    def down(node: int, way: list[int], reached: Fraction) -> Iterator[tuple[int, list[int], Fraction]]:
        children = [child for child in range(len(parent)) if parent[child] == node]
        stop = 1 - sum((probability[child] for child in children), Fraction(0))
        if reached * stop > 0:
            yield node, way, reached * stop
        for child in children:
            yield from down(child, [*way, child], reached * probability[child])

    return down(0, [0], Fraction(1))


def spread(
    ways: Sequence[tuple[int, list[int], Fraction]], score: Sequence[Fraction]
) -> tuple[list[Fraction], Fraction]:
    """E[Var(E[score|F_t]|F_{t-1})] for each turn t, and Var(score): sums over the classes of paths alike until t."""
    depth = max(len(way) for _, way, _ in ways) - 1

    def known(way: list[int], turn: int) -> tuple[int, ...]:
        ended = (-1,) if len(way) <= turn else ()
        return (*way[: turn + 1], *ended)

    def classes(turn: int) -> dict[tuple[int, ...], list[int]]:
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, (_, way, _) in enumerate(ways):
            found[known(way, turn)].append(number)
        return found

    def mean(members: Sequence[int]) -> Fraction:
        mass = sum((ways[i][2] for i in members), Fraction(0))
        return sum((ways[i][2] * score[i] for i in members), Fraction(0)) / mass

    terms = []
    for turn in range(1, depth + 1):
        inside = classes(turn)
        term = Fraction(0)
        for outer in classes(turn - 1).values():
            for members in inside.values():
                here = [i for i in members if i in outer]
                if here:
                    term += sum((ways[i][2] for i in here), Fraction(0)) * (mean(here) - mean(outer)) ** 2
        terms.append(term)
    everyone = range(len(ways))
    total = sum((ways[i][2] * (score[i] - mean(everyone)) ** 2 for i in everyone), Fraction(0))
    return terms, total


# --- shares whose answers come in topics -----------------------------------------------------------------------------


def effective(sums: Sequence[tuple[float, float]], pooled: bool) -> float:
    """How many independent answers vary as much, as docs/measures.md tells it.

    sums: (useful answers, answers) of each topic that gave any. p(1 - p)/Var with Var from the spread between topics,
    no less than the topics and no more than the answers; the number of topics where every answer was the same.
    """
    units = len(sums)
    answers = sum(below for _, below in sums)
    if pooled:
        value = sum(above for above, _ in sums) / answers
        residuals = [(above - value * below) * units / answers for above, below in sums]
    else:
        value = sum(above / below for above, below in sums) / units
        residuals = [above / below - value for above, below in sums]
    if value in (0, 1) or units == 1:
        return units
    variance = sum(residual**2 for residual in residuals) / (units - 1) / units
    return min(max(answers if variance == 0 else value * (1 - value) / variance, units), answers)
