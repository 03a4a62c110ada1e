"""`hedging`: Modesty as the distance between the confidence of a claim and its correctness ([SWAN] §4.9)."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from scoring.notation import number_text
from scoring.swan.extraction import is_english
from scoring.swan.item import Item
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern
from topics.sentences import sentences

_HEDGE = lazy_pattern(
    r"\b(?:may(?!\s+(?:enter|use|go|leave|ask|take|bring|sit)\b)|might|could\s+(?:be|have|well)|perhaps|maybe|possibly"
    r"|probably|presumably|likely|apparently|allegedly|reportedly|supposedly|seem(?:s|ed)?|appear(?:s|ed)?\s+to"
    r"|I\s+(?:think|believe|guess|suppose|assume|suspect)|as\s+far\s+as\s+I\s+know|to\s+my\s+knowledge"
    r"|in\s+my\s+(?:opinion|view)|my\s+(?:best\s+)?guess|I\s+(?:would|'d)\s+say"
    r"|I\s+(?:can't|cannot|could\s+not|couldn't)\s+(?:verify|be\s+sure|confirm|say\s+for)"
    r"|not\s+(?:entirely\s+|completely\s+|quite\s+)?(?:sure|certain)|it\s+is\s+(?:possible|unclear)|roughly"
    r"|approximately|(?:around|about|some)\s+[0-9][\d.,]*\s+(?!sides?\b)|give\s+or\s+take"
    r"|somewhat|tends?\s+to|suggests?|if\s+I\s+(?:recall|remember))\b",
    re.IGNORECASE,
)
_NOT_A_HEDGE = lazy_pattern(
    r"\b(?:in|on|of|since|until|by|early|late|mid)[\s-]+May\b|\bMay\s+[0-9]|(?<=[a-z]\s)May\b|(?<=[.!?]\s)May\s+(?=[A-Z])"
    r"|\b(?:the|its|his|her|their|our)\s+might\b|\b(?:the|a|an|this|that|most)\s+likely\s+\w+|\bLikely\s+(?=[A-Z])"
    r"|\b(?:not|never|n't|no)\s+(?:possible|possibly|perhaps|maybe|probably|likely)\b"
)


def has_hedge(text: str) -> bool:
    """Return whether an English claim expresses doubt. Quotations, negated doubt, and May as month or name do not
    count."""
    return _HEDGE.search(_NOT_A_HEDGE.sub(" ", blank_quotations(text))) is not None


def judge(confidence: float, sight: Sight) -> Iterator[Verdict]:
    """Score 1 - |confidence - Correctness| for each hedged claim, and Correctness for each claim without a hedge."""
    correct = sight.known.get("Correctness", {})
    around = _Sentences(sight)
    for item in sight.items:
        sentence = around.sentence_of(item)
        if item in correct and is_english(sentence):
            hedged = has_hedge(sentence)
            value = 1.0 - abs((confidence if hedged else 1.0) - correct[item])
            yield Verdict(item, value, "with a hedge" if hedged else "stated flatly")


def hedging_rule(hedged: float = 0.5) -> Rule:
    """Score 1 - |confidence - Correctness| for each claim whose Correctness has been scored.

    Other claims get no score. A claim with a hedge has the confidence `hedged`, in [0, 1], and a claim without a
    hedge has confidence 1. So a false claim without a hedge scores 0, and a true claim with a hedge scores `hedged`.
    """
    if not 0 <= hedged <= 1:
        raise ValueError("`hedged` must be a number from 0 to 1")
    return Rule(
        name=f"hedging(hedged={number_text(hedged)})",
        version="2",
        level="nugget",
        needs=("Correctness",),
        limits="needs Correctness to be scored; knows English hedges in the claim's own sentence, not doubt that "
        "stands elsewhere",
        silence="nobody scored the Correctness of the claim, or it is not English",
        judge=partial(judge, hedged),
    )


class _Sentences:
    """The sentences of each turn, split once. Hedges often come in the clause before the claim (`I am not sure, but
    …`)."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._known: dict[int, tuple[str, list[tuple[int, int]]]] = {}

    def sentence_of(self, item: Item) -> str:
        if item.turn not in self._known:
            text = self._sight.text(replace(item, start=-1, end=-1))
            self._known[item.turn] = text, [(one.start, one.end) for one in sentences(text)]
        text, spans = self._known[item.turn]
        place = bisect_right(spans, (item.start, len(text))) - 1
        return text[slice(*spans[place])] if place >= 0 else self._sight.text(item)
