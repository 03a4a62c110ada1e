"""Conversations with a user and no system, for tests of users: answers come from a function of the turn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import numpy as np

from protocols.answer import Answer
from protocols.route import Say, Stop
from scoring.statistics.beta import normal_quantile
from simulators.memory import decode_memory, encode_memory
from simulators.user import Chance, EnumerableUser, Observation, Scenario, State, Streams, User
from topics.topic import Topic, TopicType

TOPIC = Topic(
    "M002",
    TopicType("movie", "movie title, iMDB URL"),
    "Please find the best sci-fi movies about time travel from 2004. I want at least three, without sequels.",
    subject="time travel",
    turns=("What is a haiku?", "How long does green tea keep?", "Why is the sky blue?", "Who invented the zip?"),
    fields={"city": "Kyoto", "role": "teacher"},
)
SCENARIO = Scenario(TOPIC)


def answer(text: str = "Primer.", label: str | None = "o") -> Observation:
    return Observation(Answer(text), label)


def written(state: State) -> str:
    """The memory as it is kept."""
    return json.dumps(encode_memory(state), allow_nan=False)


def through_json(state: State) -> State:
    text = written(state)
    back = decode_memory(json.loads(text))
    assert back == state, "JSON changes nothing"
    assert written(back) == text
    return back


def conversation(
    user: User,
    scenario: Scenario,
    streams: Streams,
    answers: Callable[[int], Observation],
    *,
    limit: int = 30,
    json_between: bool = False,
) -> list[tuple[Say | Stop, State]]:
    """The user's actions, each with the memory after it, until it stops or `limit` turns were said.

    answers: by user turn, from 1. json_between: the memory is written and read at every turn.
    """
    found: list[tuple[Say | Stop, State]] = []
    state = user.start(scenario, streams.at(0))
    for turn in range(1, limit + 1):
        if json_between:
            state = through_json(state)
        action, state = user.respond(state, answers(turn - 1) if turn > 1 else None, streams.at(turn))
        found.append((action, state))
        if isinstance(action, Stop):
            break
        assert action.turn == turn
    return found


def texts(found: list[tuple[Say | Stop, State]]) -> list[str]:
    return [action.text if isinstance(action, Say) else f"stop: {action.reason}" for action, _ in found]


def _key(action: Say | Stop, state: State) -> tuple[str, str]:
    return repr(action), written(state)


def draws_fit(
    user: EnumerableUser, state: State, observation: Observation | None, *, draws: int = 600, tests: int = 1
) -> tuple[Chance, ...]:
    """Asserts that `respond` draws from `distribution`: nothing outside it, and chi-square under its 1 - .001/tests
    quantile (Wilson and Hilferty). Returns the chances."""
    chances = user.distribution(state, observation)
    assert abs(sum(chance.probability for chance in chances) - 1) < 1e-9
    assert all(0 < chance.probability <= 1 for chance in chances)
    keys = [_key(chance.action, chance.state) for chance in chances]
    assert len(set(keys)) == len(keys), "ways that look alike are one"
    seen = Counter(_key(*user.respond(state, observation, Streams(1, ("draws", draw)))) for draw in range(draws))
    assert set(seen) <= set(keys)
    expected = np.array([draws * chance.probability for chance in chances])
    counted = np.array([seen[key] for key in keys], dtype=float)
    rare = expected < 5
    if rare.any():  # cells that expect less than 5 are one cell
        expected = np.append(expected[~rare], expected[rare].sum())
        counted = np.append(counted[~rare], counted[rare].sum())
    degrees = len(expected) - 1
    if degrees:
        z = normal_quantile(1 - 0.001 / tests)
        spread = 2 / (9 * degrees)
        bound = degrees * (1 - spread + z * spread**0.5) ** 3
        assert ((counted - expected) ** 2 / expected).sum() <= bound
    return chances
