"""`agreeing_trials`: Consistency over the conversations of a system on a need ([SWAN] §4.16: across conversations)."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from scoring.swan.rules.information import Information, agreement
from scoring.swan.rules.rule import SetSight, SetVerdict


@dataclass(frozen=True, slots=True)
class AgreeingTrials:
    """Of the pairs of conversations that make a claim of the same normal form: the share in which none contradicts."""

    level: ClassVar[Literal["set"]] = "set"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "compares claims in the same words but for numbers, dates and negation, as `contradiction` does; blind to "
        "names and to other words"
    )
    silence: ClassVar[str] = "no claim is made in the same words in two conversations"

    def score(self, sight: SetSight) -> SetVerdict | None:
        told = [
            one for pair in combinations([Information.of(one) for one in sight.own], 2) if (one := agreement(*pair))
        ]
        if not told:
            return None
        agree = sum(False not in one for one in told)
        return SetVerdict(agree / len(told), f"{agree} of {len(told)} pairs agree in what both claim")

    def __str__(self) -> str:
        return "agreeing_trials"
