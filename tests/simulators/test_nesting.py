"""Wrappers over wrappers: what is drawn is what is promised, and no two of them draw from one stream."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from protocols.route import Say, Stop
from simulators.registry import build_user
from simulators.user import EnumerableUser, Scenario, State, Streams
from tests.support.enumerable_users import ANSWERS, MOVIES
from topics.document import Document

if TYPE_CHECKING:
    import numpy

WRAPPERS: dict[str, dict[str, Any]] = {
    "reformulating": {"simulator": "reformulating"},
    "paraphrasing": {"simulator": "paraphrasing", "typos": 0.3, "politeness": 0.3},
    "persona": {"simulator": "persona", "groups": {"a": {"cue": "I am a teacher."}}, "group": "a"},
}
PAIRS = list(product(WRAPPERS, WRAPPERS))
KINDS = list(WRAPPERS)
AROUND = list(zip(KINDS, [*KINDS[1:], KINDS[0]], strict=True))
"""Pairs in which each is once within and once around another."""
REST = [pair for pair in PAIRS if pair not in AROUND]
AGENDA = {"simulator": "agenda", "patience": 3}


@dataclass(frozen=True, slots=True)
class Noted(Streams):
    taken: list[tuple[str | int, ...]] = field(default_factory=list)

    def __call__(self, purpose: str) -> numpy.random.Generator:
        self.taken.append((*self.names, purpose))
        return Streams.__call__(self, purpose)


def nested(*kinds: str, within: dict[str, Any] = AGENDA) -> EnumerableUser:
    described = within
    for kind in reversed(kinds):
        described = {**WRAPPERS[kind], "over": described}
    user = build_user(Document("x", described, {}, {}))
    assert isinstance(user, EnumerableUser)
    return user


def opened(user: EnumerableUser, trial: int) -> tuple[str, State]:
    rng = Streams(trial, ("u",))
    action, state = user.respond(user.start(Scenario(MOVIES), rng.at(0)), None, rng.at(1))
    return getattr(action, "text", ""), state


@pytest.mark.parametrize(("outer", "inner"), [*AROUND, *(pytest.param(*pair, marks=pytest.mark.soak) for pair in REST)])
def test_a_draw_of_nested_wrappers_follows_their_promised_distribution(outer: str, inner: str) -> None:
    user = nested(outer, inner)
    _, state = opened(user, 0)
    promised: dict[Say | Stop, float] = {}
    for chance in user.distribution(state, ANSWERS[1]):
        promised[chance.action] = promised.get(chance.action, 0.0) + 600 * chance.probability
    drawn = Counter(user.respond(state, ANSWERS[1], Streams(7, ("u", n)).at(2))[0] for n in range(600))
    assert drawn.keys() <= promised.keys()
    often = [action for action, n in promised.items() if n >= 5]
    cells = [(drawn[action], promised[action]) for action in often]
    rest = (600 - sum(n for n, _ in cells), 600 - sum(n for _, n in cells))
    if rest[1] > 1e-6:
        cells.append(rest)
    statistic = sum((seen - n) ** 2 / n for seen, n in cells)
    assert len(cells) < 2 or stats.chi2.sf(statistic, len(cells) - 1) > 1e-4


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_no_random_stream_is_used_by_two_of_them(outer: str, inner: str) -> None:
    user = nested(outer, inner)
    for trial in range(20):
        noted = Noted(trial, ("u",))
        state = user.start(Scenario(MOVIES), noted.at(0))
        _, state = user.respond(state, None, noted.at(1))
        user.respond(state, ANSWERS[1], noted.at(2))
        assert [names for names, n in Counter(noted.taken).items() if n > 1] == []


def test_paraphrasing_twice_equals_two_independent_changes() -> None:
    plain, _ = opened(nested(), 0)
    once, twice = (
        sum(opened(nested(*["paraphrasing"] * n, within=AGENDA), trial)[0] != plain for trial in range(150))
        for n in (1, 2)
    )
    left = 1 - once / 150
    assert abs((1 - twice / 150) - left**2) < 0.12


def test_a_user_not_inside_its_own_kind_has_the_same_draws_as_alone() -> None:
    rng = Streams(3, ("u",)).inside("persona")
    assert rng.own("reformulating", "reformulation") == "reformulation"
    assert rng("act").random() == Streams(3, ("u",))("act").random()
    assert rng.inside("reformulating").own("reformulating", "reformulation") != "reformulation"
