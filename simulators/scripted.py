"""The scripted user, which says the words of a protocol and lets the protocol's simulated users speak in their
states."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from protocols.answer import Answer, Exchange
from protocols.interpreter import Position, advance, begin
from protocols.protocol import Protocol
from protocols.route import Ask, Choice, Route, Say, Stop
from protocols.rules.empty import Empty
from protocols.rules.error_page import ErrorPage
from protocols.rules.refusal import Refusal
from protocols.rules.rule import Sight
from simulators.memory import check_order, memory_kind, recall, topic_for_user
from simulators.promises import check_turn, initial_state, next_action
from simulators.user import Chance, EnumerableUser, Observation, Scenario, State, Streams, User
from topics.topic import Topic


def add_choice(user: User, state: State, observation: Observation | None, action: Say | Stop) -> Say | Stop:
    """Add to the action its probability and the hazard of leaving, if the user's `distribution` lists them. The
    recording is valid without them, so an error in `distribution` leaves the action unchanged."""
    known = action.choice or Choice()
    if known.probability is not None or not isinstance(user, EnumerableUser):
        return action
    with suppress(Exception):
        found, leaving = 0.0, dict[str, float]()
        for chance in user.distribution(state, observation):
            other = chance.action
            if isinstance(other, Stop):
                leaving[other.reason] = leaving.get(other.reason, 0.0) + chance.probability
            elif isinstance(action, Say) and other.state == action.state:
                found += chance.probability
        if isinstance(action, Stop):
            found = leaving.get(action.reason, 0.0)
        if 0 < found < 1 + 1e-9:
            return replace(action, choice=replace(known, probability=min(found, 1.0), leaving=leaving))
    return action


def judge_unlabelled(topic: Topic, answer: Answer) -> str:
    """Classify an answer without a label as `empty`, `error-page`, `refusal` or otherwise `answered`."""
    sight = Sight(topic, (Exchange("", answer),))
    judged = {"empty": Empty().judge, "error-page": ErrorPage().judge, "refusal": Refusal().judge}
    return next((name for name, judge in judged.items() if judge(sight).holds), "answered")


@dataclass(frozen=True, slots=True)
class Speaker:
    memory: State
    turns: int = 0


@memory_kind("scripted")
@dataclass(frozen=True, slots=True)
class ScriptedMemory:
    """The memory of a scripted user. `users` has the memory of each simulated user by name. `said` are the words that
    wait for an answer. `position` is the position in the protocol, or None before the opening. `greeting` is the
    system's greeting before that."""

    topic: Topic
    users: Mapping[str, Speaker]
    exchanges: tuple[Exchange, ...] = ()
    said: str | None = None
    position: Position | None = None
    greeting: Answer | None = None


class ScriptedUser:
    """A user that plays `protocol` by its rules. The protocol's own turns need no random draws.

    `users` are the simulated users named in the protocol (`simulators.registry` builds them). Each draws from
    separate streams (`rng.at("user", NAME)`), and sees the answer to the previous turn with the protocol's label. On
    its first turn, a simulated user opens, whatever was said before. If a simulated user stops, the conversation ends
    with `user-stopped`. The protocol and the memory are enough to continue a conversation, repeatedly and in another
    process. Raises ValueError if a user is missing.
    """

    name = "scripted"

    def __init__(self, protocol: Protocol, users: Mapping[str, User] | None = None) -> None:
        self.protocol, self.users = protocol, dict(users or {})
        missing = sorted(protocol.users.keys() - self.users.keys())
        if missing:
            raise ValueError(f"protocol {protocol.name!r} needs users that are missing: {', '.join(missing)}")

    @property
    def allow(self) -> tuple[str, ...]:
        return self.protocol.allow

    @property
    def greeted(self) -> bool:
        return self.protocol.greeted

    def start(self, scenario: Scenario, rng: Streams) -> ScriptedMemory:
        """Return the memory before the opening. Raises InputError if the scenario is incomplete for a user."""
        known, opening = scenario.greeting if self.greeted else None, self.protocol.states[self.protocol.start].user
        users = {
            # A user who speaks later sees answers, which came after the greeting.
            name: Speaker(
                initial_state(
                    user,
                    replace(scenario, greeting=known if name == opening else None),
                    rng.at("user", name),
                )
            )
            for name, user in self.users.items()
        }
        return ScriptedMemory(topic_for_user(scenario.topic), MappingProxyType(users), greeting=known)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Return the next action after `observation` (None at the opening), and the memory after the action. Raises
        ValueError for a call out of turn, and BrokenPromise if a user of the protocol breaks a promise."""
        action, memory = self._decide_next(recall(state, ScriptedMemory), observation)
        if not isinstance(action, Ask):
            return action, memory
        user, speaker = self._speaker(memory, action)
        seen = _inner_observation(speaker, action, observation)
        taken, after = next_action(user, speaker.memory, seen, rng.at("user", action.user))
        check_turn(taken, speaker.turns + 1, user.name)
        return _convert_action(memory, action, add_choice(user, speaker.memory, seen, taken), after)

    def route(self, state: State, observation: Observation) -> Route | None:
        """Return the protocol's route for the answer (`simulators.user.last_route`)."""
        return self._decide_next(recall(state, ScriptedMemory), observation)[0].route

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Return the possible results of `respond`: one action, or the results of a simulated user. Raises TypeError
        if that user cannot list its results."""
        action, memory = self._decide_next(recall(state, ScriptedMemory), observation)
        if not isinstance(action, Ask):
            return (Chance(1.0, action, memory),)
        user, speaker = self._speaker(memory, action)
        if not isinstance(user, EnumerableUser):
            raise TypeError(f"the user {action.user!r} cannot be enumerated")
        return tuple(
            Chance(chance.probability, *_convert_action(memory, action, chance.action, chance.state))
            for chance in user.distribution(speaker.memory, _inner_observation(speaker, action, observation))
        )

    def _decide_next(
        self, memory: ScriptedMemory, observation: Observation | None
    ) -> tuple[Say | Ask | Stop, ScriptedMemory]:
        position, exchanges = memory.position, memory.exchanges
        check_order(observation, opened=position is not None, over=position is not None and memory.said is None)
        if observation is None or position is None or memory.said is None:
            action, then = begin(self.protocol, memory.topic, memory.greeting)
        else:
            exchanges = (*exchanges, Exchange(memory.said, observation.answer))
            action, then = advance(self.protocol, memory.topic, position, exchanges)
        said = action.text if isinstance(action, Say) else None
        return action, replace(memory, exchanges=exchanges, said=said, position=then)

    def _speaker(self, memory: ScriptedMemory, ask: Ask) -> tuple[User, Speaker]:
        if ask.user not in memory.users:
            raise ValueError(f"the memory has no user {ask.user!r}")
        return self.users[ask.user], memory.users[ask.user]


def _inner_observation(speaker: Speaker, ask: Ask, observation: Observation | None) -> Observation | None:
    if observation is None or not speaker.turns:
        return None
    return Observation(observation.answer, ask.route.label if ask.route else None)


def _convert_action(
    memory: ScriptedMemory, ask: Ask, action: Say | Stop, after: State
) -> tuple[Say | Stop, ScriptedMemory]:
    speaker = Speaker(after, memory.users[ask.user].turns + 1)
    memory = replace(memory, users=MappingProxyType({**memory.users, ask.user: speaker}))
    if isinstance(action, Say):
        act = action.act or action.state
        said = Say(
            *(action.text, ask.state, ask.turn, ask.route, ask.user, act, action.worded),
            action.choice,
            action.new_session,
            action.pressed,
            action.attached,
        )
        return said, replace(memory, said=said.text)
    if action.outcome != "user-stopped":
        raise ValueError(f"the user {ask.user!r} stops with {action.outcome!r}; it can only stop with 'user-stopped'")
    assert memory.position is not None
    ended = replace(memory.position, state="", turn=memory.position.turn - 1)
    return replace(action, route=ask.route), replace(memory, position=ended)
