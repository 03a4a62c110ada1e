"""The relevant entities in many conversations, as columns: a fast version of `scoring.nuggets`.

Only the data needed for values of conversations are kept: turn, position and gain of each entity, and its groups in
the gold table. Plain addresses are found by `topics.links.url_ends`. The few answers that need more care, for example
those with pictures, are read by `find_nuggets`, which would give the same result for every answer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation
from scoring.nuggets import find_nuggets
from scoring.settings import Settings
from scoring.words import conversation_unit
from topics.attributes import AttributeSet
from topics.gold import GoldEntry, GoldTable
from topics.kinds import UrlKind
from topics.links import url_ends
from topics.topic import Topic

_UNJUDGED = -1  # in place of the grade, for an unjudged entity


@dataclass(slots=True)
class NamedEntities:
    """The N relevant entities in C conversations with S system turns, in reading order, without repetitions.

    - `turns`, `named`: (C + 1,) the index of each conversation's first turn and first entity, then S and N.
    - `unjudged`: (C,) numbers of entities that are not in the gold table.
    - `limit`: (C,) L in the unit of each conversation.
    - `turn`: (N,) the index among the S turns of the entity's turn.
    - `position`, `gain`: (N,) WC(n) and g(n).
    - `entry`: (N,) the index of the gold entry in `entries`.
    """

    turns: list[int] = field(default_factory=lambda: [0])
    named: list[int] = field(default_factory=lambda: [0])
    unjudged: list[int] = field(default_factory=list)
    limit: list[int] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    position: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    entry: list[int] = field(default_factory=list)
    entries: list[GoldEntry] = field(default_factory=list)


def named_entities(
    conversations: Iterable[tuple[Conversation, Topic]],
    gold: GoldTable,
    attributes: Mapping[str, AttributeSet],
    settings: Settings,
) -> NamedEntities:
    """Find the relevant entities of conversations, each given with its topic. The topic's type must have a kind of
    URL. Raises InputError for a grade that has no gain."""
    reader = _Reader(gold, attributes, settings)
    for conversation, topic in conversations:
        reader.add(conversation, topic)
    return reader.found


class _Reader:
    def __init__(self, gold: GoldTable, attributes: Mapping[str, AttributeSet], settings: Settings) -> None:
        self.found, self._turn = NamedEntities(), 0
        self._gold, self._attributes, self._settings = gold, attributes, settings
        self._keys: dict[str, dict[str, str | None]] = {}
        self._judged: dict[str, dict[str, tuple[float, int]]] = {}

    def add(self, conversation: Conversation, topic: Topic) -> None:
        found, self._turn = self.found, self.found.turns[-1]
        begun = len(found.turn)
        unit = conversation_unit(conversation, self._settings.unit)
        unjudged = self._read(conversation, topic) if unit == "words" else None
        if unjudged is None:
            for column in (found.turn, found.position, found.gain, found.entry):
                del column[begun:]
            self._turn = found.turns[-1]
            unjudged = self._search_again(conversation, topic)
        found.turns.append(self._turn)
        found.named.append(len(found.turn))
        found.unjudged.append(unjudged)
        found.limit.append(self._settings.limit(unit))

    def _read(self, conversation: Conversation, topic: Topic) -> int | None:
        """Read a conversation and return the number of unjudged entities. Returns None if an answer needs more care,
        possibly after some turns were read."""
        kind, unjudged = topic.type.url, 0
        assert kind is not None
        keys, judged = self._keys.setdefault(topic.id, {}), self._judged.setdefault(topic.id, {})
        seen: set[str] = set()
        words = 0
        for turn in conversation.turns:
            words += len(turn.said.split()) if self._settings.user_words == "counted" else 0
            if turn.reply is None:
                continue
            answer, at = turn.reply.answer, 0
            named = _find_mentions(answer, kind, keys)
            if named is None:
                return None
            outside = []
            for end, entity in named:
                if entity in seen:
                    continue
                seen.add(entity)
                try:
                    entry = judged[entity]
                except KeyError:
                    entry = judged[entity] = self._entry(topic.id, entity)
                if not entry[0] > 0:
                    unjudged += entry[1] == _UNJUDGED
                    continue
                if end < 0:
                    outside.append(entry)
                else:
                    words += _words_between(answer.text, at, end)
                    at = end
                    self._add_mention(max(1, words), *entry)
            words += _words_between(answer.text, at, len(answer.text))
            for entry in outside:
                self._add_mention(max(1, words), *entry)
            self._turn += 1
        return unjudged

    def _add_mention(self, position: int, gain: float, entry: int) -> None:
        found = self.found
        found.turn.append(self._turn)
        found.position.append(position)
        found.gain.append(gain)
        found.entry.append(entry)

    def _entry(self, topic: str, entity: str) -> tuple[float, int]:
        entry = self._gold.get(topic, entity)
        if entry is None:
            return 0.0, _UNJUDGED
        self.found.entries.append(entry)
        return self._settings.gain(entry.grade), len(self.found.entries) - 1

    def _search_again(self, conversation: Conversation, topic: Topic) -> int:
        begun, judged = self._turn, self._judged.setdefault(topic.id, {})
        places: dict[int, int] = {}
        for turn in conversation.turns:
            if turn.reply is not None:
                places[turn.number] = begun + len(places)
        nuggets = find_nuggets(conversation, topic, self._gold, self._attributes, self._settings)
        for nugget in nuggets:
            if nugget.relevant:
                if nugget.entity not in judged:
                    judged[nugget.entity] = self._entry(topic.id, nugget.entity)
                self._turn = places[nugget.turn]
                self._add_mention(nugget.position, *judged[nugget.entity])
        self._turn = begun + len(places)
        return sum(nugget.unjudged for nugget in nuggets)


def _find_mentions(answer: Answer, kind: UrlKind, keys: dict[str, str | None]) -> list[tuple[int, str]] | None:
    """Return each mention of an entity as (end, entity): first mentions in the text, in order, then mentions outside
    the text, with end -1.

    Returns None if the answer needs more care. `keys` maps each known address to its entity; new addresses are added.
    """
    if "![" in answer.text:
        return None  # the address of a picture is no entity
    if any(source.start >= 0 for source in answer.sources):
        return None  # an address outside the text has a place in it
    mentions = url_ends(answer.text)
    if mentions is None:
        return None
    found, written, last = [], set(), None
    for end, href in mentions:
        try:
            entity = keys[href]
        except KeyError:
            entity = keys[href] = kind.key(href)
        if entity is None:
            continue
        if entity == last:
            return None  # these may be the two addresses of one link
        last = entity
        written.add(href)
        found.append((end, entity))
    for link in answer.links:
        if link.href not in written:
            entity = keys[link.href] if link.href in keys else keys.setdefault(link.href, kind.key(link.href))
            if entity is not None:
                found.append((-1, entity))
    return found


def _words_between(text: str, start: int, end: int) -> int:
    words = len(text[start:end].split())
    goes_on = 0 < start < end and not (text[start - 1].isspace() or text[start].isspace())
    return words - 1 if goes_on else words
