"""A wrapper that replaces the protocol's own words by words from a file for the topic and state.

    format: harvest-wordings/1
    states: {insist: "Encore, s'il vous plaît."}      # said on every topic
    topics: {M001: {ask: "Quels sont …?"}}            # said on this topic alone

So the same need can be expressed in another language, or in words that people chose. The words of the protocol's
simulated users are not replaced. This user draws nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from protocols.protocol import Protocol
from protocols.route import Route, Say, Stop
from simulators.memory import memory_kind, recall
from simulators.promises import initial_state, next_action
from simulators.user import Chance, Observation, Scenario, State, Streams, User, last_route
from simulators.wrappers.wrapped import can_enumerate, inner_chances, merge_equal
from topics.cut_text import Said
from topics.document import StrictModel, form_validator, read_document
from topics.identity import content_hash
from topics.topic import Topic
from topics.yaml_values import Loc

_Text = Annotated[Said, Field(max_length=100_000), form_validator(r"(?s)\s*\S.*", "a text with words")]


class WordingsFile(StrictModel):
    """The content of a file in the format `harvest-wordings/1`."""

    format: Literal["harvest-wordings/1"]
    states: dict[str, _Text] = Field(default_factory=dict)
    topics: dict[str, dict[str, _Text]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordsByState:
    """Words by state for every topic, and words by topic and state. The latter take precedence."""

    states: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    topics: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def identity(self) -> str:
        return content_hash(
            "wordings", {"states": dict(self.states), "topics": {k: dict(v) for k, v in self.topics.items()}}
        )

    def find_words(self, topic: str, state: str) -> str | None:
        return self.topics.get(topic, {}).get(state, self.states.get(state))


def read_wordings(path: str | PathLike[str], protocol: Protocol, topics: Sequence[Topic]) -> WordsByState:
    """Read a file's words for every turn that the protocol itself can take on these topics. Raises InputError, with
    the position in the file, for an unknown topic or state, and for a turn without words."""
    document = read_document(path)
    file = document.validate_as(WordingsFile)
    own = [state.name for state in protocol.states.values() if state.say is not None]
    known = {topic.id for topic in topics}
    named: list[tuple[Loc, str]] = [(("states", state), state) for state in file.states]
    named += [(("topics", topic, state), state) for topic, said in file.topics.items() for state in said]
    for loc, state in named:
        if state not in own:
            what = f"the protocol {protocol.name!r} has no words of its own in a state {state!r}"
            raise document.error(loc, what, allowed=", ".join(own) or "none", key=True)
        if protocol.states[state].each:
            what = f"the state {state!r} goes through the turns of the topic, so a single text cannot replace it"
            raise document.error(loc, what, advice="remove it from this file", key=True)
    found = WordsByState(MappingProxyType(file.states), MappingProxyType(file.topics))
    for topic in sorted(known):
        for state in own:
            if found.find_words(topic, state) is None and not protocol.states[state].each:
                where = ("topics", topic) if topic in file.topics else ("topics",)
                what = f"topic {topic!r} has no words for the state {state!r}"
                raise document.error(where, what, advice=f"add them under topics: {topic}, or under states")
    return found


def replace_user_words(inner: User, words: WordsByState) -> User:
    """Wrap `inner` so that it says `words`. The result is enumerable if `inner` is."""
    return (EnumerableUserWithWords if can_enumerate(inner) else UserWithWords)(inner, words)


@memory_kind("given-words")
@dataclass(frozen=True, slots=True)
class GivenWordsMemory:
    topic: str
    inner: State


@dataclass(frozen=True, slots=True)
class UserWithWords:
    """A user that replaces the words of `inner`. Acts, routes and stops are the inner user's."""

    inner: User
    words: WordsByState
    name: str = "given-words"

    def start(self, scenario: Scenario, rng: Streams) -> GivenWordsMemory:
        return GivenWordsMemory(scenario.topic.id, initial_state(self.inner, scenario, rng.inside(self.name)))

    def route(self, state: State, observation: Observation) -> Route | None:
        return last_route(self.inner, recall(state, GivenWordsMemory).inner, observation)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = recall(state, GivenWordsMemory)
        return self._replace_words(memory, *next_action(self.inner, memory.inner, observation, rng.inside(self.name)))

    def _replace_words(self, memory: GivenWordsMemory, action: Say | Stop, after: State) -> tuple[Say | Stop, State]:
        memory = replace(memory, inner=after)
        if isinstance(action, Say) and not action.user and action.pressed is None:
            given = self.words.find_words(memory.topic, action.state)
            if given is not None:
                return replace(action, text=given), memory
        return action, memory


@dataclass(frozen=True, slots=True)
class EnumerableUserWithWords(UserWithWords):
    """An enumerable `UserWithWords`."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory = recall(state, GivenWordsMemory)
        chances = inner_chances(self.inner, memory.inner, observation)
        return merge_equal(chances, lambda action, after: self._replace_words(memory, action, after))
