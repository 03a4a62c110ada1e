"""The labels that another protocol gives to recorded answers, and the figures that follow, for `harvest relabel`.

The recorded answers replied to the recorded words. So a conversation is known under the new protocol as long as that
protocol would have said the same. If it would have stopped earlier, the rest is left out. Where it would have continued
differently, the system's answers are unknown: figures are then bounds that allow any label for the unknown turns, and
measures other than shares of useful turns have no figure.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from harvest.studies.relabel.rerouting import decided_path
from harvest.studies.relabel.user_paths import UserPaths
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.lost_attempts import fill_labels
from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.scores.trial_values import SHARES, Key, Values, read_single, row_values, share_values
from protocols.explanation import explain_route
from protocols.labels import NOT_USEFUL, USEFUL
from protocols.library import check_topics, encode_protocol
from protocols.protocol import Protocol
from protocols.route import Route
from protocols.route_words import RuleFinding
from recordings.conversations.conversation import Conversation, Turn
from recordings.log.run_folder import Run
from recordings.log.turn_counts import add_missing_turns, most_turns
from scoring.inference.interval import Interval, no_interval
from scoring.inference.matched import Difference, difference
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY
from scoring.measures.usefulness import USEFUL as USEFUL_SHARE
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import Settings, scoring_settings
from scoring.swan.schema import load_schema
from scoring.table import ScoreRow, ScoreTable, has_top
from simulators.wrappers.wrapped import REWORDING
from topics.errors import InputError, Place
from topics.identity import generator
from topics.topic import Topic, TopicSet

# What the new protocol makes of a conversation: the recorded one with other labels at most; the same with another end;
# its beginning; or a conversation that nobody has had.
Course = Literal["same", "other end", "shorter", "unknown"]

_SAME_VALUE = 1e-12  # figures that differ by rounding only are equal


@dataclass(frozen=True, slots=True)
class LabelChange:
    """A turn whose label changes. `was` is the recorded label, or "" if none was recorded. `route` is the new
    decision."""

    turn: int
    was: str
    route: Route

    @property
    def now(self) -> str:
        return self.route.label


@dataclass(frozen=True, slots=True)
class Relabelled:
    """A finished conversation under the new protocol. `known` is the known beginning of the conversation, with the new
    labels. If `course` is "unknown", the later turns are unknown, and `because` gives the reason."""

    recorded: Conversation
    known: Conversation
    course: Course
    changes: tuple[LabelChange, ...]
    labelled: int
    because: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of a system before and after. `after` has one row, or, if conversations are not known to their end,
    the rows with all unknown turns useless and with all of them useful; it is () if nothing bounds the measure.
    `change` has the differences of the after rows from `before` over matched trials, with an interval."""

    before: ScoreRow | None
    after: tuple[ScoreRow, ...]
    change: tuple[Difference, ...]

    @property
    def is_known(self) -> bool:
        return len(self.after) == 1

    @property
    def change_interval(self) -> Interval:
        """The interval of the change. With bounds, it contains the intervals at both bounds."""
        found = [one.interval for one in self.change]
        undefined = next((one for one in found if not one.is_defined), None)
        if undefined is not None or not found:
            return undefined or no_interval("conversations would have continued differently")
        return replace(found[0], low=min(one.low for one in found), high=max(one.high for one in found))

    @property
    def is_same(self) -> bool:
        """True if the figure and its interval do not change."""
        if self.before is None or not self.is_known:
            return False
        pairs = ((getattr(self.before, name), getattr(self.after[0], name)) for name in ("value", "low", "high", "n"))
        return all(one == two or (one != one and two != two) or abs(one - two) <= _SAME_VALUE for one, two in pairs)


def envelope(rows: Sequence[ScoreRow]) -> ScoreRow:
    """Return the first row with an interval that holds those of all rows; there is none if one of them has none."""
    known = not any(math.isnan(row.low) for row in rows)
    low, high = (min(row.low for row in rows), max(row.high for row in rows)) if known else (math.nan, math.nan)
    return replace(rows[0], low=low, high=high)


@dataclass(frozen=True)  # without slots, for cached properties
class Relabelling:
    """A run whose answers were labelled again by `protocol`. `bound` is False if no protocol was recorded, as in
    imports: then any words of the users count as the protocol's. `other_versions` counts the decisions of the run's own
    protocol that are the same, but were recorded with other versions of its rules. `same_version` is True if the
    recorded protocol is another one that has the same name and version."""

    run: Run
    protocol: Protocol
    topics: TopicSet
    bound: bool
    conversations: tuple[Relabelled, ...]
    other_versions: int
    settings: Settings
    figures: Mapping[tuple[str, Key], Figure] = field(default_factory=dict)
    same_version: bool = False

    @cached_property
    def kinds(self) -> Counter[tuple[str, str]]:
        """The number of changed labels, by the old label ("" for none) and the new label."""
        return Counter((one.was, one.now) for each in self.conversations for one in each.changes)

    @property
    def labels(self) -> int:
        """The number of answers that the new protocol labels."""
        return sum(one.labelled for one in self.conversations)

    def count(self, course: Course) -> int:
        return sum(one.course == course for one in self.conversations)

    def explain(self, one: Relabelled, change: LabelChange) -> tuple[RuleFinding, ...]:
        """Return how the new protocol's rules judged the answer whose label changes."""
        labels = [turn.label or "" for turn in one.known.turns[: change.turn - 1]]
        exchanges = one.recorded.exchanges[: change.turn]
        return explain_route(self.protocol, self.topics[one.recorded.key.topic], exchanges, labels, change.route)

    @property
    def differs(self) -> bool:
        """True if any label, path or end differs."""
        return any(one.changes or one.course != "same" for one in self.conversations)


def relabel(run: Run, protocol: Protocol | None = None, *, measures: Sequence[Term] = (), seed: int = 0) -> Relabelling:
    """Label the answers of a run again by `protocol`, by default the protocol of the run with today's rules.

    `measures` are scored before and after in addition to the shares of useful turns; they must be measures of single
    conversations. Raises InputError if there is no protocol, if the run has no topics, if the protocol does not fit
    them, and for unsuitable measures.
    """
    topics = run.header.topic_set()
    chosen = protocol or run.header.played_protocol()
    if chosen is None:
        raise InputError(
            "no protocol was recorded with this run",
            place=Place(str(run.path)),
            advice="give a protocol: --protocol NAME|FILE",
        )
    if topics is None:
        raise InputError(
            "the run's topics, which rules need, were not recorded",
            place=Place(str(run.path)),
            advice="import it again with --topics",
        )
    check_topics(chosen, topics)
    material = gather_runs(run).material
    settings = scoring_settings(material.scoring, material.topics, material.gold)
    schema = load_schema(SHIPPED)
    for term in measures:
        read_single(term, settings, material.topics, schema)
    each = {topic.id: topic for topic in topics.topics}
    played = run.header.played_protocol()
    users = None if played is None else UserPaths(run, played, chosen)
    found = [_relabel_one(one, each[one.key.topic], chosen, users) for one in material.finished]
    found = list(_without_later_ones(found))
    versions = (
        0
        if protocol is not None
        else sum(
            turn.route is not None
            and now.route is not None
            and (turn.route.rule, turn.route.target) == (now.route.rule, now.route.target)
            and turn.route.version != now.route.version
            for one in found
            for turn, now in zip(one.recorded.turns, one.known.turns, strict=False)
        )
    )
    figures = _figures(run, chosen, material, found, settings, measures, seed) if found else {}
    same = (
        played is not None
        and (played.name, played.version) == (chosen.name, chosen.version)
        and encode_protocol(played) != encode_protocol(chosen)
    )
    return Relabelling(run, chosen, topics, users is not None, tuple(found), versions, settings, figures, same)


def _relabel_one(one: Conversation, topic: Topic, protocol: Protocol, users: UserPaths | None) -> Relabelled:
    path = decided_path(protocol, topic, one, bound=users is not None and one.user in ("scripted", *REWORDING))
    if users is not None:
        path = users.follow(path, one, topic)
    unknown = bool(path.because) and path.cut is None
    last = path.parted if path.because else len(one.turns)
    turns = tuple(_with_route(turn, path.routes.get(turn.number)) for turn in one.turns if turn.number <= last)
    outcome = path.cut or path.outcome or one.outcome
    if one.outcome is not None and one.outcome.kind == "system-ended" and path.cut is None:
        outcome = one.outcome
    changes = tuple(
        LabelChange(turn.number, turn.label or "", route)
        for turn in one.turns
        if turn.number <= last and (route := path.routes.get(turn.number)) is not None and route.label != turn.label
    )
    course: Course = "unknown" if unknown else "shorter" if path.cut is not None else "same"
    if course == "same" and (outcome and outcome.kind) != (one.outcome and one.outcome.kind):
        course = "other end"
    labelled = sum(turn.number <= last for turn in one.turns if turn.number in path.routes)
    return Relabelled(one, replace(one, turns=turns, outcome=outcome), course, changes, labelled, path.because)


def _with_route(turn: Turn, route: Route | None) -> Turn:
    # The protocol's missing turns are counted from the state that spoke, which may have another name now.
    return turn if route is None else replace(turn, route=route, state=route.state)


def _without_later_ones(found: Sequence[Relabelled]) -> Iterator[Relabelled]:
    """Yield the conversations. In a session that goes on from topic to topic, those after a conversation that would
    have had other turns are not known at all, because the system remembers these turns."""
    parted: dict[tuple[str, str], int] = {}
    for one in found:
        if one.course in ("shorter", "unknown") and one.recorded.session:
            session = (one.recorded.key.system, one.recorded.session)
            parted[session] = min(parted.get(session, one.recorded.place), one.recorded.place)
    for one in found:
        if one.recorded.place <= parted.get((one.recorded.key.system, one.recorded.session), one.recorded.place):
            yield one
        else:
            why = "an earlier conversation of the same session would have continued differently"
            yield Relabelled(one.recorded, replace(one.recorded, turns=()), "unknown", (), 0, why)


def _figures(
    run: Run,
    protocol: Protocol,
    before: Material,
    found: Sequence[Relabelled],
    settings: Settings,
    measures: Sequence[Term],
    seed: int,
) -> dict[tuple[str, Key], Figure]:
    header = replace(run.header, protocol=encode_protocol(protocol))
    turns = most_turns(header, before.finished)
    lost = {one.recorded.key.system for one in found if one.course == "unknown"}

    def relabelled(fill: str) -> Material:
        made = {
            (one.recorded.trial_id, one.recorded.attempt): fill_labels(
                one.known, turns[one.recorded.key.system, one.recorded.key.topic], fill
            )
            if one.course == "unknown"
            else one.known
            for one in found
        }
        every = (made.get((one.trial_id, one.attempt), one) for one in before.conversations)
        return replace(before, conversations=tuple(add_missing_turns(every, header)), turns=turns)

    terms = (Term(USEFUL_SHARE.name), Term(MEAN_USEFUL.name), Term(RECOVERY.name), *measures)

    def scored(material: Material) -> _Scored:
        table = score_material(material, seed=seed, measures=tuple(dict.fromkeys(terms)), only=True)
        return _Scored(material, table)

    # The label that follows a failure decides about %recovery, so it is filled by itself.
    fills = (NOT_USEFUL, USEFUL, NOT_USEFUL + USEFUL) if lost else (NOT_USEFUL,)
    was, (low, *others) = scored(before), [scored(relabelled(fill)) for fill in fills]
    figures: dict[tuple[str, Key], Figure] = {}
    for system in before.systems:
        for key in dict.fromkeys((*was.rows.get(system, {}), *low.rows.get(system, {}))):
            ends = [low]
            if system in lost:
                of_share = key[0] in {one.name for one in SHARES}
                ends = [low, others[-1] if key[0] == RECOVERY.name else others[0]] if of_share else []
            rows = [row for end in ends if (row := end.rows.get(system, {}).get(key)) is not None]
            changes = [
                difference(
                    [topic.id for topic in before.topics.topics],
                    was.values(system).get(key, {}),
                    end.values(system).get(key, {}),
                    generator(seed, "relabel", "exchange", system, *map(str, key)),
                    level=settings.level,
                    reach=1.0 if has_top(key[0]) else math.inf,
                    pooled=key[0] == RECOVERY.name,
                    continued=system in before.continued,
                    clusters=before.topics.clusters,
                    estimand=settings.estimand,
                )
                for end in ends
            ]
            if len(rows) == 2 and Figure(rows[0], (rows[1],), ()).is_same:
                rows, changes = rows[:1], changes[:1]  # the unknown turns are not in it
            figures[system, key] = Figure(was.rows.get(system, {}).get(key), tuple(rows), tuple(changes))
    return figures


@dataclass(frozen=True)  # without slots, for cached properties
class _Scored:
    material: Material
    table: ScoreTable

    @cached_property
    def rows(self) -> dict[str, dict[Key, ScoreRow]]:
        found: dict[str, dict[Key, ScoreRow]] = {}
        for row in self.table.joint:
            if (row.topic, row.trial, row.topic_type) == (None, None, None):
                found.setdefault(row.system, {})[row.measure, row.turn] = row
        return found

    def values(self, system: str) -> Values:
        return row_values(system, self.table) | share_values(system, self.material)
