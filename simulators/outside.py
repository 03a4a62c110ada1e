"""Words that no policy can make: a model's, or a person's.

A user is a pure function, but such words come from outside and take time. The user treats them like a random draw: it
asks for them by name (`take_sample`), and raises `WordsWanted` where they are not there yet. The caller then gets the
words and calls the user again with them (`respond_with_words`). The same memory, observation and streams give the same
decisions, so nothing is decided twice, and no wrapper, protocol or test around such a user needs to know of it.

    respond_with_words(user, …) ──► user.respond(…, rng) ──► take_sample(rng, …) ── there ──► words, to be judged by it
            ▲                                                     │
            └────── WordingSource.sample(prompt) ◄── WordsWanted ─┘

A source that fails raises `SourceFailed`. The user sees it (raised by `take_sample`) only after the system has
answered, so that it may go on in words of its own: at the opening nothing is lost if the attempt is made again, and a
run with a dead source must not go on without it. Nothing of a failure becomes words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Literal, Protocol

from protocols.route import Say, Stop
from recordings.log.long_work import aside
from simulators.promises import next_action
from simulators.reasons import ENDPOINT_FAILED
from simulators.scenario import Observation, Scenario, State
from simulators.streams import Streams
from simulators.user import User

# Endpoints take seeds of 32 bits with a sign.
_SEEDS = 2**31

# Samples in one decision. Every user has a smaller bound of its own; this one ends a user that has none.
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """role: as in chat completions; the words of the system under audit are the role `user`."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What words are wanted for.

    source: who gives them, by its name in the audit. act: what the user does. messages: what is known.
    names: of the random stream this sample belongs to, different for every sample of every turn. seed: drawn from it,
    in [0, 2^31); the same conversation asks with the same seeds, and with others once the trial was lost: an endpoint
    that honours seeds would give the refused words again.
    """

    source: str
    act: str
    messages: tuple[Message, ...]
    names: tuple[str | int, ...]
    seed: int


class SourceFailed(Exception):
    """A source did not get to give words."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Words from a source. finish: why they end, as the source says (`stop`, `length`; "" if it does not say). fault:
    why there are no words, in place of them; None where there are."""

    text: str
    finish: str = ""
    fault: SourceFailed | None = None


class WordingSource(Protocol):
    """Gives words: an endpoint, or a person at the keyboard."""

    async def sample(self, prompt: Prompt) -> Sample:
        """One sample. Raises SourceFailed."""
        ...


class NoWords:
    """A source for turns that will not be sent: it has no words, and contacts nobody."""

    async def sample(self, prompt: Prompt) -> Sample:
        return Sample("", "stop")


class WordsWanted(Exception):
    """The user cannot go on without a sample for `prompt`."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(f"words of {prompt.source!r} are wanted for the act {prompt.act!r}")
        self.prompt = prompt


@dataclass(frozen=True, slots=True)
class _SuppliedStreams(Streams):
    """Streams with samples at hand. `at` keeps them."""

    samples: Mapping[tuple[str | int, ...], Sample] = field(default_factory=lambda: MappingProxyType({}))


def take_sample(rng: Streams, purpose: str, *, source: str, act: str, messages: tuple[Message, ...]) -> Sample:
    """The sample of the stream `purpose`; call it once for each. Raises WordsWanted where it is not there yet, and
    SourceFailed where there will be none: words for more samples of this turn would not come either."""
    names = (*rng.names, purpose)
    if isinstance(rng, _SuppliedStreams) and names in rng.samples:
        sample = rng.samples[names]
        if sample.fault is not None:
            raise sample.fault
        return sample
    drawn = rng.at(purpose)(f"again/{rng.tries}") if rng.tries else rng(purpose)
    raise WordsWanted(Prompt(source, act, messages, names, int(drawn.integers(_SEEDS))))


def _supply_samples(rng: Streams, samples: Mapping[tuple[str | int, ...], Sample]) -> Streams:
    plain = {part.name: getattr(rng, part.name) for part in fields(Streams)}
    before = rng.samples if isinstance(rng, _SuppliedStreams) else {}
    return _SuppliedStreams(**plain, samples={**before, **samples})


# Every sample that was taken for one decision, in order, whether its words were sent or refused.
Taken = tuple[tuple[Prompt, Sample], ...]


async def respond_with_words(
    user: User,
    state: State,
    observation: Observation | None,
    rng: Streams,
    source: WordingSource | None,
    size: int = 0,
) -> tuple[Say | Stop, State, Taken]:
    """`user.respond(…)`, with the words it wants from `source`, and what came from there. size: characters that the
    system has answered so far; what is long is looked at beside the event loop.

    A source that fails after an answer is in what came from there as a sample with a fault, where the user went on
    without it. Raises what the source raises, BrokenPromise for what is not an action, and RuntimeError where words are
    wanted and there is no source.
    """
    taken: list[tuple[Prompt, Sample]] = []
    while True:
        here = _supply_samples(rng, {prompt.names: sample for prompt, sample in taken}) if taken else rng
        try:
            action, after = await aside(size, partial(next_action, user, state, observation, here))
        except WordsWanted as wanted:
            prompt = _check_prompt(wanted.prompt, taken)
        else:
            return action, after, tuple(taken)
        if source is None:
            raise RuntimeError(f"the user {user.name!r} wants words of {prompt.source!r}, and nobody gives any")
        try:
            taken.append((prompt, await source.sample(prompt)))
        except SourceFailed as fault:
            if observation is None:
                raise
            taken.append((prompt, Sample("", ENDPOINT_FAILED, fault)))


@dataclass(frozen=True, slots=True)
class SuppliedUser:
    """An ordinary user made of `inner` and a function that words: for tests, and for models in this process."""

    inner: User
    words: Callable[[Prompt], Sample]

    @property
    def name(self) -> str:
        return self.inner.name

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return self.inner.start(scenario, rng)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Raises what `words` raises."""
        taken: list[tuple[Prompt, Sample]] = []
        while True:
            try:
                return self.inner.respond(
                    state, observation, _supply_samples(rng, {prompt.names: sample for prompt, sample in taken})
                )
            except WordsWanted as wanted:
                prompt = _check_prompt(wanted.prompt, taken)
            taken.append((prompt, self.words(prompt)))


def _check_prompt(prompt: Prompt, taken: list[tuple[Prompt, Sample]]) -> Prompt:
    """Raises RuntimeError for a user that would ask for ever."""
    if len(taken) >= _MOST or any(prompt.names == known.names for known, _ in taken):
        raise RuntimeError(f"a user asks for words of {prompt.source!r} without end")
    return prompt
