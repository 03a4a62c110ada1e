"""What the requests of a run took, and whether another round, or another request, stays within its caps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Sent, Spent, TrialEnded, TrialStarted
from recordings.files.errors import RunError
from recordings.log.caps import Amounts, Caps, Door, Ledger, Price, read_ledger, round_of, standings
from recordings.log.header import make_header
from recordings.log.run_folder import read
from recordings.log.shard import Shard
from recordings.log.store import RunWriter
from scoring.inference.design import Design
from scoring.measures.usefulness import share
from tests.recordings.log.test_store import header
from tests.support.calibration import names_of, resampler_of
from topics.library import load_topics

A, B, WORDS = Door("A"), Door("B"), Door("words", is_system=False)
CAPS = Caps(
    {"cost": 2.0, "tokens": 5000, "turns": 12},
    {"A": Price(input=1000, output=2000), "B": Price(turn=0.25), "words": Price(input=100, output=100)},
)
USED = {"prompt": 100, "completion": 50}


def test_the_amounts_that_a_request_uses() -> None:
    assert CAPS.amounts(A, USED) == Amounts(cost=0.2, tokens=150, turns=1)  # (100·1000 + 50·2000)/10^6
    assert CAPS.amounts(B, USED) == Amounts(cost=0.25, tokens=150, turns=1)
    assert CAPS.amounts(WORDS, USED) == Amounts(cost=0.015, tokens=150, turns=0)
    assert CAPS.amounts(B, {"total": 170}) == Amounts(cost=0.25, tokens=170, turns=1)
    assert CAPS.amounts(A, {"total": 170}) is None  # whether it read or wrote them matters for its price
    assert CAPS.amounts(B, {}) is None
    assert replace(CAPS, most={"cost": 2.0}).amounts(B, {}) == Amounts(cost=0.25)
    assert replace(CAPS, most={"turns": 12}).amounts(A, None) == Amounts(turns=1)


def test_a_request_without_counts_uses_as_much_as_the_most_expensive_to_the_same_door() -> None:
    ledger = Ledger(CAPS)
    for tokens in (USED, {"prompt": 300, "completion": 10}, {}, None):
        ledger.send(1, A)
        ledger.settle(1, A, tokens)
    # By kinds: cost .2 and .32, tokens 150 and 310; twice the dearest of each for the two without counts.
    assert ledger.spent == pytest.approx(Amounts(cost=0.2 + 3 * 0.32, tokens=150 + 3 * 310, turns=4))
    ledger.send(1, B)
    ledger.settle(1, B, None)
    assert ledger.spent.cost == pytest.approx(0.2 + 3 * 0.32 + 0.25)
    ledger.send(2, A)
    ledger.settle(2, A, None, received=False)
    assert ledger.round(2) == Amounts()


def test_a_round_begins_if_1_2_times_the_most_expensive_other_round_is_left() -> None:
    ledger = Ledger(Caps({"turns": 22}))
    for number, turns in ((1, 5), (2, 10)):
        assert ledger.may_begin(number)
        for _ in range(turns):
            assert ledger.may_send(A)
            ledger.send(number, A)
            ledger.settle(number, A, {})
    assert ledger.reserve(3) == Amounts(turns=12)
    assert not ledger.may_begin(3)  # 15 + 12 > 22
    ledger.caps = Caps({"turns": 27})
    assert ledger.may_begin(3)
    ledger.send(3, A)
    assert ledger.may_begin(3)  # it was begun, so what it took already is no reason not to end it
    assert not ledger.may_begin(4)


numbers = st.integers(0, 2000)
counts = st.fixed_dictionaries({"prompt": numbers, "completion": numbers})
requests = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([A, B, WORDS]), counts | st.none() | st.just({}), st.booleans())
)


def filled(rows: Sequence[tuple[int, Door, dict[str, int] | None, bool]], caps: Caps = CAPS) -> Ledger:
    ledger = Ledger(caps)
    for number, door, tokens, received in rows:
        ledger.send(number, door)
        ledger.settle(number, door, tokens, received=received)
    return ledger


@given(requests, st.randoms(use_true_random=False))
def test_the_amount_spent_is_the_sum_of_the_rounds_in_any_order(
    rows: list[tuple[int, Door, dict[str, int] | None, bool]], random: object
) -> None:
    ledger = filled(rows)
    parts = Amounts()
    for number in range(1, 5):
        parts = parts.plus(ledger.round(number))
    assert ledger.spent == pytest.approx(parts)
    random.shuffle(rows)  # type: ignore[attr-defined]
    again = filled(rows)
    assert again.spent == pytest.approx(ledger.spent)
    assert all(again.reserve(number) == pytest.approx(ledger.reserve(number)) for number in range(1, 6))


@given(requests, st.integers(1, 30), st.integers(1, 20_000))
def test_the_cap_is_exceeded_by_at_most_the_excess_of_the_last_request_over_earlier_ones(
    rows: list[tuple[int, Door, dict[str, int] | None, bool]], turns: int, tokens: int
) -> None:
    ledger = Ledger(Caps({"turns": turns, "tokens": tokens}))
    for number, door, took, received in rows:
        if not ledger.may_send(door):
            break
        expected = ledger.spent.plus(ledger.expected(door))
        assert ledger.caps.allow(expected)
        ledger.send(number, door)
        ledger.settle(number, door, took, received=received)
        assert ledger.spent.turns <= turns


@given(st.integers(1, 7), st.integers(1, 40), st.integers(0, 99))
def test_a_round_of_a_shard_has_each_topic_once(of: int, trials: int, seed: int) -> None:
    shard = Shard(seed % of + 1, of)
    for topic in ("M001", "M002"):
        own = [one for one in range(1, trials + 1) if shard.includes(topic, one, seed, session="fresh")]
        rounds = [round_of(one, shard) for one in own]
        assert rounds in ([*range(1, len(own) + 1)], [*range(1, len(own) + 1)][: trials // of])


def test_caps_are_read_as_they_are_written_and_a_shard_has_its_part() -> None:
    assert Caps.of_audit({"caps": CAPS.as_json()}) == CAPS
    assert Caps.of_audit({"name": "one without"}) is None
    shard = Caps.of_audit({"caps": CAPS.as_json(), "shard": {"index": 2, "of": 4}})
    assert shard is not None
    assert (shard.most, shard.prices) == ({"cost": 0.5, "tokens": 1250, "turns": 3}, CAPS.prices)


async def recorded(folder: Path, audit: dict[str, object], trials: Sequence[tuple[int, int, bool]]) -> Path:
    """A run in which each trial (number, turns, whether it ended) was played by a system without counts."""
    topics = load_topics("fairweb-45").only(("M002",))
    made = make_header(audit=audit, protocol=None, topics=topics, systems={"parrot": {"name": "parrot"}})
    async with RunWriter.create(folder, made) as writer:
        for trial, turns, ended in trials:
            name = f"{trial:032x}"
            await writer.append(TrialStarted(name, TrialKey("parrot", "M002", trial), 1))
            for turn in range(1, turns + 1):
                await writer.append(Sent(name, 1), Asked(name, 1, turn, "ask", "Films?"))
                await writer.append(Spent(name, 1), Answered(name, 1, turn, SystemTurn(Answer("x"))))
            if ended:
                await writer.append(TrialEnded(name, 1, Outcome("completed")))
    return folder


def capped(turns: int, trials: int = 5) -> dict[str, object]:
    return {"name": "test", "trials": trials, "caps": {"most": {"turns": turns}}}


async def test_a_run_that_its_cap_stopped_between_rounds(tmp_path: Path) -> None:
    run = read(await recorded(tmp_path / "run", capped(9), [(1, 2, True), (2, 3, True)]))
    (found,) = standings(run.header, run.attempts)
    assert (found.whole, found.planned, found.broken, found.stopped) == (2, 5, 0, False)
    run = read(await recorded(tmp_path / "other", capped(8), [(1, 2, True), (2, 3, True)]))
    (found,) = standings(run.header, run.attempts)
    assert (found.whole, found.planned, found.broken, found.stopped) == (2, 5, 0, True)  # 5 + 1.2·3 > 8
    assert {key.trial for key in found.unplayed} == {3, 4, 5}
    assert str(found) == (
        "stopped after 2 of 5 rounds by its cap (turns 5 of 8); another round is played only if this is left for it: "
        "turns 4"
    )


async def test_a_run_that_its_cap_stopped_within_a_round(tmp_path: Path) -> None:
    run = read(await recorded(tmp_path / "run", capped(5), [(1, 2, True), (2, 3, False)]))
    (found,) = standings(run.header, run.attempts)
    assert (found.whole, found.broken, found.stopped) == (1, 2, True)
    assert {key.trial for key in found.unplayed} == {2, 3, 4, 5}
    assert "round 2 was broken off, and 0 finished trials of it left out of all figures, because" in str(found)


async def test_a_run_that_was_killed_was_not_stopped_by_its_cap(tmp_path: Path) -> None:
    run = read(await recorded(tmp_path / "run", capped(50), [(1, 2, True), (2, 3, False)]))
    (found,) = standings(run.header, run.attempts)
    assert (found.whole, found.stopped, str(found)) == (1, False, "")
    assert found.progress == "1 of 5 rounds played: turns 5 of 50"


async def test_a_round_is_stopped_if_the_second_attempt_at_a_lost_trial_was_cut(tmp_path: Path) -> None:
    folder = await recorded(tmp_path / "run", capped(4), [(1, 1, True), (2, 2, False)])
    async with RunWriter.resume(folder) as writer:
        name, key = f"{3:032x}", TrialKey("parrot", "M002", 3)
        await writer.append(TrialStarted(name, key, 1), Sent(name, 1), TrialEnded(name, 1, Outcome("invalid")))
        await writer.append(TrialStarted(name, key, 2))
    run = read(folder)
    (found,) = standings(run.header, run.attempts)
    assert (found.whole, found.broken, found.stopped) == (2, 3, True)


async def test_turns_played_without_a_cap_count_once_with_their_retries(tmp_path: Path) -> None:
    reply = SystemTurn(Answer("x"), asked_at="2026-01-02T03:04:05.678901+00:00", sends=3, tokens=USED)
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        key = TrialKey("parrot", "M002", 1)
        await writer.append(TrialStarted("1", key, 1), Asked("1", 1, 1, "ask", "Films?"), Answered("1", 1, 1, reply))
        await writer.append(Asked("1", 1, 2, "ask", "More?"))  # killed here
        await writer.append(TrialStarted("1", key, 2, goes_on_from=1), Asked("1", 2, 1, "ask", "Films?"))
        await writer.append(Answered("1", 2, 1, reply), TrialEnded("1", 2, Outcome("completed")))
    run = read(tmp_path / "run")
    ledger = read_ledger(Caps({"turns": 9, "tokens": 9000}), run.header, run.attempts, None)
    assert ledger.spent == Amounts(tokens=4 * 150, turns=4)


async def test_a_request_that_ends_without_having_been_sent_is_an_error(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await writer.append(TrialStarted("1", TrialKey("parrot", "M002", 1), 1), Sent("1", 1), Spent("1", 1, USED))
        await writer.append(Spent("1", 1, USED))
    with pytest.raises(RunError, match="a request ends that was not sent"):
        read(tmp_path / "run")


# Topics whose answers are useful with these probabilities, and the mean over topics like them.
Law = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
WORLDS: dict[str, tuple[Law, float]] = {
    "alike": (lambda rng, n: np.full(n, 0.5), 0.5),
    "bimodal": (lambda rng, n: np.where(rng.random(n) < 0.3, 0.1, 0.9), 0.66),
    "rare": (lambda rng, n: np.where(rng.random(n) < 0.1, 0.05, 0.95), 0.86),
    "beta": (lambda rng, n: rng.beta(4, 2, n), 4 / 6),
}


def capped_audit(rng: np.random.Generator, law: Law, topics: int) -> tuple[float, npt.NDArray[np.float64]]:
    """Play an audit in which a failure takes five times as much, until a cap of 1.5 to 8 rounds. Return the mean of its
    topics, and whether each trial was useful, of the rounds that count: (topics, rounds)."""
    quality = law(rng, topics)
    ledger = Ledger(Caps({"turns": rng.uniform(1.5, 8) * topics * float(np.mean(5 - 4 * quality))}))
    rounds: list[list[float]] = []
    while ledger.may_begin(number := len(rounds) + 1):
        played: list[float] = []
        for useful in rng.random(topics) < quality:
            for _ in range(1 if useful else 5):
                if not ledger.may_send(A):
                    return float(quality.mean()), np.array(rounds).T  # the round was broken off
                ledger.send(number, A)
                ledger.settle(number, A, {})
            played.append(float(useful))
        rounds.append(played)
    return float(quality.mean()), np.array(rounds).T


def held(world: str, topics: int, audits: int) -> tuple[float, float]:
    """The shares of intervals for topics like these, and for these, that hold the truth, of those that are printed."""
    law, truth = WORLDS[world]
    rng = np.random.default_rng([topics, len(world)])
    found: tuple[list[bool], list[bool]] = ([], [])
    for _ in range(audits):
        mean, useful = capped_audit(rng, law, topics)
        if not useful.size:
            continue
        for kept, goal, design in zip(found, (truth, mean), (Design(), Design(estimand="these")), strict=True):
            interval = share(
                names_of(topics),
                useful,
                np.ones_like(useful),
                np.zeros(useful.shape, bool),
                level=0.95,
                pooled=False,
                resampler=resampler_of(),
                design=design,
            ).interval
            if interval.low == interval.low:
                kept.append(interval.low - 1e-12 <= goal <= interval.high + 1e-12)
    assert all(len(kept) > 0.9 * audits for kept in found)
    return float(np.mean(found[0])), float(np.mean(found[1]))


def test_if_failures_cost_five_times_as_much_intervals_of_capped_runs_cover_the_truth() -> None:
    assert min(held("bimodal", 8, 300)) >= 0.93


@pytest.mark.soak
@pytest.mark.parametrize("topics", [8, 20])
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_of_2000_capped_runs_cover_the_truth(world: str, topics: int) -> None:
    assert min(held(world, topics, 2000)) >= 0.93
