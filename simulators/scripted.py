"""The scripted user: says what a protocol says, and lets the protocol's simulated users speak in their states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from protocols.answer import Exchange
from protocols.interpreter import Position, advance, begin, decode_position, encode_position
from protocols.protocol import Protocol
from protocols.route import Ask, Say, Stop
from simulators.memory import decode_exchanges, decode_topic, encode_exchanges, encode_topic
from simulators.promises import acted, check_turn
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.streams import Streams
from simulators.user import EnumerableUser, User

__all__ = ["ScriptedUser"]


class ScriptedUser:
    """Plays `protocol` by its rules. What the protocol says draws nothing: the same answers get the same turns.

    users: those that the protocol names (`simulators.registry` builds them). Each draws from streams of its own
    (`rng.at("user", NAME)`). It sees the answer to the turn before, with the label that the protocol gave it; where it
    has not spoken yet, it opens, whatever was said before. Where it stops, the conversation ends `user-stopped`.

    Its memory holds the topic, the exchanges so far, the words that wait for an answer, the position in the protocol
    and the memories of the users: whoever has the protocol and the memory can go on from there, more than once and in
    another process. Raises ValueError where a user of the protocol is missing.
    """

    name = "scripted"

    def __init__(self, protocol: Protocol, users: Mapping[str, User] | None = None) -> None:
        self.protocol, self.users = protocol, dict(users or {})
        missing = sorted(protocol.users.keys() - self.users.keys())
        if missing:
            raise ValueError(f"protocol {protocol.name!r} needs the users {', '.join(missing)}")

    def start(self, scenario: Scenario, rng: Streams) -> State:
        """The memory before anything was said. Raises InputError for what the scenario lacks for one of the users."""
        return {
            "topic": encode_topic(scenario.topic),
            "exchanges": [],
            "said": None,
            "position": None,
            "users": {
                name: {"turns": 0, "memory": user.start(scenario, rng.at("user", name))}
                for name, user in self.users.items()
            },
        }

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """The next action after `observation` (None: open the conversation), and the memory after it.

        Raises ValueError where the memory waits for an answer and none is given, or the other way round, and
        BrokenPromise for what a user of the protocol may not do.
        """
        action, position, exchanges = self._decided(state, observation)
        if not isinstance(action, Ask):
            return action, _memory(state, action, position, exchanges)
        seen, turns, memory = self._seen(state, action, observation)
        user = self.users[action.user]
        taken, after = acted(user, memory, seen, rng.at("user", action.user))
        check_turn(taken, turns + 1, user.name)
        return _spoken(state, action, position, exchanges, turns, taken, after)

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Everything that `respond` may do: one thing, but where a simulated user speaks. Raises TypeError where that
        user cannot tell."""
        action, position, exchanges = self._decided(state, observation)
        if not isinstance(action, Ask):
            return (Chance(1.0, action, _memory(state, action, position, exchanges)),)
        seen, turns, memory = self._seen(state, action, observation)
        user = self.users[action.user]
        if not isinstance(user, EnumerableUser):
            raise TypeError(f"the user {action.user!r} cannot be enumerated")
        return tuple(
            Chance(chance.probability, *_spoken(state, action, position, exchanges, turns, chance.action, chance.state))
            for chance in user.distribution(memory, seen)
        )

    def _decided(
        self, state: State, observation: Observation | None
    ) -> tuple[Say | Ask | Stop, Position, tuple[Exchange, ...]]:
        """What the protocol does next, where it then stands, and everything said and answered by then."""
        topic = decode_topic(state["topic"])
        exchanges = decode_exchanges(state["exchanges"])
        said, held = state["said"], state["position"]
        if (observation is None) != (held is None):
            raise ValueError("the conversation is not open" if held is None else "an answer is needed to go on")
        if observation is None or not isinstance(held, Mapping):
            return *begin(self.protocol, topic), exchanges
        if not isinstance(said, str):
            raise ValueError("the conversation is over")
        exchanges = (*exchanges, Exchange(said, observation.answer))
        return *advance(self.protocol, topic, decode_position(held), exchanges), exchanges

    def _seen(self, state: State, ask: Ask, observation: Observation | None) -> tuple[Observation | None, int, State]:
        """What the user of the protocol that is to speak sees, how many turns it took so far, and its memory."""
        match state["users"]:
            case Mapping() as users if ask.user in users:
                held = users[ask.user]
            case _:
                raise ValueError(f"the memory knows no user {ask.user!r}")
        match held:
            case {"turns": int(turns), "memory": Mapping() as memory}:
                pass
            case _:
                raise ValueError(f"not a memory of the user {ask.user!r}")
        if observation is None or not turns:
            return None, turns, memory
        return Observation(observation.answer, ask.route.label if ask.route else None), turns, memory


def _spoken(
    state: State,
    ask: Ask,
    position: Position,
    exchanges: tuple[Exchange, ...],
    turns: int,
    action: Say | Stop,
    memory: State,
) -> tuple[Say | Stop, State]:
    """What a user of the protocol did, as a turn of the protocol."""
    users = state["users"]
    assert isinstance(users, Mapping)
    users = {**users, ask.user: {"turns": turns + 1, "memory": memory}}
    if isinstance(action, Say):
        action = Say(action.text, ask.state, ask.turn, ask.route, ask.user, action.act or action.state)
    elif action.outcome == "user-stopped":
        action = replace(action, route=ask.route)
        position = replace(position, state="", turn=position.turn - 1)
    else:
        raise ValueError(f"the user {ask.user!r} stops with {action.outcome!r}; it can only stop with 'user-stopped'")
    return action, {**_memory(state, action, position, exchanges), "users": users}


def _memory(state: State, action: Say | Ask | Stop, position: Position, exchanges: tuple[Exchange, ...]) -> State:
    return {
        **state,
        "exchanges": encode_exchanges(exchanges),
        "said": action.text if isinstance(action, Say) else None,
        "position": encode_position(position),
    }
