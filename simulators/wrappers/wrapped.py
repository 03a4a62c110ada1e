"""What every wrapper needs: its memory beside that of the user it holds, and chances that fall together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from protocols.route import Say, Stop
from simulators.promises import acted
from simulators.scenario import Chance, Observation, State
from simulators.streams import Streams
from simulators.user import EnumerableUser, User
from topics.identity import canonical_json

__all__ = ["can_enumerate", "chances_of", "decided", "inner_state", "merged"]


def can_enumerate(user: User) -> bool:
    """Whether the user can say how its next turn can go."""
    return callable(getattr(user, "distribution", None))


def decided(
    inner: User, kind: str, state: State, observation: Observation | None, rng: Streams
) -> tuple[Say | Stop, State]:
    """What the user within does, and its memory afterwards. kind: of the wrapper that holds it; state: the wrapper's.

    Raises BrokenPromise for what is no action, and ValueError where `state` is not a memory of this wrapper.
    """
    return acted(inner, inner_state(state, kind), observation, rng.inside(kind))


def chances_of(inner: User, state: State, observation: Observation | None) -> tuple[Chance, ...]:
    """The chances of the held user's next turn. Raises TypeError where it has none to tell."""
    if not can_enumerate(inner):
        raise TypeError(f"the user {inner.name!r} cannot be enumerated")
    enumerable: EnumerableUser = inner  # type: ignore[assignment]
    return enumerable.distribution(state, observation)


def inner_state(state: State, wrapper: str) -> Mapping[str, object]:
    """The memory of the user within. Raises ValueError where `state` is not a memory of this wrapper."""
    held = state.get("inner")
    if state.get("wrapper") != wrapper or not isinstance(held, Mapping):
        raise ValueError(f"not a memory of a {wrapper} user")
    return held


def merged(
    chances: Iterable[Chance], change: Callable[[Say | Stop, State], tuple[Say | Stop, State]]
) -> tuple[Chance, ...]:
    """Each chance with its action and state changed; those that are then the same are one."""
    found: dict[tuple[Say | Stop, str], Chance] = {}
    for chance in chances:
        action, state = change(chance.action, chance.state)
        key = (action, canonical_json(state))
        before = found[key].probability if key in found else 0.0
        found[key] = Chance(before + chance.probability, action, state)
    return tuple(found.values())
