"""The probability that enumerable users take a recorded path, decision by decision.

A user's memory is hidden: the same words may be said from several memories, and a trial drawn from a population may
involve any member. So all memories that fit are followed, each with its probability (the forward algorithm of hidden
Markov models: L. R. Rabiner, Proceedings of the IEEE 77 (1989), 257-286, section III). Decisions are compared by what
the system sees: the words, and whether the user leaves. Names of acts and reasons do not matter. A user that draws at
its start (a wording, a recording) is followed given that draw: all users of one trial draw the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.route import Say, Stop
from simulators.promises import initial_state
from simulators.user import EnumerableUser, Observation, Scenario, State, Streams

# The outcome of a user that leaves.
LEAVES = "user-stopped"

_LEAST_PROBABILITY = 1e-12  # smaller probabilities are rounding errors

# A decision as a system sees it: `say`, or `come back` in a new session, with the words; or the outcome by which
# the user's side ends.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """A recorded decision.

    - `seen`: the previous answer, or None at the opening.
    - `said`: the words, or None if the user's side ended.
    - `outcome`: how the user's side ended.
    - `act`: the name of the act in messages.
    - `back`: True if the words opened a new session.
    """

    seen: Observation | None
    said: str | None
    outcome: str = ""
    act: str = ""
    back: bool = False

    @property
    def key(self) -> Key:
        return (self.outcome, "") if self.said is None else _words_key(self.said, back=self.back)


@dataclass(frozen=True, slots=True)
class _PossibleUser:
    user: int
    state: State
    probability: float


class PathFollower:
    """A follower of one conversation. `users` are the possible speakers, drawn with probabilities `weights`, which
    sum to 1."""

    def __init__(
        self, users: Sequence[EnumerableUser], weights: Sequence[float], scenario: Scenario, rng: Streams
    ) -> None:
        self._users = users
        self._held = [
            _PossibleUser(at, initial_state(user, scenario, rng.at(0)), weight)
            for at, (user, weight) in enumerate(zip(users, weights, strict=True))
            if weight > 0
        ]

    def outcomes(
        self, seen: Observation | None
    ) -> tuple[dict[Key, float], dict[Key, list[_PossibleUser]], dict[Key, str]]:
        """Return the probability of each outcome, its name, and the memories after it, keyed by what a system sees.
        Raises TypeError for a user that cannot be enumerated."""
        chances: dict[Key, float] = {}
        after: dict[Key, list[_PossibleUser]] = {}
        names: dict[Key, str] = {}
        for held in self._held:
            for chance in self._users[held.user].distribution(held.state, seen):
                action, probability = chance.action, held.probability * chance.probability
                key = (
                    _words_key(action.text, back=action.new_session and seen is not None)
                    if isinstance(action, Say)
                    else (action.outcome, "")
                )
                chances[key] = chances.get(key, 0.0) + probability
                after.setdefault(key, []).append(_PossibleUser(held.user, chance.state, probability))
                names.setdefault(key, _action_name(action))
        return chances, after, names

    def follow(self, key: Key, after: Mapping[Key, Sequence[_PossibleUser]]) -> None:
        """Continue with the recorded decision `key`. `after` is a result of `outcomes` that contains `key`."""
        whole = sum(held.probability for held in after[key])
        merged: list[_PossibleUser] = []
        for held in after[key]:
            probability = held.probability / whole
            same = next((at for at, one in enumerate(merged) if (one.user, one.state) == (held.user, held.state)), None)
            if same is not None:
                merged[same] = _PossibleUser(held.user, held.state, merged[same].probability + probability)
            elif probability > _LEAST_PROBABILITY:
                merged.append(_PossibleUser(held.user, held.state, probability))
        self._held = merged


def _words_key(text: str, *, back: bool) -> Key:
    return ("come back" if back else "say", text)


def _action_name(action: Say | Stop) -> str:
    if isinstance(action, Stop):
        return f"leaving ({action.reason})" if action.outcome == LEAVES else action.outcome
    return action.act or action.state
