"""What figures of one system, spreads, tails and judges say in the worlds of the torture suite."""

import pytest

from tests.support.torture import catalogue, judging, scored, tailed, varying
from tests.support.torture.cells import counted
from tests.support.torture.world import WORLDS

ENGINES = {engine.name: engine for module in (judging, scored, tailed, varying) for engine in module.ENGINES}
assert catalogue.MODULES


@pytest.mark.parametrize(
    ("engine", "world", "size"),
    [
        ("score, topics like these", "useful or not, 0.95 in 95%, 0.1 in 5%", (15, 5, 1)),
        ("score, topics like these", "clusters of five, named, 100% alike: useful or not, Beta(2, 2)", (45, 5, 1)),
        ("score, topics like these", "sessions that stay lost, declared", (15, 5, 1)),
        ("score, these topics", "sessions that stay lost, declared", (15, 5, 1)),
        ("score, topics like these", "fails on one kind of topic, 10%", (45, 5, 1)),
        ("variance between topics", "scores, 0.95 in 95%, 0.1 in 5%", (15, 5, 1)),
        ("ICC", "useful or not, mean 0.95, ICC 0.1", (15, 5, 1)),
        ("pass^3", "useful or not, 0.1 in 30%, 0.9 in 70%", (8, 5, 1)),
        ("10% quantile", "scores, Beta(2, 2)", (200, 1, 1)),
        ("mean of the worst 10% (high)", "latency, 10% of topics ×10", (200, 1, 1)),
        ("preference", "preferences in clusters, named", (45, 3, 1)),
        ("alpha", "2 judges right in 0.98, 5% positive", (45, 1, 2)),
        ("corrected judge", "judge lenient on bad topics, Beta(3, 2), people on 2 trials a topic", (15, 5, 2)),
    ],
)
def test_intervals_are_valid_in_hostile_worlds(engine: str, world: str, size: tuple[int, int, int]) -> None:
    cell = counted(ENGINES[engine], WORLDS[world], size, 30)
    assert cell.printed
    assert not cell.too_low
    assert not cell.too_wrong


def test_a_measure_without_a_top_has_no_spread_of_15_topics() -> None:
    cell = counted(ENGINES["variance between topics"], WORLDS["R, lognormal σ 1"], (15, 5, 1), 5)
    assert not cell.printed
    assert "no top" in next(iter(cell.reasons))


def test_a_fact_decided_by_few_topics_is_hidden_from_studies_that_may_lack_them() -> None:
    world = WORLDS["latency, 5% of topics ×10"]
    assert world.unseen(45) == "one topic in 20 decides, and 45 topics may have none"
    assert world.unseen(200) is None
