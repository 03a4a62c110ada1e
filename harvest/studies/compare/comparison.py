"""Compare systems of recorded runs, for `harvest compare`."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from harvest.studies.compare.compared_runs import compared_runs
from harvest.studies.compare.reference import Reference, add_standardised, choose_reference
from harvest.studies.runs.outlined_run import OutlinedRun
from harvest.studies.runs.readings import Contrast
from harvest.studies.scores.gathered import Gathered, Recorded, requested_terms
from harvest.studies.scores.scorecard import Judges
from harvest.studies.scores.trial_values import Key, Values
from harvest.studies.trees.parted_systems import PartedSystems, cores, parted_systems
from harvest.studies.validity.concentrations import Concentration
from harvest.studies.validity.user_card import UserDifference
from harvest.tables.comparison_words import (
    better_system,
    difference_text,
    figure_text,
    interval_words,
    is_within,
    measure_name,
    p_text,
)
from recordings.conversations.outlines import kinds
from recordings.files.json_text import Json
from scoring.comparison.compared_pairs import compare_pairs
from scoring.comparison.pairs import SEE_BOUNDS, MeasureComparison, Pair
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.losses import LostTrials, fill_losses
from scoring.inference.paired import Estimand
from scoring.library import good_end
from scoring.measure import Declaration, Measure
from scoring.notation import Term, parse
from scoring.settings import Guard, Settings
from scoring.statistics.standardisation import Standard
from scoring.table import ScoreTable, is_percentage
from topics.counting import pluralize
from topics.errors import InputError
from topics.html_table import html_table
from topics.identity import generator

# The pairs of six systems. Of more, some are printed, and the others can be asked for.
MOST_PAIRS = 15

_SESSION_NOTE = (
    "Sessions of {} go on from topic to topic, so answers of one session depend on each other: intervals and p take "
    "each session whole, and where conversations part is not tested."
)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """A comparison of systems in every measure.

    `runs` describes the compared runs (see `harvest.studies.runs.sources`), and `contrasts` the differences between
    the runs. `measures` starts with the comparisons over all topics; comparisons by topic type follow if requested.
    `invalid` is each system's number of trials without a valid attempt, and `unplayed` its number of planned trials
    that were not recorded. No figure includes such trials. `parted` describes where the conversations of each pair
    of systems diverge. `recorded` maps each system to its run folder and to its name in that run. Systems in
    `selected` lost trials depending on their own answers. Systems in `unlike` met users who spoke differently to
    another system. `standardised` has the form of standardised scores and the systems of their reference group, or is
    None. `on_these` has the measures that tell two systems apart on exactly these topics, but not for topics like
    these. `matters` is the smallest difference of shares that matters, or NaN if none was given.
    """

    runs: tuple[Mapping[str, Json], ...]
    systems: tuple[str, ...]
    estimand: Estimand
    guard: Guard
    settings: Settings
    seed: int
    measures: tuple[MeasureComparison, ...]
    invalid: Mapping[str, int]
    unplayed: Mapping[str, int]
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    parted: tuple[PartedSystems, ...] = ()
    recorded: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    selected: frozenset[str] = frozenset()
    unlike: frozenset[str] = frozenset()
    standardised: Reference | None = None
    on_these: tuple[MeasureComparison, ...] = ()
    matters: float = math.nan

    def verdict_of(self, one: MeasureComparison, pair: Pair) -> str:
        """Return the pair's verdict, or `same` if no difference is shown and all that are possible are smaller than
        what matters."""
        same = not pair.is_distinguished and is_within(one, pair, self.matters)
        return "same" if same else pair.verdict

    @property
    def dependent(self) -> frozenset[str]:
        """Systems whose pairs have no winner."""
        return self.selected | self.unlike

    @property
    def best_system(self) -> str:
        """The system with the best figure in the first measure."""
        first = self.measures[0]
        sign = -1 if good_end(parse(first.measure)) == "low" else 1
        known = {name: sign * figure for name, figure in first.figures.items() if not math.isnan(figure)}
        return max(known or first.figures, key=lambda name: known.get(name, 0.0))

    def with_pairs_of(self, system: str) -> "Comparison":
        """Return the comparison with only the pairs that include `system`."""
        return replace(
            self,
            measures=tuple(replace(one, pairs=one.pairs_of(system)) for one in self.measures),
        )

    def __repr__(self) -> str:
        topics = max((len(one.topics) for one in self.measures), default=0)
        compared = f"{pluralize(len(self.measures), 'measure')} over {pluralize(topics, 'topic')}"
        return f"<Comparison of {', '.join(self.systems)}: {compared}>"

    def _repr_html_(self) -> str:
        of = "topics like these" if self.estimand == "like-these" else "these topics"
        on_these = {one.label: better_system(one.pairs[0]) for one in self.on_these}

        def better(one: MeasureComparison, pair: Pair) -> str:
            if pair.is_distinguished:
                return better_system(pair)
            alone = "" if one.topic_type or one.standardised else on_these.get(one.label, "")
            verdict = self.verdict_of(one, pair)
            why = pair.why.removesuffix(SEE_BOUNDS) if verdict == "cannot tell" else ""
            said = f"{verdict}: {why}" if why else verdict
            return f"{said}; on these topics alone, {alone}" if alone else said

        return html_table(
            f"{repr(self)[1:-1]}; intervals and p are for {of}",
            (
                "measure",
                "first",
                "figure of first",
                "second",
                "figure of second",
                "first − second",
                "p, corrected",
                "better",
            ),
            (
                (
                    measure_name(one),
                    pair.first,
                    figure_text(one, pair.first),
                    pair.second,
                    figure_text(one, pair.second),
                    f"{difference_text(one, pair)} {interval_words(pair.interval, share=is_percentage(one.measure))}",
                    p_text(pair.corrected),
                    better(one, pair),
                )
                for one in self.measures
                for pair in one.pairs
            ),
        )


def compare_runs(
    runs: Sequence[Recorded] | Gathered,
    *,
    systems: Sequence[str] = (),
    measures: Sequence[str | Term | Declaration] = (),
    estimand: Estimand = "like-these",
    guard: Guard = "unseen",
    by_type: bool = False,
    across_scoring: bool = False,
    ratios: bool = False,
    standardise: Standard | None = None,
    reference: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
    scored: ScoreTable | None = None,
    judges: Judges | None = None,
    most_parted: int | None = None,
    matters: float = math.nan,
) -> Comparison:
    """Compare systems over the topics that all systems tried in the same wording, as `harvest compare` does.

    `runs` are run folders, or runs that were already read. `systems` are compared in the given order; () means all
    systems of the runs. `measures` are as in `harvest.score_runs`, but () means those that `harvest score` shows by
    default. `by_type` repeats the comparison for each type of topic. With `guard="unseen"`, intervals for topics like
    these allow for a kind of topic that was not sampled. `across_scoring` scores every run with the first audit's
    settings, even if the audits differ. `ratios` adds the ratio of the figures to each pair. `standardise` adds the
    standardised scores of each measure, relative to the systems in `reference`, () for all systems of the runs; each
    run may then have topics of its own, and the comparison is over all of them and over those of each run. `changes`
    override the audits' scoring settings. If `scored` has scores of these runs under the audits' settings, they are
    reused.
    `judges` selects whose judgments SWAN and WAN use (see `measure_values`). Where conversations part is described for
    the first `most_parted` pairs, or for all. Systems whose difference of shares is certainly smaller than `matters`
    are the same.

    Raises InputError for fewer than two systems, for a reference group of fewer than three, for a measure that has no
    value for a single topic, and for runs that cannot be compared.
    """
    if reference and standardise is None:
        raise InputError("--reference can only be used with --standardise", advice="add --standardise std-AB")
    of = compared_runs(runs, changes, across_scoring=across_scoring, separate=standardise is not None)
    settings, judges = of.first.settings, judges or Judges()
    chosen = of.choose_systems(systems)
    relative = choose_reference(of, standardise, reference) if standardise is not None else None
    values, keys, notes = of.values(
        chosen, relative.systems if relative else (), requested_terms(measures), scored, judges
    )
    own = {name: values[name] for name in chosen}
    continued = tuple(name for name in chosen if name in of.continued)
    times = of.start_times(chosen)
    with cores() as pool:

        def submit(
            key: Key, measure: Measure, part: str | None, topics: Sequence[str], of_what: Estimand
        ) -> Future[MeasureComparison]:
            return pool.submit(
                compare_cells,
                key,
                measure,
                {name: own[name].get(key, {}) for name in chosen},
                {name: of.lost_attempts(key, measure, name, own, topics) for name in chosen},
                partial(
                    align,
                    topics,
                    chosen,
                    pooled=measure.declaration.pooled,
                    continued=continued,
                    clusters=of.clusters,
                    times=times,
                    in_time=of_what == "these",
                ),
                part,
                settings.level,
                of_what,
                guard,
                seed,
                ratios=ratios,
            )

        asked = [
            (key, measure, part, topics)
            for part, topics in of.parts(chosen, by_type=by_type)
            for key, measure in keys.items()
        ]
        found = [submit(*one, estimand) for one in asked]
        parted, none = _part_systems(of.first, chosen, continued, seed, most_parted) if len(of.sets) == 1 else ((), ())
        compared = tuple(one.result() for one in found)
        # Few topics say little about others, and often much about themselves.
        again = [
            submit(*one, "these")
            for one, told in zip(asked, compared, strict=True)
            if estimand == "like-these"
            and len(chosen) == 2
            and told.topic_type is None
            and told.pairs[0].verdict in ("cannot tell", "too few")
        ]
        on_these = tuple(told for one in again if (told := one.result()).pairs[0].is_distinguished)
    if relative is not None:
        compared, undefined = add_standardised(compared, relative, values, keys, of, settings.level, guard, seed)
        notes = (*notes, *undefined)
    dependent = [found for one in of.sets for found in one.material.withholding(chosen)]
    done: Counter[str] = Counter()
    for kind in (kind for each in of.sets for kind in kinds(each.material.finished)):
        done[kind.example.key.system] += kind.number
    lost = Counter(key.system for one in of.sets for key in one.material.invalid)
    planned = Counter(key.system for one in of.sets for key in one.material.planned)
    return Comparison(
        runs=tuple(of.sources),
        systems=chosen,
        estimand=estimand,
        guard=guard,
        settings=settings,
        seed=seed,
        measures=compared,
        invalid={name: lost[name] for name in chosen},
        unplayed={name: max(0, planned[name] - done[name] - lost[name]) for name in chosen},
        contrasts=of.contrasts,
        notes=(
            *(() if systems or len(of.sources) > 1 else of.first.material.silent),
            *(note for one in of.sets for note in (*one.material.capped, *one.material.alike, *one.material.reread)),
            *notes,
            *(_missing_notes(keys, values, chosen) if measures else ()),
            *none,
            *([_SESSION_NOTE.format(", ".join(continued))] if continued else ()),
            *(f"{one.sentence}." for one in dependent),
        ),
        parted=parted,
        recorded=of.first.recorded if len(of.sets) == 1 else {},
        selected=frozenset(one.system for one in dependent if isinstance(one, Concentration)),
        unlike=frozenset(one.system for one in dependent if isinstance(one, UserDifference)),
        standardised=relative,
        on_these=on_these,
        matters=matters,
    )


def compare_cells(
    key: Key,
    measure: Measure,
    cells: Mapping[str, Mapping[Trial, Cell]],
    lost: Mapping[str, LostTrials],
    aligned: Callable[[Mapping[str, Mapping[Trial, Cell]]], Aligned],
    part: str | None,
    level: float,
    estimand: Estimand,
    guard: Guard,
    seed: int,
    *,
    ratios: bool = False,
) -> MeasureComparison:
    """Compare all pairs of systems in one measure. `cells` has each system's values, and `lost` its losses.
    `aligned` restricts cells to the common topics. `part` is a type of topic, or None for all topics."""
    of = measure.declaration

    def extreme(low: str, high: str) -> Aligned:
        moved = {
            low: fill_losses(cells[low], lost[low].losses_in_comparison(high), high=False),
            high: fill_losses(cells[high], lost[high].losses_in_comparison(low), high=True),
        }
        return aligned({**cells, **moved})

    return compare_pairs(
        *key,
        aligned(cells),
        generator(seed, "comparison", *map(str, key), str(part)),
        estimand=estimand,
        level=level,
        good=of.better(measure.term),
        reach=of.reach,
        topic_type=part,
        guard=guard,
        lost=lost,
        extreme=extreme,
        ratios=ratios,
    )


def _part_systems(
    gathered: Gathered, chosen: Sequence[str], continued: Collection[str], seed: int, most: int | None
) -> tuple[tuple[PartedSystems, ...], tuple[str, ...]]:
    """Return where the conversations of each pair diverge, or a note on why this is unknown."""
    finished, level = gathered.material.finished, gathered.settings.level
    if not any(turn.label for one, _, _ in kinds(finished) for turn in one.turns):
        return (), ("no answer has a label, so it cannot be said where the conversations part",)
    states: dict[str, tuple[str, ...]] = {}  # by system, those of its run's protocol, if it has any
    for run, names in zip(gathered.runs, gathered.names, strict=True):
        protocol = run.header.protocol
        own = protocol.get("states") if isinstance(protocol, dict) else None
        if isinstance(own, dict):
            states.update(dict.fromkeys(names.values(), tuple(own)))
    first = gathered.runs[0]
    try:
        found = parted_systems(
            finished,
            chosen,
            level=level,
            seed=seed,
            continued=continued,
            states=states,
            most=most,
            answers=first.answers if isinstance(first, OutlinedRun) else None,
        )
    except InputError as refused:
        return (), (f"it cannot be said where the conversations part: {refused.what}",)
    return found, ()


def _missing_notes(keys: Mapping[Key, Measure], values: Mapping[str, Values], chosen: Sequence[str]) -> Iterator[str]:
    """Yield a note, with the possible reason, for each measure without a value for some system."""
    for key, measure in keys.items():
        silent = [
            name
            for name in chosen
            if not any(weight and not math.isnan(value) for value, weight in values[name].get(key, {}).values())
        ]
        if silent:
            label = f"{key[0]} S{key[1]}" if key[1] else key[0]
            yield f"{label}, {', '.join(silent)}: no value: {measure.declaration.undefined}"
