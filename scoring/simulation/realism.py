"""A simulated user compared with real ones: how realistic its behaviour is and, separately, how good a tester it is.

ranking     agreement on the order of systems, beside that of halves of the real users: what a simulated user is for
behaviour   distances of acts, of transitions and of lengths, each tested with everybody counted, beside the split-half
            floor of the real dialogues
foresight   bits a decision of real users costs a model that was fitted on simulated ones, beside models that were
            fitted on other real users, and beside the random floor
words       how simulated users speak beside people
scores      distance of the scores, tested within systems
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recordings.acts.dialogue import Dialogue
from scoring.simulation.act_model import Smoothing, UniformModel, fit_acts
from scoring.simulation.acts import act_divergence, transition_divergence
from scoring.simulation.decisions import acts_in
from scoring.simulation.halves import FEWEST, Distance, Floor, View, noise_floor, nothing_measured
from scoring.simulation.lengths import LengthGap, Survival, length_gap, survival, to_horizon
from scoring.simulation.likelihood import Fit, HeldOut, held_out
from scoring.simulation.relabelled_users import behaviour_test, scores_test
from scoring.simulation.reliability import RankingAgreement, RankingFloor, ranking_agreement, ranking_floor
from scoring.simulation.score_gap import ScoreGap, cramer_von_mises, score_gap
from scoring.simulation.wordings import Wordings, compare_wordings
from topics.errors import InputError
from topics.identity import derived_seed

BEHAVIOUR: Mapping[str, str] = {
    "JSD(acts)": "Jensen-Shannon divergence of the acts, in bits",
    "JSD(transitions)": "of what follows what, rows weighted by how often they occur, in bits",
    "KS(length)": "Kolmogorov-Smirnov distance of the lengths",
    "W1(length)": "Wasserstein distance of the lengths, in user turns",
}
"""The measures of behaviour, and what they are."""

FORESIGHT: Mapping[str, str] = {
    "uniform": "every act and leaving alike: the random floor",
    "acts alone": "real users: how often each act and leaving occur, whatever came before",
    "real": "real users: the last acts, fitted on other users",
    "simulated": "the simulated users: the same model, fitted on them",
}
"""The models that foresee real users, and what they are; the first is what gains are reckoned from."""

SCORES = "CvM(scores)"

ALPHA = 0.05
"""A p at most this large is called a difference."""

_DISJOINT = "no act in common"
_OF_ACTS = ("JSD(acts)", "JSD(transitions)")
_OF_LENGTHS = ("KS(length)", "W1(length)")

_VIEWS: Mapping[str, View] = {"KS(length)": to_horizon, "W1(length)": to_horizon}


@dataclass(frozen=True, slots=True)
class Measured:
    """One distance. value: between all real and all simulated dialogues, NaN where nothing can be compared. floor: how
    large it is between people, with its own verdict. p: of the test with everybody counted, of this distance alone.
    said: what goes before the verdict, because it does not hang on how many users there are."""

    value: float
    floor: Floor
    p: float = math.nan
    said: str = ""

    @property
    def verdict(self) -> str:
        """`n/a` where there is no value, what is `said` of it, `undecided` with too few users, else by the test:
        `beyond` where p is at most ALPHA, `within` where it is larger."""
        if math.isnan(self.value):
            return "n/a"
        if self.said:
            return self.said
        if self.floor.users < FEWEST or math.isnan(self.p):
            return "undecided"
        return "beyond" if self.p <= ALPHA else "within"


@dataclass(frozen=True, slots=True, eq=False)
class Realism:
    """All figures. real, simulated: the dialogues they are of. behaviour: by the names of BEHAVIOUR. lengths: the
    gap between the lengths of all dialogues, with its horizon. foresight: by the names of
    FORESIGHT. scores, score_floor: None where fewer than two real users or no simulated one have a score; p of the
    scores is within systems. together: p of all distances of behaviour at once. ranking_floor: None for fewer than two
    systems with scores on both sides. wordings: None if a side holds acts only."""

    real: Sequence[Dialogue]
    simulated: Sequence[Dialogue]
    behaviour: Mapping[str, Measured]
    lengths: LengthGap
    survivals: tuple[Survival, Survival]
    foresight: Mapping[str, HeldOut]
    scores: ScoreGap | None
    score_floor: Floor | None
    ranking: RankingAgreement
    together: float = math.nan
    ranking_floor: RankingFloor | None = None
    wordings: Wordings | None = None

    @property
    def verdict(self) -> str:
        """On behaviour alone: `no act in common`; `undecided` if a measure that has a value is; else `beyond` where
        `together` is at most ALPHA, and `within` where it is larger. So a p below ALPHA of one measure among several
        may be chance, and alone makes no verdict."""
        verdicts = {measured.verdict for measured in self.behaviour.values()} - {"n/a"}
        if _DISJOINT in verdicts:
            return _DISJOINT
        if "undecided" in verdicts or math.isnan(self.together):
            return "undecided"
        return "beyond" if self.together <= ALPHA else "within"


def distances(order: int = 1) -> dict[str, Distance]:
    """The functions behind BEHAVIOUR. order: how many of the last acts count in transitions, 1 or 2."""
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
    """Compare simulated dialogues with real ones. seed: of splits, folds and resampling.

    Raises InputError where the real dialogues are of fewer than two users, or a side has none.
    """
    users = len({one.unit for one in real})
    if users < 2 or not simulated:
        raise InputError(
            f"{len(real)} real dialogues of {users} users, {len(simulated)} simulated ones",
            allowed="at least two real users and one simulated dialogue",
            advice="without two real users there is no floor to compare with",
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
        apart: dict[str, Distance] = {SCORES: _scores_apart}
        floor = noise_floor(scored[0], scored[1], apart, _rng(seed, "score halves"), splits=splits)[SCORES]
    floors = noise_floor(real, simulated, measures, _rng(seed, "halves"), splits=splits, views=_VIEWS)
    gap = length_gap(real, simulated)
    tested = behaviour_test(real, simulated, _rng(seed, "relabelled users"), order=order, draws=replications)
    behaviour = {
        name: Measured(distance(real, simulated), floors[name], p)
        for (name, distance), p in zip(measures.items(), tested.p, strict=True)
    }
    if not set(acts_in(real)) & set(acts_in(simulated)):
        behaviour |= {name: replace(behaviour[name], said=_DISJOINT) for name in _OF_ACTS}
    if (
        gap.beyond == 1 and gap.ks == 0
    ):  # nobody was seen to leave: two curves that never fall are alike, and tell nothing
        behaviour |= {name: Measured(math.nan, nothing_measured(floors[name])) for name in _OF_LENGTHS}
    return Realism(
        real,
        simulated,
        behaviour,
        gap,
        (survival(real, level=level), survival(simulated, level=level)),
        held_out(
            real,
            _models(real, simulated, order, smoothing),
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


def _models(
    real: Sequence[Dialogue], simulated: Sequence[Dialogue], order: int, smoothing: Smoothing | None
) -> dict[str, Fit]:
    acts = acts_in([*real, *simulated])
    theirs = fit_acts(simulated, acts=acts, order=order, smoothing=smoothing)
    return {
        "uniform": lambda _: UniformModel(acts),
        "acts alone": lambda training: fit_acts(training, acts=acts, order=0, smoothing=smoothing),
        "real": lambda training: fit_acts(training, acts=acts, order=order, smoothing=smoothing),
        "simulated": lambda _: theirs,
    }


def _scores_apart(real: Sequence[Dialogue], simulated: Sequence[Dialogue]) -> float:
    a, b = ([one.score for one in side] for side in (real, simulated))
    return cramer_von_mises(a, b) * (len(a) + len(b)) / (len(a) * len(b))


def _rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(derived_seed(seed, "simulation", purpose))
