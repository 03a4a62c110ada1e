"""The annotations in a transcript: grades, shares of groups, word counts, and the URLs that they describe."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from topics.addresses import canonical_url
from topics.attributes import AttributeSet
from topics.errors import InputError, Place
from topics.gold import GoldEntry, GoldTable
from topics.links import find_urls
from topics.topic import Topic, TopicSet

_GRADE = re.compile(r"#L(\d)(?=[\s#]|$)\s*(.*)")
_LIKE_GRADE = re.compile(r"#[Ll](?:(?:[a-zOX]|\s?[+-]?\d[\d.,]*)(?=[\s#]|$).*|\s*(?:#.*)?)")
_LIKE_ANNOTATION = re.compile(r"#|wc\s*=", re.IGNORECASE)
_VECTOR = re.compile(r"#([A-Za-z][\w-]*)\s*:\s*\(([^()]*)\)\s*(?:#\s*(.*))?")
_COUNT = re.compile(r"wc\s*=\s*(\d{1,9})", re.IGNORECASE)
_URL = re.compile(r"#URL:\s*(\S+)")
_SHARE = re.compile(r"\d{1,9}(?:/\d{1,9}|\.\d{0,40})?|\.\d{1,40}")
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")


def entity_key(topic: Topic | None, href: str) -> str:
    """Return the key of the entity behind a URL if the topic's type defines one, else the canonical URL."""
    kind = topic.type.url if topic else None
    return (kind.key(href) if kind else None) or canonical_url(href)


def attribute_set(topics: TopicSet, name: str, size: int, place: Place) -> AttributeSet:
    """Return the attribute set `name`. Raises InputError, at `place`, unless the set exists and has `size` groups."""
    known = topics.attributes.get(name)
    if known is None:
        names = ", ".join(topics.attributes)
        raise InputError(f"no attribute set is called {name!r}", place=Place(place.path, place.line, 2), allowed=names)
    if len(known.groups) != size:
        what = f"{name} has {len(known.groups)} groups, but {size} shares are given here"
        raise InputError(what, place=place, allowed=", ".join(known.groups))
    return known


@dataclass(frozen=True, slots=True)
class _Mention:
    """A URL in a reply. `position` is the number, from 1, of the URL's last word in the conversation."""

    href: str
    title: str
    position: int


@dataclass(slots=True)
class _Judged:
    mention: _Mention
    place: Place
    grade: int | None = None
    graded: Place | None = None
    groups: dict[str, tuple[float, ...]] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, words: str) -> None:
        if words not in self.notes:
            self.notes.append(words)


class Annotations:
    """The annotations of one file. An annotation describes the last URL before it in its turn, or the URL named by
    `#URL:`. `topics` gives the way to identify entities and the groups of attribute sets. `warnings` have file:line."""

    def __init__(self, path: str, topics: TopicSet | None) -> None:
        self.path, self.topics = path, topics
        self.warnings: list[str] = []
        self._line = 0
        self._topic_id = ""
        self._topic: Topic | None = None
        self._mention: _Mention | None = None
        self._current: _Judged | None = None
        self._judged: dict[tuple[str, str], _Judged] = {}

    def begin_turn(self, topic_id: str, topic: Topic | None) -> None:
        self._topic_id, self._topic = topic_id, topic
        self._mention = self._current = None

    def note_url(self, lines: list[str], words: int) -> None:
        """Remember the last URL in the last line of `lines`. `words` is the number of words before that line."""
        line = lines[-1]
        for url in find_urls(line)[-1:]:
            position = words + len(line[: url.end].split())
            self._mention = _Mention(url.href, _title(line[: url.start], lines), position)
            self._current = None

    def read_annotation(self, line: str, number: int, lines: list[str], words: int, *, exact: bool) -> bool:
        """Store the annotation in a line, and return True; return False if the line is text. Raises InputError. With
        `exact`, texts in the file are escaped, so a malformed annotation cannot be text. `words` is the number of words
        in the conversation before the line."""
        self._line = number
        if found := _GRADE.fullmatch(line):
            self._grade(int(found[1]), found[2].lstrip("# ").strip())
        elif found := _VECTOR.fullmatch(line):
            self._vector(found)
        elif found := _COUNT.fullmatch(line):
            self._count(int(found[1]))
        elif exact and (found := _URL.fullmatch(line)):
            self._point_at(found[1], lines, words)
        else:
            self._refuse_misspelt(line, exact)
            return False
        return True

    def gold(self, further: Iterable[GoldEntry]) -> tuple[GoldTable, dict[tuple[str, str], str]]:
        """Return all judgments, and the remarks by (topic, entity). The entities in `further` are in no reply."""
        entries: list[GoldEntry] = []
        notes: dict[tuple[str, str], str] = {}
        for (topic_id, entity), judged in self._judged.items():
            href, title = judged.mention.href, judged.mention.title
            if judged.grade is None:
                self.warnings.append(f"{judged.place}: {href} has annotations but no grade (#L0 to #L9): left out")
                continue
            entries.append(GoldEntry(topic_id, entity, judged.grade, title, judged.groups, judged.raw, judged.graded))
            if judged.notes:
                notes[topic_id, entity] = "; ".join(judged.notes)
        annotated = {(entry.topic, entry.entity) for entry in entries}
        entries += [entry for entry in further if (entry.topic, entry.entity) not in annotated]
        return GoldTable(entries), notes

    def _error(
        self, what: str, *, column: int = 1, allowed: str | None = None, advice: str | None = None
    ) -> InputError:
        return InputError(what, place=Place(self.path, self._line, column), allowed=allowed, advice=advice)

    def _current_judgment(self) -> _Judged:
        if self._mention is None:
            raise self._error("the annotation has no URL before it in this turn", advice="put it below the URL's line")
        if self._current is None:
            key = (self._topic_id, entity_key(self._topic, self._mention.href))
            self._current = self._judged.setdefault(key, _Judged(self._mention, Place(self.path, self._line)))
        return self._current

    def _grade(self, grade: int, note: str) -> None:
        judged = self._current_judgment()
        if judged.grade not in (None, grade):
            raise self._error(f"{judged.mention.href} already has grade L{judged.grade} (see {judged.place})")
        judged.grade, judged.graded = grade, Place(self.path, self._line)
        if note:
            judged.note(note)

    def _count(self, count: int) -> None:
        self._current_judgment()
        assert self._mention is not None
        if self._mention.position != count:
            words = f"the last word of {self._mention.href} is word {self._mention.position}"
            place = Place(self.path, self._line)
            self.warnings.append(f"{place}: wc= {count}, but {words} of the conversation")

    def _point_at(self, href: str, lines: list[str], words: int) -> None:
        for i in range(len(lines) - 1, -1, -1):
            words -= len(lines[i].split())
            for url in find_urls(lines[i]):
                if url.href == href:
                    position = words + len(lines[i][: url.end].split())
                    self._mention = _Mention(href, _title(lines[i][: url.start], lines[: i + 1]), position)
                    self._current = None
                    return
        raise self._error(f"{href} is not mentioned before this line in this turn", column=7)

    def _vector(self, found: re.Match[str]) -> None:
        judged = self._current_judgment()
        name, raw, column = found[1], (found[3] or "").strip(), found.start(2) + 1
        parts = re.finditer(r"[^,]+|(?<=,)(?=,|$)|^$", found[2])
        shares = tuple(self._share(part[0].strip(), column + part.start()) for part in parts)
        if abs(sum(shares, Fraction(0)) - 1) > Fraction(1, 10**6):
            raise self._error(f"the shares of {name} sum to {float(sum(shares)):g}, not to 1", column=column)
        vector = tuple(float(share) for share in shares)
        if self.topics is not None:
            known = attribute_set(self.topics, name, len(vector), Place(self.path, self._line, column))
            with suppress(ValueError):
                # A gold table may be written from a raw value that Harvest reads as the annotator did.
                if raw and known.membership(raw) == vector:
                    judged.raw[name] = raw
        if judged.groups.get(name, vector) != vector:
            raise self._error(f"{judged.mention.href} already has other shares of {name} (see {judged.place})")
        judged.groups[name] = vector
        if raw:
            judged.note(f"{name}: {raw}")

    def _share(self, text: str, column: int) -> Fraction:
        if _SHARE.fullmatch(text):
            try:
                return Fraction(text)
            except ZeroDivisionError:
                pass
        raise self._error(f"{text!r} is not a share", column=column, allowed="0, 1, 1/2, 0.25")

    def _refuse_misspelt(self, line: str, exact: bool) -> None:
        """Refuse an invalid grade. As text, the grade would add to the word count, and its URL would have no grade."""
        if _LIKE_GRADE.fullmatch(line):
            way_out = "put a backslash before it" if exact else "remove its #"
            allowed, advice = "#L0 to #L9; a note may follow", f"if this is text of a reply, {way_out}"
            raise self._error(f"{line[:40]!r} is not a grade", column=2, allowed=allowed, advice=advice)
        if exact and _LIKE_ANNOTATION.match(line):
            allowed = "#L2, wc= 35, #RATINGS: (0,0,0,1), #URL: https://…"
            advice = "if this is text of a reply, put a backslash before it"
            raise self._error(f"{line[:40]!r} is not an annotation", allowed=allowed, advice=advice)


def _title(before: str, lines: list[str]) -> str:
    """Return the title of an entity: the text before its URL, or else the line above; "" if both are empty."""
    urls = find_urls(before)
    text = before[urls[-1].end :] if urls else before
    if not text.strip(" \t-–:*•|[](<") and lines[:-1]:
        text = lines[-2]
    return _BULLET.sub("", text).strip(' \t-–:*•|[](<>"“”')[:200]
