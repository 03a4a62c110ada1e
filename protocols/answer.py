"""Answers: the only thing that the user's side sees of the system's side.

A text has additional parts for different readers: sources and offers are for the user; thoughts and tool calls only
for rules that ask for them. Words, links and history come from the text and its sources alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from topics.links import MOST_LINKS, Link, find_links

# Parts of an answer besides text and links, by the names of fields and of keys in a recording.
PARTS = ("sources", "thoughts", "calls", "offers", "attachments", "refused", "refusal")

# Where a source can be: its address is in the text, or beside it, in something that unfolds, on a card of its own,
# or in a note below the text.
PLACES = ("text", "beside", "folded", "card", "footnote")


@dataclass(frozen=True, slots=True)
class Source:
    """A source of an answer, as the system gave it. href: its address; "" for a document without one. title: "" if
    none is given. start, end: the characters of the answer's text (on a page: of the bubble) that it supports; both
    -1 if unknown. place: one of `PLACES`."""

    href: str
    title: str = ""
    start: int = -1
    end: int = -1
    place: str = "beside"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the system called or wanted to call. arguments: as JSON, or as the system wrote them."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that a user could press instead of typing. title: as shown. value: what pressing it sends or opens, or
    "" if unknown. kind: `reply` (a suggestion), `button`, `card`, `link`, or the system's own word."""

    title: str
    value: str = ""
    kind: str = "reply"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file, picture or sound with the text. type: media type, or the system's word. size: in bytes, None if
    unknown."""

    name: str
    type: str = ""
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One system turn as a user sees it.

    text: the whole reply, with its links written out (Markdown keeps `[anchor](href)`). links: the links of the
    reply in order, with their anchors (for plain text, the URL), then those of its sources; at most the first
    `MOST_LINKS`. links_left_out: how many more it had, as counted by `find_links`. sources: in the system's order.
    thoughts: those before it answered, or "". refused: the system marked its answer as a refusal, in a separate
    field. refusal: the content of that field if there is also a text; else it is the text.
    """

    text: str
    links: tuple[Link, ...] = ()
    links_left_out: int = 0
    sources: tuple[Source, ...] = ()
    thoughts: str = ""
    calls: tuple[ToolCall, ...] = ()
    offers: tuple[Offer, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    refused: bool = False
    refusal: str = ""

    @classmethod
    def of(cls, text: str, more: Iterable[Link] = (), sources: Iterable[Source] = ()) -> Answer:
        """Create the answer with `text` and its links. more, sources: links and sources that came with the text. Links
        that the text contains are counted once, and sources with such an address get the place `text`."""
        found = find_links(text)
        known = {link.href for link in found.links}
        given = tuple(
            replace(source, place="text") if source.href in known and source.place == "beside" else source
            for source in sources
        )
        links = list(found.links)
        for link in (*more, *(Link(source.title or source.href, source.href) for source in given if source.href)):
            if link.href not in known:
                known.add(link.href)
                links.append(link)
        left_out = found.left_out + max(0, len(links) - MOST_LINKS)
        return cls(text, tuple(links[:MOST_LINKS]), left_out, given)

    def with_text(self, text: str) -> Answer:
        """Return the answer with a text that differs in one stretch, as after redaction. Sources keep their places
        before and after that stretch, and lose places within it."""
        if text == self.text:
            return self
        shift = len(text) - len(self.text)
        moved: list[Source] = []
        for source in self.sources:
            start, end = source.start, source.end
            if start >= 0 and self.text[:end] != text[:end]:
                behind = start + shift >= 0 and self.text[start:] == text[start + shift :]
                source = (
                    replace(source, start=start + shift, end=end + shift)
                    if behind
                    else replace(source, start=-1, end=-1)
                )
            moved.append(source)
        return replace(self, text=text, sources=tuple(moved))


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user turn and the reply to it. said: the user's words. answer: the system's answer."""

    said: str
    answer: Answer
