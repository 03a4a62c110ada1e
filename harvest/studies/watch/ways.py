"""The number of trials on each path through the protocol, by topic, as counted in baselines and histories without any
text."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from harvest.studies.trees.folded_trees import merging_named
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import end_name, is_end_stated
from recordings.trees.builder import path_of
from topics.document import StrictModel

# The key by which paths through the protocol are counted: only this one surely leaves texts out.
MERGE = "label"

Turn = tuple[Literal["user", "system", "end"], str]
# By topic, how many trials took each path. Its last turn is the end, by its name; baselines from before ends
# were distinguished have paths without one.
Ways = dict[str, dict[tuple[Turn, ...], int]]

_Number = Annotated[int, Field(ge=0)]


class KeptWays(StrictModel):
    """Ways in a line of the history: each path once, and by topic the number of trials for the places of its paths."""

    paths: tuple[tuple[Turn, ...], ...]
    topics: dict[str, tuple[tuple[_Number, _Number], ...]]

    @classmethod
    def of(cls, taken: Ways) -> "KeptWays":
        paths = sorted({way for own in taken.values() for way in own})
        place = {way: at for at, way in enumerate(paths)}
        topics = {topic: tuple((place[way], n) for way, n in own.items()) for topic, own in taken.items()}
        return cls(paths=tuple(paths), topics=topics)

    def counted(self) -> Ways:
        """Return the ways. Places without a path, which only an edited line has, count for nothing."""
        return {
            topic: {self.paths[at]: number for at, number in own if at < len(self.paths)}
            for topic, own in self.topics.items()
        }


def ways(conversations: Sequence[Conversation]) -> Ways:
    """Return how often each path through the protocol was taken, by topic."""
    found: dict[str, Counter[tuple[Turn, ...]]] = {}
    for one in conversations:
        found.setdefault(one.key.topic, Counter())[way_of(one)] += 1
    return {topic: dict(sorted(counts.items())) for topic, counts in sorted(found.items())}


def joined_ways(every: Iterable[Ways]) -> Ways:
    """Return the ways of several audits together."""
    found: dict[str, Counter[tuple[Turn, ...]]] = {}
    for taken in every:
        for topic, own in taken.items():
            found.setdefault(topic, Counter()).update(own)
    return {topic: dict(sorted(counts.items())) for topic, counts in sorted(found.items())}


def way_of(one: Conversation) -> tuple[Turn, ...]:
    """Return the path of a conversation through the protocol, with its end if the recording states it."""
    way = tuple((speaker, key) for speaker, key, _ in path_of(one, merging_named(MERGE)))
    if one.outcome is not None and is_end_stated(one.outcome):
        way = (*way, ("end", end_name(one.outcome)))
    return way  # type: ignore[return-value]
