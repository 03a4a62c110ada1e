"""The user that walks a menu: it opens with given words, or waits for a greeting, and then presses given titles, one
after the other."""

from dataclasses import dataclass, replace

from protocols.answer import Answer
from protocols.presses import pressable
from protocols.route import Say, Stop
from simulators.memory import check_order, memory_kind, recall
from simulators.reasons import NO_BRANCH, PLAN_DONE
from simulators.user import Observation, Scenario, State, Streams

# The acts of this user.
OPEN, PRESS = "open", "press"


@memory_kind("menu")
@dataclass(frozen=True, slots=True)
class MenuMemory:
    """The number of turns, whether the user left, and the system's greeting."""

    turn: int = 0
    over: bool = False
    greeting: Answer | None = None


@dataclass(frozen=True, slots=True)
class MenuUser:
    """A user that says `opening` and then presses the titles of `way`. It leaves when it has pressed them all, or when
    the last answer does not offer the next title. With the opening "", it presses the first title in the system's
    greeting, or else any that it may press. `allow` is as in `protocols.presses`."""

    opening: str
    way: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    name: str = "menu"

    @property
    def greeted(self) -> bool:
        return not self.opening

    def start(self, scenario: Scenario, rng: Streams) -> MenuMemory:
        return MenuMemory(greeting=scenario.greeting)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = recall(state, MenuMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        turn, done = memory.turn + 1, memory.turn - (not self.greeted)
        seen = memory.greeting if observation is None else observation.answer
        if observation is None and not self.greeted:
            return Say(self.opening, OPEN, turn), replace(memory, turn=turn)
        offers = pressable(seen.offers if seen is not None else (), self.allow)
        offer = next((one for one in offers if one.title in self.way[done : done + 1]), None)
        if observation is None:  # a greeting is recorded with what follows it, so that something is pressed
            offer = offer or next(iter(offers), None)
        elif done >= len(self.way):
            return Stop("user-stopped", PLAN_DONE), replace(memory, over=True)
        if offer is None:
            return Stop("user-stopped", NO_BRANCH), replace(memory, over=True)
        return Say(offer.title, PRESS, turn, pressed=offer), replace(memory, turn=turn)
