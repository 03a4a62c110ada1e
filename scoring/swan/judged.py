"""Judgments of several layers brought together: which one counts where they differ, and who it is from.

Layers are never merged. A *precedence* is declared, for example `human,rule`: the kinds, or `kind:author` pairs, that
may be used, in that order. Within an entry the newest layer wins; of layers made at the same time, the one whose
author, version and file name come last. So the order in which layers are read changes nothing. A kind that is not named
is not used: a model's scores enter only where somebody wrote `model`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from recordings.errors import RunError
from recordings.judgments import KINDS, Judgment, Layer, Target
from scoring.swan.item import Source
from scoring.swan.nugget import Candidate, Nugget, placed
from scoring.swan.schema import Schema
from scoring.words import Passage
from topics.errors import InputError, Place

__all__ = ["NUGGET", "Judgments", "Opinion", "Precedence"]

NUGGET = "nugget"
"""The criterion of a judgment that says: here is a nugget, of this type."""

Key = tuple[Target, str]
SetKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Precedence:
    """Whose judgments are used, the first entry before the second: kinds, or kind and author."""

    entries: tuple[tuple[str, str], ...] = (("human", ""), ("rule", ""))

    @staticmethod
    def parse(text: str) -> Precedence:
        """`human,rule` or `human:anna,human,model`. Raises InputError for an unknown kind, or one named twice."""
        entries = []
        for part in text.split(","):
            kind, _, author = part.strip().partition(":")
            if kind not in KINDS:
                raise InputError(f"{kind!r} is not a kind of judgment", allowed=", ".join(KINDS))
            if (kind, author) in entries:
                raise InputError(f"{part.strip()!r} stands twice in the precedence {text!r}")
            entries.append((kind, author))
        return Precedence(tuple(entries))

    def __str__(self) -> str:
        return ",".join(f"{kind}:{author}" if author else kind for kind, author in self.entries)

    def rank(self, kind: str, author: str) -> int | None:
        """The place of the first entry that names the source; None where none does."""
        return next((i for i, entry in enumerate(self.entries) if entry[0] == kind and entry[1] in ("", author)), None)

    def uses(self, kind: str) -> bool:
        return any(entry[0] == kind for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Opinion:
    """The judgment that counts. value: a score in [0, 1], or None for "does not apply". disputed: a source that could
    have been used gave another value. rank: its place in the precedence.
    """

    value: float | None
    by: Source
    disputed: bool
    rank: int


@dataclass(frozen=True, slots=True)
class NuggetLayer:
    """The layer whose nuggets are used in one conversation, and what it says there."""

    layer: Layer
    found: list[tuple[Target, Judgment, Place]]


@dataclass(frozen=True, slots=True)
class Judgments:
    """The layers of a run as seen under one precedence and one schema.

    opinions: by (trial, attempt), then by target and criterion. sets: by (system, topic, criterion). layers: by
    (trial, attempt), the one layer whose nuggets are used there. refused: judgments on criteria of the schema by a
    source that the schema does not let score them (a model, or a rule it does not name), which are left out. unknown:
    names of criteria, sorted, that judgments are on and the schema has not. Scores of the schema's own rules are not
    read from layers: the rules are asked anew, with today's settings and gold.
    """

    precedence: Precedence = field(default_factory=Precedence)
    opinions: Mapping[tuple[str, int], Mapping[Key, Opinion]] = field(default_factory=dict)
    sets: Mapping[SetKey, Opinion] = field(default_factory=dict)
    layers: Mapping[tuple[str, int], NuggetLayer] = field(default_factory=dict)
    refused: int = 0
    unknown: tuple[str, ...] = ()

    @staticmethod
    def of(layers: Iterable[Layer], schema: Schema, precedence: Precedence | None = None) -> Judgments:
        """Judgments on criteria the schema does not have are passed over, and named.

        Raises RunError, with file and line, for a score that is no number from 0 to 1 and not null.
        """
        chosen = precedence or Precedence()
        criteria = {one.name: one for one in schema}
        opinions: dict[tuple[str, int], dict[Key, Opinion]] = {}
        sets: dict[SetKey, Opinion] = {}
        nuggets: dict[tuple[str, int], NuggetLayer] = {}
        refused, unknown = 0, set[str]()
        for rank, layer in _ranked(layers, chosen):
            by = Source(layer.kind, layer.author, layer.version)
            for judgment, place in _placed(layer):
                target = Target.of(judgment)
                if judgment.criterion == NUGGET and target is not None:
                    where = (target.trial, target.attempt)
                    if where not in nuggets or nuggets[where].layer is not layer:
                        nuggets[where] = NuggetLayer(layer, [])
                    nuggets[where].found.append((target, judgment, place))
                criterion = criteria.get(judgment.criterion)
                if criterion is None:
                    if judgment.criterion not in (NUGGET, "gold"):
                        unknown.add(judgment.criterion)
                    continue
                if layer.kind == "rule" and layer.author in map(str, criterion.rules):
                    continue
                if not criterion.may_score(layer.kind) or layer.kind == "rule":
                    refused += 1
                    continue
                value = _score(judgment, place)
                if target is not None and criterion.level != "set":
                    here = opinions.setdefault((target.trial, target.attempt), {})
                    key = (target, judgment.criterion)
                    here[key] = _opinion(value, by, here.get(key), rank)
                match judgment.about:
                    case {"system": str(system), "topic": str(topic)} if criterion.level == "set":
                        about = (system, topic, judgment.criterion)
                        sets[about] = _opinion(value, by, sets.get(about), rank)
        return Judgments(chosen, opinions, sets, nuggets, refused, tuple(sorted(unknown)))

    def nuggets(self, trial: str, attempt: int, exchanged: Iterable[Passage]) -> tuple[Nugget, ...] | None:
        """The nuggets of types F and O a layer gives for a conversation; None where no layer does.

        Raises RunError, with file and line, for one that cannot stand in the text.
        """
        known = self.layers.get((trial, attempt))
        if known is None:
            return None
        layer = known.layer
        sides = {(one.turn, one.speaker): one for one in exchanged}
        groups: dict[tuple[int, str, str], list[tuple[Candidate, Place]]] = {}
        for target, judgment, place in known.found:
            match judgment.value:
                case {"type": "F" | "O" as kind, **rest} if (target.turn, target.speaker) in sides:
                    text = rest.get("text")
                    one = Candidate(
                        target.start,
                        target.end,
                        kind,
                        str(rest.get("rule") or layer.kind),
                        str(rest.get("act") or ""),
                        text=text if isinstance(text, str) else None,
                    )
                    version = str(rest.get("version") or f"{layer.author}/{layer.version}")
                    groups.setdefault((target.turn, target.speaker, version), []).append((one, place))
                case _:
                    missing = (target.turn, target.speaker) not in sides
                    raise RunError("no such turn" if missing else "a nugget is of type F or O", place=place)
        found: list[Nugget] = []
        for (turn, speaker, version), group in groups.items():
            found += _all_placed(sides[turn, speaker], group, version)
        return tuple(sorted(found, key=lambda one: (one.turn, one.speaker == "system", one.start, one.end)))


def _all_placed(passage: Passage, group: list[tuple[Candidate, Place]], version: str) -> tuple[Nugget, ...]:
    """The nuggets of one side of a turn. Raises RunError at the first that cannot be."""
    try:
        return placed(passage, [one for one, _ in group], version=version)
    except ValueError as fault:
        for i, (_, place) in enumerate(group, start=1):
            try:
                placed(passage, [one for one, _ in group[:i]], version=version)
            except ValueError as first:
                raise RunError(str(first), place=place) from None
        raise RunError(str(fault)) from None


def _ranked(layers: Iterable[Layer], precedence: Precedence) -> list[tuple[int, Layer]]:
    """The layers that may be used, the best last, so that what they say is what stays."""
    found = []
    for layer in layers:
        rank = precedence.rank(layer.kind, layer.author)
        if rank is not None and layer.kind != "gold":
            found.append((rank, layer))
    found.sort(
        key=lambda one: (-one[0], _moment(one[1].made_at), one[1].made_at, one[1].author, one[1].version, _name(one[1]))
    )
    return found


def _placed(layer: Layer) -> Iterator[tuple[Judgment, Place]]:
    for number, judgment in enumerate(layer.judgments, 2):
        yield judgment, Place(layer.path or f"the judgments of {layer.author}", number)


def _moment(made_at: str) -> float:
    """Seconds since 1970: times in different zones compare as what they are; a text that is no time comes first."""
    try:
        moment = datetime.fromisoformat(made_at)
    except ValueError:
        return -math.inf
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _name(layer: Layer) -> str:
    return layer.path.rpartition("/")[2]


def _score(judgment: Judgment, place: Place) -> float | None:
    value = judgment.value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise RunError(
            f"the score for {judgment.criterion} is {str(value)[:40]!r}",
            place=place,
            allowed="a number from 0 to 1 (1 is good), or null where the criterion does not apply",
        )
    return float(value)


def _opinion(value: float | None, by: Source, before: Opinion | None, rank: int) -> Opinion:
    return Opinion(value, by, before is not None and (before.disputed or before.value != value), rank)
