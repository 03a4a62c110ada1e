"""Real and simulated users tested with everybody counted: exact where it can be counted, and within systems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from recordings.acts.dialogue import ActTurn, Dialogue
from scoring.inference.relabelled import RelabellingTest, Statistic, compare_with_relabelled
from scoring.simulation import relabelled_users
from scoring.simulation.realism import cramer_von_mises, distances, realism
from scoring.simulation.relabelled_users import behaviour_test, scores_test
from scoring.simulation.reliability import RankingFloor, ranking_floor
from tests.support.kept_cells import keep_cells
from tests.support.simulated_dialogues import iard
from topics.arrays import Floats


def difference(first: Floats, second: Floats) -> Floats:
    """Of the means, of (sum, count)."""
    return np.abs(first[:, :1] / first[:, 1:] - second[:, :1] / second[:, 1:])


def test_p_is_the_share_of_all_permutations_with_the_same_distance_or_more() -> None:
    values = np.array([0.0, 1.0, 3.0, 4.0, 7.0, 9.0, 9.5])
    rows = np.stack([values, np.ones(7)], axis=1)
    seen = abs(values[:3].mean() - values[3:].mean())
    far = [
        abs(values[list(some)].mean() - np.delete(values, list(some)).mean()) >= seen - 1e-12
        for some in itertools.combinations(range(7), 3)
    ]
    found = compare_with_relabelled(rows[:3], rows[3:], difference, np.random.default_rng(1), draws=4999)
    assert found.p[0] == pytest.approx(np.mean(far), abs=0.01)
    assert found.together == found.p[0]
    assert found.users == (3, 4)


def test_users_are_permuted_only_within_strata_and_not_at_all_if_strata_have_one_side() -> None:
    """Everybody of a stratum has one value: within strata there is no difference, and pooled the strata are one."""
    names = ["low"] * 8 + ["high"], ["low"] + ["high"] * 8
    first, second = (np.array([[5.0 * (name == "high"), 1.0] for name in side]) for side in names)
    assert (
        compare_with_relabelled(first, second, difference, np.random.default_rng(1), strata=names, draws=999).p[0] == 1
    )
    assert compare_with_relabelled(first, second, difference, np.random.default_rng(1), draws=999).p[0] < 0.02
    apart = ["low"] * 9, ["high"] * 9
    assert math.isnan(
        compare_with_relabelled(first, second, difference, np.random.default_rng(1), strata=apart, draws=99).together
    )


def test_a_measure_without_a_value_has_no_p_and_does_not_count_among_the_others() -> None:
    def two(first: Floats, second: Floats) -> Floats:
        return np.concatenate([difference(first, second), np.full((len(first), 1), np.nan)], axis=1)

    rows = np.stack([np.arange(12.0), np.ones(12)], axis=1)
    found = compare_with_relabelled(rows[:6], rows[6:], two, np.random.default_rng(1), draws=999)
    assert math.isnan(found.p[1])
    assert found.together == found.p[0] < 0.01


@pytest.mark.parametrize("longest", [100, 4])
def test_the_statistics_are_the_distances_of_the_table(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    seen: dict[str, Floats] = {}

    def watched(first: Floats, second: Floats, statistic: Statistic, *rest: object, **named: object) -> object:
        seen["values"] = statistic(first.sum(axis=0, keepdims=True), second.sum(axis=0, keepdims=True))
        return compare_with_relabelled(first, second, statistic, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(relabelled_users, "compare_with_relabelled", watched)
    real = list(iard()[:150])
    simulated = [
        replace(one, turns=one.turns[:longest], ended=False) if one.length > longest else one for one in iard()[150:]
    ]
    behaviour_test(real, simulated, np.random.default_rng(1), order=1, draws=19)
    assert seen["values"][0] == pytest.approx([distance(real, simulated) for distance in distances().values()])
    scores_test(real, simulated, np.random.default_rng(1), draws=19)
    both = [[one.score for one in side] for side in (real, simulated)]
    assert seen["values"][0] == pytest.approx([cramer_von_mises(*both)])


def person(
    rng: np.random.Generator, name: str, dialogues: int, useful: Sequence[float], *, patience: float = 0.0
) -> list[Dialogue]:
    """Somebody with shares, patience and a mood of their own; each dialogue is with a system by chance."""
    shares, leaving, mood = rng.dirichlet([2.0, 1.2, 0.6, 0.2]), rng.beta(2, 6), rng.normal(0, 0.15)
    found = []
    for number in range(dialogues):
        system = int(rng.integers(len(useful)))
        turns = min(30, int(rng.geometric(min(0.95, leaving + patience))))
        acts = rng.choice(list("abcd"), p=shares, size=turns)
        score = rng.binomial(turns, min(1.0, max(0.0, useful[system] + mood))) / turns
        ended = bool(rng.random() > 0.1)
        turned = tuple(ActTurn(str(act)) for act in acts)
        found.append(Dialogue(f"{name}-{number}", turned, ended, person=name, system=f"s{system}", score=score))
    return found


def people(
    rng: np.random.Generator, number: int, useful: Sequence[float], side: str, *, heavy: bool = False, **more: float
) -> list[Dialogue]:
    """heavy: most have one to three dialogues, and a fifth many more."""

    def size() -> int:
        return min(15, 1 + int(rng.geometric(0.5)) * (1 if rng.random() < 0.8 else 4)) if heavy else 1

    return [one for n in range(number) for one in person(rng, f"{side}{n}", size(), useful, **more)]


ALIKE = {
    "20 people": (20, (0.5,), False),
    "40 people, many dialogues of some": (40, (0.5,), True),
    "2 systems, 12 people": (12, (0.3, 0.7), True),
    "6 systems": (60, (0.3, 0.4, 0.45, 0.55, 0.6, 0.7), True),
}


@pytest.mark.parametrize("world", keep_cells(ALIKE, "2 systems, 12 people"))
@pytest.mark.parametrize(("times", "most"), [(30, 5), pytest.param(300, 27, marks=pytest.mark.soak)])
def test_people_are_within_other_people(world: str, times: int, most: int) -> None:
    """At most 7% of halves are beyond: at a rate of .05, more than 5 of 30 have a probability of .003, and more than 27
    of 300 one of .0015."""
    number, useful, heavy = ALIKE[world]
    beyond = dict.fromkeys(("behaviour", "scores", "ranking"), 0)
    for repetition in range(times):
        rng = np.random.default_rng([repetition, number])
        one, other = (people(rng, number, useful, side, heavy=heavy) for side in "ab")
        beyond["behaviour"] += behaviour_test(one, other, rng, order=1, draws=99).together <= 0.05
        beyond["scores"] += scores_test(one, other, rng, draws=99).p[0] <= 0.05
        floor = ranking_floor(one, other, rng, splits=40, draws=99)
        beyond["ranking"] += floor is not None and floor.verdict == "beyond"
    assert max(beyond.values()) <= most, beyond


@pytest.mark.parametrize(("times", "least"), [(4, 3), pytest.param(8, 5, marks=pytest.mark.soak)])
def test_users_who_leave_a_little_sooner_are_found_as_often_as_by_a_plain_test(times: int, least: int) -> None:
    """The verdict of a measure is that of the test of this measure alone; the floors alone find it far less often."""
    tested = floors = 0
    for repetition in range(times):
        rng = np.random.default_rng([repetition, 77])
        real, simulated = (
            people(rng, 60, (0.5,), "a", heavy=True),
            people(rng, 60, (0.5,), "b", heavy=True, patience=0.12),
        )
        found = realism(real, simulated, seed=repetition, splits=40, folds=2, replications=99).behaviour["W1(length)"]
        assert (found.verdict == "beyond") == (found.p <= 0.05)
        tested += found.verdict == "beyond"
        floors += found.floor.verdict == "beyond"
    assert tested >= least
    assert floors < tested


UP = (0.2, 0.32, 0.44, 0.56, 0.68, 0.8)


def judged(simulated: Sequence[float], *, number: int = 120, real: Sequence[float] = UP, seed: int = 3) -> RankingFloor:
    rng = np.random.default_rng(seed)
    found = ranking_floor(people(rng, number, real, "a"), people(rng, number, simulated, "b"), rng, draws=499)
    assert found is not None
    return found


def test_an_inverted_simulator_is_beyond_although_its_pooled_scores_are_peoples() -> None:
    """Six systems, 20 people each (U8)."""
    rng = np.random.default_rng(5)
    real, simulated = people(rng, 120, UP, "a"), people(rng, 120, UP[::-1], "b")
    found = realism(real, simulated, splits=60, folds=2, replications=499)
    assert found.ranking.tau < -0.6
    assert found.ranking_floor is not None
    assert found.ranking_floor.verdict == "beyond"
    assert found.ranking_floor.p <= 0.01
    assert found.scores is not None
    assert found.scores.p <= 0.01, "within systems"
    assert found.verdict == "within", "it behaves as people do"


@pytest.mark.parametrize(
    ("simulated", "verdict", "same_amounts"),
    [
        (UP, "within", True),
        ((0.5,) * 6, "beyond", False),
        ((0.2, 0.8, 0.44, 0.56, 0.32, 0.68), "beyond", False),
        (tuple(one - 0.15 for one in UP), "within", True),
    ],
    ids=["right", "flat", "half-right", "stricter"],
)
def test_rankings_of_other_simulators(simulated: Sequence[float], verdict: str, same_amounts: bool) -> None:
    found = judged(simulated, number=240)
    assert (found.verdict, found.p > 0.05) == (verdict, same_amounts)
    assert found.people == 20 or found.people > 10


def test_too_few_people_for_an_order_are_reported_with_the_needed_number() -> None:
    found = judged(UP, number=42)
    assert found.verdict == "undecided"
    assert found.needed is not None
    assert found.people < found.needed
    alike = judged((0.5,) * 6, real=(0.5,) * 6, number=30)
    assert alike.verdict == "undecided"


def test_one_system_or_no_score_has_no_ranking_and_scores_without_a_common_system_have_no_p() -> None:
    rng = np.random.default_rng(1)
    real, simulated = people(rng, 20, (0.5,), "a"), people(rng, 20, (0.5,), "b")
    assert ranking_floor(real, simulated, rng) is None
    elsewhere = [replace(one, system="other") for one in simulated]
    nothing: RelabellingTest = scores_test(real, elsewhere, rng, draws=19)
    assert math.isnan(nothing.p[0])


def test_simulated_users_of_all_systems_are_compared_with_people_of_one_system_each() -> None:
    rng = np.random.default_rng(2)
    real = people(rng, 120, UP, "a")
    for useful, verdict in ((UP, "within"), (UP[::-1], "beyond")):
        simulated = [
            replace(one, system=f"s{system}", id=f"{n}-{system}", person="", draws=str(n))
            for n in range(40)
            for system in range(6)
            for one in person(rng, f"{n}", 1, useful[system : system + 1])
        ]
        found = ranking_floor(real, simulated, rng, draws=199)
        assert found is not None
        assert found.verdict == verdict
