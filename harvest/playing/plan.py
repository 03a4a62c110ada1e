"""The plan of an audit: the trials that are not yet recorded, grouped into sessions and ordered.

If a system is played for several groups of users or in several arms, each trial is played for all groups and arms
before the next trial. Groups and arms are in random order, so that none is tied to a time or to a position in the
queue.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeVar

from harvest.audits.arms import Arm
from harvest.audits.audit import Audit
from harvest.audits.audit_file import Order
from harvest.audits.system import System
from protocols.answer import Exchange
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation, TrialKey, Turn
from recordings.log.caps import Amounts, Caps, Door
from recordings.log.header import trial_identities
from topics.errors import InputError
from topics.identity import derived_seed, generator
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Work:
    """A trial to play.

    `attempt` is the number of its next attempt in the recording. `group` is the group of its user. `arm` is the arm
    of its system or of the population's `member`. If the system keeps no state, `carried` has the answered turns of
    the interrupted attempt number `carried_from`, and the next attempt continues after these turns. `lost` is the
    number of earlier invalid attempts.
    """

    key: TrialKey
    topic: Topic
    trial_id: str
    attempt: int = 1
    group: str = ""
    arm: Arm | None = None
    carried: tuple[Turn, ...] = ()
    carried_from: int = 0
    lost: int = 0
    member: str = ""

    def next_attempt(self) -> "Work":
        """Return the next attempt after an invalid attempt, starting from the beginning."""
        return replace(self, attempt=self.attempt + 1, carried=(), carried_from=0, lost=self.lost + 1)


@dataclass(frozen=True, slots=True)
class Sitting:
    """Trials played one after the other in one session: a single trial in fresh sessions; in continued sessions all
    topics, or as many as `session_turns` allows.

    When a run is resumed, `history` has the exchanges that the session already had in the recording, and `place` is
    the number of these conversations. Only a driver with editable history can restore them; other drivers start a new
    session. `block` is the trial and, for fresh sessions, the position of its topic; for continued sessions, the
    position of the session in the trial. A block has a sitting for each group or arm. The sittings of a block are
    matched.
    """

    works: tuple[Work, ...]
    history: tuple[Exchange, ...] = ()
    place: int = 0
    block: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The unplayed part of an audit. `sittings` has the sittings of each system by its name. `planned` and `recorded`
    are the numbers of trials in the audit and of finished trials. `most_turns` is the largest possible number of user
    turns, and `most_requests` the largest number of requests, including all allowed retries and attempts."""

    sittings: dict[str, tuple[Sitting, ...]]
    planned: int
    recorded: int
    most_turns: int
    most_requests: int

    @property
    def to_play(self) -> int:
        return sum(len(sitting.works) for sittings in self.sittings.values() for sitting in sittings)

    def without(self, prevented: Collection[TrialKey]) -> "Plan":
        """Return the plan without the trials that a cap prevented."""
        kept = {
            name: tuple(
                replace(sitting, works=works)
                for sitting in sittings
                if (works := tuple(work for work in sitting.works if work.key not in prevented))
            )
            for name, sittings in self.sittings.items()
        }
        return replace(self, sittings=kept, planned=self.planned - len(prevented))


def make_plan(audit: Audit, recorded: Iterable[Conversation] = (), *, counted: bool = False) -> Plan:
    """Return the plan for `audit`. `recorded` has all attempts recorded so far, in any state. A plan that is only
    `counted` has no identities of trials, which take as long as the rest of it."""
    finished: dict[TrialKey, Conversation] = {}
    attempts: dict[TrialKey, list[Conversation]] = defaultdict(list)
    for conversation in recorded:
        attempts[conversation.key].append(conversation)
        if conversation.valid:
            finished.setdefault(conversation.key, conversation)

    sittings: dict[str, tuple[Sitting, ...]] = {}
    most_turns = most_requests = planned = done = 0
    for system in audit.played:
        identity = None if counted else trial_identities(audit.protocol, system.definition())
        made: list[Sitting] = []
        for trial in range(1, audit.trial_range[1] + 1):
            topics = [
                (number, topic)
                for number, topic in enumerate(
                    order_topics(audit.topics.topics, audit.order, trial=trial, seed=audit.seed)
                )
                if trial <= audit.trials_with(topic)
                and (audit.shard is None or audit.shard.includes(topic.id, trial, audit.seed, session=system.session))
            ]
            for part, session in enumerate(split_sessions(topics, system, audit.protocol)):
                works: list[Work] = []
                heard: list[Conversation] = []
                for _, topic in session:
                    planned += 1
                    key = TrialKey(system.name, topic.id, trial)
                    if key in finished:
                        done += 1
                        heard.append(finished[key])
                        continue
                    named = identity(topic, trial) if identity is not None else ""
                    works.append(_work(audit, system, topic, key, named, attempts.get(key, ())))
                    turns = audit.protocol.most_turns(topic)
                    most_turns += turns
                    most_requests += turns * (1 + system.limits.retries) * system.limits.attempts
                if works:
                    heard = _latest_session(heard, renewed=bool(system.session_turns))
                    history = tuple(exchange for one in heard for exchange in one.exchanges)
                    number = session[0][0] if system.session == "fresh" else part
                    made.append(Sitting(tuple(works), history, len(heard), (trial, number)))
        sittings[system.name] = tuple(made)
    return Plan(sittings, planned, done, most_turns, most_requests)


def split_sessions(
    topics: Sequence[tuple[int, Topic]], system: System, protocol: Protocol
) -> Iterator[list[tuple[int, Topic]]]:
    """Yield the topics of each session of a trial, in order. A session that is renewed counts the turns that its
    topics may take, not those that were played: where it ends must not depend on answers, and must be the same for
    all systems and groups of users."""
    session: list[tuple[int, Topic]] = []
    turns = 0
    for place, topic in topics:
        most = protocol.most_turns(topic)
        if session and (system.session == "fresh" or 0 < system.session_turns < turns + most):
            yield session
            session, turns = [], 0
        session.append((place, topic))
        turns += most
    if session:
        yield session


def _latest_session(heard: list[Conversation], *, renewed: bool) -> list[Conversation]:
    """Return the recorded conversations of the session that is still open, in order. There are none if the system
    closed its session, because the next conversation then begins a new one. There are none either if sessions are
    renewed and these are not the first of one session, because topics were added and the session ended elsewhere."""
    if not heard:
        return []
    opened = max((one.started_at for one in heard if one.place == 1), default="")
    latest = sorted((one for one in heard if one.started_at >= opened), key=lambda one: one.place)
    closed = bool(latest) and latest[-1].outcome is not None and latest[-1].outcome.kind == "system-ended"
    moved = renewed and [one.place for one in latest] != list(range(1, len(latest) + 1))
    return [] if closed or moved else latest


def _work(
    audit: Audit, system: System, topic: Topic, key: TrialKey, identity: str, attempts: Sequence[Conversation]
) -> Work:
    member = audit.member_of(topic, key.trial)
    arm, name = (member.arm, member.name) if member else (system.arm, "")
    if not attempts:
        return Work(key, topic, identity, 1, system.group, arm, member=name)
    latest = sorted(attempts, key=lambda one: one.attempt, reverse=True)
    number = latest[0].attempt + 1
    # Interrupted attempts do not count: the one that continues them must request words with the same seeds.
    lost = sum(one.outcome is not None for one in attempts)
    work = Work(key, topic, identity, number, system.group, arm, lost=lost, member=name)
    interrupted = list(takewhile(lambda one: one.outcome is None, latest))
    if not interrupted or audit.drivers[system.door].capabilities.stateful:
        return work
    # An attempt that was stopped while it began has less than the previous one.
    furthest = max(interrupted, key=lambda one: len(one.exchanges))
    answered = tuple(turn for turn in furthest.turns if turn.reply is not None)
    return replace(work, carried=answered, carried_from=furthest.attempt if answered else 0)


def own_caps(audit: Audit) -> Caps | None:
    """Return the caps that hold on this machine: a shard has its share of the audit's."""
    if audit.caps is None or audit.shard is None:
        return audit.caps
    return audit.caps.divide_among(audit.shard.of)


def refuse_small_cap(audit: Audit) -> None:
    """Raise InputError for a cap that not even one round can keep, because it would be stopped without a figure."""
    caps = own_caps(audit)
    if caps is None:
        return
    least, shard = Amounts(), audit.shard
    for system in audit.played:
        first = sum(
            shard is None or shard.includes(topic.id, trial, audit.seed, session=system.session)
            for topic in audit.topics.topics
            for trial in range(1, min(audit.trials_with(topic), shard.of if shard else 1) + 1)
        )
        least = least.plus(caps.least(Door(system.asked)), first)
    if not caps.allow(least):
        raise InputError(
            f"the cap is too small for a single round, which takes at least: {caps.describe(least)}",
            allowed="a cap that each topic can be played once within, with each system",
            advice="raise it, or play fewer topics" if audit.shard is None else "raise it, or divide it among fewer",
        )


def queue_sittings(plan: Plan, systems: Sequence[System], seed: int) -> list[Sitting]:
    """Order the sittings of one system in all its groups and arms, block by block, with each block in random order.
    Sittings that were already played do not change the order of the remaining sittings."""
    sittings = [sitting for system in systems for sitting in plan.sittings.get(system.name, ())]
    if len(systems) < 2:
        return sittings

    def place(sitting: Sitting) -> tuple[tuple[int, int], int]:
        system = sitting.works[0].key.system
        return sitting.block, derived_seed(seed, system, *sitting.block, "order of groups")

    return sorted(sittings, key=place)


_T = TypeVar("_T")
_PURPOSE = "order of topics"


def order_topics(topics: Sequence[_T], order: Order, *, trial: int, seed: int) -> tuple[_T, ...]:
    """Return all `topics` in the order in which trial number `trial` (from 1) plays them."""
    match order:
        case "as-written":
            return tuple(topics)
        case "shuffled":
            return _drawn(topics, seed, trial)
        case "latin":
            labels = _drawn(topics, seed, "topics")
            rows = len(labels) if len(labels) % 2 == 0 else 2 * len(labels)
            row = _drawn(range(rows), seed, "rows")[(trial - 1) % rows] if rows else 0
            # A row of Williams' square of n treatments: 0, 1, n-1, 2, n-2, …, each moved on by `row`. For odd n, the
            # rows from n on are the others backwards.
            n = len(labels)
            first = [(place + 1) // 2 if place % 2 else n - place // 2 for place in range(n)]
            moved = [labels[(one + row) % n] for one in first]
            return tuple(moved[::-1] if row >= n else moved)


def _drawn(values: Sequence[_T], seed: int, *names: str | int) -> tuple[_T, ...]:
    places = generator(seed, _PURPOSE, *names).permutation(len(values))
    return tuple(values[place] for place in places)
