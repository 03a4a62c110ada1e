"""A study of the sources that systems cite, for `harvest sources`.

For each system and each way to group sources (their domains, kinds, owners): which groups are cited, how concentrated
citations are, how similar trials are, and where systems differ. Systems are compared within each facet in which they
differ (the system itself, its arm, its run). All differences of shares are one family of tests, and the distances
between systems are another.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from harvest.studies.runs.readings import Contrast
from harvest.studies.scores.gathered import Gathered
from harvest.studies.sources.basis import Basis
from harvest.studies.sources.citations import LOOKED_UP, UNKNOWN, CitingSystem, citing_systems, look_ups
from harvest.studies.sources.pairings import Pairing, pair_sources
from harvest.studies.sources.system_sources import SystemSources, system_sources
from harvest.studies.variance.facets import facet_groups, system_facets
from recordings.files.json_text import Json
from scoring.inference.matched import compare_family
from scoring.settings import Settings
from topics.errors import InputError
from topics.source_table import DOMAIN

MOST_NAMES = 10
MOST_PAIRS = 45  # of systems, that are compared


@dataclass(frozen=True, slots=True)
class ColumnSources:
    """One way to group sources: the cited names, each system, and each pair."""

    column: str
    names: tuple[str, ...]
    systems: tuple[SystemSources, ...]
    pairs: tuple[Pairing, ...]

    @property
    def is_looked_up(self) -> bool:
        """True if the names are results of look-ups, for which concentration and similarity have no meaning."""
        return self.column in LOOKED_UP


@dataclass(frozen=True, slots=True)
class SourceStudy:
    """A study of sources. `family` is the number of differences of shares that are corrected together."""

    systems: tuple[str, ...]
    topics: int
    columns: tuple[ColumnSources, ...]
    family: int
    settings: Settings
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    recorded: Mapping[str, str]
    runs: Sequence[Mapping[str, Json]]

    @property
    def groupings(self) -> tuple[str, ...]:
        """The columns that group sources, without the columns of look-ups."""
        return tuple(one.column for one in self.columns if not one.is_looked_up)


def study_sources(
    gathered: Gathered,
    *,
    systems: Sequence[str] = (),
    columns: Sequence[str] = (),
    most: int = MOST_NAMES,
    seed: int = 0,
) -> SourceStudy:
    """Study the sources that `systems` cite, () for all, in `columns` of the table of sources, () for the domain and
    all columns of the table. At most `most` names of each column are listed: those with the most citations, averaged
    over systems. Raises InputError for an unknown system or column, and if no answer has a source."""
    material, settings = gathered.material, gathered.settings
    played = {one.key.system for one in material.finished}
    known = tuple(name for name in material.systems if name in played)
    chosen = _choose(systems, known, "system") if systems else known
    looked_up = look_ups(gathered)
    of_table = (DOMAIN, *material.topics.sources.columns, *looked_up.columns)
    asked = _choose(columns, of_table, "column") if columns else of_table
    citing = citing_systems(gathered, chosen, asked, settings)
    if not any(one.with_source for one in citing[asked[0]].values()):
        raise InputError(
            "no answer has a source",
            advice="a source is a link in an answer, or what the system names beside it: see docs/sources.md",
        )
    pairs = [
        (group.facet, *pair)
        for group in facet_groups(system_facets(gathered))
        for pair in combinations([name for name in group.names if name in chosen], 2)
    ]
    basis = Basis(gathered, settings, seed)
    found = _correct([_column(basis, citing[column], most, pairs[:MOST_PAIRS]) for column in asked], settings.level)
    notes = list(_notes(gathered, chosen, citing[asked[0]]))
    if looked_up.at and any(column in LOOKED_UP for column in asked):
        notes.append(
            f"pages were looked up on {', '.join(looked_up.at)}: one that is gone then may have existed before, and "
            "one that blocks programs is not known to be gone"
        )
    if len(pairs) > MOST_PAIRS:
        notes.append(
            f"{len(pairs) - MOST_PAIRS} of {len(pairs)} pairs of systems are not compared: choose with --system"
        )
    return SourceStudy(
        systems=chosen,
        topics=len(material.topics.topics),
        columns=found,
        family=sum(len(pair.shares) for column in found for pair in column.pairs),
        settings=settings,
        contrasts=gathered.beside.contrasts,
        notes=tuple(notes),
        recorded={name: run.name for name, (run, _) in gathered.recorded.items()},
        runs=gathered.sources,
    )


def _correct(columns: Sequence[ColumnSources], level: float) -> tuple[ColumnSources, ...]:
    """Correct p over all pairs and columns: of differences of shares together, and of how far systems are apart."""
    pairs = [pair for column in columns for pair in column.pairs]
    each = (
        [one for pair in pairs for one in pair.shares.values()],
        [one for pair in pairs for one in pair.apart.values()],
    )
    shares, apart = (iter(compare_family(own, [math.nan] * len(own), level=level)) for own in each)
    return tuple(
        replace(
            column,
            pairs=tuple(
                replace(
                    pair,
                    shares={name: next(shares) for name in pair.shares},
                    apart={name: next(apart) for name in pair.apart},
                )
                for pair in column.pairs
            ),
        )
        for column in columns
    )


def _choose(asked: Sequence[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    for name in asked:
        if name not in known:
            raise InputError(f"unknown {what} {name!r}", allowed=", ".join(known) or "none: no trial is valid")
    return tuple(dict.fromkeys(asked))


def _notes(gathered: Gathered, chosen: Sequence[str], citing: Mapping[str, CitingSystem]) -> Iterator[str]:
    material = gathered.material
    yield from material.silent
    yield from (f"{one.sentence}." for one in material.withholding(chosen))
    for name, one in citing.items():
        if one.answers and not one.with_source:
            yield f"{name}: no answer has a source"
    if not material.topics.sources.entries:
        yield "the runs have no table of sources, so kinds and owners are unknown: give one with --sources FILE"


def _column(
    basis: Basis, citing: Mapping[str, CitingSystem], most: int, pairs: Sequence[tuple[str, str, str]]
) -> ColumnSources:
    sums: dict[str, float] = {}
    for one in citing.values():
        for name, count in one.counts.items():
            if name != UNKNOWN:
                sums[name] = sums.get(name, 0.0) + count / one.counts.total()
    names = tuple(sorted(sums, key=lambda name: (-sums[name], name))[:most])
    column = next(iter(citing.values())).column
    return ColumnSources(
        column,
        names,
        tuple(system_sources(basis, one, names) for one in citing.values()),
        tuple(pair_sources(basis, facet, citing[first], citing[second], names) for facet, first, second in pairs),
    )
