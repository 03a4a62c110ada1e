"""The user that walks a menu: it opens with given words and then presses given titles, one after the other."""

from dataclasses import dataclass, replace

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
    """The number of turns, and whether the user left."""

    turn: int = 0
    over: bool = False


@dataclass(frozen=True, slots=True)
class MenuUser:
    """A user that says `opening` and then presses the titles of `way`. It leaves when it has pressed them all, or when
    the last answer does not offer the next title. `allow` is as in `protocols.presses`."""

    opening: str
    way: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    name: str = "menu"

    def start(self, scenario: Scenario, rng: Streams) -> MenuMemory:
        return MenuMemory()

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = recall(state, MenuMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        turn, done = memory.turn + 1, memory.turn - 1
        if observation is None:
            return Say(self.opening, OPEN, turn), replace(memory, turn=turn)
        if done == len(self.way):
            return Stop("user-stopped", PLAN_DONE), replace(memory, over=True)
        offers = pressable(observation.answer.offers, self.allow)
        offer = next((one for one in offers if one.title == self.way[done]), None)
        if offer is None:
            return Stop("user-stopped", NO_BRANCH), replace(memory, over=True)
        return Say(offer.title, PRESS, turn, pressed=offer), replace(memory, turn=turn)
