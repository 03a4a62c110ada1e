"""The bias card of a judge: sentences about its biases, found by comparison with people's judgments.

Topics are split into halves *dev* and *test* by a hash of their names, so that a prompt can be improved on people's
judgments of one half and validated on the other half. The halves are the same in every run and for every judge.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harvest.judging.models.questions import PREFERENCE
from recordings.judged.judgments import Judgment
from scoring.simulation.reliability import kendall_tau
from topics.counting import pluralize
from topics.decimals import decimal, percent
from topics.identity import content_hash

# The fewest things for which a correlation is reported.
_FEWEST_THINGS = 10
# The most things that it uses; if there are more, every k-th.
_MOST_THINGS = 1000


@dataclass(frozen=True, slots=True)
class Item:
    """A judgment of one thing, with its number of words and the mean of people's scores (None if nobody scored it)."""

    judgment: Judgment
    topic: str
    system: str
    words: int
    people: float | None = None


def topic_half(topic: str) -> str:
    """Return the half to which a topic belongs, `dev` or `test`."""
    return "dev" if int(content_hash("harvest-half", topic, size=8), 16) % 2 else "test"


def model_vendor(model: str) -> str:
    """Return the part of a model's name before its first slash, hyphen, colon, dot, space or digit, in lower case."""
    name = model.lower()
    end = next((place for place, letter in enumerate(name) if letter in "/-:. " or letter.isdigit()), len(name))
    return name[:end]


def bias_sentences(items: Sequence[Item], vendor: str, system_texts: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield sentences on biases, by criterion. `vendor` made the judge; `system_texts` has each system's models."""
    for criterion in dict.fromkeys(one.judgment.criterion for one in items):
        own = [one for one in items if one.judgment.criterion == criterion]
        yield from (f"{criterion}: {sentence}" for sentence in _criterion_sentences(own))
    same = sorted(system for system, models in system_texts.items() if vendor and vendor in map(model_vendor, models))
    if same:
        yield f"own maker: {', '.join(same)} answered as a model of the judge's maker ({vendor})"


def order_sentences(judgments: Iterable[Judgment]) -> Iterator[str]:
    """Yield a sentence on how often the two orders of a pair agree, and how often the conversation shown first won."""
    pairs = [one for one in judgments if one.criterion == PREFERENCE and not one.unjudged and len(one.samples) > 1]
    straight = [(one.samples[::2], one.samples[1::2]) for one in pairs]
    both = [(a, b) for firsts, seconds in straight for a, b in zip(firsts, seconds, strict=True) if a and b]
    if both:
        alike = sum(a == b for a, b in both)
        # In the original order the left one is shown first, in reverse the right one.
        first = sum((a == "left") + (b == "right") for a, b in both)
        decided = sum((a in ("left", "right")) + (b in ("left", "right")) for a, b in both)
        won = f"; the one shown first won {percent(first / decided)} of {decided}" if decided else ""
        yield f"order: {percent(alike / len(both))} of {pluralize(len(both), 'pair')} said alike in both orders{won}"


def _criterion_sentences(items: Sequence[Item]) -> Iterator[str]:
    scored = [(one, float(one.judgment.value)) for one in items if isinstance(one.judgment.value, (int, float))]
    repeats = [first == second for one in items for first, second in combinations(one.judgment.samples, 2)]
    if repeats:
        yield f"repeat: {percent(sum(repeats) / len(repeats))} of two samples of one thing say the same"
    if len(scored) >= _FEWEST_THINGS:
        found = _correlation([(float(one.words), value) for one, value in scored])
        shared = [(float(one.words), one.people) for one, _ in scored if one.people is not None]
        beside = ""
        if len(shared) >= _FEWEST_THINGS:
            theirs = _correlation(shared)
            beside = f"; people's {_signed_decimal(theirs)} (n={len(shared)})"
        yield f"length: its scores go with the number of words by {_signed_decimal(found)} (n={len(scored)}){beside}"
    for half in ("dev", "test"):
        pairs = [
            (value, one.people) for one, value in scored if one.people is not None and topic_half(one.topic) == half
        ]
        if pairs:
            gap = math.fsum(value - theirs for value, theirs in pairs) / len(pairs)
            equal = sum(value == theirs for value, theirs in pairs) / len(pairs)
            off = decimal(gap, 2, signed=True)
            yield f"{half} topics: {off} from people, {percent(equal)} equal (n={len(pairs)})"


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    some = pairs[:: -(-len(pairs) // _MOST_THINGS)]
    return kendall_tau([first for first, _ in some], [second for _, second in some])


def _signed_decimal(value: float) -> str:
    return decimal(value, 2, signed=True)
