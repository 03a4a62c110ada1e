"""The promises that every user makes about actions and memories, checked before either is used.

A user may be a plug-in, or a function in a notebook. Actions and memories are checked on arrival, so that a fault
leads to one invalid attempt that names the broken promise, instead of an unreadable recording or a failed run.
`PROMISES` lists all promises; `simulators.conformance` checks the rest of them.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final

from protocols.answer import Answer, Offer
from protocols.presses import press_refusal
from protocols.route import Choice, Route, Say, Stop
from simulators.memory import is_memory_type, json_text
from simulators.user import Observation, Scenario, State, Streams, User

# Each promise by its name.
PROMISES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "name": "the user has a name",
        "action": "it says text or stops, and nothing else; every part of that has its type",
        "json": "its memory is plain JSON, or of a memory_kind and immutable; a journey through JSON leaves it equal",
        "pure": "it changes neither the memory nor the observation it was given",
        "determinism": "the same memory, observation and streams give the same action and memory",
        "forks": "an earlier memory can be gone on from again, whatever came after it",
        "streams": "each stream is taken at most once in a decision",
        "gold": "how entities are grouped, which is for scoring, does not change what it does",
        "turns": "its turns are counted from 1, one by one",
        "words": "it never says an empty turn, and names what it does",
        "press": "it presses only what the last answer offers, and nothing that leaves the chat, buys, books, sends or "
        "deletes unless the title is allowed",
        "echo": "the words of the system, and of its errors, do not become its own",
        "stop": "it stops with the outcome user-stopped and a reason of simulators.reasons",
        "over": "after a stop, an answer is refused with ValueError",
        "order": "an answer before the opening, or none after it, is refused with ValueError",
        "ends": "its conversations end",
        "distribution": "its distribution has probabilities above 0 that sum to 1",
        "draw": "what it does is a draw from its distribution",
    }
)

_LARGEST_NUMBER = 1e300  # JSON only has finite numbers
_SURROGATE = re.compile("[\ud800-\udfff]")


class BrokenPromise(ValueError):
    """Raised when a user breaks a promise. `promise` is a key of PROMISES."""

    def __init__(self, promise: str, user: str, detail: str) -> None:
        super().__init__(f"the user {user!r} breaks the promise {promise!r}: {PROMISES[promise]}; but {detail}")
        self.promise, self.detail = promise, detail


def next_action(user: User, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
    """Return the user's next action, and the memory afterwards. Raises BrokenPromise if the result is not an action."""
    returned: object = user.respond(state, observation, rng)
    match returned:
        case (action, after):
            checked = check_action(action, user.name)
            if isinstance(checked, Say) and checked.pressed is not None:
                _check_press(checked.pressed, observation, user)
            check_memory(after, user.name)
            return checked, after
    raise BrokenPromise("action", user.name, f"it returns {_show_value(returned)} instead of an action and a memory")


def initial_state(user: User, scenario: Scenario, rng: Streams) -> State:
    """Return the memory before the opening. Raises the errors of `start`, and BrokenPromise if it returns no memory."""
    memory = user.start(scenario, rng)
    check_memory(memory, user.name)
    return memory


def check_action(action: object, user: str) -> Say | Stop:
    """Return `action`, or raise BrokenPromise if it is not an action or if a part has the wrong type. `user` is the
    user's name in the error. Empty words and the reason for stopping are not checked here."""
    match action:
        case Say(route=None | Route()):
            parts = {name: getattr(action, name) for name in ("text", "state", "user", "act", "worded")}
            if type(action.turn) is not int:
                raise BrokenPromise("turns", user, f"it numbers this turn as {_show_value(action.turn)}")
            if not isinstance(action.pressed, Offer | None):
                raise BrokenPromise("action", user, f"Say.pressed is {_show_value(action.pressed)}, not an offer")
            if type(action.new_session) is not bool:
                raise BrokenPromise(
                    "action", user, f"Say.new_session is {_show_value(action.new_session)}, not true or false"
                )
        case Stop(route=None | Route()):
            parts = {"outcome": action.outcome, "reason": action.reason}
        case Say() | Stop():
            raise BrokenPromise("action", user, f"its route is {_show_value(action.route)}")
        case _:
            raise BrokenPromise("action", user, f"it returns {_show_value(action)}")
    if action.choice is not None and not _is_choice(action.choice):
        raise BrokenPromise("action", user, f"{type(action).__name__}.choice is {_show_value(action.choice)}")
    for name, value in parts.items():
        if not isinstance(value, str):
            raise BrokenPromise("action", user, f"{type(action).__name__}.{name} is {_show_value(value)}, not a text")
        if _SURROGATE.search(value):
            raise BrokenPromise(
                "action", user, f"{type(action).__name__}.{name} contains a lone surrogate: {_show_value(value)}"
            )
    return action


def _check_press(pressed: Offer, observation: Observation | None, user: User) -> None:
    if observation is None and waits_for_greeting(user):
        why = press_refusal(pressed, allowed_titles(user))  # the caller knows what the greeting offers
    elif observation is None or pressed not in observation.answer.offers:
        why = "the last answer does not offer that"
    else:
        why = press_refusal(pressed, allowed_titles(user))
    if why:
        raise BrokenPromise("press", user.name, f"it presses {pressed.title[:80]!r}: {why}")


def check_offered(pressed: Offer, greeting: Answer | None, user: str) -> None:
    """Raise BrokenPromise if the user opens by pressing something that the system's `greeting` does not offer."""
    if greeting is None or pressed not in greeting.offers:
        raise BrokenPromise("press", user, f"it presses {pressed.title[:80]!r}: the greeting does not offer that")


def waits_for_greeting(user: User) -> bool:
    """Return True if the user, or a user that it wraps, waits for the system's greeting."""
    inner = getattr(user, "inner", None)
    return bool(getattr(user, "greeted", False)) or (inner is not None and waits_for_greeting(inner))


def allowed_titles(user: User) -> tuple[str, ...]:
    """Return the titles that the user, and the users within it, may press whatever they do."""
    within = [getattr(user, "inner", None), *getattr(user, "users", {}).values()]
    own = tuple(getattr(user, "allow", ()))
    return own + tuple(title for one in within if one is not None for title in allowed_titles(one))


def _is_choice(choice: object) -> bool:
    match choice:
        case Choice(took=str(), meant=str(), leaving=Mapping(), noise=Mapping(), refused=Mapping()):
            shares = (choice.probability or 0, choice.coverage or 0, *choice.leaving.values())
            units = [units for units in choice.noise.values() if isinstance(units, Sequence) and len(units) == 2]
            counts = (*choice.refused.values(), *chain.from_iterable(units))
            return (
                all(isinstance(share, float | int) and 0 <= share <= 1 for share in shares)
                and all(type(count) is int and count >= 0 for count in counts)
                and all(isinstance(name, str) for name in (*choice.leaving, *choice.refused, *choice.noise))
                and len(units) == len(choice.noise)
            )
    return False


def check_turn(action: Say | Stop, turn: int, user: str) -> None:
    """Raise BrokenPromise unless the turn has the number `turn`, from 1."""
    if isinstance(action, Say) and action.turn != turn:
        raise BrokenPromise("turns", user, f"it numbers turn {turn} as {action.turn}")


def check_opening(action: Say | Stop, user: str) -> None:
    """Raise BrokenPromise if the user leaves with its first `action`."""
    if isinstance(action, Stop) and action.outcome == "user-stopped":
        raise BrokenPromise("turns", user, f"it leaves before its first turn ({action.reason})")


def check_memory(memory: object, user: str) -> None:
    """Raise BrokenPromise unless the memory is of a `memory_kind` or is a mapping of plain JSON values. The field
    types of a `memory_kind` are checked when the kind is declared."""
    if not is_memory_type(memory):
        raise BrokenPromise("json", user, f"the memory is {_show_value(memory)}")
    # Plain JSON needs no trial: writing megabytes of answers only to discard them is slow.
    if not isinstance(memory, Mapping) or _is_plain_json(memory):
        return
    try:
        json_text(memory)
    except (TypeError, ValueError, RecursionError) as fault:
        raise BrokenPromise("json", user, f"the memory cannot be written: {fault}") from None


def _is_plain_json(value: object) -> bool:
    try:
        match value:
            case str() | bool() | None:
                return True
            case int() | float():
                return -_LARGEST_NUMBER < value < _LARGEST_NUMBER
            case list() | tuple():
                return all(map(_is_plain_json, value))
            case dict():
                return all(type(key) is str for key in value) and all(map(_is_plain_json, value.values()))
    except RecursionError:
        pass
    return False


def _show_value(value: object) -> str:
    try:
        return ascii(value)[:120]
    except Exception:
        return f"something of the type {type(value).__name__}"
