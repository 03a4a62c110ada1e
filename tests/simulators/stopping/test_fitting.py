"""Fits of stop models: they find the parameters that made the data, and say when the data do not determine them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize

from protocols.answer import Answer
from simulators.stopping.fitting import StayLength, fit_geometric, fit_hazard, fit_two_alpha, fitted_model
from simulators.stopping.hazard import Geometric, Hazard, TwoAlpha
from simulators.stopping.model import StopModel, initial_experience, update_experience
from simulators.user import Observation

Floats = npt.NDArray[np.float64]
LONGEST = 40


def stays(model: StopModel, users: int, seed: int) -> list[StayLength]:
    """Users that leave by `model`; answers are useful by half, and each useful one meets a fifth of the need."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(users):
        memory, ended = initial_experience(), False
        labels: list[str] = []
        coverage = [0.0]
        while not ended and len(labels) < LONGEST:
            labels.append("ox"[int(rng.integers(2))])
            coverage.append(min(1.0, coverage[-1] + 0.2 * (labels[-1] == "o")))
            observation = Observation(Answer("words"), labels[-1])
            memory = update_experience(memory, observation, coverage[-1])
            ended = bool(rng.random() < model.hazard(memory, observation))
        found.append(StayLength(tuple(labels), tuple(coverage[1:]), ended))
    return found


def test_the_geometric_parameter_is_recovered_within_two_standard_errors() -> None:
    for seed, p in enumerate((0.05, 0.2, 0.5)):
        fit = fit_geometric(stays(Geometric(p=p), 2000, seed))
        assert abs(fit.parameters["p"].value - p) < 2 * fit.parameters["p"].error
        assert fit.parameters["p"].error < 0.02


def test_both_alphas_are_recovered_within_two_standard_errors() -> None:
    fit = fit_two_alpha(stays(TwoAlpha(useful=0.9, useless=0.7), 3000, 14))
    for name, truth in {"useful": 0.9, "useless": 0.7}.items():
        assert abs(fit.parameters[name].value - truth) < 2 * fit.parameters[name].error


def test_nineteen_of_twenty_samples_are_within_two_standard_errors() -> None:
    held = {"p": 0, "useful": 0, "useless": 0}
    for seed in range(100):
        constant = fit_geometric(stays(Geometric(p=0.2), 100, seed)).parameters
        alphas = fit_two_alpha(stays(TwoAlpha(useful=0.9, useless=0.7), 100, seed)).parameters
        truths = {"p": (constant, 0.2), "useful": (alphas, 0.9), "useless": (alphas, 0.7)}
        for name, (found, truth) in truths.items():
            held[name] += abs(found[name].value - truth) < 2 * found[name].error
    assert all(88 <= n <= 100 for n in held.values()), held


def test_the_shipped_hazard_is_recovered_within_two_standard_errors() -> None:
    fit = fit_hazard(stays(Hazard(), 3000, 5))
    for name, truth in {"constant": -2.72, "turn": 0.110, "coverage": 1.78}.items():
        estimate = fit.parameters[name]
        assert abs(estimate.value - truth) < 2 * estimate.error, name
        assert 0 < estimate.error < 0.2


def test_standard_errors_are_those_of_repeated_samples() -> None:
    fits = [fit_hazard(stays(Hazard(), 250, seed)) for seed in range(60)]
    for name, truth in {"constant": -2.72, "turn": 0.110, "coverage": 1.78}.items():
        off = np.array([(fit.parameters[name].value - truth) / fit.parameters[name].error for fit in fits])
        assert abs(off.mean()) < 3 / math.sqrt(60)
        assert 0.75 < off.std(ddof=1) < 1.3, "60 samples know a standard deviation within about a quarter"


def test_a_recording_that_was_cut_off_is_not_a_departure() -> None:
    cut = [StayLength(("o", "x"), ended=False), StayLength(("o",))]
    assert fit_geometric(cut).parameters["p"].value == pytest.approx(1 / 3)
    assert fit_geometric(cut).log_likelihood == pytest.approx(math.log(1 / 3) + 2 * math.log(2 / 3))


def test_the_hazard_is_recovered_from_recordings_that_were_cut_off() -> None:
    cut = [
        StayLength(stay.labels[:4], stay.coverage[:4], stay.ended and len(stay.labels) <= 4)
        for stay in stays(Hazard(), 3000, 21)
    ]
    assert sum(not stay.ended for stay in cut) > 1000
    fit = fit_hazard(cut)
    for name, truth in {"constant": -2.72, "turn": 0.110, "coverage": 1.78}.items():
        assert abs(fit.parameters[name].value - truth) < 2 * fit.parameters[name].error, name


def test_the_logistic_maximum_is_the_one_a_general_optimiser_finds() -> None:
    data = stays(Hazard(), 300, 9)
    rows = [(1.0, turn, covered) for stay in data for turn, covered in enumerate(stay.coverage, 1)]
    x = np.array(rows)
    y = np.array([stay.ended and turn == len(stay.labels) for stay in data for turn in range(1, len(stay.labels) + 1)])

    def loss(beta: Floats) -> float:
        return float(np.sum(np.logaddexp(0, x @ beta)) - np.sum((x @ beta)[y]))

    found, fit = optimize.minimize(loss, np.zeros(3), method="BFGS"), fit_hazard(data)
    at = np.array([one.value for one in fit.parameters.values()])
    assert at == pytest.approx(list(found.x), abs=1e-4)
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    # Second differences of the loss: what the standard errors come from, without its derivatives.
    h, unit = 1e-3, np.eye(3)
    second = [
        [
            sum(s * r * loss(at + h * (s * unit[i] + r * unit[j])) for s in (1, -1) for r in (1, -1)) / (4 * h * h)
            for j in range(3)
        ]
        for i in range(3)
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(np.array(second))))
    assert [one.error for one in fit.parameters.values()] == pytest.approx(list(errors), rel=1e-3)


def test_aic_prefers_the_model_that_generated_the_data() -> None:
    by_hazard, by_p = stays(Hazard(), 1500, 6), stays(Geometric(p=0.2), 1500, 7)
    assert fit_hazard(by_hazard).aic < fit_geometric(by_hazard).aic - 10
    assert fit_geometric(by_p).aic < fit_hazard(by_p).aic + 3
    flat = fit_hazard(by_p, coverage=False)
    assert set(flat.parameters) == {"constant", "turn"}


def test_unjudged_answers_do_not_affect_two_alphas() -> None:
    fit = fit_two_alpha([StayLength(("o", "-", "-")), StayLength(("o", "o"))])
    assert (fit.chances, fit.left_out) == (3, 2)
    assert fit.parameters["useful"].value == pytest.approx(2 / 3)
    assert math.isnan(fit.parameters["useless"].value)
    assert (fit.parameters["useless"].n, fit.has_estimate) == (0, False)


@pytest.mark.parametrize("label", ["o", "x"])
@pytest.mark.parametrize("ended", [True, False])
def test_one_answer_settles_nothing(label: str, *, ended: bool) -> None:
    """Whoever left after the one answer there was is no proof that everybody leaves, with a standard error of 0."""
    once = [StayLength((label,), ended=ended)]
    for fit in (fit_geometric(once), fit_two_alpha(once)):
        assert all(math.isnan(one.value) and math.isnan(one.error) for one in fit.parameters.values())
        assert math.isnan(fit.aic)
        assert not fit.has_estimate
    assert fit_geometric(once).parameters["p"].n == 1
    assert {one.n for one in fit_two_alpha(once).parameters.values()} == {0, 1}


def test_a_hazard_at_the_limit_of_its_range_is_not_an_estimate() -> None:
    """As for the logistic hazard: where nobody left, or everybody, its size and its error are not known."""
    nobody, everybody = [StayLength(("o",) * 20, ended=False)], [StayLength(("x",))] * 20
    for data, n in ((nobody, 20), (everybody, 20)):
        found = fit_geometric(data)
        assert math.isnan(found.parameters["p"].value)
        assert (found.parameters["p"].n, found.has_estimate) == (n, False)
    mixed = fit_two_alpha([*nobody, *everybody, StayLength(("x", "x"))])
    assert math.isnan(mixed.parameters["useful"].value)
    assert mixed.parameters["useless"].value == pytest.approx(1 / 22)
    assert math.isnan(mixed.aic)


def test_without_data_there_is_no_estimate() -> None:
    for fit in (fit_geometric([]), fit_two_alpha([]), fit_hazard([])):
        assert all(math.isnan(one.value) and math.isnan(one.error) for one in fit.parameters.values())
        with pytest.raises(ValueError, match="do not determine"):
            fitted_model(fit)
    assert math.isnan(fit_two_alpha([]).log_likelihood)
    assert math.isnan(fit_geometric([]).log_likelihood)


def test_data_that_do_not_identify_the_hazard_give_no_estimate() -> None:
    always_after_three = [
        StayLength(("o", "o", "o"), (0.1, 0.2, 0.3 + 0.01 * n)) for n in range(20)
    ]  # turn 3 parts them
    nobody_left = [StayLength(("o", "o"), (0.1, 0.4), ended=False)]
    no_variation = [StayLength(("o",) * n, (0.5,) * n) for n in (1, 2, 3, 4)]
    for data in (always_after_three, nobody_left, no_variation):
        fit = fit_hazard(data)
        assert not fit.has_estimate
        assert math.isnan(fit.aic)


def test_a_fit_is_a_stop_model() -> None:
    data = stays(TwoAlpha(), 200, 8)
    assert isinstance(fitted_model(fit_geometric(data)), Geometric)
    assert isinstance(fitted_model(fit_two_alpha(data)), TwoAlpha)
    hazard = fitted_model(fit_hazard(data, coverage=False))
    assert isinstance(hazard, Hazard)
    assert hazard.coverage == 0


def test_impossible_stays_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one label"):
        StayLength(())
    with pytest.raises(ValueError, match="coverage must have 2 values, one per answer, not 1"):
        StayLength(("o", "x"), (0.5,))
    with pytest.raises(ValueError, match="every stay must have coverage"):
        fit_hazard([StayLength(("o",))])
