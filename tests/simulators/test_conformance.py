"""The suite for simulators finds what is wrong with one, and names it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from protocols.answer import Offer
from protocols.route import Say, Stop
from simulators.conformance import assert_conforms, find_broken_promises
from simulators.memory import check_order, memory_kind
from simulators.promises import PROMISES
from simulators.reasons import PATIENCE
from simulators.user import Chance, Observation, Scenario, State, Streams
from topics.library import load_topics

SCENARIOS = [Scenario(load_topics("fairweb-45")["M002"])]
_CLOCK = itertools.count()


@dataclass
class Sound:
    """Three turns, then it has had enough. Faulty users differ from it in one thing."""

    name: str = "sound"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {"turn": 0, "over": False, "topic": {"id": scenario.id}}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        check_order(observation, opened=state["turn"] > 0, over=state["over"])
        turn = int(str(state["turn"])) + 1
        if turn > 3:
            return Stop("user-stopped", PATIENCE), {**state, "over": True}
        word = "a" if rng("words").random() < 0.5 else "b"
        return Say(word, "ask", turn), {**state, "turn": turn}


class Nameless(Sound):
    name = ""

    def __init__(self) -> None: ...


class OfTuples(Sound):
    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {**super().start(scenario, rng), "acts": {1: object()}}


class OfNaN(Sound):
    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {**super().start(scenario, rng), "score": float("nan")}


class Changing(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        assert isinstance(state, dict)
        answer = super().respond(state, observation, rng)
        state["touched"] = True
        return answer


class Spoiling(Sound):
    """Changes the memory it was given, and would not take it a second time."""

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        state.update(after, over=True)
        return action, after


class Hoarding(Sound):
    """Keeps on its own how far it has come."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = 0

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        self.reached = max(self.reached, after["turn"])
        if isinstance(action, Say) and after["turn"] < self.reached:
            action = Say("c", "ask", action.turn)
        return action, after


@memory_kind("test-typed")
@dataclass(frozen=True, slots=True)
class Typed:
    said: tuple[str, ...] = ()
    over: bool = False


class OfItsOwnKind(Sound):
    """Sound, with a memory of a kind."""

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return Typed()

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, _ = super().respond({"turn": len(state.said), "over": state.over}, observation, rng)
        if isinstance(action, Stop):
            return action, replace(state, over=True)
        return action, replace(state, said=(*state.said, action.text))


class OfAList(OfItsOwnKind):
    """What it remembers could be changed by whoever holds it."""

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return Typed(said=[])  # type: ignore[arg-type]


class Unseeded(Sound):
    """Has a generator of its own that nobody seeds."""

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (Say(str(random.random()), "ask", action.turn), after) if isinstance(action, Say) else (action, after)


class Twice(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        rng("words")
        return super().respond(state, observation, rng)


class Golden(Sound):
    def start(self, scenario: Scenario, rng: Streams) -> State:
        return {**super().start(scenario, rng), "groups": len(scenario.topic.type.attributes)}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (Say(f"{state['groups']}", "ask", action.turn), after) if isinstance(action, Say) else (action, after)


class Miscounting(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (Say("a", "ask", 1), after) if isinstance(action, Say) else (action, after)


class Wordless(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (Say(" \n", "ask", action.turn), after) if isinstance(action, Say) else (action, after)


class Echoing(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        if isinstance(action, Say) and observation:
            return Say(f"Sorry. {observation.answer.text}", "ask", action.turn), after
        return action, after


class Numeric(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (Say(5, "ask", action.turn) if isinstance(action, Say) else action), after  # type: ignore[arg-type]


class Vague(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (action if isinstance(action, Say) else Stop("completed", "done")), after


class Unending(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        check_order(observation, opened=state["turn"] > 0, over=state["over"])
        turn = int(str(state["turn"])) + 1
        return Say("a", "ask", turn), {**state, "turn": turn}


class Undead(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        return super().respond({**state, "over": False}, observation, rng)


class Impatient(Sound):
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        turn = int(str(state["turn"])) + 1
        if state["over"]:
            raise ValueError("over")
        return (Say("a", "ask", turn) if turn < 4 else Stop("user-stopped", PATIENCE)), {
            **state,
            "turn": turn,
            "over": turn > 3,
        }


class Told(Sound):
    """Also tells its distribution: `low` of it is for "a"."""

    a, b = 0.5, 0.5

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        action, after = self.respond(state, observation, Streams(0))
        if isinstance(action, Stop):
            return (Chance(1.0, action, after),)
        words: Mapping[str, float] = {"a": self.a, "b": self.b}
        return tuple(Chance(p, Say(word, "ask", action.turn), after) for word, p in words.items() if p)


class TooLittle(Told):
    b = 0.4


class Skewed(Told):
    a, b = 0.9, 0.1


class Blind(Told):
    a, b = 1.0, 0.0


class Forging(Sound):
    """Presses a button that no answer offered."""

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        action, after = super().respond(state, observation, rng)
        return (replace(action, pressed=Offer("Go on")) if isinstance(action, Say) else action), after


FAULTY = {
    Nameless: "name",
    OfTuples: "json",
    OfNaN: "json",
    OfAList: "json",
    Hoarding: "forks",
    Changing: "pure",
    Spoiling: "pure",
    Unseeded: "determinism",
    Twice: "streams",
    Golden: "gold",
    Miscounting: "turns",
    Wordless: "words",
    Numeric: "action",
    Echoing: "echo",
    Forging: "press",
    Vague: "stop",
    Unending: "ends",
    Undead: "over",
    Impatient: "order",
    TooLittle: "distribution",
    Skewed: "draw",
    Blind: "draw",
}


@pytest.mark.parametrize("kind", [Sound, Told, OfItsOwnKind])
def test_a_sound_user_conforms(kind: type[Sound]) -> None:
    assert find_broken_promises(kind(), SCENARIOS) == []


@pytest.mark.parametrize("kind", FAULTY, ids=lambda kind: kind.__name__)
def test_a_fault_is_found_and_named(kind: type[Sound]) -> None:
    found = find_broken_promises(kind(), SCENARIOS, most_turns=20)
    assert FAULTY[kind] in {finding.promise for finding in found}, [str(finding) for finding in found]


def test_every_promise_has_a_user_that_breaks_it() -> None:
    assert set(FAULTY.values()) == set(PROMISES)


def test_in_a_test_all_findings_are_reported_in_words() -> None:
    with pytest.raises(AssertionError, match=r"(?s)1 promises are broken:\ntopic M002, user turn 2: .*; but it calls"):
        assert_conforms(Miscounting(), SCENARIOS)
