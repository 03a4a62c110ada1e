"""A request of `harvest score` as a value that another process can compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from scoring.notation import Term, parse_all

if TYPE_CHECKING:  # a request is also made where its answer is on the disk, and nothing is computed
    from harvest.studies.scores.bounds import CheckedBound
    from harvest.studies.scores.gathered import Gathered
    from harvest.studies.scores.scorecard import Material
    from harvest.studies.scores.selection import Selection
    from recordings.log.run_folder import Run
    from scoring.table import ScoreTable


@dataclass(frozen=True, slots=True)
class Scored:
    """The result of a request. `measures` were computed in addition to the default measures. `names` are the names
    of the requested measures, or () for the default measures. `selection` describes the effect of lost attempts.
    `bounds` are the checked thresholds of the audit."""

    table: ScoreTable
    measures: tuple[Term, ...]
    names: tuple[str, ...]
    selection: Selection
    bounds: tuple[CheckedBound, ...]


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """A request for scores. `measures` are written as in tables; () means the default measures. `gold` and `schema` are
    names or files, and `sources` is a file of sources. `judges`, `nuggets` and `folding` select whose judgments count,
    as in the command's options. `settings` override the audit's settings."""

    measures: tuple[str, ...] = ()
    gold: str | None = None
    schema: str | None = None
    judges: str | None = None
    nuggets: str | None = None
    folding: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    sources: str | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """The parsed measures. Raises InputError for an invalid measure."""
        return tuple(dict.fromkeys(term for text in self.measures for term in parse_all(text)))

    def gathered(self, runs: Sequence[Run]) -> Gathered:
        """Prepare the runs for this request. Raises InputError if a run is given twice."""
        from harvest.studies.scores.gathered import gather_runs
        from topics.source_file import load_sources

        sources = load_sources(self.sources) if self.sources is not None else None
        return gather_runs(runs, self.settings, judged=self.gold is not None, sources=sources)

    def scored(self, material: Material) -> Scored:
        """Score the material. Raises InputError for unknown names and for values that do not fit these runs."""
        from harvest.studies.scores import scorecard
        from harvest.studies.scores.bounds import checked_bounds, measures_needed, share_terms
        from harvest.studies.scores.lost_bounds import lost_bounds
        from harvest.studies.scores.selection import selection
        from scoring.swan.precedence import Precedence
        from scoring.swan.schema import load_schema
        from topics.library import load_gold

        terms = self.terms
        judged = load_gold(self.gold, material.topics) if self.gold is not None else None
        scorecard.refuse_unused(material, self.settings, judged)
        criteria = load_schema(self.schema) if self.schema else None
        names = scorecard.requested_names(terms, material.topics, criteria) if terms else ()
        scored = partial(
            scorecard.score_material,
            changes=self.settings,
            gold=judged,
            seed=self.seed,
            schema=criteria,
            judges=Precedence.from_options(self.judges, self.nuggets, self.folding),
        )
        needed = measures_needed(material.thresholds)
        measures = (*terms, *needed)
        whole = scored(material, measures=measures)
        table = whole.only(names) if names else whole  # the audit's bounds need figures that were not requested
        lost = selection(material, table, lambda of, terms: scored(of, measures=terms, only=True))
        bounds = checked_bounds(
            material.thresholds,
            whole,
            material.topics,
            criteria,
            speaking_of=lambda of: scored(material, changes={**self.settings, "estimand": of}, measures=needed),
            lost=lost_bounds(
                material,
                lambda filled, of: scored(
                    filled, changes={**self.settings, "estimand": of}, measures=share_terms(needed), only=True
                ),
            ),
        )
        return Scored(table, measures, names, lost, tuple(bounds))
