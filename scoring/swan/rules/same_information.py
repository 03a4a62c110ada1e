"""`same_information`: Robustness as giving the same information in all conversations on a need ([SWAN] §4.18)."""

from itertools import combinations

from scoring.swan.rules.information import Information, mean_alike
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict


def judge(sight: SetSight) -> SetVerdict | None:
    """The mean similarity over pairs of conversations: the share of the names, numbers and links in the one with fewer
    that the other has too; 0 for a pair that contradicts each other, or if one of them refused. Over all arms, if the
    system was played in arms.
    """
    given = [Information.of(one) for one in sight.every]
    value, pairs = mean_alike(combinations(given, 2))
    return SetVerdict(value, f"over {pairs} of {len(given) * (len(given) - 1) // 2} pairs") if pairs else None


SAME_INFORMATION = SetRule(
    name="same_information",
    version="1",
    limits="compares names, numbers, links, yes and no; blind to the same said in other words, and takes the system's "
    "own chance for a lack of robustness",
    silence="fewer than two conversations with information that can be compared",
    judge=judge,
)
