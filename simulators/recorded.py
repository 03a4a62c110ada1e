"""The recorded user, which takes recorded turns with their recorded frequencies, and leaves where the recording
ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import read
from recordings.trees.builder import TreeBuilder, exact_form
from recordings.trees.tree import ConversationTree
from simulators.memory import check_order, memory_kind, recall
from simulators.moves import check_traits
from simulators.reasons import NO_BRANCH, RECORDED_END
from simulators.user import Chance, Observation, Scenario, State, Streams
from topics.document import StrictModel
from topics.errors import InputError, suggestion


def exact_answer(answer: Answer) -> str:
    return exact_form(answer.text)


@memory_kind("recorded")
@dataclass(frozen=True, slots=True)
class RecordedMemory:
    """The memory of a recorded user: the topic's id, and the node of the tree that the conversation has reached."""

    topic: str
    node: int = 0
    turn: int = 0
    over: bool = False


class RecordedUser:
    """A user that plays the user's side of recorded trees.

    After the same conversation, the user repeats a recorded turn or leaves, each with its recorded probability. The
    words are the text stored at the branch. `trees` are by topic id. `answer_key` computes the system's merge key in
    those trees from the answer alone. Raises InputError if the user and system turns of a tree do not alternate.
    """

    name = "recorded"

    def __init__(
        self, trees: Mapping[str, ConversationTree], answer_key: Callable[[Answer], str] = exact_answer
    ) -> None:
        for topic, tree in trees.items():
            for node in range(1, len(tree)):
                before = tree.speaker(int(tree.parent[node])) or "system"
                if tree.speaker(node) == before:
                    raise InputError(
                        f"the tree of topic {topic} cannot be played: two {before} turns follow one another",
                        allowed="user and system turns in alternation, the user's first",
                    )
        self._trees, self._answer_key = trees, answer_key

    def start(self, scenario: Scenario, rng: Streams) -> RecordedMemory:
        check_traits(scenario, (), self.name)
        if scenario.id not in self._trees:
            raise InputError(
                f"there is no recorded tree of topic {scenario.id!r}", allowed=", ".join(sorted(self._trees))
            )
        return RecordedMemory(scenario.id)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Return the next action and the memory after it. Raises ValueError for a call out of turn. The user stops
        with the outcome `user-stopped` and the reason `recorded-end` or `no-branch`."""
        chances, visits = self._possible_turns(state, observation)
        if len(chances) == 1:
            return chances[0][1:]
        # One draw among the trials that came here: each represents its own continuation, or its end here.
        drawn = int(rng("act").integers(visits))
        for trials, action, after in chances:
            if drawn < trials:
                return action, after
            drawn -= trials
        raise AssertionError("the branches of a node must include all of its trials")

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Return every recorded continuation, and the end if recorded here, each with its share of the trials."""
        chances, visits = self._possible_turns(state, observation)
        return tuple(Chance(trials / visits, action, after) for trials, action, after in chances)

    def _possible_turns(
        self, state: State, observation: Observation | None
    ) -> tuple[list[tuple[int, Say | Stop, State]], int]:
        memory = recall(state, RecordedMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        if memory.topic not in self._trees:
            raise ValueError(f"the memory is for topic {memory.topic!r}, which has no tree")
        tree, node, turn = self._trees[memory.topic], memory.node, memory.turn
        if observation is not None:
            found = tree.child(node, "system", self._answer_key(observation.answer))
            if found is None:
                return [(1, Stop("user-stopped", NO_BRANCH), replace(memory, over=True))], 1
            node = found
        ways: list[tuple[int, Say | Stop, State]] = []
        visits = left = int(tree.visits[node])
        for branch in tree.children(node):
            said = Say(tree.symbol_at(branch).text, "recorded", turn + 1)
            ways.append((int(tree.visits[branch]), said, replace(memory, node=int(branch), turn=turn + 1)))
            left -= int(tree.visits[branch])
        if left:
            ways.append((left, Stop("user-stopped", RECORDED_END), replace(memory, node=int(node), over=True)))
        return ways, visits


class Options(StrictModel):
    """Options of the recorded user, which repeats the user turns of a recorded run."""

    run: str = Field(min_length=1, description="a folder of a recorded run")
    system: str | None = Field(default=None, description="only conversations with this system; default: all")


# Options that name files.
FILES = ("run",)


def build(options: Options) -> RecordedUser:
    """Build the user from the run's trees, merged by exact words. Raises InputError if nothing can be played."""
    builders: dict[str, TreeBuilder] = {}
    for conversation in conversations_of(options.run, options.system):
        builders.setdefault(conversation.key.topic, TreeBuilder()).add(conversation)
    return RecordedUser({topic: builder.tree() for topic, builder in builders.items()})


def conversations_of(run: str, system: str | None) -> tuple[Conversation, ...]:
    """Return the finished conversations of a run, with one system or with all. Raises InputError if there are none."""
    finished = read(Path(run)).finished
    systems = sorted({one.key.system for one in finished})
    if system is not None and system not in systems:
        raise InputError(
            f"{run} has no finished conversation with system {system!r}{suggestion(system, systems)}",
            allowed=", ".join(systems) or None,
        )
    chosen = tuple(one for one in finished if system in (None, one.key.system))
    if not chosen:
        raise InputError(f"{run} has no finished conversation")
    return chosen
