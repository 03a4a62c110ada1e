"""How familiar a dialogue is: which training system it sounds like, and how far it is from all of them.

    evidence(s)  sum over known words w of log(rate of w in dialogues of s / mean rate over systems), divided by the
                 square root of their number; for the system's words and the user's
    likeness(s)  softmax over systems of the evidence of both sides
    distance     mean squared difference of the dialogue's mean features from the centre of the nearest system
    familiarity  logistic function of the user's evidence for the likeliest system and of the log distance

The logistic function is fitted by leaving systems out. Dialogues of each system, compared with the other systems, show
what an unfamiliar dialogue looks like; held-out dialogues of the training systems show what a familiar one looks like.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from protocols.breakdown.examples import Examples
from protocols.breakdown.features import FEATURES
from protocols.breakdown.moments import Moment
from topics.arrays import Floats
from topics.identity import generator

# An n-gram in fewer dialogues is a name or a slip.
LEAST_DIALOGUES = 3

UNIFORM = 1 / 3

_PSEUDO_DIALOGUES = 2.0  # of average rates, added to each system: a word that a system never said may still come
_FARTHEST = 5.0  # standard deviations; a longer tail of one feature would outweigh the others
_FOLDS = 5  # of dialogues, to measure familiar ones
_PENALTY = 0.01  # keeps the logistic function finite if it separates the two perfectly
_STEPS = 50  # of Newton's method, which needs about eight

Presence = npt.NDArray[np.bool_]
Grams = Sequence[frozenset[str]]


@dataclass(frozen=True, eq=False)
class Systems:
    """What is known about the K training systems.

    names: the K names.
    dialogues: array (K,) of their numbers of dialogues.
    counts: for each known word or pair, the number of dialogues of each system that have it.
    centres: array (K, features) of their mean features.
    spread: array (features,) of the standard deviation within systems; features with spread 0 are not compared.
    """

    names: tuple[str, ...]
    dialogues: Floats
    counts: Mapping[str, tuple[int, ...]]
    centres: Floats
    spread: Floats

    @cached_property
    def _log_ratios(self) -> dict[str, Floats]:
        counts = np.array(list(self.counts.values()), dtype=np.float64).reshape(-1, len(self.names))
        mean = (counts / self.dialogues).mean(axis=1, keepdims=True)
        smoothed = (counts + _PSEUDO_DIALOGUES * mean) / (self.dialogues + _PSEUDO_DIALOGUES)
        return dict(zip(self.counts, np.log(smoothed / mean), strict=True))

    def _evidence_of(self, grams: frozenset[str]) -> Floats:
        """Return an array (2, K + 1) for one turn: the sums of logs for the system's and for the user's words, and in
        the last column the numbers of known words."""
        ratios = self._log_ratios
        found = np.zeros((2, len(self.names) + 1))
        known = [gram for gram in sorted(grams) if gram in ratios]  # in order, so that sums are equal to the last bit
        for row, side in enumerate("su"):
            said = [ratios[gram] for gram in known if gram[0] == side]
            if said:
                found[row] = (*np.sum(said, axis=0), len(said))
        return found

    def compare(self, moments: Sequence[Moment]) -> tuple[Floats, Floats]:
        """Return the likeness of each dialogue to each system, (n, K) with rows that sum to 1, and an array (n, 2) of
        the user's evidence for the likeliest system and the log distance to the nearest."""
        turns: dict[frozenset[str], Floats] = {}
        for grams in {grams for moment in moments for grams in moment.grams}:
            turns[grams] = self._evidence_of(grams)
        sums = np.array([np.sum([turns[grams] for grams in moment.grams], axis=0) for moment in moments])
        sums = sums.reshape(-1, 2, len(self.names) + 1)
        evidence = sums[:, :, :-1] / np.sqrt(np.maximum(sums[:, :, -1:], 1.0))  # (n, 2, K)
        both = evidence.sum(axis=1)
        likeness = np.exp(both - both.max(axis=1, keepdims=True))
        likeness /= likeness.sum(axis=1, keepdims=True)
        users = evidence[np.arange(len(both)), 1, both.argmax(axis=1)]
        return likeness, np.stack([users, self._log_distances(moments)], axis=1)

    def _log_distances(self, moments: Sequence[Moment]) -> Floats:
        compared = self.spread > 0
        if not compared.any():
            return np.zeros(len(moments))
        rows = np.array([moment.rows.mean(axis=0) for moment in moments])[:, None, compared]
        steps = (rows - self.centres[:, compared]) / self.spread[compared]
        squares = (np.clip(steps, -_FARTHEST, _FARTHEST) ** 2).mean(axis=2).min(axis=1)
        # A mean over few turns is farther from any centre by chance.
        turns = np.sqrt([len(moment.grams) for moment in moments])
        return np.asarray(np.log(np.maximum(squares * turns, 1e-6)))


@dataclass(frozen=True, eq=False)
class Familiarity:
    """The training systems, what their annotators said, and the function that tells familiar dialogues.

    systems: what is known about the K training systems.
    levels: array (K, 3) of the mean shares of O, T and X minus 1/3.
    belief: array (K,) from 0 to 1: how well a second annotation repeated the level of the system.
    weights: array (3,) of the logistic function: constant, user's evidence, log distance.
    """

    systems: Systems
    levels: Floats
    belief: Floats
    weights: Floats

    def measure(self, moments: Sequence[Moment]) -> tuple[Floats, Floats]:
        """Return the likeness to each system (n, K) and the familiarity (n,), from 0 to 1. With fewer than two training
        systems, nothing shows what an unfamiliar dialogue looks like, and all familiarities are 1/2."""
        if not self.systems.names:
            return np.zeros((len(moments), 0)), np.full(len(moments), 0.5)
        likeness, inputs = self.systems.compare(moments)
        return likeness, _logistic(self.weights[0] + inputs @ self.weights[1:])


def fit_familiarity(examples: Examples, words: Sequence[str], digits: int) -> Familiarity:
    """Fit to the examples. `words` are the known words and pairs; numbers are rounded to `digits` digits."""
    systems = describe_systems(examples, words)
    levels, belief = [], []
    for name in systems.names:
        here = np.array([system == name for system in examples.systems])
        level = examples.gold[here].mean(axis=0) - UNIFORM
        twice = examples.again[here]
        twice = twice[np.isfinite(twice).all(axis=1)]
        levels.append(level)
        belief.append(_agreement(level, twice.mean(axis=0) - UNIFORM) if len(twice) else 1.0)
    return Familiarity(
        Systems(
            systems.names,
            systems.dialogues,
            systems.counts,
            np.round(systems.centres, digits),
            np.round(systems.spread, digits),
        ),
        np.round(levels, digits),
        np.round(belief, digits),
        np.round(_fit_weights(examples), digits),
    )


def describe_systems(examples: Examples, words: Sequence[str]) -> Systems:
    """Return what is known about the systems of the examples. The turn number is not compared, because it is not
    informative."""
    names = tuple(sorted(set(examples.systems)))
    counts = {gram: [0] * len(names) for gram in words}
    said: dict[tuple[int, str], set[str]] = {}
    for moment, dialogue, system in zip(examples.moments, examples.dialogues, examples.systems, strict=True):
        said.setdefault((names.index(system), dialogue), set()).update(*moment.grams)
    for (number, _), grams in said.items():
        for gram in grams:
            if gram in counts:
                counts[gram][number] += 1
    rows = np.array([moment.rows[-1] for moment in examples.moments])
    place = np.array([names.index(system) for system in examples.systems])
    centres = np.array([rows[place == number].mean(axis=0) for number in range(len(names))])
    spread = (rows - centres[place]).std(axis=0)
    spread[(spread < 1e-6) | (np.array(FEATURES) == "turn number")] = 0.0
    dialogues = np.bincount([number for number, _ in said], minlength=len(names)).astype(np.float64)
    # A word that only earlier turns have, which nobody annotated, may be in no dialogue here.
    kept = {gram: tuple(row) for gram, row in counts.items() if any(row)}
    return Systems(names, dialogues, kept, centres, spread)


def frequent_grams(examples: Examples) -> list[str]:
    """Return the words and pairs of annotated turns that occur in at least three dialogues, to avoid memorising single
    dialogues."""
    seen: dict[str, set[str]] = {}
    for moment, name in zip(examples.moments, examples.dialogues, strict=True):
        for gram in moment.grams[-1]:
            seen.setdefault(gram, set()).add(name)
    return sorted(gram for gram, names in seen.items() if len(names) >= LEAST_DIALOGUES)


def _agreement(one: Floats, two: Floats) -> float:
    """Return 1 if the two levels are equal, 0 if they point in different directions (a concordance coefficient)."""
    size = float(one @ one + two @ two)
    return min(1.0, max(0.0, 2 * float(one @ two) / size)) if size > 0 else 1.0


def _fit_weights(examples: Examples) -> Floats:
    """Return the weights of the logistic function, zeros for a single system. Familiar and unfamiliar turns count the
    same in all, and so do the systems among each."""
    systems = np.array(examples.systems)
    names = sorted(set(examples.systems))
    if len(names) < 2:
        return np.zeros(3)
    dialogues = np.array(examples.dialogues)
    units = np.unique(dialogues)
    fold_of = dict(
        zip(generator(0, "breakdown", "familiarity").permutation(units).tolist(), range(len(units)), strict=True)
    )
    fold = np.array([fold_of[name] % _FOLDS for name in examples.dialogues])
    splits = [(fold != number, fold == number) for number in range(_FOLDS)]
    splits += [(systems != name, systems == name) for name in names]
    inputs, wanted, weights = [], [], []
    for number, (training, test) in enumerate(splits):
        if not test.any() or not training.any():
            continue
        some = examples.select(training)
        _, found = describe_systems(some, frequent_grams(some)).compare(examples.select(test).moments)
        inputs.append(found)
        familiar = number < _FOLDS
        wanted.append(np.full(len(found), float(familiar)))
        share = 1 / len(systems) if familiar else 1 / len(found) / len(names)
        weights.append(np.full(len(found), share * len(systems)))
    return fit_logistic(np.concatenate(inputs), np.concatenate(wanted), np.concatenate(weights))


def fit_logistic(inputs: Floats, targets: Floats, weights: Floats) -> Floats:
    """Return the constant and the coefficients (1 + c,) of a logistic regression with a small penalty on standardised
    coefficients. `inputs` is (n, c). `targets` (n,) is 0 or 1. `weights` (n,) are positive."""
    means, spread = inputs.mean(axis=0), inputs.std(axis=0)
    spread = np.where(spread > 1e-9, spread, np.inf)
    columns = np.hstack([np.ones((len(inputs), 1)), (inputs - means) / spread])
    penalty = np.diag([0.0] + [_PENALTY] * inputs.shape[1])

    def loss(found: Floats) -> float:
        logits = columns @ found
        return float(weights @ (np.logaddexp(0, logits) - targets * logits) + found @ penalty @ found / 2)

    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        p = _logistic(columns @ found)
        slope = columns.T @ (weights * (targets - p)) - penalty @ found
        curve = columns.T @ (columns * (weights * p * (1 - p))[:, None]) + penalty
        # A full step can overshoot if the two are far apart, and a vanishing curvature has no inverse.
        step = np.linalg.pinv(curve) @ slope
        while np.abs(step).max() > 1e-9 and loss(found + step) > loss(found):
            step = step / 2
        if np.abs(step).max() <= 1e-9:
            break
        found = found + step
    of_inputs = found[1:] / spread
    return np.concatenate([[found[0] - means @ of_inputs], of_inputs])


def _logistic(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -50, 50))))
