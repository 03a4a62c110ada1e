"""The estimates of `scoring` against what is true of a parrot: 95% intervals hold the truth at least so often.

For each of 200 seeds, 45 topics × 5 trials are played with fresh sessions, and the intervals over all topics and trials
are taken as `score` gives them. The number of the 200 that hold the truth is Binomial(200, c), c the coverage, so at
c = .95 it lies in the central 99.9% region, 179 to 198, with a probability of at least .999 for each count. It may lie
above: the intervals allow for a kind of topic that was not asked, and a parrot has none. With the seeds written below
nothing is left to chance: a count changes only when code changes. `make test` plays the first 10, `make soak` all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from harvest.parrot.parrot import Catalogue, Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation
from scoring.inference.bootstrap import Resampler
from scoring.measures.relevance import relevance
from scoring.measures.usefulness import labels, recovery_cells, share, useful_cells
from scoring.nuggets import find_nuggets
from scoring.scores import score
from scoring.settings import Settings
from simulators.scripted import ScriptedUser
from tests.support.parrot_truth import truth
from tests.support.rehearsal import rehearse
from topics.gold import GoldTable
from topics.library import load_gold, load_topics

SEEDS, FIRST, TRIALS, LEVEL = 200, 10, 5, 0.95
TOPICS = load_topics("fairweb-45")
PROTOCOL = load_protocol("fairweb-two-round")
SETTINGS = Settings()

Estimate = tuple[float, float, float]
"""(value, low, high) over all topics and trials."""


@cache
def gold() -> GoldTable:
    return load_gold("parrot", TOPICS)


@cache
def catalogue() -> Catalogue:
    return load_catalogue("parrot", TOPICS)


def central_region(n: int, p: float, mass: float) -> tuple[int, int]:
    """The counts left when each tail of Binomial(n, p) gives up at most (1 - mass)/2."""
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    tail = (1 - mass) / 2
    low = next(k for k in range(n + 1) if math.fsum(chances[: k + 1]) > tail)
    high = next(k for k in range(n, -1, -1) if math.fsum(chances[k:]) > tail)
    return low, high


def played(profile: str, seed: int) -> list[Conversation]:
    parrot = Parrot(catalogue(), PROFILES[profile])
    return list(rehearse(parrot, ScriptedUser(PROTOCOL), TOPICS.topics, trials=TRIALS, seed=seed))


def estimates(conversations: Iterable[Conversation], seed: int) -> dict[str, Estimate]:
    """What `score` says over everything, without the 3,000 rows that are not asked for here."""
    place = {topic.id: row for row, topic in enumerate(TOPICS.topics)}
    shape = (len(place), TRIALS)
    useful, recovered, failed, gained = np.empty((*shape, 2)), np.empty(shape), np.empty(shape), np.empty(shape)
    for conversation in conversations:
        key = conversation.key
        at = place[key.topic], key.trial - 1
        row = labels(conversation, 2)
        useful[at] = useful_cells(row)
        recovered[at], failed[at] = recovery_cells(row)
        nuggets = find_nuggets(conversation, TOPICS.topics[at[0]], gold(), TOPICS.attributes, SETTINGS)
        gained[at] = relevance(nuggets, SETTINGS.patience)
    found: dict[str, Estimate] = {}
    parts = {
        "%useful 1": (useful[:, :, 0], np.ones(shape), False),
        "%useful 2": (useful[:, :, 1], np.ones(shape), False),
        "ave%useful": (useful.sum(axis=2), np.full(shape, 2.0), False),
        "%recovery": (recovered, failed, True),
    }
    for name, (above, below, pooled) in parts.items():
        result = share(list(place), above, below, np.zeros(shape, bool), level=LEVEL, pooled=pooled)
        found[name] = result.value, result.interval.low, result.interval.high
    resampler = Resampler(np.random.default_rng(seed), level=LEVEL)
    interval = resampler.means(list(place), gained[:, :, None], top=math.inf)[0]
    found["R"] = float(gained.mean()), interval.low, interval.high
    return found


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_the_short_way_to_the_estimates_agrees_with_score(seed: int) -> None:
    conversations = played("erratic", seed)
    table = score(conversations, TOPICS, gold(), SETTINGS, np.random.default_rng(seed), turns=2)
    whole = {
        row.measure + (f" {row.turn}" if row.turn else ""): (row.value, row.low, row.high)
        for row in table.select(topic=None, topic_type=None, trial=None)
    }
    for name, estimate in estimates(conversations, seed).items():
        assert estimate == pytest.approx(whole[name], rel=1e-12), name


def test_the_central_region_is_the_one_in_the_text() -> None:
    assert central_region(SEEDS, LEVEL, 0.999) == (179, 198)


def test_intervals_cover_the_truth_at_least_95_times_in_100() -> None:
    hold_the_truth("erratic", FIRST)


@pytest.mark.soak
@pytest.mark.parametrize("profile", ["steady", "erratic"])
def test_intervals_cover_the_truth_over_all_seeds(profile: str) -> None:
    hold_the_truth(profile, SEEDS)


def hold_the_truth(profile: str, seeds: int) -> None:
    true = truth(PROFILES[profile], PROTOCOL, TOPICS.topics, catalogue())
    wanted = {
        "%useful 1": true.useful[0],
        "%useful 2": true.useful[1],
        "ave%useful": true.average,
        "%recovery": true.recovery,
        "R": true.relevance,
    }
    held = dict.fromkeys(wanted, 0)
    values: dict[str, list[float]] = {name: [] for name in wanted}
    for seed in range(seeds):
        for name, (value, low, high) in estimates(played(profile, seed), seed).items():
            held[name] += low <= wanted[name] <= high
            values[name].append(value)
    low, _ = central_region(seeds, LEVEL, 0.999)
    assert {name: count for name, count in held.items() if count < low} == {}, held
    # Many runs together pin the mean down far more closely than one: no bias hides behind wide intervals.
    for name, seen in values.items():
        error = np.std(seen, ddof=1) / seeds**0.5
        assert np.mean(seen) == pytest.approx(wanted[name], abs=4 * error), name
