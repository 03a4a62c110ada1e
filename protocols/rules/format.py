"""`urls` and `format`: rules about URLs of a kind, and about the output format that the topic asks for."""

import re
from collections.abc import Container, Iterator
from typing import ClassVar, NamedTuple

from pydantic import Field, field_validator

from protocols.route import Evidence
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.empty import INVISIBLE
from protocols.rules.mentions import ANY, ASKED, NamedUrl, describe_search_limit, kind_fault, named_urls
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence, span
from topics.kinds import KINDS
from topics.topic import Topic


def check_kind(name: str) -> str:
    """Return `name` if it is `asked`, `any` or a shipped kind of URL. Raises ValueError, with a list of the kinds,
    for any other name."""
    if name not in (ASKED, ANY, *KINDS):
        raise ValueError(f"unknown kind of URL; allowed: {', '.join((ASKED, ANY, *sorted(KINDS)))}")
    return name


class Urls(AnswerRule):
    """Holds if the answer names at least `at_least` different entities by URLs of the kind.

    `kind` is `asked` (the kind of the topic's type, with the right host and path), `any`, or a shipped kind such as
    `imdb-title`. Entities are compared by canonical identity, so a mobile host or a tracking parameter makes no
    difference. Only the form of a URL is judged, never whether the URL works. Evidence: each URL, with a mark if it
    is repeated.
    """

    version: ClassVar[str] = "urls/1"
    needs: ClassVar[frozenset[str]] = frozenset({"links"})

    kind: str = ASKED
    at_least: int = Field(default=1, ge=1, le=10_000)

    _check_kind = field_validator("kind")(check_kind)

    def judge(self, sight: Sight) -> Verdict:
        found = named_urls(sight.answer, self.kind, sight.topic)
        distinct = len({item.key for item in found})
        holds = distinct >= self.at_least
        placed = {source.href for source in sight.answer.sources if source.start >= 0}
        pieces = limit_evidence(self._url_evidence(sight.answer.text, found, placed), len(found))
        if not holds:
            what = f"at least {self.at_least} URL(s) of the kind {self._kind_name(sight.topic)}"
            pieces += (absence(what, f"{distinct} different ones found{describe_search_limit(sight.answer)}"),)
        return Verdict(holds, pieces)

    def unfit(self, topic: Topic) -> str | None:
        return kind_fault(self.kind, topic)

    def _kind_name(self, topic: Topic) -> str:
        return topic.type.url.name if self.kind == ASKED and topic.type.url else self.kind

    def _url_evidence(self, text: str, found: tuple[NamedUrl, ...], placed: Container[str]) -> Iterator[Evidence]:
        seen: set[str] = set()
        for item in found:
            note = f"again {item.key}" if item.key in seen else item.key
            seen.add(item.key)
            if item.start < 0:
                yield absence(item.href, f"{note}, a link outside the text")
            elif item.bare:
                yield span(text, item.start, item.end, note)
            else:
                behind = "the source of these words" if item.href in placed else "behind this anchor"
                yield span(text, item.start, item.end, f"{note}, {behind}")


_WORD = re.compile(r"[^\W_]")
_LISTING = re.compile(rf"[{INVISIBLE}]*(?:[-*+•|>#]|\(?[0-9]{{1,4}}[.):])*[{INVISIBLE}]*")
_URL_PART = re.compile(r"\burls?\b|\blinks?\b", re.IGNORECASE)


class _Line(NamedTuple):
    start: int
    end: int


class Format(AnswerRule):
    """Holds if at least `at_least` lines follow the format of `topic.asks_for`, such as `movie title, IMDb URL`.

    A line follows the format if it contains a URL of the kind and has words wherever the format names something:
    before the URL, after it, or both. Bullets and numbers of a list are not words. Lines for the same entity count
    once. With `every`, no line may contain a URL of the kind without those words. Evidence: the lines that follow the
    format; if the rule does not hold, also the first ten lines that break the format.
    """

    version: ClassVar[str] = "format/1"
    needs: ClassVar[frozenset[str]] = frozenset({"links"})

    kind: str = ASKED
    at_least: int = Field(default=1, ge=1, le=10_000)
    every: bool = False

    _check_kind = field_validator("kind")(check_kind)

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        before, after = _words_around_url(sight.topic.asks_for)
        kept: list[_Line] = []
        broken: list[_Line] = []
        keys: set[str] = set()
        for line, items in _group_by_line(text, named_urls(sight.answer, self.kind, sight.topic)):
            if _follows_format(text, line, items, before, after):
                kept.append(line)
                keys.update(item.key for item in items[:1])
            else:
                broken.append(line)
        holds = len(keys) >= self.at_least and not (self.every and broken)
        pieces = limit_evidence((span(text, *line, "keeps the format") for line in kept), len(kept))
        if not holds:
            pieces += tuple(span(text, *line, "holds the URL without the words asked for") for line in broken[:10])
            what = f"at least {self.at_least} line(s) of the form {sight.topic.asks_for!r}"
            pieces += (absence(what, f"{len(keys)} kept, {len(broken)} broken{describe_search_limit(sight.answer)}"),)
        return Verdict(holds, pieces)

    def unfit(self, topic: Topic) -> str | None:
        if not any(_words_around_url(topic.asks_for)):
            return f"needs a format such as 'title, URL', and the topic asks for {topic.asks_for!r}"
        return kind_fault(self.kind, topic)


def _words_around_url(asks_for: str) -> tuple[bool, bool]:
    parts = [part for part in asks_for.split(",") if part.strip()]
    places = [place for place, part in enumerate(parts) if _URL_PART.search(part)]
    if not places:
        return False, False
    return places[0] > 0, places[0] < len(parts) - 1


def _group_by_line(text: str, found: tuple[NamedUrl, ...]) -> list[tuple[_Line, list[NamedUrl]]]:
    lines: list[tuple[_Line, list[NamedUrl]]] = []
    for item in sorted((item for item in found if item.start >= 0), key=lambda item: item.start):
        if lines and item.start <= lines[-1][0].end:
            lines[-1][1].append(item)
            continue
        start = text.rfind("\n", 0, item.start) + 1
        end = text.find("\n", item.start)
        lines.append((_Line(start, len(text) if end < 0 else end), [item]))
    return lines


def _follows_format(text: str, line: _Line, items: list[NamedUrl], before: bool, after: bool) -> bool:
    first, last = items[0], items[-1]
    if not first.bare:  # the anchor has the words, and its target is the URL
        return bool(_WORD.search(text, first.start, first.end))
    listing = _LISTING.match(text, line.start, first.start)
    head = listing.end() if listing else line.start
    words_before = bool(_WORD.search(text, head, first.start))
    words_after = bool(_WORD.search(text, last.end, line.end))
    return (words_before or not before) and (words_after or not after)
