"""A wrapper that presses buttons: one of the last answer's offers is drawn, or else the inner user speaks.

    P(press b) = share / B for each of the B offers that may be pressed,  P(inner user acts) = 1 - share

If there is no such offer, or after `most` presses, the inner user acts. It does not see answers to which a button was
pressed. Whether an offer may be pressed is decided by `protocols.presses`. If a system speaks first, the offers of its
greeting may be pressed, too; the inner user then opens when it first acts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import Field

from protocols.answer import Answer, Offer
from protocols.presses import pressable
from protocols.route import Choice, Say, Stop
from simulators.memory import check_order, memory_kind, recall
from simulators.moves import merge_chances
from simulators.promises import initial_state, next_action
from simulators.user import Chance, Observation, Scenario, State, Streams, User
from simulators.wrappers.wrapped import can_enumerate, inner_chances
from topics.document import StrictModel

PRESS = "press"


class Options(StrictModel):
    """Options of the pressing user."""

    share: float = Field(default=1.0, ge=0, le=1, description="probability of pressing where something is offered")
    most: int = Field(default=10, ge=1, le=10_000, description="maximum number of presses in a conversation")
    allow: tuple[str, ...] = Field(
        default=(), description="titles to press although they leave the chat, buy, book, send or delete"
    )


@memory_kind("pressing")
@dataclass(frozen=True, slots=True)
class PressingMemory:
    """The memory of a pressing user: the inner user's memory, the number of turns and of presses, whether it left, the
    system's greeting, and whether the inner user has opened."""

    inner: State
    turn: int = 0
    presses: int = 0
    over: bool = False
    greeting: Answer | None = None
    opened: bool = False


@dataclass(frozen=True, slots=True)
class PressingUser:
    """A user that presses an offer with probability `share`, each with the same probability. Acts, words and stops are
    otherwise those of `inner`."""

    inner: User
    share: float = 1.0
    most: int = 10
    allow: tuple[str, ...] = ()
    name: str = "pressing"
    greeted: bool = True

    def start(self, scenario: Scenario, rng: Streams) -> PressingMemory:
        return PressingMemory(initial_state(self.inner, scenario, rng.inside(self.name)), greeting=scenario.greeting)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = _recall(state, observation)
        offers, share = self._possible(memory, observation)
        if offers and float(rng(rng.own(self.name, PRESS)).random()) < share:
            drawn = rng(rng.own(self.name, "offer"))
            return _press(memory, offers[int(drawn.integers(len(offers)))])
        seen = observation if memory.opened else None
        return _go_on(memory, *next_action(self.inner, memory.inner, seen, rng.inside(self.name)))

    def _possible(self, memory: PressingMemory, observation: Observation | None) -> tuple[tuple[Offer, ...], float]:
        """Return the offers that may be pressed now, and the probability that one is."""
        seen = memory.greeting if observation is None else observation.answer
        if seen is None or memory.presses >= self.most or not self.share:
            return (), 0.0
        offers = pressable(seen.offers, self.allow)
        return offers, self.share if offers else 0.0


@dataclass(frozen=True, slots=True)
class EnumerablePressingUser(PressingUser):
    """An enumerable `PressingUser`."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory = _recall(state, observation)
        offers, share = self._possible(memory, observation)

        def chances() -> Iterator[Chance]:
            for offer in offers:
                yield Chance(share / len(offers), *_press(memory, offer))
            if share < 1:
                for one in inner_chances(self.inner, memory.inner, observation if memory.opened else None):
                    yield Chance((1 - share) * one.probability, *_go_on(memory, one.action, one.state))

        return merge_chances(chances())


def _recall(state: State, observation: Observation | None) -> PressingMemory:
    memory = recall(state, PressingMemory)
    check_order(observation, opened=memory.turn > 0, over=memory.over)
    return memory


def _press(memory: PressingMemory, offer: Offer) -> tuple[Say, PressingMemory]:
    turn, presses = memory.turn + 1, memory.presses + 1
    return Say(offer.title, PRESS, turn, pressed=offer), replace(memory, turn=turn, presses=presses, greeting=None)


def _go_on(memory: PressingMemory, action: Say | Stop, after: State) -> tuple[Say | Stop, PressingMemory]:
    # The chances of both users together are unknown here: `simulators.scripted` adds them.
    known = replace(action.choice or Choice(), probability=None, leaving={})
    if isinstance(action, Stop):
        return replace(action, choice=known), replace(memory, inner=after, over=True)
    memory = replace(memory, inner=after, turn=memory.turn + 1, greeting=None, opened=True)
    return replace(action, turn=memory.turn, choice=known), memory


def build(options: Options, inner: User) -> User:
    """Build the pressing user over `inner`. The result is enumerable if `inner` is."""
    kind = EnumerablePressingUser if can_enumerate(inner) else PressingUser
    return kind(inner, options.share, options.most, options.allow)
