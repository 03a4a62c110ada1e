"""The citations in the answers of recorded runs, as counts by system, topic and trial."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from harvest.studies.scores.gathered import Gathered
from harvest.studies.scores.scorecard import Judges
from recordings.judged.source_layers import LOOK_UP, PAGE, QUOTATION
from scoring.cited import CitedSource
from scoring.inference.aligned import Cell, Trial
from scoring.material import Material as Ground
from scoring.settings import Settings
from topics.arrays import Floats

# A source that the table of sources does not know, or whose address hides its page.
UNKNOWN = ""

# What `harvest judge cited` found, in the place of a name: of the page of each source, and of each quotation.
LOOKED_UP = (PAGE, QUOTATION)


@dataclass(frozen=True, slots=True)
class CitingAnswer:
    """The names in one column of the sources that an answer cites, one for each source, in order; `UNKNOWN` is not a
    name."""

    shown: tuple[str, ...]

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(name for name in self.shown if name != UNKNOWN)


@dataclass(frozen=True)  # without slots, for cached properties
class CitingSystem:
    """The names in one column, such as `domain` or `owner`, of the sources that one system cites.

    `topics` are the topics of the study, in order. `trials` has the answers of each valid conversation.
    """

    system: str
    column: str
    topics: tuple[str, ...]
    trials: Mapping[Trial, tuple[CitingAnswer, ...]]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of citations of each name, over all answers."""
        return Counter(name for answers in self.trials.values() for one in answers for name in one.shown)

    @property
    def answers(self) -> int:
        return sum(map(len, self.trials.values()))

    @property
    def with_source(self) -> int:
        """The number of answers with any source."""
        return sum(bool(one.shown) for answers in self.trials.values() for one in answers)

    @property
    def distinct(self) -> int:
        return len([name for name in self.counts if name != UNKNOWN])

    def cells(self, name: str) -> dict[Trial, Cell]:
        """Return the share of answers that show a name in each trial, as cells of a mean over topics."""
        return {
            trial: (float(sum(name in one.shown for one in answers)) / len(answers), 1.0)
            for trial, answers in self.trials.items()
            if answers
        }

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the trials."""
        return tuple(sorted({number for _, number in self.trials}))

    def table(self, names: Sequence[str]) -> tuple[Floats, Floats, Floats, Floats]:
        """Return (topics, trials, names) answers that show a name and citations of it, and (topics, trials, 1) answers
        and citations; NaN for a missing trial."""
        shape = len(self.topics), len(self.numbers)
        shown, cited = np.full((2, *shape, len(names)), np.nan)
        answers, citations = np.full((2, *shape, 1), np.nan)
        rows, columns = _places(self.topics), _places(self.numbers)
        for (topic, number), own in self.trials.items():
            at = rows[topic], columns[number]
            found = Counter(name for one in own for name in one.shown)
            there = Counter(name for one in own for name in set(one.shown))
            shown[at], cited[at] = [there[name] for name in names], [found[name] for name in names]
            answers[at], citations[at] = len(own), found.total()
        return shown, cited, answers, citations

    def topic_shares(self, names: Sequence[str]) -> tuple[list[str], Floats]:
        """Return the topics with a known citation, and their shares of each name, (topics, names), averaged over the
        trials with a known citation. Shares are of known citations."""
        places = _places(names)
        sums: dict[str, Floats] = {}
        trials: Counter[str] = Counter()
        for (topic, _), own in self.trials.items():
            found = Counter(name for one in own for name in one.known)
            if found:
                row = sums.setdefault(topic, np.zeros(len(names)))
                for name, count in found.items():
                    if name in places:
                        row[places[name]] += count / found.total()
                trials[topic] += 1
        topics = [topic for topic in self.topics if topic in sums]
        return topics, np.array([sums[topic] / trials[topic] for topic in topics]).reshape(len(topics), len(names))

    def lists(self, topic: str) -> list[tuple[str, ...]]:
        """Return, for each trial of a topic, the names that it shows, each once, in order."""
        return [
            tuple(dict.fromkeys(name for one in own for name in one.known))
            for (where, _), own in self.trials.items()
            if where == topic
        ]

    def single_shares(self, name: str) -> list[float]:
        """Return the share of answers that show a name in each whole trial: the first of all topics, and so on."""
        found = []
        for number in self.numbers:
            own = [one for (_, at), answers in self.trials.items() if at == number for one in answers]
            found.append(sum(name in one.shown for one in own) / len(own) if own else math.nan)
        return found


def shown_in_trials(systems: Sequence[CitingSystem]) -> tuple[list[str], npt.NDArray[np.bool_], list[Trial], list[int]]:
    """Return the names that the systems show, (trials, names) whether each trial shows them, the trials, and the number
    of the system of each trial."""
    names = sorted({name for one in systems for name in one.counts if name != UNKNOWN})
    places = _places(names)
    trials = [(trial, at) for at, one in enumerate(systems) for trial in one.trials]
    found = np.zeros((len(trials), len(names)), dtype=bool)
    for row, (trial, at) in enumerate(trials):
        for answer in systems[at].trials[trial]:
            found[row, [places[name] for name in answer.known]] = True
    return names, found, [trial for trial, _ in trials], [at for _, at in trials]


@dataclass(frozen=True, slots=True)
class LookUps:
    """The results of looking up citations: the outcome of each address, and of the quotations of each trial, by turn.
    `at` has the days of the newest look-ups of the runs."""

    pages: Mapping[str, str]
    quotations: Mapping[str, Mapping[int, Sequence[str]]]
    at: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*((PAGE,) if self.pages else ()), *((QUOTATION,) if self.quotations else ()))


def look_ups(gathered: Gathered) -> LookUps:
    """Return the results of the newest look-up of each run. An unknown outcome is `UNKNOWN`."""
    pages: dict[str, str] = {}
    quotations: dict[str, dict[int, list[str]]] = {}
    days: dict[str, None] = {}
    for run in gathered.runs:
        own = [layer for layer in gathered.layers_of(run) if (layer.kind, layer.author) == ("rule", LOOK_UP)]
        for judgment in own[-1].judgments if own else ():
            outcome = UNKNOWN if judgment.value == "unknown" else str(judgment.value)
            days[own[-1].made_at[:10]] = None
            match judgment.about:
                case {"address": str(url)}:
                    pages[url] = outcome
                case {"trial": str(trial), "turn": int(turn)}:
                    unique = trial if len(gathered.runs) == 1 else f"{trial}@{run.path.resolve()}"
                    quotations.setdefault(unique, {}).setdefault(turn, []).append(outcome)
    return LookUps(pages, quotations, tuple(days))


def citing_systems(
    gathered: Gathered, systems: Sequence[str], columns: Sequence[str], settings: Settings
) -> dict[str, dict[str, CitingSystem]]:
    """Return the citations of each system, by column and system."""
    material, looked_up = gathered.material, look_ups(gathered)
    topics = {topic.id: topic for topic in material.topics.topics}
    found: dict[str, dict[str, dict[Trial, tuple[CitingAnswer, ...]]]] = {
        column: {name: {} for name in systems} for column in columns
    }
    for one in material.finished:
        if one.key.system not in systems:
            continue
        ground = Ground(
            one,
            topics[one.key.topic],
            None,
            material.topics.attributes,
            settings,
            lambda: Judges().judged(()),
            settings,
            material.topics.sources,
        )
        by_turn: dict[int, list[CitedSource]] = {turn.number: [] for turn in one.turns if turn.reply is not None}
        for source in ground.cited:
            by_turn[source.turn].append(source)
        quoted = looked_up.quotations.get(one.trial_id, {})
        for column in columns:
            found[column][one.key.system][one.key.topic, one.key.trial] = tuple(
                CitingAnswer(
                    tuple(quoted.get(turn, ()))
                    if column == QUOTATION
                    else tuple(looked_up.pages.get(source.url, UNKNOWN) for source in own)
                    if column == PAGE
                    else tuple(source.group(column) for source in own)
                )
                for turn, own in by_turn.items()
            )
    return {
        column: {name: CitingSystem(name, column, tuple(topics), own) for name, own in each.items()}
        for column, each in found.items()
    }


def _places(names: Sequence[str] | Sequence[int]) -> dict[object, int]:
    return {name: place for place, name in enumerate(names)}
