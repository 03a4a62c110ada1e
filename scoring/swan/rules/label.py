"""`label`: Sufficiency as the protocol's own rule saw it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.swan.rules.rule import Sight, Verdict


@dataclass(frozen=True, slots=True)
class Label:
    """1 for a turn the protocol labelled `o` (useful), 0 for `x`; silent on a turn without a label."""

    level: ClassVar[Literal["turn"]] = "turn"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "sees that a turn holds something of the asked kind, not whether it is all that was asked for"
    )
    silence: ClassVar[str] = "the protocol gave the turn no label"

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        labels = {turn.number: turn.label for turn in sight.conversation.turns}
        for item in sight.items:
            label = labels.get(item.turn)
            if label in (USEFUL, NOT_USEFUL):
                yield Verdict(item, float(label == USEFUL))

    def __str__(self) -> str:
        return "label"
