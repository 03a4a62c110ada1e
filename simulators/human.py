"""The human user: a person takes the user's side, turn by turn.

To callers this is an ordinary user. The words come from outside (`simulators.outside`), from a source called
`person`. A sample with the finish `stop` ends the conversation with the reason `person-left`.
"""

from dataclasses import dataclass, replace

from protocols.route import Say, Stop
from simulators.memory import check_order, memory_kind, recall
from simulators.outside import Message, take_sample
from simulators.reasons import PERSON_LEFT
from simulators.user import Observation, Scenario, State, Streams

# The act of every turn: annotators classify what a person does.
ACT = "say"

# The value of `Prompt.source`.
SOURCE = "person"

# `Sample.finish` if the person ends the conversation.
LEAVES = "stop"


@memory_kind("human")
@dataclass(frozen=True, slots=True)
class HumanMemory:
    """The memory of the human user, which does not include what the person remembers."""

    turn: int = 0
    over: bool = False


@dataclass(frozen=True, slots=True)
class HumanUser:
    """A person who is asked for each turn. Traits have no effect and are not shown."""

    name: str = "human"

    def start(self, scenario: Scenario, rng: Streams) -> HumanMemory:
        return HumanMemory()

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Return the person's words. Raises SampleNeeded if the words are missing, and ValueError if they are empty or
        the call is out of turn."""
        memory = recall(state, HumanMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        shown = () if observation is None else (Message("user", observation.answer.text),)
        sample = take_sample(rng, "words", source=SOURCE, act=ACT, messages=shown)
        if sample.finish == LEAVES:
            return Stop("user-stopped", PERSON_LEFT), replace(memory, over=True)
        if not sample.text.strip():
            raise ValueError("the turn has no words")
        turn = memory.turn + 1
        return Say(sample.text, ACT, turn), replace(memory, turn=turn)
