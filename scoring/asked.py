"""Figures of the measures that were requested by name, and notes about the judgments behind the figures."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import combinations

from scoring.columns import column_of
from scoring.conversations import Ranked, figure
from scoring.figure import Figure
from scoring.inference.design import INDEPENDENT, Design
from scoring.material import Judged, Material
from scoring.measure import Measure
from scoring.summaries import interval_fields
from scoring.swan.assessment import Assessment, nugget_notes
from scoring.swan.checking import check_criterion
from scoring.swan.item import Source
from scoring.swan.precedence import Opinion
from scoring.swan.rules.rule import Rule
from scoring.swan.scorers import CORRECTED, SCORERS, UNCHECKED, Scorers
from scoring.swan.unsettled import refuse_unsettled
from scoring.swan.wan import Swan
from scoring.table import ScoreRow
from topics.counting import pluralize
from topics.errors import InputError
from topics.topic import Topic

# Marks the notes in `Asked.coverage` about SWANs that do not compare.
NO_COMPARISON = "do not compare"


@dataclass(slots=True)
class _Coverage:
    """The criteria in the SWANs of one system.

    `conversations` is the number of conversations with a SWAN. `scored` counts the conversations in which each
    criterion was scored, and `left_out` those in which a criterion had items without a score. `judged` are the
    criteria that a person or model scored. Criteria scored by rules are left out, since a rule knows where it does
    not apply.
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

    def criterion_text(self, criterion: str) -> str:
        here = self.scored[criterion]
        some = f" (in {here} of {pluralize(self.conversations, 'conversation')})" if here < self.conversations else ""
        return criterion + some


def cautions(measures: Iterable[Measure]) -> tuple[str, ...]:
    """Return the warnings without which figures of these measures would mislead, each once."""
    return tuple(dict.fromkeys(one.declaration.caution for one in measures if one.declaration.caution))


@dataclass(slots=True)
class AskedMeasures:
    """The requested measures, and the judgments found for them.

    `judged` loads the judgments; it is called only for measures of judgments, and only these measures have
    `assessments` of conversations. `covered` are the criteria in the SWANs of each system. `scorers` are the kinds of
    sources behind each SWAN and WAN. `seen` are the trial and attempt of each assessed conversation. `checked` are
    sentences about models' figures that people checked.
    """

    measures: Sequence[Measure]
    judged: Callable[[], Judged]
    assessments: list[Assessment] = field(default_factory=list)
    covered: dict[str, _Coverage] = field(default_factory=dict)
    scorers: Scorers = field(default_factory=Scorers)
    seen: set[tuple[str, int]] = field(default_factory=set)
    checked: list[str] = field(default_factory=list)
    designs: dict[str, Design] = field(default_factory=dict)

    @property
    def _judgment_measures(self) -> list[Measure]:
        return [measure for measure in self.measures if "judgments" in measure.declaration.needs]

    def refuse_unsettled(self) -> None:
        """Raise InputError if a measure depends on one of several judgments with equal precedence."""
        if self._judgment_measures:
            schema, judgments = self.judged().schema, self.judged().judgments
            refuse_unsettled(self.assessments, judgments, schema, self._criteria())

    def _criteria(self) -> set[str]:
        schema = self.judged().schema
        own: set[str] = set()
        for measure in self._judgment_measures:
            if measure.declaration.criterion is None:
                return {one.name for one in schema}
            own.add(measure.declaration.criterion(measure, schema))
        read = self._read_by_rules(own)
        for lacking, name in self._lacking(read):
            advice = f"add the criterion {name} to the schema, or take the rule out of its scorers"
            raise InputError(lacking, advice=advice)
        return own | {name for _, _, name in read}

    def _read_by_rules(self, own: Iterable[str]) -> list[tuple[str, Rule, str]]:
        """Return the rules in use that read the scores of another criterion, each between both criteria."""
        schema, judgments = self.judged().schema, self.judged().judgments
        used = {(one, rule) for one in own for rule, _ in judgments.rules_in_use(schema[one])}
        return sorted(((one, rule, name) for one, rule in used for name in rule.needs), key=str)

    def _lacking(self, read: Iterable[tuple[str, Rule, str]]) -> Iterator[tuple[str, str]]:
        """Yield a sentence about each rule that reads a criterion that the schema lacks, and this criterion."""
        schema = self.judged().schema
        for one, rule, name in read:
            if all(name != criterion.name for criterion in schema):
                said = f"{one}: its rule {rule} reads the scores of {name}, a criterion that the schema {schema.name!r}"
                yield f"{said} does not have", name

    def _set_opinions(self) -> list[Opinion]:
        if not any(measure.form is not None and measure.form.of_sets for measure in self._judgment_measures):
            return []
        here = {(one.key.system, one.key.topic) for one in self.assessments}
        sets, names = self.judged().judgments.sets, self._criteria()
        return [
            opinion
            for (system, topic, name), opinion in sets.items()
            if name in names and (system, topic) in here and opinion.value is not None
        ]

    def notes(self) -> tuple[str, ...]:
        """Return sentences about whose judgments count, and about judgments that enter no score."""
        if not self._judgment_measures:
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
        found = [f"{pluralize(n, 'judgment')} in no score: {why}." for n, why in unscored if n]
        for author in dict.fromkeys(author for author, _ in judgments.unjudged):
            reasons = {why: n for (who, why), n in judgments.unjudged.items() if who == author}
            listed = ", ".join(f"{why} {n}" for why, n in sorted(reasons.items()))
            found.append(
                f"{pluralize(sum(reasons.values()), 'thing')} that {author} was asked about and did not judge, in no"
                f" score: {listed}."
            )
        if unknown:
            found.append(f"Judgments on {unknown} are in no score: the schema {schema.name!r} has no such criterion.")
        found += [f"{lacking}." for lacking, _ in self._lacking(self._read_by_rules(self._criteria()))]
        notes = nugget_notes(self.assessments, judgments)
        return (*self.coverage(), *self._judge_notes(), *notes, *found)

    def add_scorers(self, rows: Iterable[ScoreRow], topics: Sequence[Topic]) -> Iterator[ScoreRow]:
        """Yield the rows, with the kinds of scorers added to the rows of SWAN, WAN and their forms."""
        made_of = {
            name: self._criterion(measure)
            for measure in self.measures
            if measure.declaration.scored
            for name in (str(measure.base), measure.name)
        }
        pools = {measure.name for measure in self.measures if measure.form is not None and measure.form.of_sets}
        pooled: Scorers | None = None
        types = {topic.id: topic.type.name for topic in topics}
        for row in rows:
            criterion = made_of.get(row.measure)
            if criterion is None:
                yield row
                continue
            in_pool = row.measure in pools
            if in_pool and pooled is None:  # the criteria of sets are in its SWAN too
                pooled = deepcopy(self.scorers)
                for (system, topic, criterion_name), opinion in self.judged().judgments.sets.items():
                    if opinion.value is not None and topic in types:
                        pooled.add("", system, topic, types[topic], None, [opinion.by.kind])
                        pooled.add(criterion_name, system, topic, types[topic], None, [opinion.by.kind])
            scorers = pooled if pooled is not None and in_pool else self.scorers
            named = scorers.scorer_names(criterion, (row.system, row.topic, row.topic_type, row.trial))
            yield self._correct_row(replace(row, scorers=named), types)

    def _correct_row(self, row: ScoreRow, types: Mapping[str, str]) -> ScoreRow:
        measure = next((one for one in self.measures if one.form is None and one.name == row.measure), None)
        if measure is None or measure.declaration.weighting is None:
            return row
        weighting = measure.declaration.weighting(measure, self.judged().schema)
        if weighting is None:
            return row
        if UNCHECKED not in (row.scorers or "") or row.topic is not None or row.trial is not None:
            return row
        level = measure.settings.level
        found = check_criterion(
            (
                one
                for one in self.assessments
                if one.key.system == row.system and row.topic_type in (None, types.get(one.key.topic))
            ),
            self._criterion(measure),
            weighting,
            level=level,
            design=self.designs.get(row.system, INDEPENDENT),
        )
        if found is None:
            return row
        if row.topic_type is None:
            self.checked.append(found.sentence(f"{row.measure} of {row.system}"))
        if found.found is None:
            return row
        ends = found.found.interval
        return replace(
            row,
            value=found.found.value,
            **interval_fields(ends, level),
            note="; ".join(filter(None, (f"corrected by {found.found.checked} judgments of people", ends.note))),
            scorers=(row.scorers or "").replace(UNCHECKED, CORRECTED),
        )

    def _criterion(self, measure: Measure) -> str:
        criterion = measure.declaration.criterion
        return "" if criterion is None else criterion(measure, self.judged().schema)

    def _judge_notes(self) -> tuple[str, ...]:
        names = self._criteria()
        # By thing: the judges that count with their values, whether others differ, and what an adjudicator decided.
        votes: list[tuple[Sequence[tuple[Source, object]], bool, Sequence[object]]] = [
            (entry.votes or ((entry.by, entry.value),), entry.disputed, entry.decided)
            for one in self.assessments
            for name, scored in one.scored.items()
            if name in names
            for entry in scored
            if entry.by.kind != "rule"
        ]
        votes += [
            (entry.votes, entry.disputed, entry.decided)
            for one in self.assessments
            for name, valued in one.valued.items()
            if name in names
            for entry in valued
        ]
        votes += [
            (tuple((vote.by, vote.value) for vote in one.votes), one.disputed, one.decided)
            for one in self._set_opinions()
            if one.by.kind != "rule"
        ]
        if not votes:
            return ()
        counts = Counter(str(by) for given, _, _ in votes for by, _ in given)
        whose = ", ".join(f"{by} ({count})" for by, count in sorted(counts.items()))
        decided = [said for _, _, said in votes if said]
        instead = ""
        if decided:
            replaced = sum(map(len, decided))
            instead = f", {len(decided)} of them an adjudicator's in place of {replaced} others"
        disputed = sum(one for _, one, said in votes if not said)
        differ = "differs" if disputed == 1 else "differ"
        differing = f"; {disputed} {differ} from what others, or a rule, said" if disputed else ""
        rest = (
            f"{self._measure_names()} rest on {pluralize(counts.total(), 'judgment')} by {whose}{instead}{differing}."
        )
        several = [{value for _, value in given} for given, _, said in votes if len(given) > 1 and not said]
        several += [set(said) for said in decided if len(said) > 1]
        if not several:
            return (rest,)
        split = sum(len(values) > 1 for values in several)
        folding = self.judged().judgments.precedence.folding
        return (
            rest,
            f"{pluralize(len(several), 'thing')} of {len(votes)} judged by several, {split} of them differently; "
            f"--judgments {folding} makes one score of their votes.",
        )

    def _measure_names(self) -> str:
        shares = [measure.declaration.of_values for measure in self._judgment_measures]
        if all(shares):
            return "Shares of values"
        return "Shares of values, SWAN and WAN" if any(shares) else "SWAN and WAN"

    def coverage(self) -> tuple[str, ...]:
        """Return sentences about the criteria in SWAN and WAN, and about values that mix judges or cannot be
        compared."""
        return (*self.checked, *self._coverage_notes(), *self._mixed_sources(), *self._differing_judges())

    def _asked_criteria(self) -> set[str]:
        alone = (one for one in self.measures if one.declaration.scored and one.declaration.criterion is not None)
        return {self._criterion(one) for one in alone}

    def _mixed_sources(self) -> Iterator[str]:
        asked = self._asked_criteria()
        for system in dict.fromkeys(one.key.system for one in self.assessments):
            own = [one for one in self.assessments if one.key.system == system]
            names = asked | set(self.covered[system].scored if system in self.covered else ())
            for name in (one.name for one in self.judged().schema if one.name in names):
                kinds = Counter(entry.by.kind for one in own for entry in one.scored.get(name, ()))
                by = [kind for kind in SCORERS if kinds[kind]]
                if len(by) > 1:
                    items = " and ".join(f"{SCORERS[kind]} ({pluralize(kinds[kind], 'item')})" for kind in by)
                    yield (
                        f"{name} of {system} was scored by {items}: its value is a mixture of judges. "
                        f"--judges {by[0]} takes the scores of {SCORERS[by[0]]} alone."
                    )

    def _differing_judges(self) -> Iterator[str]:
        asked = self._asked_criteria()
        names = asked | {name for found in self.covered.values() for name in found.scored}
        for name in (one.name for one in self.judged().schema if one.name in names) if names else ():
            whose: dict[str, set[str]] = {}
            for one in self.assessments:
                for entry in one.scored.get(name, ()):
                    by = (
                        [str(voter) for voter in entry.voters] if entry.by.kind == "human" else [SCORERS[entry.by.kind]]
                    )
                    whose.setdefault(one.key.system, set()).update(by)
            if any(not (mine & other) for mine, other in combinations(whose.values(), 2)):
                each = "; ".join(f"{system} by {', '.join(sorted(own))}" for system, own in whose.items())
                yield f"{name} was scored by different judges ({each}): a difference in it is one of judges, too."

    def _coverage_notes(self) -> tuple[str, ...]:
        if not any(measure.declaration.swan for measure in self.measures):
            return ()
        said = []
        for system, found in self.covered.items():
            names = [one.name for one in self.judged().schema if found.scored[one.name]]
            listed = ", ".join(map(found.criterion_text, names))
            said.append(f"SWAN of {system} covers {listed or 'nothing: no criterion is scored'}.")
            uneven = [name for name in names if name in found.judged and found.left_out[name]]
            if uneven and len(names) > 1:  # of one criterion, what was not scored has no value
                said.append(
                    f"Conversations of {system} were not all scored by the same criteria ({', '.join(uneven)}: not "
                    f"all that could be scored was), so its SWAN is a mean of values that {NO_COMPARISON}: take WANs, "
                    "or give by --schema the criteria that all were scored by."
                )
        if len({frozenset(found.scored) for found in self.covered.values()}) > 1:
            said.append(f"SWANs over different criteria {NO_COMPARISON}: give the criteria by --schema, or take WANs.")
        return tuple(said)

    def figures(self, material: Material, default: Collection[str] = ()) -> tuple[Figure, ...]:
        """Compute the figures of one conversation, without those in `default`, which are computed anyway."""
        have = set(default)
        told = False
        found: list[Figure] = []
        for measure in self.measures:
            name = measure.base_name
            if name in have or measure.declaration.of != "conversation":
                continue
            have.add(name)
            under = material.under(measure.settings)
            one = figure(under, measure)
            if one is None:  # the topic's type has no such attribute set
                continue
            found.append(one)
            if measure.declaration.swan is not None:
                of_all = measure.declaration.swan(under, measure)
                self._keep_scorers(under, "", of_all.covered)
                if not told:  # two weightings of SWAN have the same criteria
                    covered = self.covered.setdefault(material.conversation.key.system, _Coverage())
                    covered.add(material.assessment, of_all)
                    told = True
            elif measure.declaration.scored:
                self._keep_scorers(under, self._criterion(measure), [self._criterion(measure)])
        if material.assessed:
            self.assessments.append(material.assessment)
            self.seen.add((material.conversation.trial_id, material.conversation.attempt))
        return tuple(found)

    def parts(self, material: Material) -> Iterator[Figure]:
        """Yield the figures of single turns and nuggets of one conversation, for the measures that have them."""
        for measure in {one.base_name: one for one in self.measures if one.declaration.parts is not None}.values():
            of = measure.declaration
            known = "gold" not in of.needs or (material.gold is not None and not material.unscorable)
            if of.parts is not None and known and of.applies(measure, material.topic):
                yield from of.parts(material.under(measure.settings), measure)

    def _keep_scorers(self, material: Material, name: str, criteria: Sequence[str]) -> None:
        key, sources = material.conversation.key, material.assessment.sources
        kinds = {one.kind for criterion in criteria for one in sources.get(criterion, ())}
        self.scorers.add(name, key.system, key.topic, material.topic.type.name, key.trial, kinds)


def asked_columns(figures: Sequence[Sequence[Figure]]) -> Iterator[Ranked]:
    """Yield a column for each measure among the figures of many conversations."""
    found: dict[str, list[tuple[int, int, Figure]]] = {}
    for at, own in enumerate(figures):
        for place, one in enumerate(own):
            found.setdefault(one.measure, []).append((at, place, one))
    for name, column in found.items():
        at, place, _ = column[0]
        yield (at, 1, place), column_of(name, [(at, one) for at, _, one in column])
