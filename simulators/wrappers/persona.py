"""The persona user: the wrapped user, as a member of a group.

A group is recognised by its *cue*: words that say who is speaking ("I am a retired teacher."). A frame joins the cue
and the inner user's turn. Users of several groups on one topic are *matched*: everything except the cue is equal
(need, random streams, acts, stops and words), so a difference between their answers is due either to the cue or to
chance in the system. A *null pair*, two groups with the same cue, shows the size of chance.

The group of a user is given in the options, or in the trait `group` of its scenario, which an audit with `groups`
gives to every user. Incomplete options are refused at the start: a frame without a slot for the cue, a cue with a
value the topic does not have, a group without a description. If a persona were silently lost, the system would seem
fair.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Literal

from pydantic import Field, model_validator

from protocols.route import Say, Stop
from protocols.wording import Wording, render
from simulators.memory import memory_kind, recall
from simulators.phrasing import check_words
from simulators.promises import initial_state, next_action
from simulators.user import Chance, Observation, Scenario, State, Streams, User
from simulators.wrappers.wrapped import can_enumerate, inner_chances, merge_equal
from topics.cut_text import Said
from topics.document import Document, StrictModel, validation_error
from topics.errors import InputError, suggestion
from topics.shown_names import first_same_names

_CUE, _TURN = "{cue}", "{turn}"


class Group(StrictModel):
    """A group of users. Give `cue`, `same_as` or `plain`; `request` may be added to any of them."""

    cue: Said | None = Field(default=None, description="a template over the topic that identifies the group")
    same_as: str | None = Field(default=None, description="the group with the same cue: a null pair")
    plain: Literal[True] | None = Field(default=None, description="no cue and no frame: the turn is unchanged")
    request: Said | None = Field(
        default=None,
        description="a template over the topic that replaces its request: the same need in another language",
    )

    @model_validator(mode="after")
    def _check_one_cue(self) -> "Group":
        if [self.cue, self.same_as, self.plain].count(None) != 2:
            raise validation_error("give one of cue, same_as and plain")
        for name, words in (("cue", self.cue), ("request", self.request)):
            if words is not None:
                check_words(name, words)
        return self


class Options(StrictModel):
    groups: dict[str, Group] = Field(description="the groups, by name", min_length=1)
    group: str | None = Field(
        default=None, description="group of this user; default: the trait `group` of its scenario"
    )
    frame: Said = Field(default="{cue} {turn}", description="contains {cue} and {turn}, each once")
    where: Literal["first", "every"] = Field(default="first", description="which user turns carry the cue")

    @model_validator(mode="after")
    def _check_options(self) -> "Options":
        for place in (_CUE, _TURN):
            if self.frame.count(place) != 1:
                raise validation_error(f"frame: the text must contain {place} exactly once")
        if self.group is not None and self.group not in self.groups:
            raise validation_error(
                f"group: no group is called {self.group!r}{suggestion(self.group, self.groups)}",
                allowed=", ".join(sorted(self.groups)),
                advice="name one of them, or describe it under groups",
                at=("group",),
            )
        if alike := first_same_names(self.groups):
            what = f"groups: {alike[0]!r} and {alike[1]!r} differ only in spaces and capitals"
            raise validation_error(
                what, allowed="names that differ in a letter, digit or symbol", at=("groups", alike[1])
            )
        cues: dict[str, str] = {}
        for name, group in self.groups.items():
            if group.same_as is not None:
                other = self.groups.get(group.same_as)
                if other is None or other.same_as is not None or group.same_as == name:
                    own = [one for one, of in self.groups.items() if of.same_as is None and one != name]
                    raise validation_error(
                        f"groups.{name}: same_as must name a group with its own cue: {group.same_as!r}",
                        allowed=", ".join(own) or "none: no other group has a cue",
                        advice="name one of them, or give this group a cue",
                        at=("groups", name, "same_as"),
                    )
            elif group.cue is not None and group.request is None:
                if group.cue in cues:
                    raise validation_error(
                        f"groups.{name} has the same cue as {cues[group.cue]}",
                        allowed="a different cue, or same_as for a null pair",
                        advice=f"write {{same_as: {cues[group.cue]}}}, or another cue",
                        at=("groups", name, "cue"),
                    )
                cues[group.cue] = name
        return self


def build(options: Options, inner: User) -> User:
    """Build the persona user over `inner`. The result is enumerable if `inner` is."""
    kind = EnumerablePersonaUser if can_enumerate(inner) else PersonaUser
    groups = MappingProxyType(dict(options.groups))
    return kind(inner, groups, options.group, options.frame, options.where == "every")


def find_persona(user: Document) -> Document | None:
    """Return the outermost persona in the description of a user, or None. Only this persona reads the trait `group`."""
    value = user.value
    if not isinstance(value, Mapping):
        return None
    if value.get("simulator") == "persona":
        return user
    return find_persona(user.part(("over",))) if "over" in value else None


def read_options(persona: Document) -> Options:
    """Return the options in the description of a persona. Raises InputError."""
    assert isinstance(persona.value, Mapping)
    own = {key: value for key, value in persona.value.items() if key not in ("simulator", "over")}
    return replace(persona, value=own).validate_as(Options)


def null_pairs(options: Options) -> tuple[tuple[str, str], ...]:
    """Return the pairs of groups with the same cue. Answers to such groups differ only by chance in the system."""
    said: dict[str, tuple[str | None, str | None]] = {}
    for name, group in options.groups.items():
        cue = options.groups[group.same_as].cue if group.same_as is not None else group.cue
        said[name] = (cue, group.request)
    return tuple((one, other) for one, other in combinations(said, 2) if said[one] == said[other])


def matched_scenarios(scenario: Scenario, groups: Iterable[str]) -> dict[str, Scenario]:
    """Return the scenario for each group. All scenarios have the id of the original, and thus equal random streams."""
    return {group: replace(scenario, traits=MappingProxyType({**scenario.traits, "group": group})) for group in groups}


@memory_kind("persona")
@dataclass(frozen=True, slots=True)
class PersonaMemory:
    """The memory of a persona user. `cue` has the words that identify the group, or is None. `told` is True once they
    were said."""

    group: str
    cue: str | None
    inner: State
    told: bool = False


def find_cue(state: object) -> str:
    """Return the cue in the memory of a persona user or of a user that wraps one, or "" if there is none."""
    while state is not None and not isinstance(state, PersonaMemory):
        state = getattr(state, "inner", None)
    return "" if state is None else state.cue or ""


@dataclass(frozen=True, slots=True)
class PersonaUser:
    """A member of a group. Acts, routes, stops and their reasons are the inner user's. `groups` has all groups by
    name. `group` is this user's group, or None to read it from the scenario. With `every`, the cue is said at each
    turn. The user's name, after which streams are named, is the same for all groups."""

    inner: User
    groups: Mapping[str, Group]
    group: str | None = None
    frame: str = "{cue} {turn}"
    every: bool = False
    name: str = "persona"

    def start(self, scenario: Scenario, rng: Streams) -> PersonaMemory:
        name = self._name_of_group(scenario)
        group = self.groups[name]
        if group.same_as is not None:
            group = self.groups[group.same_as].model_copy(update={"request": group.request})
        topic = scenario.topic
        cue = render(Wording(group.cue), topic, turn=1) if group.cue is not None else None
        if group.request is not None:
            topic = replace(topic, request=render(Wording(group.request), topic, turn=1))
        others = {trait: value for trait, value in scenario.traits.items() if trait != "group"}
        inside = replace(scenario, topic=topic, traits=MappingProxyType(others))
        return PersonaMemory(name, cue, initial_state(self.inner, inside, rng.inside("persona")))

    def _name_of_group(self, scenario: Scenario) -> str:
        trait = scenario.traits.get("group")
        name = self.group if self.group is not None else trait
        known = ", ".join(sorted(self.groups))
        if trait is not None and trait != name:
            raise InputError(
                f"topic {scenario.id!r}: the trait group is {trait!r}, but the option group is {name!r}",
                advice="give one of the two",
            )
        if name is None:
            raise InputError(
                f"topic {scenario.id!r}: the user's group is unknown",
                allowed=known,
                advice="add `groups` to the audit, or the option `group` to the persona",
            )
        if not isinstance(name, str) or name not in self.groups:
            raise InputError(f"topic {scenario.id!r}: there is no description of the group {name!r}", allowed=known)
        return name

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = recall(state, PersonaMemory)
        return self._frame_words(memory, *next_action(self.inner, memory.inner, observation, rng.inside("persona")))

    def _frame_words(self, memory: PersonaMemory, action: Say | Stop, after: State) -> tuple[Say | Stop, PersonaMemory]:
        cue, kept = memory.cue, replace(memory, inner=after)
        if isinstance(action, Stop) or action.pressed is not None or cue is None or (memory.told and not self.every):
            return action, kept
        before, after_cue = self.frame.split(_CUE)
        # Filled in once: braces in a cue or a turn are kept.
        framed = f"{before.replace(_TURN, action.text)}{cue}{after_cue.replace(_TURN, action.text)}"
        return replace(action, text=framed), replace(kept, told=True)


@dataclass(frozen=True, slots=True)
class EnumerablePersonaUser(PersonaUser):
    """An enumerable `PersonaUser`."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory = recall(state, PersonaMemory)
        chances = inner_chances(self.inner, memory.inner, observation)
        return merge_equal(chances, lambda action, after: self._frame_words(memory, action, after))
