"""The replay user, which repeats a recorded conversation and notes when the conversation departs from the recording.

After an answer that differs from the recorded answer, a `strict` user leaves (`no-branch`). A `tolerant` user
continues with the next turn. From that turn on, the user's act is `out-of-place`, and `first_differing_turn` returns
the turn from the user's memory. A turn out of place replies to something that was not said here. It can be played,
for example to send every system the same turns, but the recorded user might not have said it. `simulators.recorded`
plays many recordings as one user.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.conversations.conversation import Conversation
from simulators.memory import check_order, memory_kind, recall
from simulators.moves import check_traits
from simulators.reasons import NO_BRANCH, RECORDED_END
from simulators.recorded import conversations_of, exact_answer
from simulators.user import Chance, Observation, Scenario, State, Streams
from topics.document import StrictModel
from topics.errors import InputError

# Said at this point of this conversation; said in reply to a different answer.
ACTS = ("recorded", "out-of-place")


def first_differing_turn(state: State) -> int | None:
    """Return the first user turn whose preceding answer differs from the recorded answer, or None."""
    return recall(state, ReplayMemory).parted


@memory_kind("replay")
@dataclass(frozen=True, slots=True)
class ReplayMemory:
    """The memory of a replay user. `topic` is the topic's id, and `recording` is the number of the recording played.
    `parted` is as in `first_differing_turn`."""

    topic: str
    recording: int
    turn: int = 0
    parted: int | None = None
    over: bool = False


@dataclass(frozen=True)
class ReplayUser:
    """A user that repeats recordings. Each trial draws one of the topic's recordings with equal probability.
    `recordings` has at least one recording per topic id. `answer_key` computes the part of an answer that must equal
    the recorded answer. If an answer was never recorded (the last turn of an invalid attempt), any answer matches."""

    recordings: Mapping[str, Sequence[Conversation]]
    mode: Literal["strict", "tolerant"] = "strict"
    answer_key: Callable[[Answer], str] = exact_answer
    name: str = "replay"

    def start(self, scenario: Scenario, rng: Streams) -> ReplayMemory:
        check_traits(scenario, (), self.name)
        found = self.recordings.get(scenario.id)
        if not found:
            raise InputError(
                f"there is no recorded conversation on topic {scenario.id!r}",
                allowed=", ".join(sorted(self.recordings)),
            )
        drawn = int(rng("recording").integers(len(found))) if len(found) > 1 else 0
        return ReplayMemory(scenario.id, drawn)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = recall(state, ReplayMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        recorded = self.recordings.get(memory.topic, ())
        if not 0 <= memory.recording < len(recorded):
            raise ValueError(
                f"the memory is for recording {memory.recording} of topic {memory.topic!r}, which does not exist"
            )
        turns, turn, first = recorded[memory.recording].turns, memory.turn, memory.parted
        if turn >= len(turns):
            return Stop("user-stopped", RECORDED_END), replace(memory, over=True)
        if observation is not None and first is None:
            reply = turns[turn - 1].reply
            if reply is not None and self.answer_key(reply.answer) != self.answer_key(observation.answer):
                if self.mode == "strict":
                    return Stop("user-stopped", NO_BRANCH), replace(memory, over=True)
                first = turn + 1
        said = Say(
            turns[turn].said, ACTS[0] if first is None else ACTS[1], turn + 1, new_session=bool(turns[turn].session)
        )
        return said, replace(memory, turn=turn + 1, parted=first)

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        return (Chance(1.0, *self.respond(state, observation, Streams(0))),)


class Options(StrictModel):
    """Options of the replay user: a recorded run. Each trial repeats a conversation of that run."""

    run: str = Field(min_length=1, description="a folder of a recorded run")
    system: str | None = Field(default=None, description="only conversations with this system; default: all")
    mode: Literal["strict", "tolerant"] = Field(default="strict", description="`strict`: a different answer ends it")


# Options that name files.
FILES = ("run",)


def build(options: Options) -> ReplayUser:
    """Build the user. Raises InputError if the run has nothing to play."""
    found: dict[str, list[Conversation]] = {}
    for conversation in conversations_of(options.run, options.system):
        found.setdefault(conversation.key.topic, []).append(conversation)
    return ReplayUser(found, options.mode)
