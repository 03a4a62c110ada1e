"""The split-half floor of real users, and the verdict on simulated ones that is made with it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from recordings.acts.dialogue import Dialogue
from scoring.simulation.halves import FEWEST, noise_floor, random_halves
from scoring.simulation.lengths import cut_at_horizon
from scoring.simulation.realism import BEHAVIOUR, act_divergence, distances, realism
from tests.scoring.simulation.test_act_model import dialogue
from tests.support.simulated_dialogues import fitted_markov, iard, quickly_drawn
from topics.errors import InputError


def users(number: int, shares: dict[str, float], rng: np.random.Generator, *, length: int = 4) -> list[Dialogue]:
    return [
        dialogue("".join(rng.choice(list(shares), p=list(shares.values()), size=length)), name=str(n))
        for n in range(number)
    ]


def test_halves_share_no_person_and_have_the_same_size() -> None:
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


def test_the_floor_falls_with_the_number_of_users_and_is_not_a_fixed_number() -> None:
    rng = np.random.default_rng(4)
    people = users(400, {"a": 0.5, "b": 0.3, "c": 0.2}, rng)
    few = noise_floor(people[:40], people[:40], {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    many = noise_floor(people, people, {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    assert (few.size, many.size) == (20, 200)
    assert many.floor.median < few.floor.median / 5
    assert few.floor.least <= few.floor.low <= few.floor.median <= few.floor.high <= few.floor.most


def test_users_of_the_same_kind_are_within_the_floor_and_users_of_another_kind_beyond() -> None:
    rng = np.random.default_rng(6)
    people = users(200, {"a": 0.5, "b": 0.3, "c": 0.2}, rng)
    same = users(200, {"a": 0.5, "b": 0.3, "c": 0.2}, rng)
    other = users(200, {"a": 0.3, "b": 0.3, "c": 0.4}, rng)
    verdicts = [
        noise_floor(people, simulated, {"JSD(acts)": act_divergence}, rng)["JSD(acts)"].verdict
        for simulated in (same, other)
    ]
    assert verdicts == ["within", "beyond"]


def test_a_small_simulation_is_compared_with_groups_of_its_own_size() -> None:
    rng = np.random.default_rng(6)
    people = users(200, {"a": 0.5, "b": 0.5}, rng)
    found = noise_floor(people, people[:20], {"JSD(acts)": act_divergence}, rng)["JSD(acts)"]
    assert found.size == 20
    assert found.verdict == "within"


def person_of_a_kind(rng: np.random.Generator, name: str, dialogues: int) -> list[Dialogue]:
    """Somebody who keeps to ways of their own: the acts and the patience are drawn once for all their dialogues."""
    shares, patience = rng.dirichlet([1.0] * 4), rng.beta(2, 6)
    return [
        dialogue(
            "".join(rng.choice(list("abcd"), p=shares, size=rng.geometric(patience))), name=f"{name}-{n}", person=name
        )
        for n in range(dialogues)
    ]


def people_of_one_population(rng: np.random.Generator, persons: int, dialogues: int) -> list[Dialogue]:
    return [one for n in range(persons) for one in person_of_a_kind(rng, str(n), dialogues)]


def test_a_few_persons_with_many_dialogues_get_no_verdict_since_similar_persons_are_beyond_too_often() -> None:
    rng = np.random.default_rng(11)
    told = []
    for _ in range(10):
        real, simulated = (people_of_one_population(rng, 4, 10) for _ in range(2))
        found = noise_floor(real, simulated, distances(), rng, splits=20)
        assert {floor.verdict for floor in found.values()} == {"undecided"}
        assert {floor.users for floor in found.values()} <= {1, 2}
        told.append(any(floor.matched.median > floor.floor.high for floor in found.values()))
    assert sum(told) >= 2  # what would have been said to be beyond, of 10: nominal is none


def test_a_few_simulated_persons_get_no_verdict_either() -> None:
    rng = np.random.default_rng(11)
    real, simulated = people_of_one_population(rng, 60, 2), people_of_one_population(rng, 6, 20)
    found = noise_floor(real, simulated, {"JSD(acts)": act_divergence}, rng, splits=20)["JSD(acts)"]
    assert (found.size, found.verdict) == (60, "undecided")
    assert found.users <= 4


@pytest.mark.parametrize(("pairs", "most"), [(8, 7), pytest.param(30, 16, marks=pytest.mark.soak)])
def test_persons_of_one_population_are_seldom_beyond_the_floor_if_a_verdict_is_given(pairs: int, most: int) -> None:
    """IARD: few persons for a verdict, since some have many dialogues, held against as many others. Of 30 pairs and
    four measures each, 5 verdicts in 100 would be 6 of 120; above 16 has a probability of .0002 at that rate, as has
    above 7 of the 32 of 8 pairs."""
    rng = np.random.default_rng(12)
    by_person: dict[str, list[Dialogue]] = {}
    for one in iard():
        by_person.setdefault(one.unit, []).append(one)
    names = sorted(by_person)
    verdicts = []
    for _ in range(pairs):
        drawn = rng.permutation(len(names))[: 7 * FEWEST]
        sides = [[one for place in part for one in by_person[names[place]]] for part in np.split(drawn, 2)]
        verdicts += [floor.verdict for floor in noise_floor(sides[0], sides[1], distances(), rng, splits=40).values()]
    assert verdicts.count("undecided") < len(verdicts) / 10
    assert verdicts.count("beyond") <= most


def test_lengths_that_nobody_could_compare_get_no_verdict() -> None:
    """Every simulated dialogue was cut off after its first turn, so that nobody was seen to stay or to leave."""
    rng = np.random.default_rng(1)
    real = [dialogue("a" * int(rng.geometric(0.25)), name=str(n)) for n in range(60)]
    cut = [replace(one, turns=one.turns[:1], ended=False) for one in real]
    found = realism(real, cut, splits=20, folds=2, replications=100)
    for name in ("KS(length)", "W1(length)"):
        assert math.isnan(found.behaviour[name].value)
        assert found.behaviour[name].floor.verdict == "undecided"
    assert (found.lengths.horizon, found.lengths.beyond) == (0, 1)


def test_floor_and_matched_lengths_are_over_the_same_turns() -> None:
    """The floor of people who stay 10 turns or 20 is wide; where simulated ones were cut off at turn 4 it is none."""
    rng = np.random.default_rng(2)
    real = [dialogue("a" * (10 if n % 2 else 20), name=str(n)) for n in range(60)]
    cut = [dialogue("aaaa", name=str(n), ended=False) for n in range(60)]
    far, near = (
        noise_floor(real, cut, {"W1": distances()["W1(length)"]}, rng, splits=20, views=views)["W1"].floor.high
        for views in ({}, {"W1": cut_at_horizon})
    )
    assert far > 0
    assert near == 0
    assert [max(one.length for one in group) for group in cut_at_horizon([real, cut])] == [4, 4]


def test_a_person_with_most_of_the_dialogues_leaves_smaller_groups_to_compare() -> None:
    real = [dialogue("ab", name=str(n), person="p" if n < 30 else str(n)) for n in range(36)]
    found = noise_floor(real, real[:13], {"JSD(acts)": act_divergence}, np.random.default_rng(1), splits=20)[
        "JSD(acts)"
    ]
    assert found.size <= 6
    assert (found.users, found.verdict) == (1, "undecided")


def test_a_few_dialogues_get_no_verdict() -> None:
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
