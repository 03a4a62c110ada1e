"""What every wrapper needs: decisions and chances of the user it holds, whose memory is a part of its own."""

from collections.abc import Callable, Iterable

from protocols.route import Say, Stop
from simulators.moves import merge_chances
from simulators.scenario import Chance, Observation, State
from simulators.user import EnumerableUser, User

# What recordings call users that play a protocol in other words than it has, in an arm of an audit.
REWORDING = frozenset({"given-words", "paraphrasing"})


def can_enumerate(user: User) -> bool:
    """Whether the user can list the ways its next turn can go."""
    return callable(getattr(user, "distribution", None))


def chances_of(inner: User, state: State, observation: Observation | None) -> tuple[Chance, ...]:
    """The chances of the wrapped user's next turn. Raises TypeError where it cannot list them."""
    if not can_enumerate(inner):
        raise TypeError(f"the user {inner.name!r} cannot be enumerated")
    enumerable: EnumerableUser = inner  # type: ignore[assignment]
    return enumerable.distribution(state, observation)


def merge_equal(
    chances: Iterable[Chance], change: Callable[[Say | Stop, State], tuple[Say | Stop, State]]
) -> tuple[Chance, ...]:
    """Each chance with its action and state changed; those that are then the same are one."""
    return merge_chances(Chance(one.probability, *change(one.action, one.state)) for one in chances)
