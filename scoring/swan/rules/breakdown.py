"""`breakdown`: the share of people who would not call a turn a breakdown, as predicted by the shipped detector."""

from collections.abc import Iterator

from recordings.conversations.utterances import utterances_of
from scoring.swan.rules.rule import Rule, Sight, Verdict


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score P(O) + P(T)/2 of the breakdown detector, which is 1 if no person is expected to call the turn a
    breakdown."""
    from protocols.breakdown.detector import load_detector

    turns, places = utterances_of(sight.conversation)
    items = [item for item in sight.items if item.turn in places]
    rows = load_detector().predict(turns, [places[item.turn] for item in items])
    for item, (o, t, _) in zip(items, rows.tolist(), strict=True):
        yield Verdict(item, o + t / 2)


BREAKDOWN = Rule(
    name="breakdown",
    version="2",
    level="turn",
    limits="counts words and overlaps in English chat; blind to what is false; compares turns of one system, not "
    "systems",
    silence="the turn cannot be read as part of a chat",
    judge=judge,
)
