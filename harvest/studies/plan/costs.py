"""What a design costs: user turns, and hours at the rates of an audit."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harvest.audits.audit import Audit
from recordings.conversations.conversation import Conversation


def observed_costs(finished: Sequence[Conversation]) -> tuple[float, float]:
    """User turns, and seconds of answering (0 where no time is recorded), of a conversation on average. finished: of a
    pilot, at least one with a turn."""
    spoken = [one for one in finished if one.turns]
    turns = sum(len(one.turns) for one in spoken)
    seconds = sum(turn.reply.seconds or 0.0 for one in spoken for turn in one.turns if turn.reply)
    return turns / len(spoken), seconds / len(spoken)


@dataclass(frozen=True, slots=True)
class PlanCosts:
    """Costs of playing an audit. observed: of a conversation, as `observed_costs` of a pilot has it; None without one:
    turns are then the most that the protocol takes."""

    audit: Audit
    observed: tuple[float, float] | None = None

    def turns(self, mix: Sequence[int]) -> int:
        """User turns for all systems. mix: trials of each topic."""
        return round(self._turns * sum(mix) * len(self.audit.played))

    def hours(self, mix: Sequence[int]) -> float:
        """Of the slowest system, since systems are played at the same time; the groups of one system share its pace.
        NaN where nothing is known of how long a turn takes."""
        return max(self._seconds(mix)) / 3600

    @property
    def _turns(self) -> float:
        """User turns of a conversation: of the pilot on average, else the most there can be."""
        if self.observed is not None:
            return self.observed[0]
        each = [self.audit.protocol.most_turns(topic) for topic in self.audit.topics.topics]
        return sum(each) / len(each)

    def _seconds(self, mix: Sequence[int]) -> Iterator[float]:
        groups = len(self.audit.played) // len(self.audit.systems)
        for system in self.audit.systems:
            conversations, limits = sum(mix) * groups, system.limits
            at_once = limits.concurrency if system.session == "fresh" else min(limits.concurrency, max(mix) * groups)
            answering = self.observed[1] * conversations / at_once if self.observed else math.nan
            paced = limits.spacing * self._turns * conversations
            yield max(paced, answering) if answering == answering else paced if paced else math.nan
