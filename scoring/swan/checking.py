"""Check a model's WAN against people's judgments of some of the same items, and correct or mark it.

If people judged at least two items of each topic, the WAN of a system becomes an estimate of the mean that people
would give, based on the model's scores of all items and people's scores of some
(`scoring.inference.prediction_powered`). Otherwise the model's value is kept and marked as unchecked. Items are
weighted as in the mean over sessions: by position within a conversation, with equal weights for the conversations of
a topic and for topics.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.inference.design import Design
from scoring.inference.interval import Interval, no_interval
from scoring.inference.prediction_powered import (
    FEWEST_OF_PEOPLE,
    FEWEST_TUNED,
    ComparedItems,
    CorrectedMean,
    corrected_mean,
)
from scoring.swan.assessment import Assessment, Check
from scoring.swan.weighting import Places, Weighting
from topics.counting import pluralize

_MOST_NAMED = 3  # in a message
_OF_THESE = "what people judged speaks of topics like these"
_CONTINUED = "sessions go on through the topics, and people's judgments are too few a session"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The corrected mean, if it can be computed, and the reasons against it. `missing` names the topics with fewer
    than two judged items. `declined` counts the items to which people found the criterion not applicable."""

    found: CorrectedMean | None
    missing: tuple[str, ...]
    declined: int

    def sentence(self, name: str) -> str:
        """Return a sentence on the check of the figure called `name`."""
        if self.found is None:
            listed = ", ".join(self.missing[:_MOST_NAMED])
            more = f" and {len(self.missing) - _MOST_NAMED} more" if len(self.missing) > _MOST_NAMED else ""
            return (
                f"{name} is a model's figure, unchecked: people judged fewer than {FEWEST_OF_PEOPLE} things of "
                f"{pluralize(len(self.missing), 'topic')} ({listed}{more})."
            )
        one = self.found
        alone = f"people's {one.checked} alone give {_figure_text(one.people, one.people_interval)}"
        model = f"models alone {one.judge:.4f}"
        only = (
            f" People say of {pluralize(self.declined, 'thing')} that it does not apply, so that theirs alone count."
            if self.declined
            else ""
        )
        return (
            f"{name} is corrected by people: {_figure_text(one.value, one.interval)} over "
            f"{pluralize(one.items, 'thing')} (power {one.power:.2f}); {alone}, {model}.{only}{self._gain(one)}"
        )

    @staticmethod
    def _gain(one: CorrectedMean) -> str:
        """Return by how much the model shortens the interval, in words, or that it does not."""
        own, alone = (each.high - each.low for each in (one.interval, one.people_interval))
        if not alone > 0 or math.isnan(own):
            return ""
        if one.units < FEWEST_TUNED:
            return (
                f" The model does not count: fewer than {FEWEST_TUNED} topics (or clusters) cannot show, without bias, "
                "how well it follows people."
            )
        shorter = round(100 * (1 - own / alone))
        if shorter < 1:
            return " The model adds nothing here: the interval is no shorter than that of people's judgments alone."
        return f" The model makes the interval {shorter}% shorter."


def check_criterion(
    assessments: Iterable[Assessment], criterion: str, weighting: Weighting, *, level: float, design: Design
) -> CheckResult | None:
    """Check one criterion over the conversations of one system. Returns None if no item was scored by a model."""
    topics: dict[str, list[tuple[Check, ...]]] = {}
    for one in assessments:
        checks = one.checks.get(criterion, ())
        if checks:
            topics.setdefault(one.key.topic, []).append(checks)
    every = [one for talks in topics.values() for checks in talks for one in checks]
    if not any(one.by_model for one in every):
        return None
    declined = sum(one.people is not None and (one.people.value is None or one.people.share < 1) for one in every)
    compared = {topic: _compare_talks(talks, weighting) for topic, talks in topics.items()}
    compared = {topic: one for topic, one in compared.items() if one.weights.any()}
    missing = tuple(topic for topic, one in compared.items() if one.checked < FEWEST_OF_PEOPLE)
    if missing or not compared:
        return CheckResult(None, missing, declined)
    clusters = design.rows(list(compared))[1].tolist()
    found = corrected_mean(list(compared.values()), level=level, tuned=not declined, clusters=clusters)
    if design.is_about_these_topics or design.continued:
        none = no_interval(_OF_THESE if design.is_about_these_topics else _CONTINUED)
        found = replace(found, interval=none, people_interval=none)
    return CheckResult(found, (), declined)


def _compare_talks(talks: Sequence[tuple[Check, ...]], weighting: Weighting) -> ComparedItems:
    judge: list[float] = []
    people: list[float] = []
    weights: list[float] = []
    for checks in talks:
        own = weighting.weights(Places.from_items([one.item for one in checks]))
        whole = float(own.sum())
        for one, weight in zip(checks, own.tolist(), strict=True):
            share = 1.0 if one.people is None else one.people.share
            judge.append(_nan_if_none(one.judge))
            people.append(_nan_if_none(one.people.value if one.people is not None else None))
            weights.append(share * weight / whole if whole > 0 else 0.0)
    return ComparedItems(np.array(judge), np.array(people), np.array(weights))


def _nan_if_none(value: float | None) -> float:
    return math.nan if value is None else value


def _figure_text(value: float, ends: Interval) -> str:
    if math.isnan(ends.low):
        return f"{value:.4f} (no interval: {ends.note})"
    return f"{value:.4f} [{ends.low:.4f}, {ends.high:.4f}] (width {ends.high - ends.low:.4f})"
