"""Comparisons of standardised scores, from the comparison of the scores themselves."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.comparison.compared_pairs import compare_pairs
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.figure import Good
from scoring.inference.aligned import align
from scoring.settings import Guard
from scoring.statistics.standardisation import FEWEST_SYSTEMS, Standard, largest_difference, standardise
from topics.counting import pluralize


@dataclass(frozen=True, slots=True)
class Standardised:
    """A comparison of standardised scores. `note` says for how many topics the scores are undefined, and why, or is
    ""."""

    measure: MeasureComparison
    note: str


def compare_standardised(
    plain: MeasureComparison,
    scores: Mapping[str, Mapping[str, float]],
    reference: Sequence[str],
    rng: np.random.Generator,
    *,
    form: Standard,
    level: float,
    good: Good,
    guard: Guard,
    clusters: Mapping[str, str] | None = None,
    continued: Collection[str] = (),
) -> Standardised:
    """Compare the systems of `plain` by their standardised scores, over the same topics.

    `scores` has the score of each system on each topic, for the compared systems and for the systems of the `reference`
    group. `continued` names the systems whose sessions continue from topic to topic. The other arguments are those of
    `compare_pairs`. The interval is one for topics like these: a topic's standardised scores are one draw. There is no
    interval if that assumption fails, and none if attempts were lost, since the bounds of standardised scores are
    unknown.
    """
    systems = tuple(plain.figures)
    own, group = (
        np.array([[scores[name].get(topic, math.nan) for name in names] for topic in plain.topics]).reshape(
            -1, len(names)
        )
        for names in (systems, reference)
    )
    found = standardise(own, group, form)
    cells = {
        name: {(topic, 1): (value, 1.0) for topic, value in zip(plain.topics, column.tolist(), strict=True)}
        for name, column in zip(systems, found.T, strict=True)
    }
    counts = (~np.isnan(group)).sum(axis=1)
    members = set(systems) <= set(reference)
    on = {*continued} & {*systems, *reference}
    compared = compare_pairs(
        f"{form}({plain.measure})",
        plain.turn,
        align(plain.topics, systems, cells, pooled=False, clusters=clusters),
        rng,
        estimand=plain.estimand,
        level=level,
        good=good,
        reach=largest_difference(form, int(counts.max(initial=FEWEST_SYSTEMS)), members=members),
        topic_type=plain.topic_type,
        guard=guard,
        withheld={(pair.first, pair.second): _reason_withheld(plain, pair, on) for pair in plain.pairs},
    )
    few = int((counts < FEWEST_SYSTEMS).sum())
    alike = int(np.isnan(found[counts >= FEWEST_SYSTEMS]).any(axis=1).sum())
    reasons = []
    if few:
        reasons.append(f"{pluralize(few, 'topic')} with scores of fewer than {FEWEST_SYSTEMS} systems of the reference")
    if alike:
        reasons.append(f"{pluralize(alike, 'topic')} on which all systems of the reference have the same score")
    note = f"{compared.label}: no value on {' and '.join(reasons)}" if reasons else ""
    left_out = (*plain.left_out, *compared.left_out)
    return Standardised(replace(compared, trials=plain.trials, left_out=left_out, standardised=True), note)


def _reason_withheld(plain: MeasureComparison, pair: Pair, continued: Collection[str]) -> str:
    if plain.estimand == "these":
        return "a standardised score also varies with the trials of the other systems, so more trials are no more of it"
    if continued:
        return f"sessions of {', '.join(sorted(continued))} go on from topic to topic, so standardised scores do, too"
    if pair.bounds is not None:
        return "attempts were lost, and the bounds of standardised scores are not known"
    # Exchanging sides has no p only if trials are alike in time: then no interval of any figure is right.
    return pair.interval.note if math.isnan(pair.p) and not math.isnan(pair.value) else ""
