"""The split-half floor of real users, and the verdict on simulated ones that is made with it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from simulated_dialogues import fitted_markov, iard, quickly_drawn
from test_simulation_model import dialogue

from recordings.acts.dialogue import Dialogue
from scoring.simulation.acts import act_divergence
from scoring.simulation.halves import FEWEST, noise_floor, random_halves
from scoring.simulation.realism import BEHAVIOUR, distances, realism
from topics.errors import InputError


def users(number: int, shares: dict[str, float], rng: np.random.Generator, *, length: int = 4) -> list[Dialogue]:
    return [
        dialogue("".join(rng.choice(list(shares), p=list(shares.values()), size=length)), name=str(n))
        for n in range(number)
    ]


def test_halves_share_no_person_and_are_of_one_size() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        first, second = random_halves(iard(), rng)
        assert not {one.person for one in first} & {one.person for one in second}
        assert len(first) == len(second) >= 150
    small = random_halves(iard(), rng, size=25)
    assert [len(half) for half in small] == [25, 25]


def test_too_few_people_cannot_be_halved() -> None:
    with pytest.raises(ValueError, match="cannot be split"):
        random_halves(
            [dialogue("a", name="1", person="p"), dialogue("b", name="2", person="p")], np.random.default_rng(1)
        )


def test_the_floor_falls_with_the_number_of_users_so_it_is_no_fixed_number() -> None:
    rng = np.random.default_rng(4)
    people = users(400, {"a": 0.5, "b": 0.3, "c": 0.2}, rng)
    few = noise_floor(people[:40], people[:40], {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    many = noise_floor(people, people, {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    assert (few.size, many.size) == (20, 200)
    assert many.floor.median < few.floor.median / 5
    assert few.floor.least <= few.floor.low <= few.floor.median <= few.floor.high <= few.floor.most


def test_users_of_the_same_kind_are_within_and_of_another_kind_beyond() -> None:
    rng = np.random.default_rng(6)
    people = users(200, {"a": 0.5, "b": 0.3, "c": 0.2}, rng)
    same = users(200, {"a": 0.5, "b": 0.3, "c": 0.2}, rng)
    other = users(200, {"a": 0.3, "b": 0.3, "c": 0.4}, rng)
    verdicts = [
        noise_floor(people, simulated, {"JSD(acts)": act_divergence}, rng)["JSD(acts)"].verdict
        for simulated in (same, other)
    ]
    assert verdicts == ["within", "beyond"]


def test_a_small_simulation_is_held_against_groups_of_its_own_size() -> None:
    rng = np.random.default_rng(6)
    people = users(200, {"a": 0.5, "b": 0.5}, rng)
    found = noise_floor(people, people[:20], {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    assert found.size == 20
    assert found.verdict == "within"


def test_a_handful_of_dialogues_gets_no_verdict() -> None:
    rng = np.random.default_rng(6)
    people = users(200, {"a": 0.5, "b": 0.5}, rng)
    found = noise_floor(people, people[: FEWEST - 1], {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    assert found.verdict == "undecided"
    nothing = noise_floor(people, people, {"nothing": lambda a, b: math.nan}, rng)["nothing"]
    assert (nothing.verdict, nothing.floor.n) == ("undecided", 0)


def test_people_are_within_the_floor_of_people_and_the_fitted_user_is_beyond_it_in_length() -> None:
    """The honest result on IARD: a table of acts has the right acts and the wrong lengths."""
    rng = np.random.default_rng(7)
    first, second = random_halves(iard(), rng)
    people = realism(first, second, splits=60, folds=3, replications=100)
    assert people.verdict == "within"
    fitted = realism(first, quickly_drawn(fitted_markov(second), len(first), rng), splits=60, folds=3, replications=100)
    assert fitted.verdict == "beyond"
    assert fitted.behaviour["JSD(transitions)"].floor.verdict == "within"
    assert fitted.behaviour["KS(length)"].floor.verdict == "beyond"
    assert set(people.behaviour) == set(BEHAVIOUR) == set(distances())
    assert people.foresight["simulated"].low > 0


def test_the_same_seed_gives_the_same_figures() -> None:
    first, second = iard()[:60], iard()[60:120]
    once, again = (realism(first, second, seed=3, splits=20, folds=2, replications=100) for _ in range(2))
    assert once.behaviour == again.behaviour
    assert once.foresight["real"] == again.foresight["real"]
    assert once.scores == again.scores


def test_one_person_gives_no_floor() -> None:
    alone = [dialogue("ab", name=str(n), person="p") for n in range(20)]
    with pytest.raises(InputError, match="at least two real users"):
        realism(alone, alone)
