"""Words that come from outside a policy: from a model or a person.

A user is a pure function, but a model or person takes time. The user treats their words like a random draw: it asks
for a sample by name (`take_sample`) and raises `SampleNeeded` if the sample is missing. The caller then gets the words
and calls the user again with them (`respond_with_words`). The same memory, observation and streams give the same
decisions, so nothing is decided twice. Wrappers, protocols and tests need not know how a user gets words.

    respond_with_words(user, …) ──► user.respond(…, rng) ──► take_sample(rng, …) ── found ──► words to be judged
            ▲                                                     │
            └────── WordingSource.sample(prompt) ◄── SampleNeeded ─┘

A source that fails raises `SourceError`, and a failure never becomes words. `take_sample` raises the failure in the
user only after the system has answered, so that the user may continue with the policy's words. At the opening another
attempt costs nothing, and a run must not continue without its source.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Literal, Protocol

from protocols.route import Say, Stop
from recordings.log.own_loop import run_long_work
from simulators.promises import next_action
from simulators.reasons import ENDPOINT_FAILED
from simulators.user import Observation, Scenario, State, Streams, User

# Endpoints accept signed 32-bit seeds.
_SEEDS = 2**31

# Samples in one decision. Users have smaller limits of their own; this one stops a user without one.
_MOST_SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """A chat message. `role` is as in chat completions; the system under audit speaks in the role `user`."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request for words.

    - `source`: the name in the audit of the endpoint or person that gives the words.
    - `act`: the user's act.
    - `messages`: the context.
    - `names`: the names of the random stream, which are unique for every sample of every turn.
    - `seed`: an integer in [0, 2^31) drawn from that stream. Equal conversations have equal seeds; after a lost trial
      the seeds are new.
    """

    source: str
    act: str
    messages: tuple[Message, ...]
    names: tuple[str | int, ...]
    seed: int


class SourceError(Exception):
    """Raised when a source could not give words."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Words from a source. `fault` is the error that prevented the words, otherwise None. `finish` says why the words
    end (`stop`, `length`), or is "" if the source does not report the reason."""

    text: str
    finish: str = ""
    fault: SourceError | None = None


class WordingSource(Protocol):
    """A source of words: an endpoint, or a person at the keyboard."""

    async def sample(self, prompt: Prompt) -> Sample:
        """Return one sample. Raises SourceError."""
        ...


class SilentSource:
    """A source that sends no requests and has no words, for turns that will not be sent."""

    async def sample(self, prompt: Prompt) -> Sample:
        return Sample("", "stop")


class SampleNeeded(Exception):
    """Raised when the user needs a sample for `prompt` to continue."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(f"words of {prompt.source!r} are wanted for the act {prompt.act!r}")
        self.prompt = prompt


@dataclass(frozen=True, slots=True)
class _SuppliedStreams(Streams):
    samples: Mapping[tuple[str | int, ...], Sample] = field(default_factory=lambda: MappingProxyType({}))


def take_sample(rng: Streams, purpose: str, *, source: str, act: str, messages: tuple[Message, ...]) -> Sample:
    """Return the sample of the stream `purpose`. Call this once for each sample. Raises SampleNeeded if the sample is
    still missing, and SourceError if this and later samples of the turn will never come."""
    names = (*rng.names, purpose)
    if isinstance(rng, _SuppliedStreams) and names in rng.samples:
        sample = rng.samples[names]
        if sample.fault is not None:
            raise sample.fault
        return sample
    drawn = rng.at(purpose)(f"again/{rng.tries}") if rng.tries else rng(purpose)
    raise SampleNeeded(Prompt(source, act, messages, names, int(drawn.integers(_SEEDS))))


def _supply_samples(rng: Streams, samples: Mapping[tuple[str | int, ...], Sample]) -> Streams:
    plain = {part.name: getattr(rng, part.name) for part in fields(Streams)}
    before = rng.samples if isinstance(rng, _SuppliedStreams) else {}
    return _SuppliedStreams(**plain, samples={**before, **samples})


# Every sample for one decision, in order, whether its words were sent or refused.
Taken = tuple[tuple[Prompt, Sample], ...]


async def respond_with_words(
    user: User,
    state: State,
    observation: Observation | None,
    rng: Streams,
    source: WordingSource | None,
    size: int = 0,
) -> tuple[Say | Stop, State, Taken]:
    """Call `user.respond(…)`, supplying the words the user requests from `source`, and return the result with those
    words.

    `size` is the number of characters the system has answered so far; long answers are processed outside the event
    loop. If a source fails after an answer and the user continues without it, one of the returned samples has a
    fault. Raises the source's errors, BrokenPromise for a result that is not an action, and RuntimeError if words are
    requested but there is no source.
    """
    taken: list[tuple[Prompt, Sample]] = []
    while True:
        here = _supply_samples(rng, {prompt.names: sample for prompt, sample in taken}) if taken else rng
        try:
            action, after = await run_long_work(size, partial(next_action, user, state, observation, here))
        except SampleNeeded as wanted:
            prompt = _check_prompt(wanted.prompt, taken)
        else:
            return action, after, tuple(taken)
        if source is None:
            raise RuntimeError(f"the user {user.name!r} needs words from {prompt.source!r}, but no source was given")
        try:
            taken.append((prompt, await source.sample(prompt)))
        except SourceError as fault:
            if observation is None:
                raise
            taken.append((prompt, Sample("", ENDPOINT_FAILED, fault)))


@dataclass(frozen=True, slots=True)
class SuppliedUser:
    """The user `inner` with a function that supplies its words, for tests and for models in this process."""

    inner: User
    words: Callable[[Prompt], Sample]

    @property
    def name(self) -> str:
        return self.inner.name

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return self.inner.start(scenario, rng)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        taken: list[tuple[Prompt, Sample]] = []
        while True:
            try:
                return self.inner.respond(
                    state, observation, _supply_samples(rng, {prompt.names: sample for prompt, sample in taken})
                )
            except SampleNeeded as wanted:
                prompt = _check_prompt(wanted.prompt, taken)
            taken.append((prompt, self.words(prompt)))


def _check_prompt(prompt: Prompt, taken: list[tuple[Prompt, Sample]]) -> Prompt:
    if len(taken) >= _MOST_SAMPLES or any(prompt.names == known.names for known, _ in taken):
        raise RuntimeError(f"a user keeps asking {prompt.source!r} for words")
    return prompt
