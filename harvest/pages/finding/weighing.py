"""Weighing the signs for and against a candidate. Each sign has a weight in log-odds; the sum gives a probability."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from harvest.pages.finding.wordings import Wording
from harvest.pages.reading.page import Node


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element, its `score` (a probability), and the signs for it (`+ …`) and against it (`- …`), strongest
    first."""

    node: Node
    score: float
    reasons: tuple[str, ...]


class Scales:
    """The signs for and against one candidate. `start` is the log-odds before any sign is added."""

    def __init__(self, node: Node, start: float) -> None:
        self.node, self.sum = node, start
        self.signs: list[tuple[float, str]] = []

    def add(self, weight: float, reason: str) -> None:
        self.sum += weight
        self.signs.append((weight, reason))

    def candidate(self) -> Candidate:
        score = 1 / (1 + math.exp(-max(-30.0, min(30.0, self.sum))))
        signs = sorted(self.signs, key=lambda sign: -abs(sign[0]))
        return Candidate(self.node, round(score, 3), tuple(f"{'+' if w > 0 else '-'} {reason}" for w, reason in signs))


def nodes_around(node: Node, steps: int) -> list[Node]:
    return [parent for _, parent in zip(range(steps), node.ancestors())]


def is_shown(node: Node) -> bool:
    return node.box is not None and node.box.width >= 8 and node.box.height >= 8 and node.visible


def first_match(names: Iterable[str], wording: Wording) -> str:
    """Return the first name that contains the wording, cut to 60 characters, or "" if no name does."""
    return next((name[:60] for name in names if name in wording), "")


def join_words(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))
