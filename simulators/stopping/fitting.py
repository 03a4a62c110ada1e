"""Maximum likelihood estimates of stop models from recorded users: geometric, two-α, and the logistic hazard.

Every turn of every conversation is one chance to leave. A user who left did so after the last turn; if a recording
was cut off, the user is only known not to have left by then (right censoring). With k departures in n chances, a
constant hazard has the estimate k/n and the standard error sqrt(k/n·(1 - k/n)/n). The logistic hazard is fitted by
Newton's method (iteratively reweighted least squares), with standard errors from the inverse of the observed
information. Turns of one conversation are assumed independent given the model's variables; conversations of one user
are not. Each squared standard error is multiplied by a design effect,

    Σ over users of (Σ over their conversations of e)² / Σ over conversations of e²,   at least 1,

where e is the influence of a conversation on the estimate. The effect is 1 if every conversation has a different
user, and 2 if every user has two conversations and did the same in both.

If nobody left (k = 0) or everybody did (k = n), the likelihood has its maximum at the border: the logit of the hazard
is infinite, and the formula above would give a standard error of 0. A single answer is always such a case. Estimate
and error are then NaN, for a constant hazard as well as for the logistic hazard. If any parameter of a model is NaN,
so is its log-likelihood.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from protocols.labels import MISSING, NOT_USEFUL, USEFUL
from simulators.stopping.hazard import Geometric, Hazard, TwoAlpha
from topics.arrays import Floats

_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class StayLength:
    """The turns of one user in one conversation.

    `labels` has the label of each answer: `o`, `x` or `-` (unjudged). `coverage` is the share in [0, 1] of the need
    met by each answer, or () if unknown. `ended` is True if the user left after the last answer, and False if the
    recording was cut off there. `user` identifies the user, or is "" for a user without other stays.
    """

    labels: tuple[str, ...]
    coverage: tuple[float, ...] = ()
    ended: bool = True
    user: str = ""

    def __post_init__(self) -> None:
        if not self.labels or set(self.labels) - {USEFUL, NOT_USEFUL, MISSING}:
            raise ValueError("labels: at least one label is needed, and each label must be 'o', 'x' or '-'")
        if self.coverage and len(self.coverage) != len(self.labels):
            raise ValueError(f"coverage must have {len(self.labels)} values, one per answer, not {len(self.coverage)}")


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated parameter: its value and standard error from `n` chances. Both are NaN if the data do not
    determine the parameter."""

    value: float
    error: float
    n: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model with its parameters by name. `log_likelihood` is the natural log-likelihood of all chances to
    leave, or NaN if a parameter is NaN. `chances` is the number of chances to leave that were used, and `left_out`
    the number that the model does not cover (two-α: unjudged answers)."""

    parameters: Mapping[str, Estimate]
    log_likelihood: float
    chances: int
    left_out: int = 0

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2·parameters - 2·log-likelihood. For equal chances to leave, smaller is better."""
        return 2 * len(self.parameters) - 2 * self.log_likelihood

    @property
    def has_estimate(self) -> bool:
        return all(np.isfinite(one.value) for one in self.parameters.values())


def fit_geometric(stays: Iterable[StayLength]) -> Fit:
    """Estimate `p` of `Geometric`. The estimate is NaN if nobody left, or if everybody left at once."""
    stays = tuple(stays)
    chances, leavings = _count_chances(stays, "ox-")
    return Fit({"p": _leaving_share(stays, "ox-")}, _binomial(leavings, chances), chances)


def fit_two_alpha(stays: Sequence[StayLength]) -> Fit:
    """Estimate `useful` and `useless` of `TwoAlpha`, the probabilities of continuing. Unjudged answers are left out.
    An estimate is NaN if nobody or everybody left after such answers, or if there were no such answers."""
    good, bad, unknown = (_count_chances(stays, label) for label in "ox-")
    going = {
        name: _leaving_share(stays, label, going=True) for name, label in (("useful", USEFUL), ("useless", NOT_USEFUL))
    }
    return Fit(
        going,
        _binomial(good[1], good[0]) + _binomial(bad[1], bad[0]),
        good[0] + bad[0],
        unknown[0],
    )


def fit_hazard(stays: Sequence[StayLength], *, coverage: bool = True) -> Fit:
    """Estimate `constant`, `turn` and, if requested, `coverage` of `Hazard`. All are NaN if the data do not determine
    them: there are no data, nobody or everybody leaves, a column is constant, or turns and coverages perfectly
    separate leaving from staying. Raises ValueError for a missing coverage."""
    if coverage and any(not stay.coverage for stay in stays):
        raise ValueError("every stay must have coverage to fit a model of coverage")
    rows = [
        (1.0, float(turn), *((stay.coverage[turn - 1],) if coverage else ()))
        for stay in stays
        for turn in range(1, len(stay.labels) + 1)
    ]
    left = [stay.ended and turn == len(stay.labels) for stay in stays for turn in range(1, len(stay.labels) + 1)]
    names = ("constant", "turn", *(("coverage",) if coverage else ()))
    n = len(rows)
    whose = np.repeat(np.arange(len(stays)), [len(stay.labels) for stay in stays])
    solved = _fit_logistic(
        np.array(rows, dtype=np.float64).reshape(n, len(names)),
        np.array(left, dtype=np.float64),
        lambda scores: _design_effect(_group_sums(scores, whose, len(stays)), [stay.user for stay in stays]),
    )
    if solved is None:
        return Fit({name: Estimate(_NAN, _NAN, n) for name in names}, _NAN, n)
    values, errors, log_likelihood = solved
    parameters = {name: Estimate(float(value), float(error), n) for name, value, error in zip(names, values, errors)}
    return Fit(parameters, log_likelihood, n)


def fitted_model(fit: Fit) -> Geometric | TwoAlpha | Hazard:
    """Return the stop model with the fitted parameters. Raises ValueError if the data do not determine them."""
    if not fit.has_estimate:
        raise ValueError("the data do not determine the parameters of the stop model")
    values = {name: one.value for name, one in fit.parameters.items()}
    if set(values) == {"p"}:
        return Geometric(p=values["p"])
    if set(values) == {"useful", "useless"}:
        return TwoAlpha(useful=values["useful"], useless=values["useless"])
    return Hazard(constant=values["constant"], turn=values["turn"], coverage=values.get("coverage", 0.0))


def _count_chances(stays: Iterable[StayLength], labels: str) -> tuple[int, int]:
    chances = leavings = 0
    for stay in stays:
        chances += sum(label in labels for label in stay.labels)
        leavings += stay.ended and stay.labels[-1] in labels
    return chances, leavings


def _leaving_share(stays: Sequence[StayLength], labels: str, *, going: bool = False) -> Estimate:
    """Return the share of chances after answers with these labels at which users left, or, if `going`, continued."""
    n, k = _count_chances(stays, labels)
    if k in (0, n):
        return Estimate(_NAN, _NAN, n)
    each = np.array([_count_chances((stay,), labels) for stay in stays], dtype=np.float64)
    wider = _design_effect((each[:, 1] - each[:, 0] * k / n)[:, None], [stay.user for stay in stays])
    p = 1 - k / n if going else k / n
    return Estimate(p, float(np.sqrt(p * (1 - p) / n * wider[0])), n)


def _group_sums(values: Floats, places: npt.NDArray[np.intp], size: int) -> Floats:
    found = np.zeros((size, values.shape[1]))
    np.add.at(found, places, values)
    return found


def _design_effect(influence: Floats, users: Sequence[str]) -> Floats:
    """Return the factors (columns,), at least 1, by which correlation within users increases the variances.
    `influence` is an array (conversations, columns)."""
    places: dict[tuple[str, str], int] = {}
    whose = [
        places.setdefault(("user", user) if user else ("stay", str(i)), len(places)) for i, user in enumerate(users)
    ]
    together = np.square(_group_sums(influence, np.array(whose, dtype=np.intp), len(places))).sum(axis=0)
    alone = np.square(influence).sum(axis=0)
    found: Floats = np.maximum(1.0, np.divide(together, alone, out=np.ones_like(alone), where=alone > 0))
    return found


def _binomial(k: int, n: int) -> float:
    if k in (0, n):
        return _NAN
    return sum(float(count * np.log(count / n)) for count in (k, n - k))


def _fit_logistic(x: Floats, y: Floats, wider: Callable[[Floats], Floats]) -> tuple[Floats, Floats, float] | None:
    """Return coefficients, standard errors and log-likelihood, or None if there is no maximum. `wider` maps the
    influence of every row on every coefficient to the design effect of each coefficient."""
    if len(y) == 0 or np.linalg.matrix_rank(x) < x.shape[1] or y.min() == y.max():
        return None
    scale = np.abs(x).max(axis=0)
    z, beta = x / scale, np.zeros(x.shape[1])
    for _ in range(60):
        value = z @ beta
        found: Floats = np.exp(-np.logaddexp(0.0, -value))
        p = found
        information = (z * (p * (1 - p))[:, None]).T @ z
        if np.linalg.cond(information) > 1e10:
            return None
        step = np.linalg.solve(information, z.T @ (y - p))
        size, before = 1.0, _log_likelihood(z @ beta, y)
        while _log_likelihood(z @ (beta + size * step), y) < before - 1e-12 and size > 1e-6:
            size /= 2
        beta = beta + size * step
        if np.abs(beta).max() > 50:  # far beyond any finite maximum: the classes are separable
            return None
        if np.abs(step).max() < 1e-10:
            covariance = np.linalg.inv(information)
            errors = np.sqrt(np.diag(covariance) * wider((z * (y - p)[:, None]) @ covariance))
            return beta / scale, errors / scale, _log_likelihood(z @ beta, y)
    return None


def _log_likelihood(value: Floats, y: Floats) -> float:
    return float(np.sum(y * value - np.logaddexp(0.0, value)))
