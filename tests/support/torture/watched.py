"""Worlds of a watch: blessed runs and an audit of the same topics, with effects of whole runs."""

import numpy as np
from scipy import special

from tests.support.torture.dependent import autoregressive
from tests.support.torture.laws import SCORES, THREE_LEVELS, USEFUL, Answers, Law, beta, fixed, gamma, kinds, lognormal
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


def _inverse(logits: Floats) -> Floats:
    return 1 / (1 + np.exp(-logits))


def over_runs(chances: Floats, tau: float) -> Floats:
    """(topics,) the mean of a topic's chance over run effects with standard deviation tau in logits, by quadrature."""
    logits = np.log(chances / (1 - chances))
    return np.asarray(_inverse(logits[..., None] + tau * NODES) @ (WEIGHTS / WEIGHTS.sum()))


_CHANGES = [
    {"tau": tau, "level": level, "change": change, "effects": effects}
    for tau in (0.0, 0.15, 0.3)
    for level, change in ((0.95, "none"), (0.6, "none"), (0.95, "×.58"), (0.9, "×.67"), (0.6, "×.75"))
    for effects in ("of each run",)
] + [
    {"tau": tau, "level": 0.6, "change": change, "effects": effects}
    for tau in (0.15, 0.3)
    for change in ("none", "×.75")
    for effects in ("AR(1) over runs", "of each run and topic", "trials AR(1)")
]
FACTORS = {"none": 1.0, "×.58": 0.58, "×.67": 0.67, "×.75": 0.75}


def _effects(rng: np.random.Generator, runs: int, topics: int, tau: float, effects: str) -> Floats:
    """(runs, topics) in logits."""
    if effects == "AR(1) over runs":
        return tau * autoregressive(rng, (1, runs), 0.8).T.repeat(topics, axis=1)
    if effects == "of each run and topic":
        return tau * rng.standard_normal((runs, topics))
    return tau * rng.standard_normal((runs, 1)).repeat(topics, axis=1)


@world(
    "watch, τ {tau} {effects}: level {level}, change {change}",
    "Blessed runs and an audit whose chances are multiplied ({change}); run effects of sd {tau} in logits, {effects}.",
    Kind.WATCH,
    "runs of a watch",
    _CHANGES,
    systems=(2, 16),
    alike=False,
)
def watch(
    rng: np.random.Generator,
    topics: int,
    trials: int,
    systems: int,
    tau: float,
    level: float,
    change: str,
    effects: str,
) -> Study:
    """The last system is the audit. The truth is of these topics, over runs like these."""
    base = np.clip(rng.beta(8 * level, 8 * (1 - level), topics), 0.005, 0.995)
    logits = np.log(base / (1 - base)) + _effects(rng, systems, topics, tau, effects)
    factor = np.ones((systems, 1))
    factor[-1] = FACTORS[change]
    chances = np.repeat((_inverse(logits) * factor)[..., None], trials, axis=-1)
    if effects == "trials AR(1)":
        uniform = special.ndtr(autoregressive(rng, chances.shape, 0.5))
    else:
        uniform = rng.random(chances.shape)
    # Runs of different days, each of them trial after trial.
    day, trial, topic = np.meshgrid(*map(np.arange, (systems, trials, topics)), indexing="ij")
    times = (day + (trial * topics + topic) / (24 * topics * trials)).swapaxes(1, 2)
    return Study((uniform < chances).astype(float), over_runs(base, tau) * factor, times=times)


@world(
    "watch at the margin, τ {tau}: {delta} lower",
    "The audit's mean is lower by exactly {delta}; run effects of sd {tau} in logits.",
    Kind.WATCH,
    "runs of a watch",
    [{"tau": tau, "delta": delta} for tau in (0.0, 0.15, 0.3) for delta in (0.03, 0.05, 0.1)],
    systems=(2, 16),
    alike=False,
)
def margin(rng: np.random.Generator, topics: int, trials: int, systems: int, tau: float, delta: float) -> Study:
    """To say "the same within delta" of it is wrong in all but 5%."""
    base = rng.uniform(0.4, 0.9, topics)
    logits = np.log(base / (1 - base)) + tau * rng.standard_normal((systems, 1))
    shift = np.zeros((systems, 1))
    shift[-1] = delta
    chances = np.maximum(0, _inverse(logits) - shift)
    values = (rng.random((systems, topics, trials)) < chances[..., None]).astype(float)
    return Study(values, over_runs(base, tau) - shift)


@world(
    "watch of R, τ {tau}, ×{factor}",
    "Levels lognormal σ 1 and run effects of sd {tau} in logs; the audit's levels are multiplied by {factor}.",
    Kind.WATCH,
    "runs of a watch",
    [{"tau": tau, "factor": factor} for tau in (0.0, 0.15) for factor in (1.0, 0.6)],
    systems=(2, 16),
    alike=False,
)
def watched_levels(
    rng: np.random.Generator, topics: int, trials: int, systems: int, tau: float, factor: float
) -> Study:
    """A watch of a measure without a top."""
    levels = 0.01 * lognormal(1).sample(rng, (topics,))
    run = np.exp(tau * rng.standard_normal((systems, 1)))
    times = np.ones((systems, 1))
    times[-1] = factor
    values = (levels * run * times)[..., None] * gamma(4).sample(rng, (systems, topics, trials))
    return Study(values, levels * np.exp(tau**2 / 2) * times)


_UNEVEN = ("one topic in 15 fails", "4% of trials fail", "half of trials lost", "rises as it goes", "falls as it goes")


@world(
    "watch, {what} in the audit: {answers}, {law}",
    "Runs differ by .15 in logits; in the audit, {what}. Topics differ by {law}.",
    Kind.WATCH,
    "runs of a watch",
    [
        {"what": what, "law": law, "answers": answers}
        for what in ("nothing changes", *_UNEVEN)
        for law, answers in (
            (beta(3, 2), USEFUL),
            (beta(93, 62), SCORES),
            (fixed(0.99), USEFUL),
            (kinds((14 / 15, 0.95), (1 / 15, 0.05)), THREE_LEVELS),
        )
    ]
    + [
        {"what": "nothing changes but copies", "law": law, "answers": answers, "hidden": "nobody said what is copied"}
        for law, answers in ((beta(3, 2), USEFUL), (fixed(0.7), SCORES))
    ],
    systems=(2, 16),
    alike=False,
)
def uneven_audit(
    rng: np.random.Generator, topics: int, trials: int, systems: int, what: str, law: Law, answers: Answers
) -> Study:
    """An audit that is unlike the blessed runs in some topics or trials only. Copies: in half of the topics of each run
    a cache gives the first trial again."""
    base = np.clip(law.sample(rng, (topics,)), 0.005, 0.995)
    logits = np.log(base / (1 - base)) + 0.15 * rng.standard_normal((systems, 1))
    factor = np.ones((systems, topics, trials))
    if what == "one topic in 15 fails":
        factor[-1, rng.random(topics) < 1 / 15] = 0.0
    elif what.endswith("as it goes"):
        factor[-1] *= 2 / 3 + np.linspace(-1, 1, trials) / 3 * (1 if what.startswith("rises") else -1)
    values = answers.sample(rng, _inverse(logits)[..., None] * factor)
    if what == "4% of trials fail":
        values[-1] *= rng.random((topics, trials)) >= 0.04
        factor[-1] *= 0.96
    elif what == "half of trials lost":
        gone = rng.random((topics, trials)) < 0.5
        gone[:, 0] = False
        values[-1, gone] = np.nan
    elif what == "nothing changes but copies":
        again = (rng.random((systems, topics)) < 0.5)[..., None]
        values = np.where(again, values[..., :1], values)
    return Study(values, over_runs(base, 0.15) * factor.mean(axis=-1))
