"""A model of a user's next decision: probabilities of acts and of leaving, estimated from dialogues with back-off.

A decision is looked up in rows, from the most specific to the most general:

    last k acts and the last answer, k = order … 1      if the model sees answers, and there was one
    last k acts, k = order … 1      only the last act if the rows above were used
    any decision except the opening
    all outcomes equally likely

The opening has a separate row (START), followed by all acts equally likely: STOP is not possible there.

    witten-bell     each row is mixed with the next row: (n(act) + T · p'(act)) / (n + T), where T is the number of
                    different outcomes seen in the row and p' comes from the rows after it
    additive        only the first row that was seen is used: (n(act) + w) / (n + w · V), where V is the number of
                    possible outcomes

A row that was never seen has the probabilities of the rows after it. A row with the same counts as the next row is
skipped, because the same evidence would be counted twice. Probabilities sum to 1. A decision after an unknown answer
uses the rows over all answers. A separate row for unknown answers would predict every end of a log in which only last
answers are missing. `simulators.act_table` computes the same probabilities independently (a test checks that both
agree).

Source: I. H. Witten, T. C. Bell, IEEE Trans. Information Theory 37(4), 1991 (method C), in the interpolated form.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue
from topics.arrays import Floats
from topics.errors import InputError

# Stands before the first act of a dialogue.
START = "start"
# The decision to leave, among the acts.
STOP = "stop"
# (last acts, oldest first; last answer, or None where the row is over all answers).
Context = tuple[tuple[str, ...], str | None]


@dataclass(frozen=True, slots=True)
class Decision:
    """A user's decision and the acts and answer before it. `before` are the user's acts so far, oldest first, after
    START. `answer` is the label of the last answer, None if there is no answer or it is unknown. `act` is the next act,
    or STOP, which is impossible at the opening, because every dialogue has a user turn."""

    before: tuple[str, ...]
    answer: str | None
    act: str

    @property
    def opening(self) -> bool:
        return self.before == (START,)

    @property
    def turn(self) -> int:
        """The number of user turns before the decision: 0 at the opening."""
        return len(self.before) - 1


def decisions_of(dialogue: Dialogue) -> Iterator[Decision]:
    """Return the decisions of a dialogue in order: one for each turn, and STOP if its end was observed."""
    before: tuple[str, ...] = (START,)
    answer: str | None = None
    for turn in dialogue.turns:
        yield Decision(before, answer, turn.act)
        before, answer = (*before, turn.act), turn.answer
    if dialogue.ended:
        yield Decision(before, answer, STOP)


def acts_in(dialogues: Iterable[Dialogue]) -> tuple[str, ...]:
    """Return the acts that occur, sorted. Raises InputError for an act with a reserved name (`start`, `stop`)."""
    acts = tuple(sorted({turn.act for dialogue in dialogues for turn in dialogue.turns}))
    refuse_reserved(acts)
    return acts


def refuse_reserved(acts: Iterable[str]) -> None:
    for act in acts:
        if act in (START, STOP):
            meaning = "the start of a dialogue" if act == START else "leaving"
            raise InputError(f"the name {act!r} of an act is reserved for {meaning}", advice="give it another name")


class Predictor(Protocol):
    """A model that assigns probabilities to the V `outcomes` of a decision: the acts, then STOP."""

    @property
    def outcomes(self) -> tuple[str, ...]: ...

    def probabilities(self, decision: Decision) -> Floats:
        """Return the (V,) probabilities of the outcomes, given `decision.before` and `decision.answer`. The actual
        outcome, `decision.act`, is ignored."""
        ...


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Smoothing of rarely seen rows. `weight` is w of `additive`, above 0; `witten-bell` does not use it."""

    method: Literal["witten-bell", "additive"] = "witten-bell"
    weight: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in ("witten-bell", "additive") or not self.weight > 0:
            raise ValueError(f"smoothing must be witten-bell or additive with a weight above 0, not {self}")


@dataclass(frozen=True, slots=True, eq=False)
class UniformModel:
    """The random floor: all outcomes are equally likely. At the opening, all acts are equally likely."""

    acts: tuple[str, ...]

    @property
    def outcomes(self) -> tuple[str, ...]:
        return (*self.acts, STOP)

    def probabilities(self, decision: Decision) -> Floats:
        found = np.full(len(self.acts) + 1, 1 / (len(self.acts) + (not decision.opening)))
        if decision.opening:
            found[-1] = 0.0
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ActModel:
    """An estimated model: (V,) `counts` of outcomes by the last `order` acts (0 to 2) and, if `given`, the answer."""

    acts: tuple[str, ...]
    order: int
    given: bool
    smoothing: Smoothing
    counts: Mapping[Context, npt.NDArray[np.int64]]

    @property
    def outcomes(self) -> tuple[str, ...]:
        return (*self.acts, STOP)

    def probabilities(self, decision: Decision) -> Floats:
        found = UniformModel(self.acts).probabilities(decision)
        rows = [self.counts[name] for name in contexts(decision, self.order, self.given) if name in self.counts]
        rows = [row for row, after in zip(rows, [*rows[1:], None]) if after is None or not np.array_equal(row, after)]
        if self.smoothing.method == "additive":
            possible = self.smoothing.weight * (found > 0)
            return (rows[0] + possible) / (rows[0].sum() + possible.sum()) if rows else found
        for seen in reversed(rows):
            kinds = np.count_nonzero(seen)
            found = (seen + kinds * found) / (seen.sum() + kinds)
        return found


def closest_context(decision: Decision, order: int, given: bool) -> Context:
    """Return the first of `contexts`, the most specific row. `order` is at least 1."""
    return decision.before[-order:], decision.answer if given else None


def contexts(decision: Decision, order: int, given: bool) -> tuple[Context, ...]:
    """Return the rows in which a decision is looked up, from the most specific to the most general."""
    lasts = [decision.before[-k:] for k in range(min(order, len(decision.before)), 0, -1)]
    if decision.opening and not lasts:
        lasts = [(START,)]
    found: list[Context] = []
    if given and decision.answer is not None:
        found += [(last, decision.answer) for last in lasts or [()]]
        lasts = lasts[-1:]
    found += [(last, None) for last in lasts]
    if not decision.opening:
        found.append(((), None))
    return tuple(found)


def count_acts(
    decisions: Iterable[Decision], acts: Sequence[str], order: int, given: bool
) -> dict[Context, npt.NDArray[np.int64]]:
    """Count each outcome in each row that occurs. Raises ValueError for an act that is not in `acts`."""
    place = {act: i for i, act in enumerate((*acts, STOP))}
    counted: Counter[tuple[Context, str]] = Counter()
    for decision in decisions:
        if decision.act not in place:
            raise ValueError(f"the model has no act {decision.act!r}")
        # In the rows it is looked up in, and in those it would be without its answer, which are over all answers.
        rows = dict.fromkeys((*contexts(decision, order, given), *contexts(decision, order, given=False)))
        counted.update((context, decision.act) for context in rows)
    found: dict[Context, npt.NDArray[np.int64]] = {}
    for (context, act), n in counted.items():
        found.setdefault(context, np.zeros(len(place), dtype=np.int64))[place[act]] = n
    return found


def fit_acts(
    dialogues: Sequence[Dialogue],
    *,
    acts: Sequence[str] | None = None,
    order: int = 1,
    given: bool = False,
    smoothing: Smoothing | None = None,
) -> ActModel:
    """Fit the model to dialogues, by default with all acts that occur. Raises InputError for an act with a reserved
    name, and ValueError for an order outside 0-2."""
    if order not in (0, 1, 2):
        raise ValueError(f"order must be 0, 1 or 2, not {order}")
    known = acts_in(dialogues) if acts is None else tuple(acts)
    refuse_reserved(known)
    counts = count_acts((one for dialogue in dialogues for one in decisions_of(dialogue)), known, order, given)
    return ActModel(known, order, given, smoothing or Smoothing(), counts)


# -log2 of the probability of all that one user did in these dialogues; inf for 0.
Bits = Callable[[Sequence[Dialogue]], float]


# Fits a model on dialogues. It must know every act of those it is held against. A model that gives a decision
# probabilities by its row is a Predictor; one that has to see whole dialogues gives the bits of all those of a user.
Fit = Callable[[Sequence[Dialogue]], Predictor | Bits]


@dataclass(frozen=True, slots=True)
class HeldOutBits:
    """Figures of one model on held-out dialogues.

    `bits` is the mean over decisions of -log2 of the probability of the actual outcome, inf if the model gave it 0.
    `perplexity` is 2^bits, the number of equally likely outcomes that would be as hard to guess. `gain` is the bits of
    the first model minus the bits of this model, on the same decisions: above 0 if this model is better. `low` and
    `high` are the percentile interval of `gain`, from resampled users; NaN for the first model and if bits are inf. `n`
    and `units` are the numbers of decisions and users.
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
    """Return -log2 of the probability that the model gives to the actual outcome; inf if the probability is 0."""
    chance = float(model.probabilities(decision)[model.outcomes.index(decision.act)])
    return -math.log2(chance) if chance > 0 else math.inf


def assign_folds(dialogues: Sequence[Dialogue], folds: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Deal whole users into folds and return each dialogue's fold, from 0. Raises ValueError for fewer than two folds,
    or fewer users than folds."""
    units = sorted({one.unit for one in dialogues})
    if not 2 <= folds <= len(units):
        raise ValueError(f"the number of folds must be 2 to {len(units)}, the number of users, not {folds}")
    dealt = dict(zip(units, rng.permutation(len(units)) % folds, strict=True))
    return np.array([dealt[one.unit] for one in dialogues], dtype=np.int64)


def held_out_bits(
    dialogues: Sequence[Dialogue],
    models: Mapping[str, Fit],
    rng: np.random.Generator,
    *,
    folds: int = 10,
    level: float = 0.95,
    replications: int = 2000,
) -> dict[str, HeldOutBits]:
    """Measure how well each model predicts decisions of users on whose dialogues it was not fitted.

    Whole users (`Dialogue.unit`) are dealt into folds. Each fold is predicted by a model that was fitted on all other
    folds, so that every decision is predicted once. Gains are relative to the first model. There are at most as many
    `folds` as users. Raises ValueError for fewer than two users.
    """
    units = sorted({one.unit for one in dialogues})
    place = {unit: i for i, unit in enumerate(units)}
    fold = assign_folds(dialogues, min(folds, len(units)), rng)
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
    found: dict[str, HeldOutBits] = {}
    for row, name in enumerate(models):
        mean = float(bits[row].sum() / decisions.sum())
        low = high = math.nan
        gains = bits[0] - bits[row]
        if row and np.isfinite(gains).all():
            low, high = np.quantile((drawn @ gains) / total, [(1 - level) / 2, (1 + level) / 2])
        gain = float(gains.sum() / decisions.sum())
        found[name] = HeldOutBits(mean, 2.0**mean, gain, float(low), float(high), int(decisions.sum()), len(units))
    return found
