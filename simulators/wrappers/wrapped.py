"""Functions for wrappers, whose memories contain the memory of the inner user."""

from collections.abc import Callable, Iterable, Mapping

from protocols.route import Say, Stop
from simulators.moves import merge_chances
from simulators.user import Chance, EnumerableUser, Observation, State, User
from topics.topic import Topic

# The name in recordings of users with words other than the protocol's, in an arm of an audit.
REWORDING = frozenset({"given-words", "paraphrasing"})


def find_innermost(user: User) -> User:
    """Return the user at the centre of all wrappers."""
    while (inner := getattr(user, "inner", None)) is not None:
        user = inner
    return user


def judged_phrases(user: User, topic: Topic) -> tuple[tuple[str, ...], ...]:
    """Return the groups of phrases by which the user, or a user of the protocol that it plays, judges answers. If other
    words replaced them, a system that remembers the user's statements would seem to forget."""
    inmost = find_innermost(user)
    judged = getattr(inmost, "judged_phrases", None)
    within: Mapping[str, User] = getattr(inmost, "users", {})
    own = judged(topic) if judged is not None else ()
    return (*own, *(group for one in within.values() for group in judged_phrases(one, topic)))


def can_enumerate(user: User) -> bool:
    """Return whether the user can list the outcomes of its next turn."""
    return callable(getattr(user, "distribution", None))


def inner_chances(inner: User, state: State, observation: Observation | None) -> tuple[Chance, ...]:
    """Return the chances of the inner user's next turn. Raises TypeError if the inner user cannot list them."""
    if not can_enumerate(inner):
        raise TypeError(f"the user {inner.name!r} cannot be enumerated")
    enumerable: EnumerableUser = inner  # type: ignore[assignment]
    return enumerable.distribution(state, observation)


def merge_equal(
    chances: Iterable[Chance], change: Callable[[Say | Stop, State], tuple[Say | Stop, State]]
) -> tuple[Chance, ...]:
    """Change the action and state of each chance, and merge chances that are then equal."""
    return merge_chances(Chance(one.probability, *change(one.action, one.state)) for one in chances)
