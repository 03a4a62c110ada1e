"""The registry of worlds, and their truths."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.support.torture.study import Floats, Kind, Study, interleaved
from topics.identity import generator

STUDIES, TOPICS, TRIALS = 64, 4096, 2
"""Size of the integration: 262,144 topics, in studies of their own so that effects of a whole run are averaged, too."""
SEED = 31
FEW = "so few answers of 0 and 1 hardly show that those near each other in time are alike"

Draw = Callable[..., Study]


@dataclass(frozen=True, eq=False)
class World:
    """One world: how studies are drawn, and what is true in all of them."""

    name: str
    sentence: str
    kind: Kind
    group: str
    """The sort of difficulty: worlds of one group are reported together."""
    draw: Draw
    """(rng, topics, trials, systems) to a study."""
    hidden: str | None = None
    """What the data cannot show (clusters that nobody named); such cells are reported, and apart from the others."""
    rare: float = 0.0
    """The share of topics that decide the figure, of a measure without an end: a study may have none of them."""
    fewest: int = 0
    """The fewest topics like these for an interval of the mean (`scoring.measure.Declaration.fewest_topics`)."""
    few: int = 0
    """How many trials over all topics are too few to show that they hang together."""
    least: tuple[int, int] = (2, 1)
    """The fewest topics and trials for which the world is itself."""
    systems: tuple[int, int] = (1, 8)
    """How few and how many systems it can have."""
    alike: bool = True
    """Whether systems have the same mean, so that naming a winner is wrong."""

    def study(self, seed: int, replication: int, topics: int, trials: int, systems: int = 1) -> Study:
        """The replication's study: the same for equal arguments, whatever else is drawn."""
        rng = generator(seed, "torture", self.name, topics, trials, systems, replication)
        drawn = self.draw(rng, topics, trials, systems)
        if drawn.times is None:
            drawn = replace(drawn, times=interleaved(rng, systems, topics, trials))
        return drawn

    def unseen(self, topics: int) -> str | None:
        """What studies of this size cannot show; None if they can: one in 50 may lack the topics that decide."""
        if self.rare and (1 - self.rare) ** topics > 0.02:
            return f"one topic in {1 / self.rare:.0f} decides, and {topics} topics may have none"
        return self.hidden

    def undeclared(self, trials: int) -> str | None:
        """What so many trials over all topics cannot show; None if they can."""
        return FEW if trials < self.few else self.hidden

    def allows(self, topics: int, trials: int, systems: int) -> bool:
        """Whether a study of this size is one of this world."""
        few, many = self.systems
        return topics >= self.least[0] and trials >= self.least[1] and few <= systems <= many

    def truth(self, estimand: str, study: Study) -> Floats | None:
        """(systems,) the true value of an estimand, or None if it has none here (an infinite variance, no second turn).

        estimand: `mean`, `mean of these`, `between`, `within` (variances), `ICC`, `recovery`, `recovery of these`,
        `alpha`, or one with a number: `quantile 0.1`, `CVaR 0.1` (mean of the lowest), `upper CVaR 0.1` (mean of the
        highest), `pass 3` (E[p³], shares only). A difference is that of two systems' truths."""
        if estimand == "mean of these":
            return np.asarray(study.means.mean(axis=1))
        if estimand == "recovery of these":
            if study.recoveries is None:
                return None
            failing = 1 - study.means
            return _shares((failing * study.recoveries).sum(axis=1), failing.sum(axis=1))
        if estimand == "ICC":
            between, within = self.truth("between", study), self.truth("within", study)
            return None if between is None or within is None else _shares(between, between + within)
        if estimand in study.exact:
            given = np.asarray(study.exact[estimand], dtype=float)
            return given if np.isfinite(given).all() else None
        return self._integrated(len(study.values), estimand)

    @functools.cache  # noqa: B019  # worlds live as long as the process
    def _integrated(self, systems: int, estimand: str) -> Floats | None:
        name, _, number = estimand.partition(" ")
        if estimand == "recovery" and self.kind is not Kind.TURNS:
            return None
        studies = self._population(systems)
        means = np.concatenate([one.means for one in studies], axis=1)
        if estimand == "mean":
            return np.asarray(means.mean(axis=1))
        if estimand == "between":
            return np.asarray(means.var(axis=1))
        if estimand == "within":
            if any(one.variances is None for one in studies):
                return None
            given = [one.variances for one in studies if one.variances is not None]
            return np.asarray(np.concatenate(given, axis=1).mean(axis=1))
        if estimand == "recovery":
            chances = np.concatenate([one.recoveries for one in studies if one.recoveries is not None], axis=1)
            return np.asarray(((1 - means) * chances).sum(axis=1) / (1 - means).sum(axis=1))
        if name == "pass":
            return np.asarray((means ** int(number)).mean(axis=1)) if self.kind is Kind.SHARE else None
        values = np.sort(np.concatenate([one.whole.reshape(systems, -1) for one in studies], axis=1), axis=1)
        if name == "quantile":
            return values[:, int(np.ceil(float(number) * values.shape[1])) - 1]
        if name == "CVaR":
            return np.asarray(values[:, : int(float(number) * values.shape[1])].mean(axis=1))
        if estimand.startswith("upper CVaR"):
            return np.asarray(values[:, -int(float(estimand.split()[-1]) * values.shape[1]) :].mean(axis=1))
        return None

    @functools.cache  # noqa: B019
    def _population(self, systems: int) -> list[Study]:
        return [
            self.draw(generator(SEED, "population", self.name, systems, number), TOPICS, TRIALS, systems)
            for number in range(STUDIES)
        ]


def _shares(parts: Floats, wholes: Floats) -> Floats:
    """(systems,) NaN where the whole is nothing."""
    return np.asarray(np.divide(parts, wholes, out=np.full(wholes.shape, np.nan), where=wholes > 0))


WORLDS: dict[str, World] = {}
"""All worlds, by name, in the order in which they were registered."""


def world(
    name: str,
    sentence: str,
    kind: Kind,
    group: str,
    over: Iterable[Mapping[str, Any]] = ({},),
    **features: Any,
) -> Callable[[Draw], Draw]:
    """Register a function as a world, once for every set of further arguments in `over`, which the name and the
    sentence may show: `{law}`."""

    def register(draw: Draw) -> Draw:
        for arguments in over:
            own = {
                key: arguments[key] for key in ("hidden", "kind", "alike", "systems", "rare", "few") if key in arguments
            }
            further = {key: value for key, value in arguments.items() if key not in own}
            called = name.format(**arguments)
            if called in WORLDS:
                raise ValueError(
                    f"two worlds are called {called!r}: their arguments differ in what the name leaves out"
                )
            given: dict[str, Any] = {"kind": kind, **features, **own}
            WORLDS[called] = World(
                called, sentence.format(**arguments), group=group, draw=functools.partial(draw, **further), **given
            )
        return draw

    return register
