"""Scores relative to a reference group of systems, for `harvest compare --standardise`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harvest.studies.compare.compared_runs import ComparedRuns
from harvest.studies.runs.side_by_side import no_valid_trials_clause
from harvest.studies.scores.trial_values import Key, Values
from scoring.comparison.pairs import MeasureComparison
from scoring.comparison.standardised import compare_standardised
from scoring.inference.aligned import align
from scoring.measure import Measure
from scoring.settings import Guard
from scoring.statistics.standardisation import FEWEST_SYSTEMS, STANDARDS, Standard
from topics.counting import pluralize
from topics.errors import InputError
from topics.identity import generator


@dataclass(frozen=True, slots=True)
class Reference:
    """The form of standardised scores, and the systems to whose scores they are relative."""

    form: Standard
    systems: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What the scores are, such as `E-std: the share of A, B and C whose score …`."""
        names = self.systems
        group = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
        return f"{self.form}: {STANDARDS[self.form].format(group)}"


def choose_reference(runs: ComparedRuns, form: Standard, systems: Sequence[str]) -> Reference:
    """Return the reference group of `systems`; () means all systems. Raises InputError for an unknown form or system,
    and if there are too few of them."""
    if form not in STANDARDS:
        raise InputError(f"there is no form {form!r} of standardised scores", allowed=", ".join(STANDARDS))
    for name in systems:
        if name not in runs.systems:
            why = no_valid_trials_clause([name]) if name in runs.silent else f"{name!r} is not a system of these runs"
            raise InputError(f"--reference: {why}", allowed=", ".join(runs.systems) or "none")
    chosen = tuple(dict.fromkeys(systems)) or runs.systems
    if len(chosen) < FEWEST_SYSTEMS:
        raise InputError(
            f"scores cannot be standardised by {pluralize(len(chosen), 'system')} ({', '.join(chosen)})",
            allowed=f"a reference group of {FEWEST_SYSTEMS} systems or more",
            advice="with two systems, a standardised score only says which is higher; add the runs of other systems",
        )
    return Reference(form, chosen)


def add_standardised(
    plain: Sequence[MeasureComparison],
    relative: Reference,
    values: Mapping[str, Values],
    measures: Mapping[Key, Measure],
    runs: ComparedRuns,
    level: float,
    guard: Guard,
    seed: int,
) -> tuple[tuple[MeasureComparison, ...], tuple[str, ...]]:
    """Return the comparisons, each followed by the comparison of its standardised scores, and notes on undefined
    scores.

    `values` has the values of the compared systems and of the reference group. A ratio of sums has no score of a topic,
    and no standardised scores.
    """
    made, notes = [], []
    for one in plain:
        made.append(one)
        if one.pooled:
            notes.append(f"{one.label}: a ratio of sums over topics has no score of a topic to standardise")
            continue
        measure, scores = measures[one.measure, one.turn], {}
        for name in (*one.figures, *relative.systems):
            cells = values[name].get((one.measure, one.turn), {})
            side = align(one.topics, (name,), {name: cells}, pooled=False)
            scores[name] = dict(zip(side.topics, side.topic_figures[:, 0].tolist(), strict=True))
        found = compare_standardised(
            one,
            scores,
            relative.systems,
            generator(seed, "standardised", one.label, str(one.topic_type)),
            form=relative.form,
            level=level,
            good=measure.declaration.better(measure.term),
            guard=guard,
            clusters=runs.clusters,
            continued=runs.continued,
        )
        made.append(found.measure)
        notes += [found.note] if found.note else []
    return tuple(made), tuple(dict.fromkeys(notes))
