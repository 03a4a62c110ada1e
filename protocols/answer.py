"""What the user's side sees of the system's side: an answer, and nothing else.

An answer is a text and what came with it. The parts beside the text are for different readers: sources and offers for
the user, thoughts and tool calls for nobody but a rule that asks for them. Words, links and history are those of the
text and its sources alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from topics.links import MOST_LINKS, Link, find_links

# What an answer has beside its text and links, by the names of fields and of keys in a recording.
PARTS = ("sources", "thoughts", "calls", "offers", "attachments", "refused", "refusal")

# Where a source can stand: its address is in the text, or beside it, in something that unfolds, on a card of its own,
# or in a note below the text.
PLACES = ("text", "beside", "folded", "card", "footnote")


@dataclass(frozen=True, slots=True)
class Source:
    """What an answer rests on, as the system gave it.

    href: its address; "" if the system names a document without one. title: "" if it gives none. start, end: the
    characters of the answer's text that it supports, where the system says which (on a page: those of its bubble); both
    -1 if it does not. place: one of `PLACES`.
    """

    href: str
    title: str = ""
    start: int = -1
    end: int = -1
    place: str = "beside"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the system called, or wanted called. arguments: as JSON, or as the system wrote them."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a user could press in place of typing. title: as shown. value: what pressing it sends or opens; "" if
    that is not known. kind: `reply` (a suggestion), `button`, `card`, `link`, or the system's own word."""

    title: str
    value: str = ""
    kind: str = "reply"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file, picture or sound that came with the text. type: a media type, or the system's own word. size: in bytes;
    None if it is not known."""

    name: str
    type: str = ""
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One system turn as a user sees it.

    text: the whole reply; links inside it are written out (Markdown keeps `[anchor](href)`).
    links: those of the reply in order of appearance, with the anchor each carried (for plain text, the URL), and then
    those of its sources; of a reply with more than `MOST_LINKS`, the first of them. links_left_out: how many it had
    besides, as `find_links` counts them. sources: with their places, in the order in which the system gave them.
    thoughts: what the system thought before it answered, "" for nothing. refused: the system marked its answer as a
    refusal, in a field of its own. refusal: what it said there, if it also gave a text; else that is the text.
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
        """The answer that `text` is, with its links. more, sources: what came along with the text; links that it holds
        itself are taken once, and a source whose address it holds stands in the text."""
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
        """The same answer where its text reads otherwise in one stretch, as after redaction: a source keeps its place
        before and behind that stretch, and has none within it."""
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
    """A user turn and the reply to it. said: the user's words. answer: what the system answered."""

    said: str
    answer: Answer
