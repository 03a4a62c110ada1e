"""The scripted user: says what a protocol says, and nothing of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.answer import Answer, Exchange
from protocols.interpreter import advance, begin, decode_position, encode_position
from protocols.protocol import Protocol
from protocols.route import Say, Stop
from simulators.memory import decode_exchanges, decode_topic, encode_exchanges, encode_topic
from simulators.user import State
from topics.topic import Topic

if TYPE_CHECKING:
    import numpy

__all__ = ["ScriptedUser"]


class ScriptedUser:
    """Plays `protocol` by its rules. Draws nothing from the random stream: the same answers get the same turns.

    Its memory holds the topic, the exchanges so far, the words that wait for an answer, and the position in the
    protocol: whoever has the protocol and the memory can go on from there, more than once and in another process.
    """

    name = "scripted"

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol

    def start(self, topic: Topic, rng: numpy.random.Generator) -> State:
        """The memory before anything was said."""
        return {"topic": encode_topic(topic), "exchanges": [], "said": None, "position": None}

    def respond(self, state: State, answer: Answer | None, rng: numpy.random.Generator) -> tuple[Say | Stop, State]:
        """The next action after `answer` (None: open the conversation), and the memory after it.

        Raises ValueError where the memory waits for an answer and none is given, or the other way round.
        """
        topic = decode_topic(state["topic"])
        exchanges = decode_exchanges(state["exchanges"])
        said, held = state["said"], state["position"]
        if (answer is None) != (held is None):
            raise ValueError("the conversation is not open" if held is None else "an answer is needed to go on")
        if answer is None or not isinstance(held, dict):
            action, position = begin(self.protocol, topic)
        else:
            if not isinstance(said, str):
                raise ValueError("the conversation is over")
            exchanges = (*exchanges, Exchange(said, answer))
            action, position = advance(self.protocol, topic, decode_position(held), exchanges)
        return action, {
            "topic": state["topic"],
            "exchanges": encode_exchanges(exchanges),
            "said": action.text if isinstance(action, Say) else None,
            "position": encode_position(position),
        }
