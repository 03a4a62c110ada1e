"""Estimate preferences between systems from completed sheets of blind pairs.

A judgment counts 1 if the first system is preferred, 1/2 for a tie, and 0 otherwise. Judgments are averaged within
a pair, then pairs within a topic, and then topics. People who judge more pairs therefore have no more weight. The
interval is for topics like these. The interval and the test treat topics of one cluster as one unit. Unsure
judgments are only counted.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike

from harvest.studies.pairs.blind_pairs import KeptPair, PairKey
from scoring.annotations.agreement import Agreement, agreement
from scoring.inference.interval import Interval
from scoring.inference.prediction_powered import compare_with_half, is_side_preferred
from scoring.statistics.exchange import holm_correction
from topics.document import read_json_document
from topics.errors import InputError, Place
from topics.identity import generator

_VALUES: Mapping[str, float | None] = {"left": 1.0, "tie": 0.5, "right": 0.0, "unsure": None}
# The number of a pair, who judged it, and the choice: `left`, `right`, `tie` or `unsure`.
GivenJudgment = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class PreferenceResult:
    """A preference between two systems.

    `value` is the preference for `first`, in [0, 1]: 1/2 means no preference, and NaN means no judgments.
    `by_topic` has the value of each topic. `p` is two-sided, from exchanging the systems within topics.
    `p_corrected` is corrected over all pairs of systems (Holm). `told` is true if `p_corrected` is small enough and
    the interval excludes 1/2. `judged`, `pairs`, `topics` and `clusters` count the judgments and units behind the
    value. A topic without a cluster counts as a cluster. `wins` are judgments for `first`, and `losses` judgments
    against `first`.
    """

    first: str
    second: str
    value: float
    interval: Interval
    p: float
    p_corrected: float
    told: bool
    judged: int
    pairs: int
    topics: int
    clusters: int
    wins: int
    ties: int
    losses: int
    unsure: int
    by_topic: Mapping[str, float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Side:
    """How often the conversation on the left is preferred, over the `decided` judgments (neither tie nor unsure).
    `who` is a person, or "" for all people. `share` is a mean over pairs, in [0, 1], or NaN if no judgment is
    decided. `p` is the probability that random sides give a share at least as far from 1/2."""

    who: str
    share: float
    interval: Interval
    p: float
    decided: int


@dataclass(frozen=True, slots=True)
class PreferenceStudy:
    """The preferences of `people` about the `handed_out` pairs in the key, of which `unjudged` have no judgment."""

    key: PairKey
    level: float
    seed: int
    people: tuple[str, ...]
    handed_out: int
    unjudged: int
    systems: tuple[PreferenceResult, ...]
    sides: tuple[Side, ...]
    agreement: Agreement


def read_key(path: str | PathLike[str]) -> PairKey:
    """Read the key of a sheet of blind pairs. Raises InputError for an invalid file."""
    key = read_json_document(path, PairKey, "the key of a sheet of pairs", "harvest judge pairs RUN --out FILE")
    for number, pair in key.pairs.items():
        if not (number.isascii() and number.isdecimal()) or pair.left == pair.right:
            raise InputError(
                f"pair {number!r} must have a number and two different systems",
                place=Place(str(path)),
                advice="restore the key as it was written",
            )
    return key


def preferences(
    key: PairKey,
    said: Sequence[GivenJudgment],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> PreferenceStudy:
    """Estimate preferences from the judgments `said`. `clusters` maps topics to their clusters; None means the
    clusters of the key. `level`, in (0, 1), is the confidence level of intervals. Raises InputError if one
    person judged a pair twice."""
    judged: dict[int, dict[str, str]] = {}
    for number, who, choice in said:
        if who in judged.setdefault(number, {}):
            raise InputError(f"{who} judged pair {number} in two sheets", advice="give only each person's newest sheet")
        judged[number][who] = choice
    pairs, within = key.numbered(), key.clusters if clusters is None else clusters
    found = [
        _preference_between(first, second, pairs, judged, within, level, seed)
        for first, second in combinations(key.systems, 2)
        if any({pair.left, pair.right} == {first, second} for pair in pairs.values())
    ]
    tested = [i for i, one in enumerate(found) if not math.isnan(one.p)]
    for i, corrected in zip(tested, holm_correction([found[i].p for i in tested]), strict=True):
        told = is_side_preferred(found[i].interval, corrected, level=level)
        found[i] = replace(found[i], p_corrected=corrected, told=told)
    people = tuple(sorted({who for _, who, _ in said}))
    return PreferenceStudy(
        key=key,
        level=level,
        seed=seed,
        people=people,
        handed_out=len(pairs),
        unjudged=len(pairs.keys() - judged.keys()),
        systems=tuple(found),
        sides=tuple(_side_bias(who, judged, level, seed) for who in (("", *people) if len(people) > 1 else ("",))),
        agreement=agreement(
            [[_VALUES[one] for one in own.values()] for own in judged.values()],
            [_topic_unit(pairs[number].topic, within) for number in judged],
            level=level,
        ),
    )


def _preference_between(
    first: str,
    second: str,
    pairs: Mapping[int, KeptPair],
    judged: Mapping[int, Mapping[str, str]],
    clusters: Mapping[str, str],
    level: float,
    seed: int,
) -> PreferenceResult:
    counted: Counter[str] = Counter()
    by_topic: dict[str, list[float]] = {}
    for number, pair in pairs.items():
        if {pair.left, pair.right} != {first, second}:
            continue
        values = []
        for choice in judged.get(number, {}).values():
            value = _VALUES[choice]
            if value is None:
                counted["unsure"] += 1
                continue
            values.append(value if pair.left == first else 1 - value)
            counted[{1.0: "win", 0.5: "tie", 0.0: "loss"}[values[-1]]] += 1
        if values:
            by_topic.setdefault(pair.topic, []).append(sum(values) / len(values))
    means = {topic: sum(values) / len(values) for topic, values in by_topic.items()}
    units = [_topic_unit(topic, clusters) for topic in means]
    rng = generator(seed, "preferences", first, second)
    tested = compare_with_half(list(means.values()), rng, level=level, clusters=units)
    return PreferenceResult(
        first=first,
        second=second,
        value=tested.value,
        interval=tested.interval,
        p=tested.p,
        p_corrected=math.nan,
        told=False,
        judged=counted["win"] + counted["tie"] + counted["loss"],
        pairs=sum(map(len, by_topic.values())),
        topics=len(means),
        clusters=len(set(units)),
        wins=counted["win"],
        ties=counted["tie"],
        losses=counted["loss"],
        unsure=counted["unsure"],
        by_topic=means,
    )


def _side_bias(who: str, judged: Mapping[int, Mapping[str, str]], level: float, seed: int) -> Side:
    each, decided = [], 0
    for own in judged.values():
        chosen = [choice for name, choice in own.items() if choice in ("left", "right") and who in ("", name)]
        decided += len(chosen)
        if chosen:
            each.append(chosen.count("left") / len(chosen))
    tested = compare_with_half(each, generator(seed, "side", who), level=level, unit="pair")
    return Side(who, tested.value, tested.interval, tested.p, decided)


def _topic_unit(topic: str, clusters: Mapping[str, str]) -> tuple[str, str]:
    return ("cluster", clusters[topic]) if topic in clusters else ("topic", topic)
