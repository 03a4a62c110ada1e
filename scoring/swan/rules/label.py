"""`label`: Sufficiency according to the labels that the protocol gave."""

from collections.abc import Iterator

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.swan.rules.rule import Rule, Sight, Verdict


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score 1 for a turn labelled `o` (useful) and 0 for a turn labelled `x`. Turns without a label get no score."""
    labels = {turn.number: turn.label for turn in sight.conversation.turns}
    for item in sight.items:
        label = labels.get(item.turn)
        if label in (USEFUL, NOT_USEFUL):
            yield Verdict(item, float(label == USEFUL))


LABEL = Rule(
    name="label",
    version="1",
    level="turn",
    limits="sees that a turn holds something of the asked kind, not whether it is all that was asked for",
    silence="the protocol gave the turn no label",
    judge=judge,
)
