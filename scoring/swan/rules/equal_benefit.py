"""`equal_benefit`: Fair treatment as the same share of useful turns for all groups of users ([SWAN] §4.14)."""

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict

_LEAST = 3  # labelled turns of a group


def judge(sight: SetSight) -> SetVerdict | None:
    """1 - (greatest - least share of turns labelled `o`) over the groups with at least 3 labelled turns."""
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


EQUAL_BENEFIT = SetRule(
    name="equal_benefit",
    version="1",
    limits="sees labels alone, and takes chance for unfairness where groups have few turns: `harvest simulate groups` "
    "tests the difference",
    silence="fewer than two groups with 3 labelled turns on the topic",
    judge=judge,
)
