"""When a user turn goes out, and when it goes out again: by a clock that is stepped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from harvest.systems.delivery import deliver
from harvest.systems.driver import Denied, DriverError, NotSent, Reply, Unanswered
from harvest.systems.limits import LONGEST_WAIT, BusyTracker, Gate, Limits
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from tests.support.kept_cells import keep_cells
from tests.support.stepping import Stepped


@dataclass
class Failing:
    """A session that fails with each of `faults` in turn, and then answers after `seconds`. said: when it was asked."""

    time: Stepped
    faults: list[DriverError]
    seconds: float = 0.0
    said: list[float] = field(default_factory=list)

    async def say(self, text: str) -> Reply:
        self.said.append(self.time.seconds)
        if self.faults:
            raise self.faults.pop(0)
        await asyncio.sleep(self.seconds)
        return Reply(SystemTurn(Answer(text)))

    async def close(self) -> None:
        """Nothing is held."""


def delivered(session: Failing, limits: Limits, *, stateful: bool = True, seed: int = 1) -> Reply:
    clock = session.time.clock
    gate = Gate(limits.spacing, clock, busy=BusyTracker(limits.busy_timeout, clock))
    return session.time.run(deliver(session, "Hello?", stateful=stateful, limits=limits, gate=gate, seed=seed))


def waits(session: Failing) -> list[float]:
    return [later - earlier for earlier, later in pairwise(session.said)]


def test_the_wait_before_a_retry_doubles_with_jitter_up_to_half_of_the_first_wait() -> None:
    for seed in range(20):
        session = Failing(Stepped(), [NotSent("http-429") for _ in range(4)])
        reply = delivered(session, Limits(retries=4, retry_wait=2.0), seed=seed)
        assert reply.turn.sends == 5
        assert all(base <= wait < base + 1 for base, wait in zip((2, 4, 8, 16), waits(session), strict=True))


def test_the_jitter_of_a_wait_is_drawn_from_its_seed() -> None:
    def waited(seed: int) -> list[float]:
        session = Failing(Stepped(), [NotSent("http-429") for _ in range(3)])
        delivered(session, Limits(retries=3), seed=seed)
        return waits(session)

    assert waited(7) == waited(7)
    assert len({tuple(waited(seed)) for seed in range(20)}) == 20


def test_no_wait_is_longer_than_the_maximum() -> None:
    session = Failing(Stepped(), [NotSent("http-429") for _ in range(30)])
    delivered(session, Limits(retries=30, retry_wait=1.0, busy_timeout=86_400))
    assert waits(session)[7:] == pytest.approx([LONGEST_WAIT] * 23)
    assert max(waits(session)[:7]) < LONGEST_WAIT


@pytest.mark.parametrize("asked_for", [0.0, 3.25, LONGEST_WAIT])
def test_a_system_that_names_a_time_for_retries_is_asked_then(asked_for: float) -> None:
    session = Failing(Stepped(), [NotSent("http-429", retry_after=asked_for)])
    delivered(session, Limits())
    assert session.said == [0, asked_for]


def test_a_system_that_names_a_time_much_later_is_not_waited_for() -> None:
    session = Failing(Stepped(), [NotSent("http-429", retry_after=LONGEST_WAIT + 1)])
    with pytest.raises(NotSent, match="http-429"):
        delivered(session, Limits())
    assert session.said == [0]
    assert session.time.seconds == 0


@pytest.mark.parametrize(
    ("fault", "stateful", "sent"),
    [
        (NotSent("http-429"), True, 3),
        (NotSent("http-429"), False, 3),
        (Unanswered("http-500"), True, 1),
        (Unanswered("http-500"), False, 3),
        (Denied("http-401"), True, 1),
        (Denied("http-401"), False, 1),
    ],
)
def test_a_turn_is_sent_again_only_if_that_is_safe(fault: DriverError, stateful: bool, sent: int) -> None:
    session = Failing(Stepped(), [fault] * 9)
    with pytest.raises(type(fault)):
        delivered(session, Limits(retries=2), stateful=stateful)
    assert len(session.said) == sent


def test_a_reply_is_awaited_up_to_its_limit_and_no_longer() -> None:
    assert delivered(Failing(Stepped(), [], 299.0), Limits(turn_timeout=300.0)).turn.sends == 1
    late = Failing(Stepped(), [], 301.0)
    with pytest.raises(Unanswered, match="timeout: no complete reply within 300 s"):
        delivered(late, Limits(turn_timeout=300.0))
    assert late.time.seconds == 300


def test_each_retry_with_a_stateless_system_has_the_whole_limit_and_respects_the_rate() -> None:
    session = Failing(Stepped(), [Unanswered("reset")], 9.0)
    delivered(session, Limits(turn_timeout=10.0, retry_wait=1.0, spacing=30.0), stateful=False)
    assert session.said == [0, 30]
    assert session.time.seconds == 39


@pytest.mark.parametrize("retry_after", [None, 8.0])
def test_a_429_to_one_session_delays_all_and_then_spaces_their_turns(retry_after: float | None) -> None:
    time = Stepped()
    told = Failing(time, [NotSent("http-429", retry_after=retry_after)])
    others = [Failing(time, []) for _ in range(3)]
    limits = Limits(spacing=1.0, retry_wait=8.0)
    gate = Gate(limits.spacing, time.clock)

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for session in (told, *others):
                group.create_task(deliver(session, "Hello?", stateful=True, limits=limits, gate=gate, seed=1))

    time.run(play())
    sent = sorted(at for session in (told, *others) for at in session.said)
    assert sent[:2] == [0, pytest.approx(sent[1])]
    assert 8 <= sent[1] < 12
    assert [later - earlier for earlier, later in pairwise(sent[1:])] == pytest.approx([2, 1.9, 1.805])


def test_another_reason_for_not_arriving_only_delays_its_own_session() -> None:
    time = Stepped()
    lost, other = Failing(time, [NotSent("connect")]), Failing(time, [])
    gate = Gate(0.0, time.clock)

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for session in (lost, other):
                limits = Limits(retry_wait=8.0)
                group.create_task(deliver(session, "Hello?", stateful=True, limits=limits, gate=gate, seed=1))

    time.run(play())
    assert other.said == [0]
    assert lost.said[1] >= 8


def test_a_slowed_rate_recovers_and_counts_concurrent_complaints_once() -> None:
    time = Stepped()
    gate = Gate(0.0, time.clock)

    async def play() -> list[float]:
        first, second = await gate.wait_for_turn(), await gate.wait_for_turn()
        await gate.slow_down(first, 3.0)
        await gate.slow_down(second, 1.0)
        passed = []
        for _ in range(100):
            assert await gate.wait_for_turn() == 1
            passed.append(time.seconds)
        return passed

    passed = time.run(play())
    gaps = [later - earlier for earlier, later in pairwise(passed)]
    assert passed[0] == 3
    assert gaps[0] == pytest.approx(0.1)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == 0


@pytest.mark.parametrize("longest", keep_cells([10.0, 30.0, 240.0, 3600.0], 0, 2))
@pytest.mark.parametrize("retry_after", [None, 0.0, 7.0, LONGEST_WAIT])
def test_a_system_that_only_complains_is_not_asked_after_its_limit(longest: float, retry_after: float | None) -> None:
    session = Failing(Stepped(), [NotSent("http-429", retry_after=retry_after) for _ in range(100_000)])
    with pytest.raises(NotSent, match="http-429"):
        delivered(session, Limits(retries=100_000, busy_timeout=longest))
    assert session.said[-1] <= longest, "counted from the first complaint"
    assert session.time.seconds == session.said[-1], "what would come too late is not waited for"
    assert longest - session.said[-1] <= max(
        retry_after or 0.0, longest / 4 if retry_after is not None else longest / 2
    )


@pytest.mark.parametrize("spacing", [60.0, 300.0])
def test_a_system_with_a_low_rate_is_asked_several_times_before_it_is_abandoned(spacing: float) -> None:
    time = Stepped()
    session = Failing(time, [NotSent("http-429", retry_after=1.0) for _ in range(100)])
    gate = Gate(spacing, time.clock, busy=BusyTracker(240.0, time.clock, spacing=spacing))
    limits = Limits(retries=100, spacing=spacing)
    with pytest.raises(NotSent):
        time.run(deliver(session, "Hello?", stateful=True, limits=limits, gate=gate, seed=1))
    assert 3 <= len(session.said) <= 6


@pytest.mark.parametrize("answers_after", [100.0, 170.0])
def test_an_answer_resets_the_count_of_complaints(answers_after: float) -> None:
    time, told = Stepped(), list[str]()
    busy = BusyTracker(240.0, time.clock, told.append)
    gate = Gate(0.0, time.clock, busy=busy)

    def complaining(until: float) -> Failing:
        """Complains until that second, and then answers."""
        session = Failing(time, [])

        async def say(text: str) -> Reply:
            if time.seconds < until:
                raise NotSent("http-429", retry_after=10.0)
            return Reply(SystemTurn(Answer(text)))

        session.say = say  # type: ignore[method-assign]
        return session

    async def play() -> None:
        for until in (answers_after, answers_after + 200, answers_after + 400):
            await deliver(complaining(until), "?", stateful=True, limits=Limits(retries=99), gate=gate, seed=1)

    time.run(play())
    assert time.seconds > 240
    assert busy.over == ""
    assert len(told) == 3, "each time anew"


def test_nothing_is_abandoned_while_a_sent_turn_may_still_be_answered() -> None:
    time = Stepped()
    slow, other = Failing(time, [], 290.0), Failing(time, [NotSent("http-429", retry_after=50.0) for _ in range(6)])
    gate = Gate(0.0, time.clock)

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for session in (slow, other):
                limits = Limits(retries=20)
                group.create_task(deliver(session, "Hello?", stateful=True, limits=limits, gate=gate, seed=1))

    time.run(play())
    assert len(other.said) == 7
    assert gate.busy.over == ""


@pytest.mark.parametrize("seconds", [60.0, 290.0])
def test_a_system_that_complained_once_and_then_is_late_is_not_called_complaining(seconds: float) -> None:
    time = Stepped()
    session = Failing(time, [NotSent("http-429"), *(Unanswered("http-503") for _ in range(10))])
    gate = Gate(0.0, time.clock)
    say = session.say

    async def late(text: str) -> Reply:
        if session.said:
            await asyncio.sleep(seconds)
        return await say(text)

    session.say = late  # type: ignore[method-assign]
    limits = Limits(retries=10)
    with pytest.raises(Unanswered):
        time.run(deliver(session, "Hello?", stateful=False, limits=limits, gate=gate, seed=1))
    assert gate.busy.over == ""
    assert len(session.said) == 11


def test_complaints_with_a_long_pause_of_ours_between_them_are_not_added_up() -> None:
    time = Stepped()
    busy = BusyTracker(240.0, time.clock)
    busy.note_complaint(busy.note_sent(), 1.0)
    busy.note_end(answered=False)
    time.seconds = 4000.0
    sent = busy.note_sent()
    busy.note_end(answered=False)
    busy.note_complaint(sent, 1.0)
    assert busy.over == ""


@dataclass
class EverySixth:
    """A system that answers every sixth request, and to the others says when to come again."""

    time: Stepped
    wait: float
    asked: int = 0

    async def say(self, text: str) -> Reply:
        self.asked += 1
        if self.asked % 6:
            raise NotSent("http-429", retry_after=self.wait)
        return Reply(SystemTurn(Answer(text)))

    async def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(("wait", "sessions"), [(1.0, 1), (1.0, 2), (5.0, 1), (1.5, 3)])
def test_a_system_that_names_a_time_for_retries_is_asked_until_it_answers(wait: float, sessions: int) -> None:
    time = Stepped()
    system = EverySixth(time, wait)
    limits = Limits(concurrency=sessions)
    gate = Gate(limits.spacing, time.clock, busy=BusyTracker(limits.busy_timeout, time.clock))

    async def turns() -> None:
        for turn in range(12 // sessions):
            await deliver(system, "Hello?", stateful=True, limits=limits, gate=gate, seed=turn)

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(sessions):
                group.create_task(turns())

    time.run(play())
    assert system.asked == 72
    assert time.seconds < 72 * 2 * wait + 1


def test_retries_of_0_send_no_turn_again_whatever_the_system_says() -> None:
    session = Failing(Stepped(), [NotSent("http-429", retry_after=1.0)])
    with pytest.raises(NotSent, match="http-429"):
        delivered(session, Limits(retries=0))
    assert session.said == [0]


def test_one_turn_is_not_retried_for_longer_than_a_busy_system_is_waited_for() -> None:
    time = Stepped()
    unlucky = Failing(time, [NotSent("http-429", retry_after=5.0) for _ in range(1000)])
    limits = Limits()
    gate = Gate(0.0, time.clock, busy=BusyTracker(limits.busy_timeout, time.clock))

    async def others() -> None:
        while unlucky.said and time.seconds < 1000:
            await asyncio.sleep(20)
            await deliver(Failing(time, []), "Hi", stateful=True, limits=limits, gate=gate, seed=2)

    async def play() -> None:
        task = asyncio.create_task(deliver(unlucky, "Hello?", stateful=True, limits=limits, gate=gate, seed=1))
        await asyncio.sleep(1)
        background = asyncio.create_task(others())
        with pytest.raises(NotSent, match="http-429"):
            await task
        background.cancel()

    time.run(play())
    assert limits.busy_timeout <= unlucky.said[-1] < 2 * limits.busy_timeout


@pytest.mark.parametrize("asked_for", [999_999_999.0, 3600.0, 1e300])
def test_a_system_that_asks_for_a_pause_of_hours_is_abandoned_at_once(asked_for: float) -> None:
    session = Failing(Stepped(), [NotSent("http-429", retry_after=asked_for)])
    clock, limits = session.time.clock, Limits()
    gate = Gate(0.0, clock, busy=BusyTracker(limits.busy_timeout, clock))
    for sent in (1, 1):
        with pytest.raises(NotSent):
            session.time.run(deliver(session, "Hello?", stateful=True, limits=limits, gate=gate, seed=1))
        assert len(session.said) == sent
    assert "it asks for a pause of" in gate.busy.over
    assert session.time.seconds == 0
