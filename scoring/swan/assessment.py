"""SWAN of one conversation and of all conversations of a system."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.judged.judgments import Target
from scoring.nuggets import find_nuggets
from scoring.settings import Settings
from scoring.swan.extraction import RULES, Extractor, extract_nuggets
from scoring.swan.item import Item, ItemWithValues, ScoredItem, Source, dialogue_items, nugget_items, turn_items
from scoring.swan.judged import Judgments
from scoring.swan.nugget import Nugget
from scoring.swan.precedence import Opinion
from scoring.swan.rules.rule import Sight, Verdict
from scoring.swan.schema import Criterion, Schema
from scoring.swan.wan import SessionMean, Swan, Wan, mean_per_session, pool_wans, swan, wan, wans
from scoring.words import passages
from topics.attributes import AttributeSet
from topics.counting import pluralize
from topics.gold import GoldTable
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class TopicData:
    """The data on a topic that rules may use: the gains and the groups of its entities, and the settings."""

    topic: Topic | None = None
    gold: GoldTable | None = None
    attributes: Mapping[str, AttributeSet] = field(default_factory=lambda: MappingProxyType({}))
    settings: Settings = field(default_factory=Settings)

    def sight(self, conversation: Conversation, nuggets: Sequence[Nugget] | None, extractor: Extractor | None) -> Sight:
        """Return the view of a conversation for rules. If given, `nuggets` replace extracted nuggets of types F and
        O."""
        entities = (
            find_nuggets(conversation, self.topic, self.gold, self.attributes, self.settings) if self.topic else ()
        )
        found = extract_nuggets(conversation, extractor, entities, self.settings.unit, self.settings.user_words)
        if nuggets is not None:
            links = tuple(one for one in found if one.type == "E")
            found = (*nuggets, *links)
        sets = [self.attributes[name] for name in self.topic.type.attributes] if self.topic else []
        return Sight(conversation, (), found, tuple(entities), tuple(sets), self.settings, topic=self.topic)


@dataclass(frozen=True, slots=True)
class Check:
    """A score by a model or rule, to be compared with the scores that people gave the item. `judge` is the score of
    the model (if `by_model`) or rule, or None without a score. `people` is None if no person judged the item."""

    item: Item
    judge: float | None
    by_model: bool
    people: Opinion | None


@dataclass(frozen=True, slots=True)
class Assessment:
    """Items and scores of one conversation under one schema.

    All mappings are keyed by criterion, without the criteria of sets.

    - `scored`, `valued`: scores and values in reading order; `valued` is for criteria that have values.
    - `nuggets`: the nuggets of both sides.
    - `orphans`: the number of judgments whose span is no item here, because they were made for other nuggets. No
      score uses them.
    - `lacking`: True if the requested nuggets were not completely extracted, so that nothing is scored.
    - `refused`: the number of proposed nuggets that were not accepted.
    - `unsettled`: the items whose score rests on one of several differing opinions of equal precedence.
    - `extractors`: the authors of the nuggets if several have equal precedence.
    - `checks`: an entry for every item, but only if models are used.
    """

    key: TrialKey
    attempt: int
    nuggets: tuple[Nugget, ...]
    items: Mapping[str, tuple[Item, ...]]
    scored: Mapping[str, tuple[ScoredItem, ...]]
    orphans: int = 0
    lacking: bool = False
    refused: int = 0
    unsettled: Mapping[str, tuple[tuple[Item, Opinion], ...]] = field(default_factory=lambda: MappingProxyType({}))
    extractors: tuple[str, ...] = ()
    checks: Mapping[str, tuple[Check, ...]] = field(default_factory=lambda: MappingProxyType({}))
    valued: Mapping[str, tuple[ItemWithValues, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def wans(self, schema: Schema) -> dict[str, Wan]:
        """Return WAN^c by criterion, leaving out criteria of sets of conversations."""
        found = {}
        for one in schema:
            if one.level != "set":
                scored, items = self.averaged_items(one)
                found[one.name] = wan(scored, one.name, one.weighting, items=items)
        return found

    def averaged_items(self, criterion: Criterion) -> tuple[tuple[ScoredItem, ...], int]:
        """Return the scored items that WAN^c averages, and the number of items with and without a score.

        These are the items that were scored, unless `criterion.first_nugget` asks for the form of [SWAN] §3: the
        score of a turn becomes that of its first nugget, and the turn's other nuggets score 0. A turn without nuggets
        remains one item.
        """
        scored, items = self.scored[criterion.name], self.items[criterion.name]
        if not criterion.first_nugget:
            return scored, len(items)
        nuggets: dict[int, list[Nugget]] = {}
        for one in sorted(self.nuggets, key=lambda nugget: nugget.start):
            if one.speaker == "system" and one.type != "E":
                nuggets.setdefault(one.turn, []).append(one)
        found: list[ScoredItem] = []
        for entry in scored:
            turn = entry.item
            own = [
                replace(
                    turn, start=one.start, end=one.end, type=one.type, position=one.position, seen=turn.seen + before
                )
                for before, one in enumerate(nuggets.get(turn.turn, ()))
            ]
            first, *others = own or [turn]
            found += [replace(entry, item=first), *(replace(entry, item=other, value=0.0) for other in others)]
        return tuple(found), sum(max(1, len(nuggets.get(item.turn, ()))) for item in items)

    def swan(self, schema: Schema) -> Swan:
        """Return the SWAN of this conversation alone."""
        return swan(self.wans(schema), schema.weights)

    @property
    def sources(self) -> dict[str, tuple[Source, ...]]:
        """Return the sources that scored each criterion, sorted by name. Criteria without scores have an empty
        tuple."""
        return {
            name: tuple(sorted({by for one in scored for by in one.voters}, key=str))
            for name, scored in self.scored.items()
        }


def assess(
    conversation: Conversation,
    schema: Schema,
    judgments: Judgments | None = None,
    ground: TopicData | None = None,
    *,
    extractor: Extractor | None = None,
) -> Assessment:
    """Find the items of every criterion and the score that counts for each item. The precedence of `judgments`
    decides between recorded judgments and the verdicts of rules. Without an `extractor`, it also decides whose nuggets
    are scored. Rules that read the scores of other criteria (as Modesty's reads Correctness) run last. Raises RunError
    for a layer that does not fit the conversation."""
    judgments = judgments or Judgments()
    ground = ground or TopicData()
    unit, user_words = ground.settings.unit, ground.settings.user_words
    exchanged = passages(conversation, unit, user_words)
    if judgments.lacks_nuggets(conversation.trial_id, conversation.attempt, exchanged):
        nothing: dict[str, tuple[()]] = {one.name: () for one in schema if one.level != "set"}
        return Assessment(conversation.key, conversation.attempt, (), nothing, nothing, lacking=True)
    known = judgments.nuggets(conversation.trial_id, conversation.attempt, exchanged)
    sight = ground.sight(conversation, known, extractor or judgments.extractor)
    spoken_by_user = any(one.speaker == "user" for one in schema)
    said = turn_items(conversation, sight.nuggets, "user", unit, user_words) if spoken_by_user else ()
    levels = {
        "nugget": nugget_items(conversation, sight.nuggets, unit),
        "turn": (*turn_items(conversation, sight.nuggets, "system", unit, user_words), *said),
        "dialogue": dialogue_items(conversation, sight.nuggets, unit, user_words),
    }
    opinions = judgments.opinions.get((conversation.trial_id, conversation.attempt), {})
    items: dict[str, tuple[Item, ...]] = {}
    scored: dict[str, tuple[ScoredItem, ...]] = {}
    values: dict[str, dict[Item, float]] = {}
    unsettled: dict[str, tuple[tuple[Item, Opinion], ...]] = {}
    checks: dict[str, tuple[Check, ...]] = {}
    valued: dict[str, tuple[ItemWithValues, ...]] = {}
    used = 0
    for one in sorted(schema, key=lambda criterion: any(rule.needs for rule in criterion.rules)):
        if one.level == "set":
            continue
        items[one.name] = tuple(item for item in levels[one.level] if one.applies_to(item))
        kept: dict[Item, Opinion] = {}
        for item in items[one.name]:
            target = Target(conversation.trial_id, conversation.attempt, item.turn, item.speaker, item.start, item.end)
            opinion = opinions.get((target, one.name))
            if opinion is not None:
                kept[item] = opinion
        used += len(kept)
        ruled = _apply_rules(one, items[one.name], judgments, sight, values)
        unsettled[one.name] = tuple(
            (item, opinion)
            for item, opinion in kept.items()
            if opinion.equals and _takes_precedence(opinion, ruled.get(item))
        )
        scored[one.name] = _choose_scores(items[one.name], kept, ruled)
        if judgments.opinions_by_kind:
            checks[one.name] = _list_checks(conversation, one, items[one.name], judgments, ruled)
        told = {entry.item for entry in scored[one.name]}
        absent = {item for item, opinion in kept.items() if opinion.absent} - told
        if one.values:
            valued[one.name] = tuple(
                ItemWithValues(
                    item,
                    opinion.shares,
                    opinion.share,
                    tuple((vote.by, vote.value) for vote in opinion.votes if not isinstance(vote.value, float)),
                    opinion.disputed,
                    opinion.decided,
                )
                for item, opinion in kept.items()
                if opinion.shares
            )
        items[one.name] = tuple(item for item in items[one.name] if item not in absent)
        values[one.name] = {entry.item: entry.value for entry in scored[one.name]}
    orphans = len(opinions) - used
    layer = judgments.layers.get((conversation.trial_id, conversation.attempt))
    return Assessment(
        conversation.key,
        conversation.attempt,
        sight.nuggets,
        items,
        scored,
        orphans,
        refused=layer.refused if layer else 0,
        unsettled={name: found for name, found in unsettled.items() if found},
        extractors=tuple(sorted((layer.layer.author, *layer.equals))) if layer and layer.equals else (),
        checks=checks,
        valued=valued,
    )


def conversation_wans(assessments: Sequence[Assessment], schema: Schema) -> list[dict[str, Wan]]:
    """Return `Assessment.wans` for each conversation, computing all conversations together."""
    found: list[dict[str, Wan]] = [{} for _ in assessments]
    for criterion in schema:
        name = criterion.name
        if criterion.level == "set":
            continue
        averaged = [one.averaged_items(criterion) for one in assessments]
        each = wans([scored for scored, _ in averaged], name, criterion.weighting, [items for _, items in averaged])
        for own, one in zip(found, each, strict=True):
            own[name] = one
    return found


def nugget_notes(assessments: Iterable[Assessment], judgments: Judgments) -> tuple[str, ...]:
    """Return notes on nuggets that were requested by name: their authors, and how many are missing or were refused."""
    every, name = tuple(assessments), judgments.precedence.nuggets
    lacking, refused = sum(one.lacking for one in every), sum(one.refused for one in every)
    whose = sorted({f"{one.layer.author}/{one.layer.version}" for one in judgments.layers.values()})
    if judgments.extractor is not None and judgments.extractor.version != RULES:
        whose = [judgments.extractor.version]
    found = (
        (name and whose, f"SWAN and WAN are taken over the nuggets of {', '.join(whose)}."),
        (
            lacking,
            f"{pluralize(lacking, 'conversation')} without a whole extraction by {name}, in no SWAN and no WAN.",
        ),
        (refused, f"{pluralize(refused, 'nugget')} of {name} could not be taken when its replies were read."),
    )
    return tuple(note for applies, note in found if applies)


# The verdict of the first rule that scores an item, and its place in the precedence.
_RuleVerdicts = Mapping[Item, tuple[Verdict, Source, int]]


def _apply_rules(
    criterion: Criterion,
    items: tuple[Item, ...],
    judgments: Judgments,
    sight: Sight,
    known: Mapping[str, Mapping[Item, float]],
) -> _RuleVerdicts:
    ruled: dict[Item, tuple[Verdict, Source, int]] = {}
    for rule, rank in judgments.rules_in_use(criterion):
        seen = replace(sight, items=items, known=known)
        for verdict in rule.judge(seen):
            ruled.setdefault(verdict.item, (verdict, Source("rule", str(rule), rule.version), rank))
    return ruled


def _list_checks(
    conversation: Conversation,
    criterion: Criterion,
    items: tuple[Item, ...],
    judgments: Judgments,
    ruled: _RuleVerdicts,
) -> tuple[Check, ...]:
    where = (conversation.trial_id, conversation.attempt)
    people, models = (judgments.opinions_by_kind[kind].get(where, {}) for kind in ("human", "model"))
    found = []
    for item in items:
        key = Target(*where, item.turn, item.speaker, item.start, item.end), criterion.name
        own, now = models.get(key), ruled.get(item)
        judge = own.value if own is not None else now[0].value if now is not None else None
        found.append(Check(item, judge, own is not None, people.get(key)))
    return tuple(found)


def _takes_precedence(opinion: Opinion, now: tuple[Verdict, Source, int] | None) -> bool:
    return now is None or opinion.rank <= now[2]


def _choose_scores(
    items: tuple[Item, ...], kept: Mapping[Item, Opinion], ruled: _RuleVerdicts
) -> tuple[ScoredItem, ...]:
    found = []
    for item in items:
        opinion, now = kept.get(item), ruled.get(item)
        if opinion is not None and _takes_precedence(opinion, now):
            if opinion.value is not None:
                disputed = opinion.disputed or (now is not None and now[0].value != opinion.value)
                every = opinion.votes if len(opinion.votes) > 1 else ()
                votes = tuple((one.by, one.value) for one in every if not isinstance(one.value, str))
                found.append(
                    ScoredItem(
                        item,
                        opinion.value,
                        opinion.by,
                        disputed,
                        share=opinion.share,
                        votes=votes,
                        decided=opinion.decided,
                    )
                )
        elif now is not None:
            verdict, by, _ = now
            disputed = opinion is not None and opinion.value != verdict.value
            found.append(ScoredItem(item, verdict.value, by, disputed, note=verdict.note))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SystemSwan:
    """SWAN of a system over all its conversations. `pooled` is computed over the items of all conversations and
    includes criteria of sets. `sessions` is the mean over conversations of SWAN. `wans` has the mean WAN^c of each
    criterion except criteria of sets."""

    pooled: Swan
    sessions: SessionMean
    wans: Mapping[str, SessionMean]


def system_swan(
    system: str, assessments: Iterable[Assessment], schema: Schema, judgments: Judgments | None = None
) -> SystemSwan:
    """Return the SWAN of one system, both pooled and as a mean per session. Without conversations, both are
    undefined. Raises ValueError if a conversation belongs to another system."""
    own = tuple(assessments)
    strange = {one.key.system for one in own} - {system}
    if strange:
        raise ValueError(f"all conversations must be with {system}, but some are with {', '.join(sorted(strange))}")
    each = conversation_wans(own, schema)
    topics = sorted({one.key.topic for one in own})
    parts: dict[str, Wan] = {}
    for criterion in schema:
        name = criterion.name
        if criterion.level == "set":
            # One item for each topic, weight 1.
            sets = judgments.sets if judgments else {}
            known = [sets[system, topic, name] for topic in topics if (system, topic, name) in sets]
            told = [(one.share * one.value, one.share) for one in known if one.value is not None]
            above, below = math.fsum(value for value, _ in told), math.fsum(share for _, share in told)
            parts[name] = Wan(name, above, below, len(told), len(topics))
        else:
            parts[name] = pool_wans(one[name] for one in each) if each else Wan(name, 0.0, 0.0, 0, 0)
    return SystemSwan(
        swan(parts, schema.weights),
        mean_per_session(swan(one, schema.weights).value for one in each),
        {one.name: mean_per_session(known[one.name].value for known in each) for one in schema if one.level != "set"},
    )
