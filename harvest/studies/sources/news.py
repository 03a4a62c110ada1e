"""Names that answers cite for the first time since an earlier run, and whether they are news or were merely not drawn
before."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harvest.studies.scores.gathered import Gathered
from harvest.studies.sources.basis import Described
from harvest.studies.sources.citations import UNKNOWN, CitingSystem, citing_systems, shown_in_trials
from recordings.log.run_folder import Run
from scoring.inference.appeared import appeared
from scoring.inference.interval import no_interval
from topics.errors import InputError, Place
from topics.identity import generator

_UNSEEN_REASON = "of these trials: whether one shows something new depends on all others"


@dataclass(frozen=True, slots=True)
class NewName:
    """A name that only the later run cites: its number of trials, the probability that an unchanged system would cite
    it only there, and the same corrected over all names; NaN if it is too rare to be called new."""

    name: str
    trials: int
    p: float
    corrected: float


@dataclass(frozen=True, slots=True)
class News:
    """The names in one column that a system cites in a later run and not in an earlier one.

    `expected` and `range` are the number of new names that an unchanged system would cite, and `chance` is the
    probability that it would cite as many. `gone` is the number of names that only the earlier run cites. `unseen` is
    the share of a trial's citations, in the earlier run, of names that no other trial of that run cites. It estimates
    what one more trial would have added.
    """

    system: str
    column: str
    new: tuple[NewName, ...]
    gone: int
    expected: float
    range: tuple[float, float]
    chance: float
    unseen: Described
    trials: tuple[int, int]
    withheld: str = ""


def find_news(
    gathered: Gathered, earlier: Gathered, systems: Sequence[str], columns: Sequence[str], *, seed: int = 0
) -> tuple[News, ...]:
    """Compare runs with an earlier run, whose systems have the same names in their audits, over the topics that both
    runs asked in the same words. Raises InputError if they have no system in common."""
    of_before = {own: name for name, (_, own) in earlier.recorded.items()}
    shared = {name: of_before[own] for name in systems if (own := gathered.recorded[name][1]) in of_before}
    if not shared:
        raise InputError(
            "the earlier run has none of these systems",
            place=Place(str(earlier.runs[0].path)),
            allowed=", ".join(of_before) or "none: it has no valid trial",
        )
    words = {topic.id: topic for topic in earlier.material.topics.topics}
    topics = frozenset(topic.id for topic in gathered.material.topics.topics if words.get(topic.id) == topic)
    now = citing_systems(gathered, tuple(shared), columns, gathered.settings)
    before = citing_systems(earlier, tuple(shared.values()), columns, gathered.settings)
    return tuple(
        _compare(gathered, _within(before[column][old], topics), _within(now[column][name], topics), seed)
        for column in columns
        for name, old in shared.items()
    )


def refuse_same_run(runs: Sequence[Run], earlier: Run) -> None:
    """Raise InputError if the earlier run is one of the runs."""
    if earlier.path.resolve() in [run.path.resolve() for run in runs]:
        raise InputError(
            "a run is not new since itself", place=Place(str(earlier.path)), advice="give an earlier run with --since"
        )


def _within(one: CitingSystem, topics: frozenset[str]) -> CitingSystem:
    trials = {trial: answers for trial, answers in one.trials.items() if trial[0] in topics}
    return CitingSystem(one.system, one.column, tuple(topic for topic in one.topics if topic in topics), trials)


def _compare(gathered: Gathered, before: CitingSystem, now: CitingSystem, seed: int) -> News:
    names, shown, trials, of = shown_in_trials((before, now))
    place = {topic: row for row, topic in enumerate(now.topics)}
    later = np.array(of, dtype=bool)
    rng = generator(seed, "sources", "news", now.column, now.system)
    level = gathered.settings.level
    own = np.array([place.get(topic, -1) for topic, _ in trials], dtype=np.intp)
    kept = own >= 0
    found = appeared(shown[kept], own[kept], later[kept], rng, alpha=1 - level)
    order = np.lexsort((found.new, -found.trials))
    withheld = ""
    if now.system in gathered.material.continued:
        withheld = "sessions go on from topic to topic, so trials are not exchangeable"
    return News(
        system=now.system,
        column=now.column,
        new=tuple(
            NewName(
                names[int(found.new[at])],
                int(found.trials[at]),
                math.nan if withheld else float(found.p[at]),
                math.nan if withheld else float(found.corrected[at]),
            )
            for at in order
        ),
        gone=len(before.counts.keys() - now.counts.keys() - {UNKNOWN}),
        expected=math.nan if withheld else found.expected,
        range=(math.nan, math.nan) if withheld else found.range,
        chance=math.nan if withheld else found.chance,
        unseen=_unseen(before),
        trials=(len(before.trials), len(now.trials)),
        withheld=withheld,
    )


def _unseen(before: CitingSystem) -> Described:
    """Return the mean over trials of the share of citations to names that no other trial shows."""
    found: Mapping[object, Counter[str]] = {
        trial: Counter(name for answer in answers for name in answer.known) for trial, answers in before.trials.items()
    }
    often = Counter(name for counts in found.values() for name in counts)
    each = [
        sum(count for name, count in counts.items() if often[name] == 1) / counts.total()
        for counts in found.values()
        if counts
    ]
    value = math.fsum(each) / len(each) if each else math.nan
    return Described(value, no_interval(_UNSEEN_REASON if each else "no value"), len(each))
