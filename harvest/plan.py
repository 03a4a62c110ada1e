"""What is still to be played: the audit's trials less those that are recorded, in sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from harvest.audit import Audit, System
from protocols.answer import Exchange
from recordings.conversation import Conversation, TrialKey
from recordings.header import trial_identity
from topics.topic import Topic

__all__ = ["Plan", "Sitting", "Work", "make_plan"]


@dataclass(frozen=True, slots=True)
class Work:
    """A trial to be played; attempt: the number its next attempt will have in the recording."""

    key: TrialKey
    topic: Topic
    trial_id: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Sitting:
    """Trials played one after the other in one session: one where sessions are fresh, all topics where continued.

    history: what the session has already heard (from the recording, when a run goes on), and place: how many
    conversations that was. Only a driver with editable history can take it up; any other starts a new session.
    """

    works: tuple[Work, ...]
    history: tuple[Exchange, ...] = ()
    place: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """sittings: what is to be played, by system name. planned / recorded: trials of the audit, and of those
    already finished. most_turns: user turns at most; most_requests: the same with every allowed sending.
    """

    sittings: dict[str, tuple[Sitting, ...]]
    planned: int
    recorded: int
    most_turns: int
    most_requests: int

    @property
    def to_play(self) -> int:
        return sum(len(sitting.works) for sittings in self.sittings.values() for sitting in sittings)


def make_plan(audit: Audit, recorded: Iterable[Conversation] = ()) -> Plan:
    """The plan for `audit`, where `recorded` are all attempts recorded so far, in any state."""
    finished: dict[TrialKey, Conversation] = {}
    attempts: dict[TrialKey, int] = defaultdict(int)
    for conversation in recorded:
        attempts[conversation.key] = max(attempts[conversation.key], conversation.attempt)
        if conversation.valid:
            finished.setdefault(conversation.key, conversation)

    sittings: dict[str, tuple[Sitting, ...]] = {}
    most_turns = most_requests = done = 0
    for system in audit.systems:
        made: list[Sitting] = []
        for trial in range(1, audit.trials + 1):
            works: list[Work] = []
            history: list[Exchange] = []
            place = 0
            for topic in audit.topics.topics:
                key = TrialKey(system.name, topic.id, trial)
                if key in finished:
                    done += 1
                    history.extend(finished[key].exchanges)
                    place += 1
                    continue
                works.append(_work(audit, system, topic, key, attempts[key]))
                turns = audit.protocol.most_turns(topic)
                most_turns += turns
                most_requests += turns * (1 + system.limits.retries) * system.limits.attempts
                if system.session == "fresh":
                    made.append(Sitting((works.pop(),)))
            if works:
                made.append(Sitting(tuple(works), tuple(history), place))
        sittings[system.name] = tuple(made)
    planned = len(audit.systems) * len(audit.topics.topics) * audit.trials
    return Plan(sittings, planned, done, most_turns, most_requests)


def _work(audit: Audit, system: System, topic: Topic, key: TrialKey, attempts: int) -> Work:
    identity = trial_identity(audit.protocol, topic, system.definition(), key.trial)
    return Work(key, topic, identity, attempts + 1)
