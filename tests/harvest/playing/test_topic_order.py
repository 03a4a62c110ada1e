"""In which order topics are played: every topic once, each place and each neighbour equally often."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.audits.audit import load_audit
from harvest.audits.audit_file import Order
from harvest.playing.plan import order_topics
from harvest.playing.play import play_audit
from recordings.log.run_folder import read

ORDERS: tuple[Order, ...] = ("as-written", "shuffled", "latin")


@given(n=st.integers(0, 30), trial=st.integers(1, 10**6), seed=st.integers(0, 2**64), order=st.sampled_from(ORDERS))
def test_a_trial_has_every_topic_once_in_an_order_given_by_seed_and_trial(
    n: int, trial: int, seed: int, order: Order
) -> None:
    found = order_topics(range(n), order, trial=trial, seed=seed)
    assert sorted(found) == list(range(n))
    assert found == order_topics(range(n), order, trial=trial, seed=seed)


@given(n=st.integers(1, 16), seed=st.integers(0, 2**64), start=st.integers(1, 1000))
def test_a_latin_order_gives_each_topic_each_place_and_each_neighbour_equally_often(
    n: int, seed: int, start: int
) -> None:
    rows = n if n % 2 == 0 else 2 * n
    trials = [order_topics(range(n), "latin", trial=start + i, seed=seed) for i in range(rows)]
    places = Counter((place, topic) for trial in trials for place, topic in enumerate(trial))
    assert places == {(place, topic): rows // n for place in range(n) for topic in range(n)}
    neighbours = Counter(pair for trial in trials for pair in pairwise(trial))
    assert neighbours == {(one, other): rows // n for one in range(n) for other in range(n) if one != other}


@pytest.mark.parametrize("order", ["shuffled", "latin"])
def test_trials_and_seeds_have_their_own_orders(order: Order) -> None:
    drawn = {order_topics(range(12), order, trial=trial, seed=seed) for trial in range(1, 9) for seed in range(5)}
    assert len(drawn) > 35


def test_shuffled_topics_are_in_every_place_about_equally_often() -> None:
    counts = Counter(order_topics(range(6), "shuffled", trial=trial, seed=7).index(0) for trial in range(1, 1201))
    # 1,200 draws at 1/6: a place lies outside of 200 ± 50 with a probability below .0002.
    assert set(counts) == set(range(6))
    assert all(150 <= count <= 250 for count in counts.values())


AUDIT = """format: harvest-audit/1
name: in order
topics: fairweb-45
only: [M001, M002, R001, Y001]
protocol: robustness-one-turn
trials: TRIALS
order: latin
systems:
  - {name: A, driver: parrot, session: continued}
  - {name: B, driver: parrot, session: continued}
  - {name: C, driver: parrot}
"""


def test_all_systems_are_asked_in_the_order_and_a_continued_run_keeps_it(tmp_path: Path) -> None:
    for name, steps in (("whole", (4,)), ("in parts", (1, 3, 4))):
        for trials in steps:
            (tmp_path / "audit.yaml").write_text(AUDIT.replace("TRIALS", str(trials)), encoding="utf-8")
            asyncio.run(play_audit(load_audit(str(tmp_path / "audit.yaml")), tmp_path / name))
    whole, parts = read(tmp_path / "whole"), read(tmp_path / "in parts")
    assert isinstance(whole.header.audit, dict)
    assert whole.header.audit["order"] == "latin"
    for system in "AB":
        place = {(one.key.trial, one.place): one.key.topic for one in whole.finished if one.key.system == system}
        orders = [[place[trial, number] for number in range(1, 5)] for trial in range(1, 5)]
        assert Counter(pair for one in orders for pair in pairwise(one)) == dict.fromkeys(
            [(one, other) for one in orders[0] for other in orders[0] if one != other], 1
        )
        assert place == {
            (one.key.trial, one.place): one.key.topic for one in parts.finished if one.key.system == system
        }
    started = [one.key.topic for one in sorted(whole.finished, key=lambda one: one.started_at) if one.key.system == "C"]
    assert started == [topic for order in orders for topic in order]
