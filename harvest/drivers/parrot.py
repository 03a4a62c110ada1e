"""The embedded parrot as a driver. It needs no key and no network, and its true values are known for comparison."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

import numpy
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harvest.parrot.parrot import Catalogue, Parrot, ParrotSession, load_catalogue
from harvest.parrot.profiles import PROFILES, Behaviour, Profile
from harvest.systems.driver import Capabilities, NothingHeld, Opening, Reply, Surroundings
from harvest.systems.timing import REAL_CLOCK, Clock, Stopwatch
from recordings.conversations.conversation import SystemTurn
from topics.document import StrictModel
from topics.errors import InputError
from topics.identity import generator

Row = dict[Behaviour, Annotated[float, Field(ge=0, le=1)]]


class Options(StrictModel):
    """Options of a parrot. `profile` is the name of a shipped profile, and each further option replaces a property of
    that profile (see `Profile`). `delay` is the range of seconds before each answer, as `[shortest, longest]`.
    `catalogue` is a gold table with titles from which the parrot answers, for the topics of the audit; the default
    is the shipped catalogue of the `fairweb-45` topics."""

    profile: str = "steady"
    first: Row | None = None
    then: dict[Behaviour, Row] | None = None
    told: dict[Behaviour, Row] | None = None
    cued: dict[str, Row] | None = None
    entities: int | None = None
    wrong: float | None = None
    repeats: float | None = None
    carry: float | None = None
    delay: tuple[float, float] | None = None
    catalogue: str | None = None

    @model_validator(mode="after")
    def _check_profile(self) -> Self:
        if self.profile not in PROFILES:
            raise PydanticCustomError(
                "profile",
                "there is no profile {name}: choose one of {known}",
                {"name": repr(self.profile), "known": ", ".join(PROFILES)},
            )
        try:
            self.resolved()
        except ValueError as fault:
            raise PydanticCustomError("profile", "{fault}", {"fault": str(fault)}) from None
        return self

    def resolved(self) -> Profile:
        """Return the profile with its replaced properties. Raises ValueError unless they form a Markov chain."""
        changes: Mapping[str, Any] = self.model_dump(exclude={"profile", "catalogue"}, exclude_none=True)
        return replace(PROFILES[self.profile], **changes)


class ParrotDriver(NothingHeld):
    """Driver for one parrot. `clock` waits for the profile's delay and gives the times of turns."""

    capabilities = Capabilities(stateful=True, editable_history=True, tokens=False)

    def __init__(self, parrot: Parrot, clock: Clock = REAL_CLOCK) -> None:
        self._parrot, self._clock = parrot, clock

    async def open(self, opening: Opening) -> "_Session":
        """Open a session that draws from the seed of `opening` and ignores its topic and trial."""
        session = self._parrot.session(opening.seed, opening.history)
        # A separate stream: another delay must not change the conversation.
        waits = generator(opening.seed, "parrot", "delay")
        return _Session(session, self._parrot.profile.delay, waits, self._clock)


class _Session(NothingHeld):
    def __init__(
        self,
        session: ParrotSession,
        delay: tuple[float, float],
        waits: numpy.random.Generator,
        clock: Clock,
    ) -> None:
        self._session, self._delay, self._waits, self._clock = session, delay, waits, clock

    async def say(self, text: str) -> Reply:
        watch = Stopwatch(self._clock)
        low, high = self._delay
        if high > 0:
            await self._clock.sleep(low + (high - low) * self._waits.random())
        answer = self._session.answer(text)
        watch.mark()
        return Reply(SystemTurn(answer, watch.asked_at, watch.first_seconds, watch.seconds, finish="stop"))


def build(options: Options, surroundings: Surroundings) -> ParrotDriver:
    """Build a parrot with the profile in `options`. Raises InputError if its catalogue has no topic of the audit."""
    if options.catalogue is None:
        catalogue = _shipped_catalogue()
    else:
        beside = surroundings.folder / options.catalogue
        name: str | Path = beside if beside.is_file() else options.catalogue
        catalogue = load_catalogue(name, surroundings.topics if surroundings.topics is not None else "fairweb-45")
    topics = surroundings.topics.topics if surroundings.topics is not None else ()
    if topics and not any(catalogue.find(topic.request) for topic in topics):
        raise InputError(
            f"system {surroundings.system!r}: the parrot's catalogue has none of the audit's topics",
            advice="use the topics `fairweb-45`, or set the option `catalogue` to a titled gold table of your topics",
        )
    return ParrotDriver(Parrot(catalogue, options.resolved()), surroundings.clock)


@lru_cache(maxsize=1)
def _shipped_catalogue() -> Catalogue:
    return load_catalogue()
