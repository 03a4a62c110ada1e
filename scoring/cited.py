"""The sources of a conversation's answers: the pages that answers link to or that the system lists next to them.

A source counts once in an answer, however often the answer links to it. It is identified by its page: an address in
canonical form after redirects are undone (`topics.redirects`), or, without an address, the title that the system gave.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation
from scoring.settings import Citations
from scoring.words import Passage
from topics.late_pattern import lazy_pattern
from topics.links import find_urls
from topics.redirects import Page
from topics.source_table import DOMAIN, SourceTable

_IMAGE = lazy_pattern(r"!\[[^\]]*\]\(\s*(?=https?:)", re.IGNORECASE)
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One source of one answer.

    - `turn`: the number of the system turn, from 1.
    - `order`: its place among the answer's sources, from 1: by the first place in the text, then as the system lists.
    - `name`: what identifies it: the address of its page, or its title.
    - `url`: its address as written, or "" without one.
    - `page`: the page, or None without a web address. A page may be hidden (`topics.redirects`).
    - `spans`: the characters [start, end) of the answer's text that it supports, as the system says, or else those of
      the links to it; () if neither is known.
    - `positions`: the positions in the conversation of the last words of the spans. Without spans, the source comes
      after the answer's last word, in the order of such sources: one position.
    - `groups`: what the table of sources says about it, by column; unknown columns are left out.
    """

    turn: int
    order: int
    name: str
    url: str
    page: Page | None
    spans: tuple[tuple[int, int], ...]
    positions: tuple[int, ...]
    groups: Mapping[str, str] = field(default_factory=lambda: _NONE)

    @property
    def domain(self) -> str:
        """The registrable domain, or "" if it is unknown, because there is no address or the address hides the page."""
        return self.page.domain if self.page is not None else ""

    @property
    def hidden(self) -> bool:
        """True if its address hides the page."""
        return self.page is not None and self.page.hidden

    def group(self, column: str) -> str:
        """Return its group in a column of the table of sources, or its domain; "" if unknown."""
        return self.domain if column == DOMAIN else self.groups.get(column, "")


def find_cited(
    conversation: Conversation, table: SourceTable, counted: Citations, spoken: Sequence[Passage]
) -> tuple[CitedSource, ...]:
    """Return the sources of every answer, answer by answer, in order. `counted` says which count. `spoken` are the
    `passages` of the conversation."""
    answers = {turn.number: turn.reply.answer for turn in conversation.turns if turn.reply is not None}
    return tuple(
        source
        for passage in spoken
        if passage.speaker == "system"
        for source in _of_answer(answers[passage.turn], passage, table, counted)
    )


@dataclass(slots=True)
class _Found:
    url: str
    page: Page | None
    linked: list[tuple[int, int]] = field(default_factory=list)
    supported: list[tuple[int, int]] = field(default_factory=list)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted(set(self.supported or self.linked)))


def _of_answer(answer: Answer, passage: Passage, table: SourceTable, counted: Citations) -> Iterator[CitedSource]:
    found: dict[str, _Found] = {}
    pages = table.redirects

    def add(url: str, title: str = "") -> _Found:
        page = pages.page(url) if url else None
        return found.setdefault(page.url if page is not None else title or url, _Found(url, page))

    mentions = find_urls(answer.text) if "://" in answer.text else ()
    if counted != "reported":
        pictures = {image.end() for image in _IMAGE.finditer(answer.text)} if "![" in answer.text else frozenset()
        for mention in mentions:
            if mention.start not in pictures:
                add(mention.href).linked.append((mention.start, mention.end))
    if counted != "linked":
        written = {mention.href for mention in mentions}
        for source in answer.sources:
            if source.href or source.title:
                one = add(source.href, source.title)
                if 0 <= source.start < source.end:
                    one.supported.append((source.start, source.end))
        for link in answer.links:  # those of the text are left to `linked`
            if link.href not in written and pages.page(link.href) is not None:
                add(link.href)
    ordered = sorted(found.items(), key=lambda item: item[1].spans[:1] or ((len(answer.text) + 1, 0),))
    ends = [end for _, one in ordered for _, end in one.spans]
    positions = iter(passage.positions(ends) if ends else ())
    after = passage.last_position
    for order, (name, one) in enumerate(ordered, 1):
        if one.spans:
            places = tuple([next(positions) for _ in one.spans])
        else:
            after += 1
            places = (after,)
        entry = table.entry(one.page) if one.page is not None else None
        groups = entry.groups if entry is not None else _NONE
        yield CitedSource(passage.turn, order, name, one.url, one.page, one.spans, places, groups)
