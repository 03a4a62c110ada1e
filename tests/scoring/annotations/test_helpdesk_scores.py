"""Intervals of helpdesk measures: they hold where a predictor is quite wrong about few dialogues."""

import math

import numpy as np
import pytest

from scoring.annotations import helpdesk_scores
from scoring.inference.bootstrap import Resampler

WRONG = {"1 in 10": 0.1, "3 in 100": 0.03}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("dialogues", [8, 45, pytest.param(200, marks=pytest.mark.soak)])
def test_a_mean_divergence_covers_the_truth_if_few_dialogues_are_predicted_wrongly(dialogues: int, wrong: str) -> None:
    rng, share, studies = np.random.default_rng(3), WRONG[wrong], 150
    far = rng.random((studies, dialogues)) < share
    values = np.where(far, 0.9, rng.beta(2, 30, (studies, dialogues)))
    names = [f"D{number}" for number in range(dialogues)]
    resampler = Resampler(rng, replications=1000)
    rows = helpdesk_scores._rows("mine", names, {f"NMD({n})": own for n, own in enumerate(values)}, resampler, 0.95, "")
    truth = share * 0.9 + (1 - share) * 2 / 32
    found = [row for row in rows if not row.measure.startswith("-log2")]
    held = sum(row.low <= truth <= row.high for row in found)
    assert held / studies >= 0.93 - 3 * math.sqrt(0.05 * 0.95 / studies)
