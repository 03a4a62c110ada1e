"""The parrot's fictional catalogue: for each topic, its request and the entries that the parrot can name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from string import ascii_lowercase

from topics.errors import InputError
from topics.gold import GoldTable
from topics.kinds import UrlKind
from topics.library import load_gold, load_topics
from topics.topic import Topic, TopicSet

_TAIL = 4  # characters that differ in a wrong URL: enough for 24 entries, and close to the true one


@dataclass(frozen=True, slots=True)
class Entry:
    """One fictional entity. wrong_url: a URL of the same kind as `url` that belongs to no entity."""

    title: str
    url: str
    wrong_url: str
    grade: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """The entries of one topic, in the order of the gold table."""

    topic: str
    request: str
    entries: tuple[Entry, ...]


class Catalogue:
    """Shelves, to be found by a user's words."""

    def __init__(self, shelves: Iterable[Shelf]) -> None:
        self.shelves = {shelf.topic: shelf for shelf in shelves}
        # longest first, so that a request that contains another one is not mistaken for it
        self._by_request = sorted(
            ((fold(shelf.request).rstrip(" .?!"), shelf) for shelf in self.shelves.values()),
            key=lambda pair: (-len(pair[0]), pair[1].topic),
        )

    @classmethod
    def of(cls, topics: TopicSet, gold: GoldTable) -> Catalogue:
        """Build a catalogue of the topics with gold entries. Raises InputError if an entity has no matching URL."""
        taken = {entry.entity for topic in topics.topics for entry in gold.entries(topic.id)}
        return cls(_shelf(topic, gold, taken) for topic in topics.topics if any(True for _ in gold.entries(topic.id)))

    def find(self, text: str) -> Shelf | None:
        """Return the shelf with the longest request that occurs in `text`, ignoring white space and case."""
        folded = fold(text)
        for request, shelf in self._by_request:
            start = folded.find(request)
            if start >= 0 and not folded[start + len(request) : start + len(request) + 1].isalnum():
                return shelf
        return None


def fold(text: str) -> str:
    """Return `text` in lower case with single blanks, the same for different spellings of a request."""
    return " ".join(text.split()).casefold()


def load_catalogue(
    gold: str | PathLike[str] = "parrot", topics: TopicSet | str | PathLike[str] = "fairweb-45"
) -> Catalogue:
    """Load a catalogue from a gold table with titles, by default the shipped one. Raises InputError."""
    resolved = topics if isinstance(topics, TopicSet) else load_topics(topics)
    return Catalogue.of(resolved, load_gold(gold, resolved))


def _shelf(topic: Topic, gold: GoldTable, taken: set[str]) -> Shelf:
    kind = topic.type.url
    if kind is None:
        raise InputError(
            f"topic {topic.id!r} asks for no URL, so the parrot cannot answer it",
            advice=f"give the topic type {topic.type.name!r} a `url`, or leave the topic out of the catalogue",
        )
    entries = []
    for found in gold.entries(topic.id):
        if kind.key(found.entity) != found.entity or not found.title:
            raise InputError(
                f"gold of topic {topic.id!r}: the parrot cannot name {found.entity!r} ({found.title!r})",
                allowed=f"a canonical URL of the kind {kind.name!r}, and a title",
            )
        wrong = _wrong_url(found.entity, kind, taken)
        taken.add(wrong)
        entries.append(Entry(found.title, found.entity, wrong, found.grade))
    return Shelf(topic.id, topic.request, tuple(entries))


def _wrong_url(url: str, kind: UrlKind, taken: set[str]) -> str:
    """Return a URL of the same kind that no entity has, with other digits and letters at its end."""
    places = [place for place, character in enumerate(url) if character.isalnum()][-_TAIL:]
    for attempt in range(200):
        characters = list(url)
        for place, byte in zip(places, hashlib.blake2b(f"{attempt} {url}".encode()).digest()):
            letter = str(byte % 10) if url[place].isdigit() else ascii_lowercase[byte % 26]
            characters[place] = letter.upper() if url[place].isupper() else letter
        wrong = "".join(characters)
        if kind.key(wrong) == wrong and wrong not in taken:
            return wrong
    raise InputError(f"no URL of the kind {kind.name!r} other than those of entities was found near {url!r}")
