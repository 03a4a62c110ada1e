"""Which of two systems is better may depend on the user: a reversal is said, and where users agree nothing is."""

import math

import numpy as np
import pytest

from scoring.comparison.by_user import ByUser, Cells, by_user
from tests.support.compared_worlds import allowed_errors
from tests.support.kept_cells import keep_cells

Chances = dict[str, tuple[float, float]]

REVERSAL: Chances = {"middling": (0.62, 0.6), "hasty": (0.87, 0.6), "patient": (0.42, 0.6)}
"""U7: hasty users prefer A by 27 points, patient ones B by 18."""

AGREEING: dict[str, Chances] = {
    "alike": dict.fromkeys(("middling", "hasty", "patient"), (0.6, 0.6)),
    "A better for all": dict.fromkeys(("middling", "hasty", "patient"), (0.75, 0.6)),
    "A better for one, alike for the others": {"middling": (0.95, 0.5), "hasty": (0.6, 0.6), "patient": (0.6, 0.6)},
    "six alike": {str(arm): (0.6, 0.6) for arm in range(6)},
}


def drawn(
    rng: np.random.Generator, chances: Chances, *, topics: int, trials: int, spread: float
) -> tuple[ByUser, dict[str, float]]:
    """A study, and how far A truly lies above B in each arm on the topics that were drawn. spread: standard deviation
    of topics, in logits; half as much of systems within topics, and of arms."""
    names = [f"T{row:03}" for row in range(topics)]
    easy, own = rng.normal(0, spread, topics), rng.normal(0, spread / 2, (2, topics))
    cells: dict[str, tuple[Cells, Cells]] = {}
    apart: dict[str, float] = {}
    for arm, both in chances.items():
        asked = rng.normal(0, spread / 2, topics)
        true = [
            1 / (1 + np.exp(-(math.log(p / (1 - p)) + easy + asked + one))) for p, one in zip(both, own, strict=True)
        ]
        apart[arm] = float(true[0].mean() - true[1].mean())
        useful = [rng.random((topics, trials)) < each[:, None] for each in true]
        first, second = (
            {(name, trial): (float(one[row, trial]), 1.0) for row, name in enumerate(names) for trial in range(trials)}
            for one in useful
        )
        cells[arm] = first, second
    return by_user("A", "B", names, cells, rng, level=0.95), apart


def said(chances: Chances, studies: int, spread: float, seed: int, *, false: bool = False) -> list[tuple[str, ...]]:
    """Of each study that says that the order depends on the user, who prefers which. false: only where that is not so.

    Where users agree on topics like these, they may differ on 45 of them, as systems are not alike on each topic.
    """
    told = []
    for study in range(studies):
        one, apart = drawn(np.random.default_rng([study, seed]), chances, topics=45, trials=4, spread=spread)
        for estimand in ("like-these", "these"):
            first, second = one.arms_by_winner(estimand, 0.05)
            # What is said is of all arms that are named.
            of_these = first and min(apart[arm] for arm in first) > 0 > max(apart[arm] for arm in second)
            if first and not (false and estimand == "these" and of_these):
                told.append((*first[:1], *second[:1]))
                break
    return told


def test_a_planted_reversal_is_reported_with_its_users() -> None:
    told = said(REVERSAL, 30, 0.0, 1)
    assert len(told) >= 25  # of 30; of 500, 96%
    assert told.count(("hasty", "patient")) >= len(told) - 1


@pytest.mark.parametrize("users", keep_cells(AGREEING, "A better for one, alike for the others"))
@pytest.mark.parametrize("spread", keep_cells([0.0, 1.0], 1))
def test_if_users_agree_nothing_is_reported(users: str, spread: float) -> None:
    assert len(said(AGREEING[users], 12, spread, 2, false=True)) <= allowed_errors(12, 0.05)


@pytest.mark.soak
@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
def test_five_hundred_studies(spread: float, capsys: pytest.CaptureFixture[str]) -> None:
    found = len(said(REVERSAL, 500, spread, 3))
    wrong = {name: len(said(chances, 500, spread, 4, false=True)) for name, chances in AGREEING.items()}
    with capsys.disabled():
        print(f"\ntopics spread by {spread:g}: said in {found} of 500; where users agree: {wrong}")
    assert all(count <= 25 for count in wrong.values())
    assert spread or found >= 450


def test_the_difference_between_two_arms_is_that_of_their_differences() -> None:
    one, _ = drawn(np.random.default_rng(5), REVERSAL, topics=20, trials=3, spread=0.5)
    assert one.control == "middling"
    assert one.interactions.keys() == {"hasty", "patient"}
    for arm, own in one.interactions.items():
        assert own.value == pytest.approx(one.apart[arm].value - one.apart["middling"].value)
        assert one.these[arm].value == one.apart[arm].value
    assert one.arms_by_winner("like-these", 0.0) == ((), ())


def test_a_trial_that_one_system_lacks_is_in_no_difference_and_ratios_have_no_interaction() -> None:
    cells: Cells = {("T1", 1): (1.0, 1.0), ("T1", 2): (0.0, 1.0), ("T2", 1): (1.0, 1.0)}
    less: Cells = {("T1", 1): (0.0, 1.0), ("T2", 1): (math.nan, 1.0)}
    arms = {"control": (cells, less), "other": (less, cells)}
    one = by_user("A", "B", ["T1", "T2"], arms, np.random.default_rng(0), level=0.95, invalid={"other": 3})
    assert [(own.n, own.value, own.invalid) for own in one.apart.values()] == [(1, 1.0, 0), (1, -1.0, 3)]
    assert one.interactions["other"].value == -2.0
    ratios = by_user("A", "B", ["T1", "T2"], arms, np.random.default_rng(0), level=0.95, pooled=True)
    assert ratios.interactions == {}
