"""The figures of ranked lists in long form: ERR, iRBU, GF and GFR for each topic of each run, and their means.

Relevance assessments (qrels) are in NTCIREVAL's format: `topic document L<n>` on each line, with L0 for nonrelevant.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType

import numpy as np

from scoring.divergences import DIVERGENCES
from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import FEWEST, Interval, no_interval, too_few_reason
from scoring.measures.err import ERR, err
from scoring.measures.gfr import LIST_FAIRNESS, LIST_SUMMARY, gfr, list_fairness
from scoring.measures.irbu import IRBU, PERSISTENCE, irbu
from scoring.notation import Term, Value
from scoring.rankings.columns import ColumnFile, quote_cell
from scoring.rankings.groups import DocumentGroups, Scale
from scoring.rankings.run import Run
from scoring.table import FORMAT, ScoreRow
from topics.counting import pluralize
from topics.errors import InputError

_GRADE = re.compile(r"L([0-9]{1,3})")
_KIND = "qrels (topic document L<n>)"


@dataclass(frozen=True, slots=True)
class Qrels:
    """The grade (0, 1, 2, …) of each judged document, by topic, in the order of the file."""

    path: str
    grades: Mapping[str, Mapping[str, int]]

    def check_gains(self, gains: Mapping[int, float]) -> None:
        """Raise InputError, with the place in the file, for a grade that has no gain."""
        known = {0, *gains}
        if all(grade in known for judged in self.grades.values() for grade in judged.values()):
            return
        file = ColumnFile.read(self.path, _KIND)
        for line, cells in file.rows():
            grade = int(cells[2][1:])
            if grade not in known:
                raise file.fault(
                    line,
                    2,
                    f"grade L{grade} has no gain",
                    allowed=", ".join(f"L{known_grade}" for known_grade in sorted(known)),
                    advice="give every grade a gain, for example --gains "
                    + ",".join(f"L{one}={2**one - 1}" for one in range(1, min(grade, 9) + 1)),
                )
        raise InputError("the file changed while it was being read", advice="start again")


def read_qrels(path: str | PathLike[str]) -> Qrels:
    """Read the assessments at `path`. Raises InputError, with line and column, for the first fault."""
    file = ColumnFile.read(path, _KIND)
    found: dict[str, dict[str, int]] = {}
    for line, cells in file.rows():
        if len(cells) != 3:
            trec = len(cells) == 4 and cells[3].lstrip("-").isdigit()
            raise file.fault(
                line,
                3,
                f"the line has {len(cells)} columns",
                allowed="three: topic document L<n>",
                advice="these look like TREC qrels: leave out the second column and write 2 as L2" if trec else None,
            )
        topic, document, text = cells
        grade = _GRADE.fullmatch(text)
        if grade is None:
            raise file.fault(line, 2, f"{quote_cell(text)} is not a grade", allowed="L0 (nonrelevant), L1, L2, …")
        judged = found.setdefault(topic, {})
        if document in judged:
            raise file.fault(
                line,
                1,
                f"{quote_cell(document)} is judged twice for topic {topic}",
                advice="keep only the correct line",
            )
        judged[document] = int(grade[1])
    if not found:
        raise file.empty("assessments")
    return Qrels(file.path, MappingProxyType({topic: MappingProxyType(judged) for topic, judged in found.items()}))


# 2^grade - 1, as in ERR's paper and in NTCIREVAL's guide.
GAINS: Mapping[int, float] = MappingProxyType({1: 1.0, 2: 3.0})

# The name of the utility among the weights of GFR.
UTILITY = "utility"

ALL_DOCUMENTS = "over all documents in the list; GF of conversations takes relevant nuggets only"

_DIVERGENCES: Mapping[Scale | None, tuple[str, ...]] = {
    "ordinal": ("RNOD", "NMD", "JSD"),
    "nominal": ("JSD", "RNOD", "NMD"),
    None: ("RNOD", "NMD", "JSD"),
}
_ORDINAL = ("RNOD", "NMD")
_ORDERLESS = "the groups have no order, so this says little: read by=JSD"
_ORDER_BLIND = "JSD does not see the order of the groups: read by=RNOD or by=NMD"
_EMPTY = "no documents: an empty list serves nobody"


@dataclass(frozen=True, slots=True)
class ListSettings:
    """Settings of the figures. Raises InputError for values that are not allowed.

    `gains` has the gain, from 0 to 10^6, of each relevance grade from 1 on; gmax is the largest gain. `cutoff` is the
    number of top documents that count, or None for all. `persistence` is p of iRBU, in (0, 1]. `level` is the
    confidence of the intervals, from .5 to .9999, and `replications` the number of bootstrap draws, from 100 to
    1,000,000. `weights` are w_0 of GFR, under the name `utility`, and w_m, under the names of attribute sets ([GFRC]
    Eq. 1). They lie from 0 to 10^6 and are 1 for parts that are not named. Only their ratios matter.
    """

    gains: Mapping[int, float] = field(default_factory=lambda: GAINS)
    cutoff: int | None = None
    persistence: float = PERSISTENCE
    level: float = 0.95
    replications: int = 2000
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for grade, gain in self.gains.items():
            if grade < 1 or not 0 <= gain <= 1e6:
                raise InputError(
                    f"L{grade}={gain:g} is not allowed", allowed="grades from L1, each with a gain from 0 to 1000000"
                )
        if not self.gains or max(self.gains.values()) <= 0:
            raise InputError("no grade has a gain above 0", allowed="for example L1=1,L2=3")
        for name, value, fine, allowed in (
            ("cutoff", self.cutoff, self.cutoff is None or self.cutoff >= 1, "a number of documents from 1"),
            ("persistence", self.persistence, 0 < self.persistence <= 1, "a number above 0, up to 1"),
            ("level", self.level, 0.5 <= self.level <= 0.9999, "a number from 0.5 to 0.9999"),
            ("replications", self.replications, 100 <= self.replications <= 10**6, "from 100 to 1000000"),
        ):
            if not fine:
                raise InputError(f"{name} {value} is not allowed", allowed=allowed)
        for part, weight in self.weights.items():
            if not 0 <= weight <= 1e6:
                raise InputError(f"the weight {part}={weight:g} is not allowed", allowed="a number from 0 to 1000000")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))
        object.__setattr__(self, "gains", MappingProxyType(dict(sorted(self.gains.items()))))

    def as_json(self) -> dict[str, object]:
        """Return a JSON value with every parameter."""
        return {
            "gains": {f"L{grade}": gain for grade, gain in self.gains.items()},
            "cutoff": self.cutoff,
            "persistence": self.persistence,
            "level": self.level,
            "replications": self.replications,
            **({"weights": dict(self.weights)} if self.weights else {}),
        }

    def weights_of(self, sets: Sequence[str]) -> list[float]:
        """Return w_0 of the utility and w_m of each of the attribute sets, in their order."""
        return [self.weights.get(name, 1.0) for name in (UTILITY, *sets)]

    def check_weights(self, sets: Sequence[str]) -> None:
        """Raise InputError for a weight of a set that does not exist, and if no set has a weight above 0."""
        for name in self.weights:
            if name not in (UTILITY, *sets):
                raise InputError(f"weights: there is no attribute set {name!r}", allowed=", ".join((UTILITY, *sets)))
        if sets and not any(self.weights_of(sets)[1:]):
            raise InputError(
                "weights: all attribute sets have weight 0, so GFR would measure no fairness",
                advice="read the utility itself, or give a set a weight above 0",
            )


@dataclass(frozen=True, slots=True)
class ListScores:
    """Scores of each run, by topic in the order of the qrels and then as means, with notes for readers."""

    rows: tuple[ScoreRow, ...]
    settings: ListSettings
    groups: tuple[DocumentGroups, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return the `harvest-scores/1` document, with the settings of lists."""
        scales = {one.name: one.scale for one in self.groups}
        return {
            "format": FORMAT,
            "settings": {**self.settings.as_json(), "attributes": scales},
            "notes": list(self.notes),
            "rows": [row.as_json() for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class _Figure:
    term: Term
    value: float
    unknown: int = 0
    note: str = ""


def list_scores(
    runs: Sequence[Run],
    qrels: Qrels,
    groups: Sequence[DocumentGroups],
    settings: ListSettings,
    rng: np.random.Generator,
) -> ListScores:
    """Score every run on every topic of the qrels.

    If a run has no list for a topic, the list counts as empty and every measure is 0. Documents that are not judged
    count as nonrelevant (their number is `unjudged`), and documents without a membership get uniform shares
    (`unknown`). A set applies to the topics in its membership file, and GFR of a topic uses all sets of that topic.
    Topics that are not in the qrels are left out, with a note. One number is drawn from `rng`, for the bootstrap over
    topics. Raises InputError for two runs with one name, for a grade without a gain, and for the weight of a set that
    does not exist.
    """
    qrels.check_gains(settings.gains)
    settings.check_weights([one.name for one in groups])
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"{names.count(name)} runs are called {name!r}", advice="give them different names in the last column"
            )
    resampler = Resampler(rng, replications=settings.replications, level=settings.level)
    rows: list[ScoreRow] = []
    for run in runs:
        by_topic = {
            topic: tuple(_figures(run.rankings.get(topic, ()), topic, judged, groups, settings))
            for topic, judged in qrels.grades.items()
        }
        own = []
        for topic, figures in by_topic.items():
            documents = run.rankings.get(topic, ())[: settings.cutoff]
            unjudged = sum(document not in qrels.grades[topic] for document in documents)
            own += [
                ScoreRow(
                    str(figure.term),
                    run.name,
                    topic,
                    None,
                    None,
                    figure.value,
                    len(documents),
                    unjudged=unjudged,
                    unknown=figure.unknown,
                    note=figure.note if documents else _EMPTY,
                )
                for figure in figures
            ]
        rows += own
        rows += _means(run.name, list(qrels.grades), own, settings.level, resampler)
    return ListScores(tuple(rows), settings, tuple(groups), _notes(runs, qrels, groups))


def _figures(
    ranking: Sequence[str],
    topic: str,
    judged: Mapping[str, int],
    groups: Sequence[DocumentGroups],
    settings: ListSettings,
) -> Iterator[_Figure]:
    documents = ranking[: settings.cutoff]
    worth = {0: 0.0, **settings.gains}
    gains = np.array([worth[judged.get(document, 0)] for document in documents])
    highest = max(settings.gains.values())
    cut: tuple[tuple[str, Value], ...] = (("cutoff", float(settings.cutoff)),) if settings.cutoff is not None else ()
    persistence: tuple[tuple[str, Value], ...] = ()
    if settings.persistence != PERSISTENCE:
        persistence = (("p", settings.persistence),)
    utilities = {
        Term(ERR.name): float(err(gains, highest)),
        Term(IRBU.name, parameters=persistence): float(irbu(gains, highest, persistence=settings.persistence)),
    }
    for utility, value in utilities.items():
        yield _Figure(Term(utility.name, parameters=(*utility.parameters, *cut)), value)
    found: dict[tuple[str, str], float] = {}
    here = [one for one in groups if topic in one.memberships]
    without = 0
    for one in here:
        rows, unknown = one.rows(topic, documents)
        without += unknown
        for by in _DIVERGENCES[one.scale]:
            value = float(list_fairness(gains, rows, one.gold, highest, DIVERGENCES[by]))
            found[one.name, by] = value
            note = ALL_DOCUMENTS
            if one.scale is not None and (by == "JSD") != (one.scale == "nominal"):
                note = _ORDERLESS if one.scale == "nominal" else _ORDER_BLIND
            yield _Figure(Term(LIST_FAIRNESS.name, (Term(one.name),), (("by", Term(by)), *cut)), value, unknown, note)
    if not here or any(one.scale is None for one in here):
        return
    ordered = any(one.scale == "ordinal" for one in here)
    for utility, value in utilities.items():
        for ordinal in _ORDINAL if ordered else ("JSD",):
            parts = [found[one.name, ordinal if one.scale == "ordinal" else "JSD"] for one in here]
            by_order: tuple[tuple[str, Value], ...] = (("ordinal", Term(ordinal)),) if ordered else ()
            term = Term(LIST_SUMMARY.name, (utility,), (*by_order, *cut))
            weighted = gfr(value, parts, settings.weights_of([one.name for one in here]))
            note = ALL_DOCUMENTS if weighted == weighted else "every attribute set of this topic has weight 0"
            yield _Figure(term, weighted, without, note)


def _means(
    system: str, topics: Sequence[str], own: Sequence[ScoreRow], level: float, resampler: Resampler
) -> Iterator[ScoreRow]:
    measures: dict[str, dict[str, ScoreRow]] = {}
    for row in own:
        assert row.topic is not None
        measures.setdefault(row.measure, {})[row.topic] = row
    cells = np.full((len(topics), 1, len(measures)), np.nan)
    place = {topic: at for at, topic in enumerate(topics)}
    for column, by_topic in enumerate(measures.values()):
        for topic, row in by_topic.items():
            cells[place[topic], 0, column] = row.value
    intervals: Sequence[Interval] = resampler.means(topics, cells) if measures else ()
    for (measure, by_topic), interval in zip(measures.items(), intervals, strict=True):
        shown = interval if not math.isnan(interval.low) else no_interval(interval.note)
        defined = [row for row in by_topic.values() if not math.isnan(row.value)]
        values = [row.value for row in defined]
        about = next((row.note for row in defined or by_topic.values() if row.n), "")
        yield ScoreRow(
            measure,
            system,
            None,
            None,
            None,
            math.fsum(values) / len(values) if values else math.nan,
            len(values),
            topics=len(values),
            low=shown.low,
            high=shown.high,
            level=level if shown.method else None,
            interval=shown.method or None,
            resampled=shown.resampled or None,
            unjudged=sum(row.unjudged for row in defined),
            unknown=sum(row.unknown for row in defined),
            note="; ".join(note for note in (about, shown.note) if note),
        )


def _notes(runs: Sequence[Run], qrels: Qrels, groups: Sequence[DocumentGroups]) -> tuple[str, ...]:
    notes = []
    for one in groups:
        if one.scale is None:
            notes.append(
                f"It is not declared whether the groups of {one.name} have an order, so its topics have no GFR: "
                f"give --ordinal {one.name} or --nominal {one.name}."
            )
        if not one.memberships.keys() & qrels.grades.keys():
            notes.append(f"The membership file of {one.name} has no topic of the qrels.")
    for run in runs:
        asked = len(qrels.grades.keys() - run.rankings.keys())
        more = len(run.rankings.keys() - qrels.grades.keys())
        if asked:
            notes.append(f"{run.name} has no list for {asked} of {len(qrels.grades)} topics; they count as 0.")
        if more:
            notes.append(f"{run.name} has lists for {pluralize(more, 'topic')} outside the qrels, which are left out.")
        if run.tied:
            notes.append(f"{run.name}: {run.tied} documents share a rank; they keep the order of the file.")
        if run.rising:
            notes.append(
                f"{run.name}: the score of {pluralize(run.rising, 'document')} is above that of the one ranked before; "
                "the rank column decides."
            )
    if len(qrels.grades) < FEWEST:
        notes.append(f"No mean has an interval: {too_few_reason(len(qrels.grades))}.")
    if groups:
        notes.append(
            "GF and GFR of ranked lists use all documents, and those of conversations (GFRC) only relevant "
            "nuggets, so they are on different scales."
        )
    return tuple(notes)
