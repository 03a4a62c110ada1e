"""Shards deal the trials of an audit out: each trial to one machine, whatever is added to the audit later."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.log.shard import MOST_SHARDS, Shard
from topics.errors import InputError

TOPICS = [f"M{number:03d}" for number in range(12)]
TRIALS = range(1, 11)


def _dealt(of: int, seed: int, session: str) -> dict[tuple[str, int], list[int]]:
    shards = [Shard(index, of) for index in range(1, of + 1)]
    return {
        (topic, trial): [one.index for one in shards if one.includes(topic, trial, seed, session=session)]
        for topic in TOPICS
        for trial in TRIALS
    }


@given(of=st.integers(1, 7), seed=st.integers(0, 2**32), session=st.sampled_from(["fresh", "continued"]))
def test_each_trial_is_in_one_shard(of: int, seed: int, session: str) -> None:
    assert all(len(found) == 1 for found in _dealt(of, seed, session).values())


@given(of=st.integers(1, 7), seed=st.integers(0, 2**32))
def test_for_each_topic_no_shard_has_two_trials_more_than_another(of: int, seed: int) -> None:
    dealt = _dealt(of, seed, "fresh")
    for topic in TOPICS:
        own = [dealt[topic, trial][0] for trial in TRIALS]
        counts = [own.count(index) for index in range(1, of + 1)]
        assert max(counts) - min(counts) <= 1


@given(of=st.integers(2, 7), seed=st.integers(0, 2**32))
def test_a_session_that_goes_through_all_topics_is_in_one_shard(of: int, seed: int) -> None:
    dealt = _dealt(of, seed, "continued")
    for trial in TRIALS:
        assert len({dealt[topic, trial][0] for topic in TOPICS}) == 1


def test_topics_do_not_all_begin_with_the_same_shard() -> None:
    assert {found[0] for (_, trial), found in _dealt(3, 1, "fresh").items() if trial == 1} == {1, 2, 3}


@pytest.mark.parametrize(
    "text", ["", "3", "0/3", "4/3", "1/0", "1/3/3", "one/three", "-1/3", f"1/{MOST_SHARDS + 1}", "1/９９"]
)
def test_an_invalid_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a shard"):
        Shard.read(text)


def test_a_valid_shard_is_read() -> None:
    assert (Shard.read("2/3"), Shard.read(" 1 / 1 ")) == (Shard(2, 3), Shard(1, 1))
