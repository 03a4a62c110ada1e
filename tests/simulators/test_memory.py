"""What users remember: immutable, equal after a journey through JSON, and no dearer in a long conversation."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from types import MappingProxyType
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Say, Stop
from simulators.memory import decode_memory, encode_memory, memory_kind
from simulators.promises import BrokenPromise, check_memory
from simulators.registry import build_user
from simulators.user import Observation, Scenario, State, Streams, User
from tests.support.enumerable_users import MOVIES
from tests.support.long_conversations import PATIENT, SCENARIO, SEEN, built, memory_after, scripted
from tests.support.talking import through_json, written
from topics.document import parse_document
from topics.links import Link

USERS = {
    **PATIENT,
    "a hazard": {"simulator": "agenda", "constraints": {"year": "From 2004."}},
    "two wrappers": {"simulator": "persona", **{k: v for k, v in PATIENT["persona"].items() if k != "simulator"}}
    | {"over": PATIENT["reformulating"]},
}

answers = st.builds(
    Observation,
    st.builds(
        Answer,
        st.text(max_size=40),
        st.lists(st.builds(Link, st.text(max_size=5), st.text(max_size=5)), max_size=2).map(tuple),
        st.integers(0, 3),
    ),
    st.sampled_from(["o", "x", None]),
)


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("make", [built, scripted])
@given(heard=st.lists(answers, max_size=5), seed=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_a_memory_is_equal_after_a_round_trip_through_json_and_continues_equally(
    name: str, make: Any, heard: list[Observation], seed: int
) -> None:
    user, rng = make(USERS[name]), Streams(seed)
    state, action, seen = user.start(SCENARIO, rng.at(0)), None, None
    for turn, following in enumerate([*heard, None], 1):
        kept = through_json(state)
        action, state = user.respond(state, seen, rng.at(turn))
        assert user.respond(kept, seen, rng.at(turn)) == (action, state)
        if isinstance(action, Stop):
            break
        seen = following


@memory_kind("test-parts")
@dataclass(frozen=True, slots=True)
class Parts:
    text: str
    number: int
    share: float
    sure: bool
    label: Literal["o", "x"] | None
    pairs: tuple[tuple[str, int], ...]
    by_name: Mapping[str, tuple[float, ...]]
    inner: State


finite = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | finite
plain = st.dictionaries(
    st.text(max_size=5),
    st.recursive(leaves, lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(max_size=5), of, max_size=3)),
    max_size=3,
).filter(lambda found: "harvest-memory" not in json.dumps(found))
kinds = st.recursive(
    plain,
    lambda inner: (
        st.builds(
            Parts,
            st.text(),
            st.integers(),
            finite,
            st.booleans(),
            st.sampled_from(["o", "x", None]),
            st.lists(st.tuples(st.text(), st.integers()), max_size=3).map(tuple),
            st.dictionaries(st.text(), st.lists(st.floats(0, 1)).map(tuple), max_size=3).map(MappingProxyType),
            inner,
        )
        | st.builds(lambda one: {"inner": one, "turn": 1}, inner)
    ),  # a wrapper of another distribution
    max_leaves=4,
)


@given(memory=kinds)
def test_every_memory_reads_back_as_it_was_written(memory: State) -> None:
    check_memory(memory, "any")
    assert through_json(memory) == memory
    assert copy.deepcopy(memory) == memory
    assert pickle.loads(pickle.dumps(memory)) == memory


@given(memory=plain)
def test_a_mapping_is_kept_as_its_json(memory: dict[str, object]) -> None:
    assert encode_memory(memory) == memory
    assert decode_memory(memory) == memory


SOUND = Parts("a", 1, 0.5, True, "o", (("b", 2),), MappingProxyType({"c": (0.5,)}), {})


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("text", 1),
        ("number", True),
        ("share", "0.5"),
        ("sure", 1),
        ("label", "q"),
        ("pairs", [["b"]]),
        ("pairs", [["b", "2"]]),
        ("pairs", "b2"),
        ("by_name", []),
        ("by_name", {"c": 0.5}),
        ("inner", None),
        ("inner", {"harvest-memory": "nobody's"}),
        ("inner", {"harvest-memory": []}),
        ("more", 1),
    ],
)
def test_a_value_not_written_as_a_memory_is_refused(part: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"not a saved memory|build the user first"):
        decode_memory({**encode_memory(SOUND), part: value})


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_a_value_that_is_not_an_object_is_not_a_memory(value: object) -> None:
    with pytest.raises(ValueError, match="not a saved memory"):
        decode_memory(value)


@pytest.mark.parametrize(
    ("part", "value"),
    [("pairs", [("b", 2)]), ("by_name", {"c": (0.5,)}), ("share", float("nan")), ("inner", {"a": object()})],
)
def test_mutable_and_unwritable_parts_are_named(part: str, value: object) -> None:
    parts = {one.name: getattr(SOUND, one.name) for one in fields(SOUND)} | {part: value}
    with pytest.raises((TypeError, ValueError)) as fault:
        encode_memory(Parts(**parts))
    assert part == "inner" or f"test-parts.{part}" in str(fault.value)


def test_a_mutable_kind_of_memory_is_refused_where_it_is_declared() -> None:
    for kind in (list[str], dict[str, int], set[str], tuple[list[int], ...], bytes):
        made = type("Made", (), {"__annotations__": {"part": kind}, "__module__": __name__})
        with pytest.raises(TypeError, match=r"Made\.part: .* not a part of a memory"):
            memory_kind("test-made")(dataclass(frozen=True)(made))
    with pytest.raises(TypeError, match="must be a frozen dataclass"):
        memory_kind("test-made")(dataclass(type("Made", (), {"__annotations__": {"part": int}})))
    with pytest.raises(TypeError, match="'test-parts' is already registered"):
        memory_kind("test-parts")(dataclass(frozen=True)(type("Made", (), {})))


@dataclass(frozen=True)
class Undeclared:
    turn: int = 0


def test_an_unregistered_value_is_not_a_memory() -> None:
    with pytest.raises(BrokenPromise, match="the memory is Undeclared"):
        check_memory(Undeclared(), "faulty")
    with pytest.raises(TypeError, match="Undeclared is not a memory"):
        encode_memory(Undeclared())
    with pytest.raises(BrokenPromise, match="Undeclared is neither"):
        check_memory({"inner": Undeclared()}, "faulty")


@pytest.mark.parametrize("name", USERS)
def test_no_part_of_a_memory_can_be_changed(name: str) -> None:
    memory = memory_after(scripted(USERS[name]), 2, Streams(1))
    for one in (memory, memory.topic, memory.exchanges[0], memory.users["visitor"]):
        with pytest.raises(FrozenInstanceError):
            setattr(one, fields(one)[0].name, None)
    for mapping in (memory.users, memory.topic.fields):
        with pytest.raises(TypeError):
            mapping["visitor"] = None


def test_unchanged_parts_are_shared_and_not_copied() -> None:
    user, rng = scripted(PATIENT["agenda"]), Streams(1)
    early = memory_after(user, 5, rng)
    late = user.respond(early, SEEN, rng)[1]
    assert late.topic is early.topic
    assert all(one is other for one, other in zip(early.exchanges, late.exchanges, strict=False))
    assert late.exchanges[-1].answer is SEEN.answer


def calls(user: User, memory: State, rng: Streams) -> int:
    """Functions called in one decision, those of C among them: no clock, so a busy machine changes nothing."""
    found = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        user.respond(memory, SEEN, rng)
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("make", [built, scripted])
@pytest.mark.parametrize("name", sorted(PATIENT.keys() - {"paraphrasing"}))
def test_the_work_of_a_turn_does_not_grow_with_the_conversation(name: str, make: Any) -> None:
    """Of paraphrasing it differs from turn to turn with the words."""
    user, rng = make(PATIENT[name]), Streams(1)
    early, late = (memory_after(user, exchanges, rng) for exchanges in (20, 200))
    calls(user, early, rng)  # fills caches
    assert calls(user, late, rng) <= 1.02 * calls(user, early, rng)


RESUMED = """
import json, sys
from protocols.answer import Answer
from simulators.memory import decode_memory, encode_memory
from simulators.registry import build_user
from simulators.user import Observation
from simulators.user import Streams
from topics.document import parse_document

described, kept = json.load(sys.stdin)
user = build_user(parse_document(described, "user.yaml"))
action, after = user.respond(decode_memory(kept), Observation(Answer("Primer."), "x"), Streams(7).at(2))
print(json.dumps([repr(action), encode_memory(after)]))
"""


def test_another_process_continues_from_a_memory() -> None:
    described = json.dumps(USERS["two wrappers"])
    user = build_user(parse_document(described, "user.yaml"))
    state = user.respond(user.start(Scenario(MOVIES), Streams(7).at(0)), None, Streams(7).at(1))[1]
    action, after = user.respond(state, Observation(Answer("Primer."), "x"), Streams(7).at(2))
    done = subprocess.run(
        [sys.executable, "-c", RESUMED],
        input=json.dumps([described, json.loads(written(state))]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [repr(action), json.loads(written(after))]


def test_a_wrapper_of_another_distribution_may_keep_an_inner_memory_in_a_mapping() -> None:
    user, rng = built(PATIENT["agenda"]), Streams(1)
    held = {"wrapper": "theirs", "inner": user.start(SCENARIO, rng)}
    check_memory(held, "theirs")
    back = through_json(held)
    assert isinstance(user.respond(back["inner"], None, rng)[0], Say)
    assert back["inner"] is not held["inner"]
