"""The paraphrasing user, which says the turns of the wrapped user in other words.

The acts and the end of the conversation are the inner user's. Only words change, by the rules of
`simulators.wrappers.changes`, each with a separate rate. Numbers, names, URLs, quotations and the format that the
topic asks for stay exactly as they are (`simulators.wrappers.guards`).

At the start one number is drawn from the stream `paraphrasing` and kept in the memory. Together with the turn and the
inner user's words, the number determines the words of every turn, with one stream for each kind of change. So trials
differ, a forked memory words the same turn in the same way, and this user is enumerable if the inner user is. The
memory counts in `realised`, for each kind of change, the units that could be changed and those that were.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, model_validator

from protocols.route import Choice, Route, Say, Stop
from simulators.memory import memory_kind, recall
from simulators.promises import initial_state, next_action
from simulators.user import Chance, Observation, Scenario, State, Streams, User, last_route
from simulators.wrappers.changes import CHANGES, ENGLISH_ONLY
from simulators.wrappers.guards import cut_pieces, join_pieces
from simulators.wrappers.wrapped import can_enumerate, inner_chances, judged_phrases, merge_equal
from topics.document import StrictModel, validation_error

Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

# No change breaks a shorter word, and guarding one would break up those that hold it ("no" in "know").
_SHORTEST_CHANGED = 4

# Every JSON reader keeps whole numbers below this exactly.
_NUMBERS = 2**53


class Options(StrictModel):
    """Options of the paraphrasing user. At least one rate is given, which may be 0 for a control group. Rates of
    words are shares of the words that can be changed; rates of turns are shares of the turns."""

    typos: Rate = Field(
        default=0.0, description="share of words of four letters or more with a letter swapped, lost, doubled or wrong"
    )
    synonyms: Rate = Field(default=0.0, description="share of words in the list of synonyms (English)")
    case: Rate = Field(default=0.0, description="share of turns in lower case or capitals only")
    keywords: Rate = Field(default=0.0, description="share of turns without function words (English)")
    order: Rate = Field(
        default=0.0, description="share of turns of two or more sentences whose sentences change places"
    )
    politeness: Rate = Field(
        default=0.0, description="share of turns without politeness that get a greeting or thanks (English)"
    )
    guard: tuple[str, ...] = Field(default=(), description="further phrases that stay unchanged")
    language: str = Field(default="en", description="language of the turns; the English rules need `en`", min_length=1)

    @model_validator(mode="after")
    def _check_rates(self) -> "Options":
        given = [name for name in CHANGES if name in self.model_fields_set]
        if not given:
            raise validation_error(f"give at least one rate: {', '.join(CHANGES)}")
        foreign = [name for name in given if name in ENGLISH_ONLY and getattr(self, name) > 0]
        if foreign and self.language.partition("-")[0].lower() != "en":
            raise validation_error(f"{', '.join(foreign)}: the rules exist only for English, not for {self.language!r}")
        if not all(phrase.strip() for phrase in self.guard):
            raise validation_error("guard: a phrase is empty")
        return self

    @property
    def rates(self) -> Mapping[str, float]:
        return {name: float(getattr(self, name)) for name in CHANGES}


def build(options: Options, inner: User) -> User:
    """Build the paraphrasing user over `inner`. The result is enumerable if `inner` is."""
    kind = EnumerableParaphrasingUser if can_enumerate(inner) else ParaphrasingUser
    return kind(inner, MappingProxyType(dict(options.rates)), options.guard)


def paraphrase(
    text: str, rates: Mapping[str, float], rng: Streams, guard: Sequence[str] = ()
) -> tuple[str, dict[str, tuple[int, int]]]:
    """Return `text` in other words, and for each kind of change the number of units that could be changed and the
    number that were. `rng` is at the turn and has one stream for each kind of change. If all rates are 0, the text
    does not change. A text with words never becomes empty."""
    parts, tally = cut_pieces(text, guard), {}
    for name, change in CHANGES.items():
        changed = change(parts, rates.get(name, 0.0), rng(name))
        parts, tally[name] = changed.pieces, (changed.could, changed.did)
    return join_pieces(parts), tally


def realised_rates(state: State) -> dict[str, float]:
    """Return for each kind of change the share of changeable units so far that were changed. A share is NaN if no
    unit could be changed."""
    counted = recall(state, ParaphrasingMemory).realised
    return {name: did / could if could else math.nan for name, (could, did) in counted.items()}


@memory_kind("paraphrasing")
@dataclass(frozen=True, slots=True)
class ParaphrasingMemory:
    """The memory of a paraphrasing user. `words` is the number that determines the words of every turn, and `guard`
    lists unchanged phrases. `realised` counts, by kind of change, the units that could be changed and those that
    were."""

    words: int
    guard: tuple[str, ...]
    realised: Mapping[str, tuple[int, int]]
    inner: State


@dataclass(frozen=True, slots=True)
class ParaphrasingUser:
    """A user that changes the words of `inner`. Acts (`Say.state`), routes, stops and their reasons are the inner
    user's. `rates` in [0, 1] are by kind of change. `guard` lists more phrases that are not changed."""

    inner: User
    rates: Mapping[str, float]
    guard: tuple[str, ...] = ()
    name: str = "paraphrasing"

    def start(self, scenario: Scenario, rng: Streams) -> ParaphrasingMemory:
        form = scenario.topic.asks_for
        judged = (phrase for group in judged_phrases(self.inner, scenario.topic) for phrase in group)
        # A phrase may begin a sentence: "Peanuts are something I cannot eat."
        told = (
            written
            for phrase in judged
            if len(phrase) >= _SHORTEST_CHANGED
            for written in (phrase, phrase[:1].upper() + phrase[1:])
        )
        return ParaphrasingMemory(
            words=int(rng(rng.own("paraphrasing", "paraphrasing")).integers(_NUMBERS)),
            guard=tuple(dict.fromkeys((*self.guard, *((form,) if form else ()), *told))),
            realised=MappingProxyType(dict.fromkeys(CHANGES, (0, 0))),
            inner=initial_state(self.inner, scenario, rng.inside("paraphrasing")),
        )

    def route(self, state: State, observation: Observation) -> Route | None:
        return last_route(self.inner, recall(state, ParaphrasingMemory).inner, observation)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = recall(state, ParaphrasingMemory)
        return self._paraphrase(memory, *next_action(self.inner, memory.inner, observation, rng.inside("paraphrasing")))

    def _paraphrase(
        self, memory: ParaphrasingMemory, action: Say | Stop, after: State
    ) -> tuple[Say | Stop, ParaphrasingMemory]:
        if isinstance(action, Stop) or action.pressed is not None:
            return action, replace(memory, inner=after)
        here = Streams(memory.words, ("paraphrasing", action.turn))
        text, tally = paraphrase(action.text, self.rates, here, memory.guard)
        before = memory.realised
        realised = {name: (before[name][0] + could, before[name][1] + did) for name, (could, did) in tally.items()}
        noise = {name: units for name, units in tally.items() if units[0] and self.rates.get(name)}
        choice = replace(action.choice or Choice(), noise=noise)
        return replace(action, text=text, choice=choice), replace(
            memory, realised=MappingProxyType(realised), inner=after
        )


@dataclass(frozen=True, slots=True)
class EnumerableParaphrasingUser(ParaphrasingUser):
    """An enumerable `ParaphrasingUser`."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory = recall(state, ParaphrasingMemory)
        chances = inner_chances(self.inner, memory.inner, observation)
        return merge_equal(chances, lambda action, after: self._paraphrase(memory, action, after))
