"""What the user's side sees of the system's side: an answer, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from topics.links import MOST_LINKS, Link, find_links

__all__ = ["Answer", "Exchange"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One system turn as a user sees it.

    text: the whole reply; links inside it are written out (Markdown keeps `[anchor](href)`).
    links: those of the reply in order of appearance, with the anchor each carried (for plain text, the URL); of a
    reply with more than `MOST_LINKS`, the first of them. links_left_out: how many it had besides, as `find_links`
    counts them.
    """

    text: str
    links: tuple[Link, ...] = ()
    links_left_out: int = 0

    @classmethod
    def of(cls, text: str, more: Iterable[Link] = ()) -> Answer:
        """The answer that `text` is, with its links. more: links that came along with the text; those it holds itself
        are taken once."""
        found = find_links(text)
        known = {link.href for link in found.links}
        added = [link for link in more if link.href not in known]
        links = (*found.links, *added)
        return cls(text, links[:MOST_LINKS], found.left_out + max(0, len(links) - MOST_LINKS))


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user turn and the reply to it. said: the user's words. answer: what the system answered."""

    said: str
    answer: Answer
