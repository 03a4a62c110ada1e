"""Comparison of a simulated user with real users: how realistic its behaviour is and how good a tester it is.

- `ranking`: agreement on the order of systems, compared with halves of the real users. This is the purpose of a
  simulated user.
- `behaviour`: distances of acts, of transitions and of lengths, each tested on all users, with the split-half floor of
  the real dialogues.
- `foresight`: bits per decision of real users for a model fitted on simulated users, compared with models fitted on
  other real users, and with the random floor.
- `words`: the wording of simulated users and people.
- `scores`: distance of the scores, tested within systems.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue
from scoring.divergences import jsd
from scoring.simulation import act_model
from scoring.simulation.act_model import Context, Fit, HeldOutBits, Predictor, Smoothing, UniformModel, held_out_bits
from scoring.simulation.halves import FEWEST, Distance, NoiseFloor, View, noise_floor, unmeasured_floor
from scoring.simulation.lengths import LengthGap, Survival, cut_at_horizon, length_gap, survival
from scoring.simulation.relabelled_users import behaviour_test, scores_test
from scoring.simulation.reliability import RankingAgreement, RankingFloor, ranking_agreement, ranking_floor
from scoring.simulation.wordings import WordingComparison, compare_wordings
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import derived_seed

# The measures of behaviour, and what they are.
BEHAVIOUR: Mapping[str, str] = {
    "JSD(acts)": "Jensen-Shannon divergence of the acts, in bits",
    "JSD(transitions)": "of what follows what, rows weighted by how often they occur, in bits",
    "KS(length)": "Kolmogorov-Smirnov distance of the lengths",
    "W1(length)": "Wasserstein distance of the lengths, in user turns",
}

# The models that predict real users, with their descriptions; gains are relative to the first.
FORESIGHT: Mapping[str, str] = {
    "uniform": "every act and leaving alike: the random floor",
    "acts alone": "real users: how often each act and leaving occur, whatever came before",
    "real": "real users: the last acts, fitted on other users",
    "simulated": "the simulated users: the same model, fitted on them",
}

SCORES = "CvM(scores)"

# A p at most this large is called a difference.
ALPHA = 0.05

_DISJOINT = "no act in common"
_OF_ACTS = ("JSD(acts)", "JSD(transitions)")
_OF_LENGTHS = ("KS(length)", "W1(length)")

_VIEWS: Mapping[str, View] = {"KS(length)": cut_at_horizon, "W1(length)": cut_at_horizon}


@dataclass(frozen=True, slots=True)
class ScoreGap:
    """Distance between the scores that systems get from real and from simulated users; NaN if a side has no scores.

    `statistic` is the Cramér-von Mises T, at least 0, which grows with the number of dialogues. `distance` is the mean
    over all scores of (F - G)², in [0, 1], which does not grow. `p` comes from a permutation test. `n` and `m` are the
    numbers of real and simulated dialogues with a score.
    """

    statistic: float
    distance: float
    p: float
    n: int
    m: int


@dataclass(frozen=True, slots=True)
class MeasuredDistance:
    """One distance. `value` is the distance between all real and all simulated dialogues, NaN if nothing can be
    compared. `floor` is the distance between people, with a separate verdict. `p` is from the test on all users, for
    this distance alone. `said` is a verdict that does not depend on the number of users and overrides the test."""

    value: float
    floor: NoiseFloor
    p: float = math.nan
    said: str = ""

    @property
    def verdict(self) -> str:
        """`n/a` without a value, then `said`, `undecided` with few users, `beyond` for p up to ALPHA, or `within`."""
        if math.isnan(self.value):
            return "n/a"
        if self.said:
            return self.said
        if self.floor.users < FEWEST or math.isnan(self.p):
            return "undecided"
        return "beyond" if self.p <= ALPHA else "within"


@dataclass(frozen=True, slots=True, eq=False)
class Realism:
    """All figures of a comparison.

    `behaviour` and `foresight` are by the names in BEHAVIOUR and FORESIGHT, and `together` is the p of all distances of
    behaviour at once. `lengths` is for all dialogues, up to its horizon. `scores` and `score_floor` are None if fewer
    than two real users or no simulated user have a score; their p is computed within systems. `ranking_floor` is None
    for fewer than two systems with scores on both sides, and `wordings` is None if a side has acts only.
    """

    real: Sequence[Dialogue]
    simulated: Sequence[Dialogue]
    behaviour: Mapping[str, MeasuredDistance]
    lengths: LengthGap
    survivals: tuple[Survival, Survival]
    foresight: Mapping[str, HeldOutBits]
    scores: ScoreGap | None
    score_floor: NoiseFloor | None
    ranking: RankingAgreement
    together: float = math.nan
    ranking_floor: RankingFloor | None = None
    wordings: WordingComparison | None = None

    @property
    def verdict(self) -> str:
        """The verdict on behaviour alone: `no act in common`, `undecided`, `beyond` or `within`. It is `undecided` if
        any measure with a value is undecided. Otherwise `together` decides, because one small p among several may be
        chance."""
        verdicts = {measured.verdict for measured in self.behaviour.values()} - {"n/a"}
        if _DISJOINT in verdicts:
            return _DISJOINT
        if "undecided" in verdicts or math.isnan(self.together):
            return "undecided"
        return "beyond" if self.together <= ALPHA else "within"


def distances(order: int = 1) -> dict[str, Distance]:
    """Return the functions for the distances in BEHAVIOUR. Transitions depend on the last `order` acts, 1 or 2."""
    return {
        "JSD(acts)": act_divergence,
        "JSD(transitions)": lambda a, b: transition_divergence(a, b, order=order).value,
        "KS(length)": lambda a, b: length_gap(a, b).ks,
        "W1(length)": lambda a, b: length_gap(a, b).wasserstein,
    }


def realism(
    real: Sequence[Dialogue],
    simulated: Sequence[Dialogue],
    *,
    seed: int = 0,
    order: int = 1,
    splits: int = 200,
    folds: int = 10,
    level: float = 0.95,
    replications: int = 2000,
    smoothing: Smoothing | None = None,
) -> Realism:
    """Compare simulated dialogues with real dialogues. `seed` determines splits, folds and resampling. Raises
    InputError if fewer than two users have real dialogues, or if there is no simulated dialogue."""
    users = len({one.unit for one in real})
    if users < 2 or not simulated:
        raise InputError(
            f"too few dialogues: {len(real)} real ones of {users} users, and {len(simulated)} simulated ones",
            allowed="at least two real users and one simulated dialogue",
            advice="add dialogues: the noise floor needs two real users",
        )
    measures = distances(order)
    scored = [[one for one in side if not math.isnan(one.score)] for side in (real, simulated)]
    scores = floor = None
    if len({one.unit for one in scored[0]}) > 1 and scored[1]:
        scores = score_gap(
            [one.score for one in scored[0]],
            [one.score for one in scored[1]],
            _rng(seed, "scores"),
            units=([one.unit for one in scored[0]], [one.unit for one in scored[1]]),
        )
        within = scores_test(scored[0], scored[1], _rng(seed, "scores within systems"), draws=replications).p[0]
        if not math.isnan(within):
            # Pooled over systems, scores that are upside down can have the same distribution.
            scores = replace(scores, p=within)
        apart: dict[str, Distance] = {SCORES: _score_distance}
        floor = noise_floor(scored[0], scored[1], apart, _rng(seed, "score halves"), splits=splits)[SCORES]
    floors = noise_floor(real, simulated, measures, _rng(seed, "halves"), splits=splits, views=_VIEWS)
    gap = length_gap(real, simulated)
    tested = behaviour_test(real, simulated, _rng(seed, "relabelled users"), order=order, draws=replications)
    behaviour = {
        name: MeasuredDistance(distance(real, simulated), floors[name], p)
        for (name, distance), p in zip(measures.items(), tested.p, strict=True)
    }
    if not set(act_model.acts_in(real)) & set(act_model.acts_in(simulated)):
        behaviour |= {name: replace(behaviour[name], said=_DISJOINT) for name in _OF_ACTS}
    # If nobody was seen to leave, both curves never fall and are alike, which says nothing.
    if gap.beyond == 1 and gap.ks == 0:
        behaviour |= {name: MeasuredDistance(math.nan, unmeasured_floor(floors[name])) for name in _OF_LENGTHS}
    acts = act_model.acts_in([*real, *simulated])
    theirs = act_model.fit_acts(simulated, acts=acts, order=order, smoothing=smoothing)
    models: dict[str, Fit] = {
        "uniform": lambda _: UniformModel(acts),
        "acts alone": lambda training: act_model.fit_acts(training, acts=acts, order=0, smoothing=smoothing),
        "real": lambda training: act_model.fit_acts(training, acts=acts, order=order, smoothing=smoothing),
        "simulated": lambda _: theirs,
    }
    return Realism(
        real,
        simulated,
        behaviour,
        gap,
        (survival(real, level=level), survival(simulated, level=level)),
        held_out_bits(
            real,
            models,
            _rng(seed, "folds"),
            folds=folds,
            level=level,
            replications=replications,
        ),
        scores,
        floor,
        ranking_agreement(real, simulated, _rng(seed, "ranking"), level=level, replications=replications),
        tested.together,
        ranking_floor(real, simulated, _rng(seed, "ranking halves"), splits=splits, draws=replications),
        compare_wordings(real, simulated, _rng(seed, "wordings"), splits=splits, draws=replications),
    )


def _score_distance(real: Sequence[Dialogue], simulated: Sequence[Dialogue]) -> float:
    a, b = ([one.score for one in side] for side in (real, simulated))
    return cramer_von_mises(a, b) * (len(a) + len(b)) / (len(a) * len(b))


def _rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(derived_seed(seed, "simulation", purpose))


def act_divergence(real: Sequence[Dialogue], simulated: Sequence[Dialogue]) -> float:
    """Return the Jensen-Shannon divergence of all acts, in bits, in [0, 1]: NaN without turns, 0 for a single act."""
    sides = [Counter(turn.act for one in side for turn in one.turns) for side in (real, simulated)]
    return _row_distance(*sides)


@dataclass(frozen=True, slots=True)
class TransitionDivergence:
    """A divergence of transitions. `value` is in bits, in [0, 1], NaN if a side has no decision. `rows` is the number
    of rows that occur on either side. `alone` is the weight of rows that occur on one side only; each such row counts
    as 1 bit."""

    value: float
    rows: int
    alone: float


def transition_divergence(
    real: Sequence[Dialogue], simulated: Sequence[Dialogue], *, order: int = 1, given: bool = False
) -> TransitionDivergence:
    """Return the mean over rows of the Jensen-Shannon divergence between next decisions, in bits.

    A row is the last `order` acts before a decision and, with `given`, the last answer. The next decision is an act or
    STOP. A row's weight is the mean of its shares of the decisions of each side. Counts are not smoothed: small samples
    diverge by chance, which the split-half floor accounts for.
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, not {order}")
    sides = [_rows(side, order, given) for side in (real, simulated)]
    totals = [sum(row.total() for row in side.values()) for side in sides]
    if not all(totals):
        return TransitionDivergence(math.nan, 0, math.nan)
    value = alone = 0.0
    names = sides[0].keys() | sides[1].keys()
    for name in sorted(names, key=repr):
        first, second = (side.get(name, Counter[str]()) for side in sides)
        weight = (first.total() / totals[0] + second.total() / totals[1]) / 2
        if not first or not second:
            alone, value = alone + weight, value + weight
        else:
            value += weight * _row_distance(first, second)
    return TransitionDivergence(min(value, 1.0), len(names), min(alone, 1.0))


def matrix_divergence(known: Predictor, dialogues: Sequence[Dialogue], *, order: int = 1) -> float:
    """Return the distance between recorded decisions and a known transition matrix; NaN without a decision. It is the
    mean over rows, weighted by frequency, of the Jensen-Shannon divergence in bits, in [0, 1]. Tests of recovery
    simulate from `known` and measure this distance."""
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, not {order}")
    before = {
        act_model.closest_context(decision, order, False): decision
        for dialogue in dialogues
        for decision in act_model.decisions_of(dialogue)
    }
    rows = _rows(dialogues, order, False)
    total = sum(row.total() for row in rows.values())
    if not total:
        return math.nan
    value = 0.0
    for name, row in rows.items():
        shares = np.array([row[act] for act in known.outcomes]) / row.total()
        value += row.total() / total * float(jsd(shares, known.probabilities(before[name])))
    return min(value, 1.0)


def _rows(dialogues: Sequence[Dialogue], order: int, given: bool) -> dict[Context, Counter[str]]:
    found: dict[Context, Counter[str]] = defaultdict(Counter)
    for dialogue in dialogues:
        for decision in act_model.decisions_of(dialogue):
            found[act_model.closest_context(decision, order, given)][decision.act] += 1
    return found


def _row_distance(first: Counter[str], second: Counter[str]) -> float:
    if not first or not second:
        return math.nan
    names = ["", *sorted(first.keys() | second.keys())]  # one that is never there: jsd wants two groups
    p, q = (np.array([side[name] for name in names]) / side.total() for side in (first, second))
    return float(jsd(p, q))


def cramer_von_mises(real: npt.ArrayLike, simulated: npt.ArrayLike) -> float:
    """Return the Cramér-von Mises distance T between two non-empty groups of finite scores, (n,) and (m,).

        T = n·m/(n + m)² · Σ over all n + m scores z of (F(z) - G(z))²

    F and G are the shares of real and of simulated dialogues that score at most z. Ties are not broken: equal scores
    are one step. Source: T. W. Anderson, Annals of Mathematical Statistics 33, 1962.
    """
    both = np.concatenate([np.asarray(real, dtype=np.float64), np.asarray(simulated, dtype=np.float64)])
    first = np.zeros((1, both.size), dtype=bool)
    first[0, : np.asarray(real).size] = True
    return float(_statistics(both, first)[0])


def score_gap(
    real: Sequence[float],
    simulated: Sequence[float],
    rng: np.random.Generator,
    *,
    units: tuple[Sequence[str], Sequence[str]] | None = None,
    permutations: int = 2000,
) -> ScoreGap:
    """Measure the distance between real and simulated scores, ignoring NaN, and test it by permutation.

    The p value is the share of relabellings, random or actual, with a T at least as large as the actual T. The test
    assumes that users are exchangeable, so all dialogues of a user are relabelled together. `units` are the (n,) and
    (m,) users of the scores; by default, each score counts as a separate user.
    """
    names = units or (range(len(real)), range(len(simulated)))
    known = [
        [(s, unit) for s, unit in zip(*side, strict=True) if not math.isnan(s)]
        for side in zip((real, simulated), names)
    ]
    sides = [np.array([score for score, _ in side]) for side in known]
    n, m = (side.size for side in sides)
    if not n or not m:
        return ScoreGap(math.nan, math.nan, math.nan, n, m)
    both = np.concatenate(sides)
    seen = cramer_von_mises(*sides)
    # (n + m,) users by number; one that is on both sides is two, since its label is what is drawn.
    places: dict[tuple[int, object], int] = {}
    owner = np.array([places.setdefault((at, unit), len(places)) for at, side in enumerate(known) for _, unit in side])
    users, first = len(places), sum(at == 0 for at, _ in places)
    labels = np.zeros((permutations, users), dtype=bool)
    np.put_along_axis(
        labels, rng.permuted(np.tile(np.arange(users), (permutations, 1)), axis=1)[:, :first], True, axis=1
    )
    chosen = labels[:, owner]
    as_far = int((_statistics(both, chosen) >= seen - 1e-12).sum())
    return ScoreGap(seen, seen * (n + m) / (n * m), (as_far + 1) / (permutations + 1), n, m)


def _statistics(both: Floats, first: npt.NDArray[np.bool_]) -> Floats:
    order = np.argsort(both, kind="stable")
    ranked, labels = both[order], first[:, order]
    n = first.sum(axis=1)  # of each labelling: users have different numbers of dialogues
    m = both.size - n
    apart = np.cumsum(labels, axis=1) / n[:, None] - np.cumsum(~labels, axis=1) / m[:, None]
    last = np.searchsorted(ranked, ranked, side="right") - 1  # a step is taken whole
    found: Floats = n * m / both.size**2 * np.square(apart[:, last]).sum(axis=1)
    return found
