"""The parrot: a chat system that knows only a fictional catalogue and the conversation so far.

The catalogue has for each topic its request and the entries that the parrot can name. The parrot recognises the topic
by the user's text alone. A session draws all its random choices from its own generator in the order of its turns, so
the same seed and user turns always give the same conversation.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from string import ascii_lowercase
from typing import TYPE_CHECKING

from harvest.parrot.profiles import BEHAVIOURS, Behaviour, Heard, Profile, Row
from protocols.answer import Answer, Exchange
from topics.errors import InputError
from topics.gold import GoldTable
from topics.identity import generator
from topics.kinds import UrlKind
from topics.library import load_gold, load_topics
from topics.links import Link
from topics.topic import Topic, TopicSet

_CHANGED_CHARACTERS = 4  # characters that differ in a wrong URL: enough for 24 entries, and close to the true one


@dataclass(frozen=True, slots=True)
class Entry:
    """One fictional entity. `wrong_url` is a URL of the same kind as `url` that belongs to no entity."""

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
    """A collection of shelves, with a search for the shelf that a user's text asks for."""

    def __init__(self, shelves: Iterable[Shelf]) -> None:
        self.shelves = {shelf.topic: shelf for shelf in shelves}
        # longest first, so that a request that contains another one is not mistaken for it
        self._by_request = sorted(
            ((fold(shelf.request).rstrip(" .?!"), shelf) for shelf in self.shelves.values()),
            key=lambda pair: (-len(pair[0]), pair[1].topic),
        )

    @classmethod
    def from_gold(cls, topics: TopicSet, gold: GoldTable) -> Catalogue:
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
    """Return `text` in lower case with single blanks, so that different spellings of a request become equal."""
    return " ".join(text.split()).casefold()


def load_catalogue(
    gold: str | PathLike[str] = "parrot", topics: TopicSet | str | PathLike[str] = "fairweb-45"
) -> Catalogue:
    """Load a catalogue from a gold table with titles, by default from the shipped table. Raises InputError."""
    resolved = topics if isinstance(topics, TopicSet) else load_topics(topics)
    return Catalogue.from_gold(resolved, load_gold(gold, resolved))


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
                f"gold of topic {topic.id!r}: the parrot cannot name the entity {found.entity!r} ({found.title!r})",
                allowed=f"a canonical URL of the kind {kind.name!r}, and a title",
            )
        wrong = _wrong_url(found.entity, kind, taken)
        taken.add(wrong)
        entries.append(Entry(found.title, found.entity, wrong, found.grade))
    return Shelf(topic.id, topic.request, tuple(entries))


def _wrong_url(url: str, kind: UrlKind, taken: set[str]) -> str:
    """Return a URL of the same kind that no entity has, with different digits and letters at its end."""
    places = [place for place, character in enumerate(url) if character.isalnum()][-_CHANGED_CHARACTERS:]
    for attempt in range(200):
        characters = list(url)
        for place, byte in zip(places, hashlib.blake2b(f"{attempt} {url}".encode()).digest()):
            letter = str(byte % 10) if url[place].isdigit() else ascii_lowercase[byte % 26]
            characters[place] = letter.upper() if url[place].isupper() else letter
        wrong = "".join(characters)
        if kind.key(wrong) == wrong and wrong not in taken:
            return wrong
    raise InputError(f"no unused URL of the kind {kind.name!r} was found near {url!r}")


# Chooses one of n variants: a number from 0 to n − 1.
Pick = Callable[[int], int]

# The variants of each part of a reply. Within a part all have the same number of words (a test counts them).
VARIANTS: dict[str, tuple[str, ...]] = {
    "open-request": (
        "Here is a short list that should suit you:",
        "With pleasure. These came to mind first of all:",
        "Gladly! The following ones all fit what you describe:",
        "Let me begin with these, in no particular order:",
    ),
    "open-more": (
        "Certainly, here are further ones in the same vein:",
        "Of course. These belong on your list as well:",
        "There are others, and I would add the following:",
        "Happy to go on. Have a look at these:",
    ),
    "open-adhere": (
        "My mistake. Here they are as you wanted them:",
        "Thank you for the reminder, this is better now:",
        "You are right, so once more and in form:",
        "Sorry about that! Now in the form you gave:",
    ),
    "close-list": (
        "Just tell me whenever you would like to go on.",
        "I hope that one or another is new to you.",
        "Each of them was chosen with your wish in mind.",
        "Let me know which ones you end up enjoying most.",
    ),
    "open-bare": (
        "Several names are well worth keeping in mind here:",
        "Those who know the field well often point to:",
        "A few that come up again and again are:",
    ),
    "close-bare": (
        "All of these are easy to look up, and you will find much to like in every single one.",
        "Start at the top, take your time, and see for yourself which of them you would rather leave out.",
        "Opinions differ about the order, but hardly anybody would argue about the names as such, as far as known.",
    ),
    "prose": (
        "This is a wide field with many worthy examples from all sides, and tastes differ a great deal. "
        "Much depends on what you have enjoyed so far, on how much time you have, and on your mood.",
        "People have been drawn to this subject for as long as anybody remembers, and every year brings something new. "
        "A good way in is to follow what your friends recommend, and to keep some notes all along.",
        "What a lovely subject to explore! There is so much variety that any short answer would leave out a lot. "
        "Have you thought about why it interests you, and about how deep you would like to go?",
    ),
    "refusal": (
        "I'm sorry, but I can't help you with that request right now.",
        "I am unable to do that for you, I am very sorry.",
        "As a language model, I am not able to assist with this.",
    ),
    "exhausted": (
        "That was everything in my collection, so the list is complete as it stands.",
        "You have seen all of them by now, and my shelf holds nothing else.",
        "My collection ends here: whatever it had to offer has been named before, alas.",
    ),
}

# The honest answer to anything outside the catalogue. docs/parrot.md says which label it gets.
UNKNOWN = "I do not know anything about that: my catalogue is small, and your question is not in it."


def compose(behaviour: Behaviour, heard: Heard, lines: Sequence[str], pick: Pick) -> str:
    """Return the text of one reply. `lines` are the entries of a `list` or `bare` reply; other replies ignore them. A
    `list` or `bare` reply without lines says that the catalogue has no more entries."""

    def part(name: str) -> str:
        variants = VARIANTS[name]
        return variants[pick(len(variants))]

    match behaviour:
        case "silent":
            return ""
        case "prose" | "refusal":
            return part(behaviour)
        case _ if not lines:
            return part("exhausted")
        case "list":
            opening = part(f"open-{heard if heard in ('more', 'adhere') else 'request'}")
            return "\n\n".join((opening, "\n".join(lines), part("close-list")))
        case "bare":
            return "\n\n".join((part("open-bare"), "\n".join(lines), part("close-bare")))


if TYPE_CHECKING:
    import numpy

_NEW_REQUEST = re.compile(r"\s*please\s+list\b", re.IGNORECASE)
_ADHERE_WORDS = re.compile(r"\b(?:adhere|format|urls?|links?)\b", re.IGNORECASE)
_MORE_WORDS = re.compile(r"\b(?:more|another|others?|else|again|further|additional|continue)\b", re.IGNORECASE)


def interpret_turn(text: str, catalogue: Catalogue, current: Shelf | None) -> tuple[Heard, Shelf | None]:
    """Return the parrot's interpretation of a user turn, and the shelf that the turn refers to.

    A request in the catalogue takes precedence. Otherwise, if there is a current topic, text about the format
    (`adhere`, `format`, `URL`, `link`) or about more results (`more`, `another`, `others`, …) refers to that topic,
    unless the turn begins like a new request (`Please list …`). Everything else is unknown. An unknown new request
    ends the current topic (the shelf is None); other unknown text leaves the topic unchanged.
    """
    shelf = catalogue.find(text)
    if shelf is not None:
        return "request", shelf
    if current is None or _NEW_REQUEST.match(text):
        return "unknown", None
    if _ADHERE_WORDS.search(text):
        return "adhere", current
    return ("more" if _MORE_WORDS.search(text) else "unknown"), current


def entry_line(title: str, url: str) -> str:
    """Return one line of a list in the format of the FairWeb topics, `title, URL`."""
    return f"{title}, {url}"


class Parrot:
    """A catalogue with a profile, which opens any number of independent sessions."""

    def __init__(self, catalogue: Catalogue, profile: Profile) -> None:
        self.catalogue, self.profile = catalogue, profile

    def session(self, seed: int, history: Iterable[Exchange] = ()) -> ParrotSession:
        """Open a session, new or with `history` as its own. The session draws only from the stream of `seed` and
        "parrot"."""
        return ParrotSession(self.catalogue, self.profile, generator(seed, "parrot"), history)


class ParrotSession:
    """One session, which is not thread-safe; its turns are strictly sequential. A session draws only uniform numbers
    in [0, 1), because numpy may change its other samplers between releases. In a turn it draws, in this order: the
    behaviour; on a fresh request, the order of the shelf; for each entry, whether the entry is a copy of an earlier
    entry (and which entry) and whether its URL is wrong; and the variants of the sentences."""

    def __init__(
        self, catalogue: Catalogue, profile: Profile, rng: numpy.random.Generator, history: Iterable[Exchange] = ()
    ) -> None:
        self._catalogue, self._profile, self._rng = catalogue, profile, rng
        self._shelf: Shelf | None = None
        self._last: Behaviour | None = None
        self._fresh: list[Entry] = []  # not listed yet in this conversation, the next one last
        self._listed: list[tuple[str, str]] = []  # (title, URL) as listed in this conversation
        for exchange in history:
            self._remember(exchange)

    @property
    def behaviour(self) -> Behaviour | None:
        """The last behaviour on the current topic, or None before the first known request."""
        return self._last

    def answer(self, text: str) -> Answer:
        """Return the reply to one user turn."""
        heard, shelf = interpret_turn(text, self._catalogue, self._shelf)
        if heard == "unknown" or shelf is None:
            self._shelf = shelf
            return Answer(UNKNOWN)
        behaviour = self._draw_behaviour(self._row(heard, text))
        self._last = behaviour
        if heard == "request":
            self._start_topic(shelf)
        match behaviour:
            case "list":
                listed = self._list_entries()
                reply = compose(behaviour, heard, [entry_line(*entry) for entry in listed], self._pick_variant)
                return Answer(reply, tuple(Link(url, url) for _, url in listed))
            case "bare":
                # The next entries, which stay unlisted: asked to adhere, it gives the same ones with their URLs.
                titles = [entry.title for entry in reversed(self._fresh[-self._profile.entities :])]
                return Answer(compose(behaviour, heard, titles, self._pick_variant))
            case _:
                return Answer(compose(behaviour, heard, (), self._pick_variant))

    def _row(self, heard: Heard, text: str) -> Row:
        if heard == "request" and self._last is not None:
            return self._profile.carried(self._last, self._profile.opening(text))
        if heard == "request":
            return self._profile.opening(text)
        return self._profile.row(self._last, heard)

    def _start_topic(self, shelf: Shelf) -> None:
        draws: list[float] = self._rng.random(len(shelf.entries)).tolist()
        order = sorted(range(len(draws)), key=draws.__getitem__)
        self._shelf, self._fresh, self._listed = shelf, [shelf.entries[i] for i in order], []

    def _list_entries(self) -> list[tuple[str, str]]:
        profile, random = self._profile, self._rng.random
        start = len(self._listed)
        for _ in range(profile.entities):
            if profile.repeats and self._listed and random() < profile.repeats:
                self._listed.append(self._listed[self._pick_variant(len(self._listed))])
            elif self._fresh:
                entry = self._fresh.pop()
                wrong = profile.wrong and random() < profile.wrong
                self._listed.append((entry.title, entry.wrong_url if wrong else entry.url))
        return self._listed[start:]

    def _draw_behaviour(self, row: Row) -> Behaviour:
        level = self._rng.random()
        chosen: Behaviour = BEHAVIOURS[0]
        for behaviour, probability in row.items():
            if probability > 0:
                chosen = behaviour
                level -= probability
                if level < 0:
                    break
        return chosen  # the last possible one after a rounding error

    def _pick_variant(self, n: int) -> int:
        return int(self._rng.random() * n)

    def _remember(self, exchange: Exchange) -> None:
        heard, shelf = interpret_turn(exchange.said, self._catalogue, self._shelf)
        if heard == "unknown" or shelf is None:
            self._shelf = shelf
            return
        if heard == "request":
            self._start_topic(shelf)
        text = exchange.answer.text
        by_url = {url: entry.title for entry in shelf.entries for url in (entry.url, entry.wrong_url)}
        named = {link.href for link in exchange.answer.links if link.href in by_url}
        named |= {word for word in text.split() if word in by_url}
        self._listed += [(by_url[url], url) for url in by_url if url in named]
        self._fresh = [entry for entry in self._fresh if not {entry.url, entry.wrong_url} & named]
        if named:
            self._last = "list"
        elif not text.strip():
            self._last = "silent"
        elif text in VARIANTS["refusal"]:
            self._last = "refusal"
        else:
            self._last = "bare" if any(entry.title in text for entry in shelf.entries) else "prose"
