"""The measures that were asked for by name, conversation by conversation: what the default figures do not hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

from recordings.conversation import Conversation
from scoring.catalogue import CHAINS, SHARES, Measure
from scoring.conversations import Figure, figures
from scoring.settings import Settings
from scoring.stochastic.failures import BREAKDOWN
from scoring.swan.assessment import Assessment, PageText, assess, nugget_notes
from scoring.swan.judged import Judgments
from scoring.swan.schema import Schema
from scoring.swan.scorers import SCORERS, Scorers
from scoring.swan.unsettled import refuse_unsettled
from scoring.swan.wan import Swan
from scoring.swan.weighting import Weighting
from scoring.table import ScoreRow
from topics.attributes import AttributeSet
from topics.counting import counted
from topics.gold import GoldTable
from topics.topic import Topic

__all__ = ["Asked", "Judged", "weighted"]


@dataclass(frozen=True, slots=True)
class Judged:
    """By what SWAN is taken: its criteria, and what people, rules and models said."""

    schema: Schema
    judgments: Judgments


@dataclass(slots=True)
class _Covered:
    """conversations: of a system, for which a SWAN was asked. scored: in how many of them a criterion entered it.
    left_out: in how many there was something to score by it, and nobody did. judged: the criteria that somebody other
    than a rule scored; a rule knows where it does not apply, and leaves nothing out.
    """

    conversations: int = 0
    scored: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    judged: set[str] = field(default_factory=set)

    def add(self, assessment: Assessment, found: Swan) -> None:
        self.conversations += 1
        self.scored.update(found.covered)
        sources = assessment.sources
        self.judged.update(name for name in found.covered if any(one.kind != "rule" for one in sources[name]))
        self.left_out.update(name for name in found.undefined if found.wans[name].items and not found.wans[name].n)

    def shown(self, criterion: str) -> str:
        here = self.scored[criterion]
        some = f" (in {here} of {counted(self.conversations, 'conversation')})" if here < self.conversations else ""
        return criterion + some


@dataclass(slots=True)
class Asked:
    """The measures asked for. assessments: of every conversation seen so far, where one of them is a SWAN or a WAN.

    judged: called only where SWAN or WAN is asked for. covered: by system, what entered the SWANs of its conversations
    seen so far. scorers: who scored that, and the WANs asked for. seen: trial and attempt of those that were assessed.
    planned: trials of each topic that the run is to have; 0: as many as there are.
    """

    measures: Sequence[Measure]
    gold: GoldTable | None
    attributes: Mapping[str, AttributeSet]
    settings: Settings
    judged: Callable[[], Judged]
    assessments: list[Assessment] = field(default_factory=list)
    covered: dict[str, _Covered] = field(default_factory=dict)
    scorers: Scorers = field(default_factory=Scorers)
    seen: set[tuple[str, int]] = field(default_factory=set)
    planned: int = 0

    def refuse_unsettled(self) -> None:
        """Raises InputError where a SWAN or a WAN would rest on one of several judgments that count alike."""
        wanted = [measure for measure in self.measures if measure.base.name in ("SWAN", "WAN")]
        if not wanted:
            return
        schema, judgments = self.judged().schema, self.judged().judgments
        every = any(measure.base.name == "SWAN" for measure in wanted)
        names = {one.name for one in schema} if every else {schema[one.criterion].name for one in wanted}
        refuse_unsettled(self.assessments, judgments, schema, names)

    def notes(self) -> tuple[str, ...]:
        """Sentences about whose judgments count, and about those that are in no score."""
        if not any(measure.base.name in ("SWAN", "WAN") for measure in self.measures):
            return ()
        schema, judgments = self.judged().schema, self.judged().judgments
        orphans = sum(one.orphans for one in self.assessments)
        unknown = ", ".join(judgments.unknown)
        elsewhere = sum(len(one) for where, one in judgments.opinions.items() if where not in self.seen)
        unscored = (
            (judgments.unplaced, "not about what their criterion scores"),
            (elsewhere, "about conversations that are not scored here"),
            (judgments.refused, "the schema does not let their source score"),
            (orphans, "about words that are no nugget or turn here"),
        )
        found = [f"{counted(n, 'judgment')} in no score: {why}." for n, why in unscored if n]
        if unknown:
            found.append(f"Judgments on {unknown} are in no score: the schema {schema.name!r} has no such criterion.")
        notes = nugget_notes(self.assessments, judgments)
        return (*self.coverage(), *self._judges(), *notes, *found)

    def with_scorers(self, rows: Sequence[ScoreRow], topics: Sequence[Topic]) -> Iterator[ScoreRow]:
        """The rows, those of a SWAN or a WAN with the kinds of its scorers."""
        made_of = {
            name: self._criterion(measure)
            for measure in self.measures
            if measure.base.name in ("SWAN", "WAN")
            for name in (str(measure.base), measure.name)
        }
        pooled: Scorers | None = None
        types = {topic.id: topic.type.name for topic in topics}
        for row in rows:
            criterion = made_of.get(row.measure)
            if criterion is None:
                yield row
                continue
            if row.measure.startswith("pooled(") and pooled is None:  # the criteria of sets are in its SWAN too
                pooled = deepcopy(self.scorers)
                for (system, topic, _), opinion in self.judged().judgments.sets.items():
                    if opinion.value is not None and topic in types:
                        pooled.add("", system, topic, types[topic], None, [opinion.by.kind])
            scorers = pooled if pooled is not None and row.measure.startswith("pooled(") else self.scorers
            yield replace(row, scorers=scorers.named(criterion, (row.system, row.topic, row.topic_type, row.trial)))

    def _criterion(self, measure: Measure) -> str:
        """Of a WAN, as the schema names it; "" for SWAN."""
        return self.judged().schema[measure.criterion].name if measure.base.name == "WAN" else ""

    def _judges(self) -> tuple[str, ...]:
        """Whose judgments, other than those of rules, SWAN and WAN rest on."""
        entries = [entry for one in self.assessments for scored in one.scored.values() for entry in scored]
        judged = [entry for entry in entries if entry.by.kind != "rule"]
        if not judged:
            return ()
        whose = ", ".join(f"{by} ({count})" for by, count in sorted(Counter(str(one.by) for one in judged).items()))
        disputed = sum(entry.disputed for entry in judged)
        differ = "differs" if disputed == 1 else "differ"
        differing = f"; {disputed} {differ} from what others, or a rule, said" if disputed else ""
        return (f"SWAN and WAN rest on {counted(len(judged), 'judgment')} by {whose}{differing}.",)

    def coverage(self) -> tuple[str, ...]:
        """What SWAN and WAN are made of: criteria that do not compare, and judges that are mixed."""
        return (*self._covered(), *self._mixed())

    def _mixed(self) -> Iterator[str]:
        """The criteria of each system that sources of several kinds scored, each some of the items."""
        asked = {self._criterion(measure) for measure in self.measures if measure.base.name == "WAN"}
        for system in dict.fromkeys(one.key.system for one in self.assessments):
            own = [one for one in self.assessments if one.key.system == system]
            names = asked | set(self.covered[system].scored if system in self.covered else ())
            for name in (one.name for one in self.judged().schema if one.name in names):
                kinds = Counter(entry.by.kind for one in own for entry in one.scored[name])
                by = [kind for kind in SCORERS if kinds[kind]]
                if len(by) > 1:
                    items = " and ".join(f"{SCORERS[kind]} ({counted(kinds[kind], 'item')})" for kind in by)
                    yield (
                        f"{name} of {system} was scored by {items}: its value is a mixture of judges. "
                        f"--judges {by[0]} takes the scores of {SCORERS[by[0]]} alone."
                    )

    def _covered(self) -> tuple[str, ...]:
        """Which criteria the SWAN of each system covers, and where; two over different ones do not compare."""
        if not any(measure.base.name == "SWAN" for measure in self.measures):
            return ()
        said = []
        for system, found in self.covered.items():
            names = [one.name for one in self.judged().schema if found.scored[one.name]]
            listed = ", ".join(map(found.shown, names))
            said.append(f"SWAN of {system} covers {listed or 'nothing: no criterion is scored'}.")
            uneven = [name for name in names if name in found.judged and found.left_out[name]]
            if uneven:
                said.append(
                    f"Conversations of {system} were not all scored by the same criteria ({', '.join(uneven)}: not "
                    "all that could be scored was), so its SWAN is a mean of values that do not compare: take WANs, "
                    "or give by --schema the criteria that all were scored by."
                )
        if len({frozenset(found.scored) for found in self.covered.values()}) > 1:
            said.append("SWANs over different criteria do not compare: give the criteria by --schema, or take WANs.")
        return tuple(said)

    def figures(self, conversation: Conversation, topic: Topic, default: Sequence[Figure]) -> tuple[Figure, ...]:
        """The figures of one conversation that are not among the `default` ones, each once."""
        have = {figure.measure for figure in default}
        # By the settings a figure was made under: GF and GFR of one request come from one reading of the conversation.
        made: list[tuple[Settings, Sequence[Figure]]] = [(self.settings, default)]
        assessment: Assessment | None = None
        told = False
        found: list[Figure] = []
        for measure in self.measures:
            name = str(measure.base)
            if name in have or measure.base.name in (*SHARES, *CHAINS):
                continue
            have.add(name)
            if measure.base.name in ("SWAN", "WAN"):
                judged = self.judged()
                if assessment is None:
                    ground = PageText(topic, self.gold, self.attributes, self.settings)
                    assessment = assess(conversation, judged.schema, judged.judgments, ground)
                    self.assessments.append(assessment)
                    self.seen.add((conversation.trial_id, conversation.attempt))
                chosen = weighted(judged.schema, measure.weighting)
                key = conversation.key
                if measure.base.name == "WAN":
                    criterion = self._criterion(measure)
                    kinds = {one.kind for one in assessment.sources.get(criterion, ())}
                    self.scorers.add(criterion, key.system, key.topic, topic.type.name, key.trial, kinds)
                    found.append(_wan(measure, assessment, chosen))
                else:
                    of_all = assessment.swan(chosen)
                    kinds = {one.kind for of in of_all.covered for one in assessment.sources[of]}
                    self.scorers.add("", key.system, key.topic, topic.type.name, key.trial, kinds)
                    if not told:  # with two weightings of SWAN the criteria are the same
                        self.covered.setdefault(conversation.key.system, _Covered()).add(assessment, of_all)
                        told = True
                    found.append(_swan(name, assessment, of_all))
            elif measure.base.name == BREAKDOWN:
                kind = conversation.outcome.kind if conversation.outcome else ""
                found.append(Figure(name, float(kind == BREAKDOWN), 1))
            elif self.gold is None:
                found.append(Figure(name, math.nan, 0, note="no gold table"))
            else:
                under = next((known for settings, known in made if settings == measure.settings), None)
                if under is None:
                    under = figures(conversation, topic, self.gold, self.attributes, measure.settings)
                    made.append((measure.settings, under))
                found += _renamed(under, measure.figure, name)
        return tuple(found)


def weighted(schema: Schema, weighting: Weighting | None) -> Schema:
    """The schema with one weighting for all its criteria but those of sets, which have no position."""
    if weighting is None:
        return schema
    criteria = (one if one.level == "set" else replace(one, weighting=weighting) for one in schema)
    return replace(schema, criteria=tuple(criteria))


def _wan(measure: Measure, assessment: Assessment, schema: Schema) -> Figure:
    criterion = schema[measure.criterion].name
    one = assessment.wans(schema)[criterion]
    by = ", ".join(map(str, assessment.sources[criterion]))
    return Figure(str(measure.base), one.value, one.n, note=f"scored by {by}" if by else "nobody scored it")


def _swan(name: str, assessment: Assessment, found: Swan) -> Figure:
    said = "; ".join(
        f"{criterion} by {', '.join(map(str, assessment.sources[criterion]))}" for criterion in found.covered
    )
    return Figure(name, found.value, found.n, note=said or "no criterion is scored")


def _renamed(made: Sequence[Figure], figure: str, name: str) -> Iterator[Figure]:
    """The figure under the name it was asked for; nothing where the topic's type has no such attribute set."""
    for one in made:
        if one.measure == figure and one.whole:
            yield replace(one, measure=name)
            return
