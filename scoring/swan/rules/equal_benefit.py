"""`equal_benefit`: Fair treatment as the same share of useful turns for all groups of users ([SWAN] §4.14)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.swan.rules.rule import SetSight, SetVerdict

_LEAST = 3  # labelled turns of a group


@dataclass(frozen=True, slots=True)
class EqualBenefit:
    """1 - (greatest - least share of turns labelled `o`) over the groups with 3 labelled turns or more."""

    level: ClassVar[Literal["set"]] = "set"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "sees labels alone, and takes chance for unfairness where groups have few turns: `harvest simulate groups` "
        "tests the difference"
    )
    silence: ClassVar[str] = "fewer than two groups with 3 labelled turns on the topic"

    def score(self, sight: SetSight) -> SetVerdict | None:
        shares: dict[str, float] = {}
        for name, group in sight.groups.items():
            labels = [turn.label for one in group for turn in one.conversation.turns]
            known = [label for label in labels if label in (USEFUL, NOT_USEFUL)]
            if len(known) >= _LEAST:
                shares[name] = known.count(USEFUL) / len(known)
        if len(shares) < 2:
            return None
        worst, best = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
        because = f"useful {shares[best]:.2f} for {best}, {shares[worst]:.2f} for {worst}"
        if shares[best] == shares[worst]:
            because = f"useful {shares[best]:.2f} for all {len(shares)} groups"
        return SetVerdict(1 - (shares[best] - shares[worst]), because)

    def __str__(self) -> str:
        return "equal_benefit"
