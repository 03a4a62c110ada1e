"""What every enumerable user keeps to, checked at every node of a small tree of conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import pytest
from scipy import stats

from protocols.answer import Answer
from protocols.route import Say, Stop
from simulators.user import Chance, Observation, Scenario, State, Streams
from tests.support.talking import through_json, written
from topics.kinds import KINDS
from topics.links import Link
from topics.topic import Topic, TopicType

__all__ = ["ANSWERS", "MOVIES", "drawn_like_promised", "kept_by", "said", "through_json", "told_as_promised", "walk"]

MOVIES = Topic(
    "M002",
    TopicType("movie", "movie title, iMDB URL", KINDS["imdb-title"]),
    "Please list up sci-fi movies that feature time travel.",
    turns=("Which movies feature time travel?", "Which of them are comedies?", "Who directed the oldest one?"),
    fields={"year": "2004", "facet": "low-budget independent productions"},
)

ANSWERS = (
    Observation(Answer("Primer", (Link("Primer", "https://www.imdb.com/title/tt0390384/"),)), "o"),
    Observation(Answer("Bananas are rich in potassium."), "x"),
    Observation(Answer("Looper is one.")),
    Observation(Answer("Which year should they be from?")),
    Observation(Answer("Do you mean comedies or dramas?"), "x"),
    Observation(Answer("")),
    Observation(Answer("I’m sorry, but I can’t help with that.")),
)


class EnumerableUser(Protocol):
    def start(self, scenario: Scenario, rng: Streams) -> State: ...
    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]: ...
    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]: ...


def kept_by(user: EnumerableUser, state: State, observation: Observation | None, rng: Streams) -> tuple[Chance, ...]:
    """The distribution here, after checking what every user keeps to."""
    before = written(state)
    chances = user.distribution(state, observation)
    assert abs(sum(chance.probability for chance in chances) - 1) < 1e-9
    assert all(0 < chance.probability <= 1 + 1e-12 for chance in chances)
    ways = [(chance.action, through_json(chance.state)) for chance in chances]
    assert len({(repr(action), written(after)) for action, after in ways}) == len(ways), "each way once"
    again = user.respond(through_json(state), observation, rng)
    assert user.respond(state, observation, rng) == again, "the same names draw the same"
    assert (again[0], through_json(again[1])) in ways
    told_as_promised(again[0], chances)
    assert user.distribution(through_json(state), observation) == chances
    assert written(state) == before, "a fork leaves the memory as it was"
    for action, _ in ways:
        if isinstance(action, Say):
            assert action.text.strip()
            assert action.turn == state.turn + 1
        else:
            assert action.outcome == "user-stopped"
            assert action.reason
    return chances


def told_as_promised(action: Say | Stop, chances: Sequence[Chance]) -> None:
    """What a user tells of its choice, where it tells it, are the chances of its distribution."""
    told = action.choice
    if told is None or told.probability is None:
        return
    leaving: Counter[str] = Counter()
    acts: Counter[str] = Counter()
    for chance in chances:
        if isinstance(chance.action, Stop):
            leaving[chance.action.reason] += chance.probability  # type: ignore[assignment]
        else:
            acts[chance.action.state] += chance.probability  # type: ignore[assignment]
    done = acts[action.state] if isinstance(action, Say) else leaving[action.reason]
    assert told.probability == pytest.approx(done)
    assert dict(told.leaving) == pytest.approx(dict(leaving))


def walk(
    user: EnumerableUser, scenario: Scenario, observations: Sequence[Observation] = ANSWERS, depth: int = 3
) -> Counter[str]:
    """Checks every node down to `depth` user turns; of alike states one. Returns how often each act or reason came."""
    rng = Streams(7, ("walk", scenario.id))
    seen: Counter[str] = Counter()
    waiting: dict[str, State] = {"": user.start(scenario, rng.at(0))}
    for turn in range(1, depth + 1):
        onward: dict[str, State] = {}
        for key, state in waiting.items():
            for place, observation in enumerate(observations if turn > 1 else (None,)):
                for chance in kept_by(user, state, observation, rng.at(turn, key, place)):
                    if isinstance(chance.action, Say):
                        seen[chance.action.state] += 1
                        onward[written(chance.state)] = chance.state
                    else:
                        seen[chance.action.reason] += 1
        waiting = onward
    return seen


def drawn_like_promised(
    user: EnumerableUser, state: State, observation: Observation | None, *, tests: int = 1, draws: int = 1000
) -> None:
    """χ² of draws under names of their own against the distribution, at level .001 shared by `tests` tests."""
    promised = {
        repr((chance.action, chance.state)): chance.probability for chance in user.distribution(state, observation)
    }
    drawn = Counter(
        repr(user.respond(state, observation, Streams(11, ("fork", trial)).at("here"))) for trial in range(draws)
    )
    assert set(drawn) <= set(promised)
    expected = {way: draws * p for way, p in promised.items()}
    common = [way for way in promised if expected[way] >= 5]
    rare = [way for way in promised if expected[way] < 5]
    seen = [drawn[way] for way in common] + ([sum(drawn[way] for way in rare)] if rare else [])
    due = [expected[way] for way in common] + ([sum(expected[way] for way in rare)] if rare else [])
    if len(seen) > 1:
        assert stats.chisquare(seen, due).pvalue > 0.001 / tests


def said(user: EnumerableUser, scenario: Scenario, observations: Sequence[Observation], trial: int = 0) -> list[str]:
    """The acts of one conversation, the reason for leaving last where it left."""
    rng = Streams(3, ("said", scenario.id, trial))
    state, found = user.start(scenario, rng.at(0)), []
    for turn, observation in enumerate([None, *observations], 1):
        action, state = user.respond(state, observation, rng.at(turn))
        found.append(action.state if isinstance(action, Say) else action.reason)
        if isinstance(action, Stop):
            break
    return found
