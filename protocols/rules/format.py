"""`format`: the answer follows the output format that the topic asks for."""

import re
from typing import ClassVar, NamedTuple

from pydantic import Field, field_validator

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.empty import INVISIBLE
from protocols.rules.mentions import ASKED, Named, kind_trouble, looked_at, named_urls
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence, span
from protocols.rules.urls import known_kind
from topics.topic import Topic

_WORD = re.compile(r"[^\W_]")
_LISTING = re.compile(rf"[{INVISIBLE}]*(?:[-*+•|>#]|\(?[0-9]{{1,4}}[.):])*[{INVISIBLE}]*")
_URL_PART = re.compile(r"\burls?\b|\blinks?\b", re.IGNORECASE)


class _Line(NamedTuple):
    start: int
    end: int


class Format(AnswerRule):
    """Holds if at least `at_least` lines follow the format of `topic.asks_for`, such as `movie title, IMDb URL`.

    A line follows it if it contains a URL of the kind, and words where the format asks for words: before the URL if
    something is named before it, after the URL if something is named after it. Bullets and numbers of a list are not
    words. Lines for the same entity count once. every: also, no line may contain a URL of the kind without the words.
    Evidence: the lines that follow the format; if it does not hold, also the first lines that break it.
    """

    version: ClassVar[str] = "format/1"
    needs: ClassVar[frozenset[str]] = frozenset({"links"})

    kind: str = ASKED
    at_least: int = Field(default=1, ge=1, le=10_000)
    every: bool = False

    _known = field_validator("kind")(known_kind)

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        before, after = _sides(sight.topic.asks_for)
        kept: list[_Line] = []
        broken: list[_Line] = []
        keys: set[str] = set()
        for line, items in _by_line(text, named_urls(sight.answer, self.kind, sight.topic)):
            if _keeps_format(text, line, items, before, after):
                kept.append(line)
                keys.update(item.key for item in items[:1])
            else:
                broken.append(line)
        holds = len(keys) >= self.at_least and not (self.every and broken)
        pieces = limit_evidence((span(text, *line, "keeps the format") for line in kept), len(kept))
        if not holds:
            pieces += tuple(span(text, *line, "holds the URL without the words asked for") for line in broken[:10])
            what = f"at least {self.at_least} line(s) of the form {sight.topic.asks_for!r}"
            pieces += (absence(what, f"{len(keys)} kept, {len(broken)} broken{looked_at(sight.answer)}"),)
        return Verdict(holds, pieces)

    def unfit(self, topic: Topic) -> str | None:
        if not any(_sides(topic.asks_for)):
            return f"needs a format such as 'title, URL', and the topic asks for {topic.asks_for!r}"
        return kind_trouble(self.kind, topic)


def _sides(asks_for: str) -> tuple[bool, bool]:
    parts = [part for part in asks_for.split(",") if part.strip()]
    places = [place for place, part in enumerate(parts) if _URL_PART.search(part)]
    if not places:
        return False, False
    return places[0] > 0, places[0] < len(parts) - 1


def _by_line(text: str, found: tuple[Named, ...]) -> list[tuple[_Line, list[Named]]]:
    lines: list[tuple[_Line, list[Named]]] = []
    for item in sorted((item for item in found if item.start >= 0), key=lambda item: item.start):
        if lines and item.start <= lines[-1][0].end:
            lines[-1][1].append(item)
            continue
        start = text.rfind("\n", 0, item.start) + 1
        end = text.find("\n", item.start)
        lines.append((_Line(start, len(text) if end < 0 else end), [item]))
    return lines


def _keeps_format(text: str, line: _Line, items: list[Named], before: bool, after: bool) -> bool:
    first, last = items[0], items[-1]
    if not first.bare:  # the anchor has the words, and its target is the URL
        return bool(_WORD.search(text, first.start, first.end))
    listing = _LISTING.match(text, line.start, first.start)
    head = listing.end() if listing else line.start
    words_before = bool(_WORD.search(text, head, first.start))
    words_after = bool(_WORD.search(text, last.end, line.end))
    return (words_before or not before) and (words_after or not after)
