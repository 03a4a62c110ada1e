"""Items and scores that the SWAN tests share."""

from __future__ import annotations

from scoring.swan.item import Item, ScoredItem, Source

HUMAN = Source("human", "anna")


def item(position: int = 1, *, seen: int = 0, final: bool = False, turn: int = 1) -> Item:
    return Item(turn, position - 1, position, "F", position, seen, final)


def scored(*pairs: tuple[int, float]) -> list[ScoredItem]:
    """(position, score) each."""
    return [ScoredItem(item(position, seen=seen), score, HUMAN) for seen, (position, score) in enumerate(pairs)]
