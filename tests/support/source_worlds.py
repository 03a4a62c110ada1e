"""Worlds of whole audits of sources, hostile on purpose: laws of `exposure_worlds`, in conversations of several answers
that often cite nothing, over topics that come in clusters, with trials that are lost.

They were written from what is known of how assistants cite, before the intervals were looked at.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scoring.divergences import jsd
from tests.support.exposure_worlds import Counts, ExposureWorld
from topics.arrays import Floats
from topics.identity import generator

KINDS = 5
_POPULATION, _AT_ONCE = 60_000, 600  # trials of which a truth is made, and topics of one draw


@dataclass(frozen=True, kw_only=True)
class SourceWorld:
    """A law of citations in a whole audit.

    - `silent`: the mean share of answers without any source, which topics have by a Beta law of weight `habit`.
    - `answers`: the most answers of a conversation; each number of them is equally likely, in a topic of its own.
    - `cluster`: how many topics share all they have, in a cluster that the topics' file names.
    - `lost`: the largest chance of a topic to lose a trial, whatever it would have shown.
    - `hides`: the share of trials with the first domain that the last system loses.
    - `unknown`: the share of domains, the rarest, whose kind nobody knows.
    """

    law: ExposureWorld
    silent: float = 0.3
    habit: float = 2.0
    answers: int = 2
    cluster: int = 1
    lost: float = 0.0
    hides: float = 0.0
    unknown: float = 0.2
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.law.name

    def clusters(self, topics: int) -> dict[str, str]:
        """The clusters by topic, as a topics' file names them; {} if there are none."""
        return {name: f"C{at // self.cluster}" for at, name in enumerate(topic_names(topics)) if self.cluster > 1}

    def draw(self, rng: np.random.Generator, topics: int, trials: int, systems: int = 1) -> list["Shown"]:
        """What systems that are alike show."""
        groups, own = -(-topics // self.cluster), trials * self.answers * systems
        drawn = self.law.draw(rng, groups, self.cluster * own)
        shape = (groups * self.cluster, systems, trials, self.answers, self.law.domains)
        counts = drawn.reshape(shape)[:topics]
        share = rng.beta(self.habit * self.silent, self.habit * (1 - self.silent), groups)
        quiet = np.repeat(share, self.cluster)[:topics, None, None, None]
        counts = counts * (rng.random(counts.shape[:-1]) >= quiet)[..., None]
        number = np.repeat(rng.integers(1, self.answers + 1, groups), self.cluster)[:topics]
        there = np.arange(self.answers) < number[:, None]
        counts = counts * there[:, None, None, :, None]
        gone = np.asarray(rng.random((topics, systems, trials)) < self.lost * rng.random((topics, 1, 1)))
        first = np.asarray((counts[..., 0] > 0).any(axis=-1))
        gone[:, -1] |= first[:, -1] & (rng.random((topics, trials)) < self.hides)
        return [Shown(counts[:, at], number, gone[:, at], self.unknown) for at in range(systems)]

    def truths(self, trials: int) -> dict[str, float]:
        """What an unlimited number of topics with so many trials would show."""
        rng = generator(3, "truth of sources", str(self), trials)
        every = [self.draw(rng, _AT_ONCE, trials)[0] for _ in range(_POPULATION // (_AT_ONCE * trials))]
        found = {}
        for name in every[0].figures:
            values, of = (np.concatenate([one.figures[name][at] for one in every]) for at in (0, 1))
            found[name] = _figure(values, of, pooled=name.startswith("%citations"))
        found["largest share"] = float(np.mean([one.topic_shares()[0] for one in every], axis=0).max())
        return found


@dataclass(frozen=True)
class Shown:
    """What a system shows: (topics, trials, answers, domains) `counts` of citations, the `number` (topics,) of answers
    of a conversation, and the trials (topics, trials) that were `lost`."""

    counts: Counts
    number: npt.NDArray[np.int64]
    lost: npt.NDArray[np.bool_]
    unknown: float

    @cached_property
    def figures(self) -> dict[str, tuple[Floats, Floats]]:
        """Of each measure, (topics, trials) values and numbers of what they are of; NaN for a lost trial, and a value
        without anything that it is of is NaN."""
        shown, cited = self.counts > 0, self.counts.sum(axis=-1)
        answers = np.repeat(self.number[:, None], self.lost.shape[1], axis=1).astype(np.float64)
        sourced = (cited > 0).sum(axis=2).astype(np.float64)
        citations = cited.sum(axis=2).astype(np.float64)
        rare = self.counts.shape[-1] // 4
        found = {
            "%sourced": (sourced / answers, answers),
            "%sourced(first)": (shown[..., 0].sum(axis=2) / answers, answers),
            "%sourced(rare)": (shown[..., rare].sum(axis=2) / answers, answers),
            "cites": ((sourced > 0).astype(np.float64), answers),
            "cites(first)": (shown[..., 0].any(axis=2).astype(np.float64), answers),
            "domains": (shown.sum(axis=(2, 3)) / answers, answers),
            "%citations(first)": (_share(self.counts[..., 0].sum(axis=2), citations), citations),
            "%citations(rare)": (_share(self.counts[..., rare].sum(axis=2), citations), citations),
            "GF_sources": (self._fairness(), sourced),
        }
        return {name: tuple(np.where(self.lost, np.nan, side) for side in sides) for name, sides in found.items()}  # type: ignore[misc]

    def _fairness(self) -> Floats:
        """(topics, trials) GF over kinds with equal targets: the mean over answers with a source."""
        domains = self.counts.shape[-1]
        kind = np.arange(domains) % KINDS
        kind[domains - int(self.unknown * domains) :] = KINDS  # nobody knows
        sums = self.counts @ (kind[:, None] == np.arange(KINDS + 1)).astype(np.float64)
        whole = sums.sum(axis=-1)
        there = whole > 0
        achieved = (sums[..., :KINDS] + sums[..., KINDS:] / KINDS) / np.where(there, whole, 1)[..., None]
        each = 1 - jsd(achieved[there], np.full(KINDS, 1 / KINDS))
        values = np.zeros(whole.shape)
        values[there] = each
        return _share(values.sum(axis=2), there.sum(axis=2))

    def topic_shares(self) -> tuple[Floats, Floats]:
        """(domains,) sums over topics of a topic's shares: the mean over its trials with a source, and (topics,) which
        topics have one, as `harvest sources` has them."""
        cited = np.where(self.lost[..., None], 0, self.counts.sum(axis=2)).astype(np.float64)
        sums = cited.sum(axis=-1, keepdims=True)
        there = (sums > 0).sum(axis=1)
        each = (cited / np.where(sums > 0, sums, 1)).sum(axis=1) / np.where(there > 0, there, 1)
        known = there[:, 0] > 0
        return np.asarray(each[known].mean(axis=0)), np.asarray(each)


def topic_names(topics: int) -> list[str]:
    return [f"T{at:03d}" for at in range(topics)]


def _share(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.asarray(np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0))


def _figure(values: Floats, of: Floats, *, pooled: bool) -> float:
    """A ratio of sums, or the mean over topics of the mean over trials with a value."""
    if pooled:
        return float(np.nansum(values * of) / np.nansum(of))
    there = ~np.isnan(values)
    counts = there.sum(axis=1)
    each = np.where(there, values, 0).sum(axis=1)[counts > 0] / counts[counts > 0]
    return float(each.mean())


SOURCE_WORLDS = (
    SourceWorld(law=ExposureWorld(name="power law 1", exponent=1.0)),
    SourceWorld(law=ExposureWorld(name="power law 2", exponent=2.0)),
    SourceWorld(law=ExposureWorld(name="a domain in one of 200", rare=0.005, alike=2.0)),
    SourceWorld(law=ExposureWorld(name="topics have nothing in common", exponent=1.5, alike=0.2)),
    SourceWorld(law=ExposureWorld(name="publishers of fields", exponent=1.5, publishers=0.6)),
    SourceWorld(law=ExposureWorld(name="bursts", exponent=1.5, burst=0.7, cites=8.0), silent=0.6),
    SourceWorld(law=ExposureWorld(name="more sources with the first domain", exponent=1.5, alike=1.0, tied=6)),
    SourceWorld(law=ExposureWorld(name="few topics have many sources", exponent=1.2, many=0.05)),
    SourceWorld(law=ExposureWorld(name="few topics show one domain alone", exponent=1.0, alone=0.03)),
    SourceWorld(law=ExposureWorld(name="hardly ever a source", exponent=1.0), silent=0.95, habit=0.5),
    SourceWorld(law=ExposureWorld(name="nearly always a source", exponent=1.0), silent=0.03, habit=0.5),
    SourceWorld(
        law=ExposureWorld(name="clusters by publisher", exponent=1.5, alike=0.5, publishers=0.5), cluster=5, silent=0.5
    ),
    SourceWorld(
        law=ExposureWorld(name="one domain, or none", domains=4, exponent=4.0, alike=0.3), answers=1, unknown=0
    ),
    SourceWorld(law=ExposureWorld(name="trials are lost", exponent=1.2, alike=1.0), lost=0.8),
)
HIDING = SourceWorld(law=ExposureWorld(name="a system loses what it shows", exponent=1.5, alike=1.0), hides=0.5)
SOURCE_SIZES = ((8, 1), (8, 3), (15, 3), (45, 1), (45, 3), (200, 1))
"""Topics and trials."""
