"""`adapted`: Customisability as different information for different groups of users ([SWAN] §4.19)."""

import math
from itertools import combinations, product

from scoring.swan.rules.information import Information, mean_alike
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict


def judge(sight: SetSight) -> SetVerdict | None:
    """1 - between/within, at least 0: the mean similarity between groups over that within a group.

    Both are as in `same_information`. Differences by the system's own chance do not count as adapting.
    """
    groups = [[Information.of(one) for one in group] for group in sight.groups.values() if group]
    if all(one.refused for group in groups for one in group):
        return None
    within, inside = mean_alike(pair for group in groups for pair in combinations(group, 2))
    between, across = mean_alike(pair for one, other in combinations(groups, 2) for pair in product(one, other))
    if not inside or not across or math.isclose(within, 0.0, abs_tol=1e-12):
        return None
    value = min(1.0, max(0.0, 1 - between / within))
    return SetVerdict(value, f"alike {within:.2f} within groups, {between:.2f} between them")


ADAPTED = SetRule(
    name="adapted",
    version="1",
    limits="sees that groups get other names, numbers and links, not whether these suit them, nor whether they should "
    "differ",
    silence="fewer than two groups, no group with two conversations that are alike, or refusals alone",
    judge=judge,
)
