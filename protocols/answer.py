"""Answers: everything that the user's side receives from the system.

Besides its text, an answer may have parts for different readers. Sources and offers are for the user. Thoughts and
tool calls are read only by rules that request them. Words, links and history are taken from the text and its sources.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from topics.links import MOST_LINKS, Link, find_links
from topics.sent_files import SentFile

# Parts of an answer besides text and links, by the names of fields and of keys in a recording.
PARTS = ("sources", "thoughts", "calls", "offers", "attachments", "refused", "refusal")

# Where a source can be: its address is in the text, or beside it, in something that unfolds, on a card of its own,
# or in a note below the text.
PLACES = ("text", "beside", "folded", "card", "footnote")


@dataclass(frozen=True, slots=True)
class Source:
    """A source of an answer, as reported by the system.

    `href` is its address, or "" for a document without an address. `title` is "" if the system gave no title. The
    source supports the characters from `start` to `end` of the answer's text (on a web page, of the chat bubble);
    `start` and `end` are -1 if unknown. `place` is one of `PLACES`. `text` is the text at the address, or an excerpt of
    it, or "" if unknown.
    """

    href: str
    title: str = ""
    start: int = -1
    end: int = -1
    place: str = "beside"
    text: str = ""

    @property
    def shown(self) -> str:
        """The title and the address, as people read them."""
        return " – ".join(dict.fromkeys(filter(None, (self.title, self.href))))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the system made or requested. `arguments` is JSON, or the system's own text."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that the user can press instead of typing. `title` is the displayed text. `value` is the text that is
    sent or the address that is opened, or "" if unknown. `kind` is `reply` (a suggestion), `button`, `card`, `link`,
    or the system's own name for it."""

    title: str
    value: str = ""
    kind: str = "reply"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file, picture or sound that came with the text. `type` is its media type, or the system's own name for the
    type. `size` is in bytes, or None if unknown."""

    name: str
    type: str = ""
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One system turn as a user sees it.

    - `text`: the whole reply with its links written out (Markdown keeps `[anchor](href)`).
    - `links`: the links of the reply in order, with their anchors (for plain text, the URL), followed by the links of
      its sources. Only the first `MOST_LINKS` are kept.
    - `links_left_out`: the number of links beyond that limit, as counted by `find_links`.
    - `sources`: the sources in the system's order.
    - `thoughts`: the reasoning that preceded the answer, or "".
    - `refused`: True if the system marked its answer as a refusal in a separate field.
    - `refusal`: the content of the refusal field if there is also a text. If there is no text, the content is in
      `text`.
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
    def of(cls, text: str, more: Iterable[Link] = (), sources: Iterable[Source] = ()) -> "Answer":
        """Create an answer from `text` and the links found in the text. `more` and `sources` are links and sources
        that came with the text. A link that is also in the text is counted once, and a source with the address of a
        link in the text gets the place `text`."""
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

    def with_text(self, text: str) -> "Answer":
        """Return the answer with a text that differs in one passage, for example after redaction. Sources before or
        after that passage keep their spans, shifted as needed; sources within the passage lose their spans."""
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
    """A user turn (`said`, with the files that were `attached`) and the system's answer to it."""

    said: str
    answer: Answer
    attached: tuple[SentFile, ...] = ()
