"""What the runner does when systems fail: invalid attempts, new attempts, sendings, sessions, and giving up."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from harvest.audits.system import System
from harvest.playing.attempt import Player
from harvest.playing.plan import Plan, Sitting, Work
from harvest.playing.play import SilentWatcher
from harvest.playing.runner import Runner
from harvest.systems.driver import Capabilities, Denied, NotSent, Opening, Reply, Unanswered
from harvest.systems.limits import Gate, Limits
from harvest.systems.timing import Clock
from protocols.answer import Answer
from protocols.library import load_protocol
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.log.header import make_header, trial_identity
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from simulators.scripted import ScriptedUser
from tests.support.stepping import Stepped
from topics.library import load_topics
from topics.topic import TopicSet

USEFUL = "Here is one: https://www.imdb.com/title/tt9000000001/"
ASK, MORE = 1, 2

Behave = Callable[[Opening, int, str], str]
"""(opening, number of this say over the whole driver, text) -> the reply; or raises a DriverError."""


@dataclass
class Scripted:
    """A driver in memory whose behaviour a test gives; it keeps what it was asked."""

    behave: Behave
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(stateful=True))
    openings: list[Opening] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    open_sessions: int = 0
    closed: bool = False
    at_door: Callable[[int], None] = lambda number: None
    """Given the number of the opening; raises where it is to fail."""
    at_end: Callable[[Opening], None] = lambda opening: None
    """Called after each conversation; raises where its last reply was none."""

    async def open(self, opening: Opening) -> Scripted.Session:
        self.openings.append(opening)
        await asyncio.sleep(0)
        self.at_door(len(self.openings))
        self.open_sessions += 1
        return Scripted.Session(self, opening)

    async def close(self) -> None:
        self.closed = True

    @dataclass
    class Session:
        driver: Scripted
        opening: Opening

        async def say(self, text: str) -> Reply:
            self.driver.said.append(text)
            await asyncio.sleep(0)
            return Reply(SystemTurn(Answer(self.driver.behave(self.opening, len(self.driver.said), text))))

        async def settle(self) -> None:
            self.driver.at_end(self.opening)

        async def close(self) -> None:
            self.driver.open_sessions -= 1


@dataclass
class Quiet(SilentWatcher):
    """A watcher that keeps what it was told."""

    outcomes: list[tuple[str, Outcome, bool]] = field(default_factory=list)
    left: list[tuple[str, str, int]] = field(default_factory=list)
    less: list[tuple[str, str]] = field(default_factory=list)

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        self.outcomes.append((work.key.topic, outcome, again))

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        self.left.append((system, reason, unplayed))

    def pace_lowered(self, system: str, why: str) -> None:
        self.less.append((system, why))


PROTOCOL = load_protocol("fairweb-two-round")
ALL = load_topics("fairweb-45")
TOPICS = TopicSet("three", ALL.topics[:3], ALL.attributes)


def play(
    folder: Path,
    driver: Scripted,
    *,
    session: str = "fresh",
    trials: int = 1,
    topics: TopicSet = TOPICS,
    stepped: Stepped | None = None,
    watcher: Quiet | None = None,
    **limits: float,
) -> tuple[Run, Quiet]:
    bounds = Limits(**{"retry_wait": 0.0, "turn_timeout": 5.0, **limits})  # type: ignore[arg-type]
    system = System("S", "scripted", {}, "fresh" if session == "fresh" else "continued", bounds, ())
    header = make_header(audit={}, protocol=PROTOCOL, topics=topics, systems={"S": system.definition()}, seed=1)
    works = [
        [
            Work(TrialKey("S", topic.id, trial), topic, trial_identity(PROTOCOL, topic, system.definition(), trial))
            for topic in topics.topics
        ]
        for trial in range(1, trials + 1)
    ]
    if session == "fresh":
        sittings = tuple(Sitting((work,)) for row in works for work in row)
    else:
        sittings = tuple(Sitting(tuple(row)) for row in works)
    watcher, time = watcher or Quiet(), stepped or Stepped()

    async def run() -> None:
        async with RunWriter.open(folder, header) as writer:
            player = Player(writer, ScriptedUser(PROTOCOL), seed=1, clock=time.clock)
            runner = Runner(player, (system,), {"S": driver}, watcher)
            await runner.play(Plan({"S": sittings}, 0, 0, 0, 0))

    time.run(run())
    return read(folder), watcher


def test_every_turn_is_recorded_with_its_label_and_the_driver_is_closed(tmp_path: Path) -> None:
    driver = Scripted(lambda opening, n, text: USEFUL)
    run, _ = play(tmp_path / "run", driver)
    assert [conversation.label(1) + conversation.label(2) for conversation in run.finished] == ["oo"] * 3
    assert driver.closed
    assert driver.open_sessions == 0
    assert len(driver.openings) == 3


def test_a_failure_is_an_invalid_attempt_and_never_an_x(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if opening.topic == "M002":
            raise Unanswered("timeout", "no whole reply", partial="Here is")
        return USEFUL

    run, watcher = play(tmp_path / "run", Scripted(behave), attempts=2)
    assert {conversation.key.topic for conversation in run.finished} == {"M001", "M003"}
    invalid = [conversation for conversation in run.conversations if not conversation.valid]
    assert [(c.key.topic, c.attempt, c.outcome and c.outcome.kind) for c in invalid] == [
        ("M002", 1, "invalid"),
        ("M002", 2, "invalid"),
    ]
    assert all(turn.label is None for conversation in invalid for turn in conversation.turns)
    assert [failure.partial for failure in run.failures] == ["Here is", "Here is"]
    assert [again for topic, _, again in watcher.outcomes if topic == "M002"] == [True, False]


def test_a_new_attempt_can_succeed_and_then_counts_alone(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if n == 1:
            raise Unanswered("http-503", "")
        return USEFUL

    run, _ = play(tmp_path / "run", Scripted(behave), attempts=2)
    assert len(run.finished) == 3
    assert len(run.conversations) == 4


def test_a_stateful_system_is_never_sent_the_same_turn_twice_in_a_session(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        raise Unanswered("broken-stream", "")

    driver = Scripted(behave)
    play(tmp_path / "run", driver, attempts=1, retries=5, give_up_after=100)
    assert len(driver.said) == len(driver.openings) == 3


def test_a_stateless_system_is_asked_again_as_often_as_allowed(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if n % 3:
            raise Unanswered("http-500", "")
        return USEFUL

    driver = Scripted(behave, Capabilities(stateful=False))
    run, _ = play(tmp_path / "run", driver, retries=2)
    assert len(run.finished) == 3
    assert {turn.reply.sends for c in run.finished for turn in c.turns if turn.reply} == {3}


def test_a_turn_that_a_stateful_system_never_received_is_sent_again(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if n % 2:
            raise NotSent("http-429", "", retry_after=0.0)
        return USEFUL

    run, _ = play(tmp_path / "run", Scripted(behave), retries=1)
    assert len(run.finished) == 3


def test_a_refusal_is_an_answer_and_is_never_asked_again(tmp_path: Path) -> None:
    driver = Scripted(
        lambda opening, n, text: "I'm unable to help you with that, as I'm only a language model.",
        Capabilities(stateful=False),
    )
    run, _ = play(tmp_path / "run", driver, retries=5, attempts=5)
    assert len(driver.said) == 3
    assert [(c.outcome.kind if c.outcome else "", c.label(1), c.label(2)) for c in run.finished] == [
        ("breakdown", "x", "-")
    ] * 3


def test_an_empty_answer_is_an_answer_too(tmp_path: Path) -> None:
    run, _ = play(tmp_path / "run", Scripted(lambda opening, n, text: ""), attempts=3)
    assert len(run.conversations) == 3
    assert all(c.valid and c.label(1) == "x" for c in run.conversations)


def test_a_system_that_denies_everything_is_abandoned_at_once(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        raise Denied("http-401", "wrong key")

    driver = Scripted(behave)
    run, watcher = play(tmp_path / "run", driver)
    assert len(driver.said) == 1
    assert len(run.conversations) == 1
    ((system, reason, unplayed),) = watcher.left
    assert (system, unplayed) == ("S", 2)
    assert "http-401" in reason


def test_a_system_is_abandoned_after_too_many_invalid_attempts_in_a_row(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        raise Unanswered("timeout", "")

    driver = Scripted(behave)
    _, watcher = play(tmp_path / "run", driver, trials=5, attempts=1, give_up_after=4)
    assert len(driver.said) == 4
    assert watcher.left[0][2] == 11


def test_the_turn_timeout_ends_a_reply_that_never_comes(tmp_path: Path) -> None:
    class Hanging(Scripted):
        async def open(self, opening: Opening) -> Scripted.Session:
            session = await super().open(opening)
            session.say = lambda text: asyncio.sleep(60)  # type: ignore[method-assign,assignment,return-value]
            return session

    run, _ = play(tmp_path / "run", Hanging(lambda opening, n, text: USEFUL), turn_timeout=0.05, attempts=1)
    assert [c.outcome.reason for c in run.conversations if c.outcome] == ["timeout"] * 3


def test_a_continued_session_goes_through_all_topics_in_order(tmp_path: Path) -> None:
    driver = Scripted(lambda opening, n, text: USEFUL)
    run, _ = play(tmp_path / "run", driver, session="continued", trials=2)
    assert len(driver.openings) == 2
    assert [(c.key.trial, c.place) for c in run.finished] == [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)]
    assert len({c.session for c in run.finished}) == 2


def test_a_lost_continued_session_continues_in_a_new_one_that_is_distinguished(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if n == 3:  # the first turn of the second topic
            raise Unanswered("broken-stream", "")
        return USEFUL

    driver = Scripted(behave)
    run, _ = play(tmp_path / "run", driver, session="continued", attempts=2)
    assert [opening.history for opening in driver.openings] == [(), ()]
    assert [(c.key.topic, c.attempt, c.place) for c in run.finished] == [("M001", 1, 1), ("M002", 2, 1), ("M003", 1, 2)]
    assert len({c.session for c in run.finished}) == 2


def test_a_driver_with_editable_history_resumes_the_lost_session_where_it_was(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if n == 3:
            raise Unanswered("broken-stream", "")
        return USEFUL

    driver = Scripted(behave, Capabilities(stateful=True, editable_history=True))
    run, _ = play(tmp_path / "run", driver, session="continued", attempts=2)
    assert [len(opening.history) for opening in driver.openings] == [0, 2]
    assert [(c.key.topic, c.place) for c in run.finished] == [("M001", 1), ("M002", 2), ("M003", 3)]


def test_a_session_that_the_system_closed_is_not_continued(tmp_path: Path) -> None:
    """The third turn of a session is its last, which the system says with its answer."""

    class Limited(Scripted):
        async def open(self, opening: Opening) -> Scripted.Session:
            session = await super().open(opening)
            say, heard = session.say, itertools.count(1)

            async def closing(text: str) -> Reply:
                reply = await say(text)
                return replace(reply, turn=replace(reply.turn, ended=next(heard) == 3))

            session.say = closing  # type: ignore[method-assign]
            return session

    driver = Limited(lambda opening, n, text: USEFUL, Capabilities(stateful=True, editable_history=True))
    run, _ = play(tmp_path / "run", driver, session="continued", attempts=1)
    found = [(c.key.topic, c.place, c.outcome and c.outcome.kind) for c in run.conversations]
    assert found == [("M001", 1, "completed"), ("M002", 2, "system-ended"), ("M003", 1, "completed")]
    assert [opening.history for opening in driver.openings] == [(), ()]
    assert [opening.topic for opening in driver.openings] == ["M001", "M003"]
    assert len({c.session for c in run.finished}) == 2
    assert driver.open_sessions == 0


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_no_more_sessions_than_allowed_are_open_at_once(tmp_path: Path, concurrency: int) -> None:
    most = 0

    def behave(opening: Opening, n: int, text: str) -> str:
        nonlocal most
        most = max(most, driver.open_sessions)
        return USEFUL

    driver = Scripted(behave)
    play(tmp_path / "run", driver, trials=4, concurrency=concurrency)
    assert most == concurrency


def test_the_spacing_applies_to_all_sessions(tmp_path: Path) -> None:
    stepped, said = Stepped(), list[float]()

    def behave(opening: Opening, n: int, text: str) -> str:
        said.append(stepped.seconds)
        return USEFUL

    play(tmp_path / "run", Scripted(behave), stepped=stepped, concurrency=3, spacing=7.5)
    assert said == [0, 7.5, 15, 22.5, 30, 37.5]


async def test_a_gate_lets_nobody_out_too_early_however_late_it_wakes() -> None:
    now = 100.0
    lateness = iter([0.0, 0.7, 0.0, 3.0, 0.01, 0.0, 0.0, 9.0] * 20)
    passed: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        await asyncio.sleep(0)
        now += seconds + next(lateness)

    gate = Gate(0.5, Clock(lambda: now, sleep))

    async def passer() -> None:
        for _ in range(10):
            await gate.wait_for_turn()
            passed.append(now)

    await asyncio.gather(*(passer() for _ in range(3)))
    assert len(passed) == 30
    assert min(later - earlier for earlier, later in pairwise(passed)) >= 0.5


@pytest.mark.parametrize(
    ("retries", "waits"), [(2, [8, 16, 32, 32, 32]), (0, [8, 8, 8, 8, 8]), (20, [8, 16, 32, 64, 120])]
)
def test_a_system_that_cannot_be_opened_is_tried_again_at_growing_intervals(
    tmp_path: Path, retries: int, waits: list[float]
) -> None:
    stepped, tried = Stepped(), list[float]()

    def at_door(number: int) -> None:
        tried.append(stepped.seconds)
        if number <= 5:
            raise NotSent("page-unreachable", "nobody there")

    driver = Scripted(lambda opening, n, text: USEFUL, at_door=at_door)
    run, _ = play(tmp_path / "run", driver, stepped=stepped, retry_wait=8.0, retries=retries, attempts=3)
    assert [later - earlier for earlier, later in pairwise(tried)] == [*waits, 0, 0][: len(tried) - 1]
    assert len(run.finished) == 3


def test_sessions_that_fail_to_open_at_the_same_time_are_one_failure_and_then_one_at_a_time_is_tried(
    tmp_path: Path,
) -> None:
    stepped, tried = Stepped(), list[float]()

    def at_door(number: int) -> None:
        tried.append(stepped.seconds)
        if number <= 4:
            raise Unanswered("page-crashed", "it crashed")

    driver = Scripted(lambda opening, n, text: USEFUL, at_door=at_door)
    run, _ = play(tmp_path / "run", driver, stepped=stepped, retry_wait=8.0, attempts=4, concurrency=3)
    assert tried[:5] == [0, 0, 0, 8, 24]
    assert set(tried[4:]) == {24}
    assert len(run.finished) == 3


def test_a_system_that_refuses_to_be_opened_delays_no_other_session(tmp_path: Path) -> None:
    def at_door(number: int) -> None:
        raise Denied("login", "log in first")

    stepped = Stepped()
    driver = Scripted(lambda opening, n, text: USEFUL, at_door=at_door)
    _, watcher = play(tmp_path / "run", driver, stepped=stepped, retry_wait=8.0, concurrency=2)
    assert stepped.seconds == 0
    assert [reason for _, reason, _ in watcher.left] == ["it refuses every request (login: log in first)"]


def test_a_conversation_whose_last_reply_turns_out_to_be_truncated_is_invalid_and_played_again(
    tmp_path: Path,
) -> None:
    ends: list[str] = []

    def at_end(opening: Opening) -> None:
        ends.append(opening.topic)
        if ends == ["M001"]:
            raise Unanswered("went-on", "the answer went on", partial="all of it")

    run, _ = play(tmp_path / "run", Scripted(lambda opening, n, text: USEFUL, at_end=at_end))
    assert ends == ["M001", "M002", "M003", "M001"]
    (invalid,) = (one for one in run.conversations if not one.valid)
    assert invalid.outcome == Outcome("invalid", "went-on", "the answer went on")
    assert [(failure.reason, failure.partial) for failure in run.failures] == [("went-on", "all of it")]
    assert len(run.finished) == 3


def test_an_unexpected_driver_error_is_an_invalid_attempt_and_the_run_continues(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if opening.topic == "M001":
            raise OverflowError("date value out of range")
        if opening.topic == "M002":
            raise asyncio.CancelledError  # nobody asked for it
        return USEFUL

    run, _ = play(tmp_path / "run", Scripted(behave), attempts=1)
    reasons = {c.key.topic: c.outcome.reason for c in run.conversations if c.outcome and not c.valid}
    assert reasons == {"M001": "driver-fault", "M002": "driver-fault"}
    assert {c.key.topic for c in run.finished} == {"M003"}
    (trace,) = {failure.evidence["traceback"] for failure in run.failures if "Overflow" in failure.detail}
    assert b"OverflowError" in (run.path / trace).read_bytes()


def test_a_secret_that_a_system_echoes_in_its_error_is_not_shown_on_the_terminal(tmp_path: Path) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

    def behave(opening: Opening, n: int, text: str) -> str:
        raise Denied("http-401", f"Incorrect API key provided: {key}")

    _, watcher = play(tmp_path / "run", Scripted(behave))
    assert "http-401" in watcher.left[0][1]
    assert key not in watcher.left[0][1]
    assert key not in watcher.outcomes[0][1].detail


@dataclass
class Busy(Scripted):
    """Answers one turn after the other, each in about two seconds. under_way: how many were, when each came."""

    under_way: list[int] = field(default_factory=list)
    turns: int = 0

    def __post_init__(self) -> None:
        self.free, self.rng = asyncio.Lock(), np.random.default_rng(1)

    async def open(self, opening: Opening) -> Scripted.Session:
        return Busy.Waiting(self, opening)

    class Waiting(Scripted.Session):
        driver: Busy

        async def say(self, text: str) -> Reply:
            self.driver.turns += 1
            self.driver.under_way.append(self.driver.turns)
            async with self.driver.free:
                await asyncio.sleep(self.driver.rng.uniform(1.0, 3.0))
            self.driver.turns -= 1
            return await super().say(text)


def test_a_busy_system_gets_fewer_concurrent_turns_and_the_person_is_told(tmp_path: Path) -> None:
    driver = Busy(lambda opening, n, text: USEFUL)
    run, watcher = play(tmp_path / "run", driver, trials=400, concurrency=8, turn_timeout=60.0)
    assert len(run.finished) == 1200
    slower = "at a time: more would only make its answers slower"
    assert watcher.less == [("S", f"gets {turns} {slower}") for turns in ("4 turns", "2 turns", "1 turn")]
    assert max(driver.under_way) == 8
    assert set(driver.under_way[-100:]) == {1}


def test_slowing_down_after_complaints_is_reported_each_time_the_gap_has_doubled(
    tmp_path: Path,
) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if n <= 8:
            raise NotSent("http-429", "slow down", retry_after=1.0)
        return USEFUL

    _, watcher = play(tmp_path / "run", Scripted(behave), trials=20, retries=1, attempts=9)
    told = re.compile(r"S gets a turn every (\d+\.\d) s: it says that it gets too many requests")
    gaps = [float(one[1]) for said in watcher.less if (one := told.fullmatch(" ".join(said)))]
    waited = [why for _, why in watcher.less if "Harvest waits until" in why]
    assert len(gaps) + len(waited) == len(watcher.less)
    assert len(waited) == 1, "eight complaints in a row"
    assert gaps
    assert gaps[0] >= 1
    assert all(later >= 1.9 * earlier for earlier, later in pairwise(gaps)), "rounded"
    _, quiet = play(tmp_path / "paced", Scripted(lambda opening, n, text: USEFUL), spacing=3.0)
    assert quiet.less == []


@pytest.mark.parametrize("retry_after", [None, 0.0, 20.0, 120.0, 3600.0])
@pytest.mark.parametrize("concurrency", [1, 20])
def test_a_system_that_only_complains_is_abandoned_within_five_minutes(
    tmp_path: Path, concurrency: int, retry_after: float | None
) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        raise NotSent("http-429", "slow down", retry_after=retry_after)

    class Late(Scripted.Session):
        async def say(self, text: str) -> Reply:
            await asyncio.sleep(0.3)  # in which others begin to wait for their turn
            return await super().say(text)

    class Complaining(Scripted):
        async def open(self, opening: Opening) -> Scripted.Session:
            await super().open(opening)
            return Late(self, opening)

    time, driver = Stepped(), Complaining(behave)
    run, watcher = play(
        tmp_path / "run",
        driver,
        stepped=time,
        trials=15,
        concurrency=concurrency,
        retry_wait=1.0,
        give_up_after=1000,
        attempts=9,
    )
    assert time.seconds <= 245
    ((_, reason, unplayed),) = watcher.left
    assert unplayed > 0
    if (retry_after or 0) > 240:
        assert (
            reason == "it asks for a pause of 3600 s (Retry-After), and Harvest waits for at most 240 s (busy_timeout)"
        )
        assert time.seconds < 20, "left at once"
    else:
        assert re.fullmatch(
            r"it has only said for \d+ s that it gets too many requests, .* at most 240 s \(busy_timeout\)", reason
        )
        assert time.seconds >= (120 if retry_after == 120.0 else 180), "a last try when most of the time is over"
        until = [why for _, why in watcher.less if "Harvest waits until 03:06:" in why]
        assert len(until) == 1, "once"
    assert not run.finished
    assert {c.outcome.reason for c in run.conversations if c.outcome} <= {"http-429", "asked-too-much"}


def test_the_waiting_time_for_a_system_that_only_complains_is_reported_at_once(tmp_path: Path) -> None:
    class Told(Quiet):
        def pace_lowered(self, system: str, why: str) -> None:
            self.less.append((f"{time.seconds:.0f}", why))

    def behave(opening: Opening, n: int, text: str) -> str:
        raise NotSent("http-429", "slow down")

    time = Stepped()
    _, watcher = play(tmp_path / "run", Scripted(behave), stepped=time, watcher=Told(), retry_wait=1.0)
    second, why = watcher.less[0]
    assert int(second) <= 2
    assert why == "says that it gets too many requests: unless it answers, Harvest waits until 03:06:01"


def test_a_system_that_answers_again_within_the_bound_is_played_to_its_end(tmp_path: Path) -> None:
    def behave(opening: Opening, n: int, text: str) -> str:
        if 3 <= n <= 12:
            raise NotSent("http-429", "slow down", retry_after=20.0)
        return USEFUL

    time = Stepped()
    run, watcher = play(tmp_path / "run", Scripted(behave), stepped=time, trials=5, retries=20)
    assert time.seconds >= 180
    assert watcher.left == []
    assert len(run.finished) == 15
