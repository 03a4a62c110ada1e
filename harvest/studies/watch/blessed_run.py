"""A search for a blessed run, so that its conversations can be read next to the current ones.

The baseline has no text of any conversation, and only the names of its runs. It is therefore searched for where runs of
the audit are usually kept.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from harvest.studies.watch.baseline import BaselineFile
from harvest.studies.watch.changes import ChangedTopic, ChangedTurn
from harvest.studies.watch.watched import WatchedSystem
from harvest.studies.watch.ways import Turn, way_of
from protocols.labels import USEFUL
from recordings.conversations.conversation import Conversation
from recordings.files.errors import RunError
from recordings.log.header import read_header
from recordings.log.run_folder import is_run


def find_blessed_run(baseline: BaselineFile, beside: Path, run: Path) -> Path | None:
    """Return the folder of the latest blessed run that still exists, or None. It is searched for by name in `beside`,
    the folder of the baseline, and next to `run`, the compared run, which itself is never returned."""
    places = dict.fromkeys((beside, beside / "runs", run.parent, run.parent.parent))
    for one in sorted(baseline.runs, key=lambda one: str(one.get("created_at")), reverse=True):
        name = PurePath(str(one.get("run", "")))
        if name.is_absolute() or ".." in name.parts or not name.parts:
            continue
        for folder in (place / name for place in places):
            if is_run(folder) and folder.resolve() != run.resolve() and _is_blessed(folder, baseline):
                return folder
    return None


def _is_blessed(folder: Path, baseline: BaselineFile) -> bool:
    try:
        return baseline.contains_run(read_header(folder))
    except RunError:
        return False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conversations on one topic, one from now and one from before, that diverge at a place that changed. `now` and
    `before` are their trials."""

    topic: str
    now: int
    before: int


_Ways = Mapping[str, Sequence[tuple[int, tuple[Turn, ...]]]]


class BeforeAndNow:
    """The conversations of one system now and in a blessed run, by topic."""

    def __init__(self, now: Iterable[Conversation], before: Iterable[Conversation]) -> None:
        self._now, self._before = _by_topic(now), _by_topic(before)

    def first_pair(self, system: WatchedSystem) -> Pair | None:
        """Return the pair to read first, whose conversation of now is of the worse kind (or, if the system rose, of the
        better): at the turn that changed most surely, on the topic that changed most; or else, at an answer of a topic
        that changed."""
        topics = _changed_topics(system)
        turns = [one for one in system.turns[:1] if not topics or _goes_with(one, fell=topics[0].value < 0)]
        pairs = (*(self.at_turn(one, topics) for one in turns), *map(self.at_topic, topics))
        return next(filter(None, pairs), None)

    def first_now(self, system: WatchedSystem) -> tuple[str, int] | None:
        """Return the topic and the trial of the conversation of now to read first, if no conversation from before is
        there: one of the worse kind (or, if the system rose, of the better) on the topic that changed most."""
        for topic in _changed_topics(system):
            for answer in range(1, self._most_answers() + 1):
                is_example, _ = _answers(answer, fell=topic.value < 0)
                for trial, way in self._now.get(topic.topic, ()):
                    if is_example(way):
                        return topic.topic, trial
        return None

    def at_turn(self, turn: ChangedTurn, topics: Iterable[ChangedTopic] = ()) -> Pair | None:
        """Return a pair that parts at the turn, preferably on one of the `topics`, or None."""
        if not turn.way:
            return None
        reached, size = turn.way[:-1], len(turn.way)

        def takes(way: tuple[Turn, ...]) -> bool:
            return way[:size] == turn.way

        def leaves(way: tuple[Turn, ...]) -> bool:
            return way[: size - 1] == reached and way[size - 1 : size] != turn.way[-1:]

        fewer = turn.portion[1] < turn.portion[0]
        order = [*(one.topic for one in topics), *self._now]
        return self._pair(order, *((leaves, takes) if fewer else (takes, leaves)))

    def at_topic(self, topic: ChangedTopic) -> Pair | None:
        """Return a pair on the topic with an answer that differs as the topic did, the first if possible, or None."""
        pairs = (
            self._pair([topic.topic], *_answers(answer, fell=topic.value < 0))
            for answer in range(1, self._most_answers() + 1)
        )
        return next(filter(None, pairs), None)

    def _most_answers(self) -> int:
        return max((len(_labels(way)) for ways in self._now.values() for _, way in ways), default=0)

    def _pair(
        self,
        topics: Iterable[str],
        now: Callable[[tuple[Turn, ...]], bool],
        before: Callable[[tuple[Turn, ...]], bool],
    ) -> Pair | None:
        for topic in dict.fromkeys(topics):
            mine = next((trial for trial, way in self._now.get(topic, ()) if now(way)), None)
            other = next((trial for trial, way in self._before.get(topic, ()) if before(way)), None)
            if mine is not None and other is not None:
                return Pair(topic, mine, other)
        return None


def _by_topic(conversations: Iterable[Conversation]) -> _Ways:
    found: dict[str, list[tuple[int, tuple[Turn, ...]]]] = {}
    for one in conversations:
        found.setdefault(one.key.topic, []).append((one.key.trial, way_of(one)))
    return found


def _labels(way: tuple[Turn, ...]) -> list[str]:
    return [key for speaker, key in way if speaker == "system"]


def _answers(number: int, *, fell: bool) -> Iterator[Callable[[tuple[Turn, ...]], bool]]:
    """Yield the conditions for a conversation now and for one before: whether the answer with this number is
    useful."""

    def has(label: bool) -> Callable[[tuple[Turn, ...]], bool]:
        return lambda way: len(own := _labels(way)) >= number and (own[number - 1] == USEFUL) == label

    yield has(not fell)
    yield has(fell)


def _changed_topics(system: WatchedSystem) -> list[ChangedTopic]:
    """Return the topics that changed in the direction of the system, those that stand out first, then the largest."""
    fell = sum(one.value for one in system.stretch.each) < 0
    every = dict.fromkeys((*system.topics, *system.stretch.each))
    return [one for one in every if one.value and (one.value < 0) == fell]


def _goes_with(turn: ChangedTurn, *, fell: bool) -> bool:
    """Return true if the answer by which conversations of now part at the turn is of the kind that the system moved
    to."""
    speaker, label = turn.way[-1] if turn.way else ("", "")
    rises = turn.portion[1] > turn.portion[0]
    return speaker == "system" and ((label == USEFUL) == rises) != fell
