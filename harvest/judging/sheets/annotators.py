"""What people have said of a run so far: each one's newest judgments, what an import adds to them, and agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recordings.judgments import Judgment, Layer
from scoring.annotations.agreement import Agreement, agreement

__all__ = ["agreements", "compare_with_earlier", "key_of", "newest_judgments"]

Key = tuple[object, ...]


def key_of(judgment: Judgment) -> Key:
    """What is judged, and by which criterion."""
    return (judgment.criterion, *sorted(judgment.about.items()))


def newest_judgments(layers: Iterable[Layer]) -> dict[Key, Judgment]:
    """The newest judgment on each thing by each criterion. layers: of one person, the oldest first."""
    return {key_of(judgment): judgment for layer in layers for judgment in layer.judgments}


@dataclass(frozen=True, slots=True)
class Added:
    """What an import says that its author did not say before. noted: the score is the same and the note is not."""

    new: int
    changed: int
    noted: int
    same: int

    @property
    def anything(self) -> bool:
        return self.new + self.changed + self.noted > 0


def compare_with_earlier(judgments: Sequence[Judgment], before: Mapping[Key, Judgment]) -> Added:
    """judgments: of an import. before: what stands of the same author, under the same version of the guideline."""
    new = changed = noted = 0
    for judgment in judgments:
        old = before.get(key_of(judgment))
        new += old is None
        changed += old is not None and old.value != judgment.value
        noted += old is not None and old.value == judgment.value and old.note != judgment.note
    return Added(new, changed, noted, len(judgments) - new - changed - noted)


def agreements(layers: Iterable[Layer], criteria: Iterable[str]) -> tuple[tuple[str, ...], dict[str, Agreement]]:
    """The people who judged, and their agreement by criterion, for criteria by which two of them judged the same thing.

    layers: of people, the oldest first. Of each person the newest judgment counts, whatever the guideline's version.
    """
    mine: dict[str, list[Layer]] = {}
    for layer in layers:
        mine.setdefault(layer.author, []).append(layer)
    chosen = dict.fromkeys(criteria)
    said: dict[str, dict[Key, list[float | None]]] = {name: {} for name in chosen}
    people: dict[str, set[str]] = {name: set() for name in chosen}
    for author, own in mine.items():
        for key, judgment in newest_judgments(own).items():
            value = judgment.value
            if judgment.criterion in said and (value is None or isinstance(value, (int, float))):
                said[judgment.criterion].setdefault(key, []).append(value)
                people[judgment.criterion].add(author)
    found = {name: agreement(rows.values()) for name, rows in said.items()}
    found = {name: one for name, one in found.items() if one.things}
    return tuple(sorted(set().union(*(people[name] for name in found)))), found
