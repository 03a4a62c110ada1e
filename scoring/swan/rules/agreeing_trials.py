"""`agreeing_trials`: Consistency over the conversations of a system on a need ([SWAN] §4.16: across conversations)."""

from itertools import combinations

from scoring.swan.rules.information import Information, agreement
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict


def judge(sight: SetSight) -> SetVerdict | None:
    """The share of pairs of conversations without a contradiction, among those with a claim of the same normal form."""
    told = [one for pair in combinations([Information.of(one) for one in sight.own], 2) if (one := agreement(*pair))]
    if not told:
        return None
    agree = sum(False not in one for one in told)
    return SetVerdict(agree / len(told), f"{agree} of {len(told)} pairs agree in what both claim")


AGREEING_TRIALS = SetRule(
    name="agreeing_trials",
    version="1",
    limits="compares claims in the same words but for numbers, dates and negation, as `contradiction` does; blind to "
    "names and to other words",
    silence="no claim is made in the same words in two conversations",
    judge=judge,
)
