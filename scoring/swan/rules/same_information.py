"""`same_information`: Robustness as coming to the same information in all conversations on a need ([SWAN] §4.18)."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from scoring.swan.rules.information import Information, mean_alike
from scoring.swan.rules.rule import SetSight, SetVerdict


@dataclass(frozen=True, slots=True)
class SameInformation:
    """The mean, over pairs of conversations, of the share of names, numbers and links of the one that gave fewer which
    the other gave too; 0 for a pair that contradicts each other, or of which one refused. Over all arms, if the system
    was played in arms.
    """

    level: ClassVar[Literal["set"]] = "set"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "compares names, numbers, links, yes and no; blind to the same said in other words, and takes the system's own "
        "chance for a lack of robustness"
    )
    silence: ClassVar[str] = "fewer than two conversations with information that can be compared"

    def score(self, sight: SetSight) -> SetVerdict | None:
        given = [Information.of(one) for one in sight.every]
        value, pairs = mean_alike(combinations(given, 2))
        return SetVerdict(value, f"over {pairs} of {len(given) * (len(given) - 1) // 2} pairs") if pairs else None

    def __str__(self) -> str:
        return "same_information"
