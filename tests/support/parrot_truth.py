"""What is true of a parrot: the figures that many trials must come close to, without drawing a single number.

A conversation is a path: in each turn one behaviour, whose probability given the turn before is in the profile. All
paths are enumerated by playing every behaviour against the real protocol; so the label of each turn, the user's next
words and the end of the conversation are the protocol's own, and only the probabilities are the profile's. Word
positions are counted on the text of the path: every variant of a reply has the same number of words, so each path has
one position for each place in its lists.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harvest.parrot.parrot import Catalogue, Shelf, compose, entry_line, interpret_turn
from harvest.parrot.profiles import BEHAVIOURS, Behaviour, Heard, Profile, Row
from protocols.answer import Answer, Exchange
from protocols.interpreter import Position, advance, begin
from protocols.labels import NOT_USEFUL, USEFUL
from protocols.missing_turns import fewest_turns_onward
from protocols.protocol import Protocol
from protocols.route import Ask, Say, Stop
from topics.topic import Topic

# Gain by relevance grade, as in GFRC §4 (L2 = 1, L1 = .5, L0 = 0).
GAINS: Mapping[int, float] = {0: 0.0, 1: 0.5, 2: 1.0}

# L in words: five minutes at 250 words a minute (GFRC §3.2).
PATIENCE = 1250

# A turn that was not asked, and that nothing says would have been.
NOT_ASKED = "·"


@dataclass(frozen=True, slots=True)
class Path:
    """One way a conversation can go.

    labels: `o`, `x` for each turn that took place, `-` for each that a breakdown prevented
    (`protocols.missing_turns`), then `·` (not asked) up to the protocol's most turns. outcome: the protocol's
    (`completed`, `breakdown`, …). positions: for each place in the lists, in order, the 1-based index in the whole
    conversation of the last word of the entry that stands there. turn_ends: the same of the last word of each
    system turn that took place.
    """

    behaviours: tuple[Behaviour, ...]
    labels: tuple[str, ...]
    outcome: str
    probability: float
    positions: tuple[int, ...]
    turn_ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """The expectations of one profile under one protocol, averaged over topics with equal weight.

    label_paths: probability by labels (`o x`). useful: P(label = o | asked) for each turn, `-` in the denominator,
    in [0, 1]; NaN for a turn that is never asked. average: the expected share of a conversation's turns that are
    useful: the mean of `useful` where all turns are asked. recovery: P(o in turn 2 | x in turn 1 and turn 2 asked);
    NaN where that never is, or there is one turn. unsuccessful: the probability of what recovery is conditional on.
    breakdown: P(the protocol ends in `breakdown`). relevance: expected R, in [0, 1].
    """

    label_paths: Mapping[str, float]
    useful: tuple[float, ...]
    average: float
    recovery: float
    unsuccessful: float
    breakdown: float
    relevance: float


def truth(
    profile: Profile,
    protocol: Protocol,
    topics: Iterable[Topic],
    catalogue: Catalogue,
    *,
    gains: Mapping[int, float] = GAINS,
    patience: int = PATIENCE,
) -> Truth:
    """The truth for fresh sessions. Raises ValueError for no topics, and as `paths` does."""
    return _mean(
        [
            _of_topic(paths(profile, protocol, topic, catalogue), profile, catalogue.shelves[topic.id], gains, patience)
            for topic in topics
        ]
    )


def sitting(
    profile: Profile,
    protocol: Protocol,
    topics: Sequence[Topic],
    catalogue: Catalogue,
    *,
    gains: Mapping[int, float] = GAINS,
    patience: int = PATIENCE,
) -> tuple[Truth, ...]:
    """The truth of each topic when one session goes through them all in this order (`session: continued`).

    The first behaviour on a topic depends on the last one on the topic before (`Profile.carried`), so the chain runs
    on: P(first = b) = Σ_a P(last on the topic before = a) · carried(a)[b].
    """
    found = []
    first: Row = profile.first
    for topic in topics:
        ways = paths(profile, protocol, topic, catalogue, first=first)
        found.append(_of_topic(ways, profile, catalogue.shelves[topic.id], gains, patience))
        follow = [(way.probability, profile.carried(way.behaviours[-1])) for way in ways]
        first = {b: math.fsum(p * row[b] for p, row in follow) for b in BEHAVIOURS}
    return tuple(found)


def paths(
    profile: Profile, protocol: Protocol, topic: Topic, catalogue: Catalogue, *, first: Row | None = None
) -> tuple[Path, ...]:
    """Every path of positive probability on `topic`; the probabilities sum to 1.

    first: the row of the first behaviour, by default the profile's. Raises ValueError where the user's words are not
    understood as being about `topic`, where a simulated user speaks, or where a path needs more entries than the shelf
    has: neither has a closed form here.
    """
    action, position = begin(protocol, topic)
    root = _Walk(profile, protocol, topic, catalogue, profile.first if first is None else first)
    root.go(action, position, (), (), 1.0, ())
    return tuple(root.found)


class _Walk:
    """Depth-first over behaviours, along the protocol."""

    def __init__(self, profile: Profile, protocol: Protocol, topic: Topic, catalogue: Catalogue, first: Row) -> None:
        self.profile, self.protocol, self.topic, self.catalogue = profile, protocol, topic, catalogue
        self.first = first
        self.turns = protocol.most_turns(topic)
        self.shelf = catalogue.shelves[topic.id]
        self.found: list[Path] = []

    def go(
        self,
        action: Say | Ask | Stop,
        position: Position,
        behaviours: tuple[Behaviour, ...],
        labels: tuple[str, ...],
        probability: float,
        exchanges: tuple[Exchange, ...],
    ) -> None:
        if isinstance(action, Stop):
            missing = ["-"] * self._missing(action, position)
            padded = (*labels, *missing, *(NOT_ASKED for _ in range(self.turns - len(labels) - len(missing))))
            places, ends = _positions(exchanges, self.shelf), _turn_ends(exchanges)
            self.found.append(Path(behaviours, padded, action.outcome, probability, places, ends))
            return
        if isinstance(action, Ask):
            raise ValueError(f"what the user {action.user!r} says has no closed form here")
        heard, shelf = interpret_turn(action.text, self.catalogue, self.shelf if behaviours else None)
        if heard == "unknown" or shelf is not self.shelf:
            raise ValueError(f"topic {self.topic.id}: the parrot does not take {action.text!r} for this topic")
        before = behaviours[-1] if behaviours else None
        row = self.profile.row(before, heard) if before else self.first
        for behaviour, chance in row.items():
            if chance > 0:
                text = self._reply(behaviour, heard, behaviours)
                talk = (*exchanges, Exchange(action.text, Answer.of(text)))
                following, after = advance(self.protocol, self.topic, position, talk)
                label = following.route.label if following.route else "-"
                self.go(following, after, (*behaviours, behaviour), (*labels, label), probability * chance, talk)

    def _missing(self, stop: Stop, position: Position) -> int:
        if stop.outcome not in ("breakdown", "no-match") or stop.route is None:
            return 0
        used = dict(position.used)
        return fewest_turns_onward(self.protocol, self.topic, stop.route.state, used, position.turn)

    def _reply(self, behaviour: Behaviour, heard: Heard, before: tuple[Behaviour, ...]) -> str:
        k = self.profile.entities
        start = k * before.count("list")
        if start + k > len(self.shelf.entries) and behaviour in ("list", "bare"):
            raise ValueError(f"topic {self.topic.id}: {len(self.shelf.entries)} entries are too few for this path")
        entries = self.shelf.entries[start : start + k]
        lines = [entry_line(e.title, e.url) if behaviour == "list" else e.title for e in entries]
        return compose(behaviour, heard, lines, lambda n: 0)


def _positions(exchanges: tuple[Exchange, ...], shelf: Shelf) -> tuple[int, ...]:
    words = " ".join(text for exchange in exchanges for text in (exchange.said, exchange.answer.text)).split()
    urls = {entry.url for entry in shelf.entries}
    return tuple(place for place, word in enumerate(words, start=1) if word in urls)


def _turn_ends(exchanges: tuple[Exchange, ...]) -> tuple[int, ...]:
    words = 0
    ends = []
    for exchange in exchanges:
        words += len(exchange.said.split()) + len(exchange.answer.text.split())
        ends.append(words)
    return tuple(ends)


def _of_topic(ways: Sequence[Path], profile: Profile, shelf: Shelf, gains: Mapping[int, float], patience: int) -> Truth:
    turns = len(ways[0].labels)
    label_paths: dict[str, float] = {}
    for way in ways:
        name = " ".join(way.labels)
        label_paths[name] = label_paths.get(name, 0.0) + way.probability
    hits = [math.fsum(w.probability for w in ways if w.labels[t] == USEFUL) for t in range(turns)]
    asked = [math.fsum(w.probability for w in ways if w.labels[t] != NOT_ASKED) for t in range(turns)]
    unsuccessful = math.fsum(w.probability for w in ways if w.labels[0] == NOT_USEFUL and w.labels[1:2] != (NOT_ASKED,))
    recovered = math.fsum(w.probability for w in ways if w.labels[:2] == (NOT_USEFUL, USEFUL))
    gain = math.fsum(gains[entry.grade] for entry in shelf.entries) / len(shelf.entries)
    return Truth(
        label_paths=label_paths,
        useful=tuple(hit / every if every else math.nan for hit, every in zip(hits, asked, strict=True)),
        average=math.fsum(w.probability * _useful_share(w.labels) for w in ways),
        recovery=recovered / unsuccessful if unsuccessful and turns > 1 else math.nan,
        unsuccessful=unsuccessful,
        breakdown=math.fsum(w.probability for w in ways if w.outcome == "breakdown"),
        relevance=math.fsum(w.probability * _relevance(w, profile, gain, patience) for w in ways),
    )


def _useful_share(labels: Sequence[str]) -> float:
    return labels.count(USEFUL) / (len(labels) - labels.count(NOT_ASKED))


def _relevance(way: Path, profile: Profile, gain: float, patience: int) -> float:
    """Expected R given the path: (1/N) Σ pw(position) · P(the place earns) · mean gain of the shelf.

    A place earns unless its URL is wrong or it repeats an earlier entry; the first place has none to repeat. Which
    entry stands there is uniform over the shelf, whatever stood before.
    """
    normaliser = (patience + 1) / 2
    earned = 0.0
    for place, position in enumerate(way.positions):
        weight = max(0.0, 1 - (position - 1) / patience)
        earned += weight * (1 - profile.wrong) * (1 - (profile.repeats if place else 0.0)) * gain
    return earned / normaliser


def _mean(parts: Sequence[Truth]) -> Truth:
    if not parts:
        raise ValueError("no topics: nothing is true of them")
    n = len(parts)
    names = sorted({name for part in parts for name in part.label_paths})
    unsuccessful = math.fsum(part.unsuccessful for part in parts) / n
    recovered = math.fsum(part.recovery * part.unsuccessful for part in parts if part.unsuccessful) / n
    return Truth(
        label_paths={name: math.fsum(part.label_paths.get(name, 0.0) for part in parts) / n for name in names},
        useful=tuple(_mean_of_defined(column) for column in zip(*(part.useful for part in parts), strict=True)),
        average=math.fsum(part.average for part in parts) / n,
        recovery=recovered / unsuccessful if unsuccessful else math.nan,
        unsuccessful=unsuccessful,
        breakdown=math.fsum(part.breakdown for part in parts) / n,
        relevance=math.fsum(part.relevance for part in parts) / n,
    )


def _mean_of_defined(values: Sequence[float]) -> float:
    """The mean of those that are defined; NaN where none is."""
    found = [value for value in values if not math.isnan(value)]
    return math.fsum(found) / len(found) if found else math.nan
