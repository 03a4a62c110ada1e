"""`hedging`: Modesty as the distance between how sure a claim sounds and how correct it is ([SWAN] §4.9)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from scoring.notation import number_text
from scoring.swan.item import Item
from scoring.swan.rules.rule import Sight

__all__ = ["Hedging", "hedges"]

_HEDGE = re.compile(
    r"\b(?:may|might|could(?:\s+be|\s+have)?|perhaps|maybe|possibly|probably|presumably|likely|apparently|seem(?:s"
    r"|ed)?|appear(?:s|ed)?\s+to"
    r"|I\s+(?:think|believe|guess|suppose|assume|suspect)|as\s+far\s+as\s+I\s+know|to\s+my\s+knowledge"
    r"|in\s+my\s+(?:opinion|view)"
    r"|not\s+(?:entirely\s+|completely\s+|quite\s+)?(?:sure|certain)|it\s+is\s+(?:possible|unclear)|roughly"
    r"|approximately|around\s+[0-9]|about\s+[0-9]"
    r"|some(?:what|times)|tends?\s+to|suggests?|if\s+I\s+(?:recall|remember))\b",
    re.IGNORECASE,
)
_NOT_A_HEDGE = re.compile(r"\b(?:in|on|of|since|until|by|early|late|mid)[\s-]+May\b|\bMay\s+[0-9]")


def hedges(text: str) -> bool:
    """Whether an English claim says that it may not be so. The month of May does not count as a hedge."""
    cleaned = _NOT_A_HEDGE.sub(" ", text.replace("’", "'"))
    return _HEDGE.search(cleaned) is not None


@dataclass(frozen=True, slots=True)
class Hedging:
    """1 - |confidence - Correctness| for each claim whose Correctness has been scored; silent on all others.

    hedged: the confidence of a claim with a hedge in it, in [0, 1]; a claim without one has confidence 1. So a false
    claim stated flatly scores 0, and a true one that is hedged loses 1 - hedged.
    """

    hedged: float = 0.5
    level: ClassVar[Literal["nugget"]] = "nugget"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("Correctness",)
    limits: ClassVar[str] = (
        "needs Correctness to be scored; knows English hedges inside the claim, not doubt that stands elsewhere"
    )

    def __post_init__(self) -> None:
        if not 0 <= self.hedged <= 1:
            raise ValueError("hedged is a number from 0 to 1")

    def scores(self, sight: Sight) -> Iterator[tuple[Item, float]]:
        correct = sight.known.get("Correctness", {})
        for item in sight.items:
            if item in correct:
                confidence = self.hedged if hedges(sight.text(item)) else 1.0
                yield item, 1.0 - abs(confidence - correct[item])

    def __str__(self) -> str:
        return f"hedging(hedged={number_text(self.hedged)})"
