"""How well models predict users' decisions: log-likelihood and perplexity on dialogues they were not fitted on.

Whole users are dealt into folds (a person with all their dialogues, else the dialogue). A model is fitted on all folds
but one and predicts the decisions of that one, so that every decision is predicted once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue
from scoring.simulation.act_model import Decision, Predictor, decisions_of

Floats = npt.NDArray[np.float64]

# -log2 of the probability of all that one user did in these dialogues; inf for 0.
Bits = Callable[[Sequence[Dialogue]], float]

# Fits a model on dialogues. It must know every act of those it is held against. A model that gives a decision
# probabilities by its row is a Predictor; one that has to see whole dialogues gives the bits of all those of a user.
Fit = Callable[[Sequence[Dialogue]], Predictor | Bits]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Figures of one model on held-out dialogues.

    `bits` is the mean over decisions of -log2 of the probability of the actual outcome, inf if the model gave it 0.
    `perplexity` is 2^bits, the number of equally likely outcomes that would be as hard to guess. `gain` is the bits of
    the first model minus those of this one, on the same decisions: above 0 if this one is better. `low` and `high` are
    its percentile interval, resampling users; NaN for the first model and if bits are inf. `n` and `units` are the
    numbers of decisions and users.
    """

    bits: float
    perplexity: float
    gain: float
    low: float
    high: float
    n: int
    units: int

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of all held-out decisions, in bits; at most 0."""
        return -self.bits * self.n


def decision_bits(model: Predictor, decision: Decision) -> float:
    """Return -log2 of the probability that the model gives to the actual outcome; inf for 0."""
    chance = float(model.probabilities(decision)[model.outcomes.index(decision.act)])
    return -math.log2(chance) if chance > 0 else math.inf


def folds_of(dialogues: Sequence[Dialogue], folds: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Deal whole users into folds and return each dialogue's fold, from 0.

    Raises ValueError for fewer than two folds, or fewer users than folds.
    """
    units = sorted({one.unit for one in dialogues})
    if not 2 <= folds <= len(units):
        raise ValueError(f"{len(units)} users cannot be dealt into {folds} folds")
    dealt = dict(zip(units, rng.permutation(len(units)) % folds, strict=True))
    return np.array([dealt[one.unit] for one in dialogues], dtype=np.int64)


def held_out(
    dialogues: Sequence[Dialogue],
    models: Mapping[str, Fit],
    rng: np.random.Generator,
    *,
    folds: int = 10,
    level: float = 0.95,
    replications: int = 2000,
) -> dict[str, HeldOut]:
    """Return each model's figures on dialogues it was not fitted on, compared with the first model.

    There are at most as many `folds` as users. Raises ValueError for fewer than two users.
    """
    units = sorted({one.unit for one in dialogues})
    place = {unit: i for i, unit in enumerate(units)}
    fold = folds_of(dialogues, min(folds, len(units)), rng)
    bits = np.zeros((len(models), len(units)))
    decisions = np.zeros(len(units))
    for dialogue in dialogues:
        decisions[place[dialogue.unit]] += sum(1 for _ in decisions_of(dialogue))
    for here in range(int(fold.max()) + 1):
        training = [one for one, at in zip(dialogues, fold) if at != here]
        tested: dict[str, list[Dialogue]] = {}
        for dialogue, at in zip(dialogues, fold):
            if at == here:
                tested.setdefault(dialogue.unit, []).append(dialogue)
        for row, fit in enumerate(models.values()):
            model = fit(training)
            for unit, theirs in tested.items():
                bits[row, place[unit]] = (
                    model(theirs)
                    if callable(model)
                    else math.fsum(decision_bits(model, decision) for one in theirs for decision in decisions_of(one))
                )
    drawn = rng.multinomial(len(units), [1 / len(units)] * len(units), size=replications).astype(np.float64)
    total = drawn @ decisions
    found: dict[str, HeldOut] = {}
    for row, name in enumerate(models):
        mean = float(bits[row].sum() / decisions.sum())
        low = high = math.nan
        gains = bits[0] - bits[row]
        if row and np.isfinite(gains).all():
            low, high = np.quantile((drawn @ gains) / total, [(1 - level) / 2, (1 + level) / 2])
        gain = float(gains.sum() / decisions.sum())
        found[name] = HeldOut(mean, 2.0**mean, gain, float(low), float(high), int(decisions.sum()), len(units))
    return found
