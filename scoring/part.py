"""The topics a figure over many conversations is of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of the topics a figure is over, and what names it."""

    rows: Sequence[int]
    topic: str | None = None
    topic_type: str | None = None


def parts(topics: Sequence[Topic], *, each: bool = False) -> Iterator[Part]:
    """Every topic type and everything; each: also every topic."""
    types: dict[str, list[int]] = {}
    for row, topic in enumerate(topics):
        types.setdefault(topic.type.name, []).append(row)
        if each:
            yield Part([row], topic.id, topic.type.name)
    yield from (Part(rows, None, name) for name, rows in types.items())
    yield Part(range(len(topics)))
