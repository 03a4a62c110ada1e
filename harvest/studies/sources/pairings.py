"""Two systems that differ in one facet: where their shares differ, and whether they cite the same sources."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harvest.studies.sources.basis import SIMILARITIES, Basis, Described, overlaps
from harvest.studies.sources.citations import LOOKED_UP, CitingSystem
from scoring.inference.aligned import Cell, Trial
from scoring.inference.interval import no_interval
from scoring.inference.likeness import apart_interval, compare_likeness
from scoring.inference.losses import End, LostTrials, SideWithLosses
from scoring.inference.matched import Difference, difference, within_bounds
from topics.arrays import Floats
from topics.identity import generator


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two systems that differ in one facet. `shares` are the differences of shares of answers by name, the second
    system minus the first. `between` has the overlaps of two trials, one of each system, and `apart` is how much more
    similar two trials of one system are."""

    facet: str
    first: str
    second: str
    shares: Mapping[str, Difference]
    between: Mapping[str, Described]
    apart: Mapping[str, Difference]


def pair_sources(basis: Basis, facet: str, first: CitingSystem, second: CitingSystem, names: Sequence[str]) -> Pairing:
    """Compare two systems. p is not corrected."""
    rng = generator(basis.seed, "sources", "likeness", first.column, first.system, second.system)
    why = basis.no_interval_reason(first.system, second.system)
    similarities = () if first.column in LOOKED_UP else SIMILARITIES
    lists = [(first.lists(topic), second.lists(topic)) for topic in first.topics] if similarities else []
    tables = [(overlaps([*one, *other]), len(one)) for one, other in lists]
    between: dict[str, Described] = {}
    apart: dict[str, Difference] = {}
    for name in similarities:
        found = compare_likeness([(table[name], number) for table, number in tables], rng)
        systems = first.system, second.system
        between[name] = basis.described(first.topics, found.between, systems, why, "no topic has a trial of each")
        apart[name] = _apart(basis, first.topics, found.apart, found.p, why)
    return Pairing(
        facet,
        first.system,
        second.system,
        {name: _difference(basis, first, second, name) for name in names},
        between,
        apart,
    )


def _apart(basis: Basis, topics: Sequence[str], each: Floats, p: float, why: str) -> Difference:
    there = ~np.isnan(each)
    units, sizes = basis.sums_by_unit(
        [topic for topic, one in zip(topics, there, strict=True) if one], each[there, None]
    )
    count = len(units)
    interval, outside = apart_interval(units[:, 0], sizes, p=p, level=basis.settings.level)
    if why or not count:
        interval = no_interval(why or "each side needs two trials of a topic with a source")
    tested = interval.is_defined
    return Difference(
        value=float(each[there].mean()) if count else math.nan,
        n=int(there.sum()),
        topics=int(there.sum()),
        invalid=0,
        unplayed=0,
        undefined=int((~there).sum()),
        interval=interval,
        p=p if tested else math.nan,
        outside=outside if tested else math.nan,
    )


def _difference(basis: Basis, first: CitingSystem, second: CitingSystem, name: str) -> Difference:
    below, above = (SideWithLosses(one.cells(name), _lost(basis, one)) for one in (first, second))
    material = basis.gathered.material
    invalid = sum(key.system in (first.system, second.system) for key in material.invalid)
    continued = not basis.is_fresh(first.system, second.system)

    def between(end: End) -> Difference:
        return difference(
            first.topics,
            below.cells_at(end, against=True),
            above.cells_at(end),
            generator(basis.seed, "sources", "exchange", first.column, name, first.system, second.system),
            level=basis.settings.level,
            continued=continued,
            clusters=material.topics.clusters,
            invalid=invalid,
        )

    return within_bounds(between, (below, above))


def _lost(basis: Basis, one: CitingSystem) -> LostTrials:
    """Return the trials without a valid attempt: all or none of their answers could have shown a name."""
    material = basis.gathered.material
    gone: list[Trial] = [(key.topic, key.trial) for key in material.invalid if key.system == one.system]
    low: dict[Trial, Cell] = dict.fromkeys(gone, (0.0, 1.0))
    high: dict[Trial, Cell] = dict.fromkeys(gone, (1.0, 1.0))
    return LostTrials(low, high, depends=any(found.system == one.system for found in material.concentrations))
