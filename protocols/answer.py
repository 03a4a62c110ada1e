"""What the user's side sees of the system's side: an answer, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from topics.links import Link

__all__ = ["Answer", "Exchange"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One system turn as a user sees it.

    text: the whole reply; links inside it are written out (Markdown keeps `[anchor](href)`).
    links: every link of the reply in order of appearance, with the anchor it carried (for plain text, the URL).
    """

    text: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One user turn and the system turn it got."""

    said: str
    answer: Answer
