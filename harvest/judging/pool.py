"""The pool of several runs: each entity of a topic once, and each text that people are asked about once.

For each topic and criterion, people are asked only once about the same text, no matter which system produced it. The
context does not matter: “it was made in 1985” is the same claim in every answer. Texts that differ only in white space
count as the same text. Judgments are copied to all other occurrences of the text, as layers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.judging.sheets.annotation_sheet import Assessed
from harvest.judging.sheets.annotators import Key, judgment_key
from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import UNSURE, Judgment, Layer, Target
from recordings.log.run_folder import Run
from scoring.nuggets import find_nuggets
from scoring.settings import Settings
from scoring.swan.schema import Criterion, Schema
from topics.gold import GoldTable

# The source of a layer of judgments copied from the same words elsewhere.
SOURCE = "harvest pool"


@dataclass(frozen=True, slots=True)
class PooledRun:
    """A run in the pool: its folder, its recording, its conversations with their items, and the layers of people."""

    path: Path
    recorded: Run
    assessed: Sequence[Assessed]
    people: Sequence[Layer]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A span of text in a run. `run` is the index of the run, from 0. `start` and `end` are offsets in the system's
    text; for a link outside the text, both are -1."""

    run: int
    conversation: Conversation
    turn: int
    start: int
    end: int

    @property
    def target(self) -> Target:
        one = self.conversation
        return Target(one.trial_id, one.attempt, self.turn, start=self.start, end=self.end)

    def __str__(self) -> str:
        """Return system, topic, trial and turn, as in `IRIS M001 3:2`."""
        key = self.conversation.key
        return f"{key.system} {key.topic} {key.trial}:{self.turn}"


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity that systems named on a topic. `key` is its canonical form, and `url` the form in which it was
    first written. `judged` is True if the gold of a run, or of a table, has a grade for it."""

    topic: str
    key: str
    url: str
    judged: bool
    where: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class PooledJudgment:
    """A person's judgment of one occurrence, under this version of the guideline. `adjudicates` is True if the
    person decided between other people's judgments."""

    value: Json
    version: str
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class PooledText:
    """A text that a criterion asks about on a topic. `said` has the judgments by index of the occurrence in
    `where`, and by person. `covered` has the indices of the occurrences that anybody scored or marked *n/a*,
    including copied judgments."""

    topic: str
    criterion: str
    text: str
    where: tuple[Occurrence, ...]
    said: Mapping[tuple[int, str], PooledJudgment]
    covered: frozenset[int]

    @property
    def opinions(self) -> dict[str, tuple[PooledJudgment, ...]]:
        """The last judgment of each value by each person. Adjudications come last. `unsure` is not a value."""
        found: dict[str, dict[str, PooledJudgment]] = {}
        for (_, person), one in sorted(self.said.items(), key=lambda item: item[1].adjudicates):
            if one.value != UNSURE:
                found.setdefault(person, {})[repr(one.value)] = one
        return {person: tuple(values.values()) for person, values in found.items()}


def single_spaced(text: str) -> str:
    """Return the text with single spaces. Texts that differ only in white space count as the same claim."""
    return " ".join(text.split())


def pooled_entities(runs: Sequence[PooledRun], table: GoldTable | None = None) -> tuple[Entity, ...]:
    """Return the entities of finished conversations by topic, the most frequent first. `table` has further grades."""
    found: dict[tuple[str, str], list[Occurrence]] = {}
    urls: dict[tuple[str, str], str] = {}
    sets = [run.recorded.header.topic_set() for run in runs]
    golds = [read_gold_layers([run.path], topics) for run, topics in zip(runs, sets, strict=True)]
    if table is not None:
        golds.append(table)
    for number, run in enumerate(runs):
        topics = sets[number]
        known = {topic.id: topic for topic in topics.topics} if topics else {}
        for conversation in run.recorded.finished:
            topic = known.get(conversation.key.topic)
            if topic is None or topics is None:
                continue
            for nugget in find_nuggets(conversation, topic, None, topics.attributes, Settings()):
                key = (topic.id, nugget.entity)
                urls.setdefault(key, nugget.url)
                found.setdefault(key, []).append(
                    Occurrence(number, conversation, nugget.turn, nugget.start, nugget.end)
                )
    entities = [
        Entity(topic, entity, urls[topic, entity], any(one.get(topic, entity) for one in golds), tuple(where))
        for (topic, entity), where in found.items()
    ]
    place = {topic: i for i, topic in enumerate(dict.fromkeys(one.topic for one in entities))}
    return tuple(sorted(entities, key=lambda one: (place[one.topic], -len(one.where), one.key)))


def criteria_on_text(schema: Schema) -> list[Criterion]:
    """Return the criteria that people judge by the text of a nugget alone, without its context."""
    return [one for one in schema if one.level == "nugget" and one.may_score("human")]


def pooled_words(runs: Sequence[PooledRun], schema: Schema) -> tuple[PooledText, ...]:
    """Return the texts to ask people about, by criterion in the order of the schema, then by topic and frequency."""
    found: dict[_Key, list[Occurrence]] = {}
    said: dict[_Key, dict[tuple[int, str], PooledJudgment]] = {}
    covered: dict[_Key, set[int]] = {}
    asked = criteria_on_text(schema)
    for number, run in enumerate(runs):
        own = _newest_by_person(layer for layer in run.people if layer.source != SOURCE)
        every = _newest_by_person(run.people)
        for criterion in asked:
            for occurrence, text in _occurrences(number, run.assessed, criterion):
                key = (criterion.name, occurrence.conversation.key.topic, single_spaced(text))
                where = found.setdefault(key, [])
                target = judgment_key(Judgment(occurrence.target.about(), criterion.name, None))
                for person, one in own.get(target, {}).items():
                    said.setdefault(key, {})[len(where), person] = one
                if any(one.value != UNSURE for one in every.get(target, {}).values()):
                    covered.setdefault(key, set()).add(len(where))
                where.append(occurrence)
    words = [
        PooledText(topic, name, text, tuple(where), said.get(key, {}), frozenset(covered.get(key, ())))
        for key, where in found.items()
        for name, topic, text in [key]
    ]
    order = {one.name: i for i, one in enumerate(asked)}
    place = {topic: i for i, topic in enumerate(dict.fromkeys(one.topic for one in words))}
    return tuple(sorted(words, key=lambda one: (order[one.criterion], place[one.topic], -len(one.where), one.text)))


# Criterion, topic and words.
_Key = tuple[str, str, str]


def _newest_by_person(layers: Iterable[Layer]) -> dict[Key, dict[str, PooledJudgment]]:
    found: dict[Key, dict[str, PooledJudgment]] = {}
    for layer in layers:
        for judgment in layer.judgments:
            found.setdefault(judgment_key(judgment), {})[layer.author] = PooledJudgment(
                judgment.value, layer.version, layer.adjudicates
            )
    return found


def _occurrences(number: int, assessed: Iterable[Assessed], criterion: Criterion) -> Iterator[tuple[Occurrence, str]]:
    for one in assessed:
        replies = {turn.number: turn.reply.answer.text for turn in one.conversation.turns if turn.reply is not None}
        for item in one.assessment.items.get(criterion.name, ()):
            if item.speaker == "system" and item.start >= 0:
                text = replies[item.turn][item.start : item.end]
                yield Occurrence(number, one.conversation, item.turn, item.start, item.end), text


def spread_judgments(words: Iterable[PooledText], made_at: str) -> tuple[dict[int, list[Layer]], int]:
    """Copy each person's judgment to all occurrences of the same text that the person did not judge. Returns the
    layers by the index of the run, made at `made_at` (UTC), and the number of texts that were left out because
    the person's judgments of the text differ. Existing judgments, including `unsure`, are never changed. A
    copied adjudication remains an adjudication, which is not a vote."""
    found: dict[tuple[int, str, str, bool], list[Judgment]] = {}
    differing = 0
    for one in words:
        for person, opinions in one.opinions.items():
            if len(opinions) > 1:
                differing += 1
                continue
            (said,) = opinions
            for number, occurrence in enumerate(one.where):
                if (number, person) not in one.said:
                    judgment = Judgment(occurrence.target.about(), one.criterion, said.value)
                    key = (occurrence.run, person, said.version, said.adjudicates)
                    found.setdefault(key, []).append(judgment)
    layers: dict[int, list[Layer]] = {}
    for (run, person, version, adjudicates), judgments in sorted(found.items()):
        layer = Layer("human", person, version, SOURCE, made_at, tuple(judgments), adjudicates)
        layers.setdefault(run, []).append(layer)
    return layers, differing
