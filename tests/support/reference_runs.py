"""Small runs that are written by hand (by a seed), as annotated transcripts, with what they hold beside them.

Everything a measure needs is known here from the writing itself: tokens are laid down one by one, so that positions,
repetitions, grades and groups are counted without reading the text again. Nothing of `scoring` is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from tests.support import reference_measures as ref

RATINGS_GOLD = (Fraction(1, 4),) * 4
ORIGIN_GOLD = tuple(Fraction(part) / 237 for part in ("58", "26.5", "2", "36.5", "23.5", "47.5", "19", "24"))
GOLD = {"RATINGS": RATINGS_GOLD, "ORIGIN": ORIGIN_GOLD}
GAINS = {0: Fraction(0), 1: Fraction(1, 2), 2: Fraction(1)}
TOPICS = ("M001", "M002", "M003", "M004")

_WORDS = ("clocks", "run", "ahead", "of", "quiet", "rivers", "and", "old", "engines")


@dataclass(frozen=True)
class Film:
    """grade: None where nobody judged it. groups: by set, without those nobody knows."""

    url: str
    grade: int | None
    groups: dict[str, tuple[Fraction, ...]]

    @property
    def annotation(self) -> str:
        if self.grade is None:
            return ""
        rows = [f"#{name}: ({','.join(map(str, row))})" for name, row in self.groups.items()]
        return "\n".join([f"#L{self.grade}", *rows]) + "\n"


@dataclass
class Talk:
    """One conversation. labels: `ox`, with `-` for a turn that never came. said: words of each user turn."""

    topic: str
    trial: int
    labels: str
    text: str = ""
    entities: list[ref.Entity] = field(default_factory=list)
    first_words: dict[int, int] = field(default_factory=dict)
    last_words: dict[int, int] = field(default_factory=dict)
    words_before: dict[int, int] = field(default_factory=dict)


def _shares(rng: np.random.Generator, bins: int) -> tuple[Fraction, ...]:
    counts = rng.integers(0, 3, bins)
    counts[rng.integers(bins)] += 1
    return tuple(Fraction(int(count), int(counts.sum())) for count in counts)


def _films(rng: np.random.Generator, number: int) -> list[Film]:
    found = []
    for place in range(7):
        grade = None if rng.random() < 0.2 else int(rng.choice([0, 1, 2, 2]))
        groups = {}
        if grade:
            groups = {name: _shares(rng, len(gold)) for name, gold in GOLD.items() if rng.random() < 0.8}
        found.append(Film(f"https://www.imdb.com/title/tt{number * 100 + place:07d}/", grade, groups))
    return found


def _words(rng: np.random.Generator, most: int) -> list[str]:
    return [str(word) for word in rng.choice(_WORDS, rng.integers(1, most))]


def _converse(rng: np.random.Generator, topic: str, trial: int, films: Sequence[Film]) -> Talk:
    talk = Talk(topic, trial, "")
    position, known = 0, set()
    lines = [f"##### {topic}"]
    for turn in (1, 2):
        said = _words(rng, 9)
        position += len(said)
        lines += [f"### U{turn}", " ".join(said)]
        if turn == 2 and rng.random() < 0.15:
            talk.labels += "-"
            lines.append("### S2 -")
            break
        label = str(rng.choice(["o", "x"]))
        talk.labels += label
        lines.append(f"### S{turn} {label}")
        talk.words_before[turn] = position
        talk.first_words[turn] = position + 1
        for place in rng.integers(0, len(films), rng.integers(0, 4)):
            film = films[place]
            before = _words(rng, 12)
            position += len(before) + 1
            lines.append(f"{' '.join(before)} {film.url}")
            if film.annotation:
                lines.append(film.annotation.rstrip())
            if film.url not in known and film.grade:
                uniform = {name: (Fraction(1, len(gold)),) * len(gold) for name, gold in GOLD.items()}
                talk.entities.append(ref.Entity(turn, position, GAINS[film.grade], uniform | film.groups))
            known.add(film.url)
        after = _words(rng, 15)
        position += len(after)
        lines.append(f"{' '.join(after).capitalize()}.")
        talk.last_words[turn] = position
    talk.text = "\n".join(lines) + "\n"
    return talk


def written_run(seed: int, trials: int) -> list[Talk]:
    """Every topic in every trial."""
    rng = np.random.default_rng([2023, seed])
    films = {topic: _films(rng, number) for number, topic in enumerate(TOPICS, start=1)}
    return [_converse(rng, topic, trial, films[topic]) for trial in range(1, trials + 1) for topic in TOPICS]


def write_transcripts(talks: Sequence[Talk], folder: Path) -> list[tuple[int, Path]]:
    """A file a trial."""
    found = []
    for trial in sorted({talk.trial for talk in talks}):
        path = folder / f"trial-{trial}.txt"
        path.write_text("".join(talk.text for talk in talks if talk.trial == trial), encoding="utf-8")
        found.append((trial, path))
    return found


def over_topics(talks: Sequence[Talk], values: Sequence[float]) -> float:
    """The mean over topics of each topic's mean over trials, of what is defined."""
    means = []
    for topic in TOPICS:
        own = [v for t, v in zip(talks, values, strict=True) if t.topic == topic and not math.isnan(v)]
        if own:
            means.append(sum(own) / len(own))
    return sum(means) / len(means) if means else math.nan
