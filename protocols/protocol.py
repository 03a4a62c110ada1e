"""The in-memory form of a protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocols.graph import most_turns
from protocols.rules.rule import Rule
from protocols.states import SimulatedUser, State
from topics.counting import pluralize
from topics.topic import Topic


@dataclass(frozen=True, slots=True, repr=False)
class Protocol:
    """The words of a user, and how the next turn depends on the answer.

    - `version`: the version number chosen by the author.
    - `turn_limit`: the largest number of user turns, or None if the graph itself ends.
    - `no_match`: the label of an answer that matches no edge, or None if that cannot happen.
    - `users`: the simulated users that speak in some of the states, by name.
    - `allow`: titles of buttons that may be pressed although they leave the chat, buy, book, send or delete.
    - `greeted`: True if the system speaks before the user does, so that the first state may press what it offers.
    """

    name: str
    version: int
    start: str
    states: Mapping[str, State]
    rules: Mapping[str, Rule] = field(default_factory=lambda: MappingProxyType({}))
    turn_limit: int | None = None
    no_match: str | None = None
    about: str = ""
    users: Mapping[str, SimulatedUser] = field(default_factory=lambda: MappingProxyType({}))
    allow: tuple[str, ...] = ()
    greeted: bool = False
    _most_turns: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        sizes = f"{pluralize(len(self.states), 'state')}, {pluralize(len(self.rules), 'rule')}"
        return f"<Protocol {self.name} {self.version}: {sizes}>"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities, such as `links`, that a driver must have for the rules on the edges, presses and files."""
        used = {edge.rule for state in self.states.values() for edge in state.edges if edge.rule}
        presses = [{"presses"}] if any(state.press for state in self.states.values()) else []
        greets = [{"greets"}] if self.greeted else []
        attaches = [{"attaches"}] if any(state.attach for state in self.states.values()) else []
        return frozenset[str]().union(*(self.rules[name].needs for name in used), *presses, *greets, *attaches)

    @property
    def rule_versions(self) -> Mapping[str, str]:
        """The version of the code of each rule, by the rule's name, for the record of a run."""
        return {name: rule.version for name, rule in sorted(self.rules.items())}

    def most_turns(self, topic: Topic) -> int:
        """Return the largest number of user turns on `topic`, assuming that the rules can take every edge."""
        turns = len(topic.turns)  # it depends on nothing else in a topic, and there are many topics
        if turns not in self._most_turns:
            self._most_turns[turns] = most_turns(self.start, self.states, self.turn_limit, topic)
        return self._most_turns[turns]
