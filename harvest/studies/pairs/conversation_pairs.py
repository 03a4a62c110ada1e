"""Pairs of conversations that two systems had in the same trial of a topic."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harvest.studies.runs.side_by_side import run_names
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.log.run_folder import Run
from topics.errors import InputError

_MOST_NAMES = 8  # in a sentence; the others are counted


@dataclass(frozen=True, slots=True)
class Side:
    """A system in one run. `name` is the system's name, or `system@run` if several runs recorded the system."""

    name: str
    system: str
    run: Run

    @property
    def finished(self) -> Mapping[TrialKey, Conversation]:
        return {one.key: one for one in self.run.finished if one.key.system == self.system}


@dataclass(frozen=True, slots=True)
class ConversationPair:
    """The valid conversations of two sides in one trial of a topic. None means that a side has no valid attempt."""

    topic: str
    trial: int
    left: Conversation | None
    right: Conversation | None

    @property
    def differing_turns(self) -> tuple[int, ...]:
        """Numbers of the turns, from 1, whose labels differ between the sides."""
        if self.left is None or self.right is None:
            return ()
        other = _labels(self.right)
        return tuple(turn for turn, label in _labels(self.left).items() if other.get(turn, label) != label)


@dataclass(frozen=True, slots=True)
class LabelDifference:
    """How often the labels of one turn differ, over the `n` trials in which both sides have a label for the turn.

    `by_labels` counts trials by their pair of differing labels. `within` has, for each side, how often the labels
    of two trials on one topic differ, as a share in [0, 1] over all topics. It shows how much one system varies by
    chance, and is NaN if no topic has two labelled trials.
    """

    turn: int
    n: int
    by_labels: Mapping[tuple[str, str], int]
    within: tuple[float, float]


def choose_sides(runs: Sequence[Run], given: str) -> tuple[Side, Side]:
    """Return the two sides named by `given`, in the form `A,B`. If several runs recorded a system, its name is
    `system@run`, where `run` is the folder of the run, or the path of the run if several folders have that name.
    Raises InputError unless `given` names two different sides."""
    known = _sides(runs)
    cuts = [i for i, character in enumerate(given) if character == ","]
    for cut in cuts:  # names of imported systems may have commas
        left, right = given[:cut].strip(), given[cut + 1 :].strip()
        if left in known and right in known:
            if known[left] == known[right]:
                raise InputError(f"--beside: the sides must differ, but both are {left!r}", allowed=_list_known(known))
            return known[left], known[right]
    parts = [part.strip() for part in given.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(
            f"--beside: {given!r} does not name two systems", allowed=_list_known(known), advice="write --beside A,B"
        )
    unknown = next(part for part in parts if part not in known)
    several = [name for name in known if name.rpartition("@")[0] == unknown]
    if len(several) > 1:
        raise InputError(
            f"--beside: {unknown!r} is ambiguous, because several runs recorded it", allowed=", ".join(several)
        )
    raise InputError(f"--beside: no system of these runs is called {unknown!r}", allowed=_list_known(known))


def all_sides(runs: Sequence[Run], names: Sequence[str] = ()) -> tuple[Side, ...]:
    """Return the named sides in the given order; () means all. Raises InputError for an unknown name."""
    known = _sides(runs)
    for name in names:
        if name not in known:
            raise InputError(f"no system of these runs is called {name!r}", allowed=_list_known(known))
    return tuple({side.name: side for side in map(known.__getitem__, names or known)}.values())


def _sides(runs: Sequence[Run]) -> dict[str, Side]:
    systems = [
        list(dict.fromkeys((*run.header.systems, *(one.key.system for one in run.conversations)))) for run in runs
    ]
    every = [name for names in systems for name in names]
    found: dict[str, Side] = {}
    full: dict[str, Side] = {}
    for run, place, names in zip(runs, run_names(runs), systems, strict=True):
        for system in names:
            side = Side(system if every.count(system) == 1 else f"{system}@{place}", system, run)
            found[side.name] = side
            full[f"{system}@{place}"] = side
    return {**full, **found}


def _list_known(known: Mapping[str, Side]) -> str:
    names = list(dict.fromkeys(side.name for side in known.values()))
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


def pair_conversations(left: Side, right: Side) -> tuple[ConversationPair, ...]:
    """Return a pair for every trial that either side tried, in order of topics (as recorded) and trial numbers."""
    tried = [
        dict.fromkeys((one.key.topic, one.key.trial) for one in side.run.conversations if one.key.system == side.system)
        for side in (left, right)
    ]
    topics = {topic: i for i, topic in enumerate(dict.fromkeys(topic for own in tried for topic, _ in own))}
    mine, others = left.finished, right.finished
    return tuple(
        ConversationPair(
            topic,
            trial,
            mine.get(TrialKey(left.system, topic, trial)),
            others.get(TrialKey(right.system, topic, trial)),
        )
        for topic, trial in sorted(dict.fromkeys((*tried[0], *tried[1])), key=lambda one: (topics[one[0]], one[1]))
    )


def label_differences(pairs: Sequence[ConversationPair]) -> Iterator[LabelDifference]:
    """Yield the label differences of each turn that has a label on both sides of some pair."""
    labelled = [(_labels(one.left), _labels(one.right)) for one in pairs if one.left and one.right]
    for turn in sorted({turn for mine, others in labelled for turn in mine.keys() & others.keys()}):
        both = [(mine[turn], others[turn]) for mine, others in labelled if turn in mine and turn in others]
        apart: dict[tuple[str, str], int] = {}
        for labels in both:
            if labels[0] != labels[1]:
                apart[labels] = apart.get(labels, 0) + 1
        within = (
            _differing_share(turn, [(one.topic, one.left) for one in pairs]),
            _differing_share(turn, [(one.topic, one.right) for one in pairs]),
        )
        yield LabelDifference(turn, len(both), dict(sorted(apart.items())), within)


def _differing_share(turn: int, conversations: Sequence[tuple[str, Conversation | None]]) -> float:
    by_topic: dict[str, list[str]] = {}
    for topic, one in conversations:
        label = _labels(one).get(turn) if one else None
        if label is not None:
            by_topic.setdefault(topic, []).append(label)
    differing = [a != b for own in by_topic.values() for a, b in combinations(own, 2)]
    return sum(differing) / len(differing) if differing else math.nan


def _labels(conversation: Conversation) -> dict[int, str]:
    return {turn.number: turn.label for turn in conversation.turns if turn.label is not None}
