"""A scripted source of words: says what it is told to, in order, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.route import Say, Stop
from simulators.outside import Prompt, Sample
from simulators.user import Observation, Scenario, State, Streams, User

__all__ = ["Words", "talk"]


class Words:
    """Each entry is one sample: text, or a text with a finish, or an error to raise. The last is said for ever."""

    def __init__(self, *samples: str | Sample | Exception) -> None:
        self._samples = list(samples)
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> Sample:
        self.prompts.append(prompt)
        sample = self._samples.pop(0) if len(self._samples) > 1 else self._samples[0]
        if isinstance(sample, Exception):
            raise sample
        return sample if isinstance(sample, Sample) else Sample(sample, "stop")

    async def sample(self, prompt: Prompt) -> Sample:
        return self(prompt)


def talk(
    user: User, scenario: Scenario, answers: Iterable[Observation], rng: Streams
) -> tuple[list[Say | Stop], State]:
    """What the user does when it hears these answers, until it stops; and its memory then."""
    state = user.start(scenario, rng.at(0))
    action, state = user.respond(state, None, rng.at(1))
    actions = [action]
    for turn, observation in enumerate(answers, 2):
        if isinstance(action, Stop):
            break
        action, state = user.respond(state, observation, rng.at(turn))
        actions.append(action)
    return actions, state
