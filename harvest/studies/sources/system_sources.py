"""The sources that one system cites: how often, how concentrated they are, and how similar its trials are."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harvest.studies.sources.basis import SIMILARITIES, Basis, Described, overlaps
from harvest.studies.sources.citations import UNKNOWN, CitingSystem
from scoring.inference.interval import Interval, no_interval
from scoring.inference.largest_share import largest_share
from scoring.inference.likeness import within
from scoring.inference.ranks import possible_ranks
from scoring.inference.same_kind import same_kind_chance, same_kind_interval
from scoring.statistics.concentration import entropy, gini
from topics.arrays import Floats


@dataclass(frozen=True, slots=True)
class Shown:
    """How often a system cites one name. `answers` is its share of answers, and `citations` its share of citations.
    `single` are the shares of answers in each whole trial. `ranks` are the highest and the lowest rank that it may have
    among the names of the study."""

    name: str
    answers: float
    answers_interval: Interval
    citations: float
    citations_interval: Interval
    count: int
    single: tuple[float, ...]
    ranks: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SystemSources:
    """The sources that one system cites, in one column. `unknown` is the number of citations without a name there.
    `same` is the chance that citations of two topics have one name, `largest` the largest share, `leader` its name
    here. `entropy` and `gini` are computed from these citations. `alike` are the overlaps between the trials of a
    topic."""

    system: str
    answers: int
    with_source: int
    citations: int
    unknown: int
    distinct: int
    shown: tuple[Shown, ...]
    same: Described
    leader: str
    largest: Described
    entropy: float
    gini: float
    alike: Mapping[str, Described]


def system_sources(basis: Basis, one: CitingSystem, names: Sequence[str]) -> SystemSources:
    """Describe the sources that a system cites. `names` has the names in the study's tables."""
    shown, cited, answers, citations = one.table(names)
    wide = np.ones(len(names))
    resampler = basis.resampler(one.system)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_answers = np.where(answers > 0, shown / answers, np.nan)
    means = resampler.means(one.topics, of_answers)
    ratios = resampler.ratios(one.topics, cited, citations * wide)
    values = _topic_means(of_answers)
    whole = float(np.nansum(citations))
    every = sorted(name for name in one.counts if name != UNKNOWN)
    topics, shares = one.topic_shares(every)
    units, sizes = basis.sums_by_unit(topics, shares)
    ranks = possible_ranks(*basis.sums_by_unit(*one.topic_shares(names)), level=basis.settings.level)
    best, share, interval = largest_share(units, sizes, level=basis.settings.level, unit=basis.unit(topics))
    same = same_kind_interval(units, sizes, level=basis.settings.level, unit=basis.unit(topics))
    why = basis.no_interval_reason(one.system)
    known = [count for name, count in one.counts.items() if name != UNKNOWN]
    return SystemSources(
        system=one.system,
        answers=one.answers,
        with_source=one.with_source,
        citations=one.counts.total(),
        unknown=one.counts[UNKNOWN],
        distinct=one.distinct,
        shown=tuple(
            Shown(
                name=name,
                answers=values[at],
                answers_interval=means[at],
                citations=float(np.nansum(cited[..., at])) / whole if whole else math.nan,
                citations_interval=ratios[at],
                count=one.counts[name],
                single=tuple(one.single_shares(name)),
                ranks=ranks[at] if not why else (1, len(names)),
            )
            for at, name in enumerate(names)
        ),
        same=Described(same_kind_chance(units, sizes), no_interval(why) if why else same, len(topics)),
        leader=every[best] if best >= 0 else "",
        largest=Described(share, no_interval(why) if why else interval, len(topics)),
        entropy=entropy(known),
        gini=gini(known),
        alike=dict(_alike(basis, one, why)),
    )


def _alike(basis: Basis, one: CitingSystem, why: str) -> Iterator[tuple[str, Described]]:
    tables = [overlaps(one.lists(topic)) for topic in one.topics]
    for name in SIMILARITIES:
        each = np.array([within(table[name]) for table in tables])
        yield name, basis.described(one.topics, each, (one.system,), why)


def _topic_means(cells: Floats) -> list[float]:
    """Return (names,) means over topics of the mean over trials of (topics, trials, names) values."""
    there = ~np.isnan(cells)
    counts = there.sum(axis=1)
    with np.errstate(invalid="ignore"):
        each = np.where(there, cells, 0.0).sum(axis=1) / np.where(counts > 0, counts, np.nan)
    known = ~np.isnan(each)
    sums = np.where(known, each, 0.0).sum(axis=0)
    return [float(total / n) if n else math.nan for total, n in zip(sums, known.sum(axis=0), strict=True)]
