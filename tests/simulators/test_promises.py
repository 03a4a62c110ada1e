"""What a faulty user returns is caught before it is recorded: the promise is named, and nothing else is broken."""

from __future__ import annotations

import math

import pytest

from protocols.route import Say, Stop
from simulators.promises import BrokenPromise, check_memory, check_opening, check_turn, next_action
from simulators.user import Observation, Scenario, State, Streams


class Faulty:
    name = "faulty"

    def __init__(self, returned: object) -> None:
        self.returned = returned

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        return self.returned  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("returned", "promise"),
    [
        (None, "action"),
        (({"text": "hi"}, {}), "action"),
        ((Say("hi", 5, 1), {}), "action"),  # type: ignore[arg-type]
        ((Say(3, "ask", 1), {}), "action"),  # type: ignore[arg-type]
        ((Say(None, "ask", 1), {}), "action"),  # type: ignore[arg-type]
        ((Say("hi", "ask", 1, None, "u", object()), {}), "action"),  # type: ignore[arg-type]
        ((Say("half \ud800", "ask", 1), {}), "action"),
        ((Stop("user-stopped", 7), {}), "action"),  # type: ignore[arg-type]
        ((Say("hi", "ask", True), {}), "turns"),
        ((Say("hi", "ask", 1), None), "json"),
    ],
)
def test_an_invalid_action_is_named_as_the_promise_it_breaks(returned: object, promise: str) -> None:
    with pytest.raises(BrokenPromise, match=f"'faulty' breaks the promise '{promise}'"):
        next_action(Faulty(returned), {}, None, Streams(0))


@pytest.mark.parametrize("memory", [{"a": object()}, {"a": math.nan}, {"a": {1, 2}}, None, "text"])
def test_a_memory_that_is_not_plain_json_is_refused(memory: object) -> None:
    with pytest.raises(BrokenPromise, match="'json'"):
        check_memory(memory, "faulty")


def test_a_turn_is_counted_and_the_first_action_must_say_something() -> None:
    with pytest.raises(BrokenPromise, match="it numbers turn 2 as 99"):
        check_turn(Say("hi", "ask", 99), 2, "faulty")
    with pytest.raises(BrokenPromise, match="leaves before its first turn"):
        check_opening(Stop("user-stopped", "left"), "faulty")
