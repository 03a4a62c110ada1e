"""Blind pairs: conversations of two systems in the same trial of a topic, in random order and on random sides.

`draw_pairs` chooses the pairs, their order and their sides. `PairKey` records which conversation is on which side.
The key is stored in a separate file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import Field

from harvest.studies.pairs.conversation_pairs import Side, pair_conversations
from harvest.studies.runs.sources import sources
from recordings.conversations.conversation import Conversation
from topics.clusters import joined_clusters
from topics.document import StrictModel
from topics.errors import InputError
from topics.identity import generator


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair of conversations in one trial of one topic, with the side on which each is shown."""

    topic: str
    trial: int
    left: tuple[Side, Conversation]
    right: tuple[Side, Conversation]


class KeptPair(StrictModel):
    """An entry of the key. `left` and `right` name the systems; `text` is a hash of the pair's row in the sheet."""

    topic: str
    trial: Annotated[int, Field(ge=1)]
    left: str
    right: str
    text: str


class PairKey(StrictModel):
    """The key to a sheet of blind pairs, a `harvest-pairs/1` file. `pairs` has the entries by number, and `runs`
    describes the runs (see `harvest.studies.runs.sources`). `clusters` maps topics to their clusters, without
    topics that belong to no cluster."""

    format: Literal["harvest-pairs/1"]
    sheet: str
    seed: Annotated[int, Field(ge=0)]
    systems: tuple[str, ...]
    runs: tuple[dict[str, Any], ...]
    pairs: dict[str, KeptPair]
    clusters: dict[str, str] = Field(default_factory=dict)

    def numbered(self) -> dict[int, KeptPair]:
        return {int(number): pair for number, pair in self.pairs.items()}

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"


def draw_pairs(
    sides: Sequence[Side], *, topics: Sequence[str] = (), most: int | None = None, seed: int = 0
) -> tuple[DrawnPair, ...]:
    """Return the pairs of conversations to be judged, in an order drawn from `seed`.

    Every trial that two sides both finished gives a pair. Between any two systems, each system is on the left in
    half of the pairs; if the number of pairs is odd, the sides of the last pair are random. `topics` restricts the
    topics; () means all. `most` is the largest number of pairs for any two systems; these pairs are spread as
    evenly as possible over the topics. Raises InputError if two sides have no finished trial in common.
    """
    found: list[DrawnPair] = []
    for one, other in combinations(sides, 2):
        rng = generator(seed, "blind pairs", one.name, other.name)
        both = [
            (pair.topic, pair.trial, pair.left, pair.right)
            for pair in pair_conversations(one, other)
            if pair.left is not None and pair.right is not None and (not topics or pair.topic in topics)
        ]
        if not both:
            raise InputError(
                f"{one.name!r} and {other.name!r} finished no trial in common",
                advice="list the played trials: harvest show RUN",
            )
        shuffled = [both[i] for i in rng.permutation(len(both))]
        turn: dict[str, int] = {}
        rounds = []
        for entry in shuffled:  # the first of each topic, then the second of each, …
            turn[entry[0]] = turn.get(entry[0], 0) + 1
            rounds.append(turn[entry[0]])
        order = sorted(range(len(shuffled)), key=rounds.__getitem__)
        chosen = [shuffled[i] for i in order[:most]]
        first = int(rng.integers(2))
        swapped = rng.permutation([(i + first) % 2 for i in range(len(chosen))])
        for (topic, trial, mine, others), swap in zip(chosen, swapped, strict=True):
            sides_drawn = ((one, mine), (other, others))
            left, right = sides_drawn[::-1] if swap else sides_drawn
            found.append(DrawnPair(topic, trial, left, right))
    order = generator(seed, "blind pairs", "order").permutation(len(found)).tolist()
    return tuple(found[i] for i in order)


def pair_key(sheet: str, sides: Sequence[Side], drawn: Sequence[DrawnPair], texts: Sequence[str], seed: int) -> PairKey:
    """Return the key of a sheet. `texts` has the hash of each row, in the order of `drawn`."""
    runs = list({id(side.run): side.run for side in sides}.values())
    kept: Mapping[str, KeptPair] = {
        str(number): KeptPair(
            topic=one.topic, trial=one.trial, left=one.left[0].name, right=one.right[0].name, text=text
        )
        for number, (one, text) in enumerate(zip(drawn, texts, strict=True), 1)
    }
    topics = [found for run in runs if (found := run.header.topic_set()) is not None]
    asked = {one.topic for one in drawn}
    return PairKey(
        format="harvest-pairs/1",
        sheet=sheet,
        seed=seed,
        systems=tuple(side.name for side in sides),
        runs=tuple(dict(one) for one in sources(runs)),
        pairs=dict(kept),
        clusters={topic: cluster for topic, cluster in joined_clusters(topics).items() if topic in asked},
    )
