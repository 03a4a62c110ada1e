"""`breakdown`: how far people are expected to call a turn no breakdown, as the shipped detector predicts."""

from collections.abc import Iterator

from recordings.conversations.utterances import utterances_of
from scoring.swan.rules.rule import Rule, Sight, Verdict


def judge(sight: Sight) -> Iterator[Verdict]:
    """For each system turn P(O) + P(T)/2 of the detector of breakdown: 1 if nobody is expected to call it one."""
    from protocols.breakdown.detector import load_detector

    turns, places = utterances_of(sight.conversation)
    items = [item for item in sight.items if item.turn in places]
    rows = load_detector().predict(turns, [places[item.turn] for item in items])
    for item, (o, t, _) in zip(items, rows.tolist(), strict=True):
        yield Verdict(item, o + t / 2)


BREAKDOWN = Rule(
    name="breakdown",
    version="1",
    level="turn",
    limits="counts words and overlaps in English chat; blind to what is false; compares turns of one system, not "
    "systems",
    silence="the turn cannot be read as part of a chat",
    judge=judge,
)
